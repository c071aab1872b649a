/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of ranks, links between them, and the tasks of their exchanges. The plan is in sim_plan.c. */
#include "sim/job/sim_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/job/dice.h"
#include "sim/job/sim_faults.h"

bool sim_is_job(const struct sim_options *o)
{
    bool is_job = o->processes > 1 || o->tp > 0 || o->pp > 0 || o->dp > 0 || o->noise_seed > 0 || o->jitter > 0 ||
                  o->slow_operator;
    for (size_t i = 0; i < SIM_TROUBLES; i++)
        is_job |= o->trouble[i] != NULL;
    return is_job;
}

/* The group of a rank on an axis. Groups are numbered: first the world, then those of TP, DP and PP. */
struct job_group job_group(const struct sim_job *j, enum job_axis axis, uint32_t rank)
{
    const uint32_t tp = j->size[AXIS_TP], dp = j->size[AXIS_DP], stage = tp * dp;
    const uint32_t n_tp = j->ranks / tp, n_dp = j->ranks / dp;
    const uint32_t of_tp = rank % tp, of_dp = rank / tp % dp, of_pp = rank / stage;
    switch (axis) {
    case AXIS_TP: return (struct job_group){ rank - of_tp, 1, tp, 1 + rank / tp, of_tp };
    case AXIS_DP: return (struct job_group){ rank - of_dp * tp, tp, dp, 1 + n_tp + of_pp * tp + of_tp, of_dp };
    case AXIS_PP:
        return (struct job_group){ rank % stage, stage, j->size[AXIS_PP], 1 + n_tp + n_dp + rank % stage, of_pp };
    default: return (struct job_group){ 0, 1, j->ranks, 0, rank };
    }
}

uint32_t job_stage(const struct sim_job *j, uint32_t rank)
{
    return job_group(j, AXIS_PP, rank).place;
}

void job_group_id(const struct sim_job *j, const struct job_group *g, char out[JOB_GROUP_BYTES])
{
    const uint32_t host = g->first / j->host_ranks;
    snprintf(out, JOB_GROUP_BYTES, "10.0.%" PRIu32 ".%" PRIu32 "%%eth0_60000_%" PRIu32 "_%" PRIu64, host / 250,
             host % 250 + 1, g->number, UINT64_C(1717200000000000) + j->o->seed % 1000000000 * 1000 + g->number);
}

const char *job_group_name(enum job_axis axis)
{
    static const char *const name[AXES] = { "default_group", "tp", "dp", "pp" };
    return name[axis];
}

enum job_axis job_axis_of(enum job_channel c)
{
    static const enum job_axis axis[CHANNELS] = { AXIS_TP, AXIS_DP, AXIS_WORLD, AXIS_PP, AXIS_PP, AXIS_PP, AXIS_PP };
    return axis[c];
}

uint64_t job_bytes(enum job_channel c)
{
    enum { MIB = 1 << 20 };
    static const uint64_t bytes[CHANNELS] = { MIB, 4 * MIB, MIB, 2 * MIB, 2 * MIB, 2 * MIB, 2 * MIB };
    return bytes[c];
}

/* ---- links ---- */
enum { LINK_ON_CHIP = 0, LINK_HCCS = 1, LINK_ROCE = 3, LINK_SIO = 4, LINK_HCCS_SWITCH = 5 };

static uint32_t link_of(const struct sim_job *j, uint32_t a, uint32_t b)
{
    if (a / j->host_ranks != b / j->host_ranks)
        return LINK_ROCE;
    if (!j->chip->has_two_dies)
        return LINK_HCCS;
    return (a ^ 1) == b ? LINK_SIO : LINK_HCCS_SWITCH;
}

/* Half a microsecond to start, then 20 bytes per nanosecond inside a host, 12 between hosts, with up to 2 % of
 * variation. */
static uint64_t transfer_ns(const struct sim_job *j, uint32_t from, uint32_t to, uint64_t bytes, uint64_t number)
{
    enum { START_NS = 500, LOCAL_RATE = 20, REMOTE_RATE = 12, JITTER = 20, THOUSAND = 1000 };
    const uint64_t rate = link_of(j, from, to) == LINK_ROCE ? REMOTE_RATE : LOCAL_RATE;
    const uint64_t factor = job_factor(&j->faults, SIM_SLOW_LINK, from, to);
    struct dice d = dice_for(j->o->seed, (number << 24 ^ (uint64_t)from << 12 ^ to) + 0x6c696e6b);
    const uint64_t more = number == UINT64_MAX ? JITTER : dice_below(&d, JITTER + 1);
    const uint64_t ns = START_NS + bytes * THOUSAND / (rate * factor);
    return ns * (THOUSAND + more) / THOUSAND;
}

/* ---- tasks ---- */

/* Small groups exchange with everybody; large ones with those at distances 1, 2, 4, ... */
static uint32_t peer_distance(uint32_t size, uint32_t i) /* 0: there are no more */
{
    enum { MESH_MOST = 16, DISTANCES_MOST = 31 };
    if (size <= MESH_MOST)
        return i + 1 < size ? i + 1 : 0;
    return i < DISTANCES_MOST && (UINT32_C(1) << i) < size ? UINT32_C(1) << i : 0;
}

static bool group_links(const struct job_group *g, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0, distance; (distance = peer_distance(g->size, i)) > 0; i++)
        if ((a + distance) % g->size == b || (b + distance) % g->size == a)
            return true;
    return false;
}

bool job_links(const struct sim_job *j, uint32_t a, uint32_t b)
{
    bool is_linked = false;
    for (unsigned axis = 0; axis < AXES && j->o->comm; axis++) {
        const struct job_group g = job_group(j, (enum job_axis)axis, a), h = job_group(j, (enum job_axis)axis, b);
        const bool is_next = axis != AXIS_PP || g.place + 1 == h.place || h.place + 1 == g.place;
        is_linked |= g.number == h.number && is_next && group_links(&g, g.place, h.place);
    }
    return is_linked;
}

struct sim_job_writer {
    const struct sim_job *j;
    const struct job_times *t;
    struct job_task *out; /* NULL: they are only counted */
    size_t n;
    uint64_t at_ns; /* where the next one of the plane may begin */
    unsigned plane;
};

static void sim_job_put(struct sim_job_writer *w, enum small what, uint32_t remote, uint32_t link, uint64_t bytes,
                        uint64_t end_ns)
{
    enum { GAP = 10 };
    if (w->out)
        w->out[w->n] = (struct job_task){ what, w->plane, remote, link, bytes, w->at_ns, end_ns };
    w->n++;
    w->at_ns = end_ns + GAP * w->j->unit_ns;
}

static void put_signal(struct sim_job_writer *w, enum small what, uint32_t remote, uint32_t link)
{
    enum { LONG = 10 };
    sim_job_put(w, what, remote, link, 0, w->at_ns + LONG * w->j->unit_ns);
}

/* A wait until that time, or a short one if it has passed. */
static void put_wait(struct sim_job_writer *w, uint32_t remote, uint32_t link, uint64_t until_ns)
{
    enum { LEAST = 5 };
    const uint64_t least = w->at_ns + LEAST * w->j->unit_ns;
    sim_job_put(w, SMALL_WAIT, remote, link, 0, until_ns > least ? until_ns : least);
}

/* Between hosts a payload has arrived when its signal was answered; collectives exchange one more pair of signals. */
static void put_transfer(struct sim_job_writer *w, enum small what, uint32_t remote, uint32_t link, uint64_t bytes,
                         uint64_t ns, bool is_pair)
{
    enum { SIGNALS = 50 }; /* units that the last pair needs */
    const uint64_t begin_ns = w->at_ns;
    if (link != LINK_ROCE) {
        sim_job_put(w, what, remote, link, bytes, begin_ns + ns);
        return;
    }
    const uint64_t last = is_pair ? 0 : SIGNALS * w->j->unit_ns;
    sim_job_put(w, SMALL_PAYLOAD, remote, link, bytes, begin_ns + 10 * w->j->unit_ns);
    put_signal(w, SMALL_NOTIFY, remote, link);
    put_wait(w, remote, link, begin_ns + (ns > last ? ns - last : 0));
    if (is_pair)
        return;
    put_signal(w, SMALL_NOTIFY, remote, link);
    put_wait(w, remote, link, begin_ns + ns);
}

static uint64_t pair_tasks(struct sim_job_writer *w, uint32_t rank, const struct job_item *item)
{
    const struct sim_job *j = w->j;
    const struct job_group g = job_group(j, AXIS_PP, rank);
    const bool is_next = item->channel == CHANNEL_TO_NEXT || item->channel == CHANNEL_FROM_NEXT;
    const uint32_t remote = is_next ? g.place + 1 : g.place - 1, other = g.first + remote * g.stride;
    const uint32_t link = link_of(j, rank, other);
    const bool is_far = link == LINK_ROCE;
    const uint64_t bytes = job_bytes((enum job_channel)item->channel);
    if (item->collective == COLLECTIVE_SEND) {
        const uint64_t ns = transfer_ns(j, rank, other, bytes, w->t->number);
        put_wait(w, remote, link, w->t->begin_ns);
        put_transfer(w, SMALL_MOVE, remote, link, bytes, ns, true);
        const uint64_t last = w->at_ns;
        if (!is_far)
            put_signal(w, SMALL_RECORD, remote, link);
        return last;
    }
    put_signal(w, is_far ? SMALL_NOTIFY : SMALL_RECORD, remote, link);
    put_wait(w, remote, link, w->t->end_ns);
    return w->t->begin_ns + transfer_ns(j, other, rank, bytes, w->t->number);
}

static uint64_t collective_tasks(struct sim_job_writer *w, uint32_t rank, const struct job_item *item)
{
    enum { COPY_UNITS = 40 };
    const struct sim_job *j = w->j;
    const struct job_group g = job_group(j, job_axis_of((enum job_channel)item->channel), rank);
    const uint64_t bytes = job_bytes((enum job_channel)item->channel) / g.size;
    const bool reduces = item->collective != COLLECTIVE_ALL_GATHER,
               gathers = item->collective != COLLECTIVE_REDUCE_SCATTER;
    uint64_t last = 0, end_of_master = 0;
    size_t master = 0;
    sim_job_put(w, SMALL_MOVE, g.place, LINK_ON_CHIP, bytes, w->at_ns + COPY_UNITS * j->unit_ns);
    const uint64_t first_ns = w->at_ns;
    for (w->plane = 0; w->plane < JOB_PLANES && peer_distance(g.size, w->plane) > 0; w->plane++) {
        w->at_ns = first_ns;
        bool is_first = true;
        for (unsigned pass = 0; pass < 2; pass++) {
            for (uint32_t i = w->plane, distance; (distance = peer_distance(g.size, i)) > 0; i += JOB_PLANES) {
                const uint32_t remote = (g.place + distance) % g.size, other = g.first + remote * g.stride;
                const uint32_t link = link_of(j, rank, other);
                if (pass == 0 ? !reduces : !gathers)
                    continue;
                put_signal(w, link == LINK_ROCE ? SMALL_NOTIFY : SMALL_RECORD, remote, link);
                put_wait(w, remote, link, is_first ? w->t->begin_ns : 0);
                is_first = false;
                put_transfer(w, pass == 0 ? SMALL_REDUCE : SMALL_MOVE, remote, link, bytes,
                             transfer_ns(j, rank, other, bytes,
                                         w->t->number == UINT64_MAX ? UINT64_MAX : w->t->number * 2 + pass),
                             false);
            }
        }
        last = w->at_ns > last ? w->at_ns : last;
        if (w->plane == 0) {
            end_of_master = w->at_ns;
            master = w->n;
            w->n += 2; /* for the last two tasks, which are written below */
        }
    }
    const size_t n = w->n;
    w->n = master;
    w->plane = 0;
    w->at_ns = end_of_master;
    const uint32_t remote = (g.place + 1) % g.size, link = link_of(j, rank, g.first + remote * g.stride);
    put_signal(w, link == LINK_ROCE ? SMALL_NOTIFY : SMALL_RECORD, remote, link);
    put_wait(w, remote, link, w->t->end_ns);
    w->n = n;
    return last;
}

size_t job_tasks(const struct sim_job *j, uint32_t rank, const struct job_item *item, const struct job_times *t,
                 struct job_task *out, uint64_t *last_ns)
{
    struct sim_job_writer w = { .j = j, .t = t, .out = out, .at_ns = t->arrives_ns };
    const bool is_pair = job_axis_of((enum job_channel)item->channel) == AXIS_PP;
    const uint64_t last = is_pair ? pair_tasks(&w, rank, item) : collective_tasks(&w, rank, item);
    if (last_ns)
        *last_ns = last;
    return w.n;
}
