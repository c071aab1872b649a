/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/describe/recording_files.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/process/machine.h"
#include "collect/describe/json_text.h"
#include "collect/session/place.h"

/* The driver version that writes these formats. */
enum { DRIVER_VERSION = 467732 };
/* Accuracy of a crystal's nominal frequency. Two readings far enough apart are more accurate. */
#define NOMINAL_RELATIVE 50e-6

double info_device_mhz(const struct session_device *d)
{
    const double between_ns = (double)(d->last.host_mono_raw_ns - d->first.host_mono_raw_ns);
    const double uncertain_ns = (double)(d->first.uncertainty_ns + d->last.uncertainty_ns);
    if (d->last.host_mono_raw_ns <= d->first.host_mono_raw_ns || d->last.device_count <= d->first.device_count)
        return d->is.counter_mhz;
    if (uncertain_ns / between_ns > NOMINAL_RELATIVE)
        return d->is.counter_mhz;
    return (double)(d->last.device_count - d->first.device_count) * 1000 / between_ns;
}

/* ---- the machine ---- */

void info_first_line(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "re");
    *text = '\0';
    if (f && !fgets(text, (int)size, f))
        *text = '\0';
    if (f)
        fclose(f);
    text[strcspn(text, "\n")] = '\0';
}

static void net_cards(struct json_text *t)
{
    DIR *dir = opendir("/sys/class/net");
    int why = 0, n = 0;
    json_text_add(t, "\"netCard\":[");
    for (const char *name; dir && (name = dir_next(dir, &why));) {
        char path[400], speed[32];
        snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
        info_first_line(path, speed, sizeof speed);
        if (atoi(speed) <= 0) /* no speed: the card has no link, or is a virtual one */
            continue;
        json_text_add(t, "%s{\"netCardName\":", n++ > 0 ? "," : "");
        json_text_string(t, name);
        json_text_add(t, ",\"speed\":%d}", atoi(speed));
    }
    if (dir)
        closedir(dir);
    json_text_add(t, "],\"netCardNums\":%d", n);
}

/* "": the clock is ns. 1000 MHz exactly says the same to those who read it: a counter of that speed is off by its last
 * digit. */
static void host_frequency(struct json_text *t, const struct ascope_session *s)
{
    const double mhz = fabs(s->mhz - 1000) < 1e-9 ? 1000.000000001 : s->mhz;
    if (host_clock_is_counter)
        json_text_add(t, "%.9f", mhz);
}

static void npu_cores(struct json_text *t, const struct npu_description *n)
{
    json_text_add(t,
                  "\"env_type\":3,\"ctrl_cpu_core_num\":1,\"ctrl_cpu_endian_little\":1,\"ts_cpu_core_num\":0,"
                  "\"ai_cpu_core_num\":%u,\"ai_core_num\":%u,\"ai_cpu_core_id\":2,\"ai_core_id\":0,"
                  "\"aicpu_occupy_bitmap\":%u,\"aiv_num\":%u,\"ctrl_cpu_id\":\"\",\"ctrl_cpu\":\"0\",\"ai_cpu\":\"",
                  n->n_ai_cpu, n->n_cube, ((1u << n->n_ai_cpu) - 1) << 2, n->n_vector);
    for (unsigned i = 0; i < n->n_ai_cpu; i++)
        json_text_add(t, "%s%u", i > 0 ? "," : "", 2 + i);
    json_text_add(t, "\",");
}

static void gpu_facts(struct json_text *t, const struct gpu_description *g)
{
    json_text_add(t, "\"gpu_name\":");
    json_text_string(t, g->name);
    json_text_add(t,
                  ",\"sm_num\":%u,\"compute_capability\":\"%u.%u\",\"sm_frequency\":%u,\"memory_frequency\":%u,"
                  "\"memory_bus_bits\":%u,\"memory_bytes\":%llu,\"sm_threads\":%u,\"sm_registers\":%u,"
                  "\"sm_shared_bytes\":%u,\"sm_blocks\":%u,\"warp_threads\":%u,\"block_reserved_bytes\":%u,",
                  g->n_sm, g->capability[0], g->capability[1], g->core_mhz, g->memory_mhz, g->bus_bits,
                  (unsigned long long)g->memory_bytes, g->sm_threads, g->sm_registers, g->sm_shared_bytes, g->sm_blocks,
                  g->warp_threads, g->block_reserved_bytes);
}

static void device_info(struct json_text *t, const struct session_device *d)
{
    const struct npu_description *const n = d->is.npu;
    json_text_add(t, "{\"id\":%d,", d->is.id);
    if (d->is.gpu)
        gpu_facts(t, d->is.gpu);
    if (n)
        npu_cores(t, n);
    json_text_add(t, "\"hwts_frequency\":\"%.9f\"", info_device_mhz(d));
    if (n)
        json_text_add(t, ",\"aic_frequency\":\"%u\",\"aiv_frequency\":\"%u\"", n->core_mhz, n->vector_mhz);
    json_text_add(t, "}");
}

/* That of the devices; the most usual one where there are none, and an unknown one where they are no NPUs. */
const struct chip *info_chip(const struct ascope_session *s)
{
    enum { NO_CHIP = -1 };
    if (s->n_devices == 0)
        return chip_simulated(0);
    if (s->devices[0].is.gpu)
        return chip_of(PLATFORM_CUDA);
    return chip_of(s->devices[0].is.npu ? s->devices[0].is.npu->platform : NO_CHIP);
}

bool info_is_simulated(const struct ascope_session *s)
{
    return s->n_devices > 0 && s->devices[0].is.is_simulated;
}

static void info_text(struct json_text *t, const struct ascope_session *s, const struct session_device *d)
{
    char host[256] = "", uptime[80], memory[80];
    struct utsname os = { 0 };
    uname(&os);
    gethostname(host, sizeof host - 1);
    info_first_line("/proc/uptime", uptime, sizeof uptime);
    proc_field("/proc/meminfo", "MemTotal", memory, sizeof memory);
    const struct cpu_names cpu = cpu_names("/proc/cpuinfo");
    const long n_cpus = sysconf(_SC_NPROCESSORS_CONF);

    json_text_add(t, "{\"version\":\"1.0\",\"jobInfo\":\"%s\",\"OS\":", info_is_simulated(s) ? "simulated" : "NA");
    char system[300];
    snprintf(system, sizeof system, "%s-%s-%s", os.sysname, os.release, os.version);
    json_text_string(t, system);
    json_text_add(t, ",\"hostname\":");
    json_text_string(t, host);
    json_text_add(t, ",\"hostUid\":\"%llu\",\"hwtype\":", (unsigned long long)machine_uid());
    json_text_string(t, os.machine);
    json_text_add(t, ",\"devices\":\"");
    if (d)
        json_text_add(t, "%d", d->is.id);
    for (unsigned i = 0; !d && i < s->n_devices; i++)
        json_text_add(t, "%s%d", i > 0 ? "," : "", s->devices[i].is.id);
    json_text_add(t, "\",\"platform\":\"\",\"platform_version\":\"%d\",\"pid\":\"%d\",\"pid_name\":",
                  info_chip(s)->platform, (int)s->pid);
    json_text_string(t, s->process);
    json_text_add(t, ",\"upTime\":");
    json_text_string(t, uptime);
    json_text_add(t, ",\"memoryTotal\":%lld,\"cpuNums\":%ld,\"sysClockFreq\":%ld,\"cpuCores\":1,\"rank_id\":%d,",
                  atoll(memory), n_cpus, sysconf(_SC_CLK_TCK), s->rank);
    json_text_add(t, "\"drvVersion\":%d,\"cannVersion\":\"\",", DRIVER_VERSION);
    net_cards(t);
    json_text_add(t, ",\"CPU\":[{\"Id\":0,\"Name\":");
    json_text_string(t, cpu.maker);
    json_text_add(t, ",\"Frequency\":\"");
    host_frequency(t, s);
    json_text_add(t, "\",\"Logical_CPU_Count\":\"%ld\",\"Type\":", n_cpus);
    json_text_string(t, cpu.type);
    json_text_add(t, "}],\"DeviceInfo\":[");
    if (d)
        device_info(t, d);
    json_text_add(t, "]}");
}

/* ---- clocks ---- */

/* The wall clock is stored in us: the raw clock is stored for the same us, so that their distance keeps its ns. */
static void window_text(struct json_text *t, const struct clock_reading *r, bool is_end)
{
    const unsigned long long wall_us = r->wall_ns / 1000, raw_ns = clock_reading_window_ns(r);
    const time_t seconds = (time_t)(wall_us / 1000000);
    char date[64], when[96];
    struct tm tm;
    localtime_r(&seconds, &tm);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(when, sizeof when, "%s.%06llu", date, wall_us % 1000000);
    char us[32];
    snprintf(us, sizeof us, "%llu", wall_us);
    json_text_add(t,
                  "{\"collectionDateBegin\":\"%s\",\"collectionDateEnd\":\"%s\",\"collectionTimeBegin\":\"%s\","
                  "\"collectionTimeEnd\":\"%s\",\"clockMonotonicRaw\":\"%llu\"}",
                  is_end ? "" : when, is_end ? when : "", is_end ? "" : us, is_end ? us : "", raw_ns);
}

static void start_text(struct json_text *t, const struct ascope_session *s, const struct session_device *d)
{
    (void)d;
    window_text(t, &s->first, false);
}

static void end_text(struct json_text *t, const struct ascope_session *s, const struct session_device *d)
{
    (void)d;
    window_text(t, &s->last, true);
}

static void host_start_text(struct json_text *t, const struct ascope_session *s, const struct session_device *d)
{
    char section[32] = "Host";
    if (d)
        snprintf(section, sizeof section, "Device%d", d->is.id);
    json_text_add(t, "[%s]\nclock_monotonic_raw: %llu\ncntvct: %llu\ncntvct_diff: 0\n", section,
                  (unsigned long long)(d ? d->first.host_mono_raw_ns : s->first.mono_raw_ns),
                  (unsigned long long)(d ? d->first.host_count : s->first.count));
}

static void dev_start_text(struct json_text *t, const struct ascope_session *s, const struct session_device *d)
{
    (void)s;
    json_text_add(t, "clock_monotonic_raw: %llu\ncntvct: %llu\n", (unsigned long long)d->first.device_mono_ns,
                  (unsigned long long)d->first.device_count);
}

/* ---- files ---- */

struct info_file {
    const char *name;
    void (*text)(struct json_text *t, const struct ascope_session *s, const struct session_device *d);
    bool of_devices_only, at_start, at_end;
};
static const struct info_file files[] = {
    { "info.json", info_text, .at_start = true, .at_end = true },
    { "sample.json", sample_json_put, .at_start = true },
    { "start_info", start_text, .at_start = true },
    { "host_start.log", host_start_text, .at_start = true },
    { "dev_start.log", dev_start_text, .of_devices_only = true, .at_start = true },
    { "end_info", end_text, .at_end = true },
};

static bool file_write(const struct info_file *f, const struct ascope_session *s, const struct session_device *d,
                       struct error *e)
{
    struct json_text t = { 0 };
    char path[PATH_MAX + 64];
    const bool is_clock = f->text == dev_start_text || (d && f->text == host_start_text);
    const bool is_numbered = d && strcmp(f->name, "sample.json") != 0;
    if (!d)
        snprintf(path, sizeof path, "%s/host/%s", s->prof, f->name);
    else if (is_numbered)
        snprintf(path, sizeof path, "%s/device_%d/%s.%d", s->prof, d->is.id, f->name, d->is.id);
    else
        snprintf(path, sizeof path, "%s/device_%d/%s", s->prof, d->is.id, f->name);
    if (s->is_adopted && (access(path, F_OK) == 0 || (is_clock && d->first.device_count == 0)))
        return true; /* the engine writes this file itself, or the device's clock is unknown */
    f->text(&t, s, d);
    const bool is_written = t.is_short
                                ? error_no_memory(e, path)
                                : place_file(path, t.at, t.n, PLACE_MARKED | (f->at_start ? session_how(s) : 0), e);
    json_text_fini(&t);
    return is_written;
}

static bool files_write(const struct ascope_session *s, bool is_end, struct error *e)
{
    bool is_well = true;
    for (size_t i = 0; *s->prof && i < sizeof files / sizeof *files; i++) {
        const struct info_file *f = &files[i];
        if (!s->is_adopted && (is_end ? !f->at_end : !f->at_start))
            continue;
        if (!f->of_devices_only)
            is_well &= file_write(f, s, NULL, e);
        for (unsigned k = 0; k < s->n_devices; k++)
            is_well &= file_write(f, s, &s->devices[k], e);
    }
    return is_well;
}

/* An engine may write its own files at any time until it has ended, so ours are added at the end. */
bool info_begin(const struct ascope_session *s, struct error *e)
{
    return s->is_adopted || files_write(s, false, e);
}

bool info_end(const struct ascope_session *s, struct error *e)
{
    return files_write(s, true, e);
}
