/* SPDX-License-Identifier: Apache-2.0 */
#include "ascope/schedule.h"

#include "collect/session/message.h"
#include "collect/options/sized.h"

#include <string.h>

static void check(struct ascope_schedule *s)
{
    const struct {
        const char *name;
        int64_t *value, least, otherwise;
    } part[] = {
        { "wait", &s->wait, 0, 0 },     { "active", &s->active, 1, 1 },         { "warmup", &s->warmup, 0, 0 },
        { "repeat", &s->repeat, 0, 0 }, { "skip_first", &s->skip_first, 0, 0 },
    };
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (*part[i].value >= part[i].least)
            continue;
        message(ASCOPE_WARNING, "schedule: %s: invalid value %lld, the minimum is %lld; using %lld", part[i].name,
                (long long)*part[i].value, (long long)part[i].least, (long long)part[i].otherwise);
        *part[i].value = part[i].otherwise;
    }
    if (s->warmup == 0 && s->active != ASCOPE_EVERY_STEP)
        message(ASCOPE_WARNING, "schedule: warmup=0: the first recorded step includes the profiler's start-up cost");
}

void ascope_schedule_check(struct ascope_schedule *s)
{
    const uint32_t size = s->size;
    struct ascope_schedule whole;
    if (!sized_copy(&whole, sizeof whole, s)) {
        message(ASCOPE_WARNING, "schedule: its size is not set; set it to sizeof(struct ascope_schedule)");
        return;
    }
    check(&whole);
    whole.size = size;
    memcpy(s, &whole, size < sizeof whole ? size : sizeof whole);
}

static unsigned __int128 at_least(int64_t value, int64_t least)
{
    return (unsigned __int128)(value < least ? least : value);
}

enum ascope_action ascope_schedule_action(const struct ascope_schedule *from, uint64_t step)
{
    struct ascope_schedule whole, *const s = &whole;
    if (!sized_copy(&whole, sizeof whole, from))
        return ASCOPE_NONE;
    const unsigned __int128 wait = at_least(s->wait, 0), warmup = at_least(s->warmup, 0),
                            active = at_least(s->active, 1);
    const unsigned __int128 cycle = wait + warmup + active, skipped = at_least(s->skip_first, 0);
    if (step < skipped)
        return ASCOPE_NONE;
    /* With skip_first_wait the first cycle does not wait. */
    const unsigned __int128 past = step - skipped + (s->skip_first_wait != 0 ? wait : 0), at = past % cycle;
    if (s->repeat > 0 && past / cycle >= at_least(s->repeat, 0))
        return ASCOPE_NONE;
    if (at < wait)
        return ASCOPE_NONE;
    if (at < wait + warmup)
        return ASCOPE_WARMUP;
    return at < cycle - 1 ? ASCOPE_RECORD : ASCOPE_RECORD_AND_SAVE;
}
