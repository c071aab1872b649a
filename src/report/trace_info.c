/* SPDX-License-Identifier: Apache-2.0 */
#include "report/trace_info.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "answers/run/chrome_kinds.h"
#include "base/files/inside.h"
#include "base/text/json_memory.h"
#include "load/trace/db_reader.h"
#include "load/trace/trace_readers.h"
#include "report/judge_report.h"
#include "report/loss_report.h"

static const struct {
    const char *key, *about;
} kind_row[] = {
    [SLICE_OPERATOR] = { "operators", "operators of the framework" },
    [SLICE_ANNOTATION] = { "ranges", "ranges of the user, and steps" },
    [SLICE_PYTHON] = { "python", "Python functions" },
    [SLICE_GC] = { "garbage_collections", "Python garbage collections" },
    [SLICE_CALL] = { "calls", "calls of the vendor's libraries" },
    [SLICE_KERNEL] = { "kernels", "kernels" },
    [SLICE_TASK] = { "tasks", "tasks of the device" },
    [SLICE_COLLECTIVE] = { "collectives", "collectives" },
    [SLICE_COPY] = { "copies", "copies" },
    [SLICE_COMPUTING] = { "computing", "times in which the device computes" },
    [SLICE_COMMUNICATING] = { "communicating", "times in which the device communicates" },
    [SLICE_UNKNOWN] = { "unknown", "work of a device, of unknown categories" },
    [SLICE_OTHER] = { "other", "other slices" },
};
enum { KIND_ROWS = sizeof kind_row / sizeof *kind_row };

struct trace_facts {
    uint64_t n[KIND_ROWS]; /* slices of each kind */
    int64_t begin_ns, end_ns;
    int64_t rank, world; /* -1: unknown */
    size_t n_steps;
    bool is_npu, has_device;
    uint64_t bytes;
    bool has_memory;
};

static void trace_times(struct trace_facts *f, const struct chrome_trace *t)
{
    f->begin_ns = INT64_MAX;
    f->end_ns = INT64_MIN;
    for (size_t i = 0; i < t->slices.n; i++) {
        const int64_t begin = t->slices.begin_ns[i], end = begin + t->slices.dur_ns[i];
        f->begin_ns = begin < f->begin_ns ? begin : f->begin_ns;
        f->end_ns = end > f->end_ns ? end : f->end_ns;
    }
    if (f->begin_ns > f->end_ns)
        f->begin_ns = f->end_ns = 0;
}

static struct trace_facts trace_facts(const struct input *input, const struct recording *l)
{
    const struct chrome_trace *t = &l->of_file.trace;
    struct trace_facts f = { .rank = -1, .world = -1 };
    struct arena *mem = arena_new();
    struct chrome_kinds kinds;
    struct step_series steps;
    struct stat st;
    const struct run_rank view = recording_rank(l, 0);
    f.has_memory = mem && chrome_kinds_init(&kinds, t, mem) && run_rank_series(&steps, &view, mem);
    for (size_t i = 0; f.has_memory && i < t->slices.n; i++)
        f.n[chrome_kind(&kinds, i)]++;
    for (size_t k = SLICE_KERNEL; k < KIND_ROWS; k++)
        f.has_device |= f.n[k] > 0;
    f.is_npu = f.has_memory && kinds.is_npu;
    f.n_steps = f.has_memory && !steps.is_whole ? steps.n : 0;
    f.bytes = inside_stat(input->file, &st) == 0 ? (uint64_t)st.st_size : 0;
    if (!chrome_rank(t, &f.rank))
        f.rank = -1;
    const struct json_span info = chrome_fact(t, "distributedInfo"),
                           world = info.at ? json_find(info, "world_size") : info;
    if (!world.at || !json_fixed(world, 0, &f.world) || f.world <= 0)
        f.world = -1;
    trace_times(&f, t);
    arena_free(mem);
    return f;
}

static const char *format_of(const struct input *input)
{
    return db_is_database(input->file) ? "database" : pftrace_is_name(input->file) ? "pftrace" : "trace";
}

static const char *device_of(const struct trace_facts *f)
{
    return !f->has_device ? NULL : f->is_npu ? "NPU" : "GPU";
}

void trace_info_print(const struct term *t, const struct input *input, const struct recording *l)
{
    const struct chrome_trace *c = &l->of_file.trace;
    const struct trace_facts f = trace_facts(input, l);
    const char *device = device_of(&f);
    char a[READABLE_MOST], b[READABLE_MOST];
    fputs(term_ink(t, INK_BOLD), t->to);
    term_text(t, input->path, 0);
    fputs(term_ink(t, INK_END), t->to);
    if (input->path != input->file && strcmp(input->path, input->file) != 0) {
        fputs("\n  results without recorded data: ", t->to);
        term_text(t, input->file, 0);
    }
    fprintf(t->to, "\n  %s, %s", strcmp(format_of(input), "database") == 0 ? "database of results" : "trace",
            readable_bytes(a, f.bytes));
    if (f.rank >= 0)
        fprintf(t->to, ", rank %" PRId64, f.rank);
    if (f.rank >= 0 && f.world > 0)
        fprintf(t->to, " of %" PRId64, f.world);
    fprintf(t->to, ", %s, ", device ? device : "host only");
    if (f.n_steps > 0)
        fprintf(t->to, "%zu step%s, ", f.n_steps, f.n_steps == 1 ? "" : "s");
    else
        fputs("no steps, ", t->to);
    fprintf(t->to, "%s", readable_duration(a, (double)(f.end_ns - f.begin_ns)));
    const time_t begin = (time_t)(f.begin_ns / 1000000000);
    struct tm date;
    if (f.begin_ns > INT64_C(1000000000) * 86400 * 365 && gmtime_r(&begin, &date)) /* else since an unknown moment */
        fprintf(t->to, " since %04d-%02d-%02d %02d:%02d:%02d UTC", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday,
                date.tm_hour, date.tm_min, date.tm_sec);
    if (c->steps.by) {
        fputs("\n  ", t->to);
        steps_by_put(t, c->steps.by);
    }
    fprintf(t->to, "%s  processes: %zu, tracks: %zu, values of counters: %s, flow events: %s\n\n",
            c->steps.by ? "" : "\n", c->processes.n, c->tracks.n, readable_count(a, c->counters.n),
            readable_count(b, c->flows.n));
    for (size_t k = 0; k < KIND_ROWS; k++) {
        const size_t kind = (k + 1) % KIND_ROWS; /* others last */
        if (f.n[kind] > 0 && kind_row[kind].key)
            fprintf(t->to, "    %11s %s%s%s\n", readable_count(a, f.n[kind]), term_ink(t, INK_DIM),
                    kind_row[kind].about, term_ink(t, INK_END));
    }
    losses_print(t, &l->lost);
    fputc('\n', t->to);
}

json_t *trace_info_json(const struct input *input, const struct recording *l)
{
    const struct chrome_trace *c = &l->of_file.trace;
    const struct trace_facts f = trace_facts(input, l);
    const char *device = device_of(&f);
    json_t *slices = json_object();
    for (size_t k = 0; k < KIND_ROWS; k++)
        if (f.n[k] > 0)
            json_object_set_new(slices, kind_row[k].key, json_integer((json_int_t)f.n[k]));
    return json_pack("{s:o, s:o, s:s, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}",
                     "path", text_json(input->path), "file", text_json(input->file), "format", format_of(input),
                     "bytes", (json_int_t)f.bytes, "rank", f.rank < 0 ? json_null() : json_integer(f.rank),
                     "world_size", f.world < 0 ? json_null() : json_integer(f.world), "device",
                     device ? json_string(device) : json_null(), "begin_ns", (json_int_t)f.begin_ns, "end_ns",
                     (json_int_t)f.end_ns, "steps", (json_int_t)f.n_steps, "processes", (json_int_t)c->processes.n,
                     "tracks", (json_int_t)c->tracks.n, "instants", (json_int_t)c->instants.n, "counters",
                     (json_int_t)c->counters.n, "flows", (json_int_t)c->flows.n, "slices", slices, "losses",
                     losses_json(&l->lost), "steps_by", text_or_null(c->steps.by));
}
