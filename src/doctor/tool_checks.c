/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/own_path.h"
#include "collect/os_calls/preload.h"

#if defined(__x86_64__)
#define LIB_OF_MACHINE "lib/x86_64-linux-gnu"
#elif defined(__aarch64__)
#define LIB_OF_MACHINE "lib/aarch64-linux-gnu"
#else
#define LIB_OF_MACHINE "lib"
#endif

static enum finding_state look_command(const struct examined *m, struct machine_finding *f)
{
    char path[PATH_MAX];
    (void)m;
    own_path(path);
    fact_set(f, "%s, %s", ASCOPE_VERSION, *path ? path : "path unknown");
    return FINDING_OK;
}

static bool is_in(struct machine_finding *f, const char *dir, const char *name, char out[PATH_MAX])
{
    char *const real = realpath(dir, NULL);
    if (!real)
        return false;
    place_add(f, "%s", real);
    const bool fits = snprintf(out, PATH_MAX, "%s/%s", real, name) < PATH_MAX;
    free(real);
    return fits && access(out, R_OK) == 0;
}

/* Searches the directories relative to the command (of a build tree, an installation, or a wheel, whose programs are
 * in bin of the package), then those of the loader. */
static enum finding_state library(struct machine_finding *f, const char *name)
{
    static const char *const beside[] = { ".", "../lib", ("../" LIB_OF_MACHINE), "../lib64", ".." };
    static const char *const system[] = { "/usr/local/lib", ("/usr/" LIB_OF_MACHINE), "/usr/lib64", "/usr/lib" };
    char own[PATH_MAX], dir[PATH_MAX + 64], path[PATH_MAX];
    bool is_found = false;
    if (own_path(own)) {
        *strrchr(own, '/') = '\0';
        for (size_t i = 0; i < sizeof beside / sizeof *beside && !is_found; i++) {
            snprintf(dir, sizeof dir, "%s/%s", own, beside[i]);
            is_found = is_in(f, dir, name, path);
        }
    }
    for (size_t i = 0; i < sizeof system / sizeof *system && !is_found; i++) {
        is_found = is_in(f, system[i], name, path);
    }
    fact_set(f, "%s", is_found ? path : "not found");
    return is_found ? FINDING_OK : FINDING_MISSING;
}

static enum finding_state look_library(const struct examined *m, struct machine_finding *f)
{
    (void)m;
    return library(f, "libascope.so.0");
}

static enum finding_state look_preload(const struct examined *m, struct machine_finding *f)
{
    char path[PATH_MAX];
    const char *const named = getenv("ASCOPE_RUN_LIBRARY");
    (void)m;
    if (named && *named)
        place_add(f, "$ASCOPE_RUN_LIBRARY: %s", named);
    else
        place_add(f, "beside the command, ../lib/ascope, ../lib64/ascope, ../lib/*/ascope");
    const bool is_found = preload_find(path);
    if (is_found && !preload_can_name(path)) {
        fact_set(f, "%s: ld.so loads nothing from a path with a blank or a colon", path);
        return FINDING_MISSING;
    }
    fact_set(f, "%s", is_found ? path : "not found");
    return is_found ? FINDING_OK : FINDING_MISSING;
}

static enum finding_state look_msprof(const struct examined *m, struct machine_finding *f)
{
    char path[PATH_MAX], own[PATH_MAX];
    struct stat a, b;
    (void)m;
    place_add(f, "PATH");
    if (!program_find("msprof", path)) {
        fact_set(f, "not in the PATH");
        return FINDING_NOT_APPLICABLE;
    }
    if (own_path(own) && stat(own, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
        fact_set(f, "%s: this ascope", path);
        effect_set(f, "msprof commands are those of ascope");
    } else {
        fact_set(f, "%s: another program", path);
        effect_set(f, "msprof commands are not those of this ascope");
    }
    return FINDING_OK;
}

/* clang-format off */
const struct machine_check tool_checks[] = {
    { "ascope", .look = look_command },
    { "libascope.so", .look = look_library,
      .effect = { [FINDING_OK] = "C and C++ programs can record themselves: marks, mstx, sessions",
                  [FINDING_MISSING] = "programs that load libascope do not start, or record nothing" },
      .advice = { [FINDING_MISSING] = "install ascope completely: make install, or the package" } },
    { PRELOAD_NAME, .look = look_preload,
      .effect = { [FINDING_OK] = "calls of libc and of the thread library are recorded (ascope run, host_sys=osrt)",
                  [FINDING_MISSING] = "calls of libc and of the thread library are not recorded" },
      .advice = { [FINDING_MISSING] = "install ascope completely, or set ASCOPE_RUN_LIBRARY" } },
    { "msprof", .look = look_msprof },
    { 0 },
};
/* clang-format on */
