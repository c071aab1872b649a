/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/ascending.h"
#include "run/run.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/os_calls/preload.h"
#include "collect/session/message.h"
#include "collect/session/recover.h"

/* Finds the PROF directories that libraries inside the program have written.
 *
 * Such a library lists them in the file {pid of the collector}_profiling_output_record beside them. */

enum { RECORD_BYTES_MOST = 2 << 20 };

/* Only a directory directly in the parent, and no link: the text is untrusted and must not lead out of the folder. */
static bool is_collection(int parent, const char *name)
{
    struct stat st;
    return strncmp(name, "PROF_", 5) == 0 && !strchr(name, '/') &&
           fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static char *text_read(int parent, const char *name)
{
    struct stat st;
    const int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        st.st_size <= RECORD_BYTES_MOST && (text = calloc(1, (size_t)st.st_size + 1))) {
        const ssize_t got = read(fd, text, (size_t)st.st_size);
        text[got > 0 ? got : 0] = '\0';
        unlinkat(parent, name, 0);
    }
    if (fd >= 0)
        close(fd);
    return text;
}

/* Calls found(user, path) for each directory that the file of this process lists, sorted by name and without
 * duplicates, and removes the file. Lines that do not name a PROF directory are ignored. */
static void output_record_take(const char *parent, void (*found)(void *user, const char *path), void *user)
{
    char name[64];
    snprintf(name, sizeof name, "%d_profiling_output_record", (int)getpid());
    const int dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *const text = dir >= 0 ? text_read(dir, name) : NULL;
    char **lines = text ? calloc(strlen(text) + 1, sizeof *lines) : NULL;
    size_t n = 0;
    for (char *rest = text, *line; lines && (line = strsep(&rest, "\r\n"));)
        if (is_collection(dir, line))
            lines[n++] = line;
    if (n > 1)
        qsort(lines, n, sizeof *lines, compare_texts);
    for (size_t i = 0; i < n; i++) {
        char path[PATH_MAX];
        if ((i == 0 || strcmp(lines[i], lines[i - 1]) != 0) &&
            snprintf(path, sizeof path, "%s/%s", parent, lines[i]) < (int)sizeof path)
            found(user, path);
    }
    free(lines);
    free(text);
    if (dir >= 0)
        close(dir);
}

static bool has_gpu(void)
{
    glob_t files = { 0 };
    const bool is_there = glob("/dev/nvidia[0-9]*", 0, NULL, &files) == 0;
    globfree(&files);
    return is_there;
}

/* The value of an injection variable that the program would get without us, from --env or from our environment.
 * NULL: none. */
static const char *other_injection(const struct recorded_run *r, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = r->environment; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
        if (strncmp(at, name, n) == 0 && at[n] == '=')
            return at + n + 1;
    const char *const value = getenv(name);
    return value && *value ? value : NULL;
}

static const char *folder(const struct recorded_run *r)
{
    return r->recorder.parent_dir ? r->recorder.parent_dir : ".";
}

/* Whether libascope.so can record inside the program, and where. False: a warning has said why not. */
static bool can_inject(const struct recorded_run *r, const char *lost, char library[PATH_MAX], char where[PATH_MAX])
{
    char dir[PATH_MAX];
    if (r->delay_s > 0 || r->duration_s > 0 || r->is_interactive) {
        message(ASCOPE_WARNING, "%s with a delay, a duration or interactively", lost);
        return false;
    }
    if (!library_find(library)) {
        message(ASCOPE_WARNING, "libascope.so is not installed with this ascope (ASCOPE_CUDA_LIBRARY can name it); %s",
                lost);
        return false;
    }
    if (!realpath(folder(r), dir) || snprintf(where, PATH_MAX, "%d:%s", (int)getpid(), dir) >= PATH_MAX) {
        message(ASCOPE_WARNING, "%s: its path cannot be passed to the program; %s", folder(r), lost);
        return false;
    }
    return true;
}

bool run_cuda_choose(const struct recorded_run *r, struct run_cuda *out)
{
    static const char lost[] = "GPUs are not recorded";
    const char *const device = r->recorder.device ? r->recorder.device : "auto";
    const char *const other = other_injection(r, CUDA_INJECTION);
    if (strcmp(device, "cuda") != 0 && (strcmp(device, "auto") != 0 || !has_gpu()))
        return false;
    if (other) {
        message(ASCOPE_WARNING, CUDA_INJECTION "=%.*s is set already; %s, and that library is loaded as before",
                (int)strcspn(other, ";"), other, lost);
        return false;
    }
    if (!can_inject(r, lost, out->library, out->where))
        return false;
    out->has_nvtx = !other_injection(r, NVTX_INJECTION);
    return true;
}

static bool has_npu(void)
{
    glob_t files = { 0 };
    const bool is_there = glob("/dev/davinci[0-9]*", 0, NULL, &files) == 0;
    globfree(&files);
    return is_there;
}

bool run_mspti_choose(const struct recorded_run *r, struct run_mspti *out)
{
    static const char lost[] = "NPUs are not recorded";
    const char *const device = r->recorder.device ? r->recorder.device : "auto";
    char mspti[PATH_MAX], library[PATH_MAX];
    const bool is_named = strcmp(device, "mspti") == 0;
    if (!is_named && (strcmp(device, "auto") != 0 || !has_npu()))
        return false;
    if (!preload_find_mspti(mspti)) {
        message(ASCOPE_WARNING, "libmspti.so is not found (ASCEND_HOME_PATH can name its CANN); %s", lost);
        return false;
    }
    if (!can_inject(r, lost, library, out->where))
        return false;
    if (!preload_can_name(mspti) || !preload_can_name(library)) {
        message(ASCOPE_WARNING, "%s: LD_PRELOAD cannot name it; %s", preload_can_name(mspti) ? library : mspti, lost);
        return false;
    }
    snprintf(out->preload, sizeof out->preload, "%s:%s", mspti, library);
    return true;
}

struct run_cuda_taking {
    void (*found)(void *to, const char *path);
    void *to;
};

static void take(void *of, const char *path)
{
    const struct run_cuda_taking *const t = of;
    struct recovered recovered;
    struct error e = { 0 };
    const enum recovery how = collection_recover(path, &recovered, &e);
    if (how == RECOVERY_RUNNING) {
        message(ASCOPE_WARNING, "%s: a process of the program still records it; export it when that has ended", path);
        return;
    }
    if (how == RECOVERY_FAILED || how == RECOVERY_LOST)
        message(ASCOPE_WARNING, "%s", e.text);
    t->found(t->to, path);
}

void run_cuda_take(const struct recorded_run *r, void (*found)(void *to, const char *path), void *to)
{
    struct run_cuda_taking t = { found, to };
    output_record_take(folder(r), take, &t);
}
