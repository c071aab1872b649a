/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/rank_readers.h"

#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "cluster/job/job.h"

static bool ends_with(const char *text, const char *end)
{
    const size_t len = strlen(text), n = strlen(end);
    return len >= n && strcmp(text + len - n, end) == 0;
}

/* The path of the first entry by name; NULL: there is none. */
static const char *first_entry(const char *dir, const char *prefix, struct arena *mem)
{
    DIR *const d = dir ? inside_list(dir) : NULL;
    const char *least = NULL, *name;
    int why;
    while (d && (name = dir_next(d, &why)))
        if (strncmp(name, prefix, strlen(prefix)) == 0 && !ends_with(name, ".done") &&
            (!least || strcmp(name, least) < 0))
            least = arena_text(mem, name, strlen(name));
    if (d)
        closedir(d);
    return least ? arena_printf(mem, "%s/%s", dir, least) : NULL;
}

/* Numbers are texts in some versions. */
static double rank_device_number_of(const json_t *json)
{
    const char *const text = json_string_value(json);
    return text ? strtod(text, NULL) : json_number_value(json);
}

bool rank_device_read(struct device_facts *out, const char *collection, struct arena *mem)
{
    static const double most = 1e6; /* cores, MHz */
    const char *device = first_entry(collection, "device_", mem);
    device = device ? device : first_entry(first_entry(collection, "PROF_", mem), "device_", mem);
    json_t *const info = rank_text_json(first_entry(device, "info.json", mem));
    const json_t *const of = json_array_get(json_object_get(info, "DeviceInfo"), 0);
    const double platform = rank_device_number_of(json_object_get(info, "platform_version")),
                 n_cores = rank_device_number_of(json_object_get(of, "ai_core_num")),
                 mhz = rank_device_number_of(json_object_get(of, "aic_frequency"));
    const bool is_known = platform >= 0 && platform < most && n_cores > 0 && n_cores < most && mhz > 0 && mhz < most;
    if (is_known)
        *out = (struct device_facts){ chip_of((int)platform), (uint32_t)n_cores, mhz, NULL };
    json_decref(info);
    return is_known;
}

bool rank_reload(const struct mode_context *c, int64_t rank, unsigned parts, struct arena *mem, struct rank *out,
                 bool *is_there, struct error *e)
{
    struct error why = { 0 };
    int exit_code;
    if (c->rank && c->rank->identity.rank == rank && !(parts & ~c->rank_parts)) {
        *out = *c->rank;
        return *is_there = true;
    }
    const size_t i = job_place(c->job, rank);
    *is_there = i < c->job->ranks.n && job_load(c->job, i, parts, mem, out, &exit_code, &why);
    return *is_there || why.fault != FAULT_LIMIT || error_set(e, FAULT_LIMIT, "%s", why.text);
}

bool note_absent(struct results *out, const struct mode_context *c, size_t n_ranks)
{
    return n_ranks == 0 ||
           results_note(out, "%s: %zu ranks have only summaries, without single tasks and operators; they are left out",
                        c->mode->name, n_ranks);
}
