/* SPDX-License-Identifier: Apache-2.0 */
/* instr.h - traces of what the units of a core did: instr.biu_perf_group<g>_<core>, items of four bytes.
 *
 * An item is two u16; bits 12 to 15 of the second one are its code. Four time stamps in a row hold a value of the
 * device's counter in their low halves, the first the least significant, and the block in byte 2 of the first two. Any
 * other item advances the time by its low half, in cycles of the core. A state has a bit for each unit that is busy.
 */
#ifndef ASCOPE_RAW_INSTR_H
#define ASCOPE_RAW_INSTR_H

#include "raw/layout.h"

enum { INSTR_LOW, INSTR_HIGH, INSTR_FIELDS };
enum { INSTR_UNITS = 7, INSTR_STAMP = 14, INSTR_STATE = 15, INSTR_CODE_SHIFT = 12, INSTR_STAMPS = 4 };
enum { INSTR_CHECK_POINT = 0xFFF }; /* of a check point, whose code is its unit: its number */
static const uint32_t INSTR_END = 0xEFFFFFFF,
                      INSTR_FILLER = 0xDDDDDDDD; /* whole items: the end of a piece, and after it */
extern const struct layout instr_layout;

/* The last digit of the group and the name of the core in the name of a family. False: it has another name. */
#define INSTR_PREFIX "instr.biu_perf_group"
bool instr_family(const char *family, unsigned *group, const char **core);

#endif
