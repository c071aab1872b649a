"""What users are told: one line each on stdout, as PyTorch users know it from the profiler of torch_npu."""
import functools
import os
import time

from ascope import _core

LEVELS = {_core.INFO: "INFO", _core.WARNING: "WARNING", _core.ERROR: "ERROR"}


def _is_silent() -> bool:
    """Warnings come from the first rank only, and not at all where the user does not want them."""
    return (os.environ.get("TORCH_NPU_WARNING_DISABLE") == "1" or os.environ.get("TORCH_NPU_DISABLED_WARNING") == "1" or
            os.environ.get("RANK", "0") != "0")


def tell(severity: int, text: str) -> None:
    if severity == _core.WARNING and _is_silent():
        return
    print("[%s] [%s] [%d] profiler.py: %s" % (time.strftime("%Y-%m-%d %H:%M:%S"), LEVELS[severity], os.getpid(), text),
          flush=True)


def info(text: str) -> None:
    tell(_core.INFO, text)


def warn(text: str) -> None:
    tell(_core.WARNING, text)


def error(text: str) -> None:
    tell(_core.ERROR, text)


def guarded(result=None):
    """Whatever goes wrong in a function of the profiler is told, and never becomes the training's."""

    def wrap(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except Exception as trouble:
                error("%s: %s: %s" % (function.__qualname__, type(trouble).__name__, trouble))
                return result() if callable(result) else result

        return call

    return wrap


def _from_library(severity: int, text: str) -> None:
    if severity > _core.INFO:
        tell(severity, text)


_core.on_message(_from_library)
