/* SPDX-License-Identifier: Apache-2.0 */
/* recording.h - what a session passes to the recording functions (record.h, mark.h).
 *
 *     recording_prepare();              whose process it is, and when it began; again when a warm-up ends
 *     marks_filter(include, exclude);   which domains of marks it wants
 *     rings_open(...);
 *     recording_set(what);              from here on threads record
 *     recording_set(0);                 and now they stop
 */
#ifndef ASCOPE_COLLECT_SESSION_RECORDING_H
#define ASCOPE_COLLECT_SESSION_RECORDING_H

#include <stdbool.h>
#include <stdatomic.h>
#include <stdint.h>

/* Beside enum ascope_recorded: which files the records are for. */
enum { RECORDS_AS_MINDSPORE = 1 << 30 };

void recording_prepare(void);
void recording_set(uint32_t what); /* enum ascope_recorded, several */

extern _Atomic uint32_t recording_process; /* its number: recording_process_id() */
extern _Atomic uint64_t recording_began;   /* what began before belongs to no session, or to a warm-up */
extern _Atomic uint64_t recording_step;    /* the number of the training step, from ascope_session_step() */
extern uint64_t recording_marks_from;      /* ids of marks lie behind it: another collector counts its own from 1 on */
extern _Atomic uint32_t recording_frames;  /* announced in this session (ascope_frame); the writer's start makes it 0 */

static inline uint32_t recording_process_id(void)
{
    return atomic_load_explicit(&recording_process, memory_order_relaxed);
}

#endif
