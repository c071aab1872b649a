/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/framework/frames.h"

enum { MOST = 32, TEXT_MOST = 1024 };

static void a_stack_is_taken_apart_at_its_semicolons(void **state)
{
    /* clang-format off */
    static const struct { const char *what, *stack, *parts; } row[] = {
        { "one frame", "a", "[a]" },
        { "line breaks are not part of a frame", "a;\r\nb;\r\nc", "[a][b][c]" },
        { "nor are blanks around it", " a b ;\t c", "[a b][c]" },
        { "empty ones are frames, too", ";\r\n", "[][]" },
        { "nothing is an empty one", "", "[]" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        char text[TEXT_MOST] = "";
        struct stack_part p;
        print_message("  %s\n", row[i].what);
        for (size_t at = 0; stack_next(row[i].stack, strlen(row[i].stack), &at, &p);)
            snprintf(text + strlen(text), TEXT_MOST - strlen(text), "[%.*s]", (int)p.len, p.text);
        assert_string_equal(text, row[i].parts);
    }
    (void)state;
}

/* Operators in the order of the tree: "name parent us [stack]", parents by position from 0, "-" for none. */
static struct collection collection_of(const char *text, struct arena *mem)
{
    struct collection s = { .profile = { .names = names_new() } };
    struct framework_ops *o = &s.framework.ops;
    o->name = arena_take(mem, MOST, sizeof *o->name);
    o->stack = arena_take(mem, MOST, sizeof *o->stack);
    s.tree.by_begin = arena_take(mem, MOST, sizeof *s.tree.by_begin);
    s.tree.parent = arena_take(mem, MOST, sizeof *s.tree.parent);
    s.tree.self_ns = arena_take(mem, MOST, sizeof *s.tree.self_ns);
    char copy[TEXT_MOST], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, ",")); o->n++) {
        char name[32], parent[8], stack[128] = "";
        int us;
        if (sscanf(token, "%31s %7s %d %127s", name, parent, &us, stack) < 3)
            return s;
        o->name[o->n] = names_addz(s.profile.names, name);
        o->stack[o->n] = *stack ? names_addz(s.profile.names, stack) : NO_NAME;
        s.tree.by_begin[o->n] = (uint32_t)o->n;
        s.tree.parent[o->n] = *parent == '-' ? NO_ROW : (uint32_t)atoi(parent);
        s.tree.self_ns[o->n] = us * 1000;
    }
    return s;
}

/* "name total(children)", longest first. */
static void put_frame(const struct frames *f, const struct names *names, uint32_t i, char text[TEXT_MOST])
{
    const struct frame *at = &f->at.at[i];
    static const char mark[] = {
        [FRAME_ROOT] = ' ', [FRAME_PYTHON] = ' ', [FRAME_LIBRARY] = '~', [FRAME_OPERATOR] = ':', [FRAME_NO_STACK] = '?'
    };
    const size_t len = strlen(text);
    snprintf(text + len, TEXT_MOST - len, "%.*s%s %g", mark[at->kind] != ' ', &mark[at->kind],
             i == 0 ? "all" : names_text(names, at->name), at->total_us);
    for (uint32_t c = f->first_child[i]; c < f->first_child[i + 1]; c++) {
        strncat(text, c == f->first_child[i] ? " (" : ", ", TEXT_MOST - strlen(text) - 1);
        put_frame(f, names, f->child[c], text);
        if (c + 1 == f->first_child[i + 1])
            strncat(text, ")", TEXT_MOST - strlen(text) - 1);
    }
}

static void time_is_added_up_by_the_code_around_it(void **state)
{
    /* clang-format off */
    static const struct { const char *what, *ops, *frames; } row[] = { /* ":" operators, "~" libraries, "?" no stack */
        { "nothing", "", "all 0" },
        { "frames from the outermost in, then the operator", "add - 5 in;out", "all 5 (out 5 (in 5 (:add 5)))" },
        { "the same again is added", "add - 5 f,add - 7 f", "all 12 (f 12 (:add 12))" },
        { "the longest first", "a - 1 f,b - 3 f,c - 2 g", "all 6 (f 4 (:b 3, :a 1), g 2 (:c 2))" },
        { "equal ones by name", "b - 1 f,a - 1 f", "all 2 (f 2 (:a 1, :b 1))" },
        { "an operator inside another of the same stack lies in it", "a - 1 f,b 0 2 f", "all 3 (f 3 (:a 3 (:b 2)))" },
        { "and without a stack, too", "a - 1 f,b 0 2", "all 3 (f 3 (:a 3 (:b 2)))" },
        { "but not with a stack of its own", "a - 1 f,b 0 2 g;f", "all 3 (f 3 (g 2 (:b 2), :a 1))" },
        { "nobody's", "a - 1", "all 1 (?without a Python stack 1 (:a 1))" },
        { "a step is no operator, and lends its stack", "ProfilerStep#0 - 9 f,a 0 1,ProfilerStep#1 - 9 f,a 2 1", "all 2 (f 2 (:a 2))" },
        { "operators without time have no width", "a - 0 f,b 0 2,c - -3 f", "all 2 (f 2 (:a 2 (:b 2), :c 0))" },
        { "libraries", "a - 1 /usr/lib/python3/dist-packages/t.py;x.py", "all 1 (x.py 1 (~/usr/lib/python3/dist-packages/t.py 1 (:a 1)))" },
        { "our own package where it was built", "a - 1 /w/ascope/torch/_hooks.py(9):c;/w/ascope/torch_x.py;/w/ascope/_run.py(1):m",
          "all 1 (~/w/ascope/_run.py(1):m 1 (/w/ascope/torch_x.py 1 (~/w/ascope/torch/_hooks.py(9):c 1 (:a 1))))" },
        { "an operator called like a frame is another", "f - 1 f,f - 2 f;f", "all 3 (f 3 (f 2 (:f 2), :f 1))" },
    };
    /* clang-format on */
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct collection s = collection_of(row[i].ops, mem);
        struct frames f;
        char text[TEXT_MOST] = "";
        print_message("  %s\n", row[i].what);
        assert_true(frames_build(&f, &s, TIME_OF_HOST, mem));
        put_frame(&f, s.profile.names, 0, text);
        assert_string_equal(text, row[i].frames);
        names_free(s.profile.names);
        arena_free(mem);
    }
    (void)state;
}

/* A chain of operators that never ends, each in the one before. */
static void what_is_too_deep_is_counted_where_it_is_left(void **state)
{
    enum { DEEP = 5000 };
    struct arena *mem = arena_new();
    struct collection s = { .profile = { .names = names_new() }, .framework.ops.n = DEEP };
    struct framework_ops *o = &s.framework.ops;
    o->name = arena_take(mem, DEEP, sizeof *o->name);
    o->stack = arena_take(mem, DEEP, sizeof *o->stack);
    o->thread = arena_take(mem, DEEP, sizeof *o->thread);
    s.tree.by_begin = arena_take(mem, DEEP, sizeof *s.tree.by_begin);
    s.tree.parent = arena_take(mem, DEEP, sizeof *s.tree.parent);
    s.tree.self_ns = arena_take(mem, DEEP, sizeof *s.tree.self_ns);
    char *stack = arena_take(mem, 2 * DEEP + 1, 1);
    for (uint32_t i = 0; i < DEEP; i++) {
        memcpy(stack + 2 * i, "x;", 2);
        s.tree.by_begin[i] = i;
        s.tree.parent[i] = i - 1;
        s.tree.self_ns[i] = 1000;
    }
    s.tree.parent[0] = NO_ROW;
    for (int with_stack = 0; with_stack < 2; with_stack++) {
        struct frames f;
        for (uint32_t i = 0; i < DEEP; i++)
            o->stack[i] = with_stack ? names_add(s.profile.names, stack, 2 * i + 1) : NO_NAME;
        assert_true(frames_build(&f, &s, TIME_OF_HOST, mem));
        assert_true(f.at.at[0].total_us > DEEP - 1 && f.at.at[0].total_us < DEEP + 1);
        for (size_t i = 1; i < f.at.n; i++)
            assert_true(f.at.at[i].depth <= FRAMES_DEEPEST && f.at.at[i].parent < i);
    }
    names_free(s.profile.names);
    arena_free(mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_is_taken_apart_at_its_semicolons),
        cmocka_unit_test(time_is_added_up_by_the_code_around_it),
        cmocka_unit_test(what_is_too_deep_is_counted_where_it_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
