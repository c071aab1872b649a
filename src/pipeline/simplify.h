/* SPDX-License-Identifier: Apache-2.0 */
/* simplify.h - removes what is not needed of a PROF directory once its results are written (data_simplification). */
#ifndef ASCOPE_PIPELINE_SIMPLIFY_H
#define ASCOPE_PIPELINE_SIMPLIFY_H

#include "pipeline/account.h"
#include "profile/profile.h"

/* Removes intermediate databases, and when it simplifies also what an export of the PROF directory itself has left: its
 * raw data stays. What could not be removed
 * becomes a problem. */
void prof_simplify(const struct profile *p, bool simplifies, struct account *a);

#endif
