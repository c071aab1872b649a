# SPDX-License-Identifier: Apache-2.0
"""The profiler of `ascope record` for scripts of MindSpore and of TensorFlow: a session from the start of a script to its end.

What a script's own profiler records takes precedence: this one gives way to it, as that of PyTorch does.
"""
import os
from typing import Any, Callable, Dict, Optional

from ascope import _core, _front_ends, _program


class WholeScript:
    """A profiler that records a whole script. options: those of the recorder."""

    def __init__(self, options: Dict[str, Any], is_analysed: bool, report: _front_ends.Report,
                 on_start: Optional[Callable[[_core.Session], None]] = None) -> None:
        self._options, self._is_analysed, self._report, self._on_start = options, is_analysed, report, on_start
        self._session: Optional[_core.Session] = None
        self._path: Optional[str] = None

    def start(self) -> None:
        _front_ends.receive(self._report)
        try:
            self._session = _core.Session(self._options)
            self._session.start()
            self._path = self._session.path
            if self._on_start:
                self._on_start(self._session)
        except _core.Error as trouble:
            self._report(_core.ERROR, "%s; the script runs without a recording" % trouble)

    def stop(self) -> None:
        """Completes the collection, and analyses it."""
        session, self._session = self._session, None
        if session is None or not session.is_open:  # this is the copy of a forked process
            return
        try:
            session.end()
        except _core.Error as trouble:
            self._report(_core.ERROR, str(trouble))
        if self._path and self._is_analysed:
            _program.analyse(self._path, report=self._report)

    def _give_way(self) -> None:
        session, self._session, self._path = self._session, None, None
        if session is not None and session.is_open:
            path = session.path or ""
            session.discard()
            _front_ends.remove_parent(path)
            self._report(_core.INFO, "the program has a profiler of its own, which records from now on")


def _place(asked: Optional[str]) -> str:
    work = os.environ.get("ASCEND_WORK_PATH")
    return os.path.abspath(asked or (os.path.join(work, "profiling_data") if work else os.curdir))


def of_tensorflow(given: Dict[str, Any], out: Optional[str], worker_name: Optional[str], is_analysed: bool) -> WholeScript:
    """Records a PROF directory. Each run of a session or function is a step."""
    from ascope.tensorflow import _recording  # its import registers the marks of these runs
    options = dict(given, layout="prof", training_trace=True, device=_recording.device(), parent_dir=_place(out), worker_name=worker_name)
    return WholeScript(options, is_analysed, _program.print_message)


def of_mindspore(given: Dict[str, Any], out: Optional[str], worker_name: Optional[str], is_analysed: bool) -> WholeScript:
    """Records a *_ascend_ms directory."""
    from ascope.mindspore import _log, callbacks, config, profiler_interface
    from ascope.mindspore.schedule import Schedule
    kinds = {"profiler_level": config.ProfilerLevel, "activities": config.ProfilerActivity, "aic_metrics": config.AicoreMetrics,
             "host_sys": config.HostSystem, "export_type": config.ExportType}

    def member(kind: Any, text: str) -> Any:
        """The member of MindSpore's enum with this name. An unknown name stays a text, and is reported later."""
        return next((one for one in kind if text.replace("_", "").lower() == one.name.lower()), text)

    parameters: Dict[str, Any] = {"output_path": _place(out)}
    for row in config.ROWS:
        value = given.get(row.option) if row.option else None
        kind = kinds.get(row.name)
        if kind and value is not None:
            value = [member(kind, one) for one in value] if isinstance(value, list) else member(kind, value)
        parameters.setdefault(row.name, value)
    if parameters["aic_metrics"] is None and parameters["profiler_level"] in (config.ProfilerLevel.Level1, config.ProfilerLevel.Level2):
        parameters["aic_metrics"] = config.AicoreMetrics.PipeUtilization
    checked = config.Parameters(parameters, Schedule.of_whole_script())
    options = profiler_interface.session_options(checked, parameters["output_path"], worker_name)
    return WholeScript(options, is_analysed, _log.report, lambda session: callbacks.count(session.step))


OF: Dict[Optional[str], Callable[..., WholeScript]] = {"mindspore": of_mindspore, "tensorflow": of_tensorflow}
