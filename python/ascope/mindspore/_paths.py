# SPDX-License-Identifier: Apache-2.0
"""Checks of paths that users give. An unusable path raises ProfilerPathErrorException."""
import os
import re
from typing import List

LENGTH_MOST, NAME_MOST = 4096, 255
MODE = 0o750
_ALLOWED = re.compile(r"[./\w\s~\-\u4e00-\u9fa5]*", re.ASCII)
_PROF = re.compile(r"^PROF_\d+_\d+_[0-9a-zA-Z]+")


class ProfilerException(Exception):
    """The base of the exceptions of the profiler."""
    code, kind = 50546081, "Path error."

    def __init__(self, text: str = "") -> None:
        super().__init__("[%s] code: %d, msg: %s %s" % (type(self).__name__, self.code, self.kind, text))


class ProfilerPathErrorException(ProfilerException):
    """A path that cannot be used."""


def absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))


def check(path: str) -> str:
    """Checks a path, which need not exist, and returns it as an absolute one."""
    path = absolute(path)
    if os.path.islink(path):
        raise ProfilerPathErrorException("%s is a symbolic link." % path)
    real = os.path.realpath(path)
    if len(real) > LENGTH_MOST:
        raise ProfilerPathErrorException("the path is longer than %d characters." % LENGTH_MOST)
    if not _ALLOWED.fullmatch(real):
        raise ProfilerPathErrorException("%s contains invalid characters." % real)
    if any(len(name) > NAME_MOST for name in real.split(os.sep)):
        raise ProfilerPathErrorException("a name in the path is longer than %d characters." % NAME_MOST)
    return real


def check_directory(path: str) -> str:
    """As check(), and the path must not be a file."""
    real = check(path)
    if os.path.isfile(real):
        raise ProfilerPathErrorException("%s is a file; expected a directory." % real)
    return real


def make_directory(path: str) -> str:
    """As check_directory(), and creates it if it does not exist."""
    real = check_directory(path)
    try:
        os.makedirs(real, mode=MODE, exist_ok=True)
    except OSError as trouble:
        raise ProfilerPathErrorException("%s cannot be created: %s." % (real, trouble.strerror)) from trouble
    return real


def _is_collection(path: str) -> bool:
    try:
        names = os.listdir(path)
    except OSError:
        return False
    return any((name == "FRAMEWORK" or _PROF.match(name)) and os.path.isdir(os.path.join(path, name)) for name in names)


def collections(path: str) -> List[str]:
    """The collections in a path: the directory itself, or directories directly in it."""
    if _is_collection(path):
        return [path]
    return [inner for inner in sorted(os.path.join(path, name) for name in os.listdir(path)) if os.path.isdir(inner) and _is_collection(inner)]
