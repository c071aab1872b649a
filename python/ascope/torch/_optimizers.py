# SPDX-License-Identifier: Apache-2.0
"""Where a step of a training ends: when `step()` of an optimizer returns.

PyTorch wraps `step` of a class when an optimizer of it is constructed: `_hook_for_profile` in 1.x, `_patch_step_function` in 2.x. The
wrapper of this module is put around PyTorch's at the same moment, so that the next step begins after PyTorch's own range of the step.
"""
import threading
from typing import Any, Callable, List

_listeners: List[Any] = []  # (ended, made) of each call of watch()
_running = threading.local()  # .inside: the optimizers whose step() this thread is running


def _wrap(cls, base):
    """Wraps, once, the step() that objects of `cls` call: in `cls`, or in the class from which it is inherited."""
    cls = next((one for one in cls.__mro__ if "step" in vars(one)), base)
    step = vars(cls)["step"]
    if getattr(step, "ends_steps", False):
        return

    def stepped(self, *args, **kwargs):
        inside = _running.__dict__.setdefault("inside", [])
        is_outermost = not any(one is self for one in inside)  # a step() may call that of its base class, which is wrapped, too
        inside.append(self)
        try:
            result = step(self, *args, **kwargs)
        finally:
            inside.pop()
        if is_outermost:
            for ended, _ in _listeners:
                ended(self)
        return result

    stepped.ends_steps = True
    stepped.__wrapped__ = step
    for name in ("hooked", "__doc__", "__name__"):
        if hasattr(step, name):
            setattr(stepped, name, getattr(step, name))
    cls.step = stepped


def watch(ended: Callable[[Any], None], made: Callable[[Any], None] = lambda optimizer: None) -> None:
    """Calls ended(optimizer) after each step of an optimizer, and made(optimizer) when one is constructed.

    Requires PyTorch. Only optimizers derived from torch.optim.Optimizer are seen, and only those constructed afterwards.
    """
    import torch
    base = torch.optim.Optimizer
    _listeners.append((ended, made))
    if len(_listeners) > 1:
        return
    construct = base.__init__

    def constructed(self, *args, **kwargs):
        construct(self, *args, **kwargs)
        _wrap(type(self), base)
        for _, made in _listeners:
            made(self)

    setattr(constructed, "__wrapped__", construct)
    setattr(base, "__init__", constructed)
