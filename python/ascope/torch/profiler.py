"""The profiler for PyTorch: `profile`, its schedule, its handler, and offline analysis.

    with profiler.profile(schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
                          on_trace_ready=profiler.tensorboard_trace_handler("./result")) as prof:
        for batch in loader:
            train_one_step(batch)
            prof.step()

Nothing here raises into the training: what goes wrong is told in one line, and the training goes on.
"""
import json
import os
import shutil
import sys
import threading
import uuid
import weakref
from typing import Any, Callable, Iterable, List, Optional, Union

from ascope import _core, _program
from ascope.torch import _build, _groups, _place
from ascope.torch._hooks import Hooks
from ascope.torch._messages import error, guarded, info, path_of, shown, tell, warn, why
from ascope.torch.config import (AiCMetrics, ExportType, HostSystem, ProfilerActivity, ProfilerLevel, _ExperimentalConfig,
                                 supported_activities, supported_ai_core_metrics, supported_export_type,
                                 supported_profiler_level)
from ascope.torch.schedule import ProfilerAction, Schedule
from ascope.torch.schedule import Schedule as schedule

__all__ = [
    "profile", "ProfilerActivity", "supported_activities", "tensorboard_trace_handler", "schedule", "ProfilerAction",
    "_ExperimentalConfig", "supported_profiler_level", "supported_ai_core_metrics", "supported_export_type",
    "ProfilerLevel", "AiCMetrics", "ExportType", "HostSystem", "analyse",
]

_Path = Union[str, "os.PathLike[str]"]
METADATA_MOST, TEXT_MOST = 50 * 1024, 4096
METRICS = ("self_cpu_time_total", "self_npu_time_total")
OTHER_TOOLS = ("PROFILER_SAMPLECONFIG", "PROFILING_MODE")

_SWITCHES = [row["name"] for row in _core.option_table() if row["section"] == "common_config" and row["kind"] == "boolean"]

_hooks = Hooks()
_alive = weakref.WeakSet()
_child = threading.local()  # is_traced: it asked for stacks


def _opened():
    """The profiler that has a collection open; one of the process at most."""
    return [prof for prof in list(_alive) if prof._core is not None and prof._core.is_open]


def _memory(is_ours):
    """PyTorch tells one profiler of each thread about memory: torch.profiler, while it runs."""
    if not is_ours:
        warn("profile_memory: torch.profiler is started in this thread; until it stops, memory is not recorded")
    _build.loaded().ascope_torch_memory(is_ours)


def _recording(is_on, options):
    if is_on:
        listener = _build.loaded()
        is_taken = listener and getattr(sys.modules["torch"].autograd, "_profiler_enabled", bool)()
        if is_taken and options["profile_memory"]:
            warn("profile_memory: torch.profiler runs in this thread, and PyTorch tells one of us about memory; it is not recorded")
        _hooks.on(listener, options["device"] == "sim", _memory if listener and options["profile_memory"] else None)
        for prof in _opened():
            prof._send_metadata()
            prof._core.metadata("trace_id", prof._next_trace_id())
    else:
        _hooks.off()
        for prof in _opened():
            prof._send_groups()
            prof.metadata, prof._unsent = {}, {}  # the next turn of the schedule begins without


_core.on_recording(_recording)


def _end_all():
    """While the interpreter is still whole: afterwards objects go in any order, or never."""
    for prof in list(_alive):
        prof.__del__()


_core.at_exit(_end_all)
_other_tool = None


def _is_taken():
    """Whether another tool records this process: it was started by it. Asked once."""
    global _other_tool
    if _other_tool is None:
        _other_tool = next((name for name in OTHER_TOOLS if os.environ.get(name)), "")
        if _other_tool:
            warn("%s is set: another profiler records this process, and this one does nothing" % _other_tool)
    return bool(_other_tool)


def _listen():
    """To PyTorch's operators. Without a listener everything else is recorded."""
    if "torch" not in sys.modules:
        info("operators are not recorded: PyTorch has not been imported")
        return None
    try:
        listener = _build.load()
        listener.ascope_torch_stack_source(*_core.stack_source())
        return listener
    except Exception as trouble:  # a BuildError, or a machine on which nothing works
        error("operators are not recorded: %s" % trouble)
        return None


def _rank():
    """Of torch.distributed, where it is in use; else the collector looks for $RANK."""
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    return None


def _truth(name, value):
    if isinstance(value, bool):
        return value
    warn("%s: wanted True or False, found %s; False is taken" % (name, shown(value)))
    return False


class _Caller:
    """What the collector calls. It does not hold the profiler: one that nobody else holds ends."""

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
    """What handlers of torch_npu's users ask a profiler for."""

    def __init__(self, prof_path):
        self.prof_path = prof_path


class _KinetoProfile:
    """Records between `start()` and `stop()`, or in a `with` block; what was recorded is exported from, afterwards.

    activities: a list of ProfilerActivity; both where it is left out.
    record_shapes: shapes and types of what operators are called with.
    profile_memory: what is allocated and freed.
    with_stack: the call stacks of operators, and Python's calls.
    with_flops: floating-point operations of products, convolutions and attention, as marks; needs mstx.
    with_modules: the modules that operators are called in.
    experimental_config: an _ExperimentalConfig, which has the switches of the device.
    custom_trace_id_callback: a function whose text becomes the trace_id of the collection.
    """

    max_meta_size, max_str_len = METADATA_MOST, TEXT_MOST

    def __init__(self, *, activities: Optional[Iterable[ProfilerActivity]] = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, experimental_config: Optional[_ExperimentalConfig] = None,
                 custom_trace_id_callback: Optional[Callable[[], str]] = None) -> None:
        self.activities = self._activities(activities)
        self.record_shapes = _truth("record_shapes", record_shapes)
        self.profile_memory = _truth("profile_memory", profile_memory)
        self.with_stack = _truth("with_stack", with_stack)
        self.with_flops = _truth("with_flops", with_flops)
        self.with_modules = _truth("with_modules", with_modules)
        if experimental_config is not None and not isinstance(experimental_config, _ExperimentalConfig):
            warn("experimental_config: wanted an _ExperimentalConfig, found %s; the default is taken" %
                 type(experimental_config).__name__)
            experimental_config = None
        if experimental_config is not None and ProfilerActivity.NPU not in self.activities:
            warn("experimental_config: without ProfilerActivity.NPU there is no device to be configured")
        self.experimental_config = experimental_config or _ExperimentalConfig()
        if self.experimental_config.with_gc and ProfilerActivity.CPU not in self.activities:
            warn("gc_detect_threshold: garbage is collected by the host, and ProfilerActivity.CPU is not wanted")
            self.experimental_config._gc_detect_threshold = None
        self.metadata, self._unsent = {}, {}
        self._trace_id_callback = custom_trace_id_callback
        self._trace_id = None
        self._core, self._path, self._was_exported = None, None, False
        self._caller, self._pid = _Caller(self), os.getpid()
        _alive.add(self)

    @staticmethod
    def _activities(given):
        try:
            wanted = [] if given is None else list(given)
        except Exception:
            wanted = [None]
        if not all(isinstance(one, ProfilerActivity) for one in wanted):
            warn("activities: wanted a list of ProfilerActivity, found %s; both are taken" % shown(given))
            wanted = []
        return set(wanted or ProfilerActivity)

    def _options(self, is_export_only):
        options = self.experimental_config.options()
        options.update(_place.options(is_export_only))
        for name in _SWITCHES:
            options[name] = getattr(self, name)
        options["activities"] = [one.name for one in ProfilerActivity if one in self.activities]
        options["device"] = os.environ.get("ASCOPE_DEVICE") or None
        options["rank"] = _rank()
        return options

    def _make(self):
        """The collector's side; when it is first needed, because handlers are made before."""
        return _core.Profiler(self._options(is_export_only=True), None, self._caller.ready)

    def _collector(self, starts):
        is_heard = ProfilerActivity.CPU in self.activities or self.with_flops or os.environ.get("ASCOPE_DEVICE") == "sim"
        if is_heard and (self._core is None or starts and not self._core.is_open):
            _listen()
        if self._core is None:
            self._is_lost = True
            self._core = self._make()
            self._is_lost = False
        return self._core

    def _complete(self, path):
        self._path = path

    def _is_of_parent(self, what):
        """In a forked process: whether it was used before. It goes on there; here it does nothing, and says so once."""
        if self._pid == os.getpid():
            return False
        if self._core is None:
            self._pid = os.getpid()
            return False
        if not self._is_told_of_parent and what != "stop":
            self._is_told_of_parent = True
            warn("the profiler runs in the parent process; make one in this process to record it")
        return True

    _is_told_of_parent = False
    _is_lost = False  # there can be no collector; that was told, and nothing more happens until the next start

    def _driven(self, what):
        """One move of the collector."""
        if self._is_of_parent(what) or (self._is_lost and what != "start"):
            return
        core = self._collector(starts=what == "start")
        try:
            getattr(core, what)()
        finally:
            self._path = core.path or self._path

    @guarded()
    def start(self) -> None:
        """Recording begins."""
        if not _is_taken():
            self._driven("start")

    @guarded()
    def stop(self) -> None:
        """Recording ends; everything is on disk."""
        if not _is_taken() and self._core is not None:
            self._driven("stop")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def __del__(self):
        core = getattr(self, "_core", None)
        if core is None or self._pid != os.getpid():  # a forked process has a copy; the files are not its own
            return
        try:
            self._caller.prof = lambda: self  # weak references may be gone already
            core.free()
            if self._path and self._was_exported and _place.is_export_only(self._path):
                shutil.rmtree(self._path, ignore_errors=True)
                os.rmdir(os.path.dirname(self._path))
        except Exception:  # the interpreter may be on its way out, and others may still use the directory
            pass
        finally:
            self._caller.prof = lambda: None

    @property
    def prof_if(self) -> _Interface:
        """prof_if.prof_path: where the collection is."""
        return _Interface(self._path)

    # ---- what is written beside ----

    @guarded()
    def add_metadata(self, key: str, value: str) -> None:
        """A text for profiler_metadata.json."""
        if self._is_metadata(key, value):
            self._keep_metadata(key, value, "metadata")

    @guarded()
    def add_metadata_json(self, key: str, value: str) -> None:
        """The same with a value that is JSON."""
        if not self._is_metadata(key, value):
            return
        try:
            json.loads(value)
        except ValueError as trouble:
            warn("add_metadata_json: %s: the value is not JSON: %s; it is left out" % (key, trouble))
            return
        self._keep_metadata(key, value, "metadata_json")

    def _is_metadata(self, key, value):
        if not isinstance(key, str) or not isinstance(value, str):
            warn("metadata: wanted texts for key and value, found %s and %s; they are left out" % (shown(key), shown(value)))
        elif len(key) > TEXT_MOST or len(value) > TEXT_MOST:
            warn("metadata: %.40s: more than %d characters; it is left out" % (key, TEXT_MOST))
        elif sum(map(sys.getsizeof, (self.metadata, key, value))) >= METADATA_MOST:
            warn("metadata: %.40s: more than %d bytes in all; it is left out" % (key, METADATA_MOST))
        else:
            return True
        return False

    def _keep_metadata(self, key, value, how):
        if key in self._unsent:  # else the collector says so
            warn("metadata: %s is there already, and gets the new value" % key)
        self.metadata[key] = value
        self._unsent[key] = how
        if self._core is not None and self._core.is_open:
            self._send_metadata()

    def _send_metadata(self):
        """To the collection that is open."""
        for key in list(self._unsent):
            try:
                getattr(self._core, self._unsent.pop(key))(key, self.metadata[key])
            except _core.Error as trouble:
                warn(str(trouble))

    def _send_groups(self):
        """At the end: groups are made while a program runs."""
        try:
            found = _groups.info()
            if found:
                self._core.metadata_json("parallel_group_info", json.dumps(found))
        except Exception as trouble:  # they are known by parts of PyTorch that it does not promise to keep
            warn("parallel_group_info: %s; it is left out" % why(trouble))

    def _next_trace_id(self):
        self._trace_id = uuid.uuid4().hex.upper()
        if self._trace_id_callback is not None:
            try:
                made = self._trace_id_callback()
                if isinstance(made, str) and len(made) <= 1024:
                    self._trace_id = made
                else:
                    warn("custom_trace_id_callback: wanted a text of up to 1024 characters, found %s" % shown(made))
            except Exception as trouble:
                warn("custom_trace_id_callback: %s" % why(trouble))
        return self._trace_id

    @guarded()
    def set_custom_trace_id_callback(self, callback: Optional[Callable[[], str]]) -> None:
        """For collections that begin from now on. None: each has a number that no other has."""
        self._trace_id_callback = callback

    @guarded()
    def get_trace_id(self) -> Optional[str]:
        """Of the last collection that has begun."""
        return self._trace_id

    # ---- exports ----

    def _export(self, what, output_path, *more):
        """With a function of the program's; directories above the file are made."""
        if not self._path or not os.path.isdir(self._path):
            warn("%s: nothing has been recorded yet" % what)
            return
        output_path = path_of("output_path", output_path)
        if output_path is None:
            return
        os.makedirs(os.path.dirname(os.path.abspath(output_path)), exist_ok=True)
        outcome = getattr(_program, what)(self._path, output_path, *more, tell)
        self._was_exported = self._was_exported or outcome.is_done

    @guarded()
    def export_chrome_trace(self, output_path: _Path) -> None:
        """The timeline as one JSON file, for chrome://tracing, Perfetto and MindStudio Insight."""
        self._export("export_chrome_trace", output_path)

    @guarded()
    def export_stacks(self, output_path: _Path, metric: str = METRICS[0]) -> None:
        """Call stacks with their times, for flame graphs; needs with_stack.

        metric: self_cpu_time_total or self_npu_time_total.
        """
        if not self.with_stack:
            warn("export_stacks: there are no stacks without with_stack=True")
            return
        if metric not in METRICS:
            warn("export_stacks: there is no metric %s; %s is taken" % (shown(metric), METRICS[0]))
            metric = METRICS[0]
        if not str(output_path).endswith((".log", ".svg")) and _program.is_file_name(output_path):
            warn("export_stacks: %s: such files end in .log, and so will this one" % output_path)
        self._export("export_stacks", output_path, metric)

    @guarded()
    def export_memory_timeline(self, output_path: _Path, device: Optional[str] = None) -> None:
        """Memory over time by what it was used for: a page (.html), or the numbers (.json, .json.gz, .raw.json.gz).

        device: "npu:0" or "cpu"; by default the first NPU whose memory was recorded, else the CPU.
        """
        if not (self.record_shapes and self.profile_memory and (self.with_stack or self.with_modules)):
            warn("export_memory_timeline: needs record_shapes, profile_memory, and with_stack or with_modules")
            return
        self._export("export_memory_timeline", output_path, device)


class profile(_KinetoProfile):
    """Records the steps that a schedule chooses; `on_trace_ready(prof)` is called when a turn of it is complete.

    schedule: which steps, as `schedule(...)` or any function from a step's number to a ProfilerAction; all of them without one.
    on_trace_ready: `tensorboard_trace_handler(...)`, or a function that is given the profiler. Without one what was recorded is
        there to be exported from.
    execution_trace_observer: an object whose start() and stop() are called with the profiler's own.
    use_cuda: for scripts of other profilers; it has no effect.

    Everything else is that of _KinetoProfile.
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
            warn("use_cuda: there is no CUDA here; it is left out")
        if schedule is not None and not callable(schedule):
            warn("schedule: wanted a function, found %s; every step is recorded" % shown(schedule))
            schedule = None
        if on_trace_ready is not None and not callable(on_trace_ready):
            warn("on_trace_ready: wanted a function, found %s; it is left out" % shown(on_trace_ready))
            on_trace_ready = None
        self.schedule, self.on_trace_ready = schedule, on_trace_ready
        self.record_steps = schedule is not None
        self.step_num = 0
        self.stopped = False
        self._is_schedule_told = False
        self.execution_trace_observer = execution_trace_observer

    @property
    def current_action(self) -> ProfilerAction:
        """What the schedule says of this step."""
        return ProfilerAction(self._core.action if self._core is not None else self._asked(self.step_num))

    def _asked(self, step):
        """The number of the schedule's action. A schedule that fails records nothing, which is told once."""
        if not self.schedule:
            return ProfilerAction.RECORD.value
        try:
            action = self.schedule(step)
            return ProfilerAction(getattr(action, "value", action)).value
        except Exception as trouble:
            if not self._is_schedule_told:
                error("schedule: step %d is not recorded: %s" % (step, why(trouble)))
            self._is_schedule_told = True
            return ProfilerAction.NONE.value

    def _make(self):
        plan = self.schedule.as_tuple() if isinstance(self.schedule, Schedule) else self.schedule and self._caller.action
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
        """The schedule's first step begins."""
        if _is_taken():
            return
        self.stopped = False
        self._driven("start")
        if self.execution_trace_observer:
            self.execution_trace_observer.start()

    @guarded()
    def step(self) -> None:
        """A step ends, the next one begins."""
        if _is_taken():
            return
        if self.stopped:
            warn("step: the profiler was stopped; nothing happens")
            return
        self.step_num += 1
        self._driven("step")

    @guarded()
    def stop(self) -> None:
        """The last step ends, whatever the schedule has said of it."""
        if _is_taken() or self._core is None or self.stopped:
            return
        try:
            self._driven("stop")
        finally:  # whoever interrupts the analysis has stopped all the same
            self.stopped = True
            if self.execution_trace_observer:
                self.execution_trace_observer.stop()

    @classmethod
    @guarded()
    def enable_profiler_in_child_thread(cls, record_shapes: bool = False, profile_memory: bool = False, with_stack: bool = False,
                                        with_flops: bool = False, with_modules: bool = False) -> None:
        """Records the operators of the calling thread, too, while a profiler of the process records."""
        listener = None if _is_taken() else _listen()
        if not listener:
            return
        with_stack, with_modules = _truth("with_stack", with_stack), _truth("with_modules", with_modules)
        if (with_stack or with_modules) and not getattr(_child, "is_traced", False):
            _child.is_traced = True
            _core.trace_for_thread(True)
        listener.ascope_torch_enable_thread(_truth("record_shapes", record_shapes), _truth("profile_memory", profile_memory),
                                            with_stack, with_modules, _truth("with_flops", with_flops))

    @classmethod
    @guarded()
    def disable_profiler_in_child_thread(cls) -> None:
        """The calling thread's operators are recorded no longer."""
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
    """For on_trace_ready: the collection goes to `dir_name` and is analysed there, in a process of its own.

    dir_name: $ASCEND_WORK_PATH/profiling_data, or the working directory, where it is left out.
    worker_name: the first part of the collection's name, instead of this machine's name.
    analyse_flag: False leaves the analysis for later, see `analyse`.
    async_mode: the training does not wait for the analysis.
    """
    if not isinstance(analyse_flag, bool):
        warn("analyse_flag: wanted True or False, found %s; True is taken" % shown(analyse_flag))
        analyse_flag = True
    async_mode = _truth("async_mode", async_mode)
    _place.choose(dir_name, worker_name)

    def handler(prof):
        path = prof._path  # async: by the end of it the profiler may be in its next collection

        def done(outcome):
            if outcome.is_done:
                info("analysed in %.1f s: %s" % (outcome.seconds, os.path.join(path, "ASCEND_PROFILER_OUTPUT")))

        if analyse_flag and not _is_taken():
            info("%s is analysed" % path)
            _program.analyse(path, waits=not async_mode, tell=tell, done=done)

    return handler


@guarded()
def analyse(profiler_path: _Path, max_process_number: Optional[int] = None,
            export_type: Union[None, str, List[str]] = None) -> None:
    """ASCEND_PROFILER_OUTPUT of one `*_ascend_pt` directory, or of all in a directory, some time later.

    max_process_number: how many are analysed at once; as many as there are processors where it is left out.
    export_type: text, db or a list of them; as the collection was set up where it is left out.
    """
    cpus = os.cpu_count() or 1
    if max_process_number is not None and (isinstance(max_process_number, bool) or
                                           not isinstance(max_process_number, int) or max_process_number <= 0):
        warn("max_process_number: wanted a number from 1, found %s; the default is taken" % shown(max_process_number))
        max_process_number = None
    elif max_process_number is not None and max_process_number > cpus:
        warn("max_process_number: there are %d processors; so many are taken" % cpus)
        max_process_number = cpus
    wanted = [export_type] if isinstance(export_type, str) else export_type
    if wanted is not None and (not isinstance(wanted, (list, tuple)) or
                               not all(isinstance(one, str) and one in supported_export_type() for one in wanted)):
        warn("export_type: wanted text, db or a list of them, found %s; as it was recorded" % shown(export_type))
        wanted = None
    profiler_path = path_of("profiler_path", profiler_path, _core.ERROR)
    if profiler_path is None:
        return
    if not os.path.exists(profiler_path):
        error("analyse: %s does not exist" % profiler_path)
        return
    _program.analyse(profiler_path, wanted, max_process_number, tell=tell)
