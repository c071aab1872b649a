# SPDX-License-Identifier: Apache-2.0
"""The monitor: a record of each step of a training, always, for `ascope top`.

    ascope.monitor("/share/monitor")

A step is what the script marks: monitor.step(), dynamic_profile.step(), flight_recorder.step() or profile.step(); else step() of an
optimizer. Of PyTorch it also records how long the script waits for data, in calls of torch.distributed that block, and in garbage
collections, and the memory of the device. What is not known is stored as not recorded.

Nothing here raises into the training: problems are reported in one line, and the training continues.
"""
import functools
import gc
import sys
import threading
import time
import weakref
from typing import Any, Callable, List, Optional

from ascope import _core
from ascope._front_ends import guarding

VARIABLE = "ASCOPE_MONITOR"
# Calls that return when the data is there, unless async_op is true.
BLOCKING = ("all_reduce", "broadcast", "reduce", "all_gather", "all_gather_into_tensor", "reduce_scatter", "reduce_scatter_tensor",
            "all_to_all", "all_to_all_single", "scatter", "gather", "send", "recv", "barrier")


def _report(severity: int, text: str) -> None:
    from ascope.torch import _messages
    _messages.report(severity, text)


_guarded = guarding(_report)


class _Collections:
    """Adds up the time of garbage collections."""

    def __init__(self):
        self._began = 0

    def __call__(self, phase, unused):
        now = time.perf_counter_ns()
        if phase == "start":
            self._began = now
        elif self._began:
            _core.monitor_add(_core.MONITOR_GC, now - self._began)
            self._began = 0


def _timed(function, value, thread):
    """The function with its time on the step's thread added to a value. Calls inside of it are part of it."""
    inside = threading.local()

    @functools.wraps(function)
    def call(*args, **kwargs):
        if threading.get_ident() != thread or inside.__dict__.get("is"):
            return function(*args, **kwargs)
        began, inside.__dict__["is"] = time.perf_counter_ns(), True
        try:
            return function(*args, **kwargs)
        finally:
            inside.__dict__["is"] = False
            _core.monitor_add(value, time.perf_counter_ns() - began)

    return call


class _Replaced:
    """Functions of modules with timed ones in their place."""

    def __init__(self):
        self._was: List[Any] = []

    def on(self, owner: Any, name: str, value: int, thread: int) -> None:
        function = vars(owner).get(name)
        if function:
            call = _timed(function, value, thread)
            setattr(owner, name, call)
            self._was.append((owner, name, function, call))

    def off(self) -> None:
        while self._was:
            owner, name, function, call = self._was.pop()
            if vars(owner).get(name) is call:  # nobody else has replaced it meanwhile
                setattr(owner, name, function)


_replaced = _Replaced()
_collections: List[Callable[..., Any]] = []
_last_made: Callable[[], Any] = lambda: None  # the optimizer that was constructed last
_is_watching = False


def _memory() -> None:
    torch = sys.modules.get("torch")
    device = getattr(torch, "npu", None) or getattr(torch, "cuda", None)
    if device is None or not device.is_available() or not device.is_initialized():
        return
    stats = device.memory_stats_as_nested_dict() if hasattr(device, "memory_stats_as_nested_dict") else {}
    for value, key, which in ((_core.MONITOR_ALLOCATED, "allocated_bytes", "current"), (_core.MONITOR_RESERVED, "reserved_bytes", "current"),
                              (_core.MONITOR_PEAK, "allocated_bytes", "peak")):
        one = stats.get(key, {}).get("all", {}).get(which)
        if one is not None:
            _core.monitor_set(value, one)


def _place() -> None:
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        _core.monitor_rank(distributed.get_rank(), distributed.get_world_size())
        for name in BLOCKING:
            if not hasattr(getattr(distributed, name, None), "__wrapped__") or name not in _seen:
                _seen.add(name)
                _replaced.on(distributed, name, _core.MONITOR_COMMUNICATION, _thread)
        if not _uses_reducer():
            _core.monitor_add(_core.MONITOR_COMMUNICATION, 0)


_seen = set()
_thread = 0


def _uses_reducer() -> bool:
    """DistributedDataParallel communicates in C++, where nothing here sees it: then communication is not known."""
    parallel = sys.modules.get("torch.nn.parallel.distributed")
    return bool(parallel and parallel.DistributedDataParallel._active_ddp_module is not None)


def _made(optimizer) -> None:
    global _last_made
    _last_made = weakref.ref(optimizer)


def _ended(optimizer) -> None:
    if _last_made() is optimizer and _core.monitor_iteration():
        _recorded()


@_guarded()
def _recorded() -> None:
    """A record was written: what changes rarely, or is costly to ask for, is set for the next one."""
    _place()
    _memory()


class Monitor:
    """What ascope.monitor() returns."""

    def step(self) -> None:
        """A step ends, and the next one begins. Without calls of this, steps of the optimizer or of a profiler count."""
        _core.monitor_step()

    def tokens(self, n: int) -> None:
        """Adds tokens, or samples, to the current step."""
        _core.monitor_add(_core.MONITOR_TOKENS, n)

    @property
    def path(self) -> Optional[str]:
        """Its file; None: it does not run."""
        return _core.monitor_path()

    def stop(self) -> None:
        """Writes the last steps. The file stays."""
        _stop()

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(self, *unused: Any) -> None:
        _stop()


def _stop() -> None:
    _core.monitor_stop()
    _replaced.off()
    _seen.clear()
    while _collections:
        gc.callbacks.remove(_collections.pop())


@_guarded()
def _start(how) -> None:
    global _thread, _is_watching
    _core.monitor_start(**how)
    _thread = threading.get_ident()
    _collections.append(_Collections())
    gc.callbacks.append(_collections[0])
    _core.monitor_add(_core.MONITOR_GC, 0)
    try:
        from torch.utils.data import dataloader
    except ImportError:
        return
    _replaced.on(dataloader._BaseDataLoaderIter, "__next__", _core.MONITOR_DATA, _thread)
    _core.monitor_add(_core.MONITOR_DATA, 0)
    if not _is_watching:
        from ascope.torch import _optimizers
        _optimizers.watch(_ended, _made)
        _is_watching = True


def monitor(dir: Any = None, *, every: float = 0.5, megabytes: float = 8) -> Monitor:
    """Records each step from now on, in a file of at most `megabytes` in the directory; default: $ASCOPE_MONITOR.

    Steps shorter than `every` seconds share a record. A second call, while it runs, changes nothing.
    """
    if _core.monitor_path() is None:
        how = {"every_ms": max(int(every * 1000), 1), "file_bytes": int(megabytes * (1 << 20))}
        if dir is not None:
            how["dir"] = dir
        _start(how)
    return Monitor()
