# SPDX-License-Identifier: Apache-2.0
"""The PyTorch front end: `from ascope.torch import profiler, mstx`."""
from ascope.torch import _nvtx  # first: NVTX looks for its tool once
from ascope.torch import _graphs
from ascope.torch import profiler
from ascope.torch.mstx import mstx

__all__ = ["profiler", "mstx"]
_nvtx.provide()
_graphs.provide()
