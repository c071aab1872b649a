# SPDX-License-Identifier: Apache-2.0
"""Which steps are recorded: cycles of a wait, a warm-up and an active phase."""
import enum

from ascope import _core
from ascope.torch._messages import shown, warn

MOST = 1 << 40


class ProfilerAction(enum.Enum):
    """The action of a step."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class Schedule:
    """A function from the number of a step to its action.

    wait, warmup, active: steps of each phase of a cycle. The recording is saved at the end of the cycle.
    repeat: number of cycles; 0: no limit.
    skip_first: steps before the first cycle.
    skip_first_wait: not 0: the first cycle has no wait phase.
    """

    def __init__(self, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0,
                 skip_first_wait: int = 0) -> None:
        self.wait = self._number("wait", wait)
        self.active = self._number("active", active, least=1)
        self.warmup = self._number("warmup", warmup)
        self.repeat = self._number("repeat", repeat)
        self.skip_first = self._number("skip_first", skip_first)
        self.skip_first_wait = self._number("skip_first_wait", skip_first_wait, least=None)

    @staticmethod
    def _number(name, value, least=0):
        if isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least):
            return value
        warn("schedule: %s: expected an integer%s, got %s; using %d" %
             (name, "" if least is None else " from %d" % least, shown(value), least or 0))
        return least or 0

    def as_tuple(self):
        """The schedule for the recorder. Values are limited to its range, which no program reaches."""
        wait, warmup, repeat, skip_first = (min(number, MOST) for number in (self.wait, self.warmup, self.repeat, self.skip_first))
        return (wait, min(self.active, _core.EVERY_STEP), warmup, repeat, skip_first, max(-MOST, min(self.skip_first_wait, MOST)))

    def __call__(self, step: int) -> ProfilerAction:
        if step < 0:
            raise ValueError("invalid step number %d" % step)
        if step < self.skip_first:
            return ProfilerAction.NONE
        step -= self.skip_first
        if self.skip_first_wait != 0:
            step += self.wait
        cycle = self.wait + self.warmup + self.active
        if self.repeat > 0 and step >= self.repeat * cycle:
            return ProfilerAction.NONE
        at = step % cycle
        if at < self.wait:
            return ProfilerAction.NONE
        if at < self.wait + self.warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE
