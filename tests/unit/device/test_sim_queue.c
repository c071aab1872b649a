/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "child.h"
#include "device/sim_npu/sim_op_names.h"
#include "device/sim_npu/sim_queue.h"
#include "recorded.h"

/* ---- names ---- */

static void names_are_in_order_and_found(void **state)
{
    for (size_t i = 0; i < sim_n_op_rows; i++) {
        if (i > 0)
            assert_true(strcmp(sim_op_rows[i - 1].name, sim_op_rows[i].name) < 0);
        assert_ptr_equal(sim_op_row_of(sim_op_rows[i].name), &sim_op_rows[i]);
        assert_int_equal(sim_op_rows[i].type == NULL, sim_op_rows[i].work == SIM_OP_IDLE);
        if (sim_op_rows[i].type)
            assert_in_range(strlen(sim_op_rows[i].type), 1, SIM_TYPE_BYTES - 1);
    }
    assert_null(sim_op_row_of("nobody_knows_me"));
    (void)state;
}

/* ---- operators ---- */

static const char block[4]; /* storages */

static struct ascope_sim_operand operand(const void *storage, uint32_t type, bool is_dense)
{
    return (struct ascope_sim_operand){
        .tensor = { type, 2, { 4, 4 } }, .bytes = 64, .storage = storage, .is_dense = is_dense
    };
}

static void begin(struct ascope_sim_op *op, const char *name)
{
    ascope_sim_op_begin(op, name);
    op->in[op->n_in++] = operand(&block[0], ASCOPE_SIM_FLOAT, true);
    op->in[op->n_in++] = operand(&block[1], ASCOPE_SIM_FLOAT, true);
}

static void end(struct ascope_sim_op *op, const void *storage)
{
    op->out[op->n_out++] = operand(storage, ASCOPE_SIM_FLOAT, true);
    assert_true(ascope_sim_op_end(op));
}

static void on_device(struct ascope_options *o)
{
    o->device = "sim";
    o->activities = ASCOPE_CPU | ASCOPE_NPU;
}

static const char *name_at(const struct collection *s, const struct queue_spans *q, size_t i)
{
    return names_text(s->profile.names, q->name[i]);
}

/* Ends the session; names at the far end of the queue, in order, with a blank between them. Each was put in once. */
static void queued(struct ascope_session *s, char *names, size_t room)
{
    struct collection r;
    ascope_sim_ops_wait();
    recorded_end(s, &r);
    const struct queue_spans *in = &r.framework.enqueue, *out = &r.framework.dequeue;
    assert_int_equal(in->n, out->n);
    size_t n = 0;
    names[0] = '\0';
    for (size_t i = 0; i < out->n && n < room; i++) {
        n += (size_t)snprintf(names + n, room - n, "%s%s", i > 0 ? " " : "", name_at(&r, out, i));
        size_t k = 0;
        while (k < in->n && in->id[k] != out->id[i])
            k++;
        assert_true(k < in->n);
        assert_string_equal(name_at(&r, in, k), name_at(&r, out, i));
        assert_true(in->thread[k] != out->thread[i]);
    }
    collection_free(&r);
}

static void what_an_operator_is_there(void **state)
{
    static const struct {
        const char *what, *name;
        const void *out;
        const char *wanted;
    } row[] = {
        { "the table has its type", "aten::addmm", &block[2], "MatMulV3" },
        { "also if it writes into an input", "aten::add_", &block[0], "Add" },
        { "others have a name made from theirs", "aten::native_group_norm", &block[2], "NativeGroupNorm" },
        { "a view computes nothing", "aten::some_view", &block[1], "" },
        { "in place is no view", "aten::some_thing_", &block[1], "SomeThing" },
        { "memory of nobody is new", "aten::some_thing", NULL, "SomeThing" },
        { "looking computes nothing", "aten::empty_like", &block[2], "" },
        { "not the framework's", "mine::addmm", &block[2], "" },
        { "a name that is not there", "aten::", &block[2], "" },
        { "a number is copied to the host", "aten::_local_scalar_dense", NULL, "acl_memcpy_device_to_host" },
        { "a new tensor to the device", "aten::lift_fresh", &block[0], "acl_memcpy_host_to_device" },
        { "a copy", "aten::copy_", &block[0], "acl_memcpy_device_to_device" },
        { "a long name is cut", "aten::a0123456789b0123456789c0123456789d0123456789e0123456789f0123456789", &block[2],
          "A0123456789b0123456789c0123456789d0123456789e0123456789f0123456" },
    };
    char names[256];
    for (size_t i = 0; i < ROWS(row); i++) {
        struct ascope_sim_op op;
        print_message("  %s\n", row[i].what);
        struct ascope_session *s = recorded_begin(on_device);
        begin(&op, row[i].name);
        end(&op, row[i].out);
        queued(s, names, sizeof names);
        assert_string_equal(names, row[i].wanted);
    }
    (void)state;
}

static void copies_that_change_something_are_kernels(void **state)
{
    char names[256];
    struct ascope_sim_op op;
    struct ascope_session *s = recorded_begin(on_device);
    begin(&op, "aten::copy_");
    op.in[1].tensor.type = ASCOPE_SIM_FLOAT16;
    end(&op, &block[0]);
    begin(&op, "aten::copy_");
    op.in[1].is_dense = false;
    end(&op, &block[0]);
    begin(&op, "aten::mul"); /* of nothing */
    op.out[op.n_out++] = (struct ascope_sim_operand){ .tensor = { ASCOPE_SIM_FLOAT, 1, { 0 } } };
    assert_true(ascope_sim_op_end(&op));
    queued(s, names, sizeof names);
    assert_string_equal(names, "Cast ViewCopy");
    (void)state;
}

static void what_an_operator_calls_is_part_of_it(void **state)
{
    char names[256];
    struct ascope_sim_op outer, middle, inner;
    struct ascope_session *s = recorded_begin(on_device);
    begin(&outer, "aten::addmm"); /* one kernel, */
    begin(&middle, "aten::anything");
    assert_false(middle.wants_tensors);
    begin(&inner, "aten::mul");
    end(&inner, &block[2]);
    end(&middle, &block[2]);
    end(&outer, &block[2]);
    begin(&outer, "aten::linear"); /* and one whose parts are the kernels */
    begin(&inner, "aten::t");
    end(&inner, &block[0]);
    begin(&inner, "aten::mm");
    end(&inner, &block[2]);
    end(&outer, &block[2]);
    queued(s, names, sizeof names);
    assert_string_equal(names, "MatMulV3 MatMulV3");
    (void)state;
}

static void *ends_it(void *op)
{
    assert_false(ascope_sim_op_end(op));
    return NULL;
}

static void an_end_out_of_turn_is_said(void **state)
{
    char names[256];
    struct ascope_sim_op far, next;
    pthread_t other;
    struct ascope_session *s = recorded_begin(on_device);
    begin(&far, "aten::far");
    assert_int_equal(pthread_create(&other, NULL, ends_it, &far), 0);
    pthread_join(other, NULL);
    begin(&next, "aten::mul");
    assert_false(ascope_sim_op_end(&far));
    end(&next, &block[2]);
    assert_true(ascope_sim_op_end(&far)); /* has parts */
    queued(s, names, sizeof names);
    assert_string_equal(names, "Mul");
    (void)state;
}

static void nothing_is_queued_without_a_session(void **state)
{
    struct ascope_sim_op op;
    begin(&op, "aten::mul");
    end(&op, &block[2]);
    ascope_sim_ops_wait();
    char names[256];
    queued(recorded_begin(on_device), names, sizeof names);
    assert_string_equal(names, "");
    (void)state;
}

/* ---- threads ---- */

enum { THREADS = 4, OF_A_THREAD = SIM_QUEUE_TASKS }; /* more than the queue holds */

static void *works(void *unused)
{
    struct ascope_sim_op op;
    for (unsigned i = 0; i < OF_A_THREAD; i++) {
        begin(&op, i % 256 == 0 ? "aten::_local_scalar_dense" : "aten::mul");
        end(&op, &block[2]);
    }
    return unused;
}

static void a_full_queue_waits_and_loses_nothing(void **state)
{
    static char names[THREADS * OF_A_THREAD * 32];
    pthread_t thread[THREADS];
    struct ascope_session *s = recorded_begin(on_device);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, works, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    queued(s, names, sizeof names);
    unsigned n = 0;
    for (const char *at = names; *at; at++)
        n += *at == ' ';
    assert_int_equal(n + 1, THREADS * OF_A_THREAD);
    (void)state;
}

static atomic_bool is_enough;

static void *goes_on(void *until_full) /* NULL: until it is enough */
{
    struct ascope_sim_op op;
    for (unsigned i = 0; until_full ? i < 3 * SIM_QUEUE_TASKS : !is_enough; i++) {
        begin(&op, "aten::mul");
        op.in[0].tensor.dim[0] = op.in[0].tensor.dim[1] = 4096; /* longer than it takes to put it into the queue */
        end(&op, &block[2]);
    }
    return NULL;
}

static void who_waits_waits_for_what_is_queued_by_then(void **state)
{
    pthread_t other;
    struct ascope_session *s = recorded_begin(on_device);
    goes_on(&other); /* the device and the queue are full */
    assert_int_equal(pthread_create(&other, NULL, goes_on, NULL), 0);
    ascope_sim_ops_wait();
    is_enough = true;
    pthread_join(other, NULL);
    ascope_session_discard(s);
    (void)state;
}

static void a_child_process_has_a_queue_of_its_own(void **state)
{
    char names[256];
    struct ascope_sim_op op;
    struct ascope_session *s = recorded_begin(on_device);
    begin(&op, "aten::mul");
    end(&op, &block[2]);
    queued(s, names, sizeof names);
    assert_string_equal(names, "Mul");
    const pid_t child = child_fork();
    if (child == 0) {
        s = recorded_begin(on_device);
        begin(&op, "aten::add");
        end(&op, &block[2]);
        queued(s, names, sizeof names);
        _exit(strcmp(names, "Add") == 0 ? 0 : 1);
    }
    child_end_well(child);
    (void)state;
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_in_order_and_found),
        IN_A_FOLDER(what_an_operator_is_there),
        IN_A_FOLDER(copies_that_change_something_are_kernels),
        IN_A_FOLDER(what_an_operator_calls_is_part_of_it),
        IN_A_FOLDER(an_end_out_of_turn_is_said),
        IN_A_FOLDER(nothing_is_queued_without_a_session),
        IN_A_FOLDER(a_full_queue_waits_and_loses_nothing),
        IN_A_FOLDER(who_waits_waits_for_what_is_queued_by_then),
        IN_A_FOLDER(a_child_process_has_a_queue_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
