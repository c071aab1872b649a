/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/modes/mode_parts.h"

#include <stdarg.h>
#include <stdio.h>

enum { WARM_UP, BOTH_FORWARD, SPLIT_BACKWARD, OVERLAPPED, BACKWARD_OVERLAPPED, BOTH_BACKWARD, COOL_DOWN };

struct plan {
    struct dualpipe *out;
    struct arena *mem;
    int phase;
    bool has_logits, works;
};

__attribute__((format(printf, 2, 3))) static void put(struct plan *p, const char *fmt, ...)
{
    struct dualpipe_pass *const pass = p->works ? list_add(&p->out->passes, p->mem) : NULL;
    p->works = pass != NULL;
    if (!pass)
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(pass->name, sizeof pass->name, fmt, args);
    va_end(args);
    pass->phase = p->phase;
}

/* The first stage computes the loss before a backward pass of the second half. */
static void put_logits(struct plan *p)
{
    if (p->has_logits)
        put(p, "logits");
}

bool dualpipe_stage(struct dualpipe *out, int64_t n_stages, int64_t n_batches, int64_t stage, struct arena *mem)
{
    struct plan p = { out, mem, WARM_UP, stage == 0, true };
    /* The next micro-batch of each half: those of the second half are numbered behind the first. */
    int64_t forward[2] = { 0, n_batches }, backward[2] = { 0, n_batches };
#define NEXT(of) ((long long)(of)++)
    for (int64_t i = 0; i < 2 * (n_stages - 1 - stage); i++)
        put(&p, "%lld", NEXT(forward[0]));
    p.phase = BOTH_FORWARD;
    for (int64_t i = 0; i < stage + 1; i++) {
        put(&p, "%lld", NEXT(forward[0]));
        put(&p, "%lld", NEXT(forward[1]));
    }
    p.phase = SPLIT_BACKWARD;
    for (int64_t i = 0; i < n_stages - stage - 1; i++) {
        put_logits(&p);
        put(&p, "%lldb", (long long)backward[1]);
        put(&p, "%lldw", NEXT(backward[1]));
        put(&p, "%lld", NEXT(forward[1]));
    }
    p.phase = OVERLAPPED;
    for (int64_t i = 0; i < n_batches - 2 * n_stages + stage + 1; i++) {
        put_logits(&p);
        if (stage == n_stages - 1 && i == 0) {
            put(&p, "%lldF", NEXT(forward[0]));
            put(&p, "%lldB", NEXT(backward[1]));
        } else {
            put(&p, "%lldF+%lldB", (long long)forward[0], (long long)backward[1]);
            forward[0]++, backward[1]++;
        }
        put(&p, "%lldF+%lldB", (long long)forward[1], (long long)backward[0]);
        forward[1]++, backward[0]++;
    }
    p.phase = BACKWARD_OVERLAPPED;
    for (int64_t i = 0; i < n_stages - stage - 1; i++) {
        put_logits(&p);
        put(&p, "%lldB", NEXT(backward[1]));
        put(&p, "%lldF+%lldB", (long long)forward[1], (long long)backward[0]);
        forward[1]++, backward[0]++;
    }
    p.phase = BOTH_BACKWARD;
    for (int64_t i = 0; i < stage + 1; i++) {
        if (i % 2 == 0)
            put_logits(&p);
        put(&p, "%lldB", NEXT(backward[i % 2 == 0]));
    }
    p.phase = COOL_DOWN;
    for (bool second = stage % 2; p.works && (backward[0] < n_batches || backward[1] < 2 * n_batches); second = !second)
        if (backward[second] < n_batches * (second ? 2 : 1))
            put(&p, "%lldB", NEXT(backward[second]));
#undef NEXT
    return p.works;
}
