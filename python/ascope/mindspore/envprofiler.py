# SPDX-License-Identifier: Apache-2.0
"""A Profiler that the environment asks for: MS_PROFILER_OPTIONS is a JSON object of its parameters, with `start`: true."""
import json
import os
from typing import Any, Dict, Optional

from ascope import _core
from ascope.mindspore import _log, config
from ascope.mindspore.profiler import Profiler

VARIABLE = "MS_PROFILER_OPTIONS"
ONE = {"profiler_level": config.ProfilerLevel, "aic_metrics": config.AicoreMetrics, "aicore_metrics": config.AicoreMetrics}
SEVERAL = {"activities": config.ProfilerActivity, "host_sys": config.HostSystem, "export_type": config.ExportType}
NOT_HERE = ("schedule", "on_trace_ready", "start")


def _parameters(given: Dict[str, Any]) -> Dict[str, Any]:
    """Replaces words by members of the enums. An invalid word is left out with a warning, which means the default."""
    made = {}
    for name, value in given.items():
        kind = ONE.get(name) or SEVERAL.get(name)
        if name in NOT_HERE:
            continue
        if kind:
            words = [value] if name in ONE else value
            members = [one for word in words for one in kind if one.value == word] if isinstance(words, list) else []
            if not isinstance(words, list) or len(members) != len(words):
                _log.warning("%s: %s: invalid value %s; using the default." % (VARIABLE, name, _log.shown(value)))
                continue
            value = members[0] if name in ONE else members
        made[name] = value
    return made


class EnvProfiler:
    """The Profiler of the environment; `profiler` is None if there is none."""

    profiler: Optional[Profiler] = None

    @classmethod
    def begin(cls) -> None:
        """Starts it if the environment asks for it. Called when the package is imported."""
        text = os.environ.get(VARIABLE)
        if not text:
            return
        try:
            given = json.loads(text)
        except ValueError:
            given = None
        if not isinstance(given, dict) or not given:
            _log.error("Failed to load MS_PROFILER_OPTIONS, json decode error.")
            return
        if given.get("start_profile", given.get("start", False)):
            cls.profiler = Profiler(**dict(_parameters(given), start_profile=True))

    @classmethod
    def analyse(cls) -> None:
        """Ends and analyses it. Called at the end of the program."""
        if cls.profiler is None:
            _log.info("%s: there is no Profiler to analyse." % VARIABLE)
            return
        profiler, cls.profiler = cls.profiler, None
        profiler.analyse()


def _at_exit():
    if EnvProfiler.profiler is not None:
        EnvProfiler.analyse()


_core.at_exit(_at_exit)
