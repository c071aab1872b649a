/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - a collection in a folder of memory, built from the pieces of an input.
 *
 * A piece is the path of a file below PROF_XXX, a newline, and its bytes: "host/data/aging.api_event.data.slice_0\n…".
 * Settings that no piece gives are there as they should be, so that most inputs get past them. What PyTorch records
 * ("FRAMEWORK/torch.op_mark", "profiler_info_0.json") lies beside the PROF directory: the folder is a session then.
 */
#ifndef ASCOPE_FUZZ_FOLDER_H
#define ASCOPE_FUZZ_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define FOLDER_PROF "PROF_1_1_A"
static char folder[64];

static const char *const folder_settings[][2] = {
    { "host/info.json",
      "{\"platform_version\":\"5\",\"pid\":\"8\",\"pid_name\":\"python3\",\"CPU\":[{\"Frequency\":\"100.000000\"}],"
      "\"DeviceInfo\":[],\"devices\":\"0\"}" },
    { "host/sample.json", "{\"ai_core_profiling_mode\":\"task-based\",\"prof_level\":\"l1\"}" },
    { "host/start_info", "{\"collectionTimeBegin\":\"1719973045939512\",\"clockMonotonicRaw\":\"4319205000000\"}" },
    { "host/end_info", "{\"collectionTimeEnd\":\"1719973045953636\"}" },
    { "host/host_start.log", "[Host]\nclock_monotonic_raw: 4319205000000\ncntvct: 431920500000\ncntvct_diff: 0\n" },
    { "device_0/info.json.0",
      "{\"platform_version\":\"5\",\"DeviceInfo\":[{\"hwts_frequency\":\"50.000000\",\"aic_frequency\":\"1850\","
      "\"aiv_frequency\":\"1850\",\"ai_core_num\":24,\"aiv_num\":48,\"ctrl_cpu_num\":1}],\"CPU\":[{\"Frequency\":\"100.000000\"}]}" },
    { "device_0/sample.json",
      "{\"ai_core_profiling_mode\":\"task-based\",\"ai_core_metrics\":\"PipeUtilization\","
      "\"ai_core_profiling_events\":\"0x8,0xa,0x9,0xb,0xc,0xd,0x55,0x54\",\"prof_level\":\"l1\"}" },
    { "device_0/start_info.0",
      "{\"collectionTimeBegin\":\"1719973045939512\",\"clockMonotonicRaw\":\"4319205000000\"}" },
    { "device_0/end_info.0", "{\"collectionTimeEnd\":\"1719973045953636\"}" },
    { "device_0/host_start.log.0",
      "[Host]\nclock_monotonic_raw: 4319205000000\ncntvct: 431920500000\ncntvct_diff: 0\n" },
    { "device_0/dev_start.log.0", "[Device]\nclock_monotonic_raw: 300\ncntvct: 40\n" },
};

static void folder_put(const char *path, const void *bytes, size_t size)
{
    char full[256];
    const bool is_beside = strncmp(path, "FRAMEWORK/", 10) == 0 || strncmp(path, "profiler_", 9) == 0;
    snprintf(full, sizeof full, "%s/%s%s", folder, is_beside ? "" : FOLDER_PROF "/", path);
    const int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return;
    if (write(fd, bytes, size) < 0)
        abort();
    close(fd);
}

/* Only plain names right where files of a collection lie: an input must not write elsewhere. */
static bool folder_takes(const char *path)
{
    static const char *const places[] = { "host/data/", "device_0/data/", "host/",  "device_0/",
                                          "FRAMEWORK/", "profiler_",      "ascope." };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const size_t len = strlen(places[i]);
        if (strncmp(path, places[i], len) == 0)
            return path[len] && path[len] != '.' && !strchr(path + len, '/') && strlen(path) < 120;
    }
    return false;
}

enum folder_parts { FOLDER_COLLECTION = 1, FOLDER_FRAMEWORK = 2 };

static void folder_build(const uint8_t *data, size_t size, unsigned parts)
{
    static const struct {
        const char *path;
        unsigned part;
    } dirs[] = {
        { "", FOLDER_COLLECTION | FOLDER_FRAMEWORK },
        { "/FRAMEWORK", FOLDER_FRAMEWORK },
        { "/" FOLDER_PROF, FOLDER_COLLECTION },
        { "/" FOLDER_PROF "/host", FOLDER_COLLECTION },
        { "/" FOLDER_PROF "/host/data", FOLDER_COLLECTION },
        { "/" FOLDER_PROF "/device_0", FOLDER_COLLECTION },
        { "/" FOLDER_PROF "/device_0/data", FOLDER_COLLECTION },
    };
    snprintf(folder, sizeof folder, "%s/ascope-fuzz-%ld", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (long)getpid());
    char path[256];
    for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
        snprintf(path, sizeof path, "%s%s", folder, dirs[i].path);
        if (dirs[i].part & parts && mkdir(path, 0700) != 0)
            abort();
    }
    for (size_t i = 0; i < sizeof folder_settings / sizeof *folder_settings; i++)
        folder_put(folder_settings[i][0], folder_settings[i][1], strlen(folder_settings[i][1]));
    struct piece piece;
    while (piece_next(&data, &size, &piece)) {
        const uint8_t *end = piece.size ? memchr(piece.data, '\n', piece.size) : NULL;
        const size_t len = end ? (size_t)(end - piece.data) : 0;
        if (!end || len >= 128 || memchr(piece.data, 0, len))
            continue;
        memcpy(path, piece.data, len);
        path[len] = 0;
        if (folder_takes(path))
            folder_put(path, end + 1, piece.size - len - 1);
    }
}

static int folder_forget(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void folder_remove(void)
{
    nftw(folder, folder_forget, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
