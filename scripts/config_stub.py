#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stub of ascope.torch.config for static type checkers, from the recorder's option table, to standard output.

    build/python/python3 scripts/config_stub.py >python/ascope/torch/config.pyi
"""
import enum
import inspect
import sys

from ascope.torch import config

HEAD = """# SPDX-License-Identifier: Apache-2.0
# Generated from the recorder's option table by scripts/config_stub.py; `make docs` rewrites it.
import enum
from typing import Any, Dict, List, Optional, Set, Union
"""


def class_lines(named):
    is_enum = issubclass(named, enum.Enum)
    yield "class %s%s:" % (named.__name__, "(enum.Enum)" if is_enum else "")
    if is_enum:
        yield from ("    %s = %r" % (one.name, one.value) for one in named)
    else:
        yield from ("    %s: %s" % (name, type(value).__name__) for name, value in vars(named).items() if not name.startswith("_"))


def function_lines(function):
    yield inspect.getsource(function).splitlines()[0] + " ..."


def parameter_lines(of):
    yield "class %s:" % of.__name__
    yield "    def __init__("
    yield "        self,"
    for one in inspect.signature(of).parameters.values():
        yield "        %s: %s = %s," % (one.name, one.annotation, '"%s"' % one.default if isinstance(one.default, str) else one.default)
    yield "    ) -> None: ..."
    for name, value in vars(of).items():
        if isinstance(value, property):
            yield "    @property"
            yield "    def %s(self) -> %s: ..." % (name, value.fget.__annotations__["return"])
    yield "    def options(self) -> Dict[str, Any]: ..."


def stub():
    """-> the text"""
    lines, before = [HEAD.rstrip()], None
    for name, value in vars(config).items():
        if getattr(value, "__module__", None) != config.__name__ or name.startswith("_") and value is not config._ExperimentalConfig:
            continue
        make = function_lines if inspect.isfunction(value) else parameter_lines if value is config._ExperimentalConfig else class_lines
        lines.extend([""] if make is not function_lines or before is not make else [])
        lines.extend(make(value))
        before = make
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(stub())
