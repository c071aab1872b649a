/* SPDX-License-Identifier: Apache-2.0 */
/* mode_pp_chart.c - forward and backward passes of the stages of a pipeline, for a chart. */
#include "cluster/modes.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/json_memory.h"
#include "cluster/modes/mode_parts.h"
#include "cluster/results/recipe.h"
#include "profile/calls.h"

static const struct result_column columns[] = {
    COLUMN("rankId", "INTEGER"),
    COLUMN("name", "TEXT"),
    COLUMN_CSV("startNs", "INTEGER", "startNs"),
    COLUMN_CSV("endNs", "INTEGER", "endNs"),
    COLUMN("type", "INTEGER"),
};
enum { CELLS = sizeof columns / sizeof *columns, MOST_STAGES = 1 << 16, MOST_BATCHES = 1 << 20 };
static const struct result_table table = {
    .name = "StepTaskInfo", .file = "step_task_info.csv", .column = columns, .n_columns = CELLS
};

struct pp_chart_state {
    struct grid rows; /* of one rank */
    struct table_sink *sink;
    struct p2p_pairs pairs;
    size_t n_other; /* steps whose marks are not those of the schedule */
    const char *bad_schedule;
};

static void *begin(struct mode_context *c)
{
    return arena_take(c->mem, 1, sizeof(struct pp_chart_state));
}

struct pass {
    int64_t begin_ns, end_ns;
    name_id message;
    uint32_t step;
};

static int pp_chart_by_begin(const void *a, const void *b)
{
    const struct pass *const x = a, *const y = b;
    return x->begin_ns != y->begin_ns ? (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns)
                                      : (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* The step that contains a range whole. */
static uint32_t step_around(const struct rank_steps *s, int64_t begin, int64_t end)
{
    for (size_t i = 0; i < s->n && s->begin_ns[i] <= begin; i++)
        if (s->end_ns[i] >= end)
            return (uint32_t)i;
    return NO_ROW;
}

/* Passes by the time of their tasks. NULL: no memory. */
static struct pass *find_passes(const struct mode_context *c, const struct rank_summary *r, size_t *n,
                                struct arena *mem)
{
    const struct summary_marks *const m = &r->marks;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    struct pass *const pass = arena_take(mem, m->marks.n, sizeof *pass);
    *n = 0;
    for (size_t i = 0; pass && i < m->marks.n; i++) {
        const name_id message = m->marks.message[i];
        const bool is_pass = name_contains_any_case(c->names, message, "forward") ||
                             name_contains_any_case(c->names, message, "backward") ||
                             name_contains_any_case(c->names, message, "WeightGradStore_pop");
        if (is_pass && m->device_begin_ns[i] != INT64_MIN && step_has_time(&step, m->marks.begin_ns[i]))
            pass[(*n)++] = (struct pass){ m->device_begin_ns[i], m->device_end_ns[i], message,
                                          step_around(&r->steps, m->marks.begin_ns[i], m->marks.end_ns[i]) };
    }
    if (pass && *n > 0)
        qsort(pass, *n, sizeof *pass, pp_chart_by_begin);
    return pass;
}

static void pp_chart_put(struct pp_chart_state *s, const struct rank_summary *r, const struct pass *p, struct cell name,
                         int type)
{
    grid_row(&s->rows, (const struct cell[CELLS]){ cell_int(r->identity.rank), name, cell_int(p->begin_ns),
                                                   cell_int(p->end_ns), cell_int(type) });
}

static int64_t size_of(const json_t *args, const char *key)
{
    const json_t *const size = json_object_get(args, key);
    return !size ? 1 : json_is_integer(size) ? (int64_t)json_integer_value(size) : 0;
}

/* The schedule of the stage of a rank. False: it has none; or there is no memory. */
static bool schedule_of(struct pp_chart_state *s, const struct rank_summary *r, struct dualpipe *out, struct arena *mem)
{
    const char *const info_text = r->identity.pp_info, *const args_text = r->identity.distributed_args;
    json_error_t why;
    json_t *const info = info_text ? json_read(info_text, strlen(info_text), 0, &why) : NULL;
    json_t *const args = info && args_text ? json_read(args_text, strlen(args_text), 0, &why) : NULL;
    const char *const type = json_string_value(json_object_get(info, "pp_type"));
    const int64_t batches = (int64_t)json_integer_value(json_object_get(info, "microbatch_num"));
    const int64_t stages = size_of(args, "pipeline_model_parallel_size");
    const int64_t width = size_of(args, "tensor_model_parallel_size") * size_of(args, "data_parallel_size");
    bool has_schedule = type && strcasecmp(type, "dualpipev") == 0;
    if (has_schedule && (!args || stages < 1 || stages > MOST_STAGES || width < 1 || batches < 2 * stages ||
                         batches > MOST_BATCHES || r->identity.rank < 0 || r->identity.rank / width >= stages)) {
        s->bad_schedule =
            "pp_info does not fit the stages of the job: a DualPipeV schedule needs twice as many micro-batches as "
            "stages";
        has_schedule = false;
    }
    has_schedule = has_schedule && dualpipe_stage(out, stages, batches, r->identity.rank / width, mem);
    json_decref(info);
    json_decref(args);
    return has_schedule;
}

/* Passes that overlap one before them are no passes of the schedule. */
static size_t drop_overlapping(struct pass *pass, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || pass[i].begin_ns >= pass[kept - 1].end_ns)
            pass[kept++] = pass[i];
    return kept;
}

static void put_scheduled(struct pp_chart_state *s, const struct rank_summary *r, struct pass *pass, size_t n,
                          const struct dualpipe *d)
{
    n = drop_overlapping(pass, n);
    for (size_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && pass[end].step == pass[from].step;)
            end++;
        if (pass[from].step == NO_ROW && r->steps.n > 0)
            continue;
        const bool fits = end - from == d->passes.n;
        s->n_other += !fits;
        for (size_t i = from; i < end; i++) {
            const struct dualpipe_pass *const p = fits ? &d->passes.at[i - from] : NULL;
            const char *const name = p ? arena_text(s->rows.mem, p->name, strlen(p->name)) : "";
            if (name)
                pp_chart_put(s, r, &pass[i], cell_text(name), p ? p->phase : 0);
        }
    }
}

static bool pp_chart_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct pp_chart_state *const s = state;
    struct arena *const scratch = c->scratch;
    struct dualpipe schedule = { 0 };
    s->rows = (struct grid){ .n_columns = CELLS, .mem = scratch };
    size_t n = 0;
    struct pass *const pass = find_passes(c, r, &n, scratch);
    if (pass && schedule_of(s, r, &schedule, scratch))
        put_scheduled(s, r, pass, n, &schedule);
    else
        for (size_t i = 0; pass && i < n; i++) {
            const bool is_forward = name_contains_any_case(c->names, pass[i].message, "forward");
            pp_chart_put(s, r, &pass[i], cell_text(is_forward ? "FP" : "BP"), !is_forward);
        }
    return pass && !arena_failed(scratch) && !json_memory_failed() && recipe_stream(&s->sink, c, &table, &s->rows) &&
           p2p_pairs_add(&s->pairs, c, r);
}

static bool pp_chart_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct pp_chart_state *const s = state;
    bool works = true;
    if (s->bad_schedule)
        works = works && results_note(out, "pp_chart: %s; passes are named FP and BP", s->bad_schedule);
    if (s->n_other > 0)
        works =
            works &&
            results_note(
                out,
                "pp_chart: %zu steps of ranks have not the number of passes of their schedule; their passes have no "
                "names",
                s->n_other);
    return works || error_no_memory(e, c->mode->name);
}

const struct mode mode_pp_chart = {
    .name = "pp_chart",
    .class_name = "PPChart",
    .about = "passes of the stages of a pipeline",
    .needs = RANK_MARKS,
    .uses = RANK_STEPS | RANK_TASKS | RANK_CALLS | RANK_COLLECTIVES,
    .begin = begin,
    .add = pp_chart_add,
    .finish = pp_chart_finish,
    .streams = true,
};
