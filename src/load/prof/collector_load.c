/* SPDX-License-Identifier: Apache-2.0 */
#include "load/prof/prof.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/text/framework_names.h"
#include "base/text/json_memory.h"

static const char FILE_NAME[] = "ascope.json", RINGS_NAME[] = "ascope.rings";

/* A step is up to 200 bytes, and the recorder stores a hundred thousand of them at most. */
enum { FILE_MOST = 32 << 20, TEXT_MOST = 64, LINE_MOST = 200 };

/* When a key is required. Keys that are written at the end are missing in a recording that has not ended. */
enum need { ALWAYS, AT_END, MAYBE };
enum collector_load_kind { TEXT, LINE, FLAG, COUNT, STEP, REAL, END_WORD, CLOCK_WORD };

struct key {
    const char *name;
    enum collector_load_kind kind;
    enum need need;
    size_t at;          /* in the structure of its table */
    double least, most; /* of numbers */
};

#define OF(s, f)  offsetof(struct s, f)
#define MHZ_LEAST 1e-6
#define MHZ_MOST  1e6
#define PPM_MOST  1e6
#define ANY_COUNT 9e18

static const struct key top_key[] = {
    { "ascope", TEXT, ALWAYS, OF(collector, version), 0, 0 },
    { "abi", COUNT, ALWAYS, OF(collector, abi), 0, 1e6 },
    { "native", FLAG, MAYBE, OF(collector, is_native), 0, 0 },
    { "simulated", FLAG, ALWAYS, OF(collector, is_simulated), 0, 0 },
    { "device", TEXT, ALWAYS, OF(collector, device), 0, 0 },
    { "ended", END_WORD, ALWAYS, OF(collector, ended), 0, 0 },
};
static const struct key cost_key[] = {
    { "open_ranges", COUNT, AT_END, OF(collector, open_ranges), 0, ANY_COUNT },
    { "damaged", COUNT, MAYBE, OF(collector, damaged), 0, ANY_COUNT },
    { "hook_ns", COUNT, AT_END, OF(collector, hook_ns), 0, ANY_COUNT },
    { "lag_most_ns", COUNT, AT_END, OF(collector, lag_most_ns), 0, ANY_COUNT },
    { "fill_most_percent", COUNT, AT_END, OF(collector, fill_most_percent), 0, 100 },
    { "threads", COUNT, AT_END, OF(collector, threads), 0, ANY_COUNT },
};
static const struct key clock_key[] = {
    { "kind", CLOCK_WORD, ALWAYS, OF(collector, clock), 0, 0 },
    { "mhz", REAL, ALWAYS, OF(collector, mhz), MHZ_LEAST, MHZ_MOST },
    { "first_mhz", REAL, MAYBE, OF(collector, first_mhz), MHZ_LEAST, MHZ_MOST },
    { "start_uncertainty_ns", COUNT, ALWAYS, OF(collector, start_uncertainty_ns), 0, ANY_COUNT },
    { "stop_uncertainty_ns", COUNT, MAYBE, OF(collector, stop_uncertainty_ns), 0, ANY_COUNT },
};
static const struct key written_key[] = {
    { "records", COUNT, AT_END, OF(collector, records), 0, ANY_COUNT },
    { "bytes", COUNT, AT_END, OF(collector, bytes), 0, ANY_COUNT },
};
static const struct key aged_key[] = {
    { "slices", COUNT, AT_END, OF(collector, aged_slices), 0, ANY_COUNT },
    { "bytes", COUNT, AT_END, OF(collector, aged_bytes), 0, ANY_COUNT },
};
static const struct key device_key[] = {
    { "id", COUNT, ALWAYS, OF(collector_device, id), 0, 1e6 },
    { "start_uncertainty_ns", COUNT, MAYBE, OF(collector_device, start_uncertainty_ns), 0, ANY_COUNT },
    { "stop_uncertainty_ns", COUNT, MAYBE, OF(collector_device, stop_uncertainty_ns), 0, ANY_COUNT },
    { "nominal_mhz", REAL, MAYBE, OF(collector_device, nominal_mhz), MHZ_LEAST, MHZ_MOST },
    { "mhz", REAL, MAYBE, OF(collector_device, mhz), MHZ_LEAST, MHZ_MOST },
    { "drift_ppm", REAL, MAYBE, OF(collector_device, drift_ppm), -PPM_MOST, PPM_MOST },
};
static const struct key dropped_key[] = {
    { "what", TEXT, ALWAYS, OF(collector_dropped, what), 0, 0 },
    { "count", COUNT, ALWAYS, OF(collector_dropped, n), 0, ANY_COUNT },
    { "reason", TEXT, MAYBE, OF(collector_dropped, reason), 0, 0 },
};
static const struct key flight_key[] = {
    { "trigger", LINE, ALWAYS, OF(collector_flight, trigger), 0, 0 },
    { "began_before", COUNT, MAYBE, OF(collector_flight, began_before), 0, ANY_COUNT },
    { "short_ns", COUNT, MAYBE, OF(collector_flight, short_ns), 0, ANY_COUNT },
};
static const struct key window_key[] = {
    { "begin_unix_ns", COUNT, ALWAYS, OF(collector_flight, begin_unix_ns), 0, ANY_COUNT },
    { "end_unix_ns", COUNT, ALWAYS, OF(collector_flight, end_unix_ns), 0, ANY_COUNT },
    { "records", COUNT, ALWAYS, OF(collector_flight, records), 0, ANY_COUNT },
};
static const struct key overwritten_key[] = {
    { "begin_unix_ns", COUNT, ALWAYS, OF(collector_flight, dropped_begin_unix_ns), 0, ANY_COUNT },
    { "end_unix_ns", COUNT, ALWAYS, OF(collector_flight, dropped_end_unix_ns), 0, ANY_COUNT },
};
static const struct key step_key[] = {
    { "step", STEP, ALWAYS, OF(collector_step, step), -ANY_COUNT, ANY_COUNT },
    { "records", COUNT, ALWAYS, OF(collector_step, records), 0, ANY_COUNT },
    { "bytes", COUNT, ALWAYS, OF(collector_step, bytes), 0, ANY_COUNT },
    { "dropped", COUNT, ALWAYS, OF(collector_step, dropped), 0, ANY_COUNT },
    { "hook_ns", COUNT, ALWAYS, OF(collector_step, hook_ns), 0, ANY_COUNT },
    { "lag_most_ns", COUNT, ALWAYS, OF(collector_step, lag_most_ns), 0, ANY_COUNT },
};

struct collector_load_table {
    const struct key *key;
    size_t n;
};
#define TABLE(keys) ((struct collector_load_table){ keys, sizeof keys / sizeof *keys })

struct collector_load_reading {
    struct collector *out;
    struct arena *mem;
    struct losses *lost;
    bool is_over; /* keys that are written at the end are required */
};

/* Only the first loss of a kind is shown with its place. */
static void count_wrong(struct collector_load_reading *r, const char *where, const char *key)
{
    const char *file =
        r->lost->by[LOSS_BAD_VALUE].n == 0 ? arena_printf(r->mem, "%s, %s%s", FILE_NAME, where, key) : NULL;
    losses_add(r->lost, LOSS_BAD_VALUE, 1, file, 0);
}

static bool find_word(const char *word, const char *const *known, unsigned n, unsigned *out)
{
    for (*out = 1; *out < n; ++*out)
        if (strcmp(word, known[*out]) == 0)
            return true;
    return false;
}

/* False: the value is invalid, and the field is unchanged. */
static bool read_value(struct collector_load_reading *r, const struct key *k, const json_t *v, char *to)
{
    const char *text = json_string_value(v);
    const double number = json_number_value(v);
    const int64_t whole = json_integer_value(v);
    unsigned word;
    switch (k->kind) {
    case TEXT:
        text = text && strlen(text) <= TEXT_MOST ? arena_text(r->mem, text, strlen(text)) : NULL;
        if (text)
            memcpy(to, &text, sizeof text);
        return text != NULL;
    case LINE: /* text of the user: truncated if it is too long */
        text = text ? arena_text(r->mem, text, strnlen(text, LINE_MOST)) : NULL;
        if (text)
            memcpy(to, &text, sizeof text);
        return text != NULL;
    case FLAG:
        if (json_is_boolean(v))
            memcpy(to, &(bool){ json_is_true(v) }, sizeof(bool));
        return json_is_boolean(v);
    case COUNT:
    case STEP:
        if (!json_is_integer(v) || number < k->least || number > k->most)
            return false;
        memcpy(to, &whole, sizeof whole);
        return true;
    case REAL:
        if (!json_is_number(v) || !(number >= k->least && number <= k->most))
            return false;
        memcpy(to, &number, sizeof number);
        return true;
    case END_WORD:
        if (!text || !find_word(text, collector_end_word, COLLECTOR_ENDS, &word))
            return false;
        memcpy(to, &(enum collector_end){ (enum collector_end)word }, sizeof(enum collector_end));
        return true;
    case CLOCK_WORD:
        if (!text || !find_word(text, collector_clock_word, COLLECTOR_CLOCKS, &word))
            return false;
        memcpy(to, &(enum collector_clock){ (enum collector_clock)word }, sizeof(enum collector_clock));
        return true;
    }
    return false;
}

/* False: a key that is always required is missing or invalid. */
static bool read_keys(struct collector_load_reading *r, const char *where, const json_t *object,
                      struct collector_load_table t, void *to)
{
    bool is_whole = true;
    for (size_t i = 0; i < t.n; i++) {
        const struct key *k = &t.key[i];
        const json_t *v = json_object_get(object, k->name);
        if (v ? read_value(r, k, v, (char *)to + k->at) : k->need == MAYBE || (k->need == AT_END && !r->is_over))
            continue;
        count_wrong(r, where, k->name);
        is_whole = is_whole && k->need != ALWAYS;
    }
    return is_whole;
}

/* Reads the valid rows of a list; `fresh` has the defaults of a row. */
static void *read_rows(struct collector_load_reading *r, const json_t *root, const char *name,
                       struct collector_load_table t, const void *fresh, size_t size, size_t *n)
{
    const json_t *list = json_object_get(root, name);
    *n = 0;
    if (!json_is_array(list)) {
        if (list || r->is_over)
            count_wrong(r, "", name);
        return NULL;
    }
    char *rows = arena_take(r->mem, json_array_size(list), size), where[32];
    snprintf(where, sizeof where, "%s.", name);
    for (size_t i = 0; rows && i < json_array_size(list); i++) {
        char *row = rows + *n * size;
        memcpy(row, fresh, size);
        *n += read_keys(r, where, json_array_get(list, i), t, row);
    }
    return rows;
}

/* For a collection that a flight recorder has saved. The recorder's own directory has no window. */
static void read_flight(struct collector_load_reading *r, const json_t *flight)
{
    const json_t *const dropped = json_object_get(flight, "dropped_history");
    if (!r->is_over || !flight)
        return;
    read_keys(r, "flight.", flight, TABLE(flight_key), &r->out->flight);
    read_keys(r, "flight.window.", json_object_get(flight, "window"), TABLE(window_key), &r->out->flight);
    if (dropped)
        read_keys(r, "flight.dropped_history.", dropped, TABLE(overwritten_key), &r->out->flight);
}

/* "files": {"list_bytes": 1234, "list_sum": "0123456789abcdef"}. A recording that was killed has none. */
static void read_seal(struct collector_load_reading *r, const json_t *files)
{
    struct collector *c = r->out;
    const char *const text = json_string_value(json_object_get(files, "list_sum"));
    const json_t *const bytes = json_object_get(files, "list_bytes");
    char *end = NULL;
    if (!files)
        return;
    c->seal_sum = text && strlen(text) == 16 ? strtoull(text, &end, 16) : 0;
    c->seal_bytes = (uint64_t)json_integer_value(bytes);
    c->is_sealed = end && !*end && json_is_integer(bytes) && json_integer_value(bytes) >= 0;
    if (!c->is_sealed)
        count_wrong(r, "", "files");
}

static void read_all(struct collector_load_reading *r, const json_t *root)
{
    struct collector *c = r->out;
    read_keys(r, "", root, TABLE(top_key), c);
    r->is_over = c->ended != COLLECTOR_RUNNING;
    read_keys(r, "", root, TABLE(cost_key), c);
    read_flight(r, json_object_get(root, "flight"));
    if (r->is_over)
        read_seal(r, json_object_get(root, "files"));
    read_keys(r, "clock.", json_object_get(root, "clock"), TABLE(clock_key), c);
    /* A recorder that was killed has not read the clock at the end. */
    const bool has_stop = c->ended != COLLECTOR_RUNNING && c->ended != COLLECTOR_RECOVERED;
    if (!has_stop)
        c->stop_uncertainty_ns = NOT_KNOWN;
    read_keys(r, "written.", json_object_get(root, "written"), TABLE(written_key), c);
    read_keys(r, "aged.", json_object_get(root, "aged"), TABLE(aged_key), c);
    const struct collector_device device = { .start_uncertainty_ns = NOT_KNOWN,
                                             .stop_uncertainty_ns = NOT_KNOWN,
                                             .nominal_mhz = NAN,
                                             .mhz = NAN,
                                             .drift_ppm = NAN };
    c->devices = read_rows(r, root, "devices", TABLE(device_key), &device, sizeof device, &c->n_devices);
    for (size_t i = 0; i < c->n_devices && !has_stop; i++) {
        c->devices[i].stop_uncertainty_ns = NOT_KNOWN;
        c->devices[i].drift_ppm = NAN;
    }
    const struct collector_dropped none_dropped = { .reason = loss_key(LOSS_RING_FULL) }; /* as older files mean */
    c->dropped = read_rows(r, root, "dropped", TABLE(dropped_key), &none_dropped, sizeof *c->dropped, &c->n_dropped);
    c->steps =
        read_rows(r, root, "steps", TABLE(step_key), &(struct collector_step){ 0 }, sizeof *c->steps, &c->n_steps);
}

/* An unknown reason is that of a newer recorder. */
static enum loss reason_of(const struct collector_dropped *d)
{
    for (enum loss why = LOSS_RING_FULL; why < LOSS_NOT_WRITTEN; why++)
        if (strcmp(d->reason, loss_key(why)) == 0)
            return why;
    return LOSS_NOT_WRITTEN;
}

static void count_dropped(struct collector_load_reading *r, enum loss why)
{
    const struct collector *c = r->out;
    enum { KINDS_SHOWN = 8 };
    uint64_t n = 0;
    const char *kinds = NULL;
    for (size_t i = 0, n_shown = 0; i < c->n_dropped; i++) {
        if (c->dropped[i].n == 0 || reason_of(&c->dropped[i]) != why)
            continue;
        if (n_shown++ < KINDS_SHOWN)
            kinds = arena_printf(r->mem, "%s%s%s %" PRIu64, kinds ? kinds : "", kinds ? ", " : "", c->dropped[i].what,
                                 c->dropped[i].n);
        n = n > UINT64_MAX - c->dropped[i].n ? UINT64_MAX : n + c->dropped[i].n;
    }
    if (n > 0)
        losses_add(r->lost, why, n, arena_printf(r->mem, "%s: %s", FILE_NAME, kinds), 0);
}

/* Counts the losses that the recorder reports. */
static void count_losses(struct collector_load_reading *r)
{
    const struct collector *c = r->out;
    for (enum loss why = LOSS_RING_FULL; why <= LOSS_NOT_WRITTEN; why++)
        count_dropped(r, why);
    if (c->aged_slices > 0)
        losses_add(r->lost, LOSS_AGED, c->aged_slices,
                   arena_printf(r->mem, "%s: bytes %" PRIu64, FILE_NAME, c->aged_bytes), 0);
    losses_add(r->lost, LOSS_OPEN_RANGE, c->open_ranges, FILE_NAME, 0);
    losses_add(r->lost, LOSS_RINGS, c->damaged, FILE_NAME, 0);
    if (c->ended == COLLECTOR_RUNNING && !c->is_running)
        losses_add(r->lost, LOSS_NOT_RECOVERED, 1, FILE_NAME, 0);
}

/* The text of the file. NULL: *why is the errno value; 0: it is not such a file. */
static char *read_text(const char *path, struct arena *mem, size_t *len, int *why)
{
    struct stat st;
    const int fd = file_open(AT_FDCWD, path, &st, why);
    if (fd < 0)
        return NULL;
    char *text = NULL;
    *why = 0;
    if (st.st_size <= FILE_MOST) {
        *why = ENOMEM;
        text = arena_take(mem, (size_t)st.st_size + 1, 1);
        if (text && file_read(fd, text, (size_t)st.st_size, len, why))
            *why = 0;
        else
            text = NULL;
    }
    close(fd);
    return text;
}

/* A path of the file is opened only if the recorder may have written it: it puts rings elsewhere as
 * "/DIRECTORY/NAME.rings". */
static bool is_rings_path(const char *path)
{
    static const char suffix[] = ".rings";
    const size_t len = strlen(path);
    return path[0] == '/' && len > sizeof suffix && strcmp(path + len - (sizeof suffix - 1), suffix) == 0;
}

static void look_for_rings(struct collector *out, const char *path, struct losses *lost)
{
    struct stat st;
    int why;
    const int fd = file_open(AT_FDCWD, path, &st, &why);
    out->has_rings = fd >= 0;
    out->is_running = fd >= 0 && lock_is_held(fd, 0, 0, &why); /* on a file system without locks this is unknown */
    if (fd >= 0)
        close(fd);
    else if (why != ENOENT)
        losses_add(lost, LOSS_UNREADABLE, 1, RINGS_NAME, 0);
}

bool collector_load(struct collector *out, const char *path, struct arena *mem, struct losses *lost, struct error *e)
{
    *out = (struct collector){ .version = "",
                               .device = "",
                               .mhz = NAN,
                               .first_mhz = NAN,
                               .start_uncertainty_ns = NOT_KNOWN,
                               .stop_uncertainty_ns = NOT_KNOWN };
    const char *file = arena_printf(mem, "%s/%s", path, FILE_NAME),
               *rings = arena_printf(mem, "%s/%s", path, RINGS_NAME);
    size_t len = 0;
    int why = ENOMEM;
    const char *text = file && rings ? read_text(file, mem, &len, &why) : NULL;
    json_error_t unused;
    json_t *root = text ? json_read(text, len, JSON_REJECT_DUPLICATES, &unused) : NULL;
    const char *elsewhere = json_string_value(json_object_get(root, "rings"));
    const bool is_elsewhere = elsewhere && is_rings_path(elsewhere);
    if (rings)
        look_for_rings(out, is_elsewhere ? elsewhere : rings, lost);
    if (json_is_object(root)) {
        struct collector_load_reading r = { .out = out, .mem = mem, .lost = lost };
        out->is_there = true;
        if (json_object_get(root, "rings") && !is_elsewhere)
            count_wrong(&r, "", "rings");
        read_all(&r, root);
        count_losses(&r);
    } else if (text || (why != ENOENT && why != ENOMEM)) {
        losses_add(lost, LOSS_UNREADABLE, 1, FILE_NAME, 0);
    }
    json_decref(root);
    if (arena_failed(mem) || why == ENOMEM || json_memory_failed())
        return error_no_memory(e, path);
    return true;
}

bool collector_load_above(struct collector *out, const char *path, struct arena *mem, struct losses *lost,
                          struct error *e)
{
    const char *slash = strrchr(path, '/');
    const size_t len = slash ? (size_t)(slash - path) : 0;
    if (!framework_ends_name(path, len))
        return true;
    const char *above = arena_text(mem, path, len);
    return above ? collector_load(out, above, mem, lost, e) : error_no_memory(e, path);
}
