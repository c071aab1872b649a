#include "load/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Settings and clock files are a few kilobytes; the reference gives up on them at this size, and so do we. */
enum { SMALL_FILE_MOST = 8 << 20 };
/* A collection that was killed has no end: its reports say that it lasted half an hour. */
static const int64_t END_GUESS_NS = INT64_C(1800) * 1000000000;

static bool ends_with(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* The name of the file that begins with `prefix` and is no marker: info.json, info.json.0. NULL when there is none; the
 * first by name when there are several, whatever order the directory keeps. */
static char *find_file(struct arena *mem, const char *path, const char *prefix)
{
    DIR *dir = opendir(path);
    if (!dir)
        return NULL;
    char *found = NULL;
    for (struct dirent *d; (d = readdir(dir));)
        if (strncmp(d->d_name, prefix, strlen(prefix)) == 0 && !ends_with(d->d_name, ".done") &&
            (!found || strcmp(d->d_name, found) < 0))
            found = arena_text(mem, d->d_name, strlen(d->d_name));
    closedir(dir);
    return found;
}

bool source_is_one(const char *path)
{
    struct arena *mem = arena_new();
    const bool found = mem && find_file(mem, path, "info.json");
    arena_free(mem);
    return found;
}

static char *read_small(struct source *s, const char *file, size_t *len, struct error *e)
{
    const char *path = arena_printf(s->mem, "%s/%s", s->path, file);
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        error_set(e, FAULT_IO, "%s/%s: cannot be read: %s", s->path, file, fd < 0 ? strerror(errno) : "not a file");
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    const size_t most = st.st_size > SMALL_FILE_MOST ? SMALL_FILE_MOST : (size_t)st.st_size;
    char *text = arena_take(s->mem, most + 1, 1);
    *len = 0;
    for (ssize_t got; text && *len < most && (got = read(fd, text + *len, most - *len)) > 0;)
        *len += (size_t)got;
    close(fd);
    if (!text)
        error_set(e, FAULT_LIMIT, "%s/%s: no memory to read it", s->path, file);
    return text;
}

/* The first line of a file as a JSON object, or NULL. */
static json_t *read_json(struct source *s, const char *prefix, struct error *e)
{
    const char *file = find_file(s->mem, s->path, prefix);
    size_t len = 0;
    if (!file) {
        error_set(e, FAULT_IO, "%s: has no %s", s->path, prefix);
        return NULL;
    }
    const char *text = read_small(s, file, &len, e);
    if (!text)
        return NULL;
    const char *newline = memchr(text, '\n', len);
    json_error_t why;
    json_t *object = json_loadb(text, newline ? (size_t)(newline - text) : len, JSON_REJECT_DUPLICATES, &why);
    if (!object)
        error_set(e, FAULT_FORMAT, "%s/%s:%d: %s; wanted one line of JSON", s->path, file, why.position, why.text);
    else if (!json_is_object(object)) {
        error_set(e, FAULT_FORMAT, "%s/%s:0: wanted a JSON object", s->path, file);
        json_decref(object);
        return NULL;
    }
    return object;
}

const char *source_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

bool source_is_simulated(const struct source *s)
{
    return strcmp(source_text(s->info, "jobInfo"), "simulated") == 0;
}

int64_t source_number(const json_t *object, const char *key, int64_t otherwise)
{
    const json_t *v = json_object_get(object, key);
    if (json_is_integer(v))
        return json_integer_value(v);
    if (json_is_string(v)) {
        char *end;
        errno = 0;
        const long long n = strtoll(json_string_value(v), &end, 10);
        if (errno == 0 && end != json_string_value(v) && *end == 0)
            return n;
    }
    return otherwise;
}

/* "name: value" lines; anything else (the [Host] heading) is passed over. */
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
    const char *file = find_file(s->mem, s->path, prefix);
    size_t len;
    if (!file)
        return error_set(e, FAULT_IO, "%s: has no %s, so its times cannot be placed", s->path, prefix);
    const char *text = read_small(s, file, &len, e);
    if (!text)
        return false;
    if (!log_value(text, "clock_monotonic_raw", mono) || !log_value(text, "cntvct", cnt))
        return error_set(e, FAULT_FORMAT, "%s/%s:0: wanted clock_monotonic_raw and cntvct", s->path, file);
    *diff = 0;
    log_value(text, "cntvct_diff", diff);
    return true;
}

static bool read_clocks(struct source *s, struct error *e)
{
    int64_t mono, cnt, diff;
    if (!read_log(s, "host_start.log", &mono, &cnt, &diff, e))
        return false;
    const char *mhz = source_text(json_array_get(json_object_get(s->info, "CPU"), 0), "Frequency");
    struct ticks tick;
    /* No frequency, or 1000 MHz: the stamps are nanoseconds of the monotonic clock already. */
    if (!ticks_from_mhz(&tick, mhz) || (tick.num == 1 && tick.den == 1)) {
        s->host_clock = (struct clock){ { 1, 1 }, 0, 0 };
        s->host_mono_ns = mono + diff;
    } else {
        s->host_mono_ns = mono + ticks_to_ns(tick, diff);
        s->host_clock = (struct clock){ tick, (uint64_t)cnt, s->host_mono_ns };
    }
    if (s->is_host)
        return true;
    if (!read_log(s, "dev_start.log", &mono, &cnt, &diff, e))
        return false;
    const json_t *dev = json_array_get(json_object_get(s->info, "DeviceInfo"), 0);
    if (!ticks_from_mhz(&tick, source_text(dev, "hwts_frequency")))
        return error_set(e, FAULT_FORMAT, "%s/info.json: hwts_frequency \"%s\" is no frequency in MHz", s->path,
                         source_text(dev, "hwts_frequency"));
    s->device_mono_ns = mono;
    s->device_clock = (struct clock){ tick, (uint64_t)cnt, s->host_mono_ns };
    return true;
}

static bool read_window(struct source *s, struct error *e)
{
    json_t *start = read_json(s, "start_info", e);
    if (!start)
        return false;
    const int64_t wall_us = source_number(start, "collectionTimeBegin", -1);
    const int64_t mono_ns = source_number(start, "clockMonotonicRaw", -1);
    const char *date = source_text(start, "collectionDateBegin");
    s->begin_date = arena_text(s->mem, date, strlen(date));
    json_decref(start);
    if (wall_us < 0 || wall_us > INT64_MAX / 2000 || mono_ns < 0 || wall_us * 1000 < mono_ns)
        return error_set(e, FAULT_FORMAT, "%s/start_info: collectionTimeBegin and clockMonotonicRaw make no clock",
                         s->path);
    s->begin_ns = wall_us * 1000;
    s->wall_offset_ns = s->begin_ns - mono_ns;
    struct error no_end = { 0 };
    json_t *end = read_json(s, "end_info", &no_end);
    const int64_t end_us = source_number(end, "collectionTimeEnd", -1);
    const int64_t end_mono_ns = source_number(end, "clockMonotonicRaw", -1);
    json_decref(end);
    s->has_end = end_us > 0 && end_us < INT64_MAX / 2000;
    s->end_ns = s->has_end ? end_us * 1000 : s->begin_ns + END_GUESS_NS;
    s->drift_ns = s->has_end && end_mono_ns >= 0 ? s->end_ns - end_mono_ns - s->wall_offset_ns : 0;
    return true;
}

static void read_info(struct source *s)
{
    const json_t *dev = json_array_get(json_object_get(s->info, "DeviceInfo"), 0);
    s->platform = (int)source_number(s->info, "platform_version", PLATFORM_UNKNOWN);
    s->chip = chip_of(s->platform);
    s->pid = (uint32_t)source_number(s->info, "pid", 0);
    s->pid_name = source_text(s->info, "pid_name");
    s->ai_core_num = (uint32_t)source_number(dev, "ai_core_num", 0);
    s->aiv_num = (uint32_t)source_number(dev, "aiv_num", 0);
    s->aic_mhz = strtod(source_text(dev, "aic_frequency"), NULL);
    s->aiv_mhz = strtod(source_text(dev, "aiv_frequency"), NULL);
}

/* Cuts ".slice_7" and, on a device, its ".0" off a name. False: not a slice. */
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

struct found {
    struct slice slice;
    const char *family;
    bool is_unaging;
};

static int by_family(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    const int order = strcmp(x->family, y->family);
    if (order)
        return order;
    if (x->is_unaging != y->is_unaging)
        return x->is_unaging ? -1 : 1;
    return x->slice.number < y->slice.number ? -1 : x->slice.number > y->slice.number;
}

static bool map_slice(struct source *s, int dir, const char *file, struct slice *out)
{
    out->name = arena_printf(s->mem, "%s/data/%s", s->name, file);
    const int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (ok && st.st_size > 0) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        ok = data != MAP_FAILED;
        out->data = ok ? data : NULL;
        out->size = ok ? (size_t)st.st_size : 0;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool find_streams(struct source *s, struct error *e)
{
    const char *path = arena_printf(s->mem, "%s/data", s->path);
    const int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (!dir) {
        const int why = errno;
        if (fd >= 0)
            close(fd);
        return error_set(e, FAULT_IO, "%s/data: cannot be read: %s", s->path, strerror(why));
    }
    LIST(struct found) found = { 0 };
    for (struct dirent *d; (d = readdir(dir));) {
        if (ends_with(d->d_name, ".done") || ends_with(d->d_name, ".complete") || ends_with(d->d_name, ".zip"))
            continue;
        struct found f = { 0 };
        char *name = arena_text(s->mem, d->d_name, strlen(d->d_name)), *family;
        if (!name || !split_name(s, name, &f.is_unaging, &family, &f.slice.number))
            continue;
        f.family = family;
        if (!map_slice(s, dirfd(dir), d->d_name, &f.slice)) {
            losses_add(&s->lost, LOSS_UNREADABLE, 1, f.slice.name, 0);
            continue;
        }
        struct found *slot = list_add(&found, s->mem);
        if (slot)
            *slot = f;
    }
    closedir(dir);
    if (found.n > 0)
        qsort(found.at, found.n, sizeof *found.at, by_family);

    s->stream = arena_take(s->mem, found.n, sizeof *s->stream);
    struct slice *slices = arena_take(s->mem, found.n, sizeof *slices);
    if (!s->stream || !slices || arena_failed(s->mem))
        return error_set(e, FAULT_LIMIT, "%s: no memory for the list of its files", s->path);
    for (size_t i = 0; i < found.n; i++) {
        const struct found *f = &found.at[i];
        slices[i] = f->slice;
        const bool is_new = i == 0 || strcmp(f->family, f[-1].family) != 0 || f->is_unaging != f[-1].is_unaging;
        if (is_new)
            s->stream[s->n_streams++] = (struct stream){ f->family, f->is_unaging, &slices[i], 0 };
        s->stream[s->n_streams - 1].n_slices++;
    }
    return true;
}

const struct stream *source_streams(const struct source *s, const char *family, size_t *n)
{
    const struct stream *first = NULL;
    *n = 0;
    for (size_t i = 0; i < s->n_streams; i++) {
        if (strcmp(s->stream[i].family, family) != 0)
            continue;
        first = first ? first : &s->stream[i];
        ++*n;
    }
    return first;
}

bool source_open(struct source *s, const char *prof_path, const char *name, struct error *e)
{
    *s = (struct source){ .is_host = strcmp(name, "host") == 0, .mem = arena_new() };
    if (!s->mem)
        return error_set(e, FAULT_LIMIT, "%s/%s: no memory", prof_path, name);
    s->device = s->is_host ? HOST_DEVICE_ID : (unsigned)strtoul(name + strlen("device_"), NULL, 10);
    s->name = arena_text(s->mem, name, strlen(name));
    s->path = arena_printf(s->mem, "%s/%s", prof_path, name);
    if (!s->name || !s->path) {
        error_set(e, FAULT_LIMIT, "%s/%s: no memory", prof_path, name);
        goto failed;
    }
    s->info = read_json(s, "info.json", e);
    if (!s->info)
        goto failed;
    read_info(s);
    struct error no_sample = { 0 };
    s->sample = read_json(s, "sample.json", &no_sample);
    if (!s->sample) { /* without it the counters have no names, but the tasks are all there */
        losses_add(&s->lost, LOSS_UNREADABLE, 1, arena_printf(s->mem, "%s/sample.json", s->name), 0);
        s->sample = json_object();
    }
    if (s->sample && read_clocks(s, e) && read_window(s, e) && find_streams(s, e))
        return true;
failed:
    source_close(s);
    return false;
}

void source_close(struct source *s)
{
    for (size_t i = 0; i < s->n_streams; i++)
        for (size_t k = 0; k < s->stream[i].n_slices; k++)
            if (s->stream[i].slice[k].size > 0)
                munmap((void *)(uintptr_t)s->stream[i].slice[k].data, s->stream[i].slice[k].size);
    json_decref(s->info);
    json_decref(s->sample);
    arena_free(s->mem);
    *s = (struct source){ 0 };
}
