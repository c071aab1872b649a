/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include "base/files/bytes.h"
#include "load/prof/records.h"
#include "raw/device_records.h"

static const char family[] = "aicpu.data";

#define U64(r, f) ((uint64_t *)(r).column[f])
#define U32(r, f) ((uint32_t *)(r).column[f])
#define U16(r, f) ((uint16_t *)(r).column[f])
#define U8(r, f)  ((uint8_t *)(r).column[f])

/* If several groups name a stream, it belongs to the last one. Streams of a captured graph belong to the group of the
 * stream that they were captured from. */
bool mc2_groups_index(struct profile *p, struct error *e)
{
    enum { STREAM_IDS = UINT16_MAX + 1 };
    struct mc2_groups *g = &p->host.records.mc2_groups;
    const struct capture_streams *c = &p->host.records.capture_streams;
    struct source *s = &p->host.source;
    if (g->n == 0)
        return true;
    g->row_of_kfc = arena_take(s->mem, STREAM_IDS, sizeof *g->row_of_kfc);
    if (!g->row_of_kfc)
        return error_no_memory(e, s->path);
    for (size_t i = 0; i < STREAM_IDS; i++)
        g->row_of_kfc[i] = NO_ROW;
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->kfc_stream[i] < STREAM_IDS)
            g->row_of_kfc[g->kfc_stream[i]] = i;
        bool is_bad = g->kfc_stream[i] >= STREAM_IDS;
        for (uint32_t k = 0; k < g->stream_count[i]; k++)
            is_bad |= le32(g->streams[i] + 4 * k) >= STREAM_IDS;
        if (is_bad)
            record_lost(s, "additional.mc2_comm_info", LOSS_BAD_VALUE, g->streams[i]);
    }
    for (size_t i = 0; i < c->n; i++)
        if (g->row_of_kfc[c->original_stream[i]] != NO_ROW)
            g->row_of_kfc[c->model_stream[i]] = g->row_of_kfc[c->original_stream[i]];
    return true;
}

static bool load_turns(struct device *d, struct error *e)
{
    static const struct {
        const struct layout *layout;
        unsigned first, n_stamps, stream, task, number;
    } kinds[TURN_KINDS] = { [TURNS_COMPUTE] = { &kfc_compute_turn_layout, COMPUTE_TURN_WAIT, 3, COMPUTE_TURN_STREAM,
                                                COMPUTE_TURN_TASK, COMPUTE_TURN_CURRENT },
                            [TURNS_COMM] = { &kfc_comm_turn_layout, TURN_SERVER_BEGIN, 7, TURN_STREAM, TURN_TASK,
                                             TURN_CURRENT } };
    for (unsigned k = 0; k < TURN_KINDS; k++) {
        struct turns *t = &d->aicpu_comm.turns[k];
        struct records r;
        if (!records_load(&d->source, d->source.mem, family, kinds[k].layout, true, &r, e))
            return false;
        *t = (struct turns){ .n = r.n,
                             .n_stamps = kinds[k].n_stamps,
                             .stream = U16(r, kinds[k].stream),
                             .task = U16(r, kinds[k].task),
                             .number = U8(r, kinds[k].number) };
        for (unsigned i = 0; i < t->n_stamps; i++)
            t->stamp[i] = U64(r, kinds[k].first + i);
    }
    return true;
}

static bool load_ops(struct device *d, struct error *e)
{
    struct aicpu_comm *c = &d->aicpu_comm;
    struct records r;
    if (!records_load(&d->source, d->source.mem, family, &device_hccl_op_layout, true, &r, e))
        return false;
    c->ops.n = r.n;
    c->ops.tick = U64(r, DEV_OP_TIME);
    c->ops.alg = U64(r, DEV_OP_ALG);
    c->ops.count = U64(r, DEV_OP_COUNT);
    c->ops.group = U64(r, DEV_OP_GROUP);
    c->ops.stream = U16(r, DEV_OP_STREAM);
    c->ops.task = U32(r, DEV_OP_TASK);
    c->ops.rank_size = U32(r, DEV_OP_RANK_SIZE);
    c->ops.flags = U8(r, DEV_OP_FLAGS);
    c->ops.data_type = U8(r, DEV_OP_DATA_TYPE);
    return true;
}

static bool load_marks(struct device *d, struct error *e)
{
    struct aicpu_comm *c = &d->aicpu_comm;
    struct records r;
    if (!records_load(&d->source, d->source.mem, family, &aicpu_flip_layout, true, &r, e))
        return false;
    c->flips.n = r.n;
    c->flips.tick = U64(r, AICPU_FLIP_TIME);
    c->flips.stream = U16(r, AICPU_FLIP_STREAM);
    c->flips.task = U16(r, AICPU_FLIP_TASK);
    c->flips.number = U32(r, AICPU_FLIP_NUMBER);
    if (!records_load(&d->source, d->source.mem, family, &aicpu_master_layout, true, &r, e))
        return false;
    c->marks.n = r.n;
    c->marks.tick = U64(r, MASTER_TIME);
    c->marks.aicpu_stream = U16(r, MASTER_AICPU_STREAM);
    c->marks.aicpu_task = U16(r, MASTER_AICPU_TASK);
    c->marks.stream = U16(r, MASTER_STREAM);
    c->marks.task = U16(r, MASTER_TASK);
    c->marks.kind = U16(r, MASTER_KIND);
    return true;
}

/* A record holds two entries; one whose group is 0 is empty. */
static const uint8_t **find_entries(const struct records *r, struct arena *mem, size_t *n)
{
    const uint8_t **entry = arena_take(mem, r->n * DEV_HCCL_ENTRIES, sizeof *entry);
    *n = 0;
    for (size_t i = 0; entry && i < r->n; i++)
        for (unsigned k = 0; k < DEV_HCCL_ENTRIES; k++) {
            const uint8_t *at = r->rest[i] + DEV_HCCL_FIRST + k * DEV_HCCL_BYTES;
            if (layout_get(&device_hccl_entry_layout, ENTRY_GROUP, at) != 0)
                entry[(*n)++] = at;
        }
    return entry;
}

static void *decode(const uint8_t *const *entry, size_t n, unsigned field, struct arena *mem)
{
    const struct field *f = &device_hccl_entry_layout.field[field];
    void *values = arena_take(mem, n, f->width);
    if (values)
        layout_decode(f, entry, n, values);
    return values;
}

static bool load_tasks(struct device *d, struct error *e)
{
    struct aicpu_comm *c = &d->aicpu_comm;
    struct arena *mem = d->source.mem;
    struct records r;
    size_t n;
    if (!records_load(&d->source, d->source.mem, family, &device_hccl_layout, true, &r, e))
        return false;
    const uint8_t **entry = find_entries(&r, mem, &n);
    if (entry) {
        c->tasks.n = n;
        c->tasks.tick = decode(entry, n, ENTRY_TIME, mem);
        c->tasks.item = decode(entry, n, ENTRY_ITEM, mem);
        c->tasks.group = decode(entry, n, ENTRY_GROUP, mem);
        c->tasks.notify = decode(entry, n, ENTRY_NOTIFY, mem);
        c->tasks.size = decode(entry, n, ENTRY_SIZE, mem);
        c->tasks.estimate_us = decode(entry, n, ENTRY_ESTIMATE, mem); /* the bits of a double */
        c->tasks.task = decode(entry, n, ENTRY_TASK, mem);
        c->tasks.local_rank = decode(entry, n, ENTRY_LOCAL_RANK, mem);
        c->tasks.remote_rank = decode(entry, n, ENTRY_REMOTE_RANK, mem);
        c->tasks.stream = decode(entry, n, ENTRY_STREAM, mem);
        c->tasks.plane = decode(entry, n, ENTRY_PLANE, mem);
        c->tasks.data_type = decode(entry, n, ENTRY_DATA_TYPE, mem);
        c->tasks.link = decode(entry, n, ENTRY_LINK, mem);
        c->tasks.transport = decode(entry, n, ENTRY_TRANSPORT, mem);
        c->tasks.rdma = decode(entry, n, ENTRY_RDMA, mem);
    }
    return !arena_failed(mem) || error_no_memory(e, d->source.path);
}

bool aicpu_comm_load(struct device *d, struct error *e)
{
    return load_turns(d, e) && load_ops(d, e) && load_marks(d, e) && load_tasks(d, e);
}
