# SPDX-License-Identifier: Apache-2.0
"""The session of this process: who asked for it, when it begins and ends, and the runs of graphs in it.

A request (from a configuration class, a session's options, or the environment) waits until a graph runs, as the vendor's engine does;
then the collection is made, in a PROF directory without a directory of the framework. It ends with what asked for it, or with the process.
"""
import functools
import os
from typing import Any, Callable, Dict, List, Optional, Union

from ascope import _core, _front_ends, tensorflow_compat

# The options if profiling is switched on without any.
DEFAULT_OPTIONS = ('{"output":"./","training_trace":"on","task_time":"on","hccl":"on","aicpu":"on",'
                   '"aic_metrics":"PipeUtilization","msproftx":"off"}')
MODEL = 1
OPERATORS_MOST = 10000  # operators of a graph that run on the simulated device
# Operators without a kernel: they compute nothing.
NO_KERNELS = {"Placeholder", "PlaceholderWithDefault", "Const", "NoOp", "Variable", "VariableV2", "VarHandleOp", "Identity", "ReadVariableOp"}


class _State:
    session: Any = None    # _core.Session while this module records
    owner: Any = None      # the object that asked for the recording
    armed: Any = None      # the Profiler whose scope is open
    request: Optional[str] = None  # profiling_options of a configuration class, until a graph runs
    pid: int = 0           # this process while a PROF directory is recorded, also by `ascope record`: runs are marked
    runs: int = 0
    is_sim: bool = False


_state = _State()


def device() -> str:
    return os.environ.get("ASCOPE_DEVICE", "auto")


def of_environment() -> Optional[str]:
    """profiling_options of the environment; None: it does not switch profiling on."""
    for prefix in ("", "GE_"):
        if os.environ.get(prefix + "PROFILING_MODE") == "true":
            return os.environ.get(prefix + "PROFILING_OPTIONS") or DEFAULT_OPTIONS
    return None


def request(options: Union[None, str, bytes]) -> None:
    """Called when a configuration class asks for profiling. "" and None mean the default options."""
    _state.request = options.decode(errors="replace") if isinstance(options, bytes) and options else options or DEFAULT_OPTIONS


def arm(profiler: Any) -> None:
    _state.armed = profiler


def disarm(profiler: Any) -> None:
    _state.armed = None
    end(profiler)


def is_armed() -> bool:
    return _state.armed is not None


def is_recording() -> bool:
    """Whether this process records. A forked process does not take part in the recording of its parent."""
    return _state.pid == os.getpid()


def _begin(owner: Any, options: Dict[str, Any], text: Optional[str]) -> None:
    options = dict({"device": device(), "layout": "prof"}, **options)
    session = _core.Session(options, profiling_options=text)
    session.start()
    _state.session, _state.owner = session, owner


def begin(text: Optional[str] = None, owner: Any = None) -> None:
    """Begins to record if something asked for it: these options, a configuration class, the open Profiler, or the environment. Where the
    vendor's modules are installed, these profile what options and environment ask for. Raises ValueError for options that the vendor's
    checks refuse."""
    of_engine = text or of_environment()
    if of_engine and not _state.request and tensorflow_compat.is_installed():
        _front_ends.make_room()
        return
    asked = text or _state.request or of_environment()
    if is_armed() and asked:
        raise ValueError("The option 'profiling_mode' or env variables 'PROFILING_MODE' cannot be set to true when using 'profiler.Profiler'.")
    if is_armed() or asked:
        _front_ends.make_room()
    if is_recording():
        return
    if is_armed():
        _begin(_state.armed, _state.armed.recorder_options(), None)
    elif asked:
        if not isinstance(asked, str):
            raise ValueError("Value %s for parameter profiling_options is invalid: expected a JSON text, not %s" % (asked, type(asked).__name__))
        try:
            _begin(owner, {}, asked)
        except _core.Error as refused:
            raise ValueError("Value %s for parameter profiling_options is invalid: %s" % (asked, refused)) from None


def end(owner: Any = None) -> Optional[str]:
    """Ends the recording that `owner` began (None: any). Returns the path of the collection, or None."""
    session = _state.session
    if not session or (owner is not None and _state.owner is not owner):
        return None
    _state.session = _state.owner = None
    path = session.path
    if session.is_open:
        session.end()
    return path


def forget_request() -> None:
    _state.request = None


# ---- runs ----

def _recording(is_on: bool, options: Optional[Dict[str, Any]]) -> None:
    _state.pid = os.getpid() if is_on else 0
    if options:
        _state.runs, _state.is_sim = 0, options["device"] == "sim"


_front_ends.on_recording("prof", _recording)


def _launch(graph: Any) -> None:
    """Runs the operators of a graph on the simulated device."""
    for operator in graph.get_operations()[:OPERATORS_MOST]:
        if operator.type not in NO_KERNELS:
            shapes: List[List[int]] = []
            for tensor in operator.inputs:
                dims = tensor.shape.as_list() if tensor.shape.rank is not None else []
                shapes.append([one or 1 for one in dims])
            _core.graph_operator(operator.type, operator.name, shapes)


class Run:
    """A context manager around one run of a graph by a session or a function, which is a step."""

    def __init__(self, name: str, graph: Any = None):
        self.name, self.graph, self.begun = name, graph, 0

    def __enter__(self) -> "Run":
        if is_recording():
            _state.runs += 1
            self.begun = _core.graph_begin(MODEL)
            _core.range_push("%s #%d" % (self.name, _state.runs), "tensorflow")
            if _state.is_sim and self.graph is not None:
                _launch(self.graph)
        return self

    def __exit__(self, *unused: Any) -> None:
        if self.begun:
            _core.range_pop("tensorflow")
            _core.graph_end(MODEL, self.begun, _state.is_sim)


def hooked(function: Callable[..., Any], name: Optional[str] = None) -> Callable[..., Any]:
    """Wraps a function so that each call is a run of a graph. The first run begins the recording if something asked for one."""
    shown = name or str(getattr(function, "__name__", "run"))

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        begin()
        with Run(shown):
            return function(*args, **kwargs)

    return run


_core.at_exit(end)
