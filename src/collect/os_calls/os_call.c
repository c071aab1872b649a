/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/os_calls/os_call.h"

#include <string.h>
#include <sys/syscall.h>

_Static_assert(sizeof(struct os_call) == 56, "with its head a record takes 64 bytes of a ring");

/* Those that readers report: each holds one of the names in load/samplers/os_calls.c. The first group is there on every
 * architecture. */
static const char *const system_calls[] = {
#define ROW(name) [SYS_##name] = #name,
    /* clang-format off */
    ROW(accept) ROW(accept4) ROW(acct) ROW(bind) ROW(bpf) ROW(brk) ROW(chroot) ROW(clock_nanosleep) ROW(connect)
    ROW(copy_file_range) ROW(dup) ROW(dup3) ROW(epoll_create1) ROW(epoll_ctl) ROW(epoll_pwait) ROW(fallocate) ROW(fcntl)
    ROW(fdatasync) ROW(flock) ROW(fsync) ROW(ftruncate) ROW(futex) ROW(ioctl) ROW(kill) ROW(listen) ROW(mbind) ROW(membarrier)
    ROW(memfd_create) ROW(mlock) ROW(mlock2) ROW(mlockall) ROW(mmap) ROW(mount) ROW(move_pages) ROW(mprotect)
    ROW(mq_notify) ROW(mq_open) ROW(mq_timedreceive) ROW(mremap) ROW(msgctl) ROW(msgget) ROW(msgrcv) ROW(msgsnd)
    ROW(msync) ROW(munmap) ROW(nanosleep) ROW(open_by_handle_at) ROW(openat) ROW(perf_event_open) ROW(pipe2)
    ROW(pivot_root) ROW(ppoll) ROW(prctl) ROW(pread64) ROW(preadv) ROW(preadv2) ROW(process_vm_readv)
    ROW(process_vm_writev) ROW(pselect6) ROW(ptrace) ROW(pwrite64) ROW(pwritev) ROW(pwritev2) ROW(read)
    ROW(readahead) ROW(readlinkat) ROW(readv) ROW(reboot) ROW(recvfrom) ROW(recvmmsg) ROW(recvmsg) ROW(rt_sigaction)
    ROW(rt_sigqueueinfo) ROW(rt_sigsuspend) ROW(rt_tgsigqueueinfo) ROW(sched_yield) ROW(seccomp) ROW(semctl)
    ROW(semget) ROW(semop) ROW(semtimedop) ROW(sendfile) ROW(sendmmsg) ROW(sendmsg) ROW(sendto) ROW(shmat)
    ROW(shmctl) ROW(shmdt) ROW(shmget) ROW(shutdown) ROW(socket) ROW(socketpair) ROW(splice) ROW(swapoff)
    ROW(swapon) ROW(sync) ROW(sync_file_range) ROW(syncfs) ROW(tee) ROW(tgkill) ROW(timer_create)
    ROW(timerfd_create) ROW(tkill) ROW(truncate) ROW(umount2) ROW(unshare) ROW(vhangup) ROW(vmsplice) ROW(wait4)
    ROW(waitid) ROW(write) ROW(writev)
#ifdef SYS_open
    ROW(alarm) ROW(creat) ROW(dup2) ROW(epoll_create) ROW(epoll_wait) ROW(fork) ROW(ioperm) ROW(iopl) ROW(open)
    ROW(pause) ROW(pipe) ROW(poll) ROW(readlink) ROW(select) ROW(uselib) ROW(vfork)
#endif
#ifdef SYS_openat2
    ROW(openat2)
#endif
#ifdef SYS_epoll_pwait2
    ROW(epoll_pwait2)
#endif
#ifdef SYS_pidfd_open
    ROW(pidfd_open)
#endif
/* clang-format on */
#undef ROW
};

const char *system_call_name(unsigned number)
{
    return number < sizeof system_calls / sizeof *system_calls ? system_calls[number] : NULL;
}

static const char *const thread_calls[THREAD_CALL_KINDS] = {
#define ROW(name) [THREAD_CALL_##name] = #name,
    THREAD_CALLS(ROW)
#undef ROW
};

/* ---- text; printf() would take longer than the calls do ---- */

static char *os_call_text_put(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

static char *number_put(char *at, uint64_t n, unsigned least_digits)
{
    char digits[20];
    unsigned used = 0;
    for (; n > 0 || used < least_digits; n /= 10)
        digits[used++] = (char)('0' + n % 10);
    while (used > 0)
        *at++ = digits[--used];
    return at;
}

static char *signed_put(char *at, int64_t n)
{
    if (n < 0)
        *at++ = '-';
    return number_put(at, n < 0 ? 0 - (uint64_t)n : (uint64_t)n, 1);
}

static char *hex_put(char *at, uint64_t n)
{
    at = os_call_text_put(at, "0x");
    for (int shift = n > 0 ? 60 - __builtin_clzll(n) / 4 * 4 : 0; shift >= 0; shift -= 4)
        *at++ = "0123456789abcdef"[n >> shift & 15];
    return at;
}

/* Small values (descriptors, counts) are printed in decimal, addresses in hexadecimal. */
static char *argument_put(char *at, int64_t n)
{
    return n > -4096 && n < 1 << 20 ? signed_put(at, n) : hex_put(at, (uint64_t)n);
}

static char *fixed_put(char *at, uint64_t ns, uint64_t unit_ns, unsigned decimals)
{
    at = number_put(at, ns / unit_ns, 1);
    *at++ = '.';
    return number_put(at, ns % unit_ns, decimals);
}

/* Readers end a name at the first blank and a line at the first colon, so both are replaced. */
static char *command_put(char *at, const char command[OS_CALL_COMMAND])
{
    const char *const from = at;
    for (size_t i = 0; i < OS_CALL_COMMAND - 1 && command[i]; i++) {
        const unsigned char c = (unsigned char)command[i]; /* bytes of UTF-8 stay, whatever the sign of char */
        *at++ = (char)(c <= ' ' || c == 0x7f || c == '/' || c == ':' || c == '(' || c == ')' ? '_' : c);
    }
    if (at == from)
        *at++ = '_';
    return at;
}

/* ---- lines ---- */

struct os_call_span {
    uint64_t begin_ns, dur_ns;
};

static uint64_t os_call_ns_of(double counts, double ns_per_count)
{
    const double ns = counts * ns_per_count;
    return ns >= 0 && ns < 1e18 ? (uint64_t)(ns + 0.5) : 0;
}

/* From the end of the call, which is close to the reading that the writer has just made. */
static struct os_call_span span_of(const struct os_call_times *t, const struct os_call *c)
{
    if (c->clock != OS_CALL_COUNTER)
        return (struct os_call_span){ c->begin, c->duration };
    const uint64_t end = c->begin + c->duration, dur_ns = os_call_ns_of((double)c->duration, t->ns_per_count);
    const uint64_t end_ns = end < t->count ? t->raw_ns - os_call_ns_of((double)(t->count - end), t->ns_per_count)
                                           : t->raw_ns + os_call_ns_of((double)(end - t->count), t->ns_per_count);
    return (struct os_call_span){ end_ns - dur_ns, dur_ns };
}

static const uint64_t NS_PER_MS = 1000000, NS_PER_S = 1000000000;
enum { ERRNO_MOST = 4095 };

/* perf trace: <ms> (<ms> ms): <command>/<thread> <name>(<argument>) = <result> */
static size_t system_call_put(char *line, struct os_call_span span, const struct os_call *c, const char *name)
{
    char *at = fixed_put(line, span.begin_ns, NS_PER_MS, 6);
    at = os_call_text_put(at, " (");
    at = fixed_put(at, span.dur_ns, NS_PER_MS, 6);
    at = os_call_text_put(at, " ms): ");
    at = command_put(at, c->command);
    *at++ = '/';
    at = number_put(at, c->thread, 1);
    *at++ = ' ';
    at = os_call_text_put(at, name);
    at = os_call_text_put(at, "(a0: ");
    at = argument_put(at, c->argument);
    at = os_call_text_put(at, ") = ");
    if (c->result < 0 && c->result >= -ERRNO_MOST) {
        at = os_call_text_put(at, "-1 (errno ");
        at = number_put(at, (uint64_t)-c->result, 1);
        *at++ = ')';
    } else if (c->result == OS_CALL_UNKNOWN) {
        *at++ = '?';
    } else {
        at = argument_put(at, c->result);
    }
    *at++ = '\n';
    return (size_t)(at - line);
}

/* ltrace: [pid <thread>] <s> <module>-><name>(<argument>) = <result> <<s>> */
static size_t thread_call_put(char *line, struct os_call_span span, const struct os_call *c, const char *call)
{
    char *at = os_call_text_put(line, "[pid ");
    at = number_put(at, c->thread, 1);
    at = os_call_text_put(at, "] ");
    at = fixed_put(at, span.begin_ns, NS_PER_S, 9);
    *at++ = ' ';
    at = os_call_text_put(at, call);
    *at++ = '(';
    at = hex_put(at, (uint64_t)c->argument);
    at = os_call_text_put(at, ") = ");
    at = signed_put(at, c->result);
    at = os_call_text_put(at, " <");
    at = fixed_put(at, span.dur_ns, NS_PER_S, 9);
    at = os_call_text_put(at, ">\n");
    return (size_t)(at - line);
}

static bool record_read(struct os_call *c, const uint8_t *record, size_t bytes)
{
    if (bytes != sizeof *c)
        return false;
    memcpy(c, record, sizeof *c);
    return c->thread != 0;
}

size_t system_call_line(const struct os_call_times *t, const uint8_t *record, size_t bytes,
                        char line[OS_CALL_LINE_MOST])
{
    struct os_call c;
    const char *const name = record_read(&c, record, bytes) ? system_call_name(c.number) : NULL;
    return name ? system_call_put(line, span_of(t, &c), &c, name) : 0;
}

size_t thread_call_line(const struct os_call_times *t, const uint8_t *record, size_t bytes,
                        char line[OS_CALL_LINE_MOST])
{
    struct os_call c;
    if (!record_read(&c, record, bytes) || c.number >= THREAD_CALL_KINDS)
        return 0;
    char name[64];
    *os_call_text_put(os_call_text_put(name, "exe->"), thread_calls[c.number]) = '\0';
    return thread_call_put(line, span_of(t, &c), &c, name);
}

size_t system_calls_head(const struct os_call_times *t, char line[OS_CALL_LINE_MOST])
{
    const struct os_call c = { .argument = 4 /* CLOCK_MONOTONIC_RAW */, .command = "ascope" };
    return system_call_put(line, (struct os_call_span){ t->begin_ns, 0 }, &c, "clock_gettime");
}

/* The first line: the reference does not report it, but computes the times of all others from it. */
size_t thread_calls_head(const struct os_call_times *t, char line[OS_CALL_LINE_MOST])
{
    return thread_call_put(line, (struct os_call_span){ t->begin_ns, 0 }, &(struct os_call){ 0 },
                           "ascope->pthread_once");
}
