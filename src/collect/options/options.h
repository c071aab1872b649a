/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - what the options of a session mean: checked, copied, and as the device's own switches.
 *
 * ascope_options_set() takes a text for each; option_rows.h has the table of their names, values and defaults.
 */
#ifndef ASCOPE_COLLECT_OPTIONS_OPTIONS_H
#define ASCOPE_COLLECT_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ascope/session.h"
#include "base/text/error.h"

/* Bits of the device's data mask. */
#define DATA_ACL_API      UINT64_C(0x1)
#define DATA_TASK_L1      UINT64_C(0x2)
#define DATA_METRICS      UINT64_C(0x4)
#define DATA_AICPU        UINT64_C(0x8)
#define DATA_L2_CACHE     UINT64_C(0x10)
#define DATA_HCCL         UINT64_C(0x20)
#define DATA_TRAINING     UINT64_C(0x40)
#define DATA_MARKS        UINT64_C(0x80)
#define DATA_RUNTIME_API  UINT64_C(0x100)
#define DATA_GE_API_L0    UINT64_C(0x200)
#define DATA_SCHEDULER    UINT64_C(0x400)
#define DATA_TASK_L0      UINT64_C(0x800)
#define DATA_TASK_MEMORY  UINT64_C(0x1000)
#define DATA_TASK_L2      UINT64_C(0x2000)
#define DATA_OP_ATTR      UINT64_C(0x4000)
#define DATA_TASK_L3      UINT64_C(0x8000)
#define DATA_AIC_SAMPLING UINT64_C(0x200000)
#define DATA_AIV_SAMPLING UINT64_C(0x400000)
#define DATA_INSTRUCTIONS UINT64_C(0x800000)
#define DATA_GE_API_L1    UINT64_C(0x1000000)
#define DATA_AICORE_SHAPE UINT64_C(0x800000000)

/* A copy that owns its texts, with the defaults for fields that the caller's version does not have; NULL: all of them. */
bool options_take(struct ascope_options *out, const struct ascope_options *from, struct error *e);
void options_fini(struct ascope_options *o);

/* Invalid values and combinations fall back to valid ones, each with a warning; in the order in which torch_npu checks
 * them, which decides what is left of several errors at once. Front ends check values by themselves; rules between them
 * are here alone. Afterwards metrics and texts are as they will be used. */
void options_check(struct ascope_options *o);

/* Of options that were checked. Without what one bit implies for the device: task time L1 has L0. */
uint64_t options_data_mask(const struct ascope_options *o);
/* Which of enum ascope_recorded. */
uint32_t options_recorded(const struct ascope_options *o);

/* Names as they are in files: "PipeUtilization", "Level1". */
const char *options_metrics_name(uint32_t metrics);
const char *options_level_name(uint32_t level);
const char *options_host_sys_name(unsigned bit); /* 0: "cpu"; NULL: no more */

#endif
