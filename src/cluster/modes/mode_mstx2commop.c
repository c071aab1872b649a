/* SPDX-License-Identifier: Apache-2.0 */
/* mode_mstx2commop.c - communication operators from the ranges that the framework marks around them, for ranks without
 * collectives. */
#include "cluster/modes.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "cluster/results/recipe.h"
#include "base/memory/tuples.h"

/* As COMMUNICATION_OP, with texts instead of ids. */
static const struct result_column columns[] = {
    COLUMN("rankId", "INTEGER"),
    COLUMN("opName", "TEXT"),
    COLUMN_CSV("startNs", "INTEGER", "startNs"),
    COLUMN_CSV("endNs", "INTEGER", "endNs"),
    COLUMN("connectionId", "INTEGER"),
    COLUMN("groupName", "TEXT"),
    COLUMN("opId", "INTEGER"),
    COLUMN("relay", "INTEGER"),
    COLUMN("retry", "INTEGER"),
    COLUMN("dataType", "TEXT"),
    COLUMN("algType", "INTEGER"),
    COLUMN("count", "INTEGER"),
    COLUMN("opType", "TEXT"),
};
enum { CELLS = sizeof columns / sizeof *columns };

struct mstx2commop_state {
    struct grid rows;
    size_t n_with_ops, n_without_task;
};

static void *mstx2commop_begin(struct mode_context *c)
{
    struct mstx2commop_state *s = arena_take(c->mem, 1, sizeof *s);
    if (s)
        s->rows = (struct grid){ .n_columns = CELLS, .mem = c->mem };
    return s;
}

struct message {
    const char *op_type, *group, *data_type; /* lent from the arena */
    int64_t count;
};

/* {"streamId": …, "count": …, "dataType": …, "groupName": …, "opName": …}; quotes may have a backslash in front. */
static bool parse_object(const char *text, struct message *out, struct arena *mem)
{
    char *const plain = arena_text(mem, text, strlen(text));
    size_t n = 0;
    for (const char *at = text; plain && *at; at++)
        if (at[0] != '\\' || at[1] != '"')
            plain[n++] = *at;
    json_error_t why;
    json_t *const object = plain ? json_read(plain, n, 0, &why) : NULL;
    const char *const op = json_string_value(json_object_get(object, "opName"));
    const char *const group = json_string_value(json_object_get(object, "groupName"));
    const char *const type = json_string_value(json_object_get(object, "dataType"));
    const json_t *const count = json_object_get(object, "count");
    const bool works = op && group && type && count && json_object_get(object, "streamId");
    if (works) {
        out->op_type = arena_printf(mem, "%s_", op);
        out->group = arena_text(mem, group, strlen(group));
        out->data_type = arena_text(mem, type, strlen(type));
        out->count = json_is_integer(count) ? (int64_t)json_integer_value(count)
                                            : strtoll(json_is_string(count) ? json_string_value(count) : "0", NULL, 10);
    }
    json_decref(object);
    return works && !arena_failed(mem);
}

/* comm:HcclAllreduce,GROUP,TYPE,COUNT */
static bool parse_line(const char *text, struct message *out, struct arena *mem)
{
    enum { BEFORE = 9 }; /* "comm:Hccl" */
    char *const copy = arena_text(mem, text, strlen(text));
    char *part[4], *at = copy;
    for (size_t i = 0; i < 4; i++) {
        if (!at)
            return false;
        part[i] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = '\0';
    }
    if (at || strncmp(part[0], "comm:", 5) != 0 || strlen(part[0]) <= BEFORE)
        return false;
    *out = (struct message){ arena_printf(mem, "hcom_%s_", part[0] + BEFORE), part[1], part[2],
                             strtoll(part[3], NULL, 10) };
    return out->op_type != NULL;
}

static bool parse(const char *text, struct message *out, struct arena *mem)
{
    return *text == '{' ? parse_object(text, out, mem) : *text == 'c' && parse_line(text, out, mem);
}

/* Marks are ordered by begin: so are the numbers of their operators. */
static bool add_marks(struct mstx2commop_state *s, const struct mode_context *c, const struct rank_summary *r)
{
    struct arena *const scratch = c->scratch;
    const struct summary_marks *const m = &r->marks;
    const struct chosen_step step = step_choose(c->options, &r->steps);
    struct tuples kinds = { 0 };
    LIST(uint32_t) next = { 0 };
    for (size_t i = 0, id = 0; i < m->marks.n; i++) {
        struct message of;
        if (!step_has_time(&step, m->marks.begin_ns[i]) ||
            !parse(names_text(c->names, m->marks.message[i]), &of, scratch))
            continue;
        if (m->device_begin_ns[i] == INT64_MIN) {
            s->n_without_task++;
            continue;
        }
        const name_id group = names_addz(c->names, of.group), type = names_addz(c->names, of.op_type);
        const uint32_t kind = tuple_add(&kinds, (const uint32_t[]){ group, type }, 2, scratch);
        if (kind == KEYS_NO_MEMORY || (kind == next.n && !list_add(&next, scratch)))
            return false;
        const uint64_t number = group_number(of.group, strlen(of.group));
        const char *const name =
            arena_printf(c->mem, "%s_%03u_%u_1", of.op_type, (unsigned)(number % 1000), next.at[kind]++);
        const struct cell row[CELLS] = {
            cell_int(r->identity.rank),
            cell_text(name),
            cell_int(m->device_begin_ns[i]),
            cell_int(m->device_end_ns[i]),
            cell_uint(m->marks.connection[i]),
            cell_name(group),
            cell_uint(id++),
            cell_na(),
            cell_na(),
            cell_name(names_addz(c->names, of.data_type)),
            cell_na(),
            cell_int(of.count),
            cell_name(type),
        };
        if (!name)
            return false;
        grid_row(&s->rows, row);
    }
    return !arena_failed(c->mem) && !arena_failed(scratch) && !json_memory_failed();
}

static bool mstx2commop_add(void *state, struct mode_context *c, const struct rank_summary *r)
{
    struct mstx2commop_state *const s = state;
    if (r->collectives.ops.n > 0) {
        s->n_with_ops++;
        return true;
    }
    return add_marks(s, c, r);
}

static bool mstx2commop_finish(void *state, struct mode_context *c, struct results *out, struct error *e)
{
    const struct mstx2commop_state *const s = state;
    bool works = recipe_table(out, "Mstx2CommOp", "mstx2commop.csv", RECIPE_COLUMNS(columns), &s->rows);
    if (s->n_with_ops > 0)
        works = works && results_note(out, "mstx2commop: %zu ranks have collectives; their marks are not converted",
                                      s->n_with_ops);
    if (s->n_without_task > 0)
        works = works && results_note(out, "mstx2commop: %zu marks of communication have no task and are left out",
                                      s->n_without_task);
    return works || error_no_memory(e, c->mode->name);
}

const struct mode mode_mstx2commop = {
    .name = "mstx2commop",
    .class_name = "Mstx2Commop",
    .about = "communication operators from marks",
    .needs = RANK_MARKS,
    .uses = RANK_STEPS | RANK_TASKS | RANK_COLLECTIVES,
    .begin = mstx2commop_begin,
    .add = mstx2commop_add,
    .finish = mstx2commop_finish,
};
