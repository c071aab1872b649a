# SPDX-License-Identifier: Apache-2.0
"""Which steps are recorded: cycles of a wait, a warm-up and an active phase."""
import enum
from typing import Any, Dict, Optional

from ascope.mindspore import _log


class ProfilerAction(enum.Enum):
    """The action of a step."""
    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3

    @staticmethod
    def get_by_value(value: Any) -> "Optional[ProfilerAction]":
        return next((one for one in ProfilerAction if one.value == value), None)


class Schedule:
    """A function from the number of a step to its action.

    wait, warmup (or warm_up), active: steps of each phase of a cycle. The recording is saved at the end of the cycle.
    repeat: number of cycles; 0: no limit.
    skip_first: steps before the first cycle.
    """

    def __init__(self, *, wait: int, active: int, warmup: Any = 0, repeat: int = 0, skip_first: int = 0, warm_up: Any = 0) -> None:
        self.wait = self._number("wait", wait)
        self.active = self._number("active", active, least=1)
        self.warmup = self._number("warmup", warmup if isinstance(warm_up, int) and warm_up == 0 else warm_up)
        self.repeat = self._number("repeat", repeat)
        self.skip_first = self._number("skip_first", skip_first)
        if self.warmup == 0:
            _log.warning("Profiler won't be using warmup, this can skew profiler results")

    @staticmethod
    def _number(name, value, least=0):
        if isinstance(value, int) and not isinstance(value, bool) and value >= least:
            return value
        _log.warning("Parameter '%s' should be of type int, but got %s. reset to int %d." % (name, type(value), least))
        return least

    @classmethod
    def of_whole_script(cls) -> "Schedule":
        """The default schedule without its warning, because the script did not choose it."""
        made = cls(wait=0, active=1, warmup=1)
        made.warmup = 0
        return made

    @property
    def warm_up(self) -> int:
        return self.warmup

    def __call__(self, step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError("Invalid parameter step, which must be not less than 0.")
        if step < self.skip_first:
            return ProfilerAction.NONE
        step -= self.skip_first
        cycle = self.wait + self.warmup + self.active
        if self.repeat > 0 and step >= self.repeat * cycle:
            return ProfilerAction.NONE
        at = step % cycle
        if at < self.wait:
            return ProfilerAction.NONE
        if at < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    def to_dict(self) -> Dict[str, int]:
        return {name: getattr(self, name) for name in ("wait", "active", "warmup", "repeat", "skip_first")}

    def __repr__(self) -> str:
        return "Schedule(%s)" % ", ".join("%s=%d" % pair for pair in self.to_dict().items())


def _default_schedule_fn(_: int) -> ProfilerAction:
    return ProfilerAction.RECORD
