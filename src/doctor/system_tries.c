/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/membarrier.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/taskstats.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "collect/os_calls/os_trace.h"
#include "collect/session/host_clock.h"

/* ---- events ---- */

static void make_faults(uint64_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *const at = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return;
    madvise((void *)at, n * page, MADV_NOHUGEPAGE);
    for (uint64_t i = 0; i < n; i++)
        at[i * page] = 1;
    munmap((void *)at, n * page);
}

static struct perf_count perf_faults(void)
{
    struct perf_count c = { .made = 64 };
    struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE,
                                     .size = sizeof event,
                                     .config = PERF_COUNT_SW_PAGE_FAULTS,
                                     .disabled = 1,
                                     .exclude_kernel = 1,
                                     .exclude_hv = 1 };
    const int fd = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        c.why = errno;
        return c;
    }
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    make_faults(c.made);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (read(fd, &c.counted, sizeof c.counted) != sizeof c.counted)
        c.counted = 0;
    close(fd);
    return c;
}

/* ---- taskstats, through generic netlink ---- */

/* The kernel's macros for these have types that cause warnings with some compilers. */
enum { HEADS = sizeof(struct nlmsghdr) + sizeof(struct genlmsghdr), ATTRIBUTE_HEAD = sizeof(struct nlattr) };
#define ALIGNED(bytes) (((size_t)(bytes) + 3) & ~(size_t)3)

struct system_tries_message {
    struct nlmsghdr head;
    struct genlmsghdr what;
    char attributes[4096];
};

static void attribute_set(struct system_tries_message *m, uint16_t type, const void *value, uint16_t bytes)
{
    const struct nlattr a = { .nla_len = (uint16_t)(ATTRIBUTE_HEAD + bytes), .nla_type = type };
    memcpy(m->attributes, &a, sizeof a);
    memcpy(m->attributes + ATTRIBUTE_HEAD, value, bytes);
    m->head.nlmsg_len = (uint32_t)(HEADS + ALIGNED(a.nla_len));
}

/* Sends it and receives the answer into the same place. Returns errno. */
static int ask(int fd, struct system_tries_message *m)
{
    if (send(fd, m, m->head.nlmsg_len, 0) < 0)
        return errno;
    const ssize_t got = recv(fd, m, sizeof *m, 0);
    if (got < 0)
        return errno;
    if ((size_t)got < offsetof(struct system_tries_message, what) + sizeof(int))
        return EPROTO;
    if (m->head.nlmsg_type != NLMSG_ERROR)
        return 0;
    struct nlmsgerr error;
    memcpy(&error, (char *)m + sizeof m->head, sizeof error.error);
    return error.error ? -error.error : 0;
}

/* The value of a 16-bit attribute in an answer. False: it has none. */
static bool attribute_find(const struct system_tries_message *m, uint16_t type, uint16_t *out)
{
    const size_t head = HEADS;
    const size_t size = m->head.nlmsg_len < sizeof *m ? m->head.nlmsg_len : sizeof *m;
    struct nlattr a;
    for (size_t at = 0; size >= head && at + ATTRIBUTE_HEAD <= size - head; at += ALIGNED(a.nla_len)) {
        memcpy(&a, m->attributes + at, sizeof a);
        if (a.nla_len < ATTRIBUTE_HEAD || a.nla_len > size - head - at)
            return false;
        if (a.nla_type == type && a.nla_len >= ATTRIBUTE_HEAD + sizeof *out) {
            memcpy(out, m->attributes + at + ATTRIBUTE_HEAD, sizeof *out);
            return true;
        }
    }
    return false;
}

static int task_stats(void)
{
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
    if (fd < 0)
        return errno;
    const struct timeval limit = { .tv_sec = 1 };
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    static struct system_tries_message m;
    m = (struct system_tries_message){ .head = { .nlmsg_type = GENL_ID_CTRL, .nlmsg_flags = NLM_F_REQUEST },
                                       .what = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 } };
    attribute_set(&m, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME, sizeof TASKSTATS_GENL_NAME);
    int why = ask(fd, &m);
    uint16_t family = 0;
    if (!why && !attribute_find(&m, CTRL_ATTR_FAMILY_ID, &family))
        why = EPROTO;
    if (!why) {
        const uint32_t pid = (uint32_t)getpid();
        m = (struct system_tries_message){ .head = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST },
                                           .what = { .cmd = TASKSTATS_CMD_GET, .version = TASKSTATS_GENL_VERSION } };
        attribute_set(&m, TASKSTATS_CMD_ATTR_PID, &pid, sizeof pid);
        why = ask(fd, &m);
    }
    close(fd);
    return why;
}

/* ---- memory and clocks ---- */

static int try_membarrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 ? 0 : errno;
}

static int populate(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *const at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return errno;
    const int why = madvise(at, page, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
    munmap(at, page);
    return why;
}

/* The mean of the fastest burst: slower ones were interrupted. */
static double clock_ns(void)
{
    enum { BURSTS = 8, READINGS = 256 };
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < BURSTS; i++) {
        const uint64_t begin = host_clock_raw_ns();
        for (int k = 1; k < READINGS; k++)
            host_clock_raw_ns();
        const uint64_t took = host_clock_raw_ns() - begin;
        best = took < best ? took : best;
    }
    return (double)best / READINGS;
}

const struct system_tries system_tries_real = {
    .perf_faults = perf_faults,
    .kernel_calls = kernel_calls_permitted,
    .task_stats = task_stats,
    .membarrier = try_membarrier,
    .populate = populate,
    .clock_ns = clock_ns,
};
