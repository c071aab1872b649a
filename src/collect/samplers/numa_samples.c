/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samplers/host_sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/samplers/proc_files.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "collect/write/outputs.h"

enum { NODES_MOST = 1024, TEXT_MOST = 4096, SHARE_OF_CPU = 100 };
static const uint64_t PERIOD_NS = 1000000000;

struct numa_node {
    struct proc_file numastat;
    bool is_there;
    uint64_t kb; /* of the processes, at this look */
};

struct numa_sampler {
    struct proc_tree tree;
    int nodes; /* the folder in sysfs; -1: there is none */
    struct numa_node node[NODES_MOST];
    unsigned n_nodes; /* none from this one on */
    uint64_t next_ns;
    bool has_maps, is_reported;
    struct sample_text text;
};

/* A mapping: "<address> <policy> … N0=<pages> N1=<pages> … kernelpagesize_kB=<kb>". */
static void mapping_add(struct numa_sampler *s, const char *line)
{
    const char *const size = strstr(line, "kernelpagesize_kB=");
    const uint64_t page_kb = size ? strtoull(size + strlen("kernelpagesize_kB="), NULL, 10) : 4;
    for (const char *at = line; (at = strstr(at, " N")); at += 2) {
        char *end;
        const unsigned long node = strtoul(at + 2, &end, 10);
        if (end == at + 2 || *end != '=' || node >= NODES_MOST)
            continue;
        s->node[node].kb += strtoull(end + 1, NULL, 10) * page_kb;
        s->n_nodes = node >= s->n_nodes ? (unsigned)node + 1 : s->n_nodes;
        s->node[node].is_there = true;
    }
}

static bool process_add(struct numa_sampler *s, const struct proc_process *p)
{
    const int fd = openat(p->tasks, "../numa_maps", O_RDONLY | O_CLOEXEC);
    FILE *const maps = fd >= 0 ? fdopen(fd, "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    bool is_known = false;
    errno = fd < 0 ? errno : 0;
    while (maps && getline(&line, &room, maps) > 0) {
        mapping_add(s, line);
        is_known = true;
    }
    const int why = errno;
    free(line);
    if (maps)
        fclose(maps);
    else if (fd >= 0)
        close(fd);
    errno = why;
    return is_known;
}

/* "numa_hit <n>" and others, one in a line; they are the machine's. */
static void numastat_add(struct numa_sampler *s, unsigned node)
{
    char name[48], text[TEXT_MOST];
    snprintf(name, sizeof name, "node%u/numastat", node);
    proc_file_read(&s->tree.files, &s->node[node].numastat, s->nodes, name, text, sizeof text);
    for (char *at = text, *blank, *end; (blank = strchr(at, ' ')) && (end = strchr(blank, '\n')); at = end + 1)
        sample_text_format(&s->text, " %.*s=%.*s", (int)(blank - at), at, (int)(end - blank - 1), blank + 1);
}

static void numa_samples_report(struct numa_sampler *s)
{
    if (!s->is_reported)
        message(ASCOPE_WARNING, "host_sys numa: /proc/%d/numa_maps cannot be read: %s; nothing is recorded",
                (int)s->tree.root, strerror(errno));
    s->is_reported = true;
}

static void numa_look(void *of, bool is_last)
{
    struct numa_sampler *const s = of;
    const uint64_t begin = host_clock_raw_ns();
    bool is_known = false;
    if (begin < s->next_ns && !is_last)
        return;
    proc_tree_look(&s->tree, begin);
    for (unsigned i = 0; i < s->n_nodes; i++)
        s->node[i].kb = 0;
    for (size_t i = 0; i < s->tree.n; i++)
        is_known |= !s->tree.processes[i].has_ended && process_add(s, &s->tree.processes[i]);
    if (!is_known && !s->tree.has_ended && !s->has_maps)
        numa_samples_report(s);
    s->has_maps |= is_known;
    if (is_known) {
        sample_text_format(&s->text, "time %llu\n", (unsigned long long)host_clock_raw_ns());
        for (unsigned i = 0; i < s->n_nodes; i++) {
            if (!s->node[i].is_there)
                continue;
            sample_text_format(&s->text, "node%u memory_kb=%llu", i, (unsigned long long)s->node[i].kb);
            numastat_add(s, i);
            sample_text_add(&s->text, "\n", 1);
        }
        sample_text_put(&s->text, STREAM_HOST_NUMA);
    }
    s->next_ns = begin + (host_clock_raw_ns() - begin) * SHARE_OF_CPU;
}

static uint64_t numa_period(const struct ascope_options *o)
{
    return o->host_sys & ASCOPE_HOST_NUMA ? PERIOD_NS : 0;
}

static void numa_stop(void *of)
{
    struct numa_sampler *const s = of;
    for (unsigned i = 0; i < NODES_MOST; i++)
        proc_file_close(&s->tree.files, &s->node[i].numastat);
    proc_tree_fini(&s->tree);
    sample_text_fini(&s->text);
    proc_close(s->nodes);
    free(s);
}

static void *numa_start(const struct host_target *of, const struct ascope_options *o)
{
    struct numa_sampler *const s = calloc(1, sizeof *s);
    char path[PATH_MAX];
    if (!s)
        return NULL;
    snprintf(path, sizeof path, "%s/devices/system/node", of->sysfs ? of->sysfs : "/sys");
    s->nodes = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 0; i < NODES_MOST; i++) {
        char name[32];
        snprintf(name, sizeof name, "node%u", i);
        s->node[i].numastat = PROC_FILE_CLOSED;
        s->node[i].is_there = s->nodes >= 0 && faccessat(s->nodes, name, F_OK, 0) == 0;
        s->n_nodes = s->node[i].is_there ? i + 1 : s->n_nodes;
    }
    proc_tree_init(&s->tree, of->pid, of->owner);
    (void)o;
    return s;
}

const struct host_source numa_source = { numa_period, numa_start, numa_look, numa_stop };
