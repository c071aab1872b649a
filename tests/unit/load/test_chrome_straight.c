/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_straight.c: events that a writer hands over become the same columns as reading the text that it writes. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/trace.h"
#include "load/trace/chrome_events.h"
#include "load/trace/trace_readers.h"

enum { EVENTS = 4000, FIRST_NS = 1700000000 };

struct form {
    bool has_base, has_text_dur, has_lanes;
};

/* A small generator of numbers, the same in both runs. */
static uint64_t some(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Whole nanoseconds, fractions of all kinds, ties and what is next to them, and what no clock gives. */
static double some_dur(uint64_t *state)
{
    static const double odd[] = { 0,          0.25, 0.5,  2.5, 1e-7, -5, 12345.5, 12345.4999999999, 12345.5000000001,
                                  4e11 + 0.5, 3e12, 1e17, 1e19 };
    const uint64_t kind = some(state) % 4, more = some(state);
    return kind == 0   ? odd[more % (sizeof odd / sizeof *odd)]
           : kind == 1 ? (double)(more % 100000)
                       : (double)(more % 1000000) + (double)(some(state) % 1000) / (kind == 2 ? 48 : 1000);
}

static int64_t some_time(uint64_t *state, int64_t *now_ns)
{
    static const int64_t odd[] = { 0, -1, INT64_C(1) << 61, -(INT64_C(1) << 62), INT64_MAX };
    *now_ns += (int64_t)(some(state) % 50000);
    return some(state) % 50 == 0 ? odd[some(state) % (sizeof odd / sizeof *odd)] : *now_ns;
}

static void write_args(struct trace *t, uint64_t *state)
{
    if (some(state) % 3 == 0) {
        trace_end_without_args(t, some(state) % 2 == 0);
        return;
    }
    trace_args(t);
    if (some(state) % 3 > 0) {
        trace_arg_uint(t, "number", some(state));
        trace_arg_text(t, "text", "a \"quoted\" one");
    }
    trace_end(t);
}

static void write_slice(struct trace *t, const name_id *name, uint64_t *state, int64_t *now_ns)
{
    const uint32_t pid = 1 + (uint32_t)(some(state) % 3);
    const int64_t tid = (int64_t)(some(state) % 5) - 1, begin_ns = some_time(state, now_ns);
    const double dur_ns = some_dur(state);
    const name_id one = name[some(state) % 4];
    switch (some(state) % 3) {
    case 0: trace_slice_name(t, one, pid, tid, begin_ns, dur_ns); break;
    case 1: trace_slice_prefixed(t, "layer", one, pid, tid, begin_ns, dur_ns); break;
    default: trace_slice(t, "a \\ b", 5, pid, tid, begin_ns, dur_ns); break;
    }
    if (some(state) % 2)
        trace_category(t, "some kind");
    write_args(t, state);
}

static void write_other(struct trace *t, const name_id *name, uint64_t *state, int64_t *now_ns)
{
    static const char *const ids[] = { "17", "124554051584", "1208925819614629174706176", "not a number" };
    const uint32_t pid = 1 + (uint32_t)(some(state) % 3);
    const int64_t at_ns = some_time(state, now_ns);
    const struct flow flow = { "stf"[some(state) % 3], some(state) % 2 == 0, "named", "tied", NULL, some(state) << 31 };
    switch (some(state) % 6) {
    case 0: trace_thread(t, pid, 2, "a \"row\"", -3); break;
    case 1: trace_flow(t, &flow, pid, 2, at_ns); break;
    case 2:
        trace_flow_args(t, &flow, pid, 2, at_ns);
        trace_arg_uint(t, "of a flow", 1);
        trace_end(t);
        break;
    case 3: trace_flow_id(t, 's', "HostToDevice", ids[some(state) % 4], pid, 1, at_ns); break;
    case 4:
        trace_moment(t, name[1], pid, 1, at_ns);
        write_args(t, state);
        break;
    default:
        trace_counter(t, "level", pid, 0, at_ns);
        trace_arg_real(t, "one", (double)some(state) / 7);
        trace_arg_uint(t, "two", some(state));
        trace_end(t);
    }
}

static uint64_t write_all(struct trace *t, const struct form *form, const name_id *name)
{
    uint64_t state = 5;
    int64_t now_ns = INT64_C(1000000000) * FIRST_NS;
    t->has_base = form->has_base;
    t->base_ns = now_ns - 1234;
    t->has_text_dur = form->has_text_dur;
    t->lanes = form->has_lanes ? lanes_new() : NULL;
    trace_begin(t);
    trace_process(t, 1, "first", "label", 7);
    for (int i = 0; i < EVENTS; i++)
        (some(&state) % 4 ? write_slice : write_other)(t, name, &state, &now_ns);
    trace_metadata(t, "about the whole");
    trace_arg_text(t, "key", "value");
    trace_end(t);
    trace_finish(t);
    lanes_free(t->lanes);
    return t->n_events;
}

static void same_name(const struct chrome_trace *a, name_id x, const struct chrome_trace *b, name_id y)
{
    assert_int_equal(names_len(a->names, x), names_len(b->names, y));
    assert_memory_equal(names_text(a->names, x), names_text(b->names, y), names_len(a->names, x));
}

static void same_args(const char *a, uint32_t a_len, const char *b, uint32_t b_len)
{
    assert_int_equal(a_len, b_len);
    assert_memory_equal(a, b, a_len);
}

static void same_rows(const struct chrome_trace *a, const struct chrome_trace *b)
{
    assert_int_equal(a->processes.n, b->processes.n);
    for (size_t i = 0; i < a->processes.n; i++) {
        const struct chrome_process *x = &a->processes.at[i], *y = &b->processes.at[i];
        same_name(a, x->id.text, b, y->id.text);
        same_name(a, x->name, b, y->name);
        same_name(a, x->labels, b, y->labels);
        assert_int_equal(x->id.number, y->id.number);
        assert_int_equal(x->sort_index, y->sort_index);
        assert_int_equal(x->n_events, y->n_events);
    }
    assert_int_equal(a->tracks.n, b->tracks.n);
    for (size_t i = 0; i < a->tracks.n; i++) {
        const struct chrome_track *x = &a->tracks.at[i], *y = &b->tracks.at[i];
        same_name(a, x->id.text, b, y->id.text);
        same_name(a, x->name, b, y->name);
        assert_int_equal(x->process, y->process);
        assert_int_equal(x->sort_index, y->sort_index);
        assert_int_equal(x->n_events, y->n_events);
        assert_int_equal(x->first, y->first);
        assert_int_equal(x->n_slices, y->n_slices);
    }
}

static void same_slices(const struct chrome_trace *a, const struct chrome_trace *b)
{
    assert_int_equal(a->slices.n, b->slices.n);
    for (size_t i = 0; i < a->slices.n; i++) {
        assert_int_equal(a->slices.begin_ns[i], b->slices.begin_ns[i]);
        assert_int_equal(a->slices.dur_ns[i], b->slices.dur_ns[i]);
        assert_int_equal(a->slices.track[i], b->slices.track[i]);
        same_name(a, a->slices.name[i], b, b->slices.name[i]);
        same_name(a, a->slices.category[i], b, b->slices.category[i]);
        same_args(a->text + a->slices.args_at[i], a->slices.args_len[i], b->text + b->slices.args_at[i],
                  b->slices.args_len[i]);
    }
}

static void same_others(const struct chrome_trace *a, const struct chrome_trace *b)
{
    assert_int_equal(a->instants.n, b->instants.n);
    for (size_t i = 0; i < a->instants.n; i++) {
        const struct chrome_instant *x = &a->instants.at[i], *y = &b->instants.at[i];
        assert_int_equal(x->ns, y->ns);
        assert_int_equal(x->track, y->track);
        assert_int_equal(x->scope, y->scope);
        same_name(a, x->name, b, y->name);
        same_args(a->text + x->args_at, x->args_len, b->text + y->args_at, y->args_len);
    }
    assert_int_equal(a->counters.n, b->counters.n);
    for (size_t i = 0; i < a->counters.n; i++) {
        const struct chrome_counter *x = &a->counters.at[i], *y = &b->counters.at[i];
        assert_int_equal(x->ns, y->ns);
        assert_true(x->value == y->value);
        assert_int_equal(x->track, y->track);
        same_name(a, x->name, b, y->name);
        same_name(a, x->series, b, y->series);
    }
    assert_int_equal(a->flows.n, b->flows.n);
    for (size_t i = 0; i < a->flows.n; i++) {
        const struct chrome_flow *x = &a->flows.at[i], *y = &b->flows.at[i];
        assert_int_equal(x->ns, y->ns);
        assert_int_equal(x->track, y->track);
        assert_int_equal(x->phase, y->phase);
        assert_int_equal(x->binds_enclosing, y->binds_enclosing);
        assert_int_equal(x->is_text, y->is_text);
        same_name(a, x->category, b, y->category);
        if (x->is_text)
            same_name(a, (name_id)x->id, b, (name_id)y->id);
        else
            assert_int_equal(x->id, y->id);
    }
}

static void same_as_text(const struct form *form)
{
    struct error e = { 0 };
    struct names *names = names_new();
    const name_id name[] = { names_addz(names, "MatMul"), names_addz(names, "say \"hello\"\n"),
                             names_addz(names, "caf\xc3\xa9"), names_addz(names, "bad \xff byte") };
    struct out text, args, event;
    assert_true(out_open_memory(&text, &e) && out_open_memory(&args, &e) && out_open_memory(&event, &e));
    const uint64_t n = write_all(&(struct trace){ .out = &text, .names = names }, form, name);

    struct chrome_trace read = { 0 }, made = { 0 };
    assert_true(chrome_parse(&read, text.buf, text.n, "text", &e));
    struct chrome_straight *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_true(chrome_straight_begin(s, &made, "made"));
    s->sink.args = &args;
    s->sink.text = &event;
    assert_int_equal(write_all(&(struct trace){ .sink = &s->sink, .names = names }, form, name), n);
    assert_true(chrome_straight_finish(s, args.buf, args.n));
    chrome_straight_end(s);
    free(s);

    assert_true(args.n < text.n / 2);
    assert_int_equal(made.n_events, n);
    assert_int_equal(read.n_events, n);
    assert_int_equal(made.n_metadata, read.n_metadata);
    assert_int_equal(made.n_counter_events, read.n_counter_events);
    assert_int_equal(losses_damage(&made.lost), losses_damage(&read.lost));
    same_rows(&read, &made);
    same_slices(&read, &made);
    same_others(&read, &made);
    chrome_trace_free(&read);
    chrome_trace_free(&made);
    out_discard(&text);
    out_discard(&args);
    out_discard(&event);
    names_free(names);
}

static void test_epoch_times(void **state)
{
    (void)state;
    same_as_text(&(struct form){ 0 });
}

static void test_times_from_a_base(void **state)
{
    (void)state;
    same_as_text(&(struct form){ .has_base = true });
}

static void test_durations_as_text(void **state)
{
    (void)state;
    same_as_text(&(struct form){ .has_text_dur = true });
}

static void test_lanes(void **state)
{
    (void)state;
    same_as_text(&(struct form){ .has_lanes = true });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epoch_times),
        cmocka_unit_test(test_times_from_a_base),
        cmocka_unit_test(test_durations_as_text),
        cmocka_unit_test(test_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
