/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <math.h>

#include "base/files/out.h"
#include "base/text/table.h"

static void a_cell_is_shown_as_its_file_shows_it(void **state)
{
    struct names *names = names_new();
    const name_id shape = names_addz(names, "2,3;4"), odd = names_addz(names, "a,\"b\"");
    const struct {
        const char *what;
        struct cell cell;
        const char *csv, *json;
    } row[] = {
        { "not available", cell_na(), "N/A", "\"N/A\"" },
        { "negative", cell_int(-5), "-5", "-5" },
        { "all 64 bits", cell_uint(UINT64_MAX), "18446744073709551615", "18446744073709551615" },
        { "real", cell_real(12), "12.0", "12.0" },
        { "rounded", cell_round(75.80049), "75.8", "75.8" },
        { "rounded half up", cell_round(1.0005), "1.001", "1.001" },
        { "short, with decimals", cell_short(75.8), "75.8", "75.8" },
        { "short, whole", cell_short(6), "6", "6" },
        { "short, zero", cell_short(0.0001), "0", "0" },
        { "short, tens stay", cell_short(100), "100", "100" },
        { "fixed", cell_fixed(1.45, 6), "1.450000", "1.450000" },
        { "a point in time", cell_time(1717200000123456789), "1717200000123456.789\t", "\"1717200000123456.789\"" },
        { "microseconds", cell_us(1500), "1.500", "1.500" },
        { "microseconds, short", cell_us_short(1500), "1.5", "1.5" },
        { "a name", cell_name(odd), "\"a,\"\"b\"\"\"", "\"a,\\\"b\\\"\"" },
        { "a text", cell_text("x,y"), "\"x,y\"", "\"x,y\"" },
        { "a shape", cell_shape(shape), "\"\"\"2,3;4\"\"\"", "\"2,3;4\"" },
        { "no shape", cell_shape(NAME_NA), "N/A", "\"N/A\"" },
    };
    static const struct column column[] = { { "value", NULL } };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct arena *mem = arena_new();
        struct grid g = { .n_columns = 1, .mem = mem };
        grid_row(&g, &row[i].cell);
        const struct table t = grid_table(&g, "t", column, names);
        struct error e = { 0 };
        struct out o;
        char want[200];
        assert_true(out_open_memory(&o, &e));
        table_csv_header(&t, &o);
        table_csv_rows(&t, &o, 0, 1);
        out_char(&o, 0);
        snprintf(want, sizeof want, "value\n%s\n", row[i].csv);
        assert_string_equal(o.buf, want);
        o.n = 0;
        table_json(&t, &o);
        out_char(&o, 0);
        snprintf(want, sizeof want, "[{\"value\": %s}]", row[i].json);
        assert_string_equal(o.buf, want);
        out_discard(&o);
        arena_free(mem);
    }
    names_free(names);
    (void)state;
}

static void a_safe_table_has_no_formulas(void **state)
{
    static const struct {
        const char *text, *csv;
    } row[] = {
        { "=1+1", "\"'=1+1\"" },
        { "=HYPERLINK(\"a\",b)", "\"'=HYPERLINK(\"\"a\"\",b)\"" },
        { "@SUM(1)", "\"'@SUM(1)\"" },
        { "+cmd|a", "\"'+cmd|a\"" },
        { "-1+cmd|a", "\"'-1+cmd|a\"" },
        { "\t=1", "\"'\t=1\"" },
        { "-1.5", "-1.5" }, /* a number stays one */
        { "+3e-05", "+3e-05" },
        { "", "" },
        { "aten::add", "aten::add" },
        { "a=b", "a=b" },
    };
    static const struct column column[] = { { "value", NULL } };
    struct names *names = names_new();
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct grid g = { .n_columns = 1, .mem = mem };
        const struct cell cell[] = { cell_text(row[i].text), cell_name(names_addz(names, row[i].text)), cell_int(-5) };
        for (size_t k = 0; k < ROWS(cell); k++)
            grid_row(&g, &cell[k]);
        struct table t = grid_table(&g, "t", column, names);
        struct error e = { 0 };
        struct out o;
        char want[200];
        t.is_safe = true;
        assert_true(out_open_memory(&o, &e));
        table_csv_rows(&t, &o, 0, ROWS(cell));
        out_char(&o, 0);
        snprintf(want, sizeof want, "%s\n%s\n-5\n", row[i].csv, row[i].csv);
        assert_string_equal(o.buf, want);
        out_discard(&o);
        arena_free(mem);
    }
    names_free(names);
    (void)state;
}

static struct cell number_of(const void *rows, size_t row)
{
    return cell_int(((const int *)rows)[row]);
}

static struct cell square_of(const void *rows, size_t row)
{
    const int v = ((const int *)rows)[row];
    return v < 0 ? cell_blank() : cell_int((int64_t)v * v);
}

static void a_computed_table_is_written_in_ranges(void **state)
{
    static const int rows[] = { 1, -2, 3 };
    static const struct column column[] = { { "n", number_of }, { "square, \"of n\"", square_of } };
    const struct table t = { .name = "t", .column = column, .n_columns = 2, .n_rows = 3, .rows = rows };
    static const struct {
        const char *what;
        size_t first, n;
        const char *csv;
    } row[] = {
        { "none", 0, 0, "" },
        { "all; a blank ends its row", 0, 3, "1,1\n-2\n3,9\n" },
        { "the last", 2, 1, "3,9\n" },
    };
    struct error e = { 0 };
    struct out o;
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_true(out_open_memory(&o, &e));
        table_csv_rows(&t, &o, row[i].first, row[i].n);
        out_char(&o, 0);
        assert_string_equal(o.buf, row[i].csv);
        out_discard(&o);
    }
    assert_true(out_open_memory(&o, &e));
    table_csv_header(&t, &o);
    table_json(&t, &o);
    out_char(&o, 0);
    assert_string_equal(o.buf,
                        "n,\"square, \"\"of n\"\"\"\n"
                        "[{\"n\": 1, \"square, \\\"of n\\\"\": 1}, {\"n\": -2, \"square, \\\"of n\\\"\": \"N/A\"}, "
                        "{\"n\": 3, \"square, \\\"of n\\\"\": 9}]");
    out_discard(&o);
    (void)state;
}

CELL_GETTER(digit, char, cell_uint((uint64_t)(r[i] - '0')))
CELL_GETTER(letter, char, cell_uint((uint64_t)r[i]))

static struct cell place(const void *rows, size_t row, size_t column)
{
    (void)rows;
    return cell_uint(row * 10 + column);
}

static void a_column_has_a_getter_or_its_table_has_one(void **state)
{
    static const struct column column[] = { { "digit", digit }, { "place", NULL }, { "letter", letter } };
    static const uint32_t some[] = { 2, 0 }, last[] = { 1 };
    static const struct cell grid[] = { { .kind = CELL_UINT, .u = 7 }, { .kind = CELL_UINT, .u = 8 } };
    /* clang-format off */
    static const struct { const char *what; struct table t; const char *csv; } row[] = {
        { "getters of columns, and that of the table for the others",
          { TABLE_COLUMNS(column), .n_rows = 3, .rows = "123", .get = place }, "1,1,49\n2,11,50\n3,21,51\n" },
        { "some rows, in another order",
          { TABLE_COLUMNS(column), .n_rows = 2, .rows = "123", .get = place, .shown = some }, "3,21,51\n1,1,49\n" },
        { "of a grid too",
          { .column = column, .n_columns = 1, .n_rows = 1, .grid = grid, .shown = last }, "8\n" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct error e = { 0 };
        struct out o;
        print_message("  %s\n", row[i].what);
        assert_true(out_open_memory(&o, &e));
        table_csv_rows(&row[i].t, &o, 0, row[i].t.n_rows);
        out_char(&o, 0);
        assert_string_equal(o.buf, row[i].csv);
        out_discard(&o);
    }
    (void)state;
}

static void hand_on(struct out *o)
{
    struct out *all = o->full_context;
    out_bytes(all, o->buf, o->n);
    o->n = 0;
}

/* A buffer may be full inside a number: its last zero must not stay behind then. */
static void a_short_number_is_the_same_wherever_the_buffer_ends(void **state)
{
    static const struct column column[] = { { "value", NULL } };
    static const struct cell grid[] = { { .kind = CELL_SHORT, .digits = 3, .f = 1234567890123 } };
    const struct table t = { .column = column, .n_columns = 1, .n_rows = 1, .grid = grid };
    for (size_t room = 0; room < 20; room++) {
        struct error e = { 0 };
        struct out o, all;
        assert_true(out_open_memory(&o, &e) && out_open_memory(&all, &e));
        o.full = hand_on;
        o.full_context = &all;
        o.n = o.cap - room;
        memset(o.buf, '.', o.n);
        table_csv_rows(&t, &o, 0, 1);
        hand_on(&o);
        out_char(&all, 0);
        assert_string_equal(all.buf + o.cap - room, "1234567890123\n");
        out_discard(&o);
        out_discard(&all);
    }
    (void)state;
}

static void rounding_has_two_ways_at_a_half(void **state)
{
    static const struct {
        const char *what;
        double v;
        int digits;
        double away, exact;
    } row[] = {
        { "a half that is exact goes away from zero, or to even", 0.5, 0, 1, 0 },
        { "the next one", 1.5, 0, 2, 2 },
        { "a half that is a little less", 1.0005, 3, 1.001, 1.0 },
        { "the same, negative", -1.0005, 3, -1.001, -1.0 },
        { "one that multiplying makes even less", 8.0575, 3, 8.058, 8.057 },
        { "no half", 2.3456, 2, 2.35, 2.35 },
        { "nothing behind the point", 1e18, 3, 1e18, 1e18 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_true(round_away(row[i].v, row[i].digits) == row[i].away);
        assert_true(round_exact(row[i].v, row[i].digits) == row[i].exact);
    }
    assert_true(isnan(round_away(NAN, 3)) && isnan(round_exact(NAN, 3)));
    assert_true(isinf(round_away(INFINITY, 3)) && isinf(round_exact(-INFINITY, 3)));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_shown_as_its_file_shows_it),
        cmocka_unit_test(a_safe_table_has_no_formulas),
        cmocka_unit_test(a_computed_table_is_written_in_ranges),
        cmocka_unit_test(a_column_has_a_getter_or_its_table_has_one),
        cmocka_unit_test(a_short_number_is_the_same_wherever_the_buffer_ends),
        cmocka_unit_test(rounding_has_two_ways_at_a_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
