# SPDX-License-Identifier: Apache-2.0
"""Counts the steps of a training through its callbacks, in recordings without a schedule. `step_list` of an analysis uses these numbers.

When a Profiler is made or started, the functions of MindSpore's Callback and of all derived classes for the begin and the end of a step
are replaced by ones that count. `StepCounter` is a Callback for trainings that have none, and for hand-written loops.
"""
import functools
from typing import Any, Callable, Dict, Optional, Tuple

from ascope import _core
from ascope.mindspore import _log

BEGINS, ENDS = ("step_begin", "on_train_step_begin"), ("step_end", "on_train_step_end")
OF_EVALUATIONS = ("on_eval_step_begin", "on_eval_step_end")  # in MindSpore these call step_begin() and step_end(), too


class _Steps:
    report: Optional[Callable[[int], None]] = None  # step() of the session; None: nothing is counted
    recorded = 0  # steps before the open one; records before the first step belong to that step
    number: Optional[int] = None  # the training's own number of the last step
    range: Optional[_core.Range] = None
    evaluations = 0  # steps of evaluations that are running: they are not counted


_steps = _Steps()


def count(report: Callable[[int], None]) -> None:
    """Begins to count: calls report(n) at each step."""
    stop()
    _steps.report = report


def stop() -> None:
    """Ends counting."""
    _close()
    _steps.report, _steps.recorded, _steps.number = None, 0, None


def _close() -> None:
    step, _steps.range = _steps.range, None
    if step is not None:
        step.stop()


def _number_of(run_context: Any) -> Optional[int]:
    try:
        return int(run_context.original_args().cur_step_num)
    except Exception:  # pylint: disable=broad-except  # the training may pass any object
        return None


def _begin(run_context: Any) -> None:
    number = _number_of(run_context) if _steps.report and not _steps.evaluations else None
    if number is None or number == _steps.number or _steps.report is None:
        return
    _close()
    if _steps.number is not None:
        _steps.recorded += 1
        _steps.report(_steps.recorded)
    _steps.number, _steps.range = number, _core.Range("Step %d" % number, "Python;Callback")
    _steps.range.start()


def _end(run_context: Any) -> None:
    if _steps.range is not None and not _steps.evaluations and _number_of(run_context) == _steps.number:
        _close()


def _watched(function: Callable[..., Any], before: Any, after: Any) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(self: Any, run_context: Any = None, *more: Any, **named: Any) -> Any:
        before(run_context)
        try:
            return function(self, run_context, *more, **named)
        finally:
            after(run_context)

    call._ascope_watches = True  # type: ignore[attr-defined]
    return call


def _nothing(run_context: Any) -> None:
    pass


def _evaluation(difference: int) -> Callable[[Any], None]:
    def change(run_context: Any) -> None:
        _steps.evaluations += difference

    return change


# {name: (called before, called after)}. The function that begins a step may begin the recording, and the one that ends it may end it.
AROUND: Dict[str, Tuple[Callable[[Any], None], Callable[[Any], None]]] = {**{name: (_nothing, _begin) for name in BEGINS}, **{name: (_end, _nothing) for name in ENDS},
          **{name: (_evaluation(1), _evaluation(-1)) for name in OF_EVALUATIONS}}


def watch(cls: Any) -> Any:
    """Replaces the step functions of a class by ones that count; a second call has no effect."""
    for name, around in AROUND.items():
        function = vars(cls).get(name)
        if callable(function) and not getattr(function, "_ascope_watches", False):
            setattr(cls, name, _watched(function, *around))
    return cls


def base() -> type:
    """MindSpore's Callback, or `object` if it is not imported."""
    train = _log.framework("mindspore.train")
    return getattr(train, "Callback", object) if train else object


def watch_all() -> None:
    """Watches MindSpore's Callback and all classes derived from it."""
    left = [base()]
    if left == [object]:
        return
    for cls in left:
        try:
            watch(cls)
        except (AttributeError, TypeError):  # the class cannot be changed
            continue
        left += [one for one in cls.__subclasses__() if one not in left]


def counter() -> Any:
    """Makes the class StepCounter, which is derived from MindSpore's Callback if that is imported."""

    class StepCounter(base()):  # type: ignore[misc]
        """A Callback that only counts steps: for `model.train(..., callbacks=[StepCounter()])`, or for a hand-written loop that passes an
        object whose original_args() has cur_step_num."""

        def step_begin(self, run_context: Any) -> None:
            """A step begins."""

        def step_end(self, run_context: Any) -> None:
            """A step ends."""

    return watch(StepCounter)
