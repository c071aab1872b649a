/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/growing.h"
#include "collect/session/listeners.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ascope/record.h"
#include "collect/ring/record_bytes.h"

enum {
    BLOCK_RECORDS = 1 << 16,
    CALL_BYTES = sizeof(struct python_call_bytes),
    MAP_FIRST = 256,
    OPEN_FIRST = 64,
    NAME_MOST = 4096
};
#define NAMES_MOST (UINT64_C(1) << 31)

uint64_t ms_clock_time(const struct ms_clock *c, uint64_t count)
{
    return c->is_wall ? (count + (uint64_t)c->wall_less_raw_ns) / 10 : count;
}

/* ---- numbers of keys and threads: open addressing ---- */

struct number {
    uint64_t key;
    size_t value; /* from 1; 0: free */
};
struct map {
    struct number *at;
    size_t n, room;
};

/* The slot of a key, or a free slot for it; the map is never full. */
static struct number *map_place(const struct map *m, uint64_t key)
{
    size_t i = (size_t)((key * 0x9E3779B97F4A7C15u) >> 20) & (m->room - 1);
    while (m->at[i].value != 0 && m->at[i].key != key)
        i = (i + 1) & (m->room - 1);
    return &m->at[i];
}

static size_t map_find(const struct map *m, uint64_t key) /* 0: it has none */
{
    return m->room > 0 ? map_place(m, key)->value : 0;
}

/* False: no memory. */
static bool map_set(struct map *m, uint64_t key, size_t value)
{
    if (m->n * 2 >= m->room) {
        const struct map old = *m;
        const struct map more = { .at = calloc(old.room ? old.room * 2 : MAP_FIRST, sizeof *more.at),
                                  .n = old.n,
                                  .room = old.room ? old.room * 2 : MAP_FIRST };
        if (!more.at)
            return false;
        for (size_t i = 0; i < old.room; i++)
            if (old.at[i].value != 0)
                *map_place(&more, old.at[i].key) = old.at[i];
        *m = more;
        free(old.at);
    }
    struct number *const at = map_place(m, key);
    m->n += at->value == 0;
    *at = (struct number){ key, value };
    return true;
}

/* ---- what is open ---- */

struct open_call {
    uint64_t key, begin, step;
};
struct caller {
    uint64_t thread, process;
    struct open_call *open;
    size_t n, room;
};
struct mindspore_calls_making {
    const struct ms_clock *clock;
    struct slices *to;
    uint8_t *names; /* the file */
    size_t names_bytes;
    struct map name_at, caller_of;
    struct caller *callers;
    size_t n_callers, callers_room;
    uint64_t last; /* time of a record */
    struct ms_calls_made made;
};

static bool short_of_memory(struct mindspore_calls_making *m)
{
    return error_no_memory(&m->to->to->error, m->to->to->path);
}

static struct ascope_text mindspore_calls_name_of(const struct mindspore_calls_making *m, uint64_t key)
{
    const size_t at = map_find(&m->name_at, key);
    struct tlv_bytes text;
    if (at == 0)
        return ascope_text_of("?");
    memcpy(&text, m->names + at - 1, sizeof text);
    const uint8_t *const name = m->names + at - 1 + sizeof text;
    uint32_t n = text.length;
    if (n > NAME_MOST) /* shortened at a character boundary, because every call repeats the name */
        for (n = NAME_MOST; n > 0 && (name[n] & 0xC0) == 0x80; n--)
            ;
    return (struct ascope_text){ (const char *)name, n };
}

static void range_put(struct mindspore_calls_making *m, const struct caller *c, struct open_call call, uint64_t end)
{
    static const struct ascope_text none = { NULL, 0 };
    const struct ascope_text name = mindspore_calls_name_of(m, call.key);
    const size_t bytes = sizeof(struct ms_range_bytes) + 4 * sizeof(struct tlv_bytes) + 2 * (size_t)name.n;
    const struct ms_range_bytes range = {
        .tlv = { MS_RECORD_RANGE, (uint32_t)(bytes - sizeof(struct tlv_bytes)) },
        .thread = c->thread,
        .flow = UINT64_MAX,
        .step = call.step,
        .begin = ms_clock_time(m->clock, call.begin),
        .end = ms_clock_time(m->clock, end),
        .process = (uint32_t)c->process,
        .module = MS_MODULE_PYTHON,
        .event = MS_EVENT_PYTHON_OBSERVED,
        .level = -1,
        .is_stack = 1,
    };
    uint8_t *at = slices_take(m->to, bytes);
    memcpy(at, &range, sizeof range);
    at = ms_text_put(at + sizeof range, MS_TEXT_NAME, name);
    at = ms_text_put(at, MS_TEXT_FULL_NAME, name);
    at = ms_text_put(at, MS_TEXT_MODULE_GRAPH, none);
    ms_text_put(at, MS_TEXT_EVENT_GRAPH, none);
    m->made.n_ranges++;
    m->made.n_bytes += bytes;
}

/* NULL: no memory. */
static struct caller *caller_of(struct mindspore_calls_making *m, const struct python_call_bytes *c)
{
    const uint64_t key = c->thread ^ c->process << 32; /* without the step */
    size_t number = map_find(&m->caller_of, key);
    if (number == 0) {
        if (!array_reserve(m->callers, m->callers_room, m->n_callers + 1, 16) ||
            !map_set(&m->caller_of, key, m->n_callers + 1))
            return NULL;
        m->callers[m->n_callers] = (struct caller){ .thread = c->thread, .process = (uint32_t)c->process };
        number = ++m->n_callers;
    }
    return &m->callers[number - 1];
}

static bool call_take(struct mindspore_calls_making *m, const struct python_call_bytes *c)
{
    struct caller *const of = caller_of(m, c);
    if (!of)
        return short_of_memory(m);
    m->last = c->time > m->last ? c->time : m->last;
    if (c->tag == ASCOPE_PYTHON_RETURN || c->tag == ASCOPE_PYTHON_C_RETURN) {
        if (of->n > 0)
            range_put(m, of, of->open[of->n - 1], c->time), of->n--;
        else
            m->made.n_lost++;
        return true;
    }
    if (!array_reserve(of->open, of->room, of->n + 1, OPEN_FIRST))
        return short_of_memory(m);
    of->open[of->n++] = (struct open_call){ c->key, c->time, c->process >> 32 };
    return true;
}

/* ---- the two files ---- */

static bool names_read(struct mindspore_calls_making *m, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size <= 0)
        return true;
    if ((uint64_t)st.st_size > NAMES_MOST || !(m->names = malloc((size_t)st.st_size)))
        return short_of_memory(m);
    while (m->names_bytes < (size_t)st.st_size) {
        const ssize_t got = TEMP_FAILURE_RETRY(
            pread(fd, m->names + m->names_bytes, (size_t)st.st_size - m->names_bytes, (off_t)m->names_bytes));
        if (got <= 0)
            break;
        m->names_bytes += (size_t)got;
    }
    for (size_t at = 0; m->names_bytes - at >= sizeof(struct python_key_bytes) + sizeof(struct tlv_bytes);) {
        struct python_key_bytes key;
        struct tlv_bytes text;
        memcpy(&key, m->names + at, sizeof key);
        memcpy(&text, m->names + at + sizeof key, sizeof text);
        const size_t text_at = at + sizeof key;
        if (text.length > m->names_bytes - text_at - sizeof text ||
            key.tlv.length != sizeof key - sizeof key.tlv + sizeof text + text.length)
            break; /* the file was changed by another process: the next record cannot be found */
        if (!map_set(&m->name_at, key.key, text_at + 1))
            return short_of_memory(m);
        at = text_at + sizeof text + text.length;
    }
    return true;
}

static void calls_read(struct mindspore_calls_making *m, int fd)
{
    uint8_t *const block = malloc((size_t)BLOCK_RECORDS * CALL_BYTES);
    size_t held = 0;
    bool is_well = block || short_of_memory(m);
    for (uint64_t at = 0; is_well && m->to->to->error.fault == FAULT_NONE;) {
        const ssize_t got =
            TEMP_FAILURE_RETRY(pread(fd, block + held, (size_t)BLOCK_RECORDS * CALL_BYTES - held, (off_t)at));
        if (got <= 0)
            break;
        at += (uint64_t)got;
        held += (size_t)got;
        size_t used = 0;
        for (struct python_call_bytes c; is_well && held - used >= CALL_BYTES; used += CALL_BYTES) {
            memcpy(&c, block + used, sizeof c);
            is_well = call_take(m, &c);
        }
        memmove(block, block + used, held - used);
        held -= used;
    }
    m->made.n_lost += held > 0;
    free(block);
}

struct ms_calls_made ms_calls_make(const struct slices *calls, const struct slices *names, const struct ms_clock *clock,
                                   struct slices *ranges)
{
    struct mindspore_calls_making m = { .clock = clock, .to = ranges };
    const int fd = slices_open(calls, 0), names_fd = slices_open(names, 0);
    if (fd >= 0 && (names_fd < 0 || names_read(&m, names_fd)))
        calls_read(&m, fd);
    for (size_t i = 0; i < m.n_callers; i++) {
        while (m.callers[i].n > 0)
            range_put(&m, &m.callers[i], m.callers[i].open[m.callers[i].n - 1], m.last), m.callers[i].n--;
        free(m.callers[i].open);
    }
    if (fd >= 0)
        close(fd);
    if (names_fd >= 0)
        close(names_fd);
    free(m.callers);
    free(m.names);
    free(m.name_at.at);
    free(m.caller_of.at);
    return m.made;
}
