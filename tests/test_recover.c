#include "collecting.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "collect/recover.h"

/* ---- killed at a certain call ----
 * The calls by which files change, in place of the C library's: one of them, or the half of it, is the last thing that happens. */

static _Atomic int64_t calls_left = -1; /* below 0: never */
static bool dies_in_the_middle;

static bool is_last_call(void)
{
    return atomic_load(&calls_left) >= 0 && atomic_fetch_sub(&calls_left, 1) == 0;
}

static void die(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (is_last_call()) {
        if (dies_in_the_middle)
            syscall(SYS_write, fd, bytes, n / 2);
        die();
    }
    return syscall(SYS_write, fd, bytes, n);
}

int close(int fd)
{
    if (is_last_call())
        die();
    return (int)syscall(SYS_close, fd);
}

int unlink(const char *path)
{
    if (is_last_call())
        die();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int ftruncate(int fd, off_t bytes)
{
    if (is_last_call())
        die();
    return (int)syscall(SYS_ftruncate, fd, bytes);
}

int fchmod(int fd, mode_t mode) /* follows every file that is created */
{
    if (is_last_call())
        die();
    return (int)syscall(SYS_fchmod, fd, mode);
}

/* ---- killed at any moment ---- */

enum { THREADS = 3, NUMBERS_MOST = 1 << 20, KILLS = 200, RECORD = 64 };

/* What the child says that it has recorded, in memory that both see. */
static struct said {
    _Atomic uint64_t n_put[THREADS];
} * said;

static const struct {
    enum stream_id stream;
    unsigned device;
    const char *name; /* %u: the slice */
} target[] = {
    { STREAM_TORCH_OP, 0, "FRAMEWORK/torch.op_range" },
    { STREAM_TRACK, 0, "PROF_1/host/data/aging.compact.task_track.slice_%u" },
    { STREAM_PMU, 2, "PROF_1/device_2/data/ffts_profile.data.2.slice_%u" },
    { STREAM_LPM, 2, "PROF_1/device_2/data/lpmFreqConv.data.2.slice_%u" },
};

static void *put_numbers(void *thread)
{
    const uint64_t mine = (uint64_t)(uintptr_t)thread;
    for (uint64_t i = 0; i < NUMBERS_MOST;) {
        const size_t t = i % ROWS(target);
        if (!put_number(target[t].stream, target[t].device, RECORD, mine << 32 | i))
            continue; /* no room: the writer will make some */
        atomic_store(&said->n_put[mine], ++i);
    }
    return NULL;
}

static void child_records(void)
{
    pthread_t thread[THREADS];
    collecting_start(NULL);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, put_numbers, (void *)i);
    pause();
}

static uint8_t seen[THREADS][NUMBERS_MOST];
static uint64_t seen_end[THREADS];

static void see(const uint8_t *bytes, size_t n, size_t record_bytes)
{
    assert_int_equal(n % record_bytes, 0);
    for (size_t at = 0; at < n; at += record_bytes) {
        uint64_t number;
        memcpy(&number, bytes + at, sizeof number);
        assert_in_range(number >> 32, 0, THREADS - 1);
        const uint64_t thread = number >> 32, i = number & UINT32_MAX;
        assert_in_range(i, 0, NUMBERS_MOST - 1);
        assert_int_equal(seen[thread][i]++, 0);
        if (i >= seen_end[thread])
            seen_end[thread] = i + 1;
    }
}

/* Every slice, one behind the other, each with its marker. */
static void see_stream(size_t t)
{
    static uint8_t whole[64 << 20];
    size_t n = 0;
    for (unsigned slice = 0;; slice++) {
        char name[128], marker[160];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(name, sizeof name, target[t].name, slice);
#pragma GCC diagnostic pop
        const size_t got = file_text(name, whole + n, sizeof whole - n);
        if (got == SIZE_MAX)
            break;
        n += got;
        if (!strchr(target[t].name, '%'))
            break;
        snprintf(marker, sizeof marker, "%s.done", name);
        assert_true(file_exists(marker));
    }
    see(whole, n, stream_table[target[t].stream].bytes ? stream_table[target[t].stream].bytes : RECORD);
}

/* Every number that was said is there once, and at most one more of each thread. */
static void check_said(uint64_t *n_all)
{
    memset(seen_end, 0, sizeof seen_end);
    for (size_t t = 0; t < ROWS(target); t++)
        see_stream(t);
    for (unsigned t = 0; t < THREADS; t++) {
        const uint64_t n = atomic_load(&said->n_put[t]);
        assert_in_range(seen_end[t], n, n + 1); /* one may be recorded and not yet said */
        for (uint64_t i = 0; i < seen_end[t]; i++)
            assert_int_equal(seen[t][i], 1);
        memset(seen[t], 0, seen_end[t]);
        *n_all += n;
    }
}

/* One thread, a few looks of the writer, each with several slices. */
static void record_until_dead(int64_t last_call, bool in_the_middle)
{
    struct writer_tally tally;
    struct error e = { 0 };
    collecting_start(NULL);
    dies_in_the_middle = in_the_middle;
    atomic_store(&calls_left, last_call);
    for (uint64_t i = 0; i < 1000; i++) {
        while (!put_number(target[i % ROWS(target)].stream, target[i % ROWS(target)].device, RECORD, i))
            usleep(100);
        atomic_store(&said->n_put[0], i + 1);
        if (i % 150 == 0)
            writer_flush(&tally, &e);
    }
    writer_stop(&tally, &e);
    raise(SIGKILL); /* after the last marker, before the rings are gone */
}

static bool died(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void killed_at_any_call_every_record_is_there_once(void **state)
{
    uint64_t n_all = 0;
    unsigned n_deaths = 0, n_again = 0;
    said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (uint64_t n_before = 0, n_same = 0; n_same < 4; n_deaths++) { /* until later calls change nothing any more */
        folder_make(NULL);
        memset(said, 0, sizeof *said);
        pid_t child = fork();
        if (child == 0)
            record_until_dead(n_deaths, n_deaths % 2);
        assert_true(died(child));
        bool is_done = false;
        for (int64_t last = n_deaths % 7; !is_done; last = last * 2 + 5, n_again++) { /* recovery is killed, too, and again */
            child = fork();
            if (child == 0) {
                struct recovered r;
                struct error e = { 0 };
                dies_in_the_middle = true;
                atomic_store(&calls_left, last);
                const enum recovery how = collection_recover(folder, &r, &e);
                _exit(how == RECOVERY_FAILED || r.n_damaged > 0);
            }
            int status;
            waitpid(child, &status, 0);
            is_done = WIFEXITED(status);
            assert_int_equal(is_done ? WEXITSTATUS(status) : 0, 0);
        }
        assert_false(file_exists(RINGS_NAME));
        check_said(&n_all);
        const uint64_t n = atomic_load(&said->n_put[0]);
        n_same = n == n_before && n == 1000 ? n_same + 1 : 0;
        n_before = n;
        folder_remove(NULL);
    }
    print_message("  %u calls were the last: %llu records; %u recoveries\n", n_deaths, (unsigned long long)n_all,
                  n_again);
    munmap(said, sizeof *said);
    (void)state;
}

static void killed_at_any_moment_every_record_is_there_once(void **state)
{
    const char *kills = getenv("ASCOPE_KILLS"), *seed = getenv("ASCOPE_SEED"); /* make torture has more of them */
    const unsigned n_kills = kills ? (unsigned)atoi(kills) : KILLS;
    uint64_t random = RANDOM_SEED + (seed ? (uint64_t)atoi(seed) : 0), n_all = 0, n_recovered = 0;
    said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned run = 0; run < n_kills; run++) {
        folder_make(NULL);
        memset(said, 0, sizeof *said);
        const pid_t child = fork();
        if (child == 0) {
            child_records();
            _exit(0);
        }
        while (atomic_load(&said->n_put[0]) == 0)
            usleep(100);
        usleep((useconds_t)(random_next(&random) % (run % 4 ? 8000 : 200)));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);

        struct recovered r;
        struct error e = { 0 };
        if (collection_recover(folder, &r, &e) != RECOVERY_DONE)
            fail_msg("run %u: %s", run, e.text);
        assert_int_equal(r.n_damaged, 0);
        assert_false(file_exists(RINGS_NAME));
        check_said(&n_all);
        n_recovered += r.n_records;
        assert_int_equal(collection_recover(folder, &r, &e), RECOVERY_NOTHING);
        folder_remove(NULL);
    }
    print_message("  %u times killed: %llu records, %llu of them recovered\n", n_kills, (unsigned long long)n_all,
                  (unsigned long long)n_recovered);
    munmap(said, sizeof *said);
    (void)state;
}

/* ---- rings that nobody should trust ---- */

static uint8_t *left; /* a rings file as a killed program left it */
static size_t left_bytes;

static int leave_rings(void **state)
{
    folder_make(state);
    const pid_t child = fork();
    if (child == 0) {
        collecting_start(NULL);
        struct writer_tally tally;
        struct error e = { 0 };
        for (uint64_t i = 0; i < 100; i++)
            put_number(target[i % ROWS(target)].stream, target[i % ROWS(target)].device, RECORD, i);
        writer_flush(&tally, &e);
        ring_range_open(1, "head", 4, "text", 4);
        for (uint64_t i = 100; i < 200; i++)
            put_number(target[i % ROWS(target)].stream, target[i % ROWS(target)].device, RECORD, i);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    left = malloc(4 << 20);
    left_bytes = file_text(RINGS_NAME, left, 4 << 20);
    return folder_remove(state);
}

static int forget_rings(void **state)
{
    (void)state;
    free(left);
    return 0;
}

/* In a collection of its own, whose other files are gone. */
static enum recovery recover_bytes(const uint8_t *bytes, size_t n, struct recovered *r)
{
    struct error e = { 0 };
    folder_make(NULL);
    mkdir(folder_path("FRAMEWORK"), 0750);
    mkdir(folder_path("PROF_1"), 0750);
    FILE *f = fopen(folder_path(RINGS_NAME), "wb");
    for (size_t at = 0; at < n; at += 4096) { /* most of it is zeros */
        static const uint8_t zeros[4096];
        const size_t part = n - at < 4096 ? n - at : 4096;
        fseek(f, (long)at, SEEK_SET);
        if (memcmp(bytes + at, zeros, part) != 0)
            fwrite(bytes + at, 1, part, f);
    }
    fflush(f);
    assert_int_equal(ftruncate(fileno(f), (off_t)n), 0);
    fclose(f);
    const enum recovery how = collection_recover(folder, r, &e);
    if (how == RECOVERY_FAILED ? !*e.text || !file_exists(RINGS_NAME) : how != RECOVERY_DONE || file_exists(RINGS_NAME))
        fail_msg("ended with %d, \"%s\"", how, e.text);
    folder_remove(NULL);
    return how;
}

static void rings_that_end_early_give_what_they_have(void **state)
{
    struct recovered r;
    recover_bytes(left, left_bytes, &r);
    assert_in_range(r.n_records, 100, 200); /* the writer may have taken some of the second hundred */
    assert_int_equal(r.open_ranges, 1);
    uint64_t most = 0;
    for (size_t n = 0; n < left_bytes; n += n < 512 ? 37 : 4096 - n % 4096 / 8) {
        assert_true(recover_bytes(left, n, &r) == RECOVERY_DONE || n >= sizeof(uint64_t));
        assert_in_range(r.n_records, most, 200); /* more bytes, no fewer records */
        most = r.n_records;
    }
    (void)state;
}

static void every_byte_of_the_rings_may_be_anything(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE),
                 rings_at = (sizeof(struct rings_header) + page - 1) / page * page;
    const size_t commit = offsetof(struct rings_header, commit), each = sizeof(struct rings_commit);
    uint64_t lane_at;
    memcpy(&lane_at, left + offsetof(struct rings_header, layout.lane_at), sizeof lane_at);
    const struct {
        const char *what;
        size_t at, bytes;
    } row[] = {
        { "header", 0, commit },
        { "commit A", commit, offsetof(struct rings_commit, output) },
        { "commit B", commit + each, offsetof(struct rings_commit, output) },
        { "files of commit A", commit + offsetof(struct rings_commit, output), 5 * sizeof(struct output_state) },
        { "files of commit B", commit + each + offsetof(struct rings_commit, output), 5 * sizeof(struct output_state) },
        { "tails of commit A", commit + offsetof(struct rings_commit, tail), 32 },
        { "tails of commit B", commit + each + offsetof(struct rings_commit, tail), 32 },
        { "a ring", rings_at, sizeof(struct ring_shared) },
        { "open ranges", rings_at + (sizeof(struct ring_shared) + page - 1) / page * page, 32 },
        { "records", rings_at + lane_at, 400 },
    };
    static const uint8_t change[] = { 0xFF, 0x01, 0x80 };
    unsigned n_done = 0, n_failed = 0;
    for (size_t i = 0; i < ROWS(row); i++) {
        print_message("  %s\n", row[i].what);
        for (size_t k = 0; k < row[i].bytes * ROWS(change); k++) {
            uint8_t *byte = left + row[i].at + k / ROWS(change), was = *byte;
            struct recovered r;
            *byte ^= change[k % ROWS(change)];
            recover_bytes(left, left_bytes, &r) == RECOVERY_DONE ? n_done++ : n_failed++;
            *byte = was;
        }
    }
    print_message("  %u recovered, %u refused\n", n_done, n_failed);
    (void)state;
}

static void a_link_for_rings_is_followed_to_rings_only(void **state)
{
    struct recovered r;
    struct error e = { 0 };
    char elsewhere[] = "/tmp/ascope-rings-XXXXXX";
    mkdir(folder_path("FRAMEWORK"), 0750);
    mkdir(folder_path("PROF_1"), 0750);
    const int fd = mkstemp(elsewhere);
    assert_int_equal(symlink(elsewhere, folder_path(RINGS_NAME)), 0);
    assert_int_equal(write(fd, "a letter", 8), 8);
    assert_int_equal(collection_recover(folder, &r, &e), RECOVERY_FAILED);
    assert_int_equal(access(elsewhere, F_OK), 0);
    e = (struct error){ 0 };
    assert_int_equal(pwrite(fd, left, left_bytes, 0), left_bytes);
    assert_int_equal(collection_recover(folder_path("PROF_1"), &r, &e), RECOVERY_DONE); /* asked for from inside */
    assert_int_not_equal(access(elsewhere, F_OK), 0);
    assert_false(file_exists(RINGS_NAME));
    assert_true(file_exists("PROF_1/host/data/aging.compact.task_track.slice_0.done"));
    close(fd);
    (void)state;
}

static void facts_say_that_it_was_recovered(void **state)
{
    char text[2000] = "";
    struct recovered r;
    struct error e = { 0 };
    mkdir(folder_path("FRAMEWORK"), 0750);
    mkdir(folder_path("PROF_1"), 0750);
    FILE *f = fopen(folder_path(RINGS_NAME), "wb");
    fwrite(left, 1, left_bytes, f);
    fclose(f);
    f = fopen(folder_path("ascope.json"), "wb");
    fputs("{\"ended\": \"running\", \"device\": \"sim\", \"clock\": {\"mhz\": 1000.0}}", f);
    fclose(f);
    assert_int_equal(collection_recover(folder, &r, &e), RECOVERY_DONE);
    file_text("ascope.json", text, sizeof text - 1);
    static const char *const wanted[] = { "\"ended\": \"recovered\"", "\"device\": \"sim\"", "\"records\": 200",
                                          "\"open_ranges\": 1",       "\"threads\": 1",      "\"dropped\": []" };
    for (size_t i = 0; i < ROWS(wanted); i++)
        if (!strstr(text, wanted[i]))
            fail_msg("%s is not in %s", wanted[i], text);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest hostile[] = {
        cmocka_unit_test(rings_that_end_early_give_what_they_have),
        cmocka_unit_test(every_byte_of_the_rings_may_be_anything),
        cmocka_unit_test_setup_teardown(a_link_for_rings_is_followed_to_rings_only, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(facts_say_that_it_was_recovered, folder_make, folder_remove),
    };
    const struct CMUnitTest test[] = {
        cmocka_unit_test(killed_at_any_call_every_record_is_there_once),
        cmocka_unit_test(killed_at_any_moment_every_record_is_there_once),
    };
    const int n_failed = cmocka_run_group_tests(hostile, leave_rings, forget_rings);
    return n_failed + cmocka_run_group_tests(test, NULL, NULL);
}
