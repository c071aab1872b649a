/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/ranges.h"

#include <stdlib.h>

#include "analyse/framework/profiler_steps.h"
#include "analyse/framework/spread.h"
#include "base/sort.h"
#include "raw/host_records.h"

static name_id domain_of(const struct profile *p, size_t row)
{
    const struct marks *m = &p->host.records.marks;
    name_id name;
    const bool is_known = row >= m->n_plain && dictionary_find(&p->dictionary, m->domain[row], &name);
    return is_known && name != names_addz(p->names, "default") ? name : NAME_EMPTY;
}

static int by_total(const void *a, const void *b, void *names)
{
    const struct range_sum *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    const int domain = names_compare(names, x->domain, y->domain);
    return domain ? domain : names_compare(names, x->name, y->name);
}

/* Rows of one domain and name, by duration. */
static struct range_sum sum_of(const uint32_t *row, size_t n, const uint64_t *dur_ns)
{
    struct range_sum s = { .n = n };
    for (size_t i = 0; i < n; i++)
        s.total_ns += (double)dur_ns[row[i]];
    s.p50_ns = (int64_t)dur_ns[row[(n - 1) / 2]];
    s.p99_ns = (int64_t)dur_ns[row[(n * 99 + 99) / 100 - 1]];
    s.max_ns = (int64_t)dur_ns[row[n - 1]];
    return s;
}

bool ranges_sum(struct ranges *r, const struct profile *p, struct arena *mem)
{
    const struct marks *m = &p->host.records.marks;
    struct arena *spare = arena_new();
    uint32_t *row = spare ? arena_take(spare, m->n, sizeof *row) : NULL;
    uint32_t *domain = spare ? arena_take(spare, m->n, sizeof *domain) : NULL;
    uint64_t *dur_ns = spare ? arena_take(spare, m->n, sizeof *dur_ns) : NULL;
    size_t n = 0, n_sums = 0;
    bool done = row && domain && dur_ns;
    *r = (struct ranges){ 0 };
    for (uint32_t i = 0; done && i < m->n; i++) {
        const bool is_range = m->event[i] == MARK_EVENT_PUSH_POP || m->event[i] == MARK_EVENT_START_END;
        if (!is_range || name_is_step(p->names, m->message[i]))
            continue;
        dur_ns[i] =
            (uint64_t)span_ns(source_host_ns(&p->host.source, m->begin[i]), source_host_ns(&p->host.source, m->end[i]));
        domain[i] = domain_of(p, i);
        row[n++] = i;
    }
    done = done && order_by_u64(row, n, dur_ns) && order_by_u32(row, n, m->message) && order_by_u32(row, n, domain);
    for (size_t i = 0; done && i < n; i++)
        n_sums += i == 0 || m->message[row[i]] != m->message[row[i - 1]] || domain[row[i]] != domain[row[i - 1]];
    r->at = done ? arena_take(mem, n_sums, sizeof *r->at) : NULL;
    done = r->at != NULL;
    for (size_t i = 0, end; done && i < n; i = end) {
        for (end = i + 1; end < n && m->message[row[end]] == m->message[row[i]] && domain[row[end]] == domain[row[i]];)
            end++;
        r->at[r->n] = sum_of(row + i, end - i, dur_ns);
        r->at[r->n].domain = domain[row[i]];
        r->at[r->n++].name = m->message[row[i]];
    }
    if (r->n > 0)
        qsort_r(r->at, r->n, sizeof *r->at, by_total, p->names);
    arena_free(spare);
    return done;
}
