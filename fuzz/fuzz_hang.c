/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the dumps of a job's ranks, one for each piece: read, judged and reported as `ascope hang` does. What the
 * judge says must be of the ranks and waits that there are. */
#include "fuzz.h"
#include "answers/judge/hang.h"
#include "load/plain/plain_value.h"
#include "report/hang_report.h"

static int rank_order(const void *a, const void *b)
{
    const struct flight_rank *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void wish(bool is_so)
{
    if (!is_so)
        abort();
}

static void check(const struct hang *h, const struct flight_job *job)
{
    wish(h->verdict < HANG_KINDS);
    wish(h->n_waits > 0 ? h->verdict != HANG_NONE : h->verdict == HANG_NONE || h->verdict == HANG_NO_DUMP);
    wish(h->n_waits == 0 || h->first < h->n_waits);
    wish((h->verdict == HANG_CYCLE) == (h->n_cycle > 0));
    for (size_t i = 0; i < h->n_cycle; i++)
        wish(h->cycle[i] < h->n_waits);
    for (size_t i = 0; i < h->n_waits; i++)
        wish(h->wait[i].group < job->group.n);
}

static void report(const struct hang *h, const struct flight_job *job, struct arena *mem)
{
    static struct term none;
    static bool is_ready;
    const char *const sentence = hang_sentence(h, job, mem);
    if (!sentence)
        return;
    if (!is_ready)
        term_init(&none, fopen("/dev/null", "w"));
    is_ready = true;
    hang_print(&none, h, job, sentence, mem);
    json_decref(hang_json(h, job, sentence));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { RANKS = 16 };
    struct flight_job job = { 0 };
    struct arena *mem = arena_new();
    struct piece p;
    for (unsigned i = 0; mem && i < RANKS && piece_next(&data, &size, &p); i++) {
        const char *const path = arena_printf(mem, "trace_%u", i);
        struct error e = { 0 };
        if (path && !flight_load(&job, p.data, p.size, path, mem, &e))
            wish(e.fault != FAULT_NONE);
    }
    struct hang h;
    if (job.rank.n > 0) {
        qsort(job.rank.at, job.rank.n, sizeof *job.rank.at, rank_order);
        if (hang_judge(&h, &job, mem)) {
            check(&h, &job);
            report(&h, &job, mem);
        }
    }
    arena_free(mem);
    return 0;
}
