/* SPDX-License-Identifier: Apache-2.0 */
/* Operators, each with one kernel of its number, in ranges of modules. */
#include "test.h"

#include "cluster/modes/mode_parts.h"

enum { MOST = 12 };
struct made_op {
    const char *name, *kernel; /* NULL: behind the last; no kernel */
    int64_t begin, end, ns;
    uint64_t flow; /* shared by a forward and a backward operator; 0: none */
};
struct made_range {
    const char *name, *domain;
    int64_t begin, end;
};

struct made {
    struct rank r;
    name_id op[MOST], kernel_name[MOST], type[MOST], message[MOST], domain[MOST];
    int64_t begin[MOST], end[MOST], t_begin[MOST], t_end[MOST], m_begin[MOST], m_end[MOST];
    uint64_t connection[MOST], link[2 * MOST];
    uint32_t link_op[2 * MOST], kernel[MOST];
    uint8_t event_type[MOST];
};

static void make(struct made *m, const struct made_op *op, const struct made_range *range)
{
    *m = (struct made){ .r = { .names = names_new(), .mem = arena_new() } };
    size_t n = 0, n_tasks = 0, n_links = 0, n_marks = 0;
    for (; op[n].name; n++) {
        m->op[n] = names_addz(m->r.names, op[n].name);
        m->begin[n] = op[n].begin;
        m->end[n] = op[n].end;
        if (!op[n].kernel)
            continue;
        m->kernel_name[n_tasks] = names_addz(m->r.names, op[n].kernel);
        m->t_begin[n_tasks] = 1000 + op[n].begin;
        m->t_end[n_tasks] = 1000 + op[n].begin + op[n].ns;
        m->kernel[n_tasks] = (uint32_t)n_tasks;
        m->link[n_links] = m->connection[n_tasks] = n_tasks + 1;
        m->link_op[n_links++] = (uint32_t)n;
        n_tasks++;
    }
    for (uint64_t flow = 1; flow < 4; flow++)
        for (size_t i = 0; i < n; i++)
            if (op[i].flow == flow) {
                m->link[n_links] = 100 + flow;
                m->link_op[n_links++] = (uint32_t)i;
            }
    for (; range[n_marks].name; n_marks++) {
        m->message[n_marks] = names_addz(m->r.names, range[n_marks].name);
        m->domain[n_marks] = names_addz(m->r.names, range[n_marks].domain);
        m->m_begin[n_marks] = range[n_marks].begin;
        m->m_end[n_marks] = range[n_marks].end;
        m->event_type[n_marks] = 2;
    }
    m->r.ops = (struct rank_ops){ n, m->op, m->begin, m->end, NULL };
    m->r.op_links = (struct rank_op_links){ n_links, m->link, m->link_op };
    m->r.tasks = (struct rank_tasks){ n_tasks, m->type, m->t_begin, m->t_end, m->connection, m->kernel, NULL };
    m->r.kernels = (struct rank_kernels){ .n = n_tasks, .name = m->kernel_name };
    m->r.marks = (struct rank_marks){ n_marks, m->message, m->domain, m->m_begin, m->m_end, m->event_type, NULL, NULL };
}

static void operators_belong_to_the_innermost_module(void **state)
{
    static const struct {
        const char *what;
        struct made_op op[MOST];
        struct made_range range[MOST];
        const char *wanted[MOST]; /* parent|module|operator|kernels|ns|count */
    } row[] = {
        { "no module", { { "mm", "MatMul", 10, 20, 5, 0 } }, { { 0 } }, { 0 } },
        { "other domains are no modules", { { "mm", "MatMul", 10, 20, 5, 0 } }, { { "a", "default", 0, 50 } }, { 0 } },
        { "inside, outside, without kernels",
          { { "mm", "MatMul", 10, 20, 5, 0 }, { "view", NULL, 21, 22, 0, 0 }, { "add", "Add", 60, 70, 3, 0 } },
          { { "model", "Module", 0, 50 } },
          { "|model|mm|MatMul|5|1" } },
        { "nested modules have the names around them",
          { { "mm", "MatMul", 10, 20, 5, 0 }, { "add", "Add", 30, 40, 3, 0 } },
          { { "model", "Module", 0, 100 }, { "layer", "Module", 5, 50 }, { "mlp", "Module", 8, 25 } },
          { "model/layer|mlp|mm|MatMul|5|1", "model|layer|add|Add|3|1" } },
        { "runs of the same module are added up",
          { { "mm", "MatMul", 10, 20, 5, 0 }, { "mm", "MatMul", 60, 70, 7, 0 } },
          { { "model", "Module", 0, 50 }, { "model", "Module", 50, 90 } },
          { "|model|mm|MatMul|12|2" } },
        { "modules of one name with other operators are numbered",
          { { "mm", "MatMul", 10, 20, 5, 0 }, { "mm", "MatMul", 60, 70, 7, 0 }, { "add", "Add", 72, 75, 1, 0 } },
          { { "model", "Module", 0, 50 }, { "model", "Module", 50, 90 } },
          { "|model_0|mm|MatMul|5|1", "|model_1|mm|MatMul|7|1", "|model_1|add|Add|1|1" } },
        { "the backward pass has the module of its forward operators",
          { { "mm", "MatMul", 10, 20, 5, 1 },
            { "MmBackward", "MatMulGrad", 200, 210, 9, 1 },
            { "other", "X", 220, 230, 1, 0 } },
          { { "model", "Module", 0, 50 }, { "mlp", "Module", 5, 30 } },
          { "model|mlp|mm|MatMul|5|1", "model|[Backward]mlp|MmBackward|MatMulGrad|9|1" } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct made m;
        struct module_stats stats = { 0 };
        print_message("  %s\n", row[i].what);
        make(&m, row[i].op, row[i].range);
        assert_true(module_stats_find(&stats, &m.r, NULL, m.r.mem));
        size_t n = 0;
        for (; row[i].wanted[n]; n++) {
            char text[200];
            assert_true(n < stats.list.n);
            const struct module_stat *s = &stats.list.at[n];
            const struct names *names = m.r.names;
            snprintf(text, sizeof text, "%s|%s|%s|%s|%d|%u", names_text(names, s->parent), names_text(names, s->module),
                     names_text(names, s->op), names_text(names, s->kernels), (int)s->total_ns, (unsigned)s->count);
            assert_string_equal(text, row[i].wanted[n]);
        }
        assert_int_equal(stats.list.n, n);
        arena_free(m.r.mem);
        names_free(m.r.names);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(operators_belong_to_the_innermost_module) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
