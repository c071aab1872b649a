/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/memory_timeline/tensor_text.h"

#include <string.h>

#include "analyse/memory_timeline/op_schemas.h"
#include "base/files/bytes.h"
#include "raw/torch.h"

/* ---- parts ---------------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct text_span trim(struct text_span s)
{
    while (s.len > 0 && is_blank(s.at[s.len - 1]))
        s.len--;
    while (s.len > 0 && is_blank(*s.at)) {
        s.at++;
        s.len--;
    }
    return s;
}

struct pieces pieces_of(struct text_span text)
{
    return (struct pieces){ .rest = trim(text), .is_over = !text.at };
}

bool pieces_next(struct pieces *p, char separator, struct text_span *part)
{
    if (p->is_over)
        return false;
    const char *end = p->rest.len > 0 ? memchr(p->rest.at, separator, p->rest.len) : NULL;
    *part = (struct text_span){ p->rest.at, end ? (size_t)(end - p->rest.at) : p->rest.len };
    p->is_over = !end;
    if (end) {
        p->rest.at += part->len + 1;
        p->rest.len -= part->len + 1;
    }
    return true;
}

static bool span_is(struct text_span s, const char *word)
{
    return s.len == strlen(word) && memcmp(s.at, word, s.len) == 0;
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* All of it must be digits, and the number must fit. */
static bool read_digits(struct text_span s, unsigned base, uint64_t *out)
{
    uint64_t v = 0;
    for (size_t i = 0; i < s.len; i++) {
        const unsigned digit = (unsigned)digit_of(s.at[i]);
        if (digit >= base || __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return s.len > 0;
}

static bool read_pointer(struct text_span s, uint64_t *out)
{
    if (s.len > 2 && s.at[0] == '0' && (s.at[1] == 'x' || s.at[1] == 'X'))
        s = (struct text_span){ s.at + 2, s.len - 2 };
    return read_digits(s, 16, out);
}

static bool read_device(struct text_span s, int32_t *out)
{
    const bool is_negative = s.len > 0 && *s.at == '-';
    uint64_t v;
    if (!read_digits((struct text_span){ s.at + is_negative, s.len - is_negative }, 10, &v) || v > INT32_MAX)
        return false;
    *out = is_negative ? -(int32_t)v : (int32_t)v;
    return true;
}

/* ---- a tensor ------------------------------------------------------------------------------------------------- */

enum {
    TENSOR_OBJECT,
    TENSOR_STORAGE,
    TENSOR_TYPE,
    TENSOR_ELEMENT,
    TENSOR_SIZES,
    TENSOR_STRIDES,
    TENSOR_DEVICE_TYPE,
    TENSOR_DEVICE,
    TENSOR_PARTS
};

/* No memory is that large: a product beyond it comes from damaged numbers. */
static const uint64_t most_bytes = (uint64_t)1 << 56;

static bool read_bytes(struct text_span element, struct text_span sizes, uint64_t *out)
{
    uint64_t bytes, size;
    if (!read_digits(element, 10, &bytes))
        return false;
    struct pieces each = { .rest = sizes, .is_over = sizes.len == 0 };
    for (struct text_span s; pieces_next(&each, ',', &s);)
        if (!read_digits(s, 10, &size) || __builtin_mul_overflow(bytes, size, &bytes) || bytes > most_bytes)
            return false;
    *out = bytes;
    return bytes <= most_bytes;
}

bool tensor_read(struct text_span text, struct tensor *out)
{
    struct text_span part[TENSOR_PARTS], more;
    struct pieces p = { .rest = text };
    size_t n = 0;
    while (n < TENSOR_PARTS && pieces_next(&p, ';', &part[n]))
        n++;
    uint64_t object;
    struct tensor t = { .has_storage = n == TENSOR_PARTS && part[TENSOR_STORAGE].len > 0 };
    if (n < TENSOR_PARTS || pieces_next(&p, ';', &more) || !read_pointer(part[TENSOR_OBJECT], &object) ||
        (t.has_storage && !read_pointer(part[TENSOR_STORAGE], &t.pointer)) ||
        !read_bytes(part[TENSOR_ELEMENT], part[TENSOR_SIZES], &t.bytes) ||
        !read_device(part[TENSOR_DEVICE_TYPE], &t.device_type) || !read_device(part[TENSOR_DEVICE], &t.device))
        return false;
    *out = t;
    return true;
}

/* ---- the inputs of an operator -------------------------------------------------------------------------------- */

void op_texts_find(struct op_texts *t, const uint8_t *record, size_t size)
{
    struct text_span text[TORCH_TEXTS] = { 0 };
    struct bytes b = { .data = record, .size = size };
    if (!bytes_take(&b, torch_op_layout.size))
        b.at = b.size;
    for (const uint8_t *head; (head = bytes_take(&b, TLV_HEAD));) {
        const uint16_t type = le16(head);
        const uint32_t len = le32(head + 2);
        const uint8_t *at = bytes_take(&b, len);
        if (!at)
            break;
        if (type < TORCH_TEXTS) /* the last of a kind counts */
            text[type] = (struct text_span){ (const char *)at, len };
    }
    *t = (struct op_texts){
        .types = pieces_of(text[TORCH_TEXT_TYPES]),
        .tensors = pieces_of(text[TORCH_TEXT_TENSORS]),
        .lists = pieces_of(text[TORCH_TEXT_TENSOR_LISTS]),
        .scalars = pieces_of(text[TORCH_TEXT_SCALARS]),
    };
}

bool op_texts_next(struct op_texts *t, struct op_input *in)
{
    struct text_span type, text = { "", 0 };
    if (!pieces_next(&t->types, ';', &type))
        return false;
    *in = (struct op_input){ .kind = INPUT_OTHER };
    if (span_is(type, "None")) {
        in->kind = INPUT_NONE;
    } else if (span_is(type, "Scalar")) {
        if (pieces_next(&t->scalars, ';', &text) && span_is(text, "None"))
            in->kind = INPUT_NONE;
    } else if (span_is(type, "TensorList")) {
        in->kind = INPUT_TENSORS;
        in->is_damaged = !pieces_next(&t->lists, '}', &text);
        text = trim(text);
        while (text.len > 0 && text.at[text.len - 1] == ')') /* each tensor of a list is closed */
            text.len--;
        in->tensors = (struct pieces){ .rest = text, .is_over = text.len == 0 };
    } else if (!span_is(type, "ScalarList")) {
        pieces_next(&t->tensors, ')', &text);
        in->is_damaged = !tensor_read(text, &in->tensor);
        if (!in->is_damaged && in->tensor.has_storage)
            in->kind = INPUT_TENSOR;
    }
    return true;
}
