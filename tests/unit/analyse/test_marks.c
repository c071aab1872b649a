/* SPDX-License-Identifier: Apache-2.0 */
#include "settings_of.h"
#include "test.h"

#include "analyse/flow/marks.h"
#include "raw/device_records.h"
#include "raw/host_records.h"

enum { MOST = 64, TEXT_MOST = 512 };

/* "m7@10 r7@20": a stamp of a point (m) or of a range (r) with id 7 at tick 10, 20. One tick is one nanosecond. */
static struct device device_of(const char *version, const char *stamps)
{
    struct device d = { .source = { .path = "sample", .mem = arena_new() } };
    d.source.settings = settings_of(json_pack("{s:s}", "cannVersion", version), NULL, d.source.mem);
    d.source.device_clock.tick = (struct ticks){ 1, 1 };
    d.source.begin_ns = 5;
    d.log.stamps.tick = arena_take(d.source.mem, MOST, sizeof *d.log.stamps.tick);
    d.log.stamps.index = arena_take(d.source.mem, MOST, sizeof *d.log.stamps.index);
    d.log.stamps.model = arena_take(d.source.mem, MOST, sizeof *d.log.stamps.model);
    d.log.stamps.stream = arena_take(d.source.mem, MOST, sizeof *d.log.stamps.stream);
    d.log.stamps.task = arena_take(d.source.mem, MOST, sizeof *d.log.stamps.task);
    d.log.stamps.tag = arena_take(d.source.mem, MOST, sizeof *d.log.stamps.tag);
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", stamps);
    for (char *token; (token = strsep(&rest, " "));) {
        char kind;
        unsigned id, tick;
        if (sscanf(token, "%c%u@%u", &kind, &id, &tick) != 3)
            continue;
        const size_t i = d.log.stamps.n++;
        d.log.stamps.tag[i] = kind == 'm' ? STEP_TAG_MARK : kind == 'r' ? STEP_TAG_MARK_RANGE : STEP_TAG_FP;
        d.log.stamps.index[i] = id;
        d.log.stamps.tick[i] = tick;
    }
    return d;
}

static void stamps_pair_by_id(void **state)
{
    static const struct {
        const char *what, *version, *stamps, *marks; /* id begin-end */
        uint64_t n_unpaired, n_outside;
    } row[] = {
        { "no marks", "8.3.RC1", "x1@10", "", 0, 0 },
        { "once is a point", "8.3.RC1", "m1@10", "1 10-10", 0, 0 },
        { "twice is a range", "8.3.RC1", "m1@10 m1@20", "1 10-20", 0, 0 },
        { "more often: from the first to the last", "8.3.RC1", "m1@30 m1@10 m1@20", "1 10-30", 0, 0 },
        { "ranges may overlap", "8.3.RC1", "m2@10 m1@11 m2@12 m1@13", "1 11-13 2 10-12", 0, 0 },
        { "an unknown release is an old one", "", "m1@10 m1@20", "1 10-20", 0, 0 },
        { "9.0 is an old one", "9.0.0", "m1@10 m1@20", "1 10-20", 0, 0 },
        { "from 9.1 on points are points", "9.1.0", "m1@10 m1@20", "1 10-10 1 20-20", 0, 0 },
        { "from 9.1 on ranges have a tag", "9.1.T100", "r1@10 r1@20 m1@30", "1 10-20 1 30-30", 0, 0 },
        { "10 is after 9.1", "10.0.0", "m1@10 m1@20", "1 10-10 1 20-20", 0, 0 },
        { "a range that does not end is counted", "9.1.0-beta", "r1@10 r1@20 r1@30", "1 10-20", 1, 0 },
        { "what began before the collection is too", "8.3.RC1", "m1@4 m1@20 m2@5", "2 5-5", 0, 1 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct device d = device_of(row[i].version, row[i].stamps);
        struct error e = { 0 };
        char text[TEXT_MOST] = "";
        assert_true(device_marks_analyse(&(struct profile){ 0 }, &d, &e));
        for (size_t k = 0; k < d.steps.marks.n; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d %d-%d", k ? " " : "",
                     (int)d.steps.marks.id[k], (int)d.steps.marks.begin_ns[k], (int)d.steps.marks.end_ns[k]);
        assert_string_equal(text, row[i].marks);
        assert_int_equal(d.source.lost.by[LOSS_UNPAIRED].n, row[i].n_unpaired);
        assert_int_equal(d.source.lost.by[LOSS_OUTSIDE].n, row[i].n_outside);
        arena_free(d.source.mem);
    }
    (void)state;
}

struct part {
    uint16_t info, segment;
    uint64_t id;
    const char *message;
    uint32_t thread, process;
};

static struct marks marks_of(const struct part *part, size_t most, struct names *names, struct arena *mem)
{
    struct marks m = { .info = arena_take(mem, MOST, 2),
                       .segment = arena_take(mem, MOST, 2),
                       .process = arena_take(mem, MOST, 4),
                       .thread = arena_take(mem, MOST, 4),
                       .category = arena_take(mem, MOST, 4),
                       .event = arena_take(mem, MOST, 4),
                       .payload_type = arena_take(mem, MOST, 4),
                       .message_type = arena_take(mem, MOST, 4),
                       .payload = arena_take(mem, MOST, 8),
                       .begin = arena_take(mem, MOST, 8),
                       .end = arena_take(mem, MOST, 8),
                       .id = arena_take(mem, MOST, 8),
                       .domain = arena_take(mem, MOST, 8),
                       .message = arena_take(mem, MOST, 4) };
    for (; m.n < most && part[m.n].message; m.n++) {
        m.info[m.n] = part[m.n].info;
        m.segment[m.n] = part[m.n].segment;
        m.id[m.n] = part[m.n].id;
        m.thread[m.n] = part[m.n].thread;
        m.process[m.n] = part[m.n].process;
        m.message[m.n] = names_addz(names, part[m.n].message);
    }
    return m;
}

static void segments_join_in_their_order(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what;
        struct part part[4];
        const char *marks; /* id:message */
        uint64_t n_cut, n_other;
    } row[] = {
        { "nothing", { { 0 } }, "", 0, 0 },
        { "plain marks come first and stay alone", { { 1, 0, 7, "b", 1, 1 }, { 0, 0, 7, "a", 1, 1 }, { 0, 0, 7, "a", 1, 1 } }, "7:a 7:a 7:b", 0, 0 },
        { "two segments", { { 1, 0, 7, "one ", 1, 1 }, { 1, 1, 7, "two", 1, 1 } }, "7:one two", 0, 0 },
        { "segments in any order", { { 1, 1, 7, "two", 1, 1 }, { 1, 0, 8, "other", 1, 1 }, { 1, 0, 7, "one ", 1, 1 } }, "8:other 7:one two", 0, 0 },
        { "JSON with escaped quotes is plain JSON", { { 1, 0, 7, "{\\\"a\\\": \\\"b\\\\c", 1, 1 }, { 1, 1, 7, "\\\"}", 1, 1 } }, "7:{\"a\": \"b\\\\c\"}", 0, 0 },
        { "other backslashes stay", { { 0, 0, 7, "\\\"a", 1, 1 }, { 0, 0, 7, "{ \\\"", 1, 1 } }, "7:\\\"a 7:{ \\\"", 0, 0 },
        { "a missing segment is counted", { { 1, 0, 7, "one ", 1, 1 }, { 1, 2, 7, "three", 1, 1 } }, "7:one three", 1, 0 },
        { "without its begin", { { 1, 1, 7, "two", 1, 1 } }, "7:two", 1, 0 },
        { "another thread, the same id: two marks", { { 1, 0, 7, "a", 1, 1 }, { 1, 0, 7, "b", 2, 1 } }, "7:a 7:b", 0, 0 },
        { "another process, the same id: two marks", { { 1, 0, 7, "a", 1, 1 }, { 1, 0, 7, "b", 1, 2 } }, "7:a 7:b", 0, 0 },
        { "the same thread, the same id: two marks", { { 1, 0, 7, "a", 1, 1 }, { 1, 0, 7, "b", 1, 1 } }, "7:a 7:b", 0, 0 },
        { "long ones of two threads, side by side", { { 1, 0, 7, "a", 1, 1 }, { 1, 0, 7, "b", 2, 1 }, { 1, 1, 7, "B", 2, 1 }, { 1, 1, 7, "A", 1, 1 } }, "7:aA 7:bB", 0, 0 },
        { "long ones of one thread", { { 1, 0, 7, "a", 1, 1 }, { 1, 1, 7, "A", 1, 1 }, { 1, 0, 7, "b", 1, 1 }, { 1, 1, 7, "B", 1, 1 } }, "7:aA 7:bB", 0, 0 },
        { "of two with one id one is cut short", { { 1, 0, 7, "a", 1, 1 }, { 1, 1, 7, "A", 1, 1 }, { 1, 1, 7, "B", 2, 1 } }, "7:aA 7:B", 1, 0 },
        { "a kind that nobody knows is counted", { { 9, 0, 7, "what", 1, 1 }, { 0, 0, 1, "a", 1, 1 } }, "1:a", 0, 1 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct profile p = { .path = "sample", .names = names_new() };
        p.host.source = (struct source){ .path = "sample", .mem = arena_new() };
        struct marks *m = &p.host.records.marks;
        struct arena *mem = p.host.source.mem;
        *m = marks_of(row[i].part, ROWS(row[i].part), p.names, mem);
        struct error e = { 0 };
        char text[TEXT_MOST] = "";
        assert_true(marks_analyse(&p, &e));
        for (size_t k = 0; k < m->n; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d:%s", k ? " " : "", (int)m->id[k],
                     names_text(p.names, m->message[k]));
        assert_string_equal(text, row[i].marks);
        assert_int_equal(p.host.source.lost.by[LOSS_CUT_SHORT].n, row[i].n_cut);
        assert_int_equal(p.host.source.lost.by[LOSS_OTHER_KIND].n, row[i].n_other);
        names_free(p.names);
        arena_free(mem);
    }
    (void)state;
}

static void devices_find_the_marks_of_their_threads(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what, *stamps; /* of device 1 */
        struct part part[4];
        uint64_t begin[4];
        struct { uint16_t device; uint32_t thread; } launch[4];
        const char *seen; /* messages, in order of the device's marks */
        uint64_t unique; /* id of the last */
    } row[] = {
        { "one mark of an id", "m7@50", { { 1, 0, 7, "a", 1, 1 } }, { 10 }, { { 0, 1 } }, "a", 7 },
        { "no mark of an id", "m8@50", { { 1, 0, 7, "a", 1, 1 } }, { 10 }, { { 0, 1 } }, "-", 8 },
        { "two threads, one for each device", "m7@50", { { 1, 0, 7, "a", 1, 1 }, { 1, 0, 7, "b", 2, 1 } }, { 11, 10 },
          { { 0, 1 }, { 1, 2 } }, "b", 7 },
        { "the other way round", "m7@50", { { 1, 0, 7, "a", 1, 1 }, { 1, 0, 7, "b", 2, 1 } }, { 11, 10 },
          { { 1, 1 }, { 0, 2 } }, "a", 7 + (UINT64_C(1) << 32) },
        { "begun after it on the clock of the host", "m7@9", { { 1, 0, 7, "a", 1, 1 }, { 1, 0, 7, "b", 2, 1 } }, { 8, 10 },
          { { 0, 1 }, { 1, 2 } }, "b", 7 + (UINT64_C(1) << 32) },
        { "one thread: the latest before it", "m7@15 m7@25", { { 1, 0, 7, "a", 1, 1 }, { 1, 0, 7, "b", 1, 1 } }, { 10, 20 },
          { { 1, 1 } }, "a b", 7 + (UINT64_C(1) << 32) },
        { "threads that launch nothing: the latest before it", "m7@15", { { 1, 0, 7, "a", 1, 1 }, { 1, 0, 7, "b", 2, 1 } },
          { 10, 20 }, { { 0, 9 } }, "a", 7 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct profile p = { .path = "sample", .names = names_new() };
        struct device d = device_of("9.1.0", row[i].stamps);
        struct arena *mem = d.source.mem;
        struct error e = { 0 };
        char text[TEXT_MOST] = "";
        d.source.device = 1;
        p.host.source = (struct source){ .path = "sample", .mem = mem };
        p.host.source.host_clock.tick = (struct ticks){ 1, 1 };
        p.host.records.marks = marks_of(row[i].part, ROWS(row[i].part), p.names, mem);
        memcpy(p.host.records.marks.begin, row[i].begin, sizeof row[i].begin);
        p.host.tasks.device = arena_take(mem, MOST, 2);
        p.host.tasks.thread = arena_take(mem, MOST, 4);
        for (size_t *n = &p.host.tasks.n; *n < ROWS(row[i].launch) && row[i].launch[*n].thread; ++*n) {
            p.host.tasks.device[*n] = row[i].launch[*n].device;
            p.host.tasks.thread[*n] = row[i].launch[*n].thread;
        }
        assert_true(marks_analyse(&p, &e));
        assert_true(device_marks_analyse(&p, &d, &e));
        const struct device_marks *seen = &d.steps.marks;
        for (size_t k = 0; k < seen->n; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k ? " " : "",
                     seen->host[k] == NO_ROW ? "-" : names_text(p.names, p.host.records.marks.message[seen->host[k]]));
        assert_string_equal(text, row[i].seen);
        assert_int_equal(seen_unique_id(&p, seen, seen->n - 1), row[i].unique);
        names_free(p.names);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_pair_by_id),
        cmocka_unit_test(segments_join_in_their_order),
        cmocka_unit_test(devices_find_the_marks_of_their_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
