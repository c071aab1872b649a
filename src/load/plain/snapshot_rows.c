/* SPDX-License-Identifier: Apache-2.0 */
#include "load/plain/snapshot_rows.h"

#include <string.h>

#include "profile/snapshot/program_file.h"

bool snapshot_rows_begin(struct snapshot_rows *r)
{
    static const char *const word[WORDS] = {
        [WORD_ACTION] = "action",
        [WORD_ADDR] = "addr",
        [WORD_ADDRESS] = "address",
        [WORD_ANNOTATIONS] = "external_annotations",
        [WORD_BLOCKS] = "blocks",
        [WORD_DEVICE] = "device",
        [WORD_DEVICE_FREE] = "device_free",
        [WORD_EXPANDABLE] = "expandable_segments",
        [WORD_FILENAME] = "filename",
        [WORD_FRAMES] = "frames",
        [WORD_LINE] = "line",
        [WORD_NAME] = "name",
        [WORD_REQUESTED] = "requested_size",
        [WORD_SEGMENTS] = "segments",
        [WORD_SEGMENT_TYPE] = "segment_type",
        [WORD_SIZE] = "size",
        [WORD_STAGE] = "stage",
        [WORD_STATE] = "state",
        [WORD_STREAM] = "stream",
        [WORD_TIME] = "time_us",
        [WORD_TOTAL] = "total_size",
        [WORD_TRACES] = "device_traces",
        [WORD_ALLOC] = "alloc",
        [WORD_FREE] = "free_requested",
        [WORD_SEGMENT_ALLOC] = "segment_alloc",
        [WORD_SEGMENT_MAP] = "segment_map",
        [WORD_SEGMENT_FREE] = "segment_free",
        [WORD_SEGMENT_UNMAP] = "segment_unmap",
        [WORD_OOM] = "oom",
        [WORD_SMALL] = "small",
        [WORD_END] = "END",
        [WORD_ALLOCATED] = "active_allocated",
        [WORD_AWAITING] = "active_awaiting_free",
    };
    for (size_t i = WORD_NA + 1; i < WORDS; i++)
        if (names_addz(r->names, word[i]) != i)
            return false;
    return snapshot_stack_begin(r->s, r->mem);
}

/* A copy for the snapshot, one for each text. */
static const char *snapshot_text(struct snapshot_rows *r, uint64_t name)
{
    if (name >= r->n_texts) {
        const size_t n = names_count(r->names) * 2;
        const char **text = arena_take(r->mem, n, sizeof *text);
        if (!text)
            return NULL;
        if (r->n_texts > 0)
            memcpy(text, r->text, r->n_texts * sizeof *text);
        r->text = text;
        r->n_texts = n;
    }
    const name_id id = (name_id)name;
    if (!r->text[id])
        r->text[id] = arena_text(r->mem, names_text(r->names, id), names_len(r->names, id));
    return r->text[id];
}

bool snapshot_add_frame(struct snapshot_rows *r, const struct snapshot_member *m, frame_id *out)
{
    const uint32_t part[] = { (uint32_t)m[WORD_FILENAME].v, (uint32_t)m[WORD_NAME].v, (uint32_t)m[WORD_LINE].v };
    *out = tuple_add(&r->frames, part, 3, r->mem);
    if (*out < r->s->frame.n)
        return true;
    const char *file = snapshot_text(r, m[WORD_FILENAME].v), *function = snapshot_text(r, m[WORD_NAME].v);
    struct snapshot_frame *to = file && function && *out != KEYS_NO_MEMORY ? list_add(&r->s->frame, r->mem) : NULL;
    if (to)
        *to = (struct snapshot_frame){ .file = file,
                                       .function = function,
                                       .line = part[2],
                                       .parts = snapshot_frame_parts(file, function),
                                       .is_program = program_file(file) };
    return to;
}

bool snapshot_add_stack(struct snapshot_rows *r, stack_id inner, frame_id outermost, stack_id *out)
{
    const uint32_t i = keys_add(&r->stacks, (uint64_t)inner << 32 | outermost, r->mem);
    if (i == KEYS_NO_MEMORY || i == UINT32_MAX - 1)
        return false;
    *out = i + 1;
    return *out < r->s->stack.n || snapshot_stack_add(r->s, inner, outermost, r->mem);
}

bool snapshot_add_block(struct snapshot_rows *r, const struct snapshot_member *m)
{
    struct snapshot_block *to = list_add(&r->s->block, r->mem);
    if (!to)
        return false;
    const uint64_t requested = m[WORD_REQUESTED].is_there ? m[WORD_REQUESTED].v : m[WORD_SIZE].v;
    *to = (struct snapshot_block){ .address = m[WORD_ADDRESS].v,
                                   .bytes = m[WORD_SIZE].v,
                                   .requested_bytes = requested < m[WORD_SIZE].v ? requested : m[WORD_SIZE].v,
                                   .stack = (stack_id)m[WORD_FRAMES].v,
                                   .is_allocated = m[WORD_STATE].v == WORD_ALLOCATED,
                                   .is_awaiting_free = m[WORD_STATE].v == WORD_AWAITING };
    return true;
}

static bool snapshot_stream(struct snapshot_rows *r, uint64_t stream, uint8_t *out)
{
    const uint32_t known = keys_find(&r->s->stream, stream);
    const uint32_t i = known != KEYS_NONE                           ? known
                       : r->s->stream.key.n == SNAPSHOT_STREAMS - 1 ? SNAPSHOT_STREAMS - 1
                                                                    : keys_add(&r->s->stream, stream, r->mem);
    *out = (uint8_t)i;
    return i != KEYS_NO_MEMORY;
}

/* Blocks of old snapshots have no address: each follows the one before it. */
bool snapshot_add_segment(struct snapshot_rows *r, const struct snapshot_member *m, struct snapshot_range blocks)
{
    struct snapshot_segment *to = list_add(&r->s->segment, r->mem);
    if (!to || !snapshot_stream(r, m[WORD_STREAM].v, &to->stream))
        return false;
    to->address = m[WORD_ADDRESS].v;
    to->bytes = m[WORD_TOTAL].v;
    to->device = (uint32_t)m[WORD_DEVICE].v;
    to->first_block = blocks.first;
    to->n_blocks = blocks.n;
    to->is_small = m[WORD_SEGMENT_TYPE].v == WORD_SMALL;
    uint64_t at = to->address;
    for (size_t i = blocks.first; i < blocks.first + blocks.n; i++) {
        if (r->s->block.at[i].address == 0)
            r->s->block.at[i].address = at;
        at += r->s->block.at[i].bytes;
    }
    return true;
}

bool snapshot_add_mark(struct snapshot_rows *r, const struct snapshot_member *m)
{
    const char *name = snapshot_text(r, m[WORD_NAME].v);
    struct snapshot_mark *to = name ? list_add(&r->s->mark, r->mem) : NULL;
    if (to)
        *to = (struct snapshot_mark){ name, m[WORD_TIME].v, (uint32_t)m[WORD_DEVICE].v, m[WORD_STAGE].v == WORD_END };
    return to;
}

static bool snapshot_column(struct arena *mem, void **at, size_t n, size_t size, size_t wanted)
{
    size_t cap = n;
    return list_room(mem, at, n, &cap, size, wanted);
}

/* Room for all that the file can have costs nothing until it is used, and nothing is copied. */
static bool snapshot_event_room(struct snapshot_rows *r)
{
    struct snapshot_events *e = &r->s->event;
    const size_t wanted = e->n == 0 ? r->n_expected : e->n * 2;
    if (e->n < e->cap)
        return true;
    e->cap = wanted;
    return snapshot_column(r->mem, (void **)&e->bytes, e->n, sizeof *e->bytes, wanted) &&
           snapshot_column(r->mem, (void **)&e->time_us, e->n, sizeof *e->time_us, wanted) &&
           snapshot_column(r->mem, (void **)&e->address, e->n, sizeof *e->address, wanted) &&
           snapshot_column(r->mem, (void **)&e->stack, e->n, sizeof *e->stack, wanted) &&
           snapshot_column(r->mem, (void **)&e->stream, e->n, sizeof *e->stream, wanted) &&
           snapshot_column(r->mem, (void **)&e->action, e->n, sizeof *e->action, wanted);
}

bool snapshot_add_event(struct snapshot_rows *r, const struct snapshot_member *m)
{
    static const struct {
        enum snapshot_word word;
        enum snapshot_action action;
    } row[] = {
        { WORD_ALLOC, SNAPSHOT_ALLOC },
        { WORD_FREE, SNAPSHOT_FREE },
        { WORD_SEGMENT_ALLOC, SNAPSHOT_SEGMENT_ALLOC },
        { WORD_SEGMENT_MAP, SNAPSHOT_SEGMENT_ALLOC },
        { WORD_SEGMENT_FREE, SNAPSHOT_SEGMENT_FREE },
        { WORD_SEGMENT_UNMAP, SNAPSHOT_SEGMENT_FREE },
        { WORD_OOM, SNAPSHOT_OOM },
    };
    size_t k = 0;
    while (k < sizeof row / sizeof *row && m[WORD_ACTION].v != row[k].word)
        k++;
    if (k == sizeof row / sizeof *row)
        return true;
    struct snapshot_events *e = &r->s->event;
    const uint32_t address =
        keys_add(&r->s->address, m[row[k].action == SNAPSHOT_OOM ? WORD_DEVICE_FREE : WORD_ADDR].v, r->mem);
    if (address == KEYS_NO_MEMORY || !snapshot_event_room(r) || !snapshot_stream(r, m[WORD_STREAM].v, &e->stream[e->n]))
        return false;
    e->bytes[e->n] = m[WORD_SIZE].v;
    e->time_us[e->n] = m[WORD_TIME].v;
    e->address[e->n] = address;
    e->stack[e->n] = (stack_id)m[WORD_FRAMES].v;
    e->action[e->n] = (uint8_t)row[k].action;
    r->s->has_stacks |= e->stack[e->n] != 0;
    e->n++;
    return true;
}
