/* SPDX-License-Identifier: Apache-2.0 */
/* ring_ranges.h - ranges of marks while they are open: bytes that survive the process as records do (ring.h).
 *
 * They are kept in slots of 256 bytes of the ring of the thread that began the range, until any thread takes them; a
 * long text takes a chain of slots. An id is never 0, and contains session, ring and slot. Like records: no lock, no
 * system call, also in signal handlers.
 */
#ifndef ASCOPE_COLLECT_RING_RING_RANGES_H
#define ASCOPE_COLLECT_RING_RING_RANGES_H

#include <stddef.h>
#include <stdint.h>

enum { RING_OPEN_MOST = 4096 + 128 }; /* bytes of head and text */

/* Keeps the head, and the text behind it. 0: no room, which is counted as a dropped record of STREAM_MARK. */
uint64_t ring_range_open(uint64_t key, const void *head, size_t head_bytes, const void *text, size_t text_bytes);

/* Gives back what was kept, once: the number of bytes. 0, and nothing changes: the id is of another session or was
 * taken already, or the key is not the one that the range was opened with. */
size_t ring_range_take(uint64_t id, uint64_t key, void *out, size_t most);

uint32_t rings_open_ranges(uint32_t ring); /* how many are open in a ring of the open file */

#endif
