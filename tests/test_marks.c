#include "test.h"

#include "analyse/marks.h"
#include "raw/device.h"
#include "raw/host.h"

enum { MOST = 64, TEXT_MOST = 512 };

/* "m7@10 r7@20": a stamp of a point (m) or of a range (r) with id 7 at tick 10, 20. One tick is one nanosecond. */
static struct device device_of(const char *version, const char *stamps)
{
    struct device d = { .source = { .path = "sample", .mem = arena_new() } };
    d.source.info = json_pack("{s:s}", "cannVersion", version);
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
        assert_true(device_marks_analyse(NULL, &d, &e));
        for (size_t k = 0; k < d.steps.marks.n; k++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d %d-%d", k ? " " : "",
                     (int)d.steps.marks.id[k], (int)d.steps.marks.begin_ns[k], (int)d.steps.marks.end_ns[k]);
        assert_string_equal(text, row[i].marks);
        assert_int_equal(d.source.lost.by[LOSS_UNPAIRED].n, row[i].n_unpaired);
        assert_int_equal(d.source.lost.by[LOSS_OUTSIDE].n, row[i].n_outside);
        json_decref(d.source.info);
        arena_free(d.source.mem);
    }
    (void)state;
}

struct part {
    uint16_t info, segment;
    uint64_t id;
    const char *message;
};

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
        { "plain marks come first and stay alone", { { 1, 0, 7, "b" }, { 0, 0, 7, "a" }, { 0, 0, 7, "a" } }, "7:a 7:a 7:b", 0, 0 },
        { "two segments", { { 1, 0, 7, "one " }, { 1, 1, 7, "two" } }, "7:one two", 0, 0 },
        { "segments in any order", { { 1, 1, 7, "two" }, { 1, 0, 8, "other" }, { 1, 0, 7, "one " } }, "8:other 7:one two", 0, 0 },
        { "a missing segment is counted", { { 1, 0, 7, "one " }, { 1, 2, 7, "three" } }, "7:one three", 1, 0 },
        { "without its begin", { { 1, 1, 7, "two" } }, "7:two", 1, 0 },
        { "a kind that nobody knows is counted", { { 9, 0, 7, "what" }, { 0, 0, 1, "a" } }, "1:a", 0, 1 },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct profile p = { .path = "sample", .names = names_new() };
        p.host.source = (struct source){ .path = "sample", .mem = arena_new() };
        struct marks *m = &p.host.records.marks;
        struct arena *mem = p.host.source.mem;
        *m = (struct marks){ .info = arena_take(mem, MOST, 2),
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
        for (; m->n < ROWS(row[i].part) && row[i].part[m->n].message; m->n++) {
            m->info[m->n] = row[i].part[m->n].info;
            m->segment[m->n] = row[i].part[m->n].segment;
            m->id[m->n] = row[i].part[m->n].id;
            m->message[m->n] = names_addz(p.names, row[i].part[m->n].message);
        }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stamps_pair_by_id),
        cmocka_unit_test(segments_join_in_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
