/* SPDX-License-Identifier: Apache-2.0 */
#include "report/collection_info.h"

#include <string.h>

#include "base/text/json_memory.h"
#include "report/loss_report.h"
#include "report/recording_report.h"
#include "raw/torch.h"

static const char *const level_name[] = { "Level_none", "Level0", "Level1", "Level2" };

/* Settings that are either on or off. */
static const struct {
    const char *name;
    size_t at;
} option[] = {
    { "record_shapes", offsetof(struct collection_settings, record_shapes) },
    { "profile_memory", offsetof(struct collection_settings, profile_memory) },
    { "with_stack", offsetof(struct collection_settings, with_stack) },
    { "with_modules", offsetof(struct collection_settings, with_modules) },
    { "l2_cache", offsetof(struct collection_settings, l2_cache) },
    { "sys_io", offsetof(struct collection_settings, sys_io) },
    { "sys_interconnection", offsetof(struct collection_settings, sys_interconnection) },
    { "data_simplification", offsetof(struct collection_settings, simplifies) },
};
enum { OPTION_ROWS = sizeof option / sizeof *option };

static bool is_on(const struct collection_settings *s, size_t i)
{
    bool on;
    memcpy(&on, (const char *)s + option[i].at, sizeof on);
    return on;
}

static const struct {
    const char *holds;
    uint16_t size; /* of a record; 0: records have variable length */
} file_about[FRAMEWORK_FILES] = {
    [FRAMEWORK_OPS] = { "operators and user ranges", 0 },
    [FRAMEWORK_MARKS] = { "tasks enqueued and dequeued", 0 },
    [FRAMEWORK_MEMORY] = { "memory allocated and freed", TLV_HEAD + 77 },
    [FRAMEWORK_PYTHON] = { "Python calls and returns", 33 },
    [FRAMEWORK_PYTHON_KEYS] = { "names of Python functions and modules", 0 },
    [FRAMEWORK_PARAMS] = { "parameters of modules and optimizers", 0 },
    [FRAMEWORK_GC] = { "Python garbage collections", 24 },
    [FRAMEWORK_SHAPES] = { "inputs of operators", 0 },
    [FRAMEWORK_HOST_OPS] = { "operators that ran on the host's CPU", 0 },
    [FRAMEWORK_MEMORY_TOTALS] = { "memory of the pool over time", 0 },
    [FRAMEWORK_MEMORY_TABLE] = { "lifetimes of memory, as a table", 0 },
    [FRAMEWORK_PIPELINE] = { "nodes of the dataset pipeline and their queues", 0 },
    [FRAMEWORK_PIPELINE_CPU] = { "CPU use of the dataset pipeline", 0 },
    [FRAMEWORK_PIPELINE_BATCHES] = { "batches of the dataset pipeline", 0 },
};

void collection_info_print(const struct term *t, const struct collection *s, const struct collection_look *l)
{
    const struct collection_settings *set = &s->settings;
    char bytes[READABLE_MOST], n[READABLE_MOST];
    fputs(term_ink(t, INK_BOLD), t->to);
    term_text(t, s->path, 0);
    fprintf(t->to, "%s\n  %s%s", term_ink(t, INK_END),
            s->collector.is_native ? "program" : framework_names[s->framework_id].name,
            set->is_simulated ? ", simulated" : "");
    if (set->has_rank)
        fprintf(t->to, ", rank %lld", (long long)set->rank);
    fprintf(t->to, ", %s, activities%s%s, export type%s%s\n  on:", level_name[set->level], set->has_cpu ? " CPU" : "",
            !set->has_npu                                                     ? ""
            : s->collector.device && strcmp(s->collector.device, "cuda") == 0 ? " CUDA"
                                                                              : " NPU",
            set->wants_text ? " text" : "", set->wants_db ? " db" : "");
    for (size_t i = 0; i < OPTION_ROWS; i++)
        if (is_on(set, i))
            fprintf(t->to, " %s", option[i].name);
    fputc('\n', t->to);
    recording_print(t, &s->collector);
    fputc('\n', t->to);
    for (size_t i = 0; i < FRAMEWORK_FILES; i++) {
        if (l->bytes[i] < 0)
            continue;
        const uint16_t size = s->framework_id == FRAMEWORK_PYTORCH ? file_about[i].size : 0;
        const uint64_t records = size ? (uint64_t)l->bytes[i] / size : 0;
        fprintf(t->to, "    %-38s %7s %11s %-8s %s%s%s\n", l->name[i], readable_bytes(bytes, (uint64_t)l->bytes[i]),
                size ? readable_count(n, records) : "",
                !size          ? ""
                : records == 1 ? "record"
                               : "records",
                term_ink(t, INK_DIM), file_about[i].holds, term_ink(t, INK_END));
    }
    losses_print(t, &s->lost);
    fputc('\n', t->to);
}

json_t *collection_info_json(const struct collection *s, const struct collection_look *l)
{
    const struct collection_settings *set = &s->settings;
    json_t *files = json_object(), *options = json_object();
    for (size_t i = 0; i < FRAMEWORK_FILES; i++)
        if (l->bytes[i] >= 0)
            json_object_set_new(files, l->name[i], json_integer(l->bytes[i]));
    for (size_t i = 0; i < OPTION_ROWS; i++)
        json_object_set_new(options, option[i].name, json_boolean(is_on(set, i)));
    return json_pack("{s:o, s:o, s:b, s:o, s:s, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:o}", "path", text_json(s->path),
                     "framework",
                     s->collector.is_native ? json_null() : json_string(framework_names[s->framework_id].name),
                     "simulated", set->is_simulated, "rank", set->has_rank ? json_integer(set->rank) : json_null(),
                     "level", level_name[set->level], "cpu", set->has_cpu, "npu", set->has_npu, "text", set->wants_text,
                     "db", set->wants_db, "options", options, "bytes", files, "recording",
                     recording_json(&s->collector), "losses", losses_json(&s->lost));
}
