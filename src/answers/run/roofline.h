/* SPDX-License-Identifier: Apache-2.0 */
/* roofline.h - kernels against what their device can do: operations and bytes a second, and the share of the roof that
 * they reach.
 *
 * A row is an operator with certain shapes and types, whose kernels all do the same work
 * (analyse/device/kernel_work.h). If the shapes do not determine the work, counters of the cores are used, if they were
 * recorded. The roof of a row is the smaller one of two limits: what the cores can compute, and what the memory can
 * supply at the row's intensity (operations per byte).
 */
#ifndef ASCOPE_ANSWERS_RUN_ROOFLINE_H
#define ASCOPE_ANSWERS_RUN_ROOFLINE_H

#include "analyse/device/device_analysis.h"
#include "base/memory/keys.h"
#include "profile/collection.h"

/* What makes a row. */
struct roofline_key {
    name_id name; /* type of the operator, or its name */
    name_id shapes[2], types[2], formats[2];
};

struct roofline_row {
    struct roofline_key key;
    uint64_t count;
    double time_ns;
    double operations, bytes;                 /* of all its kernels, by shapes, or else as counted; 0: not known */
    double counted_operations, counted_bytes; /* by the cores; 0: not counted */
    bool has_counted_operations, has_counted_bytes; /* `operations`, `bytes` are the counted ones */
    bool is_most;                                   /* see kernel_work.h */
    enum number_kind numbers;
    double share;             /* of its roof; NAN: no roof is known */
    int64_t begin_ns, end_ns; /* the longest run */
};

struct roofline {
    LIST(struct roofline_row) rows;       /* of which something is known; the longest first */
    double time_ns, known_ns;             /* of all kernels; of those in rows */
    double peak_operations[NUMBER_KINDS]; /* a second; 0: not known */
    double peak_bytes;
    bool is_observed; /* the peak of the memory is unknown: peak_bytes is the largest bandwidth that a row reached */
    /* While rows are added. */
    struct keys keys[sizeof(struct roofline_key) / sizeof(name_id) - 1];
    const struct names *names;
    struct arena *mem;
};

/* One run of a kernel, or of the kernels of one operator. */
struct roofline_run {
    double time_ns;
    int64_t begin_ns, end_ns;
    double counted_operations, counted_bytes;
};

void roofline_begin(struct roofline *r, const struct names *names, struct arena *mem);
bool roofline_add(struct roofline *r, const struct roofline_key *key,
                  const struct roofline_run *run);                   /* false: no memory */
void roofline_end(struct roofline *r, const struct device_facts *d); /* sorts, and finds the shares */

/* All of a directory: NPUs by the tensors of kernels, GPUs by those of the operators that launched them; collection:
 * NULL, or what the framework recorded. False: no memory. */
bool roofline_find(struct roofline *r, const struct profile *p, const struct collection *c, struct arena *mem);

#endif
