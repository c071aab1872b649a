/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/collective_match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/robust.h"
#include "base/text/stamp.h"
#include "profile/calls.h"

enum { KEY_PARTS = 6 };

static int64_t step_of_call(const struct match_calls *c, size_t i)
{
    return c->step ? c->step[i] : INT64_MIN;
}

/* The key that a collective has on all of its members, without step and sequence number. False: it is unknown. */
static bool key_of(const struct match_calls *c, size_t i, const char *name, bool is_p2p, uint32_t part[KEY_PARTS])
{
    part[0] = c->group[i];
    part[1] = is_p2p ? NAME_EMPTY : c->name[i];
    part[2] = part[3] = 0;
    if (!is_p2p)
        return true;
    const bool is_send = strcasestr(name, "send") != NULL;
    if (c->src[i] < 0 || c->dst[i] < 0 || (is_send && strcasestr(name, "recv")))
        return false;
    part[2] = (uint32_t)(is_send ? c->src[i] : c->dst[i]);
    part[3] = (uint32_t)(is_send ? c->dst[i] : c->src[i]);
    return true;
}

/* How many collectives of the same key there were so far on the rank that is added. */
struct collective_match_counted {
    struct tuples keys;
    LIST(uint32_t) n;
    struct arena *mem;
};

static bool count(struct collective_match_counted *c, uint32_t part[KEY_PARTS])
{
    const uint32_t at = tuple_add(&c->keys, part, KEY_PARTS - 1, c->mem);
    if (at == KEYS_NO_MEMORY || (at == c->n.n && !list_add(&c->n, c->mem)))
        return false;
    part[KEY_PARTS - 1] = c->n.at[at]++;
    return true;
}

/* The place of a group in `groups` and `sizes`. */
static uint32_t group_add(struct collective_match *m, name_id group)
{
    const uint32_t at = keys_add(&m->groups, group, m->mem);
    return at == m->sizes.n && !list_add(&m->sizes, m->mem) ? KEYS_NO_MEMORY : at;
}

bool match_group_size(struct collective_match *m, name_id group, uint32_t n)
{
    const uint32_t at = group_add(m, group);
    if (at != KEYS_NO_MEMORY && n > m->sizes.at[at].n_noted)
        m->sizes.at[at].n_noted = n;
    return at != KEYS_NO_MEMORY;
}

static bool add_member(struct collective_match *m, name_id group, uint32_t rank)
{
    const uint32_t at = group_add(m, group);
    const uint32_t part[] = { at, rank };
    const uint32_t row = at == KEYS_NO_MEMORY ? at : tuple_add(&m->member_key, part, 2, m->mem);
    if (row == KEYS_NO_MEMORY || (row == m->members.n && !list_add(&m->members, m->mem)))
        return false;
    struct member *const to = &m->members.at[row];
    *to = (struct member){ at, rank, to->n + 1 };
    m->sizes.at[at].n_seen += to->n == 1;
    return true;
}

/* Whether a kind of collective has a root: only one rank sends, or receives. Of "hcom_reduceScatter__123_4" and
 * "ncclDevKernel_Reduce_Sum" only letters count. */
static bool has_root(const char *name)
{
    static const struct {
        const char *kind, *not_behind, *not_before;
    } rooted[] = {
        { "broadcast", "", "" },
        { "reduce", "all", "scatter" },
        { "gather", "all", "" },
        { "scatter", "reduce", "" },
    };
    char text[128];
    size_t len = 0;
    for (; *name && len + 1 < sizeof text; name++)
        if ((*name | 32) >= 'a' && (*name | 32) <= 'z')
            text[len++] = (char)(*name | 32);
    text[len] = 0;
    for (size_t i = 0; i < sizeof rooted / sizeof *rooted; i++) {
        const char *const at = strstr(text, rooted[i].kind), *const behind = rooted[i].not_behind,
                          *const before = rooted[i].not_before;
        const size_t n = strlen(behind);
        if (at && !(n > 0 && (size_t)(at - text) >= n && memcmp(at - n, behind, n) == 0) &&
            !(*before && strncmp(at + strlen(rooted[i].kind), before, strlen(before)) == 0))
            return true;
    }
    return false;
}

static bool add_one(struct collective_match *m, const struct match_calls *c, size_t i,
                    struct collective_match_counted *counted, uint32_t *id)
{
    const uint32_t rank = (uint32_t)m->rank.n - 1;
    const bool is_p2p = c->is_p2p && c->is_p2p[i];
    const int64_t ns = c->end_ns[i] - c->begin_ns[i], exposed_ns = c->exposed_ns ? c->exposed_ns[i] : 0;
    uint32_t part[KEY_PARTS];
    *id = NO_ROW;
    if (!key_of(c, i, names_text(m->names, c->name[i]), is_p2p, part))
        return true;
    part[4] = keys_add(&m->steps, (uint64_t)step_of_call(c, i), m->mem);
    if (part[4] == KEYS_NO_MEMORY || !count(counted, part) || (!is_p2p && !add_member(m, c->group[i], rank)))
        return false;
    *id = tuple_add(&m->keys, part, KEY_PARTS, m->mem);
    if (*id == KEYS_NO_MEMORY)
        return false;
    if (*id == m->list.n) {
        struct matched *const new = list_add(&m->list, m->mem);
        if (!new)
            return false;
        *new = (struct matched){ .group = c->group[i],
                                 .name = c->name[i],
                                 .is_p2p = is_p2p,
                                 .has_root = !is_p2p && has_root(names_text(m->names, c->name[i])),
                                 .first = rank,
                                 .first_end_ns = c->end_ns[i],
                                 .step = step_of_call(c, i),
                                 .least_ns = INT64_MAX,
                                 .latest = NO_ROW };
    }
    struct matched *const to = &m->list.at[*id];
    to->n++;
    to->sum_exposed_ns += exposed_ns;
    if (ns < to->least_ns) {
        to->least_ns = ns;
        to->last = rank;
        to->last_exposed_ns = exposed_ns;
    }
    if (ns > to->most_ns) {
        to->most_ns = ns;
        to->longest = rank;
    }
    return true;
}

/* The root of the tree that a rank is linked into, and how far the rank's clock is ahead of the root's. */
static uint32_t top_of(const struct collective_match *m, uint32_t rank, int64_t *ahead_ns)
{
    *ahead_ns = 0;
    while (m->clock.at[rank].above != rank) {
        *ahead_ns += m->clock.at[rank].ahead_ns;
        rank = m->clock.at[rank].above;
    }
    return rank;
}

struct collective_match_difference {
    uint32_t top;
    double ns;
};

static int by_top(const void *a, const void *b)
{
    const struct collective_match_difference *x = a, *y = b;
    return x->top != y->top ? (x->top < y->top ? -1 : 1) : (x->ns > y->ns) - (x->ns < y->ns);
}

/* Links a new rank to the trees of the ranks with which it shares collectives. If these are several trees, it joins
 * them. */
static bool link_clock(struct collective_match *m, const struct match_calls *c, const uint32_t *id, struct arena *mem)
{
    const uint32_t rank = (uint32_t)m->rank.n - 1;
    struct collective_match_difference *const d = arena_take(mem, c->n + 1, sizeof *d);
    double *const v = arena_take(mem, c->n + 1, sizeof *v);
    size_t n = 0;
    if (!d || !v)
        return false;
    for (size_t i = 0; i < c->n; i++) {
        const struct matched *const of = id[i] == NO_ROW ? NULL : &m->list.at[id[i]];
        int64_t ahead_ns;
        if (!of || of->is_p2p || of->has_root || of->first == rank)
            continue;
        const uint32_t top = top_of(m, of->first, &ahead_ns);
        d[n++] = (struct collective_match_difference){ top, (double)(c->end_ns[i] - of->first_end_ns + ahead_ns) };
    }
    if (n > 0)
        qsort(d, n, sizeof *d, by_top);
    struct rank_clock_error *const own = &m->clock.at[rank];
    for (size_t from = 0, end; from < n; from = end) {
        for (end = from; end < n && d[end].top == d[from].top; end++)
            v[end - from] = d[end].ns;
        const struct middle middle = middle_of(v, end - from);
        const int64_t ns = llrint(middle.median);
        if (from == 0)
            *own = (struct rank_clock_error){ d[0].top, ns, middle.deviation, (uint32_t)end };
        else
            m->clock.at[d[from].top] =
                (struct rank_clock_error){ own->above, own->ahead_ns - ns, middle.deviation, (uint32_t)(end - from) };
    }
    return true;
}

/* Which member begins last, now that the clock of the new rank is known as far as it will be. */
static void find_latest(struct collective_match *m, const struct match_calls *c, const uint32_t *id)
{
    const uint32_t rank = (uint32_t)m->rank.n - 1;
    int64_t ahead_ns, other_ns;
    const uint32_t top = top_of(m, rank, &ahead_ns);
    for (size_t i = 0; i < c->n; i++) {
        struct matched *const of = id[i] == NO_ROW ? NULL : &m->list.at[id[i]];
        if (!of)
            continue;
        if (of->latest != NO_ROW) {
            of->is_apart |= top_of(m, of->latest, &other_ns) != top;
            if (wrap_sub(c->begin_ns[i], ahead_ns) <= wrap_sub(of->latest_begin_ns, other_ns))
                continue;
        }
        of->latest = rank;
        of->latest_begin_ns = c->begin_ns[i];
    }
}

bool match_add(struct collective_match *m, int64_t number, const struct match_calls *c, uint32_t *id)
{
    struct arena *const mem = arena_new();
    struct collective_match_counted counted = { .mem = mem };
    int64_t *const rank = list_add(&m->rank, m->mem);
    struct rank_clock_error *const clock = list_add(&m->clock, m->mem);
    bool done = mem && rank && clock;
    if (done) {
        *rank = number;
        clock->above = (uint32_t)m->rank.n - 1;
    }
    for (size_t i = 0; done && i < c->n; i++)
        done = add_one(m, c, i, &counted, &id[i]);
    done = done && link_clock(m, c, id, mem);
    if (done)
        find_latest(m, c, id);
    arena_free(mem);
    return done;
}

uint32_t match_series(const struct collective_match *m, uint32_t id)
{
    return (uint32_t)(m->keys.level[KEY_PARTS - 2].key.at[id] >> 32);
}

bool match_finish(struct collective_match *m)
{
    const size_t n = m->rank.n;
    uint32_t *const top = arena_take(m->mem, n + 1, sizeof *top);
    int64_t *const ahead = arena_take(m->mem, n + 1, sizeof *ahead);
    int64_t *const median = arena_take(m->mem, n + 1, sizeof *median); /* by top */
    struct collective_match_difference *const d = arena_take(m->mem, n + 1, sizeof *d);
    if (!top || !ahead || !median || !d)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        top[i] = top_of(m, i, &ahead[i]);
        d[i] = (struct collective_match_difference){ top[i], (double)ahead[i] };
    }
    if (n > 0)
        qsort(d, n, sizeof *d, by_top);
    for (size_t from = 0, end; from < n; from = end) { /* relative to the median, because most clocks are right */
        for (end = from; end < n && d[end].top == d[from].top;)
            end++;
        median[d[from].top] = llrint(d[from + (end - from - 1) / 2].ns);
    }
    for (uint32_t i = 0; i < n; i++)
        m->clock.at[i].ahead_ns = ahead[i] - median[top[i]];
    return true;
}

/* What the members of each group have. */
struct group_counts {
    uint32_t *most, *members;     /* most collectives on one member; number of members */
    const struct matched **first; /* the first collective that not all members have; NULL: none */
};

static bool count_groups(const struct collective_match *m, struct group_counts *g, struct arena *mem)
{
    const size_t n = m->groups.key.n;
    g->most = arena_take(mem, n + 1, sizeof *g->most);
    g->members = arena_take(mem, n + 1, sizeof *g->members);
    g->first = arena_take(mem, n + 1, sizeof *g->first);
    if (!g->most || !g->members || !g->first)
        return false;
    for (size_t i = 0; i < m->members.n; i++) {
        const struct member *const of = &m->members.at[i];
        g->members[of->group]++;
        g->most[of->group] = of->n > g->most[of->group] ? of->n : g->most[of->group];
    }
    for (size_t i = 0; i < m->list.n; i++) {
        const uint32_t at = m->list.at[i].is_p2p ? KEYS_NONE : keys_find(&m->groups, m->list.at[i].group);
        if (at != KEYS_NONE && !g->first[at] && m->list.at[i].n < g->members[at])
            g->first[at] = &m->list.at[i];
    }
    return true;
}

bool match_report(const struct collective_match *m, mismatch_taker *report, void *context)
{
    struct arena *const mem = arena_new();
    struct group_counts g;
    bool done = mem && count_groups(m, &g, mem);
    for (size_t i = 0; done && i < m->members.n; i++) {
        const struct member *const of = &m->members.at[i];
        if (of->n == g.most[of->group])
            continue;
        const struct matched *const first = g.first[of->group];
        const char *const text = arena_printf(
            mem, "rank %lld: it has %u of the %u collectives that others have of group %s; not all members have %s",
            (long long)m->rank.at[of->rank], of->n, g.most[of->group],
            names_text(m->names, (name_id)m->groups.key.at[of->group]),
            first ? names_text(m->names, first->name) : "the same");
        done = text && report(context, m->rank.at[of->rank], text);
    }
    arena_free(mem);
    return done;
}
