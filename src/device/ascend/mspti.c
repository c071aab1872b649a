/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ascend/mspti.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process/limited_call.h"
#include "collect/os_calls/preload.h"
#include "collect/ring/ring.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "device/ascend/ascend_library.h"
#include "device/ascend/mspti_library.h"
#include "device/ascend/mspti_records.h"
#include "raw/chip.h"

static const double CLOCK_MHZ = 1000; /* MSPTI's times are ns */
enum { FLUSH_MS = 20 };               /* what a killed program loses at most */

static struct {
    struct mspti_calls calls;
    void *subscriber;
    pid_t process; /* that it was used in; a child of it cannot use it */
    bool records;
    const char *_Atomic in;        /* the name of the current call, for the message if it does not return */
    char lost_call[100];           /* the call that did not return: MSPTI is not used again. "": none */
    unsigned id[MSPTI_DEVICES], n; /* of the recorded devices, in the order in which they appeared */
    int guess;                     /* the id of a device that is recorded on a guess; -1: none */
    struct npu_description is[MSPTI_DEVICES];
} npu = { .guess = -1 };

/* Runs a function that calls the library on a thread of its own, with a limit. Its argument must be static. */
static bool mspti_limited(void (*job)(void *), void *of, struct error *e)
{
    const uint32_t limit_s = ascend_limit_s();
    if (!*npu.lost_call && limited_call(job, of, limit_s))
        return true;
    const char *const in = atomic_load(&npu.in);
    if (!*npu.lost_call)
        snprintf(npu.lost_call, sizeof npu.lost_call, "%s did not return within %u s", in ? in : "a call", limit_s);
    return error_set(e, FAULT_LIMIT, "device mspti: %s; not used again in this process", npu.lost_call);
}

/* A function of the program's own ACL. NULL: it has loaded none. */
static void acl_find(const char *name, void *function)
{
    void *const at = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &at, sizeof at);
}

/* ---- devices ---- */

static bool mspti_is_used(struct error *e)
{
    struct mspti_calls calls;
    return mspti_load(&calls, e) &&
           (ascend_is_loaded(ASCEND_ACL) || error_set(e, FAULT_ASKED, "libascendcl.so is not loaded in this process"));
}

static void mspti_add_device(unsigned id)
{
    if ((int)id == npu.guess)
        npu.guess = -1;
    for (unsigned i = 0; i < npu.n; i++)
        if (npu.id[i] == id)
            return;
    if (npu.n < MSPTI_DEVICES)
        npu.id[npu.n++] = id;
}

/* Those that had records, and the one that this thread has set; without any, the one that this rank will probably use,
 * as a guess. */
static unsigned mspti_probe(struct error *e)
{
    int32_t (*get_device)(int32_t *) = NULL, id = -1;
    if (npu.process != 0 && npu.process != getpid()) {
        error_set(e, FAULT_ASKED, "MSPTI cannot be used in a process that was forked from one that uses it");
        return 0;
    }
    if (*npu.lost_call || !mspti_load(&npu.calls, e)) {
        error_set(e, FAULT_LIMIT, "%s", npu.lost_call);
        return 0;
    }
    npu.process = getpid();
    const uint64_t seen = mspti_devices();
    for (unsigned i = 0; i < MSPTI_DEVICES; i++)
        if (seen & UINT64_C(1) << i)
            mspti_add_device(i);
    acl_find("aclrtGetDevice", &get_device);
    if (get_device && get_device(&id) == 0 && id >= 0 && id < MSPTI_DEVICES)
        mspti_add_device((unsigned)id);
    if (npu.n == 0) {
        const char *const rank = getenv("LOCAL_RANK");
        const unsigned long local = rank ? strtoul(rank, NULL, 10) : 0;
        mspti_add_device(local < MSPTI_DEVICES ? (unsigned)local : 0);
        npu.guess = (int)npu.id[0];
    }
    return npu.n;
}

static bool mspti_describe(unsigned index, struct device_description *out, struct error *e)
{
    struct error none = { 0 };
    if (index >= npu.n)
        return error_set(e, FAULT_ASKED, "device mspti: there is no device %u", index);
    const struct ascend_machine *const m = ascend_probe(&none);
    struct npu_description *const d = &npu.is[index];
    *d = (struct npu_description){ .platform = PLATFORM_MSPTI };
    for (unsigned i = 0; i < m->n; i++)
        if (m->device[i].id == npu.id[index])
            *d = (struct npu_description){ .platform = PLATFORM_MSPTI,
                                           .n_cube = m->device[i].n_cube,
                                           .n_vector = m->device[i].n_vector,
                                           .n_ai_cpu = m->device[i].n_ai_cpu,
                                           .core_mhz = m->device[i].core_mhz,
                                           .vector_mhz = m->device[i].vector_mhz };
    *out = (struct device_description){
        .id = (int)npu.id[index], .name = mspti_kind.name, .counter_mhz = CLOCK_MHZ, .npu = d
    };
    return true;
}

static bool mspti_forget(unsigned index)
{
    if (index >= npu.n || npu.n == 1 || npu.guess != (int)npu.id[index])
        return false;
    npu.guess = -1;
    memmove(npu.id + index, npu.id + index + 1, (--npu.n - index) * sizeof *npu.id);
    return true;
}

/* MSPTI converts the times of all devices to CLOCK_REALTIME. */
static bool mspti_read_clock(unsigned index, struct device_reading *out, struct error *e)
{
    const struct clock_reading now = host_clock_read();
    (void)index;
    (void)e;
    *out = (struct device_reading){ .host_count = now.count,
                                    .host_mono_raw_ns = now.mono_raw_ns,
                                    .device_count = now.wall_ns,
                                    .device_mono_ns = now.wall_ns,
                                    .uncertainty_ns = now.uncertainty_ns };
    return true;
}

/* ---- life ---- */

/* In the order in which they are enabled. Without the first one nothing is worth recording; what an older release does
 * not know is left out. Collectives of older releases are HCCL's kind. */
static const struct {
    int32_t kind, instead;
    const char *what;
} kinds[] = {
    { MSPTI_KERNEL, 0, "kernels" }, { MSPTI_COMMUNICATION, MSPTI_HCCL, "collectives" },
    { MSPTI_MEMCPY, 0, "copies" },  { MSPTI_MEMSET, 0, "sets" },
    { MSPTI_API, 0, "calls" },      { MSPTI_MARKER, 0, "marks" },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct mspti_begun {
    char why[200];     /* "": it records */
    char without[200]; /* what this release does not report; "": nothing */
};

static void on_call(void *user, int32_t domain, uint32_t id, const void *call)
{
    (void)user;
    (void)domain;
    (void)id;
    (void)call;
}

static void kinds_disable(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        npu.calls.disable(kinds[i].kind);
        if (kinds[i].instead)
            npu.calls.disable(kinds[i].instead);
    }
}

static void refused(struct mspti_begun *b, const char *call, int32_t code)
{
    snprintf(b->why, sizeof b->why, "%s: error %d, %s", call, code, mspti_error(code));
}

static int32_t kinds_enable(struct mspti_begun *b)
{
    atomic_store(&npu.in, "msptiActivityRegisterCallbacks");
    int32_t code = npu.calls.register_buffers(mspti_wanted, mspti_done);
    if (code != 0) {
        refused(b, "msptiActivityRegisterCallbacks", code);
        return code;
    }
    atomic_store(&npu.in, "msptiActivityEnable");
    for (size_t i = 0; i < KINDS; i++) {
        code = npu.calls.enable(kinds[i].kind);
        if (code != 0 && kinds[i].instead)
            code = npu.calls.enable(kinds[i].instead);
        if (code != 0 && i == 0) {
            refused(b, "msptiActivityEnable", code);
            return code;
        }
        const size_t n = strlen(b->without);
        if (code != 0)
            snprintf(b->without + n, sizeof b->without - n, "%s%s (%s)", n > 0 ? ", " : "", kinds[i].what,
                     mspti_error(code));
    }
    return 0;
}

static void mspti_begin(void *begun)
{
    struct mspti_begun *const b = begun;
    *b = (struct mspti_begun){ "", "" };
    atomic_store(&npu.in, "msptiSubscribe");
    const int32_t code = npu.calls.subscribe(&npu.subscriber, on_call, NULL); /* first: it fails beside another tool */
    if (code != 0) {
        refused(b, "msptiSubscribe", code);
        return;
    }
    if (!mspti_records_start(&npu.calls))
        snprintf(b->why, sizeof b->why, "its records: %s", no_memory_text());
    else if (kinds_enable(b) == 0) {
        if (npu.calls.flush_period)
            npu.calls.flush_period(FLUSH_MS);
        return;
    }
    mspti_records_stop();
    kinds_disable();
    npu.calls.unsubscribe(npu.subscriber);
}

static bool mspti_start(const struct ascope_options *o, struct error *e)
{
    static struct mspti_begun begun;
    (void)o;
    if (!mspti_limited(mspti_begin, &begun, e))
        return false;
    if (*begun.why)
        return error_set(e, FAULT_ASKED, "device mspti: %s", begun.why);
    if (*begun.without)
        message(ASCOPE_WARNING, "device mspti: not recorded: %s", begun.without);
    npu.records = true;
    return true;
}

static void mspti_kept(void)
{
    mspti_keep_from(host_clock_read().wall_ns);
}

static void mspti_end(void *of)
{
    struct mspti_losses *const lost = of;
    int32_t (*synchronize)(void) = NULL;
    atomic_store(&npu.in, "aclrtSynchronizeDevice");
    acl_find("aclrtSynchronizeDevice", &synchronize);
    if (synchronize)
        synchronize(); /* waits for the last tasks; the program sees errors in its own calls */
    atomic_store(&npu.in, "msptiActivityFlushAll");
    npu.calls.flush(0);
    atomic_store(&npu.in, "msptiActivityDisable");
    kinds_disable();
    atomic_store(&npu.in, "msptiActivityFlushAll");
    npu.calls.flush(0);
    *lost = mspti_records_stop();
    atomic_store(&npu.in, "msptiUnsubscribe");
    npu.calls.unsubscribe(npu.subscriber);
}

static bool mspti_stop(struct error *e)
{
    static struct mspti_losses lost;
    struct error late = { 0 };
    (void)e;
    if (!npu.records || npu.process != getpid())
        return true;
    npu.records = false;
    const bool is_well = mspti_limited(mspti_end, &lost, &late);
    if (!is_well) {
        lost = mspti_records_stop();
        message(ASCOPE_WARNING, "%s; what MSPTI has not reported yet is missing", late.text);
    }
    if (lost.n_full + lost.n_unusable > 0)
        ring_count_dropped(STREAM_CUDA, lost.n_full + lost.n_unusable);
    if (lost.n_full > 0)
        message(ASCOPE_WARNING,
                "device mspti: all buffers were full %llu times; each time MSPTI dropped records, and does not say how "
                "many",
                (unsigned long long)lost.n_full);
    if (lost.n_unusable > 0)
        message(ASCOPE_WARNING,
                "device mspti: %llu records cannot be used (no times, incomplete, or of a device above %d); they are "
                "missing in the recording",
                (unsigned long long)lost.n_unusable, MSPTI_DEVICES - 1);
    return is_well;
}

static void mspti_examine(finding_report *report, void *to)
{
    struct machine_finding f = { .state = FINDING_NOT_APPLICABLE, .name = MSPTI_LIBRARY };
    char path[PATH_MAX];
    snprintf(f.fact, sizeof f.fact, "not found");
    if (preload_find_mspti(path)) {
        f.state = FINDING_OK;
        snprintf(f.fact, sizeof f.fact, "installed");
        snprintf(f.place, sizeof f.place, "%.*s", (int)sizeof f.place - 1, path);
        snprintf(f.effect, sizeof f.effect, "NPUs in flight recorders, and in programs that ascope run starts");
    } else if (ascend_is_installed()) {
        f.state = FINDING_MISSING;
        snprintf(f.effect, sizeof f.effect, "flight recorders have no data of NPUs");
        snprintf(f.advice, sizeof f.advice, "set ASCEND_HOME_PATH (source set_env.sh), or install CANN 8 or newer");
    }
    report(to, &f);
}

const struct device_kind mspti_kind = {
    .name = "mspti",
    .what = "Ascend NPUs, by MSPTI", /* "auto" comes to it from ascend.h */
    .is_used = mspti_is_used,
    .probe = mspti_probe,
    .describe = mspti_describe,
    .forget = mspti_forget,
    .read_clock = mspti_read_clock,
    .start = mspti_start,
    .kept = mspti_kept,
    .stop = mspti_stop,
    .examine = mspti_examine,
};
