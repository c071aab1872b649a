# SPDX-License-Identifier: Apache-2.0
"""What this process does in its job, for `ascope hang`: each collective that Python calls is noted in memory (_core.live_call), from where
another process reads it.

While a recording runs, or the job listens to a directory. Numbers count the collectives of a group since then. Collectives that C++ issues,
such as those of DistributedDataParallel, do not pass here; nor do isend() and irecv() outside of batch_isend_irecv(), which PyTorch compares
by identity.
"""
import functools
import os
import sys
import weakref

from ascope import _core
from ascope.torch import _groups
from ascope.torch._hooks import Replaced, _group_of, _or_none

COLLECTIVE = -2  # as the source of a transfer
# {function: (kind as the flight recorder of NCCL names it, place of the tensor that has the same size on all ranks, key of the peer)}
CALLS = {
    "all_reduce": ("all_reduce", 0, None),
    "broadcast": ("broadcast", 0, None),
    "reduce": ("reduce", 0, None),
    "all_gather": ("all_gather", 1, None),
    "all_gather_into_tensor": ("_all_gather_base", 1, None),
    "reduce_scatter": ("reduce_scatter", 0, None),
    "reduce_scatter_tensor": ("_reduce_scatter_base", 1, None),
    "all_to_all": ("all_to_all", None, None),
    "all_to_all_single": ("all_to_all", None, None),
    "gather": ("gather", 0, None),
    "scatter": ("scatter", 0, None),
    "barrier": ("barrier", None, None),
    "send": ("send", 0, "dst"),
    "recv": ("recv", 0, "src"),
}

_numbers = {}  # {name of a group: its number}
_works = weakref.WeakKeyDictionary()  # {handle of an asynchronous call: its number}
_replaced = Replaced()
_users = 0


def _group_number(group):
    name = _groups.name_of(group)
    if name not in _numbers:
        _, ranks = _groups.place_in(group)
        _core.live_rank(_groups.rank())
        _numbers[name] = _core.live_group(name, "", sorted(ranks, key=ranks.get))
    return _numbers[name]


def _call(group, kind, source, destination, tensor):
    elements = tensor.numel() if hasattr(tensor, "numel") else 0
    return _core.live_call(_group_number(group), kind, source, destination, elements, str(getattr(tensor, "dtype", ""))[len("torch."):])


def _pair(is_send, other):
    here, other = _groups.rank(), -1 if other is None else other
    return (here, other) if is_send else (other, here)


def _begin(kind, place, peer, args, kwargs):
    tensor = args[place] if place is not None and place < len(args) else kwargs.get("tensor")
    ends = (COLLECTIVE, COLLECTIVE)
    if peer:
        ends = _pair(peer == "dst", kwargs.get(peer, args[1] if len(args) > 1 else None))
    return _call(_group_of(args, kwargs), kind, *ends, tensor)


def _noted(function, kind, place, peer):
    @functools.wraps(function)
    def call(*args, **kwargs):
        number = _or_none(_begin, kind, place, peer, args, kwargs)
        if number is None:
            return function(*args, **kwargs)
        result = None
        try:
            result = function(*args, **kwargs)
            return result
        finally:
            _or_none(_returned, number, result)

    return call


def _returned(number, result):
    is_handle = hasattr(result, "wait") and hasattr(result, "is_completed")
    if is_handle:
        _works[result] = number
    _core.live_state(number, _core.LIVE_ISSUED if is_handle else _core.LIVE_DONE)


def _begin_batch(operations):
    numbers = []
    for one in operations:
        is_send = one.op.__name__ == "isend"
        numbers.append(_call(one.group, "send" if is_send else "recv", *_pair(is_send, one.peer), one.tensor))
    return numbers


def _noted_batch(function):
    @functools.wraps(function)
    def call(operations, *args, **kwargs):
        numbers = _or_none(_begin_batch, operations) or ()
        works = ()
        try:
            works = function(operations, *args, **kwargs)
            return works
        finally:
            for i, number in enumerate(numbers):
                _or_none(_returned, number, works[min(i, len(works) - 1)] if works else None)

    return call


def _waiting(function):
    @functools.wraps(function)
    def wait(work, *args, **kwargs):
        number = _or_none(_works.pop, work, None)
        if number is None:
            return function(work, *args, **kwargs)
        _core.live_state(number, _core.LIVE_WAITS)
        try:
            return function(work, *args, **kwargs)
        finally:
            _core.live_state(number, _core.LIVE_DONE)

    return wait


def _joined(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        result = function(*args, **kwargs)
        _or_none(_group_number, None)
        return result

    return call


def _left(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        _numbers.clear()
        return function(*args, **kwargs)

    return call


def on():
    """Notes collectives until off() was called as often."""
    global _users  # pylint: disable=global-statement
    _users += 1
    distributed = sys.modules.get("torch.distributed")
    if _replaced._was or not distributed or not distributed.is_available():
        return
    c10d = sys.modules["torch.distributed.distributed_c10d"]
    rank = os.environ.get("RANK", "")
    _core.live_rank(int(rank) if rank.isdigit() else -1)
    if distributed.is_initialized():
        _or_none(_group_number, None)
    around = {name: (_noted, *row) for name, row in CALLS.items()}
    around.update(batch_isend_irecv=(_noted_batch,), init_process_group=(_joined,), destroy_process_group=(_left,))
    for name, how in around.items():
        was = getattr(c10d, name, None)
        is_same = getattr(distributed, name, None) is was  # otherwise a hook of the recording is in front of it, and stays
        _replaced._replace(c10d, name, *how)  # PyTorch's own functions call those of this module
        call = getattr(c10d, name, None)
        _replaced._replace(distributed, name, *((lambda _, call=call: call,) if is_same else how))
    _replaced._replace(c10d.Work, "wait", _waiting)


def off():
    global _users  # pylint: disable=global-statement
    _users = max(_users - 1, 0)
    if _users == 0:
        _replaced.off()
