# SPDX-License-Identifier: Apache-2.0
"""Scripts in processes that are forked off one with PyTorch (quick.py): its import takes longer than most of them."""
import collections
import json
import os
import select
import signal
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
Done = collections.namedtuple("Done", "code out err")


class Quick:
    """quick.py, and scripts for it, which begin with `prelude`."""

    def __init__(self, prelude=""):
        self.prelude = prelude
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "quick.py")], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, bufsize=1,
                                        env={**os.environ, "PYTHONPATH": os.pathsep.join((os.environ["PYTHONPATH"], HERE)),
                                             # with a thread for a GPU autograd refuses to work in a child of a fork
                                             "CUDA_VISIBLE_DEVICES": ""})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(10)

    def answer(self, seconds):
        is_there, _, _ = select.select([self.process.stdout], [], [], seconds)
        return int(self.process.stdout.readline()) if is_there else None

    def run(self, code, place, out=None, timeout=300, does=None, **env):
        files = [str(place / name) for name in ("out", "err")]
        self.process.stdin.write(json.dumps({"code": self.prelude + textwrap.dedent(code), "cwd": str(place), "env": env,
                                             "out": out or files[0], "err": files[1]}) + "\n")
        child = self.answer(timeout)
        if does:
            does(child)
        status = self.answer(timeout)
        if status is None:
            os.kill(child, signal.SIGKILL)
            self.answer(timeout)
        text = [open(file, encoding="utf-8", errors="replace").read() if os.path.exists(file) else "" for file in files]
        assert status is not None, "it does not end: " + "\n".join(text)
        return Done(status, *text)

    def ascope(self, place, *arguments, **env):
        """python3 -m ascope ARGUMENT..."""
        return self.run("import runpy, sys; sys.argv[1:] = %r; runpy.run_module('ascope', run_name='__main__', alter_sys=True)" % (arguments,),
                        place, **env)
