/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/flow/kernels.h"
#include "analyse/framework/op_tree.h"
#include "analyse/framework/profiler_steps.h"

enum { MOST = 32, TEXT_MOST = 1024 };

/* A collection in one line. Times are in ns. */
struct small {
    struct arena *mem;
    struct names *names;
    struct framework f;
    struct kernels k;
    struct queued queued;
    struct op_tree tree;
};

/* "a:10-50@2" is an operator of thread 2 (1 without it). */
static void read_ops(struct small *s, const char *text)
{
    struct framework_ops *o = &s->f.ops;
    o->begin_ns = arena_take(s->mem, MOST, sizeof *o->begin_ns);
    o->end_ns = arena_take(s->mem, MOST, sizeof *o->end_ns);
    o->thread = arena_take(s->mem, MOST, sizeof *o->thread);
    o->name = arena_take(s->mem, MOST, sizeof *o->name);
    char copy[TEXT_MOST], *rest = copy, name[64];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, " "));) {
        long begin, end;
        unsigned thread = 1;
        if (sscanf(token, "%63[^:]:%ld-%ld@%u", name, &begin, &end, &thread) < 3)
            continue;
        o->begin_ns[o->n] = begin;
        o->end_ns[o->n] = end;
        o->thread[o->n] = thread;
        o->name[o->n++] = names_addz(s->names, name);
    }
}

/* "12-14=7@1" is the task of number 7 on its way from 12 to 14, by thread 1. */
static void read_spans(struct small *s, struct queue_spans *q, const char *text)
{
    q->begin_ns = arena_take(s->mem, MOST, sizeof *q->begin_ns);
    q->end_ns = arena_take(s->mem, MOST, sizeof *q->end_ns);
    q->id = arena_take(s->mem, MOST, sizeof *q->id);
    q->thread = arena_take(s->mem, MOST, sizeof *q->thread);
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, " "));) {
        long begin, end;
        unsigned id, thread = 1;
        if (sscanf(token, "%ld-%ld=%u@%u", &begin, &end, &id, &thread) < 3)
            continue;
        q->begin_ns[q->n] = begin;
        q->end_ns[q->n] = end;
        q->id[q->n] = id;
        q->thread[q->n++] = thread;
    }
}

/* "42:100-110" was launched at 42 and ran from 100 to 110. They are called by the time of their launch. */
static void read_kernels(struct small *s, const char *text)
{
    char copy[TEXT_MOST], *rest = copy;
    assert_true(kernels_take(&s->k, MOST, s->mem));
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, " "));) {
        long launch, begin, end;
        if (sscanf(token, "%ld:%ld-%ld", &launch, &begin, &end) != 3)
            continue;
        s->k.launch_ns[s->k.n] = launch;
        s->k.begin_ns[s->k.n] = begin;
        s->k.end_ns[s->k.n++] = end;
    }
    assert_true(kernels_sort(&s->k, s->mem));
}

static struct small small_of(const char *ops, const char *in, const char *out, const char *kernels)
{
    struct small s = { .mem = arena_new(), .names = names_new() };
    read_ops(&s, ops);
    read_spans(&s, &s.f.enqueue, in);
    read_spans(&s, &s.f.dequeue, out);
    read_kernels(&s, kernels);
    const bool has_queue = queue_is_used(&s.f);
    assert_true(!has_queue || queued_find(&s.queued, &s.f.dequeue, &s.k, s.mem));
    assert_true(op_tree_build(&s.tree, &s.f, &s.k, has_queue ? &s.queued : NULL, s.mem));
    return s;
}

static void small_free(struct small *s)
{
    names_free(s->names);
    arena_free(s->mem);
}

static void add_kernels(const struct small *s, char *text, const char *before, const uint32_t *kernel, uint32_t first,
                        uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const size_t at = strlen(text);
        snprintf(text + at, TEXT_MOST - at, "%s%ld", i == first ? before : ",", (long)s->k.launch_ns[kernel[i]]);
    }
}

/* "b<a 30 +42 ++42,44": b inside a took 30 itself and started what was launched at 42, and with those inside it, 42 and 44. */
static void tree_text(const struct small *s, char text[TEXT_MOST])
{
    const struct op_tree *t = &s->tree;
    *text = 0;
    for (uint32_t i = 0; i < s->f.ops.n; i++) {
        const uint32_t row = t->by_begin[i], parent = t->parent[row];
        const size_t at = strlen(text);
        snprintf(text + at, TEXT_MOST - at, "%s%s%s%s %ld", i ? "; " : "", names_text(s->names, s->f.ops.name[row]),
                 parent == NO_ROW ? "" : "<", parent == NO_ROW ? "" : names_text(s->names, s->f.ops.name[parent]),
                 (long)t->self_ns[row]);
        add_kernels(s, text, " +", t->started, t->first_started[i], t->first_started[i + 1]);
        add_kernels(s, text, " ++", t->in_order, t->below[i], t->below_end[i]);
    }
}

static void operators_know_what_they_called_and_started(void **state)
{
    /* clang-format off */
    static const struct { const char *what, *ops, *in, *out, *kernels, *tree; } row[] = {
        { "nothing", "", "", "", "", "" },
        { "one operator", "a:0-10", "", "", "", "a 10" },
        { "one inside another takes its time away", "a:0-10 b:2-5", "", "", "", "a 7; b<a 3" },
        { "the order of the file does not matter", "b:2-5 a:0-10", "", "", "", "a 7; b<a 3" },
        { "nor where they begin together: the longer is around", "b:0-5 a:0-10", "", "", "", "a 5; b<a 5" },
        { "in either order", "a:0-10 b:0-5", "", "", "", "a 5; b<a 5" },
        { "three of them", "c:0-2 b:0-5 a:0-10 d:6-7", "", "", "", "a 4; b<a 3; c<b 2; d<a 1" },
        { "of equal ones the one that was written last is around", "b:0-5 a:0-5", "", "", "", "a 0; b<a 5" },
        { "moments stay in the order of the file", "b:3-3 c:3-3 a:0-5", "", "", "", "a 5; b<a 0; c<b 0" },
        { "what begins at the end is still inside", "a:0-10 b:10-12", "", "", "30:40-50", "a 8; b<a 2" },
        { "after it is not", "a:0-10 b:11-12", "", "", "", "a 10; b 1" },
        { "one tree for all threads", "a:0-10 b:5-20@2", "", "", "30:40-50", "a -5; b<a 15" },
        { "a third inside what has outlived its parent", "a:0-10 b:5-20@2 c:15-16", "", "", "30:40-50", "a -5; b<a 14; c<b 1" },
        { "without a device only the time inside is taken away", "a:0-10 b:5-20", "", "", "", "a 5; b<a 15" },
        { "without a device a tree for each thread", "a:0-10 b:5-20@2 c:6-8 d:15-16@2", "", "", "", "a 8; b 14; c<a 2; d<b 1" },
        { "through the queue",
          "a:0-10 b:2-5", "3-4=7", "20-30=7@9", "25:40-50", "a 7 ++25; b<a 3 +25 ++25" },
        { "one task may launch several",
          "a:0-10", "3-4=7", "20-30=7@9", "25:40-50 20:50-60 30:60-70 31:70-80", "a 10 +20,25,30 ++20,25,30" },
        { "own and inner tasks in the order of queueing",
          "a:0-10 b:2-5", "1-1=1 3-3=2 6-6=3", "21-21=1@9 22-22=2@9 23-23=3@9", "21:1-2 22:1-2 23:1-2",
          "a 7 +21,23 ++21,22,23; b<a 3 +22 ++22" },
        { "queued at the end of an operator is queued by it",
          "a:0-10 b:2-5", "5-6=1", "20-20=1@9", "20:1-2", "a 7 ++20; b<a 3 +20 ++20" },
        { "queued by a thread that is not the last operator's: by nobody",
          "a:0-10 b:2-5@2", "3-3=1", "20-20=1@9", "20:1-2", "a 7; b<a 3" },
        { "queued outside of operators: by nobody", "a:5-10", "3-3=1", "20-20=1@9", "20:1-2", "a 5" },
        { "launched outside of tasks", "a:0-10", "3-3=1", "20-30=1@9", "35:40-50 15:40-50", "a 10" },
        { "taken out, but never put in", "a:0-10", "3-3=1", "20-30=2@9", "25:40-50", "a 10" },
        { "a number that comes again counts once",
          "a:0-10 b:20-30", "3-3=1 25-25=1", "40-50=1@9", "45:60-70", "a 10 +45 ++45; b 10" },
        { "put in, and none taken out: as without a queue",
          "a:0-10", "3-3=1", "", "5:40-50", "a 10 +5 ++5" },
        { "without a queue the innermost that is open",
          "a:0-10 b:2-5", "", "", "1:20-21 2:22-23 4:24-25 5:26-27 9:28-29 10:30-31",
          "a 7 +1,5,9 ++1,2,4,5,9; b<a 3 +2,4 ++2,4" },
        { "before the one inside begins it is the outer one's",
          "a:0-10 b:5-8", "", "", "3:20-21", "a 7 +3 ++3; b<a 3" },
        { "an operator whose parent is over starts nothing",
          "a:0-10 b:5-20@2 c:15-18", "", "", "7:1-2 12:1-2 16:1-2", "a -5 ++7; b<a 12 +7 ++7; c<b 3" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        char text[TEXT_MOST];
        print_message("  %s\n", row[i].what);
        struct small s = small_of(row[i].ops, row[i].in, row[i].out, row[i].kernels);
        tree_text(&s, text);
        assert_string_equal(text, row[i].tree);
        small_free(&s);
    }
    (void)state;
}

static void launches_find_the_task_that_was_taken_out(void **state)
{
    /* clang-format off */
    static const struct { const char *what, *out, *kernels, *found; } row[] = {
        { "no tasks", "", "5:1-2", "" },
        { "edges belong to a task", "10-20=1 30-40=2", "9:1-2 10:1-2 20:1-2 21:1-2 30:1-2 40:1-2 41:1-2", "1:10,20 2:30,40" },
        { "tasks without launches are stepped over", "10-20=1 30-40=2 50-60=3", "55:1-2", "3:55" },
        { "the same number twice is one task", "10-20=1 30-40=1", "15:1-2 35:1-2", "1:15,35" },
        { "side by side the one that ends first", "15-18=2 10-20=1", "16:1-2 19:1-2", "2:16 1:19" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct small s = small_of("", "", row[i].out, row[i].kernels);
        struct queued q;
        char text[TEXT_MOST] = "";
        assert_true(queued_find(&q, &s.f.dequeue, &s.k, s.mem));
        for (size_t id = 0; id < q.ids.key.n; id++) {
            char before[32];
            snprintf(before, sizeof before, "%s%llu:", id ? " " : "", (unsigned long long)q.ids.key.at[id]);
            add_kernels(&s, text, before, q.kernel, q.first[id], q.first[id + 1]);
        }
        assert_string_equal(text, row[i].found);
        small_free(&s);
    }
    (void)state;
}

static void steps_reach_from_their_first_kernel_to_their_last(void **state)
{
    /* clang-format off */
    static const struct { const char *what, *ops, *in, *out, *kernels, *steps; } row[] = {
        { "none", "a:0-10", "", "", "5:20-30", "" },
        { "without a queue: what was launched in it", "ProfilerStep#7:0-10 ProfilerStep#8:11-20", "", "",
          "2:5-9 8:30-40 12:45-50 19:50-55", "7:5-40 8:45-55" },
        { "edges belong to it", "ProfilerStep#7:1-10", "", "", "0:2-3 1:20-30 10:40-50 11:60-70", "7:20-50" },
        { "it lasts as long as on the host", "ProfilerStep#7:0-10", "", "", "2:5-6", "7:5-10" },
        { "nothing in it", "ProfilerStep#7:0-10 ProfilerStep#8:20-30", "", "", "25:26-40", "(7) 8:26-40" },
        { "only those at the top", "a:0-100 ProfilerStep#7:10-20", "", "", "15:16-17", "" },
        { "without a device also those in another range", "epoch:5-35 ProfilerStep#7:0-10 ProfilerStep#8:10-20 a:12-15 ProfilerStep#9:20-30", "", "", "",
          "(7) (8) (9)" },
        { "but not in another step", "ProfilerStep#7:0-10 ProfilerStep#8:2-10 ProfilerStep#9:11-20", "", "", "", "(7) (9)" },
        { "what follows the last #", "ProfilerStep#7#x:0-10", "", "", "5:6-20", "x:6-20" },
        { "through the queue: what was put in, in the order of numbers",
          "ProfilerStep#0:0-10 a:1-9", "2-2=4 3-3=3", "50-51=4@9 60-61=3@9", "50:100-110 61:80-90", "0:80-110" },
        { "the earliest kernel of the first task, the last of the last",
          "ProfilerStep#0:0-10 a:1-9", "2-2=1 3-3=2", "50-55=1@9 60-65=2@9", "50:100-110 51:90-95 61:80-300 62:150-200",
          "0:90-300" },
        { "put in, but not launched: the host's own range",
          "ProfilerStep#0:0-10 ProfilerStep#1:20-30", "5-5=1 25-25=2", "50-55=1@9", "51:60-70", "0:60-70 1:20-30" },
        { "nothing was launched at all: no steps", "ProfilerStep#0:0-10", "5-5=1", "50-55=1@9", "", "(0)" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        char text[TEXT_MOST] = "";
        print_message("  %s\n", row[i].what);
        struct small s = small_of(row[i].ops, row[i].in, row[i].out, row[i].kernels);
        struct profiler_steps steps;
        assert_true(
            profiler_steps_find(&steps, &s.f, &s.tree, &s.k, queue_is_used(&s.f) ? &s.queued : NULL, s.names, s.mem));
        for (size_t k = 0; k < steps.n; k++) {
            const size_t at = strlen(text);
            const char *id = names_text(s.names, steps.id[k]);
            if (steps.has_work[k])
                snprintf(text + at, TEXT_MOST - at, "%s%s:%ld-%ld", k ? " " : "", id, (long)steps.begin_ns[k],
                         (long)steps.end_ns[k]);
            else
                snprintf(text + at, TEXT_MOST - at, "%s(%s)", k ? " " : "", id);
        }
        assert_string_equal(text, row[i].steps);
        small_free(&s);
    }
    (void)state;
}

/* Deep and wide, with times that make no sense: whatever the tree is, what operators started is in it once. */
static void nothing_is_started_twice(void **state)
{
    enum { OPS = 3000, KERNELS = 2000, ROUNDS = 20 };
    uint64_t seed = RANDOM_SEED;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena *mem = arena_new();
        struct framework f = { .ops.n = OPS };
        struct kernels k;
        struct op_tree t;
        f.ops.begin_ns = arena_take(mem, OPS, sizeof *f.ops.begin_ns);
        f.ops.end_ns = arena_take(mem, OPS, sizeof *f.ops.end_ns);
        f.ops.thread = arena_take(mem, OPS, sizeof *f.ops.thread);
        assert_true(kernels_take(&k, KERNELS, mem));
        for (size_t i = 0; i < OPS; i++) {
            f.ops.begin_ns[i] = (int64_t)(random_next(&seed) % 10000);
            f.ops.end_ns[i] = round == 0 ? (int64_t)random_next(&seed)
                                         : f.ops.begin_ns[i] + (int64_t)(random_next(&seed) % (1u << round));
        }
        for (k.n = 0; k.n < KERNELS; k.n++)
            k.launch_ns[k.n] = (int64_t)(random_next(&seed) % 10000);
        assert_true(kernels_sort(&k, mem));
        assert_true(op_tree_build(&t, &f, &k, NULL, mem));
        assert_int_equal(t.first_started[OPS], t.n_started);
        uint64_t below = 0, ways = 0;
        for (uint32_t i = 0; i < OPS; i++) {
            assert_true(t.below[i] <= t.below_end[i] && t.below_end[i] <= t.n_started);
            below += t.below_end[i] - t.below[i];
            for (uint32_t n = t.first_started[i]; n < t.first_started[i + 1]; n++) {
                assert_true(n == t.first_started[i] || t.started[n - 1] < t.started[n]);
                for (uint32_t row = t.by_begin[i]; row != NO_ROW; row = t.parent[row])
                    ways++;
            }
        }
        assert_int_equal(below, ways); /* each kernel counts for its operator and for all around that */
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_know_what_they_called_and_started),
        cmocka_unit_test(launches_find_the_task_that_was_taken_out),
        cmocka_unit_test(steps_reach_from_their_first_kernel_to_their_last),
        cmocka_unit_test(nothing_is_started_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
