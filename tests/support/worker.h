/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - a child process that does one thing at a time, when the test asks for it: nothing here depends on who is
 * faster. */
#ifndef ASCOPE_TESTS_WORKER_H
#define ASCOPE_TESTS_WORKER_H

#include "child.h"

#include <stdbool.h>
#include <stdint.h>

struct worker {
    pid_t pid;
    int ask, answer; /* of the child they are the other way round */
};

static inline void worker_send(int fd, uint64_t number)
{
    if (write(fd, &number, sizeof number) != sizeof number)
        abort();
}

/* False: the other side is gone. */
static inline bool worker_receive(int fd, uint64_t *number)
{
    return TEMP_FAILURE_RETRY(read(fd, number, sizeof *number)) == sizeof *number;
}

/* The child does what `serve` says for each number that it is sent, and answers with what that returns. */
static inline struct worker worker_start(uint64_t (*serve)(uint64_t asked))
{
    int ask[2], answer[2];
    assert_int_equal(pipe(ask), 0);
    assert_int_equal(pipe(answer), 0);
    const pid_t pid = child_fork();
    if (pid == 0) {
        close(ask[1]);
        close(answer[0]);
        for (uint64_t asked; worker_receive(ask[0], &asked);)
            worker_send(answer[1], serve(asked));
        _exit(0);
    }
    close(ask[0]);
    close(answer[1]);
    return (struct worker){ pid, ask[1], answer[0] };
}

static inline uint64_t worker_do(const struct worker *w, uint64_t asked)
{
    uint64_t answer = 0;
    worker_send(w->ask, asked);
    if (!worker_receive(w->answer, &answer))
        child_runs(w->pid);
    return answer;
}

static inline void worker_end(const struct worker *w)
{
    close(w->ask);
    close(w->answer);
    child_end_well(w->pid);
}

#endif
