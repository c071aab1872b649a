/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/job/rank_readers.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/bytes.h"
#include "base/files/file.h"
#include "base/memory/large_memory.h"
#include "base/text/json_memory.h"

/* What a file contains, mapped. False with *why 0: it is empty. */
static bool file_map(const char *path, struct mapped *m, int *why)
{
    struct stat st;
    const int fd = file_open(AT_FDCWD, path, &st, why);
    if (fd < 0)
        return false;
    const bool done = st.st_size > 0 && memory_map(m, fd, (size_t)st.st_size);
    *why = done || st.st_size == 0 ? 0 : errno;
    close(fd);
    return done;
}

json_t *rank_text_json(const char *path)
{
    struct mapped m = { 0 };
    json_error_t unused;
    int why;
    if (!path || !file_map(path, &m, &why))
        return NULL;
    json_t *json = json_read(m.at, m.bytes, 0, &unused);
    memory_unmap(&m);
    return json;
}

struct text_reader {
    struct rank *rank;
    const char *path;                      /* of the file that is read */
    size_t time_cap, band_cap, matrix_cap; /* rows for which the columns of each table have room */
    struct arena *mem;
    struct error *e;
};

/* *is_there: the file exists. NULL: it does not, or an error. */
static json_t *read_json(struct text_reader *r, bool *is_there)
{
    struct mapped m = { 0 };
    json_error_t where;
    int why;
    *is_there = false;
    if (!r->path) {
        error_no_memory(r->e, "ascope cluster");
        return NULL;
    }
    if (!file_map(r->path, &m, &why)) {
        if (why == 0)
            error_set(r->e, FAULT_FORMAT, "%s: empty; analyse the rank again", r->path);
        else if (why != ENOENT)
            error_set(r->e, FAULT_IO, "%s: cannot be read: %s", r->path, read_trouble(why));
        return NULL;
    }
    json_t *json = json_read(m.at, m.bytes, 0, &where);
    memory_unmap(&m);
    *is_there = json != NULL;
    if (!json && json_memory_failed())
        error_no_memory(r->e, r->path);
    else if (!json)
        error_set(r->e, FAULT_FORMAT, "%s:%d: not valid JSON: %s; analyse the rank again", r->path, where.line,
                  where.text);
    return json;
}

static name_id rank_text_name_of(struct text_reader *r, const char *text)
{
    return text ? names_addz(r->rank->names, text) : NAME_EMPTY;
}

static double number(struct text_reader *r, const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    if (!v || json_is_null(v))
        return 0;
    if (json_is_number(v) && isfinite(json_number_value(v)))
        return json_number_value(v);
    losses_add(&r->rank->identity.lost, LOSS_BAD_VALUE, 1, r->path, 0);
    return 0;
}

/* One operator of communication.json or communication_matrix.json. */
struct op_place {
    name_id step, type, op, group;
};

typedef bool op_taker(struct text_reader *r, const struct op_place *at, json_t *op);

static void place_of(struct text_reader *r, const char *key, struct op_place *at)
{
    const char *sign = strrchr(key, '@');
    const size_t n = sign ? (size_t)(sign - key) : strlen(key);
    at->op = names_add(r->rank->names, key, n);
    at->group = sign ? rank_text_name_of(r, sign + 1) : NAME_EMPTY;
}

/* Each operator of each step: {"step0": {"p2p": {"name@group": …}}}. */
static bool walk_ops(struct text_reader *r, json_t *json, op_taker *take)
{
    const char *step_key, *type_key, *op_key;
    json_t *step, *type, *op;
    struct losses *lost = &r->rank->identity.lost;
    if (!json_is_object(json))
        losses_add(lost, LOSS_BAD_TEXT, 1, r->path, 0);
    json_object_foreach(json, step_key, step)
    {
        if (!json_is_object(step))
            losses_add(lost, LOSS_BAD_TEXT, 1, r->path, 0);
        json_object_foreach(step, type_key, type)
        {
            if (!json_is_object(type))
                losses_add(lost, LOSS_BAD_TEXT, 1, r->path, 0);
            json_object_foreach(type, op_key, op)
            {
                struct op_place at = { .step = rank_text_name_of(r, step_key), .type = rank_text_name_of(r, type_key) };
                if (strncmp(op_key, "Total", 5) == 0)
                    continue;
                place_of(r, op_key, &at);
                if (!json_is_object(op))
                    losses_add(lost, LOSS_BAD_TEXT, 1, r->path, 0);
                else if (!take(r, &at, op))
                    return false;
            }
        }
    }
    return true;
}

/* Columns that grow together: all have room for *cap rows. False: no memory. */
static bool grow(struct arena *mem, size_t n, size_t *cap, void *const *column, const uint8_t *width, size_t n_columns)
{
    if (n < *cap)
        return true;
    const size_t more = *cap ? *cap * 2 : 64;
    for (size_t i = 0; i < n_columns; i++) {
        void *old, *new = arena_take(mem, more, width[i]);
        if (!new)
            return false;
        memcpy(&old, column[i], sizeof old);
        if (n > 0)
            memcpy(new, old, n * width[i]);
        memcpy(column[i], &new, sizeof new);
        arena_drop(mem, old);
    }
    *cap = more;
    return true;
}

#define GROW(mem, n, cap, ...) grow(mem, n, cap, (void *const[]){ __VA_ARGS__ }, widths, sizeof widths / sizeof *widths)

static bool take_band(struct text_reader *r, const struct op_place *at, const char *transport, const json_t *band)
{
    static const uint8_t widths[] = { 4, 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8 };
    struct rank_comm_bandwidth *t = &r->rank->comm_bandwidth;
    json_t *sizes = json_object_get(band, "Size Distribution"), *entry = NULL;
    void *i = json_object_iter(sizes);
    do { /* a row for each size; without any, one all the same */
        if (!GROW(r->mem, t->n, &r->band_cap, &t->op, &t->group, &t->step, &t->type, &t->transport, &t->transit_mb,
                  &t->transit_ms, &t->gbs, &t->large_packet_ratio, &t->package_mb, &t->count, &t->total_ms))
            return error_no_memory(r->e, r->path);
        const size_t n = t->n++;
        t->op[n] = at->op;
        t->group[n] = at->group;
        t->step[n] = at->step;
        t->type[n] = at->type;
        t->transport[n] = rank_text_name_of(r, transport);
        t->transit_mb[n] = number(r, band, "Transit Size(MB)");
        t->transit_ms[n] = number(r, band, "Transit Time(ms)");
        t->gbs[n] = number(r, band, "Bandwidth(GB/s)");
        t->large_packet_ratio[n] = number(r, band, "Large Packet Ratio");
        if (i) {
            entry = json_object_iter_value(i);
            t->package_mb[n] = strtod(json_object_iter_key(i), NULL);
            if (!isfinite(t->package_mb[n]))
                t->package_mb[n] = 0;
            const json_t *count = json_array_get(entry, 0), *total = json_array_get(entry, 1);
            t->count[n] = json_is_number(count) ? json_number_value(count) : 0;
            t->total_ms[n] = json_is_number(total) ? json_number_value(total) : 0;
            i = json_object_iter_next(sizes, i);
        }
    } while (i);
    return true;
}

static bool take_comm_op(struct text_reader *r, const struct op_place *at, json_t *op)
{
    static const uint8_t widths[] = { 4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8 };
    struct rank_comm_time *t = &r->rank->comm_time;
    const json_t *info = json_object_get(op, "Communication Time Info");
    if (!GROW(r->mem, t->n, &r->time_cap, &t->op, &t->group, &t->step, &t->type, &t->start_us, &t->elapse_ms,
              &t->transit_ms, &t->wait_ms, &t->synchronization_ms, &t->idle_ms, &t->wait_ratio,
              &t->synchronization_ratio))
        return error_no_memory(r->e, r->path);
    const size_t n = t->n++;
    t->op[n] = at->op;
    t->group[n] = at->group;
    t->step[n] = at->step;
    t->type[n] = at->type;
    t->start_us[n] = number(r, info, "Start Timestamp(us)");
    t->elapse_ms[n] = number(r, info, "Elapse Time(ms)");
    t->transit_ms[n] = number(r, info, "Transit Time(ms)");
    t->wait_ms[n] = number(r, info, "Wait Time(ms)");
    t->synchronization_ms[n] = number(r, info, "Synchronization Time(ms)");
    t->idle_ms[n] = number(r, info, "Idle Time(ms)");
    t->wait_ratio[n] = number(r, info, "Wait Time Ratio");
    t->synchronization_ratio[n] = number(r, info, "Synchronization Time Ratio");
    const char *transport;
    json_t *band;
    json_object_foreach(json_object_get(op, "Communication Bandwidth Info"), transport,
                        band) if (json_is_object(band) && !take_band(r, at, transport, band)) return false;
    return true;
}

/* "3-5": both ends of a link. */
static bool link_ends(const char *key, int64_t *src, int64_t *dst)
{
    char *end;
    if (*key < '0' || *key > '9')
        return false;
    errno = 0;
    *src = strtoll(key, &end, 10);
    if (*end != '-' || end[1] < '0' || end[1] > '9')
        return false;
    *dst = strtoll(end + 1, &end, 10);
    return *end == 0 && errno == 0;
}

static bool take_matrix_op(struct text_reader *r, const struct op_place *at, json_t *op)
{
    static const uint8_t widths[] = { 4, 4, 4, 4, 4, 4, 8, 8, 8, 8, 8 };
    struct rank_comm_matrix *t = &r->rank->comm_matrix;
    const char *key;
    json_t *link;
    json_object_foreach(op, key, link)
    {
        int64_t src, dst;
        if (!json_is_object(link) || !link_ends(key, &src, &dst)) {
            losses_add(&r->rank->identity.lost, LOSS_BAD_TEXT, 1, r->path, 0);
            continue;
        }
        if (!GROW(r->mem, t->n, &r->matrix_cap, &t->op, &t->group, &t->step, &t->type, &t->transport, &t->op_name,
                  &t->src, &t->dst, &t->transit_mb, &t->transit_ms, &t->gbs))
            return error_no_memory(r->e, r->path);
        const size_t n = t->n++;
        t->op[n] = at->op;
        t->group[n] = at->group;
        t->step[n] = at->step;
        t->type[n] = at->type;
        t->transport[n] = rank_text_name_of(r, json_string_value(json_object_get(link, "Transport Type")));
        t->op_name[n] = rank_text_name_of(r, json_string_value(json_object_get(link, "Op Name")));
        t->src[n] = src;
        t->dst[n] = dst;
        t->transit_mb[n] = number(r, link, "Transit Size(MB)");
        t->transit_ms[n] = number(r, link, "Transit Time(ms)");
        t->gbs[n] = number(r, link, "Bandwidth(GB/s)");
    }
    return true;
}

static bool load_ops_file(struct text_reader *r, const char *dir, const char *name, enum rank_part bit, op_taker *take)
{
    bool is_there;
    r->path = arena_printf(r->mem, "%s/%s", dir, name);
    json_t *json = read_json(r, &is_there);
    const bool done = is_there ? walk_ops(r, json, take) : r->e->fault == FAULT_NONE;
    if (is_there && done)
        r->rank->has |= bit;
    json_decref(json);
    return done;
}

static const char *const step_titles[STEP_COLUMNS] = {
    [STEP_COLUMN_COMPUTING] = "Computing",
    [STEP_COLUMN_EXPOSED] = "Communication(Not Overlapped)",
    [STEP_COLUMN_OVERLAPPED] = "Overlapped",
    [STEP_COLUMN_COMMUNICATION] = "Communication",
    [STEP_COLUMN_FREE] = "Free",
    [STEP_COLUMN_STAGE] = "Stage",
    [STEP_COLUMN_BUBBLE] = "Bubble",
    [STEP_COLUMN_EXPOSED_NO_RECEIVE] = "Communication(Not Overlapped and Exclude Receive)",
    [STEP_COLUMN_PREPARING] = "Preparing",
};

/* The next cell of a line without quotes, which these tables never have. *at is NULL behind the last. */
static const char *cell_next(const char **at, const char *end, size_t *len)
{
    const char *begin = *at, *comma = memchr(begin, ',', (size_t)(end - begin));
    const char *stop = comma ? comma : end;
    *at = comma ? comma + 1 : NULL;
    while (stop > begin && (stop[-1] == '\r' || stop[-1] == ' ' || stop[-1] == '\t'))
        stop--;
    *len = (size_t)(stop - begin);
    return begin;
}

enum { CSV_STEP = STEP_COLUMNS, CSV_OTHER, CSV_MOST = 64 };

static size_t csv_columns(const char *line, size_t len, uint8_t of[CSV_MOST])
{
    size_t n = 0;
    for (const char *at = line; at && n < CSV_MOST; n++) {
        size_t cell_len;
        const char *cell = cell_next(&at, line + len, &cell_len);
        of[n] = cell_len == 4 && memcmp(cell, "Step", 4) == 0 ? CSV_STEP : CSV_OTHER;
        for (uint8_t k = 0; k < STEP_COLUMNS; k++)
            if (strlen(step_titles[k]) == cell_len && memcmp(step_titles[k], cell, cell_len) == 0)
                of[n] = k;
    }
    return n;
}

static double csv_number(struct text_reader *r, const char *cell, size_t len, uint64_t offset)
{
    char text[64], *end;
    if (len < sizeof text) {
        memcpy(text, cell, len);
        text[len] = 0;
        const double v = strtod(text, &end);
        if (len > 0 && *end == 0 && isfinite(v))
            return v;
    }
    losses_add(&r->rank->identity.lost, LOSS_BAD_TEXT, 1, r->path, offset);
    return 0;
}

static bool take_step_lines(struct text_reader *r, struct bytes in)
{
    struct rank_step_trace *t = &r->rank->step_trace;
    uint8_t of[CSV_MOST];
    size_t len, most = 0, n_columns = 0;
    for (struct bytes count = in; bytes_line(&count, &len);)
        most++;
    t->step = arena_take(r->mem, most, sizeof *t->step);
    for (size_t k = 0; k < STEP_COLUMNS; k++)
        t->us[k] = arena_take(r->mem, most, sizeof *t->us[k]);
    if (arena_failed(r->mem))
        return error_no_memory(r->e, r->path);
    if (in.size >= 3 && memcmp(in.data, "\xEF\xBB\xBF", 3) == 0)
        in.at = 3;
    for (const char *line; (line = bytes_line(&in, &len));) {
        if (n_columns == 0) {
            n_columns = csv_columns(line, len, of);
            continue;
        }
        if (len == 0 || (len == 1 && *line == '\r'))
            continue;
        const size_t row = t->n++;
        size_t column = 0, cell_len;
        for (const char *at = line; at && column < n_columns; column++) {
            const char *cell = cell_next(&at, line + len, &cell_len);
            if (of[column] == CSV_STEP)
                t->step[row] = names_add(r->rank->names, cell, cell_len);
            else if (of[column] < STEP_COLUMNS)
                t->us[of[column]][row] = csv_number(r, cell, cell_len, (uint64_t)((const uint8_t *)line - in.data));
        }
        if (column < n_columns) { /* cut short: zeros would look like a step in which nothing ran */
            losses_add(&r->rank->identity.lost, LOSS_BAD_TEXT, 1, r->path, (uint64_t)((const uint8_t *)line - in.data));
            t->n--;
        }
    }
    return true;
}

static bool load_step_trace(struct text_reader *r, const char *dir)
{
    struct mapped m = { 0 };
    int why;
    r->path = arena_printf(r->mem, "%s/step_trace_time.csv", dir);
    if (!r->path)
        return error_no_memory(r->e, dir);
    if (!file_map(r->path, &m, &why))
        return why == ENOENT || why == 0 ||
               error_set(r->e, FAULT_IO, "%s: cannot be read: %s", r->path, read_trouble(why));
    const bool done = take_step_lines(r, (struct bytes){ m.at, m.bytes, 0 });
    memory_unmap(&m);
    if (done)
        r->rank->has |= RANK_STEP_TRACE;
    return done;
}

static const char *member_text(struct text_reader *r, const json_t *json, const char *key)
{
    const json_t *value = json_object_get(json, key);
    char *text = json_is_object(value) ? json_dumps(value, JSON_ENSURE_ASCII) : NULL;
    const char *copy = text ? arena_text(r->mem, text, strlen(text)) : NULL;
    if (json_is_object(value) && !copy)
        error_no_memory(r->e, r->path);
    free(text);
    return copy;
}

bool rank_text_metadata(const char *collection, struct rank *out, struct error *e)
{
    struct text_reader r = { .rank = out, .mem = out->mem, .e = e };
    struct rank_identity *id = &out->identity;
    bool is_there;
    struct error unread = { 0 };
    if (id->distributed_args && id->parallel_group_info)
        return true;
    r.path = arena_printf(r.mem, "%s/profiler_metadata.json", collection);
    r.e = &unread; /* one that is damaged is not needed for what the rank did */
    json_t *json = read_json(&r, &is_there);
    r.e = e;
    if (unread.fault == FAULT_LIMIT)
        *e = unread;
    else if (unread.fault == FAULT_FORMAT)
        losses_add(&id->lost, LOSS_BAD_TEXT, 1, r.path, 0);
    if (!id->distributed_args)
        id->distributed_args = member_text(&r, json, "distributed_args");
    if (!id->parallel_group_info)
        id->parallel_group_info = member_text(&r, json, "parallel_group_info");
    json_decref(json);
    return e->fault == FAULT_NONE;
}

bool rank_text_load(const struct job_rank *from, unsigned parts, struct rank *out, struct error *e)
{
    struct text_reader r = { .rank = out, .mem = out->mem, .e = e };
    out->identity.framework = from->framework;
    return (!(parts & RANK_STEP_TRACE) || load_step_trace(&r, from->output)) &&
           (!(parts & RANK_COMM_TABLES) ||
            load_ops_file(&r, from->output, "communication.json", RANK_COMM_TABLES, take_comm_op)) &&
           (!(parts & RANK_COMM_MATRIX) ||
            load_ops_file(&r, from->output, "communication_matrix.json", RANK_COMM_MATRIX, take_matrix_op)) &&
           rank_text_metadata(from->path, out, e);
}
