/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/flow/flows.h"
#include "analyse/framework/op_tree.h"
#include "analyse/framework/steps/profiler_steps.h"

enum { MOST = 32, TEXT_MOST = 1024 };

/* A collection in one line. Times are in ns. */
struct small {
    struct arena *mem;
    struct names *names;
    struct framework f;
    struct kernels k;
    struct op_tree tree;
};

/* "a:10-50@2" is an operator of thread 2 (1 without it). */
static void read_ops(struct small *s, const char *text)
{
    struct framework_ops *o = &s->f.ops;
    o->begin_ns = arena_take(s->mem, MOST, sizeof *o->begin_ns);
    o->end_ns = arena_take(s->mem, MOST, sizeof *o->end_ns);
    o->thread = arena_take(s->mem, MOST, sizeof *o->thread);
    o->process = arena_take(s->mem, MOST, sizeof *o->process);
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
    q->process = arena_take(s->mem, MOST, sizeof *q->process);
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

/* "42:100-110" was launched at 42 and ran from 100 to 110; "42-44@2:100-110": by a call of thread 2 from 42 to 44.
 * Without one, thread 9 launches what went through the queue, and thread 1 all others. They are called by the time of
 * their launch. */
static void read_kernels(struct small *s, const char *text)
{
    char copy[TEXT_MOST], *rest = copy;
    assert_true(kernels_take(&s->k, MOST, s->mem));
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, " "));) {
        long launch, launch_end, begin, end;
        unsigned thread = queue_is_used(&s->f) ? 9 : 1;
        if (sscanf(token, "%ld-%ld@%u:%ld-%ld", &launch, &launch_end, &thread, &begin, &end) != 5) {
            if (sscanf(token, "%ld:%ld-%ld", &launch, &begin, &end) != 3)
                continue;
            launch_end = launch;
        }
        s->k.launch_ns[s->k.n] = launch;
        s->k.launch_end_ns[s->k.n] = launch_end;
        s->k.launch_thread[s->k.n] = thread;
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
    assert_true(op_tree_build(&s.tree, &s.f, &s.k, s.names, s.mem));
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

/* "b<a 30 +42,44": b inside a took 30 itself and started what was launched at 42 and at 44; behind all of them, "=
 * 42,44" is what was started, in order. */
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
    }
    add_kernels(s, text, " = ", t->in_order, 0, (uint32_t)t->n_started);
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
        { "moments stay in the order of the file", "b:3-3 c:3-3 a:0-5", "", "", "", "a 5; b<a 0; c<a 0" },
        { "what begins at the end is behind it", "a:0-10 b:10-12", "", "", "", "a 10; b 2" },
        { "and starts its kernels itself", "a:0-10 b:10-20", "", "", "9:30-31 10:32-33 15:34-35",
          "a 10 +9; b 10 +10,15 = 9,10,15" },
        { "a chain without gaps inside another",
          "p:0-30 a:0-10 b:10-20 c:20-30", "", "", "0:40-41 10:42-43 20:44-45", "p 0; a<p 10 +0; b<p 10 +10; c<p 10 +20 = 0,10,20" },
        { "a moment at the end is behind it", "a:0-10 b:10-10", "", "", "", "a 10; b 0" },
        { "a moment at the begin is inside", "b:0-0 a:0-10", "", "", "", "a 10; b<a 0" },
        { "a moment where one ends and another begins is inside the other", "a:0-5 b:5-5 c:5-9", "", "", "", "a 5; c 4; b<c 0" },
        { "what is launched at the end, in no time, is the operator's", "a:0-10", "", "", "10:30-31", "a 10 +10 = 10" },
        { "unless another begins there", "a:0-10 b:10-12", "", "", "10:30-31", "a 10; b 2 +10 = 10" },
        { "a call across the end of an operator is that of the one around it",
          "a:0-20 b:2-10", "", "", "9-11@1:30-31 9-10@1:32-33", "a 12 +9; b<a 8 +9 = 9,9" },
        { "after it is not", "a:0-10 b:11-12", "", "", "", "a 10; b 1" },
        { "each thread has its own tree",
          "a:0-10 b:5-20@2 c:6-8 d:15-16@2", "", "", "6-7@1:30-31 6-7@2:32-33 15-16@2:34-35", "a 8; b 14 +6; c<a 2 +6; d<b 1 +15 = 6,6,15" },
        { "threads in which operators begin and end together",
          "a:0-10 b:0-10@2 c:10-20@2 d:10-20", "", "", "10-11@1:30-31 9-10@2:32-33", "b 10 +9; a 10; d 10 +10; c 10 = 9,10" },
        { "a launch by a thread without operators: by nobody", "a:0-10", "", "", "5-6@3:30-31", "a 10" },
        { "those that overlap are side by side, and the later one has the time that they share",
          "a:0-10 b:5-20", "", "", "7:30-31", "a 5; b 15 +7 = 7" },
        { "inside of another one, too", "p:0-20 a:0-15 b:5-18 c:6-7", "", "", "", "p 2; a<p 5; b<p 12; c<b 1" },
        { "one that outlives two at once", "a:0-10 c:3-8 b:5-20", "", "", "", "a 3; c<a 2; b 15" },
        { "a range of mstx launches nothing", "a:0-10 mstx_x:2-8", "", "", "5:30-31", "a 4 +5; mstx_x<a 6 = 5" },
        { "through the queue", "a:0-10 b:2-5", "3-4=7", "20-30=7@9", "25:40-50", "a 7; b<a 3 +25 = 25" },
        { "through the queue, at the same time as the end of the operator before",
          "a:0-10 b:10-20", "10-12=7", "20-30=7@9", "25:40-50", "a 10; b 10 +25 = 25" },
        { "one task may launch several",
          "a:0-10", "3-4=7", "20-30=7@9", "25:40-50 20:50-60 30:60-70 31:70-80", "a 10 +20,25,30 = 20,25,30" },
        { "own and inner tasks in the order of queueing",
          "a:0-10 b:2-5", "1-1=1 3-3=2 6-6=3", "21-21=3@9 22-22=2@9 23-23=1@9", "21:1-2 22:1-2 23:1-2",
          "a 7 +23,21; b<a 3 +22 = 23,22,21" },
        { "queued across the end of an operator is queued by the one around it",
          "a:0-10 b:2-5", "5-6=1", "20-20=1@9", "20:1-2", "a 7 +20; b<a 3 = 20" },
        { "queued by another thread: by nobody", "a:0-10 b:2-5@2", "3-3=1@3", "20-20=1@9", "20:1-2", "a 10; b 3" },
        { "queued while another thread has an operator open",
          "a:0-10 b:2-5@2", "3-3=1", "20-20=1@9", "20:1-2", "a 10 +20; b 3 = 20" },
        { "queued outside of operators: by nobody", "a:5-10", "3-3=1", "20-20=1@9", "20:1-2", "a 5" },
        { "launched outside of tasks", "a:0-10", "3-3=1", "20-30=1@9", "35:40-50 15:40-50", "a 10" },
        { "launched by another thread than the one that took the task out", "a:0-10", "3-3=1", "20-30=1@9", "25-26@8:40-50", "a 10" },
        { "tasks that were taken out without a launch", "a:0-10", "3-3=3", "10-20=1@9 30-40=2@9 50-60=3@9", "55:1-2", "a 10 +55 = 55" },
        { "taken out twice is one task", "a:0-10", "3-3=1", "10-20=1@9 30-40=1@9", "15:1-2 35:1-2", "a 10 +15,35 = 15,35" },
        { "where a task ends and another begins, the other", "a:0-4 b:4-8", "3-4=1 5-6=2", "10-20=1@9 20-30=2@9", "20:1-2", "a 4; b 4 +20 = 20" },
        { "taken out, but never put in", "a:0-10", "3-3=1", "20-30=2@9", "25:40-50", "a 10" },
        { "of a number that was put in twice the last one counts",
          "a:0-10 b:20-30", "3-3=1 25-25=1", "40-50=1@9", "45:60-70", "a 10; b 10 +45 = 45" },
        { "put in, and none taken out: as without a queue",
          "a:0-10", "3-3=1", "", "5:40-50", "a 10 +5 = 5" },
        { "without a queue the innermost that is open",
          "a:0-10 b:2-5", "", "", "1:20-21 2:22-23 4:24-25 5:26-27 9:28-29 11:30-31",
          "a 7 +1,9; b<a 3 +2,4,5 = 1,2,4,5,9" },
        { "before the one inside begins it is the outer one's",
          "a:0-10 b:5-8", "", "", "3:20-21", "a 7 +3; b<a 3 = 3" },
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

static void steps_reach_from_their_first_kernel_to_their_last(void **state)
{
    /* clang-format off */
    static const struct { const char *what, *ops, *in, *out, *kernels, *steps; } row[] = {
        { "none", "a:0-10", "", "", "5:20-30", "" },
        { "without a queue: what was launched in it", "ProfilerStep#7:0-10 ProfilerStep#8:11-20", "", "",
          "2:5-9 8:30-40 12:45-50 19:50-55", "7:5-40 8:45-55" },
        { "where one ends and another begins, the other",
          "ProfilerStep#7:0-10 ProfilerStep#8:10-20", "", "", "10:30-40", "(7) 8:30-40" },
        { "the same through the queue", "ProfilerStep#7:0-10 ProfilerStep#8:10-20", "10-11=1", "50-51=1@9", "50:60-70", "(7) 8:60-70" },
        { "what other threads put in, too", "ProfilerStep#7:0-10 b:2-5@2", "3-3=1@2", "50-51=1@9", "50:60-70", "7:60-70" },
        { "edges belong to it", "ProfilerStep#7:1-10", "", "", "0:2-3 1:20-30 10:40-50 11:60-70", "7:20-50" },
        { "it lasts as long as on the host", "ProfilerStep#7:0-10", "", "", "2:5-6", "7:5-10" },
        { "nothing in it", "ProfilerStep#7:0-10 ProfilerStep#8:20-30", "", "", "25:26-40", "(7) 8:26-40" },
        { "also those in another range", "a:0-100 ProfilerStep#7:10-20", "", "", "15:16-17", "7:16-20" },
        { "which begins in an earlier step", "epoch:5-35 ProfilerStep#7:0-10 ProfilerStep#8:10-20 a:12-15 ProfilerStep#9:20-30", "", "", "",
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
        assert_true(profiler_steps_find(&steps, &s.f, &s.tree, &s.k, s.names, s.mem));
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

/* Deep and wide, on several threads, with times that make no sense: a parent contains its child, no own time is below
 * 0, those of an operator and all inside it are no more than its duration, and each kernel has one operator. */
static void every_tree_adds_up(void **state)
{
    enum { OPS = 3000, KERNELS = 2000, THREADS = 3, ROUNDS = 20 };
    uint64_t seed = RANDOM_SEED;
    for (int round = 0; round < ROUNDS; round++) {
        struct arena *mem = arena_new();
        struct names *names = names_new();
        struct framework f = { .ops.n = OPS };
        struct framework_ops *o = &f.ops;
        struct kernels k;
        struct op_tree t;
        o->begin_ns = arena_take(mem, OPS, sizeof *o->begin_ns);
        o->end_ns = arena_take(mem, OPS, sizeof *o->end_ns);
        o->thread = arena_take(mem, OPS, sizeof *o->thread);
        o->process = arena_take(mem, OPS, sizeof *o->process);
        o->name = arena_take(mem, OPS, sizeof *o->name);
        int64_t *inside_ns = arena_take(mem, OPS, sizeof *inside_ns);
        assert_true(kernels_take(&k, KERNELS, mem));
        for (size_t i = 0; i < OPS; i++) {
            o->begin_ns[i] = (int64_t)(random_next(&seed) % 10000);
            o->end_ns[i] = round == 0 ? (int64_t)random_next(&seed) / 2
                                      : o->begin_ns[i] + (int64_t)(random_next(&seed) % (1u << round));
            o->thread[i] = (uint32_t)(random_next(&seed) % THREADS);
        }
        for (k.n = 0; k.n < KERNELS; k.n++) {
            k.launch_ns[k.n] = (int64_t)(random_next(&seed) % 10000);
            k.launch_end_ns[k.n] = k.launch_ns[k.n] + (int64_t)(random_next(&seed) % 4);
            k.launch_thread[k.n] = (uint32_t)(random_next(&seed) % THREADS);
        }
        assert_true(kernels_sort(&k, mem));
        assert_true(op_tree_build(&t, &f, &k, names, mem));
        assert_int_equal(t.first_started[OPS], t.n_started);
        size_t n_owned = 0;
        for (size_t i = 0; i < KERNELS; i++) {
            const uint32_t row = t.owner[i];
            n_owned += row != NO_ROW;
            assert_true(row == NO_ROW || (o->thread[row] == k.launch_thread[i] && o->begin_ns[row] <= k.launch_ns[i] &&
                                          o->end_ns[row] >= k.launch_end_ns[i]));
        }
        assert_int_equal(n_owned, t.n_started);
        for (uint32_t at = OPS; at-- > 0;) {
            const uint32_t row = t.by_begin[at], parent = t.parent[row];
            const int64_t dur_ns = o->end_ns[row] > o->begin_ns[row] ? o->end_ns[row] - o->begin_ns[row] : 0;
            inside_ns[row] += t.self_ns[row];
            assert_true(t.self_ns[row] >= 0 && inside_ns[row] <= dur_ns);
            if (parent != NO_ROW) {
                assert_true(o->thread[parent] == o->thread[row] && o->begin_ns[parent] <= o->begin_ns[row] &&
                            o->end_ns[parent] >= o->end_ns[row]);
                inside_ns[parent] += inside_ns[row];
            }
            for (uint32_t n = t.first_started[at]; n < t.first_started[at + 1]; n++)
                assert_int_equal(t.owner[t.started[n]], row);
        }
        names_free(names);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_know_what_they_called_and_started),
        cmocka_unit_test(steps_reach_from_their_first_kernel_to_their_last),
        cmocka_unit_test(every_tree_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
