# SPDX-License-Identifier: Apache-2.0
"""Operators of captured CUDA graphs: while torch.cuda.CUDAGraph captures, CUPTI reports its nodes, and each is of the operator that
is open on its thread (include/ascope/graph.h). Recordings of replays have it later.

Nothing is watched, and nothing costs time, outside of captures. A problem is reported in one line, and the capture goes on.
"""
import ctypes
import functools
import importlib.util
import linecache
import os
import re
import sys
import threading

from ascope import _core, _modules
from ascope.torch import _build
from ascope.torch._messages import warn

PLACE = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)
SEPARATOR = "\x1f"
MODULES_MOST, STACK_MOST, COMMENTS_MOST, CALLERS_MOST = 4000, 11000, 60, 10
_SOURCES = re.compile(r"#.*Original ATen: \[([^\]]*)\]")
_OWN = os.path.dirname(os.path.abspath(__file__))

_open = {}  # id of a graph: what puts back what was replaced when its capture began
_inputs = threading.local()  # .of: tensors of the kernel that inductor launches now
_kept = []  # what C calls: functions must outlive a capture of another thread
_names = {}  # id of an outermost module that is in a frame now: names of all modules in it, by their ids
_reported = False


def _module_codes():
    module = sys.modules["torch"].nn.Module
    return {getattr(module, name).__code__ for name in ("_call_impl", "__call__") if hasattr(getattr(module, name, None), "__code__")}


def _hierarchy(modules):
    """"Model.layers.0.attention" of the modules that are being called, innermost first."""
    if not modules:
        return ""
    outermost = modules[-1]
    if id(outermost) not in _names:
        _names.clear()
        _names[id(outermost)] = {id(one): name for name, one in outermost.named_modules()}
    name = _names[id(outermost)].get(id(modules[0]), "") or (type(modules[0]).__name__ if modules[0] is not outermost else "")
    return type(outermost).__name__ + ("." + name if name else "")


def _sources(frame):
    """The operators that a kernel of inductor was made of: its generated code has them in a comment above the call."""
    for _ in range(CALLERS_MOST):
        for line in range(frame.f_lineno if frame else 0, max(frame.f_lineno - COMMENTS_MOST, 0) if frame else 0, -1):
            found = _SOURCES.search(linecache.getline(frame.f_code.co_filename, line))
            if found:
                return found.group(1)
        frame = frame and frame.f_back
    return ""


def _where(name):
    codes = _module_codes()
    modules, stack, first = [], [], sys._getframe(1)
    while first and (first.f_code.co_filename.startswith(_OWN) or first.f_code.co_filename.endswith("_dynamo/eval_frame.py")):
        first = first.f_back  # this callback, and what keeps dynamo from compiling it
    frame, size = first, 0
    while frame:
        code = frame.f_code
        if code in codes:
            module = frame.f_locals.get("self")
            if module is not None and (not modules or modules[-1] is not module):
                modules.append(module)
        if size < STACK_MOST and not code.co_filename.startswith(_OWN):
            stack.append("%s(%d): %s" % (code.co_filename, frame.f_lineno, code.co_name))
            size += len(stack[-1]) + 1
        frame = frame.f_back
    tensors = getattr(_inputs, "of", None)
    parts = [name, _hierarchy(modules)[:MODULES_MOST], ";".join(stack)]
    if tensors is not None:
        sources = _sources(first)
        parts[0] += " [%s]" % sources if sources else ""
        parts += [";".join(_modules.TYPES.get(str(t.dtype).rpartition(".")[2], "") for t in tensors),
                  ";".join(",".join(map(str, t.shape)) for t in tensors)]
    return SEPARATOR.join(parts)


class _Launch:
    """A launch of a kernel by inductor, as an operator. Whatever happens in here, the launch goes on."""

    def __init__(self, name, values):
        of = values if isinstance(values, (list, tuple)) else ()
        self._name, self._tensors, self._range = name, [one for one in of if hasattr(one, "shape")], None

    def __enter__(self):
        try:
            _inputs.of = self._tensors
            self._range = sys.modules["torch"].autograd.profiler.record_function(self._name)
            self._range.__enter__()
        except Exception:
            self._range = None
        finally:
            _inputs.of = None

    def __exit__(self, *raised):
        if self._range:
            self._range.__exit__(None, None, None)


def _launches(function):
    """In the place of _RecordFunctionFast, which passes launches of inductor to PyTorch's own profiler alone."""

    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        name = args[0] if args else kwargs.get("name", "")
        if not isinstance(name, str) or not name.startswith("triton_"):
            return function(*args, **kwargs)
        return _Launch(name, args[1] if len(args) > 1 else kwargs.get("input_values"))

    return call


def _place(name, out, most):
    try:
        text = _where(name.decode("utf-8", "replace")).encode("utf-8", "replace")[:most]
        ctypes.memmove(out, text, len(text))
        return len(text)
    except Exception:  # the operator is recorded without it
        return 0


def _inductor_reports(torch):
    """Makes inductor report its kernels. Returns what ends that."""
    profiler, records = torch.autograd.profiler, getattr(torch._C, "_profiler", None)
    if getattr(profiler, "_is_profiler_enabled", None) is not False or not hasattr(records, "_RecordFunctionFast"):
        return None  # a profiler runs, or this is an old version
    was, profiler._is_profiler_enabled = records._RecordFunctionFast, True
    records._RecordFunctionFast = _launches(was)

    def ends():
        profiler._is_profiler_enabled, records._RecordFunctionFast = False, was

    return ends


def _begin(graph):
    """Before a capture. True: it is watched."""
    global _reported  # pylint: disable=global-statement
    try:
        torch = sys.modules["torch"]
        if not _core.graph_watch(True):
            return None
        listener = _build.load(announces=True)
        dynamo = sys.modules.get("torch._dynamo")  # which would compile the callback while its own frames run
        if not _kept or (dynamo and len(_kept) == 1):
            _kept.append(PLACE(dynamo.disable(_place) if dynamo else _place))
        listener.ascope_torch_graph(ctypes.cast(_kept[-1], ctypes.c_void_p), True)
        _open[id(graph)] = _inductor_reports(torch)
    except Exception as trouble:
        _core.graph_watch(False)
        if not _reported:
            _reported = True
            warn("captured graphs: %s; kernels of their replays have no operator" % trouble)
    return None


def _end(graph):
    if id(graph) not in _open:
        return
    ends = _open.pop(id(graph))
    if ends:
        ends()
    _names.clear()
    _build.loaded().ascope_torch_graph(None, False)
    _core.graph_watch(False)


def _around(function, begins, ends):
    @functools.wraps(function)
    def call(self, *args, **kwargs):
        if begins:
            _begin(self)
        is_well = False
        try:
            result = function(self, *args, **kwargs)
            is_well = True
            return result
        finally:
            if ends or not is_well:
                _end(self)

    return call


def watch(graphs):
    """Replaces what begins and ends a capture in torch.cuda.graphs, once."""
    cls = getattr(graphs, "CUDAGraph", None)
    if not cls or hasattr(cls, "_ascope_is_watched") or not hasattr(cls, "capture_begin"):
        return
    cls._ascope_is_watched = True
    cls.capture_begin = _around(cls.capture_begin, True, False)
    cls.capture_end = _around(cls.capture_end, False, True)
    if hasattr(cls, "instantiate"):  # of a graph that is kept, whose capture has ended: its nodes are copied now
        cls.instantiate = _around(cls.instantiate, True, True)


class _Watching:
    """An import hook: PyTorch may be imported later."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch.cuda.graphs":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and hasattr(spec.loader, "exec_module"):
            execute = spec.loader.exec_module

            def executed(module):
                execute(module)
                watch(module)

            spec.loader.exec_module = executed
        return spec


def provide():
    if "torch.cuda.graphs" in sys.modules:
        watch(sys.modules["torch.cuda.graphs"])
    elif not any(isinstance(one, _Watching) for one in sys.meta_path):
        sys.meta_path.insert(0, _Watching())
