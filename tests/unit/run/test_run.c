/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "child.h"
#include "collect/session/recover.h"
#include "folder.h"
#include "load/prof/prof.h"
#include "run/run.h"

static struct recorded_run request_of(char *const *program)
{
    struct recorded_run r = { .program = program };
    ascope_options_init(&r.recorder);
    r.recorder.layout = ASCOPE_LAYOUT_PROF;
    r.recorder.parent_dir = folder;
    r.recorder.device = "none";
    r.recorder.mstx = true;
    return r;
}

static struct run_result collected(const struct recorded_run *r)
{
    struct run_result out;
    struct error e = { 0 };
    if (!run_collect(r, &out, &e))
        fail_msg("%s", e.text);
    return out;
}

/* How many marks, points and ranges, and in how many processes and threads. */
struct seen {
    size_t n_marks, n_threads;
};

static struct seen seen_in(const char *path)
{
    struct profile p;
    struct error e = { 0 };
    struct seen seen = { 0 };
    if (!profile_load(&p, path, 1, &e))
        fail_msg("%s", e.text);
    const struct marks *const m = &p.host.records.marks;
    seen.n_marks = m->n;
    for (size_t i = 0; i < m->n; i++) {
        bool is_new = true;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = m->thread[k] != m->thread[i];
        seen.n_threads += is_new;
    }
    assert_int_equal(losses_damage(&p.host.source.lost), 0);
    profile_free(&p);
    return seen;
}

#define PROGRAM(...) ((char *[]){ getenv("ASCOPE_RUN_PROGRAM"), __VA_ARGS__, NULL })

static void marks_of_a_program_reach_the_collector(void **state)
{
    const struct recorded_run r = request_of(PROGRAM("marks", "500", "4"));
    struct run_result out = collected(&r);
    assert_true(out.has_program);
    assert_int_equal(out.status, 0);
    assert_int_equal(out.n_collections, 1);
    const struct seen seen = seen_in(out.collections[0]);
    assert_int_equal(seen.n_marks, 500 * 4 * 2);
    assert_int_equal(seen.n_threads, 4);
    run_result_free(&out);
    (void)state;
}

static void children_are_recorded_however_they_were_made(void **state)
{
    static char *const how[] = { "fork", "raw", "exec" };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        const struct recorded_run r = request_of(PROGRAM("children", "40", how[i]));
        struct run_result out = collected(&r);
        if (out.status != 0)
            fail_msg("%s: status %#x", how[i], (unsigned)out.status);
        const struct seen seen = seen_in(out.collections[0]);
        if (seen.n_marks != 1 + 2 * 40 || seen.n_threads != 1 + 40)
            fail_msg("%s: %zu marks of %zu threads", how[i], seen.n_marks, seen.n_threads);
        run_result_free(&out);
    }
    (void)state;
}

static void a_program_that_gives_everything_away_is_recorded(void **state)
{
    const struct recorded_run r = request_of(PROGRAM("bare"));
    struct run_result out = collected(&r);
    assert_int_equal(out.status, 0);
    assert_int_equal(seen_in(out.collections[0]).n_marks, 10 * 2 * 2 + 2);
    run_result_free(&out);
    (void)state;
}

static void the_end_of_the_program_is_passed_on(void **state)
{
    struct recorded_run r = request_of(PROGRAM("exit", "7"));
    struct run_result out = collected(&r);
    assert_true(WIFEXITED(out.status));
    assert_int_equal(WEXITSTATUS(out.status), 7);
    assert_int_equal(out.n_collections, 1);
    run_result_free(&out);
    char number[8];
    snprintf(number, sizeof number, "%d", SIGKILL);
    r = request_of(PROGRAM("kill", number));
    out = collected(&r);
    assert_true(WIFSIGNALED(out.status));
    assert_int_equal(WTERMSIG(out.status), SIGKILL);
    assert_int_equal(out.n_collections, 1);
    run_result_free(&out);
    (void)state;
}

static void a_program_that_cannot_be_started_leaves_nothing(void **state)
{
    static const struct {
        const char *program, *why;
    } row[] = { { "/nonexistent/program", "No such file" },
                { "/etc/passwd", "Permission denied" },
                { "/", "Permission denied" } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct run_result out;
        struct error e = { 0 };
        const struct recorded_run r = request_of((char *[]){ (char *)(uintptr_t)row[i].program, NULL });
        assert_false(run_collect(&r, &out, &e));
        assert_int_equal(e.fault, FAULT_ASKED);
        assert_non_null(strstr(e.text, row[i].program));
        assert_non_null(strstr(e.text, row[i].why));
        assert_int_equal(out.n_collections, 0);
        assert_int_equal(folder_count(), 0);
        run_result_free(&out);
    }
    (void)state;
}

/* A vendor's library in the program leaves the names of what it wrote. */
static void a_held_program_that_was_killed_is_reported(void **state)
{
    char *const program[] = { (char *)"true", NULL };
    struct run_launch l;
    struct error e = { 0 };
    sigset_t none;
    sigemptyset(&none);
    const struct launch_of of = { .program = program, .environment = environ, .mask = &none };
    assert_true(launch_hold(&l, &of, &e));
    assert_int_equal(kill(l.pid, SIGKILL), 0);
    siginfo_t ended;
    assert_int_equal(waitid(P_PID, (id_t)l.pid, &ended, WEXITED | WNOWAIT), 0);
    assert_false(launch_go(&l, program[0], &e));
    assert_int_equal(e.fault, FAULT_ASKED);
    assert_string_equal(e.text, "true: cannot be started: its process has ended");
    (void)state;
}

static void directories_of_the_program_are_found(void **state)
{
    char script[600];
    snprintf(script, sizeof script,
             "mkdir %s/PROF_000002_b %s/PROF_000001_a %s/OTHER; ln -s PROF_000001_a %s/PROF_link;"
             "printf 'PROF_000002_b\\nPROF_000001_a\\nPROF_link\\nOTHER\\n../x\\nPROF_none\\nPROF_000001_a\\n' > "
             "%s/${PPID}_profiling_output_record",
             folder, folder, folder, folder, folder);
    const struct recorded_run r = request_of((char *[]){ "/bin/sh", "-c", script, NULL });
    struct run_result out = collected(&r);
    assert_int_equal(out.status, 0);
    assert_int_equal(out.n_collections, 3);
    assert_string_equal(strrchr(out.collections[1], '/'), "/PROF_000001_a");
    assert_string_equal(strrchr(out.collections[2], '/'), "/PROF_000002_b");
    char record[200];
    snprintf(record, sizeof record, "%s/%d_profiling_output_record", folder, (int)getpid());
    assert_int_not_equal(access(record, F_OK), 0);
    run_result_free(&out);
    (void)state;
}

static void a_name_counts_once_in_the_environment(void **state)
{
    struct error e = { 0 };
    char *const callers[] = { "A=callers", "B=callers", "C=callers", "C=twice", "nonsense", NULL };
    const char *const ours[] = { "A", "ours", "D", NULL, "E", "a=b", NULL };
    char **const made = environment_make(callers, "A=more;B=x=y;;piece;F=", ours, &e);
    static const char *const wanted[] = { "A=ours", "E=a=b", "B=x=y", "F=", "C=callers", NULL };
    assert_non_null(made);
    for (size_t i = 0; wanted[i]; i++)
        assert_string_equal(made[i], wanted[i]);
    assert_null(made[5]);
    environment_free(made);
    (void)state;
}

/* ---- ends that nobody wanted ---- */

/* A collector in a child, and the ends of the program's standard input and output; the program has marked, and waits. */
struct outside {
    pid_t collector;
    FILE *in, *out;
};

enum { PROGRAM_ENDED_WELL = 42 };

static void ready_wait(struct outside *x)
{
    char line[16] = "";
    if (!fgets(line, sizeof line, x->out) || strcmp(line, "ready\n") != 0)
        fail_msg("the program is not ready: \"%s\"", line);
}

static struct outside outside_start(const struct recorded_run *r)
{
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    const pid_t collector = child_fork();
    if (collector == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]); /* the program shall see the end of its input */
        close(out[0]);
        struct run_result result;
        struct error e = { 0 };
        run_collect(r, &result, &e);
        _exit(result.was_interrupted ? 0 : result.status == 0 ? PROGRAM_ENDED_WELL : 1);
    }
    close(in[0]);
    close(out[1]);
    struct outside x = { .collector = collector, .in = fdopen(in[1], "w"), .out = fdopen(out[0], "r") };
    ready_wait(&x);
    return x;
}

static void another_line(struct outside *x)
{
    fputs("go on\n", x->in);
    fflush(x->in);
}

static const char *only_collection(void)
{
    static char path[PATH_MAX];
    DIR *const dir = opendir(folder);
    path[0] = '\0';
    for (struct dirent *d; (d = readdir(dir));)
        if (strncmp(d->d_name, "PROF_", 5) == 0)
            snprintf(path, sizeof path, "%s", folder_path(d->d_name));
    closedir(dir);
    assert_true(path[0] != '\0');
    return path;
}

static void a_program_survives_its_collector(void **state)
{
    const struct recorded_run r = request_of(PROGRAM("wait"));
    struct outside x = outside_start(&r);
    kill(x.collector, SIGKILL);
    child_end_by(x.collector, SIGKILL);
    another_line(&x);
    ready_wait(&x); /* it has marked once more, into rings that nobody reads */
    struct recovered got = { 0 };
    struct error e = { 0 };
    if (collection_recover(only_collection(), &got, &e) != RECOVERY_DONE)
        fail_msg("%s", e.text);
    another_line(&x);
    ready_wait(&x); /* and the rings are gone now */
    fclose(x.in);
    assert_int_equal(fgetc(x.out), EOF);
    fclose(x.out);
    assert_int_equal(seen_in(only_collection()).n_marks, 4);
    (void)state;
}

/* The signal goes to the collector alone: the program gets it from there, and its end is awaited. */
static void an_interrupted_collector_ends_its_program_and_keeps_everything(void **state)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        folder_remove(NULL);
        folder_make(NULL);
        const struct recorded_run r = request_of(PROGRAM("wait"));
        struct outside x = outside_start(&r);
        kill(x.collector, signals[i]);
        assert_int_equal(fgetc(x.out), EOF);
        child_end_well(x.collector);
        assert_int_equal(seen_in(only_collection()).n_marks, 2);
        fclose(x.in);
        fclose(x.out);
    }
    (void)state;
}

static void a_cut_ring_file_ends_the_recording_only(void **state)
{
    const struct recorded_run r = request_of(PROGRAM("wait"));
    struct outside x = outside_start(&r);
    char path[PATH_MAX + 20];
    snprintf(path, sizeof path, "%s/ascope.rings", only_collection());
    assert_int_equal(truncate(path, 0), 0);
    for (int i = 0; i < 3; i++) {
        another_line(&x);
        ready_wait(&x);
    }
    fclose(x.in);
    assert_int_equal(fgetc(x.out), EOF);
    fclose(x.out);
    const int status = child_end(x.collector);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), PROGRAM_ENDED_WELL);
    (void)state;
}

/* ---- commands ---- */

static int to_collector[2];
static unsigned n_started, n_stopped, n_prompts;
static char answers[2000];

static void started(const char *path)
{
    assert_int_equal(access(path, F_OK), 0);
    n_started++;
}

static void stopped(const char *path)
{
    assert_int_equal(access(path, F_OK), 0);
    n_stopped++;
}

static void answered(const char *text)
{
    strncat(answers, text, sizeof answers - strlen(answers) - 2);
    strcat(answers, "\n");
}

static void prompted(void)
{
    n_prompts++;
}

static const struct run_listener listening = { started, stopped, answered, prompted };

/* In a child, whose standard input are these lines. */
static void obeys(const struct recorded_run *r, const char *lines, size_t n_collections, const char *const *words)
{
    const pid_t child = child_fork();
    if (child == 0) {
        assert_int_equal(pipe(to_collector), 0);
        assert_int_equal(write(to_collector[1], lines, strlen(lines)), strlen(lines));
        close(to_collector[1]);
        dup2(to_collector[0], 0);
        struct run_result out = collected(r);
        assert_int_equal(out.n_collections, n_collections);
        for (; *words; words++)
            if (!strstr(answers, *words))
                fail_msg("\"%s\" is not in: %s", *words, answers);
        run_result_free(&out);
        _exit(0);
    }
    child_end_well(child);
}

static void commands_start_and_stop(void **state)
{
    struct recorded_run r = request_of(PROGRAM("exit", "0"));
    r.program = (char *[]){ "sleep", "0.2", NULL };
    r.is_interactive = true;
    r.listener = &listening;
    obeys(&r, "start\nstart\nstop\nstop\nstart\nwhat\n", 2,
          (const char *const[]){ "already recording", "not recording", "commands:", NULL });
    (void)state;
}

static void processes_that_run_are_recorded_by_command(void **state)
{
    const pid_t pids[] = { getpid(), getppid() };
    struct recorded_run r = request_of(NULL);
    r.is_interactive = true;
    r.pids = pids;
    r.n_pids = 2;
    r.listener = &listening;
    r.recorder.host_sys = ASCOPE_HOST_MEM;
    obeys(&r, "stop\nstart\nstart\nstop\nstart\nquit\n", 4,
          (const char *const[]){ "not recording", "already recording", "stopped", NULL });
    (void)state;
}

/* Until the pipe is closed by the program that has ended: nothing is awaited by the clock. */
static void a_machine_is_recorded_for_a_period(void **state)
{
    struct recorded_run r = request_of(NULL);
    r.period_s = 1;
    r.recorder.host_sys = ASCOPE_HOST_NETWORK;
    struct run_result out = collected(&r);
    assert_false(out.has_program);
    assert_int_equal(out.n_collections, 1);
    run_result_free(&out);
    (void)state;
}

/* ---- the vendor's library in a program ---- */

static int listening_socket;

/* As that library does, for one client: answers to the parameters and to requests; the second start is one too many. */
static void *library_main(void *unused)
{
    struct {
        uint32_t bytes;
        char text[4096];
    } parameters;
    int32_t m[2], reply[2] = { 0, 0 };
    bool is_started = false;
    const int fd = accept(listening_socket, NULL, NULL);
    assert_int_equal(recv(fd, &parameters, sizeof parameters, MSG_WAITALL), sizeof parameters);
    assert_int_equal(parameters.bytes, strlen("{\"acl\":\"on\"}"));
    assert_string_equal(parameters.text, "{\"acl\":\"on\"}");
    assert_int_equal(send(fd, reply, sizeof reply, 0), sizeof reply);
    while (recv(fd, m, sizeof m, MSG_WAITALL) == sizeof m) {
        reply[0] = m[0] + 1;
        reply[1] = m[0] == DYNAMIC_START && is_started ? 2 : m[0] == DYNAMIC_STOP && !is_started ? 4 : 0;
        is_started = m[0] == DYNAMIC_START;
        if (send(fd, reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply || m[0] == DYNAMIC_QUIT)
            break;
    }
    close(fd);
    return unused;
}

static void the_library_in_a_program_is_asked(void **state)
{
    struct error e = { 0 };
    assert_int_equal(dynamic_connect(4711, folder, "{}", &e), DYNAMIC_NONE);
    assert_int_equal(e.fault, FAULT_NONE); /* there is none */
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    snprintf(at.sun_path, sizeof at.sun_path, "%s/dynamic_profiling_socket_4711", folder);
    listening_socket = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listening_socket, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listening_socket, 1), 0);
    pthread_t library;
    assert_int_equal(pthread_create(&library, NULL, library_main, NULL), 0);
    const int fd = dynamic_connect(4711, folder, "{\"acl\":\"on\"}", &e);
    assert_int_not_equal(fd, DYNAMIC_NONE);
    assert_true(dynamic_request(fd, 4711, DYNAMIC_START, &e));
    assert_false(dynamic_request(fd, 4711, DYNAMIC_START, &e));
    assert_non_null(strstr(e.text, "already recording"));
    e = (struct error){ 0 };
    assert_true(dynamic_request(fd, 4711, DYNAMIC_STOP, &e));
    assert_true(dynamic_request(fd, 4711, DYNAMIC_QUIT, &e));
    pthread_join(library, NULL);
    assert_false(dynamic_request(fd, 4711, DYNAMIC_START, &e)); /* it is gone */
    close(fd);
    close(listening_socket);
    (void)state;
}

static void parameters_that_are_too_long_are_refused(void **state)
{
    struct error e = { 0 };
    char text[5000];
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    snprintf(at.sun_path, sizeof at.sun_path, "%s/dynamic_profiling_socket_12", folder);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(dynamic_connect(12, folder, text, &e), DYNAMIC_NONE);
    assert_int_equal(e.fault, FAULT_ASKED);
    close(fd);
    (void)state;
}

int main(void)
{
    signal(SIGINT, SIG_DFL); /* whoever starts tests in the background may ignore it, and programs inherit that */
    signal(SIGHUP, SIG_DFL);
#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(marks_of_a_program_reach_the_collector),
        IN_FOLDER(children_are_recorded_however_they_were_made),
        IN_FOLDER(a_program_that_gives_everything_away_is_recorded),
        IN_FOLDER(the_end_of_the_program_is_passed_on),
        IN_FOLDER(a_program_that_cannot_be_started_leaves_nothing),
        IN_FOLDER(a_held_program_that_was_killed_is_reported),
        IN_FOLDER(directories_of_the_program_are_found),
        cmocka_unit_test(a_name_counts_once_in_the_environment),
        IN_FOLDER(a_program_survives_its_collector),
        IN_FOLDER(an_interrupted_collector_ends_its_program_and_keeps_everything),
        IN_FOLDER(a_cut_ring_file_ends_the_recording_only),
        IN_FOLDER(commands_start_and_stop),
        IN_FOLDER(processes_that_run_are_recorded_by_command),
        IN_FOLDER(a_machine_is_recorded_for_a_period),
        IN_FOLDER(the_library_in_a_program_is_asked),
        IN_FOLDER(parameters_that_are_too_long_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
