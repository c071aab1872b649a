/* SPDX-License-Identifier: Apache-2.0 */
/* prof.h - loads a PROF_XXX directory into a profile. */
#ifndef ASCOPE_LOAD_PROF_H
#define ASCOPE_LOAD_PROF_H

#include "profile/profile.h"

/* Finds the PROF directories that `path` stands for: itself, or the ones right below it. Sorted by name, links skipped.
 * False (and e set) when there is none. True with e set: there may be more, that cannot be looked into. */
struct prof_dirs {
    char **path;
    size_t n;
};
bool prof_find(const char *path, struct prof_dirs *out, struct error *e);
void prof_dirs_free(struct prof_dirs *d);

/* Opens every folder and loads all records. A folder that cannot be used is counted as a loss; false only when nothing
 * is left to look at. Free the profile in any case. */
bool profile_load(struct profile *p, const char *path, unsigned n_threads, struct error *e);
void profile_free(struct profile *p);

#endif
