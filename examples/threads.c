/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - many threads that record at once: no lock, no call of the system between them.
 *
 *     threads [DIR [THREADS]]
 *
 * Workers prepare batches; the main thread calls operators, and hands what they launch to a thread of its own, as
 * frameworks do: the queue's points tie operators to the kernels that another thread launched for them.
 */
#include <ascope/ascope.h>
#include <ascope/sim.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCHES = 100, OPERATORS = 50, THREADS_MOST = 512 };

static void *prepare(void *number)
{
    struct ascope_domain *d = ascope_domain_get("workers");
    char text[48];
    for (int i = 0; i < BATCHES; i++) {
        snprintf(text, sizeof text, "batch %d of worker %zu", i, (size_t)number);
        const uint64_t range = ascope_range_begin(d, text, NULL);
        struct ascope_op op;
        ascope_op_begin(&op, "decode");
        ascope_op_end(&op);
        ascope_range_end(d, range);
    }
    return NULL;
}

/* The queue: one task at a time is enough to show it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_full, is_over;

static void *launch(void *unused)
{
    static const struct ascope_sim_tensor t = { ASCOPE_SIM_FLOAT, 2, { 256, 256 } };
    const struct ascope_sim_kernel kernel = { "Add", NULL, &t, &t, 1, 1 };
    (void)unused;
    for (uint64_t id = 0;; id++) {
        pthread_mutex_lock(&lock);
        while (!is_full && !is_over)
            pthread_cond_wait(&changed, &lock);
        const bool has_task = is_full;
        is_full = false;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        if (!has_task)
            return NULL;
        ascope_queue_point(ASCOPE_DEQUEUE_BEGIN, id, ascope_text_of("Add"));
        ascope_sim_launch(NULL, &kernel);
        ascope_queue_point(ASCOPE_DEQUEUE_END, id, ascope_text_of("Add"));
    }
}

static void call(uint64_t id)
{
    struct ascope_op op;
    ascope_op_begin(&op, "aten::add");
    ascope_queue_point(ASCOPE_ENQUEUE_BEGIN, 0, ascope_text_of("Add"));
    pthread_mutex_lock(&lock);
    while (is_full)
        pthread_cond_wait(&changed, &lock);
    is_full = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    ascope_queue_point(ASCOPE_ENQUEUE_END, id, ascope_text_of("Add"));
    ascope_op_end(&op);
}

int main(int n, char **arg)
{
    const int n_workers = n > 2 && atoi(arg[2]) > 0 && atoi(arg[2]) <= THREADS_MOST ? atoi(arg[2]) : 8;
    struct ascope_error e;
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = n > 1 ? arg[1] : ".";
    o.device = "sim";
    o.mstx = true;

    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e)) {
        fprintf(stderr, "threads: %s\n", e.text);
        return 1;
    }
    pthread_t worker[THREADS_MOST], launcher;
    pthread_create(&launcher, NULL, launch, NULL);
    for (int i = 0; i < n_workers; i++)
        pthread_create(&worker[i], NULL, prepare, (void *)(size_t)i);
    for (uint64_t id = 0; id < OPERATORS; id++)
        call(id);
    for (int i = 0; i < n_workers; i++)
        pthread_join(worker[i], NULL);
    pthread_mutex_lock(&lock);
    is_over = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(launcher, NULL);
    ascope_sim_synchronize(NULL);

    printf("%s\n", ascope_session_path(s));
    if (!ascope_session_stop(s, &e) || !ascope_session_end(s, &e)) {
        fprintf(stderr, "threads: %s\n", e.text);
        return 1;
    }
    return 0;
}
