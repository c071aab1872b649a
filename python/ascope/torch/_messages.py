"""What users are told: one line each on stdout, as PyTorch users know it from the profiler of torch_npu."""
import functools
import os
import sys
import time
from typing import Optional

from ascope import _core

SHOWN_MOST = 100
LEVELS = {_core.INFO: "INFO", _core.WARNING: "WARNING", _core.ERROR: "ERROR"}


def _is_silent() -> bool:
    """Warnings come from the first rank only, and not at all where the user does not want them."""
    return (os.environ.get("TORCH_NPU_WARNING_DISABLE") == "1" or os.environ.get("TORCH_NPU_DISABLED_WARNING") == "1" or
            os.environ.get("RANK", "0") != "0")


def tell(severity: int, text: str) -> None:
    """One line. That it cannot be told (stdout is closed, its disk is full, its reader is gone) is not the training's trouble."""
    if severity == _core.WARNING and _is_silent():
        return
    line = "[%s] [%s] [%d] profiler.py: %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), LEVELS[severity], os.getpid(),
                                                 text.replace("\r", "\\r").replace("\n", "\\n"))
    out = sys.stdout
    try:
        if out is sys.__stdout__:  # past its buffer: what cannot be written would stay there, and become the exit code
            out.flush()
            os.write(out.fileno(), line.encode(out.encoding, "backslashreplace"))
        else:
            out.write(line)
            out.flush()
    except Exception:
        pass


def shown(value: object) -> str:
    """What somebody has passed, for a message: short, and whatever it is."""
    try:
        text = repr(value)
    except Exception:
        text = "something of the type %s" % type(value).__name__
    return text if len(text) <= SHOWN_MOST else text[:SHOWN_MOST] + "..."


def path_of(name: str, value: object, severity: int = _core.WARNING) -> Optional[str]:
    """What was passed as a path (a text, a pathlib.Path), as a text; None with a message where it is none."""
    try:
        text = os.fspath(value)
    except TypeError:
        text = None
    if isinstance(text, str) and text:
        return os.path.expanduser(text)
    tell(severity, "%s: expected a path, got %s" % (name, shown(value)))
    return None


def why(trouble: Exception) -> str:
    """What somebody's function has raised, for a message: its type and its text, where it has one."""
    try:
        text = str(trouble)
    except Exception:
        text = "(cannot be told)"
    return "%s: %s" % (type(trouble).__name__, text)


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
                error("%s: %s" % (function.__qualname__, why(trouble)))
                return result

        return call

    return wrap


def _from_library(severity: int, text: str) -> None:
    if severity > _core.INFO:
        tell(severity, text)


_core.on_message(_from_library)
