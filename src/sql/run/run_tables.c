/* SPDX-License-Identifier: Apache-2.0 */
#include "sql/run/run_tables.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyse/framework/collection_analyse.h"
#include "analyse/framework/memory_allocators.h"
#include "answers/run/rank_spans.h"
#include "base/files/out.h"
#include "base/memory/keys.h"
#include "base/text/stamp.h"

/* One rank while its tables are made. */
struct run_tables_maker {
    struct run_tables *out;
    const struct run_rank *of;
    struct step_series steps;
    struct rank_spans spans;
    name_id *kept; /* by the names of the recording: its names in the tables + 1; 0: not yet */
    name_id *step; /* by row of the series */
    int64_t rank, device;
    struct names_recent *recent;
    struct arena *work, *mem; /* while they are made; of the result */
};

static int64_t *integers(struct run_table *t, int column)
{
    return t->column[column];
}

static name_id *texts(struct run_table *t, int column)
{
    return t->column[column];
}

/* Room for the rows of a table, with the columns that all tables have. NULL: no memory. */
static struct run_table *table_take(struct run_tables_maker *m, enum sql_table_id id, size_t n)
{
    const struct sql_table *of = &sql_tables[id];
    struct run_table *t = &m->out->at[id];
    for (size_t i = 0; i < of->n_columns; i++) {
        t->column[i] = arena_take(m->mem, n, of->column[i].type == SQL_TEXT ? sizeof(name_id) : sizeof(int64_t));
        if (!t->column[i])
            return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        integers(t, RUN_RANK)[i] = m->rank;
        integers(t, RUN_DEVICE)[i] = m->device;
    }
    t->n = n;
    return t;
}

static name_id text_keep(const struct run_tables_maker *m, const char *text)
{
    return text && *text ? names_add_recent(m->out->names, m->recent, text, strlen(text)) : NAME_EMPTY;
}

/* The same for a name of the recording, which is copied once. */
static name_id name_keep(const struct run_tables_maker *m, name_id id)
{
    const struct names *from = m->spans.names;
    if (id != NAME_EMPTY && m->kept[id] == 0)
        m->kept[id] = names_add(m->out->names, names_text(from, id), names_len(from, id)) + 1;
    return id == NAME_EMPTY ? NAME_EMPTY : m->kept[id] - 1;
}

static int64_t or_unknown(uint64_t v)
{
    return v > 0 && v <= INT64_MAX ? (int64_t)v : RUN_UNKNOWN;
}

/* ---- ranks and steps --------------------------------------------------------------------------------------------- */

static bool steps_make(struct run_tables_maker *m)
{
    static const int part[STEP_PARTS] = { [STEP_COMPUTING] = STEPS_COMPUTING,
                                          [STEP_OVERLAPPED] = STEPS_OVERLAPPED,
                                          [STEP_COMMUNICATION] = STEPS_COMMUNICATION,
                                          [STEP_FREE] = STEPS_FREE };
    const struct step_series *s = &m->steps;
    struct run_table *t = table_take(m, SQL_STEPS, s->is_whole ? 0 : s->n);
    for (size_t i = 0; t && i < t->n; i++) {
        texts(t, STEPS_NAME)[i] = m->step[i];
        integers(t, STEPS_BEGIN)[i] = s->begin_ns[i];
        integers(t, STEPS_DUR)[i] = s->time_ns[i];
        for (int k = 0; k < STEP_PARTS; k++)
            integers(t, part[k])[i] = s->part_ns[k][i];
        integers(t, STEPS_SLOW)[i] = s->is_slow[i];
        integers(t, STEPS_START_UP)[i] = i < s->n_startup;
    }
    return t != NULL;
}

static bool ranks_make(struct run_tables_maker *m, bool is_simulated)
{
    const struct step_series *s = &m->steps;
    const bool has_steps = !s->is_whole && s->n > 0;
    const bool is_host = m->of->trace
                             ? m->spans.n[SPAN_KERNEL] + m->spans.n[SPAN_COLLECTIVE] + m->spans.n[SPAN_COPY] == 0
                             : !m->of->device;
    struct run_table *t = table_take(m, SQL_RANKS, 1);
    if (!t)
        return false;
    texts(t, RANKS_KIND)[0] = text_keep(m, is_host ? "host" : m->spans.is_npu ? "npu" : "gpu");
    integers(t, RANKS_STEPS)[0] = has_steps ? (int64_t)s->n : 0;
    integers(t, RANKS_STEP)[0] = has_steps ? s->median_ns : RUN_UNKNOWN;
    integers(t, RANKS_KERNELS)[0] = (int64_t)m->spans.n[SPAN_KERNEL];
    integers(t, RANKS_SIMULATED)[0] = is_simulated;
    return true;
}

/* ---- what runs --------------------------------------------------------------------------------------------------- */

static name_id number_keep(const struct run_tables_maker *m, uint32_t number)
{
    char text[24];
    return names_add_recent(m->out->names, m->recent, text, digits_put(text, number));
}

static name_id thread_name(const struct run_tables_maker *m, const struct rank_span *x)
{
    if (!m->of->trace)
        return number_keep(m, x->track);
    const struct chrome_track *track = &m->of->trace->tracks.at[x->track];
    return name_keep(m, track->name != NAME_EMPTY ? track->name : track->id.text);
}

/* Of a trace the number in the name of the track, "stream 7", or else its id: databases number their tracks anew. */
static int64_t stream_number(const struct run_tables_maker *m, const struct rank_span *x)
{
    enum { MOST_DIGITS = 18 };
    if (!m->of->trace)
        return x->track;
    const struct chrome_track *track = &m->of->trace->tracks.at[x->track];
    const char *name = names_text(m->of->trace->names, track->name);
    size_t n = 0;
    if (strncasecmp(name, "stream ", 7) == 0)
        n = strspn(name + 7, "0123456789");
    if (n > 0 && n <= MOST_DIGITS)
        return strtoll(name + 7, NULL, 10);
    return track->id.is_number ? track->id.number : RUN_UNKNOWN;
}

static name_id collective_group(const struct run_tables_maker *m, size_t i)
{
    struct json_span value, plain;
    if (!m->of->trace)
        return text_keep(m, rank_span_place(&m->spans, SPAN_COLLECTIVE, i).group);
    value = json_find(chrome_slice_args(m->of->trace, m->spans.row[SPAN_COLLECTIVE][i]), "Process Group Name");
    return value.at && json_plain(value, &plain) ? names_add_recent(m->out->names, m->recent, plain.at, plain.len)
                                                 : NAME_EMPTY;
}

/* The columns that all that runs has. */
static struct run_table *work_make(struct run_tables_maker *m, enum sql_table_id id, enum span_kind kind)
{
    struct run_table *t = table_take(m, id, m->spans.n[kind]);
    for (size_t i = 0; t && i < t->n; i++) {
        const struct rank_span x = rank_span(&m->spans, kind, i);
        texts(t, WORK_NAME)[i] = name_keep(m, x.id);
        integers(t, WORK_BEGIN)[i] = x.begin_ns;
        integers(t, WORK_DUR)[i] = span_ns(x.begin_ns, x.end_ns);
        texts(t, WORK_STEP)[i] = x.step == NO_ROW ? NAME_EMPTY : m->step[x.step];
        if (kind >= SPAN_CALL)
            texts(t, WORK_TRACK)[i] = thread_name(m, &x);
        else if (kind == SPAN_COLLECTIVE)
            texts(t, WORK_TRACK)[i] = collective_group(m, i);
        else
            integers(t, WORK_TRACK)[i] = stream_number(m, &x);
    }
    return t;
}

static int64_t launch_ns(const struct run_tables_maker *m, enum span_kind kind, size_t i)
{
    struct rank_span call;
    return rank_span_launch(&m->spans, kind, i, &call) ? call.begin_ns : RUN_UNKNOWN;
}

static bool kernels_make(struct run_tables_maker *m)
{
    const struct rank_spans *v = &m->spans;
    struct run_table *t = work_make(m, SQL_KERNELS, SPAN_KERNEL);
    for (size_t i = 0; t && i < t->n; i++) {
        texts(t, KERNELS_OPERATOR)[i] = text_keep(m, rank_span_owner(v, SPAN_KERNEL, i));
        texts(t, KERNELS_TYPE)[i] = name_keep(m, rank_span_type(v, i));
        texts(t, KERNELS_CORES)[i] = v->is_npu ? text_keep(m, rank_span_cores(v, i)) : NAME_EMPTY;
        integers(t, KERNELS_BLOCKS)[i] = or_unknown(rank_span_blocks(v, i));
        integers(t, KERNELS_LAUNCH)[i] = launch_ns(m, SPAN_KERNEL, i);
    }
    return t != NULL;
}

static bool collectives_make(struct run_tables_maker *m)
{
    struct run_table *t = work_make(m, SQL_COLLECTIVES, SPAN_COLLECTIVE);
    for (size_t i = 0; t && i < t->n; i++) {
        const struct span_collective c = rank_span_collective(&m->spans, i);
        texts(t, COLLECTIVES_KIND)[i] = text_keep(m, c.kind);
        integers(t, COLLECTIVES_ELEMENTS)[i] = or_unknown(c.elements);
        integers(t, COLLECTIVES_BYTES)[i] = or_unknown(c.bytes);
        integers(t, COLLECTIVES_RANKS)[i] = or_unknown(c.ranks);
    }
    return t != NULL;
}

static bool copies_make(struct run_tables_maker *m)
{
    struct run_table *t = work_make(m, SQL_COPIES, SPAN_COPY);
    for (size_t i = 0; t && i < t->n; i++) {
        const struct span_copy c = rank_span_copy(&m->spans, i);
        texts(t, COPIES_OPERATOR)[i] = text_keep(m, rank_span_owner(&m->spans, SPAN_COPY, i));
        integers(t, COPIES_BYTES)[i] = or_unknown(c.bytes);
        texts(t, COPIES_DIRECTION)[i] = text_keep(m, c.is_to_device ? "to device" : c.is_to_host ? "to host" : "");
        integers(t, COPIES_LAUNCH)[i] = launch_ns(m, SPAN_COPY, i);
    }
    return t != NULL;
}

static bool memory_make(struct run_tables_maker *m)
{
    const struct collection *s = m->of->collection;
    const struct memory_lives *l = s ? &s->lives : NULL;
    struct run_table *t = table_take(m, SQL_MEMORY, l ? l->n : 0);
    struct keys keys = { 0 };
    LIST(name_id) name = { 0 };
    for (size_t i = 0; t && i < t->n; i++) {
        const uint32_t taken = l->taken[i], end = memory_life_end(l, i);
        const uint64_t key = memory_allocator_key(s, taken);
        const uint32_t at = keys_add(&keys, key, m->work);
        if (at == KEYS_NO_MEMORY || (at == name.n && !list_add(&name, m->work)))
            return false;
        if (name.at[at] == NAME_EMPTY)
            name.at[at] = text_keep(m, memory_allocator_name(key, m->work));
        texts(t, MEMORY_NAME)[i] = name_keep(m, l->name[i]);
        texts(t, MEMORY_ALLOCATOR)[i] = name.at[at];
        integers(t, MEMORY_BYTES)[i] = s->framework.memory.size_bytes[taken];
        integers(t, MEMORY_BEGIN)[i] = s->framework.memory.time_ns[taken];
        integers(t, MEMORY_END)[i] = end == NO_ROW ? RUN_UNKNOWN : s->framework.memory.time_ns[end];
    }
    return t != NULL;
}

/* ---- a rank, and all of them ------------------------------------------------------------------------------------- */

static bool run_tables_begin(struct run_tables_maker *m)
{
    if (!run_rank_series(&m->steps, m->of, m->work) || !rank_spans_find(&m->spans, m->of, &m->steps, m->work))
        return false;
    m->recent = arena_take(m->work, 1, sizeof *m->recent);
    m->kept = arena_take(m->work, names_count(m->spans.names), sizeof *m->kept);
    m->step = arena_take(m->work, m->steps.n, sizeof *m->step);
    if (!m->recent || !m->kept || !m->step)
        return false;
    for (size_t i = 0; i < m->steps.n && !m->steps.is_whole; i++)
        m->step[i] = text_keep(m, names_text(m->of->names, m->steps.name[i]));
    return true;
}

static bool is_wanted(uint32_t wanted, enum sql_table_id id)
{
    return wanted >> id & 1;
}

static bool run_tables_make(struct run_tables_maker *m, const struct recording *l, uint32_t wanted, bool is_first)
{
    static const struct {
        enum sql_table_id table;
        enum span_kind kind;
    } host[] = { { SQL_CALLS, SPAN_CALL },
                 { SQL_OPERATORS, SPAN_OPERATOR },
                 { SQL_RANGES, SPAN_RANGE },
                 { SQL_PYTHON, SPAN_PYTHON } };
    bool done = run_tables_begin(m) && (!is_wanted(wanted, SQL_STEPS) || steps_make(m)) &&
                (!is_wanted(wanted, SQL_RANKS) || ranks_make(m, recording_is_simulated(l))) &&
                (!is_wanted(wanted, SQL_KERNELS) || kernels_make(m)) &&
                (!is_wanted(wanted, SQL_COLLECTIVES) || collectives_make(m)) &&
                (!is_wanted(wanted, SQL_COPIES) || copies_make(m));
    m->device = RUN_UNKNOWN;
    for (size_t i = 0; is_first && done && i < sizeof host / sizeof *host; i++)
        done = !is_wanted(wanted, host[i].table) || work_make(m, host[i].table, host[i].kind);
    return done && (!is_first || !is_wanted(wanted, SQL_MEMORY) || memory_make(m));
}

struct run_tables *run_tables_of(const struct recording *l, size_t i, uint32_t wanted, struct names *names,
                                 struct arena *mem)
{
    const struct run_rank of = recording_rank(l, i);
    struct run_tables *out = arena_take(mem, 1, sizeof *out);
    struct run_tables_maker m = { .out = out, .of = &of, .work = arena_new(), .mem = mem };
    m.rank = run_rank_number(&of, &m.rank) ? m.rank : RUN_UNKNOWN;
    m.device = of.device ? (int64_t)of.device->source.device : RUN_UNKNOWN;
    if (out)
        out->names = names;
    const bool done = out && m.work && run_tables_make(&m, l, wanted, i == 0) && !names_failed(names);
    arena_free(m.work);
    return done ? out : NULL;
}

/* The column of the joined table: the only one, or room for all. */
static void *column_join(const struct joined_rank *part, size_t n, enum sql_table_id id, size_t column, size_t n_rows,
                         struct arena *mem)
{
    const size_t size = sql_tables[id].column[column].type == SQL_TEXT ? sizeof(name_id) : sizeof(int64_t);
    if (n == 1 && part->of->at[id].n > 0)
        return part->of->at[id].column[column];
    char *all = arena_take(mem, n_rows, size);
    size_t at = 0;
    for (size_t i = 0; all && i < n; i++) {
        const struct run_table *from = &part[i].of->at[id];
        if (from->n > 0)
            memcpy(all + at * size, from->column[column], from->n * size);
        at += from->n;
    }
    return all;
}

bool run_tables_join(struct run_tables *out, const struct joined_rank *part, size_t n, struct names *names,
                     struct arena *mem)
{
    *out = (struct run_tables){ .names = names };
    for (enum sql_table_id id = 0; id < SQL_RUN_TABLES; id++) {
        struct run_table *t = &out->at[id];
        for (size_t i = 0; i < n; i++)
            t->n += part[i].of->at[id].n;
        for (size_t k = 0; k < sql_tables[id].n_columns; k++)
            if (!(t->column[k] = column_join(part, n, id, k, t->n, mem)))
                return false;
        for (size_t i = 0, at = 0; i < n; i++) {
            const name_id run = names_addz(names, part[i].run), path = names_addz(names, part[i].path);
            for (size_t end = at + part[i].of->at[id].n; at < end; at++) {
                texts(t, RUN_RUN)[at] = run;
                if (id == SQL_RANKS)
                    texts(t, RANKS_PATH)[at] = path;
            }
        }
    }
    return !names_failed(names);
}
