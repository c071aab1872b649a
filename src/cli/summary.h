/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - what was found, written and lost, reported at the end as text or JSON. */
#ifndef ASCOPE_CLI_SUMMARY_H
#define ASCOPE_CLI_SUMMARY_H

#include <jansson.h>

#include "cli/command.h"
#include "cli/term.h"
#include "pipeline/prof_write.h"

/* All of these print to stdout as the arguments ask; --json and --quiet print nothing here. False: without memory a part is
 * missing. */
bool summary_print(const struct term *t, const struct arguments *a, const struct result *r);
bool summary_files(const struct term *t, const char *path, const struct account *a, bool all);
void summary_gpu(const struct term *t,
                 const struct profile *p); /* " (NVIDIA H200)", of the first; nothing on other devices */
void summary_times(const struct term *t, const struct account *a);
void summary_streams(const struct term *t, const struct source *s); /* one line for each family of files */
void complain_losses(const char *path, const struct losses *l); /* of damage, a line for each kind, on standard error */
bool stream_is_read(const struct source *s, const struct stream *stream); /* or would be, if it is not loaded */
void summary_losses(const struct term *t, const struct losses *l);

/* New references; NULL without memory. */
json_t *summary_json(const struct arguments *a, const struct result *r);
json_t *files_json(const struct account *a);
json_t *problems_json(const struct account *a);
json_t *seconds_json(const struct account *a);
json_t *summary_losses_json(const struct losses *l);
json_t *summary_streams_json(const struct source *s);

/* Sums by name, and the largest of them: as many as --top. */
struct top {
    name_id name;
    uint64_t n;
    double dur_ns;
};
/* Moves the largest `most` of n sums to the front, in order, and returns how many there are; sums without a run do not count. */
size_t top_take(const struct names *names, struct top *sum, size_t n, size_t most);
void top_print(const struct term *t, const struct names *names, const char *heading, const struct top *top, size_t n,
               double all_ns);
json_t *top_list_json(const struct names *names, const struct top *top, size_t n);

json_t *text_json(const char *text); /* any bytes; those that are no UTF-8 become '?' */

/* The one object that --json prints. Takes `list`, and the members of `more` unless it is NULL. Without memory there is none, and
 * the status is no longer DONE. */
enum exit_status json_report(const struct arguments *a, const char *key, json_t *list, enum exit_status status);
enum exit_status json_report_more(const struct arguments *a, const char *key, json_t *list, json_t *more,
                                  enum exit_status status);
void json_report_relayed(void);                                /* it was printed, by another process */
void json_report_failure(const struct arguments *a, int code); /* the same without a list, if none was printed */

#endif
