/* SPDX-License-Identifier: Apache-2.0 */
/* outputs.h - registry: the files of a collection while records are appended to them: one row for each stream and device.
 *
 * The writer and recovery share it. A file appears with its first record. After outputs_flush() the files hold
 * everything that was put, and outputs_state() returns their lengths; outputs_resume() truncates them to these lengths.
 * The first error is remembered; after it records are counted as dropped.
 */
#ifndef ASCOPE_COLLECT_WRITE_OUTPUTS_H
#define ASCOPE_COLLECT_WRITE_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/os_calls/os_call.h"
#include "collect/ring/ring.h"
#include "collect/ring/rings_file.h"
#include "collect/write/prof_writer.h"
#include "collect/write/streams.h"

struct output {
    struct slices slices;
    uint64_t n_records, n_bytes; /* records and bytes since the last flush */
    struct output_state last;    /* state of the file after the last flush */
    unsigned n_closed;           /* slices that outputs_age() knows to be complete */
    bool is_used;
};

struct closed_slice {
    uint16_t output;
    unsigned number;
};

struct outputs {
    struct prof_writer framework, prof;
    bool has_framework, has_prof;
    struct output output[OUTPUTS_MOST];
    uint16_t used[OUTPUTS_MOST]; /* in order of appearance */
    uint32_t n_used;
    uint64_t n_records, n_bytes;    /* written */
    uint64_t dropped[STREAM_KINDS]; /* records without a folder, or that the disk refused */
    struct stacks stacks;
    struct os_call_times times; /* clock of calls; set by the owner before it puts some */
    uint32_t rank;              /* used in names of files; set by the owner */
    bool keeps_processes;       /* no room for their files */

    struct closed_slice *closed; /* of streams that age, oldest first; from first_closed on they are there */
    size_t n_closed, first_closed, closed_room;
    uint64_t aged_slices, aged_bytes;
};

/* NULL: no such folder, its records are dropped. */
bool outputs_open(struct outputs *o, const char *framework_dir, const char *prof_dir, size_t slice_bytes,
                  struct error *e);
/* The same from descriptors, which the outputs close, of folders that are not trusted (prof_writer.h). -1: no such
 * folder. */
struct output_place {
    int dir;
    const char *path;
};
bool outputs_adopt(struct outputs *o, struct output_place framework, struct output_place prof, size_t slice_bytes,
                   struct error *e);
void outputs_put(struct outputs *o, struct record_head head, const uint8_t *bytes);
void outputs_flush(struct outputs *o);
/* errno value of the first error; 0: there is no error, or it has no errno value */
int outputs_why(const struct outputs *o);
bool outputs_are_well(const struct outputs *o, struct error *e); /* false: e has the first error */

uint32_t outputs_state(const struct outputs *o, struct output_state state[OUTPUTS_MOST]);
/* One file, as it was; the caller has checked the numbers. False: it is shorter now, or gone, and continued all the
 * same. */
bool outputs_resume(struct outputs *o, const struct output_state *state);
bool outputs_have(const struct outputs *o, unsigned stream, unsigned device);
bool output_exists(unsigned stream, unsigned device); /* there is such a row */

/* Deletes the oldest slices of streams that age until everything written and not deleted is within the limit. After a
 * commit. */
void outputs_age(struct outputs *o, uint64_t limit_bytes);

void outputs_sums(const struct outputs *o, struct file_tree *t); /* of a whole collection: checksums of its slices */
void outputs_close(struct outputs *o);                           /* the last slices get their markers */
/* After outputs_close(). is_complete: no recovery will be needed, and scratch files are removed. */
void outputs_leave(struct outputs *o, bool is_complete);
void outputs_forget(struct outputs *o); /* closes descriptors, and nothing else: for a forked child */
void outputs_rest(struct outputs *o);   /* closes them until they are used again, such as by another thread */

/* process_files.c: samples of every process of the machine: from one stream into a file for each of them.
 *
 * During the recording there is one file; commits include its length, as of any other file. When the recording ends,
 * or is recovered, it is split into PID-CpuUsage.data and PID-Memory.data. If the process is killed during that,
 * recovery does it again from the start. */

enum process_file { PROCESS_FILE_CPU, PROCESS_FILE_MEMORY, PROCESS_FILES };

struct process_bytes { /* in front of each sample */
    uint32_t pid, kind, bytes;
};

/* What cannot be written is the writer's error (prof_writer.h). The number of samples that could not be read: bytes
 * that make none. */
uint64_t process_files_make(const struct slices *from);

/* process_files.c: the text of one sample, and how it gets into its file: whole, and never into two slices. */

struct sample_text { /* begins as zeros; without memory it stays short, and is not put */
    char *at;
    size_t n, room;
    bool is_short;
};

/* room for more bytes after the text; NULL: no memory */
char *sample_text_room(struct sample_text *t, size_t bytes);
void sample_text_add(struct sample_text *t, const char *text, size_t n);
void sample_text_format(struct sample_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Of the sampler's own thread, which waits for the writer where the ring has little room left. Empties the text. */
void sample_text_put(struct sample_text *t, enum stream_id stream);
void sample_text_fini(struct sample_text *t);

#endif
