# SPDX-License-Identifier: Apache-2.0
"""Recordings as data: ascope.open(), and the answers of `ascope why`, `advise`, `compare` and `cluster` as dictionaries.

The program `ascope` reads the recording, in a process of its own: a damaged file cannot harm this one.
"""
import json
import os
import subprocess
import tempfile
import threading
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from ascope import _columns, _program

if TYPE_CHECKING:
    from ascope import _types

Path = Union[str, "os.PathLike[str]"]
_WITH_LOSSES = 3
_LATER = ("calls", "python")  # large, and rarely wanted: read when they are asked for
_FIRST = ("ranks", "steps", "kernels", "collectives", "copies", "operators", "ranges", "memory")


class Error(RuntimeError):
    """What ascope says of why it cannot do something."""


class Rows(List[Tuple[Any, ...]]):
    """The rows of a statement, with the names of their columns."""
    columns: List[str]
    is_cut: bool  # there are more rows than the limit

    def to_pandas(self) -> Any:
        import pandas
        return pandas.DataFrame(list(self), columns=self.columns)


class _Said(NamedTuple):
    out: bytes
    problems: List[str]  # what is missing from the answer


def _run(words: Sequence[str], text: Optional[str] = None, files: Sequence[int] = ()) -> _Said:
    program = _program.find()
    if not program:
        raise Error("the program ascope was not found; set ASCOPE_PROGRAM, or add it to PATH")
    environment = {name: value for name, value in os.environ.items() if name not in _program.NOT_FOR_THE_PROGRAM}
    r = subprocess.run([program, *words], input=(text or "").encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, pass_fds=files)
    said = r.stderr.decode("utf-8", "replace").splitlines()
    if r.returncode not in (0, _WITH_LOSSES):
        raise Error("\n".join(line.replace("ascope: ", "", 1) for line in said) or "ascope %s: exit code %d" % (words[0], r.returncode))
    return _Said(r.stdout, [line.replace("ascope: ", "", 1) for line in said])


def _report(command: str, *words: str, options: Sequence[Tuple[str, Any]] = ()) -> "_types.Report":
    given = [part for name, value in options if value is not None for part in (name, str(value))]
    report: "_types.Report" = json.loads(_run([command, "--json", "--quiet", *given, *words]).out)
    return report


class Run:
    """A recording, or several, with the ranks of a job: tables whose columns are not copied, SQL, and answers.

    Tables: ranks, steps, kernels, collectives, copies, calls, operators, ranges, python, memory (docs/sql.md).
    """
    paths: List[str]
    problems: List[str]  # what could not be read, a line each

    if TYPE_CHECKING:
        ranks: "_types.RanksTable"
        steps: "_types.StepsTable"
        kernels: "_types.KernelsTable"
        collectives: "_types.CollectivesTable"
        copies: "_types.CopiesTable"
        calls: "_types.CallsTable"
        operators: "_types.OperatorsTable"
        ranges: "_types.RangesTable"
        python: "_types.PythonTable"
        memory: "_types.MemoryTable"

    def __init__(self, paths: Sequence[Path], steps_by: Optional[str] = None, memory_limit: Optional[str] = None) -> None:
        self.paths = [os.fspath(path) for path in paths]
        self._options = [("--steps-by", steps_by), ("--memory-limit", memory_limit)]
        self._lock = threading.Lock()
        self._tables: Dict[str, _columns.Table] = {}
        self.problems = self._load(_FIRST)

    def _words(self) -> List[str]:
        return [part for name, value in self._options if value is not None for part in (name, value)] + self.paths

    def _load(self, names: Sequence[str]) -> List[str]:
        with tempfile.TemporaryFile() as file:
            said = _run(["sql", "--quiet", "--columns", "/dev/fd/%d" % file.fileno(), "--tables", ",".join(names), *self._words()], files=[file.fileno()])
            self._tables.update(_columns.read(file.fileno()))
        return said.problems

    def table(self, name: str) -> _columns.Table:
        if name not in _FIRST + _LATER:
            raise KeyError(name)
        with self._lock:
            if name not in self._tables:
                self._load([name])
            return self._tables[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _FIRST + _LATER:
            raise AttributeError("a run has no %s" % name)
        return self.table(name)

    def __repr__(self) -> str:
        return "<ascope run %s: %d ranks, %d steps, %d kernels>" % (", ".join(self.paths), len(self.table("ranks")), len(self.table("steps")), len(self.table("kernels")))

    def sql(self, statement: str, limit: int = 10000) -> Rows:
        """The rows of a statement over all tables of docs/sql.md; limit 0: all."""
        said = _run(["sql", "--json", "--quiet", "--limit", str(limit), *self._words()], statement.rstrip().rstrip(";") + ";")
        answer = json.loads(said.out)["queries"][0]
        rows = Rows(map(tuple, answer["rows"]))
        rows.columns, rows.is_cut = answer["columns"], answer["is_cut"]
        return rows

    def why(self, step: Union[int, str, None] = None, rank: Optional[int] = None, top: int = 5) -> "_types.Why":
        """Why a step or a rank is slow, as `ascope why --json`."""
        answer = _report("why", *self._words(), options=[("--step", step), ("--rank", rank), ("--top", top)])["answers"][0]
        return answer

    def advise(self) -> "List[_types.Advice]":
        """What to change, largest gain first, as `ascope advise --json`."""
        advice = _report("advise", *self._words())["advice"]
        return advice


def open(*paths: Path, steps_by: Optional[str] = None, memory_limit: Optional[str] = None) -> Run:  # as in ascope.open()
    """Opens a recording: a collection, results, a trace, a database, or a directory with those of the ranks of a job."""
    if not paths:
        raise TypeError("open() needs a path")
    return Run(paths, steps_by, memory_limit)


def _path_of(run: Union[Run, Path]) -> str:
    if not isinstance(run, Run):
        return os.fspath(run)
    if len(run.paths) != 1:
        raise ValueError("a run of one path is compared")
    return run.paths[0]


def compare(a: Union[Run, Path], b: Union[Run, Path], top: int = 5) -> "_types.Comparison":
    """What changed from a to b, and what is noise, as `ascope compare --json`."""
    return _report("compare", _path_of(a), _path_of(b), options=[("--top", top)])["comparisons"][0]


def cluster(directory: Union[Run, Path], ranks: Optional[str] = None) -> "_types.Report":
    """Verdicts about the ranks, steps and links of a job, as `ascope cluster -m verdicts --json`; its files are not kept."""
    with tempfile.TemporaryDirectory(prefix="ascope-") as out:
        return _report("cluster", _path_of(directory), options=[("--mode", "verdicts"), ("--out", out), ("--ranks", ranks)])
