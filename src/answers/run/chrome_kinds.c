/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/chrome_kinds.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analyse/framework/collection_analyse.h"
#include "profile/task_types.h"

struct kind_row {
    const char *name;
    enum slice_kind kind;
};

/* Categories as Kineto names them, and as versions before 2022 and those without Kineto did. */
static const struct kind_row categories[] = {
    { "cpu_op", SLICE_OPERATOR },
    { "Operator", SLICE_OPERATOR },
    { "user_annotation", SLICE_ANNOTATION },
    { "python_function", SLICE_PYTHON },
    { "kernel", SLICE_KERNEL },
    { "Kernel", SLICE_KERNEL },
    { "mtia_ccp_events", SLICE_KERNEL },
    { "collective_comm", SLICE_COLLECTIVE },
    { "gpu_memcpy", SLICE_COPY },
    { "gpu_memset", SLICE_COPY },
    { "Memcpy", SLICE_COPY },
    { "Memset", SLICE_COPY },
    { "cuda_runtime", SLICE_CALL },
    { "cuda_driver", SLICE_CALL },
    { "Runtime", SLICE_CALL },
    { "privateuse1_runtime", SLICE_CALL },
    { "privateuse1_driver", SLICE_CALL },
    { "xpu_runtime", SLICE_CALL },
    { "xpu_driver", SLICE_CALL },
    { "mtia_runtime", SLICE_CALL },
    { "glow_runtime", SLICE_CALL },
    { "hpu_op", SLICE_CALL }, /* of the host */
    { "gpu_user_annotation", SLICE_OTHER },
    { "external_correlation", SLICE_OTHER },
    { "cuda_sync", SLICE_OTHER },
    { "xpu_sync", SLICE_OTHER },
    { "cuda_event", SLICE_OTHER },
    { "cpu_instant_event", SLICE_OTHER },
    { "overhead", SLICE_OTHER },
    { "mtia_insight", SLICE_OTHER },
    { "cuda_profiler_range", SLICE_OTHER },
    { "gpu_pm_counter", SLICE_OTHER },
    { "Trace", SLICE_OTHER },
    { "GC", SLICE_GC }, /* of trace_view.json */
    /* Of databases of results (load/trace/db_trace.c): their tables, and the types of calls. */
    { "op", SLICE_OPERATOR },
    { "trace", SLICE_PYTHON },
    { "queue", SLICE_OTHER },
    { "mstx", SLICE_ANNOTATION },
    { "PYTORCH_API", SLICE_OPERATOR },
    { "GC_RECORD", SLICE_GC },
    { "STEP_TIME", SLICE_ANNOTATION },
    { "MSTX_EVENTS", SLICE_ANNOTATION },
    { "acl", SLICE_CALL },
    { "model", SLICE_CALL },
    { "node", SLICE_CALL },
    { "runtime", SLICE_CALL },
    { "hccl", SLICE_CALL },
    { "communication", SLICE_CALL },
    { "CANN_API", SLICE_CALL },
    { "OSRT_API", SLICE_OTHER },
    { "TASK", SLICE_TASK },
    { "COMMUNICATION_OP", SLICE_COLLECTIVE },
    { "OVERLAP_ANALYSIS", SLICE_OTHER },
    { "CCU", SLICE_OTHER },
};

static const enum slice_kind kind_of_type[] = {
    [TASK_UNKNOWN] = SLICE_UNKNOWN,
    [TASK_CONTROLS] = SLICE_OTHER, /* parts of collectives are in "Communication" of the overlap analysis */
    [TASK_COMPUTES] = SLICE_TASK,
    [TASK_COPIES] = SLICE_COPY,
};

/* Names of the kernels of libraries of collectives begin so, also where a graph launches them and no event names the
 * collective. */
static const char *const libraries[] = { "nccl", "rccl", "hcom_", "hccl", "msccl", "oneccl", "deep_ep::" };
/* Kernels of frameworks that communicate without such a library contain one of these. */
static const char *const communicates[] = { "ncclDevKernel",   "ncclKernel",          "cross_device_reduce",
                                            "all_reduce_kern", "allreducekern",       "allreduce_fusion",
                                            "all_gather_kern", "reduce_scatter_kern", "all_to_all_kern" };

#define ROWS(table) (table), sizeof(table) / sizeof *(table)

static enum slice_kind kind_in(const struct kind_row *row, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(row[i].name) == len && memcmp(name, row[i].name, len) == 0)
            return row[i].kind;
    return SLICE_UNKNOWN;
}

static bool begins(const char *text, const char *with)
{
    return strncasecmp(text, with, strlen(with)) == 0;
}

bool chrome_kinds_init(struct chrome_kinds *k, const struct chrome_trace *t, struct arena *mem)
{
    *k = (struct chrome_kinds){ t, arena_take(mem, names_count(t->names), 1), arena_take(mem, names_count(t->names), 1),
                                false, false };
    for (size_t i = 0; i < t->processes.n; i++) {
        const struct chrome_process *p = &t->processes.at[i];
        const char *name = names_text(t->names, p->name);
        const bool is_hardware = strcmp(name, "Ascend Hardware") == 0;
        k->is_timeline |= is_hardware || strcmp(name, "Overlap Analysis") == 0;
        k->is_npu |=
            is_hardware || (p->n_events > 0 && (begins(names_text(t->names, p->labels), "NPU") || begins(name, "NPU")));
    }
    return k->of_category && k->of_name;
}

static const struct chrome_process *process_of(const struct chrome_trace *t, size_t slice)
{
    return &t->processes.at[t->tracks.at[t->slices.track[slice]].process];
}

/* In trace_view.json, or in a database. */
static struct json_span task_type(const struct chrome_trace *t, size_t slice)
{
    static const char *const key[] = { "Task Type", "taskType" };
    struct json_span value[2];
    json_find_each(chrome_slice_args(t, slice), key, value, 2);
    return value[0].at ? value[0] : value[1];
}

/* Those of a GPU are "Memcpy HtoD (Pinned -> Device)". */
static bool is_copy(const char *name)
{
    return strcmp(name, "MEMCPY_ASYNC") == 0 || begins(name, "Memcpy ") || begins(name, "Memset ");
}

/* On a stream of a GPU in trace_view.json, or in a database. Collectives are slices on tracks of their groups, too. */
static enum slice_kind kind_of_gpu_task(const char *name)
{
    return is_copy(name) ? SLICE_COPY : chrome_is_collective(name) ? SLICE_OTHER : SLICE_TASK;
}

/* Tasks of a type that is not known and that have another name than their type may be kernels. */
static enum slice_kind kind_of_task(const struct chrome_kinds *k, size_t slice)
{
    const name_id name = k->t->slices.name[slice];
    if (k->of_name[name] == 0) {
        const char *text = names_text(k->t->names, name);
        const struct json_span type = task_type(k->t, slice);
        struct json_span plain = { .len = 0 };
        const bool is_known = type.at && json_plain(type, &plain) && plain.len > 0;
        enum slice_kind kind = is_known ? kind_of_type[task_type_does(plain.at, plain.len)] : SLICE_OTHER;
        const bool is_type = is_known && plain.len == strlen(text) && memcmp(plain.at, text, plain.len) == 0;
        if (is_known && json_is(type, "GPU"))
            kind = kind_of_gpu_task(text);
        else if (kind == SLICE_COPY || is_type || !is_known) /* without a name, a task has that of its type */
            kind = is_copy(text) ? SLICE_COPY : SLICE_OTHER;
        k->of_name[name] = (uint8_t)(1 + kind);
    }
    return k->of_name[name] - 1u;
}

/* Tasks of a collective are on the tracks of its group. */
static enum slice_kind kind_of_db_task(const struct chrome_kinds *k, size_t slice)
{
    return begins(names_text(k->t->names, process_of(k->t, slice)->name), "Communication") ? SLICE_OTHER
                                                                                           : kind_of_task(k, slice);
}

static enum slice_kind kind_of_kernel(const struct chrome_kinds *k, name_id name)
{
    if (k->of_name[name] == 0)
        k->of_name[name] = 1 + (chrome_is_collective(names_text(k->t->names, name)) ? SLICE_COLLECTIVE : SLICE_KERNEL);
    return k->of_name[name] - 1u;
}

/* Python's collector is a slice among the functions; gc.collect() is a function. */
static enum slice_kind kind_of_function(const char *name)
{
    return strcmp(name, "Python GC") == 0 || strcmp(name, "<built-in function collect>") == 0 ? SLICE_GC : SLICE_PYTHON;
}

static enum slice_kind kind_of_time(const char *name)
{
    return strcmp(name, "Computing") == 0       ? SLICE_COMPUTING
           : strcmp(name, "Communication") == 0 ? SLICE_COMMUNICATING
                                                : SLICE_OTHER;
}

/* Work of a device is on a stream, or in a process whose label is another one than that of the host. */
static bool is_of_device(const struct chrome_trace *t, size_t slice)
{
    const char *label = names_text(t->names, process_of(t, slice)->labels);
    const struct json_span args = chrome_slice_args(t, slice);
    return (*label && strcmp(label, "CPU") != 0) || json_find(args, "stream").at || json_find(args, "streamId").at;
}

enum slice_kind chrome_kind(const struct chrome_kinds *k, size_t slice)
{
    const struct chrome_trace *t = k->t;
    const name_id category = t->slices.category[slice], name = t->slices.name[slice];
    if (category != NAME_EMPTY) {
        uint8_t *known = &k->of_category[category];
        if (*known == 0)
            *known =
                (uint8_t)(1 + kind_in(ROWS(categories), names_text(t->names, category), names_len(t->names, category)));
        const enum slice_kind kind = *known - 1u;
        return kind == SLICE_KERNEL                        ? kind_of_kernel(k, name)
               : kind == SLICE_PYTHON                      ? kind_of_function(names_text(k->t->names, name))
               : kind == SLICE_TASK                        ? kind_of_db_task(k, slice)
               : kind != SLICE_UNKNOWN                     ? kind
               : !k->is_timeline && is_of_device(t, slice) ? SLICE_UNKNOWN
                                                           : SLICE_OTHER;
    }
    const struct chrome_process *p = process_of(t, slice);
    const char *process = names_text(t->names, p->id.text), *title = names_text(t->names, p->name);
    if (strcmp(title, "Ascend Hardware") == 0)
        return kind_of_task(k, slice);
    if (strcmp(title, "Overlap Analysis") == 0)
        return kind_of_time(names_text(t->names, name));
    if (strcmp(title, "GPU") == 0)
        return kind_of_gpu_task(names_text(t->names, name));
    if (strcmp(title, "CANN") == 0 || strcmp(title, "CUDA") == 0)
        return SLICE_CALL;
    return strcmp(process, "CPU functions") == 0    ? SLICE_OPERATOR
           : strcmp(process, "CUDA functions") == 0 ? kind_of_kernel(k, name)
                                                    : SLICE_OTHER;
}

/* The category of a slice, or the type of a task. */
static struct json_span kind_name(const struct chrome_trace *t, size_t slice)
{
    const name_id category = t->slices.category[slice];
    struct json_span plain = { names_text(t->names, category), names_len(t->names, category) };
    if (category == NAME_EMPTY)
        json_plain(task_type(t, slice), &plain);
    return plain;
}

bool chrome_unknown(struct chrome_trace *t)
{
    enum { NAMED = 3 };
    struct arena *work = arena_new();
    struct chrome_kinds k;
    struct {
        struct json_span name;
        uint64_t n;
    } kind[NAMED] = { 0 };
    uint64_t n = 0;
    bool done = work && chrome_kinds_init(&k, t, work);
    for (size_t i = 0; done && i < t->slices.n; i++) {
        if (chrome_kind(&k, i) != SLICE_UNKNOWN)
            continue;
        const struct json_span name = kind_name(t, i);
        size_t at = 0;
        while (at < NAMED && kind[at].n > 0 &&
               (kind[at].name.len != name.len || memcmp(kind[at].name.at, name.at, name.len) != 0))
            at++;
        n++;
        if (at < NAMED)
            kind[at].name = name, kind[at].n++;
    }
    char text[200] = "";
    for (size_t i = 0, len = 0; i < NAMED && kind[i].n > 0 && len < sizeof text; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%.40s %llu", i > 0 ? ", " : "",
                                arena_text(work, kind[i].name.at, kind[i].name.len), (unsigned long long)kind[i].n);
    const char *names = done && n > 0 ? arena_text(t->mem, text, strlen(text)) : NULL;
    if (names)
        losses_add(&t->lost, LOSS_DEVICE_KIND, n, names, 0);
    done = done && (n == 0 || names) && !arena_failed(work);
    arena_free(work);
    return done;
}

bool chrome_is_on_group(const struct chrome_trace *t, size_t slice)
{
    const struct chrome_track *track = &t->tracks.at[t->slices.track[slice]];
    const char *process = names_text(t->names, t->processes.at[track->process].name);
    const char *name = names_text(t->names, track->name);
    return (strcmp(process, "NCCL") == 0 &&
            (strncmp(name, "Group ", 6) == 0 || strncmp(name, "Communication", 13) == 0)) ||
           ((strcmp(process, "HCCL") == 0 || strcmp(process, "Communication") == 0) && strncmp(name, "Group ", 6) == 0);
}

bool chrome_is_collective(const char *kernel)
{
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (begins(kernel, libraries[i]))
            return true;
    for (size_t i = 0; i < sizeof communicates / sizeof *communicates; i++)
        if (strcasestr(kernel, communicates[i]))
            return true;
    return false;
}

bool chrome_is_host_collective(const struct chrome_kinds *k, size_t slice)
{
    const enum slice_kind kind = chrome_kind(k, slice);
    return (kind == SLICE_OPERATOR || kind == SLICE_ANNOTATION) &&
           name_is_collective(names_text(k->t->names, k->t->slices.name[slice]));
}

const char *chrome_step_name(const char *name)
{
    static const char step[] = "ProfilerStep#";
    return strncmp(name, step, sizeof step - 1) == 0 ? name + sizeof step - 1 : NULL;
}

/* The first of some numbers that a slice has among its arguments. */
static bool first_number(const struct chrome_trace *t, size_t slice, const char *const *key, size_t n, uint64_t *out)
{
    enum { MOST = 3 };
    struct json_span value[MOST];
    json_find_each(chrome_slice_args(t, slice), key, value, n);
    for (size_t i = 0; i < n; i++)
        if (value[i].at)
            return json_u64(value[i], out);
    return false;
}

bool chrome_external_id(const struct chrome_trace *t, size_t slice, uint64_t *out)
{
    static const char *const key[] = { "External id", "external id" };
    return first_number(t, slice, key, 2, out);
}

bool chrome_correlation(const struct chrome_trace *t, size_t slice, uint64_t *out)
{
    static const char *const key[] = { "correlation", "connection_id", "connectionId" };
    return first_number(t, slice, key, 3, out);
}

bool chrome_rank(const struct chrome_trace *t, int64_t *rank)
{
    const struct json_span value = json_find(chrome_fact(t, "distributedInfo"), "rank");
    return value.at && json_fixed(value, 0, rank);
}

int64_t chrome_world(const struct chrome_trace *t)
{
    int64_t n = 0;
    const struct json_span value = json_find(chrome_fact(t, "distributedInfo"), "world_size");
    return value.at && json_fixed(value, 0, &n) && n > 0 ? n : 0;
}
