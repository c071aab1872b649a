/* SPDX-License-Identifier: Apache-2.0 */
/* framework_load.h - loads the files of a FRAMEWORK directory into columns. Which files there are, and what is in them,
 * is the format of a framework: torch_load.c, ms_load.c. */
#ifndef ASCOPE_LOAD_FRAMEWORK_FRAMEWORK_LOAD_H
#define ASCOPE_LOAD_FRAMEWORK_FRAMEWORK_LOAD_H

#include "base/process/clock.h"
#include "load/framework/tlv.h"
#include "profile/framework.h"

/* From the stamps in the records to wall-clock ns. */
struct framework_clock {
    bool is_counter; /* false: stamps are monotonic ns already */
    double ns_per_count;
    int64_t count, mono_ns; /* at the same instant */
    int64_t wall_offset_ns;
    struct ticks
        exact; /* ns per count as a fraction, which then counts instead of ns_per_count; num 0: there is none */
};
int64_t framework_ns(const struct framework_clock *c, uint64_t stamp);

struct framework_request;
struct framework_loading {
    struct framework *f;
    const struct framework_request *r;
    struct error error[FRAMEWORK_FILES];
};

struct framework_format {
    const char *name[FRAMEWORK_FILES]; /* "FRAMEWORK/torch.op_range"; NULL: it has no such file */
    /* Decodes the bytes of the file into columns, in the arena of the file. NULL: the loader of another file reads it
     * as well. */
    void (*load[FRAMEWORK_FILES])(struct framework_loading *l, struct framework_file *file);
};
#define FRAMEWORK_FILE(id) (UINT32_C(1) << (id))

struct framework_request {
    const struct framework_format
        *format; /* valid until framework_load() returns; its names as long as the framework */
    struct framework_clock clock;
    struct names *names;
    bool keeps_records; /* operators point at their records, and parameters are read */
    uint32_t only;      /* FRAMEWORK_FILE() of those that are loaded; 0: all */
    unsigned n_threads;
};

/* `path` must be valid as long as the framework. Damage is counted by file; a missing file is empty. False: out of
 * memory; framework_free() is required in both cases. */
bool framework_load(struct framework *f, const char *path, const struct framework_request *r, struct error *e);
void framework_free(struct framework *f);

/* For loaders of a format. framework_tlv(): the records of a file. framework_ids(): whether the ids of a process and a
 * thread, which have 64 bits in records, fit into 32 bits; if not, the record is counted as damaged. */
struct tlv framework_tlv(struct framework_file *f);
bool framework_ids(struct framework_file *f, uint64_t at, uint64_t process, uint64_t thread);

#endif
