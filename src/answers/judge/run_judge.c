/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/run_judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/readable.h"
#include "base/process/robust.h"

const char *const slow_shape_keys[SLOW_SHAPES] = {
    [SLOW_ONCE] = "once",     [SLOW_STEPS] = "steps", [SLOW_SINCE] = "since",       [SLOW_DRIFT] = "drift",
    [SLOW_PERIOD] = "period", [SLOW_ALWAYS] = "rank", [SLOW_IN_TURNS] = "in_turns", [SLOW_START_UP] = "start_up",
};

const char *const judged_part_keys[JUDGED_PARTS] = {
    [JUDGED_COMPUTING] = "computing", [JUDGED_EXPOSED] = "communication", [JUDGED_FREE] = "free"
};

/* ---- steps of several ranks ------------------------------------------------------------------------------------ */

/* A step of a rank on its way to its row. */
struct joined_step {
    const struct rank_step *of;
    uint32_t rank, row; /* row: of the step in its rank */
    uint32_t again;     /* how many earlier steps of the rank have its name */
    bool is_number;
    uint64_t number;
    int64_t begin_ns; /* of the first of all that belong together */
};

static int by_step(const struct joined_step *x, const struct joined_step *y)
{
    if (x->is_number != y->is_number)
        return x->is_number ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->of->name, y->of->name);
}

static int by_step_and_rank(const void *a, const void *b)
{
    const struct joined_step *x = a, *y = b;
    const int step = by_step(x, y);
    if (step != 0)
        return step;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : (x->row > y->row) - (x->row < y->row);
}

static int by_step_and_count(const void *a, const void *b)
{
    const struct joined_step *x = a, *y = b;
    const int step = by_step(x, y);
    if (step != 0)
        return step;
    return x->again != y->again ? (x->again < y->again ? -1 : 1) : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Numbers in their order, all others by begin behind them. */
static int by_order(const void *a, const void *b)
{
    const struct joined_step *x = a, *y = b;
    if (!x->is_number && !y->is_number && x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return by_step_and_count(a, b);
}

static size_t end_of_step(const struct joined_step *v, size_t n, size_t from)
{
    size_t end = from;
    while (end < n && by_step(&v[end], &v[from]) == 0 && v[end].again == v[from].again)
        end++;
    return end;
}

/* All steps of all ranks, those that belong together beside each other, in the order of the run. NULL: no memory. */
static struct joined_step *steps_join(const struct judged_rank *rank, size_t n_ranks, size_t *n, struct arena *mem)
{
    size_t most = 0, k = 0;
    for (size_t r = 0; r < n_ranks; r++)
        most += rank[r].n;
    struct joined_step *v = arena_take(mem, most, sizeof *v);
    for (uint32_t r = 0; v && r < n_ranks; r++)
        for (uint32_t i = 0; i < rank[r].n; i++) {
            const struct rank_step *s = &rank[r].step[i];
            char *end;
            const uint64_t number = strtoull(s->name, &end, 10);
            const bool is_number = *s->name && !*end;
            v[k++] = (struct joined_step){ s, r, i, 0, is_number, is_number ? number : 0, s->begin_ns };
        }
    *n = k;
    if (!v || k == 0)
        return v;
    qsort(v, k, sizeof *v, by_step_and_rank);
    for (size_t i = 1; i < k; i++)
        if (by_step(&v[i], &v[i - 1]) == 0 && v[i].rank == v[i - 1].rank)
            v[i].again = v[i - 1].again + 1;
    qsort(v, k, sizeof *v, by_step_and_count);
    for (size_t from = 0, end; from < k; from = end) {
        end = end_of_step(v, k, from);
        for (size_t i = from; i < end; i++)
            v[i].begin_ns = v[from].of->begin_ns;
    }
    qsort(v, k, sizeof *v, by_order);
    return v;
}

bool run_judge(struct judged_run *out, const struct judged_rank *rank, size_t n, const char *word, bool is_host,
               struct arena *mem)
{
    struct arena *spare = arena_new();
    size_t n_joined = 0;
    struct joined_step *v = spare ? steps_join(rank, n, &n_joined, spare) : NULL;
    *out = (struct judged_run){ .n_ranks = n, .rank = rank, .word = word, .is_host = is_host };
    for (size_t from = 0; v && from < n_joined; from = end_of_step(v, n_joined, from))
        out->n++;
    const size_t n_cells = n * out->n;
    out->step = arena_take(mem, out->n, sizeof *out->step);
    out->at = arena_take(mem, n_cells, sizeof *out->at);
    int64_t *time_ns = spare ? arena_take(spare, n_cells, sizeof *time_ns) : NULL, *own_ns = NULL,
            *part_ns[JUDGED_PARTS] = { 0 };
    uint32_t *peers = spare ? arena_take(spare, n, sizeof *peers) : NULL;
    bool *is_catch_up = spare ? arena_take(spare, n_cells, sizeof *is_catch_up) : NULL;
    uint32_t *class_of = spare ? arena_take(spare, out->n, sizeof *class_of) : NULL;
    double *size = spare ? arena_take(spare, out->n, sizeof *size) : NULL;
    out->iteration = arena_take(mem, out->n, sizeof *out->iteration);
    bool done = class_of && size && out->iteration && v && out->step && out->at && time_ns && peers && is_catch_up;
    done = done && (own_ns = arena_take(spare, n_cells, sizeof *own_ns));
    for (int p = 0; done && p < JUDGED_PARTS; p++)
        done = (part_ns[p] = arena_take(spare, n_cells, sizeof *part_ns[p])) != NULL;
    for (size_t i = 0; done && i < n_cells; i++)
        time_ns[i] = -1;
    for (uint32_t r = 0; done && r < n; r++)
        peers[r] = rank[r].peers;
    for (size_t from = 0, end, row = 0; done && from < n_joined; from = end, row++) {
        end = end_of_step(v, n_joined, from);
        out->step[row] = v[from].of->name;
        for (size_t i = from; i < end; i++) {
            const struct rank_step *s = v[i].of;
            const size_t at = v[i].rank * out->n + row;
            out->at[at] = s;
            time_ns[at] = s->time_ns;
            is_catch_up[at] = s->is_catch_up;
            if (out->iteration[row].class_of == ITERATION_OTHER)
                out->iteration[row] = s->iteration;
            own_ns[at] = rank_step_own_ns(s);
            for (int p = 0; p < JUDGED_PARTS; p++)
                part_ns[p][at] = s->part_ns[p];
        }
    }
    const int64_t *const part[JUDGED_PARTS] = { part_ns[0], part_ns[1], part_ns[2] };
    const bool has_classes = done && iterations_sort(out->iteration, out->n, class_of, size);
    out->iteration = has_classes ? out->iteration : NULL;
    const struct judge_table table = { .n_steps = out->n,
                                       .n_ranks = n,
                                       .time_ns = time_ns,
                                       .own_ns = n > 1 ? own_ns : NULL,
                                       .is_catch_up = is_catch_up,
                                       .n_parts = JUDGED_PARTS,
                                       .part_ns = part,
                                       .waiting_parts = 1u << JUDGED_EXPOSED,
                                       .steady_parts = is_host ? 0 : 1u << JUDGED_COMPUTING,
                                       .peers = peers,
                                       .class_of = has_classes ? class_of : NULL,
                                       .size = has_classes ? size : NULL };
    done = done && judge(&out->of, &table, mem);
    arena_free(spare);
    return done && !arena_failed(mem);
}

struct rank_step *rank_steps_of(const struct step_series *s, const struct names *names, struct arena *mem)
{
    const size_t n = s->is_whole ? 0 : s->n;
    struct rank_step *step = arena_take(mem, n, sizeof *step);
    for (size_t i = 0; step && i < n; i++) {
        const char *name = names_text(names, s->name[i]);
        step[i] = (struct rank_step){
            .name = arena_text(mem, name, strlen(name)),
            .begin_ns = s->begin_ns[i],
            .time_ns = step_judged_ns(s, i),
            .part_ns = { [JUDGED_COMPUTING] = s->part_ns[STEP_COMPUTING][i] + s->part_ns[STEP_OVERLAPPED][i],
                         [JUDGED_EXPOSED] = s->part_ns[STEP_COMMUNICATION][i],
                         [JUDGED_FREE] = step_judged_free_ns(s, i) },
            .is_catch_up = s->is_catch_up[i],
            .iteration = s->iteration ? s->iteration[i] : (struct iteration){ 0 },
        };
    }
    return step && !arena_failed(mem) ? step : NULL;
}

bool run_judge_series(struct judged_run *out, const struct step_series *s, const struct names *names, struct arena *mem)
{
    struct judged_rank *rank = arena_take(mem, 1, sizeof *rank);
    if (!rank || !(rank->step = rank_steps_of(s, names, mem)))
        return false;
    rank->name = "";
    rank->n = s->is_whole ? 0 : s->n;
    return run_judge(out, rank, 1, s->has_model ? "iteration" : "step", s->is_host, mem);
}

size_t run_findings(const struct judged_run *r)
{
    size_t n = r->of.n;
    while (n > 0 && r->of.at[n - 1].shape == SLOW_START_UP)
        n--;
    return n;
}

const char *run_finding_class(const struct judged_run *r, const struct slow *f)
{
    return r->iteration && f->shape <= SLOW_PERIOD ? iteration_class_keys[r->iteration[f->first].class_of] : NULL;
}

/* Steps of another class may be between those of a finding. */
static bool is_of_class(const struct judged_run *r, const struct slow *f, uint32_t row)
{
    return !r->iteration || (f->shape > SLOW_SINCE && f->shape != SLOW_PERIOD) ||
           r->iteration[row].class_of == r->iteration[f->first].class_of;
}

/* What the steps of a finding would usually take: of their class and size, where steps have these. */
static double usual_of(const struct judged_run *r, const struct slow *f)
{
    double sum_ns = 0;
    size_t n = 0;
    if (!r->iteration || f->shape > SLOW_PERIOD || f->shape == SLOW_DRIFT)
        return r->of.usual_ns;
    for (uint32_t i = f->first; i <= f->last; i += f->shape == SLOW_PERIOD ? f->period : 1) {
        int64_t time_ns = -1;
        for (size_t k = 0; k < r->n_ranks && is_of_class(r, f, i); k++) {
            const struct rank_step *s = r->at[k * r->n + i];
            time_ns = s && s->time_ns > time_ns ? s->time_ns : time_ns;
        }
        sum_ns += time_ns >= 0 ? (double)time_ns : 0;
        n += time_ns >= 0;
    }
    const double usual_ns = n > 0 ? sum_ns / (double)n - f->excess_ns : 0;
    return usual_ns > 0 ? usual_ns : 0;
}

size_t run_finding_rows(const struct judged_run *r, uint32_t rank, const struct slow *f, uint32_t *row, size_t most)
{
    const uint32_t first = f->shape == SLOW_DRIFT ? f->first + (f->last - f->first + 1) / 2 : f->first;
    size_t n = 0;
    for (uint32_t i = first; i <= f->last && n < most; i += f->shape == SLOW_PERIOD ? f->period : 1) {
        const struct rank_step *s = r->at[rank * r->n + i];
        if (s && is_of_class(r, f, i))
            row[n++] = (uint32_t)(s - r->rank[rank].step);
    }
    return n;
}

unsigned run_finding_without(const struct slow *f)
{
    const unsigned computing = 1u << SPENT_OPERATOR, communication = 1u << SPENT_WAIT | 1u << SPENT_TRANSFER;
    return f->shape != SLOW_DRIFT        ? 0
           : f->part == JUDGED_COMPUTING ? ~computing
           : f->part == JUDGED_EXPOSED   ? ~communication
           : f->part == JUDGED_FREE      ? computing | communication
                                         : 0;
}

/* ---- sentences ------------------------------------------------------------------------------------------------- */

static const char *part_words(const struct judged_run *r, uint32_t part)
{
    static const char *const of_device[JUDGED_PARTS] = { ", most of it computing",
                                                         ", most of it communication that nothing overlaps",
                                                         ", most of it time in which the device has nothing to do" };
    static const char *const of_host[JUDGED_PARTS] = { ", most of it in operators", ", most of it communication",
                                                       ", most of it outside operators" };
    return part >= JUDGED_PARTS ? "" : r->is_host ? of_host[part] : of_device[part];
}

static const char *ordinal(uint32_t n)
{
    const uint32_t tens = n % 100;
    return tens >= 11 && tens <= 13 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

/* " (decode, 8 requests)" behind a single step, " (decode)" behind several; nothing if steps have no class. */
static const char *iteration_words(const struct judged_run *r, const struct slow *f, struct arena *mem)
{
    if (!r->iteration || f->shape == SLOW_START_UP)
        return "";
    const struct iteration *x = &r->iteration[f->first];
    const unsigned long long requests = f->first == f->last ? x->requests : 0,
                             tokens = f->first == f->last && x->tokens != x->requests ? x->tokens : 0;
    const char *of_requests =
        requests > 0 ? arena_printf(mem, ", %llu request%s", requests, requests == 1 ? "" : "s") : "";
    const char *of_tokens = tokens > 0 ? arena_printf(mem, ", %llu token%s", tokens, tokens == 1 ? "" : "s") : "";
    return of_requests && of_tokens
               ? arena_printf(mem, " (%s%s%s)", iteration_class_keys[x->class_of], of_requests, of_tokens)
               : NULL;
}

const char *run_finding_where(const struct judged_run *r, const struct slow *f, struct arena *mem)
{
    const char *first = r->step[f->first], *last = r->step[f->last], *w = r->word;
    const char *kind = iteration_words(r, f, mem);
    if (!kind)
        return NULL;
    switch (f->shape) {
    case SLOW_ONCE: return arena_printf(mem, "%s %.80s%s", w, first, kind);
    case SLOW_START_UP:
    case SLOW_STEPS:
        return f->first == f->last ? arena_printf(mem, "%s %.80s%s", w, first, kind)
                                   : arena_printf(mem, "%ss %.80s to %.80s%s", w, first, last, kind);
    case SLOW_SINCE: return arena_printf(mem, "since %s %.80s%s each %s", w, first, kind, w);
    case SLOW_PERIOD:
        return arena_printf(mem, "every %u%s %s from %.80s%s on", f->period, ordinal(f->period), w, first, kind);
    default: return arena_printf(mem, "each %s", w);
    }
}

/* The rank without waiting, beside the one in the middle of its peers: medians over the steps that the judge compared. */
static double own_median_ns(const struct judged_run *r, uint32_t rank, double *scratch)
{
    size_t n = 0;
    for (size_t i = r->of.n_startup; i < r->n; i++)
        if (r->at[rank * r->n + i])
            scratch[n++] = (double)rank_step_own_ns(r->at[rank * r->n + i]);
    return lower_median(scratch, n);
}

static const char *rank_text(const struct judged_run *r, const struct slow *f, const char *lost, const char *share,
                             struct arena *mem)
{
    char own[READABLE_MOST], other[READABLE_MOST];
    double *scratch = arena_take(mem, r->n, sizeof *scratch);
    if (!scratch)
        return NULL;
    readable_duration(own, own_median_ns(r, f->rank, scratch));
    readable_duration(other, f->peer == JUDGE_ALL ? 0 : own_median_ns(r, f->peer, scratch));
    /* The only step is named, if it has a name: without steps it is all that was recorded. */
    const char *const only = r->n > 1      ? NULL
                             : *r->step[0] ? arena_printf(mem, " in %s %.80s", r->word, r->step[0])
                                           : "",
                      *const where = only ? only : arena_printf(mem, " in each %s", r->word),
                      *const per = only ? "" : arena_printf(mem, " a %s", r->word);
    if (!where || !per)
        return NULL;
    return arena_printf(mem,
                        "%.200s is slow%s: %s without communication, %.200s %s; the others wait %s%s for it (%s)%s",
                        r->rank[f->rank].name, where, own, f->peer == JUDGE_ALL ? "" : r->rank[f->peer].name, other,
                        lost, per, share, part_words(r, f->part));
}

const char *run_finding_text(const struct judged_run *r, const struct slow *f, struct arena *mem)
{
    char more[READABLE_MOST], lost[READABLE_MOST], usual[READABLE_MOST], share[40];
    const char *where = run_finding_where(r, f, mem), *w = r->word, *part = part_words(r, f->part);
    const char *on = f->rank == JUDGE_ALL || r->n_ranks < 2 || !where
                         ? ""
                         : arena_printf(mem, ", because of %.200s", r->rank[f->rank].name);
    const char *kind = iteration_words(r, f, mem);
    if (!where || !on || !kind)
        return NULL;
    readable_duration(more, f->excess_ns);
    readable_duration(lost, f->lost_ns);
    readable_duration(usual, usual_of(r, f));
    snprintf(share, sizeof share, "%.1f %% of the run", 100 * f->share);
    switch (f->shape) {
    case SLOW_ONCE:
        return arena_printf(mem, "%s is slow, once: %s longer than the usual %s (%s)%s%s", where, more, usual, share,
                            on, part);
    case SLOW_STEPS:
        return arena_printf(mem, "%s are slow: each %s longer than the usual %s, %s in all (%s)%s%s", where, more,
                            usual, lost, share, on, part);
    case SLOW_SINCE:
    case SLOW_PERIOD:
        return arena_printf(mem, "%s takes %s longer than the usual %s, %s in all (%s)%s%s", where, more, usual, lost,
                            share, on, part);
    case SLOW_DRIFT:
        return arena_printf(mem,
                            "each %s takes a little longer than the one before, from %.80s to %.80s%s: %s more in the "
                            "mean, %s in all (%s)%s%s",
                            w, r->step[f->first], r->step[f->last], kind, more, lost, share, on, part);
    case SLOW_ALWAYS: return rank_text(r, f, more, share, mem);
    case SLOW_IN_TURNS:
        return arena_printf(mem,
                            "uneven work: in each %s another rank takes longest, %s longer than the mean of the ranks, "
                            "for which the others wait (%s)",
                            w, more, share);
    default:
        return arena_printf(mem, "start-up: %s at the begin of the recording take%s %s longer in all; left out", where,
                            f->first == f->last ? "s" : "", lost);
    }
}

const char *run_nothing_text(const struct judged_run *r, struct arena *mem)
{
    enum { FEWEST = 3 };
    const char *ranks = r->n_ranks > 1 ? ", and no rank" : "";
    const double noise = r->of.usual_ns > 0 ? 100 * r->of.noise_ns / r->of.usual_ns : 0;
    if (r->n < FEWEST)
        return arena_printf(mem, "of fewer than %d %ss none can be called slow%s", FEWEST, r->word,
                            r->n_ranks > 1 ? ", and no rank is" : "");
    char more[READABLE_MOST];
    const char *single = r->of.single_ns > 0 ? arena_printf(mem, "; one that takes %s longer would be slow",
                                                            readable_duration(more, r->of.single_ns))
                                             : "";
    return single
               ? arena_printf(mem, "no %s is slow%s: what differs is within the noise of the run (%.1f %% of a %s%s)",
                              r->word, ranks, noise, r->word, single)
               : NULL;
}
