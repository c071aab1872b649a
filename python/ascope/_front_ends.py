# SPDX-License-Identifier: Apache-2.0
"""What the front ends of the frameworks share: texts of messages, delivery of the recorder's messages and notifications, and which
profiler gives way to which.

The recorder has one session per process. Its messages go to the front end that was called last; the begin and the
end of a recording are reported to the front end whose layout the collection has.
"""
import functools
import importlib.machinery
import os
import types
from typing import Any, Callable, Dict, List, Optional

from ascope import _core

SHOWN_MOST = 100
Report = Callable[[int, str], None]


# ---- messages ----

def shown(value: object) -> str:
    """Any value as a short text for a message."""
    try:
        text = repr(value)
    except Exception:
        text = "an object of type %s" % type(value).__name__
    return text if len(text) <= SHOWN_MOST else text[:SHOWN_MOST] + "..."


def why(trouble: BaseException) -> str:
    """An exception of a user's function, for a message: type and text."""
    try:
        text = str(trouble)
    except Exception:
        text = "(no text)"
    return "%s: %s" % (type(trouble).__name__, text)


_receiver: List[Report] = []


def receive(report: Report) -> None:
    """Sends all later messages of the recorder to `report`."""
    _receiver[:] = [report]


def _from_library(severity: int, text: str) -> None:
    if severity > _core.INFO and _receiver:
        _receiver[0](severity, text)


_core.on_message(_from_library)


def guarding(report: Report):
    """A decorator factory: exceptions in functions of a front end are reported and never reach the program."""

    def guarded(result=None):
        def wrap(function):
            @functools.wraps(function)
            def call(*args, **kwargs):
                receive(report)
                try:
                    return function(*args, **kwargs)
                except Exception as trouble:
                    report(_core.ERROR, "%s: %s" % (function.__qualname__.replace("_KinetoProfile", "profile"), why(trouble)))
                    return result

            return call

        return wrap

    return guarded


# ---- modules that stand for those of a framework ----

def provided_module(name: str, doc: Optional[str], path: Optional[List[str]] = None) -> types.ModuleType:
    """An empty module with a spec, so that importlib.util.find_spec() works once it is in sys.modules. With a path it is a package."""
    module = types.ModuleType(name, doc)
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=path is not None)
    if path is not None:
        module.__path__ = module.__spec__.submodule_search_locations = path
    return module


# ---- recording begins and ends ----

_heard: Dict[str, Callable[[bool, Optional[Dict[str, Any]]], None]] = {}  # by layout
_recording: List[Callable[[bool, Optional[Dict[str, Any]]], None]] = []


def on_recording(layout: str, call: Callable[[bool, Optional[Dict[str, Any]]], None]) -> None:
    """Calls call(True, options) when a recording with this layout begins, and call(False, None) before it ends; see _core.on_recording()."""
    _heard[layout] = call


def _dispatch(is_on, options):
    if is_on:
        _recording[:] = [_heard[options["layout"]]] if options["layout"] in _heard else []
    for call in list(_recording):
        call(is_on, options)


_core.on_recording(_dispatch)


# ---- who gives way ----

_standing_in: List[Any] = []  # the profiler of `ascope record`, until the program starts one of its own


def stand_in(prof: Any) -> None:
    """Registers the profiler of `ascope record`. When the program starts its own profiler, this one ends and deletes what it recorded."""
    _standing_in[:] = [prof]


def remove_parent(path: str) -> None:
    """Removes the parent directory of a deleted collection, unless something else is in it."""
    parent = os.path.realpath(os.path.dirname(path))
    try:
        if parent != os.path.realpath(os.getcwd()):
            os.rmdir(parent)
    except OSError:
        pass


def make_room(prof: Any = None) -> None:
    """Ends the profiler of `ascope record` before `prof` starts: there is one session per process, and the program's own has priority."""
    if _standing_in and _standing_in[0] is not prof:
        _standing_in.pop()._give_way()
