/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers of libc functions, which ld.so loads before a program's libc (LD_PRELOAD). A wrapper reads the clock,
 * calls the function, reads the clock again, and puts one record into the ring of its thread. It holds no lock and
 * no slot during the call, so that a thread that is cancelled there, or leaves by longjmp(), needs no cleanup.
 * Wrappers are as async-signal-safe as their functions, and work before any constructor has run. */
#undef _FILE_OFFSET_BITS /* open() and open64() are two symbols */
#undef _FORTIFY_SOURCE   /* and both are functions */
#include <features.h>
#ifdef __GLIBC__ /* the symbols are glibc's; with other C libraries this library is empty */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/os_calls/os_call.h"
#include "collect/os_calls/os_trace.h"
#include "collect/session/handover.h"
#include "collect/session/host_clock.h"
#include "preload/wrapped_rows.h"

#define VISIBLE __attribute__((visibility("default")))

/* Declares the functions that programs compiled with _FORTIFY_SOURCE call (__read_chk, ...): no header does. */
#define DECLARED(type, name, parameters, ...) type name parameters;
SYSTEM_ROWS(DECLARED)

/* ---- the wrapped functions ---- */

/* clang-format off */
#define SYSTEM_NAME(type, name, ...) X(name)
#define OTHER_NAME(name, ...)        X(name)
#define ALL_NAMES \
    SYSTEM_ROWS(SYSTEM_NAME) THREAD_ROWS(OTHER_NAME) NEWER_THREAD_ROWS(OTHER_NAME) LOCK_ROWS(OTHER_NAME) \
    NEWER_LOCK_ROWS(OTHER_NAME) SEMAPHORE_ROWS(OTHER_NAME) NEWER_SEMAPHORE_ROWS(OTHER_NAME) OTHER_ROWS(X)
/* clang-format on */

enum {
#define X(name) REAL_##name,
    ALL_NAMES
#undef X
        REALS
};
static const char *const real_name[REALS] = {
#define X(name) #name,
    ALL_NAMES
#undef X
};
static void *_Atomic real_at[REALS];

/* Condition variables changed their layout in glibc 2.3.2; dlsym() might return the function for the older layout. */
static __attribute__((noinline)) void *real_find(unsigned i)
{
    void *at = strncmp(real_name[i], "pthread_cond_", 13) == 0 ? dlvsym(RTLD_NEXT, real_name[i], "GLIBC_2.3.2") : NULL;
    if (!at)
        at = dlsym(RTLD_NEXT, real_name[i]);
    atomic_store_explicit(&real_at[i], at, memory_order_relaxed); /* threads that race here find the same address */
    return at;
}

static inline void *real_of(unsigned i)
{
    void *const at = atomic_load_explicit(&real_at[i], memory_order_relaxed);
    return __builtin_expect(at != NULL, 1) ? at : real_find(i);
}

#define REAL(name) ((typeof(&name))real_of(REAL_##name))

/* ---- records ---- */

static struct os_call_sink outside = {
    .version = RINGS_VERSION, .session = ring_session, .thread = ring_thread, .put = ring_put, .done = ring_done
};
static const struct os_call_sink *_Atomic sink = &outside;
static __thread char command[OS_CALL_COMMAND]
    __attribute__((tls_model("initial-exec"))); /* name of the thread; "": not read yet */

/* Calls before this constructor are passed on and not recorded. */
static __attribute__((constructor)) void record_if_asked(void)
{
    struct handover_wish wish;
    for (unsigned i = 0; i < REALS;
         i++) /* dlsym() is not async-signal-safe, and a wrapper may first be called in a signal handler */
        real_find(i);
    host_clock_init(); /* its own constructor may run later; it then chooses the same clock */
    if (handover_attach(&wish))
        outside.kinds = wish.calls;
}

VISIBLE os_call_sink_set ascope_os_calls_to;
VISIBLE bool ascope_os_calls_to(const struct os_call_sink *to)
{
    if (to && to->version != RINGS_VERSION)
        return false;
    atomic_store(&sink, to ? to : &outside);
    return true;
}

/* Where the record of a call goes; NULL: it is not recorded. `from`: the return address. Calls of the recorder
 * itself are left out. */
static inline const struct os_call_sink *sink_for(uint32_t kind, const void *from)
{
    const struct os_call_sink *const s = atomic_load_explicit(&sink, memory_order_acquire);
    return s->kinds & kind && (uintptr_t)from - OWN_CODE >= OWN_CODE_BYTES &&
                   (uintptr_t)from - s->code >= s->code_bytes && s->session() != 0
               ? s
               : NULL;
}

static __attribute__((noinline)) void record(const struct os_call_sink *s, enum stream_id stream, uint64_t begin,
                                             unsigned number, int64_t argument, int64_t result)
{
    const uint64_t end = host_clock_now();
    if (__builtin_expect(command[0] == '\0', 0)) {
        prctl(PR_GET_NAME, command);
        if (command[0] == '\0')
            command[0] = '_';
    }
    const struct ring_slot slot = s->put(stream, 0, sizeof(struct os_call));
    if (!slot.at)
        return;
    struct os_call *const c = (struct os_call *)slot.at;
    c->begin = begin;
    c->duration = end - begin;
    c->argument = argument;
    c->result = result;
    c->thread = s->thread();
    c->number = (uint16_t)number;
    c->clock = host_clock_is_counter ? OS_CALL_COUNTER : OS_CALL_RAW_NS;
    memcpy(c->command, command, sizeof c->command);
    s->done(slot);
}

static inline int64_t system_result(int64_t result)
{
    return __builtin_expect(result == -1, 0) ? -(int64_t)errno : result;
}

/* The body of a wrapper. errno stays that of the call: reading the clock and putting a record do not change it. */
#define SINK(kind) sink_for(OS_CALLS_OF_##kind, __builtin_return_address(0))
#define RECORDED(type, call, kind_sink, stream, number, argument, of_result)                                           \
    do {                                                                                                               \
        const struct os_call_sink *const where = kind_sink;                                                            \
        if (!where)                                                                                                    \
            return call;                                                                                               \
        const uint64_t begin = host_clock_now();                                                                       \
        type result = call;                                                                                            \
        record(where, stream, begin, number, (int64_t)(intptr_t)(argument), of_result);                                \
        return result;                                                                                                 \
    } while (0)
#define RECORDED_SYSTEM(type, call, name, argument)                                                                    \
    RECORDED(type, call, SINK(SYSTEM), STREAM_SYSTEM_CALL, SYS_##name, argument,                                       \
             system_result((int64_t)(intptr_t)result))
#define RECORDED_THREAD(call, name, argument)                                                                          \
    RECORDED(int, call, SINK(THREADS), STREAM_THREAD_CALL, THREAD_CALL_##name, argument, result)

/* ---- wrappers ---- */

#define SYSTEM_WRAPPER(type, name, parameters, arguments, number, first)                                               \
    VISIBLE type name parameters                                                                                       \
    {                                                                                                                  \
        RECORDED_SYSTEM(type, REAL(name) arguments, number, first);                                                    \
    }
SYSTEM_ROWS(SYSTEM_WRAPPER)

#define THREAD_WRAPPER(name, parameters, arguments, first)                                                             \
    VISIBLE int name parameters                                                                                        \
    {                                                                                                                  \
        RECORDED_THREAD(REAL(name) arguments, name, first);                                                            \
    }
THREAD_ROWS(THREAD_WRAPPER)
NEWER_THREAD_ROWS(THREAD_WRAPPER)

/* Only calls that have to wait are recorded: the try returns what the lock would return, except EBUSY where the lock
 * would wait or detect a deadlock. */
#define LOCK_WRAPPER(name, try_name, parameters, arguments, first)                                                     \
    VISIBLE int name parameters                                                                                        \
    {                                                                                                                  \
        if (SINK(THREADS)) {                                                                                           \
            const int tried = REAL(try_name)(first);                                                                   \
            if (tried != EBUSY)                                                                                        \
                return tried;                                                                                          \
        }                                                                                                              \
        RECORDED_THREAD(REAL(name) arguments, name, first);                                                            \
    }
LOCK_ROWS(LOCK_WRAPPER)
NEWER_LOCK_ROWS(LOCK_WRAPPER)

/* Tries to take a semaphore without waiting. sem_wait() is a cancellation point even if it does not wait, so this is
 * one, too. */
static bool sem_taken(sem_t *s)
{
    const int errno_was = errno;
    pthread_testcancel();
    if (REAL(sem_trywait)(s) == 0)
        return true;
    errno = errno_was;
    return false;
}

#define SEMAPHORE_WRAPPER(name, parameters, arguments, first)                                                          \
    VISIBLE int name parameters                                                                                        \
    {                                                                                                                  \
        if (SINK(THREADS) && sem_taken(first))                                                                         \
            return 0;                                                                                                  \
        RECORDED_THREAD(REAL(name) arguments, name, first);                                                            \
    }
SEMAPHORE_ROWS(SEMAPHORE_WRAPPER)
NEWER_SEMAPHORE_ROWS(SEMAPHORE_WRAPPER)

static bool has_mode(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

#define MODE_AFTER(flags)                                                                                              \
    mode_t mode = 0;                                                                                                   \
    if (has_mode(flags)) {                                                                                             \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode = va_arg(more, mode_t);                                                                                   \
        va_end(more);                                                                                                  \
    }

#define OPEN_WRAPPER(name)                                                                                             \
    VISIBLE int name(const char *path, int flags, ...)                                                                 \
    {                                                                                                                  \
        MODE_AFTER(flags)                                                                                              \
        RECORDED_SYSTEM(int, REAL(name)(path, flags, mode), openat, path);                                             \
    }
OPEN_WRAPPER(open)
OPEN_WRAPPER(open64)

#define OPENAT_WRAPPER(name)                                                                                           \
    VISIBLE int name(int dir, const char *path, int flags, ...)                                                        \
    {                                                                                                                  \
        MODE_AFTER(flags)                                                                                              \
        RECORDED_SYSTEM(int, REAL(name)(dir, path, flags, mode), openat, dir);                                         \
    }
OPENAT_WRAPPER(openat)
OPENAT_WRAPPER(openat64)

/* Functions with an optional argument, which is read as libc reads it, given or not. */
#define CONTROL_WRAPPER(name, request_type, number)                                                                    \
    VISIBLE int name(int fd, request_type request, ...)                                                                \
    {                                                                                                                  \
        va_list more;                                                                                                  \
        va_start(more, request);                                                                                       \
        void *const of = va_arg(more, void *);                                                                         \
        va_end(more);                                                                                                  \
        RECORDED_SYSTEM(int, REAL(name)(fd, request, of), number, fd);                                                 \
    }
CONTROL_WRAPPER(ioctl, unsigned long, ioctl)
CONTROL_WRAPPER(fcntl, int, fcntl)
CONTROL_WRAPPER(fcntl64, int, fcntl)

/* The result of sleep() is the remaining time: a signal has interrupted it. */
VISIBLE unsigned sleep(unsigned s)
{
    RECORDED(unsigned, REAL(sleep)(s), SINK(SYSTEM), STREAM_SYSTEM_CALL, SYS_clock_nanosleep, s, result ? -EINTR : 0);
}

VISIBLE int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *rest)
{
    RECORDED(int, REAL(clock_nanosleep)(clock, flags, t, rest), SINK(SYSTEM), STREAM_SYSTEM_CALL, SYS_clock_nanosleep,
             clock, -result);
}

/* Makes the next record of the thread read its new name. */
VISIBLE int pthread_setname_np(pthread_t p, const char *name)
{
    if (pthread_equal(p, pthread_self()))
        command[0] = '\0';
    return REAL(pthread_setname_np)(p, name);
}

#endif
