/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "folder.h"
#include "load/framework/collection_load.h"
#include "load/prof/prof.h"

static void put(const char *file, const char *text)
{
    FILE *f = fopen(folder_path(file), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The files of a small device folder, each as it should be. */
static const char *const good[][2] = {
    { "info.json.0",
      "{\"platform_version\":\"5\",\"pid\":\"8\",\"CPU\":[{\"Frequency\":\"100.000000\"}],\"DeviceInfo\":[{"
      "\"hwts_frequency\":\"50.000000\",\"ai_core_num\":24}]}\nsecond line" },
    { "sample.json", "{\"ai_core_metrics\":\"PipeUtilization\"}" },
    { "start_info.0", "{\"collectionTimeBegin\":\"1000000\",\"clockMonotonicRaw\":\"5000\"}" },
    { "end_info.0", "{\"collectionTimeEnd\":\"2000000\"}" },
    { "host_start.log.0", "[Host]\nclock_monotonic_raw: 7000\ncntvct: 100\ncntvct_diff: 0\n" },
    { "dev_start.log.0", "[Device]\nclock_monotonic_raw: 300\ncntvct: 40\n" },
};

static bool open_with(const char *file, const char *text, struct source *s, struct error *e)
{
    assert_int_equal(mkdir(folder_path("device_0"), 0755), 0);
    assert_int_equal(mkdir(folder_path("device_0/data"), 0755), 0);
    char path[100];
    for (size_t i = 0; i < ROWS(good); i++) {
        snprintf(path, sizeof path, "device_0/%s", good[i][0]);
        if (!file || strcmp(file, good[i][0]) != 0)
            put(path, good[i][1]);
    }
    snprintf(path, sizeof path, "device_0/%s", file ? file : "");
    if (file && text)
        put(path, text);
    *e = (struct error){ 0 };
    return source_open(s, folder, "device_0", e);
}

static void a_folder_knows_its_settings_and_clocks(void **state)
{
    struct source s;
    struct error e;
    assert_true(open_with(NULL, NULL, &s, &e));
    assert_int_equal(s.device, 0);
    assert_false(s.is_host);
    assert_int_equal(s.platform, 5);
    assert_int_equal(s.pid, 8);
    assert_int_equal(s.ai_core_num, 24);
    assert_true(s.has_end);
    assert_int_equal(s.begin_ns, 1000000000);
    assert_int_equal(s.end_ns, 2000000000);
    /* Wall minus monotonic is 999995000; the host's counter was 100 at 7000 ns, the device's 40. */
    assert_int_equal(source_host_ns(&s, 101), 7010 + 999995000);
    assert_int_equal(source_device_ns(&s, 41), 7020 + 999995000);
    assert_int_equal(source_sampler_ns(&s, 301), 7001 + 999995000);
    assert_int_equal(source_relative_us_ns(&s, 2), 9000 + 999995000);
    assert_string_equal(s.settings.metrics[CORE_AIC], "PipeUtilization");
    source_close(&s);
    (void)state;
}

static void a_damaged_folder_is_refused_or_reported(void **state)
{
    static const struct {
        const char *what, *file, *text;
        const char *error; /* a part of it; NULL: it opens */
        uint64_t unreadable;
    } row[] = {
        { "no settings", "info.json.0", NULL, "info.json", 0 },
        { "settings that are no JSON", "info.json.0", "{\"pid\":", "info.json", 0 },
        { "settings that are a list", "info.json.0", "[]", "object", 0 },
        { "settings twice", "info.json.0", "{\"pid\":1,\"pid\":2}", "info.json", 0 },
        { "settings of zeros", "info.json.0", "", "info.json", 0 },
        { "no device in them", "info.json.0", "{}", "hwts_frequency", 0 },
        { "a device of another kind", "info.json.0", "{\"DeviceInfo\":{\"a\":1}}", "hwts_frequency", 0 },
        { "a frequency of zero", "info.json.0", "{\"DeviceInfo\":[{\"hwts_frequency\":\"0\"}]}", "hwts_frequency", 0 },
        { "a frequency of the cores without end", "info.json.0",
          "{\"DeviceInfo\":[{\"hwts_frequency\":\"50\",\"aic_frequency\":\"inf\",\"aiv_frequency\":\"nan\"}]}", NULL,
          0 },
        { "no sample.json: counters lose their names", "sample.json", NULL, NULL, 1 },
        { "a broken sample.json", "sample.json", "{", NULL, 1 },
        { "no start", "start_info.0", NULL, "start_info", 0 },
        { "a start before its own clock", "start_info.0",
          "{\"collectionTimeBegin\":\"1\",\"clockMonotonicRaw\":\"5000\"}", "do not define a clock", 0 },
        { "a start that is no number", "start_info.0", "{\"collectionTimeBegin\":\"x\",\"clockMonotonicRaw\":\"5\"}",
          "do not define a clock", 0 },
        { "a start beyond all times", "start_info.0",
          "{\"collectionTimeBegin\":\"9223372036854775807\",\"clockMonotonicRaw\":\"5\"}", "do not define a clock", 0 },
        { "no end: interrupted", "end_info.0", NULL, NULL, 0 },
        { "an end that is no number", "end_info.0", "{\"collectionTimeEnd\":{}}", NULL, 0 },
        { "no host clock", "host_start.log.0", NULL, "host_start", 0 },
        { "an empty host clock", "host_start.log.0", "", "cntvct", 0 },
        { "a host clock without a counter", "host_start.log.0", "clock_monotonic_raw: 7000\n", "cntvct", 0 },
        { "a host clock of words", "host_start.log.0", "clock_monotonic_raw: x\ncntvct: y\n", "cntvct", 0 },
        { "a clock at the end of time", "host_start.log.0",
          "clock_monotonic_raw: 9223372036854775807\ncntvct: 1\ncntvct_diff: 9223372036854775807\n", NULL, 0 },
        { "no device clock", "dev_start.log.0", NULL, "dev_start", 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        struct source s;
        struct error e;
        folder_make(NULL);
        const bool opened = open_with(row[i].file, row[i].text, &s, &e);
        assert_int_equal(opened, row[i].error == NULL);
        if (row[i].error && !strstr(e.text, row[i].error))
            fail_msg("\"%s\" does not say %s", e.text, row[i].error);
        if (opened) {
            assert_int_equal(s.lost.by[LOSS_UNREADABLE].n, row[i].unreadable);
            assert_int_equal(s.has_end, strcmp(row[i].file, "end_info.0") != 0);
            assert_true(s.aic_mhz >= 0 && s.aic_mhz < 1e6 && s.aiv_mhz >= 0 && s.aiv_mhz < 1e6);
            source_close(&s);
        }
        folder_remove(NULL);
    }
    (void)state;
}

static void slices_are_found_sorted_and_links_are_not_followed(void **state)
{
    folder_make(NULL);
    assert_int_equal(mkdir(folder_path("device_0"), 0755), 0);
    assert_int_equal(mkdir(folder_path("device_0/data"), 0755), 0);
    static const char *const file[] = { "hbm.data.0.slice_10",
                                        "hbm.data.0.slice_2",
                                        "hbm.data.0.slice_2.done",
                                        "aging.x.slice_0",
                                        "unaging.x.slice_0",
                                        "a.slice_0.slice_1",
                                        "x.slice_",
                                        "x.slice_-1",
                                        "x.slice_99999999999",
                                        "no_slice",
                                        "y.zip",
                                        ".slice_3" };
    char path[200];
    for (size_t i = 0; i < ROWS(file); i++) {
        snprintf(path, sizeof path, "device_0/data/%s", file[i]);
        put(path, "12345678");
    }
    for (size_t i = 0; i < ROWS(good); i++) {
        snprintf(path, sizeof path, "device_0/%s", good[i][0]);
        put(path, good[i][1]);
    }
    assert_int_equal(symlink("/etc/passwd", folder_path("device_0/data/z.slice_0")), 0);
    assert_int_equal(mkdir(folder_path("device_0/data/d.slice_0"), 0755), 0);
    assert_int_equal(mkfifo(folder_path("device_0/data/p.slice_0"), 0755), 0);
    struct source s;
    struct error e = { 0 };
    assert_true(source_open(&s, folder, "device_0", &e));
    static const struct {
        const char *family;
        bool is_unaging;
        size_t n_slices;
        uint32_t first;
    } want[] = {
        { "", false, 1, 3 }, { "a.slice_0", false, 1, 1 }, { "hbm.data", false, 2, 2 },
        { "x", true, 1, 0 }, { "x", false, 1, 0 },
    };
    assert_int_equal(s.n_streams, ROWS(want));
    for (size_t i = 0; i < ROWS(want); i++) {
        assert_string_equal(s.stream[i].family, want[i].family);
        assert_int_equal(s.stream[i].is_unaging, want[i].is_unaging);
        assert_int_equal(s.stream[i].n_slices, want[i].n_slices);
        assert_int_equal(s.stream[i].slice[0].number, want[i].first);
    }
    assert_int_equal(s.lost.by[LOSS_UNREADABLE].n, 3); /* the link, the folder and the pipe */
    size_t n;
    assert_ptr_equal(source_streams(&s, "x", &n), &s.stream[3]);
    assert_int_equal(n, 2);
    source_close(&s);
    folder_remove(NULL);
    (void)state;
}

/* A mapping of its own for each would be more than the system allows a process. */
static void slices_may_be_many_and_tiny(void **state)
{
    enum { SLICES = 70000 };
    struct source s;
    struct error e;
    char path[200];
    assert_true(open_with(NULL, NULL, &s, &e));
    source_close(&s);
    for (uint32_t i = 0; i < SLICES; i++) {
        snprintf(path, sizeof path, "%s/device_0/data/hbm.data.0.slice_%" PRIu32, folder, i);
        const int fd = open(path, O_WRONLY | O_CREAT, 0600);
        assert_int_equal(write(fd, &i, sizeof i), sizeof i);
        close(fd);
    }
    assert_true(source_open(&s, folder, "device_0", &e));
    assert_int_equal(s.n_streams, 1);
    assert_int_equal(s.stream[0].n_slices, SLICES);
    for (uint32_t i = 0; i < SLICES; i++) {
        const struct slice *slice = &s.stream[0].slice[i];
        if (slice->number != i || slice->size != sizeof i || memcmp(slice->data, &i, sizeof i) != 0)
            fail_msg("slice %" PRIu32 " is another", i);
    }
    assert_int_equal(losses_damage(&s.lost), 0);
    source_close(&s);
    (void)state;
}

static void settings_may_be_numbers_or_text(void **state)
{
    static const struct {
        const char *json;
        int64_t number;
        const char *text;
    } row[] = {
        { "{\"k\":7}", 7, "" },
        { "{\"k\":\"7\"}", 7, "7" },
        { "{\"k\":\"-3\"}", -3, "-3" },
        { "{\"k\":\"7 \"}", 99, "7 " },
        { "{\"k\":\"\"}", 99, "" },
        { "{\"k\":1.5}", 99, "" },
        { "{\"k\":null}", 99, "" },
        { "{\"k\":[1]}", 99, "" },
        { "{}", 99, "" },
        { "{\"k\":\"99999999999999999999\"}", 99, "99999999999999999999" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        json_t *o = json_loads(row[i].json, 0, NULL);
        assert_non_null(o);
        assert_true(setting_number(o, "k", 99) == row[i].number);
        assert_string_equal(setting_text(o, "k"), row[i].text);
        json_decref(o);
    }
    assert_true(setting_number(NULL, "k", 99) == 99);
    (void)state;
}

/* One odd value for each key: a row of the tables that reads another key, or writes another field, shows. */
static void settings_are_decoded_once(void **state)
{
    json_t *info =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:i, s:i, s:i, s:[{s:s}], s:[{s:s, s:s}],"
                  " s:[{s:s, s:f}, {s:s, s:s}]}",
                  "version", "2.0", "jobInfo", "job", "devices", "3", "hostname", "node", "hostUid", "77",
                  "cannVersion", "9.1.0", "rank_id", 5, "drvVersion", "467473", "cpuNums", 4, "sysClockFreq", 100,
                  "memoryTotal", 4000, "CPU", "Frequency", "100.5", "DeviceInfo", "ai_cpu", "1,2", "ctrl_cpu", "0",
                  "netCard", "netCardName", "eth0", "speed", 2.5, "netCardName", "eth1", "speed", "7");
    json_t *sample = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "ai_core_metrics",
                               "a", "aiv_metrics", "b", "ai_core_profiling_events", "c", "aiv_profiling_events", "d",
                               "l2CacheTaskProfilingEvents", "e", "npuEvents", "f", "qosEvents", "g",
                               "ts_cpu_profiling_events", "h", "ai_core_profiling_mode", "task-based", "dynamic", "on",
                               "llc_profiling", "write", "prof_level", "l0", "host_disk_freq", 20);
    struct arena *mem = arena_new();
    struct settings t;
    assert_true(info && sample && settings_load(&t, info, sample, mem));
    json_decref(info); /* the texts are copies */
    json_decref(sample);
    const char *const text[][2] = {
        { t.version, "2.0" },         { t.job, "job" },
        { t.devices, "3" },           { t.hostname, "node" },
        { t.host_uid, "77" },         { t.host_mhz, "100.5" },
        { t.ai_cpus, "1,2" },         { t.ctrl_cpus, "0" },
        { t.metrics[CORE_AIC], "a" }, { t.metrics[CORE_AIV], "b" },
        { t.events[CORE_AIC], "c" },  { t.events[CORE_AIV], "d" },
        { t.l2_events, "e" },         { t.npu_events, "f" },
        { t.qos_events, "g" },        { t.ts_cpu_events, "h" },
        { t.card[0].name, "eth0" },   { t.card[1].name, "eth1" },
    };
    for (size_t i = 0; i < ROWS(text); i++)
        assert_string_equal(text[i][0], text[i][1]);
    const int64_t number[][2] = {
        { t.cann_major, 9 },  { t.cann_minor, 1 },          { t.rank, 5 },
        { t.n_cpus, 4 },      { t.ticks_per_s, 100 },       { t.memory_kb, 4000 },
        { t.driver, 467473 }, { t.disk_samples_per_s, 20 }, { (int64_t)t.n_cards, 2 },
    };
    for (size_t i = 0; i < ROWS(number); i++)
        assert_int_equal(number[i][0], number[i][1]);
    assert_true(t.card[0].mbits == 2.5 && t.card[1].mbits == 0);
    assert_true(t.is_level0 && t.is_dynamic && t.counts_tasks && t.llc_is_write);
    assert_false(t.samples_cores || t.llc_is_read);

    assert_true(settings_load(&t, NULL, NULL, mem)); /* nothing is "", not NULL */
    assert_string_equal(t.job, "");
    assert_string_equal(t.events[CORE_AIV], "");
    assert_int_equal(t.rank, -1);
    assert_int_equal(t.disk_samples_per_s, 50);
    arena_free(mem);
    (void)state;
}

static atomic_bool changes;

/* As a job does that writes its results under temporary names. */
static void *change_names(void *unused)
{
    char file[600], other[600], dir[600];
    snprintf(file, sizeof file, "%s/a.json.part-0123456789abcdef", folder);
    snprintf(other, sizeof other, "%s/a.json", folder);
    snprintf(dir, sizeof dir, "%s/PROF_1.part-0123456789abcdef", folder);
    while (atomic_load(&changes)) {
        close(open(file, O_WRONLY | O_CREAT, 0600));
        rename(file, other);
        unlink(other);
        mkdir(dir, 0700);
        rmdir(dir);
    }
    return unused;
}

static void names_that_change_meanwhile_are_no_obstacle(void **state)
{
    (void)state;
    pthread_t thread;
    atomic_store(&changes, true);
    assert_int_equal(pthread_create(&thread, NULL, change_names, NULL), 0);
    int first = 0;
    enum fault fault = FAULT_FORMAT; /* of a directory without a collection */
    for (int i = 0; i < 20000 && first == 0 && fault == FAULT_FORMAT; i++) {
        struct prof_dirs dirs;
        struct error e = { 0 };
        assert_false(collection_dir_is_one(folder, &first));
        assert_false(prof_find(folder, &dirs, &e));
        fault = e.fault;
    }
    atomic_store(&changes, false);
    pthread_join(thread, NULL);
    assert_int_equal(first, 0);
    assert_int_equal(fault, FAULT_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_folder_knows_its_settings_and_clocks, folder_make, folder_remove),
        cmocka_unit_test(a_damaged_folder_is_refused_or_reported),
        cmocka_unit_test(slices_are_found_sorted_and_links_are_not_followed),
        cmocka_unit_test_setup_teardown(slices_may_be_many_and_tiny, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(names_that_change_meanwhile_are_no_obstacle, folder_make, folder_remove),
        cmocka_unit_test(settings_are_decoded_once),
        cmocka_unit_test(settings_may_be_numbers_or_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
