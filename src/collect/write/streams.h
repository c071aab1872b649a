/* SPDX-License-Identifier: Apache-2.0 */
/* streams.h - every file that a collection is written to: one row each.
 *
 * A thread puts a record into its ring as the bytes of the file, preceded by the number of its stream. The writer
 * appends these bytes without interpreting them. A record shorter than its stream's fixed size is filled up with zeros.
 * There are exceptions, which the writer expands: calls of the operating system (os_call.h), and operators and memory
 * events whose texts or frames were announced (short_records.c, short_records.c).
 */
#ifndef ASCOPE_COLLECT_WRITE_STREAMS_H
#define ASCOPE_COLLECT_WRITE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

enum stream_id {
    /* FRAMEWORK/ */
    STREAM_TORCH_OP,
    STREAM_TORCH_QUEUE,
    STREAM_TORCH_MEMORY,
    STREAM_PYTHON_CALL,
    STREAM_PYTHON_KEY,
    STREAM_PYTHON_PARAMETERS,
    STREAM_PYTHON_GC,
    STREAM_STEP_THREAD,
    STREAM_GRAPH_NODE,
    STREAM_FRAME,
    STREAM_MS_RANGE,
    STREAM_MS_MEMORY,
    STREAM_MS_MEMORY_TEXT, /* made by the writer from memory events */
    STREAM_MS_SHAPES,
    STREAM_MS_CALL, /* until the recording ends: then they are ranges, too (mindspore_calls.c) */
    STREAM_MS_KEY,
    /* PROF_XXX/host/data */
    STREAM_CALL,
    STREAM_NODE,
    STREAM_NODE_ATTR,
    STREAM_TRACK,
    STREAM_MEMCPY,
    STREAM_HCCL_OP,
    STREAM_TENSOR,
    STREAM_CONTEXT,
    STREAM_HCCL,
    STREAM_MARK,
    STREAM_TASK_MEMORY,
    STREAM_CALL_ONCE,
    STREAM_GRAPH,
    STREAM_FUSION,
    STREAM_STATIC_MEMORY,
    STREAM_NAMES,
    STREAM_TYPES,
    STREAM_HOST_CPU,
    STREAM_HOST_MEMORY,
    STREAM_HOST_NETWORK,
    STREAM_HOST_DISK,
    STREAM_SYSTEM_CALL,
    STREAM_THREAD_CALL,
    STREAM_HOST_SYS_CPU,
    STREAM_HOST_SYS_MEMORY,
    STREAM_PROCESSES,
    STREAM_HOST_NUMA,
    STREAM_HOST_ROCE,
    /* PROF_XXX/device_N/data */
    STREAM_STARS,
    STREAM_PMU,
    STREAM_TS_TRACK,
    STREAM_AICPU,
    STREAM_L2,
    STREAM_SMMU,
    STREAM_LPM,
    STREAM_MODULE_MEMORY,
    STREAM_NPU_MEMORY,
    STREAM_HBM,
    STREAM_NIC,
    STREAM_ROCE,
    STREAM_PCIE,
    STREAM_HCCS,
    STREAM_LLC,
    STREAM_DVPP,
    STREAM_CUDA,
    STREAM_CUDA_MEMORY,
    STREAM_GPU,
    STREAM_KINDS
};

/* In place of the device number, for streams that are cut between samples (enum cut): the record belongs to the sample
 * before it. */
enum { SAMPLE_CONTINUES = 1 };

enum stream_place { PLACE_FRAMEWORK, PLACE_HOST, PLACE_DEVICE };

struct stream_row {
    const char *family; /* "aging.compact.task_track", "stars_soc.data", "torch.op_range"; "%u": the rank */
    const char *what;   /* "operators": for counts of what was dropped */
    uint16_t bytes;     /* of a record; 0: they differ */
    uint8_t place;      /* enum stream_place */
    uint8_t cut;        /* enum cut of prof_writer.h */
    bool ages;          /* the oldest slices may go when there is a limit */
    bool lasts;         /* recorded once and referred to by later records: kept during a warm-up, too */
    bool is_scratch;    /* for recovery alone: removed when the collection is complete */
};
extern const struct stream_row stream_table[STREAM_KINDS];

#endif
