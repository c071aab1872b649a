/* SPDX-License-Identifier: Apache-2.0 */
/* agreement.h - in which step the ranks of a job begin a collection that is asked for "in the next step".
 *
 * A request for one process alone begins in its next step. For several processes the owner of the board chooses a step
 * that none of them has reached yet. First all of them get the request; then the owner chooses the step and stores it
 * where each of them looks in each step. So only those steps are lost that run while the owner computes. If one rank
 * has already passed a given start step, no rank starts. Hosts agree through a file beside the configuration, whose
 * name contains the request and the job: the host that creates it first has chosen, the others read it. The file
 * appears with its whole content (link()), so that no host reads a part of it.
 */
#ifndef ASCOPE_DYNAMIC_AGREEMENT_H
#define ASCOPE_DYNAMIC_AGREEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "dynamic/board.h"
#include "dynamic/config.h"

#define AGREEMENT_PREFIX ".ascope_dp_"

struct agreement {
    const char *config_dir;
    uint64_t id;
    double steps_per_s;    /* of the fastest rank */
    double spread_s;       /* longest time until the step is stored on the board */
    double hosts_spread_s; /* longest time until all hosts have read it */
};

/* Fills the offer to each listening rank, by the number of its slot. is_known: all of them have got the request; before
 * that, a step that has to be chosen is OFFER_OPEN. */
void agreement_make(const struct agreement *a, const struct config *c, const struct board_rank *rank,
                    const unsigned *slot, size_t n, bool is_known, struct board_offer offer[BOARD_RANKS]);

/* The step that the hosts agree on: `proposed`, or that of a host that was faster. */
int64_t agreement_of_hosts(const struct agreement *a, uint64_t group, int64_t proposed);

#endif
