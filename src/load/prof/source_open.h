/* SPDX-License-Identifier: Apache-2.0 */
/* source_open.h - opens one directory (host or device_N) of a collection: settings, clocks, streams. */
#ifndef ASCOPE_LOAD_PROF_SOURCE_OPEN_H
#define ASCOPE_LOAD_PROF_SOURCE_OPEN_H

#include "profile/source.h"

/* False if the directory cannot be used at all (no data, no clock): e has the reason, and there is nothing to close.
 * Slices that cannot be opened are counted as losses and left out. Lack of memory is never a loss, but FAULT_LIMIT. */
bool source_open(struct source *s, const char *prof_path, const char *name, struct error *e);
void source_close(struct source *s);

/* True if the directory contains a file whose name begins with info.json, which makes it a part of a collection. False
 * with *why not 0: unknown; *why is the errno value. */
bool source_is_one(const char *path, int *why);

/* Counts an impossible setting of info.json. */
void setting_lost(struct source *s, const char *key);

#endif
