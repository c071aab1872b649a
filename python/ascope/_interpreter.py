# SPDX-License-Identifier: Apache-2.0
"""What is wrong when the package has no extension for the interpreter that imports it."""
import glob
import importlib.machinery
import os
import platform
import re
import sysconfig


def _name(suffix: str) -> str:
    """The version in a suffix such as .cpython-313t-x86_64-linux-gnu.so, whose t is for threads without the GIL."""
    found = re.match(r"\.cpython-3(\d+)(t?)-", suffix)
    return "3.%s%s" % (found[1], " (free-threaded)" if found[2] else "") if found else suffix


def no_core(why: ImportError) -> ImportError:
    """The error to raise instead of `why`, which says that ascope._core cannot be imported."""
    stem = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_core")
    if any(os.path.exists(stem + suffix) for suffix in importlib.machinery.EXTENSION_SUFFIXES):
        return why  # it is there, and says itself what it lacks
    built = sorted({_name(path[len(stem):]) for path in glob.glob(glob.escape(stem) + ".*.so")}, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])
    free = " (free-threaded)" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    return ImportError("ascope: not built for %s %s%s; built for %s. Use one of these, build the package for this one "
                       "(3.8 to 3.13 with the GIL are supported), or record from outside: ascope run" %
                       (platform.python_implementation(), platform.python_version(), free, "Python " + ", ".join(built) if built else "no Python"))
