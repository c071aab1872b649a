/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "folder.h"
#include "load/framework/collection_load.h"
#include "raw/torch.h"
#include "sim/job/generate.h"
#include "worked.h"

static char path[600]; /* where the last simulation went */

static struct sim_options pytorch(uint64_t kernels, uint64_t operators)
{
    struct sim_options o = sim_defaults;
    o.framework = SIM_PYTORCH;
    o.kernels = kernels;
    o.operators = operators;
    o.out_dir = folder;
    return o;
}

static void simulate(const struct sim_options *o)
{
    struct error e = { 0 };
    const uint64_t before = worked(), expected = o->kernels > 0 ? o->kernels : o->operators;
    if (!sim_write(o, path, sizeof path, &e))
        fail_msg("%s", e.text);
    const uint64_t units = worked() - before, slack = expected / 10 + 10; /* operators are launched by five */
    assert_true(units + slack >= expected && units <= expected + slack);  /* as the progress bar expects */
}

static void collection_make(struct collection *s, const struct sim_options *o)
{
    struct error e = { 0 };
    simulate(o);
    if (!pt_load(s, path, &(struct collection_request){ .keeps_tensors = true, .n_threads = 2 }, &e))
        fail_msg("%s", e.text);
}

static void readers_find_nothing_damaged(void **state)
{
    static const struct {
        const char *what;
        uint64_t kernels, operators, n_ops;
        uint32_t steps;
        bool kfc;
    } row[] = {
        { "a few operators for each kernel", 200, 0, 1000, 3, false },
        { "many for each", 50, 3000, 3000, 3, false },
        { "the AI CPU runs collectives", 400, 0, 2000, 2, true },
        { "no device", 0, 1000, 1000, 4, false },
        { "hardly anything", 0, 8, 8, 4, false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct collection s;
        folder_make(NULL);
        print_message("  %s\n", row[i].what);
        struct sim_options o = pytorch(row[i].kernels, row[i].operators);
        o.steps = row[i].steps;
        o.kfc = row[i].kfc;
        collection_make(&s, &o);
        assert_int_equal(s.framework.ops.n, row[i].n_ops);
        assert_int_equal(s.has_device, row[i].kernels > 0);
        assert_int_equal(s.settings.has_npu, row[i].kernels > 0);
        for (size_t f = 0; f < FRAMEWORK_FILES; f++)
            assert_int_equal(losses_damage(&s.framework.file[f].lost), 0);
        assert_int_equal(losses_damage(&s.profile.lost), 0);
        collection_free(&s);
        folder_remove(NULL);
    }
    (void)state;
}

/* Too few operators are made more: every kernel needs one, every step has its own. */
static void every_kernel_has_an_operator(void **state)
{
    struct sim_options o = pytorch(300, 10);
    struct collection s;
    collection_make(&s, &o);
    assert_true(s.framework.ops.n >= 300);
    assert_true(s.framework.ops.n < 400);
    collection_free(&s);
    (void)state;
}

static void steps_are_reported_by_their_names(void **state)
{
    struct sim_options o = pytorch(60, 0);
    struct collection s;
    collection_make(&s, &o);
    const struct framework_ops *ops = &s.framework.ops;
    unsigned n_steps = 0;
    for (size_t i = 0; i < ops->n; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%u", n_steps);
        if (strcmp(names_text(s.profile.names, ops->name[i]), name) != 0)
            continue;
        assert_int_equal(ops->scope[i], OP_SCOPE_USER);
        n_steps++;
    }
    assert_int_equal(n_steps, o.steps);
    collection_free(&s);
    (void)state;
}

/* One thread takes tasks out of the queue: one after the other, each after it was put in. */
static void tasks_pass_through_the_queue_in_order(void **state)
{
    struct sim_options o = pytorch(500, 0);
    struct collection s;
    collection_make(&s, &o);
    const struct queue_spans *in = &s.framework.enqueue, *out = &s.framework.dequeue;
    assert_true(in->n > 500);
    assert_int_equal(in->n, out->n);
    for (size_t i = 0; i < in->n; i++) {
        assert_int_equal(in->id[i], i);
        assert_int_equal(out->id[i], i);
        assert_int_equal(in->name[i], out->name[i]);
        assert_true(in->end_ns[i] < out->begin_ns[i]);
        assert_true(out->begin_ns[i] < out->end_ns[i]);
        assert_true(i == 0 || out->end_ns[i - 1] < out->begin_ns[i]);
    }
    collection_free(&s);
    (void)state;
}

/* A backward operator has the number of a forward one, which ran earlier, on another thread. */
static void backward_operators_follow_their_forward(void **state)
{
    struct sim_options o = pytorch(200, 0);
    struct collection s;
    size_t n_backward = 0;
    collection_make(&s, &o);
    const struct framework_ops *ops = &s.framework.ops;
    for (size_t i = 0; i < ops->n; i++) {
        if (ops->forward_thread[i] == 0)
            continue;
        size_t k = 0;
        while (k < i && (ops->sequence[k] != ops->sequence[i] || ops->forward_thread[k] != 0))
            k++;
        assert_true(k < i);
        assert_true(ops->end_ns[k] < ops->begin_ns[i]);
        assert_true(ops->thread[k] != ops->thread[i]);
        n_backward++;
    }
    assert_true(n_backward > 50);
    collection_free(&s);
    (void)state;
}

static void memory_adds_up(void **state)
{
    struct sim_options o = pytorch(0, 5000);
    struct collection s;
    int64_t allocated = 0;
    size_t n = 0;
    collection_make(&s, &o);
    const struct framework_memory *m = &s.framework.memory;
    for (size_t i = 0; i < m->n; i++) {
        if (m->device_type[i] != MEMORY_ON_NPU || m->component[i] != COMPONENT_CACHING)
            continue;
        allocated += m->kind[i] == MEMORY_FREE ? 0 : m->size_bytes[i];
        assert_int_equal(m->allocated_bytes[i], allocated);
        assert_true(m->reserved_bytes[i] >= allocated);
        n++;
    }
    assert_int_equal(allocated, 0);
    assert_true(n > 1000);
    collection_free(&s);
    (void)state;
}

static void every_rank_has_its_own_directory(void **state)
{
    struct sim_options o = pytorch(90, 0);
    struct collection s;
    o.processes = 3;
    collection_make(&s, &o);
    assert_int_equal(folder_count(), 3);
    assert_true(s.settings.has_rank);
    assert_int_equal(s.settings.rank, 2);
    assert_non_null(strstr(path, "/ascope-sim_"));
    assert_true(s.settings.is_simulated);
    bool is_noted = false;
    for (size_t i = 0; i < s.metadata.n; i++)
        is_noted = is_noted || strcmp(s.metadata.row[i].key, "simulated") == 0;
    assert_true(is_noted);
    collection_free(&s);
    (void)state;
}

static void a_process_of_pytorch_has_one_device(void **state)
{
    struct sim_options o = pytorch(90, 0);
    struct error e = { 0 };
    o.devices = 2;
    assert_false(sim_write(&o, path, sizeof path, &e));
    assert_int_equal(e.fault, FAULT_ASKED);
    assert_non_null(strstr(e.text, "2 devices"));
    (void)state;
}

int main(void)
{
#define IN_A_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)
    const struct CMUnitTest test[] = {
        cmocka_unit_test(readers_find_nothing_damaged),       IN_A_FOLDER(every_kernel_has_an_operator),
        IN_A_FOLDER(steps_are_reported_by_their_names),       IN_A_FOLDER(tasks_pass_through_the_queue_in_order),
        IN_A_FOLDER(backward_operators_follow_their_forward), IN_A_FOLDER(memory_adds_up),
        IN_A_FOLDER(every_rank_has_its_own_directory),        IN_A_FOLDER(a_process_of_pytorch_has_one_device),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
