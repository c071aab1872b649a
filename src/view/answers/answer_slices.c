/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/answers.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "base/text/stamp.h"

enum { MOST_BLOCKS = 200000 }; /* of one answer: far more than a screen has pixels */

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
        put_f64(o, (double)question_ns(a, b[i].begin_ns));
    for (size_t i = 0; i < n; i++)
        put_f64(o, (double)(b[i].end_ns - b[i].begin_ns));
    for (size_t i = 0; i < n; i++)
        put_u32(o, b[i].slice);
    for (size_t i = 0; i < n; i++)
        put_u32(o, b[i].n);
    for (size_t i = 0; i < n; i++)
        put_u32(o, view_event_name(a->t, b[i].slice));
    for (size_t i = 0; i < n; i++)
        put_f32(o, busy_share(&b[i]));
}

/* The blocks of a level, or of a row of instants. */
static size_t blocks_of(const struct view_timeline *t, size_t level, int64_t begin_ns, int64_t end_ns, int64_t least_ns,
                        struct block *out, size_t cap)
{
    if (level < t->levels.n)
        return level_view(&t->levels, level, begin_ns, end_ns, least_ns, out, cap);
    const size_t n = instants_view(&t->instants, level - t->levels.n, begin_ns, end_ns, least_ns, out, cap);
    for (size_t i = 0; i < n; i++)
        out[i].slice += (uint32_t)t->trace->slices.n;
    return n;
}

void answer_slices(struct question *a)
{
    uint32_t *level = malloc(QUESTION_LEVELS * sizeof *level);
    struct block *block = malloc(MOST_BLOCKS * sizeof *block);
    int64_t begin_ns, end_ns, least_ns = 0;
    size_t n_levels, n = 0;
    if (!level || !block) {
        question_refuse(a->r, 503, no_memory_text());
    } else if (!http_parameter_i64(a->q, "least", &least_ns) || least_ns < 0) {
        question_refuse(a->r, 400, "least: wanted a number from 0 up");
    } else if (question_range(a, &begin_ns, &end_ns) && question_levels(a, level, &n_levels)) {
        a->r->type = "application/octet-stream";
        put_u32(a->o, 0x31565341); /* "ASV1" */
        put_u32(a->o, (uint32_t)n_levels);
        for (size_t i = 0; i < n_levels; i++) {
            const size_t more = blocks_of(a->t, level[i], begin_ns, end_ns, least_ns, block + n, MOST_BLOCKS - n);
            put_u32(a->o, level[i]);
            put_u32(a->o, (uint32_t)more);
            n += more;
        }
        put_blocks(a, block, n);
    }
    free(level);
    free(block);
}

/* The smallest and the largest value of each interval of least_ns, and its begin. */
void answer_counter(struct question *a)
{
    int64_t id, begin_ns, end_ns, least_ns = 0;
    if (!http_parameter_i64(a->q, "id", &id) || id < 0 || (uint64_t)id >= a->t->n_counters)
        return question_refuse(a->r, 400, "id: wanted the number of a counter");
    if (!http_parameter_i64(a->q, "least", &least_ns) || least_ns < 0)
        return question_refuse(a->r, 400, "least: wanted a number from 0 up");
    if (!question_range(a, &begin_ns, &end_ns))
        return;
    const struct view_counter *c = &a->t->counter[id];
    const int64_t *ns = a->t->counter_ns + c->first;
    const double *value = a->t->counter_value + c->first;
    size_t at = SEARCH_FIRST_NOT(i, 0, c->n, ns[i] <= begin_ns), n = 0;
    at -= at > 0; /* its value is still valid at the begin */
    struct {
        double t, min, max;
    } *out = malloc(MOST_BLOCKS * sizeof *out);
    if (!out)
        return question_refuse(a->r, 503, no_memory_text());
    while (at < c->n && ns[at] < end_ns && n < MOST_BLOCKS) {
        const int64_t from_ns = ns[at];
        out[n].t = (double)question_ns(a, from_ns);
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
    if (!http_parameter_i64(a->q, "slice", &v) || v < 0 || (uint64_t)v >= view_n_events(a->t)) {
        question_refuse(a->r, 400, "slice: wanted the number of a slice");
        return false;
    }
    *slice = (uint32_t)v;
    return true;
}

/* A value as JSON that is valid whatever the file has: texts and numbers as they are, containers as their text. A
 * number with more digits than every double keeps (an address, a time in ns) is a text, so that a page shows all of
 * them. */
static void answer_slices_put_value(struct out *o, struct json_span value, char *scratch)
{
    enum { EXACT_DIGITS = 15 };
    double number;
    if (!json_is_text(value) && value.len <= EXACT_DIGITS && json_double(value, &number) && isfinite(number) &&
        (value.at[0] == '-' || isdigit((unsigned char)value.at[0])))
        return out_real(o, number);
    const size_t n = json_decode(value, scratch);
    out_json(o, scratch, n);
}

static void put_args(struct question *a, struct json_span args)
{
    struct json_scan scan;
    struct json_span key, value;
    char *scratch = malloc(args.len + 1);
    bool is_first = true;
    json_put_key(a->o, "args");
    out_char(a->o, '{');
    if (scratch && args.at && json_enter(&scan, args.at, args.at + args.len, '{')) {
        scan.repairs = true;
        while (json_next_key(&scan, &key) && json_pass(&scan, &value)) {
            json_put_comma(a->o, is_first);
            is_first = false;
            const size_t n = json_decode(key, scratch);
            out_json(a->o, scratch, n);
            out_char(a->o, ':');
            answer_slices_put_value(a->o, value, scratch);
        }
    }
    out_char(a->o, '}');
    free(scratch);
}

static const struct view_rank *rank_of(const struct question *a, uint32_t slice)
{
    const struct chrome_trace *t = a->t->trace;
    return view_rank_of(a->in, t->tracks.at[t->slices.track[slice]].process);
}

/* A flow between two slices; `of` is the requested one, `slice` the other one. */
static void put_flow(struct question *a, uint32_t of, uint32_t slice, bool is_source, bool is_first)
{
    const struct chrome_trace *t = a->t->trace;
    const struct view_rank *rank = rank_of(a, slice);
    size_t level;
    (void)view_position(a->t, slice, &level);
    json_put_comma(a->o, is_first);
    out_char(a->o, '{');
    json_put_int(a->o, "slice", slice);
    json_put_int(a->o, "level", (int64_t)level);
    json_put_int(a->o, "begin", question_ns(a, t->slices.begin_ns[slice]));
    json_put_name(a->o, "name", t->names, t->slices.name[slice]);
    if (rank != rank_of(a, of))
        json_put_text(a->o, "rank", rank->title);
    json_put_bool(a->o, "is_source", is_source);
    out_char(a->o, '}');
}

static void put_flows(struct question *a, uint32_t slice)
{
    enum { MOST = 100 }; /* in each direction */
    const struct view_timeline *t = a->t;
    size_t n = 0;
    json_put_key(a->o, "flows");
    out_char(a->o, '[');
    for (size_t i = order_first_u32(NULL, t->flows.n, t->flows.from, slice);
         i < t->flows.n && t->flows.from[i] == slice && n < MOST; i++)
        put_flow(a, slice, t->flows.to[i], false, n++ == 0);
    const size_t most = n + MOST;
    for (size_t i = order_first_u32(t->flow_by_to, t->flows.n, t->flows.to, slice);
         i < t->flows.n && t->flows.to[t->flow_by_to[i]] == slice && n < most; i++)
        put_flow(a, slice, t->flows.from[t->flow_by_to[i]], true, n++ == 0);
    out_char(a->o, ']');
}

void answer_slice(struct question *a)
{
    const struct chrome_trace *t = a->t->trace;
    uint32_t slice;
    if (!read_slice(a, &slice))
        return;
    const struct view_event e = view_event(a->t, slice);
    const struct chrome_track *track = &t->tracks.at[e.track];
    const struct chrome_process *process = &t->processes.at[track->process];
    out_char(a->o, '{');
    json_put_name(a->o, "name", t->names, e.name);
    json_put_name(a->o, "category", t->names, e.category);
    json_put_name(a->o, "process", t->names, process->name ? process->name : process->id.text);
    json_put_name(a->o, "track", t->names, track->name ? track->name : track->id.text);
    json_put_int(a->o, "level", (int64_t)e.level);
    json_put_int(a->o, "begin", question_ns(a, e.begin_ns));
    json_put_int(a->o, "dur", e.dur_ns);
    json_put_bool(a->o, "is_instant", e.scope != 0);
    json_put_text(a->o, "scope", e.scope == 'g' ? "all" : e.scope == 'p' ? "process" : e.scope == 't' ? "thread" : "");
    put_args(a, e.args);
    put_flows(a, slice);
    out_char(a->o, '}');
}

void answer_neighbour(struct question *a)
{
    uint32_t slice;
    int64_t by;
    if (!read_slice(a, &slice))
        return;
    if (!http_parameter_i64(a->q, "by", &by) || (by != 1 && by != -1))
        return question_refuse(a->r, 400, "by: wanted 1 or -1");
    const struct view_event e = view_event(a->t, slice);
    const bool is_there = by > 0 ? e.position + 1 < e.n_level : e.position > 0;
    out_lit(a->o, "{\"slice\":");
    if (is_there)
        out_u64(a->o, view_event_at(a->t, e.level, by > 0 ? e.position + 1 : e.position - 1));
    else
        out_lit(a->o, "null");
    out_char(a->o, '}');
}
