/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>

#include "cli/options/command.h"

#define LIST_OF(array) array, sizeof array / sizeof *array

/* clang-format off */
static const uint8_t export_options[] = {
    OPT_DIR, OPT_REPORTS, OPT_MODEL, OPT_ITERATION, OPT_ITERATION_COUNT, OPT_FORMAT, OPT_CSV_SAFE, OPT_MAX_SIZE, OPT_GZIP, OPT_DIALECT, OPT_TIME_BASE, OPT_KEEP_OVERLAPS, OPT_OUT,
    OPT_CLEAR, OPT_THREADS, OPT_MEMORY, OPT_TOP, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_VERBOSE, OPT_HELP,
};
static const uint8_t analyse_options[] = {
    OPT_DIR, OPT_EXPORT_TYPE, OPT_MAX_PROCESSES, OPT_ONLY_STEPS, OPT_CSV_SAFE, OPT_DIALECT, OPT_TIME_BASE, OPT_KEEP_OVERLAPS, OPT_PRETTY, OPT_SIMPLIFY, OPT_SUMMARY, OPT_OUT,
    OPT_THREADS, OPT_MEMORY, OPT_TOP, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_VERBOSE, OPT_HELP,
};
static const uint8_t memory_timeline_options[] = {
    OPT_DEVICE, OPT_THREADS, OPT_MEMORY, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_HELP,
};
static const uint8_t trace_options[] = {
    OPT_MAX_SIZE, OPT_DIALECT, OPT_TIME_BASE, OPT_KEEP_OVERLAPS, OPT_PRETTY, OPT_THREADS, OPT_MEMORY, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_HELP,
};
static const uint8_t stacks_options[] = { OPT_METRIC, OPT_THREADS, OPT_MEMORY, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t compare_options[] = { OPT_COMPARE_OUT, OPT_CSV_SAFE, OPT_STEPS_BY, OPT_TOP, OPT_THREADS, OPT_MEMORY, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t gate_options[] = { OPT_GATE_ALLOW, OPT_GATE_MARKDOWN, OPT_GATE_GITHUB, OPT_GATE_JUNIT, OPT_GATE_SARIF, OPT_STEPS_BY, OPT_TOP, OPT_THREADS, OPT_MEMORY, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t sample_options[] = { OPT_SAMPLE_HZ, OPT_SAMPLE_SECONDS, OPT_TOP, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t hang_options[] = { OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t top_options[] = { OPT_TOP_ONCE, OPT_TOP_WINDOW, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t monitor_options[] = { OPT_MONITOR_LISTEN, OPT_MONITOR_TOKEN, OPT_MONITOR_HOOK, OPT_MONITOR_FLIGHT, OPT_MONITOR_REPLAY, OPT_TOP_WINDOW, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t memory_options[] = { OPT_MEMORY_FOLDED, OPT_TOP, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t why_options[] = { OPT_DIR, OPT_WHY_STEP, OPT_WHY_RANK, OPT_WHY_REQUEST, OPT_STEPS_BY, OPT_TOP, OPT_THREADS, OPT_MEMORY, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t view_options[] = { OPT_DIR, OPT_VIEW_RANKS, OPT_VIEW_STEP, OPT_STEPS_BY, OPT_VIEW_PORT, OPT_VIEW_HOST, OPT_VIEW_NO_OPEN, OPT_VIEW_EXPORT, OPT_VIEW_RANGE, OPT_THREADS, OPT_MEMORY, OPT_QUIET, OPT_HELP };
static const uint8_t sql_options[] = { OPT_SQL_TABLE, OPT_SQL_CSV, OPT_CSV_SAFE, OPT_JSON, OPT_SQL_LIMIT, OPT_SQL_COLUMNS, OPT_SQL_TABLES, OPT_STEPS_BY, OPT_THREADS, OPT_MEMORY, OPT_QUIET, OPT_HELP };
static const uint8_t mcp_options[] = { OPT_HELP };
static const uint8_t advise_options[] = { OPT_DIR, OPT_ADVISE_HTML, OPT_STEPS_BY, OPT_THREADS, OPT_MEMORY, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t recover_options[] = { OPT_DIR, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t info_options[] = { OPT_DIR, OPT_STEPS_BY, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t communication_options[] = {
    OPT_DIR, OPT_RULE, OPT_TYPE, OPT_OUT, OPT_CLEAR, OPT_THREADS, OPT_MEMORY, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_VERBOSE, OPT_HELP,
};
static const uint8_t cluster_options[] = {
    OPT_CLUSTER_MODE, OPT_CLUSTER_OUT, OPT_CLUSTER_TYPE, OPT_CSV_SAFE, OPT_CLUSTER_RANKS, OPT_CLUSTER_STEP, OPT_STEPS_BY, OPT_CLUSTER_TOP, OPT_CLUSTER_BASE, OPT_CLUSTER_RANK_ID,
    OPT_CLUSTER_PARALLEL, OPT_CLUSTER_NO_NAMES, OPT_CLUSTER_RANK_DATABASES, OPT_CLUSTER_SHARD, OPT_CLUSTER_MANIFEST, OPT_CLUSTER_JOIN, OPT_CLUSTER_SHARDS, OPT_CLUSTER_LAUNCHER, OPT_CLUSTER_LAUNCHER_ARGS, OPT_CLUSTER_PROCESSES, OPT_THREADS, OPT_MEMORY, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_HELP,
};
static const uint8_t query_options[] = { OPT_DIR, OPT_THREADS, OPT_JSON, OPT_HELP };
static const uint8_t sim_options[] = {
    OPT_SIM_OUT, OPT_SEED, OPT_NOISE_SEED, OPT_JITTER, OPT_KERNELS, OPT_FRAMEWORK, OPT_MS_GENERATION, OPT_JIT, OPT_OPERATORS, OPT_STEPS, OPT_DEVICES, OPT_PROCESSES,
    OPT_TP, OPT_PP, OPT_DP, OPT_HOST_RANKS, OPT_SLOW_STEP, OPT_SLOW_RANK, OPT_SLOW_OPERATOR, OPT_SLOW_LINK, OPT_STALL, OPT_LATE_HOST, OPT_MISSING_RANK, OPT_CLOCK_OFFSET, OPT_CHIP, OPT_MHZ, OPT_METRICS,
    OPT_SLICE_KIB, OPT_COMM, OPT_KFC, OPT_GRAPHS, OPT_LATE, OPT_COPIES, OPT_MARKS, OPT_SAMPLERS, OPT_SAMPLE_BASED, OPT_TILING, OPT_LEVEL0,
    OPT_THREADS, OPT_JSON, OPT_QUIET, OPT_HELP,
};
static const uint8_t install_msprof_options[] = { OPT_SCRIPT_DIALECT, OPT_FORCE, OPT_REMOVE, OPT_HELP };
static const uint8_t doctor_options[] = { OPT_DOCTOR_OUT, OPT_PROVE, OPT_PYTHON, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t options_options[] = { OPT_OPTIONS_FORM, OPT_OPTIONS_CHIP, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t run_options[] = {
    OPT_RUN_OUT, OPT_RUN_HOST_SYS, OPT_RUN_DEVICE, OPT_RUN_LEVEL, OPT_RUN_METRICS, OPT_RUN_MARKS, OPT_RUN_DELAY, OPT_RUN_DURATION, OPT_RUN_PERIOD,
    OPT_RUN_HANG_AFTER, OPT_RUN_PID, OPT_RUN_INTERACTIVE, OPT_RUN_ENVIRONMENT, OPT_RUN_STORAGE_LIMIT, OPT_RUN_ACL_JSON, OPT_RUN_NO_EXPORT, OPT_RUN_MONITOR,
    OPT_RUN_SKIP_FIRST, OPT_RUN_SKIP_FIRST_WAIT, OPT_RUN_WAIT, OPT_RUN_WARMUP, OPT_RUN_ACTIVE, OPT_RUN_REPEAT,
    OPT_CSV_SAFE, OPT_GZIP, OPT_DIALECT, OPT_TIME_BASE, OPT_THREADS, OPT_MEMORY, OPT_TOP, OPT_NO_SYNC, OPT_JSON, OPT_QUIET, OPT_VERBOSE, OPT_HELP,
};
static const uint8_t dyn_options[] = {
    OPT_DYN_STEPS, OPT_DYN_WARMUP, OPT_DYN_START_STEP, OPT_DYN_RANKS, OPT_DYN_LEVEL, OPT_DYN_STACK, OPT_DYN_SHAPES, OPT_DYN_ANALYSE, OPT_DYN_OUT,
    OPT_DYN_TIMEOUT, OPT_DYN_LAST, OPT_DYN_WHEN, OPT_JSON, OPT_QUIET, OPT_HELP,
};
static const uint8_t help_options[] = { OPT_MAN, OPT_RECORDER_OPTIONS, OPT_HELP };
static const uint8_t completion_options[] = { OPT_HELP };

const struct command commands[] = {
    {
        .heading = "record",
        .name = "run",
        .usage = "[OPTION...] [--] PROGRAM [ARGUMENT...]",
        .about = "record any program, a running process or the machine, and export the result",
        .text = "Starts PROGRAM and records it and its descendants from outside: CPU, memory, disk and network, its "
                "operating system calls, its marks, and the devices of this machine. The program needs no change, "
                "and gets no thread and no descriptor. The first word that is not an option is the program; -- "
                "before it is optional. Results are exported when it has ended, as by ascope export, with a summary. "
                "The exit code is that of the program (128 plus the signal that killed it; 127 if it cannot be "
                "started), or that of the export if the program succeeded.\n\n"
                "A Python script that uses PyTorch, MindSpore or TensorFlow (python3 SCRIPT, python3 -m MODULE, "
                "torchrun, a script whose first line names Python) is recorded by the front end of its framework "
                "instead, as by python3 -m ascope record: operators, steps and memory, analysed as by ascope "
                "analyse; every rank has its own directory, also ranks that the script starts with multiprocessing, "
                "and the answer for the job follows. Whatever ends the script, what it recorded is completed and "
                "analysed. Options of that command are accepted with full name, such as --with-stack or "
                "--export-type db.\n\n"
                "The report goes to standard error; standard output is the program's.\n\n"
                "Ctrl-C ends the program and exports what was recorded so far. If ascope itself is killed, the "
                "program continues, and ascope export recovers the collection.\n\n"
                "Examples: ascope run ./server --port 80 records a server from its first instruction. ascope run "
                "--delay 30 --duration 10 -- python3 train.py leaves out the first 30 seconds and records the next "
                "10. ascope run --pid 1234 --duration 5 records a running process. ascope run --period 60 records "
                "the use of the machine for a minute. ascope run --interactive ./server records from each start to "
                "the next stop that is entered. ascope run --no-export --out /data ./server only records. ascope run "
                "--acl-json acl.json -- ./app records what that file requests; if it leaves profiling off, the "
                "program runs unrecorded.\n\n"
                "Options of msprof are accepted with full name and value, such as --aicpu=on or "
                "--sys-hardware-mem=on; msprof --help lists them. record and profile are aliases of this command.",
        LIST_OF(run_options),
        .ends_at_word = true,
        .other = run_other_option,
        .run = run_run,
    },
    {
        .name = "dyn",
        .usage = "DIR [status|start|wait|stop|save] [OPTION...]",
        .about = "start collections in a running job, and wait for them",
        .text = "The job listens to the directory DIR: it was started with PROF_CONFIG_PATH=DIR in its environment, "
                "or its script calls dynamic_profile.init(\"DIR\"), or it is a program that uses ascope/dynamic.h. "
                "DIR may be on a file system that several hosts share.\n\n"
                "status, the default, lists the listening processes of this host and user with their ranks, steps "
                "and state. start atomically writes a request to DIR/profiler_config.json: options set their keys, "
                "all other keys keep their values. Without --start-step all ranks begin at the same step, the next "
                "one that all of them can reach. wait waits until the requested ranks have their results, and prints "
                "their directories. stop ends running collections, and drops those that wait for their step.\n\n"
                "start rejects a request that cannot be fulfilled, and then writes nothing: no process listens, a "
                "requested rank does not listen, the step has passed, or the file is not JSON. Other keys of the "
                "file are accepted as options: --profile-memory true, --l2_cache=true, --export-type text,db.\n\n"
                "save is for flight recorders: their last seconds (--last) become collections while the job "
                "continues. DIR is the directory of a flight recorder, its parent, or the directory that it listens "
                "to. If the program was killed, its last seconds are recovered.\n\n"
                "Exit code 0: success. 1: rejected, or wait has no result. 2: invalid command line. 3: wait has "
                "results of some ranks only.\n\n"
                "Example: ascope dyn /share/prof start --steps 3 --warmup 1 --ranks 0,8 --level Level1 && ascope dyn "
                "/share/prof wait",
        LIST_OF(dyn_options),
        .words = "status start wait stop save",
        .words_are_second = true,
        .other = dyn_other_option,
        .run = run_dyn,
    },
    {
        .name = "recover",
        .usage = "DIR... [OPTION...]",
        .about = "complete the collection of a program that was killed while recording",
        .text = "A recorded program that is killed, or ends without stopping the recorder, leaves records in the "
                "file ascope.rings of its collection. recover writes each of them once to the file where it belongs "
                "and removes ascope.rings. analyse and export do this automatically before reading; use recover for "
                "collections that another tool will read. If DIR contains collections, each is recovered. A "
                "collection that is still being recorded is not touched. Damaged records are counted, and missing or "
                "implausible rings are reported: the exit code is then 3, also of every later analysis. Rings that "
                "are a link, belong to another user or to another recording are rejected.",
        LIST_OF(recover_options),
        .run = run_recover,
    },
    {
        .name = "doctor",
        .usage = "[--out DIR] [--python PATH] [--json]\n--prove DIR [--json]",
        .about = "check what this machine can record, and what is missing",
        .text = "Examines devices, the host, the directory of recordings, Python with its frameworks, and the parts "
                "of ascope. For each check: its state (ok, limited, missing, or - for not applicable), what was "
                "found, what is recorded or not recorded because of it, what to do, and where it looked. Problems "
                "are listed first.\n\n"
                "Nothing is recorded, and no file is left behind. Python is run in a separate process, for at most "
                "half a minute; vendors' libraries are not loaded into the command. Without a device, only the host "
                "is recorded.\n\n"
                "With --prove, small programs with known content (marks, ranges, kernels, copies) are recorded and "
                "exported instead, one for the host, the simulated NPU and each kind of real device, and every known "
                "number is checked. DIR/ascope-prove.json has the results without names and paths.\n\n"
                "Exit code 0: the host can be recorded, whatever else is limited or missing; with --prove: every check "
                "passed. 1: it cannot, because the directory is not writable, its files cannot be mapped, or /proc is "
                "missing; with --prove: a check failed.",
        LIST_OF(doctor_options),
        .run = run_doctor,
    },
    {
        .name = "options",
        .usage = "check FILE|JSON [OPTION...]",
        .about = "check profiling_options of TensorFlow, or acl.json",
        .text = "Reads the JSON text of profiling_options (TensorFlow, PROFILING_OPTIONS), or the profiler part of "
                "an acl.json, as the vendor's graph engine and collector do, and prints the effective settings: each "
                "option with its value, the data mask, and which layers of the timeline and which files it yields "
                "after ascope export. The word after check is a file, or the text itself if it begins with {.\n\n"
                "Every fault is one line with its place (line and column), key, value, what is accepted, and the "
                "code of the vendor's message. Warnings report what has no effect, what is deprecated, and where the "
                "vendor's code and its option reference differ. Nothing is recorded, and no directory is "
                "created.\n\n"
                "Exit code 0: accepted, even with warnings, and even if acl.json leaves profiling off. 1: rejected. "
                "2: the file cannot be read.",
        LIST_OF(options_options),
        .words = "check",
        .has_files = true,
        .run = run_options_command,
    },
    {
        .heading = "answers",
        .name = "why",
        .usage = "DIR|FILE.json|FILE.json.gz... [OPTION...]",
        .about = "explain why a step or a rank is slow: causes, operators, and where to look",
        .text = "DIR is a *_ascend_pt, *_ascend_ms or PROF_XXX directory, or a directory that contains those of all "
                "ranks of a job; FILE is a trace of torch.profiler. Compares the steps with their median, and divides "
                "the excess of the slowest one, or of --step, by cause and by operator, largest first: more runs, longer runs, lower clock, slower "
                "transfer, waiting for other ranks, waiting for data, memory, garbage collection, the host. Causes "
                "and rest add up to the difference. Each item names its longest event in the timeline: ts in "
                "microseconds, process and thread.\n\n"
                "For a job, the slowest step is explained on the rank that the others wait for, or on --rank. If no "
                "step is slow but a rank is, its usual step is compared with that of the median rank, without "
                "communication. If nothing is slow, the report says so. No files are written.\n\n"
                "Example: ascope why job --step 14 --top 10",
        LIST_OF(why_options),
        .has_files = true,
        .run = run_why,
    },
    {
        .name = "advise",
        .usage = "DIR... [OPTION...]",
        .about = "suggest what to change to make a job faster, with evidence and estimated gain",
        .text = "DIR is a *_ascend_pt, *_ascend_ms or PROF_XXX directory, or a directory that contains those of all "
                "ranks of a job. Runs a list of checks on each rank: waiting for data, the host (launches, "
                "synchronisation, Python, garbage collection, allocations, compilation, checkpoints, other processes), "
                "copies, the clock, kernels (tensor cores, AI CPU, formats, numbers of blocks, the optimizer), "
                "communication (exposed, small, unaligned, repeated, slow links), a rank that the others wait "
                "for.\n\n"
                "Each finding has an estimated gain per step, the evidence, its place in the timeline, and what to "
                "change; the largest gain is first. Gains of less than 3 % of a step are not reported, nor what happens once and costs less than 1 % of the run. Checks whose "
                "data was not recorded are listed with the option that records it. Gains are estimates; they may "
                "overlap and do not add up.\n\n"
                "The exit code does not depend on the findings. Example: ascope advise job --html advice.html",
        LIST_OF(advise_options),
        .run = run_advise,
    },
    {
        .name = "compare",
        .usage = "A... [--] B... [OPTION...]",
        .about = "compare two runs: what changed, by how much, where, and what is noise",
        .text = "A is the base, B the new run: a collection (*_ascend_pt, *_ascend_ms, PROF_XXX), a directory that "
                "contains those of all ranks of a job, a trace of torch.profiler (.json, .json.gz), or a directory "
                "of such traces; the two may be of different kinds, for example of an NPU and a GPU. Behind -- are "
                "the runs of B if a side has several, before it those of A: how much runs of the same program differ "
                "is then part of the noise.\n\n"
                "Prints the parts of a usual step, peaks of memory, and what changed, largest first: kernels, "
                "collectives and copies (for different devices: operators by the time of their kernels), with their "
                "runs and the rank on which they changed most; steps that are slow on one side; ranks; classes of "
                "kernels. A difference is real if it exceeds what the spread over steps and runs explains, and a "
                "hundredth of the value; with fewer than three steps in a run noise is unknown. -o writes everything: "
                "tables, a database and one page for a browser.\n\n"
                "The exit code is 0 whether or not the runs differ, and 3 if something was damaged or a rank is not "
                "in all runs. Example: ascope compare base1 base2 base3 -- new1 new2 new3",
        LIST_OF(compare_options),
        .has_files = true,
        .run = run_compare,
    },
    {
        .name = "gate",
        .usage = "BASE... [--] NEW... [OPTION...]",
        .about = "whether new runs are slower than allowed: PASS, REGRESSED or INCONCLUSIVE, for continuous integration",
        .text = "Compares runs as ascope compare does, and says in the first line and by the exit code whether a measure "
                "grew by more than --allow. REGRESSED: it grew by more than that and by more than noise. PASS: it did "
                "not, and noise is smaller than that. INCONCLUSIVE: noise is larger, something could not be read, or the "
                "runs are of different devices or ranks; the line says how many steps or runs would decide.\n\n"
                "Slow steps are left out of a usual step; what they cost is a measure of its own, which is judged with "
                "the step. Record several runs on each side: how much runs of the same program differ is known only "
                "then.\n\n"
                "The exit code is 0 for PASS, 4 for REGRESSED, 5 for INCONCLUSIVE, also if there is nothing to read in a path; 1 if "
                "the report could not be written, 2 if the command line is invalid. Example: ascope gate --allow "
                "step=3%,memory=10% --markdown report.md base1 base2 base3 -- new1 new2 new3",
        LIST_OF(gate_options),
        .has_files = true,
        .run = run_gate,
    },
    {
        .name = "hang",
        .usage = "DIR|PID|DUMP... [OPTION...]",
        .about = "why a job hangs: which rank did not come to which collective, and where it is instead",
        .text = "Of a process id it looks at the process and its descendants, of a directory at the processes that listen to "
                "it or record into it, while they are stuck: nothing runs in them, and nothing stops them. It prints which "
                "rank did not come to which collective of which group and where it is instead, then the stacks of all "
                "threads. Example: ascope hang 4711, with the process id of torchrun or ascope run.\n\n"
                "Otherwise it reads dumps of the flight recorder of PyTorch, of NCCL and of HCCL, a file for each rank: pickles, of which "
                "only plain values are read and nothing is executed, or JSON. Of a directory it reads the files whose names "
                "end with a number, with or without .json or .pickle. The first line says which rank did not come to which "
                "collective of which group and where it is instead, or who calls something else, or that groups wait for "
                "each other, or that all have come and the transfer does not end; then who waits for whom, and of which "
                "ranks there is no dump. Example: TORCH_FR_BUFFER_SIZE=2000 makes a job keep its last collectives; after "
                "a time-out, ascope hang /tmp/nccl_trace_rank_*",
        LIST_OF(hang_options),
        .has_files = true,
        .run = run_hang,
    },
    {
        .name = "top",
        .usage = "DIR [OPTION...]",
        .about = "a running job that is monitored: steps a second, parts of the step, slow ranks, what changed, memory",
        .text = "Reads the records that monitored processes write (ascope run --monitor DIR, ascope.monitor() in Python, "
                "monitor.h in C), of all ranks of this host in DIR, and disturbs none of them. Shows the usual step "
                "of the last minutes by its parts, each rank by its own time against the median rank, and what the judge "
                "of recorded runs finds: a rank that is slow, since when steps take longer, single slow steps. What was "
                "not recorded is shown as -, never as 0. Works on the files of an ended job, too: its last minutes. "
                "Example: ascope top /tmp/monitor --once --json",
        LIST_OF(top_options),
        .has_files = true,
        .run = run_top,
    },
    {
        .name = "sample",
        .usage = "PID [FILE] [OPTION...]",
        .about = "where a running Python program spends its time: stacks of all threads, sampled from outside",
        .text = "Looks at the stacks of Python of a process and its descendants many times a second, by copying their "
                "memory: nothing runs in them, nothing stops them, and they need not have been started by ascope. "
                "Samples of a thread that runs or is ready to are kept apart from those of one that waits; shares have "
                "the error of their number. FILE receives one line for each stack, with on or off as its outermost "
                "frame, as flame-graph tools read them. --top is the number of frames shown. Example: ascope sample 4711 "
                "stacks.txt --seconds 30",
        LIST_OF(sample_options),
        .has_files = true,
        .run = run_sample,
    },
    {
        .name = "monitor",
        .usage = "DIR [OPTION...]",
        .about = "watch a running job: alarms when a rank or the job becomes slow, metrics for Prometheus, commands, saves",
        .text = "One process on each host watches all ranks whose records are in DIR (ascope run --monitor DIR). Every 10 "
                "seconds the judge of recorded runs looks at the last minutes. A rank that became slow, and steps that take "
                "longer since a time, are alarms from the third look in a row on; one line says when each begins and ends. "
                "Once a minute a line says how the job does. Nothing listens without --listen. The job does not depend on "
                "this process, and the other way round. Example: ascope monitor /tmp/monitor --listen 9464 --hook "
                "'logger \"$1 $2: $4\"'",
        LIST_OF(monitor_options),
        .has_files = true,
        .run = run_monitor,
    },
    {
        .name = "memory",
        .usage = "DIR|SNAPSHOT... [OPTION...]",
        .about = "memory that leaks, is lost in fragments, or was not enough: from snapshots of PyTorch and collections",
        .text = "Reads memory snapshots of PyTorch, of CUDA and of NPUs: pickles, of which only plain values are read and "
                "nothing is executed. Of a directory it reads the files that end in .pickle or .pkl, or else collections that were "
                "recorded with profile_memory. The first line says "
                "what an out-of-memory request met and why, how much is lost in fragments and which line holds it, or what "
                "grows from step to step, by how many bytes and where it is allocated; then what is in use at the peak, by "
                "purpose and by line. Example: torch.cuda.memory._record_memory_history(), some steps, "
                "torch.cuda.memory._dump_snapshot('m.pickle'), then ascope memory m.pickle",
        LIST_OF(memory_options),
        .has_files = true,
        .run = run_memory,
    },
    {
        .name = "cluster",
        .usage = "DIR... [OPTION...]",
        .about = "compare the ranks of a job: steps, communication, slow ranks and links",
        .text = "Finds the ranks of a job in directories and writes tables about all of them to "
                "cluster_analysis_output, as msprof-analyze does, for MindStudio Insight and other tools. Ranks are "
                "read from databases, text results, summaries of ascope analyse --summary, or from collections that "
                "were never analysed; of several collections of one rank the newest is used.\n\n"
                "Base modes: all (steps, communication, links, groups), communication_time, communication_matrix; "
                "they first remove earlier results. All other modes replace only their own tables. all-modes "
                "computes every mode for which there is data.\n\n"
                "For jobs on several machines: run ascope analyse --summary where the data of each rank is, then "
                "this command where the summaries are; or use --shard for parts of a job, --join to merge parts, "
                "--launcher for processes on this machine or tasks of Slurm.\n\n"
                "Ranks that are missing, damaged or were analysed with losses are reported in one line each, and the "
                "exit code is 3.",
        LIST_OF(cluster_options),
        .has_files = true,
        .run = run_cluster,
    },
    {
        .name = "view",
        .usage = "DIR|FILE.json|FILE.json.gz|FILE.pftrace|FILE.db... [OPTION...]",
        .about = "view collections and traces of any size in a browser",
        .text = "Starts a viewer on this machine, prints its address and opens it in a browser if there is a screen. "
                "DIR is a *_ascend_pt, *_ascend_ms or PROF_XXX directory, results without recorded data, or a directory "
                "that contains some of these, or traces; FILE is a trace in Chrome's JSON format, e.g. of "
                "torch.profiler, or of ascope export-trace, or a database of results. The first page begins with the "
                "verdicts of ascope why and has the advice of ascope advise; the timeline handles any number of "
                "events, because only the visible part is sent to the browser. Press ? for a list of keys.\n\n"
                "Ranks of one job become one timeline on one clock, with the answers of ascope cluster and ascope "
                "advise. Two directories or files that are not ranks of one job become one timeline of two runs, "
                "with the answer of ascope compare.\n\n"
                "With --export no viewer is started: one self-contained page with the overview and a range of the "
                "timeline is written.\n\n"
                "Otherwise no files are written. Only this machine can reach the viewer, with the address that "
                "contains a random token. Ctrl-C ends it. From another machine: ssh -L PORT:127.0.0.1:PORT HOST, and "
                "the same address.\n\n"
                "Example: ascope view job/*_ascend_pt trace.json.gz --no-open",
        LIST_OF(view_options),
        .has_files = true,
        .run = run_view,
    },
    {
        .name = "sql",
        .usage = "DIR|FILE... [STATEMENT] [OPTION...]",
        .about = "answer SQL about collections, traces and databases of any kind",
        .text = "The inputs are those of ascope view; several of them, and the ranks of a job, are one database whose "
                "columns run and rank tell them apart. Tables of the run (steps, kernels, collectives, copies, calls, "
                "operators, ranges, python, memory, ranks) are the same for NPUs, GPUs and torch.profiler traces; tables of "
                "the timeline (slices, instants, counters, flows and more) have everything that the viewer shows. "
                "Tables of a database of results are in the schema db. ascope sql .schema lists all tables and columns "
                "with units and meaning.\n\n"
                "Without STATEMENT, statements are read from standard input, each up to a ; at the end of a line; .tables, "
                ".schema [TABLE], .help and .quit are known there as well.\n\n"
                "Statements can only read. One that takes longer than 30 s, or more than 1 GiB of memory, is stopped. An "
                "answer has at most 10,000 rows, unless --limit says otherwise, and 64 MiB; CSV has no limit of "
                "size.\n\n"
                "Exit code 0: success. 1: the statement, or all inputs, cannot be used. 3: some data is missing from "
                "the answers. Example: ascope sql job \"SELECT rank, name, sum(dur_ns) / 1e6 AS ms FROM kernels GROUP "
                "BY 1, 2 ORDER BY ms DESC LIMIT 10\"",
        LIST_OF(sql_options),
        .has_files = true,
        .run = run_sql,
    },
    {
        .name = "mcp",
        .usage = "[PATH...]",
        .about = "serve the answers to AI agents (Model Context Protocol) over standard input and output",
        .text = "PATH is a recording, or a directory with recordings; default: the current directory. Nothing outside of "
                "the paths can be opened by the client. Tools: overview, why, advise, compare, cluster, memory, hang, "
                "timeline, sql and explain. An answer is the text of the command of that name, at most max_chars long, "
                "and says what was left out. Pages of the documentation and the schema of SQL are resources.\n\n"
                "Each call runs in a process of its own, so that a damaged recording cannot end the server, and a call "
                "can be cancelled. docs/agents.md has the configuration of the usual clients.\n\n"
                "Example, for a client that is configured with JSON: {\"mcpServers\": {\"ascope\": {\"command\": "
                "\"ascope\", \"args\": [\"mcp\", \"/data/profiles\"]}}}",
        LIST_OF(mcp_options),
        .has_files = true,
        .run = run_mcp,
    },
    {
        .heading = "files for other tools",
        .name = "analyse",
        .usage = "DIR... [OPTION...]",
        .about = "analyse *_ascend_pt and *_ascend_ms collections: timeline, tables, databases, report",
        .text = "DIR is a *_ascend_pt directory of the PyTorch profiler, a *_ascend_ms directory of MindSpore's, or "
                "a directory that contains those of all ranks of a job. The ranks are analysed in parallel; a "
                "failure of one does not affect the others. Results are written to ASCEND_PROFILER_OUTPUT in each: "
                "trace_view.json (for Perfetto, Chrome or MindStudio Insight), tables (*.csv) and databases (*.db). "
                "A log is written to logs, and finally analyse.done: JSON with the files, the losses, the problems "
                "and the exit code.\n\n"
                "--steps restricts the results to what began in these steps: operators and memory by the step's time "
                "on the host, kernels and samples by its time on the device, tasks of the queue with the operators "
                "that enqueued them. Statistics of ports and links and cache counters have no times and cover the "
                "whole collection, as do operators and memory in the report; the chosen steps are compared with the "
                "median of all. +2 is the second step of a collection, whatever its number; a collection in which no "
                "steps were counted is then analysed as a whole, with a warning.\n\n"
                "The report lists the slowest steps first, and says what is slow and why, in the words of ascope why. "
                "Several ranks are judged together: a table compares their median steps, and what is slow stands "
                "below it.\n\n"
                "PROF_XXX directories without framework data are exported as by ascope export. analyze is an alias "
                "of this command.",
        LIST_OF(analyse_options),
        .run = run_analyse,
    },
    {
        .name = "export",
        .usage = "[timeline|summary|db|all] -dir DIR [OPTION...]",
        .about = "export a PROF_XXX collection as timeline, tables and database",
        .text = "Reads PROF_XXX directories and writes a timeline (msprof_*.json, for Perfetto, Chrome or MindStudio "
                "Insight), tables (*.csv in mindstudio_profiler_output) and a database (msprof_*.db, SQLite). The "
                "default is all of them; timeline and summary also write the database unless it exists. DIR may be "
                "given without -dir, and more than once.\n\n"
                "Damaged and truncated records are skipped, counted and reported at the end; everything else is "
                "exported. --model-id and --iteration-id select iterations of one model, or training steps; ascope "
                "query lists them. Collections without recorded models have no iterations to select.",
        LIST_OF(export_options),
        .words = "timeline summary db all",
        .run = run_export,
    },
    {
        .name = "export-trace",
        .usage = "DIR OUT.json|.json.gz|.pftrace|- [OPTION...]",
        .about = "export only the timeline, optionally compressed or split",
        .text = "DIR is a *_ascend_pt, *_ascend_ms or PROF_XXX directory. OUT receives the timeline that ascope "
                "analyse writes as trace_view.json, or ascope export as msprof_*.json: operators, Python calls, CANN "
                "calls, the work of the devices and the flow events between them, for Perfetto, Chrome or MindStudio "
                "Insight. If OUT ends with .gz it is compressed: Perfetto, Chrome and ascope view open it directly, "
                "MindStudio Insight does not find it. If OUT ends with .pftrace it is in Perfetto's own format, which "
                "is a tenth as large and has flow events bound to their slices.\n\n"
                "Viewers that parse a timeline as one text (chrome://tracing, TensorBoard, speedscope) fail beyond "
                "512 MiB, compressed or not, Perfetto in a browser has about 2 GB of memory, and MindStudio Insight opens "
                "at most 20 GiB. --max-size splits a larger timeline into OUT_slice_0.json, OUT_slice_1.json and so on. Each part is a complete timeline "
                "with all names of processes and threads; each event is in the part in which it begins. The timeline "
                "is split where the fewest flow events and slices cross. Files that an earlier export to the same "
                "OUT left and this one does not replace, whole or parts, are removed.\n\n"
                "If OUT is a directory, trace_view.json is written into it. OUT may also be a FIFO, a device or a "
                "link, which is kept, or - for standard output; the report is then printed to standard error.",
        LIST_OF(trace_options),
        .has_files = true,
        .run = run_export_trace,
    },
    {
        .name = "export-memory-timeline",
        .usage = "DIR OUT.html|.json|.json.gz|.raw.json.gz [OPTION...]",
        .about = "show how the memory of a device was used over time",
        .text = "DIR is a *_ascend_pt directory recorded with record_shapes, profile_memory and with_stack or "
                "with_modules. Each tensor is classified by what operators, modules and optimizers did with it: "
                "PARAMETER, OPTIMIZER_STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, AUTOGRAD_DETAIL or UNKNOWN.\n\n"
                "The name of OUT selects the format. .html: a page for any browser, without a network: areas over "
                "time, with zoom and numbers. .json, .json.gz: [times in us, [0, bytes of each category] at each "
                "time]. .raw.json, .raw.json.gz: each change: [time in ns, action, bytes, category]. -: numbers on "
                "standard output.",
        LIST_OF(memory_timeline_options),
        .has_files = true,
        .run = run_export_memory_timeline,
    },
    {
        .name = "export-stacks",
        .usage = "DIR OUT [OPTION...]",
        .about = "export the call stacks of operators with their time, and a flame graph",
        .text = "DIR is a *_ascend_pt directory recorded with with_stack. If OUT ends with .log, it receives one "
                "line per operator: its stack, outermost frame first, and its own time in microseconds, as "
                "flame-graph tools read them; and a flame graph for a browser, with zoom and search, is written "
                "beside it with the suffix .svg. The flame graph also shows the operators, including those without a "
                "stack. If OUT ends with .svg, only the flame graph is written; if OUT is a FIFO, a device, or - for "
                "standard output, only the lines.",
        LIST_OF(stacks_options),
        .has_files = true,
        .run = run_export_stacks,
    },
    {
        .name = "communication",
        .usage = "DIR... [OPTION...]",
        .about = "analyse communication, collective by collective",
        .text = "Writes into the directory analyze of the collection, as msprof.py analyze does: communication.json "
                "(transit, wait and idle time of each collective, and bytes by link type), communication_matrix.json "
                "(bytes by pair of ranks), and communication_analyzer.db with the same data as tables. Existing "
                "files are replaced. Level 0 collections contain no communication data.",
        LIST_OF(communication_options),
        .run = run_communication,
    },
    {
        .heading = "about a collection",
        .name = "info",
        .usage = "DIR|FILE... [OPTION...]",
        .about = "describe a collection, a trace or results without exporting them",
        .text = "For a *_ascend_pt or *_ascend_ms directory: its settings and what PyTorch or MindSpore recorded. "
                "For a PROF directory: chip, devices, time span, agreement of the clocks of its directories, and "
                "each family of files with size, records and slices. For a recording made by ascope, also how it "
                "ended, its cost, dropped records, and the accuracy of its clocks. None of these is decoded: info is fast "
                "on large collections and works on damaged ones. A trace (.json, .json.gz, .pftrace), a database, and "
                "results without recorded data are read: rank, device, steps, and what kinds of events there are. "
                "Nothing is written.",
        LIST_OF(info_options),
        .run = run_info,
    },
    {
        .name = "query",
        .usage = "DIR... [OPTION...]",
        .about = "list the models and iterations of collections",
        .text = "Prints one row per model and device: the number of its iterations and the longest one. The model "
                "4294967295 stands for training steps. --model-id and --iteration-id of ascope export select from "
                "this list.",
        LIST_OF(query_options),
        .run = run_query,
    },
    {
        .heading = "other",
        .name = "sim",
        .usage = "[OPTION...]",
        .about = "write simulated collections of any size",
        .text = "Writes PROF directories, or with --framework pt *_ascend_pt, with --framework ms *_ascend_ms "
                "directories, of a training job that never ran: for demonstrations, tests and benchmarks on machines "
                "without a device. The data is marked as simulated. Prints the directory to analyse: with several "
                "ranks, the one that contains them.\n\n"
                "Several ranks form one job: all run the same network in groups for tensor, pipeline and data "
                "parallelism (--tp, --pp, --dp), with the same collectives in the same order; a rank that is early "
                "waits. Ranks are numbered as in Megatron: tensor parallel ranks are neighbours, then data parallel "
                "ones, then stages. Faults that an analysis should find are injected on request: a slow step, rank "
                "or link, a stall, a missing rank, clock offsets. Each of these options accepts a comma-separated "
                "list; steps and ranks are counted from 0.",
        LIST_OF(sim_options),
        .run = run_sim,
    },
    {
        .name = "install-msprof",
        .usage = "DIR [OPTION...]",
        .about = "let the analysis of torch_npu and MindSpore run on ascope",
        .text = "Creates in DIR the names that torch_npu and MindSpore look for: bin/msprof, and below "
                "tools/profiler msprof, msprof.py and get_msprof_info.py, which start this program. Prints the line "
                "to add to the environment, after CANN's set_env.sh: their analysis then runs on ascope. The path of "
                "DIR must not contain \"tools\", where both cut it.\n\n"
                "Install as root, or as the user who trains: MindSpore rejects files of other users. Existing files "
                "are replaced only with --force. The command can be repeated, e.g. after ascope was moved; DIR "
                "itself can be moved at any time.",
        LIST_OF(install_msprof_options),
        .run = run_install_msprof,
    },
    {
        .name = "completion",
        .usage = "bash|zsh|fish",
        .about = "print a shell completion script",
        .text = "For the current shell: source <(ascope completion bash), in fish: ascope completion fish | source. "
                "make install installs them.",
        LIST_OF(completion_options),
        .words = "bash zsh fish",
        .run = run_completion,
    },
    {
        .name = "help",
        .usage = "[COMMAND]",
        .about = "describe a command",
        .text = "Without a command, prints an overview; with --man, the manual page in mdoc; with "
                "--recorder-options, what libascope and its front ends accept.",
        LIST_OF(help_options),
        .words = "COMMAND",
        .run = run_help,
    },
};
/* clang-format on */
const size_t n_commands = sizeof commands / sizeof *commands;

#define RECORD "ascope run PROGRAM records a program"
#define DOCTOR "ascope doctor checks what this machine can record"
#define VIEW   "ascope view DIR shows it in a browser"
/* clang-format off */
static const struct {
    const char *word, *hint;
} other_words[] = {
    { "collect", RECORD },
    { "start", RECORD },
    { "open", VIEW },
    { "gui", VIEW },
    { "serve", VIEW },
    { "explain", "ascope why DIR explains why a step or a rank is slow" },
    { "parse", "ascope analyse DIR reads a recording and writes timeline, tables and databases" },
    { "stats", "ascope analyse DIR prints a time breakdown and writes tables" },
    { "report", "ascope analyse DIR prints a summary, with --json as JSON" },
    { "summary", "ascope analyse DIR prints one; ascope export summary -dir DIR writes the tables of a PROF directory" },
    { "top", "ascope analyse DIR --top N lists the slowest steps and operators" },
    { "trace", "ascope export-trace DIR OUT.json.gz writes the timeline; ascope run PROGRAM records one" },
    { "timeline", "ascope export-trace DIR OUT.json writes it; DIR is a *_ascend_pt, *_ascend_ms or PROF_XXX directory" },
    { "convert", "ascope analyse DIR reads *_ascend_pt and *_ascend_ms directories, ascope export -dir DIR PROF_XXX directories" },
    { "flamegraph", "ascope export-stacks DIR OUT.svg draws one" },
    { "stacks", "ascope export-stacks DIR OUT.log writes them, and a flame graph beside them" },
    { "comm", "ascope communication DIR analyses collectives" },
    { "hccl", "ascope communication DIR analyses collectives" },
    { "list", "ascope info DIR describes a collection, ascope query DIR lists its models and iterations" },
    { "diff", "ascope compare A B compares two runs" },
    { "check", DOCTOR },
    { "diagnose", DOCTOR },
    { "env", DOCTOR },
    { "show", "ascope info DIR describes a collection" },
};
/* clang-format on */

const char *command_hint(const char *word)
{
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
        if (strcmp(other_words[i].word, word) == 0)
            return other_words[i].hint;
    return NULL;
}

const char *command_nearest(const char *word)
{
    const char *name[sizeof commands / sizeof *commands];
    for (size_t i = 0; i < n_commands; i++)
        name[i] = commands[i].name;
    return nearest_word(word, name, n_commands);
}

const struct command_alias command_aliases[] = { { "analyze", "analyse" }, { "profile", "run" }, { "record", "run" } };
const size_t n_command_aliases = sizeof command_aliases / sizeof *command_aliases;

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < n_command_aliases; i++)
        if (strcmp(name, command_aliases[i].name) == 0)
            name = command_aliases[i].of;
    for (size_t i = 0; i < n_commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}
