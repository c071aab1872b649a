# SPDX-License-Identifier: Apache-2.0
"""Marks and ranges of the user, in domains.

With a stream a mark is also launched on the device. Nothing is recorded unless a session with marks is running.
"""
import functools
import inspect
from typing import Any, Callable, List

from ascope import _core
from ascope.torch._messages import guarded, shown, warn

DEFAULT = "default"


def _domain(domain):
    return None if domain == DEFAULT else domain


def _stream_number(stream):
    """The number of a stream; -1: only the host; None: the value is not a stream."""
    if stream is None:
        return -1
    number = getattr(stream, "stream_id", getattr(stream, "npu_stream", None))
    return number if isinstance(number, int) else None


def _is_text(what, value):
    if isinstance(value, str) and value:
        return True
    warn("mstx: %s: expected a string that is not empty, got %s; ignored" % (what, shown(value)))
    return False


def _checked(message, stream, domain, may_be_empty=False):
    """(message, domain, number of the stream), or None."""
    if not _is_text("message", message) or not (may_be_empty and isinstance(domain, str) or _is_text("domain", domain)):
        return None
    number = _stream_number(stream)
    if number is None:
        warn("mstx: stream: expected a stream or None, got %s; ignored" % shown(stream))
        return None
    return message, _domain(domain or DEFAULT), number


def _or_else(message, name):
    """The message, or `name` if it is empty. A message of another type is reported when it is used."""
    return name if isinstance(message, str) and not message else message


class annotate:
    """A range around a block (`with`) or around every call of a function (as a decorator; default message: its name). The range of
    an `async` function ends when it has been awaited."""

    def __init__(self, message: str = "", stream: Any = None, domain: str = DEFAULT) -> None:
        self.message, self.stream, self.domain = message, stream, domain
        self._open: List[Any] = []

    def __enter__(self):
        self._open.append(mstx.range_start(_or_else(self.message, "annotate"), self.stream, self.domain))
        return self

    def __exit__(self, *unused):
        mstx.range_end(self._open.pop(), self.domain)
        return False

    def __call__(self, function: Callable) -> Callable:
        message = _or_else(self.message, getattr(function, "__name__", "annotate"))

        @functools.wraps(function)
        def call(*args, **kwargs):
            with annotate(message, self.stream, self.domain):
                return function(*args, **kwargs)

        @functools.wraps(function)
        async def awaited(*args, **kwargs):
            with annotate(message, self.stream, self.domain):
                return await function(*args, **kwargs)

        return awaited if inspect.iscoroutinefunction(function) else call


_Annotate = annotate  # inside the class mstx the name means its attribute


class mstx:
    """Everything is a static method: `mstx.mark("here")`.

    stream: None: the host alone; a stream: also on the device.
    domain: a group of marks; a recording can select some (mstx_domain_include, mstx_domain_exclude).
    """

    annotate = annotate

    @staticmethod
    @guarded()
    def mark(message: str, stream: Any = None, domain: str = DEFAULT) -> None:
        """A mark at one point in time."""
        checked = _checked(message, stream, domain, may_be_empty=True)
        if checked:
            _core.mark(*checked)

    @staticmethod
    @guarded(0)
    def range_start(message: str, stream: Any = None, domain: str = DEFAULT) -> int:
        """Begins a range, which any thread may end. Returns its id; 0 if nothing is recorded."""
        checked = _checked(message, stream, domain)
        return _core.range_start(*checked) if checked else 0

    @staticmethod
    @guarded()
    def range_end(range_id: int, domain: str = DEFAULT) -> None:
        """Ends a range, in the domain in which it began."""
        if isinstance(range_id, bool) or not isinstance(range_id, int):
            warn("mstx: range_id: expected the result of range_start, got %s; ignored" % shown(range_id))
        elif _is_text("domain", domain) and range_id != 0:
            _core.range_end(range_id, _domain(domain))

    @staticmethod
    @guarded(-1)
    def range_push(message: str, stream: Any = None, domain: str = DEFAULT) -> int:
        """Begins a range inside the last one of this thread and domain. Returns the number of open ranges around it; -1: nothing is recorded."""
        checked = _checked(message, stream, domain)
        return _core.range_push(*checked) if checked else -1

    @staticmethod
    @guarded(-1)
    def range_pop(domain: str = DEFAULT) -> int:
        """Ends the range that was pushed last. Returns the number of ranges still open; -1: there was none."""
        return _core.range_pop(_domain(domain)) if _is_text("domain", domain) else -1

    @staticmethod
    def mstx_range(message: str, stream: Any = None, domain: str = DEFAULT) -> "_Annotate":
        """Decorator: a range around every call."""
        return annotate(message, stream, domain)
