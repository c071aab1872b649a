/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samplers/host_sampler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "collect/samplers/proc_files.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "collect/write/outputs.h"

enum { PERIOD_NS = 20000000, PER_S = 1000000000 / PERIOD_NS, FILE_MOST = 64 << 10 };
static const uint64_t REOPEN_NS = 1000000000, /* the process may have moved to another network */
    IDLE_NS = 1000000000; /* the kernel adds up all CPUs to say how idle they were, and nobody uses it */

enum { STATM_PAGES = 7 };

struct process_sampler {
    uint32_t what;
    bool is_last;
    struct proc_tree tree;
    struct sample_text text, lines;
    struct proc_file uptime, network;
    uint64_t network_opened_ns, idle_read_ns;
    char idle[64]; /* the rest of the line of /proc/uptime: blank, seconds, line feed */
    uint64_t disk_from_ns, disk_lines, disk_read, disk_written; /* lines were written for so many bytes */
    unsigned user;
    char name[80];
    uint32_t reported;           /* what cannot be read */
    uint64_t pages[STATM_PAGES]; /* of the last look */
    bool has_pages;
};

static unsigned long long now(void)
{
    return host_clock_raw_ns();
}

/* Reports each kind once, so that nobody waits for data that will not come. */
static void process_samples_report(struct process_sampler *s, uint32_t what, const char *word, const char *source)
{
    if (s->reported & what)
        return;
    s->reported |= what;
    message(ASCOPE_WARNING, "host_sys %s: /proc/%d/%s cannot be read: %s; nothing is recorded", word, (int)s->tree.root,
            source, strerror(errno));
}

/* ---- threads ---- */

/* The line of /proc/uptime. */
static void add_uptime(struct process_sampler *s)
{
    char text[128];
    struct timespec up;
    if (now() - s->idle_read_ns >= IDLE_NS) {
        s->idle_read_ns = now();
        proc_file_read(&s->tree.files, &s->uptime, s->tree.proc, "uptime", text, sizeof text);
        const char *const blank = strchr(text, ' ');
        snprintf(s->idle, sizeof s->idle, "%s", blank && strchr(blank, '\n') ? blank : " 0.00\n");
    }
    clock_gettime(CLOCK_BOOTTIME, &up);
    sample_text_format(&s->text, "%lld.%02ld%s", (long long)up.tv_sec, up.tv_nsec / 10000000, s->idle);
}

static void sample_cpu(struct process_sampler *s)
{
    for (size_t i = 0; i < s->tree.n; i++) {
        struct proc_process *const p = &s->tree.processes[i];
        for (size_t k = 0; k < p->n_threads; k++) {
            struct proc_thread *const thread = &p->threads[k];
            if (proc_thread_read(&s->tree, p, thread, s->is_last))
                sample_text_add(&s->lines, thread->line, thread->bytes);
            else
                p->is_stale = true;
        }
    }
    if (s->lines.n > 0) { /* its time is the one at which everything is known */
        sample_text_format(&s->text, "time %llu\n", now());
        add_uptime(s);
        sample_text_add(&s->text, s->lines.at, s->lines.n);
        s->text.is_short |= s->lines.is_short;
        sample_text_put(&s->text, STREAM_HOST_CPU);
    } else if (!s->tree.has_ended) {
        process_samples_report(s, ASCOPE_HOST_CPU, "cpu", "task");
    }
    s->lines.n = 0;
    s->lines.is_short = false;
}

/* ---- memory ---- */

/* Sums: pages that processes share are in each of them. */
static void sample_memory(struct process_sampler *s)
{
    uint64_t pages[STATM_PAGES] = { 0 };
    bool is_known = false;
    for (size_t i = 0; i < s->tree.n; i++) {
        struct proc_process *const p = &s->tree.processes[i];
        char text[256], *at = text;
        if (p->has_ended || proc_file_read(&s->tree.files, &p->statm, p->tasks, "../statm", text, sizeof text) == 0 ||
            strncmp(text, "0 0 ", 4) == 0) /* one that has ended, and nobody has waited for it */
            continue;
        is_known = true;
        for (size_t k = 0; k < STATM_PAGES; k++)
            pages[k] += strtoull(at, &at, 10);
    }
    if (!is_known) {
        if (!s->tree.has_ended && !s->has_pages)
            process_samples_report(s, ASCOPE_HOST_MEM, "mem", "statm");
        if (!s->is_last || !s->has_pages)
            return;
        memcpy(pages, s->pages, sizeof pages); /* what it had at its end: a period has two looks */
    }
    memcpy(s->pages, pages, sizeof pages);
    s->has_pages = true;
    sample_text_format(&s->text, "%llu", now());
    for (size_t k = 0; k < STATM_PAGES; k++)
        sample_text_format(&s->text, " %llu", (unsigned long long)pages[k]);
    sample_text_add(&s->text, "\n", 1);
    sample_text_put(&s->text, STREAM_HOST_MEMORY);
}

/* ---- network ---- */

/* The interfaces that the process sees; after its end those that it saw last. */
static void network_reopen(struct process_sampler *s)
{
    if (now() - s->network_opened_ns < REOPEN_NS || s->tree.n == 0 || s->tree.processes[0].tasks < 0)
        return;
    struct proc_file again = PROC_FILE_CLOSED;
    char first[2];
    s->network_opened_ns = now();
    if (proc_file_read(&s->tree.files, &again, s->tree.processes[0].tasks, "../net/dev", first, sizeof first) == 0)
        return;
    proc_file_close(&s->tree.files, &s->network);
    s->network = again;
}

/* Lines with a colon: the others are the heading. */
static void sample_network(struct process_sampler *s)
{
    network_reopen(s);
    char *const text = sample_text_room(&s->lines, FILE_MOST);
    const int dir = s->tree.n > 0 ? s->tree.processes[0].tasks : -1;
    const size_t n = text ? proc_file_read(&s->tree.files, &s->network, dir, "../net/dev", text, FILE_MOST) : 0;
    sample_text_format(&s->text, "time %llu\n", now());
    const size_t head = s->text.n;
    for (const char *at = text, *end; n > 0 && (end = memchr(at, '\n', n - (size_t)(at - text))); at = end + 1)
        if (memchr(at, ':', (size_t)(end - at)))
            sample_text_add(&s->text, at, (size_t)(end - at) + 1);
    if (s->text.n == head && !s->tree.has_ended)
        process_samples_report(s, ASCOPE_HOST_NETWORK, "network", "net/dev");
    if (s->text.n > head)
        sample_text_put(&s->text, STREAM_HOST_NETWORK);
    s->text.n = 0;
}

/* ---- disk ---- */

/* What iotop would print of this process. Whether it waits for the disk (two percentages) few kernels know. */
static void disk_line(struct process_sampler *s, uint64_t in, uint64_t out)
{
    const time_t seconds = time(NULL);
    struct tm day = { 0 };
    localtime_r(&seconds, &day);
    sample_text_format(&s->text, "%02d:%02d:%02d %d be/4 %u %llu.%02llu K/s %llu.%02llu K/s ?unavailable? %.60s\n",
                       day.tm_hour, day.tm_min, day.tm_sec, (int)s->tree.root, s->user, (unsigned long long)in / 100,
                       (unsigned long long)in % 100, (unsigned long long)out / 100, (unsigned long long)out % 100,
                       s->name);
    sample_text_put(&s->text, STREAM_HOST_DISK);
}

/* The speed that a line shows, in hundredths of KB/s: whole numbers, no locale has a say in them. What it is too small
 * to show stays for the next line. */
static uint64_t disk_speed(uint64_t bytes, uint64_t *shown, uint64_t periods)
{
    const uint64_t speed = (bytes - *shown) * 100 * PER_S / 1024 / periods;
    *shown += speed * 1024 * periods / (100 * PER_S);
    return speed;
}

/* Lines have no time of their own: there is one for each period since the start, however seldom it is looked. */
static void sample_disk(struct process_sampler *s)
{
    proc_tree_io(&s->tree);
    if (!s->tree.has_io) {
        if (!s->tree.has_ended)
            process_samples_report(s, ASCOPE_HOST_DISK, "disk", "io");
        return;
    }
    if (s->disk_from_ns == 0) {
        s->disk_from_ns = now();
        sample_text_format(&s->text, "start_time %llu\n", (unsigned long long)s->disk_from_ns);
        sample_text_put(&s->text, STREAM_HOST_DISK);
        return;
    }
    uint64_t periods = (now() - s->disk_from_ns) / PERIOD_NS;
    periods -= periods < s->disk_lines ? periods : s->disk_lines;
    if (periods == 0 && !s->is_last)
        return;
    periods = periods == 0 ? 1 : periods;
    const uint64_t in = disk_speed(s->tree.io[IO_READ_BYTES], &s->disk_read, periods),
                   out = disk_speed(s->tree.io[IO_WRITE_BYTES], &s->disk_written, periods);
    for (uint64_t i = 0; i < periods; i++)
        disk_line(s, in, out);
    s->disk_lines += periods;
}

/* ---- all of them ---- */

static const struct {
    uint32_t what;
    void (*sample)(struct process_sampler *);
} samples[] = {
    { ASCOPE_HOST_CPU, sample_cpu },
    { ASCOPE_HOST_MEM, sample_memory },
    { ASCOPE_HOST_NETWORK, sample_network },
    { ASCOPE_HOST_DISK, sample_disk },
};

static void process_look(void *of, bool is_last)
{
    struct process_sampler *const s = of;
    s->is_last = is_last;
    proc_tree_look(&s->tree, now());
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        if (s->what & samples[i].what)
            samples[i].sample(s);
}

static uint64_t process_period(const struct ascope_options *o)
{
    return o->host_sys & HOST_SAMPLED ? PERIOD_NS : 0;
}

static void process_stop(void *of)
{
    struct process_sampler *const s = of;
    proc_file_close(&s->tree.files, &s->uptime);
    proc_file_close(&s->tree.files, &s->network);
    proc_tree_fini(&s->tree);
    sample_text_fini(&s->text);
    sample_text_fini(&s->lines);
    free(s);
}

static void *process_start(const struct host_target *of, const struct ascope_options *o)
{
    struct process_sampler *const s = calloc(1, sizeof *s);
    struct stat st = { 0 };
    if (!s)
        return NULL;
    s->what = o->host_sys;
    s->uptime = s->network = PROC_FILE_CLOSED;
    proc_tree_init(&s->tree, of->pid, of->owner);
    if (s->tree.n == 0)
        message(ASCOPE_WARNING, "host_sys: process %d %s; it is not recorded", (int)of->pid,
                access("/proc/self/task", F_OK) == 0 ? "does not exist" : "cannot be seen without /proc");
    else if (fstat(s->tree.processes[0].tasks, &st) == 0)
        s->user = st.st_uid;
    snprintf(s->name, sizeof s->name, "%s", of->name);
    for (char *at = s->name; *at; at++) /* it is the end of a line */
        if ((unsigned char)*at < ' ')
            *at = '?';
    return s;
}

const struct host_source process_source = { process_period, process_start, process_look, process_stop };
