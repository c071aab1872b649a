/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/flow/marks.h"
#include "base/memory/sort.h"
#include "export/msprof/prof_outputs.h"
#include "export/msprof/tracks/prof_trace.h"

/* A line of the table: a mark of the host with one of its ranges on devices. */
struct mark_line {
    uint32_t mark, device, seen; /* seen: row of the device's marks; NO_ROW in both: no device has it */
};

struct mark_lines {
    const struct profile *profile;
    struct mark_line *at;
};

static const struct marks *marks_of(const struct profile *p)
{
    return &p->host.records.marks;
}

/* A mark of the old interface: it has a category and a payload, but no domain and no id. */
static bool is_plain(const struct profile *p, size_t mark)
{
    return mark < marks_of(p)->n_plain;
}

static const struct device *seen_by(const struct mark_lines *l, size_t i)
{
    return l->at[i].device == NO_ROW ? NULL : &l->profile->device[l->at[i].device];
}

static struct cell time_cell(const struct profile *p, uint64_t tick)
{
    return cell_time(source_host_ns(&p->host.source, tick));
}

/* Cells of the mark of a line, of a plain mark only, and of its range on a device. */
#define OF_MARK(function, make, column)                                                                                \
    CELL_GETTER(function, struct mark_lines, make(marks_of(r->profile)->column[r->at[i].mark]))
#define OF_PLAIN(function, make, type, column)                                                                         \
    CELL_GETTER(function, struct mark_lines,                                                                           \
                is_plain(r->profile, r->at[i].mark) ? make((type)marks_of(r->profile)->column[r->at[i].mark])          \
                                                    : cell_na())
#define OF_DEVICE(function, otherwise, expression)                                                                     \
    CELL_GETTER(function, struct mark_lines, seen_by(r, i) ? expression : otherwise)

OF_DEVICE(device_id, cell_text("host"), cell_uint(seen_by(r, i)->source.device))
OF_MARK(process_id, cell_uint, process)
OF_MARK(thread_id, cell_uint, thread)
OF_PLAIN(category, cell_uint, uint32_t, category)
CELL_GETTER(event_type, struct mark_lines, cell_text(mark_event_text(marks_of(r->profile), r->at[i].mark)))
OF_PLAIN(payload_type, cell_int, int32_t, payload_type)
OF_PLAIN(payload_value, cell_uint, uint64_t, payload)
CELL_GETTER(begin, struct mark_lines, time_cell(r->profile, marks_of(r->profile)->begin[r->at[i].mark]))
CELL_GETTER(end, struct mark_lines, time_cell(r->profile, marks_of(r->profile)->end[r->at[i].mark]))
OF_PLAIN(message_type, cell_int, int32_t, message_type)
OF_MARK(message, cell_name, message)
CELL_GETTER(domain, struct mark_lines,
            is_plain(r->profile, r->at[i].mark) ? cell_na() : cell_text(mark_domain_text(r->profile, r->at[i].mark)))
OF_DEVICE(device_begin, cell_na(), cell_time(seen_by(r, i)->steps.marks.begin_ns[r->at[i].seen]))
OF_DEVICE(device_end, cell_na(), cell_time(seen_by(r, i)->steps.marks.end_ns[r->at[i].seen]))

static const struct column line_columns[] = {
    { "Device_id", device_id },
    { "pid", process_id },
    { "tid", thread_id },
    { "category", category },
    { "event_type", event_type },
    { "payload_type", payload_type },
    { "payload_value", payload_value },
    { "Start_time(us)", begin },
    { "End_time(us)", end },
    { "message_type", message_type },
    { "message", message },
    { "domain", domain },
    { "Device Start_time(us)", device_begin },
    { "Device End_time(us)", device_end },
};

/* The lines of all ranges on devices, sorted by mark: those of mark i are at[first[i]] up to at[first[i + 1]]. */
struct sightings {
    uint32_t *first;
    struct mark_line *at;
};

static bool sightings_make(struct sightings *s, const struct profile *p, struct arena *mem)
{
    const struct marks *m = &p->host.records.marks;
    uint32_t *next = arena_take(mem, m->n + 1, sizeof *next);
    s->first = arena_take(mem, m->n + 1, sizeof *s->first);
    if (!next || !s->first)
        return false;
    for (uint32_t d = 0; d < p->n_devices; d++)
        for (size_t i = 0; i < p->device[d].steps.marks.n; i++)
            if (p->device[d].steps.marks.host[i] != NO_ROW)
                s->first[p->device[d].steps.marks.host[i] + 1]++;
    for (size_t i = 0; i < m->n; i++) {
        s->first[i + 1] += s->first[i];
        next[i] = s->first[i];
    }
    s->at = arena_take(mem, s->first[m->n], sizeof *s->at);
    for (uint32_t d = 0; s->at && d < p->n_devices; d++)
        for (uint32_t i = 0; i < p->device[d].steps.marks.n; i++) {
            const uint32_t mark = p->device[d].steps.marks.host[i];
            if (mark != NO_ROW)
                s->at[next[mark]++] = (struct mark_line){ mark, d, i };
        }
    return s->at != NULL;
}

/* Appends the lines of one mark; returns how many. */
static size_t lines_of(const struct sightings *s, uint32_t mark, struct mark_line *at)
{
    const size_t n = s->first[mark + 1] - s->first[mark];
    if (n == 0)
        *at = (struct mark_line){ mark, NO_ROW, NO_ROW };
    for (size_t i = 0; i < n; i++)
        at[i] = s->at[s->first[mark] + i];
    return n ? n : 1;
}

bool marks_report(const struct export *x, struct table *out, struct error *e)
{
    const struct profile *p = x->profile;
    const struct marks *m = &p->host.records.marks;
    struct sightings seen;
    if (!sightings_make(&seen, p, x->mem))
        return error_no_memory(e, "msprof_tx");
    size_t n = 0, at = 0;
    for (size_t i = 0; i < m->n; i++)
        n += seen.first[i + 1] > seen.first[i] ? seen.first[i + 1] - seen.first[i] : 1;
    struct mark_lines *lines = arena_take(x->mem, 1, sizeof *lines);
    uint32_t *order = arena_take(x->mem, m->n, sizeof *order);
    if (!lines || !order || !(lines->at = arena_take(x->mem, n, sizeof *lines->at)))
        return error_no_memory(e, "msprof_tx");
    order_fill(order, m->n);
    if (!order_by_u64(order, m->n, m->begin))
        return error_no_memory(e, "msprof_tx");
    lines->profile = p;
    for (size_t i = 0; i < m->n; i++)
        at += lines_of(&seen, order[i], lines->at + at);
    *out = (struct table){
        .name = "msprof_tx", TABLE_COLUMNS(line_columns), .n_rows = n, .rows = lines, .names = p->names
    };
    return true;
}

static struct cell event_cell(const struct marks *m, size_t i)
{
    enum { EVENT_UNKNOWN = 65535 };
    return cell_uint(*mark_event_text(m, i) ? m->event[i] : EVENT_UNKNOWN);
}

/* Cells of a mark of the host. */
CELL_GETTER(db_begin, struct profile, cell_int(source_host_ns(&r->host.source, marks_of(r)->begin[i])))
CELL_GETTER(db_end, struct profile, cell_int(source_host_ns(&r->host.source, marks_of(r)->end[i])))
CELL_GETTER(db_event, struct profile, event_cell(marks_of(r), i))
CELL_GETTER(db_range, struct profile, cell_uint(UINT32_MAX))
CELL_GETTER(db_category, struct profile, cell_uint(is_plain(r, i) ? marks_of(r)->category[i] : UINT32_MAX))
CELL_GETTER(db_message, struct profile, cell_name(marks_of(r)->message[i]))
CELL_GETTER(db_tid, struct profile, cell_uint((uint64_t)r->host.source.pid << 32 | marks_of(r)->thread[i]))
CELL_GETTER(db_domain, struct profile, cell_text(is_plain(r, i) ? "" : mark_domain_text(r, i)))
CELL_GETTER(db_connection, struct profile,
            cell_uint(is_plain(r, i) ? MARK_WITHOUT_ID : mark_connection(mark_unique_id(marks_of(r), i))))

/* Only marks that began during the collection. */
bool marks_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        { "startNs", "INTEGER", db_begin },     { "endNs", "INTEGER", db_end },
        { "eventType", "INTEGER", db_event },   { "rangeId", "INTEGER", db_range },
        { "category", "INTEGER", db_category }, { "message", "INTEGER", db_message },
        { "globalTid", "INTEGER", db_tid },     { "endGlobalTid", "INTEGER", db_tid },
        { "domainId", "INTEGER", db_domain },   { "connectionId", "INTEGER", db_connection },
    };
    const struct profile *p = x->profile;
    const struct marks *m = &p->host.records.marks;
    uint32_t *row = arena_take(x->mem, m->n, sizeof *row);
    if (!row)
        return error_no_memory(e, "MSTX_EVENTS");
    size_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (source_host_ns(&p->host.source, m->begin[i]) >= p->host.source.begin_ns)
            row[n++] = i;
    const struct db_table t = { .name = "MSTX_EVENTS", TABLE_COLUMNS(column), .n_rows = n, .rows = p, .shown = row };
    return db_table(db, &t, e);
}
