#include "cli/option_table.h"

#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/term.h"

enum { PATH_MOST = 4096, WORD_MOST = 40 };
#define AT(field)      offsetof(struct arguments, field)
#define TROUBLE(which) .kind = OPTION_TEXT, .at = AT(sim.trouble[which])
#define NUMBER(field, from, to)                                                                                        \
    .kind = OPTION_NUMBER, .value = "N", .least = (from), .most = (to), .at = AT(field),                               \
    .width = sizeof((struct arguments){ 0 }.field)

/* clang-format off */
const struct option_row option_rows[OPTIONS] = {
    [OPT_DIR] = { "dir", "collection-dir", .has_one_dash = true, .kind = OPTION_DIR, .value = "DIR", .at = AT(dir),
        .help = "the collection: a PROF_XXX directory, or a directory that holds some" },
    [OPT_REPORTS] = { "reports", .has_one_dash = true, .kind = OPTION_FILE, .value = "FILE", .at = AT(reports),
        .help = "which processes the timeline shows: a JSON file {\"json_process\": {\"hbm\": true}}" },
    [OPT_ITERATION] = { "iteration-id", NUMBER(iteration, 1, UINT32_MAX),
        .help = "only from this iteration on; goes with --model-id" },
    [OPT_MODEL] = { "model-id", NUMBER(model, 0, UINT32_MAX),
        .help = "only this model's iterations; 4294967295 counts training steps instead" },
    [OPT_ITERATION_COUNT] = { "iteration-count", NUMBER(iteration_count, 1, 5),
        .help = "how many iterations, 1 to 5; without it 1" },
    [OPT_FORMAT] = { "format", .kind = OPTION_CHOICE, .choice = { "csv", "json" }, .at = AT(format),
        .help = "of the summary tables; without it csv" },
    [OPT_CSV_SAFE] = { "csv-safe", .kind = OPTION_FLAG, .at = AT(csv_safe),
        .help = "put a ' before names in CSV tables that a spreadsheet would run as formulas: those that begin with = + - @" },
    [OPT_MAX_SIZE] = { "max-size", .kind = OPTION_SIZE, .value = "SIZE", .at = AT(max_size), .least = 1 << 20,
        .help = "cut a timeline whose text is larger into pieces by time, NAME_slice_0 and so on, each of which viewers open; "
                "for most of them 400M is a good choice" },
    [OPT_GZIP] = { "gzip", .kind = OPTION_FLAG, .at = AT(gzip),
        .help = "compress timelines (.json.gz), which viewers open as they are" },
    [OPT_CLEAR] = { "clear", .kind = OPTION_FLAG, .at = AT(clear),
        .help = "afterwards remove the intermediate sqlite folders that other tools have left" },
    [OPT_CLUSTER] = { "cluster", .kind = OPTION_FLAG, .at = AT(cluster),
        .help = "DIR holds the collections of several machines; each is read by itself" },
    [OPT_DEVICE_ID] = { "id", NUMBER(device_id, 0, UINT32_MAX),
        .help = "a device; goes with --data-type" },
    [OPT_DATA_TYPE] = { "data-type", NUMBER(data_type, 0, 10),
        .help = "a question to a cluster database, which ascope does not make" },
    [OPT_OUT] = { "out", .kind = OPTION_DIR, .value = "DIR", .at = AT(out),
        .help = "where the results go; without it beside the collection's own data" },
    [OPT_DIALECT] = { "dialect", .kind = OPTION_CHOICE, .choice = { "seed", "current" }, .at = AT(dialect),
        .environment = "ASCOPE_DIALECT",
        .help = "names of files and columns: as documented (seed, the default) or as printed today" },
    [OPT_TIME_BASE] = { "time-base", .kind = OPTION_CHOICE, .choice = { "epoch", "start" }, .at = AT(time_base),
        .help = "times of the timeline: since 1970 (epoch, the default) or since its start" },
    [OPT_THREADS] = { "threads", NUMBER(threads, 1, 64),
        .help = "without it one for each CPU; the results are the same" },
    [OPT_MEMORY] = { "memory-limit", .kind = OPTION_SIZE, .value = "SIZE", .at = AT(memory), .least = 128 << 20,
        .help = "hold no more than this in memory, without it 512M; what is beyond goes to a file without a name beside "
                "the results" },
    [OPT_JSON] = { "json", .kind = OPTION_FLAG, .at = AT(json),
        .help = "report as one JSON object, for machines" },
    [OPT_QUIET] = { "quiet", .letter = 'q', .kind = OPTION_FLAG, .at = AT(quiet),
        .help = "nothing but errors" },
    [OPT_VERBOSE] = { "verbose", .letter = 'v', .kind = OPTION_COUNT, .at = AT(verbose),
        .help = "also every file that was read, with its records, and every table that was written" },
    [OPT_TOP] = { "top", NUMBER(top, 1, 1000),
        .help = "how many steps and operators the report lists, the slowest first; without it 5" },
    [OPT_HELP] = { "help", .letter = 'h', .kind = OPTION_FLAG, .at = AT(help),
        .help = "this text" },
    [OPT_MAN] = { "man", .kind = OPTION_FLAG, .at = AT(man),
        .help = "the manual page, for man -l -" },

    [OPT_EXPORT_TYPE] = { "export-type", .kind = OPTION_TEXT, .value = "TYPE,...", .at = AT(export_type),
        .choice = { "text", "db", "text,db" },
        .help = "text (timeline and tables), db (databases), or both; without it as the collection was set up" },
    [OPT_MAX_PROCESSES] = { "max-process-number", NUMBER(max_processes, 1, 64),
        .help = "how many directories are analysed at once; without it as many as --threads" },
    [OPT_ONLY_STEPS] = { "steps", .kind = OPTION_TEXT, .value = "N[-M]", .at = AT(steps),
        .help = "only what belongs to these steps of PyTorch's profiler: 3, or 2-4" },
    [OPT_PRETTY] = { "pretty", .kind = OPTION_FLAG, .at = AT(pretty),
        .help = "the timeline with one event a line, for people and line tools" },
    [OPT_SIMPLIFY] = { "simplify", .kind = OPTION_SWITCH, .at = AT(simplify),
        .help = "remove afterwards what exports of the PROF directory have left, its raw data stays; without it as the "
                "collection was set up (data_simplification)" },

    [OPT_DEVICE] = { "device", .kind = OPTION_TEXT, .value = "DEVICE", .at = AT(device),
        .help = "whose memory: cpu, or npu:N; without it the first NPU that was recorded" },
    [OPT_METRIC] = { "metric", .kind = OPTION_CHOICE, .choice = { "self_cpu_time_total", "self_npu_time_total" },
                     .at = AT(metric), .value = "METRIC",
                     .help = "which time of an operator counts: its own on the host (the default) or on the device" },

    [OPT_SIM_OUT] = { "out", .kind = OPTION_DIR, .value = "DIR", .at = AT(sim.out_dir),
        .help = "where the directories are made, created if it is not there; default: here" },
    [OPT_SEED] = { "seed", NUMBER(sim.seed, 0, UINT64_MAX),
        .help = "same seed, same bytes; without it 1" },
    [OPT_KERNELS] = { "kernels", NUMBER(sim.kernels, 0, UINT64_MAX),
        .help = "operators that are launched one by one, over all devices and ranks; default: 150, of a job 150 for each rank" },
    [OPT_FRAMEWORK] = { "framework", .kind = OPTION_CHOICE, .choice = { "none", "pt" }, .at = AT(sim.framework),
        .help = "pt: what PyTorch recorded as well, in *_ascend_pt directories; without it none" },
    [OPT_OPERATORS] = { "operators", NUMBER(sim.operators, 1, UINT64_MAX / 16),
        .help = "of PyTorch, at least one for each kernel; without it five for each; with --kernels 0 there is no PROF "
                "directory" },
    [OPT_STEPS] = { "steps", NUMBER(sim.steps, 1, UINT32_MAX),
        .help = "training steps; without it 3" },
    [OPT_DEVICES] = { "devices", NUMBER(sim.devices, 1, SIM_DEVICES_MOST),
        .help = "of each process; without it 1" },
    [OPT_PROCESSES] = { "ranks", "processes", NUMBER(sim.processes, 1, SIM_PROCESSES_MOST),
        .help = "ranks of one job, each with a directory of its own, which share the kernels; default: as many as "
                "--tp, --pp and --dp make" },
    [OPT_TP] = { "tp", NUMBER(sim.tp, 1, SIM_PROCESSES_MOST),
        .help = "ranks of a tensor parallel group; default: 1" },
    [OPT_PP] = { "pp", NUMBER(sim.pp, 1, SIM_PROCESSES_MOST),
        .help = "stages of the pipeline; default: 1" },
    [OPT_DP] = { "dp", NUMBER(sim.dp, 1, SIM_PROCESSES_MOST),
        .help = "ranks of a data parallel group; default: what --ranks leaves" },
    [OPT_HOST_RANKS] = { "ranks-per-host", NUMBER(sim.host_ranks, 1, SIM_PROCESSES_MOST),
        .help = "these are linked by HCCS, those of different hosts by RDMA; default: 8" },
    [OPT_SLOW_STEP] = { "slow-step", TROUBLE(SIM_SLOW_STEP), .value = "STEP:FACTOR",
        .help = "kernels of a step take this times as long in all ranks: 14:10" },
    [OPT_SLOW_RANK] = { "slow-rank", TROUBLE(SIM_SLOW_RANK), .value = "RANK:FACTOR",
        .help = "kernels of a rank take this times as long, and others wait for it: 3:1.5" },
    [OPT_SLOW_LINK] = { "slow-link", TROUBLE(SIM_SLOW_LINK), .value = "RANK-RANK:FACTOR",
        .help = "the link between two ranks has this part of its bandwidth, in both directions: 0-1:0.1" },
    [OPT_STALL] = { "stall", TROUBLE(SIM_STALL), .value = "STEP:TIME[:RANK]",
        .help = "in the middle of a step's forward half the host waits for data, in all ranks or in one: 14:220ms, 14:220ms:3" },
    [OPT_MISSING_RANK] = { "missing-rank", TROUBLE(SIM_MISSING_RANK), .value = "RANK",
        .help = "a rank that took part, but whose directory is not there: 5" },
    [OPT_CLOCK_OFFSET] = { "clock-offset", TROUBLE(SIM_CLOCK_OFFSET), .value = "RANK:TIME",
        .help = "a rank's clock is ahead of the others', or behind: 2:350us, 2:-1ms" },
    [OPT_CHIP] = { "chip", .kind = OPTION_TEXT, .value = "NAME", .at = AT(sim.chip),
        .choice = { "A2", "A3", "910", "310", "310P", "310B", "950", "MDC", "MDC-mini", "Tiny" },
        .help = "the chip, or its number in info.json; A3 has links between its dies, and its AI CPUs run half of the "
                "collectives; without it A2" },
    [OPT_MHZ] = { "mhz", NUMBER(sim.counter_mhz, 1, 1000),
        .help = "frequency of the devices' counter; without it 50, and 48 makes fractions of a nanosecond" },
    [OPT_METRICS] = { "metrics", .kind = OPTION_WORD, .value = "GROUP", .at = AT(sim.metrics),
        .choice = { "PipeUtilization", "ArithmeticUtilization", "Memory", "MemoryL0", "MemoryUB",
                    "ResourceConflictRatio", "L2Cache", "MemoryAccess", "PipelineExecuteUtilization" },
        .help = "what the AI cores count, as far as the chip can; without it PipeUtilization" },
    [OPT_SLICE_KIB] = { "slice-kib", NUMBER(sim.slice_bytes, 4, 1 << 20), .unit = 1024,
        .help = "where streams are cut; without it 2048" },
    [OPT_COMM] = { "comm", .kind = OPTION_SWITCH, .at = AT(sim.comm),
        .help = "collectives, without a job those of an imagined one of 8 ranks; default: on" },
    [OPT_KFC] = { "kfc", .kind = OPTION_SWITCH, .at = AT(sim.kfc),
        .help = "half of the collectives are run by the AI CPU; not in a job" },
    [OPT_GRAPHS] = { "graphs", .kind = OPTION_SWITCH, .at = AT(sim.graphs),
        .help = "a loaded and a captured graph; default: on, but not in a job" },
    [OPT_LATE] = { "late", .kind = OPTION_SWITCH, .at = AT(sim.late),
        .help = "the captured graph is older than the collection" },
    [OPT_COPIES] = { "copies", .kind = OPTION_SWITCH, .at = AT(sim.copies),
        .help = "copies between host and device; without it on" },
    [OPT_MARKS] = { "marks", .kind = OPTION_SWITCH, .at = AT(sim.marks),
        .help = "marks of the user; without it on" },
    [OPT_SAMPLERS] = { "samplers", .kind = OPTION_SWITCH, .at = AT(sim.samplers),
        .help = "hardware counters and operating systems; without it on" },
    [OPT_SAMPLE_BASED] = { "sample-based", .kind = OPTION_SWITCH, .at = AT(sim.sample_based),
        .help = "AI core counters by time instead of by task" },
    [OPT_TILING] = { "tiling", .kind = OPTION_SWITCH, .at = AT(sim.tiling),
        .help = "the device tells the blocks of some kernels" },
    [OPT_LEVEL0] = { "level0", .kind = OPTION_SWITCH, .at = AT(sim.level0),
        .help = "names and times only" },

    [OPT_OUTPUT] = { "output", .kind = OPTION_DIR, .value = "DIR", .at = AT(output),
        .help = "the collection: a PROF_XXX directory, or a directory that holds some" },
    [OPT_EXPORT] = { "export", .kind = OPTION_SWITCH, .at = AT(exports),
        .help = "write timeline, tables and database" },
    [OPT_PARSE] = { "parse", .kind = OPTION_SWITCH, .at = AT(parses),
        .help = "read and check everything, write nothing" },
    [OPT_QUERY] = { "query", .kind = OPTION_SWITCH, .at = AT(queries),
        .help = "list models and iterations" },
    [OPT_ANALYZE] = { "analyze", .kind = OPTION_SWITCH, .at = AT(analyzes),
        .help = "communication: how long, how much, between whom" },
    [OPT_TYPE] = { "type", .kind = OPTION_CHOICE, .choice = { "text", "db" }, .at = AT(type),
        .help = "text: files of text and the database (the default); db: the database alone" },
    [OPT_RULE] = { "rule", .letter = 'r', .kind = OPTION_TEXT, .value = "RULE,...", .at = AT(rule),
        .help = "communication, communication_matrix, or both with a comma between, which is the default" },
    [OPT_SUMMARY_FORMAT] = { "summary-format", .kind = OPTION_CHOICE, .choice = { "csv", "json" },
        .at = AT(summary_format),
        .help = "of the summary tables; without it csv" },
    [OPT_CLEAR_SWITCH] = { "clear", .kind = OPTION_SWITCH, .at = AT(clear),
        .help = "remove the intermediate sqlite folders that other tools have left" },
    [OPT_PYTHON_PATH] = { "python-path", .kind = OPTION_FILE, .value = "FILE", .at = AT(python_path),
        .help = "accepted and not needed: nothing here is written in Python" },
};
/* clang-format on */

/* Edit distance, in two rows. Words longer than WORD_MOST are never near. */
static size_t distance(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    size_t row[WORD_MOST + 1];
    if (na > WORD_MOST || nb > WORD_MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t above = row[j], swap = diagonal + (a[i - 1] != b[j - 1]);
            const size_t step = (above < row[j - 1] ? above : row[j - 1]) + 1;
            row[j] = step < swap ? step : swap;
            diagonal = above;
        }
    }
    return row[nb];
}

const char *nearest_word(const char *given, const char *const *word, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(given) < 4 ? 2 : 3; /* one slip in a short word, two in a longer one */
    for (size_t i = 0; i < n; i++) {
        const size_t d = distance(given, word[i]);
        if (d < least) {
            least = d;
            best = word[i];
        }
    }
    return best;
}

/* A static program must not load the system's libraries of users, which are made for another C library: /etc/passwd has to do. */
static const struct passwd *user_find(const char *name)
{
#ifdef ASCOPE_STATIC
    FILE *f = fopen("/etc/passwd", "re");
    const struct passwd *entry = NULL;
    while (f && (entry = fgetpwent(f)) && strcmp(entry->pw_name, name) != 0)
        ;
    if (f)
        fclose(f);
    return entry;
#else
    return getpwnam(name);
#endif
}

const char *path_expand(struct arguments *a, const char *what, const char *path)
{
    if (*path == '=')
        path++;
    const char *rest = path, *home = NULL;
    if (*path == '~') {
        const size_t len = strcspn(path + 1, "/");
        const char *user = arena_text(a->mem, path + 1, len);
        const struct passwd *entry = user && len > 0 ? user_find(user) : NULL;
        home = len == 0 ? getenv("HOME") : entry ? entry->pw_dir : NULL;
        rest = home ? path + 1 + len : path; /* as shells do: a stranger's ~ stays what it is */
    }
    const char *full = arena_printf(a->mem, "%s%s", home ? home : "", rest);
    if (!full) {
        complain("%s: no memory for a path; free some memory and try again", what);
        return NULL;
    }
    if (!*full) {
        complain("%s: the path is empty; wanted a path", what);
        return NULL;
    }
    if (strlen(full) > PATH_MOST) {
        complain("%s: the path has %zu characters; at most %d are accepted", what, strlen(full), PATH_MOST);
        return NULL;
    }
    for (const char *c = full; *c; c++)
        if (((unsigned char)*c < 0x20 || *c == 0x7F) && access(full, F_OK) != 0) { /* what is there was quoted well */
            complain("%s %s: holds the control character 0x%02x after %td characters; check how it was quoted", what,
                     full, (unsigned char)*c, c - full);
            return NULL;
        }
    return full;
}

static const char *see(const struct arguments *a)
{
    static char text[64];
    if (a->face == FACE_ASCOPE)
        snprintf(text, sizeof text, "see ascope help %s", a->command->name);
    else
        snprintf(text, sizeof text, "see --help");
    return text;
}

/* "csv, json" */
static const char *choices_text(const struct option_row *o)
{
    static char text[200];
    text[0] = 0;
    size_t used = 0;
    for (size_t i = 0; i < MOST_CHOICES && o->choice[i] && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "", o->choice[i]);
    return text;
}

const char *option_help(const struct option_row *o, char *out, size_t size)
{
    const bool lists_choices = o->value && o->choice[0];
    snprintf(out, size, "%s%s%s", o->help, lists_choices ? "; accepted are " : "",
             lists_choices ? choices_text(o) : "");
    return out;
}

static bool set_number(const struct option_row *o, const char *what, const char *text, void *out)
{
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || n < o->least || n > o->most) {
        complain("%s %s: accepted are whole numbers from %llu to %llu", what, text, (unsigned long long)o->least,
                 (unsigned long long)o->most);
        return false;
    }
    const uint64_t value = n * (o->unit ? o->unit : 1);
    memcpy(out, &value, o->width); /* little endian: the low bytes come first */
    return true;
}

/* 512M, 2G, 1048576K, 2GB, 2GiB: all of them powers of 1024. */
static bool set_size(const struct option_row *o, const char *what, const char *text, uint64_t *out)
{
    static const char unit[] = "KMGT";
    char *end;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    const char *u = *end ? strchr(unit, *end & ~0x20) : NULL;
    bool ok = *text >= '0' && *text <= '9' && errno == 0 && (u || !*end);
    for (size_t i = 0; u && ok && i <= (size_t)(u - unit); i++)
        ok = !__builtin_mul_overflow(n, 1024, &n);
    end += u != NULL;
    ok = ok && (!*end || strcmp(end, "B") == 0 || strcmp(end, "iB") == 0);
    if (!ok || n < o->least) {
        complain("%s %s: accepted are sizes of %lluM and more, such as 512M or 2G", what, text,
                 (unsigned long long)(o->least >> 20));
        return false;
    }
    *out = n;
    return true;
}

static bool set_switch(const char *what, const char *text, bool *out)
{
    *out = strcmp(text, "on") == 0;
    if (*out || strcmp(text, "off") == 0)
        return true;
    complain("%s %s: accepted are on, off", what, *text ? text : "\"\"");
    return false;
}

static bool set_choice(const struct option_row *o, const char *what, const char *text, unsigned *out)
{
    for (unsigned i = 0; i < MOST_CHOICES && o->choice[i]; i++)
        if (strcmp(o->choice[i], text) == 0) {
            *out = i;
            return true;
        }
    complain("%s %s: accepted are %s", what, *text ? text : "\"\"", choices_text(o));
    return false;
}

static bool set_word(const struct option_row *o, const char *what, const char *text, const char **out)
{
    unsigned which;
    if (!set_choice(o, what, text, &which))
        return false;
    *out = o->choice[which];
    return true;
}

static bool set_value(struct arguments *a, enum option_id id, const char *what, const char *text)
{
    const struct option_row *o = &option_rows[id];
    void *at = (char *)a + o->at;
    a->given |= (option_set)1 << id;
    switch (o->kind) {
    case OPTION_FLAG: *(bool *)at = true; return true;
    case OPTION_SWITCH: return set_switch(what, text, at);
    case OPTION_COUNT: ++*(unsigned *)at; return true;
    case OPTION_TEXT: *(const char **)at = text; return true;
    case OPTION_FILE:
    case OPTION_DIR: return (*(const char **)at = path_expand(a, what, text)) != NULL;
    case OPTION_CHOICE: return set_choice(o, what, text, at);
    case OPTION_WORD: return set_word(o, what, text, at);
    case OPTION_NUMBER: return set_number(o, what, text, at);
    case OPTION_SIZE: return set_size(o, what, text, at);
    }
    return false;
}

static bool takes_value(const struct option_row *o)
{
    return o->kind != OPTION_FLAG && o->kind != OPTION_COUNT;
}

/* The option as people should write it: -dir, --format. */
static const char *shown_name(const struct option_row *o)
{
    static char text[64];
    snprintf(text, sizeof text, "-%s%s", o->has_one_dash ? "" : "-", o->name);
    return text;
}

/* Another command of the same face that takes an option of this name, or NULL. */
static const char *taken_by(const struct arguments *a, const char *word)
{
    for (size_t c = 0; a->face == FACE_ASCOPE && c < n_commands; c++)
        for (size_t i = 0; i < commands[c].n_options; i++) {
            const struct option_row *o = &option_rows[commands[c].option[i]];
            const bool is_letter = word[0] && !word[1] && word[0] == o->letter;
            if (is_letter || strcmp(o->name, word) == 0 || (o->also && strcmp(o->also, word) == 0))
                return commands[c].name;
        }
    return NULL;
}

static bool say_unknown(const struct arguments *a, const char *given)
{
    const struct command *c = a->command;
    const char *name[2 * OPTIONS], *bare = given + strspn(given, "-");
    size_t n = 0;
    for (size_t i = 0; i < c->n_options; i++) {
        name[n++] = option_rows[c->option[i]].name;
        if (option_rows[c->option[i]].also)
            name[n++] = option_rows[c->option[i]].also;
    }
    char word[WORD_MOST + 2];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(bare, "="), bare);
    const char *near = nearest_word(word, name, n), *other = taken_by(a, word);
    if (other)
        complain("%s: is no option of ascope %s, but of ascope %s; %s", given, c->name, other, see(a));
    else if (near)
        complain("%s: unknown option; did you mean --%s? %s", given, near, see(a));
    else
        complain("%s: unknown option; %s", given, see(a));
    return false;
}

/* Variables speak to every command, msprof and msprof.py included, which have no option of that name. */
static bool read_environment(struct arguments *a)
{
    for (unsigned id = 0; id < OPTIONS; id++) {
        const char *variable = option_rows[id].environment, *text = variable ? getenv(variable) : NULL;
        if (text && *text && !set_value(a, (enum option_id)id, variable, text))
            return false;
    }
    a->given = 0; /* a default may be overruled without a word */
    return true;
}

enum { LONG_BASE = 256 }; /* getopt's value of a long option: this and its id, out of the way of letters */

static size_t long_options(const struct command *c, struct option *out)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_options; i++) {
        const struct option_row *o = &option_rows[c->option[i]];
        const bool may_stand_alone = c->value_follows_sign || o->kind == OPTION_SWITCH;
        const int has_value = !takes_value(o) ? no_argument : may_stand_alone ? optional_argument : required_argument;
        out[n++] = (struct option){ o->name, has_value, NULL, LONG_BASE + c->option[i] };
        if (o->also)
            out[n++] = (struct option){ o->also, has_value, NULL, LONG_BASE + c->option[i] };
    }
    out[n] = (struct option){ 0 };
    return n;
}

static void letters(const struct command *c, char *out)
{
    if (c->value_follows_sign)
        *out++ = '+';
    *out++ = ':';
    for (size_t i = 0; i < c->n_options; i++) {
        const struct option_row *o = &option_rows[c->option[i]];
        if (!o->letter)
            continue;
        *out++ = o->letter;
        if (takes_value(o))
            *out++ = ':';
    }
    *out = 0;
}

static int option_of(const struct command *c, int code)
{
    if (code >= LONG_BASE)
        return code - LONG_BASE;
    for (size_t i = 0; i < c->n_options; i++)
        if (code > 0 && option_rows[c->option[i]].letter == code)
            return c->option[i];
    return -1;
}

static bool parse_one(struct arguments *a, int code, char **argv)
{
    const int id = option_of(a->command, code == '?' || code == ':' ? optopt : code);
    if (id < 0)
        return say_unknown(a, argv[optind - 1]);
    const struct option_row *o = &option_rows[id];
    const char *what = shown_name(o);
    if (code == '?') {
        complain("%s: takes no value", what);
        return false;
    }
    if (o->kind == OPTION_SWITCH && !optarg && !a->command->value_follows_sign)
        return set_value(a, (enum option_id)id, what, "on");
    if (code == ':' || (takes_value(o) && !optarg)) {
        complain("%s: wants a value%s: %s", what, a->command->value_follows_sign ? ", as in --name=value" : "",
                 o->kind == OPTION_SWITCH ? "on, off"
                 : o->choice[0]           ? choices_text(o)
                                          : o->value);
        return false;
    }
    return set_value(a, (enum option_id)id, what, optarg ? optarg : "");
}

struct arguments arguments_new(enum face face)
{
    struct arguments a = { .face = face, .iteration_count = 1, .top = 5, .sim = sim_defaults, .mem = arena_new() };
    if (!a.mem)
        complain("no memory for the command line; free some memory and try again");
    return a;
}

unsigned arguments_threads(const struct arguments *a)
{
    cpu_set_t set;
    if (a->threads > 0)
        return (unsigned)a->threads;
    const long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

void arguments_end(struct arguments *a)
{
    arena_free(a->mem);
}

bool options_parse(const struct command *c, int argc, char **argv, struct arguments *a)
{
    struct option known[2 * OPTIONS + 1];
    char short_ones[2 * OPTIONS + 3];
    a->command = c;
    if (!a->mem || !read_environment(a))
        return false;
    long_options(c, known);
    letters(c, short_ones);
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    for (int code; (code = getopt_long_only(argc, argv, short_ones, known, NULL)) != -1;)
        if (!parse_one(a, code, argv))
            return false;
    a->n_words = (size_t)(argc - optind);
    a->word = (const char **)(argv + optind);
    return true;
}
