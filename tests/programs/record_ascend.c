/* SPDX-License-Identifier: Apache-2.0 */
/* A program that records, on NPUs where it finds some.
 *
 *     record_ascend PARENT WORD...
 *
 * Words: acl (loads and initialises ACL, sets a device), load (loads it), msprofiler (loads that one, too), warmup,
 * flight (a flight recorder), unstarted (no more than that), discard (instead of marks), kill (after the marks), exit (while it records), twice
 * (two sessions); NAME=VALUE is an option. Prints messages and paths. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ascope/ascope.h"

static int n_words;
static char **words;

static bool is_asked(const char *word)
{
    for (int i = 0; i < n_words; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static void print_message(enum ascope_severity severity, const char *text, void *user)
{
    (void)user;
    printf("%s: %s\n", severity == ASCOPE_INFO ? "note" : severity == ASCOPE_WARNING ? "warning" : "error", text);
    fflush(stdout);
}

static void load_all(void)
{
    static const char *const names[] = { "libascendcl.so", "libprofapi.so", "libruntime.so", "libascend_hal.so",
                                         "libmsprofiler.so" };
    const size_t n = sizeof names / sizeof *names - !is_asked("msprofiler");
    for (size_t i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/lib64/%s", getenv("ASCEND_HOME_PATH"), names[i]);
        dlopen(path, RTLD_LAZY | RTLD_GLOBAL); /* older releases have fewer */
    }
}

static void acl_init(void)
{
    int (*init)(const char *), (*set_device)(int);
    *(void **)&init = dlsym(RTLD_DEFAULT, "aclInit");
    *(void **)&set_device = dlsym(RTLD_DEFAULT, "aclrtSetDevice");
    const char *const device = getenv("FAKE_ASCEND_CURRENT");
    if (!init || init(NULL) != 0 || set_device(device ? atoi(device) : 0) != 0)
        exit(3);
}

/* A flight recorder that is saved after half a second. */
static int record_flight(struct ascope_options *o)
{
    struct ascope_error e = { 0 };
    const struct ascope_flight flight = { .size = sizeof flight,
                                          .keep_ns = UINT64_C(3600) * 1000000000,
                                          .memory_bytes = UINT64_C(64) << 20 };
    char path[4096];
    if (!ascope_flight_start(o, &flight, &e)) {
        printf("failed: %s\n", e.text);
        return 1;
    }
    ascope_mark(NULL, "a mark of the program", NULL);
    usleep(500000);
    if (!ascope_flight_save(0, "test", path, sizeof path, &e))
        printf("failed: %s\n", e.text);
    else
        printf("ended: %s\n", path);
    return ascope_flight_stop(&e) ? 0 : 1;
}

static int record(const char *parent)
{
    struct ascope_options o;
    struct ascope_error e = { 0 };
    ascope_options_init(&o);
    ascope_options_set(&o, "parent_dir", parent);
    for (int i = 0; i < n_words; i++) {
        char name[100];
        const size_t n = strcspn(words[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)n, words[i]);
        if (words[i][n] && !ascope_options_set(&o, name, words[i] + n + 1))
            return 2;
    }
    if (is_asked("flight"))
        return record_flight(&o);
    struct ascope_session *s = ascope_session_new(&o, &e);
    const bool is_warm = s && (!is_asked("warmup") || ascope_session_warmup(s, &e)), only_warms = is_asked("unstarted");
    if (!is_warm || (!only_warms && !ascope_session_start(s, &e))) {
        printf("failed: %s\n", e.text);
        ascope_session_discard(s);
        return 1;
    }
    printf("path: %s\n", ascope_session_path(s));
    if (is_asked("discard")) {
        ascope_session_discard(s);
        return 0;
    }
    fflush(stdout);
    ascope_mark(NULL, "a mark of the program", NULL);
    ascope_mark(NULL, "a mark on a stream", (void *)0x1234);
    ascope_range_end(NULL, ascope_range_begin(NULL, "a range", NULL));
    if (is_asked("kill"))
        raise(SIGKILL);
    if (is_asked("exit"))
        exit(0);
    if (!ascope_session_stop(s, &e))
        printf("stop: %s\n", e.text);
    printf("ended: %s\n", ascope_session_path(s));
    ascope_session_end(s, &e);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    words = argv + 2;
    n_words = argc - 2;
    ascope_on_message(print_message, NULL);
    if (is_asked("acl") || is_asked("load"))
        load_all();
    if (is_asked("acl"))
        acl_init();
    const int code = record(argv[1]);
    return code == 0 && is_asked("twice") ? record(argv[1]) : code;
}
