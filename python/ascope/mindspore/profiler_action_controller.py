# SPDX-License-Identifier: Apache-2.0
"""What happens between two steps of a schedule: a table."""
from typing import Any, Callable, Dict, Optional, Tuple

from ascope.mindspore import _log, profiler_interface
from ascope.mindspore.schedule import ProfilerAction

NONE, WARM_UP, RECORD, SAVE = ProfilerAction.NONE, ProfilerAction.WARM_UP, ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE
WORDS = {
    (WARM_UP, NONE): "Incorrect schedule: WARMUP followed by NONE",
    (RECORD, NONE): "Incorrect schedule: RECORD followed by NONE",
    (RECORD, WARM_UP): "Incorrect schedule: RECORD followed by WARMUP",
    (WARM_UP, None): "Incorrect schedule: Stop profiler while current state is WARMUP which will result in empty parsed data.",
    (RECORD, None): "Incorrect schedule: Stop profiler while current state is RECORD which may result in incomplete parsed data.",
    (SAVE, None): "Stop profiler while current state is RECORD_AND_SAVE, perhaps the scheduling cycle has not yet completed.",
}
# "W" warns and "T" calls on_trace_ready; other words are calls of the session.
MOVES = {
    (NONE, NONE): "", (NONE, WARM_UP): "init", (NONE, RECORD): "init start", (NONE, SAVE): "init start", (NONE, None): "",
    (WARM_UP, NONE): "W start stop finalize clear", (WARM_UP, WARM_UP): "", (WARM_UP, RECORD): "start", (WARM_UP, SAVE): "start",
    (WARM_UP, None): "W finalize clear",
    (RECORD, NONE): "W stop finalize clear", (RECORD, WARM_UP): "W stop finalize clear", (RECORD, RECORD): "", (RECORD, SAVE): "",
    (RECORD, None): "W stop finalize T clear",
    (SAVE, NONE): "stop finalize T clear", (SAVE, WARM_UP): "stop finalize T clear init",
    (SAVE, RECORD): "stop finalize T clear init start", (SAVE, SAVE): "stop finalize T clear init start",
    (SAVE, None): "W stop finalize T clear",
}


class ProfilerActionController:
    """Carries out the calls of the table on `prof_interface`."""

    def __init__(self, prof_interface: Any = None, on_trace_ready: Optional[Callable[[], Any]] = None) -> None:
        self.prof_interface = prof_interface or profiler_interface.ProfilerInterface
        self.on_trace_ready = on_trace_ready
        self.action_map: Dict[Tuple[ProfilerAction, Optional[ProfilerAction]], list] = {
            move: [self._bound(move, word) for word in words.split()] for move, words in MOVES.items()}

    def _bound(self, move, word):
        if word == "W":
            return lambda: _log.warning(WORDS[move])
        if word == "T":
            return self._trace_ready
        return getattr(self.prof_interface, word)

    def _trace_ready(self):
        if self.on_trace_ready:
            self.on_trace_ready()

    def transit_action(self, prev: ProfilerAction, current: Optional[ProfilerAction]) -> None:
        for action in self.action_map.get((prev, current), []):
            action()
