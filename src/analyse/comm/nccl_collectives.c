/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/comm/comm_analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "raw/name_hash.h"
#include "raw/nccl_names.h"

/* Marked ranges of collectives, or reports of backends, sorted by (thread, time). */
struct nccl_collectives_ranges {
    size_t n;
    uint32_t *row; /* of marks, or of hccl_ops */
};

static bool ranges_find(struct nccl_collectives_ranges *r, const struct profile *p, struct arena *mem)
{
    static const char domain[] = "communication";
    const struct marks *m = &p->host.records.marks;
    const uint64_t hash = name_hash_of(domain, sizeof domain - 1);
    r->row = arena_take(mem, m->n, sizeof *r->row);
    for (uint32_t i = 0; r->row && i < m->n; i++)
        if (m->domain[i] == hash && m->end[i] > m->begin[i])
            r->row[r->n++] = i;
    return r->row && order_by_u64(r->row, r->n, m->begin) && order_by_u32(r->row, r->n, m->thread);
}

/* The last range of a thread that began before a time, if it had not ended by then; else NO_ROW. */
static uint32_t range_around(const struct nccl_collectives_ranges *r, const struct marks *m, uint32_t thread,
                             uint64_t time)
{
    const size_t next = SEARCH_FIRST_NOT(
        i, 0, r->n, m->thread[r->row[i]] != thread ? m->thread[r->row[i]] < thread : m->begin[r->row[i]] <= time);
    if (next == 0)
        return NO_ROW;
    const uint32_t row = r->row[next - 1];
    return m->thread[row] == thread && m->end[row] >= time ? row : NO_ROW;
}

/* The reports of backends. */
static bool reports_find(struct nccl_collectives_ranges *r, const struct profile *p, struct arena *mem)
{
    const struct hccl_ops *h = &p->host.records.hccl_ops;
    r->row = arena_take(mem, h->n, sizeof *r->row);
    r->n = h->n;
    if (!r->row)
        return false;
    order_fill(r->row, r->n);
    return order_by_u64(r->row, r->n, h->time) && order_by_u32(r->row, r->n, h->thread);
}

static uint32_t report_before(const struct nccl_collectives_ranges *r, const struct hccl_ops *h, uint32_t thread,
                              uint64_t time)
{
    const size_t next = SEARCH_FIRST_NOT(
        i, 0, r->n, h->thread[r->row[i]] != thread ? h->thread[r->row[i]] < thread : h->time[r->row[i]] <= time);
    return next > 0 && h->thread[r->row[next - 1]] == thread ? r->row[next - 1] : NO_ROW;
}

/* A value of the range's message, which is JSON. NULL: it is not there. */
static const char *value_of(const char *message, const char *key, size_t *n)
{
    const char *at = strstr(message, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, "\": ");
    *n = strcspn(at, "\"");
    return at;
}

static name_id name_or(struct names *names, const char *text, size_t n, name_id other)
{
    return text && n > 0 ? names_add(names, text, n) : other;
}

/* Fills what is not known yet from the report of the backend. */
static void fill_reported(struct profile *p, struct comm_ops *o, size_t k, uint32_t report)
{
    const struct hccl_ops *h = &p->host.records.hccl_ops;
    const char *const is = names_text(p->names, o->op_type[k]);
    const name_id said = h->alg[report] ? dictionary_hash(&p->dictionary, h->alg[report]) : NAME_NA;
    if (said == NAME_NA || !nccl_is_of(is, names_text(p->names, said)))
        return;
    if (strcmp(is, "NCCL") == 0 || strcmp(is, "SendRecv") == 0)
        o->op_type[k] = said;
    if (o->group[k] == NAME_NA && h->group[report])
        o->group[k] = o->group_id[k] = dictionary_hash(&p->dictionary, h->group[report]);
    if (o->data_type[k] == DATA_TYPE_NONE && nccl_type_bytes(h->data_type[report]) > 0)
        o->data_type[k] = h->data_type[report];
    if (o->count[k] == UINT64_MAX)
        o->count[k] = h->count[report];
}

static void nccl_collectives_fill(struct profile *p, struct device *d, size_t k, uint32_t task, uint32_t mark)
{
    struct comm_ops *o = &d->comm.ops;
    const struct tasks *t = &d->tasks;
    const name_id kernel = p->host.ops.op_type[t->op[task]]; /* without its arguments */
    const struct nccl_name known = nccl_name_read(names_text(p->names, p->host.ops.name[t->op[task]]));
    const char *const message = mark == NO_ROW ? "" : names_text(p->names, p->host.records.marks.message[mark]);
    size_t n_group = 0, n_op = 0, n_type = 0, n_count = 0;
    const char *const group = value_of(message, "groupName", &n_group), *const op = value_of(message, "opName", &n_op);
    const char *const type = value_of(message, "dataType", &n_type), *const count =
                                                                         value_of(message, "count", &n_count);
    const bool is_generic = strcmp(known.collective, "NCCL") == 0;
    const uint32_t data_type = known.data_type == NCCL_NO_TYPE && type ? nccl_data_type(type, n_type) : known.data_type;
    o->name[k] = kernel;
    o->op_type[k] = name_or(p->names, is_generic ? op : NULL, n_op, names_addz(p->names, known.collective));
    o->group[k] = o->group_id[k] = name_or(p->names, group, n_group, NAME_NA);
    o->alg[k] = known.algorithm ? names_addz(p->names, known.algorithm) : NAME_NA;
    o->begin_ns[k] = t->begin_ns[task];
    o->end_ns[k] = t->begin_ns[task] + (int64_t)t->dur_ns[task];
    o->dur_ns[k] = t->dur_ns[task];
    o->iteration[k] = 1;
    o->asked[k] = t->host[task] == NO_ROW ? 0 : p->host.tasks.time[t->host[task]];
    o->connection[k] = 0; /* the flow event leads to the kernel */
    o->model[k] = NO_MODEL;
    o->rank_size[k] = UINT32_MAX;
    o->data_type[k] = data_type == NCCL_NO_TYPE ? DATA_TYPE_NONE : data_type;
    o->relay[k] = o->retry[k] = -1;
    o->count[k] = count && n_count > 0 ? strtoull(count, NULL, 10) : UINT64_MAX;
    o->is_shown[k] = true;
    o->is_aicpu[k] = false;
}

/* Of an NPU the record itself has everything: see raw/cuda_records.h. */
static void fill_mspti(struct profile *p, const struct device *d, struct comm_ops *o, size_t k, uint32_t task)
{
    const struct gpu_tasks *g = &d->gpu;
    const uint32_t row = d->tasks.task[task];
    const char *const name = names_text(p->names, o->name[k]), *const rest = strstr(name, "__");
    const uint64_t alg = g->grid[0][row] | (uint64_t)g->grid[1][row] << 32;
    o->op_type[k] = rest ? names_add(p->names, name, (size_t)(rest + 1 - name)) : o->name[k];
    if (g->graph_node[row])
        o->group[k] = o->group_id[k] = dictionary_hash(&p->dictionary, g->graph_node[row]);
    if (alg)
        o->alg[k] = dictionary_hash(&p->dictionary, alg);
    if (nccl_type_bytes(g->copy_kind[row]) > 0) {
        o->data_type[k] = g->copy_kind[row];
        o->count[k] = g->bytes[row];
    }
}

static bool is_collective(const struct profile *p, const struct tasks *t, size_t row)
{
    return t->op[row] != NO_ROW && nccl_is_kernel(names_text(p->names, p->host.ops.name[t->op[row]]));
}

bool nccl_collectives_analyse(struct profile *p, struct device *d, struct error *e)
{
    const struct tasks *t = &d->tasks;
    size_t n = 0, k = 0;
    for (size_t i = 0; i < t->n; i++)
        n += is_collective(p, t, i);
    if (n == 0)
        return true;
    struct arena *mem = arena_new();
    struct nccl_collectives_ranges ranges = { 0 }, reports = { 0 };
    const bool done = mem && ranges_find(&ranges, p, mem) && reports_find(&reports, p, mem) &&
                      comm_ops_resize(&d->comm.ops, n, d->source.mem);
    for (uint32_t i = 0; done && i < t->n; i++) {
        if (!is_collective(p, t, i))
            continue;
        const uint32_t host = t->host[i];
        const uint32_t thread = host == NO_ROW ? 0 : p->host.tasks.thread[host];
        const uint64_t time = host == NO_ROW ? 0 : p->host.tasks.time[host];
        const uint32_t report = report_before(&reports, &p->host.records.hccl_ops, thread, time);
        nccl_collectives_fill(p, d, k, i, range_around(&ranges, &p->host.records.marks, thread, time));
        if (p->chip->group == ON_MSPTI)
            fill_mspti(p, d, &d->comm.ops, k, i);
        else if (report != NO_ROW)
            fill_reported(p, &d->comm.ops, k, report);
        k++;
    }
    arena_free(mem);
    return done || error_no_memory(e, d->source.path);
}
