/* session_summary.h - what came of a *_ascend_pt directory: steps, operators, memory, files and losses. */
#ifndef ASCOPE_CLI_SESSION_SUMMARY_H
#define ASCOPE_CLI_SESSION_SUMMARY_H

#include "cli/command.h"
#include "cli/term.h"
#include "export/session_write.h"

/* To t as the arguments ask; --json and --quiet print nothing here. False: without memory a part is missing. */
bool session_summary_print(const struct term *t, const struct arguments *a, const struct session_result *r);
/* Where there are many: one line for each, with its mean step. False: without memory a part is missing. */
void session_lines_heading(const struct term *t);
bool session_line_print(const struct term *t, const struct session_result *r);
json_t *session_summary_json(const struct session_result *r); /* a new reference; NULL without memory */

#endif
