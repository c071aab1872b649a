# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from forked import Quick


@pytest.fixture(scope="module")
def quick():
    with Quick() as made:
        yield made


@pytest.fixture
def script(tmp_path):
    """Runs Python code in a process of its own, in a directory of its own: script(code, *arguments) -> CompletedProcess."""

    def run(code, *arguments, check=True, timeout=300, env=None):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)], cwd=tmp_path,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout,
                              env=dict(os.environ, **(env or {})),
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # ignored in a shell's background jobs
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    return run
