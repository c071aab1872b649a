/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/comm/comm_analysis.h"
#include "load/prof/prof.h"
#include "raw/enums.h"

/* A device with one group: its AI CPU schedules on stream 40, its small tasks run on streams 41, 42 and 43. A tick is a
 * ns. The host launches each AI CPU task in a call of its own; a collective around it has small tasks of its own. */
enum { MOST = 64, KFC = 40, GROUP = 1234 };

struct world {
    struct profile profile;
    struct device device;
    uint8_t streams[12];
    const uint8_t *stream_list[1];
    uint32_t row_of_kfc[UINT16_MAX + 1];
    struct arena *mem;
};

#define TAKE(column) ((column) = arena_take(mem, MOST, sizeof *(column)))

static struct world *world_new(void)
{
    struct world *w = calloc(1, sizeof *w);
    struct arena *mem = w->mem = arena_new();
    struct device *d = &w->device;
    struct tasks *t = &d->tasks;
    struct host_tasks *h = &w->profile.host.tasks;
    struct ops *o = &w->profile.host.ops;
    struct aicpu_comm *c = &d->aicpu_comm;
    static uint64_t group[] = { GROUP };
    static uint32_t three[] = { 3 }, kfc[] = { KFC };
    w->profile.names = w->profile.dictionary.names = names_new();
    d->source = (struct source){ .path = "sample", .mem = mem, .device_clock = { .tick = { 1, 1 } } };
    TAKE(t->stream), TAKE(t->task), TAKE(t->context), TAKE(t->key), TAKE(t->device_type), TAKE(t->begin_ns);
    TAKE(t->end_ns), TAKE(t->dur_ns), TAKE(t->begin_tick), TAKE(t->end_tick), TAKE(t->host), TAKE(t->op);
    TAKE(h->type), TAKE(h->time), TAKE(h->connection), TAKE(h->model), TAKE(o->name), TAKE(o->op_type);
    TAKE(o->task_type);
    TAKE(c->ops.tick), TAKE(c->ops.alg), TAKE(c->ops.count), TAKE(c->ops.group), TAKE(c->ops.stream);
    TAKE(c->ops.task), TAKE(c->ops.rank_size), TAKE(c->ops.flags), TAKE(c->ops.data_type);
    TAKE(c->flips.tick), TAKE(c->flips.stream), TAKE(c->flips.task), TAKE(c->flips.number);
    TAKE(c->marks.tick), TAKE(c->marks.aicpu_stream), TAKE(c->marks.aicpu_task), TAKE(c->marks.stream);
    TAKE(c->marks.task), TAKE(c->marks.kind);
    TAKE(c->tasks.tick), TAKE(c->tasks.item), TAKE(c->tasks.group), TAKE(c->tasks.notify), TAKE(c->tasks.size);
    TAKE(c->tasks.estimate_us), TAKE(c->tasks.task), TAKE(c->tasks.local_rank), TAKE(c->tasks.remote_rank);
    TAKE(c->tasks.stream), TAKE(c->tasks.plane), TAKE(c->tasks.data_type), TAKE(c->tasks.link);
    TAKE(c->tasks.transport), TAKE(c->tasks.rdma);
    TAKE(d->log.flips.stream), TAKE(d->log.flips.number), TAKE(d->log.flips.task), TAKE(d->log.flips.tick);
    for (size_t i = 0; i < 3; i++)
        w->streams[4 * i] = (uint8_t)(41 + i);
    w->stream_list[0] = w->streams;
    for (size_t i = 0; i <= UINT16_MAX; i++)
        w->row_of_kfc[i] = i == KFC ? 0 : NO_ROW;
    w->profile.host.records.mc2_groups = (struct mc2_groups){ .n = 1,
                                                              .group = group,
                                                              .kfc_stream = kfc,
                                                              .stream_count = three,
                                                              .streams = w->stream_list,
                                                              .row_of_kfc = w->row_of_kfc };
    return w;
}

static void world_free(struct world *w)
{
    names_free(w->profile.names);
    arena_free(w->mem);
    free(w);
}

static size_t add_task(struct world *w, int stream, unsigned id, uint64_t begin, uint64_t end, uint8_t type)
{
    struct tasks *t = &w->device.tasks;
    const size_t i = t->n++;
    t->stream[i] = (uint16_t)stream;
    t->task[i] = id;
    t->context[i] = NO_CONTEXT;
    t->key[i] = task_key((uint16_t)stream, 0, id);
    t->device_type[i] = type;
    t->begin_tick[i] = begin, t->end_tick[i] = end;
    t->begin_ns[i] = (int64_t)begin, t->end_ns[i] = (int64_t)end;
    t->dur_ns[i] = (double)(end - begin);
    t->host[i] = t->op[i] = NO_ROW;
    return i;
}

/* The AI CPU's own task, launched by the call `connection`. */
static void add_scheduler(struct world *w, const char *name, unsigned id, uint64_t begin, uint64_t end,
                          uint32_t connection)
{
    const size_t i = add_task(w, KFC, id, begin, end, SQE_AI_CPU);
    struct host_tasks *h = &w->profile.host.tasks;
    struct ops *o = &w->profile.host.ops;
    w->device.tasks.host[i] = (uint32_t)h->n;
    w->device.tasks.op[i] = (uint32_t)o->n;
    h->time[h->n] = 1000 + begin;
    h->connection[h->n++] = connection;
    o->task_type[o->n] = NAME_NA;
    o->name[o->n++] = names_addz(w->profile.names, name);
}

static void add_entry(struct world *w, int stream, unsigned id, uint64_t tick, uint64_t bytes)
{
    struct aicpu_comm *c = &w->device.aicpu_comm;
    const size_t i = c->tasks.n++;
    c->tasks.stream[i] = (uint16_t)stream;
    c->tasks.task[i] = id;
    c->tasks.tick[i] = tick;
    c->tasks.group[i] = GROUP;
    c->tasks.size[i] = bytes;
}

/* A small task, handed over right before it runs. */
static void add_small(struct world *w, int stream, unsigned id, uint64_t begin, uint64_t end, uint8_t type)
{
    add_task(w, stream, id, begin, end, type);
    add_entry(w, stream, id, begin - 1, begin);
}

static void add_mark(struct world *w, uint16_t kind, int stream, unsigned id, uint64_t tick)
{
    struct aicpu_comm *c = &w->device.aicpu_comm;
    const size_t i = c->marks.n++;
    c->marks.kind[i] = kind;
    c->marks.aicpu_stream[i] = KFC;
    c->marks.stream[i] = (uint16_t)stream;
    c->marks.task[i] = (uint16_t)id;
    c->marks.tick[i] = tick;
}

static void add_info(struct world *w, uint64_t tick, uint8_t flags)
{
    struct aicpu_comm *c = &w->device.aicpu_comm;
    const size_t i = c->ops.n++;
    c->ops.stream[i] = KFC;
    c->ops.tick[i] = tick;
    c->ops.group[i] = GROUP;
    c->ops.flags[i] = flags;
}

/* "name: begin-end/plane …;" for each operator, '*' behind what ran on the master stream. */
static const char *result_of(struct world *w)
{
    static char text[1024];
    struct error e = { 0 };
    assert_true(aicpu_comm_analyse(&w->profile, &w->device, &e));
    const struct communication *c = &w->device.comm;
    char *at = text, *end = text + sizeof text;
    *at = 0;
    for (size_t op = 0; op < c->ops.n; op++) {
        at += snprintf(at, (size_t)(end - at), "%s%s:", op ? " " : "", names_text(w->profile.names, c->ops.name[op]));
        for (size_t i = 0; i < c->tasks.n; i++)
            if (c->tasks.op[i] == op)
                at += snprintf(at, (size_t)(end - at), " %d-%d/%d%s", (int)c->tasks.begin_ns[i],
                               (int)c->tasks.end_ns[i], c->tasks.plane[i], c->tasks.is_master[i] ? "*" : "");
    }
    return text;
}

static void an_operator_of_its_own_has_the_tasks_that_end_in_it(void **state)
{
    struct world *w = world_new();
    add_scheduler(w, "MatmulAicpuKernel", 0, 100, 200, 5);
    add_small(w, 42, 0, 90, 99, SQE_AI_CPU);   /* before */
    add_small(w, 42, 1, 90, 105, SQE_AI_CPU);  /* began before, ends inside */
    add_small(w, 41, 0, 110, 120, SQE_C_CORE); /* reports the master stream */
    add_small(w, 41, 1, 120, 130, SQE_AI_CPU);
    add_small(w, 43, 0, 130, 200, SQE_AI_CPU); /* ends with it */
    add_small(w, 43, 1, 190, 201, SQE_AI_CPU); /* ends after it */
    add_task(w, 42, 9, 150, 160, SQE_AI_CPU);  /* nobody handed it over */
    assert_string_equal(result_of(w), "MatmulAicpuKernel_234_0_1: 90-105/1 110-120/0* 120-130/0* 130-200/2");
    const struct comm_ops *o = &w->device.comm.ops;
    assert_true(o->is_aicpu[0] && o->is_shown[0]);
    assert_int_equal(o->begin_ns[0], 110);
    assert_int_equal(o->end_ns[0], 130);
    assert_int_equal(o->relay[0], -1);
    assert_string_equal(names_text(w->profile.names, o->group[0]), "1234 Aicpu");
    assert_string_equal(names_text(w->profile.names, o->group_id[0]), "1234");
    assert_int_equal(w->device.source.lost.by[LOSS_UNMATCHED].n, 2);
    world_free(w);
    (void)state;
}

static void operators_are_counted_by_kind(void **state)
{
    struct world *w = world_new();
    static const char *const name[] = { "aAicpuKernel", "other", "bAicpuKernel", "other" };
    for (unsigned i = 0; i < ROWS(name); i++) {
        add_scheduler(w, name[i], i, 100 + 100 * i, 190 + 100 * i, i + 1);
        add_small(w, 41, i, 110 + 100 * i, 120 + 100 * i, SQE_C_CORE);
    }
    assert_string_equal(result_of(w), "aAicpuKernel_234_0_1: 110-120/0* other_234_0_1: 210-220/0* "
                                      "bAicpuKernel_234_1_1: 310-320/0* other_234_1_1: 410-420/0*");
    world_free(w);
    (void)state;
}

/* The host asked for a collective: call 3, with the launch of the AI CPU inside it as call 4. It ran on stream 9. */
static void ask(struct world *w)
{
    static uint16_t device[] = { 0 };
    static uint32_t call[] = { 3 }, kfc_call[] = { 4 };
    static uint64_t item[8] = { [3] = 77 };
    struct comm_ops *o = &w->device.comm.ops;
    struct comm_tasks *t = &w->device.comm.tasks;
    w->profile.host.comm.big.n = 1;
    w->profile.host.comm.big.device = device;
    w->profile.host.comm.big.call = call;
    w->profile.host.comm.big.kfc_call = kfc_call;
    w->profile.host.calls.item = item;
    assert_true(comm_ops_resize(o, 1, w->mem) && comm_tasks_resize(t, 1, w->mem));
    o->name[0] = names_addz(w->profile.names, "hcom_234_5_1");
    o->group[0] = names_addz(w->profile.names, "1234");
    o->connection[0] = 4;
    o->iteration[0] = 1;
    o->is_shown[0] = true;
    o->begin_ns[0] = 95, o->end_ns[0] = 300;
    t->task_row[0] = (uint32_t)add_task(w, 9, 0, 95, 300, SQE_AI_CPU);
    t->begin_ns[0] = 95, t->end_ns[0] = 300;
    t->is_master[0] = true;
}

static void tasks_of_a_collective_join_those_of_the_host(void **state)
{
    struct world *w = world_new();
    ask(w);
    add_scheduler(w, "RunAicpuKernel", 0, 100, 150, 5);
    add_info(w, 110, 2);
    add_small(w, 41, 0, 120, 140, SQE_AI_CPU); /* the first one waits for the others, and is not timed */
    add_small(w, 42, 0, 125, 160, SQE_AI_CPU);
    add_small(w, 41, 1, 150, 190, SQE_AI_CPU);
    add_small(w, 42, 1, 185, 195, SQE_AI_CPU); /* after the last one of the master stream */
    add_mark(w, MARK_HEAD, 41, 0, 111);
    add_mark(w, MARK_TAIL, 41, 1, 149);
    assert_string_equal(result_of(w), "hcom_234_5_1: 95-300/0* 120-140/1 125-160/2 150-190/1*");
    const struct comm_ops *o = &w->device.comm.ops;
    assert_int_equal(o->n, 1);
    assert_true(!o->is_aicpu[0] && o->begin_ns[0] == 95);
    assert_true(o->relay[0] == 0 && o->retry[0] == 1); /* the device knows better */
    world_free(w);
    (void)state;
}

static void a_collective_that_nobody_asked_for_is_not_shown(void **state)
{
    struct world *w = world_new();
    add_scheduler(w, "RunAicpuKernel", 0, 100, 150, 5);
    add_info(w, 110, 0);
    add_small(w, 41, 0, 120, 140, SQE_AI_CPU);
    assert_string_equal(result_of(w), "RunAicpuKernel_234_0_1: 120-140/2");
    assert_true(!w->device.comm.ops.is_aicpu[0] && !w->device.comm.ops.is_shown[0]);
    world_free(w);
    (void)state;
}

static void ids_that_wrapped_around_are_distinguished(void **state)
{
    struct world *w = world_new();
    add_scheduler(w, "aAicpuKernel", 0, 100, 200, 1);
    add_scheduler(w, "bAicpuKernel", 1, 300, 400, 2);
    add_task(w, 41, 7, 110, 120, SQE_C_CORE);
    add_task(w, 41, 7, 310, 330, SQE_C_CORE);
    add_entry(w, 41, 7, 105, 1);
    add_entry(w, 41, 7, 205, 2); /* long before it ran: only the flips show that it is another one */
    struct aicpu_comm *c = &w->device.aicpu_comm;
    c->flips.n = w->device.log.flips.n = 1;
    c->flips.stream[0] = w->device.log.flips.stream[0] = 41;
    c->flips.number[0] = w->device.log.flips.number[0] = 3;
    c->flips.tick[0] = 202;
    w->device.log.flips.tick[0] = 305;
    assert_string_equal(result_of(w), "aAicpuKernel_234_0_1: 110-120/0* bAicpuKernel_234_1_1: 310-330/0*");
    assert_int_equal(w->device.comm.tasks.size[0], 1);
    assert_int_equal(w->device.comm.tasks.size[1], 2);
    world_free(w);
    (void)state;
}

static void what_runs_again_is_what_was_handed_over_last(void **state)
{
    struct world *w = world_new();
    for (unsigned i = 0; i < 3; i++) {
        add_scheduler(w, "aAicpuKernel", 0, 100 + 100 * i, 190 + 100 * i, 1);
        add_task(w, 41, 7, 110 + 100 * i, 120 + 100 * i, SQE_C_CORE);
    }
    w->profile.host.tasks.time[1] = w->profile.host.tasks.time[2] = w->profile.host.tasks.time[0];
    add_entry(w, 41, 7, 105, 1);
    add_entry(w, 41, 7, 305, 3);
    assert_string_equal(result_of(w), "aAicpuKernel_234_0_1: 110-120/0* aAicpuKernel_234_0_2: 210-220/0* "
                                      "aAicpuKernel_234_0_3: 310-320/0*");
    static const uint64_t size[] = { 1, 1, 3 };
    assert_memory_equal(w->device.comm.tasks.size, size, sizeof size);
    world_free(w);
    (void)state;
}

static void at_level_0_every_task_on_the_streams_counts(void **state)
{
    struct world *w = world_new();
    add_scheduler(w, "MatmulAicpuKernel", 0, 100, 200, 5);
    add_task(w, 41, 0, 110, 120, SQE_C_CORE);
    add_task(w, 42, 0, 110, 130, SQE_AI_CPU);
    assert_string_equal(result_of(w), "MatmulAicpuKernel_234_0_1: 110-120/-1* 110-130/-1");
    assert_false(w->device.comm.tasks.has_info[0]);
    assert_true(comm_bandwidth_gbs(&w->device.comm.tasks, 0, false) == 0);
    world_free(w);
    (void)state;
}

static void captured_streams_do_what_the_original_does(void **state)
{
    struct arena *mem = arena_new();
    struct error e = { 0 };
    uint32_t kfc[] = { 40, 50, 70000 }, none[] = { 0, 0, 0 };
    const uint8_t *streams[] = { NULL, NULL, NULL };
    uint16_t from[] = { 50, 60 }, to[] = { 51, 61 };
    struct profile p = { .host.source = { .path = "sample", .mem = mem } };
    struct mc2_groups *g = &p.host.records.mc2_groups;
    assert_true(mc2_groups_index(&p, &e));
    assert_null(g->row_of_kfc); /* no groups, no streams */
    *g = (struct mc2_groups){ .n = 3, .kfc_stream = kfc, .stream_count = none, .streams = streams };
    p.host.records.capture_streams = (struct capture_streams){ .n = 2, .original_stream = from, .model_stream = to };
    assert_true(mc2_groups_index(&p, &e));
    assert_int_equal(g->row_of_kfc[40], 0);
    assert_int_equal(g->row_of_kfc[50], 1);
    assert_int_equal(g->row_of_kfc[51], 1);
    assert_int_equal(g->row_of_kfc[61], NO_ROW);
    assert_int_equal(p.host.source.lost.by[LOSS_BAD_VALUE].n, 1);
    arena_free(mem);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_operator_of_its_own_has_the_tasks_that_end_in_it),
        cmocka_unit_test(operators_are_counted_by_kind),
        cmocka_unit_test(tasks_of_a_collective_join_those_of_the_host),
        cmocka_unit_test(a_collective_that_nobody_asked_for_is_not_shown),
        cmocka_unit_test(ids_that_wrapped_around_are_distinguished),
        cmocka_unit_test(what_runs_again_is_what_was_handed_over_last),
        cmocka_unit_test(captured_streams_do_what_the_original_does),
        cmocka_unit_test(at_level_0_every_task_on_the_streams_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
