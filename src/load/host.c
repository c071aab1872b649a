#include "load/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sort.h"
#include "load/aicpu_comm.h"
#include "load/records.h"
#include "load/tensors.h"
#include "load/text.h"
#include "raw/host.h"

#define U64(r, f) ((uint64_t *)(r).column[f])
#define U32(r, f) ((uint32_t *)(r).column[f])
#define U16(r, f) ((uint16_t *)(r).column[f])
#define U8(r, f)  ((uint8_t *)(r).column[f])

/* Lines of "<key>:<text>". Strings hold colons of their own: the first one counts. */
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
                return error_set(e, FAULT_LIMIT, "%s: no memory for its dictionary", p->path);
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

/* The order of rows by (thread, time), for the caller to free; NULL without memory. */
static uint32_t *thread_time_order(size_t n, const uint32_t *thread, const uint64_t *time)
{
    uint32_t *order = malloc(n * sizeof *order + 1);
    if (!order)
        return NULL;
    order_fill(order, n);
    if (order_by_u64(order, n, time) && order_by_u32(order, n, thread))
        return order;
    free(order);
    return NULL;
}

/* Puts every column (and the pointers to the records) into a new order. One column at a time is held twice. */
static bool reorder(const struct layout *l, struct records *r, const uint32_t *order)
{
    void *moved = malloc(r->n * sizeof(uint64_t) + 1);
    if (!moved)
        return false;
    for (unsigned f = 0; f < l->n; f++) {
        const size_t size = l->field[f].width;
        order_apply(moved, r->column[f], order, r->n, size);
        memcpy(r->column[f], moved, r->n * size);
    }
    if (r->rest) {
        order_apply(moved, r->rest, order, r->n, sizeof *r->rest);
        memcpy(r->rest, moved, r->n * sizeof *r->rest);
    }
    free(moved);
    return true;
}

bool host_load_sorted(struct profile *p, const char *family, const struct layout *l, struct records *r, uint32_t **call,
                      bool **is_static, struct error *e)
{
    struct source *s = &p->host.source;
    if (!records_load(s, family, l, false, r, e))
        return false;
    uint32_t *order = thread_time_order(r->n, r->column[HEAD_THREAD], r->column[HEAD_TIME]);
    bool done = order && reorder(l, r, order);
    if (done && call)
        done = (*call = arena_take(s->mem, r->n, sizeof **call)) != NULL;
    for (size_t i = 0; done && call && i < r->n; i++)
        (*call)[i] = NO_ROW;
    if (done && is_static)
        done = (*is_static = arena_take(s->mem, r->n, sizeof **is_static)) != NULL;
    for (size_t i = 0; done && is_static && i < r->n; i++)
        (*is_static)[i] = order[i] < r->n_unaging;
    free(order);
    return done || error_set(e, FAULT_LIMIT, "%s: no memory to sort the %s records", s->path, l->name);
}

/* Two points with the same level, type, thread, request and item are the two ends of one call. Replaces the first by
 * the whole call, and drops the second and what stays alone. Returns how many rows are left. */
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
    uint32_t *open = malloc(n_slots * sizeof *open); /* row of an open begin + 1, by the hash of its identity */
    if (!open)
        return SIZE_MAX;
    memset(open, 0, n_slots * sizeof *open);
    size_t n = 0, n_open = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (end[i] == UINT64_MAX) {
            uint64_t h = (item[i] ^ (uint64_t)thread[i] << 32 ^ request[i]) * 0x9e3779b97f4a7c15u;
            h = (h ^ (uint64_t)level[i] << 32 ^ type[i]) * 0x9e3779b97f4a7c15u >> 24;
            size_t at = (size_t)h & (n_slots - 1);
            uint32_t begun = 0;
            for (; (begun = open[at]); at = (at + 1) & (n_slots - 1)) {
                const size_t b = begun - 1;
                if (level[b] == level[i] && type[b] == type[i] && thread[b] == thread[i] && request[b] == request[i] &&
                    item[b] == item[i])
                    break;
            }
            if (begun && end[begun - 1] == UINT64_MAX) {
                end[begun - 1] = begin[i];
                n_open--;
                continue;
            }
            n_open++;
            open[at] = (uint32_t)n + 1; /* a third point begins anew */
        }
        level[n] = level[i], type[n] = type[i], thread[n] = thread[i], request[n] = request[i];
        begin[n] = begin[i], end[n] = end[i], item[n] = item[i];
        n++;
    }
    free(open);
    losses_add(&s->lost, LOSS_UNPAIRED, n_open, "host/data/api_event.data", 0);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (end[i] == UINT64_MAX || begin[i] == 0)
            continue;
        level[kept] = level[i], type[kept] = type[i], thread[kept] = thread[i], request[kept] = request[i];
        begin[kept] = begin[i], end[kept] = end[i], item[kept] = item[i];
        kept++;
    }
    return kept;
}

/* By (thread, begin, level descending, end descending): the outer call before the inner one. */
static bool sort_calls(struct records *r)
{
    struct arena *scratch = arena_new();
    uint32_t *order = scratch ? arena_take(scratch, r->n, sizeof *order) : NULL;
    uint64_t *end_down = order ? arena_take(scratch, r->n, sizeof *end_down) : NULL;
    uint16_t *level_down = end_down ? arena_take(scratch, r->n, sizeof *level_down) : NULL;
    bool done = level_down != NULL;
    for (size_t i = 0; done && i < r->n; i++) {
        end_down[i] = ~U64(*r, API_END)[i];
        level_down[i] = (uint16_t)~U16(*r, API_LEVEL)[i];
    }
    if (done) {
        order_fill(order, r->n);
        done = order_by_u64(order, r->n, end_down) && order_by_u16(order, r->n, level_down) &&
               order_by_u64(order, r->n, U64(*r, API_BEGIN)) && order_by_u32(order, r->n, U32(*r, API_THREAD)) &&
               reorder(&api_layout, r, order);
    }
    arena_free(scratch);
    return done;
}

static bool load_calls(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct records r;
    if (!records_load(s, "api_event.data", &api_layout, false, &r, e))
        return false;
    r.n = pair_events(s, &r);
    if (r.n == SIZE_MAX || !sort_calls(&r))
        return error_set(e, FAULT_LIMIT, "%s: no memory to sort its calls", s->path);

    struct calls *c = &p->host.calls;
    *c = (struct calls){ .n = r.n,
                         .level = r.column[API_LEVEL],
                         .type = r.column[API_TYPE],
                         .thread = r.column[API_THREAD],
                         .request = r.column[API_REQUEST],
                         .begin = r.column[API_BEGIN],
                         .end = r.column[API_END],
                         .item = r.column[API_ITEM] };
    return true;
}

/* The same eight bytes, from now on a double. */
static double *as_doubles(uint64_t *bits, size_t n)
{
    double *real = (double *)(void *)bits;
    for (size_t i = 0; i < n; i++) {
        double v;
        memcpy(&v, &bits[i], sizeof v);
        memcpy(&real[i], &v, sizeof v);
    }
    return real;
}

/* Cuts a count that a record claims down to what fits into it, and moves the pointers to the first element. */
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
    struct records r;
    uint32_t *call;
    bool *is_static;
    if (!host_load_sorted(p, "compact.node_basic_info", &node_basic_layout, &r, &call, &is_static, e))
        return false;
    h->node_basics = (struct node_basics){ .n = r.n,
                                           .thread = U32(r, HEAD_THREAD),
                                           .task_type = U32(r, NODE_TASK_TYPE),
                                           .blocks = U32(r, NODE_BLOCKS),
                                           .op_flag = U32(r, NODE_OP_FLAG),
                                           .time = U64(r, HEAD_TIME),
                                           .name = U64(r, NODE_NAME),
                                           .op_type = U64(r, NODE_OP_TYPE),
                                           .is_static = is_static,
                                           .call = call };
    if (!host_load_sorted(p, "compact.node_attr_info", &node_attr_layout, &r, &call, NULL, e))
        return false;
    h->node_attrs = (struct node_attrs){ .n = r.n,
                                         .thread = U32(r, HEAD_THREAD),
                                         .time = U64(r, HEAD_TIME),
                                         .name = U64(r, ATTR_NAME),
                                         .text = U64(r, ATTR_TEXT),
                                         .call = call };
    if (!host_load_sorted(p, "additional.context_id_info", &context_id_layout, &r, &call, NULL, e))
        return false;
    h->contexts = (struct contexts){ .n = r.n,
                                     .thread = U32(r, HEAD_THREAD),
                                     .count = U32(r, CONTEXT_COUNT),
                                     .level = U16(r, HEAD_LEVEL),
                                     .time = U64(r, HEAD_TIME),
                                     .name = U64(r, CONTEXT_OP_NAME),
                                     .ids = r.rest,
                                     .call = call };
    bound_counts(&p->host.source, "additional.context_id_info", h->contexts.count, r.rest, r.n, CONTEXT_MOST,
                 CONTEXT_FIRST);
    return true;
}

static bool load_hccl(struct profile *p, struct error *e)
{
    struct host_records *h = &p->host.records;
    struct records r;
    uint32_t *call;
    if (!host_load_sorted(p, "compact.hccl_op_info", &hccl_op_layout, &r, &call, NULL, e))
        return false;
    h->hccl_ops = (struct hccl_ops){ .n = r.n,
                                     .thread = U32(r, HEAD_THREAD),
                                     .time = U64(r, HEAD_TIME),
                                     .alg = U64(r, HCCL_OP_ALG),
                                     .count = U64(r, HCCL_OP_COUNT),
                                     .group = U64(r, HCCL_OP_GROUP),
                                     .flags = U8(r, HCCL_OP_FLAGS),
                                     .data_type = U8(r, HCCL_OP_DATA_TYPE),
                                     .call = call };
    if (!host_load_sorted(p, "additional.hccl_info", &hccl_info_layout, &r, &call, NULL, e))
        return false;
    h->hccl_infos = (struct hccl_infos){ .n = r.n,
                                         .thread = U32(r, HEAD_THREAD),
                                         .time = U64(r, HEAD_TIME),
                                         .item = U64(r, HCCL_ITEM),
                                         .group = U64(r, HCCL_GROUP),
                                         .notify = U64(r, HCCL_NOTIFY),
                                         .src = U64(r, HCCL_SRC),
                                         .dst = U64(r, HCCL_DST),
                                         .size = U64(r, HCCL_SIZE),
                                         .estimate_us = as_doubles(U64(r, HCCL_ESTIMATE), r.n),
                                         .local_rank = U32(r, HCCL_LOCAL_RANK),
                                         .remote_rank = U32(r, HCCL_REMOTE_RANK),
                                         .rank_size = U32(r, HCCL_RANK_SIZE),
                                         .plane = U32(r, HCCL_PLANE),
                                         .context = U32(r, HCCL_CONTEXT),
                                         .data_type = U32(r, HCCL_DATA_TYPE),
                                         .link = U32(r, HCCL_LINK),
                                         .transport = U32(r, HCCL_TRANSPORT),
                                         .rdma = U32(r, HCCL_RDMA),
                                         .call = call };
    return true;
}

/* Flips are records of the same file: they go into a table of their own. */
static bool split_flips(struct source *s, const struct records *r, struct host_flips *f)
{
    size_t n = 0, at = 0;
    for (size_t i = 0; i < r->n; i++)
        n += U64(*r, TRACK_TYPE)[i] == TRACK_TYPE_FLIP;
    *f = (struct host_flips){ .n = n,
                              .device = arena_take(s->mem, n, sizeof *f->device),
                              .stream = arena_take(s->mem, n, sizeof *f->stream),
                              .number = arena_take(s->mem, n, sizeof *f->number),
                              .task = arena_take(s->mem, n, sizeof *f->task),
                              .time = arena_take(s->mem, n, sizeof *f->time) };
    uint32_t *order = arena_take(s->mem, n, sizeof *order);
    if (arena_failed(s->mem))
        return false;
    for (uint32_t i = 0; i < r->n; i++)
        if (U64(*r, TRACK_TYPE)[i] == TRACK_TYPE_FLIP)
            order[at++] = i;
    if (!order_by_u64(order, n, U64(*r, HEAD_TIME)) || !order_by_u16(order, n, U16(*r, TRACK_STREAM)) ||
        !order_by_u16(order, n, U16(*r, TRACK_DEVICE)))
        return false;
    order_apply(f->device, r->column[TRACK_DEVICE], order, n, sizeof *f->device);
    order_apply(f->stream, r->column[TRACK_STREAM], order, n, sizeof *f->stream);
    order_apply(f->time, r->column[HEAD_TIME], order, n, sizeof *f->time);
    for (size_t i = 0; i < n; i++) {
        f->task[i] = U32(*r, TRACK_TASK)[order[i]] & 0xFFFF;
        f->number[i] = (uint16_t)(U32(*r, TRACK_TASK)[order[i]] >> 16);
    }
    return true;
}

static bool load_tracks(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct host_records *h = &p->host.records;
    struct records r;
    uint32_t *call;
    if (!host_load_sorted(p, "compact.task_track", &task_track_layout, &r, &call, NULL, e))
        return false;
    uint16_t *batch = arena_take(s->mem, r.n, sizeof *batch);
    if (!batch || !split_flips(s, &r, &h->flips))
        return error_set(e, FAULT_LIMIT, "%s: no memory for its tasks", s->path);
    struct tracks *t = &h->tracks;
    *t = (struct tracks){ .thread = U32(r, HEAD_THREAD),
                          .data_len = U32(r, HEAD_DATA_LEN),
                          .task = U32(r, TRACK_TASK),
                          .device = U16(r, TRACK_DEVICE),
                          .stream = U16(r, TRACK_STREAM),
                          .batch = batch,
                          .time = U64(r, HEAD_TIME),
                          .type = U64(r, TRACK_TYPE),
                          .kernel = U64(r, TRACK_KERNEL),
                          .record = r.rest,
                          .call = call };
    for (size_t i = 0; i < r.n; i++) {
        if (t->type[i] == TRACK_TYPE_FLIP || t->type[i] == TRACK_TYPE_MAINTENANCE)
            continue;
        const size_t k = t->n++;
        t->thread[k] = t->thread[i], t->data_len[k] = t->data_len[i], t->device[k] = t->device[i];
        t->stream[k] = t->stream[i], t->record[k] = t->record[i];
        t->time[k] = t->time[i], t->type[k] = t->type[i], t->kernel[k] = t->kernel[i];
        t->batch[k] = (uint16_t)(t->task[i] >> 16);
        t->task[k] = t->task[i] & 0xFFFF;
    }
    if (!host_load_sorted(p, "compact.memcpy_info", &memcpy_layout, &r, NULL, NULL, e))
        return false;
    h->memcpys = (struct memcpys){ .n = r.n,
                                   .thread = U32(r, HEAD_THREAD),
                                   .stream = U32(r, MEMCPY_STREAM),
                                   .direction = U16(r, MEMCPY_DIRECTION),
                                   .kind = U16(r, MEMCPY_KIND),
                                   .device = U16(r, MEMCPY_DEVICE),
                                   .time = U64(r, HEAD_TIME),
                                   .size = U64(r, MEMCPY_SIZE),
                                   .largest = U64(r, MEMCPY_LARGEST) };
    return true;
}

static bool load_graphs(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct host_records *h = &p->host.records;
    struct records r;
    uint32_t *call;
    if (!host_load_sorted(p, "additional.fusion_op_info", &fusion_op_layout, &r, &call, NULL, e))
        return false;
    h->fusions = (struct fusions){ .n = r.n,
                                   .thread = U32(r, HEAD_THREAD),
                                   .count = U32(r, FUSION_COUNT),
                                   .time = U64(r, HEAD_TIME),
                                   .name = U64(r, FUSION_NAME),
                                   .originals = r.rest,
                                   .call = call };
    for (unsigned k = 0; k < 5; k++)
        h->fusions.bytes[k] = U64(r, FUSION_INPUT + k);
    bound_counts(s, "additional.fusion_op_info", h->fusions.count, r.rest, r.n, FUSION_MOST, FUSION_FIRST);

    if (!records_load(s, "additional.graph_id_map", &graph_id_layout, false, &r, e))
        return false;
    h->graph_ids = (struct graph_ids){ r.n, U64(r, GRAPH_NAME), U32(r, GRAPH_ID), U32(r, GRAPH_MODEL) };

    if (!records_load(s, "compact.capture_stream_info", &capture_stream_layout, false, &r, e))
        return false;
    h->capture_streams = (struct capture_streams){ .n = r.n,
                                                   .status = U16(r, CAPTURE_STATUS),
                                                   .model_stream = U16(r, CAPTURE_MODEL_STREAM),
                                                   .original_stream = U16(r, CAPTURE_ORIGINAL_STREAM),
                                                   .model = U16(r, CAPTURE_MODEL),
                                                   .device = U16(r, CAPTURE_DEVICE),
                                                   .time = U64(r, HEAD_TIME) };

    if (!records_load(s, "additional.logic_stream_info", &logic_stream_layout, false, &r, e))
        return false;
    h->logic_streams = (struct logic_streams){ r.n, U32(r, LOGIC_STREAM), U32(r, LOGIC_COUNT), r.rest };
    bound_counts(s, "additional.logic_stream_info", h->logic_streams.count, r.rest, r.n, LOGIC_MOST, LOGIC_FIRST);

    if (!records_load(s, "additional.mc2_comm_info", &mc2_comm_layout, false, &r, e))
        return false;
    h->mc2_groups = (struct mc2_groups){ .n = r.n,
                                         .group = U64(r, MC2_GROUP),
                                         .rank_size = U32(r, MC2_RANK_SIZE),
                                         .kfc_stream = U32(r, MC2_KFC_STREAM),
                                         .stream_count = U32(r, MC2_STREAM_COUNT),
                                         .streams = r.rest };
    bound_counts(s, "additional.mc2_comm_info", h->mc2_groups.stream_count, r.rest, r.n, MC2_MOST, MC2_FIRST);

    if (!records_load(s, "compact.expand_stream_spec", &expand_stream_layout, false, &r, e))
        return false;
    h->streams_expanded = r.n > 0 && U8(r, EXPAND_STATUS)[0] == 1;
    return true;
}

static bool load_marks(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct records r;
    if (!records_load(s, "additional.msproftx", &mark_layout, false, &r, e))
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
        return error_set(e, FAULT_LIMIT, "%s: no memory for its marks", s->path);
    for (size_t i = 0; i < r.n; i++) {
        const char *text = (const char *)r.rest[i] + MARK_MESSAGE;
        m->message[i] = names_add(p->names, text, strnlen(text, MARK_MESSAGE_BYTES));
    }
    return true;
}

static bool load_memory(struct profile *p, struct error *e)
{
    struct source *s = &p->host.source;
    struct host_records *h = &p->host.records;
    struct records r;
    if (!records_load(s, "additional.task_memory_info", &task_memory_layout, false, &r, e))
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
    if (!records_load(s, "additional.static_op_mem", &static_op_mem_layout, false, &r, e))
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
    return load_calls(p, e) && load_nodes(p, e) && load_hccl(p, e) && load_tracks(p, e) && load_graphs(p, e) &&
           load_marks(p, e) && load_memory(p, e) && tensors_load(p, e) && captured_ops_load(p, e) &&
           mc2_groups_index(p, e);
}
