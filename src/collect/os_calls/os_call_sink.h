/* SPDX-License-Identifier: Apache-2.0 */
/* os_call_sink.h - where the preloaded library puts the calls of its process.
 *
 * libascope-run.so (src/preload) has rings of its own for a collector outside of the program. A session inside of it
 * has other ones, in libascope.so: while it records, calls go there. The two find each other by the name of one
 * function.
 */
#ifndef ASCOPE_COLLECT_OS_CALLS_OS_CALL_SINK_H
#define ASCOPE_COLLECT_OS_CALLS_OS_CALL_SINK_H

#include "collect/ring/ring.h"

enum os_call_kinds { OS_CALLS_OF_SYSTEM = 1, OS_CALLS_OF_THREADS = 2 };

struct os_call_sink {
    uint32_t version; /* RINGS_VERSION: both libraries are of one build, or have nothing to do with each other */
    uint32_t kinds;   /* enum os_call_kinds: what is recorded */
    uintptr_t code, code_bytes;                 /* where calls come from that are the recorder's own */
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

#endif
