/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ascend/ascend_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

const struct ascend_library ascend_libraries[ASCEND_LIBRARIES] = {
    [ASCEND_MSPROFILER] = { "libmsprofiler.so", "starting and stopping the profiler (aclprof)", false, false },
    [ASCEND_ACL] = { "libascendcl.so", "the device that the program uses (ACL)", false, true },
    [ASCEND_DRIVER] = { "libascend_hal.so", "the driver: devices, chips, clocks", true, false },
    [ASCEND_PROFAPI] = { "libprofapi.so", "where the profiler writes", false, true },
    [ASCEND_RUNTIME] = { "libruntime.so", "marks on streams of the device", false, true },
};

/* clang-format off */
#define CALL(field) .at = offsetof(struct ascend_calls, field)
const struct ascend_symbol ascend_symbols[] = {
    { "aclprofInit", "profiling", ASCEND_MSPROFILER, ASCEND_ACL, true, CALL(prof_init) },
    { "aclprofCreateConfig", "profiling", ASCEND_MSPROFILER, ASCEND_ACL, true, CALL(prof_create_config) },
    { "aclprofStart", "profiling", ASCEND_MSPROFILER, ASCEND_ACL, true, CALL(prof_start) },
    { "aclprofStop", "profiling", ASCEND_MSPROFILER, ASCEND_ACL, true, CALL(prof_stop) },
    { "aclprofDestroyConfig", "profiling", ASCEND_MSPROFILER, ASCEND_ACL, true, CALL(prof_destroy_config) },
    { "aclprofFinalize", "profiling", ASCEND_MSPROFILER, ASCEND_ACL, true, CALL(prof_finalize) },
    { "aclprofSetConfig", "samplers and the storage limit", ASCEND_MSPROFILER, ASCEND_MSPROFILER, false, CALL(prof_set_config) },
    { "aclprofWarmup", "the warm-up", ASCEND_MSPROFILER, ASCEND_MSPROFILER, false, CALL(prof_warmup) },
    { "aclprofRegisterDeviceCallback", "devices that the program opens later", ASCEND_MSPROFILER, ASCEND_MSPROFILER, false, CALL(prof_register_device) },
    { "aclrtGetDevice", "the program's own device", ASCEND_ACL, ASCEND_ACL, false, CALL(rt_get_device) },
    { "aclrtSynchronizeDevice", "waiting for the last tasks", ASCEND_ACL, ASCEND_ACL, false, CALL(rt_synchronize) },
    { "aclrtGetVersion", "the version of ACL", ASCEND_ACL, ASCEND_ACL, false, CALL(rt_version) },
    { "drvGetDevNum", "the number of devices", ASCEND_DRIVER, ASCEND_DRIVER, true, CALL(drv_count) },
    { "drvGetDevIDs", "numbers of devices", ASCEND_DRIVER, ASCEND_DRIVER, false, CALL(drv_ids) },
    { "halGetDeviceInfo", "chips, cores, frequencies and clocks", ASCEND_DRIVER, ASCEND_DRIVER, false, CALL(drv_info) },
    { "halGetAPIVersion", "the version of the driver", ASCEND_DRIVER, ASCEND_DRIVER, false, CALL(drv_version) },
    { "MsprofGetPath", "the name of the PROF directory", ASCEND_PROFAPI, ASCEND_PROFAPI, false, CALL(api_path) },
    { "rtProfilerTraceEx", "marks on streams", ASCEND_RUNTIME, ASCEND_RUNTIME, false, CALL(rt_trace) },
};
const size_t n_ascend_symbols = COUNT(ascend_symbols);

/* Directories that are tried after the libraries of the process and the loader's search path. */
static const struct {
    const char *variable, *path; /* of the environment: the path is below its value */
    bool is_of_driver;
} places[] = {
    { "ASCEND_HOME_PATH", "/lib64", false },
    { "ASCEND_TOOLKIT_HOME", "/lib64", false },
    { NULL, "/usr/local/Ascend/cann/lib64", false },
    { NULL, "/usr/local/Ascend/ascend-toolkit/latest/lib64", false },
    { NULL, "/usr/local/Ascend/driver/lib64", true },
    { NULL, "/usr/local/Ascend/driver/lib64/driver", true },
    { NULL, "/usr/local/Ascend/driver/lib64/common", true },
};
/* clang-format on */

/* ---- where ---- */

/* Directory i of the list. False: it is not for this library, or its environment variable is not set. CANN's fixed
 * directories are not searched for the driver's libraries, because CANN has stubs of them; directories of the
 * environment are. */
static bool place_of(size_t i, enum ascend_library_id library, char dir[PATH_MAX])
{
    const char *const value = places[i].variable ? secure_getenv(places[i].variable) : "";
    if (!value || (places[i].variable && !*value))
        return false;
    if (places[i].is_of_driver != ascend_libraries[library].is_of_driver && !places[i].variable)
        return false;
    return snprintf(dir, PATH_MAX, "%s%s", value, places[i].path) < PATH_MAX;
}

static bool is_file_in(const char *dir, size_t n, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%.*s/%s", (int)n, dir, name) < PATH_MAX && access(path, R_OK) == 0;
}

static bool is_in_path(const char *name)
{
    const char *at = secure_getenv("LD_LIBRARY_PATH");
    for (size_t n; at && *at; at += n + (at[n] != '\0'))
        if ((n = strcspn(at, ":;")) > 0 && is_file_in(at, n, name))
            return true;
    return false;
}

static bool is_in_places(enum ascend_library_id library)
{
    char dir[PATH_MAX];
    for (size_t i = 0; i < COUNT(places); i++)
        if (place_of(i, library, dir) && is_file_in(dir, strlen(dir), ascend_libraries[library].name))
            return true;
    return is_in_path(ascend_libraries[library].name);
}

void ascend_places(enum ascend_library_id library, char *text, size_t size)
{
    char dir[PATH_MAX];
    size_t used = (size_t)snprintf(text, size, "libraries of the process, the loader's search path");
    for (size_t i = 0; i < COUNT(places) && used < size; i++)
        if (place_of(i, library, dir))
            used += (size_t)snprintf(text + used, size - used, ", %s", dir);
}

/* ---- what the process has ---- */

static int is_named(struct dl_phdr_info *info, size_t size, void *name)
{
    const char *const slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    const char *const base = slash ? slash + 1 : info->dlpi_name ? info->dlpi_name : "";
    const size_t n = strlen(name);
    (void)size;
    return strncmp(base, name, n) == 0 && (base[n] == '\0' || base[n] == '.'); /* libascend_hal.so.1 */
}

bool ascend_is_loaded(enum ascend_library_id library)
{
    char name[64];
    snprintf(name, sizeof name, "%s", ascend_libraries[library].name);
    return dl_iterate_phdr(is_named, name) != 0;
}

/* /dev/davinci0 and so on, or the manager, which may be the only device file in a container. */
static bool has_device_file(void)
{
    enum { DEVICES = 64 };
    char path[40];
    if (access("/dev/davinci_manager", F_OK) == 0)
        return true;
    for (int i = 0; i < DEVICES; i++) {
        snprintf(path, sizeof path, "/dev/davinci%d", i);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

bool ascend_is_installed(void)
{
    for (int i = 0; i < ASCEND_LIBRARIES; i++)
        if (ascend_is_loaded((enum ascend_library_id)i))
            return true;
    return is_in_places(ASCEND_MSPROFILER) || is_in_places(ASCEND_DRIVER) || has_device_file();
}

/* ---- loading ---- */

static void *open_as(const char *file, int more, struct ascend_loaded *l, enum ascend_found found)
{
    void *const handle = dlopen(file, RTLD_LAZY | more);
    if (handle)
        l->found = found;
    return handle;
}

static void path_of(void *handle, struct ascend_loaded *l)
{
    const struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map && map->l_name)
        snprintf(l->path, sizeof l->path, "%s", map->l_name);
}

/* With RTLD_GLOBAL, as torch_npu loads them: the libraries are tested that way. NULL: l->reason says why. */
static void *library_open(enum ascend_library_id library, struct ascend_loaded *l, bool is_wanted)
{
    const char *const name = ascend_libraries[library].name;
    char dir[PATH_MAX], path[PATH_MAX];
    void *handle = open_as(name, RTLD_NOLOAD, l, ASCEND_WAS_LOADED);
    if (!handle && is_wanted)
        handle = open_as(name, RTLD_GLOBAL, l, ASCEND_BY_NAME);
    const char *const why = handle ? NULL : dlerror();
    snprintf(l->reason, sizeof l->reason, "%s", why ? why : "");
    for (size_t i = 0; i < COUNT(places) && !handle && is_wanted; i++) {
        if (!place_of(i, library, dir) || !is_file_in(dir, strlen(dir), name))
            continue;
        if (snprintf(path, sizeof path, "%s/%s", dir, name) < PATH_MAX)
            handle = open_as(path, RTLD_GLOBAL, l, ASCEND_BY_PATH);
        const char *const refused = handle ? NULL : dlerror(); /* it is there: this is what is worth knowing */
        if (refused)
            snprintf(l->reason, sizeof l->reason, "%s", refused);
    }
    if (handle)
        path_of(handle, l);
    return handle;
}

static void missing_add(struct ascend_loaded *l, const char *name)
{
    const size_t n = strlen(l->missing);
    snprintf(l->missing + n, sizeof l->missing - n, "%s%s", n > 0 ? ", " : "", name);
}

bool ascend_load(struct ascend_calls *calls, struct ascend_loaded loaded[ASCEND_LIBRARIES], bool everything)
{
    void *handle[ASCEND_LIBRARIES];
    bool is_whole = true;
    memset(calls, 0, sizeof *calls);
    memset(loaded, 0, ASCEND_LIBRARIES * sizeof *loaded);
    for (int i = 0; i < ASCEND_LIBRARIES; i++)
        handle[i] =
            library_open((enum ascend_library_id)i, &loaded[i], everything || !ascend_libraries[i].is_only_used);
    for (size_t i = 0; i < n_ascend_symbols; i++) {
        const struct ascend_symbol *s = &ascend_symbols[i];
        void *at = handle[s->library] ? dlsym(handle[s->library], s->name) : NULL;
        if (!at && s->older != s->library && handle[s->older])
            at = dlsym(handle[s->older], s->name);
        memcpy((char *)calls + s->at, &at, sizeof at);
        if (!at && handle[s->library])
            missing_add(&loaded[s->library], s->name);
        is_whole &= at || !s->is_needed;
    }
    return is_whole;
}
