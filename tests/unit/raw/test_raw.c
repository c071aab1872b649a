/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "raw/all.h"
#include "raw/mindspore.h"

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

/* Fixed parts as MindSpore wrote them. */
static void records_of_mindspore_have_their_values(void **state)
{
    static const uint8_t range[] = "\x08\0\0\0\0\0\0\0\x05\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x9c\x18\0\0\0\0\0\0"
                                   "\xf4\x1a\0\0\0\0\0\0\x08\0\0\0\x03\0\x20\0\0\0\xff\0\0";
    static const uint8_t memory[] =
        "\0\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\xe8\x03\0\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\x08\0\0\0\0\0\0"
        "\0\x08\0\0\0\0\0\0\x09\0\0\0\0\0\0\0\0\0\xa0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
        "\xbc\x0a\0\0\0\0\0\0\x03\0\0\0\0\0\0";
    static const struct {
        const struct layout *layout;
        const uint8_t *rec;
        unsigned field;
        uint64_t value;
    } row[] = {
        { &ms_range_layout, range, MS_RANGE_THREAD, 8 },
        { &ms_range_layout, range, MS_RANGE_FLOW, 5 },
        { &ms_range_layout, range, MS_RANGE_STEP, 1 },
        { &ms_range_layout, range, MS_RANGE_BEGIN, 6300 },
        { &ms_range_layout, range, MS_RANGE_END, 6900 },
        { &ms_range_layout, range, MS_RANGE_PROCESS, 8 },
        { &ms_range_layout, range, MS_RANGE_MODULE, 3 },
        { &ms_range_layout, range, MS_RANGE_EVENT, 32 },
        { &ms_range_layout, range, MS_RANGE_STAGE, 0 },
        { &ms_range_layout, range, MS_RANGE_LEVEL, 0xFF },
        { &ms_memory_layout, memory, MS_MEMORY_THREAD, 1 },
        { &ms_memory_layout, memory, MS_MEMORY_PROCESS, 2 },
        { &ms_memory_layout, memory, MS_MEMORY_TIME, 1000 },
        { &ms_memory_layout, memory, MS_MEMORY_ADDRESS, 16 },
        { &ms_memory_layout, memory, MS_MEMORY_SIZE, 2048 },
        { &ms_memory_layout, memory, MS_MEMORY_USED, 2048 },
        { &ms_memory_layout, memory, MS_MEMORY_PEAK, 9 },
        { &ms_memory_layout, memory, MS_MEMORY_RESERVED, 10 << 20 },
        { &ms_memory_layout, memory, MS_MEMORY_STREAM_POINTER, 0xabc },
        { &ms_memory_layout, memory, MS_MEMORY_STREAM, 3 },
    };
    assert_int_equal(sizeof range, ms_range_layout.size);
    assert_int_equal(sizeof memory, ms_memory_layout.size);
    for (size_t i = 0; i < ROWS(row); i++)
        if (layout_get(row[i].layout, row[i].field, row[i].rec) != row[i].value)
            fail_msg("%s: field %u is not %llu", row[i].layout->name, row[i].field, (unsigned long long)row[i].value);
    assert_string_equal(ms_stages[MS_STAGE_SYNC_STREAM], "SyncStream");
    assert_string_equal(ms_modules[MS_MODULE_OTHER], "Other");
    assert_string_equal(ms_events[MS_EVENT_LAUNCH_TASK], "PyNativeLaunchTask");
    assert_string_equal(ms_events[MS_EVENT_PYTHON_OBSERVED], "PythonObserved");
    assert_string_equal(ms_events[MS_EVENTS - 1], "NativeFunc");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_of_mindspore_have_their_values),
        cmocka_unit_test(no_field_reaches_past_its_record),
        cmocka_unit_test(what_is_put_is_got_and_nothing_else_changes),
        cmocka_unit_test(a_fresh_record_is_one_of_its_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
