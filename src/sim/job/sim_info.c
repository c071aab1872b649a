/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/job/sim_info.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/job/generate.h"

enum { INFO_MOST = 4096 };

void info_date(char *text, size_t size, const char *format, uint64_t wall_us)
{
    const time_t seconds = (time_t)(wall_us / 1000000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(text, size, format, &tm);
}

/* What info.json says about the device; the host has none. */
static void device_info(const struct sim_process *p, const struct sim_device *d, char *text, size_t size)
{
    snprintf(text, size,
             "{\"id\":%d,\"env_type\":3,\"ctrl_cpu_core_num\":1,\"ctrl_cpu_endian_little\":1,\"ts_cpu_core_num\":1,"
             "\"ai_cpu_core_num\":3,\"ai_core_num\":%u,\"ai_cpu_core_id\":1,\"ai_core_id\":0,"
             "\"aicpu_occupy_bitmap\":14,\"aiv_num\":%u,\"ctrl_cpu_id\":\"TaishanV110\",\"ctrl_cpu\":\"0\","
             "\"ai_cpu\":\"1,2,3\",\"hwts_frequency\":\"%u.000000\",\"aic_frequency\":\"%u\",\"aiv_frequency\":\"%u\"}",
             d->id, p->chip->n_cube, p->chip->n_vector, p->o->counter_mhz, p->chip->core_mhz, p->chip->core_mhz);
}

/* MindSpore's analysis looks for the marks of the user in a process of this name. */
static const char *process_name(const struct sim_process *p)
{
    return p->o->framework == SIM_MINDSPORE ? "python3" : "ascope-sim";
}

static void info_json(struct sim_process *p, int device, const struct sim_device *d)
{
    char text[INFO_MOST], of_device[1024] = "", id[16] = "64", host[24] = "";
    const uint32_t host_number = p->job ? p->index / p->job->host_ranks : 0;
    if (p->job && p->job->ranks > p->job->host_ranks)
        snprintf(host, sizeof host, "-%u", host_number);
    if (d) {
        device_info(p, d, of_device, sizeof of_device);
        snprintf(id, sizeof id, "%d", d->id);
    }
    const int n = snprintf(
        text, sizeof text,
        "{\"version\":\"1.0\",\"jobInfo\":\"simulated\",\"OS\":\"Linux-ascope-sim\",\"hostname\":\"ascope-sim%s\","
        "\"hostUid\":\"%u\",\"hwtype\":\"aarch64\",\"devices\":\"%s\",\"platform\":\"\",\"platform_version\":\"%d\","
        "\"pid\":\"%u\",\"pid_name\":\"%s\",\"upTime\":\"7000.00 90000.00\",\"memoryTotal\":1056412096,"
        "\"cpuNums\":8,\"sysClockFreq\":100,\"cpuCores\":1,\"netCardNums\":1,\"rank_id\":%d,\"drvVersion\":467732,"
        "\"cannVersion\":\"8.3.RC1\",\"netCard\":[{\"netCardName\":\"eth0\",\"speed\":10000}],"
        "\"CPU\":[{\"Id\":0,\"Name\":\"ascope-sim\",\"Frequency\":\"%d.000000\",\"Logical_CPU_Count\":\"8\","
        "\"Type\":\"simulated\"}],\"DeviceInfo\":[%s]}",
        host, 1 + host_number, id, p->chip->platform, p->pid, process_name(p), d ? (int)d->rank : -1, HOST_MHZ,
        of_device);
    folder_file(&p->writer, device, "info.json", text, (size_t)n);
}

static void sample_json(struct sim_process *p, int device)
{
    const struct sim_options *o = p->o;
    const struct core_events *m = p->metrics;
    const char *const mode = o->sample_based ? "sample-based" : "task-based", *const level = o->level0 ? "l0" : "l1";
    char text[INFO_MOST], id[16] = "64";
    if (device != FOLDER_HOST)
        snprintf(id, sizeof id, "%d", device);
    const int n = snprintf(
        text, sizeof text,
        "{\"result_dir\":\"\",\"job_id\":\"simulated\",\"app\":\"ascope-sim\",\"app_dir\":\"\",\"app_parameters\":\"\","
        "\"app_env\":\"\",\"profiling_mode\":\"def_mode\",\"devices\":\"%s\",\"ai_core_profiling\":\"on\","
        "\"ai_core_profiling_mode\":\"%s\",\"ai_core_metrics\":\"%s\",\"ai_core_profiling_events\":\"%s\","
        "\"aicore_sampling_interval\":10,\"aiv_profiling\":\"on\",\"aiv_profiling_mode\":\"%s\",\"aiv_metrics\":\"%s\","
        "\"aiv_profiling_events\":\"%s\",\"aiv_sampling_interval\":10,\"llc_profiling\":\"read\",\"llc_interval\":20,"
        "\"llc_profiling_events\":\"hisi_l3t0_1/dsid0/\",\"hbm_profiling_events\":\"read,write\",\"hbmInterval\":20,"
        "\"ddr_profiling_events\":\"\",\"l2CacheTaskProfiling\":\"on\","
        "\"l2CacheTaskProfilingEvents\":\"%s\",\"host_sys_pid\":%u,"
        "\"host_disk_freq\":50,\"host_cpu_profiling\":\"on\",\"host_mem_profiling\":\"on\",\"hostProfiling\":true,"
        "\"prof_level\":\"%s\",\"profLevel\":\"%s\",\"taskBlock\":\"off\",\"qosEvents\":\"AIC,AIV,SDMA,CPU\","
        "\"npuEvents\":\"SMMU:0x8a,0x8c,0x8d,0x2,0x8b\",\"ai_ctrl_cpu_profiling_events\":\"0x11,0x8\","
        "\"ts_cpu_profiling_events\":\"0x11,0x8,0x12,0x13,0x14,0x15,0x1b\",\"msprofBinPid\":-1,\"storageLimit\":\"\","
        "\"instrProfilingFreq\":1000,\"cpu_sampling_interval\":20,\"sys_sampling_interval\":100,\"nicInterval\":10,"
        "\"roceInterval\":10,\"pcieInterval\":20,\"hccsInterval\":20,\"dynamic\":\"off\"}",
        id, mode, m->cube_name, m->cube_events, mode, m->vector_name, m->vector_events, p->chip->l2_events, p->pid,
        level, level);
    folder_file(&p->writer, device, "sample.json", text, (size_t)n);
}

/* The wall clock and the raw monotonic clock at one instant; empty texts for the other end of the collection. */
static void start_or_end(struct sim_process *p, int device, bool is_end)
{
    const uint64_t past_ns = is_end ? (p->end - p->cnt) * NS_PER_HOST_TICK : 0;
    const uint64_t wall_us = p->wall_us + past_ns / 1000;
    char date[64], text[512];
    info_date(date, sizeof date, "%Y-%m-%d %H:%M:%S", wall_us);
    char when[96];
    snprintf(when, sizeof when, "%s.%06u", date, (unsigned)(wall_us % 1000000));
    const int n = snprintf(
        text, sizeof text,
        "{\"collectionDateBegin\":\"%s\",\"collectionDateEnd\":\"%s\",\"collectionTimeBegin\":\"%.*llu\","
        "\"collectionTimeEnd\":\"%.*llu\",\"clockMonotonicRaw\":\"%llu\"}",
        is_end ? "" : when, is_end ? when : "", is_end ? 0 : 1, is_end ? 0ull : (unsigned long long)wall_us,
        is_end ? 1 : 0, is_end ? (unsigned long long)wall_us : 0ull, (unsigned long long)(p->mono_ns + past_ns));
    folder_file(&p->writer, device, is_end ? "end_info" : "start_info", text, (size_t)n);
}

static void clocks(struct sim_process *p, int device, const struct sim_device *d)
{
    char text[256];
    int n = 0;
    if (!d) {
        n = snprintf(text, sizeof text, "[Host]\nclock_monotonic_raw: %llu\ncntvct: %llu\ncntvct_diff: 0\n",
                     (unsigned long long)p->mono_ns, (unsigned long long)p->cnt);
        folder_file(&p->writer, device, "host_start.log", text, (size_t)n);
        return;
    }
    n = snprintf(text, sizeof text, "[Device%d]\nclock_monotonic_raw: %llu\ncntvct: %llu\ncntvct_diff: %llu\n", d->id,
                 (unsigned long long)(d->mono_ns - d->host_cnt_diff * NS_PER_HOST_TICK),
                 (unsigned long long)d->host_cnt, (unsigned long long)d->host_cnt_diff);
    folder_file(&p->writer, device, "host_start.log", text, (size_t)n);
    n = snprintf(text, sizeof text, "clock_monotonic_raw: %llu\ncntvct: %llu\n", (unsigned long long)d->device_mono_ns,
                 (unsigned long long)d->tick0);
    folder_file(&p->writer, device, "dev_start.log", text, (size_t)n);
}

void info_write(struct sim_process *p)
{
    for (uint32_t i = 0; i <= p->o->devices; i++) {
        const struct sim_device *d = i == 0 ? NULL : &p->device[i - 1];
        const int device = d ? d->id : FOLDER_HOST;
        info_json(p, device, d);
        sample_json(p, device);
        start_or_end(p, device, false);
        start_or_end(p, device, true);
        clocks(p, device, d);
    }
}
