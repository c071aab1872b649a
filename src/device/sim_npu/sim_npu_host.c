/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_npu_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/ring/ring.h"
#include "collect/session/host_clock.h"
#include "collect/write/name_dictionary.h"
#include "device/sim_npu/sim_op_args.h"
#include "device/sim_npu/sim_queue.h"
#include "raw/name_hash.h"

/* ---- names ---- */

void npu_types_name(void)
{
    for (size_t i = 0; i < sim_n_types; i++)
        ascope_type_name(sim_types[i].level, sim_types[i].type, sim_types[i].name);
    for (uint32_t i = 0; i < sim_n_collectives; i++) {
        ascope_type_name(LEVEL_ACL, TYPE_ACL_COLLECTIVE + i, sim_collectives[i].call);
        ascope_type_name(LEVEL_NODE, TYPE_COLLECTIVE + i, sim_collectives[i].node);
    }
    ascope_type_name(LEVEL_ACL, NPU_TYPE_MALLOC, "aclrtMalloc");
    ascope_type_name(LEVEL_ACL, NPU_TYPE_FREE, "aclrtFree");
    npu_graph_types_name();
}

uint64_t npu_name(const char *text)
{
    return ascope_name((struct ascope_text){ text, (uint32_t)strlen(text) });
}

/* The type of the calls of an operator (GetWorkspaceSize, and the call itself is type + 1), registered at the first
 * use. The lock is held. */
static uint32_t operator_type(const char *call)
{
    enum { CALLS_MOST = 2048 };
    static uint64_t known[CALLS_MOST];
    static uint32_t n_known;
    const uint64_t hash = name_hash(call) | 1;
    uint32_t i = (uint32_t)(hash >> 8) % CALLS_MOST, n = 0;
    static uint16_t number[CALLS_MOST];
    for (; known[i] != 0 && known[i] != hash && n < CALLS_MOST; n++)
        i = (i + 1) % CALLS_MOST;
    if (n == CALLS_MOST)
        return TYPE_ACL_OPERATOR; /* more operators than any program has share the first one's name */
    if (known[i] == 0) {
        char text[200];
        known[i] = hash;
        number[i] = (uint16_t)n_known++;
        snprintf(text, sizeof text, "%.180sGetWorkspaceSize", call);
        ascope_type_name(LEVEL_ACL, TYPE_ACL_OPERATOR + 2u * number[i], text);
        snprintf(text, sizeof text, "%.180s", call);
        ascope_type_name(LEVEL_ACL, TYPE_ACL_OPERATOR + 2u * number[i] + 1, text);
    }
    return TYPE_ACL_OPERATOR + 2u * number[i];
}

struct operator_names {
    char call[200], name[600], kernel[200];
};

/* The names of a kernel, of its operator and of its call, as the software above an NPU makes them if none is given. */
static void operator_name(const struct ascope_sim_kernel *k, const struct sim_work *w, struct operator_names *out)
{
    const char *const on = w->kind == TASK_AICPU ? "" : "AiCore";
    if (w->call)
        snprintf(out->call, sizeof out->call, "%s", w->call);
    else
        snprintf(out->call, sizeof out->call, "aclnn%.180s", k->type);
    if (k->name)
        snprintf(out->name, sizeof out->name, "%.590s", k->name);
    else
        snprintf(out->name, sizeof out->name, "%s_%.180s%s_%.180s", out->call, k->type, on, k->type);
    snprintf(out->kernel, sizeof out->kernel, "te_%.180s_%08x", k->type, (unsigned)name_hash(k->type));
    for (char *c = out->kernel; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
}

/* ---- records ---- */

uint64_t npu_what(enum npu_what least)
{
    if (!ascope_records(ASCOPE_RECORDS_DEVICE | ASCOPE_RECORDS_MARKS))
        return 0;
    const uint64_t what =
        atomic_load_explicit(&npu.what, memory_order_relaxed); /* npu_enqueue() checks it again under the lock */
    return what & least ? what : 0;
}

uint64_t npu_now(struct npu_times *t)
{
    enum { STEP_COUNTS = 40, STEP_NS = 10 }; /* so that no two times become the same ns */
#if defined(__x86_64__)
    const uint64_t step = host_clock_is_counter ? STEP_COUNTS : STEP_NS;
#else
    const uint64_t step = host_clock_is_counter ? 1 : STEP_NS;
#endif
    const uint64_t now = host_clock_now();
    t->last = now > t->last + step ? now : t->last + step;
    return t->last;
}

void npu_host_put(enum host_kind kind, const uint8_t *rec)
{
    static const uint8_t stream[HOST_KINDS] = {
        [KIND_NODE] = STREAM_NODE,
        [KIND_TRACK] = STREAM_TRACK,
        [KIND_MEMCPY] = STREAM_MEMCPY,
        [KIND_TENSOR] = STREAM_TENSOR,
        [KIND_CONTEXT] = STREAM_CONTEXT,
        [KIND_HCCL_OP] = STREAM_HCCL_OP,
        [KIND_ATTR] = STREAM_NODE_ATTR,
        [KIND_HCCL] = STREAM_HCCL,
        [KIND_MEMORY] = STREAM_TASK_MEMORY,
        [KIND_CALL] = STREAM_CALL_ONCE,
        [KIND_GRAPH] = STREAM_GRAPH,
        [KIND_FUSION] = STREAM_FUSION,
        [KIND_STATIC_MEMORY] = STREAM_STATIC_MEMORY,
    };
    const size_t bytes = host_kinds[kind].layout->size;
    const struct ring_slot slot = ring_put((enum stream_id)stream[kind], 0, bytes);
    if (!slot.at)
        return;
    memcpy(slot.at, rec, bytes);
    ring_done(slot);
}

static void track_put(const struct npu_device *d, const struct npu_enqueued *e, const struct sim_launch *l,
                      uint64_t time)
{
    uint8_t rec[64];
    names_say_type(LEVEL_RUNTIME, sim_task_kinds[l->kind].track);
    record_head(rec, KIND_TRACK, ring_thread(), time);
    record_track(rec, d->id, e->stream, e->task | (uint32_t)e->batch << 16, l);
    npu_host_put(KIND_TRACK, rec);
}

static void flip_put(const struct npu_device *d, const struct npu_enqueued *e, uint64_t time)
{
    uint8_t rec[64];
    names_say_type(LEVEL_RUNTIME, TRACK_TYPE_FLIP);
    record_head(rec, KIND_TRACK, ring_thread(), time);
    record_track_flip(rec, d->id, e->stream, e->batch);
    npu_host_put(KIND_TRACK, rec);
}

struct npu_issued npu_issue(struct ascope_sim_stream *s, struct npu_task *t, uint64_t what, uint64_t kernel,
                            struct npu_times *times, uint64_t time)
{
    const uint64_t begin = what & NPU_CALLS ? npu_now(times) : 0;
    npu_lock();
    const struct npu_enqueued e = npu_enqueue(s, t, what);
    npu_unlock();
    struct npu_issued i = { .is_recorded = e.is_recorded && (what & NPU_LAUNCHES) };
    if (!i.is_recorded)
        return i;
    if (e.is_flip && (what & NPU_TASKS))
        flip_put(s->of, &e, npu_now(times));
    i.time = time != 0 ? time : npu_now(times);
    if (what & NPU_TASKS)
        track_put(s->of, &e, &(struct sim_launch){ t->work.kind, t->work.blocks, kernel }, i.time);
    if (what & NPU_CALLS)
        ascope_call(LEVEL_RUNTIME, sim_task_kinds[t->work.kind].call, begin, npu_now(times), 0);
    return i;
}

/* Launches a task inside of one ACL call. */
static struct npu_issued simple_issue(struct ascope_sim_stream *s, struct npu_task *t, uint32_t acl,
                                      struct npu_times *times)
{
    const uint64_t what = npu_what(NPU_LAUNCHES), begin = what ? npu_now(times) : 0;
    const struct npu_issued i = npu_issue(s, t, what, 0, times, 0);
    if (i.is_recorded && (what & NPU_ACL))
        ascope_call(LEVEL_ACL, acl, begin, npu_now(times), 0);
    return i;
}

/* ---- kernels ---- */

static void tensors_put(const struct ascope_sim_kernel *k, const struct sim_work *w, uint64_t name, uint64_t time)
{
    const uint32_t n = k->n_in + k->n_out;
    const bool is_conv = w->kind == TASK_CUBE && k->n_in > 0 && k->in[0].n_dims == 4;
    for (uint32_t first = 0; first < n; first += TENSOR_MOST) {
        const unsigned here = n - first < TENSOR_MOST ? n - first : TENSOR_MOST;
        struct node_tensor tensor[TENSOR_MOST] = { 0 };
        uint8_t rec[256];
        for (unsigned i = 0; i < here; i++) {
            const bool is_out = first + i >= k->n_in;
            const struct ascope_sim_tensor *t = is_out ? &k->out[first + i - k->n_in] : &k->in[first + i];
            tensor[i].direction = is_out ? TENSOR_OUTPUT : TENSOR_INPUT;
            tensor[i].format = is_conv ? FORMAT_NCHW : FORMAT_ND;
            tensor[i].data_type = t->type;
            for (unsigned dim = 0; dim < t->n_dims && dim < TENSOR_DIMS; dim++)
                tensor[i].shape[dim] = t->dim[dim];
        }
        record_head(rec, KIND_TENSOR, ring_thread(), time);
        record_tensors(rec, name, tensor, here);
        npu_host_put(KIND_TENSOR, rec);
    }
}

static void node_put(const struct ascope_sim_kernel *k, const struct sim_work *w, uint64_t what, uint64_t name,
                     uint64_t time)
{
    const struct sim_task_kind *kind = &sim_task_kinds[w->kind];
    uint8_t rec[256];
    if (what & NPU_NODES) {
        record_head(rec, KIND_NODE, ring_thread(), time);
        record_node(rec, &(struct node){ name, npu_name(k->type), kind->node,
                                         w->blocks | (uint32_t)kind->other_ratio << 16, w->is_eligible });
        npu_host_put(KIND_NODE, rec);
    }
    if (what & NPU_TENSORS)
        tensors_put(k, w, name, time);
    if ((what & NPU_ATTRIBUTES) && w->has_attributes) {
        record_head(rec, KIND_ATTR, ring_thread(), time);
        record_attributes(rec, name, npu_name("transpose_x1:0;transpose_x2:0"));
        npu_host_put(KIND_ATTR, rec);
    }
    if ((what & NPU_NODES) && kind->context != 0) {
        record_head(rec, KIND_CONTEXT, ring_thread(), time);
        record_context(rec, name);
        npu_host_put(KIND_CONTEXT, rec);
    }
}

static void kernel_launch(struct ascope_sim_stream *s, const struct ascope_sim_kernel *k, struct npu_task *t,
                          uint64_t what)
{
    struct npu_times times = { 0 };
    struct operator_names names;
    operator_name(k, &t->work, &names);
    npu_lock();
    const uint32_t type = operator_type(names.call);
    const bool is_graph = npu.n_open > 0;
    t->points = npu_points_of(k->type, names.name);
    npu_unlock();
    const uint64_t name = npu_name(names.name), kernel = npu_name(names.kernel);
    const uint64_t workspace_begin = npu_now(&times), workspace_end = npu_now(&times);
    const uint64_t acl_begin = npu_now(&times);
    struct npu_schedule schedule;
    npu_schedule_begin(&schedule, what, is_graph, &times);
    const uint64_t node_begin = npu_now(&times);
    if (!npu_issue(s, t, what, kernel, &times, 0).is_recorded)
        return;
    if (what & NPU_TASKS) {
        node_put(k, &t->work, what, name, npu_now(&times));
        ascope_call(LEVEL_NODE, TYPE_LAUNCH, node_begin, npu_now(&times), name);
    }
    npu_schedule_end(&schedule, &times, name);
    if (!(what & NPU_ACL))
        return;
    ascope_call(LEVEL_ACL, type, workspace_begin, workspace_end, 0);
    ascope_call(LEVEL_ACL, type + 1, acl_begin, npu_now(&times), 0);
}

void ascope_sim_launch(struct ascope_sim_stream *s, const struct ascope_sim_kernel *k)
{
    struct ascope_sim_kernel kernel = *k;
    const uint64_t what = npu_what(NPU_LAUNCHES);
    if (!kernel.type)
        kernel.type = "Kernel";
    struct npu_task t = { .work = sim_work_of(&kernel) };
    s = npu_stream_of(s);
    if (s && what && t.work.kind <= TASK_MIX_VECTOR)
        npu_args_add(&kernel);
    if (s && what)
        kernel_launch(s, &kernel, &t, what);
    else if (s)
        npu_issue(s, &t, 0, 0, &(struct npu_times){ 0 }, 0);
}

/* ---- copies, events, marks ---- */

/* A large copy is several tasks, all with the same launch time. */
void ascope_sim_copy(struct ascope_sim_stream *s, enum ascope_sim_copy direction, uint64_t bytes)
{
    enum { LARGEST = 64 << 20 };
    struct npu_times times = { 0 };
    const uint64_t what = npu_what(NPU_LAUNCHES), begin = what ? npu_now(&times) : 0;
    struct npu_issued first = { 0 };
    s = npu_stream_of(s);
    for (uint64_t at = 0; s && (at == 0 || at < bytes); at += LARGEST) {
        struct npu_task t = { .work = sim_work_copy(direction, bytes - at < LARGEST ? bytes - at : LARGEST) };
        const struct npu_issued i = npu_issue(s, &t, what, 0, &times, first.time);
        if (at == 0)
            first = i;
    }
    if (!first.is_recorded)
        return;
    if (what & NPU_CALLS) {
        uint8_t rec[64];
        record_head(rec, KIND_MEMCPY, ring_thread(), first.time);
        record_memcpy(rec, bytes, (uint16_t)direction);
        npu_host_put(KIND_MEMCPY, rec);
    }
    if (what & NPU_ACL)
        ascope_call(LEVEL_ACL, TYPE_ACL_MEMCPY, begin, npu_now(&times), 0);
}

struct ascope_sim_event *ascope_sim_event_new(void)
{
    return calloc(1, sizeof(struct ascope_sim_event));
}

void ascope_sim_event_free(struct ascope_sim_event *e)
{
    if (!e)
        return;
    npu_lock();
    npu_point_drop(e->point);
    npu_unlock();
    free(e);
}

void ascope_sim_event_record(struct ascope_sim_event *e, struct ascope_sim_stream *s)
{
    enum { START_NS = 400 };
    struct npu_task t = { .work = { .kind = TASK_EVENT_RECORD, .start_ns = START_NS } };
    s = npu_stream_of(s);
    if (!s || !e)
        return;
    npu_lock();
    npu_point_drop(e->point);
    e->point = npu_point_get(1);
    t.happens = npu_point_keep(e->point);
    npu_unlock();
    simple_issue(s, &t, TYPE_ACL_EVENT_RECORD, &(struct npu_times){ 0 });
}

/* Waiting for an event that was never recorded does not wait. */
void ascope_sim_event_wait(struct ascope_sim_event *e, struct ascope_sim_stream *s)
{
    struct npu_task t = { .work = { .kind = TASK_EVENT_WAIT } };
    s = npu_stream_of(s);
    if (!s || !e)
        return;
    npu_lock();
    t.until = npu_point_keep(e->point);
    npu_unlock();
    simple_issue(s, &t, TYPE_ACL_EVENT_WAIT, &(struct npu_times){ 0 });
}

static bool stream_is_known(const void *stream)
{
    for (unsigned i = 0; i < npu.n_devices; i++)
        for (uint32_t k = 0; k < npu.device[i]->n_streams; k++)
            if (npu.device[i]->stream[k] == stream)
                return true;
    return false;
}

void npu_mark(void *stream, uint64_t id)
{
    const uint64_t what = npu_what(NPU_MARKS);
    if (!what || npu_is_inside) /* the latter: a signal handler that has interrupted the simulator */
        return;
    npu_lock();
    const bool is_known = stream_is_known(stream);
    npu_unlock();
    struct npu_task t = { .work = { .kind = TASK_TRACE }, .mark = id };
    if (is_known && !sim_queue_mark(stream, id))
        npu_issue(stream, &t, what, 0, &(struct npu_times){ 0 }, 0);
}

void *npu_mark_stream(void)
{
    return npu_what(NPU_MARKS) && !npu_is_inside ? npu_stream_of(NULL) : NULL;
}

/* ---- streams ---- */

struct ascope_sim_stream *npu_stream_of(struct ascope_sim_stream *s)
{
    if (s)
        return s;
    npu_lock();
    const struct npu_device *d = npu_device_get(0);
    s = d ? d->stream[0] : NULL;
    npu_unlock();
    return s;
}

struct ascope_sim_stream *ascope_sim_stream_new(unsigned device)
{
    npu_lock();
    struct npu_device *d = npu_device_get(device);
    struct ascope_sim_stream *s = d ? npu_stream_get(d) : NULL;
    npu_unlock();
    return s;
}

static void stream_finish(struct ascope_sim_stream *s)
{
    const uint64_t n = s->n_launched;
    while (s->n_done < n)
        npu_wait();
}

static void stream_finish_all(struct ascope_sim_stream *s)
{
    stream_finish(s);
    for (unsigned i = 0; i < NPU_PLANES - 1; i++)
        if (s->plane[i])
            stream_finish(s->plane[i]);
}

void ascope_sim_stream_free(struct ascope_sim_stream *s)
{
    if (!s || s == s->of->stream[0])
        return;
    npu_lock();
    stream_finish_all(s);
    s->is_free = true;
    npu_unlock();
}

void ascope_sim_synchronize(struct ascope_sim_stream *s)
{
    struct npu_times times = { 0 };
    const uint64_t what = npu_what(NPU_LAUNCHES), begin = what ? npu_now(&times) : 0,
                   inner = what ? npu_now(&times) : 0;
    npu_lock();
    const struct npu_device *d = s ? NULL : npu_device_get(0);
    if (s)
        stream_finish_all(s);
    for (uint32_t i = 0; d && i < d->n_streams; i++)
        if (!d->stream[i]->is_aside)
            stream_finish(d->stream[i]);
    npu_unlock();
    if (what & NPU_CALLS)
        ascope_call(LEVEL_RUNTIME, TYPE_CALL_SYNCHRONIZE, inner, npu_now(&times), 0);
    if (what & NPU_ACL)
        ascope_call(LEVEL_ACL, TYPE_ACL_SYNCHRONIZE, begin, npu_now(&times), 0);
}
