# SPDX-License-Identifier: Apache-2.0
"""Messages to the user: one line each on stdout, or on stderr under `ascope run`, in the format of torch_npu's profiler."""
import os
import sys
import time
from typing import Any, Optional

from ascope import _core
from ascope._front_ends import guarding, receive, shown, why  # pylint: disable=unused-import

least_severity = _core.INFO  # less severe messages are not printed
LEVELS = {_core.INFO: "INFO", _core.WARNING: "WARNING", _core.ERROR: "ERROR"}


def _is_silent() -> bool:
    """Warnings are printed by the first rank only, and not at all if the user disabled them."""
    return (os.environ.get("TORCH_NPU_WARNING_DISABLE") == "1" or os.environ.get("TORCH_NPU_DISABLED_WARNING") == "1" or
            os.environ.get("RANK", "0") != "0")


def report(severity: int, text: str) -> None:
    """Prints one line. A failure to print (stdout is closed, the disk is full, the reader is gone) does not affect the training."""
    if severity < least_severity or severity == _core.WARNING and _is_silent():
        return
    line = "[%s] [%s] [%d] profiler.py: %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), LEVELS[severity], os.getpid(),
                                                 text.replace("\r", "\\r").replace("\n", "\\n"))
    out = sys.stderr if os.environ.get("ASCOPE_SUPERVISED") else sys.stdout
    try:
        if out is sys.__stdout__ or out is sys.__stderr__:  # bypasses its buffer: unwritable text would stay there and change the exit code
            out.flush()
            os.write(out.fileno(), line.encode(out.encoding, "backslashreplace"))
        else:
            out.write(line)
            out.flush()
    except Exception:
        pass


def path_of(name: str, value: Any, instead: str, severity: int = _core.WARNING) -> Optional[str]:
    """A path argument (str, pathlib.Path) as a str; None with a message if it is invalid. instead: what happens then."""
    try:
        text = os.fspath(value)
    except TypeError:
        text = None
    if isinstance(text, str) and text:
        return os.path.expanduser(text)
    report(severity, "%s: expected a path, got %s; %s" % (name, shown(value), instead))
    return None


def info(text: str) -> None:
    report(_core.INFO, text)


def warn(text: str) -> None:
    report(_core.WARNING, text)


def error(text: str) -> None:
    report(_core.ERROR, text)


guarded = guarding(report)
receive(report)
