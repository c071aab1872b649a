/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/framework/sim_tlv.h"

#include <string.h>

static void head_put(uint8_t *at, uint8_t type, size_t n)
{
    at[0] = type;
    at[1] = 0;
    host_put32(at + 2, (uint32_t)n);
}

uint8_t *tlv_begin(struct sim_tlv *r, const struct layout *l, uint8_t type)
{
    head_put(r->at, type, 0);
    r->n = TLV_HEAD + (l ? (size_t)l->size : 0);
    if (l)
        layout_init(l, r->at + TLV_HEAD);
    return r->at + TLV_HEAD;
}

void tlv_text(struct sim_tlv *r, uint8_t type, const char *text, size_t n)
{
    if (n > sizeof r->at - r->n - TLV_HEAD)
        return;
    head_put(r->at + r->n, type, n);
    memcpy(r->at + r->n + TLV_HEAD, text, n);
    r->n += TLV_HEAD + n;
}

void tlv_end(struct sim_tlv *r, struct slices *to)
{
    head_put(r->at, r->at[0], r->n - TLV_HEAD);
    memcpy(slices_take(to, r->n), r->at, r->n);
}
