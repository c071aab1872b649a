/* mark.h - points and ranges that a user puts into a program, in domains that can be switched off one by one.
 *
 * Ranges may end on another thread than they began on, and overlap at will. With a stream the mark is launched on the device,
 * too, and shows when the device came to it. A message is text of up to 4 KiB; one that is empty or begins with = + - @ is
 * refused, as spreadsheets would run it. mstx.h has the same under the names that existing programs call.
 */
#ifndef ASCOPE_MARK_H
#define ASCOPE_MARK_H

#include "ascope/record.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ascope_domain; /* NULL is the domain "default" */

/* The same name gives the same domain; it lives as long as the process. NULL: more than 1024, or a name that is not allowed. */
ASCOPE_API struct ascope_domain *ascope_domain_get(const char *name);

/* Its marks are refused, and its open ranges stay open, until it is asked for again. For programs that do so; others need not. */
ASCOPE_API void ascope_domain_destroy(struct ascope_domain *d);

ASCOPE_API void ascope_mark_record(struct ascope_domain *d, const char *message, void *stream);
ASCOPE_API uint64_t ascope_range_record(struct ascope_domain *d, const char *message, void *stream);
ASCOPE_API void ascope_range_record_end(struct ascope_domain *d, uint64_t id);

static inline void ascope_mark(struct ascope_domain *d, const char *message, void *stream)
{
    if (ascope_records(ASCOPE_RECORDS_MARKS))
        ascope_mark_record(d, message, stream);
}

/* 0: not recording. */
static inline uint64_t ascope_range_begin(struct ascope_domain *d, const char *message, void *stream)
{
    return ascope_records(ASCOPE_RECORDS_MARKS) ? ascope_range_record(d, message, stream) : 0;
}

static inline void ascope_range_end(struct ascope_domain *d, uint64_t id)
{
    if (__builtin_expect(id != 0, 0))
        ascope_range_record_end(d, id);
}

/* The stream on which the recorded device runs the program's operators, for marks; NULL: no device records marks now. */
ASCOPE_API void *ascope_current_stream(void);

/* A collective or a send or receive, as a range of the domain "communication", on its stream: the same message that the
 * framework's own marks have. Ended by ascope_range_end(ascope_domain_get(ASCOPE_COLLECTIVES), id). */
#define ASCOPE_COLLECTIVES "communication"
struct ascope_collective {
    const char *name;      /* "HcclAllreduce" */
    const char *group;     /* name of the communicator */
    const char *data_type; /* "fp16"; NULL: not known */
    uint64_t count;        /* of elements */
    int64_t stream_id;
    int32_t source_rank, destination_rank; /* of a receive, of a send; -1: neither */
};
ASCOPE_API uint64_t ascope_collective_record(const struct ascope_collective *c, void *stream);

static inline uint64_t ascope_collective_begin(const struct ascope_collective *c, void *stream)
{
    return ascope_records(ASCOPE_RECORDS_MARKS) ? ascope_collective_record(c, stream) : 0;
}

#ifdef __cplusplus
}
#endif
#endif
