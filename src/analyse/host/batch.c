/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/host/host_analysis.h"

#include <stdbool.h>

#include "base/memory/sort.h"
#include "raw/host_records.h"

void batch_of_device(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                     size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task)
{
    size_t done = 0, passed = 0; /* rows that have their batch; rows with time <= the flip's */
    uint16_t number = 0;
    for (size_t k = 0; k < n_flips && passed < n; k++, number++) {
        while (passed < n && time[order[passed]] <= flip_time[k])
            passed++;
        /* Ids at or below the flip's right before it already belong to the next round. */
        size_t end = passed;
        if (flip_task[k] != 0 && flip_task[k] != FLIP_STREAM_DESTROYED)
            while (end > 1 && end > done && task[order[end - 1]] <= flip_task[k])
                end--;
        for (; done < end; done++)
            batch[order[done]] = number;
    }
    for (; done < n; done++)
        batch[order[done]] = number;
}

/* `tie`: whether a task with the same time as a flip comes after it. */
static void count_flips(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                        size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task,
                        const uint16_t *flip_number, bool tie)
{
    uint16_t number = 0;
    size_t k = 0, last = 0; /* last: the first row after the previous flip; corrections do not go further back */
    for (size_t i = 0; i < n; i++) {
        for (; k < n_flips && (time[order[i]] > flip_time[k] || (tie && time[order[i]] == flip_time[k])); k++) {
            number++;
            for (size_t back = i; flip_number[k] != FLIP_STREAM_DESTROYED && back > last; back--) {
                if (task[order[back - 1]] >= flip_task[k])
                    break;
                batch[order[back - 1]] = number;
            }
            last = i;
        }
        batch[order[i]] = number;
    }
}

void batch_of_host(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                   size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task, const uint16_t *flip_number)
{
    count_flips(order, n, time, task, batch, n_flips, flip_time, flip_task, flip_number, false);
}

void batch_of_older(const uint32_t *order, size_t n, const uint64_t *time, const uint32_t *task, uint16_t *batch,
                    size_t n_flips, const uint64_t *flip_time, const uint16_t *flip_task, const uint16_t *flip_number)
{
    count_flips(order, n, time, task, batch, n_flips, flip_time, flip_task, flip_number, true);
}

void batch_by_number(const uint32_t *order, size_t n, const uint64_t *time, uint16_t *batch, size_t n_flips,
                     const uint64_t *flip_time, const uint16_t *flip_number)
{
    uint16_t number = 0, destroyed = 0;
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        for (; k < n_flips && time[order[i]] >= flip_time[k]; k++) {
            const bool is_end = flip_number[k] == FLIP_STREAM_DESTROYED;
            destroyed = (uint16_t)(destroyed + is_end);
            number = (uint16_t)((is_end ? number + 1 : flip_number[k] + destroyed));
        }
        batch[order[i]] = number;
    }
}

static void tally_add(struct host_tally *t, uint64_t v)
{
    t->n++;
    if (__builtin_add_overflow(t->sum, v, &t->sum))
        t->sum = UINT64_MAX;
    t->least = t->n == 1 || v < t->least ? v : t->least;
    t->most = v > t->most ? v : t->most;
}

bool tally_up(struct tallies *out, uint32_t *row, size_t n, const uint32_t *a, const uint32_t *b, const uint64_t *value,
              struct arena *mem)
{
    LIST(struct host_tally) found = { 0 };
    if ((b && !order_by_u32(row, n, b)) || !order_by_u32(row, n, a))
        return false;
    struct host_tally *last = NULL;
    for (size_t i = 0; i < n; i++) {
        const uint32_t r = row[i], second = b ? b[r] : 0;
        if (!last || last->a != a[r] || last->b != second) {
            last = list_add(&found, mem);
            if (!last)
                return false;
            *last = (struct host_tally){ .a = a[r], .b = second };
        }
        tally_add(last, value ? value[r] : 0);
    }
    *out = (struct tallies){ found.n, found.at };
    return true;
}
