/* SPDX-License-Identifier: Apache-2.0 */
#include "collecting.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "child.h"
#include "collect/session/recover.h"
#include "full_disk.h"
#include "worked.h"

/* ---- killed at a certain call ---- The calls by which files change, in place of the C library's: one of them, or the
 * half of it, is the last thing that happens. */

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

static _Atomic bool holds_writer; /* what its thread writes from now on reaches no file, and is never committed */

ssize_t write(int fd, const void *bytes, size_t n)
{
    while (atomic_load(&holds_writer) && gettid() != getpid())
        pause();
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

int unlinkat(int dir, const char *path, int flags)
{
    if (is_last_call())
        die();
    return (int)syscall(SYS_unlinkat, dir, path, flags);
}

int unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
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
        if (!put_number(target[t].stream, target[t].device, RECORD, mine << 32 | i)) {
            if (ring_session() == 0)
                _exit(1); /* there never will be room: the writer says why */
            continue;     /* no room: the writer will make some */
        }
        atomic_store(&said->n_put[mine], ++i);
    }
    return NULL;
}

static void child_records(bool on_full_disk)
{
    pthread_t thread[THREADS];
    collecting_start(NULL);
    atomic_store(&disk_is_full, on_full_disk);
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
        for (; !put_number(target[i % ROWS(target)].stream, target[i % ROWS(target)].device, RECORD, i); usleep(100))
            if (ring_session() == 0)
                _exit(1); /* the writer says why */
        atomic_store(&said->n_put[0], i + 1);
        if (i % 150 == 0)
            writer_flush(&tally, &e);
    }
    writer_stop(&tally, &e);
    writer_leave(true);
    raise(SIGKILL); /* after the last marker, before the rings are gone */
}

static void killed_at_any_call_every_record_is_there_once(void **state)
{
    uint64_t n_all = 0;
    unsigned n_deaths = 0, n_again = 0;
    const unsigned step = test_stride(5);
    said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (uint64_t n_before = 0, n_same = 0; n_same < 4; n_deaths++) { /* until later calls change nothing any more */
        const int64_t last_call = n_deaths * step;
        folder_make(NULL);
        memset(said, 0, sizeof *said);
        pid_t child = child_fork();
        if (child == 0)
            record_until_dead(last_call, n_deaths % 2);
        child_end_by(child, SIGKILL);
        bool is_done = false;
        for (int64_t last = n_deaths % 7; !is_done;
             last = last * 2 + 5, n_again++) { /* recovery is killed, too, and again */
            child = child_fork();
            if (child == 0) {
                struct recovered r;
                struct error e = { 0 };
                dies_in_the_middle = true;
                atomic_store(&calls_left, last);
                const enum recovery how = collection_recover(folder, &r, &e);
                _exit(how == RECOVERY_FAILED || r.n_damaged > 0);
            }
            const int status = child_end(child);
            is_done = WIFEXITED(status);
            if (is_done ? WEXITSTATUS(status) != 0 : WTERMSIG(status) != SIGKILL)
                child_fail(status);
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
    const unsigned n_kills = kills ? (unsigned)atoi(kills) : KILLS / test_stride(5);
    uint64_t random = RANDOM_SEED + (seed ? (uint64_t)atoi(seed) : 0), n_all = 0, n_recovered = 0;
    said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned run = 0; run < n_kills; run++) {
        folder_make(NULL);
        memset(said, 0, sizeof *said);
        const pid_t child = child_fork();
        if (child == 0) {
            child_records(run % 3 == 2);
            _exit(0);
        }
        for (; atomic_load(&said->n_put[0]) == 0; usleep(100))
            child_runs(child);
        usleep((useconds_t)(random_next(&random) % (run % 4 ? 8000 : 200)));
        kill(child, SIGKILL);
        child_end_by(child, SIGKILL);

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

enum { WRITTEN = 100, LEFT = 100 };

static uint8_t *left; /* a rings file as a killed program left it: LEFT records that are in no file */
static size_t left_bytes;
static struct {
    uint8_t bytes[8192]; /* WRITTEN records, in all of them */
    size_t n;
} written[ROWS(target)];

static void target_name(size_t t, unsigned slice, char name[128])
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(name, 128, target[t].name, slice);
#pragma GCC diagnostic pop
}

static void child_leaves(void)
{
    struct writer_tally tally;
    struct error e = { 0 };
    collecting_start(NULL);
    for (uint64_t i = 0; i < WRITTEN; i++)
        put_number(target[i % ROWS(target)].stream, target[i % ROWS(target)].device, RECORD, i);
    writer_flush(&tally, &e);
    atomic_store(&holds_writer, true);
    ring_range_open(1, "head", 4, "text", 4);
    for (uint64_t i = WRITTEN; i < WRITTEN + LEFT; i++)
        put_number(target[i % ROWS(target)].stream, target[i % ROWS(target)].device, RECORD, i);
    raise(SIGKILL);
}

static int leave_rings(void **state)
{
    folder_make(state);
    const pid_t child = child_fork();
    if (child == 0)
        child_leaves();
    child_end_by(child, SIGKILL);
    left = malloc(4 << 20);
    left_bytes = file_text(RINGS_NAME, left, 4 << 20);
    for (size_t t = 0; t < ROWS(target); t++) {
        char name[128];
        target_name(t, 0, name);
        written[t].n = file_text(name, written[t].bytes, sizeof written[t].bytes);
    }
    return folder_remove(state);
}

static int forget_rings(void **state)
{
    (void)state;
    free(left);
    return 0;
}

static void file_put(const char *name, const void *bytes, size_t n)
{
    FILE *f = fopen(folder_path(name), "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        fail_msg("%s", name);
}

/* The collection as the killed program left it, with other rings; NULL: without. */
static int collection_make(const uint8_t *bytes, size_t n)
{
    static const char *const dirs[] = { "FRAMEWORK",        "PROF_1",          "PROF_1/host",
                                        "PROF_1/host/data", "PROF_1/device_2", "PROF_1/device_2/data" };
    folder_make(NULL);
    for (size_t i = 0; i < ROWS(dirs); i++)
        mkdir(folder_path(dirs[i]), 0750);
    for (size_t t = 0; t < ROWS(target); t++) {
        char name[128];
        target_name(t, 0, name);
        file_put(name, written[t].bytes, written[t].n);
    }
    collecting_facts(SESSION_ID);
    const int fd = bytes ? open(folder_path(RINGS_NAME), O_RDWR | O_CREAT | O_EXCL, 0640) : -1;
    for (size_t at = 0; bytes && at < n; at += 4096) { /* most of it is zeros */
        static const uint8_t zeros[4096];
        const size_t part = n - at < 4096 ? n - at : 4096;
        if (memcmp(bytes + at, zeros, part) != 0)
            assert_int_equal(pwrite(fd, bytes + at, part, (off_t)at), part);
    }
    assert_true(fd < 0 || (ftruncate(fd, (off_t)n) == 0 && close(fd) == 0));
    return 0;
}

/* How many records the files hold: each is one that was put, as it was put, and there once; those that were written are
 * there. */
static uint64_t records_check(void)
{
    uint8_t is_there[WRITTEN + LEFT] = { 0 };
    uint64_t n_all = 0;
    for (size_t t = 0; t < ROWS(target); t++) {
        static uint8_t have[1 << 16];
        const size_t fixed = stream_table[target[t].stream].bytes, each = fixed > RECORD ? fixed : RECORD;
        char name[128];
        size_t n = 0, got;
        for (unsigned slice = 0; slice == 0 || strchr(target[t].name, '%'); slice++, n += got) {
            target_name(t, slice, name);
            if ((got = file_text(name, have + n, sizeof have - n)) == SIZE_MAX)
                break;
        }
        assert_int_equal(n % each, 0);
        for (size_t at = 0; at < n; at += each, n_all++) {
            uint64_t number;
            memcpy(&number, have + at, sizeof number);
            assert_in_range(number, 0, WRITTEN + LEFT - 1);
            assert_int_equal(number % ROWS(target), t);
            assert_int_equal(is_there[number]++, 0);
            for (size_t i = sizeof number; i < RECORD; i++)
                assert_int_equal(have[at + i], 0xEE);
        }
    }
    for (size_t i = 0; i < WRITTEN; i++)
        assert_int_equal(is_there[i], 1);
    return n_all;
}

/* Whatever became of the rings: every record is there, or what is missing is counted; and files have lost nothing. */
static enum recovery recover_bytes(const uint8_t *bytes, size_t n, struct recovered *r)
{
    struct error e = { 0 };
    collection_make(bytes, n);
    const enum recovery how = collection_recover(folder, r, &e);
    const bool is_refused = how == RECOVERY_FAILED || how == RECOVERY_LOST;
    if (is_refused ? !*e.text || file_exists(RINGS_NAME) != (bytes != NULL)
                   : how != RECOVERY_DONE || file_exists(RINGS_NAME))
        fail_msg("ended with %d, \"%s\"", how, e.text);
    const uint64_t n_there = records_check();
    assert_int_equal(n_there, WRITTEN + r->n_records);
    if (!is_refused && r->n_damaged == 0)
        assert_int_equal(n_there, WRITTEN + LEFT);
    folder_remove(NULL);
    return how;
}

static void rings_that_end_early_give_what_they_have(void **state)
{
    struct recovered r;
    assert_int_equal(recover_bytes(left, left_bytes, &r), RECOVERY_DONE);
    assert_int_equal(r.n_records, LEFT);
    assert_int_equal(r.n_damaged, 0);
    assert_int_equal(r.open_ranges, 1);
    uint64_t most = 0;
    for (size_t n = 0; n < left_bytes; n += n < 512 ? 37 : 4096 - n % 4096 / 8) {
        const enum recovery how = recover_bytes(left, n, &r);
        if (how == RECOVERY_DONE && r.n_damaged == 0)
            fail_msg("%zu of %zu bytes were taken for all of them", n, left_bytes);
        assert_in_range(r.n_records, most, LEFT); /* more bytes, no fewer records */
        most = r.n_records;
    }
    (void)state;
}

/* Where something lies in the file. */
static struct {
    const char *what;
    size_t at, bytes;
    bool is_twice;    /* so that nothing is lost with it */
    bool has_records; /* that are all alike */
} part[12];

static void parts_find(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), ring = (sizeof(struct rings_front) + page - 1) / page * page;
    const size_t head = offsetof(struct rings_commit, output) + 5 * sizeof(struct output_state);
    struct rings_layout layout;
    memcpy(&layout, left + offsetof(struct rings_front, header.layout), sizeof layout);
    size_t n = 0;
    part[n++] = (typeof(*part)){ "header", 0, sizeof(struct rings_header), true, false };
    part[n++] = (typeof(*part)){ "header again", offsetof(struct rings_front, header_again),
                                 sizeof(struct rings_header), true, false };
    for (size_t copy = 0; copy < RINGS_COPIES; copy++)
        for (size_t turn = 0; turn < RINGS_TURNS; turn++) {
            const size_t at =
                offsetof(struct rings_front, commit) + (copy * RINGS_TURNS + turn) * sizeof(struct rings_commit);
            part[n++] = (typeof(*part)){ "a commit", at, head, true, false };
            part[n++] = (typeof(*part)){ "its tails", at + offsetof(struct rings_commit, tail), 32, true, false };
        }
    part[n++] = (typeof(*part)){ "a ring", ring, sizeof(struct ring_shared), false, false };
    part[n++] = (typeof(*part)){ "records", ring + layout.lane_at[0], (WRITTEN + LEFT) * 80, false, true };
}

static void every_byte_of_the_rings_may_be_anything(void **state)
{
    unsigned n_done = 0, n_damaged = 0;
    const unsigned step = test_stride(7);
    const size_t each = 4 * ROWS(target) * 80; /* of the records; then one byte in eleven */
    parts_find();
    for (size_t i = 0; i < ROWS(part); i++) {
        print_message("  %s\n", part[i].what);
        for (size_t k = 0; k < part[i].bytes; k += !part[i].has_records || k < each ? step : 11 * step) {
            uint8_t *byte = left + part[i].at + k, was = *byte;
            struct recovered r;
            *byte ^= (uint8_t)(k % 9 == 8 ? 0xFF : 1 << k % 9);
            assert_int_equal(recover_bytes(left, left_bytes, &r), RECOVERY_DONE);
            *byte = was;
            if (part[i].is_twice)
                assert_int_equal(r.n_damaged, 0);
            r.n_damaged > 0 ? n_damaged++ : n_done++;
        }
    }
    assert_true(n_damaged > 0);
    print_message("  %u recovered all, %u reported a loss\n", n_done, n_damaged);
    (void)state;
}

static void a_part_that_is_zeros_is_a_loss_or_none(void **state)
{
    struct recovered r;
    uint8_t *copy = malloc(left_bytes);
    parts_find();
    for (size_t i = 0; i < ROWS(part); i++) {
        print_message("  %s\n", part[i].what);
        memcpy(copy, left, left_bytes);
        memset(copy + part[i].at, 0, part[i].bytes);
        assert_int_equal(recover_bytes(copy, left_bytes, &r), RECOVERY_DONE);
        assert_int_equal(r.n_damaged == 0, part[i].is_twice);
    }
    print_message("  any page\n");
    for (size_t at = 0; at + 4096 <= left_bytes; at += 4096) {
        memcpy(copy, left, left_bytes);
        memset(copy + at, 0, 4096);
        recover_bytes(copy, left_bytes, &r);
    }
    print_message("  all of it\n");
    memset(copy, 0, left_bytes);
    assert_int_equal(recover_bytes(copy, left_bytes, &r), RECOVERY_LOST);
    assert_int_equal(recover_bytes(copy, 0, &r), RECOVERY_LOST);
    assert_int_equal(recover_bytes(NULL, 0, &r), RECOVERY_LOST);
    free(copy);
    (void)state;
}

/* The last commit is gone, and with it where the files were: they stay as they are. */
static void without_the_last_commit_no_file_is_cut(void **state)
{
    struct recovered r;
    uint8_t *copy = malloc(left_bytes);
    for (size_t turn = 0; turn < RINGS_TURNS; turn++) {
        memcpy(copy, left, left_bytes);
        for (size_t k = 0; k < RINGS_COPIES; k++)
            copy[offsetof(struct rings_front, commit) + (k * RINGS_TURNS + turn) * sizeof(struct rings_commit) + 16] ^=
                1;
        assert_int_equal(recover_bytes(copy, left_bytes, &r), RECOVERY_LOST);
    }
    free(copy);
    (void)state;
}

/* ---- rings of somebody else, and files that are not what they seem ---- */

static void unchanged(const char *wanted, enum recovery how)
{
    struct recovered r;
    struct error e = { 0 };
    print_message("  %s\n", wanted);
    assert_int_equal(collection_recover(folder, &r, &e), how);
    assert_int_equal(e.fault == FAULT_NONE, how == RECOVERY_NOTHING);
    if (*wanted && how != RECOVERY_NOTHING && !strstr(e.text, wanted))
        fail_msg("\"%s\" is not in \"%s\"", wanted, e.text);
    assert_int_equal(records_check(), WRITTEN);
}

static void rings_that_are_not_the_collections_are_left_alone(void **state)
{
    char elsewhere[] = "/tmp/ascope-rings-XXXXXX";
    const int fd = mkstemp(elsewhere);
    assert_int_equal(pwrite(fd, left, left_bytes, 0), left_bytes);
    collection_make(NULL, 0);
    assert_int_equal(symlink(elsewhere, folder_path(RINGS_NAME)), 0);
    unchanged("symbolic link", RECOVERY_FAILED);
    assert_int_equal(ftruncate(fd, 0), 0); /* "never used" was once a reason to remove what it points to */
    unchanged("symbolic link", RECOVERY_FAILED);
    assert_int_equal(access(elsewhere, F_OK), 0);
    close(fd);
    unlink(elsewhere);
    unlink(folder_path(RINGS_NAME));
    mkfifo(folder_path(RINGS_NAME), 0640);
    unchanged("not a regular file", RECOVERY_FAILED);
    assert_true(file_exists(RINGS_NAME));
    folder_remove(NULL);

    collection_make(left, left_bytes);
    collecting_facts("00112233445566778899AABBCCDDEEF0");
    unchanged("a different recording", RECOVERY_FAILED);
    unlink(folder_path("ascope.json"));
    unchanged("ascope.json is missing", RECOVERY_FAILED);
    static const char ended[] = "{\"ended\": \"stop\", \"session\": \"00112233445566778899AABBCCDDEEF0\"}";
    file_put("ascope.json", ended, sizeof ended - 1);
    unchanged("ended, and another recording's rings stay", RECOVERY_NOTHING);
    assert_true(file_exists(RINGS_NAME));
    static const char ours[] = "{\"ended\": \"stop\", \"session\": \"" SESSION_ID "\"}";
    file_put("ascope.json", ours, sizeof ours - 1);
    unchanged("ended, and its own rings go", RECOVERY_NOTHING);
    assert_false(file_exists(RINGS_NAME));
    folder_remove(NULL);

    uint32_t version = 1;
    memcpy(left + offsetof(struct rings_header, version), &version, sizeof version);
    memset(left + offsetof(struct rings_front, header_again), 0,
           sizeof(struct rings_header)); /* it had no such thing */
    collection_make(left, left_bytes);
    unchanged("another version", RECOVERY_FAILED);
    assert_true(file_exists(RINGS_NAME));
    memcpy(left + offsetof(struct rings_header, version), &(uint32_t){ RINGS_VERSION }, sizeof version);
    memcpy(left + offsetof(struct rings_front, header_again), left, sizeof(struct rings_header));
    folder_remove(NULL);
    (void)state;
}

static void version_set(uint32_t version)
{
    struct rings_header h;
    memcpy(&h, left, sizeof h);
    h.version = version;
    h.check = header_check(&h);
    memcpy(left, &h, sizeof h);
    memcpy(left + offsetof(struct rings_front, header_again), &h, sizeof h);
}

static void rings_of_the_version_before_are_recovered(void **state)
{
    struct recovered r;
    version_set(RINGS_OLDEST);
    assert_int_equal(recover_bytes(left, left_bytes, &r), RECOVERY_DONE);
    version_set(RINGS_VERSION);
    assert_int_equal(r.n_records, LEFT);
    assert_int_equal(r.n_damaged, 0);
    (void)state;
}

static void the_folder_above_is_asked_only_if_it_is_the_session(void **state)
{
    struct recovered r;
    struct error e = { 0 };
    char above[sizeof folder + 16];
    collection_make(left, left_bytes);
    assert_int_equal(collection_recover(folder_path("PROF_1"), &r, &e), RECOVERY_NOTHING);
    assert_int_equal(records_check(), WRITTEN);
    snprintf(above, sizeof above, "%s_ascend_pt", folder);
    assert_int_equal(rename(folder, above), 0);
    char inside[sizeof above + 8];
    snprintf(inside, sizeof inside, "%s/PROF_1", above);
    assert_int_equal(collection_recover(inside, &r, &e), RECOVERY_DONE);
    assert_int_equal(rename(above, folder), 0);
    assert_int_equal(records_check(), WRITTEN + LEFT);
    folder_remove(NULL);
    (void)state;
}

static void no_file_outside_is_written_to(void **state)
{
    static const struct {
        const char *what, *name, *text;
    } row[] = {
        { "a link where a slice is", "PROF_1/host/data/aging.compact.task_track.slice_0", "cannot be continued" },
        { "a link where a stream is", "FRAMEWORK/torch.op_range", "cannot be continued" },
        { "a folder elsewhere", "PROF_1/host/data", "" },
        { "a folder elsewhere, further up", "PROF_1/host", "" },
        { "all of them elsewhere", "PROF_1", "" },
        { "FRAMEWORK elsewhere", "FRAMEWORK", "" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct recovered r;
        struct error e = { 0 };
        char outside[sizeof folder + 16];
        print_message("  %s\n", row[i].what);
        collection_make(left, left_bytes);
        snprintf(outside, sizeof outside, "%s-outside", folder);
        assert_int_equal(rename(folder_path(row[i].name), outside), 0);
        struct stat before, after;
        assert_int_equal(stat(outside, &before), 0);
        assert_int_equal(symlink(outside, folder_path(row[i].name)), 0);
        const enum recovery how = collection_recover(folder, &r, &e);
        assert_true(how == RECOVERY_FAILED || r.n_damaged > 0 || r.n_records < LEFT);
        if (*row[i].text && !strstr(e.text, row[i].text))
            fail_msg("\"%s\"", e.text);
        assert_int_equal(stat(outside, &after), 0);
        assert_int_equal(before.st_size, after.st_size);
        assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec); /* of a folder: nothing came or went */
        unlink(folder_path(row[i].name));
        assert_int_equal(rename(outside, folder_path(row[i].name)), 0);
        if (S_ISDIR(after.st_mode))
            records_check();
        folder_remove(NULL);
    }
    (void)state;
}

static void of_others_only_what_is_theirs_is_touched(void **state)
{
    enum { SOMEBODY = 12345, ANOTHER = 12346 };
    if (geteuid() != 0)
        skip();
    collection_make(left, left_bytes);
    assert_int_equal(chown(folder_path(RINGS_NAME), SOMEBODY, SOMEBODY), 0);
    unchanged("a different user", RECOVERY_FAILED);
    assert_true(file_exists(RINGS_NAME));
    folder_remove(NULL);

    for (int round = 0; round < 2; round++) {
        struct recovered r;
        struct error e = { 0 };
        struct stat st;
        char name[128];
        collection_make(left, left_bytes);
        assert_int_equal(chown(folder, SOMEBODY, SOMEBODY), 0);
        assert_int_equal(chown(folder_path(RINGS_NAME), SOMEBODY, SOMEBODY), 0);
        assert_int_equal(chown(folder_path("ascope.json"), SOMEBODY, SOMEBODY), 0);
        assert_int_equal(chown(folder_path("PROF_1"), SOMEBODY, SOMEBODY), 0);
        assert_int_equal(chown(folder_path("FRAMEWORK"), SOMEBODY, SOMEBODY), 0);
        for (size_t t = 0; t < ROWS(target); t++) {
            target_name(t, 0, name);
            assert_int_equal(chown(folder_path(name), round == 1 && t == 1 ? ANOTHER : SOMEBODY, SOMEBODY), 0);
        }
        const enum recovery how = collection_recover(folder, &r, &e);
        if (round == 1) { /* one of its files is another's: a hard link can bring it there */
            assert_int_equal(how, RECOVERY_FAILED);
            assert_non_null(strstr(e.text, "cannot be continued"));
            assert_int_equal(stat(folder_path("PROF_1/host/data/aging.compact.task_track.slice_0"), &st), 0);
            assert_int_equal(st.st_size, written[1].n);
        } else { /* what root has made is theirs */
            assert_int_equal(how, RECOVERY_DONE);
            assert_int_equal(stat(folder_path("PROF_1/host/data/aging.compact.task_track.slice_0.done"), &st), 0);
            assert_int_equal(st.st_uid, SOMEBODY);
            assert_int_equal(stat(folder_path("ascope.json"), &st), 0);
            assert_int_equal(st.st_uid, SOMEBODY);
        }
        folder_remove(NULL);
    }
    (void)state;
}

static void facts_say_that_it_was_recovered(void **state)
{
    char text[2000] = "";
    struct recovered r;
    struct error e = { 0 };
    collection_make(left, left_bytes);
    const uint64_t before = worked();
    assert_int_equal(collection_recover(folder, &r, &e), RECOVERY_DONE);
    assert_int_equal(worked() - before, left_bytes); /* for the progress bar */
    file_text("ascope.json", text, sizeof text - 1);
    static const char *const wanted[] = {
        "\"ended\": \"recovered\"", "\"device\": \"sim\"", "\"records\": 200", "\"open_ranges\": 1",
        "\"threads\": 1",           "\"dropped\": []",     "\"damaged\": 0"
    };
    for (size_t i = 0; i < ROWS(wanted); i++)
        if (!strstr(text, wanted[i]))
            fail_msg("%s is not in %s", wanted[i], text);
    folder_remove(NULL);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest hostile[] = {
        cmocka_unit_test(rings_that_end_early_give_what_they_have),
        cmocka_unit_test(every_byte_of_the_rings_may_be_anything),
        cmocka_unit_test(a_part_that_is_zeros_is_a_loss_or_none),
        cmocka_unit_test(without_the_last_commit_no_file_is_cut),
        cmocka_unit_test(rings_that_are_not_the_collections_are_left_alone),
        cmocka_unit_test(rings_of_the_version_before_are_recovered),
        cmocka_unit_test(the_folder_above_is_asked_only_if_it_is_the_session),
        cmocka_unit_test(no_file_outside_is_written_to),
        cmocka_unit_test(of_others_only_what_is_theirs_is_touched),
        cmocka_unit_test(facts_say_that_it_was_recovered),
    };
    const struct CMUnitTest test[] = {
        cmocka_unit_test(killed_at_any_call_every_record_is_there_once),
        cmocka_unit_test(killed_at_any_moment_every_record_is_there_once),
    };
    const int n_failed = cmocka_run_group_tests(hostile, leave_rings, forget_rings);
    return n_failed + cmocka_run_group_tests(test, NULL, NULL);
}
