/* SPDX-License-Identifier: Apache-2.0 */
#include "export/msprof/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/ascending.h"
#include "base/memory/sort.h"

static const char *const head[QUERY_COLUMNS] = {
    [QUERY_JOB] = "Job Info",           [QUERY_DEVICE] = "Device ID", [QUERY_DIR] = "Dir Name",
    [QUERY_TIME] = "Collection Time",   [QUERY_MODEL] = "Model ID",   [QUERY_ITERATIONS] = "Iteration Number",
    [QUERY_TOP] = "Top Time Iteration", [QUERY_RANK] = "Rank ID",
};

struct query {
    struct arena *mem;
    LIST(struct query_row) rows;
};

struct query *query_new(void)
{
    struct query *q = calloc(1, sizeof *q);
    if (q && !(q->mem = arena_new())) {
        free(q);
        return NULL;
    }
    return q;
}

void query_free(struct query *q)
{
    if (!q)
        return;
    arena_free(q->mem);
    free(q);
}

static const char *copy_or_na(struct query *q, const char *text)
{
    return *text ? arena_text(q->mem, text, strlen(text)) : "N/A";
}

/* A row with the columns that all rows of a folder share. */
static struct query_row query_row_of(struct query *q, const struct profile *p, const struct source *s)
{
    const char *device = s->settings.devices;
    const bool is_number = *device && strspn(device, "0123456789") == strlen(device);
    return (struct query_row){ .path = arena_text(q->mem, p->path, strlen(p->path)),
                               .text = { [QUERY_JOB] = copy_or_na(q, s->settings.job),
                                         [QUERY_DEVICE] = is_number ? copy_or_na(q, device) : "N/A",
                                         [QUERY_DIR] = copy_or_na(q, s->name),
                                         [QUERY_TIME] = copy_or_na(q, s->begin_date ? s->begin_date : ""),
                                         [QUERY_MODEL] = "N/A",
                                         [QUERY_ITERATIONS] = "N/A",
                                         [QUERY_TOP] = "N/A",
                                         [QUERY_RANK] = arena_printf(q->mem, "%" PRId64, s->settings.rank) } };
}

static void query_add_row(struct query *q, const struct query_row *row)
{
    struct query_row *slot = list_add(&q->rows, q->mem);
    if (slot)
        *slot = *row;
}

/* The ids of models that have operators, ascending; an id may be there more than once. */
struct models {
    uint32_t *id;
    size_t n;
    bool is_known; /* false: the collection has nothing of the host */
};

static bool models_find(const struct profile *p, struct models *m)
{
    const struct host_tasks *h = &p->host.tasks;
    *m = (struct models){ .is_known = profile_has_host(p) && h->n > 0 };
    if (!m->is_known)
        return true;
    if (!(m->id = malloc(h->n * sizeof *m->id)))
        return false;
    for (size_t i = 0; i < h->n; i++) /* neighbours mostly belong to one model */
        if (h->op[i] != NO_ROW && (m->n == 0 || m->id[m->n - 1] != h->model[i]))
            m->id[m->n++] = h->model[i];
    qsort(m->id, m->n, sizeof *m->id, compare_u32s);
    return true;
}

/* Models without operators are not listed: there is nothing to export of them. */
static bool is_listed(const struct models *m, uint64_t model)
{
    const uint32_t id = (uint32_t)model;
    return !m->is_known || bsearch(&id, m->id, m->n, sizeof *m->id, compare_u32s);
}

/* The five longest iterations of a model, the longest first: "3,1,2". Those as long as the fifth one follow, up to 16
 * in all. */
static const char *longest(struct query *q, const struct iterations *t, const uint32_t *row, size_t n)
{
    enum { WANTED = 5, MOST = 16, DIGITS = 24 };
    struct {
        uint64_t index, ticks;
    } top[MOST];
    size_t n_top = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t ticks = t->end[row[i]] - t->begin[row[i]];
        size_t at = n_top;
        while (at > 0 && top[at - 1].ticks < ticks)
            at--;
        if (at == MOST)
            continue;
        n_top += n_top < MOST;
        memmove(&top[at + 1], &top[at], (n_top - at - 1) * sizeof *top);
        top[at].index = t->index[row[i]];
        top[at].ticks = ticks;
    }
    char text[MOST * DIGITS] = "";
    for (size_t i = 0, at = 0; i < n_top && (i < WANTED || top[i].ticks == top[WANTED - 1].ticks); i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%" PRIu64, i ? "," : "", top[i].index);
    return arena_text(q->mem, text, strlen(text));
}

/* Adds a row for each model, of its iterations or of its training steps; *n_added counts the rows. False: no memory. */
static bool add_models(struct query *q, const struct models *m, const struct device *d, bool are_steps,
                       const struct query_row *shared, size_t *n_added)
{
    const struct iterations *t = &d->steps.iterations;
    uint32_t *row = arena_take(q->mem, t->n, sizeof *row);
    size_t n = 0;
    for (uint32_t i = 0; row && i < t->n; i++)
        if (t->is_step[i] == are_steps)
            row[n++] = i;
    if (!row || !order_by_u64(row, n, t->model))
        return false;
    for (size_t first = 0, end; first < n; first = end) {
        const uint64_t model = t->model[row[first]];
        uint64_t most = 0;
        for (end = first; end < n && t->model[row[end]] == model; end++)
            most = t->index[row[end]] > most ? t->index[row[end]] : most;
        if (!are_steps && !is_listed(m, model))
            continue;
        struct query_row listed = *shared;
        listed.text[QUERY_MODEL] = arena_printf(q->mem, "%" PRIu64, model);
        listed.text[QUERY_ITERATIONS] = arena_printf(q->mem, "%" PRIu64, most);
        listed.text[QUERY_TOP] = longest(q, t, row + first, end - first);
        query_add_row(q, &listed);
        ++*n_added;
    }
    return true;
}

static bool query_add_device(struct query *q, const struct models *m, const struct profile *p, const struct device *d)
{
    const struct query_row shared = query_row_of(q, p, &d->source);
    size_t n = 0;
    if (!add_models(q, m, d, false, &shared, &n) || !add_models(q, m, d, true, &shared, &n))
        return false;
    if (n == 0)
        query_add_row(q, &shared);
    return true;
}

bool query_add(struct query *q, const struct profile *p, struct error *e)
{
    struct models models;
    if (!models_find(p, &models))
        return error_no_memory(e, p->path);
    bool done = true;
    for (size_t d = 0; d < p->n_devices; d++)
        done = done && query_add_device(q, &models, p, &p->device[d]);
    free(models.id);
    if (profile_has_host(p)) {
        const struct query_row row = query_row_of(q, p, &p->host.source);
        query_add_row(q, &row);
    }
    return (done && !arena_failed(q->mem)) || error_no_memory(e, p->path);
}

/* By job, then by time; rows that are equal in both stay in the order in which they were added. */
static int by_job_and_time(const void *a, const void *b)
{
    const struct query_row *x = *(const struct query_row *const *)a, *y = *(const struct query_row *const *)b;
    const int job = strcmp(x->text[QUERY_JOB], y->text[QUERY_JOB]);
    const int time = job ? job : strcmp(x->text[QUERY_TIME], y->text[QUERY_TIME]);
    return time ? time : (x > y) - (x < y);
}

static void write_line(struct out *o, const char *const *text, const size_t *width)
{
    for (size_t c = 0; c < QUERY_COLUMNS; c++) {
        out_shown(o, text[c]); /* names of directories and texts of info.json may have control characters */
        for (size_t i = strlen(text[c]); i < width[c]; i++)
            out_char(o, ' ');
        out_char(o, '\t');
    }
    out_lit(o, "\n\n");
}

const struct query_row **query_rows(const struct query *q, size_t *n)
{
    *n = q->rows.n;
    const struct query_row **sorted = arena_failed(q->mem) ? NULL : calloc(q->rows.n + 1, sizeof *sorted);
    for (size_t i = 0; sorted && i < q->rows.n; i++)
        sorted[i] = &q->rows.at[i];
    if (sorted && q->rows.n > 0)
        qsort(sorted, q->rows.n, sizeof *sorted, by_job_and_time);
    return sorted;
}

bool query_text(const struct query *q, struct out *o, struct error *e)
{
    size_t n;
    const struct query_row **sorted = query_rows(q, &n);
    if (!sorted)
        return error_no_memory(e, "the models of all collections");
    size_t width[QUERY_COLUMNS];
    for (size_t c = 0; c < QUERY_COLUMNS; c++) {
        width[c] = strlen(head[c]);
        for (size_t i = 0; i < n; i++) {
            const size_t len = strlen(sorted[i]->text[c]);
            width[c] = len > width[c] ? len : width[c];
        }
    }
    if (n > 0)
        write_line(o, head, width);
    for (size_t i = 0; i < n; i++)
        write_line(o, sorted[i]->text, width);
    free(sorted);
    return true;
}
