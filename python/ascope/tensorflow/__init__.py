# SPDX-License-Identifier: Apache-2.0
"""The TensorFlow front end: what npu_bridge and npu_device configure, recorded by ascope.

`python3 -m ascope run train.py` runs scripts that import npu_bridge or npu_device unchanged. In a program:

    from ascope.tensorflow import NPURunConfig, ProfilingConfig, Profiler, hooked

Configuration classes do no checks of their own, as the vendor's; profiling_options are checked when recording begins: with the first
session, the first run, or npu_device.open(). TensorFlow is not needed: `hooked(function)` makes a run of any function.
"""
from ascope.tensorflow._config import NPURunConfig, ProfilingConfig, npu_resource_init
from ascope.tensorflow._profiler import Profiler
from ascope.tensorflow._recording import DEFAULT_OPTIONS, end, hooked

__all__ = ["DEFAULT_OPTIONS", "NPURunConfig", "Profiler", "ProfilingConfig", "end", "hooked", "npu_resource_init"]
