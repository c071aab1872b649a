/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/flight/flight_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/files/durable.h"
#include "base/files/file.h"
#include "base/files/file_tree.h"
#include "collect/describe/json_text.h"
#include "collect/describe/recording_files.h"
#include "collect/flight/flight_store.h"
#include "collect/ring/record_bytes.h"
#include "collect/ring/ring.h"
#include "collect/session/message.h"
#include "collect/session/place.h"
#include "collect/write/outputs.h"

struct saving {
    struct ascope_session s; /* a copy that describes the window */
    struct outputs *outputs;
    struct history history;
    uint64_t n_began_before; /* records that begin before the window and end in it */
};

/* Whether a record begins before the window and ends in it. The table has where records have these times, in counts of
 * the host's clock. */
static bool began_before(const struct saving *v, struct record_head head, const uint8_t *bytes)
{
    static const struct {
        uint8_t stream;
        bool is_short;
        size_t begin, end;
    } known[] = { { STREAM_TORCH_OP, false, offsetof(struct op_bytes, begin), offsetof(struct op_bytes, end) },
                  { STREAM_TORCH_OP, true, offsetof(struct op_short_bytes, begin),
                    offsetof(struct op_short_bytes, end) },
                  { STREAM_CALL, false, offsetof(struct call_bytes, begin), offsetof(struct call_bytes, end) },
                  { STREAM_MARK, false, offsetof(struct mark_bytes, begin), offsetof(struct mark_bytes, end) } };
    const bool is_short = op_is_short(head, bytes);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t begin, end;
        if (head.stream != known[i].stream || is_short != known[i].is_short ||
            record_bytes(head) < known[i].end + sizeof end)
            continue;
        memcpy(&begin, bytes + known[i].begin, sizeof begin);
        memcpy(&end, bytes + known[i].end, sizeof end);
        return begin < v->s.first.count && end >= v->s.first.count;
    }
    return false;
}

static void record_put(void *context, struct record_head head, const uint8_t *bytes)
{
    struct saving *const v = context;
    v->n_began_before += began_before(v, head, bytes);
    if (output_exists(head.stream, head.device))
        outputs_put(v->outputs, head, bytes);
    else
        v->outputs->dropped[head.stream]++;
}

/* ---- its description ---- */

static unsigned long long wall_ns(const struct saving *v, uint64_t raw_ns)
{
    return v->s.first.wall_ns + (raw_ns - v->s.first.mono_raw_ns);
}

static void facts_make(const struct saving *v, const struct flight_saving *of, struct json_text *t)
{
    const struct history *const h = &v->history;
    const uint64_t got_ns = h->end_ns - h->begin_ns;
    json_text_add(t, "{\"trigger\": ");
    json_text_string(t, of->trigger);
    json_text_add(
        t,
        ", \"skipped_triggers\": %llu, \"asked_ns\": %llu, \"window\": {\"begin_unix_ns\": %llu, \"end_unix_ns\": "
        "%llu, \"records\": %llu}, \"began_before\": %llu",
        (unsigned long long)of->n_skipped, (unsigned long long)of->last_ns, wall_ns(v, h->begin_ns),
        wall_ns(v, h->end_ns), (unsigned long long)h->n_records, (unsigned long long)v->n_began_before);
    if (h->files_before > 0)
        json_text_add(t, ", \"dropped_history\": {\"begin_unix_ns\": %llu, \"end_unix_ns\": %llu}, \"short_ns\": %llu",
                      (unsigned long long)of->clocks->first.wall_ns, wall_ns(v, h->oldest_ns),
                      (unsigned long long)(got_ns < of->last_ns ? of->last_ns - got_ns : 0));
    json_text_add(t, "}");
}

static void report_short(const struct saving *v, const struct flight_saving *of, const char *path)
{
    const struct history *const h = &v->history;
    if (h->files_before > 0 && h->end_ns - h->begin_ns < of->last_ns)
        message(ASCOPE_WARNING,
                "flight recorder: %s has the last %.3f s of %.3f s; older records were overwritten; use more memory",
                path, (double)(h->end_ns - h->begin_ns) / 1e9, (double)of->last_ns / 1e9);
}

static void tally_make(struct saving *v, const struct writer_tally *now)
{
    const struct outputs *const o = v->outputs;
    const struct flight_counts before = history_before(&v->history);
    struct writer_tally *const t = &v->s.tally;
    const uint64_t cost_ns = (uint64_t)((double)before.cost_ticks * 1000 / host_clock_first_mhz());
    *t = (struct writer_tally){ .n_records = o->n_records,
                                .n_bytes = o->n_bytes,
                                .put_records = v->history.n_records,
                                .put_bytes = o->n_bytes,
                                .hook_ns = now->hook_ns > cost_ns ? now->hook_ns - cost_ns : 0,
                                .lag_most_ns = now->lag_most_ns,
                                .fill_most_percent = now->fill_most_percent,
                                .n_rings = now->n_rings,
                                .is_gone = now->is_gone || v->history.n_damaged > 0 };
    /* `before` may be the newer count: a file may have begun since `now` was read */
    for (unsigned i = 0; i < STREAM_KINDS; i++) {
        const uint64_t since = now->dropped[i] > before.dropped[i] ? now->dropped[i] - before.dropped[i] : 0;
        t->dropped[i] = since + o->dropped[i];
        for (unsigned r = 0; r < DROP_REASONS; r++)
            t->reasons.n[r][i] = drop_count(&now->reasons, r, i, since);
        t->reasons.n[drop_reason_of(outputs_why(o))][i] += o->dropped[i];
    }
    for (uint32_t i = 0; i < now->n_rings; i++)
        t->open_ranges += rings_open_ranges(i);
}

/* ---- making it ---- */

static bool files_write(struct saving *v, struct error *e)
{
    struct ascope_session *const s = &v->s;
    const struct clock_reading *const a = &s->first, *const b = &s->last;
    if (!outputs_open(v->outputs, *s->framework ? s->framework : NULL, *s->prof ? s->prof : NULL,
                      (size_t)s->o.slice_kb << 10, e))
        return false;
    v->outputs->times = (struct os_call_times){ .begin_ns = clock_reading_window_ns(a),
                                                .count = b->count,
                                                .raw_ns = b->mono_raw_ns,
                                                .ns_per_count = 1000 / s->mhz,
                                                .wall_less_raw_ns = (int64_t)(a->wall_ns - a->mono_raw_ns) };
    v->outputs->rank = s->rank >= 0 ? (uint32_t)s->rank : 0;
    const bool is_read = history_read(&v->history, record_put, v, e);
    outputs_flush(v->outputs);
    outputs_close(v->outputs);
    const bool is_well = is_read && outputs_are_well(v->outputs, e);
    outputs_leave(v->outputs, is_well);
    return is_well;
}

static bool flight_save_describe(struct saving *v, const struct flight_saving *of, struct error *e)
{
    struct json_text facts = { 0 };
    facts_make(v, of, &facts);
    v->s.flight_facts = facts.at;
    const bool is_well = facts.is_short ? error_no_memory(e, v->s.path)
                                        : info_begin(&v->s, e) && info_end(&v->s, e) && session_describe(&v->s, e);
    json_text_fini(&facts);
    v->s.flight_facts = NULL;
    return is_well;
}

static bool id_make(char digits[33], struct error *e)
{
    unsigned char id[16];
    if (getrandom(id, sizeof id, 0) != (ssize_t)sizeof id)
        return error_set(e, FAULT_IO, "flight recorder: no random number: %s", strerror(errno));
    for (size_t i = 0; i < sizeof id; i++)
        snprintf(digits + 2 * i, 3, "%02X", id[i]);
    return true;
}

/* A copy of the session with its own directories below the home, for the same devices. */
static bool copy_make(struct saving *v, const struct flight_saving *of, const char *parent, struct error *e)
{
    struct ascope_session *const s = &v->s;
    *s = *of->home;
    s->o.parent_dir = parent;
    s->state = SESSION_STOPPED;
    s->devices = NULL;
    s->n_devices = 0;
    s->steps = NULL;
    s->n_steps = 0;
    *s->path = *s->prof = *s->framework = '\0';
    if (!id_make(s->trace_id, e) || !session_directories(s, e))
        return false;
    flight_clocks_set(of->clocks, s, v->history.begin_ns);
    return true;
}

/* Moves the collection from "…/saving/NAME" to the parent of the home. */
static bool copy_name(const struct saving *v, const struct flight_saving *of, char path[PATH_MAX], struct error *e)
{
    const char *const home = of->home->path, *const name = strrchr(v->s.path, '/');
    snprintf(path, PATH_MAX, "%.*s%s", (int)(strrchr(home, '/') - home), home, name);
    const int why = rename(v->s.path, path) == 0 ? durable_name(path) : errno;
    return why == 0 || error_set(e, FAULT_IO, "%s: cannot be created: %s", path, place_trouble(why));
}

static bool save(struct saving *v, const struct flight_saving *of, const struct writer_tally *now, char path[PATH_MAX],
                 struct error *e)
{
    char parent[PATH_MAX + sizeof FLIGHT_SAVING];
    snprintf(parent, sizeof parent, "%s/" FLIGHT_SAVING, of->home->path);
    bool is_done = copy_make(v, of, parent, e) && files_write(v, e);
    if (is_done) {
        tally_make(v, now);
        is_done = flight_save_describe(v, of, e) && copy_name(v, of, path, e);
    }
    if (is_done)
        report_short(v, of, path);
    tree_remove_path(parent);
    free(v->s.devices);
    return is_done;
}

bool flight_save(const struct flight_saving *of, char path[PATH_MAX], struct error *e)
{
    struct writer_tally now;
    struct saving *const v = calloc(1, sizeof *v);
    const uint64_t end_ns = host_clock_raw_ns(); /* everything put before it is in the history after writer_flush() */
    if (v)
        v->outputs = malloc(sizeof *v->outputs);
    bool is_done = (v && v->outputs) || error_no_memory(e, "the flight recorder");
    is_done = is_done && writer_flush(&now, e) && flight_clocks_read(of->clocks, of->home, e);
    if (is_done) {
        const struct flight_store *const store = of->home->flight;
        /* a second descriptor: the one of the store belongs to the writer's thread */
        struct kept dir = KEPT_NONE;
        kept_open(&dir, AT_FDCWD, store->path, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
        const struct history_of history = {
            .dir = kept_fd(&dir), .path = store->path, .owner = geteuid(), .id = store->id, .state = writer_flight()
        };
        is_done = history_open(&v->history, &history, of->last_ns, end_ns, e);
        if (is_done) {
            is_done = save(v, of, &now, path, e);
            history_close(&v->history);
        }
        kept_close(&dir);
    }
    if (v)
        free(v->outputs);
    free(v);
    return is_done;
}
