/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include <stdio.h>
#include <string.h>

#include "base/memory/sort.h"
#include "raw/host_records.h"
#include "raw/nccl_names.h"

enum { CACHED = 256 }; /* the few names and sizes that a million kernels have */

struct known_dim {
    uint32_t at[GPU_DIMENSIONS];
    name_id name;
    bool is_known;
};

struct cuda_operators_building {
    struct profile *p;
    size_t n_calls;
    uint32_t *call; /* rows of calls that have a correlation id, by it */
    struct {
        uint64_t hash;
        name_id name, type;
        bool is_known;
    } kernel[CACHED];
    struct known_dim dim[CACHED];
    name_id kernel_type, gpu, collective;
};

/* ---- names ---- */

static bool is_word(char c)
{
    return c == '_' || c == '$' || c == ':' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

/* Finds the name of a kernel without return type, template arguments and parameters, such as
 * "at::native::vectorized_elementwise_kernel": the last word before the first bracket. "(anonymous namespace)::" is
 * part of a word. Returns the offset of the short name. */
static size_t short_name_at(const char *name, size_t n, size_t *length)
{
    static const char anonymous[] = "(anonymous namespace)";
    enum { ANONYMOUS = sizeof anonymous - 1 };
    size_t first = 0, end = 0;
    while (end < n) {
        if (n - end >= ANONYMOUS && memcmp(name + end, anonymous, ANONYMOUS) == 0) {
            end += ANONYMOUS;
        } else if (is_word(name[end])) {
            end++;
        } else if (name[end] == ' ') {
            first = ++end;
        } else {
            break;
        }
    }
    *length = end - first;
    if (*length == 0) {
        first = 0;
        *length = n;
    }
    return first;
}

static name_id short_name(struct names *names, name_id name)
{
    size_t length;
    const char *const text = names_text(names, name);
    if (strncmp(text, "aclnn", 5) == 0 && strrchr(text, '_')) /* of an NPU: "aclnnAdd_AddAiCore_Add" */
        return names_addz(names, strrchr(text, '_') + 1);
    const char *const end = strncmp(text, "hcom_", 5) == 0 ? strstr(text, "__") : NULL; /* "hcom_allReduce__483_1_1" */
    if (end)
        return names_add(names, text, (size_t)(end + 1 - text));
    const size_t first = short_name_at(text, names_len(names, name), &length);
    return names_add(names, text + first, length);
}

static void kernel_names(struct cuda_operators_building *b, uint64_t hash, name_id *name, name_id *type)
{
    const size_t i = hash % CACHED;
    if (!b->kernel[i].is_known || b->kernel[i].hash != hash) {
        b->kernel[i].hash = hash;
        b->kernel[i].name = hash ? dictionary_hash(&b->p->dictionary, hash) : NAME_NA;
        b->kernel[i].type = hash ? short_name(b->p->names, b->kernel[i].name) : NAME_NA;
        b->kernel[i].is_known = true;
    }
    *name = b->kernel[i].name;
    *type = b->kernel[i].type;
}

static name_id dim_name(struct cuda_operators_building *b, uint32_t *const of[GPU_DIMENSIONS], size_t row)
{
    const uint32_t x = of[0][row], y = of[1][row], z = of[2][row];
    struct known_dim *k = &b->dim[(x * 31 + y * 7 + z) % CACHED];
    if (!k->is_known || k->at[0] != x || k->at[1] != y || k->at[2] != z) {
        char text[48];
        const int n = snprintf(text, sizeof text, "%u,%u,%u", x, y, z);
        *k = (struct known_dim){ { x, y, z }, names_add(b->p->names, text, (size_t)n), true };
    }
    return k->name;
}

/* As PyTorch's own profiler names them. */
static name_id copy_name(const struct profile *p, const struct gpu_tasks *g, size_t row)
{
    char text[80];
    const bool is_npu = p->chip->group == ON_MSPTI; /* which does not say what kind of memory it was */
    const int n = is_npu ? snprintf(text, sizeof text, g->kind[row] == CUDA_IS_SET ? "Memset" : "Memcpy %s",
                                    cuda_copy_name(g->copy_kind[row]))
                  : g->kind[row] == CUDA_IS_SET
                      ? snprintf(text, sizeof text, "Memset (%s)", cuda_memory_name(g->to[row]))
                      : snprintf(text, sizeof text, "Memcpy %s (%s -> %s)", cuda_copy_name(g->copy_kind[row]),
                                 cuda_memory_name(g->from[row]), cuda_memory_name(g->to[row]));
    return names_add(p->names, text, (size_t)n);
}

/* ---- rows ---- */

static bool calls_index(struct cuda_operators_building *b, struct arena *mem)
{
    const struct calls *c = &b->p->host.calls;
    b->call = arena_take(mem, c->n, sizeof *b->call);
    for (uint32_t i = 0; b->call && i < c->n; i++)
        if (c->level[i] == LEVEL_RUNTIME && c->request[i] != 0)
            b->call[b->n_calls++] = i;
    return b->call && order_by_u32(b->call, b->n_calls, c->request);
}

/* The call with a correlation id; of several the first, which is the outermost. NO_ROW: none. */
static uint32_t call_of(const struct cuda_operators_building *b, uint32_t correlation)
{
    const struct calls *c = &b->p->host.calls;
    const size_t at = correlation ? order_first_u32(b->call, b->n_calls, c->request, correlation) : b->n_calls;
    return at < b->n_calls && c->request[b->call[at]] == correlation ? b->call[at] : NO_ROW;
}

static uint32_t blocks_of(const struct gpu_tasks *g, size_t row)
{
    const unsigned __int128 n = (unsigned __int128)g->grid[0][row] * g->grid[1][row] * g->grid[2][row];
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

static name_id mspti_type(struct cuda_operators_building *b, uint64_t hash, name_id name)
{
    if (nccl_is_kernel(names_text(b->p->names, name)))
        return b->collective;
    return hash ? dictionary_hash(&b->p->dictionary, hash) : NAME_NA;
}

static void op_add(struct cuda_operators_building *b, const struct gpu_tasks *g, size_t row, name_id name, name_id type)
{
    struct ops *o = &b->p->host.ops;
    const size_t k = o->n++;
    o->name[k] = name;
    o->op_type[k] = type;
    o->task_type[k] = b->p->chip->group == ON_MSPTI ? mspti_type(b, g->graph_node[row], name) : b->gpu;
    o->state[k] = o->hf32[k] = NAME_NA;
    o->attr[k] = NAME_EMPTY;
    o->blocks[k] = blocks_of(g, row);
    o->mix_blocks[k] = 0;
    for (int d = 0; d < 2; d++)
        o->shapes[d][k] = o->types[d][k] = o->formats[d][k] = NAME_NA;
    o->grid_dim[k] = dim_name(b, g->grid, row);
    o->block_dim[k] = dim_name(b, g->block, row);
}

static void task_add(struct cuda_operators_building *b, const struct device *d, size_t row)
{
    const struct gpu_tasks *g = &d->gpu;
    const struct calls *c = &b->p->host.calls;
    struct host_tasks *h = &b->p->host.tasks;
    const size_t k = h->n++;
    const uint32_t call = call_of(b, g->correlation[row]);
    const bool is_kernel = gpu_task_is_kernel(g, row);
    name_id name = NAME_NA, type = NAME_NA;
    if (is_kernel)
        kernel_names(b, g->name[row], &name, &type);
    h->device[k] = (uint16_t)d->source.device;
    h->stream[k] = g->track[row];
    h->batch[k] = 0;
    h->task[k] = (uint32_t)row;
    h->context[k] = NO_CONTEXT;
    h->key[k] = task_key(h->stream[k], 0, h->task[k]);
    h->type[k] = is_kernel ? b->kernel_type : copy_name(b->p, g, row);
    h->kernel[k] = name;
    h->connection[k] = call == NO_ROW ? 0 : call + 1;
    h->model[k] = NO_MODEL;
    h->request[k] = -1;
    h->time[k] = call == NO_ROW ? 0 : c->begin[call];
    h->thread[k] = call == NO_ROW ? 0 : c->thread[call];
    h->op[k] = is_kernel ? (uint32_t)b->p->host.ops.n : NO_ROW;
    if (is_kernel)
        op_add(b, g, row, name, type);
}

#define TAKE(column, n) ((column) = arena_take(mem, (n), sizeof *(column)))

static bool tables_take(struct profile *p)
{
    struct arena *mem = p->host.source.mem;
    struct host_tasks *h = &p->host.tasks;
    struct ops *o = &p->host.ops;
    size_t n = 0, n_ops = 0;
    for (size_t i = 0; i < p->n_devices; i++)
        for (size_t row = 0; row < p->device[i].gpu.n; row++) {
            n += gpu_task_is_whole(&p->device[i].gpu, row);
            n_ops += gpu_task_is_whole(&p->device[i].gpu, row) && gpu_task_is_kernel(&p->device[i].gpu, row);
        }
    TAKE(h->device, n), TAKE(h->stream, n), TAKE(h->batch, n), TAKE(h->task, n), TAKE(h->context, n);
    TAKE(h->key, n), TAKE(h->type, n), TAKE(h->kernel, n), TAKE(h->connection, n), TAKE(h->model, n);
    TAKE(h->request, n), TAKE(h->time, n), TAKE(h->thread, n), TAKE(h->op, n);
    TAKE(o->name, n_ops), TAKE(o->op_type, n_ops), TAKE(o->task_type, n_ops), TAKE(o->state, n_ops);
    TAKE(o->hf32, n_ops), TAKE(o->attr, n_ops), TAKE(o->blocks, n_ops), TAKE(o->mix_blocks, n_ops);
    TAKE(o->grid_dim, n_ops), TAKE(o->block_dim, n_ops);
    for (int d = 0; d < 2; d++)
        TAKE(o->shapes[d], n_ops), TAKE(o->types[d], n_ops), TAKE(o->formats[d], n_ops);
    return !arena_failed(mem);
}

/* Devices are in the order of their ids; inside them rows by stream, each in file order. */
static bool device_add(struct cuda_operators_building *b, const struct device *d, struct arena *mem)
{
    const struct gpu_tasks *g = &d->gpu;
    uint32_t *order = arena_take(mem, g->n, sizeof *order);
    if (!order)
        return false;
    order_fill(order, g->n);
    if (!order_by_u16(order, g->n, g->track))
        return false;
    for (size_t i = 0; i < g->n; i++)
        if (gpu_task_is_whole(g, order[i]))
            task_add(b, d, order[i]);
    return true;
}

bool cuda_operators_analyse(struct profile *p, struct error *e)
{
    struct arena *mem = arena_new();
    struct cuda_operators_building *b = mem ? arena_take(mem, 1, sizeof *b) : NULL;
    bool done = b != NULL;
    if (done) {
        b->p = p;
        b->kernel_type = names_addz(p->names, "KERNEL");
        b->gpu = names_addz(p->names, "GPU");
        b->collective = names_addz(p->names, "HCCL");
        done = calls_index(b, mem) && tables_take(p);
    }
    for (size_t i = 0; i < p->n_devices && done; i++)
        done = device_add(b, &p->device[i], mem);
    arena_free(mem);
    return done || error_no_memory(e, p->path);
}
