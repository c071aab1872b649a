/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/results/recipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/sort.h"
#include "cluster/results/results.h"
#include "profile/calls.h"

void describe_cells(struct cell *to, const struct description *d)
{
    const double v[] = { d->mean, d->std, d->min, d->q1, d->median, d->q3, d->max, (double)d->sum };
    to[0] = cell_uint(d->count);
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        to[i + 1] = cell_real_or_na(v[i]);
}

bool recipe_table(struct results *out, const char *name, const char *file, const struct result_column *column,
                  size_t n_columns, const struct grid *g)
{
    const struct result_table t = {
        .name = name,
        .file = file,
        .column = column,
        .n_columns = n_columns,
        .n_rows = g->cells.n / n_columns,
        .grid = g->cells.at,
    };
    return !arena_failed(g->mem) && (t.n_rows == 0 || results_add(out, &t));
}

bool recipe_stream(struct table_sink **sink, const struct mode_context *c, const struct result_table *t, struct grid *g)
{
    const size_t n = g->cells.n / g->n_columns;
    if (arena_failed(g->mem))
        return error_no_memory(c->e, c->mode->name);
    if (n > 0 && !*sink)
        *sink = writer_table(c->writer, c->mode->class_name, t, c->e);
    g->cells.n = 0;
    return n == 0 || (*sink && writer_rows(c->writer, *sink, g->cells.at, n, c->e));
}

struct recipe_sorting {
    const struct grid *g;
    const struct grid_key *key;
    size_t n_keys;
    const struct names *names;
};

static double recipe_number_of(const struct cell *c)
{
    switch (c->kind) {
    case CELL_INT:
    case CELL_US_SHORT:
    case CELL_TIME_BARE: return (double)c->i;
    case CELL_UINT: return (double)c->u;
    case CELL_NA: return -__builtin_inf();
    default: return c->f;
    }
}

static int recipe_compare(const struct cell *a, const struct cell *b, const struct names *names)
{
    if (a->kind == CELL_NAME && b->kind == CELL_NAME)
        return names_compare(names, a->name, b->name);
    if (a->kind == CELL_TEXT && b->kind == CELL_TEXT)
        return strcmp(a->text, b->text);
    if (a->kind == CELL_INT && b->kind == CELL_INT)
        return (a->i > b->i) - (a->i < b->i);
    const double x = recipe_number_of(a), y = recipe_number_of(b);
    return (x > y) - (x < y);
}

static int by_keys(const void *a, const void *b, void *sorting)
{
    const struct recipe_sorting *const s = sorting;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    for (size_t i = 0; i < s->n_keys; i++) {
        const struct grid_key *const k = &s->key[i];
        const struct cell *const cells = s->g->cells.at;
        const int order =
            recipe_compare(&cells[x * s->g->n_columns + k->column], &cells[y * s->g->n_columns + k->column], s->names);
        if (order != 0)
            return k->is_descending ? -order : order;
    }
    return (x > y) - (x < y);
}

bool grid_sort(struct grid *g, const struct grid_key *key, size_t n_keys, const struct names *names)
{
    const size_t n = g->cells.n / g->n_columns, size = g->n_columns * sizeof *g->cells.at;
    if (arena_failed(g->mem) || n == 0)
        return !arena_failed(g->mem);
    uint32_t *const order = malloc(n * sizeof *order);
    struct cell *const sorted = arena_take(g->mem, n, size);
    const bool works = order && sorted;
    if (works) {
        order_fill(order, n);
        qsort_r(order, n, sizeof *order, by_keys, &(struct recipe_sorting){ g, key, n_keys, names });
        for (size_t i = 0; i < n; i++)
            memcpy(sorted + i * g->n_columns, g->cells.at + order[i] * g->n_columns, size);
        arena_drop(g->mem, g->cells.at);
        g->cells.at = sorted;
        g->cells.cap = g->cells.n;
    }
    free(order);
    return works;
}

struct chosen_step step_choose(const struct cluster_options *o, const struct rank_steps *steps)
{
    struct chosen_step c = { .is_all = !o->has_step, .row = NO_ROW };
    for (size_t i = 0; o->has_step && i < steps->n; i++)
        if (steps->id[i] == o->step) {
            c = (struct chosen_step){ false, (uint32_t)i, steps->begin_ns[i], steps->end_ns[i] };
            break;
        }
    return c;
}

bool name_contains(const struct names *names, name_id name, const char *part)
{
    return strstr(names_text(names, name), part) != NULL;
}

bool name_contains_any_case(const struct names *names, name_id name, const char *part)
{
    return strcasestr(names_text(names, name), part) != NULL;
}
