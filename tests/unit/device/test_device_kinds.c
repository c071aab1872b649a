/* SPDX-License-Identifier: Apache-2.0 */
/* Another vendor's device is a row of device_kinds: sessions find it, describe it and record it as they are. The test
 * has a list of kinds of its own, which takes the place of the library's. */
#include "test.h"

#include <glob.h>

#include <jansson.h>

#include "ascope/mark.h"
#include "ascope/session.h"
#include "collect/session/devices.h"
#include "collect/session/host_clock.h"
#include "collect/ring/ring.h"
#include "doctor/doctor.h"
#include "folder.h"

enum { GPUS = 2, RECORD_BYTES = 64 };
static char calls[200];
static bool is_there = true;
static int stream;

static void note(const char *what)
{
    const size_t n = strlen(calls);
    snprintf(calls + n, sizeof calls - n, "%s%s", n > 0 ? " " : "", what);
}

static unsigned probe(struct error *e)
{
    (void)e;
    return is_there ? GPUS : 0;
}

static bool describe(unsigned index, struct device_description *out, struct error *e)
{
    (void)e;
    *out = (struct device_description){ .id = (int)index, .name = "gpu", .counter_mhz = 1000 };
    return true;
}

static bool read_clock(unsigned index, struct device_reading *out, struct error *e)
{
    (void)index, (void)e;
    const uint64_t ns = host_clock_raw_ns();
    *out = (struct device_reading){ host_clock_now(), ns, ns, ns, 1 };
    return true;
}

static bool start(const struct ascope_options *o, struct error *e)
{
    (void)o, (void)e;
    note("start");
    return true;
}

static bool stop(struct error *e)
{
    (void)e;
    note("stop");
    for (unsigned i = 0; i < GPUS; i++) {
        const struct ring_slot slot = ring_put(STREAM_HBM, i, RECORD_BYTES);
        assert_non_null(slot.at);
        memset(slot.at, (int)('a' + i), RECORD_BYTES);
        ring_done(slot);
    }
    return true;
}

static void mark(void *on, uint64_t id)
{
    if (on == &stream && id > 0)
        note("mark");
}

static void *current(void)
{
    return &stream;
}

static const struct device_kind gpu = {
    .name = "gpu",
    .what = "another vendor's device",
    .is_real = true,
    .probe = probe,
    .describe = describe,
    .read_clock = read_clock,
    .start = start,
    .stop = stop,
    .mark = mark,
    .stream = current,
};
const struct device_kind *const device_kinds[] = { &gpu, NULL };

static json_t *json_of(const char *pattern)
{
    glob_t found;
    json_error_t why;
    assert_int_equal(glob(folder_path(pattern), 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    json_t *const value = json_load_file(found.gl_pathv[0], 0, &why);
    if (!value)
        fail_msg("%s: %s", found.gl_pathv[0], why.text);
    globfree(&found);
    return value;
}

static void a_device_of_another_vendor_is_recorded(void **state)
{
    struct ascope_options o;
    struct ascope_error e;
    ascope_options_init(&o);
    o.parent_dir = folder;
    o.mstx = true;
    *calls = '\0';
    struct ascope_session *const s = ascope_session_new(&o, &e); /* the device is "auto" */
    assert_non_null(s);
    assert_true(ascope_session_start(s, &e));
    ascope_mark(NULL, "here", ascope_current_stream());
    assert_true(ascope_session_stop(s, &e));
    assert_true(ascope_session_end(s, &e));
    assert_string_equal(calls, "start mark stop");

    /* What only an NPU has is not there, and the chip is the unknown one. */
    json_t *const info = json_of("*_ascend_pt/PROF_*/device_1/info.json.1");
    const json_t *const device = json_array_get(json_object_get(info, "DeviceInfo"), 0);
    assert_int_equal(json_object_size(device), 2);
    assert_int_equal(json_integer_value(json_object_get(device, "id")), 1);
    assert_non_null(json_object_get(device, "hwts_frequency"));
    assert_string_equal(json_string_value(json_object_get(info, "platform_version")), "-1");
    assert_string_equal(json_string_value(json_object_get(info, "jobInfo")), "NA");
    json_decref(info);
    json_decref(json_of("*_ascend_pt/PROF_*/device_0/sample.json"));

    glob_t found;
    assert_int_equal(glob(folder_path("*_ascend_pt/PROF_*/device_1/data/hbm.data.1.slice_0"), 0, NULL, &found), 0);
    char bytes[RECORD_BYTES + 1];
    FILE *const f = fopen(found.gl_pathv[0], "rb");
    assert_int_equal(fread(bytes, 1, sizeof bytes, f), RECORD_BYTES);
    assert_int_equal(bytes[0], 'b');
    fclose(f);
    globfree(&found);
    (void)state;
}

static void kinds_are_found_by_name_and_by_being_there(void **state)
{
    struct error e = { 0 };
    assert_ptr_equal(device_choose("auto", &e), &gpu);
    assert_ptr_equal(device_choose("gpu", &e), &gpu);
    assert_null(device_choose("none", &e));
    is_there = false;
    assert_null(device_choose("auto", &e));
    assert_int_equal(e.fault, FAULT_NONE);
    assert_null(device_choose("sim", &e));
    assert_non_null(strstr(e.text, "auto, none, gpu"));
    is_there = true;
    (void)state;
}

static const struct machine_finding *finding_of(const struct doctor_report *r, const char *name)
{
    for (size_t i = 0; i < r->findings.n; i++)
        if (r->findings.at[i].area == AREA_DEVICES && strcmp(r->findings.at[i].is.name, name) == 0)
            return &r->findings.at[i].is;
    fail_msg("no finding %s", name);
    return NULL;
}

static void the_doctor_reports_them(void **state)
{
    const struct doctor_request asked = { .out = folder, .python = "/nowhere/python3" };
    struct doctor_report r;
    struct error e = { 0 };
    assert_true(doctor_examine(&asked, &r, &e));
    assert_string_equal(r.device, "gpu");
    assert_int_equal(r.n_devices, GPUS);
    assert_non_null(strstr(r.verdict, "2 devices (gpu)"));
    assert_int_equal(finding_of(&r, "gpu")->state, FINDING_OK);
    assert_string_equal(finding_of(&r, "gpu")->fact, "another vendor's device: 2 found");
    assert_int_equal(finding_of(&r, "device=auto")->state, FINDING_OK);
    assert_string_equal(finding_of(&r, "device=auto")->fact, "selects gpu");
    doctor_end(&r);

    is_there = false;
    assert_true(doctor_examine(&asked, &r, &e));
    assert_null(r.device);
    assert_non_null(strstr(r.verdict, "no device found"));
    assert_int_equal(finding_of(&r, "gpu")->state, FINDING_NOT_APPLICABLE);
    assert_int_equal(finding_of(&r, "device=auto")->state, FINDING_LIMITED);
    assert_string_equal(finding_of(&r, "device=auto")->place, "gpu");
    doctor_end(&r);
    is_there = true;
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_device_of_another_vendor_is_recorded, folder_make, folder_remove),
        cmocka_unit_test(kinds_are_found_by_name_and_by_being_there),
        cmocka_unit_test_setup_teardown(the_doctor_reports_them, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
