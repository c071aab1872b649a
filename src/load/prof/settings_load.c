/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *setting_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

int64_t setting_number(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *v = json_object_get(object, key);
    if (json_is_integer(v))
        return json_integer_value(v);
    if (json_is_string(v)) {
        char *end;
        errno = 0;
        const long long n = strtoll(json_string_value(v), &end, 10);
        if (errno == 0 && end != json_string_value(v) && *end == 0)
            return n;
    }
    return otherwise;
}

/* The objects in which settings are. */
enum settings_load_part { PART_INFO, PART_CPU, PART_DEVICE, PART_SAMPLE, PARTS };

static const struct {
    enum settings_load_part part;
    const char *key;
    size_t at; /* of a `const char *` in struct settings */
} texts[] = {
    { PART_INFO, "version", offsetof(struct settings, version) },
    { PART_INFO, "jobInfo", offsetof(struct settings, job) },
    { PART_INFO, "devices", offsetof(struct settings, devices) },
    { PART_INFO, "hostname", offsetof(struct settings, hostname) },
    { PART_INFO, "hostUid", offsetof(struct settings, host_uid) },
    { PART_CPU, "Frequency", offsetof(struct settings, host_mhz) },
    { PART_DEVICE, "ai_cpu", offsetof(struct settings, ai_cpus) },
    { PART_DEVICE, "ctrl_cpu", offsetof(struct settings, ctrl_cpus) },
    { PART_SAMPLE, "ai_core_metrics", offsetof(struct settings, metrics[CORE_AIC]) },
    { PART_SAMPLE, "aiv_metrics", offsetof(struct settings, metrics[CORE_AIV]) },
    { PART_SAMPLE, "ai_core_profiling_events", offsetof(struct settings, events[CORE_AIC]) },
    { PART_SAMPLE, "aiv_profiling_events", offsetof(struct settings, events[CORE_AIV]) },
    { PART_SAMPLE, "l2CacheTaskProfilingEvents", offsetof(struct settings, l2_events) },
    { PART_SAMPLE, "npuEvents", offsetof(struct settings, npu_events) },
    { PART_SAMPLE, "qosEvents", offsetof(struct settings, qos_events) },
    { PART_SAMPLE, "ts_cpu_profiling_events", offsetof(struct settings, ts_cpu_events) },
};

static const struct {
    enum settings_load_part part;
    const char *key;
    size_t at; /* of an int64_t in struct settings */
    int64_t otherwise;
} numbers[] = {
    { PART_INFO, "rank_id", offsetof(struct settings, rank), -1 },
    { PART_INFO, "drvVersion", offsetof(struct settings, driver), 0 },
    { PART_INFO, "cpuNums", offsetof(struct settings, n_cpus), 0 },
    { PART_INFO, "sysClockFreq", offsetof(struct settings, ticks_per_s), 0 },
    { PART_INFO, "memoryTotal", offsetof(struct settings, memory_kb), 0 },
    { PART_SAMPLE, "host_disk_freq", offsetof(struct settings, disk_samples_per_s), 50 },
};

static const struct {
    const char *key, *word;
    size_t at; /* of a bool in struct settings */
} words[] = {
    { "ai_core_profiling_mode", "sample-based", offsetof(struct settings, samples_cores) },
    { "ai_core_profiling_mode", "task-based", offsetof(struct settings, counts_tasks) },
    { "dynamic", "on", offsetof(struct settings, is_dynamic) },
    { "llc_profiling", "read", offsetof(struct settings, llc_is_read) },
    { "llc_profiling", "write", offsetof(struct settings, llc_is_write) },
};

static const char *copy(const char *text, struct arena *mem)
{
    return *text ? arena_text(mem, text, strlen(text)) : "";
}

static void read_cards(struct settings *t, const json_t *list, struct arena *mem)
{
    t->card = arena_take(mem, json_array_size(list), sizeof *t->card);
    for (size_t i = 0; t->card && i < json_array_size(list); i++) {
        const json_t *card = json_array_get(list, i);
        t->card[t->n_cards++] = (struct net_card){ .name = copy(setting_text(card, "netCardName"), mem),
                                                   .mbits = json_number_value(json_object_get(card, "speed")) };
    }
}

/* Level 0 collections have names and times only. */
static bool is_level0(const json_t *sample)
{
    const char *level = setting_text(sample, "profLevel");
    if (!*level)
        level = setting_text(sample, "prof_level");
    return strcmp(level, "l0") == 0 || strcmp(level, "level0") == 0;
}

bool settings_load(struct settings *out, const json_t *info, const json_t *sample, struct arena *mem)
{
    const json_t *const part[PARTS] = {
        [PART_INFO] = info,
        [PART_CPU] = json_array_get(json_object_get(info, "CPU"), 0),
        [PART_DEVICE] = json_array_get(json_object_get(info, "DeviceInfo"), 0),
        [PART_SAMPLE] = sample,
    };
    struct settings t = { .is_level0 = is_level0(sample) };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *(const char **)((char *)&t + texts[i].at) = copy(setting_text(part[texts[i].part], texts[i].key), mem);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *(int64_t *)((char *)&t + numbers[i].at) =
            setting_number(part[numbers[i].part], numbers[i].key, numbers[i].otherwise);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        *(bool *)((char *)&t + words[i].at) = strcmp(setting_text(sample, words[i].key), words[i].word) == 0;
    if (sscanf(setting_text(info, "cannVersion"), "%5u.%5u", &t.cann_major, &t.cann_minor) != 2)
        t.cann_major = t.cann_minor = 0;
    read_cards(&t, json_object_get(info, "netCard"), mem);
    *out = t;
    return !arena_failed(mem);
}
