/* SPDX-License-Identifier: Apache-2.0 */
#include "answers/run/run_measures.h"

#include <math.h>

#include "answers/judge/compare.h"
#include "answers/run/kernel_class.h"
#include "test.h"

static void assert_near(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-6))
        fail_msg("%.9g, wanted %.9g", found, wanted);
}

/* A rank whose steps took these times, with one kernel that is half of each. */
static void rank_make(struct measured_rank *out, const int64_t *time_ns, size_t n, struct names *names,
                      struct arena *mem)
{
    struct measuring m;
    *out = (struct measured_rank){
        .path = "x", .has_device = true, .has_steps = true, .n_steps = n, .allocated_bytes = -1, .reserved_bytes = -1
    };
    out->step = arena_take(mem, n, sizeof *out->step);
    for (size_t i = 0; i < n; i++)
        out->step[i] = (struct run_step){ .name = names_number(names, i),
                                          .part_ns = { time_ns[i], time_ns[i] / 2, 0, time_ns[i] / 2 } };
    assert_true(measuring_begin(&m, out, names, mem));
    for (size_t i = 0; i < n; i++) {
        measuring_add(&m, MEASURE_KERNEL, names_addz(names, "k"), NAME_EMPTY, (uint32_t)i, (double)time_ns[i] / 4);
        measuring_add(&m, MEASURE_KERNEL, names_addz(names, "k"), NAME_EMPTY, (uint32_t)i, (double)time_ns[i] / 4);
    }
    measuring_add(&m, MEASURE_COPY, names_addz(names, "once"), NAME_EMPTY, 0, 600);
    measuring_add(&m, MEASURE_COPY, names_addz(names, "before"), NAME_EMPTY, NO_STEP, 600);
    assert_true(measuring_end(&m));
}

static const struct measure *find(const struct measured_rank *r, struct names *names, const char *name)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(names_text(names, r->at[i].name), name) == 0)
            return &r->at[i];
    fail_msg("no %s", name);
    return NULL;
}

/* The times of a measure in the usual steps, as "step:ns " */
static void assert_shares(const struct measured_rank *r, const struct measure *m, const char *wanted)
{
    char found[200] = "";
    for (size_t i = 0; i < m->n_shares; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%u:%g ", r->share[m->first + i].step,
                 (double)r->share[m->first + i].ns);
    assert_string_equal(found, wanted);
}

static void means_and_shares(void **state)
{
    static const int64_t time_ns[] = { 1000, 1040, 5000, 960 }; /* the third is slow */
    struct arena *mem = arena_new();
    struct names *names = names_new();
    struct measured_rank r;
    rank_make(&r, time_ns, ROWS(time_ns), names, mem);
    assert_int_equal(r.n_usual, 3);
    assert_true(r.step[2].is_slow);
    assert_near(r.part_ns[RUN_STEP], 1000);
    const struct measure *k = find(&r, names, "k");
    assert_int_equal(k->n, 8);
    assert_near(k->total_ns, 4000);
    assert_near(k->min_ns, 240);
    assert_near(k->max_ns, 1250);
    assert_near(k->mean_ns, 500);
    assert_near(k->runs, 2);
    assert_shares(&r, k, "0:500 1:520 3:480 ");
    const struct measure *once = find(&r, names, "once"); /* 600, 0, 0 */
    assert_near(once->mean_ns, 200);
    assert_shares(&r, once, "0:600 ");
    const struct measure *before = find(&r, names, "before"); /* in the sums alone */
    assert_near(before->total_ns, 600);
    assert_near(before->mean_ns, 0);
    names_free(names);
    arena_free(mem);
    (void)state;
}

static void what_is_real(void **state)
{
    static const struct {
        const char *what;
        int64_t a[6], b[6];
        size_t n;
        enum difference_state state;
    } row[] = {
        { "the same", { 1000, 1010, 990 }, { 1000, 1010, 990 }, 3, DIFFERENCE_NOISE },
        { "a tenth more, of little noise", { 1000, 1001, 999 }, { 1100, 1101, 1099 }, 3, DIFFERENCE_REAL },
        { "less is a difference, too", { 1100, 1101, 1099 }, { 1000, 1001, 999 }, 3, DIFFERENCE_REAL },
        { "a tenth more, of as much noise", { 1000, 1090, 910 }, { 1100, 1190, 1010 }, 3, DIFFERENCE_NOISE },
        { "the same with more steps",
          { 1000, 1050, 950, 1020, 980, 1000 },
          { 1100, 1150, 1050, 1120, 1080, 1100 },
          6,
          DIFFERENCE_NOISE },
        { "half more",
          { 1000, 1050, 950, 1020, 980, 1000 },
          { 1500, 1550, 1450, 1520, 1480, 1500 },
          6,
          DIFFERENCE_REAL },
        { "no noise, but next to nothing", { 1000, 1000, 1000 }, { 1009, 1009, 1009 }, 3, DIFFERENCE_NOISE },
        { "no noise, a hundredth", { 1000, 1000, 1000 }, { 1012, 1012, 1012 }, 3, DIFFERENCE_REAL },
        { "two steps", { 1000, 1000 }, { 2000, 2000 }, 2, DIFFERENCE_UNKNOWN },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct names *names = names_new();
        struct measured_rank side[2];
        struct measured_run run[2] = { { "a", 1, &side[0] }, { "b", 1, &side[1] } };
        struct comparison c;
        struct error e = { 0 };
        size_t n_changes;
        print_message("  %s\n", row[i].what);
        rank_make(&side[0], row[i].a, row[i].n, names, mem);
        rank_make(&side[1], row[i].b, row[i].n, names, mem);
        assert_true(compare_runs(&c, run, 1, 1, names, mem, &e));
        assert_int_equal(c.part[RUN_STEP].state, row[i].state);
        assert_int_equal(c.row[0].kind, MEASURE_KERNEL);
        assert_int_equal(c.row[0].difference.state, row[i].state);
        assert_non_null(compare_changes(&c, &n_changes, mem));
        assert_int_equal(n_changes, row[i].state == DIFFERENCE_NOISE ? 0 : 1);
        names_free(names);
        arena_free(mem);
    }
    (void)state;
}

static void classes_of_kernels(void **state)
{
    static const struct {
        const char *by, *kernel, *class;
    } row[] = {
        { "aten::addmm", "MatMulV2", "matmul" },
        { "", "ampere_sgemm_128x64_tn", "matmul" },
        { "aten::convolution_backward", "wgrad_alg0_engine", "conv backward" },
        { "aten::conv2d", "implicit_convolve_sgemm", "conv forward" },
        { "npu_fusion_attention_grad", "x", "attention backward" },
        { "", "FlashAttentionScore", "attention forward" },
        { "aten::relu", "vectorized_elementwise_kernel", "vector" },
        { "", "TransData", "transpose" },
        { "", "Cast", "transpose" },
        { "aten::to", "convert_layout_bwd_kernel", "transpose" },
        { "", "ConvertGrad", "transpose" },
        { "", "void pytorch_flash::flash_bwd_convert_dq_kernel<cutlass::half_t>(Flash_bwd_params, int)",
          "attention backward" },
        { "", "void pytorch_flash::flash_fwd_kernel<cutlass::half_t>(Flash_fwd_params)", "attention forward" },
    };
    for (size_t i = 0; i < ROWS(row); i++)
        assert_string_equal(kernel_class(row[i].by, row[i].kernel), row[i].class);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(means_and_shares), cmocka_unit_test(what_is_real),
                                        cmocka_unit_test(classes_of_kernels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
