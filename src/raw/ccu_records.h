/* SPDX-License-Identifier: Apache-2.0 */
/* ccu_records.h - records of the collective communication units (CCU) of a device, one for each die, and what the host
 * says of their instructions. */
#ifndef ASCOPE_RAW_CCU_RECORDS_H
#define ASCOPE_RAW_CCU_RECORDS_H

#include "raw/host_records.h"

/* ccu0.instr, ccu1.instr: a wait for a signal of each rank, or a group of loops, or both. The delays of CCU_RANKS ranks
 * are u16 at the beginning, that of the highest rank first, in units of CCU_DELAY_TICKS. A begin of 0: there is none. */
enum { CCU_WAIT_BEGIN, CCU_WAIT_INSTR, CCU_LOOP_END, CCU_LOOP_BEGIN, CCU_LOOP_INSTR, CCU_TASK, CCU_INSTR_FIELDS };
enum { CCU_RANKS = 16, CCU_DELAY_TICKS = 4 };
extern const struct layout ccu_instr_layout;
uint64_t ccu_delay(const uint8_t *instr, unsigned rank); /* of a rank, in ticks */

/* ccu0.stat, ccu1.stat: the delays of each channel, in ticks. Fields at an offset in the record that depends on the
 * channel. A time of 0: there are none. */
enum { CCU_CHANNELS = 128 };
enum { CCU_STAT_TIME, CCU_STAT_AVG, CCU_STAT_MIN, CCU_STAT_MAX, CCU_STAT_FIELDS };
extern const struct layout ccu_stat_layout, ccu_channel_layout; /* the record; one of its channels */
size_t ccu_channel_at(unsigned channel);                        /* its offset in the record */

/* Of an instruction, as the host planned it: a group of loops moves data, a wait waits for a signal. Up to CCU_ENTRIES
 * channels (u16 at CCU_FIRST_CHANNEL) lead to ranks (u32 at CCU_FIRST_RANK); unused ones have all bits set. */
enum {
    CCU_PLAN_STREAM = HEAD_FIELDS,
    CCU_PLAN_TASK,
    CCU_PLAN_DIE,
    CCU_PLAN_INSTR,
    CCU_PLAN_SPECIFIC,
    CCU_GROUP_REDUCE = CCU_PLAN_SPECIFIC,
    CCU_GROUP_INPUT,
    CCU_GROUP_OUTPUT,
    CCU_GROUP_SIZE,
    CCU_GROUP_FIELDS,
    CCU_SIGNAL_MASK = CCU_PLAN_SPECIFIC,
    CCU_SIGNAL_FIELDS
};
enum { CCU_ENTRIES = 16, CCU_FIRST_CHANNEL = 80, CCU_FIRST_RANK = 112 };
extern const struct layout ccu_group_layout, ccu_signal_layout;

#endif
