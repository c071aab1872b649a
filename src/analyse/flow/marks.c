/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/flow/marks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/keys.h"
#include "base/memory/sort.h"
#include "raw/device_records.h"
#include "raw/host_records.h"

static const char host_file[] = "host/data/additional.msproftx", device_file[] = "ts_track.data";

/* Columns of marks that keep their values. */
#define KEPT_COLUMNS(COLUMN)                                                                                           \
    COLUMN(info)                                                                                                       \
    COLUMN(segment)                                                                                                    \
    COLUMN(process)                                                                                                    \
    COLUMN(thread)                                                                                                     \
    COLUMN(category)                                                                                                   \
    COLUMN(event)                                                                                                      \
    COLUMN(payload_type)                                                                                               \
    COLUMN(message_type)                                                                                               \
    COLUMN(payload)                                                                                                    \
    COLUMN(begin)                                                                                                      \
    COLUMN(end)                                                                                                        \
    COLUMN(id)                                                                                                         \
    COLUMN(domain)                                                                                                     \
    COLUMN(message)

static bool marks_reorder(struct marks *m, const uint32_t *order, size_t n, struct arena *mem)
{
    struct marks sorted = { .n = n };
#define REORDER(column)                                                                                                \
    sorted.column = arena_take(mem, n, sizeof *sorted.column);                                                         \
    if (sorted.column)                                                                                                 \
        order_apply(sorted.column, m->column, order, n, sizeof *sorted.column);
    KEPT_COLUMNS(REORDER)
#undef REORDER
    if (arena_failed(mem))
        return false;
    *m = sorted;
    return true;
}

/* The whole message of a mark that came in segments. */
static bool join_message(struct profile *p, struct marks *m, const uint32_t *row, size_t n)
{
    size_t len = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        len += names_len(p->names, m->message[row[i]]);
    char *text = malloc(len + 1);
    if (!text)
        return false;
    for (size_t i = 0; i < n; i++) {
        const size_t part = names_len(p->names, m->message[row[i]]);
        memcpy(text + at, names_text(p->names, m->message[row[i]]), part);
        at += part;
        if (m->segment[row[i]] != i)
            record_lost(&p->host.source, "additional.msproftx", LOSS_CUT_SHORT, NULL);
    }
    m->message[row[0]] = names_add(p->names, text, len);
    free(text);
    return true;
}

/* The records of marks with an id: mark by mark, the segments of each in their order. A segment that is there twice
 * belongs to two marks of the same id and thread: nth[row] is the number of the mark. */
static bool order_segments(const struct marks *m, uint32_t *order, size_t n, uint32_t *nth)
{
    bool done = order_by_u16(order, n, m->segment) && order_by_u64(order, n, m->id) &&
                order_by_u32(order, n, m->thread) && order_by_u32(order, n, m->process);
    for (size_t i = 1; done && i < n; i++) {
        const uint32_t a = order[i - 1], b = order[i];
        const bool is_again = m->id[a] == m->id[b] && m->thread[a] == m->thread[b] && m->process[a] == m->process[b] &&
                              m->segment[a] == m->segment[b];
        nth[b] = is_again ? nth[a] + 1 : 0;
    }
    return done && order_by_u16(order, n, m->segment) && order_by_u32(order, n, nth) && order_by_u64(order, n, m->id) &&
           order_by_u32(order, n, m->thread) && order_by_u32(order, n, m->process);
}

static bool is_same_mark(const struct marks *m, const uint32_t *nth, uint32_t a, uint32_t b)
{
    return m->id[a] == m->id[b] && nth[a] == nth[b] && m->thread[a] == m->thread[b] && m->process[a] == m->process[b];
}

/* Builds the index by which marks of a device are matched with those of the host. */
static bool index_by_id(struct marks *m, struct arena *mem)
{
    const size_t n = m->n - m->n_plain;
    m->by_id = arena_take(mem, n, sizeof *m->by_id);
    m->repeat = arena_take(mem, m->n, sizeof *m->repeat);
    if (!m->by_id || !m->repeat)
        return false;
    for (size_t i = 0; i < n; i++)
        m->by_id[i] = (uint32_t)(m->n_plain + i);
    if (!order_by_u64(m->by_id, n, m->begin) || !order_by_u64(m->by_id, n, m->id))
        return false;
    for (size_t i = 1; i < n; i++)
        if (m->id[m->by_id[i]] == m->id[m->by_id[i - 1]]) {
            m->repeat[m->by_id[i]] = m->repeat[m->by_id[i - 1]] + 1;
            m->has_repeats = true;
        }
    return true;
}

/* The frameworks' marks of collectives are JSON with a backslash before each quote, because the reference copies
 * messages into its JSON as they are. They become the JSON that they are meant to be. */
static bool unescape_message(struct profile *p, name_id *message)
{
    const char *text = names_text(p->names, *message);
    if (strncmp(text, "{\\\"", 3) != 0)
        return true;
    const size_t len = names_len(p->names, *message);
    char *plain = malloc(len);
    size_t n = 0;
    for (size_t i = 0; plain && i < len; i++)
        if (text[i] != '\\' || text[i + 1] != '"')
            plain[n++] = text[i];
    if (plain)
        *message = names_add(p->names, plain, n);
    free(plain);
    return plain != NULL;
}

bool marks_analyse(struct profile *p, struct error *e)
{
    struct marks *m = &p->host.records.marks;
    struct arena *mem = p->host.source.mem;
    uint32_t *order = arena_take(mem, m->n, sizeof *order), *joined = arena_take(mem, m->n, sizeof *joined);
    uint32_t *nth = arena_take(mem, m->n, sizeof *nth), *place = arena_take(mem, m->n, sizeof *place); /* in the file */
    size_t n_plain = 0, n_with_id = 0, n = 0;
    bool done = order && joined && nth && place;
    for (uint32_t i = 0; done && i < m->n; i++) {
        place[i] = i;
        if (m->info[i] == MARK_INFO_PLAIN)
            joined[n_plain++] = i;
        else if (m->info[i] == MARK_INFO_WITH_ID)
            order[n_with_id++] = i;
    }
    done = done && order_segments(m, order, n_with_id, nth);
    n = n_plain;
    for (size_t i = 0, end; done && i < n_with_id; i = end) {
        for (end = i + 1; end < n_with_id && is_same_mark(m, nth, order[end], order[i]);)
            end++;
        if (end - i > 1 || m->segment[order[i]] != 0)
            done = join_message(p, m, order + i, end - i);
        joined[n++] = order[i];
    }
    if (done)
        losses_add(&p->host.source.lost, LOSS_OTHER_KIND, m->n - n_plain - n_with_id, host_file, 0);
    done = done && order_by_u32(joined + n_plain, n - n_plain, place) && marks_reorder(m, joined, n, mem);
    for (size_t i = 0; done && i < m->n; i++)
        done = unescape_message(p, &m->message[i]);
    m->n_plain = n_plain;
    return (done && index_by_id(m, mem)) || error_no_memory(e, p->path);
}

/* Whether the release of CANN has different tags for points and ranges. In older ones, a mark with two stamps is a
 * range. */
static bool has_range_tags(const struct source *s)
{
    const struct settings *t = &s->settings;
    return t->cann_major > 9 || (t->cann_major == 9 && t->cann_minor >= 1);
}

/* The threads that launch tasks on a device. They tell marks with the same id apart. */
struct launchers {
    struct keys thread;
    struct arena *mem;
};

static bool launchers_find(struct launchers *l, const struct profile *p, uint32_t device)
{
    const struct host_tasks *h = &p->host.tasks;
    l->mem = arena_new();
    for (size_t i = 0; l->mem && p->host.records.marks.has_repeats && i < h->n; i++)
        if (h->device[i] == device && keys_add(&l->thread, h->thread[i], l->mem) == KEYS_NO_MEMORY)
            return false;
    return l->mem != NULL;
}

/* Only damaged files have an id hundreds of times. The limit keeps the search from becoming quadratic. */
enum { MOST_LOOKED_AT = 64 };

/* The mark of the host with an id that a device recorded at at_ns; NO_ROW: there is none. */
static uint32_t mark_seen(const struct profile *p, const struct launchers *l, uint64_t id, int64_t at_ns)
{
    const struct marks *m = &p->host.records.marks;
    const size_t n = m->n - m->n_plain, first = order_first_u64(m->by_id, n, m->id, id);
    if (first == n || m->id[m->by_id[first]] != id)
        return NO_ROW;
    const size_t end = id == UINT64_MAX ? n : order_first_u64(m->by_id, n, m->id, id + 1);
    const size_t last = end - 1;
    const size_t after =
        SEARCH_FIRST_NOT(i, first, end, source_host_ns(&p->host.source, m->begin[m->by_id[i]]) <= at_ns);
    const size_t latest = after > first ? after - 1 : first;
    for (size_t i = latest; i + 1 > first && latest - i < MOST_LOOKED_AT; i--)
        if (keys_find(&l->thread, m->thread[m->by_id[i]]) != KEYS_NONE)
            return m->by_id[i];
    for (size_t i = latest + 1; i <= last && i - latest < MOST_LOOKED_AT; i++)
        if (keys_find(&l->thread, m->thread[m->by_id[i]]) != KEYS_NONE)
            return m->by_id[i];
    return m->by_id[latest];
}

static bool find_on_host(struct device_marks *seen, const struct profile *p, const struct device *d)
{
    struct launchers launchers = { 0 };
    const bool done = launchers_find(&launchers, p, d->source.device);
    for (size_t i = 0; done && i < seen->n; i++)
        seen->host[i] = mark_seen(p, &launchers, seen->id[i], seen->begin_ns[i]);
    arena_free(launchers.mem);
    return done;
}

struct marks_pairing {
    const struct device_log *log;
    const struct source *source;
    struct device_marks *out;
    uint64_t n_outside, n_unpaired;
};

static void add_mark(struct marks_pairing *p, uint32_t first, uint32_t last)
{
    struct device_marks *m = p->out;
    const int64_t begin_ns = source_device_ns(p->source, p->log->stamps.tick[first]);
    if (begin_ns < p->source->begin_ns) {
        p->n_outside++;
        return;
    }
    m->id[m->n] = p->log->stamps.index[first];
    m->model[m->n] = p->log->stamps.model[first];
    m->stream[m->n] = p->log->stamps.stream[first];
    m->task[m->n] = p->log->stamps.task[first];
    m->begin_ns[m->n] = begin_ns;
    m->end_ns[m->n] = source_device_ns(p->source, p->log->stamps.tick[last]);
    m->n++;
}

/* Stamps with one id, in order of time. */
static void pair_stamps(struct marks_pairing *p, const uint32_t *row, size_t n, bool has_tags)
{
    const uint16_t *tag = p->log->stamps.tag;
    if (!has_tags) {
        add_mark(p, row[0], row[n - 1]);
        return;
    }
    uint32_t open = NO_ROW;
    for (size_t i = 0; i < n; i++) {
        if (tag[row[i]] == STEP_TAG_MARK) {
            add_mark(p, row[i], row[i]);
        } else if (open == NO_ROW) {
            open = row[i];
        } else {
            add_mark(p, open, row[i]);
            open = NO_ROW;
        }
    }
    p->n_unpaired += open != NO_ROW;
}

bool device_marks_analyse(struct profile *p, struct device *d, struct error *e)
{
    const struct device_log *log = &d->log;
    struct arena *mem = d->source.mem;
    size_t n = 0, at = 0;
    for (size_t i = 0; i < log->stamps.n; i++)
        n += log->stamps.tag[i] == STEP_TAG_MARK || log->stamps.tag[i] == STEP_TAG_MARK_RANGE;
    struct device_marks *m = &d->steps.marks;
    uint32_t *order = arena_take(mem, n, sizeof *order);
    *m = (struct device_marks){ .id = arena_take(mem, n, sizeof *m->id),
                                .model = arena_take(mem, n, sizeof *m->model),
                                .stream = arena_take(mem, n, sizeof *m->stream),
                                .task = arena_take(mem, n, sizeof *m->task),
                                .host = arena_take(mem, n, sizeof *m->host),
                                .begin_ns = arena_take(mem, n, sizeof *m->begin_ns),
                                .end_ns = arena_take(mem, n, sizeof *m->end_ns) };
    bool done = !arena_failed(mem);
    for (uint32_t i = 0; done && i < log->stamps.n; i++)
        if (log->stamps.tag[i] == STEP_TAG_MARK || log->stamps.tag[i] == STEP_TAG_MARK_RANGE)
            order[at++] = i;
    if (!done || !order_by_u64(order, n, log->stamps.tick) || !order_by_u64(order, n, log->stamps.index))
        return error_no_memory(e, d->source.path);
    struct marks_pairing pairing = { .log = log, .source = &d->source, .out = m };
    const bool has_tags = has_range_tags(&d->source);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && log->stamps.index[order[end]] == log->stamps.index[order[i]];)
            end++;
        pair_stamps(&pairing, order + i, end - i, has_tags);
    }
    losses_add(&d->source.lost, LOSS_OUTSIDE, pairing.n_outside, device_file, 0);
    losses_add(&d->source.lost, LOSS_UNPAIRED, pairing.n_unpaired, device_file, 0);
    return find_on_host(m, p, d) || error_no_memory(e, d->source.path);
}
