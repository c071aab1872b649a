"""ascope: records what a training job does, and makes timelines, tables and databases of it.

``from ascope.torch import profiler, mstx`` is the door for PyTorch.
"""
from multiprocessing import util as _util

from ascope import _core

__version__ = _core.version()
__all__ = ["__version__"]

# Processes that multiprocessing has forked end without the interpreter's handlers; they have handlers of their own.
_util.register_after_fork(_core, lambda core: _util.Finalize(None, core._close, exitpriority=-100))
