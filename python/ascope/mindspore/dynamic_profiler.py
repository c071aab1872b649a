# SPDX-License-Identifier: Apache-2.0
"""Collections that are started while a training runs, by a file: `profiler_config.json` in a directory that the training listens to.

    monitor = DynamicProfilerMonitor(cfg_path="./config", output_path="./result")
    model.train(epochs, dataset, callbacks=[monitor])       # or monitor.step() at the end of each step of a loop of one's own

What is decided, and when, is in libascope (ascope/dynamic.h); here a request becomes a Profiler.
"""
import json
import os
from typing import Any, Callable, Dict, NamedTuple, Optional

from ascope import _core, _front_ends
from ascope.mindspore import _log, callbacks, config
from ascope.mindspore.profiler import Profiler, tensorboard_trace_handler
from ascope.mindspore.profiler_interface import ProfilerInterface
from ascope.mindspore.schedule import Schedule

OUTPUT_PATH, POLL_SECONDS = "./dyn_profile_data", 2
SAME_PATH = "./"  # as prof_path: the output_path of the monitor
_METRICS = ("PipeUtilization", "ArithmeticUtilization", "Memory", "MemoryL0", "MemoryUB", "ResourceConflictRatio", "L2Cache", "MemoryAccess")


def _say(text: str) -> None:
    print("[Dynamic Profiler] " + text, flush=True)


def _guarded(function: Callable) -> Callable:
    """Decorator: exceptions in the monitor are reported, and do not reach the training."""
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as trouble:  # pylint: disable=broad-except
            _log.error("Call to %s failed. Exception: %s" % (function.__name__, trouble))
            return None

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    return call


# ---- the file: each key is a row ----

def _numbered(name, value, numbers):
    """The name, or the names, that a number of the old form stands for."""
    _log.warning("%s: the number %d is an old form; use the name." % (name, value))
    return numbers.get(value)


def _one(kind, numbers, other_names=()):
    def check(name, value):
        word = _numbered(name, value, numbers) if isinstance(value, int) else value
        word = dict(other_names).get(word, word)
        if word not in kind.__members__:
            raise ValueError
        return kind[word]

    return check


def _several(kind, numbers):
    def check(name, value):
        words = _numbered(name, value, numbers) if isinstance(value, int) else value
        members = [one for word in words or [None] for one in kind if one.value == word]
        if words and len(members) == len(words):
            return members
        if words == []:
            return members
        raise ValueError

    return check


def _mode(name, value):
    modes = {-1: None, 0: "sync", 1: "async"}
    if value not in modes:
        raise ValueError
    return modes[value]


def _same(name, value):
    return value


class Key(NamedTuple):
    """One key of the file: the types of its value, its conversion, and its default."""
    name: str
    types: tuple
    check: Callable[[str, Any], Any]
    default: Any


KEYS = (
    Key("aic_metrics", (str, int), _one(config.AicoreMetrics, dict(enumerate(_METRICS))), config.AicoreMetrics.AiCoreNone),
    Key("profiler_level", (str, int), _one(config.ProfilerLevel, {-1: "LevelNone", 0: "Level0", 1: "Level1", 2: "Level2"}), config.ProfilerLevel.Level0),
    Key("analyse_mode", (int,), _mode, None),
    Key("activities", (list, int), _several(config.ProfilerActivity, {0: ["CPU", "NPU"], 1: ["CPU"], 2: ["NPU"]}), None),
    Key("export_type", (list, int), _several(config.ExportType, {1: ["db"], 2: ["text", "db"]}), None),
    *(Key(name, (bool,), _same, False) for name in ("profile_memory", "mstx", "parallel_strategy", "with_stack", "l2_cache", "record_shapes",
                                                    "sys_io", "sys_interconnection", "analyse")),
    Key("data_simplification", (bool,), _same, True),
    Key("prof_path", (str,), _same, SAME_PATH),
    Key("mstx_domain_include", (list,), _same, None),
    Key("mstx_domain_exclude", (list,), _same, None),
    Key("host_sys", (list,), _several(config.HostSystem, {}), None),
)
OF_MONITOR = ("analyse_mode", "analyse", "prof_path")


def read(text: str) -> Dict[str, Any]:
    """The values of all keys; for an invalid value the default, with a warning."""
    given, made = json.loads(text), {}
    for key in KEYS:
        made[key.name] = key.default
        if key.name not in given:
            continue
        value = given[key.name]
        try:
            if not isinstance(value, key.types) or isinstance(value, bool) and bool not in key.types:
                raise ValueError
            made[key.name] = key.check(key.name, value)
        except ValueError:
            _log.warning("%s: invalid value %s; using the default." % (key.name, _log.shown(value)))
    return made


# ---- the monitor ----

def _rank() -> int:
    rank = config._communication("get_rank")
    return int(os.environ.get("RANK_ID") or 0) if rank is None else int(rank)


@callbacks.watch
class DynamicProfilerMonitor(callbacks.base()):  # type: ignore[misc]
    """A Callback of a training, or for its loop: begins and ends the collections that profiler_config.json in cfg_path asks for.

    cfg_path: the directory of that file, which is created with every key if it is missing.
    output_path: directory of the results: {output_path}/rank{R}_start{A}_stop{B}.
    poll_interval: seconds between two looks at the file.
    """

    def __init__(self, cfg_path: Optional[str] = None, output_path: str = OUTPUT_PATH, poll_interval: int = POLL_SECONDS, **kwargs: Any) -> None:
        if os.environ.get("KINETO_USE_DAEMON") == "1":
            _log.warning("KINETO_USE_DAEMON: a daemon is not supported; profiler_config.json in cfg_path is used.")
        if not isinstance(cfg_path, str):
            raise TypeError("cfg_path: expected a string, got %s" % _log.shown(cfg_path))
        if not isinstance(output_path, str):
            _log.warning("output_path: expected a string, got %s; using %s." % (_log.shown(output_path), OUTPUT_PATH))
            output_path = OUTPUT_PATH
        if not isinstance(poll_interval, int) or poll_interval < 1:
            _log.error("poll_interval: expected an int from 1, got %s; using %d." % (_log.shown(poll_interval), POLL_SECONDS))
            poll_interval = POLL_SECONDS
        self._output_path, self._kwargs, self._rank_id = output_path, kwargs, _rank()
        self._profiler: Optional[Profiler] = None
        self._is_callback = False  # the training calls it as a Callback, not through step()
        self._keys: Dict[str, Any] = {}
        self._stop_step = -1
        self._begin_listening(cfg_path, int(poll_interval))

    @_guarded
    def _begin_listening(self, cfg_path: str, poll_seconds: int) -> None:
        _front_ends.receive(_log.report)
        is_new = not os.path.exists(os.path.join(cfg_path, "profiler_config.json"))
        _core.dynamic_init(cfg_path, rank=lambda: self._rank_id, begin=self._begin, step=self._stepped, end=self._end, message=_log.report,
                           kind=_core.DYNAMIC_MINDSPORE, poll_ms=poll_seconds * 1000)
        if is_new:
            _say("Init config json file: %s" % os.path.join(cfg_path, "profiler_config.json"))

    # ---- a collection: hooks of libascope ----

    def _begin(self, request: Dict[str, Any]) -> bool:
        self._keys = read(request["json"])
        start = json.loads(request["json"])["start_step"]
        self._stop_step = start + request["active"] - 1
        if self._is_callback and (request["is_late"] or start <= 0):
            _log.error("start_step %d has passed: the current step is %d; nothing is recorded." % (start, request["step"]))
            return False
        given = {name: value for name, value in self._keys.items() if name not in OF_MONITOR}
        parent = self._output_path if self._is_callback or self._keys["prof_path"] == SAME_PATH else self._keys["prof_path"]
        place = os.path.join(parent, "rank%d_start%d_stop%d" % (self._rank_id, start, self._stop_step))
        _say("create output path: %s" % place)
        if self._is_callback:
            self._profiler = Profiler(output_path=place, **given)
        else:
            handler = tensorboard_trace_handler(place, analyse_flag=self._keys["analyse"], async_mode=self._keys["analyse_mode"] == "async")
            plan = Schedule(wait=0, active=request["active"], warmup=0, repeat=1, skip_first=1)
            self._profiler = Profiler(schedule=plan, on_trace_ready=handler, **given)
            self._profiler.step()
        if not ProfilerInterface.is_recording() or ProfilerInterface.owner is not self._profiler._token:
            self._profiler = None
            return False
        _say("start at step %d will stop at step %d" % (request["step"], request["step"] + request["active"] - 1))
        return True

    def _stepped(self) -> None:
        if self._profiler is not None and not self._is_callback:
            self._profiler.step()

    def _end(self, is_cut: bool) -> Optional[str]:
        self._finish(is_cut)
        return ProfilerInterface.path

    def _finish(self, is_cut: bool) -> None:
        """A training that ends leaves its collection unanalysed."""
        profiler, self._profiler = self._profiler, None
        if profiler is None:
            return
        if is_cut or self._is_callback:
            if profiler._has_started and profiler._use():
                profiler._has_started = False
                ProfilerInterface.stop()
            if not is_cut and self._keys["analyse_mode"]:
                profiler.analyse(mode=self._keys["analyse_mode"])
            elif profiler._use():
                ProfilerInterface.finalize()
                ProfilerInterface.clear()
        else:
            profiler._has_started = False  # the schedule has run out
        _say("stop at end of training" if is_cut else "stop at step %d" % self._stop_step)

    # ---- called by the training ----

    @_guarded
    def step(self) -> None:
        """At the end of each step of a loop of one's own."""
        self._is_callback = False
        _core.dynamic_step()

    @_guarded
    def step_begin(self, run_context: Any) -> None:
        """Of a Callback."""
        self._is_callback = True
        before = int(run_context.original_args().cur_step_num) - 1
        if _core.dynamic_current_step() != before:
            _core.dynamic_set_step(before)
        _core.dynamic_step()

    @_guarded
    def step_end(self, run_context: Any) -> None:
        """Of a Callback."""
        if self._profiler is not None and int(run_context.original_args().cur_step_num) >= self._stop_step:
            self._finish(is_cut=False)

    @_guarded
    def on_train_end(self, run_context: Any) -> None:
        """Of a Callback."""
        _core.dynamic_end()
