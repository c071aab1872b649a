# SPDX-License-Identifier: Apache-2.0
"""ascope: a profiler for AI training and inference on Ascend NPUs, on NVIDIA GPUs, or without a device.

``from ascope.torch import profiler, mstx`` is the PyTorch front end, ``from ascope.mindspore import Profiler`` that of MindSpore,
``ascope.tensorflow`` that of TensorFlow. ``ascope.request(id)`` marks a request of an inference server.
"""
from multiprocessing import util as _util

from ascope import _core
from ascope._request import request

__version__ = _core.version()
__all__ = ["__version__", "request"]

# Processes forked by multiprocessing exit without the interpreter's exit handlers; multiprocessing has its own.
_util.register_after_fork(_core, lambda core: _util.Finalize(None, core._close, exitpriority=-100))
