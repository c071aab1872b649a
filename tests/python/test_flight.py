# SPDX-License-Identifier: Apache-2.0
"""The flight recorder: in a PyTorch loop, and in programs that only count steps, which start faster."""
import json
import os
import re
import signal

import pytest

STEPS = """
    import glob, json, os, signal, sys, time
    from ascope.torch import profiler

    def train(n=1):
        for _ in range(n):
            recorder.step()

    def facts(path):
        with open(path + "/ascope.json") as f:
            return json.load(f)

    def count(path, name):
        with open(path + "/FRAMEWORK/torch.op_range", "rb") as f:
            return f.read().count(name)

    def left():
        return sorted(glob.glob("*_ascend_pt"))
"""


def test_saves_while_it_trains_and_gives_way_to_a_profiler(script):
    pytest.importorskip("torch")
    script(STEPS + """
    import torch

    def train(n):
        for _ in range(n):
            x = torch.ones(8, 8, requires_grad=True)
            torch.mm(x, x).sum().backward()
            recorder.step()

    with profiler.flight_recorder(seconds=3600, memory="64MB", record_shapes=True) as recorder:
        recorder.add_metadata("who", "a test")
        train(5)
        first = recorder.save()
        train(5)
        second = recorder.save(trigger="again")
        assert recorder.saved == second
        assert len(left()) == 3  # and its home
        with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("profiled", analyse_flag=False)) as prof:
            train(4)
            path = prof.prof_if.prof_path
            assert recorder.save() is None  # it pauses
        train(2)
        third = recorder.save()
    assert left() == sorted(map(os.path.basename, [first, second, third]))
    assert facts(second)["flight"]["trigger"] == "again"
    mm = [count(one, b"aten::mm") for one in (first, second, path, third)]
    assert mm[0] > 0 and mm[0] % 5 == 0 and mm == [mm[0], mm[0] * 2, mm[0] * 4 // 5, mm[0] * 2 // 5], mm
    with open(second + "/profiler_metadata.json") as f:
        assert json.load(f)["who"] == "a test"
    """)


def test_an_exception_is_saved_and_reaches_the_program(script):
    done = script(STEPS + """
    with profiler.flight_recorder(seconds=60) as recorder:
        train(3)
        raise ValueError("loss is NaN")
    """, check=False)
    assert done.returncode == 1 and "ValueError: loss is NaN" in done.stderr
    path = re.search(r"flight_recorder: saved to (\S+)", done.stdout)[1]
    with open(os.path.join(path, "ascope.json")) as f:
        assert json.load(f)["flight"]["trigger"] == "exception ValueError: loss is NaN"


def test_a_signal_a_slow_step_and_a_forked_process(script):
    script(STEPS + """
    with profiler.flight_recorder(seconds=60, signal=signal.SIGUSR2, when="step>1.5x", between=3600) as recorder:
        train(20)
        time.sleep(0.5)
        train(1)
        while not recorder.saved or "slow step" not in facts(recorder.saved)["flight"]["trigger"]:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGUSR2)
        while facts(recorder.saved)["flight"]["trigger"] != "signal %d" % signal.SIGUSR2:
            time.sleep(0.01)
        pid = os.fork()
        if pid == 0:
            train(1)
            ok = recorder.save() is None
            recorder.stop()
            os._exit(0 if ok else 1)
        assert os.waitpid(pid, 0)[1] == 0
        train(1)
        assert count(recorder.save(), b"ProfilerStep#") == 22
    """)


BAD = [
    ("memory='much'", "memory: expected a size such as \"256MB\", got 'much'; using 256MB"),
    ("memory=0", "memory: expected a size such as \"256MB\", got 0; using 256MB"),
    ("memory=1 << 64", "memory: expected a size such as \"256MB\", got 18446744073709551616; using 256MB"),
    ("seconds=-1", "seconds: expected a number of seconds, got -1; using 30"),
    ("when='step>0.5x'", "when: expected \"step>1.5x\" with a number above 1, got 'step>0.5x'; slow steps are not saved"),
    ("when='loss>2'", "when: expected \"step>1.5x\" with a number above 1, got 'loss>2'; slow steps are not saved"),
    ("record_shapes=3", "record_shapes: expected a boolean, got 3; using False"),
    ("signal='SIGUSR2'", "signal: expected a number such as signal.SIGUSR2, got 'SIGUSR2'; no signal saves"),
    ("signal=1 << 40", "signal: expected a number such as signal.SIGUSR2, got 1099511627776; no signal saves"),
    ("signal=9999", "flight_recorder: signal 9999: Invalid argument"),
    ("signal=signal.SIGINT", "flight_recorder: signal 2: the program has a handler for it; choose another one"),
    ("dir_name='/proc/none'", "flight_recorder: /proc/none"),
]


def test_bad_arguments_are_one_line_and_the_training_goes_on(script):
    done = script(STEPS + "".join("""
    with profiler.flight_recorder(%s) as recorder:
        train(2)
    print("trained")
    """ % arguments for arguments, _ in BAD))
    for arguments, line in BAD:
        assert sum(line in one for one in done.stdout.splitlines()) == 1, (line, done.stdout)
    assert done.stdout.count("trained\n") == len(BAD)
    assert "Traceback" not in done.stderr


def test_killed_its_home_is_a_collection(script):
    done = script(STEPS + """
    recorder = profiler.flight_recorder(seconds=60)
    recorder.start()
    train(5)
    os.kill(os.getpid(), signal.SIGKILL)
    """, check=False)
    assert done.returncode == -signal.SIGKILL
    script(STEPS + """
    path, = left()
    profiler.analyse(path)
    assert facts(path)["flight"]["trigger"] == "killed"
    assert count(path, b"ProfilerStep#") == 5
    """)
