/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/job_steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

bool job_rank_of(struct job_rank *r, const struct subject *q, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct step_series s;
    struct spread own, communication;
    bool done = spare && subject_series(&s, q, spare);
    int64_t *own_ns = done ? arena_take(spare, s.n, sizeof *own_ns) : NULL;
    struct rank_step *step = own_ns ? arena_take(mem, s.n, sizeof *step) : NULL;
    done = step != NULL;
    for (size_t i = 0; done && i < s.n; i++) {
        const char *name = names_text(q->names, s.name[i]);
        own_ns[i] = span_ns(s.part_ns[STEP_COMMUNICATION][i], s.time_ns[i]);
        step[i] = (struct rank_step){ arena_text(mem, name, strlen(name)), s.time_ns[i], own_ns[i] };
    }
    done = done && spread_find(&own, own_ns, s.n) && spread_find(&communication, s.part_ns[STEP_COMMUNICATION], s.n);
    if (done) {
        r->has_rank = subject_rank(q, &r->rank);
        r->has_device = q->device != NULL;
        r->device = q->device ? q->device->source.device : 0;
        r->has_model = s.has_model;
        r->n = s.is_whole ? 0 : s.n;
        r->step = step;
        r->median_ns = s.spread.median_ns;
        r->own_median_ns = own.median_ns;
        r->communication_median_ns = communication.median_ns;
    }
    arena_free(spare);
    return done && !arena_failed(mem);
}

/* "10" after "9"; what is no number comes last. */
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

/* The steps of all ranks, each once. */
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

/* The rank whose own time grew most in the step: the others wait for it, if theirs did not. Where no rank's own time grew by a fifth
 * of it, the one that took longest. */
static bool choose_rank_of_step(struct job_choice *out, const struct job_rank *rank, size_t n, struct arena *mem)
{
    enum { LEAST_PART = 5 };
    int64_t *grown_ns = arena_take(mem, n, sizeof *grown_ns), most_own = INT64_MIN, most_time = INT64_MIN;
    const char *name = out->step[out->at].name;
    uint32_t by_own = NO_ROW, by_time = NO_ROW;
    size_t k = 0;
    if (!grown_ns)
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
        grown_ns[k++] = own > 0 ? own : 0;
    }
    struct spread grown;
    if (!spread_find(&grown, grown_ns, k))
        return false;
    const bool is_own = most_own > 0 && most_own >= most_time / LEAST_PART;
    out->rank = is_own ? by_own : by_time;
    const int64_t others_ns = k == 2 ? grown_ns[0] + grown_ns[1] - most_own : grown.median_ns;
    out->is_waited_for = is_own && k > 1 && others_ns < most_own / 2;
    out->waited_ns = out->is_waited_for ? most_own - others_ns : 0;
    return true;
}

/* A rank that takes longer for itself than the others, in all steps. Of two ranks one is slow that takes a tenth longer. */
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
    if (out->n == 0)
        return error_set(
            e, FAULT_FORMAT,
            "%s: no steps were recorded, and there is nothing to compare: step() of a profiler with a schedule marks them; "
            "ascope view shows what takes time",
            rank[0].path);
    out->at = out->slowest[0];
    for (uint32_t i = 0; q->step && i <= out->n; i++) {
        if (i == out->n)
            return refuse(out, q->step, e);
        if (strcmp(out->step[i].name, q->step) == 0) {
            out->at = i;
            break;
        }
    }
    out->mode = q->step || out->n_slow > 0 ? WHY_STEP : WHY_NOTHING;
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
