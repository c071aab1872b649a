/* SPDX-License-Identifier: Apache-2.0 */
#include "dynamic_job.h"

#include <fcntl.h>
#include <regex.h>
#include <utime.h>

#include "base/process/background.h"
#include "child.h"
#include "dynamic/watch.h"
#include "reported.h"

static struct board_rank shown(void)
{
    static struct board_view v;
    struct error e = { 0 };
    assert_true(board_read(config_dir(), ASCOPE_DYNAMIC_PYTORCH, &v, &e));
    assert_int_equal(v.n_ranks, 1);
    return v.rank[0];
}

/* ---- steps ---- */

static void requests_begin_in_their_step(void **state)
{
    static const struct {
        const char *what;
        int before; /* calls of step before the file is edited */
        const char *json;
        int after;
        const char *calls, *says; /* to the user: NULL: nothing */
        enum board_fate fate;
    } row[] = {
        { "0: no profiling", 3, "{\"start_step\": 0}", 5, "", NULL, FATE_NOT_ASKED },
        { "-1: the next step", 3, "{\"start_step\": -1}", 3, "b4. e5", NULL, FATE_DONE },
        { "-1 in the first step", 0, "{\"start_step\": -1}", 3, "b1. e2", NULL, FATE_DONE },
        { "a step that comes", 3, "{\"start_step\": 6, \"active\": 2}", 6, "b6.. e8", NULL, FATE_DONE },
        { "warm-up counts", 3, "{\"start_step\": 5, \"active\": 2, \"warmup\": 1}", 6, "b5... e8", NULL, FATE_DONE },
        { "after 20 calls 21 works", 20, "{\"start_step\": 21}", 3, "b21. e22", NULL, FATE_DONE },
        { "20 does not", 20, "{\"start_step\": 20}", 3, "",
          "WARNING the configuration is not effective: start_step 20, but the current step is 21 already\n",
          FATE_PASSED },
        { "a step that never comes", 3, "{\"start_step\": 1000}", 5, "", NULL, FATE_WAITS },
        { "not over yet", 3, "{\"start_step\": 5, \"active\": 100}", 5, "b5...", NULL, FATE_RUNS },
        { "other ranks", 3, "{\"start_step\": -1, \"is_rank\": true, \"rank_list\": [3]}", 5, "", NULL, FATE_OTHERS },
        { "this rank", 3, "{\"start_step\": -1, \"is_rank\": true, \"rank_list\": [7]}", 2, "b4. e5", NULL, FATE_DONE },
        { "stop without anything to stop", 3, "{\"start_step\": -1, \"stop\": true}", 5, "", NULL, FATE_NOT_ASKED },
    };
    setenv("RANK", "7", 1);
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const struct ascope_dynamic_setup setup = job_setup();
        job_start(&setup);
        job_steps(row[i].before);
        ask(row[i].json);
        job_steps(row[i].after);
        assert_string_equal(called, row[i].calls);
        assert_string_equal(users, row[i].says ? row[i].says : "");
        assert_int_equal(shown().fate, row[i].fate);
        assert_int_equal(shown().rank, 7);
        assert_int_equal(shown().step, row[i].before + row[i].after);
        ascope_dynamic_end();
    }
    unsetenv("RANK");
    (void)state;
}

static void the_last_change_wins(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    print_message("  a newer request replaces one that waits\n");
    job_start(&setup);
    ask("{\"start_step\": 5}");
    job_steps(2);
    assert_int_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_READY);
    ask("{\"start_step\": 4}");
    job_steps(6);
    assert_string_equal(called, "b4. e5");
    print_message("  0 cancels\n");
    ask("{\"start_step\": 20}");
    job_steps(1);
    assert_int_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_READY);
    ask("{\"start_step\": 0}");
    job_steps(1);
    assert_int_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_IDLE);
    job_steps(20);
    assert_string_equal(called, "b4. e5");
    ascope_dynamic_end();
    print_message("  one for other ranks does not: what waits stays\n");
    job_start(&setup);
    ask("{\"start_step\": 3}");
    job_steps(1);
    ask("{\"start_step\": -1, \"is_rank\": true, \"rank_list\": [5]}");
    job_steps(4);
    assert_string_equal(called, "b3. e4");
    ascope_dynamic_end();
    (void)state;
}

static void a_change_during_a_collection_starts_the_next_one(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    job_start(&setup);
    ask("{\"start_step\": -1, \"active\": 3}");
    job_steps(2);
    assert_string_equal(called, "b1.");
    ask("{\"start_step\": -1, \"active\": 2, \"warmup\": 0}");
    job_steps(6);
    assert_string_equal(called, "b1... e4 b5.. e7"); /* one step in between is not collected */
    print_message("  only the last one, and not if its step has passed\n");
    ask("{\"start_step\": -1, \"active\": 3}");
    job_steps(1);
    ask("{\"start_step\": -1}");
    job_steps(1);
    ask("{\"start_step\": 11}");
    job_steps(5);
    assert_string_equal(called, "b1... e4 b5.. e7 b9... e12");
    assert_string_equal(
        users, "WARNING the configuration is not effective: start_step 11, but the current step is 13 already\n");
    print_message("  stop ends what is running, and what waits\n");
    ask("{\"start_step\": -1, \"active\": 100}");
    job_steps(3);
    ask("{\"stop\": true}");
    job_steps(5);
    assert_string_equal(called, "b1... e4 b5.. e7 b9... e12 b16.. c19");
    assert_int_equal(shown().n_done, 4);
    assert_int_equal(shown().done_start_step, 16);
    assert_int_equal(shown().done_stop_step, 19);
    assert_string_equal(shown().dir, "/the/collection");
    ascope_dynamic_end();
    (void)state;
}

static void what_others_see(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    job_start(&setup);
    struct board_rank r = shown();
    assert_int_equal(r.pid, getpid());
    assert_int_equal(r.rank, -1);
    assert_int_equal(r.state, ASCOPE_DYNAMIC_IDLE);
    assert_int_equal(r.fate, FATE_NONE);
    ask("{\"start_step\": 3, \"active\": 2, \"warmup\": 1}");
    const uint64_t id = config_id();
    job_steps(1);
    r = shown();
    assert_int_equal(r.id, id);
    assert_int_equal(r.state, ASCOPE_DYNAMIC_READY);
    assert_int_equal(r.fate, FATE_WAITS);
    assert_int_equal(r.start_step, 3);
    job_steps(3);
    r = shown();
    assert_int_equal(r.state, ASCOPE_DYNAMIC_RUNNING);
    assert_int_equal(r.fate, FATE_RUNS);
    assert_int_equal(r.start_step, 3);
    assert_int_equal(r.stop_step, 6);
    job_steps(2);
    r = shown();
    assert_int_equal(r.state, ASCOPE_DYNAMIC_IDLE);
    assert_int_equal(r.fate, FATE_DONE);
    assert_int_equal(r.n_done, 1);
    assert_true(r.done_id == id);
    begin_fails = true;
    ask("{\"start_step\": -1}");
    job_steps(2);
    assert_int_equal(shown().fate, FATE_FAILED);
    assert_int_equal(shown().n_done, 1);
    assert_int_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_IDLE);
    ascope_dynamic_end();
    print_message("  nobody\n");
    static struct board_view v;
    struct error e = { 0 };
    assert_false(board_read(config_dir(), ASCOPE_DYNAMIC_PYTORCH, &v, &e));
    assert_int_equal(e.fault, FAULT_NONE);
    (void)state;
}

static void a_request_has_all_that_the_file_says(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    static const char text[] =
        "{\"start_step\": -1, \"active\": 4, \"warmup\": 2, \"analyse\": true, \"async_mode\": true,"
        " \"prof_dir\": \"/data\", \"metadata\": {\"lr\": 1},"
        " \"experimental_config\": {\"profiler_level\": \"Level2\"}}";
    job_start(&setup);
    job_steps(4);
    ask(text);
    job_steps(1);
    assert_int_equal(last.step, 5);
    assert_int_equal(last.active, 4);
    assert_int_equal(last.warmup, 2);
    assert_true(last.analyse && last.async_mode && !last.is_from_start && !last.is_rank && !last.is_late);
    assert_string_equal(last_dir, "/data");
    assert_string_equal(last_json, text);
    assert_int_equal(last.n_metadata, 1);
    assert_int_equal(last.options->level, ASCOPE_LEVEL2);
    assert_true(last.id == config_id());
    ascope_dynamic_end();
    static const struct {
        const char *json;
        bool analyse;
    } row[] = {
        { "{\"start_step\": -1, \"analyse\": true}", true },
        { "{\"start_step\": -1, \"analyse\": true, \"is_rank\": true, \"rank_list\": [7]}", false },
        { "{\"start_step\": -1, \"analyse\": true, \"is_rank\": true, \"rank_list\": [7], \"async_mode\": true}",
          true },
    };
    setenv("RANK", "7", 1);
    job_start(&setup);
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].json);
        ask(row[i].json);
        job_steps(2);
        assert_int_equal(last.analyse, row[i].analyse);
    }
    unsetenv("RANK");
    ascope_dynamic_end();
    (void)state;
}

/* ---- start() ---- */

static const char *put(const char *name, const char *text)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const f = fopen(path, "wb");
    fputs(text, f);
    fclose(f);
    return path;
}

static void start_begins_at_once(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    struct ascope_error e;
    print_message("  before init: refused\n");
    ascope_on_message(count_warning, NULL);
    n_errors = 0;
    assert_false(ascope_dynamic_start(NULL, &e));
    assert_int_equal(n_errors, 1);
    ascope_on_message(NULL, NULL);

    print_message("  before the first step: iteration 0; start_step and rank_list are ignored\n");
    job_start(&setup);
    assert_true(ascope_dynamic_start(
        put("s.json", "{\"active\": 2, \"start_step\": 9, \"is_rank\": true, \"analyse\": true}"), &e));
    assert_true(last.is_from_start && last.analyse);
    assert_non_null(strstr(users, "INFO start() uses "));
    job_steps(1);
    print_message("  while one is running: refused\n");
    users[0] = '\0';
    assert_false(ascope_dynamic_start(NULL, &e));
    assert_string_equal(users, "ERROR start() is ignored: a collection is running\n");
    job_steps(3);
    assert_string_equal(called, "b0.. e2");
    print_message("  again after its end\n");
    assert_true(ascope_dynamic_start(put("s.json", "{\"active\": 1}"), &e));
    job_steps(1);
    assert_string_equal(called, "b0.. e2 b4. e5");
    print_message("  while one of the file is running: refused\n");
    ask("{\"start_step\": -1, \"active\": 2}");
    job_steps(1);
    assert_false(ascope_dynamic_start(put("s.json", "{\"active\": 1}"), &e));
    job_steps(2);
    print_message("  drops what waits\n");
    ask("{\"start_step\": 10}");
    job_steps(1);
    assert_true(ascope_dynamic_start(put("s.json", "{\"active\": 1}"), &e));
    assert_int_equal(shown().fate, FATE_REPLACED);
    job_steps(4);
    assert_string_equal(called, "b0.. e2 b4. e5 b6.. e8 b9. e10");
    print_message("  a change meanwhile is the next one\n");
    assert_true(ascope_dynamic_start(put("s.json", "{\"active\": 2}"), &e));
    ask("{\"start_step\": -1}");
    job_steps(5);
    assert_string_equal(called, "b0.. e2 b4. e5 b6.. e8 b9. e10 b13.. e15 b16. e17");
    ascope_dynamic_end();
    (void)state;
}

static void start_falls_back_to_the_watched_file(void **state)
{
    static const struct {
        const char *what, *name, *text;
        const char *says;
    } row[] = {
        { "no file is given", NULL, NULL, NULL },
        { "an empty name", "", NULL, NULL },
        { "there is none", "none.json", NULL, "none.json: No such file or directory\n" },
        { "a directory", ".", NULL, "not a regular file; expected a file such as profiler_config.json\n" },
        { "not JSON", "x.json", "{", "x.json: line 1: " },
        { "a list", "x.json", "[]", "x.json: line 1: expected an object" },
        { "empty", "x.json", "", "x.json: empty\n" },
        { "nothing in it", "x.json", "{}", "x.json: empty\n" },
    };
    const struct ascope_dynamic_setup setup = job_setup();
    for (size_t i = 0; i < ROWS(row); i++) {
        struct ascope_error e;
        char path[600];
        print_message("  %s\n", row[i].what);
        job_start(&setup);
        edit("{\"active\": 3}");
        if (row[i].text)
            put(row[i].name, row[i].text);
        snprintf(path, sizeof path, "%s/%s", folder, row[i].name ? row[i].name : "");
        assert_true(ascope_dynamic_start(!row[i].name ? NULL : !*row[i].name ? "" : path, &e));
        assert_int_equal(last.active, 3);
        assert_string_equal(last_json, "{\"active\": 3}");
        if (row[i].says)
            assert_non_null(strstr(users, row[i].says));
        ascope_dynamic_end();
        print_message("  and neither is usable\n");
        job_start(&setup);
        edit("[]");
        assert_false(ascope_dynamic_start(!row[i].name ? NULL : !*row[i].name ? "" : path, &e));
        assert_string_equal(called, "");
        assert_int_not_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_RUNNING); /* the edit may be waiting to be seen */
        ascope_dynamic_end();
    }
    (void)state;
}

/* ---- the file ---- */

static bool log_has(const char *prefix, const char *text)
{
    return strstr(log_text(prefix), text) != NULL;
}

/* Of the file as the thread has seen it last; 0: it is missing. */
static uint64_t seen_id(void)
{
    static struct board_view v;
    struct error e = { 0 };
    board_read(config_dir(), ASCOPE_DYNAMIC_PYTORCH, &v, &e);
    return v.seen_id;
}

static unsigned n_loaded(void)
{
    unsigned n = 0;
    for (const char *at = log_text("monitor_dp"); (at = strstr(at, "load json success")); at++)
        n++;
    return n;
}

static void an_old_file_starts_nothing(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    struct ascope_dynamic_setup other = setup;
    assert_int_equal(mkdir(config_dir(), 0750), 0);
    edit("{\"start_step\": -1}");
    job_start(&setup);
    ask("{\"start_step\": 0}"); /* has been seen: so has the one before it */
    job_steps(5);
    assert_string_equal(called, "");
    print_message("  touched, with the same content: it does\n");
    edit("{\"start_step\": -1, \"active\": 2}");
    AWAIT(is_delivered(config_id(), (int32_t)getpid()));
    job_steps(3);
    assert_string_equal(called, "b6.. e8");
    const uint64_t before = config_id();
    const struct timespec when[2] = { { .tv_sec = 5 }, { .tv_sec = 5 } };
    assert_int_equal(utimensat(AT_FDCWD, config_path(), when, 0), 0); /* into the past: different, not greater */
    assert_true(config_id() != before);
    AWAIT(is_delivered(config_id(), (int32_t)getpid()));
    job_steps(3);
    assert_string_equal(called, "b6.. e8 b9.. e11");
    ascope_dynamic_end();
    print_message("  MindSpore: it counts\n");
    other.kind = ASCOPE_DYNAMIC_MINDSPORE;
    edit("{\"start_step\": 2, \"stop_step\": 3}");
    job_start(&other);
    AWAIT(ascope_dynamic_state() == ASCOPE_DYNAMIC_READY);
    job_steps(5);
    assert_string_equal(called, "b2.. e4");
    ascope_dynamic_end();
    print_message("  MindSpore: late, between the two\n");
    job_start(&other);
    ascope_dynamic_set_step(2); /* no call of step: it would see the request if it is there already */
    AWAIT(ascope_dynamic_state() == ASCOPE_DYNAMIC_READY);
    job_steps(4);
    assert_string_equal(called, "b3.. e5");
    assert_true(last.is_late);
    ascope_dynamic_end();
    (void)state;
}

static void bad_files_change_nothing(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    char elsewhere[600];
    job_start(&setup);
    ask("{\"start_step\": 6}");
    job_steps(1);
    print_message("  broken: what waits stays\n");
    edit("{\"start_step\": -1");
    AWAIT(is_delivered(config_id(), (int32_t)getpid()));
    assert_true(log_has("monitor_dp", "Dynamic profiler process load json failed"));
    job_steps(2);
    assert_true(log_has("dp_", CONFIG_FILE_NAME ": line 1: "));
    assert_int_equal(shown().fate, FATE_INVALID);
    assert_int_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_READY);
    print_message("  deleted\n");
    unlink(config_path());
    AWAIT(log_has("monitor_dp", "Dynamic profiler cfg json not exists"));
    job_steps(1);
    assert_int_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_READY);
    print_message("  a directory in its place\n");
    assert_int_equal(mkdir(config_path(), 0700), 0);
    AWAIT(log_has("monitor_dp", "not a regular file"));
    rmdir(config_path());
    print_message("  a FIFO\n");
    assert_int_equal(mkfifo(config_path(), 0600), 0);
    job_steps(1);
    unlink(config_path());
    print_message("  too large\n");
    snprintf(elsewhere, sizeof elsewhere, "%s", put("large.json", "{}")); /* the name appears with all of it */
    assert_int_equal(truncate(elsewhere, CONFIG_BYTES_MOST + 1), 0);
    assert_int_equal(rename(elsewhere, config_path()), 0);
    AWAIT(log_has("monitor_dp", "at most 1048572 are read"));
    job_steps(2);
    assert_string_equal(called, "b6. e7");
    print_message("  a link: used\n");
    snprintf(elsewhere, sizeof elsewhere, "%s", put("elsewhere.json", "{\"start_step\": -1}"));
    unlink(config_path());
    assert_int_equal(symlink(elsewhere, config_path()), 0);
    AWAIT(is_delivered(config_id(), (int32_t)getpid()));
    assert_true(log_has("monitor_dp", "is a soft link; used all the same"));
    job_steps(2);
    assert_string_equal(called, "b6. e7 b8. e9");
    print_message("  moved away and back: no news\n");
    unlink(config_path());
    ask("{\"start_step\": 30}");
    job_steps(1);
    const uint64_t id = shown().id;
    const unsigned n_before = n_loaded();
    char away[700];
    snprintf(away, sizeof away, "%s.away", config_path());
    assert_int_equal(rename(config_path(), away), 0);
    AWAIT(seen_id() == 0);
    assert_int_equal(rename(away, config_path()), 0);
    AWAIT(seen_id() == id);
    job_steps(1);
    assert_int_equal(n_loaded(), n_before);
    print_message("  a good one works\n");
    ask("{\"start_step\": -1, \"nonsense\": 1, \"active\": \"x\"}");
    job_steps(3);
    assert_string_equal(called, "b6. e7 b8. e9 b12. e13");
    assert_true(log_has("dp_", "line 1: unknown key \"nonsense\" is ignored"));
    assert_true(log_has("dp_", "line 1: active: invalid value \"x\"; using 1; accepted: a number of steps from 1"));
    ascope_dynamic_end();
    (void)state;
}

static void the_same_time_and_size_is_still_a_change(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    const struct timespec when[2] = { { .tv_sec = 5000 }, { .tv_sec = 5000 } };
    job_start(&setup);
    edit("{\"start_step\": -1, \"active\": 1}");
    assert_int_equal(utimensat(AT_FDCWD, config_path(), when, 0), 0);
    AWAIT(is_delivered(config_id(), (int32_t)getpid()));
    job_steps(3);
    assert_string_equal(called, "b1. e2");
    const int fd = open(config_path(), O_WRONLY); /* in place: the inode stays */
    assert_int_equal(pwrite(fd, "2", 1, 29), 1);
    close(fd);
    assert_int_equal(utimensat(AT_FDCWD, config_path(), when, 0), 0);
    AWAIT(is_delivered(config_id(), (int32_t)getpid()));
    job_steps(4);
    assert_string_equal(called, "b1. e2 b4.. e6");
    ascope_dynamic_end();
    (void)state;
}

/* ---- life ---- */

static void directories_are_made_and_files_refused(void **state)
{
    struct ascope_dynamic_setup setup = job_setup();
    struct ascope_error e;
    char path[600];
    struct stat st;
    umask(022);
    snprintf(path, sizeof path, "%s/a/b/c", folder);
    setup.path = path;
    job_start(&setup);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    snprintf(path, sizeof path, "%s/a/b/c/log", folder);
    assert_int_equal(stat(path, &st), 0);
    snprintf(path, sizeof path, "%s/a/b/c/" CONFIG_FILE_NAME, folder);
    struct config_text t;
    struct error why = { 0 };
    assert_true(config_text_read(&t, path, &why));
    assert_string_equal(t.text, config_kinds[ASCOPE_DYNAMIC_PYTORCH].template_text);
    config_text_fini(&t);
    print_message("  a second init is ignored\n");
    snprintf(path, sizeof path, "%s/other", folder);
    users[0] = '\0';
    assert_true(ascope_dynamic_init(&setup, &e));
    assert_string_equal(users, "WARNING init() is ignored: it was called before\n");
    assert_int_not_equal(stat(path, &st), 0);
    ascope_dynamic_end();
    print_message("  a file\n");
    setup.path = put("file", "");
    assert_false(ascope_dynamic_init(&setup, &e));
    assert_non_null(strstr(e.text, "not a directory"));
    print_message("  nothing\n");
    setup.path = "";
    assert_false(ascope_dynamic_init(&setup, &e));
    setup.path = NULL;
    assert_false(ascope_dynamic_init(&setup, &e));
    setup.size = 0;
    assert_false(ascope_dynamic_init(&setup, &e));
    assert_int_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_OFF);
    print_message("  odd characters and links: used, with a warning\n");
    setup = job_setup();
    snprintf(path, sizeof path, "%s/with blank", folder);
    setup.path = path;
    job_start(&setup);
    assert_non_null(strstr(users, "has other characters than letters"));
    ascope_dynamic_end();
    char link_path[600];
    snprintf(link_path, sizeof link_path, "%s/link", folder);
    assert_int_equal(symlink(path, link_path), 0);
    setup.path = link_path;
    job_start(&setup);
    assert_non_null(strstr(users, "is a soft link; used all the same"));
    ascope_dynamic_end();
    (void)state;
}

static void steps_are_counted_without_init_and_set(void **state)
{
    ascope_on_message(count_warning, NULL);
    n_errors = 0;
    ascope_dynamic_set_step(10);
    job_steps(2);
    assert_int_equal(n_errors, 2);
    assert_int_equal(ascope_dynamic_current_step(), 12);
    ascope_on_message(NULL, NULL);
    const struct ascope_dynamic_setup setup = job_setup();
    job_start(&setup);
    ask("{\"start_step\": 1001}");
    job_steps(1);
    assert_true(ascope_dynamic_set_step(1000)); /* the job resumes */
    assert_false(ascope_dynamic_set_step(-1));
    assert_int_equal(ascope_dynamic_current_step(), 1000);
    assert_int_equal(shown().step, 1000);
    job_steps(2);
    assert_string_equal(called, "b1001. e1002");
    ascope_dynamic_end();
    (void)state;
}

static void the_end_of_the_job_ends_the_collection(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    job_start(&setup);
    ask("{\"start_step\": -1, \"active\": 9}");
    job_steps(4);
    ascope_dynamic_end();
    assert_string_equal(called, "b1... c4");
    assert_non_null(
        strstr(users, "WARNING the job ends while step 4 is profiled, 6 steps before the collection would"));
    print_message("  listening again\n");
    job_start(&setup);
    ask("{\"start_step\": -1}");
    job_steps(2);
    assert_string_equal(called, "b1. e2");
    ascope_dynamic_end();
    ascope_dynamic_end();
    (void)state;
}

static void the_interval_follows_the_steps(void **state)
{
    struct ascope_dynamic_setup setup = job_setup();
    setup.poll_ms = 0;
    job_start(&setup);
    job_steps(10);
    assert_false(log_has("dp_", "is looked at every"));
    job_steps(1);
    assert_true(log_has("dp_", "the file is looked at every 1 s from now on"));
    job_steps(100);
    const char *const first = strstr(log_text("dp_"), "is looked at every");
    assert_null(strstr(first + 1, "is looked at every")); /* once */
    ascope_dynamic_end();
    (void)state;
}

static void lines_of_the_log(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    regex_t line;
    assert_int_equal(
        regcomp(
            &line,
            "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{3} \\[(INFO|WARNING|ERROR)\\] \\[[0-9]+\\] [^ ]+: .+$",
            REG_EXTENDED | REG_NEWLINE | REG_NOSUB),
        0);
    setenv("RANK", "3", 1);
    job_start(&setup);
    ask("{\"start_step\": -1, \"active\": 2}");
    job_steps(5);
    char name[300], host[200] = "", path[900];
    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "dp_%s_%ld_rank_3.log", host, (long)getpid());
    ascope_dynamic_end();
    unsetenv("RANK");
    snprintf(path, sizeof path, "%s/log/%s", config_dir(), name);
    assert_int_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/log/monitor_%s", config_dir(), name);
    assert_int_equal(access(path, F_OK), 0);
    assert_true(log_has(name, "Start Dynamic Profiler at 1 step."));
    assert_true(log_has(name, "Stop Dynamic Profiler at 3 step."));
    assert_true(log_has("monitor_dp", ": Dynamic profiler process load json success\n"));
    assert_true(log_has("monitor_dp", ": Dynamic profiler process done\n"));
    for (char *at = (char *)log_text(""), *end; (end = strchr(at, '\n')); at = end + 1) {
        *end = '\0';
        if (regexec(&line, at, 0, NULL, 0) != 0)
            fail_msg("not a line of a log: %s", at);
    }
    regfree(&line);
    (void)state;
}

static void logs_are_rotated(void **state)
{
    struct dynamic_log log = DYNAMIC_LOG_CLOSED;
    char text[1000], before[PATH_MAX + 2];
    struct stat st;
    char dir[600];
    assert_int_equal(mkdir(config_dir(), 0750), 0);
    snprintf(dir, sizeof dir, "%s/log", config_dir());
    assert_int_equal(mkdir(dir, 0750), 0);
    dynamic_log_open(&log, config_dir(), "dp", 0);
    snprintf(before, sizeof before, "%s.1", log.path);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    unsigned n_before = 0;
    for (unsigned i = 0; i < 1000; i++) {
        char number[16];
        memcpy(text, number, (size_t)snprintf(number, sizeof number, "n%07u ", i));
        dynamic_log_add(&log, ASCOPE_INFO, text);
        assert_int_equal(stat(log.path, &st), 0);
        assert_in_range(st.st_size, 1, LOG_BYTES_MOST);
        n_before += stat(before, &st) == 0;
    }
    assert_in_range(n_before, 700, 900); /* the first one was full after some 190 lines of 1 KB */
    assert_int_equal(stat(before, &st), 0);
    assert_in_range(st.st_size, LOG_BYTES_MOST - 2048, LOG_BYTES_MOST);
    assert_true(strstr(log_text("dp_"), "n0000999 ") != NULL);
    print_message("  one more process with the same name continues the file\n");
    dynamic_log_close(&log);
    assert_int_equal(stat(log.path, &st), 0);
    const off_t size = st.st_size;
    dynamic_log_open(&log, config_dir(), "dp", 0);
    dynamic_log_add(&log, ASCOPE_ERROR, "two\nlines\r");
    dynamic_log_close(&log);
    assert_int_equal(stat(log.path, &st), 0);
    assert_true(st.st_size > size);
    assert_true(strstr(log_text("dp_"), "[ERROR]") && strstr(log_text("dp_"), "two lines \n"));
    (void)state;
}

/* ---- children ---- */

static void children_neither_watch_nor_collect(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    job_start(&setup);
    ask("{\"start_step\": 3}");
    job_steps(1);
    const pid_t child = child_fork();
    if (child == 0) {
        assert_int_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_OFF);
        job_steps(10);
        if (called[0] != '\0' || users[0] != '\0')
            _exit(1);
        exit(0); /* handlers at exit run, too */
    }
    child_end_well(child);
    job_steps(5);
    assert_string_equal(called, "b3. e4");
    assert_int_equal(shown().pid, getpid());
    ask("{\"start_step\": -1}");
    job_steps(2);
    assert_string_equal(called, "b3. e4 b7. e8");
    print_message("  one that listens for itself\n");
    const pid_t other = child_fork();
    if (other == 0) {
        job_start(&setup);
        assert_int_equal(ascope_dynamic_state(), ASCOPE_DYNAMIC_IDLE);
        ascope_dynamic_end();
        _exit(0);
    }
    child_end_well(other);
    assert_int_equal(shown().pid, getpid());
    ascope_dynamic_end();
    (void)state;
}

/* ---- sessions of libascope ---- */

static void a_program_without_hooks_is_recorded(void **state)
{
    struct ascope_dynamic_setup setup = job_setup();
    char json[400];
    setup.begin = NULL;
    setup.step = NULL;
    setup.end = NULL;
    job_start(&setup);
    snprintf(json, sizeof json,
             "{\"start_step\": -1, \"active\": 2, \"prof_dir\": \"%s\", \"metadata\": {\"lr\": 0.25}}", folder);
    ask(json);
    ascope_on_message(count_warning, NULL);
    job_steps(4);
    const struct board_rank r = shown();
    assert_int_equal(r.fate, FATE_DONE);
    assert_int_equal(strncmp(r.dir, folder, strlen(folder)), 0);
    char path[1200], text[4096] = "";
    snprintf(path, sizeof path, "%s/profiler_metadata.json", r.dir);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(text, "\"lr\": 0.25"));
    print_message("  cut by the end: complete all the same\n");
    snprintf(json, sizeof json, "{\"start_step\": -1, \"active\": 20, \"prof_dir\": \"%s\"}", folder);
    ask(json);
    job_steps(3);
    assert_int_equal(shown().fate, FATE_RUNS);
    ascope_dynamic_end();
    unsigned n = 0;
    DIR *const dir = opendir(folder);
    for (struct dirent *d; (d = readdir(dir));) {
        if (!strstr(d->d_name, "_ascend_"))
            continue;
        snprintf(path, sizeof path, "%s/%s/ascope.rings", folder, d->d_name);
        assert_int_not_equal(access(path, F_OK), 0); /* ended, not left to be recovered */
        n++;
    }
    closedir(dir);
    assert_int_equal(n, 2);
    print_message("  a directory that cannot be written: reported, and the job continues\n");
    job_start(&setup);
    ask("{\"start_step\": -1, \"prof_dir\": \"/proc/self/nowhere\"}");
    job_steps(3);
    assert_int_equal(shown().fate, FATE_FAILED);
    assert_non_null(strstr(users, "ERROR the collection at step 1 could not begin; the job continues\n"));
    ascope_dynamic_end();
    ascope_on_message(NULL, NULL);
    (void)state;
}

static int end_and_remove(void **state)
{
    ascope_dynamic_end(); /* of a test that failed */
    return folder_remove(state);
}

int main(void)
{
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    unsetenv("MASTER_ADDR");
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, end_and_remove)
    const struct CMUnitTest tests[] = {
        TEST(requests_begin_in_their_step),
        TEST(the_last_change_wins),
        TEST(a_change_during_a_collection_starts_the_next_one),
        TEST(what_others_see),
        TEST(a_request_has_all_that_the_file_says),
        TEST(start_begins_at_once),
        TEST(start_falls_back_to_the_watched_file),
        TEST(an_old_file_starts_nothing),
        TEST(bad_files_change_nothing),
        TEST(the_same_time_and_size_is_still_a_change),
        TEST(directories_are_made_and_files_refused),
        TEST(steps_are_counted_without_init_and_set),
        TEST(the_end_of_the_job_ends_the_collection),
        TEST(the_interval_follows_the_steps),
        TEST(lines_of_the_log),
        TEST(logs_are_rotated),
        TEST(children_neither_watch_nor_collect),
        TEST(a_program_without_hooks_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
