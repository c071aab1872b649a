/* SPDX-License-Identifier: Apache-2.0 */
/* requests.h - the requests of an inference server in a recording, and how long they took.
 *
 * They are known where the server marks them (request_name.h): with ascope.request(), mstx, NVTX or record_function.
 *
 *     time to first token (TTFT)      from the arrival to the first token
 *     time per output token (TPOT)    from the first to the last token, by the number of tokens without the first
 *     interval between tokens (ITL)   from each token to the next one of its request
 */
#ifndef ASCOPE_ANSWERS_SERVING_REQUESTS_H
#define ASCOPE_ANSWERS_SERVING_REQUESTS_H

#include "answers/run/run_rank.h"
#include "answers/serving/engine_use.h"

struct request {
    const char *id;           /* not trusted */
    int64_t begin_ns, end_ns; /* of what was recorded of it */
    bool has_begin, has_end;  /* its arrival, its end were recorded */
    bool has_first;           /* token_ns[0] is its first token */
    size_t n_tokens;
    int64_t *token_ns;
};

struct requests {
    size_t n;
    struct request *at;                      /* by begin */
    struct quantiles ttft, tpot, itl, total; /* ns; total: from arrival to end */
};

/* Texts are in `mem`. False: no memory. */
bool requests_find(struct requests *out, const struct run_rank *q, struct arena *mem);

double request_ttft_ns(const struct request *r); /* -1: unknown, as of the next one */
double request_tpot_ns(const struct request *r);

/* The request of an id; of several the last. "slowest": the one whose TTFT or TPOT exceeds the median by the largest
 * factor. NULL: there is none. */
const struct request *request_choose(const struct requests *v, const char *id);

#endif
