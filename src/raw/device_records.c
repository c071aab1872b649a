/* SPDX-License-Identifier: Apache-2.0 */
#include "raw/device_records.h"

#define MAGIC_STARS                                                                                                    \
    {                                                                                                                  \
        2, W16, 0xFFFF, 0x6BD3                                                                                         \
    }
#define MAGIC_5A5A                                                                                                     \
    {                                                                                                                  \
        0, W16, 0xFFFF, 0x5A5A                                                                                         \
    }

const struct layout stars_layout = {
    .name = "stars_soc", .size = 64, .magic = MAGIC_STARS, .n = STARS_FIELDS,
    .field = {
        [STARS_HEAD] = { 0, W16, "head" },
        [STARS_STREAM] = { 4, W16, "stream" },
        [STARS_TASK] = { 6, W16, "task" },
        [STARS_TICK] = { 8, W64, "tick" },
        [STARS_SUB_TYPE] = { 16, W8, "sub_type" },
        [STARS_CONTEXT] = { 18, W16, "context" },
    },
};

const struct layout stars_short_layout = {
    .name = "stars_soc_short", .size = 32, .magic = MAGIC_STARS, .n = STARS_SHORT_FIELDS,
    .field = {
        [STARS_SHORT_HEAD] = { 0, W16, "head" },
        [STARS_SHORT_ID] = { 4, W32, "id" },
        [STARS_SHORT_TICK] = { 8, W64, "tick" },
        [STARS_SHORT_PART] = { 16, W16, "part" },
        [STARS_SHORT_ACC] = { 18, W16, "acc" },
    },
};

#define PMU_HEADING                                                                                                    \
    [PMU_HEAD] = { 0, W16, "head" }, [PMU_STREAM] = { 4, W16, "stream" }, [PMU_TASK] = { 6, W16, "task" },             \
    [PMU_SUB_TYPE] = { 16, W8, "sub_type" }, [PMU_CONTEXT] = { 18, W16, "context" },                                   \
    [PMU_FFTS_BITS] = { 20, W16, "ffts_bits" }, [PMU_CYCLES] = { 32, W64, "cycles" },                                  \
    [PMU_BEGIN] = { 112, W64, "begin" }, [PMU_END] = { 120, W64, "end" }

const struct layout pmu_task_layout = {
    .name = "pmu_task",
    .size = 128,
    .kind = { 0, W16, STARS_FUNC_MASK, 40 },
    .keeps_rest = true,
    .n = PMU_FIELDS,
    .field = { PMU_HEADING },
};

const struct layout pmu_block_layout = {
    .name = "pmu_block",
    .size = 128,
    .kind = { 0, W16, STARS_FUNC_MASK, 41 },
    .keeps_rest = true,
    .n = PMU_FIELDS,
    .field = { PMU_HEADING },
};

#define PMU_TEN                                                                                                        \
    .size = 128, .keeps_rest = true, .n = PMU_TEN_FIELDS,                                                              \
    .field = {                                                                                                         \
        [PMU_TEN_HEAD] = { 0, W16, "head" },     [PMU_TEN_ID] = { 4, W32, "id" },                                      \
        [PMU_TEN_CYCLES] = { 8, W64, "cycles" }, [PMU_TEN_BITS] = { 17, W8, "bits" },                                  \
        [PMU_TEN_KIND] = { 20, W8, "kind" },     [PMU_TEN_CORE] = { 21, W8, "core" },                                  \
        [PMU_TEN_BEGIN] = { 112, W64, "begin" }, [PMU_TEN_END] = { 120, W64, "end" },                                  \
    }

const struct layout pmu_ten_task_layout = { .name = "pmu_ten_task", .kind = { 0, W16, STARS_FUNC_MASK, 42 }, PMU_TEN };
const struct layout pmu_ten_block_layout = { .name = "pmu_ten_block",
                                             .kind = { 0, W16, STARS_FUNC_MASK, 41 },
                                             PMU_TEN };

#define TS_SIZE                                                                                                        \
    {                                                                                                                  \
        2, W16, "size"                                                                                                 \
    }
#define TS_KIND(k)                                                                                                     \
    {                                                                                                                  \
        1, W8, 0xFF, (k)                                                                                               \
    }

const struct layout ts_step_layout = {
    .name = "ts_step", .size = 40, .size_field = TS_SIZE, .kind = TS_KIND(10), .n = STEP_FIELDS,
    .field = {
        [STEP_TICK] = { 8, W64, "tick" },
        [STEP_INDEX] = { 16, W64, "index" },
        [STEP_MODEL] = { 24, W64, "model" },
        [STEP_STREAM] = { 32, W16, "stream" },
        [STEP_TASK] = { 34, W16, "task" },
        [STEP_TAG] = { 36, W16, "tag" },
    },
};

const struct layout ts_step_wide_layout = {
    .name = "ts_step_wide", .size = 40, .size_field = TS_SIZE, .kind = TS_KIND(10), .n = STEP_FIELDS,
    .field = {
        [STEP_TICK] = { 8, W64, "tick" },
        [STEP_INDEX] = { 16, W64, "index" },
        [STEP_MODEL] = { 24, W64, "model" },
        [STEP_TAG] = { 32, W16, "tag" },
        [STEP_STREAM] = { 34, W16, "stream" },
        [STEP_TASK] = { 36, W32, "task" },
    },
};

const struct layout ts_timeline_layout = {
    .name = "ts_timeline", .size = 32, .size_field = TS_SIZE, .kind = TS_KIND(3), .n = TS_TIMELINE_FIELDS,
    .field = {
        [TS_TIMELINE_TYPE] = { 8, W16, "type" },
        [TS_TIMELINE_STATE] = { 10, W16, "state" },
        [TS_TIMELINE_STREAM] = { 12, W16, "stream" },
        [TS_TIMELINE_TASK] = { 14, W16, "task" },
        [TS_TIMELINE_TICK] = { 16, W64, "tick" },
    },
};

const struct layout ts_memcpy_layout = {
    .name = "ts_memcpy", .size = 40, .size_field = TS_SIZE, .kind = TS_KIND(11), .n = TS_MEMCPY_FIELDS,
    .field = {
        [TS_MEMCPY_TICK] = { 8, W64, "tick" },
        [TS_MEMCPY_STREAM] = { 16, W16, "stream" },
        [TS_MEMCPY_TASK] = { 18, W16, "task" },
        [TS_MEMCPY_STATE] = { 20, W8, "state" },
    },
};

const struct layout ts_state_layout = {
    .name = "ts_state", .size = 40, .size_field = TS_SIZE, .kind = TS_KIND(12), .n = TS_STATE_FIELDS,
    .field = {
        [TS_STATE_TICK] = { 8, W64, "tick" },
        [TS_STATE_STREAM] = { 16, W16, "stream" },
        [TS_STATE_TASK] = { 18, W16, "task" },
        [TS_STATE_TYPE] = { 20, W16, "type" },
        [TS_STATE_STATE] = { 22, W8, "state" },
    },
};

const struct layout ts_flip_layout = {
    .name = "ts_flip", .size = 40, .size_field = TS_SIZE, .kind = TS_KIND(14), .n = TS_FLIP_FIELDS,
    .field = {
        [TS_FLIP_TICK] = { 8, W64, "tick" },
        [TS_FLIP_STREAM] = { 16, W16, "stream" },
        [TS_FLIP_NUMBER] = { 18, W16, "number" },
        [TS_FLIP_TASK] = { 22, W16, "task" },
    },
};

const struct layout ts_blocks_layout = {
    .name = "ts_blocks", .size = 40, .size_field = TS_SIZE, .kind = TS_KIND(15), .n = TS_BLOCKS_FIELDS,
    .field = {
        [TS_BLOCKS_TICK] = { 8, W64, "tick" },
        [TS_BLOCKS_STREAM] = { 16, W16, "stream" },
        [TS_BLOCKS_TASK] = { 18, W16, "task" },
        [TS_BLOCKS_COUNT] = { 20, W32, "blocks" },
    },
};

#define AICPU_KIND(k)                                                                                                  \
    {                                                                                                                  \
        4, W32, 0xFFFFFFFF, (k)                                                                                        \
    }

const struct layout aicpu_node_layout = {
    .name = "aicpu_node", .size = 256, .magic = MAGIC_5A5A, .kind = AICPU_KIND(0), .n = AICPU_FIELDS,
    .field = {
        [AICPU_STREAM] = { 24, W16, "stream" },
        [AICPU_TASK] = { 26, W16, "task" },
        [AICPU_RUN_BEGIN] = { 40, W64, "run_begin" },
        [AICPU_COMPUTE_US] = { 48, W64, "compute_us" },
        [AICPU_MEMCPY_US] = { 56, W64, "memcpy_us" },
        [AICPU_MEMCPY_END_US] = { 64, W64, "memcpy_end_us" },
        [AICPU_RUN_END] = { 80, W64, "run_end" },
        [AICPU_THREAD] = { 88, W32, "thread" },
        [AICPU_SUBMIT] = { 96, W64, "submit" },
        [AICPU_SCHEDULE] = { 104, W64, "schedule" },
        [AICPU_BEFORE_RUN] = { 112, W64, "before_run" },
        [AICPU_AFTER_RUN] = { 120, W64, "after_run" },
        [AICPU_KERNEL_TYPE] = { 128, W32, "kernel_type" },
        [AICPU_DISPATCH_US] = { 132, W32, "dispatch_us" },
        [AICPU_TOTAL_US] = { 136, W32, "total_us" },
    },
};

const struct layout aicpu_node_legacy_layout = {
    .name = "aicpu_node_legacy", .size = 128, .magic = MAGIC_5A5A, .n = AICPU_FIELDS,
    .field = {
        [AICPU_STREAM] = { 4, W16, "stream" },
        [AICPU_TASK] = { 6, W16, "task" },
        [AICPU_RUN_BEGIN] = { 16, W64, "run_begin" },
        [AICPU_COMPUTE_US] = { 24, W64, "compute_us" },
        [AICPU_MEMCPY_US] = { 32, W64, "memcpy_us" },
        [AICPU_MEMCPY_END_US] = { 40, W64, "memcpy_end_us" },
        [AICPU_RUN_END] = { 56, W64, "run_end" },
        [AICPU_THREAD] = { 64, W32, "thread" },
        [AICPU_SUBMIT] = { 72, W64, "submit" },
        [AICPU_SCHEDULE] = { 80, W64, "schedule" },
        [AICPU_BEFORE_RUN] = { 88, W64, "before_run" },
        [AICPU_AFTER_RUN] = { 96, W64, "after_run" },
        [AICPU_KERNEL_TYPE] = { 104, W32, "kernel_type" },
        [AICPU_DISPATCH_US] = { 108, W32, "dispatch_us" },
        [AICPU_TOTAL_US] = { 112, W32, "total_us" },
    },
};

const struct layout aicpu_dp_layout = {
    .name = "aicpu_dp",
    .size = 256,
    .magic = MAGIC_5A5A,
    .kind = AICPU_KIND(1),
    .keeps_rest = true,
    .n = DP_FIELDS,
    .field = { [DP_TIME] = { 16, W64, "time" }, [DP_INDEX] = { 104, W64, "index" }, [DP_SIZE] = { 112, W64, "size" } },
};

const struct layout aicpu_dp_legacy_layout = {
    .name = "aicpu_dp_legacy",
    .size = 128,
    .magic = MAGIC_5A5A,
    .keeps_rest = true,
    .n = DP_FIELDS,
    .field = { [DP_TIME] = { 8, W64, "time" }, [DP_INDEX] = { 96, W64, "index" }, [DP_SIZE] = { 104, W64, "size" } },
};

const struct layout aicpu_model_layout = {
    .name = "aicpu_model", .size = 256, .magic = MAGIC_5A5A, .kind = AICPU_KIND(2), .n = AICPU_MODEL_FIELDS,
    .field = {
        [AICPU_MODEL_TIME] = { 16, W64, "time" },
        [AICPU_MODEL_INDEX] = { 24, W64, "index" },
        [AICPU_MODEL_ID] = { 32, W32, "model" },
        [AICPU_MODEL_TAG] = { 36, W16, "tag" },
        [AICPU_MODEL_EVENT] = { 40, W64, "event" },
    },
};

const struct layout aicpu_mi_layout = {
    .name = "aicpu_mi", .size = 256, .magic = MAGIC_5A5A, .kind = AICPU_KIND(3), .n = MI_FIELDS,
    .field = {
        [MI_NODE] = { 24, W32, "node" },
        [MI_QUEUE] = { 32, W64, "queue" },
        [MI_BEGIN_US] = { 40, W64, "begin_us" },
        [MI_END_US] = { 48, W64, "end_us" },
    },
};

const struct layout kfc_comm_turn_layout = {
    .name = "kfc_comm_turn", .size = 256, .magic = MAGIC_5A5A, .kind = AICPU_KIND(4), .n = TURN_FIELDS,
    .field = {
        [TURN_SERVER_BEGIN] = { 24, W64, "server_begin" },
        [TURN_WAIT_BEGIN] = { 32, W64, "wait_begin" },
        [TURN_ALG_BEGIN] = { 40, W64, "alg_begin" },
        [TURN_SEND_BEGIN] = { 48, W64, "send_begin" },
        [TURN_SEND_END] = { 56, W64, "send_end" },
        [TURN_EXEC_END] = { 64, W64, "exec_end" },
        [TURN_SERVER_END] = { 72, W64, "server_end" },
        [TURN_SIZE] = { 80, W64, "size" },
        [TURN_DEVICE] = { 88, W32, "device" },
        [TURN_STREAM] = { 92, W16, "stream" },
        [TURN_TASK] = { 94, W16, "task" },
        [TURN_COUNT] = { 97, W8, "turns" },
        [TURN_CURRENT] = { 98, W8, "turn" },
    },
};

const struct layout kfc_compute_turn_layout = {
    .name = "kfc_compute_turn", .size = 256, .magic = MAGIC_5A5A, .kind = AICPU_KIND(5), .n = COMPUTE_TURN_FIELDS,
    .field = {
        [COMPUTE_TURN_WAIT] = { 24, W64, "wait" },
        [COMPUTE_TURN_BEGIN] = { 32, W64, "begin" },
        [COMPUTE_TURN_END] = { 40, W64, "end" },
        [COMPUTE_TURN_SIZE] = { 48, W64, "size" },
        [COMPUTE_TURN_DEVICE] = { 56, W32, "device" },
        [COMPUTE_TURN_STREAM] = { 60, W16, "stream" },
        [COMPUTE_TURN_TASK] = { 62, W16, "task" },
        [COMPUTE_TURN_COUNT] = { 65, W8, "turns" },
        [COMPUTE_TURN_CURRENT] = { 66, W8, "turn" },
    },
};

const struct layout device_hccl_op_layout = {
    .name = "device_hccl_op", .size = 256, .magic = MAGIC_5A5A, .kind = AICPU_KIND(10), .n = DEV_OP_FIELDS,
    .field = {
        [DEV_OP_TIME] = { 16, W64, "time" },
        [DEV_OP_FLAGS] = { 24, W8, "flags" },
        [DEV_OP_DATA_TYPE] = { 25, W8, "data_type" },
        [DEV_OP_ALG] = { 26, W64, "alg_type" },
        [DEV_OP_COUNT] = { 34, W64, "count" },
        [DEV_OP_GROUP] = { 42, W64, "group" },
        [DEV_OP_RANK_SIZE] = { 50, W32, "rank_size" },
        [DEV_OP_STREAM] = { 54, W16, "stream" },
        [DEV_OP_TASK] = { 56, W32, "task" },
    },
};

const struct layout aicpu_flip_layout = {
    .name = "aicpu_flip", .size = 256, .magic = MAGIC_5A5A, .kind = AICPU_KIND(11), .n = AICPU_FLIP_FIELDS,
    .field = {
        [AICPU_FLIP_TIME] = { 16, W64, "time" },
        [AICPU_FLIP_STREAM] = { 24, W16, "stream" },
        [AICPU_FLIP_TASK] = { 26, W16, "task" },
        [AICPU_FLIP_NUMBER] = { 28, W32, "number" },
    },
};

const struct layout aicpu_master_layout = {
    .name = "aicpu_master", .size = 256, .magic = MAGIC_5A5A, .kind = AICPU_KIND(12), .n = MASTER_FIELDS,
    .field = {
        [MASTER_TIME] = { 16, W64, "time" },
        [MASTER_AICPU_STREAM] = { 24, W16, "aicpu_stream" },
        [MASTER_AICPU_TASK] = { 26, W16, "aicpu_task" },
        [MASTER_STREAM] = { 28, W16, "stream" },
        [MASTER_TASK] = { 30, W16, "task" },
        [MASTER_KIND] = { 32, W16, "kind" },
    },
};

const struct layout device_hccl_layout = {
    .name = "device_hccl",
    .size = 256,
    .magic = MAGIC_5A5A,
    .kind = AICPU_KIND(13),
    .keeps_rest = true,
    .n = DEV_HCCL_FIELDS,
    .field = { [DEV_HCCL_TIME] = { 16, W64, "time" } },
};

const struct layout device_hccl_entry_layout = {
    .name = "device_hccl_entry", .size = DEV_HCCL_BYTES, .n = ENTRY_FIELDS,
    .field = {
        [ENTRY_ITEM] = { 0, W64, "item" },
        [ENTRY_TAG] = { 8, W64, "tag" },
        [ENTRY_GROUP] = { 16, W64, "group" },
        [ENTRY_LOCAL_RANK] = { 24, W32, "local_rank" },
        [ENTRY_REMOTE_RANK] = { 28, W32, "remote_rank" },
        [ENTRY_RANK_SIZE] = { 32, W32, "rank_size" },
        [ENTRY_STAGE] = { 36, W32, "stage" },
        [ENTRY_NOTIFY] = { 40, W64, "notify" },
        [ENTRY_TIME] = { 48, W64, "time" },
        [ENTRY_ESTIMATE] = { 56, W64, "estimate_us" },
        [ENTRY_SRC] = { 64, W64, "src" },
        [ENTRY_DST] = { 72, W64, "dst" },
        [ENTRY_SIZE] = { 80, W64, "size" },
        [ENTRY_TASK] = { 88, W32, "task" },
        [ENTRY_STREAM] = { 96, W16, "stream" },
        [ENTRY_PLANE] = { 98, W16, "plane" },
        [ENTRY_OP_TYPE] = { 100, W8, "op_type" },
        [ENTRY_DATA_TYPE] = { 101, W8, "data_type" },
        [ENTRY_LINK] = { 102, W8, "link" },
        [ENTRY_TRANSPORT] = { 103, W8, "transport" },
        [ENTRY_RDMA] = { 104, W8, "rdma" },
        [ENTRY_ROLE] = { 105, W8, "role" },
        [ENTRY_WORKFLOW] = { 106, W8, "workflow" },
    },
};
