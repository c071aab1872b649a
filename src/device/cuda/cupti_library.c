/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cupti_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process/limited_call.h"

uint32_t cuda_limit_s(void)
{
    return limit_seconds("ASCOPE_CUDA_LIMIT_S");
}

static const char cupti_name[] = "libcupti.so", driver_name[] = "libcuda.so.1";

/* ---- what the process has mapped ---- */

struct looking {
    const char *name; /* the beginning of the file's name */
    char *path;       /* "": not found yet */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *at)
{
    (void)size;
    const struct looking *l = at;
    const char *const slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!slash || strncmp(slash + 1, l->name, strlen(l->name)) != 0)
        return 0;
    snprintf(l->path, PATH_MAX, "%s", info->dlpi_name);
    return 1;
}

static bool is_mapped(const char *name, char path[PATH_MAX])
{
    struct looking l = { name, path };
    *path = '\0';
    dl_iterate_phdr(look_at, &l);
    return *path;
}

bool cuda_is_loaded(void)
{
    static const char *const any[] = { driver_name, "libcudart.so", "libcudart-", "libtorch_cuda", "libcupti.so" };
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        if (is_mapped(any[i], path))
            return true;
    return false;
}

/* ---- where the others are ---- */

/* The pattern for CUPTI beside PyTorch: pip installs CUDA's libraries for it in site-packages/nvidia/PART/lib. False:
 * PyTorch is not loaded. */
static bool beside_torch(char pattern[PATH_MAX])
{
    char path[PATH_MAX];
    if (!is_mapped("libtorch", path))
        return false;
    for (int up = 0; up < 3; up++) { /* torch/lib/libtorch.so */
        char *const slash = strrchr(path, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    return snprintf(pattern, PATH_MAX, "%s/nvidia/*/lib/libcupti.so*", path) < PATH_MAX;
}

enum { PLACES = 6 };

/* Fills the patterns of paths, in the order in which they are tried; returns their number. */
static size_t places(char pattern[PLACES][PATH_MAX])
{
    static const char *const homes[] = { "CUDA_HOME", "CUDA_PATH" };
    size_t n = 0;
    n += beside_torch(pattern[n]);
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        const char *const home = secure_getenv(homes[i]);
        if (home && *home && snprintf(pattern[n], PATH_MAX, "%s/extras/CUPTI/lib64/libcupti.so*", home) < PATH_MAX)
            n++;
        if (home && *home && snprintf(pattern[n], PATH_MAX, "%s/lib64/libcupti.so*", home) < PATH_MAX)
            n++;
    }
    if (n < PLACES)
        snprintf(pattern[n++], PATH_MAX, "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so*");
    return n;
}

void cuda_places(enum cuda_library which, char *text, size_t size)
{
    char pattern[PLACES][PATH_MAX];
    const size_t n = which == CUDA_CUPTI ? places(pattern) : 0;
    size_t used = (size_t)snprintf(text, size, "libraries of the process");
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, ", %s", pattern[i]);
    if (used < size)
        snprintf(text + used, size - used, ", the loader's search path");
}

/* ---- loading ---- */

static void *open_at(const char *path, int more, struct cuda_found *f)
{
    void *const handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | more);
    if (handle) {
        struct link_map *map = NULL;
        const bool is_known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && *map->l_name;
        snprintf(f->path, sizeof f->path, "%s", is_known ? map->l_name : path);
        f->is_found = true;
    } else {
        const char *const why = dlerror();
        if (why && !strstr(why, "No such file")) /* most places have none: a file that is there is worth knowing */
            snprintf(f->reason, sizeof f->reason, "%.290s", why);
    }
    return handle;
}

void cuda_absence(const struct cuda_found *f, const char *name, char *text, size_t size)
{
    if (*f->reason)
        snprintf(text, size, "%s cannot be loaded: %s", name, f->reason);
    else
        snprintf(text, size, "%s not found", name);
}

static void *open_like(const char *pattern, struct cuda_found *f)
{
    glob_t found = { 0 };
    void *handle = NULL;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = found.gl_pathc; i-- > 0 && !handle;) /* the newest last */
            handle = open_at(found.gl_pathv[i], 0, f);
    globfree(&found);
    return handle;
}

static void *cupti_open(struct cuda_found *f)
{
    static const char *const plain[] = { "libcupti.so", "libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8" };
    char pattern[PLACES][PATH_MAX];
    void *handle = is_mapped(cupti_name, pattern[0]) ? open_at(pattern[0], RTLD_NOLOAD, f) : NULL;
    const size_t n = handle ? 0 : places(pattern);
    for (size_t i = 0; i < n && !handle; i++)
        handle = open_like(pattern[i], f);
    for (size_t i = 0; i < sizeof plain / sizeof *plain && !handle; i++)
        handle = open_at(plain[i], 0, f);
    return handle;
}

static void *driver_open(struct cuda_found *f)
{
    char path[PATH_MAX];
    return is_mapped(driver_name, path) ? open_at(path, RTLD_NOLOAD, f) : open_at(driver_name, 0, f);
}

#define AT(function) offsetof(struct cupti_calls, function)
static const struct {
    enum cuda_library of;
    const char *name;
    size_t at;
    bool is_needed;
} functions[] = {
    { CUDA_CUPTI, "cuptiGetVersion", AT(version), true },
    { CUDA_CUPTI, "cuptiGetResultString", AT(error_text), false },
    { CUDA_CUPTI, "cuptiGetTimestamp", AT(timestamp), true },
    { CUDA_CUPTI, "cuptiSubscribe", AT(subscribe), true },
    { CUDA_CUPTI, "cuptiUnsubscribe", AT(unsubscribe), true },
    { CUDA_CUPTI, "cuptiEnableCallback", AT(enable_callback), true },
    { CUDA_CUPTI, "cuptiGetCallbackName", AT(callback_name), true },
    { CUDA_CUPTI, "cuptiActivityRegisterCallbacks", AT(register_buffers), true },
    { CUDA_CUPTI, "cuptiActivityEnable", AT(enable), true },
    { CUDA_CUPTI, "cuptiActivityDisable", AT(disable), true },
    { CUDA_CUPTI, "cuptiActivityFlushAll", AT(flush), true },
    { CUDA_CUPTI, "cuptiActivityGetNextRecord", AT(next_record), true },
    { CUDA_CUPTI, "cuptiActivityGetNumDroppedRecords", AT(n_dropped), true },
    { CUDA_CUPTI, "cuptiFinalize", AT(finalize), false },
    { CUDA_CUPTI, "cuptiGetGraphNodeId", AT(node_id), false },
    { CUDA_DRIVER, "cuDeviceGetCount", AT(device_count), true },
    { CUDA_DRIVER, "cuDeviceGetName", AT(device_name), false },
    { CUDA_DRIVER, "cuDeviceGetAttribute", AT(device_attribute), false },
    { CUDA_DRIVER, "cuDeviceGetPCIBusId", AT(device_bus), false },
    { CUDA_DRIVER, "cuDeviceTotalMem_v2", AT(device_bytes), false },
    { CUDA_DRIVER, "cuDevicePrimaryCtxGetState", AT(context_state), false },
    { CUDA_DRIVER, "cuDevicePrimaryCtxRetain", AT(context_retain), false },
    { CUDA_DRIVER, "cuDevicePrimaryCtxRelease_v2", AT(context_release), false },
    { CUDA_DRIVER, "cuCtxPushCurrent_v2", AT(context_push), false },
    { CUDA_DRIVER, "cuCtxPopCurrent_v2", AT(context_pop), false },
    { CUDA_DRIVER, "cuCtxSynchronize", AT(context_wait), false },
};

bool cupti_load(struct cupti_calls *calls, struct cuda_found found[CUDA_LIBRARIES])
{
    memset(calls, 0, sizeof *calls);
    memset(found, 0, CUDA_LIBRARIES * sizeof *found);
    void *const handle[CUDA_LIBRARIES] = {
        [CUDA_CUPTI] = cupti_open(&found[CUDA_CUPTI]), [CUDA_DRIVER] = driver_open(&found[CUDA_DRIVER])
    };
    bool is_whole = handle[CUDA_CUPTI] && handle[CUDA_DRIVER];
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        struct cuda_found *const f = &found[functions[i].of];
        void *const function = handle[functions[i].of] ? dlsym(handle[functions[i].of], functions[i].name) : NULL;
        memcpy((char *)calls + functions[i].at, &function, sizeof function);
        if (function || !functions[i].is_needed || !f->is_found)
            continue;
        is_whole = false;
        if (!*f->missing)
            snprintf(f->missing, sizeof f->missing, "%s", functions[i].name);
    }
    return is_whole;
}

int32_t cuda_count(const struct cupti_calls *c)
{
    int32_t n = 0;
    if (!c->device_count || c->device_count(&n) == 0)
        return n;
    glob_t files = { 0 };
    n = glob("/dev/nvidia[0-9]*", 0, NULL, &files) == 0 ? (int32_t)files.gl_pathc : 0;
    globfree(&files);
    return n;
}
