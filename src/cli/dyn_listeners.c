/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/dyn_listeners.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/summary.h"
#include "dynamic/config.h"

/* ---- finding them ---- */

bool listeners_find(struct listeners *l, const char *dir, struct arena *mem, struct error *e)
{
    *l = (struct listeners){ 0 };
    struct board_view *const view = arena_take(mem, 1, sizeof *view);
    char *const host = arena_take(mem, 256, 1);
    if (!view || !host)
        return error_no_memory(e, dir);
    gethostname(host, 255);
    while (!board_read(dir, l->kind, view, e))
        if (e->fault != FAULT_NONE || ++l->kind == n_config_kinds)
            return e->fault == FAULT_NONE;
    l->poll_ms = view->poll_ms;
    l->id = view->id;
    l->seen_id = view->seen_id;
    for (uint32_t i = 0; i < view->n_ranks; i++) {
        struct listener *const one = list_add(&l->list, mem);
        if (!one)
            return error_no_memory(e, dir);
        *one = (struct listener){ .host = host, .is = view->rank[i] };
    }
    return true;
}

bool listeners_find_some(struct listeners *l, const char *dir, struct arena *mem, struct error *e)
{
    if (!listeners_find(l, dir, mem, e))
        return false;
    return l->list.n > 0 ||
           error_set(
               e, FAULT_ASKED,
               "%s: no process of this user listens to it on this host; start the job with PROF_CONFIG_PATH=%s, or with "
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
    [FATE_NONE] = "none",     [FATE_WAITS] = "waits",       [FATE_RUNS] = "runs",     [FATE_DONE] = "done",
    [FATE_CUT] = "cut",       [FATE_FAILED] = "failed",     [FATE_PASSED] = "passed", [FATE_OTHERS] = "others",
    [FATE_NOT_ASKED] = "off", [FATE_REPLACED] = "replaced",
};
#define WORD(words, i) ((i) < sizeof(words) / sizeof *(words) && (words)[i] ? (words)[i] : "unknown")

static void put_doing(const struct term *t, const struct board_rank *r)
{
    switch (r->state) {
    case ASCOPE_DYNAMIC_READY: fprintf(t->to, "waits for step %lld", (long long)r->start_step); break;
    case ASCOPE_DYNAMIC_RUNNING: fprintf(t->to, "records, until step %lld", (long long)r->stop_step); break;
    default: fputs(WORD(state_words, r->state), t->to); break;
    }
    if (r->fate == FATE_PASSED)
        fputs("; the request came after its start step", t->to);
    if (r->fate == FATE_FAILED)
        fputs("; the request could not begin: see the log", t->to);
    if (r->n_done > 0 && *r->dir) {
        fputs("; last: ", t->to);
        term_text(t, r->dir, 0);
    }
}

void listeners_print(const struct term *t, const struct listeners *l)
{
    char step[TERM_NUMBER], rank[16];
    fprintf(t->to, "%s  rank      pid        step  %s\n", term_ink(t, INK_BOLD), term_ink(t, INK_END));
    for (size_t i = 0; i < l->list.n; i++) {
        const struct board_rank *const r = &l->list.at[i].is;
        snprintf(rank, sizeof rank, "%d", r->rank);
        fprintf(t->to, "  %4s %8d %11s  ", r->rank >= 0 ? rank : "-", r->pid,
                term_count(step, (uint64_t)(r->step > 0 ? r->step : 0)));
        put_doing(t, r);
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
        json_array_append_new(list, json_pack("{s:o, s:i, s:o, s:s, s:I, s:o, s:o, s:s, s:I, s:o}", "host",
                                              text_json(l->list.at[i].host), "pid", r->pid, "rank",
                                              number_or_null(r->rank, r->rank >= 0), "state",
                                              WORD(state_words, r->state), "step", (json_int_t)r->step, "start_step",
                                              number_or_null(r->start_step, has_plan && r->start_step > 0), "stop_step",
                                              number_or_null(r->stop_step, has_plan && r->stop_step > 0), "request",
                                              WORD(fate_words, r->fate), "done", (json_int_t)r->n_done, "last",
                                              r->n_done > 0 && *r->dir ? text_json(r->dir) : json_null()));
    }
    return list;
}
