# SPDX-License-Identifier: Apache-2.0
"""npu_bridge.estimator.npu.npu_config: classes that hold a configuration. As the vendor's, they check nothing."""
from typing import Any, Optional

from ascope.tensorflow import _recording


class ProfilingConfig:
    """Whether to profile, and the options as a JSON text."""

    def __init__(self, enable_profiling: Any = False, profiling_options: Optional[str] = None):
        self._enable_profiling, self._profiling_options = enable_profiling, profiling_options


class NPURunConfig:
    """The configuration of an Estimator: all other parameters are kept, and have no effect."""

    def __init__(self, profiling_config: Optional[ProfilingConfig] = None, session_config: Any = None, **more: Any):
        self.profiling_config, self.session_config = profiling_config, session_config
        vars(self).update(more)
        if profiling_config is not None and profiling_config._enable_profiling:
            _recording.request(profiling_config._profiling_options)


def npu_resource_init(enable_profiling: Any = None, profiling_options: Optional[str] = None, **unused: Any) -> None:
    """npu_bridge.estimator.npu.npu_config of TensorFlow 1: the same without an Estimator."""
    if enable_profiling is not None and not isinstance(enable_profiling, bool):
        raise TypeError("enable_profiling should be bool, but got %s" % type(enable_profiling))
    if not enable_profiling:
        return
    if profiling_options is None:
        raise ValueError("profiling_options must be set when use profiling")
    if profiling_options:
        _recording.request(profiling_options)
    elif _recording.of_environment():
        _recording.request(_recording.of_environment())
