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

#ifdef __cplusplus
}
#endif
#endif
