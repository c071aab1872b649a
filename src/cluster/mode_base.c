/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/mode_base.h"

#include <string.h>

#include "cluster/cluster_groups.h"
#include "cluster/results_write.h"

/* What a mode writes. */
enum {
    WRITES_GROUPS = 1 << 0, /* CommunicationGroupMapping, communication_group.json */
    WRITES_TIME = 1 << 1,
    WRITES_MATRIX = 1 << 2,
    WRITES_STEPS = 1 << 3, /* and who the ranks are */
};

struct base {
    struct groups groups;
};

static void *begin(struct mode_context *c)
{
    struct base *b = arena_take(c->mem, 1, sizeof *b);
    if (b)
        b->groups = (struct groups){ .names = c->names, .mem = c->mem };
    return b;
}

static bool add(void *state, struct mode_context *c, const struct rank_summary *s, unsigned pass)
{
    struct base *b = state;
    (void)c, (void)pass;
    return groups_add(&b->groups, s);
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

static bool finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    struct base *b = state;
    const unsigned writes = c->mode->variant;
    return !(writes & WRITES_GROUPS) || write_groups(b, c, out, e);
}

enum { COMM = RANK_COMM_TABLES | RANK_COMM_MATRIX };

const struct mode mode_communication_group_map = {
    .name = "communication_group_map",
    .class_name = "CommunicationGroupMap",
    .about = "groups of ranks that communicate, and their names in the job",
    .uses = COMM,
    .n_passes = 1,
    .begin = begin,
    .add = add,
    .finish = finish,
    .variant = WRITES_GROUPS,
};
