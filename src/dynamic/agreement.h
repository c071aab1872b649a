/* SPDX-License-Identifier: Apache-2.0 */
/* agreement.h - in which step the ranks of a job begin a collection that is asked for "in the next step".
 *
 * A request that one process alone is asked for begins in its next step. For several the owner of the board chooses a step behind the current ones
 * of all of them: first all of them get the request, then the step is chosen and stored where each of them looks in each step, so that
 * only as many steps lie in between as run while the owner computes. A start step that one of them has passed starts nobody.
 * Hosts agree through a file beside the configuration, whose name has the request and the job: whoever creates it first has
 * chosen, the others read it. It is created with its content (link), so that nobody reads a part.
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
    double steps_per_s; /* of the fastest rank */
    double spread_s;    /* until the step is stored; until all hosts have read it */
    double hosts_spread_s;
};

/* The offer to each listening rank, by number of its slot. is_known: all of them have got the request; before that a step that is to be
 * chosen is OFFER_OPEN. */
void agreement_make(const struct agreement *a, const struct config *c, const struct board_rank *rank,
                    const unsigned *slot, size_t n, bool is_known, struct board_offer offer[BOARD_RANKS]);

/* The step that the hosts agree on: `mine`, or that of a host that was faster. */
int64_t agreement_of_hosts(const struct agreement *a, uint64_t group, int64_t mine);

#endif
