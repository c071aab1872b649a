/* SPDX-License-Identifier: Apache-2.0 */
/* option_values.h - the value of one option: from a text into its field, and back. */
#ifndef ASCOPE_COLLECT_OPTIONS_OPTION_VALUES_H
#define ASCOPE_COLLECT_OPTIONS_OPTION_VALUES_H

#include "collect/describe/json_text.h"
#include "collect/options/option_rows.h"

/* What a text said that was no level or metric: it waits for options_check(), where the order decides what it becomes. */
enum { OPTION_NOT_KNOWN = 254 };
enum { EXPORT_TEXT = 1, EXPORT_DB = 2 };

const char *choice_name(const struct ascope_choice *c, uint64_t value); /* NULL: none */

/* The next name of a list: commas between them, blanks around them. False: no more. */
bool list_next(const char **at, const char **name, size_t *n);

/* The same text with the lifetime of the process; NULL: out of memory. */
const char *text_keep(const char *text);

/* False: the option has no such value; the field is as before, or the row's own way to say so. */
bool option_set(struct ascope_options *o, const struct recorder_option *r, const char *value);
void option_reset(struct ascope_options *o, const struct recorder_option *r);
bool option_is_set(const struct ascope_options *o, const struct recorder_option *r); /* to something that has a text */
void option_text(const struct ascope_options *o, const struct recorder_option *r, struct json_text *out);
/* As profiler_info.json has it: items of lists in lines of their own. */
void option_json(const struct ascope_options *o, const struct recorder_option *r, struct json_text *out);

/* Functions for options that need more than the function of their kind. */
bool option_set_level(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_metrics(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_ai_core(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_old_marks(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_export(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_rate(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_data(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_ge(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_task_time(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_limit(struct ascope_options *o, const struct recorder_option *r, const char *value);
bool option_set_blocks(struct ascope_options *o, const struct recorder_option *r, const char *value);
uint64_t option_get_blocks(const struct ascope_options *o);
uint64_t option_get_export(const struct ascope_options *o);

#endif
