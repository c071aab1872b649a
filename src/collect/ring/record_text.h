/* SPDX-License-Identifier: Apache-2.0 */
/* record_text.h - texts behind the fixed part of a record. One that is empty is left out. */
#ifndef ASCOPE_COLLECT_RING_RECORD_TEXT_H
#define ASCOPE_COLLECT_RING_RECORD_TEXT_H

#include <string.h>

#include "ascope/base.h"
#include "collect/ring/record_bytes.h"

static inline size_t record_text_bytes(struct ascope_text text)
{
    return text.n == 0 ? 0 : sizeof(struct tlv_bytes) + text.n;
}

/* Without a call for names, which are short: from both ends, so that the middle is written twice. */
static inline void record_text_copy(uint8_t *to, const char *from, size_t n)
{
    if (n > 32) {
        memcpy(to, from, n);
    } else if (n >= 16) {
        memcpy(to, from, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = (uint8_t)from[i];
    }
}

static inline uint8_t *record_text_put(uint8_t *at, uint16_t type, struct ascope_text text)
{
    if (text.n == 0)
        return at;
    *(struct tlv_bytes *)at = (struct tlv_bytes){ type, text.n };
    record_text_copy(at + sizeof(struct tlv_bytes), text.at, text.n);
    return at + sizeof(struct tlv_bytes) + text.n;
}

#endif
