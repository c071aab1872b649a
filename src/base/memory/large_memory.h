/* SPDX-License-Identifier: Apache-2.0 */
/* large_memory.h - large allocations and mappings, within a limit.
 *
 * A program that reads gigabytes holds columns, which it computes, and pages of mapped files. Pages of files can be
 * dropped at any time: they are in the system's cache and are mapped again when they are read. A thread watches them
 * and drops them when there are many. With a limit, columns beyond it are pages of an unnamed file, too, which ends
 * with the process.
 */
#ifndef ASCOPE_BASE_MEMORY_LARGE_MEMORY_H
#define ASCOPE_BASE_MEMORY_LARGE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For the whole process, before the first column. `dir` is the directory of the file for columns beyond the limit. If
 * there is no room in it, memory_take() fails under a strict limit, and exceeds any other. */
void memory_limit(uint64_t bytes, const char *dir, bool is_strict);
/* Starts the thread that drops pages. If it cannot be started, pages stay until they are unmapped. */
void memory_watch(void);
void memory_unwatch(void);

void *memory_take(size_t bytes);   /* zeroed, for a short time; NULL: no memory */
void *memory_column(size_t bytes); /* the same for long: leaves an eighth of the region to the others */
bool memory_limit_met(void); /* some memory_take() has failed because of the limit: there was no room in the file */
void memory_give(void *at);  /* NULL is fine */
void *memory_trim(void *at, size_t bytes); /* releases all but the first bytes; returns the new address */
/* Returns to the system what was released and is kept for reuse, if it is much: pages that are taken again have to be
 * filled with zeros again. */
void memory_rest(void);

const char *memory_dir(void); /* for unnamed files that belong to no directory: $TMPDIR, or /var/tmp */
/* An unnamed file, which ends with its descriptor. -1: errno says why. */
int memory_file(const char *dir);
/* The same in a directory (NULL: none), or else in a directory for temporary files, or else in memory: some
 * machines have nothing that is writable. */
int memory_file_near(const char *dir);

/* A mapped file. The owner keeps the node where it is until memory_unmap(): a copy cannot be unmapped. */
struct mapped {
    void *at; /* NULL: nothing is mapped */
    size_t bytes;
    struct mapped *next, **link;
};
bool memory_map(struct mapped *m, int fd, size_t bytes);                     /* to be read; false: errno says why */
bool memory_map_part(struct mapped *m, int fd, uint64_t from, size_t bytes); /* from: a multiple of the size of pages */
void memory_unmap(struct mapped *m);                                         /* one that was never mapped is fine */

#endif
