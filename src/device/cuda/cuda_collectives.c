/* SPDX-License-Identifier: Apache-2.0 */
/* What a framework reports of a collective before NCCL launches its kernel: a host record with thread and time. The
 * layout is that of Ascend's hccl_op_info; the field of the algorithm has the name of the collective, because names of
 * NCCL's kernels have the algorithm. */
#include <string.h>

#include "ascope/mark.h"
#include "collect/options/sized.h"
#include "collect/ring/ring.h"
#include "collect/session/host_clock.h"
#include "collect/write/name_dictionary.h"
#include "device/cuda/cuda.h"
#include "raw/host_records.h"
#include "raw/name_hash.h"
#include "raw/nccl_names.h"

static uint64_t said(const char *text)
{
    const size_t n = text ? strlen(text) : 0;
    const uint64_t hash = n > 0 ? name_hash_of(text, n) : 0;
    if (n > 0)
        names_say(hash, text, n);
    return hash;
}

void ascope_collective_launch(const struct ascope_collective *from)
{
    enum { TYPE = 10 };
    const struct layout *const l = &hccl_op_layout;
    struct ascope_collective c = { .source_rank = -1, .destination_rank = -1 };
    if (!ascope_records(ASCOPE_RECORDS_DEVICE) || !launches_are_recorded() || !sized_over(&c, sizeof c, from))
        return;
    const uint64_t name = said(c.name), group = said(c.group);
    const uint32_t type = c.data_type ? nccl_data_type(c.data_type, strlen(c.data_type)) : NCCL_NO_TYPE;
    const struct ring_slot slot = ring_put(STREAM_HCCL_OP, 0, l->size);
    if (!slot.at)
        return;
    layout_init(l, slot.at);
    layout_put(l, HEAD_LEVEL, slot.at, LEVEL_NODE);
    layout_put(l, HEAD_TYPE, slot.at, TYPE);
    layout_put(l, HEAD_THREAD, slot.at, ring_thread());
    layout_put(l, HEAD_TIME, slot.at, host_clock_now());
    layout_put(l, HCCL_OP_DATA_TYPE, slot.at, type == NCCL_NO_TYPE ? UINT8_MAX : type);
    layout_put(l, HCCL_OP_ALG, slot.at, name);
    layout_put(l, HCCL_OP_COUNT, slot.at, c.count);
    layout_put(l, HCCL_OP_GROUP, slot.at, group);
    ring_done(slot);
}
