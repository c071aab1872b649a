/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <string.h>

#include "base/memory/keys.h"
#include "base/files/out.h"
#include "base/text/stamp.h"

/* ---- dataset ---------------------------------------------------------------------------------------------------- */

/* The ranges of one dataset node, stage and information, added up. */
struct ms_tables_stage {
    name_id node, stage, info;
    uint64_t n;
    int64_t sum_ns;
};

struct ms_tables_stages {
    LIST(struct ms_tables_stage) at;
    const char **info; /* of each, as the table shows it */
};

/* Writes a text like Python's repr(). */
static void put_quoted(struct out *o, const char *text, size_t len)
{
    const char quote = memchr(text, '\'', len) && !memchr(text, '"', len) ? '"' : '\'';
    out_char(o, quote);
    for (size_t i = 0; i < len; i++) {
        static const char plain[] = "\\\n\r\t", letter[] = "\\nrt";
        const char *special = text[i] ? strchr(plain, text[i]) : NULL;
        if (special || text[i] == quote)
            out_char(o, '\\');
        out_char(o, special ? letter[special - plain] : text[i]);
    }
    out_char(o, quote);
}

/* Shows "key:value;key:value" as a Python dictionary of the first two pairs; "{}" if there are fewer, as in the
 * reference. */
static const char *dictionary_of(const char *info, struct arena *mem, struct error *e)
{
    const char *key[2], *value[2], *end[2], *at = info;
    size_t n = 0;
    while (*at && n < 2) {
        const char *stop = strchr(at, ';'), *to = stop ? stop : at + strlen(at);
        const char *colon = memchr(at, ':', (size_t)(to - at));
        if (colon) {
            key[n] = at;
            value[n] = colon;
            end[n++] = to;
        }
        at = stop ? stop + 1 : to;
    }
    struct out o;
    if (n < 2)
        return "{}";
    if (!out_open_memory(&o, e))
        return NULL;
    out_char(&o, '{');
    const bool is_same =
        value[0] - key[0] == value[1] - key[1] && memcmp(key[0], key[1], (size_t)(value[0] - key[0])) == 0;
    for (size_t i = is_same; i < 2; i++) { /* of two equal keys the last counts */
        if (i > is_same)
            out_lit(&o, ", ");
        put_quoted(&o, key[i], (size_t)(value[i] - key[i]));
        out_lit(&o, ": ");
        put_quoted(&o, value[i] + 1, (size_t)(end[i] - value[i] - 1));
    }
    out_char(&o, '}');
    const char *text = arena_text(mem, o.buf, o.n);
    out_discard(&o);
    return text;
}

static bool sum_stages(struct ms_tables_stages *s, const struct collection_export *x)
{
    const struct framework *f = x->framework;
    const struct ms_dataset *d = &f->ms.dataset;
    struct keys of_node = { 0 }, of_info = { 0 };
    for (size_t i = 0; i < d->n; i++) {
        const uint32_t first = keys_add(&of_node, (uint64_t)d->node[i] << 32 | d->stage[i], x->mem),
                       place = first == KEYS_NO_MEMORY ? first
                                                       : keys_add(&of_info, (uint64_t)first << 32 | d->info[i], x->mem);
        struct ms_tables_stage *to = place == KEYS_NO_MEMORY ? NULL
                                     : place == s->at.n      ? list_add(&s->at, x->mem)
                                                             : &s->at.at[place];
        if (!to)
            return false;
        *to = (struct ms_tables_stage){ d->node[i], d->stage[i], d->info[i], to->n + 1,
                                        wrap_add(to->sum_ns,
                                                 wrap_sub(f->ops.end_ns[d->op[i]], f->ops.begin_ns[d->op[i]])) };
    }
    return true;
}

CELL_GETTER(stage_node, struct ms_tables_stages, cell_name(r->at.at[i].node))
CELL_GETTER(stage_name, struct ms_tables_stages, cell_name(r->at.at[i].stage))
CELL_GETTER(stage_count, struct ms_tables_stages, cell_uint(r->at.at[i].n))
CELL_GETTER(stage_mean, struct ms_tables_stages,
            cell_real(round_exact((double)r->at.at[i].sum_ns / 1000 / (double)r->at.at[i].n, 2)))
CELL_GETTER(stage_info, struct ms_tables_stages, cell_text(r->info[i]))

bool ms_dataset_table(const struct collection_export *x, struct table *out, struct error *e)
{
    static const struct column column[] = {
        { "Operation", stage_node },      { "Stage", stage_name },       { "Occurrences", stage_count },
        { "Avg. time (us)", stage_mean }, { "Custom Info", stage_info },
    };
    const struct names *names = x->collection->profile.names;
    struct ms_tables_stages *s = arena_take(x->mem, 1, sizeof *s);
    if (!s || !sum_stages(s, x) || !(s->info = arena_take(x->mem, s->at.n, sizeof *s->info)))
        return error_no_memory(e, "dataset");
    for (size_t i = 0; i < s->at.n; i++) {
        const name_id info = s->at.at[i].info;
        s->info[i] = info == NO_NAME || info == NAME_EMPTY ? "" : dictionary_of(names_text(names, info), x->mem, e);
        if (!s->info[i])
            return error_no_memory(e, "dataset");
    }
    *out = (struct table){ .name = "dataset", TABLE_COLUMNS(column), .n_rows = s->at.n, .rows = s, .names = names };
    return true;
}

/* ---- operator_details ------------------------------------------------------------------------------------------- */

CELL_GETTER(shapes_name, struct ms_shapes, cell_name(r->name[i]))
CELL_GETTER(shapes_text, struct ms_shapes, cell_name(r->shapes[i]))

bool ms_operator_details_table(const struct collection_export *x, struct table *out, struct error *e)
{
    static const struct column column[] = { { "Name", shapes_name }, { "Input Shapes", shapes_text } };
    const struct ms_shapes *s = &x->framework->ms.shapes;
    *out = (struct table){ .name = "operator_details",
                           TABLE_COLUMNS(column),
                           .n_rows = s->n,
                           .rows = s,
                           .names = x->collection->profile.names };
    (void)e;
    return true;
}
