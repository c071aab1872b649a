/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <math.h>
#include <unistd.h>
#include <zlib.h>

#include "base/files/out.h"
#include "cluster/rank/rank_columns.h"
#include "cluster/rank/rank_parts.h"
#include "cluster/rank/summary_file.h"
#include "profile/calls.h"

/* A rank with something in each part. */
static struct rank make_rank(struct names *names, struct arena *mem)
{
    static int64_t id[] = { 4, 5 }, begin[] = { 1000, 5000 }, end[] = { 4000, 9000 };
    static int64_t task_begin[] = { 1100, 1500, 2000, 6000 }, task_end[] = { 1400, 1900, 2500, 6500 };
    static uint64_t connection[] = { 1, 2, 3, 4 };
    static uint32_t kernel[] = { 0, 1, NO_ROW, 2 }, stream[] = { 2, 2, 3, 2 }, blocks[] = { 8, 8, 8 };
    static int64_t launch[] = { 1950 }, comm_begin[] = { 2600 }, comm_end[] = { 3000 }, src[] = { -1 };
    static double count[] = { 1024 }, start[] = { 1717211066000950.25 }, ms[] = { 0.1234567890123 }, zero[] = { 0 },
                  ratio[] = { NAN }, mb[] = { 1.048576 };
    static int64_t call_begin[] = { 1000, 1300, 1800, 1950 }, call_end[] = { 1100, 1350, 1900, 2000 };
    static uint64_t thread[] = { 7, 7, 7, 7 };
    static int64_t time[] = { 0, 10, 20 }, mhz[] = { 1800, 800, 1800 }, link_end[] = { 0 };
    static uint8_t event[] = { 2 };
    static name_id n[16];
    for (size_t i = 0; i < ROWS(n); i++)
        n[i] = names_number(names, 1000 + i / 2);
    struct rank r = { .has = RANK_ALL, .names = names, .mem = mem };
    r.identity = (struct rank_identity){
        .has_rank = true, .rank = 3, .path = "/a/b", .host_uid = "7", .parallel_group_info = "{}"
    };
    r.identity.lost.by[LOSS_BAD_VALUE].n = 5;
    r.steps = (struct rank_steps){ 2, id, begin, end, n };
    r.step_trace = (struct rank_step_trace){ .n = 1, .step = n };
    for (size_t i = 0; i < STEP_COLUMNS; i++)
        r.step_trace.us[i] = ms;
    r.comm_time = (struct rank_comm_time){ 1, n, n, n, n, start, ms, ms, ms, zero, zero, ratio, ratio };
    r.comm_bandwidth = (struct rank_comm_bandwidth){ 1, n, n, n, n, n, mb, ms, ms, zero, mb, count, ms };
    r.comm_matrix = (struct rank_comm_matrix){ 1, n, n, n, n, n, n, link_end, link_end, mb, ms, ms };
    r.collectives =
        (struct rank_collectives){ 1, n, n, n, n, comm_begin, comm_end, launch, connection, count, src, src };
    r.tasks = (struct rank_tasks){ 4, n, task_begin, task_end, connection, kernel, stream };
    r.kernels = (struct rank_kernels){ 3, n, n, n, n, n, n, blocks, n, n };
    r.calls = (struct rank_calls){ 4, n, n, call_begin, call_end, connection, thread };
    r.marks = (struct rank_marks){ 1, n, n, call_begin, call_end, event, thread, connection };
    r.clock = (struct rank_clock){ 3, time, mhz };
    return r;
}

struct written {
    struct out o;
    struct names *names;
    struct arena *mem;
    struct rank_summary s;
};

static void write_one(struct written *w)
{
    struct error e = { 0 };
    w->names = names_new();
    w->mem = arena_new();
    const struct rank r = make_rank(w->names, w->mem);
    assert_true(rank_summarise(&r, 3, &w->s, &e));
    assert_true(out_open_memory(&w->o, &e));
    assert_true(summary_write(&w->s, 20240601, 77, &w->o, &e));
}

static void end(struct written *w)
{
    out_discard(&w->o);
    arena_free(w->mem);
    names_free(w->names);
}

static void all_columns_come_back(void **state)
{
    struct written w;
    struct rank_summary back;
    struct names *names = names_new();
    struct arena *mem = arena_new();
    struct error e = { 0 };
    write_one(&w);
    names_addz(names, "other names have other ids");
    assert_true(summary_read((const uint8_t *)w.o.buf, w.o.n, "t", names, mem, &back, &e));
    assert_int_equal(back.exit_code, 3);
    assert_int_equal(back.identity.rank, 3);
    assert_string_equal(back.identity.path, "/a/b");
    assert_null(back.identity.host_name);
    assert_int_equal(back.identity.lost.by[LOSS_BAD_VALUE].n, 5);
    for (size_t p = 0; p < SUMMARY_PARTS; p++) {
        const char *a = (const char *)&w.s + summary_part[p].at, *b = (const char *)&back + summary_part[p].at;
        size_t n, n_back;
        memcpy(&n, a, sizeof n);
        memcpy(&n_back, b, sizeof n_back);
        print_message("  %s: %zu rows\n", summary_part[p].name, n);
        assert_int_equal(n, n_back);
        assert_true(n > 0 || p == PART_GAPS);
        for (size_t c = 0; c < summary_part[p].n_columns; c++) {
            const void *x, *y;
            memcpy(&x, a + summary_part[p].column[c].at, sizeof x);
            memcpy(&y, b + summary_part[p].column[c].at, sizeof y);
            const enum column_kind kind = summary_part[p].column[c].kind;
            assert_non_null(x);
            for (size_t i = 0; i < n && kind == COLUMN_NAME; i++)
                assert_string_equal(names_text(w.names, ((const name_id *)x)[i]),
                                    names_text(names, ((const name_id *)y)[i]));
            if (kind != COLUMN_NAME)
                assert_memory_equal(x, y, n * column_bytes[kind]);
        }
    }
    assert_memory_equal(w.s.kernels.first, back.kernels.first, (back.kernels.n + 1) * sizeof *back.kernels.first);
    assert_memory_equal(w.s.kernels.ns, back.kernels.ns, back.kernels.first[back.kernels.n] * sizeof *back.kernels.ns);
    arena_free(mem);
    names_free(names);
    end(&w);
    (void)state;
}

/* Whether bytes are refused, with one line. */
static bool is_refused(const uint8_t *data, size_t n)
{
    struct rank_summary back;
    struct names *names = names_new();
    struct arena *mem = arena_new();
    struct error e = { 0 };
    const bool is_read = summary_read(data, n, "t", names, mem, &back, &e);
    assert_true(is_read || (e.fault == FAULT_FORMAT && strlen(e.text) > 10));
    arena_free(mem);
    names_free(names);
    return !is_read;
}

static void every_prefix_and_every_flip_is_refused(void **state)
{
    struct written w;
    write_one(&w);
    uint8_t *copy = malloc(w.o.n);
    assert_non_null(copy);
    for (size_t n = 0; n < w.o.n; n++) {
        memcpy(copy, w.o.buf, n);
        assert_true(is_refused(copy, n));
    }
    memcpy(copy, w.o.buf, w.o.n);
    assert_false(is_refused(copy, w.o.n));
    for (size_t i = 0; i < w.o.n; i++) {
        copy[i] ^= (uint8_t)(1 << i % 8);
        if (!is_refused(copy, w.o.n))
            fail_msg("byte %zu", i);
        copy[i] ^= (uint8_t)(1 << i % 8);
    }
    free(copy);
    end(&w);
    (void)state;
}

static void each_trouble_has_its_line(void **state)
{
    static const struct {
        const char *what;
        size_t at;
        uint64_t value;
        size_t width;
        const char *line;
    } row[] = {
        { "another file", 0, 'x', 1, "t: not a summary of a rank" },
        { "another version", 8, 9, 4, "a summary of version 9, this ascope reads version" },
        { "cut short", 16, 1 << 20, 8, "cut short" },
        { "too large", 24, UINT64_C(1) << 40, 8, "too large" },
        { "another rank", 32, 4, 8, "damaged" },
    };
    struct written w;
    write_one(&w);
    for (size_t i = 0; i < ROWS(row); i++) {
        char kept[64];
        struct rank_summary back;
        struct arena *mem = arena_new();
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        memcpy(kept, w.o.buf, sizeof kept);
        memcpy(w.o.buf + row[i].at, &row[i].value, row[i].width);
        assert_false(summary_read((const uint8_t *)w.o.buf, w.o.n, "t", w.names, mem, &back, &e));
        assert_non_null(strstr(e.text, row[i].line));
        memcpy(w.o.buf, kept, sizeof kept);
        arena_free(mem);
    }
    end(&w);
    (void)state;
}

/* The header is not believed, even where its checksum is right. */
static void a_size_that_the_payload_has_not_is_damage(void **state)
{
    static const int64_t off[] = { -1, 1, 60000 };
    struct written w;
    write_one(&w);
    uint64_t raw;
    memcpy(&raw, w.o.buf + 24, sizeof raw);
    for (size_t i = 0; i < ROWS(off); i++) {
        struct rank_summary back;
        struct arena *mem = arena_new();
        struct error e = { 0 };
        const uint64_t wrong = raw + (uint64_t)off[i];
        memcpy(w.o.buf + 24, &wrong, sizeof wrong);
        const uint32_t crc = (uint32_t)crc32_z(0, (const uint8_t *)w.o.buf + 16, w.o.n - 16);
        memcpy(w.o.buf + 12, &crc, sizeof crc);
        print_message("  %+lld bytes\n", (long long)off[i]);
        assert_false(summary_read((const uint8_t *)w.o.buf, w.o.n, "t", w.names, mem, &back, &e));
        assert_non_null(strstr(e.text, "damaged"));
        arena_free(mem);
    }
    end(&w);
    (void)state;
}

struct walked {
    size_t n;
    uint64_t offset[4];
};

static bool take(void *context, const struct summary_header *h, uint64_t offset)
{
    struct walked *w = context;
    assert_int_equal(h->rank, 3);
    assert_int_equal(h->stamp, 20240601);
    w->offset[w->n++] = offset;
    return true;
}

static void a_file_of_several_is_walked_with_and_without_its_index(void **state)
{
    struct written w;
    struct error e = { 0 };
    char path[] = "/tmp/ascope-summary-XXXXXX";
    write_one(&w);
    const uint64_t bytes = w.o.n;
    assert_true(summary_write(&w.s, 20240601, 77, &w.o, &e));
    const struct summary_place place[] = { { 3, 20240601, 0, bytes }, { 3, 20240601, bytes, bytes } };
    const size_t without = w.o.n;
    summary_index(place, 2, &w.o);
    const size_t length[] = { without, w.o.n, w.o.n - 1 };
    for (size_t i = 0; i < ROWS(length); i++) {
        const int fd = i == 0 ? mkstemp(path) : -1;
        FILE *f = fd >= 0 ? fdopen(fd, "w") : fopen(path, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(w.o.buf, 1, length[i], f), length[i]);
        fclose(f);
        struct walked found = { 0 };
        e = (struct error){ 0 };
        assert_int_equal(summary_walk(path, take, &found, &e), i < 2); /* a damaged index: the records are found */
        assert_int_equal(found.n, 2);
        assert_int_equal(found.offset[1], bytes);
        struct rank_summary back;
        e = (struct error){ 0 };
        assert_true(summary_load(path, bytes, bytes, w.names, w.mem, &back, &e));
        assert_false(summary_load(path, UINT64_MAX - 5, bytes, w.names, w.mem, &back, &e));
    }
    unlink(path);
    end(&w);
    (void)state;
}

/* Writes numbers and reads them again, from all of the bytes and from each beginning of them. */
static void check_numbers(const int64_t *v, size_t n, const int64_t *beside)
{
    struct out o;
    struct error e = { 0 };
    int64_t back[16];
    assert_true(n <= ROWS(back));
    assert_true(out_open_memory(&o, &e));
    put_numbers(&o, v, n, beside);
    for (size_t size = 0; size <= o.n; size++) {
        struct bytes in = { (const uint8_t *)o.buf, size, 0 };
        assert_int_equal(take_numbers(&in, back, n, beside), size == o.n);
    }
    assert_memory_equal(back, v, n * sizeof *v);
    out_discard(&o);
}

static void numbers_of_any_size_come_back(void **state)
{
    static const int64_t v[][6] = {
        { 0, 0, 0, 0, 0, 0 },
        { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN },
        { INT64_MAX, INT64_MIN, INT64_MAX, -INT64_MAX, INT64_MIN, 0 },
        { -INT64_MAX, INT64_MAX, -INT64_MAX, INT64_MAX, 1, -1 },
        { INT64_MIN + 1, 1, INT64_MIN + 1, INT64_MAX, 0, 1 },
        { 1717211066000000020, 1717211066000000060, INT64_MIN, 1717211066000000000, 1717211066000001000, INT64_MIN },
        { 20, 40, 60, 80, 100, 120 },
    };
    for (size_t i = 0; i < ROWS(v); i++) {
        check_numbers(v[i], ROWS(v[i]), NULL);
        check_numbers(v[i], 0, NULL);
        for (size_t k = 0; k < ROWS(v); k++)
            check_numbers(v[i], ROWS(v[i]), v[k]);
    }
    (void)state;
}

static void real_numbers_come_back_to_the_last_bit(void **state)
{
    const double v[] = { 0.1 + 0.2, 0.054099999999999995, 0.0541,  -0.0, 0, NAN, INFINITY, -INFINITY, 1e300, -5e-324,
                         1e17,      1717211066904869.25,  -19.3108 };
    struct out o;
    struct error e = { 0 };
    int64_t scratch[2 * ROWS(v)];
    double back[ROWS(v)];
    assert_true(out_open_memory(&o, &e));
    put_reals(&o, v, ROWS(v), scratch);
    for (size_t size = 0; size <= o.n; size++) {
        struct bytes in = { (const uint8_t *)o.buf, size, 0 };
        assert_int_equal(take_reals(&in, back, ROWS(v), scratch), size == o.n);
    }
    assert_memory_equal(back, v, sizeof v);
    out_discard(&o);
    (void)state;
}

/* Ticks of 20 ns near each other: a byte each, and whole hours apart do not matter. */
static void times_in_ticks_are_small(void **state)
{
    enum { N = 1000 };
    static int64_t begin[N], end[N];
    struct out o;
    struct error e = { 0 };
    for (size_t i = 0; i < N; i++) {
        begin[i] = 1717211066000000000 + (int64_t)i * 2000 + (int64_t)(i % 7) * 20;
        end[i] = begin[i] + 900 + (int64_t)(i % 5) * 20;
    }
    assert_true(out_open_memory(&o, &e));
    put_numbers(&o, begin, N, NULL);
    put_numbers(&o, end, N, begin);
    assert_true(o.n < 2 * N + 40);
    out_discard(&o);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_columns_come_back),
        cmocka_unit_test(numbers_of_any_size_come_back),
        cmocka_unit_test(real_numbers_come_back_to_the_last_bit),
        cmocka_unit_test(times_in_ticks_are_small),
        cmocka_unit_test(every_prefix_and_every_flip_is_refused),
        cmocka_unit_test(each_trouble_has_its_line),
        cmocka_unit_test(a_size_that_the_payload_has_not_is_damage),
        cmocka_unit_test(a_file_of_several_is_walked_with_and_without_its_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
