/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/dyn/dyn_verb.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/inside.h"
#include "base/text/json_memory.h"
#include "cli/options/command.h"
#include "collect/flight/flight_parts.h"
#include "collect/session/recover.h"

struct recorder {
    const char *home;
    bool is_running;
    struct flight_request asked;
    bool is_done;
    char *path; /* of the saved collection; NULL: none */
};

struct recorders {
    LIST(struct recorder) list;
    struct dyn *d;
};

/* ---- what was asked for ---- */

/* Reads "30s", "500ms", "2min", or a number of seconds. False: invalid. */
static bool duration_read(const char *text, uint64_t *ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = { { "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "min", 60e9 } };
    char *end;
    const double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end > text && strcmp(end, units[i].unit) == 0 && isfinite(number) && number > 0 &&
            number * units[i].ns < 1e18) {
            *ns = (uint64_t)(number * units[i].ns);
            return *ns > 0;
        }
    return false;
}

/* Reads "step>1.5x" as 1500, or "never" as 0. False: invalid. */
static bool when_read(const char *text, uint64_t *permille)
{
    enum { FACTOR_MOST = 100000 };
    char *end;
    *permille = 0;
    if (strcmp(text, "never") == 0)
        return true;
    if (strncmp(text, "step>", 5) != 0)
        return false;
    const double factor = strtod(text + 5, &end);
    *permille = factor > 1 && factor < FACTOR_MOST ? (uint64_t)(factor * 1000 + 0.5) : 0;
    return *permille > 0 && strcmp(end, "x") == 0;
}

static bool request_read(const struct dyn *d, struct flight_request *r, struct error *e)
{
    const struct dyn_words *const w = &d->a->dyn;
    *r = (struct flight_request){ .what = w->when ? FLIGHT_WHEN : FLIGHT_SAVE };
    if (w->when && w->last)
        return error_set(e, FAULT_ASKED, "--when and --last: give only one of them");
    if (w->when && !when_read(w->when, &r->value))
        return error_set(e, FAULT_ASKED,
                         "--when %s: accepted are step>1.5x, with a number above 1, and never, which disables it",
                         w->when);
    if (w->last && !duration_read(w->last, &r->value))
        return error_set(e, FAULT_ASKED, "--last %s: accepted are durations such as 30s, 500ms and 2min", w->last);
    return true;
}

/* ---- finding them ---- */

/* Whether a directory is that of a flight recorder that was not stopped, by its ascope.json. */
static bool is_home(const char *path)
{
    char file[PATH_MAX];
    struct stat st;
    int why;
    if (snprintf(file, sizeof file, "%s/ascope.json", path) >= (int)sizeof file)
        return false;
    const int fd = file_open(AT_FDCWD, file, &st, &why);
    json_t *const facts = fd >= 0 ? json_loadfd(fd, 0, NULL) : NULL;
    const char *const ended = json_string_value(json_object_get(facts, "ended"));
    const bool is = ended && strcmp(ended, "running") == 0 && json_is_object(json_object_get(facts, "flight"));
    json_decref(facts);
    if (fd >= 0)
        close(fd);
    return is;
}

static void recorder_add(struct recorders *all, const char *path)
{
    for (size_t i = 0; i < all->list.n; i++)
        if (strcmp(all->list.at[i].home, path) == 0)
            return;
    struct recorder *const r = is_home(path) ? list_add(&all->list, all->d->a->mem) : NULL;
    if (r)
        *r = (struct recorder){ .home = arena_printf(all->d->a->mem, "%s", path),
                                .is_running = collection_is_recorded(path) };
}

/* Adds the recorder whose directory is named in a file of a listening job: it may be anywhere, and the way to it may
 * have links. */
static void listener_add(struct recorders *all, int dir, const char *name)
{
    char home[PATH_MAX], real[PATH_MAX];
    struct stat st;
    size_t n = 0;
    int why;
    const int fd = file_open(dir, name, &st, &why);
    if (fd < 0)
        return;
    if (file_read(fd, home, sizeof home - 1, &n, &why)) {
        home[n] = '\0';
        home[strcspn(home, "\n")] = '\0';
        recorder_add(all, realpath(home, real) ? real : home);
    }
    close(fd);
}

static void recorders_find(struct recorders *all)
{
    DIR *const dir = inside_list(all->d->dir);
    int why = 0;
    char path[PATH_MAX];
    recorder_add(all, all->d->dir);
    for (const char *name; dir && (name = dir_next(dir, &why));) {
        struct stat st;
        if (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISDIR(st.st_mode) && snprintf(path, sizeof path, "%s/%s", all->d->dir, name) < (int)sizeof path)
            recorder_add(all, path);
        else if (S_ISREG(st.st_mode) && strncmp(name, FLIGHT_LISTENS, strlen(FLIGHT_LISTENS)) == 0)
            listener_add(all, dirfd(dir), name);
    }
    if (dir)
        closedir(dir);
}

/* ---- doing it ---- */

static void recorder_end(struct recorder *r, const struct dyn *d, const struct error *e)
{
    if (!r->is_done) {
        complain("%s", e->text);
    } else if (dyn_prints(d)) {
        fputs(r->asked.what == FLIGHT_WHEN ? "armed: " : "saved: ", d->term.to);
        term_text(&d->term, r->path, 0);
        fputc('\n', d->term.to);
    }
}

/* Saves the last seconds of a killed program: the recorder's directory becomes the collection. */
static void leftover_save(struct recorder *r, struct error *e)
{
    struct recovered out;
    if (r->asked.what == FLIGHT_WHEN)
        error_set(e, FAULT_ASKED, "%s: the program has ended; ascope dyn DIR save keeps its last seconds", r->home);
    else
        r->is_done = collection_recover_last(r->home, r->asked.value, &out, e) == RECOVERY_DONE;
    if (!r->is_done && e->fault == FAULT_NONE)
        error_set(e, FAULT_IO, "%s: nothing to save", r->home);
    r->path = r->is_done ? (char *)r->home : NULL;
}

static json_t *recorders_json(const struct recorders *all)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < all->list.n; i++) {
        const struct recorder *const r = &all->list.at[i];
        json_array_append_new(list, json_pack("{s:o, s:o, s:s}", "recorder", text_json(r->home), "path",
                                              text_or_null(r->path), "state",
                                              !r->is_done     ? "failed"
                                              : r->is_running ? "running"
                                                              : "killed"));
    }
    return list;
}

bool dyn_save(struct dyn *d, struct error *e)
{
    struct recorders all = { .d = d };
    struct flight_request asked;
    if (!request_read(d, &asked, e)) {
        d->refused = STATUS_PARAMETER;
        return false;
    }
    recorders_find(&all);
    if (all.list.n == 0)
        return error_set(e, FAULT_ASKED,
                         "%s: no flight recorder runs here, and none was left by a program that was killed", d->dir);
    struct error *const trouble = arena_take(d->a->mem, all.list.n, sizeof *trouble);
    if (!trouble)
        return error_no_memory(e, d->dir);
    for (size_t i = 0; i < all.list.n; i++) { /* all requests first, so that the windows end at the same time */
        struct recorder *const r = &all.list.at[i];
        r->asked = asked;
        r->is_done = r->is_running && flight_request_put(r->home, &r->asked, &trouble[i]);
    }
    bool is_well = true, is_any = false;
    for (size_t i = 0; i < all.list.n; i++) {
        struct recorder *const r = &all.list.at[i];
        char path[PATH_MAX];
        if (!r->is_running)
            leftover_save(r, &trouble[i]);
        else if (r->is_done &&
                 (r->is_done = flight_request_wait(r->home, &r->asked, collection_is_recorded, path, &trouble[i])))
            r->path = arena_printf(d->a->mem, "%s", r->asked.what == FLIGHT_WHEN ? r->home : path);
        recorder_end(r, d, &trouble[i]);
        is_well &= r->is_done;
        is_any |= r->is_done;
    }
    d->refused = is_any ? STATUS_LOSSES : STATUS_NOTHING;
    d->more = d->a->json ? json_pack("{s:o}", "saved", recorders_json(&all)) : NULL;
    return is_well;
}
