"""What can be asked for: levels, counters, forms of results, and `_ExperimentalConfig`, which holds them.

A value that cannot be is replaced by its default, with a warning. The names of the attributes are those in profiler_info.json.
"""
import enum
import warnings
from typing import List, Optional, Set, Union

from ascope.torch._messages import info, shown, warn


class ProfilerActivity(enum.Enum):
    """What is recorded: the host, the device."""
    CPU = 1
    NPU = 2


class ProfilerLevel:
    """How much the device tells: kernels and calls; with counters and collectives; with the runtime's calls and AI CPU; only marks."""
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"
    Level_none = "Level_none"


class AiCMetrics:
    """Which counters of the AI cores. The results have columns for each."""
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
    """What analysis makes: timelines and tables as files, or a database."""
    Text = "text"
    Db = "db"


class HostSystem:
    """What of the host's system is sampled."""
    CPU = "cpu"
    MEM = "mem"
    DISK = "disk"
    NETWORK = "network"
    OSRT = "osrt"
    NUMA = "numa"


def _values(names):
    return {value for name, value in vars(names).items() if not name.startswith("_")}


def _is_one_of(value, names):
    return isinstance(value, str) and value in names  # a set cannot be asked for everything


def supported_activities() -> Set[ProfilerActivity]:
    """The set of what `activities` can hold."""
    return set(ProfilerActivity)


def supported_profiler_level() -> Set[str]:
    """The set of what `profiler_level` can be."""
    return _values(ProfilerLevel)


def supported_ai_core_metrics() -> Set[str]:
    """The set of what `aic_metrics` can be."""
    return _values(AiCMetrics)


def supported_export_type() -> Set[str]:
    """The set of what `export_type` can hold."""
    return _values(ExportType)


def _is_level_without_counters(level):
    return _is_one_of(level, (ProfilerLevel.Level0, ProfilerLevel.Level_none))


class _ExperimentalConfig:
    """The switches beyond those of `profile` itself.

    profiler_level: a ProfilerLevel; Level0 without one.
    aic_metrics: an AiCMetrics; without one none at Level0 and Level_none, PipeUtilization above.
    l2_cache: hits of the L2 cache.
    mstx: marks, see ascope.torch.mstx; msprof_tx is its old name.
    data_simplification: analysis leaves the raw data and its results, and nothing between.
    record_op_args: what operators are called with, in a directory of its own.
    op_attr: attributes of operators; for databases only.
    gc_detect_threshold: collections of Python's garbage that take so many ms, 0: all.
    export_type: an ExportType, or a list of them.
    host_sys: a list of HostSystem.
    mstx_domain_include, mstx_domain_exclude: names of domains; only their marks, or all but theirs.
    sys_io: network cards.
    sys_interconnection: HCCS, PCIe, and links between chips.
    """

    def __init__(self, profiler_level: str = ProfilerLevel.Level0, aic_metrics: Optional[str] = None, l2_cache: bool = False,
                 msprof_tx: bool = False, mstx: bool = False, data_simplification: Optional[bool] = True,
                 record_op_args: bool = False, op_attr: bool = False, gc_detect_threshold: Optional[float] = None,
                 export_type: Union[str, List[str]] = ExportType.Text, host_sys: Optional[List[str]] = None,
                 mstx_domain_include: Optional[List[str]] = None, mstx_domain_exclude: Optional[List[str]] = None,
                 sys_io: bool = False, sys_interconnection: bool = False) -> None:
        self._profiler_level = profiler_level
        self._aic_metrics = aic_metrics
        self._l2_cache = l2_cache
        self._msprof_tx = msprof_tx
        self._mstx = mstx
        self._data_simplification = data_simplification
        self.record_op_args = record_op_args
        self._export_type = export_type
        self._host_sys = host_sys
        self._op_attr = op_attr
        self._gc_detect_threshold = gc_detect_threshold
        self._mstx_domain_include = mstx_domain_include
        self._mstx_domain_exclude = mstx_domain_exclude
        self._sys_io = sys_io
        self._sys_interconnection = sys_interconnection
        self._check()

    export_type = property(lambda self: self._export_type)
    with_gc = property(lambda self: self._gc_detect_threshold is not None)
    gc_detect_threshold = property(lambda self: self._gc_detect_threshold)
    tx_enabled = property(lambda self: self._mstx or self._msprof_tx)

    def options(self):
        """For the collector, by its names."""
        return {
            "profiler_level": self._profiler_level,
            "aic_metrics": self._aic_metrics,
            "l2_cache": self._l2_cache,
            "mstx": bool(self.tx_enabled),
            "data_simplification": bool(self._data_simplification),
            "record_op_args": self.record_op_args,
            "op_attr": self._op_attr,
            "gc_detect_threshold": self._gc_detect_threshold,
            "export_type": self._export_type,
            "host_sys": self._host_sys or None,
            "mstx_domain_include": self._mstx_domain_include or None,
            "mstx_domain_exclude": self._mstx_domain_exclude or None,
            "sys_io": self._sys_io,
            "sys_interconnection": self._sys_interconnection,
        }

    # ---- checks, in the order in which they depend on each other ----

    def _check(self):
        self._check_export_type()
        if self._aic_metrics is None:  # nobody has asked
            self._aic_metrics = (AiCMetrics.AiCoreNone if _is_level_without_counters(self._profiler_level) else
                                 AiCMetrics.PipeUtilization)
        elif _is_level_without_counters(self._profiler_level) and not _is_one_of(self._aic_metrics, [AiCMetrics.AiCoreNone]):
            warn("aic_metrics: there are no counters at %s; nothing is counted" % self._profiler_level)
            self._aic_metrics = AiCMetrics.AiCoreNone
        for name in ("_l2_cache", "_msprof_tx", "_mstx"):
            self._check_truth(name, False)
        if self._msprof_tx:
            warnings.warn("msprof_tx is the old name of mstx", DeprecationWarning, stacklevel=3)
        if _is_one_of(self._profiler_level, [ProfilerLevel.Level_none]) and not self.tx_enabled:
            warn("profiler_level: at Level_none there is nothing but marks; mstx is switched on")
            self._mstx = True
        if self._data_simplification is not None:
            self._check_truth("_data_simplification", True)
        self._check_truth("record_op_args", False)
        if not _is_one_of(self._profiler_level, supported_profiler_level()):
            warn("profiler_level: there is no %s; Level0 is taken" % shown(self._profiler_level))
            self._profiler_level = ProfilerLevel.Level0
        if not _is_one_of(self._aic_metrics, supported_ai_core_metrics()):
            is_bare = self._profiler_level == ProfilerLevel.Level0
            warn("aic_metrics: there is no %s; the default is taken" % shown(self._aic_metrics))
            self._aic_metrics = AiCMetrics.AiCoreNone if is_bare else AiCMetrics.PipeUtilization
        self._check_truth("_op_attr", False)
        if self._op_attr and ExportType.Db not in self._export_type:
            warn("op_attr: attributes are in the database only, and export_type has no db; they are not recorded")
            self._op_attr = False
        self._check_threshold()
        self._check_truth("_sys_io", False)
        self._check_truth("_sys_interconnection", False)
        self._check_domains()
        self._check_host_sys()

    def _check_truth(self, name, default):
        if not isinstance(getattr(self, name), bool):
            warn("%s: wanted True or False, found %s; %s is taken" % (name.lstrip("_"), shown(getattr(self, name)), default))
            setattr(self, name, default)

    def _check_export_type(self):
        wanted = [self._export_type] if isinstance(self._export_type, str) else self._export_type
        if (not isinstance(wanted, (list, tuple, set)) or not wanted or
                not all(_is_one_of(one, supported_export_type()) for one in wanted)):
            warn("export_type: wanted text, db or a list of them, found %s; text is taken" % shown(self._export_type))
            wanted = [ExportType.Text]
        self._export_type = sorted(set(wanted), reverse=True)

    def _check_threshold(self):
        threshold = self._gc_detect_threshold
        if threshold is None:
            return
        if isinstance(threshold, bool) or not isinstance(threshold, (int, float)) or not threshold >= 0:
            warn("gc_detect_threshold: wanted ms from 0, found %s; garbage is not watched" % shown(threshold))
            self._gc_detect_threshold = None
        elif threshold == 0:
            info("gc_detect_threshold: 0 records every collection of garbage")

    def _check_domains(self):
        for name in ("_mstx_domain_include", "_mstx_domain_exclude"):
            given = getattr(self, name)
            if given is not None and (not isinstance(given, list) or not all(isinstance(one, str) for one in given)):
                warn("%s: wanted a list of names, found %s; it is left out" % (name.lstrip("_"), shown(given)))
                given = None
            setattr(self, name, list(dict.fromkeys(given or [])))
        if not self.tx_enabled and (self._mstx_domain_include or self._mstx_domain_exclude):
            warn("mstx_domain_include, mstx_domain_exclude: without mstx there are no marks to choose from")
            self._mstx_domain_include, self._mstx_domain_exclude = [], []
        if self._mstx_domain_include and self._mstx_domain_exclude:
            warn("mstx_domain_include, mstx_domain_exclude: only one of them can be; the first one is")
            self._mstx_domain_exclude = []

    def _check_host_sys(self):
        given = self._host_sys
        if given is not None and (not isinstance(given, list) or
                                  not all(_is_one_of(one, _values(HostSystem)) for one in given)):
            warn("host_sys: wanted a list of %s, found %s; it is left out" %
                 (", ".join(sorted(_values(HostSystem))), shown(given)))
            given = None
        self._host_sys = list(dict.fromkeys(given or []))
