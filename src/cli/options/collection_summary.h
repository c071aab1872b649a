/* SPDX-License-Identifier: Apache-2.0 */
/* collection_summary.h - the summary of a collection of a framework: steps, operators, memory, files and losses. */
#ifndef ASCOPE_CLI_OPTIONS_COLLECTION_SUMMARY_H
#define ASCOPE_CLI_OPTIONS_COLLECTION_SUMMARY_H

#include <jansson.h>

#include "analyse/framework/steps/step_series.h"
#include "cli/options/command.h"
#include "report/term.h"
#include "pipeline/collection_write.h"

/* Prints the summary, or nothing with --json or --quiet. `choice`: the requested steps; NULL: all. False: a part is
 * missing for want of memory. */
bool collection_summary_print(const struct term *t, const struct arguments *a, const struct step_choice *choice,
                              const struct collection_result *r);
/* A new reference; NULL without memory. */
json_t *collection_summary_json(const struct arguments *a, const struct step_choice *choice,
                                const struct collection_result *r);

#endif
