/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/text/json_memory.h"
#include "cli/commands/one_collection.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "export/pages/export_pages.h"
#include "report/loss_report.h"
#include "report/term.h"

/* The first setting that a memory timeline needs and the collection lacks; NULL: none. */
static const char *missing_setting(const struct collection_settings *s)
{
    return !s->record_shapes                    ? "record_shapes"
           : !s->profile_memory                 ? "profile_memory"
           : !s->with_stack && !s->with_modules ? "with_stack or with_modules"
                                                : NULL;
}

/* "npu:0, npu:1, cpu" */
static const char *devices_text(const struct collection *s, char *out, size_t size)
{
    enum { SHOWN_MOST = 20 };
    struct memory_device device[SHOWN_MOST];
    const size_t n = memory_devices(s, device, SHOWN_MOST);
    size_t len = 0;
    *out = '\0';
    for (size_t i = 0; i < n && len < size; i++) {
        char name[MEMORY_DEVICE_TEXT];
        len += (size_t)snprintf(out + len, size - len, "%s%s", i > 0 ? ", " : "", memory_device_text(device[i], name));
    }
    return out;
}

/* The moment of the largest use, and the use by category. */
struct peak {
    size_t n_points;
    int64_t bytes, begin_us;
    struct memory_point at;
};

static struct peak peak_of(const struct memory_timeline *m)
{
    struct peak peak = { .bytes = INT64_MIN };
    struct memory_points p = memory_points_of(m);
    peak.begin_us = p.begin_us;
    for (; memory_points_next(&p); peak.n_points++) {
        int64_t bytes = 0;
        for (size_t i = 0; i < MEMORY_CATEGORIES; i++)
            bytes += p.now.bytes[i];
        if (bytes > peak.bytes) {
            peak.bytes = bytes;
            peak.at = p.now;
        }
    }
    return peak;
}

static uint64_t positive(int64_t bytes)
{
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static void print_report(const struct term *t, const struct memory_timeline *m, const char *out,
                         const struct losses *lost)
{
    const struct peak peak = peak_of(m);
    char device[MEMORY_DEVICE_TEXT], n[READABLE_MOST], bytes[READABLE_MOST], time[READABLE_MOST];
    term_text(t, out, 0);
    fprintf(t->to, ": memory of %s, %s points\n  peak: %s%s%s after %s\n", memory_device_text(m->device, device),
            readable_count(n, peak.n_points), term_ink(t, INK_BOLD), readable_bytes(bytes, positive(peak.bytes)),
            term_ink(t, INK_END), readable_duration(time, 1e3 * (double)(peak.at.time_us - peak.begin_us)));
    for (size_t i = 0; i < MEMORY_CATEGORIES; i++)
        if (peak.at.bytes[i] != 0)
            fprintf(t->to, "    %-15s %10s %5.1f %%\n", memory_category_name[i],
                    readable_bytes(bytes, positive(peak.at.bytes[i])),
                    100.0 * (double)peak.at.bytes[i] / (double)peak.bytes);
    if (m->before_bytes > 0)
        fprintf(t->to, "  allocated before the recording, included above: %s\n",
                readable_bytes(bytes, m->before_bytes));
    fprintf(t->to, "  peak allocated %s, ", readable_bytes(bytes, positive(m->peaks.allocated.bytes)));
    fprintf(t->to, "peak reserved %s%s\n", readable_bytes(bytes, positive(m->peaks.reserved.bytes)),
            m->peaks.is_partial ? ", both excluding memory allocated before the recording" : "");
    losses_print(t, lost);
}

static json_t *export_memory_timeline_report(const struct memory_timeline *m, const char *out,
                                             const struct losses *lost)
{
    const struct peak peak = peak_of(m);
    char device[MEMORY_DEVICE_TEXT];
    json_t *by_category = json_object();
    for (size_t i = 0; i < MEMORY_CATEGORIES; i++)
        json_object_set_new(by_category, memory_category_name[i], json_integer(peak.at.bytes[i]));
    return json_pack("[{s:o, s:s, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:b, s:o}]", "file", text_json(out), "device",
                     memory_device_text(m->device, device), "points", (json_int_t)peak.n_points, "peak_bytes",
                     (json_int_t)peak.bytes, "peak_us", (json_int_t)peak.at.time_us, "peak_by_category", by_category,
                     "before_bytes", (json_int_t)m->before_bytes, "max_allocated_bytes",
                     (json_int_t)m->peaks.allocated.bytes, "max_reserved_bytes", (json_int_t)m->peaks.reserved.bytes,
                     "since_recording", m->peaks.is_partial, "losses", losses_json(lost));
}

/* Adds the losses that concern memory. Of the device only the clock is used, and it is not analysed: its profile
 * then counts nothing but folders that could not be used. */
static void merge_losses(const struct collection *s, struct losses *lost)
{
    static const enum framework_file_id read[] = {
        FRAMEWORK_OPS, FRAMEWORK_MEMORY, FRAMEWORK_PYTHON, FRAMEWORK_PYTHON_KEYS, FRAMEWORK_PARAMS,
    };
    losses_merge(lost, &s->lost);
    losses_merge(lost, &s->profile.lost);
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        losses_merge(lost, &s->framework.file[read[i]].lost);
}

static enum exit_status write_timeline(struct arguments *a, const struct collection *s, struct memory_device device,
                                       const char *out, struct arena *mem)
{
    struct memory_timeline m;
    struct losses lost = { 0 };
    struct error e = { 0 };
    char name[MEMORY_DEVICE_TEXT], seen[200];
    if (!memory_timeline_find(&m, s, device, &lost, mem, &e)) {
        complain("%s", e.text);
        return STATUS_NOTHING;
    }
    if (m.n == 0) {
        char why[300];
        devices_text(s, seen, sizeof seen);
        snprintf(why, sizeof why, "the memory of %s was not recorded%s%s", memory_device_text(device, name),
                 *seen ? "; --device may be " : "", seen);
        complain_nothing(s, why);
        return STATUS_NOTHING;
    }
    if (!memory_timeline_write(&m, s->name, out, &e)) {
        complain("%s", e.text);
        return STATUS_NOTHING;
    }
    merge_losses(s, &lost);
    const enum exit_status status = collection_status(s, &lost);
    if (a->json)
        return json_report(a, "timelines", export_memory_timeline_report(&m, out, &lost), status);
    struct term t;
    term_init(&t, report_stream(out));
    if (!a->quiet)
        print_report(&t, &m, out, &lost);
    return status;
}

static enum exit_status write_out(struct arguments *a, const struct collection *s, const char *out)
{
    enum exit_status status = STATUS_NOTHING;
    struct memory_device device;
    struct arena *mem = arena_new();
    const char *missing = missing_setting(&s->settings);
    if (!mem)
        complain_no_memory(s->path);
    else if (!s->settings.has_cpu)
        complain("%s: no data of %s; a memory timeline requires the activity CPU", s->path,
                 framework_names[s->framework_id].name);
    else if (missing)
        complain(
            "%s: recorded without %s; a memory timeline requires record_shapes, profile_memory, and with_stack or with_modules",
            s->path, missing);
    else if (!a->device || memory_device_read(a->device, &device))
        status = write_timeline(a, s, a->device ? device : memory_usual_device(s), out, mem);
    arena_free(mem);
    return status;
}

int run_export_memory_timeline(struct arguments *a)
{
    static const struct one_collection timeline = {
        .wanted = "the file to write, whose name ends with .html, .json, .json.gz or .raw.json.gz",
        .keeps_tensors = true,
        .write = write_out,
    };
    struct memory_device device;
    if (a->device && !memory_device_read(a->device, &device)) {
        complain("--device %s: accepted are cpu, npu:N and cuda:N with a number", a->device);
        return exit_code(a->face, STATUS_PARAMETER);
    }
    return one_collection_run(a, &timeline);
}
