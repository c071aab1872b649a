# SPDX-License-Identifier: Apache-2.0
"""Marks and ranges of the user, in domains. Nothing is recorded unless a Profiler with mstx=True is recording."""
import itertools
import os
import stat
from typing import Any, Dict, Optional, Tuple

from ascope import _core
from ascope.mindspore import _log, config

DEFAULT = "default"


def _is_preloaded() -> bool:
    """Whether a valid libmspti.so is in LD_PRELOAD: then marks are enabled outside of a recording, too."""
    for path in os.environ.get("LD_PRELOAD", "").split(":"):
        if os.path.basename(path) != "libmspti.so":
            continue
        try:
            is_one = os.lstat(path)
        except OSError:
            continue
        if stat.S_ISREG(is_one.st_mode) and not is_one.st_mode & stat.S_IWOTH and is_one.st_uid in (0, os.getuid()):
            return True
    return False


def _number(stream: Any) -> int:
    """The recorder's number of a stream: -1: only the host; 0: the current stream of the device."""
    return -1 if stream is None else 0


class _NpuProfiler:
    """Passes marks to the recorder."""

    def __init__(self) -> None:
        self._open: Dict[int, Tuple[int, str]] = {}  # {id of a range: (id in the recorder, domain)}
        self._ids = itertools.count(1)
        self.include: list = []
        self.exclude: list = []

    def _is_wanted(self, domain):
        is_wanted = domain in self.include if self.include else domain not in self.exclude
        if not is_wanted:
            _log.warning("Disabled domain: %s" % domain)
        return is_wanted

    def mstx_mark(self, message: str, stream: Any, domain: str) -> None:
        if self._is_wanted(domain):
            with _core.Range("Mark", "Ascend;Mstx"):
                _core.mark(message, domain, _number(stream))

    def mstx_range_start(self, message: str, stream: Any, domain: str) -> int:
        number = next(self._ids) & 0xFFFFFFFF or next(self._ids) & 0xFFFFFFFF
        of_recorder = 0
        if self._is_wanted(domain):
            with _core.Range("Range", "Ascend;Mstx"):
                of_recorder = _core.range_start(message, domain, _number(stream))
        self._open[number] = of_recorder, domain
        return number

    def mstx_range_end(self, range_id: int, domain: str) -> None:
        of_recorder, began_in = self._open.get(range_id, (0, None))
        if began_in != domain:
            _log.warning("Invalid range_id for mstx.range_end func. Please input return value from mstx.range_start.")
            return
        del self._open[range_id]
        if of_recorder:
            _core.range_end(of_recorder, domain)


def _device_stream(stream: Any) -> Any:
    return stream.device_stream() if stream else None


def _stream_kind() -> Optional[type]:
    runtime = _log.framework("mindspore.runtime")
    return getattr(runtime, "Stream", None)


class mstx:
    """Everything is a static method: `mstx.mark("here")`.

    stream: None: the host alone; a stream: also on the device.
    domain: a group of marks; a recording can select some (mstx_domain_include, mstx_domain_exclude).
    """

    NPU_PROFILER: Optional[_NpuProfiler] = _NpuProfiler()
    enable = _is_preloaded()

    @staticmethod
    def _ready() -> Optional[_NpuProfiler]:
        if config.device_target() != "Ascend":
            return None
        if not mstx.NPU_PROFILER:
            _log.warning("Invalid npu profiler for mstx, please check.")
        return mstx.NPU_PROFILER

    @staticmethod
    def _is_domain(function: str, domain: Any) -> bool:
        if isinstance(domain, str) and domain:
            return True
        _log.warning("Invalid domain name for mstx.%s func. Please input str and can not be empty." % function)
        return False

    @staticmethod
    def _for_mark(function: str, message: Any, stream: Any, domain: Any) -> Optional[_NpuProfiler]:
        """The object that records a mark; None: marks are off, or the arguments are invalid."""
        npu = mstx._ready() if mstx.enable else None
        if not npu:
            return None
        if not isinstance(message, str) or not message:
            _log.warning("Invalid message for mstx.%s func. Please input valid message string." % function)
            return None
        if not mstx._is_domain(function, domain):
            return None
        kind = _stream_kind()
        if stream and not (kind and isinstance(stream, kind)):
            _log.warning("Invalid stream for mstx.%s func. Expected mindspore.runtime.Stream but got %s." % (function, type(stream)))
            return None
        return npu

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = DEFAULT) -> None:
        """A mark at one point in time."""
        npu = mstx._for_mark("mark", message, stream, domain)
        if npu:
            npu.mstx_mark(message, _device_stream(stream), domain)

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = DEFAULT) -> int:
        """Begins a range, which any thread may end. Returns its id; 0 if nothing is recorded."""
        npu = mstx._for_mark("range_start", message, stream, domain)
        return npu.mstx_range_start(message, _device_stream(stream), domain) if npu else 0

    @staticmethod
    def range_end(range_id: int, domain: str = DEFAULT) -> None:
        """Ends a range, in the domain in which it began."""
        is_none = not mstx.enable or (isinstance(range_id, int) and range_id == 0)
        npu = None if is_none else mstx._ready()
        if not npu:
            return
        if not isinstance(range_id, int) or range_id < 0:
            _log.warning("Invalid range_id for mstx.range_end func. Please input return value from mstx.range_start.")
        elif mstx._is_domain("range_end", domain):
            npu.mstx_range_end(range_id, domain)


def recording(is_on: bool, options: Any) -> None:
    """Called when a recording has begun, and before it ends: marks are on if its options have mstx."""
    if is_on and mstx.NPU_PROFILER:
        mstx.NPU_PROFILER.include = options["mstx_domain_include"] or []
        mstx.NPU_PROFILER.exclude = options["mstx_domain_exclude"] or []
    mstx.enable = bool(is_on and options["mstx"])
