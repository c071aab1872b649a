/* SPDX-License-Identifier: Apache-2.0 */
/* late_ranks.h - the members of a collective whose part is conspicuously short: they joined last, and the others
 * waited.
 *
 * With up to 100 members Dixon's test for the smallest value is used, at 99.5 %. With more members all that are more
 * than three standard deviations below the mean are late, and the shortest one if any is as far above it.
 */
#ifndef ASCOPE_CLUSTER_VERDICTS_LATE_RANKS_H
#define ASCOPE_CLUSTER_VERDICTS_LATE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIXON_LEAST = 3, DIXON_MOST = 100 };
extern const double dixon_995[DIXON_MOST - DIXON_LEAST + 1]; /* critical values for DIXON_LEAST … DIXON_MOST */

/* `is_late` has a place for each duration; `scratch` has room for n. Returns how many are late. */
size_t late_ranks(const int64_t *ns, size_t n, bool *is_late, double *scratch);

#endif
