/* SPDX-License-Identifier: Apache-2.0 */
/* prof.h - registry: loads a PROF_XXX directory into a profile. */
#ifndef ASCOPE_LOAD_PROF_PROF_H
#define ASCOPE_LOAD_PROF_PROF_H

#include <jansson.h>

#include "base/memory/arena.h"
#include "base/text/error.h"
#include "load/prof/records.h"
#include "profile/collector.h"
#include "profile/profile.h"
#include "profile/settings.h"
#include "profile/source.h"

/* Finds the PROF directories that `path` stands for: itself, or those directly in it, sorted by name; links are
 * skipped. False (and e set) if there is none. True with e set: there may be more, in directories that cannot be
 * read. */
struct prof_dirs {
    char **path;
    size_t n;
};
bool prof_find(const char *path, struct prof_dirs *out, struct error *e);
void prof_dirs_free(struct prof_dirs *d);

/* Opens every directory and loads all records. A directory that cannot be used is counted as a loss; false only if none
 * can be used, or without memory. Free the profile in any case. */
bool profile_load(struct profile *p, const char *path, unsigned n_threads, struct error *e);
/* The same without some parts: enum profile_part. */
bool profile_load_without(struct profile *p, const char *path, unsigned without, unsigned n_threads, struct error *e);
void profile_free(struct profile *p);

/* ccu_load.c: loads the records of collective communication units. */

bool ccu_load(struct device *d, struct error *e);        /* of a device */
bool ccu_plans_load(struct profile *p, struct error *e); /* of the host */

/* host_load.c: loads the records of the host directory: dictionaries first, then calls and the records that belong to
 * them. */

bool dictionary_load(struct profile *p, struct error *e);
/* Two independent halves of about the same size: the calls, and the records that belong to them. */
bool calls_load(struct profile *p, struct error *e);
bool host_load(struct profile *p, struct error *e);

/* One family of compact or additional records, sorted by (thread, time). Columns that are requested before sorted_end()
 * are kept; the others are released by it. */
struct sorted {
    struct source *source;
    struct arena *scratch;
    const struct layout *layout;
    struct records in; /* in the order of the files */
    uint32_t *order;
};
bool sorted_load(struct profile *p, const char *family, const struct layout *l, struct sorted *out, struct error *e);
void *sorted_column(struct sorted *s, unsigned field); /* taken from the source's arena, as everything here */
const uint8_t **sorted_rest(struct sorted *s);         /* the records themselves */
uint32_t *sorted_calls(struct sorted *s);              /* a column for the call of each record, all NO_ROW */
bool *sorted_is_static(struct sorted *s);              /* true for records of unaging files */
bool sorted_end(struct sorted *s, struct error *e);    /* false: there was no memory for some column */

/* source_open.c: opens one directory (host or device_N) of a collection: settings, clocks, streams. */

/* False if the directory cannot be used at all (no data, no clock): e has the reason, and there is nothing to close.
 * Slices that cannot be opened are counted as losses and left out. Lack of memory is never a loss, but FAULT_LIMIT. */
bool source_open(struct source *s, const char *prof_path, const char *name, struct error *e);
void source_close(struct source *s);

/* True if the directory contains a file whose name begins with info.json, which makes it a part of a collection. False
 * with *why not 0: unknown; *why is the errno value. */
bool source_is_one(const char *path, int *why);

/* Counts an impossible setting of info.json. */
void setting_lost(struct source *s, const char *key);

/* settings_load.c: loads the settings that collectors write as JSON: one file, or all of a directory. */

/* "", or the given default, if the key is missing or has another type. Numbers may be written as text. */
const char *setting_text(const json_t *object, const char *key);
int64_t setting_number(const json_t *object, const char *key, int64_t otherwise);

/* Of info.json and sample.json; either may be NULL. Texts are copied into mem. False: no memory. */
bool settings_load(struct settings *out, const json_t *info, const json_t *sample, struct arena *mem);

/* seal_load.c: compares a collection with the list that its recorder left (base/files/seal.h). */

enum seal_scope {
    SEAL_ALL,
    SEAL_PART = 1,    /* of a PROF directory of the collection, its files alone */
    SEAL_LENGTHS = 2, /* reads no file */
};

/* Counts files that are missing, have another length or other bytes. Without a list, as after a kill, it does nothing.
 * `path`: the collection, or the part of it; scope: of enum seal_scope. False only without memory. */
bool seal_load(const struct collector *c, const char *path, unsigned scope, unsigned n_threads, struct arena *mem,
               struct losses *lost, struct error *e);

/* collector_load.c: reads ascope.json, which ascope's recorder writes into the top directory of a collection. */

/* Reads path/ascope.json, and checks whether path/ascope.rings exists. Missing, damaged or impossible values are
 * counted and left out; the losses that the recorder reports are counted, too. False only without memory. */
bool collector_load(struct collector *out, const char *path, struct arena *mem, struct losses *lost, struct error *e);

/* The same for the collection of a framework that contains a PROF directory; without one it does nothing. */
bool collector_load_above(struct collector *out, const char *path, struct arena *mem, struct losses *lost,
                          struct error *e);

/* device_load.c: loads the records of a device's scheduler and AI CPU into tables. */

bool device_load(struct profile *p, struct device *d, struct error *e);

/* task_log_load.c: what ran on a GPU, from ascope_cuda.data. */
bool cuda_load(struct device *d, struct error *e); /* false only without memory */

/* device_load.c: finds the counter records that cores wrote for each task: pointers to whole records. */
bool pmu_load(struct device *d, struct error *e);

/* counters_load.c: loads the streams of a device's samplers into tables. */
/* Fills d->counters.raw. False only without memory. */
bool counters_load(struct device *d, unsigned without, struct error *e);

/* task_log_load.c: loads the task log of a device's scheduler: begin and end records. */
/* Fills d->log.events or d->log.edges, in the form that the chip writes; analysis pairs them and releases them. Called
 * after all other readers of the device: the log shares its streams with them, and counts unknown records. False: out
 * of memory. */
bool task_log_load(struct device *d, struct error *e);

/* aicpu_comm_load.c: what the AI CPUs of a device report of the communication that they schedule themselves. */
/* Finds the group of each stream, after the groups and captured streams of the host were loaded. */
bool mc2_groups_index(struct profile *p, struct error *e);

bool aicpu_comm_load(struct device *d, struct error *e); /* false only without memory */

#endif
