/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_STEPS = 3 };
static const double least_part = 0.01; /* of the larger value: a smaller difference is never called real */

/* Two-sided quantiles of Student's t for 1 in 10,000, by degrees of freedom; between the rows the larger value is used. */
static double t_limit(double freedom)
{
    static const struct {
        double freedom, t;
    } rows[] = { { 1, 6366 },  { 2, 99.99 }, { 3, 28.0 },  { 4, 15.54 }, { 5, 11.18 }, { 6, 9.08 },
                 { 7, 7.88 },  { 8, 7.12 },  { 9, 6.59 },  { 10, 6.21 }, { 12, 5.69 }, { 15, 5.24 },
                 { 20, 4.84 }, { 30, 4.48 }, { 60, 4.17 }, { 120, 4.03 } };
    const size_t n = sizeof rows / sizeof *rows;
    for (size_t i = 1; i < n; i++)
        if (freedom < rows[i].freedom)
            return rows[i - 1].t;
    return rows[n - 1].t;
}

/* The variance of a sum of independent means, one for each side of each pair of ranks, and what Welch's degrees of freedom need. */
struct noise {
    double variance, divisor;
    bool is_known;
};

static void noise_add(struct noise *x, double variance, size_t n, double weight)
{
    const double share = variance * weight * weight;
    x->is_known = x->is_known && n >= LEAST_STEPS;
    x->variance += share;
    if (n > 1)
        x->divisor += share * share / (double)(n - 1);
}

static void judge(struct difference *d, const struct noise *x)
{
    const double larger = fmax(fabs(d->a), fabs(d->b)), off = fabs(d->b - d->a);
    d->noise_ns = 0;
    if (!x->is_known) {
        d->state = DIFFERENCE_UNKNOWN;
        return;
    }
    if (x->variance > 0)
        d->noise_ns = sqrt(x->variance) * t_limit(x->divisor > 0 ? x->variance * x->variance / x->divisor : 1e9);
    d->state = off > d->noise_ns && off >= larger * least_part && off > 0 ? DIFFERENCE_REAL : DIFFERENCE_NOISE;
}

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

static bool pair_up(struct comparison *c, struct measured_rank *a, size_t n_a, struct measured_rank *b, size_t n_b,
                    struct arena *mem)
{
    c->pair = arena_take(mem, n_a < n_b ? n_a : n_b, sizeof *c->pair);
    if (!c->pair)
        return false;
    qsort(a, n_a, sizeof *a, by_rank);
    qsort(b, n_b, sizeof *b, by_rank);
    bool by_number = n_a > 1 || n_b > 1; /* with one rank on each side their numbers do not matter */
    for (size_t i = 0; i < n_a; i++)
        by_number = by_number && a[i].has_rank;
    for (size_t i = 0; i < n_b; i++)
        by_number = by_number && b[i].has_rank;
    for (size_t i = 0, k = 0; i < n_a && k < n_b;) {
        const int order = by_number && a[i].rank != b[k].rank ? (a[i].rank < b[k].rank ? -1 : 1) : 0;
        if (order == 0) {
            c->pair[c->n_pairs++] = (struct compared_pair){ .a = &a[i], .b = &b[k] };
            c->is_across |= a[i].has_device && b[k].has_device && a[i].is_gpu != b[k].is_gpu;
        }
        i += order <= 0;
        k += order >= 0;
    }
    c->n_alone_a = n_a - c->n_pairs;
    c->n_alone_b = n_b - c->n_pairs;
    return true;
}

static void compare_parts(struct comparison *c)
{
    const double weight = 1 / (double)c->n_pairs;
    for (unsigned k = 0; k < RUN_PARTS; k++) {
        struct noise all = { .is_known = true };
        for (size_t i = 0; i < c->n_pairs; i++) {
            const struct measured_rank *a = c->pair[i].a, *b = c->pair[i].b;
            struct noise one = { .is_known = true };
            noise_add(&one, a->part[k].variance, a->n_usual, 1);
            noise_add(&one, b->part[k].variance, b->n_usual, 1);
            noise_add(&all, a->part[k].variance, a->n_usual, weight);
            noise_add(&all, b->part[k].variance, b->n_usual, weight);
            c->pair[i].part[k].a = a->part[k].mean;
            c->pair[i].part[k].b = b->part[k].mean;
            judge(&c->pair[i].part[k], &one);
            c->part[k].a += a->part[k].mean * weight;
            c->part[k].b += b->part[k].mean * weight;
        }
        judge(&c->part[k], &all);
        c->is_noise_known = all.is_known;
    }
}

static void most_memory(int64_t most[2], const struct measured_rank *r)
{
    most[0] = r->allocated_bytes > most[0] ? r->allocated_bytes : most[0];
    most[1] = r->reserved_bytes > most[1] ? r->reserved_bytes : most[1];
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

struct rows {
    struct comparison *c;
    struct keys keys;
    LIST(struct compared_row) list;
    LIST(struct noise) noise; /* as `list` */
    struct arena *mem;
    bool failed;
};

static struct compared_row *row_get(struct rows *r, const struct measure *m, struct noise **noise)
{
    const uint32_t at = keys_add(&r->keys, key_of(m), r->mem);
    r->failed |= at == KEYS_NO_MEMORY;
    if (!r->failed && at == r->list.n) {
        struct compared_row *new = list_add(&r->list, r->mem);
        struct noise *new_noise = list_add(&r->noise, r->mem);
        r->failed |= !new || !new_noise;
        if (!r->failed) {
            *new = (struct compared_row){ .kind = m->kind, .name = m->name, .detail = m->detail };
            new_noise->is_known = true;
        }
    }
    if (r->failed)
        return NULL;
    *noise = &r->noise.at[at];
    return &r->list.at[at];
}

/* Adds one name of a pair of ranks. a or b is NULL if that side does not have the name. */
static void row_add(struct rows *r, uint32_t pair, const struct measure *a, const struct measure *b)
{
    const struct compared_pair *p = &r->c->pair[pair];
    const double weight = 1 / (double)r->c->n_pairs;
    struct noise *noise;
    struct compared_row *row = row_get(r, a ? a : b, &noise);
    if (!row)
        return;
    const double a_ns = a ? a->mean_ns : 0, b_ns = b ? b->mean_ns : 0;
    if (a)
        side_add(&row->a, a, weight);
    if (b)
        side_add(&row->b, b, weight);
    noise_add(noise, a ? a->variance_ns2 : 0, p->a->n_usual, weight);
    noise_add(noise, b ? b->variance_ns2 : 0, p->b->n_usual, weight);
    row->difference.a += a_ns * weight;
    row->difference.b += b_ns * weight;
    if (fabs(b_ns - a_ns) > fabs(row->pair_ns)) {
        row->pair_ns = b_ns - a_ns;
        row->pair = pair;
    }
    const double a_runs = a ? a->runs : 0, b_runs = b ? b->runs : 0;
    const double each = a_runs > 0 ? a_ns / a_runs : b_runs > 0 ? b_ns / b_runs : 0;
    row->runs_ns += (b_runs - a_runs) * each * weight;
}

static void rows_of_pair(struct rows *r, uint32_t pair)
{
    const struct measured_rank *a = r->c->pair[pair].a, *b = r->c->pair[pair].b;
    size_t i = 0, k = 0;
    while ((i < a->n || k < b->n) && !r->failed) {
        const uint64_t x = i < a->n ? key_of(&a->at[i]) : UINT64_MAX, y = k < b->n ? key_of(&b->at[k]) : UINT64_MAX;
        row_add(r, pair, x <= y ? &a->at[i] : NULL, y <= x ? &b->at[k] : NULL);
        i += x <= y;
        k += y <= x;
    }
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

static bool compare_rows(struct comparison *c, struct arena *mem)
{
    struct rows r = { .c = c, .mem = arena_new() };
    r.failed = !r.mem;
    for (uint32_t i = 0; i < c->n_pairs && !r.failed; i++)
        rows_of_pair(&r, i);
    for (size_t i = 0; i < r.list.n && !r.failed; i++)
        judge(&r.list.at[i].difference, &r.noise.at[i]);
    c->row = r.failed ? NULL : arena_take(mem, r.list.n, sizeof *c->row);
    if (c->row) {
        c->n = r.list.n;
        if (c->n > 0)
            memcpy(c->row, r.list.at, c->n * sizeof *c->row);
        if (c->n > 1)
            qsort_r(c->row, c->n, sizeof *c->row, by_importance, c->names);
        for (size_t i = 0; i < c->n; i++) {
            c->first[c->row[i].kind + 1] = i + 1;
            c->n_real[c->row[i].kind] += c->row[i].difference.state == DIFFERENCE_REAL;
        }
        for (unsigned k = 1; k <= MEASURE_KINDS; k++)
            c->first[k] = c->first[k] > c->first[k - 1] ? c->first[k] : c->first[k - 1];
    }
    arena_free(r.mem);
    return c->row != NULL;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Steps are paired by position: the first of A with the first of B. A job's step is as long as that of its slowest rank. */
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

bool compare_runs(struct comparison *out, struct measured_rank *a, size_t n_a, struct measured_rank *b, size_t n_b,
                  struct names *names, struct arena *mem, struct error *e)
{
    *out = (struct comparison){ .names = names, .memory_a = { -1, -1 }, .memory_b = { -1, -1 } };
    if (n_a == 0 || n_b == 0)
        return error_set(e, FAULT_FORMAT, "nothing to compare: a side has no data");
    if (!pair_up(out, a, n_a, b, n_b, mem))
        return error_no_memory(e, "the comparison");
    if (out->n_pairs == 0)
        return error_set(e, FAULT_ASKED, "no rank of A is in B: A begins with rank %lld, B with rank %lld",
                         (long long)a[0].rank, (long long)b[0].rank);
    for (size_t i = 0; i < out->n_pairs; i++) {
        most_memory(out->memory_a, out->pair[i].a);
        most_memory(out->memory_b, out->pair[i].b);
    }
    compare_parts(out);
    return (compare_rows(out, mem) && compare_steps(out, mem)) || error_no_memory(e, "the comparison");
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
