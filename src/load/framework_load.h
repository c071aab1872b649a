/* SPDX-License-Identifier: Apache-2.0 */
/* framework_load.h - loads the files of a FRAMEWORK directory into columns. */
#ifndef ASCOPE_LOAD_FRAMEWORK_LOAD_H
#define ASCOPE_LOAD_FRAMEWORK_LOAD_H

#include "profile/framework.h"

extern const char *const framework_file_name[FRAMEWORK_FILES]; /* "FRAMEWORK/torch.op_range" */

/* From the stamps in the records to wall-clock ns. */
struct framework_clock {
    bool is_counter; /* false: stamps are monotonic ns already */
    double ns_per_count;
    int64_t count, mono_ns; /* at the same instant */
    int64_t wall_offset_ns;
};
int64_t framework_ns(const struct framework_clock *c, uint64_t stamp);

struct framework_request {
    struct framework_clock clock;
    struct names *names;
    bool keeps_records; /* operators point at their records, and parameters are read */
    bool only_memory;   /* the activity CPU was off: load only what concerns the device */
    unsigned n_threads;
};

/* `path` must be valid as long as the framework. Damage is counted by file; a missing file is empty. False: out of memory;
 * framework_free() is required in both cases. */
bool framework_load(struct framework *f, const char *path, const struct framework_request *r, struct error *e);
void framework_free(struct framework *f);

#endif
