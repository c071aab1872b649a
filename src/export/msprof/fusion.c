/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/prof_outputs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/files/bytes.h"
#include "base/files/out.h"
#include "export/scope.h"

static const struct column column[] = {
    { "Device_id", NULL },         { "Model Name", NULL },        { "Model ID", NULL },
    { "Fusion Op", NULL },         { "Original Ops", NULL },      { "Memory Input(KB)", NULL },
    { "Memory Output(KB)", NULL }, { "Memory Weight(KB)", NULL }, { "Memory Workspace(KB)", NULL },
    { "Memory Total(KB)", NULL },
};
enum { COLUMNS = sizeof column / sizeof *column, FIRST_SIZE = 5, SIZES = 5 };

/* The names of the original operators, with semicolons between them. */
static name_id originals_of(const struct profile *p, size_t row, struct out *text)
{
    const struct fusions *f = &p->host.records.fusions;
    text->n = 0;
    for (uint32_t i = 0; i < f->count[row]; i++) {
        const name_id name = dictionary_hash(&p->dictionary, le64(f->originals[row] + i * sizeof(uint64_t)));
        if (i > 0)
            out_char(text, ';');
        out_bytes(text, names_text(p->names, name), names_len(p->names, name));
    }
    return names_add(p->names, text->buf, text->n);
}

/* In the newer presentation numbers have the 15 digits with which SQLite prints doubles, as in the reference. */
static struct cell kilobytes(uint64_t bytes, bool is_generic)
{
    const double v = (double)bytes / 1024;
    char text[40];
    snprintf(text, sizeof text, "%.15g", v);
    return cell_real(is_generic ? v : strtod(text, NULL));
}

static void add_rows(const struct export *x, struct grid *g, struct cell device, struct out *text)
{
    const struct profile *p = x->profile;
    const struct fusions *f = &p->host.records.fusions;
    uint64_t model = 0;
    bool has_model = false, has_name = false;
    name_id name = NAME_EMPTY;
    for (size_t i = 0; i < f->n; i++) {
        if (f->call[i] == NO_ROW)
            continue;
        if (!has_model || p->host.calls.item[f->call[i]] != model) {
            model = p->host.calls.item[f->call[i]];
            name = NAME_EMPTY;
            has_name = model_name_find(p, model, &name);
            has_model = true;
        }
        if (x->is_generic && !has_name)
            continue;
        struct cell cell[COLUMNS] = { device, cell_name(name), cell_uint(model),
                                      cell_name(dictionary_hash(&p->dictionary, f->name[i])),
                                      cell_name(originals_of(p, i, text)) };
        for (size_t k = 0; k < SIZES; k++)
            cell[FIRST_SIZE + k] = kilobytes(f->bytes[k][i], x->is_generic);
        grid_row(g, cell);
    }
}

/* The fusions of a model are the same on all devices. The older presentation lists them for each device that ran some
 * of the exported part, the newer one lists them once. */
bool fusion_report(const struct export *x, struct table *out, struct error *e)
{
    const struct profile *p = x->profile;
    struct grid g = { .n_columns = COLUMNS, .mem = x->mem };
    struct out text;
    if (!out_open_memory(&text, e))
        return false;
    if (!x->is_generic || p->n_devices == 0)
        add_rows(x, &g, cell_text("host"), &text);
    else
        for (size_t d = 0; d < p->n_devices; d++)
            if (scope_has_device(x, d))
                add_rows(x, &g, cell_uint(p->device[d].source.device), &text);
    out_discard(&text);
    *out = grid_table(&g, "fusion_op", column, p->names);
    return true;
}
