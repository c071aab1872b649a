/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/describe/recording_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/files/durable.h"
#include "base/files/kept.h"
#include "base/files/seal.h"
#include "collect/describe/json_text.h"
#include "collect/session/listeners.h"
#include "collect/session/place.h"
#include "raw/family.h"

static void clock_facts(struct json_text *t, const struct ascope_session *s)
{
    json_text_add(
        t,
        "  \"clock\": {\"kind\": \"%s\", \"mhz\": %.9f, \"start_uncertainty_ns\": %llu, \"stop_uncertainty_ns\": %llu, "
        "\"first_mhz\": %.9f},\n  \"devices\": [",
        host_clock_is_counter ? "counter" : "ns", s->mhz, (unsigned long long)s->first.uncertainty_ns,
        (unsigned long long)s->last.uncertainty_ns, host_clock_first_mhz());
    for (unsigned i = 0; i < s->n_devices; i++) {
        const struct session_device *d = &s->devices[i];
        const double mhz = info_device_mhz(d);
        json_text_add(
            t,
            "%s\n    {\"id\": %d, \"start_uncertainty_ns\": %llu, \"stop_uncertainty_ns\": %llu, \"nominal_mhz\": "
            "%.9f, "
            "\"mhz\": %.9f, \"drift_ppm\": %.3f}",
            i > 0 ? "," : "", d->is.id, (unsigned long long)d->first.uncertainty_ns,
            (unsigned long long)d->last.uncertainty_ns, d->is.counter_mhz, mhz, (mhz / d->is.counter_mhz - 1) * 1e6);
    }
    json_text_add(t, "],\n");
}

static void drop_facts(struct json_text *t, const struct writer_tally *tally)
{
    unsigned n = 0;
    json_text_add(t, "  \"dropped\": [");
    for (unsigned i = 0; i < STREAM_KINDS; i++)
        for (unsigned r = 0; r < DROP_REASONS; r++) {
            const uint64_t count = drop_count(&tally->reasons, r, i, tally->dropped[i]);
            if (count > 0)
                json_text_add(t, "%s{\"what\": \"%s\", \"count\": %llu, \"reason\": \"%s\"}", n++ > 0 ? ", " : "",
                              stream_table[i].what, (unsigned long long)count, drop_reason_key(r));
        }
    json_text_add(t, "],\n");
}

static uint64_t sum(const uint64_t *n, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += n[i];
    return all;
}

/* A step's part is what was there when the next one began, less what was there when it began. */
static void step_facts(struct json_text *t, const struct ascope_session *s)
{
    const struct writer_tally *last = &s->tally;
    const struct session_step end = { .n_records = last->put_records,
                                      .n_bytes = last->put_bytes,
                                      .n_dropped = sum(last->dropped, STREAM_KINDS),
                                      .hook_ns = last->hook_ns,
                                      .lag_most_ns = last->lag_since_ns };
    json_text_add(t, "  \"steps\": [");
    for (size_t i = 0; i < s->n_steps; i++) {
        const struct session_step *a = &s->steps[i], *b = i + 1 < s->n_steps ? &s->steps[i + 1] : &end;
        json_text_add(
            t,
            "%s\n    {\"step\": %llu, \"records\": %llu, \"bytes\": %llu, \"dropped\": %llu, \"hook_ns\": %llu, "
            "\"lag_most_ns\": %llu}",
            i > 0 ? "," : "", (unsigned long long)a->number, (unsigned long long)(b->n_records - a->n_records),
            (unsigned long long)(b->n_bytes - a->n_bytes), (unsigned long long)(b->n_dropped - a->n_dropped),
            (unsigned long long)(b->hook_ns - a->hook_ns), (unsigned long long)b->lag_most_ns);
    }
    json_text_add(t, "]\n");
}

enum { FACTS_PATH = PATH_MAX + 64 };

static void facts_path(const struct ascope_session *s, char path[FACTS_PATH])
{
    snprintf(path, FACTS_PATH, "%s/ascope.json", s->path);
}

void facts_remove(const struct ascope_session *s)
{
    char path[FACTS_PATH];
    facts_path(s, path);
    unlink(path);
}

static bool facts_put(const struct ascope_session *s, const struct seal *seal, struct error *e)
{
    const struct writer_tally *tally = &s->tally;
    const bool is_over = s->state == SESSION_STOPPED;
    struct json_text t = { 0 };
    char path[FACTS_PATH];
    json_text_add(&t,
                  "{\"ascope\": \"%s\", \"abi\": %d, \"simulated\": %s, \"device\": \"%s\", \"ended\": \"%s\", "
                  "\"session\": \"%s\",\n",
                  ascope_version(), ASCOPE_ABI, s->n_devices > 0 && s->devices[0].is.is_simulated ? "true" : "false",
                  s->device ? s->device->name : "none", is_over ? "stop" : "running", s->trace_id);
    if (!is_over && s->o.ring_dir) {
        json_text_add(&t, "  \"rings\": ");
        json_text_string(&t, s->rings);
        json_text_add(&t, ",\n");
    }
    if (s->is_adopted)
        json_text_add(&t, "  \"slices_from\": %d,\n", SLICE_BESIDE);
    if (s->flight_facts)
        json_text_add(&t, "  \"flight\": %s,\n", s->flight_facts);
    if (!listeners_any())
        json_text_add(&t, "  \"native\": true,\n");
    if (seal)
        json_text_add(&t, "  \"files\": {\"list_bytes\": %llu, \"list_sum\": \"%016llx\"},\n",
                      (unsigned long long)seal->bytes, (unsigned long long)seal->sum);
    clock_facts(&t, s);
    json_text_add(&t, "  \"written\": {\"records\": %llu, \"bytes\": %llu},\n", (unsigned long long)tally->n_records,
                  (unsigned long long)tally->n_bytes);
    drop_facts(&t, tally);
    json_text_add(&t, "  \"damaged\": %d,\n", tally->is_gone);
    json_text_add(
        &t,
        "  \"aged\": {\"slices\": %llu, \"bytes\": %llu}, \"open_ranges\": %llu, \"hook_ns\": %llu, \"lag_most_ns\": "
        "%llu, "
        "\"fill_most_percent\": %u, \"threads\": %u,\n",
        (unsigned long long)tally->aged_slices, (unsigned long long)tally->aged_bytes,
        (unsigned long long)tally->open_ranges, (unsigned long long)tally->hook_ns,
        (unsigned long long)tally->lag_most_ns, tally->fill_most_percent, tally->n_rings);
    step_facts(&t, s);
    json_text_add(&t, "}\n");
    facts_path(s, path);
    const bool is_written = t.is_short ? error_no_memory(e, path) : place_file(path, t.at, t.n, session_how(s), e);
    json_text_fini(&t);
    return is_written;
}

bool facts_write(const struct ascope_session *s, struct error *e)
{
    return facts_put(s, NULL, e);
}

bool facts_end(const struct ascope_session *s, struct error *e)
{
    struct kept dir = KEPT_NONE;
    struct seal seal;
    int why = kept_open(&dir, AT_FDCWD, s->path, O_RDONLY | O_DIRECTORY, 0) ? 0 : errno;
    if (!why) {
        why = seal_make(dir.fd, NULL, writer_sums, &seal);
        /* the program has closed the descriptor, so the sync may have failed */
        why = !why && kept_fd(&dir) < 0 ? errno : why;
        kept_close(&dir);
    }
    why = why ? why : durable_name(s->path);
    if (why)
        return error_set(e, FAULT_IO, "%s: cannot be written: %s", s->path, place_trouble(why));
    if (!facts_put(s, &seal, e))
        return false;
    why = durable_dir(AT_FDCWD, s->path);
    return why == 0 || error_set(e, FAULT_IO, "%s: cannot be written: %s", s->path, place_trouble(why));
}

/* Numbers of implementers and parts, as /proc/cpuinfo prints them. */
static const struct {
    const char *implementer, *name;
} maker[] = {
    { "0x41", "ARM" },       { "0x42", "Broadcom" }, { "0x43", "Cavium" },    { "0x44", "DigitalEquipment" },
    { "0x48", "HiSilicon" }, { "0x49", "Infineon" }, { "0x4d", "Freescale" }, { "0x4e", "NVIDIA" },
    { "0x50", "APM" },       { "0x51", "Qualcomm" }, { "0x56", "Marvell" },   { "0x69", "Intel" },
};
static const struct {
    const char *implementer, *part, *name;
} type[] = {
    { "0x41", "0xd03", "ARMv8_Cortex_A53" }, { "0x41", "0xd05", "ARMv8_Cortex_A55" },
    { "0x41", "0xd07", "ARMv8_Cortex_A57" }, { "0x41", "0xd08", "ARMv8_Cortex_A72" },
    { "0x41", "0xd09", "ARMv8_Cortex_A73" }, { "0x48", "0xd01", "TaishanV110" },
};

void proc_field(const char *path, const char *name, char *value, size_t size)
{
    FILE *f = fopen(path, "re");
    char line[512];
    *value = '\0';
    while (f && !*value && fgets(line, sizeof line, f)) {
        const size_t n = strlen(name);
        if (strncmp(line, name, n) != 0 || !strchr(" \t:", line[n]))
            continue;
        const char *at = line + n + strspn(line + n, " \t:");
        snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
    }
    if (f)
        fclose(f);
}

struct cpu_names cpu_names(const char *cpuinfo)
{
    struct cpu_names cpu;
    char implementer[32], part[32];
    proc_field(cpuinfo, "vendor_id", cpu.maker, sizeof cpu.maker);
    proc_field(cpuinfo, "model name", cpu.type, sizeof cpu.type);
    proc_field(cpuinfo, "CPU implementer", implementer, sizeof implementer);
    proc_field(cpuinfo, "CPU part", part, sizeof part);
    for (size_t i = 0; i < sizeof maker / sizeof *maker && !*cpu.maker; i++)
        if (strcasecmp(maker[i].implementer, implementer) == 0)
            snprintf(cpu.maker, sizeof cpu.maker, "%s", maker[i].name);
    /* the names of this table are more exact than the kernel's */
    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        if (strcasecmp(type[i].implementer, implementer) == 0 && strcasecmp(type[i].part, part) == 0)
            snprintf(cpu.type, sizeof cpu.type, "%s", type[i].name);
    return cpu;
}
