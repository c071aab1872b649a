/* SPDX-License-Identifier: Apache-2.0 */
/* analyze.h - the cost of communication, written into PROF_XXX/analyze.
 *
 * communication.json (time of each collective, bytes by kind of link), communication_matrix.json (bytes between ranks),
 * and communication_analyzer.db, which contains both. Existing files are replaced.
 */
#ifndef ASCOPE_PIPELINE_ANALYZE_H
#define ASCOPE_PIPELINE_ANALYZE_H

#include "pipeline/prof_write.h"

enum { RULE_COMMUNICATION = 1, RULE_MATRIX = 2, RULE_ALL = 3 };

struct analyze_request {
    unsigned rules;      /* RULE_* */
    bool is_db_only;     /* no JSON */
    const char *out_dir; /* instead of the directory that holds PROF_XXX; NULL: that one */
};

struct analyze_result {
    const char *why_nothing; /* the reason why there was nothing to analyse; else NULL */
    struct written file[3];
    size_t n_files;
    uint64_t n_untimed; /* collectives without a task on the master stream: they are not in communication.json */
};

/* After profile_analyse(). The result is allocated in `mem`. False: see e. */
bool analyze_write(const struct profile *p, const struct analyze_request *r, struct arena *mem,
                   struct analyze_result *out, struct error *e);

#endif
