/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be wrong with a job: lists like "3:1.5,7:2", each entry of one form. */
#include "sim/job/sim_faults.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A form is read from left to right: s step, r rank, f factor, t time, T time that may be negative, [:r] may be
 * missing; other characters stand for themselves. */
static const struct {
    const char *option, *form, *wanted;
} kinds[SIM_TROUBLES] = {
    [SIM_SLOW_STEP] = { "--slow-step", "s:f", "STEP:FACTOR, as in 14:10" },
    [SIM_SLOW_RANK] = { "--slow-rank", "r:f", "RANK:FACTOR, as in 3:1.5" },
    [SIM_SLOW_LINK] = { "--slow-link", "r-r:f", "RANK-RANK:FACTOR, as in 0-1:0.1" },
    [SIM_STALL] = { "--stall", "s:t[:r]", "STEP:TIME or STEP:TIME:RANK, as in 14:220ms or 14:220ms:3" },
    [SIM_LATE_HOST] = { "--late-host", "r:t", "RANK:TIME, as in 3:5ms" },
    [SIM_MISSING_RANK] = { "--missing-rank", "r", "RANK, as in 5" },
    [SIM_CLOCK_OFFSET] = { "--clock-offset", "r:T", "RANK:TIME, as in 2:350us or 2:-1ms" },
};
enum { THOUSAND = 1000, FACTOR_MOST = 1000 * THOUSAND };
static const int64_t TIME_MOST_NS = 3600 * INT64_C(1000000000);

/* Thousandths: at most three digits after the point. */
static bool thousandths(const char **at, uint64_t most, uint64_t *out)
{
    const char *p = *at;
    uint64_t value = 0;
    if (!isdigit((unsigned char)*p))
        return false;
    for (; isdigit((unsigned char)*p) && value <= most; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    value *= THOUSAND;
    if (*p == '.') {
        p++;
        for (uint64_t unit = THOUSAND / 10; isdigit((unsigned char)*p); p++, unit /= 10) {
            if (unit == 0)
                return false;
            value += unit * (uint64_t)(*p - '0');
        }
    }
    *at = p;
    *out = value;
    return value <= most;
}

static bool time_read(const char **at, bool may_be_negative, int64_t *out)
{
    static const struct {
        const char *name;
        int64_t ns;
    } unit[] = { { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
    const bool is_negative = may_be_negative && **at == '-';
    uint64_t value;
    *at += is_negative || (may_be_negative && **at == '+');
    if (!thousandths(at, (uint64_t)TIME_MOST_NS, &value))
        return false;
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++) {
        const size_t len = strlen(unit[i].name);
        if (strncmp(*at, unit[i].name, len) != 0)
            continue;
        *at += len;
        if (value > (uint64_t)TIME_MOST_NS / (uint64_t)unit[i].ns * THOUSAND)
            return false;
        const int64_t ns = (int64_t)value * unit[i].ns / THOUSAND;
        *out = is_negative ? -ns : ns;
        return true;
    }
    return false;
}

static bool number_read(const char **at, uint32_t *out)
{
    uint64_t value = 0;
    const char *p = *at;
    for (; isdigit((unsigned char)*p) && value <= UINT32_MAX; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    const bool is_one = p > *at && value < UINT32_MAX;
    *at = p;
    *out = (uint32_t)value;
    return is_one;
}

static bool entry_read(const char *form, const char *text, struct job_fault *f)
{
    uint32_t *number = &f->at;
    uint64_t factor;
    *f = (struct job_fault){ .with = JOB_EVERY_RANK };
    for (; *form; form++) {
        if (*form == '[' && *text == 0)
            return true;
        if (*form == '[' || *form == ']')
            continue;
        bool ok = true;
        if (*form == 's' || *form == 'r') {
            ok = number_read(&text, number);
            number = &f->with;
        } else if (*form == 'f') {
            ok = thousandths(&text, FACTOR_MOST, &factor) && factor > 0;
            f->amount = ok ? (int64_t)factor : 0;
        } else if (*form == 't' || *form == 'T') {
            ok = time_read(&text, *form == 'T', &f->amount);
        } else {
            ok = *text++ == *form;
        }
        if (!ok)
            return false;
    }
    return *text == 0;
}

/* A step or rank that the job does not have would have no effect: it is an error. */
static bool entry_check(enum sim_trouble kind, const char *text, const struct job_fault *f, const struct sim_options *o,
                        uint32_t ranks, struct error *e)
{
    const char *const option = kinds[kind].option;
    const bool is_step = kinds[kind].form[0] == 's';
    const uint32_t rank = is_step || (f->with != JOB_EVERY_RANK && f->at < ranks) ? f->with : f->at;
    if (is_step && f->at >= o->steps)
        return error_set(e, FAULT_ASKED,
                         "%s %s: there is no step %" PRIu32 "; --steps %" PRIu32 " makes steps 0 to %" PRIu32, option,
                         text, f->at, o->steps, o->steps - 1);
    if (rank != JOB_EVERY_RANK && rank >= ranks)
        return error_set(e, FAULT_ASKED, "%s %s: there is no rank %" PRIu32 "; the job has ranks 0 to %" PRIu32, option,
                         text, rank, ranks - 1);
    if (kind == SIM_SLOW_LINK && f->at == f->with)
        return error_set(e, FAULT_ASKED, "%s %s: both ends are rank %" PRIu32 "; expected two ranks, as in 0-1:0.1",
                         option, text, f->at);
    return true;
}

static bool list_read(struct job_faults *faults, enum sim_trouble kind, const struct sim_options *o, uint32_t ranks,
                      struct error *e)
{
    const char *from = o->trouble[kind];
    while (from) {
        char text[64];
        const size_t len = strcspn(from, ",");
        const bool fits = len < sizeof text;
        snprintf(text, sizeof text, "%.*s", (int)(fits ? len : sizeof text - 1), from);
        from = from[len] == ',' ? from + len + 1 : NULL;
        if (faults->n[kind] == JOB_FAULTS_MOST)
            return error_set(e, FAULT_ASKED, "%s: more than %d entries", kinds[kind].option, JOB_FAULTS_MOST);
        struct job_fault *f = &faults->of[kind][faults->n[kind]++];
        if (!fits || !entry_read(kinds[kind].form, text, f))
            return error_set(e, FAULT_ASKED, "%s %s: wanted %s%s", kinds[kind].option, text, kinds[kind].wanted,
                             strpbrk(kinds[kind].form, "tT") ? "; units are us, ms and s, up to an hour"
                             : strchr(kinds[kind].form, 'f') ? "; factors are 0.001 to 1000"
                                                             : "");
        if (!entry_check(kind, text, f, o, ranks, e))
            return false;
    }
    return true;
}

bool job_faults_read(struct job_faults *f, const struct sim_options *o, uint32_t ranks, struct error *e)
{
    *f = (struct job_faults){ 0 };
    for (unsigned kind = 0; kind < SIM_TROUBLES; kind++)
        if (!list_read(f, (enum sim_trouble)kind, o, ranks, e))
            return false;
    return true;
}

static bool fits(const struct job_fault *f, enum sim_trouble kind, uint32_t at, uint32_t with)
{
    if (kind == SIM_SLOW_LINK)
        return (f->at == at && f->with == with) || (f->at == with && f->with == at);
    return f->at == at && (kind != SIM_STALL || f->with == JOB_EVERY_RANK || f->with == with);
}

uint64_t job_factor(const struct job_faults *f, enum sim_trouble kind, uint32_t at, uint32_t with)
{
    uint64_t factor = THOUSAND;
    for (uint32_t i = 0; i < f->n[kind]; i++)
        if (fits(&f->of[kind][i], kind, at, with))
            factor = (uint64_t)f->of[kind][i].amount;
    return factor;
}

int64_t job_amount(const struct job_faults *f, enum sim_trouble kind, uint32_t at, uint32_t with)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < f->n[kind]; i++)
        if (fits(&f->of[kind][i], kind, at, with))
            ns += f->of[kind][i].amount;
    return ns;
}

bool job_is_missing(const struct job_faults *f, uint32_t rank)
{
    bool is_missing = false;
    for (uint32_t i = 0; i < f->n[SIM_MISSING_RANK]; i++)
        is_missing |= f->of[SIM_MISSING_RANK][i].at == rank;
    return is_missing;
}
