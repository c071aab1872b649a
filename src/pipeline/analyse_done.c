/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/analyse_done.h"

#include <string.h>

#include "base/files/out.h"

const char ANALYSE_RESULTS[] = "ASCEND_PROFILER_OUTPUT";
const char ANALYSE_DONE[] = "analyse.done";

static void analyse_done_put_text(struct out *o, const char *text)
{
    if (text)
        out_json(o, text, strlen(text));
    else
        out_lit(o, "null");
}

static void put_next(struct out *o, bool is_first)
{
    if (!is_first)
        out_char(o, ',');
    out_lit(o, "\n    ");
}

static void put_files(struct out *o, const struct account *a)
{
    out_lit(o, "  \"files\": [");
    for (size_t i = 0; i < a->files.n; i++) {
        const struct written *f = &a->files.at[i];
        const char *slash = strrchr(f->path, '/');
        put_next(o, i == 0);
        out_lit(o, "{\"name\": ");
        analyse_done_put_text(o, slash ? slash + 1 : f->path);
        out_lit(o, ", \"rows\": ");
        out_u64(o, f->n_rows);
        out_lit(o, ", \"bytes\": ");
        out_u64(o, f->n_bytes);
        out_char(o, '}');
    }
    out_lit(o, "\n  ],\n");
}

static void put_losses(struct out *o, const struct losses *lost)
{
    bool is_first = true;
    out_lit(o, "  \"losses\": [");
    for (int why = 0; why < LOSS_KINDS; why++) {
        if (lost->by[why].n == 0)
            continue;
        put_next(o, is_first);
        is_first = false;
        out_lit(o, "{\"reason\": ");
        analyse_done_put_text(o, loss_key((enum loss)why));
        if (loss_is_damage((enum loss)why))
            out_lit(o, ", \"damage\": true");
        else
            out_lit(o, ", \"damage\": false");
        out_lit(o, ", \"count\": ");
        out_u64(o, lost->by[why].n);
        out_lit(o, ", \"first\": ");
        analyse_done_put_text(o, lost->by[why].file);
        out_char(o, '}');
    }
    out_lit(o, "\n  ],\n");
}

static void put_problems(struct out *o, const struct account *a)
{
    out_lit(o, "  \"problems\": [");
    for (size_t i = 0; i < a->problems.n; i++) {
        put_next(o, i == 0);
        analyse_done_put_text(o, a->problems.at[i]); /* null: there was no memory for it */
    }
    out_lit(o, "\n  ],\n  \"problems_without_text\": ");
    out_u64(o, a->n_omitted);
    out_lit(o, ",\n");
}

bool analyse_done_write(const struct collection_result *r, int code_of_losses, const char *dir, struct error *e)
{
    const struct account *a = &r->account;
    const char *path = arena_printf(a->mem, "%s/%s", dir, ANALYSE_DONE);
    struct out o;
    if (!path)
        return error_no_memory(e, dir);
    if (!out_open(&o, path, e))
        return false;
    out_lit(&o, "{\n  \"ascope\": ");
    analyse_done_put_text(&o, ASCOPE_VERSION);
    out_lit(&o, ",\n  \"directory\": ");
    analyse_done_put_text(&o, r->collection.name);
    out_lit(&o, ",\n");
    put_files(&o, a);
    put_losses(&o, &r->collection.lost);
    put_problems(&o, a);
    out_lit(&o, "  \"exit_code\": ");
    out_i64(&o, account_is_lossy(a, &r->collection.lost) ? code_of_losses : 0);
    out_lit(&o, "\n}\n");
    return out_close(&o, e);
}
