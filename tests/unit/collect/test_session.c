/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "ascope/mark.h"
#include "ascope/record.h"
#include "child.h"
#include "base/files/file_tree.h"
#include "collect/session/recorder_session.h"
#include "reported.h"

static char dir[] = "/tmp/ascope-session-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    ascope_on_message(count_warning, NULL);
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    tree_remove_path(dir);
    return 0;
}

static struct ascope_options options_for(const char *device)
{
    struct ascope_options o;
    ascope_options_init(&o);
    o.parent_dir = dir;
    o.device = device;
    o.ring_kb = 64;
    o.mstx = true;
    return o;
}

static void record_something(void)
{
    for (int i = 0; i < 100; i++) {
        struct ascope_op op;
        ascope_op_begin(&op, "aten::add");
        ascope_op_end(&op);
    }
    ascope_mark(NULL, "here", NULL);
}

static char *text_of(const char *path, const char *name)
{
    static char text[1 << 20];
    char whole[8192];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    const int fd = open(whole, O_RDONLY);
    if (fd < 0)
        return NULL;
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static json_t *json_of(const char *path, const char *name)
{
    json_error_t e;
    const char *const text = text_of(path, name);
    json_t *const j = text ? json_loads(text, 0, &e) : NULL;
    if (!j)
        fail_msg("%s/%s: %s", path, name, text ? e.text : strerror(errno));
    return j;
}

/* The first name in the directory that begins so. */
static bool name_in(const char *path, const char *begins, char *out)
{
    DIR *d = opendir(path);
    bool found = false;
    for (const struct dirent *at; d && !found && (at = readdir(d));)
        if ((found = strncmp(at->d_name, begins, strlen(begins)) == 0))
            sprintf(out, "%s", at->d_name);
    if (d)
        closedir(d);
    return found;
}

static int check_mode(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    const unsigned mode = st->st_mode & 07777, wanted = kind == FTW_D ? 0750 : 0640;
    if (at->level > 0 && mode != wanted)
        fail_msg("%s: mode 0%o", path, mode);
    return 0;
}

/* ---- what is left behind ---- */

static void a_whole_life(void **state)
{
    static const mode_t masks[] = { 0, 0077, 0777 };
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        const mode_t was = umask(masks[i]);
        struct ascope_options o = options_for("sim");
        struct ascope_error e;
        o.worker_name = "worker";
        struct ascope_session *s = ascope_session_new(&o, &e);
        if (!s)
            fail_msg("%s", e.text);
        char path[4096], prof[4096], inside[8300];
        snprintf(path, sizeof path, "%s", ascope_session_path(s));
        assert_true(ascope_session_warmup(s, &e));
        record_something(); /* thrown away */
        assert_true(ascope_session_start(s, &e));
        assert_string_equal(e.text, "");
        record_something();
        json_t *facts = json_of(path, "ascope.json");
        assert_string_equal(json_string_value(json_object_get(facts, "ended")), "running");
        json_decref(facts);
        assert_true(ascope_metadata(s, "who", "a \"user\"\n", &e));
        assert_true(ascope_session_stop(s, &e));
        assert_true(ascope_session_end(s, &e));
        umask(was);

        nftw(path, check_mode, 8, FTW_PHYS);
        assert_true(name_in(path, "PROF_000", prof));
        assert_int_equal(strlen(prof), strlen("PROF_000001_20240531102211123_ABCDEFGHIJKLMNOP"));
        snprintf(inside, sizeof inside, "%s/%s", path, prof);
        static const char *const files[] = {
            "host/info.json",          "host/sample.json",    "host/start_info",           "host/end_info",
            "host/host_start.log",     "host/info.json.done", "device_0/info.json.0",      "device_0/sample.json",
            "device_0/start_info.0",   "device_0/end_info.0", "device_0/host_start.log.0", "device_0/dev_start.log.0",
            "device_0/end_info.0.done"
        };
        for (size_t k = 0; k < sizeof files / sizeof *files; k++)
            if (!text_of(inside, files[k]))
                fail_msg("%s is missing", files[k]);
        json_decref(json_of(inside, "host/info.json"));
        json_decref(json_of(inside, "host/sample.json"));
        json_decref(json_of(inside, "device_0/info.json.0"));
        json_decref(json_of(path, "profiler_info.json"));
        json_t *metadata = json_of(path, "profiler_metadata.json");
        assert_string_equal(json_string_value(json_object_get(metadata, "who")), "a \"user\"\n");
        assert_int_equal(json_object_size(json_object_get(metadata, "ENV_VARIABLES")), 4);
        json_decref(metadata);
        facts = json_of(path, "ascope.json");
        assert_string_equal(json_string_value(json_object_get(facts, "ended")), "stop");
        assert_true(json_is_true(json_object_get(facts, "simulated")));
        /* 100 operators, the mark, and the name of its domain: what was recorded in the warm-up is not there. */
        const long long n = json_integer_value(json_object_get(json_object_get(facts, "written"), "records"));
        assert_true(n >= 101 && n <= 103);
        json_decref(facts);
        assert_null(text_of(path, "ascope.rings"));
    }
    (void)state;
}

static void drift_is_measured_and_written(void **state)
{
    setenv("ASCOPE_SIM_DRIFT_PPM", "200", 1); /* of a device that is not there yet */
    setenv("ASCOPE_SIM_DEVICES", "2", 1);
    struct ascope_options o = options_for("sim");
    struct ascope_error e;
    struct ascope_session *s = ascope_session_new(&o, &e);
    char path[4096], prof[4096], inside[8300];
    snprintf(path, sizeof path, "%s", ascope_session_path(s));
    assert_true(ascope_session_start(s, &e));
    assert_true(name_in(path, "PROF_", prof));
    snprintf(inside, sizeof inside, "%s/%s", path, prof);
    char id[32];
    snprintf(id, sizeof id, "device_%d/info.json.%d", s->devices[1].is.id, s->devices[1].is.id);
    json_t *info = json_of(inside, id);
    const json_t *device = json_array_get(json_object_get(info, "DeviceInfo"), 0);
    assert_string_equal(json_string_value(json_object_get(device, "hwts_frequency")), "50.000000000");
    json_decref(info);
    usleep(300000);
    assert_true(ascope_session_stop(s, &e));
    info = json_of(inside, id);
    device = json_array_get(json_object_get(info, "DeviceInfo"), 0);
    const double mhz = atof(json_string_value(json_object_get(device, "hwts_frequency")));
    /* As exactly as the clocks could be read; a machine that interrupts every reading gives the nominal frequency. */
    const struct session_device *const measured = &s->devices[1];
    const double unsure = (double)(measured->first.uncertainty_ns + measured->last.uncertainty_ns) /
                          (double)(measured->last.host_mono_raw_ns - measured->first.host_mono_raw_ns);
    assert_true(mhz == 50 ? unsure > 40e-6 : fabs(mhz / 50.01 - 1) < unsure + 1e-6);
    json_decref(info);
    json_t *facts = json_of(path, "ascope.json");
    const json_t *of_device = json_array_get(json_object_get(facts, "devices"), 1);
    print_message("  %.9f MHz, %.3f ppm\n", mhz, json_real_value(json_object_get(of_device, "drift_ppm")));
    assert_true(fabs(json_real_value(json_object_get(of_device, "drift_ppm")) - (mhz / 50 - 1) * 1e6) < 0.01);
    json_decref(facts);
    assert_true(ascope_session_end(s, &e));
    unsetenv("ASCOPE_SIM_DRIFT_PPM");
    unsetenv("ASCOPE_SIM_DEVICES");
    (void)state;
}

static void a_comma_in_numbers_is_the_programs(void **state)
{
    const char *const was = setlocale(LC_ALL, NULL);
    if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8")) {
        struct ascope_options o = options_for("none");
        struct ascope_session *s = ascope_session_new(&o, NULL);
        assert_true(ascope_session_start(s, NULL));
        json_decref(json_of(ascope_session_path(s), "profiler_info.json"));
        json_decref(json_of(ascope_session_path(s), "ascope.json"));
        ascope_session_discard(s);
    }
    setlocale(LC_ALL, was);
    (void)state;
}

static void parts_follow_activities_and_layout(void **state)
{
    static const struct {
        const char *what;
        uint32_t activities, layout;
        bool has_framework, has_prof, is_prof;
    } row[] = {
        { "both", ASCOPE_CPU | ASCOPE_NPU, ASCOPE_LAYOUT_PYTORCH, true, true, false },
        { "the host", ASCOPE_CPU, ASCOPE_LAYOUT_PYTORCH, true, false, false },
        { "the device", ASCOPE_NPU, ASCOPE_LAYOUT_PYTORCH, false, true, false },
        { "PROF alone", ASCOPE_CPU, ASCOPE_LAYOUT_PROF, false, false, true },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct ascope_options o = options_for("none");
        struct ascope_error e;
        char name[4096];
        print_message("  %s\n", row[i].what);
        o.activities = row[i].activities;
        o.layout = row[i].layout;
        struct ascope_session *s = ascope_session_new(&o, &e);
        assert_true(ascope_session_start(s, &e));
        record_something();
        const char *const path = ascope_session_path(s);
        assert_int_equal(name_in(path, "FRAMEWORK", name), row[i].has_framework);
        assert_int_equal(name_in(path, "PROF_", name), row[i].has_prof);
        assert_int_equal(name_in(path, "host", name), row[i].is_prof);
        assert_int_equal(name_in(path, "profiler_info", name), !row[i].is_prof);
        assert_true(name_in(path, "ascope.json", name));
        assert_true(ascope_session_stop(s, &e));
        ascope_session_discard(s);
    }
    (void)state;
}

static void the_rank_is_in_names(void **state)
{
    static const struct {
        const char *what, *environment;
        int32_t asked;
        const char *name, *rank;
    } row[] = {
        { "none", NULL, -1, "profiler_info.json", NULL },
        { "of the environment: a text", "3", -1, "profiler_info_3.json", "\"rank_id\": \"3\"" },
        { "asked for: a number", "3", 5, "profiler_info_5.json", "\"rank_id\": 5" },
        { "not a number", "x", -1, "profiler_info.json", NULL },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct ascope_options o = options_for("none");
        print_message("  %s\n", row[i].what);
        o.rank = row[i].asked;
        if (row[i].environment)
            setenv("RANK", row[i].environment, 1);
        struct ascope_session *s = ascope_session_new(&o, NULL);
        assert_true(ascope_session_start(s, NULL));
        const char *const text = text_of(ascope_session_path(s), row[i].name);
        assert_non_null(text);
        assert_true(row[i].rank ? strstr(text, row[i].rank) != NULL : strstr(text, "rank_id") == NULL);
        ascope_session_discard(s);
        unsetenv("RANK");
    }
    (void)state;
}

static void the_environment_reports_where(void **state)
{
    struct ascope_options o = options_for("none");
    char wanted[256];
    o.parent_dir = NULL;
    setenv("ASCEND_WORK_PATH", dir, 1);
    struct ascope_session *s = ascope_session_new(&o, NULL);
    snprintf(wanted, sizeof wanted, "%s/profiling_data/", dir);
    assert_int_equal(strncmp(ascope_session_path(s), wanted, strlen(wanted)), 0);
    ascope_session_discard(s);
    unsetenv("ASCEND_WORK_PATH");
    (void)state;
}

static void the_host_is_sampled(void **state)
{
    struct ascope_options o = options_for("none");
    struct ascope_error e;
    o.layout = ASCOPE_LAYOUT_PROF;
    n_warnings = 0;
    assert_true(ascope_options_set(&o, "host_sys", "cpu,mem,network,disk,osrt"));
    struct ascope_session *s = ascope_session_new(&o, &e);
    assert_int_equal(n_warnings, 0);
    assert_true(ascope_session_start(s, &e));
    usleep(50000);
    char written[512], block[4096] = { 0 };
    snprintf(written, sizeof written, "%s/written", dir);
    const int fd = open(written, O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 256; i++)
        assert_int_equal(write(fd, block, sizeof block), sizeof block);
    close(fd);
    usleep(50000);
    assert_true(ascope_session_stop(s, &e));
    char process[64] = " K/s ?unavailable? ",
         own[32] = ""; /* the name that the kernel has, which is an emulator's under it */
    FILE *const comm = fopen("/proc/self/comm", "r");
    assert_true(comm && fgets(own, sizeof own, comm));
    fclose(comm);
    strcat(process, own);
    const struct {
        const char *name;
        const char *begins, *has;
    } row[] = {
        { "host/data/host_cpu.data.slice_0", "time ", "(ascope-host)" },
        { "host/data/host_mem.data.slice_0", "", "\n" },
        { "host/data/host_network.data.slice_0", "time ", "lo:" },
        { "host/data/host_disk.data.slice_0", "start_time ", process },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *const text = text_of(ascope_session_path(s), row[i].name);
        print_message("  %s\n", row[i].name);
        assert_true(text && strncmp(text, row[i].begins, strlen(row[i].begins)) == 0 && strstr(text, row[i].has));
        assert_null(strstr(text, "Inter-|")); /* the head of a table */
    }
    double kb = 0; /* a line for each 20 ms: all lines are what was written to the disk */
    for (const char *at = text_of(ascope_session_path(s), row[3].name); (at = strstr(at, " K/s "));) {
        at += strlen(" K/s ");
        kb += strtod(at, NULL) / 50;
        at = strstr(at, "\n");
    }
    print_message("  %.0f KB were written\n", kb);
    assert_true(kb < 2048); /* none when the file lies in memory; less than all in a line for more than 20 ms */
    ascope_session_discard(s);
    (void)state;
}

/* However late the thread of the samplers gets a processor. */
static void the_shortest_session_has_two_samples_of_the_host(void **state)
{
    struct ascope_options o = options_for("none");
    o.layout = ASCOPE_LAYOUT_PROF;
    assert_true(ascope_options_set(&o, "host_sys", "mem"));
    for (unsigned round = 0; round < 20; round++) {
        struct ascope_session *s = ascope_session_new(&o, NULL);
        assert_true(s && ascope_session_start(s, NULL));
        assert_true(ascope_session_stop(s, NULL));
        unsigned n = 0;
        for (const char *at = text_of(ascope_session_path(s), "host/data/host_mem.data.slice_0");
             at && (at = strchr(at, '\n')); at++)
            n++;
        assert_true(n >= 2);
        ascope_session_discard(s);
    }
    (void)state;
}

/* The collector is outside of the program. */
static void a_session_may_be_about_another_process(void **state)
{
    struct ascope_options o = options_for("none");
    o.layout = ASCOPE_LAYOUT_PROF;
    assert_true(ascope_options_set(&o, "host_sys", "cpu,mem"));
    const pid_t child = child_fork();
    if (child == 0)
        for (;;)
            pause();
    const struct session_target of = { .pid = child, .name = "my program" };
    struct ascope_error e;
    struct ascope_session *s = session_new_for(&of, &o, false, &e);
    assert_true(s && ascope_session_start(s, &e));
    const char *const path = ascope_session_path(s);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "_%08d", (int)child);
    assert_non_null(strstr(strrchr(path, '/'), wanted));
    json_t *const info = json_of(path, "host/info.json"), *const sample = json_of(path, "host/sample.json");
    assert_int_equal(atoi(json_string_value(json_object_get(info, "pid"))), child);
    assert_string_equal(json_string_value(json_object_get(info, "pid_name")), "my program");
    assert_int_equal(json_integer_value(json_object_get(sample, "host_sys_pid")), child);
    json_decref(info);
    json_decref(sample);
    kill(child, SIGKILL);
    child_end_by(child, SIGKILL); /* its end is no end of the session, and its entry in /proc is gone */
    assert_true(session_is_open(s));
    assert_true(ascope_session_stop(s, &e));
    const char *const cpu = text_of(path, "host/data/host_cpu.data.slice_0");
    snprintf(wanted, sizeof wanted, "\n%d (", (int)child);
    assert_non_null(strstr(cpu, wanted));
    assert_null(strstr(cpu, "(ascope-host)")); /* nothing of the process that records */
    assert_non_null(text_of(path, "host/data/host_mem.data.slice_0"));
    ascope_session_discard(s);
    (void)state;
}

/* ---- what cannot be ---- */

static void places_that_cannot_be(void **state)
{
    char file[256], deep[256], locked[256], below[512], strange[256], longer[3000];
    snprintf(file, sizeof file, "%s/file", dir);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    snprintf(deep, sizeof deep, "%s/a/b/c", dir);
    snprintf(locked, sizeof locked, "%s/locked", dir);
    mkdir(locked, 0500);
    snprintf(below, sizeof below, "%s/below", locked);
    snprintf(strange, sizeof strange, "%s/with blanks and \xe4\xb8\xad\xe6\x96\x87", dir);
    size_t n = (size_t)snprintf(longer, sizeof longer, "%s", dir);
    while (n + 250 < sizeof longer)
        n += (size_t)snprintf(longer + n, sizeof longer - n, "/%0200d", 0);
    char too_long[8000];
    snprintf(too_long, sizeof too_long, "%s%s", longer, longer);
    const struct {
        const char *what, *parent, *device, *says; /* NULL: it works */
    } row[] = {
        { "parents are made", deep, "none", NULL },
        { "blanks and other alphabets", strange, "none", NULL },
        { "a long path", longer, "none", NULL },
        { "a file", file, "none", "Not a directory" },
        { "not allowed", geteuid() == 0 ? "/proc/there" : below, "none", "cannot be created" },
        { "read-only", "/sys/there", "none", "cannot be created" },
        { "too long a path", too_long, "none", "too long" },
        { "no such device", dir, "gpu", "device gpu" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct ascope_options o = options_for(row[i].device);
        struct ascope_error e;
        o.parent_dir = row[i].parent;
        print_message("  %s\n", row[i].what);
        struct ascope_session *s = ascope_session_new(&o, &e);
        if (!s)
            print_message("    %s\n", e.text);
        assert_int_equal(s != NULL, row[i].says == NULL);
        if (s) {
            assert_true(ascope_session_start(s, &e));
            record_something();
            assert_true(ascope_session_stop(s, &e));
            ascope_session_discard(s);
        } else {
            assert_true(strstr(e.text, row[i].says) != NULL);
            assert_null(strchr(e.text, '\n'));
        }
        assert_null(session_options());
    }
    (void)state;
}

static void calls_out_of_order(void **state)
{
    struct ascope_options o = options_for("none");
    struct ascope_error e;
    struct ascope_session *s = ascope_session_new(&o, &e);
    assert_null(ascope_session_new(&o, &e));
    assert_non_null(strstr(e.text, "already open in this process"));
    assert_false(ascope_session_stop(s, &e));
    assert_non_null(strstr(e.text, "is new"));
    assert_true(ascope_session_warmup(s, &e));
    assert_false(ascope_session_warmup(s, &e));
    assert_true(ascope_session_start(s, &e));
    assert_false(ascope_session_start(s, &e));
    assert_false(ascope_session_warmup(s, NULL));
    assert_true(ascope_session_stop(s, &e));
    assert_false(ascope_session_stop(s, &e));
    assert_false(ascope_session_start(s, &e));
    assert_non_null(strstr(e.text, "is stopped"));
    assert_true(ascope_session_end(s, &e));
    assert_false(ascope_session_end(NULL, &e));
    ascope_session_discard(NULL);
    /* End without stop stops. */
    s = ascope_session_new(NULL, &e);
    assert_non_null(s);
    char path[4096];
    snprintf(path, sizeof path, "%s", ascope_session_path(s));
    assert_true(ascope_session_start(s, &e));
    assert_true(ascope_session_end(s, &e));
    assert_int_equal(ascope_recording, 0);
    tree_remove_path(path);
    (void)state;
}

static void metadata_has_its_limits(void **state)
{
    struct ascope_options o = options_for("none");
    struct ascope_error e;
    struct ascope_session *s = ascope_session_new(&o, &e);
    char big[4098];
    memset(big, 'x', sizeof big);
    big[4097] = '\0';
    assert_false(ascope_metadata(s, "k", big, &e));
    assert_false(ascope_metadata(s, big, "v", &e));
    assert_false(ascope_metadata(s, NULL, "v", &e));
    assert_false(ascope_metadata(NULL, "k", "v", &e));
    big[4000] = '\0';
    for (int i = 0; i < 12; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%d", i);
        assert_true(ascope_metadata(s, key, big, &e));
    }
    assert_false(ascope_metadata(s, "k99", big, &e)); /* 50 KiB in all */
    static char cluster[200000];
    memset(cluster, '0', sizeof cluster - 1);
    memcpy(cluster, "0.", 2);
    assert_true(ascope_metadata_json(s, "parallel_group_info", cluster, &e)); /* but for the groups of a cluster */
    assert_true(ascope_metadata(s, "k0", big, &e));
    n_warnings = 0;
    assert_true(ascope_metadata(s, "k0", "other", &e));
    assert_int_equal(n_warnings, 1);
    static const struct {
        const char *json;
        bool is_json;
    } row[] = {
        { "1", true },
        { " -0.5e+10 ", true },
        { "\"a\\u00e9\\n\"", true },
        { "[1,[],{\"a\":null}]", true },
        { "{}", true },
        { "", false },
        { "01", false },
        { "{a:1}", false },
        { "[1,]", false },
        { "\"\n\"", false },
        { "\"\\x\"", false },
        { "true false", false },
        { "\"\xff\"", false },
        { "nul", false },
        { "[", false },
        { "{\"a\"}", false },
        { "-", false },
        { "1.", false },
        { "\"", false },
        { "\"\\u12\"", false },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].json);
        assert_int_equal(ascope_metadata_json(s, "json", row[i].json, &e), row[i].is_json);
    }
    memset(big, '[', 2000);
    memset(big + 2000, ']', 2000);
    assert_false(ascope_metadata_json(s, "json", big, &e));
    assert_true(ascope_session_start(s, &e));
    json_decref(json_of(ascope_session_path(s), "profiler_metadata.json"));
    ascope_session_discard(s);
    (void)state;
}

static void rings_elsewhere_leave_nothing_there(void **state)
{
    struct ascope_options o = options_for("none");
    struct ascope_error e;
    char beside[256], name[4096];
    snprintf(beside, sizeof beside, "%s/rings", dir);
    o.ring_dir = beside;
    struct ascope_session *s = ascope_session_new(&o, &e);
    assert_true(ascope_session_start(s, &e));
    assert_false(name_in(ascope_session_path(s), "ascope.rings", name));
    snprintf(name, sizeof name, "%s/%s.rings", beside, strrchr(ascope_session_path(s), '/') + 1);
    assert_int_equal(access(name, F_OK), 0);
    json_t *facts = json_of(ascope_session_path(s), "ascope.json"); /* which says where they are */
    assert_string_equal(json_string_value(json_object_get(facts, "rings")), name);
    json_decref(facts);
    record_something();
    assert_true(ascope_session_stop(s, &e));
    assert_false(name_in(ascope_session_path(s), "ascope.rings", name));
    assert_int_equal(rmdir(beside), 0); /* it is empty */
    ascope_session_discard(s);
    (void)state;
}

static void a_directory_that_goes_away_is_reported(void **state)
{
    struct ascope_options o = options_for("none");
    struct ascope_error e;
    struct ascope_session *s = ascope_session_new(&o, &e);
    assert_true(ascope_session_start(s, &e));
    record_something();
    struct writer_tally
        tally; /* the writer has made its files: it would put them into a directory that is being removed */
    assert_true(writer_flush(&tally, &(struct error){ 0 }));
    tree_remove_path(ascope_session_path(s));
    assert_false(ascope_session_stop(s, &e));
    print_message("  %s\n", e.text);
    assert_true(ascope_session_end(s, &e));
    assert_null(session_options());
    (void)state;
}

/* ---- the process goes its own ways ---- */

static struct ascope_session *begun(char *path)
{
    struct ascope_options o = options_for("none");
    struct ascope_session *s = ascope_session_new(&o, NULL);
    assert_true(s && ascope_session_start(s, NULL));
    sprintf(path, "%s", ascope_session_path(s));
    record_something();
    return s;
}

static void exit_ends_the_session(void **state)
{
    char path[4096];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = child_fork();
    if (child == 0) {
        begun(path);
        if (write(ends[1], path, strlen(path) + 1) < 0)
            _exit(1);
        exit(0);
    }
    child_end_well(child);
    assert_true(read(ends[0], path, sizeof path) > 0);
    json_t *facts = json_of(path, "ascope.json");
    assert_string_equal(json_string_value(json_object_get(facts, "ended")), "stop");
    json_decref(facts);
    close(ends[0]);
    close(ends[1]);
    (void)state;
}

static void a_child_has_no_session(void **state)
{
    char path[4096], theirs[4096];
    struct ascope_session *s = begun(path);
    const pid_t child = child_fork();
    if (child == 0) {
        struct ascope_error e;
        bool is_well = ascope_recording == 0 && !session_options();
        record_something();
        is_well &= !ascope_session_stop(s, &e) && strstr(e.text, "parent");
        ascope_session_discard(s); /* left alone */
        struct ascope_session *own = begun(theirs);
        is_well &= strcmp(theirs, path) != 0 && ascope_session_stop(own, NULL) && ascope_session_end(own, NULL);
        _exit(is_well
                  ? 0
                  : 1); /* what the parent's writer held when it forked is nobody's here, and would be called a leak */
    }
    child_end_well(child);
    record_something();
    assert_true(ascope_session_stop(s, NULL));
    json_t *facts = json_of(path, "ascope.json");
    const long long n = json_integer_value(json_object_get(json_object_get(facts, "written"), "records"));
    assert_true(n >= 202 && n <= 204);
    json_decref(facts);
    assert_true(ascope_session_end(s, NULL));
    (void)state;
}

static void one_that_is_killed_is_described(void **state)
{
    char path[4096], prof[4096], inside[8300];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = child_fork();
    if (child == 0) {
        begun(path);
        if (write(ends[1], path, strlen(path) + 1) > 0)
            kill(getpid(), SIGKILL);
        _exit(1);
    }
    child_end_by(child, SIGKILL);
    assert_true(read(ends[0], path, sizeof path) > 0);
    json_t *facts = json_of(path, "ascope.json");
    assert_string_equal(json_string_value(json_object_get(facts, "ended")), "running");
    json_decref(facts);
    json_t *info = json_of(path, "profiler_info.json");
    assert_true(json_integer_value(json_object_get(json_object_get(info, "end_info"), "collectionTimeEnd")) > 0);
    json_decref(info);
    assert_true(name_in(path, "PROF_", prof));
    snprintf(inside, sizeof inside, "%s/%s/host", path, prof);
    assert_non_null(text_of(inside, "info.json"));
    assert_non_null(text_of(inside, "host_start.log"));
    assert_null(text_of(inside, "end_info"));
    close(ends[0]);
    close(ends[1]);
    (void)state;
}

/* A program that was built when the structure ended behind activities. */
static void an_older_program_records(void **state)
{
    struct {
        char of_program[offsetof(struct ascope_options, device)], beyond[sizeof(struct ascope_options)];
    } old;
    struct ascope_options *const o = (struct ascope_options *)(void *)&old;
    memset(&old, 0xa5, sizeof old);
    ascope_options_init_sized(o, sizeof old.of_program);
    o->parent_dir = dir;
    struct ascope_session *s = ascope_session_new(o, NULL);
    assert_non_null(s);
    assert_true(ascope_session_start(s, NULL));
    record_something();
    assert_true(ascope_session_end(s, NULL));
    for (size_t i = 0; i < sizeof old.beyond; i++)
        assert_int_equal((unsigned char)old.beyond[i], 0xa5);
    (void)state;
}

/* Who listens: which option it saw, and what was still recorded when it was reported of each end. */
struct heard {
    bool profile_memory;
    uint32_t at_start, at_stop;
    unsigned n_started, n_stopping;
};

static void hear_start(const struct ascope_options *o, void *user)
{
    struct heard *h = user;
    h->profile_memory = o->profile_memory;
    h->at_start = ascope_recording;
    h->n_started++;
}

static void hear_stop(void *user)
{
    struct heard *h = user;
    h->at_stop = ascope_recording;
    h->n_stopping++;
}

/* Whether ascope.json of a session that is recording says that no framework feeds it. */
static bool says_native(const struct ascope_session *s)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/ascope.json", ascope_session_path(s));
    json_t *facts = json_load_file(path, 0, NULL);
    assert_non_null(facts);
    const bool is_native = json_is_true(json_object_get(facts, "native"));
    json_decref(facts);
    return is_native;
}

static void listeners_work_while_something_is_recorded(void **state)
{
    (void)state;
    struct heard h = { 0 };
    const struct ascope_listener l = { sizeof l, hear_start, hear_stop, &h };
    struct ascope_options o = options_for("none");
    o.profile_memory = true;
    assert_true(ascope_listen(&l));
    struct ascope_session *s = ascope_session_new(&o, NULL);
    assert_non_null(s);
    assert_true(ascope_session_warmup(s, NULL));
    assert_int_equal(h.n_started, 0); /* a warm-up keeps nothing */
    assert_true(ascope_session_start(s, NULL));
    assert_int_equal(h.n_started, 1);
    assert_true(h.profile_memory);
    assert_true(h.at_start & ASCOPE_RECORDS_OPERATORS);
    assert_false(says_native(s));
    assert_true(ascope_session_stop(s, NULL));
    assert_int_equal(h.n_stopping, 1);
    assert_true(h.at_stop & ASCOPE_RECORDS_OPERATORS);
    assert_true(ascope_session_end(s, NULL));
    s = ascope_session_new(&o, NULL);
    assert_true(ascope_session_start(s, NULL));
    ascope_session_discard(s);
    assert_int_equal(h.n_started, 2);
    assert_int_equal(h.n_stopping, 2);
    ascope_unlisten(&l);
    s = ascope_session_new(&o, NULL);
    assert_true(ascope_session_start(s, NULL));
    assert_true(says_native(s));
    ascope_session_discard(s);
    assert_int_equal(h.n_started, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_life),
        cmocka_unit_test(drift_is_measured_and_written),
        cmocka_unit_test(a_comma_in_numbers_is_the_programs),
        cmocka_unit_test(parts_follow_activities_and_layout),
        cmocka_unit_test(the_rank_is_in_names),
        cmocka_unit_test(the_environment_reports_where),
        cmocka_unit_test(the_host_is_sampled),
        cmocka_unit_test(the_shortest_session_has_two_samples_of_the_host),
        cmocka_unit_test(a_session_may_be_about_another_process),
        cmocka_unit_test(places_that_cannot_be),
        cmocka_unit_test(calls_out_of_order),
        cmocka_unit_test(metadata_has_its_limits),
        cmocka_unit_test(rings_elsewhere_leave_nothing_there),
        cmocka_unit_test(a_directory_that_goes_away_is_reported),
        cmocka_unit_test(exit_ends_the_session),
        cmocka_unit_test(a_child_has_no_session),
        cmocka_unit_test(one_that_is_killed_is_described),
        cmocka_unit_test(an_older_program_records),
        cmocka_unit_test(listeners_work_while_something_is_recorded),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
