/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/inside.h"
#include "base/process/progress.h"
#include "base/text/json_memory.h"
#include "cli/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/text/framework_names.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "cli/options/work.h"
#include "collect/ring/rings_file.h"
#include "collect/session/recover.h"
#include "open/inputs.h"
#include "report/term.h"

enum { TEXT_MOST = 600 };

/* Describes the result for one directory, without its path. */
static void recover_describe(char text[TEXT_MOST], enum recovery how, const struct recovered *r)
{
    char records[READABLE_MOST], damaged[READABLE_MOST], open[READABLE_MOST];
    const char *only[] = { [RECOVERY_NOTHING] = "nothing to recover", [RECOVERY_RUNNING] = "is still being recorded" };
    if (how != RECOVERY_DONE) {
        snprintf(text, TEXT_MOST, "%s", only[how]);
        return;
    }
    int n =
        r->window_ns > 0
            ? snprintf(text, TEXT_MOST, "recovered the last %.3f s of the flight recorder: %s record%s",
                       (double)r->window_ns / 1e9, readable_count(records, r->n_records), r->n_records == 1 ? "" : "s")
            : snprintf(text, TEXT_MOST, "recovered %s record%s that the program had no time to write",
                       readable_count(records, r->n_records), r->n_records == 1 ? "" : "s");
    if (r->open_ranges > 0)
        n += snprintf(text + n, (size_t)(TEXT_MOST - n), "; %s open range%s", readable_count(open, r->open_ranges),
                      r->open_ranges == 1 ? "" : "s");
    if (r->n_damaged > 0)
        snprintf(text + n, (size_t)(TEXT_MOST - n), "; damaged in %s place%s, whose records are lost",
                 readable_count(damaged, r->n_damaged), r->n_damaged == 1 ? "" : "s");
}

void recover_first(const struct arguments *a, const char *path, FILE *err)
{
    struct recovered r;
    struct error e = { 0 };
    char text[TEXT_MOST];
    const enum recovery how = collection_recover(path, &r, &e);
    if (how == RECOVERY_FAILED || how == RECOVERY_LOST) {
        complain_to(err, "%s; the other files are read", e.text);
    } else if (how != RECOVERY_NOTHING && !a->quiet) {
        recover_describe(text, how, &r);
        complain_to(err, "note: %s: %s%s", path, text,
                    how == RECOVERY_RUNNING ? "; its files are read as they are now" : "");
    }
}

/* ---- the command ---- */

struct recoveries {
    const struct arguments *a;
    struct results_tally tally;
    json_t *json;
    size_t n; /* directories with something to recover */
};

/* The number of bytes to read; 0: unknown. */
static uint64_t rings_bytes(const char *path)
{
    char file[PATH_MAX];
    struct stat st;
    const int n = snprintf(file, sizeof file, "%s/" RINGS_NAME, path);
    return n > 0 && (size_t)n < sizeof file && inside_stat(file, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
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
    char text[TEXT_MOST];
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
        json_list_add(&all->json,
                      json_pack("{s:o, s:s, s:I, s:I, s:I, s:I}", "path", text_json(path), "ended", word[how],
                                "records", (json_int_t)r.n_records, "bytes", (json_int_t)r.n_bytes, "damaged",
                                (json_int_t)r.n_damaged, "open_ranges", (json_int_t)r.open_ranges));
    else if ((how == RECOVERY_DONE || how == RECOVERY_NOTHING) && !all->a->quiet) {
        recover_describe(text, how, &r);
        const struct term t = { .to = stdout };
        term_text(&t, path, 0);
        printf(": %s\n", text);
    }
    return how;
}

/* Whether a directory can be searched. False: it was reported and counted as failed. */
static bool can_look_into(struct recoveries *all, const char *path)
{
    const int dir = inside_open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int why = dir < 0 || faccessat(dir, ".", R_OK | X_OK, AT_EACCESS) != 0 ? errno : 0;
    if (dir >= 0)
        close(dir);
    if (!why)
        return true;
    complain("%s: cannot be read: %s", path, read_trouble(why));
    all->tally.n_failed++;
    return false;
}

/* Unreadable directories with other names are ignored. */
static bool is_collection_name(const char *name)
{
    return framework_is_in_name(name) || strncmp(name, "PROF_", 5) == 0;
}

/* Recovers all collections in a directory. */
static void recover_inside(struct recoveries *all, const char *path)
{
    struct dir_names entry;
    int unused;
    dir_names_read(&entry, path, name_is_visible, &unused);
    for (size_t i = 0; i < entry.n; i++) {
        const char *inside = arena_printf(all->a->mem, "%s/%s", path, entry.at[i]);
        struct stat st;
        if (inside && inside_stat(inside, &st) == 0 && S_ISDIR(st.st_mode) &&
            (!is_collection_name(entry.at[i]) || can_look_into(all, inside)))
            recover_one(all, inside, false);
    }
    dir_names_free(&entry);
}

static void recover_named(struct recoveries *all, const char *path)
{
    struct stat st;
    char wanted[INPUTS_WANTED];
    const int why = stat(path, &st) == 0 ? 0 : errno;
    if (why || !S_ISDIR(st.st_mode)) {
        complain("%s: %s; %s", path, why ? strerror(why) : "not a directory", inputs_wanted(wanted));
        all->tally.n_failed++;
        return;
    }
    if (!inside_enter(path) || !can_look_into(all, path))
        return;
    const char *left = arena_printf(all->a->mem, "%s/%s", path, RINGS_NAME),
               *facts = arena_printf(all->a->mem, "%s/ascope.json", path);
    const size_t n_before = all->n + all->tally.n_failed;
    if (left && facts && inside_stat(left, &st) != 0 && inside_stat(facts, &st) != 0)
        recover_inside(all, path);
    if (all->n + all->tally.n_failed == n_before)
        recover_one(all, path, true);
}

int run_recover(struct arguments *a)
{
    struct recoveries all = { .a = a, .json = a->json ? json_array() : NULL };
    if (a->n_words == 0 && !a->dir) {
        char wanted[INPUTS_WANTED];
        complain("missing directory; %s", inputs_wanted(wanted));
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
