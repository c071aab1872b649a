# SPDX-License-Identifier: Apache-2.0
"""The profiler for PyTorch: `profile`, its schedule, its handler, and offline analysis.

    with profiler.profile(schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
                          on_trace_ready=profiler.tensorboard_trace_handler("./result")) as prof:
        for batch in loader:
            train_one_step(batch)
            prof.step()

Nothing here raises into the training: problems are reported in one line, and the training continues.
"""
import json
import os
import shutil
import sys
import threading
import uuid
import weakref
from typing import Any, Callable, Dict, Iterable, List, Optional, Union

from ascope import _core, _program
from ascope._front_ends import make_room, on_recording, remove_parent, stand_in  # pylint: disable=unused-import
from ascope.torch import _build, _groups, _live, _place
from ascope.torch._flight import flight_recorder
from ascope.torch._hooks import Hooks
from ascope.torch._messages import error, guarded, info, path_of, shown, report, warn, why
from ascope.torch.config import (AiCMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel, _ExperimentalConfig,
                                 supported_activities, supported_ai_core_metrics, supported_export_type,
                                 supported_profiler_level)
from ascope.torch.schedule import ProfilerAction, Schedule
from ascope.torch.schedule import Schedule as schedule

__all__ = [
    "profile", "ProfilerActivity", "supported_activities", "tensorboard_trace_handler", "schedule", "ProfilerAction",
    "_ExperimentalConfig", "supported_profiler_level", "supported_ai_core_metrics", "supported_export_type",
    "ProfilerLevel", "AiCMetrics", "ExportType", "HostSystem", "analyse", "flight_recorder",
]

_Path = Union[str, "os.PathLike[str]"]
METADATA_MOST, TEXT_MOST = 50 * 1024, 4096
METRICS = ("self_cpu_time_total", "self_npu_time_total")
OTHER_TOOLS = ("PROFILER_SAMPLECONFIG", "PROFILING_MODE")

_SWITCHES = [row["name"] for row in _core.option_table() if row["section"] == "common_config" and row["kind"] == "boolean"]

_hooks = Hooks()
_alive: "weakref.WeakSet[_KinetoProfile]" = weakref.WeakSet()
_child = threading.local()  # .is_traced: enable_profiler_in_child_thread() has requested stacks in this thread


def _opened():
    """A list with the profiler that has an open session: at most one per process."""
    return [prof for prof in list(_alive) if prof._core is not None and prof._core.is_open]


def _memory(is_ours):
    """Called around a run of torch.profiler: PyTorch reports memory to one profiler per thread, and that one has priority."""
    if not is_ours:
        warn("profile_memory: torch.profiler was started in this thread; memory is not recorded until it stops")
    _build.loaded().ascope_torch_memory(is_ours)


def _joined():
    for prof in _opened():
        prof._send_rank()


def _recording(is_on, options):
    if is_on:
        listener = _build.loaded()
        is_in_use = listener and getattr(sys.modules["torch"].autograd, "_profiler_enabled", bool)()
        if is_in_use and options["profile_memory"]:
            warn("profile_memory: torch.profiler runs in this thread and receives PyTorch's memory events; memory is not recorded")
        _hooks.on(listener, options["device"] == "sim", _memory if listener and options["profile_memory"] else None, _joined)
        _live.on()
        for prof in _opened():
            prof._send_metadata()
            prof._core.metadata("trace_id", prof._next_trace_id())
    else:
        _live.off()
        _hooks.off()
        for prof in _opened():
            prof._send_groups()
            prof.metadata, prof._unsent = {}, {}  # the next cycle of the schedule begins without metadata


on_recording("pytorch", _recording)


def _end_all():
    """Ends all profilers while the interpreter is intact: later it deletes objects in any order, or never."""
    for prof in list(_alive):
        prof.__del__()


_core.at_exit(_end_all)
_other_tool = None


def _has_other_tool():
    """Whether the tool that started this process records it. Checked once."""
    global _other_tool
    if _other_tool is None:
        _other_tool = next((name for name in OTHER_TOOLS if os.environ.get(name)), "")
        if _other_tool:
            warn("%s is set: another profiler records this process; this one is disabled" % _other_tool)
    return bool(_other_tool)


def _listen(has_steps=None):
    """Loads the listener of PyTorch's operators. Without it everything else is recorded. `has_steps`: whether the profiler that listens
    marks steps; None: as before."""
    if "torch" not in sys.modules:
        info("operators are not recorded: PyTorch has not been imported")
        return None
    try:
        listener = _build.load(announces=True)
        listener.ascope_torch_stack_source(*_core.stack_source())
        if has_steps is not None:
            listener.ascope_torch_own_steps(has_steps)
        return listener
    except Exception as trouble:  # a BuildError, or a failure to load the library
        error("operators are not recorded: %s" % trouble)
        return None


def _rank():
    """The rank of torch.distributed, if initialised; otherwise the recorder uses $RANK."""
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    return None


def _boolean(name, value):
    if isinstance(value, bool):
        return value
    warn("%s: expected a boolean, got %s; using False" % (name, shown(value)))
    return False


class _Caller:
    """Callbacks of the recorder. It does not keep the profiler alive: an unreferenced profiler ends."""

    def __init__(self, prof):
        self.prof = weakref.ref(prof)

    def ready(self, path):
        prof = self.prof()
        if prof is not None:
            prof._complete(path)

    def action(self, step):
        prof = self.prof()
        return 0 if prof is None else prof._asked(step)


class _Interface:
    """The type of `prof_if`, an attribute that handlers written for torch_npu use."""

    def __init__(self, prof_path):
        self.prof_path = prof_path


def _activity(one):
    """A ProfilerActivity, also for the one of torch.profiler with the same name; None for anything else."""
    if isinstance(one, ProfilerActivity):
        return one
    return ProfilerActivity.__members__.get(getattr(one, "name", None)) if type(one).__name__ == "ProfilerActivity" else None


class _KinetoProfile:
    """Records between `start()` and `stop()`, or in a `with` block; the recording is exported afterwards.

    activities: a list of ProfilerActivity; default: both.
    record_shapes: shapes and types of the inputs of operators.
    profile_memory: allocations and releases of memory.
    with_stack: call stacks of operators, and Python calls.
    with_flops: floating-point operations of matrix multiplications, convolutions and attention, as marks; requires mstx.
    with_modules: the modules that call operators, and Python calls.
    experimental_config: an _ExperimentalConfig, with the options of the device.
    custom_trace_id_callback: a function that returns the trace_id of the collection.
    """

    max_meta_size, max_str_len = METADATA_MOST, TEXT_MOST

    def __init__(self, *, activities: Optional[Iterable[ProfilerActivity]] = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, experimental_config: Optional[_ExperimentalConfig] = None,
                 custom_trace_id_callback: Optional[Callable[[], str]] = None) -> None:
        self.activities = self._activities(activities)
        self.record_shapes = _boolean("record_shapes", record_shapes)
        self.profile_memory = _boolean("profile_memory", profile_memory)
        self.with_stack = _boolean("with_stack", with_stack)
        self.with_flops = _boolean("with_flops", with_flops)
        self.with_modules = _boolean("with_modules", with_modules)
        if experimental_config is not None and not isinstance(experimental_config, _ExperimentalConfig):
            warn("experimental_config: expected an _ExperimentalConfig, got %s; using the default" %
                 type(experimental_config).__name__)
            experimental_config = None
        self.experimental_config = experimental_config or _ExperimentalConfig()
        self.metadata: Dict[str, str] = {}
        self._unsent: Dict[str, str] = {}  # {key: function of the recorder} of metadata that it has not yet received
        self._trace_id_callback = custom_trace_id_callback
        self._trace_id = None
        self._core: Optional[_core.Profiler] = None
        self._path: Optional[str] = None
        self._was_exported = False
        self._caller, self._pid = _Caller(self), os.getpid()
        _alive.add(self)

    @staticmethod
    def _activities(given):
        try:
            wanted = [] if given is None else list(given)
        except Exception:
            wanted = [None]
        wanted = [_activity(one) for one in wanted]
        if None in wanted:
            warn("activities: expected a list of ProfilerActivity, got %s; using CPU and NPU" % shown(given))
            wanted = []
        return set(wanted or ProfilerActivity)

    on_trace_ready: Optional[Callable[["profile"], Any]] = None
    record_steps = False  # only a schedule has some

    def _options(self, is_export_only):
        options = self.experimental_config.options()
        options.update(_place.options(is_export_only, self.on_trace_ready))
        for name in _SWITCHES:
            options[name] = getattr(self, name)
        options["activities"] = [one.name for one in ProfilerActivity if one in self.activities]
        options["device"] = os.environ.get("ASCOPE_DEVICE") or None
        options["rank"] = _rank()
        return options

    def _make(self):
        """Creates the recorder's profiler. Called when it is first needed: by then the handler, which sets the directory, exists."""
        return _core.Profiler(self._options(is_export_only=True), None, self._caller.ready)

    def _collector(self, starts):
        is_heard = ProfilerActivity.CPU in self.activities or self.with_flops or os.environ.get("ASCOPE_DEVICE") == "sim"
        if is_heard and (self._core is None or starts and not self._core.is_open):
            _listen(self.record_steps)
        if self._core is None:
            self._is_lost = True
            self._core = self._make()
            self._is_lost = False
        return self._core

    def _complete(self, path):
        self._path = path

    def _is_of_parent(self, what):
        """Whether this is a forked process and the profiler was used before the fork. It continues in the parent; here it is disabled, with
        one warning."""
        if self._pid == os.getpid():
            return False
        if self._core is None:
            self._pid = os.getpid()
            return False
        if not self._has_warned_of_parent and what != "stop":
            self._has_warned_of_parent = True
            warn("the profiler runs in the parent process; create another one to record this process")
        return True

    _has_warned_of_parent = False
    _is_lost = False  # the recorder could not be created, or gave way: calls have no effect until the next start

    def _give_way(self):
        if self._core is not None and self._pid == os.getpid():
            path = self._path or ""
            self._core.discard()
            self._core, self._path, self._is_lost, self.stopped = None, None, True, True
            remove_parent(path)
            info("the program has a profiler of its own, which records from now on")

    def _driven(self, what):
        """Calls the function `what` of the recorder."""
        if self._is_of_parent(what) or (self._is_lost and what != "start"):
            return
        if what == "start":
            make_room(self)
        core = self._collector(starts=what == "start")
        try:
            getattr(core, what)()
        finally:
            self._path = core.path or self._path

    @guarded()
    def start(self) -> None:
        """Begins recording."""
        if not _has_other_tool():
            self._driven("start")

    @guarded()
    def stop(self) -> None:
        """Ends recording; everything is on disk."""
        if not _has_other_tool() and self._core is not None:
            self._driven("stop")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def __del__(self):
        core = getattr(self, "_core", None)
        if core is None or self._pid != os.getpid():  # in a forked process this is a copy: the files belong to the parent
            return
        try:
            self._caller.prof = lambda: self  # weak references may be gone already
            core.free()
            if self._path and self._was_exported and _place.is_export_only(self._path):
                shutil.rmtree(self._path, ignore_errors=True)
                os.rmdir(os.path.dirname(self._path))
        except Exception:  # the interpreter may be shutting down, and others may still use the directory
            pass
        finally:
            self._caller.prof = lambda: None

    @property
    def prof_if(self) -> _Interface:
        """prof_if.prof_path: the path of the collection."""
        return _Interface(self._path)

    # ---- metadata ----

    @guarded()
    def add_metadata(self, key: str, value: str) -> None:
        """A text for profiler_metadata.json."""
        if self._is_metadata(key, value):
            self._keep_metadata(key, value, "metadata")

    @guarded()
    def add_metadata_json(self, key: str, value: str) -> None:
        """The same with a JSON value."""
        if not self._is_metadata(key, value):
            return
        try:
            json.loads(value)
        except ValueError as trouble:
            warn("add_metadata_json: %s: invalid JSON: %s; ignored" % (key, trouble))
            return
        self._keep_metadata(key, value, "metadata_json")

    def _is_metadata(self, key, value):
        if not isinstance(key, str) or not isinstance(value, str):
            warn("metadata: expected strings as key and value, got %s and %s; ignored" % (shown(key), shown(value)))
        elif len(key) > TEXT_MOST or len(value) > TEXT_MOST:
            warn("metadata: %.40s: more than %d characters; ignored" % (key, TEXT_MOST))
        elif sum(map(sys.getsizeof, (self.metadata, key, value))) >= METADATA_MOST:
            warn("metadata: %.40s: more than %d bytes in total; ignored" % (key, METADATA_MOST))
        else:
            return True
        return False

    def _keep_metadata(self, key, value, how):
        if key in self._unsent:  # otherwise the recorder reports it
            warn("metadata: %s is already set; replaced" % key)
        self.metadata[key] = value
        self._unsent[key] = how
        if self._core is not None and self._core.is_open:
            self._send_metadata()

    def _send_metadata(self):
        """Writes new metadata to the open collection."""
        for key in list(self._unsent):
            try:
                getattr(self._core, self._unsent.pop(key))(key, self.metadata[key])
            except _core.Error as trouble:
                warn(str(trouble))

    def _send_rank(self):
        """The rank, if the process learned it after the recording had begun."""
        rank = _groups.rank()
        if rank is not None:
            self._core.metadata_json("rank_id", str(rank))

    def _send_groups(self):
        """Writes the process groups. Called at the end, because programs create groups while they run."""
        try:
            found = _groups.info()
            self._send_rank()
            if found:
                self._core.metadata_json("parallel_group_info", json.dumps(found))
        except Exception as trouble:  # groups are read from private parts of PyTorch
            warn("parallel_group_info: %s; omitted" % why(trouble))

    def _next_trace_id(self):
        self._trace_id = uuid.uuid4().hex.upper()
        if self._trace_id_callback is not None:
            try:
                made = self._trace_id_callback()
                if isinstance(made, str) and len(made) <= 1024:
                    self._trace_id = made
                else:
                    warn("custom_trace_id_callback: expected a string of up to 1024 characters, got %s; ignored" % shown(made))
            except Exception as trouble:
                warn("custom_trace_id_callback: %s" % why(trouble))
        return self._trace_id

    @guarded()
    def set_custom_trace_id_callback(self, callback: Optional[Callable[[], str]]) -> None:
        """For collections that begin from now on. None: a unique id for each."""
        self._trace_id_callback = callback

    @guarded()
    def get_trace_id(self) -> Optional[str]:
        """The trace_id of the latest collection."""
        return self._trace_id

    # ---- exports ----

    def _export(self, what, output_path, *more):
        """Exports with a function of _program; parent directories are created."""
        if not self._path or not os.path.isdir(self._path):
            warn("%s: nothing has been recorded yet; nothing is exported" % what)
            return
        output_path = path_of("output_path", output_path, "nothing is exported")
        if output_path is None:
            return
        os.makedirs(os.path.dirname(os.path.abspath(output_path)), exist_ok=True)
        result = getattr(_program, what)(self._path, output_path, *more, report)
        self._was_exported = self._was_exported or result.is_done

    @guarded()
    def export_chrome_trace(self, output_path: _Path) -> None:
        """The timeline as one JSON file, for chrome://tracing, Perfetto and MindStudio Insight."""
        self._export("export_chrome_trace", output_path)

    @guarded()
    def export_stacks(self, output_path: _Path, metric: str = METRICS[0]) -> None:
        """Call stacks with their times, for flame graphs; requires with_stack.

        metric: self_cpu_time_total or self_npu_time_total.
        """
        if not self.with_stack:
            warn("export_stacks: requires with_stack=True; nothing is exported")
            return
        if metric not in METRICS:
            warn("export_stacks: invalid metric %s; using %s" % (shown(metric), METRICS[0]))
            metric = METRICS[0]
        self._export("export_stacks", output_path, metric)

    @guarded()
    def export_memory_timeline(self, output_path: _Path, device: Optional[str] = None) -> None:
        """Memory over time by category: a page (.html), or the numbers (.json, .json.gz, .raw.json.gz).

        device: "npu:0", "cuda:0" or "cpu"; by default the first NPU or GPU whose memory was recorded, else the CPU.
        """
        if not (self.record_shapes and self.profile_memory and (self.with_stack or self.with_modules)):
            warn("export_memory_timeline: requires record_shapes, profile_memory, and with_stack or with_modules; nothing is exported")
            return
        if device is not None and not isinstance(device, str):
            warn('export_memory_timeline: device: expected a string such as "npu:0", got %s; nothing is exported' % shown(device))
            return
        self._export("export_memory_timeline", output_path, device)


class profile(_KinetoProfile):
    """Records the steps that a schedule selects; `on_trace_ready(prof)` is called when a cycle is complete.

    schedule: the steps, as `schedule(...)` or any function from a step number to a ProfilerAction; default: all steps.
    on_trace_ready: `tensorboard_trace_handler(...)`, or a function that receives the profiler. Without it the recording is kept
        for the export functions.
    execution_trace_observer: an object whose start() and stop() are called with those of the profiler.
    use_cuda: for compatibility with other profilers; it has no effect: `activities` selects the device.

    The other parameters are those of _KinetoProfile.
    """

    def __init__(self, *, activities: Optional[Iterable[ProfilerActivity]] = None,
                 schedule: Optional[Callable[[int], ProfilerAction]] = None,
                 on_trace_ready: Optional[Callable[["profile"], Any]] = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, experimental_config: Optional[_ExperimentalConfig] = None,
                 execution_trace_observer: Any = None, custom_trace_id_callback: Optional[Callable[[], str]] = None,
                 use_cuda: Optional[bool] = None) -> None:
        super().__init__(activities=activities, record_shapes=record_shapes, profile_memory=profile_memory,
                         with_stack=with_stack, with_flops=with_flops, with_modules=with_modules,
                         experimental_config=experimental_config, custom_trace_id_callback=custom_trace_id_callback)
        if use_cuda is not None:
            warn("use_cuda: ignored; use activities")
        if schedule is not None and not callable(schedule):
            warn("schedule: expected a function, got %s; recording every step" % shown(schedule))
            schedule = None
        if on_trace_ready is not None and not callable(on_trace_ready):
            warn("on_trace_ready: expected a function, got %s; ignored" % shown(on_trace_ready))
            on_trace_ready = None
        self.schedule, self.on_trace_ready = schedule, on_trace_ready
        self.record_steps = schedule is not None
        self.step_num = 0
        self.stopped = False
        self._first_step = 0  # number in the name of the first step; the schedule itself counts from 0
        self._has_reported_schedule = False
        self.execution_trace_observer = execution_trace_observer

    @property
    def current_action(self) -> ProfilerAction:
        """The schedule's action for this step."""
        return ProfilerAction(self._core.action if self._core is not None else self._asked(self.step_num))

    def _asked(self, step):
        """The number of the schedule's action. A schedule that fails records nothing, which is reported once."""
        if not self.schedule:
            return ProfilerAction.RECORD.value
        try:
            action = self.schedule(step)
            return ProfilerAction(getattr(action, "value", action)).value
        except Exception as trouble:
            if not self._has_reported_schedule:
                error("schedule: step %d is not recorded: %s" % (step, why(trouble)))
            self._has_reported_schedule = True
            return ProfilerAction.NONE.value

    def _make(self):
        plan = self.schedule and self._caller.action
        if isinstance(self.schedule, Schedule):
            plan = (*self.schedule.as_tuple(), self._first_step)
        return _core.Profiler(self._options(is_export_only=self.on_trace_ready is None), plan, self._caller.ready)

    def _complete(self, path):
        super()._complete(path)
        if self.on_trace_ready:
            try:
                self.on_trace_ready(self)
            except Exception as trouble:
                error("on_trace_ready: %s" % why(trouble))

    @guarded()
    def start(self) -> None:
        """Begins the first step of the schedule."""
        if _has_other_tool():
            return
        self.stopped = False
        self._driven("start")
        if self.execution_trace_observer:
            self.execution_trace_observer.start()

    @guarded()
    def step(self) -> None:
        """Ends a step and begins the next one."""
        if _has_other_tool():
            return
        if self.stopped:
            warn("step() ignored: the profiler is stopped")
            return
        self.step_num += 1
        if self.step_num == 1 and not self.record_steps:  # as in torch_npu and torch.profiler
            info("step() without a schedule: everything is recorded, but not where steps begin; "
                 "schedule=profiler.schedule(wait=0, active=N) records N steps as such")
        self._driven("step")

    @guarded()
    def stop(self) -> None:
        """Ends the last step, whatever its action."""
        if _has_other_tool() or self._core is None or self.stopped:
            return
        try:
            self._driven("stop")
        finally:  # it is stopped even if the user interrupts the analysis
            self.stopped = True
            if self.execution_trace_observer:
                self.execution_trace_observer.stop()

    @classmethod
    @guarded()
    def enable_profiler_in_child_thread(cls, record_shapes: bool = False, profile_memory: bool = False, with_stack: bool = False,
                                        with_flops: bool = False, with_modules: bool = False) -> None:
        """Also records the operators of the calling thread while a profiler of the process records."""
        listener = None if _has_other_tool() else _listen()
        if not listener:
            return
        with_stack, with_modules = _boolean("with_stack", with_stack), _boolean("with_modules", with_modules)
        if (with_stack or with_modules) and not getattr(_child, "is_traced", False):
            _child.is_traced = True
            _core.trace_for_thread(True)
        listener.ascope_torch_enable_thread(_boolean("record_shapes", record_shapes), _boolean("profile_memory", profile_memory),
                                            with_stack, with_modules, _boolean("with_flops", with_flops))

    @classmethod
    @guarded()
    def disable_profiler_in_child_thread(cls) -> None:
        """Stops recording the operators of the calling thread."""
        listener = _build.loaded()
        if listener:
            _core.synchronize()
            listener.ascope_torch_disable_thread()
            if getattr(_child, "is_traced", False):
                _child.is_traced = False
                _core.trace_for_thread(False)


@guarded()
def tensorboard_trace_handler(dir_name: Optional[_Path] = None, worker_name: Optional[str] = None, analyse_flag: bool = True,
                              async_mode: bool = False) -> Callable[[profile], None]:
    """For on_trace_ready: writes the collection to `dir_name` and analyses it there, in a separate process.

    dir_name: default: $ASCEND_WORK_PATH/profiling_data, or the working directory.
    worker_name: prefix of the collection's name; default: the host name.
    analyse_flag: False defers the analysis, see `analyse`.
    async_mode: the training does not wait for the analysis, as with ASCOPE_ASYNC_ANALYSIS=1 in the environment, for servers whose code
    is not changed.
    """
    if not isinstance(analyse_flag, bool):
        warn("analyse_flag: expected a boolean, got %s; using True" % shown(analyse_flag))
        analyse_flag = True
    async_mode = _boolean("async_mode", async_mode) or os.environ.get("ASCOPE_ASYNC_ANALYSIS") == "1"
    place = _place.choose(dir_name, worker_name)

    def handler(prof):
        path = prof._path  # async: the profiler may be in its next collection when the analysis ends

        def done(result):
            if result.is_done:
                info("analysed in %.1f s: %s" % (result.seconds, os.path.join(path, "ASCEND_PROFILER_OUTPUT")))

        if analyse_flag and not _has_other_tool():
            info("analysing %s" % path)
            _program.analyse(path, waits=not async_mode, report=report, done=done)

    handler.place = place
    return handler


@guarded()
def analyse(profiler_path: _Path, max_process_number: Optional[int] = None,
            export_type: Union[None, str, List[str]] = None) -> None:
    """Offline analysis: writes ASCEND_PROFILER_OUTPUT of one `*_ascend_pt` directory, or of all in a directory.

    max_process_number: number of collections analysed in parallel; default: the number of CPUs.
    export_type: text, db or a list of them; default: as the collection was recorded.
    """
    cpus = os.cpu_count() or 1
    if max_process_number is not None and (isinstance(max_process_number, bool) or
                                           not isinstance(max_process_number, int) or max_process_number <= 0):
        warn("max_process_number: expected an integer from 1, got %s; using the default" % shown(max_process_number))
        max_process_number = None
    elif max_process_number is not None and max_process_number > cpus:
        warn("max_process_number: more than the number of CPUs; using %d" % cpus)
        max_process_number = cpus
    wanted = [export_type] if isinstance(export_type, str) else export_type
    if wanted is not None and (not isinstance(wanted, (list, tuple)) or
                               not all(isinstance(one, str) and one in supported_export_type() for one in wanted)):
        warn("export_type: expected text, db or a list of them, got %s; using the value of the recording" % shown(export_type))
        wanted = None
    path = path_of("profiler_path", profiler_path, "nothing is analysed", _core.ERROR)
    if path is None:
        return
    if not os.path.exists(path):
        error("analyse: %s does not exist" % path)
        return
    _program.analyse(path, wanted, max_process_number, report=report)


from ascope.torch import dynamic_profile  # noqa: E402  # which uses the names above
