/* SPDX-License-Identifier: Apache-2.0 */
/* ccu.h - what the collective communication units of a device did: raw/ccu.h has the records. */
#ifndef ASCOPE_PROFILE_CCU_H
#define ASCOPE_PROFILE_CCU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CCU_DIES = 2 };

struct ccu_records { /* in file order */
    size_t n;
    const uint8_t **at;
};

struct ccu {
    struct ccu_records instr, stat[CCU_DIES]; /* instr: of the first die, then of the second */
    uint16_t *stream;                         /* of each instr: that of its task */
    struct ccu_events {                       /* what the timeline shows, in the order of instr */
        size_t n;
        uint32_t *instr;
        bool *is_wait;
        uint8_t *rank;         /* of a wait: the slowest one */
        const uint8_t **plan;  /* ccu_group_layout or ccu_signal_layout; NULL: the host says nothing */
        int32_t *slow_channel; /* of a wait; -1: not known */
        uint32_t *channel_ticks;
    } events;
};

/* Planned by the host: those with a channel, in file order. */
struct ccu_plans {
    struct ccu_records groups, signals;
};

#endif
