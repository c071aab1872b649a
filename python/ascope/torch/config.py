# SPDX-License-Identifier: Apache-2.0
"""Parameters: levels, counter groups, export types, and `_ExperimentalConfig`, which contains them.

The parameters, their defaults and what they accept are those of the recorder's option table (`_core.option_table()`): a new option needs nothing here.
Invalid values fall back to the default, with a warning. The names of the attributes are those in profiler_info.json.
"""
import enum
import inspect
import warnings
from typing import Any, List, Optional, Set, Union

from ascope import _core
from ascope.torch._messages import info, shown, warn


class ProfilerActivity(enum.Enum):
    """What is recorded: the host, the device."""
    CPU = 1
    NPU = 2


class ProfilerLevel:
    """What the device records: kernels and calls; plus counters and collectives; plus runtime calls and AI CPU; only marks."""
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"
    Level_none = "Level_none"


class AiCMetrics:
    """Counter group of the AI cores. The results have columns for each counter."""
    PipeUtilization = "ACL_AICORE_PIPE_UTILIZATION"
    ArithmeticUtilization = "ACL_AICORE_ARITHMETIC_UTILIZATION"
    Memory = "ACL_AICORE_MEMORY_BANDWIDTH"
    MemoryL0 = "ACL_AICORE_L0B_AND_WIDTH"
    MemoryUB = "ACL_AICORE_MEMORY_UB"
    ResourceConflictRatio = "ACL_AICORE_RESOURCE_CONFLICT_RATIO"
    L2Cache = "ACL_AICORE_L2_CACHE"
    MemoryAccess = "ACL_AICORE_MEMORY_ACCESS"
    AiCoreNone = "ACL_AICORE_NONE"


class ExportType:
    """Output of the analysis: timelines and tables as files, or a database."""
    Text = "text"
    Db = "db"


class HostSystem:
    """Samplers of the host."""
    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"
    NUMA = "numa"


def _values(names):
    return {value for name, value in vars(names).items() if not name.startswith("_")}


def _is_one_of(value, names):
    return isinstance(value, str) and value in names  # unhashable values cannot be looked up in a set


def supported_activities() -> Set[ProfilerActivity]:
    """The accepted elements of `activities`."""
    return set(ProfilerActivity)


def supported_profiler_level() -> Set[str]:
    """The accepted values of `profiler_level`."""
    return _values(ProfilerLevel)


def supported_ai_core_metrics() -> Set[str]:
    """The accepted values of `aic_metrics`."""
    return _values(AiCMetrics)


def supported_export_type() -> Set[str]:
    """The accepted elements of `export_type`."""
    return _values(ExportType)


def _is_level_without_counters(level):
    return _is_one_of(level, (ProfilerLevel.Level0, ProfilerLevel.Level_none))


# ---- the parameters: rows of the recorder's option table ----

_PARAMETERS = sorted((row for row in _core.option_table() if row["parameter"]), key=lambda row: row["parameter"])
_TYPES = {"boolean": bool, "choice": Optional[str], "list": Union[None, str, List[str]], "names": Optional[List[str]],
          "ms": Optional[float], "number": Optional[int], "text": Optional[str]}


def _default(row):
    """A list of one is that one, as the documents have it."""
    value = row["default"]
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _checked_list(row, given):
    one_will_do = row["default"] is not None  # then there is no empty list, either
    if given is None and not one_will_do:
        return []
    if one_will_do and isinstance(given, str):
        given = [given]
    if (not isinstance(given, (list, tuple, set) if one_will_do else list) or one_will_do and not given or
            not all(_is_one_of(one, row["choices"]) for one in given)):
        raise ValueError
    return [one for one in row["choices"] if one in given]


def _checked_names(row, given):
    if given is None:
        return []
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise ValueError
    return list(dict.fromkeys(given))


def _checked_ms(row, given):
    if given is not None and (isinstance(given, bool) or not isinstance(given, (int, float)) or not given >= 0):
        raise ValueError
    return given


def _checked_type(*types):
    def check(row, given):
        if not isinstance(given, types) or isinstance(given, bool) and bool not in types:
            raise ValueError
        return given

    return check


def _checked_choice(row, given):
    if not _is_one_of(given, row["choices"]):
        raise ValueError
    return given


_CHECKS = {"boolean": _checked_type(bool), "choice": _checked_choice, "list": _checked_list, "names": _checked_names, "ms": _checked_ms,
           "number": _checked_type(int, type(None)), "text": _checked_type(str, type(None))}
_TOGETHER = ("profiler_level", "aic_metrics")  # checked last: what they become depends on each other


class _ExperimentalConfig:
    def __init__(self, *args: Any, **options: Any) -> None:
        given = _SIGNATURE.bind(self, *args, **options)
        given.apply_defaults()
        for row in _PARAMETERS:
            setattr(self, row["key"], given.arguments[row["name"]])
        self._check()

    export_type = property(lambda self: self._export_type)
    with_gc = property(lambda self: self._gc_detect_threshold is not None)
    gc_detect_threshold = property(lambda self: self._gc_detect_threshold)
    tx_enabled = property(lambda self: self._mstx or self._msprof_tx)

    def options(self):
        """For the recorder, by its names."""
        made = {row["name"]: getattr(self, row["key"]) for row in _PARAMETERS if not row["is_old"]}
        made.update(mstx=bool(self.tx_enabled), data_simplification=bool(self._data_simplification))
        return {name: None if value == [] else value for name, value in made.items()}

    # ---- checks: each value by itself, then in the order in which they depend on each other ----

    def _check(self):
        for row in _PARAMETERS:
            is_off = row["name"] == "data_simplification" and self._data_simplification is None  # as torch_npu takes it
            if row["name"] not in _TOGETHER and not is_off:
                self._check_value(row)
        if self._gc_detect_threshold == 0:
            info("gc_detect_threshold: 0 records every garbage collection")
        self._check_metrics_for_level()
        if self._msprof_tx:
            warnings.warn("msprof_tx is the old name of mstx", DeprecationWarning, stacklevel=3)
        if _is_one_of(self._profiler_level, [ProfilerLevel.Level_none]) and not self.tx_enabled:
            warn("profiler_level: Level_none records marks only; mstx is enabled")
            self._mstx = True
        if not _is_one_of(self._profiler_level, supported_profiler_level()):
            warn("profiler_level: invalid value %s; using Level0" % shown(self._profiler_level))
            self._profiler_level = ProfilerLevel.Level0
        if not _is_one_of(self._aic_metrics, supported_ai_core_metrics()):
            is_bare = self._profiler_level == ProfilerLevel.Level0
            warn("aic_metrics: invalid value %s; using the default" % shown(self._aic_metrics))
            self._aic_metrics = AiCMetrics.AiCoreNone if is_bare else AiCMetrics.PipeUtilization
        if self._op_attr and ExportType.Db not in self._export_type:
            warn("op_attr: requires db in export_type; attributes are not recorded")
            self._op_attr = False
        self._check_domains()

    def _check_value(self, row):
        given = getattr(self, row["key"])
        try:
            checked = _CHECKS[row["kind"]](row, given)
        except ValueError:
            default = _default(row)
            warn("%s: invalid value %s; using %s; expected %s" %
                 (row["name"], shown(given), row["otherwise"] if default is None else default, row["values"]))
            checked = _CHECKS[row["kind"]](row, default)
        setattr(self, row["key"], checked)

    def _check_metrics_for_level(self):
        if self._aic_metrics is None:  # not given
            self._aic_metrics = (AiCMetrics.AiCoreNone if _is_level_without_counters(self._profiler_level) else
                                 AiCMetrics.PipeUtilization)
        elif _is_level_without_counters(self._profiler_level) and not _is_one_of(self._aic_metrics, [AiCMetrics.AiCoreNone]):
            warn("aic_metrics: no counters at %s; using AiCoreNone" % self._profiler_level)
            self._aic_metrics = AiCMetrics.AiCoreNone

    def _check_domains(self):
        if not self.tx_enabled and (self._mstx_domain_include or self._mstx_domain_exclude):
            warn("mstx_domain_include, mstx_domain_exclude ignored: mstx is off")
            self._mstx_domain_include, self._mstx_domain_exclude = [], []
        if self._mstx_domain_include and self._mstx_domain_exclude:
            warn("mstx_domain_exclude ignored: mstx_domain_include is set")
            self._mstx_domain_exclude = []


_SIGNATURE = inspect.Signature(
    [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)] +
    [inspect.Parameter(row["name"], inspect.Parameter.POSITIONAL_OR_KEYWORD, default=_default(row), annotation=_TYPES[row["kind"]])
     for row in _PARAMETERS], return_annotation=None)
_ExperimentalConfig.__init__.__signature__ = _SIGNATURE
_ExperimentalConfig.__doc__ = "The options beyond those of `profile` itself.\n\n" + "\n".join(
    "%s: %s; default: %s" % (row["name"], row["help"], row["otherwise"] or _default(row)) for row in _PARAMETERS)
