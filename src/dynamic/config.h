/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - the text of profiler_config.json as a request: every key checked, with a message for each value that is
 * not used.
 *
 * A message names the line, key and value, the accepted values, and what is used instead. Only a text that is not a
 * JSON object is an error. The keys depend on the kind: `config_kinds` has a row for each framework. Keys about what is
 * recorded are options of the recorder (collect/options/option_rows.h); the other keys are rows of tables in config.c.
 */
#ifndef ASCOPE_DYNAMIC_CONFIG_H
#define ASCOPE_DYNAMIC_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ascope/dynamic.h"
#include "base/text/error.h"

struct config_key;
struct config;

/* What differs between frameworks. */
struct config_kind {
    const char *name;
    const char *memory_prefix; /* of the shared file in /dev/shm */
    const char *template_text; /* of profiler_config.json */
    const struct config_key *keys;
    size_t n_keys;
    uint32_t front_end; /* options of the recorder that are keys, by enum ascope_front_end; 0: the front end reads them
                      itself */
    bool counts_old_file; /* a file from before the job is a request */
    bool starts_late;     /* between start_step and stop_step */
    bool retimes;         /* the interval of looking at the file follows the length of a step */
    bool logs;
    void (*finish)(struct config *c, void (*report)(enum ascope_severity, const char *, void *), void *user);
};
extern const struct config_kind config_kinds[]; /* by enum ascope_dynamic_kind */
extern const size_t n_config_kinds;

enum config_when {
    WHEN_NEVER, /* no collection; what waits is dropped */
    WHEN_NEXT,  /* in the next step */
    WHEN_AT     /* start_step */
};

struct config {
    enum config_when when;
    int64_t start_step, stop_step, warmup, active;
    bool analyse, async_mode, is_rank;
    bool stop;      /* ends what is running */
    bool is_empty;  /* the text has no key */
    int32_t *ranks; /* n_ranks */
    size_t n_ranks;
    struct ascope_dynamic_metadata *metadata;
    size_t n_metadata;
    struct ascope_options options; /* texts have the lifetime of the process */
};

typedef void (*config_report_fn)(enum ascope_severity severity, const char *text, void *user);

/* Reads a text; an empty one has all defaults, as in the reference. has_options false: only the keys that say when and
 * which ranks are read. report NULL: problems are not reported, for threads that must not call the program. False: e
 * has "line 3: ...". After true the caller calls config_fini(). */
bool config_read(struct config *c, const struct config_kind *kind, const char *text, size_t n, bool has_options,
                 config_report_fn report, void *user, struct error *e);
void config_fini(struct config *c);

bool config_has_rank(const struct config *c, int32_t rank); /* true without is_rank */

/* The documented set: letters, digits, "_", "-"; and what paths need, "/" and ".". */
bool config_path_is_plain(const char *path);

#endif
