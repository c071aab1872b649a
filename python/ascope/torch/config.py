# SPDX-License-Identifier: Apache-2.0
"""Parameters: levels, counter groups, export types, and `_ExperimentalConfig`, which contains them.

The parameters, their defaults and accepted values come from the recorder's option table (`_core.option_table()`): a new option needs no change
here. Invalid values are replaced by the default, with a warning; rules between options are the recorder's (`_core.check_options()`). The
attributes have the names that profiler_info.json uses.
"""
import enum
import inspect
import warnings
from typing import Any, Set

from ascope import _core
from ascope.torch._messages import info, receive, report, shown, warn


class ProfilerActivity(enum.Enum):
    """What is recorded: the host, the device. CUDA and GPU are other names of NPU: all mean the device that the program uses."""
    CPU = 1
    NPU = 2
    CUDA = 2
    GPU = 2


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


# ---- the parameters: rows of the recorder's option table ----

_PARAMETERS = sorted((row for row in _core.option_table() if row["parameter"]), key=lambda row: row["parameter"])


def _annotation(row):
    """The type of a parameter as a text, which scripts/config_stub.py writes to the stub."""
    has_default = row["default"] is not None
    return {"boolean": "bool", "choice": "str" if has_default else "Optional[str]",
            "list": "Union[str, List[str]]" if has_default else "Optional[List[str]]", "names": "Optional[List[str]]", "ms": "Optional[float]", "number": "Optional[int]", "text": "Optional[str]"}[row["kind"]]


def _default(row):
    """The default as documented: a list with one element is shown as that element."""
    value = row["default"]
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _checked_list(row, given):
    one_will_do = row["default"] is not None  # then an empty list is invalid
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
    if not isinstance(given, list) or not all(isinstance(one, str) and "\0" not in one for one in given):
        raise ValueError
    ",".join(given).encode()  # raises UnicodeError (a ValueError) for a lone surrogate
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
# Options that the recorder's rules relate. These rules also replace an invalid level or counter group.
_RELATED = ("profiler_level", "aic_metrics", "mstx", "op_attr", "mstx_domain_include", "mstx_domain_exclude")
_REPLACED_BY_RULE = {"profiler_level": ProfilerLevel, "aic_metrics": AiCMetrics}


class _ExperimentalConfig:
    def __init__(self, *args: Any, **options: Any) -> None:
        given = _SIGNATURE.bind(self, *args, **options)
        given.apply_defaults()
        for row in _PARAMETERS:
            setattr(self, row["key"], given.arguments[row["name"]])
        self._check()

    @property
    def export_type(self) -> "List[str]":
        return self._export_type

    @property
    def with_gc(self) -> "bool":
        return self._gc_detect_threshold is not None

    @property
    def gc_detect_threshold(self) -> "Optional[float]":
        return self._gc_detect_threshold

    @property
    def tx_enabled(self) -> "bool":
        return self._mstx or self._msprof_tx

    def options(self):
        """The options for the recorder, under its names."""
        made = {row["name"]: getattr(self, row["key"]) for row in _PARAMETERS if not row["is_old"]}
        made.update(mstx=bool(self.tx_enabled), data_simplification=bool(self._data_simplification))
        return {name: None if isinstance(value, list) and not value else value for name, value in made.items()}

    # ---- checks: each value by itself, then those that depend on each other ----

    def _check(self):
        for row in _PARAMETERS:
            is_off = row["name"] == "data_simplification" and self._data_simplification is None  # None means False, as in torch_npu
            if row["name"] not in _REPLACED_BY_RULE and not is_off:
                self._check_value(row)
        if self._gc_detect_threshold == 0:
            info("gc_detect_threshold: 0 records every garbage collection")
        if self._msprof_tx:
            warnings.warn("msprof_tx is the old name of mstx", DeprecationWarning, stacklevel=3)
        self._check_related()

    def _check_related(self):
        given, invalid = self.options(), {}
        for name, names in _REPLACED_BY_RULE.items():
            by_level = name == "aic_metrics" and given[name] is None
            if not by_level and not _is_one_of(given[name], _values(names)):
                invalid[name], given[name] = given[name], "invalid"
        receive(lambda severity, text: None if text.startswith("option ") else report(severity, text))  # these are reported below
        valid = _core.check_options(given)
        receive(report)
        for name, value in invalid.items():
            names = _REPLACED_BY_RULE[name]
            warn("%s: invalid value %s; using %s; expected %s" % (name, shown(value), valid[name], ", ".join(
                "%s.%s" % (names.__name__, one) for one in vars(names) if not one.startswith("_"))))
        for row in _PARAMETERS:
            if row["name"] in _RELATED and (row["name"] != "mstx" or valid["mstx"] != self.tx_enabled):
                setattr(self, row["key"], [] if valid[row["name"]] is None else valid[row["name"]])
        self._aic_metrics = getattr(AiCMetrics, self._aic_metrics)

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


_SIGNATURE = inspect.Signature(
    [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)] +
    [inspect.Parameter(row["name"], inspect.Parameter.POSITIONAL_OR_KEYWORD, default=_default(row), annotation=_annotation(row))
     for row in _PARAMETERS], return_annotation=None)
_ExperimentalConfig.__init__.__signature__ = _SIGNATURE
_ExperimentalConfig.__doc__ = "The options beyond those of `profile` itself.\n\n" + "\n".join(
    "%s: %s; default: %s" % (row["name"], row["help"], row["otherwise"] or _default(row)) for row in _PARAMETERS)
