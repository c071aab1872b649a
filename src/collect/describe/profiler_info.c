/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/describe/recording_files.h"

#include <stdio.h>
#include <string.h>

#include "base/text/framework_names.h"
#include "collect/options/option_values.h"
#include "collect/session/place.h"

static const char *boolean(bool is_true)
{
    return is_true ? "true" : "false";
}

static void schedule(struct json_text *t, const struct ascope_session *s)
{
    const struct ascope_schedule *p = &s->plan;
    json_text_add(t, ",\n            \"schedule\": ");
    if (s->has_plan)
        json_text_add(t,
                      "{\n                \"wait\": %lld,\n                \"active\": %lld,\n"
                      "                \"warmup\": %lld,\n                \"repeat\": %lld,\n"
                      "                \"skip_first\": %lld,\n                \"skip_first_wait\": %lld\n            }",
                      (long long)p->wait, (long long)p->active, (long long)p->warmup, (long long)p->repeat,
                      (long long)p->skip_first, (long long)p->skip_first_wait);
    else
        json_text_add(t, "%s", s->has_schedule ? "{}" : "null");
}

/* What the table of options says that it has. The schedule is behind the activities, as PyTorch's own file has it. */
static void section(struct json_text *t, const struct ascope_session *s, uint32_t section, const char *name)
{
    const char *comma = "";
    json_text_add(t, "        \"%s\": {", name);
    for (size_t i = 0; i < n_recorder_options; i++) {
        const struct recorder_option *r = &recorder_options[i];
        if (r->is.section != section)
            continue;
        json_text_add(t, "%s\n            \"%s\": ", comma, r->is.key);
        option_json(&s->o, r, t);
        if (strcmp(r->is.key, "activities") == 0)
            schedule(t, s);
        comma = ",";
    }
    json_text_add(t, "\n        }");
}

bool profiler_info_write(const struct ascope_session *s, struct error *e)
{
    struct json_text t = { 0 };
    char path[PATH_MAX + 64], suffix[24] = "";
    /* Whoever reads it makes the wall clock's distance from the end. Before that is known, the beginning has the
     * same. */
    const struct clock_reading *end = s->last.wall_ns ? &s->last : &s->first;
    json_text_add(&t, "{\n    \"config\": {\n");
    section(&t, s, ASCOPE_SECTION_COMMON, "common_config");
    json_text_add(&t, ",\n");
    section(&t, s, ASCOPE_SECTION_EXPERIMENTAL, "experimental_config");
    json_text_add(
        &t,
        "\n    },\n    \"start_info\": {\n        \"syscnt_enable\": %s,\n        \"freq\": %.9f,\n        "
        "\"start_cnt\": %llu,\n"
        "        \"start_monotonic\": %llu\n    },\n    \"end_info\": {\n        \"collectionTimeEnd\": %llu,\n"
        "        \"MonotonicTimeEnd\": %llu\n    },\n",
        boolean(host_clock_is_counter), s->mhz, (unsigned long long)s->first.count,
        (unsigned long long)s->first.mono_raw_ns, (unsigned long long)end->wall_ns,
        (unsigned long long)end->mono_raw_ns);
    if (s->rank >= 0) {
        const char *const quote = s->rank_is_text ? "\"" : "";
        json_text_add(&t, "    \"rank_id\": %s%d%s,\n", quote, s->rank, quote);
        snprintf(suffix, sizeof suffix, "_%d", s->rank);
    }
    if (s->n_devices > 0 && s->devices[0].is.is_simulated)
        json_text_add(&t, "    \"simulated\": true,\n");
    json_text_add(&t, "    \"environment\": ");
    metadata_environment(&t, NOTED_VARIABLES);
    json_text_add(&t, ",\n");
    json_text_add(&t, "    \"ascope_version\": \"%s\"\n}", ascope_version());
    snprintf(path, sizeof path, "%s/profiler_info%s.json", s->path, suffix);
    const bool is_written = t.is_short ? error_no_memory(e, path) : place_file(path, t.at, t.n, session_how(s), e);
    json_text_fini(&t);
    return is_written;
}
