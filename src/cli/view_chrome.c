/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view_chrome.h"

#include <string.h>

#include "analyse/framework/spread.h"
#include "answers/run_chrome.h"
#include "cli/term.h"
#include "cli/view_chrome_work.h"

static bool step_keep(struct view_series *out, const struct run_step *from, const struct spread *spread,
                      const struct names *names, struct arena *mem)
{
    struct view_step *step = list_add(&out->steps, mem);
    if (!step)
        return false;
    *step = (struct view_step){ .name = arena_text(mem, names_text(names, from->name), names_len(names, from->name)),
                                .begin_ns = from->begin_ns,
                                .end_ns = from->end_ns,
                                .time_ns = from->part_ns[RUN_STEP],
                                .part_ns = { from->part_ns[RUN_COMPUTING] - from->overlapped_ns, from->overlapped_ns,
                                             from->part_ns[RUN_COMMUNICATION], from->part_ns[RUN_FREE] },
                                .is_slow = spread_is_outlier(spread, from->part_ns[RUN_STEP]) };
    return step->name != NULL;
}

static bool series_keep(struct view_input *in, const struct run_rank *rank, const struct names *names)
{
    struct arena *mem = in->mem;
    struct view_series *out = list_add(&in->series, mem);
    int64_t *time_ns = arena_take(mem, rank->n_steps, sizeof *time_ns);
    struct spread spread;
    char number[TERM_NUMBER];
    if (!out || !time_ns)
        return false;
    for (size_t i = 0; i < rank->n_steps; i++)
        time_ns[i] = rank->step[i].part_ns[RUN_STEP];
    if (!spread_find(&spread, time_ns, rank->n_steps))
        return false;
    *out = (struct view_series){ .median_ns = spread.median_ns };
    out->title = arena_printf(mem, "%zu step%s, median %s%s", rank->n_steps, rank->n_steps == 1 ? "" : "s",
                              term_duration(number, (double)spread.median_ns), rank->has_device ? "" : ", on the host");
    for (size_t i = 0; i < rank->n_steps; i++)
        if (!step_keep(out, &rank->step[i], &spread, names, mem))
            return false;
    return out->title && (view_slowest(out) || view_say_usual(in));
}

bool view_chrome_load(struct view_input *in, struct error *e)
{
    struct run_rank rank;
    if (!view_load_chrome(in, e))
        return false;
    struct names *names = names_new();
    const bool done = names && run_steps_of_chrome(&rank, &in->trace, names, in->mem) &&
                      (rank.n_steps == 0 || series_keep(in, &rank, names));
    names_free(names);
    return (done || error_no_memory(e, in->path)) && view_chrome_work(in, &in->trace, "", e);
}
