/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/msprof/msprof_line.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/options/options.h"
#include "raw/core_events.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Options of the recorder that differ from its defaults before the line is applied. */
struct initial {
    const char *name, *value;
};
static const struct initial of_application[] = { { "task_time", "on" }, { "ascendcl", "on" } };
static const struct initial of_system[] = { { "task_time", "off" },
                                            { "ascendcl", "off" },
                                            { "aic_mode", "sample-based" } };

/* Files name a group of counters even if nothing is counted. */
static void fill_counters(struct ascope_options *o, const struct msprof_line *l)
{
    static const char custom[] = "Custom:";
    const bool is_usual = core_events_asked("PipelineExecuteUtilization", chip_of(l->on.chip)) == NULL;
    const char *metrics = l->value[MSPROF_AIC_METRICS];
    metrics = metrics ? metrics : is_usual ? "PipeUtilization" : "PipelineExecuteUtilization";
    if (strncmp(metrics, custom, sizeof custom - 1) == 0) {
        o->custom_events = metrics + sizeof custom - 1;
        o->metrics = ASCOPE_NO_METRICS;
    } else {
        ascope_options_set(o, "aic_metrics", metrics);
    }
    const char *const asked = l->value[MSPROF_AI_CORE];
    if (asked ? strcmp(asked, "off") == 0 : l->mode == MSPROF_IN_SYSTEM)
        o->less_data |= DATA_METRICS | DATA_AIC_SAMPLING | DATA_AIV_SAMPLING;
}

/* Sets the options of rows with .recorder; as in the reference, also those that were reported as without effect. */
static void fill_rows(struct ascope_options *o, const struct msprof_line *l)
{
    for (size_t i = 0; i < MSPROF_OPTIONS; i++) {
        const struct msprof_row *const r = &msprof_rows[i];
        const bool is_wanted = !r->with || msprof_is_on(l, (enum msprof_option)r->with);
        if (r->recorder && l->value[i] && is_wanted)
            ascope_options_set(o, r->recorder, l->value[i]);
    }
}

static void fill_power(struct ascope_options *o, const struct msprof_line *l)
{
    const char *const is_on = l->value[MSPROF_LOW_POWER], *const hz = l->value[MSPROF_LOW_POWER_FREQ];
    ascope_options_set(o, "sys_lp", is_on ? is_on : "on");
    if (hz && o->low_power_hz > 0)
        ascope_options_set(o, "sys_lp_freq", hz);
}

struct recorded_run msprof_request(const struct msprof_line *l)
{
    const bool is_system = l->mode == MSPROF_IN_SYSTEM;
    struct recorded_run r = { .program = l->program,
                              .environment = l->value[MSPROF_ENVIRONMENT],
                              .host_pid = (pid_t)msprof_number(l, MSPROF_HOST_SYS_PID),
                              .delay_s = msprof_number(l, MSPROF_DELAY),
                              .duration_s = msprof_number(l, MSPROF_DURATION),
                              .period_s = is_system ? msprof_number(l, MSPROF_SYS_PERIOD) : 0,
                              .is_interactive = msprof_is_on(l, MSPROF_DYNAMIC),
                              .pids = l->pid,
                              .n_pids = l->n_pids };
    struct ascope_options *const o = &r.recorder;
    const struct initial *const initial = is_system ? of_system : of_application;
    ascope_options_init(o);
    o->layout = ASCOPE_LAYOUT_PROF;
    o->parent_dir = l->value[MSPROF_OUTPUT];
    if (!o->parent_dir && l->program_dir && !getenv("ASCEND_WORK_PATH"))
        o->parent_dir = l->program_dir;
    for (size_t i = 0; i < (is_system ? COUNT(of_system) : COUNT(of_application)); i++)
        ascope_options_set(o, initial[i].name, initial[i].value);
    fill_rows(o, l);
    fill_counters(o, l);
    fill_power(o, l);
    if (is_system) {
        o->sample_based = true; /* regardless of --aic-mode */
        o->device_ids = l->value[MSPROF_SYS_DEVICES] && strcmp(l->value[MSPROF_SYS_DEVICES], "all") != 0
                            ? l->value[MSPROF_SYS_DEVICES]
                            : NULL;
    }
    if (msprof_is_on(l, MSPROF_HCCL)) /* off leaves the choice to the level */
        ascope_options_set(o, "hccl", "on");
    if (msprof_is_on(l, MSPROF_L2)) /* uses the chip's own events */
        o->npu_events = NULL;
    else if (o->npu_events)
        o->l2_cache = true;
    return r;
}

/* Device nodes of vNPUs, parts of a device, have numbers from 100. */
static bool has_part_of_device(void)
{
    glob_t found;
    const bool is_there = glob("/dev/davinci[1-9][0-9][0-9]", GLOB_NOSORT, NULL, &found) == 0;
    if (is_there)
        globfree(&found);
    return is_there;
}

static bool is_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

struct msprof_machine machine_here(struct devices_online *devices)
{
    devices_online(devices);
    return (struct msprof_machine){ .chip = devices->chip,
                                    .device = devices->id,
                                    .n_devices = devices->n,
                                    .is_virtual_device = is_container() && has_part_of_device() };
}
