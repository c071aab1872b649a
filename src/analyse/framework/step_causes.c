/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/step_causes.h"

#include <string.h>

#include "analyse/framework/profiler_steps.h"
#include "base/sort.h"

const char *step_cause_key(enum step_cause cause)
{
    static const char *const key[CAUSES] = { "operator", "transfer", "wait", "host" };
    return key[cause];
}

const char *step_named_key(enum step_named named)
{
    static const char *const key[NAMEDS] = { NULL, "operator", "outside", "python", "range" };
    return key[named];
}

/* Times by name: of the slow steps one by one, of the others together. */
struct sums {
    const struct step_series *s;
    const int64_t *begin_ns, *end_ns; /* of the steps, there where these times are from */
    const bool *is_wanted;            /* by step */
    double *others, *own;             /* by name; own: of one step at a time */
    size_t n_names, n_others;         /* n_others: steps */
    LIST(struct one {
        uint32_t step;
        name_id name;
        double ns;
    })
    found; /* of the wanted steps */
    uint32_t *order, *step_key;
    struct arena *mem;
};

static bool sums_init(struct sums *m, const struct step_series *s, bool on_host, const bool *is_wanted, size_t n_names,
                      struct arena *mem)
{
    *m = (struct sums){ .s = s,
                        .begin_ns = on_host ? s->host_begin_ns : s->begin_ns,
                        .end_ns = on_host ? s->host_end_ns : s->end_ns,
                        .is_wanted = is_wanted,
                        .others = arena_take(mem, n_names, sizeof *m->others),
                        .own = arena_take(mem, n_names, sizeof *m->own),
                        .n_names = n_names,
                        .n_others = s->n - s->n_slow,
                        .mem = mem };
    return m->others && m->own;
}

static void sums_add(struct sums *m, int64_t begin_ns, name_id name, double ns)
{
    const uint32_t step = step_series_at(m->begin_ns, m->end_ns, m->s->n, begin_ns);
    if (step == NO_ROW || name >= m->n_names || !(ns > 0))
        return;
    if (!m->s->is_slow[step]) {
        m->others[name] += ns;
    } else if (m->is_wanted[step]) {
        struct one *one = list_add(&m->found, m->mem);
        if (one)
            *one = (struct one){ step, name, ns };
    }
}

/* Puts what was found in the order of the steps. False: no memory for it, or for something that was added. */
static bool sums_close(struct sums *m)
{
    m->order = arena_take(m->mem, m->found.n, sizeof *m->order);
    m->step_key = arena_take(m->mem, m->found.n, sizeof *m->step_key);
    if (arena_failed(m->mem))
        return false;
    for (size_t i = 0; i < m->found.n; i++)
        m->step_key[i] = m->found.at[i].step;
    order_fill(m->order, m->found.n);
    return order_by_u32(m->order, m->found.n, m->step_key);
}

struct grown {
    name_id name;
    double ns; /* 0: nothing grew */
    double all_ns;
};

/* What grew most in a step; of what grew equally, the first by text. */
static struct grown sums_grown(const struct sums *m, uint32_t step, const struct names *names)
{
    struct grown most = { 0 };
    const double n_others = (double)(m->n_others > 0 ? m->n_others : 1);
    const size_t first = order_first_u32(m->order, m->found.n, m->step_key, step);
    size_t end = first;
    for (; end < m->found.n && m->found.at[m->order[end]].step == step; end++)
        m->own[m->found.at[m->order[end]].name] += m->found.at[m->order[end]].ns;
    for (size_t i = first; i < end; i++) {
        const name_id name = m->found.at[m->order[i]].name;
        if (m->own[name] == 0)
            continue;
        const double ns = m->own[name] - m->others[name] / n_others;
        if (ns > most.ns || (ns == most.ns && ns > 0 && names_compare(names, name, most.name) < 0))
            most = (struct grown){ name, ns, most.all_ns };
        most.all_ns += ns > 0 ? ns : 0;
        m->own[name] = 0;
    }
    return most;
}

enum kind { KIND_OPERATOR, KIND_TRANSFER, KIND_WAIT, KIND_HOST, KIND_PYTHON, KIND_RANGE, KINDS };

static void add_operators(struct sums *m, const struct profile *p, const struct device *d)
{
    const struct ops *ops = &p->host.ops;
    const struct tasks *t = &d->tasks;
    for (size_t i = 0; i < t->n; i++) {
        if (t->op[i] == NO_ROW || t->is_hidden[i])
            continue;
        const name_id type = ops->op_type[t->op[i]];
        sums_add(m, t->begin_ns[i], type == NAME_NA || type == NAME_EMPTY ? ops->name[t->op[i]] : type, t->dur_ns[i]);
    }
}

/* Waits on the master stream are for other ranks; the rest of a collective is its transfer. */
static bool add_collectives(struct sums *transfer, struct sums *wait, const struct profile *p, const struct device *d)
{
    const struct comm_ops *o = &d->comm.ops;
    const struct comm_tasks *t = &d->comm.tasks;
    const name_id wait_name = names_addz(p->names, "Notify_Wait");
    double *wait_ns = arena_take(transfer->mem, o->n, sizeof *wait_ns);
    if (!wait_ns)
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (t->is_master[i] && t->name[i] == wait_name && t->op[i] < o->n)
            wait_ns[t->op[i]] += t->dur_ns[i];
    for (size_t i = 0; i < o->n; i++) {
        if (!o->is_shown[i])
            continue;
        const name_id type = o->op_type[i], name = type == NAME_NA || type == NAME_EMPTY ? o->name[i] : type;
        const double waited_ns = wait_ns[i] < o->dur_ns[i] ? wait_ns[i] : o->dur_ns[i];
        sums_add(wait, o->begin_ns[i], name, waited_ns);
        sums_add(transfer, o->begin_ns[i], name, o->dur_ns[i] - waited_ns);
    }
    return true;
}

/* The framework's operators without those inside them; a step itself stands for what is outside of all of them. */
static void add_framework(struct sums *ops, struct sums *outside, const struct collection *collection)
{
    const struct framework_ops *o = &collection->framework.ops;
    const struct step_series *s = ops->s;
    for (size_t i = 0; i < s->n; i++)
        sums_add(outside, s->host_begin_ns[i], NAME_EMPTY, (double)collection->tree.self_ns[s->op[i]]);
    for (uint32_t i = 0; i < o->n; i++) {
        const uint32_t step = step_series_at(ops->begin_ns, ops->end_ns, s->n, o->begin_ns[i]);
        if (step != NO_ROW && s->op[step] != i)
            sums_add(ops, o->begin_ns[i], framework_op_label(o, i), (double)collection->tree.self_ns[i]);
    }
}

/* Calls of the software stack without those inside them: sorted by thread and begin, the outer ones first. */
static bool add_calls(struct sums *m, const struct profile *p)
{
    const struct calls *c = &p->host.calls;
    const struct source *source = &p->host.source;
    uint32_t *open = arena_take(m->mem, c->n, sizeof *open);
    double *inside_ns = arena_take(m->mem, c->n, sizeof *inside_ns);
    if (!open || !inside_ns)
        return false;
    for (size_t thread = 0; thread < c->n_threads; thread++) {
        size_t depth = 0;
        for (uint32_t i = c->first_of_thread[thread]; i < c->first_of_thread[thread + 1]; i++) {
            while (depth > 0 && c->end[open[depth - 1]] <= c->begin[i])
                depth--;
            if (depth > 0)
                inside_ns[open[depth - 1]] +=
                    (double)span_ns(source_host_ns(source, c->begin[i]), source_host_ns(source, c->end[i]));
            open[depth++] = i;
        }
    }
    for (size_t i = 0; i < c->n; i++) {
        const int64_t begin_ns = source_host_ns(source, c->begin[i]), end_ns = source_host_ns(source, c->end[i]);
        sums_add(m, begin_ns, dictionary_type(&p->dictionary, c->level[i], c->type[i]),
                 (double)span_ns(begin_ns, end_ns) - inside_ns[i]);
    }
    return true;
}

/* Functions without those that they called. Calls stand thread by thread in the order of their returns: what one has called
 * stands before it, and began after it. */
static bool add_python(struct sums *m, const struct python_calls *c)
{
    uint32_t *open = arena_take(m->mem, c->n, sizeof *open);
    if (!open)
        return false;
    size_t depth = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        int64_t self_ns = span_ns(c->begin_ns[i], c->end_ns[i]);
        depth = i > 0 && c->thread[i] == c->thread[i - 1] ? depth : 0;
        for (; depth > 0 && c->begin_ns[open[depth - 1]] >= c->begin_ns[i]; depth--)
            self_ns -= span_ns(c->begin_ns[open[depth - 1]], c->end_ns[open[depth - 1]]);
        sums_add(m, c->begin_ns[i], c->name[i], (double)self_ns);
        open[depth++] = i;
    }
    return true;
}

static void add_ranges(struct sums *m, const struct profile *p)
{
    const struct marks *k = &p->host.records.marks;
    for (size_t i = 0; i < k->n; i++) {
        const int64_t begin_ns = source_host_ns(&p->host.source, k->begin[i]);
        if (name_is_step(p->names, k->message[i])) /* of course it grew: it is the step */
            continue;
        sums_add(m, begin_ns, k->message[i], (double)span_ns(begin_ns, source_host_ns(&p->host.source, k->end[i])));
    }
}

static bool add_all(struct sums m[KINDS], const struct profile *p, const struct device *d,
                    const struct collection *collection)
{
    if (d) {
        add_operators(&m[KIND_OPERATOR], p, d);
        if (!add_collectives(&m[KIND_TRANSFER], &m[KIND_WAIT], p, d))
            return false;
    }
    if (collection)
        add_framework(&m[d ? KIND_HOST : KIND_OPERATOR], &m[KIND_HOST], collection);
    else if (profile_has_host(p) && !add_calls(&m[KIND_HOST], p))
        return false;
    if (collection && !add_python(&m[KIND_PYTHON], &collection->framework.python))
        return false;
    if (profile_has_host(p))
        add_ranges(&m[KIND_RANGE], p);
    for (int k = 0; k < KINDS; k++)
        if (!sums_close(&m[k]))
            return false;
    return true;
}

enum { LEAST_PART = 5 }; /* a fifth of what is to be explained: smaller causes are noise */

static void add_more(struct step_mores *out, enum step_cause cause, int64_t more_ns, enum step_named named,
                     struct grown g)
{
    const bool is_named = g.ns > 0 && g.ns * LEAST_PART >= (double)more_ns;
    size_t at = out->n++;
    for (; at > 0 && out->at[at - 1].more_ns < more_ns; at--)
        out->at[at] = out->at[at - 1];
    out->at[at] = (struct step_more){ cause, more_ns, is_named ? named : NAMED_NOTHING, is_named ? g.name : NAME_EMPTY,
                                      is_named ? (int64_t)g.ns : 0 };
}

/* What the host did while the device was free. Outside of operators a function or a range is shown instead, if it explains most. */
static void add_host(struct step_mores *out, int64_t more_ns, struct sums m[KINDS], const struct names *names)
{
    const struct grown host = sums_grown(&m[KIND_HOST], out->step, names),
                       python = sums_grown(&m[KIND_PYTHON], out->step, names),
                       range = sums_grown(&m[KIND_RANGE], out->step, names);
    const bool is_outside = host.ns == 0 || host.name == NAME_EMPTY;
    const double most = host.ns > 0 ? host.ns / 2 : (double)more_ns / 2;
    if (is_outside && python.ns > most)
        add_more(out, CAUSE_HOST, more_ns, NAMED_PYTHON, python);
    else if (is_outside && range.ns > most)
        add_more(out, CAUSE_HOST, more_ns, NAMED_RANGE, range);
    else
        add_more(out, CAUSE_HOST, more_ns, is_outside ? NAMED_OUTSIDE : NAMED_OPERATOR, host);
}

/* The parts of a step that make up at least a fifth of what it took longer. */
static void explain(const struct step_series *s, struct sums m[KINDS], const struct names *names,
                    struct step_mores *out)
{
    const uint32_t i = out->step;
    const int64_t longer_ns = s->time_ns[i] - s->spread.median_ns;
    const int64_t computing_ns = s->part_ns[STEP_COMPUTING][i] + s->part_ns[STEP_OVERLAPPED][i] -
                                 s->median_part_ns[STEP_COMPUTING] - s->median_part_ns[STEP_OVERLAPPED];
    const int64_t communication_ns = s->part_ns[STEP_COMMUNICATION][i] - s->median_part_ns[STEP_COMMUNICATION];
    const int64_t free_ns = s->part_ns[STEP_FREE][i] - s->median_part_ns[STEP_FREE];
    const int64_t least_ns = longer_ns / LEAST_PART > 0 ? longer_ns / LEAST_PART : 1;
    if (computing_ns >= least_ns)
        add_more(out, CAUSE_OPERATOR, computing_ns, NAMED_OPERATOR, sums_grown(&m[KIND_OPERATOR], i, names));
    if (communication_ns >= least_ns) {
        const struct grown transfer = sums_grown(&m[KIND_TRANSFER], i, names),
                           wait = sums_grown(&m[KIND_WAIT], i, names);
        const bool has_waited = wait.all_ns >= transfer.all_ns;
        add_more(out, has_waited ? CAUSE_WAIT : CAUSE_TRANSFER, communication_ns, NAMED_OPERATOR,
                 has_waited ? wait : transfer);
    }
    if (free_ns >= least_ns)
        add_host(out, free_ns, m, names);
}

bool step_causes_find(const struct step_series *s, const struct profile *p, const struct device *d,
                      const struct collection *collection, size_t most, struct arena *mem, struct step_mores **out,
                      size_t *n)
{
    *n = 0;
    *out = arena_take(mem, s->n_slow, sizeof **out);
    bool *is_wanted = arena_take(mem, s->n, sizeof *is_wanted);
    if (!*out || !is_wanted)
        return false;
    for (size_t i = 0; i < s->n_slow && *n < most; i++) /* the slow ones come first */
        if (s->is_chosen[s->slowest[i]]) {
            is_wanted[s->slowest[i]] = true;
            (*out)[(*n)++].step = s->slowest[i];
        }
    if (*n == 0)
        return true;
    struct arena *spare = arena_new();
    struct sums m[KINDS];
    names_addz(p->names, "Notify_Wait"); /* before names are counted */
    const size_t n_names = names_count(p->names);
    bool done = spare != NULL;
    for (int k = 0; done && k < KINDS; k++)
        done = sums_init(&m[k], s, k >= KIND_HOST || s->is_host, is_wanted, n_names, spare);
    done = done && add_all(m, p, d, collection);
    for (size_t i = 0; done && i < *n; i++)
        explain(s, m, p->names, &(*out)[i]);
    arena_free(spare);
    return done;
}
