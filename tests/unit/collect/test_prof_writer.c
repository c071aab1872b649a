/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "collect/session/place.h"
#include "collect/write/prof_writer.h"
#include "folder.h"
#include "raw/host_records.h"

enum { LIMIT = 4096 };

static struct prof_writer writer;

static void open_writer(void)
{
    struct error e = { 0 };
    assert_true(prof_writer_open(&writer, folder_path("PROF_1"), LIMIT, &e));
    folder_create(&writer, FOLDER_HOST);
    folder_create(&writer, 3);
}

static size_t read_file(const char *name, char *into, size_t size)
{
    FILE *f = fopen(folder_path(name), "rb");
    if (!f)
        fail_msg("%s is not there", name);
    const size_t n = fread(into, 1, size - 1, f);
    into[n] = 0;
    fclose(f);
    return n;
}

static bool exists(const char *name)
{
    return access(folder_path(name), F_OK) == 0;
}

/* Numbers their first four bytes, so that a reader sees which record it has. */
static void put_records(struct slices *s, size_t bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *rec = slices_take(s, bytes);
        memset(rec, 0xEE, bytes);
        memcpy(rec, &i, sizeof i);
    }
}

static void streams_are_cut_and_every_slice_has_its_marker(void **state)
{
    static const struct {
        const char *what;
        enum cut cut;
        size_t bytes;
        uint32_t n;
        size_t slice[4]; /* their sizes; 0: there is none */
    } row[] = {
        { "no record, no file", CUT_BETWEEN, 40, 0, { 0 } },
        { "one record", CUT_BETWEEN, 40, 1, { 40 } },
        { "a slice ends with the record that fills it", CUT_BETWEEN, 40, 103, { 4120 } },
        { "the next record begins another", CUT_BETWEEN, 40, 104, { 4120, 40 } },
        { "records of a host are never in two", CUT_BETWEEN, 256, 40, { 4096, 4096, 2048 } },
        { "those of a device may be", CUT_ANYWHERE, 40, 110, { 4096, 304 } },
        { "a slice may end where a record does", CUT_ANYWHERE, 64, 64, { 4096 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        folder_make(NULL);
        open_writer();
        struct slices s;
        slices_init(&s, &writer, 3, "test.data", row[i].cut);
        put_records(&s, row[i].bytes, row[i].n);
        slices_fini(&s);
        struct error e = { 0 };
        assert_true(prof_writer_close(&writer, &e));

        static char whole[64 * LIMIT], text[LIMIT * 2];
        size_t have = 0;
        for (unsigned k = 0; k < ROWS(row[i].slice); k++) {
            char name[80], want[80];
            snprintf(name, sizeof name, "PROF_1/device_3/data/test.data.3.slice_%u", k);
            assert_int_equal(exists(name), row[i].slice[k] != 0);
            if (row[i].slice[k] == 0)
                break;
            const size_t n = read_file(name, text, sizeof text);
            assert_int_equal(n, row[i].slice[k]);
            memcpy(whole + have, text, n);
            have += n;
            strcat(name, ".done");
            read_file(name, text, sizeof text);
            snprintf(want, sizeof want, "filesize:%zu\nstarttime:0\nendtime  :0\n", n);
            assert_string_equal(text, want);
        }
        assert_int_equal(have, row[i].n * row[i].bytes);
        for (uint32_t r = 0; r < row[i].n; r++)
            assert_memory_equal(whole + r * row[i].bytes, &r, sizeof r);
        folder_remove(NULL);
    }
    (void)state;
}

static void small_files_have_markers_and_the_names_of_their_folder(void **state)
{
    static const struct {
        int device;
        const char *name, *path;
    } row[] = {
        { FOLDER_HOST, "info.json", "PROF_1/host/info.json" },
        { 3, "info.json", "PROF_1/device_3/info.json.3" },
        { FOLDER_HOST, "sample.json", "PROF_1/host/sample.json" },
        { 3, "sample.json", "PROF_1/device_3/sample.json" },
    };
    open_writer();
    for (size_t i = 0; i < ROWS(row); i++) {
        char text[80], done[80];
        folder_file(&writer, row[i].device, row[i].name, "{}\n!", 4);
        assert_int_equal(read_file(row[i].path, text, sizeof text), 4);
        snprintf(done, sizeof done, "%s.done", row[i].path);
        read_file(done, text, sizeof text);
        assert_string_equal(text, "filesize:4\n");
    }
    (void)state;
}

static void modes_do_not_depend_on_the_umask(void **state)
{
    static const struct {
        mode_t mask;
    } row[] = { { 0 }, { 022 }, { 077 } };
    for (size_t i = 0; i < ROWS(row); i++) {
        folder_make(NULL);
        const mode_t was = umask(row[i].mask);
        open_writer();
        struct slices s;
        slices_init(&s, &writer, FOLDER_HOST, "aging.api_event.data", CUT_BETWEEN);
        slices_record(&s, &api_layout);
        slices_fini(&s);
        umask(was);
        static const struct {
            const char *name;
            mode_t mode;
        } file[] = {
            { "PROF_1", 0750 },
            { "PROF_1/host", 0750 },
            { "PROF_1/host/data", 0750 },
            { "PROF_1/host/data/aging.api_event.data.slice_0", 0640 },
            { "PROF_1/host/data/aging.api_event.data.slice_0.done", 0640 },
        };
        for (size_t k = 0; k < ROWS(file); k++) {
            struct stat st;
            assert_int_equal(stat(folder_path(file[k].name), &st), 0);
            assert_int_equal(st.st_mode & 07777, file[k].mode);
        }
        folder_remove(NULL);
    }
    (void)state;
}

static void what_is_there_is_not_touched(void **state)
{
    struct error e = { 0 };
    open_writer();
    assert_false(prof_writer_open(&writer, folder_path("PROF_1"), LIMIT, &e));
    assert_int_equal(e.fault, FAULT_IO);
    assert_non_null(strstr(e.text, "PROF_1"));
    (void)state;
}

static void a_full_disk_is_reported_once_and_at_the_end(void **state)
{
    struct error e = { 0 };
    struct slices s;
    open_writer();
    slices_init(&s, &writer, 3, "test.data", CUT_ANYWHERE);
    folder_limit(1000);
    put_records(&s, 64, 10000); /* none of this may crash, though nothing reaches the disk */
    slices_fini(&s);
    folder_limit(0);
    assert_false(prof_writer_close(&writer, &e));
    assert_int_equal(e.fault, FAULT_IO);
    assert_non_null(strstr(e.text, "test.data"));
    assert_false(exists("PROF_1/device_3/data/test.data.3.slice_0.done"));
    (void)state;
}

static void a_line_that_is_too_long_is_cut_off(void **state)
{
    enum { LINE = 6000, KEPT = 4095 };
    struct error e = { 0 };
    struct slices s;
    char line[LINE + 1], have[LINE + 1];
    memset(line, 'x', LINE);
    line[LINE] = '\0';
    open_writer();
    slices_init(&s, &writer, 3, "test.data", CUT_NEVER);
    slices_text(&s, "%s", line);
    slices_fini(&s);
    assert_true(prof_writer_close(&writer, &e));
    assert_int_equal(read_file("PROF_1/device_3/data/test.data.3.slice_0", have, sizeof have), KEPT);
    assert_int_equal(strspn(have, "x"), KEPT);
    (void)state;
}

static void a_small_file_is_whole_or_as_it_was(void **state)
{
    static const struct {
        const char *what, *before, *after; /* NULL: not there */
    } row[] = { { "a new one", NULL, NULL }, { "one that is replaced", "before", "before" } };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct error e = { 0 };
        char text[4096] = "", have[16] = "";
        print_message("  %s\n", row[i].what);
        folder_make(NULL);
        const char *const path = folder_path("info.json");
        if (row[i].before)
            assert_true(place_file(path, row[i].before, strlen(row[i].before), false, &e));
        folder_limit(1000);
        assert_false(place_file(path, text, sizeof text, false, &e));
        folder_limit(0);
        assert_non_null(strstr(e.text, "info.json: cannot be written"));
        assert_int_equal(folder_count(), row[i].after ? 1 : 0); /* and nothing beside it */
        if (row[i].after) {
            read_file("info.json", have, sizeof have);
            assert_string_equal(have, row[i].after);
        }
        folder_remove(NULL);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(streams_are_cut_and_every_slice_has_its_marker),
        cmocka_unit_test_setup_teardown(small_files_have_markers_and_the_names_of_their_folder, folder_make,
                                        folder_remove),
        cmocka_unit_test(modes_do_not_depend_on_the_umask),
        cmocka_unit_test_setup_teardown(what_is_there_is_not_touched, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported_once_and_at_the_end, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_line_that_is_too_long_is_cut_off, folder_make, folder_remove),
        cmocka_unit_test(a_small_file_is_whole_or_as_it_was),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
