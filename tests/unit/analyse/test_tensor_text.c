/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/memory_timeline/op_schemas.h"
#include "analyse/memory_timeline/tensor_text.h"
#include "guarded.h"
#include "raw/torch.h"

#define GOOD "0x7f00;0x12c0;float;4;128,1024;1024,1;20;0"

static struct text_span span_of(const char *text)
{
    return (struct text_span){ text, strlen(text) };
}

static void tensors_are_read_or_refused(void **state)
{
    static const struct {
        const char *what, *text;
        bool is_tensor, has_storage;
        uint64_t pointer, bytes;
        int32_t device_type, device;
    } row[] = {
        { "a tensor", GOOD, true, true, 0x12c0, 4 * 128 * 1024, 20, 0 },
        { "of the CPU", "0x1;0x2;double;8;3;1;0;-1", true, true, 2, 24, 0, -1 },
        { "a number has no sizes", "0x1;0x2;float;4;;;20;1", true, true, 2, 4, 20, 1 },
        { "nothing in it", "0x1;0x2;float;4;0,7;7,1;20;0", true, true, 2, 0, 20, 0 },
        { "without storage", "0x1;;float;4;2;1;20;0", true, false, 0, 8, 20, 0 },
        { "pointers of 64 bits", "0x1;0xFFFFFFFFFFFFFFFF;c10::Half;2;1;1;20;0", true, true, UINT64_MAX, 2, 20, 0 },
        { "an empty text", "", false, 0, 0, 0, 0, 0 },
        { "what the reader has for bad text", "N/A", false, 0, 0, 0, 0, 0 },
        { "a part is missing", "0x1;0x2;float;4;2;1;20", false, 0, 0, 0, 0, 0 },
        { "a part too many", GOOD ";0", false, 0, 0, 0, 0, 0 },
        { "separators alone", ";;;;;;;", false, 0, 0, 0, 0, 0 },
        { "a pointer that is no number", "0x1;0xZZ;float;4;2;1;20;0", false, 0, 0, 0, 0, 0 },
        { "a pointer of 65 bits", "0x1;0x1FFFFFFFFFFFFFFFF;float;4;2;1;20;0", false, 0, 0, 0, 0, 0 },
        { "0x alone", "0x;0x2;float;4;2;1;20;0", false, 0, 0, 0, 0, 0 },
        { "a negative size", "0x1;0x2;float;4;-2;1;20;0", false, 0, 0, 0, 0, 0 },
        { "a size that is cut", "0x1;0x2;float;4;2,;1;20;0", false, 0, 0, 0, 0, 0 },
        { "more bytes than there are", "0x1;0x2;float;8;4294967296,4294967296;1;20;0", false, 0, 0, 0, 0, 0 },
        { "more than 64 bits of bytes", "0x1;0x2;float;8;4294967296,4294967296,4294967296;1;20;0", false, 0, 0, 0, 0,
          0 },
        { "a size of 100 digits",
          "0x1;0x2;float;8;"
          "9999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999;1;20;0",
          false, 0, 0, 0, 0, 0 },
        { "an invalid device", "0x1;0x2;float;4;2;1;x;0", false, 0, 0, 0, 0, 0 },
        { "a device beyond all", "0x1;0x2;float;4;2;1;20;4294967296", false, 0, 0, 0, 0, 0 },
        { "a minus alone", "0x1;0x2;float;4;2;1;20;-", false, 0, 0, 0, 0, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct tensor t;
        print_message("  %s\n", row[i].what);
        assert_int_equal(tensor_read(span_of(row[i].text), &t), row[i].is_tensor);
        if (!row[i].is_tensor)
            continue;
        assert_int_equal(t.has_storage, row[i].has_storage);
        assert_int_equal(t.bytes, row[i].bytes);
        assert_int_equal(t.device_type, row[i].device_type);
        assert_int_equal(t.device, row[i].device);
        if (t.has_storage)
            assert_true(t.pointer == row[i].pointer);
    }
    (void)state;
}

/* Each prefix in memory of exactly its size, so that a step beyond it is noticed. */
static void every_prefix_of_a_tensor_is_refused(void **state)
{
    static const char text[] = "0x7f00;0x12c0;float;4;128,1024;1024,1;20;0";
    for (size_t len = 0; len < sizeof text - 1; len++) {
        uint8_t *copy = guarded_copy(text, len);
        struct tensor t;
        assert_false(tensor_read((struct text_span){ (const char *)copy, len }, &t));
        guarded_free(copy, len);
    }
    (void)state;
}

static void parts_are_what_stands_between(void **state)
{
    static const struct {
        const char *what, *text, *parts;
    } row[] = {
        { "an empty text is one empty part", "", "[]" },
        { "one part", "a", "[a]" },
        { "two", "a)b", "[a][b]" },
        { "behind the last separator is another", "a)b)", "[a][b][]" },
        { "blanks around the text do not count", " a) b\n", "[a][ b]" },
        { "separators alone", "))", "[][][]" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        char found[64] = "";
        struct pieces p = pieces_of(span_of(row[i].text));
        print_message("  %s\n", row[i].what);
        for (struct text_span part; pieces_next(&p, ')', &part);)
            snprintf(found + strlen(found), sizeof found - strlen(found), "[%.*s]", (int)part.len, part.at);
        assert_string_equal(found, row[i].parts);
    }
    struct pieces none = pieces_of((struct text_span){ 0 });
    struct text_span part;
    assert_false(pieces_next(&none, ')', &part));
    (void)state;
}

/* A record of torch.op_range whose fixed part is zero. */
static size_t record_of(uint8_t *to, const char *const text[TORCH_TEXTS])
{
    size_t at = torch_op_layout.size;
    memset(to, 0, at);
    for (uint16_t type = 0; type < TORCH_TEXTS; type++) {
        const uint32_t len = text[type] ? (uint32_t)strlen(text[type]) : 0;
        if (!text[type])
            continue;
        memcpy(to + at, &type, sizeof type);
        memcpy(to + at + 2, &len, sizeof len);
        memcpy(to + at + TLV_HEAD, text[type], len);
        at += TLV_HEAD + len;
    }
    return at;
}

/* N none, O other, T tensor, L list; a list with how many; ! damaged */
static void inputs_come_in_their_order(void **state)
{
    static const struct {
        const char *what, *text[TORCH_TEXTS], *kinds;
    } row[] = {
        { "no texts", { NULL }, "" },
        { "a tensor and a number",
          { [TORCH_TEXT_TYPES] = "float;Scalar", [TORCH_TEXT_TENSORS] = GOOD, [TORCH_TEXT_SCALARS] = "Int" },
          "TO" },
        { "a tensor without storage is no tensor",
          { [TORCH_TEXT_TYPES] = "float;None", [TORCH_TEXT_TENSORS] = "0x1;;float;4;2;1;20;0" },
          "ON" },
        { "a list between tensors",
          { [TORCH_TEXT_TYPES] = "float;TensorList;float",
            [TORCH_TEXT_TENSORS] = GOOD ")" GOOD,
            [TORCH_TEXT_TENSOR_LISTS] = GOOD ")" GOOD ")" },
          "TL2T" },
        { "two lists",
          { [TORCH_TEXT_TYPES] = "TensorList;TensorList", [TORCH_TEXT_TENSOR_LISTS] = GOOD ")}" GOOD ")" GOOD ")" },
          "L1L2" },
        { "a list of nothing",
          { [TORCH_TEXT_TYPES] = "TensorList;TensorList;TensorList", [TORCH_TEXT_TENSOR_LISTS] = GOOD ")}}" GOOD ")" },
          "L1L0L1" },
        { "at the end",
          { [TORCH_TEXT_TYPES] = "TensorList;TensorList", [TORCH_TEXT_TENSOR_LISTS] = GOOD ")}" },
          "L1L0" },
        { "lists of numbers", { [TORCH_TEXT_TYPES] = "ScalarList;ScalarList" }, "OO" },
        { "fewer tensors than types", { [TORCH_TEXT_TYPES] = "float;float", [TORCH_TEXT_TENSORS] = GOOD }, "TO!" },
        { "fewer lists than types", { [TORCH_TEXT_TYPES] = "TensorList" }, "L0!" },
        { "fewer numbers than types", { [TORCH_TEXT_TYPES] = "Scalar;Scalar", [TORCH_TEXT_SCALARS] = "Int" }, "OO" },
        { "tensors without types are nobody's", { [TORCH_TEXT_TENSORS] = GOOD }, "" },
        { "an empty type is a tensor that is missing", { [TORCH_TEXT_TYPES] = "" }, "O!" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        uint8_t record[1000];
        const size_t size = record_of(record, row[i].text);
        uint8_t *copy = guarded_copy(record, size);
        struct op_texts texts;
        char found[64] = "";
        print_message("  %s\n", row[i].what);
        op_texts_find(&texts, copy, size);
        for (struct op_input in; op_texts_next(&texts, &in);) {
            static const char letter[] = {
                [INPUT_NONE] = 'N', [INPUT_OTHER] = 'O', [INPUT_TENSOR] = 'T', [INPUT_TENSORS] = 'L'
            };
            char *end = found + strlen(found);
            int n = 0;
            struct tensor t;
            for (struct text_span part; in.kind == INPUT_TENSORS && pieces_next(&in.tensors, ')', &part);) {
                in.is_damaged |= !tensor_read(part, &t);
                n += tensor_read(part, &t);
            }
            end += sprintf(end, in.kind == INPUT_TENSORS ? "%c%d" : "%c", letter[in.kind], n);
            sprintf(end, "%s", in.is_damaged ? "!" : "");
        }
        assert_string_equal(found, row[i].kinds);
        guarded_free(copy, size);
    }
    (void)state;
}

/* However a record is cut or changed, what is read lies in it and comes to an end. */
static void damaged_records_are_survived(void **state)
{
    static const char *const text[TORCH_TEXTS] = { [TORCH_TEXT_NAME] = "aten::cat",
                                                   [TORCH_TEXT_TYPES] = "TensorList;Scalar;float",
                                                   [TORCH_TEXT_TENSORS] = GOOD,
                                                   [TORCH_TEXT_TENSOR_LISTS] = GOOD ")" GOOD ")",
                                                   [TORCH_TEXT_SCALARS] = "Int" };
    uint8_t record[1000];
    const size_t size = record_of(record, text);
    uint64_t random = RANDOM_SEED;
    for (size_t i = 0; i < 4 * size; i++) {
        const size_t len = i < size ? i : size;
        uint8_t *copy = guarded_copy(record, len);
        if (i >= size)
            copy[random_next(&random) % size] = (uint8_t)random_next(&random);
        struct op_texts texts;
        size_t n = 0;
        op_texts_find(&texts, copy, len);
        for (struct op_input in; op_texts_next(&texts, &in); n++) {
            struct tensor t;
            for (struct text_span part; in.kind == INPUT_TENSORS && pieces_next(&in.tensors, ')', &part);)
                tensor_read(part, &t);
        }
        assert_true(n <= size);
        guarded_free(copy, len);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_read_or_refused),   cmocka_unit_test(every_prefix_of_a_tensor_is_refused),
        cmocka_unit_test(parts_are_what_stands_between), cmocka_unit_test(inputs_come_in_their_order),
        cmocka_unit_test(damaged_records_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
