# SPDX-License-Identifier: Apache-2.0
"""`import ascope.mindspore_compat` provides the module `mindspore` with its profiler if it is not installed.

Scripts that say `from mindspore import Profiler` or `from mindspore.profiler import ...` run unchanged as far as the profiler is concerned:
`mindspore.profiler` is `ascope.mindspore`, `mindspore.train.Callback`, `mindspore.context` and `mindspore.log` are the smallest that such scripts need. Everything
else raises AttributeError. If MindSpore is installed, this does nothing.
"""
import importlib
import importlib.util
import logging
import sys

from ascope import _core
from ascope._front_ends import provided_module
from ascope.mindspore import callbacks

# {module of MindSpore's profiler: the module of the front end that replaces it}.
MODULES = {
    "mindspore.profiler": "ascope.mindspore",
    "mindspore.profiler.profiler": "ascope.mindspore.profiler",
    "mindspore.profiler.schedule": "ascope.mindspore.schedule",
    "mindspore.profiler.mstx": "ascope.mindspore.mstx",
    "mindspore.profiler.envprofiler": "ascope.mindspore.envprofiler",
    "mindspore.profiler.dynamic_profiler": "ascope.mindspore.dynamic_profiler",
    "mindspore.profiler.experimental_config": "ascope.mindspore.config",
    "mindspore.profiler.profiler_interface": "ascope.mindspore.profiler_interface",
    "mindspore.profiler.profiler_action_controller": "ascope.mindspore.profiler_action_controller",
}


class Callback:
    """The base class of callbacks, with a function for each event of a training: on_train_step_begin() calls step_begin()."""

    def __init_subclass__(cls, **more):
        super().__init_subclass__(**more)
        callbacks.watch(cls)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass


for _event in ("begin", "epoch_begin", "epoch_end", "step_begin", "step_end", "end"):
    setattr(Callback, _event, lambda self, run_context: None)
    for _prefix in ("on_train_", "on_eval_"):
        setattr(Callback, _prefix + _event, lambda self, run_context, event=_event: getattr(self, event)(run_context))
callbacks.watch(Callback)


def _absent(name):
    raise AttributeError("mindspore.%s: not available without MindSpore" % name)


def _log():
    log, logger = provided_module("mindspore.log", "Python's logging."), logging.getLogger("mindspore")
    for name in ("debug", "info", "warning", "error", "critical"):
        setattr(log, name, getattr(logger, name))
    return log


def _context():
    """Settings of a script: they can be read back, and have no effect."""
    context, known = provided_module("mindspore.context", _context.__doc__), {"device_target": "Ascend", "device_id": None, "mode": 1}
    context.GRAPH_MODE, context.PYNATIVE_MODE = 0, 1
    context.set_context = lambda **given: known.update(given)
    context.get_context = known.get
    return context


def provide():
    """Creates the missing module."""
    package = provided_module("mindspore", __doc__, [])
    train = provided_module("mindspore.train", "Callbacks.")
    train.Callback = Callback
    package.train, package.log, package.context, package.__version__ = train, _log(), _context(), "ascope " + _core.version()
    for name in ("set_context", "get_context", "GRAPH_MODE", "PYNATIVE_MODE"):
        setattr(package, name, getattr(package.context, name))
    sys.modules.update({"mindspore": package, "mindspore.train": train, "mindspore.log": package.log, "mindspore.context": package.context})
    for name, ours in MODULES.items():
        sys.modules[name] = importlib.import_module(ours)
    package.profiler = sys.modules["mindspore.profiler"]
    package.Profiler = package.profiler.Profiler
    package.__getattr__ = _absent


def _is_installed():
    if "mindspore" in sys.modules:
        return True
    try:
        return importlib.util.find_spec("mindspore") is not None
    except (ImportError, ValueError):
        return False


is_needed = not _is_installed()
if is_needed:
    provide()
