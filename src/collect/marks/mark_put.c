/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/marks/mark_put.h"

#include <stdatomic.h>
#include <string.h>

#include "base/text/utf8.h"
#include "collect/ring/record_bytes.h"
#include "collect/ring/ring.h"
#include "collect/session/recording.h"

enum { PIECE_MOST = MARK_MESSAGE_BYTES - 1 };
enum { MARK_LEVEL = 20500, MARK_DATA_BYTES = 232 };

/* ---- ids: what joins the pieces of a mark, and a mark with the device's stamps ---- */

/* A thread takes a block of them at a time: one counter for all threads would cost more than all the rest of a mark. In
 * a word: block, and how many of it are taken; one addition takes one, whether or not a signal comes between. */
enum { IDS_OF_BLOCK = 256, TAKEN_BITS = 16 };
static _Atomic uint64_t n_blocks;
static __thread _Atomic uint64_t ids __attribute__((tls_model("initial-exec")));

uint64_t mark_id_next(void)
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

size_t mark_message_bytes(const char *message)
{
    const size_t n = strnlen(message, MARK_MESSAGE_MOST + 1);
    return piece_bytes(message, n, MARK_MESSAGE_MOST);
}

/* The writer fills the rest of a record, behind its message, with zeros. */
void mark_put(const struct mark_head *m, const struct ascope_domain *d, const char *message, size_t n)
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

void mark_put_seen(const struct mark_seen *m)
{
    const struct ascope_domain *d = domain_that_records(*m->domain ? ascope_domain_get(m->domain) : NULL);
    const struct mark_head head = { .id = mark_id_next(),
                                    .begin = m->begin,
                                    .end = m->end,
                                    .thread = m->thread,
                                    .event = m->is_range ? MARK_RANGE : MARK_POINT };
    if (d && mark_text_is_allowed(m->message))
        mark_put(&head, d, m->message, mark_message_bytes(m->message));
}
