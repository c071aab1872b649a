/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot_load.h - reads memory snapshots of PyTorch, of CUDA and of NPUs: pickles of plain values.
 *
 * A snapshot may have gigabytes. Its dictionaries become rows where they end, so that only columns stay in memory.
 */
#ifndef ASCOPE_LOAD_PLAIN_SNAPSHOT_LOAD_H
#define ASCOPE_LOAD_PLAIN_SNAPSHOT_LOAD_H

#include "base/text/error.h"
#include "profile/snapshot/memory_snapshot.h"

/* `path` must outlive the snapshot; the bytes need not. False: the file is no snapshot, or it
 * contains more than plain values. */
bool snapshot_load(struct memory_snapshot *s, const uint8_t *bytes, size_t n, const char *path, struct arena *mem,
                   struct error *e);

#endif
