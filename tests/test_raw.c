/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "raw/all.h"

static bool inside(size_t off, size_t width, size_t size)
{
    return (width == 1 || width == 2 || width == 4 || width == 8) && off <= size && width <= size - off;
}

static bool match_inside(const struct match *m, size_t size)
{
    return m->width == 0 || (inside(m->off, m->width, size) && (m->value & ~m->mask) == 0);
}

static void no_field_reaches_past_its_record(void **state)
{
    for (size_t i = 0; i < n_raw_layouts; i++) {
        const struct layout *l = raw_layouts[i];
        if (!l->name || l->size == 0 || l->n > LAYOUT_MOST_FIELDS)
            fail_msg("layout %zu has no name, no size or too many fields", i);
        if (!match_inside(&l->magic, l->size) || !match_inside(&l->kind, l->size))
            fail_msg("%s: its magic or kind lies outside, or its value has bits that the mask drops", l->name);
        for (unsigned f = 0; f < LAYOUT_MOST_FIELDS; f++) {
            const struct field *field = &l->field[f];
            if (f >= l->n ? field->width != 0 : !field->name || !inside(field->off, field->width, l->size))
                fail_msg("%s: field %u (%s) at %u is outside, or beyond the count", l->name, f,
                         field->name ? field->name : "no name", field->off);
            for (unsigned k = 0; k < f && f < l->n; k++)
                if (strcmp(l->field[k].name, field->name) == 0)
                    fail_msg("%s: two fields are called %s", l->name, field->name);
        }
    }
    (void)state;
}

static uint64_t widest(unsigned width)
{
    return width == 8 ? UINT64_MAX : (1ull << (8 * width)) - 1;
}

static void what_is_put_is_got_and_nothing_else_changes(void **state)
{
    uint64_t random = RANDOM_SEED;
    for (size_t i = 0; i < n_raw_layouts; i++) {
        const struct layout *l = raw_layouts[i];
        uint8_t *rec = malloc(l->size), *was = malloc(l->size); /* of the exact size: the sanitizer watches both ends */
        for (unsigned f = 0; f < l->n; f++) {
            const struct field *field = &l->field[f];
            const uint64_t value = random_next(&random) & widest(field->width);
            for (size_t b = 0; b < l->size; b++)
                was[b] = rec[b] = (uint8_t)random_next(&random);
            layout_put(l, f, rec, value);
            assert_true(layout_get(l, f, rec) == value);
            assert_memory_equal(rec, was, field->off);
            const size_t after = (size_t)field->off + field->width;
            assert_memory_equal(rec + after, was + after, l->size - after);

            uint64_t decoded[3] = { 0 };
            const uint8_t *const records[] = { rec, was, rec };
            layout_decode(field, records, 3, decoded);
            memcpy(&decoded[2], (uint8_t *)decoded + 2 * field->width, field->width);
            assert_true((decoded[0] & widest(field->width)) == value);
            assert_true((decoded[2] & widest(field->width)) == value);
        }
        free(rec);
        free(was);
    }
    (void)state;
}

static void a_fresh_record_is_one_of_its_kind(void **state)
{
    for (size_t i = 0; i < n_raw_layouts; i++) {
        const struct layout *l = raw_layouts[i];
        uint8_t *rec = malloc(l->size);
        memset(rec, 0xEE, l->size);
        layout_init(l, rec);
        if (!match_holds(&l->magic, rec) || !match_holds(&l->kind, rec))
            fail_msg("%s: a fresh record is not recognised", l->name);
        const struct match *const tests[] = { &l->magic, &l->kind };
        for (size_t k = 0; k < ROWS(tests); k++) {
            if (tests[k]->width == 0)
                continue;
            const unsigned bit = (unsigned)__builtin_ctz(tests[k]->mask);
            rec[tests[k]->off + bit / 8] ^= (uint8_t)(1u << bit % 8);
            if (match_holds(tests[k], rec))
                fail_msg("%s: a wrong bit in its magic or kind is not noticed", l->name);
            rec[tests[k]->off + bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(rec);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_field_reaches_past_its_record),
        cmocka_unit_test(what_is_put_is_got_and_nothing_else_changes),
        cmocka_unit_test(a_fresh_record_is_one_of_its_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
