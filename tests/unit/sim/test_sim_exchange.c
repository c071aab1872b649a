/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <unistd.h>

#include "analyse/profile_analyse.h"
#include "child.h"
#include "device/sim_npu/sim_queue.h"
#include "recorded.h"
#include "raw/name_hash.h"

static const char block[2]; /* storages */

static void on_device(struct ascope_options *o)
{
    o->device = "sim";
    o->activities = ASCOPE_CPU | ASCOPE_NPU;
}

static void at_level1(struct ascope_options *o)
{
    on_device(o);
    o->level = ASCOPE_LEVEL1;
}

static uint64_t begin_of(const char *name, const char *group, enum ascope_sim_type type)
{
    return ascope_sim_exchange_begin(&(struct ascope_sim_exchange){
        .name = name, .group = group, .rank = 1, .ranks = 4, .peer = -1, .type = type, .bytes = 4096 });
}

static uint64_t begin(const char *name, const char *group)
{
    return begin_of(name, group, ASCOPE_SIM_FLOAT);
}

static void compute(const char *name)
{
    struct ascope_sim_op op;
    ascope_sim_op_begin(&op, name);
    op.out[op.n_out++] =
        (struct ascope_sim_operand){ .tensor = { ASCOPE_SIM_FLOAT, 1, { 16 } }, .bytes = 64, .storage = &block[1] };
    assert_true(ascope_sim_op_end(&op));
}

/* Ends the session; what its device did. */
static const struct device *analysed(struct ascope_session *s, struct collection *r)
{
    struct error e = { 0 };
    recorded_end(s, r);
    assert_true(profile_analyse(&r->profile, 1, &e));
    assert_int_equal(r->profile.n_devices, 1);
    return &r->profile.device[0];
}

static const char *name_of(const struct collection *r, name_id id)
{
    return names_text(r->profile.names, id);
}

static void elements_have_their_type_and_count(void **state)
{
    static const struct {
        enum ascope_sim_type type;
        uint32_t hccl;
        uint64_t count;
    } row[] = { { ASCOPE_SIM_FLOAT, 4, 1024 },     { ASCOPE_SIM_INT8, 0, 4096 },  { ASCOPE_SIM_BOOL, 7, 4096 },
                { ASCOPE_SIM_INT16, 1, 2048 },     { ASCOPE_SIM_BF16, 11, 2048 }, { ASCOPE_SIM_DOUBLE, 10, 512 },
                { ASCOPE_SIM_COMPLEX128, 10, 256 } };
    struct collection r;
    struct ascope_session *s = recorded_begin(at_level1);
    for (size_t i = 0; i < ROWS(row); i++) {
        ascope_sim_exchange_end(begin_of("gloo:all_reduce", "world", row[i].type));
        ascope_sim_ops_wait();
    }
    const struct comm_ops *c = &analysed(s, &r)->comm.ops;
    assert_int_equal(c->n, ROWS(row));
    for (size_t i = 0; i < ROWS(row); i++) {
        assert_int_equal(c->data_type[i], row[i].hccl);
        assert_int_equal(c->count[i], row[i].count);
    }
    collection_free(&r);
    (void)state;
}

static void each_is_a_collective_of_its_group(void **state)
{
    static const struct {
        const char *name, *group, *node;
        unsigned number; /* in its group */
    } row[] = {
        { "gloo:all_reduce", "world", "hcom_allReduce_", 0 },     { "nccl:all_gather", "tp", "hcom_allGather_", 0 },
        { "gloo:barrier", "world", "hcom_allReduce_", 1 },        { "gloo:recv", "tp", "hcom_receive_", 1 },
        { "mpi:reduce_scatter", "dp", "hcom_reduceScatter_", 0 },
    };
    struct collection r;
    struct ascope_session *s = recorded_begin(on_device);
    for (size_t i = 0; i < ROWS(row); i++) {
        const uint64_t id = begin(row[i].name, row[i].group);
        assert_true(id != 0);
        ascope_sim_exchange_end(id);
        ascope_sim_exchange_end(id);
        ascope_sim_ops_wait();
        ascope_sim_exchange_end(id); /* is nobody's any more */
    }
    assert_int_equal(begin("gloo:unknown", "world"), 0);
    static const char *const others[] = { "mine", "model:reduce", ":reduce", "glo:reduce", "gloo2:reduce", "gloo:" };
    for (size_t i = 0; i < ROWS(others); i++)
        assert_int_equal(begin(others[i], "world"), 0);
    ascope_sim_exchange_end(0);
    const struct comm_ops *c = &analysed(s, &r)->comm.ops;
    assert_int_equal(c->n, ROWS(row));
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].name);
        char name[64];
        snprintf(name, sizeof name, "%s_%03u_%u_1", row[i].node, (unsigned)(name_hash(row[i].group) % 1000),
                 row[i].number);
        assert_string_equal(name_of(&r, c->name[i]), name);
        assert_string_equal(name_of(&r, c->group[i]), row[i].group);
    }
    collection_free(&r);
    (void)state;
}

static void *ends_it(void *id)
{
    ascope_sim_exchange_end(*(const uint64_t *)id);
    return NULL;
}

/* As long as the host takes, and what is reported afterwards runs after it. */
static void it_is_over_when_the_host_says_so(void **state)
{
    enum { WAITS_NS = 20000000 };
    struct collection r;
    pthread_t other;
    struct ascope_session *s = recorded_begin(on_device);
    uint64_t id = begin("gloo:all_reduce", NULL);
    ascope_sim_ops_wait(); /* until it is on the device */
    usleep(WAITS_NS / 1000);
    assert_int_equal(pthread_create(&other, NULL, ends_it, &id), 0);
    pthread_join(other, NULL);
    compute("aten::mul");
    ascope_sim_ops_wait();
    const struct device *d = analysed(s, &r);
    assert_int_equal(d->comm.ops.n, 1);
    assert_true(d->comm.ops.end_ns[0] - d->comm.ops.begin_ns[0] >= WAITS_NS / 10 * 9);
    size_t n_kernels = 0;
    unsigned met = 0;
    for (size_t i = 0; i < d->tasks.n; i++)
        if (d->tasks.op[i] != NO_ROW) {
            n_kernels++;
            assert_true(d->tasks.begin_ns[i] >= d->comm.ops.end_ns[0]);
        }
    assert_int_equal(n_kernels, 1);
    for (size_t i = 0; i < d->comm.tasks.n; i++)
        if (d->comm.tasks.has_info[i] && d->comm.tasks.dst_rank[i] != UINT32_MAX) { /* copies stay here */
            assert_int_equal(d->comm.tasks.src_rank[i], 1);
            met |= 1u << d->comm.tasks.dst_rank[i];
        }
    assert_int_equal(met, 0xd); /* the others of four */
    collection_free(&r);
    (void)state;
}

/* Neither operators, nor who waits for the device, nor the end of the session. */
static void one_that_does_not_end_holds_up_nobody(void **state)
{
    enum { MANY = 32 };
    uint64_t id[MANY];
    struct collection r;
    alarm(60);
    struct ascope_session *s = recorded_begin(on_device);
    for (unsigned i = 0; i < MANY; i++)
        assert_true((id[i] = begin("gloo:recv", NULL)) != 0);
    assert_int_equal(begin("gloo:recv", NULL), 0); /* too many of them */
    compute("aten::mul");
    compute("aten::_local_scalar_dense");
    ascope_sim_ops_wait();
    ascope_sim_synchronize(NULL);
    assert_int_equal(analysed(s, &r)->comm.ops.n, MANY);
    collection_free(&r);
    s = recorded_begin(on_device);
    assert_int_equal(begin("gloo:recv", NULL), 0);
    for (unsigned i = 0; i < MANY; i++) /* now: of the session before */
        ascope_sim_exchange_end(id[i]);
    ascope_sim_ops_wait();
    ascope_sim_exchange_end(begin("gloo:send", NULL));
    ascope_sim_ops_wait();
    assert_int_equal(analysed(s, &r)->comm.ops.n, 1);
    collection_free(&r);
    alarm(0);
    (void)state;
}

static void a_child_process_has_none_of_them(void **state)
{
    struct collection r;
    struct ascope_session *s = recorded_begin(on_device);
    const uint64_t id = begin("gloo:all_reduce", NULL);
    assert_true(id != 0);
    const pid_t child = child_fork();
    if (child == 0) {
        s = recorded_begin(on_device);
        ascope_sim_exchange_end(id);
        ascope_sim_exchange_end(begin("gloo:all_reduce", NULL));
        ascope_sim_ops_wait();
        _exit(analysed(s, &r)->comm.ops.n == 1 ? 0 : 1);
    }
    child_end_well(child);
    ascope_sim_exchange_end(id);
    ascope_sim_ops_wait();
    assert_int_equal(analysed(s, &r)->comm.ops.n, 1);
    collection_free(&r);
    (void)state;
}

static void without_a_session_there_is_none(void **state)
{
    assert_int_equal(begin("gloo:all_reduce", NULL), 0);
    assert_int_equal(ascope_sim_exchange_begin(&(struct ascope_sim_exchange){ 0 }), 0);
    (void)state;
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_session_there_is_none),  IN_A_FOLDER(each_is_a_collective_of_its_group),
        IN_A_FOLDER(elements_have_their_type_and_count),    IN_A_FOLDER(it_is_over_when_the_host_says_so),
        IN_A_FOLDER(one_that_does_not_end_holds_up_nobody), IN_A_FOLDER(a_child_process_has_none_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
