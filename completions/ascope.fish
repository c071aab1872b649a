# fish completion for ascope; made from the option tables by: ascope completion fish
complete -c ascope -f
complete -c ascope -n __fish_use_subcommand -a run -d 'record any program, a running process or the machine, and export the result'
complete -c ascope -n __fish_use_subcommand -a dyn -d 'start collections in a running job, and wait for them'
complete -c ascope -n __fish_use_subcommand -a recover -d 'complete the collection of a program that was killed while recording'
complete -c ascope -n __fish_use_subcommand -a doctor -d 'check what this machine can record, and what is missing'
complete -c ascope -n __fish_use_subcommand -a options -d 'check profiling_options of TensorFlow, or acl.json'
complete -c ascope -n __fish_use_subcommand -a why -d 'explain why a step or a rank is slow: causes, operators, and where to look'
complete -c ascope -n __fish_use_subcommand -a advise -d 'suggest what to change to make a job faster, with evidence and estimated gain'
complete -c ascope -n __fish_use_subcommand -a compare -d 'compare two runs: what changed, by how much, where, and what is noise'
complete -c ascope -n __fish_use_subcommand -a gate -d 'whether new runs are slower than allowed: PASS, REGRESSED or INCONCLUSIVE, for continuous integration'
complete -c ascope -n __fish_use_subcommand -a hang -d 'why a job hangs: which rank did not come to which collective, and where it is instead'
complete -c ascope -n __fish_use_subcommand -a top -d 'a running job that is monitored: steps a second, parts of the step, slow ranks, what changed, memory'
complete -c ascope -n __fish_use_subcommand -a sample -d 'where a running Python program spends its time: stacks of all threads, sampled from outside'
complete -c ascope -n __fish_use_subcommand -a monitor -d 'watch a running job: alarms when a rank or the job becomes slow, metrics for Prometheus, commands, saves'
complete -c ascope -n __fish_use_subcommand -a memory -d 'memory that leaks, is lost in fragments, or was not enough: from snapshots of PyTorch and collections'
complete -c ascope -n __fish_use_subcommand -a cluster -d 'compare the ranks of a job: steps, communication, slow ranks and links'
complete -c ascope -n __fish_use_subcommand -a view -d 'view collections and traces of any size in a browser'
complete -c ascope -n __fish_use_subcommand -a sql -d 'answer SQL about collections, traces and databases of any kind'
complete -c ascope -n __fish_use_subcommand -a mcp -d 'serve the answers to AI agents (Model Context Protocol) over standard input and output'
complete -c ascope -n __fish_use_subcommand -a analyse -d 'analyse *_ascend_pt and *_ascend_ms collections: timeline, tables, databases, report'
complete -c ascope -n __fish_use_subcommand -a export -d 'export a PROF_XXX collection as timeline, tables and database'
complete -c ascope -n __fish_use_subcommand -a export-trace -d 'export only the timeline, optionally compressed or split'
complete -c ascope -n __fish_use_subcommand -a export-memory-timeline -d 'show how the memory of a device was used over time'
complete -c ascope -n __fish_use_subcommand -a export-stacks -d 'export the call stacks of operators with their time, and a flame graph'
complete -c ascope -n __fish_use_subcommand -a communication -d 'analyse communication, collective by collective'
complete -c ascope -n __fish_use_subcommand -a info -d 'describe a collection, a trace or results without exporting them'
complete -c ascope -n __fish_use_subcommand -a query -d 'list the models and iterations of collections'
complete -c ascope -n __fish_use_subcommand -a sim -d 'write simulated collections of any size'
complete -c ascope -n __fish_use_subcommand -a install-msprof -d 'let the analysis of torch_npu and MindSpore run on ascope'
complete -c ascope -n __fish_use_subcommand -a completion -d 'print a shell completion script'
complete -c ascope -n __fish_use_subcommand -a help -d 'describe a command'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l out -l output -d 'directory in which the collection is created; default: $ASCEND_WORK_PATH/profiling_data, or the working directory' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l host-sys -d 'what is sampled of the program\'s processes; default: cpu,mem,disk,network, and osrt (operating system calls) where it costs little; if named explicitly, osrt records all system calls where that is permitted' -x -a 'none cpu mem disk network osrt numa'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l device -d 'devices: the real ones of this machine (auto, default), none, or a kind by its name' -x -a 'auto none ascend cuda mspti sim'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l level -d 'detail of the device\'s tasks; default: 1' -x -a 'off 0 1 2 3'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l metrics -d 'counter group of the AI cores, or none; default: PipeUtilization' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l marks -d 'marks of the program (libascope, mstx); default: on'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l delay -d 'seconds from the start of the program to that of the recording' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l duration -d 'seconds to record; the program continues' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l period -d 'without a program: record the machine for this many seconds' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l hang-after -d 'seconds without a step or collective of any rank, after which the report of ascope hang is printed; for Python scripts of PyTorch' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l pid -l attach -d 'record a running process until it ends, until Ctrl-C, or for --duration; with --interactive several, separated by commas' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l interactive -d 'read start, stop and quit from standard input; each start gives a collection'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l env -d 'additional environment variables for the program' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l storage-limit -d 'beyond it the oldest repeatable records are deleted and counted' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l acl-json -d 'record what the profiler part of this acl.json asks for; ascope options check FILE shows it' -r -F
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l no-export -d 'only record; ascope export DIR writes the results later'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l monitor -d 'no recording; only the monitor\'s values of each step, in files in DIR, for ascope top DIR' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l skip-first -d 'of a PyTorch script: steps before the first schedule cycle; default: 0' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l skip-first-wait -d 'of a PyTorch script: 1: the first cycle has no wait phase; default: 0' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l wait -d 'of a PyTorch script: steps of the wait phase of a cycle, which are not recorded; default: 0' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l warmup -d 'of a PyTorch script: steps of the warm-up phase, whose records are discarded; default: 0' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l active -d 'of a PyTorch script: steps of the active phase, which are recorded; default: 0, all that follow' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l repeat -d 'of a PyTorch script: number of cycles, each with its own directory; 0: no limit; default: 1' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l csv-safe -d 'prefix names in CSV tables that a spreadsheet would run as formulas (beginning with = + - @) with \''
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l gzip -d 'compress timelines (.json.gz); Perfetto, Chrome and ascope view open them directly, MindStudio Insight does not find them'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l dialect -d 'names of files and columns, but not in databases: as documented (default) or as in current releases of msprof and torch_npu' -x -a 'documented current'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l time-base -d 'times of the timeline: since 1970 (epoch, default) or since its start' -x -a 'epoch start'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l top -d 'number of steps and operators in the report, slowest first; default: 5' -x
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l verbose -s v -d 'list every file read, with its records, and every table written'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from run profile record' -a '(__fish_complete_subcommand)'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l steps -d 'number of steps to record (active); default: as the file says' -x
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l warmup -d 'steps before them whose records are discarded; default: as the file says' -x
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l start-step -d 'begin at this step of the job; default: at the next step that all ranks can reach' -x
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l ranks -d 'ranks to record; default: all that listen' -x
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l level -d 'detail of the device\'s tasks (profiler_level); default: as the file says' -x -a 'Level0 Level1 Level2 Level_none'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l stack -d 'record call stacks (with_stack)'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l shapes -d 'record shapes and types of inputs (record_shapes)'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l analyse -d 'analyse the collections beside the job, which does not wait (analyse, async_mode)'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l out -d 'directory in which the collections are created (prof_dir); default: as the file says' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l timeout -d 'time limit of wait in seconds; default: none' -x
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l last -d 'how much of the past save writes: 30s, 500ms or 2min; default: all that the flight recorder keeps' -x
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l when -d 'save by itself from now on: step>1.5x, a step longer than 1.5 times the median of the last 100; never disables it' -x
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -a 'status start wait stop save'
complete -c ascope -n '__fish_seen_subcommand_from dyn' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from recover' -o dir -l collection-dir -d 'collection: a PROF_XXX directory, or a directory that contains some' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from recover' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from recover' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from recover' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from recover' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from recover' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from doctor' -l out -d 'directory of the recordings to come; default: $ASCEND_WORK_PATH/profiling_data, or the working directory' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from doctor' -l prove -d 'record programs with known content into DIR, and check every number of their results' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from doctor' -l python -d 'Python interpreter whose frameworks are examined; default: python3 in PATH' -r -F
complete -c ascope -n '__fish_seen_subcommand_from doctor' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from doctor' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from doctor' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from doctor' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from options' -l as -d 'kind of the text; default: acl.json if it has a member profiler, otherwise profiling_options' -x -a 'profiling_options acl.json'
complete -c ascope -n '__fish_seen_subcommand_from options' -l chip -d 'chip whose keys and values are accepted, or its number in info.json; default: that of this machine, or else A2' -x -a 'A2 A3 910 310 310P 310B 950 MDC Tiny MDC-mini'
complete -c ascope -n '__fish_seen_subcommand_from options' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from options' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from options' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from options' -a 'check'
complete -c ascope -n '__fish_seen_subcommand_from options' -F
complete -c ascope -n '__fish_seen_subcommand_from why' -o dir -l collection-dir -d 'collection: a PROF_XXX directory, or a directory that contains some' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from why' -l step -d 'step to explain; default: the slowest' -x
complete -c ascope -n '__fish_seen_subcommand_from why' -l rank -d 'rank on which it is explained; default: the one that the others wait for' -x
complete -c ascope -n '__fish_seen_subcommand_from why' -l request -d 'request of an inference server to explain, in place of a step; slowest: the one that is furthest above the medians' -x
complete -c ascope -n '__fish_seen_subcommand_from why' -l steps-by -d 'steps are the ranges of the host that begin with NAME (record_function, mstx, operators, Python functions); default: those of the profiler, or else annotations that repeat' -x
complete -c ascope -n '__fish_seen_subcommand_from why' -l top -d 'number of steps and operators in the report, slowest first; default: 5' -x
complete -c ascope -n '__fish_seen_subcommand_from why' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from why' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from why' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from why' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from why' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from why' -F
complete -c ascope -n '__fish_seen_subcommand_from advise' -o dir -l collection-dir -d 'collection: a PROF_XXX directory, or a directory that contains some' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from advise' -l html -d 'also write the report as a page for a browser' -r -F
complete -c ascope -n '__fish_seen_subcommand_from advise' -l steps-by -d 'steps are the ranges of the host that begin with NAME (record_function, mstx, operators, Python functions); default: those of the profiler, or else annotations that repeat' -x
complete -c ascope -n '__fish_seen_subcommand_from advise' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from advise' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from advise' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from advise' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from advise' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from advise' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from compare' -l out -s o -d 'write tables (csv), a database and a page for a browser into this directory; default: nothing is written' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from compare' -l csv-safe -d 'prefix names in CSV tables that a spreadsheet would run as formulas (beginning with = + - @) with \''
complete -c ascope -n '__fish_seen_subcommand_from compare' -l steps-by -d 'steps are the ranges of the host that begin with NAME (record_function, mstx, operators, Python functions); default: those of the profiler, or else annotations that repeat' -x
complete -c ascope -n '__fish_seen_subcommand_from compare' -l top -d 'number of steps and operators in the report, slowest first; default: 5' -x
complete -c ascope -n '__fish_seen_subcommand_from compare' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from compare' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from compare' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from compare' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from compare' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from compare' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from compare' -F
complete -c ascope -n '__fish_seen_subcommand_from gate' -l allow -d 'by how much a measure may grow: step (also without a name), computing, communication, free, slow (steps; default: as step), memory; only these are judged; default: 3%' -x
complete -c ascope -n '__fish_seen_subcommand_from gate' -l markdown -d 'write a report in Markdown into this file; - is standard output, which then has nothing else' -r -F
complete -c ascope -n '__fish_seen_subcommand_from gate' -l github -d 'also print annotations for a workflow of GitHub'
complete -c ascope -n '__fish_seen_subcommand_from gate' -l junit -d 'write the judged measures as tests into this file, which GitLab, Jenkins and others read' -r -F
complete -c ascope -n '__fish_seen_subcommand_from gate' -l sarif -d 'write what did not pass as SARIF 2.1.0 into this file' -r -F
complete -c ascope -n '__fish_seen_subcommand_from gate' -l steps-by -d 'steps are the ranges of the host that begin with NAME (record_function, mstx, operators, Python functions); default: those of the profiler, or else annotations that repeat' -x
complete -c ascope -n '__fish_seen_subcommand_from gate' -l top -d 'number of steps and operators in the report, slowest first; default: 5' -x
complete -c ascope -n '__fish_seen_subcommand_from gate' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from gate' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from gate' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from gate' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from gate' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from gate' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from gate' -F
complete -c ascope -n '__fish_seen_subcommand_from hang' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from hang' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from hang' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from hang' -F
complete -c ascope -n '__fish_seen_subcommand_from top' -l once -d 'print the state once, and end; the same in a pipe'
complete -c ascope -n '__fish_seen_subcommand_from top' -l window -d 'seconds of the past that are shown and judged; default: 600' -x
complete -c ascope -n '__fish_seen_subcommand_from top' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from top' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from top' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from top' -F
complete -c ascope -n '__fish_seen_subcommand_from sample' -l hz -d 'looks a second; default: 100' -x
complete -c ascope -n '__fish_seen_subcommand_from sample' -l seconds -d 'how long; default: 10' -x
complete -c ascope -n '__fish_seen_subcommand_from sample' -l top -d 'number of steps and operators in the report, slowest first; default: 5' -x
complete -c ascope -n '__fish_seen_subcommand_from sample' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from sample' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from sample' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from sample' -F
complete -c ascope -n '__fish_seen_subcommand_from monitor' -l listen -d 'serve metrics over HTTP: /metrics for Prometheus, /openmetrics; default of the address: 127.0.0.1; others need --token-file' -x
complete -c ascope -n '__fish_seen_subcommand_from monitor' -l token-file -d 'answer only requests with "Authorization: Bearer" and the first line of this file' -r -F
complete -c ascope -n '__fish_seen_subcommand_from monitor' -l hook -d 'run by a shell when an alarm begins or ends: $1 is begins or ends, $2 the rank or job, $3 the Unix time since when, $4 the text' -x
complete -c ascope -n '__fish_seen_subcommand_from monitor' -l flight -d 'when an alarm begins, save the flight recorders in DIR of the slow rank and of the median one; at most every 10 minutes, and 16 times' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from monitor' -l replay -d 'go through the records that are there, as if time passed, print the alarms, and end'
complete -c ascope -n '__fish_seen_subcommand_from monitor' -l window -d 'seconds of the past that are shown and judged; default: 600' -x
complete -c ascope -n '__fish_seen_subcommand_from monitor' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from monitor' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from monitor' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from monitor' -F
complete -c ascope -n '__fish_seen_subcommand_from memory' -l folded -d 'write what is in use at the peak as folded stacks into this file, for flame graphs; - is standard output' -r -F
complete -c ascope -n '__fish_seen_subcommand_from memory' -l top -d 'number of steps and operators in the report, slowest first; default: 5' -x
complete -c ascope -n '__fish_seen_subcommand_from memory' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from memory' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from memory' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from memory' -F
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l mode -s m -d 'what to compute: one or more modes separated by commas, or all-modes; default: all,verdicts' -x -a 'all verdicts communication_time communication_matrix communication_group_map cluster_time_summary cluster_time_compare_summary slow_rank slow_link free_analysis communication_bottleneck compute_op_sum hccl_sum cann_api_sum mstx_sum freq_analysis computational_op_masking p2p_pairing pp_chart mstx2commop ep_load_balance module_statistic operator_mfu export_summary communication_time_sum communication_matrix_sum'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l out -l output_path -s o -d 'results are written to DIR/cluster_analysis_output; default: the first directory' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l export-type -l export_type -d 'text (csv and JSON), db (cluster_analysis.db), or both; default: text for ranks that have text results only, else db' -x -a 'text db text,db'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l csv-safe -d 'prefix names in CSV tables that a spreadsheet would run as formulas (beginning with = + - @) with \''
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l ranks -l rank_list -d 'use only these ranks: 0,3-5; default: all' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l step -l step_id -d 'use only this step, for modes that know steps; default: all' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l steps-by -d 'steps are the ranges of the host that begin with NAME (record_function, mstx, operators, Python functions); default: those of the profiler, or else annotations that repeat' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l top -l top_num -d 'number of rows of modes that list the largest ones; default: depends on the mode' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l base -l bp -d 'for cluster_time_compare_summary: the other job, or its results' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l rank-id -l rank_id -d 'for communication_bottleneck: the rank whose operators are examined; default: 0' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l parallel-types -l parallel_types -d 'for computational_op_masking: kinds of groups, such as dp,edp;tp' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l exclude-op-name -l exclude_op_name -d 'for compute_op_sum: omit the table by operator names'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l rank-databases -d 'for p2p_pairing and pp_chart, with --out: write copies of the ranks\' databases into that directory, with what MindStudio Insight reads from them; the recorded ones are never changed'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l shard -d 'only write the summaries of a part of the ranks, 1/8 to 8/8, to shard_I_of_N.summary in the output directory' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l manifest -d 'only write the list of ranks to a file; with --shard: take the part from this list instead of searching all of DIR' -r -F
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l join -d 'only write the summaries of all ranks that are found, shards included, to one file' -r -F
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l shards -d 'read the ranks from the shards in a directory; ranks of the job that are in none of them are reported as missing' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l launcher -d 'summarise parts of the ranks first, in processes on this machine (local) or in tasks of a job array, followed by a job for the results (slurm)' -x -a 'local slurm'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l launcher-args -d 'additional options for sbatch, as one word: "--partition=cpu --time=10"' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l processes -d 'number of parts for --launcher; default: local: --threads, slurm: one per rank, at most 1000' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from cluster' -F
complete -c ascope -n '__fish_seen_subcommand_from view' -o dir -l collection-dir -d 'collection: a PROF_XXX directory, or a directory that contains some' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from view' -l ranks -d 'for a job: ranks whose timelines are shown together: 0,3-5; default: all if there are at most 8, else those that stand out' -x
complete -c ascope -n '__fish_seen_subcommand_from view' -l step -d 'for two runs: step that begins at the same moment in both; default: the first that both have' -x
complete -c ascope -n '__fish_seen_subcommand_from view' -l steps-by -d 'steps are the ranges of the host that begin with NAME (record_function, mstx, operators, Python functions); default: those of the profiler, or else annotations that repeat' -x
complete -c ascope -n '__fish_seen_subcommand_from view' -l port -d 'port of the address; default: any free one' -x
complete -c ascope -n '__fish_seen_subcommand_from view' -l host -d '127.0.0.1 or localhost; any other address is refused, with a hint to use a tunnel' -x
complete -c ascope -n '__fish_seen_subcommand_from view' -l no-open -d 'print the address only; do not open a browser'
complete -c ascope -n '__fish_seen_subcommand_from view' -l export -d 'write the overview and a range of the timeline as one page, start no viewer; - is standard output' -r -F
complete -c ascope -n '__fish_seen_subcommand_from view' -l range -d 'with --export: range of the timeline, from its start (100ms,1.5s; without a unit ns); default: all' -x
complete -c ascope -n '__fish_seen_subcommand_from view' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from view' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from view' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from view' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from view' -F
complete -c ascope -n '__fish_seen_subcommand_from sql' -l table -d 'print a table for people (default)'
complete -c ascope -n '__fish_seen_subcommand_from sql' -l csv -d 'print CSV'
complete -c ascope -n '__fish_seen_subcommand_from sql' -l csv-safe -d 'prefix names in CSV tables that a spreadsheet would run as formulas (beginning with = + - @) with \''
complete -c ascope -n '__fish_seen_subcommand_from sql' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from sql' -l limit -d 'most rows of an answer, 0: no limit; default: 10000' -x
complete -c ascope -n '__fish_seen_subcommand_from sql' -l columns -d 'without a statement: write the tables of the run as binary columns, for programs' -r -F
complete -c ascope -n '__fish_seen_subcommand_from sql' -l tables -d 'with --columns: only these tables, such as kernels,steps; default: all of the run' -x
complete -c ascope -n '__fish_seen_subcommand_from sql' -l steps-by -d 'steps are the ranges of the host that begin with NAME (record_function, mstx, operators, Python functions); default: those of the profiler, or else annotations that repeat' -x
complete -c ascope -n '__fish_seen_subcommand_from sql' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from sql' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from sql' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from sql' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from sql' -F
complete -c ascope -n '__fish_seen_subcommand_from mcp' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from mcp' -F
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -o dir -l collection-dir -d 'collection: a PROF_XXX directory, or a directory that contains some' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l export-type -d 'text (timeline and tables), db (databases), or both; default: as set when the collection was recorded' -x -a 'text db text,db'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l max-process-number -d 'number of collections analysed in parallel; default: --threads' -x
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l steps -d 'analyse only these steps of the framework\'s profiler: 3, or 2-4; +1-3: the first three that were recorded, whatever their numbers' -x
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l csv-safe -d 'prefix names in CSV tables that a spreadsheet would run as formulas (beginning with = + - @) with \''
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l dialect -d 'names of files and columns, but not in databases: as documented (default) or as in current releases of msprof and torch_npu' -x -a 'documented current'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l time-base -d 'times of the timeline: since 1970 (epoch, default) or since its start' -x -a 'epoch start'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l keep-overlaps -d 'leave slices that overlap without nesting on their track in the timeline; otherwise the later one is on a further track, "Thread 7 (2)", because Perfetto and Chrome drop it'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l pretty -d 'write one event of the timeline per line'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l simplify -d 'afterwards remove earlier results in the PROF directory, but not its raw data; default: as set when the collection was recorded (data_simplification)'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l summary -d 'write a summary of the rank for ascope cluster, ascope_rank_N.summary in its directory, unless it is up to date; other results only with --export-type'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l out -d 'output directory; default: inside the collection' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l top -d 'number of steps and operators in the report, slowest first; default: 5' -x
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l verbose -s v -d 'list every file read, with its records, and every table written'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from analyse analyze' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from export' -o dir -l collection-dir -d 'collection: a PROF_XXX directory, or a directory that contains some' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from export' -o reports -d 'processes shown in the timeline, as a JSON file: {"json_process": {"hbm": true}}' -r -F
complete -c ascope -n '__fish_seen_subcommand_from export' -l model-id -d 'model whose iterations are exported; 4294967295 selects training steps' -x
complete -c ascope -n '__fish_seen_subcommand_from export' -l iteration-id -d 'first iteration to export; requires --model-id' -x
complete -c ascope -n '__fish_seen_subcommand_from export' -l iteration-count -d 'number of iterations, 1 to 5; default: 1' -x
complete -c ascope -n '__fish_seen_subcommand_from export' -l format -d 'format of the summary tables; default: csv' -x -a 'csv json'
complete -c ascope -n '__fish_seen_subcommand_from export' -l csv-safe -d 'prefix names in CSV tables that a spreadsheet would run as formulas (beginning with = + - @) with \''
complete -c ascope -n '__fish_seen_subcommand_from export' -l max-size -d 'split a larger timeline by time into NAME_slice_0, NAME_slice_1, ...; 400M suits most viewers' -x
complete -c ascope -n '__fish_seen_subcommand_from export' -l gzip -d 'compress timelines (.json.gz); Perfetto, Chrome and ascope view open them directly, MindStudio Insight does not find them'
complete -c ascope -n '__fish_seen_subcommand_from export' -l dialect -d 'names of files and columns, but not in databases: as documented (default) or as in current releases of msprof and torch_npu' -x -a 'documented current'
complete -c ascope -n '__fish_seen_subcommand_from export' -l time-base -d 'times of the timeline: since 1970 (epoch, default) or since its start' -x -a 'epoch start'
complete -c ascope -n '__fish_seen_subcommand_from export' -l keep-overlaps -d 'leave slices that overlap without nesting on their track in the timeline; otherwise the later one is on a further track, "Thread 7 (2)", because Perfetto and Chrome drop it'
complete -c ascope -n '__fish_seen_subcommand_from export' -l out -d 'output directory; default: inside the collection' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from export' -l clear -d 'remove intermediate sqlite directories of other tools afterwards'
complete -c ascope -n '__fish_seen_subcommand_from export' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from export' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from export' -l top -d 'number of steps and operators in the report, slowest first; default: 5' -x
complete -c ascope -n '__fish_seen_subcommand_from export' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from export' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from export' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from export' -l verbose -s v -d 'list every file read, with its records, and every table written'
complete -c ascope -n '__fish_seen_subcommand_from export' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from export' -a 'timeline summary db all'
complete -c ascope -n '__fish_seen_subcommand_from export' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l max-size -d 'split a larger timeline by time into NAME_slice_0, NAME_slice_1, ...; 400M suits most viewers' -x
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l dialect -d 'names of files and columns, but not in databases: as documented (default) or as in current releases of msprof and torch_npu' -x -a 'documented current'
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l time-base -d 'times of the timeline: since 1970 (epoch, default) or since its start' -x -a 'epoch start'
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l keep-overlaps -d 'leave slices that overlap without nesting on their track in the timeline; otherwise the later one is on a further track, "Thread 7 (2)", because Perfetto and Chrome drop it'
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l pretty -d 'write one event of the timeline per line'
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from export-trace' -F
complete -c ascope -n '__fish_seen_subcommand_from export-memory-timeline' -l device -d 'device whose memory is shown: cpu, npu:N or cuda:N; default: the first recorded NPU or GPU' -x
complete -c ascope -n '__fish_seen_subcommand_from export-memory-timeline' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from export-memory-timeline' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from export-memory-timeline' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from export-memory-timeline' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from export-memory-timeline' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from export-memory-timeline' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from export-memory-timeline' -F
complete -c ascope -n '__fish_seen_subcommand_from export-stacks' -l metric -d 'time of an operator: its own on the host (default) or on the device' -x -a 'self_cpu_time_total self_npu_time_total'
complete -c ascope -n '__fish_seen_subcommand_from export-stacks' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from export-stacks' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from export-stacks' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from export-stacks' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from export-stacks' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from export-stacks' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from export-stacks' -F
complete -c ascope -n '__fish_seen_subcommand_from communication' -o dir -l collection-dir -d 'collection: a PROF_XXX directory, or a directory that contains some' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from communication' -l rule -s r -d 'communication, communication_matrix, or both separated by a comma (default)' -x
complete -c ascope -n '__fish_seen_subcommand_from communication' -l type -d 'text: text files and the database (default); db: the database only' -x -a 'text db'
complete -c ascope -n '__fish_seen_subcommand_from communication' -l out -d 'output directory; default: inside the collection' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from communication' -l clear -d 'remove intermediate sqlite directories of other tools afterwards'
complete -c ascope -n '__fish_seen_subcommand_from communication' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from communication' -l memory-limit -d 'upper limit of the program\'s memory; default: 512M; larger data is kept in an unnamed temporary file beside the results' -x
complete -c ascope -n '__fish_seen_subcommand_from communication' -l no-sync -d 'do not wait until what is written is on the disk: a power cut in the next seconds may take it back'
complete -c ascope -n '__fish_seen_subcommand_from communication' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from communication' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from communication' -l verbose -s v -d 'list every file read, with its records, and every table written'
complete -c ascope -n '__fish_seen_subcommand_from communication' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from communication' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from info' -o dir -l collection-dir -d 'collection: a PROF_XXX directory, or a directory that contains some' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from info' -l steps-by -d 'steps are the ranges of the host that begin with NAME (record_function, mstx, operators, Python functions); default: those of the profiler, or else annotations that repeat' -x
complete -c ascope -n '__fish_seen_subcommand_from info' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from info' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from info' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from info' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from query' -o dir -l collection-dir -d 'collection: a PROF_XXX directory, or a directory that contains some' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from query' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from query' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from query' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from query' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l out -d 'output directory, created if missing; default: the current directory' -x -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l seed -d 'random seed: same seed, same bytes; default: 1' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l noise-seed -d 'the same job in another run: only the random part of the times differs; default: 0' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l jitter -d 'in a job: percent by which kernels vary; a fifth of it is common to the kernels of a step of a rank, and hosts begin a step up to as many hundredths of a ms late; default: 1.5, kernels alone' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l kernels -d 'number of operators launched one by one, over all devices and ranks; default: 150, in a job 150 per rank' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l framework -d 'pt: add the data of PyTorch, in *_ascend_pt directories; ms: of MindSpore, in *_ascend_ms; default: none' -x -a 'none pt ms'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l generation -d 'files of MindSpore: N: of 2.6 and later (default), S: of 2.5 and earlier' -x -a 'N S'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l jit -d 'how MindSpore runs the network: operator by operator (off, default), a graph kernel by kernel (O0, O1), or as a whole (O2)' -x -a 'off O0 O1 O2'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l operators -d 'number of PyTorch operators, at least one per kernel; default: five per kernel; MindSpore has its own number per kernel; with --kernels 0 there is no PROF directory, and 1000 by default' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l steps -d 'number of training steps; default: 3' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l devices -d 'number of devices per process; default: 1' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l ranks -l processes -d 'number of ranks of one job, each with its own directory; they share the kernels; default: tp * pp * dp' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l tp -d 'ranks per tensor parallel group; default: 1' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l pp -d 'pipeline stages; default: 1' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l dp -d 'ranks per data parallel group; default: derived from --ranks' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l ranks-per-host -d 'ranks per host: linked by HCCS within a host, by RDMA between hosts; default: 8' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l slow-step -d 'slow down the kernels of a step by this factor in all ranks: 14:10' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l slow-rank -d 'slow down the kernels of a rank by this factor; the others wait for it: 3:1.5' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l slow-operator -d 'slow down the kernels of one type by this factor: MatMulV2:1.5' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l slow-link -d 'reduce the bandwidth between two ranks to this fraction, in both directions: 0-1:0.1' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l stall -d 'let the host wait for data in the middle of a step\'s forward pass, in all ranks or in one: 14:220ms, 14:220ms:3' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l late-host -d 'let the host of a rank begin to launch later in each step; the others wait for it: 3:5ms' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l missing-rank -d 'leave out the directory of a rank that took part: 5' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l clock-offset -d 'set the clock of a rank ahead of the others, or behind: 2:350us, 2:-1ms' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l chip -d 'chip, or its number in info.json; A3 has links between its dies, and its AI CPUs run half of the collectives; default: A2' -x -a 'A2 A3 910 310 310P 310B 950 MDC Tiny MDC-mini'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l mhz -d 'frequency of the device counter; default: 50; 48 gives fractions of a nanosecond' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l metrics -d 'counter group of the AI cores, as far as the chip supports it; default: PipeUtilization' -x -a 'PipeUtilization ArithmeticUtilization Memory MemoryL0 MemoryUB ResourceConflictRatio L2Cache MemoryAccess PipelineExecuteUtilization'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l slice-kib -d 'size of a slice of a stream; default: 2048' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l comm -d 'collectives; a single rank gets those of an imaginary job of 8 ranks; default: on'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l kfc -d 'run half of the collectives on the AI CPU; not in a job'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l graphs -d 'one loaded and one captured graph; default: on, off in a job'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l late -d 'capture the graph before the collection starts'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l copies -d 'copies between host and device; default: on'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l marks -d 'marks of the user; default: on'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l samplers -d 'hardware counters and operating system samples; default: on'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l sample-based -d 'sample AI core counters by time instead of by task'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l tiling -d 'record the block count of some kernels on the device'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l level0 -d 'names and times only'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l threads -d 'most threads; default: one per CPU; the results do not depend on it' -x
complete -c ascope -n '__fish_seen_subcommand_from sim' -l json -d 'print the report as one JSON object'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l quiet -s q -d 'print errors only'
complete -c ascope -n '__fish_seen_subcommand_from sim' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from sim' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from install-msprof' -l dialect -d 'names of files and columns, unless ASCOPE_DIALECT is set: as documented, or as in current releases of msprof and torch_npu (default)' -x -a 'documented current'
complete -c ascope -n '__fish_seen_subcommand_from install-msprof' -l force -d 'replace files that ascope did not make; they are kept beside it as *.before-ascope'
complete -c ascope -n '__fish_seen_subcommand_from install-msprof' -l remove -d 'remove what install-msprof made, and restore what --force replaced'
complete -c ascope -n '__fish_seen_subcommand_from install-msprof' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from install-msprof' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from completion' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
complete -c ascope -n '__fish_seen_subcommand_from completion' -a '(__fish_complete_directories)'
complete -c ascope -n '__fish_seen_subcommand_from help' -l man -d 'print the manual page, for man -l -'
complete -c ascope -n '__fish_seen_subcommand_from help' -l recorder-options -d 'print the options of a recording as a page in Markdown'
complete -c ascope -n '__fish_seen_subcommand_from help' -l help -s h -d 'print this text'
complete -c ascope -n '__fish_seen_subcommand_from help' -a 'run dyn recover doctor options why advise compare gate hang top sample monitor memory cluster view sql mcp analyse export export-trace export-memory-timeline export-stacks communication info query sim install-msprof completion help'
complete -c ascope -n '__fish_seen_subcommand_from help' -a '(__fish_complete_directories)'
