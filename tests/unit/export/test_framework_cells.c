/* SPDX-License-Identifier: Apache-2.0 */
#include "cells.h"

#include "export/framework/collection_export.h"
#include "export/framework/framework_files.h"
#include "folder.h"
#include "pipeline/framework_outputs.h"
#include "pipeline/registry.h"
#include "profile/known.h"
#include "raw/sampler.h"
#include "raw/torch.h"
#include "settings_of.h"

/* A step of PyTorch in which one operator of two starts a kernel, and a kernel behind it. All clocks count ns, from 0
 * on. */

enum {
    ADD_1 = NAMES_KNOWN,
    ADD,
    AI_VECTOR_CORE,
    KERNEL_AICORE,
    SHAPE,
    FLOAT,
    ND,
    PROFILER_STEP,
    ATEN_ADD,
    ATEN_INNER,
    TWO,
    SHAPES,
    TYPES,
    STACK,
    PYTHON_MAIN,
};
static const char *const texts[] = {
    "Add_1", "Add", "AI_VECTOR_CORE", "KERNEL_AICORE", "2,3",
    "FLOAT", "ND",  "ProfilerStep#2", "aten::add",     "aten::inner",
    "2",     "2;3", "float",          "a.py(3): f",    "a.py(1): main",
};
enum { HASH_CONV = 101 };

#define MB 1048576

static struct device device = {
    .source = { .device = 0,
                .path = "device_0",
                .name = "device_0",
                .pid = 7,
                .device_clock = { .tick = { 1, 1 } },
                .host_clock = { .tick = { 1, 1 } } },
    .tasks = { .n = 2,
               .stream = U16{ 3, 3 },
               .batch = U16{ 0, 0 },
               .task = U32{ 10, 11 },
               .context = U32{ UINT32_MAX, UINT32_MAX },
               .key = U64{ 10, 11 },
               .device_type = U8{ 0, 0 },
               .begin_ns = I64{ 6000, 30000 },
               .end_ns = I64{ 8500, 31000 },
               .dur_ns = F64{ 2500, 1000 },
               .begin_tick = U64{ 6000, 30000 },
               .end_tick = U64{ 8500, 31000 },
               .host = U32{ 0, 1 },
               .op = U32{ 0, 0 },
               .type = U32{ KERNEL_AICORE, KERNEL_AICORE },
               .is_hidden = YES{ false, false },
               .pmu = U32{ NO_ROW, NO_ROW },
               .copy_bytes = U64{ 0, 0 },
               .copy_kind = U16{ COPY_NONE, COPY_NONE },
               .by_id = U32{ 0, 1 },
               .global_id = U32{ 0, 1 } },
    .overlap = { .kind = { [OVERLAP_COMPUTING] = { .n = 1, .begin_ns = I64{ 6000 }, .end_ns = I64{ 8500 } },
                           [OVERLAP_COMMUNICATION] = { .n = 1, .begin_ns = I64{ 8000 }, .end_ns = I64{ 9000 } },
                           [OVERLAP_EXPOSED] = { .n = 1, .begin_ns = I64{ 8500 }, .end_ns = I64{ 9000 } } } },
    .counters = { .raw = { [SAMPLER_NPU_MEM_APP] = { .n = 1,
                                                     .at_ns = I64{ 1500 },
                                                     .column = { [NPU_MEM_EVENT] = { U64{ NPU_MEM_OF_APP }, 8, false },
                                                                 [NPU_MEM_DDR] = { U64{ 0 }, 8, false },
                                                                 [NPU_MEM_HBM] = { U64{ 2 * MB }, 8, false } } },
                           [SAMPLER_MODULE_MEM] = { .n = 1,
                                                    .at_ns = I64{ 2000 },
                                                    .column = { [MODULE_MEM_MODULE] = { U64{ 3 }, 8, false },
                                                                [MODULE_MEM_BYTES] = { U64{ 3 * MB }, 8,
                                                                                       false } } } } },
};

static struct collection collection = {
    .path = "a_ascend_pt",
    .name = "a_ascend_pt",
    .has_device = true,
    .settings = { .level = PROFILER_LEVEL1, .has_cpu = true, .has_npu = true, .has_rank = true, .rank = 3 },
    .framework = { .path = "FRAMEWORK",
                   .has_queue = true,
                   .ops = { .n = 3,
                            .begin_ns = I64{ 0, 1000, 2000 },
                            .end_ns = I64{ 20000, 5000, 3000 },
                            .sequence = I64{ -1, 9, -1 },
                            .forward_thread = U64{ 0, 0, 0 },
                            .process = U32{ 7, 7, 7 },
                            .thread = U32{ 21, 21, 21 },
                            .scope = U8{ 0, 0, 0 },
                            .name = U32{ PROFILER_STEP, ATEN_ADD, ATEN_INNER },
                            .types = U32{ NO_NAME, TYPES, NO_NAME },
                            .shapes = U32{ NO_NAME, SHAPES, NO_NAME },
                            .stack = U32{ NO_NAME, STACK, NO_NAME },
                            .modules = U32{ NO_NAME, NO_NAME, NO_NAME },
                            .flops = U32{ NO_NAME, NO_NAME, NO_NAME } },
                   .enqueue = { 1, I64{ 1100 }, I64{ 1200 }, U64{ 1 }, U32{ 7 }, U32{ 21 }, U32{ ADD } },
                   .dequeue = { 1, I64{ 1300 }, I64{ 1400 }, U64{ 1 }, U32{ 7 }, U32{ 22 }, U32{ ADD } },
                   .memory = { .n = 3,
                               .time_ns = I64{ 1000, 4000, 5000 },
                               .pointer = U64{ 4096, 4096, 8192 },
                               .size_bytes = I64{ 1024, -1024, 2048 },
                               .allocated_bytes = I64{ MB, MB / 2, 3 * MB },
                               .reserved_bytes = I64{ 2 * MB, 2 * MB, 3 * MB },
                               .active_bytes = I64{ MB + MB / 2, MB / 2, 3 * MB },
                               .stream = I64{ 5, 0, 6 },
                               .device_type = I8{ MEMORY_ON_NPU, MEMORY_ON_NPU, MEMORY_ON_NPU },
                               .device = I8{ 0, 0, 0 },
                               .component = U8{ COMPONENT_CACHING, COMPONENT_CACHING, COMPONENT_WORKSPACE },
                               .kind = U8{ MEMORY_MALLOC, MEMORY_FREE, MEMORY_MALLOC },
                               .allocator = U8{ 0, 0, 0 },
                               .process = U32{ 7, 7, 7 },
                               .thread = U32{ 21, 21, 21 } },
                   .python = { .n = 1,
                               .begin_ns = I64{ 800 },
                               .end_ns = I64{ 900 },
                               .process = U32{ 7 },
                               .thread = U32{ 21 },
                               .key = U64{ 0 },
                               .name = U32{ PYTHON_MAIN },
                               .id = U32{ 0 },
                               .parent = U32{ 0 },
                               .module = U32{ NO_MODULE_NUMBER } },
                   .gc = { 1, I64{ 100 }, I64{ 200 }, U32{ 7 } } },
    .profile = { .path = "PROF_1",
                 .device = &device,
                 .n_devices = 1,
                 .n_global_ids = 2,
                 .host = { .source = { .is_host = true,
                                       .path = "host",
                                       .name = "host",
                                       .pid = 7,
                                       .host_clock = { .tick = { 1, 1 } },
                                       .end_ns = 40000 },
                           .ops = { .n = 1,
                                    .name = U32{ ADD_1 },
                                    .op_type = U32{ ADD },
                                    .task_type = U32{ AI_VECTOR_CORE },
                                    .state = U32{ NAME_STATIC },
                                    .hf32 = U32{ NAME_NO },
                                    .attr = U32{ NAME_EMPTY },
                                    .blocks = U32{ 8 },
                                    .mix_blocks = U32{ 0 },
                                    .shapes = { U32{ SHAPE }, U32{ SHAPE } },
                                    .types = { U32{ FLOAT }, U32{ FLOAT } },
                                    .formats = { U32{ ND }, U32{ ND } },
                                    .grid_dim = U32{ NAME_NA },
                                    .block_dim = U32{ NAME_NA } },
                           .tasks = { .n = 2,
                                      .global_id = U32{ 0, 1 },
                                      .device = U16{ 0, 0 },
                                      .stream = U16{ 3, 3 },
                                      .batch = U16{ 0, 0 },
                                      .task = U32{ 10, 11 },
                                      .context = U32{ UINT32_MAX, UINT32_MAX },
                                      .key = U64{ 10, 11 },
                                      .type = U32{ KERNEL_AICORE, KERNEL_AICORE },
                                      .kernel = U32{ ADD_1, ADD_1 },
                                      .connection = U32{ 1, 1 },
                                      .model = U32{ UINT32_MAX, UINT32_MAX },
                                      .request = I64{ -1, -1 },
                                      .time = U64{ 1350, 1360 },
                                      .thread = U32{ 22, 22 },
                                      .op = U32{ 0, 0 } },
                           .records = { .op_memory = { .n = 2,
                                                       .thread = U32{ 21, 21 },
                                                       .device = U32{ 0, 0 },
                                                       .device_type = U32{ 0, 0 },
                                                       .time = U64{ 2000, 2250 },
                                                       .addr = U64{ 1, 1 },
                                                       .name = U64{ HASH_CONV, HASH_CONV },
                                                       .allocated = U64{ 4 * MB, 3 * MB + MB / 2 },
                                                       .reserved = U64{ 8 * MB, 8 * MB },
                                                       .size = I64{ 524288, -524288 },
                                                       .lives = { 1, U32{ 0 }, U32{ 1 } } } } } },
    .kernels = { .n = 1,
                 .launch_ns = I64{ 2500 },
                 .launch_end_ns = I64{ 2600 },
                 .begin_ns = I64{ 6000 },
                 .end_ns = I64{ 8500 },
                 .dur_us = F64{ 2.5 },
                 .is_aicore = YES{ true },
                 .device = U32{ 0 },
                 .is_collective = YES{ false },
                 .track = U32{ 3 },
                 .name = U32{ ADD_1 } },
    .tree = { .by_begin = U32{ 0, 1, 2 },
              .parent = U32{ NO_ROW, 0, 1 },
              .self_ns = I64{ 16000, 3000, 1000 },
              .owner = U32{ 2 },
              .n_started = 1,
              .started = U32{ 0 },
              .first_started = U32{ 0, 0, 0, 1 },
              .in_order = U32{ 0 } },
    .steps = { .n = 1,
               .op = U32{ 0 },
               .id = U32{ TWO },
               .host_begin_ns = I64{ 0 },
               .host_end_ns = I64{ 20000 },
               .begin_ns = I64{ 6000 },
               .end_ns = I64{ 9000 },
               .has_work = YES{ true } },
    .lives = { 2, U32{ 0, 2 }, U32{ 1, NO_ROW }, U32{ NO_ROW, NO_ROW }, U32{ ATEN_ADD, ATEN_INNER }, NULL },
};

static int collection_make(void **state)
{
    struct profile *p = &collection.profile;
    p->names = names_new();
    p->mem = collection.mem = arena_new();
    if (!known_names_add(p->names))
        return -1;
    for (size_t i = 0; i < ROWS(texts); i++)
        if (names_addz(p->names, texts[i]) != NAMES_KNOWN + i)
            return -1;
    p->dictionary = (struct dictionary){ .names = p->names };
    dictionary_add(&p->dictionary, HASH_CONV, names_addz(p->names, "Conv"));
    p->chip = p->host.source.chip = device.source.chip = chip_of(5);
    device.source.settings = settings_of(NULL, NULL, p->mem);
    p->host.source.settings = settings_of(json_pack("{s:s, s:s}", "hostUid", "77", "hostname", "node-a"), NULL, p->mem);
    (void)state;
    return 0;
}

static int collection_free(void **state)
{
    struct profile *p = &collection.profile;
    dictionary_fini(&p->dictionary);
    arena_free(p->mem);
    names_free(p->names);
    (void)state;
    return 0;
}

static struct collection_export shown_as(const struct output_options *options)
{
    return (struct collection_export){ .collection = &collection,
                                       .framework = &collection.framework,
                                       .device = { .registry = &prof_registry,
                                                   .profile = &collection.profile,
                                                   .options = options,
                                                   .mem = collection.mem },
                                       .mem = collection.mem };
}

static bool table_build(const void *context, const char *table, struct table *out, struct error *e)
{
    const struct output_rows rows = framework_outputs(FRAMEWORK_PYTORCH);
    for (size_t i = 0; i < rows.n; i++)
        if (strcmp(rows.at[i].file, table) == 0)
            return rows.at[i].build(context, out, e);
    return error_set(e, FAULT_ASKED, "there is no such table");
}

/* clang-format off */
static void tables_as_current_releases_show_them(void **state)
{
    static const struct wanted_cell wanted[] = {
        { "kernel_details.csv", 0, "Step Id", "2" },
        { "kernel_details.csv", 0, "Device_id", "0" },
        { "kernel_details.csv", 0, "Model ID", "4294967295" },
        { "kernel_details.csv", 0, "Task ID", "10" },
        { "kernel_details.csv", 0, "Stream ID", "3" },
        { "kernel_details.csv", 0, "Name", "Add_1" },
        { "kernel_details.csv", 0, "Type", "Add" },
        { "kernel_details.csv", 0, "OP State", "static" },
        { "kernel_details.csv", 0, "Accelerator Core", "AI_VECTOR_CORE" },
        { "kernel_details.csv", 0, "Start Time(us)", "6.000\t" },
        { "kernel_details.csv", 0, "Duration(us)", "2.500" },
        { "kernel_details.csv", 0, "Wait Time(us)", "0" },
        { "kernel_details.csv", 0, "Block Num", "8" },
        { "kernel_details.csv", 0, "Mix Block Num", "0" },
        { "kernel_details.csv", 0, "HF32 Eligible", "NO" },
        { "kernel_details.csv", 0, "Input Shapes", "\"\"\"2,3\"\"\"" },
        { "kernel_details.csv", 0, "Input Data Types", "FLOAT" },
        { "kernel_details.csv", 0, "Input Formats", "ND" },
        { "kernel_details.csv", 0, "Output Shapes", "\"\"\"2,3\"\"\"" },
        { "kernel_details.csv", 0, "Output Data Types", "FLOAT" },
        { "kernel_details.csv", 0, "Output Formats", "ND" },
        { "kernel_details.csv", 0, "Context ID", "N/A" },
        { "kernel_details.csv", 1, "Step Id", "" },
        { "kernel_details.csv", 1, "Device_id", "0" },
        { "kernel_details.csv", 1, "Task ID", "11" },
        { "kernel_details.csv", 1, "Start Time(us)", "30.000\t" },
        { "kernel_details.csv", 1, "Duration(us)", "1.000" },
        { "kernel_details.csv", 1, "Wait Time(us)", "21.500000" },
        { "operator_details.csv", 0, "Name", "aten::add" },
        { "operator_details.csv", 0, "Input Shapes", "2;3" },
        { "operator_details.csv", 0, "Call Stack", "a.py(3): f" },
        { "operator_details.csv", 0, "Host Self Duration(us)", "3.0" },
        { "operator_details.csv", 0, "Host Total Duration(us)", "4.0" },
        { "operator_details.csv", 0, "Device Self Duration(us)", "0" },
        { "operator_details.csv", 0, "Device Total Duration(us)", "2.5" },
        { "operator_details.csv", 0, "Device Self Duration With AICore(us)", "0" },
        { "operator_details.csv", 0, "Device Total Duration With AICore(us)", "2.5" },
        { "operator_details.csv", 1, "Name", "aten::inner" },
        { "operator_details.csv", 1, "Input Shapes", "" },
        { "operator_details.csv", 1, "Call Stack", "" },
        { "operator_details.csv", 1, "Host Self Duration(us)", "1.0" },
        { "operator_details.csv", 1, "Host Total Duration(us)", "1.0" },
        { "operator_details.csv", 1, "Device Self Duration(us)", "2.5" },
        { "operator_details.csv", 1, "Device Total Duration(us)", "2.5" },
        { "operator_details.csv", 1, "Device Self Duration With AICore(us)", "2.5" },
        { "operator_details.csv", 1, "Device Total Duration With AICore(us)", "2.5" },
        { "step_trace_time.csv", 0, "Device_id", "0" },
        { "step_trace_time.csv", 0, "Step", "2" },
        { "step_trace_time.csv", 0, "Computing", "2.5" },
        { "step_trace_time.csv", 0, "Communication(Not Overlapped)", "0.5" },
        { "step_trace_time.csv", 0, "Overlapped", "0.5" },
        { "step_trace_time.csv", 0, "Communication", "1.0" },
        { "step_trace_time.csv", 0, "Free", "0" },
        { "step_trace_time.csv", 0, "Stage", "3.0" },
        { "step_trace_time.csv", 0, "Bubble", "0" },
        { "step_trace_time.csv", 0, "Communication(Not Overlapped and Exclude Receive)", "0.5" },
        { "step_trace_time.csv", 0, "Preparing", "6.0" },
        { "memory_record.csv", 0, "Component", "APP" },
        { "memory_record.csv", 0, "Timestamp(us)", "1.500\t" },
        { "memory_record.csv", 0, "Total Allocated(MB)", "" },
        { "memory_record.csv", 0, "Total Reserved(MB)", "2.0" },
        { "memory_record.csv", 0, "Total Active(MB)", "" },
        { "memory_record.csv", 0, "Stream Ptr", "" },
        { "memory_record.csv", 0, "Device Type", "NPU:0" },
        { "memory_record.csv", 1, "Component", "PTA" },
        { "memory_record.csv", 1, "Timestamp(us)", "1.000\t" },
        { "memory_record.csv", 1, "Total Allocated(MB)", "1.0" },
        { "memory_record.csv", 1, "Total Reserved(MB)", "2.0" },
        { "memory_record.csv", 1, "Total Active(MB)", "1.5" },
        { "memory_record.csv", 1, "Stream Ptr", "5" },
        { "memory_record.csv", 1, "Device Type", "NPU:0" },
        { "memory_record.csv", 2, "Component", "PTA+GE" },
        { "memory_record.csv", 2, "Timestamp(us)", "1.000\t" },
        { "memory_record.csv", 2, "Total Allocated(MB)", "1.0" },
        { "memory_record.csv", 2, "Total Reserved(MB)", "2.0" },
        { "memory_record.csv", 2, "Total Active(MB)", "1.5" },
        { "memory_record.csv", 2, "Stream Ptr", "5" },
        { "memory_record.csv", 2, "Device Type", "NPU:0" },
        { "memory_record.csv", 3, "Component", "GE" },
        { "memory_record.csv", 3, "Timestamp(us)", "2.000\t" },
        { "memory_record.csv", 3, "Total Allocated(MB)", "4.0" },
        { "memory_record.csv", 3, "Total Reserved(MB)", "8.0" },
        { "memory_record.csv", 3, "Total Active(MB)", "" },
        { "memory_record.csv", 3, "Stream Ptr", "" },
        { "memory_record.csv", 3, "Device Type", "NPU:0" },
        { "memory_record.csv", 4, "Component", "PTA+GE" },
        { "memory_record.csv", 4, "Timestamp(us)", "2.000\t" },
        { "memory_record.csv", 4, "Total Allocated(MB)", "5.0" },
        { "memory_record.csv", 4, "Total Reserved(MB)", "10.0" },
        { "memory_record.csv", 4, "Total Active(MB)", "1.5" },
        { "memory_record.csv", 4, "Stream Ptr", "5" },
        { "memory_record.csv", 4, "Device Type", "NPU:0" },
        { "memory_record.csv", 5, "Component", "GE" },
        { "memory_record.csv", 5, "Timestamp(us)", "2.250\t" },
        { "memory_record.csv", 5, "Total Allocated(MB)", "3.5" },
        { "memory_record.csv", 6, "Component", "PTA+GE" },
        { "memory_record.csv", 6, "Timestamp(us)", "2.250\t" },
        { "memory_record.csv", 6, "Total Allocated(MB)", "4.5" },
        { "memory_record.csv", 6, "Total Reserved(MB)", "10.0" },
        { "memory_record.csv", 6, "Total Active(MB)", "1.5" },
        { "memory_record.csv", 6, "Stream Ptr", "5" },
        { "memory_record.csv", 7, "Component", "PTA" },
        { "memory_record.csv", 7, "Timestamp(us)", "4.000\t" },
        { "memory_record.csv", 7, "Total Allocated(MB)", "0.5" },
        { "memory_record.csv", 7, "Total Reserved(MB)", "2.0" },
        { "memory_record.csv", 7, "Total Active(MB)", "0.5" },
        { "memory_record.csv", 7, "Stream Ptr", "0" },
        { "memory_record.csv", 8, "Component", "PTA+GE" },
        { "memory_record.csv", 8, "Timestamp(us)", "4.000\t" },
        { "memory_record.csv", 8, "Total Allocated(MB)", "4.0" },
        { "memory_record.csv", 8, "Total Reserved(MB)", "10.0" },
        { "memory_record.csv", 8, "Total Active(MB)", "0.5" },
        { "memory_record.csv", 8, "Stream Ptr", "" },
        { "memory_record.csv", 9, "Component", "WORKSPACE" },
        { "memory_record.csv", 9, "Timestamp(us)", "5.000\t" },
        { "memory_record.csv", 9, "Total Allocated(MB)", "3.0" },
        { "memory_record.csv", 9, "Total Reserved(MB)", "3.0" },
        { "memory_record.csv", 9, "Total Active(MB)", "3.0" },
        { "memory_record.csv", 9, "Stream Ptr", "6" },
        { "memory_record.csv", 9, "Device Type", "NPU:0" },
        { "operator_memory.csv", 0, "Name", "aten::add" },
        { "operator_memory.csv", 0, "Size(KB)", "1.0" },
        { "operator_memory.csv", 0, "Allocation Time(us)", "1.000\t" },
        { "operator_memory.csv", 0, "Release Time(us)", "4.000\t" },
        { "operator_memory.csv", 0, "Active Release Time(us)", "" },
        { "operator_memory.csv", 0, "Duration(us)", "3.000\t" },
        { "operator_memory.csv", 0, "Active Duration(us)", "" },
        { "operator_memory.csv", 0, "Allocation Total Allocated(MB)", "1.0" },
        { "operator_memory.csv", 0, "Allocation Total Reserved(MB)", "2.0" },
        { "operator_memory.csv", 0, "Allocation Total Active(MB)", "1.5" },
        { "operator_memory.csv", 0, "Release Total Allocated(MB)", "0.5" },
        { "operator_memory.csv", 0, "Release Total Reserved(MB)", "2.0" },
        { "operator_memory.csv", 0, "Release Total Active(MB)", "0.5" },
        { "operator_memory.csv", 0, "Stream Ptr", "5" },
        { "operator_memory.csv", 0, "Device Type", "NPU:0" },
        { "operator_memory.csv", 1, "Name", "aten::inner" },
        { "operator_memory.csv", 1, "Size(KB)", "2.0" },
        { "operator_memory.csv", 1, "Allocation Time(us)", "5.000\t" },
        { "operator_memory.csv", 1, "Release Time(us)", "" },
        { "operator_memory.csv", 1, "Active Release Time(us)", "" },
        { "operator_memory.csv", 1, "Duration(us)", "" },
        { "operator_memory.csv", 1, "Active Duration(us)", "" },
        { "operator_memory.csv", 1, "Allocation Total Allocated(MB)", "3.0" },
        { "operator_memory.csv", 1, "Allocation Total Reserved(MB)", "3.0" },
        { "operator_memory.csv", 1, "Allocation Total Active(MB)", "3.0" },
        { "operator_memory.csv", 1, "Release Total Allocated(MB)", "" },
        { "operator_memory.csv", 1, "Release Total Reserved(MB)", "" },
        { "operator_memory.csv", 1, "Release Total Active(MB)", "" },
        { "operator_memory.csv", 1, "Stream Ptr", "6" },
        { "operator_memory.csv", 1, "Device Type", "NPU:0" },
        { "operator_memory.csv", 2, "Name", "cann::Conv" },
        { "operator_memory.csv", 2, "Size(KB)", "512.0" },
        { "operator_memory.csv", 2, "Allocation Time(us)", "2.000\t" },
        { "operator_memory.csv", 2, "Release Time(us)", "2.250\t" },
        { "operator_memory.csv", 2, "Active Release Time(us)", "" },
        { "operator_memory.csv", 2, "Duration(us)", "0.25" },
        { "operator_memory.csv", 2, "Active Duration(us)", "" },
        { "operator_memory.csv", 2, "Allocation Total Allocated(MB)", "4.0" },
        { "operator_memory.csv", 2, "Allocation Total Reserved(MB)", "8.0" },
        { "operator_memory.csv", 2, "Allocation Total Active(MB)", "" },
        { "operator_memory.csv", 2, "Release Total Allocated(MB)", "3.5" },
        { "operator_memory.csv", 2, "Release Total Reserved(MB)", "8.0" },
        { "operator_memory.csv", 2, "Release Total Active(MB)", "" },
        { "operator_memory.csv", 2, "Stream Ptr", "" },
        { "operator_memory.csv", 2, "Device Type", "NPU:0" },
        { "npu_module_mem.csv", 0, "Device_id", "0" },
        { "npu_module_mem.csv", 0, "Component", "HCCL" },
        { "npu_module_mem.csv", 0, "Timestamp(us)", "2.000\t" },
        { "npu_module_mem.csv", 0, "Total Reserved(MB)", "3.0" },
        { "npu_module_mem.csv", 0, "Device", "NPU:0" },
    };
    const struct collection_export x = shown_as(&current);
    cells_check(table_build, &x, wanted, ROWS(wanted));
    (void)state;
}

static void tables_as_documented_at_level0(void **state)
{
    static const struct wanted_cell wanted[] = {
        { "kernel_details.csv", 0, "Step Id", "2" },
        { "kernel_details.csv", 0, "Name", "Add_1" },
        { "kernel_details.csv", 0, "Type", "Add" },
        { "kernel_details.csv", 0, "Accelerator Core", "AI_VECTOR_CORE" },
        { "kernel_details.csv", 0, "Start Time(us)", "6.000\t" },
        { "kernel_details.csv", 0, "Duration(us)", "2.500" },
        { "kernel_details.csv", 0, "Wait Time(us)", "0" },
        { "kernel_details.csv", 0, "Block Dim", "8" },
        { "step_trace_time.csv", 0, "Step", "2" },
        { "step_trace_time.csv", 0, "Computing", "2.5" },
        { "step_trace_time.csv", 0, "Communication(Not Overlapped)", "0.5" },
        { "step_trace_time.csv", 0, "Overlapped", "0.5" },
        { "step_trace_time.csv", 0, "Communication", "1.0" },
        { "step_trace_time.csv", 0, "Free", "0" },
        { "step_trace_time.csv", 0, "Stage", "3.0" },
        { "step_trace_time.csv", 0, "Bubble", "0" },
        { "step_trace_time.csv", 0, "Communication(Not Overlapped and Exclude Receive)", "0.5" },
        { "step_trace_time.csv", 0, "Preparing", "6.0" },
        { "npu_module_mem.csv", 0, "Component", "HCCL" },
        { "npu_module_mem.csv", 0, "Timestamp(us)", "2.000\t" },
        { "npu_module_mem.csv", 0, "Total Reserved(MB)", "3.0" },
        { "npu_module_mem.csv", 0, "Device", "NPU:0" },
    };
    const struct collection_export x = shown_as(&documented);
    collection.settings.level = PROFILER_LEVEL0;
    cells_check(table_build, &x, wanted, ROWS(wanted));
    collection.settings.level = PROFILER_LEVEL1;
    (void)state;
}

static void receives_that_computing_overlaps_leave_no_communication(void **state)
{
    static const struct {
        const char *what;
        int64_t end_ns;
        struct wanted_cell wanted[3];
    } row[] = {
        { "shorter than what is exposed",
          8200,
          { { "s", 0, "Bubble", "0.200" },
            { "s", 0, "Communication(Not Overlapped)", "0.500" },
            { "s", 0, "Communication(Not Overlapped and Exclude Receive)", "0.300" } } },
        { "longer",
          9000,
          { { "s", 0, "Bubble", "1.000" },
            { "s", 0, "Communication(Not Overlapped)", "0.500" },
            { "s", 0, "Communication(Not Overlapped and Exclude Receive)", "0.000" } } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct device one = device;
        struct collection s = collection;
        one.comm.ops = (struct comm_ops){ .n = 1, .begin_ns = I64{ 8000 }, .end_ns = (int64_t[]){ row[i].end_ns } };
        one.comm.ops.is_shown = YES{ true };
        one.comm.ops.name = (name_id[]){ names_addz(s.profile.names, "hcom_receive__1") };
        s.profile.device = &one;
        struct collection_export x = shown_as(&documented);
        x.collection = &s;
        print_message("  %s\n", row[i].what);
        struct table t = { 0 };
        struct error e = { 0 };
        assert_true(ms_step_trace_table(&x, &t, &e));
        for (size_t k = 0; k < ROWS(row[i].wanted); k++)
            assert_int_equal(cell_check(&t, &row[i].wanted[k]), 0);
    }
    (void)state;
}

static void tables_of_the_database(void **state)
{
    static const struct wanted_cell wanted[] = {
        { "PYTORCH_API", 0, "startNs", "800" },
        { "PYTORCH_API", 0, "endNs", "900" },
        { "PYTORCH_API", 0, "globalTid", "30064771093" },
        { "PYTORCH_API", 0, "connectionId", "NULL" },
        { "PYTORCH_API", 0, "name", "'a.py(1): main" },
        { "PYTORCH_API", 0, "sequenceNumber", "NULL" },
        { "PYTORCH_API", 0, "fwdThreadId", "NULL" },
        { "PYTORCH_API", 0, "inputDtypes", "NULL" },
        { "PYTORCH_API", 0, "inputShapes", "NULL" },
        { "PYTORCH_API", 0, "callchainId", "NULL" },
        { "PYTORCH_API", 0, "type", "50003" },
        { "PYTORCH_API", 1, "startNs", "1100" },
        { "PYTORCH_API", 1, "endNs", "1200" },
        { "PYTORCH_API", 1, "globalTid", "30064771093" },
        { "PYTORCH_API", 1, "connectionId", "1" },
        { "PYTORCH_API", 1, "name", "'Enqueue@Add" },
        { "PYTORCH_API", 1, "sequenceNumber", "NULL" },
        { "PYTORCH_API", 1, "fwdThreadId", "NULL" },
        { "PYTORCH_API", 1, "inputDtypes", "NULL" },
        { "PYTORCH_API", 1, "inputShapes", "NULL" },
        { "PYTORCH_API", 1, "callchainId", "NULL" },
        { "PYTORCH_API", 1, "type", "50002" },
        { "PYTORCH_API", 2, "startNs", "1300" },
        { "PYTORCH_API", 2, "endNs", "1400" },
        { "PYTORCH_API", 2, "globalTid", "30064771094" },
        { "PYTORCH_API", 2, "connectionId", "0" },
        { "PYTORCH_API", 2, "name", "'Dequeue@Add" },
        { "PYTORCH_API", 2, "sequenceNumber", "NULL" },
        { "PYTORCH_API", 2, "fwdThreadId", "NULL" },
        { "PYTORCH_API", 2, "inputDtypes", "NULL" },
        { "PYTORCH_API", 2, "inputShapes", "NULL" },
        { "PYTORCH_API", 2, "callchainId", "NULL" },
        { "PYTORCH_API", 2, "type", "50002" },
        { "PYTORCH_API", 4, "startNs", "1000" },
        { "PYTORCH_API", 4, "endNs", "5000" },
        { "PYTORCH_API", 4, "globalTid", "30064771093" },
        { "PYTORCH_API", 4, "name", "'aten::add" },
        { "PYTORCH_API", 4, "sequenceNumber", "9" },
        { "PYTORCH_API", 4, "fwdThreadId", "0" },
        { "PYTORCH_API", 4, "inputDtypes", "'float" },
        { "PYTORCH_API", 4, "inputShapes", "'2;3" },
        { "PYTORCH_API", 4, "callchainId", "0" },
        { "PYTORCH_API", 4, "type", "50001" },
        { "GC_RECORD", 0, "startNs", "100" },
        { "GC_RECORD", 0, "endNs", "200" },
        { "GC_RECORD", 0, "globalTid", "30064771079" },
        { "STEP_TIME", 0, "id", "2" },
        { "STEP_TIME", 0, "startNs", "0" },
        { "STEP_TIME", 0, "endNs", "20000" },
        { "MEMORY_RECORD", 0, "component", "'PTA" },
        { "MEMORY_RECORD", 0, "timestamp", "1000" },
        { "MEMORY_RECORD", 0, "totalAllocated", "1048576" },
        { "MEMORY_RECORD", 0, "totalReserved", "2097152" },
        { "MEMORY_RECORD", 0, "totalActive", "1572864" },
        { "MEMORY_RECORD", 0, "streamPtr", "5" },
        { "MEMORY_RECORD", 0, "deviceId", "0" },
        { "MEMORY_RECORD", 2, "component", "'GE" },
        { "MEMORY_RECORD", 2, "timestamp", "2000" },
        { "MEMORY_RECORD", 2, "totalAllocated", "4194304" },
        { "MEMORY_RECORD", 2, "totalReserved", "8388608" },
        { "MEMORY_RECORD", 2, "totalActive", "0" },
        { "MEMORY_RECORD", 2, "streamPtr", "NULL" },
        { "MEMORY_RECORD", 2, "deviceId", "0" },
        { "MEMORY_RECORD", 3, "component", "'PTA+GE" },
        { "MEMORY_RECORD", 3, "timestamp", "2000" },
        { "MEMORY_RECORD", 3, "totalAllocated", "5242880" },
        { "MEMORY_RECORD", 3, "totalReserved", "10485760" },
        { "MEMORY_RECORD", 3, "totalActive", "1572864" },
        { "MEMORY_RECORD", 3, "streamPtr", "5" },
        { "MEMORY_RECORD", 3, "deviceId", "0" },
        { "MEMORY_RECORD", 7, "component", "'PTA+GE" },
        { "MEMORY_RECORD", 7, "timestamp", "4000" },
        { "MEMORY_RECORD", 7, "totalAllocated", "4194304" },
        { "MEMORY_RECORD", 7, "totalReserved", "10485760" },
        { "MEMORY_RECORD", 7, "totalActive", "524288" },
        { "MEMORY_RECORD", 7, "streamPtr", "NULL" },
        { "MEMORY_RECORD", 7, "deviceId", "0" },
        { "MEMORY_RECORD", 8, "component", "'WORKSPACE" },
        { "MEMORY_RECORD", 8, "timestamp", "5000" },
        { "MEMORY_RECORD", 8, "totalAllocated", "3145728" },
        { "MEMORY_RECORD", 8, "totalReserved", "3145728" },
        { "MEMORY_RECORD", 8, "totalActive", "3145728" },
        { "MEMORY_RECORD", 8, "streamPtr", "6" },
        { "MEMORY_RECORD", 8, "deviceId", "0" },
        { "OP_MEMORY", 0, "name", "'aten::add" },
        { "OP_MEMORY", 0, "size", "1024" },
        { "OP_MEMORY", 0, "allocationTime", "1000" },
        { "OP_MEMORY", 0, "releaseTime", "4000" },
        { "OP_MEMORY", 0, "activeReleaseTime", "NULL" },
        { "OP_MEMORY", 0, "duration", "3000" },
        { "OP_MEMORY", 0, "activeDuration", "NULL" },
        { "OP_MEMORY", 0, "allocationTotalAllocated", "1048576" },
        { "OP_MEMORY", 0, "allocationTotalReserved", "2097152" },
        { "OP_MEMORY", 0, "allocationTotalActive", "1572864" },
        { "OP_MEMORY", 0, "releaseTotalAllocated", "524288" },
        { "OP_MEMORY", 0, "releaseTotalReserved", "2097152" },
        { "OP_MEMORY", 0, "releaseTotalActive", "524288" },
        { "OP_MEMORY", 0, "streamPtr", "5" },
        { "OP_MEMORY", 0, "deviceId", "0" },
        { "OP_MEMORY", 1, "name", "'aten::inner" },
        { "OP_MEMORY", 1, "size", "2048" },
        { "OP_MEMORY", 1, "allocationTime", "5000" },
        { "OP_MEMORY", 1, "releaseTime", "NULL" },
        { "OP_MEMORY", 1, "activeReleaseTime", "NULL" },
        { "OP_MEMORY", 1, "duration", "NULL" },
        { "OP_MEMORY", 1, "activeDuration", "NULL" },
        { "OP_MEMORY", 1, "allocationTotalAllocated", "3145728" },
        { "OP_MEMORY", 1, "allocationTotalReserved", "3145728" },
        { "OP_MEMORY", 1, "allocationTotalActive", "3145728" },
        { "OP_MEMORY", 1, "releaseTotalAllocated", "NULL" },
        { "OP_MEMORY", 1, "releaseTotalReserved", "NULL" },
        { "OP_MEMORY", 1, "releaseTotalActive", "NULL" },
        { "OP_MEMORY", 1, "streamPtr", "6" },
        { "OP_MEMORY", 1, "deviceId", "0" },
        { "OP_MEMORY", 2, "name", "'Conv" },
        { "OP_MEMORY", 2, "size", "524288" },
        { "OP_MEMORY", 2, "allocationTime", "2000" },
        { "OP_MEMORY", 2, "releaseTime", "2250" },
        { "OP_MEMORY", 2, "activeReleaseTime", "NULL" },
        { "OP_MEMORY", 2, "duration", "250" },
        { "OP_MEMORY", 2, "activeDuration", "NULL" },
        { "OP_MEMORY", 2, "allocationTotalAllocated", "4194304" },
        { "OP_MEMORY", 2, "allocationTotalReserved", "8388608" },
        { "OP_MEMORY", 2, "allocationTotalActive", "NULL" },
        { "OP_MEMORY", 2, "releaseTotalAllocated", "3670016" },
        { "OP_MEMORY", 2, "releaseTotalReserved", "8388608" },
        { "OP_MEMORY", 2, "releaseTotalActive", "NULL" },
        { "OP_MEMORY", 2, "streamPtr", "NULL" },
        { "OP_MEMORY", 2, "deviceId", "0" },
        { "RANK_DEVICE_MAP", 0, "rankId", "3" },
        { "RANK_DEVICE_MAP", 0, "deviceId", "0" },
        { "NPU_INFO", 0, "id", "0" },
        { "NPU_INFO", 0, "name", "Ascend910B" },
        { "SESSION_TIME_INFO", 0, "startTimeNs", "0" },
        { "SESSION_TIME_INFO", 0, "endTimeNs", "40000" },
        { "HOST_INFO", 0, "hostUid", "77" },
        { "HOST_INFO", 0, "hostName", "node-a" },
        { "META_DATA", 0, "name", "SCHEMA_VERSION" },
        { "META_DATA", 0, "value", "1.2.0" },
    };
    const struct collection_export x = shown_as(&current);
    const char *path = folder_path("a.db");
    struct error e = { 0 };
    uint64_t n;
    if (!pytorch_db_write(&x, path, &n, &e))
        fail_msg("%s", e.text);
    db_cells_check(path, wanted, ROWS(wanted));
    (void)state;
}
/* clang-format on */

/* Two devices with two communicators each: rows of collectives are counted on from device to device, unless the older
 * presentation counts them for each. A communicator has a row for its operators and one for each plane up to its last. */
static void kernels_are_where_their_tracks_are(void **state)
{
    static const struct {
        const char *what;
        int platform;
        struct place place[5];
    } row[] = {
        { "in the newer presentation",
          5,
          { { 7 << 10 | 14 << 5 | 0, 3 },
            { 7 << 10 | 16 << 5 | 0, 0 },
            { 7 << 10 | 16 << 5 | 0, 2 },
            { 7 << 10 | 16 << 5 | 3, 7 },
            { 7 << 10 | 14 << 5 | 3, 9 } } },
        { "in the older one",
          2,
          { { 7 << 10 | 14 << 5 | 0, 3 },
            { 7 << 10 | 17 << 5 | 0, 0 },
            { 7 << 10 | 17 << 5 | 0, 2 },
            { 7 << 10 | 17 << 5 | 3, 2 },
            { 7 << 10 | 14 << 5 | 3, 9 } } },
    };
    struct communication comm = { .tasks = { .n = 2, .group = U32{ ND, FLOAT }, .plane = I32{ 1, 0 } },
                                  .ops = { .n = 2, .group = U32{ FLOAT, ND } } };
    struct device devices[] = { { .source = { .device = 0, .pid = 7 }, .comm = comm },
                                { .source = { .device = 3, .pid = 7 }, .comm = comm } };
    const struct kernels k = { .n = 5,
                               .device = U32{ 0, 0, 0, 1, 1 },
                               .is_collective = YES{ false, true, true, true, false },
                               .track = U32{ 3, FLOAT, ND, ND, 9 } };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct profile p = { .chip = chip_of(row[i].platform),
                             .names = collection.profile.names,
                             .device = devices,
                             .n_devices = ROWS(devices) };
        struct arena *mem = arena_new();
        struct kernel_places places;
        print_message("  %s\n", row[i].what);
        assert_true(kernel_places_take(&places, &p, mem));
        for (size_t n = 0; n < k.n; n++) {
            const struct place at = kernel_place(&places, &k, n);
            assert_int_equal(at.pid, row[i].place[n].pid);
            assert_int_equal(at.tid, row[i].place[n].tid);
        }
        arena_free(mem);
    }
    (void)state;
}

static bool ms_memory_build(const void *context, const char *table, struct table *out, struct error *e)
{
    (void)table;
    return ms_memory_record(context, out, e);
}

/* 1437256881 bytes of MindSpore and 12923.201 KB of graphs are 1416.4943738515625 MB, and the double nearest to that is
 * a little less. */
static void memory_of_mindspore_is_exact_to_the_last_digit(void **state)
{
    static const struct wanted_cell wanted[] = {
        { "memory_record", 0, "Component", "GE" },
        { "memory_record", 0, "Timestamp(us)", "2.000\t" },
        { "memory_record", 0, "Total Allocated(MB)", "12.923201" },
        { "memory_record", 0, "Total Reserved(MB)", "12.923201" },
        { "memory_record", 0, "Total Active(MB)", "0.0" },
        { "memory_record", 0, "Device Type", "NPU:0" },
        { "memory_record", 2, "Component", "MindSpore" },
        { "memory_record", 2, "Timestamp(us)", "3" },
        { "memory_record", 2, "Total Allocated(MB)", "1403.5711728515626" },
        { "memory_record", 3, "Component", "MindSpore+GE" },
        { "memory_record", 3, "Total Allocated(MB)", "1416.4943738515624" },
        { "memory_record", 3, "Device Type", "NPU:3" },
    };
    struct collection ms = collection;
    struct collection_export x = shown_as(&current);
    ms.framework_id = FRAMEWORK_MINDSPORE;
    ms.framework.ms.totals =
        (struct ms_memory_totals){ 1, I64{ 3000 }, U64{ 1437256881 }, U64{ 1437256881 }, U64{ 0 } };
    struct op_memory *const graphs = &ms.profile.host.records.op_memory;
    graphs->n = 1;
    graphs->allocated = graphs->reserved = U64{ 13233358 };
    x.collection = &ms;
    x.framework = &ms.framework;
    x.device.profile = &ms.profile;
    x.device.is_generic = true;
    cells_check(ms_memory_build, &x, wanted, ROWS(wanted));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_as_current_releases_show_them),
        cmocka_unit_test(tables_as_documented_at_level0),
        cmocka_unit_test(kernels_are_where_their_tracks_are),
        cmocka_unit_test(memory_of_mindspore_is_exact_to_the_last_digit),
        cmocka_unit_test(receives_that_computing_overlaps_leave_no_communication),
        cmocka_unit_test_setup_teardown(tables_of_the_database, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, collection_make, collection_free);
}
