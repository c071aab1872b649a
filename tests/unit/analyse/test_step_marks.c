/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/framework/step_marks.h"

enum { MOST = 4096, MOST_KINDS = 6 };

/* Ranges of one kind: `n` of them, the first at `begin`, then every `every` ns; each launches `launches` times, evenly.
 * "%d" in the name is its number. */
struct kind {
    const char *name;
    int64_t begin, length, every;
    size_t n, launches;
    uint64_t thread;
};

struct made {
    int64_t begin[MOST], end[MOST], launch[MOST];
    uint64_t thread[MOST];
    name_id name[MOST];
    struct step_candidates c;
};

static void make(struct made *m, const struct kind *kind, struct names *names)
{
    for (size_t k = 0; k < MOST_KINDS && kind[k].n > 0; k++)
        for (size_t i = 0; i < kind[k].n; i++) {
            char name[96];
            const size_t at = m->c.n++;
            snprintf(name, sizeof name, kind[k].name, (int)i + 7);
            m->name[at] = names_addz(names, name);
            m->begin[at] = kind[k].begin + (int64_t)i * kind[k].every;
            m->end[at] = m->begin[at] + kind[k].length;
            m->thread[at] = kind[k].thread;
            for (size_t l = 0; l < kind[k].launches; l++)
                m->launch[m->c.n_launches++] =
                    m->begin[at] + kind[k].length * (int64_t)(l + 1) / (int64_t)(kind[k].launches + 1);
        }
    m->c.n_framework = m->c.n;
    m->c.begin_ns = m->begin;
    m->c.end_ns = m->end;
    m->c.thread = m->thread;
    m->c.name = m->name;
    m->c.launch_ns = m->launch;
    m->c.names = names;
}

static void what_repeats_is_a_step(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what;
        struct kind kind[MOST_KINDS];
        const char *wanted, *found; /* how many, by what, the first two as number:begin-end, the last */
    } row[] = {
        { "nothing", { { 0 } }, NULL, "0" },
        { "a range around each step, to the next one", { { "train_step", 100, 80, 100, 5, 9, 1 } }, NULL, "5 train_step 0:100-200 1:200-300 4:500-580" },
        { "their own numbers", { { "iteration %d", 100, 80, 100, 5, 9, 1 } }, NULL, "5 iteration * 7:100-200 8:200-300 11:500-580" },
        { "twice is too little", { { "train_step", 100, 80, 100, 2, 9, 1 } }, NULL, "0" },
        { "not where little is launched", { { "log", 100, 5, 100, 5, 1, 1 }, { "aten::mm", 110, 70, 100, 5, 9, 1 } }, NULL, "0" },
        { "not in a short part of the recording", { { "warm", 0, 9, 10, 5, 9, 1 }, { "aten::mm", 100, 70, 100, 5, 90, 1 } }, NULL, "0" },
        { "operators are no marks", { { "aten::linear", 100, 80, 100, 5, 9, 1 } }, NULL, "0" },
        { "nor are functions of a backward pass", { { "MmBackward0", 100, 80, 100, 5, 9, 1 } }, NULL, "0" },
        { "the outermost of those that repeat", { { "fit", 0, 9000, 1, 1, 0, 1 }, { "train_step", 100, 80, 100, 5, 0, 1 }, { "forward", 110, 60, 100, 5, 9, 1 } }, NULL,
          "5 train_step 0:100-200 1:200-300 4:500-580" },
        { "another thread launches", { { "train_step", 100, 80, 100, 5, 0, 1 }, { "aten::mm", 110, 60, 100, 5, 9, 2 } }, NULL, "5 train_step 0:100-200 1:200-300 4:500-580" },
        { "a thread that prepares data is none", { { "load", 90, 30, 50, 12, 0, 2 }, { "train_step", 100, 80, 100, 5, 9, 1 } }, NULL, "5 train_step 0:100-200 1:200-300 4:500-580" },
        { "vLLM, which waits for requests in between", { { "execute_context_1(5)_generation_0(0)", 0, 30, 500, 2, 9, 1 }, { "execute_context_0(0)_generation_%d(1)", 100, 20, 50, 5, 9, 1 } }, NULL,
          "7 execute_*_generation_* 0:0-30 1:100-120 6:500-530" },
        { "SGLang", { { "step[EXTEND bs=1 toks=%d]", 0, 30, 500, 2, 9, 1 }, { "step[DECODE bs=%d]", 100, 20, 50, 5, 9, 1 } }, NULL, "7 step[*] 0:0-30 1:100-120 6:500-530" },
        { "kinds in no fixed order", { { "prefill", 0, 40, 200, 3, 9, 1 }, { "decode", 50, 15, 20, 7, 9, 1 }, { "decode", 250, 15, 20, 7, 9, 1 } }, NULL,
          "17 prefill, decode 0:0-40 1:50-65 16:400-440" },
        { "in turn, from the first on", { { "load", 0, 10, 100, 5, 0, 1 }, { "zero_grad", 20, 5, 100, 5, 1, 1 }, { "Optimizer.step#SGD", 80, 15, 100, 5, 3, 1 }, { "aten::mm", 30, 40, 100, 5, 9, 1 } }, NULL,
          "5 load 0:0-100 1:100-200 4:400-495" },
        { "a loader is asked once more", { { "load", 0, 10, 100, 6, 0, 1 }, { "Optimizer.step#SGD", 80, 15, 100, 5, 3, 1 }, { "aten::mm", 30, 40, 100, 5, 9, 1 } }, NULL,
          "5 load 0:0-100 1:100-200 4:400-500" },
        { "a loader alone", { { "enumerate(DataLoader)#next", 0, 10, 100, 5, 0, 1 }, { "aten::mm", 30, 40, 100, 5, 9, 1 } }, NULL, "5 enumerate(DataLoader)#next 0:0-100 1:100-200 4:400-467" },
        { "a loader, and an optimizer in every second turn", { { "enumerate(DataLoader)#next", 0, 10, 100, 8, 0, 1 }, { "Optimizer.step#SGD", 80, 15, 200, 4, 3, 1 }, { "aten::mm", 30, 40, 100, 8, 9, 1 } }, NULL,
          "8 enumerate(DataLoader)#next 0:0-100 1:100-200 7:700-767" },
        { "the name that is asked for", { { "train_step", 100, 80, 100, 5, 9, 1 }, { "aten::linear", 110, 10, 20, 20, 1, 1 } }, "aten::lin", "20 aten::lin 0:110-130 1:130-150 19:490-500" },
        { "exactly that name before longer ones", { { "step", 100, 80, 100, 5, 9, 1 }, { "step_two", 110, 10, 20, 20, 1, 1 } }, "step", "5 step 0:100-200 1:200-300 4:500-580" },
        { "which is there once", { { "fit", 0, 9000, 1, 1, 0, 1 } }, "fit", "1 fit 0:0-9000" },
        { "no such name", { { "fit", 0, 9000, 1, 1, 0, 1 } }, "Fit", "0" },
        { "of a server without what lies between", { { "step[DECODE bs=%d]", 100, 20, 50, 5, 9, 1 } }, "step[D", "5 step[D 0:100-120 1:150-170 4:300-320" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct names *names = names_new();
        struct made *m = calloc(1, sizeof *m);
        struct step_marks k;
        char text[256];
        assert_non_null(m);
        make(m, row[i].kind, names);
        m->c.wanted = row[i].wanted;
        assert_true(step_marks_find(&k, &m->c, mem));
        int at = snprintf(text, sizeof text, "%zu%s%s", k.n, k.n > 0 ? " " : "", k.n > 0 ? k.by : "");
        for (size_t s = 0; s < k.n; s = s == 0 && k.n > 1 ? 1 : s == 1 && k.n > 2 ? k.n - 1 : k.n)
            at += snprintf(text + at, sizeof text - (size_t)at, " %d:%d-%d", (int)k.number[s], (int)k.begin_ns[s],
                           (int)k.end_ns[s]);
        if (strcmp(text, row[i].found) != 0)
            print_error("%s: ", row[i].what);
        assert_string_equal(text, row[i].found);
        free(m);
        names_free(names);
        arena_free(mem);
    }
    (void)state;
}

static void marks_count_where_a_framework_has_none(void **state)
{
    static const struct kind kind[MOST_KINDS] = { { "forward", 100, 60, 100, 5, 9, 1 },
                                                  { "iteration", 90, 90, 100, 5, 0, 1 } };
    for (size_t n_framework = 0; n_framework <= 5; n_framework += 5) {
        struct arena *mem = arena_new();
        struct names *names = names_new();
        struct made *m = calloc(1, sizeof *m);
        struct step_marks k;
        assert_non_null(m);
        make(m, kind, names);
        m->c.n_framework = n_framework;
        assert_true(step_marks_find(&k, &m->c, mem));
        assert_string_equal(k.by, n_framework > 0 ? "forward" : "iteration");
        free(m);
        names_free(names);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_repeats_is_a_step),
        cmocka_unit_test(marks_count_where_a_framework_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
