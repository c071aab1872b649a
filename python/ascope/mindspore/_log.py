# SPDX-License-Identifier: Apache-2.0
"""Messages to the user, through `mindspore.log` if it is imported at the time of the call, else through Python's logging.

A message is one finished text. Functions of the logger are looked up at each call: programs and tests replace them.
"""
import logging
import os
import sys
import types
import warnings
from typing import Any, Optional

from ascope import _core, _front_ends
from ascope._front_ends import shown  # pylint: disable=unused-import

_logger = logging.getLogger("ascope.mindspore")
_NAMES = {_core.INFO: "info", _core.WARNING: "warning", _core.ERROR: "error"}


def report(severity: int, text: str) -> None:
    of_mindspore = sys.modules.get("mindspore.log")
    getattr(of_mindspore or _logger, _NAMES[severity])(text)


def info(text: str) -> None:
    report(_core.INFO, text)


def warning(text: str) -> None:
    report(_core.WARNING, text)


def error(text: str) -> None:
    report(_core.ERROR, text)


def note(text: str) -> None:
    """Issues a Python warning, which is shown once per line of the program that caused it."""
    frame: Optional[types.FrameType] = sys._getframe(1)
    depth, here = 2, os.path.dirname(os.path.abspath(__file__)) + os.sep
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(here):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, UserWarning, stacklevel=depth)


def framework(name: str) -> Optional[Any]:
    """A module of MindSpore if the program has imported it, otherwise None. Nothing is imported here."""
    return sys.modules.get(name)


_front_ends.receive(report)
