# SPDX-License-Identifier: Apache-2.0
"""The MindSpore front end: `from ascope.mindspore import Profiler, schedule, ProfilerLevel, mstx`.

Names of both generations of MindSpore's API are accepted: Profiler and profile, aicore_metrics and aic_metrics, warm_up and warmup,
tensor_board_trace_handler and tensorboard_trace_handler.
"""
from typing import Any

from ascope.mindspore.config import (AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel, _ExperimentalConfig)
from ascope.mindspore.envprofiler import EnvProfiler
from ascope.mindspore.profiler import Profiler, profile, tensor_board_trace_handler, tensorboard_trace_handler
from ascope.mindspore.schedule import Schedule as schedule
from ascope.mindspore.mstx import mstx

__all__ = [
    "tensorboard_trace_handler", "tensor_board_trace_handler", "schedule", "Profiler", "EnvProfiler", "ProfilerLevel", "ProfilerActivity",
    "AicoreMetrics", "ExportType", "HostSystem", "DynamicProfilerMonitor", "mstx", "_ExperimentalConfig", "profile",
]


def __getattr__(name: str) -> Any:
    """Callbacks are MindSpore's, if that is imported when they are asked for."""
    if name == "StepCounter":
        from ascope.mindspore import callbacks
        globals()[name] = callbacks.counter()
        return globals()[name]
    if name != "DynamicProfilerMonitor":
        raise AttributeError("module %s has no attribute %s" % (__name__, name))
    from ascope.mindspore.dynamic_profiler import DynamicProfilerMonitor
    return DynamicProfilerMonitor


EnvProfiler.begin()
