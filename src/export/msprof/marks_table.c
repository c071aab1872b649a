#include "analyse/flow/marks.h"
#include "base/sort.h"
#include "export/msprof/mark_tracks.h"

/* One line: a mark of the host, and one place where a device saw it. */
struct mark_line {
    uint32_t mark, device, seen; /* NO_ROW: by none */
};

struct mark_lines {
    const struct profile *profile;
    struct mark_line *at;
};

enum mark_column {
    MARK_COLUMN_DEVICE,
    MARK_COLUMN_PID,
    MARK_COLUMN_TID,
    MARK_COLUMN_CATEGORY,
    MARK_COLUMN_EVENT,
    MARK_COLUMN_PAYLOAD_TYPE,
    MARK_COLUMN_PAYLOAD,
    MARK_COLUMN_BEGIN,
    MARK_COLUMN_END,
    MARK_COLUMN_MESSAGE_TYPE,
    MARK_COLUMN_MESSAGE,
    MARK_COLUMN_DOMAIN,
    MARK_COLUMN_DEVICE_BEGIN,
    MARK_COLUMN_DEVICE_END,
};

static struct cell line_cell(const void *rows, size_t row, size_t column)
{
    const struct mark_lines *lines = rows;
    const struct mark_line *line = &lines->at[row];
    const struct profile *p = lines->profile;
    const struct marks *m = &p->host.records.marks;
    const uint32_t i = line->mark;
    const bool is_plain = i < m->n_plain, is_seen = line->device != NO_ROW;
    switch ((enum mark_column)column) {
    case MARK_COLUMN_DEVICE: return is_seen ? cell_uint(p->device[line->device].source.device) : cell_text("host");
    case MARK_COLUMN_PID: return cell_uint(m->process[i]);
    case MARK_COLUMN_TID: return cell_uint(m->thread[i]);
    case MARK_COLUMN_CATEGORY: return is_plain ? cell_uint(m->category[i]) : cell_na();
    case MARK_COLUMN_EVENT: return cell_text(mark_event_text(m, i));
    case MARK_COLUMN_PAYLOAD_TYPE: return is_plain ? cell_int((int32_t)m->payload_type[i]) : cell_na();
    case MARK_COLUMN_PAYLOAD: return is_plain ? cell_uint(m->payload[i]) : cell_na();
    case MARK_COLUMN_BEGIN: return cell_time(source_host_ns(&p->host.source, m->begin[i]));
    case MARK_COLUMN_END: return cell_time(source_host_ns(&p->host.source, m->end[i]));
    case MARK_COLUMN_MESSAGE_TYPE: return is_plain ? cell_int((int32_t)m->message_type[i]) : cell_na();
    case MARK_COLUMN_MESSAGE: return cell_name(m->message[i]);
    case MARK_COLUMN_DOMAIN: return is_plain ? cell_na() : cell_text(mark_domain_text(p, i));
    case MARK_COLUMN_DEVICE_BEGIN:
        return is_seen ? cell_time(p->device[line->device].steps.marks.begin_ns[line->seen]) : cell_na();
    case MARK_COLUMN_DEVICE_END:
        return is_seen ? cell_time(p->device[line->device].steps.marks.end_ns[line->seen]) : cell_na();
    }
    return cell_na();
}

/* Where devices saw the marks: those of mark i are at[first[i]] up to at[first[i + 1]]. */
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

/* Appends the lines of one mark. */
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
    static const struct column column[] = {
        [MARK_COLUMN_DEVICE] = { "Device_id", NULL },
        [MARK_COLUMN_PID] = { "pid", NULL },
        [MARK_COLUMN_TID] = { "tid", NULL },
        [MARK_COLUMN_CATEGORY] = { "category", NULL },
        [MARK_COLUMN_EVENT] = { "event_type", NULL },
        [MARK_COLUMN_PAYLOAD_TYPE] = { "payload_type", NULL },
        [MARK_COLUMN_PAYLOAD] = { "payload_value", NULL },
        [MARK_COLUMN_BEGIN] = { "Start_time(us)", NULL },
        [MARK_COLUMN_END] = { "End_time(us)", NULL },
        [MARK_COLUMN_MESSAGE_TYPE] = { "message_type", NULL },
        [MARK_COLUMN_MESSAGE] = { "message", NULL },
        [MARK_COLUMN_DOMAIN] = { "domain", NULL },
        [MARK_COLUMN_DEVICE_BEGIN] = { "Device Start_time(us)", NULL },
        [MARK_COLUMN_DEVICE_END] = { "Device End_time(us)", NULL },
    };
    const struct profile *p = x->profile;
    const struct marks *m = &p->host.records.marks;
    struct sightings seen;
    if (!sightings_make(&seen, p, x->mem))
        return error_set(e, FAULT_LIMIT, "msprof_tx: no memory for its rows");
    size_t n = 0, at = 0;
    for (size_t i = 0; i < m->n; i++)
        n += seen.first[i + 1] > seen.first[i] ? seen.first[i + 1] - seen.first[i] : 1;
    struct mark_lines *lines = arena_take(x->mem, 1, sizeof *lines);
    uint32_t *order = arena_take(x->mem, m->n, sizeof *order);
    if (!lines || !order || !(lines->at = arena_take(x->mem, n, sizeof *lines->at)))
        return error_set(e, FAULT_LIMIT, "msprof_tx: no memory for its rows");
    order_fill(order, m->n);
    if (!order_by_u64(order, m->n, m->begin))
        return error_set(e, FAULT_LIMIT, "msprof_tx: no memory to sort its rows");
    lines->profile = p;
    for (size_t i = 0; i < m->n; i++)
        at += lines_of(&seen, order[i], lines->at + at);
    *out = (struct table){ .name = "msprof_tx",
                           .column = column,
                           .n_columns = sizeof column / sizeof *column,
                           .n_rows = n,
                           .rows = lines,
                           .get = line_cell,
                           .names = p->names };
    return true;
}

/* The rows of the database: marks that began during the collection. */
struct mark_rows {
    const struct profile *profile;
    const uint32_t *row;
};

enum mark_field {
    MARK_FIELD_BEGIN,
    MARK_FIELD_END,
    MARK_FIELD_EVENT,
    MARK_FIELD_RANGE,
    MARK_FIELD_CATEGORY,
    MARK_FIELD_MESSAGE,
    MARK_FIELD_TID,
    MARK_FIELD_END_TID,
    MARK_FIELD_DOMAIN,
    MARK_FIELD_CONNECTION,
};
enum { EVENT_UNKNOWN = 65535 };

static struct cell event_cell(const void *rows, size_t row, size_t field)
{
    const struct mark_rows *r = rows;
    const struct profile *p = r->profile;
    const struct marks *m = &p->host.records.marks;
    const uint32_t i = r->row[row];
    const bool is_plain = i < m->n_plain;
    switch ((enum mark_field)field) {
    case MARK_FIELD_BEGIN: return cell_int(source_host_ns(&p->host.source, m->begin[i]));
    case MARK_FIELD_END: return cell_int(source_host_ns(&p->host.source, m->end[i]));
    case MARK_FIELD_EVENT: return cell_uint(*mark_event_text(m, i) ? m->event[i] : EVENT_UNKNOWN);
    case MARK_FIELD_RANGE: return cell_uint(UINT32_MAX);
    case MARK_FIELD_CATEGORY: return cell_uint(is_plain ? m->category[i] : UINT32_MAX);
    case MARK_FIELD_MESSAGE: return cell_name(m->message[i]);
    case MARK_FIELD_TID:
    case MARK_FIELD_END_TID: return cell_uint((uint64_t)p->host.source.pid << 32 | m->thread[i]);
    case MARK_FIELD_DOMAIN: return cell_text(is_plain ? "" : mark_domain_text(p, i));
    case MARK_FIELD_CONNECTION: return cell_uint(is_plain ? MARK_WITHOUT_ID : mark_connection(mark_unique_id(m, i)));
    }
    return cell_na();
}

bool marks_db(const struct export *x, struct db *db, struct error *e)
{
    static const struct db_column column[] = {
        [MARK_FIELD_BEGIN] = { "startNs", "INTEGER", NULL },
        [MARK_FIELD_END] = { "endNs", "INTEGER", NULL },
        [MARK_FIELD_EVENT] = { "eventType", "INTEGER", NULL },
        [MARK_FIELD_RANGE] = { "rangeId", "INTEGER", NULL },
        [MARK_FIELD_CATEGORY] = { "category", "INTEGER", NULL },
        [MARK_FIELD_MESSAGE] = { "message", "INTEGER", NULL },
        [MARK_FIELD_TID] = { "globalTid", "INTEGER", NULL },
        [MARK_FIELD_END_TID] = { "endGlobalTid", "INTEGER", NULL },
        [MARK_FIELD_DOMAIN] = { "domainId", "INTEGER", NULL },
        [MARK_FIELD_CONNECTION] = { "connectionId", "INTEGER", NULL },
    };
    const struct profile *p = x->profile;
    const struct marks *m = &p->host.records.marks;
    uint32_t *row = arena_take(x->mem, m->n, sizeof *row);
    if (!row)
        return error_set(e, FAULT_LIMIT, "MSTX_EVENTS: no memory for its rows");
    size_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (source_host_ns(&p->host.source, m->begin[i]) >= p->host.source.begin_ns)
            row[n++] = i;
    const struct mark_rows rows = { p, row };
    const struct db_table t = { .name = "MSTX_EVENTS",
                                .column = column,
                                .n_columns = sizeof column / sizeof *column,
                                .n_rows = n,
                                .rows = &rows,
                                .get = event_cell };
    return db_table(db, &t, e);
}
