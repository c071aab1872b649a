/* SPDX-License-Identifier: Apache-2.0 */
/* A program that closes descriptors that it did not open, again and again, while it is recorded, for test_closing.py.
 *
 *     closing_program DIR SEED session|flight|dynamic|cuda|run [old|shared]
 *
 * In DIR it has files of its own. It gives them, its sockets, its pipe and its event counter the numbers that were just
 * closed, and checks that each has what it has put there, no more and no less: exit status 3 if not. Prints a line for
 * each collection. Each round records OPERATORS operators (run: marks; cuda: also kernels) on this thread, and as many
 * on a thread that is new.
 *
 * A thread of the recorder that shares the table of descriptors with the program has no right to open one while the
 * program runs: the program may close it at that moment and get its number. That is exit status 3, too, whether the
 * moment comes or not.
 *
 * old: there is no close_range(), as in older kernels. shared: nor may a thread have descriptors of its own. Then there
 * are moments in which the recorder can use a number that has become the program's; so this one opens its own before it
 * closes what is not its own. */
#undef _FORTIFY_SOURCE /* openat() is defined here */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ascope/ascope.h"
#include "fake_cuda/fake_cuda.h"
#include "refused.h"

enum { ROUNDS = 6, OPERATORS = 500, CLOSED_MOST = 4096, FILES = 12, PAIRS = 4, OWN_BYTES = 4, MAPPED_BYTES = 1 << 20 };

static const char *folder;
static uint64_t dice;
static fake_cuda_call *kernel_call;
static const _Atomic uint32_t *n_flushes; /* of CUPTI's records, by the thread that reads them */
static bool has_marks_only, saves_by_signal, is_shared;

static uint64_t roll(uint64_t below)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice % below;
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(3);
}

static void wish(bool is_so, const char *what)
{
    if (!is_so)
        fail(what);
}

static struct {
    int file[FILES], pair[PAIRS][2], pipe[2], counter;
    uint8_t *mapped;
} own;

/* ---- what is closed ---- */

static int closed[CLOSED_MOST];
static size_t n_closed;

/* After own_open(): nothing of it is closed. */
static bool is_own(int number)
{
    bool is = number == own.counter || number == own.pipe[0] || number == own.pipe[1];
    for (int i = 0; i < FILES; i++)
        is = is || number == own.file[i];
    for (int i = 0; i < PAIRS; i++)
        is = is || number == own.pair[i][0] || number == own.pair[i][1];
    return is;
}

static void numbers_list(void)
{
    DIR *const dir = opendir("/proc/self/fd");
    n_closed = 0;
    for (struct dirent *d; dir && (d = readdir(dir));) {
        const int number = atoi(d->d_name);
        if (number > 2 && number != dirfd(dir) && n_closed < CLOSED_MOST && !(is_shared && is_own(number)))
            closed[n_closed++] = number;
    }
    closedir(dir);
    for (size_t i = n_closed; i > 1; i--) {
        const size_t other = roll(i);
        const int was = closed[i - 1];
        closed[i - 1] = closed[other];
        closed[other] = was;
    }
}

static void close_all(void)
{
    numbers_list();
    const uint64_t how = roll(3);
    if (how == 0 && !is_shared && syscall(SYS_close_range, 3, ~0U, 0) == 0)
        return;
    if (how == 1 && n_closed > 1)
        n_closed -= n_closed / 2; /* any half of them */
    for (size_t i = 0; i < n_closed; i++)
        close(closed[i]);
}

/* ---- the program's own ---- */

/* Half of its descriptors get numbers that were just closed, also high ones. */
static int numbered(int fd)
{
    wish(fd >= 0, "a descriptor of its own cannot be opened");
    if (n_closed == 0 || is_shared || roll(2) == 0)
        return fd;
    const int number = closed[--n_closed];
    if (number == fd || fcntl(number, F_GETFD) >= 0 || dup2(fd, number) != number)
        return fd;
    close(fd);
    return number;
}

static void own_open(void)
{
    char path[4200];
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/own %d", folder, i);
        own.file[i] = numbered(open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        wish(write(own.file[i], "mine", OWN_BYTES) == OWN_BYTES, "its file cannot be written");
    }
    wish(ftruncate(own.file[0], MAPPED_BYTES) == 0, "its file cannot grow");
    own.mapped = mmap(NULL, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, own.file[0], 0);
    wish(own.mapped != MAP_FAILED, "its file cannot be mapped");
    memset(own.mapped, 'm', MAPPED_BYTES);
    for (int i = 0; i < PAIRS; i++) {
        wish(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, own.pair[i]) == 0, "no sockets");
        for (int side = 0; side < 2; side++)
            own.pair[i][side] = numbered(own.pair[i][side]);
        wish(write(own.pair[i][0], "to 1", OWN_BYTES) == OWN_BYTES &&
                 write(own.pair[i][1], "to 0", OWN_BYTES) == OWN_BYTES,
             "its socket cannot be written");
    }
    wish(pipe2(own.pipe, O_CLOEXEC) == 0, "no pipe");
    own.pipe[0] = numbered(own.pipe[0]);
    own.pipe[1] = numbered(own.pipe[1]);
    wish(write(own.pipe[1], "pipe", OWN_BYTES) == OWN_BYTES, "its pipe cannot be written");
    own.counter = numbered(eventfd(7, EFD_CLOEXEC | EFD_NONBLOCK));
}

static void bytes_check(int fd, const char *wanted, const char *what)
{
    char text[OWN_BYTES + 1] = "";
    int n = -1;
    wish(ioctl(fd, FIONREAD, &n) == 0 && n == OWN_BYTES && read(fd, text, OWN_BYTES) == OWN_BYTES &&
             strcmp(text, wanted) == 0,
         what);
}

static void own_check(void)
{
    struct stat st;
    uint64_t value = 0;
    for (int i = 0; i < FILES; i++) {
        char text[OWN_BYTES + 1] = "";
        wish(fstat(own.file[i], &st) == 0 && st.st_size == (i == 0 ? MAPPED_BYTES : OWN_BYTES),
             "a file of its own grew or shrank");
        wish(lseek(own.file[i], 0, SEEK_CUR) == OWN_BYTES, "the offset of its file was moved");
        wish(pread(own.file[i], text, OWN_BYTES, 0) == OWN_BYTES && strcmp(text, i == 0 ? "mmmm" : "mine") == 0,
             "a file of its own was written to");
    }
    for (size_t i = 0; i < MAPPED_BYTES; i++)
        wish(own.mapped[i] == 'm', "its mapped file was written to");
    for (int i = 0; i < PAIRS; i++) {
        bytes_check(own.pair[i][1], "to 1", "bytes of a socket were read or added");
        bytes_check(own.pair[i][0], "to 0", "bytes of a socket were read or added");
    }
    bytes_check(own.pipe[0], "pipe", "bytes of the pipe were read or added");
    wish(read(own.counter, &value, sizeof value) == sizeof value && value == 7, "its counter was read or changed");
    munmap(own.mapped, MAPPED_BYTES);
}

/* ---- what the recorder's threads open ---- */

static _Atomic bool goes_on; /* no thread of the program is in a call of the recorder that may open something */
static const char *_Atomic opened_beside;

/* Which of the recorder's threads have descriptors of their own, the kernel knows. */
static void open_note(const char *what)
{
    enum { FILES_OF = 2, NAME_BYTES = 16 }; /* KCMP_FILES */
    char name[NAME_BYTES] = "";
    prctl(PR_GET_NAME, name);
    const bool is_recorders = strncmp(name, "ascope-", 7) == 0 || strcmp(name, "DynMonitorProc") == 0;
    if (goes_on && is_recorders && syscall(SYS_kcmp, getpid(), gettid(), FILES_OF, 0, 0) == 0)
        opened_beside = what;
}

/* What such a thread would open a file with; and dlopen(), see n_loads(). */
int openat(int dir, const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const unsigned mode = flags & O_CREAT ? va_arg(more, unsigned) : 0;
    va_end(more);
    open_note("a thread of the recorder opened a file among the program's descriptors");
    return (int)syscall(SYS_openat, dir, path, flags, mode);
}

int posix_fallocate(int fd, off_t at, off_t bytes)
{
    open_note("a thread of the recorder gave a file room by a descriptor of the program");
    return syscall(SYS_fallocate, fd, 0, at, bytes) == 0 ? 0 : errno;
}

static int loads_read(struct dl_phdr_info *info, size_t size, void *loads)
{
    (void)size;
    *(unsigned long long *)loads = info->dlpi_adds;
    return 1;
}

static unsigned long long n_loads(void)
{
    unsigned long long loads = 0;
    dl_iterate_phdr(loads_read, &loads);
    return loads;
}

/* ---- what is recorded ---- */

static void work_once(void)
{
    const struct fake_task task = {
        .name = "own kernel", .stream = 7, .ns = 5000, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }
    };
    struct ascope_op op;
    if (has_marks_only) {
        ascope_mark(NULL, "mine", NULL);
        return;
    }
    ascope_op_begin(&op, "mine");
    if (kernel_call)
        kernel_call(FAKE_KERNEL, &task, 1);
    ascope_op_end(&op);
}

static void *work(void *unused)
{
    for (int i = 0; i < OPERATORS; i++)
        work_once();
    return unused;
}

static void numbers_change(void)
{
    if (is_shared) {
        own_open();
        close_all();
    } else {
        close_all();
        own_open();
    }
}

/* The second flush from now on comes when the records of the first one were read. */
static void kernels_wait(void)
{
    for (const uint32_t first = n_flushes ? *n_flushes : 0; n_flushes && *n_flushes - first < 2;)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* The flight recorder's own thread writes files when it is asked by a signal. */
static void signal_save(void)
{
    const uint64_t before = ascope_flight_saves(NULL, 0);
    raise(SIGUSR1);
    while (ascope_flight_saves(NULL, 0) == before)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* The moment at which everything is closed is anywhere among the operators. Then a thread comes that has no ring yet. */
static void round_begin(void)
{
    const uint64_t at = roll(OPERATORS);
    const unsigned long long loads = n_loads();
    pthread_t thread;
    goes_on = !is_shared;
    for (uint64_t i = 0; i < OPERATORS; i++) {
        if (i == at)
            numbers_change();
        work_once();
    }
    wish(pthread_create(&thread, NULL, work, NULL) == 0 && pthread_join(thread, NULL) == 0, "no thread");
    kernels_wait();
    if (saves_by_signal)
        signal_save();
    goes_on = false;
    if (opened_beside)
        fail(opened_beside);
    wish(n_loads() == loads, "a thread of the recorder loaded a library");
}

/* ---- the ways to be recorded ---- */

static struct ascope_error e;

static struct ascope_options options(const char *device)
{
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = folder;
    o.device = device;
    o.mstx = true;
    o.slice_kb = 1; /* many files */
    o.host_sys = ASCOPE_HOST_CPU | ASCOPE_HOST_MEM | ASCOPE_HOST_DISK | ASCOPE_HOST_NETWORK | ASCOPE_HOST_OSRT;
    return o;
}

static void by_session(const char *device)
{
    for (int i = 0; i < ROUNDS; i++) {
        const struct ascope_options o = options(device);
        struct ascope_session *const s = ascope_session_new(&o, &e);
        wish(s && ascope_session_start(s, &e), e.text);
        puts(ascope_session_path(s));
        round_begin();
        const bool is_whole = ascope_session_stop(s, &e);
        own_check();
        wish(is_whole || is_shared, e.text); /* shared: what could not be written is counted */
        wish(ascope_session_end(s, &e) || is_shared, e.text);
    }
}

static void by_flight_recorder(void)
{
    struct ascope_options o = options("none");
    const struct ascope_flight how = { .size = sizeof how, .keep_ns = UINT64_C(3600) * 1000000000, .signal = SIGUSR1 };
    o.host_sys = 0;
    wish(ascope_flight_start(&o, &how, &e), e.text);
    saves_by_signal = true;
    for (int i = 0; i < ROUNDS; i++) {
        char path[4096];
        round_begin();
        saves_by_signal = false; /* once is enough */
        ascope_flight_step();
        wish(ascope_flight_save(0, "test", path, sizeof path, &e), e.text);
        puts(path);
        own_check();
    }
    wish(ascope_flight_stop(&e), e.text);
}

static void by_request(void)
{
    const struct ascope_dynamic_setup setup = { .size = sizeof setup, .path = folder };
    wish(ascope_dynamic_init(&setup, &e), e.text);
    numbers_change();
    puts("listens");
    fflush(stdout);
    while (ascope_dynamic_state() != ASCOPE_DYNAMIC_RUNNING) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        ascope_dynamic_step();
    }
    own_check();
    for (int i = 0; i < ROUNDS; i++) {
        round_begin();
        ascope_dynamic_step();
        own_check();
    }
    ascope_dynamic_end();
}

static void cuda_load(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lib64/libcupti.so", getenv("CUDA_HOME"));
    void *const cupti = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    snprintf(path, sizeof path, "%s/lib64/libcuda.so.1", getenv("CUDA_HOME"));
    wish(cupti && dlopen(path, RTLD_NOW | RTLD_GLOBAL), "no libraries of CUDA");
    *(void **)&kernel_call = dlsym(cupti, "fake_cuda");
    n_flushes = dlsym(cupti, "fake_cuda_flushes");
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    folder = argv[1];
    dice = strtoull(argv[2], NULL, 10) * UINT64_C(0x9E3779B97F4A7C15) | 1;
    const char *const how = argv[3];
    is_shared = argc > 4 && strcmp(argv[4], "shared") == 0;
    if (argc > 4)
        wish(calls_refuse(SYS_close_range, is_shared ? SYS_unshare : SYS_close_range), "no filter of system calls");
    if (strcmp(how, "cuda") == 0) {
        cuda_load();
        by_session("cuda");
    } else if (strcmp(how, "flight") == 0) {
        by_flight_recorder();
    } else if (strcmp(how, "dynamic") == 0) {
        by_request();
    } else if (strcmp(how, "run") == 0) {
        has_marks_only = true;
        for (int i = 0; i < ROUNDS; i++) {
            round_begin();
            own_check();
        }
    } else {
        by_session("none");
    }
    return 0;
}
