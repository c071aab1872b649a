/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/device/counters/device_counters.h"
#include "raw/counter.h"

/* One stream. A run is written "K5=a": task 5 of kind K, which is operator a; the kinds are C (cube), V (vector), P (AI
 * CPU) and ? (the device does not say). A record is written "K5". Small letters are the operators that the records
 * shall have, '-' for none. */
enum { MOST = 16, RECORD = 80, STREAM = 3 };

struct bench {
    struct profile profile;
    struct device device;
    uint16_t stream[MOST];
    uint32_t task[MOST], context[MOST], op[MOST], by_id[MOST];
    uint64_t key[MOST];
    uint8_t type[MOST], record[MOST][RECORD];
    const uint8_t *at[MOST];
    name_id name['z' + 1];
    uint16_t launch_device[MOST], launch_stream[MOST];
    uint32_t launch_task[MOST], launch_op[MOST];
};

static struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof *b);
    b->device.source.mem = arena_new();
    b->device.source.path = "test";
    b->device.source.chip = chip_of(5);
    b->device.tasks = (struct tasks){ .stream = b->stream,
                                      .task = b->task,
                                      .context = b->context,
                                      .op = b->op,
                                      .by_id = b->by_id,
                                      .key = b->key,
                                      .device_type = b->type };
    b->device.pmu.l2.at = b->at;
    for (name_id n = 0; n < ROWS(b->name); n++) /* the row of an operator is its letter, and so is its name */
        b->name[n] = n;
    b->profile.host.ops.name = b->name;
    b->profile.host.tasks = (struct host_tasks){
        .device = b->launch_device, .stream = b->launch_stream, .task = b->launch_task, .op = b->launch_op
    };
    return b;
}

static void bench_free(struct bench *b)
{
    arena_free(b->device.source.mem);
    free(b);
}

static uint8_t kind_of(char letter)
{
    return letter == 'C' ? 0 : letter == 'V' ? 2 : letter == 'P' ? 1 : TYPE_OF_HOST;
}

/* By task, as the ids of tasks are sorted: runs of one id stay by time. */
static int by_task(const void *a, const void *b, void *context)
{
    const struct bench *bench = context;
    const uint32_t l = *(const uint32_t *)a, r = *(const uint32_t *)b;
    if (bench->task[l] != bench->task[r])
        return bench->task[l] < bench->task[r] ? -1 : 1;
    return l < r ? -1 : l > r;
}

static void bench_fill(struct bench *b, const char *runs, const char *records)
{
    struct tasks *t = &b->device.tasks;
    char kind, op;
    unsigned task;
    int used;
    for (; sscanf(runs, " %c%u=%c%n", &kind, &task, &op, &used) == 3; runs += used) {
        b->stream[t->n] = STREAM;
        b->task[t->n] = task;
        b->context[t->n] = NO_CONTEXT;
        b->key[t->n] = task_key(STREAM, 0, task);
        b->type[t->n] = kind_of(kind);
        b->op[t->n] = (uint32_t)op;
        b->by_id[t->n] = (uint32_t)t->n;
        t->n++;
    }
    qsort_r(b->by_id, t->n, sizeof *b->by_id, by_task, b);
    struct pmu_records *l2 = &b->device.pmu.l2;
    for (; sscanf(records, " %c%u%n", &kind, &task, &used) == 2; records += used) {
        const struct layout *l = &l2_cache_layout;
        layout_init(l, b->record[l2->n]);
        layout_put(l, L2_TASK_TYPE, b->record[l2->n], kind_of(kind));
        layout_put(l, L2_STREAM, b->record[l2->n], STREAM);
        layout_put(l, L2_TASK, b->record[l2->n], task);
        b->at[l2->n] = b->record[l2->n];
        l2->n++;
    }
}

/* The operator of each record of the L2 cache; '-': none was found. */
static void assert_l2_ops(const struct bench *b, const char *wanted)
{
    char ops[MOST] = "";
    for (size_t k = 0; k < b->device.pmu.l2.n; k++)
        ops[k] = b->device.pmu.l2_op[k] == NO_ROW ? '-' : (char)b->device.pmu.l2_op[k];
    assert_string_equal(ops, wanted);
}

static void records_belong_to_the_runs_of_their_kind_in_order(void **state)
{
    static const struct {
        const char *what, *runs, *records, *ops;
    } row[] = {
        { "each id once", "C1=a C2=b C3=c", "C1 C2 C3", "abc" },
        { "an id that is used again: as many of both", "C1=a C2=b C1=c C2=d", "C1 C2 C1 C2", "abcd" },
        { "what runs elsewhere under the same id is not counted", "C1=a P1=x C1=b", "C1 C1", "ab" },
        { "the kinds report two runs of an id apart", "C1=a V1=b", "V1 C1", "ba" },
        { "and their order does not matter then", "V1=a C1=b V1=c", "C1 V1 V1", "bac" },
        { "a kind that no run of the id has: any", "V1=a V2=b", "C1 C2", "ab" },
        { "the device does not say the kind", "?1=a ?2=b ?1=c", "C1 V2 C1", "abc" },
        { "nobody ran it", "C1=a", "C1 C7", "a-" },
        { "one run was not counted: the others say where", "C1=a C2=b C3=c C1=d C2=e C3=f", "C1 C3 C1 C2 C3", "acdef" },
        { "some were counted: wherever the ids begin anew", "C1=a C5=b C9=c C1=d C5=e C9=f", "C5 C1 C9", "bdf" },
        { "operators of one name are not ambiguous", "C1=a C1=a C1=a", "C1", "a" },
        { "a real choice: the last one", "C1=a C1=b C1=c", "C1", "c" },
        { "more records than runs: the last one", "C1=a", "C1 C1", "aa" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct bench *b = bench_new();
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        bench_fill(b, row[i].runs, row[i].records);
        assert_true(counted_tasks_analyse(&b->profile, &b->device, &e));
        assert_l2_ops(b, row[i].ops);
        bench_free(b);
    }
    (void)state;
}

/* Of the log of the device, the end is missing. A launch is written "0.5=a": task 5 of device 0, by batch. */
static void records_without_a_run_belong_to_the_last_launch(void **state)
{
    static const struct {
        const char *what, *launches, *ops;
    } row[] = {
        { "the host knows it", "0.1=a 0.7=b", "ab" },
        { "an id that is used again", "0.1=a 0.7=b 0.1=c 0.7=d", "ad" },
        { "a launch that is no operator", "0.1=a 0.7=b 0.7=-", "ab" },
        { "of another device", "0.1=a 1.7=b", "a-" },
        { "nobody launched it", "0.1=a", "a-" },
        { "there is no host", "", "a-" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct bench *b = bench_new();
        struct host_tasks *t = &b->profile.host.tasks;
        struct error e = { 0 };
        unsigned device, task;
        char op;
        int used;
        print_message("  %s\n", row[i].what);
        bench_fill(b, "C1=a", "C1 C7");
        for (const char *p = row[i].launches; sscanf(p, " %u.%u=%c%n", &device, &task, &op, &used) == 3; p += used) {
            b->launch_device[t->n] = (uint16_t)device;
            b->launch_stream[t->n] = STREAM;
            b->launch_task[t->n] = task;
            b->launch_op[t->n++] = op == '-' ? NO_ROW : (uint32_t)op;
        }
        assert_true(counted_tasks_analyse(&b->profile, &b->device, &e));
        assert_l2_ops(b, row[i].ops);
        bench_free(b);
    }
    (void)state;
}

/* Both kinds of records lie in one file, and do not count as each other. */
static void translations_and_faults_are_paired_by_themselves(void **state)
{
    struct bench *b = bench_new();
    struct error e = { 0 };
    bench_fill(b, "C1=a C1=b", "");
    const struct layout *l = &smmu_layout;
    static const uint16_t type[] = { SMMU_DATA_FAULTS, SMMU_DATA_TRANSLATION, SMMU_DATA_TRANSLATION, SMMU_DATA_FAULTS };
    for (size_t i = 0; i < ROWS(type); i++) {
        layout_init(l, b->record[i]);
        layout_put(l, SMMU_STREAM, b->record[i], STREAM);
        layout_put(l, SMMU_TASK, b->record[i], 1);
        layout_put(l, SMMU_DATA_TYPE, b->record[i], type[i]);
        b->at[i] = b->record[i];
    }
    b->device.pmu.smmu = (struct pmu_records){ ROWS(type), b->at };
    assert_true(counted_tasks_analyse(&b->profile, &b->device, &e));
    assert_memory_equal(b->device.pmu.smmu_op, ((uint32_t[]){ 'a', 'a', 'b', 'b' }), sizeof(uint32_t[4]));
    bench_free(b);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_belong_to_the_runs_of_their_kind_in_order),
        cmocka_unit_test(records_without_a_run_belong_to_the_last_launch),
        cmocka_unit_test(translations_and_faults_are_paired_by_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
