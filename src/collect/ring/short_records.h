/* SPDX-License-Identifier: Apache-2.0 */
/* short_records.h - records that are shorter in rings than in their files: operators whose texts were announced
 * (call_stacks.h), and events of memory. The writer's thread, recovery and the save of a flight recorder expand them
 * while they write the files.
 */
#ifndef ASCOPE_COLLECT_RING_SHORT_RECORDS_H
#define ASCOPE_COLLECT_RING_SHORT_RECORDS_H

#include "collect/ring/call_stacks.h"
#include "collect/ring/record_bytes.h"
#include "collect/ring/rings_file.h"

struct short_record {
    size_t n;         /* bytes in the file; 0: its name was not announced, and without a name the record is dropped */
    bool lacks_stack; /* its frame was not announced */
    union {
        struct op_bytes op;
        struct memory_bytes memory;
    } fixed;
    size_t n_fixed;
    struct ascope_text label, stack;
    const uint8_t *texts; /* of the record itself */
    size_t n_texts;
};

/* False: the record is no short one; it has the bytes of the file already. Else *r is valid until `s` makes the next
 * text, and as long as `bytes` exist. */
bool short_record_read(struct short_record *r, struct stacks *s, struct record_head head, const uint8_t *bytes);
void short_record_write(const struct short_record *r, uint8_t *to); /* r->n bytes */

bool op_is_short(struct record_head head, const uint8_t *bytes); /* it is a struct op_short_bytes */

#endif
