# SPDX-License-Identifier: Apache-2.0
"""npu_bridge.profiler.profiler: what runs in a scope is recorded."""
from typing import Any, Dict

from ascope.tensorflow import _recording

LEVELS = ["L0", "L1", "L2"]
METRICS = ["ArithmeticUtilization", "L2Cache", "Memory", "MemoryL0", "MemoryUB", "PipeUtilization", "ResourceConflictRatio"]


class Profiler:
    """Profiler(level="L0", aic_metrics="", output_path=""): start() arms it, the next run of a graph begins the recording, stop() ends it.
    Each scope makes its own PROF directory."""

    def __init__(self, *, level: str = "L0", aic_metrics: str = "", output_path: str = ""):
        for name, value in (("level", level), ("aic_metrics", aic_metrics), ("output_path", output_path)):
            if not isinstance(value, str):
                raise ValueError("Option %s should be str, but get type: %s" % (name, type(value)))
        self._level, self._metrics, self._output = level, aic_metrics, output_path

    def start(self) -> None:
        if _recording.is_armed():
            raise RuntimeError("Not support nested call 'profiler.Profiler'.")
        if self._level not in LEVELS:
            raise RuntimeError("Profiler options: level cannot set to: %s, should set level to [%s]." % (self._level, ", ".join(LEVELS)))
        if self._level == "L0" and self._metrics:
            raise RuntimeError("Please use L1 or L2 if you want to collect aic metrics!")
        if self._metrics and self._metrics not in METRICS:
            raise RuntimeError("Profiler options: aic_metrics cannot set to: %s, should set aic_metrics to [%s]." %
                               (self._metrics, ", ".join(METRICS)))
        _recording.arm(self)

    def stop(self) -> None:
        _recording.disarm(self)

    def __enter__(self) -> "Profiler":
        self.start()
        return self

    def __exit__(self, *unused: Any) -> None:
        self.stop()

    def recorder_options(self) -> Dict[str, Any]:
        """The parameters as options of the recorder."""
        metrics = "AiCoreNone" if self._level == "L0" else self._metrics or "PipeUtilization"
        return {"profiler_level": "Level" + self._level[1], "aic_metrics": metrics, "parent_dir": self._output or "./"}
