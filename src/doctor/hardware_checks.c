/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect/samplers/host_sampler.h"

enum { GIB = 1 << 30 };

/* ---- cgroups ---- */

/* The cgroup of this process below the mount of a controller. Controller "": cgroup v2, which has one path for all. */
static bool cgroup_path(const struct examined *m, const char *controller, char *out, size_t size)
{
    char text[8192], *rest = text;
    int why;
    if (!text_of(m, "/proc/self/cgroup", text, sizeof text, &why))
        return false;
    for (char *line; (line = strsep(&rest, "\n"));) { /* 4:cpu,cpuacct:/user.slice */
        strsep(&line, ":");
        char *names = line ? strsep(&line, ":") : NULL;
        if (!line || !names || (!*controller && *names))
            continue;
        bool is_it = !*controller;
        for (const char *name; !is_it && (name = strsep(&names, ","));)
            is_it = strcmp(name, controller) == 0;
        if (is_it) {
            snprintf(out, size, "%s", line);
            return true;
        }
    }
    return false;
}

/* The smallest limit in a cgroup and its ancestors; read() converts the text of the file. 0: there is no limit. */
static double cgroup_least(const struct examined *m, const char *mount, const char *path, const char *file,
                           double (*read)(const struct examined *m, const char *dir, const char *text))
{
    char dir[4096], name[4200], text[128];
    double least = 0;
    int why;
    size_t n = (size_t)snprintf(dir, sizeof dir, "%s%s", mount, path);
    if (n >= sizeof dir)
        return 0;
    for (;;) {
        snprintf(name, sizeof name, "%s/%s", dir, file);
        const double now = text_of(m, name, text, sizeof text, &why) ? read(m, dir, text) : 0;
        if (now > 0 && (least == 0 || now < least))
            least = now;
        if (n <= strlen(mount))
            return least;
        while (n > strlen(mount) && dir[--n] != '/')
            ;
        dir[n] = '\0';
    }
}

static double cgroup_limit(const struct examined *m, const char *controller, const char *file, const char *file_v1,
                           double (*read)(const struct examined *m, const char *dir, const char *text))
{
    char path[2048], mount[64];
    double limit = 0;
    if (cgroup_path(m, "", path, sizeof path))
        limit = cgroup_least(m, "/sys/fs/cgroup", path, file, read);
    if (limit == 0 && cgroup_path(m, controller, path, sizeof path)) {
        snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controller);
        limit = cgroup_least(m, mount, path, file_v1, read);
    }
    return limit;
}

/* CPUs: of "150000 100000" (cpu.max: quota and period), or of "150000" (cpu.cfs_quota_us; the period is in another
 * file). */
static double quota(const struct examined *m, const char *dir, const char *text)
{
    char name[4200], *end;
    int64_t period_us = 0;
    int why;
    const double quota_us = strtod(text, &end);
    if (end == text || quota_us <= 0)
        return 0;
    if (*end == ' ')
        period_us = strtoll(end, NULL, 10);
    snprintf(name, sizeof name, "%s/cpu.cfs_period_us", dir);
    if (period_us <= 0 && !number_of(m, name, &period_us, &why))
        return 0;
    return period_us > 0 ? quota_us / (double)period_us : 0;
}

static double bytes(const struct examined *m, const char *dir, const char *text)
{
    char *end;
    (void)m, (void)dir;
    const double n = strtod(text, &end);
    return end == text || n >= 0x1p62 ? 0 : n; /* "max" (v2) and a huge number (v1) mean that there is no limit */
}

static enum finding_state look_cpus(const struct examined *m, struct machine_finding *f)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    cpu_set_t set;
    const int allowed = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)online;
    const double limit = cgroup_limit(m, "cpu", "cpu.max", "cpu.cfs_quota_us", quota);
    place_add(f, "/proc/self/cgroup, /sys/fs/cgroup");
    fact_set(f, "%ld online, %d allowed", online, allowed);
    if (limit > 0)
        fact_add(f, ", at most %.2f CPUs (cgroup)", limit);
    return limit > 0 || allowed < online ? FINDING_LIMITED : FINDING_OK;
}

static enum finding_state look_memory(const struct examined *m, struct machine_finding *f)
{
    char text[512];
    int why;
    double total = 0;
    place_add(f, "/proc/meminfo, /proc/self/cgroup, /sys/fs/cgroup");
    if (text_of(m, "/proc/meminfo", text, sizeof text, &why)) {
        const char *const at = strstr(text, "MemTotal:");
        total = at ? strtod(at + 9, NULL) * 1024 : 0;
    }
    const double limit = cgroup_limit(m, "memory", "memory.max", "memory.limit_in_bytes", bytes);
    fact_set(f, "%.1f GiB", total / GIB);
    if (limit == 0 || (total > 0 && limit >= total))
        return FINDING_OK;
    fact_add(f, ", %.1f GiB at most (cgroup)", limit / GIB);
    return FINDING_LIMITED;
}

/* ---- containers and filters ---- */

static enum finding_state look_container(const struct examined *m, struct machine_finding *f)
{
    static const struct {
        const char *file, *name;
    } sign[] = { { "/run/systemd/container", NULL }, /* the file contains the name */
                 { "/.dockerenv", "docker" },
                 { "/run/.containerenv", "podman" } };
    char text[64];
    int why;
    const char *found = NULL;
    for (size_t i = 0; i < sizeof sign / sizeof *sign; i++) {
        place_add(f, "%s", sign[i].file);
        if (!found && text_of(m, sign[i].file, text, sizeof text, &why))
            found = sign[i].name ? sign[i].name : text;
    }
    if (!found && getenv("KUBERNETES_SERVICE_HOST"))
        found = "kubernetes";
    fact_set(f, "%s", found ? found : "none found");
    return found ? FINDING_LIMITED : FINDING_OK;
}

static enum finding_state look_seccomp(const struct examined *m, struct machine_finding *f)
{
    char mode[16], filters[16];
    place_add(f, "/proc/self/status");
    if (!status_field(m, "Seccomp", mode, sizeof mode)) {
        fact_set(f, "unknown: no such line");
        return FINDING_OK;
    }
    if (strcmp(mode, "0") == 0) {
        fact_set(f, "no filters");
        return FINDING_OK;
    }
    if (status_field(m, "Seccomp_filters", filters, sizeof filters))
        fact_set(f, "mode %s, filters: %s", mode, filters);
    else
        fact_set(f, "mode %s", mode);
    return FINDING_LIMITED;
}

/* ---- nodes and cards ---- */

static enum finding_state look_numa(const struct examined *m, struct machine_finding *f)
{
    char names[1024];
    place_add(f, "/sys/devices/system/node");
    const size_t n = names_in(m, "/sys/devices/system/node", "node", names, sizeof names);
    if (n <= 1) {
        fact_set(f, n == 1 ? "one node" : "no nodes listed");
        return FINDING_NOT_APPLICABLE;
    }
    fact_set(f, "%zu nodes", n);
    return HOST_SAMPLED & ASCOPE_HOST_NUMA ? FINDING_OK : FINDING_LIMITED;
}

static enum finding_state look_network(const struct examined *m, struct machine_finding *f)
{
    char names[2048], path[300], unknown[200] = "", *rest = names;
    size_t n_known = 0, n_unknown = 0, used = 0;
    place_add(f, "/sys/class/net/*/speed");
    names_in(m, "/sys/class/net", "", names, sizeof names);
    for (const char *name; (name = strsep(&rest, " "));) {
        int64_t mbits;
        int why;
        if (!*name || strcmp(name, "lo") == 0)
            continue;
        snprintf(path, sizeof path, "/sys/class/net/%.100s/speed", name);
        if (number_of(m, path, &mbits, &why) && mbits > 0) {
            fact_add(f, "%s%s %lld Mbit/s", n_known++ > 0 ? ", " : "", name, (long long)mbits);
        } else if (used < sizeof unknown) {
            used += (size_t)snprintf(unknown + used, sizeof unknown - used, "%s%s", n_unknown++ > 0 ? ", " : "", name);
        }
    }
    if (n_unknown > 0)
        fact_add(f, "%sspeed unknown: %s", n_known > 0 ? "; " : "", unknown);
    if (n_known == 0 && n_unknown == 0)
        fact_set(f, "no cards");
    return n_known > 0 ? FINDING_OK : n_unknown > 0 ? FINDING_LIMITED : FINDING_NOT_APPLICABLE;
}

static enum finding_state look_infiniband(const struct examined *m, struct machine_finding *f)
{
    char names[240];
    place_add(f, "/sys/class/infiniband");
    const size_t n = names_in(m, "/sys/class/infiniband", "", names, sizeof names);
    fact_set(f, "%s", n > 0 ? names : "no cards");
    return n > 0 ? FINDING_LIMITED : FINDING_NOT_APPLICABLE;
}

/* ---- limits of the process ---- */

static void limit_fact(struct machine_finding *f, const struct rlimit *l, double unit, const char *name)
{
    if (l->rlim_cur == RLIM_INFINITY)
        fact_set(f, "unlimited");
    else
        fact_set(f, "%.0f%s", (double)l->rlim_cur / unit, name);
    if (l->rlim_max != l->rlim_cur && l->rlim_max != RLIM_INFINITY)
        fact_add(f, ", may be raised to %.0f%s", (double)l->rlim_max / unit, name);
}

static enum finding_state look_files(const struct examined *m, struct machine_finding *f)
{
    enum { ENOUGH = 256 }; /* open slices of 64 devices, and what samplers keep open */
    struct rlimit l = { RLIM_INFINITY, RLIM_INFINITY };
    (void)m;
    getrlimit(RLIMIT_NOFILE, &l);
    limit_fact(f, &l, 1, "");
    return l.rlim_cur >= ENOUGH ? FINDING_OK : FINDING_LIMITED;
}

static enum finding_state look_file_size(const struct examined *m, struct machine_finding *f)
{
    struct rlimit l = { RLIM_INFINITY, RLIM_INFINITY };
    (void)m;
    getrlimit(RLIMIT_FSIZE, &l);
    limit_fact(f, &l, 1 << 20, " MiB");
    return l.rlim_cur == RLIM_INFINITY ? FINDING_OK : FINDING_LIMITED;
}

static enum finding_state look_locked(const struct examined *m, struct machine_finding *f)
{
    struct rlimit l = { RLIM_INFINITY, RLIM_INFINITY };
    (void)m;
    getrlimit(RLIMIT_MEMLOCK, &l);
    limit_fact(f, &l, 1 << 10, " KiB");
    return FINDING_OK;
}

/* clang-format off */
const struct machine_check hardware_checks[] = {
    { "CPUs", .look = look_cpus,
      .effect = { [FINDING_LIMITED] = "CPU use in percent refers to all CPUs of the machine" } },
    { "memory", .look = look_memory,
      .effect = { [FINDING_LIMITED] = "memory use in percent refers to the memory of the machine, not to the limit" } },
    { "container", .look = look_container,
      .effect = { [FINDING_LIMITED] = "processes and network cards outside the container are not visible" },
      .advice = { [FINDING_LIMITED] = "to sample the whole machine, run ascope outside the container" } },
    { "seccomp", .look = look_seccomp,
      .effect = { [FINDING_LIMITED] = "system calls may be refused; the rows of perf_event_open and membarrier say which" } },
    { "NUMA", .look = look_numa,
      .effect = { [FINDING_OK] = "memory on each node is sampled (host_sys=numa)",
                  [FINDING_LIMITED] = "memory on each node is not sampled by this version" } },
    { "network", .look = look_network,
      .effect = { [FINDING_OK] = "bytes and use of these cards are sampled (host_sys=network)",
                  [FINDING_LIMITED] = "bytes are sampled; use in percent needs a known speed" },
      .advice = { [FINDING_LIMITED] = "use the bytes: virtual cards report no speed" } },
    { "InfiniBand, RoCE", .look = look_infiniband,
      .effect = { [FINDING_LIMITED] = "counters of their ports are not sampled by this version; network interfaces are" } },
    { "open files", .look = look_files,
      .effect = { [FINDING_LIMITED] = "processes with many threads or devices cannot be recorded in full" },
      .advice = { [FINDING_LIMITED] = "ulimit -n 1024 or more" } },
    { "file size", .look = look_file_size,
      .effect = { [FINDING_LIMITED] = "records that exceed the file size limit are dropped and counted" },
      .advice = { [FINDING_LIMITED] = "ulimit -f unlimited" } },
    { "locked memory", .look = look_locked,
      .effect = { [FINDING_OK] = "rings are not locked; perf_event_open gets smaller buffers if it and the privileges are low" } },
    { 0 },
};
/* clang-format on */
