/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/gate.h"

#include <math.h>

/* As compare_runs() does; and slow steps, which are few, in one of a thousand. */
static const double by_chance = 1e-4, events_by_chance = 1e-3;

/* ---- slow steps -------------------------------------------------------------------------------------------------- */

/* Slow steps of a run, on all ranks together. */
struct slow_steps {
    double lost_ns; /* in a step, mean over the ranks */
    size_t events, n_steps;
};

static struct slow_steps slow_steps_of(const struct comparison *c, size_t run)
{
    struct slow_steps s = { 0 };
    size_t n = 0, first = 0;
    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct measured_rank *rank = c->pair[i].of_run[run];
        n = rank->n_steps > n ? rank->n_steps : n;
        first = rank->n_startup > first ? rank->n_startup : first;
    }
    s.n_steps = n - first;
    bool was_slow = false;
    for (size_t k = first; k < n; k++) {
        bool is_slow = false;
        for (size_t i = 0; i < c->n_pairs; i++) {
            const struct measured_rank *rank = c->pair[i].of_run[run];
            if (k >= rank->n_steps || !rank->step[k].is_slow)
                continue;
            is_slow = true;
            const double usual_ns = rank->step[k].usual_ns > 0 ? rank->step[k].usual_ns : rank->part_ns[RUN_STEP];
            s.lost_ns += ((double)rank->step[k].part_ns[RUN_STEP] - usual_ns) / (double)c->n_pairs;
        }
        s.events += is_slow && !was_slow;
        was_slow = is_slow;
    }
    s.lost_ns = s.n_steps > 0 ? s.lost_ns / (double)s.n_steps : 0;
    return s;
}

/* The probability that of n events, each in B with probability q, at least k are in B. */
static double tail_of(double n, double k, double q)
{
    double sum = 0;
    for (double i = k; i <= n; i++)
        sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(q) + (n - i) * log1p(-q));
    return sum;
}

static void slow_judge(struct gate_row *row, const struct comparison *c, double step_ns)
{
    size_t n_steps[2] = { 0, 0 };
    *row = (struct gate_row){ .allowed = row->allowed, .noise = NAN, .is_recorded = true };
    for (size_t r = 0; r < c->n_a + c->n_b; r++) {
        const struct slow_steps s = slow_steps_of(c, r);
        const bool is_b = r >= c->n_a;
        *(is_b ? &row->b : &row->a) += s.lost_ns / (double)(is_b ? c->n_b : c->n_a);
        row->events[is_b] += s.events;
        n_steps[is_b] += s.n_steps;
    }
    if (!(row->b - row->a > row->allowed * step_ns))
        return;
    enum { MOST_FACTOR = 100 };
    const double q = (double)n_steps[1] / (double)(n_steps[0] + n_steps[1]);
    const double a = (double)row->events[0], b = (double)row->events[1];
    double factor = 1;
    while (factor < MOST_FACTOR && tail_of(floor(factor * (a + b)), floor(factor * b), q) >= events_by_chance)
        factor += 0.25;
    row->verdict = factor > 1 ? GATE_INCONCLUSIVE : GATE_REGRESSED;
    if (factor > 1 && factor < MOST_FACTOR)
        row->for_steps = (size_t)ceil(factor * (double)(n_steps[0] + n_steps[1]) / (double)(c->n_a + c->n_b));
}

/* ---- times and memory -------------------------------------------------------------------------------------------- */

static void part_judge(struct gate_row *row, const struct comparison *c, enum run_part part, size_t n_steps)
{
    const struct difference *d = &c->part[part];
    const struct chance *chance = &c->part_chance[part];
    const double more = d->b - d->a, limit = row->allowed * d->a;
    row->a = d->a;
    row->b = d->b;
    row->is_recorded = true;
    row->noise = d->state == DIFFERENCE_UNKNOWN ? NAN : d->noise_ns;
    if (isnan(row->allowed))
        return;
    if (more > limit && more > row->noise)
        row->verdict = GATE_REGRESSED;
    else if (!(row->noise <= limit))
        row->verdict = GATE_INCONCLUSIVE;
    if (row->verdict != GATE_INCONCLUSIVE || isnan(row->noise))
        return;
    if (c->n_a > 1 && c->n_b > 1)
        row->for_runs = chance_runs_for(chance, c->n_a, c->n_b, limit, by_chance);
    else
        row->for_steps = chance_steps_for(chance, n_steps, limit, by_chance);
}

static void memory_judge(struct gate_row *row, const struct comparison *c)
{
    for (unsigned k = 0; k < 2 && !row->is_recorded; k++) {
        row->is_recorded = c->memory_a[k] >= 0 && c->memory_b[k] >= 0;
        row->a = row->is_recorded ? (double)c->memory_a[k] : 0;
        row->b = row->is_recorded ? (double)c->memory_b[k] : 0;
    }
    if (isnan(row->allowed))
        return;
    row->verdict = !row->is_recorded                         ? GATE_INCONCLUSIVE
                   : row->b - row->a > row->allowed * row->a ? GATE_REGRESSED
                                                             : GATE_PASS;
}

/* ---- the cause --------------------------------------------------------------------------------------------------- */

static void cause_find(struct gate *g, const struct comparison *c)
{
    static const bool kinds[RUN_PARTS][MEASURE_KINDS] = {
        [RUN_COMPUTING] = { [MEASURE_KERNEL] = true },
        [RUN_COMMUNICATION] = { [MEASURE_COLLECTIVE] = true },
        [RUN_FREE] = { [MEASURE_HOST] = true, [MEASURE_COPY] = true },
    };
    double most = 0;
    g->grown = RUN_STEP;
    for (unsigned k = RUN_COMPUTING; k < RUN_PARTS; k++)
        if (c->part[k].b - c->part[k].a > most) {
            most = c->part[k].b - c->part[k].a;
            g->grown = k;
        }
    most = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct compared_row *r = &c->row[i];
        const double more = r->difference.b - r->difference.a;
        if (kinds[g->grown][r->kind] && r->difference.state == DIFFERENCE_REAL && more > most) {
            most = more;
            g->cause = r;
        }
    }
}

static enum gate_doubt doubt_of(const struct comparison *c, bool has_losses)
{
    for (size_t i = 0; i < c->n_pairs; i++)
        for (size_t r = 1; r < c->n_a + c->n_b; r++) {
            const struct measured_rank *first = c->pair[i].of_run[0], *other = c->pair[i].of_run[r];
            if (other->has_device != first->has_device || (first->has_device && other->is_gpu != first->is_gpu))
                return DOUBT_DEVICES;
            if (other->has_steps != first->has_steps)
                return DOUBT_STEPS;
        }
    return c->n_alone_a + c->n_alone_b > 0 ? DOUBT_RANKS : has_losses ? DOUBT_LOSSES : DOUBT_NONE;
}

static size_t usual_steps(const struct comparison *c)
{
    size_t sum = 0;
    for (size_t r = 0; r < c->n_a + c->n_b; r++)
        sum += c->pair[0].of_run[r]->n_usual;
    return sum / (c->n_a + c->n_b);
}

void gate_judge(struct gate *out, const struct comparison *c, const double allowed[GATE_MEASURES], bool has_losses)
{
    *out = (struct gate){ .doubt = doubt_of(c, has_losses), .n_steps = usual_steps(c) };
    for (unsigned k = 0; k < GATE_MEASURES; k++)
        out->row[k].allowed = allowed[k];
    for (unsigned k = 0; k < RUN_PARTS; k++)
        part_judge(&out->row[k], c, (enum run_part)k, out->n_steps);
    slow_judge(&out->row[GATE_SLOW], c, c->part[RUN_STEP].a);
    memory_judge(&out->row[GATE_MEMORY], c);
    bool is_first = true;
    for (unsigned k = 0; k < GATE_MEASURES; k++)
        if (!isnan(allowed[k]) && (is_first || out->row[k].verdict > out->verdict)) {
            is_first = false;
            out->verdict = out->row[k].verdict;
            out->first = k;
        }
    if (out->doubt != DOUBT_NONE)
        out->verdict = GATE_INCONCLUSIVE;
    cause_find(out, c);
}
