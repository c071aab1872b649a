/* SPDX-License-Identifier: Apache-2.0 */
/* Collections of layout mindspore: their directory, and the records in FRAMEWORK/. */
#include "test.h"

#include <jansson.h>
#include <limits.h>
#include <time.h>

#include "base/text/framework_names.h"
#include "child.h"
#include "collect/ring/record_bytes.h"
#include "collect/session/listeners.h"
#include "collect/session/recover.h"
#include "recorded.h"

enum { RANGES_MOST = 64, FILE_MOST = 1 << 16 };

struct found {
    struct ms_range_bytes is;
    char name[80], full[80], module[80], event[80], custom[80];
};
static struct found ranges[RANGES_MOST];
static uint8_t bytes[FILE_MOST];

static size_t file_read(const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *const f = fopen(path, "rb");
    const size_t n = f ? fread(bytes, 1, sizeof bytes - 1, f) : 0;
    if (f)
        fclose(f);
    bytes[n] = 0;
    return n;
}

static bool is_there(const char *dir, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return access(path, F_OK) == 0;
}

/* The texts behind a fixed part, by type. */
static void texts_read(const uint8_t *at, size_t n, char *const to[32])
{
    while (n > 0) {
        struct tlv_bytes head;
        assert_true(n >= sizeof head);
        memcpy(&head, at, sizeof head);
        assert_true(head.length <= n - sizeof head && head.type < 32 && to[head.type] && head.length < 80);
        memcpy(to[head.type], at + sizeof head, head.length);
        to[head.type][head.length] = '\0';
        at += sizeof head + head.length;
        n -= sizeof head + head.length;
    }
}

static size_t ranges_read(const char *dir)
{
    const size_t n = file_read(dir, "FRAMEWORK/mindspore.op_range");
    size_t n_ranges = 0;
    for (size_t at = 0; at < n; n_ranges++) {
        assert_true(n_ranges < RANGES_MOST && n - at >= sizeof ranges->is);
        struct found *const r = &ranges[n_ranges];
        memset(r, 0, sizeof *r);
        memcpy(&r->is, bytes + at, sizeof r->is);
        assert_int_equal(r->is.tlv.type, MS_RECORD_RANGE);
        char *const to[32] = { [MS_TEXT_NAME] = r->name,
                               [MS_TEXT_FULL_NAME] = r->full,
                               [MS_TEXT_MODULE_GRAPH] = r->module,
                               [MS_TEXT_EVENT_GRAPH] = r->event,
                               [MS_TEXT_CUSTOM_INFO] = r->custom };
        texts_read(bytes + at + sizeof r->is, r->is.tlv.length + sizeof r->is.tlv - sizeof r->is, to);
        at += sizeof r->is.tlv + r->is.tlv.length;
    }
    return n_ranges;
}

static const struct found *range_named(size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(ranges[i].name, name) == 0)
            return &ranges[i];
    fail_msg("no range %s", name);
    return NULL;
}

static void choose_mindspore(struct ascope_options *o)
{
    o->layout = ASCOPE_LAYOUT_MINDSPORE;
    o->gc_threshold_ms = -1;
    o->rank = 3;
}

static void choose_host(struct ascope_options *o)
{
    choose_mindspore(o);
    o->activities = ASCOPE_CPU;
    o->level = ASCOPE_LEVEL0;
    o->mstx = false;
}

static void operator_record(const char *name, enum ascope_scope scope, const char *modules, const char *more)
{
    struct ascope_op op;
    ascope_op_begin(&op, name);
    op.scope = (uint8_t)scope;
    op.modules = ascope_text_of(modules);
    op.more = ascope_text_of(more);
    op.shapes = ascope_text_of(scope == ASCOPE_SCOPE_FUNCTION ? "2,3;4" : NULL);
    op.types = ascope_text_of(scope == ASCOPE_SCOPE_FUNCTION ? "Float;Int" : NULL);
    ascope_op_end(&op);
}

static void calls_record(void)
{
    ascope_python_key(1, ascope_text_of("a.py(1):outer"));
    ascope_python_key(2, ascope_text_of("a.py(9):inner"));
    ascope_python_event_at(ASCOPE_PYTHON_CALL, 1, ascope_now(), 77);
    ascope_python_event_at(ASCOPE_PYTHON_CALL, 2, ascope_now(), 77);
    ascope_python_event_at(ASCOPE_PYTHON_RETURN, 9, ascope_now(), 77);
    ascope_python_event_at(ASCOPE_PYTHON_C_CALL, 3, ascope_now(),
                           77); /* whose name nobody has said, and which never ends */
}

static void memory_record(enum ascope_memory_event event, int64_t size, int64_t allocated, uint8_t type)
{
    ascope_memory(&(struct ascope_memory){ .size = sizeof(struct ascope_memory),
                                           .device_type = type,
                                           .device = 1,
                                           .event = (uint8_t)event,
                                           .pointer = 0x10,
                                           .size_bytes = size,
                                           .allocated_bytes = allocated,
                                           .reserved_bytes = 4096,
                                           .active_bytes = allocated + 8,
                                           .stream = 5 });
}

static void session_finish(struct ascope_session *s, char path[PATH_MAX])
{
    struct ascope_error e = { "" };
    snprintf(path, PATH_MAX, "%s", ascope_session_path(s));
    if (!ascope_session_stop(s, &e) || !ascope_session_end(s, &e))
        fail_msg("%s", e.text);
}

static void everything_record(struct ascope_session *s)
{
    ascope_session_step(s, 4);
    operator_record("Add", ASCOPE_SCOPE_FUNCTION, NULL, NULL);
    operator_record("ProfilerStep#4", ASCOPE_SCOPE_USER, NULL, NULL);
    operator_record("GetNextAsMap", ASCOPE_SCOPE_USER, "Dataset;IteratorConsumer", "TensorRowFlags:Data");
    calls_record();
    memory_record(ASCOPE_MALLOC, 2048, 2048, ASCOPE_ON_NPU);
    memory_record(ASCOPE_MALLOC, 64, 64, ASCOPE_ON_CPU);
    memory_record(ASCOPE_FREE, -2048, 0, ASCOPE_ON_NPU);
    memory_record(ASCOPE_BLOCK_FREE, -2048, 0, ASCOPE_ON_NPU);
    ascope_queue_point(ASCOPE_ENQUEUE_BEGIN, 1, ascope_text_of("x"));
    ascope_python_gc(1, 2);
}

/* What all of that is in the files. */
static void files_check(const char *path)
{
    static const struct {
        const char *name;
        unsigned module, event;
        bool is_graph_data, is_stack;
        const char *module_graph, *event_graph, *custom;
        uint64_t step;
    } row[] = {
        { "Add", MS_MODULE_PYNATIVE, MS_EVENT_RUN_OP, false, false, "", "", "", 4 },
        { "ProfilerStep#4", MS_MODULE_PYTHON, MS_EVENT_PYTHON_OBSERVED, false, false, "", "", "", 4 },
        { "GetNextAsMap", MS_MODULE_PYTHON, MS_EVENT_PYTHON_OBSERVED, true, false, "Dataset", "IteratorConsumer",
          "TensorRowFlags:Data", 4 },
        { "a.py(1):outer", MS_MODULE_PYTHON, MS_EVENT_PYTHON_OBSERVED, false, true, "", "", "", 4 },
        { "a.py(9):inner", MS_MODULE_PYTHON, MS_EVENT_PYTHON_OBSERVED, false, true, "", "", "", 4 },
        { "?", MS_MODULE_PYTHON, MS_EVENT_PYTHON_OBSERVED, false, true, "", "", "", 4 },
    };
    const size_t n = ranges_read(path);
    assert_int_equal(n, ROWS(row));
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].name);
        const struct found *const r = range_named(n, row[i].name);
        assert_string_equal(r->full, row[i].name);
        assert_string_equal(r->module, row[i].module_graph);
        assert_string_equal(r->event, row[i].event_graph);
        assert_string_equal(r->custom, row[i].custom);
        assert_int_equal(r->is.module, row[i].module);
        assert_int_equal(r->is.event, row[i].event);
        assert_int_equal(r->is.is_graph_data, row[i].is_graph_data);
        assert_int_equal(r->is.is_stack, row[i].is_stack);
        assert_int_equal(r->is.step, row[i].step);
        assert_int_equal(r->is.level, -1);
        assert_true(r->is.flow == UINT64_MAX && r->is.begin > 0 && r->is.begin <= r->is.end);
        if (row[i].is_stack)
            assert_int_equal(r->is.thread, 77);
    }
    const struct found *const outer = range_named(n, "a.py(1):outer"), *const inner = range_named(n, "a.py(9):inner");
    assert_true(outer->is.begin <= inner->is.begin && inner->is.end <= outer->is.end);

    struct ms_memory_bytes m;
    assert_int_equal(file_read(path, "FRAMEWORK/mindspore.memory_usage"), 2 * (sizeof m + sizeof(struct tlv_bytes)));
    memcpy(&m, bytes, sizeof m);
    assert_int_equal(m.tlv.type, MS_RECORD_MEMORY);
    assert_true(m.device == 1 && m.address == 0x10 && m.size == 2048 && m.used == 2048 && m.reserved == 4096);
    assert_true(m.used_by_event == 8 && m.peak == 2048 && m.stream == 5);
    assert_true(m.time_ns / 1000000000 <= (uint64_t)time(NULL) && m.time_ns / 1000000000 + 600 > (uint64_t)time(NULL));
    const unsigned long long first_ns = m.time_ns;
    memcpy(&m, bytes + sizeof m + sizeof(struct tlv_bytes), sizeof m);
    assert_true(m.size == UINT64_MAX && m.used == 0 && m.peak == 2048);
    char wanted[300];
    snprintf(
        wanted, sizeof wanted,
        "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n%llu,2048,4096,2056\n%llu,0,4096,8\n",
        first_ns, (unsigned long long)m.time_ns);
    file_read(path, "FRAMEWORK/cpu_ms_memory_record_3.txt");
    assert_string_equal((const char *)bytes, wanted);
    static const uint8_t shapes[] = "\3\0\x23\0\0\0\0\0\3\0\0\0Add\1\0\5\0\0\0"
                                    "2,3;4\2\0\x09\0\0\0Float;Int";
    assert_int_equal(file_read(path, "FRAMEWORK/mindspore.record_shapes"), sizeof shapes - 1);
    assert_memory_equal(bytes, shapes, sizeof shapes - 1);
    static const char *const gone[] = { "FRAMEWORK/torch.op_range",      "FRAMEWORK/torch.op_mark",
                                        "FRAMEWORK/torch.gc_record",     "FRAMEWORK/ascope.python_calls",
                                        "FRAMEWORK/ascope.python_names", "ascope.rings" };
    for (size_t i = 0; i < ROWS(gone); i++)
        assert_false(is_there(path, gone[i]));
}

static void records_are_those_of_mindspore(void **state)
{
    char path[PATH_MAX];
    struct ascope_session *const s = recorded_begin(choose_mindspore);
    everything_record(s);
    session_finish(s, path);
    files_check(path);
    (void)state;
}

static void folder_only(char path[PATH_MAX]) /* what is in it */
{
    DIR *const d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *entry; (entry = readdir(d));)
        if (entry->d_name[0] != '.')
            snprintf(path, PATH_MAX, "%s/%s", folder, entry->d_name);
    closedir(d);
}

static void a_killed_program_leaves_the_same(void **state)
{
    struct recovered r;
    struct error e = { 0 };
    char path[PATH_MAX];
    const pid_t child = child_fork();
    if (child == 0) {
        everything_record(recorded_begin(choose_mindspore));
        kill(getpid(), SIGKILL);
    }
    child_end_by(child, SIGKILL);
    folder_only(path);
    if (collection_recover(path, &r, &e) != RECOVERY_DONE)
        fail_msg("%s", e.text);
    assert_int_equal(r.n_damaged, 0);
    files_check(path);
    (void)state;
}

/* Readers take counts for 10 ns since 1970 where no PROF directory says what they are. */
static void times_without_a_device_are_those_of_the_wall(void **state)
{
    char path[PATH_MAX];
    struct timespec before, after;
    clock_gettime(CLOCK_REALTIME, &before);
    struct ascope_session *const s = recorded_begin(choose_host);
    everything_record(s);
    session_finish(s, path);
    clock_gettime(CLOCK_REALTIME, &after);
    const size_t n = ranges_read(path);
    assert_int_equal(n, 6);
    for (size_t i = 0; i < n; i++) {
        assert_true(ranges[i].is.begin / 100000000 >= (uint64_t)before.tv_sec);
        assert_true(ranges[i].is.end / 100000000 <= (uint64_t)after.tv_sec);
    }
    (void)state;
}

static json_t *info_of(const char *path, const char *name)
{
    char file[PATH_MAX + 80];
    snprintf(file, sizeof file, "%s/%s", path, name);
    json_t *const info = json_load_file(file, 0, NULL);
    assert_non_null(info);
    return info;
}

static void choose_nothing(struct ascope_options *o)
{
    choose_mindspore(o);
    o->activities = 0;
    o->level = ASCOPE_LEVEL0;
    o->mstx = false;
    o->rank = -1;
    o->framework_info =
        "{\"data_process\": true, \"ms_version\": \"2.7.0\", \"output_path\": \"~\", \"device_id\": \"5\"}";
}

static void choose_bad_info(struct ascope_options *o)
{
    choose_mindspore(o);
    o->framework_info = "[1]";
}

static void the_description_is_that_of_mindspore(void **state)
{
    static const struct {
        const char *what, *rank;
        void (*choose)(struct ascope_options *o);
        const char *file, *rank_id, *device_id, *version, *level, *metrics;
        size_t n_activities;
        bool data_process;
    } row[] = {
        { "all", "7", choose_mindspore, "profiler_info_3.json", "3", "0", NULL, "Level2", "PipeUtilization", 2, false },
        { "nothing is recorded", "7", choose_nothing, "profiler_info_7.json", "7", "5", "2.7.0", "Level0", "None", 0,
          true },
        { "no rank", "x", choose_nothing, "profiler_info_0.json", "0", "5", "2.7.0", "Level0", "None", 0, true },
        { "no object", "7", choose_bad_info, "profiler_info_3.json", "3", "0", NULL, "Level2", "PipeUtilization", 2,
          false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        char path[PATH_MAX];
        print_message("  %s\n", row[i].what);
        setenv("RANK_ID", row[i].rank, 1);
        session_finish(recorded_begin(row[i].choose), path);
        assert_true(framework_ends_name(path, strlen(path)) && strstr(path, "_ascend_ms"));
        assert_true(is_there(path, "FRAMEWORK"));
        assert_false(is_there(path, "profiler_metadata.json"));
        json_t *const info = info_of(path, row[i].file), *const all = json_object_get(info, "profiler_parameters"),
                      *const place = json_object_get(info, "ms_profiler_info");
        assert_int_equal(json_object_size(all), 24);
        assert_int_equal(json_object_size(info), 7);
        assert_string_equal(json_string_value(json_object_get(place, "rank_id")), row[i].rank_id);
        assert_string_equal(json_string_value(json_object_get(place, "device_id")), row[i].device_id);
        if (row[i].version)
            assert_string_equal(json_string_value(json_object_get(info, "ms_version")), row[i].version);
        assert_string_equal(json_string_value(json_object_get(all, "profiler_level")), row[i].level);
        assert_string_equal(json_string_value(json_object_get(all, "aic_metrics")), row[i].metrics);
        assert_int_equal(json_array_size(json_object_get(all, "activities")), row[i].n_activities);
        assert_int_equal(json_is_true(json_object_get(all, "data_process")), row[i].data_process);
        assert_int_equal(json_object_size(json_object_get(all, "schedule")), 5);
        json_decref(info);
    }
    unsetenv("RANK_ID");
    (void)state;
}

static void metadata_is_the_users_alone(void **state)
{
    struct ascope_error e = { "" };
    char path[PATH_MAX], *const large = calloc(1 << 16, 1);
    struct ascope_session *const s = recorded_begin(choose_mindspore);
    memset(large, 'x', (1 << 16) - 1);
    assert_true(ascope_metadata(s, "key", large, &e) && ascope_metadata_json(s, "json", "{\"a\": [1]}", &e));
    session_finish(s, path);
    json_t *const info = info_of(path, "profiler_metadata.json");
    assert_int_equal(json_object_size(info), 2);
    assert_string_equal(json_string_value(json_object_get(info, "key")), large);
    json_decref(info);
    free(large);
    (void)state;
}

/* ---- damaged files of calls: whatever is in them, what comes out is whole ranges ---- */

static struct ms_calls_made calls_make(const uint8_t *calls, size_t n_calls, const uint8_t *names, size_t n_names)
{
    const struct ms_clock clock = { 0 };
    struct prof_writer w;
    struct slices in[2], out;
    struct error e = { 0 };
    assert_true(prof_writer_join(&w, folder, 1 << 20, &e));
    slices_init(&in[0], &w, FOLDER_SESSION, "calls", CUT_NEVER);
    slices_init(&in[1], &w, FOLDER_SESSION, "names", CUT_NEVER);
    slices_init(&out, &w, FOLDER_SESSION, "FRAMEWORK/mindspore.op_range", CUT_NEVER);
    if (n_calls > 0)
        memcpy(slices_take(&in[0], n_calls), calls, n_calls);
    if (n_names > 0)
        memcpy(slices_take(&in[1], n_names), names, n_names);
    slices_flush(&in[0]);
    slices_flush(&in[1]);
    const struct ms_calls_made made = ms_calls_make(&in[0], &in[1], &clock, &out);
    slices_fini(&in[0]);
    slices_fini(&in[1]);
    slices_fini(&out);
    assert_true(prof_writer_close(&w, &e));
    assert_int_equal(ranges_read(folder), made.n_ranges);
    static const char *const files[] = { "calls", "names", "FRAMEWORK/mindspore.op_range" };
    for (size_t i = 0; i < ROWS(files); i++)
        remove(folder_path(files[i]));
    return made;
}

static void damaged_calls_are_counted(void **state)
{
    uint8_t names[80], calls[4 * sizeof(struct python_call_bytes)];
    size_t n_names = 0;
    for (uint64_t key = 1; key <= 2; key++) {
        const char *const text = key == 1 ? "a.py(1):outer" : "b";
        const struct tlv_bytes head = { 1, (uint32_t)strlen(text) };
        const struct python_key_bytes is = {
            { TLV_PYTHON_KEY, (uint32_t)(sizeof(uint64_t) + sizeof head + strlen(text)) }, key
        };
        memcpy(names + n_names, &is, sizeof is);
        memcpy(names + n_names + sizeof is, &head, sizeof head);
        memcpy(names + n_names + sizeof is + sizeof head, text, strlen(text));
        n_names += sizeof is + sizeof head + strlen(text);
    }
    static const struct {
        uint64_t key;
        uint8_t tag;
    } made[] = { { 1, ASCOPE_PYTHON_CALL },
                 { 2, ASCOPE_PYTHON_C_CALL },
                 { 9, ASCOPE_PYTHON_C_RETURN },
                 { 9, ASCOPE_PYTHON_RETURN } };
    for (size_t i = 0; i < ROWS(made); i++)
        memcpy(calls + i * sizeof(struct python_call_bytes),
               &(struct python_call_bytes){ 100 + i, 7, 8, made[i].key, made[i].tag },
               sizeof(struct python_call_bytes));
    mkdir(folder_path("FRAMEWORK"), 0750);
    assert_int_equal(calls_make(calls, sizeof calls, names, n_names).n_ranges, 2);
    assert_string_equal(range_named(2, "a.py(1):outer")->full, "a.py(1):outer");
    for (size_t n = 0; n < sizeof calls; n++) { /* open calls end with the last record */
        const struct ms_calls_made m = calls_make(calls, n, names, n_names);
        const size_t whole = n / sizeof(struct python_call_bytes);
        assert_int_equal(m.n_ranges, whole < 2 ? whole : 2);
        assert_int_equal(m.n_lost, n % sizeof(struct python_call_bytes) > 0);
    }
    for (size_t n = 0; n < n_names; n++)
        assert_int_equal(calls_make(calls, sizeof calls, names, n).n_ranges, 2);
    for (size_t i = 0; i < sizeof calls; i++) {
        calls[i] ^= 0xFF;
        const struct ms_calls_made m = calls_make(calls, sizeof calls, names, n_names);
        assert_true(m.n_ranges + m.n_lost >= 2 && m.n_ranges <= ROWS(made));
        calls[i] ^= 0xFF;
    }
    for (size_t i = 0; i < n_names; i++) {
        names[i] ^= 0xFF;
        assert_int_equal(calls_make(calls, sizeof calls, names, n_names).n_ranges, 2);
        names[i] ^= 0xFF;
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(records_are_those_of_mindspore, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_killed_program_leaves_the_same, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(times_without_a_device_are_those_of_the_wall, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(the_description_is_that_of_mindspore, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(damaged_calls_are_counted, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(metadata_is_the_users_alone, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
