/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - one collection: from an empty directory to files that `ascope analyse` (or the reference parser) reads.
 *
 * A session creates its directory, records between start and stop, and is complete after ascope_session_end():
 *
 *     new ── warmup ── start ── stop ── end
 *       └──────────────┘  (warm-up may be left out; discard, instead of end, deletes the directory)
 *
 * One session of a process can be open at a time. Programs that count steps use schedule.h, which drives sessions.
 *
 * A program that is killed, calls _exit() or exec() leaves a directory that can be analysed all the same: records lie
 * in a file that is mapped into memory, and `ascope analyse` (or `ascope recover`) finishes the work.
 */
#ifndef ASCOPE_SESSION_H
#define ASCOPE_SESSION_H

#include "ascope/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ascope_activity { ASCOPE_CPU = 1, ASCOPE_NPU = 2 };
enum ascope_level { ASCOPE_LEVEL0, ASCOPE_LEVEL1, ASCOPE_LEVEL2, ASCOPE_LEVEL_NONE };
enum ascope_metrics { /* the numbers of the device's own interface */
                      ASCOPE_ARITHMETIC_UTILIZATION,
                      ASCOPE_PIPE_UTILIZATION,
                      ASCOPE_MEMORY,
                      ASCOPE_MEMORY_L0,
                      ASCOPE_RESOURCE_CONFLICT_RATIO,
                      ASCOPE_MEMORY_UB,
                      ASCOPE_L2_CACHE,
                      ASCOPE_PIPELINE_EXECUTE,
                      ASCOPE_MEMORY_ACCESS,
                      ASCOPE_NO_METRICS = 255,
                      ASCOPE_METRICS_BY_LEVEL = 256 /* none at Level0 and Level_none, PIPE_UTILIZATION above */
};
enum ascope_layout {
    ASCOPE_LAYOUT_PYTORCH,  /* {worker}_{pid}_{time}_ascend_pt with FRAMEWORK/ and PROF_XXX */
    ASCOPE_LAYOUT_PROF,     /* PROF_XXX alone, as msprof leaves it; operators, memory and Python are not recorded */
    ASCOPE_LAYOUT_MINDSPORE /* {worker}_{pid}_{time, UTC}_ascend_ms, with the files of MindSpore 2.6 and later in
                               FRAMEWORK/ */
};
enum ascope_host_system {
    ASCOPE_HOST_CPU = 1,
    ASCOPE_HOST_MEM = 2,
    ASCOPE_HOST_DISK = 4,
    ASCOPE_HOST_NETWORK = 8,
    ASCOPE_HOST_OSRT = 16,
    ASCOPE_HOST_NUMA = 32
};

/* How system calls are recorded (ASCOPE_HOST_OSRT). */
enum ascope_osrt {
    ASCOPE_OSRT_AUTO,   /* all of them, by the kernel, where it permits that; else as libc */
    ASCOPE_OSRT_LIBC,   /* those that go through libc, where libascope-run.so is preloaded; else as samples. Costs
                         little */
    ASCOPE_OSRT_SAMPLES /* those that threads are seen to wait in */
};

/* Texts are copied by ascope_session_new(). Frequencies are in Hz, 0 is off. A new field is added at the end, whatever
 * it is about. */
struct ascope_options {
    uint32_t size; /* set by ascope_options_init() */

    /* where */
    const char *parent_dir;  /* NULL: $ASCEND_WORK_PATH/profiling_data, or the working directory */
    const char *worker_name; /* NULL: the name of this machine */
    uint32_t layout;         /* enum ascope_layout */
    int32_t rank;            /* -1: $RANK, or none; layout mindspore: $RANK_ID, or 0 */

    /* what */
    uint32_t activities; /* enum ascope_activity, several */
    const char *device;  /* "auto": the real devices that the program uses; "none"; or a name: "ascend", "sim" */
    uint32_t level;      /* enum ascope_level */
    uint32_t metrics;    /* enum ascope_metrics */
    bool record_shapes, profile_memory, with_stack, with_flops, with_modules;
    bool l2_cache, mstx, op_attr, record_op_args;
    bool sys_io, sys_interconnection;
    double gc_threshold_ms; /* below 0: collections of garbage are not recorded */
    uint32_t host_sys;      /* enum ascope_host_system, several */
    /* domains by name, with commas between them; NULL: all, none. "default" is the domain without a name */
    const char *mstx_domain_include, *mstx_domain_exclude;

    /* what only the msprof and acl.json front ends can ask for; see docs/collector.md */
    uint64_t more_data; /* bits of the device's data mask, beyond those that follow from the above */
    uint64_t less_data; /* bits that are removed from it */
    bool sample_based;  /* counters of the cores by time instead of by task */
    uint32_t aic_hz, hardware_mem_hz, io_hz, interconnection_hz, cpu_hz, dvpp_hz, low_power_hz, host_usage_hz;
    uint32_t host_usage; /* ASCOPE_HOST_CPU, ASCOPE_HOST_MEM */
    bool llc_write;
    bool task_block;            /* what each block of a task did */
    uint32_t instr_hz;          /* of samples of instructions; 0: none */
    uint32_t device_usage_hz;   /* of the devices' processors and memory; 0: none */
    uint32_t device_process_hz; /* the same by process */
    const char *op_types, *fp_point, *bp_point;
    const char *mem_serviceflow, *npu_events;
    const char *custom_events; /* of the cores, instead of a group of metrics: "0x8,0xa" */

    /* how the results will look */
    bool export_text, export_db, data_simplification;

    /* how it is recorded; 0 takes the default */
    uint32_t storage_limit_mb; /* the oldest repeatable records are deleted beyond it; 0: no limit */
    uint32_t slice_kb;         /* files are cut at this size; default: 2048 */
    uint32_t ring_kb;          /* of memory for each recording thread, a power of two; default: 4096 */
    /* where that memory's file lies; NULL: in the collection. For collections on shared storage: a local directory,
     * such as /dev/shm */
    const char *ring_dir;

    const char *device_ids;     /* numbers of the devices to record, with commas between them; NULL: all */
    const char *nts_metrics;    /* counters of the task scheduler: a group, or "Custom:0x1,0x2" */
    uint64_t task_block_shrink; /* 1, with task_block: the shorter form of its records, where the device has one */
    uint64_t osrt;              /* enum ascope_osrt */
    /* layout mindspore: members of profiler_info_N.json that the front end knows, as a JSON object; NULL: none */
    const char *framework_info;
    uint64_t
        sync; /* 1, the default: the end of a recording waits until its files are on the disk; 0: it leaves that to the
                 system */
};

/* The function behind ascope_options_init(), for bindings that know another size.
 * Errors: none. Threads: any. */
ASCOPE_API void ascope_options_init_sized(struct ascope_options *o, uint32_t size);

/* The defaults, and the size.
 * Errors: none. Threads: any. */
static inline void ascope_options_init(struct ascope_options *o)
{
    ascope_options_init_sized(o, (uint32_t)sizeof *o);
}

/* One option by the name that it has in the documents ("profiler_level", "aic_metrics", "mstx_domain_include",
 * "--task-time", ...), its value as text, which is copied for the lifetime of the process. Invalid values fall back to
 * the default, with a warning. docs/collector.md has all names. Errors: false: there is no such name. An option that
 * the program's older structure does not have is ignored with a warning. Threads: any, each with options of its own. */
ASCOPE_API bool ascope_options_set(struct ascope_options *o, const char *name, const char *value);

/* The checks that ascope_session_new() makes: invalid values and combinations fall back to valid ones, each with a
 * warning. For front ends that show what will be recorded before a session is created. Texts are copied as by
 * ascope_options_set(). Errors: without memory, or if ascope_options_init() was not called, nothing changes, with a
 * warning. Threads: any, each with options of its own. */
ASCOPE_API void ascope_options_check(struct ascope_options *o);

struct ascope_session;

/* Creates the directory. The options are copied and checked: invalid values fall back to the default, with a warning.
 * NULL: the defaults. Errors: NULL, and e: a session is open already, the directory cannot be written, no memory, or a
 * size that is not set. Threads: any; of several at the same time one gets the session. */
ASCOPE_API struct ascope_session *ascope_session_new(const struct ascope_options *o, struct ascope_error *e);

/* The absolute path of its directory, lent until the session ends. With an engine of a device that names the directory
 * by itself (docs/devices.md) and the layout PROF, it is another one from warm-up or start on. Errors: none; s must not
 * be NULL. Threads: one at a time. */
ASCOPE_API const char *ascope_session_path(const struct ascope_session *s);

/* Warm-up: devices run, nothing is kept. Start: recording begins. Stop: everything recorded is on disk, and described.
 * Errors: false, and e: the session is not in the state for it, or of another process; files or a device fail. After a
 * start that failed the session is as new; after a stop that failed it is stopped all the same, and `ascope analyse`
 * recovers what it can. Threads: one at a time. */
ASCOPE_API bool ascope_session_warmup(struct ascope_session *s, struct ascope_error *e);
ASCOPE_API bool ascope_session_start(struct ascope_session *s, struct ascope_error *e);
ASCOPE_API bool ascope_session_stop(struct ascope_session *s, struct ascope_error *e);

/* Stops it if it records, and frees it. Errors: false, and e: s is NULL or of another process, and is not freed; or as
 * of stop, and it is freed. Threads: one at a time. */
ASCOPE_API bool ascope_session_end(struct ascope_session *s, struct ascope_error *e);

/* Deletes the directory and frees the session.
 * Errors: none; NULL and sessions of another process are ignored. Threads: one at a time. */
ASCOPE_API void ascope_session_discard(struct ascope_session *s);

/* For profiler_metadata.json: a text, or a JSON value. The same key again replaces its value, with a warning. Errors:
 * false, and e: no session, key or value; not JSON; longer than 4096 characters, or 50 KiB in all (no limits with
 * layout mindspore); a layout without that file. Threads: one at a time. */
ASCOPE_API bool ascope_metadata(struct ascope_session *s, const char *key, const char *text, struct ascope_error *e);
ASCOPE_API bool ascope_metadata_json(struct ascope_session *s, const char *key, const char *json,
                                     struct ascope_error *e);

/* A training step begins: its number for what is counted per step (drops, cost of recording). The range itself is an
 * operator "ProfilerStep#N", which schedule.h records. Errors: ignored while the session does not record, and without
 * memory. Threads: one at a time. */
ASCOPE_API void ascope_session_step(struct ascope_session *s, uint64_t number);

/* Code inside a framework that feeds the recording functions, and works only while something is recorded. Both
 * functions are called on the thread that starts and stops the session: `started` when recording has begun, `stopping`
 * while it still continues. The options are those of the session, checked, with the library's size; they are lent until
 * the session stops. */
struct ascope_listener {
    uint32_t size;                                               /* sizeof(struct ascope_listener) */
    void (*started)(const struct ascope_options *o, void *user); /* NULL: none */
    void (*stopping)(void *user);                                /* NULL: none */
    void *user;
};

/* Adds a listener, and removes it. The structure is copied; its address is what unlisten takes. Adding it again
 * replaces the copy. Errors: false: there are eight already, or the size is not set. Threads: one at a time, and not
 * while a session is open. */
ASCOPE_API bool ascope_listen(const struct ascope_listener *l);
ASCOPE_API void ascope_unlisten(const struct ascope_listener *l);

#ifdef __cplusplus
}
#endif
#endif
