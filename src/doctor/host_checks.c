/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "collect/session/host_clock.h"

static enum finding_state look_kernel(const struct examined *m, struct machine_finding *f)
{
    struct utsname u = { 0 };
    (void)m;
    uname(&u);
    fact_set(f, "%s %s %s", u.sysname, u.release, u.machine);
    return FINDING_OK;
}

static enum finding_state look_proc(const struct examined *m, struct machine_finding *f)
{
    static const char *const file[] = { "/proc/self/stat", "/proc/self/statm", "/proc/uptime",
                                        "/proc/stat",      "/proc/meminfo",    "/proc/net/dev" };
    char text[64];
    int why, n_missing = 0;
    bool has_process = true;
    fact_set(f, "not readable:");
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        place_add(f, "%s", file[i]);
        if (text_of(m, file[i], text, sizeof text, &why))
            continue;
        has_process = has_process && i > 1;
        fact_add(f, "%s %s (%s)", n_missing++ > 0 ? "," : "", file[i], strerror(why));
    }
    if (n_missing == 0)
        fact_set(f, "readable");
    return n_missing == 0 ? FINDING_OK : has_process ? FINDING_LIMITED : FINDING_MISSING;
}

static enum finding_state look_io(const struct examined *m, struct machine_finding *f)
{
    char text[512];
    int why;
    place_add(f, "/proc/self/io");
    if (!text_of(m, "/proc/self/io", text, sizeof text, &why) || !strstr(text, "read_bytes:")) {
        fact_set(f, "%s", *text ? "no counts of bytes in it" : strerror(why));
        return FINDING_MISSING;
    }
    fact_set(f, "readable, %s",
             has_capability(m, CAPABILITY_SYS_PTRACE) ? "of all users' processes" : "of this user's processes");
    return FINDING_OK;
}

/* Only informs users who miss the percentages of iotop: the samplers do not read delay accounting. */
static enum finding_state look_delays(const struct examined *m, struct machine_finding *f)
{
    const int why = m->tries->task_stats();
    int64_t is_on = 0;
    int ignored;
    place_add(f, "netlink TASKSTATS, /proc/sys/kernel/task_delayacct");
    number_of(m, "/proc/sys/kernel/task_delayacct", &is_on, &ignored);
    if (why)
        fact_set(f, "taskstats: %s", strerror(why));
    else
        fact_set(f, "taskstats answers; task_delayacct is %s", is_on > 0 ? "on" : "off");
    return FINDING_NOT_APPLICABLE;
}

/* Whether the last mount on /proc hides the processes of other users (hidepid). */
static enum finding_state look_hidden(const struct examined *m, struct machine_finding *f)
{
    char text[32768], hides[32] = "";
    int why;
    place_add(f, "/proc/self/mountinfo");
    if (!text_of(m, "/proc/self/mountinfo", text, sizeof text, &why)) {
        fact_set(f, "%s", strerror(why));
        return FINDING_LIMITED;
    }
    char *rest = text;
    for (const char *line; (line = strsep(&rest, "\n"));) {
        const char *const option = strstr(line, "hidepid=");
        if (strstr(line, " /proc "))
            snprintf(hides, sizeof hides, "%.*s", option ? (int)strcspn(option + 8, ", ") : 0,
                     option ? option + 8 : "");
    }
    if (!*hides || strcmp(hides, "0") == 0 || strcmp(hides, "off") == 0) {
        fact_set(f, "visible");
        return FINDING_OK;
    }
    fact_set(f, "/proc is mounted with hidepid=%s", hides);
    if (has_capability(m, CAPABILITY_SYS_PTRACE)) {
        fact_add(f, ", which does not apply to CAP_SYS_PTRACE");
        return FINDING_OK;
    }
    return FINDING_LIMITED;
}

/* System calls are sampled from /proc/PID/task/N/syscall, which requires the permission to attach with ptrace. */
static enum finding_state look_ptrace(const struct examined *m, struct machine_finding *f)
{
    enum { OF_ALL, OF_CHILDREN, OF_ROOT };
    int64_t scope = OF_ALL;
    int why;
    place_add(f, "/proc/sys/kernel/yama/ptrace_scope");
    if (number_of(m, "/proc/sys/kernel/yama/ptrace_scope", &scope, &why))
        fact_set(f, "ptrace_scope is %d", (int)scope);
    else
        fact_set(f, why == ENOENT ? "not restricted (no Yama)" : "unknown: %s", strerror(why));
    if (scope == OF_CHILDREN)
        effect_set(f, "system calls that programs wait in can be sampled, in programs that ascope starts");
    return scope < OF_ROOT || (scope == OF_ROOT && has_capability(m, CAPABILITY_SYS_PTRACE)) ? FINDING_OK
                                                                                             : FINDING_LIMITED;
}

/* ---- events of the kernel ---- */

static enum finding_state look_tracefs(const struct examined *m, struct machine_finding *f)
{
    static const char *const file[] = { "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id",
                                        "/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id" };
    int why = ENOENT;
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        int64_t id;
        int now = 0;
        place_add(f, "%s", file[i]);
        if (number_of(m, file[i], &id, &now)) {
            fact_set(f, "readable");
            return FINDING_OK;
        }
        why = why == ENOENT ? now : why;
    }
    const char *ignored;
    fact_set(f, "%s", why == ENOENT ? "not mounted" : strerror(why));
    if (m->tries->kernel_calls(&ignored)) {
        fact_add(f, "; ascope mounts a private one");
        return FINDING_OK;
    }
    advice_set(f, "%s",
               why == ENOENT ? "mount -t tracefs nodev /sys/kernel/tracing, where the kernel has it"
                             : "run as root, or let root change its mode");
    return FINDING_MISSING;
}

static enum finding_state look_perf(const struct examined *m, struct machine_finding *f)
{
    int64_t paranoid;
    int ignored;
    const char *why = NULL;
    place_add(f, "/proc/sys/kernel/perf_event_paranoid, perf_event_open");
    if (number_of(m, "/proc/sys/kernel/perf_event_paranoid", &paranoid, &ignored))
        fact_set(f, "perf_event_paranoid is %d%s; ", (int)paranoid,
                 has_capability(m, CAPABILITY_PERFMON) || has_capability(m, CAPABILITY_SYS_ADMIN)
                     ? ", which does not apply to CAP_PERFMON"
                     : "");
    if (m->tries->kernel_calls(&why)) {
        fact_add(f, "system calls are counted");
        return FINDING_OK;
    }
    fact_add(f, "%s", why);
    const struct perf_count own = m->tries->perf_faults();
    if (own.why)
        fact_add(f, "; other events: %s", strerror(own.why));
    else
        fact_add(f, own.counted > 0 ? "; other events are counted" : "; other events open, but count nothing");
    if (own.why == ENOSYS)
        advice_set(f, "a kernel with CONFIG_PERF_EVENTS, or a seccomp profile that allows perf_event_open");
    return own.why || own.counted == 0 ? FINDING_MISSING : FINDING_LIMITED;
}

/* ---- clocks and memory ---- */

static enum finding_state look_clock(const struct examined *m, struct machine_finding *f)
{
    const char *const asked = getenv("ASCOPE_CLOCK");
    char source[64];
    int why;
    place_add(f, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if (!text_of(m, "/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof source, &why))
        snprintf(source, sizeof source, "unknown");
    if (host_clock_is_counter) {
        fact_set(f, "counter of the CPU, %.1f MHz; the kernel's clock source is %s", host_clock_first_mhz(), source);
        return FINDING_OK;
    }
    fact_set(f, "CLOCK_MONOTONIC_RAW; the kernel's clock source is %s", source);
    if (asked && strcmp(asked, "ns") == 0)
        advice_set(f, "unset ASCOPE_CLOCK, which requests it");
    return FINDING_LIMITED;
}

static enum finding_state look_clock_call(const struct examined *m, struct machine_finding *f)
{
    const double ns = m->tries->clock_ns();
    const bool has_vdso = getauxval(AT_SYSINFO_EHDR) != 0;
    enum { SYSTEM_CALL_NS = 150 }; /* a system call takes longer; a reading through the vDSO takes 20 to 60 ns */
    fact_set(f, "%.0f ns a reading; %s", ns, has_vdso ? "the kernel provides a vDSO" : "no vDSO");
    return ns < SYSTEM_CALL_NS ? FINDING_OK : FINDING_LIMITED;
}

static enum finding_state tried(struct machine_finding *f, int why, const char *call)
{
    fact_set(f, why ? "%s: %s" : "%s works", call, strerror(why));
    return why ? FINDING_LIMITED : FINDING_OK;
}

static enum finding_state look_membarrier(const struct examined *m, struct machine_finding *f)
{
    return tried(f, m->tries->membarrier(), "membarrier");
}

static enum finding_state look_populate(const struct examined *m, struct machine_finding *f)
{
    return tried(f, m->tries->populate(), "MADV_POPULATE_WRITE");
}

/* clang-format off */
#define CALLS_OF_LIBC "system calls that programs make through libc are recorded by the preloaded library (host_sys=osrt); of static programs, samples"
const struct machine_check host_checks[] = {
    { "kernel", .look = look_kernel },
    { "/proc", .is_needed = true, .look = look_proc,
      .effect = { [FINDING_OK] = "CPU, memory and network are sampled (host_sys=cpu,mem,network)",
                  [FINDING_LIMITED] = "samples that need these files are left out",
                  [FINDING_MISSING] = "the host is not sampled" },
      .advice = { [FINDING_LIMITED] = "mount /proc without subset=pid, in containers with the runtime's default paths",
                  [FINDING_MISSING] = "mount -t proc proc /proc" } },
    { "process I/O", .look = look_io,
      .effect = { [FINDING_OK] = "reads and writes to disks are sampled (host_sys=disk)",
                  [FINDING_MISSING] = "disk I/O is not sampled" },
      .advice = { [FINDING_MISSING] = "a kernel with CONFIG_TASK_IO_ACCOUNTING, or the program's own user" } },
    { "delay accounting", .look = look_delays,
      .effect = { [FINDING_NOT_APPLICABLE] = "not read: samples of disk I/O have rates, and no percentages of waiting time" } },
    { "other processes", .look = look_hidden,
      .effect = { [FINDING_OK] = "all processes are sampled (host_sys_usage)",
                  [FINDING_LIMITED] = "only this user's processes are sampled (host_sys_usage)" },
      .advice = { [FINDING_LIMITED] = "run as root, or mount -o remount,hidepid=0 /proc" } },
    { "ptrace", .look = look_ptrace,
      .effect = { [FINDING_OK] = "system calls that processes wait in can be sampled",
                  [FINDING_LIMITED] = "system calls of static programs and of processes with --pid are not sampled" },
      .advice = { [FINDING_LIMITED] = "needed only without perf_event_open: sysctl kernel.yama.ptrace_scope=1, or run with CAP_SYS_PTRACE" } },
    { "tracefs", .look = look_tracefs,
      .effect = { [FINDING_OK] = "trace points of system calls are found",
                  [FINDING_MISSING] = "trace points of system calls cannot be found" } },
    { "perf_event_open", .look = look_perf,
      .effect = { [FINDING_OK] = "all system calls are recorded, as traced by the kernel (host_sys=osrt)",
                  [FINDING_LIMITED] = CALLS_OF_LIBC, [FINDING_MISSING] = CALLS_OF_LIBC },
      .advice = { [FINDING_LIMITED] = "run as root or with CAP_PERFMON, or sysctl kernel.perf_event_paranoid=-1; tracefs must be readable",
                  [FINDING_MISSING] = "run as root or with CAP_PERFMON; containers also need a seccomp profile that allows it" } },
    { "clock", .look = look_clock,
      .effect = { [FINDING_OK] = "records carry counts of the CPU's counter",
                  [FINDING_LIMITED] = "each record reads the system's clock, which takes longer" },
      .advice = { [FINDING_LIMITED] = "use clocksource=tsc on a machine whose TSC is invariant" } },
    { "clock_gettime", .look = look_clock_call,
      .effect = { [FINDING_LIMITED] = "reading the system's clock is a system call: records that do so cost more" },
      .advice = { [FINDING_LIMITED] = "use a clock source with a vDSO: tsc, kvm-clock, hyperv_clocksource_tsc_page, arch_sys_counter" } },
    { "membarrier", .look = look_membarrier,
      .effect = { [FINDING_OK] = "recording threads need no barrier for each record",
                  [FINDING_LIMITED] = "recording threads execute a barrier for each record" },
      .advice = { [FINDING_LIMITED] = "Linux 4.14 or later, and a seccomp profile that allows membarrier" } },
    { "memory in advance", .look = look_populate,
      .effect = { [FINDING_OK] = "the writer touches pages of rings before threads need them",
                  [FINDING_LIMITED] = "threads touch pages of their rings themselves, about a microsecond for each new page" },
      .advice = { [FINDING_LIMITED] = "Linux 5.14 or later" } },
    { 0 },
};
/* clang-format on */
