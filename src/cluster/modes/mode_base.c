/* SPDX-License-Identifier: Apache-2.0 */
/* mode_base.c - steps and communication of all ranks: the modes all, communication_time and communication_matrix, and
 * the recipes that write some of their tables. */
#include "cluster/modes.h"

#include "cluster/results/base_tables.h"
#include "cluster/results/results.h"

/* What a mode writes. */
enum {
    WRITES_GROUPS = 1 << 0, /* CommunicationGroupMapping, communication_group.json */
    WRITES_TIME = 1 << 1,   /* operators of communication */
    WRITES_MATRIX = 1 << 2, /* links */
    WRITES_STEPS = 1 << 3,  /* and who the ranks are */
};

struct base {
    struct groups groups;
    struct cluster_comm comm;
    struct comm_json json;
    struct cluster_matrix matrix;
    struct cluster_steps steps;
};

static void *base_begin(struct mode_context *c)
{
    struct base *b = arena_take(c->mem, 1, sizeof *b);
    if (b)
        *b = (struct base){ .groups = { .names = c->names, .mem = c->mem },
                            .comm = { .writer = c->writer, .class_name = c->mode->class_name },
                            .json = { .names = c->names, .mem = c->mem },
                            .matrix = { .names = c->names, .mem = c->mem },
                            .steps = { .names = c->names, .mem = c->mem } };
    return b;
}

/* Base modes write operators as JSON, recipes as csv; both into the database. */
static bool add_comm(struct base *b, struct mode_context *c, const struct rank_summary *s)
{
    struct comm_totals totals;
    const bool has_json = c->mode->is_base && c->options->wants_text;
    bool done = comm_totals_of(s, &totals, c->scratch);
    if (done && (!c->mode->is_base || c->options->wants_db))
        done = cluster_comm_add(&b->comm, s, &totals, c->e);
    return done && (!has_json || comm_json_add(&b->json, s, &totals));
}

static bool base_add(void *state, struct mode_context *c, const struct rank_summary *s)
{
    struct base *b = state;
    const unsigned writes = c->mode->variant;
    return groups_add(&b->groups, s) && (!(writes & WRITES_STEPS) || cluster_steps_add(&b->steps, s)) &&
           (!(writes & WRITES_TIME) || add_comm(b, c, s)) &&
           (!(writes & WRITES_MATRIX) || cluster_matrix_add(&b->matrix, s));
}

static bool write_groups(struct base *b, struct mode_context *c, struct results *out, struct error *e)
{
    if (b->groups.list.n == 0)
        return true;
    struct out *o = c->mode->is_base ? writer_text(c->writer, "communication_group.json", e) : NULL;
    if (o)
        cluster_groups_json(&b->groups, o);
    return e->fault == FAULT_NONE && cluster_groups_table(&b->groups, out, !c->mode->is_base);
}

static bool write_comm_json(struct base *b, struct mode_context *c, const struct rank_sets *sets, struct error *e)
{
    struct out *o =
        b->json.ranks.n > 0 && b->groups.list.n > 0 ? writer_text(c->writer, "cluster_communication.json", e) : NULL;
    return e->fault == FAULT_NONE && (!o || comm_json_write(&b->json, sets, o));
}

static bool write_matrix(struct base *b, struct mode_context *c, const struct rank_sets *sets, struct results *out,
                         struct error *e)
{
    struct job_links links;
    if (!cluster_matrix_links(&b->matrix, &b->groups, &links))
        return false;
    if (links.n_unmapped > 0 &&
        !results_note(out, "links of %zu operators have an end whose rank is unknown; they are left out",
                      links.n_unmapped))
        return false;
    if ((!c->mode->is_base || c->options->wants_db) && !cluster_matrix_table(&links, c->writer, c->mode->class_name, e))
        return false;
    struct out *o =
        c->mode->is_base && links.n > 0 ? writer_text(c->writer, "cluster_communication_matrix.json", e) : NULL;
    return e->fault == FAULT_NONE && (!o || cluster_matrix_json(&links, sets, o, c->mem));
}

static bool base_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct base *b = state;
    const unsigned writes = c->mode->variant;
    struct rank_sets sets;
    return rank_sets_init(&sets, &b->groups) && (!(writes & WRITES_GROUPS) || write_groups(b, c, out, e)) &&
           (!(writes & WRITES_STEPS) || cluster_steps_tables(&b->steps, &b->groups, out)) &&
           (!(writes & WRITES_TIME) || write_comm_json(b, c, &sets, e)) &&
           (!(writes & WRITES_MATRIX) || write_matrix(b, c, &sets, out, e));
}

#define FUNCTIONS .begin = base_begin, .add = base_add, .finish = base_finish, .streams = true

const struct mode mode_all = {
    .name = "all",
    .about = "steps, communication and links of all ranks",
    .uses = RANK_STEP_TRACE | RANK_COMM_TABLES | RANK_COMM_MATRIX,
    FUNCTIONS,
    .variant = WRITES_GROUPS | WRITES_TIME | WRITES_MATRIX | WRITES_STEPS,
    .is_base = true,
};

const struct mode mode_communication_time = {
    .name = "communication_time",
    .about = "as all, without links",
    .uses = RANK_STEP_TRACE | RANK_COMM_TABLES | RANK_COMM_MATRIX,
    FUNCTIONS,
    .variant = WRITES_GROUPS | WRITES_TIME | WRITES_STEPS,
    .is_base = true,
    .is_part = true,
};

const struct mode mode_communication_matrix = {
    .name = "communication_matrix",
    .about = "as all, without communication operators",
    .uses = RANK_STEP_TRACE | RANK_COMM_TABLES | RANK_COMM_MATRIX,
    FUNCTIONS,
    .variant = WRITES_GROUPS | WRITES_MATRIX | WRITES_STEPS,
    .is_base = true,
    .is_part = true,
};

const struct mode mode_communication_group_map = {
    .name = "communication_group_map",
    .class_name = "CommunicationGroupMap",
    .about = "communication groups, and their names in the job",
    .uses = RANK_COMM_TABLES | RANK_COMM_MATRIX,
    FUNCTIONS,
    .variant = WRITES_GROUPS,
    .is_part = true,
};

const struct mode mode_communication_time_sum = {
    .name = "communication_time_sum",
    .class_name = "CommunicationTimeSum",
    .about = "communication operators of all ranks, and their sums",
    .needs = RANK_COMM_TABLES,
    FUNCTIONS,
    .variant = WRITES_GROUPS | WRITES_TIME,
    .is_part = true,
};

const struct mode mode_communication_matrix_sum = {
    .name = "communication_matrix_sum",
    .class_name = "CommunicationMatrixSum",
    .about = "traffic of each link between two ranks",
    .needs = RANK_COMM_MATRIX,
    FUNCTIONS,
    .variant = WRITES_MATRIX,
    .is_part = true,
};
