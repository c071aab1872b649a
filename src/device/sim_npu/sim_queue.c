/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim_npu/sim_queue.h"

#include <pthread.h>
#include <string.h>

#include "ascope/record.h"
#include "base/process/background.h"
#include "collect/session/devices.h"
#include "device/sim_npu/sim_npu_parts.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    bool has_thread, is_prepared;
    uint64_t n_put, n_done;
    struct sim_queued task[SIM_QUEUE_TASKS];
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
            .filled = PTHREAD_COND_INITIALIZER,
            .emptied = PTHREAD_COND_INITIALIZER };

static __thread bool is_inside
    __attribute__((tls_model("initial-exec"))); /* this thread holds the lock, or is the queue's thread */

static void queue_lock(void)
{
    is_inside = true; /* before the lock is taken, because a signal handler may interrupt in between */
    pthread_mutex_lock(&queue.lock);
}

static void queue_unlock(void)
{
    pthread_mutex_unlock(&queue.lock);
    is_inside = false;
}

static void launch(const struct sim_queued *t)
{
    static const enum ascope_sim_copy direction[] = { [SIM_OP_TO_DEVICE] = ASCOPE_SIM_HOST_TO_DEVICE,
                                                      [SIM_OP_TO_HOST] = ASCOPE_SIM_DEVICE_TO_HOST,
                                                      [SIM_OP_COPY] = ASCOPE_SIM_DEVICE_TO_DEVICE };
    if (t->work == SIM_OP_KERNEL)
        ascope_sim_launch(NULL, &(struct ascope_sim_kernel){
                                    .type = t->type, .in = t->in, .out = t->out, .n_in = t->n_in, .n_out = t->n_out });
    else if (t->work == SIM_OP_EXCHANGE)
        sim_exchange_launch(t->bytes);
    else if (t->work == SIM_OP_JOIN)
        sim_exchange_join(t->bytes);
    else if (t->work == SIM_OP_MARK)
        device_mark(t->stream, t->bytes);
    else
        ascope_sim_copy(NULL, direction[t->work], t->bytes);
}

static void *sim_queue_run(void *unused)
{
    is_inside = true;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (queue.n_done == queue.n_put)
            pthread_cond_wait(&queue.filled, &queue.lock);
        const struct sim_queued *t =
            &queue.task[queue.n_done % SIM_QUEUE_TASKS]; /* the slot is not reused before n_done is increased */
        pthread_mutex_unlock(&queue.lock);
        const struct ascope_text name = ascope_text_of(t->type);
        ascope_queue_point(ASCOPE_DEQUEUE_BEGIN, t->id, name);
        launch(t);
        ascope_queue_point(ASCOPE_DEQUEUE_END, t->id, name);
        pthread_mutex_lock(&queue.lock);
        queue.n_done++;
        pthread_cond_broadcast(&queue.emptied);
    }
    return unused;
}

/* The child has a copy of the queue, but no thread: the queue is emptied. */
static void fork_child(void)
{
    pthread_mutex_init(&queue.lock, NULL);
    pthread_cond_init(&queue.filled, NULL);
    pthread_cond_init(&queue.emptied, NULL);
    queue.has_thread = false;
    queue.n_put = queue.n_done = 0;
}

static bool sim_queue_thread_start(void)
{
    pthread_t thread;
    if (!queue.is_prepared)
        queue.is_prepared = pthread_atfork(NULL, NULL, fork_child) == 0;
    const bool is_well = queue.is_prepared && background_thread(&thread, "ascope-queue", sim_queue_run, NULL) == 0;
    if (is_well)
        pthread_detach(thread);
    return is_well;
}

void sim_queue_put(struct sim_queued *task)
{
    const struct ascope_text name = ascope_text_of(task->type);
    ascope_queue_point(ASCOPE_ENQUEUE_BEGIN, 0, name);
    queue_lock();
    if (!queue.has_thread)
        queue.has_thread = sim_queue_thread_start();
    while (queue.has_thread && queue.n_put - queue.n_done == SIM_QUEUE_TASKS)
        pthread_cond_wait(&queue.emptied, &queue.lock);
    task->id = queue.n_put;
    if (queue.has_thread) {
        queue.task[queue.n_put++ % SIM_QUEUE_TASKS] = *task;
        pthread_cond_signal(&queue.filled);
    }
    queue_unlock();
    ascope_queue_point(ASCOPE_ENQUEUE_END, task->id, name);
}

bool sim_queue_mark(void *stream, uint64_t id)
{
    if (is_inside)
        return false;
    queue_lock();
    const bool is_used = queue.has_thread;
    queue_unlock();
    if (is_used)
        sim_queue_put(
            &(struct sim_queued){ .work = SIM_OP_MARK, .bytes = id, .stream = stream, .type = "mstx_mark_op" });
    return is_used;
}

/* Waits until everything that is in the queue now is launched. False: the queue is not in use. */
static bool queue_empty(void)
{
    queue_lock();
    const bool is_used = queue.has_thread;
    const uint64_t n = queue.n_put; /* not those that other threads add meanwhile */
    while (queue.n_done < n)
        pthread_cond_wait(&queue.emptied, &queue.lock);
    queue_unlock();
    return is_used;
}

void sim_queue_wait(void)
{
    queue_empty();
}

void ascope_sim_ops_wait(void)
{
    if (queue_empty())
        ascope_sim_synchronize(NULL);
}
