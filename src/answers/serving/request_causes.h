/* SPDX-License-Identifier: Apache-2.0 */
/* request_causes.h - where the time of a request goes: the queue, its prompt, its tokens, and what it waited for.
 *
 * The names of iterations do not tell which requests they serve, but the request's tokens do: a token is of the
 * iteration in which it is marked, or else of the last one that had ended. The iteration of the first token computes the
 * prompt; before it the request is in the queue. In the queue and between its tokens, iterations that bring no token of
 * it are work for other requests (earlier chunks of its own prompt among them). Of its own iterations, what exceeds the
 * median of their class and size is named by what they did longer. The parts add up to the request. Without tokens
 * there is one stage: what the engine did while the request was open.
 */
#ifndef ASCOPE_ANSWERS_SERVING_REQUEST_CAUSES_H
#define ASCOPE_ANSWERS_SERVING_REQUEST_CAUSES_H

#include "answers/serving/requests.h"

enum request_stage { STAGE_QUEUE, STAGE_PROMPT, STAGE_TOKENS, STAGE_OPEN, REQUEST_STAGES };
extern const char *const request_stage_keys[REQUEST_STAGES]; /* "queue": for people and JSON */

struct request_part {
    enum request_stage stage;
    const char *what; /* "prompts of other requests", "sampling" */
    double ns;
    double longest_ns; /* the largest piece of it, and the step in which it is; NULL: between steps */
    const char *step;
};

struct request_causes {
    double ns;                       /* of the request */
    double stage_ns[REQUEST_STAGES]; /* they add up to it */
    size_t n;
    struct request_part *at; /* by stage, the largest first; they add up to their stage */
    double longest_wait_ns;  /* between two tokens */
};

/* Texts are in `mem`. False: no memory. */
bool request_causes_find(struct request_causes *out, const struct request *r, const struct step_series *s,
                         const struct run_rank *q, struct arena *mem);

#endif
