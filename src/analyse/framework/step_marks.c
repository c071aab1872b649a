/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/step_marks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/framework/steps/iteration.h"
#include "analyse/framework/steps/request_name.h"
#include "base/memory/ascending.h"
#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "base/text/stamp.h"

enum {
    LEAST_RUNS = 3,   /* what is there less often does not repeat */
    MOST_IN_TURN = 64 /* ranges of a turn */
};

struct step_marks_range {
    int64_t begin_ns, end_ns;
    uint64_t thread;
    uint32_t row, family;
    size_t launches; /* in it */
};

/* Ranges of one thread whose names differ in numbers only. */
struct step_marks_family {
    uint64_t thread;
    name_id name; /* of the first */
    size_t n;     /* outermost ranges */
    size_t launches;
    bool repeats;
};

struct marking {
    const struct step_candidates *c;
    struct arena *work;
    struct step_marks_range *range;
    size_t n;
    struct keys key; /* of families */
    LIST(struct step_marks_family) family;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether a range may be one that a user marked: operators have "::" in their names, or are functions of a backward
 * pass, or tasks of a queue. */
static bool name_may_mark(const char *name)
{
    static const char backward[] = "Backward";
    static const char *const others[] = { "nccl:", "gloo:", "Enqueue@", "Dequeue@" };
    size_t len = strlen(name);
    while (len > 0 && is_digit(name[len - 1]))
        len--;
    const bool is_backward =
        len >= sizeof backward - 1 && memcmp(name + len - (sizeof backward - 1), backward, sizeof backward - 1) == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    return *name && !is_backward && !strstr(name, "::");
}

/* A name with "*" in place of its numbers. */
enum { FAMILY_NAME = 128 };
static void family_name(char out[FAMILY_NAME], const char *name)
{
    size_t n = 0;
    for (; *name && n < FAMILY_NAME - 1; name++)
        if (!is_digit(*name))
            out[n++] = *name;
        else if (n == 0 || out[n - 1] != '*')
            out[n++] = '*';
    out[n] = 0;
}

static int by_thread(const void *left, const void *right)
{
    const struct step_marks_range *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int step_marks_by_begin(const void *left, const void *right)
{
    const struct step_marks_range *a = left, *b = right;
    return a->begin_ns != b->begin_ns ? (a->begin_ns < b->begin_ns ? -1 : 1) : (a->row > b->row) - (a->row < b->row);
}

static size_t launches_before(const struct step_candidates *c, int64_t ns)
{
    return SEARCH_FIRST_NOT(i, 0, c->n_launches, c->launch_ns[i] < ns);
}

static size_t launches_in(const struct step_candidates *c, int64_t begin_ns, int64_t end_ns)
{
    return launches_before(c, end_ns) - launches_before(c, begin_ns);
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

/* Families are numbered by the text of their name and thread. */
static bool families_find(struct marking *m)
{
    const struct step_candidates *c = m->c;
    struct names *text = names_new();
    bool done = text != NULL;
    for (size_t i = 0; done && i < m->n; i++) {
        char name[FAMILY_NAME], key[FAMILY_NAME + 24];
        struct step_marks_range *r = &m->range[i];
        family_name(name, names_text(c->names, c->name[r->row]));
        snprintf(key, sizeof key, "%llu %s", (unsigned long long)r->thread, name);
        r->family = keys_add(&m->key, names_addz(text, key), m->work);
        done = r->family != KEYS_NO_MEMORY && !names_failed(text);
        if (!done || r->family < m->family.n)
            continue;
        struct step_marks_family *new = list_add(&m->family, m->work);
        done = new != NULL;
        if (new)
            *new = (struct step_marks_family){ .thread = r->thread, .name = c->name[r->row] };
    }
    names_free(text);
    return done;
}

/* Keeps those that repeat and are not inside of another one that does. Ranges are sorted by thread and nesting. */
static void outermost_keep(struct marking *m)
{
    for (size_t i = 0; i < m->n; i++)
        m->family.at[m->range[i].family].n++;
    for (size_t i = 0; i < m->family.n; i++) {
        m->family.at[i].repeats = m->family.at[i].n >= LEAST_RUNS;
        m->family.at[i].n = 0;
    }
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        struct step_marks_range *r = &m->range[i];
        struct step_marks_family *f = &m->family.at[r->family];
        if (!f->repeats || (n > 0 && m->range[n - 1].thread == r->thread && m->range[n - 1].end_ns > r->begin_ns))
            continue;
        r->launches = launches_in(m->c, r->begin_ns, r->end_ns);
        f->launches += r->launches;
        f->n++;
        m->range[n++] = *r;
    }
    m->n = n;
}

static void rows_keep(struct marking *m,
                      bool (*is_kept)(const struct marking *m, const struct step_marks_range *r, uint64_t argument),
                      uint64_t argument)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        if (is_kept(m, &m->range[i], argument))
            m->range[n++] = m->range[i];
    m->n = n;
}

static bool is_of_thread(const struct marking *m, const struct step_marks_range *r, uint64_t thread)
{
    return r->thread == thread && m->family.at[r->family].n >= LEAST_RUNS;
}

/* A family whose ranges launch a quarter as much as those that launch most. */
static bool launches_much(const struct marking *m, const struct step_marks_range *r, uint64_t most)
{
    const struct step_marks_family *f = &m->family.at[r->family];
    return f->launches * 4 >= most * f->n;
}

/* The thread in whose ranges most is launched; without launches the one with most ranges. */
static uint64_t busiest_thread(const struct marking *m)
{
    size_t launches = 0, most = 0, n = 0, most_n = 0;
    uint64_t best = m->n > 0 ? m->range[0].thread : 0;
    for (size_t i = 0; i < m->n; i++) {
        const bool is_new = i == 0 || m->range[i].thread != m->range[i - 1].thread;
        launches = (is_new ? 0 : launches) + m->range[i].launches;
        n = (is_new ? 0 : n) + 1;
        if (launches > most || (launches == most && n > most_n)) {
            most = launches;
            most_n = n;
            best = m->range[i].thread;
        }
    }
    return best;
}

/* ---- the choice -------------------------------------------------------------------------------------------------- */

static size_t families_in(const struct marking *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        size_t k = 0;
        while (k < i && k < MOST_IN_TURN && m->range[k].family != m->range[i].family)
            k++;
        n += k == i;
    }
    return n;
}

/* At least half of the recording's work is launched while they repeat; `covers`: and four fifths of that within
 * them. */
static bool is_where_the_work_is(const struct marking *m, bool covers)
{
    size_t within = 0;
    if (m->n < LEAST_RUNS)
        return false;
    for (size_t i = 0; i < m->n; i++)
        within += m->range[i].launches;
    const size_t all = launches_in(m->c, m->range[0].begin_ns, m->range[m->n - 1].end_ns);
    return all * 2 >= m->c->n_launches && (!covers || within * 5 >= all * 4);
}

/* How many ranges make a turn in which they follow each other again and again, none of them directly after itself; 0:
 * they do not. */
static size_t turn_of(const struct marking *m)
{
    for (size_t i = 1; i < m->n; i++)
        if (m->range[i].family == m->range[i - 1].family)
            return 0;
    for (size_t turn = 2; turn <= m->n / LEAST_RUNS && turn <= MOST_IN_TURN; turn++) {
        size_t i = turn;
        while (i < m->n && m->range[i].family == m->range[i - turn].family)
            i++;
        if (i == m->n)
            return turn;
    }
    return 0;
}

/* The last number in a name, if the numbers of all steps ascend: "iteration 17". */
static bool numbers_ascend(const struct step_candidates *c, struct step_marks *out)
{
    for (size_t i = 0; i < out->n; i++) {
        const char *name = names_text(c->names, c->name[out->row[i]]);
        const size_t begin = strcspn(name, "0123456789"), n = strspn(name + begin, "0123456789");
        if (n == 0 || n > 18 || strpbrk(name + begin + n, "0123456789"))
            return false;
        out->number[i] = strtoull(name + begin, NULL, 10);
        if (i > 0 && out->number[i] <= out->number[i - 1])
            return false;
    }
    return true;
}

/* Makes every `turn`-th range a step. */
static bool steps_make(struct step_marks *out, const struct marking *m, size_t turn, bool lasts, const char *by,
                       struct arena *mem)
{
    char name[FAMILY_NAME];
    const size_t n = m->n / turn;
    *out = (struct step_marks){ .row = arena_take(mem, n, sizeof *out->row),
                                .begin_ns = arena_take(mem, n, sizeof *out->begin_ns),
                                .end_ns = arena_take(mem, n, sizeof *out->end_ns),
                                .number = arena_take(mem, n, sizeof *out->number),
                                .is_whole = turn == 1 };
    if (arena_failed(mem))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct step_marks_range *r = &m->range[i * turn];
        out->row[i] = r->row;
        out->begin_ns[i] = r->begin_ns;
        out->end_ns[i] = lasts && (i + 1) * turn < m->n ? m->range[(i + 1) * turn].begin_ns : r[turn - 1].end_ns;
    }
    out->n = n;
    if (iteration_server(n > 0 ? names_text(m->c->names, m->c->name[out->row[0]]) : "") || !numbers_ascend(m->c, out))
        for (size_t i = 0; i < n; i++)
            out->number[i] = i;
    if (n > 0) {
        family_name(name, names_text(m->c->names, m->c->name[out->row[0]]));
        out->by = arena_text(mem, by ? by : name, strlen(by ? by : name));
    }
    return n == 0 || out->by;
}

/* All names, for the report. */
static const char *names_joined(const struct marking *m)
{
    enum { MOST_NAMES = 4 };
    const char *text = NULL;
    size_t n = 0;
    for (size_t i = 0; i < m->n && n < MOST_NAMES; i++) {
        char name[FAMILY_NAME];
        size_t k = 0;
        while (k < i && m->range[k].family != m->range[i].family)
            k++;
        family_name(name, names_text(m->c->names, m->family.at[m->range[i].family].name));
        if (k == i && n++ < MOST_NAMES)
            text = arena_printf(m->work, "%s%s%s", text ? text : "", text ? ", " : "", name);
    }
    return text;
}

/* Leaves out what begins before the one in front of it has ended. */
static void disjoint_keep(struct marking *m)
{
    size_t n = 0;
    if (m->n > 1)
        qsort(m->range, m->n, sizeof *m->range, step_marks_by_begin);
    for (size_t i = 0; i < m->n; i++)
        if (n == 0 || m->range[i].begin_ns >= m->range[n - 1].end_ns)
            m->range[n++] = m->range[i];
    m->n = n;
}

static bool is_of_server(const struct marking *m, const struct step_marks_range *r, uint64_t unused)
{
    (void)unused;
    return iteration_server(names_text(m->c->names, m->c->name[r->row])) != NULL;
}

/* The last turn lasts until nothing more is launched, but not longer than twice the longest one: what follows the loop
 * does not belong to it. */
static void last_extend(struct step_marks *k, const struct step_candidates *c)
{
    const size_t last = k->n - 1;
    int64_t longest = 0, end_ns = c->n_launches > 0 ? stamp_add(c->launch_ns[c->n_launches - 1], 1) : INT64_MIN;
    for (size_t i = 0; i < last; i++)
        longest = span_ns(k->begin_ns[i], k->end_ns[i]) > longest ? span_ns(k->begin_ns[i], k->end_ns[i]) : longest;
    const int64_t most = stamp_add(stamp_add(k->begin_ns[last], longest), longest);
    end_ns = end_ns < most ? end_ns : most;
    k->end_ns[last] = end_ns > k->end_ns[last] ? end_ns : k->end_ns[last];
}

/* What PyTorch itself marks once in each turn of a loop. */
static const char *const loops[] = { "enumerate(DataLoader)#", "Optimizer.step#" };

static bool is_of_loop(const struct marking *m, const struct step_marks_range *r, uint64_t loop)
{
    return strncmp(names_text(m->c->names, m->c->name[r->row]), loops[loop], strlen(loops[loop])) == 0;
}

static bool is_wanted(const struct marking *m, const struct step_marks_range *r, uint64_t is_exact)
{
    const char *name = names_text(m->c->names, m->c->name[r->row]);
    return is_exact ? strcmp(name, m->c->wanted) == 0 : strncmp(name, m->c->wanted, strlen(m->c->wanted)) == 0;
}

static size_t count(const struct marking *m,
                    bool (*is_kept)(const struct marking *m, const struct step_marks_range *r, uint64_t argument),
                    uint64_t argument)
{
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++)
        n += is_kept(m, &m->range[i], argument);
    return n;
}

static bool find_wanted(struct step_marks *out, struct marking *m, struct arena *mem)
{
    rows_keep(m, is_wanted, count(m, is_wanted, true) > 0);
    disjoint_keep(m);
    const bool is_server = count(m, is_of_server, 0) > 0;
    return steps_make(out, m, 1, !is_server && families_in(m) == 1, m->c->wanted, mem);
}

static bool find_repeated(struct step_marks *out, struct marking *m, struct arena *mem)
{
    if (count(m, is_of_server, 0) > 1) {
        rows_keep(m, is_of_server, 0);
        disjoint_keep(m);
        return steps_make(out, m, 1, false, iteration_server(names_text(m->c->names, m->c->name[m->range[0].row])),
                          mem);
    }
    outermost_keep(m);
    rows_keep(m, is_of_thread, busiest_thread(m));
    uint64_t most = 0; /* launches in a range of a family, in the mean */
    for (size_t i = 0; i < m->n; i++) {
        const struct step_marks_family *f = &m->family.at[m->range[i].family];
        most = f->launches / f->n > most ? f->launches / f->n : most;
    }
    struct step_marks_range *all = arena_take(m->work, m->n, sizeof *all);
    const size_t n_all = m->n;
    if (!all)
        return false;
    if (n_all > 0)
        memcpy(all, m->range, n_all * sizeof *all);
    rows_keep(m, launches_much, most);
    const size_t n_families = families_in(m);
    if (is_where_the_work_is(m, true) && (n_families == 1 || turn_of(m) == 0))
        return steps_make(out, m, 1, n_families == 1, n_families == 1 ? NULL : names_joined(m), mem);
    m->range = all;
    m->n = n_all;
    size_t turn = turn_of(m);
    for (uint64_t i = 0; turn == 0 && i < sizeof loops / sizeof *loops; i++)
        if (count(m, is_of_loop, i) >= LEAST_RUNS) {
            rows_keep(m, is_of_loop, i);
            turn = 1;
        }
    if (turn == 0 || !is_where_the_work_is(m, false))
        return true;
    const bool done = steps_make(out, m, turn, true, NULL, mem);
    out->is_whole = false;
    if (done && m->n % turn == 0)
        last_extend(out, m->c);
    return done;
}

/* Requests are served by iterations, and are steps only if nothing else is. */
static bool may_be_step(const struct step_candidates *c, size_t i, bool with_requests)
{
    const char *name = names_text(c->names, c->name[i]);
    return c->wanted || (name_may_mark(name) && (with_requests || request_name_of(name).event == REQUEST_NONE));
}

/* Among the candidates first … end - 1. */
static bool find_among(struct step_marks *out, const struct step_candidates *c, size_t first, size_t end,
                       bool with_requests, struct arena *mem)
{
    struct marking m = { .c = c, .work = arena_new() };
    m.range = m.work ? arena_take(m.work, end - first, sizeof *m.range) : NULL;
    bool done = m.range != NULL;
    for (size_t i = first; done && i < end; i++)
        if (c->end_ns[i] > c->begin_ns[i] && may_be_step(c, i, with_requests))
            m.range[m.n++] = (struct step_marks_range){ c->begin_ns[i], c->end_ns[i], c->thread[i], (uint32_t)i, 0, 0 };
    if (done && m.n > 1)
        qsort(m.range, m.n, sizeof *m.range, by_thread);
    done = done && families_find(&m) && (c->wanted ? find_wanted : find_repeated)(out, &m, mem);
    arena_free(m.work);
    return done && !arena_failed(mem);
}

bool step_marks_find(struct step_marks *out, const struct step_candidates *c, struct arena *mem)
{
    *out = (struct step_marks){ 0 };
    if (c->n_launches > 1)
        qsort(c->launch_ns, c->n_launches, sizeof *c->launch_ns, compare_i64s);
    bool done = true;
    for (int with_requests = 0; with_requests < 2 && done && out->n == 0; with_requests++)
        done = find_among(out, c, 0, c->n_framework, with_requests, mem) &&
               (out->n > 0 || find_among(out, c, c->n_framework, c->n, with_requests, mem));
    return done;
}
