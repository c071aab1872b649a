/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/serving/request_causes.h"

#include <stdlib.h>
#include <string.h>

#include "answers/run/rank_spans.h"
#include "answers/serving/phases.h"
#include "base/memory/sort.h"
#include "base/process/robust.h"

const char *const request_stage_keys[REQUEST_STAGES] = {
    [STAGE_QUEUE] = "queue",
    [STAGE_PROMPT] = "prompt",
    [STAGE_TOKENS] = "tokens",
    [STAGE_OPEN] = "open",
};

/* A stretch of the request in one step (step: its row), or between two (NO_ROW). */
struct request_piece {
    int64_t begin_ns, end_ns;
    enum request_stage stage;
    uint32_t step;
    bool is_own; /* the step brings a token of this request */
};

struct request_asking {
    const struct request *r;
    const struct step_series *s;
    const struct run_rank *q;
    struct rank_spans spans;
    LIST(struct request_piece) piece;
    LIST(struct request_part) part;
    struct arena *mem, *spare;
};

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

/* The step that a token is of; NO_ROW: none. */
static uint32_t step_of_token(const struct step_series *s, int64_t ns)
{
    const size_t n_begun = SEARCH_FIRST_NOT(i, 0, s->n, s->begin_ns[i] < ns);
    return n_begun > 0 ? (uint32_t)(n_begun - 1) : NO_ROW;
}

static bool piece_add(struct request_asking *x, const struct request_piece *p)
{
    struct request_piece *new = p->begin_ns < p->end_ns ? list_add(&x->piece, x->spare) : NULL;
    if (new)
        *new = *p;
    return new || p->begin_ns >= p->end_ns;
}

/* Cuts an interval where steps begin and end. `own`: the step that brings a token at its end. */
static bool pieces_cut(struct request_asking *x, int64_t begin_ns, int64_t end_ns, enum request_stage stage,
                       uint32_t own)
{
    const struct step_series *s = x->s;
    bool done = true;
    for (size_t i = SEARCH_FIRST_NOT(k, 0, s->n, s->end_ns[k] <= begin_ns);
         done && begin_ns < end_ns && i < s->n && s->begin_ns[i] < end_ns; i++) {
        const int64_t from = s->begin_ns[i] > begin_ns ? s->begin_ns[i] : begin_ns,
                      to = s->end_ns[i] < end_ns ? s->end_ns[i] : end_ns;
        done = piece_add(x, &(struct request_piece){ begin_ns, from, stage, NO_ROW, false }) &&
               piece_add(x, &(struct request_piece){ from, to, stage, (uint32_t)i, i == own });
        begin_ns = to > begin_ns ? to : begin_ns;
    }
    return done && piece_add(x, &(struct request_piece){ begin_ns, end_ns, stage, NO_ROW, false });
}

static bool pieces_find(struct request_asking *x)
{
    const struct request *r = x->r;
    const struct step_series *s = x->s;
    if (r->n_tokens == 0)
        return pieces_cut(x, r->begin_ns, r->end_ns, STAGE_OPEN, NO_ROW);
    int64_t at_ns = r->begin_ns;
    bool done = true;
    if (r->has_begin) {
        const uint32_t prompt = step_of_token(s, r->token_ns[0]);
        int64_t from_ns = prompt == NO_ROW ? r->token_ns[0] : s->begin_ns[prompt];
        from_ns = from_ns > at_ns ? from_ns : at_ns;
        done = pieces_cut(x, at_ns, from_ns, STAGE_QUEUE, NO_ROW) &&
               pieces_cut(x, from_ns, r->token_ns[0], STAGE_PROMPT, prompt);
        at_ns = r->token_ns[0];
    }
    for (size_t i = 0; done && i < r->n_tokens; i++) {
        if (r->token_ns[i] <= at_ns)
            continue;
        done = pieces_cut(x, at_ns, r->token_ns[i], STAGE_TOKENS, step_of_token(s, r->token_ns[i]));
        at_ns = r->token_ns[i];
    }
    return done && pieces_cut(x, at_ns, r->end_ns, STAGE_TOKENS, NO_ROW);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static bool part_add(struct request_asking *x, const struct request_piece *p, const char *what, double ns)
{
    struct request_part *part = NULL;
    if (ns <= 0)
        return what != NULL;
    for (size_t i = 0; what && i < x->part.n && !part; i++)
        if (x->part.at[i].stage == p->stage && strcmp(x->part.at[i].what, what) == 0)
            part = &x->part.at[i];
    if (!part && what && (part = list_add(&x->part, x->spare)))
        *part = (struct request_part){ .stage = p->stage, .what = what };
    if (!part)
        return false;
    part->ns += ns;
    if (ns > part->longest_ns) {
        part->longest_ns = ns;
        part->step = p->step == NO_ROW ? NULL : names_text(x->q->names, x->s->name[p->step]);
    }
    return true;
}

static bool steps_are_like(const struct step_series *s, uint32_t a, uint32_t b, bool by_size)
{
    return !s->iteration || (s->iteration[a].class_of == s->iteration[b].class_of &&
                             (!by_size || iteration_size(&s->iteration[a]) == iteration_size(&s->iteration[b])));
}

/* Steps that one is compared with: as many as there are, without the slow ones; of its size if there are three. */
enum { MOST_LIKE = 256, FEWEST_LIKE = 3 };
static size_t steps_like(const struct step_series *s, uint32_t step, uint32_t *row)
{
    size_t n = 0;
    for (int by_size = 1; by_size >= 0 && n < FEWEST_LIKE; by_size--) {
        n = 0;
        for (uint32_t i = 0; i < s->n && n < MOST_LIKE; i++)
            if (i != step && i >= s->n_startup && !s->is_slow[i] && steps_are_like(s, step, i, by_size))
                row[n++] = i;
    }
    return n;
}

static const char *own_words(const struct request_piece *p)
{
    return p->stage == STAGE_PROMPT ? "computing the prompt" : "computing its tokens";
}

/* Names what a step did longer than those like it: the excess is divided by what grew. */
static bool excess_divide(struct request_asking *x, const struct request_piece *p, double excess_ns,
                          const uint32_t *like, size_t n_like)
{
    const struct step_series *s = x->s;
    int64_t *begin_ns = arena_take(x->spare, n_like + 1, sizeof *begin_ns),
            *end_ns = arena_take(x->spare, n_like + 1, sizeof *end_ns);
    struct step_profile *of;
    size_t n = 0, own = 0;
    if (!begin_ns || !end_ns)
        return false;
    while (own < n_like && like[own] < p->step)
        own++;
    for (; n <= n_like; n++) { /* ascending, with the step itself among them */
        const uint32_t row = n < own ? like[n] : n == own ? p->step : like[n - 1];
        begin_ns[n] = s->begin_ns[row];
        end_ns[n] = s->end_ns[row];
    }
    if (!phases_find(&of, &x->spans, begin_ns, end_ns, n, true, x->spare))
        return false;
    double *more_ns = arena_take(x->spare, of[own].n, sizeof *more_ns), sum_ns = 0;
    for (size_t k = 0; more_ns && k < of[own].n; k++) {
        const struct spent *mine = &of[own].at[k];
        double usual_ns = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t m = 0; i != own && m < of[i].n; m++)
                if (spent_compare(&of[i].at[m], mine) == 0)
                    usual_ns += of[i].at[m].ns / (double)n_like;
        more_ns[k] = mine->ns > usual_ns ? mine->ns - usual_ns : 0;
        sum_ns += more_ns[k];
    }
    bool done = more_ns != NULL;
    for (size_t k = 0; done && sum_ns > 0 && k < of[own].n; k++) {
        const char *words = phase_words(&of[own].at[k], x->mem);
        done = words &&
               part_add(x, p, arena_printf(x->mem, "longer than usual: %s", words), excess_ns * more_ns[k] / sum_ns);
    }
    return done && (sum_ns > 0 || part_add(x, p, "longer than usual", excess_ns));
}

/* A piece of a step that brings a token of the request. */
static bool own_add(struct request_asking *x, const struct request_piece *p)
{
    const double least = 0.1; /* of the usual: less than that is noise */
    uint32_t like[MOST_LIKE];
    double time_ns[MOST_LIKE];
    const size_t n = steps_like(x->s, p->step, like);
    for (size_t i = 0; i < n; i++)
        time_ns[i] = (double)x->s->time_ns[like[i]];
    const double ns = (double)span_ns(p->begin_ns, p->end_ns), usual_ns = middle_of(time_ns, n).median,
                 excess_ns = n >= FEWEST_LIKE && ns > usual_ns * (1 + least) ? ns - usual_ns : 0;
    return part_add(x, p, own_words(p), ns - excess_ns) && (excess_ns == 0 || excess_divide(x, p, excess_ns, like, n));
}

static const char *others_words(const struct request_asking *x, const struct request_piece *p)
{
    const enum iteration_class class_of = x->s->iteration ? x->s->iteration[p->step].class_of : ITERATION_OTHER;
    const bool is_open = p->stage == STAGE_OPEN;
    switch (class_of) {
    case ITERATION_PREFILL: return is_open ? "prompts" : "prompts of other requests";
    case ITERATION_MIXED: return is_open ? "prompts with tokens" : "prompts and tokens of other requests";
    case ITERATION_DECODE: return is_open ? "tokens" : "tokens of other requests";
    case ITERATION_IDLE: return "idle iterations";
    default: return is_open ? "steps" : "steps for other requests";
    }
}

/* The pieces between steps, by phase. */
static bool between_add(struct request_asking *x)
{
    const size_t most = x->piece.n;
    int64_t *begin_ns = arena_take(x->spare, most, sizeof *begin_ns),
            *end_ns = arena_take(x->spare, most, sizeof *end_ns);
    struct step_profile *of;
    size_t n = 0;
    if (!begin_ns || !end_ns)
        return false;
    for (size_t i = 0; i < most; i++)
        if (x->piece.at[i].step == NO_ROW) {
            begin_ns[n] = x->piece.at[i].begin_ns;
            end_ns[n++] = x->piece.at[i].end_ns;
        }
    bool done = phases_find(&of, &x->spans, begin_ns, end_ns, n, false, x->spare);
    n = 0;
    for (size_t i = 0; done && i < most; i++) {
        if (x->piece.at[i].step != NO_ROW)
            continue;
        const struct step_profile *f = &of[n++];
        for (size_t k = 0; done && k < f->n; k++)
            done = part_add(x, &x->piece.at[i], phase_words(&f->at[k], x->mem), f->at[k].ns);
    }
    return done;
}

static int request_parts_order(const void *a, const void *b)
{
    const struct request_part *x = a, *y = b;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->what, y->what);
}

static bool parts_keep(struct request_causes *out, struct request_asking *x)
{
    out->n = x->part.n;
    out->at = arena_take(x->mem, out->n, sizeof *out->at);
    for (size_t i = 0; out->at && i < out->n; i++) {
        const struct request_part *p = &x->part.at[i];
        out->at[i] = *p;
        out->at[i].what = arena_text(x->mem, p->what, strlen(p->what));
        out->at[i].step = p->step ? arena_text(x->mem, p->step, strlen(p->step)) : NULL;
        out->stage_ns[p->stage] += p->ns;
        out->ns += p->ns;
    }
    if (out->at && out->n > 1)
        qsort(out->at, out->n, sizeof *out->at, request_parts_order);
    for (size_t i = 1; i < x->r->n_tokens; i++) {
        const double ns = (double)span_ns(x->r->token_ns[i - 1], x->r->token_ns[i]);
        out->longest_wait_ns = ns > out->longest_wait_ns ? ns : out->longest_wait_ns;
    }
    return out->at && !arena_failed(x->mem);
}

bool request_causes_find(struct request_causes *out, const struct request *r, const struct step_series *s,
                         const struct run_rank *q, struct arena *mem)
{
    const struct step_series none = { 0 };
    struct request_asking x = { .r = r, .s = s->is_whole ? &none : s, .q = q, .mem = mem, .spare = arena_new() };
    *out = (struct request_causes){ 0 };
    bool done = x.spare && rank_spans_find(&x.spans, q, s, x.spare) && pieces_find(&x);
    for (size_t i = 0; done && i < x.piece.n; i++) {
        const struct request_piece *p = &x.piece.at[i];
        if (p->step != NO_ROW)
            done = p->is_own ? own_add(&x, p)
                             : part_add(&x, p, others_words(&x, p), (double)span_ns(p->begin_ns, p->end_ns));
    }
    done = done && between_add(&x) && parts_keep(out, &x);
    arena_free(x.spare);
    return done;
}
