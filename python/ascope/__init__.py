"""ascope: records what a training job does, and makes timelines, tables and databases of it.

``from ascope.torch import profiler, mstx`` is the door for PyTorch.
"""
from ascope import _core

__version__ = _core.version()
__all__ = ["__version__"]
