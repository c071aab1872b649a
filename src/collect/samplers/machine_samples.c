/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samplers/host_sampler.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/samplers/proc_files.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "collect/write/outputs.h"

enum { FILE_MOST = 64 << 10, LINE_MOST = 4096 };

struct machine_process {
    pid_t pid;
    struct proc_file stat, statm, comm;
    uint64_t n_samples[PROCESS_FILES];
};

struct machine_sampler {
    uint32_t what;
    int proc;
    struct proc_files files;
    struct proc_file stat, meminfo;
    uint64_t n_cpu, n_memory;          /* samples of the machine */
    struct machine_process *processes; /* by pid */
    size_t n;
    char text[FILE_MOST];
    struct sample_text sample, body;
};

/* The head that all of these samples have, with the body that was made before. */
static void head_add(struct machine_sampler *m, uint64_t index)
{
    sample_text_format(&m->sample, "TimeStamp:%llu\nIndex:%llu\nDataLen:%zu\n", (unsigned long long)host_clock_raw_ns(),
                       (unsigned long long)index, m->body.n);
    sample_text_add(&m->sample, m->body.at, m->body.n);
    sample_text_add(&m->sample, "\n", 1);
    m->sample.is_short |= m->body.is_short;
    m->body.n = 0;
    m->body.is_short = false;
}

/* ---- the machine ---- */

/* The lines of the CPUs, which are the first ones. */
static size_t cpu_lines(const char *text)
{
    const char *at = text;
    for (const char *end; strncmp(at, "cpu", 3) == 0 && (end = strchr(at, '\n')); at = end + 1)
        continue;
    return (size_t)(at - text);
}

/* Whether there is such a file at all. The text stays in m->text. */
static bool sample_machine(struct machine_sampler *m, struct proc_file *f, const char *name, enum stream_id stream,
                           uint64_t *n_samples)
{
    const size_t n = proc_file_read(&m->files, f, m->proc, name, m->text, sizeof m->text);
    if (n == 0)
        return false;
    sample_text_add(&m->body, m->text, stream == STREAM_HOST_SYS_CPU ? cpu_lines(m->text) : n);
    head_add(m, (*n_samples)++);
    sample_text_put(&m->sample, stream);
    return true;
}

/* ---- its processes ---- */

static void process_drop(struct machine_sampler *m, struct machine_process *p)
{
    proc_file_close(&m->files, &p->stat);
    proc_file_close(&m->files, &p->statm);
    proc_file_close(&m->files, &p->comm);
}

static void processes_list(struct machine_sampler *m)
{
    size_t n, old = 0;
    pid_t *const pid = proc_numbers(m->proc, ".", &n);
    struct machine_process *const now = pid ? malloc(n * sizeof *now) : NULL;
    if (!now) {
        free(pid);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        while (old < m->n && m->processes[old].pid < pid[i])
            process_drop(m, &m->processes[old++]);
        if (old < m->n && m->processes[old].pid == pid[i])
            now[i] = m->processes[old++];
        else
            now[i] = (struct machine_process){
                .pid = pid[i], .stat = PROC_FILE_CLOSED, .statm = PROC_FILE_CLOSED, .comm = PROC_FILE_CLOSED
            };
    }
    while (old < m->n)
        process_drop(m, &m->processes[old++]);
    free(m->processes);
    free(pid);
    m->processes = now;
    m->n = n;
}

/* A file of a process as one line. 0: it has ended; if its number is used again, the next look opens the files of the
 * new one. */
static size_t process_read(struct machine_sampler *m, const struct machine_process *p, struct proc_file *f,
                           const char *file, char line[LINE_MOST])
{
    char name[32];
    snprintf(name, sizeof name, "%d/%s", (int)p->pid, file);
    size_t n = proc_file_read(&m->files, f, m->proc, name, line, LINE_MOST - 1);
    if (n == 0) {
        proc_file_close(&m->files, f);
        return 0;
    }
    if (line[n - 1] != '\n')
        line[n++] = '\n';
    for (char *at = line; (at = memchr(at, '\n', n - 1 - (size_t)(at - line)));)
        *at = ' ';
    return n;
}

static void process_put(struct machine_sampler *m, struct machine_process *p, enum process_file kind)
{
    const struct process_bytes of = { .pid = (uint32_t)p->pid, .kind = kind };
    sample_text_add(&m->sample, (const char *)&of, sizeof of);
    head_add(m, p->n_samples[kind]++);
    const uint32_t bytes = (uint32_t)(m->sample.n - sizeof of);
    memcpy(m->sample.at + offsetof(struct process_bytes, bytes), &bytes, m->sample.is_short ? 0 : sizeof bytes);
    sample_text_put(&m->sample, STREAM_PROCESSES);
}

static void sample_process(struct machine_sampler *m, struct machine_process *p, const char *cpu, size_t cpu_bytes)
{
    char line[LINE_MOST], name[LINE_MOST];
    const size_t name_bytes = process_read(m, p, &p->comm, "comm", name);
    size_t n;
    if (name_bytes == 0)
        return;
    if (cpu_bytes > 0 && (n = process_read(m, p, &p->stat, "stat", line)) > 0) {
        sample_text_add(&m->body, line, n);
        sample_text_format(&m->body, "ProcessName:%.*s", (int)name_bytes, name);
        sample_text_add(&m->body, cpu, cpu_bytes);
        process_put(m, p, PROCESS_FILE_CPU);
    }
    if ((m->what & ASCOPE_HOST_MEM) && (n = process_read(m, p, &p->statm, "statm", line)) > 0) {
        sample_text_add(&m->body, line, n);
        sample_text_format(&m->body, "ProcessName:%.*s", (int)name_bytes, name);
        process_put(m, p, PROCESS_FILE_MEMORY);
    }
}

static void machine_look(void *of, bool is_last)
{
    struct machine_sampler *const m = of;
    char cpu[512];
    size_t cpu_bytes = 0;
    if (m->what & ASCOPE_HOST_MEM)
        sample_machine(m, &m->meminfo, "meminfo", STREAM_HOST_SYS_MEMORY, &m->n_memory);
    if ((m->what & ASCOPE_HOST_CPU) && sample_machine(m, &m->stat, "stat", STREAM_HOST_SYS_CPU, &m->n_cpu)) {
        const char *const end = strchr(m->text, '\n'); /* of the sum of all CPUs */
        cpu_bytes = end && end < m->text + sizeof cpu ? (size_t)(end - m->text) + 1 : 0;
        memcpy(cpu, m->text, cpu_bytes);
    }
    processes_list(m);
    for (size_t i = 0; i < m->n; i++)
        sample_process(m, &m->processes[i], cpu, cpu_bytes);
    (void)is_last;
}

static uint64_t machine_period(const struct ascope_options *o)
{
    return o->host_usage & (ASCOPE_HOST_CPU | ASCOPE_HOST_MEM) ? 1000000000 / (o->host_usage_hz ? o->host_usage_hz : 50)
                                                               : 0;
}

static void machine_stop(void *of)
{
    struct machine_sampler *const m = of;
    for (size_t i = 0; i < m->n; i++)
        process_drop(m, &m->processes[i]);
    free(m->processes);
    proc_file_close(&m->files, &m->stat);
    proc_file_close(&m->files, &m->meminfo);
    proc_close(m->proc);
    sample_text_fini(&m->sample);
    sample_text_fini(&m->body);
    free(m);
}

static void *machine_start(const struct host_target *of, const struct ascope_options *o)
{
    struct machine_sampler *const m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->what = o->host_usage;
    m->stat = m->meminfo = PROC_FILE_CLOSED;
    m->files = proc_files_limit(of->pid == of->owner);
    m->proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (m->proc < 0)
        message(ASCOPE_WARNING, "host_sys_usage: /proc cannot be read; nothing is recorded");
    return m;
}

const struct host_source machine_source = { machine_period, machine_start, machine_look, machine_stop };
