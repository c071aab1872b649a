/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory/columns.h"
#include "load/framework/framework_loaders.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/text/utf8.h"
#include "load/prof/text.h"
#include "raw/framework_values.h"
#include "raw/mindspore.h"

static const uint64_t FREED = UINT64_MAX; /* size of a block that was given back */

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static bool memory_columns_take(struct framework_memory *m, size_t n, struct arena *mem)
{
    int64_t **const wide[] = { &m->time_ns,        &m->size_bytes,   &m->allocated_bytes,
                               &m->reserved_bytes, &m->active_bytes, &m->stream };
    uint32_t **const number[] = { &m->process, &m->thread, &m->owner };
    uint8_t **const small[] = { &m->component, &m->kind, &m->allocator };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        *wide[i] = arena_take(mem, n, sizeof **wide[i]);
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        *number[i] = arena_take(mem, n, sizeof **number[i]);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        *small[i] = arena_take(mem, n, sizeof **small[i]);
    m->pointer = arena_take(mem, n, sizeof *m->pointer);
    m->device_type = arena_take(mem, n, sizeof *m->device_type);
    m->device = arena_take(mem, n, sizeof *m->device);
    return !arena_failed(mem);
}

/* Totals that do not fit a signed number are damaged. */
static bool memory_is_bad(const struct layout *l, const uint8_t *rec)
{
    const uint64_t size = layout_get(l, MS_MEMORY_SIZE, rec), device = layout_get(l, MS_MEMORY_DEVICE, rec);
    return layout_get(l, MS_MEMORY_TIME, rec) > STAMP_MOST || layout_get(l, MS_MEMORY_USED, rec) > INT64_MAX ||
           layout_get(l, MS_MEMORY_RESERVED, rec) > INT64_MAX || (size > INT64_MAX && size != FREED) ||
           device > INT8_MAX;
}

static void load_memory(struct framework_loading *l, struct framework_file *file)
{
    const struct layout *layout = &ms_memory_layout;
    struct framework_memory *m = &l->f->memory;
    struct tlv t = framework_tlv(file);
    if (!memory_columns_take(m, tlv_count(&t, layout->size), file->mem))
        return;
    for (struct tlv_record rec; tlv_next(&t, layout->size, &rec);) {
        const uint64_t process = layout_get(layout, MS_MEMORY_PROCESS, rec.data),
                       thread = layout_get(layout, MS_MEMORY_THREAD, rec.data),
                       size = layout_get(layout, MS_MEMORY_SIZE, rec.data);
        struct tlv_text text[MS_MEMORY_TEXTS];
        if (!framework_ids(file, rec.at, process, thread))
            continue;
        bool is_bad = memory_is_bad(layout, rec.data);
        losses_add(&file->lost, LOSS_BAD_VALUE, is_bad, file->name, rec.at);
        if (is_bad)
            continue;
        tlv_texts(&t, &rec, layout->size, text, MS_MEMORY_TEXTS);
        const size_t i = m->n++;
        m->time_ns[i] = stamp_held((int64_t)layout_get(layout, MS_MEMORY_TIME, rec.data));
        m->pointer[i] = layout_get(layout, MS_MEMORY_ADDRESS, rec.data);
        m->kind[i] = size == FREED ? MEMORY_FREE : MEMORY_MALLOC;
        m->size_bytes[i] = size == FREED ? 0 : (int64_t)size;
        m->allocated_bytes[i] = m->active_bytes[i] = (int64_t)layout_get(layout, MS_MEMORY_USED, rec.data);
        m->reserved_bytes[i] = (int64_t)layout_get(layout, MS_MEMORY_RESERVED, rec.data);
        m->stream[i] = (int64_t)layout_get(layout, MS_MEMORY_STREAM_POINTER, rec.data);
        m->device_type[i] = MEMORY_ON_NPU;
        m->device[i] = (int8_t)layout_get(layout, MS_MEMORY_DEVICE, rec.data);
        m->component[i] = COMPONENT_CACHING;
        m->allocator[i] = ALLOCATOR_INNER;
        m->process[i] = (uint32_t)process;
        m->thread[i] = (uint32_t)thread;
        m->owner[i] = ms_text_name(l->r->names, text[MS_MEMORY_TEXT_OWNER], NAME_EMPTY, &is_bad);
        losses_add(&file->lost, LOSS_BAD_VALUE, is_bad, file->name, rec.at);
    }
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

struct ms_load_lines {
    struct framework_file *file;
    struct bytes in;
    size_t line_at;
};

static struct ms_load_lines lines_of(struct framework_file *file)
{
    return (struct ms_load_lines){ .file = file, .in = { file->data, file->size, 0 } };
}

/* The next line that is not empty, without blanks at its ends. False: that was all. */
static bool next_line(struct ms_load_lines *l, struct word *line)
{
    *line = (struct word){ 0 };
    while (line->len == 0) {
        size_t len = 0;
        l->line_at = l->in.at;
        const char *at = bytes_line(&l->in, &len);
        if (!at)
            return false;
        *line = word_trim((struct word){ at, len });
    }
    return true;
}

static void line_lost(struct ms_load_lines *l)
{
    losses_add(&l->file->lost, LOSS_BAD_TEXT, 1, l->file->name, l->line_at);
}

static size_t count_bytes(const struct framework_file *file, char c)
{
    size_t n = 1;
    for (size_t i = 0; i < file->size; i++)
        n += file->data[i] == (uint8_t)c;
    return n;
}

/* Splits at the first separator: the part before it, and the rest behind it. False: there is none. */
static bool split(struct word *rest, char at, struct word *part)
{
    const char *found = rest->len > 0 ? memchr(rest->at, at, rest->len) : NULL;
    if (!found)
        return false;
    *part = (struct word){ rest->at, (size_t)(found - rest->at) };
    *rest = (struct word){ found + 1, rest->len - part->len - 1 };
    return true;
}

/* A time or a duration as a decimal number, in units of 10^-decimals. Further digits are rounded, half to even. Very
 * short ones have an exponent. */
static bool decimal_ns(struct word w, unsigned decimals, int64_t *out)
{
    uint64_t held;
    double real;
    if (w.len > 0 && memchr(w.at, 'e', w.len) && word_real(w, &real) && real >= 0 && real < 1e9) {
        *out = (int64_t)nearbyint(real * pow(10, decimals));
        return true;
    }
    const char *point = w.len > 0 ? memchr(w.at, '.', w.len) : NULL;
    const size_t kept = point ? (size_t)(point - w.at) + 1 + decimals : w.len;
    if (!word_fixed(w, decimals, &held) || held > STAMP_MOST)
        return false;
    int rest = 0; /* whether the dropped digits are below (-1), at (0) or above (1) a half */
    for (size_t i = kept; i < w.len; i++)
        rest = i == kept ? (w.at[i] > '5') - (w.at[i] < '5') : rest == 0 && w.at[i] > '0' ? 1 : rest;
    *out = (int64_t)held + (kept < w.len && (rest > 0 || (rest == 0 && held % 2 != 0)));
    return true;
}

/* "start ns,duration ms,thread" */
static bool read_run(struct word run, struct ms_host_ops *o)
{
    struct word begin, dur;
    uint64_t begin_ns, thread;
    int64_t dur_ns;
    if (!split(&run, ',', &begin) || !split(&run, ',', &dur) || !word_u64(begin, &begin_ns) || begin_ns > STAMP_MOST ||
        !decimal_ns(dur, 6, &dur_ns) || !word_u64(run, &thread) || thread > UINT32_MAX)
        return false;
    o->begin_ns[o->n] = (int64_t)begin_ns;
    o->dur_ns[o->n] = dur_ns;
    o->thread[o->n] = (uint32_t)thread;
    return true;
}

/* "name;type;run run run": the name may have semicolons itself. */
static void load_host_ops(struct framework_loading *l, struct framework_file *file)
{
    struct ms_host_ops *o = &l->f->ms.host_ops;
    const size_t most = count_bytes(file, ' ') + count_bytes(file, '\n');
    arena_columns(file->mem, most, o->begin_ns, o->dur_ns, o->thread, o->name, o->type);
    if (arena_failed(file->mem))
        return;
    struct ms_load_lines lines = lines_of(file);
    for (struct word line; next_line(&lines, &line);) {
        const char *runs = memrchr(line.at, ';', line.len);
        const char *type = runs ? memrchr(line.at, ';', (size_t)(runs - line.at)) : NULL;
        if (!type) {
            line_lost(&lines);
            continue;
        }
        const name_id name = names_add(l->r->names, line.at, (size_t)(type - line.at)),
                      type_name = names_add(l->r->names, type + 1, (size_t)(runs - type - 1));
        struct word rest = { runs + 1, line.len - (size_t)(runs + 1 - line.at) };
        while (rest.len > 0) {
            struct word run = rest;
            if (split(&rest, ' ', &run))
                rest = word_trim(rest);
            else
                rest.len = 0;
            o->name[o->n] = name;
            o->type[o->n] = type_name;
            if (read_run(run, o))
                o->n++;
            else
                line_lost(&lines);
        }
    }
}

static void load_totals(struct framework_loading *l, struct framework_file *file)
{
    struct ms_memory_totals *t = &l->f->ms.totals;
    const size_t most = count_bytes(file, '\n');
    uint64_t **const column[] = { &t->allocated_bytes, &t->reserved_bytes, &t->active_bytes };
    t->time_ns = arena_take(file->mem, most, sizeof *t->time_ns);
    for (size_t i = 0; i < 3; i++)
        *column[i] = arena_take(file->mem, most, sizeof **column[i]);
    if (arena_failed(file->mem))
        return;
    struct ms_load_lines lines = lines_of(file);
    for (struct word line; next_line(&lines, &line);) {
        struct word time, part[2];
        uint64_t ns;
        if (word_starts(line, "Timestamp"))
            continue;
        if (!split(&line, ',', &time) || !split(&line, ',', &part[0]) || !split(&line, ',', &part[1]) ||
            !word_u64(time, &ns) || ns > STAMP_MOST || !word_u64(part[0], &t->allocated_bytes[t->n]) ||
            !word_u64(part[1], &t->reserved_bytes[t->n]) || !word_u64(line, &t->active_bytes[t->n])) {
            line_lost(&lines);
            continue;
        }
        t->time_ns[t->n++] = (int64_t)ns;
    }
}

static void load_shapes(struct framework_loading *l, struct framework_file *file)
{
    struct ms_shapes *s = &l->f->ms.shapes;
    struct tlv t = framework_tlv(file);
    const size_t n = tlv_count(&t, 0);
    s->name = arena_take(file->mem, n, sizeof *s->name);
    s->shapes = arena_take(file->mem, n, sizeof *s->shapes);
    if (arena_failed(file->mem))
        return;
    for (struct tlv_record rec; tlv_next(&t, 0, &rec); s->n++) {
        struct tlv_text text[MS_SHAPES_TEXTS];
        bool is_bad = false;
        tlv_texts(&t, &rec, 0, text, MS_SHAPES_TEXTS);
        s->name[s->n] = ms_text_name(l->r->names, text[MS_SHAPES_TEXT_NAME], NAME_EMPTY, &is_bad);
        s->shapes[s->n] = ms_text_name(l->r->names, text[MS_SHAPES_TEXT_SHAPES], NAME_EMPTY, &is_bad);
        losses_add(&file->lost, LOSS_BAD_VALUE, is_bad, file->name, rec.at);
    }
}

static void load_pipeline(struct framework_loading *l, struct framework_file *file)
{
    if (!ms_pipeline_load(l->f))
        error_no_memory(&l->error[FRAMEWORK_PIPELINE], file->name);
}

/* ---- names of files --------------------------------------------------------------------------------------------- */

/* The first of each file that exists counts. */
static const struct {
    enum framework_file_id id;
    const char *before, *after; /* the rank stands between them; after NULL: it has none */
    void (*load)(struct framework_loading *l, struct framework_file *file);
} files[] = {
    { FRAMEWORK_OPS, "mindspore.op_range", NULL, ms_ranges_load },
    { FRAMEWORK_OPS, "op_range_", "", ms_old_ranges_load },
    { FRAMEWORK_MEMORY, "mindspore.memory_usage", NULL, load_memory },
    { FRAMEWORK_SHAPES, "mindspore.record_shapes", NULL, load_shapes },
    { FRAMEWORK_HOST_OPS, "cpu_op_execute_timestamp_", ".txt", load_host_ops },
    { FRAMEWORK_MEMORY_TOTALS, "cpu_ms_memory_record_", ".txt", load_totals },
    { FRAMEWORK_MEMORY_TABLE, "operator_memory_", ".csv", NULL },
    { FRAMEWORK_PIPELINE, "pipeline_profiling_", ".json", load_pipeline },
    { FRAMEWORK_PIPELINE_CPU, "minddata_cpu_utilization_", ".json", NULL },
    { FRAMEWORK_PIPELINE_BATCHES, "device_queue_profiling_", ".txt", NULL },
    { FRAMEWORK_PIPELINE_BATCHES, "dataset_iterator_profiling_", ".txt", NULL },
};
enum { N_FILES = sizeof files / sizeof *files };

/* The rank in a name; 0 if such names have none; -1: another name. */
static int64_t rank_in(const char *name, size_t i)
{
    const size_t before = strlen(files[i].before);
    if (strncmp(name, files[i].before, before) != 0)
        return -1;
    if (!files[i].after)
        return name[before] == 0 ? 0 : -1;
    int64_t rank = 0;
    const char *p = name + before;
    for (; isdigit((unsigned char)*p) && rank < INT32_MAX; p++)
        rank = 10 * rank + (*p - '0');
    return p > name + before && strcmp(p, files[i].after) == 0 ? rank : -1;
}

/* The rank whose file is read, for each kind of file: the given one, or else the lowest; -1: no file. False: the
 * directory cannot be read. */
static bool find_ranks(const char *framework, int64_t rank, int64_t found[N_FILES])
{
    DIR *dir = inside_list(framework);
    int why = 0;
    for (size_t i = 0; i < N_FILES; i++)
        found[i] = -1;
    for (const char *name; dir && (name = dir_next(dir, &why));)
        for (size_t i = 0; i < N_FILES; i++) {
            const int64_t here = rank_in(name, i);
            if (here >= 0 && found[i] != rank && (found[i] < 0 || here == rank || here < found[i]))
                found[i] = here;
        }
    if (dir)
        closedir(dir);
    return dir && why == 0;
}

bool ms_files_are_there(const char *framework)
{
    int64_t found[N_FILES];
    bool any = false;
    find_ranks(framework, 0, found);
    for (size_t i = 0; i < N_FILES; i++)
        any |= found[i] >= 0;
    return any;
}

bool ms_format_find(struct framework_format *out, const char *path, int64_t rank, struct arena *mem)
{
    int64_t found[N_FILES];
    const char *framework = arena_printf(mem, "%s/FRAMEWORK", path);
    *out = (struct framework_format){ 0 };
    if (!framework)
        return false;
    find_ranks(framework, rank, found);
    for (size_t k = 0; k < 2; k++) /* first files that exist, then the expected names of the others */
        for (size_t i = 0; i < N_FILES; i++) {
            const enum framework_file_id id = files[i].id;
            if (out->name[id] || (k == 0 && found[i] < 0))
                continue;
            const int64_t shown = found[i] < 0 ? rank : found[i];
            out->name[id] = files[i].after
                                ? arena_printf(mem, "FRAMEWORK/%s%" PRId64 "%s", files[i].before, shown, files[i].after)
                                : arena_printf(mem, "FRAMEWORK/%s", files[i].before);
            out->load[id] = files[i].load;
        }
    return !arena_failed(mem);
}

struct tlv_text ms_text_checked(struct tlv_text t, bool *is_bad)
{
    for (size_t i = 0, len; i < t.len; i += len) {
        const unsigned char *at = (const unsigned char *)t.at + i;
        len = *at < 0x80 ? 1 : utf8_len(at, t.len - i);
        if (len == 0) {
            *is_bad = true;
            return (struct tlv_text){ "N/A", 3 };
        }
    }
    return t;
}

name_id ms_text_name(struct names *names, struct tlv_text t, name_id otherwise, bool *is_bad)
{
    const struct tlv_text text = ms_text_checked(t, is_bad);
    return text.at ? names_add(names, text.at, text.len) : otherwise;
}
