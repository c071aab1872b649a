/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ascend/ascend_library.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "collect/options/options.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* With any other bit aclprofStart() fails with 200007. */
static const uint64_t accepted = DATA_ACL_API | DATA_TASK_L1 | DATA_METRICS | DATA_AICPU | DATA_L2_CACHE | DATA_HCCL |
                                 DATA_TRAINING | DATA_MARKS | DATA_RUNTIME_API | DATA_GE_API_L0 | DATA_TASK_L0 |
                                 DATA_TASK_MEMORY | DATA_TASK_L2 | DATA_OP_ATTR | DATA_TASK_L3 | DATA_GE_API_L1 |
                                 DATA_AICORE_SHAPE;

uint64_t ascend_newer_bits(void)
{
    return DATA_TASK_L3 | DATA_AICORE_SHAPE | DATA_OP_ATTR | DATA_TASK_L2;
}

const char *ascend_error(int32_t code)
{
    static const struct {
        int32_t code;
        const char *what;
    } known[] = {
        { 100000, "invalid parameter" },
        { 100001, "ACL is not initialised" },
        { 100002, "already initialised by another profiler" },
        { 100003, "the result path is not accepted" },
        { 100042, "already running" },
        { 100043, "not running" },
        { 107002, "no context: no device is set on this thread" },
        { 148046, "already subscribed" },
        { 148047, "another front end of the profiler is active" },
        { 200006, "not supported: another way of profiling was chosen for this process" },
        { 200007, "not supported by this release or chip" },
        { 500005, "the profiler failed; its log says why" },
    };
    static __thread char text[120];
    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i].code == code) {
            snprintf(text, sizeof text, "%d, %s", code, known[i].what);
            return text;
        }
    snprintf(text, sizeof text, "%d", code);
    return text;
}

/* ---- pairs ---- */

enum pair_form { PAIR_NUMBER, PAIR_TEXT, PAIR_MEGABYTES, PAIR_WRITE };
#define OPTION(field) offsetof(struct ascope_options, field)
static const struct {
    int32_t type;
    const char *option;
    enum pair_form form;
    size_t at;
} pairs[] = {
    { 1, "storage_limit", PAIR_MEGABYTES, OPTION(storage_limit_mb) },
    { 3, "sys_hardware_mem_freq", PAIR_NUMBER, OPTION(hardware_mem_hz) },
    { 4, "llc_profiling", PAIR_WRITE, OPTION(llc_write) },
    { 5, "sys_io_sampling_freq", PAIR_NUMBER, OPTION(io_hz) },
    { 6, "sys_interconnection_freq", PAIR_NUMBER, OPTION(interconnection_hz) },
    { 7, "dvpp_freq", PAIR_NUMBER, OPTION(dvpp_hz) },
    { 11, "sys_lp_freq", PAIR_NUMBER, OPTION(low_power_hz) },
    { 12, "sys_mem_serviceflow", PAIR_TEXT, OPTION(mem_serviceflow) },
    { 13, "sys_cpu_freq", PAIR_NUMBER, OPTION(cpu_hz) },
    { 14, "optype", PAIR_TEXT, OPTION(op_types) },
};
static_assert(COUNT(pairs) <= ASCEND_PAIRS, "each option has room");

/* The text of an option. False: the option is off, or its text is too long. */
static bool pair_text(const void *field, enum pair_form form, char text[ASCEND_TEXT])
{
    uint32_t number = 0;
    const char *words = NULL;
    switch (form) {
    case PAIR_NUMBER:
    case PAIR_MEGABYTES:
        memcpy(&number, field, sizeof number);
        snprintf(text, ASCEND_TEXT, form == PAIR_NUMBER ? "%u" : "%uMB", number);
        return number > 0;
    case PAIR_TEXT:
        memcpy(&words, field, sizeof words);
        snprintf(text, ASCEND_TEXT, "%s", words ? words : "");
        return words && *words && strlen(words) < ASCEND_TEXT; /* a list that is cut would be another list */
    case PAIR_WRITE: strcpy(text, "write"); return *(const bool *)field;
    }
    return false;
}

/* ---- options that aclprof does not have ---- */

static void unavailable_add(struct ascend_config *c, const char *name, bool is_on)
{
    const size_t n = strlen(c->unavailable);
    if (is_on)
        snprintf(c->unavailable + n, sizeof c->unavailable - n, "%s%s", n > 0 ? ", " : "", name);
}

static void unavailable_find(struct ascend_config *c, const struct ascope_options *o, uint64_t mask)
{
    const struct {
        const char *name;
        bool is_on;
    } all[] = {
        { "task_tsfw", mask & DATA_SCHEDULER },
        { "aic_mode=sample-based (counters are by task)", mask & DATA_AIC_SAMPLING },
        { "instr_profiling", mask & DATA_INSTRUCTIONS },
        { "custom events of aic_metrics", o->custom_events },
        { "task_block", o->task_block },
        { "sys_profiling", o->device_usage_hz },
        { "sys_pid_profiling", o->device_process_hz },
        { "npu_events", o->npu_events },
        { "fp_point, bp_point", o->fp_point || o->bp_point },
        { "optype of more than 256 bytes", o->op_types && strlen(o->op_types) >= ASCEND_TEXT },
        { "more_data",
          o->more_data & ~accepted & ~(DATA_SCHEDULER | DATA_AIC_SAMPLING | DATA_AIV_SAMPLING | DATA_INSTRUCTIONS) },
    };
    for (size_t i = 0; i < COUNT(all); i++)
        unavailable_add(c, all[i].name, all[i].is_on);
}

void ascend_config_of(struct ascend_config *c, const struct ascope_options *o)
{
    const uint64_t mask = options_data_mask(o);
    *c = (struct ascend_config){ .mask = mask & accepted, .metrics = (int32_t)o->metrics };
    if (o->custom_events)
        c->metrics = ASCOPE_NO_METRICS;
    if (c->metrics == ASCOPE_NO_METRICS || !(c->mask & DATA_METRICS)) {
        c->metrics = ASCOPE_NO_METRICS;
        c->mask &= ~DATA_METRICS;
    }
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct ascend_pair *p = &c->pair[c->n_pairs];
        if (!pair_text((const char *)o + pairs[i].at, pairs[i].form, p->text))
            continue;
        p->type = pairs[i].type;
        p->option = pairs[i].option;
        c->n_pairs++;
    }
    unavailable_find(c, o, mask);
}
