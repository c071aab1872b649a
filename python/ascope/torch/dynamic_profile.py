# SPDX-License-Identifier: Apache-2.0
"""Collections that are started while a job runs, by a file: `profiler_config.json` in a directory that the job listens to.

    from ascope.torch.profiler import dynamic_profile as dp

    dp.init("config_dir")
    for batch in loader:
        train_one_step(batch)
        dp.step()

`ascope dyn config_dir start --steps 3` starts one from outside; so does an editor. With PROF_CONFIG_PATH in the environment the same happens
without a change of the script: a step ends with `step()` of the optimizer that was constructed last. libascope
(ascope/dynamic.h) decides when a collection begins and ends; this module makes a `profile` of each request.
"""
import multiprocessing
import os
import sys
import threading
import weakref
from typing import Any, Dict, List, Optional

from ascope import _core
from ascope.torch import _build, _live, _optimizers
from ascope.torch._messages import error, guarded, path_of, report, shown, warn
from ascope.torch.config import AiCMetrics, ProfilerActivity, _ExperimentalConfig
from ascope.torch.schedule import Schedule

__all__ = ["init", "step", "start", "set_state"]

VARIABLE = "PROF_CONFIG_PATH"
# Programs and modules that start the ranks of a job, and are not ranks themselves.
LAUNCHERS = ("torchrun", "torch_npu_run", "vllm", "torch.distributed.run", "torch.distributed.launch", "torch_npu.distributed.run",
             "torch_npu.distributed.launch", "vllm.entrypoints.openai.api_server")

_ROWS = [row for row in _core.option_table() if not row["is_old"]]
_running: List[Any] = []  # [the profile of the collection that is running]


def _rank() -> int:
    """$RANK, else the rank of torch.distributed, else -1, which means that it is not known."""
    from ascope.torch import profiler
    try:
        return int(os.environ["RANK"])
    except (KeyError, ValueError):
        found = profiler._rank()
        return -1 if found is None else found


# ---- a collection: hooks of libascope ----

def _begin(request: Dict[str, Any]) -> bool:
    from ascope.torch import profiler
    options = request["options"]

    def given(section):
        return {row["name"]: options[row["name"]] for row in _ROWS if row["section"] == section}

    of_profile, of_config = given("common_config"), given("experimental_config")
    of_profile["activities"] = [ProfilerActivity[name] for name in options["activities"]]
    of_config["aic_metrics"] = getattr(AiCMetrics, options["aic_metrics"] or "", None)
    prof = profiler.profile(
        **of_profile, experimental_config=_ExperimentalConfig(**of_config),
        schedule=Schedule(wait=0, warmup=request["warmup"], active=request["active"], repeat=1),
        on_trace_ready=profiler.tensorboard_trace_handler(options["parent_dir"], analyse_flag=request["analyse"],
                                                          async_mode=request["async_mode"]))
    prof._first_step = request["step"]
    for key, value in request["metadata"].items():
        prof.add_metadata_json(key, value)
    prof.start()
    if prof._core is None or not prof._core.is_open:  # the recorder has reported why
        prof.stop()
        return False
    _running[:] = [prof]
    return True


def _step() -> None:
    _running[0].step()


def _end(is_cut: bool) -> Optional[str]:
    prof = _running.pop()
    prof.stop()
    path = prof._path
    return path if path and os.path.isdir(path) else None  # a collection that ended in its warm-up was removed


def _prepare() -> None:
    """Compiles the listener in parallel to the job, so that the step in which a collection begins does not wait for it."""
    try:
        _build.path()
    except Exception:  # the collection reports it
        pass


# ---- the interface ----

@guarded()
def init(path: str) -> None:
    """Listens to a directory: writes the template profiler_config.json there if it is missing, and logs to its directory `log`.

    A second call changes nothing.
    """
    from ascope.torch import profiler
    directory = path_of("dynamic_profile: init", path, "dynamic profiling is disabled", _core.ERROR)
    if directory is None:
        return
    profiler.make_room()
    try:
        _core.dynamic_init(directory, rank=_rank, begin=_begin, step=_step, end=_end, message=report)
    except _core.Error as trouble:
        error("%s; dynamic profiling is disabled" % trouble)
        return
    _live.on()
    if "torch" in sys.modules and not _build.loaded():
        threading.Thread(target=_prepare, name="ascope-build", daemon=True).start()


step = _core.dynamic_step


@guarded()
def start(config_path: Optional[str] = None) -> None:
    """Begins a collection now, as the file `config_path` describes, or the file of `init` if that one cannot be used.

    It ends after as many calls of `step` as the file's `warmup` and `active` ask for. Ignored while a collection is running.
    """
    if config_path is not None and not isinstance(config_path, (str, os.PathLike)):
        error("dynamic_profile: start: expected a path, got %s; using the file of init()" % shown(config_path))
        config_path = None
    if config_path:
        _core.dynamic_start(os.path.expanduser(config_path))
    else:
        _core.dynamic_start()


@guarded()
def set_state(state: Dict[str, int]) -> None:
    """Sets the number of the current step, for a training that continues: {"cur_step": n}."""
    number = state.get("cur_step", 0) if isinstance(state, dict) else None
    if not isinstance(number, int) or number < 0 or not _core.dynamic_set_step(number):
        error('dynamic_profile: set_state: expected {"cur_step": an integer from 0}, got %s; ignored' % shown(state))


# ---- PROF_CONFIG_PATH ----

class _Counting:
    """Counts steps: each step of the optimizer constructed last is one. Once the script calls step() itself, only its calls count."""

    def __init__(self):
        self.last = lambda: None
        self.n_uncalled = 0  # steps of the optimizer since the script's own call
        self.is_of_script = False

    def made(self, optimizer):
        self.last = weakref.ref(optimizer)

    def ended(self, optimizer):
        if self.last() is optimizer and not self.is_of_script:
            self.n_uncalled += 1
            _core.dynamic_step()

    def step(self) -> None:
        """Ends a step; the script calls it once per iteration. If the optimizer has counted this iteration already, the call does not."""
        was_counted = not self.is_of_script and self.n_uncalled > 0
        self.is_of_script = True
        if not was_counted:
            _core.dynamic_step()


def _trains() -> bool:
    """Whether this process may be a rank. Launchers, and processes that only load data, are not."""
    if multiprocessing.current_process().daemon:
        return False
    script = sys.argv[0] if sys.argv else ""
    dotted = "." + (script[:-len(".py")] if script.endswith(".py") else script).replace(os.sep, ".")
    is_launcher = any(script == name or os.path.basename(script) == name or "." in name and dotted.endswith("." + name) for name in LAUNCHERS)
    return "RANK" in os.environ or not is_launcher


def from_environment() -> None:
    """Listens if PROF_CONFIG_PATH is set. Called when torch_npu is imported, which `python3 -m ascope run` does, too."""
    global step
    path = os.environ.get(VARIABLE)
    if not path or not _trains() or _core.dynamic_state():
        return
    init(path)
    counting = _Counting()
    try:
        _optimizers.watch(counting.ended, counting.made)
    except ImportError:
        warn("%s is set, but PyTorch cannot be imported: no optimizer ends a step" % VARIABLE)
    step = counting.step
