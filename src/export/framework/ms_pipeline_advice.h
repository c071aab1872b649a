/* SPDX-License-Identifier: Apache-2.0 */
/* ms_pipeline_advice.h - advice about a slow dataset pipeline, from the CPU use of its nodes and the fill of their
 * queues.
 *
 * Rules and limits are those of the reference; the texts are not. Texts are in the arena of struct advice.
 */
#ifndef ASCOPE_EXPORT_FRAMEWORK_MS_PIPELINE_ADVICE_H
#define ASCOPE_EXPORT_FRAMEWORK_MS_PIPELINE_ADVICE_H

#include "base/memory/arena.h"
#include "profile/ms_data.h"

/* The figures of a node in the summary; percentages are rounded as they are shown. */
struct node_figures {
    const char *name, *label; /* "Batch", "Batch(id=2)" */
    bool has_queue;           /* an output queue with samples */
    double utilization_pct;   /* the mean fill of that queue; -1: unknown, also below */
    double empty_pct;         /* of the samples in which it was empty */
    double cpu_pct;           /* of each worker */
};

struct pipeline_advice {
    LIST(const char *) cpu, queue;
    const char *bottleneck, *suggestion; /* NULL: none */
    struct arena *mem;
};

bool ms_pipeline_advise(struct pipeline_advice *a, const struct ms_pipeline *p,
                        const struct node_figures *f); /* false: no memory */

enum { PERCENT_TEXT = 40 };
/* As Python shows a rounded number: 12.5, 3.0 */
const char *rounded_text(double v, int decimals, char out[PERCENT_TEXT]);

#endif
