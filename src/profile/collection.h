/* SPDX-License-Identifier: Apache-2.0 */
/* collection.h - a directory of a framework's profiler: the data of the framework and of the device, and their
 * relations.
 *
 * The loader (load/framework/pt.c, load/framework/ms.c) fills settings, framework and profile; analyse/framework
 * (collection_analyse.c, ms_analyse.c) fills the rest. Without a PROF directory the profile is empty: it has only names
 * and an arena.
 */
#ifndef ASCOPE_PROFILE_COLLECTION_H
#define ASCOPE_PROFILE_COLLECTION_H

#include "base/text/framework_names.h"
#include "profile/framework.h"
#include "profile/launches.h"
#include "profile/profile.h"

enum profiler_level { PROFILER_LEVEL_NONE, PROFILER_LEVEL0, PROFILER_LEVEL1, PROFILER_LEVEL2 };

/* The contents of profiler_info*.json. */
struct collection_settings {
    enum profiler_level level;
    bool has_cpu; /* requested, and its data exists */
    bool has_npu; /* its data is there */
    bool record_shapes, profile_memory, with_stack, with_modules, data_process;
    bool l2_cache, sys_io, sys_interconnection, simplifies;
    bool wants_text, wants_db; /* export_type */
    bool has_schedule;         /* of MindSpore: steps are those of a schedule */
    bool is_whole_graph; /* of MindSpore: the device runs whole graphs (O2); steps of the host are not steps of the
                           device */
    bool is_simulated;   /* the program or its device is simulated */
    bool has_rank;
    int64_t rank;
    int64_t dataset; /* of MindSpore: the number in names of files of the dataset pipeline */
};

/* The events on devices at which the flow events from the host end: what operators started. One row for each flow; if a
 * flow ends at several events, the row is the collective among them, or else the earliest. Sorted by (launch_ns,
 * device, begin_ns). */
struct kernels {
    size_t n;
    uint32_t process;                   /* that launched them */
    int64_t *launch_ns, *launch_end_ns; /* the call that launched it */
    int64_t *begin_ns, *end_ns;
    double *dur_us; /* as the timeline shows it */
    bool *is_aicore;
    uint32_t *device; /* index of profile.device */
    bool *is_collective;
    uint32_t *launch_thread; /* of that call */
    uint32_t *row;           /* of the device's tasks, or of its collectives */
    uint32_t *track;         /* of the device: name of the communicator of a collective, stream of anything else */
    name_id *name;
};

/* Which operators enclose which on their thread, and what they started. Rows are rows of framework_ops. */
struct op_tree {
    uint32_t
        *by_begin; /* rows in nesting order (analyse/host/call_tree.c): the order of the tree and of operator_details */
    uint32_t *parent; /* by row; NO_ROW: at the top */
    int64_t *self_ns; /* by row: without the operators inside it */
    uint32_t *owner;  /* by row of kernels: the operator that started it, or NO_ROW */
    uint32_t *task;   /* by row of kernels: row of the enqueue span of its task, or NO_ROW; NULL: no queue is used */
    size_t n_started;
    uint32_t *started;       /* kernels that an operator started itself, by operator (in the order of by_begin) */
    uint32_t *first_started; /* n + 1 positions in `started`, by position in by_begin */
    uint32_t *in_order;      /* the same kernels in the order in which they were started */
};

/* Of MindSpore: rows of framework_ops that started something; NO_ROW: none is known. */
struct op_links {
    uint32_t *op;         /* by row of kernels */
    uint32_t *op_of_mark; /* by row of the host's marks */
};

/* ProfilerStep#N. In order of begin. */
struct profiler_steps {
    size_t n;
    uint32_t *op;                         /* row of framework_ops */
    uint32_t *thread;                     /* of the range */
    name_id *id;                          /* what follows the "#" */
    int64_t *host_begin_ns, *host_end_ns; /* of the range itself */
    int64_t *begin_ns, *end_ns;           /* of what it did on the device */
    bool *has_work;                       /* it started something; tables show only such steps */
};

/* Lifetimes of the blocks that the framework's allocators held on devices. Rows are rows of framework_memory. Sorted by
 * the time of the allocation, then by the first use of the address. */
struct memory_lives {
    size_t n;
    uint32_t *taken;
    uint32_t *freed;    /* released by its owner; NO_ROW: not in this collection */
    uint32_t *returned; /* returned to the pool, when no stream uses it any more, before or after `freed`; or NO_ROW */
    name_id *name;      /* of the operator that allocated it; NAME_EMPTY: unknown */
    uint32_t *op;       /* row of it; NO_ROW: unknown, or only its name is recorded */
};

/* Metadata that the job added (profiler_metadata.json), in file order; outputs put it behind the environment of the
 * analysis. */
struct metadata_row {
    const char *key, *text; /* text: the value as JSON, in ASCII */
};
struct metadata {
    size_t n;
    struct metadata_row *row;
};

struct collection {
    const char *path, *name; /* name: the last part of the path */
    enum framework_id framework_id;
    struct metadata metadata;
    struct collection_settings settings;
    struct collector collector;
    struct framework framework;
    struct profile profile;
    bool has_device;           /* profile is that of a PROF directory */
    struct error device_error; /* why the PROF directory could not be loaded, if there is one */
    struct kernels kernels;
    struct op_links links;
    struct launches launches; /* the names of these, by rows of the device's tables */
    struct op_tree tree;
    struct profiler_steps steps;
    struct profiler_steps
        executed; /* of MindSpore without step ranges: the steps that its executor counted, for --steps */
    struct profiler_steps marked; /* what stands for them in answers, if it is not empty: see collection_marks.c */
    const char *marked_by;        /* which ranges these are */
    name_id *marked_name;         /* of the range that each begins with */
    bool *is_mark;                /* by row of framework_ops: it is one of these; NULL: there are none */
    const char *steps_by;         /* --steps-by, lent; NULL: not given. Set between loading and analysis */
    struct memory_lives lives;
    struct arena *mem;
    struct losses lost; /* of all parts, filled at the end */
};

#endif
