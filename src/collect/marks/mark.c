/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/mark.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "collect/session/devices.h"
#include "collect/session/host_clock.h"
#include "collect/marks/mark_domain.h"
#include "collect/write/name_dictionary.h"
#include "collect/ring/record_bytes.h"
#include "collect/session/recording.h"
#include "collect/ring/ring.h"
#include "collect/ring/ring_ranges.h"
#include "collect/options/sized.h"

enum { MESSAGE_MOST = 4096, PIECE_MOST = MARK_MESSAGE_BYTES - 1 };
enum { EVENT_POINT = 0, EVENT_RANGE = 2 };
enum { MARK_LEVEL = 20500, MARK_DATA_BYTES = 232 };

/* Before the mark is recorded, to be as close as possible to its place in the program. */
static void launch_on(void *stream, uint64_t id)
{
    if (stream)
        device_mark(stream, id);
}

/* ---- ids: what joins the pieces of a mark, and a mark with the device's stamps ---- */

/* A thread takes a block of them at a time: one counter for all threads would cost more than all the rest of a mark. In
 * a word: block, and how many of it are taken; one addition takes one, whether or not a signal comes between. */
enum { IDS_OF_BLOCK = 256, TAKEN_BITS = 16 };
static _Atomic uint64_t n_blocks;
static __thread _Atomic uint64_t ids __attribute__((tls_model("initial-exec")));

static uint64_t id_next(void)
{
    for (;;) {
        uint64_t now = atomic_fetch_add_explicit(&ids, 1, memory_order_relaxed);
        const uint64_t block = now >> TAKEN_BITS, taken = now & ((1 << TAKEN_BITS) - 1);
        if (block != 0 && taken < IDS_OF_BLOCK)
            return recording_marks_from + (block - 1) * IDS_OF_BLOCK + taken + 1;
        const uint64_t fresh = atomic_fetch_add_explicit(&n_blocks, 1, memory_order_relaxed) + 1;
        atomic_store_explicit(&ids, fresh << TAKEN_BITS, memory_order_relaxed);
    }
}

/* ---- messages ---- */

/* How many of the n bytes make a piece of at most `most`: it ends between two characters, if these are UTF-8. */
static size_t piece_bytes(const char *text, size_t n, size_t most)
{
    enum { CONTINUED_MOST = 3 };
    if (n <= most)
        return n;
    for (size_t back = 0; back <= CONTINUED_MOST; back++)
        if (((unsigned char)text[most - back] & 0xC0) != 0x80)
            return most - back;
    return most;
}

static size_t message_bytes(const char *message)
{
    const size_t n = strnlen(message, MESSAGE_MOST + 1);
    return piece_bytes(message, n, MESSAGE_MOST);
}

struct mark_head { /* of an open range, too: plain bytes */
    uint64_t id, begin, end;
    void *stream;
    uint32_t thread, event;
};

/* The writer fills the rest of a record, behind its message, with zeros. */
static void mark_put(const struct mark_head *m, const struct ascope_domain *d, const char *message, size_t n)
{
    uint16_t segment = 0;
    do {
        const size_t piece = piece_bytes(message, n, PIECE_MOST);
        const size_t bytes = MARK_MESSAGE + piece + 1;
        const struct ring_slot slot = ring_put(STREAM_MARK, 0, bytes);
        if (slot.at) {
            struct mark_bytes *out = (struct mark_bytes *)slot.at;
            out->magic = HOST_MAGIC;
            out->level = MARK_LEVEL;
            out->type = 0;
            out->thread = m->thread;
            out->data_length = MARK_DATA_BYTES;
            out->time = m->begin;
            out->info = MARK_INFO_WITH_ID;
            out->segment = segment;
            out->unused = 0;
            out->stamp_magic = HOST_MAGIC;
            out->stamp_tag = 0;
            out->process = recording_process_id();
            out->mark_thread = m->thread;
            out->category = 0;
            out->event = m->event;
            out->payload_type = 0;
            out->payload = 0;
            out->begin = m->begin;
            out->end = m->end;
            out->id = m->id;
            out->domain = d->hash;
            out->message_type = 0;
            utf8_copy(out->message, message, piece);
            out->message[piece] = '\0';
            ring_done(slot);
        }
        message += piece;
        n -= piece;
        segment++;
    } while (n > 0);
}

/* ---- points and ranges ---- */

void ascope_mark_record(struct ascope_domain *d, const char *message, void *stream)
{
    const uint64_t now = host_clock_now();
    const struct ascope_domain *domain = domain_that_records(d);
    if (!domain || !mark_text_is_allowed(message))
        return;
    const struct mark_head m = {
        .id = id_next(), .begin = now, .end = now, .thread = ring_thread(), .event = EVENT_POINT
    };
    launch_on(stream, m.id);
    mark_put(&m, domain, message, message_bytes(message));
}

uint64_t ascope_range_record(struct ascope_domain *d, const char *message, void *stream)
{
    const struct ascope_domain *domain = domain_that_records(d);
    if (!domain || !mark_text_is_allowed(message))
        return 0;
    struct mark_head m = { .id = id_next(), .stream = stream, .thread = ring_thread(), .event = EVENT_RANGE };
    const size_t n = message_bytes(message);
    m.begin = host_clock_now(); /* late, to exclude the library's own work, but before the device can reach the mark */
    launch_on(stream, m.id);
    return ring_range_open(domain->hash, &m, sizeof m, message, n);
}

void ascope_range_record_end(struct ascope_domain *d, uint64_t id)
{
    const uint64_t now = host_clock_now();
    const struct ascope_domain *domain = domain_that_records(d);
    struct {
        struct mark_head m;
        char message[RING_OPEN_MOST - sizeof(struct mark_head)];
    } kept;
    const size_t n = domain ? ring_range_take(id, domain->hash, &kept, sizeof kept) : 0;
    if (n < sizeof kept.m || kept.m.begin < atomic_load_explicit(&recording_began, memory_order_relaxed))
        return;
    kept.m.end = now;
    launch_on(kept.m.stream, kept.m.id);
    mark_put(&kept.m, domain, kept.message, n - sizeof kept.m);
}

void mark_range_drop(uint64_t id)
{
    const struct ascope_domain *domain = domain_that_records(NULL);
    char kept[RING_OPEN_MOST];
    if (domain)
        ring_range_take(id, domain->hash, kept, sizeof kept);
}

/* ---- collectives ---- */

/* With a backslash before every quote: the reference puts messages into its JSON as they are, and so those of
 * collectives come to it escaped. What would end the text, or the piece of JSON that it is, is left out of names. */
static size_t field_put(char *out, size_t most, const char *key, const char *value, bool is_first)
{
    char plain[256];
    size_t n = 0;
    for (const char *c = value; *c && n < sizeof plain - 1; c++)
        if ((unsigned char)*c >= ' ' && *c != '"' && *c != '\\')
            plain[n++] = *c;
    plain[n] = '\0';
    const int wrote = snprintf(out, most, "%s\\\"%s\\\": \\\"%s\\\"", is_first ? "{" : ",", key, plain);
    return wrote < 0 || (size_t)wrote >= most ? 0 : (size_t)wrote;
}

uint64_t ascope_collective_record(const struct ascope_collective *from, void *stream)
{
    struct ascope_collective whole = { .source_rank = -1, .destination_rank = -1 }, *const c = &whole;
    if (!sized_over(&whole, sizeof whole, from)) {
        ring_put(STREAM_MARK, 0, 0); /* counted as dropped */
        return 0;
    }
    char stream_id[24], count[24], source[16], destination[16], text[MESSAGE_MOST];
    snprintf(stream_id, sizeof stream_id, "%lld", (long long)c->stream_id);
    snprintf(count, sizeof count, "%llu", (unsigned long long)c->count);
    snprintf(source, sizeof source, "%d", c->source_rank);
    snprintf(destination, sizeof destination, "%d", c->destination_rank);
    const struct {
        const char *key, *value;
    } field[] = {
        { "streamId", stream_id },
        { "count", count },
        { "dataType", c->data_type ? c->data_type : "na" },
        { "srcRank", c->source_rank >= 0 ? source : NULL },
        { "destRank", c->destination_rank >= 0 ? destination : NULL },
        { "groupName", c->group ? c->group : "" },
        { "opName", c->name ? c->name : "" },
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        if (field[i].value)
            n += field_put(text + n, sizeof text - n, field[i].key, field[i].value, i == 0);
    snprintf(text + n, sizeof text - n, "}");
    return ascope_range_record(ascope_domain_get(ASCOPE_COLLECTIVES), text, stream);
}
