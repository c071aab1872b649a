/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/tlv.h"

#include "raw/torch.h"

bool tlv_next(struct tlv *t, size_t fixed, struct tlv_record *out)
{
    for (;;) {
        const size_t at = t->in.at;
        bytes_foresee(&t->in);
        const uint8_t *head = bytes_take(&t->in, TLV_HEAD);
        const uint8_t *body = head ? bytes_take(&t->in, le32(head + 2)) : NULL;
        if (!body) {
            if (at < t->in.size && t->lost)
                losses_add(t->lost, LOSS_CUT_SHORT, 1, t->file, at);
            t->in.at = t->in.size;
            return false;
        }
        const size_t size = le32(head + 2);
        if (size >= fixed) {
            *out = (struct tlv_record){ body, size, at };
            return true;
        }
        if (t->lost)
            losses_add(t->lost, LOSS_CUT_SHORT, 1, t->file, at);
    }
}

void tlv_texts(const struct tlv *t, const struct tlv_record *r, size_t fixed, struct tlv_text *text, size_t n)
{
    struct bytes in = { r->data, r->size, fixed };
    memset(text, 0, n * sizeof *text);
    while (in.at < in.size) {
        const uint8_t *head = bytes_take(&in, TLV_HEAD);
        const uint8_t *value = head ? bytes_take(&in, le32(head + 2)) : NULL;
        if (!value) {
            losses_add(t->lost, LOSS_CUT_SHORT, 1, t->file, r->at);
            return;
        }
        if (le16(head) < n)
            text[le16(head)] = (struct tlv_text){ (const char *)value, le32(head + 2) };
    }
}

size_t tlv_count(const struct tlv *t, size_t fixed)
{
    struct tlv walk = *t;
    struct tlv_record r;
    size_t n = 0;
    walk.lost = NULL;
    while (tlv_next(&walk, fixed, &r))
        n++;
    return n;
}
