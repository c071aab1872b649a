"""`import ascope.torch_npu_compat` provides the module `torch_npu` where the real one is not installed.

Scripts that were written for Ascend NPUs run as they are: `torch_npu.profiler` is `ascope.torch.profiler`, `torch_npu.npu.mstx` are our
marks, `torch.npu` has the calls that such scripts make around their training. Tensors stay on the CPU, whatever device they are sent
to (_npu_devices.py). Where the real torch_npu is installed this does nothing.
"""
import contextlib
import importlib.util
import os
import sys
import time
import types

from ascope import _core, _npu_devices


class Stream:
    """A stream of the device; marks that are given one are launched on it."""

    def __init__(self, device=None, priority=0, *, stream_id=0, device_index=0, device_type=20, _cdata=0):
        self.stream_id = stream_id or _cdata & 0xFFFFFFFFFFFF  # the device is above
        self.device_index, self.device_type, self._cdata = device_index, device_type, _cdata

    def synchronize(self):
        _core.synchronize()


class Event:
    """A point in time. What the CPU computes is done when the call returns: an event has come when it is recorded, and two of them are
    as far apart as on the host's clock."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self._ns = None

    def record(self, stream=None):
        self._ns = time.perf_counter_ns()

    def wait(self, stream=None):
        pass

    def query(self):
        return True

    def elapsed_time(self, end_event):
        """In ms, from this one to the other."""
        if self._ns is None or end_event._ns is None:
            raise RuntimeError("elapsed_time: both events have to be recorded first")
        return (end_event._ns - self._ns) / 1e6

    def synchronize(self):
        _core.synchronize()


class _Npu(types.ModuleType):
    """torch_npu.npu, and torch.npu."""

    def __init__(self):
        super().__init__("torch_npu.npu", "Calls of scripts for NPUs, on a machine without one.")
        self.Stream, self.Event = Stream, Event
        self._device, self._stream = 0, Stream()

    def current_stream(self, device=None):
        return self._stream

    default_stream = current_stream

    def set_device(self, device):
        number = str(device).rpartition(":")[2]
        self._device = int(number) if number.isdigit() else 0

    def current_device(self):
        return self._device

    def synchronize(self, device=None):
        _core.synchronize()

    def is_available(self):
        """The simulated one is, where it is wanted."""
        return os.environ.get("ASCOPE_DEVICE") == "sim"

    def device_count(self):
        return int(self.is_available())

    def get_device_name(self, device=None):
        return "the CPU, in the place of an NPU"

    def manual_seed(self, seed):
        sys.modules["torch"].manual_seed(seed)

    manual_seed_all = manual_seed

    @contextlib.contextmanager
    def stream(self, stream):
        before, self._stream = self._stream, stream or self._stream
        try:
            yield
        finally:
            self._stream = before

    def empty_cache(self):
        pass

    reset_peak_memory_stats = reset_max_memory_allocated = lambda self, device=None: None

    def memory_allocated(self, device=None):
        """Of the device, which holds nothing."""
        return 0

    max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def provide():
    """Puts it in the place of one that is not there."""
    from ascope.torch import config, mstx, profiler, schedule
    marks = sys.modules[mstx.__module__]  # the module: in the package its name stands for the class
    npu, package = _Npu(), types.ModuleType("torch_npu", __doc__)
    package.__path__ = [os.path.join(os.path.dirname(__file__), "_torch_npu")]
    npu.mstx = mstx
    door = types.ModuleType("torch_npu.profiler", profiler.__doc__)
    door.__path__ = []
    for name in [*profiler.__all__, "_KinetoProfile"]:
        setattr(door, name, getattr(profiler, name))
    del door.analyse  # users import it from torch_npu.profiler.profiler
    door.__all__ = [name for name in profiler.__all__ if name != "analyse"]
    door.profiler, door.experimental_config, door.scheduler = profiler, config, schedule
    package.profiler, package.npu, package.__version__ = door, npu, _core.version()
    sys.modules.update({
        "torch_npu": package, "torch_npu.npu": npu, "torch_npu.npu.mstx": marks, "torch_npu.profiler": door,
        "torch_npu.profiler.profiler": profiler, "torch_npu.profiler.experimental_config": config,
        "torch_npu.profiler.scheduler": schedule,
    })
    try:
        import torch
    except ImportError:
        return
    if not hasattr(torch, "npu"):
        torch.npu = npu
        _npu_devices.install(torch)


is_needed = "torch_npu" not in sys.modules and not importlib.util.find_spec("torch_npu")
if is_needed:
    provide()
