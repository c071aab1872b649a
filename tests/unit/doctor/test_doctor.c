/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of `ascope doctor` on machines that are made up: files below a folder, and answers of a kernel that is not
 * ours. */
#include "test.h"

#include <errno.h>
#include <sys/resource.h>

#include "collect/samplers/host_sampler.h"
#include "doctor/check.h"
#include "doctor/doctor.h"
#include "folder.h"

/* ---- a machine ---- */

static struct perf_count faults;
static const char *trouble_of_calls = "tracefs is not readable";
static int trouble_of_stats, trouble_of_memory;

static bool kernel_calls(const char **why)
{
    *why = trouble_of_calls;
    return !trouble_of_calls;
}

static struct perf_count perf_faults(void)
{
    return faults;
}

static int task_stats(void)
{
    return trouble_of_stats;
}

static int memory(void)
{
    return trouble_of_memory;
}

static double slow_clock(void)
{
    return 400;
}

static const struct system_tries made_up = { perf_faults, kernel_calls, task_stats, memory, memory, slow_clock };

static void file_put(const char *path, const char *text)
{
    char full[600];
    snprintf(full, sizeof full, "%s%s", folder, path);
    for (char *slash = full + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *const f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static struct machine_finding look(const char *name)
{
    static const struct machine_check *const table[] = { host_checks, hardware_checks, place_checks };
    static char out[80];
    struct machine_finding f = { 0 };
    snprintf(out, sizeof out, "%s/out", folder);
    const struct examined m = { .root = folder, .tries = &made_up, .out = out };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (const struct machine_check *c = table[i]; c->name; c++)
            if (strcmp(c->name, name) == 0) {
                check_run(c, &m, &f);
                return f;
            }
    fail_msg("no check %s", name);
    return f;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in \"%s\"", part, text);
}

/* ---- files ---- */

#define STATUS(more) "Name:\tascope\n" more "\n"
#define CAP_PTRACE                                                                                                     \
    {                                                                                                                  \
        "/proc/self/status", STATUS("CapEff:\t0000000000080000")                                                       \
    }
#define PERFMON STATUS("CapEff:\t0000004000000000")
#define NOBODY  STATUS("CapEff:\t0000000000000000")
#define MOUNT   "22 27 0:21 / /proc rw,relatime - proc proc rw"

static void states_follow_the_files_of_the_system(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what, *check;
        const char *file[3][2];
        enum finding_state state;
        const char *fact, *advice;
    } row[] = {
        { "no /proc at all", "/proc", { { 0 } }, FINDING_MISSING, "/proc/self/stat (No such file", "mount -t proc" },
        { "processes, but not the system", "/proc", { { "/proc/self/stat", "1" }, { "/proc/self/statm", "1" } },
          FINDING_LIMITED, "not readable: /proc/uptime", "subset=pid" },
        { "no I/O accounting", "process I/O", { { 0 } }, FINDING_MISSING, "No such file", "TASK_IO_ACCOUNTING" },
        { "a file without the counts", "process I/O", { { "/proc/self/io", "rchar: 1\n" } }, FINDING_MISSING, "no counts", "" },
        { "I/O of this user", "process I/O", { { "/proc/self/io", "rchar: 1\nread_bytes: 1\n" } },
          FINDING_OK, "of this user's processes", "" },
        { "I/O of all", "process I/O", { { "/proc/self/io", "read_bytes: 1\n" }, CAP_PTRACE }, FINDING_OK, "of all users' processes", "" },
        { "nothing is hidden", "other processes", { { "/proc/self/mountinfo", MOUNT "\n" } }, FINDING_OK, "visible", "" },
        { "hidepid", "other processes", { { "/proc/self/mountinfo", MOUNT ",hidepid=invisible,gid=5\n" } },
          FINDING_LIMITED, "hidepid=invisible", "remount" },
        { "a later mount counts", "other processes", { { "/proc/self/mountinfo",
          MOUNT ",hidepid=2\n" MOUNT "\n24 1 0:3 / /x rw - proc proc rw,hidepid=2\n" } }, FINDING_OK, "visible", "" },
        { "hidepid with the capability", "other processes", { { "/proc/self/mountinfo", MOUNT ",hidepid=2\n" },
          CAP_PTRACE }, FINDING_OK, "does not apply", "" },
        { "no Yama", "ptrace", { { 0 } }, FINDING_OK, "no Yama", "" },
        { "Yama, children only", "ptrace", { { "/proc/sys/kernel/yama/ptrace_scope", "1\n" } }, FINDING_OK, "is 1", "" },
        { "Yama", "ptrace", { { "/proc/sys/kernel/yama/ptrace_scope", "2\n" } }, FINDING_LIMITED, "is 2", "CAP_SYS_PTRACE" },
        { "Yama, with the capability", "ptrace", { { "/proc/sys/kernel/yama/ptrace_scope", "2\n" }, CAP_PTRACE },
          FINDING_OK, "is 2", "" },
        { "Yama, for nobody", "ptrace", { { "/proc/sys/kernel/yama/ptrace_scope", "3\n" }, CAP_PTRACE },
          FINDING_LIMITED, "is 3", "" },
        { "no tracefs", "tracefs", { { 0 } }, FINDING_MISSING, "not mounted", "mount -t tracefs" },
        { "tracefs", "tracefs", { { "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "348\n" } }, FINDING_OK, "readable", "" },
        { "tracefs below debugfs", "tracefs", { { "/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id", "348\n" } },
          FINDING_OK, "readable", "" },
        { "no number in it", "tracefs", { { "/sys/kernel/tracing/events/raw_syscalls/sys_enter/id", "x\n" } },
          FINDING_MISSING, "Invalid", "" },
        { "one node", "NUMA", { { "/sys/devices/system/node/node0/numastat", "" } }, FINDING_NOT_APPLICABLE, "one node", "" },
        { "two nodes", "NUMA", { { "/sys/devices/system/node/node0/numastat", "" }, { "/sys/devices/system/node/node1/numastat",
          "" }, { "/sys/devices/system/node/online", "0-1" } }, HOST_SAMPLED & ASCOPE_HOST_NUMA ? FINDING_OK : FINDING_LIMITED, "2 nodes", "" },
        { "no cards", "network", { { "/sys/class/net/lo/speed", "10\n" } }, FINDING_NOT_APPLICABLE, "no cards", "" },
        { "a card of unknown speed", "network", { { "/sys/class/net/eth0/speed", "-1\n" } },
          FINDING_LIMITED, "speed unknown: eth0", "bytes" },
        { "cards", "network", { { "/sys/class/net/eth10/speed", "100\n" }, { "/sys/class/net/eth2/speed", "25000\n" },
          { "/sys/class/net/veth/speed", "-1\n" } }, FINDING_OK, "eth2 25000 Mbit/s, eth10 100 Mbit/s; speed unknown: veth", "" },
        { "no InfiniBand", "InfiniBand, RoCE", { { 0 } }, FINDING_NOT_APPLICABLE, "no cards", "" },
        { "InfiniBand", "InfiniBand, RoCE", { { "/sys/class/infiniband/mlx5_0/node_type", "1" } }, FINDING_LIMITED, "mlx5_0", "" },
        { "no container", "container", { { 0 } }, FINDING_OK, "none found", "" },
        { "docker", "container", { { "/.dockerenv", "" } }, FINDING_LIMITED, "docker", "outside" },
        { "a named container", "container", { { "/run/systemd/container", "lxc\n" } }, FINDING_LIMITED, "lxc", "outside" },
        { "no filters", "seccomp", { { "/proc/self/status", STATUS("Seccomp:\t0\nSeccomp_filters:\t0") } }, FINDING_OK, "no filters", "" },
        { "filters", "seccomp", { { "/proc/self/status", STATUS("Seccomp:\t2\nSeccomp_filters:\t3") } },
          FINDING_LIMITED, "filters: 3", "" },
        { "an old kernel", "seccomp", { { "/proc/self/status", STATUS("Threads:\t1") } }, FINDING_OK, "unknown", "" },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        folder_make(state);
        for (size_t k = 0; k < 3 && row[i].file[k][0]; k++)
            file_put(row[i].file[k][0], row[i].file[k][1]);
        const struct machine_finding f = look(row[i].check);
        assert_int_equal(f.state, row[i].state);
        has(f.fact, row[i].fact);
        has(f.advice, row[i].advice);
        folder_remove(state);
    }
}

static void limits_of_cgroups_are_found_wherever_they_are(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what, *check;
        const char *file[3][2];
        const char *fact; /* "": no limit */
    } row[] = {
        { "no cgroups", "CPUs", { { 0 } }, "" },
        { "no limit", "CPUs", { { "/proc/self/cgroup", "0::/\n" }, { "/sys/fs/cgroup/cpu.max", "max 100000\n" } }, "" },
        { "a limit of the container", "CPUs", { { "/proc/self/cgroup", "0::/\n" }, { "/sys/fs/cgroup/cpu.max",
          "150000 100000\n" } }, "at most 1.50 CPUs" },
        { "a limit above, smaller than its own", "CPUs", { { "/proc/self/cgroup", "0::/a/b\n" }, { "/sys/fs/cgroup/a/cpu.max",
          "50000 100000\n" }, { "/sys/fs/cgroup/a/b/cpu.max", "90000 100000\n" } }, "at most 0.50 CPUs" },
        { "the first version", "CPUs", { { "/proc/self/cgroup", "3:cpu,cpuacct:/x\n0::/\n" },
          { "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "200000\n" }, { "/sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n" } },
          "at most 2.00 CPUs" },
        { "the first version, no limit", "CPUs", { { "/proc/self/cgroup", "3:cpu,cpuacct:/x\n" },
          { "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "-1\n" } }, "" },
        { "a path of the host that the container does not have", "memory", { { "/proc/self/cgroup", "4:memory:/docker/1234\n" },
          { "/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n" }, { "/proc/meminfo", "MemTotal: 8388608 kB\n" } },
          "8.0 GiB, 2.0 GiB at most" },
        { "a limit beyond the memory", "memory", { { "/proc/self/cgroup", "0::/\n" }, { "/sys/fs/cgroup/memory.max",
          "99147483648\n" }, { "/proc/meminfo", "MemTotal: 8388608 kB\n" } }, "" },
        { "the largest number", "memory", { { "/proc/self/cgroup", "4:memory:/\n" },
          { "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n" } }, "" },
        { "no lines of the kernel's", "memory", { { "/proc/self/cgroup", "garbage\n:\n\n::::\n" } }, "" },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        folder_make(state);
        for (size_t k = 0; k < 3 && row[i].file[k][0]; k++)
            file_put(row[i].file[k][0], row[i].file[k][1]);
        const struct machine_finding f = look(row[i].check);
        if (*row[i].fact)
            assert_int_equal(f.state, FINDING_LIMITED);
        has(f.fact, row[i].fact);
        assert_int_equal(strstr(f.fact, "cgroup") != NULL, *row[i].fact != '\0');
        folder_remove(state);
    }
}

/* ---- what the kernel answers ---- */

static void an_event_that_counts_nothing_is_none(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what, *status, *calls;
        struct perf_count faults;
        enum finding_state state;
        const char *fact, *advice;
    } row[] = {
        { "refused", NOBODY, "EACCES", { .why = EACCES }, FINDING_MISSING, "is 3; EACCES; other events: Permission", "CAP_PERFMON" },
        { "not in this kernel, or filtered", NOBODY, "ENOSYS", { .why = ENOSYS }, FINDING_MISSING, "not implemented", "CONFIG_PERF_EVENTS" },
        { "opened, and nothing counted", NOBODY, "no", { .made = 64 }, FINDING_MISSING, "count nothing", "" },
        { "all but system calls", NOBODY, "no", { .made = 64, .counted = 64 }, FINDING_LIMITED, "other events are counted", "tracefs" },
        { "everything works", PERFMON, NULL, { 0 }, FINDING_OK, "is 3, which does not apply to CAP_PERFMON; system calls", "" },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        folder_make(state);
        file_put("/proc/sys/kernel/perf_event_paranoid", "3\n");
        file_put("/proc/self/status", row[i].status);
        trouble_of_calls = row[i].calls;
        faults = row[i].faults;
        const struct machine_finding f = look("perf_event_open");
        assert_int_equal(f.state, row[i].state);
        has(f.fact, row[i].fact);
        has(f.advice, row[i].advice);
        folder_remove(state);
    }
    has(look("tracefs").fact, "ascope mounts a private one"); /* not mounted, and permitted all the same */
    trouble_of_calls = "no";
    assert_int_equal(look("tracefs").state, FINDING_MISSING);
}

static void calls_that_are_refused_are_limits(void **state)
{
    trouble_of_stats = EPERM;
    has(look("delay accounting").fact, "not permitted");
    trouble_of_stats = 0;
    has(look("delay accounting").fact, "is off");
    file_put("/proc/sys/kernel/task_delayacct", "1\n");
    has(look("delay accounting").fact, "is on");

    trouble_of_memory = ENOSYS;
    assert_int_equal(look("membarrier").state, FINDING_LIMITED);
    has(look("memory in advance").advice, "5.14");
    trouble_of_memory = 0;
    assert_int_equal(look("membarrier").state, FINDING_OK);
    assert_int_equal(look("clock_gettime").state, FINDING_LIMITED);
    has(look("clock_gettime").fact, "400 ns");
    (void)state;
}

/* On this machine, whichever it is: the calls are made, and answer one way or the other. */
static void the_real_kernel_answers(void **state)
{
    const struct system_tries *t = &system_tries_real;
    const struct perf_count c = t->perf_faults();
    assert_true(c.why != 0 || c.counted <= 4 * c.made);
    const char *reason = NULL;
    assert_int_equal(t->kernel_calls(&reason), reason == NULL);
    const int why = t->task_stats();
    assert_true(why >= 0 && why != EPROTO && why != EINVAL);
    assert_true(t->membarrier() >= 0 && t->populate() >= 0);
    assert_true(t->clock_ns() > 0);
    (void)state;
}

/* ---- the place ---- */

static void the_place_is_tried_and_left_alone(void **state)
{
    struct machine_finding f = look("output directory"); /* not there: its parent is tried */
    assert_int_equal(f.state, FINDING_OK);
    has(f.fact, "will be created");
    assert_int_equal(look("links").state, FINDING_NOT_APPLICABLE);
    assert_int_equal(look("rings").state, FINDING_OK);
    assert_int_equal(folder_count(), 0);

    mkdir(folder_path("real"), 0700);
    assert_int_equal(symlink("real", folder_path("out")), 0);
    has(look("output directory").fact, "writable");
    has(look("links").fact, "/real");
    remove(folder_path("real"));
    f = look("output directory");
    assert_int_equal(f.state, FINDING_MISSING);
    has(f.fact, "dangling link");
    remove(folder_path("out"));

    file_put("/out", "");
    f = look("output directory");
    assert_int_equal(f.state, FINDING_MISSING);
    has(f.fact, "a file is where");
    has(f.advice, "--out");
    remove(folder_path("out"));

    mkdir(folder_path("out"), 0700);
    chmod(folder_path("out"), 0777);
    f = look("output directory");
    assert_int_equal(f.state, FINDING_LIMITED);
    has(f.advice, "chmod");
    folder_limit(1 << 20);
    f = look("rings");
    folder_limit(0);
    assert_int_equal(f.state, FINDING_MISSING);
    has(f.fact, "File too large");
    has(f.advice, "ring_dir");
    (void)state;
}

static void file_systems_and_room_are_judged(void **state)
{
    struct machine_finding f = { 0 };
    assert_int_equal(file_system_finding(0xEF53, &f), FINDING_OK);
    assert_string_equal(f.fact, "ext4");
    assert_int_equal(file_system_finding(0x6969, &f), FINDING_LIMITED);
    has(f.advice, "ring_dir=/dev/shm");
    assert_int_equal(file_system_finding(0x01021994, &f), FINDING_LIMITED);
    has(f.effect, "memory");
    assert_int_equal(file_system_finding(0x794c7630, &f), FINDING_LIMITED);
    has(f.advice, "volume");
    f = (struct machine_finding){ 0 };
    assert_int_equal(file_system_finding(0x12345678, &f), FINDING_OK);
    has(f.fact, "0x12345678");

    assert_int_equal(room_finding(UINT64_C(3840000000), &f), FINDING_OK);
    assert_string_equal(f.fact, "3662 MiB free: 1.0 minutes of a million records of 64 bytes per second");
    assert_int_equal(room_finding(UINT64_C(1) << 29, &f), FINDING_LIMITED);
    assert_int_equal(room_finding(1 << 20, &f), FINDING_MISSING);
    assert_int_equal(room_finding(UINT64_C(20) << 40, &f), FINDING_OK);
    has(f.fact, "20480 GiB");
    (void)state;
}

static void limits_of_the_process_are_reported(void **state)
{
    struct rlimit was, now;
    getrlimit(RLIMIT_NOFILE, &was);
    now = was;
    now.rlim_cur = 100;
    setrlimit(RLIMIT_NOFILE, &now);
    const struct machine_finding f = look("open files");
    setrlimit(RLIMIT_NOFILE, &was);
    assert_int_equal(f.state, FINDING_LIMITED);
    has(f.fact, "100");
    has(f.advice, "ulimit -n");
    folder_limit(3 << 20);
    assert_int_equal(look("file size").state, FINDING_LIMITED);
    has(look("file size").fact, "3 MiB");
    folder_limit(0);
    (void)state;
}

/* ---- programs and Python ---- */

static void programs_cannot_hold_up_the_doctor(void **state)
{
    static struct program_output o;
    /* clang-format off */
    static const struct {
        const char *what, *script;
        bool is_late, is_cut;
        int exit_code;
        const char *text;
    } row[] = {
        { "it prints and ends", "echo one; echo two >&2; exit 3", false, false, 3, "one\ntwo\n" },
        { "it reads", "cat; echo read", false, false, 0, "read\n" },
        { "it hangs", "echo one; sleep 1000", true, false, -1, "one\n" },
        { "it ignores signals and hangs", "trap '' TERM INT HUP; while :; do sleep 1000; done", true, false, -1, "" },
        { "it closes its output and hangs", "exec >&- 2>&-; sleep 1000", true, false, -1, "" },
        { "it prints without end", "exec yes", false, true, -1, "y\n" },
        { "its child keeps the output open", "sleep 1000 & echo gone", false, false, 0, "gone\n" },
        { "it kills itself", "kill -9 $$", false, false, -1, "" },
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        print_message("  %s\n", row[i].what);
        char *const argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)row[i].script, NULL };
        program_run(argv, row[i].is_late ? 300 : 60000, &o);
        assert_int_equal(o.why, 0);
        assert_int_equal(o.is_late, row[i].is_late);
        assert_int_equal(o.is_cut, row[i].is_cut);
        assert_int_equal(o.exit_code, row[i].exit_code);
        if (!row[i].is_late)
            assert_true(row[i].is_cut ? o.n_bytes == PROGRAM_OUTPUT_MOST : strcmp(o.text, row[i].text) == 0);
    }
    char *const none[] = { (char *)"/nowhere/python3", NULL };
    program_run(none, 60000, &o);
    assert_int_equal(o.why, ENOENT);
    char *const dir[] = { folder, NULL };
    program_run(dir, 60000, &o);
    assert_int_equal(o.why, EACCES);
    (void)state;
}

#define SAY "\nascope-doctor:"

/* What an interpreter may say, in place of Python. */
static void answers_of_python_are_judged(void **state)
{
    /* clang-format off */
    static const struct {
        const char *what, *says, *check;
        enum finding_state state;
        const char *fact;
    } row[] = {
        { "nothing", "", "Python", FINDING_MISSING, "printed nothing" },
        { "an error", "Segmentation fault\n", "Python", FINDING_MISSING, "exit code 0: Segmentation fault" },
        { "only its version, and hangs later", SAY "{\"version\": \"3.9.1\"}\nImportError: no\n", "Python",
          FINDING_LIMITED, "ImportError: no" },
        { "lies", SAY "{\"version\": 3, \"torch\": [1], \"ascope\": \"x\"}" SAY "{", "Python", FINDING_MISSING, "{" },
        { "unknown", SAY "{\"version\": \"3.9.1\"}\n", "PyTorch", FINDING_NOT_APPLICABLE, "unknown: exit code 0" },
        { "garbage between the lines", "x" SAY "{\"version\": \"3.9.1\", \"is_complete\": true}\ngarbage", "Python", FINDING_OK, "3.9.1" },
        { "no frameworks", SAY "{\"torch\": {\"found\": false}, \"is_complete\": true}\n", "PyTorch",
          FINDING_NOT_APPLICABLE, "not installed" },
        { "PyTorch", SAY "{\"torch\": {\"found\": true, \"version\": \"2.1\", \"path\": \"/t\"}, "
          "\"torch_import\": {\"version\": \"2.1.0\"}, \"is_complete\": true}\n", "PyTorch", FINDING_OK, "2.1.0, /t" },
        { "PyTorch that cannot be imported", SAY "{\"torch\": {\"found\": true, \"version\": \"2.1\"}, "
          "\"torch_import\": {\"trouble\": \"OSError: libc10\"}}\n", "PyTorch", FINDING_MISSING, "2.1, ; import: OSError: libc10" },
        { "PyTorch that hangs", SAY "{\"torch\": {\"found\": true, \"version\": \"2.1\", \"path\": \"/t\"}}\n", "PyTorch",
          FINDING_MISSING, "2.1, /t; import: exit code 0" },
        { "a listener", SAY "{\"torch\": {\"found\": true}, \"listener\": {\"is_built\": true, \"path\": \"/l\"}}\n",
          "PyTorch listener", FINDING_OK, "compiled for" },
        { "a listener to be compiled", SAY "{\"torch\": {\"found\": true}, "
          "\"listener\": {\"is_built\": false, \"compiler\": \"g++\"}}\n", "PyTorch listener", FINDING_OK, "compiler g++" },
        { "no compiler", SAY "{\"torch\": {\"found\": true}, \"listener\": {\"trouble\": \"no C++ compiler\"}}\n",
          "PyTorch listener", FINDING_MISSING, "no C++ compiler" },
        { "no package", SAY "{\"ascope\": {\"found\": false}}\n", "package ascope", FINDING_MISSING, "not found" },
        { "a package that cannot be imported", SAY "{\"ascope\": {\"found\": true, \"trouble\": \"ImportError: x\"}}\n",
          "package ascope", FINDING_MISSING, "cannot be imported: ImportError: x" },
        { "a package of another version", SAY "{\"ascope\": {\"found\": true, \"version\": \"0.0.0\"}}\n", "package ascope",
          FINDING_LIMITED, "0.0.0" },
        { "MindSpore", SAY "{\"mindspore\": {\"found\": true, \"version\": \"2.2\", \"path\": \"/m\"}}\n", "MindSpore",
          FINDING_LIMITED, "2.2, /m" },
        { "TensorFlow without a version", SAY "{\"tensorflow\": {\"found\": true, \"path\": \"/f\"}}\n", "TensorFlow",
          FINDING_LIMITED, "version unknown, /f" },
        { "torch_npu", SAY "{\"torch_npu\": {\"found\": true, \"version\": \"2.1\", \"path\": \"/n\"}}\n", "torch_npu",
          FINDING_OK, "2.1, /n" },
    };
    /* clang-format on */
    char python[100];
    snprintf(python, sizeof python, "%s/python", folder);
    file_put("/python", "#!/bin/sh\ncat ${0%/*}/says\n");
    chmod(python, 0700);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        static struct python_answer a;
        const struct examined m = { .root = folder, .tries = &made_up, .python = &a };
        struct machine_finding f = { 0 };
        print_message("  %s\n", row[i].what);
        file_put("/says", row[i].says);
        python_ask(&a, python, 60000);
        for (const struct machine_check *c = framework_checks; c->name; c++)
            if (strcmp(c->name, row[i].check) == 0)
                check_run(c, &m, &f);
        assert_int_equal(f.state, row[i].state);
        has(f.fact, row[i].fact);
        python_forget(&a);
    }
    (void)state;
}

static void a_python_that_hangs_is_reported(void **state)
{
    char python[100];
    struct doctor_report r;
    struct error e = { 0 };
    bool is_found = false;
    snprintf(python, sizeof python, "%s/python", folder);
    file_put("/python", "#!/bin/sh\nsleep 1000\n");
    chmod(python, 0700);
    assert_true(doctor_examine(&(struct doctor_request){ .out = folder, .python = python, .limit_ms = 300 }, &r, &e));
    for (size_t i = 0; i < r.findings.n; i++) {
        const struct doctor_finding *d = &r.findings.at[i];
        if (strcmp(d->is.name, "Python") == 0) {
            is_found = true;
            assert_int_equal(d->area, AREA_FRAMEWORKS);
            assert_int_equal(d->is.state, FINDING_MISSING);
            has(d->is.fact, "no answer within 1 s");
        }
        if (i > 0) /* by area */
            assert_true(d[-1].area <= d->area);
        if (d->is.state == FINDING_MISSING && i > 0 && d[-1].area == d->area) /* problems first */
            assert_int_equal(d[-1].is.state, FINDING_MISSING);
        if (d->is.state == FINDING_LIMITED || d->is.state == FINDING_MISSING) {
            assert_true(*d->is.fact && *d->is.effect);
        }
    }
    assert_true(is_found);
    assert_true(r.records_host);
    has(r.verdict, "the host can be recorded");
    has(r.verdict, "no PyTorch");
    doctor_end(&r);
    (void)state;
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
    unsetenv("KUBERNETES_SERVICE_HOST");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_follow_the_files_of_the_system),
        cmocka_unit_test(limits_of_cgroups_are_found_wherever_they_are),
        cmocka_unit_test(an_event_that_counts_nothing_is_none),
        IN_A_FOLDER(calls_that_are_refused_are_limits),
        cmocka_unit_test(the_real_kernel_answers),
        IN_A_FOLDER(the_place_is_tried_and_left_alone),
        cmocka_unit_test(file_systems_and_room_are_judged),
        IN_A_FOLDER(limits_of_the_process_are_reported),
        IN_A_FOLDER(programs_cannot_hold_up_the_doctor),
        IN_A_FOLDER(answers_of_python_are_judged),
        IN_A_FOLDER(a_python_that_hangs_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
