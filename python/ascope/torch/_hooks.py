# SPDX-License-Identifier: Apache-2.0
"""Hooks in PyTorch's Python functions: device events; while marks are recorded also data loading, saving, collectives.

The functions are replaced when recording begins and restored when it stops; in between each call is recorded as a range: events as
operators, the others as marks. The simulated device, which receives collectives from PyTorch's backends, gets their group from here.
"""
import functools
import inspect
import sys

from ascope import _core
from ascope.torch import _groups

EVENT_CALLS = ("record", "wait", "query", "elapsed_time", "synchronize")
# {function: (documented name in marks, key of the peer's rank, or None if the function has no peer)}.
COLLECTIVES = {
    "all_reduce": ("HcclAllreduce", None),
    "broadcast": ("HcclBroadcast", None),
    "reduce": ("HcclReduce", None),
    "all_gather": ("HcclAllGather", None),
    "all_gather_into_tensor": ("HcclAllGather", None),
    "reduce_scatter": ("HcclReduceScatter", None),
    "reduce_scatter_tensor": ("HcclReduceScatter", None),
    "all_to_all": ("HcclAlltoAll", None),
    "all_to_all_single": ("HcclAlltoAll", None),
    "scatter": ("HcclScatter", None),
    "batch_isend_irecv": ("HcclBatchSendRecv", None),
    "send": ("HcclSend", "destRank"),
    "isend": ("HcclSend", "destRank"),
    "recv": ("HcclRecv", "srcRank"),
    "irecv": ("HcclRecv", "srcRank"),
}
COMPARED = ("isend", "irecv")  # PyTorch asks which of them it was given
UNMARKED = {"gather": (None, None), "barrier": (None, None)}
TYPES = {
    "torch.int8": "int8", "torch.int16": "int16", "torch.int32": "int32", "torch.int64": "int64", "torch.uint8": "uint8",
    "torch.float16": "fp16", "torch.float32": "fp32", "torch.float64": "fp64", "torch.bfloat16": "bfp16",
}


def _first_tensor(args):
    for value in args:
        if hasattr(value, "numel") and hasattr(value, "dtype"):
            return value
        if isinstance(value, (list, tuple)) and value and hasattr(value[0], "numel"):
            return value[0]
    return None


def _group_of(args, kwargs):
    import torch
    of_place = [value for value in args if isinstance(value, torch.distributed.ProcessGroup)]
    return kwargs.get("group", of_place[0] if of_place else None)


def _other_end(end_key, args, kwargs):
    return kwargs.get("dst" if end_key == "destRank" else "src", args[1] if len(args) > 1 else None) if end_key else None


def _collective_text(name, end_key, args, kwargs):
    tensor = _first_tensor(list(args) + list(kwargs.values()))
    field = {"streamId": "0", "count": str(tensor.numel() if tensor is not None else 0),
             "dataType": TYPES.get(str(getattr(tensor, "dtype", "")), "na")}
    rank = _other_end(end_key, args, kwargs)
    if rank is not None:
        field[end_key] = str(rank)
    field["groupName"] = _groups.name_of(_group_of(args, kwargs))
    field["opName"] = name
    # The reference copies messages into its JSON unchanged: quotes have to be escaped here.
    return "{%s}" % ",".join('\\"%s\\": \\"%s\\"' % pair for pair in field.items())


def _or_none(ask, *args):
    """The result, or None after an exception: inspecting a call must not disturb it, and PyTorch itself reports invalid arguments."""
    try:
        return ask(*args)
    except Exception:
        return None


def _ranged(function, message, domain):
    @functools.wraps(function)
    def call(*args, **kwargs):
        text = _or_none(message, args, kwargs) if callable(message) else message
        open_range = _or_none(_core.range_start, text or getattr(function, "__name__", "?"), domain) or 0
        try:
            return function(*args, **kwargs)
        finally:
            if open_range:
                _core.range_end(open_range, domain)

    return call


def _named(function, name):
    import torch

    @functools.wraps(function)
    def call(*args, **kwargs):
        with torch.autograd.profiler.record_function(name):
            return function(*args, **kwargs)

    return call


def _grouped(function, listener, end_key):
    def whereabouts(args, kwargs):
        group = _group_of(args, kwargs)
        rank, ranks = _groups.place_in(group)
        other = ranks.get(_other_end(end_key, args, kwargs), -1)
        return _groups.name_of(group).encode(), rank, len(ranks), other

    @functools.wraps(function)
    def call(*args, **kwargs):
        where = _or_none(whereabouts, args, kwargs)
        if not where or not listener.ascope_torch_group(*where):
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        finally:
            listener.ascope_torch_group(None, 0, 0, -1)

    return call


def _between(function, before, after):
    @functools.wraps(function)
    def call(*args, **kwargs):
        _or_none(before)
        try:
            return function(*args, **kwargs)
        finally:
            _or_none(after)

    return call


class _Equal:
    """A call in front of a function that equals the function, also after the recording: PyTorch compares what a P2POp is given."""

    def __init__(self, call):
        functools.update_wrapper(self, call)
        self._call = call

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def __eq__(self, other):
        return inspect.unwrap(self) is inspect.unwrap(other)

    def __hash__(self):
        return hash(inspect.unwrap(self))


def _nothing():
    pass


class Replaced:
    """The replaced functions and their previous values."""

    def __init__(self):
        self._was = []

    def _replace(self, owner, name, around, *how):
        function = getattr(owner, name, None)
        if function:
            call = _Equal(around(function, *how)) if name in COMPARED else around(function, *how)
            self._was.append((owner, name, vars(owner).get(name), call))
            setattr(owner, name, call)

    def off(self):
        while self._was:
            owner, name, function, call = self._was.pop()
            if vars(owner).get(name) is not call:  # replaced again by someone else meanwhile
                continue
            if function is None:  # it was inherited
                delattr(owner, name)
            else:
                setattr(owner, name, function)


class Hooks(Replaced):
    """Those of a recording."""

    def on(self, listener=None, is_sim=False, memory=None, joined=_nothing):
        """`listener` receives collectives. `memory` is called with False before PyTorch's own profiler begins, and with True after its
        end; `joined` now and after each init_process_group()."""
        _groups.begin()
        torch = sys.modules.get("torch")
        if self._was or not torch:
            return
        kinds = [getattr(getattr(torch, device, None), "Event", None) for device in ("npu", "cuda")]
        for event in dict.fromkeys(kinds):  # with transfer_to_npu both are the same class
            for name in EVENT_CALLS:
                self._replace(event, name, _named, "Event::" + name)
        if memory:
            self._replace(torch.autograd.profiler, "_enable_profiler", _between, lambda: memory(False), _nothing)
            self._replace(torch.autograd.profiler, "_disable_profiler", _between, _nothing, lambda: memory(True))
        distributed = sys.modules.get("torch.distributed")
        if distributed and not distributed.is_available():
            distributed = None
        marks = _core.recording() & _core.RECORDS_MARKS
        hears_collectives = listener and distributed and (is_sim or marks)
        if distributed:
            def learn_world():
                if hears_collectives:
                    listener.ascope_torch_world(*_groups.place())
                joined()

            learn_world()
            self._replace(distributed, "init_process_group", _between, _nothing, learn_world)
            self._replace(distributed, "destroy_process_group", _between, _groups.end, _nothing)
        if hears_collectives:
            for name, (_, end_key) in {**COLLECTIVES, **UNMARKED}.items():
                self._replace(distributed, name, _grouped, listener, end_key)
        if marks:
            # The simulated device itself marks all collectives, on its streams.
            self._mark(torch, None if listener and is_sim else distributed)

    def _mark(self, torch, distributed):
        data = sys.modules.get("torch.utils.data.dataloader")
        if data:
            self._replace(data._BaseDataLoaderIter, "__next__", _ranged, "dataloader", None)
        self._replace(torch.serialization, "save", _ranged, "save_checkpoint", None)
        self._replace(torch, "save", _ranged, "save_checkpoint", None)
        for name, (op, end_key) in COLLECTIVES.items() if distributed else ():
            text = functools.partial(_collective_text, op, end_key)
            self._replace(distributed, name, _ranged, text, "communication")
