/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ascend/ascend.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/memory/growing.h"
#include "base/process/limited_call.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "device/ascend/ascend_library.h"
#include "device/ascend/mspti.h"

enum { ACL_NOT_RUNNING = 100043, ACL_UNSUPPORTED = 200007 };

enum ascend_state { OFF, WARM, RUNS };
static struct {
    struct ascend_calls calls;
    struct ascend_loaded loaded[ASCEND_LIBRARIES];
    bool is_loaded;
    enum ascend_state state;
    pid_t process; /* the process that the state belongs to: a child of it starts with OFF */
    void *config;
    bool is_lost;        /* a call did not return: the libraries are not called again */
    char lost_call[100]; /* which call, and for how long */
} npu;
static int32_t (*_Atomic trace)(uint64_t, uint64_t, uint16_t,
                                void *); /* launches a mark; NULL: marks are not recorded */

/* ---- calls with a limit ---- */

enum { NOTES = 8, NOTE = 240 };
struct ascend_job {
    struct ascend_calls calls;
    struct ascend_config asked;
    char dir[PATH_MAX];
    uint32_t device;
    bool inits, warms_up;
    void *config;
    const char *_Atomic in; /* the name of the current call, for the message if it does not return */
    char failed[NOTE];      /* the reason of a failure; "": success */
    char note[NOTES][NOTE]; /* warnings */
    size_t n_notes;
};

static bool fail_call(struct ascend_job *j, const char *call, int32_t code)
{
    snprintf(j->failed, sizeof j->failed, "%s: %s", call, ascend_error(code));
    return false;
}

__attribute__((format(printf, 2, 3))) static void note(struct ascend_job *j, const char *fmt, ...)
{
    if (j->n_notes == NOTES)
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(j->note[j->n_notes++], NOTE, fmt, args);
    va_end(args);
}

/* Runs a job on a thread with a limit. True: it has ended, and the caller frees it. False: it has not, and its thread
 * still uses it. */
static bool job_run(void (*run)(void *), struct ascend_job *j, struct error *e)
{
    const uint32_t limit_s = ascend_limit_s();
    if (limited_call(run, j, limit_s)) {
        for (size_t i = 0; i < j->n_notes; i++)
            message(ASCOPE_WARNING, "device ascend: %s", j->note[i]);
        return true;
    }
    npu.is_lost = true;
    const char *const in = atomic_load(&j->in);
    snprintf(npu.lost_call, sizeof npu.lost_call, "%s did not return within %u s", in ? in : "a call", limit_s);
    return error_set(e, FAULT_LIMIT, "device ascend: %s", npu.lost_call);
}

static struct ascend_job *job_new(struct error *e)
{
    struct ascend_job *j = calloc(1, sizeof *j);
    if (!j)
        error_no_memory(e, "the calls to the device");
    else
        j->calls = npu.calls;
    return j;
}

/* ---- loading ---- */

static void load_run(void *at)
{
    struct ascend_job *j = at;
    atomic_store(&j->in, "dlopen");
    j->inits = ascend_load(&j->calls, npu.loaded, false);
}

static void end_at_exit(void);

/* Loads the libraries into this process, after the probe has done so in a child. end_at_exit() is registered after the
 * exit functions of the libraries, so that it runs before them. */
static bool load(struct error *e)
{
    if (npu.is_loaded)
        return true;
    struct ascend_job *j = job_new(e);
    if (!j || !job_run(load_run, j, e))
        return false;
    npu.is_loaded = j->inits;
    npu.calls = j->calls;
    free(j);
    if (npu.is_loaded)
        atexit(end_at_exit);
    return npu.is_loaded || error_set(e, FAULT_ASKED, "device ascend: the vendor's libraries cannot be loaded: %.300s",
                                      npu.loaded[ASCEND_MSPROFILER].reason);
}

/* ---- looking ---- */

static bool is_used(struct error *e)
{
    if (ascend_is_loaded(ASCEND_ACL) ||
        !ascend_is_installed()) /* if it is not installed, probe() has the better reason */
        return true;
    return error_set(e, FAULT_ASKED, "libascendcl.so is not loaded in this process");
}

static unsigned probe(struct error *e)
{
    if (npu.is_lost) {
        error_set(e, FAULT_LIMIT, "%s earlier; not used again in this process", npu.lost_call);
        return 0;
    }
    return ascend_probe(e)->n;
}

static bool ascend_describe(unsigned index, struct device_description *out, struct error *e)
{
    static struct npu_description npus[ASCEND_DEVICES];
    const struct ascend_machine *const m = ascend_probe(e);
    if (index >= m->n)
        return error_set(e, FAULT_ASKED, "device ascend: there is no device %u", index);
    const struct ascend_device *const d = &m->device[index];
    npus[index] = (struct npu_description){ .platform = d->platform,
                                            .n_cube = d->n_cube,
                                            .n_vector = d->n_vector,
                                            .n_ai_cpu = d->n_ai_cpu,
                                            .core_mhz = d->core_mhz,
                                            .vector_mhz = d->vector_mhz };
    *out = (struct device_description){
        .id = (int)d->id, .name = ascend_kind.name, .counter_mhz = d->counter_mhz, .npu = &npus[index]
    };
    return true;
}

/* The device's clock is read between two readings of the host's; the try with the smallest distance between those is
 * used. */
static bool read_clock(unsigned index, struct device_reading *out, struct error *e)
{
    enum { TRIES = 8, SYSTEM = 0, COUNTER = 13, RAW_NS = 14 };
    const struct ascend_machine *const m = ascend_probe(e);
    struct device_reading best = { .uncertainty_ns = UINT64_MAX };
    for (int i = 0; i < TRIES && index < m->n && npu.calls.drv_info && !npu.is_lost; i++) {
        int64_t count = 0, ns = 0;
        const uint64_t before_ns = host_clock_raw_ns(), before = host_clock_now();
        const bool is_read = npu.calls.drv_info(m->device[index].id, SYSTEM, COUNTER, &count) == 0;
        const uint64_t after = host_clock_now(), after_ns = host_clock_raw_ns();
        const uint64_t half_ns = (after_ns - before_ns + 1) / 2;
        if (!is_read || npu.calls.drv_info(m->device[index].id, SYSTEM, RAW_NS, &ns) != 0)
            break;
        if (half_ns < best.uncertainty_ns)
            best = (struct device_reading){ .host_count = before + (after - before) / 2,
                                            .host_mono_raw_ns = before_ns + half_ns,
                                            .device_count = (uint64_t)count,
                                            .device_mono_ns = (uint64_t)ns,
                                            .uncertainty_ns = half_ns };
    }
    *out = best;
    return best.uncertainty_ns != UINT64_MAX ||
           error_set(e, FAULT_IO, "device ascend: the driver does not report the device's time");
}

/* ---- the directory that the engine makes ---- */

static bool is_prof(const char *name)
{
    return strncmp(name, "PROF_", 5) == 0;
}

/* PROF directories that existed before the start; several processes may write to one directory. */
static struct ascend_names {
    char (*at)[NAME_MAX + 1];
    size_t n, room;
} before;

static void before_read(const char *path)
{
    DIR *dir = opendir(path);
    int why;
    before.n = 0;
    for (const char *name; dir && (name = dir_next(dir, &why));) {
        if (!is_prof(name))
            continue;
        if (!array_reserve(before.at, before.room, before.n + 1, 16))
            break;
        snprintf(before.at[before.n++], sizeof *before.at, "%s", name);
    }
    if (dir)
        closedir(dir);
}

static bool was_before(const char *name)
{
    for (size_t i = 0; i < before.n; i++)
        if (strcmp(before.at[i], name) == 0)
            return true;
    return false;
}

/* The last part of the name begins with the process id, except in older releases. */
static bool is_of_process(const char *name)
{
    char digits[16];
    const char *const last = strrchr(name, '_');
    snprintf(digits, sizeof digits, "_%08d", (int)getpid());
    return last && strncmp(last, digits, strlen(digits)) == 0;
}

/* Finds the new PROF directory of this process; if none has its id, the only new one. False: there is none, or
 * several. */
static bool prof_scan(const char *path, char prof[PATH_MAX])
{
    DIR *dir = opendir(path);
    char found[NAME_MAX + 1] = "";
    int why;
    size_t n_new = 0;
    for (const char *name; dir && (name = dir_next(dir, &why));) {
        if (!is_prof(name) || was_before(name))
            continue;
        n_new++;
        const bool is_ours = is_of_process(name);
        if (n_new == 1 || is_ours)
            snprintf(found, sizeof found, "%s", name);
        if (is_ours) {
            n_new = 1;
            break;
        }
    }
    if (dir)
        closedir(dir);
    return n_new == 1 && snprintf(prof, PATH_MAX, "%s/%s", path, found) < PATH_MAX;
}

/* The directory that the engine itself reports, if it is below the one that it was given. */
static bool prof_named(const char *dir, char prof[PATH_MAX])
{
    const char *const path = npu.calls.api_path ? npu.calls.api_path() : NULL;
    const size_t n = strlen(dir);
    if (!path || strncmp(path, dir, n) != 0 || path[n] != '/' || !is_prof(path + n + 1))
        return false;
    const size_t name = strcspn(path + n + 1, "/");
    return snprintf(prof, PATH_MAX, "%.*s", (int)(n + 1 + name), path) < PATH_MAX && access(prof, F_OK) == 0;
}

/* Waits up to 2 s: engines create the directory before they return, or soon after. "": it was not found. */
static void prof_find(const char *dir, char prof[PATH_MAX])
{
    enum { TRIES = 200, PAUSE_NS = 10000000 };
    for (int i = 0; i < TRIES; i++) {
        if (prof_named(dir, prof) || prof_scan(dir, prof))
            return;
        nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
    }
    *prof = '\0';
}

/* ---- life ---- */

static void set_pairs(struct ascend_job *j)
{
    for (size_t i = 0; i < j->asked.n_pairs; i++) {
        const struct ascend_pair *p = &j->asked.pair[i];
        const int32_t code =
            j->calls.prof_set_config ? j->calls.prof_set_config(p->type, p->text, strlen(p->text)) : ACL_UNSUPPORTED;
        if (code != 0)
            note(j, "%s=%s is not recorded: aclprofSetConfig: %s", p->option, p->text, ascend_error(code));
    }
}

static bool config_make(struct ascend_job *j, uint64_t mask)
{
    atomic_store(&j->in, "aclprofCreateConfig");
    j->config = j->calls.prof_create_config(&j->device, 1, j->asked.metrics, NULL, mask);
    if (!j->config)
        snprintf(j->failed, sizeof j->failed, "aclprofCreateConfig: device %u, metrics %d, mask 0x%llx not accepted",
                 j->device, j->asked.metrics, (unsigned long long)mask);
    return j->config;
}

static int32_t config_use(struct ascend_job *j)
{
    atomic_store(&j->in, j->warms_up ? "aclprofWarmup" : "aclprofStart");
    return j->warms_up ? j->calls.prof_warmup(j->config) : j->calls.prof_start(j->config);
}

/* An older release refuses a mask with bits that it does not know. Without the newer bits it records the rest. */
static bool start_with_less(struct ascend_job *j)
{
    const uint64_t less = j->asked.mask & ~ascend_newer_bits();
    j->calls.prof_destroy_config(j->config);
    if (!config_make(j, less))
        return false;
    const int32_t code = config_use(j);
    if (code != 0)
        return fail_call(j, atomic_load(&j->in), code);
    note(j, "this release does not record data 0x%llx of the mask", (unsigned long long)(j->asked.mask & ~less));
    return true;
}

static bool start_all(struct ascend_job *j)
{
    if (!j->config && !config_make(j, j->asked.mask))
        return false;
    const int32_t code = config_use(j);
    if (code == ACL_UNSUPPORTED && (j->asked.mask & ascend_newer_bits()))
        return start_with_less(j);
    return code == 0 || fail_call(j, atomic_load(&j->in), code);
}

static void start_run(void *at)
{
    struct ascend_job *j = at;
    if (j->inits) {
        atomic_store(&j->in, "aclprofInit");
        const int32_t code = j->calls.prof_init(j->dir, strlen(j->dir));
        if (code != 0) { /* another user may have initialised it: it is not finalized here */
            fail_call(j, "aclprofInit", code);
            return;
        }
        atomic_store(&j->in, "aclprofSetConfig");
        set_pairs(j);
    }
    if (start_all(j)) {
        atomic_store(&j->in, "aclprofRegisterDeviceCallback");
        if (!j->warms_up && j->calls.prof_register_device)
            j->calls.prof_register_device();
        return;
    }
    if (j->config)
        j->calls.prof_destroy_config(j->config);
    j->config = NULL;
    atomic_store(&j->in, "aclprofFinalize");
    j->calls.prof_finalize();
}

/* The device that this thread has set. Other ranks record theirs, and devices that the program sets later are added by
 * the engine. */
static uint32_t device_choose_id(void)
{
    int32_t id = -1;
    const int32_t code = npu.calls.rt_get_device ? npu.calls.rt_get_device(&id) : -1;
    if (code == 0 && id >= 0)
        return (uint32_t)id;
    const char *const rank = getenv("LOCAL_RANK");
    const unsigned long local = rank ? strtoul(rank, NULL, 10) : 0;
    struct error e = { 0 };
    const uint32_t n = ascend_probe(&e)->n, instead = local < n ? (uint32_t)local : 0;
    message(ASCOPE_WARNING,
            "device ascend: %s; recording device %u. Call aclInit() and aclrtSetDevice() before the recording starts",
            npu.calls.rt_get_device ? "ACL is not initialised, or no device is set on this thread"
                                    : "ACL is not initialised: the program has not loaded libascendcl.so",
            instead);
    return instead;
}

static bool job_start(struct ascend_job *j, struct error *e)
{
    if (!job_run(start_run, j, e))
        return false;
    const bool is_well = !*j->failed || error_set(e, FAULT_ASKED, "device ascend: %s", j->failed);
    npu.config = j->config;
    npu.state = !is_well ? OFF : j->warms_up ? WARM : RUNS;
    npu.process = getpid();
    free(j);
    return is_well;
}

static bool ascend_begin(const struct ascope_options *o, const char *dir, bool warms_up, struct device_place *out,
                         struct error *e)
{
    if (npu.process != getpid())
        npu.state = OFF; /* what runs belongs to the parent process */
    if (npu.is_lost)
        return error_set(e, FAULT_LIMIT, "device ascend: %s earlier; not used again in this process", npu.lost_call);
    if (!load(e))
        return false;
    out->counts_ns = ascend_probe(e)->counts_ns;
    if (warms_up && !npu.calls.prof_warmup)
        return true; /* this release has no warm-up: it is started when the recording starts */
    struct ascend_job *j = job_new(e);
    if (!j)
        return false;
    j->inits = npu.state == OFF;
    j->warms_up = warms_up;
    j->config = npu.state == WARM ? npu.config : NULL;
    snprintf(j->dir, sizeof j->dir, "%s", dir);
    ascend_config_of(&j->asked, o);
    if (j->inits) {
        if (*j->asked.unavailable)
            message(ASCOPE_WARNING, "device ascend: not recorded, because aclprof does not support it: %s",
                    j->asked.unavailable);
        j->device = device_choose_id();
        before_read(dir);
    }
    const bool has_marks = o->mstx, is_well = job_start(j, e);
    if (is_well)
        prof_find(dir, out->prof);
    atomic_store(&trace, is_well && has_marks ? npu.calls.rt_trace : NULL);
    return is_well;
}

static void stop_run(void *at)
{
    struct ascend_job *j = at;
    int32_t stopped = 0;
    atomic_store(&j->in, "aclprofStop");
    if (!j->warms_up) { /* after a mere warm-up it is finalized without a stop, as torch_npu does it */
        stopped = j->calls.prof_stop(j->config);
        j->calls.prof_destroy_config(j->config);
    }
    atomic_store(&j->in, "aclprofFinalize");
    const int32_t finalized = j->calls.prof_finalize();
    if (j->warms_up)
        j->calls.prof_destroy_config(j->config);
    if (stopped == ACL_NOT_RUNNING)
        note(j, "another profiler user stopped it before the recording ended");
    else if (stopped != 0)
        fail_call(j, "aclprofStop", stopped);
    else if (finalized != 0)
        fail_call(j, "aclprofFinalize", finalized);
}

static bool ascend_stop(struct error *e)
{
    int32_t id;
    if (npu.state == OFF || npu.process != getpid() || npu.is_lost)
        return true;
    atomic_store(&trace, NULL);
    if (npu.calls.rt_get_device && npu.calls.rt_synchronize && npu.calls.rt_get_device(&id) == 0)
        npu.calls.rt_synchronize(); /* waits for the last tasks; the program sees errors in its own calls */
    struct ascend_job *j = job_new(e);
    if (!j)
        return false;
    j->config = npu.config;
    j->warms_up = npu.state == WARM;
    npu.config = NULL;
    npu.state = OFF;
    if (!job_run(stop_run, j, e))
        return false;
    const bool is_well = !*j->failed || error_set(e, FAULT_IO, "device ascend: %s", j->failed);
    free(j);
    return is_well;
}

static void end_at_exit(void)
{
    struct error e = { 0 };
    if (!ascend_stop(&e))
        message(ASCOPE_WARNING, "%s", e.text);
}

/* Launches a task that leaves a stamp with this id in the scheduler's track, as the vendor's mstx does. */
static void ascend_mark(void *stream, uint64_t id)
{
    enum { TAG = 11 };
    int32_t (*const launch)(uint64_t, uint64_t, uint16_t, void *) = atomic_load_explicit(&trace, memory_order_acquire);
    if (launch)
        launch(id, UINT32_MAX, TAG, stream);
}

const struct device_kind ascend_kind = {
    .name = "ascend",
    .what = "Ascend NPUs",
    .is_real = true,
    .is_used = is_used,
    .probe = probe,
    .describe = ascend_describe,
    .read_clock = read_clock,
    .begin = ascend_begin,
    .in_rings = &mspti_kind,
    .stop = ascend_stop,
    .mark = ascend_mark,
    .examine = ascend_examine,
};
