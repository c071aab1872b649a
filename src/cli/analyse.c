#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/pool.h"
#include "base/progress.h"
#include "cli/collections.h"
#include "cli/command.h"
#include "cli/session_summary.h"
#include "cli/summary.h"
#include "cli/term.h"
#include "cli/work.h"
#include "export/session_write.h"
#include "load/prof.h"
#include "load/session.h"

enum { PROBLEMS_TOLD = 3 }; /* a full disk is the same trouble for forty files */

/* A directory to analyse: of PyTorch, or a PROF directory by itself. */
struct target {
    const char *path;
    bool is_session;
    enum outcome outcome;    /* of this one */
    char *told, *complaints; /* for stdout and stderr, kept until its turn comes */
    json_t *json;
    bool is_ended;
};

struct targets {
    LIST(struct target) list;
    size_t n_refused;
    struct arena *mem;
};

static bool add_target(struct targets *t, const char *path, bool is_session)
{
    struct target *slot = list_add(&t->list, t->mem);
    const char *copy = arena_text(t->mem, path, strlen(path));
    if (!slot || !copy)
        return false;
    *slot = (struct target){ .path = copy, .is_session = is_session };
    return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* Sessions in a directory, by name. */
static bool find_inside(struct targets *t, const char *path, struct error *e)
{
    struct dirent **entry;
    const int n = scandir(path, &entry, is_visible, by_name);
    bool done = n >= 0 || error_set(e, FAULT_IO, "%s: cannot be read: %s", path, read_trouble(errno));
    for (int i = 0; i < n; i++) {
        const char *inside = arena_printf(t->mem, "%s/%s", path, entry[i]->d_name);
        struct stat st;
        if (inside && lstat(inside, &st) == 0 && S_ISDIR(st.st_mode) && session_is_one(inside))
            done = add_target(t, inside, true) && done;
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    return done;
}

/* The directory itself, or what lies in it: sessions, and else PROF directories. */
static enum outcome find_targets(struct targets *t, const char *given)
{
    struct stat st;
    struct error e = { 0 };
    struct prof_dirs prof = { 0 };
    const size_t n_before = t->list.n;
    if (stat(given, &st) != 0 || !S_ISDIR(st.st_mode)) {
        complain("%s: %s; give a *_ascend_pt or PROF_XXX directory, or one that holds some", given,
                 stat(given, &st) != 0 ? strerror(errno) : "is no directory");
        return OUTCOME_PATH;
    }
    char *path = realpath(given, NULL); /* the name of a session is the last part of its path: "." must have one */
    if (!path)
        error_set(&e, errno == ENOMEM ? FAULT_LIMIT : FAULT_IO, "%s: %s", given, read_trouble(errno));
    else if (session_is_one(path))
        add_target(t, path, true);
    else if (find_inside(t, path, &e) && t->list.n == n_before && prof_find(path, &prof, &e))
        for (size_t i = 0; i < prof.n; i++)
            add_target(t, prof.path[i], false);
    if (t->list.n == n_before && e.fault == FAULT_NONE)
        error_set(&e, FAULT_LIMIT, "%s: no memory", given);
    if (e.fault != FAULT_NONE)
        complain("%s", e.text);
    prof_dirs_free(&prof);
    free(path);
    return e.fault == FAULT_NONE ? OUTCOME_DONE : OUTCOME_NOTHING;
}

struct analysis {
    const struct arguments *a;
    struct session_wishes wishes;
    struct request request; /* of PROF directories */
    struct targets targets;
    struct progress progress;
    pthread_mutex_t lock; /* of what follows, and of stdout and stderr */
    size_t n_told, n_ended;
    struct tally tally;
};

/* What one directory says, while others say theirs. */
struct voice {
    FILE *out, *err;
    char *out_text, *err_text;
    size_t out_len, err_len;
};

static bool voice_open(struct voice *v)
{
    v->out = open_memstream(&v->out_text, &v->out_len);
    v->err = v->out ? open_memstream(&v->err_text, &v->err_len) : NULL;
    return v->err != NULL;
}

static void voice_close(struct voice *v)
{
    if (v->out)
        fclose(v->out);
    if (v->err)
        fclose(v->err);
}

static void put_problems(FILE *err, const struct account *a)
{
    const size_t n = a->problems.n, n_told = n > PROBLEMS_TOLD + 1 ? PROBLEMS_TOLD : n;
    for (size_t i = 0; i < n_told; i++)
        fprintf(err, "%s: %s\n", complain_name(),
                a->problems.at[i] ? a->problems.at[i] : "no memory to say what went wrong");
    if (n - n_told + a->n_untold > 0)
        fprintf(err, "%s: and %zu more problems; --json lists them\n", complain_name(), n - n_told + a->n_untold);
}

static enum outcome outcome_of(const struct account *a, const struct losses *lost)
{
    return a->problems.n + a->n_untold > 0 || losses_damage(lost) > 0 ? OUTCOME_LOSSES : OUTCOME_DONE;
}

static void analyse_session(struct analysis *n, struct target *t, const struct term *term, FILE *err)
{
    struct session_result r = { 0 };
    struct error e = { 0 };
    if (session_export(t->path, &n->wishes, &r, &e)) {
        t->outcome = outcome_of(&r.account, &r.session.lost);
        put_problems(err, &r.account);
        if (n->a->json)
            t->json = session_summary_json(&r);
        else if (!n->a->quiet)
            session_summary_print(term, n->a, &r);
    } else {
        t->outcome = OUTCOME_NOTHING;
        fprintf(err, "%s: %s\n", complain_name(), e.text);
        if (n->a->json)
            t->json = json_pack("{s:o, s:o}", "path", text_json(t->path), "error", text_json(e.text));
    }
    session_result_free(&r);
}

static void analyse_prof(struct analysis *n, struct target *t, const struct term *term, FILE *err)
{
    struct result r = { 0 };
    struct error e = { 0 };
    if (collection_export(t->path, &n->request, &r, &e)) {
        t->outcome = outcome_of(&r.account, &r.profile.lost);
        put_problems(err, &r.account);
        if (n->a->json)
            t->json = summary_json(&r);
        else
            summary_print(term, n->a, &r);
    } else {
        t->outcome = OUTCOME_NOTHING;
        fprintf(err, "%s: %s\n", complain_name(), e.text);
        if (n->a->json)
            t->json = json_pack("{s:o, s:o}", "path", text_json(t->path), "error", text_json(e.text));
    }
    result_free(&r);
}

/* In the order of the list, whoever ended first: each directory waits for those before it. */
static void tell_in_order(struct analysis *n)
{
    for (; n->n_told < n->targets.list.n && n->targets.list.at[n->n_told].is_ended; n->n_told++) {
        struct target *t = &n->targets.list.at[n->n_told];
        if (t->complaints)
            fputs(t->complaints, stderr);
        if (t->told && *t->told) {
            if (n->n_told > 0)
                putchar('\n');
            fputs(t->told, stdout);
            fflush(stdout);
        }
        free(t->told);
        free(t->complaints);
        t->told = t->complaints = NULL;
        n->tally.n_done += t->outcome == OUTCOME_DONE;
        n->tally.n_lossy += t->outcome == OUTCOME_LOSSES;
        n->tally.n_failed += t->outcome == OUTCOME_NOTHING;
    }
}

static void run_one(void *context, size_t i)
{
    struct analysis *n = context;
    struct target *t = &n->targets.list.at[i];
    struct voice v = { 0 };
    struct term term;
    term_init(&term, stdout);
    t->outcome = OUTCOME_NOTHING;
    if (voice_open(&v)) {
        term.to = v.out;
        (t->is_session ? analyse_session : analyse_prof)(n, t, &term, v.err);
    }
    voice_close(&v);
    pthread_mutex_lock(&n->lock);
    t->told = v.out_text;
    t->complaints = v.err_text;
    t->is_ended = true;
    n->n_ended++;
    if (n->targets.list.n > 1) {
        char what[48];
        snprintf(what, sizeof what, "%zu of %zu", n->n_ended, n->targets.list.n);
        progress_show(&n->progress, what, (double)n->n_ended / (double)n->targets.list.n);
    }
    tell_in_order(n);
    pthread_mutex_unlock(&n->lock);
}

/* With several directories a thread for each of some; with one, threads for its parts. */
static void run_all(struct analysis *n)
{
    const unsigned n_threads = arguments_threads(n->a);
    const size_t n_targets = n->targets.list.n;
    const uint64_t most = n->a->max_processes > 0 ? n->a->max_processes : n_threads;
    const unsigned at_once = (unsigned)(most < n_targets ? most : n_targets);
    n->wishes.n_threads = n->request.n_threads = at_once > 0 && n_threads > at_once ? n_threads / at_once : 1;
    if (n_targets == 1) {
        n->wishes.n_threads = n->request.n_threads = n_threads;
        n->wishes.progress = n->request.progress = progress_show;
        n->wishes.progress_context = n->request.progress_context = &n->progress;
    }
    pthread_mutex_init(&n->lock, NULL);
    progress_begin(&n->progress, stderr, !n->a->quiet);
    pool_run(n_targets, at_once, run_one, n);
    progress_end(&n->progress);
    pthread_mutex_destroy(&n->lock);
}

/* "text", "db" or both with a comma between. */
static bool export_types(const struct arguments *a, struct session_wishes *w)
{
    const char *p = a->export_type;
    while (p && *p) {
        const size_t len = strcspn(p, ",");
        if (len == 4 && strncmp(p, "text", 4) == 0)
            w->text = true;
        else if (len == 2 && strncmp(p, "db", 2) == 0)
            w->db = true;
        else
            return false;
        p += len + (p[len] == ',');
    }
    return !a->export_type || w->text || w->db;
}

static json_t *all_json(struct analysis *n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n->targets.list.n; i++)
        json_array_append_new(list, n->targets.list.at[i].json);
    return list;
}

int run_analyse(struct arguments *a)
{
    struct analysis n = { .a = a, .targets.mem = a->mem };
    n.wishes =
        (struct session_wishes){ .simplifies = arguments_have(a, OPT_SIMPLIFY) ? (a->simplify ? CHOICE_ON : CHOICE_OFF)
                                                                               : AS_RECORDED,
                                 .dialect = a->dialect == 1 ? DIALECT_CURRENT : DIALECT_SEED,
                                 .is_pretty = a->pretty,
                                 .from_start = a->time_base == 1,
                                 .out_dir = a->out };
    if (!export_types(a, &n.wishes)) {
        complain("--export-type %s: accepted are text, db, and text,db", a->export_type);
        return exit_code(a->face, OUTCOME_PARAMETER);
    }
    const unsigned kinds = (n.wishes.text ? WANT_TIMELINE | WANT_SUMMARY : 0) | (n.wishes.db ? WANT_DB : 0);
    n.request = (struct request){ .want = kinds ? kinds : WANT_ALL,
                                  .dialect = n.wishes.dialect,
                                  .from_start = n.wishes.from_start,
                                  .out_dir = a->out };
    enum outcome last = OUTCOME_USAGE;
    if (a->n_words == 0 && !a->dir)
        complain("which directory? give a *_ascend_pt directory, or one that holds some");
    if (a->dir && (last = find_targets(&n.targets, a->dir)) != OUTCOME_DONE)
        n.tally.n_failed++;
    for (size_t i = 0; i < a->n_words; i++) {
        const char *path = path_expand(a, "DIR", a->word[i]);
        const enum outcome here = path ? find_targets(&n.targets, path) : OUTCOME_PATH;
        if (here != OUTCOME_DONE) {
            n.tally.n_failed++;
            last = here;
        }
    }
    if (n.targets.list.n == 0)
        return exit_code(a->face, last);
    work_memory(a, n.targets.list.at[0].path);
    run_all(&n);
    memory_unwatch();
    enum outcome outcome = tally_outcome(&n.tally);
    if (a->json)
        outcome = json_report(a, "directories", all_json(&n), outcome);
    return exit_code(a->face, outcome);
}
