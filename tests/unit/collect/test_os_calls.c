/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a program that knows nothing of us: the preloaded library puts them into the rings of this process, the
 * writer makes lines of them, and our reader counts them. */
#include "call_lines.h"
#include "child.h"
#include "folder.h"
#include "test.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "collect/os_calls/os_trace.h"
#include "collect/os_calls/preload.h"
#include "collect/session/handover.h"
#include "collect/session/recorder_session.h"

/* ---- recording it ---- */

enum { SYSTEM = OS_CALLS_OF_SYSTEM, THREADS = OS_CALLS_OF_THREADS };

struct recording {
    struct ascope_session *session;
    struct handover *handover;
    char page[HANDOVER_PATH_BYTES];
    char prof[PATH_MAX];
};

/* host_sys: what this process looks at; kinds: what the program puts. */
static void recording_begin(struct recording *r, const struct session_target *of, uint32_t host_sys, uint32_t osrt,
                            uint32_t kinds)
{
    struct ascope_options o;
    struct ascope_error why = { "" };
    struct error e = { 0 };
    ascope_options_init(&o);
    o.layout = ASCOPE_LAYOUT_PROF;
    o.parent_dir = folder;
    o.device = "none";
    o.host_sys = host_sys;
    o.osrt = osrt;
    r->handover = handover_make(r->page, &e);
    assert_non_null(r->handover);
    assert_true(handover_wish(r->handover, &(struct handover_wish){ .calls = kinds }, &e));
    r->session = session_new_for(of, &o, false, &why);
    if (!r->session || !ascope_session_start(r->session, &why))
        fail_msg("%s", why.text);
    snprintf(r->prof, sizeof r->prof, "%s", ascope_session_path(r->session));
    handover_open(r->handover);
}

static void recording_end(struct recording *r)
{
    struct ascope_error why = { "" };
    handover_close(r->handover);
    assert_true(ascope_session_stop(r->session, &why));
    for (unsigned i = 0; i < STREAM_KINDS; i++)
        assert_int_equal(r->session->tally.dropped[i], 0);
    assert_true(ascope_session_end(r->session, &why));
    handover_free(r->handover);
}

/* A child that waits for a byte before it becomes the program. Its output goes to `out` of the folder. */
static pid_t program_hold(int *go, const char *program, const char *what, int n)
{
    char count[16];
    int ends[2];
    snprintf(count, sizeof count, "%d", n);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = child_fork();
    if (child == 0) {
        char page[HANDOVER_PATH_BYTES] = "";
        close(ends[1]);
        if (read(ends[0], page, sizeof page) <= 0)
            _exit(126);
        if (*page) {
            setenv(HANDOVER_VARIABLE, page, 1);
            setenv("LD_PRELOAD", getenv("ASCOPE_RUN_LIBRARY"), 1);
        }
        const int fd = open(folder_path("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, 1);
        close(fd);
        execl(program, program, what, count, NULL);
        _exit(127);
    }
    close(ends[0]);
    *go = ends[1];
    return child;
}

static void program_go(const struct recording *r, int go)
{
    char page[HANDOVER_PATH_BYTES] = "";
    if (r)
        memcpy(page, r->page, sizeof page);
    assert_int_equal(write(go, page, sizeof page), sizeof page);
    close(go);
}

static void program_run(const struct recording *r, const char *what, int n)
{
    int go;
    const pid_t child = program_hold(&go, getenv("ASCOPE_CALLS_PROGRAM"), what, n);
    program_go(r, go);
    child_end_well(child);
}

static void output_read(char text[64])
{
    FILE *const f = fopen(folder_path("out"), "r");
    assert_non_null(f);
    text[fread(text, 1, 63, f)] = '\0';
    fclose(f);
}

static void each_call_is_a_row(void **state)
{
    enum { N = 50 };
    static const struct {
        const char *what, *run;
        const char *name;
        size_t n, n_threads;
        bool is_thread_call;
    } row[] = {
        { "reads", "reads", "read", N, 1, false },
        { "writes", "reads", "write", N, 1, false },
        { "open() is openat", "reads", "openat", 2, 1, false },
        { "threads that are made", "threads", "pthread_create", N, 1, true },
        { "threads that are waited for", "threads", "pthread_join", N, 1, true },
        { "calls of threads", "threads", "write", N, N, false },
        { "locks that were waited for, and no others", "mutexes", "pthread_mutex_lock", N, 1, true },
        { "locks that are made", "mutexes", "pthread_mutex_init", 1, 1, true },
        { "attributes of threads", "mutexes", "pthread_attr_init", 1, 1, true },
        { "a forked child and its thread", "forks", "write", 3 * N, 3, false },
        { "a child is waited for", "forks", "wait4", 1, 1, false },
        { "a child without fork handlers", "raw_forks", "write", 2 * N, 2, false },
        { "a child in its parent's memory", "vforks", "write", 2 * N, 1, false },
        { "programs that it starts", "execs", "write", 2 * N, 2, false },
        { "cancelled threads leave nothing behind", "cancels", "pthread_join", N, 1, true },
        { "a signal handler's calls", "handlers", "read", N, 1, false },
        { "what it interrupts", "handlers", "write", N, 1, false },
        { "calls that are left by a jump", "jumps", "write", N, 1, false },
        { "calls that fail", "errors", "read", 1, 1, false },
        { "a lock that its thread has", "errors", "pthread_mutex_lock", 1, 1, true },
        { "a semaphore in vain", "errors", "sem_timedwait", 1, 1, true },
        { "a program that gives up all that it has", "leaves", "write", 2 * N, 1, false },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct recording r;
        struct lines c;
        char plain[64], recorded[64];
        print_message("  %s\n", row[i].what);
        program_run(NULL, row[i].run, N);
        output_read(plain);
        recording_begin(&r, &(struct session_target){ 0 }, 0, 0, SYSTEM | THREADS);
        program_run(&r, row[i].run, N);
        recording_end(&r);
        output_read(recorded);
        assert_string_equal(recorded, plain);
        lines_load(&c, r.prof, row[i].is_thread_call ? "host_pthreadcall.data" : "host_syscall.data");
        assert_int_equal(lines_count(&c, row[i].name), row[i].n);
        assert_int_equal(threads_count(&c, row[i].name), row[i].n_threads);
        lines_free(&c);
    }
    (void)state;
}

/* What the kernel traces: also what libc does inside, and programs that have no ld.so. */
static void the_kernel_sees_all_calls(void **state)
{
    enum { N = 50, MORE = 2 }; /* each image writes once before main(), and once with printf() */
    static const struct {
        const char *what, *program, *run;
        size_t n, n_threads;
    } row[] = {
        { "calls of its own, and one of printf()", "ASCOPE_CALLS_PROGRAM", "reads", N + MORE, 1 },
        { "threads", "ASCOPE_CALLS_PROGRAM", "threads", N + MORE, N + 1 },
        { "a forked child and its thread", "ASCOPE_CALLS_PROGRAM", "forks", 3 * N + MORE, 3 },
        { "a child without fork handlers", "ASCOPE_CALLS_PROGRAM", "raw_forks", 2 * N + MORE, 2 },
        { "a child in its parent's memory", "ASCOPE_CALLS_PROGRAM", "vforks", 2 * N + MORE, 2 },
        { "programs that it starts", "ASCOPE_CALLS_PROGRAM", "execs", 2 * N + 3 * MORE, 3 },
        { "a program that gives up all that it has", "ASCOPE_CALLS_PROGRAM", "leaves", 2 * N + MORE, 1 },
        { "a static program", "ASCOPE_STATIC_PROGRAM", "reads", N + MORE, 1 },
    };
    const char *why;
    if (!kernel_calls_permitted(&why)) {
        print_message("  not permitted here: %s\n", why);
        skip();
    }
    for (size_t i = 0; i < ROWS(row); i++) {
        struct recording r;
        struct lines c;
        int go;
        print_message("  %s\n", row[i].what);
        const pid_t child = program_hold(&go, getenv(row[i].program), row[i].run, N);
        recording_begin(&r, &(struct session_target){ .pid = child, .has_preloaded = true }, ASCOPE_HOST_OSRT,
                        ASCOPE_OSRT_AUTO, os_trace_wrapped(ASCOPE_OSRT_AUTO));
        program_go(&r, go);
        child_end_well(child);
        recording_end(&r);
        lines_load(&c, r.prof, "host_syscall.data");
        assert_int_equal(lines_count(&c, "write"), row[i].n);
        assert_int_equal(threads_count(&c, "write"), row[i].n_threads);
        lines_free(&c);
    }
    (void)state;
}

static void wait_until_asleep(pid_t pid)
{
    char path[64], text[16] = "";
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    while (text[0] < '0' || text[0] > '9' || atoi(text) != SYS_read) {
        FILE *const f = fopen(path, "r");
        if (!f || !fgets(text, sizeof text, f))
            fail_msg("%s is not readable", path);
        fclose(f);
    }
}

/* Without rights: what a thread waits in, in whatever sample. */
static void samples_show_what_a_thread_waits_in(void **state)
{
    struct recording r;
    struct lines c;
    int go;
    assert_int_equal(os_trace_wrapped(ASCOPE_OSRT_SAMPLES), THREADS);
    const pid_t child = program_hold(&go, getenv("ASCOPE_CALLS_PROGRAM"), "reads", 1);
    wait_until_asleep(child);
    recording_begin(&r, &(struct session_target){ .pid = child }, ASCOPE_HOST_OSRT, ASCOPE_OSRT_SAMPLES, 0);
    program_go(NULL, go);
    child_end_well(child);
    recording_end(&r);
    lines_load(&c, r.prof, "host_syscall.data");
    assert_true(lines_count(&c, "read") >= 1); /* the pipe that it is held by; later ones may be seen, too */
    lines_free(&c);
    (void)state;
}

/* A session in the program itself: its calls, and none of the recorder's. */
static void a_session_inside_takes_its_own_calls(void **state)
{
    enum { N = 50 };
    static const char *const ways[] = { "libc", "auto" };
    const char *why;
    for (size_t i = 0; i < ROWS(ways); i++) {
        struct lines c;
        char prof[PATH_MAX] = "";
        print_message("  %s\n", ways[i]);
        if (i == 1 && !kernel_calls_permitted(&why))
            continue;
        const pid_t child = child_fork();
        if (child == 0) {
            const int fd = open(folder_path("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(fd, 1);
            setenv("LD_PRELOAD", getenv("ASCOPE_RUN_LIBRARY"), 1);
            execl(getenv("ASCOPE_INSIDE_PROGRAM"), "inside", folder, "50", ways[i], NULL);
            _exit(127);
        }
        child_end_well(child);
        FILE *const f = fopen(folder_path("out"), "r");
        assert_true(f && fread(prof, 1, sizeof prof - 1, f) > 0);
        fclose(f);
        lines_load(&c, prof, "host_syscall.data");
        assert_int_equal(lines_count(&c, "write"), N);
        assert_int_equal(threads_count(&c, "write"), 1);
        assert_int_equal(lines_count(&c, "clock_nanosleep"), 1);
        lines_free(&c);
    }
    (void)state;
}

/* Both readers place the first line at the start of the collection, and so each slice begins with a line for it. */
static void lines_count_from_the_start_of_the_collection(void **state)
{
    enum { N = 2000 };
    struct recording r;
    struct lines c[2];
    static const char *const family[] = { "host_syscall.data", "host_pthreadcall.data" };
    const uint64_t before_ns = host_clock_raw_ns();
    recording_begin(&r, &(struct session_target){ 0 }, 0, 0, SYSTEM | THREADS);
    const uint64_t began_ns = clock_reading_window_ns(&r.session->first), from_ns = host_clock_raw_ns();
    program_run(&r, "threads", N);
    const uint64_t until_ns = host_clock_raw_ns();
    recording_end(&r);
    assert_true(began_ns + 1000 >= before_ns);
    for (int i = 0; i < 2; i++) {
        lines_load(&c[i], r.prof, family[i]);
        for (size_t k = 0; k < c[i].usage.calls.n; k++) {
            const uint64_t at_ns = began_ns + (uint64_t)c[i].usage.calls.begin_ns[k];
            assert_true(at_ns + 100000 >= from_ns && at_ns + c[i].usage.calls.dur_ns[k] <= until_ns + 100000);
        }
    }
    /* A thread writes between its creation and the end of the wait for it. */
    const struct os_calls *const writes = &c[0].usage.calls, *const joins = &c[1].usage.calls;
    assert_true(writes->begin_ns[writes->n - 1] <=
                joins->begin_ns[joins->n - 1] + (int64_t)joins->dur_ns[joins->n - 1] + 10000);
    lines_free(&c[0]);
    lines_free(&c[1]);
    (void)state;
}

/* ---- programs that cannot be had this way ---- */

static void file_make(const char *name, const char *text, size_t n, mode_t mode)
{
    const int fd = open(folder_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0700);
    assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    close(fd);
    assert_int_equal(chmod(folder_path(name), mode), 0);
}

static void preloading_is_refused_before_the_program_starts(void **state)
{
    char static_script[PATH_MAX + 16], own[PATH_MAX] = "";
    const char *why, *const fixed = getenv("ASCOPE_STATIC_PROGRAM");
    assert_true(readlink("/proc/self/exe", own, sizeof own - 1) > 0);
    snprintf(static_script, sizeof static_script, "#! %s arg\n", fixed);
    file_make("script", static_script, strlen(static_script), 0700);
    file_make(
        "other",
        "\x7f"
        "ELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        64, 0700);
    file_make("text", "echo\n", 5, 0700);
    const struct {
        const char *what, *program, *why; /* NULL: it works */
    } row[] = {
        { "a program", own, NULL },
        { "one in PATH", "sh", NULL },
        { "one that is not there", "no-such-program", NULL },
        { "a static one", fixed, "is linked statically" },
        { "a script of a static one", folder_path("script"), "is linked statically" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        assert_int_equal(preload_works(row[i].program, &why), row[i].why == NULL);
        if (row[i].why)
            assert_string_equal(why, row[i].why);
    }
    assert_false(preload_works(folder_path("other"), &why));
    assert_string_equal(why, "is for another architecture");
    assert_true(preload_works(folder_path("text"), &why));
    if (geteuid() == 0) {
        assert_int_equal(chown(folder_path("text"), 65534, 65534), 0);
        assert_int_equal(chmod(folder_path("text"), 04755), 0);
        assert_false(preload_works(folder_path("text"), &why));
        assert_string_equal(why, "runs as another user");
    }
    char path[PATH_MAX];
    assert_true(preload_find(path));
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_call_is_a_row, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(the_kernel_sees_all_calls, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(samples_show_what_a_thread_waits_in, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_session_inside_takes_its_own_calls, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(lines_count_from_the_start_of_the_collection, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(preloading_is_refused_before_the_program_starts, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
