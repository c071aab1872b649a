/* SPDX-License-Identifier: Apache-2.0 */
/* damage - every prefix and every changed byte of every file of a collection, each through a whole export.
 *
 * damage [--values | --many N | --readers] [--seconds N] [--from N] [--every N] [--deep N] [--jobs N] [--only TEXT]
 * [--learn] DIR...
 *
 * With --values absurd numbers instead: in every field of every record and of all records at once, and for every number
 * in text and settings. With --many a file of records becomes N records long, with each of its fields all the same,
 * counting up, counting down and all over in turn: none of that may take much longer or more memory than the others.
 * With --readers the damage to bytes goes through the readers of records alone, which is a hundred times faster.
 * --learn lists which outputs the damage to each file has changed. DIR is a PROF directory, or the directory of a
 * framework: of that, what the framework has written is damaged.
 *
 * Works on copies in memory, in processes that may die: what a run must not do is noted, and the next one goes on
 * behind it. After each run must hold: a refusal has a reason; nothing half-written is left; a loss names a file that
 * exists and a place in it; a file that is cut inside a record is reported there; reports that have nothing to do with
 * the file are, byte for byte, what they are without the damage. After each --deep'th run every JSON file parses and
 * the database is sound.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pipeline/collection_write.h"
#include "pipeline/prof_write.h"
#include "guarded.h"
#include "inputs.h"
#include "load/prof/records.h"
#include "raw/all.h"

enum { MOST_FILES = 512, MOST_OUTPUTS = 256, MOST_JOBS = 64, RUN_SECONDS = 30, SHOWN = 40 };

#define OF_TASKS                                                                                                          \
    "aicpu_* hccl_statistic_* communication_statistic_* op_statistic_* op_summary_* task_time_* l2_cache_* page_fault_* " \
    "soc_pmu_* step_trace_*"
/* What a report is made of, where that is not nearly everything: damage to the file may change these outputs only (and
 * the timelines and the database, which hold everything). */
static const struct {
    const char *file, *outputs; /* patterns; several outputs are separated by blanks */
} made_of[] = {
    { "*-CpuUsage.data*", "process_cpu_usage_* cpu_usage_*" },
    { "*-Memory.data*", "process_mem_*" },
    { "*/Memory.data*", "sys_mem_*" },
    { "*/SystemCpuUsage.data*", "cpu_usage_*" },
    { "*/ai_ctrl_cpu.data*", "ai_cpu_* ctrl_cpu_*" },
    { "*/tscpu.data*", "ts_cpu_*" },
    { "*/aicpu.data*",
      "aicpu_* dp_* data_preprocess_* hccl_statistic_* communication_statistic_* op_summary_* step_trace_*" },
    { "*/dvpp.*", "dvpp_*" },
    { "*/ffts_profile.data*", "op_summary_*" },
    { "*/lpm*", "op_summary_*" },
    { "*/aicore.data*", "op_summary_* ai_core_utilization_*" },
    { "*/hbm.data*", "hbm_*" },
    { "*/hccs.data*", "hccs_*" },
    { "*/llc.data*", "llc_*" },
    { "*/netdev_stats.data*", "" },
    { "*/nic.data*", "nic_*" },
    { "*/roce.data*", "roce_*" },
    { "*/ddr.data*", "ddr_*" },
    { "*/npu_mem.*", "npu_mem_*" },
    { "*/npu_module_mem.data*", "npu_module_mem_*" },
    { "*/pcie.data*", "pcie_*" },
    { "*/qos.data*", "" },
    { "*/stars_soc_profile.data*", "" },
    { "*/l2_cache.data*", "l2_cache_*" },
    { "*/socpmu.data*", "soc_pmu_* page_fault_*" },
    { "*/stars_soc.data*", OF_TASKS },
    { "*/hwts.data*", OF_TASKS },
    { "*/ts_track.data*", OF_TASKS },
    { "*.msproftx.*", "msprof_tx_*" },
    { "*.task_memory_info.*", "memory_record_* operator_memory_*" },
    { "*.static_op_mem.*", "static_op_mem_*" },
    { "*.fusion_op_info.*", "fusion_op_*" },
    { "*.tensor_info.*", "op_summary_*" },
    { "*.hccl_info.*", OF_TASKS },
    { "*.hccl_op_info.*", OF_TASKS },
    { "*.context_id_info.*", OF_TASKS },
    { "*.node_basic_info.*", OF_TASKS },
    { "*.node_attr_info.*", "op_summary_*" },
    { "*.task_track.*", OF_TASKS },
    { "*.memcpy_info.*", OF_TASKS },
    { "*.capture_stream_info.*", OF_TASKS },
    { "*.Multi_Thread.*", "" },
    { "*.diagnostic.*", "" },
    { "*/host_cpu.data*", "host_cpu_usage_*" },
    { "*/host_disk.data*", "host_disk_usage_*" },
    { "*/host_mem.data*", "host_mem_usage_*" },
    { "*/host_network.data*", "host_network_usage_*" },
    { "*/host_pthreadcall.data*", "os_runtime_statistic_*" },
    { "*/host_syscall.data*", "os_runtime_statistic_*" },
    { "*/host_sys_cpu.data*", "cpu_usage_*" },
    { "*/host_sys_mem.data*", "sys_mem_*" },
    { "FRAMEWORK/torch.op_mark",
      "operator_details.csv kernel_details.csv step_trace_time.csv communication* operator_memory.csv" },
    { "FRAMEWORK/torch.memory_usage", "memory_record.csv operator_memory.csv" },
    { "FRAMEWORK/torch.python_tracer_*", "" },
    { "FRAMEWORK/torch.param_tensor_info", "" },
    { "FRAMEWORK/torch.gc_record", "" },
    { "FRAMEWORK/ascope.step_threads", "" },
    { "FRAMEWORK/ascope.graph_nodes", "kernel_details.csv operator_details.csv" },
    { "FRAMEWORK/mindspore.memory_usage", "operator_memory.csv" },
    { "FRAMEWORK/operator_memory_?.csv", "operator_memory.csv" },
    { "FRAMEWORK/mindspore.record_shapes", "operator_details.csv" },
    { "FRAMEWORK/cpu_ms_memory_record_?.txt", "memory_record.csv" },
    { "FRAMEWORK/cpu_op_execute_timestamp_?.txt", "" },
    { "FRAMEWORK/pipeline_profiling_?.json", "minddata_pipeline_*" },
    { "FRAMEWORK/minddata_cpu_utilization_?.json", "minddata_pipeline_*" },
    { "FRAMEWORK/*_profiling_?.txt", "minddata_pipeline_*" },
    { "profiler_metadata.json", "" },
    { "ascope.json", "" },
};

struct output {
    char name[160]; /* below the place for results */
    uint64_t hash;
};

/* Shared by all processes. */
struct board {
    atomic_size_t next, n_done, n_refused, n_lossy, n_deep, n_wrong;
    atomic_size_t current[MOST_JOBS];
    atomic_bool changed[MOST_FILES][MOST_OUTPUTS]; /* --learn */
};

static struct options {
    size_t from, every, deep;
    unsigned jobs;
    const char *only;
    bool learn, values, readers;
    size_t many;
    double seconds; /* of the processor, for one export */
} options = { .seconds = 5, .every = 1, .deep = 16, .jobs = 1, .only = "" };

static struct file files[MOST_FILES];
static size_t n_files, prof_len;
static struct output undamaged[MOST_OUTPUTS], now[MOST_OUTPUTS];
static size_t n_undamaged, n_now;
static struct inputs inputs;
static struct board *board;
static char home[100], prof[200], out[200];
static const struct framework_kind *kind; /* NULL: it is a PROF directory */

static uint8_t *read_file(const char *path, size_t *size)
{
    const int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        die(path);
    uint8_t *data = malloc((size_t)st.st_size + 1);
    *size = 0;
    for (ssize_t got; data && (got = read(fd, data + *size, (size_t)st.st_size - *size)) > 0;)
        *size += (size_t)got;
    close(fd);
    return data;
}

/* The family as the loader sees it: without aging, device and slice. */
static const struct family *family_of(const char *path)
{
    if (kind || !strstr(path, "/data/"))
        return NULL;
    const char *name = strrchr(path, '/') + 1;
    char stream[200];
    name += strncmp(name, "aging.", 6) == 0 ? 6 : strncmp(name, "unaging.", 8) == 0 ? 8 : 0;
    snprintf(stream, sizeof stream, "%s", name);
    char *slice = strstr(stream, ".slice_");
    if (slice)
        *slice = 0;
    char *device = strrchr(stream, '.');
    if (strncmp(path, "device_", 7) == 0 && device && device[1] >= '0' && device[1] <= '9')
        *device = 0;
    return family_find(stream);
}

static int take_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)ftw;
    const size_t len = strlen(path);
    if (type != FTW_F || n_files == MOST_FILES || (len > 5 && strcmp(path + len - 5, ".done") == 0))
        return 0;
    struct file *f = &files[n_files++];
    f->path = strdup(path + prof_len + 1);
    f->data = read_file(path, &f->size);
    f->family = family_of(f->path);
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->path, ((const struct file *)b)->path);
}

static const char *in_prof(const char *path)
{
    static char full[512];
    snprintf(full, sizeof full, "%s/%s", prof, path);
    return full;
}

static void put_bytes(const char *path, const void *data, size_t size)
{
    const int fd = open(in_prof(path), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        die(path);
    close(fd);
}

/* A copy of the collection for this process alone. */
static void make_home(unsigned worker)
{
    snprintf(home, sizeof home, "%s/ascope-damage-%ld-%u", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
             (long)getppid(), worker);
    snprintf(prof, sizeof prof, "%s/%s%s", home, kind ? "a_1_1" : "PROF_1",
             kind ? framework_names[kind->id].suffix : "");
    snprintf(out, sizeof out, "%s/out", home);
    mkdir(home, 0700);
    mkdir(prof, 0700);
    for (size_t i = 0; i < n_files; i++) {
        for (char *slash = files[i].path; (slash = strchr(slash, '/')); slash++) {
            *slash = 0;
            mkdir(in_prof(files[i].path), 0700);
            *slash = '/';
        }
        put_bytes(files[i].path, files[i].data, files[i].size);
    }
}

static int forget(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static const char *wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char complaint[1000];
static const char *wrong(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!complaint[0])
        vsnprintf(complaint, sizeof complaint, fmt, args);
    va_end(args);
    return complaint;
}

static bool one_of(const char *patterns, const char *name)
{
    char copy[400];
    snprintf(copy, sizeof copy, "%s", patterns);
    for (char *rest = copy, *p; (p = strsep(&rest, " "));)
        if (fnmatch(p, name, 0) == 0)
            return true;
    return false;
}

static bool looks_deep;

static bool is_everything(const char *name)
{
    const char *const session = "trace_view.json ascend_*_profiler_*.db analysis.db profiler_*.log";
    return strncmp(name, "msprof_", 7) == 0 || strcmp(name, "README.txt") == 0 || (kind && one_of(session, name));
}

static int look_at(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    if (type != FTW_F)
        return 0;
    if (strstr(path, ".part-"))
        wrong("%s was left behind", path);
    const char *name = path + ftw->base;
    if (n_now < MOST_OUTPUTS && !is_everything(name)) {
        size_t size;
        uint8_t *data = read_file(path, &size);
        uint64_t hash = 14695981039346656037U;
        for (size_t i = 0; i < size; i++)
            hash = (hash ^ data[i]) * 1099511628211U;
        free(data);
        snprintf(now[n_now].name, sizeof now[n_now].name, "%s", name);
        now[n_now++].hash = hash;
    }
    const char *ending = strrchr(name, '.');
    if (!looks_deep || !ending)
        return 0;
    if (strcmp(ending, ".json") == 0) {
        json_error_t why;
        json_t *json = json_load_file(path, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &why);
        if (!json)
            wrong("%s:%d: %s", name, why.position, why.text);
        json_decref(json);
    } else if (strcmp(ending, ".db") == 0) {
        sqlite3 *db = NULL;
        sqlite3_stmt *q = NULL;
        if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
            sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &q, NULL) != SQLITE_OK ||
            sqlite3_step(q) != SQLITE_ROW || strcmp((const char *)sqlite3_column_text(q, 0), "ok") != 0)
            wrong("%s: the database is not sound: %s", name, q ? (const char *)sqlite3_column_text(q, 0) : "");
        sqlite3_finalize(q);
        sqlite3_close(db);
    }
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct output *)a)->name, ((const struct output *)b)->name);
}

static void look_at_results(bool deep)
{
    n_now = 0;
    looks_deep = deep;
    nftw(out, look_at, 16, FTW_PHYS);
    qsort(now, n_now, sizeof *now, by_name);
}

/* Outputs that have nothing to do with the file are as they always are. */
static void check_others(const struct input *in)
{
    const char *mine = NULL;
    for (size_t i = 0; i < sizeof made_of / sizeof *made_of && !mine; i++)
        mine = fnmatch(made_of[i].file, in->file->path, 0) == 0 ? made_of[i].outputs : NULL;
    for (size_t i = 0, k = 0; i < n_undamaged; i++) {
        while (k < n_now && strcmp(now[k].name, undamaged[i].name) < 0)
            k++;
        const bool same = k < n_now && strcmp(now[k].name, undamaged[i].name) == 0 && now[k].hash == undamaged[i].hash;
        if (!same && options.learn)
            board->changed[in->file - files][i] = true;
        const bool counts_losses = strcmp(undamaged[i].name, "analyse.done") == 0;
        if (!same && mine && !one_of(mine, undamaged[i].name) && !counts_losses)
            wrong("%s is another, and has nothing to do with it", undamaged[i].name);
    }
}

/* Files of the device are named as their PROF directory knows them. */
static bool find_named(const char *file, struct stat *st)
{
    if (stat(in_prof(file), st) == 0)
        return true;
    for (size_t i = 0; kind && i < n_files; i++) {
        const char *below = strncmp(files[i].path, "PROF_", 5) == 0 ? strchr(files[i].path, '/') : NULL;
        if (below && strcmp(below + 1, file) == 0)
            return stat(in_prof(files[i].path), st) == 0;
    }
    return false;
}

static void check_losses(const struct input *in, const struct losses *lost)
{
    for (int why = 0; why < LOSS_KINDS; why++) {
        if (lost->by[why].n == 0 || !loss_is_damage((enum loss)why) || why == LOSS_UNREADABLE)
            continue;
        char file[300]; /* settings are named with their key: "host/info.json, cpuNums"; "ascope.json: operators 12" */
        snprintf(file, sizeof file, "%s", lost->by[why].file ? lost->by[why].file : "");
        file[strcspn(file, ",:")] = 0;
        struct stat st;
        if (!find_named(file, &st))
            wrong("%s: said to be in %s, which is no file", loss_key((enum loss)why), file);
        else if (lost->by[why].first_at > (uint64_t)st.st_size)
            wrong("%s: said to be at %s:%" PRIu64 ", which has %jd bytes", loss_key((enum loss)why), file,
                  lost->by[why].first_at, (intmax_t)st.st_size);
    }
    const struct family *family = in->file->family;
    if (in->kind == CUT && file_framework_layout(in->file) &&
        !strstr(in->file->path, "param_tensor_info")) { /* read by others */
        size_t at = 0;
        while (at < in->at && at + file_framework_record(in->file, at) <= in->at)
            at += file_framework_record(in->file, at);
        if (at < in->at &&
            (lost->by[LOSS_CUT_SHORT].n == 0 || strcmp(lost->by[LOSS_CUT_SHORT].file, in->file->path) != 0 ||
             lost->by[LOSS_CUT_SHORT].first_at != at))
            wrong("not reported that a record is cut short at %zu; reported %" PRIu64 " at %s:%" PRIu64, at,
                  lost->by[LOSS_CUT_SHORT].n, lost->by[LOSS_CUT_SHORT].file, lost->by[LOSS_CUT_SHORT].first_at);
    }
    if (in->kind == CUT && family && family->size > 0 && in->at % family->size != 0 &&
        !one_of("*.Multi_Thread.* *.diagnostic.*", in->file->path)) {
        const uint64_t at = in->at - in->at % family->size;
        if (lost->by[LOSS_CUT_SHORT].n == 0 || strcmp(lost->by[LOSS_CUT_SHORT].file, in->file->path) != 0 ||
            lost->by[LOSS_CUT_SHORT].first_at != at)
            wrong("not reported that a record is cut short at %" PRIu64 "; reported %" PRIu64 " at %s:%" PRIu64, at,
                  lost->by[LOSS_CUT_SHORT].n, lost->by[LOSS_CUT_SHORT].file, lost->by[LOSS_CUT_SHORT].first_at);
    }
}

static bool export_collection(const struct input *in)
{
    const struct output_options asked = { .want = WANT_ALL, .n_threads = 1, .out_dir = out };
    struct collection_result r = { 0 };
    struct error e = { 0 };
    const bool done = collection_export(kind, prof, &asked, NULL, &r, &e);
    if (!done && (e.fault == FAULT_NONE || !e.text[0]))
        wrong("a refusal without a reason");
    if (done && in) {
        check_losses(in, &r.collection.lost);
        board->n_lossy += losses_damage(&r.collection.lost) > 0;
    }
    collection_result_free(&r);
    return done;
}

static bool export_it(const struct input *in)
{
    if (kind)
        return export_collection(in);
    const struct output_options asked = {
        .want = WANT_ALL, .format = FORMAT_CSV, .n_threads = 1, .out_dir = out, .stamp = "20240601080000"
    };
    struct result r = { 0 };
    struct error e = { 0 };
    const bool done = prof_export(prof, &asked, NULL, &r, &e);
    if (!done && (e.fault == FAULT_NONE || !e.text[0]))
        wrong("a refusal without a reason");
    if (done && in) {
        check_losses(in, &r.profile.lost);
        board->n_lossy += losses_damage(&r.profile.lost) > 0;
    }
    result_free(&r);
    return done;
}

/* Of the processor: a machine may be busy with something else. */
static void set_limit(long seconds)
{
    const struct itimerval limit = { .it_value.tv_sec = seconds };
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(20 * (unsigned)seconds); /* for a run that waits for nobody */
}

/* The readers of records by themselves, on a stream of one slice that ends where nobody may read on. Each whole record
 * is used, damaged, or of another kind. */
static void read_records(const struct input *in)
{
    const struct file *f = in->file;
    const size_t record = file_record_size(f);
    size_t size;
    const uint8_t *bytes = input_bytes(in, &size);
    uint8_t *copy = guarded_copy(bytes, size);
    for (size_t l = 0; l < n_raw_layouts; l++) {
        if (raw_layouts[l]->size != record)
            continue;
        struct slice slice = { .name = f->path, .data = copy, .size = size };
        struct stream stream = { .family = "x", .slice = &slice, .n_slices = 1 };
        struct source s = { .path = "sample", .stream = &stream, .n_streams = 1, .mem = arena_new() };
        struct records r = { 0 };
        struct error e = { 0 };
        if (!records_load(&s, s.mem, "x", raw_layouts[l], true, &r, &e))
            wrong("%s: %s", raw_layouts[l]->name, e.text);
        const uint64_t n_bad = s.lost.by[LOSS_BAD_MAGIC].n, n_cut = s.lost.by[LOSS_CUT_SHORT].n;
        if (r.n + n_bad + stream.n_unread != size / record || n_cut != (size % record > 0))
            wrong("%s: %zu used, %" PRIu64 " damaged, %zu of other kinds, %" PRIu64 " cut short; %zu bytes",
                  raw_layouts[l]->name, r.n, n_bad, stream.n_unread, n_cut, size);
        arena_free(s.mem);
    }
    guarded_free(copy, size);
}

static void finish(const struct input *in)
{
    set_limit(0);
    board->n_done++;
    if (complaint[0] && board->n_wrong++ < SHOWN)
        printf("  %s:\n      %s\n", input_name(in), complaint);
    complaint[0] = 0;
    fflush(stdout);
}

static void run_one(unsigned worker, size_t number)
{
    const struct input in = inputs.at[number];
    board->current[worker] = number;
    set_limit(RUN_SECONDS);
    if (options.readers) {
        read_records(&in);
        finish(&in);
        return;
    }
    size_t size;
    const uint8_t *bytes = input_bytes(&in, &size);
    put_bytes(in.file->path, bytes, size);
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    const bool deep = number / options.every % options.deep == 0;
    const bool done = export_it(&in);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    const double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (seconds > options.seconds)
        wrong("took %.1f s", seconds);
    look_at_results(deep);
    if (done)
        check_others(&in);
    else if (n_now > 0)
        wrong("refused, and %s is there", now[0].name);
    nftw(out, forget, 16, FTW_DEPTH | FTW_PHYS);
    put_bytes(in.file->path, in.file->data, in.file->size);
    board->n_refused += !done;
    board->n_deep += deep;
    finish(&in);
}

void __lsan_do_leak_check(void) __attribute__((weak));

static void work(unsigned worker)
{
    make_home(worker);
    for (size_t number; (number = (board->next += options.every) - options.every) < inputs.n;)
        run_one(worker, number);
    nftw(home, forget, 16, FTW_DEPTH | FTW_PHYS);
}

static pid_t start(unsigned worker)
{
    board->current[worker] = SIZE_MAX;
    const pid_t pid = fork();
    if (pid == 0) {
        work(worker);
        exit(0); /* where leaks are found */
    }
    return pid;
}

static void note_death(unsigned worker, int status)
{
    board->n_wrong++;
    if (board->current[worker] < inputs.n)
        printf("  %s:\n      died: %s %d\n", input_name(&inputs.at[board->current[worker]]),
               WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    else
        printf("  a worker died at its end: leaks?\n");
    fflush(stdout);
}

static void campaign(const char *path)
{
    n_files = n_undamaged = inputs.n = 0;
    prof_len = strlen(path);
    kind = framework_kind_of(path, &(int){ 0 });
    nftw(path, take_file, 16, FTW_PHYS);
    qsort(files, n_files, sizeof *files, by_path);
    memset(board, 0, sizeof *board);
    board->next = options.from;
    const enum inputs_of what = options.readers    ? INPUTS_RECORD_BYTES
                                : options.many > 0 ? INPUTS_MASSES
                                : options.values   ? INPUTS_VALUES
                                                   : INPUTS_BYTES;
    for (size_t i = 0; i < n_files; i++)
        if (strstr(files[i].path, options.only) && !(kind && strncmp(files[i].path, "PROF_", 5) == 0))
            inputs_add(&inputs, &files[i], what, options.many);
    make_home(MOST_JOBS);
    if (!export_it(NULL))
        die("the undamaged collection cannot be exported");
    look_at_results(true);
    memcpy(undamaged, now, sizeof now);
    n_undamaged = n_now;
    nftw(home, forget, 16, FTW_DEPTH | FTW_PHYS);

    fflush(stdout);
    pid_t pid[MOST_JOBS];
    unsigned running = 0;
    for (; running < options.jobs; running++)
        pid[running] = start(running);
    while (running > 0) {
        int status;
        const pid_t ended = wait(&status);
        for (unsigned i = 0; i < options.jobs; i++) {
            if (pid[i] != ended)
                continue;
            if (status == 0) {
                running--;
                continue;
            }
            const bool at_end = board->current[i] == SIZE_MAX;
            note_death(i, status);
            if (at_end)
                running--;
            else
                pid[i] = start(i);
        }
    }
    printf("%s: %zu inputs, %zu refused, %zu with losses, %zu looked at deeply, %zu wrong\n", path, board->n_done,
           board->n_refused, board->n_lossy, board->n_deep, board->n_wrong);
    for (size_t i = 0; i < n_files && options.learn; i++) {
        printf("%s:", files[i].path);
        for (size_t k = 0; k < n_undamaged; k++)
            if (board->changed[i][k])
                printf(" %s", undamaged[k].name);
        printf("\n");
    }
    for (size_t i = 0; i < n_files; i++) {
        free(files[i].path);
        free(files[i].data);
    }
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        { "from", required_argument, NULL, 'f' },
        { "every", required_argument, NULL, 'e' },
        { "deep", required_argument, NULL, 'd' },
        { "jobs", required_argument, NULL, 'j' },
        { "only", required_argument, NULL, 'o' },
        { "readers", no_argument, NULL, 'r' },
        { "values", no_argument, NULL, 'v' },
        { "seconds", required_argument, NULL, 's' },
        { "many", required_argument, NULL, 'm' },
        { "learn", no_argument, NULL, 'l' },
        { 0 },
    };
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;)
        switch (c) {
        case 'f': options.from = strtoul(optarg, NULL, 10); break;
        case 'e': options.every = strtoul(optarg, NULL, 10); break;
        case 'd': options.deep = strtoul(optarg, NULL, 10); break;
        case 'j': options.jobs = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'o': options.only = optarg; break;
        case 's': options.seconds = strtod(optarg, NULL); break;
        case 'm': options.many = strtoul(optarg, NULL, 10); break;
        case 'r': options.readers = true; break;
        case 'v': options.values = true; break;
        case 'l': options.learn = true; break;
        default: return 2;
        }
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED || options.every == 0 || options.deep == 0 || options.jobs == 0 ||
        options.jobs >= MOST_JOBS)
        die("options");
    size_t n_wrong = 0;
    for (int i = optind; i < argc; i++) {
        campaign(argv[i]);
        n_wrong += board->n_wrong;
    }
    return n_wrong > 0;
}
