/* SPDX-License-Identifier: Apache-2.0 */
#include "view/view_progress.h"

#include "base/background.h"
#include "base/progress.h"

void view_progress_begin(struct view_progress *p)
{
    atomic_store(&p->most, 0);
    view_progress_stage(p, VIEW_READING, 0, 0, 1);
    atomic_store(&p->begun_ns, steady_ns());
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

unsigned view_progress_percent(struct view_progress *p)
{
    const unsigned from = atomic_load(&p->from), until = atomic_load(&p->until);
    const double portion = (double)atomic_load(&p->worked) / (double)atomic_load(&p->expected);
    const unsigned width = until > from ? until - from : 0;
    const unsigned now = from + (unsigned)((portion < 1 ? portion : 1) * width);
    unsigned most = atomic_load(&p->most);
    while (now > most && !atomic_compare_exchange_weak(&p->most, &most, now))
        ;
    return now > most ? now : most;
}

uint64_t view_progress_ns(const struct view_progress *p)
{
    const uint64_t begun = atomic_load(&p->begun_ns);
    return begun ? steady_ns() - begun : 0;
}
