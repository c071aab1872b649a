/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "guarded.h"
#include "load/framework/tlv.h"

/* Type, length, and as much of the body as is there. */
#define RECORD(length, body)      "\1\0" length "\0\0\0" body
#define FIELD(type, length, body) type "\0" length "\0\0\0" body

static void records_are_walked_and_what_is_cut_is_counted(void **state)
{
    enum { FIXED = 2 };
    static const struct {
        const char *what, *in;
        size_t size;
        const char *found; /* the fixed parts of the records, one after the other */
        uint64_t cut, first_at;
    } row[] = {
        { "an empty file", "", 0, "", 0, 0 },
        { "one record", RECORD("\2", "ab"), 8, "ab", 0, 0 },
        { "more than the fixed part", RECORD("\4", "abcd"), 10, "ab", 0, 0 },
        { "two records", RECORD("\2", "ab") RECORD("\3", "cde"), 17, "abcd", 0, 0 },
        { "a record that is too short is stepped over", RECORD("\1", "x") RECORD("\2", "ab"), 15, "ab", 1, 0 },
        { "an empty record too", RECORD("\0", "") RECORD("\2", "ab"), 14, "ab", 1, 0 },
        { "a body that is cut", RECORD("\2", "ab") RECORD("\2", "c"), 15, "ab", 1, 8 },
        { "a head that is cut", RECORD("\2", "ab") "\1\0\2", 11, "ab", 1, 8 },
        { "a length beyond everything", "\1\0\xFF\xFF\xFF\xFFzz", 8, "", 1, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct losses lost = { 0 };
        const uint8_t *bytes = guarded_copy(row[i].in, row[i].size);
        struct tlv t = { { bytes, row[i].size, 0 }, "t", &lost };
        const size_t n = tlv_count(&t, FIXED);
        char found[16] = "";
        size_t got = 0;
        print_message("  %s\n", row[i].what);
        for (struct tlv_record r; tlv_next(&t, FIXED, &r); got++)
            strncat(found, (const char *)r.data, FIXED);
        assert_string_equal(found, row[i].found);
        assert_int_equal(got, n);
        assert_int_equal(lost.by[LOSS_CUT_SHORT].n, row[i].cut);
        assert_int_equal(lost.by[LOSS_CUT_SHORT].first_at, row[i].first_at);
        guarded_free(bytes, row[i].size);
    }
    (void)state;
}

static void texts_are_found_by_their_type(void **state)
{
    static const struct {
        const char *what, *in;
        size_t size;
        const char *one, *two; /* of types 1 and 2; NULL: not there */
        uint64_t cut;
    } row[] = {
        { "none", "", 0, NULL, NULL, 0 },
        { "one", FIELD("\1", "\3", "abc"), 9, "abc", NULL, 0 },
        { "in any order", FIELD("\2", "\1", "b") FIELD("\1", "\1", "a"), 14, "a", "b", 0 },
        { "the last of a type counts", FIELD("\1", "\1", "a") FIELD("\1", "\1", "c"), 14, "c", NULL, 0 },
        { "empty is not absent", FIELD("\2", "\0", ""), 6, NULL, "", 0 },
        { "an unknown record is passed over", FIELD("\7", "\1", "z") FIELD("\1", "\1", "a"), 14, "a", NULL, 0 },
        { "what is whole stays when the next is cut", FIELD("\1", "\1", "a") FIELD("\2", "\5", "b"), 14, "a", NULL, 1 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct losses lost = { 0 };
        const uint8_t *bytes = guarded_copy(row[i].in, row[i].size);
        const struct tlv t = { { bytes, row[i].size, 0 }, "t", &lost };
        const struct tlv_record r = { bytes, row[i].size, 0 };
        struct tlv_text text[3];
        print_message("  %s\n", row[i].what);
        tlv_texts(&t, &r, 0, text, 3);
        const char *const want[] = { NULL, row[i].one, row[i].two };
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(text[k].at != NULL, want[k] != NULL);
            if (want[k]) {
                assert_int_equal(text[k].len, strlen(want[k]));
                assert_memory_equal(text[k].at, want[k], text[k].len);
            }
        }
        assert_int_equal(lost.by[LOSS_CUT_SHORT].n, row[i].cut);
        guarded_free(bytes, row[i].size);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_walked_and_what_is_cut_is_counted),
        cmocka_unit_test(texts_are_found_by_their_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
