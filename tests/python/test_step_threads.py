# SPDX-License-Identifier: Apache-2.0
"""What the thread of a step did: on a processor, waiting for one, blocked; against what the kernel counts meanwhile."""
import json
import os
import shutil
import subprocess
import sys

import pytest

PROGRAM = os.environ.get("ASCOPE_PROGRAM") or shutil.which("ascope")

SCRIPT = '''\
import json, os, resource, subprocess, sys, time
import torch

def counted():
    """The clock and the counts, without another thread's turn between them."""
    while True:
        turns = resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw
        with open("/proc/thread-self/schedstat") as f:
            cpu, ready, _ = map(int, f.read().split())
        now = time.monotonic_ns()
        if resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw == turns:
            return now, cpu, ready

def burn(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass

parameter = torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([parameter], lr=0.1)
parameter.grad = torch.ones(1)
cpu = min(os.sched_getaffinity(0))
os.sched_setaffinity(0, {cpu})
times = [(counted(), counted())]  # before and after each end of a step
for step in range(12):
    if step == 6:
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        burn(100_000_000)
        for other in others:
            other.kill()
            other.wait()
    if step == 9:
        time.sleep(0.25)
    burn(1_000_000)
    before = counted()
    optimizer.step()
    times.append((before, counted()))
json.dump(times, open("counted.json", "w"))
'''


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    pytest.importorskip("torch")
    place = tmp_path_factory.mktemp("steps")
    (place / "train.py").write_text(SCRIPT)
    subprocess.run([PROGRAM, "run", "--quiet", "--device", "none", "--", sys.executable, "train.py"], cwd=place, check=True, timeout=300)
    (path,) = place.glob("*_ascend_pt")
    return path, json.loads((place / "counted.json").read_text())


def why(path, step):
    answer = subprocess.run([PROGRAM, "why", path, "--step", str(step), "--json"], stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    return json.loads(answer.stdout)["answers"][0]["difference"]


def parts(begin, end):
    wall, processor, ready = (b - a for a, b in zip(begin, end))
    return {"processor_us": processor / 1000, "ready_us": ready / 1000, "blocked_us": (wall - processor - ready) / 1000}


@pytest.mark.parametrize("step", range(1, 12))
def test_the_kernel_counts_the_same(recorded, step):
    """The recorder reads the counts within optimizer.step(): not less than between two of its calls, and not more than with both. The
    kernel brings the time on a processor up to date at each tick of its clock."""
    path, times = recorded
    (before, begin), (end, after) = times[step], times[step + 1]
    least, most, thread, tick = parts(begin, end), parts(before, after), why(path, step)["thread"], 10_000
    for name in thread:
        if name in least:
            assert least[name] - tick <= thread[name] <= most[name] + tick, name


def test_a_sleep_is_blocked_and_work_is_not(recorded):
    path, _ = recorded
    assert why(path, 9)["thread"]["blocked_us"] > 240_000
    assert why(path, 6)["thread"]["processor_us"] > 100_000


def test_the_answer_says_what_the_thread_waited_for(recorded):
    path, _ = recorded
    text = subprocess.run([PROGRAM, "why", path, "--step", "6"], stdout=subprocess.PIPE, text=True, check=True, timeout=300).stdout
    assert "its thread: on a processor " in text and ", waiting for one " in text and ", blocked " in text
