/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_config.h - profiler_config.json as `ascope dyn` edits it: the keys that a command line names are set, all others keep
 * the value and the place that the user gave them. It is replaced in one piece, with its owner and its mode: a job reads the
 * old one or the new one. */
#ifndef ASCOPE_CLI_DYN_CONFIG_H
#define ASCOPE_CLI_DYN_CONFIG_H

#include <jansson.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"

struct dyn_config {
    const char *path;
    json_t *root; /* an object; empty when there was no file */
    struct stat was;
    bool is_new;
};

/* False: it is there and cannot be used. End with dyn_config_end() in any case. */
bool dyn_config_read(struct dyn_config *c, const char *dir, struct arena *mem, struct error *e);
void dyn_config_end(struct dyn_config *c);

/* Sets a key; "experimental_config.l2_cache" is one of the object of that name. Takes the value. False: no memory. */
bool dyn_config_set(struct dyn_config *c, const char *key, json_t *value);
/* "--l2_cache=true": whether the file has a key of that name that is no option of the command. */
bool dyn_config_has_key(const char *word);
/* Sets such a key. False: the value is none of those that it takes. */
bool dyn_config_set_word(struct dyn_config *c, const char *word, struct error *e);

bool dyn_config_write(struct dyn_config *c, struct error *e);

#endif
