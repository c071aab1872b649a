/* SPDX-License-Identifier: Apache-2.0 */
#include "view/server/view_progress.h"

#include <pthread.h>

#include "base/process/background.h"

static pthread_mutex_t showing = PTHREAD_MUTEX_INITIALIZER; /* of the time left: several pages may ask */

void view_progress_begin(struct view_progress *p)
{
    atomic_store(&p->most, 0);
    view_progress_stage(p, VIEW_READING, 0, 0, 1);
    pthread_mutex_lock(&showing);
    p->left = (struct progress_left){ .shown_s = -1 };
    atomic_store(&p->begun_ns, steady_ns());
    pthread_mutex_unlock(&showing);
    progress_count_in(&p->worked);
}

void view_progress_stage(struct view_progress *p, enum view_stage stage, unsigned from, unsigned until,
                         uint64_t expected)
{
    atomic_store(&p->until, from); /* between two stages nothing is claimed */
    atomic_store(&p->worked, 0);
    atomic_store(&p->expected, expected ? expected : 1);
    atomic_store(&p->from, from);
    atomic_store(&p->stage, stage);
    atomic_store(&p->until, until);
}

void view_progress_end(struct view_progress *p)
{
    progress_count_in(NULL);
    atomic_store(&p->most, 100);
}

static double percent_of(const struct view_progress *p)
{
    const unsigned from = atomic_load(&p->from), until = atomic_load(&p->until);
    const double portion = (double)atomic_load(&p->worked) / (double)atomic_load(&p->expected);
    return from + (portion < 1 ? portion : 1) * (until > from ? until - from : 0);
}

unsigned view_progress_percent(struct view_progress *p)
{
    const unsigned now = (unsigned)percent_of(p);
    unsigned most = atomic_load(&p->most);
    while (now > most && !atomic_compare_exchange_weak(&p->most, &most, now))
        ;
    return now > most ? now : most;
}

double view_progress_left_s(struct view_progress *p)
{
    const uint64_t begun = atomic_load(&p->begun_ns);
    pthread_mutex_lock(&showing);
    const double left_s =
        begun ? progress_left_s(&p->left, (double)(steady_ns() - begun) / 1e9, percent_of(p) / 100) : -1;
    pthread_mutex_unlock(&showing);
    return left_s;
}
