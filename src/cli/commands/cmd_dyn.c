/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/inside.h"
#include "cli/dyn/dyn_verb.h"
#include "cli/options/command.h"
#include "cli/options/summary.h"
#include "report/term.h"

/* As ascope run has them: --gc-detect-threshold 1 is the key --gc_detect_threshold=1. */
static char *key_word(struct arguments *a, char *const *given, size_t *n)
{
    const bool is_apart = !strchr(given[0], '=') && given[1] && given[1][0] != '-';
    char *const word = arena_printf(a->mem, "%s%s%s", given[0], is_apart ? "=" : "", is_apart ? given[1] : "");
    for (char *at = word ? word + strspn(word, "-") : NULL; at && (at = strpbrk(at, "-=")) && *at == '-';)
        *at = '_';
    *n = is_apart ? 2 : 1;
    return word;
}

size_t dyn_other_option(struct arguments *a, char *const *given)
{
    size_t n;
    const char *const word = key_word(a, given, &n);
    if (!word || !dyn_config_has_key(word))
        return 0;
    const char **const at = list_add(&a->dyn.more, a->mem);
    if (!at)
        return 0;
    *at = word;
    return n;
}

/* ---- status ---- */

static bool status(struct dyn *d, struct error *e)
{
    if (!listeners_find_some(&d->who, d->dir, d->a->mem, e))
        return false;
    if (!dyn_prints(d))
        return true;
    const struct term *const t = &d->term;
    fprintf(t->to, "%s", term_ink(t, INK_BOLD));
    term_text(t, d->dir, 0);
    fprintf(t->to, "%s: %zu %s, changes to the file are noticed within %.1f s\n", term_ink(t, INK_END), d->who.list.n,
            d->who.list.n == 1 ? "process listens" : "processes listen", d->who.poll_ms / 1e3);
    listeners_print(t, &d->who);
    return true;
}

/* ---- start ---- */

/* Reads "0,8-11" as a JSON list for the file. NULL: see e. */
static json_t *ranks_json(struct dyn *d, struct error *e)
{
    json_t *const list = json_array();
    const char *at = d->a->dyn.ranks;
    do {
        char *end;
        const long first = strtol(at, &end, 10);
        long last = first;
        const bool is_number = end > at && *at >= '0' && *at <= '9';
        if (is_number && *end == '-' && end[1] >= '0' && end[1] <= '9')
            last = strtol(end + 1, &end, 10);
        if (!is_number || first > last || last > INT32_MAX || last - first > 1 << 20 || (*end && *end != ',')) {
            json_decref(list);
            d->refused = STATUS_PARAMETER;
            error_set(e, FAULT_ASKED, "--ranks %s: accepted are ranks and ranges separated by commas: 0,8-11",
                      *d->a->dyn.ranks ? d->a->dyn.ranks : "\"\"");
            return NULL;
        }
        for (long rank = first; rank <= last; rank++)
            json_array_append_new(list, json_integer(rank));
        at = *end ? end + 1 : end;
    } while (*at);
    return list;
}

static bool is_asked(const json_t *ranks, int32_t rank)
{
    for (size_t i = 0; i < json_array_size(ranks); i++)
        if (json_integer_value(json_array_get(ranks, i)) == rank)
            return true;
    return !ranks;
}

/* Checks that every requested rank listens. */
static bool ranks_listen(const struct dyn *d, const json_t *ranks, struct error *e)
{
    for (size_t i = 0; i < json_array_size(ranks); i++) {
        const json_int_t rank = json_integer_value(json_array_get(ranks, i));
        bool is_there = false;
        for (size_t k = 0; k < d->who.list.n && !is_there; k++)
            is_there = d->who.list.at[k].is.rank == rank;
        if (!is_there)
            return error_set(e, FAULT_ASKED, "--ranks %s: rank %lld does not listen to %s; ranks that do: %s",
                             d->a->dyn.ranks, (long long)rank, d->dir, listeners_ranks(&d->who, d->a->mem));
    }
    return true;
}

/* Checks that no requested rank has passed the start step: the job would log that and record nothing. */
static bool step_is_ahead(const struct dyn *d, const json_t *ranks, struct error *e)
{
    const int64_t wanted = (int64_t)d->a->dyn.start_step;
    for (size_t i = 0; wanted > 0 && i < d->who.list.n; i++) {
        const struct listener *const l = &d->who.list.at[i];
        if (is_asked(ranks, l->is.rank) && l->is.step >= wanted)
            return error_set(
                e, FAULT_ASKED,
                "--start-step %lld: %s is at step %lld already; give a later one, or none for the next step",
                (long long)wanted, listener_name(l), (long long)l->is.step);
    }
    return true;
}

/* The job would resolve a relative prof_dir against its own working directory. */
static const char *absolute(const struct dyn *d, const char *path)
{
    char here[PATH_MAX];
    return !path || *path == '/' || !getcwd(here, sizeof here) ? path : arena_printf(d->a->mem, "%s/%s", here, path);
}

/* Sets the keys that the command line requests; all others keep their values. */
static bool apply(struct dyn *d, struct dyn_config *c, json_t *ranks, struct error *e)
{
    const struct dyn_words *const w = &d->a->dyn;
    const char *const out = absolute(d, w->out);
    const struct {
        enum option_id id;
        const char *key;
        json_t *value;
    } row[] = {
        { OPT_DYN_STEPS, "active", json_integer((json_int_t)w->steps) },
        { OPT_DYN_WARMUP, "warmup", json_integer((json_int_t)w->warmup) },
        { OPT_DYN_LEVEL, "experimental_config.profiler_level", w->level ? json_string(w->level) : json_null() },
        { OPT_DYN_STACK, "with_stack", json_true() },
        { OPT_DYN_SHAPES, "record_shapes", json_true() },
        { OPT_DYN_OUT, "prof_dir", out ? json_string(out) : json_null() },
        { OPT_DYN_ANALYSE, "analyse", json_true() },
        { OPT_DYN_ANALYSE, "async_mode", json_true() }, /* so that the job does not wait for the analysis */
        { OPT_DYN_RANKS, "rank_list", json_incref(ranks) },
    };
    bool done = true;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (arguments_have(d->a, row[i].id))
            done = dyn_config_set(c, row[i].key, row[i].value) && done;
        else
            json_decref(row[i].value);
    json_object_del(c->root, "stop");
    done = dyn_config_set(c, "is_rank", json_boolean(ranks != NULL)) && done;
    done = dyn_config_set(c, "start_step", json_integer(w->start_step > 0 ? (json_int_t)w->start_step : -1)) && done;
    if (!done)
        return error_no_memory(e, c->path);
    for (size_t i = 0; i < w->more.n; i++)
        if (!dyn_config_set_word(c, w->more.at[i], e)) {
            d->refused = STATUS_PARAMETER;
            return false;
        }
    return true;
}

static void put_request(const struct dyn *d, const struct dyn_config *c)
{
    const struct term *const t = &d->term;
    const json_int_t active = json_integer_value(json_object_get(c->root, "active")), n = active > 0 ? active : 1;
    const json_int_t warmup = json_integer_value(json_object_get(c->root, "warmup"));
    fprintf(t->to, "requested: %lld %s", (long long)n, n == 1 ? "step" : "steps");
    if (warmup > 0)
        fprintf(t->to, " after %lld of warm-up", (long long)warmup);
    if (d->a->dyn.start_step > 0)
        fprintf(t->to, ", from step %llu", (unsigned long long)d->a->dyn.start_step);
    const json_t *const ranks = json_object_get(c->root, "rank_list");
    if (!d->a->dyn.ranks)
        fputs(", of all ranks that listen\n", t->to);
    else if (json_array_size(ranks) == 1)
        fprintf(t->to, ", of rank %lld\n", (long long)json_integer_value(json_array_get(ranks, 0)));
    else
        fprintf(t->to, ", of ranks %s\n", d->a->dyn.ranks);
    fputs("written: ", t->to);
    term_text(t, c->path, 0);
    fprintf(t->to, "; the job notices it within %.1f s\n", d->who.poll_ms / 1e3);
    fputs("results: ascope dyn ", t->to);
    term_text(t, d->dir, 0);
    fputs(" wait\n", t->to);
}

static bool dyn_start(struct dyn *d, struct error *e)
{
    struct dyn_config c = { 0 };
    json_t *ranks = NULL;
    bool done = listeners_find_some(&d->who, d->dir, d->a->mem, e) &&
                (!d->a->dyn.ranks || (ranks = ranks_json(d, e))) && ranks_listen(d, ranks, e) &&
                step_is_ahead(d, ranks, e) && dyn_config_read(&c, d->dir, d->a->mem, e) && apply(d, &c, ranks, e) &&
                dyn_config_write(&c, e);
    if (done && dyn_prints(d))
        put_request(d, &c);
    json_decref(ranks);
    dyn_config_end(&c);
    return done;
}

/* ---- stop ---- */

static bool dyn_stop(struct dyn *d, struct error *e)
{
    struct dyn_config c = { 0 };
    const bool done = listeners_find_some(&d->who, d->dir, d->a->mem, e) && dyn_config_read(&c, d->dir, d->a->mem, e) &&
                      ((dyn_config_set(&c, "start_step", json_integer(0)) && dyn_config_set(&c, "stop", json_true())) ||
                       error_no_memory(e, c.path)) &&
                      dyn_config_write(&c, e);
    size_t n_running = 0, n_waiting = 0;
    for (size_t i = 0; i < d->who.list.n; i++) {
        n_running += d->who.list.at[i].is.state == ASCOPE_DYNAMIC_RUNNING;
        n_waiting += d->who.list.at[i].is.state == ASCOPE_DYNAMIC_READY;
    }
    if (done && dyn_prints(d))
        fprintf(d->term.to, "requested: %zu %s, %zu %s dropped, within %.1f s\n", n_running,
                n_running == 1 ? "collection that is running ends" : "collections that are running end", n_waiting,
                n_waiting == 1 ? "that waits for its step is" : "that wait for their step are", d->who.poll_ms / 1e3);
    dyn_config_end(&c);
    return done;
}

/* ---- the command ---- */

/* The actions; the first one is the default. */
static const struct verb {
    const char *name;
    bool (*run)(struct dyn *d, struct error *e);
} verbs[] = {
    { "status", status }, { "start", dyn_start }, { "wait", dyn_wait }, { "stop", dyn_stop }, { "save", dyn_save },
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static const struct verb *verb_find(const char *word)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verbs[i].name, word) == 0)
            return &verbs[i];
    return NULL;
}

/* Reports a second word that is not an action, with a suggestion. */
static void complain_verb(const char *first, const char *second)
{
    const char *name[VERBS];
    for (size_t i = 0; i < VERBS; i++)
        name[i] = verbs[i].name;
    const char *const near = nearest_word(second, name, VERBS);
    if (verb_find(first))
        complain("dyn %s %s: the directory comes first; use ascope dyn %s %s", first, second, second, first);
    else if (near)
        complain("dyn %s: unknown action; did you mean %s? see ascope help dyn", second, near);
    else
        complain("dyn %s: unknown action; see ascope help dyn", second);
}

static bool is_directory(const char *path, struct error *e)
{
    struct stat st;
    const int why = stat(path, &st) == 0 ? 0 : errno;
    if (!why && S_ISDIR(st.st_mode))
        return true;
    return error_set(e, FAULT_IO, "%s: %s; give the directory that the job listens to", path,
                     !why || why == ENOTDIR ? "not a directory"
                     : why == ENOENT        ? "no such directory"
                                            : strerror(why));
}

int run_dyn(struct arguments *a)
{
    if (a->n_words < 1 || a->n_words > 2) {
        complain("dyn: expected a directory and one of status, start, wait, stop, save; see ascope help dyn");
        return exit_code(a->face, STATUS_USAGE);
    }
    struct dyn d = { .a = a, .done = STATUS_DONE, .refused = STATUS_NOTHING };
    const struct verb *const verb = verb_find(a->n_words > 1 ? a->word[1] : "status");
    if (!verb)
        complain_verb(a->word[0], a->word[1]);
    if (!verb || !(d.dir = path_expand(a, "dyn", a->word[0])))
        return exit_code(a->face, STATUS_USAGE);
    struct error e = { 0 };
    term_init(&d.term, stdout);
    inside_enter(d.dir); /* if that fails, the next line reports why */
    enum exit_status ends = !is_directory(d.dir, &e) ? STATUS_PATH : verb->run(&d, &e) ? d.done : d.refused;
    if (e.fault != FAULT_NONE)
        complain("%s", e.text);
    if (a->json)
        ends = json_report_more(a, "listeners", listeners_json(&d.who), d.more, ends);
    return exit_code(a->face, ends);
}
