/* SPDX-License-Identifier: Apache-2.0 */
/* levels.h: slices as rows, and views of them at any resolution, against counting by hand. */
#include "test.h"

#include "view/rows/levels.h"

enum { N = 4000, TRACKS = 3 };

static struct {
    struct arena *mem;
    int64_t begin_ns[N], dur_ns[N];
    size_t first[TRACKS + 1];
    struct levels levels;
} made;

static uint64_t random_bits(void)
{
    static uint64_t state = RANDOM_SEED;
    return random_next(&state);
}

/* Slices of a track follow one another, with shorter ones inside some of them, and now and then a long gap. */
static int make(void **state)
{
    (void)state;
    made.mem = arena_new();
    size_t n = 0;
    for (size_t t = 0; t < TRACKS; t++) {
        int64_t at = 1000;
        made.first[t] = n;
        while (n < (t + 1) * N / TRACKS) {
            const int64_t dur = random_bits() % 50 ? (int64_t)(random_bits() % 20) : 5000;
            made.begin_ns[n] = at;
            made.dur_ns[n++] = dur;
            if (n < (t + 1) * N / TRACKS && dur > 10) {
                made.begin_ns[n] = at + 2;
                made.dur_ns[n++] = dur / 2;
            }
            at += dur + (int64_t)(random_bits() % 200 ? random_bits() % 3 : 3000);
        }
    }
    made.first[TRACKS] = n;
    assert_true(levels_build(&made.levels, made.begin_ns, made.dur_ns, made.first, TRACKS, made.mem));
    return 0;
}

static int give_back(void **state)
{
    (void)state;
    arena_free(made.mem);
    return 0;
}

static void every_slice_is_on_a_level_and_levels_do_not_overlap(void **state)
{
    (void)state;
    const struct levels *l = &made.levels;
    size_t n = 0;
    for (size_t v = 0; v < l->n; v++) {
        const struct level *level = &l->level[v];
        int64_t busy_ns = 0;
        for (size_t i = 0; i < level->n; i++) {
            const uint32_t slice = l->slice[level->first + i];
            assert_in_range(slice, made.first[level->track], made.first[level->track + 1] - 1);
            assert_int_equal(l->depth[slice], level->depth);
            assert_int_equal(l->busy_ns[level->first + i], busy_ns);
            busy_ns += made.dur_ns[slice];
            if (i > 0) {
                const uint32_t before = l->slice[level->first + i - 1];
                assert_true(made.begin_ns[before] + made.dur_ns[before] <= made.begin_ns[slice]);
            }
        }
        n += level->n;
    }
    assert_int_equal(n, N);
    assert_int_equal(l->first_level[TRACKS], l->n);
}

static void what_is_inside_lies_one_level_below(void **state)
{
    (void)state;
    static const int64_t begin_ns[] = { 0, 0, 10, 20, 100, 105 }, dur_ns[] = { 100, 50, 5, 5, 10, 10 };
    static const size_t first[] = { 0, 6 };
    static const unsigned depth[] = { 0, 1, 2, 2, 0, 1 }; /* the last overlaps and is not inside: a level of its own */
    struct levels l;
    assert_true(levels_build(&l, begin_ns, dur_ns, first, 1, made.mem));
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(l.depth[i], depth[i]);
    assert_int_equal(l.n, 3);
}

/* Counts, busy times and long slices of a view are those of the slices in its range. */
static void check_view(size_t level, int64_t begin_ns, int64_t end_ns, int64_t least_ns)
{
    static struct block block[N];
    const struct levels *l = &made.levels;
    const size_t n = level_view(l, level, begin_ns, end_ns, least_ns, block, N);
    size_t first, end, counted = 0, shown_alone = 0, long_ones = 0;
    int64_t busy_ns = 0, wanted_ns = 0;
    level_range(l, level, begin_ns, end_ns, &first, &end);
    for (size_t i = l->level[level].first; i < l->level[level].first + l->level[level].n; i++) {
        const uint32_t slice = l->slice[i];
        const int64_t from = made.begin_ns[slice], to = from + made.dur_ns[slice];
        const bool is_inside = from < end_ns && (to > begin_ns || from >= begin_ns);
        assert_int_equal(is_inside, i >= first && i < end);
        wanted_ns += is_inside ? made.dur_ns[slice] : 0;
        long_ones += is_inside && made.dur_ns[slice] >= least_ns;
    }
    for (size_t i = 0; i < n; i++) {
        assert_true(block[i].n > 0 && block[i].busy_ns <= block[i].end_ns - block[i].begin_ns);
        assert_true(i == 0 || block[i - 1].end_ns <= block[i].begin_ns);
        counted += block[i].n;
        busy_ns += block[i].busy_ns;
        for (size_t k = first + counted - block[i].n; k < first + counted; k++)
            assert_true(made.dur_ns[l->slice[k]] <=
                        made.dur_ns[block[i].slice]); /* the longest stands for the others */
        shown_alone += block[i].n == 1 && made.dur_ns[block[i].slice] >= least_ns;
    }
    assert_int_equal(counted, end - first);
    assert_int_equal(busy_ns, wanted_ns);
    assert_int_equal(shown_alone, long_ones);
}

static void a_view_holds_all_that_is_in_its_range(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        const int64_t begin_ns = (int64_t)(random_bits() % 100000), width_ns = (int64_t)(random_bits() % 50000);
        check_view(random_bits() % made.levels.n, begin_ns, begin_ns + width_ns, (int64_t)(random_bits() % 400));
    }
}

static void a_gap_that_can_be_seen_is_not_painted_over(void **state)
{
    (void)state;
    static const int64_t begin_ns[] = { 0, 5, 10, 100, 105 }, dur_ns[] = { 5, 5, 5, 5, 5 };
    static const size_t first[] = { 0, 5 };
    struct levels l;
    struct block block[5];
    assert_true(levels_build(&l, begin_ns, dur_ns, first, 1, made.mem));
    assert_int_equal(level_view(&l, 0, 0, 200, 50, block, 5), 2);
    assert_int_equal(block[0].end_ns, 15);
    assert_int_equal(block[1].begin_ns, 100);
    assert_int_equal(level_view(&l, 0, 0, 200, 1, block, 5), 5);
    assert_int_equal(level_view(&l, 0, 0, 200, 1, block, 3), 3);
}

static void stamps_of_damaged_files_do_no_harm(void **state)
{
    (void)state;
    static const int64_t begin_ns[] = { INT64_MIN / 2, 0, INT64_MAX / 2 };
    static const int64_t dur_ns[] = { INT64_MAX / 2, INT64_MAX / 2, INT64_MAX / 2 };
    static const size_t first[] = { 0, 3 };
    struct levels l;
    struct block block[3];
    assert_true(levels_build(&l, begin_ns, dur_ns, first, 1, made.mem));
    for (size_t v = 0; v < l.n; v++)
        assert_true(level_view(&l, v, INT64_MIN / 2, INT64_MAX / 2, INT64_MAX / 4, block, 3) <= 3);
}

static void without_slices_there_are_no_levels(void **state)
{
    (void)state;
    struct levels l;
    assert_true(levels_build(&l, NULL, NULL, (size_t[]){ 0, 0 }, 1, made.mem));
    assert_int_equal(l.n, 0);
    assert_true(levels_build(&l, NULL, NULL, NULL, 0, made.mem));
    assert_int_equal(l.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slice_is_on_a_level_and_levels_do_not_overlap),
        cmocka_unit_test(what_is_inside_lies_one_level_below),
        cmocka_unit_test(a_view_holds_all_that_is_in_its_range),
        cmocka_unit_test(a_gap_that_can_be_seen_is_not_painted_over),
        cmocka_unit_test(stamps_of_damaged_files_do_no_harm),
        cmocka_unit_test(without_slices_there_are_no_levels),
    };
    return cmocka_run_group_tests(tests, make, give_back);
}
