/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/dyn/dyn_verb.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/inside.h"
#include "base/text/json_memory.h"
#include "dynamic/config.h"
#include "dynamic/watch.h"

/* ---- finding them ---- */

/* A host is gone after this time and three polls without a new file: file systems show changes late, and clocks of
 * hosts differ. */
#define SILENT_S 60.0

static bool dyn_listeners_add(struct listeners *l, struct arena *mem, const char *host, double age_s,
                              const struct board_rank *rank, size_t n, uint32_t poll_ms)
{
    l->poll_ms = poll_ms > l->poll_ms ? poll_ms : l->poll_ms;
    for (size_t i = 0; i < n; i++) {
        struct listener *const one = list_add(&l->list, mem);
        if (!one)
            return false;
        *one = (struct listener){ .host = host, .age_s = age_s > 0 ? age_s : 0, .is = rank[i] };
    }
    return true;
}

/* Adds the listeners of all other hosts. False: no memory. */
static bool add_others(struct listeners *l, const char *dir, const char *here, struct arena *mem)
{
    const size_t prefix = strlen(HOST_STATUS_PREFIX);
    struct host_status *const s = arena_take(mem, 1, sizeof *s);
    DIR *const files = inside_list(dir);
    bool done = s != NULL;
    for (const struct dirent *d; done && files && (d = readdir(files));) {
        const char *const host = d->d_name + prefix;
        if (strncmp(d->d_name, HOST_STATUS_PREFIX, prefix) != 0 || strcmp(host, here) == 0 || strstr(host, CONFIG_PART))
            continue;
        const char *const path = arena_printf(mem, "%s/%s", dir, d->d_name), *const name =
                                                                                 arena_text(mem, host, strlen(host));
        if (path && name && host_status_read(path, s) && s->age_s < SILENT_S + 3e-3 * s->poll_ms)
            done = dyn_listeners_add(l, mem, name, s->age_s, s->rank, s->n, s->poll_ms);
    }
    if (files)
        closedir(files);
    return done;
}

static int dyn_listeners_by_rank(const void *a, const void *b)
{
    const struct listener *const x = a, *const y = b;
    if (x->is.rank != y->is.rank)
        return x->is.rank < y->is.rank ? -1 : 1;
    const int hosts = strcmp(x->host, y->host);
    return hosts ? hosts : (x->is.pid > y->is.pid) - (x->is.pid < y->is.pid);
}

bool listeners_find(struct listeners *l, const char *dir, struct arena *mem, struct error *e)
{
    *l = (struct listeners){ 0 };
    struct board_view *const view = arena_take(mem, 1, sizeof *view);
    char *const host = arena_take(mem, HOST_NAME_BYTES, 1);
    if (!view || !host)
        return error_no_memory(e, dir);
    host_status_name(host);
    bool is_here = false;
    for (unsigned kind = 0; kind < n_config_kinds && !is_here && e->fault == FAULT_NONE; kind++) {
        is_here = board_read(dir, (enum ascope_dynamic_kind)kind, view, e);
        l->kind = is_here ? (enum ascope_dynamic_kind)kind : l->kind;
    }
    if (e->fault != FAULT_NONE)
        return false;
    l->id = view->id;
    l->seen_id = view->seen_id;
    if ((is_here && !dyn_listeners_add(l, mem, host, 0, view->rank, view->n_ranks, view->poll_ms)) ||
        !add_others(l, dir, host, mem))
        return error_no_memory(e, dir);
    if (l->list.n > 0)
        qsort(l->list.at, l->list.n, sizeof *l->list.at, dyn_listeners_by_rank);
    return true;
}

bool listeners_find_some(struct listeners *l, const char *dir, struct arena *mem, struct error *e)
{
    if (!listeners_find(l, dir, mem, e))
        return false;
    return l->list.n > 0 ||
           error_set(e, FAULT_ASKED,
                     "%s: no process of this user listens to it; start the job with PROF_CONFIG_PATH=%s, or with "
                     "dynamic_profile.init() in its script",
                     dir, dir);
}

const struct listener *listeners_same(const struct listeners *l, const struct listener *one)
{
    for (size_t i = 0; i < l->list.n; i++)
        if (l->list.at[i].is.pid == one->is.pid && strcmp(l->list.at[i].host, one->host) == 0)
            return &l->list.at[i];
    return NULL;
}

const char *listener_name(const struct listener *l)
{
    static char text[64];
    if (l->is.rank >= 0)
        snprintf(text, sizeof text, "rank %d", l->is.rank);
    else
        snprintf(text, sizeof text, "process %d", l->is.pid);
    return text;
}

const char *listeners_ranks(const struct listeners *l, struct arena *mem)
{
    const char *text = "";
    for (size_t i = 0; text && i < l->list.n;) {
        const int32_t first = l->list.at[i].is.rank;
        int32_t last = first;
        for (i++; i < l->list.n && l->list.at[i].is.rank - last <= 1; i++)
            last = l->list.at[i].is.rank;
        if (first >= 0)
            text = last > first ? arena_printf(mem, "%s%s%d to %d", text, *text ? ", " : "", first, last)
                                : arena_printf(mem, "%s%s%d", text, *text ? ", " : "", first);
    }
    return text && *text ? text : "none with a number";
}

/* ---- for people ---- */

static const char *const state_words[] = {
    [ASCOPE_DYNAMIC_OFF] = "off",
    [ASCOPE_DYNAMIC_IDLE] = "idle",
    [ASCOPE_DYNAMIC_READY] = "waiting",
    [ASCOPE_DYNAMIC_RUNNING] = "recording",
};
static const char *const fate_words[] = {
    [FATE_NONE] = "none",     [FATE_WAITS] = "waits",       [FATE_RUNS] = "runs",       [FATE_DONE] = "done",
    [FATE_CUT] = "cut",       [FATE_FAILED] = "failed",     [FATE_PASSED] = "passed",   [FATE_OTHERS] = "others",
    [FATE_NOT_ASKED] = "off", [FATE_REPLACED] = "replaced", [FATE_INVALID] = "invalid",
};
#define WORD(words, i) ((i) < sizeof(words) / sizeof *(words) && (words)[i] ? (words)[i] : "unknown")

static void put_doing(const struct term *t, const struct board_rank *r)
{
    switch (r->state) {
    case ASCOPE_DYNAMIC_READY:
        if (r->start_step > 0)
            fprintf(t->to, "waits for step %lld", (long long)r->start_step);
        else
            fputs("waits for the next step", t->to);
        break;
    case ASCOPE_DYNAMIC_RUNNING: fprintf(t->to, "records, until step %lld", (long long)r->stop_step); break;
    default: fputs(WORD(state_words, r->state), t->to); break;
    }
    if (r->fate == FATE_PASSED)
        fputs("; the request came after its start step", t->to);
    if (r->fate == FATE_INVALID)
        fputs("; the file is not a JSON object: see the log", t->to);
    if (r->fate == FATE_FAILED)
        fputs("; the request could not begin: see the log", t->to);
    if (r->n_done > 0 && *r->dir) {
        fputs("; last: ", t->to);
        term_text(t, r->dir, 0);
    }
}

static bool has_hosts(const struct listeners *l)
{
    for (size_t i = 1; i < l->list.n; i++)
        if (strcmp(l->list.at[i].host, l->list.at[0].host) != 0)
            return true;
    return l->list.n > 0 && l->list.at[0].age_s > 0;
}

void listeners_print(const struct term *t, const struct listeners *l)
{
    char step[READABLE_MOST], rank[16];
    fprintf(t->to, "%s  rank      pid        step  %s\n", term_ink(t, INK_BOLD), term_ink(t, INK_END));
    for (size_t i = 0; i < l->list.n; i++) {
        const struct board_rank *const r = &l->list.at[i].is;
        snprintf(rank, sizeof rank, "%d", r->rank);
        fprintf(t->to, "  %4s %8d %11s  ", r->rank >= 0 ? rank : "-", r->pid,
                readable_count(step, (uint64_t)(r->step > 0 ? r->step : 0)));
        put_doing(t, r);
        if (has_hosts(l)) {
            fputs("; on ", t->to);
            term_text(t, l->list.at[i].host, 0);
        }
        if (l->list.at[i].age_s > 0)
            fprintf(t->to, ", %.0f s ago", l->list.at[i].age_s);
        fputc('\n', t->to);
    }
}

/* ---- for machines ---- */

static json_t *number_or_null(int64_t n, bool is_set)
{
    return is_set ? json_integer(n) : json_null();
}

json_t *listeners_json(const struct listeners *l)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < l->list.n; i++) {
        const struct board_rank *const r = &l->list.at[i].is;
        const bool has_plan = r->state == ASCOPE_DYNAMIC_READY || r->state == ASCOPE_DYNAMIC_RUNNING;
        json_array_append_new(list, json_pack("{s:o, s:f, s:i, s:o, s:s, s:I, s:o, s:o, s:s, s:I, s:o}", "host",
                                              text_json(l->list.at[i].host), "age_s", l->list.at[i].age_s, "pid",
                                              r->pid, "rank", number_or_null(r->rank, r->rank >= 0), "state",
                                              WORD(state_words, r->state), "step", (json_int_t)r->step, "start_step",
                                              number_or_null(r->start_step, has_plan && r->start_step > 0), "stop_step",
                                              number_or_null(r->stop_step, has_plan && r->stop_step > 0), "request",
                                              WORD(fate_words, r->fate), "done", (json_int_t)r->n_done, "last",
                                              r->n_done > 0 && *r->dir ? text_json(r->dir) : json_null()));
    }
    return list;
}
