/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/samplers/host_sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "collect/samplers/proc_files.h"
#include "collect/session/host_clock.h"
#include "collect/session/message.h"
#include "collect/write/outputs.h"

/* Reading may ask the firmware, which takes tens of us each. */
static const uint64_t PERIOD_LEAST_NS = 20000000;
enum { NAME_ROOM = 64 };

/* port_rcv_data and port_xmit_data count words of 4 bytes; the rest is as sysfs calls it. Not every driver has all. */
static const char *const counters[] = {
    "counters/port_rcv_data",      "counters/port_xmit_data",    "counters/port_rcv_packets",
    "counters/port_xmit_packets",  "counters/port_rcv_errors",   "counters/port_xmit_discards",
    "hw_counters/out_of_sequence", "hw_counters/packet_seq_err", "hw_counters/local_ack_timeout_err",
    "hw_counters/np_cnp_sent",     "hw_counters/rp_cnp_handled", "hw_counters/rnr_nak_retry_err",
};
enum { COUNTERS = sizeof counters / sizeof *counters };

struct roce_port {
    char name[NAME_ROOM]; /* "mlx5_0/1" */
    int dir;
    struct proc_file file[COUNTERS];
    bool has[COUNTERS];
    struct roce_port *next;
};

struct roce_sampler {
    struct proc_files files;
    struct roce_port *ports; /* as they are listed */
    struct sample_text text;
};

static void roce_look(void *of, bool is_last)
{
    struct roce_sampler *const s = of;
    char value[64];
    sample_text_format(&s->text, "time %llu\n", (unsigned long long)host_clock_raw_ns());
    for (struct roce_port *p = s->ports; p; p = p->next) {
        sample_text_format(&s->text, "%s", p->name);
        for (size_t i = 0; i < COUNTERS; i++)
            if (p->has[i] && proc_file_read(&s->files, &p->file[i], p->dir, counters[i], value, sizeof value) > 0 &&
                value[0] >= '0' && value[0] <= '9') /* "N/A": the driver has the file, not the counter */
                sample_text_format(&s->text, " %s=%llu", strchr(counters[i], '/') + 1, strtoull(value, NULL, 10));
        sample_text_add(&s->text, "\n", 1);
    }
    if (s->ports)
        sample_text_put(&s->text, STREAM_HOST_ROCE);
    s->text.n = 0;
    (void)is_last;
}

static uint64_t roce_period(const struct ascope_options *o)
{
    const uint64_t asked = o->io_hz ? 1000000000 / o->io_hz : 0;
    return asked == 0 || asked > PERIOD_LEAST_NS ? asked : PERIOD_LEAST_NS;
}

static void port_add(struct roce_sampler *s, int devices, const char *device, const char *port)
{
    char path[600];
    struct roce_port *const p = calloc(1, sizeof *p);
    if (!p)
        return;
    snprintf(path, sizeof path, "%.255s/ports/%.255s", device, port);
    snprintf(p->name, sizeof p->name, "%.40s/%.20s", device, port);
    p->dir = openat(devices, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool has_any = false;
    for (size_t i = 0; p->dir >= 0 && i < COUNTERS; i++) {
        p->file[i] = PROC_FILE_CLOSED;
        p->has[i] = faccessat(p->dir, counters[i], R_OK, 0) == 0;
        has_any |= p->has[i];
    }
    if (!has_any) {
        if (p->dir >= 0)
            close(p->dir);
        free(p);
        return;
    }
    struct roce_port **at = &s->ports; /* by name */
    while (*at && strcmp((*at)->name, p->name) < 0)
        at = &(*at)->next;
    p->next = *at;
    *at = p;
}

static DIR *list_open(int dir, const char *name)
{
    const int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list && fd >= 0)
        close(fd);
    return list;
}

static void ports_find(struct roce_sampler *s, const char *path)
{
    DIR *const devices = list_open(AT_FDCWD, path);
    int why = 0;
    for (const char *device; devices && (device = dir_next(devices, &why));) {
        char below[300];
        snprintf(below, sizeof below, "%.255s/ports", device);
        DIR *const ports = list_open(dirfd(devices), below);
        for (const char *port; ports && (port = dir_next(ports, &why));)
            port_add(s, dirfd(devices), device, port);
        if (ports)
            closedir(ports);
    }
    if (devices)
        closedir(devices);
}

static void roce_stop(void *of)
{
    struct roce_sampler *const s = of;
    for (struct roce_port *p = s->ports, *next; p; p = next) {
        next = p->next;
        for (size_t i = 0; i < COUNTERS; i++)
            proc_file_close(&s->files, &p->file[i]);
        proc_close(p->dir);
        free(p);
    }
    sample_text_fini(&s->text);
    free(s);
}

static void *roce_start(const struct host_target *of, const struct ascope_options *o)
{
    struct roce_sampler *const s = calloc(1, sizeof *s);
    char path[PATH_MAX];
    if (!s)
        return NULL;
    s->files = proc_files_limit(of->pid == of->owner);
    snprintf(path, sizeof path, "%s/class/infiniband", of->sysfs ? of->sysfs : "/sys");
    ports_find(s, path);
    if (!s->ports && !of->has_device)
        message(ASCOPE_WARNING, "sys_io: no device and no port with counters in %s; nothing is recorded", path);
    (void)o;
    return s;
}

const struct host_source roce_source = { roce_period, roce_start, roce_look, roce_stop };
