/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/sql_schema.h"

#include <string.h>

const char *const sql_type_names[] = { "TEXT", "INTEGER", "REAL" };

/* clang-format off */
#define OF_RUN                                                                                                         \
    [RUN_RUN] = { "run", SQL_TEXT, "", "the recording: the last part of its path, as it was given" },  \
    [RUN_RANK] = { "rank", SQL_INTEGER, "", "number in the job; NULL: unknown" },                                     \
    [RUN_DEVICE] = { "device", SQL_INTEGER, "", "number of the device; NULL: unknown, or the host" }
#define WORK(what, track)                                                                                              \
    OF_RUN, [WORK_NAME] = { "name", SQL_TEXT, "", what },                                                              \
    [WORK_BEGIN] = { "begin_ns", SQL_INTEGER, "ns", "begin, by the clock of its machine, since 1970" },               \
    [WORK_DUR] = { "dur_ns", SQL_INTEGER, "ns", "duration" },                                                          \
    [WORK_TRACK] = track

static const struct sql_column ranks_columns[RANKS_COLUMNS] = {
    OF_RUN,
    [RANKS_PATH] = { "path", SQL_TEXT, "", "directory or file with its data" },
    [RANKS_KIND] = { "kind", SQL_TEXT, "", "npu, gpu, or host: no device was recorded" },
    [RANKS_STEPS] = { "n_steps", SQL_INTEGER, "", "steps that were recorded" },
    [RANKS_STEP] = { "median_step_ns", SQL_INTEGER, "ns", "time of the median step; NULL: there are no steps" },
    [RANKS_KERNELS] = { "n_kernels", SQL_INTEGER, "", "kernels of the recording" },
    [RANKS_SIMULATED] = { "is_simulated", SQL_INTEGER, "", "1: the data is not from a real device" },
};

static const struct sql_column steps_columns[STEPS_COLUMNS] = {
    OF_RUN,
    [STEPS_NAME] = { "name", SQL_TEXT, "", "number or name of the step" },
    [STEPS_BEGIN] = { "begin_ns", SQL_INTEGER, "ns", "begin, by the clock of its machine, since 1970" },
    [STEPS_DUR] = { "dur_ns", SQL_INTEGER, "ns", "duration: the sum of the next four" },
    [STEPS_COMPUTING] = { "computing_ns", SQL_INTEGER, "ns",
        "kernels run and nothing is communicated; without a device: operators" },
    [STEPS_OVERLAPPED] = { "overlapped_ns", SQL_INTEGER, "ns", "computing and communication at the same time" },
    [STEPS_COMMUNICATION] = { "communication_ns", SQL_INTEGER, "ns",
        "exposed communication: no kernel runs meanwhile" },
    [STEPS_FREE] = { "free_ns", SQL_INTEGER, "ns", "the device has nothing to do" },
    [STEPS_SLOW] = { "is_slow", SQL_INTEGER, "", "1: slow against the usual steps, as ascope why judges it" },
    [STEPS_START_UP] = { "is_start_up", SQL_INTEGER, "",
        "1: a step at the begin that takes longer, which is no fault" },
};

#define STREAM { "stream", SQL_INTEGER, "", "of the device; NULL: unknown" }
#define GROUP { "process_group", SQL_TEXT, "", "group of ranks that communicates; NULL: unknown" }
#define THREAD { "thread", SQL_TEXT, "", "thread of the host: its number, or its name in a trace" }
#define STEP_OF(which) [WORK_STEP] = { "step", SQL_TEXT, "", "name of the step " which "; NULL: none" }
#define LAUNCH { "launch_ns", SQL_INTEGER, "ns", "begin of the call of the host that launched it; NULL: unknown" }
#define OPERATOR { "operator", SQL_TEXT, "", "operator of the framework that launched it; NULL: unknown" }

static const struct sql_column kernels_columns[KERNELS_COLUMNS] = {
    WORK("name of the kernel", STREAM), STEP_OF("that launched it"),
    [KERNELS_OPERATOR] = OPERATOR,
    [KERNELS_TYPE] = { "type", SQL_TEXT, "", "type of its operator on the device, or else its name" },
    [KERNELS_CORES] = { "cores", SQL_TEXT, "",
        "of an NPU: the cores that ran it, such as AI_CORE or AI_CPU; NULL: unknown" },
    [KERNELS_BLOCKS] = { "blocks", SQL_INTEGER, "", "blocks that it was launched with; NULL: unknown" },
    [KERNELS_LAUNCH] = LAUNCH,
};
static const struct sql_column collectives_columns[COLLECTIVES_COLUMNS] = {
    WORK("name of the collective", GROUP), STEP_OF("that launched it"),
    [COLLECTIVES_KIND] = { "kind", SQL_TEXT, "",
        "allreduce, allgather, reducescatter, alltoall, broadcast, send, recv, …; NULL: unknown" },
    [COLLECTIVES_ELEMENTS] = { "elements", SQL_INTEGER, "", "elements of the message; NULL: unknown" },
    [COLLECTIVES_BYTES] = { "bytes", SQL_INTEGER, "bytes", "size of the message; NULL: unknown" },
    [COLLECTIVES_RANKS] = { "n_ranks", SQL_INTEGER, "", "ranks of its group; NULL: unknown" },
};
static const struct sql_column copies_columns[COPIES_COLUMNS] = {
    WORK("name of the copy", STREAM), STEP_OF("that launched it"),
    [COPIES_OPERATOR] = OPERATOR,
    [COPIES_BYTES] = { "bytes", SQL_INTEGER, "bytes", "size; NULL: unknown" },
    [COPIES_DIRECTION] = { "direction", SQL_TEXT, "", "to device, to host; NULL: within a device, or unknown" },
    [COPIES_LAUNCH] = LAUNCH,
};
static const struct sql_column calls_columns[HOST_COLUMNS] = {
    WORK("function of the vendor's libraries", THREAD), STEP_OF("during which it began"),
};
static const struct sql_column operators_columns[HOST_COLUMNS] = {
    WORK("operator of the framework, on the host", THREAD), STEP_OF("during which it began"),
};
static const struct sql_column ranges_columns[HOST_COLUMNS] = {
    WORK("range that the user or a library marked", THREAD), STEP_OF("during which it began"),
};
static const struct sql_column python_columns[HOST_COLUMNS] = {
    WORK("Python function", THREAD), STEP_OF("during which it began"),
};
static const struct sql_column memory_columns[MEMORY_COLUMNS] = {
    OF_RUN,
    [MEMORY_NAME] = { "name", SQL_TEXT, "", "operator that allocated the block; NULL: unknown" },
    [MEMORY_ALLOCATOR] = { "allocator", SQL_TEXT, "", "where it lies: NPU 0, GPU 0, CPU" },
    [MEMORY_BYTES] = { "bytes", SQL_INTEGER, "bytes", "size" },
    [MEMORY_BEGIN] = { "begin_ns", SQL_INTEGER, "ns", "allocated, by the clock of its machine, since 1970" },
    [MEMORY_END] = { "end_ns", SQL_INTEGER, "ns", "released; NULL: not released" },
};

/* Of the timeline: in the order of the cells in view/rows/slices_table.c. */
#define NAMED(what) { "name", SQL_TEXT, "", what }
#define CATEGORY { "category", SQL_TEXT, "", "category, as the writer of the trace calls it" }
#define PROCESS { "process", SQL_TEXT, "", "process of the timeline" }
#define THREAD_OF { "thread", SQL_TEXT, "", "track of the process" }
#define ARGS { "args", SQL_TEXT, "", "arguments as JSON: json_extract(args, '$.key')" }
#define TIMELINE_RUN { "run", SQL_TEXT, "", "recording, as above; in the viewer Rank 3 or the like, or empty" }
#define TIMELINE_RANK { "rank", SQL_INTEGER, "", "number in the job; NULL: unknown" }
#define MOMENT(name, what) { name, SQL_INTEGER, "ns", what " since 1970; in the viewer from the start of the timeline" }
#define LASTS { "dur_ns", SQL_INTEGER, "ns", "duration" }

static const struct sql_column slices_columns[] = {
    { "id", SQL_INTEGER, "", "number of the event" }, NAMED("name of the event"), CATEGORY, PROCESS, THREAD_OF,
    { "depth", SQL_INTEGER, "", "number of slices around it on its track" }, MOMENT("begin_ns", "begin"),
        LASTS, ARGS, TIMELINE_RUN,
    { "topic", SQL_TEXT, "", "operator, kernel, collective, step, overlap (of a device: computing, free) or empty" },
    { "self_ns", SQL_INTEGER, "ns", "of operators: time without the operators that it contains" },
    { "device_self_ns", SQL_INTEGER, "ns", "of operators: time on devices of what it launched itself" },
    { "device_ns", SQL_INTEGER, "ns", "of operators: the same with the operators that it contains" }, TIMELINE_RANK,
};
static const struct sql_column instants_columns[] = {
    { "id", SQL_INTEGER, "", "number of the event" }, NAMED("name of the event"), CATEGORY, PROCESS, THREAD_OF,
    MOMENT("at_ns", "moment"), ARGS, TIMELINE_RUN, TIMELINE_RANK,
};
static const struct sql_column counters_columns[] = {
    NAMED("name of the counter"), { "series", SQL_TEXT, "", "series of the counter" }, PROCESS, MOMENT("at_ns",
        "moment"),
    { "value", SQL_REAL, "", "value, in the unit that its name says" }, TIMELINE_RUN, TIMELINE_RANK,
};
static const struct sql_column flows_columns[] = {
    { "from_id", SQL_INTEGER, "", "slice at which the flow event begins" }, { "to_id", SQL_INTEGER, "",
        "slice at which it ends" },
};
static const struct sql_column blocks_columns[] = {
    NAMED("operator that allocated the block; empty: unknown"), { "allocator", SQL_TEXT, "",
        "where it lies: NPU 0, GPU 0, CPU" },
    { "bytes", SQL_INTEGER, "bytes", "size" }, MOMENT("begin_ns", "allocated"), MOMENT("end_ns",
        "released; NULL: not released;"), TIMELINE_RUN, TIMELINE_RANK,
};
static const struct sql_column losses_columns[] = {
    { "what", SQL_TEXT, "", "kind of records that could not be used" }, { "n", SQL_INTEGER, "", "how many" },
    { "is_damage", SQL_INTEGER, "", "1: data is missing; 0: expected" }, { "file", SQL_TEXT, "",
        "file of the first one" },
    { "at", SQL_INTEGER, "bytes", "offset of the first one" }, TIMELINE_RUN, TIMELINE_RANK,
};
static const struct sql_column kernel_counters_columns[] = {
    NAMED("name of the kernels"), { "task_type", SQL_TEXT, "", "cores that ran them" }, { "metric", SQL_TEXT,
        "", "counter of AI cores, as in op_summary" },
    { "count", SQL_INTEGER, "", "kernels that have a value" }, { "mean", SQL_REAL, "", "mean, weighted by duration" },
    { "most", SQL_REAL, "", "largest value" }, { "total_us", SQL_REAL, "us", "duration of the kernels" },
        TIMELINE_RUN, TIMELINE_RANK,
};
static const struct sql_column kernel_work_columns[] = {
    NAMED("operator"), { "input_shapes", SQL_TEXT, "", "shapes of its inputs" }, { "input_types", SQL_TEXT, "",
        "types of its inputs" },
    { "input_formats", SQL_TEXT, "", "formats of its inputs" }, { "output_shapes", SQL_TEXT, "",
        "shapes of its outputs" },
    { "count", SQL_INTEGER, "", "runs" }, { "total_us", SQL_REAL, "us", "duration of the runs" },
    { "operations", SQL_REAL, "", "operations of all runs, a multiplication and an addition are two; NULL: unknown" },
    { "bytes", SQL_REAL, "bytes", "least that they can move; NULL: unknown" },
    { "intensity", SQL_REAL, "1/byte", "operations per byte" }, { "operations_per_s", SQL_REAL, "1/s",
        "achieved operations" },
    { "bytes_per_s", SQL_REAL, "bytes/s", "achieved bandwidth" }, { "roof_share", SQL_REAL, "",
        "time that it would take at the roof of its device, divided by its time" },
    { "counted_operations", SQL_REAL, "", "operations that the cores counted" }, { "counted_bytes", SQL_REAL,
        "bytes", "bytes that the cores counted" },
    { "operations_by", SQL_TEXT, "", "source of operations: shapes; shapes, no mask; counters" },
    { "bytes_by", SQL_TEXT, "", "source of bytes: shapes; counters" }, TIMELINE_RUN, TIMELINE_RANK,
};
static const struct sql_column roofs_columns[] = {
    { "what", SQL_TEXT, "", "numbers whose operations it limits, such as FP16, BF16; or memory" },
    { "per_s", SQL_REAL, "1/s", "operations, or bytes of memory" }, { "source", SQL_TEXT, "",
        "device: of cores and clocks; published; observed" },
    TIMELINE_RUN, TIMELINE_RANK,
};

#define TABLE(name, meaning) { #name, meaning, name##_columns, sizeof name##_columns / sizeof *name##_columns }
const struct sql_table sql_tables[SQL_TABLES] = {
    [SQL_RANKS] = TABLE(ranks, "a row for each rank: a device, or the host if there is none"),
    [SQL_STEPS] = TABLE(steps, "training steps, or iterations, and what the device did in them"),
    [SQL_KERNELS] = TABLE(kernels, "what computes on devices"),
    [SQL_COLLECTIVES] = TABLE(collectives, "communication on devices"),
    [SQL_COPIES] = TABLE(copies, "copies of memory by devices"),
    [SQL_CALLS] = TABLE(calls, "calls of the vendor's libraries (CANN, CUDA) on the host"),
    [SQL_OPERATORS] = TABLE(operators, "operators of the framework on the host"),
    [SQL_RANGES] = TABLE(ranges, "ranges that the user or a library marked"),
    [SQL_PYTHON] = TABLE(python, "Python functions, if they were recorded"),
    [SQL_MEMORY] = TABLE(memory, "blocks of memory, of collections with profile_memory"),
    [SQL_SLICES] = TABLE(slices, "everything in the timeline that has a duration"),
    [SQL_INSTANTS] = TABLE(instants, "moments in the timeline"),
    [SQL_COUNTERS] = TABLE(counters, "samples of counters"),
    [SQL_FLOWS] = TABLE(flows, "flow events: what launched or waited for what"),
    [SQL_BLOCKS] = TABLE(blocks, "blocks of memory as the viewer shows them, of databases too"),
    [SQL_LOSSES] = TABLE(losses, "records that could not be read or used"),
    [SQL_KERNEL_COUNTERS] = TABLE(kernel_counters, "counters of AI cores, by kernel and metric"),
    [SQL_KERNEL_WORK] = TABLE(kernel_work, "operations and bytes of kernels, computed from shapes"),
    [SQL_ROOFS] = TABLE(roofs, "peak performance of the devices"),
};
/* clang-format on */

const struct sql_table *sql_table_find(const char *name)
{
    for (size_t i = 0; i < SQL_TABLES; i++)
        if (strcmp(sql_tables[i].name, name) == 0)
            return &sql_tables[i];
    return NULL;
}

json_t *sql_schema_json(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < SQL_TABLES; i++) {
        const struct sql_table *of = &sql_tables[i];
        json_t *columns = json_array();
        for (size_t k = 0; k < of->n_columns; k++)
            json_array_append_new(columns, json_pack("{s:s, s:s, s:s, s:s}", "name", of->column[k].name, "type",
                                                     sql_type_names[of->column[k].type], "unit", of->column[k].unit,
                                                     "meaning", of->column[k].meaning));
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o}", "name", of->name, "meaning", of->meaning, "columns", columns));
    }
    return list;
}
