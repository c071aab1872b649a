/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "collect/session/recorder_session.h"
#include "collect/session/recover.h"
#include "collect/write/outputs.h"
#include "folder.h"
#include "load/prof/prof.h"
#include "reported.h"

/* ---- one stream, many files ---- */

static char *file_text(const char *folder_name, const char *name, char *into, size_t size)
{
    char path[PATH_MAX + 300];
    snprintf(path, sizeof path, "%s/host/data/%s", folder_name, name);
    const int fd = open(path, O_RDONLY);
    if (fd < 0)
        return NULL;
    const ssize_t n = read(fd, into, size - 1);
    close(fd);
    into[n > 0 ? n : 0] = '\0';
    return into;
}

static void add(struct slices *s, uint32_t pid, uint32_t kind, const char *text)
{
    const struct process_bytes of = { pid, kind, (uint32_t)strlen(text) };
    uint8_t *const at = slices_take(s, sizeof of + strlen(text));
    memcpy(at, &of, sizeof of);
    memcpy(at + sizeof of, text, strlen(text));
}

static void samples_are_sorted_into_files(void **state)
{
    struct prof_writer w;
    struct slices s;
    struct error e = { 0 };
    char path[128], text[4096];
    snprintf(path, sizeof path, "%s/PROF", folder);
    assert_true(prof_writer_open(&w, path, 10, &e)); /* slices of ten bytes */
    folder_create(&w, FOLDER_HOST);
    slices_init(&s, &w, FOLDER_HOST, "ascope.processes", CUT_NEVER);
    add(&s, 7, PROCESS_FILE_CPU, "seven 1\n");
    add(&s, 12, PROCESS_FILE_CPU, "twelve 1\n");
    add(&s, 7, PROCESS_FILE_MEMORY, "memory\n");
    add(&s, 7, PROCESS_FILE_CPU, "seven 2\n");
    add(&s, 7, PROCESS_FILE_CPU, "seven 3\n");
    slices_fini(&s);
    static const struct {
        const char *name, *text;
    } row[] = {
        { "7-CpuUsage.data.slice_0", "seven 1\nseven 2\n" },
        { "7-CpuUsage.data.slice_0.done", "filesize:16\nstarttime:0\nendtime  :0\n" },
        { "7-CpuUsage.data.slice_1", "seven 3\n" },
        { "7-CpuUsage.data.slice_1.done", "filesize:8\nstarttime:0\nendtime  :0\n" },
        { "12-CpuUsage.data.slice_0", "twelve 1\n" },
        { "7-Memory.data.slice_0", "memory\n" },
        { "12-Memory.data.slice_0", NULL },
        { "7-CpuUsage.data.slice_2", NULL },
    };
    for (int again = 0; again < 2; again++) { /* whoever was killed here begins again */
        assert_int_equal(process_files_make(&s), 0);
        for (size_t i = 0; i < ROWS(row); i++) {
            print_message("  %s\n", row[i].name);
            const char *const found = file_text(path, row[i].name, text, sizeof text);
            if (row[i].text)
                assert_string_equal(found, row[i].text);
            else
                assert_null(found);
        }
    }
    assert_true(prof_writer_close(&w, &e));
    (void)state;
}

/* Whoever can change the file can change anything in it: every length of it, and every byte. */
static void damage_is_counted(void **state)
{
    enum { SAMPLES = 5, BYTES = 8 };
    struct prof_writer w;
    struct slices s;
    struct error e = { 0 };
    char path[128], file[200];
    snprintf(path, sizeof path, "%s/PROF", folder);
    assert_true(prof_writer_open(&w, path, 1 << 20, &e));
    folder_create(&w, FOLDER_HOST);
    slices_init(&s, &w, FOLDER_HOST, "ascope.processes", CUT_NEVER);
    for (uint32_t i = 0; i < SAMPLES; i++)
        add(&s, i % 2, PROCESS_FILE_CPU, "sample\n");
    slices_fini(&s);
    snprintf(file, sizeof file, "%s/host/data/ascope.processes.slice_0", path);
    const int fd = open(file, O_RDWR);
    uint8_t whole[SAMPLES * (sizeof(struct process_bytes) + BYTES)];
    const ssize_t n = read(fd, whole, sizeof whole);
    for (ssize_t i = 0; i < n; i++) {
        assert_int_equal(ftruncate(fd, i), 0);
        const bool is_between = (size_t)i % (sizeof(struct process_bytes) + strlen("sample\n")) == 0;
        assert_int_equal(process_files_make(&s), !is_between);
        assert_int_equal(pwrite(fd, whole, (size_t)n, 0), n);
        assert_int_equal(pwrite(fd, &(uint8_t){ whole[i] ^ 0x80 }, 1, i), 1);
        process_files_make(&s);
        assert_int_equal(pwrite(fd, whole, (size_t)n, 0), n);
    }
    close(fd);
    assert_true(prof_writer_close(&w, &e));
    (void)state;
}

/* ---- every process of the machine ---- */

static struct ascope_session *usage_session(void)
{
    struct ascope_options o;
    struct ascope_error e = { "" };
    ascope_options_init(&o);
    o.parent_dir = folder;
    o.device = "none";
    o.layout = ASCOPE_LAYOUT_PROF;
    n_warnings = 0;
    ascope_on_message(count_warning, NULL);
    assert_true(ascope_options_set(&o, "host_sys_usage", "cpu,mem"));
    struct ascope_session *const s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_start(s, &e))
        fail_msg("%s", e.text);
    assert_int_equal(n_warnings, 0);
    return s;
}

/* TimeStamp, Index, DataLen, so many bytes, an empty line: again and again. How many samples that is. */
static unsigned count_samples(const char *text)
{
    unsigned n = 0;
    for (unsigned long long at_ns, before = 0, index, bytes; *text; n++, before = at_ns) {
        int head = 0;
        assert_int_equal(sscanf(text, "TimeStamp:%llu\nIndex:%llu\nDataLen:%llu%n", &at_ns, &index, &bytes, &head), 3);
        assert_true(index == n && at_ns > before && strlen(text) > (size_t)head + 1 + bytes);
        text += (size_t)head + 1 + bytes;
        assert_int_equal(*text++, '\n');
        assert_int_equal(text[-2], '\n');
    }
    return n;
}

static void assert_usage_files(const char *path, pid_t pid)
{
    static char text[4 << 20];
    char name[64];
    const char *const of_machine[] = { "host_sys_cpu.data.slice_0", "host_sys_mem.data.slice_0" };
    for (size_t i = 0; i < ROWS(of_machine); i++)
        assert_true(file_text(path, of_machine[i], text, sizeof text) && count_samples(text) >= 2);
    assert_non_null(strstr(text, "MemTotal:"));
    snprintf(name, sizeof name, "%d-Memory.data.slice_0", (int)pid);
    assert_true(file_text(path, name, text, sizeof text) && count_samples(text) >= 2);
    snprintf(name, sizeof name, "%d-CpuUsage.data.slice_0", (int)pid);
    assert_true(file_text(path, name, text, sizeof text) && count_samples(text) >= 2);
    assert_non_null(strstr(text, "\nProcessName:test_process_fi\ncpu  "));
    assert_null(file_text(path, "ascope.processes.slice_0", text, sizeof text));

    struct profile p; /* and our own reader takes every line */
    struct error e = { 0 };
    assert_true(profile_load(&p, path, 1, &e));
    assert_int_equal(p.host.source.lost.by[LOSS_BAD_TEXT].n + p.host.source.lost.by[LOSS_CUT_SHORT].n, 0);
    assert_true(p.host.usage.ticks[CPU_HOST].is_sampled && p.host.usage.memory.n >= 2);
    for (unsigned k = 0; k < PROCESS_REPORTS; k++) {
        bool is_there = false;
        for (size_t i = 0; i < p.host.usage.process[k].n; i++)
            is_there |= p.host.usage.process[k].at[i].pid == (uint64_t)pid;
        assert_true(is_there && p.host.usage.process[k].n >= 1);
    }
    profile_free(&p);
}

static void every_process_has_its_files(void **state)
{
    struct ascope_session *const s = usage_session();
    struct ascope_error e = { "" };
    assert_true(ascope_session_stop(s, &e)); /* looks once more */
    assert_usage_files(ascope_session_path(s), getpid());
    ascope_session_discard(s);
    (void)state;
}

/* The collector is killed: what is in the rings and in the one file becomes files when it is recovered. */
static void recovery_makes_the_files(void **state)
{
    int found[2];
    char path[PATH_MAX] = "", message_text[400] = "";
    assert_int_equal(pipe(found), 0);
    const pid_t collector = child_fork();
    if (collector == 0) {
        struct ascope_session *const s = usage_session();
        struct writer_tally t;
        do {
            usleep(1000);
            writer_look(&t);
        } while (t.n_records < 8); /* of each of our files two or more are put; some are not written yet */
        host_sampler_stop(s->host);
        const char *const at = ascope_session_path(s);
        if (write(found[1], at, strlen(at)) < 0)
            abort();
        raise(SIGKILL);
    }
    close(found[1]);
    child_end_by(collector, SIGKILL);
    assert_true(read(found[0], path, sizeof path - 1) > 0);
    close(found[0]);
    struct recovered r;
    struct error e = { 0 };
    const enum recovery how = collection_recover(path, &r, &e);
    snprintf(message_text, sizeof message_text, "%s", e.text);
    if (how != RECOVERY_DONE)
        fail_msg("%d %s", (int)how, message_text);
    assert_usage_files(path, collector);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_are_sorted_into_files, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(damage_is_counted, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(every_process_has_its_files, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(recovery_makes_the_files, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
