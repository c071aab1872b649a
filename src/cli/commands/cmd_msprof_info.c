/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/text/json_memory.h"
#include "cli/options/command.h"
#include "load/prof/prof.h"
#include "report/term.h"

enum { JSON_MOST = 16 << 20 }; /* info.json of a real machine has a few kilobytes */

/* ---- the files of the folder ---- */

static json_t *read_json(int dir, const char *name)
{
    struct stat st;
    size_t got;
    int why;
    json_t *read = NULL;
    const int fd = file_open(dir, name, &st, &why);
    char *text = fd >= 0 && st.st_size > 0 && st.st_size <= JSON_MOST ? malloc((size_t)st.st_size) : NULL;
    if (text && file_read(fd, text, (size_t)st.st_size, &got, &why))
        read = json_read(text, got, 0, NULL);
    free(text);
    if (fd >= 0)
        close(fd);
    return read;
}

/* Whether a name is the stem, or the stem with a number: "info.json" in host, "info.json.0" in device_0. */
static bool is_named(const char *name, const char *stem)
{
    const size_t len = strlen(stem);
    return strncmp(name, stem, len) == 0 &&
           (!name[len] || (name[len] == '.' && name[len + 1] && !name[len + 1 + strspn(name + len + 1, "0123456789")]));
}

/* Reads the first such file of a folder. NULL: none can be read. */
static json_t *find_json(const char *folder, const char *stem)
{
    DIR *dir = inside_list(folder);
    json_t *read = NULL;
    int why;
    for (const char *name; dir && !read && (name = dir_next(dir, &why));)
        if (is_named(name, stem))
            read = read_json(dirfd(dir), name);
    if (dir)
        closedir(dir);
    return read;
}

static void add_size(void *sum, const char *path, const struct stat *st)
{
    (void)path;
    *(uint64_t *)sum += (uint64_t)st->st_size;
}

static uint64_t bytes_below(const char *folder)
{
    uint64_t sum = 0;
    dir_walk(folder, add_size, &sum);
    return sum;
}

/* ---- the answer ---- */

static json_t *value_or(const json_t *object, const char *key, json_t *otherwise)
{
    json_t *value = json_object_get(object, key);
    if (!value)
        return otherwise;
    json_decref(otherwise);
    return json_incref(value);
}

static json_t *value_of(const json_t *object, const char *key)
{
    return value_or(object, key, json_null());
}

/* "0.150157 MB": up to six decimals, at least one. */
static json_t *size_json(const char *folder)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%.6f", (double)bytes_below(folder) / (1 << 20));
    while (text[n - 1] == '0' && text[n - 2] != '.')
        n--;
    snprintf(text + n, sizeof text - (size_t)n, " MB");
    return json_string(text);
}

static const struct {
    const char *name, *key; /* in the answer, and in DeviceInfo of info.json */
} device_keys[] = {
    { "AI Core Number", "ai_core_num" },
    { "AI CPU Number", "ai_cpu_core_num" },
    { "Control CPU Number", "ctrl_cpu_core_num" },
    { "Control CPU Type", "ctrl_cpu_id" },
    { "Device Id", "id" },
    { "TS CPU Number", "ts_cpu_core_num" },
};

static json_t *device_json(const json_t *info)
{
    const json_t *device = json_array_get(json_object_get(info, "DeviceInfo"), 0);
    json_t *all = json_object();
    for (size_t i = 0; device && i < sizeof device_keys / sizeof *device_keys; i++)
        json_object_set_new(all, device_keys[i].name, value_or(device, device_keys[i].key, json_string("")));
    return all;
}

static json_t *host_json(const json_t *info)
{
    const json_t *cpus = json_object_get(info, "CPU");
    json_t *list = json_array();
    json_int_t n_cpus = 0;
    for (size_t i = 0; i < json_array_size(cpus); i++) {
        const json_t *cpu = json_array_get(cpus, i);
        if (!json_object_get(cpu, "Id"))
            continue;
        n_cpus += setting_number(cpu, "Logical_CPU_Count", 0);
        json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "CPU ID",
                                              json_sprintf("CPU%lld", (long long)setting_number(cpu, "Id", 0)), "Name",
                                              value_of(cpu, "Name"), "Type", value_of(cpu, "Type"), "Frequency",
                                              value_of(cpu, "Frequency"), "Logical_CPU_Count",
                                              value_of(cpu, "Logical_CPU_Count")));
    }
    return json_pack("{s:o, s:I, s:o, s:o}", "cpu_info", list, "cpu_num", n_cpus, "Host Computer Name",
                     value_of(info, "hostname"), "Host Operating System", value_of(info, "OS"));
}

/* Models are unknown without reading everything, which would take too long; `msprof.py query` lists them. The
 * reference reads them from its intermediate databases and, without those, answers the same. */
static json_t *models_json(const json_t *info)
{
    const char *device = setting_text(info, "devices");
    if (!*device || device[strspn(device, "0123456789")])
        return json_array();
    return json_pack("[{s:I, s:s, s:s}]", "Device Id", (json_int_t)setting_number(info, "devices", 0),
                     "Iteration Number", "N/A", "Model Id", "N/A");
}

static json_t *msprof_info_answer(const char *folder, const json_t *info, const json_t *start, const json_t *end)
{
    return json_pack("{s:i, s:s, s:{s:{s:o, s:o, s:o}, s:o, s:o, s:{s:o}, s:{s:s, s:o, s:o}}}", "status", 0, "info", "",
                     "data", "collection_info", "Collection end time", value_of(end, "collectionTimeEnd"),
                     "Collection start time", value_of(start, "collectionTimeBegin"), "Result Size", size_json(folder),
                     "device_info", device_json(info), "host_info", host_json(info), "model_info", "iterations",
                     models_json(info), "version_info", "analysis_version", "1.0", "collection_version",
                     value_or(info, "version", json_string("N/A")), "drv_version",
                     value_or(info, "drvVersion", json_integer(0)));
}

static enum exit_status msprof_info_describe(const char *folder)
{
    json_t *info = find_json(folder, "info.json"), *start = find_json(folder, "start_info"),
           *end = find_json(folder, "end_info");
    enum exit_status status = STATUS_NOTHING;
    json_t *all = json_is_object(info) ? msprof_info_answer(folder, info, start, end) : NULL;
    char *text = all ? json_dumps(all, JSON_ENSURE_ASCII) : NULL;
    if (text && !json_memory_failed()) {
        puts(text);
        status = STATUS_DONE;
    } else if (json_memory_failed() || all) {
        complain_no_memory("the description");
    } else {
        complain("%s: no readable info.json; give the folder host or device_N of a PROF_XXX directory", folder);
    }
    free(text);
    json_decref(all);
    json_decref(info);
    json_decref(start);
    json_decref(end);
    return status;
}

/* ---- the command ---- */

static const uint8_t info_options[] = { OPT_DIR, OPT_HELP };
static const struct command info_command = {
    .name = "get_msprof_info.py",
    .usage = "-dir PROF_XXX/host|PROF_XXX/device_N",
    .text = "Describes the machine of a collection as one line of JSON: CPUs, device, times, versions.",
    .option = info_options,
    .n_options = sizeof info_options,
};

int msprof_info_main(int argc, char **argv)
{
    struct arguments a = arguments_new(FACE_MSPROF_PY);
    enum exit_status status = STATUS_USAGE;
    if (!options_parse(&info_command, argc, argv, &a)) {
        status = arguments_refused(&a);
    } else if (a.help || argc < 2) {
        help_command(a.face, &info_command);
        status = STATUS_DONE;
    } else if (!a.dir || a.n_words > 0) {
        complain("%s; give -dir, the folder host or device_N of a PROF_XXX directory",
                 a.dir ? "unexpected argument" : "missing -dir");
    } else {
        status = msprof_info_describe(a.dir);
    }
    arguments_end(&a);
    return exit_code(FACE_MSPROF_PY, status);
}
