/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - requests of an inference server: when each arrived, got its tokens, and ended.
 *
 *     uint64_t r = ascope_request_begin("17");     on arrival
 *     ascope_request_first_token("17");
 *     ascope_request_token("17");                  each further one
 *     ascope_request_end("17", r);
 *
 * They are marks (mark.h) of the domain ASCOPE_REQUESTS: "request 17", "first_token 17", "token 17"; where marks are not
 * recorded, but operators are, they are points among these. `ascope why` reads them: time to first token, time per
 * token, and with --request ID where the time of one went. An id is any text without spaces and commas, the same in all
 * calls; calls of one request may be on different threads.
 *
 * Errors: an id that is NULL, empty, or longer than 200 bytes is ignored; without room a mark is dropped and counted.
 * Threads: any, and signal handlers.
 */
#ifndef ASCOPE_REQUEST_H
#define ASCOPE_REQUEST_H

#include "ascope/mark.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASCOPE_REQUESTS "request"

enum ascope_request_event {
    ASCOPE_REQUEST_BEGIN,
    ASCOPE_REQUEST_FIRST_TOKEN,
    ASCOPE_REQUEST_TOKEN,
    ASCOPE_REQUEST_END
};

/* The function behind the inline ones below, for bindings of other languages. Of a begin the id of its range; 0: it is
 * not recorded. Of an end `range` is that id. Errors, Threads: as above. */
ASCOPE_API uint64_t ascope_request_record(enum ascope_request_event event, const char *id, uint64_t range);

/* It arrived. Returns what ascope_request_end() takes; 0: it is not recorded. Errors, Threads: as above. */
static inline uint64_t ascope_request_begin(const char *id)
{
    return ascope_records(ASCOPE_RECORDS_MARKS | ASCOPE_RECORDS_OPERATORS)
               ? ascope_request_record(ASCOPE_REQUEST_BEGIN, id, 0)
               : 0;
}

/* Its first token is there. Errors, Threads: as above. */
static inline void ascope_request_first_token(const char *id)
{
    if (ascope_records(ASCOPE_RECORDS_MARKS | ASCOPE_RECORDS_OPERATORS))
        ascope_request_record(ASCOPE_REQUEST_FIRST_TOKEN, id, 0);
}

/* A further token is there. Errors, Threads: as above. */
static inline void ascope_request_token(const char *id)
{
    if (ascope_records(ASCOPE_RECORDS_MARKS | ASCOPE_RECORDS_OPERATORS))
        ascope_request_record(ASCOPE_REQUEST_TOKEN, id, 0);
}

/* It is done, or was aborted. With `range` 0 it began before the recording. Errors, Threads: as above. */
static inline void ascope_request_end(const char *id, uint64_t range)
{
    if (range != 0 || ascope_records(ASCOPE_RECORDS_MARKS | ASCOPE_RECORDS_OPERATORS))
        ascope_request_record(ASCOPE_REQUEST_END, id, range);
}

#ifdef __cplusplus
}
#endif
#endif
