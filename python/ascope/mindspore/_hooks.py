# SPDX-License-Identifier: Apache-2.0
"""What is recorded of MindSpore itself, where it is imported: ranges around the iterators of its datasets.

Functions are replaced when recording begins and restored when it stops. Calls of Cells and other functions of Python are recorded by the
tracer (with_stack). All this uses the documented API of MindSpore 2.6 and later; what a version does not have is not recorded.
"""
import functools
from typing import Any, List, Tuple

from ascope import _core
from ascope.mindspore import _log

# {class of mindspore.dataset.engine.iterators: name of its range, as in MindSpore's own profiler}.
ITERATORS = {"DictIterator": "GetNextAsMap", "TupleIterator": "GetNextAsVector"}
_was: List[Tuple[Any, str, Any, Any]] = []


def _ranged(function, name, modules, more):
    @functools.wraps(function)
    def call(*args, **kwargs):
        with _core.Range(name, modules, more):
            return function(*args, **kwargs)

    return call


def _replace(owner, name, around, *how):
    function = vars(owner).get(name)
    if function:
        call = around(function, *how)
        _was.append((owner, name, function, call))
        setattr(owner, name, call)


def recording(is_on: bool, options: Any) -> None:
    """Called when a recording has begun, and before it ends."""
    while _was:
        owner, name, function, call = _was.pop()
        if vars(owner).get(name) is call:  # not replaced again by someone else meanwhile
            setattr(owner, name, function)
    iterators = _log.framework("mindspore.dataset.engine.iterators")
    if not is_on or not iterators or "CPU" not in (options["activities"] or []):
        return
    for kind, stage in ITERATORS.items():
        if hasattr(iterators, kind):
            _replace(getattr(iterators, kind), "_get_next", _ranged, stage, "Dataset;IteratorConsumer", "TensorRowFlags:Data")
