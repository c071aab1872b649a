# SPDX-License-Identifier: Apache-2.0
"""The Profiler for MindSpore, its newer form `profile`, the handlers, and offline analysis.

    profiler = Profiler(schedule=schedule(wait=1, warmup=1, active=2, repeat=1), on_trace_ready=tensorboard_trace_handler("./result"))
    for data in dataset:
        train(data)
        profiler.step()
    profiler.stop()

Misuse is reported by a message. Only a path that cannot be used raises an exception (ProfilerPathErrorException).
"""
import inspect
import json
import os
import sys
import weakref
from typing import Any, Callable, Dict, List, Optional

from ascope import _core, _front_ends, _program
from ascope.mindspore import _log, _paths, callbacks, config, profiler_interface
from ascope.mindspore.profiler_action_controller import ProfilerActionController
from ascope.mindspore.profiler_interface import Owner, ProfilerInterface
from ascope.mindspore.schedule import ProfilerAction, _default_schedule_fn

WORKER_NAME_MOST = 226
STEP_NAME = "ProfilerStep#"
_alive: "weakref.WeakSet[Profiler]" = weakref.WeakSet()


# ---- handlers ----

class _Last:
    """The place of the handler created last in the process: a function as on_trace_ready may call it."""
    place = config.Place()


def _valid(name, value, is_valid, text, default):
    if value is None or is_valid(value):
        return value
    _log.warning(text % name)
    return default


def _is_text(value):
    return isinstance(value, str) and bool(value)


def tensorboard_trace_handler(dir_name: Optional[str] = None, worker_name: Optional[str] = None, analyse_flag: bool = True,
                              async_mode: bool = False) -> Callable[[], None]:
    """For on_trace_ready: collections are written to `dir_name` and analysed there.

    dir_name: for the Profiler that it is given to; default: its output_path.
    worker_name: prefix of the collections' names; default: the host name.
    analyse_flag: False defers the analysis, see `analyse`.
    async_mode: the program does not wait for the analysis.
    """
    reset = "Invalid parameter %s, reset it to default."
    worker_name = _valid("worker_name", worker_name, lambda value: _is_text(value) and len(value) < WORKER_NAME_MOST, reset, None)
    dir_name = _valid("dir_name", dir_name, _is_text, reset, None)
    if not isinstance(analyse_flag, bool):
        _log.warning("analyse_flag is not bool, set by default.")
        analyse_flag = True
    if not isinstance(async_mode, bool):
        _log.warning("async_mode is not bool, set by default.")
        async_mode = False
    place = config.Place(None if dir_name is None else _paths.make_directory(dir_name), worker_name)
    _Last.place = place

    def handler() -> None:
        if analyse_flag:
            ProfilerInterface.analyse(waits=not async_mode)

    setattr(handler, "place", place)
    return handler


def tensor_board_trace_handler() -> None:
    """The older handler, which is itself the value of on_trace_ready. Analyses the recording that has just ended."""
    try:
        if not ProfilerInterface.paths:
            raise RuntimeError("there is no finished recording")
        ProfilerInterface.analyse()
    except Exception as trouble:  # pylint: disable=broad-except
        _log.error("Call tensorboard_trace_handler failed. Exception: %s" % trouble)


def _place(on_trace_ready: Optional[Callable[..., Any]]) -> config.Place:
    if on_trace_ready is None or on_trace_ready is tensor_board_trace_handler:
        return config.Place()
    return vars(on_trace_ready).get("place", _Last.place) if inspect.isfunction(on_trace_ready) else _Last.place


# ---- arguments of analyses ----

def _boolean(name, value, default):
    if isinstance(value, bool):
        return value
    _log.warning("The parameter '%s' should be a boolean, but got %s; using %s." % (name, _log.shown(value), default))
    return default


def _steps(value: Any) -> Optional[List[int]]:
    """Checks a step_list: consecutive numbers, each once. Sorts the caller's list; None if it is invalid."""
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(one, int) and one >= 1 for one in value):
        _log.error("The parameter 'step_list' should be a list of int from 1, but got %s; reset to None." % _log.shown(value))
        return None
    value.sort()
    if value and value[-1] - value[0] + 1 != len(value) or len(set(value)) != len(value):
        _log.error("The parameter 'step_list' should be consecutive integers, but got %s; reset to None." % _log.shown(value))
        return None
    return value


# ---- the Profiler ----

class RecordFunction:
    """A range of the program, recorded like those of the framework."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._range = _core.Range(name)

    def start(self) -> None:
        self._range.start()

    def stop(self) -> None:
        self._range.stop()


class Profiler:
    """Records what a program does, and analyses it.

    start_profile: False: recording begins with start(). Default: True.
    output_path: directory of the collections; default: ./data.
    profiler_level: a ProfilerLevel: what the device records; default: Level0.
    activities: a list of ProfilerActivity; default: CPU and NPU.
    schedule: which steps are recorded, see `schedule`; used with step().
    on_trace_ready: called when the recording of a cycle of the schedule has ended.
    profile_memory: memory of operators and of the device.
    aic_metrics (or aicore_metrics): an AicoreMetrics: counters of the AI cores; default: none, from Level1 on PipeUtilization.
    with_stack: Python calls.
    data_simplification: the analysis removes intermediate data. Default: True.
    l2_cache, hbm_ddr, pcie, sys_io, sys_interconnection: counters and samples of the device.
    data_process: samples of the dataset pipeline. parallel_strategy: the strategy of a parallel job.
    sync_enable: stored. Nothing waits for a GPU: its times are its own, whatever the value.
    record_shapes: types and shapes of the inputs of operators.
    mstx, mstx_domain_include, mstx_domain_exclude: marks of the program, see `mstx`.
    export_type: ExportType.Text, ExportType.Db, or a list of them; default: Text.
    host_sys: a list of HostSystem: samples of the host.
    """

    MAX_META_SIZE = 100 * 1024 * 1024

    def __init__(self, **kwargs: Any) -> None:
        _front_ends.receive(_log.report)
        self._has_started = False
        self._metadata: Dict[str, Any] = {}
        self._pid, self._token = os.getpid(), Owner()
        self._parameters = config.Parameters(kwargs)
        self._parameters.place = _place(self._parameters.on_trace_ready)
        self._check_path()
        self.schedule_arg = kwargs.get("schedule")
        has_schedule = self.schedule_arg is not None
        self.schedule: Callable[[int], ProfilerAction] = self._parameters.schedule if has_schedule else _default_schedule_fn
        self._record_steps = has_schedule
        self._schedule_no_use_step: Optional[bool] = True if has_schedule else None
        self._step_rec_fn: Optional[RecordFunction] = None
        self.step_num = 0
        self.current_action = self.schedule(self.step_num)
        self.action_controller = ProfilerActionController(ProfilerInterface, self._parameters.on_trace_ready)
        _alive.add(self)
        callbacks.watch_all()
        if self._parameters.start_profile:
            self.start()

    def _check_path(self):
        dir_name = self._parameters.place.dir_name
        if dir_name and self._parameters.is_path_given:
            _log.warning("The parameter 'output_path' has no effect: the directory of tensorboard_trace_handler is used.")
        if not dir_name:
            _paths.make_directory(self._parameters.output_path)

    def _use(self) -> bool:
        return ProfilerInterface.use(self._token, self._parameters, self._metadata)

    def start(self) -> None:
        """Begins recording, or the first step of the schedule."""
        if self._has_started:
            _log.warning("The profiler has already started. Do not turn on again in the open state.")
            return
        if not self._use():
            return
        self._has_started, self._pid = True, os.getpid()
        self.action_controller.transit_action(ProfilerAction.NONE, self.current_action)
        self._begin_step()
        if not self._record_steps and ProfilerInterface.is_recording():
            callbacks.watch_all()
            callbacks.count(ProfilerInterface.step)

    def _begin_step(self) -> None:
        if self._record_steps:
            ProfilerInterface.step(self.step_num)
            self._step_rec_fn = RecordFunction(STEP_NAME + str(self.step_num))
            self._step_rec_fn.start()

    def stop(self) -> None:
        """Ends recording; everything is on disk."""
        if self._schedule_no_use_step:
            _log.warning("The profiler has schedule. Please use step() to collect data.")
            return
        if not self._has_started:
            _log.error("The profiler has not started. Do not turn off again in the closed state.")
            return
        self._has_started = False
        if self._record_steps and self._step_rec_fn:
            self._step_rec_fn.stop()
        if not self._use():
            return
        if self.schedule_arg:
            self.action_controller.transit_action(self.current_action, None)
        else:
            ProfilerInterface.stop()
            ProfilerInterface.dump_metadata()

    def step(self) -> None:
        """Ends a step of the schedule and begins the next one."""
        if self.schedule_arg is None:
            _log.error("With no schedule in the Profiler, step takes no effect!")
            return
        if not self._has_started:
            _log.error("Profiler is stopped, step takes no effect!")
            return
        if self._step_rec_fn:
            self._step_rec_fn.stop()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if self._use():
            self.action_controller.transit_action(before, self.current_action)
        self._begin_step()
        self._schedule_no_use_step = False

    def analyse(self, offline_path: Optional[str] = None, pretty: bool = False, step_list: Optional[List[int]] = None,
                mode: str = "sync") -> None:
        """Stops, if necessary, and analyses what was recorded; without a schedule.

        offline_path: a directory to analyse as well; deprecated, see offline_analyse().
        pretty: JSON files have line breaks.
        step_list: consecutive numbers of steps, 1 is the first that was recorded; default: all.
        mode: sync, or async: the program does not wait for the analysis.
        """
        left = [] if self._has_started else ProfilerInterface.take_left(self._token)
        is_used = not left and self._use()
        if self._has_started:
            ProfilerInterface.stop()
            self._has_started = False
        if self.schedule_arg:
            _log.warning("The profiler has schedule. Please use 'on_trace_ready' to analyse data.")
            return
        if offline_path is not None:
            _log.warning("The parameter 'offline_path' for Profiler.analyse() is deprecated, please use Profiler.offline_analyse() instead.")
        pretty, steps = _boolean("pretty", pretty, False), _steps(step_list)
        if not isinstance(mode, str) or mode not in ("sync", "async"):
            _log.warning("The parameter 'mode' should be sync or async, but got %s; using sync." % _log.shown(mode))
            mode = "sync"
        for path in left:  # recorded before another Profiler started, which is not affected
            profiler_interface.analyse_path(path, mode == "sync", pretty, steps)
        if is_used and (ProfilerInterface.paths or offline_path is None):
            ProfilerInterface.finalize()
            ProfilerInterface.analyse(mode == "sync", pretty, steps)
            ProfilerInterface.clear()
        if offline_path is not None:
            _offline(offline_path, None, pretty, steps, self._parameters.data_simplification)

    @classmethod
    def offline_analyse(cls, path: str, pretty: bool = False, step_list: Optional[List[int]] = None, data_simplification: bool = True) -> None:
        """Analyses a `*_ascend_ms` directory, or all in a directory."""
        _offline(path, None, pretty, step_list, data_simplification)

    @staticmethod
    def op_analyse(op_name: Any, device_id: Optional[int] = None) -> None:
        """Deprecated: statistics of operators are in the results."""
        _log.note("The method 'op_analyse' is deprecated.")
        if config.device_target() == "Ascend":
            raise RuntimeError("op_analyse is not supported on Ascend; see op_statistic.csv and kernel_details.csv.")
        if device_id and not isinstance(device_id, int):
            raise TypeError("device_id: expected an int, got %s" % _log.shown(device_id))
        if not isinstance(op_name, (str, list)) or not op_name:
            raise TypeError("op_name: expected a string or a list, got %s" % _log.shown(op_name))

    # ---- metadata ----

    def add_metadata(self, key: str, value: str) -> None:
        """A text for profiler_metadata.json."""
        if self._is_metadata(key, value):
            self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """The same with a JSON value."""
        if not self._is_metadata(key, value):
            return
        try:
            self._metadata[key] = json.loads(value)
        except ValueError:
            _log.warning("The metadata value must be json format string. Skip this metadata")

    def _is_metadata(self, key, value):
        if not isinstance(key, str) or not isinstance(value, str):
            _log.warning("The key and value of metadata must be string. Skip this metadata.")
            return False
        if sum(map(sys.getsizeof, (self._metadata, key, value))) >= self.MAX_META_SIZE:
            _log.warning("Too many metadata added. Skip this metadata")
            return False
        if key in self._metadata:
            _log.warning("%s is already saved as metadata, override it." % key)
        return True

    # ---- with, and the end ----

    def __enter__(self) -> "Profiler":
        if not self._has_started:
            self.start()
        return self

    def __exit__(self, *unused: Any) -> None:
        if self._has_started:
            self.stop()

    def __del__(self) -> None:
        if not getattr(self, "_has_started", False) or self._pid != os.getpid():  # in a forked process this is a copy
            return
        try:
            self.stop()
            _log.warning("Profiler is stopped at the end of the program.")
        except Exception:  # pylint: disable=broad-except  # the interpreter may be shutting down
            pass
        if self._has_started:  # a schedule without steps: reported once
            self._has_started = False


def _end_all():
    """Ends all Profilers while the interpreter is intact: later it deletes objects in any order, or never."""
    for one in list(_alive):
        one.__del__()
    _program.wait_for_all()


_core.at_exit(_end_all)


class profile:
    """Records what a program does: the parameters of `Profiler` by name; those of the device are in an _ExperimentalConfig."""

    def __init__(self, activities: Optional[list] = None, with_stack: bool = False, profile_memory: bool = False,
                 data_process: bool = False, parallel_strategy: bool = False, start_profile: bool = True, hbm_ddr: bool = False,
                 pcie: bool = False, sync_enable: bool = True, record_shapes: bool = False, schedule: Any = None,
                 on_trace_ready: Optional[Callable[..., Any]] = None,
                 experimental_config: Optional[config._ExperimentalConfig] = None) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "experimental_config")}
        if experimental_config is not None and not isinstance(experimental_config, config._ExperimentalConfig):
            _log.warning("The parameter 'experimental_config' should be an _ExperimentalConfig, but got %s; using the default." %
                         _log.shown(experimental_config))
            experimental_config = None
        self.profiler = Profiler(**given, **vars(experimental_config or config._ExperimentalConfig()))

    def start(self) -> None:
        self.profiler.start()

    def stop(self) -> None:
        self.profiler.stop()

    def step(self) -> None:
        self.profiler.step()

    def add_metadata(self, key: str, value: str) -> None:
        self.profiler.add_metadata(key, value)

    def add_metadata_json(self, key: str, value: str) -> None:
        self.profiler.add_metadata_json(key, value)

    def __enter__(self) -> "profile":
        self.profiler.__enter__()
        return self

    def __exit__(self, *what: Any) -> None:
        self.profiler.__exit__(*what)

    def __del__(self) -> None:
        if hasattr(self, "profiler"):
            self.profiler.__del__()


# ---- offline ----

def _offline(path, max_process_number, pretty, step_list, data_simplification):
    _front_ends.receive(_log.report)
    real = _paths.check_directory(path)
    if not os.path.exists(real):
        raise FileNotFoundError("%s does not exist" % real)
    found = _paths.collections(real)
    if not found:
        _log.error("Invalid path: %s. Expected a *_ascend_ms_* directory or a parent directory of multiple *_ascend_ms_*" % real)
        return
    pretty = _boolean("pretty", pretty, False)
    simplifies = _boolean("data_simplification", data_simplification, True)
    steps = _steps(step_list)
    result = profiler_interface.analyse_path(real, True, pretty, steps, simplifies, max_process_number)
    if result is not None and not result.is_done:
        _log.error("offline analysis failed: %s" % real)


def analyse(profiler_path: str, max_process_number: Optional[int] = None, pretty: bool = False, step_list: Optional[List[int]] = None,
            data_simplification: bool = True) -> None:
    """Offline analysis of one `*_ascend_ms` directory, or of all in a directory; at most max_process_number at the same time (default: half of the CPUs)."""
    default = max((os.cpu_count() or 2) // 2, 1)
    if max_process_number is not None and (isinstance(max_process_number, bool) or not isinstance(max_process_number, int) or max_process_number <= 0):
        _log.warning("The parameter 'max_process_number' should be a positive int, but got %s; using %d." % (_log.shown(max_process_number), default))
        max_process_number = None
    _offline(profiler_path, max_process_number or default, pretty, step_list, data_simplification)
