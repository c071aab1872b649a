/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a program that knows nothing of us: the preloaded library puts them into the rings of this process, the writer makes lines of
 * them, and our reader counts them. */
#include "child.h"
#include "collecting.h"
#include "folder.h"
#include "settings_of.h"
#include "test.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/syscall.h>

#include "collect/handover.h"
#include "collect/kernel_calls.h"
#include "collect/os_call.h"
#include "collect/os_call_sink.h"
#include "collect/preload.h"
#include "collect/recorder_session.h"
#include "collect/recover.h"
#include "load/usage_load.h"

/* ---- what was recorded ---- */

struct lines {
    char *text;
    size_t bytes;
    struct profile profile;
    struct source source;
    struct slice slice;
    struct stream stream;
    struct usage usage;
};

static void lines_read(struct lines *c, const char *prof, const char *family)
{
    char pattern[PATH_MAX + 100];
    glob_t found = { 0 };
    snprintf(pattern, sizeof pattern, "%s/host/data/%s.slice_?", prof, family);
    glob(pattern, 0, NULL, &found);
    *c = (struct lines){ .text = calloc(1, 1) };
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct stat st;
        const int fd = open(found.gl_pathv[i], O_RDONLY);
        assert_true(fd >= 0 && fstat(fd, &st) == 0);
        c->text = realloc(c->text, c->bytes + (size_t)st.st_size + 1);
        assert_int_equal(read(fd, c->text + c->bytes, (size_t)st.st_size), st.st_size);
        c->bytes += (size_t)st.st_size;
        c->text[c->bytes] = '\0';
        close(fd);
    }
    globfree(&found);
}

static void lines_parse(struct lines *c, const char *family)
{
    struct error e = { 0 };
    c->profile.names = names_new();
    c->slice = (struct slice){ .name = family, .data = (uint8_t *)c->text, .size = c->bytes };
    c->stream = (struct stream){ .family = family, .slice = &c->slice, .n_slices = 1 };
    c->source = (struct source){ .is_host = true,
                                 .name = "host",
                                 .path = "host",
                                 .pid = 7,
                                 .stream = &c->stream,
                                 .n_streams = 1,
                                 .mem = arena_new() };
    c->source.settings = settings_of(NULL, NULL, c->source.mem);
    assert_true(usage_load(&c->profile, &c->source, &c->usage, &e));
    assert_int_equal(c->source.lost.by[LOSS_BAD_TEXT].n, 0);
    assert_int_equal(c->source.lost.by[LOSS_OTHER_KIND].n, 0);
    assert_int_equal(c->source.lost.by[LOSS_OUTSIDE].n, 0);
}

static void lines_load(struct lines *c, const char *prof, const char *family)
{
    lines_read(c, prof, family);
    lines_parse(c, family);
}

static void lines_free(struct lines *c)
{
    arena_free(c->source.mem);
    names_free(c->profile.names);
    free(c->text);
}

static size_t lines_count(const struct lines *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->usage.calls.n; i++)
        n += strcmp(names_text(c->profile.names, c->usage.calls.name[i]), name) == 0;
    return n;
}

static size_t threads_count(const struct lines *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->usage.calls.n; i++) {
        bool is_new = strcmp(names_text(c->profile.names, c->usage.calls.name[i]), name) == 0;
        for (size_t k = 0; k < i && is_new; k++)
            is_new = c->usage.calls.thread[k] != c->usage.calls.thread[i] ||
                     c->usage.calls.name[k] != c->usage.calls.name[i];
        n += is_new;
    }
    return n;
}

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

/* ---- records and lines ---- */

static const struct os_call_times times = {
    .begin_ns = 5000000000, .count = 20000, .raw_ns = 9000000000, .ns_per_count = 0.5
};

static void records_become_lines_that_readers_take(void **state)
{
    static const struct {
        const char *what;
        struct os_call call;
        bool is_thread_call;
        const char *line; /* "": none */
    } row[] = {
        { "a system call",
          { 1234567890123, 4321, 3, 64, 7, SYS_read, OS_CALL_RAW_NS, "python3" },
          false,
          "1234567.890123 (0.004321 ms): python3/7 read(a0: 3) = 64\n" },
        { "one that failed",
          { 1000000, 1, -100, -2, 7, SYS_openat, OS_CALL_RAW_NS, "a" },
          false,
          "1.000000 (0.000001 ms): a/7 openat(a0: -100) = -1 (errno 2)\n" },
        { "an address",
          { 1, 0, 0, 0x7f0000000000, 7, SYS_mmap, OS_CALL_RAW_NS, "a" },
          false,
          "0.000001 (0.000000 ms): a/7 mmap(a0: 0) = 0x7f0000000000\n" },
        { "nobody knows the result",
          { 1, 0, 0, OS_CALL_UNKNOWN, 7, SYS_futex, OS_CALL_RAW_NS, "a" },
          false,
          "0.000001 (0.000000 ms): a/7 futex(a0: 0) = ?\n" },
        { "a name that would end a word or a line",
          { 1, 0, 0, 0, 7, SYS_read, OS_CALL_RAW_NS, "a b/c:(d)\n" },
          false,
          "0.000001 (0.000000 ms): a_b_c__d__/7 read(a0: 0) = 0\n" },
        { "a name without an end",
          { 1, 0, 0, 0, 7, SYS_read, OS_CALL_RAW_NS, "aaaaaaaaaaaaaaaa" },
          false,
          "0.000001 (0.000000 ms): aaaaaaaaaaaaaaa/7 read(a0: 0) = 0\n" },
        { "no name",
          { 1, 0, 0, 0, 7, SYS_read, OS_CALL_RAW_NS, "" },
          false,
          "0.000001 (0.000000 ms): _/7 read(a0: 0) = 0\n" },
        { "in counts, before the last reading",
          { 10000, 2000, 0, 0, 7, SYS_read, OS_CALL_COUNTER, "a" },
          false,
          "8999.995000 (0.001000 ms): a/7 read(a0: 0) = 0\n" },
        { "and after it",
          { 20000, 2000, 0, 0, 7, SYS_read, OS_CALL_COUNTER, "a" },
          false,
          "9000.000000 (0.001000 ms): a/7 read(a0: 0) = 0\n" },
        { "no thread", { 1, 0, 0, 0, 0, SYS_read, OS_CALL_RAW_NS, "a" }, false, "" },
        { "no such call", { 1, 0, 0, 0, 7, 60000, OS_CALL_RAW_NS, "a" }, false, "" },
        { "one that is not reported", { 1, 0, 0, 0, 7, SYS_getpid, OS_CALL_RAW_NS, "a" }, false, "" },
        { "a call of the thread library",
          { 1234567890123, 4321, 4096, 0, 7, THREAD_CALL_pthread_join, 0, "a" },
          true,
          "[pid 7] 1234.567890123 exe->pthread_join(0x1000) = 0 <0.000004321>\n" },
        { "no such one", { 1, 0, 0, 0, 7, THREAD_CALL_KINDS, 0, "a" }, true, "" },
        { "as large as they come",
          { UINT64_MAX, UINT64_MAX, INT64_MAX, INT64_MAX, UINT32_MAX, SYS_process_vm_writev, 0, "aaaaaaaaaaaaaaaa" },
          false,
          "18446744073709.551615 (18446744073709.551615 ms): aaaaaaaaaaaaaaa/4294967295 process_vm_writev(a0: "
          "0x7fffffffffffffff) = 0x7fffffffffffffff\n" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        char line[OS_CALL_LINE_MOST];
        const uint8_t *const record = (const uint8_t *)&row[i].call;
        size_t (*const expand)(const struct os_call_times *, const uint8_t *, size_t, char *) =
            row[i].is_thread_call ? thread_call_line : system_call_line;
        print_message("  %s\n", row[i].what);
        const size_t n = expand(&times, record, sizeof row[i].call, line);
        assert_int_equal(n, strlen(row[i].line));
        assert_memory_equal(line, row[i].line, n);
        assert_int_equal(expand(&times, record, sizeof row[i].call - 1, line), 0);
    }
    (void)state;
}

/* Every name that a line may have is one that readers report. */
static void all_names_are_reported(void **state)
{
    char line[OS_CALL_LINE_MOST];
    struct lines c = { .text = malloc(1 << 17) };
    size_t n = 0;
    c.bytes = system_calls_head(&times, c.text);
    for (unsigned i = 0; i < 1024; i++)
        if (system_call_name(i)) {
            const struct os_call call = { .thread = 7, .number = (uint16_t)i, .begin = times.begin_ns };
            const size_t bytes = system_call_line(&times, (const uint8_t *)&call, sizeof call, line);
            memcpy(c.text + c.bytes, line, bytes);
            c.bytes += bytes;
            n++;
        }
    lines_parse(&c, "host_syscall.data");
    assert_true(n > 100);
    assert_int_equal(c.usage.calls.n, n);
    lines_free(&c);
    (void)state;
}

static void call_put(enum stream_id stream, unsigned number, uint64_t begin_ns)
{
    const struct ring_slot slot = ring_put(stream, 0, sizeof(struct os_call));
    assert_non_null(slot.at);
    *(struct os_call *)slot.at =
        (struct os_call){ .begin = begin_ns, .duration = 1, .thread = 7, .number = (uint16_t)number, .command = "a" };
    ring_done(slot);
}

/* Killed before the writer came, or after: each call is there once. What no thread has put is counted, and no line. */
static void recovery_writes_the_lines_that_are_missing(void **state)
{
    enum { N = 500 };
    const pid_t child = child_fork();
    if (child == 0) {
        collecting_start(&(struct writer_options){ .slice_bytes = 1 << 20, .began = host_clock_read() });
        for (int i = 0; i < N; i++) {
            call_put(STREAM_SYSTEM_CALL, SYS_read, host_clock_raw_ns());
            call_put(STREAM_THREAD_CALL, THREAD_CALL_pthread_join, host_clock_raw_ns());
        }
        call_put(STREAM_SYSTEM_CALL, 60000, 0);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(child_end(child), SIGKILL);
    struct recovered out;
    struct error e = { 0 };
    if (collection_recover(folder, &out, &e) != RECOVERY_DONE)
        fail_msg("%s", e.text);
    static const char *const family[] = { "host_syscall.data", "host_pthreadcall.data" };
    for (int i = 0; i < 2; i++) {
        struct lines c;
        lines_load(&c, folder_path("PROF_1"), family[i]);
        assert_int_equal(c.usage.calls.n, N);
        for (size_t k = 1; k < N; k++)
            assert_true(c.usage.calls.begin_ns[k] >= c.usage.calls.begin_ns[k - 1]);
        assert_true(c.usage.calls.begin_ns[0] >= 0);
        lines_free(&c);
    }
    char facts[4096] = "";
    FILE *const f = fopen(folder_path("ascope.json"), "r");
    assert_true(f && fread(facts, 1, sizeof facts - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(facts, "\"system calls\""));
    (void)state;
}

/* When the oldest slices are deleted, those that stay are still where they were. */
static void each_slice_begins_with_the_start(void **state)
{
    enum { N = 1000 };
    struct clock_reading began = host_clock_read();
    collecting_start(&(struct writer_options){ .slice_bytes = SLICE, .began = began });
    for (uint64_t i = 0; i < N; i++)
        call_put(STREAM_SYSTEM_CALL, SYS_read, clock_reading_window_ns(&began) + 1000 * i);
    collecting_stop();
    char path[64];
    size_t n_slices = 0, n = 0;
    for (;; n_slices++) {
        struct lines c = { 0 };
        snprintf(path, sizeof path, "host_syscall.data.slice_%zu", n_slices);
        char file[128];
        snprintf(file, sizeof file, "PROF_1/host/data/%s", path);
        if (!file_exists(file))
            break;
        c.text = malloc(2 * SLICE);
        c.bytes = file_text(file, c.text, 2 * SLICE);
        lines_parse(&c, "host_syscall.data");
        for (size_t k = 0; k < c.usage.calls.n; k++)
            assert_int_equal(c.usage.calls.begin_ns[k], 1000 * (int64_t)n++);
        lines_free(&c);
    }
    assert_true(n_slices > 5);
    assert_int_equal(n, N);
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
    assert_string_equal(why, "is for another kind of processor");
    assert_true(preload_works(folder_path("text"), &why));
    if (geteuid() == 0) {
        assert_int_equal(chown(folder_path("text"), 65534, 65534), 0);
        assert_int_equal(chmod(folder_path("text"), 04755), 0);
        assert_false(preload_works(folder_path("text"), &why));
        assert_string_equal(why, "runs with the rights of another user");
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
        cmocka_unit_test(records_become_lines_that_readers_take),
        cmocka_unit_test(all_names_are_reported),
        cmocka_unit_test_setup_teardown(recovery_writes_the_lines_that_are_missing, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(each_slice_begins_with_the_start, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(preloading_is_refused_before_the_program_starts, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
