/* SPDX-License-Identifier: Apache-2.0 */
/* sim_tlv.h - records of a framework's files: a head with type and length, fields of a layout, and texts, each with a
 * head of its own. */
#ifndef ASCOPE_SIM_FRAMEWORK_SIM_TLV_H
#define ASCOPE_SIM_FRAMEWORK_SIM_TLV_H

#include "raw/framework_values.h"
#include "sim/device/sim_device.h"

struct sim_tlv {
    size_t n;
    uint8_t at[8192];
};

uint8_t *tlv_begin(struct sim_tlv *r, const struct layout *l,
                   uint8_t type); /* its fields, which are zero; l: NULL: none */
void tlv_text(struct sim_tlv *r, uint8_t type, const char *text, size_t n); /* what does not fit is left out */
void tlv_end(struct sim_tlv *r, struct slices *to);

#endif
