# SPDX-License-Identifier: Apache-2.0
"""python3 -m ascope run|record|profile SCRIPT ARGUMENTS...: a Python script under the front end of its framework.

`run` runs scripts for NPUs unchanged and records what their own profilers ask for; with --profile it records any script. `record` and
`profile` are `ascope record`: a script without a profiler is recorded from its start to its end, one without a framework, and any
program, by the collector of the program `ascope`.
"""
import argparse
import builtins
import functools
import glob
import importlib.machinery
import importlib.util
import inspect
import io
import logging
import os
import runpy
import shlex
import shutil
import sys
import threading
import types
import weakref
import zipfile

from ascope import _core, _frameworks, _front_ends, _monitor, _program, _whole_script

ABOUT = {
    "run": "Run a script for NPUs unchanged; with --profile, record any script. Other programs are recorded, as by `ascope run`.",
    "record": "Record a script from its start to its end, unless it has a profiler of its own, or a program, as `ascope record` does.",
}
ABOUT["profile"] = ABOUT["record"]

EXAMPLES = """\
examples:
  python3 -m ascope run train.py --epochs 3                           a script that imports torch_npu, without torch_npu
  python3 -m ascope run --profile --out result train.py --epochs 3    a script without a profiler: every step is recorded
  python3 -m ascope run --profile --skip-first 10 --warmup 1 --active 3 --repeat 1 --with-stack train.py
  torchrun --nproc_per_node 2 -m ascope run --profile train.py        every rank has its own directory
  python3 -m ascope record train.py --epochs 3                        as `ascope record -- python3 train.py --epochs 3`

A step ends with optimizer.step(). Options have the names and the meaning of the parameters of torch_npu.profiler."""

STARTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_started")


def _always(module, function, args, kwargs):
    return True


def _of_configuration(module, function, args, kwargs):
    """A ProfilingConfig among the arguments switches profiling on."""
    return any(getattr(one, "_enable_profiling", False) for one in (*args, *kwargs.values()))


def _of_argument(module, function, args, kwargs):
    return bool(inspect.signature(function).bind(*args, **kwargs).arguments.get("enable_profiling"))


def _of_options(module, function, args, kwargs):
    """Whether the options of TensorFlow 2 switch profiling on. Some options are objects with the value inside."""
    asked = module.global_options().profiling_config.enable_profiling
    return str(getattr(asked, "value", asked)) in ("True", "1")


# Functions of installed frameworks that may begin a recording: (package, module, functions, whether a given call begins one).
PROFILERS = (
    ("torch_npu", "torch_npu.profiler.profiler", ("_KinetoProfile.start", "profile.start"), _always),
    ("mindspore", "mindspore.profiler.profiler", ("Profiler.start", "profile.start"), _always),
    ("npu_bridge", "npu_bridge.profiler.profiler", ("Profiler.start",), _always),
    ("npu_bridge", "npu_bridge.estimator.npu.npu_config", ("NPURunConfig.__init__",), _of_configuration),
    ("npu_bridge", "npu_bridge.estimator.npu.npu_plugin", ("npu_resource_init",), _of_argument),
    ("npu_device", "npu_device", ("open",), _of_options),
)
NUMBERS = (
    ("skip-first", 0, "steps before the first cycle"),
    ("skip-first-wait", 0, "1: the first cycle has no wait phase"),
    ("wait", 0, "steps of the wait phase of a cycle, which are not recorded"),
    ("warmup", 0, "steps of the warm-up phase, whose records are discarded"),
    ("active", 0, "steps of the active phase, which are recorded; 0: all that follow"),
    ("repeat", 1, "number of cycles, each with its own directory; 0: no limit"),
)
OPTIONS = [row for row in _core.option_table() if row["section"] and not row["is_old"]]
OUT = {"run": "./result", "record": "$ASCEND_WORK_PATH/profiling_data, or the working directory"}
OUT["profile"] = OUT["record"]
LEAST_GC_MS = 0.1  # unless --gc-detect-threshold says otherwise: Python's collections are among the usual causes of a late host
SHORT = {"profiler_level": ["--level"]}


def _names(text):
    return [name for name in text.split(",") if name]


def _add_option(group, row):
    """Adds one option of the recorder's option table."""
    dashed, default = "--" + row["name"].replace("_", "-"), row["default"]
    if row["kind"] == "boolean":
        if default:
            dashed = "--no-" + dashed[2:]
        group.add_argument(dashed, action="store_false" if default else "store_true", dest=row["name"],
                           help=("switch off: " if default else "") + row["help"])
        return
    kind, metavar = {"list": (_names, "NAMES"), "names": (_names, "NAMES"), "ms": (float, "MS"), "number": (int, "N")}.get(
        row["kind"], (str, "NAME"))
    choices = row["choices"] if row["kind"] == "choice" and default is not None else None
    shown = ",".join(default) if isinstance(default, list) else default
    more = "" if choices or row["kind"] == "ms" else " (%s)" % row["values"]
    group.add_argument(dashed, *SHORT.get(row["name"], []), type=kind, default=default, choices=choices,
                       metavar=None if choices else metavar,
                       help="%s%s [%s]" % (row["help"], more, row["otherwise"] if shown is None else shown))


def _parser(command="run"):
    p = argparse.ArgumentParser(prog="python3 -m ascope " + command, description=ABOUT[command], epilog=EXAMPLES,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("script", help="Python file, as for python3; or a program, after --")
    p.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the script")
    return _add_options(p, OUT[command])


def _add_options(p, out=""):
    p.add_argument("-m", action="store_true", dest="is_module", help="SCRIPT is the name of a module")
    p.add_argument("--device", choices=("auto", "none", "ascend", "cuda", "mspti", "sim"), help="device: auto (the real devices that the script uses, else the CPU alone), none, ascend (Ascend NPUs), cuda (NVIDIA GPUs), mspti (NPUs by MSPTI, which needs LD_PRELOAD=libmspti.so), sim (a simulated NPU, for evaluation) [auto]")
    p.add_argument("--profile", action="store_true", help="record the script, also if it has a profiler; implied by record and profile, unless it has one")
    p.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    p.add_argument("--monitor", metavar="DIR", help="record nothing but the monitor's values of each step, for ascope top DIR")
    where = p.add_argument_group("output")
    where.add_argument("--out", metavar="DIR", help="directory of the collection [%s]" % out)
    where.add_argument("--worker-name", metavar="NAME", help="prefix of its name [the host name]")
    where.add_argument("--no-analyse", action="store_true", help="do not analyse the collection")
    when = p.add_argument_group("steps")
    for name, default, text in NUMBERS:
        when.add_argument("--" + name, type=int, default=default, metavar="N", help="%s [%d]" % (text, default))
    what = p.add_argument_group("contents of the recording")
    for row in OPTIONS:
        _add_option(what, row)
    return p


def _named(kind, names):
    """The members of an enum with these names. An invalid name stays a string, and is reported later."""
    return [getattr(kind, name, name) for name in names]


def _profiler(o, framework):
    """The profiler of the script's framework; PyTorch's if it is not known."""
    make = _whole_script.OF.get(framework, _profiler_of_torch)
    if make is _profiler_of_torch:
        return make(o)
    for name, default, _ in NUMBERS:
        if getattr(o, name.replace("-", "_")) != default:
            print("ascope: note: --%s has no effect on %s: everything is recorded" % (name, o.script), file=sys.stderr)
    given = {row["name"]: getattr(o, row["name"]) for row in OPTIONS}
    return make(given, o.out, o.worker_name, not o.no_analyse)


def _profiler_of_torch(o):
    from ascope.torch import profiler

    def given(section):
        return {row["name"]: getattr(o, row["name"]) for row in OPTIONS if row["section"] == section}

    of_config = given("experimental_config")
    if o.aic_metrics:
        of_config["aic_metrics"], = _named(profiler.AiCMetrics, [o.aic_metrics])
    if of_config["gc_detect_threshold"] is None:
        of_config["gc_detect_threshold"] = LEAST_GC_MS
    of_profile = given("common_config")
    of_profile["activities"] = _named(profiler.ProfilerActivity, o.activities)
    plan = {name: getattr(o, name) for name in (row[0].replace("-", "_") for row in NUMBERS)}
    plan["active"] = plan["active"] or _core.EVERY_STEP
    prof = profiler.profile(
        **of_profile, schedule=profiler.schedule(**plan), experimental_config=profiler._ExperimentalConfig(**of_config),
        on_trace_ready=_unless_idle(profiler.tensorboard_trace_handler(o.out, o.worker_name, analyse_flag=not o.no_analyse)))
    _step_at_optimizers(prof)
    return prof


_processes = []  # names of the processes that this one started and that are recorded


def _unless_idle(handler):
    @functools.wraps(handler)
    def analysed(prof):
        if not _processes or _has_operators(prof._path):
            handler(prof)

    return analysed


def _step_at_optimizers(prof):
    """Calls prof.step() after the step of one optimizer, because a training may have several: the first one that steps, while it exists.
    PyTorch observes only threads that ask for it: a thread that trains, but did not start the recording, is observed from the end of its
    first step on."""
    ends = []  # [a weak reference to the optimizer]
    thread = threading.local()
    thread.is_observed = True

    def observe():
        from ascope.torch import _messages
        thread.is_observed = True
        prof.enable_profiler_in_child_thread(prof.record_shapes, prof.profile_memory, prof.with_stack, prof.with_flops, prof.with_modules)
        _messages.info("thread %d trains: its operators are recorded from here on, the end of its first step" % threading.get_native_id())

    def ended(optimizer):
        if prof._pid != os.getpid():  # the profiler of a parent, in a forked process
            return
        if not ends or ends[0]() is None:
            ends[:] = [weakref.ref(optimizer)]
        if not prof.stopped and not getattr(thread, "is_observed", False):
            observe()
        if ends[0]() is optimizer and not prof.stopped:
            prof.step()

    try:
        from ascope.torch import _optimizers
        _optimizers.watch(ended)
    except ImportError:  # torch is not installed, and the script may not need it
        return


# Processes of these modules serve others: they load data, run functions of a pool, hold shared objects.
HELPERS = ("torch.utils.data.", "multiprocessing.", "concurrent.", "joblib.")


_forgotten = []  # collections without operators


def _forget(path):
    _forgotten.append(path)
    shutil.rmtree(path, ignore_errors=True)
    _program.analysed[:] = [one for one in _program.analysed if one[0] != path]


class _Recorded:
    """`run` of a process that the script starts, such as a rank: recorded as the script itself is."""

    def __init__(self, run, o, framework):
        self._run, self._options, self._framework = run, o, framework

    def __call__(self):
        prof = _profiler(argparse.Namespace(**{**vars(self._options), "no_analyse": True}), self._framework)
        _front_ends.stand_in(prof)
        prof.start()
        try:
            self._run()
        finally:
            prof.stop()
            self._keep(prof._path)

    def _keep(self, path):
        if path and self._framework == "torch" and not _has_operators(path):
            _forget(path)
        elif path and not self._options.no_analyse:
            _program.analyse(path)


def _has_operators(path):
    """Whether a process did anything with PyTorch: one that only started others has the range of its step, and nothing else."""
    try:
        return os.path.getsize(os.path.join(path, "FRAMEWORK", "torch.op_range")) > 1024
    except OSError:
        return False


def _record_processes(o, framework):
    """Records the processes that the script starts with multiprocessing."""
    from multiprocessing import process
    start = process.BaseProcess.start

    @functools.wraps(start)
    def started(self):
        of = getattr(self, "_target", None) or type(self)
        if not getattr(of, "__module__", "").startswith(HELPERS):
            self.run = _Recorded(self.run, o, framework)
            _processes.append(self.name)
        return start(self)

    process.BaseProcess.start = started


class _MakingRoom:
    """An import hook that wraps the start functions of an installed framework's profiler: when one is called, the profiler of
    `ascope record` gives way."""

    def __init__(self, name, functions, asks):
        self._name, self._functions, self._asks = name, functions, asks

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and hasattr(spec.loader, "exec_module"):
            execute = spec.loader.exec_module

            def executed(module):
                execute(module)
                for path in self._functions:
                    cls, _, function = path.rpartition(".")
                    place = getattr(module, cls, None) if cls else module
                    if place and function in vars(place):
                        setattr(place, function, self.making_room(module, getattr(place, function)))

            spec.loader.exec_module = executed
        return spec

    def making_room(self, module, start):
        @functools.wraps(start)
        def started(*args, **kwargs):
            try:
                asks = self._asks(module, start, args, kwargs)
            except Exception:  # the call is wrong, which the function itself reports, or belongs to another version
                asks = False
            if asks:
                _front_ends.make_room()
            return start(*args, **kwargs)

        return started


def _shown_as_the_scripts(script):
    """An excepthook that shows exceptions of the script without the frames of ascope."""

    def show(kind, value, trace):
        inner = trace
        while inner and inner.tb_frame.f_code.co_filename != script:
            inner = inner.tb_next
        sys.__excepthook__(kind, value.with_traceback(inner or trace), inner or trace)

    return show


def _run_script(script):
    """As python3 SCRIPT does. runpy.run_path() gives a file neither its absolute path, which scripts use after chdir(), nor a module that
    lasts until the functions of atexit have run."""
    if not os.path.isfile(script) or zipfile.is_zipfile(script):
        runpy.run_path(script, run_name="__main__")
        return
    path = _path_of_main(script)
    with io.open_code(script) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    module = types.ModuleType("__main__")
    module.__file__, module.__cached__, module.__builtins__ = path, None, builtins
    module.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    module.__annotations__ = {}
    sys.modules["__main__"] = module
    exec(code, vars(module))


def _path_of_main(script):
    return os.path.abspath(script) if sys.version_info >= (3, 9) else script


TIMELINES, DATABASES = "https://ui.perfetto.dev, chrome://tracing or MindStudio Insight", "MindStudio Insight or SQLite"
OPENED = (("ASCEND_PROFILER_OUTPUT/trace_view.json", TIMELINES), ("mindstudio_profiler_output/msprof_[0-9]*.json", TIMELINES),
          ("ASCEND_PROFILER_OUTPUT/ascend_*_profiler*.db", DATABASES), ("msprof_[0-9]*.db", DATABASES))


def _report_file():
    """Under `ascope run`, standard output belongs to the script alone."""
    return sys.stderr if os.environ.get("ASCOPE_SUPERVISED") else sys.stdout


def _shown(path):
    """From here, where that is shorter: nobody counts "../"."""
    near = os.path.relpath(path)
    return near if len(near) < len(os.path.abspath(path)) else os.path.abspath(path)


def _show_results(process):
    """Prints, at the end, the summary of the last collection, the names of the others, and the files to open. If only processes of the
    script have recorded, such as the ranks of a job, the summary is that of the first one."""
    if os.getpid() != process:
        return
    own = [(path, result.summary) for path, result in _program.analysed if result.is_done]
    others = [(path, result.summary) for path, result in _program.analysed_elsewhere() if result.is_done]
    _program.analysed.clear()  # collections that are analysed after this are shown when the interpreter ends
    if not own and not others:
        if _forgotten:
            print("ascope: nothing was recorded: neither the script nor a process that it started ran an operator", file=sys.stderr)
        return
    path, summary = own.pop() if own else others.pop(0)
    lines = ["analysed: " + other for other, _ in own + others] + ["", summary.rstrip("\n"), ""]
    if others:
        both = os.path.commonpath([os.path.abspath(one) for one, _ in [(path, ""), *others]])
        lines.append("  ascope cluster %s compares them" % shlex.quote(_shown(both)))
    lines.append("  ascope view %s shows it in a browser" % shlex.quote(_shown(path)))
    for name, viewer in OPENED:
        for file in glob.glob(os.path.join(glob.escape(path), name)):
            lines.append("  open %s in %s" % (_shown(file), viewer))
    try:
        print("\n".join(lines), file=_report_file(), flush=True)
    except (OSError, ValueError):  # stdout is closed
        pass


def _is_program(name):
    """Whether a name is not a Python script but a program, by path or in PATH, or the script of another interpreter."""
    try:
        with open(name, "rb") as file:
            head = file.read(256)
    except OSError:
        return not os.path.exists(name) and os.sep not in name and shutil.which(name) is not None
    return head.startswith(b"\x7fELF") or (head.startswith(b"#!") and b"python" not in head.split(b"\n")[0])


def _program_line(arguments):
    """The command line for the program if the arguments are options, "--" and a program that is not Python; otherwise None."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    options, words = arguments[:at], arguments[at + 1:]
    if not words or not _is_program(words[0]):
        return None
    flags = {name for action in _add_options(argparse.ArgumentParser())._actions if action.nargs == 0 for name in action.option_strings}
    for before, one in zip([""] + options, options):  # a word that is no option's value is a script, and "--" one of its arguments
        if not one.startswith("-") and (not before.startswith("-") or "=" in before or before in flags):
            return None
    return ["run"] + [one for one in options if one != "--profile"] + ["--"] + words


# Options that the program `ascope run` also has: (name here, name there, conversion of the value).
PROGRAMS = (
    ("out", "--out", str),
    ("device", "--device", str),
    ("host_sys", "--host-sys", ",".join),
    ("profiler_level", "--level", lambda level: {"Level_none": "off"}.get(level, level[-1])),
    ("aic_metrics", "--metrics", lambda metrics: {"AiCoreNone": "none"}.get(metrics, metrics)),
    ("no_analyse", "--no-export", None),
    ("quiet", "--quiet", None),
)


def _collect(words, o):
    """Lets the program `ascope` record the command `words`, with the options that both have."""
    arguments, default = ["run"], vars(_add_options(argparse.ArgumentParser()).parse_args([]))
    given = {name for name, value in vars(o).items() if name in default and value != default[name]}
    for name, there, value in PROGRAMS:
        if name in given:
            arguments += [there] if value is None else [there, value(getattr(o, name))]
    for name in sorted(given - {row[0] for row in PROGRAMS} - {"is_module", "profile", "mstx"}):  # the program always records marks
        print("ascope: note: --%s has no effect on %s" % (name.replace("_", "-"), words[0]), file=sys.stderr)
    return _program.become(arguments + ["--"] + words)


def _preload():
    """Starts Python again with libascope-run.so in LD_PRELOAD: it records calls of the operating system, and must be loaded before libc."""
    others, library = os.environ.get("LD_PRELOAD", ""), _program.find_run_library()
    if not library or "libascope-run.so" in others or set(library) & set(" :"):  # LD_PRELOAD separates names with these characters
        return
    os.environ["LD_PRELOAD"] = ":".join(filter(None, (library, others)))
    sys.stdout.flush()
    os.execv(sys.executable, getattr(sys, "orig_argv", [sys.executable, "-m", "ascope"] + sys.argv[1:]))


def _provide():
    """Provides modules for frameworks that are not installed, and watches TensorFlow if it is: in this process and in all that it starts.
    Returns the names of the provided modules."""
    provided = [name for name in ("mindspore", "npu_bridge", "npu_device") if not _frameworks.is_installed(name)]
    from ascope import tensorflow_compat, torch_npu_compat
    tensorflow_compat.install()
    provided += ["torch_npu"] if torch_npu_compat.is_needed else []
    folders = [os.path.join(STARTED, name) for name in provided]
    first = [os.path.join(STARTED, "tensorflow")] if _frameworks.is_installed("tensorflow") else []
    sys.path[:] = first + sys.path + folders
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (*first, os.environ.get("PYTHONPATH"), *folders)))
    return provided


def main(arguments, command="run", of_rank=()):
    """of_rank: arguments for the script that its launcher put in front of the options of ascope."""
    line = _program_line(arguments)
    if line:
        return _program.become(line)
    o = _parser(command).parse_args(arguments)
    n_words = 1 + len(o.arguments)
    if arguments[-n_words] != o.script:  # argparse has removed one "--"
        n_words += 1
    words = [o.script, *of_rank] + arguments[len(arguments) - n_words + 1:]
    if not o.is_module and _is_program(o.script):
        return _collect(words, o)
    if not o.is_module and not os.path.exists(o.script):
        print("ascope: %s: no such file; give a Python script, or a program" % o.script, file=sys.stderr)
        return 1
    framework = _frameworks.of_script(o.script, o.is_module) if command != "run" or o.profile else None
    if command != "run" and not o.profile and not framework:
        return _collect([sys.executable] + ["-m"] * o.is_module + words, o)
    if (o.profile or command != "run") and "osrt" in (o.host_sys or []):
        _preload()
    if not o.out and command == "run":
        o.out = OUT[command]
    if o.device:
        os.environ["ASCOPE_DEVICE"] = o.device
    if o.monitor:
        os.environ[_monitor.VARIABLE] = os.path.abspath(o.monitor)
    if o.quiet:
        from ascope.torch import _messages
        _messages.least_severity = _program.least_severity = _core.ERROR
        for name in ("ascope.mindspore", "mindspore"):
            logging.getLogger(name).setLevel(logging.ERROR)
    sys.argv = words
    provided, process = _provide(), os.getpid()
    shows = not o.quiet and os.environ.get("RANK", "0") == "0"  # only the first rank of a job prints results
    if shows:
        _program.take_notes()
        _core.at_exit(functools.partial(_show_results, process))
    sys.excepthook = _shown_as_the_scripts(_path_of_main(o.script))
    if not o.is_module and sys.path and sys.path[0] == os.getcwd():
        del sys.path[0]  # of `python3 -m`; a script has its own directory there
    sys.path.insert(0, os.getcwd() if o.is_module else os.path.dirname(os.path.abspath(o.script)))
    if o.monitor:
        _monitor.monitor()
    prof = None
    is_dynamic = not o.profile and bool(_core.dynamic_state())  # PROF_CONFIG_PATH is set: a file starts the recordings
    if o.profile or command != "run" and not is_dynamic:
        prof = _profiler(o, framework)
        if not o.profile:
            _front_ends.stand_in(prof)
            sys.meta_path[:0] = [_MakingRoom(*row) for package, *row in PROFILERS if package not in provided]
        prof.start()
        _record_processes(o, framework)
    try:
        if o.is_module:
            runpy.run_module(o.script, run_name="__main__", alter_sys=True)
        else:
            _run_script(o.script)
    finally:
        if prof:
            prof.stop()
        if prof and _processes and framework == "torch" and prof._path and not _has_operators(prof._path):
            _forget(prof._path)  # the script only starts the processes that train
        elif prof and o.no_analyse and prof._path and not o.quiet:
            print("recorded: %s; run `ascope analyse` for timeline and tables" % _shown(prof._path), file=_report_file(), flush=True)
        _program.wait_for_all()
        if shows:
            _show_results(process)
    return 0
