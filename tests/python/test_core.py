# SPDX-License-Identifier: Apache-2.0
"""ascope._core: sessions, schedules, marks, and whatever may happen to the process meanwhile."""
import contextlib
import glob
import json
import os
import re
import signal
import subprocess

import pytest

from ascope import _core


@pytest.fixture
def messages():
    """Messages to the user: [(severity, text)]."""
    lines = []
    _core.on_message(lambda severity, text: lines.append((severity, text)))
    yield lines
    _core.on_message(None)


def options(tmp_path, **more):
    return dict({"parent_dir": str(tmp_path), "device": "sim"}, **more)


def directories(tmp_path):
    return sorted(glob.glob(str(tmp_path / "*_ascend_pt")))


def read_json(directory, name):
    with open(os.path.join(directory, name)) as f:
        return json.load(f)


def database(tmp_path, directory, query):
    """Rows that `ascope analyse` makes of a directory."""
    import sqlite3
    subprocess.run([os.environ["ASCOPE_PROGRAM"], "analyse", directory, "--export-type", "db", "--quiet"], check=True)
    path, = glob.glob(os.path.join(directory, "ASCEND_PROFILER_OUTPUT", "ascend_pytorch_profiler*.db"))
    with sqlite3.connect(path) as connection:
        return connection.execute(query).fetchall()


# ---- profilers ----

def test_version():
    assert _core.version().count(".") == 2


def test_everything_between_start_and_stop(tmp_path, messages):
    ready = []
    p = _core.Profiler(options(tmp_path), None, ready.append)
    assert p.path is None and not p.is_open and p.action == 2
    p.start()
    assert p.is_open and _core.recording() & _core.RECORDS_OPERATORS
    p.stop()
    assert not p.is_open and _core.recording() == 0
    assert ready == directories(tmp_path) == [p.path]
    assert [severity for severity, _ in messages] == [_core.INFO]


@pytest.mark.parametrize("plan", [(1, 2, 1, 2), lambda step: (0, 1, 2, 3)[step % 4] if step < 8 else 0])
def test_schedule_as_numbers_and_as_function(tmp_path, messages, plan):
    ready, actions = [], []
    p = _core.Profiler(options(tmp_path), plan, ready.append)
    p.start()
    for _ in range(10):
        actions.append(p.action)
        p.step()
    p.stop()
    assert actions == [0, 1, 2, 3, 0, 1, 2, 3, 0, 0]
    assert ready == directories(tmp_path) and len(ready) == 2
    schedule = read_json(ready[0], "profiler_info.json")["config"]["common_config"]["schedule"]
    assert schedule == (dict(wait=1, active=2, warmup=1, repeat=2, skip_first=0, skip_first_wait=0)
                        if isinstance(plan, tuple) else {})


def test_names_of_steps_continue_the_numbers_of_the_program(tmp_path, messages):
    p = _core.Profiler(options(tmp_path), (0, 2, 1, 1, 0, 0, 20))
    p.start()
    for _ in range(3):
        p.step()
    p.stop()
    recorded = b"".join(open(file, "rb").read() for file in glob.glob(p.path + "/FRAMEWORK/torch.op_range"))
    assert sorted(re.findall(rb"ProfilerStep#\d+", recorded)) == [b"ProfilerStep#21", b"ProfilerStep#22"]
    assert "first_step" not in read_json(p.path, "profiler_info.json")["config"]["common_config"]["schedule"]


def test_actions_may_be_an_enum(tmp_path, messages):
    import enum
    action = enum.Enum("action", {"NONE": 0, "SAVE": 3})
    p = _core.Profiler(options(tmp_path), lambda step: action.SAVE if step == 1 else action.NONE, None)
    p.start()
    p.step()
    assert p.action == 3
    p.step()
    assert len(directories(tmp_path)) == 1 and not messages


def test_schedule_that_raises(tmp_path, messages):
    def schedule(step):
        if step == 1:
            raise ValueError("no plan for one")
        return 2

    p = _core.Profiler(options(tmp_path), schedule, None)
    p.start()
    p.step()
    p.stop()
    assert (_core.ERROR, "schedule: ValueError: no plan for one") in messages
    assert len(directories(tmp_path)) == 1


def test_schedule_that_raises_at_once(messages):
    def schedule(step):
        raise ValueError("no plan at all")

    with pytest.raises(ValueError, match="no plan at all"):
        _core.Profiler({}, schedule)
    assert not messages


@pytest.mark.parametrize("answer", [7, -1, "record", None])
def test_schedule_that_answers_nonsense(tmp_path, messages, answer):
    p = _core.Profiler(options(tmp_path), lambda step: answer if step else 0)
    p.start()
    p.step()
    p.stop()
    assert p.action == 0 and messages[0][0] == _core.ERROR and not directories(tmp_path)
    assert len(messages) == 2 and "nothing was recorded" in messages[1][1]


def test_ready_that_raises(tmp_path, messages):
    def ready(path):
        raise OSError("no room")

    p = _core.Profiler(options(tmp_path), (0, 1, 1, 2), ready)
    p.start()
    for _ in range(4):
        p.step()
    p.stop()
    assert messages == [(_core.ERROR, "on_trace_ready: OSError: no room")] * 2
    assert len(directories(tmp_path)) == 2


@pytest.mark.parametrize("stops", [KeyboardInterrupt, SystemExit])
def test_what_ends_programs_is_raised_after_the_work(tmp_path, messages, stops):
    def ready(path):
        raise stops

    p = _core.Profiler(options(tmp_path), (0, 1, 1, 0), ready)
    p.start()
    p.step()
    with pytest.raises(stops):
        p.step()
    assert p.is_open and p.action == 1 and not messages  # the next turn had begun all the same
    p.stop()


def test_a_callback_cannot_come_back(tmp_path, messages):
    p = _core.Profiler(options(tmp_path), None, lambda path: p.stop())
    p.start()
    p.stop()
    assert messages[-1][0] == _core.ERROR and "called by a callback of the profiler" in messages[-1][1]


def test_stop_twice_is_ready_once(tmp_path, messages):
    ready = []
    p = _core.Profiler(options(tmp_path), None, ready.append)
    p.start()
    p.stop()
    p.stop()
    assert len(ready) == 1


def test_freed_profiler(tmp_path, messages):
    p = _core.Profiler(options(tmp_path))
    p.start()
    p.free()
    p.free()
    with pytest.raises(_core.Error, match="was freed"):
        p.start()
    assert len(directories(tmp_path)) == 1


def test_lost_profiler_is_stopped(tmp_path, messages):
    ready = []
    p = _core.Profiler(options(tmp_path), None, ready.append)
    p.start()
    del p
    assert ready == directories(tmp_path) and _core.recording() == 0


def test_profiler_in_a_cycle_is_collected(tmp_path, messages):
    import gc

    class Owner:
        def __init__(self):
            self.p = _core.Profiler(options(tmp_path), lambda step: 2, self.ready)
            self.p.start()

        def ready(self, path):
            pass

    Owner()
    gc.collect()
    assert _core.recording() == 0


def test_discard(tmp_path, messages):
    p = _core.Profiler(options(tmp_path))
    p.start()
    p.discard()
    assert not directories(tmp_path) and p.path is None and not p.is_open
    p.stop()


def test_metadata(tmp_path, messages):
    p = _core.Profiler(options(tmp_path))
    with pytest.raises(_core.Error, match="no session is recording"):
        p.metadata("a", "b")
    p.start()
    p.metadata("text", "Grüße")
    p.metadata_json("tree", '{"a": [1, 2]}')
    for key, value in [("k", "x" * 5000), ("k" * 5000, "x")]:
        with pytest.raises(_core.Error, match="4096"):
            p.metadata(key, value)
    with pytest.raises(_core.Error, match="invalid JSON"):
        p.metadata_json("tree", "{")
    p.stop()
    found = read_json(p.path, "profiler_metadata.json")
    assert found["text"] == "Grüße" and found["tree"] == {"a": [1, 2]}


def test_two_profilers(tmp_path, messages):
    p, q = (_core.Profiler(options(tmp_path)) for _ in range(2))
    p.start()
    q.start()
    assert (_core.ERROR, "a session is already open in this process; end it first") in messages
    q.stop()
    assert p.is_open
    p.stop()
    assert len(directories(tmp_path)) == 1


def test_many_threads_drive_one_profiler(tmp_path, messages):
    import threading
    n_ready = []
    p = _core.Profiler(options(tmp_path), (0, 1, 1, 0), n_ready.append)
    p.start()

    def add_metadata():
        for i in range(200):
            with contextlib.suppress(_core.Error):  # no session is recording
                p.metadata("key %d" % (i % 20), "text")

    threads = [threading.Thread(target=lambda: [p.step() for _ in range(10)]) for _ in range(4)]
    threads.append(threading.Thread(target=add_metadata))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    p.stop()
    assert len(n_ready) == len(directories(tmp_path)) == 20


# ---- options ----

def test_options_of_all_types(tmp_path, messages):
    seen = []
    _core.on_recording(lambda is_on, o: seen.append((is_on, o)))
    p = _core.Profiler(options(tmp_path, activities=["CPU", "NPU"], record_shapes=True, gc_detect_threshold=0.5, rank=3,
                               profiler_level="Level1", mstx=True, mstx_domain_include=("a", "b"), worker_name=None))
    p.start()
    p.stop()
    _core.on_recording(None)
    (begun, o), end = seen
    assert begun and end == (False, None)
    assert o["activities"] == ["CPU", "NPU"] and o["record_shapes"] and o["gc_detect_threshold"] == 0.5 and o["rank"] == 3
    assert o["profiler_level"] == "Level1" and o["mstx_domain_include"] == ["a", "b"] and o["device"] == "sim"
    assert os.path.exists(os.path.join(p.path, "profiler_info_3.json"))


def test_options_that_cannot_be(tmp_path, messages):
    with pytest.raises(_core.Error, match="nonsense"):
        _core.Profiler({"nonsense": 1})
    with pytest.raises(TypeError):
        _core.Profiler({1: 1})
    with pytest.raises(TypeError):
        _core.Profiler([1])
    with pytest.raises(TypeError):
        _core.Profiler({"activities": object()})
    with pytest.raises(TypeError):
        _core.Profiler({}, 5)
    _core.Profiler({"profiler_level": "Level9"})
    assert len(messages) == 1 and messages[0][0] == _core.WARNING


def test_listener_that_raises(tmp_path, messages):
    def listener(is_on, o):
        raise ValueError("not today")

    _core.on_recording(listener)
    p = _core.Profiler(options(tmp_path), (0, 1, 1, 1))
    p.start()
    p.step()
    p.step()
    _core.on_recording(None)
    assert messages == [(_core.ERROR, "when recording began: ValueError: not today"),
                    (_core.ERROR, "when recording ended: ValueError: not today")]
    assert len(directories(tmp_path)) == 1


# ---- sessions ----

def test_session(tmp_path, messages):
    s = _core.Session(options(tmp_path, activities="CPU"))
    assert s.is_open and directories(tmp_path) == [s.path]
    s.warmup()
    s.start()
    s.metadata("a", "b")
    s.stop()
    s.end()
    assert not s.is_open and read_json(s.path, "profiler_metadata.json")["a"] == "b"
    for call in (s.start, s.stop, s.end, s.discard):
        with pytest.raises(_core.Error, match="has ended"):
            call()


def test_session_in_the_wrong_order(tmp_path, messages):
    s = _core.Session(options(tmp_path))
    with pytest.raises(_core.Error, match="stop: the session is new"):
        s.stop()
    with pytest.raises(_core.Error, match="already open in this process"):
        _core.Session(options(tmp_path))
    s.discard()
    assert not directories(tmp_path)


def test_session_where_nothing_can_be_written(messages):
    with pytest.raises(_core.Error, match="/proc/nowhere"):
        _core.Session({"parent_dir": "/proc/nowhere"})


def test_lost_session(tmp_path, messages):
    s = _core.Session(options(tmp_path))
    del s
    assert not directories(tmp_path)
    s = _core.Session(options(tmp_path))
    s.start()
    del s
    assert len(directories(tmp_path)) == 1 and _core.recording() == 0


# ---- marks ----

def test_marks(tmp_path, messages):
    assert _core.range_start("off") == 0 and _core.range_push("off") == -1 and _core.range_pop() == -1
    p = _core.Profiler(options(tmp_path, mstx=True))
    p.start()
    _core.mark("point")
    _core.mark(message="point", domain="io", stream_id=0)
    outer = _core.range_start("outer", "io")
    inner = _core.range_start("inner", domain="io", stream_id=1)
    assert outer and inner and outer != inner
    _core.range_end(outer, "other")  # a wrong domain does nothing
    _core.range_end(outer, "io")
    _core.range_end(range_id=inner, domain="io")
    _core.range_end(0)
    _core.synchronize()
    p.stop()
    rows = database(tmp_path, p.path, "select s.value, d.value from MSTX_EVENTS m join STRING_IDS s on s.id = m.message "
                    "left join STRING_IDS d on d.id = m.domainId order by m.startNs")
    assert [message for message, _ in rows] == ["point", "point", "outer", "inner"]


def test_push_and_pop_are_of_a_thread_and_a_domain(tmp_path, messages):
    import threading
    p = _core.Profiler(options(tmp_path, mstx=True))
    p.start()
    assert [_core.range_push("a"), _core.range_push("b"), _core.range_push("c", "io")] == [0, 1, 0]
    other = []
    t = threading.Thread(target=lambda: other.extend([_core.range_pop(), _core.range_push("d"), _core.range_pop()]))
    t.start()
    t.join()
    assert other == [-1, 0, 0]
    assert [_core.range_pop("io"), _core.range_pop(), _core.range_pop(), _core.range_pop()] == [0, 1, 0, -1]
    assert _core.range_push("left open") == 0
    p.stop()
    assert _core.range_pop() == -1
    p.start()
    assert _core.range_push("again") == 0
    assert _core.range_pop() == 0
    p.stop()


@pytest.mark.parametrize("more", [{"mstx": True}, {"device": "none", "activities": "CPU"}], ids=["as marks", "as points among operators"])
def test_requests(tmp_path, more):
    import ascope
    ascope.request(1).begin().end()  # nothing is recorded
    s = _core.Session(options(tmp_path, **more))
    old = ascope.request("old")
    s.start()
    with ascope.request(17) as r, _core.Range("work"):
        r.first_token()
        r.token()
    old.token()
    old.end()
    s.stop()
    s.end()
    directory, = directories(tmp_path)
    answer = subprocess.run([os.environ["ASCOPE_PROGRAM"], "why", "--json", "--request", "17", directory], check=True, stdout=subprocess.PIPE).stdout
    answer = json.loads(answer)["answers"][0]
    assert [(q["id"], q["tokens"]) for q in answer["requests"]["requests"]] == [("17", 2)]  # of "old" only a token was recorded
    assert answer["request"]["complete"] and answer["request"]["ttft_us"] > 0
    assert abs(sum(stage["time_us"] for stage in answer["request"]["stages"]) - answer["request"]["time_us"]) < 0.01


def test_marks_that_are_refused(tmp_path, messages):
    p = _core.Profiler(options(tmp_path, mstx=True))
    p.start()
    assert _core.range_start("=formula") == 0
    with pytest.raises(TypeError):
        _core.mark(5)
    with pytest.raises(ValueError):
        _core.mark("a\0b")
    p.stop()


def test_time_goes_on():
    first = _core.now()
    assert _core.now() >= first > 0


# ---- what may happen to the process ----

MAKE = """
import os, signal, sys
from ascope import _core
_core.on_message(lambda severity, text: print("message", severity, text, flush=True))
p = _core.Profiler({"parent_dir": ".", "device": "sim", "mstx": True}, None, lambda path: print("ready", flush=True))
p.start()
_core.mark("before")
"""


def analysed(tmp_path, drops=False):
    directory, = directories(tmp_path)
    done = subprocess.run([os.environ["ASCOPE_PROGRAM"], "analyse", directory, "--quiet"])
    assert done.returncode in ((0, 3) if drops else (0,))


def test_exit_without_stop(script, tmp_path):
    done = script(MAKE)
    assert "ready" in done.stdout and done.stderr == ""
    analysed(tmp_path)


def test_exception_without_stop(script, tmp_path):
    done = script(MAKE + "raise RuntimeError('training')", check=False)
    assert done.returncode == 1 and "ready" in done.stdout and "RuntimeError: training" in done.stderr
    analysed(tmp_path)


def test_session_without_end(script, tmp_path):
    script('from ascope import _core\ns = _core.Session({"parent_dir": ".", "mstx": 1})\ns.start()\n_core.mark("a")')
    analysed(tmp_path)


def test_exit_code_stays(script, tmp_path):
    assert script(MAKE + "sys.exit(7)", check=False).returncode == 7
    analysed(tmp_path)


def test_os_exit_and_kill(script, tmp_path):
    for last in ("os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)"):
        script(MAKE + last, check=False)
    assert len(directories(tmp_path)) == 2
    subprocess.run([os.environ["ASCOPE_PROGRAM"], "analyse", str(tmp_path), "--quiet"], check=True)


def test_interrupt(script, tmp_path):
    done = script(MAKE + "os.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(60)", check=False)
    assert done.returncode == -signal.SIGINT and "KeyboardInterrupt" in done.stderr and "ready" in done.stdout
    analysed(tmp_path)


def test_handlers_of_the_program_run_before(script, tmp_path):
    done = script("""
        import atexit
        from ascope import _core
        _core.at_exit(lambda: print("last", _core.recording()))
        atexit.register(lambda: print("handler", _core.recording() != 0))
        p = _core.Profiler({"parent_dir": ".", "device": "none"}, None, lambda path: print("ready"))
        p.start()
    """)
    assert done.stdout.split("\n")[:3] == ["handler True", "ready", "last 0"]


def test_daemon_threads_record_to_the_end(script, tmp_path):
    script(MAKE + """
import threading
def marks():
    while True:
        _core.range_push("inside")
        _core.range_pop()
for _ in range(4):
    threading.Thread(target=marks, daemon=True).start()
import time; time.sleep(0.2)
""")
    analysed(tmp_path, drops=True)


def test_fork(script, tmp_path):
    done = script(MAKE + """
child = os.fork()
if child == 0:
    assert _core.recording() == 0 and not p.is_open
    _core.mark("in the child")
    p.stop()
    p.step()
    p.discard()
    q = _core.Profiler({"parent_dir": ".", "device": "none"}, None, lambda path: print("child ready", flush=True))
    q.start()
    q.stop()
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
p.stop()
""")
    assert done.stdout.count("ready") == 2 and done.stdout.count("child ready") == 1
    assert "the profiler runs in the parent process" in done.stdout
    assert len(directories(tmp_path)) == 2


def test_exit_of_a_process_of_multiprocessing(script, tmp_path):
    done = script("""
        import multiprocessing, sys
        from ascope import _core

        def work():
            global p
            p = _core.Profiler({"parent_dir": ".", "device": "sim"}, None, lambda path: print("ready", flush=True))
            p.start()

        child = multiprocessing.get_context("fork").Process(target=work)
        child.start()
        child.join()
        sys.exit(child.exitcode)
    """)
    assert done.stdout == "ready\n"
    analysed(tmp_path)


def test_nothing_is_left_of_a_profiler(tmp_path, messages):
    import gc
    import sys

    def ready(path):
        pass

    def schedule(step):
        return (1, 3, 0)[step]

    def turn():
        p = _core.Profiler(options(tmp_path), schedule, ready)
        p.start()
        p.step()
        p.step()
        p.stop()

    turn()
    before = sys.getrefcount(ready), sys.getrefcount(schedule), len(gc.get_objects())
    for _ in range(3):
        turn()
    messages.clear()
    assert before[:2] == (sys.getrefcount(ready), sys.getrefcount(schedule))
    assert len(gc.get_objects()) < before[2] + 50


def test_fork_while_another_thread_stops(script, tmp_path):
    """The child of a process whose locks were held ends, whatever it does with what it inherited."""
    script("""
        import os, sys, threading
        from ascope import _core
        _core.on_message(lambda severity, text: None)
        p = _core.Profiler({"parent_dir": ".", "device": "sim"}, (0, 1, 1, 0), None)
        p.start()
        is_over = False
        def steps():
            while not is_over:
                p.step()
        thread = threading.Thread(target=steps)
        thread.start()
        for i in range(20):
            child = os.fork()
            if child == 0:
                p.stop()
                p.free()
                os._exit(0)
            os.waitpid(child, 0)
        is_over = True
        thread.join()
        p.stop()
    """)


def test_profiler_made_before_the_fork(script, tmp_path):
    script("""
        import os
        from ascope import _core
        p = _core.Profiler({"parent_dir": ".", "device": "sim"})
        child = os.fork()
        if child == 0:
            p.start()
            p.stop()
            os._exit(len(os.listdir(".")))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    """)
    assert len(directories(tmp_path)) == 1


def test_full_disk_is_reported(script, tmp_path):
    """The writer's own thread says it, and the main thread reports it."""
    done = script("""
        import resource, signal, time
        from ascope import _core
        messages = []
        _core.on_message(lambda severity, text: messages.append((severity, text)))
        p = _core.Profiler({"parent_dir": ".", "device": "none", "mstx": True, "ring_kb": 64}, None, None)
        p.start()
        _core.mark("this thread has its memory")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, resource.RLIM_INFINITY))
        for i in range(20000):
            _core.mark("x" * 100)
            if i % 100 == 0:
                time.sleep(0.001)
        while not messages:
            time.sleep(0.01)
        p.stop()
        print(messages[0])
    """)
    assert done.stdout.startswith("(%d" % _core.ERROR) and "Nothing more is recorded" in done.stdout
