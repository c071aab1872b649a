# SPDX-License-Identifier: Apache-2.0
"""Runs scripts one after another, each in a process of its own, with PyTorch imported once: quick.py, then a line of JSON for each script.

{"code": ..., "cwd": ..., "env": {...}, "out": path, "err": path} is answered with the process's number, and its status when it has ended.
A script is forked off before anything was computed, and ends as Python's main program does: with the interpreter.
"""
import json
import os
import signal
import sys

import torch

torch.set_num_threads(1)


def serve():
    """Returns in the process that runs a script: what it is."""
    while True:
        line = sys.stdin.readline()
        if not line:
            sys.exit()
        child = os.fork()
        if child == 0:
            return json.loads(line)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def redirect(number, path, flags):
    fd = os.open(path, flags, 0o644)
    os.dup2(fd, number)
    os.close(fd)


if __name__ == "__main__":  # not where a process that the script has spawned looks for its parts
    job = serve()
    redirect(0, os.devnull, os.O_RDONLY)
    redirect(1, job["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    redirect(2, job["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with Ctrl-C ignored
    os.chdir(job["cwd"])
    os.environ.update(job["env"])
    exec(compile(job["code"], "<script>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
