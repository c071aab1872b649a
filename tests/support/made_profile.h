/* SPDX-License-Identifier: Apache-2.0 */
/* made_profile.h - a small profile in memory, column by column: what tables show of it can be read off.
 *
 * A collection of one device. All clocks count ns, from 0 on: 4000 is 4.000 µs in every table.
 */
#ifndef ASCOPE_TESTS_MADE_PROFILE_H
#define ASCOPE_TESTS_MADE_PROFILE_H

#include "profile/known.h"
#include "profile/profile.h"
#include "raw/counter.h"
#include "raw/host_records.h"
#include "settings_of.h"

enum {
    ADD_1 = NAMES_KNOWN,
    ADD,
    MATMUL_2,
    MATMUL,
    TOPK_3,
    TOPK,
    AI_VECTOR_CORE,
    AI_CORE,
    AI_CPU,
    KERNEL_AICORE,
    KERNEL_AICPU,
    SHAPE_IN,
    SHAPE_OUT,
    FLOAT,
    HALF,
    ND,
    NZ,
    ALL_REDUCE_1,
    ALL_REDUCE,
    GROUP,
    RING,
    MEMCPY_1,
    MESSAGE,
    ENQUEUE,
    QUEUE,
};
static const char *const texts[] = {
    "Add_1",
    "Add",
    "MatMul_2",
    "MatMul",
    "TopK_3",
    "TopK",
    "AI_VECTOR_CORE",
    "AI_CORE",
    "AI_CPU",
    "KERNEL_AICORE",
    "KERNEL_AICPU",
    "2,3",
    "6",
    "FLOAT",
    "HALF",
    "ND",
    "NZ",
    "hcom_allReduce__1",
    "hcom_allReduce_",
    "group_a",
    "RING",
    "Memcpy",
    "epoch 1",
    "enqueue",
    "queue_0",
};

/* Hashes of the dictionary, and numbers of calls. */
enum {
    HASH_LAUNCH = 101,
    HASH_DOMAIN,
    HASH_MODEL,
    HASH_FUSED,
    HASH_PART_A,
    HASH_PART_B,
    HASH_WEIGHTS,
    CALL_LAUNCH = 7
};

static uint64_t counters[METRIC_COUNTERS] = { 500, 20 }; /* of 1000 cycles */
static uint8_t l2_record[80], smmu_record[80], fault_record[80];
static uint8_t parts[16];

static struct metric_column metric_columns[] = {
    { .metric = { .name = "total_cycles", .kind = METRIC_CYCLES },
      .name = "aic_total_cycles",
      .label = "aic_total_cycles" },
    { .metric = { .name = "mac_ratio", .kind = METRIC_RATIO, .n_events = 1 },
      .name = "aic_mac_ratio",
      .label = "aic_mac_ratio" },
};

/* Four tasks: an operator of each kind of core, one of the AI CPU, a copy that the host knows, and one that it does
 * not. */
static struct device device = {
    .source = { .device = 0,
                .path = "device_0",
                .pid = 7,
                .device_clock = { .tick = { 1, 1 } },
                .host_clock = { .tick = { 1, 1 } } },
    .log = { .copies = { .n = 1,
                         .stream = U16{ 9 },
                         .task = U16{ 90 },
                         .received = U64{ 14100 },
                         .begin = U64{ 14200 },
                         .end = U64{ 14700 },
                         .host = U32{ NO_ROW },
                         .bytes = U64{ 0 },
                         .kind = U16{ COPY_NONE } },
             .aicpu = { .n = 1,
                        .stream = U16{ 3 },
                        .task = U16{ 12 },
                        .run_begin = U64{ 10100 },
                        .run_end = U64{ 12000 },
                        .compute_us = U64{ 20 },
                        .memcpy_us = U64{ 25 },
                        .memcpy_end_us = U64{ 27 },
                        .submit = U64{ 10000 },
                        .after_run = U64{ 12250 },
                        .dispatch_us = U32{ 4 } },
             .dp = { .n = 1, .time = U64{ 5000 }, .size = U64{ 64 }, .action = U32{ ENQUEUE }, .source = U32{ QUEUE } },
             .mi = { .n = 1, .node = U32{ 1 }, .queue = U64{ 3 }, .begin_us = U64{ 11 }, .end_us = U64{ 13 } } },
    .tasks = { .n = 5,
               .stream = U16{ 2, 2, 3, 2, 4 },
               .batch = U16{ 0, 0, 0, 0, 0 },
               .task = U32{ 10, 11, 12, 13, 14 },
               .context = U32{ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
               .key = U64{ 10, 11, 12, 13, 14 },
               .device_type = U8{ 0, 0, 1, 0, 0 },
               .begin_ns = I64{ 1000, 4000, 10000, 13000, 14000 },
               .end_ns = I64{ 3000, 9000, 13000, 13750, 14500 },
               .dur_ns = F64{ 2000, 5000, 3000, 750, 500 },
               .begin_tick = U64{ 1000, 4000, 10000, 13000, 14000 },
               .end_tick = U64{ 3000, 9000, 13000, 13750, 14500 },
               .host = U32{ 0, 1, 2, 3, NO_ROW },
               .op = U32{ 0, 1, 2, NO_ROW, NO_ROW },
               .type = U32{ KERNEL_AICORE, KERNEL_AICORE, KERNEL_AICPU, NAME_MEMCPY_ASYNC, NAME_UNKNOWN },
               .is_hidden = YES{ false, false, false, false, false },
               .pmu = U32{ NO_ROW, 0, NO_ROW, NO_ROW, NO_ROW },
               .copy_bytes = U64{ 0, 0, 0, 4096, 0 },
               .copy_kind = U16{ COPY_NONE, COPY_NONE, COPY_NONE, 1, COPY_NONE },
               .by_id = U32{ 0, 1, 2, 3, 4 },
               .global_id = U32{ 0, 1, 2, 3, 4 } },
    .pmu = { .columns = { .n = 2, .column = metric_columns },
             .n_cores = { 20, 40 },
             .nominal_mhz = 1000,
             .n = 1,
             .task = U32{ 1 },
             .cycles = U64{ 1000 },
             .counters = (const uint8_t *[]){ (uint8_t *)counters },
             .kind = U8{ PMU_AIC },
             .mhz = U32{ 0 },
             .blocks = U16{ 20 },
             .mix_blocks = U16{ 0 },
             .other = U32{ NO_ROW },
             .l2 = { 1, (const uint8_t *[]){ l2_record } },
             .l2_op = U32{ 1 },
             .smmu = { 2, (const uint8_t *[]){ smmu_record, fault_record } },
             .smmu_op = U32{ 1, NO_ROW } },
    .steps = { .iterations = { .n = 2,
                               .model = U64{ 1, 1 },
                               .index = U64{ 1, 2 },
                               .begin = U64{ 900, 9500 },
                               .end = U64{ 9300, 15000 },
                               .fp = U64{ 1000, 10000 },
                               .bp = U64{ 9000, 0 },
                               .is_step = YES{ false, false } },
               .reduces = { 1, U32{ 0 }, U64{ 9050 }, U64{ 9250 } },
               .marks = { .n = 1,
                          .id = U64{ 5 },
                          .model = U64{ 1 },
                          .task = U32{ 15 },
                          .host = U32{ 1 },
                          .stream = U16{ 2 },
                          .begin_ns = I64{ 1500 },
                          .end_ns = I64{ 2500 } } },
    .comm = { .ops = { .n = 1,
                       .name = U32{ ALL_REDUCE_1 },
                       .op_type = U32{ ALL_REDUCE },
                       .group = U32{ GROUP },
                       .alg = U32{ RING },
                       .group_id = U32{ NAME_ZERO },
                       .begin_ns = I64{ 9200 },
                       .end_ns = I64{ 9900 },
                       .dur_ns = F64{ 700 },
                       .iteration = U32{ 1 },
                       .asked = U64{ 8000 },
                       .connection = U32{ 2 },
                       .model = U32{ 1 },
                       .rank_size = U32{ 8 },
                       .data_type = U32{ 4 },
                       .relay = I32{ 0 },
                       .retry = I32{ -1 },
                       .count = U64{ 1024 },
                       .is_shown = YES{ true },
                       .is_aicpu = YES{ false } },
              .tasks = { .n = 1,
                         .op = U32{ 0 },
                         .name = U32{ MEMCPY_1 },
                         .group = U32{ GROUP },
                         .begin_ns = I64{ 9200 },
                         .end_ns = I64{ 9700 },
                         .dur_ns = F64{ 500 },
                         .estimate_us = F64{ 0.25 },
                         .moved_bytes = F64{ 4000 },
                         .moved_ns = F64{ 500 },
                         .plane = I32{ -1 },
                         .task_row = U32{ 3 },
                         .src_rank = U32{ 0 },
                         .dst_rank = U32{ 1 },
                         .rdma = U32{ 1 },
                         .transport = U32{ 0 },
                         .link = U32{ UINT32_MAX },
                         .data_type = U32{ DATA_TYPE_NONE },
                         .notify = U64{ 77 },
                         .size = U64{ 4000 },
                         .has_info = YES{ true },
                         .is_master = YES{ true },
                         .is_piece = YES{ false },
                         .is_aicpu = YES{ false } } },
    .overlap = { .kind = { [OVERLAP_COMPUTING] = { .n = 1, .begin_ns = I64{ 1000 }, .end_ns = I64{ 9000 } },
                           [OVERLAP_FREE] = { .n = 1, .begin_ns = I64{ 9000 }, .end_ns = I64{ 9200 } } } },
};

static struct profile profile = {
    .path = "PROF_1",
    .device = &device,
    .n_devices = 1,
    .n_global_ids = 5,
    .host = { .source = { .is_host = true,
                          .device = HOST_DEVICE_ID,
                          .path = "host",
                          .pid = 7,
                          .host_clock = { .tick = { 1, 1 } } },
              .calls = { .n = 2,
                         .level = U16{ LEVEL_NODE, LEVEL_MODEL },
                         .type = U32{ CALL_LAUNCH, CALL_LAUNCH },
                         .thread = U32{ 21, 21 },
                         .request = U32{ 0, 0 },
                         .begin = U64{ 500, 600 },
                         .end = U64{ 3500, 2600 },
                         .item = U64{ HASH_LAUNCH, 1 },
                         .parent = U32{ NO_ROW, 0 },
                         .in_tree = YES{ true, true },
                         .is_shown = YES{ true, true },
                         .n_threads = 1,
                         .first_of_thread = U32{ 0, 2 } },
              .ops = { .n = 3,
                       .name = U32{ ADD_1, MATMUL_2, TOPK_3 },
                       .op_type = U32{ ADD, MATMUL, TOPK },
                       .task_type = U32{ AI_VECTOR_CORE, AI_CORE, AI_CPU },
                       .state = U32{ NAME_STATIC, NAME_DYNAMIC, NAME_NA },
                       .hf32 = U32{ NAME_NO, NAME_YES, NAME_NA },
                       .attr = U32{ NAME_EMPTY, NAME_EMPTY, NAME_EMPTY },
                       .blocks = U32{ 8, 20, 1 },
                       .mix_blocks = U32{ 0, 40, 0 },
                       .shapes = { U32{ SHAPE_IN, SHAPE_IN, NAME_NA }, U32{ SHAPE_OUT, SHAPE_OUT, NAME_NA } },
                       .types = { U32{ FLOAT, HALF, NAME_NA }, U32{ HALF, FLOAT, NAME_NA } },
                       .formats = { U32{ ND, NZ, NAME_NA }, U32{ NZ, ND, NAME_NA } },
                       .grid_dim = U32{ NAME_NA, NAME_NA, NAME_NA },
                       .block_dim = U32{ NAME_NA, NAME_NA, NAME_NA } },
              .tasks = { .n = 4,
                         .global_id = U32{ 0, 1, 2, 3 },
                         .device = U16{ 0, 0, 0, 0 },
                         .stream = U16{ 2, 2, 3, 2 },
                         .batch = U16{ 0, 0, 0, 0 },
                         .task = U32{ 10, 11, 12, 13 },
                         .context = U32{ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
                         .key = U64{ 10, 11, 12, 13 },
                         .type = U32{ KERNEL_AICORE, KERNEL_AICORE, KERNEL_AICPU, NAME_MEMCPY_ASYNC },
                         .kernel = U32{ ADD_1, MATMUL_2, TOPK_3, NAME_NA },
                         .connection = U32{ 1, 1, 1, 2 },
                         .model = U32{ 1, 1, 1, UINT32_MAX },
                         .request = I64{ -1, -1, -1, -1 },
                         .time = U64{ 550, 650, 750, 850 },
                         .thread = U32{ 21, 21, 21, 21 },
                         .op = U32{ 0, 1, 2, NO_ROW } },
              .records = { .marks = { .n = 2,
                                      .n_plain = 1,
                                      .by_id = U32{ 1 },
                                      .repeat = U32{ 0, 0 },
                                      .process = U32{ 7, 7 },
                                      .thread = U32{ 21, 22 },
                                      .category = U32{ 3, 0 },
                                      .event = U32{ 2, 3 },
                                      .payload_type = U32{ 1, 0 },
                                      .message_type = U32{ 2, 0 },
                                      .payload = U64{ 99, 0 },
                                      .begin = U64{ 700, 800 },
                                      .end = U64{ 900, 1200 },
                                      .id = U64{ 0, 5 },
                                      .domain = U64{ 0, HASH_DOMAIN },
                                      .message = U32{ MESSAGE, MESSAGE } },
                           .op_memory = { .n = 3,
                                          .thread = U32{ 21, 21, 21 },
                                          .device = U32{ 0, 0, 70 },
                                          .device_type = U32{ 0, 0, 0 },
                                          .time = U64{ 1000, 2500, 2600 },
                                          .addr = U64{ 4096, 4096, 8192 },
                                          .name = U64{ HASH_LAUNCH, HASH_LAUNCH, 12345 },
                                          .allocated = U64{ 3072, 1024, 512 },
                                          .reserved = U64{ 10240, 10240, 2048 },
                                          .size = I64{ 2048, -2048, 512 },
                                          .lives = { .n = 2, .allocation = U32{ 0, 2 }, .release = U32{ 1, NO_ROW } } },
                           .static_memory = { .n = 2,
                                              .size = I64{ 2048, 1536 },
                                              .name = U64{ 0, HASH_WEIGHTS },
                                              .begin = U64{ 0, 2 },
                                              .end = U64{ UINT32_MAX - 1, 9 },
                                              .dynamic_name = U64{ HASH_MODEL, HASH_MODEL },
                                              .graph = U32{ 4, 4 } },
                           .fusions = { .n = 1,
                                        .thread = U32{ 21 },
                                        .count = U32{ 2 },
                                        .time = U64{ 620 },
                                        .name = U64{ HASH_FUSED },
                                        .bytes = { U64{ 1024 }, U64{ 2048 }, U64{ 512 }, U64{ 0 }, U64{ 3584 } },
                                        .originals = (const uint8_t *[]){ parts },
                                        .call = U32{ 1 } },
                           .graph_ids = { .n = 1, .name = U64{ HASH_MODEL }, .graph = U32{ 4 }, .model = U32{ 1 } } } },
};

static int profile_make(void **state)
{
    static const struct {
        uint64_t hash;
        const char *text;
    } word[] = {
        { HASH_LAUNCH, "aclnnAdd" }, { HASH_DOMAIN, "training" }, { HASH_MODEL, "resnet" },
        { HASH_FUSED, "Fused_1" },   { HASH_PART_A, "Conv" },     { HASH_PART_B, "Relu" },
        { HASH_WEIGHTS, "weights" },
    };
    profile.names = names_new();
    profile.mem = arena_new();
    if (!known_names_add(profile.names))
        return -1;
    for (size_t i = 0; i < ROWS(texts); i++)
        if (names_addz(profile.names, texts[i]) != NAMES_KNOWN + i)
            return -1;
    profile.dictionary = (struct dictionary){ .names = profile.names };
    for (size_t i = 0; i < ROWS(word); i++)
        dictionary_add(&profile.dictionary, word[i].hash, names_addz(profile.names, word[i].text));
    const name_id launch = names_addz(profile.names, "launch");
    dictionary_add(&profile.dictionary, dictionary_type_key(LEVEL_NODE, CALL_LAUNCH), launch);
    dictionary_add(&profile.dictionary, dictionary_type_key(LEVEL_MODEL, CALL_LAUNCH), launch);
    memcpy(parts, U64{ HASH_PART_A, HASH_PART_B }, sizeof parts);

    layout_init(&l2_cache_layout, l2_record);
    layout_put(&l2_cache_layout, L2_STREAM, l2_record, 2);
    layout_put(&l2_cache_layout, L2_TASK, l2_record, 11);
    for (unsigned i = 0; i < COUNTER_EVENTS; i++) /* 10, 20, 30 … */
        layout_put(&l2_cache_layout, L2_FIRST + i, l2_record, 10 * (i + 1));
    for (int k = 0; k < 2; k++) {
        uint8_t *record = k ? fault_record : smmu_record;
        layout_init(&smmu_layout, record);
        layout_put(&smmu_layout, SMMU_STREAM, record, 2);
        layout_put(&smmu_layout, SMMU_TASK, record, 11u + (unsigned)k);
        layout_put(&smmu_layout, SMMU_DATA_TYPE, record, k ? SMMU_DATA_FAULTS : SMMU_DATA_TRANSLATION);
        for (unsigned i = 0; i < COUNTER_EVENTS; i++)
            layout_put(&smmu_layout, SMMU_FIRST + i, record, 10 * (i + 1));
    }
    device.source.chip = profile.chip = chip_of(5);
    device.source.settings =
        settings_of(NULL,
                    json_pack("{s:s, s:s}", "l2CacheTaskProfilingEvents", "0xfb,0xfc,0x90,0x91,0x9c", "npuEvents",
                              "HA:0x1;SMMU:0x8a,0x8c,0x8d,0x2"),
                    profile.mem);
    (void)state;
    return 0;
}

static int profile_unmake(void **state)
{
    dictionary_fini(&profile.dictionary);
    arena_free(profile.mem);
    names_free(profile.names);
    (void)state;
    return 0;
}

#endif
