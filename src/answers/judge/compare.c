/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/judge/compare_alike.h"
#include "base/memory/sort.h"

/* ---- ranks ------------------------------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b)
{
    const struct measured_rank *x = a, *y = b;
    if (x->has_rank != y->has_rank)
        return x->has_rank ? -1 : 1;
    if (x->has_rank && x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* With one rank in each run their numbers do not matter. */
static bool has_numbers(const struct measured_run *run, size_t n_runs)
{
    size_t most = 0;
    bool all = true;
    for (size_t r = 0; r < n_runs; r++) {
        most = run[r].n > most ? run[r].n : most;
        for (size_t i = 0; i < run[r].n; i++)
            all = all && run[r].rank[i].has_rank;
    }
    return all && most > 1;
}

/* Moves the cursors of all runs to a rank that all of them have. False: there is none any more. */
static bool common_rank(const struct measured_run *run, size_t n_runs, size_t *at, bool by_number)
{
    for (size_t r = 0, n_same = 0; n_same < n_runs; r = (r + 1) % n_runs) {
        const size_t other = (r + n_runs - 1) % n_runs;
        if (at[other] >= run[other].n)
            return false;
        const int64_t wanted = run[other].rank[at[other]].rank;
        while (by_number && at[r] < run[r].n && run[r].rank[at[r]].rank < wanted)
            at[r]++;
        if (at[r] >= run[r].n)
            return false;
        n_same = !by_number || run[r].rank[at[r]].rank == wanted ? n_same + 1 : 1;
    }
    return true;
}

static bool pair_up(struct comparison *c, struct measured_run *run, struct arena *mem)
{
    const size_t n_runs = c->n_a + c->n_b;
    size_t *at = arena_take(mem, n_runs, sizeof *at), n_ranks[2] = { 0 };
    for (size_t r = 0; r < n_runs; r++) {
        qsort(run[r].rank, run[r].n, sizeof *run[r].rank, by_rank);
        n_ranks[r >= c->n_a] += run[r].n;
    }
    c->pair = arena_take(mem, run[0].n, sizeof *c->pair);
    const bool by_number = has_numbers(run, n_runs);
    while (at && c->pair && common_rank(run, n_runs, at, by_number)) {
        struct compared_pair *p = &c->pair[c->n_pairs++];
        p->of_run = arena_take(mem, n_runs, sizeof *p->of_run);
        if (!p->of_run)
            return false;
        for (size_t r = 0; r < n_runs; r++)
            p->of_run[r] = &run[r].rank[at[r]++];
        p->a = p->of_run[0];
        p->b = p->of_run[c->n_a];
        c->is_across |= p->a->has_device && p->b->has_device && p->a->is_gpu != p->b->is_gpu;
    }
    c->n_alone_a = n_ranks[0] - c->n_pairs * c->n_a;
    c->n_alone_b = n_ranks[1] - c->n_pairs * c->n_b;
    return at && c->pair;
}

static void most_memory(int64_t most[2], const struct measured_rank *r)
{
    most[0] = r->allocated_bytes > most[0] ? r->allocated_bytes : most[0];
    most[1] = r->reserved_bytes > most[1] ? r->reserved_bytes : most[1];
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* How a value of a run varies from step to step: sums over its ranks by the position of the step, because what makes
 * one rank longer in a step makes others wait. */
struct variation {
    double *off; /* by position; zeroed while it is not used */
    double mean;
    size_t n_positions, n_usual; /* n_usual: in all ranks */
};

static void variation_part(struct variation *v, const struct measured_rank *rank, enum run_part k, double weight)
{
    v->mean += rank->part_ns[k] * weight;
    for (size_t i = 0; i < rank->n_steps; i++)
        if (run_step_is_usual(&rank->step[i]))
            v->off[i] += ((double)rank->step[i].part_ns[k] - rank->part_ns[k]) * weight;
}

static void variation_measure(struct variation *v, const struct measured_rank *rank, const struct measure *m,
                              double weight)
{
    v->mean += m->mean_ns * weight;
    for (size_t i = 0; i < rank->n_steps; i++)
        if (run_step_is_usual(&rank->step[i]))
            v->off[i] -= m->mean_ns * weight;
    for (size_t i = 0; i < m->n_shares; i++)
        if (run_step_is_usual(&rank->step[rank->share[m->first + i].step]))
            v->off[rank->share[m->first + i].step] += (double)rank->share[m->first + i].ns * weight;
}

/* Steps that are slow on all ranks are left out. */
static struct run_value variation_end(struct variation *v, const bool *is_usual)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_positions; i++)
        if (is_usual[i])
            v->off[n++] = v->off[i];
    struct run_value out = run_value_of(v->mean, v->off, n);
    out.n = v->n_usual;
    memset(v->off, 0, v->n_positions * sizeof *v->off);
    v->mean = 0;
    return out;
}

struct comparing_values {
    struct comparison *c;
    size_t n_runs;
    struct variation *run; /* by run */
    bool **is_usual;       /* by run and position: on some rank */
    struct run_value *value;
    double probability, dependence;
};

static bool values_begin(struct comparing_values *v, struct comparison *c, struct arena *work)
{
    *v = (struct comparing_values){ .c = c, .n_runs = c->n_a + c->n_b };
    v->run = arena_take(work, v->n_runs, sizeof *v->run);
    v->is_usual = arena_take(work, v->n_runs, sizeof *v->is_usual);
    v->value = arena_take(work, v->n_runs, sizeof *v->value);
    for (size_t r = 0; v->value && v->run && v->is_usual && r < v->n_runs; r++) {
        struct variation *run = &v->run[r];
        run->n_usual = SIZE_MAX;
        for (size_t i = 0; i < c->n_pairs; i++) {
            const struct measured_rank *rank = c->pair[i].of_run[r];
            run->n_positions = rank->n_steps > run->n_positions ? rank->n_steps : run->n_positions;
            run->n_usual = rank->n_usual < run->n_usual ? rank->n_usual : run->n_usual;
        }
        run->off = arena_take(work, run->n_positions, sizeof *run->off);
        v->is_usual[r] = arena_take(work, run->n_positions, sizeof **v->is_usual);
        for (size_t i = 0; v->is_usual[r] && i < c->n_pairs; i++)
            for (size_t k = 0; k < c->pair[i].of_run[r]->n_steps; k++)
                v->is_usual[r][k] |= run_step_is_usual(&c->pair[i].of_run[r]->step[k]);
    }
    return !arena_failed(work);
}

/* The difference of what was added to the variations of all runs. */
static struct difference values_end(struct comparing_values *v, struct chance *chance)
{
    for (size_t r = 0; r < v->n_runs; r++)
        v->value[r] = variation_end(&v->run[r], v->is_usual[r]);
    *chance = chance_of(v->value, v->c->n_a, v->value + v->c->n_a, v->c->n_b, v->dependence);
    return difference_of(v->value, v->c->n_a, v->value + v->c->n_a, v->c->n_b, chance, v->probability);
}

static void compare_parts(struct comparing_values *v)
{
    struct comparison *c = v->c;
    struct chance chance;
    for (unsigned k = 0; k < RUN_PARTS; k++) {
        for (size_t i = 0; i < c->n_pairs; i++) {
            for (size_t r = 0; r < v->n_runs; r++)
                variation_part(&v->run[r], c->pair[i].of_run[r], k, 1);
            c->pair[i].part[k] = values_end(v, &chance);
        }
        for (size_t i = 0; i < c->n_pairs; i++)
            for (size_t r = 0; r < v->n_runs; r++)
                variation_part(&v->run[r], c->pair[i].of_run[r], k, 1 / (double)c->n_pairs);
        c->part[k] = values_end(v, &c->part_chance[k]);
    }
    c->is_noise_known = c->part[RUN_STEP].state != DIFFERENCE_UNKNOWN;
    v->dependence = c->part_chance[RUN_STEP].dependence; /* what makes steps alike makes their kernels alike */
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static uint64_t key_of(const struct measure *m)
{
    return (uint64_t)m->kind << 60 | (uint64_t)m->name << 30 | m->detail;
}

static void side_add(struct compared_side *s, const struct measure *m, double weight)
{
    s->min_ns = s->n == 0 || m->min_ns < s->min_ns ? m->min_ns : s->min_ns;
    s->max_ns = s->n == 0 || m->max_ns > s->max_ns ? m->max_ns : s->max_ns;
    s->n += m->n;
    s->total_ns += m->total_ns;
    s->runs += m->runs * weight;
}

/* A measure of a rank of a run that belongs to a row. */
struct sighting {
    uint32_t row, run, pair;
    const struct measure *at;
};

struct compare_one_rows {
    struct comparison *c;
    struct keys keys;
    LIST(struct compared_row) list;
    LIST(struct sighting) seen;
    struct arena *mem;
    bool failed;
};

static void row_add(struct compare_one_rows *r, uint32_t run, uint32_t pair, const struct measure *m)
{
    const uint32_t at = keys_add(&r->keys, key_of(m), r->mem);
    struct sighting *seen = at == KEYS_NO_MEMORY ? NULL : list_add(&r->seen, r->mem);
    struct compared_row *new = seen &&at == r->list.n ? list_add(&r->list, r->mem) : NULL;
    if (!seen || at >= r->list.n) {
        r->failed = true;
        return;
    }
    if (new)
        *new = (struct compared_row){ .kind = m->kind, .name = m->name, .detail = m->detail };
    *seen = (struct sighting){ at, run, pair, m };
}

/* Fills a row from its sightings, which are sorted by run and rank. `side_ns`: 0 for each rank, twice. */
static void row_fill(struct comparing_values *v, struct compared_row *row, const struct compare_one_rows *r,
                     const uint32_t *order, size_t n, double *side_ns)
{
    const struct comparison *c = v->c;
    const double of_pair = 1 / (double)c->n_pairs;
    struct chance chance;
    for (size_t i = 0; i < n; i++) {
        const struct sighting *s = &r->seen.at[order[i]];
        const bool is_b = s->run >= c->n_a;
        const double of_run = 1 / (double)(is_b ? c->n_b : c->n_a);
        side_add(is_b ? &row->b : &row->a, s->at, of_pair * of_run);
        variation_measure(&v->run[s->run], c->pair[s->pair].of_run[s->run], s->at, of_pair);
        side_ns[2 * s->pair + is_b] += s->at->mean_ns * of_run;
    }
    row->difference = values_end(v, &chance);
    for (size_t i = 0; i < n; i++) {
        const uint32_t pair = r->seen.at[order[i]].pair;
        const double more_ns = side_ns[2 * pair + 1] - side_ns[2 * pair];
        if (fabs(more_ns) > fabs(row->pair_ns) || (fabs(more_ns) == fabs(row->pair_ns) && pair < row->pair)) {
            row->pair_ns = more_ns;
            row->pair = pair;
        }
    }
    for (size_t i = 0; i < n; i++)
        side_ns[2 * r->seen.at[order[i]].pair] = side_ns[2 * r->seen.at[order[i]].pair + 1] = 0;
    const struct compared_side *with = row->a.runs > 0 ? &row->a : &row->b;
    const double each = with->runs > 0 ? (with == &row->a ? row->difference.a : row->difference.b) / with->runs : 0;
    row->runs_ns = (row->b.runs - row->a.runs) * each;
}

static int by_importance(const void *l, const void *r, void *names)
{
    const struct compared_row *x = l, *y = r;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if ((x->difference.state == DIFFERENCE_REAL) != (y->difference.state == DIFFERENCE_REAL))
        return x->difference.state == DIFFERENCE_REAL ? -1 : 1;
    const double x_off = fabs(x->difference.b - x->difference.a), y_off = fabs(y->difference.b - y->difference.a);
    if (x_off != y_off)
        return x_off > y_off ? -1 : 1;
    const int by_name = names_compare(names, x->name, y->name);
    return by_name ? by_name : names_compare(names, x->detail, y->detail);
}

static bool rows_fill(struct compare_one_rows *r, struct comparing_values *v)
{
    uint64_t *key = arena_take(r->mem, r->seen.n, sizeof *key);
    uint32_t *order = arena_take(r->mem, r->seen.n, sizeof *order);
    double *side_ns = arena_take(r->mem, 2 * v->c->n_pairs, sizeof *side_ns);
    if (!key || !order || !side_ns)
        return false;
    order_fill(order, r->seen.n);
    for (size_t i = 0; i < r->seen.n; i++)
        key[i] = r->seen.at[i].row;
    if (!order_by_u64(order, r->seen.n, key))
        return false;
    for (size_t i = 0, end; i < r->seen.n; i = end) {
        const uint32_t row = r->seen.at[order[i]].row;
        for (end = i; end < r->seen.n && r->seen.at[order[end]].row == row;)
            end++;
        row_fill(v, &r->list.at[row], r, order + i, end - i, side_ns);
    }
    return true;
}

static bool rows_keep(struct comparison *c, const struct compare_one_rows *r, struct arena *mem)
{
    c->row = arena_take(mem, r->list.n, sizeof *c->row);
    if (!c->row)
        return false;
    c->n = r->list.n;
    if (c->n > 0)
        memcpy(c->row, r->list.at, c->n * sizeof *c->row);
    if (c->n > 1)
        qsort_r(c->row, c->n, sizeof *c->row, by_importance, c->names);
    for (size_t i = 0; i < c->n; i++) {
        c->first[c->row[i].kind + 1] = i + 1;
        c->n_real[c->row[i].kind] += c->row[i].difference.state == DIFFERENCE_REAL;
    }
    for (unsigned k = 1; k <= MEASURE_KINDS; k++)
        c->first[k] = c->first[k] > c->first[k - 1] ? c->first[k] : c->first[k - 1];
    return true;
}

/* Parts and rows. The more rows there are, the rarer must be what is called real. */
static bool compare_values(struct comparison *c, struct arena *mem)
{
    static const double one = 1e-4, any = 0.01;
    struct comparing_values v;
    struct compare_one_rows r = { .c = c, .mem = arena_new() };
    r.failed = !r.mem || !values_begin(&v, c, r.mem);
    for (uint32_t run = 0; run < c->n_a + c->n_b; run++)
        for (uint32_t i = 0; i < c->n_pairs && !r.failed; i++) {
            const struct measured_rank *rank = c->pair[i].of_run[run];
            for (size_t k = 0; k < rank->n && !r.failed; k++)
                row_add(&r, run, i, &rank->at[k]);
        }
    if (!r.failed) {
        v.probability = one;
        compare_parts(&v);
        v.probability = fmin(one, any / (double)(r.list.n > 0 ? r.list.n : 1));
    }
    const bool done = !r.failed && rows_fill(&r, &v) && rows_keep(c, &r, mem);
    arena_free(r.mem);
    return done;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Steps are paired by position: the first of A with the first of B. A job's step is as long as that of its slowest
 * rank. */
static bool compare_steps(struct comparison *c, struct arena *mem)
{
    size_t most = 0;
    for (size_t i = 0; i < c->n_pairs; i++) {
        const size_t a = c->pair[i].a->n_steps, b = c->pair[i].b->n_steps, n = a > b ? a : b;
        most = n > most ? n : most;
    }
    c->step = arena_take(mem, most, sizeof *c->step);
    if (!c->step)
        return false;
    c->n_steps = most;
    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct measured_rank *a = c->pair[i].a, *b = c->pair[i].b;
        for (size_t s = 0; s < most; s++) {
            struct compared_step *out = &c->step[s];
            if (s < a->n_steps && a->step[s].part_ns[RUN_STEP] >= out->a_ns) {
                out->a = a->step[s].name;
                out->a_ns = a->step[s].part_ns[RUN_STEP];
                out->a_is_slow = a->step[s].is_slow;
            }
            if (s < b->n_steps && b->step[s].part_ns[RUN_STEP] >= out->b_ns) {
                out->b = b->step[s].name;
                out->b_ns = b->step[s].part_ns[RUN_STEP];
                out->b_is_slow = b->step[s].is_slow;
            }
        }
    }
    return true;
}

bool compare_runs(struct comparison *out, struct measured_run *run, size_t n_a, size_t n_b, struct names *names,
                  struct arena *mem, struct error *e)
{
    *out = (struct comparison){
        .n_a = n_a, .n_b = n_b, .run = run, .names = names, .memory_a = { -1, -1 }, .memory_b = { -1, -1 }
    };
    for (size_t r = 0; r < n_a + n_b; r++)
        if (run[r].n == 0)
            return error_set(e, FAULT_FORMAT, "nothing to compare: a side has no data");
    if (!pair_up(out, run, mem))
        return error_no_memory(e, "the comparison");
    if (out->n_pairs == 0)
        return error_set(e, FAULT_ASKED,
                         "no rank of A is in B, or not in all runs: A begins with rank %lld, B with rank %lld",
                         (long long)run[0].rank[0].rank, (long long)run[n_a].rank[0].rank);
    for (size_t i = 0; i < out->n_pairs; i++)
        for (size_t r = 0; r < n_a + n_b; r++)
            most_memory(r < n_a ? out->memory_a : out->memory_b, out->pair[i].of_run[r]);
    return (compare_alike(out, run, mem) && compare_values(out, mem) && compare_steps(out, mem)) ||
           error_no_memory(e, "the comparison");
}

static int by_difference(const void *l, const void *r)
{
    const struct compared_row *x = *(const struct compared_row *const *)l, *y = *(const struct compared_row *const *)r;
    const double x_off = fabs(x->difference.b - x->difference.a), y_off = fabs(y->difference.b - y->difference.a);
    return x_off != y_off ? (x_off > y_off ? -1 : 1) : x < y ? -1 : x > y; /* equal ones stay in their order */
}

const struct compared_row **compare_changes(const struct comparison *c, size_t *n, struct arena *mem)
{
    bool has_device = false;
    for (size_t i = 0; i < c->n_pairs; i++)
        has_device |= c->pair[i].a->has_device && c->pair[i].b->has_device;
    const struct compared_row **out = arena_take(mem, c->n, sizeof *out);
    *n = 0;
    for (size_t i = 0; out && i < c->n; i++) {
        const struct compared_row *r = &c->row[i];
        const bool is_kind = !has_device                     ? r->kind == MEASURE_HOST
                             : r->kind == MEASURE_KERNEL     ? !c->is_across
                             : r->kind == MEASURE_OPERATOR   ? c->is_across
                             : r->kind == MEASURE_COLLECTIVE ? true
                                                             : r->kind == MEASURE_COPY;
        const bool is_changed = r->difference.state == DIFFERENCE_REAL ||
                                (r->difference.state == DIFFERENCE_UNKNOWN && r->difference.a != r->difference.b);
        if (is_kind && is_changed)
            out[(*n)++] = r;
    }
    if (out && *n > 1)
        qsort(out, *n, sizeof *out, by_difference);
    return out;
}
