#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One file of the package's tests under pytest: run.py TEST.py [ARGUMENT...]

Left out with one line (exit code 77) where pytest is not installed, or where every test in it was left out.
"""
import os
import sys
import tempfile

SKIPPED = 77

try:
    import pytest
except ImportError:
    print("left out: %s has no pytest (apt-get install python3-pytest)" % sys.executable)
    sys.exit(SKIPPED)


class Count:
    """How many tests had a result, and the first reason why one had none."""

    def __init__(self):
        self.n_run, self.reason = 0, "there are no tests in it"

    def pytest_runtest_logreport(self, report):
        self.n_run += report.when == "call" and not report.skipped
        self.note(report)

    def pytest_collectreport(self, report):
        self.note(report)

    def note(self, report):
        if report.skipped and isinstance(report.longrepr, tuple):
            self.reason = report.longrepr[2]


def main(arguments):
    count = Count()
    with tempfile.TemporaryDirectory(prefix="ascope-") as place:  # also for what is left by processes that a test kills
        os.environ["TMPDIR"] = tempfile.tempdir = place
        code = pytest.main(["-q", "-p", "no:cacheprovider", "-rs"] + arguments, plugins=[count])
    if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and count.n_run == 0:
        print("left out:", count.reason)
        return SKIPPED
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
