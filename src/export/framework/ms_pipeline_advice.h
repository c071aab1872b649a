/* SPDX-License-Identifier: Apache-2.0 */
/* ms_pipeline_advice.h - what slows a dataset pipeline down, by the CPU use of its nodes and how full their queues are.
 *
 * Rules and limits are those of the reference; the words are ours.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_MS_PIPELINE_ADVICE_H
#define ASCOPE_EXPORT_FRAMEWORK_MS_PIPELINE_ADVICE_H

#include "base/arena.h"
#include "profile/ms_data.h"

/* What the summary shows of a node; percentages are rounded as shown. */
struct node_figures {
    const char *name, *label; /* "Batch", "Batch(id=2)" */
    bool has_queue;           /* with samples */
    double utilization_pct;   /* of its output queue; -1: unknown, as below */
    double empty_pct;
    double cpu_pct; /* of each worker */
};

struct advice {
    LIST(const char *) cpu, queue;
    const char *bottleneck, *suggestion; /* NULL: none */
    struct arena *mem;
};

bool ms_pipeline_advise(struct advice *a, const struct ms_pipeline *p,
                        const struct node_figures *f); /* false: no memory */

enum { PERCENT_TEXT = 40 };
/* As Python shows a rounded number: 12.5, 3.0 */
const char *rounded_text(double v, int decimals, char out[PERCENT_TEXT]);

#endif
