/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/hang.h"

#include <string.h>

struct hang_edge {
    size_t from, to;
};

struct hang_work {
    const struct flight_job *job;
    struct arena *mem;
    LIST(struct hang_wait) wait;
    LIST(struct hang_edge) edge;
    bool *is_root; /* of each wait: somebody is missing who waits nowhere, or it needs nobody else */
};

static const struct flight_rank *hang_rank(const struct flight_job *job, uint32_t rank)
{
    size_t low = 0, high = job->rank.n;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (job->rank.at[mid].rank < rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low < job->rank.n && job->rank.at[low].rank == rank ? &job->rank.at[low] : NULL;
}

static bool hang_is_of(const struct hang_wait *w, const struct flight_entry *e)
{
    if (w->group != e->group || w->is_p2p != e->is_p2p)
        return false;
    return w->is_p2p ? w->from == e->from && w->to == e->to : w->number == e->number;
}

/* ---- the waits --------------------------------------------------------------------------------------------------- */

/* The wait of an unfinished entry; of collectives one for each group, whose first one counts. */
static bool hang_note(struct hang_work *k, const struct flight_entry *e)
{
    for (size_t i = 0; i < k->wait.n; i++) {
        struct hang_wait *w = &k->wait.at[i];
        if (w->group != e->group || w->is_p2p != e->is_p2p || (w->is_p2p && (w->from != e->from || w->to != e->to)))
            continue;
        if (e->number < w->number)
            w->number = e->number;
        return true;
    }
    struct hang_wait *w = list_add(&k->wait, k->mem);
    if (w)
        *w = (struct hang_wait){
            .group = e->group, .is_p2p = e->is_p2p, .number = e->number, .from = e->from, .to = e->to, .kind = e->kind
        };
    return w;
}

static int64_t hang_enqueued(const struct flight_rank *r, uint32_t group)
{
    int64_t last = -1;
    for (size_t i = 0; i < r->status.n; i++)
        if (r->status.at[i].group == group && r->status.at[i].enqueued > last)
            last = r->status.at[i].enqueued;
    for (size_t i = 0; i < r->entry.n; i++)
        if (r->entry.at[i].group == group && !r->entry.at[i].is_p2p && r->entry.at[i].number > last)
            last = r->entry.at[i].number;
    return last;
}

/* A transfer's number counts on each side what that side has done: the unfinished ones of both sides belong together,
 * and one that the other side has completed by the same number. */
static const struct flight_entry *hang_entry_of(const struct hang_wait *w, const struct flight_rank *r)
{
    const bool is_sender = w->is_p2p && r->rank == w->from;
    const struct flight_entry *done = NULL;
    for (size_t i = 0; i < r->entry.n; i++) {
        const struct flight_entry *e = &r->entry.at[i];
        if (!hang_is_of(w, e) || (w->is_p2p && w->from != w->to && (strcmp(e->kind, "send") == 0) != is_sender))
            continue;
        if (!e->is_completed || !w->is_p2p)
            return e;
        if (e->number == w->number)
            done = e;
    }
    return done;
}

static void hang_place(struct hang_member *m, const struct hang_wait *w, const struct flight_rank *r)
{
    m->entry = hang_entry_of(w, r);
    if (m->entry)
        m->part = m->entry->is_completed ? HANG_DONE : HANG_CAME;
    else /* one that the ring has dropped was completed before all that it still has */
        m->part = !w->is_p2p && hang_enqueued(r, w->group) >= w->number ? HANG_DONE : HANG_IS_MISSING;
    for (size_t i = 0; i < r->entry.n && !m->waits; i++)
        if (!r->entry.at[i].is_completed) {
            m->at = &r->entry.at[i];
            m->waits = true;
        }
    if (!m->at && r->entry.n > 0)
        m->at = &r->entry.at[r->entry.n - 1];
}

static bool hang_members(struct hang_work *k, struct hang_wait *w)
{
    const struct flight_group *g = &k->job->group.at[w->group];
    const bool is_pair = w->is_p2p && w->from >= 0 && w->to >= 0;
    const size_t n = is_pair ? 2 : g->n_ranks > 0 ? g->n_ranks : k->job->rank.n;
    w->member = arena_take(k->mem, n, sizeof *w->member);
    if (!w->member)
        return false;
    w->n_members = n;
    for (size_t i = 0; i < n; i++) {
        struct hang_member *m = &w->member[i];
        m->rank = is_pair ? (uint32_t)(i ? w->to : w->from) : g->n_ranks > 0 ? g->rank[i] : k->job->rank.at[i].rank;
        m->part = HANG_UNKNOWN;
        const struct flight_rank *r = hang_rank(k->job, m->rank);
        if (r)
            hang_place(m, w, r);
    }
    return true;
}

/* ---- what a wait alone tells ------------------------------------------------------------------------------------- */

/* Which sizes must be the same on all ranks. Kinds that are not here may differ: parts of a gather, of an exchange. */
static bool hang_same_form(const struct hang_wait *w, const struct flight_entry *a, const struct flight_entry *b)
{
    static const struct {
        const char *kind;
        bool input, output;
    } row[] = {
        { "all_reduce", true, true },
        { "broadcast", true, true },
        { "reduce", true, true },
        { "_all_gather_base", true, true },
        { "all_gather_into_tensor", true, true },
        { "_reduce_scatter_base", true, true },
        { "reduce_scatter_tensor", true, true },
        { "all_gather", false, true },
        { "reduce_scatter", true, false },
        { "gather", true, false },
        { "scatter", false, true },
        { "_broadcast_oop", true, true },
        { "_reduce_oop", true, true },
        { "all_reduce_sparse", false, false },
    };
    if (w->is_p2p)
        return a->n_input == b->n_input && strcmp(a->types, b->types) == 0;
    if (strcmp(a->kind, b->kind) != 0 || strcmp(a->types, b->types) != 0)
        return false;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (strcmp(row[i].kind, a->kind) == 0)
            return (!row[i].input || a->n_input == b->n_input) && (!row[i].output || a->n_output == b->n_output);
    return true;
}

static size_t hang_votes(const struct hang_wait *w, const struct flight_entry *e)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_members; i++)
        n += w->member[i].entry && hang_same_form(w, e, w->member[i].entry);
    return n;
}

/* How often this was completed before, in groups of this purpose. */
static size_t hang_known(const struct flight_job *job, const struct hang_wait *w, const struct flight_entry *e)
{
    size_t n = 0;
    for (size_t i = 0; i < job->rank.n; i++)
        for (size_t j = 0; j < job->rank.at[i].entry.n; j++) {
            const struct flight_entry *old = &job->rank.at[i].entry.at[j];
            n += old->is_completed && old->is_p2p == e->is_p2p && hang_same_form(w, e, old) &&
                 old->n_input == e->n_input &&
                 (old->group == e->group || strcmp(job->group.at[old->group].desc, job->group.at[e->group].desc) == 0);
        }
    return n;
}

/* The form that most have called; of forms that as many have called, the one that was called before. */
static const struct flight_entry *hang_usual(const struct flight_job *job, const struct hang_wait *w, bool *is_tie)
{
    const struct flight_entry *best = NULL;
    size_t votes = 0;
    *is_tie = false;
    for (size_t i = 0; i < w->n_members; i++) {
        const struct flight_entry *e = w->member[i].entry;
        if (!e || (best && hang_same_form(w, best, e)))
            continue;
        const size_t n = hang_votes(w, e);
        if (!best || n > votes) {
            best = e;
            votes = n;
            *is_tie = false;
        } else if (n == votes) {
            *is_tie = true;
            if (hang_known(job, w, e) > hang_known(job, w, best))
                best = e;
        }
    }
    return best;
}

static void hang_judge_alone(const struct flight_job *job, struct hang_wait *w)
{
    bool is_tie, has_missing = false, has_unknown = false, differs = false;
    const struct flight_entry *usual = hang_usual(job, w, &is_tie);
    if (usual)
        w->kind = usual->kind;
    for (size_t i = 0; i < w->n_members; i++) {
        const struct hang_member *m = &w->member[i];
        has_missing |= m->part == HANG_IS_MISSING;
        has_unknown |= m->part == HANG_UNKNOWN;
        differs |= m->entry && !hang_same_form(w, usual, m->entry);
    }
    w->verdict = differs ? HANG_MISMATCH : has_missing ? HANG_MISSING : has_unknown ? HANG_NO_DUMP : HANG_STUCK;
}

/* ---- which leads to which ---------------------------------------------------------------------------------------- */

static size_t hang_wait_of(const struct hang_work *k, const struct flight_entry *e)
{
    for (size_t i = 0; i < k->wait.n; i++) {
        const struct hang_wait *w = &k->wait.at[i];
        if (w->group == e->group && w->is_p2p == e->is_p2p && (!w->is_p2p || (w->from == e->from && w->to == e->to)))
            return i;
    }
    return k->wait.n;
}

static const struct flight_entry *hang_before(const struct flight_job *job, uint32_t rank, const struct flight_entry *e)
{
    const struct flight_rank *r = hang_rank(job, rank);
    return r && e && e > r->entry.at ? e - 1 : NULL;
}

static bool hang_same_call(const struct flight_entry *a, const struct flight_entry *b)
{
    return a->group == b->group && a->is_p2p == b->is_p2p && strcmp(a->kind, b->kind) == 0;
}

/* Whether a rank that is missing here has gone elsewhere from where others came here: the call before both is the same
 * one, nobody else is where it is, and in its own past it never went there from such a call. */
static bool hang_out_of_order(const struct hang_work *k, const struct hang_wait *w, const struct hang_member *lost)
{
    const struct hang_wait *other = &k->wait.at[hang_wait_of(k, lost->at)];
    const struct flight_entry *before = hang_before(k->job, lost->rank, lost->at);
    bool is_parting = false;
    size_t n_past = 0;
    if (w->is_p2p || other->is_p2p || !before || other == w)
        return false;
    for (size_t i = 0; i < other->n_members; i++)
        if (other->member[i].rank != lost->rank && other->member[i].part == HANG_CAME)
            return false;
    for (size_t i = 0; i < w->n_members; i++) {
        const struct flight_entry *b = hang_before(k->job, w->member[i].rank, w->member[i].entry);
        is_parting |= b && hang_same_call(b, before) && b->number == before->number;
    }
    const struct flight_rank *r = hang_rank(k->job, lost->rank);
    for (const struct flight_entry *e = r->entry.at; e < before; e++)
        if (hang_same_call(e, before)) {
            n_past++;
            if (hang_same_call(e + 1, lost->at))
                return false;
        }
    return is_parting && n_past > 0;
}

static bool hang_lead(struct hang_work *k, size_t from, size_t to)
{
    for (size_t i = 0; i < k->edge.n; i++)
        if (k->edge.at[i].from == from && k->edge.at[i].to == to)
            return true;
    struct hang_edge *e = list_add(&k->edge, k->mem);
    if (e)
        *e = (struct hang_edge){ from, to };
    return e;
}

static bool hang_connect(struct hang_work *k, size_t i)
{
    struct hang_wait *w = &k->wait.at[i];
    bool leads = false;
    if (w->verdict == HANG_MISMATCH)
        return k->is_root[i] = true;
    for (size_t j = 0; j < w->n_members; j++) {
        struct hang_member *m = &w->member[j];
        if (m->part == HANG_UNKNOWN) {
            k->is_root[i] = true;
        } else if (m->part == HANG_IS_MISSING && !m->waits) {
            k->is_root[i] = true;
        } else if (m->part == HANG_IS_MISSING || (m->part == HANG_CAME && m->at < m->entry)) {
            const size_t to = hang_wait_of(k, m->at);
            if (to == i) { /* a later collective of the same group: this one was left out */
                k->is_root[i] = true;
                continue;
            }
            leads = true;
            if (!hang_lead(k, i, to))
                return false;
        }
    }
    k->is_root[i] |= !leads;
    return true;
}

/* Waits of which no chain ends are in a cycle or lead to one: all others are taken away, from the ends. */
static bool hang_find_cycle(const struct hang_work *k, struct hang *out)
{
    const size_t n = k->wait.n;
    bool *ends = arena_take(k->mem, n, sizeof *ends);
    size_t *seen_at = arena_take(k->mem, n, sizeof *seen_at);
    out->cycle = arena_take(k->mem, n, sizeof *out->cycle);
    if (!ends || !seen_at || !out->cycle)
        return false;
    for (size_t i = 0; i < n; i++)
        ends[i] = k->is_root[i];
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (size_t i = 0; i < k->edge.n; i++)
            if (!ends[k->edge.at[i].from] && ends[k->edge.at[i].to])
                has_changed = ends[k->edge.at[i].from] = true;
    }
    size_t at = 0, n_steps = 0;
    while (at < n && ends[at])
        at++;
    if (at == n)
        return true;
    while (!seen_at[at]) {
        out->cycle[n_steps] = at;
        seen_at[at] = ++n_steps;
        for (size_t i = 0; i < k->edge.n; i++)
            if (k->edge.at[i].from == at && !ends[k->edge.at[i].to]) {
                at = k->edge.at[i].to;
                break;
            }
    }
    out->cycle += seen_at[at] - 1;
    out->n_cycle = n_steps - (seen_at[at] - 1);
    return true;
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

static size_t hang_n_came(const struct hang_wait *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_members; i++)
        n += w->member[i].part == HANG_CAME;
    return n;
}

/* How many waits lead to this one, itself included. */
static size_t hang_n_behind(const struct hang_work *k, size_t root, bool *is_behind)
{
    size_t n = 1;
    memset(is_behind, 0, k->wait.n * sizeof *is_behind);
    is_behind[root] = true;
    for (size_t before = 0; before != n;) {
        before = n;
        for (size_t i = 0; i < k->edge.n; i++)
            if (is_behind[k->edge.at[i].to] && !is_behind[k->edge.at[i].from]) {
                is_behind[k->edge.at[i].from] = true;
                n++;
            }
    }
    return n;
}

/* Of several roots: the clearest, one that leads nowhere, one to which most others lead, the one in which most wait. */
static bool hang_choose(const struct hang_work *k, struct hang *out)
{
    static const uint8_t clearness[HANG_KINDS] = {
        [HANG_MISMATCH] = 5, [HANG_ORDER] = 4, [HANG_MISSING] = 3, [HANG_NO_DUMP] = 2, [HANG_STUCK] = 1
    };
    uint64_t best = 0;
    bool *is_behind = arena_take(k->mem, k->wait.n, sizeof *is_behind);
    for (size_t i = 0; is_behind && i < k->wait.n; i++) {
        const struct hang_wait *w = &k->wait.at[i];
        if (!k->is_root[i])
            continue;
        bool leads = false;
        for (size_t j = 0; j < k->edge.n; j++)
            leads |= k->edge.at[j].from == i;
        const uint64_t score = (uint64_t)clearness[w->verdict] * 2 + !leads,
                       value = (score << 56) + ((uint64_t)hang_n_behind(k, i, is_behind) << 24) + hang_n_came(w);
        if (value > best) {
            best = value;
            out->first = i;
            out->verdict = w->verdict;
        }
    }
    return is_behind;
}

static void hang_blame(struct hang *out, uint32_t rank)
{
    for (size_t i = 0; i < out->n_ranks; i++)
        if (out->rank[i] == rank)
            return;
    out->rank[out->n_ranks++] = rank;
}

static void hang_blame_wait(const struct flight_job *job, struct hang *out)
{
    const struct hang_wait *w = &out->wait[out->first];
    bool is_tie = false;
    const struct flight_entry *usual = hang_usual(job, w, &is_tie);
    for (size_t i = 0; i < w->n_members; i++) {
        const struct hang_member *m = &w->member[i];
        const bool is_odd = m->entry && usual && !hang_same_form(w, usual, m->entry);
        if (out->verdict == HANG_MISMATCH  ? is_odd
            : out->verdict == HANG_NO_DUMP ? m->part == HANG_UNKNOWN
            : out->verdict == HANG_MISSING
                ? m->part == HANG_IS_MISSING && (!m->waits || hang_is_of(w, m->at) || m->at->group == w->group)
                : out->verdict == HANG_ORDER && m->part == HANG_IS_MISSING && m->waits)
            hang_blame(out, m->rank);
    }
    for (size_t i = 0; is_tie && out->verdict == HANG_MISMATCH && i < w->n_members; i++)
        if (w->member[i].entry)
            hang_blame(out, w->member[i].rank);
}

/* The ranks of the job: all of whom a dump is there, and all members of groups. */
static bool hang_absent(const struct flight_job *job, struct hang *out, struct arena *mem)
{
    size_t most = 0;
    for (size_t i = 0; i < job->rank.n; i++)
        most = job->rank.at[i].rank >= most ? job->rank.at[i].rank + 1 : most;
    for (size_t i = 0; i < job->group.n; i++)
        for (size_t j = 0; j < job->group.at[i].n_ranks; j++)
            most = job->group.at[i].rank[j] >= most ? job->group.at[i].rank[j] + 1 : most;
    bool *is_known = arena_take(mem, most, sizeof *is_known);
    out->absent = arena_take(mem, most, sizeof *out->absent);
    out->rank = arena_take(mem, most, sizeof *out->rank);
    if (!is_known || !out->absent || !out->rank)
        return false;
    for (size_t i = 0; i < job->rank.n; i++)
        is_known[job->rank.at[i].rank] = true;
    for (size_t i = 0; i < job->group.n; i++)
        for (size_t j = 0; j < job->group.at[i].n_ranks; j++) {
            const uint32_t rank = job->group.at[i].rank[j];
            if (!is_known[rank])
                out->absent[out->n_absent++] = rank;
            is_known[rank] = true;
        }
    out->n_job = job->rank.n + out->n_absent;
    return true;
}

static bool hang_waits(struct hang_work *k)
{
    for (size_t i = 0; i < k->job->rank.n; i++)
        for (size_t j = 0; j < k->job->rank.at[i].entry.n; j++)
            if (!k->job->rank.at[i].entry.at[j].is_completed && !hang_note(k, &k->job->rank.at[i].entry.at[j]))
                return false;
    for (size_t i = 0; i < k->wait.n; i++) {
        if (!hang_members(k, &k->wait.at[i]))
            return false;
        hang_judge_alone(k->job, &k->wait.at[i]);
    }
    return true;
}

/* Ranks that went elsewhere: the wait where they are leads to the one that they left out, and not the other way. */
static bool hang_orders(struct hang_work *k)
{
    for (size_t i = 0; i < k->wait.n; i++) {
        struct hang_wait *w = &k->wait.at[i];
        for (size_t j = 0; j < w->n_members && w->verdict == HANG_MISSING; j++) {
            const struct hang_member *m = &w->member[j];
            if (m->part != HANG_IS_MISSING || !m->waits || !hang_out_of_order(k, w, m))
                continue;
            const size_t other = hang_wait_of(k, m->at);
            w->verdict = HANG_ORDER;
            k->is_root[i] = true;
            k->is_root[other] = false;
            if (!hang_lead(k, other, i))
                return false;
        }
    }
    return true;
}

bool hang_judge(struct hang *out, const struct flight_job *job, struct arena *mem)
{
    struct hang_work k = { .job = job, .mem = mem };
    *out = (struct hang){ 0 };
    if (!hang_absent(job, out, mem) || !hang_waits(&k))
        return false;
    out->wait = k.wait.at;
    out->n_waits = k.wait.n;
    if (k.wait.n == 0) {
        out->verdict = out->n_absent > 0 ? HANG_NO_DUMP : HANG_NONE;
        for (size_t i = 0; i < out->n_absent; i++)
            hang_blame(out, out->absent[i]);
        return true;
    }
    k.is_root = arena_take(mem, k.wait.n, sizeof *k.is_root);
    if (!k.is_root)
        return false;
    for (size_t i = 0; i < k.wait.n; i++)
        if (!hang_connect(&k, i))
            return false;
    if (!hang_find_cycle(&k, out) || !hang_orders(&k) || !hang_choose(&k, out))
        return false;
    if (out->n_cycle > 0 && out->verdict != HANG_MISMATCH) {
        out->verdict = HANG_CYCLE;
        out->first = out->cycle[0];
        for (size_t i = 0; i < out->n_cycle; i++)
            for (size_t j = 0; j < out->wait[out->cycle[i]].n_members; j++)
                if (out->wait[out->cycle[i]].member[j].part == HANG_IS_MISSING)
                    hang_blame(out, out->wait[out->cycle[i]].member[j].rank);
        return true;
    }
    out->n_cycle = 0;
    hang_blame_wait(job, out);
    return true;
}
