/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_config.h - edits profiler_config.json for `ascope dyn`: sets the keys of the command line and keeps the values
 * and the order of all others. The file is replaced atomically, with its owner and mode, so that a job reads either
 * the old or the new one. */
#ifndef ASCOPE_CLI_DYN_DYN_CONFIG_H
#define ASCOPE_CLI_DYN_DYN_CONFIG_H

#include <jansson.h>
#include <sys/stat.h>

#include "base/memory/arena.h"
#include "base/text/error.h"

struct dyn_config {
    const char *path;
    json_t *root;    /* an object; empty when there was no file */
    struct stat was; /* of the existing file */
    bool is_new;
};

/* Reads the file; a missing one is an empty object. False: it cannot be used, see e. Call dyn_config_end() in any
 * case. */
bool dyn_config_read(struct dyn_config *c, const char *dir, struct arena *mem, struct error *e);
void dyn_config_end(struct dyn_config *c);

/* Sets a key; "experimental_config.l2_cache" is a member of the object experimental_config. Takes the reference.
 * False: no memory. */
bool dyn_config_set(struct dyn_config *c, const char *key, json_t *value);
/* Whether "--l2_cache=true" names a key of the file. */
bool dyn_config_has_key(const char *word);
/* Sets such a key. False: the value is invalid, see e. */
bool dyn_config_set_word(struct dyn_config *c, const char *word, struct error *e);

bool dyn_config_write(struct dyn_config *c, struct error *e);

#endif
