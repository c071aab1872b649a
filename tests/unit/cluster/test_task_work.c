/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of operators in ranges that recorded their operations. */
#include "test.h"

#include "cluster/rank/rank_parts.h"
#include "profile/calls.h"

enum { MOST = 8 };

struct made_kernel {
    const char *op_type, *task_type, *in, *types, *out;
    uint64_t connection; /* of an operator; 0: of none */
    int64_t ns;
};
struct made_range {
    const char *message, *domain;
    int64_t begin, end;
    uint8_t event_type;
};

struct made {
    struct rank r;
    name_id op_type[MOST], task_type[MOST], in[MOST], types[MOST], out[MOST], format[MOST], message[MOST], domain[MOST],
        op_name[MOST];
    int64_t begin[MOST], end[MOST], m_begin[MOST], m_end[MOST], op_begin[MOST];
    uint64_t connection[MOST], link[MOST];
    uint32_t kernel[MOST], link_op[MOST];
    uint8_t event_type[MOST];
};

/* Operators begin at 10, 20, 30 …; number 1 is that of the first two, which contain each other, number 2 of the third,
 * and so on. */
static const struct task_work *work_of(struct made *m, const struct made_kernel *k, const struct made_range *range)
{
    *m = (struct made){ .r = { .names = names_new(), .mem = arena_new() } };
    size_t n = 0, n_marks = 0;
    for (; k[n].op_type; n++) {
        m->op_type[n] = names_addz(m->r.names, k[n].op_type);
        m->task_type[n] = names_addz(m->r.names, k[n].task_type);
        m->in[n] = names_addz(m->r.names, k[n].in);
        m->types[n] = names_addz(m->r.names, k[n].types);
        m->out[n] = names_addz(m->r.names, k[n].out);
        m->begin[n] = 1000 * (int64_t)n;
        m->end[n] = m->begin[n] + k[n].ns;
        m->connection[n] = k[n].connection;
        m->kernel[n] = (uint32_t)n;
    }
    for (; range && range[n_marks].message; n_marks++) {
        m->message[n_marks] = names_addz(m->r.names, range[n_marks].message);
        m->domain[n_marks] = names_addz(m->r.names, range[n_marks].domain);
        m->m_begin[n_marks] = range[n_marks].begin;
        m->m_end[n_marks] = range[n_marks].end;
        m->event_type[n_marks] = range[n_marks].event_type;
    }
    for (uint32_t i = 0; i < MOST; i++) {
        m->op_begin[i] = 10 * (i + 1);
        m->link[i] = i < 2 ? 1 : i;
        m->link_op[i] = i < 2 ? 1 - i : i; /* the inner one first */
    }
    m->r.tasks = (struct rank_tasks){ n, NULL, m->begin, m->end, m->connection, m->kernel, NULL };
    m->r.kernels = (struct rank_kernels){ .n = n,
                                          .op_type = m->op_type,
                                          .task_type = m->task_type,
                                          .input_shapes = m->in,
                                          .input_types = m->types,
                                          .output_shapes = m->out,
                                          .input_formats = m->format,
                                          .output_formats = m->format };
    m->r.ops = (struct rank_ops){ MOST, m->op_name, m->op_begin, NULL, NULL };
    m->r.op_links = (struct rank_op_links){ MOST, m->link, m->link_op };
    m->r.marks = (struct rank_marks){ n_marks, m->message, m->domain, m->m_begin, m->m_end, m->event_type, NULL, NULL };
    const struct task_work *const found = task_work_find(&m->r, m->r.mem);
    assert_non_null(found);
    return found;
}

static void made_free(struct made *m)
{
    arena_free(m->r.mem);
    names_free(m->r.names);
}

#define PRODUCT "MatMulV2", "AI_CORE", "\"3,5;5,7\"", "DT_BF16;DT_BF16", "\"3,7\""

static void shapes_say_it_where_nothing_was_recorded(void **state)
{
    static const struct made_kernel kernel[] = {
        { PRODUCT, 1, 100 }, { "Cast", "AI_VECTOR_CORE", "3,5", "FLOAT", "3,5", 2, 50 }, { PRODUCT, 0, 100 }, { 0 }
    };
    struct made m;
    const struct task_work *const w = work_of(&m, kernel, NULL);
    assert_true(w[0].operations == 210 && w[0].numbers == NUMBERS_16 && w[0].op == 1); /* the inner one */
    assert_string_equal(names_text(m.r.names, w[0].by), "MatMulV2");
    assert_true(w[1].operations == 0);
    assert_true(w[2].operations == 210 && w[2].op == NO_ROW);
    made_free(&m);
    (void)state;
}

static void recorded_operations_are_of_products(void **state)
{
    static const struct made_kernel kernel[] = {
        { "Transpose", "AI_VECTOR_CORE", "3,5", "DT_BF16", "5,3", 1, 40 },
        { PRODUCT, 1, 100 },
        { PRODUCT, 1, 300 },
        { "Custom", "AI_CORE", "N/A", "N/A", "N/A", 2,
          100 }, /* nothing is known of it, but that it has cores that multiply */
        { "Cast", "AI_VECTOR_CORE", "3,5", "FLOAT", "3,5", 2, 100 },
        { "Add", "AI_VECTOR_CORE", "3,5", "FLOAT", "3,5", 3, 100 },
        { PRODUCT, 4, 100 },
        { 0 },
    };
    static const struct made_range range[] = {
        { "4000-mm", "mfu_flops", 15, 25, 2 },
        { "777-attention", "mfu_flops", 29, 31, 2 },
        { "55-add", "mfu_flops", 40, 45, 2 },
        { "99-mm", "mfu_flops", 46, 49, 2 },
        { 0 },
    };
    struct made m;
    const struct task_work *const w = work_of(&m, kernel, range);
    static const double wanted[] = { 0, 1000, 3000, 777, 0, 55, 210 };
    static const char *const by[] = { "Transpose", "mm", "mm", "attention", "Cast", "add", "MatMulV2" };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        print_message("  %s\n", by[i]);
        assert_true(w[i].operations == wanted[i]);
        assert_string_equal(names_text(m.r.names, w[i].by), by[i]);
    }
    made_free(&m);
    (void)state;
}

static void other_ranges_record_nothing(void **state)
{
    static const struct made_kernel kernel[] = { { "Custom", "AI_CORE", "N/A", "N/A", "N/A", 2, 100 }, { 0 } };
    static const struct made_range row[] = {
        { "48-mm", "other", 25, 35, 2 },      { "48-mm", "mfu_flops", 25, 35, 3 },
        { "48-mm", "mfu_flops", 25, 25, 2 },  { "48-mm", "mfu_flops", 31, 35, 2 },
        { "48", "mfu_flops", 25, 35, 2 },     { "48-", "mfu_flops", 25, 35, 2 },
        { "0-mm", "mfu_flops", 25, 35, 2 },   { "-5-mm", "mfu_flops", 25, 35, 2 },
        { "4e3-mm", "mfu_flops", 25, 35, 2 }, { "0x20-mm", "mfu_flops", 25, 35, 2 },
        { "mm", "mfu_flops", 25, 35, 2 },     { "", "mfu_flops", 25, 35, 2 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const struct made_range range[] = { row[i], { 0 } };
        struct made m;
        print_message("  %s of %s\n", row[i].message, row[i].domain);
        assert_true(work_of(&m, kernel, range)[0].operations == 0);
        made_free(&m);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shapes_say_it_where_nothing_was_recorded),
                                        cmocka_unit_test(recorded_operations_are_of_products),
                                        cmocka_unit_test(other_ranges_record_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
