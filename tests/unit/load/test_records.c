/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "guarded.h"
#include "load/prof/records.h"

/* One heartbeat of a core: "ZZ", the core, the tick; a core of 9 is another kind. */
enum { BEAT_CORE, BEAT_TICK, BEAT_FIELDS };
static const struct layout beat = {
    .name = "beat",
    .size = 8,
    .magic = { 0, W16, 0xFFFF, 0x5A5A },
    .kind = { 2, W16, 8, 0 },
    .keeps_rest = true,
    .n = BEAT_FIELDS,
    .field = { [BEAT_CORE] = { 2, W16, "core" }, [BEAT_TICK] = { 4, W32, "tick" } },
};
#define BEAT(tick)  "ZZ\1\0" tick "\0\0\0"
#define OTHER(tick) "ZZ\x9\0" tick "\0\0\0"
#define BAD(tick)   "ZX\1\0" tick "\0\0\0"

enum { MOST_SLICES = 4 };
struct cut {
    uint32_t number;
    size_t size;
    const char *bytes;
};

/* A source with one stream, whose slices end where a forbidden page begins. */
static struct source source_of(const struct cut *cut, size_t n, bool is_unaging)
{
    struct source s = { .path = "sample", .mem = arena_new() };
    s.stream = arena_take(s.mem, 1, sizeof *s.stream);
    s.n_streams = n > 0;
    *s.stream = (struct stream){ .family = "beat.data", .is_unaging = is_unaging, .n_slices = n };
    s.stream->slice = arena_take(s.mem, MOST_SLICES, sizeof *s.stream->slice);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *copy = guarded_copy(cut[i].bytes, cut[i].size);
        s.stream->slice[i] =
            (struct slice){ .name = "beat.slice", .data = copy, .size = cut[i].size, .number = cut[i].number };
    }
    return s;
}

static void source_forget(struct source *s)
{
    for (size_t i = 0; i < s->stream->n_slices; i++)
        guarded_free(s->stream->slice[i].data, s->stream->slice[i].size);
    arena_free(s->mem);
}

static void what_cannot_be_read_is_counted(void **state)
{
    static const struct {
        const char *what;
        size_t n_slices;
        struct cut cut[MOST_SLICES];
        const char *ticks; /* of the rows that are expected */
        uint64_t bad, cut_short, missing, other;
    } row[] = {
        { "no such stream", 0, { { 0 } }, "", 0, 0, 0, 0 },
        { "an empty file", 1, { { 0, 0, "" } }, "", 0, 0, 0, 0 },
        { "one record", 1, { { 0, 8, BEAT("\7") } }, "\7", 0, 0, 0, 0 },
        { "an unknown record is stepped over", 1, { { 0, 16, BAD("\5") BEAT("\7") } }, "\7", 1, 0, 0, 0 },
        { "another kind is reported from an unknown record",
          1,
          { { 0, 24, OTHER("\5") BEAT("\7") OTHER("\6") } },
          "\7",
          0,
          0,
          0,
          2 },
        { "a torn tail is reported, not read", 1, { { 0, 11, BEAT("\7") "ZZ\1" } }, "\7", 0, 1, 0, 0 },
        { "less than one record", 1, { { 0, 7, "ZZ\1\0\7\0\0" } }, "", 0, 1, 0, 0 },
        { "a record across two slices",
          2,
          { { 0, 3, "ZZ\1" }, { 1, 13, "\0\7\0\0\0" BEAT("\10") } },
          "\7\10",
          0,
          0,
          0,
          0 },
        { "a record across four slices",
          4,
          { { 0, 3, "ZZ\1" }, { 1, 1, "\0" }, { 2, 0, "" }, { 3, 4, "\7\0\0\0" } },
          "\7",
          0,
          0,
          0,
          0 },
        { "slices that end with their records",
          2,
          { { 0, 8, BEAT("\7") }, { 1, 8, BEAT("\10") } },
          "\7\10",
          0,
          0,
          0,
          0 },
        { "an empty slice between",
          3,
          { { 0, 8, BEAT("\7") }, { 1, 0, "" }, { 2, 8, BEAT("\10") } },
          "\7\10",
          0,
          0,
          0,
          0 },
        { "a missing slice", 2, { { 0, 8, BEAT("\7") }, { 2, 8, BEAT("\10") } }, "\7\10", 0, 0, 1, 0 },
        { "five missing slices", 2, { { 0, 8, BEAT("\7") }, { 6, 8, BEAT("\10") } }, "\7\10", 0, 0, 5, 0 },
        { "what a gap tore is dropped both sides",
          2,
          { { 0, 11, BEAT("\7") "ZZ\1" }, { 2, 13, "\0\7\0\0\0" BEAT("\10") } },
          "\7\10",
          0,
          2,
          1,
          0 },
        { "an aged stream begins with a rest", 1, { { 5, 13, "\0\7\0\0\0" BEAT("\10") } }, "\10", 0, 1, 0, 0 },
        { "a rest longer than its slice", 2, { { 5, 3, "\0\7\0" }, { 6, 10, "\0\0" BEAT("\10") } }, "\10", 0, 1, 0, 0 },
        { "only a rest", 1, { { 5, 3, "\0\7\0" } }, "", 0, 1, 0, 0 },
        { "the same number twice is no gap", 2, { { 1, 8, BEAT("\7") }, { 1, 8, BEAT("\10") } }, "\7\10", 0, 0, 0, 0 },
        { "the last number there is",
          2,
          { { UINT32_MAX - 1, 8, BEAT("\7") }, { UINT32_MAX, 8, BEAT("\10") } },
          "\7\10",
          0,
          0,
          0,
          0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct source s = source_of(row[i].cut, row[i].n_slices, false);
        struct records r;
        struct error e = { 0 };
        assert_true(records_load(&s, s.mem, "beat.data", &beat, false, &r, &e));
        assert_int_equal(r.n, strlen(row[i].ticks));
        for (size_t k = 0; k < r.n; k++) {
            assert_int_equal(((uint32_t *)r.column[BEAT_TICK])[k], row[i].ticks[k]);
            assert_int_equal(((uint16_t *)r.column[BEAT_CORE])[k], 1);
            assert_int_equal(r.rest[k][4], row[i].ticks[k]);
        }
        assert_int_equal(s.lost.by[LOSS_BAD_MAGIC].n, row[i].bad);
        assert_int_equal(s.lost.by[LOSS_CUT_SHORT].n, row[i].cut_short);
        assert_int_equal(s.lost.by[LOSS_MISSING_SLICE].n, row[i].missing);
        assert_int_equal(s.lost.by[LOSS_OTHER_KIND].n, row[i].other);
        source_forget(&s);
    }
    (void)state;
}

static void other_kinds_are_passed_over_in_silence_when_expected(void **state)
{
    const struct cut cut = { 0, 16, OTHER("\5") BEAT("\7") };
    struct source s = source_of(&cut, 1, true);
    struct records r;
    struct error e = { 0 };
    assert_true(records_load(&s, s.mem, "beat.data", &beat, true, &r, &e));
    assert_int_equal(r.n, 1);
    assert_int_equal(r.n_unaging, 1);
    assert_int_equal(s.lost.by[LOSS_OTHER_KIND].n, 0);
    assert_true(records_load(&s, s.mem, "heart.data", &beat, true, &r, &e));
    assert_int_equal(r.n, 0);
    source_forget(&s);
    (void)state;
}

static void damage_is_counted_once_however_many_readers_there_are(void **state)
{
    static struct layout other, third;
    other = third = beat;
    other.kind.value = 8;                              /* what OTHER() makes */
    third.kind = (struct match){ 2, W16, 0xFFFF, 77 }; /* nobody makes that */
    const struct cut cut[] = { { 0, 27, BEAT("\7") BAD("\5") OTHER("\6") "ZZ\1" }, { 3, 8, OTHER("\4") } };
    for (size_t skipped = 0; skipped < 2; skipped++) {
        struct source s = source_of(cut, 2, false);
        const struct layout *const reader[] = { &beat, skipped ? &third : &other, &third };
        struct records r;
        struct error e = { 0 };
        size_t n_used = 0;
        for (size_t i = 0; i < ROWS(reader); i++) {
            assert_true(records_load(&s, s.mem, "beat.data", reader[i], true, &r, &e));
            n_used += r.n;
        }
        source_count_unread(&s);
        source_count_unread(&s);
        assert_int_equal(s.lost.by[LOSS_BAD_MAGIC].n, 1);
        assert_int_equal(s.lost.by[LOSS_CUT_SHORT].n, 1);
        assert_int_equal(s.lost.by[LOSS_MISSING_SLICE].n, 2);
        assert_int_equal(s.lost.by[LOSS_OTHER_KIND].n, skipped ? 2 : 0);
        assert_int_equal(n_used + s.lost.by[LOSS_BAD_MAGIC].n + s.lost.by[LOSS_OTHER_KIND].n, 4);
        source_forget(&s);
    }
    (void)state;
}

static const char five[] = BEAT("\1") BEAT("\2") BEAT("\3") BEAT("\4") BEAT("\5");

static void a_stream_may_be_cut_anywhere(void **state)
{
    for (size_t a = 0; a <= 40; a++)
        for (size_t b = a; b <= 40; b++) {
            const struct cut cut[] = { { 0, a, five }, { 1, b - a, five + a }, { 2, 40 - b, five + b } };
            struct source s = source_of(cut, 3, false);
            struct records r;
            struct error e = { 0 };
            assert_true(records_load(&s, s.mem, "beat.data", &beat, false, &r, &e));
            assert_int_equal(r.n, 5);
            for (size_t i = 0; i < 5; i++)
                assert_int_equal(((uint32_t *)r.column[BEAT_TICK])[i], i + 1);
            assert_int_equal(losses_damage(&s.lost), 0);
            source_forget(&s);
        }
    (void)state;
}

static void every_prefix_of_a_stream_gives_its_whole_records(void **state)
{
    for (size_t len = 0; len <= 40; len++) {
        const struct cut cut = { 0, len, five };
        struct source s = source_of(&cut, 1, false);
        struct records r;
        struct error e = { 0 };
        assert_true(records_load(&s, s.mem, "beat.data", &beat, false, &r, &e));
        assert_int_equal(r.n, len / 8);
        assert_int_equal(s.lost.by[LOSS_CUT_SHORT].n, len % 8 != 0);
        if (len % 8 != 0)
            assert_int_equal(s.lost.by[LOSS_CUT_SHORT].first_at, len / 8 * 8);
        source_forget(&s);
    }
    (void)state;
}

/* As BEAT, and its size before the tick. */
static const struct layout sized = {
    .name = "sized",
    .size = 8,
    .size_field = { 2, W16, "size" },
    .n = BEAT_FIELDS,
    .field = { [BEAT_CORE] = { 0, W16, "core" }, [BEAT_TICK] = { 4, W32, "tick" } },
};
#define SIZED(size, tick) "\1\0" size "\0" tick "\0\0\0"
#define MORE              "12345678"

static void longer_records_are_read_as_far_as_they_are_known(void **state)
{
    static const struct {
        const char *what;
        const struct layout *layout;
        struct cut cut[2];
        const char *ticks; /* of the rows that are expected */
        uint64_t newer, bad, cut_short;
    } row[] = {
        { "as long as we know", &beat, { { 0, 16, BEAT("\5") BEAT("\7") } }, "\5\7", 0, 0, 0 },
        { "longer", &beat, { { 0, 48, BEAT("\5") MORE BEAT("\6") MORE BEAT("\7") MORE } }, "\5\6\7", 3, 0, 0 },
        { "longer, and the last is cut",
          &beat,
          { { 0, 59, BEAT("\5") MORE BEAT("\6") MORE BEAT("\7") MORE BEAT("\4") "123" } },
          "\5\6\7",
          3,
          0,
          1 },
        { "longer, across two slices",
          &beat,
          { { 0, 51, BEAT("\5") MORE BEAT("\6") MORE BEAT("\7") MORE "ZZ\1" }, { 1, 13, "\0\4\0\0\0" MORE } },
          "\5\6\7\4",
          4,
          0,
          0 },
        { "two that fit are too few to report",
          &beat,
          { { 0, 32, BEAT("\5") MORE BEAT("\6") MORE } },
          "\5\6",
          0,
          2,
          0 },
        { "damage is no new form",
          &beat,
          { { 0, 40, BEAT("\5") BAD("\6") BAD("\6") BEAT("\7") BEAT("\4") } },
          "\5\7\4",
          0,
          2,
          0 },
        { "one damaged record is no new form",
          &beat,
          { { 0, 136,
              BEAT("\1") BAD("\2") BEAT("\3") BEAT("\4") BEAT("\5") BEAT("\6") BEAT("\7") BEAT("\10") BEAT("\11")
                  BEAT("\12") BEAT("\13") BEAT("\14") BEAT("\15") BEAT("\16") BEAT("\17") BEAT("\20") BEAT("\21") } },
          "\1\3\4\5\6\7\10\11\12\13\14\15\16\17\20\21",
          0,
          1,
          0 },
        { "they report their size",
          &sized,
          { { 0, 48, SIZED("\20", "\5") MORE SIZED("\20", "\6") MORE SIZED("\20", "\7") MORE } },
          "\5\6\7",
          3,
          0,
          0 },
        { "one that reports another size",
          &sized,
          { { 0, 24, SIZED("\20", "\5") SIZED("\10", "\6") SIZED("\10", "\7") } },
          "\5\6\7",
          0,
          0,
          0 },
        { "none reports a size",
          &sized,
          { { 0, 24, SIZED("\0", "\5") SIZED("\0", "\6") SIZED("\0", "\7") } },
          "\5\6\7",
          0,
          0,
          0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct source s = source_of(row[i].cut, row[i].cut[1].size > 0 ? 2 : 1, false);
        struct records r;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        assert_true(records_load(&s, s.mem, "beat.data", row[i].layout, true, &r, &e));
        assert_int_equal(r.n, strlen(row[i].ticks));
        for (size_t k = 0; k < r.n; k++)
            assert_int_equal(((uint32_t *)r.column[BEAT_TICK])[k], row[i].ticks[k]);
        assert_int_equal(s.lost.by[LOSS_NEWER].n, row[i].newer);
        assert_int_equal(s.lost.by[LOSS_BAD_MAGIC].n, row[i].bad);
        assert_int_equal(s.lost.by[LOSS_CUT_SHORT].n, row[i].cut_short);
        source_forget(&s);
    }
    (void)state;
}

/* A chip whose track holds records of several lengths. */
static void records_of_several_lengths_are_distinguished(void **state)
{
    static const struct chip mixing = { .tracks_tasks = true };
    static const struct {
        const char *what;
        struct cut cut[2];
        const char *ticks;
        uint64_t bad, cut_short;
    } row[] = {
        { "one after the other",
          { { 0, 36, SIZED("\10", "\5") SIZED("\20", "\6") MORE SIZED("\10", "\7") "\1\0\10\0" } },
          "\5\6\7",
          0,
          1 },
        { "across slices", { { 0, 13, SIZED("\10", "\5") "\1\0\20\0\6" }, { 1, 11, "\0\0\0" MORE } }, "\5\6", 0, 0 },
        { "one that cannot be", { { 0, 24, SIZED("\10", "\5") SIZED("\3", "\6") SIZED("\10", "\7") } }, "\5\7", 1, 0 },
        { "longer than what is left", { { 0, 16, SIZED("\10", "\5") SIZED("\20", "\6") } }, "\5", 0, 1 },
        { "several that cannot be are one",
          { { 0, 24, SIZED("\0", "\5") SIZED("\0", "\6") SIZED("\10", "\7") } },
          "\7",
          1,
          0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct source s = source_of(row[i].cut, row[i].cut[1].size > 0 ? 2 : 1, false);
        struct records r;
        struct error e = { 0 };
        s.chip = &mixing;
        print_message("  %s\n", row[i].what);
        assert_true(records_load(&s, s.mem, "beat.data", &sized, true, &r, &e));
        assert_int_equal(r.n, strlen(row[i].ticks));
        for (size_t k = 0; k < r.n; k++)
            assert_int_equal(((uint32_t *)r.column[BEAT_TICK])[k], row[i].ticks[k]);
        assert_int_equal(s.lost.by[LOSS_BAD_VALUE].n, row[i].bad);
        assert_int_equal(s.lost.by[LOSS_CUT_SHORT].n, row[i].cut_short);
        source_forget(&s);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longer_records_are_read_as_far_as_they_are_known),
        cmocka_unit_test(records_of_several_lengths_are_distinguished),
        cmocka_unit_test(what_cannot_be_read_is_counted),
        cmocka_unit_test(damage_is_counted_once_however_many_readers_there_are),
        cmocka_unit_test(other_kinds_are_passed_over_in_silence_when_expected),
        cmocka_unit_test(a_stream_may_be_cut_anywhere),
        cmocka_unit_test(every_prefix_of_a_stream_gives_its_whole_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
