/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/base_tables.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text/json_memory.h"

static const char *kept(struct arena *mem, const char *text)
{
    return text ? arena_text(mem, text, strlen(text)) : NULL;
}

bool cluster_steps_add(struct cluster_steps *c, const struct rank_summary *s)
{
    const struct rank_step_trace *t = &s->step_trace;
    const struct rank_identity *id = &s->identity;
    for (size_t i = 0; i < t->n; i++) {
        struct step_row *row = list_add(&c->rows, c->mem);
        if (!row)
            return false;
        *row = (struct step_row){ .rank = id->rank, .step = t->step[i] };
        for (size_t k = 0; k < STEP_COLUMNS; k++)
            row->us[k] = t->us[k][i];
    }
    struct rank_row_of *rank = list_add(&c->ranks, c->mem);
    if (!rank)
        return false;
    *rank = (struct rank_row_of){ .rank = id->rank,
                                  .device = id->device,
                                  .has_device = id->has_device,
                                  .host_uid = kept(c->mem, id->host_uid),
                                  .host_name = kept(c->mem, id->host_name),
                                  .path = kept(c->mem, id->path) };
    if (!c->distributed_args)
        c->distributed_args = kept(c->mem, id->distributed_args);
    return !arena_failed(c->mem);
}

static json_t *args_json(const char *text)
{
    json_error_t unused;
    return text ? json_read(text, strlen(text), 0, &unused) : NULL;
}

int64_t world_size(const char *distributed_args)
{
    json_t *args = args_json(distributed_args);
    const json_t *world = json_object_get(args, "world_size");
    const int64_t n = json_is_integer(world) ? json_integer_value(world) : 0;
    json_decref(args);
    return n > 0 ? n : 0;
}

/* Where a rank is in the layout. -1: not in it. */
struct cluster_steps_place {
    int64_t dp, pp, tp;
};

struct cluster_steps_layout {
    bool is_known;
    int64_t tp, pp, dp, cp, world;
};

static bool size_of(const json_t *args, const char *key, int64_t *out)
{
    const json_t *v = json_object_get(args, key);
    if (v && !json_is_integer(v))
        return false;
    *out = v ? json_integer_value(v) : 1;
    *out = *out == 0 ? 1 : *out;
    return *out > 0 && *out <= INT32_MAX;
}

static struct cluster_steps_layout layout_of(const char *text)
{
    struct cluster_steps_layout l = { 0 };
    int64_t ep;
    json_t *args = args_json(text);
    l.is_known = json_is_object(args) && size_of(args, "tensor_model_parallel_size", &l.tp) &&
                 size_of(args, "pipeline_model_parallel_size", &l.pp) && size_of(args, "data_parallel_size", &l.dp) &&
                 size_of(args, "context_parallel_size", &l.cp) && size_of(args, "expert_model_parallel_size", &ep);
    json_decref(args);
    l.world = world_size(text);
    l.is_known = l.is_known && l.dp % ep == 0 && l.tp <= l.world && l.pp <= l.world && l.world == l.tp * l.pp * l.dp;
    return l;
}

/* With context parallelism: in a stage the model groups take every (tp * cp)-th rank each, and are cut into runs of
 * tp. */
static struct cluster_steps_place place_of(const struct cluster_steps_layout *l, int64_t rank)
{
    const struct cluster_steps_place none = { -1, -1, -1 };
    if (!l->is_known || rank < 0 || rank >= l->world)
        return none;
    if (l->cp <= 1)
        return (
            struct cluster_steps_place){ .tp = rank % l->tp, .dp = rank / l->tp % l->dp, .pp = rank / l->tp / l->dp };
    const int64_t per_stage = l->world / l->pp, wide = l->tp * l->cp;
    const int64_t n_groups = per_stage / wide; /* each data parallel group has as many members */
    const int64_t inside = rank % per_stage, k = inside % wide, i = inside / wide, stage = rank / per_stage;
    if (i >= n_groups)
        return none;
    const int64_t at = stage * wide + k; /* in model group i */
    return (struct cluster_steps_place){ .dp = i, .pp = at / l->tp, .tp = at % l->tp };
}

static struct cell place_cell(int64_t at, bool is_known)
{
    return !is_known ? cell_int(0) : at < 0 ? cell_text("NA") : cell_int(at);
}

#define STEP_COLUMN(db, csv)                                                                                           \
    {                                                                                                                  \
        db, "NUMERIC", csv, 0                                                                                          \
    }
static const struct result_column columns[] = {
    { "step", "TEXT", "Step", 0 },
    { "type", "TEXT", "Type", 0 },
    { "index", "TEXT", "Index", 0 },
    STEP_COLUMN("computing", "Computing"),
    STEP_COLUMN("communication_not_overlapped", "Communication(Not Overlapped)"),
    STEP_COLUMN("overlapped", "Overlapped"),
    STEP_COLUMN("communication", "Communication"),
    STEP_COLUMN("free", "Free"),
    STEP_COLUMN("stage", "Stage"),
    STEP_COLUMN("bubble", "Bubble"),
    STEP_COLUMN("communication_not_overlapped_and_exclude_receive",
                "Communication(Not Overlapped and Exclude Receive)"),
    STEP_COLUMN("preparing", "Preparing"),
    { "dp_index", "INTEGER", "DP Index", 0 },
    { "pp_index", "INTEGER", "PP Index", 0 },
    { "tp_index", "INTEGER", "TP Index", 0 },
};
enum { COLUMNS = sizeof columns / sizeof *columns, PLACES = 3 };

/* Maxima of the ranks of a stage in a step. */
struct stage_row {
    name_id step;
    uint32_t stage; /* row of stages; NO_ROW: in none */
    double us[STEP_COLUMNS];
};

struct stage_rows {
    struct keys keys; /* (step, stage) */
    LIST(struct stage_row) list;
};

static bool stage_maxima(const struct cluster_steps *c, const struct stages *stages, struct stage_rows *out)
{
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct step_row *row = &c->rows.at[i];
        const uint32_t stage = stage_of(stages, row->rank);
        const uint32_t at = keys_add(&out->keys, (uint64_t)row->step << 32 | stage, c->mem);
        if (at == KEYS_NO_MEMORY)
            return false;
        const bool is_new = at == out->list.n;
        struct stage_row *to = is_new ? list_add(&out->list, c->mem) : &out->list.at[at];
        if (!to)
            return false;
        to->step = row->step;
        to->stage = stage;
        for (size_t k = 0; k < STEP_COLUMNS; k++)
            to->us[k] = is_new || row->us[k] > to->us[k] ? row->us[k] : to->us[k];
    }
    return true;
}

static struct cell *put_values(struct cell *at, const double us[STEP_COLUMNS])
{
    for (size_t k = 0; k < STEP_COLUMNS; k++)
        *at++ = cell_real(us[k]);
    return at;
}

/* The table for one of both files: they differ in blanks, and the text has no columns for a layout that is unknown. */
static bool steps_table(struct cluster_steps *c, const struct stages *stages, const struct stage_rows *maxima,
                        const struct cluster_steps_layout *layout, bool is_text, struct results *out)
{
    const size_t n = c->rows.n + maxima->list.n, n_columns = is_text && !layout->is_known ? COLUMNS - PLACES : COLUMNS;
    struct cell *grid = arena_take(out->mem, n * COLUMNS + 1, sizeof *grid), *at = grid;
    if (!grid)
        return false;
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct step_row *row = &c->rows.at[i];
        const struct cluster_steps_place place = place_of(layout, row->rank);
        *at++ = cell_name(row->step);
        *at++ = cell_text("rank");
        *at++ = cell_int(row->rank);
        at = put_values(at, row->us);
        const int64_t index[PLACES] = { place.dp, place.pp, place.tp };
        for (size_t k = 0; n_columns == COLUMNS && k < PLACES; k++)
            *at++ = place_cell(index[k], layout->is_known);
    }
    for (size_t i = 0; i < maxima->list.n; i++) {
        const struct stage_row *row = &maxima->list.at[i];
        const char *text = stage_text(stages, row->stage, is_text, out->mem);
        if (!text)
            return false;
        *at++ = cell_name(row->step);
        *at++ = cell_text("stage");
        *at++ = cell_text(text);
        at = put_values(at, row->us);
        for (size_t k = 0; n_columns == COLUMNS && k < PLACES; k++)
            *at++ = cell_text("NA");
    }
    return n == 0 || results_add(out, &(struct result_table){ .name = is_text ? NULL : "ClusterStepTraceTime",
                                                              .file = is_text ? "cluster_step_trace_time.csv" : NULL,
                                                              .column = columns,
                                                              .n_columns = n_columns,
                                                              .n_rows = n,
                                                              .grid = grid });
}

static bool identity_tables(struct cluster_steps *c, struct results *out)
{
    static const struct result_column host[] = { { "hostUid", "TEXT", NULL, 0 }, { "hostName", "TEXT", NULL, 0 } };
    static const struct result_column device[] = { { "rankId", "INTEGER", NULL, 0 },
                                                   { "deviceId", "INTEGER", NULL, 0 },
                                                   { "hostUid", "TEXT", NULL, 0 },
                                                   { "profilePath", "TEXT", NULL, 0 } };
    struct grid hosts = { .n_columns = 2, .mem = out->mem }, devices = { .n_columns = 4, .mem = out->mem };
    struct keys seen = { 0 };
    for (size_t i = 0; i < c->ranks.n; i++) {
        const struct rank_row_of *r = &c->ranks.at[i];
        const struct cell uid = r->host_uid ? cell_text(r->host_uid) : cell_na();
        const struct cell path = r->path ? cell_text(r->path) : cell_na(); /* summaries of earlier releases have none */
        const uint32_t n = (uint32_t)seen.key.n;
        if (r->host_uid && keys_add(&seen, names_addz(c->names, r->host_uid), out->mem) == n)
            grid_row(&hosts, (struct cell[]){ uid, cell_text(r->host_name ? r->host_name : "") });
        if (r->has_device)
            grid_row(&devices, (struct cell[]){ cell_int(r->rank), cell_int(r->device), uid, path });
    }
    const struct result_table host_table = {
        .name = "HostInfo", .column = host, .n_columns = 2, .n_rows = hosts.cells.n / 2, .grid = hosts.cells.at
    };
    const struct result_table device_table = { .name = "RankDeviceMap",
                                               .column = device,
                                               .n_columns = 4,
                                               .n_rows = devices.cells.n / 4,
                                               .grid = devices.cells.at };
    return (hosts.cells.n == 0 || results_add(out, &host_table)) &&
           (devices.cells.n == 0 || results_add(out, &device_table)) && !arena_failed(out->mem);
}

/* What the job noted of its layout, without what is one rank's own. */
static bool base_table(struct cluster_steps *c, struct results *out)
{
    static const struct result_column column[] = { { "key", "TEXT", NULL, 0 }, { "value", "TEXT", NULL, 0 } };
    json_t *args = args_json(c->distributed_args);
    json_object_del(args, "rank");
    char *text = json_is_object(args) ? json_dumps(args, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(16)) : NULL;
    json_decref(args);
    const char *copy = text ? arena_text(out->mem, text, strlen(text)) : NULL;
    struct cell *grid = arena_take(out->mem, 2, sizeof *grid);
    const bool is_there = text != NULL;
    free(text);
    if (json_memory_failed() || !grid || (is_there && !copy))
        return false;
    grid[0] = cell_text("distributed_args");
    grid[1] = cell_text(copy ? copy : "");
    return !copy ||
           results_add(out,
                       &(struct result_table){
                           .name = "ClusterBaseInfo", .column = column, .n_columns = 2, .n_rows = 1, .grid = grid });
}

bool cluster_steps_tables(struct cluster_steps *c, const struct groups *g, struct results *out)
{
    struct stages stages;
    struct stage_rows maxima = { 0 };
    const struct cluster_steps_layout layout = layout_of(c->distributed_args);
    if (!groups_stages(&stages, g, c->mem) || (stages.n > 0 && !stage_maxima(c, &stages, &maxima)))
        return false;
    return steps_table(c, &stages, &maxima, &layout, true, out) &&
           steps_table(c, &stages, &maxima, &layout, false, out) && identity_tables(c, out) && base_table(c, out);
}
