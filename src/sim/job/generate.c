/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/job/generate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/leftover.h"
#include "base/files/outdir.h"
#include "base/process/pool.h"
#include "base/text/framework_names.h"
#include "raw/host_records.h"
#include "sim/device/sim_device.h"
#include "sim/job/sim_faults.h"
#include "sim/job/sim_front.h"
#include "sim/job/sim_info.h"
#include "sim/job/sim_job_run.h"
#include "sim/job/sim_plan.h"

const struct sim_options sim_defaults = {
    .out_dir = ".",
    .seed = 1,
    .kernels = 150,
    .steps = 3,
    .devices = 1,
    .processes = 1,
    .chip = "A2",
    .counter_mhz = 50,
    .metrics = "PipeUtilization",
    .slice_bytes = SLICE_BYTES,
    .comm = true,
    .graphs = true,
    .copies = true,
    .marks = true,
    .samplers = true,
};

bool sim_chip_has_kfc(const char *chip)
{
    const struct chip *c = chip_find(chip);
    return c && c->has_two_dies;
}

struct known_chips {
    char text[160];
};

static struct known_chips chips_known(void)
{
    struct known_chips known = { "" };
    size_t used = 0;
    const struct chip *c;
    for (size_t i = 0; (c = chip_simulated(i)) && used < sizeof known.text; i++) {
        const char *between = i > 0 ? ", " : "";
        used += (size_t)(c->spoken[0]
                             ? snprintf(known.text + used, sizeof known.text - used, "%s%s", between, c->spoken[0])
                             : snprintf(known.text + used, sizeof known.text - used, "%s%d", between, c->platform));
    }
    return known;
}

static bool options_resolve(struct sim_process *p, const struct sim_options *o, struct error *e)
{
    p->o = o;
    p->chip = chip_find(o->chip);
    if (!p->chip)
        return error_set(e, FAULT_ASKED, "chip %s: cannot be simulated; accepted are %s", o->chip, chips_known().text);
    p->metrics = core_events_find(o->metrics, p->chip);
    if (!p->metrics)
        return error_set(e, FAULT_ASKED, "%s: the chip %s has no such group of counters", o->metrics, o->chip);
    if (o->kfc && p->chip->group != ON_A2)
        return error_set(e, FAULT_ASKED, "chip %s: its AI CPU runs no collectives", o->chip);
    enum { MOST_WIDE = 20000 }; /* tasks of a stream have ids of 16 bits, which cannot be reused */
    if (p->chip->group == ON_950 && o->devices > 0 && (o->kernels / o->devices > MOST_WIDE || o->sample_based))
        return error_set(e, FAULT_ASKED, "chip %s: at most %d kernels per device, and no core samples", o->chip,
                         MOST_WIDE);
    if (o->steps == 0 || o->devices == 0 || o->devices > SIM_DEVICES_MOST || o->processes == 0 ||
        o->processes > SIM_PROCESSES_MOST)
        return error_set(
            e, FAULT_ASKED,
            "%u steps, %u devices, %u processes; expected at least one, at most %d devices and %d processes", o->steps,
            o->devices, o->processes, SIM_DEVICES_MOST, SIM_PROCESSES_MOST);
    if (o->counter_mhz == 0 || o->counter_mhz > 1000)
        return error_set(e, FAULT_ASKED, "a counter of %u MHz; expected 1 to 1000", o->counter_mhz);
    if (o->framework != SIM_NO_FRAMEWORK && o->devices > 1)
        return error_set(e, FAULT_ASKED, "%u devices; a process of a framework has one; use --ranks for more",
                         o->devices);
    if (sim_is_job(o) && o->devices > 1)
        return error_set(e, FAULT_ASKED, "--devices %u: a rank of a job has one device; use --ranks for more",
                         o->devices);
    if (o->slice_bytes < 4096)
        return error_set(e, FAULT_ASKED, "slices of %zu bytes; expected at least 4096", o->slice_bytes);
    return true;
}

/* All processes run on one host and share its clocks, but start one after the other. */
static void clocks_set(struct sim_process *p)
{
    enum { APART_US = 3000 };
    if (p->job) {
        job_clocks_set(p);
        return;
    }
    struct dice job = dice_for(p->o->seed, 0);
    const uint64_t first_us = 1717200000ull * 1000000; /* 1 June 2024 */
    p->wall_us = first_us + dice_next(&job) % (86400ull * 1000000) + (uint64_t)APART_US * p->index;
    p->mono_ns = 4000000000000 + dice_next(&job) % 1000000000000 + (uint64_t)APART_US * 1000 * p->index;
    p->cnt = p->mono_ns / NS_PER_HOST_TICK + 1234;
}

static void prof_name(struct sim_process *p, const char *dir, char *path, size_t size)
{
    char date[32], letters[9] = "";
    p->dice = dice_for(p->o->seed, 1000000 + p->index);
    info_date(date, sizeof date, "%Y%m%d%H%M%S", p->wall_us);
    for (unsigned i = 0; i < 8; i++)
        letters[i] = (char)('A' + dice_below(&p->dice, 18));
    snprintf(path, size, "%s/PROF_000001_%s%03u_%08u%s", dir, date, (unsigned)(p->wall_us / 1000 % 1000), p->pid,
             letters);
}

static const char *sim_suffix(unsigned framework)
{
    return framework_names[framework == SIM_MINDSPORE ? FRAMEWORK_MINDSPORE : FRAMEWORK_PYTORCH].suffix;
}

static void path_make(struct sim_process *p, char *path, size_t size)
{
    char date[32];
    if (p->o->framework == SIM_NO_FRAMEWORK) {
        prof_name(p, p->o->out_dir, path, size);
        return;
    }
    info_date(date, sizeof date, "%Y%m%d%H%M%S", p->wall_us);
    snprintf(path, size, "%s/ascope-sim_%u_%s%03u%s", p->o->out_dir, p->pid, date, (unsigned)(p->wall_us / 1000 % 1000),
             sim_suffix(p->o->framework));
}

uint64_t sim_share(uint64_t all, uint64_t parts, uint64_t which)
{
    return all / parts + (which < all % parts);
}

static void device_begin(struct sim_device *d)
{
    struct sim_process *p = d->of;
    const uint64_t at = d->main.now;
    host_call(p, HOST_CALL, LEVEL_RUNTIME, TYPE_CALL_SET_DEVICE, d->main.id, at + 20, at + 260, 0);
    host_call(p, HOST_CALL, LEVEL_ACL, TYPE_ACL_SET_DEVICE, d->main.id, at, at + 300, 0);
    d->main.now = at + 300;
    if (p->o->kfc)
        kfc_open(d);
    if (p->o->graphs) {
        graph_load(d);
        graph_capture(d);
    }
}

static void device_end(struct sim_device *d)
{
    struct sim_process *p = d->of;
    const uint32_t thread[] = { d->main.id, d->backward.id };
    memory_release(d);
    if (p->o->graphs)
        graphs_end(d);
    uint8_t *rec = host_record(p, HOST_THREADS, d->main.id, d->main.now + 50);
    layout_put(&multi_thread_layout, HEAD_DATA_LEN, rec, sizeof(uint32_t) + sizeof thread);
    layout_put(&multi_thread_layout, THREADS_COUNT, rec, sizeof thread / sizeof *thread);
    memcpy(rec + THREADS_FIRST, thread, sizeof thread);
    if (p->o->sample_based)
        counters_sample(d, p->end);
    if (p->o->samplers) {
        samplers_write(d);
        usage_of_device(d);
    }
}

static void steps_run(struct sim_process *p)
{
    const struct sim_options *o = p->o;
    for (uint32_t i = 0; i < o->devices; i++)
        device_begin(&p->device[i]);
    for (uint32_t step = 0; step < o->steps && p->writer.error.fault == FAULT_NONE; step++) {
        for (uint32_t i = 0; i < o->devices; i++) {
            struct sim_device *d = &p->device[i];
            const uint64_t kernels = p->job ? p->job->kernels : sim_share(o->kernels, o->devices, d->rank);
            step_run(d, step, sim_share(kernels, o->steps, step));
        }
    }
    for (uint32_t i = 0; i < o->devices; i++)
        if (p->device[i].now > p->end)
            p->end = p->device[i].now;
    p->end += 1000 * HOST_MHZ; /* 1 ms for stopping */
    for (uint32_t i = 0; i < o->devices; i++)
        device_end(&p->device[i]);
    if (o->samplers)
        usage_of_host(p);
}

/* Writes the PROF directory of a process. */
static bool process_fill(struct sim_process *p, const char *path, struct error *e)
{
    const struct sim_options *o = p->o;
    p->device = calloc(o->devices, sizeof *p->device);
    if (!p->device)
        return error_no_memory(e, "the simulation");
    /* In a framework's collection the PROF directory is created here; otherwise it exists, under its temporary name. */
    if ((p->front ? prof_writer_open : prof_writer_join)(&p->writer, path, o->slice_bytes, e)) {
        host_open(p);
        for (uint32_t i = 0; i < o->devices; i++)
            device_open(p, i);
        steps_run(p);
        info_write(p);
        for (uint32_t i = 0; i < o->devices; i++)
            device_close(&p->device[i]);
        host_close(p);
    }
    free(p->device);
    return prof_writer_close(&p->writer, e);
}

/* The same for a process with a framework. */
static bool session_fill(struct sim_process *p, const char *path, struct error *e)
{
    char prof[PATH_MAX];
    p->front = front_open(p, path, e);
    if (!p->front)
        return false;
    prof_name(p, path, prof, sizeof prof);
    bool ok = true;
    if (p->o->kernels == 0)
        front_steps_alone(p->front);
    else if (prof_writer_is_well(&p->front->writer, e))
        ok = process_fill(p, prof, e);
    return front_close(p->front, e) && ok;
}

/* An incomplete collection has a temporary name: it would look like one that was interrupted. */
static bool process_write(struct sim_process *p, char *path, size_t size, struct error *e)
{
    p->pid = 20480 + 64 * p->index;
    clocks_set(p);
    path_make(p, path, size);
    if (access(path, F_OK) == 0)
        return error_set(e, FAULT_IO, "%s: cannot be created: %s", path, write_trouble(EEXIST));
    struct leftover half;
    if (leftover_dir(&half, path) != 0)
        return error_set(e, FAULT_IO, "%s: cannot be created: %s", path, write_trouble(errno));
    const bool is_whole =
        p->o->framework != SIM_NO_FRAMEWORK ? session_fill(p, half.path, e) : process_fill(p, half.path, e);
    const int why = leftover_settle(&half, is_whole ? path : NULL);
    return is_whole && (why == 0 || error_set(e, FAULT_IO, "%s: cannot be created: %s", path, write_trouble(why)));
}

uint32_t sim_ranks(const struct sim_options *o)
{
    const uint64_t said = (uint64_t)(o->tp > 0 ? o->tp : 1) * (o->pp > 0 ? o->pp : 1) * (o->dp > 0 ? o->dp : 1);
    return o->processes > 1 ? o->processes : said < SIM_PROCESSES_MOST ? (uint32_t)said : SIM_PROCESSES_MOST;
}

/* Processes are written one after the other, or several at a time; each has its own result. */
struct generate_writing {
    const struct sim_process *first; /* the template of all processes */
    struct generate_written {
        char path[PATH_MAX];
        struct error error;
    } * at;
};

static void write_one(void *context, size_t i)
{
    const struct generate_writing *all = context;
    struct generate_written *w = &all->at[i];
    if (all->first->job && job_is_missing(&all->first->job->faults, (uint32_t)i))
        return;
    struct sim_process *p = malloc(sizeof *p);
    if (!p) {
        error_no_memory(&w->error, "the simulation");
        return;
    }
    *p = *all->first;
    p->index = (uint32_t)i;
    process_write(p, w->path, sizeof w->path, &w->error);
    free(p);
}

/* Writes all processes. The error is that of the first process with one; path_out is the path of the last process. */
static bool all_write(const struct sim_process *first, uint32_t n, char *path_out, size_t size, struct error *e)
{
    struct generate_writing all = { first, calloc(n, sizeof *all.at) };
    if (!all.at)
        return error_no_memory(e, "the simulation");
    pool_run(n, first->o->n_threads > 0 ? first->o->n_threads : 1, write_one, &all);
    for (uint32_t i = 0; i < n; i++) {
        if (all.at[i].path[0])
            snprintf(path_out, size, "%s", all.at[i].path);
        if (all.at[i].path[0] && all.at[i].error.fault == FAULT_NONE && first->o->made)
            first->o->made(first->o->context, all.at[i].path);
        if (all.at[i].error.fault != FAULT_NONE && e->fault == FAULT_NONE)
            *e = all.at[i].error;
    }
    free(all.at);
    return e->fault == FAULT_NONE;
}

/* Creates a directory and its missing parents. */
static bool folder_make(const char *path, struct error *e)
{
    char above[PATH_MAX];
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return outdir_make(path, e);
    if ((size_t)snprintf(above, sizeof above, "%s", path) >= sizeof above)
        return error_set(e, FAULT_IO, "%s: cannot be created: %s", path, write_trouble(ENAMETOOLONG));
    for (char *end = above + 1; (end = strchr(end, '/')) != NULL; *end++ = '/') {
        *end = 0;
        if (!outdir_make(above, e))
            return false;
    }
    return outdir_make(path, e);
}

bool sim_write(const struct sim_options *o, char *path_out, size_t size, struct error *e)
{
    enum { OPS_OF_KERNEL = 5, OPS_ALONE = 1000 };
    struct sim_options resolved = *o;
    if (resolved.operators == 0)
        resolved.operators = o->kernels > 0 ? o->kernels * OPS_OF_KERNEL : OPS_ALONE;
    struct sim_process *p = calloc(1, sizeof *p);
    if (!p)
        return error_no_memory(e, "the simulation");
    const bool is_job = sim_is_job(o);
    if (is_job)
        resolved.graphs = resolved.kfc = false;
    bool ok = options_resolve(p, &resolved, e);
    if (ok && is_job) {
        p->job = job_new(&resolved, e);
        ok = p->job != NULL;
        if (ok)
            resolved.processes = p->job->ranks;
    }
    path_out[0] = 0;
    ok = ok && folder_make(o->out_dir, e);
    if (ok) {
        leftovers_sweep(o->out_dir);
        ok = all_write(p, resolved.processes, path_out, size, e);
    }
    job_free(p->job);
    free(p);
    return ok;
}
