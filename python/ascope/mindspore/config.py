# SPDX-License-Identifier: Apache-2.0
"""Parameters of the Profiler: accepted values, defaults, and rules between parameters.

Invalid values fall back to the default, with a warning; a parameter that is None has its default. Each parameter is a row.
"""
import enum
import json
import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from ascope.mindspore import _log
from ascope.mindspore.schedule import Schedule


def uses_cuda() -> bool:
    """Whether a library of CUDA is loaded in this process."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:  # names of files may be any bytes
            return any("/libcuda.so" in line or "/libcudart" in line for line in maps)
    except OSError:
        return False


class ProfilerLevel(enum.Enum):
    """What the device records: only marks; kernels and calls; plus counters and collectives; plus runtime calls and AI CPU."""
    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class ProfilerActivity(enum.Enum):
    """What is recorded: the device, a GPU in a program that uses CUDA (else no effect), the host."""
    NPU = "NPU"
    GPU = "GPU"
    CPU = "CPU"


class AicoreMetrics(enum.Enum):
    """Counter group of the AI cores. The results have columns for each counter."""
    PipeUtilization = "PipeUtilization"
    ArithmeticUtilization = "ArithmeticUtilization"
    Memory = "Memory"
    MemoryL0 = "MemoryL0"
    MemoryUB = "MemoryUB"
    ResourceConflictRatio = "ResourceConflictRatio"
    L2Cache = "L2Cache"
    MemoryAccess = "MemoryAccess"
    AiCoreNone = "None"


class ExportType(enum.Enum):
    """Output of the analysis: a database, or timelines and tables as files."""
    Db = "db"
    Text = "text"


class HostSystem(enum.Enum):
    """Samplers of the host."""
    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"


# ---- each value by itself ----

def _boolean(value):
    if not isinstance(value, bool):
        raise ValueError("a boolean")
    return value


def _member(kind):
    def check(value):
        if not isinstance(value, kind):
            raise ValueError("a member of %s" % kind.__name__)
        return value

    return check


def _members(kind):
    def check(value):
        if not isinstance(value, list) or not all(isinstance(one, kind) for one in value):
            raise ValueError("a list of %s" % kind.__name__)
        return [one for one in kind if one in value]  # each member once, in the order of the enum

    return check


def _exports(value):
    if isinstance(value, ExportType):
        value = [value]
    elif isinstance(value, str):
        value = [one for one in ExportType if one.value == value] or [value]
    return _members(ExportType)(value)


def _names(value):
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError("a list of strings that are not empty")
    return list(dict.fromkeys(value))


def _text(value):
    if not isinstance(value, str):
        raise ValueError("a string")
    return value


def _schedule(value):
    if not isinstance(value, Schedule):
        raise ValueError("a schedule")
    return value


def _callable(value):
    if not callable(value):
        raise ValueError("a callable")
    return value


class Row(NamedTuple):
    """One parameter."""
    name: str
    check: Callable[[Any], Any]
    default: Any
    option: Optional[str]  # name of the recorder's option; None: there is none
    may_be_false: bool = False  # any false value means the default, without a warning


# In the order in which profiler_info lists them.
ROWS = (
    Row("output_path", _text, "./data", None),
    Row("profiler_level", _member(ProfilerLevel), ProfilerLevel.Level0, "profiler_level"),
    Row("activities", _members(ProfilerActivity), [ProfilerActivity.CPU, ProfilerActivity.NPU], "activities"),
    Row("aic_metrics", _member(AicoreMetrics), AicoreMetrics.AiCoreNone, "aic_metrics"),
    Row("with_stack", _boolean, False, "with_stack"),
    Row("profile_memory", _boolean, False, "profile_memory"),
    Row("data_process", _boolean, False, None),
    Row("parallel_strategy", _boolean, False, None),
    Row("start_profile", _boolean, True, None),
    Row("l2_cache", _boolean, False, "l2_cache"),
    Row("hbm_ddr", _boolean, False, None),
    Row("pcie", _boolean, False, None),
    Row("sys_io", _boolean, False, "sys_io"),
    Row("sys_interconnection", _boolean, False, "sys_interconnection"),
    Row("host_sys", _members(HostSystem), [], "host_sys", True),
    Row("sync_enable", _boolean, True, None),
    Row("data_simplification", _boolean, True, "data_simplification"),
    Row("record_shapes", _boolean, False, "record_shapes"),
    Row("export_type", _exports, [ExportType.Text], "export_type", True),
    Row("mstx", _boolean, False, "mstx"),
    Row("mstx_domain_include", _names, [], "mstx_domain_include", True),
    Row("mstx_domain_exclude", _names, [], "mstx_domain_exclude", True),
    Row("schedule", _schedule, None, None),
    Row("on_trace_ready", _callable, None, None),
)
OTHER_NAMES = {"aicore_metrics": "aic_metrics"}
DEPRECATED = {
    "profile_communication": "use ProfilerLevel.Level1 or ProfilerLevel.Level2",
    "op_time": "use ProfilerActivity.NPU",
    "profile_framework": "use ProfilerActivity.CPU",
    "host_stack": "use 'with_stack'",
    "timeline_limit": "it has no effect",
}
SOON_DEPRECATED = {"pcie": "use 'sys_interconnection'", "hbm_ddr": "use 'profile_memory'"}


def _filed(value):
    """A value in the form that profiler_info stores."""
    if isinstance(value, list):
        return [_filed(one) for one in value]
    if isinstance(value, Schedule):
        return value.to_dict()
    return value.value if isinstance(value, enum.Enum) else value


class Place(NamedTuple):
    """The directory and the name that a handler chose; None: output_path, and the host name."""
    dir_name: Optional[str] = None
    worker_name: Optional[str] = None


class Parameters:
    """The checked parameters of one Profiler, as attributes. unset_schedule: stands in profiler_info if no schedule is given."""
    # The parameters of ROWS that other code uses.
    output_path: str
    activities: List[ProfilerActivity]
    hbm_ddr: bool
    pcie: bool
    start_profile: bool
    schedule: Any
    on_trace_ready: Optional[Callable[..., Any]]

    place = Place()

    def __init__(self, given: Dict[str, Any], unset_schedule: Optional[Schedule] = None) -> None:
        self._deprecated(given)
        self._unknown(given)
        given = {OTHER_NAMES.get(name, name): value for name, value in given.items() if value is not None}
        self.is_path_given = "output_path" in given
        for row in ROWS:
            setattr(self, row.name, self._checked(row, given.get(row.name)))
        self.is_set_schedule = self.schedule is not None
        if self.schedule is None:
            self.schedule = unset_schedule or Schedule(wait=0, active=1)
        self._relate()

    @staticmethod
    def _deprecated(given):
        for name, instead in DEPRECATED.items():
            if name in given:
                _log.note("The parameter '%s' is deprecated; %s." % (name, instead))
        for name, instead in SOON_DEPRECATED.items():
            if given.get(name) is True:
                _log.note("The parameter '%s' will be deprecated; %s." % (name, instead))

    @staticmethod
    def _unknown(given):
        known = {row.name for row in ROWS} | set(OTHER_NAMES) | set(DEPRECATED)
        for name in given:
            if name not in known:
                _log.note("The parameter '%s' is unknown; ignored." % name)

    @staticmethod
    def _checked(row, value):
        default = list(row.default) if isinstance(row.default, list) else row.default
        if value is None or row.may_be_false and not value:
            return default
        try:
            return row.check(value)
        except ValueError as trouble:
            _log.warning("The parameter '%s' should be %s, but got %s; using %s." % (row.name, trouble, _log.shown(value), _filed(default)))
            return default

    def _relate(self):
        """Applies the rules between parameters. The order of the rules matters."""
        is_low = (ProfilerLevel.LevelNone, ProfilerLevel.Level0)
        if self.is_set_schedule and self.data_process:
            _log.note("The parameter 'data_process' is not supported with a schedule; using False.")
            self.data_process = False
        if not self.mstx and self.profiler_level is ProfilerLevel.LevelNone:
            _log.note("The parameter 'profiler_level' is LevelNone, which records marks only, but 'mstx' is False; using Level0.")
            self.profiler_level = ProfilerLevel.Level0
        if self.profiler_level in is_low and self.aic_metrics is not AicoreMetrics.AiCoreNone:
            _log.note("The parameter 'aic_metrics' has no effect at %s; using AiCoreNone." % self.profiler_level.name)
            self.aic_metrics = AicoreMetrics.AiCoreNone
        if self.profiler_level not in is_low and self.aic_metrics is AicoreMetrics.AiCoreNone:
            _log.note("The parameter 'aic_metrics' is AiCoreNone at %s; using PipeUtilization." % self.profiler_level.name)
            self.aic_metrics = AicoreMetrics.PipeUtilization
        if self.record_shapes and ProfilerActivity.CPU not in self.activities:
            _log.note("The parameter 'record_shapes' needs ProfilerActivity.CPU; using False.")
            self.record_shapes = False
        if self.profile_memory and not {ProfilerActivity.CPU, ProfilerActivity.NPU} <= set(self.activities):
            _log.note("The parameter 'profile_memory' needs ProfilerActivity.CPU and ProfilerActivity.NPU; memory of operators is not recorded.")
        if not self.mstx and (self.mstx_domain_include or self.mstx_domain_exclude):
            _log.note("The parameters 'mstx_domain_include' and 'mstx_domain_exclude' have no effect: 'mstx' is False.")
            self.mstx_domain_include, self.mstx_domain_exclude = [], []
        if self.mstx_domain_include and self.mstx_domain_exclude:
            _log.note("The parameter 'mstx_domain_exclude' has no effect: 'mstx_domain_include' is set.")
            self.mstx_domain_exclude = []

    # ---- for the recorder ----

    def filed(self) -> Dict[str, Any]:
        """The object profiler_parameters of profiler_info."""
        made = {row.name: _filed(getattr(self, row.name)) for row in ROWS if row.name != "on_trace_ready"}
        return {"is_set_schedule": self.is_set_schedule, **made}

    def options(self) -> Dict[str, Any]:
        made: Dict[str, Any] = {row.option: _filed(getattr(self, row.name)) for row in ROWS if row.option}
        made = {name: None if value == [] else value for name, value in made.items()}
        asks_for_gpu = ProfilerActivity.GPU in self.activities and ProfilerActivity.NPU not in self.activities
        is_on_gpu = asks_for_gpu and uses_cuda()
        if asks_for_gpu and not is_on_gpu:
            _log.warning("The parameter 'activities' has ProfilerActivity.GPU, but the program has not loaded CUDA; no GPU is recorded.")
        made["activities"] = [name for name in _filed(self.activities) if name != "GPU"] + ["NPU"] * is_on_gpu or ""
        made["aic_metrics"] = self.aic_metrics.name
        if self.hbm_ddr:
            made["hbm_ddr"] = True
        if self.pcie:
            made["sys_interconnection"] = True
        made["device"] = os.environ.get("ASCOPE_DEVICE") or ("cuda" if is_on_gpu else None)
        return made


class _ExperimentalConfig:
    """Further parameters of `profile`, which checks them."""

    def __init__(self, profiler_level: ProfilerLevel = ProfilerLevel.Level0, aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone,
                 l2_cache: bool = False, mstx: bool = False, data_simplification: bool = True,
                 export_type: Optional[List[ExportType]] = None, mstx_domain_include: Optional[List[str]] = None,
                 mstx_domain_exclude: Optional[List[str]] = None, sys_io: bool = False, sys_interconnection: bool = False,
                 host_sys: Optional[List[HostSystem]] = None) -> None:
        self.profiler_level, self.aic_metrics, self.l2_cache, self.mstx = profiler_level, aic_metrics, l2_cache, mstx
        self.data_simplification, self.export_type = data_simplification, export_type
        self.mstx_domain_include, self.mstx_domain_exclude = mstx_domain_include, mstx_domain_exclude
        self.sys_io, self.sys_interconnection, self.host_sys = sys_io, sys_interconnection, host_sys


# ---- properties of the process ----

def _digits(text: Any) -> Optional[str]:
    text = str(text)
    return text if text.isdigit() and text.isascii() else None


def device_target() -> str:
    """The device_target of MindSpore's context; "Ascend" without MindSpore."""
    context = _log.framework("mindspore.context")
    if not context or not hasattr(context, "get_context"):
        return "Ascend"
    target = context.get_context("device_target")
    if target and target not in ("CPU", "GPU", "Ascend"):
        raise RuntimeError("device_target: expected CPU, GPU or Ascend, got %s" % _log.shown(target))
    return target or "Ascend"


def _communication(function: str) -> Any:
    """Calls a function of MindSpore's communication; None unless it is initialised, on Ascend."""
    management = _log.framework("mindspore.communication.management")
    if not management or device_target() != "Ascend" or not getattr(getattr(management, "GlobalComm", None), "INITED", False):
        return None
    return getattr(management, function)()


def rank_id() -> str:
    rank = _communication("get_rank")
    return _digits(os.environ.get("RANK_ID", "0") if rank is None else rank) or "0"


def device_id() -> str:
    context = _log.framework("mindspore.context")
    asked = context.get_context("device_id") if context and hasattr(context, "get_context") else None
    if asked is None or not _digits(asked):
        asked = _communication("get_local_rank")
    if asked is None:
        asked = os.environ.get("DEVICE_ID", "0")
    if not _digits(asked):
        _log.warning("DEVICE_ID: expected a number, got %s; using 0." % _log.shown(asked))
    return _digits(asked) or "0"


def versions() -> Dict[str, str]:
    """The versions that profiler_info has of the framework; the recorder adds its own."""
    made, mindspore = {}, _log.framework("mindspore")
    version = getattr(mindspore, "__version__", None)
    if isinstance(version, str):
        made["ms_version"] = version
    context: Any = _log.framework("mindspore.context")
    try:
        made["jit_level"] = str(context.get_jit_config().get("jit_level") or "")
    except Exception:  # no MindSpore, or a version without this function
        made["jit_level"] = ""
    return made


def info(parameters: Parameters) -> str:
    return json.dumps({**parameters.filed(), "rank_id": rank_id(), "device_id": device_id(), **versions()}, ensure_ascii=True)
