/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "analyse/profile_analyse.h"
#include "base/files/bytes.h"
#include "collect/write/prof_writer.h"
#include "sim/job/generate.h"
#include "sim/device/sim_tables.h"
#include "folder.h"
#include "load/prof/prof.h"
#include "raw/device_records.h"
#include "raw/host_records.h"
#include "worked.h"

static char prof[600]; /* where the last simulation went */

static void simulate(struct sim_options o)
{
    struct error e = { 0 };
    o.out_dir = folder;
    const uint64_t before = worked();
    if (!sim_write(&o, prof, sizeof prof, &e))
        fail_msg("%s", e.text);
    assert_in_range(worked() - before, o.kernels - o.kernels / 10,
                    o.kernels + o.kernels / 10); /* as the progress bar expects */
}

/* All slices of a stream, one behind the other; free the result. */
static uint8_t *stream(const char *in, const char *family, size_t *size)
{
    uint8_t *all = NULL;
    *size = 0;
    for (unsigned i = 0;; i++) {
        char path[800];
        snprintf(path, sizeof path, "%s/%s.slice_%u", in, family, i);
        FILE *f = fopen(path, "rb");
        if (!f)
            return all;
        fseek(f, 0, SEEK_END);
        const size_t n = (size_t)ftell(f);
        rewind(f);
        all = realloc(all, *size + n + 1);
        assert_int_equal(fread(all + *size, 1, n, f), n);
        *size += n;
        fclose(f);
    }
}

/* One number that stands for all names and all bytes below a directory. */
static uint64_t tree_sum;
static size_t tree_from, tree_files;
static int tree_add(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    uint64_t sum = 1469598103934665603;
    for (const char *c = path + tree_from; *c; c++)
        sum = (sum ^ (uint8_t)*c) * 1099511628211;
    FILE *f = type == FTW_F ? fopen(path, "rb") : NULL;
    for (int c; f && (c = fgetc(f)) != EOF;)
        sum = (sum ^ (uint8_t)c) * 1099511628211;
    if (f)
        fclose(f);
    tree_files += type == FTW_F;
    tree_sum += sum ^ st->st_mode; /* a sum: the order of a directory does not matter */
    return 0;
}

static uint64_t tree(const char *path)
{
    tree_sum = 0;
    tree_files = 0;
    tree_from = strlen(path);
    assert_int_equal(nftw(path, tree_add, 16, FTW_PHYS), 0);
    return tree_sum;
}

static void the_seed_decides_every_byte(void **state)
{
    struct sim_options o = sim_defaults;
    uint64_t sum[3];
    for (unsigned i = 0; i < 3; i++) {
        folder_make(NULL);
        o.seed = i < 2 ? 42 : 43;
        o.kernels = 400;
        o.devices = 2;
        simulate(o);
        sum[i] = tree(prof);
        assert_true(tree_files > 100);
        folder_remove(NULL);
    }
    assert_true(sum[0] == sum[1]);
    assert_true(sum[0] != sum[2]);
    (void)state;
}

/* One number for everything that seed 1 makes. It changes with every change of the simulator, and then the reference's
 * results in tests/data/sim-* have to be made anew; but it must not change with the compiler. */
static void every_build_makes_the_same_bytes(void **state)
{
    struct sim_options o = sim_defaults;
    o.devices = 2;
    o.kernels = 2000;
    o.kfc = o.tiling = o.late = true;
    simulate(o);
    assert_int_equal(tree(prof), 0x35b67ebf18ce8910);
    o = sim_defaults;
    o.framework = SIM_PYTORCH;
    o.kernels = 2000;
    simulate(o);
    assert_int_equal(tree(prof), 0xc5ea4a521f0dc3a1);
    (void)state;
}

static void another_device_does_not_change_the_first(void **state)
{
    uint8_t *log[2];
    size_t size[2];
    for (uint32_t i = 0; i < 2; i++) {
        struct sim_options o = sim_defaults;
        o.devices = 1 + i;
        o.kernels = 100 * o.devices;
        o.processes = 1;
        folder_make(NULL);
        simulate(o);
        log[i] = stream(prof, "device_0/data/stars_soc.data.0", &size[i]);
        folder_remove(NULL);
    }
    assert_true(size[0] > 0);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(log[0], log[1], size[0]);
    free(log[0]);
    free(log[1]);
    (void)state;
}

/* The log as a device writes it: in the order of time, counted, each task begun before it ends, one at a time. */
static void a_stream_runs_its_tasks_one_after_the_other(void **state)
{
    struct sim_options o = sim_defaults;
    enum { STREAMS = 64, NOTHING = -1 };
    int running[STREAMS];
    size_t size, n_tasks = 0;
    uint64_t last = 0;
    o.kernels = 3000;
    simulate(o);
    uint8_t *log = stream(prof, "device_0/data/stars_soc.data.0", &size);
    for (size_t i = 0; i < STREAMS; i++)
        running[i] = NOTHING;
    for (size_t at = 0; at < size; at += stars_layout.size) {
        const uint8_t *rec = log + at;
        assert_true(match_holds(&stars_layout.magic, rec));
        const uint64_t head = layout_get(&stars_layout, STARS_HEAD, rec),
                       tick = layout_get(&stars_layout, STARS_TICK, rec);
        const uint64_t stream_id = layout_get(&stars_layout, STARS_STREAM, rec);
        const int task = (int)layout_get(&stars_layout, STARS_TASK, rec);
        assert_true(stream_id < STREAMS);
        assert_int_equal(head >> 6 & 15, at / stars_layout.size % 16);
        assert_true(tick >= last);
        last = tick;
        const uint64_t func = head & STARS_FUNC_MASK;
        assert_int_equal(running[stream_id], func == STARS_ACSQ_BEGIN ? NOTHING : task);
        if (func == STARS_ACSQ_BEGIN)
            running[stream_id] = task;
        else if (func == STARS_ACSQ_END) {
            running[stream_id] = NOTHING;
            n_tasks++;
        }
    }
    for (size_t i = 0; i < STREAMS; i++)
        assert_int_equal(running[i], NOTHING);
    assert_true(n_tasks > o.kernels);
    free(log);
    (void)state;
}

static size_t flips(const char *family, const struct layout *l, unsigned field, uint64_t value)
{
    size_t size, n = 0;
    uint8_t *all = stream(prof, family, &size);
    for (size_t at = 0; at < size; at += l->size)
        n += match_holds(&l->kind, all + at) && (field == l->n || layout_get(l, field, all + at) == value);
    free(all);
    return n;
}

static void task_numbers_that_begin_again_are_reported_by_both_sides(void **state)
{
    struct sim_options o = sim_defaults;
    o.kernels = 140000;
    o.comm = o.samplers = false;
    simulate(o);
    assert_int_equal(flips("host/data/aging.compact.task_track", &task_track_layout, TRACK_TYPE, TRACK_TYPE_FLIP), 2);
    assert_int_equal(flips("device_0/data/ts_track.data.0", &ts_flip_layout, ts_flip_layout.n, 0), 2);
    (void)state;
}

/* The dictionary of names, and whether a hash is in it. */
static uint64_t known[4096];
static size_t n_known;

static void dictionary_read(void)
{
    size_t size;
    char *text = (char *)stream(prof, "host/data/unaging.additional.hash_dic", &size);
    n_known = 0;
    text[size] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        assert_true(n_known < ROWS(known));
        known[n_known++] = strtoull(line, NULL, 10);
    }
    free(text);
}

static bool is_known(uint64_t hash)
{
    size_t i = 0;
    while (i < n_known && known[i] != hash)
        i++;
    return i < n_known;
}

static void every_name_is_in_the_dictionary_once(void **state)
{
    static const struct {
        const char *family;
        const struct layout *layout;
        unsigned field[3];
    } row[] = {
        { "aging.api_event.data", &api_layout, { API_ITEM } },
        { "aging.compact.node_basic_info", &node_basic_layout, { NODE_NAME, NODE_OP_TYPE } },
        { "unaging.compact.node_basic_info", &node_basic_layout, { NODE_NAME, NODE_OP_TYPE } },
        { "aging.compact.node_attr_info", &node_attr_layout, { ATTR_NAME, ATTR_TEXT } },
        { "aging.compact.task_track", &task_track_layout, { TRACK_KERNEL } },
        { "aging.compact.hccl_op_info", &hccl_op_layout, { HCCL_OP_ALG, HCCL_OP_GROUP } },
        { "aging.additional.hccl_info", &hccl_info_layout, { HCCL_ITEM, HCCL_TAG, HCCL_GROUP } },
        { "aging.additional.tensor_info", &tensor_layout, { TENSOR_OP_NAME } },
        { "aging.additional.task_memory_info", &task_memory_layout, { OP_MEM_NAME } },
        { "aging.additional.msproftx", &mark_layout, { MARK_DOMAIN } },
        { "unaging.additional.static_op_mem", &static_op_mem_layout, { STATIC_MEM_NAME } },
        { "unaging.additional.graph_id_map", &graph_id_layout, { GRAPH_NAME } },
        { "unaging.additional.fusion_op_info", &fusion_op_layout, { FUSION_NAME } },
    };
    struct sim_options o = sim_defaults;
    o.devices = 2;
    o.kernels = 600;
    simulate(o);
    dictionary_read();
    for (size_t i = 0; i < n_known; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(known[i] != known[k]);
    for (size_t i = 0; i < ROWS(row); i++) {
        char family[80];
        size_t size;
        print_message("  %s\n", row[i].family);
        snprintf(family, sizeof family, "host/data/%s", row[i].family);
        uint8_t *all = stream(prof, family, &size);
        assert_true(size > 0 && size % row[i].layout->size == 0);
        for (size_t at = 0; at < size; at += row[i].layout->size) {
            const bool is_number =
                row[i].layout == &api_layout && layout_get(&api_layout, API_LEVEL, all + at) == LEVEL_MODEL;
            for (unsigned k = 0; k < ROWS(row[i].field) && row[i].field[k] != 0 && !is_number; k++) {
                const uint64_t hash = layout_get(row[i].layout, row[i].field[k], all + at);
                assert_true(hash == 0 || is_known(hash));
            }
        }
        free(all);
    }
    (void)state;
}

/* What our own readers think of it, whatever the options are. */
static void readers_find_nothing_damaged(void **state)
{
    struct sim_options row[8];
    static const char *const what[] = {
        "the defaults", "two devices, a counter that is no round number",
        "short slices", "samples of cores",
        "level 0",      "nothing but kernels",
        "one kernel",   "blocks from the device",
    };
    for (size_t i = 0; i < ROWS(row); i++)
        row[i] = sim_defaults;
    row[1].devices = 2, row[1].counter_mhz = 48;
    row[2].slice_bytes = 4096, row[2].kernels = 700;
    row[3].sample_based = true, row[3].metrics = "Memory";
    row[4].level0 = true;
    row[5].comm = row[5].graphs = row[5].copies = row[5].marks = row[5].samplers = false;
    row[6].kernels = row[6].steps = 1;
    row[7].tiling = true, row[7].kernels = 500;
    for (size_t i = 0; i < ROWS(row); i++) {
        struct profile p = { 0 };
        struct error e = { 0 };
        print_message("  %s\n", what[i]);
        folder_make(NULL);
        simulate(row[i]);
        if (!profile_load(&p, prof, 1, &e))
            fail_msg("%s", e.text);
        assert_int_equal(p.n_devices, row[i].devices);
        assert_int_equal(losses_damage(&p.lost), 0);
        assert_int_equal(losses_damage(&p.host.source.lost), 0);
        for (size_t k = 0; k < p.n_devices; k++)
            assert_int_equal(losses_damage(&p.device[k].source.lost), 0);
        profile_free(&p);
        folder_remove(NULL);
    }
    (void)state;
}

/* A part that is left out has no rows, is no loss, and changes nothing else. */
static void parts_can_be_left_out(void **state)
{
    static const struct {
        const char *what;
        unsigned without;
    } row[] = { { "counters of tasks", PROFILE_COUNTED },
                { "samplers", PROFILE_SAMPLED },
                { "memory of operators", PROFILE_MEMORY },
                { "shapes", PROFILE_TENSORS },
                { "tasks", PROFILE_TASKS },
                { "all of them",
                  PROFILE_COUNTED | PROFILE_SAMPLED | PROFILE_MEMORY | PROFILE_TENSORS | PROFILE_TASKS } };
    struct profile all = { 0 };
    struct error e = { 0 };
    folder_make(NULL);
    simulate(sim_defaults);
    assert_true(profile_load(&all, prof, 1, &e) && profile_analyse(&all, 1, &e));
    const struct device *whole = &all.device[0];
    assert_true(whole->pmu.of_tasks.n > 0 && whole->counters.raw[SAMPLER_HBM].n > 0 && whole->tasks.n > 0 &&
                all.host.records.op_memory.n > 0 && all.host.ops.n > 0);
    for (size_t i = 0; i < ROWS(row); i++) {
        struct profile p = { 0 };
        const unsigned without = row[i].without;
        print_message("  %s\n", row[i].what);
        assert_true(profile_load_without(&p, prof, without, 1, &e) && profile_analyse(&p, 1, &e));
        const struct device *d = &p.device[0];
        assert_int_equal(d->pmu.of_tasks.n, without & PROFILE_COUNTED ? 0 : whole->pmu.of_tasks.n);
        assert_int_equal(d->counters.raw[SAMPLER_HBM].n,
                         without & PROFILE_SAMPLED ? 0 : whole->counters.raw[SAMPLER_HBM].n);
        assert_int_equal(p.host.records.op_memory.n, without & PROFILE_MEMORY ? 0 : all.host.records.op_memory.n);
        assert_int_equal(d->tasks.n, without & PROFILE_TASKS ? 0 : whole->tasks.n);
        assert_int_equal(p.host.ops.n, all.host.ops.n);
        assert_int_equal(p.host.calls.n, all.host.calls.n);
        assert_int_equal(d->steps.iterations.n, whole->steps.iterations.n);
        assert_int_equal(losses_damage(&p.lost), 0);
        assert_int_equal(p.lost.by[LOSS_UNREAD].n, all.lost.by[LOSS_UNREAD].n);
        profile_free(&p);
    }
    profile_free(&all);
    folder_remove(NULL);
    (void)state;
}

/* What the simulator writes for a chip, the readers find again: every kernel ran once, and was counted for. */
static void every_chip_is_read_as_it_was_written(void **state)
{
    static const char *const chip[] = {
        "910", "MDC", "3", "310", "310P", "A2", "A3", "310B", "950", "Tiny", "MDC-mini"
    };
    for (size_t i = 0; i < ROWS(chip); i++) {
        struct profile p = { 0 };
        struct error e = { 0 };
        struct sim_options o = sim_defaults;
        print_message("  %s\n", chip[i]);
        o.chip = chip[i];
        folder_make(NULL);
        simulate(o);
        if (!profile_load(&p, prof, 1, &e) || !profile_analyse(&p, 1, &e))
            fail_msg("%s", e.text);
        const struct device *d = &p.device[0];
        const name_id ai_cpu = names_addz(p.names, "AI_CPU"), dsa = names_addz(p.names, "DSA_SQE");
        size_t n_ops = 0;
        for (size_t k = 0; k < d->tasks.n; k++) {
            const uint32_t op = d->tasks.op[k];
            if (op == NO_ROW)
                continue;
            const name_id type = p.host.ops.task_type[op];
            n_ops++;
            if (type != ai_cpu && type != dsa && d->tasks.pmu[k] == NO_ROW && strcmp(chip[i], "950") != 0 &&
                strcmp(chip[i], "310") != 0)
                fail_msg("task %u of stream %u has no counters", d->tasks.task[k], d->tasks.stream[k]);
        }
        assert_true(n_ops >= o.kernels);
        assert_int_equal(p.lost.by[LOSS_UNPAIRED].n, 0);
        assert_int_equal(p.lost.by[LOSS_AMBIGUOUS].n, 0);
        assert_int_equal(losses_damage(&p.lost), 0);
        profile_free(&p);
        folder_remove(NULL);
    }
    (void)state;
}

static void a_chip_goes_by_the_names_that_people_give_it(void **state)
{
    static const struct {
        const char *said, *name;
        uint32_t platform;
        bool has_kfc;
    } row[] = {
        { "A2", "A2", 5, false },
        { "910b", "A2", 5, false },
        { "Ascend910B", "A2", 5, false },
        { "5", "A2", 5, false },
        { "a3", "A3", 5, true },
        { "910_93", "A3", 5, true },
        { "910", "910", 1, false },
        { "910A", "910", 1, false },
        { "ascend310P", "310P", 4, false },
        { "310B", "310B", 7, false },
        { "MDC-mini", "MDC-mini", 11, false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const struct chip *c = chip_find(row[i].said);
        print_message("  %s\n", row[i].said);
        assert_non_null(c);
        assert_string_equal(c->spoken[0], row[i].name);
        assert_int_equal(c->platform, row[i].platform);
        assert_int_equal(sim_chip_has_kfc(row[i].said), row[i].has_kfc);
    }
    assert_null(chip_find("Ascend"));
    assert_null(chip_find(""));
    assert_null(chip_find("05"));
    (void)state;
}

static void every_process_has_its_own_directory(void **state)
{
    struct sim_options o = sim_defaults;
    o.processes = 3;
    simulate(o);
    assert_int_equal(folder_count(), 3);
    char path[700];
    snprintf(path, sizeof path, "%s/device_2/data", prof);
    assert_int_equal(access(path, F_OK), 0);
    (void)state;
}

static void the_data_says_that_it_is_simulated(void **state)
{
    static const char *const words[] = { "\"jobInfo\":\"simulated\"", "\"hostname\":\"ascope-sim\"",
                                         "\"pid_name\":\"ascope-sim\"" };
    char path[700], text[4096] = "";
    simulate(sim_defaults);
    snprintf(path, sizeof path, "%s/host/info.json", prof);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    for (size_t i = 0; i < ROWS(words); i++)
        assert_non_null(strstr(text, words[i]));
    (void)state;
}

static void what_cannot_be_simulated_is_refused(void **state)
{
    struct sim_options row[7];
    static const char *const word[] = { "counters", "accepted are", "steps", "devices", "processes", "MHz", "slices" };
    for (size_t i = 0; i < ROWS(row); i++)
        row[i] = sim_defaults;
    row[0].metrics = "PipeUtilisation";
    row[1].chip = "6";
    row[2].steps = 0;
    row[3].devices = SIM_DEVICES_MOST + 1;
    row[4].processes = 0;
    row[5].counter_mhz = 0;
    row[6].slice_bytes = 1;
    for (size_t i = 0; i < ROWS(row); i++) {
        struct error e = { 0 };
        row[i].out_dir = folder;
        assert_false(sim_write(&row[i], prof, sizeof prof, &e));
        assert_int_equal(e.fault, FAULT_ASKED);
        if (!strstr(e.text, word[i]))
            fail_msg("%s: says nothing of %s", e.text, word[i]);
        assert_int_equal(folder_count(), 0);
    }
    struct error e = { 0 };
    struct sim_options o = sim_defaults;
    o.out_dir = "/dev/null/below";
    assert_false(sim_write(&o, prof, sizeof prof, &e));
    assert_int_equal(e.fault, FAULT_IO);
    (void)state;
}

int main(void)
{
#define IN_A_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)
    const struct CMUnitTest test[] = {
        cmocka_unit_test(the_seed_decides_every_byte),
        cmocka_unit_test(a_chip_goes_by_the_names_that_people_give_it),
        IN_A_FOLDER(every_build_makes_the_same_bytes),
        cmocka_unit_test(another_device_does_not_change_the_first),
        IN_A_FOLDER(a_stream_runs_its_tasks_one_after_the_other),
        IN_A_FOLDER(task_numbers_that_begin_again_are_reported_by_both_sides),
        IN_A_FOLDER(every_name_is_in_the_dictionary_once),
        cmocka_unit_test(readers_find_nothing_damaged),
        IN_A_FOLDER(every_process_has_its_own_directory),
        IN_A_FOLDER(the_data_says_that_it_is_simulated),
        cmocka_unit_test(parts_can_be_left_out),
        cmocka_unit_test(every_chip_is_read_as_it_was_written),
        IN_A_FOLDER(what_cannot_be_simulated_is_refused),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
