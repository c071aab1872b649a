/* SPDX-License-Identifier: Apache-2.0 */
#include "open/recording_open.h"

#include "analyse/framework/collection_analyse.h"
#include "analyse/profile_analyse.h"
#include "load/prof/prof.h"

static bool open_collection(struct recording *l, const struct input *input, unsigned without, unsigned n_threads,
                            struct error *e)
{
    struct collection *s = &l->of_framework;
    const struct collection_request request = { .without = without, .n_threads = n_threads };
    if (!input->kind->load(s, input->path, &request, e))
        return false;
    s->steps_by = input->steps_by;
    if (!input->kind->analyse(s, n_threads, e))
        return false;
    losses_merge(&l->lost, &s->lost);
    collection_losses(s, &l->lost);
    l->is_lossy = s->device_error.fault != FAULT_NONE || losses_damage(&l->lost) > 0;
    l->collection = s;
    l->profile = &s->profile;
    return true;
}

static bool open_file(struct recording *l, const struct input *input, struct error *e)
{
    l->step_names = names_new();
    if (!l->step_names)
        return error_no_memory(e, input->path);
    if (!trace_open(&l->of_file, input, e))
        return false;
    losses_merge(&l->lost, &l->of_file.trace.lost);
    l->is_lossy = losses_damage(&l->lost) > 0;
    return true;
}

bool recording_open(struct recording *l, const struct input *input, unsigned without, unsigned n_threads,
                    struct error *e)
{
    *l = (struct recording){ 0 };
    if (input->file)
        return open_file(l, input, e);
    if (input->kind)
        return open_collection(l, input, without, n_threads, e);
    if (!profile_load_without(&l->own, input->path, without, n_threads, e) || !profile_analyse(&l->own, n_threads, e))
        return false;
    l->lost = l->own.lost;
    l->is_lossy = losses_damage(&l->lost) > 0;
    l->profile = &l->own;
    return true;
}

void recording_close(struct recording *l)
{
    if (l->of_framework.mem)
        collection_free(&l->of_framework);
    if (l->own.mem)
        profile_free(&l->own);
    trace_close(&l->of_file);
    names_free(l->step_names);
    *l = (struct recording){ 0 };
}

static uint64_t profile_bytes(const struct profile *p)
{
    const struct arena *const of[] = { p->mem, p->host.calls_mem, p->host.source.mem };
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        bytes += of[i] ? arena_bytes(of[i]) : 0;
    for (size_t i = 0; i < p->n_devices; i++)
        bytes += p->device[i].source.mem ? arena_bytes(p->device[i].source.mem) : 0;
    return bytes;
}

uint64_t recording_bytes(const struct recording *l)
{
    uint64_t bytes = l->of_file.trace.mem ? arena_bytes(l->of_file.trace.mem) + l->of_file.trace.n_bytes : 0;
    bytes += l->of_framework.mem ? arena_bytes(l->of_framework.mem) : 0;
    for (size_t i = 0; l->collection && i < FRAMEWORK_FILES; i++)
        bytes += l->collection->framework.file[i].mem ? arena_bytes(l->collection->framework.file[i].mem) : 0;
    return bytes + (l->profile ? profile_bytes(l->profile) : 0);
}

size_t recording_n_devices(const struct recording *l)
{
    if (!l->profile)
        return 1;
    return l->profile->n_devices > 0 ? l->profile->n_devices : l->collection ? 1 : 0;
}

const struct device *recording_device(const struct recording *l, size_t i)
{
    return l->profile && l->profile->n_devices > 0 ? &l->profile->device[i] : NULL;
}

struct run_rank recording_rank(const struct recording *l, size_t i)
{
    return l->profile ? run_rank_of(l->profile, recording_device(l, i), l->collection)
                      : run_rank_of_trace(&l->of_file.trace, l->step_names);
}

bool recording_is_simulated(const struct recording *l)
{
    return l->collection ? collection_is_simulated(l->collection) : l->profile && profile_is_simulated(l->profile);
}

const char *recording_loss(const struct recording *l, const char *path, struct arena *mem)
{
    uint64_t n = 0;
    const char *first = NULL;
    for (int i = 0; i < LOSS_KINDS; i++)
        if (loss_is_damage((enum loss)i) && l->lost.by[i].n > 0) {
            n += l->lost.by[i].n;
            first = first ? first : l->lost.by[i].file;
        }
    if (n == 0 && l->collection)
        return arena_printf(mem, "%s: without the device: %s", path, l->collection->device_error.text);
    const uint64_t n_unknown = l->lost.by[LOSS_DEVICE_KIND].n;
    if (n == n_unknown)
        return arena_printf(mem, "%s: %llu %s (%s); the answer does not count them", path, (unsigned long long)n,
                            loss_text(LOSS_DEVICE_KIND), l->lost.by[LOSS_DEVICE_KIND].file);
    return arena_printf(mem,
                        "%s: %llu %s could not be used%s%s; the answer ignores them, and ascope %s lists the reasons",
                        path, (unsigned long long)n, l->profile ? "records" : "events", first ? ", first: " : "",
                        first ? first : "", l->profile ? "analyse" : "view");
}
