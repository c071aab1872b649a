/* SPDX-License-Identifier: Apache-2.0 */
/* tlv.h - iterates over files of (type u16, length u32, bytes), the form of most files in FRAMEWORK/.
 *
 * A record begins with a fixed part, followed by texts of the same form. A truncated one is counted at its offset.
 */
#ifndef ASCOPE_LOAD_FRAMEWORK_TLV_H
#define ASCOPE_LOAD_FRAMEWORK_TLV_H

#include "base/files/bytes.h"
#include "base/text/error.h"

struct tlv {
    struct bytes in;
    const char *file; /* for messages; valid as long as the losses */
    struct losses *lost;
};

struct tlv_record {
    const uint8_t *data;
    size_t size;
    uint64_t at; /* offset of the record in the file */
};

struct tlv_text {
    const char *at; /* not NUL-terminated; NULL: the record has none */
    uint32_t len;
};

/* The next record with at least `fixed` bytes; shorter ones are counted and skipped. False: there are no more. */
bool tlv_next(struct tlv *t, size_t fixed, struct tlv_record *out);
size_t tlv_count(const struct tlv *t, size_t fixed); /* of the records that tlv_next() would return */

/* The texts behind the fixed part, by type: the last of each type; types from n on are skipped. */
void tlv_texts(const struct tlv *t, const struct tlv_record *r, size_t fixed, struct tlv_text *text, size_t n);

#endif
