/* SPDX-License-Identifier: Apache-2.0 */
/* summary_file.h - summaries of ranks as files: what `ascope analyse --summary` leaves, and shards of many ranks.
 *
 * A record is a header of SUMMARY_HEADER bytes (magic, version, checksum, sizes, rank, time of the collection) and a
 * payload: names once, then the columns of each part (rank_columns.h) as variable-length numbers, compressed. A file is
 * one record, or several and an index of them at its end. Bytes are little endian. Any change of rank_columns.h is a
 * new version: summaries are made again, never converted.
 */
#ifndef ASCOPE_CLUSTER_RANK_SUMMARY_FILE_H
#define ASCOPE_CLUSTER_RANK_SUMMARY_FILE_H

#include "base/files/out.h"
#include "cluster/rank/rank_summary.h"

enum { SUMMARY_VERSION = 5, SUMMARY_HEADER = 64 };

/* What a header says. */
struct summary_header {
    uint32_t version;
    uint64_t bytes;  /* of the record, header included */
    int64_t rank;    /* -1: none */
    uint64_t stamp;  /* of the collection: of several of a rank the newest is used */
    uint64_t source; /* hash of the files that it was made of: if they have another one, it is out of date */
    uint32_t exit_code;
};

/* The name of the file of a rank: "ascope_rank_3.summary"; -1: of one without a number. */
enum { SUMMARY_NAME = 40 };
const char *summary_name(char out[SUMMARY_NAME], int64_t rank);

/* Appends a record. False: no memory, or it is too large. */
bool summary_write(const struct rank_summary *s, uint64_t stamp, uint64_t source, struct out *o, struct error *e);
bool summary_save(const struct rank_summary *s, uint64_t stamp, uint64_t source, const char *path, struct error *e);

/* The record at the beginning of n bytes. Texts go into names, columns into mem. False: damaged, or no memory. */
bool summary_read(const uint8_t *data, size_t n, const char *path, struct names *names, struct arena *mem,
                  struct rank_summary *out, struct error *e);

/* Calls `take` for each record of a file, in their order; the walk ends when it returns false. False: the file cannot
 * be read, or a record is damaged; `take` was called for the records before it. */
typedef bool summary_taker(void *context, const struct summary_header *h, uint64_t offset);
bool summary_walk(const char *path, summary_taker *take, void *context, struct error *e);

/* The record at an offset of a file. */
bool summary_load(const char *path, uint64_t offset, uint64_t bytes, struct names *names, struct arena *mem,
                  struct rank_summary *out, struct error *e);

/* Appends the record at an offset of a file, as it is. */
bool summary_copy(const char *path, uint64_t offset, struct out *o, struct error *e);

/* The end of a file of several records: where each of them is. */
struct summary_place {
    int64_t rank;
    uint64_t stamp, offset, bytes;
};
void summary_index(const struct summary_place *place, size_t n, struct out *o);

#endif
