/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/os_calls/os_trace.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/kept.h"
#include "base/process/background.h"
#include "collect/samplers/host_sampler.h"
#include "collect/session/message.h"

enum { LOOK_MS = 20, SHARE_OF_CPU = 5 }; /* sampling the threads takes at most a fifth of a CPU */

struct os_trace {
    struct os_trace_of of;
    bool by_kernel, has_sink;
    struct kernel_calls *kernel;
    struct call_samples *samples;
    struct background background;
    bool has_thread;
    struct error error;
};

enum way { WAY_KERNEL, WAY_LIBC, WAY_SAMPLES };

/* ASCOPE_OSRT in the environment decides where the caller leaves the choice to us. */
static uint64_t how_chosen(uint64_t how)
{
    const char *const text = how == ASCOPE_OSRT_AUTO ? secure_getenv("ASCOPE_OSRT") : NULL;
    return !text                          ? how
           : strcmp(text, "libc") == 0    ? ASCOPE_OSRT_LIBC
           : strcmp(text, "samples") == 0 ? ASCOPE_OSRT_SAMPLES
                                          : how;
}

/* *why: the reason why not a more complete way. */
static enum way way_chosen(uint64_t asked, bool has_preloaded, const char **why)
{
    const uint64_t how = how_chosen(asked);
    *why = how == ASCOPE_OSRT_SAMPLES ? "osrt=samples requests no more"
           : has_preloaded            ? "this costs little (osrt=libc); --host-sys=osrt records all"
                           : "osrt=libc without the library; --host-sys=osrt records all where the kernel permits it";
    if (how == ASCOPE_OSRT_SAMPLES || (how == ASCOPE_OSRT_LIBC && !has_preloaded))
        return WAY_SAMPLES;
    if (how != ASCOPE_OSRT_LIBC && kernel_calls_permitted(why))
        return WAY_KERNEL;
    return has_preloaded ? WAY_LIBC : WAY_SAMPLES;
}

uint32_t os_trace_wrapped(uint64_t how)
{
    const char *why;
    return OS_CALLS_OF_THREADS | (way_chosen(how, true, &why) == WAY_LIBC ? OS_CALLS_OF_SYSTEM : 0);
}

/* ---- the preloaded library of this process ---- */

static struct os_call_sink own_sink = {
    .version = RINGS_VERSION, .session = ring_session, .thread = ring_thread, .put = ring_put, .done = ring_done
};

/* False: it is not loaded. */
static bool sink_set(const struct os_trace_of *of)
{
    void *const found = dlsym(RTLD_DEFAULT, OS_CALL_SINK_SET);
    os_call_sink_set *set;
    if (!found)
        return false;
    memcpy(&set, &found, sizeof set); /* a function, whatever the language says of dlsym() */
    own_sink.kinds = of ? os_trace_wrapped(of->how) : 0;
    own_sink.code = OWN_CODE;
    own_sink.code_bytes = OWN_CODE_BYTES;
    return set(of ? &own_sink : NULL);
}

/* ---- the thread ---- */

/* The recorder's own. */
static bool is_ours(pid_t thread)
{
    char path[64], name[8] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)thread);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? pread(fd, name, sizeof name - 1, 0) : 0;
    if (fd >= 0)
        close(fd);
    return n == sizeof name - 1 && memcmp(name, "ascope-", sizeof name - 1) == 0;
}

/* Reads events or samples once; false: tracing ends. */
static bool os_trace_look(struct os_trace *t)
{
    uint64_t pause_ns = LOOK_MS * UINT64_C(1000000);
    if (t->kernel) {
        kernel_calls_wait(t->kernel, LOOK_MS);
        kernel_calls_look(t->kernel, false);
        pause_ns = 0;
    } else {
        const uint64_t before = steady_ns();
        call_samples_look(t->samples);
        const uint64_t took = (steady_ns() - before) * SHARE_OF_CPU;
        pause_ns = took > pause_ns ? took : pause_ns;
    }
    return background_pause(&t->background, steady_ns() + pause_ns);
}

/* Descriptors are of this thread alone, so that the program cannot close them. Opened here: what the thread of the
 * program starts later is traced with it, and this thread should not be. */
static void *trace_main(void *of)
{
    struct os_trace *const t = of;
    descriptors_apart();
    if (t->by_kernel)
        t->kernel = kernel_calls_open(t->of.pid, t->of.is_own ? is_ours : NULL, &t->error);
    else if (!(t->samples = call_samples_new(t->of.pid)))
        error_no_memory(&t->error, "samples of system calls");
    if (t->samples) /* the first sample is taken here, before the thread may have to wait for a processor */
        call_samples_look(t->samples);
    background_begun(&t->background);
    if (!t->kernel && !t->samples)
        return NULL;
    while (os_trace_look(t))
        ;
    if (t->kernel)
        kernel_calls_look(t->kernel, true);
    kernel_calls_close(t->kernel);
    call_samples_free(t->samples);
    return NULL;
}

static bool os_trace_thread_start(struct os_trace *t, struct error *e)
{
    const int why = background_start(&t->background, "ascope-calls", trace_main, t);
    t->has_thread = why == 0;
    return why == 0 || error_set(e, FAULT_LIMIT, "cannot create the thread that reads system calls: %s", strerror(why));
}

static void thread_stop(struct os_trace *t)
{
    if (t->has_thread)
        background_stop(&t->background);
    t->has_thread = false;
}

/* ---- which way ---- */

static void os_trace_report(const struct os_trace *t, bool wraps_calls, const char *why)
{
    const bool has_library = t->has_sink || t->of.has_preloaded;
    char threads[PATH_MAX + 128] = "";
    if (!has_library && t->of.not_preloaded)
        snprintf(threads, sizeof threads, "; calls of the thread library are not recorded: %s", t->of.not_preloaded);
    else if (!has_library)
        snprintf(threads, sizeof threads, "; calls of the thread library need libascope-run.so in LD_PRELOAD");
    if (t->by_kernel)
        message(ASCOPE_INFO, "osrt: all system calls, as traced by the kernel%s", threads);
    else if (wraps_calls)
        message(ASCOPE_INFO, "osrt: system calls through libc only: %s", why);
    else if (t->has_thread)
        message(ASCOPE_INFO, "osrt: only system calls that threads wait in, sampled every %d ms: %s%s", LOOK_MS, why,
                threads);
    else
        message(ASCOPE_WARNING, "osrt: no system calls are recorded: %s, and /proc/%d/syscall is not readable%s", why,
                (int)t->of.pid, threads);
}

/* The kernel may refuse: there are too many threads for its buffers, or they are another user's. */
static bool kernel_start(struct os_trace *t, struct error *e)
{
    if (!os_trace_thread_start(t, e) || t->kernel)
        return t->kernel;
    thread_stop(t);
    t->by_kernel = false;
    return false;
}

struct os_trace *os_trace_start(const struct os_trace_of *of, struct error *e)
{
    const char *why = NULL;
    struct os_trace *const t = calloc(1, sizeof *t);
    if (!t) {
        error_no_memory(e, "the trace of system calls");
        return NULL;
    }
    t->of = *of;
    t->has_sink = of->is_own && sink_set(of);
    enum way way = way_chosen(of->how, t->has_sink || of->has_preloaded, &why);
    t->by_kernel = way == WAY_KERNEL;
    if (t->by_kernel && !kernel_start(t, e)) {
        why = t->error.text;
        own_sink.kinds = OS_CALLS_OF_SYSTEM | OS_CALLS_OF_THREADS;
        way = t->has_sink ? WAY_LIBC : WAY_SAMPLES; /* another program was asked before, and cannot be asked again */
    }
    if (way == WAY_SAMPLES && e->fault == FAULT_NONE && call_samples_permitted(of->pid))
        os_trace_thread_start(t, e);
    if (e->fault == FAULT_NONE)
        os_trace_report(t, way == WAY_LIBC, why);
    if (e->fault == FAULT_NONE && (t->has_thread || t->has_sink))
        return t;
    os_trace_stop(t);
    return NULL;
}

void os_trace_stop(struct os_trace *t)
{
    if (!t)
        return;
    if (t->has_sink)
        sink_set(NULL);
    thread_stop(t);
    free(t);
}
