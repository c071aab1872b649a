# SPDX-License-Identifier: Apache-2.0
"""For tests of dynamic_profile: jobs of one or more ranks, forked off with PyTorch imported once, and what their collections contain.

A job is a function that runs in a process of its own, which ends as Python's main program does. Nothing here waits for a time: a job steps until
something has happened, or a test looks until it has, with a limit that only a failure reaches.
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback

import torch

from ascope import _core
from ascope.torch import _build
from ascope.torch import dynamic_profile as dp

LIMIT_S = 120
IDLE, READY, RUNNING = 1, 2, 3
ASCOPE = os.environ.get("ASCOPE_PROGRAM") or "ascope"
POLL = {"ASCOPE_DYNAMIC_POLL_MS": "5"}

_build.load()  # compiled here, if at all: no test waits for a compiler
torch.set_num_threads(1)  # and nothing is computed here: PyTorch's threads do not survive a fork


def until(condition, what="the condition"):
    """Looks until it holds, and returns what it is."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.002)
    raise AssertionError("%s was not met within %d s" % (what, LIMIT_S))


# ---- inside of a job ----

def step_until(state):
    """dp.step() until the library is in this state; the number of the current step then."""
    end = time.monotonic() + LIMIT_S
    while _core.dynamic_state() != state:
        assert time.monotonic() < end, "state %d: not within %d s" % (state, LIMIT_S)
        dp.step()
    if state == READY:
        dp.step()  # which takes it: until then a later request would replace it
    return _core.dynamic_current_step()


def work():
    """An operator or two, for the collection."""
    return torch.ones(8).mul(2.0).sum()


def steps(n, each=work):
    for _ in range(n):
        each()
        dp.step()


FAR = 1 << 40  # a step that no job reaches by itself: set_state() goes there


def arrive(number):
    """A request for the step FAR has been seen; the job goes on from there as if it had reached `number` steps before it."""
    step_until(READY)
    dp.set_state({"cur_step": FAR - number})


# ---- files ----

def write(path, text):
    """In one piece, as a good editor does."""
    part = str(path) + ".new"
    with open(part, "w") as f:
        f.write(text)
    os.rename(part, path)


def template(directory):
    with open(os.path.join(directory, "profiler_config.json")) as f:
        return json.load(f)


def configure(directory, **keys):
    """Changes keys of the file; those of experimental_config are merged."""
    try:
        now = template(directory)
    except (OSError, ValueError):
        now = {}
    inner = keys.pop("experimental_config", None)
    now.update(keys)
    if inner is not None:
        now["experimental_config"] = dict(now.get("experimental_config") or {}, **inner)
    write(os.path.join(directory, "profiler_config.json"), json.dumps(now, indent=4))


def log_of(directory, kind="dp", part=""):
    """The lines of all logs of that kind: those of the jobs, or of those that watch the file (monitor_dp)."""
    lines = []
    for path in sorted(glob.glob(os.path.join(directory, "log", kind + "_*.log"))):
        with open(path) as f:
            lines += [line for line in f.read().splitlines() if part in line]
    return lines


def collections(place):
    return sorted(glob.glob(os.path.join(str(place), "*_ascend_pt")), key=lambda path: path.rsplit("_", 3)[-3])


def steps_of(path):
    """The numbers of the recorded steps."""
    with open(os.path.join(path, "FRAMEWORK", "torch.op_range"), "rb") as f:
        return sorted({int(n) for n in re.findall(rb"ProfilerStep#(\d+)", f.read())})


def info_of(path):
    file, = glob.glob(os.path.join(path, "profiler_info*.json"))
    with open(file) as f:
        return json.load(f)


# ---- outside ----

class Job:
    """One process."""

    def __init__(self, function, work, env, name):
        self.out = os.path.join(work, name + ".out")
        self.code = None
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(function, work, env)

    def _run(self, function, work, env):
        code = 1
        try:
            fd = os.open(self.out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(fd, 1)
            os.dup2(fd, 2)
            sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)
            sys.stderr = sys.__stderr__ = open(2, "w", closefd=False)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            os.chdir(work)
            for name in ("RANK", "WORLD_SIZE", dp.VARIABLE):
                os.environ.pop(name, None)
            os.environ.update(env)
            function()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            try:
                _core._close()
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)

    def text(self):
        with open(self.out) as f:
            return f.read()

    def lines(self, part):
        return [line for line in self.text().splitlines() if part in line]

    def kill(self, number=signal.SIGKILL):
        if self.code is None:
            os.kill(self.pid, number)

    def ended(self):
        """Whether it has ended."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status) if hasattr(os, "waitstatus_to_exitcode") else status
        return self.code is not None

    def end(self, code=0):
        until(self.ended, "the end of the job")
        assert self.code == code, self.text()
        return self.text()


def ascope_dyn(*arguments, code=0):
    done = subprocess.run([ASCOPE, "dyn", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def listeners(directory):
    """Those of `ascope dyn DIR --json`; [] without any."""
    done = subprocess.run([ASCOPE, "dyn", str(directory), "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=LIMIT_S)
    return json.loads(done.stdout)["listeners"]
