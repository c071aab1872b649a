/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - registry: the text of profiler_config.json as a request: every key checked, with a message for each value that is
 * not used.
 *
 * A message names the line, key and value, the accepted values, and what is used instead. Only a text that is not a
 * JSON object is an error. The keys depend on the kind: `config_kinds` has a row for each framework. Keys about what is
 * recorded are options of the recorder (collect/options/option_rows.h); the other keys are rows of tables in config.c.
 */
#ifndef ASCOPE_DYNAMIC_CONFIG_H
#define ASCOPE_DYNAMIC_CONFIG_H

#include <limits.h>
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

/* config_file.c: DIR/profiler_config.json: reading it, noticing that it is another one, writing the template.
 *
 * Opening never blocks. Links are followed, because mounted configurations are often links. Two files are the same if
 * their time of change, size, inode and content are the same; so a change is noticed even if the times of the file
 * system are coarse or wrong. */

#define CONFIG_FILE_NAME "profiler_config.json"
enum { CONFIG_BYTES_MOST = (1 << 20) - 4 }; /* as the reference: with its time in a memory of 1 MiB */

/* What a file was when it was looked at. A file that is not there, or cannot be used, has its reason as errno (0:
 * none). */
struct config_stamp {
    int64_t mtime_ns;
    uint64_t size, inode, hash;
    int32_t why;
    uint32_t is_link;
};

struct config_text {
    struct config_stamp stamp;
    char *text; /* NUL-terminated; NULL: stamp.why */
};

/* False: it is not there or cannot be used, and e has why. Ends with config_text_fini(), also then. */
bool config_text_read(struct config_text *t, const char *path, struct error *e);
void config_text_fini(struct config_text *t);
bool config_stamp_equal(const struct config_stamp *a, const struct config_stamp *b);

/* The same number for the same bytes in every process. */
uint64_t config_hash(const void *bytes, size_t n, uint64_t before);

/* A file beside `path` to write to and then to rename: PATH.part- and 16 random digits, which did not exist before. -1:
 * e has why. */
#define CONFIG_PART ".part-"
int config_part_open(const char *path, char part[PATH_MAX], struct error *e);

/* Writes a whole file, or nothing: the name appears with all of the text. Never over a file that is there, which is no
 * error: *is_new is false then. Mode 0640 & ~umask. */
bool config_file_create(const char *path, const char *text, bool *is_new, struct error *e);

/* The directory and its parents, 0750. */
bool config_dir_make(const char *path, struct error *e);

#endif
