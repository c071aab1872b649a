/* SPDX-License-Identifier: Apache-2.0 */
#include "view/inputs/view_inputs.h"

#include "base/text/stamp.h"

/* Copies a name, without the quotes that shapes have in databases. */
static const char *kept(struct view_input *in, const struct names *names, name_id name)
{
    const char *text = names_text(names, name);
    const size_t len = names_len(names, name);
    const bool is_quoted = len >= 2 && text[0] == '"' && text[len - 1] == '"';
    return name == NAME_NA ? "" : arena_text(in->mem, text + is_quoted, len - 2 * (size_t)is_quoted);
}

static bool keep_row(struct view_input *in, const struct roofline *r, const struct roofline_row *row, const char *run)
{
    struct view_work *to = list_add(&in->work, in->mem);
    if (!to)
        return false;
    *to = (struct view_work){
        .run = run,
        .name = kept(in, r->names, row->key.name),
        .input_shapes = kept(in, r->names, row->key.shapes[0]),
        .input_types = kept(in, r->names, row->key.types[0]),
        .input_formats = kept(in, r->names, row->key.formats[0]),
        .output_shapes = kept(in, r->names, row->key.shapes[1]),
        .numbers = number_kind_text(row->numbers),
        .count = row->count,
        .total_us = row->time_ns / 1000,
        .operations = row->operations,
        .bytes = row->bytes,
        .counted_operations = row->counted_operations,
        .counted_bytes = row->counted_bytes,
        .operations_by = !(row->operations > 0)        ? ""
                         : row->has_counted_operations ? "counters"
                         : row->is_most                ? "shapes, no mask"
                                                       : "shapes",
        .bytes_by = !(row->bytes > 0)        ? ""
                    : row->has_counted_bytes ? "counters"
                                             : "shapes",
        .share = row->share,
        .begin_ns = row->begin_ns,
        .end_ns = row->end_ns,
    };
    return !arena_failed(in->mem);
}

static bool keep_roof(struct view_input *in, const char *run, const char *what, const char *source, double per_s)
{
    struct view_roof *to = per_s > 0 ? list_add(&in->roofs, in->mem) : NULL;
    if (to)
        *to = (struct view_roof){ run, what, source, per_s };
    return to || !(per_s > 0);
}

/* Adds the peak rates for the number types that occur. */
static bool keep_roofs(struct view_input *in, const struct roofline *r, bool is_gpu, const char *run)
{
    bool has[NUMBER_KINDS] = { 0 }, done = true;
    for (size_t i = 0; i < r->rows.n; i++)
        has[r->rows.at[i].numbers] = true;
    for (int i = 0; done && i < NUMBER_KINDS; i++)
        done = !has[i] || keep_roof(in, run, number_kind_text((enum number_kind)i), "device", r->peak_operations[i]);
    return done && keep_roof(in, run, "memory",
                             r->is_observed ? "observed"
                             : is_gpu       ? "device"
                                            : "published",
                             r->peak_bytes);
}

bool view_roofline_keep(struct view_input *in, const struct roofline *r, bool is_gpu, const char *run)
{
    if (r->rows.n == 0)
        return true;
    for (size_t i = 0; i < r->rows.n; i++)
        if (!keep_row(in, r, &r->rows.at[i], run))
            return false;
    in->kernels_us += r->time_ns / 1000;
    in->worked_us += r->known_ns / 1000;
    return keep_roofs(in, r, is_gpu, run);
}

bool view_roofline_load(struct view_input *in, const struct recording *l, const char *run, struct error *e)
{
    struct arena *mem = arena_new();
    struct roofline r;
    const bool is_gpu = l->profile->chip && l->profile->chip->group == ON_CUDA;
    const bool done =
        mem && roofline_find(&r, l->profile, l->collection, mem) && view_roofline_keep(in, &r, is_gpu, run);
    arena_free(mem);
    return done || error_no_memory(e, in->path);
}

void view_roofline_shift(struct view_input *in, const char *run, int64_t shift_ns)
{
    for (size_t i = 0; i < in->work.n; i++)
        if (in->work.at[i].run == run) {
            in->work.at[i].begin_ns = stamp_add(in->work.at[i].begin_ns, shift_ns);
            in->work.at[i].end_ns = stamp_add(in->work.at[i].end_ns, shift_ns);
        }
}
