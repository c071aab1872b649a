/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/framework_loaders.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/bytes.h"
#include "base/files/out.h"
#include "base/memory/hash.h"
#include "load/prof/prof.h"
#include "load/prof/text.h"
#include "raw/enums.h"
#include "raw/host_records.h"

/* The texts of one operator while its tensors are read, by [TENSOR_INPUT] and [TENSOR_OUTPUT]. */
enum tensor_text { SHAPES, TYPES, FORMATS, TENSOR_TEXTS };
struct tensor_texts {
    struct out text[2][TENSOR_TEXTS];
    bool has_any[2];
};

static bool texts_init(struct tensor_texts *t, struct error *e)
{
    *t = (struct tensor_texts){ 0 };
    bool done = true;
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < TENSOR_TEXTS; k++) /* opens all of them, so that all can be discarded */
            done = out_open_memory(&t->text[d][k], e) && done;
    return done;
}

/* False: there was no memory for some text, and what was made of it is wrong. */
static bool texts_fini(struct tensor_texts *t)
{
    bool done = true;
    for (int d = 0; d < 2; d++)
        for (int k = 0; k < TENSOR_TEXTS; k++) {
            done = done && !t->text[d][k].failed_errno;
            out_discard(&t->text[d][k]);
        }
    return done;
}

static void texts_clear(struct tensor_texts *t)
{
    for (int d = 0; d < 2; d++) {
        t->has_any[d] = false;
        for (int k = 0; k < TENSOR_TEXTS; k++)
            t->text[d][k].n = 0;
    }
}

static void put_enum(struct out *o, const struct enum_table *table, uint32_t value)
{
    const char *text = enum_text(table, value);
    if (text)
        out_bytes(o, text, strlen(text));
    else
        out_u64(o, value);
}

/* The low byte names the format; the 16 bits above it are a number of its own. */
static void put_format(struct out *o, uint32_t format)
{
    const uint32_t sub = format >> 8 & 0xFFFF;
    if (format == UINT32_MAX || sub == 0) {
        put_enum(o, &ge_formats, format == UINT32_MAX ? format : format & 0xFF);
        return;
    }
    put_enum(o, &ge_formats, format & 0xFF);
    out_char(o, ':');
    out_u64(o, sub);
}

/* One tensor: TENSOR_BYTES at p. */
static void texts_add(struct tensor_texts *t, const uint8_t *p)
{
    const uint32_t direction = le32(p);
    if (direction > TENSOR_OUTPUT)
        return;
    struct out *text = t->text[direction];
    if (t->has_any[direction])
        for (int k = 0; k < TENSOR_TEXTS; k++)
            out_char(&text[k], ';');
    t->has_any[direction] = true;
    put_format(&text[FORMATS], le32(p + 4));
    put_enum(&text[TYPES], &ge_data_types, le32(p + 8));
    for (int dim = 0; dim < TENSOR_DIMS; dim++) {
        const uint32_t size = le32(p + 12 + 4 * dim);
        if (size == 0)
            break;
        if (dim > 0)
            out_char(&text[SHAPES], ',');
        out_u64(&text[SHAPES], size);
    }
}

struct tensor_columns {
    name_id *text[TENSOR_TEXTS][2];
};

static bool columns_take(struct arena *mem, size_t n, struct tensor_columns *c)
{
    for (int k = 0; k < TENSOR_TEXTS; k++)
        for (int d = 0; d < 2; d++)
            if (!(c->text[k][d] = arena_take(mem, n, sizeof(name_id))))
                return false;
    return true;
}

static void columns_set(struct tensor_columns *c, size_t row, const struct tensor_texts *t, struct names *names)
{
    for (int k = 0; k < TENSOR_TEXTS; k++)
        for (int d = 0; d < 2; d++)
            c->text[k][d][row] = t->has_any[d] ? names_add(names, t->text[d][k].buf, t->text[d][k].n) : NAME_NA;
}

/* A cache: programs run the same operators on the same shapes again and again. Equal bytes give equal texts. */
enum { SEEN = 1024 };
struct seen {
    const uint8_t *tensors; /* of an operator whose tensors are all in one record; NULL: none yet */
    size_t bytes, row;
};

static struct seen *seen_place(struct seen *seen, const uint8_t *tensors, size_t bytes)
{
    uint64_t h = bytes;
    _Static_assert(TENSOR_BYTES % sizeof(uint32_t) == 0, "all of it are words");
    for (size_t at = 0; at < bytes; at += sizeof(uint32_t))
        h = (h ^ le32(tensors + at)) * 0x9E3779B97F4A7C15;
    return &seen[hash_u64(h) % SEEN];
}

static bool columns_repeat(struct tensor_columns *c, size_t row, const struct seen *known, const uint8_t *tensors,
                           size_t bytes)
{
    if (!known->tensors || known->bytes != bytes || memcmp(known->tensors, tensors, bytes) != 0)
        return false;
    for (int k = 0; k < TENSOR_TEXTS; k++)
        for (int d = 0; d < 2; d++)
            c->text[k][d][row] = c->text[k][d][known->row];
    return true;
}

bool tensors_load(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct sorted in;
    if (!sorted_load(p, "additional.tensor_info", &tensor_layout, &in, e))
        return false;
    uint32_t *thread = sorted_column(&in, HEAD_THREAD), *call = sorted_calls(&in);
    uint64_t *time = sorted_column(&in, HEAD_TIME), *name = sorted_column(&in, TENSOR_OP_NAME);
    const uint32_t *count = in.in.column[TENSOR_COUNT];
    struct tensor_columns c;
    struct tensor_texts t;
    const bool has_room = columns_take(s->mem, in.in.n, &c);
    struct seen *seen = calloc(SEEN, sizeof *seen);
    if (!texts_init(&t, e) || !has_room || !seen || arena_failed(s->mem)) {
        free(seen);
        texts_fini(&t);
        sorted_end(&in, e);
        return error_no_memory(e, s->path);
    }
    /* An operator with more than five tensors takes several records of the same name, thread and time. */
    size_t n = 0;
    for (size_t i = 0; i < in.in.n; n++) {
        const size_t first = i++;
        while (i < in.in.n && thread[i] == thread[first] && time[i] == time[first] && name[i] == name[first])
            i++;
        const uint8_t *tensors = in.in.rest[in.order[first]] + TENSOR_FIRST;
        const size_t bytes = (size_t)TENSOR_BYTES * count[in.order[first]];
        const bool is_alone = i == first + 1 && count[in.order[first]] <= TENSOR_MOST;
        struct seen *known = is_alone ? seen_place(seen, tensors, bytes) : NULL;
        if (!known || !columns_repeat(&c, n, known, tensors, bytes)) {
            texts_clear(&t);
            for (size_t at = first; at < i; at++) {
                const uint32_t row = in.order[at];
                if (count[row] > TENSOR_MOST)
                    record_lost(s, "additional.tensor_info", LOSS_BAD_VALUE, in.in.rest[row]);
                for (uint32_t k = 0; k < count[row] && k < TENSOR_MOST; k++)
                    texts_add(&t, in.in.rest[row] + TENSOR_FIRST + TENSOR_BYTES * k);
            }
            columns_set(&c, n, &t, p->names);
        }
        if (known)
            *known = (struct seen){ tensors, bytes, n };
        thread[n] = thread[first], time[n] = time[first], name[n] = name[first];
    }
    free(seen);
    const bool done = texts_fini(&t);
    struct tensors *out = &p->host.records.tensors;
    *out = (struct tensors){ .n = n, .thread = thread, .time = time, .name = name, .call = call };
    memcpy(out->shapes, c.text[SHAPES], sizeof out->shapes);
    memcpy(out->types, c.text[TYPES], sizeof out->types);
    memcpy(out->formats, c.text[FORMATS], sizeof out->formats);
    return sorted_end(&in, e) && (done || error_no_memory(e, s->path));
}

/* The records of the variable file. */
struct tensors_captured {
    LIST(const uint8_t *) rec;
    size_t n_static;
};

static bool captured_add(struct tensors_captured *c, struct arena *mem, const uint8_t *rec)
{
    const uint8_t **slot = list_add(&c->rec, mem);
    if (slot)
        *slot = rec;
    return slot != NULL;
}

/* Records of the variable file contain their length; one with an invalid length is skipped by that length. */
static bool captured_variable(struct profile *p, const struct stream *stream, struct tensors_captured *c,
                              struct error *e)
{
    struct source *s = &p->host.source;
    const struct layout *l = &captured_op_variable_layout;
    struct bytes in;
    if (!stream_text(s, stream, &in, e))
        return false;
    while (in.at < in.size) {
        const size_t at = in.at;
        const uint8_t *rec = bytes_take(&in, l->size);
        if (!rec || !match_holds(&l->magic, rec)) {
            stream_lost(s, stream, rec ? LOSS_BAD_MAGIC : LOSS_CUT_SHORT, at);
            break; /* without a length there is no next record */
        }
        const uint64_t fixed = (uint64_t)l->size - HEAD_BYTES; /* what the length covers before the tensors */
        const uint64_t tensors = layout_get(l, CAPTURED_TENSORS, rec), len = layout_get(l, HEAD_DATA_LEN, rec);
        if (len < fixed || len - fixed > in.size - in.at) {
            stream_lost(s, stream, LOSS_BAD_VALUE, at);
            break;
        }
        if (len != fixed + tensors * TENSOR_BYTES)
            stream_lost(s, stream, LOSS_BAD_VALUE, at);
        else if (!captured_add(c, s->mem, rec))
            return error_no_memory(e, s->path);
        bytes_take(&in, (size_t)(len - fixed));
    }
    return true;
}

bool captured_ops_load(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    const struct layout *l = &captured_op_layout;
    struct tensors_captured c = { 0 };
    struct records fixed;
    size_t n_variable;
    const struct stream *variable = source_streams(s, "variable.capture_op_info", &n_variable);
    for (size_t i = 0; i < n_variable; i++) {
        if (!captured_variable(p, &variable[i], &c, e))
            return false;
        if (variable[i].is_unaging)
            c.n_static = c.rec.n;
    }
    if (!records_load(s, s->mem, "additional.capture_op_info", l, false, &fixed, e))
        return false;

    const size_t n = c.rec.n + fixed.n;
    struct captured_ops *o = &p->host.records.captured_ops;
    *o = (struct captured_ops){ .n = n,
                                .model = arena_take(s->mem, n, sizeof *o->model),
                                .device = arena_take(s->mem, n, sizeof *o->device),
                                .stream = arena_take(s->mem, n, sizeof *o->stream),
                                .task = arena_take(s->mem, n, sizeof *o->task),
                                .task_type = arena_take(s->mem, n, sizeof *o->task_type),
                                .blocks = arena_take(s->mem, n, sizeof *o->blocks),
                                .op_flag = arena_take(s->mem, n, sizeof *o->op_flag),
                                .name = arena_take(s->mem, n, sizeof *o->name),
                                .op_type = arena_take(s->mem, n, sizeof *o->op_type),
                                .attr = arena_take(s->mem, n, sizeof *o->attr),
                                .is_static = arena_take(s->mem, n, sizeof *o->is_static) };
    struct tensor_columns columns;
    struct tensor_texts t;
    const bool room = columns_take(s->mem, n, &columns) && !arena_failed(s->mem);
    if (!texts_init(&t, e) || !room) {
        texts_fini(&t);
        return error_no_memory(e, s->path);
    }
    for (size_t i = 0; i < n; i++) {
        const bool is_fixed = i >= c.rec.n;
        const uint8_t *rec = is_fixed ? fixed.rest[i - c.rec.n] : c.rec.at[i];
        o->model[i] = (uint32_t)layout_get(l, CAPTURED_MODEL, rec);
        o->device[i] = (uint32_t)layout_get(l, CAPTURED_DEVICE, rec);
        o->stream[i] = (uint32_t)layout_get(l, CAPTURED_STREAM, rec);
        o->task[i] = (uint32_t)layout_get(l, CAPTURED_TASK, rec);
        o->task_type[i] = (uint32_t)layout_get(l, CAPTURED_TASK_TYPE, rec);
        o->blocks[i] = (uint32_t)layout_get(l, CAPTURED_BLOCKS, rec);
        o->op_flag[i] = (uint32_t)layout_get(l, CAPTURED_OP_FLAG, rec);
        o->name[i] = layout_get(l, CAPTURED_NAME, rec);
        o->op_type[i] = layout_get(l, CAPTURED_OP_TYPE, rec);
        o->attr[i] = layout_get(l, CAPTURED_ATTR, rec);
        o->is_static[i] = is_fixed ? i - c.rec.n < fixed.n_unaging : i < c.n_static;
        uint64_t tensors = layout_get(l, CAPTURED_TENSORS, rec);
        if (is_fixed && tensors > CAPTURED_MOST_FIXED) {
            record_lost(s, "additional.capture_op_info", LOSS_BAD_VALUE, rec);
            tensors = CAPTURED_MOST_FIXED;
        }
        texts_clear(&t);
        for (uint64_t k = 0; k < tensors; k++)
            texts_add(&t, rec + CAPTURED_FIRST + TENSOR_BYTES * k);
        columns_set(&columns, i, &t, p->names);
    }
    memcpy(o->shapes, columns.text[SHAPES], sizeof o->shapes);
    memcpy(o->types, columns.text[TYPES], sizeof o->types);
    memcpy(o->formats, columns.text[FORMATS], sizeof o->formats);
    return texts_fini(&t) || error_no_memory(e, s->path);
}
