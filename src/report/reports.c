/* SPDX-License-Identifier: Apache-2.0 */
#include "report/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/json_memory.h"

/* All names that the file may contain, including those of chips for which there is no process. */
static const char *const known_word[] = {
    "acc_pmu",
    "ascend",
    "biu_perf",
    "block_detail",
    "cann",
    "ccu",
    "communication",
    "cpu_usage",
    "ddr",
    "device_tx",
    "disk_usage",
    "dpu",
    "freq",
    "fusion_task",
    "gpu_memory",
    "hbm",
    "hccs",
    "llc",
    "memory_usage",
    "msproftx",
    "network_usage",
    "nic",
    "npu_mem",
    "os_runtime_api",
    "overlap_analyse",
    "pcie",
    "qos",
    "roce",
    "sio",
    "stars_chip_trans",
    "stars_soc",
    "step_trace",
    "ub",
};

static const char *find_word(const char *word)
{
    for (size_t i = 0; i < sizeof known_word / sizeof *known_word; i++)
        if (strcmp(known_word[i], word) == 0)
            return known_word[i];
    return strcmp(word, "hccl") == 0 ? "communication" : NULL; /* its name in earlier releases */
}

static bool show_all(struct processes *out, const char *path, const char *why, const char *which)
{
    out->name = NULL;
    out->n = 0;
    snprintf(out->advice, sizeof out->advice, "%.100s: %s%.40s; every process is shown", path, why, which);
    return true;
}

bool reports_read(const char *path, struct arena *mem, struct processes *out, struct error *e)
{
    *out = (struct processes){ 0 };
    const char *real = realpath(path, NULL); /* links given by the user are followed, unlike those in a collection */
    struct stat st;
    int why = errno;
    const int fd = real ? file_open(AT_FDCWD, real, &st, &why) : -1;
    free((char *)real);
    if (fd < 0)
        return error_set(e, why == ENOMEM ? FAULT_LIMIT : FAULT_IO, "%s: cannot be read: %s", path, read_trouble(why));
    char *text = arena_take(mem, (size_t)st.st_size, 1);
    size_t len = 0;
    why = ENOMEM;
    const bool is_read = text && file_read(fd, text, (size_t)st.st_size, &len, &why);
    close(fd);
    if (!is_read)
        return error_set(e, why == ENOMEM ? FAULT_LIMIT : FAULT_IO, "%s: cannot be read: %s", path, read_trouble(why));
    json_error_t wrong;
    json_t *root = json_read(text, len, 0, &wrong);
    json_t *wanted = json_object_get(root, "json_process"), *value;
    const char *word;
    bool done = true;
    if (!root && json_memory_failed())
        done = error_no_memory(e, path);
    else if (!root)
        done = show_all(out, path, "is no JSON: ", wrong.text);
    else if (json_object_size(wanted) == 0)
        done = show_all(out, path, "has no object with names under ", "json_process");
    else if (!(out->name = arena_take(mem, json_object_size(wanted), sizeof *out->name)))
        done = error_no_memory(e, path);
    else
        json_object_foreach(wanted, word, value)
        {
            const char *known = find_word(word);
            if (!known || !json_is_boolean(value)) {
                show_all(out, path, known ? "wanted true or false for " : "there is no process ", word);
                break;
            }
            if (json_is_true(value))
                out->name[out->n++] = known;
        }
    json_decref(root);
    return done;
}
