/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/rank_readers.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "answers/run/chrome_kinds.h"
#include "answers/run/chrome_steps.h"
#include "answers/run/rank_spans.h"
#include "answers/run/trace_steps.h"
#include "base/files/file.h"
#include "base/memory/keys.h"
#include "base/text/json_memory.h"
#include "cluster/rank/rank_parts.h"
#include "load/trace/trace_readers.h"
#include "profile/calls.h"

/* ---- which rank it is of ----------------------------------------------------------------------------------------- */

enum { NO_RANK = -1 };

/* The digits at a place of a name, before a text that must follow; NO_RANK: there are none. */
static int64_t digits_at(const char *at, const char *behind)
{
    int64_t number = 0;
    const char *c = at;
    for (; isdigit((unsigned char)*c) && number <= INT32_MAX; c++)
        number = number * 10 + (*c - '0');
    return c > at && number <= INT32_MAX && strncmp(c, behind, strlen(behind)) == 0 ? number : NO_RANK;
}

int64_t rank_in_name(const char *name)
{
    static const char *const databases[] = { "ascend_pytorch_profiler_", "ascend_mindspore_profiler_" };
    for (size_t i = 0; i < sizeof databases / sizeof *databases; i++)
        if (strncmp(name, databases[i], strlen(databases[i])) == 0)
            return digits_at(name + strlen(databases[i]), ".db");
    const char *at = strcasestr(name, "rank");
    if (!at)
        return NO_RANK;
    at += strlen("rank");
    return digits_at(at + (*at == '_' || *at == '-' || *at == '.'), "");
}

int64_t rank_in_info(const char *dir)
{
    static const char info[] = "profiler_info_";
    struct dir_names names;
    int unused;
    int64_t rank = NO_RANK;
    dir_names_read(&names, dir, name_is_visible, &unused);
    for (size_t i = 0; i < names.n && rank == NO_RANK; i++)
        if (strncmp(names.at[i], info, sizeof info - 1) == 0)
            rank = digits_at(names.at[i] + sizeof info - 1, ".json");
    dir_names_free(&names);
    return rank;
}

int64_t rank_trace_number(const char *path)
{
    static const uint64_t look_bytes[] = { 256 << 10, UINT64_MAX };
    const char *slash = strrchr(path, '/');
    int64_t rank = NO_RANK;
    if (nsys_is_name(path)) /* it says nothing about ranks, and is converted at a cost */
        return rank_in_name(slash ? slash + 1 : path);
    for (size_t i = 0; i < 2 && rank == NO_RANK; i++) {
        struct chrome_trace t = { 0 };
        struct error unused = { 0 };
        if (!chrome_load_first(&t, path, look_bytes[i], &unused) || !chrome_rank(&t, &rank) || rank < 0 ||
            rank > INT32_MAX)
            rank = NO_RANK;
        chrome_trace_free(&t);
        rank = rank == NO_RANK ? rank_in_name(slash ? slash + 1 : path) : rank;
    }
    return rank;
}

/* ---- rows by begin ----------------------------------------------------------------------------------------------- */

struct trace_row {
    int64_t begin_ns, end_ns;
    uint32_t slice;
    enum slice_kind kind;
};
struct trace_rows {
    LIST(struct trace_row) list;
};

struct trace_names {
    LIST(name_id) list;
};

struct trace_reader {
    const struct chrome_trace *t;
    struct chrome_kinds kinds;
    struct rank *rank;
    struct trace_rows tasks, collectives, calls, ops, marks;
    struct keys launch_keys; /* correlations of calls, and the rows of calls */
    LIST(uint32_t) launches;
    name_id *name_of; /* by name of the trace: that of the job + 1; 0: not looked up yet */
    struct arena *work;
    struct error *e;
    bool failed; /* no memory */
};

static name_id name_in_job(struct trace_reader *r, name_id name)
{
    if (r->name_of[name] == 0)
        r->name_of[name] = 1 + names_add(r->rank->names, names_text(r->t->names, name), names_len(r->t->names, name));
    return r->name_of[name] - 1;
}

static const char *slice_text(const struct trace_reader *r, uint32_t slice)
{
    return names_text(r->t->names, r->t->slices.name[slice]);
}

static void row_add(struct trace_reader *r, struct trace_rows *to, uint32_t slice, enum slice_kind kind)
{
    const int64_t begin = r->t->slices.begin_ns[slice];
    struct trace_row *new = list_add(&to->list, r->work);
    r->failed |= !new;
    if (new)
        *new = (struct trace_row){ begin, begin + r->t->slices.dur_ns[slice], slice, kind };
}

static int rank_trace_by_begin(const void *a, const void *b)
{
    const struct trace_row *x = a, *y = b;
    return x->begin_ns != y->begin_ns ? (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns)
                                      : (x->slice > y->slice) - (x->slice < y->slice);
}

static void slices_take(struct trace_reader *r)
{
    const struct chrome_trace *t = r->t;
    struct trace_rows *const all[] = { &r->tasks, &r->collectives, &r->calls, &r->ops, &r->marks };
    for (uint32_t i = 0; i < t->slices.n && !r->failed; i++) {
        const enum slice_kind kind = chrome_kind(&r->kinds, i);
        const bool is_step = (kind == SLICE_OPERATOR || kind == SLICE_ANNOTATION) && chrome_is_step(t, i);
        struct trace_rows *to = is_step ? NULL
                                : kind == SLICE_COLLECTIVE || (r->kinds.is_timeline && chrome_is_on_group(t, i))
                                    ? &r->collectives
                                : kind == SLICE_KERNEL || kind == SLICE_TASK || kind == SLICE_COPY ? &r->tasks
                                : kind == SLICE_CALL                                               ? &r->calls
                                : kind == SLICE_OPERATOR                                           ? &r->ops
                                : kind == SLICE_ANNOTATION                                         ? &r->marks
                                                                                                   : NULL;
        if (to)
            row_add(r, to, i, kind);
    }
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k]->list.n > 0)
            qsort(all[k]->list.at, all[k]->list.n, sizeof *all[k]->list.at, rank_trace_by_begin);
}

static void *column(struct trace_reader *r, size_t n, size_t width)
{
    void *made = arena_take(r->rank->mem, n, width);
    r->failed |= !made;
    return made;
}
#define COLUMN(r, member, n) ((member) = column(r, n, sizeof *(member)))

/* Begin and end of rows, as columns. */
static bool times_put(struct trace_reader *r, const struct trace_rows *rows, int64_t **begin_ns, int64_t **end_ns)
{
    COLUMN(r, *begin_ns, rows->list.n);
    COLUMN(r, *end_ns, rows->list.n);
    for (size_t i = 0; !r->failed && i < rows->list.n; i++) {
        (*begin_ns)[i] = rows->list.at[i].begin_ns;
        (*end_ns)[i] = rows->list.at[i].end_ns;
    }
    return !r->failed;
}

static bool has_device(const struct trace_reader *r)
{
    return r->tasks.list.n > 0 || r->collectives.list.n > 0;
}

static uint64_t correlation_of(const struct trace_reader *r, uint32_t slice)
{
    uint64_t key;
    return chrome_correlation(r->t, slice, &key) ? key : CONNECTION_NONE;
}

static uint64_t track_number(const struct chrome_trace *t, uint32_t slice)
{
    const struct chrome_track *track = &t->tracks.at[t->slices.track[slice]];
    return track->id.is_number ? (uint64_t)track->id.number : t->slices.track[slice];
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static bool put_calls(struct trace_reader *r, bool is_wanted)
{
    const struct trace_rows *rows = &r->calls;
    struct rank_calls c = { .n = rows->list.n };
    if (!times_put(r, rows, &c.begin_ns, &c.end_ns) || !COLUMN(r, c.name, c.n) || !COLUMN(r, c.type, c.n) ||
        !COLUMN(r, c.connection, c.n) || !COLUMN(r, c.thread, c.n))
        return false;
    for (uint32_t i = 0; i < c.n; i++) {
        const uint32_t slice = rows->list.at[i].slice;
        c.name[i] = name_in_job(r, r->t->slices.name[slice]);
        c.connection[i] = correlation_of(r, slice);
        c.thread[i] = track_number(r->t, slice);
        if (c.connection[i] == CONNECTION_NONE)
            continue;
        const uint32_t at = keys_add(&r->launch_keys, c.connection[i], r->work);
        if (at == KEYS_NO_MEMORY || (at == r->launches.n && !list_add(&r->launches, r->work)))
            return false;
        r->launches.at[at] = i;
    }
    r->rank->calls = c;
    r->rank->has |= is_wanted && c.n > 0 ? RANK_CALLS : 0;
    return true;
}

/* The kernels of equal names have one row. */
static bool put_tasks(struct trace_reader *r)
{
    const struct trace_rows *rows = &r->tasks;
    const name_id copy = names_addz(r->rank->names, "MEMCPY_ASYNC"), kernel = names_addz(r->rank->names, "KERNEL");
    struct rank_tasks t = { .n = rows->list.n };
    struct keys known = { 0 };
    LIST(name_id) names = { 0 };
    if (!times_put(r, rows, &t.begin_ns, &t.end_ns) || !COLUMN(r, t.type, t.n) || !COLUMN(r, t.connection, t.n) ||
        !COLUMN(r, t.kernel, t.n) || !COLUMN(r, t.stream, t.n))
        return false;
    for (size_t i = 0; i < t.n; i++) {
        const uint32_t slice = rows->list.at[i].slice;
        const name_id name = name_in_job(r, r->t->slices.name[slice]);
        const bool is_copy = rows->list.at[i].kind == SLICE_COPY;
        t.type[i] = !is_copy ? kernel : r->kinds.is_npu ? copy : name;
        t.connection[i] = correlation_of(r, slice);
        t.stream[i] = (uint32_t)track_number(r->t, slice);
        t.kernel[i] = is_copy ? NO_ROW : keys_add(&known, name, r->work);
        name_id *new = !is_copy &&t.kernel[i] == names.n ? list_add(&names, r->work) : NULL;
        if (!is_copy && t.kernel[i] >= names.n) /* also KEYS_NO_MEMORY */
            return false;
        if (new)
            *new = name;
    }
    struct rank_kernels k = { .n = names.n };
    name_id **const texts[] = { &k.task_type,     &k.input_shapes,  &k.input_types,
                                &k.output_shapes, &k.input_formats, &k.output_formats };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        COLUMN(r, *texts[i], k.n);
    if (!COLUMN(r, k.name, k.n) || !COLUMN(r, k.op_type, k.n) || !COLUMN(r, k.block_dim, k.n) || r->failed)
        return false;
    for (size_t i = 0; i < k.n; i++) {
        k.name[i] = k.op_type[i] = names.at[i];
        k.task_type[i] = kernel;
    }
    r->rank->tasks = t;
    r->rank->kernels = k;
    r->rank->has |= has_device(r) ? RANK_TASKS : 0;
    return true;
}

/* "0 [0,1,2,3]": the name of a process group, and its ranks without blanks. */
static name_id group_name(struct trace_reader *r, struct json_span name, struct json_span ranks)
{
    char text[1024];
    struct json_span plain;
    size_t n = 0;
    if (name.at && json_plain(name, &plain))
        for (size_t i = 0; i < plain.len && n + 2 < sizeof text; i++)
            text[n++] = plain.at[i];
    if (ranks.at && json_plain(ranks, &plain)) {
        text[n++] = ' ';
        for (size_t i = 0; i < plain.len && n < sizeof text; i++)
            if (plain.at[i] != ' ')
                text[n++] = plain.at[i];
    }
    return n > 0 ? names_add(r->rank->names, text, n) : names_addz(r->rank->names, "all");
}

/* "622" of "hcom_allReduce__622_3_1", which is the same for all collectives of a group on all its ranks. */
static name_id group_of_hcom(struct trace_reader *r, uint32_t slice)
{
    const char *name = slice_text(r, slice), *at = strstr(name, "__");
    size_t n = 0;
    while (at && isdigit((unsigned char)at[2 + n]))
        n++;
    const struct chrome_track *track = &r->t->tracks.at[r->t->slices.track[slice]];
    return n > 0 ? names_add(r->rank->names, at + 2, n) : name_in_job(r, track->name);
}

/* "hcom_allReduce" of it. */
static name_id kind_of_hcom(struct trace_reader *r, uint32_t slice)
{
    const char *name = slice_text(r, slice), *end = strstr(name, "__");
    return end ? names_add(r->rank->names, name, (size_t)(end - name)) : name_in_job(r, r->t->slices.name[slice]);
}

static void collective_put(struct trace_reader *r, struct rank_collectives *c, size_t i, uint32_t slice)
{
    static const char *const key[] = { "Collective name", "Process Group Name", "Process Group Ranks",
                                       "In msg nelems",   "Out msg nelems",     "dtype",
                                       "count",           "data_type" };
    struct json_span value[8], plain;
    char name[100] = "", kind[COLLECTIVE_KIND];
    uint64_t in = 0, out = 0;
    json_find_each(chrome_slice_args(r->t, slice), key, value, 8);
    if (value[0].at && json_plain(value[0], &plain))
        memcpy(name, plain.at, plain.len < sizeof name ? plain.len : sizeof name - 1);
    collective_kind(kind, name);
    if (!kind[0])
        collective_kind(kind, slice_text(r, slice));
    const bool is_of_npu = r->kinds.is_timeline;
    const struct json_span of_in = value[is_of_npu ? 6 : 3];
    const bool has_in = of_in.at && json_u64(of_in, &in),
               has_out = !is_of_npu && value[4].at && json_u64(value[4], &out);
    const struct json_span type = value[is_of_npu ? 7 : 5];
    c->name[i] = is_of_npu || !kind[0] ? name_in_job(r, r->t->slices.name[slice]) : names_addz(r->rank->names, kind);
    c->type[i] = is_of_npu ? kind_of_hcom(r, slice) : c->name[i];
    c->group[i] = is_of_npu ? group_of_hcom(r, slice) : group_name(r, value[1], value[2]);
    c->data_type[i] = type.at && json_plain(type, &plain) ? names_add(r->rank->names, plain.at, plain.len) : NAME_EMPTY;
    c->count[i] = has_in || has_out ? (double)(in > out ? in : out) : -1;
    c->connection[i] = correlation_of(r, slice);
    const uint32_t at = c->connection[i] == CONNECTION_NONE ? KEYS_NONE : keys_find(&r->launch_keys, c->connection[i]);
    c->launch_ns[i] = at == KEYS_NONE ? INT64_MIN : r->rank->calls.begin_ns[r->launches.at[at]];
    c->src[i] = c->dst[i] = -1;
}

static bool put_collectives(struct trace_reader *r)
{
    const struct trace_rows *rows = &r->collectives;
    struct rank_collectives c = { .n = rows->list.n };
    if (!times_put(r, rows, &c.begin_ns, &c.end_ns) || !COLUMN(r, c.name, c.n) || !COLUMN(r, c.group, c.n) ||
        !COLUMN(r, c.type, c.n) || !COLUMN(r, c.data_type, c.n) || !COLUMN(r, c.launch_ns, c.n) ||
        !COLUMN(r, c.connection, c.n) || !COLUMN(r, c.count, c.n) || !COLUMN(r, c.src, c.n) || !COLUMN(r, c.dst, c.n))
        return false;
    for (size_t i = 0; i < c.n; i++)
        collective_put(r, &c, i, rows->list.at[i].slice);
    r->rank->collectives = c;
    r->rank->has |= has_device(r) ? RANK_COLLECTIVES : 0;
    return true;
}

static int pair_order(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Operators, and which of them launched what: an operator and its calls have the same external id. */
static bool put_ops(struct trace_reader *r)
{
    const struct trace_rows *rows = &r->ops;
    struct rank_ops o = { .n = rows->list.n };
    struct keys ids = { 0 };
    LIST(uint32_t) op = { 0 };
    uint64_t id;
    if (!times_put(r, rows, &o.begin_ns, &o.end_ns) || !COLUMN(r, o.name, o.n) || !COLUMN(r, o.thread, o.n))
        return false;
    for (uint32_t i = 0; i < o.n; i++) {
        const uint32_t slice = rows->list.at[i].slice;
        o.name[i] = name_in_job(r, r->t->slices.name[slice]);
        o.thread[i] = track_number(r->t, slice);
        if (!chrome_external_id(r->t, slice, &id))
            continue;
        const uint32_t at = keys_add(&ids, id, r->work);
        if (at == KEYS_NO_MEMORY || (at == op.n && !list_add(&op, r->work)))
            return false;
        op.at[at] = i;
    }
    uint64_t(*pair)[2] = arena_take(r->work, r->calls.list.n, sizeof *pair);
    size_t n = 0;
    if (!pair)
        return false;
    for (size_t i = 0; i < r->calls.list.n; i++) {
        const uint32_t slice = r->calls.list.at[i].slice;
        const uint64_t connection = correlation_of(r, slice);
        const uint32_t at = chrome_external_id(r->t, slice, &id) ? keys_find(&ids, id) : KEYS_NONE;
        if (at == KEYS_NONE || connection == CONNECTION_NONE)
            continue;
        pair[n][0] = connection;
        pair[n++][1] = op.at[at];
    }
    if (n > 0)
        qsort(pair, n, sizeof *pair, pair_order);
    struct rank_op_links l = { .n = n };
    if (!COLUMN(r, l.connection, n) || !COLUMN(r, l.op, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        l.connection[i] = pair[i][0];
        l.op[i] = (uint32_t)pair[i][1];
    }
    r->rank->ops = o;
    r->rank->op_links = l;
    r->rank->has |= o.n > 0 ? RANK_OPS : 0;
    return true;
}

static bool put_marks(struct trace_reader *r)
{
    enum { RANGE = 1 /* of ENUM_MSTX_EVENT_TYPE: pushed and popped */ };
    const struct trace_rows *rows = &r->marks;
    struct rank_marks m = { .n = rows->list.n };
    const name_id domain = names_addz(r->rank->names, "default");
    if (!times_put(r, rows, &m.begin_ns, &m.end_ns) || !COLUMN(r, m.message, m.n) || !COLUMN(r, m.domain, m.n) ||
        !COLUMN(r, m.event_type, m.n) || !COLUMN(r, m.thread, m.n) || !COLUMN(r, m.connection, m.n))
        return false;
    for (size_t i = 0; i < m.n; i++) {
        const uint32_t slice = rows->list.at[i].slice;
        m.message[i] = name_in_job(r, r->t->slices.name[slice]);
        m.domain[i] = domain;
        m.event_type[i] = RANGE;
        m.thread[i] = track_number(r->t, slice);
        m.connection[i] = CONNECTION_NONE;
    }
    r->rank->marks = m;
    r->rank->has |= m.n > 0 ? RANK_MARKS : 0;
    return true;
}

/* Steps, and how the device spent each of them. */
static bool put_steps(struct trace_reader *r, unsigned parts)
{
    struct step_series s;
    struct rank_steps *steps = &r->rank->steps;
    struct rank_step_trace *t = &r->rank->step_trace;
    if (!step_series_of_chrome(&s, r->t, r->rank->names, r->work))
        return false;
    if (s.is_whole || s.n == 0)
        return true;
    struct rank_steps made = { .n = s.n };
    struct rank_step_trace trace = { .n = s.n };
    if (!COLUMN(r, made.id, s.n) || !COLUMN(r, made.begin_ns, s.n) || !COLUMN(r, made.end_ns, s.n) ||
        !COLUMN(r, made.mark, s.n) || !COLUMN(r, trace.step, s.n))
        return false;
    for (size_t k = 0; k < STEP_COLUMNS; k++)
        COLUMN(r, trace.us[k], s.n);
    for (size_t i = 0; !r->failed && i < s.n; i++) {
        const int64_t exposed = s.part_ns[STEP_COMMUNICATION][i], both = s.part_ns[STEP_OVERLAPPED][i];
        made.id[i] = strtoll(names_text(r->rank->names, s.name[i]), NULL, 10);
        made.begin_ns[i] = s.host_begin_ns[i];
        made.end_ns[i] = s.host_end_ns[i];
        made.mark[i] = r->t->steps.by ? name_in_job(r, r->t->steps.annotation[i]) : NAME_EMPTY;
        trace.step[i] = s.name[i];
        const int64_t ns[STEP_COLUMNS] = { [STEP_COLUMN_COMPUTING] = s.part_ns[STEP_COMPUTING][i] + both,
                                           [STEP_COLUMN_EXPOSED] = exposed,
                                           [STEP_COLUMN_OVERLAPPED] = both,
                                           [STEP_COLUMN_COMMUNICATION] = exposed + both,
                                           [STEP_COLUMN_FREE] = s.part_ns[STEP_FREE][i],
                                           [STEP_COLUMN_STAGE] = s.time_ns[i],
                                           [STEP_COLUMN_EXPOSED_NO_RECEIVE] = exposed };
        for (size_t k = 0; k < STEP_COLUMNS; k++)
            trace.us[k][i] = (double)ns[k] / 1000;
    }
    if (r->failed)
        return false;
    if (parts & RANK_STEPS) {
        *steps = made;
        r->rank->has |= RANK_STEPS;
    }
    if (parts & RANK_STEP_TRACE) {
        *t = trace;
        r->rank->has |= RANK_STEP_TRACE;
    }
    return true;
}

/* ---- who it is --------------------------------------------------------------------------------------------------- */

/* A group as the job recorded it, in the form of parallel_group_info. Its ranks may be a text. */
static void group_put(struct trace_reader *r, json_t *all, const json_t *group)
{
    json_error_t unused;
    const char *name = json_string_value(json_object_get(group, "pg_name")),
               *about = json_string_value(json_object_get(group, "pg_desc"));
    const json_t *ranks = json_object_get(group, "ranks");
    json_t *read =
        json_is_string(ranks) ? json_read(json_string_value(ranks), json_string_length(ranks), 0, &unused) : NULL;
    json_t *list = read ? read : json_deep_copy(ranks);
    char *text = json_is_array(list) && name ? json_dumps(list, JSON_COMPACT) : NULL;
    if (text) {
        const struct json_span of_name = { name, strlen(name) }, of_ranks = { text, strlen(text) };
        const name_id id = group_name(r, of_name, of_ranks);
        json_object_set_new(
            all, names_text(r->rank->names, id),
            json_pack("{s:s, s:O}", "group_name", about && *about ? about : name, "global_ranks", list));
    }
    free(text);
    json_decref(list);
}

static const char *json_kept(json_t *value, struct arena *mem)
{
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    const char *kept = text ? arena_text(mem, text, strlen(text)) : NULL;
    free(text);
    json_decref(value);
    return kept;
}

static bool put_identity(struct trace_reader *r)
{
    const struct json_span info = chrome_fact(r->t, "distributedInfo");
    struct rank_identity *id = &r->rank->identity;
    json_error_t unused;
    json_t *json = info.at ? json_read(info.at, info.len, 0, &unused) : NULL, *group, *groups = json_object();
    size_t i;
    json_array_foreach(json_object_get(json, "pg_config"), i, group) group_put(r, groups, group);
    const json_t *world = json_object_get(json, "world_size");
    if (json_is_integer(world) && !id->distributed_args)
        id->distributed_args = json_kept(json_pack("{s:I}", "world_size", json_integer_value(world)), r->rank->mem);
    if (json_object_size(groups) > 0 && !id->parallel_group_info)
        id->parallel_group_info = json_kept(json_incref(groups), r->rank->mem);
    json_decref(groups);
    json_decref(json);
    struct losses lost = r->t->lost;
    for (size_t k = 0; k < LOSS_KINDS; k++) /* the names are of the trace, which is released */
        lost.by[k].file = lost.by[k].n > 0 && lost.by[k].file
                              ? arena_text(r->rank->mem, lost.by[k].file, strlen(lost.by[k].file))
                              : NULL;
    losses_merge(&id->lost, &lost);
    return !json_memory_failed() && !arena_failed(r->rank->mem);
}

/* The ids of groups by their numbers, from what the job noted about them. False: no memory. */
static bool groups_noted_by(struct rank *r, struct keys *number, struct trace_names *id, struct arena *work)
{
    json_error_t unused;
    const char *text = r->identity.parallel_group_info, *key;
    json_t *json = text ? json_read(text, strlen(text), 0, &unused) : NULL, *value;
    bool done = true;
    json_object_foreach(json, key, value)
    {
        const uint32_t at = keys_add(number, names_number(r->names, group_number(key, strlen(key))), work);
        name_id *new = at == id->list.n ? list_add(&id->list, work) : NULL;
        done = done && at < id->list.n; /* also KEYS_NO_MEMORY */
        if (new)
            *new = names_addz(r->names, key);
    }
    json_decref(json);
    return done && !json_memory_failed();
}

bool rank_trace_groups(struct rank *r)
{
    struct arena *work = arena_new();
    struct keys op = { 0 }, number = { 0 };
    struct trace_names group = { 0 }, id = { 0 };
    bool done = work && groups_noted_by(r, &number, &id, work);
    for (size_t i = 0; done && i < r->comm_time.n; i++) {
        const uint32_t at = keys_add(&op, r->comm_time.op[i], work), noted = keys_find(&number, r->comm_time.group[i]);
        name_id *new = at == group.list.n ? list_add(&group.list, work) : NULL;
        done = at < group.list.n;
        if (new)
            *new = noted == KEYS_NONE ? r->comm_time.group[i] : id.list.at[noted];
    }
    for (size_t i = 0; done && i < r->collectives.n; i++) {
        const uint32_t at = keys_find(&op, r->collectives.name[i]);
        r->collectives.group[i] = at == KEYS_NONE ? r->collectives.group[i] : group.list.at[at];
    }
    arena_free(work);
    return done;
}

bool rank_trace_load(const char *path, unsigned parts, struct rank *out, struct error *e)
{
    struct chrome_trace t = { 0 };
    struct trace_reader r = { .t = &t, .rank = out, .work = arena_new(), .e = e };
    bool done = r.work || error_no_memory(e, path);
    done = done && chrome_load(&t, path, e) && trace_steps_find(&t, out->identity.steps_by, e);
    if (done) {
        out->identity.steps_by = t.steps.by ? arena_text(out->mem, t.steps.by, strlen(t.steps.by)) : NULL;
        r.name_of = arena_take(r.work, names_count(t.names), sizeof *r.name_of);
        done = r.name_of && chrome_unknown(&t) && chrome_kinds_init(&r.kinds, &t, r.work);
        if (done)
            slices_take(&r);
        done = done && !r.failed && put_identity(&r) && put_calls(&r, parts & RANK_CALLS) &&
               (!(parts & RANK_TASKS) || put_tasks(&r)) && (!(parts & RANK_COLLECTIVES) || put_collectives(&r)) &&
               (!(parts & RANK_OPS) || put_ops(&r)) && (!(parts & RANK_MARKS) || put_marks(&r)) &&
               (!(parts & (RANK_STEPS | RANK_STEP_TRACE)) || put_steps(&r, parts)) && !names_failed(out->names);
        done = done || error_no_memory(e, path);
    }
    chrome_trace_free(&t);
    arena_free(r.work);
    return done;
}
