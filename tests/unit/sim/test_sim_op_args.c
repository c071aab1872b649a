/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <jansson.h>
#include <unistd.h>

#include "ascope/sim.h"
#include "recorded.h"
#include "reported.h"

static void on_device(struct ascope_options *o)
{
    o->device = "sim";
    o->activities = ASCOPE_NPU;
    o->record_op_args = true;
}

static void on_host(struct ascope_options *o)
{
    o->record_op_args = true;
}

static void launch(const char *type, uint32_t rows)
{
    const struct ascope_sim_tensor in[] = { { ASCOPE_SIM_FLOAT16, 2, { rows, 8 } }, { ASCOPE_SIM_BF16, 1, { 8 } } },
                                   out = { ASCOPE_SIM_FLOAT, 2, { rows, 8 } };
    ascope_sim_launch(NULL, &(struct ascope_sim_kernel){ type, NULL, in, &out, 2, 1 });
}

static json_t *file_of(const char *dir, const char *name)
{
    char path[PATH_MAX + 300];
    snprintf(path, sizeof path, "%s/%d/%s", dir, (int)getpid(), name);
    return json_load_file(path, 0, NULL);
}

static unsigned files_in(const char *dir)
{
    char path[PATH_MAX + 32];
    unsigned n = 0;
    snprintf(path, sizeof path, "%s/%d", dir, (int)getpid());
    DIR *const d = opendir(path);
    for (const struct dirent *entry; d && (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static void each_list_of_shapes_is_a_file(void **state)
{
    char dir[PATH_MAX + 16];
    struct ascope_error e;
    struct ascope_session *s = recorded_new(on_device);
    snprintf(dir, sizeof dir, "%s_op_args", ascope_session_path(s));
    assert_true(ascope_session_warmup(s, &e));
    launch("Relu", 1); /* nobody wants to know */
    assert_true(ascope_session_start(s, &e));
    for (unsigned i = 0; i < 100; i++)
        launch("MatMul", 16 + i % 2);
    launch("a/b", 16);
    ascope_sim_launch(NULL, &(struct ascope_sim_kernel){ "Nothing", NULL, NULL, NULL, 0, 0 });
    ascope_sim_copy(NULL, ASCOPE_SIM_HOST_TO_DEVICE, 64); /* not a kernel */
    const struct ascope_sim_tensor wide = { ASCOPE_SIM_BOOL, UINT32_MAX, { 1, 2, 3, 4, 5, 6, 7, 8 } }; /* has eight */
    for (int i = 0; i < 2; i++)
        ascope_sim_launch(NULL, &(struct ascope_sim_kernel){ "Wide", NULL, &wide, NULL, 1, 0 });
    assert_true(ascope_session_stop(s, &e));
    launch("Late", 16);
    assert_true(ascope_session_end(s, &e));

    assert_int_equal(files_in(dir), 5);
    static const char *const names[] = { "MatMul_float16_ND_16_8_0.json", "MatMul_float16_ND_17_8_1.json",
                                         "a_b_float16_ND_16_8_2.json", "Nothing_3.json",
                                         "Wide_bool_ND_1_2_3_4_5_6_7_8_4.json" };
    for (size_t i = 0; i < ROWS(names); i++) {
        json_t *const file = file_of(dir, names[i]);
        print_message("  %s\n", names[i]);
        assert_non_null(file);
        assert_true(json_is_true(json_object_get(file, "simulated")));
        json_decref(file);
    }
    json_t *const file = file_of(dir, names[1]);
    const char *name[2], *type[2], *format, *op;
    int rows, shape[3];
    assert_int_equal(json_unpack(file, "{s:s, s:[{s:s, s:s, s:[i,i], s:s}, {s:s, s:s, s:[i]}], s:[{s:[i,i]}]}",
                                 "op_type", &op, "inputs", "name", &name[0], "dtype", &type[0], "shape", &rows,
                                 &shape[0], "origin_format", &format, "name", &name[1], "dtype", &type[1],
                                 "origin_shape", &shape[1], "outputs", "shape", &rows, &shape[2]),
                     0);
    assert_string_equal(op, "MatMul");
    assert_string_equal(name[0], "x1");
    assert_string_equal(name[1], "x2");
    assert_string_equal(type[0], "float16");
    assert_string_equal(type[1], "bf16");
    assert_string_equal(format, "ND");
    assert_int_equal(rows, 17);
    json_decref(file);
    (void)state;
}

static void what_is_discarded_leaves_nothing(void **state)
{
    char dir[PATH_MAX + 16];
    struct ascope_error e;
    struct ascope_session *s = recorded_begin(on_device);
    snprintf(dir, sizeof dir, "%s_op_args", ascope_session_path(s));
    launch("MatMul", 16);
    assert_true(ascope_session_stop(s, &e));
    assert_int_equal(access(dir, F_OK), 0);
    ascope_session_discard(s);
    assert_int_equal(access(dir, F_OK), -1);
    (void)state;
}

static void many_are_reported(void **state)
{
    enum { MOST = 1 << 14 };
    char dir[PATH_MAX + 16];
    struct ascope_error e;
    struct ascope_session *s = recorded_begin(on_device);
    snprintf(dir, sizeof dir, "%s_op_args", ascope_session_path(s));
    n_warnings = 0;
    for (uint32_t i = 0; i < MOST + 10; i++)
        launch("MatMul", 16 + i);
    assert_true(ascope_session_end(s, &e));
    assert_int_equal(files_in(dir), MOST);
    assert_int_equal(n_warnings, 1);
    assert_non_null(strstr(last_text, "record_op_args"));
    (void)state;
}

static void without_a_device_it_is_reported(void **state)
{
    char dir[PATH_MAX + 16];
    struct ascope_error e;
    n_warnings = 0;
    struct ascope_session *s = recorded_begin(on_host);
    snprintf(dir, sizeof dir, "%s_op_args", ascope_session_path(s));
    assert_true(ascope_session_end(s, &e));
    assert_int_equal(n_warnings, 1);
    assert_non_null(strstr(last_text, "record_op_args"));
    assert_int_equal(access(dir, F_OK), -1);
    (void)state;
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(each_list_of_shapes_is_a_file),
        IN_A_FOLDER(what_is_discarded_leaves_nothing),
        IN_A_FOLDER(many_are_reported),
        IN_A_FOLDER(without_a_device_it_is_reported),
    };
    ascope_on_message(count_warning, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
