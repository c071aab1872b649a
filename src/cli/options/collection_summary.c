/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/work.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/steps/profiler_steps.h"
#include "base/text/json_memory.h"
#include "cli/options/summary.h"
#include "report/loss_report.h"
#include "report/range_table.h"
#include "report/recording_report.h"
#include "report/step_table.h"

/* Times of operators by name: their own time on the host, without nested operators, and the time of their kernels; and
 * times of Python functions without the calls inside them. */
struct costs {
    struct top *host, *device, *python; /* the largest first */
    size_t n_host, n_device, n_python;
    double host_ns, device_ns, python_ns; /* sums over all of them */
};

static void costs_free(struct costs *c)
{
    free(c->host);
    free(c->device);
    free(c->python);
}

static void collection_summary_add(struct top *sum, name_id name, double dur_ns, double *all)
{
    sum->name = name;
    sum->n++;
    sum->dur_ns += dur_ns;
    *all += dur_ns;
}

static bool costs_sum_python(const struct collection *s, size_t most, struct costs *out)
{
    const struct names *names = s->profile.names;
    const size_t n_names = names_count(names);
    struct python_self *self = calloc(n_names, sizeof *self);
    const bool done = self && python_self_sum(self, &s->framework.python);
    for (size_t i = 0; done && i < n_names; i++) {
        out->python[i] = (struct top){ .name = (name_id)i, .n = self[i].n, .dur_ns = (double)self[i].ns };
        out->python_ns += (double)self[i].ns;
    }
    out->n_python = done ? top_take(names, out->python, n_names, most) : 0;
    free(self);
    return done;
}

/* False: no memory. */
static bool costs_sum(const struct collection *s, size_t most, struct costs *out)
{
    const struct framework_ops *o = &s->framework.ops;
    const struct names *names = s->profile.names;
    const size_t n_names = names_count(names);
    *out = (struct costs){ .host = calloc(n_names, sizeof *out->host),
                           .device = calloc(n_names, sizeof *out->device),
                           .python = calloc(n_names, sizeof *out->python) };
    if (!out->host || !out->device || !out->python)
        return false;
    for (size_t at = 0; at < o->n; at++) {
        const uint32_t row = s->tree.by_begin[at];
        if (name_is_step(names, o->name[row]))
            continue;
        const name_id label = framework_op_label(o, row);
        collection_summary_add(&out->host[label], label, (double)s->tree.self_ns[row], &out->host_ns);
        double device_ns = 0; /* a run of a collective has several tasks */
        for (uint32_t k = s->tree.first_started[at]; k < s->tree.first_started[at + 1]; k++)
            device_ns += s->kernels.dur_us[s->tree.started[k]] * 1000;
        if (s->tree.first_started[at + 1] > s->tree.first_started[at])
            collection_summary_add(&out->device[label], label, device_ns, &out->device_ns);
    }
    out->n_host = top_take(names, out->host, n_names, most);
    out->n_device = top_take(names, out->device, n_names, most);
    return costs_sum_python(s, most, out);
}

static void put_found(const struct term *t, const struct collection *s)
{
    const struct framework *f = &s->framework;
    size_t n_tasks = 0, n_collectives = 0;
    for (size_t i = 0; i < s->profile.n_devices; i++) {
        n_tasks += s->profile.device[i].tasks.n;
        n_collectives += s->profile.device[i].comm.ops.n;
    }
    const struct {
        size_t n;
        const char *one, *many;
    } fact[] = {
        { f->ops.n, "operator", "operators" },
        { s->steps.n, "step", "steps" },
        { f->python.n, "Python call", "Python calls" },
        { f->memory.n, "memory event", "memory events" },
        { s->profile.host.calls.n, "host call", "host calls" },
        { n_tasks, "device task", "device tasks" },
        { n_collectives, "collective", "collectives" },
        { s->profile.host.records.marks.n, "mark", "marks" },
    };
    const char *process = s->profile.host.source.pid_name; /* NULL: no host */
    fprintf(t->to, "  %s", s->collector.is_native ? "program" : framework_names[s->framework_id].name);
    if (s->collector.is_native && process && *process) {
        fputc(' ', t->to);
        term_text(t, process, 40);
    }
    if (s->settings.has_rank)
        fprintf(t->to, " rank %lld", (long long)s->settings.rank);
    if (s->has_device && s->profile.n_devices > 0) {
        fprintf(t->to, ", %s%s", collection_is_simulated(s) ? "simulated " : "", s->profile.chip->name);
        for (size_t i = 0; i < s->profile.n_devices; i++)
            fprintf(t->to, "%s%u", i > 0 ? "," : " device ", s->profile.device[i].source.device);
        summary_gpu(t, &s->profile);
    } else {
        fprintf(t->to, ", %shost only", collection_is_simulated(s) ? "simulated, " : "");
    }
    const char *before = "\n  ";
    for (size_t i = 0; i < sizeof fact / sizeof *fact; i++)
        if (fact[i].n > 0) {
            char number[READABLE_MOST];
            fprintf(t->to, "%s%s %s", before, readable_count(number, fact[i].n),
                    fact[i].n == 1 ? fact[i].one : fact[i].many);
            before = ", ";
        }
    fputc('\n', t->to);
}

static const char *memory_part_name(const struct collection *s, int part)
{
    static const char *const name[MEMORY_SOURCES] = {
        [MEMORY_OF_WORKSPACE] = "workspaces", [MEMORY_OF_GRAPHS] = "graphs"
    };
    return name[part] ? name[part] : framework_names[s->framework_id].name;
}

static const char *memory_part_key(const struct collection *s, int part)
{
    static const char *const of_framework[FRAMEWORKS] = {
        [FRAMEWORK_PYTORCH] = "pytorch", [FRAMEWORK_MINDSPORE] = "mindspore"
    };
    static const char *const key[MEMORY_SOURCES] = {
        [MEMORY_OF_WORKSPACE] = "workspace", [MEMORY_OF_GRAPHS] = "graph"
    };
    return key[part] ? key[part] : of_framework[s->framework_id];
}

static void put_peak(const struct term *t, const struct collection *s, const char *what, const struct memory_peak *p)
{
    char bytes[READABLE_MOST], time[READABLE_MOST];
    fprintf(t->to, "    %-10s %10s at %s", what, readable_bytes(bytes, p->bytes > 0 ? (uint64_t)p->bytes : 0),
            readable_time(time, p->time_ns));
    if (p->name != NAME_EMPTY) {
        fprintf(t->to, ", allocated by %s", p->is_of_graph ? "cann::" : "");
        term_text(t, names_text(s->profile.names, p->name), 60);
    }
    const char *before = "; ";
    for (int i = 0; i < MEMORY_SOURCES; i++)
        if (p->part[i] > 0 && p->part[i] != p->bytes) {
            fprintf(t->to, "%s%s %s", before, memory_part_name(s, i), readable_bytes(bytes, (uint64_t)p->part[i]));
            before = ", ";
        }
    fputc('\n', t->to);
}

static bool put_memory(const struct term *t, const struct collection *s)
{
    struct memory_peaks peaks;
    struct error unused = { 0 };
    if (!memory_peaks_find(&peaks, s, NULL, &unused))
        return false;
    if (!peaks.allocated.is_known)
        return true;
    fprintf(t->to, "\n  peak memory%s\n",
            peaks.is_partial ? ", excluding memory allocated before the recording (see export-memory-timeline)" : "");
    put_peak(t, s, "allocated", &peaks.allocated);
    if (peaks.reserved.bytes > 0)
        put_peak(t, s, "reserved", &peaks.reserved);
    return true;
}

static json_t *peak_json(const struct collection *s, const struct memory_peak *p)
{
    if (!p->is_known)
        return json_null();
    json_t *part = json_object();
    for (int i = 0; i < MEMORY_SOURCES; i++)
        json_object_set_new(part, memory_part_key(s, i), json_integer(p->part[i]));
    return json_pack("{s:I, s:o, s:I, s:I, s:o}", "bytes", (json_int_t)p->bytes, "by_allocator", part, "time_ns",
                     (json_int_t)p->time_ns, "device", (json_int_t)p->device, "operator",
                     text_json(names_text(s->profile.names, p->name)));
}

static json_t *memory_json(const struct collection *s)
{
    struct memory_peaks peaks;
    struct error unused = { 0 };
    if (!memory_peaks_find(&peaks, s, NULL, &unused))
        return NULL;
    return json_pack("{s:o, s:o, s:b}", "allocated", peak_json(s, &peaks.allocated), "reserved",
                     peak_json(s, &peaks.reserved), "since_recording", peaks.is_partial);
}

bool collection_summary_print(const struct term *t, const struct arguments *a, const struct step_choice *choice,
                              const struct collection_result *r, bool is_of_job)
{
    const struct collection *s = &r->collection;
    const struct names *names = s->profile.names;
    const struct step_table steps = { &s->profile, s, choice, "step_trace_time.csv", is_of_job };
    struct costs c;
    if (a->quiet || a->json)
        return true;
    fputs(term_ink(t, INK_BOLD), t->to);
    term_text(t, s->path, 0);
    fprintf(t->to, "%s\n", term_ink(t, INK_END));
    put_found(t, s);
    const bool has_steps = step_table_print(t, &steps, a->top), has_costs = costs_sum(s, a->top, &c);
    if (c.n_device > 0)
        top_print(t, names, "device time of operators", c.device, c.n_device, c.device_ns);
    if (c.n_host > 0)
        top_print(t, names, "host self time of operators", c.host, c.n_host, c.host_ns);
    if (c.n_python > 0)
        top_print(t, names, "self time of Python functions", c.python, c.n_python, c.python_ns);
    costs_free(&c);
    const bool has_ranges = range_table_print(t, &s->profile, &s->framework.ops, a->top), has_memory = put_memory(t, s),
               has_files = summary_files(t, s->path, &r->account, a->verbose > 0);
    recording_cost_print(t, &s->collector, a->verbose > 0);
    losses_print(t, &s->lost);
    summary_times(t, &r->account);
    return has_files && has_steps && has_costs && has_ranges && has_memory;
}

json_t *collection_summary_json(const struct arguments *a, const struct step_choice *choice,
                                const struct collection_result *r, bool is_of_job)
{
    const struct collection *s = &r->collection;
    const struct step_table steps = { &s->profile, s, choice, NULL, is_of_job };
    struct costs c;
    json_t *report = NULL;
    if (costs_sum(s, a->top, &c))
        report = json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path", text_json(s->path),
                           "rank", s->settings.has_rank ? json_integer(s->settings.rank) : json_null(), "simulated",
                           collection_is_simulated(s), "files", files_json(&r->account), "most_memory", memory_json(s),
                           "top_on_device", top_list_json(s->profile.names, c.device, c.n_device), "top_on_host",
                           top_list_json(s->profile.names, c.host, c.n_host), "top_in_python",
                           top_list_json(s->profile.names, c.python, c.n_python), "losses", losses_json(&s->lost),
                           "recording", recording_json(&s->collector), "problems", problems_json(&r->account),
                           "seconds", seconds_json(&r->account));
    costs_free(&c);
    json_object_set_new(report, "ranges", range_table_json(&s->profile, &s->framework.ops, a->top));
    if (report && step_table_json(&steps, a->top, report))
        return report;
    json_decref(report);
    return NULL;
}
