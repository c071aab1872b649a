/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads record, end each other's ranges, come and go and are interrupted by signals, while sessions open and
 * close: first with rings and writer alone, then through the public interface, with a simulated device; then the
 * threads that share a board. Built with ThreadSanitizer where the compiler has it (tests/meson.build); says nothing
 * when everything holds. */
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ascope/ascope.h"
#include "ascope/sim.h"
#include "collect/ring/ring.h"
#include "collect/ring/ring_inline.h"
#include "collect/write/writer.h"
#include "dynamic/board.h"

enum { WORKERS = 4, SESSIONS = 8, SESSION_US = 60000, SHARED_RANGES = 16, RECORD = 64 };

static char folder[64];
static _Atomic bool is_over;
static _Atomic uint64_t shared_range[SHARED_RANGES];
static _Atomic uint64_t n_put, n_from_handlers, n_ranges;

static bool record(uint64_t number)
{
    const bool is_inline = number % 5 < 3;
    const struct ring_slot slot =
        is_inline ? ring_put_inline(STREAM_TRACK, RECORD)
                  : ring_put(number % 3 ? STREAM_TRACK : STREAM_STARS, (unsigned)(number % 2), RECORD);
    if (!slot.at)
        return false;
    memset(slot.at, (int)number, RECORD);
    if (is_inline)
        ring_done_inline(slot);
    else
        ring_done(slot);
    atomic_fetch_add_explicit(&n_put, 1, memory_order_relaxed);
    return true;
}

static void on_signal(int number)
{
    const int was = errno;
    static _Atomic uint64_t n;
    if (record(atomic_fetch_add_explicit(&n, 1, memory_order_relaxed) + (uint64_t)number))
        atomic_fetch_add_explicit(&n_from_handlers, 1, memory_order_relaxed);
    errno = was;
}

/* Opens a range, leaves it for another thread, and ends the one that was there. */
static void exchange_range(uint64_t number)
{
    char text[600] = "", kept[RING_OPEN_MOST];
    memset(text, 'r', number % sizeof text);
    const uint64_t mine = ring_range_open(7, &number, sizeof number, text, number % sizeof text);
    const uint64_t old = atomic_exchange(&shared_range[number % SHARED_RANGES], mine);
    const size_t n = old ? ring_range_take(old, 7, kept, sizeof kept) : 0;
    if (n > 0 && (n < sizeof number || (n > sizeof number && kept[n - 1] != 'r')))
        abort();
    atomic_fetch_add_explicit(&n_ranges, n > 0, memory_order_relaxed);
}

static void *worker(void *seed)
{
    for (uint64_t i = (uintptr_t)seed; !atomic_load_explicit(&is_over, memory_order_relaxed); i++) {
        record(i);
        if (i % 4 == 0)
            exchange_range(i);
        if (i % 512 == 0)
            usleep(50);
    }
    return NULL;
}

static void *short_lived(void *seed)
{
    for (uint64_t i = 0; i < 20; i++)
        record(i + (uintptr_t)seed);
    return NULL;
}

static void *churner(void *unused)
{
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        pthread_t thread[2];
        for (uintptr_t i = 0; i < 2; i++)
            pthread_create(&thread[i], NULL, short_lived, (void *)i);
        for (unsigned i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
        usleep(500);
    }
    return unused;
}

static int forget(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void session(unsigned number, const pthread_t *storm, size_t n_storm)
{
    char prof[160], framework[160], rings_path[160];
    struct error e = { 0 };
    struct writer_tally tally;
    snprintf(prof, sizeof prof, "%s/PROF_%u", folder, number);
    snprintf(framework, sizeof framework, "%s/FRAMEWORK_%u", folder, number);
    snprintf(rings_path, sizeof rings_path, "%s/rings_%u", folder, number);
    mkdir(prof, 0750);
    mkdir(framework, 0750);
    const struct writer_options o = {
        .framework_dir = framework, .prof_dir = prof, .slice_bytes = 65536, .storage_limit_bytes = 1 << 20
    };
    if (!rings_open(&(struct rings_options){ .path = rings_path,
                                             .id = "00112233445566778899AABBCCDDEEFF",
                                             .ring_bytes = 1 << 18 },
                    &e) ||
        !writer_start(&o, &e)) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
    for (unsigned us = 0; us < SESSION_US; us += 1000) {
        for (size_t i = 0; i < n_storm; i++)
            pthread_kill(storm[i], SIGUSR1);
        if (us % 8000 == 0)
            writer_keep(us % 16000 != 0);
        writer_look(&tally);
        usleep(1000);
    }
    if (!writer_flush(&tally, &e) || !writer_stop(&tally, &e)) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
    rings_close();
}

/* ---- the public interface ---- */

static void *user(void *seed)
{
    const uint64_t first = (uint64_t)(uintptr_t)seed;
    struct ascope_domain *domain = ascope_domain_get(first % 2 ? "even" : "odd");
    struct ascope_sim_stream *stream = ascope_sim_stream_new(0);
    for (uint64_t i = first; !atomic_load_explicit(&is_over, memory_order_relaxed); i++) {
        char name[32];
        struct ascope_op op;
        const int n = snprintf(name, sizeof name, "op %u", (unsigned)(i % 100));
        struct ascope_sim_op on_device;
        ascope_op_begin(&op, name);
        ascope_sim_op_begin(&on_device, i % 512 == 0 ? "aten::_local_scalar_dense" : "aten::empty");
        ascope_mark(domain, name, i % 16 == 0 ? stream : NULL);
        const uint64_t range = ascope_range_begin(domain, "range", NULL);
        const uint64_t old = atomic_exchange(&shared_range[i % SHARED_RANGES], range);
        ascope_range_end(domain, old);
        ascope_name((struct ascope_text){ name, (uint32_t)n });
        ascope_memory(&(struct ascope_memory){
            .size = sizeof(struct ascope_memory), .pointer = i, .size_bytes = 8, .device_type = ASCOPE_ON_CPU });
        if (i % 64 == 0) {
            static _Atomic uint64_t exchange;
            ascope_sim_launch(stream, &(struct ascope_sim_kernel){ .type = "Add", .name = name });
            const uint64_t id = ascope_sim_exchange_begin(
                &(struct ascope_sim_exchange){ .name = "gloo:all_reduce", .ranks = 2, .peer = -1, .bytes = 64 });
            ascope_sim_exchange_end(atomic_exchange(&exchange, id)); /* that somebody has begun */
            usleep(200);
        }
        ascope_sim_op_end(&on_device);
        ascope_op_end(&op);
    }
    ascope_sim_ops_wait();
    ascope_sim_synchronize(stream);
    ascope_sim_stream_free(stream);
    return NULL;
}

/* ---- the board of dynamic_profile: one thread watches, one counts steps, others look ---- */

enum { PUBLISHED = 400, TEXT_MOST = 3000 };
static struct board board;

static size_t text_of(uint64_t id, char text[TEXT_MOST])
{
    const size_t n = 1 + id * 37 % TEXT_MOST;
    memset(text, 'a' + (int)(id % 26), n);
    return n;
}

static void board_check(bool is_so, const char *what)
{
    if (!is_so) {
        fprintf(stderr, "board: %s\n", what);
        abort();
    }
}

static void rank_check(const struct board_rank *r)
{
    board_check(r->n_done == r->done_id && (int64_t)r->n_done == r->done_start_step, "a slot that was half written");
    for (size_t i = 0; i + 1 < sizeof r->dir && r->n_done > 0; i++)
        board_check(r->dir[i] == (char)('A' + r->n_done % 26), "a directory that was half written");
}

static void news_check(const struct board_news *news)
{
    char text[TEXT_MOST];
    board_check(news->n == text_of(news->id, text) && memcmp(news->text, text, news->n) == 0, "a text half written");
}

static void *board_watcher(void *unused)
{
    static struct board_rank rank[BOARD_RANKS];
    static struct board_offer offer[BOARD_RANKS];
    static unsigned slot[BOARD_RANKS];
    char text[TEXT_MOST];
    board_check(board_own(&board), "not owned");
    for (uint64_t id = 1; id <= PUBLISHED; id++) {
        const struct config_stamp stamp = { .size = text_of(id, text), .hash = id };
        board_publish(&board, text, stamp.size, id, &stamp, offer);
        board_see(&board, &stamp);
        board_offer_set(&board, board.number, id, (struct board_offer){ .step = (int64_t)id });
        const size_t n = board_listeners(&board, rank, slot);
        for (size_t i = 0; i < n; i++)
            rank_check(&rank[i]);
        board_delivered(&board, id);
    }
    return unused;
}

static void *board_stepper(void *unused)
{
    struct board_rank *const mine = &board.mine;
    for (uint64_t i = 1; i <= PUBLISHED; i++) {
        uint64_t id;
        while (atomic_load(&board.slot->delivered_id) <
               i) /* a job, too, is shown at most a few times for each request */
            sched_yield();
        mine->pid = (int32_t)getpid();
        mine->n_done = mine->done_id = i;
        mine->done_start_step = (int64_t)i;
        memset(mine->dir, 'A' + (int)(i % 26), sizeof mine->dir - 1);
        board_show(&board);
        atomic_store_explicit(&board.slot->step, (int64_t)i, memory_order_relaxed);
        const struct board_offer offer = board_offer(&board, board.number, &id);
        board_check(id == 0 || offer.step >= 0, "an offer of nobody");
    }
    return unused;
}

static void *board_reader(void *unused)
{
    static struct board_view view;
    uint64_t serial = 0;
    while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
        struct board_news news;
        struct error e = { 0 };
        if (board_take(&board, &serial, &news)) {
            news_check(&news);
            free(news.text);
        }
        board_read(folder, ASCOPE_DYNAMIC_PYTORCH, &view, &e);
        for (uint32_t i = 0; i < view.n_ranks; i++)
            rank_check(&view.rank[i]);
        sched_yield();
    }
    return unused;
}

static void board_part(void)
{
    struct error e = { 0 };
    struct board_news news;
    pthread_t watcher, stepper, reader;
    atomic_store(&is_over, false);
    board_check(board_join(&board, &config_kinds[ASCOPE_DYNAMIC_PYTORCH], folder, &e), e.text);
    pthread_create(&watcher, NULL, board_watcher, NULL);
    pthread_create(&stepper, NULL, board_stepper, NULL);
    pthread_create(&reader, NULL, board_reader, NULL);
    pthread_join(watcher, NULL);
    pthread_join(stepper, NULL);
    atomic_store(&is_over, true);
    pthread_join(reader, NULL);
    board_check(board_take(&board, &(uint64_t){ 0 }, &news) && news.id == PUBLISHED, "the last text is not there");
    news_check(&news);
    free(news.text);
    board_leave(&board);
}

static void be_quiet(enum ascope_severity severity, const char *text, void *unused)
{
    (void)severity, (void)text, (void)unused;
}

static void public_session(void)
{
    struct ascope_options o;
    struct ascope_error e;
    ascope_options_init(&o);
    o.parent_dir = folder;
    o.device = "sim";
    o.mstx = o.profile_memory = o.record_op_args = true;
    o.ring_kb = 1024;
    struct ascope_session *s = ascope_session_new(&o, &e);
    if (!s || !ascope_session_warmup(s, &e) || !ascope_session_start(s, &e)) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
    for (unsigned step = 0; step < 5; step++) {
        ascope_session_step(s, step);
        usleep(10000);
    }
    if (!ascope_session_stop(s, &e) || !ascope_session_end(s, &e)) {
        fprintf(stderr, "%s\n", e.text);
        abort();
    }
}

static void public_part(void)
{
    enum { USERS = 3, PUBLIC_SESSIONS = 3 };
    pthread_t thread[USERS];
    ascope_on_message(be_quiet, NULL);
    atomic_store(&is_over, false);
    for (uintptr_t i = 0; i < USERS; i++)
        pthread_create(&thread[i], NULL, user, (void *)i);
    for (unsigned i = 0; i < PUBLIC_SESSIONS; i++)
        public_session();
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < USERS; i++)
        pthread_join(thread[i], NULL);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s/ascope-threads-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART }, NULL);
    pthread_t thread[WORKERS], churn;
    for (uintptr_t i = 0; i < WORKERS; i++)
        pthread_create(&thread[i], NULL, worker, (void *)(i * 1000));
    pthread_create(&churn, NULL, churner, NULL);
    for (unsigned i = 0; i < SESSIONS; i++)
        session(i, thread, WORKERS);
    atomic_store(&is_over, true);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(thread[i], NULL);
    pthread_join(churn, NULL);
    public_part();
    board_part();
    nftw(folder, forget, 16, FTW_DEPTH | FTW_PHYS);
    printf("%llu records, %llu of them from signal handlers; %llu ranges ended by another thread\n",
           (unsigned long long)n_put, (unsigned long long)n_from_handlers, (unsigned long long)n_ranges);
    return n_put > 0 && n_from_handlers > 0 && n_ranges > 0 ? 0 : 1;
}
