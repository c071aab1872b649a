# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a file where there is no pytest: every function test_*, one line each. without_pytest.py TEST.py"""

import contextlib
import importlib
import pathlib
import sys
import traceback
import types


class Skipped(Exception):
    pass


@contextlib.contextmanager
def raises(kind):
    try:
        yield
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


def skip(reason):
    raise Skipped(reason)


def main(path):
    stand_in = types.ModuleType("pytest")
    stand_in.importorskip = importlib.import_module
    stand_in.raises = raises
    stand_in.skip = skip
    stand_in.mark = types.SimpleNamespace(skipif=lambda condition, reason="": lambda function: None if condition else function)
    sys.modules["pytest"] = stand_in
    path = pathlib.Path(path)
    sys.path.insert(0, str(path.parent))
    module = importlib.import_module(path.stem)
    n_failed = 0
    for name, test in list(vars(module).items()):
        if not name.startswith("test_") or test is None:
            continue
        try:
            test()
            print("ok     ", name, flush=True)
        except Skipped as reason:
            print("skipped", name, reason, flush=True)
        except Exception:  # pylint: disable=broad-except
            n_failed += 1
            print("FAILED ", name, flush=True)
            traceback.print_exc()
    return n_failed > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
