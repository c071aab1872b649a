/* SPDX-License-Identifier: Apache-2.0 */
#include "report/hang_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/json_memory.h"

enum { SHOWN_RANKS = 16, SHOWN_FRAMES = 32 };

static const char *hang_text(const char *text) /* of an allocation that may have failed; the arena remembers */
{
    return text ? text : "";
}

static const char *ranks_text(const uint32_t *rank, size_t n, struct arena *mem)
{
    const char *text = n == 1 ? "rank" : "ranks";
    for (size_t i = 0; i < n && i < SHOWN_RANKS; i++)
        text = hang_text(arena_printf(mem, "%s%s %u", text, i ? "," : "", rank[i]));
    return n > SHOWN_RANKS ? hang_text(arena_printf(mem, "%s and %zu others", text, n - SHOWN_RANKS)) : text;
}

static const char *group_text(const struct flight_job *job, uint32_t group, struct arena *mem)
{
    const struct flight_group *g = &job->group.at[group];
    return hang_text(arena_printf(mem, g->desc[0] ? "group %s (%s)" : "group %s", g->name, g->desc));
}

static const char *wait_text(const struct hang_wait *w, const struct flight_job *job, struct arena *mem)
{
    const char *group = group_text(job, w->group, mem);
    return hang_text(w->is_p2p ? arena_printf(mem, "transfer %" PRId64 " -> %" PRId64 " #%" PRId64 " of %s", w->from,
                                              w->to, w->number, group)
                               : arena_printf(mem, "%s #%" PRId64 " of %s", w->kind, w->number, group));
}

static const char *place_text(const struct flight_entry *e, struct arena *mem)
{
    return e && e->file[0] ? hang_text(arena_printf(mem, " at %s:%" PRId64 " (%s)", e->file, e->line, e->function))
                           : "";
}

/* Where a rank is at this moment. */
static const char *now_text(const struct flight_place *now, struct arena *mem)
{
    if (!now->file[0])
        return now->doing;
    return hang_text(
        arena_printf(mem, "is at %s:%" PRId64 " (%s) and %s", now->file, now->line, now->function, now->doing));
}

static const struct flight_place *now_of(const struct flight_job *job, uint32_t rank)
{
    for (size_t i = 0; i < job->rank.n; i++)
        if (job->rank.at[i].rank == rank)
            return job->rank.at[i].now;
    return NULL;
}

static const char *entry_text(const struct flight_entry *e, const struct flight_job *job, struct arena *mem)
{
    return hang_text(arena_printf(mem, "%s #%" PRId64 " of %s%s", e->kind, e->number, group_text(job, e->group, mem),
                                  place_text(e, mem)));
}

static const struct hang_member *member_of(const struct hang_wait *w, uint32_t rank)
{
    for (size_t i = 0; i < w->n_members; i++)
        if (w->member[i].rank == rank)
            return &w->member[i];
    return NULL;
}

/* Who is in this part, as a list. */
static uint32_t *part_ranks(const struct hang_wait *w, enum hang_part part, size_t *n, struct arena *mem)
{
    uint32_t *rank = arena_take(mem, w->n_members + 1, sizeof *rank);
    *n = 0;
    for (size_t i = 0; rank && i < w->n_members; i++)
        if (w->member[i].part == part)
            rank[(*n)++] = w->member[i].rank;
    return rank;
}

static const char *waiting_text(const struct hang_wait *w, struct arena *mem)
{
    size_t n;
    const uint32_t *rank = part_ranks(w, HANG_CAME, &n, mem);
    const struct hang_member *first = rank && n > 0 ? member_of(w, rank[0]) : NULL;
    return first ? hang_text(arena_printf(mem, "%s %s%s", ranks_text(rank, n, mem), n == 1 ? "waits" : "wait",
                                          place_text(first->entry, mem)))
                 : "nobody waits";
}

static const char *missing_text(const struct hang *h, const struct flight_job *job, struct arena *mem)
{
    const struct hang_wait *w = &h->wait[h->first];
    const char *text =
        hang_text(arena_printf(mem, "%s did not come to %s, where %s", ranks_text(h->rank, h->n_ranks, mem),
                               wait_text(w, job, mem), waiting_text(w, mem)));
    for (size_t i = 0; i < h->n_ranks && i < SHOWN_RANKS; i++) {
        const struct hang_member *m = member_of(w, h->rank[i]);
        const struct flight_place *now = m && m->waits ? NULL : now_of(job, h->rank[i]);
        if (now) {
            text = hang_text(arena_printf(mem, "%s; rank %u %s", text, h->rank[i], now_text(now, mem)));
            continue;
        }
        const char *is = !m || !m->at ? "has no entry"
                         : m->waits   ? h->verdict == HANG_ORDER ? "is instead, out of its usual order, in" : "waits in"
                                      : "was last seen after";
        text = hang_text(arena_printf(mem, "%s; rank %u %s %s", text, h->rank[i], is,
                                      m && m->at ? entry_text(m->at, job, mem) : "at all"));
    }
    return text;
}

static const char *mismatch_text(const struct hang *h, const struct flight_job *job, struct arena *mem)
{
    const struct hang_wait *w = &h->wait[h->first];
    const char *text = hang_text(arena_printf(mem, "%s %s in %s", ranks_text(h->rank, h->n_ranks, mem),
                                              h->n_ranks == 1 ? "differs" : "differ", wait_text(w, job, mem)));
    size_t n_shown = 0;
    for (size_t i = 0; i < h->n_ranks && i < SHOWN_RANKS; i++) {
        const struct flight_entry *e = member_of(w, h->rank[i])->entry;
        text = hang_text(arena_printf(mem, "%s%s rank %u calls %s %s %s%s", text, n_shown++ ? ";" : ":", h->rank[i],
                                      e->kind, e->sizes, e->types, place_text(e, mem)));
    }
    for (size_t i = 0; i < w->n_members; i++) {
        bool is_blamed = !w->member[i].entry;
        for (size_t j = 0; j < h->n_ranks; j++)
            is_blamed |= h->rank[j] == w->member[i].rank;
        const struct flight_entry *e = w->member[i].entry;
        if (!is_blamed)
            return hang_text(arena_printf(mem, "%s; the others call %s %s %s%s", text, e->kind, e->sizes, e->types,
                                          place_text(e, mem)));
    }
    return text;
}

static const char *cycle_text(const struct hang *h, const struct flight_job *job, struct arena *mem)
{
    const char *text = "groups wait for each other";
    for (size_t i = 0; i < h->n_cycle; i++) {
        const struct hang_wait *w = &h->wait[h->cycle[i]];
        size_t n, n_came;
        const uint32_t *rank = part_ranks(w, HANG_IS_MISSING, &n, mem), *came = part_ranks(w, HANG_CAME, &n_came, mem);
        if (!rank || !came)
            return "";
        text = hang_text(arena_printf(mem, "%s%s %s %s in %s", text, i ? ";" : ":", ranks_text(came, n_came, mem),
                                      n_came == 1 ? "waits" : "wait", wait_text(w, job, mem)));
        text = hang_text(n ? arena_printf(mem, "%s for %s", text, ranks_text(rank, n, mem))
                           : arena_printf(mem, "%s, issued in another order", text));
        text = hang_text(arena_printf(mem, "%s%s", text, n_came ? place_text(member_of(w, came[0])->entry, mem) : ""));
    }
    return text;
}

static const char *absent_text(const struct hang *h, const struct flight_job *job)
{
    return !job->is_live    ? "left no dump"
           : h->n_ranks > 1 ? "have no processes here (they have ended, or run on another host)"
                            : "has no process here (it has ended, or runs on another host)";
}

static const char *places_text(const struct flight_job *job, struct arena *mem);

const char *hang_sentence(const struct hang *h, const struct flight_job *job, struct arena *mem)
{
    const struct hang_wait *w = h->n_waits ? &h->wait[h->first] : NULL;
    char *text = NULL;
    size_t n;
    switch (h->verdict) {
    case HANG_NONE:
        text = job->is_live
                   ? arena_printf(mem, "No rank waits in a collective that is known%s", places_text(job, mem))
                   : arena_printf(mem, "Nothing is unfinished: all recorded collectives of %zu ranks are completed",
                                  h->n_job);
        break;
    case HANG_NO_DUMP:
        text = w ? arena_printf(mem, "%s %s and %s missing in %s, where %s", ranks_text(h->rank, h->n_ranks, mem),
                                absent_text(h, job), h->n_ranks > 1 ? "are" : "is", wait_text(w, job, mem),
                                waiting_text(w, mem))
                 : arena_printf(mem, "%s %s; nothing is unfinished on the others", ranks_text(h->rank, h->n_ranks, mem),
                                absent_text(h, job));
        break;
    case HANG_MISSING:
    case HANG_ORDER: text = arena_printf(mem, "%s", missing_text(h, job, mem)); break;
    case HANG_CYCLE: text = arena_printf(mem, "%s", cycle_text(h, job, mem)); break;
    case HANG_MISMATCH: text = arena_printf(mem, "%s", mismatch_text(h, job, mem)); break;
    default: {
        const uint32_t *came = part_ranks(w, HANG_CAME, &n, mem);
        text = arena_printf(mem, "all have come to %s, and it does not end: network or device of %s%s",
                            wait_text(w, job, mem), came ? ranks_text(came, n, mem) : "",
                            came && n ? place_text(member_of(w, came[0])->entry, mem) : "");
    }
    }
    if (text && text[0] >= 'a' && text[0] <= 'z')
        text[0] = (char)(text[0] - 'a' + 'A');
    return arena_failed(mem) ? NULL : text;
}

static bool hang_same_place(const struct flight_place *a, const struct flight_place *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0 && strcmp(a->doing, b->doing) == 0;
}

/* "; ranks 0, 1: is at ...; rank 2: ...": who is alone comes last, for the eye. */
static const char *places_text(const struct flight_job *job, struct arena *mem)
{
    const char *text = "";
    const size_t n = job->rank.n;
    uint32_t *const rank = arena_take(mem, n + 1, sizeof *rank);
    size_t *const n_same = arena_take(mem, n + 1, sizeof *n_same); /* of the first one at each place */
    for (size_t i = 0; rank && n_same && i < n; i++) {
        size_t first = 0;
        while (!hang_same_place(job->rank.at[first].now, job->rank.at[i].now))
            first++;
        n_same[first]++;
    }
    for (size_t most = n; rank && n_same && most > 0; most--)
        for (size_t i = 0; i < n; i++) {
            size_t n_here = 0;
            for (size_t k = i; k < n && n_same[i] == most; k++)
                if (hang_same_place(job->rank.at[i].now, job->rank.at[k].now))
                    rank[n_here++] = job->rank.at[k].rank;
            if (n_here > 0)
                text = hang_text(arena_printf(mem, "%s; %s: %s", text, ranks_text(rank, n_here, mem),
                                              now_text(job->rank.at[i].now, mem)));
        }
    return text;
}

/* Whom those who came to this wait are waiting for. */
static const char *wanted_text(const struct hang_wait *w, struct arena *mem)
{
    size_t n, n_unknown;
    uint32_t *missing = part_ranks(w, HANG_IS_MISSING, &n, mem),
             *unknown = part_ranks(w, HANG_UNKNOWN, &n_unknown, mem);
    if (!missing || !unknown)
        return "";
    memcpy(missing + n, unknown, n_unknown * sizeof *unknown);
    return n + n_unknown ? ranks_text(missing, n + n_unknown, mem) : "nobody: all have come";
}

void hang_print(const struct term *t, const struct hang *h, const struct flight_job *job, const char *sentence,
                struct arena *mem)
{
    fputs(term_ink(t, h->verdict == HANG_NONE ? INK_GOOD : INK_BAD), t->to);
    term_text(t, sentence, 0);
    fprintf(t->to, "%s\n", term_ink(t, INK_END));
    for (size_t i = 0; i < h->n_waits; i++) {
        const struct hang_wait *w = &h->wait[i];
        if (i == 0)
            fputs("\n  who waits, in what, for whom\n", t->to);
        fputs("  ", t->to);
        term_text(t, waiting_text(w, mem), 0);
        fputs(" | ", t->to);
        term_text(t, wait_text(w, job, mem), 0);
        fprintf(t->to, " | %s\n", wanted_text(w, mem));
    }
    if (h->n_absent > 0)
        fprintf(t->to, "\nno %s of %s, of %zu in the job\n", job->is_live ? "process" : "dump",
                ranks_text(h->absent, h->n_absent, mem), h->n_job);
}

static void live_frames_print(const struct term *t, const struct python_thread *p)
{
    for (size_t i = 0; i < p->frame.n && i < SHOWN_FRAMES; i++) {
        const struct live_frame *const f = &p->frame.at[i];
        if (live_is_ours(f->file))
            continue;
        fputs("      ", t->to);
        term_text(t, f->file, 0);
        fprintf(t->to, ":%" PRId64 " (", f->line);
        term_text(t, f->function, 0);
        fputs(")\n", t->to);
    }
    if (p->frame.n > SHOWN_FRAMES)
        fprintf(t->to, "      and %zu frames above\n", p->frame.n - SHOWN_FRAMES);
}

/* Threads without Python, by what they do: "12 wait in futex". */
static void live_others_print(const struct term *t, const struct live_process *p, struct arena *mem)
{
    for (size_t i = 1; i < p->thread.n; i++) {
        const char *const doing = hang_text(live_doing(&p->thread.at[i], mem));
        size_t n = 0;
        bool is_first = true;
        for (size_t k = 1; k < p->thread.n && is_first; k++)
            if (!p->thread.at[k].python && strcmp(hang_text(live_doing(&p->thread.at[k], mem)), doing) == 0) {
                is_first = n > 0 || k == i;
                n++;
            }
        if (n > 0 && is_first && !p->thread.at[i].python)
            fprintf(t->to, "    %zu other thread%s: each %s\n", n, n == 1 ? "" : "s", doing);
    }
}

static void live_process_print(const struct term *t, const struct live_process *p, struct arena *mem)
{
    fputs("\n  ", t->to);
    if (p->rank >= 0)
        fprintf(t->to, "rank %" PRId64 ", ", p->rank);
    fprintf(t->to, "process %d (", (int)p->pid);
    term_text(t, p->name, 0);
    fputs(")", t->to);
    if (p->rank < 0)
        fprintf(t->to, ", started by %d", (int)p->parent);
    if (p->noted && p->noted->n_steps > 0)
        fprintf(t->to, ", step %" PRIu64, p->noted->n_steps);
    fprintf(t->to, "%s%s\n", p->no_stacks ? "; no stacks of Python: " : "", p->no_stacks ? p->no_stacks : "");
    for (size_t i = 0; i < p->thread.n; i++) {
        const struct live_thread *const th = &p->thread.at[i];
        if (i > 0 && !th->python)
            continue;
        fprintf(t->to, "    %s ", i == 0 ? "main thread" : "thread");
        if (i > 0) {
            fprintf(t->to, "%d (", (int)th->tid);
            term_text(t, th->name, 0);
            fputs(") ", t->to);
        }
        fprintf(t->to, "%s\n", hang_text(live_doing(th, mem)));
        if (th->python)
            live_frames_print(t, th->python);
    }
    live_others_print(t, p, mem);
}

void live_print(const struct term *t, const struct live_job *job, struct arena *mem)
{
    for (size_t i = 0; i < job->process.n; i++)
        live_process_print(t, &job->process.at[i], mem);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static const char *const verdict_key[HANG_KINDS] = {
    [HANG_NONE] = "none",   [HANG_NO_DUMP] = "no_dump",   [HANG_MISSING] = "missing", [HANG_ORDER] = "order",
    [HANG_CYCLE] = "cycle", [HANG_MISMATCH] = "mismatch", [HANG_STUCK] = "stuck",
};

static json_t *ranks_json(const uint32_t *rank, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(rank[i]));
    return list;
}

static json_t *place_json(const struct flight_entry *e, const struct flight_job *job)
{
    if (!e)
        return json_null();
    return json_pack("{s:o, s:I, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "kind", text_json(e->kind), "number",
                     (json_int_t)e->number, "group", text_json(job->group.at[e->group].name), "sizes",
                     text_json(e->sizes), "types", text_json(e->types), "state",
                     e->is_completed ? "completed"
                     : e->is_started ? "started"
                                     : "scheduled",
                     "file", e->file[0] ? text_json(e->file) : json_null(), "line",
                     e->file[0] ? json_integer(e->line) : json_null(), "function",
                     e->file[0] ? text_json(e->function) : json_null());
}

static json_t *wait_json(const struct hang_wait *w, const struct flight_job *job)
{
    static const char *const part_key[] = {
        [HANG_CAME] = "waits", [HANG_DONE] = "completed", [HANG_IS_MISSING] = "missing", [HANG_UNKNOWN] = "no_dump"
    };
    json_t *members = json_array();
    for (size_t i = 0; i < w->n_members; i++) {
        const struct hang_member *m = &w->member[i];
        json_array_append_new(members,
                              json_pack("{s:i, s:s, s:o, s:o}", "rank", (int)m->rank, "part", part_key[m->part], "call",
                                        place_json(m->entry, job), "is_at", place_json(m->at, job)));
    }
    return json_pack("{s:o, s:o, s:o, s:I, s:b, s:s, s:o}", "group", text_json(job->group.at[w->group].name),
                     "group_desc", text_json(job->group.at[w->group].desc), "kind", text_json(w->kind), "number",
                     (json_int_t)w->number, "is_transfer", w->is_p2p, "verdict", verdict_key[w->verdict], "members",
                     members);
}

json_t *hang_json(const struct hang *h, const struct flight_job *job, const char *sentence)
{
    json_t *waits = json_array(), *cycle = json_array();
    for (size_t i = 0; i < h->n_waits; i++)
        json_array_append_new(waits, wait_json(&h->wait[i], job));
    for (size_t i = 0; i < h->n_cycle; i++)
        json_array_append_new(cycle, json_integer((json_int_t)h->cycle[i]));
    const struct hang_wait *w = h->n_waits ? &h->wait[h->first] : NULL;
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "verdict", verdict_key[h->verdict],
                     "text", text_json(sentence), "ranks", ranks_json(h->rank, h->n_ranks), "group",
                     w ? text_json(job->group.at[w->group].name) : json_null(), "group_desc",
                     w ? text_json(job->group.at[w->group].desc) : json_null(), "kind",
                     w ? text_json(w->kind) : json_null(), "number", w ? json_integer(w->number) : json_null(), "waits",
                     waits, "cycle", cycle, "ranks_without_dump", ranks_json(h->absent, h->n_absent), "ranks_of_job",
                     (json_int_t)h->n_job);
}

static json_t *live_thread_json(const struct live_thread *t, struct arena *mem)
{
    json_t *const frames = json_array();
    for (size_t i = 0; t->python && i < t->python->frame.n; i++) {
        const struct live_frame *const f = &t->python->frame.at[i];
        json_array_append_new(frames, json_pack("{s:o, s:I, s:o}", "file", text_json(f->file), "line",
                                                (json_int_t)f->line, "function", text_json(f->function)));
    }
    return json_pack("{s:i, s:o, s:o, s:o, s:b, s:o}", "id", (int)t->tid, "name", text_json(t->name), "doing",
                     text_json(hang_text(live_doing(t, mem))), "system_call", text_or_null(t->call), "holds_gil",
                     t->python && t->python->holds_gil, "python", frames);
}

json_t *live_json(const struct live_job *job, struct arena *mem)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < job->process.n; i++) {
        const struct live_process *const p = &job->process.at[i];
        json_t *const threads = json_array();
        for (size_t k = 0; k < p->thread.n; k++)
            json_array_append_new(threads, live_thread_json(&p->thread.at[k], mem));
        json_array_append_new(
            list, json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "pid", (int)p->pid, "parent", (int)p->parent, "rank",
                            p->rank >= 0 ? json_integer(p->rank) : json_null(), "name", text_json(p->name), "steps",
                            p->noted ? json_integer((json_int_t)p->noted->n_steps) : json_null(), "no_stacks_because",
                            text_or_null(p->no_stacks), "threads", threads));
    }
    return list;
}
