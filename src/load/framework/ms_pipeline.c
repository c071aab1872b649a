/* SPDX-License-Identifier: Apache-2.0 */
#include "load/framework/framework_loaders.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "load/prof/text.h"

enum { JSON_MOST = 64 << 20 }; /* bytes; a sample per second of a hundred nodes fills it in a month */

/* NULL: the file is missing, or cannot be used, which is counted, or there is no memory. */
static json_t *read_file(struct framework_file *file)
{
    json_error_t unused;
    if (!file->is_there)
        return NULL;
    json_t *object =
        file->size > 0 && file->size <= JSON_MOST ? json_read((const char *)file->data, file->size, 0, &unused) : NULL;
    if (!json_is_object(object)) {
        losses_add(&file->lost, LOSS_UNREADABLE, 1, file->name, 0);
        json_decref(object);
        return NULL;
    }
    return object;
}

static bool integer(const json_t *v, int64_t *out)
{
    *out = json_integer_value(v);
    return json_is_integer(v);
}

/* An empty object is no queue. */
static bool read_queue(struct ms_pipeline_node *n, const json_t *metrics, struct arena *mem)
{
    const json_t *queue = json_object_get(metrics, "output_queue"), *size = json_object_get(queue, "size");
    n->has_queue = json_object_size(queue) > 0;
    n->has_sizes = json_is_array(size);
    if (!n->has_queue)
        return true;
    integer(json_object_get(queue, "length"), &n->length);
    int64_t *to = arena_take(mem, json_array_size(size), sizeof *to);
    size_t i;
    json_t *v;
    json_array_foreach(size, i, v) if (to) n->n_sizes += integer(v, &to[n->n_sizes]);
    n->size = to;
    return to != NULL;
}

static int by_id(const void *a, const void *b)
{
    const struct ms_pipeline_node *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Reads the nodes, sorted by their ids. *is_bad: an id is missing, or not unique. False: no memory. */
static bool read_nodes(struct ms_pipeline *p, const json_t *list, struct framework_file *file, bool *is_bad)
{
    size_t i;
    json_t *v;
    struct arena *mem = file->mem;
    p->node = arena_take(mem, json_array_size(list), sizeof *p->node);
    if (!p->node)
        return false;
    json_array_foreach(list, i, v)
    {
        struct ms_pipeline_node *n = &p->node[p->n++];
        const char *type = json_string_value(json_object_get(v, "op_type"));
        n->type = arena_text(mem, type ? type : "", type ? strlen(type) : 0);
        n->parent = UINT32_MAX;
        integer(json_object_get(v, "num_workers"), &n->n_workers);
        *is_bad |= !integer(json_object_get(v, "op_id"), &n->id);
        if (!n->type || !read_queue(n, json_object_get(v, "metrics"), mem))
            return false;
        if (n->has_queue && (!n->has_sizes || n->length == 0)) /* its fill level is unknown */
            losses_add(&file->lost, LOSS_BAD_VALUE, 1, file->name, 0);
    }
    qsort(p->node, p->n, sizeof *p->node, by_id);
    for (i = 1; i < p->n; i++)
        *is_bad |= p->node[i].id == p->node[i - 1].id;
    return true;
}

static uint32_t ms_pipeline_row_of(const struct ms_pipeline *p, int64_t id)
{
    const struct ms_pipeline_node key = { .id = id };
    const struct ms_pipeline_node *found = bsearch(&key, p->node, p->n, sizeof *p->node, by_id);
    return found ? (uint32_t)(found - p->node) : UINT32_MAX;
}

/* Counts children that are no nodes, nodes with two parents, and a first node with a parent as damage. What remains
 * below the first node is therefore a tree. */
static bool read_children(struct ms_pipeline *p, const json_t *list, struct arena *mem, struct framework_file *file)
{
    size_t i, k;
    json_t *v, *child;
    json_array_foreach(list, i, v)
    {
        const json_t *children = json_object_get(v, "children");
        const uint32_t row = ms_pipeline_row_of(p, json_integer_value(json_object_get(v, "op_id")));
        uint32_t *to = arena_take(mem, json_array_size(children), sizeof *to);
        if (!to)
            return false;
        json_array_foreach(children, k, child)
        {
            const uint32_t at = json_is_integer(child) ? ms_pipeline_row_of(p, json_integer_value(child)) : UINT32_MAX;
            if (at == UINT32_MAX || at == row || at == 0 || p->node[at].parent != UINT32_MAX) {
                losses_add(&file->lost, LOSS_BAD_VALUE, 1, file->name, 0);
                continue;
            }
            p->node[at].parent = row;
            to[p->node[row].n_children++] = at;
        }
        p->node[row].child = to;
    }
    return true;
}

static int by_cpu_id(const void *a, const void *b)
{
    const struct ms_pipeline_cpu *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static double mean_of_both(const json_t *metrics)
{
    const json_t *user = json_object_get(metrics, "user_utilization"),
                 *sys = json_object_get(metrics, "sys_utilization");
    const size_t n = json_array_size(user) < json_array_size(sys) ? json_array_size(user) : json_array_size(sys);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += json_number_value(json_array_get(user, i)) + json_number_value(json_array_get(sys, i));
    return n > 0 ? sum / (double)n : 0;
}

static bool read_cpu(struct ms_pipeline *p, const json_t *object, struct arena *mem)
{
    const json_t *list = json_object_get(object, "op_info");
    size_t i;
    json_t *v;
    p->has_cpu = object;
    p->cpu = arena_take(mem, json_array_size(list), sizeof *p->cpu);
    if (!p->cpu)
        return false;
    json_array_foreach(list, i, v)
    {
        int64_t id;
        if (integer(json_object_get(v, "op_id"), &id) && id >= 0) /* below 0: the main thread */
            p->cpu[p->n_cpus++] = (struct ms_pipeline_cpu){ id, mean_of_both(json_object_get(v, "metrics")) };
    }
    qsort(p->cpu, p->n_cpus, sizeof *p->cpu, by_cpu_id);
    return true;
}

/* A line of the file of batches: "type extra batch value timestamp". */
enum { LINE_TIME, LINE_CONNECTOR };
enum { TIME_PIPELINE, TIME_PUSH, TIME_BATCH, TIMES };
struct batch_line {
    uint64_t type, extra, batch, value, ms;
};

static bool read_line(struct word line, struct batch_line *out)
{
    struct word word[6];
    uint64_t *const field[] = { &out->type, &out->extra, &out->batch, &out->value, &out->ms };
    bool done = line_words(line.at, line.len, word, 6) == 5;
    for (size_t i = 0; i < 5 && done; i++)
        done = word_u64(word[i], field[i]);
    return done;
}

/* The first batch is a warm-up: only the time of its end is used. If the host takes the batches, a batch lasts from one
 * connector line to the next. */
static void read_batches(struct ms_pipeline *p, struct framework_file *file)
{
    const bool is_iterator = strstr(file->name, "dataset_iterator") != NULL;
    struct bytes in = { file->data, file->size, 0 };
    double sum[TIMES] = { 0 };
    uint64_t n[TIMES] = { 0 }, before_ms = 0;
    size_t len, at = 0;
    p->has_batches = file->is_there && file->size > 0;
    for (const char *text; (text = bytes_line(&in, &len)); at = in.at) {
        const struct word line = word_trim((struct word){ text, len });
        struct batch_line l;
        if (line.len == 0)
            continue;
        if (!read_line(line, &l)) {
            losses_add(&file->lost, LOSS_BAD_TEXT, 1, file->name, at);
            continue;
        }
        const bool counts = l.batch >= 2;
        if (counts && l.type == LINE_TIME && l.extra < TIMES) {
            sum[l.extra] += (double)l.value;
            n[l.extra]++;
        }
        if (counts && l.type == LINE_CONNECTOR && is_iterator) {
            sum[TIME_BATCH] += (double)l.ms - (double)before_ms;
            n[TIME_BATCH]++;
        }
        if (!counts || l.type == LINE_CONNECTOR)
            before_ms = l.ms;
    }
    double *const mean[] = { &p->per_pipeline_ms, &p->per_push_ms, &p->per_batch_ms };
    for (size_t i = 0; i < TIMES; i++)
        *mean[i] = n[i] > 0 ? sum[i] / (double)n[i] : -1;
}

static bool read_pipeline(struct ms_pipeline *p, const json_t *object, struct framework_file *file)
{
    const json_t *list = json_object_get(object, "op_info"), *interval = json_object_get(object, "sampling_interval");
    bool is_bad = !json_is_array(list) || !integer(interval, &p->interval_ms);
    if (!is_bad && !read_nodes(p, list, file, &is_bad))
        return false;
    if (!is_bad)
        return read_children(p, list, file->mem, file);
    losses_add(&file->lost, LOSS_UNREADABLE, 1, file->name, 0);
    p->n = 0;
    return true;
}

bool ms_pipeline_load(struct framework *f)
{
    struct ms_pipeline *p = &f->ms.pipeline;
    struct framework_file *file = &f->file[FRAMEWORK_PIPELINE];
    json_t *nodes = read_file(file), *cpu = read_file(&f->file[FRAMEWORK_PIPELINE_CPU]);
    const bool done = (!nodes || read_pipeline(p, nodes, file)) && read_cpu(p, cpu, file->mem) && !json_memory_failed();
    json_decref(nodes);
    json_decref(cpu);
    read_batches(p, &f->file[FRAMEWORK_PIPELINE_BATCHES]);
    return done;
}
