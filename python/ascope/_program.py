"""The `ascope` program, run beside the training: analysis and exports in a process of their own.

What goes wrong there cannot harm the training: it is told in one line. Nothing here raises but KeyboardInterrupt.
"""
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from ascope import _core

PACKAGE = os.path.dirname(os.path.abspath(__file__))
WITH_LOSSES = 3  # exit code: done, but some records could not be used
COULD_NOT_START = 127
PATIENCE_S = 2  # with a program that was asked to end

# What would make a recorded program of the one that analyses.
NOT_FOR_THE_PROGRAM = ("LD_PRELOAD", "ASCOPE_RECORD", "ASCOPE_RECORD_OPTIONS", "MSTX_INJECTION_PATH")

Tell = Callable[[int, str], None]


class Outcome(NamedTuple):
    """How a run ended: its exit code, how long it took, and one line that says what was wrong."""
    code: int
    seconds: float
    text: str = ""
    summary: str = ""  # of an analysis

    @property
    def is_done(self) -> bool:
        return self.code in (0, WITH_LOSSES)


def find() -> Optional[str]:
    """The program: $ASCOPE_PROGRAM, the one of this package, the one of the build tree, the one in PATH. None: there is none."""
    asked = os.environ.get("ASCOPE_PROGRAM")
    if asked:
        return asked
    for path in (os.path.join(PACKAGE, "bin", "ascope"), os.path.join(PACKAGE, "..", "..", "ascope")):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.normpath(path)
    return shutil.which("ascope")


def _print(severity: int, text: str) -> None:
    if severity > _core.INFO:
        print("ascope:", text, file=sys.stderr, flush=True)


def _is_terminal() -> bool:
    try:
        return os.isatty(2)
    except OSError:
        return False


def _by_python_names(text: str) -> str:
    """Options of the program as the parameters that they come from: --max-process-number is max_process_number."""
    return re.sub(r"(?<![\w/-])--([a-z]+(?:-[a-z]+)*)", lambda option: option.group(1).replace("-", "_"), text)


class _Job:
    """One run of the program. On a terminal it draws its own line of progress there; otherwise what it says is read."""

    def __init__(self, arguments: List[str], shows: bool):
        program = find()
        self.began = time.monotonic()
        self.what, self.shows = arguments, shows and _is_terminal()
        self.process, self.outcome, self.trouble = None, None, ""
        if not program:
            self.trouble = "the program ascope is not installed beside this package, nor in PATH"
            return
        environment = {name: value for name, value in os.environ.items() if name not in NOT_FOR_THE_PROGRAM}
        try:
            self.process = subprocess.Popen([program] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=None if self.shows else subprocess.PIPE, env=environment,
                                            start_new_session=not shows)
        except (OSError, ValueError) as error:
            self.trouble = "%s cannot be started: %s" % (program, error)

    def wait(self) -> Outcome:
        if self.outcome:
            return self.outcome
        if not self.process:
            self.outcome = Outcome(COULD_NOT_START, 0.0, self.trouble)
            return self.outcome
        summary, said = (part.decode("utf-8", "replace") if part else "" for part in self.process.communicate())
        said = said.strip().split("\n")
        code, text = self.process.returncode, said[-1].strip()
        if text.startswith("ascope: "):
            text = text[len("ascope: "):]
        if not text and code < 0:
            text = "it was ended by signal %d" % -code
        elif not text and code not in (0, WITH_LOSSES):
            text = "it ended with exit code %d" % code
        self.outcome = Outcome(code, time.monotonic() - self.began, text, summary)
        return self.outcome

    def end(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def tell(self, tell: Tell) -> None:
        outcome = self.outcome
        if not outcome.is_done:
            tell(_core.ERROR, "%s: %s" % (" ".join(self.what[:2]), _by_python_names(outcome.text)))
        elif outcome.code == WITH_LOSSES:
            tell(_core.WARNING, "%s: done, with losses, which its log and `ascope info` tell" % " ".join(self.what[:2]))


def run(arguments: Iterable[str], tell: Tell = _print) -> Outcome:
    """Runs `ascope ARGUMENTS...` and waits for it, with a line of progress on a terminal. Trouble is told, and in the outcome."""
    job = _Job(list(arguments), shows=True)
    try:
        job.wait()
    except BaseException:  # the user does not want to wait
        job.end()
        raise
    job.tell(tell)
    return job.outcome


# ---- analysis that nobody waits for ----

_running: Dict[threading.Thread, _Job] = {}
_lock = threading.Lock()


def _see_through(job: _Job, tell: Tell, done: Optional[Callable[[Outcome], None]]) -> None:
    try:
        outcome = job.wait()
        job.tell(tell)
        if done:
            done(outcome)
    except Exception as error:  # whatever it is, it is not the training's
        _print(_core.ERROR, "analysis: %s" % error)
    finally:
        with _lock:
            _running.pop(threading.current_thread(), None)


def run_beside(arguments: Iterable[str], tell: Tell = _print,
               done: Optional[Callable[[Outcome], None]] = None) -> threading.Thread:
    """Runs `ascope ARGUMENTS...` while the program goes on; the interpreter waits for it when it ends. `tell` and `done` are called
    on a thread of their own, which is returned."""
    job = _Job(list(arguments), shows=False)
    if job.process:
        try:  # the training comes first
            os.setpriority(os.PRIO_PROCESS, job.process.pid, 10)
        except OSError:
            pass
    thread = threading.Thread(target=_see_through, args=(job, tell, done), name="ascope analysis", daemon=True)
    with _lock:
        _running[thread] = job
    thread.start()
    return thread


def wait_for_all() -> None:
    """Until everything that runs beside has ended; who interrupts it ends it."""
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


# ---- what it is asked for ----

analysed: List[Tuple[str, Outcome]] = []  # by this process, in their order


def analyse(path: str, export_type: Union[None, str, Iterable[str]] = None, max_process_number: Optional[int] = None,
            waits: bool = True, tell: Tell = _print,
            done: Optional[Callable[[Outcome], None]] = None) -> Optional[Outcome]:
    """ASCEND_PROFILER_OUTPUT of a `*_ascend_pt` directory, or of all in a directory. Without an export_type as the collection was
    set up. With waits=False it returns None at once."""
    arguments = ["analyse", os.fspath(path)]
    if export_type:
        arguments += ["--export-type", export_type if isinstance(export_type, str) else ",".join(export_type)]
    if max_process_number:
        arguments += ["--max-process-number", str(max_process_number)]
    def ended(outcome: Outcome) -> None:
        analysed.append((os.fspath(path), outcome))
        if done:
            done(outcome)

    if not waits:
        run_beside(arguments, tell, ended)
        return None
    outcome = run(arguments, tell)
    ended(outcome)
    return outcome


def _output(out: str) -> str:
    """A name as the program takes it: one that begins with "-" is a file's, and a descriptor is one of this process."""
    name = os.fsdecode(out)
    alias = {"/dev/stdout": "/dev/fd/1", "/dev/stderr": "/dev/fd/2"}.get(name, name)
    number = re.fullmatch(r"/(?:dev|proc/self)/fd/([0-9]+)", alias)
    if number:
        return "/proc/%d/fd/%s" % (os.getpid(), number[1])
    return os.path.join(".", name) if name.startswith("-") else name


def is_file_name(out: str) -> bool:
    """False for what is there and no plain file: a device, a FIFO."""
    name = os.path.expanduser(os.fsdecode(out))
    return os.path.isfile(name) or not os.path.exists(name)


def export_chrome_trace(path: str, out: str, tell: Tell = _print) -> Outcome:
    """The timeline of one directory as a file."""
    return run(["export-trace", os.fspath(path), _output(out)], tell)


def export_stacks(path: str, out: str, metric: str = "self_cpu_time_total", tell: Tell = _print) -> Outcome:
    """Call stacks with their times, for flame graphs."""
    return run(["export-stacks", os.fspath(path), _output(out), "--metric", metric], tell)


def export_memory_timeline(path: str, out: str, device: Optional[str] = None, tell: Tell = _print) -> Outcome:
    """Memory by what it was used for."""
    return run(["export-memory-timeline", os.fspath(path), _output(out)] + (["--device", device] if device else []), tell)
