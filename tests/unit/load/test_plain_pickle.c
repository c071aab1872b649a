/* SPDX-License-Identifier: Apache-2.0 */
#include "load/plain/plain_value.h"

#include "guarded.h"
#include "test.h"

/* {"a": [1, -2, 300, 1 << 40, 1.5], "b": ("x", None, True, <the list of "a">), "a": the list} */
static const char sample[] =
    "\x80\x02}q\0(X\x01\0\0\0aq\x01]q\x02(K\x01J\xFE\xFF\xFF\xFFM\x2C\x01\x8A\x06\0\0\0\0\0\x01"
    "G\x3F\xF8\0\0\0\0\0\0e\x8C\x01"
    "b(\x8C\x01xN\x88h\x02tq\x03uh\x01h\x02s.";

static bool read_bytes(struct plain *p, const void *bytes, size_t n, struct arena *mem, struct error *e)
{
    uint8_t *copy = guarded_copy(bytes, n);
    const bool is_read = plain_read(p, copy, n, "file", mem, e);
    for (plain_id v = 1; is_read && v < p->node.n;
         v++) /* texts are lent from the copy: all are looked at before it goes */
        plain_equals(p, v, "x");
    guarded_free(copy, n);
    return is_read;
}

static void values_are_read(void **state)
{
    struct plain p;
    struct error e = { 0 };
    struct arena *mem = arena_new();
    (void)state;
    assert_true(plain_read(&p, (const uint8_t *)sample, sizeof sample - 1, "file", mem, &e));
    assert_int_equal(plain_n(&p, p.root), 3);
    const plain_id a = plain_member(&p, p.root, "a"), b = plain_member(&p, p.root, "b");
    static const int64_t wanted[] = { 1, -2, 300, INT64_C(1) << 40 };
    for (size_t i = 0; i < ROWS(wanted); i++)
        assert_int_equal(plain_integer(&p, plain_item(&p, a, i), 0), wanted[i]);
    assert_true(p.node.at[plain_item(&p, a, 4)].real == 1.5);
    assert_string_equal(plain_text(&p, plain_item(&p, b, 0), mem), "x");
    assert_true(plain_is(&p, plain_item(&p, b, 1), PLAIN_NONE));
    assert_int_equal(plain_integer(&p, plain_item(&p, b, 2), 0), 1);
    assert_int_equal(plain_item(&p, b, 3), a);
    assert_int_equal(plain_member(&p, p.root, "c"), 0);
    static const char json[] = "{\"a\": [1, -2, 300, 1099511627776, 1.5], \"b\": [\"\\u0078\", null, true, {}]}";
    assert_true(plain_read(&p, (const uint8_t *)json, sizeof json - 1, "file", mem, &e));
    for (size_t i = 0; i < ROWS(wanted); i++)
        assert_int_equal(plain_integer(&p, plain_item(&p, plain_member(&p, p.root, "a"), i), 0), wanted[i]);
    assert_true(plain_equals(&p, plain_item(&p, plain_member(&p, p.root, "b"), 0), "x"));
    arena_free(mem);
}

static void other_files_are_refused(void **state)
{
#define CASE(bytes) bytes, sizeof(bytes) - 1
    static const struct {
        const char *bytes;
        size_t n;
        const char *why;
    } row[] = {
        { CASE("\x80\x02"
               "cos\nsystem\n."),
          "file:2: opcode GLOBAL, which may run code" },
        { CASE("\x80\x04\x8C\x02os\x8C\x01x\x93."), "opcode STACK_GLOBAL" },
        { CASE("\x80\x02N)R."), "opcode REDUCE" },
        { CASE("\x80\x02N}b."), "opcode BUILD" },
        { CASE("\x80\x02(i."), "opcode INST" },
        { CASE("\x80\x02(o."), "opcode OBJ" },
        { CASE("\x80\x02N)\x81."), "opcode NEWOBJ" },
        { CASE("\x80\x04N)}\x92."), "opcode NEWOBJ_EX" },
        { CASE("\x80\x02\x82\x01."), "opcode EXT1" },
        { CASE("\x80\x02P1\n."), "opcode PERSID" },
        { CASE("\x80\x02NQ."), "opcode BINPERSID" },
        { CASE("\x80\x05\x97."), "opcode 0x97, which plain values do not have" },
        { CASE("\x80\x06N."), "a protocol other than 2 to 5" },
        { CASE("\x80\x02N\x80\x02."), "a protocol other than 2 to 5" },
        { CASE("\x80\x02]q\0h\0a."), "which only values that contain themselves do" },
        { CASE("\x80\x02]q\0]q\x01h\0ah\0h\x01"
               "a."),
          "which only values that contain themselves do" },
        { CASE("\x80\x02Nr\xFF\xFF\xFF\xFF."), "a number in the memo that is not the next one" },
        { CASE("\x80\x02h\0."), "a number that is not in the memo" },
        { CASE("\x80\x02X\xFF\xFF\xFF\x7F."), "the pickle is cut off" },
        { CASE("\x80\x04\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF."), "the pickle is cut off" },
        { CASE("\x80\x02\x8A\x09\0\0\0\0\0\0\0\0\x01."), "an integer of more than 64 bits" },
        { CASE("\x80\x02}(Nu."), "the stack has too few values" },
        { CASE("\x80\x02Na."), "the stack has too few values" },
        { CASE("\x80\x02NNa."), "no container for them" },
        { CASE("\x80\x02](a."), "a mark is where a value should be" },
        { CASE("\x80\x02NN."), "the end leaves no single value" },
        { CASE("\x80\x02(."), "the end leaves no single value" },
        { CASE("\x80\x02N.x"), "bytes behind the end" },
        { CASE(""), "neither a pickle nor JSON" },
        { CASE("{\"a\": 1"), "neither a pickle nor JSON" },
    };
    (void)state;
    for (size_t i = 0; i < ROWS(row); i++) {
        struct plain p;
        struct error e = { 0 };
        struct arena *mem = arena_new();
        assert_false(read_bytes(&p, row[i].bytes, row[i].n, mem, &e));
        if (!strstr(e.text, row[i].why))
            fail_msg("row %zu: \"%s\", wanted \"%s\"", i, e.text, row[i].why);
        arena_free(mem);
    }
}

/* Lists in lists: one as deep as allowed is read, one deeper is not. */
static void deep_values_are_refused(void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        const size_t n = PLAIN_DEPTH + 1 + more;
        char bytes[4 * PLAIN_DEPTH] = "\x80\x02";
        memset(bytes + 2, ']', n);
        memset(bytes + 2 + n, 'a', n - 1);
        bytes[2 * n + 1] = '.';
        struct plain p;
        struct error e = { 0 };
        struct arena *mem = arena_new();
        assert_int_equal(read_bytes(&p, bytes, 2 * n + 2, mem, &e), more == 0);
        if (more)
            assert_non_null(strstr(e.text, "nest deeper"));
        arena_free(mem);
    }
}

static void no_part_of_a_file_is_read(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof sample - 1; n++) {
        struct plain p;
        struct error e = { 0 };
        struct arena *mem = arena_new();
        assert_false(read_bytes(&p, sample, n, mem, &e));
        assert_int_not_equal(e.text[0], 0);
        arena_free(mem);
    }
}

static void flipped_bytes_do_no_harm(void **state)
{
    (void)state;
    for (size_t i = 0; i < (sizeof sample - 1) * 8; i++) {
        char bytes[sizeof sample];
        struct plain p;
        struct error e = { 0 };
        struct arena *mem = arena_new();
        memcpy(bytes, sample, sizeof sample);
        bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
        if (!read_bytes(&p, bytes, sizeof sample - 1, mem, &e))
            assert_int_not_equal(e.text[0], 0);
        arena_free(mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read),          cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(deep_values_are_refused),  cmocka_unit_test(no_part_of_a_file_is_read),
        cmocka_unit_test(flipped_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
