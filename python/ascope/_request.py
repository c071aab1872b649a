# SPDX-License-Identifier: Apache-2.0
"""Requests of an inference server: when each arrived, got its tokens, and ended."""
import sys
from typing import Any

from ascope import _core

_WANTS = _core.RECORDS_MARKS | _core.RECORDS_OPERATORS
_BEGIN, _FIRST_TOKEN, _TOKEN, _END = range(4)  # enum ascope_request_event
_NAMES = ("request_begin ", "first_token ", "token ", "request_end ")


class request:
    """One request, marked in whatever is recording, ascope or torch.profiler. ``ascope why`` has its times, and with ``--request ID``
    where they went.

    ::

        r = ascope.request("17").begin()    # on arrival; or: with ascope.request("17") as r:
        r.first_token()
        r.token()                           # each further one
        r.end()

    The id is any text or number without spaces and commas. The calls may come from any thread.
    """

    __slots__ = ("id", "_range")

    def __init__(self, id: Any) -> None:
        self.id = str(id)
        self._range = 0

    def _mark(self, event: int) -> int:
        if self._range or _core.recording() & _WANTS:
            return _core.request(event, self.id, self._range if event == _END else 0)
        torch = sys.modules.get("torch")
        if torch is not None and torch.autograd._profiler_enabled():
            with torch.profiler.record_function(_NAMES[event] + self.id):
                pass
        return 0

    def begin(self) -> "request":
        """It arrived."""
        self._range = self._mark(_BEGIN)
        return self

    def first_token(self) -> None:
        """Its first token is there."""
        self._mark(_FIRST_TOKEN)

    def token(self) -> None:
        """A further token is there."""
        self._mark(_TOKEN)

    def end(self) -> None:
        """It is done, or was aborted."""
        self._mark(_END)
        self._range = 0

    __enter__ = begin

    def __exit__(self, *exc: Any) -> None:
        self.end()
