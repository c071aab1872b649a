# SPDX-License-Identifier: Apache-2.0
# Generated from the recorder's option table by scripts/config_stub.py; `make docs` rewrites it.
import enum
from typing import Any, Dict, List, Optional, Set, Union

class ProfilerActivity(enum.Enum):
    CPU = 1
    NPU = 2

class ProfilerLevel:
    Level0: str
    Level1: str
    Level2: str
    Level_none: str

class AiCMetrics:
    PipeUtilization: str
    ArithmeticUtilization: str
    Memory: str
    MemoryL0: str
    MemoryUB: str
    ResourceConflictRatio: str
    L2Cache: str
    MemoryAccess: str
    AiCoreNone: str

class ExportType:
    Text: str
    Db: str

class HostSystem:
    CPU: str
    MEM: str
    DISK: str
    NETWORK: str
    OSRT: str
    NUMA: str

def supported_activities() -> Set[ProfilerActivity]: ...
def supported_profiler_level() -> Set[str]: ...
def supported_ai_core_metrics() -> Set[str]: ...
def supported_export_type() -> Set[str]: ...

class _ExperimentalConfig:
    def __init__(
        self,
        profiler_level: str = "Level0",
        aic_metrics: Optional[str] = None,
        l2_cache: bool = False,
        msprof_tx: bool = False,
        mstx: bool = False,
        data_simplification: bool = True,
        record_op_args: bool = False,
        op_attr: bool = False,
        gc_detect_threshold: Optional[float] = None,
        export_type: Union[str, List[str]] = "text",
        host_sys: Optional[List[str]] = None,
        mstx_domain_include: Optional[List[str]] = None,
        mstx_domain_exclude: Optional[List[str]] = None,
        sys_io: bool = False,
        sys_interconnection: bool = False,
    ) -> None: ...
    @property
    def export_type(self) -> List[str]: ...
    @property
    def with_gc(self) -> bool: ...
    @property
    def gc_detect_threshold(self) -> Optional[float]: ...
    @property
    def tx_enabled(self) -> bool: ...
    def options(self) -> Dict[str, Any]: ...
