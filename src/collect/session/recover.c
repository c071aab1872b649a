/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/durable.h"
#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/files/file_tree.h"
#include "base/files/inside.h"
#include "base/files/leftover.h"
#include "base/files/seal.h"
#include "base/text/framework_names.h"
#include "collect/flight/flight_parts.h"
#include "collect/ring/ring.h"
#include "collect/ring/rings_left.h"
#include "collect/write/outputs.h"
#include "raw/family.h"

enum { SLICE_LEAST = 1024, FACTS_MOST = 64 << 20, PLACE_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC };
static const char FACTS_NAME[] = "ascope.json";

/* What is being recovered. */
struct recovering {
    int dir;        /* the collection; -1: none is open */
    struct stat st; /* of it */
    char path[PATH_MAX];
    json_t *facts; /* ascope.json; NULL: there is none that can be read */

    int rings_dir; /* in which the rings lie: the collection, unless it says another one */
    char rings_path[PATH_MAX];
    char rings_name[NAME_MAX + 1];
    int fd;               /* the rings; -1: not open */
    struct stat rings_st; /* of them */

    struct rings_left left;
    struct flight_leftover *flight; /* too large for small stacks; NULL: it was no flight recorder */
    uint64_t last_ns;               /* of it; 0: all */
    struct outputs *outputs;
    struct recovered *out;
};

/* ---- the collection ---- */

static json_t *facts_read(const struct recovering *r)
{
    struct stat st;
    int why;
    const int fd = file_open(r->dir, FACTS_NAME, &st, &why);
    const bool is_ours = fd >= 0 && st.st_uid == r->st.st_uid && st.st_size <= FACTS_MOST;
    char *text = is_ours ? malloc((size_t)st.st_size + 1) : NULL; /* json_loadfd() makes a call for each byte */
    size_t n = 0;
    json_t *facts = text && file_read(fd, text, (size_t)st.st_size, &n, &why) ? json_loadb(text, n, 0, NULL) : NULL;
    free(text);
    if (fd >= 0)
        close(fd);
    if (json_is_object(facts))
        return facts;
    json_decref(facts);
    return NULL;
}

static void collection_close(struct recovering *r)
{
    if (r->dir >= 0)
        close(r->dir);
    r->dir = -1;
    json_decref(r->facts);
    r->facts = NULL;
}

/* `name`: the path for messages. */
static bool collection_open(struct recovering *r, const char *path, const char *name)
{
    snprintf(r->path, sizeof r->path, "%s", name);
    r->dir = inside_open(*path ? path : "/", PLACE_FLAGS);
    if (r->dir < 0 || fstat(r->dir, &r->st) != 0) {
        collection_close(r);
        return false;
    }
    r->facts = facts_read(r);
    return true;
}

static bool has_rings(const struct recovering *r)
{
    struct stat st;
    return fstatat(r->dir, RINGS_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The directory itself; or the collection that it is a part of, which must be its owner's. Of a path that the user
 * typed, that is the directory above its target. */
static bool collection_find(struct recovering *r, const char *path)
{
    char *real = inside_is_below(path) ? strdup(path) : realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL;
    bool is_found = real && strlen(real) < PATH_MAX - 256 && collection_open(r, path, real);
    if (is_found && !r->facts && !has_rings(r)) {
        const uid_t owner = r->st.st_uid;
        *slash = '\0';
        if (framework_ends_name(real, strlen(real))) {
            collection_close(r);
            is_found = collection_open(r, real, real) && r->st.st_uid == owner;
        }
    }
    free(real);
    return is_found;
}

static const char *fact(const struct recovering *r, const char *key)
{
    const char *text = json_string_value(json_object_get(r->facts, key));
    return text ? text : "";
}

static bool is_unended(const struct recovering *r)
{
    return strcmp(fact(r, "ended"), "running") == 0;
}

/* Not the opposite of is_unended(): of a damaged ascope.json neither is true, and its rings are kept. */
static bool has_ended(const struct recovering *r)
{
    return strcmp(fact(r, "ended"), "stop") == 0 || strcmp(fact(r, "ended"), "recovered") == 0;
}

/* ---- the rings ---- */

/* Where ascope.json says, or in the collection. False: the name is no such name. */
static bool rings_place(struct recovering *r)
{
    const char *named = fact(r, "rings"), *slash = strrchr(named, '/');
    if (snprintf(r->rings_path, sizeof r->rings_path, "%s/" RINGS_NAME, r->path) >= (int)sizeof r->rings_path)
        return false;
    if (!*named || has_rings(r)) {
        strcpy(r->rings_name, RINGS_NAME);
        r->rings_dir = dup(r->dir);
        return r->rings_dir >= 0;
    }
    if (*named != '/' || strlen(named) >= sizeof r->rings_path || strlen(slash + 1) > NAME_MAX || !slash[1])
        return false;
    strcpy(r->rings_path, named);
    strcpy(r->rings_name, slash + 1);
    r->rings_path[slash - named] = '\0';
    r->rings_dir = (int)TEMP_FAILURE_RETRY(open(*r->rings_path ? r->rings_path : "/", PLACE_FLAGS));
    strcpy(r->rings_path, named);
    return r->rings_dir >= 0;
}

/* True: the program still runs, or somebody else recovers. */
static bool is_held(int fd, bool is_writable, int *why)
{
    int unknown;
    if (!is_writable)
        return lock_is_held(fd, 0, 0, &unknown);
    if (lock_try(fd, 0, 0))
        return false;
    if (errno != EAGAIN)
        *why = errno; /* where there are no locks, nobody can say */
    return *why == 0;
}

static enum recovery recover_refuse(const struct recovering *r, const char *why, struct error *e)
{
    error_set(e, FAULT_IO, "%s: not recovered: %s; the file is kept", r->rings_path, why);
    return RECOVERY_FAILED;
}

/* RECOVERY_DONE: they are open, and may be the collection's. */
static enum recovery rings_take(struct recovering *r, struct error *e)
{
    const int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    struct stat *st = &r->rings_st;
    if (fstatat(r->rings_dir, r->rings_name, st, AT_SYMLINK_NOFOLLOW) != 0)
        return RECOVERY_NOTHING;
    if (S_ISLNK(st->st_mode))
        return recover_refuse(r, "it is a symbolic link", e);
    if (!S_ISREG(st->st_mode))
        return recover_refuse(r, read_trouble(NOT_A_FILE), e);
    if (st->st_uid != r->st.st_uid)
        return recover_refuse(r, "it belongs to a different user than the collection", e);
    const dev_t device = st->st_dev;
    const ino_t inode = st->st_ino;
    r->fd = (int)TEMP_FAILURE_RETRY(openat(r->rings_dir, r->rings_name, O_RDWR | flags));
    int why = r->fd < 0 ? errno : 0;
    if (r->fd < 0)
        r->fd = (int)TEMP_FAILURE_RETRY(openat(r->rings_dir, r->rings_name, O_RDONLY | flags));
    if (r->fd >= 0 && is_held(r->fd, why == 0, &why))
        return RECOVERY_RUNNING;
    if (why == 0 && fstat(r->fd, st) != 0)
        why = errno;
    if (why)
        return recover_refuse(r, strerror(why), e);
    return st->st_dev == device && st->st_ino == inode ? RECOVERY_DONE
                                                       : recover_refuse(r, "it was replaced during the recovery", e);
}

static bool id_is_same(const struct recovering *r)
{
    const struct rings_id *id = &r->left.header.id;
    char digits[RINGS_ID_DIGITS + 1];
    snprintf(digits, sizeof digits, "%016llX%016llX", (unsigned long long)id->word[0], (unsigned long long)id->word[1]);
    return strcmp(fact(r, "session"), digits) == 0;
}

/* Only what was recognised: the same file is still there, and nobody else could have put another one under its name but
 * its owner. */
static void rings_remove(const struct recovering *r)
{
    struct stat st;
    if (fstatat(r->rings_dir, r->rings_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == r->rings_st.st_dev &&
        st.st_ino == r->rings_st.st_ino)
        unlinkat(r->rings_dir, r->rings_name, 0);
}

/* ---- files back to the commit ---- */

/* -1: there is none, or it is not the owner's. */
static int folder_in(const struct recovering *r, const char *name, char path[PATH_MAX])
{
    struct stat st;
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 300, r->path, name);
    const int fd = (int)TEMP_FAILURE_RETRY(openat(r->dir, name, PLACE_FLAGS | O_NOFOLLOW));
    if (fd < 0 || (fstat(fd, &st) == 0 && st.st_uid == r->st.st_uid))
        return fd;
    close(fd);
    return -1;
}

static bool prof_is_named(const struct rings_header *h)
{
    const char *name = h->prof_name;
    return *name && *name != '.' && memchr(name, 0, sizeof h->prof_name) && !strchr(name, '/');
}

/* Without one of them its records would have no place: the rings keep them until it is there again. */
static bool folder_missing(const char *path, struct error *e)
{
    return error_set(
        e, FAULT_IO,
        "%s: not recovered: it is missing, or not a directory of the collection's owner; the rings are kept", path);
}

static bool places_open(struct recovering *r, struct error *e)
{
    const struct rings_header *h = &r->left.header;
    char framework_path[PATH_MAX], prof_path[PATH_MAX];
    struct output_place framework = { -1, framework_path }, prof = { -1, prof_path };
    if (prof_is_named(h) && (prof.dir = folder_in(r, h->prof_name, prof_path)) < 0) {
        if (h->has_framework || framework_ends_name(r->path, strlen(r->path)))
            return folder_missing(prof_path, e);
        prof.dir = folder_in(r, ".", prof_path); /* the collection is the PROF directory */
    }
    if (h->has_framework && (framework.dir = folder_in(r, "FRAMEWORK", framework_path)) < 0) {
        if (prof.dir >= 0)
            close(prof.dir);
        return folder_missing(framework_path, e);
    }
    const size_t slice_bytes = h->slice_bytes < SLICE_LEAST ? SLICE_LEAST : h->slice_bytes;
    r->outputs = malloc(sizeof *r->outputs);
    if (r->outputs) {
        const bool is_open = outputs_adopt(r->outputs, framework, prof, slice_bytes, e);
        r->outputs->prof.first_slice =
            json_integer_value(json_object_get(r->facts, "slices_from")) == SLICE_BESIDE ? SLICE_BESIDE : 0;
        return is_open;
    }
    if (framework.dir >= 0)
        close(framework.dir);
    if (prof.dir >= 0)
        close(prof.dir);
    return error_no_memory(e, r->rings_path);
}

static unsigned first_of(const struct recovering *r, const struct output_state *s)
{
    return stream_table[s->stream].place == PLACE_FRAMEWORK ? 0 : r->outputs->prof.first_slice;
}

static void files_resume(struct recovering *r)
{
    const struct rings_commit *c = r->left.commit;
    for (uint32_t i = 0; i < c->n_outputs; i++) {
        const struct output_state *s = &c->output[i];
        if (!output_exists(s->stream, s->device) || s->is_open > 1 || s->next < first_of(r, s) + s->is_open ||
            s->bytes > INT64_MAX || outputs_have(r->outputs, s->stream, s->device))
            r->out->n_damaged++;
        else if (!outputs_resume(r->outputs, s) && !stream_table[s->stream].is_scratch) /* that may be gone already */
            r->out->n_damaged++;
    }
}

static void output_begin(struct recovering *r, struct output_state s)
{
    s.next = first_of(r, &s);
    outputs_resume(r->outputs, &s);
}

/* Files that the writer makes from other files may have been created after the commit, too. */
static void made_begin(struct recovering *r)
{
    static const uint8_t made[][2] = { { STREAM_MS_CALL, STREAM_MS_RANGE },
                                       { STREAM_MS_MEMORY, STREAM_MS_MEMORY_TEXT } };
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (outputs_have(r->outputs, made[i][0], 0) && !outputs_have(r->outputs, made[i][1], 0))
            output_begin(r, (struct output_state){ .stream = made[i][1] });
}

static void record_put(void *context, struct record_head head, const uint8_t *bytes)
{
    struct recovering *r = context;
    if (head.stream >= STREAM_KINDS) {
        r->out->n_damaged++;
    } else if (!output_exists(head.stream, head.device)) {
        r->outputs->dropped[head.stream]++;
    } else if (r->left.commit->keeps || stream_table[head.stream].lasts) {
        if (!outputs_have(r->outputs, head.stream, head.device)) { /* a file that was created after the commit */
            output_begin(r, (struct output_state){ .stream = head.stream, .device = head.device });
            made_begin(r);
        }
        outputs_put(r->outputs, head, bytes);
    }
}

/* ---- ascope.json ---- */

static json_t *dropped_json(struct recovering *r)
{
    json_t *list = json_array();
    for (unsigned s = 0; s < STREAM_KINDS; s++) {
        const uint64_t before = r->flight ? history_before(&r->flight->history).dropped[s] : 0,
                       all = r->left.dropped[s] + r->outputs->dropped[s], n = all > before ? all - before : 0;
        r->left.reasons.n[drop_reason_of(outputs_why(r->outputs))][s] += r->outputs->dropped[s];
        for (unsigned why = 0; why < DROP_REASONS; why++) {
            const uint64_t count = drop_count(&r->left.reasons, why, s, n);
            if (count > 0)
                json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "what", stream_table[s].what, "count",
                                                      (json_int_t)count, "reason", drop_reason_key(why)));
        }
    }
    return list;
}

static struct new_owner owner_of(const struct recovering *r)
{
    return (struct new_owner){ r->st.st_uid, r->st.st_gid };
}

static bool cannot_write(const struct recovering *r, int why, struct error *e)
{
    return error_set(e, FAULT_IO, "%s/%s: cannot be written: %s", r->path, FACTS_NAME, write_trouble(why));
}

/* A new file takes the place of the old one: whoever reads it, or is killed here, sees one of the two. */
static bool recover_text_put(const struct recovering *r, const char *text, struct error *e)
{
    const struct new_owner owner = owner_of(r);
    char path[PATH_MAX + sizeof FACTS_NAME];
    snprintf(path, sizeof path, "%s/%s", r->path, FACTS_NAME);
    leftovers_sweep_of(path); /* of a recovery that was killed */
    int why = text ? durable_put(r->dir, FACTS_NAME, text, strlen(text), geteuid() == 0 ? &owner : NULL, true) : ENOMEM;
    why = why ? why : durable_dir(r->dir, ".");
    return why == 0 || cannot_write(r, why, e);
}

/* Everything that the rings hold is in files for good before anything says so: only then may the rings go. */
static bool files_sync(const struct recovering *r, struct seal *seal, struct error *e)
{
    const struct new_owner owner = owner_of(r);
    const int why = seal_make(r->dir, geteuid() == 0 ? &owner : NULL, NULL, seal);
    return why == 0 || cannot_write(r, why, e);
}

/* Adds what the program would have written at its end; everything else stays. */
static bool facts_write(struct recovering *r, const struct seal *seal, struct error *e)
{
    const struct rings_commit *c = r->left.commit;
    const double mhz = json_number_value(json_object_get(json_object_get(r->facts, "clock"), "mhz"));
    const uint64_t before = r->flight ? history_before(&r->flight->history).cost_ticks : 0;
    const uint64_t ticks = r->left.cost_ticks > before ? r->left.cost_ticks - before : 0;
    const double hook_ns = mhz > 0 ? (double)ticks * 1000 / mhz : 0;
    json_t *end = json_pack(
        "{s:s, s:{s:I, s:I}, s:o, s:I, s:{s:I, s:I}, s:I, s:I, s:I, s:I, s:I}", "ended", "recovered", "written",
        "records", (json_int_t)r->outputs->n_records, "bytes", (json_int_t)r->outputs->n_bytes, "dropped",
        dropped_json(r), "damaged", (json_int_t)r->out->n_damaged, "aged", "slices", (json_int_t)c->aged_slices,
        "bytes", (json_int_t)c->aged_bytes, "open_ranges", (json_int_t)r->out->open_ranges, "hook_ns",
        (json_int_t)(hook_ns < 1e18 ? hook_ns : 1e18), "lag_most_ns", (json_int_t)c->lag_most_ns, "fill_most_percent",
        (json_int_t)c->fill_most_percent, "threads", (json_int_t)r->left.n_rings);
    json_object_update(r->facts, end);
    if (r->flight)
        json_object_set_new(r->facts, "flight", leftover_facts(r->flight, json_object_get(r->facts, "flight")));
    json_object_del(r->facts, "rings");
    char sum[17];
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)seal->sum);
    json_object_set_new(r->facts, "files",
                        json_pack("{s:I, s:s}", "list_bytes", (json_int_t)seal->bytes, "list_sum", sum));
    json_t *none = json_pack("{s:[], s:[]}", "devices", "steps");
    json_object_update_missing(r->facts, none);
    char *text = json_dumps(r->facts, JSON_INDENT(1));
    const bool done = recover_text_put(r, text, e);
    free(text);
    json_decref(none);
    json_decref(end);
    return done;
}

/* ---- all of it ---- */

static enum recovery files_finish(struct recovering *r, struct error *e)
{
    const struct rings_commit *c = r->left.commit;
    if (!places_open(r, e))
        return RECOVERY_FAILED;
    struct seal seal;
    struct outputs *o = r->outputs;
    o->times = c->times;
    o->rank = c->rank;
    files_resume(r);
    made_begin(r);
    const bool is_flight = r->flight; /* whose commit counts what was put into its history */
    const uint64_t n_records = is_flight ? 0 : c->n_records, n_bytes = is_flight ? 0 : c->n_bytes;
    o->n_records = n_records;
    o->n_bytes = n_bytes;
    const bool is_drained = outputs_are_well(o, e) &&
                            (!is_flight || history_read(&r->flight->history, record_put, r, e)) &&
                            rings_left_drain(&r->left, record_put, r, e);
    outputs_flush(o);
    outputs_close(o);
    r->out->n_records = o->n_records - n_records;
    r->out->n_bytes = o->n_bytes - n_bytes;
    r->out->n_damaged += r->left.n_damaged + (is_flight ? r->flight->history.n_damaged : 0);
    r->out->window_ns = is_flight ? r->flight->history.end_ns - r->flight->history.begin_ns + 1 : 0;
    r->out->open_ranges = r->left.open_ranges;
    const bool is_complete =
        is_drained && outputs_are_well(o, e) && files_sync(r, &seal, e) && facts_write(r, &seal, e);
    outputs_leave(
        o,
        is_complete); /* scratch files stay until ascope.json says that the recovery is complete: another attempt needs
                         them */
    return is_complete ? RECOVERY_DONE : RECOVERY_FAILED;
}

/* What a flight recorder has beside its rings; a save that was cut short is removed by its owner alone: it is a
 * tree. */
static void flight_remove(const struct recovering *r)
{
    if (!r->flight)
        return;
    leftover_remove(r->flight);
    if (geteuid() == r->st.st_uid)
        tree_remove(r->dir, FLIGHT_SAVING);
}

static bool flight_find(struct recovering *r, struct error *e)
{
    r->flight = calloc(1, sizeof *r->flight);
    if (!r->flight)
        return error_no_memory(e, r->rings_path);
    r->flight->dir = -1;
    return leftover_open(r->flight, r->rings_dir, r->rings_path, r->st.st_uid, &r->left, r->last_ns, e);
}

/* The rings are open. */
static enum recovery recover(struct recovering *r, struct error *e)
{
    const enum rings_state state = rings_left_read(&r->left, r->fd, (uint64_t)r->rings_st.st_size, r->rings_path, e);
    if (state == RINGS_OTHER_VERSION || state == RINGS_NO_MEMORY)
        return RECOVERY_FAILED;
    if (has_ended(r)) { /* only the rings were left over, if they belong to it */
        const bool is_known = state != RINGS_DAMAGED && id_is_same(r);
        *e = (struct error){ 0 };
        if (is_known)
            rings_remove(r);
        return RECOVERY_NOTHING;
    }
    if (state == RINGS_DAMAGED)
        return RECOVERY_LOST;
    if (!id_is_same(r))
        return recover_refuse(
            r, r->facts ? "it belongs to a different recording than ascope.json" : "ascope.json is missing or damaged",
            e);
    if (!is_unended(r))
        return recover_refuse(r, "ascope.json does not say whether the recording ended", e);
    if (state == RINGS_UNUSED)
        r->left.commit = calloc(1, sizeof *r->left.commit);
    if (!r->left.commit)
        return error_no_memory(e, r->rings_path), RECOVERY_FAILED;
    if (state == RINGS_USABLE && r->left.header.flight_ns > 0 && !flight_find(r, e))
        return RECOVERY_FAILED;
    const enum recovery how = files_finish(r, e);
    if (how == RECOVERY_DONE)
        flight_remove(r);
    if (how == RECOVERY_DONE)
        rings_remove(r);
    return how;
}

static enum recovery find_and_recover(struct recovering *r, const char *path, struct error *e)
{
    if (!collection_find(r, path) || (!r->facts && !has_rings(r)))
        return RECOVERY_NOTHING;
    enum recovery how = rings_place(r) ? rings_take(r, e) : RECOVERY_NOTHING;
    if (how == RECOVERY_DONE)
        how = recover(r, e);
    else if (how == RECOVERY_NOTHING && is_unended(r)) {
        error_set(e, FAULT_IO, "%s: missing; records that were not yet written are lost", r->rings_path);
        how = RECOVERY_LOST;
    } else if (how == RECOVERY_FAILED && has_ended(r)) {
        *e = (struct error){ 0 };
        how = RECOVERY_NOTHING; /* the recording ended: whatever that is, it holds nothing of it */
    }
    return how;
}

static void recovering_end(struct recovering *r)
{
    collection_close(r);
    if (r->rings_dir >= 0)
        close(r->rings_dir);
    if (r->fd >= 0)
        close(r->fd);
    if (r->flight)
        leftover_close(r->flight);
    free(r->flight);
    rings_left_fini(&r->left);
    free(r->outputs);
}

bool collection_is_recorded(const char *path)
{
    struct recovered unused;
    struct error e = { 0 };
    struct recovering r = { .dir = -1, .rings_dir = -1, .fd = -1, .out = &unused };
    const bool is_recorded = collection_find(&r, path) && rings_place(&r) && rings_take(&r, &e) == RECOVERY_RUNNING;
    recovering_end(&r);
    return is_recorded;
}

enum recovery collection_recover_last(const char *path, uint64_t last_ns, struct recovered *out, struct error *e)
{
    struct recovering r = { .dir = -1, .rings_dir = -1, .fd = -1, .last_ns = last_ns, .out = out };
    *out = (struct recovered){ 0 };
    const enum recovery how = find_and_recover(&r, path, e);
    recovering_end(&r);
    return how;
}

enum recovery collection_recover(const char *path, struct recovered *out, struct error *e)
{
    return collection_recover_last(path, 0, out, e);
}
