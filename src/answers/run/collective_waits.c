/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/collective_waits.h"

#include "base/text/stamp.h"
#include "profile/calls.h"

static uint32_t members_of(const struct collective_match *m, const struct matched *c)
{
    const uint32_t at = c->is_p2p ? KEYS_NONE : keys_find(&m->groups, c->group);
    if (at == KEYS_NONE)
        return 2;
    const struct group_size *const size = &m->sizes.at[at];
    return size->n_noted > size->n_seen ? size->n_noted : size->n_seen;
}

/* Since the begin of a member until the last one begins, on the clock of the former; 0: it has ended by then. */
static int64_t until_latest(const struct collective_match *m, const struct matched *c, uint32_t rank, int64_t begin_ns,
                            int64_t end_ns)
{
    const int64_t ahead_ns = wrap_sub(m->clock.at[rank].ahead_ns, m->clock.at[c->latest].ahead_ns);
    const int64_t last_ns = stamp_add(c->latest_begin_ns, stamp_held(ahead_ns));
    return last_ns < end_ns ? (int64_t)count_since(last_ns, begin_ns) : 0;
}

struct collective_time collective_divide(const struct collective_match *m, uint32_t rank, uint32_t id, int64_t begin_ns,
                                         int64_t end_ns)
{
    const struct matched *const c = id == NO_ROW ? NULL : &m->list.at[id];
    struct collective_time t = { .why = c ? COLLECTIVE_MEMBERS : COLLECTIVE_PEER, .last = NO_ROW };
    if (!c || c->n < 2 || c->n < members_of(m, c))
        return t;
    const bool needs_clocks = c->is_p2p || c->has_root;
    if (needs_clocks && c->is_apart) {
        t.why = COLLECTIVE_CLOCKS;
        return t;
    }
    const int64_t ns = (int64_t)count_since(end_ns, begin_ns), least_ns = c->least_ns > 0 ? c->least_ns : 0;
    t.waiting_ns = needs_clocks ? until_latest(m, c, rank, begin_ns, end_ns) : (int64_t)count_since(ns, least_ns);
    t.transfer_ns = ns - t.waiting_ns;
    t.last = needs_clocks ? c->latest : c->last;
    t.why = COLLECTIVE_KNOWN;
    return t;
}
