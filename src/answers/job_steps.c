/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/job_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

/* Of an even number of values the smaller one in the middle: of two steps a long one is not usual. */
static bool lower_median(const int64_t *value_ns, size_t n, struct arena *mem, int64_t *out)
{
    uint64_t *key = arena_take(mem, n, sizeof *key);
    uint32_t *order = arena_take(mem, n, sizeof *order);
    if (!key || !order)
        return false;
    for (size_t i = 0; i < n; i++)
        key[i] = (uint64_t)value_ns[i];
    order_fill(order, n);
    if (!order_by_u64(order, n, key))
        return false;
    *out = n > 0 ? value_ns[order[(n - 1) / 2]] : 0;
    return true;
}

bool job_rank_of(struct job_rank *r, const struct run_rank *q, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct step_series s;
    int64_t time_median, own_median, communication_median;
    bool done = spare && run_rank_series(&s, q, spare);
    int64_t *own_ns = done ? arena_take(spare, s.n, sizeof *own_ns) : NULL;
    struct rank_step *step = own_ns ? arena_take(mem, s.n, sizeof *step) : NULL;
    done = step != NULL;
    for (size_t i = 0; done && i < s.n; i++) {
        const char *name = names_text(q->names, s.name[i]);
        own_ns[i] = span_ns(s.part_ns[STEP_COMMUNICATION][i], s.time_ns[i]);
        step[i] = (struct rank_step){ arena_text(mem, name, strlen(name)), s.time_ns[i], own_ns[i] };
    }
    done = done && lower_median(s.time_ns, s.n, spare, &time_median) && lower_median(own_ns, s.n, spare, &own_median) &&
           lower_median(s.part_ns[STEP_COMMUNICATION], s.n, spare, &communication_median);
    if (done) {
        r->has_rank = run_rank_number(q, &r->rank);
        r->has_device = q->device != NULL;
        r->device = q->device ? q->device->source.device : 0;
        r->is_host = s.is_host;
        r->has_model = s.has_model;
        r->n = s.is_whole ? 0 : s.n;
        r->step = step;
        r->median_ns = time_median;
        r->own_median_ns = own_median;
        r->communication_median_ns = communication_median;
    }
    arena_free(spare);
    return done && !arena_failed(mem);
}

/* Numbers in their order ("10" after "9"), then all other names. */
static int compare_names(const char *a, const char *b)
{
    char *a_end, *b_end;
    const uint64_t x = strtoull(a, &a_end, 10), y = strtoull(b, &b_end, 10);
    const bool a_is = *a && !*a_end, b_is = *b && !*b_end;
    if (a_is != b_is)
        return a_is ? -1 : 1;
    return a_is && x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

struct pair {
    const struct rank_step *step;
    uint32_t rank;
};

static int by_name_and_rank(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    const int names = compare_names(x->step->name, y->step->name);
    return names != 0 ? names : x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Joins the steps of all ranks by name, and finds the slow ones. */
static bool join_steps(struct job_choice *out, const struct job_rank *rank, size_t n, struct arena *mem)
{
    size_t n_pairs = 0;
    for (size_t i = 0; i < n; i++)
        n_pairs += rank[i].n;
    struct arena *spare = arena_new();
    struct pair *pair = spare ? arena_take(spare, n_pairs, sizeof *pair) : NULL;
    int64_t *time_ns = pair ? arena_take(spare, n_pairs, sizeof *time_ns) : NULL;
    uint64_t *key = time_ns ? arena_take(spare, n_pairs, sizeof *key) : NULL;
    out->step = arena_take(mem, n_pairs, sizeof *out->step);
    out->slowest = arena_take(mem, n_pairs, sizeof *out->slowest);
    bool done = key && out->step && out->slowest;
    size_t at = 0;
    for (uint32_t i = 0; done && i < n; i++)
        for (size_t k = 0; k < rank[i].n; k++)
            pair[at++] = (struct pair){ &rank[i].step[k], i };
    if (at > 0)
        qsort(pair, at, sizeof *pair, by_name_and_rank);
    int64_t own_ns = 0;
    for (size_t i = 0; done && i < at; i++) {
        struct job_step *s = out->n > 0 ? &out->step[out->n - 1] : NULL;
        if (!s || strcmp(s->name, pair[i].step->name) != 0) {
            s = &out->step[out->n++];
            *s = (struct job_step){ .name = pair[i].step->name, .longest = pair[i].rank };
            own_ns = pair[i].step->own_ns;
        }
        if (pair[i].step->own_ns > own_ns) {
            own_ns = pair[i].step->own_ns;
            s->longest = pair[i].rank;
        }
        s->n_ranks++;
        s->time_ns = pair[i].step->time_ns > s->time_ns ? pair[i].step->time_ns : s->time_ns;
    }
    for (size_t i = 0; done && i < out->n; i++) {
        time_ns[i] = out->step[i].time_ns;
        key[i] = UINT64_MAX - (uint64_t)time_ns[i];
    }
    order_fill(out->slowest, done ? out->n : 0);
    done = done && spread_find(&out->spread, time_ns, out->n) && order_by_u64(out->slowest, out->n, key);
    for (size_t i = 0; done && i < out->n; i++) {
        out->step[i].is_slow = spread_is_outlier(&out->spread, out->step[i].time_ns);
        out->n_slow += out->step[i].is_slow;
    }
    arena_free(spare);
    return done;
}

static const struct rank_step *step_of(const struct job_rank *r, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->step[i].name, name) == 0)
            return &r->step[i];
    return NULL;
}

/* The median of the values of all ranks; with two ranks the value of the other one than that with `own_ns`. */
static bool median_of_others(const int64_t *value_ns, size_t n, int64_t own_ns, int64_t *out)
{
    struct spread spread;
    if (!spread_find(&spread, value_ns, n))
        return false;
    *out = n == 2 ? value_ns[0] + value_ns[1] - own_ns : spread.median_ns;
    return true;
}

/* The rank whose own time grew most in the step. The others wait for it if their steps grew, too, and their own times did not. Where no
 * rank's own time grew by a fifth of what the step did, the rank that took longest is chosen. */
static bool choose_rank_of_step(struct job_choice *out, const struct job_rank *rank, size_t n, struct arena *mem)
{
    enum {
        LEAST_PART = 5,
        LEAST_WAIT = 50
    }; /* divisors: of the growth of the step; of the usual step, below which a wait is noise */
    int64_t *own_grown_ns = arena_take(mem, n, sizeof *own_grown_ns), *grown_ns = arena_take(mem, n, sizeof *grown_ns);
    int64_t most_own = INT64_MIN, most_time = INT64_MIN, others_own, others_time;
    const char *name = out->step[out->at].name;
    uint32_t by_own = NO_ROW, by_time = NO_ROW;
    size_t k = 0;
    if (!own_grown_ns || !grown_ns)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct rank_step *s = step_of(&rank[i], name);
        if (!s)
            continue;
        const int64_t own = s->own_ns - rank[i].own_median_ns, time = s->time_ns - rank[i].median_ns;
        if (own > most_own) {
            most_own = own;
            by_own = i;
        }
        if (time > most_time) {
            most_time = time;
            by_time = i;
        }
        own_grown_ns[k] = own > 0 ? own : 0;
        grown_ns[k++] = time > 0 ? time : 0;
    }
    const bool is_own = most_own > 0 && most_own >= most_time / LEAST_PART;
    out->rank = is_own ? by_own : by_time;
    const struct rank_step *chosen = step_of(&rank[out->rank], name);
    const int64_t chosen_time = chosen->time_ns - rank[out->rank].median_ns;
    if (!median_of_others(own_grown_ns, k, most_own > 0 ? most_own : 0, &others_own) ||
        !median_of_others(grown_ns, k, chosen_time > 0 ? chosen_time : 0, &others_time))
        return false;
    const int64_t more_ns = most_own - others_own;
    out->is_waited_for = is_own && k > 1 && others_own < most_own / 2 && others_time >= more_ns / 2 &&
                         more_ns >= rank[out->rank].median_ns / LEAST_WAIT;
    out->waited_ns = out->is_waited_for ? more_ns : 0;
    for (size_t i = 0; out->is_waited_for && i < k; i++)
        out->n_waited_for += own_grown_ns[i] >= most_own / 2;
    out->is_slow_for_all =
        !out->is_waited_for && k > 1 && out->step[out->at].is_slow && chosen_time > 0 && others_time >= chosen_time / 2;
    return true;
}

/* A rank is slow if its usual own time is an outlier; of two ranks, if it takes a tenth longer than the other one. */
bool job_rank_slow(struct job_choice *out, const struct job_rank *rank, size_t n, struct arena *mem)
{
    int64_t *own_ns = arena_take(mem, n, sizeof *own_ns);
    uint64_t *key = arena_take(mem, n, sizeof *key);
    uint32_t *order = arena_take(mem, n, sizeof *order);
    size_t k = 0;
    struct spread spread;
    if (!own_ns || !key || !order)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (rank[i].n > 0) {
            own_ns[k] = rank[i].own_median_ns;
            key[i] = (uint64_t)rank[i].own_median_ns;
            order[k++] = i;
        }
    if (!spread_find(&spread, own_ns, k) || !order_by_u64(order, k, key))
        return false;
    if (k < 2)
        return true;
    const uint32_t slowest = order[k - 1], middle = order[(k - 1) / 2];
    const int64_t most_ns = rank[slowest].own_median_ns, usual_ns = rank[middle].own_median_ns;
    const bool is_slow = k == 2 ? most_ns - usual_ns > usual_ns / 10 : spread_is_outlier(&spread, most_ns);
    if (is_slow && rank[slowest].communication_median_ns < rank[middle].communication_median_ns) {
        out->mode = WHY_RANK;
        out->at = NO_ROW;
        out->rank = slowest;
        out->reference = middle;
        out->is_waited_for = true;
        out->waited_ns = most_ns - usual_ns;
        for (size_t i = 0; i < k; i++)
            out->n_waited_for += own_ns[i] - usual_ns >= out->waited_ns / 2;
    }
    return true;
}

static bool find_rank(const struct job_rank *rank, size_t n, int64_t wanted, uint32_t *row)
{
    for (uint32_t i = 0; i < n; i++)
        if ((rank[i].has_rank && rank[i].rank == wanted) ||
            (!rank[i].has_rank && rank[i].has_device && rank[i].device == wanted)) {
            *row = i;
            return true;
        }
    return false;
}

static bool refuse(const struct job_choice *out, const char *step, struct error *e)
{
    return error_set(e, FAULT_ASKED, "step %.60s: not among the %zu that were recorded, %.40s to %.40s", step, out->n,
                     out->step[0].name, out->step[out->n - 1].name);
}

static bool is_first(const struct job_rank *rank, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (rank[i].n > 0 && strcmp(rank[i].step[0].name, name) == 0)
            return true;
    return false;
}

/* The slowest. The first step of a recording includes the start of the program or of the profiler, and is almost always slow: where another
 * one is slow as well, that one is explained. */
static void choose_step(struct job_choice *out, const struct job_rank *rank, size_t n)
{
    out->passes_first = out->n_slow > 1 && is_first(rank, n, out->step[out->slowest[0]].name);
    out->at = out->slowest[out->passes_first];
}

bool job_choose(struct job_choice *out, const struct job_rank *rank, size_t n, const struct job_question *q,
                struct arena *mem, struct error *e)
{
    *out = (struct job_choice){ 0 };
    uint32_t only = NO_ROW;
    if (q->has_rank && !find_rank(rank, n, q->rank, &only))
        return error_set(e, FAULT_ASKED, "rank %lld: not among the %zu ranks", (long long)q->rank, n);
    const struct job_rank *first = only == NO_ROW ? rank : &rank[only];
    const size_t n_first = only == NO_ROW ? n : 1;
    if (!join_steps(out, first, n_first, mem))
        return error_no_memory(e, "the steps of the job");
    if (out->n == 0) {
        out->at = NO_ROW;
        out->rank = only == NO_ROW ? 0 : only;
        return !q->step || error_set(e, FAULT_ASKED, "step %.60s: %s: no steps were recorded", q->step, rank[0].path);
    }
    if (!q->step)
        choose_step(out, first, n_first);
    for (uint32_t i = 0; q->step && i <= out->n; i++) {
        if (i == out->n)
            return refuse(out, q->step, e);
        if (strcmp(out->step[i].name, q->step) == 0) {
            out->at = i;
            break;
        }
    }
    out->mode = q->step || out->n_slow > 0 || out->n == 1 ? WHY_STEP : WHY_NOTHING;
    if (out->mode == WHY_NOTHING && only == NO_ROW && !job_rank_slow(out, rank, n, mem))
        return error_no_memory(e, "the ranks of the job");
    if (out->mode != WHY_RANK && !choose_rank_of_step(out, first, n_first, mem))
        return error_no_memory(e, "the ranks of the job");
    if (only != NO_ROW) {
        out->rank = only;
        for (size_t i = 0; i < out->n; i++)
            out->step[i].longest = only;
    }
    return true;
}
