/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/memory/keys.h"

enum { PYTHON_SORT = 0, GC_SORT = 1 };

/* Rows of a forward operator and of its backward operator. */
struct fwdbwd {
    uint32_t forward, backward;
};

/* Threads in the order of their first appearance among operators, dequeues, enqueues and Python calls. */
struct host_thread {
    bool is_dequeue; /* it only takes tasks out of the queue: its track is sorted below the others */
    bool is_first_of_process;
};
struct host_threads {
    struct keys keys, processes; /* keys: process << 32 | thread */
    LIST(struct host_thread) row;
    uint32_t last; /* the highest thread id */
};

struct framework_tracks_section;
struct framework_tracks {
    const struct framework *framework;
    const name_id *enqueue_name; /* of each enqueue: the operator, or NO_NAME */
    struct host_threads threads;
    struct framework_lanes lanes;
    LIST(struct fwdbwd) fwdbwd;
    struct keys gc_processes;
    unsigned gc_device; /* the device in the pids of garbage collections: the first one, or TRACE_HOST */
    const struct framework_tracks_section *const *section;
    size_t n_parts;
};

struct framework_tracks_section {
    size_t (*count)(const struct framework_tracks *f);
    void (*write)(const struct framework_tracks *f, struct trace *t, size_t first, size_t end);
};

/* The row (tid) in which an operator is drawn. */
static int64_t framework_op_row(const struct framework_tracks *f, size_t op)
{
    return framework_lane_row(&f->lanes, SLICES_OPS, op, f->framework->ops.thread[op]);
}

static size_t count_ops(const struct framework_tracks *f)
{
    return f->framework->ops.n;
}

static void write_ops(const struct framework_tracks *f, struct trace *t, size_t first, size_t end)
{
    const struct framework_ops *o = &f->framework->ops;
    for (size_t i = first; i < end; i++) {
        trace_slice_name(t, o->name[i], o->process[i], framework_op_row(f, i), o->begin_ns[i],
                         (double)(o->end_ns[i] - o->begin_ns[i]));
        trace_category(t, "cpu_op");
        trace_args(t);
        trace_arg_int(t, "Sequence number", o->sequence[i]);
        trace_arg_uint(t, "Fwd thread id", o->forward_thread[i]);
        host_arg_name(t, "Input Dims", o->shapes[i]);
        host_arg_name(t, "Input type", o->types[i]);
        host_arg_name(t, "Call stack", o->stack[i]);
        host_arg_name(t, "Module Hierarchy", o->modules[i]);
        host_arg_name(t, "flops", o->flops[i]);
        trace_end(t);
    }
}

/* Completes a slice of the queue: category, correlation id, and its flow event (from enqueue to dequeue). */
static void queue_rest(struct trace *t, const struct queue_spans *q, size_t i, int64_t row, const char *category,
                       char end)
{
    trace_category(t, category);
    trace_args(t);
    trace_arg_uint(t, "correlation_id", q->id[i]);
    trace_end(t);
    const struct flow flow = { end, true, "enqueue_to_dequeue", "async_task_queue", NULL, q->id[i] };
    trace_flow(t, &flow, q->process[i], row, q->begin_ns[i]);
}

static size_t count_enqueues(const struct framework_tracks *f)
{
    return f->framework->enqueue.n;
}

static void write_enqueues(const struct framework_tracks *f, struct trace *t, size_t first, size_t end)
{
    static const char word[] = "Enqueue";
    const struct queue_spans *q = &f->framework->enqueue;
    for (size_t i = first; i < end; i++) {
        const double dur_ns = (double)(q->end_ns[i] - q->begin_ns[i]);
        const int64_t row = framework_lane_row(&f->lanes, SLICES_ENQUEUE, i, q->thread[i]);
        if (f->enqueue_name[i] != NO_NAME)
            trace_slice_prefixed(t, word, f->enqueue_name[i], q->process[i], row, q->begin_ns[i], dur_ns);
        else
            trace_slice(t, word, sizeof word - 1, q->process[i], row, q->begin_ns[i], dur_ns);
        queue_rest(t, q, i, row, "enqueue", 's');
    }
}

static size_t count_dequeues(const struct framework_tracks *f)
{
    return f->framework->dequeue.n;
}

static void write_dequeues(const struct framework_tracks *f, struct trace *t, size_t first, size_t end)
{
    const struct queue_spans *q = &f->framework->dequeue;
    for (size_t i = first; i < end; i++) {
        const int64_t row = framework_lane_row(&f->lanes, SLICES_DEQUEUE, i, q->thread[i]);
        trace_slice_prefixed(t, "Dequeue", q->name[i], q->process[i], row, q->begin_ns[i],
                             (double)(q->end_ns[i] - q->begin_ns[i]));
        queue_rest(t, q, i, row, "dequeue", 'f');
    }
}

static size_t count_threads(const struct framework_tracks *f)
{
    return f->threads.keys.key.n;
}

static void write_threads(const struct framework_tracks *f, struct trace *t, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const uint32_t process = (uint32_t)(f->threads.keys.key.at[i] >> 32),
                       thread = (uint32_t)f->threads.keys.key.at[i];
        if (f->threads.row.at[i].is_first_of_process)
            trace_process(t, process, "Python", "CPU", PYTHON_SORT);
        char name[32];
        snprintf(name, sizeof name, "Thread %" PRIu32, thread);
        trace_thread(t, process, thread, name, f->threads.row.at[i].is_dequeue ? (int64_t)f->threads.last + 1 : thread);
    }
}

static size_t count_lanes(const struct framework_tracks *f)
{
    return f->lanes.further.n;
}

static void write_lanes(const struct framework_tracks *f, struct trace *t, size_t first, size_t end)
{
    framework_lanes_write(&f->lanes, t, first, end);
}

static size_t count_fwdbwd(const struct framework_tracks *f)
{
    return f->fwdbwd.n;
}

static void write_fwdbwd(const struct framework_tracks *f, struct trace *t, size_t first, size_t end)
{
    const struct framework_ops *o = &f->framework->ops;
    for (size_t i = first; i < end; i++)
        for (int k = 0; k < 2; k++) {
            const uint32_t row = k == 0 ? f->fwdbwd.at[i].forward : f->fwdbwd.at[i].backward;
            const struct flow flow = { "sf"[k], true, "fwdbwd", "fwdbwd", NULL, (uint64_t)o->sequence[row] };
            trace_flow(t, &flow, o->process[row], framework_op_row(f, row), o->begin_ns[row]);
        }
}

static size_t count_python(const struct framework_tracks *f)
{
    return f->framework->python.n;
}

/* Backwards, a caller before what it calls: of those that were open all the time, times do not say which is which. */
static void write_python(const struct framework_tracks *f, struct trace *t, size_t first, size_t end)
{
    const struct python_calls *p = &f->framework->python;
    for (size_t k = first; k < end; k++) {
        const size_t i = p->n - 1 - k;
        const int64_t row = framework_lane_row(&f->lanes, SLICES_PYTHON, i, p->thread[i]);
        trace_slice_name(t, p->name[i], p->process[i], row, p->begin_ns[i], (double)(p->end_ns[i] - p->begin_ns[i]));
        trace_category(t, "python_function");
        trace_args(t);
        trace_arg_uint(t, "Python id", p->id[i]);
        trace_arg_uint(t, "Python parent id", p->parent[i]);
        if (p->module[i] != NO_MODULE_NUMBER)
            trace_arg_uint(t, "Python module id", p->module[i]);
        trace_end(t);
    }
}

static uint32_t gc_pid(const struct framework_tracks *f, uint32_t process)
{
    return trace_pid(process, GC_SORT, f->gc_device);
}

static size_t count_gc(const struct framework_tracks *f)
{
    return f->framework->gc.n;
}

static void write_gc(const struct framework_tracks *f, struct trace *t, size_t first, size_t end)
{
    const struct collected_garbage *g = &f->framework->gc;
    for (size_t i = first; i < end; i++) {
        trace_slice(t, "GC", 2, gc_pid(f, g->process[i]), g->process[i], g->begin_ns[i],
                    (double)(g->end_ns[i] - g->begin_ns[i]));
        trace_category(t, "GC");
        trace_args(t);
        trace_end(t);
    }
}

static size_t count_gc_processes(const struct framework_tracks *f)
{
    return f->gc_processes.key.n;
}

static void write_gc_processes(const struct framework_tracks *f, struct trace *t, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const uint32_t process = (uint32_t)f->gc_processes.key.at[i];
        trace_process(t, gc_pid(f, process), "Python GC", "CPU", GC_SORT);
        trace_thread(t, gc_pid(f, process), process, "Python GC", process);
    }
}

static const struct framework_tracks_section ops = { count_ops, write_ops },
                                             enqueues = { count_enqueues, write_enqueues },
                                             dequeues = { count_dequeues, write_dequeues },
                                             threads = { count_threads, write_threads },
                                             lanes = { count_lanes, write_lanes },
                                             fwdbwd = { count_fwdbwd, write_fwdbwd },
                                             python = { count_python, write_python }, gc = { count_gc, write_gc },
                                             gc_processes = { count_gc_processes, write_gc_processes };
/* The order of the sections in a file. */
enum { SECTIONS = 9 };
static const struct framework_tracks_section *const section_order[][SECTIONS] = {
    [DIALECT_DOCUMENTED] = { &ops, &enqueues, &dequeues, &threads, &lanes, &fwdbwd, &python, &gc, &gc_processes },
    [DIALECT_CURRENT] = { &ops, &dequeues, &enqueues, &threads, &lanes, &fwdbwd, &python, &gc, &gc_processes },
};

static size_t n_parts_of(const void *tracks)
{
    const struct framework_tracks *f = tracks;
    return f->n_parts;
}

static void write_part(const void *tracks, size_t i, struct trace *t)
{
    const struct framework_tracks *f = tracks;
    for (size_t k = 0, first, end; k < SECTIONS; k++)
        if (host_part(f->section[k]->count(f), &i, &first, &end)) {
            f->section[k]->write(f, t, first, end);
            return;
        }
}

/* By which kind of event a thread is found. */
enum thread_use { USE_CALLS, USE_DEQUEUE, USE_PYTHON };

static bool threads_add(struct host_threads *h, size_t n, const uint32_t *process, const uint32_t *thread,
                        enum thread_use use, struct arena *mem)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && thread[i] == thread[i - 1] && process[i] == process[i - 1])
            continue;
        const uint32_t place = keys_add(&h->keys, (uint64_t)process[i] << 32 | thread[i], mem);
        if (place == KEYS_NO_MEMORY)
            return false;
        const bool is_new = place == h->row.n;
        const size_t n_processes = h->processes.key.n;
        if (is_new && (!list_add(&h->row, mem) || keys_add(&h->processes, process[i], mem) == KEYS_NO_MEMORY))
            return false;
        if (is_new)
            h->row.at[place].is_first_of_process = h->processes.key.n > n_processes;
        if (is_new || use != USE_PYTHON)
            h->row.at[place].is_dequeue = use == USE_DEQUEUE;
        h->last = thread[i] > h->last ? thread[i] : h->last;
    }
    return true;
}

static bool find_threads(struct framework_tracks *f, struct arena *mem)
{
    const struct framework *w = f->framework;
    return threads_add(&f->threads, w->ops.n, w->ops.process, w->ops.thread, USE_CALLS, mem) &&
           threads_add(&f->threads, w->dequeue.n, w->dequeue.process, w->dequeue.thread, USE_DEQUEUE, mem) &&
           threads_add(&f->threads, w->enqueue.n, w->enqueue.process, w->enqueue.thread, USE_CALLS, mem) &&
           threads_add(&f->threads, w->python.n, w->python.process, w->python.thread, USE_PYTHON, mem);
}

/* Pairs, for each sequence number, the forward operator that began last with the backward operator that began last, if
 * their threads differ. False: no memory. */
static bool find_fwdbwd(struct framework_tracks *f, struct arena *mem)
{
    enum { NONE = UINT32_MAX };
    const struct framework_ops *o = &f->framework->ops;
    struct arena *own = arena_new();
    struct keys keys = { 0 };
    LIST(struct fwdbwd) pair = { 0 };
    bool done = own != NULL;
    for (uint32_t i = 0; done && i < o->n; i++) {
        if (o->sequence[i] < 0)
            continue;
        const uint32_t place = keys_add(&keys, (uint64_t)o->sequence[i], own);
        const bool is_new = place != KEYS_NO_MEMORY && place == pair.n;
        struct fwdbwd *p = is_new ? list_add(&pair, own) : place != KEYS_NO_MEMORY ? &pair.at[place] : NULL;
        done = p != NULL;
        if (is_new && p)
            *p = (struct fwdbwd){ NONE, NONE };
        uint32_t *row = !p ? NULL : o->forward_thread[i] == 0 ? &p->forward : &p->backward;
        if (row && (*row == NONE || o->begin_ns[*row] < o->begin_ns[i]))
            *row = i;
    }
    for (size_t i = 0; done && i < pair.n; i++) {
        const struct fwdbwd p = pair.at[i];
        if (p.forward == NONE || p.backward == NONE || o->thread[p.forward] == o->thread[p.backward])
            continue;
        struct fwdbwd *slot = list_add(&f->fwdbwd, mem);
        done = slot != NULL;
        if (slot)
            *slot = p;
    }
    arena_free(own);
    return done;
}

/* Records of an enqueue have no operator name, those of the dequeue with the same id do. */
static bool find_enqueue_names(struct framework_tracks *f, struct arena *mem)
{
    const struct queue_spans *in = &f->framework->enqueue, *out = &f->framework->dequeue;
    struct arena *own = arena_new();
    struct keys ids = { 0 };
    name_id *name = arena_take(mem, in->n, sizeof *name),
            *by_place = own ? arena_take(own, out->n, sizeof *name) : NULL;
    bool done = name && by_place;
    for (size_t i = 0; done && i < out->n; i++) {
        const uint32_t place = keys_add(&ids, out->id[i], own);
        done = place != KEYS_NO_MEMORY;
        if (done)
            by_place[place] = out->name[i];
    }
    const size_t n_known = ids.key.n;
    for (size_t i = 0; done && i < in->n; i++) {
        const uint32_t place = keys_add(&ids, in->id[i], own);
        done = place != KEYS_NO_MEMORY;
        name[i] = place < n_known ? by_place[place] : NO_NAME;
    }
    f->enqueue_name = name;
    arena_free(own);
    return done;
}

static bool find_gc_processes(struct framework_tracks *f, struct arena *mem)
{
    const struct collected_garbage *g = &f->framework->gc;
    for (size_t i = 0; i < g->n; i++)
        if ((i == 0 || g->process[i] != g->process[i - 1]) &&
            keys_add(&f->gc_processes, g->process[i], mem) == KEYS_NO_MEMORY)
            return false;
    return true;
}

static void *tracks_take(const struct collection_export *x)
{
    const struct collection *s = x->collection;
    struct arena *mem = x->mem;
    struct framework_tracks *f = arena_take(mem, 1, sizeof *f);
    if (!f)
        return NULL;
    f->framework = x->framework;
    f->section = section_order[x->device.options->dialect];
    f->gc_device = s->has_device && s->profile.n_devices > 0 ? s->profile.device[0].source.device : TRACE_HOST;
    if (!find_threads(f, mem) ||
        (!x->device.options->keeps_overlaps && !framework_lanes_find(&f->lanes, f->framework, mem)) ||
        !find_fwdbwd(f, mem) || !find_gc_processes(f, mem) || !find_enqueue_names(f, mem))
        return NULL;
    for (size_t i = 0; i < SECTIONS; i++)
        f->n_parts += host_parts(f->section[i]->count(f));
    return f;
}

static int64_t begin_of(const struct framework *f)
{
    int64_t least = host_earliest(f->ops.begin_ns, f->ops.n, INT64_MAX);
    least = host_earliest(f->enqueue.begin_ns, f->enqueue.n, least);
    least = host_earliest(f->dequeue.begin_ns, f->dequeue.n, least);
    least = host_earliest(f->python.begin_ns, f->python.n, least);
    return host_earliest(f->gc.begin_ns, f->gc.n, least);
}

/* Draws flows from operators to what they started on devices. A flow ends in the lane to which lanes.h has moved the
 * slice. */
static void draw_flows(const struct collection_export *x, const struct framework_tracks *f, struct trace *t,
                       const struct lanes *moved, const struct kernel_places *places)
{
    const struct collection *s = x->collection;
    const struct framework_ops *o = &s->framework.ops;
    const struct kernels *k = &s->kernels;
    static const char *const name[] = { "torch_to_npu", "torch_to_gpu" }, *const category[] = { "async_npu",
                                                                                                "async_gpu" };
    const bool is_gpu = s->profile.chip->group == ON_CUDA;
    for (size_t i = 0; s->tree.n_started > 0 && i < o->n; i++)
        for (size_t n = s->tree.first_started[i]; n < s->tree.first_started[i + 1]; n++) {
            const uint32_t op = s->tree.by_begin[i], kernel = s->tree.started[n];
            const uint32_t shown = x->part ? x->part->op_row[op] : op;
            if (shown == NO_ROW || !collection_shows_device(x, k->begin_ns[kernel]))
                continue;
            const struct place at = kernel_place(places, k, kernel);
            const unsigned lane = lanes_moved(moved, at.pid, at.tid, k->begin_ns[kernel]);
            struct flow flow = { 's', true, name[is_gpu], category[is_gpu], NULL, (uint64_t)k->begin_ns[kernel] };
            trace_flow(t, &flow, o->process[op], framework_op_row(f, shown), o->begin_ns[op]);
            flow.end = 'f';
            trace_flow(t, &flow, at.pid, lane_tid(at.tid, lane), k->begin_ns[kernel]);
        }
}

static bool framework_tracks_finish(const struct collection_export *x, const void *tracks, struct trace *t,
                                    const struct lanes *moved)
{
    struct kernel_places places;
    if (!moved)
        return true;
    const bool done = kernel_places_take(&places, &x->collection->profile, x->mem);
    if (done)
        draw_flows(x, tracks, t, moved, &places);
    return done;
}

const struct host_tracks torch_host_tracks = { tracks_take, n_parts_of, write_part, framework_tracks_finish, begin_of };
