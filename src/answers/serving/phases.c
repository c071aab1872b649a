/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/serving/phases.h"

#include <string.h>

#include "analyse/host/host_analysis.h"
#include "base/memory/sort.h"
#include "profile/profile.h"

static const char waiting[] = "waiting for requests";

/* Names of vLLM, SGLang, and of what loops of one's own usually call it. The first row that matches counts. */
static const struct phase_word {
    const char *word, *phase;
} words[] = {
    { "preempt", "preemption" },
    { "swap_out", "preemption" },
    { "swap_in", "preemption" },
    { "evict", "preemption" },
    { "detok", "detokenising" },
    { "tokenizer", "detokenising" },
    { "process_outputs", "detokenising" },
    { "decode_tokens", "detokenising" },
    { "sample", "sampling" },
    { "sampling", "sampling" },
    { "logits_process", "sampling" },
    { "multinomial", "sampling" },
    { "draft", "drafting" },
    { "schedule", "scheduling" },
    { "get_next_batch", "scheduling" },
    { "update_from_output", "handling results" },
    { "process_batch_result", "handling results" },
    { "bookkeep", "handling results" },
    { "record_stats", "handling results" },
    { "get_output", "handling results" },
    { "send_res", "handling results" },
    { "copy_result", "handling results" },
    { "ModelRunnerOutput", "handling results" },
    { "preprocess", "preparing inputs" },
    { "prepare_input", "preparing inputs" },
};

const char *phase_of_name(const char *name)
{
    if (spent_kind_of_name(name) == SPENT_REQUESTS)
        return waiting;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i].word))
            return words[i].phase;
    return NULL;
}

/* ---- spans ------------------------------------------------------------------------------------------------------- */

/* Spans of one layer. */
struct phase_spans {
    const struct rank_spans *v;
    LIST(struct phase_span {
        enum span_kind kind;
        uint32_t row;
        name_id name;
        enum spent_kind as;
    })
    list;
};

static void phase_span_add(struct phase_spans *s, enum span_kind kind, size_t row, enum spent_kind as, name_id name,
                           struct arena *mem)
{
    struct phase_span *new = list_add(&s->list, mem);
    if (new)
        *new = (struct phase_span){ kind, (uint32_t)row, name, as };
}

static bool phase_span_at(const void *context, size_t i, struct spent_span *out)
{
    const struct phase_spans *s = context;
    const struct phase_span *p = &s->list.at[i];
    const struct rank_span x = rank_span(s->v, p->kind, p->row);
    *out = (struct spent_span){ .kind = p->as,
                                .name = p->name,
                                .begin_ns = x.begin_ns,
                                .end_ns = x.end_ns,
                                .place = rank_span_place(s->v, p->kind, p->row) };
    out->place.number = x.track;
    return true;
}

static bool phase_layer(struct step_layers *l, const struct phase_spans *s, bool skips_idle)
{
    struct arena *mem = layers_mem(l);
    const size_t n = s->list.n;
    uint32_t *order = arena_take(mem, n, sizeof *order);
    int64_t *begin_ns = arena_take(mem, n, sizeof *begin_ns), *end_ns = arena_take(mem, n, sizeof *end_ns);
    if (!order || !begin_ns || !end_ns)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct rank_span x = rank_span(s->v, s->list.at[i].kind, s->list.at[i].row);
        begin_ns[i] = x.begin_ns;
        end_ns[i] = x.end_ns;
    }
    order_fill(order, n);
    return nesting_order(order, n, begin_ns, end_ns) &&
           layers_nest(l, &(struct layer_nest){ phase_span_at, s, order, n, skips_idle });
}

/* By name of the recording: the name of its phase + 1; 0: it tells none. */
static name_id *phases_of_names(struct names *names, struct arena *mem)
{
    const size_t n = names_count(names);
    name_id *of = arena_take(mem, n, sizeof *of);
    for (size_t i = 0; of && i < n; i++) {
        const char *phase = phase_of_name(names_text(names, (name_id)i));
        of[i] = phase ? 1 + names_addz(names, phase) : 0;
    }
    return of;
}

static void layer_kinds(struct phase_spans *s, const enum span_kind *kind, size_t n, enum spent_kind as,
                        struct arena *mem)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < s->v->n[kind[k]]; i++)
            phase_span_add(s, kind[k], i, as, as == SPENT_GC ? NAME_EMPTY : rank_span(s->v, kind[k], i).id, mem);
}

/* The device at work, as disjoint times. */
static void layer_busy(struct step_layers *l, const struct rank_spans *v)
{
    for (size_t i = 0; i < v->busy.n; i++)
        layers_take(l, &(struct spent_span){ .kind = SPENT_OPERATOR,
                                             .name = NAME_EMPTY,
                                             .begin_ns = v->busy.begin_ns[i],
                                             .end_ns = v->busy.end_ns[i] });
    layers_next(l);
}

static bool layers_all(struct step_layers *l, const struct rank_spans *v, const name_id *phase, size_t n_names,
                       const struct names *names, bool device_first)
{
    static const enum span_kind gc[] = { SPAN_GC }, calls[] = { SPAN_OPERATOR, SPAN_CALL }, python[] = { SPAN_PYTHON },
                                named[] = { SPAN_RANGE, SPAN_OPERATOR, SPAN_PYTHON };
    struct arena *mem = layers_mem(l);
    struct phase_spans layer[4] = { { .v = v }, { .v = v }, { .v = v }, { .v = v } };
    layer_kinds(&layer[0], gc, 1, SPENT_GC, mem);
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        for (size_t i = 0; i < v->n[named[k]]; i++) {
            const name_id id = rank_span(v, named[k], i).id;
            if (id >= n_names || phase[id] == 0)
                continue;
            const bool waits = strcmp(names_text(names, phase[id] - 1), waiting) == 0;
            phase_span_add(&layer[1], named[k], i, waits ? SPENT_REQUESTS : SPENT_RANGE, phase[id] - 1, mem);
        }
    layer_kinds(&layer[2], calls, 2, SPENT_HOST, mem);
    layer_kinds(&layer[3], python, 1, SPENT_PYTHON, mem);
    if (device_first)
        layer_busy(l, v);
    const bool done = phase_layer(l, &layer[0], false) && phase_layer(l, &layer[1], false);
    if (done && !device_first)
        layer_busy(l, v);
    return done && phase_layer(l, &layer[2], false) && phase_layer(l, &layer[3], true);
}

bool phases_find(struct step_profile **of, const struct rank_spans *v, const int64_t *begin_ns, const int64_t *end_ns,
                 size_t n, bool device_first, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct names *names = v->of.trace ? v->of.trace->names : v->of.profile->names;
    struct step_series s = { .n = n, .n_startup = n }; /* none is usual, all are wanted */
    uint32_t *wanted = spare ? arena_take(spare, n, sizeof *wanted) : NULL;
    const size_t n_names = names_count(names);
    const name_id *phase = wanted ? phases_of_names(names, spare) : NULL;
    bool done = phase && (s.begin_ns = arena_take(spare, n, sizeof *s.begin_ns)) &&
                (s.end_ns = arena_take(spare, n, sizeof *s.end_ns));
    for (size_t i = 0; done && i < n; i++) {
        s.begin_ns[i] = begin_ns[i];
        s.end_ns[i] = end_ns[i];
        wanted[i] = (uint32_t)i;
    }
    struct step_division division;
    struct step_layers *l = done ? layers_begin(&s, names, wanted, n) : NULL;
    done = l && layers_all(l, v, phase, n_names, names, device_first);
    done = layers_finish(l, &division, mem) && done && !names_failed(names);
    *of = done ? division.of : NULL;
    arena_free(spare);
    return done;
}

const char *phase_words(const struct spent *x, struct arena *mem)
{
    switch (x->kind) {
    case SPENT_GC: return "garbage collection";
    case SPENT_OPERATOR: return "the device computes";
    case SPENT_HOST: return arena_printf(mem, "operators and calls: %.200s", x->name);
    case SPENT_PYTHON: return arena_printf(mem, "Python: %.200s", x->name);
    case SPENT_NOTHING: return "nothing recorded of the host";
    default: return x->name;
    }
}
