/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "ascope/base.h"
#include "child.h"
#include "collect/session/recover.h"

enum { RECORD = 64, NUMBERS_MOST = 1 << 22 };

/* ---- what the files hold ---- */

static uint8_t seen[NUMBERS_MOST];

/* How many records there are, each number once. */
static uint64_t count_numbers(const char *top)
{
    static uint8_t slice[1 << 20];
    uint64_t n = 0;
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0;; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/PROF_1/host/data/aging.compact.task_track.slice_%u", top, i);
        FILE *f = fopen(path, "rb");
        if (!f)
            return n;
        const size_t bytes = fread(slice, 1, sizeof slice, f);
        fclose(f);
        assert_int_equal(bytes % RECORD, 0);
        for (size_t at = 0; at < bytes; at += RECORD, n++) {
            uint64_t number;
            memcpy(&number, slice + at, sizeof number);
            assert_in_range(number, 0, NUMBERS_MOST - 1);
            assert_int_equal(seen[number]++, 0);
        }
    }
}

static uint64_t all_dropped(const struct writer_tally *t)
{
    uint64_t n = 0;
    for (unsigned s = 0; s < STREAM_KINDS; s++)
        n += t->dropped[s];
    return n;
}

/* The ring is small, and the writer needs a moment. Threads call it, too: where there never will be room, the program
 * ends. */
static void put_patiently(uint64_t number)
{
    for (; !put_number(STREAM_TRACK, 0, RECORD, number); usleep(100))
        if (ring_session() == 0) {
            print_error("record %llu: the session is over\n", (unsigned long long)number);
            abort();
        }
}

/* ---- what is reported ---- */

static unsigned n_reported;
static char reported[1024];

static void listen(enum ascope_severity severity, const char *text, void *unused)
{
    (void)severity, (void)unused;
    n_reported++;
    snprintf(reported, sizeof reported, "%s", text);
}

static int quiet_folder(void **state)
{
    n_reported = 0;
    ascope_on_message(listen, NULL);
    return folder_make(state);
}

/* ---- ends of processes ---- */

enum { BEFORE_THE_END = 1000 };

static void end_by_kill(void)
{
    raise(SIGKILL);
}

static void end_by_exit(void)
{
    _exit(0);
}

static void end_by_exec(void)
{
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
}

static void end_by_abort(void)
{
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void however_a_process_ends_its_records_are_recovered(void **state)
{
    static const struct {
        const char *what;
        void (*end)(void);
        int signal; /* 0: exit status 0 */
    } row[] = {
        { "killed", end_by_kill, SIGKILL },
        { "_exit", end_by_exit, 0 },
        { "exec", end_by_exec, 0 },
        { "abort", end_by_abort, SIGABRT },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        folder_make(NULL);
        const pid_t child = child_fork();
        if (child == 0) {
            collecting_start(NULL);
            for (uint64_t n = 0; n < BEFORE_THE_END; n++)
                put_patiently(n);
            row[i].end();
        }
        if (row[i].signal)
            child_end_by(child, row[i].signal);
        else
            child_end_well(child);
        struct recovered r;
        struct error e = { 0 };
        assert_true(file_exists(RINGS_NAME));
        assert_int_equal(collection_recover(folder, &r, &e), RECOVERY_DONE);
        assert_int_equal(count_numbers(folder), BEFORE_THE_END);
        folder_remove(NULL);
    }
    (void)state;
}

static void a_collection_that_is_being_recorded_is_left_alone(void **state)
{
    struct recovered r;
    struct error e = { 0 };
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = child_fork();
    if (child == 0) {
        collecting_start(NULL);
        put_patiently(1);
        const pid_t grandchild =
            children_get_wiped_pages() ? child_fork() : 1; /* who outlives its parent, and holds nothing */
        if (grandchild == 0) {
            close(ready[1]);
            sleep(2);
            _exit(0);
        }
        if (write(ready[1], "r", 1) != 1)
            _exit(1);
        pause();
    }
    close(ready[1]); /* a child that fails closes the last one */
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(collection_recover(folder, &r, &e), RECOVERY_RUNNING);
    kill(child, SIGKILL);
    child_end_by(child, SIGKILL);
    assert_int_equal(collection_recover(folder, &r, &e), RECOVERY_DONE);
    assert_int_equal(count_numbers(folder), 1);
    close(ready[0]);

    folder_remove(NULL);
    folder_make(NULL);
    collecting_start(NULL); /* in the same process */
    put_patiently(1);
    assert_int_equal(collection_recover(folder, &r, &e), RECOVERY_RUNNING);
    assert_int_equal(collecting_stop().n_records, 1);
    (void)state;
}

static void a_forked_child_records_nothing_until_it_has_a_session(void **state)
{
    enum { EACH = 500 };
    char parent_folder[sizeof folder];
    struct writer_tally flushed;
    struct error e = { 0 };
    collecting_start(NULL);
    const uint64_t range = ring_range_open(1, "head", 4, NULL, 0);
    for (uint64_t i = 0; i < EACH; i++)
        put_patiently(i);
    strcpy(parent_folder, folder);
    writer_flush(&flushed,
                 &e); /* it has its buffers: the sanitizers' allocator does not bear a fork while a thread is in it */
    const pid_t child = child_fork();
    if (child == 0) {
        char kept[8];
        if (put_number(STREAM_TRACK, 0, RECORD, 0) || ring_session() != 0 || ring_range_take(range, 1, kept, 8) != 0)
            _exit(1);
        strcat(folder, "/child"); /* so that the parent's removal finds it */
        mkdir(folder, 0750);
        collecting_start(NULL);
        for (uint64_t i = 0; i < EACH; i++)
            put_patiently(i);
        const struct writer_tally tally = collecting_stop();
        _exit(tally.n_records == EACH && count_numbers(folder) == EACH ? 0 : 2);
    }
    for (uint64_t i = EACH; i < 2 * EACH; i++)
        put_patiently(i);
    child_end_well(child);
    assert_int_equal(collecting_stop().n_records, 2 * EACH);
    assert_int_equal(count_numbers(parent_folder), 2 * EACH);
    (void)state;
}

/* Such a child has none of the memory of the rings, and no handler of pthread_atfork() was called in it. */
static void a_child_without_the_handlers_of_fork_records_nothing(void **state)
{
    if (!children_get_wiped_pages())
        skip();
    collecting_start(NULL);
    put_patiently(0);
    const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(put_number(STREAM_TRACK, 0, RECORD, 2) || ring_session() != 0); /* an even number: put inline */
    put_patiently(1);
    child_end_well(child);
    assert_int_equal(collecting_stop().n_records, 2);
    (void)state;
}

static pid_t made;
static bool records_there;

static void make_child(int unused)
{
    made = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (made == 0 && records_there && put_number(STREAM_TRACK, 0, RECORD, 0))
        _exit(1);
    (void)unused;
}

/* By a signal handler that has interrupted the record, and without the handlers of pthread_atfork(). */
static void a_child_that_is_made_during_a_record_ends_it_on_its_own(void **state)
{
    static const struct {
        const char *what;
        bool is_inline, records_there;
    } row[] = {
        { "put inline", true, false },
        { "put by a call", false, false },
        { "put inline, and another one in the handler", true, true },
        { "put by a call, and another one in the handler", false, true },
    };
    if (!children_get_wiped_pages())
        skip();
    signal(SIGSEGV, SIG_DFL); /* the test library's would go on with other tests, in the child */
    collecting_start(NULL);
    signal(SIGUSR1, make_child);
    for (uint64_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        records_there = row[i].records_there;
        put_patiently(2 * i); /* the next one needs no ring */
        const struct ring_slot slot =
            row[i].is_inline ? ring_put_inline(STREAM_TRACK, RECORD) : ring_put(STREAM_TRACK, 0, RECORD);
        const uint64_t number = 2 * i + 1;
        uint8_t wanted[RECORD];
        assert_non_null(slot.at);
        memset(wanted, 0xEE, RECORD);
        memcpy(wanted, &number, sizeof number);
        memcpy(slot.at, wanted, RECORD);
        raise(SIGUSR1);
        if (made == 0)
            memset(slot.at, 0x11, RECORD);
        else
            child_end_well(made);
        if (made != 0)
            assert_memory_equal(slot.at, wanted, RECORD);
        if (row[i].is_inline)
            ring_done_inline(slot);
        else
            ring_done(slot);
        if (made == 0)
            _exit(put_number(STREAM_TRACK, 0, RECORD, 0) || ring_session() != 0);
    }
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(collecting_stop().n_records, 2 * ROWS(row));
    assert_int_equal(count_numbers(folder), 2 * ROWS(row));
    (void)state;
}

static size_t n_descriptors(void)
{
    size_t n = 0;
    DIR *const dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void without_a_thread_for_the_writer_nothing_stays_open(void **state)
{
    struct error e = { 0 };
    char prof[512], rings_path[512];
    pthread_attr_t was, huge;
    snprintf(prof, sizeof prof, "%s/PROF_1", folder);
    snprintf(rings_path, sizeof rings_path, "%s/" RINGS_NAME, folder);
    mkdir(prof, 0750);
    assert_true(
        rings_open(&(struct rings_options){ .path = rings_path, .id = SESSION_ID, .ring_bytes = RING_BYTES }, &e));
    const size_t before = n_descriptors();
    pthread_getattr_default_np(&was);
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, (size_t)1 << 62); /* no machine has room for it */
    pthread_setattr_default_np(&huge);
    assert_false(writer_start(&(struct writer_options){ .prof_dir = prof, .slice_bytes = SLICE }, &e));
    pthread_setattr_default_np(&was);
    assert_non_null(strstr(e.text, "cannot create the writer thread"));
    assert_int_equal(n_descriptors(), before);
    rings_close();
    (void)state;
}

/* ---- why records are dropped ---- */

enum wants { FILES, RIGHTS, SPACE, SPACE_FOR_A_RING };
static struct rlimit was_limited;

static void take_away(enum wants what)
{
    getrlimit(what == FILES ? RLIMIT_NOFILE : RLIMIT_FSIZE, &was_limited);
    if (what == RIGHTS && geteuid() == 0)
        assert_int_equal(seteuid(54321), 0);
    else if (what == RIGHTS)
        assert_int_equal(chmod(folder_path("PROF_1"), 0500), 0);
    else
        setrlimit(what == FILES ? RLIMIT_NOFILE : RLIMIT_FSIZE,
                  &(struct rlimit){ what == SPACE ? 10 : 0, was_limited.rlim_max });
}

static void give_back(enum wants what)
{
    if (what == RIGHTS && geteuid() != 0 && getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    else if (what == RIGHTS)
        assert_int_equal(chmod(folder_path("PROF_1"), 0750), 0);
    else
        setrlimit(what == FILES ? RLIMIT_NOFILE : RLIMIT_FSIZE, &was_limited);
}

static void what_is_dropped_has_its_reason(void **state)
{
    static const struct {
        const char *what;
        enum wants wants;
        bool has_ring; /* before */
        enum drop_reason reason;
    } row[] = {
        { "no descriptor for a file", FILES, true, DROP_DESCRIPTOR },
        { "no permission to make it", RIGHTS, true, DROP_PERMISSION },
        { "it must not grow", SPACE, true, DROP_SPACE },
        { "nor may the rings", SPACE_FOR_A_RING, false, DROP_SPACE },
    };
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < ROWS(row); i++) {
        struct writer_tally tally;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        folder_remove(NULL);
        folder_make(NULL);
        collecting_start(NULL);
        if (row[i].has_ring)
            put_number(STREAM_TORCH_OP, 0, RECORD, 0);
        writer_flush(&tally, &e);
        take_away(row[i].wants);
        assert_int_equal(put_number(STREAM_TRACK, 0, RECORD, 0), row[i].has_ring);
        writer_flush(&tally, &e);
        give_back(row[i].wants);
        e = (struct error){ 0 };
        assert_int_equal(writer_stop(&tally, &e), !row[i].has_ring);
        const struct drop_counts left = rings.front->reasons; /* for recovery */
        writer_leave(true);
        rings_close();
        assert_int_equal(tally.dropped[STREAM_TRACK], 1);
        for (unsigned r = 0; r < DROP_REASONS; r++) {
            assert_int_equal(drop_count(&tally.reasons, r, STREAM_TRACK, 1), r == row[i].reason);
            if (row[i].has_ring) /* else it is with the next commit */
                assert_int_equal(left.n[r][STREAM_TRACK], r == row[i].reason);
        }
    }
    signal(SIGXFSZ, SIG_DFL);
    (void)state;
}

static void every_errno_has_a_reason(void **state)
{
    static const struct {
        int why;
        const char *key;
    } row[] = {
        { EUSERS, "too_many_threads" }, { EMFILE, "no_descriptor" },
        { ENFILE, "no_descriptor" },    { EACCES, "no_permission" },
        { EPERM, "no_permission" },     { EROFS, "no_permission" },
        { ENOSPC, "no_space" },         { EDQUOT, "no_space" },
        { EFBIG, "no_space" },          { ENAMETOOLONG, "name_too_long" },
        { EIO, "not_written" },         { 0, "not_written" },
    };
    for (size_t i = 0; i < ROWS(row); i++)
        assert_string_equal(drop_reason_key(drop_reason_of(row[i].why)), row[i].key);
    for (unsigned r = 0; r < DROP_REASONS; r++) /* as readers of ascope.json know them */
        assert_string_equal(drop_reason_key(r), loss_key(LOSS_RING_FULL + r));
    print_message("  counts of several reasons are never more than all\n");
    struct drop_counts c = { .n[DROP_SPACE][STREAM_MARK] = 5, .n[DROP_NAME][STREAM_MARK] = 9 };
    assert_int_equal(drop_count(&c, DROP_FULL, STREAM_MARK, 20), 6);
    assert_int_equal(drop_count(&c, DROP_SPACE, STREAM_MARK, 7), 5);
    assert_int_equal(drop_count(&c, DROP_NAME, STREAM_MARK, 7), 2);
    assert_int_equal(drop_count(&c, DROP_FULL, STREAM_MARK, 7), 0);
    (void)state;
}

/* ---- signals and threads ---- */

static _Atomic uint64_t next_number, n_in_handlers, n_refused;

static void put_next(void)
{
    const uint64_t number = atomic_fetch_add(&next_number, 1);
    if (!put_number(STREAM_TRACK, 0, RECORD, number))
        atomic_fetch_add(&n_refused, 1);
}

static void on_alarm(int unused)
{
    (void)unused;
    put_next();
    atomic_fetch_add(&n_in_handlers, 1);
}

static void a_signal_handler_records(void **state)
{
    enum { HANDLED = 2000 };
    atomic_store(&next_number, 0);
    atomic_store(&n_in_handlers, 0);
    atomic_store(&n_refused, 0);
    collecting_start(NULL);
    signal(SIGALRM, on_alarm);
    const struct itimerval often = { .it_interval.tv_usec = 200, .it_value.tv_usec = 200 }, never = { 0 };
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned i = 0; atomic_load(&n_in_handlers) < HANDLED; i++) {
        put_next();
        if (i % 64 == 0)
            usleep(300);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
    const struct writer_tally tally = collecting_stop();
    const uint64_t n = atomic_load(&next_number) - atomic_load(&n_refused);
    assert_int_equal(tally.n_records, n);
    assert_int_equal(all_dropped(&tally), atomic_load(&n_refused));
    assert_int_equal(count_numbers(folder), n);
    (void)state;
}

enum { COMERS = 1000, AT_ONCE = 50, OF_EACH = 20 };

static void *come_and_go(void *first)
{
    for (uint64_t i = 0; i < OF_EACH; i++)
        put_patiently((uint64_t)(uintptr_t)first + i);
    return NULL;
}

static void a_thousand_threads_come_and_go(void **state)
{
    collecting_start(NULL);
    for (uintptr_t done = 0; done < COMERS; done += AT_ONCE) {
        pthread_t thread[AT_ONCE];
        for (uintptr_t i = 0; i < AT_ONCE; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, come_and_go, (void *)((done + i) * OF_EACH)), 0);
        for (unsigned i = 0; i < AT_ONCE; i++)
            pthread_join(thread[i], NULL);
    }
    const struct writer_tally tally = collecting_stop();
    assert_int_equal(tally.n_records, COMERS * OF_EACH);
    assert_in_range(tally.n_rings, 1, AT_ONCE);
    assert_int_equal(count_numbers(folder), COMERS * OF_EACH);
    (void)state;
}

/* ---- disks ---- */

/* Records until something is reported, then some more: the program goes on. The writer has its turn before a ring is
 * full. */
static uint64_t put_until_reported(void)
{
    struct writer_tally tally;
    uint64_t n = 0;
    for (unsigned more = 0; more < 2000 && n < NUMBERS_MOST; n++) {
        put_number(STREAM_TRACK, 0, RECORD, n);
        more += n_reported > 0;
        if (n % 256 == 0)
            writer_flush(&tally, &(struct error){ 0 });
    }
    return n;
}

static void check_full(uint64_t n, struct error *e)
{
    struct writer_tally tally;
    assert_false(writer_stop(&tally, e));
    writer_leave(true);
    rings_close();
    assert_int_equal(n_reported, 1);
    assert_int_equal(tally.n_records + all_dropped(&tally), n);
    assert_true(tally.n_records > 0);
    assert_int_equal(count_numbers(folder), tally.n_records);
}

static void a_file_that_may_not_grow_is_reported_once(void **state)
{
    struct error e = { 0 };
    collecting_start(&(struct writer_options){ .slice_bytes = 1 << 20 });
    put_patiently(NUMBERS_MOST - 1); /* the thread has its ring */
    folder_limit(100000);            /* no whole number of records */
    const uint64_t n = put_until_reported();
    folder_limit(0);
    check_full(n + 1, &e);
    assert_non_null(strstr(reported, "task_track"));
    assert_non_null(strstr(e.text, "task_track"));
    (void)state;
}

static void a_full_disk_is_reported_once(void **state)
{
    struct error e = { 0 };
    if (mount("ascope-test", folder, "tmpfs", 0, "size=1m") != 0)
        skip(); /* only root may */
    collecting_start(NULL);
    const uint64_t n = put_until_reported();
    check_full(n, &e);
    umount(folder);
    (void)state;
}

static void without_room_for_a_ring_records_are_counted(void **state)
{
    struct writer_tally tally;
    struct error e = { 0 };
    collecting_start(NULL);
    folder_limit(1000);
    errno = EDOM;
    assert_false(put_number(STREAM_TRACK, 0, RECORD, 0));
    assert_int_equal(errno, EDOM); /* the program's own */
    assert_false(put_number(STREAM_TRACK, 0, RECORD, 0));
    folder_limit(0);
    assert_false(put_number(STREAM_TRACK, 0, RECORD, 0)); /* it does not try again with every record */
    assert_true(writer_flush(&tally, &e));
    assert_int_equal(n_reported, 1);
    tally = collecting_stop();
    assert_int_equal(tally.n_records, 0);
    assert_int_equal(tally.dropped[STREAM_TRACK], 3);
    (void)state;
}

static void a_directory_that_is_deleted_is_reported_once(void **state)
{
    struct error e = { 0 };
    struct writer_tally tally;
    collecting_start(&(struct writer_options){ .slice_bytes = 1 << 30 });
    for (uint64_t i = 0; i < 100; i++)
        put_patiently(i);
    assert_true(writer_flush(&tally, &e));
    folder_remove(NULL);
    const uint64_t n = put_until_reported();
    assert_false(writer_stop(&tally, &e));
    rings_close();
    assert_int_equal(n_reported, 1);
    assert_non_null(strstr(reported, "deleted"));
    assert_int_equal(tally.n_records + all_dropped(&tally), n + 100);
    folder_make(NULL);
    (void)state;
}

/* ---- somebody cuts the rings short ---- */

static uint8_t
    *volatile mine; /* a page of a file that is shorter, which is the program's own affair; set before it is touched */
static _Atomic unsigned n_mine;

static void on_my_bus_error(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    if (info->si_addr != mine)
        _exit(20);
    atomic_fetch_add(&n_mine, 1);
    mmap(mine, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static _Atomic unsigned
    n_putting; /* threads that have a ring: one that makes it later also makes the file long again */

static void *put_until_stopped(void *stop)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL); /* as threads of libraries do */
    for (uint64_t i = 1; !atomic_load((_Atomic bool *)stop); i++) {
        put_number(STREAM_CALL, 0, RECORD, i);
        if (i == 1)
            atomic_fetch_add(&n_putting, 1);
        ring_range_open(1, "head", 4, "text", 4);
    }
    return NULL;
}

/* The writer reads how many rings there are, and a thread gets one before it looks at them. */
static void a_ring_that_comes_during_a_look_is_no_damage(void **state)
{
    struct writer_tally tally;
    struct error e = { 0 };
    collecting_start(NULL);
    const uint32_t n_read = atomic_load(&rings.front->n_rings);
    put_patiently(0);
    assert_non_null(rings_shared(n_read));
    assert_false(rings_were_emptied(n_read));
    assert_true(writer_stop(&tally, &e));
    atomic_store(&rings.front->n_rings, n_read); /* as in a file that was emptied */
    assert_true(rings_were_emptied(n_read));
    rings_close();
    (void)state;
}

static void *put_one(void *is_put)
{
    *(bool *)is_put = put_number(STREAM_TRACK, 0, RECORD, 1);
    return NULL;
}

/* Everything is in files, so that nobody touches what was cut off: only a ring that is made behind it could notice. */
static void rings_that_are_cut_are_not_made_long_again(void **state)
{
    struct writer_tally tally;
    struct error e = { 0 };
    pthread_t thread;
    bool is_put = true;
    collecting_start(NULL);
    put_patiently(0);
    assert_true(writer_flush(&tally, &e));
    assert_int_equal(truncate(rings.path, (off_t)(rings.layout.rings_at + rings.layout.lane_at[1])), 0);
    pthread_create(&thread, NULL, put_one, &is_put);
    pthread_join(thread, NULL);
    assert_false(is_put);
    assert_true(atomic_load(&rings.is_gone));
    assert_false(writer_stop(&tally, &e));
    assert_true(tally.is_gone);
    assert_non_null(strstr(e.text, RINGS_NAME));
    assert_int_equal(n_reported, 1);
    rings_close();
    assert_int_equal(count_numbers(folder), 1);
    (void)state;
}

static _Thread_local bool cuts_next;
static _Thread_local unsigned closes_next;

/* Of the rings, whatever numbers they have. */
static void descriptors_close(void)
{
    struct stat st, now;
    DIR *const all = opendir("/proc/self/fd");
    assert_int_equal(stat(rings.path, &st), 0);
    for (struct dirent *d; (d = readdir(all));)
        if (fstat(atoi(d->d_name), &now) == 0 && now.st_dev == st.st_dev && now.st_ino == st.st_ino)
            close(atoi(d->d_name));
    closedir(all);
}

/* In place of the C library's: the last thing that is done to a ring before it is touched. */
int madvise(void *at, size_t bytes, int advice)
{
    if (cuts_next && truncate(rings.path, 0) == 0)
        cuts_next = false;
    if (closes_next > 0 && advice == MADV_RANDOM) {
        closes_next--;
        descriptors_close();
    }
    return (int)syscall(SYS_madvise, at, bytes, advice);
}

static void *cut_and_put(void *unused)
{
    cuts_next = true;
    put_number(STREAM_TRACK, 0, RECORD, 1);
    return unused;
}

static void *close_and_put(void *is_put)
{
    closes_next = 3;
    *(bool *)is_put = put_number(STREAM_TRACK, 0, RECORD, 1);
    return NULL;
}

static void a_program_that_closes_descriptors_while_a_ring_is_made_loses_nothing(void **state)
{
    pthread_t thread;
    bool is_put = false;
    collecting_start(NULL);
    put_patiently(0);
    pthread_create(&thread, NULL, close_and_put, &is_put);
    pthread_join(thread, NULL);
    assert_true(is_put);
    const struct writer_tally tally = collecting_stop();
    assert_int_equal(all_dropped(&tally), 0);
    assert_int_equal(n_reported, 0);
    assert_int_equal(count_numbers(folder), 2);
    (void)state;
}

static void a_ring_that_is_cut_while_it_is_made_ends_no_program(void **state)
{
    struct writer_tally tally;
    struct error e = { 0 };
    pthread_t thread;
    collecting_start(NULL);
    pthread_create(&thread, NULL, cut_and_put, NULL);
    pthread_join(thread, NULL);
    assert_true(atomic_load(&rings.is_gone));
    assert_false(writer_stop(&tally, &e));
    assert_true(tally.is_gone);
    rings_close();
    (void)state;
}

/* In a child: a SIGBUS that nobody meets is its end. */
static void child_goes_on(off_t to, bool grows_again)
{
    struct writer_tally tally;
    struct error e = { 0 };
    _Atomic bool stop = false;
    pthread_t thread[2];
    const struct sigaction own = { .sa_sigaction = on_my_bus_error, .sa_flags = SA_SIGINFO };
    sigaction(SIGBUS, &own, NULL);
    quiet_folder(NULL);
    collecting_start(NULL);
    for (size_t i = 0; i < ROWS(thread); i++)
        pthread_create(&thread[i], NULL, put_until_stopped, &stop);
    put_patiently(0);
    while (atomic_load(&n_putting) < ROWS(thread))
        sched_yield();
    writer_flush(&tally, &e);
    struct stat st;
    if (stat(rings.path, &st) != 0 || truncate(rings.path, to) != 0 ||
        (grows_again && truncate(rings.path, st.st_size) != 0))
        _exit(1);
    while (!atomic_load(&rings.is_gone)) { /* whoever meets it first */
        put_number(STREAM_CALL, 0, RECORD, 1);
        writer_flush(&tally, &e);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < ROWS(thread); i++)
        pthread_join(thread[i], NULL);
    if (ring_session() != 0 || put_number(STREAM_TRACK, 0, RECORD, 1))
        _exit(2);
    FILE *f = tmpfile();
    mine = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
    *(volatile uint8_t *)mine = 1; /* while the rings' handler stands before the program's */
    if (atomic_load(&n_mine) != 1)
        _exit(3);
    e = (struct error){ 0 };
    if (writer_stop(&tally, &e) || !strstr(e.text, RINGS_NAME) || !tally.is_gone || n_reported != 1)
        _exit(4);
    if (!strstr(reported, "Recording ends;"))
        _exit(5);
    rings_close();
    struct sigaction now;
    sigaction(SIGBUS, NULL, &now);
    if (now.sa_sigaction != on_my_bus_error)
        _exit(6);
    const uint64_t n = count_numbers(folder); /* what is in files is whole */
    folder_remove(NULL);
    _exit(n == 1 ? 0 : 7);
}

static void a_program_whose_rings_are_cut_short_goes_on(void **state)
{
    const off_t front = (off_t)sizeof(struct rings_front);
    const struct {
        const char *what;
        off_t to;
        bool grows_again;
    } row[] = {
        { "all of it", 0, false },
        { "all but the front", front, false },
        { "a part of a ring", front + (RING_BYTES / 2), false },
        { "emptied, and as long as before", 0, true },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        const pid_t child = child_fork();
        if (child == 0)
            child_goes_on(row[i].to, row[i].grows_again);
        child_end_well(child);
    }
    (void)state;
}

static void a_bad_address_of_the_program_ends_it_as_ever(void **state)
{
    folder_make(NULL);
    const pid_t child = child_fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        collecting_start(NULL);
        put_patiently(0);
        mprotect(rings.front, 1, PROT_NONE); /* in the process itself not even there */
        *(volatile uint8_t *)rings.front = 1;
        _exit(0);
    }
    child_end_by(child, SIGSEGV);
    folder_remove(NULL);
    (void)state;
}

static void a_bus_error_of_the_program_ends_it_as_ever(void **state)
{
    folder_make(NULL);
    const pid_t child = child_fork();
    if (child == 0) {
        signal(SIGBUS, SIG_DFL);
        setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
        collecting_start(NULL);
        put_patiently(0);
        FILE *f = tmpfile();
        volatile uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0);
        *page = 1;
        _exit(0);
    }
    child_end_by(child, SIGBUS);
    folder_remove(NULL);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(however_a_process_ends_its_records_are_recovered),
        cmocka_unit_test_setup_teardown(a_collection_that_is_being_recorded_is_left_alone, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_forked_child_records_nothing_until_it_has_a_session, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(a_child_without_the_handlers_of_fork_records_nothing, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(a_child_that_is_made_during_a_record_ends_it_on_its_own, folder_make,
                                        folder_remove),
        cmocka_unit_test_setup_teardown(what_is_dropped_has_its_reason, quiet_folder, folder_remove),
        cmocka_unit_test(every_errno_has_a_reason),
        cmocka_unit_test_setup_teardown(without_a_thread_for_the_writer_nothing_stays_open, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_signal_handler_records, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_thousand_threads_come_and_go, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_file_that_may_not_grow_is_reported_once, quiet_folder, folder_remove),
        cmocka_unit_test_setup_teardown(a_full_disk_is_reported_once, quiet_folder, folder_remove),
        cmocka_unit_test_setup_teardown(without_room_for_a_ring_records_are_counted, quiet_folder, folder_remove),
        cmocka_unit_test_setup_teardown(a_directory_that_is_deleted_is_reported_once, quiet_folder, folder_remove),
        cmocka_unit_test_setup_teardown(a_ring_that_comes_during_a_look_is_no_damage, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(rings_that_are_cut_are_not_made_long_again, quiet_folder, folder_remove),
        cmocka_unit_test_setup_teardown(a_program_that_closes_descriptors_while_a_ring_is_made_loses_nothing,
                                        quiet_folder, folder_remove),
        cmocka_unit_test_setup_teardown(a_ring_that_is_cut_while_it_is_made_ends_no_program, quiet_folder,
                                        folder_remove),
        cmocka_unit_test(a_program_whose_rings_are_cut_short_goes_on),
        cmocka_unit_test(a_bus_error_of_the_program_ends_it_as_ever),
        cmocka_unit_test(a_bad_address_of_the_program_ends_it_as_ever),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
