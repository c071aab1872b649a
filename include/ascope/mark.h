/* SPDX-License-Identifier: Apache-2.0 */
/* mark.h - points and ranges that a user puts into a program, in domains that can be switched off one by one.
 *
 * Ranges may end on another thread than they began on, and overlap at will. With a stream the mark is launched on the
 * device, too, and shows when the device reached it. A message is text of up to 4 KiB (the rest is cut off); one that
 * is empty or begins with = + - @ is refused, as spreadsheets would run it. mstx.h has the same under the names that
 * existing programs call.
 */
#ifndef ASCOPE_MARK_H
#define ASCOPE_MARK_H

#include "ascope/record.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ascope_domain; /* NULL is the domain "default" */

/* The same name gives the same domain; its lifetime is that of the process.
 * Errors: NULL: there are 1024 already, the name is not allowed (as a message), or no memory. Threads: any. */
ASCOPE_API struct ascope_domain *ascope_domain_get(const char *name);

/* Its marks are refused, and its open ranges stay open, until ascope_domain_get() is called for it again. Programs need
 * not call it. Errors: none; what is no domain is ignored. Threads: any. */
ASCOPE_API void ascope_domain_destroy(struct ascope_domain *d);

/* The functions behind the inline ones below, for bindings of other languages. Call them only while ascope_records() is
 * true. Errors, Threads: as of ascope_mark(), ascope_range_begin(), ascope_range_end(). */
ASCOPE_API void ascope_mark_record(struct ascope_domain *d, const char *message, void *stream);
ASCOPE_API uint64_t ascope_range_record(struct ascope_domain *d, const char *message, void *stream);
ASCOPE_API void ascope_range_record_end(struct ascope_domain *d, uint64_t id);

/* A point in time.
 * Errors: a message that is not allowed is ignored; without room the mark is dropped and counted.
 * Threads: any, and signal handlers if `stream` is NULL. */
static inline void ascope_mark(struct ascope_domain *d, const char *message, void *stream)
{
    if (ascope_records(ASCOPE_RECORDS_MARKS))
        ascope_mark_record(d, message, stream);
}

/* A range begins. Returns its id for ascope_range_end().
 * Errors: 0: not recorded now, a message that is not allowed, or no room (counted as a dropped mark).
 * Threads: any, and signal handlers if `stream` is NULL. */
static inline uint64_t ascope_range_begin(struct ascope_domain *d, const char *message, void *stream)
{
    return ascope_records(ASCOPE_RECORDS_MARKS) ? ascope_range_record(d, message, stream) : 0;
}

/* It ends, in the domain that it began in. Errors: an id that is 0, unknown or has ended already is ignored. Threads:
 * any; signal handlers if its stream was NULL. */
static inline void ascope_range_end(struct ascope_domain *d, uint64_t id)
{
    if (__builtin_expect(id != 0, 0))
        ascope_range_record_end(d, id);
}

/* The stream on which the recorded device runs the program's operators, for marks.
 * Errors: NULL: no device records marks now. Threads: any. */
ASCOPE_API void *ascope_current_stream(void);

#define ASCOPE_COLLECTIVES "communication"
struct ascope_collective {
    uint32_t size;         /* sizeof(struct ascope_collective) */
    const char *name;      /* "HcclAllreduce" */
    const char *group;     /* name of the communicator */
    const char *data_type; /* "fp16"; NULL: not known */
    uint64_t count;        /* of elements */
    int64_t stream_id;
    int32_t source_rank, destination_rank; /* of a receive, of a send; -1: neither */
};

/* The function behind ascope_collective_begin(). Errors, Threads: as of that one. */
ASCOPE_API uint64_t ascope_collective_record(const struct ascope_collective *c, void *stream);

/* A collective, send or receive begins: a range of the domain ASCOPE_COLLECTIVES, with the message that the framework's
 * own marks have. Ended by ascope_range_end(ascope_domain_get(ASCOPE_COLLECTIVES), id). Errors: as of
 * ascope_range_begin(); a size that is not set counts as a dropped mark. Threads: any. */
static inline uint64_t ascope_collective_begin(const struct ascope_collective *c, void *stream)
{
    return ascope_records(ASCOPE_RECORDS_MARKS) ? ascope_collective_record(c, stream) : 0;
}

/* What NCCL is launched for by this thread from now on, as a framework's backend knows it: no mark, but what the kernel
 * itself does not say. `count` is of the larger side; its stream and ranks are not recorded. Without a GPU that is
 * recorded it is ignored. Errors: a size that is not set: ignored. Threads: any. */
ASCOPE_API void ascope_collective_launch(const struct ascope_collective *c);

#ifdef __cplusplus
}
#endif
#endif
