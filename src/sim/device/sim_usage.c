/* SPDX-License-Identifier: Apache-2.0 */
/* What is sampled as text: ports and links of a device, its CPUs, and the operating systems of device and host. */
#include "sim/device/sim_device.h"

#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

enum { PROC_FIELDS = 10 }; /* of a cpu line: user nice sys idle iowait irq soft steal guest gnice */

/* A source of text. The moments are those of the first device; host times are the same instants. */
struct sim_usage_writer {
    struct sim_process *p;
    struct sim_device *d;
    struct slices *to;
    struct dice *dice;
    uint64_t sum[16]; /* counters that only grow; cleared before a source begins */
};
typedef void text_fn(struct sim_usage_writer *w, const struct sim_moment *at);

static ull sim_usage_grow(struct sim_usage_writer *w, unsigned which, uint32_t low, uint32_t high)
{
    return w->sum[which] += dice_between(w->dice, low, high);
}

static ull device_ns(const struct sim_usage_writer *w, const struct sim_moment *at)
{
    return w->d->device_mono_ns + at->ns;
}

static ull host_ns(const struct sim_usage_writer *w, const struct sim_moment *at)
{
    return w->d->mono_ns + at->ns;
}

/* Random numbers are drawn before the call: the order of evaluation of arguments is up to the compiler. */
static void port(struct sim_usage_writer *w, const struct sim_moment *at)
{
    char line[400];
    int n = snprintf(line, sizeof line, "%llu: 25000", device_ns(w, at));
    for (unsigned way = 0; way < 2; way++) {
        const unsigned first = way * 4;
        const unsigned packets = dice_between(w->dice, 50, 900), bytes = dice_between(w->dice, 500, 90000);
        n += snprintf(line + n, sizeof line - (size_t)n, " %u %u", packets, bytes);
        n += snprintf(line + n, sizeof line - (size_t)n, " %llu", sim_usage_grow(w, first, 1000, 80000));
        n += snprintf(line + n, sizeof line - (size_t)n, " %llu", sim_usage_grow(w, first + 1, 1000, 80000));
        n += snprintf(line + n, sizeof line - (size_t)n, " %llu", sim_usage_grow(w, first + 2, 0, 2));
        n += snprintf(line + n, sizeof line - (size_t)n, " %llu", sim_usage_grow(w, first + 3, 0, 1));
    }
    slices_text(w->to, "%s 0\n", line);
}

static void hccs(struct sim_usage_writer *w, const struct sim_moment *at)
{
    if (at->number == 0)
        slices_text(w->to, "timestamp: txAmount rxAmount\n");
    const ull tx = sim_usage_grow(w, 0, 20000, 900000), rx = sim_usage_grow(w, 1, 20000, 900000);
    slices_text(w->to, "%llu: %llu %llu\n", device_ns(w, at), tx, rx);
}

static void netdev(struct sim_usage_writer *w, const struct sim_moment *at)
{
    char line[400];
    int n = snprintf(line, sizeof line, "%llu", host_ns(w, at));
    for (unsigned i = 0; i < 15; i++)
        n += snprintf(line + n, sizeof line - (size_t)n, " %llu", sim_usage_grow(w, i, 100, 5000));
    slices_text(w->to, "%s\n", line);
}

static void dvpp(struct sim_usage_writer *w, const struct sim_moment *at)
{
    enum { ENGINES = 3 };
    const ull n = at->number;
    for (unsigned engine = 0; engine < ENGINES; engine++) {
        const unsigned all = dice_between(w->dice, 20, 90), own = dice_between(w->dice, 1, 85);
        slices_text(w->to, "%llu 0 %u 0 %llu %llu %u%% %llu %llu %u%% 5 2\n", device_ns(w, at), engine, 900 + n, 30 + n,
                    all, 800 + n, 28 + n, own);
    }
}

/* Samples of the control CPU and the AI CPUs, as `perf script` prints them. */
static void perf(struct sim_usage_writer *w, const struct sim_moment *at)
{
    static const char *const function[] = { "run_kernel", "wait_queue", "do_copy" };
    static const char *const event[] = { "r11", "r8" };
    const unsigned cpu = (unsigned)at->number % 4;
    const ull us = device_ns(w, at) / 1000;
    for (size_t i = 0; i < sizeof event / sizeof *event; i++) {
        const unsigned count = dice_between(w->dice, 2000, 90000), page = dice_below(w->dice, 64) * 64;
        const unsigned which = dice_below(w->dice, 3), offset = dice_below(w->dice, 64) * 4;
        slices_text(w->to,
                    "%s 101/%u [%03u] %llu.%06llu: %u %s:\n\tffff00010%03x %s+0x%x (/usr/lib64/libaicpu.so)\n"
                    "\tffff0002000%u thread_main+0x24 (/usr/lib64/libaicpu.so)\n\n",
                    cpu == 0 ? "kworker" : "aicpu_sched", 101 + cpu, cpu, us / 1000000, us % 1000000, count, event[i],
                    page, function[which], offset, cpu);
    }
}

/* The line of one CPU in /proc/stat; number -1 is all of them. */
static void cpu_line(struct sim_usage_writer *w, int cpu, char *text, size_t size)
{
    int n = cpu < 0 ? snprintf(text, size, "cpu") : snprintf(text, size, "cpu%d", cpu);
    for (unsigned i = 0; i < PROC_FIELDS; i++)
        n += snprintf(text + n, size - (size_t)n, " %u", dice_between(w->dice, 100, 9000));
}

static void stat_block(struct sim_usage_writer *w, const struct sim_moment *at, ull time, int cpus)
{
    char line[200];
    (void)at;
    slices_text(w->to, "TimeStamp:%llu\n", time);
    for (int cpu = -1; cpu < cpus; cpu++) {
        cpu_line(w, cpu, line, sizeof line);
        slices_text(w->to, "%s\n", line);
    }
    slices_text(w->to, "\n");
}

static void host_stat(struct sim_usage_writer *w, const struct sim_moment *at)
{
    stat_block(w, at, host_ns(w, at), 8);
}

static void device_stat(struct sim_usage_writer *w, const struct sim_moment *at)
{
    stat_block(w, at, device_ns(w, at), 4);
}

static void meminfo(struct sim_usage_writer *w, ull time, ull total_kb, unsigned huge)
{
    const ull percent = total_kb / 100, unused = percent * dice_between(w->dice, 5, 40);
    const ull cached = percent * dice_between(w->dice, 2, 20), committed = percent * dice_between(w->dice, 1, 12);
    slices_text(w->to,
                "TimeStamp:%llu\nMemTotal:       %llu kB\nMemFree:        %llu kB\nBuffers:        4096 kB\n"
                "Cached:         %llu kB\nShmem:          8192 kB\nCommitLimit:    %llu kB\nCommitted_AS:   %llu kB\n"
                "HugePages_Total:    %u\nHugePages_Free:     %u\n\n",
                time, total_kb, unused, cached, total_kb / 2, committed, huge, huge ? dice_below(w->dice, huge) : 0);
}

static void host_meminfo(struct sim_usage_writer *w, const struct sim_moment *at)
{
    meminfo(w, host_ns(w, at), 1056412096, 0);
}

static void device_meminfo(struct sim_usage_writer *w, const struct sim_moment *at)
{
    meminfo(w, device_ns(w, at), 15728640, 128);
}

/* Usage of one process: head, /proc/<pid>/stat, name, the first line of /proc/stat. */
static void process_cpu(struct sim_usage_writer *w, const struct sim_moment *at, ull time, unsigned pid,
                        const char *name)
{
    char body[400];
    const ull user = 500 + sim_usage_grow(w, 0, 1, 9), system = 90 + sim_usage_grow(w, 1, 0, 3),
              all = 9000 + sim_usage_grow(w, 2, 40, 90);
    const int n = snprintf(body, sizeof body,
                           "%u (%s) R 1 %u %u 0 -1 4194560 1 2 3 4 %llu %llu 0 0 20 0 9\nProcessName:%s\n"
                           "cpu  %llu 0 300 90000 10 0 5 0 0 0\n",
                           pid, name, pid, pid, user, system, name, all);
    slices_text(w->to, "TimeStamp:%llu\nIndex:%llu\nDataLen:%d\n%s\n", time, (ull)at->number, n, body);
}

static void process_memory(struct sim_usage_writer *w, const struct sim_moment *at, ull time, unsigned size,
                           const char *name)
{
    char body[200];
    const ull all = size + sim_usage_grow(w, 0, 0, 9), resident = size / 3 + sim_usage_grow(w, 1, 0, 5),
              shared = size / 400 + sim_usage_grow(w, 2, 0, 2);
    const int n =
        snprintf(body, sizeof body, "%llu %llu %llu 12 0 900 0\nProcessName:%s\n", all, resident, shared, name);
    slices_text(w->to, "TimeStamp:%llu\nIndex:%llu\nDataLen:%d\n%s\n", time, (ull)at->number, n, body);
}

static void host_process_cpu(struct sim_usage_writer *w, const struct sim_moment *at)
{
    process_cpu(w, at, host_ns(w, at), w->p->pid, "ascope-sim");
}

static void host_process_memory(struct sim_usage_writer *w, const struct sim_moment *at)
{
    process_memory(w, at, host_ns(w, at), 900000, "ascope-sim");
}

static void device_process_cpu(struct sim_usage_writer *w, const struct sim_moment *at)
{
    process_cpu(w, at, device_ns(w, at), 101, "aicpu_scheduler");
}

static void device_process_memory(struct sim_usage_writer *w, const struct sim_moment *at)
{
    process_memory(w, at, device_ns(w, at), 40000, "aicpu_scheduler");
}

/* Threads of the process. The uptime advances by at least two clock ticks: without elapsed time there is no usage. */
static void host_cpu(struct sim_usage_writer *w, const struct sim_moment *at)
{
    enum { THREADS = 3, TAIL = 13 };
    const ull apart = at->ns / (at->number + 1) / 10000000, hundredths = 700050 + at->number * (apart < 2 ? 2 : apart);
    slices_text(w->to, "time %llu\n%llu.%02llu 90000.00\n", host_ns(w, at), hundredths / 100, hundredths % 100);
    for (unsigned i = 0; i < THREADS; i++) {
        const ull user = 100 + sim_usage_grow(w, 2 * i, 0, 1), system = 20 + sim_usage_grow(w, 2 * i + 1, 0, 1);
        slices_text(w->to,
                    "%u (ascope-sim) R %u 0 0 0 0 0 0 0 0 0 %llu %llu 0 0 20 0 3 " /* fields 0 to 19 */
                    "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 %u "                     /* to 38: the CPU */
                    "0 0 0 0 0 0 0 0 0 0 0 0 0\n",
                    w->p->pid + i, w->p->pid, user, system, 2 * i + 1);
    }
}

static void host_memory(struct sim_usage_writer *w, const struct sim_moment *at)
{
    slices_text(w->to, "%llu %llu %u 2000 500 0 70000 0\n", host_ns(w, at), 900000 + 10 * (ull)at->number,
                dice_between(w->dice, 330000, 365000));
}

static void host_network(struct sim_usage_writer *w, const struct sim_moment *at)
{
    const ull rx = 10000000 + sim_usage_grow(w, 0, 10000, 700000), tx = 1000000 + sim_usage_grow(w, 1, 5000, 90000);
    slices_text(w->to, "time %llu\n  eth0: %llu %llu 0 0 0 0 0 0 %llu %llu 0 0 0 0 0 0\n", host_ns(w, at), rx, rx / 900,
                tx, tx / 900);
}

static void host_disk(struct sim_usage_writer *w, const struct sim_moment *at)
{
    if (at->number == 0)
        slices_text(w->to, "start_time %llu\n", host_ns(w, at));
    const unsigned read = dice_between(w->dice, 10000, 50000), write = dice_between(w->dice, 1000, 15000);
    const unsigned second = (unsigned)at->number, busy = dice_below(w->dice, 900);
    slices_text(w->to, "08:%02u:%02u %u be/4 root %u.%02u K/s %u.%02u K/s 0.00 %% %u.%02u %% ascope-sim\n",
                second / 60 % 60, second % 60, w->p->pid, read / 100, read % 100, write / 100, write % 100, busy / 100,
                busy % 100);
}

static void system_calls(struct sim_usage_writer *w, const struct sim_moment *at)
{
    static const char *const call[] = { "ioctl", "mmap", "write", "read", "futex" };
    const ull us = host_ns(w, at) / 1000;
    const unsigned took = dice_between(w->dice, 10, 220), which = dice_below(w->dice, 5);
    slices_text(w->to, "  %llu.%03llu ( 0.%03u ms): ascope-sim/%u %s(fd: 3, count: 64) = 64\n", us / 1000, us % 1000,
                took, w->p->pid + (unsigned)at->number % 2, call[which]);
}

static void pthread_calls(struct sim_usage_writer *w, const struct sim_moment *at)
{
    static const char *const call[] = { "pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_signal" };
    const ull us = w->p->wall_us + (host_ns(w, at) - w->p->mono_ns) / 1000;
    const unsigned which = dice_below(w->dice, 3), took = dice_between(w->dice, 15, 110);
    slices_text(w->to, "[pid %u] %llu.%06llu libtorch.so->%s(0x7f00, 0x10) = 0 <0.%06u>\n",
                w->p->pid + (unsigned)at->number % 2, us / 1000000, us % 1000000, call[which], took);
}

struct sim_usage_source {
    const char *family; /* the pid goes in front of a name that begins with '-' */
    uint32_t every_us;
    text_fn *write;
    unsigned on; /* families of chips */
};

static const struct sim_usage_source of_device[] = {
    { "nic.data", 10000, port, ON_910 | ON_STARS },
    { "roce.data", 10000, port, ON_910 | ON_A2 },
    { "hccs.data", 20000, hccs, ON_ALL & ~(ON_310B | ON_950) },
    { "netdev_stats.data", 20000, netdev, ON_ALL & ~ON_950 },
    { "dvpp.data", 50000, dvpp, ON_910 | ON_STARS },
    { "ai_ctrl_cpu.data", 50000, perf, ON_ALL },
    { "SystemCpuUsage.data", 100000, device_stat, ON_ALL },
    { "Memory.data", 100000, device_meminfo, ON_ALL },
    { "-CpuUsage.data", 100000, device_process_cpu, ON_ALL },
    { "-Memory.data", 100000, device_process_memory, ON_ALL },
};

static const struct sim_usage_source of_host[] = {
    { "host_cpu.data", 20000, host_cpu, ON_ALL },          { "host_mem.data", 20000, host_memory, ON_ALL },
    { "host_network.data", 20000, host_network, ON_ALL },  { "host_disk.data", 20000, host_disk, ON_ALL },
    { "host_syscall.data", 20000, system_calls, ON_ALL },  { "host_pthreadcall.data", 20000, pthread_calls, ON_ALL },
    { "host_sys_cpu.data", 100000, host_stat, ON_ALL },    { "host_sys_mem.data", 100000, host_meminfo, ON_ALL },
    { "-CpuUsage.data", 20000, host_process_cpu, ON_ALL }, { "-Memory.data", 20000, host_process_memory, ON_ALL },
};

static void sources_write(struct sim_process *p, struct sim_device *d, int folder, struct dice *dice,
                          const struct sim_usage_source *source, size_t n, uint32_t pid)
{
    const uint64_t span_ns = samplers_span_ns(d);
    for (size_t i = 0; i < n; i++) {
        char family[64] = "";
        struct slices s;
        if (!(source[i].on & p->chip->group))
            continue;
        if (source[i].family[0] == '-')
            snprintf(family, sizeof family, "%u", pid);
        strncat(family, source[i].family, sizeof family - strlen(family) - 1);
        slices_init(&s, &p->writer, folder, family, CUT_BETWEEN);
        struct sim_usage_writer w = { .p = p, .d = d, .to = &s, .dice = dice };
        for (struct sim_moment at = { 0 }; moment_next(d, span_ns, source[i].every_us, &at);)
            source[i].write(&w, &at);
        slices_fini(&s);
    }
}

void usage_of_device(struct sim_device *d)
{
    enum { SCHEDULER_PID = 101 };
    sources_write(d->of, d, d->id, &d->samples, of_device, sizeof of_device / sizeof *of_device, SCHEDULER_PID);
}

void usage_of_host(struct sim_process *p)
{
    sources_write(p, &p->device[0], FOLDER_HOST, &p->dice, of_host, sizeof of_host / sizeof *of_host, p->pid);
}
