/* SPDX-License-Identifier: Apache-2.0 */
/* Records of each version of CUPTI, with the sizes and places that the vendor's headers of CUDA 10.2 to 13.0 and its
 * documents of 13.1 to 13.4 have for them. */
#include <string.h>

#include "device/cuda/cupti_library.h"
#include "raw/cuda_records.h"
#include "test.h"

enum { MOST_BYTES = 256, NEVER = UINT32_MAX };

/* Where the vendor has a field, from which version on, and what it is in ours. */
struct place {
    uint8_t ours;
    uint16_t at;
    uint8_t bytes;
    uint32_t since;
};

enum { NODES = 13, GRAPHS = 14, USE = 17 };
static const struct place of_kernel[] = {
    { CUDA_REGISTERS, 6, 2, 0 },        { CUDA_BEGIN, 16, 8, 0 },       { CUDA_END, 24, 8, 0 },
    { CUDA_CONTEXT, 44, 4, 0 },         { CUDA_STREAM, 48, 4, 0 },      { CUDA_GRID_X, 52, 4, 0 },
    { CUDA_GRID_Y, 56, 4, 0 },          { CUDA_GRID_Z, 60, 4, 0 },      { CUDA_BLOCK_X, 64, 4, 0 },
    { CUDA_BLOCK_Y, 68, 4, 0 },         { CUDA_BLOCK_Z, 72, 4, 0 },     { CUDA_STATIC_SHARED, 76, 4, 0 },
    { CUDA_DYNAMIC_SHARED, 80, 4, 0 },  { CUDA_LOCAL, 84, 4, 0 },       { CUDA_CORRELATION, 92, 4, 0 },
    { CUDA_GRAPH_NODE, 144, 8, NODES }, { CUDA_GRAPH, 156, 4, GRAPHS }, { CUDA_BYTES, 0, 0, NEVER },
    { CUDA_PEER, 0, 0, NEVER },
};
static const struct place of_copy[] = {
    { CUDA_COPY_KIND, 4, 1, 0 },       { CUDA_FROM, 5, 1, 0 },        { CUDA_TO, 6, 1, 0 },
    { CUDA_BYTES, 8, 8, 0 },           { CUDA_BEGIN, 16, 8, 0 },      { CUDA_END, 24, 8, 0 },
    { CUDA_CONTEXT, 36, 4, 0 },        { CUDA_STREAM, 40, 4, 0 },     { CUDA_CORRELATION, 44, 4, 0 },
    { CUDA_GRAPH_NODE, 64, 8, NODES }, { CUDA_GRAPH, 72, 4, GRAPHS }, { CUDA_PEER, 0, 0, NEVER },
};
static const struct place of_set[] = {
    { CUDA_BYTES, 8, 8, 0 },    { CUDA_BEGIN, 16, 8, 0 },          { CUDA_END, 24, 8, 0 },
    { CUDA_CONTEXT, 36, 4, 0 }, { CUDA_STREAM, 40, 4, 0 },         { CUDA_CORRELATION, 44, 4, 0 },
    { CUDA_TO, 50, 2, 0 },      { CUDA_GRAPH_NODE, 64, 8, NODES }, { CUDA_GRAPH, 72, 4, GRAPHS },
};
static const struct place of_peer_copy[] = {
    { CUDA_COPY_KIND, 4, 1, 0 },
    { CUDA_FROM, 5, 1, 0 },
    { CUDA_TO, 6, 1, 0 },
    { CUDA_BYTES, 8, 8, 0 },
    { CUDA_BEGIN, 16, 8, 0 },
    { CUDA_END, 24, 8, 0 },
    { CUDA_CONTEXT, 36, 4, 0 },
    { CUDA_STREAM, 40, 4, 0 },
    { CUDA_PEER, 52, 4, 0 },
    { CUDA_CORRELATION, 60, 4, 0 },
    { CUDA_GRAPH_NODE, 72, 8, NODES },
    { CUDA_GRAPH, 80, 4, GRAPHS },
};
static const struct place of_memory[] = {
    { CUDA_MEMORY_OPERATION, 4, 4, 0 },  { CUDA_MEMORY_KIND, 8, 4, 0 },         { CUDA_MEMORY_CORRELATION, 12, 4, 0 },
    { CUDA_MEMORY_ADDRESS, 16, 8, 0 },   { CUDA_MEMORY_BYTES, 24, 8, 0 },       { CUDA_MEMORY_TIME, 32, 8, 0 },
    { CUDA_MEMORY_CONTEXT, 56, 4, 0 },   { CUDA_MEMORY_STREAM, 60, 4, 0 },      { CUDA_MEMORY_POOL, 88, 8, 0 },
    { CUDA_MEMORY_POOL_KEPT, 96, 8, 0 }, { CUDA_MEMORY_POOL_BYTES, 104, 8, 0 }, { CUDA_MEMORY_POOL_USED, 112, 8, USE },
};
static const struct place of_pool[] = {
    { CUDA_MEMORY_CORRELATION, 12, 4, 0 }, { CUDA_MEMORY_BYTES, 24, 8, 0 },       { CUDA_MEMORY_ADDRESS, 32, 8, 0 },
    { CUDA_MEMORY_POOL, 32, 8, 0 },        { CUDA_MEMORY_POOL_BYTES, 40, 8, 0 },  { CUDA_MEMORY_POOL_KEPT, 48, 8, 0 },
    { CUDA_MEMORY_TIME, 56, 8, 0 },        { CUDA_MEMORY_POOL_USED, 64, 8, USE },
};

#define OF(places) places, sizeof(places) / sizeof *(places)
static const struct kind {
    uint32_t kind, device_at;
    const struct place *place;
    size_t n;
} kernel = { CUPTI_KERNEL, 40, OF(of_kernel) }, copy = { CUPTI_MEMCPY, 32, OF(of_copy) },
  set = { CUPTI_MEMSET, 32, OF(of_set) }, peer = { CUPTI_MEMCPY_PEER, 32, OF(of_peer_copy) },
  memory = { CUPTI_MEMORY, 52, OF(of_memory) }, pool = { CUPTI_MEMORY_POOL, 20, OF(of_pool) };

/* Versions: 12 CUDA 10.0 to 10.2, 13 11.0, 14 11.1, 15 11.2 to 11.4, 16 11.5, 17 11.6 and 11.7, 18 11.8, 19 12.0 and
 * 12.1, then one for each release up to 28, and from 13.0 on the release and a number. */
static const struct row {
    const char *record;
    const struct kind *of;
    size_t bytes;
    uint32_t version[12]; /* those that have it, up to a 0 */
} row[] = {
    { "CUpti_ActivityKernel4", &kernel, 144, { 12 } },
    { "CUpti_ActivityKernel5, without graphs", &kernel, 160, { 13 } },
    { "CUpti_ActivityKernel5", &kernel, 160, { 14 } },
    { "CUpti_ActivityKernel6", &kernel, 168, { 15, 16 } },
    { "CUpti_ActivityKernel7", &kernel, 176, { 17 } },
    { "CUpti_ActivityKernel8", &kernel, 200, { 18 } },
    { "CUpti_ActivityKernel9", &kernel, 208, { 19, 20, 21, 22, 23, 24, 26, 27, 28 } },
    { "CUpti_ActivityKernel10", &kernel, 216, { 130000, 130001 } },
    { "CUpti_ActivityKernel11 to 13, which are longer", &kernel, 216, { 130100, 130200, 130300, 130400 } },
    { "CUpti_ActivityMemcpy", &copy, 64, { 12 } },
    { "CUpti_ActivityMemcpy3", &copy, 72, { 13 } },
    { "CUpti_ActivityMemcpy4", &copy, 80, { 14, 15, 16 } },
    { "CUpti_ActivityMemcpy5", &copy, 88, { 17, 18, 19, 20, 21, 22, 23, 24 } },
    { "CUpti_ActivityMemcpy6", &copy, 96, { 26, 27, 28, 130000, 130001, 130100, 130200, 130300 } },
    { "CUpti_ActivityMemcpy7", &copy, 112, { 130400 } },
    { "CUpti_ActivityMemcpyPtoP", &peer, 72, { 12 } },
    { "CUpti_ActivityMemcpyPtoP2", &peer, 80, { 13 } },
    { "CUpti_ActivityMemcpyPtoP3", &peer, 88, { 14, 15, 16 } },
    { "CUpti_ActivityMemcpyPtoP4", &peer, 96, { 17, 18, 19, 24, 28, 130000, 130001, 130400 } },
    { "CUpti_ActivityMemset", &set, 64, { 12 } },
    { "CUpti_ActivityMemset2", &set, 72, { 13 } },
    { "CUpti_ActivityMemset3", &set, 80, { 14, 15, 16 } },
    { "CUpti_ActivityMemset4", &set, 88, { 17, 18, 19, 24, 28, 130000, 130001, 130300 } },
    { "CUpti_ActivityMemset5", &set, 104, { 130400 } },
    { "CUpti_ActivityMemory2", &memory, 112, { 15, 16 } },
    { "CUpti_ActivityMemory3", &memory, 120, { 17, 18, 19, 20, 21, 22, 23 } },
    { "CUpti_ActivityMemory4", &memory, 128, { 24, 26, 27, 28, 130000, 130001, 130400 } },
    { "CUpti_ActivityMemoryPool", &pool, 64, { 15, 16 } },
    { "CUpti_ActivityMemoryPool2", &pool, 72, { 17, 18, 19, 24, 28 } },
    { "CUpti_ActivityMemoryPool3", &pool, 80, { 130000, 130001, 130400 } },
};
enum { ROWS = sizeof row / sizeof *row };

static uint64_t number_at(const uint8_t *record, size_t at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, record + at, bytes);
    return value;
}

/* Every byte is another one, and all bits are set behind the end. */
static void record_fill(uint8_t *record, const struct kind *of, size_t bytes)
{
    memset(record, 0xFF, MOST_BYTES);
    for (size_t i = 0; i < bytes; i++)
        record[i] = (uint8_t)(i + 1);
    memcpy(record, &of->kind, sizeof of->kind);
}

static void each_field_is_read_from_its_place(void **state)
{
    for (size_t i = 0; i < ROWS; i++)
        for (const uint32_t *version = row[i].version; *version; version++) {
            const struct kind *const of = row[i].of;
            uint8_t record[MOST_BYTES];
            struct cupti_record out;
            print_message("  %s, version %u\n", row[i].record, *version);
            record_fill(record, of, row[i].bytes);
            assert_int_equal(cupti_record_read(record, row[i].bytes, *version, &out), CUPTI_FOUND);
            assert_int_equal(out.device, number_at(record, of->device_at, 4));
            for (size_t k = 0; k < of->n; k++) {
                const struct place *const p = &of->place[k];
                const unsigned width = out.layout->field[p->ours].width; /* ours may be narrower: values are small */
                const uint64_t wanted =
                    *version >= p->since ? number_at(record, p->at, p->bytes < width ? p->bytes : width) : 0;
                assert_int_equal(layout_get(out.layout, p->ours, out.record), wanted);
            }
            if (of == &kernel)
                assert_int_equal((uintptr_t)out.name, number_at(record, 104, 8));
            else
                assert_null(out.name);
        }
    (void)state;
}

static void what_ends_before_its_fields_is_a_part(void **state)
{
    for (size_t i = 0; i < ROWS; i++) {
        const uint32_t version = row[i].version[0];
        uint8_t record[MOST_BYTES];
        struct cupti_record out;
        size_t end = 0;
        record_fill(record, row[i].of, row[i].bytes);
        for (size_t k = 0; k < row[i].of->n; k++) {
            const struct place *const p = &row[i].of->place[k];
            if (version >= p->since && (size_t)p->at + p->bytes > end)
                end = (size_t)p->at + p->bytes;
        }
        if (row[i].of == &kernel && end < 112)
            end = 112; /* the name */
        assert_int_equal(cupti_record_read(record, end, version, &out), CUPTI_FOUND);
        for (size_t bytes = 4; bytes < end; bytes++)
            assert_int_equal(cupti_record_read(record, bytes, version, &out), CUPTI_FOUND_PART);
        for (size_t bytes = 0; bytes < 4; bytes++)
            assert_int_equal(cupti_record_read(record, bytes, version, &out), CUPTI_FOUND_OTHER);
    }
    (void)state;
}

static void other_kinds_are_left_alone(void **state)
{
    uint8_t record[MOST_BYTES] = { 0 };
    struct cupti_record out;
    for (uint32_t kind = 0; kind < 100; kind++) {
        bool is_known = false;
        for (size_t i = 0; i < ROWS; i++)
            is_known |= row[i].of->kind == kind;
        memcpy(record, &kind, sizeof kind);
        assert_int_equal(cupti_record_read(record, sizeof record, 130001, &out),
                         is_known ? CUPTI_FOUND : CUPTI_FOUND_OTHER);
    }
    (void)state;
}

static void a_pool_of_another_process_has_no_size(void **state)
{
    enum { TYPE_AT = 80, LOCAL = 1, IMPORTED = 2 };
    static const struct {
        const char *what;
        uint32_t type;
        bool has_size;
    } type[] = { { "local", LOCAL, true }, { "imported: the process is where the size was", IMPORTED, false } };
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        uint8_t record[MOST_BYTES];
        struct cupti_record out;
        print_message("  %s\n", type[i].what);
        record_fill(record, &memory, 128);
        memcpy(record + TYPE_AT, &type[i].type, sizeof type[i].type);
        assert_int_equal(cupti_record_read(record, 128, 130001, &out), CUPTI_FOUND);
        assert_int_equal(layout_get(out.layout, CUDA_MEMORY_POOL_BYTES, out.record) != 0, type[i].has_size);
        assert_int_equal(layout_get(out.layout, CUDA_MEMORY_POOL_USED, out.record) != 0, type[i].has_size);
        assert_int_equal(layout_get(out.layout, CUDA_MEMORY_POOL, out.record), number_at(record, 88, 8));
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_field_is_read_from_its_place),
        cmocka_unit_test(what_ends_before_its_fields_is_a_part),
        cmocka_unit_test(other_kinds_are_left_alone),
        cmocka_unit_test(a_pool_of_another_process_has_no_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
