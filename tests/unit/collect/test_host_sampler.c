/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of a known load beside what the kernel counts itself. Counters are compared, never durations: how late a
 * sample was does not matter, for the last one is taken when the load has ended. */
#include "worker.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "collect/session/recorder_session.h"
#include "collecting.h"
#include "load/prof/prof.h"
#include "reported.h"

/* ---- a session about a worker, and its files ---- */

static struct ascope_session *session_about(pid_t pid, const char *host_sys, uint32_t slice_kb)
{
    struct ascope_options o;
    struct ascope_error e = { "" };
    ascope_options_init(&o);
    o.parent_dir = folder;
    o.device = "none";
    o.layout = ASCOPE_LAYOUT_PROF;
    o.slice_kb = slice_kb;
    n_warnings = 0;
    ascope_on_message(count_warning, NULL);
    assert_true(ascope_options_set(&o, "host_sys", host_sys));
    struct ascope_session *const s =
        session_new_for(&(struct session_target){ .pid = pid, .name = "a worker" }, &o, false, &e);
    if (!s || !ascope_session_start(s, &e))
        fail_msg("%s", e.text);
    return s;
}

static void session_stop(struct ascope_session *s)
{
    struct ascope_error e = { "" };
    if (!ascope_session_stop(s, &e))
        fail_msg("%s", e.text);
}

/* All slices of a file, one behind the other; to be freed. Each begins so. NULL: there are none. */
static char *slices_text(const struct ascope_session *s, const char *family, const char *begins, unsigned *n_slices)
{
    char *all = NULL, path[PATH_MAX + 100];
    size_t n = 0;
    for (*n_slices = 0;; ++*n_slices) {
        struct stat st;
        snprintf(path, sizeof path, "%s/host/data/%s.slice_%u", ascope_session_path(s), family, *n_slices);
        const int fd = open(path, O_RDONLY);
        if (fd < 0)
            return all;
        fstat(fd, &st);
        all = realloc(all, n + (size_t)st.st_size + 1);
        assert_int_equal(read(fd, all + n, (size_t)st.st_size), st.st_size);
        all[n + (size_t)st.st_size] = '\0';
        assert_int_equal(strncmp(all + n, begins, strlen(begins)), 0);
        n += (size_t)st.st_size;
        close(fd);
    }
}

/* ---- CPU ---- */

static uint64_t ticks_used(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    const uint64_t us = (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 +
                        (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    return us * (uint64_t)sysconf(_SC_CLK_TCK) / 1000000;
}

/* Burns CPU time, and answers how much the process has used in all its life. */
static uint64_t burn(uint64_t ms)
{
    struct timespec t;
    prctl(PR_SET_NAME, "a) S\n1 (\\ 2"); /* whoever counts by blanks, lines or parentheses is wrong */
    do {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 < ms);
    return ticks_used();
}

/* utime and stime of the line that begins so. */
static uint64_t ticks_of(const char *line)
{
    unsigned long long user, system;
    const char *name_end = strchr(line, '\n');
    while (*name_end != ')')
        name_end--;
    assert_int_equal(sscanf(name_end + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system), 2);
    return user + system;
}

static void cpu_time_is_what_the_kernel_counts(void **state)
{
    enum { MS = 300, ERROR_TICKS = 3 };
    const struct worker w = worker_start(burn);
    struct ascope_session *const s = session_about(w.pid, "cpu", 0);
    const uint64_t used = worker_do(&w, MS);
    session_stop(s);
    unsigned n_slices;
    char *const text = slices_text(s, "host_cpu.data", "time ", &n_slices), wanted[32];
    snprintf(wanted, sizeof wanted, "\n%d (", (int)w.pid);
    const char *last = NULL;
    for (const char *at = text; (at = strstr(at, wanted)); last = ++at)
        continue;
    assert_non_null(last);
    const uint64_t sampled = ticks_of(last);
    print_message("  %llu ticks, %llu sampled\n", (unsigned long long)used, (unsigned long long)sampled);
    assert_in_range(sampled + ERROR_TICKS, used, used + 2 * ERROR_TICKS);
    free(text);

    struct profile p; /* and our own reader takes every line of it */
    struct error e = { 0 };
    assert_true(profile_load(&p, ascope_session_path(s), 1, &e));
    assert_int_equal(p.host.source.lost.by[LOSS_BAD_TEXT].n, 0);
    assert_true(p.host.usage.gauge[GAUGE_CPU].is_sampled);
    profile_free(&p);
    worker_end(&w);
    ascope_session_discard(s);
    (void)state;
}

/* ---- disk ---- */

static uint64_t io_written(void)
{
    unsigned long long bytes = 0;
    char text[1024] = "";
    const int fd = open("/proc/self/io", O_RDONLY);
    if (read(fd, text, sizeof text - 1) <= 0 || !strstr(text, "\nwrite_bytes:"))
        abort();
    close(fd);
    sscanf(strstr(text, "\nwrite_bytes:"), "\nwrite_bytes: %llu", &bytes);
    return bytes;
}

/* Writes to a real disk if the working directory is on one; answers what the kernel says went there. */
static uint64_t write_to_disk(uint64_t blocks)
{
    static char block[1 << 16];
    const uint64_t before = io_written();
    const int fd = open(".", O_TMPFILE | O_WRONLY, 0600);
    for (uint64_t i = 0; fd >= 0 && i < blocks; i++)
        if (write(fd, block, sizeof block) != sizeof block)
            abort();
    if (fd >= 0 && fsync(fd) != 0)
        abort();
    close(fd);
    return io_written() - before;
}

static void bytes_on_disk_are_what_the_kernel_counts(void **state)
{
    enum { BLOCKS = 64, ERROR_BYTES = 64 }; /* of the last line; the others carry theirs over */
    const struct worker w = worker_start(write_to_disk);
    struct ascope_session *const s = session_about(w.pid, "disk", 0);
    const uint64_t written = worker_do(&w, BLOCKS);
    session_stop(s);
    unsigned n_slices;
    char *const text = slices_text(s, "host_disk.data", "start_time ", &n_slices);
    assert_non_null(text);
    double bytes = 0;
    for (const char *at = text; (at = strstr(at, " K/s ")); at = strchr(at, '\n')) {
        at += strlen(" K/s "); /* what was read is before */
        char *end;
        bytes += strtod(at, &end) * 1024 / 50;
        assert_int_equal(strncmp(end, " K/s ?unavailable? a worker\n", 28), 0);
    }
    print_message("  %llu bytes, %.1f sampled\n", (unsigned long long)written, bytes);
    assert_true(bytes <= (double)written + ERROR_BYTES && bytes >= (double)written - ERROR_BYTES);
    free(text);
    worker_end(&w);
    ascope_session_discard(s);
    (void)state;
}

/* ---- network ---- */

static bool is_alone; /* the worker has a network of its own: nobody else's bytes are in its counters */

static void loopback_up(void)
{
    struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (ioctl(fd, SIOCSIFFLAGS, &lo) != 0)
        abort();
    close(fd);
}

static uint64_t loopback_bytes(const char *text)
{
    unsigned long long bytes = 0;
    const char *const lo = text ? strstr(text, "lo:") : NULL;
    if (lo)
        sscanf(lo, "lo: %llu", &bytes);
    return bytes;
}

/* Sends so many datagrams of 1,000 bytes to itself; answers how many bytes the kernel has counted so far. */
static uint64_t send_to_itself(uint64_t n)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof to;
    char bytes[1000] = { 0 }, text[1 << 16] = "";
    const int fd = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(fd, (struct sockaddr *)&to, sizeof to) != 0 || getsockname(fd, (struct sockaddr *)&to, &size) != 0)
        abort();
    for (uint64_t i = 0; i < n; i++)
        if (sendto(fd, bytes, sizeof bytes, 0, (struct sockaddr *)&to, size) != sizeof bytes ||
            recv(fd, bytes, sizeof bytes, 0) != sizeof bytes)
            abort();
    close(fd);
    const int dev = open("/proc/self/net/dev", O_RDONLY);
    if (read(dev, text, sizeof text - 1) <= 0)
        abort();
    close(dev);
    return loopback_bytes(text);
}

static uint64_t network_serve(uint64_t n)
{
    if (n > 0)
        return send_to_itself(n);
    is_alone = unshare(CLONE_NEWNET) == 0; /* needs a right that few users have */
    if (is_alone)
        loopback_up();
    return is_alone;
}

static void bytes_on_the_network_are_what_the_kernel_counts(void **state)
{
    enum { DATAGRAMS = 500, BYTES = 1000 };
    const struct worker w = worker_start(network_serve);
    is_alone = worker_do(&w, 0);
    struct ascope_session *const s = session_about(w.pid, "network", 0);
    const uint64_t counted = worker_do(&w, DATAGRAMS);
    session_stop(s);
    unsigned n_slices;
    char *const text = slices_text(s, "host_network.data", "time ", &n_slices);
    assert_non_null(text);
    assert_null(strstr(text, "Inter-|")); /* the heading of a table */
    const char *last = text;
    for (const char *at = text; (at = strstr(at, "time ")); last = at++)
        continue;
    const uint64_t first_bytes = loopback_bytes(text), last_bytes = loopback_bytes(last);
    print_message("  %llu bytes, %llu sampled; %s\n", (unsigned long long)counted, (unsigned long long)last_bytes,
                  is_alone ? "a network of its own" : "with everybody else's");
    assert_true(last_bytes - first_bytes >= DATAGRAMS * BYTES);
    if (is_alone)
        assert_int_equal(last_bytes, counted);
    free(text);
    worker_end(&w);
    ascope_session_discard(s);
    (void)state;
}

/* ---- many threads ---- */

enum { THREADS = 1000 };

static void *sleep_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static uint64_t many_threads(uint64_t n)
{
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (uint64_t i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, sleep_for_ever, NULL) != 0)
            return i;
    }
    return n;
}

/* A sample of 1,000 threads is larger than a slice, and is in one all the same. */
static void samples_are_whole(void **state)
{
    const struct worker w = worker_start(many_threads);
    const uint64_t n = worker_do(&w, THREADS);
    struct ascope_session *const s = session_about(w.pid, "cpu,mem,disk", 64);
    struct writer_tally t;
    do {
        usleep(1000);
        writer_look(&t);
    } while (t.n_bytes < 4 * 64 << 10); /* two samples at least, however long they take */
    session_stop(s);
    unsigned n_slices;
    char *const text = slices_text(s, "host_cpu.data", "time ", &n_slices); /* each slice begins with a sample */
    assert_non_null(text);
    unsigned n_samples = 0;
    for (const char *at = text; *at; n_samples++) {
        assert_int_equal(strncmp(at, "time ", 5), 0);
        at = strchr(strchr(at, '\n') + 1, '\n') + 1; /* and the uptime */
        uint64_t threads = 0;
        for (; *at && strncmp(at, "time ", 5) != 0; at = strchr(at, '\n') + 1, threads++)
            ticks_of(at);
        assert_int_equal(threads, n + 1);
    }
    print_message("  %u samples of %llu threads in %u slices\n", n_samples, (unsigned long long)n + 1, n_slices);
    assert_true(n_samples >= 2 && n_slices == n_samples);
    for (unsigned i = 0; i < STREAM_KINDS; i++)
        assert_int_equal(s->tally.dropped[i], 0);
    free(text);
    worker_end(&w);
    ascope_session_discard(s);
    (void)state;
}

/* ---- memory nodes ---- */

/* Memory that stays, in pages of the worker's own. */
static uint64_t touch(uint64_t mb)
{
    const size_t bytes = (size_t)mb << 20;
    char *const at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED)
        abort();
    memset(at, 1, bytes);
    return 0;
}

static uint64_t numa_hit(void)
{
    unsigned long long n = 0;
    FILE *const f = fopen("/sys/devices/system/node/node0/numastat", "r");
    if (f && fscanf(f, "numa_hit %llu", &n) != 1)
        n = 0;
    if (f)
        fclose(f);
    return n;
}

static void pages_are_on_their_nodes(void **state)
{
    enum { MB = 32, ERROR_KB = 1024 }; /* what else the worker touches meanwhile */
    const struct worker w = worker_start(touch);
    if (access("/proc/self/numa_maps", R_OK) != 0) { /* a kernel without nodes */
        worker_end(&w);
        skip();
    }
    const uint64_t hits_before = numa_hit();
    struct ascope_session *const s = session_about(w.pid, "numa", 0);
    assert_int_equal(n_warnings, 0);
    worker_do(&w, MB);
    session_stop(s);
    const uint64_t hits_after = numa_hit();
    struct profile p;
    struct error e = { 0 };
    assert_true(profile_load(&p, ascope_session_path(s), 1, &e));
    const struct host_counts *const c = &p.host.usage.counts[COUNTS_NUMA];
    uint64_t grown_kb = 0;
    assert_true(c->n > 0 && p.host.source.lost.by[LOSS_BAD_TEXT].n == 0);
    for (size_t i = 0; i < c->n; i++) {
        const char *const counter = names_text(p.names, c->at[i].counter);
        assert_int_equal(strncmp(names_text(p.names, c->at[i].thing), "node", 4), 0);
        if (strcmp(counter, "memory_kb") == 0)
            grown_kb += c->at[i].last - c->at[i].first;
        if (strcmp(counter, "numa_hit") == 0 && strcmp(names_text(p.names, c->at[i].thing), "node0") == 0)
            assert_true(c->at[i].first >= hits_before && c->at[i].last <= hits_after);
    }
    print_message("  %d MB, %llu KB sampled\n", MB, (unsigned long long)grown_kb);
    assert_in_range(grown_kb, MB << 10, (MB << 10) + ERROR_KB);
    profile_free(&p);
    worker_end(&w);
    ascope_session_discard(s);
    (void)state;
}

/* ---- RDMA ports: in a folder that looks like sysfs, for few machines have them ---- */

static void port_file(const char *port, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/class/infiniband/%s/%s", folder, port, name);
    for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(path, 0700);
    }
    FILE *const f = fopen(path, "w");
    fprintf(f, "%s", text);
    fclose(f);
}

static void ports_are_sampled(void **state)
{
    struct ascope_options o;
    struct error e = { 0 };
    static char text[1 << 16];
    ascope_options_init(&o);
    o.io_hz = 100;
    n_warnings = 0;
    ascope_on_message(count_warning, NULL);
    const struct host_target of = { .pid = getpid(), .owner = getpid(), .name = "", .sysfs = folder };
    collecting_start(NULL);
    struct host_sampler *h = host_sampler_start(&of, &o, &e);
    host_sampler_stop(h);
    assert_int_equal(n_warnings, 1); /* one line where there are none */
    assert_non_null(strstr(last_text, "class/infiniband"));
    port_file("mlx5_1/ports/1", "counters/port_rcv_data", "5\n");
    port_file("mlx5_0/ports/1", "counters/port_rcv_data", "256\n");
    port_file("mlx5_0/ports/1", "hw_counters/np_cnp_sent", "18446744073709551615\n");
    port_file("mlx5_0/ports/1", "hw_counters/of_another_driver", "1\n");
    port_file("mlx5_0/ports/1", "counters/port_xmit_data", "N/A (no PMA)\n");
    port_file("bare_0/ports/1", "state", "4: ACTIVE\n"); /* no counters */
    h = host_sampler_start(&of, &o, &e);
    port_file("mlx5_0/ports/1", "counters/port_rcv_data", "512\n");
    host_sampler_stop(h);
    collecting_stop();
    assert_int_equal(n_warnings, 1);
    assert_true(file_text("PROF_1/host/data/host_roce.data.slice_0", text, sizeof text) < sizeof text);
    const char *const first = strchr(text, '\n'), *last = text;
    for (const char *at = text; (at = strstr(at, "time ")); last = at++)
        continue;
    assert_string_equal(strchr(last, '\n'),
                        "\nmlx5_0/1 port_rcv_data=512 np_cnp_sent=18446744073709551615\nmlx5_1/1 port_rcv_data=5\n");
    assert_true(first < last && strstr(first, "mlx5_0/1 port_rcv_data=256"));
    (void)state;
}

/* ---- what is not there ---- */

static void a_process_that_is_not_there(void **state)
{
    struct ascope_session *const s = session_about(1 << 30, "cpu,mem,disk,network", 0);
    assert_int_equal(n_warnings, 1);
    assert_non_null(strstr(last_text, "process 1073741824"));
    session_stop(s);
    assert_int_equal(s->tally.n_records, 0);
    ascope_session_discard(s);
    (void)state;
}

/* One look while it is there, one when it is gone, or has ended and is still in /proc: that is a period, and a row. */
static void a_process_that_ends_at_once_has_a_row(void **state)
{
    for (int is_waited_for = 0; is_waited_for < 2; is_waited_for++) {
        const struct worker w = worker_start(touch);
        struct ascope_session *const s = session_about(w.pid, "mem", 0);
        siginfo_t info;
        close(w.ask);
        close(w.answer);
        assert_int_equal(waitid(P_PID, (id_t)w.pid, &info, WEXITED | WNOWAIT), 0);
        if (is_waited_for)
            child_end_well(w.pid);
        session_stop(s);
        struct profile p;
        struct error e = { 0 };
        assert_true(profile_load(&p, ascope_session_path(s), 1, &e));
        const struct gauge *const g = &p.host.usage.gauge[GAUGE_MEMORY];
        assert_true(g->n >= 1);
        assert_true(g->percent[g->n - 1] > 0);
        profile_free(&p);
        ascope_session_discard(s);
        if (!is_waited_for)
            child_end_well(w.pid);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cpu_time_is_what_the_kernel_counts, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(bytes_on_disk_are_what_the_kernel_counts, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(bytes_on_the_network_are_what_the_kernel_counts, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(samples_are_whole, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(pages_are_on_their_nodes, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(ports_are_sampled, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_process_that_is_not_there, folder_make, folder_remove),
        cmocka_unit_test_setup_teardown(a_process_that_ends_at_once_has_a_row, folder_make, folder_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
