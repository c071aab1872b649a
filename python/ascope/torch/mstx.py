"""Marks: points and ranges that a user puts into a program, in domains.

With a stream a mark is launched on the device, too. Nothing is recorded while no session with marks runs.
"""
import functools
import inspect
from typing import Any, Callable

from ascope import _core
from ascope.torch._messages import guarded, shown, warn

DEFAULT = "default"


def _domain(domain):
    return None if domain == DEFAULT else domain


def _stream_number(stream):
    """-1: the host alone. None: not a stream."""
    if stream is None:
        return -1
    number = getattr(stream, "stream_id", getattr(stream, "npu_stream", None))
    return number if isinstance(number, int) else None


def _is_text(what, value):
    if isinstance(value, str) and value:
        return True
    warn("mstx: %s: wanted a text, found %s; the mark is left out" % (what, shown(value)))
    return False


def _checked(message, stream, domain, may_be_empty=False):
    """(message, domain, number of the stream), or None."""
    if not _is_text("message", message) or not (may_be_empty and isinstance(domain, str) or _is_text("domain", domain)):
        return None
    number = _stream_number(stream)
    if number is None:
        warn("mstx: stream: wanted a stream or None, found %s; the mark is left out" % shown(stream))
        return None
    return message, _domain(domain or DEFAULT), number


def _or_else(message, name):
    """A name for what has no message; what is no text is not asked, and told of when it is used."""
    return name if isinstance(message, str) and not message else message


class annotate:
    """A range around a block (`with`) or around every call of a function (as a decorator; its name, where no message is given). That of
    an `async` function ends when it has been awaited."""

    def __init__(self, message: str = "", stream: Any = None, domain: str = DEFAULT) -> None:
        self.message, self.stream, self.domain = message, stream, domain
        self._open = []

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


class mstx:
    """Everything is a static method: `mstx.mark("here")`.

    stream: None puts a mark on the host alone; a stream of the device puts it there, too.
    domain: marks of one kind; a recording can choose some (mstx_domain_include, mstx_domain_exclude).
    """

    annotate = annotate

    @staticmethod
    @guarded()
    def mark(message: str, stream: Any = None, domain: str = DEFAULT) -> None:
        """A point."""
        checked = _checked(message, stream, domain, may_be_empty=True)
        if checked:
            _core.mark(*checked)

    @staticmethod
    @guarded(0)
    def range_start(message: str, stream: Any = None, domain: str = DEFAULT) -> int:
        """Begins a range, which any thread may end. Its id; 0 when nothing is recorded."""
        checked = _checked(message, stream, domain)
        return _core.range_start(*checked) if checked else 0

    @staticmethod
    @guarded()
    def range_end(range_id: int, domain: str = DEFAULT) -> None:
        """Ends it; in the domain in which it began."""
        if isinstance(range_id, bool) or not isinstance(range_id, int):
            warn("mstx: range_id: wanted what range_start has returned, found %s" % shown(range_id))
        elif _is_text("domain", domain) and range_id != 0:
            _core.range_end(range_id, _domain(domain))

    @staticmethod
    @guarded(-1)
    def range_push(message: str, stream: Any = None, domain: str = DEFAULT) -> int:
        """Begins a range inside the last one of this thread and domain. How many are open around it; -1: nothing is recorded."""
        checked = _checked(message, stream, domain)
        return _core.range_push(*checked) if checked else -1

    @staticmethod
    @guarded(-1)
    def range_pop(domain: str = DEFAULT) -> int:
        """Ends the last one that was pushed. How many are still open; -1: none was."""
        return _core.range_pop(_domain(domain)) if _is_text("domain", domain) else -1

    @staticmethod
    def mstx_range(message: str, stream: Any = None, domain: str = DEFAULT) -> annotate:
        """Decorator: a range around every call."""
        return annotate(message, stream, domain)
