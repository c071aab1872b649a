/* SPDX-License-Identifier: Apache-2.0 */
/* summary_file.h - registry: summaries of ranks as files: what `ascope analyse --summary` leaves, and shards of many ranks.
 *
 * A record is a header of SUMMARY_HEADER bytes (magic, version, checksum, sizes, rank, time of the collection) and a
 * payload: names once, then the columns of each part (rank_columns.h) as variable-length numbers, compressed. A file is
 * one record, or several and an index of them at its end. Bytes are little endian. Any change of rank_columns.h is a
 * new version: summaries are made again, never converted.
 */
#ifndef ASCOPE_CLUSTER_RANK_SUMMARY_FILE_H
#define ASCOPE_CLUSTER_RANK_SUMMARY_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/files/bytes.h"
#include "base/files/out.h"
#include "base/memory/keys.h"
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

/* column_code.c: columns of numbers as few bytes that zlib packs well, exact.
 *
 * Each number is written as its difference to what predicts it best (nothing, the number before it, or the same row of
 * another column), in the largest unit that all differences are multiples of: devices count in ticks. Bytes of equal
 * weight lie together, because those of high weight are nearly always equal. */

void put_varint(struct out *o, uint64_t v);
void put_signed(struct out *o, int64_t v);
/* False: the bytes end, or it has more than 64 bits. */
bool take_varint(struct bytes *in, uint64_t *v);

/* Numbers, of which INT64_MIN means none. `beside` has as many, or is NULL. A column takes at least a byte for each
 * number. */
void put_numbers(struct out *o, const int64_t *v, size_t n, const int64_t *beside);
/* False: damaged. */
bool take_numbers(struct bytes *in, int64_t *v, size_t n, const int64_t *beside);

/* Real numbers: decimals as whole numbers of a power of ten, and by how many of the nearest doubles they are off, which
 * is rarely more than one. scratch: 2 * n numbers. */
void put_reals(struct out *o, const double *v, size_t n, int64_t *scratch);
bool take_reals(struct bytes *in, double *v, size_t n, int64_t *scratch);

/* describe.c: count, mean, standard deviation, quartiles and sum of durations, as pandas computes them.
 *
 * Durations of a group are kept as (value, count) for all ranks: devices count in ticks, so that few values are
 * different, and the quartiles of any number of ranks are exact. What is computed does not depend on the order in
 * which values were added: sums are integers, and the deviation is added up in the order of the values. */

struct durations { /* all zeros: none */
    struct keys value;
    LIST(uint64_t) count;
};

struct description {
    uint64_t count;
    double mean;
    double std;            /* of a sample (n - 1); NAN for one value */
    double population_std; /* of all (n) */
    double min, q1, median, q3, max;
    int64_t sum;
    int64_t min_ns, max_ns; /* the same as min and max, to the last digit */
};

bool durations_add(struct durations *d, int64_t ns, uint64_t times, struct arena *mem);
void durations_clear(struct durations *d);
/* False: no memory. There is at least one value. */
bool durations_describe(const struct durations *d, struct description *out);

#endif
