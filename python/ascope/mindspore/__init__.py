# SPDX-License-Identifier: Apache-2.0
"""The MindSpore front end: `from ascope.mindspore import Profiler, schedule, ProfilerLevel, mstx`.

Names of both generations of MindSpore's API are accepted: Profiler and profile, aicore_metrics and aic_metrics, warm_up and warmup,
tensor_board_trace_handler and tensorboard_trace_handler.
"""
from ascope.mindspore.config import (AicoreMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel, _ExperimentalConfig)
from ascope.mindspore.envprofiler import EnvProfiler
from ascope.mindspore.profiler import Profiler, profile, tensor_board_trace_handler, tensorboard_trace_handler
from ascope.mindspore.schedule import Schedule as schedule
from ascope.mindspore.mstx import mstx

__all__ = [
    "tensorboard_trace_handler", "tensor_board_trace_handler", "schedule", "Profiler", "EnvProfiler", "ProfilerLevel", "ProfilerActivity",
    "AicoreMetrics", "ExportType", "HostSystem", "mstx", "_ExperimentalConfig", "profile",
]

EnvProfiler.begin()
