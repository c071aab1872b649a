/* SPDX-License-Identifier: Apache-2.0 */
#include "load/trace/chrome_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory/hash.h"

static name_id chrome_straight_name_of(void *context, const char *text, size_t len)
{
    struct chrome_straight *s = context;
    return names_add_recent(s->events.t->names, &s->names, text, len);
}

static uint32_t chrome_straight_track_of(struct chrome_straight *s, uint32_t pid, int64_t tid)
{
    struct straight_track *known = &s->track[hash_more(hash_u64(pid), (uint64_t)tid) % STRAIGHT_TRACKS];
    if (!known->is_set || known->pid != pid || known->tid != tid) {
        char process[24], thread[24];
        const struct json_span of_process = { process, (size_t)snprintf(process, sizeof process, "%" PRIu32, pid) };
        const struct json_span of_thread = { thread, (size_t)snprintf(thread, sizeof thread, "%" PRId64, tid) };
        *known = (struct straight_track){ pid, chrome_events_track(&s->events, of_process, of_thread), tid, true };
    }
    return known->track;
}

static void add_flow(struct chrome_straight *s, const struct chrome_event *e, uint32_t track)
{
    struct chrome_flow flow = { .ns = e->ns,
                                .id = e->number,
                                .name = e->name,
                                .category = e->category,
                                .track = track,
                                .phase = e->phase,
                                .binds_enclosing = e->binds_enclosing };
    if (e->id) {
        const struct json_span id = { e->id, strlen(e->id) };
        flow.is_text = !json_u64(id, &flow.id);
        if (flow.is_text)
            flow.id = chrome_straight_name_of(s, id.at, id.len);
    }
    chrome_events_flow(&s->events, &flow);
}

static void chrome_straight_add(void *context, const struct chrome_event *e)
{
    struct chrome_straight *s = context;
    struct chrome_events *r = &s->events;
    const bool has_args = e->args_len > strlen("{}");
    const struct slice_row row = { .begin_ns = e->ns,
                                   .dur_ns = e->dur_ns,
                                   .args_at = has_args ? e->args_at : 0,
                                   .args_len = has_args ? (uint32_t)e->args_len : 0,
                                   .name = e->name,
                                   .category = e->category,
                                   .track = chrome_straight_track_of(s, e->pid, e->tid) };
    if (r->failed)
        return;
    r->t->n_events++;
    if (e->args_len > UINT32_MAX) {
        losses_add(&r->t->lost, LOSS_BAD_VALUE, 1, r->t->path, e->args_at);
        return;
    }
    chrome_events_count(r, row.track);
    if (e->phase == 'X')
        chrome_events_slice(r, &row);
    else if (e->phase == 'i')
        chrome_events_instant(r, &row, e->scope);
    else
        add_flow(s, e, row.track);
}

static void add_text(void *context, const char *text, size_t len, uint64_t at)
{
    struct chrome_straight *s = context;
    struct json_scan event;
    struct json_span field[CHROME_FIELDS];
    s->events.t->text = text;
    s->events.text_at = at;
    json_enter(&event, text, text + len, '{');
    if (chrome_event_fields(&event, field))
        chrome_events_add(&s->events, field, at);
}

bool chrome_straight_begin(struct chrome_straight *s, struct chrome_trace *t, const char *path)
{
    *t = (struct chrome_trace){ .path = path, .mem = arena_new(), .names = names_new() };
    s->sink = (struct chrome_sink){
        .context = s, .name = chrome_straight_name_of, .add = chrome_straight_add, .add_text = add_text
    };
    return chrome_events_init(&s->events, t) && t->mem && t->names;
}

bool chrome_straight_finish(struct chrome_straight *s, const char *text, size_t n_bytes)
{
    s->events.t->text = text;
    s->events.t->n_bytes = n_bytes;
    return chrome_events_finish(&s->events);
}

void chrome_straight_end(struct chrome_straight *s)
{
    chrome_events_free(&s->events);
}
