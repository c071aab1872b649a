/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <stdio.h>

#include "base/memory/names.h"

static void equal_strings_have_equal_ids(void **state)
{
    static const struct {
        const char *what, *text;
        size_t len;
    } row[] = {
        { "the empty string", "", 0 },
        { "a word", "MatMul", 6 },
        { "the same word with more behind", "MatMulV2", 8 },
        { "a NUL inside", "Mat\0ul", 6 },
        { "another after the NUL", "Mat\0uL", 6 },
        { "letters of other languages", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x8e", 9 },
        { "not available", "N/A", 3 },
    };
    struct names *s = names_new();
    name_id id[ROWS(row)];
    for (size_t i = 0; i < ROWS(row); i++)
        id[i] = names_add(s, row[i].text, row[i].len);
    assert_int_equal(names_count(s), ROWS(row));
    assert_int_equal(id[0], NAME_EMPTY);
    assert_int_equal(id[ROWS(row) - 1], NAME_NA);
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(names_add(s, row[i].text, row[i].len), id[i]);
        assert_int_equal(names_len(s, id[i]), row[i].len);
        assert_memory_equal(names_text(s, id[i]), row[i].text, row[i].len + 1);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(id[i], id[k]);
    }
    assert_int_equal(names_number(s, UINT64_MAX), names_addz(s, "18446744073709551615"));
    assert_int_equal(names_number(s, 0), names_addz(s, "0"));
    assert_false(names_failed(s));
    names_free(s);
    names_free(NULL);
    (void)state;
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
#define X "\xEF\xBF\xBD"
    static const struct {
        const char *what, *text, *name;
    } row[] = {
        { "bytes that begin nothing", "a\xff\xfe\x80z", "a" X X X "z" },
        { "a letter that is cut short", "ab\xe2\x82", "ab" X X },
        { "a longer form than need be", "\xc0\xaf", X X },
        { "half of a pair", "\xed\xa0\x80", X X X },
        { "beyond the last letter", "\xf4\x90\x80\x80", X X X X },
        { "letters beside them stay", "\xc3\xa4\xff", "\xc3\xa4" X },
    };
    struct names *s = names_new();
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const name_id id = names_addz(s, row[i].text);
        assert_string_equal(names_text(s, id), row[i].name);
        assert_int_equal(names_addz(s, row[i].text), id);
        assert_int_equal(names_addz(s, row[i].name), id);
    }
    names_free(s);
    (void)state;
}

static void names_order_as_their_bytes_do(void **state)
{
    static const char *const ascending[] = { "", "A", "AB", "ABC", "B", "a", "\x7f", "\xc3\xa4" };
    struct names *s = names_new();
    for (size_t i = 0; i < ROWS(ascending); i++)
        for (size_t k = 0; k < ROWS(ascending); k++) {
            const int order = names_compare(s, names_addz(s, ascending[i]), names_addz(s, ascending[k]));
            assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
        }
    names_free(s);
    (void)state;
}

enum { N_THREADS = 8, N_TEXTS = 30000 };
struct adder {
    struct names *set;
    unsigned first;
    name_id id[N_TEXTS];
};

/* Every thread adds the same texts, each from another place on, and reads back what it was handed. */
static void *add_all(void *arg)
{
    struct adder *a = arg;
    for (unsigned i = 0; i < N_TEXTS; i++) {
        const unsigned which = (i + a->first) % N_TEXTS;
        char text[32];
        const int len = snprintf(text, sizeof text, "operator_%u", which);
        a->id[which] = names_add(a->set, text, (size_t)len);
        if (strcmp(names_text(a->set, a->id[which]), text) != 0)
            return arg;
    }
    return NULL;
}

static void many_threads_agree_on_the_ids(void **state)
{
    struct names *s = names_new();
    struct adder *adder = calloc(N_THREADS, sizeof *adder);
    pthread_t thread[N_THREADS];
    for (unsigned i = 0; i < N_THREADS; i++) {
        adder[i].set = s;
        adder[i].first = i * (N_TEXTS / N_THREADS);
        assert_int_equal(pthread_create(&thread[i], NULL, add_all, &adder[i]), 0);
    }
    for (unsigned i = 0; i < N_THREADS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(names_count(s), N_TEXTS + 2); /* "" and "N/A" are always there */
    for (unsigned i = 1; i < N_THREADS; i++)
        assert_memory_equal(adder[i].id, adder[0].id, sizeof adder[0].id);
    free(adder);
    names_free(s);
    (void)state;
}

/* Whatever fell into a slot before, also what is stored in other bytes than it was given in. */
static void recent_names_have_the_same_ids(void **state)
{
    struct names *s = names_new();
    struct names_recent recent = { 0 };
    for (unsigned turn = 0; turn < 3; turn++)
        for (unsigned i = 0; i < 3 * NAMES_RECENT; i++) {
            char text[32];
            const int n = snprintf(text, sizeof text, i % 5 ? "name %u" : "n\xffme %u", i);
            const name_id id = names_add_recent(s, &recent, text, (size_t)n);
            assert_int_equal(id, names_add(s, text, (size_t)n));
            assert_int_equal(id, names_add_recent(s, &recent, text, (size_t)n));
        }
    assert_int_equal(names_add_recent(s, &recent, "", 0), NAME_EMPTY);
    assert_int_equal(names_count(s), 2 + 3 * NAMES_RECENT);
    names_free(s);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_strings_have_equal_ids),   cmocka_unit_test(bytes_that_are_no_text_are_replaced),
        cmocka_unit_test(names_order_as_their_bytes_do),  cmocka_unit_test(many_threads_agree_on_the_ids),
        cmocka_unit_test(recent_names_have_the_same_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
