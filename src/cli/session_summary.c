#include "cli/session_summary.h"

#include <stdlib.h>
#include <string.h>

#include "cli/summary.h"

/* What operators cost, by name: on the host without those inside them, and on the device. */
struct costs {
    struct top host[TOP_OPERATORS], device[TOP_OPERATORS];
    size_t n_host, n_device;
    double host_ns, device_ns; /* of all */
};

/* Steps are no operators: all the others are inside them. */
static bool is_step(const char *name)
{
    return strncmp(name, "ProfilerStep#", 13) == 0;
}

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
        if (is_step(names_text(names, o->name[row])))
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
    if (s->has_device) {
        fprintf(t->to, ", %s%s", source_is_simulated(profile_main_source(&s->profile)) ? "simulated " : "",
                s->profile.chip->name);
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
    const bool has_files = summary_files(t, s->path, &r->account, a->verbose > 0), has_costs = costs_sum(s, &c);
    if (c.n_device > 0)
        top_print(t, names, "operators by what they started", c.device, c.n_device, c.device_ns);
    if (c.n_host > 0)
        top_print(t, names, "operators on the host, by themselves", c.host, c.n_host, c.host_ns);
    summary_losses(t, &s->lost);
    summary_times(t, &r->account);
    return has_files && has_costs;
}

json_t *session_summary_json(const struct session_result *r)
{
    const struct session *s = &r->session;
    struct costs c;
    if (!costs_sum(s, &c))
        return NULL;
    return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "path", text_json(s->path), "rank",
                     s->settings.has_rank ? json_integer(s->settings.rank) : json_null(), "simulated",
                     s->has_device && source_is_simulated(profile_main_source(&s->profile)), "files",
                     files_json(&r->account), "top_on_device", top_list_json(s->profile.names, c.device, c.n_device),
                     "top_on_host", top_list_json(s->profile.names, c.host, c.n_host), "losses",
                     summary_losses_json(&s->lost), "problems", problems_json(&r->account), "seconds",
                     seconds_json(&r->account));
}
