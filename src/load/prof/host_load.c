/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/bytes.h"
#include "base/memory/hash.h"
#include "base/memory/large_memory.h"
#include "base/memory/sort.h"
#include "load/framework/framework_loaders.h"
#include "load/prof/records.h"
#include "load/prof/text.h"
#include "raw/host_records.h"

#define U64(r, f) ((uint64_t *)(r).column[f])
#define U32(r, f) ((uint32_t *)(r).column[f])
#define U16(r, f) ((uint16_t *)(r).column[f])
#define U8(r, f)  ((uint8_t *)(r).column[f])

/* Reads lines "<key>:<text>". A text may contain colons: the first one separates. */
static bool load_lines(struct profile *p, const char *family, bool (*key_of)(struct word w, uint64_t *key),
                       struct error *e)
{
    struct source *s = &p->host.source;
    size_t n;
    const struct stream *stream = source_streams(s, family, &n);
    for (size_t i = 0; i < n; i++) {
        struct bytes text;
        if (!stream_text(s, &stream[i], &text, e))
            return false;
        size_t len;
        for (const char *line; (line = bytes_line(&text, &len));) {
            const char *colon = memchr(line, ':', len);
            uint64_t key;
            if (!colon || !key_of((struct word){ line, (size_t)(colon - line) }, &key)) {
                if (len > 0)
                    stream_lost(s, &stream[i], LOSS_BAD_TEXT, (uint64_t)(line - (const char *)text.data));
                continue;
            }
            const name_id name = names_add(p->names, colon + 1, len - (size_t)(colon + 1 - line));
            if (!dictionary_add(&p->dictionary, key, name))
                return error_no_memory(e, p->path);
        }
    }
    return true;
}

static bool hash_key(struct word w, uint64_t *key)
{
    return word_u64(w, key);
}

/* "5000_12": level and type. */
static bool type_key(struct word w, uint64_t *key)
{
    const char *bar = memchr(w.at, '_', w.len);
    uint64_t level, type;
    if (!bar || !word_u64((struct word){ w.at, (size_t)(bar - w.at) }, &level) || level > UINT16_MAX ||
        !word_u64((struct word){ bar + 1, w.len - (size_t)(bar + 1 - w.at) }, &type))
        return false;
    *key = dictionary_type_key((uint16_t)level, type);
    return true;
}

bool dictionary_load(struct profile *p, struct error *e)
{
    if (!profile_has_host(p))
        return true;
    return load_lines(p, "additional.hash_dic", hash_key, e) && load_lines(p, "additional.type_info_dic", type_key, e);
}

/* The order of rows by (thread, time), which the caller releases with memory_give(); NULL: no memory. */
static uint32_t *thread_time_order(size_t n, const uint32_t *thread, const uint64_t *time)
{
    uint32_t *order = memory_take(n * sizeof *order + 1);
    if (!order)
        return NULL;
    order_fill(order, n);
    if (order_by_u64(order, n, time) && order_by_u32(order, n, thread))
        return order;
    memory_give(order);
    return NULL;
}

bool sorted_load(struct profile *p, const char *family, const struct layout *l, struct sorted *out, struct error *e)
{
    *out = (struct sorted){ .source = &p->host.source, .layout = l, .scratch = arena_new() };
    if (!out->scratch)
        return error_no_memory(e, p->path);
    if (records_load(out->source, out->scratch, family, l, false, &out->in, e)) {
        out->order = thread_time_order(out->in.n, out->in.column[HEAD_THREAD], out->in.column[HEAD_TIME]);
        if (out->order)
            return true;
        error_no_memory(e, p->path);
    }
    arena_free(out->scratch);
    return false;
}

static void *in_order(struct sorted *s, const void *column, size_t size)
{
    void *sorted = arena_take(s->source->mem, s->in.n, size);
    if (sorted)
        order_apply(sorted, column, s->order, s->in.n, size);
    return sorted;
}

void *sorted_column(struct sorted *s, unsigned field)
{
    return in_order(s, s->in.column[field], s->layout->field[field].width);
}

const uint8_t **sorted_rest(struct sorted *s)
{
    return in_order(s, s->in.rest, sizeof *s->in.rest);
}

uint32_t *sorted_calls(struct sorted *s)
{
    uint32_t *call = arena_take(s->source->mem, s->in.n, sizeof *call);
    for (size_t i = 0; call && i < s->in.n; i++)
        call[i] = NO_ROW;
    return call;
}

bool *sorted_is_static(struct sorted *s)
{
    bool *is_static = arena_take(s->source->mem, s->in.n, sizeof *is_static);
    for (size_t i = 0; is_static && i < s->in.n; i++)
        is_static[i] = s->order[i] < s->in.n_unaging;
    return is_static;
}

bool sorted_end(struct sorted *s, struct error *e)
{
    memory_give(s->order);
    arena_free(s->scratch);
    return !arena_failed(s->source->mem) || error_no_memory(e, s->source->path);
}

/* Two points with the same level, type, thread, request and item are the two ends of one call, whichever was written
 * first. Replaces the first by the whole call, and removes the second and all unpaired ones. Returns the number of rows
 * that are left; SIZE_MAX: no memory. */
static size_t pair_events(struct source *s, struct records *r)
{
    uint16_t *level = r->column[API_LEVEL];
    uint32_t *type = r->column[API_TYPE], *thread = r->column[API_THREAD], *request = r->column[API_REQUEST];
    uint64_t *begin = r->column[API_BEGIN], *end = r->column[API_END], *item = r->column[API_ITEM];
    size_t n_events = 0;
    for (size_t i = 0; i < r->n; i++)
        n_events += end[i] == UINT64_MAX;
    size_t n_slots = 16;
    while (n_slots < n_events * 2)
        n_slots *= 2;
    uint32_t *open = memory_take(n_slots * sizeof *open); /* row of an open begin + 1, by the hash of its identity */
    if (!open)
        return SIZE_MAX;
    size_t n = 0, n_open = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (end[i] == UINT64_MAX) {
            uint64_t h = hash_more(hash_u64(item[i]), (uint64_t)thread[i] << 32 ^ request[i]);
            h = hash_more(h, (uint64_t)level[i] << 32 ^ type[i]);
            size_t at = (size_t)h & (n_slots - 1);
            uint32_t begun = 0;
            for (; (begun = open[at]); at = (at + 1) & (n_slots - 1)) {
                const size_t b = begun - 1;
                if (level[b] == level[i] && type[b] == type[i] && thread[b] == thread[i] && request[b] == request[i] &&
                    item[b] == item[i])
                    break;
            }
            if (begun && end[begun - 1] == UINT64_MAX) {
                const uint64_t first = begin[begun - 1];
                begin[begun - 1] = first < begin[i] ? first : begin[i];
                end[begun - 1] = first < begin[i] ? begin[i] : first;
                n_open--;
                continue;
            }
            n_open++;
            open[at] = (uint32_t)n + 1; /* a third point begins another call */
        }
        level[n] = level[i], type[n] = type[i], thread[n] = thread[i], request[n] = request[i];
        begin[n] = begin[i], end[n] = end[i], item[n] = item[i];
        n++;
    }
    memory_give(open);
    losses_add(&s->lost, LOSS_UNPAIRED, n_open, "host/data/api_event.data", 0);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (end[i] == UINT64_MAX)
            continue;
        if (begin[i] == 0) {
            losses_add(&s->lost, LOSS_OUTSIDE, 1, source_file(s, "api_event.data"), 0);
            continue;
        }
        level[kept] = level[i], type[kept] = type[i], thread[kept] = thread[i], request[kept] = request[i];
        begin[kept] = begin[i], end[kept] = end[i], item[kept] = item[i];
        kept++;
    }
    return kept;
}

/* Calls that begin at the same moment: by (level descending, end descending). They are few, unless the file is
 * damaged. */
struct equal_begins {
    const struct records *calls;
    struct arena *scratch;
    uint64_t *end_down; /* keys for order_many(), set for the rows that it sorts */
    uint16_t *level_down;
};

static bool order_many(struct equal_begins *q, uint32_t *order, size_t n)
{
    if (!q->end_down) {
        q->end_down = arena_take(q->scratch, q->calls->n, sizeof *q->end_down);
        q->level_down = arena_take(q->scratch, q->calls->n, sizeof *q->level_down);
    }
    if (arena_failed(q->scratch))
        return false;
    for (size_t i = 0; i < n; i++) {
        q->end_down[order[i]] = ~U64(*q->calls, API_END)[order[i]];
        q->level_down[order[i]] = (uint16_t)~U16(*q->calls, API_LEVEL)[order[i]];
    }
    return order_by_u64(order, n, q->end_down) && order_by_u16(order, n, q->level_down);
}

static void order_few(const struct equal_begins *q, uint32_t *order, size_t n)
{
    const uint64_t *end = U64(*q->calls, API_END);
    const uint16_t *level = U16(*q->calls, API_LEVEL);
    for (size_t i = 1; i < n; i++) {
        const uint32_t row = order[i];
        size_t k = i;
        for (; k > 0; k--) {
            const uint32_t before = order[k - 1];
            if (level[before] > level[row] || (level[before] == level[row] && end[before] >= end[row]))
                break;
            order[k] = before;
        }
        order[k] = row;
    }
}

/* By (thread, begin, level descending, end descending): the outer call before the inner one. NULL without memory. */
static uint32_t *call_order(const struct records *r, struct arena *scratch)
{
    enum { FEW = 16 };
    const uint64_t *begin = U64(*r, API_BEGIN);
    struct equal_begins q = { .calls = r, .scratch = scratch };
    uint32_t *order = arena_take(scratch, r->n, sizeof *order);
    if (!order)
        return NULL;
    order_fill(order, r->n);
    if (!order_by_u64(order, r->n, begin))
        return NULL;
    for (size_t i = 0, end; i < r->n; i = end) {
        for (end = i + 1; end < r->n && begin[order[end]] == begin[order[i]];)
            end++;
        if (end - i <= FEW)
            order_few(&q, order + i, end - i);
        else if (!order_many(&q, order + i, end - i))
            return NULL;
    }
    return order_by_u32(order, r->n, U32(*r, API_THREAD)) ? order : NULL;
}

/* Uses its own memory and losses, so that the other records can be loaded in parallel. */
bool calls_load(struct profile *p, struct error *e)
{
    if (!profile_has_host(p))
        return true;
    struct source own = p->host.source;
    own.lost = (struct losses){ 0 };
    own.mem = p->host.calls_mem = arena_new();
    if (!own.mem)
        return error_no_memory(e, p->path);
    struct sorted s = { .source = &own, .layout = &api_layout, .scratch = arena_new() };
    struct calls *c = &p->host.calls;
    bool done = s.scratch && records_load(s.source, s.scratch, "api_event.data", &api_layout, false, &s.in, e);
    done = done && (s.in.n = pair_events(s.source, &s.in)) != SIZE_MAX && (s.order = call_order(&s.in, s.scratch));
    if (done)
        *c = (struct calls){ .n = s.in.n,
                             .level = sorted_column(&s, API_LEVEL),
                             .type = sorted_column(&s, API_TYPE),
                             .thread = sorted_column(&s, API_THREAD),
                             .request = sorted_column(&s, API_REQUEST),
                             .begin = sorted_column(&s, API_BEGIN),
                             .end = sorted_column(&s, API_END),
                             .item = sorted_column(&s, API_ITEM) };
    arena_free(s.scratch);
    p->host.calls_lost = own.lost;
    return (done && !arena_failed(own.mem)) || error_no_memory(e, own.path);
}

/* Reinterprets the same bytes as doubles. */
static double *as_doubles(uint64_t *bits, size_t n)
{
    double *real = (double *)(void *)bits;
    for (size_t i = 0; bits && i < n; i++) {
        double v;
        memcpy(&v, &bits[i], sizeof v);
        memcpy(&real[i], &v, sizeof v);
    }
    return real;
}

/* Limits the counts in records to what fits into a record, and moves the pointers to the first element. */
static void bound_counts(struct source *s, const char *family, uint32_t *count, const uint8_t **at, size_t n,
                         uint32_t most, size_t first)
{
    for (size_t i = 0; i < n; i++) {
        if (count[i] > most) {
            record_lost(s, family, LOSS_BAD_VALUE, at[i]);
            count[i] = most;
        }
        at[i] += first;
    }
}

static bool load_nodes(struct profile *p, struct error *e)
{
    struct host_records *h = &p->host.records;
    struct sorted s;
    if (!sorted_load(p, "compact.node_basic_info", &node_basic_layout, &s, e))
        return false;
    h->node_basics = (struct node_basics){ .n = s.in.n,
                                           .thread = sorted_column(&s, HEAD_THREAD),
                                           .task_type = sorted_column(&s, NODE_TASK_TYPE),
                                           .blocks = sorted_column(&s, NODE_BLOCKS),
                                           .op_flag = sorted_column(&s, NODE_OP_FLAG),
                                           .time = sorted_column(&s, HEAD_TIME),
                                           .name = sorted_column(&s, NODE_NAME),
                                           .op_type = sorted_column(&s, NODE_OP_TYPE),
                                           .is_static = sorted_is_static(&s),
                                           .call = sorted_calls(&s) };
    if (!sorted_end(&s, e) || !sorted_load(p, "compact.node_attr_info", &node_attr_layout, &s, e))
        return false;
    h->node_attrs = (struct node_attrs){ .n = s.in.n,
                                         .thread = sorted_column(&s, HEAD_THREAD),
                                         .time = sorted_column(&s, HEAD_TIME),
                                         .name = sorted_column(&s, ATTR_NAME),
                                         .text = sorted_column(&s, ATTR_TEXT),
                                         .call = sorted_calls(&s) };
    if (!sorted_end(&s, e) || !sorted_load(p, "additional.context_id_info", &context_id_layout, &s, e))
        return false;
    /* Where ids are wide, tasks have no parts: a mixed operator is one task, whatever contexts the host lists. */
    h->contexts = (struct contexts){ .n = p->host.source.chip->has_wide_ids ? 0 : s.in.n,
                                     .thread = sorted_column(&s, HEAD_THREAD),
                                     .count = sorted_column(&s, CONTEXT_COUNT),
                                     .level = sorted_column(&s, HEAD_LEVEL),
                                     .time = sorted_column(&s, HEAD_TIME),
                                     .name = sorted_column(&s, CONTEXT_OP_NAME),
                                     .ids = sorted_rest(&s),
                                     .call = sorted_calls(&s) };
    const bool done = sorted_end(&s, e);
    if (done)
        bound_counts(s.source, "additional.context_id_info", h->contexts.count, h->contexts.ids, h->contexts.n,
                     CONTEXT_MOST, CONTEXT_FIRST);
    return done;
}

static bool load_hccl(struct profile *p, struct error *e)
{
    struct host_records *h = &p->host.records;
    struct sorted s;
    if (!sorted_load(p, "compact.hccl_op_info", &hccl_op_layout, &s, e))
        return false;
    h->hccl_ops = (struct hccl_ops){ .n = s.in.n,
                                     .thread = sorted_column(&s, HEAD_THREAD),
                                     .time = sorted_column(&s, HEAD_TIME),
                                     .alg = sorted_column(&s, HCCL_OP_ALG),
                                     .count = sorted_column(&s, HCCL_OP_COUNT),
                                     .group = sorted_column(&s, HCCL_OP_GROUP),
                                     .flags = sorted_column(&s, HCCL_OP_FLAGS),
                                     .data_type = sorted_column(&s, HCCL_OP_DATA_TYPE),
                                     .call = sorted_calls(&s) };
    if (!sorted_end(&s, e) || !sorted_load(p, "additional.hccl_info", &hccl_info_layout, &s, e))
        return false;
    h->hccl_infos = (struct hccl_infos){ .n = s.in.n,
                                         .thread = sorted_column(&s, HEAD_THREAD),
                                         .time = sorted_column(&s, HEAD_TIME),
                                         .item = sorted_column(&s, HCCL_ITEM),
                                         .group = sorted_column(&s, HCCL_GROUP),
                                         .notify = sorted_column(&s, HCCL_NOTIFY),
                                         .src = sorted_column(&s, HCCL_SRC),
                                         .dst = sorted_column(&s, HCCL_DST),
                                         .size = sorted_column(&s, HCCL_SIZE),
                                         .estimate_us = as_doubles(sorted_column(&s, HCCL_ESTIMATE), s.in.n),
                                         .local_rank = sorted_column(&s, HCCL_LOCAL_RANK),
                                         .remote_rank = sorted_column(&s, HCCL_REMOTE_RANK),
                                         .rank_size = sorted_column(&s, HCCL_RANK_SIZE),
                                         .plane = sorted_column(&s, HCCL_PLANE),
                                         .context = sorted_column(&s, HCCL_CONTEXT),
                                         .data_type = sorted_column(&s, HCCL_DATA_TYPE),
                                         .link = sorted_column(&s, HCCL_LINK),
                                         .transport = sorted_column(&s, HCCL_TRANSPORT),
                                         .rdma = sorted_column(&s, HCCL_RDMA),
                                         .call = sorted_calls(&s) };
    return sorted_end(&s, e);
}

/* Copies flips, which are records of the same file, into a separate table. */
static bool split_flips(struct arena *mem, const struct tracks *t, size_t n_tracks, struct host_flips *f)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < n_tracks; i++)
        n += t->type[i] == TRACK_TYPE_FLIP;
    *f = (struct host_flips){ .n = n,
                              .device = arena_take(mem, n, sizeof *f->device),
                              .stream = arena_take(mem, n, sizeof *f->stream),
                              .number = arena_take(mem, n, sizeof *f->number),
                              .task = arena_take(mem, n, sizeof *f->task),
                              .time = arena_take(mem, n, sizeof *f->time) };
    uint32_t *order = arena_take(mem, n, sizeof *order);
    if (arena_failed(mem))
        return false;
    for (uint32_t i = 0; i < n_tracks; i++)
        if (t->type[i] == TRACK_TYPE_FLIP)
            order[at++] = i;
    if (!order_by_u64(order, n, t->time) || !order_by_u16(order, n, t->stream) || !order_by_u16(order, n, t->device))
        return false;
    order_apply(f->device, t->device, order, n, sizeof *f->device);
    order_apply(f->stream, t->stream, order, n, sizeof *f->stream);
    order_apply(f->time, t->time, order, n, sizeof *f->time);
    for (size_t i = 0; i < n; i++) {
        f->task[i] = (uint16_t)t->task[order[i]];
        f->number[i] = (uint16_t)(t->task[order[i]] >> 16);
    }
    return true;
}

static bool load_tracks(struct profile *p, struct error *e)
{
    struct host_records *h = &p->host.records;
    struct arena *mem = p->host.source.mem;
    struct sorted s;
    if (!sorted_load(p, "compact.task_track", &task_track_layout, &s, e))
        return false;
    const size_t n = s.in.n;
    const bool is_wide = p->host.source.chip->has_wide_ids;
    struct tracks *t = &h->tracks;
    *t = (struct tracks){ .thread = sorted_column(&s, HEAD_THREAD),
                          .data_len = sorted_column(&s, HEAD_DATA_LEN),
                          .task = sorted_column(&s, TRACK_TASK),
                          .device = sorted_column(&s, TRACK_DEVICE),
                          .stream = sorted_column(&s, TRACK_STREAM),
                          .batch = arena_take(mem, n, sizeof *t->batch),
                          .time = sorted_column(&s, HEAD_TIME),
                          .type = sorted_column(&s, TRACK_TYPE),
                          .kernel = sorted_column(&s, TRACK_KERNEL),
                          .record = sorted_rest(&s),
                          .call = sorted_calls(&s) };
    if (!sorted_end(&s, e))
        return false;
    if (!split_flips(mem, t, n, &h->flips))
        return error_no_memory(e, p->path);
    struct dpu_launches *dpu = &h->dpu_launches;
    size_t n_dpu = 0;
    for (size_t i = 0; i < n; i++)
        n_dpu += t->device[i] >> DPU_KIND_SHIFT != 0;
    *dpu = (struct dpu_launches){ .device = arena_take(mem, n_dpu, sizeof *dpu->device),
                                  .task = arena_take(mem, n_dpu, sizeof *dpu->task),
                                  .kernel = arena_take(mem, n_dpu, sizeof *dpu->kernel) };
    if (arena_failed(mem))
        return error_no_memory(e, p->path);
    for (size_t i = 0; i < n; i++) {
        if (t->device[i] >> DPU_KIND_SHIFT != 0) { /* no NPU */
            dpu->device[dpu->n] = t->device[i];
            dpu->task[dpu->n] = t->task[i];
            dpu->kernel[dpu->n++] = t->kernel[i];
            continue;
        }
        if (t->type[i] == TRACK_TYPE_FLIP || t->type[i] == TRACK_TYPE_MAINTENANCE)
            continue;
        const size_t k = t->n++;
        t->thread[k] = t->thread[i], t->data_len[k] = t->data_len[i], t->device[k] = t->device[i];
        t->stream[k] = t->stream[i], t->record[k] = t->record[i];
        t->time[k] = t->time[i], t->type[k] = t->type[i], t->kernel[k] = t->kernel[i];
        t->batch[k] = is_wide ? 0 : (uint16_t)(t->task[i] >> 16);
        t->task[k] = is_wide ? t->task[i] : t->task[i] & 0xFFFF;
    }
    if (!sorted_load(p, "compact.memcpy_info", &memcpy_layout, &s, e))
        return false;
    h->memcpys = (struct memcpys){ .n = s.in.n,
                                   .thread = sorted_column(&s, HEAD_THREAD),
                                   .stream = sorted_column(&s, MEMCPY_STREAM),
                                   .direction = sorted_column(&s, MEMCPY_DIRECTION),
                                   .kind = sorted_column(&s, MEMCPY_KIND),
                                   .device = sorted_column(&s, MEMCPY_DEVICE),
                                   .time = sorted_column(&s, HEAD_TIME),
                                   .size = sorted_column(&s, MEMCPY_SIZE),
                                   .largest = sorted_column(&s, MEMCPY_LARGEST) };
    return sorted_end(&s, e);
}

static bool load_fusions(struct profile *p, struct error *e)
{
    struct fusions *f = &p->host.records.fusions;
    struct sorted s;
    if (!sorted_load(p, "additional.fusion_op_info", &fusion_op_layout, &s, e))
        return false;
    *f = (struct fusions){ .n = s.in.n,
                           .thread = sorted_column(&s, HEAD_THREAD),
                           .count = sorted_column(&s, FUSION_COUNT),
                           .time = sorted_column(&s, HEAD_TIME),
                           .name = sorted_column(&s, FUSION_NAME),
                           .originals = sorted_rest(&s),
                           .call = sorted_calls(&s) };
    for (unsigned k = 0; k < 5; k++)
        f->bytes[k] = sorted_column(&s, FUSION_INPUT + k);
    const bool done = sorted_end(&s, e);
    if (done)
        bound_counts(s.source, "additional.fusion_op_info", f->count, f->originals, f->n, FUSION_MOST, FUSION_FIRST);
    return done;
}

static bool load_graphs(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct host_records *h = &p->host.records;
    struct records r;
    if (!records_load(s, s->mem, "additional.graph_id_map", &graph_id_layout, false, &r, e))
        return false;
    h->graph_ids = (struct graph_ids){ r.n, U64(r, GRAPH_NAME), U32(r, GRAPH_ID), U32(r, GRAPH_MODEL) };

    if (!records_load(s, s->mem, "compact.capture_stream_info", &capture_stream_layout, false, &r, e))
        return false;
    h->capture_streams = (struct capture_streams){ .n = r.n,
                                                   .status = U16(r, CAPTURE_STATUS),
                                                   .model_stream = U16(r, CAPTURE_MODEL_STREAM),
                                                   .original_stream = U16(r, CAPTURE_ORIGINAL_STREAM),
                                                   .model = U16(r, CAPTURE_MODEL),
                                                   .device = U16(r, CAPTURE_DEVICE),
                                                   .time = U64(r, HEAD_TIME) };

    if (!records_load(s, s->mem, "additional.logic_stream_info", &logic_stream_layout, false, &r, e))
        return false;
    h->logic_streams = (struct logic_streams){ r.n, U32(r, LOGIC_STREAM), U32(r, LOGIC_COUNT), r.rest };
    bound_counts(s, "additional.logic_stream_info", h->logic_streams.count, r.rest, r.n, LOGIC_MOST, LOGIC_FIRST);

    if (!records_load(s, s->mem, "additional.mc2_comm_info", &mc2_comm_layout, false, &r, e))
        return false;
    h->mc2_groups = (struct mc2_groups){ .n = r.n,
                                         .group = U64(r, MC2_GROUP),
                                         .rank_size = U32(r, MC2_RANK_SIZE),
                                         .kfc_stream = U32(r, MC2_KFC_STREAM),
                                         .stream_count = U32(r, MC2_STREAM_COUNT),
                                         .streams = r.rest };
    bound_counts(s, "additional.mc2_comm_info", h->mc2_groups.stream_count, r.rest, r.n, MC2_MOST, MC2_FIRST);

    if (!records_load(s, s->mem, "compact.expand_stream_spec", &expand_stream_layout, false, &r, e))
        return false;
    h->streams_expanded = r.n > 0 && U8(r, EXPAND_STATUS)[0] == 1;
    return true;
}

static bool load_marks(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct records r;
    if (!records_load(s, s->mem, "additional.msproftx", &mark_layout, false, &r, e))
        return false;
    struct marks *m = &p->host.records.marks;
    *m = (struct marks){ .n = r.n,
                         .info = U16(r, MARK_INFO),
                         .segment = U16(r, MARK_SEGMENT),
                         .process = U32(r, MARK_PROCESS),
                         .thread = U32(r, MARK_THREAD),
                         .category = U32(r, MARK_CATEGORY),
                         .event = U32(r, MARK_EVENT),
                         .payload_type = U32(r, MARK_PAYLOAD_TYPE),
                         .message_type = U32(r, MARK_MESSAGE_TYPE),
                         .payload = U64(r, MARK_PAYLOAD),
                         .begin = U64(r, MARK_BEGIN),
                         .end = U64(r, MARK_END),
                         .id = U64(r, MARK_ID),
                         .domain = U64(r, MARK_DOMAIN),
                         .message = arena_take(s->mem, r.n, sizeof *m->message) };
    if (!m->message)
        return error_no_memory(e, s->path);
    for (size_t i = 0; i < r.n; i++) {
        const char *text = (const char *)r.rest[i] + MARK_MESSAGE;
        m->message[i] = names_add(p->names, text, strnlen(text, MARK_MESSAGE_BYTES));
    }
    return true;
}

static bool load_dpu(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct host_records *h = &p->host.records;
    struct records r;
    if (!records_load(s, s->mem, "compact.dpu_track", &dpu_track_layout, false, &r, e))
        return false;
    h->dpu_tracks = (struct dpu_tracks){ .n = r.n,
                                         .thread = U32(r, HEAD_THREAD),
                                         .task = U32(r, DPU_TASK),
                                         .device = U16(r, DPU_DEVICE),
                                         .stream = U16(r, DPU_STREAM),
                                         .start = U64(r, DPU_START),
                                         .end = U64(r, HEAD_TIME) };
    struct layout thin = dpu_hccl_layout;
    thin.n = 0;
    if (!records_load(s, s->mem, "additional.dpu_hccl_info", &thin, false, &r, e))
        return false;
    h->dpu_comms = (struct ccu_records){ r.n, r.rest };
    return true;
}

static bool load_memory(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct host_records *h = &p->host.records;
    struct records r;
    if (!records_load(s, s->mem, "additional.task_memory_info", &task_memory_layout, false, &r, e))
        return false;
    h->op_memory = (struct op_memory){ .n = r.n,
                                       .thread = U32(r, HEAD_THREAD),
                                       .device = U32(r, OP_MEM_DEVICE),
                                       .device_type = U32(r, OP_MEM_DEVICE_TYPE),
                                       .time = U64(r, HEAD_TIME),
                                       .addr = U64(r, OP_MEM_ADDR),
                                       .name = U64(r, OP_MEM_NAME),
                                       .allocated = U64(r, OP_MEM_ALLOCATED),
                                       .reserved = U64(r, OP_MEM_RESERVED),
                                       .size = r.column[OP_MEM_SIZE] };
    if (!records_load(s, s->mem, "additional.static_op_mem", &static_op_mem_layout, false, &r, e))
        return false;
    h->static_memory = (struct static_memory){ .n = r.n,
                                               .size = r.column[STATIC_MEM_SIZE],
                                               .name = U64(r, STATIC_MEM_NAME),
                                               .begin = U64(r, STATIC_MEM_BEGIN),
                                               .end = U64(r, STATIC_MEM_END),
                                               .dynamic_name = U64(r, STATIC_MEM_DYNAMIC_NAME),
                                               .graph = U32(r, STATIC_MEM_GRAPH) };
    return true;
}

bool host_load(struct profile *p, struct error *e)
{
    if (!profile_has_host(p))
        return true;
    return load_nodes(p, e) && load_hccl(p, e) && load_tracks(p, e) && load_fusions(p, e) && load_graphs(p, e) &&
           load_marks(p, e) && load_dpu(p, e) && (p->without & PROFILE_MEMORY || load_memory(p, e)) &&
           (p->without & PROFILE_TENSORS || tensors_load(p, e)) && captured_ops_load(p, e) && mc2_groups_index(p, e) &&
           (!p->chip->has_ccu || ccu_plans_load(p, e));
}
