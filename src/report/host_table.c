/* SPDX-License-Identifier: Apache-2.0 */
#include "report/host_table.h"

#include "analyse/host/host_analysis.h"
#include "base/text/json_memory.h"

static bool is_sampled(const struct host_use *u)
{
    return u->has_cpu || u->has_memory || u->has_disk || u->has_network || u->calls_n > 0;
}

static double cpus_in_use(const struct host_use *u)
{
    return u->wall_s > 0 ? (u->user_s + u->sys_s) / u->wall_s : 0;
}

/* ---- for people ---- */

static void put_totals(const struct term *t, const struct host_use *u, int64_t n_cpus)
{
    char a[READABLE_MOST], b[READABLE_MOST], c[READABLE_MOST];
    fputs("\n  the program on this host\n", t->to);
    if (u->has_cpu)
        fprintf(t->to, "    CPU         %s of CPU time (%s user, %s system): %.1f of %lld CPUs in use on average\n",
                readable_duration(a, (u->user_s + u->sys_s) * 1e9), readable_duration(b, u->user_s * 1e9),
                readable_duration(c, u->sys_s * 1e9), cpus_in_use(u), (long long)n_cpus);
    if (u->has_memory)
        fprintf(t->to, "    memory      peak %s resident, of %s\n", readable_bytes(a, u->memory_most_kb * 1024),
                readable_bytes(b, u->memory_all_kb * 1024));
    if (u->has_disk)
        fprintf(t->to, "    disk        %s read, %s written", readable_bytes(a, u->disk_read),
                readable_bytes(b, u->disk_written));
    if (u->has_disk && (u->disk_read > 0 || u->disk_written > 0))
        fprintf(t->to, "; peak %s/s and %s/s", readable_bytes(a, (uint64_t)(u->disk_most_kb_s[0] * 1024)),
                readable_bytes(b, (uint64_t)(u->disk_most_kb_s[1] * 1024)));
    if (u->has_disk)
        fputc('\n', t->to);
    if (u->has_network)
        fprintf(t->to, "    network     %s received, %s sent, %s within the machine (all of its programs)\n",
                readable_bytes(a, u->network_received), readable_bytes(b, u->network_sent),
                readable_bytes(c, u->loopback));
}

static void put_threads(const struct term *t, const struct host_use *u, size_t most)
{
    enum { NAME = 24 };
    if (u->threads.n == 0)
        return;
    const size_t n = u->threads.n > most + 1 ? most : u->threads.n;
    char number[READABLE_MOST];
    fprintf(t->to, "\n  %-*s %10s %10s %10s  share of a CPU\n", NAME + 2, "threads by CPU time", "thread id", "user",
            "system");
    for (size_t i = 0; i < n; i++) {
        const struct thread_time *const x = &u->threads.at[i];
        const double user_s = (double)x->user_ticks / u->ticks_per_s, sys_s = (double)x->sys_ticks / u->ticks_per_s;
        const int width = term_width(x->name);
        fputs("    ", t->to);
        term_text(t, x->name, NAME);
        fprintf(t->to, "%*s %10llu", width < NAME ? NAME - width : 0, "", (unsigned long long)x->id);
        fprintf(t->to, " %10s", readable_duration(number, user_s * 1e9));
        fprintf(t->to, " %10s  %3.0f %%\n", readable_duration(number, sys_s * 1e9),
                u->wall_s > 0 ? 100 * (user_s + sys_s) / u->wall_s : 0);
    }
    if (n < u->n_threads)
        fprintf(t->to, "    and %zu more\n", u->n_threads - n);
}

static void put_calls(const struct term *t, const struct names *names, const struct host_use *u, size_t most)
{
    enum { NAME = 24 };
    if (u->n_call_names == 0)
        return;
    const size_t n = u->n_call_names > most + 1 ? most : u->n_call_names;
    char number[READABLE_MOST];
    fprintf(t->to, "\n  %-*s %10s %10s %10s %10s\n", NAME + 2, "operating-system calls", "count", "total", "mean",
            "max");
    for (size_t i = 0; i < n; i++) {
        const struct os_call_sum *const x = &u->calls[i];
        const char *const name = names_text(names, x->name);
        const int width = term_width(name);
        fputs("    ", t->to);
        term_text(t, name, NAME);
        fprintf(t->to, "%*s %10s", width < NAME ? NAME - width : 0, "", readable_count(number, x->n));
        fprintf(t->to, " %10s", readable_duration(number, (double)x->sum_ns));
        fprintf(t->to, " %10s", readable_duration(number, (double)x->sum_ns / (double)x->n));
        fprintf(t->to, " %10s\n", readable_duration(number, (double)x->most_ns));
    }
    if (n < u->n_call_names)
        fprintf(t->to, "    and %zu more in os_runtime_statistic_*.csv\n", u->n_call_names - n);
}

bool host_table_print(const struct term *t, const struct profile *p, size_t most)
{
    struct arena *const mem = arena_new();
    struct host_use u;
    const bool done = mem && host_use_sum(&u, p, mem);
    if (done && is_sampled(&u)) {
        put_totals(t, &u, p->host.source.settings.n_cpus);
        put_threads(t, &u, most);
        put_calls(t, p->names, &u, most);
    }
    arena_free(mem);
    return done;
}

/* ---- for machines ---- */

static json_t *threads_json(const struct host_use *u, size_t most)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < u->threads.n && i < most; i++) {
        const struct thread_time *const x = &u->threads.at[i];
        json_array_append_new(list, json_pack("{s:o, s:I, s:f, s:f}", "name", text_json(x->name), "thread",
                                              (json_int_t)x->id, "user_s", (double)x->user_ticks / u->ticks_per_s,
                                              "system_s", (double)x->sys_ticks / u->ticks_per_s));
    }
    return list;
}

static json_t *calls_json(const struct names *names, const struct host_use *u, size_t most)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < u->n_call_names && i < most; i++) {
        const struct os_call_sum *const x = &u->calls[i];
        json_array_append_new(list, json_pack("{s:o, s:I, s:f, s:f}", "name", text_json(names_text(names, x->name)),
                                              "count", (json_int_t)x->n, "total_us", (double)x->sum_ns / 1000, "max_us",
                                              (double)x->most_ns / 1000));
    }
    return list;
}

json_t *host_table_json(const struct profile *p, size_t most)
{
    struct arena *const mem = arena_new();
    struct host_use u;
    json_t *report = NULL;
    if (mem && host_use_sum(&u, p, mem)) {
        report = is_sampled(&u) ? json_object() : json_null();
        if (u.has_cpu)
            json_object_set_new(report, "cpu",
                                json_pack("{s:f, s:f, s:f, s:I, s:o}", "user_s", u.user_s, "system_s", u.sys_s,
                                          "cpus_in_use", cpus_in_use(&u), "threads", (json_int_t)u.n_threads,
                                          "by_thread", threads_json(&u, most)));
        if (u.has_memory)
            json_object_set_new(report, "memory",
                                json_pack("{s:I, s:I}", "peak_bytes", (json_int_t)(u.memory_most_kb * 1024),
                                          "total_bytes", (json_int_t)(u.memory_all_kb * 1024)));
        if (u.has_disk)
            json_object_set_new(report, "disk",
                                json_pack("{s:I, s:I}", "read_bytes", (json_int_t)u.disk_read, "written_bytes",
                                          (json_int_t)u.disk_written));
        if (u.has_network)
            json_object_set_new(report, "network",
                                json_pack("{s:I, s:I, s:I}", "received_bytes", (json_int_t)u.network_received,
                                          "sent_bytes", (json_int_t)u.network_sent, "loopback_bytes",
                                          (json_int_t)u.loopback));
        if (u.calls_n > 0)
            json_object_set_new(report, "calls",
                                json_pack("{s:I, s:f, s:o}", "count", (json_int_t)u.calls_n, "total_us",
                                          (double)u.calls_ns / 1000, "by_name", calls_json(p->names, &u, most)));
    }
    arena_free(mem);
    return report;
}
