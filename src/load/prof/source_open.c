/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/holes.h"
#include "base/files/inside.h"
#include "base/text/json_memory.h"
#include "base/text/stamp.h"
#include "raw/family.h"
#include "raw/host_records.h"

/* Settings and clock files are a few kilobytes; the reference gives up on them at this size, and so do we. */
enum { SMALL_FILE_MOST = 8 << 20 };
/* A collection that was killed has no end: its reports have a duration of half an hour. */
static const int64_t END_GUESS_NS = INT64_C(1800) * 1000000000;

static bool ends_with(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* The name of a file that begins with `prefix`, such as info.json or info.json.0, but not of a marker (.done). The
 * first by name if there are several: the order of a directory is arbitrary. NULL: there is none, or *why is the errno
 * value. */
static char *find_file(struct arena *mem, const char *path, const char *prefix, int *why)
{
    DIR *dir = inside_list(path);
    *why = dir ? 0 : errno;
    if (!dir)
        return NULL;
    char *found = NULL;
    for (const char *name; *why == 0 && (name = dir_next(dir, why));) {
        if (strncmp(name, prefix, strlen(prefix)) != 0 || ends_with(name, ".done") ||
            (found && strcmp(name, found) >= 0))
            continue;
        found = arena_text(mem, name, strlen(name));
        if (!found)
            *why = ENOMEM;
    }
    closedir(dir);
    return *why == 0 ? found : NULL;
}

bool source_is_one(const char *path, int *why)
{
    struct arena *mem = arena_new();
    *why = mem ? 0 : ENOMEM;
    const bool found = mem && find_file(mem, path, "info.json", why);
    arena_free(mem);
    return found;
}

/* Lack of memory says nothing about the file. */
static bool refused(struct error *e, const char *path, const char *file, int why)
{
    return error_set(e, why == ENOMEM ? FAULT_LIMIT : FAULT_IO, "%s/%s: cannot be read: %s", path, file,
                     read_trouble(why));
}

/* The text of the file that begins with `prefix`, with a NUL behind it. NULL: see e; FAULT_ASKED when there is no such
 * file. */
static char *read_small(struct source *s, const char *prefix, const char **file, size_t *len, struct error *e)
{
    int why;
    *file = find_file(s->mem, s->path, prefix, &why);
    if (!*file) {
        if (why == 0)
            error_set(e, FAULT_ASKED, "%s: has no %s", s->path, prefix);
        else
            refused(e, s->path, prefix, why);
        return NULL;
    }
    const char *path = arena_printf(s->mem, "%s/%s", s->path, *file);
    struct stat st;
    why = ENOMEM;
    const int fd = path ? file_open(AT_FDCWD, path, &st, &why) : -1;
    char *text = NULL;
    if (fd >= 0) {
        const size_t most = st.st_size > SMALL_FILE_MOST ? SMALL_FILE_MOST : (size_t)st.st_size;
        text = arena_take(s->mem, most + 1, 1);
        why = ENOMEM;
        if (text && !file_read(fd, text, most, len, &why))
            text = NULL;
        close(fd);
    }
    if (!text)
        refused(e, s->path, *file, why);
    return text;
}

/* The first line of a file as a JSON object, or NULL. */
static json_t *read_json(struct source *s, const char *prefix, struct error *e)
{
    const char *file;
    size_t len = 0;
    const char *text = read_small(s, prefix, &file, &len, e);
    if (!text)
        return NULL;
    const char *newline = memchr(text, '\n', len);
    json_error_t why;
    json_t *object = json_read(text, newline ? (size_t)(newline - text) : len, JSON_REJECT_DUPLICATES, &why);
    if (!object && json_memory_failed())
        refused(e, s->path, file, ENOMEM);
    else if (!object)
        error_set(e, FAULT_FORMAT, "%s/%s:%d: %s; expected one line of JSON", s->path, file, why.position, why.text);
    else if (!json_is_object(object)) {
        error_set(e, FAULT_FORMAT, "%s/%s:0: expected a JSON object", s->path, file);
        json_decref(object);
        return NULL;
    }
    return object;
}

/* A file without which the rest can be used: if it is unreadable, that is counted. False: no memory. */
static bool read_optional(struct source *s, const char *prefix, bool must_be, json_t **out, struct error *e)
{
    struct error why = { 0 };
    *out = read_json(s, prefix, &why);
    if (*out || (why.fault == FAULT_ASKED && !must_be))
        return true;
    if (why.fault == FAULT_LIMIT)
        return error_set(e, FAULT_LIMIT, "%s", why.text);
    losses_add(&s->lost, LOSS_UNREADABLE, 1, arena_printf(s->mem, "%s/%s", s->name, prefix), 0);
    return true;
}

/* Reads a number from lines "name: value"; other lines, such as the heading [Host], are skipped. */
static bool log_value(const char *text, const char *key, int64_t *out)
{
    const size_t len = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) != 0 || line[len] != ':')
            continue;
        char *end;
        errno = 0;
        const long long v = strtoll(line + len + 1, &end, 10);
        if (errno != 0 || end == line + len + 1)
            return false;
        *out = v;
        return true;
    }
    return false;
}

static bool read_log(struct source *s, const char *prefix, int64_t *mono, int64_t *cnt, int64_t *diff, struct error *e)
{
    const char *file;
    size_t len;
    struct error here = { 0 };
    const char *text = read_small(s, prefix, &file, &len, &here);
    if (!text && here.fault == FAULT_ASKED)
        return error_set(e, FAULT_IO, "%s: has no %s, so its times cannot be converted", s->path, prefix);
    if (!text)
        return error_set(e, here.fault, "%s", here.text);
    if (!log_value(text, "clock_monotonic_raw", mono) || !log_value(text, "cntvct", cnt))
        return error_set(e, FAULT_FORMAT, "%s/%s:0: expected clock_monotonic_raw and cntvct", s->path, file);
    *diff = 0;
    log_value(text, "cntvct_diff", diff);
    return true;
}

static bool read_clocks(struct source *s, const json_t *info, struct error *e)
{
    int64_t mono, cnt, diff;
    if (!read_log(s, "host_start.log", &mono, &cnt, &diff, e))
        return false;
    struct ticks tick;
    /* No frequency, or 1000 MHz: the stamps are nanoseconds of the monotonic clock already. */
    if (!ticks_from_mhz(&tick, s->settings.host_mhz) || (tick.num == 1 && tick.den == 1)) {
        s->host_clock = (struct clock){ { 1, 1 }, 0, 0 };
        s->host_mono_ns = stamp_add(mono, diff);
    } else {
        s->host_mono_ns = stamp_add(mono, ticks_to_ns(tick, diff));
        s->host_clock = (struct clock){ tick, (uint64_t)cnt, s->host_mono_ns };
    }
    if (s->is_host)
        return true;
    if (!read_log(s, "dev_start.log", &mono, &cnt, &diff, e))
        return false;
    const json_t *dev = json_array_get(json_object_get(info, "DeviceInfo"), 0);
    if (!ticks_from_mhz(&tick, setting_text(dev, "hwts_frequency")))
        return error_set(e, FAULT_FORMAT, "%s/info.json: hwts_frequency \"%s\" is not a frequency in MHz", s->path,
                         setting_text(dev, "hwts_frequency"));
    s->device_mono_ns = mono;
    s->device_clock = (struct clock){ tick, (uint64_t)cnt, s->host_mono_ns };
    return true;
}

static bool read_window(struct source *s, struct error *e)
{
    json_t *start = read_json(s, "start_info", e);
    if (!start)
        return false;
    const int64_t wall_us = setting_number(start, "collectionTimeBegin", -1);
    const int64_t mono_ns = setting_number(start, "clockMonotonicRaw", -1);
    const char *date = setting_text(start, "collectionDateBegin");
    s->begin_date = arena_text(s->mem, date, strlen(date));
    json_decref(start);
    if (wall_us < 0 || wall_us > INT64_MAX / 2000 || mono_ns < 0 || wall_us * 1000 < mono_ns)
        return error_set(e, FAULT_FORMAT,
                         "%s/start_info: collectionTimeBegin and clockMonotonicRaw do not define a clock", s->path);
    s->begin_ns = wall_us * 1000;
    s->wall_offset_ns = s->begin_ns - mono_ns;
    json_t *end;
    if (!read_optional(s, "end_info", false, &end, e))
        return false;
    const int64_t end_us = setting_number(end, "collectionTimeEnd", -1);
    const int64_t end_mono_ns = setting_number(end, "clockMonotonicRaw", -1);
    json_decref(end);
    s->has_end = end_us > 0 && end_us < INT64_MAX / 2000;
    s->end_ns = s->has_end ? end_us * 1000 : s->begin_ns + END_GUESS_NS;
    s->drift_ns = s->has_end && end_mono_ns >= 0 ? wrap_sub(wrap_sub(s->end_ns, end_mono_ns), s->wall_offset_ns) : 0;
    return true;
}

void setting_lost(struct source *s, const char *key)
{
    int why;
    const char *file = find_file(s->mem, s->path, "info.json", &why);
    losses_add(&s->lost, LOSS_BAD_VALUE, 1, arena_printf(s->mem, "%s/%s, %s", s->name, file ? file : "info.json", key),
               0);
}

/* The frequency of the cores; 0: unknown. */
static double core_mhz(struct source *s, const json_t *dev, const char *key)
{
    static const double most_mhz = 1e6;
    const double mhz = strtod(setting_text(dev, key), NULL);
    if (mhz >= 0 && mhz <= most_mhz) /* both are false for NaN */
        return mhz;
    setting_lost(s, key);
    return 0;
}

/* Properties that only a GPU has. */
static void read_gpu(struct source *s, const json_t *dev)
{
    static const int64_t most = 1 << 30;
    const struct {
        const char *key;
        uint32_t *to;
    } row[] = {
        { "sm_num", &s->gpu.n_sm },
        { "sm_threads", &s->gpu.sm_threads },
        { "sm_registers", &s->gpu.sm_registers },
        { "sm_shared_bytes", &s->gpu.sm_shared_bytes },
        { "sm_blocks", &s->gpu.sm_blocks },
        { "warp_threads", &s->gpu.warp_threads },
        { "block_reserved_bytes", &s->gpu.block_reserved_bytes },
        { "sm_frequency", &s->gpu.core_mhz },
        { "memory_frequency", &s->gpu.memory_mhz },
        { "memory_bus_bits", &s->gpu.bus_bits },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const int64_t value = setting_number(dev, row[i].key, 0);
        *row[i].to = value >= 0 && value <= most ? (uint32_t)value : 0;
        if (value < 0 || value > most)
            setting_lost(s, row[i].key);
    }
    const char *name = setting_text(dev, "gpu_name");
    s->gpu.name = arena_text(s->mem, name, strlen(name));
    if (sscanf(setting_text(dev, "compute_capability"), "%2" SCNu32 ".%2" SCNu32, &s->gpu.major, &s->gpu.minor) != 2)
        s->gpu.major = s->gpu.minor = 0;
}

static void read_info(struct source *s, const json_t *info)
{
    const json_t *dev = json_array_get(json_object_get(info, "DeviceInfo"), 0);
    s->platform = (int)setting_number(info, "platform_version", PLATFORM_UNKNOWN);
    s->chip = chip_of(s->platform);
    s->pid = (uint32_t)setting_number(info, "pid", 0);
    const char *process = setting_text(info, "pid_name");
    s->pid_name = arena_text(s->mem, process, strlen(process));
    s->ai_core_num = (uint32_t)setting_number(dev, "ai_core_num", 0);
    s->aiv_num = (uint32_t)setting_number(dev, "aiv_num", 0);
    s->aic_mhz = core_mhz(s, dev, "aic_frequency");
    s->aiv_mhz = core_mhz(s, dev, "aiv_frequency");
    if (s->chip->group == ON_CUDA && !s->is_host)
        read_gpu(s, dev);
}

/* Cuts the ending ".slice_7" off a name, and on a device the number of the device before it. False: not a slice. */
static bool split_name(const struct source *s, char *name, bool *is_unaging, char **family, uint32_t *number)
{
    char *cut = strstr(name, ".slice_");
    for (char *next; cut && (next = strstr(cut + 1, ".slice_"));)
        cut = next;
    if (!cut)
        return false;
    char *end;
    errno = 0;
    const unsigned long n = strtoul(cut + 7, &end, 10);
    if (cut[7] < '0' || cut[7] > '9' || *end != 0 || errno != 0 || n > UINT32_MAX)
        return false;
    *cut = 0;
    *number = (uint32_t)n;
    if (!s->is_host) {
        char *dot = strrchr(name, '.');
        if (dot && dot[1] >= '0' && dot[1] <= '9')
            *dot = 0;
    }
    *is_unaging = strncmp(name, "unaging.", 8) == 0;
    *family = *is_unaging ? name + 8 : strncmp(name, "aging.", 6) == 0 ? name + 6 : name;
    return true;
}

struct source_open_found {
    const char *file, *family; /* the file as the directory names it */
    uint32_t number;
    bool is_unaging;
    unsigned n_parts; /* slices that it becomes: more than one if it has holes */
};

static int by_family(const void *a, const void *b)
{
    const struct source_open_found *x = a, *y = b;
    const int order = strcmp(x->family, y->family);
    if (order)
        return order;
    if (x->is_unaging != y->is_unaging)
        return x->is_unaging ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->file, y->file); /* slice_1 beside slice_01 */
}

/* The kernel allows 65530 mappings per process, which stacks of threads and large allocations need, too. Small slices
 * are therefore copied, and so are those beyond 40000 mappings. */
enum { SMALL_SLICE_MOST = 16 << 10, MAPPINGS_MOST = 40000, PARTS_MOST = 1000 };
static atomic_uint n_mappings;

static bool map_slice(int fd, struct slice *out)
{
    if (atomic_fetch_add_explicit(&n_mappings, 1, memory_order_relaxed) < MAPPINGS_MOST) {
        if (memory_map_part(&out->map, fd, out->from, out->size)) {
            out->data = out->map.at;
            return true;
        }
    }
    atomic_fetch_sub_explicit(&n_mappings, 1, memory_order_relaxed);
    return false;
}

static void slice_unmap(struct slice *slice)
{
    if (!slice->map.at)
        return;
    memory_unmap(&slice->map);
    atomic_fetch_sub_explicit(&n_mappings, 1, memory_order_relaxed);
}

static bool copy_slice(struct arena *mem, int fd, struct slice *out)
{
    uint8_t *data = arena_take(mem, out->size, 1);
    int why;
    out->data = data;
    return data && (out->from == 0 || lseek(fd, (off_t)out->from, SEEK_SET) >= 0) &&
           file_read(fd, data, out->size, &out->size, &why);
}

static unsigned parts_of(int dir, const char *file)
{
    struct stat st;
    struct file_part part = { 0 };
    int why;
    unsigned n = 0;
    if (fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) || !file_has_holes(&st))
        return 1;
    const int fd = file_open(dir, file, &st, &why);
    while (fd >= 0 && n < PARTS_MOST && file_part_next(fd, part.end, (uint64_t)st.st_size, &part))
        n++;
    if (fd >= 0)
        close(fd);
    return n > 0 ? n : 1;
}

/* The bytes of a slice, of which name, number, from and size are known. */
static bool take_slice(struct source *s, int fd, struct slice *out)
{
    const size_t wanted = out->size;
    if (wanted > 0 && !(wanted > SMALL_SLICE_MOST && map_slice(fd, out)) && !copy_slice(s->mem, fd, out)) {
        losses_add(&s->lost, LOSS_UNREADABLE, 1, out->name, 0);
        return false;
    }
    losses_add(&s->lost, LOSS_CUT_SHORT, out->size < wanted, out->name, out->from + out->size);
    return true;
}

static void note_hole(struct source *s, const char *name, uint64_t from, uint64_t to)
{
    if (to > from)
        losses_add(&s->lost, LOSS_HOLE, 1, arena_printf(s->mem, "%s: bytes %" PRIu64 " to %" PRIu64, name, from, to),
                   from);
}

/* Reads a file, in one slice or in one for each of its parts. Returns their number. */
static size_t read_slices(struct source *s, int dir, const struct source_open_found *f, struct slice *out)
{
    struct stat st;
    int why;
    size_t n = 0;
    const char *name = arena_printf(s->mem, "%s/data/%s", s->name, f->file);
    const int fd = file_open(dir, f->file, &st, &why);
    if (fd < 0) {
        losses_add(&s->lost, LOSS_UNREADABLE, 1, name, 0);
        return 0;
    }
    const uint64_t bytes = (uint64_t)st.st_size;
    struct file_part part = { .end = bytes };
    uint64_t read_to = 0;
    for (bool is_sparse = file_has_holes(&st), is_any = true; is_any && n < f->n_parts; read_to = part.end) {
        if (is_sparse && !(is_any = file_part_next(fd, read_to, bytes, &part)))
            break;
        note_hole(s, name, read_to, part.begin);
        out[n] = (struct slice){ .name = name,
                                 .number = f->number,
                                 .from = part.begin,
                                 .size = (size_t)(part.end - part.begin),
                                 .ends_in_hole = part.end < bytes };
        n += take_slice(s, fd, &out[n]);
        is_any = is_sparse;
    }
    note_hole(s, name, read_to, bytes);
    close(fd);
    return n;
}

struct source_open_listing {
    struct arena *mem; /* for this listing only */
    LIST(struct source_open_found) found;
    size_t n_streams, n_slices;
};

static bool is_same_stream(const struct source_open_found *a, const struct source_open_found *b)
{
    return a->is_unaging == b->is_unaging && strcmp(a->family, b->family) == 0;
}

/* The names in a directory, cut into their parts and sorted. False: no memory. */
static bool list_slices(struct source *s, DIR *dir, struct source_open_listing *l)
{
    int why;
    for (const char *file; (file = dir_next(dir, &why));) {
        if (ends_with(file, ".done") || ends_with(file, ".complete") || ends_with(file, ".zip"))
            continue;
        const size_t len = strlen(file);
        struct source_open_found f = { .file = arena_text(l->mem, file, len) };
        char *name = arena_text(l->mem, file, len), *family;
        if (!f.file || !name || !split_name(s, name, &f.is_unaging, &family, &f.number))
            continue;
        f.family = family;
        f.n_parts = parts_of(dirfd(dir), file);
        l->n_slices += f.n_parts;
        struct source_open_found *slot = list_add(&l->found, l->mem);
        if (slot)
            *slot = f;
    }
    if (why != 0) /* the other names are unknown: all of them are one loss */
        losses_add(&s->lost, LOSS_UNREADABLE, 1, arena_printf(s->mem, "%s/data", s->name), 0);
    if (l->found.n > 0)
        qsort(l->found.at, l->found.n, sizeof *l->found.at, by_family);
    for (size_t i = 0; i < l->found.n; i++)
        l->n_streams += i == 0 || !is_same_stream(&l->found.at[i], &l->found.at[i - 1]);
    return !arena_failed(l->mem);
}

/* Opens what was found, one file at a time. False: no memory. */
static bool take_slices(struct source *s, int dir, const struct source_open_listing *l)
{
    struct slice *slice = arena_take(s->mem, l->n_slices, sizeof *slice);
    s->stream = arena_take(s->mem, l->n_streams, sizeof *s->stream);
    struct stream *stream = NULL;
    for (size_t i = 0; i < l->found.n && slice && s->stream; i++) {
        const struct source_open_found *f = &l->found.at[i];
        const size_t n = read_slices(s, dir, f, slice);
        if (n == 0)
            continue;
        if (!stream || stream->is_unaging != f->is_unaging || strcmp(stream->family, f->family) != 0) {
            stream = &s->stream[s->n_streams++];
            *stream = (struct stream){ .family = arena_text(s->mem, f->family, strlen(f->family)),
                                       .is_unaging = f->is_unaging,
                                       .slice = slice };
        }
        slice += n;
        stream->n_slices += n;
        if (!stream->family)
            break;
    }
    return !arena_failed(s->mem);
}

static DIR *open_data(const struct source *s, int *why)
{
    const char *path = arena_printf(s->mem, "%s/data", s->path);
    errno = ENOMEM;
    DIR *dir = path ? inside_list(path) : NULL;
    *why = errno;
    return dir;
}

static bool find_streams(struct source *s, struct error *e)
{
    int why;
    DIR *dir = open_data(s, &why);
    if (!dir)
        return refused(e, s->path, "data", why);
    struct source_open_listing l = { .mem = arena_new() };
    const bool done = l.mem && list_slices(s, dir, &l) && take_slices(s, dirfd(dir), &l);
    arena_free(l.mem);
    closedir(dir);
    return done || error_no_memory(e, s->path);
}

/* The contents of info.json and sample.json. */
static bool read_settings(struct source *s, struct error *e)
{
    json_t *info = read_json(s, "info.json", e), *sample = NULL;
    if (!info)
        return false;
    read_info(s, info);
    /* Without sample.json the counters have no names, but the tasks are all there. */
    bool done = read_optional(s, "sample.json", true, &sample, e);
    if (done && !settings_load(&s->settings, info, sample, s->mem))
        done = error_no_memory(e, s->path);
    done = done && read_clocks(s, info, e);
    json_decref(info);
    json_decref(sample);
    return done;
}

/* The latest stamp of the last records of a stream of the host; 0: none. Threads write in batches, so that the last
 * record is not the latest one. */
static uint64_t last_stamp(const struct stream *t)
{
    enum { LOOKED_AT = 1024 };
    const struct family *family = family_find(t->family);
    const bool is_api = strcmp(t->family, "api_event.data") == 0;
    if (t->n_slices == 0 || !family || family->size == 0 ||
        (!is_api && strncmp(t->family, "compact.", 8) != 0 && strncmp(t->family, "additional.", 11) != 0))
        return 0;
    const struct slice *last = &t->slice[t->n_slices - 1];
    size_t before = 0; /* bytes of the slices in front of it: a record may begin in one of them */
    for (const struct slice *k = t->slice; k < last; k++)
        before += k->size;
    uint64_t latest = 0;
    size_t end = (before + last->size) / family->size * family->size;
    for (size_t n = 0; n < LOOKED_AT && end >= before + family->size; n++) {
        const uint8_t *rec = last->data + ((end -= family->size) - before);
        const uint64_t stamp = !match_holds(&api_layout.magic, rec) ? 0
                               : is_api                             ? layout_get(&api_layout, API_END, rec)
                                                                    : layout_get(&node_basic_layout, HEAD_TIME, rec);
        latest = stamp > latest ? stamp : latest;
    }
    return latest;
}

/* Where the recorder did not store the end, the records show how long it ran at least. Stamps of damage are left
 * out. */
static int64_t last_record_ns(const struct source *s)
{
    static const int64_t most_ns = INT64_C(366) * 24 * 3600 * 1000000000;
    int64_t last_ns = 0;
    for (size_t i = 0; i < s->n_streams; i++) {
        const uint64_t stamp = last_stamp(&s->stream[i]);
        const int64_t ns = stamp > 0 ? source_host_ns(s, stamp) : 0;
        if (ns > last_ns && ns > s->begin_ns && ns - s->begin_ns < most_ns)
            last_ns = ns;
    }
    return last_ns;
}

bool source_open(struct source *s, const char *prof_path, const char *name, struct error *e)
{
    *s = (struct source){ .is_host = strcmp(name, "host") == 0, .mem = arena_new() };
    if (!s->mem)
        return error_no_memory(e, prof_path);
    s->device = s->is_host ? HOST_DEVICE_ID : (unsigned)strtoul(name + strlen("device_"), NULL, 10);
    s->name = arena_text(s->mem, name, strlen(name));
    s->path = arena_printf(s->mem, "%s/%s", prof_path, name);
    if (!s->name || !s->path) {
        error_no_memory(e, prof_path);
        goto failed;
    }
    if (read_settings(s, e) && read_window(s, e) && find_streams(s, e)) {
        s->last_ns = s->is_host && !s->has_end ? last_record_ns(s) : 0;
        return true;
    }
failed:
    source_close(s);
    return false;
}

void source_close(struct source *s)
{
    for (size_t i = 0; i < s->n_streams; i++)
        for (size_t k = 0; k < s->stream[i].n_slices; k++)
            slice_unmap(&s->stream[i].slice[k]);
    arena_free(s->mem);
    *s = (struct source){ 0 };
}
