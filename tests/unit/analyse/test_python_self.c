/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/framework/collection_analyse.h"
#include "base/memory/names.h"

enum { MOST = 64, TEXT_MOST = 1024 };

/* "a:10-50@2" is a call of a, of thread 2 (1 without it); in the order of a file: by thread, and there by their ends. */
static void read_calls(struct python_calls *c, struct names *names, const char *text, struct arena *mem)
{
    char copy[TEXT_MOST], *rest = copy, name[64];
    *c = (struct python_calls){ .begin_ns = arena_take(mem, MOST, sizeof *c->begin_ns),
                                .end_ns = arena_take(mem, MOST, sizeof *c->end_ns),
                                .process = arena_take(mem, MOST, sizeof *c->process),
                                .thread = arena_take(mem, MOST, sizeof *c->thread),
                                .name = arena_take(mem, MOST, sizeof *c->name) };
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token; (token = strsep(&rest, " "));) {
        long begin, end;
        unsigned thread = 1;
        if (sscanf(token, "%63[^:]:%ld-%ld@%u", name, &begin, &end, &thread) < 3)
            continue;
        c->begin_ns[c->n] = begin;
        c->end_ns[c->n] = end;
        c->thread[c->n] = thread;
        c->name[c->n++] = names_addz(names, name);
    }
}

static void self_times_are_without_inner_calls(void **state)
{
    static const struct {
        const char *what, *calls, *name;
        uint64_t n;
        int64_t ns;
    } row[] = {
        { "a call alone", "a:10-50", "a", 1, 40 },
        { "what it calls is not its own", "b:20-30 a:10-50", "a", 1, 30 },
        { "nor is what that calls", "c:22-25 b:20-30 a:10-50", "a", 1, 30 },
        { "two calls inside", "b:20-30 b:35-40 a:10-50", "a", 1, 25 },
        { "calls of one name are added up", "b:20-30 b:35-40 a:10-50", "b", 2, 15 },
        { "a function that calls itself", "a:20-30 a:10-50", "a", 2, 40 },
        { "a call that ended before the other began", "b:0-5 a:10-50", "a", 1, 40 },
        { "an inner call that began with the outer one", "b:10-20 a:10-50", "a", 1, 30 },
        { "threads do not call each other", "b:20-30@2 a:10-50@1", "a", 1, 40 },
        { "an end before the begin counts as nothing", "a:50-10", "a", 1, 0 },
        { "more inside than there is counts as nothing", "b:20-90 a:10-50", "a", 1, 0 },
        { "a thread with few calls waits",
          "a:0-1 a:1-2 a:2-3 a:3-4 a:4-5 a:5-6 a:6-7 a:7-8 a:8-9 a:9-10 a:10-11 a:11-12 a:12-13 a:13-14 a:14-15 a:15-16 "
          "a:16-17 a:17-18 a:18-19 a:19-20 wait:0-1000@2",
          "wait", 0, 0 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct arena *mem = arena_new();
        struct names *names = names_new();
        struct python_calls c;
        print_message("  %s\n", row[i].what);
        read_calls(&c, names, row[i].calls, mem);
        struct python_self *self = calloc(names_count(names), sizeof *self);
        assert_non_null(self);
        assert_true(python_self_sum(self, &c));
        assert_int_equal(self[names_addz(names, row[i].name)].n, row[i].n);
        assert_int_equal(self[names_addz(names, row[i].name)].ns, row[i].ns);
        free(self);
        names_free(names);
        arena_free(mem);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(self_times_are_without_inner_calls) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
