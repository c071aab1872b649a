/* SPDX-License-Identifier: Apache-2.0 */
/* prof.h - loads a PROF_XXX directory into a profile. */
#ifndef ASCOPE_LOAD_PROF_PROF_H
#define ASCOPE_LOAD_PROF_PROF_H

#include "profile/profile.h"

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

#endif
