/* SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raw/all.h"
#include "raw/mindspore.h"
#include "raw/torch.h"

/* Damage to one byte. */
static const struct {
    const char *name;
    uint8_t keep, flip; /* the new byte: old & keep ^ flip */
} change[] = {
    { "all bits", 0xFF, 0xFF },
    { "high bit", 0xFF, 0x80 },
    { "low bit", 0xFF, 0x01 },
    { "zero", 0, 0 },
};
enum { CHANGES = sizeof change / sizeof *change };

/* Numbers that nobody expects: in one field of one record, or in that field of all records. */
enum value { V_ZERO, V_ONE, V_MOST, V_SIGN, V_MOST_SIGNED, V_NEIGHBOUR, V_REVERSED, VALUES };
static const char *const value_name[VALUES] = {
    [V_ZERO] = "0",
    [V_ONE] = "1",
    [V_MOST] = "the largest",
    [V_SIGN] = "the sign alone",
    [V_MOST_SIGNED] = "the largest signed",
    [V_NEIGHBOUR] = "what the first record has",
    [V_REVERSED] = "what the last but as many has",
};

/* How a field goes on over many records; the rest of them repeats what is there. */
enum series { S_SAME, S_UP, S_DOWN, S_SPREAD, SERIES };
static const char *const series_name[SERIES] = { "all the same", "counting up", "counting down", "all over" };

/* The same for lines of text and settings, in place of any number. */
static const char *const word[] = { "",
                                    "0",
                                    "-1",
                                    "9223372036854775807",
                                    "18446744073709551615",
                                    "99999999999999999999999999",
                                    "1e308",
                                    "nan",
                                    "inf",
                                    "0.0000000000000000000000000001",
                                    "x",
                                    " ",
                                    "\n",
                                    "7 7" };
enum { WORDS = sizeof word / sizeof *word };

void die(const char *what)
{
    fprintf(stderr, "damage: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* ---- which there are ------------------------------------------------------------------------------------------- */

static void add_input(struct inputs *all, const struct file *f, enum kind kind, size_t at, size_t width, size_t which)
{
    if (all->n == all->room) {
        all->room = all->room ? 2 * all->room : 4096;
        all->at = realloc(all->at, all->room * sizeof *all->at);
        if (!all->at)
            die("inputs");
    }
    all->at[all->n++] = (struct input){ f, kind, (uint32_t)at, (uint32_t)width, (uint32_t)which, 0 };
}

/* How long the records of a file are; 0: it holds text. */
size_t file_record_size(const struct file *f)
{
    static const struct {
        const char *file;
        size_t size;
    } mixed[] = {
        { "*/ffts_profile.data*", 128 },
        { "*/aicore.data*", 128 },
        { "*/hbm.data*", 24 },
    };
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++)
        if (fnmatch(mixed[i].file, f->path, 0) == 0)
            return mixed[i].size;
    return f->family ? f->family->size : 0;
}

/* What frameworks write: how their records begin, and where. Two of the files are arrays; one has texts only. */
static const struct layout texts_alone = { .name = "mindspore.record_shapes" };
const struct layout *file_framework_layout(const struct file *f)
{
    static const struct {
        const char *file;
        const struct layout *layout;
    } known[] = {
        { "FRAMEWORK/torch.op_range", &torch_op_layout },
        { "FRAMEWORK/torch.op_mark", &torch_mark_layout },
        { "FRAMEWORK/torch.memory_usage", &torch_memory_layout },
        { "FRAMEWORK/torch.python_tracer_hash", &python_key_layout },
        { "FRAMEWORK/torch.param_tensor_info", &python_key_layout },
        { "FRAMEWORK/torch.python_tracer_func", &python_call_layout },
        { "FRAMEWORK/torch.gc_record", &python_gc_layout },
        { "FRAMEWORK/ascope.step_threads", &step_thread_layout },
        { "FRAMEWORK/ascope.graph_nodes", &graph_node_layout },
        { "FRAMEWORK/mindspore.op_range", &ms_range_layout },
        { "FRAMEWORK/op_range_0", &ms_range_s_layout },
        { "FRAMEWORK/mindspore.memory_usage", &ms_memory_layout },
        { "FRAMEWORK/mindspore.record_shapes", &texts_alone },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(f->path, known[i].file) == 0)
            return known[i].layout;
    return NULL;
}

static size_t framework_head(const struct file *f)
{
    const struct layout *l = file_framework_layout(f);
    return l == &python_call_layout || l == &python_gc_layout ? 0 : TLV_HEAD;
}

static uint32_t tlv_size(const uint8_t *head)
{
    uint32_t size;
    memcpy(&size, head + 2, sizeof size);
    return size + TLV_HEAD;
}

size_t file_framework_record(const struct file *f, size_t at)
{
    return framework_head(f) > 0 ? tlv_size(f->data + at) : file_framework_layout(f)->size;
}

/* A layout that shares its name with the file, or else any whose beginning reports. */
static bool describes(const struct layout *l, const struct file *f, const uint8_t *rec)
{
    return l->size == file_record_size(f) && match_holds(&l->magic, rec) && match_holds(&l->kind, rec) &&
           (strstr(f->path, l->name) || l->magic.width > 0 || l->kind.width > 0);
}

/* Several layouts know a field: once is enough. */
static bool is_first_to_know(size_t layout, unsigned field, const struct file *f, const uint8_t *rec)
{
    const struct field *mine = &raw_layouts[layout]->field[field];
    for (size_t i = 0; i < layout; i++)
        for (unsigned k = 0; k < raw_layouts[i]->n && describes(raw_layouts[i], f, rec); k++)
            if (raw_layouts[i]->field[k].off == mine->off && raw_layouts[i]->field[k].width == mine->width)
                return false;
    return true;
}

static void list_fields(struct inputs *all, const struct file *f)
{
    const size_t size = file_record_size(f);
    for (size_t at = 0; at + size <= f->size; at += size)
        for (size_t l = 0; l < n_raw_layouts; l++)
            for (unsigned k = 0; k < raw_layouts[l]->n && describes(raw_layouts[l], f, f->data + at); k++) {
                const struct field *field = &raw_layouts[l]->field[k];
                if (!is_first_to_know(l, k, f, f->data + at))
                    continue;
                for (unsigned v = 0; v < V_NEIGHBOUR; v++)
                    add_input(all, f, FIELD, at + field->off, field->width, v);
                for (unsigned v = 0; at == 0 && v < VALUES; v++)
                    add_input(all, f, COLUMN, field->off, field->width, v);
            }
}

static void list_values(struct inputs *all, const struct file *f, size_t at, size_t width)
{
    for (unsigned v = 0; v < V_NEIGHBOUR; v++)
        add_input(all, f, FIELD, at, width, v);
}

/* Every number of every record: its length, its fields, and the lengths of its texts; the fields also in all at once. */
static void list_framework_fields(struct inputs *all, const struct file *f)
{
    const struct layout *l = file_framework_layout(f);
    const size_t head = framework_head(f);
    for (size_t at = 0; at < f->size; at += file_framework_record(f, at)) {
        const size_t end = at + file_framework_record(f, at);
        if (head > 0)
            list_values(all, f, at + 2, W32);
        for (unsigned k = 0; k < l->n; k++) {
            list_values(all, f, at + head + l->field[k].off, l->field[k].width);
            for (unsigned v = 0; at == 0 && v < V_NEIGHBOUR; v++)
                add_input(all, f, COLUMN, head + l->field[k].off, l->field[k].width, v);
        }
        for (size_t text = at + head + l->size; head > 0 && text < end; text += tlv_size(f->data + text)) {
            list_values(all, f, text, W16);
            list_values(all, f, text + 2, W32);
        }
    }
}

static void list_series(struct inputs *all, const struct file *f)
{
    const struct layout *of = file_framework_layout(f);
    for (unsigned k = 0; of && k < of->n; k++)
        for (unsigned v = 0; v < SERIES; v++)
            add_input(all, f, MANY, framework_head(f) + of->field[k].off, of->field[k].width, v);
    if (file_record_size(f) == 0 || f->size < file_record_size(f))
        return;
    for (size_t l = 0; l < n_raw_layouts; l++)
        for (unsigned k = 0; k < raw_layouts[l]->n && describes(raw_layouts[l], f, f->data); k++)
            for (unsigned v = 0; v < SERIES && is_first_to_know(l, k, f, f->data); v++)
                add_input(all, f, MANY, raw_layouts[l]->field[k].off, raw_layouts[l]->field[k].width, v);
}

static void list_words(struct inputs *all, const struct file *f)
{
    static const char digits[] = "0123456789.";
    for (size_t at = 0; at < f->size;) {
        size_t len = 0;
        while (at + len < f->size && f->data[at + len] && strchr(digits, f->data[at + len]))
            len++;
        for (size_t i = 0; len > 0 && i < WORDS; i++)
            add_input(all, f, WORD, at, len, i);
        at += len + 1;
    }
}

static void list_bytes(struct inputs *all, const struct file *f)
{
    for (size_t at = 0; at < f->size; at++)
        add_input(all, f, CUT, at, 0, 0);
    for (size_t i = 0; i < CHANGES; i++)
        for (size_t at = 0; at < f->size; at++)
            add_input(all, f, BYTE, at, 1, i);
}

void inputs_add(struct inputs *all, const struct file *f, enum inputs_of what, size_t n_many)
{
    const size_t before = all->n;
    switch (what) {
    case INPUTS_BYTES: list_bytes(all, f); break;
    case INPUTS_RECORD_BYTES:
        if (file_record_size(f) > 0)
            list_bytes(all, f);
        break;
    case INPUTS_VALUES:
        (file_framework_layout(f) ? list_framework_fields : file_record_size(f) > 0 ? list_fields : list_words)(all, f);
        break;
    case INPUTS_MASSES: list_series(all, f); break;
    }
    for (size_t i = before; i < all->n; i++)
        all->at[i].n = (uint32_t)n_many;
}

/* ---- what becomes of the file ---------------------------------------------------------------------------------- */

static uint64_t value_of(const struct input *in, size_t row)
{
    const struct file *f = in->file;
    const size_t size = file_record_size(f), n = size > 0 ? f->size / size : 0;
    const uint64_t most = UINT64_MAX >> (64 - 8 * in->width);
    uint64_t v = 0;
    switch ((enum value)in->which) {
    case V_ZERO: return 0;
    case V_ONE: return 1;
    case V_MOST: return most;
    case V_SIGN: return most ^ most >> 1;
    case V_MOST_SIGNED: return most >> 1;
    case V_NEIGHBOUR: memcpy(&v, f->data + in->at, in->width); return v;
    case V_REVERSED: memcpy(&v, f->data + (n - 1 - row) * size + in->at, in->width); return v;
    case VALUES: break;
    }
    return v;
}

static uint64_t element_of(const struct input *in, size_t row)
{
    uint64_t first = 0;
    memcpy(&first, in->file->data + in->at, in->width);
    switch ((enum series)in->which) {
    case S_SAME: return first;
    case S_UP: return first + row;
    case S_DOWN: return first - row;
    case S_SPREAD: return row * 0x9E3779B97F4A7C15;
    case SERIES: break;
    }
    return 0;
}
/* Whole records, one after the other, with one field of their own. */
static size_t put_many_framework(const struct input *in, uint8_t *bytes)
{
    const struct file *f = in->file;
    size_t n = 0, at = 0;
    for (size_t row = 0; row < in->n; row++) {
        const size_t size = file_framework_record(f, at);
        memcpy(bytes + n, f->data + at, size);
        memcpy(bytes + n + in->at, &(uint64_t){ element_of(in, row) }, in->width);
        n += size;
        at = at + size < f->size ? at + size : 0;
    }
    return n;
}

static size_t put_many(const struct input *in, uint8_t *bytes)
{
    const struct file *f = in->file;
    const size_t size = file_record_size(f), n_there = f->size / size;
    for (size_t row = 0; row < in->n; row++) {
        memcpy(bytes + row * size, f->data + row % n_there * size, size);
        memcpy(bytes + row * size + in->at, &(uint64_t){ element_of(in, row) }, in->width);
    }
    return in->n * size;
}

/* Room for what a file becomes. */
static size_t most_bytes(const struct input *in)
{
    const struct file *f = in->file;
    if (in->kind != MANY)
        return f->size + 64;
    return in->n * (file_framework_layout(f) ? f->size + 1 : file_record_size(f));
}

const uint8_t *input_bytes(const struct input *in, size_t *size)
{
    const struct file *f = in->file;
    static uint8_t *bytes;
    static size_t room;
    if (most_bytes(in) > room) {
        room = most_bytes(in);
        bytes = realloc(bytes, room);
        if (!bytes)
            die("memory");
    }
    if (in->kind == MANY) {
        *size = (file_framework_layout(f) ? put_many_framework : put_many)(in, bytes);
        return bytes;
    }
    *size = f->size;
    memcpy(bytes, f->data, f->size);
    switch (in->kind) {
    case CUT: *size = in->at; break;
    case BYTE: bytes[in->at] = (uint8_t)((bytes[in->at] & change[in->which].keep) ^ change[in->which].flip); break;
    case FIELD: memcpy(bytes + in->at, &(uint64_t){ value_of(in, 0) }, in->width); break;
    case COLUMN:
        for (size_t at = 0; file_framework_layout(f) && at < f->size; at += file_framework_record(f, at))
            memcpy(bytes + at + in->at, &(uint64_t){ value_of(in, 0) }, in->width);
        for (size_t row = 0; !file_framework_layout(f) && (row + 1) * file_record_size(f) <= f->size; row++)
            memcpy(bytes + row * file_record_size(f) + in->at, &(uint64_t){ value_of(in, row) }, in->width);
        break;
    case WORD: {
        const size_t len = strlen(word[in->which]), end = in->at + in->width;
        memcpy(bytes + in->at, word[in->which], len);
        memcpy(bytes + in->at + len, f->data + end, f->size - end);
        *size = f->size - in->width + len;
        break;
    }
    case MANY: break;
    }
    return bytes;
}
const char *input_name(const struct input *in)
{
    static char text[300];
    switch (in->kind) {
    case CUT: snprintf(text, sizeof text, "%s, cut at %u", in->file->path, in->at); break;
    case BYTE: snprintf(text, sizeof text, "%s:%u, %s", in->file->path, in->at, change[in->which].name); break;
    case FIELD:
        snprintf(text, sizeof text, "%s:%u, %u bytes, %s", in->file->path, in->at, in->width, value_name[in->which]);
        break;
    case COLUMN:
        snprintf(text, sizeof text, "%s:%u, %u bytes of each record, %s", in->file->path, in->at, in->width,
                 value_name[in->which]);
        break;
    case MANY:
        snprintf(text, sizeof text, "%zu records of %s, %u bytes at %u %s", (size_t)in->n, in->file->path, in->width,
                 in->at, series_name[in->which]);
        break;
    case WORD: snprintf(text, sizeof text, "%s:%u, \"%s\"", in->file->path, in->at, word[in->which]); break;
    }
    return text;
}
