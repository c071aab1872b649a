/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/framework/collection_analyse.h"

#include "analyse/flow/flows.h"
#include "analyse/framework/op_tree.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "analyse/profile_analyse.h"

/* Finds which operators started what on the devices, and the steps. */
static bool connect(struct collection *s)
{
    const struct framework *f = &s->framework;
    return kernels_collect(&s->kernels, &s->profile, s->mem) &&
           op_tree_build(&s->tree, f, &s->kernels, s->profile.names, s->mem) &&
           profiler_steps_find(&s->steps, f, &s->tree, &s->kernels, s->profile.names, s->mem);
}

bool collection_analyse(struct collection *s, unsigned n_threads, struct error *e)
{
    if (s->has_device && !profile_analyse(&s->profile, n_threads, e))
        return false;
    if (!replays_find(s) || !connect(s) || names_failed(s->profile.names))
        return error_no_memory(e, s->path);
    return collection_marks_find(s, e) && memory_lives_analyse(s, e);
}

bool collection_is_simulated(const struct collection *s)
{
    return s->settings.is_simulated || s->collector.is_simulated ||
           (s->has_device && source_is_simulated(profile_main_source(&s->profile)));
}

void collection_losses(const struct collection *s, struct losses *out)
{
    losses_merge(out, &s->profile.lost);
    for (size_t i = 0; i < FRAMEWORK_FILES; i++)
        losses_merge(out, &s->framework.file[i].lost);
}
