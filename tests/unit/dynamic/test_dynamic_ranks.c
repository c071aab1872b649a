/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes that listen to one file, or to several: real ones, which are killed. */
#include "child.h"
#include "dynamic_job.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "dynamic/watch.h"

enum { RANKS = 4, COLLECTIONS = 8 };

/* What a rank does, in memory that it shares with the test. */
struct rank_state {
    _Atomic bool listens, quits, is_private;
    _Atomic unsigned n_begun, n_ended;
    int64_t began[COLLECTIONS], ended[COLLECTIONS];
};
static struct rank_state *ranks;
static pid_t pids[RANKS];

static bool rank_begin(const struct ascope_dynamic_request *r, void *of)
{
    struct rank_state *const s = of;
    s->began[s->n_begun % COLLECTIONS] = r->step;
    s->n_begun++;
    return true;
}

static void rank_step(void *of)
{
    (void)of;
}

static const char *rank_end(bool is_cut, void *of)
{
    struct rank_state *const s = of;
    (void)is_cut;
    s->ended[s->n_ended % COLLECTIONS] = ascope_dynamic_current_step();
    s->n_ended++;
    return NULL;
}

static void rank_message(enum ascope_severity severity, const char *text, void *of)
{
    struct rank_state *const s = of;
    (void)severity;
    if (strstr(text, "nothing is shared"))
        s->is_private = true;
}

static void rank_start(int i, const char *dir, const char *job, unsigned world)
{
    ranks[i] = (struct rank_state){ 0 };
    pids[i] = child_fork();
    if (pids[i] != 0) {
        AWAIT(ranks[i].listens);
        return;
    }
    const struct ascope_dynamic_setup setup = { .size = sizeof setup,
                                                .path = dir,
                                                .begin = rank_begin,
                                                .step = rank_step,
                                                .end = rank_end,
                                                .message = rank_message,
                                                .user = &ranks[i],
                                                .poll_ms = 5,
                                                .world_size = world,
                                                .job = job };
    char rank[16];
    snprintf(rank, sizeof rank, "%d", i);
    setenv("RANK", rank, 1);
    struct ascope_error e;
    if (!ascope_dynamic_init(&setup, &e))
        fail_msg("%s", e.text);
    ranks[i].listens = true;
    while (!ranks[i].quits) {
        ascope_dynamic_step();
        nanosleep(&(struct timespec){ .tv_nsec = 100000 * (1 + i) }, NULL); /* some are ahead */
    }
    ascope_dynamic_end();
    _exit(0);
}

static void rank_quit(int i)
{
    ranks[i].quits = true;
    child_end_well(pids[i]);
}

static void rank_kill(int i)
{
    kill(pids[i], SIGKILL);
    child_end_by(pids[i], SIGKILL);
}

static struct board_view *look_at(const char *dir)
{
    static struct board_view v;
    struct error e = { 0 };
    board_read(dir, ASCOPE_DYNAMIC_PYTORCH, &v, &e);
    return &v;
}

static int owner_of(const char *dir)
{
    const int32_t pid = look_at(dir)->owner_pid;
    for (int i = 0; i < RANKS; i++)
        if (pids[i] == pid)
            return i;
    return -1;
}

static const char *memory_path(const char *dir)
{
    static char path[PATH_MAX];
    char real[PATH_MAX];
    assert_non_null(realpath(dir, real));
    snprintf(path, sizeof path, BOARD_PLACE "/DynamicProfileNpuShm_u%u_%016llx", (unsigned)geteuid(),
             (unsigned long long)config_hash(real, strlen(real), 0));
    return path;
}

static void assert_same_steps(const int *who, size_t n, unsigned nth, int64_t active)
{
    for (size_t k = 0; k < n; k++)
        AWAIT(ranks[who[k]].n_ended > nth);
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(ranks[who[k]].began[nth], ranks[who[0]].began[nth]);
        assert_int_equal(ranks[who[k]].ended[nth], ranks[who[0]].began[nth] + active);
    }
}

static const int all_of_them[RANKS] = { 0, 1, 2, 3 };

static void ranks_start_in_the_same_step(void **state)
{
    for (int i = 0; i < RANKS; i++)
        rank_start(i, config_dir(), "job", 0);
    assert_int_equal(look_at(config_dir())->n_ranks, RANKS);
    print_message("  the next step: one for all of them\n");
    edit("{\"start_step\": -1, \"active\": 3}");
    assert_same_steps(all_of_them, RANKS, 0, 3);
    print_message("  chosen ones\n");
    edit("{\"start_step\": -1, \"active\": 2, \"is_rank\": true, \"rank_list\": [3, 1]}");
    assert_same_steps((const int[]){ 1, 3 }, 2, 1, 2);
    print_message("  a given step\n");
    char json[100];
    snprintf(json, sizeof json, "{\"start_step\": %lld, \"active\": 2}",
             (long long)look_at(config_dir())->rank[0].step + 3000);
    edit(json);
    for (int i = 0; i < RANKS; i++)
        AWAIT(is_delivered(config_id(), pids[i]));
    print_message("  and another one meanwhile, which a rank has passed: nobody starts, nor then\n");
    snprintf(json, sizeof json, "{\"start_step\": %lld}", (long long)look_at(config_dir())->rank[0].step);
    edit(json);
    const uint64_t id = config_id();
    for (int i = 0; i < RANKS; i++)
        AWAIT(look_at(config_dir())->rank[i].id == id && look_at(config_dir())->rank[i].fate == FATE_PASSED);
    assert_int_equal(ranks[0].n_begun, 1);
    assert_int_equal(ranks[1].n_begun, 2);
    for (int i = 0; i < RANKS; i++)
        rank_quit(i);
    assert_int_not_equal(access(memory_path(config_dir()), F_OK), 0);
    (void)state;
}

static void what_a_stopped_owner_missed_is_seen_when_it_continues(void **state)
{
    for (int i = 0; i < 2; i++)
        rank_start(i, config_dir(), "job", 0);
    const int owner = owner_of(config_dir());
    assert_in_range(owner, 0, 1);
    child_stop(pids[owner]);
    edit("{\"start_step\": -1, \"active\": 2}");
    assert_int_equal(owner_of(config_dir()), owner); /* its lock is held, and nobody else watches */
    assert_int_equal(kill(pids[owner], SIGCONT), 0);
    assert_same_steps(all_of_them, 2, 0, 2);
    for (int i = 0; i < 2; i++)
        rank_quit(i);
    (void)state;
}

static void the_others_take_over(void **state)
{
    for (int i = 0; i < RANKS; i++)
        rank_start(i, config_dir(), "job", 0);
    print_message("  the owner is killed\n");
    const int first = owner_of(config_dir());
    assert_in_range(first, 0, RANKS - 1);
    rank_kill(first);
    edit("{\"start_step\": -1, \"active\": 2}");
    int left[RANKS], n = 0;
    for (int i = 0; i < RANKS; i++)
        if (i != first)
            left[n++] = i;
    assert_same_steps(left, 3, 0, 2);
    assert_int_equal(look_at(config_dir())->n_ranks, 3);
    print_message("  the next one ends\n");
    AWAIT(owner_of(config_dir()) >= 0 && owner_of(config_dir()) != first);
    const int second = owner_of(config_dir());
    rank_quit(second);
    edit("{\"start_step\": -1, \"active\": 3}");
    n = 0;
    for (int i = 0; i < RANKS; i++)
        if (i != first && i != second)
            left[n++] = i;
    assert_same_steps(left, 2, 1, 3);
    print_message("  a new rank takes a free place\n");
    rank_start(first, config_dir(), "job", 0);
    assert_int_equal(look_at(config_dir())->n_ranks, 3);
    print_message("  all are killed: the next job uses what they left\n");
    for (int i = 0; i < RANKS; i++)
        if (i != second)
            rank_kill(i);
    assert_int_equal(access(memory_path(config_dir()), F_OK), 0);
    assert_int_equal(look_at(config_dir())->n_ranks, 0);
    rank_start(0, config_dir(), "job", 0);
    assert_int_equal(look_at(config_dir())->n_ranks, 1);
    edit("{\"start_step\": -1, \"active\": 1}");
    AWAIT(ranks[0].n_ended == 1);
    print_message("  one in another directory removes it\n");
    rank_kill(0);
    char other[600], left_path[PATH_MAX];
    snprintf(left_path, sizeof left_path, "%s", memory_path(config_dir()));
    assert_int_equal(access(left_path, F_OK), 0);
    snprintf(other, sizeof other, "%s/other", folder);
    rank_start(1, other, "job", 0);
    assert_int_not_equal(access(left_path, F_OK), 0);
    rank_quit(1);
    (void)state;
}

/* In the middle of writing what others read, too. */
static void the_owner_is_killed_at_any_moment(void **state)
{
    uint64_t random = RANDOM_SEED;
    for (unsigned round = 0; round < 12; round++) {
        char json[60];
        rank_start(0, config_dir(), "job", 0);
        rank_start(1, config_dir(), "job", 0);
        const int owner = owner_of(config_dir());
        assert_in_range(owner, 0, 1);
        for (uint64_t i = random_next(&random) % 200; i > 0; i--) {
            snprintf(json, sizeof json, "{\"start_step\": 0, \"active\": %u}", (unsigned)i + 1);
            edit(json);
        }
        rank_kill(owner);
        snprintf(json, sizeof json, "{\"start_step\": -1, \"active\": %u}", round + 1);
        edit(json);
        AWAIT(ranks[1 - owner].n_ended == 1);
        assert_int_equal(ranks[1 - owner].ended[0], ranks[1 - owner].began[0] + round + 1);
        rank_quit(1 - owner);
    }
    (void)state;
}

static void jobs_do_not_disturb_each_other(void **state)
{
    char other[600];
    snprintf(other, sizeof other, "%s/other", folder);
    rank_start(0, config_dir(), NULL, 0);
    rank_start(1, other, NULL, 0);
    assert_int_equal(look_at(config_dir())->n_ranks, 1);
    assert_int_equal(look_at(other)->n_ranks, 1);
    assert_int_equal(owner_of(other), 1);
    edit("{\"start_step\": -1}");
    AWAIT(ranks[0].n_ended == 1);
    edit("{\"start_step\": -1, \"active\": 2}");
    AWAIT(ranks[0].n_ended == 2);
    assert_int_equal(ranks[1].n_begun, 0);
    print_message("  two jobs in one directory: each in its own next step\n");
    rank_start(2, config_dir(), "another job", 0);
    edit("{\"start_step\": -1, \"active\": 3}");
    AWAIT(ranks[0].n_ended == 3 && ranks[2].n_ended == 1);
    print_message("  one is killed, the other goes on\n");
    rank_kill(0);
    edit("{\"start_step\": -1, \"active\": 2}");
    AWAIT(ranks[2].n_ended == 2);
    rank_quit(2);
    rank_quit(1);
    (void)state;
}

/* Beside the configuration. */
static const char *second_path(void)
{
    static char path[PATH_MAX];
    char real[PATH_MAX], host[HOST_NAME_BYTES];
    assert_non_null(realpath(config_dir(), real));
    host_status_name(host);
    snprintf(path, sizeof path, "%.3000s/" BOARD_PREFIX "DynamicProfileNpuShm_%s_u%u", real, host, (unsigned)geteuid());
    return path;
}

static void memory_of_others_is_not_used(void **state)
{
    static const char *const what[] = {
        "a file that others may write", "a link", "a FIFO", "a directory", "another user's file",
        "another name of a file"
    };
    assert_int_equal(mkdir(config_dir(), 0750), 0);
    char path[PATH_MAX], target[600], second[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s", memory_path(config_dir()));
    snprintf(target, sizeof target, "%s/target", folder);
    snprintf(second, sizeof second, "%s.second", path);
    for (size_t i = 0; i < ROWS(what); i++) {
        print_message("  %s\n", what[i]);
        if (i == 4 && geteuid() != 0) {
            print_message("  (left out: only root can make one)\n");
            continue;
        }
        const int fd = i == 1   ? open(target, O_RDWR | O_CREAT, 0600)
                       : i == 2 ? mkfifo(path, 0600)
                       : i == 3 ? mkdir(path, 0700)
                                : open(path, O_RDWR | O_CREAT, 0600);
        assert_true(fd >= 0);
        if (i == 0)
            assert_int_equal(fchmod(fd, 0666), 0);
        if (i == 1)
            assert_int_equal(symlink(target, path), 0);
        if (i == 4)
            assert_int_equal(fchown(fd, 54321, (gid_t)-1), 0);
        if (i == 5)
            assert_int_equal(link(path, second), 0);
        for (int r = 0; r < 2; r++) {
            rank_start(r, config_dir(), "job", 0);
            assert_false(ranks[r].is_private);
        }
        assert_int_equal(look_at(config_dir())->n_ranks, 2);
        edit(i % 2 ? "{\"start_step\": -1}" : "{\"start_step\": -1, \"active\": 2}");
        assert_same_steps(all_of_them, 2, 0, i % 2 ? 1 : 2);
        rank_quit(0);
        rank_quit(1);
        assert_int_not_equal(access(second_path(), F_OK), 0);
        struct stat st;
        assert_int_equal(lstat(path, &st), 0); /* it is somebody's */
        assert_int_equal(i == 1 ? stat(target, &st) == 0 ? st.st_size : -1 : i == 0 || i >= 4 ? st.st_size : 0, 0);
        if (i != 2 && i != 3)
            close(fd);
        assert_int_equal(remove(path), 0);
        assert_int_equal(remove(second) == 0, i == 5);
    }

    print_message("  where ranks are, others join, also when the first place is free again\n");
    assert_int_equal(mkdir(path, 0700), 0);
    rank_start(0, config_dir(), "job", 0);
    assert_int_equal(rmdir(path), 0);
    rank_start(1, config_dir(), "job", 0);
    assert_int_equal(look_at(config_dir())->n_ranks, 2);
    rank_kill(0);
    rank_kill(1);
    assert_int_equal(access(second_path(), F_OK), 0);
    rank_start(0, config_dir(), "job", 0); /* which removes what a killed job left there */
    assert_int_not_equal(access(second_path(), F_OK), 0);
    rank_quit(0);

    print_message("  both places: each rank by itself\n");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(symlink(folder, second_path()), 0);
    rank_start(0, config_dir(), "job", 0);
    assert_true(ranks[0].is_private);
    edit("{\"start_step\": -1, \"active\": 2}");
    AWAIT(ranks[0].n_ended == 1);
    rank_quit(0);
    assert_int_equal(remove(path), 0);
    (void)state;
}

/* In a folder that others write to, too: nothing is written through a name that somebody else put there. */
static void a_status_is_written_to_a_file_of_its_own(void **state)
{
    char host[HOST_NAME_BYTES], path[600], other[700], victim[600], text[16] = "";
    struct host_status *const s = test_calloc(1, sizeof *s);
    host_status_name(host);
    snprintf(path, sizeof path, "%s/" HOST_STATUS_PREFIX "%s", folder, host);
    snprintf(other, sizeof other, "%s.new", path);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    FILE *f = fopen(victim, "wb");
    assert_non_null(f);
    fputs("precious", f);
    fclose(f);
    assert_int_equal(link(victim, other), 0);
    assert_int_equal(symlink(victim, path), 0);
    host_status_write(folder, 5, (const struct board_rank[]){ { .rank = 3, .pid = 77 } }, 1);
    assert_true(host_status_read(path, s));
    assert_int_equal(s->n, 1);
    assert_int_equal(s->rank[0].rank, 3);
    f = fopen(victim, "rb");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_string_equal(text, "precious");
    host_status_remove(folder);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(remove(other), 0);
    test_free(s);
    (void)state;
}

static void hosts_agree_through_a_file(void **state)
{
    const struct agreement a = { .config_dir = folder, .id = 5 }, b = { .config_dir = folder, .id = 6 };
    assert_int_equal(agreement_of_hosts(&a, 1, 100), 100);
    assert_int_equal(agreement_of_hosts(&a, 1, 90), 100);
    print_message("  another job\n");
    assert_int_equal(agreement_of_hosts(&a, 2, 7), 7);
    print_message("  another request removes that of the one before\n");
    assert_int_equal(agreement_of_hosts(&b, 1, 200), 200);
    char path[600];
    snprintf(path, sizeof path, "%s/" AGREEMENT_PREFIX "%016x_%016x", folder, 5, 1);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/" AGREEMENT_PREFIX "%016x_%016x", folder, 5, 2);
    assert_int_equal(access(path, F_OK), 0);
    print_message("  nonsense in it: each host by itself\n");
    FILE *const f = fopen(path, "wb");
    fputs("soon", f);
    fclose(f);
    assert_int_equal(agreement_of_hosts(&a, 2, 9), 9);
    print_message("  nowhere to write\n");
    assert_int_equal(agreement_of_hosts(&(struct agreement){ .config_dir = "/proc/self/none" }, 1, 3), 3);

    print_message("  two hosts: processes that share no memory\n");
    rank_start(0, config_dir(), "job", 2);
    char memory[PATH_MAX];
    snprintf(memory, sizeof memory, "%s", memory_path(config_dir()));
    unlink(memory);
    assert_int_equal(symlink(folder, memory), 0);
    rank_start(1, config_dir(), "job", 2);
    edit("{\"start_step\": -1, \"active\": 2}");
    assert_same_steps(all_of_them, 2, 0, 2);
    rank_quit(0);
    rank_quit(1);
    unlink(memory);
    (void)state;
}

/* The offers to ranks that are only described. */
static void offers_are_behind_all_ranks(void **state)
{
    static const struct {
        const char *what, *json;
        struct board_rank rank[3];
        size_t n;
        double steps_per_s;
        struct board_offer offer;
    } row[] = {
        { "one: its next step", "{\"start_step\": -1}", { { .rank = 0, .step = 7 } }, 1, 0, { 0 } },
        { "two: behind the one that is ahead",
          "{\"start_step\": -1}",
          { { .rank = 0, .step = 7 }, { .rank = 1, .step = 9 } },
          2,
          0,
          { .step = 11 } },
        { "fast ones: as far as they get meanwhile",
          "{\"start_step\": -1}",
          { { .rank = 0, .step = 7 }, { .rank = 1, .step = 9 } },
          2,
          1000,
          { .step = 111 } },
        { "one is collecting: after that",
          "{\"start_step\": -1}",
          { { .rank = 0, .step = 7, .state = ASCOPE_DYNAMIC_RUNNING, .stop_step = 50 }, { .rank = 1, .step = 9 } },
          2,
          0,
          { .step = 51 } },
        { "one of two is asked: its next step",
          "{\"start_step\": -1, \"is_rank\": true, \"rank_list\": [1]}",
          { { .rank = 0, .step = 7 }, { .rank = 1, .step = 9 } },
          2,
          0,
          { 0 } },
        { "a step that all can reach",
          "{\"start_step\": 10}",
          { { .rank = 0, .step = 7 }, { .rank = 1, .step = 9 } },
          2,
          0,
          { .step = 9 } },
        { "one that a rank has passed",
          "{\"start_step\": 9}",
          { { .rank = 0, .step = 7 }, { .rank = 1, .step = 9 } },
          2,
          0,
          { .step = 9, .is_passed = true } },
        { "one that only others have passed",
          "{\"start_step\": 9, \"is_rank\": true, \"rank_list\": [0, 2]}",
          { { .rank = 0, .step = 7 }, { .rank = 1, .step = 9 }, { .rank = 2, .step = 8 } },
          3,
          0,
          { .step = 8 } },
        { "another job does not count",
          "{\"start_step\": -1}",
          { { .rank = 0, .step = 7 }, { .rank = 0, .step = 900, .group = 5 } },
          2,
          0,
          { 0 } },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        const struct agreement a = { .config_dir = folder, .steps_per_s = row[i].steps_per_s, .spread_s = 0.1 };
        const unsigned slot[] = { 5, 3, 0 };
        struct board_offer offer[BOARD_RANKS];
        struct config c;
        struct error e = { 0 };
        print_message("  %s\n", row[i].what);
        assert_true(config_read(&c, &config_kinds[0], row[i].json, strlen(row[i].json), false, NULL, NULL, &e));
        agreement_make(&a, &c, row[i].rank, slot, row[i].n, false, offer);
        const bool is_chosen = c.when == WHEN_NEXT && row[i].offer.step > 0;
        assert_int_equal(offer[5].step, is_chosen ? OFFER_OPEN : row[i].offer.step);
        agreement_make(&a, &c, row[i].rank, slot, row[i].n, true, offer);
        assert_int_equal(offer[5].step, row[i].offer.step);
        assert_int_equal(offer[5].is_passed, row[i].offer.is_passed);
        assert_int_equal(offer[200].step, 0);
        config_fini(&c);
    }
    (void)state;
}

/* Somebody of the same user writes into the memory: the job goes on. */
static void bytes_of_others_do_no_harm(void **state)
{
    const struct ascope_dynamic_setup setup = job_setup();
    uint64_t random = RANDOM_SEED;
    job_start(&setup);
    const int fd = open(memory_path(config_dir()), O_RDWR);
    assert_true(fd >= 0);
    const off_t size = lseek(fd, 0, SEEK_END);
    for (int round = 0; round < 40; round++) {
        uint64_t bytes[512];
        for (size_t i = 0; i < ROWS(bytes); i++)
            bytes[i] = random_next(&random) & (round % 2 ? UINT64_MAX : 0x0101010101010101);
        for (int i = 0; i < 40; i++) {
            const off_t at = (off_t)(random_next(&random) % (uint64_t)size) & ~(off_t)7;
            const size_t n = i % 4 == 0 ? sizeof bytes : 8;
            assert_true(pwrite(fd, bytes, n < (size_t)(size - at) ? n : (size_t)(size - at), at) > 0);
        }
        edit(round % 3 ? "{\"start_step\": -1}" : "{\"start_step\": 12, \"is_rank\": true, \"rank_list\": [1]}");
        job_steps(50);
        look_at(config_dir());
        pause_a_little();
    }
    ascope_dynamic_end();
    close(fd); /* not before: it would end the locks of this process */
    unlink(memory_path(config_dir()));
    print_message("  and starts again\n");
    job_start(&setup);
    ask("{\"start_step\": -1, \"active\": 2}");
    job_steps(3);
    assert_string_equal(called, "b1.. e3");
    ascope_dynamic_end();
    (void)state;
}

static int kill_and_remove(void **state)
{
    for (int i = 0; i < RANKS; i++)
        if (pids[i] > 0)
            kill(pids[i], SIGKILL); /* of a test that failed */
    memset(pids, 0, sizeof pids);
    ascope_dynamic_end();
    return folder_remove(state);
}

int main(void)
{
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    unsetenv("MASTER_ADDR");
    ranks = mmap(NULL, RANKS * sizeof *ranks, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
#define TEST(name) cmocka_unit_test_setup_teardown(name, folder_make, kill_and_remove)
    const struct CMUnitTest tests[] = {
        TEST(offers_are_behind_all_ranks),
        TEST(ranks_start_in_the_same_step),
        TEST(what_a_stopped_owner_missed_is_seen_when_it_continues),
        TEST(the_others_take_over),
        TEST(the_owner_is_killed_at_any_moment),
        TEST(jobs_do_not_disturb_each_other),
        TEST(memory_of_others_is_not_used),
        TEST(a_status_is_written_to_a_file_of_its_own),
        TEST(hosts_agree_through_a_file),
        TEST(bytes_of_others_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
