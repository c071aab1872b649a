/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/rank_readers.h"

#include "cluster/job/job.h"

bool rank_reload(const struct mode_context *c, int64_t rank, unsigned parts, struct arena *mem, struct rank *out,
                 bool *is_there, struct error *e)
{
    struct error why = { 0 };
    int exit_code;
    if (c->rank && c->rank->identity.rank == rank && !(parts & ~c->rank_parts)) {
        *out = *c->rank;
        return *is_there = true;
    }
    const size_t i = job_place(c->job, rank);
    *is_there = i < c->job->ranks.n && job_load(c->job, i, parts, mem, out, &exit_code, &why);
    return *is_there || why.fault != FAULT_LIMIT || error_set(e, FAULT_LIMIT, "%s", why.text);
}

bool note_absent(struct results *out, const struct mode_context *c, size_t n_ranks)
{
    return n_ranks == 0 ||
           results_note(out, "%s: %zu ranks have only summaries, without single tasks and operators; they are left out",
                        c->mode->name, n_ranks);
}
