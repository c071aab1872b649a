#include "collecting.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "collect/recover.h"

/* ---- killed at any moment ---- */

enum { THREADS = 3, NUMBERS_MOST = 1 << 20, RUNS = 200, RECORD = 64 };

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

static void killed_at_any_moment_every_record_is_there_once(void **state)
{
    uint64_t random = RANDOM_SEED, n_all = 0, n_recovered = 0;
    said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (unsigned run = 0; run < RUNS; run++) {
        folder_make(NULL);
        memset(said, 0, sizeof *said);
        memset(seen_end, 0, sizeof seen_end);
        const pid_t child = fork();
        if (child == 0) {
            child_records();
            _exit(0);
        }
        while (atomic_load(&said->n_put[0]) == 0)
            usleep(100);
        usleep((useconds_t)(random_next(&random) % 8000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);

        struct recovered r;
        struct error e = { 0 };
        if (collection_recover(folder, &r, &e) != RECOVERY_DONE)
            fail_msg("run %u: %s", run, e.text);
        assert_int_equal(r.n_damaged, 0);
        assert_false(file_exists(RINGS_NAME));
        for (size_t t = 0; t < ROWS(target); t++)
            see_stream(t);
        for (unsigned t = 0; t < THREADS; t++) {
            const uint64_t n = atomic_load(&said->n_put[t]);
            assert_in_range(seen_end[t], n, n + 1); /* one may be recorded and not yet said */
            for (uint64_t i = 0; i < seen_end[t]; i++)
                assert_int_equal(seen[t][i], 1);
            memset(seen[t], 0, seen_end[t]);
            n_all += n;
        }
        n_recovered += r.n_records;
        assert_int_equal(collection_recover(folder, &r, &e), RECOVERY_NOTHING);
        folder_remove(NULL);
    }
    print_message("  %u times killed: %llu records, %llu of them recovered\n", RUNS, (unsigned long long)n_all,
                  (unsigned long long)n_recovered);
    munmap(said, sizeof *said);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest test[] = {
        cmocka_unit_test(killed_at_any_moment_every_record_is_there_once),
    };
    return cmocka_run_group_tests(test, NULL, NULL);
}
