# SPDX-License-Identifier: Apache-2.0
"""python3 -m ascope COMMAND...: `run` starts a Python script; everything else is the program `ascope`."""
import os
import sys
from typing import List, Optional

from ascope import _program


def main(arguments: Optional[List[str]] = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["run"]:
        from ascope import _run
        return _run.main(arguments[1:])
    program = _program.find()
    if not program:
        print("ascope: the program was not found beside this package or in PATH; reinstall ascope or set ASCOPE_PROGRAM", file=sys.stderr)
        return 1
    try:
        os.execv(program, [program] + arguments)
    except OSError as error:
        print("ascope: %s cannot be started: %s" % (program, error), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
