# SPDX-License-Identifier: Apache-2.0
"""python3 -m ascope COMMAND...: `run`, `record` and `profile` start a Python script; everything else is the program `ascope`."""
import sys
from typing import List, Optional

from ascope import _program


def main(arguments: Optional[List[str]] = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    of_rank = [one for one in arguments[:1] if one.startswith(("--local-rank=", "--local_rank="))]  # torch.distributed.launch
    arguments = arguments[len(of_rank):]
    command = arguments[0] if arguments else ""
    if command in ("run", "record", "profile"):
        from ascope import _run
        return _run.main(arguments[1:], command, of_rank)
    if command == "front-end":  # for the program, which asks before it starts a script
        from ascope import _frameworks
        print(_frameworks.of_script(arguments[-1], is_module="-m" in arguments[1:-1]) or "none")
        return 0
    return _program.become(arguments)


if __name__ == "__main__":
    sys.exit(main())
