#include "cli/command.h"

#include <string.h>

#define LIST_OF(array) array, sizeof array / sizeof *array

/* clang-format off */
static const uint8_t export_options[] = {
    OPT_DIR, OPT_REPORTS, OPT_MODEL, OPT_ITERATION, OPT_ITERATION_COUNT, OPT_FORMAT, OPT_CSV_SAFE, OPT_MAX_SIZE, OPT_GZIP, OPT_DIALECT, OPT_TIME_BASE, OPT_OUT,
    OPT_CLEAR, OPT_THREADS, OPT_MEMORY, OPT_TOP, OPT_JSON, OPT_QUIET, OPT_VERBOSE, OPT_HELP,
};
static const uint8_t analyse_options[] = {
    OPT_DIR, OPT_EXPORT_TYPE, OPT_MAX_PROCESSES, OPT_ONLY_STEPS, OPT_CSV_SAFE, OPT_DIALECT, OPT_TIME_BASE, OPT_PRETTY, OPT_SIMPLIFY, OPT_OUT,
    OPT_THREADS, OPT_MEMORY, OPT_TOP, OPT_JSON, OPT_QUIET, OPT_VERBOSE, OPT_HELP,
};
static const uint8_t memory_timeline_options[] = {
    OPT_DEVICE, OPT_THREADS, OPT_MEMORY, OPT_JSON, OPT_QUIET, OPT_HELP,
};
static const uint8_t trace_options[] = {
    OPT_MAX_SIZE, OPT_DIALECT, OPT_TIME_BASE, OPT_PRETTY, OPT_THREADS, OPT_MEMORY, OPT_JSON, OPT_QUIET, OPT_HELP,
};
static const uint8_t stacks_options[] = { OPT_METRIC, OPT_THREADS, OPT_MEMORY, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t recover_options[] = { OPT_DIR, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t info_options[] = { OPT_DIR, OPT_JSON, OPT_QUIET, OPT_HELP };
static const uint8_t communication_options[] = {
    OPT_DIR, OPT_RULE, OPT_TYPE, OPT_OUT, OPT_CLEAR, OPT_THREADS, OPT_MEMORY, OPT_JSON, OPT_QUIET, OPT_VERBOSE, OPT_HELP,
};
static const uint8_t query_options[] = { OPT_DIR, OPT_THREADS, OPT_JSON, OPT_HELP };
static const uint8_t sim_options[] = {
    OPT_SIM_OUT, OPT_SEED, OPT_KERNELS, OPT_FRAMEWORK, OPT_OPERATORS, OPT_STEPS, OPT_DEVICES, OPT_PROCESSES,
    OPT_TP, OPT_PP, OPT_DP, OPT_HOST_RANKS, OPT_SLOW_STEP, OPT_SLOW_RANK, OPT_SLOW_LINK, OPT_STALL, OPT_MISSING_RANK, OPT_CLOCK_OFFSET, OPT_CHIP, OPT_MHZ, OPT_METRICS,
    OPT_SLICE_KIB, OPT_COMM, OPT_KFC, OPT_GRAPHS, OPT_LATE, OPT_COPIES, OPT_MARKS, OPT_SAMPLERS, OPT_SAMPLE_BASED, OPT_TILING, OPT_LEVEL0,
    OPT_THREADS, OPT_JSON, OPT_HELP,
};
static const uint8_t help_options[] = { OPT_MAN, OPT_HELP };
static const uint8_t completion_options[] = { OPT_HELP };

const struct command commands[] = {
    {
        .name = "export",
        .usage = "[timeline|summary|db|all] -dir DIR [OPTION...]",
        .about = "turn a collection into a timeline, tables and a database",
        .text = "Reads what a profiler has collected in PROF_XXX directories and writes what people and viewers read: a "
                "timeline (msprof_*.json, for Perfetto, Chrome or MindStudio Insight), tables (*.csv in "
                "mindstudio_profiler_output) and a database (msprof_*.db, SQLite). Without a word for what, it writes "
                "all of them; timeline and summary write the database too unless one is there. DIR may also be given "
                "without -dir, and more than once.\n\n"
                "What was damaged or cut short is left out, counted, and told at the end; everything else is exported. "
                "With --model-id and --iteration-id only a part is: some iterations of one model, or some training "
                "steps; ascope query lists them. Collections in which no model was recorded have no such parts.",
        LIST_OF(export_options),
        .words = "timeline summary db all",
        .run = run_export,
    },
    {
        .name = "analyse",
        .usage = "DIR... [OPTION...]",
        .about = "turn what PyTorch and the device recorded into a timeline, tables and databases",
        .text = "DIR is a *_ascend_pt directory of the PyTorch profiler, or one that holds those of all ranks of a job: they "
                "are analysed side by side, and one that fails stops no other. The results go to ASCEND_PROFILER_OUTPUT in "
                "each: trace_view.json (for Perfetto, Chrome or MindStudio Insight), tables (*.csv) and databases (*.db). "
                "A readable log goes to logs, and analyse.done is written last: JSON with the files, the losses, the problems and the exit "
                "code.\n\n"
                "With --steps the results hold what began in these steps: operators and memory by the step's time on the "
                "host, kernels and samples by its time on the device, tasks of the queue with the operators that put them "
                "in. Statistics of ports and links and the counters of caches have no times: they, and operators and memory in "
                "the report, are those of the whole; of the steps it shows the chosen ones against the median of all.\n\n"
                "The report begins with the slowest steps, and says of those that are out of the ordinary what they had more "
                "of: an operator, communication, waiting for other ranks, or the host. Of several ranks a table compares "
                "their median steps.\n\n"
                "PROF_XXX directories, which have no framework's data beside them, are exported as ascope export does. analyze is another name of this command.",
        LIST_OF(analyse_options),
        .run = run_analyse,
    },
    {
        .name = "export-trace",
        .usage = "DIR OUT.json|.json.gz|- [OPTION...]",
        .about = "write the timeline by itself, compressed or in pieces if you like",
        .text = "DIR is a *_ascend_pt or PROF_XXX directory. OUT becomes what trace_view.json of ascope analyse, or msprof_*.json of ascope "
                "export, is: operators, Python calls, the calls of CANN, the work of the devices and the flow events between them, for "
                "Perfetto, Chrome or MindStudio Insight. With a name that ends with .gz it is compressed, which the viewers open as it is.\n\n"
                "Viewers that parse a timeline as one text (chrome://tracing, TensorBoard, speedscope) give up at 512 MiB, compressed or "
                "not, and Perfetto in a browser has about 2 GB of memory. With --max-size a larger timeline becomes OUT_slice_0.json, "
                "OUT_slice_1.json and so on. Each is a timeline of its own, with all names of processes and threads; each event is in "
                "the piece in whose time it begins. It is cut where the fewest flow events and slices cross.\n\n"
                "Where OUT is a directory, "
                "trace_view.json is written into it. OUT may also be a FIFO, a device or a link, which stays what it is, or - for standard "
                "output; the report then goes to standard error.",
        LIST_OF(trace_options),
        .run = run_export_trace,
    },
    {
        .name = "export-memory-timeline",
        .usage = "DIR OUT.html|.json|.json.gz|.raw.json.gz [OPTION...]",
        .about = "show what the memory of a device was used for, over time",
        .text = "DIR is a *_ascend_pt directory that was collected with record_shapes, profile_memory and with_stack or "
                "with_modules. From what operators, modules and optimizers did with each tensor follows what it was: PARAMETER, "
                "OPTIMIZER_STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, AUTOGRAD_DETAIL or UNKNOWN.\n\n"
                "The name of OUT says what becomes of it. A page (.html) that any browser shows, without a network: areas over "
                "time, with zoom and numbers. Numbers for programs (.json, .json.gz): [times in us, [0, bytes of each category] at "
                "each time]. Each change by itself (.raw.json, .raw.json.gz): [time in ns, action, bytes, category]. With - the numbers go "
                "to standard output.",
        LIST_OF(memory_timeline_options),
        .run = run_export_memory_timeline,
    },
    {
        .name = "export-stacks",
        .usage = "DIR OUT [OPTION...]",
        .about = "show which code spent the time of operators, as stacks and as a flame graph",
        .text = "DIR is a *_ascend_pt directory that was collected with with_stack. OUT is a name that ends with .log: one line for each "
                "operator, its stack from the outermost frame in and the microseconds that it took itself, as flame-graph tools read "
                "them. Beside it, with the ending .svg, goes a flame graph for a browser, in which one can zoom and search; it also "
                "shows the operators, and those without a stack. With an OUT that ends with .svg there is only that; with a FIFO, a device, "
                "or - for standard output, there are only the lines.",
        LIST_OF(stacks_options),
        .run = run_export_stacks,
    },
    {
        .name = "info",
        .usage = "DIR... [OPTION...]",
        .about = "say what a collection holds, without exporting it",
        .text = "Of a *_ascend_pt directory how it was set up and what PyTorch recorded. Of a PROF directory chip, devices, time "
                "span, how well the clocks of the folders agree, and each family of files with its size, records and "
                "slices. Of what ascope itself recorded also how it ended, what it cost, what was dropped, and how exactly its "
                "clocks are known. Nothing is decoded and nothing is written, so it is quick on large collections and works on broken "
                "ones.",
        LIST_OF(info_options),
        .run = run_info,
    },
    {
        .name = "recover",
        .usage = "DIR... [OPTION...]",
        .about = "finish the files of a program that was killed while it recorded",
        .text = "A program that ascope recorded and that was killed, or that ended without saying so, leaves records in "
                "the file ascope.rings of its collection. They go to the files they were meant for, each once; then "
                "ascope.rings is removed. analyse and export do so by themselves before they read; this is for collections that "
                "another tool will read. Of a directory that holds collections each is recovered. A collection that is "
                "still being recorded is left alone. What is damaged is counted, and rings that are missing or that cannot be "
                "believed are reported: the command then ends with 3, and so does every later analysis. Rings that are a link, "
                "another user's or another recording's are refused.",
        LIST_OF(recover_options),
        .run = run_recover,
    },
    {
        .name = "query",
        .usage = "DIR... [OPTION...]",
        .about = "list the models and iterations of collections",
        .text = "One row for each model of each device: how many iterations it ran, and which took longest. The model "
                "4294967295 stands for training steps. These are what --model-id and --iteration-id of ascope export "
                "choose from.",
        LIST_OF(query_options),
        .run = run_query,
    },
    {
        .name = "communication",
        .usage = "DIR... [OPTION...]",
        .about = "say what communication cost, collective by collective",
        .text = "Writes communication.json (how long each collective was in transit, waiting and idle, and how much it moved "
                "over which kind of link), communication_matrix.json (how much it moved between which ranks), and "
                "communication_analyzer.db, which holds both as tables, into the folder analyze of the collection, as msprof.py "
                "analyze does. What is there is replaced. Level 0 collections know nothing of it.",
        LIST_OF(communication_options),
        .run = run_communication,
    },
    {
        .name = "sim",
        .usage = "[OPTION...]",
        .about = "write a simulated collection, of any size",
        .text = "Makes PROF directories, or with --framework pt *_ascend_pt directories, as a collector leaves them, of a training job that never ran: for "
                "demonstrations, tests and benchmarks on machines without a device. The data says that it is simulated. "
                "Prints the directory that it made; with several ranks, the last one.\n\n"
                "Several ranks are one job: all run the same network in groups for tensor, pipeline and data parallelism "
                "(--tp, --pp, --dp), with the same collectives in the same order, and who is early waits. Ranks are counted "
                "as Megatron does: tensor parallel ranks are neighbours, then data parallel ones, then stages. What an "
                "analysis should find is put in on request: a slow step, rank or link, a stall, a missing rank, clocks that "
                "differ. Each of these options takes a list with commas; steps and ranks are counted from 0.",
        LIST_OF(sim_options),
        .run = run_sim,
    },
    {
        .name = "completion",
        .usage = "bash|zsh",
        .about = "print a completion script for a shell",
        .text = "For this session: source <(ascope completion bash). An installed ascope has brought them along already.",
        LIST_OF(completion_options),
        .words = "bash zsh",
        .run = run_completion,
    },
    {
        .name = "help",
        .usage = "[COMMAND]",
        .about = "explain a command",
        .text = "Without a command, an overview. With --man, the manual page in mdoc.",
        LIST_OF(help_options),
        .words = "COMMAND",
        .run = run_help,
    },
};
/* clang-format on */
const size_t n_commands = sizeof commands / sizeof *commands;

#define RECORD "python3 -m ascope run SCRIPT records a PyTorch program, libascope a C or C++ program"
#define VIEW   "ascope analyse DIR writes trace_view.json: open it in https://ui.perfetto.dev or MindStudio Insight"
/* clang-format off */
static const struct {
    const char *word, *hint;
} other_words[] = {
    { "record", RECORD },
    { "profile", RECORD },
    { "run", RECORD },
    { "collect", RECORD },
    { "start", RECORD },
    { "view", VIEW },
    { "open", VIEW },
    { "parse", "ascope analyse DIR reads what was recorded, and writes timeline, tables and databases" },
    { "stats", "ascope analyse DIR prints where the time went, and writes tables" },
    { "report", "ascope analyse DIR prints a summary; with --json for machines" },
    { "summary", "ascope analyse DIR prints one; ascope export summary -dir DIR writes the tables of a PROF directory" },
    { "top", "ascope analyse DIR --top N lists the slowest steps and operators" },
    { "trace", "ascope export-trace DIR OUT.json.gz writes the timeline; python3 -m ascope run SCRIPT records one" },
    { "timeline", "ascope export-trace DIR OUT.json writes it, of a *_ascend_pt or a PROF_XXX directory" },
    { "convert", "ascope analyse DIR reads *_ascend_pt directories, ascope export -dir DIR PROF_XXX directories" },
    { "flamegraph", "ascope export-stacks DIR OUT.svg draws one" },
    { "stacks", "ascope export-stacks DIR OUT.log writes them, and a flame graph beside them" },
    { "memory", "ascope export-memory-timeline DIR OUT.html draws what it was used for" },
    { "comm", "ascope communication DIR writes what collectives cost" },
    { "hccl", "ascope communication DIR writes what collectives cost" },
    { "list", "ascope info DIR lists what a collection holds, ascope query DIR its models and iterations" },
    { "show", "ascope info DIR shows what a collection holds" },
};
/* clang-format on */

const char *command_hint(const char *word)
{
    for (size_t i = 0; i < sizeof other_words / sizeof *other_words; i++)
        if (strcmp(other_words[i].word, word) == 0)
            return other_words[i].hint;
    return NULL;
}

const struct command *command_find(const char *name)
{
    if (strcmp(name, "analyze") == 0) /* who writes it so means the same */
        name = "analyse";
    for (size_t i = 0; i < n_commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}
