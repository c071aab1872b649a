/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view_api.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/stamp.h"

enum {
    MOST_LEVELS = 4096,   /* of one question */
    MOST_BLOCKS = 200000, /* of one answer: far more than a screen has pixels */
    MOST_FOUND = 10000,   /* slices that a search hands over; all are counted */
    NAMES_AT_ONCE = 20000,
    MOST_AREA_ROWS = 500,
};

/* One question, with what all of them need. */
struct question {
    const struct view *view;
    const struct view_input *in; /* ready; NULL where the question is about none */
    const struct view_timeline *t;
    const struct http_request *q;
    struct http_reply *r;
    struct out *o;
};

static void refuse(struct http_reply *r, int status, const char *why)
{
    r->status = status;
    r->type = "text/plain; charset=utf-8";
    r->out->n = 0;
    out_bytes(r->out, why, strlen(why));
}

static void put_key(struct out *o, const char *key)
{
    if (o->n && o->buf[o->n - 1] != '{' && o->buf[o->n - 1] != '[')
        out_char(o, ',');
    out_json(o, key, strlen(key));
    out_char(o, ':');
}
static void put_text(struct out *o, const char *key, const char *text)
{
    put_key(o, key);
    out_json(o, text, strlen(text));
}
static void put_name(struct out *o, const char *key, const struct names *names, name_id id)
{
    put_key(o, key);
    out_json(o, names_text(names, id), names_len(names, id));
}
static void put_int(struct out *o, const char *key, int64_t v)
{
    put_key(o, key);
    out_i64(o, v);
}
static void put_bool(struct out *o, const char *key, bool v)
{
    put_key(o, key);
    out_bytes(o, v ? "true" : "false", v ? 4 : 5);
}
/* Between elements of an array or object that is being written. */
static void put_comma(struct out *o, bool is_first)
{
    if (!is_first)
        out_char(o, ',');
}

static int64_t from_begin(const struct question *a, int64_t ns)
{
    return wrap_sub(ns, a->t->begin_ns);
}

static void answer_about(struct question *a)
{
    static const char *const state[] = { "loading", "ready", "failed" };
    struct out *o = a->o;
    out_char(o, '{');
    put_text(o, "program", "ascope " ASCOPE_VERSION);
    put_key(o, "inputs");
    out_char(o, '[');
    for (size_t i = 0; i < a->view->n_inputs; i++) {
        struct view_input *in = &a->view->input[i];
        const int now = atomic_load(&in->state);
        put_comma(o, i == 0);
        out_char(o, '{');
        put_text(o, "name", in->name);
        put_text(o, "path", in->path);
        put_text(o, "kind", in->kind);
        put_bool(o, "is_simulated", now == VIEW_READY && in->is_simulated);
        put_text(o, "state", state[now]);
        put_int(o, "percent", atomic_load(&in->percent));
        put_text(o, "message", now == VIEW_FAILED ? in->error.text : "");
        out_char(o, '}');
    }
    out_lit(o, "]}");
}

static void put_tracks(struct question *a, uint32_t process)
{
    const struct chrome_trace *t = a->t->trace;
    struct out *o = a->o;
    bool is_first = true;
    for (size_t i = 0; i < t->tracks.n; i++) {
        const uint32_t row = a->t->track_order[i];
        const struct chrome_track *track = &t->tracks.at[row];
        if (track->process != process || !track->n_slices)
            continue;
        put_comma(o, is_first);
        is_first = false;
        out_char(o, '{');
        put_int(o, "id", row);
        put_name(o, "name", t->names, track->name ? track->name : track->id.text);
        put_int(o, "n", (int64_t)track->n_slices);
        put_key(o, "levels");
        out_char(o, '[');
        for (size_t level = a->t->levels.first_level[row]; level < a->t->levels.first_level[row + 1]; level++) {
            put_comma(o, level == a->t->levels.first_level[row]);
            out_u64(o, level);
        }
        out_lit(o, "]}");
    }
}

static void put_counters(struct question *a, uint32_t process)
{
    const struct names *names = a->t->trace->names;
    struct out *o = a->o;
    bool is_first = true;
    for (size_t i = 0; i < a->t->n_counters; i++) {
        const struct view_counter *c = &a->t->counter[i];
        if (c->process != process)
            continue;
        put_comma(o, is_first);
        is_first = false;
        out_char(o, '{');
        put_int(o, "id", (int64_t)i);
        put_name(o, "name", names, c->name);
        put_name(o, "unit", names, c->series);
        out_char(o, '}');
    }
}

static void answer_rows(struct question *a)
{
    const struct chrome_trace *t = a->t->trace;
    struct out *o = a->o;
    out_lit(o, "{\"base_ns\":\"");
    out_i64(o, a->t->begin_ns);
    out_char(o, '"');
    put_int(o, "end", from_begin(a, a->t->end_ns));
    put_int(o, "shown_begin", from_begin(a, a->t->shown_begin_ns));
    put_int(o, "shown_end", from_begin(a, a->t->shown_end_ns));
    put_int(o, "n_slices", (int64_t)t->slices.n);
    put_int(o, "n_names", (int64_t)names_count(t->names));
    put_key(o, "processes");
    out_char(o, '[');
    for (size_t i = 0; i < t->processes.n; i++) {
        const uint32_t row = a->t->process_order[i];
        const struct chrome_process *p = &t->processes.at[row];
        put_comma(o, i == 0);
        out_char(o, '{');
        put_name(o, "name", t->names, p->name ? p->name : p->id.text);
        put_name(o, "label", t->names, p->labels);
        put_key(o, "tracks");
        out_char(o, '[');
        put_tracks(a, row);
        out_lit(o, "]");
        put_key(o, "counters");
        out_char(o, '[');
        put_counters(a, row);
        out_lit(o, "]}");
    }
    out_lit(o, "]}");
}

static void answer_names(struct question *a)
{
    const struct names *names = a->t->trace->names;
    int64_t from = 0;
    if (!http_parameter_i64(a->q, "from", &from) || from < 0)
        return refuse(a->r, 400, "from: wanted a number from 0 up");
    out_char(a->o, '[');
    for (size_t i = (size_t)from; i < names_count(names) && i < (size_t)from + NAMES_AT_ONCE; i++) {
        put_comma(a->o, i == (size_t)from);
        out_json(a->o, names_text(names, (name_id)i), names_len(names, (name_id)i));
    }
    out_char(a->o, ']');
}

/* The range of a question, in ns of the trace. */
static bool read_range(struct question *a, int64_t *begin_ns, int64_t *end_ns)
{
    int64_t t0, t1;
    if (!http_parameter_i64(a->q, "t0", &t0) || !http_parameter_i64(a->q, "t1", &t1) || t1 < t0) {
        refuse(a->r, 400, "t0, t1: wanted two numbers, the second not below the first");
        return false;
    }
    *begin_ns = stamp_add(a->t->begin_ns, stamp_held(t0));
    *end_ns = stamp_add(a->t->begin_ns, stamp_held(t1));
    return true;
}

/* "3,4,17": levels that exist. */
static bool read_levels(struct question *a, uint32_t *level, size_t *n)
{
    char *text = malloc(HTTP_REQUEST_BYTES);
    bool is_good = text && http_parameter(a->q, "levels", text, HTTP_REQUEST_BYTES);
    *n = 0;
    for (char *at = text; is_good && *at;) {
        char *end = at;
        const unsigned long v = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : ULONG_MAX;
        is_good = v < a->t->levels.n && *n < MOST_LEVELS && (*end == ',' || !*end);
        if (is_good) {
            level[(*n)++] = (uint32_t)v;
            at = *end ? end + 1 : end;
        }
    }
    free(text);
    if (!is_good)
        refuse(a->r, 400, "levels: wanted numbers of levels, with commas between them");
    return is_good;
}

static void put_u32(struct out *o, uint32_t v)
{
    const unsigned char bytes[] = { (unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                                    (unsigned char)(v >> 24) };
    out_short(o, bytes, sizeof bytes);
}
static void put_f32(struct out *o, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_u32(o, bits);
}
static void put_f64(struct out *o, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_u32(o, (uint32_t)bits);
    put_u32(o, (uint32_t)(bits >> 32));
}

static float busy_share(const struct block *b)
{
    const int64_t ns = b->end_ns - b->begin_ns;
    return ns > 0 ? (float)((double)b->busy_ns / (double)ns) : 1.0f;
}

static void put_blocks(struct question *a, const struct block *b, size_t n)
{
    struct out *o = a->o;
    for (size_t i = 0; i < n; i++)
        put_f64(o, (double)from_begin(a, b[i].begin_ns));
    for (size_t i = 0; i < n; i++)
        put_f64(o, (double)(b[i].end_ns - b[i].begin_ns));
    for (size_t i = 0; i < n; i++)
        put_u32(o, b[i].slice);
    for (size_t i = 0; i < n; i++)
        put_u32(o, b[i].n);
    for (size_t i = 0; i < n; i++)
        put_u32(o, a->t->trace->slices.name[b[i].slice]);
    for (size_t i = 0; i < n; i++)
        put_f32(o, busy_share(&b[i]));
}

static void answer_slices(struct question *a)
{
    uint32_t *level = malloc(MOST_LEVELS * sizeof *level);
    struct block *block = malloc(MOST_BLOCKS * sizeof *block);
    int64_t begin_ns, end_ns, least_ns = 0;
    size_t n_levels, n = 0;
    if (!level || !block) {
        refuse(a->r, 503, no_memory_text());
    } else if (!http_parameter_i64(a->q, "least", &least_ns) || least_ns < 0) {
        refuse(a->r, 400, "least: wanted a number from 0 up");
    } else if (read_range(a, &begin_ns, &end_ns) && read_levels(a, level, &n_levels)) {
        a->r->type = "application/octet-stream";
        put_u32(a->o, 0x31565341); /* "ASV1" */
        put_u32(a->o, (uint32_t)n_levels);
        for (size_t i = 0; i < n_levels; i++) {
            const size_t more =
                level_view(&a->t->levels, level[i], begin_ns, end_ns, least_ns, block + n, MOST_BLOCKS - n);
            put_u32(a->o, level[i]);
            put_u32(a->o, (uint32_t)more);
            n += more;
        }
        put_blocks(a, block, n);
    }
    free(level);
    free(block);
}

/* Of each stretch of least_ns the smallest and the largest value, and where it begins. */
static void answer_counter(struct question *a)
{
    int64_t id, begin_ns, end_ns, least_ns = 0;
    if (!http_parameter_i64(a->q, "id", &id) || id < 0 || (uint64_t)id >= a->t->n_counters)
        return refuse(a->r, 400, "id: wanted the number of a counter");
    if (!http_parameter_i64(a->q, "least", &least_ns) || least_ns < 0)
        return refuse(a->r, 400, "least: wanted a number from 0 up");
    if (!read_range(a, &begin_ns, &end_ns))
        return;
    const struct view_counter *c = &a->t->counter[id];
    const int64_t *ns = a->t->counter_ns + c->first;
    const double *value = a->t->counter_value + c->first;
    size_t at = SEARCH_FIRST_NOT(i, 0, c->n, ns[i] <= begin_ns), n = 0;
    at -= at > 0; /* the one that still holds at the begin */
    struct {
        double t, min, max;
    } *out = malloc(MOST_BLOCKS * sizeof *out);
    if (!out)
        return refuse(a->r, 503, no_memory_text());
    while (at < c->n && ns[at] < end_ns && n < MOST_BLOCKS) {
        const int64_t from_ns = ns[at];
        out[n].t = (double)from_begin(a, from_ns);
        out[n].min = out[n].max = value[at];
        for (at++; at < c->n && wrap_sub(ns[at], from_ns) < least_ns; at++) {
            out[n].min = fmin(out[n].min, value[at]);
            out[n].max = fmax(out[n].max, value[at]);
        }
        n++;
    }
    a->r->type = "application/octet-stream";
    put_u32(a->o, 0x31565341);
    put_u32(a->o, (uint32_t)n);
    for (size_t i = 0; i < n; i++)
        put_f64(a->o, out[i].t);
    for (size_t i = 0; i < n; i++)
        put_f64(a->o, out[i].min);
    for (size_t i = 0; i < n; i++)
        put_f64(a->o, out[i].max);
    free(out);
}

static bool read_slice(struct question *a, uint32_t *slice)
{
    int64_t v;
    if (!http_parameter_i64(a->q, "slice", &v) || v < 0 || (uint64_t)v >= a->t->trace->slices.n) {
        refuse(a->r, 400, "slice: wanted the number of a slice");
        return false;
    }
    *slice = (uint32_t)v;
    return true;
}

/* A value as JSON that is valid whatever the file has: texts and numbers as they are, containers as their text. */
static void put_value(struct out *o, struct json_span value, char *scratch)
{
    double number;
    if (!json_is_text(value) && json_double(value, &number) && isfinite(number) &&
        (value.at[0] == '-' || isdigit((unsigned char)value.at[0])))
        return out_real(o, number);
    const size_t n = json_decode(value, scratch);
    out_json(o, scratch, n);
}

static void put_args(struct question *a, uint32_t slice)
{
    const struct json_span args = chrome_slice_args(a->t->trace, slice);
    struct json_scan scan;
    struct json_span key, value;
    char *scratch = malloc(args.len + 1);
    bool is_first = true;
    put_key(a->o, "args");
    out_char(a->o, '{');
    if (scratch && args.at && json_enter(&scan, args.at, args.at + args.len, '{')) {
        scan.repairs = true;
        while (json_next_key(&scan, &key) && json_pass(&scan, &value)) {
            put_comma(a->o, is_first);
            is_first = false;
            const size_t n = json_decode(key, scratch);
            out_json(a->o, scratch, n);
            out_char(a->o, ':');
            put_value(a->o, value, scratch);
        }
    }
    out_char(a->o, '}');
    free(scratch);
}

static void put_flow(struct question *a, uint32_t slice, bool is_source, bool is_first)
{
    const struct chrome_trace *t = a->t->trace;
    size_t level;
    (void)view_position(a->t, slice, &level);
    put_comma(a->o, is_first);
    out_char(a->o, '{');
    put_int(a->o, "slice", slice);
    put_int(a->o, "level", (int64_t)level);
    put_int(a->o, "begin", from_begin(a, t->slices.begin_ns[slice]));
    put_name(a->o, "name", t->names, t->slices.name[slice]);
    put_bool(a->o, "is_source", is_source);
    out_char(a->o, '}');
}

static void put_flows(struct question *a, uint32_t slice)
{
    enum { MOST = 100 };
    const struct view_timeline *t = a->t;
    size_t n = 0;
    put_key(a->o, "flows");
    out_char(a->o, '[');
    for (size_t i = order_first_u32(NULL, t->flows.n, t->flows.from, slice);
         i < t->flows.n && t->flows.from[i] == slice && n < MOST; i++)
        put_flow(a, t->flows.to[i], false, n++ == 0);
    for (size_t i = order_first_u32(t->flow_by_to, t->flows.n, t->flows.to, slice);
         i < t->flows.n && t->flows.to[t->flow_by_to[i]] == slice && n < MOST; i++)
        put_flow(a, t->flows.from[t->flow_by_to[i]], true, n++ == 0);
    out_char(a->o, ']');
}

static void answer_slice(struct question *a)
{
    const struct chrome_trace *t = a->t->trace;
    uint32_t slice;
    size_t level;
    if (!read_slice(a, &slice))
        return;
    (void)view_position(a->t, slice, &level);
    const struct chrome_track *track = &t->tracks.at[t->slices.track[slice]];
    const struct chrome_process *process = &t->processes.at[track->process];
    out_char(a->o, '{');
    put_name(a->o, "name", t->names, t->slices.name[slice]);
    put_name(a->o, "category", t->names, t->slices.category[slice]);
    put_name(a->o, "process", t->names, process->name ? process->name : process->id.text);
    put_name(a->o, "track", t->names, track->name ? track->name : track->id.text);
    put_int(a->o, "level", (int64_t)level);
    put_int(a->o, "begin", from_begin(a, t->slices.begin_ns[slice]));
    put_int(a->o, "dur", t->slices.dur_ns[slice]);
    put_args(a, slice);
    put_flows(a, slice);
    out_char(a->o, '}');
}

static void answer_neighbour(struct question *a)
{
    uint32_t slice;
    int64_t by;
    size_t level;
    if (!read_slice(a, &slice))
        return;
    if (!http_parameter_i64(a->q, "by", &by) || (by != 1 && by != -1))
        return refuse(a->r, 400, "by: wanted 1 or -1");
    const size_t at = view_position(a->t, slice, &level), first = a->t->levels.level[level].first;
    const size_t n = a->t->levels.level[level].n;
    const bool is_there = by > 0 ? at + 1 < first + n : at > first;
    out_lit(a->o, "{\"slice\":");
    if (is_there)
        out_u64(a->o, a->t->levels.slice[by > 0 ? at + 1 : at - 1]);
    else
        out_lit(a->o, "null");
    out_char(a->o, '}');
}

/* Which names contain a text, whatever its case. NULL: no memory. */
static bool *names_with(const struct names *names, const char *text)
{
    const size_t n = names_count(names);
    bool *has = calloc(n ? n : 1, sizeof *has);
    for (size_t i = 0; has && i < n; i++)
        has[i] = strcasestr(names_text(names, (name_id)i), text) != NULL;
    return has;
}

static void answer_search(struct question *a)
{
    const struct chrome_trace *t = a->t->trace;
    char text[256];
    if (!http_parameter(a->q, "q", text, sizeof text) || !text[0])
        return refuse(a->r, 400, "q: wanted a text of at most 255 bytes");
    bool *has = names_with(t->names, text);
    uint32_t *found = malloc(MOST_FOUND * sizeof *found);
    uint64_t *key = malloc(MOST_FOUND * sizeof *key);
    uint32_t *order = malloc(MOST_FOUND * sizeof *order);
    size_t n = 0, kept = 0;
    const size_t len = strlen(text);
    for (size_t i = 0; has && found && key && order && i < t->slices.n; i++) {
        if (!has[t->slices.name[i]] &&
            !(t->slices.args_len[i] >= len && memmem(t->text + t->slices.args_at[i], t->slices.args_len[i], text, len)))
            continue;
        if (kept < MOST_FOUND) {
            key[kept] = (uint64_t)from_begin(a, t->slices.begin_ns[i]);
            found[kept++] = (uint32_t)i;
        }
        n++;
    }
    if (!has || !found || !key || !order) {
        refuse(a->r, 503, no_memory_text());
    } else {
        order_fill(order, kept);
        (void)order_by_u64(order, kept, key); /* without memory they stay in the order of rows */
        out_char(a->o, '{');
        put_int(a->o, "n", (int64_t)n);
        put_key(a->o, "slices");
        out_char(a->o, '[');
        for (size_t i = 0; i < kept; i++) {
            put_comma(a->o, i == 0);
            out_u64(a->o, found[order[i]]);
        }
        out_lit(a->o, "]}");
    }
    free(has);
    free(found);
    free(key);
    free(order);
}

/* The slices of a selection by name: rows of one name are together, their durations ascend. */
struct area {
    size_t n, cap;
    uint32_t *slice, *order;
    uint64_t *dur_ns;
    uint32_t *name;
};

static bool area_gather(struct question *a, struct area *area, const uint32_t *level, size_t n_levels, int64_t begin_ns,
                        int64_t end_ns)
{
    const struct levels *l = &a->t->levels;
    for (size_t i = 0; i < n_levels; i++) {
        size_t first, end;
        level_range(l, level[i], begin_ns, end_ns, &first, &end);
        area->cap += end - first;
    }
    area->slice = malloc((area->cap + 1) * sizeof *area->slice);
    area->order = malloc((area->cap + 1) * sizeof *area->order);
    area->dur_ns = malloc((area->cap + 1) * sizeof *area->dur_ns);
    area->name = malloc((area->cap + 1) * sizeof *area->name);
    if (!area->slice || !area->order || !area->dur_ns || !area->name)
        return false;
    for (size_t i = 0; i < n_levels; i++) {
        size_t at, end;
        level_range(l, level[i], begin_ns, end_ns, &at, &end);
        for (; at < end; at++, area->n++) {
            const uint32_t slice = l->slice[at];
            area->slice[area->n] = slice;
            area->dur_ns[area->n] = l->dur_ns[slice] > 0 ? (uint64_t)l->dur_ns[slice] : 0;
            area->name[area->n] = a->t->trace->slices.name[slice];
        }
    }
    order_fill(area->order, area->n);
    return order_by_u64(area->order, area->n, area->dur_ns) && order_by_u32(area->order, area->n, area->name);
}

struct area_row {
    size_t first, n;
    double sum_ns;
};

static int compare_sums(const void *a, const void *b)
{
    const struct area_row *x = a, *y = b;
    return x->sum_ns != y->sum_ns ? (x->sum_ns < y->sum_ns ? 1 : -1) : (x->first > y->first) - (x->first < y->first);
}

static void put_area_row(struct question *a, const struct area *area, const struct area_row *row)
{
    const uint32_t *at = area->order + row->first;
    const struct {
        const char *key;
        double ns;
    } figure[] = {
        { "sum", row->sum_ns },
        { "mean", row->sum_ns / (double)row->n },
        { "median", (double)area->dur_ns[at[(row->n - 1) / 2]] },
        { "p99", (double)area->dur_ns[at[(row->n - 1) * 99 / 100]] },
        { "longest", (double)area->dur_ns[at[row->n - 1]] },
    };
    out_char(a->o, '{');
    put_name(a->o, "name", a->t->trace->names, area->name[at[0]]);
    put_int(a->o, "count", (int64_t)row->n);
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++) {
        put_key(a->o, figure[i].key);
        out_real(a->o, figure[i].ns);
    }
    put_int(a->o, "longest_slice", area->slice[at[row->n - 1]]);
    out_char(a->o, '}');
}

static void put_area(struct question *a, const struct area *area)
{
    struct area_row *row = malloc((area->n + 1) * sizeof *row);
    size_t n = 0;
    if (!row)
        return refuse(a->r, 503, no_memory_text());
    for (size_t i = 0; i < area->n; i++) {
        const uint32_t at = area->order[i];
        if (i == 0 || area->name[at] != area->name[area->order[i - 1]])
            row[n++] = (struct area_row){ .first = i };
        row[n - 1].n++;
        row[n - 1].sum_ns += (double)area->dur_ns[at];
    }
    qsort(row, n, sizeof *row, compare_sums);
    out_char(a->o, '{');
    put_int(a->o, "n", (int64_t)area->n);
    put_int(a->o, "n_names", (int64_t)n);
    put_key(a->o, "rows");
    out_char(a->o, '[');
    for (size_t i = 0; i < n && i < MOST_AREA_ROWS; i++) {
        put_comma(a->o, i == 0);
        put_area_row(a, area, &row[i]);
    }
    out_lit(a->o, "]}");
    free(row);
}

static void answer_area(struct question *a)
{
    uint32_t *level = malloc(MOST_LEVELS * sizeof *level);
    struct area area = { 0 };
    int64_t begin_ns, end_ns;
    size_t n_levels;
    if (!level)
        refuse(a->r, 503, no_memory_text());
    else if (read_range(a, &begin_ns, &end_ns) && read_levels(a, level, &n_levels)) {
        if (area_gather(a, &area, level, n_levels, begin_ns, end_ns))
            put_area(a, &area);
        else
            refuse(a->r, 503, no_memory_text());
    }
    free(level);
    free(area.slice);
    free(area.order);
    free(area.dur_ns);
    free(area.name);
}

static void put_series(struct question *a, const struct view_series *s)
{
    struct out *o = a->o;
    out_char(o, '{');
    put_text(o, "title", s->title);
    put_int(o, "median", s->median_ns);
    put_key(o, "steps");
    out_char(o, '[');
    for (size_t i = 0; i < s->steps.n; i++) {
        const struct view_step *step = &s->steps.at[i];
        put_comma(o, i == 0);
        out_char(o, '{');
        put_text(o, "name", step->name);
        put_int(o, "begin", from_begin(a, step->begin_ns));
        put_int(o, "end", from_begin(a, step->end_ns));
        put_int(o, "time", step->time_ns);
        put_bool(o, "is_slow", step->is_slow);
        put_key(o, "parts");
        out_char(o, '[');
        for (size_t p = 0; p < 4; p++) {
            put_comma(o, p == 0);
            out_i64(o, step->part_ns[p]);
        }
        out_lit(o, "]}");
    }
    out_lit(o, "]}");
}

static void answer_overview(struct question *a)
{
    struct out *o = a->o;
    out_char(o, '{');
    put_key(o, "series");
    out_char(o, '[');
    for (size_t i = 0; i < a->in->series.n; i++) {
        put_comma(o, i == 0);
        put_series(a, &a->in->series.at[i]);
    }
    out_char(o, ']');
    put_key(o, "sentences");
    out_char(o, '[');
    for (size_t i = 0; i < a->in->sentences.n; i++) {
        const struct view_sentence *s = &a->in->sentences.at[i];
        put_comma(o, i == 0);
        out_char(o, '{');
        put_text(o, "text", s->text);
        put_int(o, "t0", from_begin(a, s->begin_ns));
        put_int(o, "t1", from_begin(a, s->end_ns));
        out_char(o, '}');
    }
    out_char(o, ']');
    put_key(o, "facts");
    out_char(o, '[');
    for (size_t i = 0; i < a->in->facts.n; i++) {
        put_comma(o, i == 0);
        out_char(o, '[');
        out_json(o, a->in->facts.at[i].name, strlen(a->in->facts.at[i].name));
        out_char(o, ',');
        out_json(o, a->in->facts.at[i].text, strlen(a->in->facts.at[i].text));
        out_char(o, ']');
    }
    out_lit(o, "]}");
}

static const struct {
    const char *name;
    bool is_of_input;
    void (*answer)(struct question *a);
} questions[] = {
    { "about", false, answer_about },  { "area", true, answer_area },           { "counter", true, answer_counter },
    { "names", true, answer_names },   { "neighbour", true, answer_neighbour }, { "overview", true, answer_overview },
    { "rows", true, answer_rows },     { "search", true, answer_search },       { "slice", true, answer_slice },
    { "slices", true, answer_slices },
};

void view_answer(const struct view *v, const char *what, const struct http_request *q, struct http_reply *r)
{
    int64_t input = 0;
    struct question a = { .view = v, .q = q, .r = r, .o = r->out };
    size_t i = 0;
    while (i < sizeof questions / sizeof *questions && strcmp(questions[i].name, what))
        i++;
    if (i == sizeof questions / sizeof *questions)
        return refuse(r, 404, "no such question");
    if (questions[i].is_of_input) {
        if (!http_parameter_i64(q, "input", &input) || input < 0 || (uint64_t)input >= v->n_inputs)
            return refuse(r, 400, "input: wanted the number of an input");
        if (atomic_load(&v->input[input].state) != VIEW_READY)
            return refuse(r, 503, "this input is not loaded yet");
        a.in = &v->input[input];
        a.t = &a.in->timeline;
    }
    r->type = "application/json; charset=utf-8";
    questions[i].answer(&a);
}
