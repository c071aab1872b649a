/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands/compared_runs.h"

#include "answers/run/run_chrome.h"
#include "answers/run/run_collection.h"
#include "report/term.h"

struct measured_rank *measured_rank_take(const struct recording *l, size_t i, struct names *names, struct arena *mem,
                                         struct error *e)
{
    struct measured_rank *out = arena_take(mem, 1, sizeof *out);
    const bool done =
        out && (l->profile ? run_of_collection(out, l->profile, recording_device(l, i), l->collection, names, mem, e)
                           : run_of_chrome(out, &l->of_file.trace, names, mem, e));
    return done ? out : NULL;
}

static void *compared_runs_look(const void *names, const struct recording *l, size_t i, struct arena *mem,
                                struct error *e)
{
    return measured_rank_take(l, i, *(struct names *const *)names, mem, e);
}

/* The words before and behind "--"; without it there are two. */
static bool sides_find(struct compared_runs *x, const struct arguments *a)
{
    x->n_b = a->has_dashes ? a->n_behind_dashes : 1;
    x->n_a = a->n_words > x->n_b ? a->n_words - x->n_b : 0;
    return x->n_a > 0 && x->n_b > 0 && (a->has_dashes || a->n_words == 2);
}

/* Collects the ranks of each run. A run without ranks is left out if its side has others. */
static bool runs_fill(struct compared_runs *x, struct arguments *a)
{
    const struct run *all = &x->given.run;
    const size_t n_words = a->n_words, n_given_a = x->n_a;
    struct measured_rank *rank = arena_take(a->mem, all->n, sizeof *rank);
    x->run = arena_take(a->mem, n_words, sizeof *x->run);
    if (!rank || !x->run) {
        complain_no_memory("the list of ranks");
        return false;
    }
    for (size_t i = 0; i < all->n; i++) {
        struct measured_run *run = &x->run[x->given.group[all->rank[i].input]];
        rank[i] = *(const struct measured_rank *)all->more[i];
        rank[i].path = all->rank[i].path;
        run->rank = run->rank ? run->rank : &rank[i];
        run->n++;
    }
    x->n_a = x->n_b = 0;
    for (size_t i = 0; i < n_words && (i < n_given_a || x->n_a > 0); i++) {
        const bool is_b = i >= n_given_a;
        struct measured_run *run = &x->run[i];
        run->name = a->word[i];
        if (run->n == 0) {
            complain("%s: no device was recorded, or nothing could be read: there is nothing to compare", run->name);
            x->status = STATUS_LOSSES;
            continue;
        }
        x->run[x->n_a + x->n_b] = *run;
        ++*(is_b ? &x->n_b : &x->n_a);
    }
    return x->n_a > 0 && x->n_b > 0;
}

bool compared_runs_read(struct compared_runs *x, struct arguments *a)
{
    *x = (struct compared_runs){ .status = STATUS_USAGE };
    if (!sides_find(x, a)) {
        complain("%s: expected two paths, A and B, or several runs on each side: A... -- B...; see ascope help %s",
                 a->command->name, a->command->name);
        return false;
    }
    x->names = names_new();
    if (!x->names) {
        complain_no_memory("the table of names");
        x->status = STATUS_NOTHING;
        return false;
    }
    x->status = given_runs(&x->given, a, compared_runs_look, &x->names);
    if (x->status == STATUS_NOTHING && x->given.run.n > 0)
        x->status = STATUS_LOSSES;
    if (!x->given.is_begun || !(x->status == STATUS_DONE || x->status == STATUS_LOSSES))
        return false;
    const bool done = runs_fill(x, a);
    x->status = done ? x->status : STATUS_NOTHING;
    return done;
}

void compared_runs_end(struct compared_runs *x)
{
    given_run_end(&x->given);
    names_free(x->names);
}

bool compared_runs_compare(struct compared_runs *x, struct arguments *a, struct comparison *c)
{
    struct error e = { 0 };
    if (!compare_runs(c, x->run, x->n_a, x->n_b, x->names, a->mem, &e)) {
        complain("%s", e.text);
        x->status = e.fault == FAULT_ASKED ? STATUS_PARAMETER : STATUS_NOTHING;
        return false;
    }
    if (c->n_alone_a + c->n_alone_b > 0) /* ranks without a counterpart were not compared */
        x->status = STATUS_LOSSES;
    return true;
}
