# SPDX-License-Identifier: Apache-2.0
"""The flight recorder: it records all the time, and saves the last seconds when something happens.

    with profiler.flight_recorder(seconds=30, memory="256MB", when="step>1.5x") as recorder:
        for batch in loader:
            train_one_step(batch)
            recorder.step()
            if is_strange(loss):
                recorder.save()

Nothing here raises into the training: problems are reported in one line, and the training continues.
"""
import json
import os
import re
from typing import Any, Optional, Union

from ascope import _core
from ascope.torch._messages import error, guarded, info, path_of, shown, warn, why

_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def _bytes(memory):
    """Bytes of a size such as "256MB" or "1GB", or of a number; 0 means the default, with a warning if the value is invalid."""
    if isinstance(memory, int) and not isinstance(memory, bool) and 0 < memory < 1 << 63:
        return memory
    match = re.fullmatch(r"\s*([0-9]{1,9})\s*([KMG]?B)\s*", memory, re.IGNORECASE) if isinstance(memory, str) else None
    if match and int(match[1]) > 0:
        return int(match[1]) * _UNITS[match[2].upper()]
    warn("memory: expected a size such as \"256MB\", got %s; using 256MB" % shown(memory))
    return 0


def _ns(name, seconds, default):
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and 0 < seconds < 1e9:
        return max(int(seconds * 1e9), 1)
    warn("%s: expected a number of seconds, got %s; using %s" % (name, shown(seconds), default))
    return 0


def _signal(number):
    """The number of a signal; 0: none, with a warning if the value is invalid."""
    if number is None:
        return 0
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 1 << 31:
        return int(number)
    warn("signal: expected a number such as signal.SIGUSR2, got %s; no signal saves" % shown(number))
    return 0


def _factor(when):
    """The factor of a condition such as "step>1.5x", here 1.5; 0 if there is none."""
    if when is None:
        return 0.0
    match = re.fullmatch(r"\s*step\s*>\s*([0-9]{1,5}(\.[0-9]{1,3})?)\s*x\s*", when) if isinstance(when, str) else None
    if match and float(match[1]) > 1:
        return float(match[1])
    warn("when: expected \"step>1.5x\" with a number above 1, got %s; slow steps are not saved" % shown(when))
    return 0.0


class flight_recorder:
    """Keeps the last seconds of a recording in bounded memory; save() writes them into a collection while the training continues.

    seconds: how far back; memory: at most ("256MB"); with less than seconds need the oldest records are overwritten first.
    when: "step>1.5x" saves after a step that is longer than 1.5 times the median of the last 100; at most once in `between` seconds.
    signal: a signal that saves, such as signal.SIGUSR2. It must have no handler of the program's.
    dir_name, worker_name: where collections are written, as of tensorboard_trace_handler.
    listen_dir: a directory through which `ascope dyn DIR save` finds the recorder; default: $PROF_CONFIG_PATH.
    All other arguments are those of `profile`. An exception that leaves the `with` block is a reason to save, too.
    """

    def __init__(self, *, seconds: float = 30.0, memory: Union[str, int] = "256MB", when: Optional[str] = None,
                 signal: Optional[int] = None, between: float = 60.0, dir_name: Optional[str] = None,
                 worker_name: Optional[str] = None, listen_dir: Optional[str] = None, **of_profile: Any) -> None:
        from ascope.torch import profiler  # which imports this module
        self._profiler = profiler
        self._asked = profiler._KinetoProfile(**of_profile)
        self._how = {"keep_ns": _ns("seconds", seconds, 30), "memory_bytes": _bytes(memory), "slow_step": _factor(when),
                     "signal": _signal(signal),
                     "between_ns": _ns("between", between, 60) if between != 0 else 1}
        if listen_dir is not None:
            self._how["listen_dir"] = path_of("listen_dir", listen_dir, "not listening") or ""
        self._place = {"parent_dir": path_of("dir_name", dir_name, "using the default directory") if dir_name is not None else None,
                       "worker_name": worker_name}
        self._pid: Optional[int] = None  # the process in which it runs

    def _options(self):
        options = self._asked._options(is_export_only=False)
        for name, value in self._place.items():
            if value is not None:
                options[name] = value
        return options

    def _is_running(self):
        return self._pid == os.getpid()

    @guarded()
    def start(self) -> None:
        """Records from now on."""
        if self._is_running() or self._profiler._has_other_tool():
            return
        self._profiler.make_room()
        if self._profiler.ProfilerActivity.CPU in self._asked.activities or os.environ.get("ASCOPE_DEVICE") == "sim":
            self._profiler._listen(has_steps=True)
        try:
            _core.flight_start(self._options(), **self._how)
        except _core.Error as trouble:
            error("flight_recorder: %s" % trouble)
            return
        self._pid = os.getpid()

    @guarded()
    def step(self) -> None:
        """A step ends, and the next one begins."""
        _core.flight_step()

    @guarded()
    def save(self, last: Optional[float] = None, trigger: str = "call") -> Optional[str]:
        """The last seconds (default: all that is kept) as a collection: its directory, or None with a message."""
        if not self._is_running():
            warn("flight_recorder: save() ignored: it is not running in this process")
            return None
        try:
            path = _core.flight_save(_ns("last", last, "all that is kept") if last is not None else 0, trigger)
        except _core.Error as trouble:
            error("flight_recorder: not saved: %s" % trouble)
            return None
        info("flight_recorder: saved to %s" % path)
        return path

    @guarded()
    def add_metadata_json(self, key: str, value: str) -> None:
        """A JSON value for profiler_metadata.json of each save."""
        _core.flight_metadata(key, value)

    def add_metadata(self, key: str, value: str) -> None:
        """A text for profiler_metadata.json of each save."""
        self.add_metadata_json(key, json.dumps(value))

    @property
    def saved(self) -> Optional[str]:
        """The directory of the last save, whatever triggered it; None: there is none yet."""
        return _core.flight_saves()[1] or None

    @guarded()
    def stop(self) -> None:
        """Ends the recording. What was saved stays."""
        if self._is_running():
            self._pid = None
            _core.flight_stop()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, unused):
        if value is not None and isinstance(value, Exception) and self._is_running():
            self.save(trigger="exception %s" % why(value))
        self.stop()
