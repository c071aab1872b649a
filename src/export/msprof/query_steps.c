/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/query.h"

#include <string.h>

#include "export/msprof/prof_outputs.h"

static int64_t steps_id(const struct source *s)
{
    return s->settings.rank >= 0 ? s->settings.rank : (int64_t)s->device;
}

static void put_key(struct out *o, const char *key)
{
    out_lit(o, ", ");
    out_json(o, key, strlen(key));
    out_lit(o, ": ");
}

/* Microseconds; of what was not recorded the reference says this. */
static void put_duration(struct out *o, const char *key, const struct step_rows *r, uint64_t ticks, bool is_known)
{
    put_key(o, key);
    if (is_known)
        out_fixed(o, step_us(r, ticks), 2);
    else
        out_lit(o, "\"N/A\"");
}

static void put_moment(struct out *o, const char *key, const struct step_rows *r, uint64_t tick)
{
    put_key(o, key);
    if (tick)
        out_us(o, source_device_ns(r->source, tick));
    else
        out_lit(o, "\"N/A\"");
}

static void put_step(struct out *o, const struct step_rows *r, size_t row)
{
    const struct iterations *t = &r->steps->iterations;
    const uint32_t i = r->row[row];
    const uint64_t begin = t->begin[i], end = t->end[i], fp = t->fp[i], bp = t->bp[i];
    out_lit(o, "{\"ID\": ");
    out_i64(o, steps_id(r->source));
    put_key(o, "Model ID");
    out_u64(o, t->model[i]);
    put_key(o, "Iteration ID");
    out_u64(o, t->index[i]);
    put_duration(o, "Iteration Time", r, end - begin, end > begin);
    put_duration(o, "FP to BP Time", r, bp - fp, fp && bp);
    put_duration(o, "Iteration Interval", r, r->data_aug[row], r->data_aug[row]);
    put_duration(o, "Iteration Refresh", r, end - bp, bp);
    put_moment(o, "Iteration Start", r, begin);
    put_moment(o, "FP Start", r, fp);
    put_moment(o, "BP End", r, bp);
    put_moment(o, "Iteration End", r, end);
    out_char(o, '}');
}

bool query_steps_put(const struct profile *p, const struct query_steps *which, struct out *o, size_t *n,
                     struct error *e)
{
    bool done = true;
    for (size_t d = 0; d < p->n_devices && done; d++) {
        const struct device *device = &p->device[d];
        if (which->id >= 0 && steps_id(&device->source) != which->id)
            continue;
        const struct export x = { .profile = p, .is_generic = true, .mem = arena_new() };
        struct step_rows rows;
        done = x.mem ? step_rows_make(&x, device, &rows, e) : error_no_memory(e, p->path);
        for (size_t i = 0; done && i < rows.n; i++) {
            const struct iterations *t = &device->steps.iterations;
            if (t->model[rows.row[i]] != which->model ||
                (which->iteration > 0 && t->index[rows.row[i]] != which->iteration))
                continue;
            if ((*n)++ > 0)
                out_lit(o, ", ");
            put_step(o, &rows, i);
        }
        arena_free(x.mem);
    }
    return done;
}
