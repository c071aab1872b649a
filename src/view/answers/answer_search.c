/* SPDX-License-Identifier: Apache-2.0 */
#include "view/answers/answers.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/flow/flows.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "view/answers/operator_times.h"

enum {
    MOST_FOUND = 10000,   /* slices of a search that the answer lists; all are counted */
    MOST_AREA_ROWS = 500, /* names of an area that the answer lists */
};

/* Which names contain a text, whatever its case. NULL: no memory. */
static bool *names_with(const struct names *names, const char *text)
{
    const size_t n = names_count(names);
    bool *has = calloc(n ? n : 1, sizeof *has);
    for (size_t i = 0; has && i < n; i++)
        has[i] = strcasestr(names_text(names, (name_id)i), text) != NULL;
    return has;
}

static bool has_text(struct json_span args, const char *text, size_t len)
{
    return args.len >= len && memmem(args.at, args.len, text, len);
}

void answer_search(struct question *a)
{
    const struct chrome_trace *t = a->t->trace;
    char text[256];
    if (!http_parameter(a->q, "q", text, sizeof text) || !text[0])
        return question_refuse(a->r, 400, "q: wanted a text of at most 255 bytes");
    bool *has = names_with(t->names, text);
    uint32_t *found = malloc(MOST_FOUND * sizeof *found);
    uint64_t *key = malloc(MOST_FOUND * sizeof *key);
    uint32_t *order = malloc(MOST_FOUND * sizeof *order);
    size_t n = 0, kept = 0;
    const size_t len = strlen(text);
    for (size_t i = 0; has && found && key && order && i < view_n_events(a->t); i++) {
        if (!has[view_event_name(a->t, (uint32_t)i)] && !has_text(view_event_args(a->t, (uint32_t)i), text, len))
            continue;
        if (kept < MOST_FOUND) {
            key[kept] = (uint64_t)question_ns(a, view_event(a->t, (uint32_t)i).begin_ns);
            found[kept++] = (uint32_t)i;
        }
        n++;
    }
    if (!has || !found || !key || !order) {
        question_refuse(a->r, 503, no_memory_text());
    } else {
        order_fill(order, kept);
        (void)order_by_u64(order, kept, key); /* if there is no memory they stay in the order of rows */
        out_char(a->o, '{');
        json_put_int(a->o, "n", (int64_t)n);
        json_put_key(a->o, "slices");
        out_char(a->o, '[');
        for (size_t i = 0; i < kept; i++) {
            json_put_comma(a->o, i == 0);
            out_u64(a->o, found[order[i]]);
        }
        out_lit(a->o, "]}");
    }
    free(has);
    free(found);
    free(key);
    free(order);
}

/* The slices of a selection by name, with what of them lies in it: rows of one name are together, their durations
 * ascend. */
struct area {
    size_t n, cap;
    uint32_t *slice, *order;
    uint64_t *dur_ns;
    uint32_t *name;
    int64_t *self_ns; /* by slice of the trace */
};

/* Own times in a range, of the slices of the tracks that levels belong to. */
static bool own_times_find(struct area *area, const struct view_timeline *t, const uint32_t *level, size_t n_levels,
                           int64_t begin_ns, int64_t end_ns)
{
    const struct chrome_trace *trace = t->trace;
    uint32_t *parent = calloc(trace->slices.n + 1, sizeof *parent);
    bool *is_done = calloc(trace->tracks.n + 1, sizeof *is_done);
    area->self_ns = calloc(trace->slices.n + 1, sizeof *area->self_ns); /* pages of other tracks are never touched */
    const bool done = parent && is_done && area->self_ns;
    for (size_t i = 0; done && i < n_levels; i++) {
        if (level[i] >= t->levels.n || is_done[t->levels.level[level[i]].track])
            continue;
        const struct chrome_track *track = &trace->tracks.at[t->levels.level[level[i]].track];
        is_done[t->levels.level[level[i]].track] = true;
        chrome_self(
            area->self_ns + track->first, parent + track->first, &trace->slices,
            &(struct chrome_rows){
                .first = track->first, .end = track->first + track->n_slices, .begin_ns = begin_ns, .end_ns = end_ns });
    }
    free(parent);
    free(is_done);
    return done;
}

static uint64_t clipped_ns(const struct chrome_slices *s, uint32_t slice, int64_t begin_ns, int64_t end_ns)
{
    const int64_t to_ns = stamp_add(s->begin_ns[slice], s->dur_ns[slice]);
    const int64_t low_ns = s->begin_ns[slice] > begin_ns ? s->begin_ns[slice] : begin_ns;
    const int64_t high_ns = to_ns < end_ns ? to_ns : end_ns;
    return high_ns > low_ns ? (uint64_t)wrap_sub(high_ns, low_ns) : 0;
}

static bool area_gather(struct question *a, struct area *area, const uint32_t *level, size_t n_levels, int64_t begin_ns,
                        int64_t end_ns)
{
    for (size_t i = 0; i < n_levels; i++) {
        size_t first, end;
        view_range(a->t, level[i], begin_ns, end_ns, &first, &end);
        area->cap += end - first;
    }
    area->slice = malloc((area->cap + 1) * sizeof *area->slice);
    area->order = malloc((area->cap + 1) * sizeof *area->order);
    area->dur_ns = malloc((area->cap + 1) * sizeof *area->dur_ns);
    area->name = malloc((area->cap + 1) * sizeof *area->name);
    if (!area->slice || !area->order || !area->dur_ns || !area->name ||
        !own_times_find(area, a->t, level, n_levels, begin_ns, end_ns))
        return false;
    const struct chrome_slices *s = &a->t->trace->slices;
    for (size_t i = 0; i < n_levels; i++) {
        size_t at, end;
        view_range(a->t, level[i], begin_ns, end_ns, &at, &end);
        for (; at < end; at++, area->n++) {
            const uint32_t slice = view_event_at(a->t, level[i], at);
            area->slice[area->n] = slice;
            area->dur_ns[area->n] = slice < s->n ? clipped_ns(s, slice, begin_ns, end_ns) : 0;
            area->name[area->n] = view_event_name(a->t, slice);
        }
    }
    order_fill(area->order, area->n);
    return order_by_u64(area->order, area->n, area->dur_ns) && order_by_u32(area->order, area->n, area->name);
}

struct area_row {
    size_t first, n;
    double sum_ns, self_ns;
    bool is_work; /* not steps, nor what a device did meanwhile */
};

/* What is work first, by own time, then by time. */
static int compare_rows(const void *a, const void *b)
{
    const struct area_row *x = a, *y = b;
    if (x->is_work != y->is_work)
        return x->is_work ? -1 : 1;
    if (x->self_ns != y->self_ns)
        return x->self_ns < y->self_ns ? 1 : -1;
    return x->sum_ns != y->sum_ns ? (x->sum_ns < y->sum_ns ? 1 : -1) : (x->first > y->first) - (x->first < y->first);
}

/* all_ns: of which the share is given; that of other rows is null. */
static void put_area_row(struct question *a, const struct area *area, const struct area_row *row, double all_ns)
{
    const uint32_t *at = area->order + row->first;
    const struct {
        const char *key;
        double ns;
    } figure[] = {
        { "self", row->self_ns },
        { "sum", row->sum_ns },
        { "mean", row->sum_ns / (double)row->n },
        { "median", (double)area->dur_ns[at[(row->n - 1) / 2]] },
        { "p99", (double)area->dur_ns[at[(row->n - 1) * 99 / 100]] },
        { "longest", (double)area->dur_ns[at[row->n - 1]] },
    };
    out_char(a->o, '{');
    json_put_name(a->o, "name", a->t->trace->names, area->name[at[0]]);
    json_put_int(a->o, "count", (int64_t)row->n);
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++) {
        json_put_key(a->o, figure[i].key);
        out_real(a->o, figure[i].ns);
    }
    json_put_key(a->o, "share");
    if (row->is_work && all_ns > 0)
        out_real(a->o, row->self_ns / all_ns);
    else
        out_lit(a->o, "null");
    json_put_int(a->o, "longest_slice", area->slice[at[row->n - 1]]);
    out_char(a->o, '}');
}

/* The rows of names; returns their number. */
static size_t rows_sum(struct question *a, const struct area *area, const uint8_t *topic, struct area_row *row)
{
    const size_t n_slices = a->t->trace->slices.n;
    size_t n = 0;
    bool has_work = false;
    for (size_t i = 0; i < area->n; i++) {
        const uint32_t at = area->order[i], slice = area->slice[at];
        if (i == 0 || area->name[at] != area->name[area->order[i - 1]])
            row[n++] = (struct area_row){ .first = i };
        row[n - 1].n++;
        row[n - 1].sum_ns += (double)area->dur_ns[at];
        if (slice >= n_slices)
            continue;
        row[n - 1].self_ns += (double)area->self_ns[slice];
        row[n - 1].is_work |= topic[slice] != TOPIC_STEP && topic[slice] != TOPIC_OVERLAP;
        has_work |= row[n - 1].is_work;
    }
    for (size_t i = 0; i < n; i++) /* a selection of a device's times alone is about them */
        row[i].is_work |= !has_work;
    qsort(row, n, sizeof *row, compare_rows);
    return n;
}

static void put_area(struct question *a, const struct area *area)
{
    struct area_row *row = malloc((area->n + 1) * sizeof *row);
    const struct operator_times *o = operator_times_of(a->in);
    double all_ns = 0;
    if (!row || !o) {
        free(row);
        return question_refuse(a->r, 503, no_memory_text());
    }
    const size_t n = rows_sum(a, area, o->topic, row);
    for (size_t i = 0; i < n; i++)
        all_ns += row[i].is_work ? row[i].self_ns : 0;
    out_char(a->o, '{');
    json_put_int(a->o, "n", (int64_t)area->n);
    json_put_int(a->o, "n_names", (int64_t)n);
    json_put_key(a->o, "rows");
    out_char(a->o, '[');
    for (size_t i = 0; i < n && i < MOST_AREA_ROWS; i++) {
        json_put_comma(a->o, i == 0);
        put_area_row(a, area, &row[i], all_ns);
    }
    out_lit(a->o, "]}");
    free(row);
}

void answer_area(struct question *a)
{
    uint32_t *level = malloc(QUESTION_LEVELS * sizeof *level);
    struct area area = { 0 };
    int64_t begin_ns, end_ns;
    size_t n_levels;
    if (!level)
        question_refuse(a->r, 503, no_memory_text());
    else if (question_range(a, &begin_ns, &end_ns) && question_levels(a, level, &n_levels)) {
        if (area_gather(a, &area, level, n_levels, begin_ns, end_ns))
            put_area(a, &area);
        else
            question_refuse(a->r, 503, no_memory_text());
    }
    free(level);
    free(area.slice);
    free(area.order);
    free(area.dur_ns);
    free(area.name);
    free(area.self_ns);
}
