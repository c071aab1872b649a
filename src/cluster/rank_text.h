/* SPDX-License-Identifier: Apache-2.0 */
/* rank_text.h - what text results say about a rank: step_trace_time.csv, communication.json, communication_matrix.json,
 * profiler_metadata.json.
 */
#ifndef ASCOPE_CLUSTER_RANK_TEXT_H
#define ASCOPE_CLUSTER_RANK_TEXT_H

#include <jansson.h>

#include "cluster/job.h"

/* Only those of the parts, and what the job noted of itself where it is not known yet. A file that is not there is a part that is not
 * known. False: one cannot be read or is no JSON, or there is no memory. */
bool rank_text_load(const struct job_rank *r, unsigned parts, struct rank *out, struct error *e);

/* Of profiler_metadata.json, if the identity lacks it. */
bool rank_text_metadata(const char *collection, struct rank *out, struct error *e);

json_t *rank_text_json(const char *path); /* NULL: it cannot be read, or is not JSON */

#endif
