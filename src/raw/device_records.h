/* SPDX-License-Identifier: Apache-2.0 */
/* device_records.h - records of the task scheduler and the cores of a device. All times are ticks of the device's
 * counter. */
#ifndef ASCOPE_RAW_DEVICE_RECORDS_H
#define ASCOPE_RAW_DEVICE_RECORDS_H

#include "raw/layout.h"

/* The task log of STARS chips: one record when a task starts (function 0 or 34), one when it ends (1 or 35). The type
 * of an ACSQ task is in bits 10 to 15 of the head. */
enum { STARS_HEAD, STARS_STREAM, STARS_TASK, STARS_TICK, STARS_SUB_TYPE, STARS_CONTEXT, STARS_FIELDS };
enum { STARS_FUNC_MASK = 63, STARS_ACSQ_BEGIN = 0, STARS_ACSQ_END = 1, STARS_FFTS_BEGIN = 34, STARS_FFTS_END = 35 };
enum { STARS_FFTS_TYPE = 20, FFTS_TYPE_SHIFT = 13, FFTS_TYPE_MIX = 4 }; /* a u16; its type in bits 13 to 15 */
extern const struct layout stars_layout;
/* Of the 950: half as long, and one id instead of stream and task; the host knows the stream. The begin and the end of
 * a part of a fused task have other functions; its kind is one of five bits. */
enum { STARS_SHORT_HEAD, STARS_SHORT_ID, STARS_SHORT_TICK, STARS_SHORT_PART, STARS_SHORT_ACC, STARS_SHORT_FIELDS };
enum { STARS_PART_BEGIN = 22, STARS_PART_END = 23, STARS_PART_MISSION_SHIFT = 5, STARS_PART_MISSION_MASK = 15 };
extern const struct layout stars_short_layout;

/* Counters of a task (function 40) or of one block of it (41). Eight u64 counters follow at PMU_FIRST. */
enum {
    PMU_HEAD,
    PMU_STREAM,
    PMU_TASK,
    PMU_SUB_TYPE,
    PMU_CONTEXT,
    PMU_FFTS_BITS,
    PMU_CYCLES,
    PMU_BEGIN,
    PMU_END,
    PMU_FIELDS
};
enum { PMU_FIRST = 48, PMU_COUNTERS = 8 };
enum { PMU_BLOCK_ID = 30 }; /* a u16, in the record of a block */
extern const struct layout pmu_task_layout, pmu_block_layout;

/* The same of chips that count ten events: function 42 for a task and 41 for a block of it, one for each kind of core.
 * A master record is of the main cores; that of the others in a mixed operator is none. Ten u64 follow at
 * PMU_TEN_FIRST. */
enum {
    PMU_TEN_HEAD,
    PMU_TEN_ID,
    PMU_TEN_CYCLES,
    PMU_TEN_BITS,
    PMU_TEN_KIND,
    PMU_TEN_CORE,
    PMU_TEN_BEGIN,
    PMU_TEN_END,
    PMU_TEN_FIELDS
};
enum { PMU_TEN_FIRST = 32, PMU_TEN_COUNTERS = 10 };
enum { PMU_TEN_IS_MASTER = 1, PMU_TEN_IS_MIX = 2 }; /* of the bits */
enum { PMU_TEN_IS_VECTOR = 1 };                     /* of the kind */
extern const struct layout pmu_ten_task_layout, pmu_ten_block_layout;

/* The track of the task scheduler: one layout for each kind that is read. */
enum { STEP_TICK, STEP_INDEX, STEP_MODEL, STEP_STREAM, STEP_TASK, STEP_TAG, STEP_FIELDS };
extern const struct layout ts_step_layout, ts_step_wide_layout; /* wide: of the 950, whose STEP_TASK has 32 bits */
/* Of the 310, which has no other task log: records of several lengths lie in its track. */
enum {
    TS_TIMELINE_TYPE,
    TS_TIMELINE_STATE,
    TS_TIMELINE_STREAM,
    TS_TIMELINE_TASK,
    TS_TIMELINE_TICK,
    TS_TIMELINE_FIELDS
};
enum { TS_TIMELINE_RUNNING = 2, TS_TIMELINE_COMPLETE = 3 };
extern const struct layout ts_timeline_layout;
enum {
    STEP_TAG_MODEL_BEGIN = 0,
    STEP_TAG_MODEL_END = 1,
    STEP_TAG_FP = 2,
    STEP_TAG_BP = 3,
    STEP_TAG_ITERATION_END = 4,
    STEP_TAG_MARK = 11,
    STEP_TAG_MARK_RANGE = 12,
    STEP_TAG_REDUCE = 10000,
    STEP_TAG_GET_NEXT = 20000,
    STEP_TAG_STEP_BEGIN = 60000,
    STEP_TAG_STEP_END = 60001
};
enum { TS_MEMCPY_TICK, TS_MEMCPY_STREAM, TS_MEMCPY_TASK, TS_MEMCPY_STATE, TS_MEMCPY_FIELDS };
extern const struct layout ts_memcpy_layout;
enum { TS_STATE_TICK, TS_STATE_STREAM, TS_STATE_TASK, TS_STATE_TYPE, TS_STATE_STATE, TS_STATE_FIELDS };
enum { TS_STATE_RECEIVED = 0, TS_STATE_STARTED = 1, TS_STATE_ENDED = 2 };
extern const struct layout ts_state_layout;
enum { TS_FLIP_TICK, TS_FLIP_STREAM, TS_FLIP_NUMBER, TS_FLIP_TASK, TS_FLIP_FIELDS };
extern const struct layout ts_flip_layout;
enum { TS_BLOCKS_TICK, TS_BLOCKS_STREAM, TS_BLOCKS_TASK, TS_BLOCKS_COUNT, TS_BLOCKS_FIELDS };
extern const struct layout ts_blocks_layout;

/* Records of the AI CPU: 256 bytes with the host's header, distinguished by their type. */
enum {
    AICPU_STREAM,
    AICPU_TASK,
    AICPU_RUN_BEGIN,
    AICPU_COMPUTE_US,
    AICPU_MEMCPY_US,
    AICPU_MEMCPY_END_US,
    AICPU_RUN_END,
    AICPU_THREAD,
    AICPU_SUBMIT,
    AICPU_SCHEDULE,
    AICPU_BEFORE_RUN,
    AICPU_AFTER_RUN,
    AICPU_KERNEL_TYPE,
    AICPU_DISPATCH_US,
    AICPU_TOTAL_US,
    AICPU_FIELDS
};
extern const struct layout aicpu_node_layout, aicpu_node_legacy_layout;
/* action[16] and source[64] are text at these offsets. */
enum { DP_TIME, DP_INDEX, DP_SIZE, DP_FIELDS };
enum {
    DP_ACTION = 24,
    DP_SOURCE = 40,
    DP_LEGACY_ACTION = 16,
    DP_LEGACY_SOURCE = 32,
    DP_ACTION_BYTES = 16,
    DP_SOURCE_BYTES = 64
};
extern const struct layout aicpu_dp_layout, aicpu_dp_legacy_layout;
enum { AICPU_MODEL_TIME, AICPU_MODEL_INDEX, AICPU_MODEL_ID, AICPU_MODEL_TAG, AICPU_MODEL_EVENT, AICPU_MODEL_FIELDS };
extern const struct layout aicpu_model_layout;
enum { MI_NODE, MI_QUEUE, MI_BEGIN_US, MI_END_US, MI_FIELDS };
extern const struct layout aicpu_mi_layout;
enum {
    TURN_SERVER_BEGIN,
    TURN_WAIT_BEGIN,
    TURN_ALG_BEGIN,
    TURN_SEND_BEGIN,
    TURN_SEND_END,
    TURN_EXEC_END,
    TURN_SERVER_END,
    TURN_SIZE,
    TURN_DEVICE,
    TURN_STREAM,
    TURN_TASK,
    TURN_COUNT,
    TURN_CURRENT,
    TURN_FIELDS
};
extern const struct layout kfc_comm_turn_layout;
enum {
    COMPUTE_TURN_WAIT,
    COMPUTE_TURN_BEGIN,
    COMPUTE_TURN_END,
    COMPUTE_TURN_SIZE,
    COMPUTE_TURN_DEVICE,
    COMPUTE_TURN_STREAM,
    COMPUTE_TURN_TASK,
    COMPUTE_TURN_COUNT,
    COMPUTE_TURN_CURRENT,
    COMPUTE_TURN_FIELDS
};
extern const struct layout kfc_compute_turn_layout;
enum {
    DEV_OP_TIME,
    DEV_OP_FLAGS,
    DEV_OP_DATA_TYPE,
    DEV_OP_ALG,
    DEV_OP_COUNT,
    DEV_OP_GROUP,
    DEV_OP_RANK_SIZE,
    DEV_OP_STREAM,
    DEV_OP_TASK,
    DEV_OP_FIELDS
};
extern const struct layout device_hccl_op_layout;
enum { AICPU_FLIP_TIME, AICPU_FLIP_STREAM, AICPU_FLIP_TASK, AICPU_FLIP_NUMBER, AICPU_FLIP_FIELDS };
extern const struct layout aicpu_flip_layout;
enum { MASTER_TIME, MASTER_AICPU_STREAM, MASTER_AICPU_TASK, MASTER_STREAM, MASTER_TASK, MASTER_KIND, MASTER_FIELDS };
extern const struct layout aicpu_master_layout;
/* Two entries of DEV_HCCL_BYTES each, the first at DEV_HCCL_FIRST; an entry of zeros is unused. Offsets inside an
 * entry. */
enum { DEV_HCCL_TIME, DEV_HCCL_FIELDS };
enum { DEV_HCCL_FIRST = 24, DEV_HCCL_BYTES = 116, DEV_HCCL_ENTRIES = 2 };
extern const struct layout device_hccl_layout;
enum {
    ENTRY_ITEM,
    ENTRY_TAG,
    ENTRY_GROUP,
    ENTRY_LOCAL_RANK,
    ENTRY_REMOTE_RANK,
    ENTRY_RANK_SIZE,
    ENTRY_STAGE,
    ENTRY_NOTIFY,
    ENTRY_TIME,
    ENTRY_ESTIMATE,
    ENTRY_SRC,
    ENTRY_DST,
    ENTRY_SIZE,
    ENTRY_TASK,
    ENTRY_STREAM,
    ENTRY_PLANE,
    ENTRY_OP_TYPE,
    ENTRY_DATA_TYPE,
    ENTRY_LINK,
    ENTRY_TRANSPORT,
    ENTRY_RDMA,
    ENTRY_ROLE,
    ENTRY_WORKFLOW,
    ENTRY_FIELDS
};
extern const struct layout device_hccl_entry_layout;

#endif
