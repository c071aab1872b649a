/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - what was found, written and lost, reported at the end as text or JSON. */
#ifndef ASCOPE_CLI_OPTIONS_SUMMARY_H
#define ASCOPE_CLI_OPTIONS_SUMMARY_H

#include <jansson.h>

#include "cli/options/command.h"
#include "report/term.h"
#include "pipeline/prof_write.h"

/* Print parts of the summary; summary_print() prints nothing with --json or --quiet. False: a part is missing for
 * want of memory. */
bool summary_print(const struct term *t, const struct arguments *a, const struct result *r);
bool summary_files(const struct term *t, const char *path, const struct account *a, bool all);
void summary_gpu(const struct term *t,
                 const struct profile *p); /* prints " (NVIDIA H200)" for the first device if it is a GPU */
void summary_times(const struct term *t, const struct account *a);
void summary_streams(const struct term *t, const struct source *s); /* one line for each family of files */
/* Prints the first problems of an account, and how many more there are. */
void complain_problems(FILE *to, const char *path, const struct account *a);
/* Prints why nothing was written, and that there were losses, too. */
void complain_failed(FILE *to, const struct error *e, const struct losses *l);
bool stream_is_read(const struct source *s,
                    const struct stream *stream); /* if the source is not loaded: whether it would be read */

/* New references; NULL without memory. */
json_t *summary_json(const struct arguments *a, const struct result *r);
json_t *files_json(const struct account *a);
json_t *problems_json(const struct account *a);
json_t *seconds_json(const struct account *a);
json_t *summary_streams_json(const struct source *s);
void summary_extent(const struct term *t, const struct source *s, const struct source *host); /* how long, since when */

/* The time and number of runs of a name, for lists of the largest ones. */
struct top {
    name_id name;
    uint64_t n;
    double dur_ns;
};
/* Sorts n sums, largest first, without those that have no run. Returns how many there are, at most `most`. */
size_t top_take(const struct names *names, struct top *sum, size_t n, size_t most);
void top_print(const struct term *t, const struct names *names, const char *heading, const struct top *top, size_t n,
               double all_ns);
json_t *top_list_json(const struct names *names, const struct top *top, size_t n);

/* Appends to the list of a report; takes the reference. Without memory *list becomes NULL, and json_report() prints no
 * incomplete report. */
void json_list_add(json_t **list, json_t *one);

/* Prints the JSON object of --json. Takes the references `list` and `more`; `more` has additional members, or is
 * NULL. Without memory nothing is printed, and STATUS_DONE becomes STATUS_LOSSES. Returns the status. */
enum exit_status json_report(const struct arguments *a, const char *key, json_t *list, enum exit_status status);
enum exit_status json_report_more(const struct arguments *a, const char *key, json_t *list, json_t *more,
                                  enum exit_status status);
void json_report_relayed(void); /* notes that another process has printed the report */
void json_report_failure(const struct arguments *a,
                         int code); /* prints a report without results, if none was printed */

#endif
