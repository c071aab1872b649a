/* SPDX-License-Identifier: Apache-2.0 */
#include "export/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/text/stamp.h"

void trace_begin(struct trace *t)
{
    if (!t->sink)
        out_char(t->out, '[');
}

void trace_finish(struct trace *t)
{
    if (t->sink)
        return;
    if (t->one_per_line)
        out_char(t->out, '\n');
    out_lit(t->out, "]\n");
}

bool trace_wants(const struct trace *t, int64_t begin_ns, int64_t end_ns)
{
    bool wants = t->window == NULL;
    for (size_t i = 0; i < t->n_windows && !wants; i++) {
        const struct window *w = &t->window[i];
        wants = w->has_any && begin_ns < w->end_ns && (begin_ns >= w->shown_ns || end_ns > w->shown_ns);
    }
    return wants;
}

/* Begins the text of an event, up to its name; the name follows, then place(). */
static void begin(struct trace *t)
{
    if (t->sink) {
        t->n_events++;
        t->out = t->sink->text;
        t->out->n = 0;
    }
    char *p = out_reserve(t->out, OUT_RESERVE);
    if (!t->sink) {
        *p = ',';
        p += t->n_events++ > 0;
        *p = '\n';
        p += t->one_per_line;
    }
    out_put(t->out, lit_put(p, "{\"name\":\""));
}

static uint64_t written(const struct out *o)
{
    return o->written + o->n;
}

/* The open event is complete: a sink gets it. */
static void hand_over(struct trace *t)
{
    if (t->is_straight) {
        t->sink->add(t->sink->context, &t->event);
        t->is_straight = false;
    } else if (t->sink) {
        t->sink->add_text(t->sink->context, t->sink->text->buf, t->sink->text->n, written(t->sink->args));
        out_bytes(t->sink->args, t->sink->text->buf, t->sink->text->n);
        t->out = t->sink->args;
    }
}

/* Begins an event as a struct for the sink. False: there is no sink, or the time is so damaged that a reader of the
 * text would see another one; the event has to be written as text. */
static bool straight(struct trace *t, char phase, uint32_t pid, int64_t tid, int64_t at_ns)
{
    const int64_t ns = t->has_base ? wrap_sub(at_ns, t->base_ns) : at_ns;
    if (!t->sink || ns <= -STAMP_MOST || ns >= STAMP_MOST)
        return false;
    t->n_events++;
    t->is_straight = true;
    t->event = (struct chrome_event){ .phase = phase, .pid = pid, .tid = tid, .ns = ns };
    t->pid = pid;
    t->out = t->sink->args;
    return true;
}

static name_id sink_name(struct trace *t, const char *text, size_t len)
{
    return t->sink->name(t->sink->context, text, len);
}

static void place_find(struct trace_place *at, uint32_t pid, int64_t tid)
{
    at->pid = pid;
    at->tid = tid;
    char *p = lit_put(at->text, "\",\"pid\":");
    p += digits_put(p, pid);
    p = lit_put(p, ",\"tid\":");
    *p = '-';
    p += tid < 0;
    p += digits_put(p, tid < 0 ? 0 - (uint64_t)tid : (uint64_t)tid);
    at->len = (size_t)(p - at->text);
}

static void place(struct trace *t, uint32_t pid, int64_t tid)
{
    struct trace_place *at = &t->place[(pid ^ pid >> 5 ^ (uint64_t)tid) % TRACE_PLACES];
    if (at->len == 0 || at->pid != pid || at->tid != tid)
        place_find(at, pid, tid);
    t->pid = pid;
    char *to = out_reserve(t->out, TRACE_PLACE_BYTES);
    memcpy(to, at->text, TRACE_PLACE_BYTES); /* a constant size is copied inline, without a call */
    out_put(t->out, to + at->len);
}

static void event(struct trace *t, const char *name, size_t len, uint32_t pid, int64_t tid)
{
    begin(t);
    out_json_inner(t->out, name, len);
    place(t, pid, tid);
}

static void put_name(struct trace *t, name_id name)
{
    escaped_write(t->escaped, t->names, name, t->out);
}

static void time_at(struct trace *t, int64_t ns)
{
    char *p = out_reserve(t->out, OUT_RESERVE);
    if (t->has_base) {
        p = us_put(t->out, lit_put(p, ",\"ts\":"), ns - t->base_ns);
    } else {
        p = us_put(t->out, lit_put(p, ",\"ts\":\""), ns);
        *p++ = '"';
    }
    out_put(t->out, p);
}

static void metadata(struct trace *t, const char *what, uint32_t pid, int64_t tid)
{
    event(t, what, strlen(what), pid, tid);
    out_lit(t->out, ",\"ph\":\"M\"");
    trace_args(t);
}

void trace_metadata(struct trace *t, const char *what)
{
    metadata(t, what, t->pid, 0);
}

void trace_process_name(struct trace *t, uint32_t pid, const char *name)
{
    metadata(t, "process_name", pid, 0);
    trace_arg_text(t, "name", name);
    trace_end(t);
}

void trace_process(struct trace *t, uint32_t pid, const char *name, const char *label, unsigned sort_index)
{
    trace_process_name(t, pid, name);
    if (label) {
        metadata(t, "process_labels", pid, 0);
        trace_arg_text(t, "labels", label);
        trace_end(t);
    }
    metadata(t, "process_sort_index", pid, 0);
    trace_arg_uint(t, "sort_index", sort_index);
    trace_end(t);
}

void trace_process_npu(struct trace *t, uint32_t pid, const char *name, unsigned device, unsigned sort_index)
{
    char label[32];
    if (t->has_one_npu)
        snprintf(label, sizeof label, "%s", t->device_word);
    else
        snprintf(label, sizeof label, "%s %u", t->device_word, device);
    trace_process(t, pid, name, label, sort_index);
}

void trace_thread_name(struct trace *t, uint32_t pid, int64_t tid, const char *name)
{
    struct lane_row *row = t->lanes ? lanes_row(t->lanes, pid, tid) : NULL;
    if (row)
        lane_row_name(row, name);
    metadata(t, "thread_name", pid, tid);
    trace_arg_text(t, "name", name);
    trace_end(t);
}

void trace_thread(struct trace *t, uint32_t pid, int64_t tid, const char *name, int64_t sort_index)
{
    trace_thread_name(t, pid, tid, name);
    metadata(t, "thread_sort_index", pid, tid);
    trace_arg_int(t, "sort_index", sort_index);
    trace_end(t);
}

/* The tid of the lane in which a slice is drawn: that of its track, or a further one if it would overlap there. */
static int64_t row_of_slice(struct trace *t, uint32_t pid, int64_t tid, int64_t begin_ns, double dur_ns)
{
    struct lane_row *row = t->lanes ? lanes_row(t->lanes, pid, tid) : NULL;
    bool is_new = false;
    const int64_t end_ns = stamp_add(begin_ns, dur_ns > 0 && dur_ns < 9e18 ? (int64_t)dur_ns : 0);
    const unsigned lane = row && !t->keeps_overlaps ? lane_row_place(row, begin_ns, end_ns, &is_new) : 0;
    if (is_new) {
        char name[96];
        snprintf(name, sizeof name, "%s (%u)", lane_row_text(row), lane + 1);
        metadata(t, "thread_name", pid, lane_tid(tid, lane));
        trace_arg_text(t, "name", name);
        trace_end(t);
        metadata(t, "thread_sort_index", pid, lane_tid(tid, lane));
        trace_arg_int(t, "sort_index", tid);
        trace_end(t);
    }
    if (lane > 0 && t->keeps_moves && !lanes_move(t->lanes, pid, tid, begin_ns, lane))
        t->has_no_memory = true;
    return lane_tid(tid, lane);
}

/* With a time base times are numbers, and viewers add begin and duration as doubles. The duration is chosen so that
 * this sum is the double of the end: slices that end together or nest do so in viewers, too. */
static double double_dur_us(int64_t begin_ns, int64_t end_ns)
{
    const double begin = (double)begin_ns / 1000, end = (double)end_ns / 1000;
    double dur = end - begin;
    if (begin + dur < end)
        dur = nextafter(dur, INFINITY);
    else if (begin + dur > end)
        dur = nextafter(dur, 0);
    return dur;
}

static void slice_time(struct trace *t, int64_t begin_ns, double dur_ns)
{
    time_at(t, begin_ns);
    out_lit(t->out, ",\"dur\":");
    if (t->has_base && dur_ns > 0 && dur_ns < 9e15)
        out_real(t->out, double_dur_us(begin_ns - t->base_ns, begin_ns - t->base_ns + (int64_t)dur_ns));
    else if (t->has_text_dur && fabs(dur_ns) < 9e18) {
        out_lit(t->out, "\"");
        out_us(t->out, (int64_t)dur_ns);
        out_lit(t->out, "\"");
    } else if (fabs(dur_ns) < 9e18 && (double)(int64_t)dur_ns == dur_ns)
        out_us_short(t->out, (int64_t)dur_ns);
    else
        out_real(t->out, dur_ns / 1000);
    out_lit(t->out, ",\"ph\":\"X\"");
}

/* The sink gets the whole nanoseconds that a reader of the text would get, which has microseconds as a double. Where
 * the last digits of that double decide (long durations, a fraction near one half) it is false, and the slice is
 * written as text. */
static bool straight_slice(struct trace *t, uint32_t pid, int64_t tid, int64_t begin_ns, double dur_ns)
{
    static const double most_ns = 1e12, most_base_ns = 1e14, tie = 1e-3;
    if (!t->sink || !(dur_ns >= 0 && dur_ns < most_ns) ||
        (t->has_base && fabs((double)begin_ns - (double)t->base_ns) > most_base_ns))
        return false;
    const int64_t whole_ns = (int64_t)dur_ns;
    const double rest = dur_ns - (double)whole_ns;
    const bool is_cut = (t->has_base && dur_ns > 0) || t->has_text_dur;
    if ((!is_cut && fabs(rest - 0.5) < tie) || !straight(t, 'X', pid, tid, begin_ns))
        return false;
    t->event.dur_ns = whole_ns + (!is_cut && rest > 0.5);
    return true;
}

void trace_slice(struct trace *t, const char *name, size_t len, uint32_t pid, int64_t tid, int64_t begin_ns,
                 double dur_ns)
{
    const int64_t row = row_of_slice(t, pid, tid, begin_ns, dur_ns);
    if (straight_slice(t, pid, row, begin_ns, dur_ns)) {
        t->event.name = sink_name(t, name, len);
        return;
    }
    event(t, name, len, pid, row);
    slice_time(t, begin_ns, dur_ns);
}

void trace_slice_name(struct trace *t, name_id name, uint32_t pid, int64_t tid, int64_t begin_ns, double dur_ns)
{
    const int64_t row = row_of_slice(t, pid, tid, begin_ns, dur_ns);
    if (straight_slice(t, pid, row, begin_ns, dur_ns)) {
        t->event.name = sink_name(t, names_text(t->names, name), names_len(t->names, name));
        return;
    }
    begin(t);
    put_name(t, name);
    place(t, pid, row);
    slice_time(t, begin_ns, dur_ns);
}

void trace_moment(struct trace *t, name_id name, uint32_t pid, int64_t tid, int64_t at_ns)
{
    if (!t->has_base) {
        trace_slice_name(t, name, pid, tid, at_ns, 0);
        return;
    }
    trace_instant(t, name, pid, tid, at_ns);
}

void trace_instant(struct trace *t, name_id name, uint32_t pid, int64_t tid, int64_t at_ns)
{
    if (straight(t, 'i', pid, tid, at_ns)) {
        t->event.name = sink_name(t, names_text(t->names, name), names_len(t->names, name));
        t->event.scope = t->has_base ? 't' : 0;
        return;
    }
    event(t, names_text(t->names, name), names_len(t->names, name), pid, tid);
    time_at(t, at_ns);
    out_lit(t->out, ",\"ph\":\"i\"");
    if (t->has_base) /* viewers draw it across its thread only, not across its process */
        out_lit(t->out, ",\"s\":\"t\"");
}

void trace_slice_prefixed(struct trace *t, const char *prefix, name_id name, uint32_t pid, int64_t tid,
                          int64_t begin_ns, double dur_ns)
{
    const int64_t row = row_of_slice(t, pid, tid, begin_ns, dur_ns);
    if (straight_slice(t, pid, row, begin_ns, dur_ns)) {
        t->sink->text->n = 0;
        out_bytes(t->sink->text, prefix, strlen(prefix));
        out_char(t->sink->text, '@');
        out_bytes(t->sink->text, names_text(t->names, name), names_len(t->names, name));
        t->event.name = sink_name(t, t->sink->text->buf, t->sink->text->n);
        return;
    }
    begin(t);
    out_bytes(t->out, prefix, strlen(prefix));
    out_char(t->out, '@');
    put_name(t, name);
    place(t, pid, row);
    slice_time(t, begin_ns, dur_ns);
}

void trace_counter(struct trace *t, const char *name, uint32_t pid, int64_t tid, int64_t at_ns)
{
    event(t, name, strlen(name), pid, tid);
    time_at(t, at_ns);
    out_lit(t->out, ",\"ph\":\"C\"");
    trace_args(t);
}

void trace_args(struct trace *t)
{
    t->first_arg = true;
    if (t->is_straight) {
        t->event.args_at = written(t->out);
        out_char(t->out, '{');
        return;
    }
    out_lit(t->out, ",\"args\":{");
}

void trace_arg_text(struct trace *t, const char *key, const char *text)
{
    trace_key(t, key, strlen(key));
    out_json(t->out, text, strlen(text));
}

void trace_arg_name(struct trace *t, const char *key, name_id name)
{
    trace_key(t, key, strlen(key));
    out_lit(t->out, "\"");
    put_name(t, name);
    out_lit(t->out, "\"");
}

void trace_arg_time(struct trace *t, const char *key, int64_t ns)
{
    trace_key(t, key, strlen(key));
    out_char(t->out, '"');
    out_us(t->out, ns);
    out_char(t->out, '"');
}

void trace_arg_launch(struct trace *t, const name_id *name, size_t row)
{
    if (name && name[row] != NAME_EMPTY)
        trace_arg_name(t, "mindspore_op", name[row]);
}

void trace_end(struct trace *t)
{
    if (t->is_straight) {
        out_char(t->out, '}');
        t->event.args_len = (size_t)(written(t->out) - t->event.args_at);
    } else {
        out_lit(t->out, "}}");
    }
    hand_over(t);
}

void trace_end_without_args(struct trace *t, bool is_bare)
{
    if (!is_bare && !t->is_straight) {
        trace_args(t);
        trace_end(t);
        return;
    }
    if (!t->is_straight)
        out_char(t->out, '}');
    hand_over(t);
}

/* A flow event is written right after the slice that it belongs to, and is on the lane of that slice. */
static void put_flow(struct trace *t, const struct flow *a, uint32_t pid, int64_t tid, int64_t at_ns)
{
    const struct lane_row *row = t->lanes ? lanes_row(t->lanes, pid, tid) : NULL;
    const int64_t at = row ? lane_tid(tid, lane_row_last(row)) : tid;
    if (straight(t, a->end, pid, at, at_ns)) {
        t->event.name = sink_name(t, a->name, strlen(a->name));
        t->event.category = sink_name(t, a->category, strlen(a->category));
        t->event.id = a->id;
        t->event.number = a->number;
        t->event.binds_enclosing = a->binds;
        return;
    }
    begin(t);
    out_bytes(t->out, a->name, strlen(a->name));
    place(t, pid, at);
    char *p = lit_put(out_reserve(t->out, OUT_RESERVE), ",\"ph\":\"");
    *p++ = a->end;
    out_put(t->out, lit_put(p, "\",\"cat\":\""));
    out_bytes(t->out, a->category, strlen(a->category));
    p = lit_put(out_reserve(t->out, OUT_RESERVE), "\",\"id\":");
    const bool is_text = a->id || t->has_base; /* as doubles, large numbers next to each other would be the same id */
    *p = '"';
    p += is_text;
    if (!a->id)
        p += digits_put(p, a->number);
    out_put(t->out, p);
    if (a->id)
        out_bytes(t->out, a->id, strlen(a->id));
    if (is_text)
        out_lit(t->out, "\"");
    time_at(t, at_ns);
    if (a->binds)
        out_lit(t->out, ",\"bp\":\"e\"");
}

void trace_flow(struct trace *t, const struct flow *a, uint32_t pid, int64_t tid, int64_t at_ns)
{
    put_flow(t, a, pid, tid, at_ns);
    trace_end_without_args(t, true);
}

void trace_flow_args(struct trace *t, const struct flow *a, uint32_t pid, int64_t tid, int64_t at_ns)
{
    put_flow(t, a, pid, tid, at_ns);
    if (t->is_straight && a->id) { /* the event is open longer than the caller's text is valid */
        assert(strlen(a->id) < sizeof t->flow_id);
        t->event.id = strcpy(t->flow_id, a->id);
    }
    trace_args(t);
}

void trace_flow_id(struct trace *t, char end, const char *category, const char *id, uint32_t pid, int64_t tid,
                   int64_t at_ns)
{
    struct flow flow = { end, end == 'f', category, category, id, 0 };
    if (t->sink) {
        trace_flow(t, &flow, pid, tid, at_ns);
        return;
    }
    char name[128];
    const size_t before = strlen(category), len = strlen(id);
    assert(before + len < sizeof name);
    memcpy(name, category, before);
    memcpy(name + before, id, len + 1);
    flow.name = name;
    trace_flow(t, &flow, pid, tid, at_ns);
}
