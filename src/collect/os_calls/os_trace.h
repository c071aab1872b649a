/* SPDX-License-Identifier: Apache-2.0 */
/* os_trace.h - registry: calls of the operating system, for a session that asks for them (host_sys=osrt): which way they are
 * recorded, and the thread that does so where it is not the program itself.
 *
 * System calls come from the kernel where it permits that (kernel_calls.c): it sees all of them. Else, or where the
 * user wants to pay less, from libc's functions, wrapped by the preloaded library (src/preload), which sees those that
 * cross from one object to another, at a thirtieth of the cost. Else from samples (call_samples.c). One of the three:
 * no call is recorded twice. Calls of the thread library always come from the preloaded library.
 */
#ifndef ASCOPE_COLLECT_OS_CALLS_OS_TRACE_H
#define ASCOPE_COLLECT_OS_CALLS_OS_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ascope/session.h"
#include "base/text/error.h"
#include "collect/ring/ring.h"

struct os_trace;

/* What the preloaded library has to record, in a program that has it: enum os_call_kinds. Asked before the program
 * starts. */
uint32_t os_trace_wrapped(uint64_t how);

/* After rings_open(). Reports once how calls are recorded. NULL, and no error: the program does everything itself, or
 * nothing can be done. */
struct os_trace_of {
    pid_t pid;
    uint64_t how;              /* enum ascope_osrt */
    bool is_own;               /* this process */
    bool has_preloaded;        /* the other process has loaded the library */
    const char *not_preloaded; /* else why not; NULL: it was not tried */
};
struct os_trace *os_trace_start(const struct os_trace_of *of, struct error *e);
void os_trace_stop(struct os_trace *t); /* before the writer stops; NULL is fine */

/* Where the preloaded library puts the calls of its process.
 *
 * libascope-run.so (src/preload) has rings of its own for a collector outside of the program. A session inside of it
 * has other ones, in libascope.so: while it records, calls go there. The two find each other by the name of one
 * function. */

enum os_call_kinds { OS_CALLS_OF_SYSTEM = 1, OS_CALLS_OF_THREADS = 2 };

struct os_call_sink {
    uint32_t version;           /* RINGS_VERSION: libraries of different versions do not work together */
    uint32_t kinds;             /* enum os_call_kinds: what is recorded */
    uintptr_t code, code_bytes; /* where calls come from that are the recorder's own */
    uint32_t (*session)(void), (*thread)(void); /* as ring_session(), ring_thread(); the other two as theirs */
    struct ring_slot (*put)(enum stream_id stream, unsigned device, size_t bytes);
    void (*done)(struct ring_slot slot);
};

/* In the preloaded library. The sink stays where it is for ever; NULL: back to the collector outside. False: not of
 * this version. */
#define OS_CALL_SINK_SET "ascope_os_calls_to"
typedef bool os_call_sink_set(const struct os_call_sink *sink);

/* The code of the object that includes this, as its linker knows it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
#define OWN_CODE       ((uintptr_t)__ehdr_start)
#define OWN_CODE_BYTES ((uintptr_t)etext - OWN_CODE)

/* kernel_calls.c: the system calls of processes as the kernel reports them: its trace points raw_syscalls:sys_enter
 * and sys_exit, read from ring buffers of perf_event_open().
 *
 * Sees every call of the threads that it was opened for and of all that they start later, also of static programs, and
 * of what libc does inside. Not everybody may: CAP_PERFMON, or kernel.perf_event_paranoid = -1, and the file system of
 * trace points. The call succeeds without these rights, too, and then counts nothing: kernel_calls_permitted() makes
 * calls of its own and looks whether they are seen.
 *
 * Costs a buffer and two descriptors for each CPU and thread. Records go to the ring of the thread that looks. */

struct kernel_calls;

bool kernel_calls_permitted(const char **why); /* asked once; why not */

/* The threads that a process has now, but for `not_of`, and what they start. NULL: e says why. */
struct kernel_calls *kernel_calls_open(pid_t pid, bool (*not_of)(pid_t thread), struct error *e);
void kernel_calls_wait(struct kernel_calls *k, int most_ms); /* until a buffer is filled to a good part */
void kernel_calls_look(struct kernel_calls *k,
                       bool is_last);            /* puts what has ended; the last time: everything that is there */
void kernel_calls_close(struct kernel_calls *k); /* NULL is fine */

#endif
