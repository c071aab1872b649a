/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/ccu_records.h"

#include "base/files/bytes.h"

/* clang-format off */
const struct layout ccu_instr_layout = {
    .name = "ccu_instr", .size = 64, .keeps_rest = true, .n = CCU_INSTR_FIELDS,
    .field = {
        [CCU_WAIT_BEGIN] = { 32, W64, "wait_begin" },
        [CCU_WAIT_INSTR] = { 40, W16, "wait_instr" },
        [CCU_LOOP_END] = { 42, W64, "loop_end" },
        [CCU_LOOP_BEGIN] = { 50, W64, "loop_begin" },
        [CCU_LOOP_INSTR] = { 58, W16, "loop_instr" },
        [CCU_TASK] = { 60, W32, "task" },
    },
};

const struct layout ccu_stat_layout = { .name = "ccu_stat", .size = 2816, .keeps_rest = true };

const struct layout ccu_channel_layout = {
    .name = "ccu_channel", .size = 20, .n = CCU_STAT_FIELDS,
    .field = {
        [CCU_STAT_TIME] = { 0, W64, "tick" },
        [CCU_STAT_AVG] = { 8, W32, "avg" },
        [CCU_STAT_MIN] = { 12, W32, "min" },
        [CCU_STAT_MAX] = { 16, W32, "max" },
    },
};

#define CCU_PLAN                                      \
    [HEAD_LEVEL] = { 2, W16, "level" },               \
    [HEAD_TYPE] = { 4, W32, "type" },                 \
    [HEAD_THREAD] = { 8, W32, "thread" },             \
    [HEAD_DATA_LEN] = { 12, W32, "data_len" },        \
    [HEAD_TIME] = { 16, W64, "time" },                \
    [CCU_PLAN_STREAM] = { 58, W16, "stream" },        \
    [CCU_PLAN_TASK] = { 60, W32, "task" },            \
    [CCU_PLAN_DIE] = { 64, W8, "die" },               \
    [CCU_PLAN_INSTR] = { 66, W16, "instr" }

const struct layout ccu_group_layout = {
    .name = "ccu_group_info", .size = 256, .magic = { 0, W16, 0xFFFF, 0x5A5A }, .keeps_rest = true,
    .n = CCU_GROUP_FIELDS,
    .field = {
        CCU_PLAN,
        [CCU_GROUP_REDUCE] = { 69, W8, "reduce_op" },
        [CCU_GROUP_INPUT] = { 70, W8, "input_type" },
        [CCU_GROUP_OUTPUT] = { 71, W8, "output_type" },
        [CCU_GROUP_SIZE] = { 72, W64, "size" },
    },
};

const struct layout ccu_signal_layout = {
    .name = "ccu_wait_signal_info", .size = 256, .magic = { 0, W16, 0xFFFF, 0x5A5A }, .keeps_rest = true,
    .n = CCU_SIGNAL_FIELDS,
    .field = {
        CCU_PLAN,
        [CCU_SIGNAL_MASK] = { 76, W32, "mask" },
    },
};
/* clang-format on */

uint64_t ccu_delay(const uint8_t *instr, unsigned rank)
{
    return (uint64_t)le16(instr + 2 * (CCU_RANKS - 1 - rank)) * CCU_DELAY_TICKS;
}

/* Twelve channels in 64 words, ten times; then four in 32, twice, the first of which begin with six words of their
 * own. */
size_t ccu_channel_at(unsigned channel)
{
    enum { WORD = 4, NARROW = 120, OF_GROUP = 12, GROUP_WORDS = 64, CHANNEL_WORDS = 5, NARROW_WORDS = 640 };
    enum { OF_LAST = 4, LAST_WORDS = 32, LAST_FIRST = 6 };
    if (channel < NARROW)
        return WORD * (channel / OF_GROUP * GROUP_WORDS + channel % OF_GROUP * CHANNEL_WORDS);
    channel -= NARROW;
    return WORD * (NARROW_WORDS + channel / OF_LAST * LAST_WORDS + LAST_FIRST + channel % OF_LAST * CHANNEL_WORDS);
}
