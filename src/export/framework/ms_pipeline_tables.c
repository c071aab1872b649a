/* SPDX-License-Identifier: Apache-2.0 */
#include "export/framework/framework_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files/out.h"

enum { NO_NODE = UINT32_MAX };

static const struct ms_pipeline *pipeline_of(const struct collection_export *x)
{
    return &x->collection->framework.ms.pipeline;
}

/* A list like "[1, 2]" of n numbers; at(context, i) returns number i. NULL: no memory. */
static const char *ms_pipeline_tables_list_text(int64_t (*at)(const void *context, size_t i), const void *context,
                                                size_t n, struct arena *mem)
{
    enum { NUMBER = 22 };
    char *text = arena_take(mem, n * NUMBER + 3, 1), *to = text;
    if (!text)
        return NULL;
    *to++ = '[';
    for (size_t i = 0; i < n; i++)
        to += snprintf(to, NUMBER + 1, "%s%" PRId64, i > 0 ? ", " : "", at(context, i));
    memcpy(to, "]", 2);
    return text;
}

static int64_t size_at(const void *context, size_t i)
{
    return ((const struct ms_pipeline_node *)context)->size[i];
}

static double mean_size(const struct ms_pipeline_node *n)
{
    double sum = 0;
    for (size_t i = 0; i < n->n_sizes; i++)
        sum += (double)n->size[i];
    return sum / (double)n->n_sizes;
}

/* ---- raw -------------------------------------------------------------------------------------------------------- */

/* The nodes of the table: those without a queue are left out, and their children become children of the node above. */
struct shown_nodes {
    const struct ms_pipeline *p;
    LIST(uint32_t) row;   /* in the order of the table */
    LIST(uint32_t) child; /* the children of all nodes, node by node */
    uint32_t *parent;     /* by row of the pipeline */
    size_t *first, *n;    /* by row of the pipeline: the range of its children in `child` */
    LIST(uint32_t) spare; /* the queue of the breadth-first search */
    struct arena *mem;
};

/* Adds the nearest nodes with a queue below a node, level by level. False: no memory. */
static bool add_children(struct shown_nodes *s, uint32_t of)
{
    s->first[of] = s->child.n;
    s->spare.n = 0;
    size_t next_spare = 0;
    for (uint32_t at = of;;) {
        const struct ms_pipeline_node *n = &s->p->node[at];
        if (at != of && n->has_queue) {
            uint32_t *new = list_add(&s->child, s->mem), *next = list_add(&s->row, s->mem);
            if (!new || !next)
                return false;
            *new = *next = at;
            s->parent[at] = of;
        } else {
            for (size_t i = 0; i < n->n_children; i++) {
                uint32_t *below = list_add(&s->spare, s->mem);
                if (!below)
                    return false;
                *below = n->child[i];
            }
        }
        if (next_spare == s->spare.n)
            break;
        at = s->spare.at[next_spare++];
    }
    s->n[of] = s->child.n - s->first[of];
    return true;
}

struct children {
    const struct shown_nodes *s;
    uint32_t of;
};

static int64_t child_id_at(const void *context, size_t i)
{
    const struct children *c = context;
    return c->s->p->node[c->s->child.at[c->s->first[c->of] + i]].id;
}

static bool ms_pipeline_tables_add_row(struct grid *g, const struct shown_nodes *s, uint32_t row)
{
    const struct ms_pipeline_node *n = &s->p->node[row];
    const struct cell none = cell_text("");
    const char *sizes = n->has_queue ? ms_pipeline_tables_list_text(size_at, n, n->n_sizes, g->mem) : "",
               *children = s->n[row] > 0 ? ms_pipeline_tables_list_text(child_id_at, &(struct children){ s, row },
                                                                        s->n[row], g->mem)
                                         : "";
    if (!sizes || !children)
        return false;
    const bool has_mean = n->has_queue && n->n_sizes > 0;
    const double mean = has_mean ? mean_size(n) : 0;
    grid_row(g, (struct cell[]){ cell_int(n->id), cell_text(n->type), cell_int(n->n_workers), cell_text(sizes),
                                 has_mean ? cell_real(mean) : none, n->has_queue ? cell_int(n->length) : none,
                                 has_mean ? cell_real(mean / (double)n->length) : none, cell_int(s->p->interval_ms),
                                 s->parent[row] == NO_NODE ? none : cell_int(s->p->node[s->parent[row]].id),
                                 cell_text(children) });
    return true;
}

bool ms_pipeline_raw_table(const struct collection_export *x, struct table *out, struct error *e)
{
    static const struct column column[] = { { .name = "op_id" },
                                            { .name = "op_type" },
                                            { .name = "num_workers" },
                                            { .name = "output_queue_size" },
                                            { .name = "output_queue_average_size" },
                                            { .name = "output_queue_length" },
                                            { .name = "output_queue_usage_rate" },
                                            { .name = "sample_interval" },
                                            { .name = "parent_id" },
                                            { .name = "children_id" } };
    const struct ms_pipeline *p = pipeline_of(x);
    struct grid g = { .n_columns = sizeof column / sizeof *column, .mem = x->mem };
    struct shown_nodes s = { .p = p,
                             .parent = arena_take(x->mem, p->n, sizeof *s.parent),
                             .first = arena_take(x->mem, p->n, sizeof *s.first),
                             .n = arena_take(x->mem, p->n, sizeof *s.n),
                             .mem = x->mem };
    uint32_t *root =
        p->n > 0 && p->node[0].id == 0 ? list_add(&s.row, x->mem) : NULL; /* a new element is 0, the row of the root */
    if (root)
        s.parent[0] = NO_NODE;
    bool is_bad = false; /* some queue has no length or no samples: the reference writes no table then */
    for (size_t i = 0; i < s.row.n && !arena_failed(x->mem); i++)
        add_children(&s, s.row.at[i]);
    for (size_t i = 0; i < s.row.n; i++) {
        const struct ms_pipeline_node *n = &p->node[s.row.at[i]];
        is_bad |= n->has_queue && (!n->has_sizes || n->length == 0);
    }
    for (size_t i = 0; i < s.row.n && !is_bad && !arena_failed(x->mem); i++)
        ms_pipeline_tables_add_row(&g, &s, s.row.at[i]);
    *out = grid_table(&g, "minddata_pipeline_raw", column, x->collection->profile.names);
    return !arena_failed(x->mem) || error_no_memory(e, "minddata_pipeline_raw");
}

/* ---- summary ---------------------------------------------------------------------------------------------------- */

/* A line of the summary: a key, and a list of numbers, lists or texts. */
struct ms_pipeline_tables_line {
    const char *key;
    bool is_text;
    LIST(const char *) item;
};

struct summary {
    const struct ms_pipeline *p;
    LIST(struct ms_pipeline_tables_line) line;
    struct arena *mem;
};

static struct ms_pipeline_tables_line *new_line(struct summary *s, const char *key, bool is_text)
{
    struct ms_pipeline_tables_line *l = list_add(&s->line, s->mem);
    if (l)
        *l = (struct ms_pipeline_tables_line){ .key = key, .is_text = is_text };
    return l;
}

static void add_item(struct summary *s, struct ms_pipeline_tables_line *l, const char *text)
{
    const char **item = l ? list_add(&l->item, s->mem) : NULL;
    if (item)
        *item = text;
}

static void add_int(struct summary *s, struct ms_pipeline_tables_line *l, int64_t v)
{
    add_item(s, l, arena_printf(s->mem, "%" PRId64, v));
}

/* Adds a number, or -1 if it is unknown. */
static void add_real(struct summary *s, struct ms_pipeline_tables_line *l, bool is_known, double v, int decimals)
{
    char text[PERCENT_TEXT];
    add_item(s, l, is_known ? arena_printf(s->mem, "%s", rounded_text(v, decimals, text)) : "-1");
}

static double rounded(double v)
{
    return round_exact(v, 2);
}

struct node_children {
    const struct ms_pipeline *p;
    const struct ms_pipeline_node *of;
};

static int64_t own_child_at(const void *context, size_t i)
{
    const struct node_children *c = context;
    return c->p->node[c->of->child[i]].id;
}

static bool figures_of(struct node_figures *f, const struct ms_pipeline *p, size_t i, struct arena *mem)
{
    const struct ms_pipeline_node *n = &p->node[i];
    const size_t len = strlen(n->type);
    size_t n_empty = 0;
    for (size_t k = 0; k < n->n_sizes; k++)
        n_empty += n->size[k] == 0;
    f->name = arena_text(mem, n->type, len > 2 ? len - 2 : 0); /* without "Op" */
    f->label = f->name ? arena_printf(mem, "%s(id=%" PRId64 ")", f->name, n->id) : NULL;
    f->has_queue = n->has_queue && n->n_sizes > 0;
    f->utilization_pct = f->empty_pct = f->cpu_pct = -1;
    if (f->has_queue)
        f->empty_pct = rounded(100 * (double)n_empty / (double)n->n_sizes);
    if (f->has_queue && n->length != 0)
        f->utilization_pct = rounded(100 * rounded(mean_size(n)) / (double)n->length); /* of the shown mean */
    if (p->n_cpus == p->n && n->n_workers != 0)
        f->cpu_pct = rounded(rounded(p->cpu[i].pct) / (double)n->n_workers);
    return f->label != NULL;
}

static void add_nodes(struct summary *s, const struct node_figures *f)
{
    enum { IDS, NAMES, LABELS, WORKERS, AVERAGE, UTILIZATION, EMPTY, CHILDREN, PARENT, LINES };
    static const char *const key[LINES] = { "op_ids",
                                            "op_names",
                                            "pipeline_ops",
                                            "num_workers",
                                            "queue_average_size",
                                            "queue_utilization_pct",
                                            "queue_empty_freq_pct",
                                            "children_ids",
                                            "parent_id" };
    for (int i = 0; i < LINES; i++) {
        struct ms_pipeline_tables_line *l = new_line(s, key[i], i == NAMES || i == LABELS);
        for (size_t k = 0; l && k < s->p->n; k++) {
            const struct ms_pipeline_node *n = &s->p->node[k];
            switch (i) {
            case IDS: add_int(s, l, n->id); break;
            case NAMES: add_item(s, l, f[k].name); break;
            case LABELS: add_item(s, l, f[k].label); break;
            case WORKERS: add_int(s, l, n->n_workers); break;
            case AVERAGE: add_real(s, l, f[k].has_queue, f[k].has_queue ? mean_size(n) : 0, 2); break;
            case UTILIZATION: add_real(s, l, f[k].utilization_pct >= 0, f[k].utilization_pct, 2); break;
            case EMPTY: add_real(s, l, f[k].has_queue, f[k].empty_pct, 2); break;
            case CHILDREN:
                add_item(s, l,
                         ms_pipeline_tables_list_text(own_child_at, &(struct node_children){ s->p, n }, n->n_children,
                                                      s->mem));
                break;
            default: add_int(s, l, n->parent == NO_NODE ? -1 : s->p->node[n->parent].id);
            }
        }
    }
}

static void add_texts(struct summary *s, const char *key, const char *const *text, size_t n)
{
    struct ms_pipeline_tables_line *l = n > 0 ? new_line(s, key, true) : NULL;
    for (size_t i = 0; i < n; i++)
        add_item(s, l, text[i]);
}

/* Makes the lines. There are none unless the files of nodes, of CPU use and of batches are all there. False: no
 * memory. */
static bool summarise(struct summary *s, const struct collection_export *x)
{
    const struct ms_pipeline *p = s->p = pipeline_of(x);
    s->mem = x->mem;
    if (p->n == 0 || !p->has_cpu || !p->has_batches)
        return true;
    struct node_figures *f = arena_take(x->mem, p->n, sizeof *f);
    for (size_t i = 0; f && i < p->n; i++)
        if (!figures_of(&f[i], p, i, x->mem))
            return false;
    if (!f)
        return false;
    add_nodes(s, f);
    struct ms_pipeline_tables_line *cpu = new_line(s, "avg_cpu_pct", false);
    for (size_t i = 0; cpu && i < p->n_cpus; i++)
        add_real(s, cpu, true, p->cpu[i].pct, 2);
    const struct {
        const char *key;
        double ms;
    } time[] = { { "per_pipeline_time", p->per_pipeline_ms },
                 { "per_push_queue_time", p->per_push_ms },
                 { "per_batch_time", p->per_batch_ms } };
    for (size_t i = 0; i < sizeof time / sizeof *time; i++)
        add_real(s, new_line(s, time[i].key, false), time[i].ms >= 0, time[i].ms, 3);
    if (p->n_cpus != p->n)
        return !arena_failed(x->mem);
    struct ms_pipeline_tables_line *each = new_line(s, "avg_cpu_pct_per_worker", false);
    for (size_t i = 0; each && i < p->n; i++)
        add_real(s, each, f[i].cpu_pct >= 0, f[i].cpu_pct, 2);
    struct pipeline_advice a = { .mem = x->mem };
    if (!ms_pipeline_advise(&a, p, f))
        return false;
    add_texts(s, "cpu_analysis_details", a.cpu.at, a.cpu.n);
    add_texts(s, "queue_analysis_details", a.queue.at, a.queue.n);
    add_texts(s, "bottleneck_warning", &a.bottleneck, a.bottleneck != NULL);
    add_texts(s, "bottleneck_suggestion", &a.suggestion, a.suggestion != NULL);
    return !arena_failed(x->mem);
}

static void put_csv(const struct summary *s, bool is_safe, struct out *o)
{
    void (*const put)(struct out *, const char *, size_t) = is_safe ? out_csv_safe : out_csv;
    for (size_t i = 0; i < s->line.n; i++) {
        const struct ms_pipeline_tables_line *l = &s->line.at[i];
        out_csv(o, l->key, strlen(l->key));
        for (size_t k = 0; k < l->item.n; k++) {
            out_char(o, ',');
            put(o, l->item.at[k], strlen(l->item.at[k]));
        }
        out_lit(o, "\r\n");
    }
}

static void put_json(const struct summary *s, bool is_safe, struct out *o)
{
    (void)is_safe;
    out_char(o, '{');
    for (size_t i = 0; i < s->line.n; i++) {
        const struct ms_pipeline_tables_line *l = &s->line.at[i];
        out_bytes(o, ", ", i > 0 ? 2 : 0);
        out_json(o, l->key, strlen(l->key));
        out_lit(o, ": [");
        for (size_t k = 0; k < l->item.n; k++) {
            const size_t len = strlen(l->item.at[k]);
            out_bytes(o, ", ", k > 0 ? 2 : 0);
            if (l->is_text)
                out_json(o, l->item.at[k], len);
            else
                out_bytes(o, l->item.at[k], len);
        }
        out_char(o, ']');
    }
    out_char(o, '}');
}

static bool write_summary(const struct collection_export *x, const char *path, uint64_t *n_rows,
                          void (*put)(const struct summary *s, bool is_safe, struct out *o), struct error *e)
{
    struct summary s = { 0 };
    struct out o;
    if (!summarise(&s, x))
        return error_no_memory(e, path);
    if (s.line.n == 0)
        return true;
    if (!out_open(&o, path, e))
        return false;
    put(&s, x->device.options->csv_is_safe, &o);
    *n_rows = s.line.n;
    return out_close(&o, e);
}

bool ms_pipeline_summary_csv(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    return write_summary(x, path, n_rows, put_csv, e);
}

bool ms_pipeline_summary_json(const struct collection_export *x, const char *path, uint64_t *n_rows, struct error *e)
{
    return write_summary(x, path, n_rows, put_json, e);
}
