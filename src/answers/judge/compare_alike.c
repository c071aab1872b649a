/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/judge/compare_alike.h"

#include "base/process/robust.h"

/* A class and size, and how many usual iterations there are of it in the run that has fewest, and in all. */
struct alike {
    enum iteration_class class_of;
    double size;
    size_t fewest, n;
};

static bool alike_is(const struct alike *x, const struct run_step *s)
{
    return s->iteration.class_of == x->class_of && (x->size == 0 || iteration_size(&s->iteration) == x->size);
}

static void alike_count(struct alike *x, const struct comparison *c)
{
    x->fewest = SIZE_MAX;
    x->n = 0;
    for (size_t r = 0; r < c->n_a + c->n_b; r++) {
        const struct measured_rank *rank = c->pair[0].of_run[r];
        size_t n = 0;
        for (size_t i = 0; i < rank->n_steps; i++)
            n += !rank->step[i].is_slow && alike_is(x, &rank->step[i]);
        x->fewest = n < x->fewest ? n : x->fewest;
        x->n += n;
    }
}

static bool alike_is_more(const struct alike *x, const struct alike *than)
{
    return x->fewest != than->fewest ? x->fewest > than->fewest : x->n > than->n;
}

/* The class and size that most iterations of all runs have, or the class if there are few of any size. NULL: no
 * memory. */
static struct alike *alike_choose(const struct comparison *c, struct arena *mem)
{
    enum { FEWEST = 3, MOST_TRIED = 1000 };
    const struct measured_rank *first = c->pair[0].a;
    const uint32_t *order = run_steps_order(first->step, first->n_steps, mem);
    struct alike *best = order ? arena_take(mem, 2, sizeof *best) : NULL; /* by class, by class and size */
    size_t tried = 0;
    for (int k = 0; best && k < ITERATION_CLASSES; k++) {
        struct alike now = { .class_of = (enum iteration_class)k };
        alike_count(&now, c);
        if (k != ITERATION_OTHER && alike_is_more(&now, &best[0]))
            best[0] = now;
    }
    for (size_t i = 0; best && i < first->n_steps && tried < MOST_TRIED; i++) {
        const struct iteration *x = &first->step[order[i]].iteration;
        struct alike now = { .class_of = x->class_of, .size = iteration_size(x) };
        if (x->class_of == ITERATION_OTHER || now.size == 0 || (i > 0 && alike_is(&now, &first->step[order[i - 1]])))
            continue;
        tried++;
        alike_count(&now, c);
        if (alike_is_more(&now, &best[1]))
            best[1] = now;
    }
    return best ? &best[best[1].fewest >= FEWEST] : NULL;
}

static void class_add(struct compared_class *x, const struct comparison *c, enum iteration_class class_of, double *v)
{
    size_t n[2] = { 0 };
    double time_ns[2] = { 0 };
    uint64_t tokens[2] = { 0 };
    for (int is_b = 0; is_b < 2; is_b++) {
        for (size_t r = is_b ? c->n_a : 0; r < (is_b ? c->n_a + c->n_b : c->n_a); r++) {
            const struct measured_rank *rank = c->pair[0].of_run[r];
            for (size_t i = 0; i < rank->n_steps; i++) {
                const struct run_step *s = &rank->step[i];
                if (s->iteration.class_of != class_of)
                    continue;
                v[n[is_b]++] = (double)s->part_ns[RUN_STEP];
                time_ns[is_b] += s->iteration.tokens > 0 ? (double)s->part_ns[RUN_STEP] : 0;
                tokens[is_b] += s->iteration.tokens;
            }
        }
        x->n[is_b] = n[is_b];
        x->median_ns[is_b] = middle_of(v, n[is_b]).median;
        x->tokens_per_s[is_b] = time_ns[is_b] > 0 ? (double)tokens[is_b] * 1e9 / time_ns[is_b] : 0;
    }
}

bool compare_alike(struct comparison *c, struct measured_run *run, struct arena *mem)
{
    size_t n_steps = 0;
    for (size_t r = 0; r < c->n_a + c->n_b; r++)
        n_steps += c->pair[0].of_run[r]->n_steps;
    double *v = arena_take(mem, n_steps, sizeof *v);
    if (!v)
        return false;
    const struct alike *alike = alike_choose(c, mem);
    if (!alike || alike->fewest == 0)
        return alike != NULL;
    c->alike = alike->class_of;
    c->alike_size = alike->size;
    c->n_alike = alike->fewest;
    for (int k = 0; k < ITERATION_CLASSES; k++)
        class_add(&c->of_class[k], c, (enum iteration_class)k, v);
    for (size_t r = 0; r < c->n_a + c->n_b; r++)
        for (size_t i = 0; i < run[r].n; i++)
            measured_rank_restrict(&run[r].rank[i], alike->class_of, alike->size);
    return true;
}
