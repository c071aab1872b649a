/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include <stdlib.h>

#include "analyse/framework/steps/profiler_steps.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"
#include "raw/framework_values.h"
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

struct named_spans {
    size_t n;
    name_id *domain, *name;
    uint64_t *dur_ns;
};

static size_t count_user(const struct framework_ops *o)
{
    size_t n = 0;
    for (size_t i = 0; o && o->scope && i < o->n; i++)
        n += o->scope[i] == OP_SCOPE_USER;
    return n;
}

static void named_add(struct named_spans *s, const struct names *names, name_id domain, name_id name, int64_t dur_ns)
{
    if (name_is_step(names, name))
        return;
    s->domain[s->n] = domain;
    s->name[s->n] = name;
    s->dur_ns[s->n++] = (uint64_t)dur_ns;
}

static bool named_find(struct named_spans *s, const struct profile *p, const struct framework_ops *o, struct arena *mem)
{
    const struct marks *m = &p->host.records.marks;
    const size_t n_user = count_user(o), most = m->n + n_user;
    *s = (struct named_spans){ .domain = arena_take(mem, most, sizeof *s->domain),
                               .name = arena_take(mem, most, sizeof *s->name),
                               .dur_ns = arena_take(mem, most, sizeof *s->dur_ns) };
    if (arena_failed(mem))
        return false;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->event[i] == MARK_EVENT_PUSH_POP || m->event[i] == MARK_EVENT_START_END)
            named_add(
                s, p->names, domain_of(p, i), m->message[i],
                span_ns(source_host_ns(&p->host.source, m->begin[i]), source_host_ns(&p->host.source, m->end[i])));
    for (size_t i = 0; n_user > 0 && i < o->n; i++)
        if (o->scope[i] == OP_SCOPE_USER)
            named_add(s, p->names, NAME_EMPTY, framework_op_label(o, i), span_ns(o->begin_ns[i], o->end_ns[i]));
    return true;
}

bool ranges_sum(struct ranges *r, const struct profile *p, const struct framework_ops *ops, struct arena *mem)
{
    struct arena *spare = arena_new();
    struct named_spans s = { 0 };
    bool done = spare && named_find(&s, p, ops, spare);
    uint32_t *row = done ? arena_take(spare, s.n, sizeof *row) : NULL;
    size_t n_sums = 0;
    *r = (struct ranges){ 0 };
    for (uint32_t i = 0; row && i < s.n; i++)
        row[i] = i;
    done =
        row && order_by_u64(row, s.n, s.dur_ns) && order_by_u32(row, s.n, s.name) && order_by_u32(row, s.n, s.domain);
    for (size_t i = 0; done && i < s.n; i++)
        n_sums += i == 0 || s.name[row[i]] != s.name[row[i - 1]] || s.domain[row[i]] != s.domain[row[i - 1]];
    r->at = done ? arena_take(mem, n_sums, sizeof *r->at) : NULL;
    done = r->at != NULL;
    for (size_t i = 0, end; done && i < s.n; i = end) {
        for (end = i + 1; end < s.n && s.name[row[end]] == s.name[row[i]] && s.domain[row[end]] == s.domain[row[i]];)
            end++;
        r->at[r->n] = sum_of(row + i, end - i, s.dur_ns);
        r->at[r->n].domain = s.domain[row[i]];
        r->at[r->n++].name = s.name[row[i]];
    }
    if (r->n > 0)
        qsort_r(r->at, r->n, sizeof *r->at, by_total, p->names);
    arena_free(spare);
    return done;
}
