/* SPDX-License-Identifier: Apache-2.0 */
#include "run/run_cuda.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/session/message.h"
#include "collect/os_calls/preload.h"
#include "collect/session/recover.h"
#include "run/output_record.h"

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

bool run_cuda_choose(const struct recorded_run *r, struct run_cuda *out)
{
    static const char lost[] = "GPUs are not recorded";
    const char *const device = r->recorder.device ? r->recorder.device : "auto";
    const char *const other = other_injection(r, CUDA_INJECTION);
    char dir[PATH_MAX];
    if (strcmp(device, "cuda") != 0 && (strcmp(device, "auto") != 0 || !has_gpu()))
        return false;
    if (other) {
        message(ASCOPE_WARNING, CUDA_INJECTION "=%.*s is set already; %s, and that library is loaded as before",
                (int)strcspn(other, ";"), other, lost);
        return false;
    }
    if (r->delay_s > 0 || r->duration_s > 0 || r->is_interactive) {
        message(ASCOPE_WARNING, "%s with a delay, a duration or interactively", lost);
        return false;
    }
    if (!library_find(out->library)) {
        message(ASCOPE_WARNING, "libascope.so is not installed with this ascope (ASCOPE_CUDA_LIBRARY can name it); %s",
                lost);
        return false;
    }
    if (!realpath(folder(r), dir) ||
        snprintf(out->where, sizeof out->where, "%d:%s", (int)getpid(), dir) >= (int)sizeof out->where) {
        message(ASCOPE_WARNING, "%s: its path cannot be passed to the program; %s", folder(r), lost);
        return false;
    }
    out->has_nvtx = !other_injection(r, NVTX_INJECTION);
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
