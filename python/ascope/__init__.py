# SPDX-License-Identifier: Apache-2.0
"""ascope: a profiler for AI training and inference on Ascend NPUs, on NVIDIA GPUs, or without a device.

``from ascope.torch import profiler, mstx`` is the PyTorch front end, ``from ascope.mindspore import Profiler`` that of MindSpore,
``ascope.tensorflow`` that of TensorFlow. ``ascope.request(id)`` marks a request of an inference server.
``ascope.monitor(DIR)`` records each step, always, for ``ascope top DIR``.
``ascope.open(PATH)`` has a recording as data, ``ascope.compare()`` and ``ascope.cluster()`` answers.
"""
from multiprocessing import util as _util
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

try:
    from ascope import _core
except ImportError as why:
    from ascope._interpreter import no_core
    raise no_core(why) from None
from ascope._monitor import monitor
from ascope._request import request

if _TYPE_CHECKING:
    from ascope._columns import UNKNOWN, Table
    from ascope._runs import Error, Run, cluster, compare, open

__version__ = _core.version()
__all__ = ["__version__", "UNKNOWN", "Error", "Run", "Table", "cluster", "compare", "monitor", "open", "request"]

# Processes forked by multiprocessing exit without the interpreter's exit handlers; multiprocessing has its own.
_util.register_after_fork(_core, lambda core: _util.Finalize(None, core._close, exitpriority=-100))


def __getattr__(name: str) -> _Any:
    """What reads recordings is loaded when it is used: programs that are recorded do not need it."""
    if name in ("UNKNOWN", "Table"):
        from ascope import _columns
        return getattr(_columns, name)
    if name in ("Error", "Run", "cluster", "compare", "open"):
        from ascope import _runs
        return getattr(_runs, name)
    raise AttributeError("module 'ascope' has no attribute %r" % name)
