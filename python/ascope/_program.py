# SPDX-License-Identifier: Apache-2.0
"""The `ascope` program, in parallel to the training: analysis and exports in a separate process.

Failures do not affect the training: they are reported in one line. Nothing here raises except KeyboardInterrupt.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from ascope import _core

PACKAGE = os.path.dirname(os.path.abspath(__file__))
WITH_LOSSES = 3  # exit code: success, but some records could not be used
COULD_NOT_START = 127
PATIENCE_S = 2  # between SIGTERM and SIGKILL

# {command of the program: function of the front end}, for messages.
FUNCTIONS = {"export-trace": "export_chrome_trace", "export-stacks": "export_stacks", "export-memory-timeline": "export_memory_timeline"}

# Variables of the environment that would make the analysing program record itself.
NOT_FOR_THE_PROGRAM = ("LD_PRELOAD", "ASCOPE_RECORD", "ASCOPE_RECORD_OPTIONS", "MSTX_INJECTION_PATH")

Report = Callable[[int, str], None]
Path = Union[str, "os.PathLike[str]"]
least_severity = _core.WARNING  # less severe messages are not printed


class Result(NamedTuple):
    """Result of a run: exit code, duration, and one line about a problem."""
    code: int
    seconds: float
    text: str = ""
    summary: str = ""  # what an analysis printed

    @property
    def is_done(self) -> bool:
        return self.code in (0, WITH_LOSSES)


def find() -> Optional[str]:
    """Path of the program: $ASCOPE_PROGRAM, that of this package, of the build tree, or in PATH. None: not found."""
    asked = os.environ.get("ASCOPE_PROGRAM")
    if asked:
        return asked
    for path in (os.path.join(PACKAGE, "bin", "ascope"), os.path.join(PACKAGE, "..", "..", "ascope")):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    return shutil.which("ascope")


def find_run_library() -> Optional[str]:
    """Path of libascope-run.so, beside the program or where it is installed with it. None: not found."""
    asked = os.environ.get("ASCOPE_RUN_LIBRARY")
    beside = os.path.dirname(os.path.realpath(find() or os.path.join(PACKAGE, "bin", "ascope")))
    own = sysconfig.get_config_var("MULTIARCH") or "*"  # libraries of other processors may be installed beside it
    for pattern in ("", "..", "../lib*/ascope", "../lib/%s/ascope" % own, "../lib/*/ascope"):
        found = sorted(glob.glob(os.path.join(glob.escape(beside), pattern, "libascope-run.so")))
        if found and not asked:
            return os.path.realpath(found[0])
    return asked


def become(arguments: List[str]) -> int:
    """Replaces this process by the program. Returns only if it cannot be started."""
    program = find()
    if not program:
        print("ascope: the program was not found beside this package or in PATH; reinstall ascope or set ASCOPE_PROGRAM", file=sys.stderr)
        return 1
    sys.stdout.flush()
    try:
        os.execv(program, [program] + arguments)
    except OSError as error:
        print("ascope: %s cannot be started: %s" % (program, error), file=sys.stderr)
    return 1


def print_message(severity: int, text: str) -> None:
    if severity >= least_severity:
        print("ascope:", text, file=sys.stderr, flush=True)


def _is_terminal() -> bool:
    try:
        return os.isatty(2)
    except OSError:
        return False


def _by_python_names(text: str) -> str:
    """Replaces options of the program by the names of the parameters: --max-process-number is max_process_number."""
    return re.sub(r"(?<![\w/-])--([a-z]+(?:-[a-z]+)*)", lambda option: option.group(1).replace("-", "_"), text)


class _Job:
    """One run of the program. On a terminal it draws its own line of progress; otherwise its output is captured."""

    def __init__(self, arguments: List[str], shows: bool):
        program = find()
        self.began = time.monotonic()
        self.what, self.shows = arguments, shows and _is_terminal()
        self.process: Optional["subprocess.Popen[bytes]"] = None
        self.result: Optional[Result] = None
        self.trouble = ""
        if not program:
            self.trouble = "the program ascope was not found beside this package or in PATH; reinstall ascope or set ASCOPE_PROGRAM"
            return
        environment = {name: value for name, value in os.environ.items() if name not in NOT_FOR_THE_PROGRAM}
        try:
            self.process = subprocess.Popen([program] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=None if self.shows else subprocess.PIPE, env=environment,
                                            start_new_session=not shows)
        except (OSError, ValueError) as error:
            self.trouble = "%s cannot be started: %s" % (program, error)

    def wait(self) -> Result:
        if self.result:
            return self.result
        if not self.process:
            self.result = Result(COULD_NOT_START, 0.0, self.trouble)
            return self.result
        summary, said = (part.decode("utf-8", "replace") if part else "" for part in self.process.communicate())
        code, text = self.process.returncode, said.strip().split("\n")[-1].strip()
        if text.startswith("ascope: "):
            text = text[len("ascope: "):]
        if not text and code < 0:
            text = "ended by signal %d" % -code
        elif not text and code not in (0, WITH_LOSSES):
            text = "exit code %d" % code
        self.result = Result(code, time.monotonic() - self.began, text, summary)
        return self.result

    def end(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def report(self, report: Report) -> None:
        result, path = self.wait(), "".join(self.what[1:2])
        of, text = "%s %s: " % (FUNCTIONS.get(self.what[0], self.what[0]), path), _by_python_names(result.text)
        if not result.is_done:
            report(_core.ERROR, of + (text[len(path) + 2:] if text.startswith(path + ": ") else text))  # the path is already in front
        elif result.code == WITH_LOSSES:
            report(_core.WARNING, of + "done with losses; see its log or `ascope info`")


def run(arguments: Iterable[str], report: Report = print_message) -> Result:
    """Runs `ascope ARGUMENTS...` and waits for it, with a line of progress on a terminal. Problems are reported and returned."""
    job = _Job(list(arguments), shows=True)
    try:
        result = job.wait()
    except BaseException:  # the user interrupted it
        job.end()
        raise
    job.report(report)
    return result


# ---- asynchronous analysis ----

_running: Dict[threading.Thread, _Job] = {}
_lock = threading.Lock()


def _see_through(job: _Job, report: Report, done: Optional[Callable[[Result], None]]) -> None:
    try:
        result = job.wait()
        job.report(report)
        if done:
            done(result)
    except Exception as error:  # it must not reach the training
        print_message(_core.ERROR, "analysis: %s" % error)
    finally:
        with _lock:
            _running.pop(threading.current_thread(), None)


def run_beside(arguments: Iterable[str], report: Report = print_message,
               done: Optional[Callable[[Result], None]] = None) -> threading.Thread:
    """Runs `ascope ARGUMENTS...` in parallel; the interpreter waits for it at exit. `report` and `done` are called
    on a separate thread, which is returned."""
    job = _Job(list(arguments), shows=False)
    if job.process:
        try:  # low priority: the training comes first
            os.setpriority(os.PRIO_PROCESS, job.process.pid, 10)
        except OSError:
            pass
    thread = threading.Thread(target=_see_through, args=(job, report, done), name="ascope analysis", daemon=True)
    with _lock:
        _running[thread] = job
    thread.start()
    return thread


def wait_for_all() -> None:
    """Waits until all asynchronous runs have ended; an interrupt ends them."""
    try:
        while True:
            with _lock:
                thread = next(iter(_running), None)
            if not thread:
                return
            thread.join()
            with _lock:
                _running.pop(thread, None)
    except BaseException:
        for job in list(_running.values()):
            job.end()
        raise


def _in_child() -> None:
    global _lock
    _lock = threading.Lock()
    _running.clear()


os.register_at_fork(after_in_child=_in_child)
_core.at_exit(wait_for_all)


# ---- commands ----

analysed: List[Tuple[str, Result]] = []  # collections that this process has analysed, in order
NOTES = "ASCOPE_ANALYSED"  # PID:FILE; processes started by PID append to FILE what they have analysed


def take_notes() -> None:
    """Lets all processes that are started from now on report what they analyse; see analysed_elsewhere()."""
    try:
        file = os.environ.get("ASCOPE_SUPERVISED", "")
        if file:  # `ascope run` removes it, also if this process is killed
            file += ".analysed"
            number = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        else:
            number, file = tempfile.mkstemp(prefix="ascope-analysed-")
        os.close(number)
        os.environ[NOTES] = "%d:%s" % (os.getpid(), file)
    except OSError:  # then their collections are not listed
        pass


def _notes_file(is_ours: bool) -> str:
    owner, _, file = os.environ.get(NOTES, "").partition(":")
    return file if (owner == str(os.getpid())) == is_ours else ""


def _keep(path: str, result: Result) -> None:
    analysed.append((path, result))
    file = _notes_file(is_ours=False)
    if file:
        try:
            with open(file, "ab", buffering=0) as f:
                f.write(json.dumps([os.path.abspath(path), result.code, result.seconds, "", result.summary]).encode() + b"\n")
        except OSError:
            pass


def analysed_elsewhere() -> List[Tuple[str, Result]]:
    """What the started processes have analysed, sorted by path. The second call returns nothing."""
    file = _notes_file(is_ours=True)
    try:
        with open(file, encoding="utf-8") as f:
            found = sorted((path, Result(*rest)) for path, *rest in map(json.loads, f))
        os.remove(file)
        return found
    except (OSError, ValueError, TypeError):
        return []


def analyse(path: Path, export_type: Union[None, str, Iterable[str]] = None, max_process_number: Optional[int] = None,
            waits: bool = True, report: Report = print_message,
            done: Optional[Callable[[Result], None]] = None, more: Iterable[str] = ()) -> Optional[Result]:
    """Writes ASCEND_PROFILER_OUTPUT of a collection, or of all in a directory. Default of export_type: as the collection
    was recorded. With waits=False it returns None at once."""
    arguments = ["analyse", os.fspath(path)]
    if export_type:
        arguments += ["--export-type", export_type if isinstance(export_type, str) else ",".join(export_type)]
    if max_process_number:
        arguments += ["--max-process-number", str(max_process_number)]
    arguments += more
    def ended(result: Result) -> None:
        _keep(os.fspath(path), result)
        if done:
            done(result)

    if not waits:
        run_beside(arguments, report, ended)
        return None
    result = run(arguments, report)
    ended(result)
    return result


def _output(out: str) -> str:
    """A file name as an argument of the program: a name with a leading "-" stays a file name, and /dev/stdout and /dev/fd/N stay those of
    this process."""
    name = os.fsdecode(out)
    alias = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}.get(name, name)
    number = re.fullmatch(r"/(?:dev|proc/self)/fd/([0-9]+)", alias)
    if number:
        return "/proc/%d/fd/%s" % (os.getpid(), number[1])
    return os.path.join(".", name) if name.startswith("-") else name


def is_file_name(out: Path) -> bool:
    """False for an existing file that is not a regular one: a device, a FIFO."""
    name = os.path.expanduser(os.fsdecode(out))
    return os.path.isfile(name) or not os.path.exists(name)


def export_chrome_trace(path: str, out: str, report: Report = print_message) -> Result:
    """The timeline of one directory as a file."""
    return run(["export-trace", os.fspath(path), _output(out)], report)


def export_stacks(path: str, out: str, metric: str = "self_cpu_time_total", report: Report = print_message) -> Result:
    """Call stacks with their times, for flame graphs."""
    return run(["export-stacks", os.fspath(path), _output(out), "--metric", metric], report)


def export_memory_timeline(path: str, out: str, device: Optional[str] = None, report: Report = print_message) -> Result:
    """Memory over time by category."""
    return run(["export-memory-timeline", os.fspath(path), _output(out)] + (["--device", device] if device else []), report)
