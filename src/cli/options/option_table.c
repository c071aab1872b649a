/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/option_table.h"

#include <errno.h>
#include <getopt.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/file.h"
#include "cli/commands.h"
#include "cli/options/command.h"
#include "cluster/modes.h"
#include "raw/chip.h"
#include "report/term.h"

enum { PATH_MOST = 4096 };
#define AT(field)      offsetof(struct arguments, field)
#define TROUBLE(which) .kind = OPTION_TEXT, .at = AT(sim.trouble[which])
#define NUMBER(field, from, to)                                                                                        \
    .kind = OPTION_NUMBER, .value = "N", .least = (from), .most = (to), .at = AT(field),                               \
    .width = sizeof((struct arguments){ 0 }.field)
#define SECONDS(field, from, to)                                                                                       \
    .kind = OPTION_NUMBER, .value = "SECONDS", .is_time = true, .least = (from), .most = (to), .at = AT(field),        \
    .width = sizeof((struct arguments){ 0 }.field)

static const char *mode_word(size_t i)
{
    return modes[i] ? modes[i]->name : NULL;
}

/* clang-format off */
const struct option_row option_rows[OPTIONS] = {
    [OPT_DIR] = { "dir", "collection-dir", .has_one_dash = true, .kind = OPTION_DIR, .value = "DIR", .at = AT(dir),
        .help = "collection: a PROF_XXX directory, or a directory that contains some" },
    [OPT_REPORTS] = { "reports", .has_one_dash = true, .kind = OPTION_FILE, .value = "FILE", .at = AT(reports),
        .help = "processes shown in the timeline, as a JSON file: {\"json_process\": {\"hbm\": true}}" },
    [OPT_ITERATION] = { "iteration-id", NUMBER(options.iteration, 1, UINT32_MAX),
        .help = "first iteration to export; requires --model-id" },
    [OPT_MODEL] = { "model-id", NUMBER(options.model, 0, UINT32_MAX),
        .help = "model whose iterations are exported; 4294967295 selects training steps" },
    [OPT_ITERATION_COUNT] = { "iteration-count", NUMBER(options.iteration_count, 1, 5),
        .help = "number of iterations, 1 to 5; default: 1" },
    [OPT_FORMAT] = { "format", .kind = OPTION_CHOICE, .choice = { "csv", "json" }, .at = AT(options.format),
        .help = "format of the summary tables; default: csv" },
    [OPT_CSV_SAFE] = { "csv-safe", .kind = OPTION_FLAG, .at = AT(options.csv_is_safe),
        .help = "prefix names in CSV tables that a spreadsheet would run as formulas (beginning with = + - @) with '" },
    [OPT_MAX_SIZE] = { "max-size", .kind = OPTION_SIZE, .value = "SIZE", .at = AT(options.max_bytes), .least = 1 << 20,
        .help = "split a larger timeline by time into NAME_slice_0, NAME_slice_1, ...; 400M suits most viewers" },
    [OPT_GZIP] = { "gzip", .kind = OPTION_FLAG, .at = AT(options.gzips),
        .help = "compress timelines (.json.gz); Perfetto, Chrome and ascope view open them directly, MindStudio Insight does "
                "not find them" },
    [OPT_CLEAR] = { "clear", .kind = OPTION_FLAG, .at = AT(options.clears),
        .help = "remove intermediate sqlite directories of other tools afterwards" },
    [OPT_CLUSTER] = { "cluster", .kind = OPTION_FLAG, .at = AT(cluster),
        .help = "DIR contains collections of several machines; each is read separately, and --data-type needs no import" },
    [OPT_DEVICE_ID] = { "id", .kind = OPTION_TEXT, .value = "N", .at = AT(query_id),
        .help = "of --data-type 1: rank, or device where there are no ranks; -1: all, which requires --iteration-id" },
    [OPT_DATA_TYPE] = { "data-type", NUMBER(data_type, 0, 10),
        .help = "0: whether DIR has the ranks of a job; 1: the steps of --id and --model-id as query/step_trace_*.json; others are "
                "refused with the command that has the answer" },
    [OPT_OUT] = { "out", .kind = OPTION_DIR, .value = "DIR", .at = AT(options.out_dir),
        .help = "output directory; default: inside the collection" },
    [OPT_DIALECT] = { "dialect", .kind = OPTION_CHOICE, .choice = { "documented", "current" }, .at = AT(options.dialect),
        .environment = "ASCOPE_DIALECT", .first_alias = "seed",
        .help = "names of files and columns, but not in databases: as documented (default) or as in current releases of "
                "msprof and torch_npu" },
    [OPT_TIME_BASE] = { "time-base", .kind = OPTION_CHOICE, .choice = { "epoch", "start" }, .at = AT(options.time_base),
        .help = "times of the timeline: since 1970 (epoch, default) or since its start" },
    [OPT_KEEP_OVERLAPS] = { "keep-overlaps", .kind = OPTION_FLAG, .at = AT(options.keeps_overlaps),
        .help = "leave slices that overlap without nesting on their track in the timeline; otherwise the later one is on a further "
                "track, \"Thread 7 (2)\", because Perfetto and Chrome drop it" },
    [OPT_THREADS] = { "threads", NUMBER(options.n_threads, 1, 64),
        .help = "most threads; default: one per CPU; the results do not depend on it" },
    [OPT_MEMORY] = { "memory-limit", .kind = OPTION_SIZE, .value = "SIZE", .at = AT(memory), .least = 128 << 20,
        .help = "upper limit of the program's memory; default: 512M; larger data is kept in an unnamed temporary file "
                "beside the results" },
    [OPT_JSON] = { "json", .kind = OPTION_FLAG, .at = AT(json),
        .help = "print the report as one JSON object" },
    [OPT_NO_SYNC] = { "no-sync", .kind = OPTION_FLAG, .at = AT(no_sync),
        .help = "do not wait until what is written is on the disk: a power cut in the next seconds may take it back" },
    [OPT_QUIET] = { "quiet", .letter = 'q', .kind = OPTION_FLAG, .at = AT(quiet),
        .help = "print errors only" },
    [OPT_VERBOSE] = { "verbose", .letter = 'v', .kind = OPTION_COUNT, .at = AT(verbose),
        .help = "list every file read, with its records, and every table written" },
    [OPT_STEPS_BY] = { "steps-by", .kind = OPTION_TEXT, .value = "NAME", .at = AT(steps_by),
        .help = "steps are the ranges of the host that begin with NAME (record_function, mstx, operators, Python functions); default: those of the profiler, or else annotations that repeat" },
    [OPT_TOP] = { "top", NUMBER(top, 1, 1000),
        .help = "number of steps and operators in the report, slowest first; default: 5" },
    [OPT_HELP] = { "help", .letter = 'h', .kind = OPTION_FLAG, .at = AT(help),
        .help = "print this text" },
    [OPT_MAN] = { "man", .kind = OPTION_FLAG, .at = AT(man),
        .help = "print the manual page, for man -l -" },
    [OPT_RECORDER_OPTIONS] = { "recorder-options", .kind = OPTION_FLAG, .at = AT(recorder_options),
        .help = "print the options of a recording as a page in Markdown" },

    [OPT_EXPORT_TYPE] = { "export-type", .kind = OPTION_TEXT, .value = "TYPE,...", .at = AT(export_type),
        .choice = { "text", "db", "text,db" },
        .help = "text (timeline and tables), db (databases), or both; default: as set when the collection was recorded" },
    [OPT_MAX_PROCESSES] = { "max-process-number", NUMBER(max_processes, 1, 64),
        .help = "number of collections analysed in parallel; default: --threads" },
    [OPT_ONLY_STEPS] = { "steps", .kind = OPTION_TEXT, .value = "N[-M]", .at = AT(steps),
        .help = "analyse only these steps of the framework's profiler: 3, or 2-4; +1-3: the first three that were recorded, whatever their numbers" },
    [OPT_PRETTY] = { "pretty", .kind = OPTION_FLAG, .at = AT(options.is_pretty),
        .help = "write one event of the timeline per line" },
    [OPT_SIMPLIFY] = { "simplify", .kind = OPTION_SWITCH, .at = AT(simplify),
        .help = "afterwards remove earlier results in the PROF directory, but not its raw data; default: as set when "
                "the collection was recorded (data_simplification)" },

    [OPT_COMPARE_OUT] = { "out", .letter = 'o', .kind = OPTION_DIR, .value = "DIR", .at = AT(options.out_dir),
        .help = "write tables (csv), a database and a page for a browser into this directory; default: nothing is written" },
    [OPT_GATE_ALLOW] = { "allow", .kind = OPTION_TEXT, .value = "[MEASURE=]PERCENT,...", .at = AT(allow),
        .help = "by how much a measure may grow: step (also without a name), computing, communication, free, slow (steps; default: as "
                "step), memory; only these are judged; default: 3%" },
    [OPT_GATE_MARKDOWN] = { "markdown", .kind = OPTION_FILE, .value = "FILE", .at = AT(markdown),
        .help = "write a report in Markdown into this file; - is standard output, which then has nothing else" },
    [OPT_GATE_GITHUB] = { "github", .kind = OPTION_FLAG, .at = AT(github),
        .help = "also print annotations for a workflow of GitHub" },
    [OPT_GATE_JUNIT] = { "junit", .kind = OPTION_FILE, .value = "FILE", .at = AT(junit),
        .help = "write the judged measures as tests into this file, which GitLab, Jenkins and others read" },
    [OPT_GATE_SARIF] = { "sarif", .kind = OPTION_FILE, .value = "FILE", .at = AT(sarif),
        .help = "write what did not pass as SARIF 2.1.0 into this file" },
    [OPT_MEMORY_FOLDED] = { "folded", .kind = OPTION_FILE, .value = "FILE", .at = AT(folded),
        .help = "write what is in use at the peak as folded stacks into this file, for flame graphs; - is standard output" },
    [OPT_WHY_STEP] = { "step", .kind = OPTION_TEXT, .value = "N", .at = AT(step),
        .help = "step to explain; default: the slowest" },
    [OPT_WHY_RANK] = { "rank", NUMBER(rank, 0, INT64_MAX),
        .help = "rank on which it is explained; default: the one that the others wait for" },
    [OPT_WHY_REQUEST] = { "request", .kind = OPTION_TEXT, .value = "ID", .at = AT(request),
        .help = "request of an inference server to explain, in place of a step; slowest: the one that is furthest above the medians" },
    [OPT_SUMMARY] = { "summary", .kind = OPTION_FLAG, .at = AT(summary),
        .help = "write a summary of the rank for ascope cluster, ascope_rank_N.summary in its directory, unless it is up to date; other "
                "results only with --export-type" },
    [OPT_VIEW_RANKS] = { "ranks", .kind = OPTION_TEXT, .value = "N,N-M,...", .at = AT(job.ranks),
        .help = "for a job: ranks whose timelines are shown together: 0,3-5; default: all if there are at most 8, else those that stand out" },
    [OPT_VIEW_STEP] = { "step", .kind = OPTION_TEXT, .value = "N", .at = AT(step),
        .help = "for two runs: step that begins at the same moment in both; default: the first that both have" },
    [OPT_TOP_ONCE] = { "once", .kind = OPTION_FLAG, .at = AT(monitor.once),
        .help = "print the state once, and end; the same in a pipe" },
    [OPT_TOP_WINDOW] = { "window", SECONDS(monitor.window_s, 1, 86400),
        .help = "seconds of the past that are shown and judged; default: 600" },
    [OPT_MONITOR_LISTEN] = { "listen", .kind = OPTION_TEXT, .value = "[ADDRESS:]PORT", .at = AT(monitor.listen),
        .help = "serve metrics over HTTP: /metrics for Prometheus, /openmetrics; default of the address: 127.0.0.1; others need --token-file" },
    [OPT_MONITOR_TOKEN] = { "token-file", .kind = OPTION_FILE, .value = "FILE", .at = AT(monitor.token_file),
        .help = "answer only requests with \"Authorization: Bearer\" and the first line of this file" },
    [OPT_MONITOR_HOOK] = { "hook", .kind = OPTION_TEXT, .value = "COMMAND", .at = AT(monitor.hook),
        .help = "run by a shell when an alarm begins or ends: $1 is begins or ends, $2 the rank or job, $3 the Unix time since when, $4 the text" },
    [OPT_MONITOR_FLIGHT] = { "flight", .kind = OPTION_DIR, .value = "DIR", .at = AT(monitor.flight),
        .help = "when an alarm begins, save the flight recorders in DIR of the slow rank and of the median one; at most every 10 minutes, and 16 times" },
    [OPT_MONITOR_REPLAY] = { "replay", .kind = OPTION_FLAG, .at = AT(monitor.replay),
        .help = "go through the records that are there, as if time passed, print the alarms, and end" },
    [OPT_VIEW_PORT] = { "port", NUMBER(port, 0, 65535),
        .help = "port of the address; default: any free one" },
    [OPT_VIEW_HOST] = { "host", .kind = OPTION_TEXT, .value = "ADDRESS", .at = AT(host),
        .help = "127.0.0.1 or localhost; any other address is refused, with a hint to use a tunnel" },
    [OPT_VIEW_NO_OPEN] = { "no-open", .kind = OPTION_FLAG, .at = AT(no_open),
        .help = "print the address only; do not open a browser" },
    [OPT_VIEW_EXPORT] = { "export", .kind = OPTION_FILE, .value = "FILE", .at = AT(report),
        .help = "write the overview and a range of the timeline as one page, start no viewer; - is standard output" },
    [OPT_VIEW_RANGE] = { "range", .kind = OPTION_TEXT, .value = "FROM,TO", .at = AT(range),
        .help = "with --export: range of the timeline, from its start (100ms,1.5s; without a unit ns); default: all" },

    [OPT_SQL_TABLE] = { "table", .kind = OPTION_FLAG, .at = AT(as_table),
        .help = "print a table for people (default)" },
    [OPT_SQL_CSV] = { "csv", .kind = OPTION_FLAG, .at = AT(as_csv),
        .help = "print CSV" },
    [OPT_SQL_LIMIT] = { "limit", NUMBER(rows, 0, INT64_MAX),
        .help = "most rows of an answer, 0: no limit; default: 10000" },
    [OPT_SQL_COLUMNS] = { "columns", .kind = OPTION_FILE, .value = "FILE", .at = AT(columns),
        .help = "without a statement: write the tables of the run as binary columns, for programs" },
    [OPT_SQL_TABLES] = { "tables", .kind = OPTION_TEXT, .value = "TABLE,...", .at = AT(tables),
        .help = "with --columns: only these tables, such as kernels,steps; default: all of the run" },

    [OPT_ADVISE_HTML] = { "html", .kind = OPTION_FILE, .value = "FILE", .at = AT(html),
        .help = "also write the report as a page for a browser" },
    [OPT_DEVICE] = { "device", .kind = OPTION_TEXT, .value = "DEVICE", .at = AT(device),
        .help = "device whose memory is shown: cpu, npu:N or cuda:N; default: the first recorded NPU or GPU" },
    [OPT_METRIC] = { "metric", .kind = OPTION_CHOICE, .choice = { "self_cpu_time_total", "self_npu_time_total" },
                     .at = AT(metric), .value = "METRIC",
                     .help = "time of an operator: its own on the host (default) or on the device" },

    [OPT_SCRIPT_DIALECT] = { "dialect", .kind = OPTION_CHOICE, .choice = { "documented", "current" }, .at = AT(options.dialect),
        .help = "names of files and columns, unless ASCOPE_DIALECT is set: as documented, or as in current releases of msprof "
                "and torch_npu (default)" },
    [OPT_FORCE] = { "force", .kind = OPTION_FLAG, .at = AT(force),
        .help = "replace files that ascope did not make; they are kept beside it as *.before-ascope" },
    [OPT_REMOVE] = { "remove", .kind = OPTION_FLAG, .at = AT(remove),
        .help = "remove what install-msprof made, and restore what --force replaced" },

    [OPT_SIM_OUT] = { "out", .kind = OPTION_DIR, .value = "DIR", .at = AT(sim.out_dir),
        .help = "output directory, created if missing; default: the current directory" },
    [OPT_SEED] = { "seed", NUMBER(sim.seed, 0, UINT64_MAX),
        .help = "random seed: same seed, same bytes; default: 1" },
    [OPT_NOISE_SEED] = { "noise-seed", NUMBER(sim.noise_seed, 0, UINT64_MAX),
        .help = "the same job in another run: only the random part of the times differs; default: 0" },
    [OPT_JITTER] = { "jitter", NUMBER(sim.jitter, 0, 50),
        .help = "in a job: percent by which kernels vary; a fifth of it is common to the kernels of a step of a rank, and hosts begin a step up to as many hundredths of a ms late; default: 1.5, kernels alone" },
    [OPT_KERNELS] = { "kernels", NUMBER(sim.kernels, 0, UINT64_MAX),
        .help = "number of operators launched one by one, over all devices and ranks; default: 150, in a job 150 per rank" },
    [OPT_FRAMEWORK] = { "framework", .kind = OPTION_CHOICE, .choice = { "none", "pt", "ms" }, .at = AT(sim.framework),
        .help = "pt: add the data of PyTorch, in *_ascend_pt directories; ms: of MindSpore, in *_ascend_ms; default: none" },
    [OPT_MS_GENERATION] = { "generation", .kind = OPTION_CHOICE, .choice = { "N", "S" }, .at = AT(sim.ms_generation),
        .help = "files of MindSpore: N: of 2.6 and later (default), S: of 2.5 and earlier" },
    [OPT_JIT] = { "jit", .kind = OPTION_CHOICE, .choice = { "off", "O0", "O1", "O2" }, .at = AT(sim.jit),
        .help = "how MindSpore runs the network: operator by operator (off, default), a graph kernel by kernel (O0, O1), or as a "
                "whole (O2)" },
    [OPT_OPERATORS] = { "operators", NUMBER(sim.operators, 1, UINT64_MAX / 16),
        .help = "number of PyTorch operators, at least one per kernel; default: five per kernel; MindSpore has its own number per "
                "kernel; with --kernels 0 there is no PROF directory, and 1000 by default" },
    [OPT_STEPS] = { "steps", NUMBER(sim.steps, 1, UINT32_MAX),
        .help = "number of training steps; default: 3" },
    [OPT_DEVICES] = { "devices", NUMBER(sim.devices, 1, SIM_DEVICES_MOST),
        .help = "number of devices per process; default: 1" },
    [OPT_PROCESSES] = { "ranks", "processes", NUMBER(sim.processes, 1, SIM_PROCESSES_MOST),
        .help = "number of ranks of one job, each with its own directory; they share the kernels; default: tp * pp * dp" },
    [OPT_TP] = { "tp", NUMBER(sim.tp, 1, SIM_PROCESSES_MOST),
        .help = "ranks per tensor parallel group; default: 1" },
    [OPT_PP] = { "pp", NUMBER(sim.pp, 1, SIM_PROCESSES_MOST),
        .help = "pipeline stages; default: 1" },
    [OPT_DP] = { "dp", NUMBER(sim.dp, 1, SIM_PROCESSES_MOST),
        .help = "ranks per data parallel group; default: derived from --ranks" },
    [OPT_HOST_RANKS] = { "ranks-per-host", NUMBER(sim.host_ranks, 1, SIM_PROCESSES_MOST),
        .help = "ranks per host: linked by HCCS within a host, by RDMA between hosts; default: 8" },
    [OPT_SLOW_STEP] = { "slow-step", TROUBLE(SIM_SLOW_STEP), .value = "STEP:FACTOR",
        .help = "slow down the kernels of a step by this factor in all ranks: 14:10" },
    [OPT_SLOW_RANK] = { "slow-rank", TROUBLE(SIM_SLOW_RANK), .value = "RANK:FACTOR",
        .help = "slow down the kernels of a rank by this factor; the others wait for it: 3:1.5" },
    [OPT_SLOW_OPERATOR] = { "slow-operator", .kind = OPTION_TEXT, .value = "TYPE:FACTOR", .at = AT(sim.slow_operator),
        .help = "slow down the kernels of one type by this factor: MatMulV2:1.5" },
    [OPT_SLOW_LINK] = { "slow-link", TROUBLE(SIM_SLOW_LINK), .value = "RANK-RANK:FACTOR",
        .help = "reduce the bandwidth between two ranks to this fraction, in both directions: 0-1:0.1" },
    [OPT_STALL] = { "stall", TROUBLE(SIM_STALL), .value = "STEP:TIME[:RANK]",
        .help = "let the host wait for data in the middle of a step's forward pass, in all ranks or in one: 14:220ms, "
                "14:220ms:3" },
    [OPT_LATE_HOST] = { "late-host", TROUBLE(SIM_LATE_HOST), .value = "RANK:TIME",
        .help = "let the host of a rank begin to launch later in each step; the others wait for it: 3:5ms" },
    [OPT_MISSING_RANK] = { "missing-rank", TROUBLE(SIM_MISSING_RANK), .value = "RANK",
        .help = "leave out the directory of a rank that took part: 5" },
    [OPT_CLOCK_OFFSET] = { "clock-offset", TROUBLE(SIM_CLOCK_OFFSET), .value = "RANK:TIME",
        .help = "set the clock of a rank ahead of the others, or behind: 2:350us, 2:-1ms" },
    [OPT_CHIP] = { "chip", .kind = OPTION_TEXT, .value = "NAME", .at = AT(sim.chip),
        .choices = chip_word,
        .help = "chip, or its number in info.json; A3 has links between its dies, and its AI CPUs run half of the "
                "collectives; default: A2" },
    [OPT_MHZ] = { "mhz", NUMBER(sim.counter_mhz, 1, 1000),
        .help = "frequency of the device counter; default: 50; 48 gives fractions of a nanosecond" },
    [OPT_METRICS] = { "metrics", .kind = OPTION_WORD, .value = "GROUP", .at = AT(sim.metrics),
        .choice = { "PipeUtilization", "ArithmeticUtilization", "Memory", "MemoryL0", "MemoryUB",
                    "ResourceConflictRatio", "L2Cache", "MemoryAccess", "PipelineExecuteUtilization" },
        .help = "counter group of the AI cores, as far as the chip supports it; default: PipeUtilization" },
    [OPT_SLICE_KIB] = { "slice-kib", NUMBER(sim.slice_bytes, 4, 1 << 20), .unit = 1024,
        .help = "size of a slice of a stream; default: 2048" },
    [OPT_COMM] = { "comm", .kind = OPTION_SWITCH, .at = AT(sim.comm),
        .help = "collectives; a single rank gets those of an imaginary job of 8 ranks; default: on" },
    [OPT_KFC] = { "kfc", .kind = OPTION_SWITCH, .at = AT(sim.kfc),
        .help = "run half of the collectives on the AI CPU; not in a job" },
    [OPT_GRAPHS] = { "graphs", .kind = OPTION_SWITCH, .at = AT(sim.graphs),
        .help = "one loaded and one captured graph; default: on, off in a job" },
    [OPT_LATE] = { "late", .kind = OPTION_SWITCH, .at = AT(sim.late),
        .help = "capture the graph before the collection starts" },
    [OPT_COPIES] = { "copies", .kind = OPTION_SWITCH, .at = AT(sim.copies),
        .help = "copies between host and device; default: on" },
    [OPT_MARKS] = { "marks", .kind = OPTION_SWITCH, .at = AT(sim.marks),
        .help = "marks of the user; default: on" },
    [OPT_SAMPLERS] = { "samplers", .kind = OPTION_SWITCH, .at = AT(sim.samplers),
        .help = "hardware counters and operating system samples; default: on" },
    [OPT_SAMPLE_BASED] = { "sample-based", .kind = OPTION_SWITCH, .at = AT(sim.sample_based),
        .help = "sample AI core counters by time instead of by task" },
    [OPT_TILING] = { "tiling", .kind = OPTION_SWITCH, .at = AT(sim.tiling),
        .help = "record the block count of some kernels on the device" },
    [OPT_LEVEL0] = { "level0", .kind = OPTION_SWITCH, .at = AT(sim.level0),
        .help = "names and times only" },

    [OPT_DOCTOR_OUT] = { "out", .kind = OPTION_DIR, .value = "DIR", .at = AT(options.out_dir),
        .help = "directory of the recordings to come; default: $ASCEND_WORK_PATH/profiling_data, or the working directory" },
    [OPT_PROVE] = { "prove", .kind = OPTION_DIR, .value = "DIR", .at = AT(prove_dir),
        .help = "record programs with known content into DIR, and check every number of their results" },
    [OPT_PYTHON] = { "python", .kind = OPTION_FILE, .value = "PATH", .at = AT(python),
        .help = "Python interpreter whose frameworks are examined; default: python3 in PATH" },
    [OPT_OPTIONS_CHIP] = { "chip", .kind = OPTION_TEXT, .value = "NAME", .at = AT(chip), .choices = chip_word,
        .help = "chip whose keys and values are accepted, or its number in info.json; default: that of this machine, or else A2" },
    [OPT_OPTIONS_FORM] = { "as", .kind = OPTION_WORD, .choice = { "profiling_options", "acl.json" }, .at = AT(form),
        .help = "kind of the text; default: acl.json if it has a member profiler, otherwise profiling_options" },
    [OPT_RUN_OUT] = { "out", "output", .kind = OPTION_DIR, .value = "DIR", .at = AT(run.out),
        .help = "directory in which the collection is created; default: $ASCEND_WORK_PATH/profiling_data, or the working directory" },
    [OPT_RUN_HOST_SYS] = { "host-sys", .kind = OPTION_TEXT, .value = "PART,...", .at = AT(run.host_sys),
        .choice = { "none", "cpu", "mem", "disk", "network", "osrt", "numa" },
        .help = "what is sampled of the program's processes; default: cpu,mem,disk,network, and osrt (operating system calls) where it costs little; if named explicitly, osrt records all system calls where that is permitted" },
    [OPT_RUN_DEVICE] = { "device", .kind = OPTION_TEXT, .value = "KIND", .at = AT(run.device), .choice = { "auto", "none", "ascend", "cuda", "mspti", "sim" },
        .help = "devices: the real ones of this machine (auto, default), none, or a kind by its name" },
    [OPT_RUN_LEVEL] = { "level", .kind = OPTION_WORD, .choice = { "off", "0", "1", "2", "3" }, .at = AT(run.level),
        .help = "detail of the device's tasks; default: 1" },
    [OPT_RUN_METRICS] = { "metrics", .kind = OPTION_TEXT, .value = "GROUP", .at = AT(run.metrics),
        .help = "counter group of the AI cores, or none; default: PipeUtilization" },
    [OPT_RUN_MARKS] = { "marks", .kind = OPTION_SWITCH, .at = AT(run.marks),
        .help = "marks of the program (libascope, mstx); default: on" },
    [OPT_RUN_DELAY] = { "delay", SECONDS(run.delay_s, 1, UINT32_MAX),
        .help = "seconds from the start of the program to that of the recording" },
    [OPT_RUN_DURATION] = { "duration", SECONDS(run.duration_s, 1, UINT32_MAX),
        .help = "seconds to record; the program continues" },
    [OPT_RUN_PERIOD] = { "period", SECONDS(run.period_s, 1, 2592000),
        .help = "without a program: record the machine for this many seconds" },
    [OPT_RUN_HANG_AFTER] = { "hang-after", SECONDS(run.hang_after_s, 1, 2592000),
        .help = "seconds without a step or collective of any rank, after which the report of ascope hang is printed; for Python scripts of PyTorch" },
    [OPT_RUN_PID] = { "pid", "attach", .kind = OPTION_TEXT, .value = "N", .at = AT(run.pid),
        .help = "record a running process until it ends, until Ctrl-C, or for --duration; with --interactive several, separated by commas" },
    [OPT_RUN_INTERACTIVE] = { "interactive", .kind = OPTION_FLAG, .at = AT(run.is_interactive),
        .help = "read start, stop and quit from standard input; each start gives a collection" },
    [OPT_RUN_ENVIRONMENT] = { "env", .kind = OPTION_TEXT, .value = "A=1;B=2", .at = AT(run.environment),
        .help = "additional environment variables for the program" },
    [OPT_RUN_STORAGE_LIMIT] = { "storage-limit", .kind = OPTION_SIZE, .value = "SIZE", .at = AT(run.storage_bytes), .least = 200 << 20,
        .help = "beyond it the oldest repeatable records are deleted and counted" },
    [OPT_RUN_MONITOR] = { "monitor", .kind = OPTION_DIR, .value = "DIR", .at = AT(run.monitor),
        .help = "no recording; only the monitor's values of each step, in files in DIR, for ascope top DIR" },
    [OPT_RUN_NO_EXPORT] = { "no-export", .kind = OPTION_FLAG, .at = AT(run.no_export),
        .help = "only record; ascope export DIR writes the results later" },

    [OPT_RUN_ACL_JSON] = { "acl-json", .kind = OPTION_FILE, .value = "FILE", .at = AT(run.acl_json),
        .help = "record what the profiler part of this acl.json asks for; ascope options check FILE shows it" },
    [OPT_RUN_SKIP_FIRST] = { "skip-first", NUMBER(run.skip_first, 0, INT32_MAX),
        .help = "of a PyTorch script: steps before the first schedule cycle; default: 0" },
    [OPT_RUN_SKIP_FIRST_WAIT] = { "skip-first-wait", NUMBER(run.skip_first_wait, 0, 1),
        .help = "of a PyTorch script: 1: the first cycle has no wait phase; default: 0" },
    [OPT_RUN_WAIT] = { "wait", NUMBER(run.wait, 0, INT32_MAX),
        .help = "of a PyTorch script: steps of the wait phase of a cycle, which are not recorded; default: 0" },
    [OPT_RUN_WARMUP] = { "warmup", NUMBER(run.warmup, 0, INT32_MAX),
        .help = "of a PyTorch script: steps of the warm-up phase, whose records are discarded; default: 0" },
    [OPT_RUN_ACTIVE] = { "active", NUMBER(run.active, 0, INT32_MAX),
        .help = "of a PyTorch script: steps of the active phase, which are recorded; default: 0, all that follow" },
    [OPT_RUN_REPEAT] = { "repeat", NUMBER(run.repeat, 0, INT32_MAX),
        .help = "of a PyTorch script: number of cycles, each with its own directory; 0: no limit; default: 1" },

    [OPT_DYN_STEPS] = { "steps", NUMBER(dyn.steps, 1, INT32_MAX),
        .help = "number of steps to record (active); default: as the file says" },
    [OPT_DYN_WARMUP] = { "warmup", NUMBER(dyn.warmup, 0, INT32_MAX),
        .help = "steps before them whose records are discarded; default: as the file says" },
    [OPT_DYN_START_STEP] = { "start-step", NUMBER(dyn.start_step, 1, INT64_MAX),
        .help = "begin at this step of the job; default: at the next step that all ranks can reach" },
    [OPT_DYN_RANKS] = { "ranks", .kind = OPTION_TEXT, .value = "N,N-M,...", .at = AT(dyn.ranks),
        .help = "ranks to record; default: all that listen" },
    [OPT_DYN_LEVEL] = { "level", .kind = OPTION_WORD, .choice = { "Level0", "Level1", "Level2", "Level_none" }, .at = AT(dyn.level),
        .help = "detail of the device's tasks (profiler_level); default: as the file says" },
    [OPT_DYN_STACK] = { "stack", .kind = OPTION_FLAG, .at = AT(dyn.stack),
        .help = "record call stacks (with_stack)" },
    [OPT_DYN_SHAPES] = { "shapes", .kind = OPTION_FLAG, .at = AT(dyn.shapes),
        .help = "record shapes and types of inputs (record_shapes)" },
    [OPT_DYN_ANALYSE] = { "analyse", .kind = OPTION_FLAG, .at = AT(dyn.analyse),
        .help = "analyse the collections beside the job, which does not wait (analyse, async_mode)" },
    [OPT_DYN_OUT] = { "out", .kind = OPTION_DIR, .value = "DIR", .at = AT(dyn.out),
        .help = "directory in which the collections are created (prof_dir); default: as the file says" },
    [OPT_DYN_TIMEOUT] = { "timeout", SECONDS(dyn.timeout_s, 1, UINT32_MAX),
        .help = "time limit of wait in seconds; default: none" },
    [OPT_SAMPLE_HZ] = { "hz", NUMBER(sample.hz, 1, 1000), .help = "looks a second; default: 100" },
    [OPT_SAMPLE_SECONDS] = { "seconds", NUMBER(sample.seconds, 1, 86400), .help = "how long; default: 10" },
    [OPT_DYN_LAST] = { "last", .kind = OPTION_TEXT, .value = "TIME", .at = AT(dyn.last),
        .help = "how much of the past save writes: 30s, 500ms or 2min; default: all that the flight recorder keeps" },
    [OPT_DYN_WHEN] = { "when", .kind = OPTION_TEXT, .value = "CONDITION", .at = AT(dyn.when),
        .help = "save by itself from now on: step>1.5x, a step longer than 1.5 times the median of the last 100; never disables it" },

    [OPT_CLUSTER_MODE] = { "mode", .letter = 'm', .kind = OPTION_TEXT, .value = "MODE,...", .at = AT(job.modes), .choices = mode_word,
        .help = "what to compute: one or more modes separated by commas, or all-modes; default: all,verdicts" },
    [OPT_CLUSTER_OUT] = { "out", "output_path", .letter = 'o', .kind = OPTION_DIR, .value = "DIR", .at = AT(options.out_dir),
        .help = "results are written to DIR/cluster_analysis_output; default: the first directory" },
    [OPT_CLUSTER_TYPE] = { "export-type", "export_type", .kind = OPTION_TEXT, .value = "TYPE,...", .at = AT(export_type),
        .choice = { "text", "db", "text,db" },
        .help = "text (csv and JSON), db (cluster_analysis.db), or both; default: text for ranks that have text results only, else db" },
    [OPT_CLUSTER_RANKS] = { "ranks", "rank_list", .kind = OPTION_TEXT, .value = "N,N-M,...", .at = AT(job.ranks),
        .help = "use only these ranks: 0,3-5; default: all" },
    [OPT_CLUSTER_STEP] = { "step", "step_id", NUMBER(job.step, 0, INT32_MAX),
        .help = "use only this step, for modes that know steps; default: all" },
    [OPT_CLUSTER_TOP] = { "top", "top_num", NUMBER(job.top, 1, 1000000),
        .help = "number of rows of modes that list the largest ones; default: depends on the mode" },
    [OPT_CLUSTER_BASE] = { "base", "bp", .kind = OPTION_DIR, .value = "DIR", .at = AT(job.base),
        .help = "for cluster_time_compare_summary: the other job, or its results" },
    [OPT_CLUSTER_RANK_ID] = { "rank-id", "rank_id", NUMBER(job.rank_id, 0, INT32_MAX),
        .help = "for communication_bottleneck: the rank whose operators are examined; default: 0" },
    [OPT_CLUSTER_PARALLEL] = { "parallel-types", "parallel_types", .kind = OPTION_TEXT, .value = "TYPE,...", .at = AT(job.parallel_types),
        .help = "for computational_op_masking: kinds of groups, such as dp,edp;tp" },
    [OPT_CLUSTER_NO_NAMES] = { "exclude-op-name", "exclude_op_name", .kind = OPTION_FLAG, .at = AT(job.no_op_names),
        .help = "for compute_op_sum: omit the table by operator names" },
    [OPT_CLUSTER_RANK_DATABASES] = { "rank-databases", .kind = OPTION_FLAG, .at = AT(job.rank_databases),
        .help = "for p2p_pairing and pp_chart, with --out: write copies of the ranks' databases into that directory, with what MindStudio "
                "Insight reads from them; the recorded ones are never changed" },
    [OPT_CLUSTER_SHARD] = { "shard", .kind = OPTION_TEXT, .value = "I/N", .at = AT(job.shard),
        .help = "only write the summaries of a part of the ranks, 1/8 to 8/8, to shard_I_of_N.summary in the output directory" },
    [OPT_CLUSTER_MANIFEST] = { "manifest", .kind = OPTION_FILE, .value = "FILE", .at = AT(job.manifest),
        .help = "only write the list of ranks to a file; with --shard: take the part from this list instead of searching all of DIR" },
    [OPT_CLUSTER_JOIN] = { "join", .kind = OPTION_FILE, .value = "FILE", .at = AT(job.join),
        .help = "only write the summaries of all ranks that are found, shards included, to one file" },
    [OPT_CLUSTER_SHARDS] = { "shards", .kind = OPTION_DIR, .value = "DIR", .at = AT(job.shards),
        .help = "read the ranks from the shards in a directory; ranks of the job that are in none of them are reported as missing" },
    [OPT_CLUSTER_LAUNCHER] = { "launcher", .kind = OPTION_WORD, .choice = { "local", "slurm" }, .at = AT(job.launcher),
        .help = "summarise parts of the ranks first, in processes on this machine (local) or in tasks of a job array, followed by a job for the results (slurm)" },
    [OPT_CLUSTER_LAUNCHER_ARGS] = { "launcher-args", .kind = OPTION_TEXT, .value = "OPTIONS", .at = AT(job.launcher_args),
        .help = "additional options for sbatch, as one word: \"--partition=cpu --time=10\"" },
    [OPT_CLUSTER_PROCESSES] = { "processes", NUMBER(job.processes, 1, 1024),
        .help = "number of parts for --launcher; default: local: --threads, slurm: one per rank, at most 1000" },

    [OPT_OUTPUT] = { "output", .kind = OPTION_DIR, .value = "DIR", .at = AT(output),
        .help = "collection: a PROF_XXX directory, or a directory that contains some" },
    [OPT_EXPORT] = { "export", .kind = OPTION_SWITCH, .at = AT(exports),
        .help = "write timeline, tables and database" },
    [OPT_PARSE] = { "parse", .kind = OPTION_SWITCH, .at = AT(parses),
        .help = "read and check everything, write nothing" },
    [OPT_QUERY] = { "query", .kind = OPTION_SWITCH, .at = AT(queries),
        .help = "list models and iterations" },
    [OPT_ANALYZE] = { "analyze", .kind = OPTION_SWITCH, .at = AT(analyzes),
        .help = "analyse communication: time and bytes by collective, link and pair of ranks" },
    [OPT_TYPE] = { "type", .kind = OPTION_CHOICE, .choice = { "text", "db" }, .at = AT(type),
        .help = "text: text files and the database (default); db: the database only" },
    [OPT_RULE] = { "rule", .letter = 'r', .kind = OPTION_TEXT, .value = "RULE,...", .at = AT(rule),
        .help = "communication, communication_matrix, or both separated by a comma (default)" },
    [OPT_SUMMARY_FORMAT] = { "summary-format", .kind = OPTION_CHOICE, .choice = { "csv", "json" },
        .at = AT(options.format),
        .help = "format of the summary tables; default: csv" },
    [OPT_CLEAR_SWITCH] = { "clear", .kind = OPTION_SWITCH, .at = AT(options.clears),
        .help = "remove intermediate sqlite directories of other tools" },
    [OPT_PYTHON_PATH] = { "python-path", .kind = OPTION_FILE, .value = "FILE", .at = AT(python_path),
        .help = "accepted and ignored: ascope does not need Python" },
};
/* clang-format on */

/* A static program must not load NSS libraries, which are built for the system's C library: it only reads
 * /etc/passwd. */
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
        rest = home ? path + 1 + len : path; /* as in shells, the ~ of an unknown user is not replaced */
    }
    const char *full = arena_printf(a->mem, "%s%s", home ? home : "", rest);
    if (!full) {
        complain_no_memory(what);
        return NULL;
    }
    if (!*full) {
        complain("%s: empty path; give a path", what);
        return NULL;
    }
    if (strlen(full) > PATH_MOST) {
        complain("%s: the path has %zu characters; at most %d are accepted", what, strlen(full), PATH_MOST);
        return NULL;
    }
    for (const char *c = full; *c; c++)
        if (((unsigned char)*c < 0x20 || *c == 0x7F) && access(full, F_OK) != 0) { /* an existing path is accepted */
            complain("%s %s: control character 0x%02x after %td characters; check the quoting", what, full,
                     (unsigned char)*c, c - full);
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
    static char text[1000]; /* fits all modes of ascope cluster */
    text[0] = 0;
    size_t used = 0;
    for (size_t i = 0; option_choice(o, i) && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "", option_choice(o, i));
    return text;
}

const char *option_help(const struct option_row *o, char *out, size_t size)
{
    const bool lists_choices = o->value && option_choice(o, 0);
    snprintf(out, size, "%s%s%s", o->help, lists_choices ? "; accepted are " : "",
             lists_choices ? choices_text(o) : "");
    return out;
}

static bool set_number(const struct option_row *o, const char *what, const char *text, void *out)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    bool ok = *text >= '0' && *text <= '9' && errno == 0;
    if (o->is_time && *end && strchr("smh", *end))
        ok = !__builtin_mul_overflow(n, *end == 'h' ? 3600 : *end == 'm' ? 60 : 1, &n) && ok, end++;
    if (!ok || *end || n < o->least || n > o->most) {
        complain("%s %s: accepted are %s from %llu to %llu%s", what, text, o->is_time ? "seconds" : "integers",
                 (unsigned long long)o->least, (unsigned long long)o->most,
                 o->is_time ? ", also as 90s, 5m or 2h" : "");
        return false;
    }
    const uint64_t value = n * (o->unit ? o->unit : 1);
    memcpy(out, &value, o->width); /* on a little-endian machine the low bytes come first */
    return true;
}

/* Reads 512M, 2G, 1048576K, 2GB or 2GiB; all units are powers of 1024. */
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
    for (unsigned i = 0; option_choice(o, i); i++)
        if (strcmp(option_choice(o, i), text) == 0) {
            *out = i;
            return true;
        }
    if (o->first_alias && strcmp(o->first_alias, text) == 0) {
        *out = 0;
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
    *out = option_choice(o, which);
    return true;
}

static bool set_value(struct arguments *a, enum option_id id, const char *what, const char *text)
{
    const struct option_row *o = &option_rows[id];
    void *at = (char *)a + o->at;
    if (id == OPT_DIR && a->given[id] && a->face == FACE_ASCOPE) { /* the first directory would be ignored silently */
        complain("%s: given twice; give the other directories without it", what);
        return false;
    }
    a->given[id] = true;
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

/* The option as shown in messages: -dir, --format. */
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
    char word[NEAREST_WORD_MOST + 2];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(bare, "="), bare);
    const char *near = nearest_word(word, name, n), *other = taken_by(a, word);
    if (other)
        complain("%s: not an option of ascope %s; ascope %s has it; %s", given, c->name, other, see(a));
    else if (near)
        complain("%s: unknown option; did you mean --%s? %s", given, near, see(a));
    else
        complain("%s: unknown option; %s", given, see(a));
    return false;
}

/* Variables apply to every command, msprof and msprof.py included. */
static bool read_environment(struct arguments *a)
{
    for (unsigned id = 0; id < OPTIONS; id++) {
        const char *variable = option_rows[id].environment, *text = variable ? getenv(variable) : NULL;
        if (text && *text && !set_value(a, (enum option_id)id, variable, text))
            return false;
    }
    memset(a->given, 0, sizeof a->given); /* options override variables silently */
    return true;
}

enum { LONG_BASE = 256 }; /* getopt's value of a long option is this plus its id: larger than any letter */

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
    if (c->value_follows_sign || c->ends_at_word)
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
    if (id < 0) {
        const size_t taken = a->command->other ? a->command->other(a, argv + optind - 1) : 0;
        optind += taken > 1 ? (int)taken - 1 : 0;
        return taken > 0 || say_unknown(a, argv[optind - 1]);
    }
    const struct option_row *o = &option_rows[id];
    const char *what = shown_name(o);
    if (code == '?') {
        complain("%s: takes no value", what);
        return false;
    }
    if (o->kind == OPTION_SWITCH && !optarg && !a->command->value_follows_sign)
        return set_value(a, (enum option_id)id, what, "on");
    if (code == ':' || (takes_value(o) && !optarg)) {
        complain("%s: missing value%s: %s", what, a->command->value_follows_sign ? ", as in --name=value" : "",
                 o->kind == OPTION_SWITCH ? "on, off"
                 : option_choice(o, 0)    ? choices_text(o)
                                          : o->value);
        return false;
    }
    return set_value(a, (enum option_id)id, what, optarg ? optarg : "");
}

static unsigned n_cpus(void)
{
    cpu_set_t set;
    const long n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

struct arguments arguments_new(enum face face)
{
    struct arguments a = { .face = face,
                           .options = { .iteration_count = 1, .n_threads = n_cpus() },
                           .top = 5,
                           .rows = 10000,
                           .sim = sim_defaults,
                           .run = { .marks = true },
                           .mem = arena_new() };
    if (!a.mem)
        complain_no_memory("the command line");
    return a;
}

/* Lack of memory is reported here if whoever met it, anywhere, has not done so. */
void arguments_end(struct arguments *a)
{
    if (a->mem && arena_failed(a->mem) && !has_complained())
        complain_no_memory(a->command ? a->command->name : "the command line");
    arena_free(a->mem);
}

bool options_parse(const struct command *c, int argc, char **argv, struct arguments *a)
{
    struct option known[2 * OPTIONS + 1];
    char short_ones[2 * OPTIONS + 3];
    a->command = c;
    if (!a->mem || !read_environment(a))
        return false;
    int dashes = 1; /* getopt moves the words before it behind it */
    while (dashes < argc && strcmp(argv[dashes], "--") != 0)
        dashes++;
    long_options(c, known);
    letters(c, short_ones);
    optind = 0; /* restarts getopt of glibc */
    opterr = 0;
    for (int code; (code = getopt_long_only(argc, argv, short_ones, known, NULL)) != -1;)
        if (!parse_one(a, code, argv))
            return false;
    a->has_dashes = dashes < argc && optind > 1 && strcmp(argv[optind - 1], "--") == 0;
    a->n_behind_dashes = a->has_dashes ? (size_t)(argc - dashes - 1) : 0;
    a->n_words = (size_t)(argc - optind);
    a->word = (const char **)(argv + optind);
    a->n_argv = argc > 0 ? (size_t)argc - 1 : 0;
    a->argv = argv + (argc > 0);
    for (size_t i = 0; i < c->n_options; i++)
        if (strcmp(option_rows[c->option[i]].name, "out") == 0)
            write_trouble_names("--out");
    if (a->no_sync)
        setenv("ASCOPE_SYNC", "off", 1); /* also for the processes that it starts */
    return true;
}
