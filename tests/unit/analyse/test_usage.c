/* SPDX-License-Identifier: Apache-2.0 */
#include "settings_of.h"
#include "test.h"

#include "analyse/host/host_analysis.h"
#include "load/samplers/usage_load.h"
#include "raw/counter.h"

/* A folder in memory with one file in it. Its clock starts at 0, so that its times are those of the file. */
struct folder {
    struct profile profile;
    struct source source;
    struct slice slice;
    struct stream stream;
    struct usage usage;
    char *bytes; /* no more than the file has: a reader that goes past its end is caught */
};

static const char info[] =
    "{\"sysClockFreq\": 100, \"cpuNums\": 4, \"memoryTotal\": 4000,"
    " \"netCard\": [{\"netCardName\": \"eth0\", \"speed\": 8}, {\"netCardName\": \"eth1\", \"speed\": -1}],"
    " \"DeviceInfo\": [{\"ctrl_cpu\": \"0\", \"ai_cpu\": \"1, 12\"}]}";
static const char sample[] = "{\"host_disk_freq\": 50, \"ts_cpu_profiling_events\": \"0x11,0x8\"}";

static void folder_load(struct folder *f, const char *family, bool is_host, const void *bytes, size_t len)
{
    struct error e = { 0 };
    *f = (struct folder){ .profile = { .names = names_new() } };
    f->bytes = malloc(len + 1);
    memcpy(f->bytes, bytes, len);
    f->slice = (struct slice){ .name = family, .data = len > 0 ? (uint8_t *)f->bytes : NULL, .size = len };
    f->stream = (struct stream){ .family = family, .slice = &f->slice, .n_slices = 1 };
    f->source = (struct source){ .is_host = is_host,
                                 .name = "host",
                                 .path = "host",
                                 .pid = 7,
                                 .stream = &f->stream,
                                 .n_streams = 1,
                                 .mem = arena_new() };
    f->source.settings = settings_of(json_loads(info, 0, NULL), json_loads(sample, 0, NULL), f->source.mem);
    assert_true(usage_load(&f->profile, &f->source, &f->usage, &e));
    assert_int_equal(e.fault, FAULT_NONE);
}

static void folder_free(struct folder *f)
{
    arena_free(f->source.mem);
    names_free(f->profile.names);
    free(f->bytes);
}

static uint64_t lost(const struct folder *f, enum loss why)
{
    return f->source.lost.by[why].n;
}

static const char *name(const struct folder *f, name_id id)
{
    return names_text(f->profile.names, id);
}

/* One thread's stat line: 50 fields, of which five count. */
#define STAT(id, user, sys, cpu)                                                                                       \
    id " (a b) c) R 1 0 0 0 0 0 0 0 0 0 " user " " sys " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 " cpu " 0 0 0\n"
#define CPU_SAMPLE(time, up, thread) "time " time "\n" up " 90.0\n" thread
#define DISK(rest)                   "08:00:00 7 be/4 root " rest "\n"
#define HEADING                      "08:00:00 Total DISK READ: 0.00 B/s | Total DISK WRITE: 0.00 B/s\n"
#define ETH(rx, tx)                  "  eth0: " rx " 1 0 0 0 0 0 0 " tx " 1 0 0 0 0 0 0\n"
#define HUGE_NUMBER                  "99999999999999999999999999"
#define LARGEST                      "18446744073709551615"

static void gauges_give_a_row_for_each_period(void **state)
{
    static const struct {
        const char *what;
        enum gauge_kind kind;
        const char *text;
        size_t n;
        uint64_t bad;
        int64_t begin_ns; /* of the last row, as are the others */
        double percent, speed;
    } row[] = {
        { "no sample", GAUGE_MEMORY, "", 0, 0, 0, 0, 0 },
        { "one sample is no period", GAUGE_MEMORY, "5 9 100 1\n", 0, 0, 0, 0, 0 },
        { "the period has the value at its end", GAUGE_MEMORY, "5 9 100 1\n8 9 200 1\n", 1, 0, 5, 20, 0 },
        { "a torn line", GAUGE_MEMORY, "5 9 100 1\n8 9 200 1\n9 1", 1, 1, 5, 20, 0 },
        { "garbage between", GAUGE_MEMORY, "5 9 100\n\xff\xfe x y\n\n8 9 200\n", 1, 1, 5, 20, 0 },
        { "numbers that nobody can hold", GAUGE_MEMORY, "5 9 100\n6 9 " HUGE_NUMBER "\n8 9 200\n", 1, 1, 5, 20, 0 },
        { "a time that cannot be", GAUGE_MEMORY, "5 9 100\n" LARGEST " 9 100\n8 9 200\n", 1, 1, 5, 20, 0 },
        { "more memory than there is", GAUGE_MEMORY, "5 9 100\n8 9 " LARGEST "\n", 1, 0, 5, 1844674407370955161.5, 0 },

        { "two samples of a thread", GAUGE_CPU,
          CPU_SAMPLE("5", "1.00", STAT("7", "10", "5", "3")) CPU_SAMPLE("8", "2.00", STAT("7", "40", "15", "3")), 2, 0,
          5, 10, 0 },
        { "no time has passed", GAUGE_CPU,
          CPU_SAMPLE("5", "1.00", STAT("7", "10", "5", "3")) CPU_SAMPLE("8", "1.00", STAT("7", "40", "15", "3")), 0, 0,
          0, 0, 0 },
        { "a new thread has no past", GAUGE_CPU,
          CPU_SAMPLE("5", "1.00", STAT("7", "10", "5", "3")) CPU_SAMPLE("8", "2.00", STAT("9", "40", "15", "3")), 1, 0,
          5, 0, 0 },
        { "a thread cannot spend more than all", GAUGE_CPU,
          CPU_SAMPLE("5", "1.00", STAT("7", "0", "0", "3")) CPU_SAMPLE("8", "2.00", STAT("7", LARGEST, "0", "3")), 2, 0,
          5, 25, 0 },
        { "a torn stat line", GAUGE_CPU,
          CPU_SAMPLE("5", "1.00", STAT("7", "10", "5", "3")) CPU_SAMPLE("8", "2.00", "7 (a) R 1 0"), 1, 1, 5, 0, 0 },
        { "a sample without uptime is left out", GAUGE_CPU,
          CPU_SAMPLE("5", "1.00", STAT("7", "0", "0", "3")) CPU_SAMPLE("6", "x", STAT("7", "1", "0", "3"))
              CPU_SAMPLE("8", "2.00", STAT("7", "40", "0", "3")),
          2, 1, 5, 10, 0 },
        { "uptime that nobody can hold", GAUGE_CPU,
          CPU_SAMPLE("5", "1.00", STAT("7", "0", "0", "3")) CPU_SAMPLE("8", LARGEST, STAT("7", "1", "0", "3")), 0, 1, 0,
          0, 0 },
        { "a line before the first head", GAUGE_CPU, STAT("7", "10", "5", "3"), 0, 1, 0, 0, 0 },

        { "bytes of a known card", GAUGE_NETWORK, "time 0\n" ETH("0", "0") "time 1000000000\n" ETH("1024", "4096"), 1,
          0, 0, 0.512, 5 },
        { "an unknown card does not count", GAUGE_NETWORK,
          "time 0\n lo: 1 1 0 0 0 0 0 0 1 1 0 0\ntime 1000000000\n lo: 9 1 0 0 0 0 0 0 9 1 0 0\n", 0, 0, 0, 0, 0 },
        { "a counter that went back", GAUGE_NETWORK, "time 0\n" ETH("9", "9") "time 1000000000\n" ETH("1", "9"), 0, 0,
          0, 0, 0 },
        { "no time has passed: no speed", GAUGE_NETWORK, "time 5\n" ETH("0", "0") "time 5\n" ETH("9", "9"), 1, 0, 5, 0,
          0 },
        { "a torn interface line", GAUGE_NETWORK,
          "time 0\n" ETH("0", "0") "time 1000000000\n" ETH("1024", "4096") "time 2000000000\n eth0: 1 2", 1, 1, 0,
          0.512, 5 },
        { "a head without a time", GAUGE_NETWORK, "time 0\n" ETH("0", "0") "time\n" ETH("9", "9"), 0, 1, 0, 0, 0 },

        { "reported when the tool has ended", GAUGE_DISK,
          HEADING DISK("1 K/s 2 M/s 0.00 % 7.5 % x") DISK("3 B/s 4 K/s 0.00 % 2 % x") "start_time 100\n", 2, 0,
          20000100, 2, 3.0 / 1024 },
        { "reported before", GAUGE_DISK, "start_time 100\n" DISK("1 K/s 2 M/s 0.00 % 7.5 % x"), 1, 0, 100, 7.5, 1 },
        { "started twice", GAUGE_DISK, DISK("1 K/s 2 M/s") "start_time 100\n" DISK("5 G/s 2 K/s") "start_time 900\n", 2,
          0, 900, 0, 5242880 },
        { "no delay accounting", GAUGE_DISK, "start_time 100\n" DISK("0 B/s 2 M/s ?unavailable? a b c d e f g"), 1, 0,
          100, 0, 0 },
        { "a unit that nobody knows", GAUGE_DISK, "start_time 100\n" DISK("1 X/s 2 M/s"), 0, 1, 0, 0, 0 },
        { "a speed below nothing", GAUGE_DISK, "start_time 100\n" DISK("-1 K/s 2 M/s"), 0, 1, 0, 0, 0 },
        { "a torn line of the tool", GAUGE_DISK, "start_time 100\n" DISK("1 K/s 2 M/s 0.00 % 7.5 % x") "08:00:00 7 be",
          1, 1, 100, 7.5, 1 },
    };
    static const char *const family[GAUGES] = { "host_cpu.data", "host_mem.data", "host_network.data",
                                                "host_disk.data" };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct folder f;
        print_message("  %s\n", row[i].what);
        folder_load(&f, family[row[i].kind], true, row[i].text, strlen(row[i].text));
        const struct gauge *g = &f.usage.gauge[row[i].kind];
        assert_true(g->is_sampled);
        assert_int_equal(g->n, row[i].n);
        assert_int_equal(lost(&f, LOSS_BAD_TEXT), row[i].bad);
        if (g->n > 0) {
            assert_int_equal(g->begin_ns[g->n - 1], row[i].begin_ns);
            assert_true(g->percent[g->n - 1] == row[i].percent);
            assert_true(!g->speed[0] || g->speed[0][g->n - 1] == row[i].speed);
        }
        folder_free(&f);
    }
    (void)state;
}

/* From the first sample on; threads that come later with all that they have, and one that takes the id of another from
 * nothing. */
static void threads_have_what_they_spent(void **state)
{
    static const char text[] = CPU_SAMPLE("5", "1.00", STAT("9", "10", "5", "3") STAT("7", "1", "1", "3"))
        CPU_SAMPLE("8", "2.00", STAT("8", "4", "2", "0") STAT("9", "40", "6", "3") STAT("7", "1", "1", "3"))
            CPU_SAMPLE("9", "3.00", STAT("9", "3", "2", "3") STAT("8", "5", "2", "0"));
    static const struct thread_time wanted[] = { { 7, "a b) c", 0, 0 }, { 8, "a b) c", 5, 2 }, { 9, "a b) c", 33, 3 } };
    struct folder f;
    folder_load(&f, "host_cpu.data", true, text, strlen(text));
    const struct thread_times *const got = &f.usage.gauge[GAUGE_CPU].threads;
    assert_int_equal(got->n, ROWS(wanted));
    for (size_t i = 0; i < got->n; i++) {
        assert_int_equal(got->at[i].id, wanted[i].id);
        assert_string_equal(got->at[i].name, wanted[i].name);
        assert_int_equal(got->at[i].user_ticks, wanted[i].user_ticks);
        assert_int_equal(got->at[i].sys_ticks, wanted[i].sys_ticks);
    }
    f.profile.host.usage = f.usage;
    f.profile.host.source.settings.ticks_per_s = 100;
    struct host_use use;
    struct arena *const mem = arena_new();
    assert_true(host_use_sum(&use, &f.profile, mem));
    assert_int_equal(use.n_threads, 3);
    assert_int_equal(use.threads.n, 2); /* the busiest first, the idle one not at all */
    assert_int_equal(use.threads.at[0].id, 9);
    assert_true(use.user_s == 0.38 && use.sys_s == 0.05);
    arena_free(mem);
    folder_free(&f);
    (void)state;
}

static void cards_have_what_passed(void **state)
{
    static const char text[] =
        "time 0\n" ETH("100", "10") "  lo: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n"
                                    "time 9\n" ETH("150", "30") "  lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n"
                                                                "time 10\n" ETH("7", "30");
    struct folder f;
    folder_load(&f, "host_network.data", true, text, strlen(text));
    const struct card_uses *const got = &f.usage.gauge[GAUGE_NETWORK].cards;
    assert_int_equal(got->n, 2);
    assert_string_equal(got->at[0].name, "eth0");
    assert_int_equal(got->at[0].received, 57); /* a counter that went down has begun anew */
    assert_int_equal(got->at[0].sent, 20);
    f.profile.host.usage = f.usage;
    struct host_use use;
    struct arena *const mem = arena_new();
    assert_true(host_use_sum(&use, &f.profile, mem));
    assert_int_equal(use.network_received, 57);
    assert_int_equal(use.network_sent, 20);
    assert_int_equal(use.loopback, 4);
    arena_free(mem);
    folder_free(&f);
    (void)state;
}

static void tracers_report_calls(void **state)
{
    static const char sys[] = "host_syscall.data", pthread[] = "host_pthreadcall.data";
    static const struct {
        const char *what, *family, *text;
        size_t n;
        uint64_t bad, other, open;
        const char *name; /* of the last call, as are the others */
        uint32_t thread;
        int64_t begin_ns;
        uint64_t dur_ns;
    } row[] = {
        { "a system call", sys, "  700.000 ( 0.049 ms): python3/20 ioctl(fd: 3, count: 64) = 64\n", 1, 0, 0, 0, "ioctl",
          20, 0, 49000 },
        { "one thread is not named", sys, "700.000 ( 0.049 ms): write(fd: 3</tmp/a: b>) = 64\n", 1, 0, 0, 0, "write", 7,
          0, 49000 },
        { "times count from the first", sys,
          "700.000 ( 0.049 ms): a/1 read(fd: 3) = 64\n701.500 ( 0.001 ms): a/2 futex() = 0\n", 2, 0, 0, 0, "futex", 2,
          1500000, 1000 },
        { "blanks and slashes in commands", sys, "1.0 ( 0.049 ms): my job/0:1/33 sched_yield() = 0\n", 1, 0, 0, 0,
          "sched_yield", 33, 0, 49000 },
        { "a call that nobody reports", sys, "1.0 ( 0.049 ms): a/1 getpid() = 64\n", 0, 0, 1, 0, NULL, 0, 0, 0 },
        { "an open call, and its rest", sys,
          "1.0 ( ): a/1 futex(uaddr: 1) ...\n1.0 (2.5 ms): a/1  ... [continued]: futex()) = 0\n", 1, 0, 0, 0, "futex",
          1, 0, 2500000 },
        { "an open call and no more", sys, "1.0 ( ): a/1 futex(uaddr: 1) ...\n", 0, 0, 0, 1, NULL, 0, 0, 0 },
        { "began before the tracer", sys, "? ( ): a/1  ... [continued]: futex()) = 0\n", 0, 0, 0, 1, NULL, 0, 0, 0 },
        { "the tool speaks", sys, "LOST 12 events!\n", 0, 1, 0, 0, NULL, 0, 0, 0 },
        { "a torn line", sys, "1.0 ( 0.049 ms): a/1 read(fd) = 1\n2.0 ( 0.049 m", 1, 1, 0, 0, "read", 1, 0, 49000 },
        { "torn in the thread", sys, "1.0 ( 0.049 ms): a/ read(fd) = 1\n", 0, 1, 0, 0, NULL, 0, 0, 0 },
        { "a time that nobody can hold", sys, HUGE_NUMBER ".0 ( 0.049 ms): a/1 read(fd) = 1\n", 0, 1, 0, 0, NULL, 0, 0,
          0 },
        { "a thread that cannot be", sys, "1.0 ( 0.049 ms): a/" LARGEST "0 read(fd) = 1\n", 0, 1, 0, 0, NULL, 0, 0, 0 },

        { "a pthread call", pthread, "[pid 20] 7.000000 lib.so->pthread_join(0x7f, 0) = 0 <0.000052>\n", 1, 0, 0, 0,
          "pthread_join", 20, 0, 52000 },
        { "one thread has no prefix", pthread, "7.5 exe->pthread_create(1, 0) = 0 <0.033001>\n", 1, 0, 0, 0,
          "pthread_create", 7, 0, 33001000 },
        { "the rest of a call, at its end", pthread,
          "[pid 2] 7.0 a->pthread_join(1, <unfinished ...>\n[pid 1] 7.1 a->pthread_create(1) = 0 <0.1>\n[pid 2] 7.5 <... pthread_join resumed> ) = 0 <0.4>\n",
          2, 0, 0, 0, "pthread_join", 2, 0, 400000000 },
        { "an open call at the end", pthread, "[pid 2] 7.0 a->pthread_join(1, <unfinished ...>\n", 0, 0, 0, 1, NULL, 0,
          0, 0 },
        { "pthread_once is not reported", pthread, "[pid 2] 7.0 a->pthread_once(1) = 0 <0.1>\n", 0, 0, 1, 0, NULL, 0, 0,
          0 },
        { "signals and exits", pthread, "7.0 --- SIGINT (Interrupt) ---\n[pid 2] 7.0 +++ exited (status 0) +++\n", 0, 0,
          0, 0, NULL, 0, 0, 0 },
        { "no duration", pthread, "[pid 2] 7.0 a->pthread_join(1) = 0\n", 0, 1, 0, 0, NULL, 0, 0, 0 },
        { "no name", pthread, "[pid 2] 7.0 <0.1>\n", 0, 1, 0, 0, NULL, 0, 0, 0 },
        { "torn in the prefix", pthread, "[pid 2", 0, 1, 0, 0, NULL, 0, 0, 0 },
        { "nothing but a prefix", pthread, "[pid 2]", 0, 1, 0, 0, NULL, 0, 0, 0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct folder f;
        print_message("  %s\n", row[i].what);
        folder_load(&f, row[i].family, true, row[i].text, strlen(row[i].text));
        const struct os_calls *c = &f.usage.calls;
        assert_int_equal(c->n, row[i].n);
        assert_int_equal(lost(&f, LOSS_BAD_TEXT), row[i].bad);
        assert_int_equal(lost(&f, LOSS_OTHER_KIND), row[i].other);
        assert_int_equal(lost(&f, LOSS_UNPAIRED), row[i].open);
        if (c->n > 0) {
            assert_string_equal(name(&f, c->name[c->n - 1]), row[i].name);
            assert_int_equal(c->thread[c->n - 1], row[i].thread);
            assert_int_equal(c->begin_ns[c->n - 1], row[i].begin_ns);
            assert_int_equal(c->dur_ns[c->n - 1], row[i].dur_ns);
        }
        folder_free(&f);
    }
    (void)state;
}

#define TICKS " 1 2 3 4 5 6 7 8 9 10\n"

static void snapshots_count_when_they_are_whole(void **state)
{
    static const char cpu[] = "SystemCpuUsage.data", mem[] = "Memory.data";
    static const char pid_cpu[] = "12-CpuUsage.data", pid_mem[] = "12-Memory.data";
    static const struct {
        const char *what, *family, *text;
        uint64_t bad, cut;
        double value; /* user ticks of the AI CPUs; kB free; share of the process; resident pages of it */
    } row[] = {
        { "the AI CPUs only", cpu, "TimeStamp:1\ncpu" TICKS "cpu0" TICKS "cpu1" TICKS "cpu12" TICKS "\n", 0, 0, 2 },
        { "heads of newer collectors", cpu, "TimeStamp:1\nIndex:0\nDataLen:99\ncpu1" TICKS "\n", 0, 0, 1 },
        { "no empty line: not whole", cpu, "TimeStamp:1\ncpu1" TICKS "\nTimeStamp:2\ncpu1" TICKS, 0, 1, 1 },
        { "a torn CPU", cpu, "TimeStamp:1\ncpu1" TICKS "cpu12 1 2 3\n\n", 1, 0, 1 },
        { "ticks that nobody can hold", cpu, "TimeStamp:1\ncpu1" TICKS "cpu12 " HUGE_NUMBER TICKS "\n", 1, 0, 1 },
        { "no head", cpu, "cpu1" TICKS "\n", 1, 0, 0 },

        { "one line of many", mem,
          "TimeStamp:1\nMemTotal: 9 kB\nMemFree:   7 kB\nSwapCached: 0 kB\nHugePages_Free: 3\n\n", 0, 0, 7 },
        { "a line without a number", mem, "TimeStamp:1\nMemTotal: 9 kB\nMemFree: kB\n\n", 1, 0, 0 },
        { "nothing that we know", mem, "TimeStamp:1\nSwapFree: 9 kB\n\n", 1, 0, 0 },
        { "garbage", mem, "TimeStamp:1\nMemFree: 7 kB\n\xff\xfe\n\n", 1, 0, 7 },

        { "share of all ticks", pid_cpu, "TimeStamp:1\n" STAT("12", "5", "6", "0") "ProcessName:a b\ncpu " TICKS "\n",
          0, 0, 0.2 },
        { "a machine without ticks", pid_cpu,
          "TimeStamp:1\n" STAT("12", "5", "6", "0") "ProcessName:a b\ncpu 0 0 0 0 0 0 0 0 0 0\n\n", 0, 0, 0 },
        { "the process is missing", pid_cpu, "TimeStamp:1\nProcessName:a b\ncpu " TICKS "\n", 1, 0, 0 },
        { "torn in the process", pid_cpu, "TimeStamp:1\n12 (a", 1, 1, 0 },

        { "pages of a process", pid_mem, "TimeStamp:1\n9 5 3 0 0 0 0\nProcessName:a b\n\n", 0, 0, 5 },
        { "too few of them", pid_mem, "TimeStamp:1\n9 5 3\nProcessName:a b\n\n", 2, 0, 0 },
        { "more than can be added up", pid_mem,
          "TimeStamp:1\n9 " LARGEST " 3 0 0 0 0\n\nTimeStamp:2\n9 9 3 0 0 0 0\n\n", 0, 0, 18446744073709551615.0 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct folder f;
        print_message("  %s\n", row[i].what);
        folder_load(&f, row[i].family, false, row[i].text, strlen(row[i].text));
        const struct usage *u = &f.usage;
        const struct process_uses *by_cpu = &u->process[PROCESS_CPU], *by_memory = &u->process[PROCESS_MEMORY];
        assert_int_equal(lost(&f, LOSS_BAD_TEXT), row[i].bad);
        assert_int_equal(lost(&f, LOSS_CUT_SHORT), row[i].cut);
        const double value = row[i].family == cpu   ? u->ticks[CPU_AI].of[TIME_USER]
                             : row[i].family == mem ? (double)u->memory.sum[MEM_FREE]
                             : row[i].family == pid_cpu
                                 ? (by_cpu->n > 0 ? by_cpu->at[0].cpu_share : 0)
                                 : (by_memory->n > 0 ? (double)by_memory->at[0].pages[PAGES_RESIDENT] : 0);
        assert_true(value == row[i].value);
        for (size_t k = 0; k < PROCESS_REPORTS; k++)
            assert_true(u->process[k].n == 0 || u->process[k].at[0].pid == 12);
        folder_free(&f);
    }
    (void)state;
}

#define HEAD(cpu, event) "my job 10/11 [" cpu "] 500.001: 53 " event ":\n"
#define FRAME(function)  "\tffff000104c0 " function " (/usr/lib/x.so)\n"

static void perf_reports_where_cycles_went(void **state)
{
    static const struct {
        const char *what, *text;
        size_t n_ai, n_ctrl;
        uint64_t bad, cut, other;
        uint32_t event; /* of the last sample, as are the others */
        const char *function, *module;
    } row[] = {
        { "a sample and its callers", HEAD("001", "r11") FRAME("run+0xa4") FRAME("main+0x1") "\n", 1, 0, 0, 0, 0, 0x11,
          "run", "/usr/lib/x.so" },
        { "CPU 12 is one CPU", HEAD("012", "r8") FRAME("run+0xa4") "\n", 1, 0, 0, 0, 0, 8, "run", "/usr/lib/x.so" },
        { "a CPU that controls", HEAD("000", "r10") FRAME("run+0xa4") "\n", 0, 1, 0, 0, 0, 0x10, "run",
          "/usr/lib/x.so" },
        { "a raw event", HEAD("001", "raw 0x1b") FRAME("run+0xa4") "\n", 1, 0, 0, 0, 0, 0x1b, "run", "/usr/lib/x.so" },
        { "a CPU that does neither", HEAD("005", "r11") FRAME("run+0xa4") "\n", 0, 0, 0, 0, 1, 0, NULL, NULL },
        { "C++", HEAD("001", "r11") FRAME("a::operator++(int) const+0xa4") "\n", 1, 0, 0, 0, 0, 0x11,
          "a::operator++(int) const", "/usr/lib/x.so" },
        { "no symbol", HEAD("001", "r11") FRAME("[unknown]") "\n", 1, 0, 0, 0, 0, 0x11, "unknown", "/usr/lib/x.so" },
        { "no frame", HEAD("001", "r11") "\n", 0, 0, 1, 0, 0, 0, NULL, NULL },
        { "torn after the head", HEAD("001", "r11"), 0, 0, 0, 1, 0, 0, NULL, NULL },
        { "torn in the frame", HEAD("001", "r11") "\tffff000104c0 run+", 0, 0, 0, 1, 0, 0, NULL, NULL },
        { "an event by name", HEAD("001", "cycles") FRAME("run+0xa4") "\n", 0, 0, 1, 0, 0, 0, NULL, NULL },
        { "an event of nine digits", HEAD("001", "r123456789") FRAME("run+0xa4") "\n", 0, 0, 1, 0, 0, 0, NULL, NULL },
        { "garbage, then a sample", "\xff\xfe\n\n" HEAD("001", "r11") FRAME("run") "\n", 1, 0, 1, 0, 0, 0x11, "run",
          "/usr/lib/x.so" },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct folder f;
        print_message("  %s\n", row[i].what);
        folder_load(&f, "ai_ctrl_cpu.data", false, row[i].text, strlen(row[i].text));
        const struct cpu_samples *c = &f.usage.samples[row[i].n_ctrl > 0 ? SAMPLED_CTRL : SAMPLED_AI];
        assert_int_equal(f.usage.samples[SAMPLED_AI].n, row[i].n_ai);
        assert_int_equal(f.usage.samples[SAMPLED_CTRL].n, row[i].n_ctrl);
        assert_int_equal(lost(&f, LOSS_BAD_TEXT), row[i].bad);
        assert_int_equal(lost(&f, LOSS_CUT_SHORT), row[i].cut);
        assert_int_equal(lost(&f, LOSS_OTHER_KIND), row[i].other);
        if (c->n > 0) {
            assert_int_equal(c->event[c->n - 1], row[i].event);
            assert_int_equal(c->count[c->n - 1], 53);
            assert_string_equal(name(&f, c->function[c->n - 1]), row[i].function);
            assert_string_equal(name(&f, c->module[c->n - 1]), row[i].module);
        }
        folder_free(&f);
    }
    (void)state;
}

static void the_scheduler_counts_what_was_asked_for(void **state)
{
    uint8_t rec[304 * 2];
    struct folder f;
    for (size_t i = 0; i < 2; i++) {
        layout_init(&ts_cpu_layout, rec + 304 * i);
        layout_put(&ts_cpu_layout, TS_CPU_PC, rec + 304 * i, 0x809c);
        for (unsigned k = 0; k < TS_CPU_PAIRS; k++) {
            layout_put(&ts_cpu_layout, TS_CPU_FIRST + 2 * k, rec + 304 * i, 0x11 + k);
            layout_put(&ts_cpu_layout, TS_CPU_FIRST + 2 * k + 1, rec + 304 * i, 100 + k);
        }
    }
    layout_put(&ts_cpu_layout, TS_CPU_FIRST + 4, rec + 304, 0xED); /* there is no such event */
    folder_load(&f, "tscpu.data", false, rec, sizeof rec);
    const struct cpu_samples *c = &f.usage.samples[SAMPLED_TS];
    assert_int_equal(c->n, 1);
    assert_int_equal(c->event[0], 0x11);
    assert_int_equal(c->count[0], 100);
    assert_string_equal(name(&f, c->function[0]), "0x809c");
    assert_int_equal(lost(&f, LOSS_BAD_VALUE), 1);
    folder_free(&f);
    (void)state;
}

static void dvpp_units_are_summed_up(void **state)
{
    static const struct {
        const char *what, *text;
        size_t n;
        uint64_t bad;
        double busy_us; /* of the last unit, as are the others */
        const char *percent;
    } row[] = {
        { "from the first sample to the last", "1 0 2 0 900 30 44% 1 1 1% 5 2\n2 0 2 0 904 31 45% 1 1 1% 5 2\n", 1, 0,
          4, "45" },
        { "chips that do not number them", "1:5 2 0 900 30 44% 1 1 1% 5 2\n", 1, 0, 0, "44" },
        { "a heading", "time dvpp_id engine_type\n1 0 2 0 900 30 44% 1 1 1% 5 2\n", 1, 0, 0, "44" },
        { "two units", "1 0 2 1 900 30 44% 1 1 1% 5 2\n1 0 2 0 900 30 43% 1 1 1% 5 2\n", 2, 0, 0, "44" },
        { "a torn line", "1 0 2 0 900 30 44% 1 1 1% 5 2\n2 0 2 0 9", 1, 1, 0, "44" },
        { "a unit that cannot be", "1 0 2 65536 900 30 44% 1 1 1% 5 2\n", 0, 1, 0, NULL },
        { "a time that nobody can hold", "1 0 2 0 1e999 30 44% 1 1 1% 5 2\n", 0, 1, 0, NULL },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct folder f;
        print_message("  %s\n", row[i].what);
        folder_load(&f, "dvpp.data", false, row[i].text, strlen(row[i].text));
        const struct dvpp_units *d = &f.usage.dvpp;
        assert_int_equal(d->n, row[i].n);
        assert_int_equal(lost(&f, LOSS_BAD_TEXT), row[i].bad);
        if (d->n > 0) {
            assert_true(d->at[d->n - 1].busy_us == row[i].busy_us);
            assert_string_equal(name(&f, d->at[d->n - 1].percent), row[i].percent);
        }
        folder_free(&f);
    }
    (void)state;
}

static void counters_are_summed_up(void **state)
{
    static const struct {
        const char *what, *text;
        size_t n;
        uint64_t first, last, most, samples, bad;
    } row[] = {
        { "two samples of one counter", "time 1\nnode0 memory_kb=7\ntime 2\nnode0 memory_kb=5\n", 1, 7, 5, 7, 2, 0 },
        { "of two things", "time 1\na/1 x=7\nb/1 x=8\n", 2, 7, 7, 7, 1, 0 },
        { "of two counters, in another order", "time 1\na x=7 y=1\ntime 2\na y=2 x=9\n", 2, 7, 9, 9, 2, 0 },
        { "no number", "time 1\na x=7 y=z\n", 1, 7, 7, 7, 1, 1 },
        { "no head", "a x=7\n", 0, 0, 0, 0, 0, 1 },
        { "a head without a time", "time x\na x=7\n", 0, 0, 0, 0, 0, 2 },
        { "nothing is counted", "time 1\na\n", 0, 0, 0, 0, 0, 1 },
    };
    for (size_t i = 0; i < ROWS(row); i++) {
        struct folder f;
        print_message("  %s\n", row[i].what);
        folder_load(&f, i % 2 ? "host_numa.data" : "host_roce.data", true, row[i].text, strlen(row[i].text));
        const struct host_counts *c = &f.usage.counts[i % 2 ? COUNTS_NUMA : COUNTS_ROCE];
        assert_int_equal(c->n, row[i].n);
        assert_int_equal(lost(&f, LOSS_BAD_TEXT), row[i].bad);
        if (c->n > 0)
            assert_true(c->at[0].first == row[i].first && c->at[0].last == row[i].last &&
                        c->at[0].most == row[i].most && c->at[0].n == row[i].samples);
        folder_free(&f);
    }
    (void)state;
}

/* Whatever the file: no crash, nothing beyond its end, and every prefix of a good file loads. */
static void damaged_files_load(void **state)
{
    static const struct {
        const char *family, *text;
    } row[] = {
        { "host_cpu.data",
          CPU_SAMPLE("5", "1.00", STAT("7", "10", "5", "3")) CPU_SAMPLE("8", "2.00", STAT("7", "40", "15", "3")) },
        { "host_mem.data", "5 9 100 1\n8 9 200 1\n" },
        { "host_network.data", "time 0\n" ETH("0", "0") "time 1000000000\n" ETH("1024", "4096") },
        { "host_disk.data", "start_time 100\n" HEADING DISK("1 K/s 2 M/s 0.00 % 7.5 % x") },
        { "host_syscall.data", "1.0 ( ): a/1 futex(uaddr: 1) ...\n1.0 (2.5 ms): a/1  ... [continued]: futex()) = 0\n" },
        { "host_pthreadcall.data",
          "[pid 2] 7.0 a->pthread_join(1, <unfinished ...>\n[pid 2] 7.5 <... pthread_join resumed> ) = 0 <0.4>\n" },
        { "host_numa.data", "time 1\nnode0 memory_kb=7 numa_hit=5\ntime 2\nnode0 memory_kb=8 numa_hit=9\n" },
        { "host_sys_cpu.data", "TimeStamp:1\ncpu" TICKS "cpu1" TICKS "\n" },
        { "host_sys_mem.data", "TimeStamp:1\nMemTotal: 9 kB\nHugePages_Free: 3\n\n" },
        { "12-CpuUsage.data", "TimeStamp:1\n" STAT("12", "5", "6", "0") "ProcessName:a b\ncpu " TICKS "\n" },
        { "12-Memory.data", "TimeStamp:1\n9 5 3 0 0 0 0\nProcessName:a b\n\n" },
        { "ai_ctrl_cpu.data", HEAD("001", "raw 0x1b") FRAME("run+0xa4") "\n" },
        { "dvpp.vdec", "1 0 2 0 900 30 44% 1 1 1% 5 2\n" },
    };
    uint64_t random = RANDOM_SEED;
    for (size_t i = 0; i < ROWS(row); i++) {
        const size_t len = strlen(row[i].text);
        char text[1024];
        struct folder f;
        for (size_t cut = 0; cut <= len; cut++) {
            folder_load(&f, row[i].family, true, row[i].text, cut);
            folder_free(&f);
        }
        for (size_t at = 0; at < len; at++) {
            memcpy(text, row[i].text, len);
            text[at] = (char)random_next(&random);
            folder_load(&f, row[i].family, true, text, len);
            folder_free(&f);
        }
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gauges_give_a_row_for_each_period),
        cmocka_unit_test(threads_have_what_they_spent),
        cmocka_unit_test(cards_have_what_passed),
        cmocka_unit_test(tracers_report_calls),
        cmocka_unit_test(snapshots_count_when_they_are_whole),
        cmocka_unit_test(perf_reports_where_cycles_went),
        cmocka_unit_test(the_scheduler_counts_what_was_asked_for),
        cmocka_unit_test(dvpp_units_are_summed_up),
        cmocka_unit_test(counters_are_summed_up),
        cmocka_unit_test(damaged_files_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
