/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process/pool.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/process/progress.h"

enum { MOST_THREADS = 64 };

struct pool {
    atomic_size_t next;
    size_t n;
    void (*job)(void *context, size_t i);
    void *context;
    atomic_ullong *counter; /* of the caller's work */
};

static void *work(void *arg)
{
    struct pool *p = arg;
    progress_count_in(p->counter);
    for (;;) {
        const size_t i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed); /* join orders the results */
        if (i >= p->n)
            return NULL;
        p->job(p->context, i);
    }
}

void pool_run(size_t n, unsigned n_threads, void (*job)(void *context, size_t i), void *context)
{
    struct pool p = { .n = n, .job = job, .context = context, .counter = progress_counter() };
    pthread_t thread[MOST_THREADS];
    unsigned started = 0;
    while (started + 1 < n_threads && started + 1 < n && started < MOST_THREADS &&
           pthread_create(&thread[started], NULL, work, &p) == 0)
        started++;
    work(&p);
    for (unsigned i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}
