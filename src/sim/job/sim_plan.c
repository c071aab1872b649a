/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the plan of a job: the programs of the stages, and the times of all exchanges, found by executing all ranks
 * together. */
#include "sim/job/sim_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/growing.h"
#include "base/text/error.h"
#include "sim/device/sim_device.h"
#include "sim/job/dice.h"
#include "sim/job/sim_faults.h"

enum { THOUSAND = 1000 };

/* ---- programs ---- */
enum { TP_KERNELS = 8, BUCKET_KERNELS = 20 }; /* between two collectives of a kind */

static bool item_add(struct job_program *p, struct job_item item)
{
    if (!array_reserve(p->item, p->room, p->n + 1, 64))
        return false;
    p->item[p->n++] = item;
    return true;
}

static bool exchange_add(struct job_program *p, enum job_channel c, unsigned collective, bool blocks)
{
    return item_add(p, (struct job_item){ WORK_EXCHANGE, (uint8_t)c, (uint8_t)collective, blocks, 0, 0 });
}

/* Kernels, with the collectives that they need between them. */
static bool kernels_add(const struct sim_job *j, struct job_program *p, uint64_t first, uint64_t end, bool has_buckets)
{
    const bool has_tp = j->o->comm && j->size[AXIS_TP] > 1;
    bool ok = true;
    for (uint64_t at = first; ok && at < end;) {
        const uint64_t n = end - at < TP_KERNELS ? end - at : TP_KERNELS;
        ok = item_add(p, (struct job_item){ WORK_KERNELS, 0, 0, false, at, n });
        at += n;
        if (ok && has_tp)
            ok = exchange_add(p, CHANNEL_TP, COLLECTIVE_ALL_REDUCE, true);
        const bool is_bucket =
            has_buckets && ((at - first) / BUCKET_KERNELS != (at - n - first) / BUCKET_KERNELS || at == end);
        if (ok && is_bucket)
            ok = exchange_add(p, CHANNEL_DP, COLLECTIVE_REDUCE_SCATTER, false);
    }
    return ok;
}

static bool forward_add(const struct sim_job *j, struct job_program *p, uint32_t stage)
{
    bool ok = true;
    for (uint64_t m = 0; ok && m < j->micro_batches; m++) {
        const uint64_t first = m * p->chunk, end = first + p->chunk < p->forward ? first + p->chunk : p->forward;
        ok = (!j->o->comm || stage == 0 || exchange_add(p, CHANNEL_FROM_PREVIOUS, COLLECTIVE_RECEIVE, true)) &&
             kernels_add(j, p, first, end, false) &&
             (!j->o->comm || stage + 1 == j->size[AXIS_PP] || exchange_add(p, CHANNEL_TO_NEXT, COLLECTIVE_SEND, false));
    }
    return ok;
}

/* The micro-batches in reverse: kernel F + i works on what kernel F - 1 - i made. The first micro-batch takes the
 * rest. */
static bool backward_add(const struct sim_job *j, struct job_program *p, uint32_t stage)
{
    bool ok = true;
    uint64_t at = p->forward;
    for (uint64_t m = j->micro_batches; ok && m-- > 0;) {
        const uint64_t until = 2 * p->forward - (m * p->chunk < p->forward ? m * p->chunk : p->forward);
        const uint64_t end = m == 0 || until > p->optimizer ? p->optimizer : until;
        ok = (!j->o->comm || stage + 1 == j->size[AXIS_PP] ||
              exchange_add(p, CHANNEL_FROM_NEXT, COLLECTIVE_RECEIVE, true)) &&
             kernels_add(j, p, at, end, m == 0 && j->o->comm && j->size[AXIS_DP] > 1) &&
             (!j->o->comm || stage == 0 || exchange_add(p, CHANNEL_TO_PREVIOUS, COLLECTIVE_SEND, false));
        at = end;
    }
    return ok;
}

static bool program_make(const struct sim_job *j, struct job_program *p, uint32_t stage, uint64_t kernels)
{
    const bool has_dp = j->o->comm && j->size[AXIS_DP] > 1;
    p->kernels = kernels;
    p->forward = kernels / 2; /* as front_step_begin() has it */
    p->optimizer = kernels - kernels / 10;
    p->chunk = (p->forward + j->micro_batches - 1) / j->micro_batches;
    return forward_add(j, p, stage) && backward_add(j, p, stage) &&
           (!has_dp || item_add(p, (struct job_item){ WORK_JOIN, CHANNEL_DP, 0, true, 0, 0 })) &&
           (!j->o->comm || j->ranks == 1 || exchange_add(p, CHANNEL_WORLD, COLLECTIVE_ALL_REDUCE, true)) &&
           (p->optimizer == kernels ||
            item_add(p, (struct job_item){ WORK_KERNELS, 0, 0, false, p->optimizer, kernels - p->optimizer })) &&
           (!has_dp || exchange_add(p, CHANNEL_DP, COLLECTIVE_ALL_GATHER, true));
}

/* ---- lines ---- */
static struct sim_job_line *line_of(const struct sim_job *j, enum job_channel c, uint32_t rank)
{
    const uint32_t stage = j->size[AXIS_TP] * j->size[AXIS_DP], n_pairs = j->ranks - stage;
    const size_t first_pair = job_group(j, AXIS_PP, 0).number;
    switch (c) {
    case CHANNEL_TO_NEXT: return &j->line[first_pair + rank];
    case CHANNEL_FROM_PREVIOUS: return &j->line[first_pair + rank - stage];
    case CHANNEL_FROM_NEXT: return &j->line[first_pair + n_pairs + rank];
    case CHANNEL_TO_PREVIOUS: return &j->line[first_pair + n_pairs + rank - stage];
    default: return &j->line[job_group(j, job_axis_of(c), rank).number];
    }
}

static bool lines_make(struct sim_job *j)
{
    const uint32_t stage = j->size[AXIS_TP] * j->size[AXIS_DP];
    const size_t first_pair = job_group(j, AXIS_PP, 0).number;
    j->n_lines = first_pair + 2 * (size_t)(j->ranks - stage);
    j->line = calloc(j->n_lines, sizeof *j->line);
    for (size_t i = first_pair; j->line && i < j->n_lines; i++)
        j->line[i].members = 2;
    for (uint32_t rank = 0; j->line && rank < j->ranks; rank++)
        for (unsigned axis = 0; axis < AXIS_PP; axis++)
            j->line[job_group(j, (enum job_axis)axis, rank).number].members = j->size[axis];
    return j->line != NULL;
}

static struct job_exchange *exchange_at(struct sim_job_line *l, size_t i)
{
    if (!array_reserve(l->at, l->room, i + 1, 64))
        return NULL;
    for (; l->n <= i; l->n++)
        l->at[l->n] = (struct job_exchange){ 0 };
    return &l->at[i];
}

/* ---- times ---- */

/* In units of a tick: the gap between two tasks of a stream; recording an event; until the first task of an exchange;
 * until all members have signalled their arrival; the end of an exchange. */
enum { GAP = 25, RECORD = 10, ENTER = 25, MEET = 100, LEAVE = 60 };

/* The time from the arrival of the last member until the slowest member has its data. */
static uint64_t cost_of(const struct sim_job *j, struct sim_job_line *l, uint32_t rank, const struct job_item *item)
{
    const enum job_axis axis = job_axis_of((enum job_channel)item->channel);
    const struct job_group g = job_group(j, axis, rank);
    const struct job_times t = { .begin_ns = MEET * j->unit_ns, .number = UINT64_MAX };
    uint64_t *cost = &l->cost_ns[axis == AXIS_PP ? COLLECTIVE_SEND : item->collective];
    if (*cost > 0)
        return *cost;
    uint64_t slowest = 0;
    for (uint32_t i = 0; i < (axis == AXIS_PP ? 1 : g.size); i++) {
        uint64_t last;
        job_tasks(j, axis == AXIS_PP ? rank : g.first + i * g.stride, item, &t, NULL, &last);
        slowest = last > slowest ? last : slowest;
    }
    return *cost = slowest - t.begin_ns;
}

/* A rank arrives at its next exchange, whose times are known when the last member has arrived. False: no memory. */
static bool rank_comes(struct sim_job *j, struct sim_job_line *l, size_t i, uint32_t rank, const struct job_item *item,
                       uint64_t ready_ns)
{
    struct job_exchange *x = exchange_at(l, i);
    if (!x)
        return false;
    x->begin_ns = ready_ns > x->begin_ns ? ready_ns : x->begin_ns;
    if (++x->n_came < l->members)
        return true;
    const uint64_t before = i > 0 ? l->at[i - 1].end_ns : 0;
    x->begin_ns = (before > x->begin_ns ? before : x->begin_ns) + (ENTER + MEET) * j->unit_ns;
    x->end_ns = x->begin_ns + cost_of(j, l, rank, item) + LEAVE * j->unit_ns;
    return true;
}

static const struct job_exchange *exchange_done(const struct sim_job_line *l, size_t i) /* NULL: not yet */
{
    return i < l->n && l->at[i].n_came == l->members ? &l->at[i] : NULL;
}

/* Thousandths around 1000, at most `most` away. */
static uint64_t varied(struct dice *d, uint64_t most)
{
    return THOUSAND - most + dice_below(d, (uint32_t)(2 * most + 1));
}

/* The variation of a step of a rank with --jitter: a factor for its kernels in thousandths, and a delay of the host. */
static uint64_t step_varied(const struct job_walk *w, uint64_t *late_ns)
{
    const struct sim_options *o = w->job->o;
    struct dice d = dice_for(o->seed ^ o->noise_seed << 32, ((uint64_t)w->rank << 24 ^ w->step) + 0x73746570);
    const uint64_t factor = varied(&d, o->jitter * UINT64_C(2));
    *late_ns = dice_below(&d, o->jitter * 10000 + 1);
    return factor;
}

static uint64_t kernel_ns(const struct job_walk *w, uint64_t done, size_t *which)
{
    enum { USUAL = 15 }; /* thousandths: 985 to 1015 */
    const struct sim_job *j = w->job;
    const struct job_program *p = w->program;
    const uint64_t position = network_position(p->forward, done), layer = network_layer(position, p->chunk);
    const bool is_forward = done < p->forward;
    *which = network_operator(j->forward, j->reverse, j->o->seed, layer, is_forward);
    const struct sim_operator *op = &sim_operators[*which];
    struct dice of_layer = dice_for(j->o->seed, (layer << 1 | is_forward) ^ 0x6b65726e656c);
    struct dice of_run = dice_for(j->o->seed ^ j->o->noise_seed << 32,
                                  ((uint64_t)w->rank << 40 ^ (uint64_t)w->step << 24 ^ done) + 0x6a6974746572);
    const uint64_t ns = dice_between(&of_layer, op->us_min * 4u, op->us_max * 4u) * UINT64_C(250);
    const unsigned jitter = j->o->jitter;
    uint64_t late_ns, usual = ns * varied(&of_run, jitter ? jitter * UINT64_C(10) : USUAL) / THOUSAND;
    if (jitter)
        usual = usual * step_varied(w, &late_ns) / THOUSAND;
    const uint64_t slow =
        job_factor(&j->faults, SIM_SLOW_RANK, w->rank, 0) * job_factor(&j->faults, SIM_SLOW_STEP, w->step, 0);
    const uint64_t of_operator = *which == j->slow_operator ? j->slow_factor : THOUSAND;
    return usual * slow / (THOUSAND * THOUSAND) * of_operator / THOUSAND;
}

/* Upper bounds of the host's times in nanoseconds; sim_operator.c and sim_torch.c have the actual values. */
enum { CALLS_NS = 14000, OP_NS = 1400, ENQUEUE_NS = 5000, SMALL_NS = 1300, EXCHANGE_NS = 25000, STEP_NS = 60000 };

static uint64_t launch_ns(const struct job_walk *w)
{
    const struct sim_options *o = w->job->o;
    const uint64_t kernels = w->job->kernels > 0 ? w->job->kernels : 1;
    const uint64_t ops = o->framework == SIM_PYTORCH ? o->operators / w->job->ranks / kernels + 3 : 0;
    const uint64_t of_torch = ops * OP_NS + ENQUEUE_NS;
    return of_torch > CALLS_NS ? of_torch : CALLS_NS;
}

static uint64_t lead_ns(const struct job_walk *w) /* from the launch by the host until a task can begin on the device */
{
    enum { ON_ITS_WAY = 320 };
    return 2 * launch_ns(w) + ON_ITS_WAY * w->job->unit_ns;
}

struct job_walk job_walk(struct sim_job *j, uint32_t rank)
{
    return (struct job_walk){ .job = j, .rank = rank };
}

uint64_t job_stall_ns(const struct sim_job *j, uint32_t rank, uint32_t step)
{
    return (uint64_t)job_amount(&j->faults, SIM_STALL, step, rank);
}

uint64_t job_stall_at(uint64_t forward)
{
    return forward / 2;
}

bool job_step_has_gc(uint32_t step)
{
    return step % 10 == 0;
}

void job_step_begin(struct job_walk *w, uint32_t step)
{
    const struct sim_job *j = w->job;
    w->step = step;
    w->program = &j->program[job_stage(j, w->rank)][step < j->kernels % j->o->steps];
    w->host_ns = w->begin_ns + STEP_NS;
    w->host_ns += (uint64_t)job_amount(&j->faults, SIM_LATE_HOST, w->rank, 0);
    if (j->o->jitter) {
        uint64_t late_ns;
        step_varied(w, &late_ns);
        w->host_ns += late_ns;
    }
    if (w->device_ns < w->host_ns)
        w->device_ns = w->host_ns;
    w->item = 0;
    w->in_item = 0;
    w->has_come = false;
}

static void kernel_next(struct job_walk *w, struct job_event *ev)
{
    ev->kernel = ev->item->first + w->in_item;
    if (ev->kernel == job_stall_at(w->program->forward))
        ev->stall_ns = job_stall_ns(w->job, w->rank, w->step);
    w->host_ns += ev->stall_ns;
    const uint64_t gap = w->device_ns + GAP * w->job->unit_ns, arrives = w->host_ns + lead_ns(w);
    ev->begin_ns = gap > arrives ? gap : arrives;
    ev->end_ns = ev->begin_ns + kernel_ns(w, ev->kernel, &ev->which);
    w->device_ns = ev->end_ns;
    w->host_ns += launch_ns(w);
    if (++w->in_item < ev->item->n)
        return;
    w->in_item = 0;
    w->item++;
}

/* The compute stream waits until then. */
static void stream_waits(struct job_walk *w, struct job_event *ev, uint64_t until_ns)
{
    enum { LEAST = 5 };
    ev->begin_ns = w->device_ns + GAP * w->job->unit_ns;
    ev->end_ns = (until_ns > ev->begin_ns ? until_ns : ev->begin_ns) + LEAST * w->job->unit_ns;
    w->device_ns = ev->end_ns;
}

static bool join_next(struct job_walk *w, struct job_event *ev)
{
    const size_t n = w->posted[ev->item->channel];
    const struct sim_job_line *l = line_of(w->job, (enum job_channel)ev->item->channel, w->rank);
    const struct job_exchange *x = n > 0 ? exchange_done(l, n - 1) : NULL;
    if (n > 0 && !x)
        return false;
    const uint64_t arrives = w->host_ns + lead_ns(w);
    if (w->device_ns < arrives)
        w->device_ns = arrives;
    stream_waits(w, ev, x ? x->end_ns : 0);
    w->host_ns += launch_ns(w);
    w->item++;
    return true;
}

static bool exchange_next(struct job_walk *w, struct job_event *ev)
{
    struct sim_job *j = w->job;
    const struct job_item *item = ev->item;
    struct sim_job_line *l = line_of(j, (enum job_channel)item->channel, w->rank);
    const size_t i = w->posted[item->channel];
    if (!w->has_come) { /* once, also if this function is called again for the same exchange */
        const uint64_t host_ns =
            EXCHANGE_NS + SMALL_NS * job_tasks(j, w->rank, item, &(struct job_times){ 0 }, NULL, NULL);
        const uint64_t recorded = w->device_ns + (GAP + RECORD) * j->unit_ns,
                       arrives = w->host_ns + host_ns + lead_ns(w);
        w->device_ns = recorded > arrives ? recorded : arrives;
        w->host_ns += host_ns;
        w->has_come = true;
        if (w->is_planning && !rank_comes(j, l, i, w->rank, item, w->device_ns))
            w->is_planning = false; /* no memory: the plan ends here */
    }
    const struct job_exchange *x = exchange_done(l, i);
    if (!x && (item->blocks || !w->is_planning))
        return false;
    ev->ready_ns = w->device_ns;
    if (x) {
        const uint64_t before = i > 0 ? l->at[i - 1].end_ns : 0;
        ev->times = (struct job_times){ (before > ev->ready_ns ? before : ev->ready_ns) + ENTER * j->unit_ns,
                                        x->begin_ns, x->end_ns, i };
    }
    if (item->blocks)
        stream_waits(w, ev, x->end_ns);
    w->has_come = false;
    w->posted[item->channel]++;
    w->item++;
    return true;
}

/* The host waits for everything that it has launched, and begins the next step after a pause. */
static bool step_next(struct job_walk *w)
{
    enum { SETTLE = 4000, SETTLE_NS = 150000, GC_NS = 450000 };
    uint64_t end_ns = w->device_ns > w->host_ns + lead_ns(w) ? w->device_ns : w->host_ns + lead_ns(w);
    for (unsigned c = 0; c < CHANNELS; c++) {
        const size_t n = w->posted[c];
        const struct job_exchange *x =
            n > 0 ? exchange_done(line_of(w->job, (enum job_channel)c, w->rank), n - 1) : NULL;
        if (n > 0 && !x)
            return false;
        end_ns = x && x->end_ns > end_ns ? x->end_ns : end_ns;
    }
    w->device_ns = end_ns;
    w->begin_ns = end_ns + SETTLE * w->job->unit_ns + SETTLE_NS + (job_step_has_gc(w->step) ? GC_NS : 0);
    return true;
}

enum job_step_result job_next(struct job_walk *w, struct job_event *ev)
{
    *ev = (struct job_event){ .host_ns = w->host_ns };
    if (w->item == w->program->n)
        return step_next(w) ? JOB_STEP_ENDS : JOB_WAITS;
    ev->item = &w->program->item[w->item];
    switch (ev->item->work) {
    case WORK_KERNELS: kernel_next(w, ev); return JOB_EVENT;
    case WORK_JOIN: return join_next(w, ev) ? JOB_EVENT : JOB_WAITS;
    default: return exchange_next(w, ev) ? JOB_EVENT : JOB_WAITS;
    }
}

/* Executes each rank as far as possible, until all have ended. False: no memory. */
static bool plan_make(struct sim_job *j)
{
    struct job_walk *walk = calloc(j->ranks, sizeof *walk);
    uint32_t n_left = walk ? j->ranks : 0;
    bool ok = walk != NULL;
    for (uint32_t i = 0; ok && i < j->ranks; i++) {
        walk[i] = job_walk(j, i);
        walk[i].is_planning = true;
        job_step_begin(&walk[i], 0);
    }
    while (ok && n_left > 0) {
        for (uint32_t i = 0; ok && i < j->ranks; i++) {
            struct job_walk *w = &walk[i];
            struct job_event ev;
            enum job_step_result r = JOB_EVENT;
            while (w->step < j->o->steps && r != JOB_WAITS && ok) {
                r = job_next(w, &ev);
                if (r == JOB_STEP_ENDS && w->step + 1 < j->o->steps)
                    job_step_begin(w, w->step + 1);
                else if (r == JOB_STEP_ENDS)
                    w->step++;
                ok = w->is_planning;
            }
            n_left -= w->step == j->o->steps && r == JOB_STEP_ENDS;
        }
    }
    free(walk);
    return ok;
}

/* ---- the job ---- */
static bool sizes_find(struct sim_job *j, struct error *e)
{
    const struct sim_options *o = j->o;
    const uint64_t tp = o->tp > 0 ? o->tp : 1, pp = o->pp > 0 ? o->pp : 1, model = tp * pp;
    const uint64_t said = model * (o->dp > 0 ? o->dp : 1), ranks = o->processes > 1 ? o->processes : said;
    if (ranks > SIM_PROCESSES_MOST)
        return error_set(e, FAULT_ASKED, "--tp, --pp, --dp: %" PRIu64 " ranks; at most %d can be simulated", ranks,
                         SIM_PROCESSES_MOST);
    if (ranks % model != 0 || (o->dp > 0 && ranks != said))
        return error_set(e, FAULT_ASKED,
                         "--ranks %" PRIu64 ": is not --tp %" PRIu64 " x --pp %" PRIu64 " x --dp %s%.0" PRIu64
                         "; wanted %" PRIu64 "%s",
                         ranks, tp, pp, o->dp > 0 ? "" : "any number", o->dp > 0 ? (uint64_t)o->dp : 0, said,
                         o->dp > 0 ? " ranks" : " or a multiple of it");
    j->ranks = (uint32_t)ranks;
    j->size[AXIS_WORLD] = (uint32_t)ranks;
    j->size[AXIS_TP] = (uint32_t)tp;
    j->size[AXIS_PP] = (uint32_t)pp;
    j->size[AXIS_DP] = (uint32_t)(ranks / model);
    j->host_ranks = o->host_ranks > 0 ? o->host_ranks : JOB_RANKS_OF_HOST;
    j->micro_batches = pp > 1 ? 2 * (uint32_t)pp : 1;
    return true;
}

static bool programs_make(struct sim_job *j)
{
    j->program = calloc(j->size[AXIS_PP], sizeof *j->program);
    bool ok = j->program != NULL;
    for (uint32_t stage = 0; ok && stage < j->size[AXIS_PP]; stage++)
        for (unsigned more = 0; ok && more < 2; more++)
            ok = program_make(j, &j->program[stage][more], stage, j->kernels / j->o->steps + more);
    return ok;
}

/* "TYPE:FACTOR". */
static bool slow_operator_read(struct sim_job *j, struct error *e)
{
    const char *text = j->o->slow_operator, *colon = text ? strrchr(text, ':') : NULL;
    j->slow_operator = SIZE_MAX;
    if (!text)
        return true;
    char *end = NULL;
    const double factor = colon ? strtod(colon + 1, &end) : 0;
    for (size_t i = 0; colon && i < sim_n_operators; i++)
        if (strlen(sim_operators[i].type) == (size_t)(colon - text) &&
            strncmp(sim_operators[i].type, text, (size_t)(colon - text)) == 0)
            j->slow_operator = i;
    if (!colon || *end || !(factor >= 0.001 && factor <= 1000) || j->slow_operator == SIZE_MAX)
        return error_set(
            e, FAULT_ASKED,
            "--slow-operator %s: not TYPE:FACTOR; give a type that the network has, and 0.001 to 1000: MatMulV2:1.5",
            text);
    j->slow_factor = (uint64_t)(factor * THOUSAND + 0.5);
    return j->o->kernels > 0 || error_set(e, FAULT_ASKED, "--kernels 0: without a device there is no --slow-operator");
}

/* A fault that would not be visible in the data is an error. */
static bool troubles_check(const struct sim_job *j, struct error *e)
{
    const struct job_faults *f = &j->faults;
    const uint32_t n_device = f->n[SIM_SLOW_RANK] + f->n[SIM_SLOW_STEP] + f->n[SIM_SLOW_LINK];
    if (n_device > 0 && j->o->kernels == 0)
        return error_set(e, FAULT_ASKED, "--kernels 0: without a device there is no %s",
                         f->n[SIM_SLOW_RANK]   ? "--slow-rank"
                         : f->n[SIM_SLOW_STEP] ? "--slow-step"
                                               : "--slow-link");
    for (uint32_t i = 0; i < f->n[SIM_SLOW_LINK]; i++) {
        const struct job_fault *l = &f->of[SIM_SLOW_LINK][i];
        if (!job_links(j, l->at, l->with))
            return error_set(e, FAULT_ASKED,
                             "--slow-link %" PRIu32 "-%" PRIu32
                             ": nothing is sent between these ranks; give two ranks of one group",
                             l->at, l->with);
    }
    uint32_t n_left = 0;
    for (uint32_t rank = 0; rank < j->ranks; rank++)
        n_left += !job_is_missing(f, rank);
    if (n_left == 0)
        return error_set(e, FAULT_ASKED, "--missing-rank: no rank would be left of %" PRIu32, j->ranks);
    return true;
}

struct sim_job *job_new(const struct sim_options *o, struct error *e)
{
    struct sim_job *j = calloc(1, sizeof *j);
    if (!j) {
        error_no_memory(e, "the simulation");
        return NULL;
    }
    j->o = o;
    j->chip = chip_find(o->chip);
    j->unit_ns = (THOUSAND + o->counter_mhz - 1) / o->counter_mhz;
    j->unit_ns = j->unit_ns > 20 ? j->unit_ns : 20;
    operators_pair(j->forward, j->reverse);
    bool ok = sizes_find(j, e) && job_faults_read(&j->faults, o, j->ranks, e) && troubles_check(j, e) &&
              slow_operator_read(j, e);
    if (ok && o->kernels > 0) {
        j->kernels = o->kernels / j->ranks > 0 ? o->kernels / j->ranks : 1;
        ok = (programs_make(j) && lines_make(j) && plan_make(j)) || error_no_memory(e, "the simulation");
    }
    if (ok)
        return j;
    job_free(j);
    return NULL;
}

void job_free(struct sim_job *j)
{
    if (!j)
        return;
    for (uint32_t stage = 0; j->program && stage < j->size[AXIS_PP]; stage++)
        for (unsigned more = 0; more < 2; more++)
            free(j->program[stage][more].item);
    for (size_t i = 0; j->line && i < j->n_lines; i++)
        free(j->line[i].at);
    free(j->program);
    free(j->line);
    free(j);
}
