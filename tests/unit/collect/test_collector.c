/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <inttypes.h>

#include "base/text/json_memory.h"
#include "folder.h"
#include "load/prof/prof.h"

/* One key a line, so that a row of a test can leave one out or put another in its place. */
static const char *const good[] = {
    "\"ascope\":\"0.1.0\"",
    "\"abi\":0",
    "\"simulated\":true",
    "\"device\":\"sim\"",
    "\"ended\":\"stop\"",
    "\"clock\":{\"kind\":\"counter\",\"mhz\":2400.5,\"first_mhz\":2400,\"start_uncertainty_ns\":35,\"stop_uncertainty_ns\":41}",
    "\"devices\":[{\"id\":3,\"start_uncertainty_ns\":120,\"stop_uncertainty_ns\":130,\"nominal_mhz\":50,\"mhz\":49.5,"
    "\"drift_ppm\":-18.25}]",
    "\"written\":{\"records\":1000,\"bytes\":20000}",
    "\"dropped\":[{\"what\":\"operators\",\"count\":12},{\"what\":\"memory\",\"count\":3}]",
    "\"aged\":{\"slices\":4,\"bytes\":400}",
    "\"open_ranges\":2",
    "\"hook_ns\":77",
    "\"lag_most_ns\":88",
    "\"fill_most_percent\":99",
    "\"threads\":5",
    "\"steps\":[{\"step\":1,\"records\":1,\"bytes\":2,\"dropped\":3,\"hook_ns\":4,\"lag_most_ns\":5},"
    "{\"step\":-2,\"records\":6,\"bytes\":7,\"dropped\":8,\"hook_ns\":9,\"lag_most_ns\":10}]",
};

static void put(const char *file, const char *text)
{
    FILE *f = fopen(folder_path(file), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

/* The good file with one key left out, or with others in its place. */
static void put_with(const char *key, const char *instead)
{
    char text[4000] = "{";
    const size_t len = key ? strlen(key) : 0;
    bool found = !key;
    for (size_t i = 0; i < ROWS(good); i++) {
        const bool is_it = key && strncmp(good[i] + 1, key, len) == 0 && good[i][len + 1] == '"';
        const char *line = is_it ? instead : good[i];
        found = found || is_it;
        if (!line)
            continue;
        strcat(text, text[1] ? "," : "");
        strcat(text, line);
    }
    assert_true(found);
    strcat(text, "}");
    put("ascope.json", text);
}

static struct collector load(struct arena *mem, struct losses *lost)
{
    struct collector c;
    struct error e = { 0 };
    *lost = (struct losses){ 0 };
    assert_true(collector_load(&c, folder, mem, lost, &e));
    assert_int_equal(e.fault, FAULT_NONE);
    return c;
}

static void everything_that_is_reported_is_known(void **state)
{
    (void)state;
    struct arena *mem = arena_new();
    struct losses lost;
    put_with(NULL, NULL);
    const struct collector c = load(mem, &lost);
    assert_true(c.is_there);
    assert_false(c.has_rings);
    assert_string_equal(c.version, "0.1.0");
    assert_string_equal(c.device, "sim");
    assert_true(c.is_simulated);
    assert_int_equal(c.ended, COLLECTOR_STOPPED);
    assert_int_equal(c.clock, COLLECTOR_CLOCK_COUNTER);
    assert_true(c.mhz == 2400.5 && c.first_mhz == 2400);
    assert_int_equal(c.start_uncertainty_ns, 35);
    assert_int_equal(c.stop_uncertainty_ns, 41);
    assert_int_equal(c.n_devices, 1);
    assert_int_equal(c.devices[0].id, 3);
    assert_int_equal(c.devices[0].stop_uncertainty_ns, 130);
    assert_true(c.devices[0].nominal_mhz == 50 && c.devices[0].mhz == 49.5 && c.devices[0].drift_ppm == -18.25);
    assert_int_equal(c.records, 1000);
    assert_int_equal(c.bytes, 20000);
    assert_int_equal(c.n_dropped, 2);
    assert_string_equal(c.dropped[1].what, "memory");
    assert_int_equal(c.dropped[1].n, 3);
    assert_int_equal(c.aged_slices, 4);
    assert_int_equal(c.aged_bytes, 400);
    assert_int_equal(c.hook_ns, 77);
    assert_int_equal(c.lag_most_ns, 88);
    assert_int_equal(c.fill_most_percent, 99);
    assert_int_equal(c.threads, 5);
    assert_int_equal(c.n_steps, 2);
    assert_int_equal(c.steps[1].step, -2);
    assert_int_equal(c.steps[1].lag_most_ns, 10);
    arena_free(mem);
}

static void what_was_lost_while_recording_is_a_loss(void **state)
{
    (void)state;
    struct arena *mem = arena_new();
    struct losses lost;
    put_with(NULL, NULL);
    load(mem, &lost);
    assert_int_equal(lost.by[LOSS_RING_FULL].n, 15);
    assert_string_equal(lost.by[LOSS_RING_FULL].file, "ascope.json: operators 12, memory 3");
    assert_int_equal(lost.by[LOSS_AGED].n, 4);
    assert_int_equal(lost.by[LOSS_OPEN_RANGE].n, 2);
    assert_string_equal(loss_key(LOSS_RING_FULL), "ring_full");
    assert_int_equal(losses_damage(&lost), 15); /* ageing was asked for, and ranges that do not end are the program's */
    arena_free(mem);
}

static void what_is_missing_or_wrong_is_counted_and_nothing_else_is_lost(void **state)
{
    static const struct {
        const char *what, *key, *instead;
        uint64_t wrong;
        const char *first; /* of them */
    } row[] = {
        { "nothing is wrong", NULL, NULL, 0, NULL },
        { "a key that is not known", "abi", "\"abi\":0,\"weather\":\"fine\"", 0, NULL },
        { "no version", "ascope", NULL, 1, "ascope.json, ascope" },
        { "a version that is a number", "ascope", "\"ascope\":1", 1, "ascope.json, ascope" },
        { "a version without end", "ascope",
          "\"ascope\":\"0123456789012345678901234567890123456789012345678901234567890123456789\"", 1,
          "ascope.json, ascope" },
        { "no abi", "abi", NULL, 1, "ascope.json, abi" },
        { "an abi below nothing", "abi", "\"abi\":-1", 1, "ascope.json, abi" },
        { "nobody says whether it is simulated", "simulated", NULL, 1, "ascope.json, simulated" },
        { "simulated, as a word", "simulated", "\"simulated\":\"yes\"", 1, "ascope.json, simulated" },
        { "no device", "device", NULL, 1, "ascope.json, device" },
        { "no end", "ended", NULL, 1, "ascope.json, ended" },
        { "an unknown end", "ended", "\"ended\":\"well\"", 1, "ascope.json, ended" },
        { "an end of no words", "ended", "\"ended\":\"\"", 1, "ascope.json, ended" },
        { "no clock", "clock", NULL, 3, "ascope.json, clock.kind" },
        { "a clock that is a list", "clock", "\"clock\":[1]", 3, "ascope.json, clock.kind" },
        { "an unknown clock", "clock", "\"clock\":{\"kind\":\"sun\",\"mhz\":1,\"start_uncertainty_ns\":1}", 1,
          "ascope.json, clock.kind" },
        { "a clock that stands still", "clock", "\"clock\":{\"kind\":\"ns\",\"mhz\":0,\"start_uncertainty_ns\":1}", 1,
          "ascope.json, clock.mhz" },
        { "a clock that is too fast", "clock", "\"clock\":{\"kind\":\"ns\",\"mhz\":1e300,\"start_uncertainty_ns\":1}",
          1, "ascope.json, clock.mhz" },
        { "an uncertainty below nothing", "clock",
          "\"clock\":{\"kind\":\"ns\",\"mhz\":1,\"start_uncertainty_ns\":-1,\"stop_uncertainty_ns\":1.5}", 2,
          "ascope.json, clock.start_uncertainty_ns" },
        { "no devices", "devices", NULL, 1, "ascope.json, devices" },
        { "none is not a loss", "devices", "\"devices\":[]", 0, NULL },
        { "invalid devices", "devices", "\"devices\":[1,{},{\"id\":\"0\"},{\"id\":1}]", 3, "ascope.json, devices.id" },
        { "a drift beyond all clocks", "devices", "\"devices\":[{\"id\":1,\"drift_ppm\":1e9}]", 1,
          "ascope.json, devices.drift_ppm" },
        { "nothing written", "written", NULL, 2, "ascope.json, written.records" },
        { "less than nothing written", "written", "\"written\":{\"records\":-5,\"bytes\":1}", 1,
          "ascope.json, written.records" },
        { "drops that are a number", "dropped", "\"dropped\":7", 1, "ascope.json, dropped" },
        { "a drop without a count", "dropped", "\"dropped\":[{\"what\":\"operators\"}]", 1,
          "ascope.json, dropped.count" },
        { "a drop of nobody knows what", "dropped", "\"dropped\":[{\"what\":[],\"count\":1}]", 1,
          "ascope.json, dropped.what" },
        { "no ageing", "aged", NULL, 2, "ascope.json, aged.slices" },
        { "no open ranges", "open_ranges", NULL, 1, "ascope.json, open_ranges" },
        { "no hooks", "hook_ns", NULL, 1, "ascope.json, hook_ns" },
        { "no lag", "lag_most_ns", NULL, 1, "ascope.json, lag_most_ns" },
        { "no fill", "fill_most_percent", NULL, 1, "ascope.json, fill_most_percent" },
        { "fuller than full", "fill_most_percent", "\"fill_most_percent\":101", 1, "ascope.json, fill_most_percent" },
        { "no threads", "threads", NULL, 1, "ascope.json, threads" },
        { "threads as a word", "threads", "\"threads\":\"5\"", 1, "ascope.json, threads" },
        { "no steps", "steps", NULL, 1, "ascope.json, steps" },
        { "invalid steps", "steps", "\"steps\":[null,[],{\"step\":1}]", 17, "ascope.json, steps.step" },
        { "rings elsewhere, which are gone", "abi", "\"abi\":0,\"rings\":\"/no/such/x.rings\"", 0, NULL },
        { "rings that are a device", "abi", "\"abi\":0,\"rings\":\"/dev/null\"", 1, "ascope.json, rings" },
        { "rings that are a number", "abi", "\"abi\":0,\"rings\":1", 1, "ascope.json, rings" },
        { "at the start little is known", "ended", "\"ended\":\"running\"", 0, NULL },
    };
    (void)state;
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct losses lost;
        print_message("  %s\n", row[i].what);
        put_with(row[i].key, row[i].instead);
        const struct collector c = load(mem, &lost);
        assert_true(c.is_there);
        assert_int_equal(lost.by[LOSS_BAD_VALUE].n, row[i].wrong);
        if (row[i].first)
            assert_string_equal(lost.by[LOSS_BAD_VALUE].file, row[i].first);
        assert_int_equal(lost.by[LOSS_UNREADABLE].n, 0);
        assert_int_equal(c.n_steps, row[i].key && strcmp(row[i].key, "steps") == 0 ? 0 : 2);
        arena_free(mem);
    }
}

static void a_recording_that_is_not_over_reports_less(void **state)
{
    (void)state;
    struct arena *mem = arena_new();
    struct losses lost;
    put("ascope.json", "{\"ascope\":\"0.1.0\",\"abi\":0,\"simulated\":false,\"device\":\"none\",\"ended\":\"running\","
                       "\"clock\":{\"kind\":\"ns\",\"mhz\":1000,\"start_uncertainty_ns\":20}}");
    put("ascope.rings", "");
    const struct collector c = load(mem, &lost);
    assert_true(c.is_there && c.has_rings);
    assert_int_equal(c.ended, COLLECTOR_RUNNING);
    assert_true(c.stop_uncertainty_ns == NOT_KNOWN);
    assert_true(isnan(c.first_mhz));
    assert_int_equal(losses_damage(&lost), 1); /* nobody has recovered it */
    assert_int_equal(lost.by[LOSS_NOT_RECOVERED].n, 1);
    arena_free(mem);
}

static void a_file_that_cannot_be_one_is_reported(void **state)
{
    static const struct {
        const char *what, *text;
        bool is_lost;
    } row[] = {
        { "no file: another collector", NULL, false },
        { "an empty file", "", true },
        { "no JSON", "{\"ascope\":", true },
        { "a list", "[]", true },
        { "the same key twice", "{\"abi\":0,\"abi\":0}", true },
        { "a number that no machine holds", "{\"abi\":99999999999999999999999}", true },
    };
    (void)state;
    for (size_t i = 0; i < ROWS(row); i++) {
        struct arena *mem = arena_new();
        struct losses lost;
        print_message("  %s\n", row[i].what);
        if (row[i].text)
            put("ascope.json", row[i].text);
        const struct collector c = load(mem, &lost);
        assert_false(c.is_there);
        assert_int_equal(lost.by[LOSS_UNREADABLE].n, row[i].is_lost);
        assert_int_equal(losses_damage(&lost), row[i].is_lost);
        arena_free(mem);
    }
    assert_int_equal(remove(folder_path("ascope.json")), 0);
    assert_int_equal(symlink("/dev/zero", folder_path("ascope.json")), 0);
    struct arena *mem = arena_new();
    struct losses lost;
    load(mem, &lost);
    assert_int_equal(lost.by[LOSS_UNREADABLE].n, 1);
    arena_free(mem);
}

/* Whatever is cut off or changed, it is read or reported, and never more than that. */
static void every_prefix_and_every_changed_byte_is_survived(void **state)
{
    (void)state;
    put_with(NULL, NULL);
    char text[4000] = "", damaged[4000];
    FILE *f = fopen(folder_path("ascope.json"), "r");
    assert_non_null(f);
    const size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    for (size_t i = 0; i < 2 * n; i++) {
        struct arena *mem = arena_new();
        struct losses lost;
        memcpy(damaged, text, n + 1);
        if (i < n)
            damaged[i] = 0;
        else
            damaged[i - n] ^= 1;
        put("ascope.json", damaged);
        const struct collector c = load(mem, &lost);
        assert_true(c.is_there || lost.by[LOSS_UNREADABLE].n == 1);
        arena_free(mem);
    }
}

static void a_prof_directory_looks_into_the_session_around_it(void **state)
{
    (void)state;
    static const struct {
        const char *what, *session;
        bool is_there;
    } row[] = {
        { "a session", "a_1_2_ascend_pt", true },
        { "some other directory", "collections", false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        char path[200];
        print_message("  %s\n", row[i].what);
        assert_int_equal(mkdir(folder_path(row[i].session), 0755), 0);
        snprintf(path, sizeof path, "%s/ascope.json", row[i].session);
        put_with(NULL, NULL);
        char from[600];
        snprintf(from, sizeof from, "%s", folder_path("ascope.json"));
        assert_int_equal(rename(from, folder_path(path)), 0);
        snprintf(path, sizeof path, "%s/%s/PROF_1", folder, row[i].session);
        struct arena *mem = arena_new();
        struct losses lost = { 0 };
        struct error e = { 0 };
        struct collector c = { 0 };
        assert_true(collector_load_above(&c, path, mem, &lost, &e));
        assert_int_equal(c.is_there, row[i].is_there);
        arena_free(mem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_that_is_reported_is_known, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(what_was_lost_while_recording_is_a_loss, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(what_is_missing_or_wrong_is_counted_and_nothing_else_is_lost, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(a_recording_that_is_not_over_reports_less, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_one_is_reported, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(every_prefix_and_every_changed_byte_is_survived, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_prof_directory_looks_into_the_session_around_it, folder_make, folder_remove),
    };
    json_memory_watch();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
