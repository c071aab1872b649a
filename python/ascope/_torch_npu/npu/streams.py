# SPDX-License-Identifier: Apache-2.0
"""Streams and events. The CPU has finished its work when a call returns: nothing ever waits on them."""
import itertools
import time

from ascope import _core

ON_NPU = 20
_next_id = itertools.count(1)  # 0: the default one


class Stream:
    """A stream of the device; marks with a stream are launched on it."""

    def __init__(self, device=None, priority=0, *, stream_id=None, device_index=0, device_type=ON_NPU, _cdata=0):
        known = stream_id if stream_id is not None else _cdata & 0xFFFFFFFFFFFF  # the upper bits are the device
        self.stream_id = known if stream_id is not None or _cdata else next(_next_id)
        self.device_index, self.device_type, self.priority, self._cdata = device_index, device_type, priority, _cdata

    npu_stream = cuda_stream = property(lambda self: self.stream_id)

    @property
    def device(self):
        import torch
        return torch.device("npu", self.device_index)

    def synchronize(self):
        _core.synchronize()

    def query(self):
        return True

    def wait_event(self, event):
        pass

    def wait_stream(self, stream):
        pass

    def record_event(self, event=None):
        event = Event() if event is None else event
        event.record(self)
        return event

    def set_data_preprocess_stream(self, is_data_preprocess_stream=False):
        pass

    def __enter__(self):
        from torch_npu import npu
        self._before = npu.current_stream()
        npu.set_stream(self)
        return self

    def __exit__(self, *unused):
        from torch_npu import npu
        npu.set_stream(self._before)

    def __eq__(self, other):
        return isinstance(other, Stream) and self.stream_id == other.stream_id

    def __hash__(self):
        return hash(self.stream_id)

    def __repr__(self):
        return "<torch_npu.npu.Stream device=npu:%d npu_stream=%#x>" % (self.device_index, self.stream_id)


class ExternalStream(Stream):
    """A stream of another library, with its number."""

    def __init__(self, stream_ptr, device=None, **kwargs):
        super().__init__(device, stream_id=stream_ptr, **kwargs)


SyncLaunchStream = Stream


class Event:
    """A point in time on the host's clock."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        self._ns = None

    npu_event = cuda_event = property(id)

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

    def recorded_time(self):
        """In us, of a clock with an arbitrary zero."""
        if self._ns is None:
            raise RuntimeError("recorded_time: the event has to be recorded first")
        return self._ns // 1000

    def synchronize(self):
        _core.synchronize()


class ExternalEvent(Event):
    def reset(self, stream=None):
        self._ns = None
