/* SPDX-License-Identifier: Apache-2.0 */
/* simplify.h - removes earlier results from a PROF directory after an analysis (data_simplification). */
#ifndef ASCOPE_PIPELINE_SIMPLIFY_H
#define ASCOPE_PIPELINE_SIMPLIFY_H

#include "pipeline/account.h"
#include "profile/profile.h"

/* Removes intermediate databases; with `simplifies` also the results of exports of the PROF directory. Raw data is
 * kept. Failures become problems of the account. */
void prof_simplify(const struct profile *p, bool simplifies, struct account *a);

#endif
