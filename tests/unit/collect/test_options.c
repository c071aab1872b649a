/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ascope/record.h"
#include "collect/options/option_rows.h"
#include "collect/options/options.h"
#include "reported.h"

enum { PAIRS = 4 };

static int count_warnings(void **state)
{
    (void)state;
    n_warnings = 0;
    ascope_on_message(count_warning, NULL);
    return 0;
}

/* A session's options, from names and texts: "name=value". */
static struct ascope_options made_of(const char *const pair[PAIRS])
{
    struct ascope_options o, out;
    struct error e = { 0 };
    n_warnings = 0;
    ascope_options_init(&o);
    for (size_t i = 0; i < PAIRS && pair[i]; i++) {
        char name[64];
        const char *const equals = strchr(pair[i], '=');
        snprintf(name, sizeof name, "%.*s", (int)(equals - pair[i]), pair[i]);
        assert_true(ascope_options_set(&o, name, equals + 1));
    }
    assert_true(options_take(&out, &o, &e));
    options_check(&out);
    return out;
}

static void options_become_the_devices_mask(void **state)
{
    static const struct {
        const char *pair[PAIRS];
        uint64_t mask;
    } row[] = {
        { { NULL }, 0x801 },
        { { "profiler_level=Level0" }, 0x801 },
        { { "profiler_level=Level1" }, 0x27 },
        { { "profiler_level=Level2" }, 0x12F },
        { { "profiler_level=Level_none", "mstx=true" }, 0x80 },
        { { "profiler_level=Level1", "aic_metrics=AiCoreNone" }, 0x23 },
        { { "profiler_level=Level1", "aic_metrics=Custom:0x8,0x416" }, 0x27 },
        { { "profiler_level=Level1", "--aic-mode=sample-based" }, 0x600027 },
        { { "l2_cache=true", "mstx=on" }, 0x891 },
        { { "profile_memory=True" }, 0x1801 },
        { { "record_shapes=true" }, 0x800000801 },
        { { "record_shapes=true", "profiler_level=Level1" }, 0x27 },
        { { "op_attr=true", "export_type=db" }, 0x4801 },
        { { "op_attr=true" }, 0x801 },
        { { "task_time=off" }, 0x1 },
        { { "task_time=l0" }, 0x801 },
        { { "task_time=on" }, 0x27 },
        { { "--task-time=l2" }, 0x2027 },
        { { "--task-time=l3" }, 0xA027 },
        { { "--task-time=l3", "--task-time=l1" }, 0x27 },
        { { "task_time=on", "ascendcl=off", "ai_core=off" }, 0x22 },
        { { "task_time=on", "hccl=off", "runtime_api=on", "aicpu=on" }, 0x10F },
        { { "profiler_level=Level2", "runtime_api=off" }, 0x2F },
        { { "ge_api=l0", "training_trace=on" }, 0xA41 },
        { { "ge_api=l1", "task_tsfw=on" }, 0x1000E01 },
        { { "task_memory=on", "instr_profiling=on" }, 0x801801 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct ascope_options o = made_of(row[i].pair);
        print_message("  %s %s: 0x%llx\n", row[i].pair[0] ? row[i].pair[0] : "nothing",
                      row[i].pair[0] && row[i].pair[1] ? row[i].pair[1] : "", (unsigned long long)row[i].mask);
        assert_int_equal(options_data_mask(&o), row[i].mask);
        options_fini(&o);
    }
    (void)state;
}

static void what_is_recorded_follows(void **state)
{
    enum { OPS = 1, MEM = 2, PY = 4, GC = 8, MARKS = 16, DEVICE = 32 };
    static const struct {
        const char *pair[PAIRS];
        uint32_t recorded;
    } row[] = {
        { { NULL }, OPS | DEVICE },
        { { "activities=CPU" }, OPS },
        { { "activities=NPU" }, DEVICE },
        { { "activities=NPU", "profile_memory=true", "with_stack=true" }, DEVICE },
        { { "profile_memory=true", "with_stack=true", "gc_detect_threshold=0" },
          OPS | MEM | PY | GC | DEVICE | ASCOPE_RECORDS_STACK },
        { { "record_shapes=true" }, OPS | DEVICE | ASCOPE_RECORDS_SHAPES },
        { { "record_shapes=true", "activities=NPU" }, DEVICE },
        { { "with_modules=true", "mstx=true" }, OPS | PY | MARKS | DEVICE | ASCOPE_RECORDS_MODULES },
        { { "profiler_level=Level_none" }, OPS | MARKS },
        { { "activities=CPU", "mstx=true" }, OPS },
        { { "layout=prof", "mstx=true", "profile_memory=true" }, MARKS | DEVICE },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct ascope_options o = made_of(row[i].pair);
        print_message("  %s: %u\n", row[i].pair[0] ? row[i].pair[0] : "nothing", row[i].recorded);
        assert_int_equal(options_recorded(&o), row[i].recorded);
        options_fini(&o);
    }
    (void)state;
}

/* Several errors at once: the order of the checks decides. */
static void wrong_values_fall_back_in_order(void **state)
{
    static const struct {
        const char *what, *pair[PAIRS];
        unsigned warnings;
        uint32_t level, metrics;
        bool mstx;
    } row[] = {
        { "defaults", { NULL }, 0, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "counters at Level0", { "aic_metrics=Memory" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "counters of one's own at Level0", { "aic_metrics=Custom:0x1" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "Level1 counts pipes", { "profiler_level=Level1" }, 0, ASCOPE_LEVEL1, ASCOPE_PIPE_UTILIZATION, false },
        { "the native names of metrics",
          { "profiler_level=Level1", "aic_metrics=ACL_AICORE_L0B_AND_WIDTH" },
          0,
          ASCOPE_LEVEL1,
          ASCOPE_MEMORY_L0,
          false },
        { "unknown metrics at Level0: reported twice, since they are not none",
          { "aic_metrics=Speed" },
          2,
          ASCOPE_LEVEL0,
          ASCOPE_NO_METRICS,
          false },
        { "unknown metrics at Level2",
          { "profiler_level=Level2", "aic_metrics=Speed" },
          1,
          ASCOPE_LEVEL2,
          ASCOPE_PIPE_UTILIZATION,
          false },
        { "too many events of one's own",
          { "profiler_level=Level2", "aic_metrics=Custom:0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9" },
          1,
          ASCOPE_LEVEL2,
          ASCOPE_PIPE_UTILIZATION,
          false },
        { "an unknown level keeps metrics that Level0 would not",
          { "profiler_level=Level9", "aic_metrics=PipeUtilization" },
          1,
          ASCOPE_LEVEL0,
          ASCOPE_PIPE_UTILIZATION,
          false },
        { "an unknown level alone", { "profiler_level=Level9" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "Level_none needs marks", { "profiler_level=Level_none" }, 1, ASCOPE_LEVEL_NONE, ASCOPE_NO_METRICS, true },
        { "Level_none with marks",
          { "profiler_level=Level_none", "mstx=true" },
          0,
          ASCOPE_LEVEL_NONE,
          ASCOPE_NO_METRICS,
          true },
        { "Level_none with marks by their old name",
          { "profiler_level=Level_none", "msprof_tx=true" },
          1,
          ASCOPE_LEVEL_NONE,
          ASCOPE_NO_METRICS,
          true },
        { "attributes without a database", { "op_attr=true" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "no activity at all is both", { "activities=" }, 0, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "a strange activity", { "activities=CPU,GPU" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "garbage without the CPU",
          { "activities=NPU", "gc_detect_threshold=1.5" },
          1,
          ASCOPE_LEVEL0,
          ASCOPE_NO_METRICS,
          false },
        { "a threshold below 0", { "gc_detect_threshold=-1" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "no threshold", { "gc_detect_threshold=None" }, 0, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "stacks without the CPU",
          { "activities=NPU", "with_stack=true" },
          1,
          ASCOPE_LEVEL0,
          ASCOPE_NO_METRICS,
          false },
        { "modules without the CPU",
          { "activities=NPU", "with_modules=true" },
          1,
          ASCOPE_LEVEL0,
          ASCOPE_NO_METRICS,
          false },
        { "stacks and modules",
          { "with_stack=true", "with_modules=true" },
          0,
          ASCOPE_LEVEL0,
          ASCOPE_NO_METRICS,
          false },
        { "FLOPs without marks", { "with_flops=true" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "FLOPs with marks", { "with_flops=true", "mstx=true" }, 0, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, true },
        { "the device's switches without it",
          { "activities=CPU", "mstx=true" },
          1,
          ASCOPE_LEVEL0,
          ASCOPE_NO_METRICS,
          true },
        { "domains without marks", { "mstx_domain_include=a" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "domains both ways",
          { "mstx=true", "mstx_domain_include=a", "mstx_domain_exclude=b" },
          1,
          ASCOPE_LEVEL0,
          ASCOPE_NO_METRICS,
          true },
        { "an invalid boolean", { "l2_cache=maybe" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "a rate beyond its range", { "sys_cpu_freq=51" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "a limit too small", { "storage_limit=199MB" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "a limit", { "storage_limit=200MB" }, 0, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "exports of no kind", { "export_type=" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "a part that the host lacks", { "host_sys=cpu,gpu" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "a worker with a slash", { "worker_name=a/b" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "a worker with a line feed", { "worker_name=a\nb" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "a worker with blanks", { "worker_name=the worker \xc3\xa9" }, 0, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
        { "rings of 100 KiB", { "ring_kb=100" }, 1, ASCOPE_LEVEL0, ASCOPE_NO_METRICS, false },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        struct ascope_options o = made_of(row[i].pair);
        assert_int_equal(n_warnings, row[i].warnings);
        assert_int_equal(o.level, row[i].level);
        assert_int_equal(o.metrics, row[i].metrics);
        assert_int_equal(o.mstx, row[i].mstx);
        options_fini(&o);
    }
    (void)state;
}

static void texts_become_fields(void **state)
{
    struct ascope_options o = made_of((const char *const[PAIRS]){ "mstx=1", "mstx_domain_include=b, a ,b,,a,c",
                                                                  "host_sys=network, CPU", "sys_hardware_mem=on" });
    assert_string_equal(o.mstx_domain_include, "b,a,c");
    assert_int_equal(o.host_sys, ASCOPE_HOST_CPU | ASCOPE_HOST_NETWORK);
    assert_int_equal(o.hardware_mem_hz, 50);
    options_fini(&o);
    o = made_of((const char *const[PAIRS]){ "sys_hardware_mem_freq=7", "sys-hardware-mem=on", "sys_io=true",
                                            "storage_limit=300" });
    assert_int_equal(o.hardware_mem_hz, 7);
    assert_int_equal(o.io_hz, 100);
    assert_int_equal(o.storage_limit_mb, 300);
    assert_int_equal(o.ring_kb, 4096);
    assert_int_equal(o.slice_kb, 2048);
    options_fini(&o);
    o = made_of((const char *const[PAIRS]){ "export_type=text,db", "gc_detect_threshold=0.5", "rank=3" });
    assert_true(o.export_text && o.export_db && fabs(o.gc_threshold_ms - 0.5) < 1e-9 && o.rank == 3);
    options_fini(&o);
    ascope_options_init(&o);
    assert_false(ascope_options_set(&o, "profiler_levels", "Level0"));
    assert_false(ascope_options_set(&o, "", ""));
    assert_true(ascope_options_set(&o, "mstx", NULL));
    assert_false(o.mstx);
    (void)state;
}

/* A program that was built when the structure ended behind activities. */
static void a_shorter_structure_is_left_alone_behind_its_end(void **state)
{
    struct {
        char of_program[offsetof(struct ascope_options, device)], beyond[sizeof(struct ascope_options)];
    } old;
    struct ascope_options *const o = (struct ascope_options *)(void *)&old;
    memset(&old, 0xa5, sizeof old);
    ascope_options_init_sized(o, sizeof old.of_program);
    assert_true(ascope_options_set(o, "activities", "CPU"));
    n_warnings = 0;
    assert_true(ascope_options_set(o, "mstx", "true")); /* reported, and passed over */
    assert_int_equal(n_warnings, 1);
    for (size_t i = 0; i < sizeof old.beyond; i++)
        assert_int_equal((unsigned char)old.beyond[i], 0xa5);
    struct ascope_options taken;
    struct error e = { 0 };
    assert_true(options_take(&taken, o, &e));
    options_check(&taken);
    assert_int_equal(taken.activities, ASCOPE_CPU);
    assert_string_equal(taken.device, "auto");
    assert_int_equal(taken.metrics, ASCOPE_NO_METRICS);
    options_fini(&taken);
    memset(&old, 0, sizeof old);
    assert_false(options_take(&taken, o, &e));
    (void)state;
}

static void a_front_end_can_check_before_a_session_does(void **state)
{
    struct ascope_options o;
    char name[] = "b,a,b";
    ascope_options_init(&o);
    o.level = ASCOPE_LEVEL_NONE;
    o.metrics = ASCOPE_MEMORY;
    o.mstx_domain_include = name; /* the caller's: neither freed nor kept */
    o.mstx_domain_exclude = "c";
    o.parent_dir = "there";
    o.ring_kb = 100;
    ascope_options_check(&o);
    memset(name, 'x', sizeof name - 1);
    assert_int_equal(n_warnings, 4); /* counters, marks, exclude, rings */
    assert_true(o.mstx && o.metrics == ASCOPE_NO_METRICS && o.ring_kb == 128 && o.size == sizeof o);
    assert_string_equal(o.mstx_domain_include, "b,a");
    assert_null(o.mstx_domain_exclude);
    assert_string_equal(o.parent_dir, "there");
    ascope_options_check(&o); /* what is valid stays as it is */
    assert_int_equal(n_warnings, 4);
    o.size = offsetof(struct ascope_options, level); /* an older program's */
    o.level = 77;
    ascope_options_check(&o);
    assert_int_equal(o.level, 77);
    o.size = 0;
    ascope_options_check(&o);
    assert_int_equal(n_warnings, 5);
    (void)state;
}

static void the_defaults_are_those_of_the_table(void **state)
{
    struct ascope_options o;
    ascope_options_init(&o);
    assert_int_equal(o.size, sizeof o);
    assert_int_equal(o.layout, ASCOPE_LAYOUT_PYTORCH);
    assert_int_equal(o.rank, -1);
    assert_int_equal(o.activities, ASCOPE_CPU | ASCOPE_NPU);
    assert_string_equal(o.device, "auto");
    assert_int_equal(o.level, ASCOPE_LEVEL0);
    assert_int_equal(o.metrics, ASCOPE_METRICS_BY_LEVEL);
    assert_true(o.gc_threshold_ms < 0 && o.export_text && !o.export_db && o.data_simplification && !o.mstx);
    assert_null(o.parent_dir);
    (void)state;
}

static void rows_of_the_table_hold_together(void **state)
{
    const struct ascope_option *r;
    unsigned n_parameters = 0, sum = 0;
    for (size_t i = 0; (r = ascope_option_at(i)); i++) {
        assert_true(r->names->name && r->help && *r->help && !strchr(r->help, '\n') && !strchr(r->help, '|'));
        for (const struct ascope_option_name *n = r->names; n->name; n++)
            if (&recorder_option_find(n->name)->is != r)
                fail_msg("%s is a name of two options", n->name);
        assert_int_equal(r->key != NULL, r->section != ASCOPE_SECTION_NONE);
        n_parameters += r->parameter > 0;
        sum += r->parameter;
        if (r->parameter && r->section != ASCOPE_SECTION_EXPERIMENTAL)
            fail_msg("%s is a parameter that is not in profiler_info.json", r->names->name);
        const bool needs_choices =
            r->kind == ASCOPE_OPTION_BOOLEAN || r->kind == ASCOPE_OPTION_CHOICE || r->kind == ASCOPE_OPTION_LIST;
        assert_int_equal(needs_choices, r->choices != NULL);
    }
    assert_int_equal(sum, n_parameters * (n_parameters + 1) / 2); /* each place once */
    assert_int_equal(n_parameters, 15);
    (void)state;
}

/* What get() returns makes the same structure again. */
static void values_come_back_as_they_were_set(void **state)
{
    static const struct {
        const char *name, *value, *comes_back; /* NULL: it has none */
    } row[] = {
        { "activities", "npu", "NPU" },
        { "activities", "ProfilerActivity.NPU, cpu", "CPU,NPU" },
        { "profiler_level", "LevelNone", "Level_none" },
        { "aic_metrics", "ACL_AICORE_L0B_AND_WIDTH", "MemoryL0" },
        { "--l2", "on", "true" },
        { "export_type", "db,text", "text,db" },
        { "gc_detect_threshold", "0", "0" },
        { "gc_detect_threshold", "1.5", "1.5" },
        { "gc_detect_threshold", "none", NULL },
        { "rank", "0", "0" },
        { "host_sys", "", NULL },
        { "host_sys", "numa,cpu", "cpu,numa" },
        { "mstx_domain_include", "a,b", "a,b" },
        { "device", "sim", "sim" },
        { "sys_cpu_freq", "50", "50" },
        { "sys_cpu_profiling", "on", NULL },
        { "task_time", "l2", NULL },
        { "ascendcl", "off", NULL },
        { "aic_mode", "sample-based", "sample-based" },
        { "storage_limit", "300MB", "300" },
        { "osrt", "libc", "libc" },
        { "sync", "false", "false" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct ascope_options o, again;
        print_message("  %s=%s\n", row[i].name, row[i].value);
        ascope_options_init(&o);
        ascope_options_init(&again);
        assert_true(ascope_options_set(&o, row[i].name, row[i].value));
        char *const text = ascope_options_get(&o, row[i].name);
        if (!row[i].comes_back) {
            assert_null(text);
            continue;
        }
        assert_string_equal(text, row[i].comes_back);
        assert_true(ascope_options_set(&again, row[i].name, text));
        assert_memory_equal(&o, &again, sizeof o);
        free(text);
    }
    struct ascope_options o;
    ascope_options_init(&o);
    assert_null(ascope_options_get(&o, "no such name"));
    assert_int_equal(n_warnings, 0);
    (void)state;
}

static void values_and_defaults_in_words(void **state)
{
    static const struct {
        const char *name, *values, *otherwise;
    } row[] = {
        { "mstx", "true, false", "false" },
        { "hccl", "on, off", "by level" },
        { "profiler_level", "Level0, Level1, Level2, Level_none = LevelNone", "Level0" },
        { "task_time", "off, l0, l1 = on, l2, l3", "l0" },
        { "activities", "list of CPU, NPU", "CPU,NPU" },
        { "export_type", "list of text, db", "text" },
        { "dvpp_freq", "1 to 100 Hz", "50" },
        { "gc_detect_threshold", "ms from 0, or none", "none" },
        { "device", "auto, none, ascend, cuda, mspti, sim", "auto" },
        { "data_simplification", "true, false", "true" },
    };
    char text[400];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct ascope_option *r = &recorder_option_find(row[i].name)->is;
        ascope_option_values(r, text, sizeof text);
        assert_string_equal(text, row[i].values);
        ascope_option_default(r, text, sizeof text);
        assert_string_equal(text, row[i].otherwise);
    }
    ascope_option_values(&recorder_option_find("profiler_level")->is, text, 8); /* cut, never beyond */
    assert_string_equal(text, "Level0,");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(options_become_the_devices_mask, count_warnings),
        cmocka_unit_test_setup(what_is_recorded_follows, count_warnings),
        cmocka_unit_test_setup(wrong_values_fall_back_in_order, count_warnings),
        cmocka_unit_test_setup(texts_become_fields, count_warnings),
        cmocka_unit_test_setup(a_shorter_structure_is_left_alone_behind_its_end, count_warnings),
        cmocka_unit_test_setup(a_front_end_can_check_before_a_session_does, count_warnings),
        cmocka_unit_test_setup(the_defaults_are_those_of_the_table, count_warnings),
        cmocka_unit_test_setup(rows_of_the_table_hold_together, count_warnings),
        cmocka_unit_test_setup(values_come_back_as_they_were_set, count_warnings),
        cmocka_unit_test_setup(values_and_defaults_in_words, count_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
