/* SPDX-License-Identifier: Apache-2.0 */
/* replay_collection.c - tables of a collection, made by the product's code from what other such tables say. For
 * test_real.py, which has the results of the real tool, but not what they were made from. One argument says what is on
 * stdin:
 *
 *   memory    lines "PTA|WORKSPACE TIME ALLOCATED RESERVED ACTIVE STREAM DEVICE" and "GE TIME ALLOCATED RESERVED
 *             DEVICE", in ns and bytes: memory_record.csv without APP
 *   lives     lines "torch DEVICE STREAM SIZE TIME NAME", each followed by what happened to the block: "m|f|b TIME
 *             ALLOCATED RESERVED ACTIVE"; and "graph DEVICE SIZE NAME" with "m|f TIME ALLOCATED RESERVED":
 *             operator_memory.csv
 *   total     the value of a step and kind of communication.json: its "Total Op Info"
 *   matrix    lines "COLLECTIVE GROUP FROM TO TRANSPORT MB MS": a step and kind of communication_matrix.json
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/host/host_analysis.h"
#include "base/files/out.h"
#include "base/memory/sort.h"
#include "export/framework/communication_matrix.h"
#include "export/framework/framework_files.h"
#include "raw/torch.h"

enum { MOST = 1 << 16, NAME_MOST = 511 };

static void fail(const char *why)
{
    fprintf(stderr, "replay_collection: %s\n", why);
    exit(1);
}

static void collection_open(struct collection *s)
{
    *s = (struct collection){ .path = "replay", .mem = arena_new(), .has_device = true };
    struct profile *p = &s->profile;
    p->names = names_new();
    p->dictionary.names = p->names;
    p->host.source = (struct source){ .path = "replay", .mem = s->mem, .host_clock.tick = { 1, 1 } };
    s->framework.file[FRAMEWORK_MEMORY].name = "replay";
    struct framework_memory *m = &s->framework.memory;
    int64_t **const wide[] = { &m->time_ns,        &m->size_bytes,   &m->allocated_bytes,
                               &m->reserved_bytes, &m->active_bytes, &m->stream };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        *wide[i] = arena_take(s->mem, MOST, sizeof **wide[i]);
    m->pointer = arena_take(s->mem, MOST, sizeof *m->pointer);
    m->device_type = arena_take(s->mem, MOST, sizeof *m->device_type);
    m->device = arena_take(s->mem, MOST, sizeof *m->device);
    m->component = arena_take(s->mem, MOST, sizeof *m->component);
    m->kind = arena_take(s->mem, MOST, sizeof *m->kind);
    m->allocator = arena_take(s->mem, MOST, sizeof *m->allocator);
    m->process = arena_take(s->mem, MOST, sizeof *m->process);
    m->thread = arena_take(s->mem, MOST, sizeof *m->thread);
    struct op_memory *g = &p->host.records.op_memory;
    uint64_t **const words[] = { &g->time, &g->addr, &g->name, &g->allocated, &g->reserved };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        *words[i] = arena_take(s->mem, MOST, sizeof **words[i]);
    g->device = arena_take(s->mem, MOST, sizeof *g->device);
    g->size = arena_take(s->mem, MOST, sizeof *g->size);
    struct framework_ops *o = &s->framework.ops;
    o->begin_ns = arena_take(s->mem, MOST, sizeof *o->begin_ns);
    o->end_ns = arena_take(s->mem, MOST, sizeof *o->end_ns);
    o->process = arena_take(s->mem, MOST, sizeof *o->process);
    o->thread = arena_take(s->mem, MOST, sizeof *o->thread);
    o->name = arena_take(s->mem, MOST, sizeof *o->name);
    s->tree.by_begin = arena_take(s->mem, MOST, sizeof *s->tree.by_begin);
    s->tree.parent = arena_take(s->mem, MOST, sizeof *s->tree.parent);
    if (!p->names || arena_failed(s->mem))
        fail("no memory");
}

static void collection_close(struct collection *s)
{
    dictionary_fini(&s->profile.dictionary);
    names_free(s->profile.names);
    arena_free(s->mem);
}

static size_t torch_add(struct collection *s, int device, int64_t stream)
{
    struct framework_memory *m = &s->framework.memory;
    if (m->n == MOST)
        fail("too many records");
    m->device_type[m->n] = MEMORY_ON_NPU;
    m->device[m->n] = (int8_t)device;
    m->stream[m->n] = stream;
    return m->n++;
}

static size_t graph_add(struct collection *s, unsigned device)
{
    struct op_memory *g = &s->profile.host.records.op_memory;
    if (g->n == MOST)
        fail("too many records");
    g->device[g->n] = device;
    return g->n++;
}

static void read_memory(struct collection *s)
{
    struct framework_memory *m = &s->framework.memory;
    struct op_memory *g = &s->profile.host.records.op_memory;
    char line[256], component[16];
    int64_t time, allocated, reserved, active, stream;
    int device;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "GE %" SCNd64 " %" SCNd64 " %" SCNd64 " %d", &time, &allocated, &reserved, &device) == 4) {
            const size_t i = graph_add(s, (unsigned)device);
            g->time[i] = (uint64_t)time;
            g->allocated[i] = (uint64_t)allocated;
            g->reserved[i] = (uint64_t)reserved;
        } else if (sscanf(line, "%15s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %d", component, &time,
                          &allocated, &reserved, &active, &stream, &device) == 7) {
            const size_t i = torch_add(s, device, stream);
            m->component[i] = strcmp(component, "WORKSPACE") == 0 ? COMPONENT_WORKSPACE : COMPONENT_CACHING;
            m->time_ns[i] = time;
            m->allocated_bytes[i] = allocated;
            m->reserved_bytes[i] = reserved;
            m->active_bytes[i] = active;
        } else {
            fail(line);
        }
    }
}

/* A block of PyTorch's: each has an address of its own, and an operator on a thread of its own. */
struct block {
    bool is_graph;
    int device;
    int64_t stream, size;
    uint64_t number, name;
};

static void block_begin(struct collection *s, struct block *b, const char *name, int64_t time)
{
    struct framework_ops *o = &s->framework.ops;
    const name_id id = names_addz(s->profile.names, name);
    b->number++;
    b->name = (uint64_t)id + 1;
    if (b->is_graph) {
        dictionary_add(&s->profile.dictionary, b->name, id);
        return;
    }
    if (*name == '?')
        return;
    o->name[o->n] = id;
    o->begin_ns[o->n] = o->end_ns[o->n] = time;
    o->thread[o->n++] = (uint32_t)b->number;
}

static void block_event(struct collection *s, const struct block *b, char kind, const int64_t value[4])
{
    struct framework_memory *m = &s->framework.memory;
    struct op_memory *g = &s->profile.host.records.op_memory;
    if (b->is_graph) {
        const size_t i = graph_add(s, (unsigned)b->device);
        g->time[i] = (uint64_t)value[0];
        g->addr[i] = b->number;
        g->name[i] = b->name;
        g->size[i] = kind == 'm' ? b->size : -b->size;
        g->allocated[i] = (uint64_t)value[1];
        g->reserved[i] = (uint64_t)value[2];
        return;
    }
    const size_t i = torch_add(s, b->device, b->stream);
    m->pointer[i] = b->number;
    m->thread[i] = (uint32_t)b->number;
    m->kind[i] = kind == 'm' ? MEMORY_MALLOC : kind == 'f' ? MEMORY_FREE : MEMORY_BLOCK_FREE;
    m->size_bytes[i] = b->size;
    m->time_ns[i] = value[0];
    m->allocated_bytes[i] = value[1];
    m->reserved_bytes[i] = value[2];
    m->active_bytes[i] = value[3];
}

/* Records of graphs come by time, as a collection has them. */
static void sort_graphs(struct collection *s)
{
    struct op_memory *g = &s->profile.host.records.op_memory, sorted = *g;
    uint32_t *order = arena_take(s->mem, g->n, sizeof *order);
    order_fill(order, g->n);
    if (!order || !order_by_u64(order, g->n, g->time))
        fail("no memory");
    uint64_t **const words[] = { &sorted.time, &sorted.addr, &sorted.name, &sorted.allocated, &sorted.reserved };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const uint64_t *from = *words[i];
        *words[i] = arena_take(s->mem, g->n, sizeof **words[i]);
        order_apply(*words[i], from, order, g->n, sizeof **words[i]);
    }
    sorted.size = arena_take(s->mem, g->n, sizeof *sorted.size);
    order_apply(sorted.size, g->size, order, g->n, sizeof *sorted.size);
    sorted.device = arena_take(s->mem, g->n, sizeof *sorted.device);
    order_apply(sorted.device, g->device, order, g->n, sizeof *sorted.device);
    *g = sorted;
}

static void read_lives(struct collection *s)
{
    struct framework_ops *o = &s->framework.ops;
    struct block b = { 0 };
    char line[1024], name[NAME_MOST + 1], kind;
    int64_t time, value[4];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "torch %d %" SCNd64 " %" SCNd64 " %" SCNd64 " %511[^\n]", &b.device, &b.stream, &b.size, &time,
                   name) == 5) {
            b.is_graph = false;
            block_begin(s, &b, name, time);
        } else if (sscanf(line, "graph %d %" SCNd64 " %511[^\n]", &b.device, &b.size, name) == 3) {
            b.is_graph = true;
            block_begin(s, &b, name, 0);
        } else if (sscanf(line, "%c %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &kind, &value[0], &value[1],
                          &value[2], &value[3]) >= 4) {
            block_event(s, &b, kind, value);
        } else {
            fail(line);
        }
    }
    sort_graphs(s);
    order_fill(s->tree.by_begin, o->n);
    if (!order_by_u64(s->tree.by_begin, o->n, (const uint64_t *)o->begin_ns))
        fail("no memory");
    for (size_t i = 0; i < o->n; i++)
        s->tree.parent[i] = NO_ROW;
}

static void put(const struct out *o)
{
    fwrite(o->buf, 1, o->n, stdout);
}

static void show(struct collection *s,
                 bool (*build)(const struct collection_export *x, struct table *out, struct error *e))
{
    const struct collection_export x = {
        .collection = s,
        .device = { .profile = &s->profile, .options = &(struct output_options){ .n_threads = 1 }, .mem = s->mem },
        .mem = s->mem
    };
    struct table t;
    struct error e = { 0 };
    struct out o;
    if (!memory_analyse(&s->profile, &e) || !memory_lives_analyse(s, &e) || !build(&x, &t, &e) ||
        !out_open_memory(&o, &e))
        fail(e.text);
    t.has_crlf = true;
    table_csv_header(&t, &o);
    table_csv_rows(&t, &o, 0, t.n_rows);
    put(&o);
    out_discard(&o);
}

static struct amount amount_of(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return (struct amount){ json_number_value(v), json_is_real(v) };
}

static void read_cost(struct comm_cost *c, const json_t *op)
{
    const json_t *times = json_object_get(op, "Communication Time Info"),
                 *links = json_object_get(op, "Communication Bandwidth Info");
    struct amount *const time[COMM_TIMES_WITHOUT_RATIOS] = { &c->elapse_ms, &c->transit_ms, &c->wait_ms, &c->sync_ms,
                                                             &c->idle_ms };
    for (size_t i = 0; i < COMM_TIMES_WITHOUT_RATIOS; i++)
        *time[i] = amount_of(times, comm_time_name[i]);
    for (int k = 0; k < LINK_KINDS; k++) {
        const json_t *from = json_object_get(links, link_kind_name[k]);
        struct link_cost *l = &c->link[k];
        const char *size;
        json_t *packets;
        l->size_mb = amount_of(from, "Transit Size(MB)");
        l->time_ms = amount_of(from, "Transit Time(ms)");
        json_object_foreach(json_object_get(from, "Size Distribution"), size, packets)
        {
            const double mb = strtod(size, NULL);
            uint64_t bits;
            memcpy(&bits, &mb, sizeof bits);
            struct packets *p = list_add(&l->packets, c->mem);
            if (keys_add(&l->sizes, bits, c->mem) == KEYS_NO_MEMORY || !p)
                fail("no memory");
            p->n = (uint64_t)json_integer_value(json_array_get(packets, 0));
            p->time_ms = json_number_value(json_array_get(packets, 1));
        }
    }
}

static void show_total(void)
{
    json_error_t why;
    json_t *ops = json_loadf(stdin, 0, &why), *op;
    struct arena *mem = arena_new();
    struct comm_cost total = { .mem = mem }, cost = { .mem = mem };
    struct error e = { 0 };
    struct out o;
    const char *name;
    if (!ops || !mem || !out_open_memory(&o, &e))
        fail(ops ? "no memory" : why.text);
    json_object_foreach(ops, name, op)
    {
        if (strcmp(name, "Total Op Info") == 0)
            continue;
        comm_cost_clear(&cost);
        read_cost(&cost, op);
        if (!comm_cost_add(&total, &cost))
            fail("no memory");
    }
    comm_cost_finish(&total);
    json_step_total(&total, &o);
    put(&o);
    out_discard(&o);
    json_decref(ops);
    arena_free(mem);
}

static void show_matrix(void)
{
    static const char *const transport[] = { "HCCS", "PCIE", "SIO", "RDMA", "LOCAL" };
    struct matrix m = { .rules = &matrix_rules[FRAMEWORK_PYTORCH], .names = names_new(), .mem = arena_new() };
    struct comm_links links = { .mem = m.mem };
    struct error e = { 0 };
    struct out o;
    char line[1024], name[NAME_MOST + 1], group[64], word[16];
    unsigned from, to;
    double mb, ms;
    if (!m.names || !m.mem || !out_open_memory(&o, &e))
        fail("no memory");
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%511s %63s %u %u %15s %lf %lf", name, group, &from, &to, word, &mb, &ms) != 7)
            fail(line);
        struct comm_link link = { NULL, mb, ms };
        for (size_t i = 0; i < sizeof transport / sizeof *transport; i++)
            if (strcmp(transport[i], word) == 0)
                link.transport = transport[i];
        comm_links_clear(&links);
        keys_add(&links.pairs, (uint64_t)from << 32 | to, m.mem);
        struct comm_link *slot = list_add(&links.link, m.mem);
        if (!slot)
            fail("no memory");
        *slot = link;
        if (!matrix_add(&m, names_addz(m.names, name), names_addz(m.names, group), &links))
            fail("no memory");
    }
    if (!matrix_finish(&m) || !matrix_put(&m, &o))
        fail("no memory");
    put(&o);
    out_discard(&o);
    arena_free(m.mem);
    names_free(m.names);
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";
    struct collection s;
    if (strcmp(what, "total") == 0) {
        show_total();
    } else if (strcmp(what, "matrix") == 0) {
        show_matrix();
    } else if (strcmp(what, "memory") == 0 || strcmp(what, "lives") == 0) {
        collection_open(&s);
        if (*what == 'm')
            read_memory(&s);
        else
            read_lives(&s);
        show(&s, *what == 'm' ? framework_memory_record : framework_operator_memory);
        collection_close(&s);
    } else {
        fail("which table? memory, lives, total or matrix");
    }
    return 0;
}
