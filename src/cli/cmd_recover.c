/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"
#include "cli/cmd_recover.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/collections.h"
#include "cli/command.h"
#include "cli/exit_status.h"
#include "cli/summary.h"
#include "cli/targets.h"
#include "cli/term.h"
#include "collect/recover.h"
#include "collect/rings_file.h"

enum { SAID_MOST = 600 };

/* What became of one directory, as a sentence without its path. */
static void say(char said[SAID_MOST], enum recovery how, const struct recovered *r)
{
    char records[TERM_NUMBER], damaged[TERM_NUMBER], open[TERM_NUMBER];
    const char *only[] = { [RECOVERY_NOTHING] = "nothing to recover", [RECOVERY_RUNNING] = "is still being recorded" };
    if (how != RECOVERY_DONE) {
        snprintf(said, SAID_MOST, "%s", only[how]);
        return;
    }
    int n = r->window_ns > 0
                ? snprintf(said, SAID_MOST, "recovered the last %.3f s of the flight recorder: %s record%s",
                           (double)r->window_ns / 1e9, term_count(records, r->n_records), r->n_records == 1 ? "" : "s")
                : snprintf(said, SAID_MOST, "recovered %s record%s that the program had no time to write",
                           term_count(records, r->n_records), r->n_records == 1 ? "" : "s");
    if (r->open_ranges > 0)
        n += snprintf(said + n, (size_t)(SAID_MOST - n), "; %s open range%s", term_count(open, r->open_ranges),
                      r->open_ranges == 1 ? "" : "s");
    if (r->n_damaged > 0)
        snprintf(said + n, (size_t)(SAID_MOST - n), "; damaged in %s place%s, whose records are lost",
                 term_count(damaged, r->n_damaged), r->n_damaged == 1 ? "" : "s");
}

void recover_first(const struct arguments *a, const char *path, FILE *err)
{
    struct recovered r;
    struct error e = { 0 };
    char said[SAID_MOST];
    const enum recovery how = collection_recover(path, &r, &e);
    if (how == RECOVERY_FAILED || how == RECOVERY_LOST) {
        complain_to(err, "%s; the other files are read", e.text);
    } else if (how != RECOVERY_NOTHING && !a->quiet) {
        say(said, how, &r);
        complain_to(err, "note: %s: %s%s", path, said,
                    how == RECOVERY_RUNNING ? "; its files are read as they are now" : "");
    }
}

/* ---- the command ---- */

struct recoveries {
    const struct arguments *a;
    struct tally tally;
    json_t *json;
    size_t n; /* directories with something to do */
};

static void add_json(struct recoveries *all, json_t *one)
{
    if (json_array_append_new(all->json, one) != 0) {
        json_decref(all->json);
        all->json = NULL;
    }
}

/* The number of bytes to read; 0: unknown. */
static uint64_t rings_bytes(const char *path)
{
    char file[PATH_MAX];
    struct stat st;
    const int n = snprintf(file, sizeof file, "%s/" RINGS_NAME, path);
    return n > 0 && (size_t)n < sizeof file && lstat(file, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static enum recovery recover_one(struct recoveries *all, const char *path, bool is_named)
{
    static const char *const word[] = { [RECOVERY_NOTHING] = "nothing",
                                        [RECOVERY_DONE] = "recovered",
                                        [RECOVERY_RUNNING] = "running",
                                        [RECOVERY_FAILED] = "failed",
                                        [RECOVERY_LOST] = "lost" };
    struct recovered r;
    struct error e = { 0 };
    char said[SAID_MOST];
    struct progress progress;
    progress_begin(&progress, stderr, !all->a->quiet);
    const uint64_t bytes = rings_bytes(path);
    progress_stage(&progress, "recovering", 0, bytes > 0, bytes);
    const enum recovery how = collection_recover(path, &r, &e);
    progress_end(&progress);
    if (how == RECOVERY_NOTHING && !is_named)
        return how;
    all->n += how != RECOVERY_NOTHING;
    all->tally.n_done += how == RECOVERY_NOTHING || (how == RECOVERY_DONE && r.n_damaged == 0);
    all->tally.n_lossy += how == RECOVERY_LOST || (how == RECOVERY_DONE && r.n_damaged > 0);
    all->tally.n_failed += how == RECOVERY_RUNNING || how == RECOVERY_FAILED;
    if (how == RECOVERY_FAILED || how == RECOVERY_LOST)
        complain("%s", e.text);
    else if (how == RECOVERY_RUNNING)
        complain("%s: is still being recorded; stop the program first", path);
    if (all->a->json)
        add_json(all, json_pack("{s:o, s:s, s:I, s:I, s:I, s:I}", "path", text_json(path), "ended", word[how],
                                "records", (json_int_t)r.n_records, "bytes", (json_int_t)r.n_bytes, "damaged",
                                (json_int_t)r.n_damaged, "open_ranges", (json_int_t)r.open_ranges));
    else if ((how == RECOVERY_DONE || how == RECOVERY_NOTHING) && !all->a->quiet) {
        say(said, how, &r);
        const struct term t = { .to = stdout };
        term_text(&t, path, 0);
        printf(": %s\n", said);
    }
    return how;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* A directory of collections: each of them. */
static void recover_inside(struct recoveries *all, const char *path)
{
    struct dirent **entry;
    const int n = scandir(path, &entry, is_visible, by_name);
    for (int i = 0; i < n; i++) {
        const char *inside = arena_printf(all->a->mem, "%s/%s", path, entry[i]->d_name);
        struct stat st;
        if (inside && lstat(inside, &st) == 0 && S_ISDIR(st.st_mode))
            recover_one(all, inside, false);
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
}

static void recover_named(struct recoveries *all, const char *path)
{
    struct stat st;
    char wanted[TARGETS_WANTED];
    if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        complain("%s: %s; %s", path, stat(path, &st) != 0 ? strerror(errno) : "not a directory",
                 targets_wanted(wanted));
        all->tally.n_failed++;
        return;
    }
    const char *left = arena_printf(all->a->mem, "%s/%s", path, RINGS_NAME),
               *facts = arena_printf(all->a->mem, "%s/ascope.json", path);
    const size_t n_before = all->n;
    if (left && facts && lstat(left, &st) != 0 && lstat(facts, &st) != 0)
        recover_inside(all, path);
    if (all->n == n_before)
        recover_one(all, path, true);
}

int run_recover(struct arguments *a)
{
    struct recoveries all = { .a = a, .json = a->json ? json_array() : NULL };
    if (a->n_words == 0 && !a->dir) {
        char wanted[TARGETS_WANTED];
        complain("missing directory; %s", targets_wanted(wanted));
        return exit_code(a->face, STATUS_USAGE);
    }
    if (a->dir)
        recover_named(&all, a->dir);
    for (size_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        if (path)
            recover_named(&all, path);
        else
            all.tally.n_failed++;
    }
    enum exit_status status = tally_status(&all.tally);
    if (a->json)
        status = json_report(a, "collections", all.json, status);
    return exit_code(a->face, status);
}
