#include "cli/session_summary.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/memory_series.h"
#include "analyse/step_shares.h"
#include "cli/recording.h"
#include "cli/summary.h"

enum { STEPS_TOLD = 10, BAR_CELLS = 24 };

/* What operators cost, by name: on the host without those inside them, and on the device. */
struct costs {
    struct top host[TOP_OPERATORS], device[TOP_OPERATORS];
    size_t n_host, n_device;
    double host_ns, device_ns; /* of all */
};

static void add(struct top *sum, name_id name, double dur_ns, double *all)
{
    sum->name = name;
    sum->n++;
    sum->dur_ns += dur_ns;
    *all += dur_ns;
}

static bool costs_sum(const struct session *s, struct costs *out)
{
    const struct torch_ops *o = &s->framework.ops;
    const struct names *names = s->profile.names;
    const size_t n_names = names_count(names);
    struct top *host = calloc(n_names, sizeof *host), *device = calloc(n_names, sizeof *device);
    *out = (struct costs){ 0 };
    for (size_t at = 0; host && device && at < o->n; at++) {
        const uint32_t row = s->tree.by_begin[at];
        if (name_is_step(names, o->name[row]))
            continue;
        add(&host[o->name[row]], o->name[row], (double)s->tree.self_ns[row], &out->host_ns);
        for (uint32_t k = s->tree.first_started[at]; k < s->tree.first_started[at + 1]; k++)
            add(&device[o->name[row]], o->name[row], s->kernels.dur_us[s->tree.started[k]] * 1000, &out->device_ns);
    }
    if (host && device) {
        out->n_host = top_take(names, host, n_names, out->host);
        out->n_device = top_take(names, device, n_names, out->device);
    }
    free(host);
    free(device);
    return host && device;
}

static bool is_simulated(const struct session *s)
{
    return s->collector.is_simulated || (s->has_device && source_is_simulated(profile_main_source(&s->profile)));
}

static void put_found(const struct term *t, const struct session *s)
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
    };
    fputs("  PyTorch", t->to);
    if (s->settings.has_rank)
        fprintf(t->to, " rank %lld", (long long)s->settings.rank);
    if (s->has_device && s->profile.n_devices > 0) {
        fprintf(t->to, ", %s%s", is_simulated(s) ? "simulated " : "", s->profile.chip->name);
        for (size_t i = 0; i < s->profile.n_devices; i++)
            fprintf(t->to, "%s%u", i > 0 ? "," : " device ", s->profile.device[i].source.device);
    } else {
        fputs(", host only", t->to);
    }
    const char *before = "\n  ";
    for (size_t i = 0; i < sizeof fact / sizeof *fact; i++)
        if (fact[i].n > 0) {
            char number[TERM_NUMBER];
            fprintf(t->to, "%s%s %s", before, term_count(number, fact[i].n),
                    fact[i].n == 1 ? fact[i].one : fact[i].many);
            before = ", ";
        }
    fputc('\n', t->to);
}

/* Where the time of a step went on a device: four parts that make up the whole. */
enum part { PART_COMPUTING, PART_BOTH, PART_COMMUNICATION, PART_FREE, PARTS };
static const struct {
    const char *key, *heading, *block, *letter; /* how a cell of its bar looks, with and without UTF-8 */
    enum ink ink;
} part_look[PARTS] = {
    [PART_COMPUTING] = { "computing_us", "computing", "\u2588", "#", INK_GOOD },
    [PART_BOTH] = { "overlapped_us", "overlapped", "\u2593", "+", INK_GOOD },
    [PART_COMMUNICATION] = { "communication_us", "communic.", "\u2592", "=", INK_WARN },
    [PART_FREE] = { "free_us", "free", "\u00b7", ".", INK_DIM },
};

/* Communication behind computing costs nothing: it is a part of it, and told apart. */
static void parts_of(const struct step_share *t, int64_t part[PARTS], int64_t *whole)
{
    const int64_t both = t->sum_ns[OVERLAP_COMMUNICATION] - t->sum_ns[OVERLAP_EXPOSED];
    part[PART_COMPUTING] = t->sum_ns[OVERLAP_COMPUTING] - both;
    part[PART_BOTH] = both;
    part[PART_COMMUNICATION] = t->sum_ns[OVERLAP_EXPOSED];
    part[PART_FREE] = t->sum_ns[OVERLAP_FREE];
    *whole = 0;
    for (int i = 0; i < PARTS; i++) {
        part[i] = part[i] > 0 ? part[i] : 0;
        *whole += part[i];
    }
}

static bool has_utf8(void)
{
    static const char *const variable[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
        const char *value = getenv(variable[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static void put_bar(const struct term *t, const int64_t part[PARTS], int64_t longest)
{
    const bool utf8 = has_utf8();
    int64_t before = 0;
    for (int i = 0; i < PARTS; i++) {
        /* Ends are rounded, not lengths: the whole is as long as it should be. */
        const int64_t from = (before * BAR_CELLS + longest / 2) / longest,
                      to = ((before + part[i]) * BAR_CELLS + longest / 2) / longest;
        fputs(to > from ? term_ink(t, part_look[i].ink) : "", t->to);
        for (int64_t k = from; k < to; k++)
            fputs(utf8 ? part_look[i].block : part_look[i].letter, t->to);
        fputs(to > from ? term_ink(t, INK_END) : "", t->to);
        before += part[i];
    }
}

static void put_step(const struct term *t, const char *name, const int64_t part[PARTS], int64_t longest)
{
    fputs("    ", t->to);
    term_text(t, name, 8);
    fprintf(t->to, "%*s", term_width(name) < 8 ? 8 - term_width(name) : 0, "");
    for (int i = 0; i < PARTS; i++) {
        char number[TERM_NUMBER];
        fprintf(t->to, " %10s", term_duration(number, (double)part[i]));
    }
    fputs("  ", t->to);
    if (longest > 0 && longest < INT64_MAX / (2 * BAR_CELLS))
        put_bar(t, part, longest);
    fputc('\n', t->to);
}

static bool device_shares(const struct session *s, const struct device *d, struct arena *mem, struct step_share **share,
                          size_t *n)
{
    struct step_index index;
    struct step_work work = { .overlap = &d->overlap };
    return step_index_build(&index, &s->steps, mem) && step_receives(&work, d, s->profile.names, mem) &&
           step_shares_build(&s->steps, &index, &work, s->profile.names, mem, share, n);
}

static const char *step_name(const struct session *s, const struct step_share *t)
{
    return t->step == NO_ROW ? "all" : names_text(s->profile.names, s->steps.id[t->step]);
}

static void put_shares(const struct term *t, const struct session *s, const struct device *d,
                       const struct step_share *share, size_t n)
{
    int64_t longest = 0, part[PARTS], whole;
    for (size_t i = 0; i < n; i++) {
        parts_of(&share[i], part, &whole);
        longest = whole > longest ? whole : longest;
    }
    fprintf(t->to, "\n  %-10s", "step");
    for (int i = 0; i < PARTS; i++)
        fprintf(t->to, " %10s", part_look[i].heading);
    if (s->profile.n_devices > 1)
        fprintf(t->to, "  device %u", d->source.device);
    fputc('\n', t->to);
    const size_t n_told = n > STEPS_TOLD + 1 ? STEPS_TOLD : n;
    for (size_t i = 0; i < n_told; i++) {
        parts_of(&share[i], part, &whole);
        put_step(t, step_name(s, &share[i]), part, longest);
    }
    if (n_told < n)
        fprintf(t->to, "    and %zu more; step_trace_time.csv has them all\n", n - n_told);
}

static bool put_steps(const struct term *t, const struct session *s)
{
    struct arena *mem = arena_new();
    bool done = mem != NULL;
    for (size_t i = 0; done && i < s->profile.n_devices; i++) {
        struct step_share *share;
        size_t n = 0;
        done = device_shares(s, &s->profile.device[i], mem, &share, &n);
        if (done && n > 0)
            put_shares(t, s, &s->profile.device[i], share, n);
    }
    arena_free(mem);
    return done;
}

static json_t *steps_json(const struct session *s)
{
    struct arena *mem = arena_new();
    json_t *list = mem ? json_array() : NULL;
    for (size_t i = 0; list && i < s->profile.n_devices; i++) {
        struct step_share *share;
        size_t n = 0;
        const bool done = device_shares(s, &s->profile.device[i], mem, &share, &n);
        for (size_t k = 0; done && k < n; k++) {
            int64_t part[PARTS], whole;
            parts_of(&share[k], part, &whole);
            json_t *one = json_pack("{s:i, s:o}", "device", (int)s->profile.device[i].source.device, "step",
                                    share[k].step == NO_ROW ? json_null() : text_json(step_name(s, &share[k])));
            for (int c = 0; c < PARTS; c++)
                json_object_set_new(one, part_look[c].key, json_real((double)part[c] / 1000));
            json_array_append_new(list, one);
        }
        if (!done) {
            json_decref(list);
            list = NULL;
        }
    }
    arena_free(mem);
    return list;
}

static bool put_memory(const struct term *t, const struct session *s)
{
    struct memory_peaks peaks;
    struct error unused = { 0 };
    if (!memory_peaks_find(&peaks, s, &unused))
        return false;
    const struct {
        const char *what;
        const struct memory_peak *peak;
    } row[] = { { "allocated", &peaks.allocated }, { "reserved", &peaks.reserved } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct memory_peak *p = row[i].peak;
        char bytes[TERM_NUMBER], time[TERM_NUMBER];
        if (!p->is_known)
            continue;
        fprintf(t->to, "%s    %-10s %10s at %s", i == 0 ? "\n  most memory\n" : "", row[i].what,
                term_bytes(bytes, (uint64_t)p->bytes), term_time(time, p->time_ns));
        if (p->name != NAME_EMPTY) {
            fprintf(t->to, ", taken by %s", p->is_of_graph ? "cann::" : "");
            term_text(t, names_text(s->profile.names, p->name), 60);
        }
        fputc('\n', t->to);
    }
    return true;
}

static json_t *peak_json(const struct session *s, const struct memory_peak *p)
{
    if (!p->is_known)
        return json_null();
    return json_pack("{s:I, s:I, s:I, s:o}", "bytes", (json_int_t)p->bytes, "time_ns", (json_int_t)p->time_ns, "device",
                     (json_int_t)p->device, "operator", text_json(names_text(s->profile.names, p->name)));
}

static json_t *memory_json(const struct session *s)
{
    struct memory_peaks peaks;
    struct error unused = { 0 };
    if (!memory_peaks_find(&peaks, s, &unused))
        return NULL;
    return json_pack("{s:o, s:o}", "allocated", peak_json(s, &peaks.allocated), "reserved",
                     peak_json(s, &peaks.reserved));
}

bool session_summary_print(const struct term *t, const struct arguments *a, const struct session_result *r)
{
    const struct session *s = &r->session;
    const struct names *names = s->profile.names;
    struct costs c;
    if (a->quiet || a->json)
        return true;
    fputs(term_ink(t, INK_BOLD), t->to);
    term_text(t, s->path, 0);
    fprintf(t->to, "%s\n", term_ink(t, INK_END));
    put_found(t, s);
    const bool has_files = summary_files(t, s->path, &r->account, a->verbose > 0), has_steps = put_steps(t, s),
               has_costs = costs_sum(s, &c);
    if (c.n_device > 0)
        top_print(t, names, "device time of operators", c.device, c.n_device, c.device_ns);
    if (c.n_host > 0)
        top_print(t, names, "host time of operators themselves", c.host, c.n_host, c.host_ns);
    const bool has_memory = put_memory(t, s);
    recording_cost_print(t, &s->collector, a->verbose > 0);
    summary_losses(t, &s->lost);
    summary_times(t, &r->account);
    return has_files && has_steps && has_costs && has_memory;
}

void session_lines_heading(const struct term *t)
{
    fprintf(t->to, "%-6s %5s", "rank", "steps");
    for (int i = 0; i < PARTS; i++)
        fprintf(t->to, " %10s", part_look[i].heading);
    fputs("  of a step, on average\n", t->to);
}

/* Means over all steps of all devices. */
static bool mean_step(const struct session *s, int64_t mean[PARTS])
{
    struct arena *mem = arena_new();
    bool done = mem != NULL;
    int64_t n_all = 0, part[PARTS], whole;
    memset(mean, 0, PARTS * sizeof *mean);
    for (size_t i = 0; done && i < s->profile.n_devices; i++) {
        struct step_share *share;
        size_t n = 0;
        done = device_shares(s, &s->profile.device[i], mem, &share, &n);
        for (size_t k = 0; done && k < n; k++, n_all++) {
            parts_of(&share[k], part, &whole);
            for (int c = 0; c < PARTS; c++)
                mean[c] += part[c];
        }
    }
    for (int c = 0; c < PARTS && n_all > 0; c++)
        mean[c] /= n_all;
    arena_free(mem);
    return done;
}

bool session_line_print(const struct term *t, const struct session_result *r)
{
    const struct session *s = &r->session;
    int64_t mean[PARTS], whole = 0;
    char text[TERM_NUMBER];
    const bool done = mean_step(s, mean);
    if (s->settings.has_rank)
        fprintf(t->to, "%-6lld", (long long)s->settings.rank);
    else
        fprintf(t->to, "%-6s", "-");
    fprintf(t->to, " %5zu", s->steps.n);
    for (int i = 0; i < PARTS; i++) {
        fprintf(t->to, " %10s", term_duration(text, (double)mean[i]));
        whole += mean[i];
    }
    fputs("  ", t->to);
    if (whole > 0 && whole < INT64_MAX / (2 * BAR_CELLS))
        put_bar(t, mean, whole);
    else
        fprintf(t->to, "%*s", BAR_CELLS, "");
    const uint64_t n_damaged = losses_damage(&s->lost);
    fputs("  ", t->to);
    term_text(t, s->name, t->columns > 110 ? t->columns - 86 : 0);
    if (n_damaged > 0)
        fprintf(t->to, "  %s%s lost%s", term_ink(t, INK_WARN), term_count(text, n_damaged), term_ink(t, INK_END));
    fputc('\n', t->to);
    return done;
}

json_t *session_summary_json(const struct session_result *r)
{
    const struct session *s = &r->session;
    struct costs c;
    if (!costs_sum(s, &c))
        return NULL;
    return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "path", text_json(s->path), "rank",
                     s->settings.has_rank ? json_integer(s->settings.rank) : json_null(), "simulated", is_simulated(s),
                     "files", files_json(&r->account), "steps", steps_json(s), "most_memory", memory_json(s),
                     "top_on_device", top_list_json(s->profile.names, c.device, c.n_device), "top_on_host",
                     top_list_json(s->profile.names, c.host, c.n_host), "losses", summary_losses_json(&s->lost),
                     "recording", recording_json(&s->collector), "problems", problems_json(&r->account), "seconds",
                     seconds_json(&r->account));
}
