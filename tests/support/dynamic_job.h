/* SPDX-License-Identifier: Apache-2.0 */
/* dynamic_job.h - a job that listens to DIR/profiler_config.json in the test's folder, and what it was asked to do.
 *
 * Nothing here waits for a time: after an edit the test waits until the thread that watches the file has delivered it;
 * the step that follows is the one that sees it.
 */
#ifndef ASCOPE_TESTS_DYNAMIC_JOB_H
#define ASCOPE_TESTS_DYNAMIC_JOB_H

#include "test.h"

#include <time.h>

#include "ascope/dynamic.h"
#include "dynamic/board.h"
#include "folder.h"

/* What the hooks were called for: "b3" begin in step 3, "." a step, "e5" end in step 5, "c5" cut in step 5. */
static char called[4096];
static char users[8192]; /* messages to the user, one a line */
static bool begin_fails;
static struct ascope_dynamic_request last;
static char last_json[4096];
static char last_dir[512];

static inline void note_call(const char *what, int64_t step)
{
    const size_t n = strlen(called);
    if (step < 0)
        snprintf(called + n, sizeof called - n, "%s", what);
    else
        snprintf(called + n, sizeof called - n, "%s%s%lld", n > 0 ? " " : "", what, (long long)step);
}

static inline bool job_begin(const struct ascope_dynamic_request *r, void *user)
{
    (void)user;
    last = *r;
    snprintf(last_json, sizeof last_json, "%s", r->json);
    snprintf(last_dir, sizeof last_dir, "%s", r->options->parent_dir ? r->options->parent_dir : "");
    assert_int_equal(r->step, ascope_dynamic_current_step());
    if (!begin_fails)
        note_call("b", r->step);
    return !begin_fails;
}

static inline void job_step(void *user)
{
    (void)user;
    note_call(".", -1);
}

static inline const char *job_end(bool is_cut, void *user)
{
    (void)user;
    note_call(is_cut ? "c" : "e", ascope_dynamic_current_step());
    return "/the/collection";
}

static inline void job_message(enum ascope_severity severity, const char *text, void *user)
{
    static const char *const word[] = { "INFO", "WARNING", "ERROR" };
    (void)user;
    const size_t n = strlen(users);
    snprintf(users + n, sizeof users - n, "%s %s\n", word[severity], text);
}

static inline const char *config_dir(void)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/config", folder);
    return path;
}

static inline struct ascope_dynamic_setup job_setup(void)
{
    return (struct ascope_dynamic_setup){ .size = sizeof(struct ascope_dynamic_setup),
                                          .path = config_dir(),
                                          .begin = job_begin,
                                          .step = job_step,
                                          .end = job_end,
                                          .message = job_message,
                                          .poll_ms = 2 };
}

static inline void job_start(const struct ascope_dynamic_setup *setup)
{
    struct ascope_error e;
    called[0] = users[0] = '\0';
    begin_fails = false;
    ascope_dynamic_set_step(0);
    if (!ascope_dynamic_init(setup, &e))
        fail_msg("%s", e.text);
}

static inline void job_steps(int n)
{
    while (n-- > 0)
        ascope_dynamic_step();
}

/* ---- the file ---- */

static inline void pause_a_little(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
}
enum { WAITS_MOST = 120000 }; /* a minute */
#define AWAIT(condition)                                                                                               \
    do {                                                                                                               \
        int waits_left = WAITS_MOST;                                                                                   \
        while (!(condition)) {                                                                                         \
            if (--waits_left == 0)                                                                                     \
                fail_msg("%s: does not become true", #condition);                                                      \
            pause_a_little();                                                                                          \
        }                                                                                                              \
    } while (0)

static inline const char *config_path(void)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/" CONFIG_FILE_NAME, config_dir());
    return path;
}

/* The id that the file's text has as a request. */
static inline uint64_t config_id(void)
{
    struct config_text t;
    struct error e = { 0 };
    if (!config_text_read(&t, config_path(), &e))
        fail_msg("%s", e.text);
    const uint64_t id = board_id(t.text, (size_t)t.stamp.size, t.stamp.mtime_ns);
    config_text_fini(&t);
    return id;
}

/* Replaces the file, as editors do. */
static inline void edit(const char *text)
{
    char half[600];
    snprintf(half, sizeof half, "%s/half", config_dir());
    FILE *const f = fopen(half, "wb");
    fputs(text, f);
    fclose(f);
    assert_int_equal(rename(half, config_path()), 0);
}

static inline bool is_delivered(uint64_t id, int32_t pid)
{
    static struct board_view v;
    struct error e = { 0 };
    board_read(config_dir(), ASCOPE_DYNAMIC_PYTORCH, &v, &e);
    for (uint32_t i = 0; i < v.n_ranks; i++)
        if (v.rank[i].pid == pid)
            return v.rank[i].delivered_id == id;
    return false;
}

/* Replaces it, and waits until this process's next step sees it. */
static inline void ask(const char *text)
{
    edit(text);
    const uint64_t id = config_id();
    AWAIT(is_delivered(id, (int32_t)getpid()));
}

/* What the logs of this prefix contain, without those before. */
static inline const char *log_text(const char *prefix)
{
    static char text[1 << 19];
    char dir_path[600], path[1200];
    size_t n = 0;
    snprintf(dir_path, sizeof dir_path, "%s/log", config_dir());
    DIR *const dir = opendir(dir_path);
    for (struct dirent *d; dir && (d = readdir(dir));) {
        if (strncmp(d->d_name, prefix, strlen(prefix)) != 0 || strstr(d->d_name, ".log.1"))
            continue;
        snprintf(path, sizeof path, "%s/%s", dir_path, d->d_name);
        FILE *const f = fopen(path, "rb");
        if (f) {
            n += fread(text + n, 1, sizeof text - 1 - n, f);
            fclose(f);
        }
    }
    if (dir)
        closedir(dir);
    text[n] = '\0';
    return text;
}

#endif
