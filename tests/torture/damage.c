/* damage - every prefix and every changed byte of every file of a collection, each through a whole export.
 *
 *   damage [--values | --many N | --readers] [--seconds N] [--from N] [--every N] [--deep N] [--jobs N] [--only TEXT] [--learn] DIR...
 *
 * With --values absurd numbers instead: in every field of every record and of all records at once, and for every number in text
 * and settings. With --many a file of records becomes N records long, with each of its fields all the same, counting up, counting
 * down and all over in turn: none of that may take much longer or more memory than the others. With
 * --readers the damage to bytes goes through the readers of records alone, which is a hundred times faster. --learn lists which outputs the damage to each file has changed.
 * DIR is a PROF directory, or an *_ascend_pt directory: of that, what PyTorch has written is damaged.
 *
 * Works on copies in memory, in processes that may die: what a run must not do is noted, and the next one goes on behind it.
 * After each run must hold: a refusal has a reason; nothing half-written is left; a loss names a file that exists and a place
 * in it; a file that is cut inside a record is reported there; reports that have nothing to do with the file are, byte for
 * byte, what they are without the damage. After each --deep'th run every JSON file parses and the database is sound.
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

#include "export/session_write.h"
#include "export/write.h"
#include "guarded.h"
#include "load/records.h"
#include "load/session.h"
#include "raw/all.h"
#include "raw/family.h"
#include "raw/torch.h"

enum { MOST_FILES = 512, MOST_OUTPUTS = 256, MOST_JOBS = 64, RUN_SECONDS = 30, SHOWN = 40 };

#define OF_TASKS                                                                                                          \
    "aicpu_* hccl_statistic_* communication_statistic_* op_statistic_* op_summary_* task_time_* l2_cache_* page_fault_* " \
    "soc_pmu_* step_trace_*"
/* What a report is made of, where that is not nearly everything: damage to the file may change these outputs only (and the
 * timelines and the database, which hold everything). */
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
    { "profiler_metadata.json", "" },
};

/* Damage to one byte. */
static const struct {
    const char *name;
    uint8_t keep, flip; /* the new byte: old & keep ^ flip */
} change[] = {
    { "all bits", 0xFF, 0xFF },
    { "high bit", 0xFF, 0x80 },
    { "low bit", 0xFF, 0x01 },
    { "zero", 0, 0 },
};
enum { CHANGES = sizeof change / sizeof *change };

/* Numbers that nobody expects: in one field of one record, or in that field of all records. */
enum value { V_ZERO, V_ONE, V_MOST, V_SIGN, V_MOST_SIGNED, V_NEIGHBOUR, V_REVERSED, VALUES };
static const char *const value_name[VALUES] = {
    [V_ZERO] = "0",
    [V_ONE] = "1",
    [V_MOST] = "the largest",
    [V_SIGN] = "the sign alone",
    [V_MOST_SIGNED] = "the largest signed",
    [V_NEIGHBOUR] = "what the first record has",
    [V_REVERSED] = "what the last but as many has",
};

/* How a field goes on over many records; the rest of them repeats what is there. */
enum series { S_SAME, S_UP, S_DOWN, S_SPREAD, SERIES };
static const char *const series_name[SERIES] = { "all the same", "counting up", "counting down", "all over" };

/* The same for lines of text and settings, in place of any number. */
static const char *const word[] = { "",
                                    "0",
                                    "-1",
                                    "9223372036854775807",
                                    "18446744073709551615",
                                    "99999999999999999999999999",
                                    "1e308",
                                    "nan",
                                    "inf",
                                    "0.0000000000000000000000000001",
                                    "x",
                                    " ",
                                    "\n",
                                    "7 7" };
enum { WORDS = sizeof word / sizeof *word };

struct file {
    char *path; /* below the collection */
    uint8_t *data;
    size_t size;
    const struct family *family; /* NULL: settings */
};

struct output {
    char name[160]; /* below the place for results */
    uint64_t hash;
};

enum kind { CUT, BYTE, FIELD, COLUMN, WORD, MANY };
struct input {
    const struct file *file;
    enum kind kind;
    uint32_t at;           /* COLUMN: in the first record */
    uint32_t width, which; /* of the table of its kind */
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
static struct input *inputs;
static size_t n_inputs, room_for_inputs;
static struct board *board;
static char home[100], prof[200], out[200];
static bool is_session;

static void die(const char *what)
{
    fprintf(stderr, "damage: %s: %s\n", what, strerror(errno));
    exit(2);
}

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
    if (is_session || !strstr(path, "/data/"))
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
    snprintf(prof, sizeof prof, "%s/%s", home, is_session ? "a_1_1_ascend_pt" : "PROF_1");
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

static void add_input(const struct file *f, enum kind kind, size_t at, size_t width, size_t which)
{
    if (n_inputs == room_for_inputs) {
        room_for_inputs = room_for_inputs ? 2 * room_for_inputs : 4096;
        inputs = realloc(inputs, room_for_inputs * sizeof *inputs);
        if (!inputs)
            die("inputs");
    }
    inputs[n_inputs++] = (struct input){ f, kind, (uint32_t)at, (uint32_t)width, (uint32_t)which };
}

/* How long the records of a file are; 0: it holds text. */
static size_t record_size(const struct file *f)
{
    static const struct {
        const char *file;
        size_t size;
    } mixed[] = {
        { "*/ffts_profile.data*", 128 },
        { "*/aicore.data*", 128 },
        { "*/hbm.data*", 24 },
    };
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++)
        if (fnmatch(mixed[i].file, f->path, 0) == 0)
            return mixed[i].size;
    return f->family ? f->family->size : 0;
}

/* What PyTorch writes: how its records begin, and where. Two of the files are arrays. */
static const struct layout *torch_layout(const struct file *f)
{
    static const struct {
        const char *file;
        const struct layout *layout;
    } known[] = {
        { "FRAMEWORK/torch.op_range", &torch_op_layout },
        { "FRAMEWORK/torch.op_mark", &torch_mark_layout },
        { "FRAMEWORK/torch.memory_usage", &torch_memory_layout },
        { "FRAMEWORK/torch.python_tracer_hash", &python_key_layout },
        { "FRAMEWORK/torch.param_tensor_info", &python_key_layout },
        { "FRAMEWORK/torch.python_tracer_func", &python_call_layout },
        { "FRAMEWORK/torch.gc_record", &python_gc_layout },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(f->path, known[i].file) == 0)
            return known[i].layout;
    return NULL;
}

static size_t torch_head(const struct file *f)
{
    const struct layout *l = torch_layout(f);
    return l == &python_call_layout || l == &python_gc_layout ? 0 : TLV_HEAD;
}

static uint32_t tlv_size(const uint8_t *head)
{
    uint32_t size;
    memcpy(&size, head + 2, sizeof size);
    return size + TLV_HEAD;
}

static size_t torch_record(const struct file *f, size_t at)
{
    return torch_head(f) > 0 ? tlv_size(f->data + at) : torch_layout(f)->size;
}

/* A layout that shares its name with the file, or else any whose beginning tells. */
static bool describes(const struct layout *l, const struct file *f, const uint8_t *rec)
{
    return l->size == record_size(f) && match_holds(&l->magic, rec) && match_holds(&l->kind, rec) &&
           (strstr(f->path, l->name) || l->magic.width > 0 || l->kind.width > 0);
}

/* Several layouts know a field: once is enough. */
static bool is_first_to_know(size_t layout, unsigned field, const struct file *f, const uint8_t *rec)
{
    const struct field *mine = &raw_layouts[layout]->field[field];
    for (size_t i = 0; i < layout; i++)
        for (unsigned k = 0; k < raw_layouts[i]->n && describes(raw_layouts[i], f, rec); k++)
            if (raw_layouts[i]->field[k].off == mine->off && raw_layouts[i]->field[k].width == mine->width)
                return false;
    return true;
}

static void list_fields(const struct file *f)
{
    const size_t size = record_size(f);
    for (size_t at = 0; at + size <= f->size; at += size)
        for (size_t l = 0; l < n_raw_layouts; l++)
            for (unsigned k = 0; k < raw_layouts[l]->n && describes(raw_layouts[l], f, f->data + at); k++) {
                const struct field *field = &raw_layouts[l]->field[k];
                if (!is_first_to_know(l, k, f, f->data + at))
                    continue;
                for (unsigned v = 0; v < V_NEIGHBOUR; v++)
                    add_input(f, FIELD, at + field->off, field->width, v);
                for (unsigned v = 0; at == 0 && v < VALUES; v++)
                    add_input(f, COLUMN, field->off, field->width, v);
            }
}

static void list_values(const struct file *f, size_t at, size_t width)
{
    for (unsigned v = 0; v < V_NEIGHBOUR; v++)
        add_input(f, FIELD, at, width, v);
}

/* Every number of every record: its length, its fields, and the lengths of its texts; the fields also in all at once. */
static void list_torch_fields(const struct file *f)
{
    const struct layout *l = torch_layout(f);
    const size_t head = torch_head(f);
    for (size_t at = 0; at < f->size; at += torch_record(f, at)) {
        const size_t end = at + torch_record(f, at);
        if (head > 0)
            list_values(f, at + 2, W32);
        for (unsigned k = 0; k < l->n; k++) {
            list_values(f, at + head + l->field[k].off, l->field[k].width);
            for (unsigned v = 0; at == 0 && v < V_NEIGHBOUR; v++)
                add_input(f, COLUMN, head + l->field[k].off, l->field[k].width, v);
        }
        for (size_t text = at + head + l->size; head > 0 && text < end; text += tlv_size(f->data + text)) {
            list_values(f, text, W16);
            list_values(f, text + 2, W32);
        }
    }
}

static void list_series(const struct file *f)
{
    const struct layout *torch = torch_layout(f);
    for (unsigned k = 0; torch && k < torch->n; k++)
        for (unsigned v = 0; v < SERIES; v++)
            add_input(f, MANY, torch_head(f) + torch->field[k].off, torch->field[k].width, v);
    if (record_size(f) == 0 || f->size < record_size(f))
        return;
    for (size_t l = 0; l < n_raw_layouts; l++)
        for (unsigned k = 0; k < raw_layouts[l]->n && describes(raw_layouts[l], f, f->data); k++)
            for (unsigned v = 0; v < SERIES && is_first_to_know(l, k, f, f->data); v++)
                add_input(f, MANY, raw_layouts[l]->field[k].off, raw_layouts[l]->field[k].width, v);
}

static void list_words(const struct file *f)
{
    static const char digits[] = "0123456789.";
    for (size_t at = 0; at < f->size;) {
        size_t len = 0;
        while (at + len < f->size && f->data[at + len] && strchr(digits, f->data[at + len]))
            len++;
        for (size_t i = 0; len > 0 && i < WORDS; i++)
            add_input(f, WORD, at, len, i);
        at += len + 1;
    }
}

static void list_bytes(const struct file *f)
{
    for (size_t at = 0; at < f->size; at++)
        add_input(f, CUT, at, 0, 0);
    for (size_t i = 0; i < CHANGES; i++)
        for (size_t at = 0; at < f->size; at++)
            add_input(f, BYTE, at, 1, i);
}

static void list_records_bytes(const struct file *f)
{
    if (record_size(f) > 0)
        list_bytes(f);
}

static uint64_t value_of(const struct input *in, size_t row)
{
    const struct file *f = in->file;
    const size_t size = record_size(f), n = size > 0 ? f->size / size : 0;
    const uint64_t most = UINT64_MAX >> (64 - 8 * in->width);
    uint64_t v = 0;
    switch ((enum value)in->which) {
    case V_ZERO: return 0;
    case V_ONE: return 1;
    case V_MOST: return most;
    case V_SIGN: return most ^ most >> 1;
    case V_MOST_SIGNED: return most >> 1;
    case V_NEIGHBOUR: memcpy(&v, f->data + in->at, in->width); return v;
    case V_REVERSED: memcpy(&v, f->data + (n - 1 - row) * size + in->at, in->width); return v;
    case VALUES: break;
    }
    return v;
}

static uint64_t element_of(const struct input *in, size_t row)
{
    uint64_t first = 0;
    memcpy(&first, in->file->data + in->at, in->width);
    switch ((enum series)in->which) {
    case S_SAME: return first;
    case S_UP: return first + row;
    case S_DOWN: return first - row;
    case S_SPREAD: return row * 0x9E3779B97F4A7C15;
    case SERIES: break;
    }
    return 0;
}

/* Whole records, one after the other, with one field of their own. */
static void put_many_torch(const struct input *in)
{
    const struct file *f = in->file;
    const size_t room = options.many * (f->size + 1);
    uint8_t *bytes = malloc(room);
    size_t n = 0, at = 0;
    for (size_t row = 0; bytes && row < options.many; row++) {
        const size_t size = torch_record(f, at);
        memcpy(bytes + n, f->data + at, size);
        memcpy(bytes + n + in->at, &(uint64_t){ element_of(in, row) }, in->width);
        n += size;
        at = at + size < f->size ? at + size : 0;
    }
    if (!bytes)
        die("memory");
    put_bytes(f->path, bytes, n);
    free(bytes);
}

static void put_many(const struct input *in)
{
    const struct file *f = in->file;
    const size_t size = record_size(f), n_there = f->size / size;
    uint8_t *bytes = malloc(options.many * size);
    for (size_t row = 0; bytes && row < options.many; row++) {
        memcpy(bytes + row * size, f->data + row % n_there * size, size);
        memcpy(bytes + row * size + in->at, &(uint64_t){ element_of(in, row) }, in->width);
    }
    if (!bytes)
        die("memory");
    put_bytes(f->path, bytes, options.many * size);
    free(bytes);
}

/* What a file becomes; lent until the next one. */
static const uint8_t *damaged(const struct input *in, size_t *size)
{
    const struct file *f = in->file;
    static uint8_t bytes[1 << 21];
    *size = f->size;
    if (f->size + 64 > sizeof bytes)
        die("a file that is too large");
    memcpy(bytes, f->data, f->size);
    switch (in->kind) {
    case CUT: *size = in->at; break;
    case BYTE: bytes[in->at] = (uint8_t)((bytes[in->at] & change[in->which].keep) ^ change[in->which].flip); break;
    case FIELD: memcpy(bytes + in->at, &(uint64_t){ value_of(in, 0) }, in->width); break;
    case COLUMN:
        for (size_t at = 0; torch_layout(f) && at < f->size; at += torch_record(f, at))
            memcpy(bytes + at + in->at, &(uint64_t){ value_of(in, 0) }, in->width);
        for (size_t row = 0; !torch_layout(f) && (row + 1) * record_size(f) <= f->size; row++)
            memcpy(bytes + row * record_size(f) + in->at, &(uint64_t){ value_of(in, row) }, in->width);
        break;
    case WORD: {
        const size_t len = strlen(word[in->which]), end = in->at + in->width;
        memcpy(bytes + in->at, word[in->which], len);
        memcpy(bytes + in->at + len, f->data + end, f->size - end);
        *size = f->size - in->width + len;
        break;
    }
    case MANY: break;
    }
    return bytes;
}

static void do_damage(const struct input *in)
{
    if (in->kind == MANY) {
        (torch_layout(in->file) ? put_many_torch : put_many)(in);
        return;
    }
    size_t size;
    const uint8_t *bytes = damaged(in, &size);
    put_bytes(in->file->path, bytes, size);
}

static const char *input_name(const struct input *in)
{
    static char text[300];
    switch (in->kind) {
    case CUT: snprintf(text, sizeof text, "%s, cut at %u", in->file->path, in->at); break;
    case BYTE: snprintf(text, sizeof text, "%s:%u, %s", in->file->path, in->at, change[in->which].name); break;
    case FIELD:
        snprintf(text, sizeof text, "%s:%u, %u bytes, %s", in->file->path, in->at, in->width, value_name[in->which]);
        break;
    case COLUMN:
        snprintf(text, sizeof text, "%s:%u, %u bytes of each record, %s", in->file->path, in->at, in->width,
                 value_name[in->which]);
        break;
    case MANY:
        snprintf(text, sizeof text, "%zu records of %s, %u bytes at %u %s", options.many, in->file->path, in->width,
                 in->at, series_name[in->which]);
        break;
    case WORD: snprintf(text, sizeof text, "%s:%u, \"%s\"", in->file->path, in->at, word[in->which]); break;
    }
    return text;
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
    const char *const session = "trace_view.json ascend_pytorch_profiler_*.db analysis.db profiler_*.log";
    return strncmp(name, "msprof_", 7) == 0 || strcmp(name, "README.txt") == 0 || (is_session && one_of(session, name));
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
        if (!same && mine && !one_of(mine, undamaged[i].name))
            wrong("%s is another, and has nothing to do with it", undamaged[i].name);
    }
}

/* Files of the device are named as their PROF directory knows them. */
static bool find_named(const char *file, struct stat *st)
{
    if (stat(in_prof(file), st) == 0)
        return true;
    for (size_t i = 0; is_session && i < n_files; i++) {
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
        char file[300]; /* settings are named with their key: "host/info.json, cpuNums" */
        snprintf(file, sizeof file, "%s", lost->by[why].file ? lost->by[why].file : "");
        file[strcspn(file, ",")] = 0;
        struct stat st;
        if (!find_named(file, &st))
            wrong("%s: said to be in %s, which is no file", loss_key((enum loss)why), file);
        else if (lost->by[why].first_at > (uint64_t)st.st_size)
            wrong("%s: said to be at %s:%" PRIu64 ", which has %jd bytes", loss_key((enum loss)why), file,
                  lost->by[why].first_at, (intmax_t)st.st_size);
    }
    const struct family *family = in->file->family;
    if (in->kind == CUT && torch_layout(in->file) &&
        !strstr(in->file->path, "param_tensor_info")) { /* read by others */
        size_t at = 0;
        while (at < in->at && at + torch_record(in->file, at) <= in->at)
            at += torch_record(in->file, at);
        if (at < in->at &&
            (lost->by[LOSS_CUT_SHORT].n == 0 || strcmp(lost->by[LOSS_CUT_SHORT].file, in->file->path) != 0 ||
             lost->by[LOSS_CUT_SHORT].first_at != at))
            wrong("not told that a record is cut short at %zu; told %" PRIu64 " at %s:%" PRIu64, at,
                  lost->by[LOSS_CUT_SHORT].n, lost->by[LOSS_CUT_SHORT].file, lost->by[LOSS_CUT_SHORT].first_at);
    }
    if (in->kind == CUT && family && family->size > 0 && in->at % family->size != 0 &&
        !one_of("*.Multi_Thread.* *.diagnostic.*", in->file->path)) {
        const uint64_t at = in->at - in->at % family->size;
        if (lost->by[LOSS_CUT_SHORT].n == 0 || strcmp(lost->by[LOSS_CUT_SHORT].file, in->file->path) != 0 ||
            lost->by[LOSS_CUT_SHORT].first_at != at)
            wrong("not told that a record is cut short at %" PRIu64 "; told %" PRIu64 " at %s:%" PRIu64, at,
                  lost->by[LOSS_CUT_SHORT].n, lost->by[LOSS_CUT_SHORT].file, lost->by[LOSS_CUT_SHORT].first_at);
    }
}

static bool export_session(const struct input *in)
{
    const struct session_wishes wishes = { .text = true, .db = true, .n_threads = 1, .out_dir = out };
    struct session_result r = { 0 };
    struct error e = { 0 };
    const bool done = session_export(prof, &wishes, &r, &e);
    if (!done && (e.fault == FAULT_NONE || !e.text[0]))
        wrong("a refusal without a reason");
    if (done && in) {
        check_losses(in, &r.session.lost);
        board->n_lossy += losses_damage(&r.session.lost) > 0;
    }
    session_result_free(&r);
    return done;
}

static bool export_it(const struct input *in)
{
    if (is_session)
        return export_session(in);
    const struct request request = {
        .want = WANT_ALL, .format = FORMAT_CSV, .n_threads = 1, .out_dir = out, .stamp = "20240601080000"
    };
    struct result r = { 0 };
    struct error e = { 0 };
    const bool done = collection_export(prof, &request, &r, &e);
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

/* The readers of records by themselves, on a stream of one slice that ends where nobody may read on. Each whole record is
 * used, damaged, or of another kind. */
static void read_records(const struct input *in)
{
    const struct file *f = in->file;
    const size_t record = record_size(f);
    size_t size;
    const uint8_t *bytes = damaged(in, &size);
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
    const struct input in = inputs[number];
    board->current[worker] = number;
    set_limit(RUN_SECONDS);
    if (options.readers) {
        read_records(&in);
        finish(&in);
        return;
    }
    do_damage(&in);
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
    for (size_t number; (number = (board->next += options.every) - options.every) < n_inputs;)
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
    if (board->current[worker] < n_inputs)
        printf("  %s:\n      died: %s %d\n", input_name(&inputs[board->current[worker]]),
               WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    else
        printf("  a worker died at its end: leaks?\n");
    fflush(stdout);
}

static void campaign(const char *path)
{
    n_files = n_undamaged = n_inputs = 0;
    prof_len = strlen(path);
    is_session = session_is_one(path, &(int){ 0 });
    nftw(path, take_file, 16, FTW_PHYS);
    qsort(files, n_files, sizeof *files, by_path);
    memset(board, 0, sizeof *board);
    board->next = options.from;
    for (size_t i = 0; i < n_files; i++)
        if (strstr(files[i].path, options.only) && !(is_session && strncmp(files[i].path, "PROF_", 5) == 0))
            (options.readers              ? list_records_bytes
             : options.many > 0           ? list_series
             : !options.values            ? list_bytes
             : torch_layout(&files[i])    ? list_torch_fields
             : record_size(&files[i]) > 0 ? list_fields
                                          : list_words)(&files[i]);
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
