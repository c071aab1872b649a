# SPDX-License-Identifier: Apache-2.0
"""Whatever goes wrong while a training is profiled: it computes the same, bit for bit, nothing is raised into it, and what was recorded is there."""
import csv
import glob
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from forked import Quick

pytest.importorskip("torch")
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ["ASCOPE_PROGRAM"]

PRELUDE = """
import contextlib, gc, os, signal, subprocess, sys, threading, time
from small_training import *
plain = {n: train(n=n) for n in range(1, STEPS + 1)}
from ascope import _core, _program
from ascope.torch import mstx, profiler

ALL = dict(record_shapes=True, profile_memory=True, with_stack=True, with_modules=True,
           experimental_config=profiler._ExperimentalConfig(profiler_level="Level1", mstx=True, gc_detect_threshold=0))

def profile(place, analyse=False, **more):
    return profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(place, analyse_flag=analyse), **{**ALL, **more})

def interrupt_when_begun(path, n_lines):
    # Ctrl-C, as soon as the program that writes a line into path when it begins has begun n_lines times, and is waited for: one that
    # comes while subprocess starts a program leaves nobody who knows of it.
    def is_waiting():
        frame = sys._current_frames()[threading.main_thread().ident]
        while frame and frame.f_code.co_name not in ("communicate", "join"):
            frame = frame.f_back
        return bool(frame)

    def wait():
        while not os.path.exists(path) or len(open(path).readlines()) < n_lines or not is_waiting():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=wait, daemon=True).start()

"""


OF_OTHERS = (  # what PyTorch and Python say by themselves: about memory, hidden GPUs, forks of a program with threads
    "Logging before", "CPUAllocator.cpp", "DeviceProperties.cpp", "is multi-threaded, use of fork()")


@pytest.fixture(scope="module")
def quick():
    with Quick(PRELUDE) as made:
        yield made


@pytest.fixture
def run(quick, tmp_path):
    """run(script): it must end well, and without a word on stderr, unless something else is said to be right."""

    def call(code, ends=0, says_nothing=True, **more):
        done = quick.run(code, tmp_path, **more)
        assert done.code == ends, done.out + done.err
        said = [line for line in done.err.splitlines() if not any(words in line for words in OF_OTHERS)]
        assert not says_nothing or not said, done.err
        return done

    return call


@pytest.fixture(params=["none", "sim"])
def device(request, monkeypatch):
    return request.param


def collections_in(place):
    return sorted(glob.glob(os.path.join(glob.escape(str(place)), "*_ascend_pt")))


def steps_in(collection, device="none"):
    """How many steps were recorded, when it has been analysed, now or before; on a device as many as on the host."""
    timeline = os.path.join(collection, "ASCEND_PROFILER_OUTPUT", "trace_view.json")
    if not os.path.exists(timeline):
        done = subprocess.run([PROGRAM, "analyse", collection], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.returncode in (0, 3), done.stdout
    with open(timeline, encoding="utf-8") as f:
        n = sum(event["name"] == "aten::mse_loss" for event in json.load(f))
    if device == "sim":
        with open(os.path.join(collection, "ASCEND_PROFILER_OUTPUT", "kernel_details.csv"), encoding="utf-8") as f:
            assert sum("MseLoss" == row["Type"] for row in csv.DictReader(f)) == n
    return n


def steps_of_only(place, device="none"):
    found = collections_in(place)
    assert len(found) == 1, found
    return steps_in(found[0], device)


def errors(done):
    return [line for line in done.out.splitlines() if "[ERROR]" in line]


# ---- exceptions ----

def test_exceptions(run, tmp_path, device):
    done = run("""
        class Mine(Exception):
            pass

        def fails(*unused):
            raise Mine("not today")

        # in the block: the training's own, which goes on behind it
        training = Training()
        try:
            with profile("block", analyse=True):
                training.step(), training.step()
                raise Mine("is mine")
        except Mine as mine:
            assert str(mine) == "is mine" and mine.__context__ is None
        training.step(), training.step()
        assert training.result() == plain[4]

        # in a function that the profiler calls
        with profile("schedule", schedule=fails) as prof:
            assert train(prof) == plain[4]
        some = lambda step: profiler.ProfilerAction(2) if step < 2 else fails()
        with profile("some", schedule=some) as prof:
            assert train(prof) == plain[4]
        profiler.tensorboard_trace_handler("handler")
        with profiler.profile(on_trace_ready=fails, **ALL) as prof:
            assert train(prof) == plain[4]
        with profile("id", custom_trace_id_callback=fails) as prof:
            assert train(prof) == plain[4]
            assert len(prof.get_trace_id()) == 32

        # in what a program has put into the functions that are watched
        class Odd:
            numel, dtype = property(fails), None
        torch.distributed.all_reduce, kept = lambda tensor: "odd", torch.distributed.all_reduce
        with profile("watched") as prof:
            assert torch.distributed.all_reduce(Odd()) == "odd"
            torch.save = torch.load
            assert train(prof) == plain[4]
        assert torch.save is torch.load
    """, ASCOPE_DEVICE=device)
    reported = errors(done)
    assert steps_of_only(tmp_path / "block", device) == 2
    assert not collections_in(tmp_path / "schedule") and steps_of_only(tmp_path / "some", device) == 2
    assert steps_of_only(tmp_path / "handler", device) == 4 and steps_of_only(tmp_path / "id", device) == 4
    assert steps_of_only(tmp_path / "watched", device) == 4
    assert len(reported) == 3 and sum("schedule: step" in line for line in reported) == 2 and "on_trace_ready: Mine: not today" in reported[2]
    assert "custom_trace_id_callback: Mine" in done.out


# ---- Ctrl-C ----

def test_interrupts(run, tmp_path, device):
    (tmp_path / "slow").write_text("#!/bin/sh\necho $$ >>slow.pids\nexec sleep 60\n")
    (tmp_path / "slow").chmod(0o755)
    run("""
        def interrupted(number):
            if number == 1:
                signal.raise_signal(signal.SIGINT)

        def is_interrupted(call):
            try:
                call()
            except KeyboardInterrupt:
                return True

        # in a step
        training = Training()
        try:
            with profile("step", analyse=True):
                training.step()
                signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            pass
        for _ in range(3):
            training.step()
        assert training.result() == plain[4]

        # while stop() and step() wait for the analysis
        program, os.environ["ASCOPE_PROGRAM"] = os.environ["ASCOPE_PROGRAM"], os.path.abspath("slow")
        prof = profile("stop", analyse=True)
        prof.start()
        assert train() == plain[4]
        interrupt_when_begun("slow.pids", 1)
        assert is_interrupted(prof.stop) and prof.stopped
        prof = profile("between", analyse=True, schedule=profiler.schedule(0, 1, repeat=1))
        prof.start()
        training = Training()
        training.step()
        interrupt_when_begun("slow.pids", 2)
        assert is_interrupted(prof.step)
        for _ in range(3):
            training.step(), prof.step()
        prof.stop()
        assert training.result() == plain[4]
        os.environ["ASCOPE_PROGRAM"] = program

        # before stop() has begun: it is the interpreter's end that stops
        prof = profile("before", analyse=True)
        prof.start()
        assert train() == plain[4]
        signal.signal(signal.SIGINT, signal.default_int_handler)
        def stop():
            os.kill(os.getpid(), signal.SIGINT)
            prof.stop()
        assert is_interrupted(stop)
    """, ASCOPE_DEVICE=device)
    for place, n in (("step", 1), ("stop", 4), ("between", 1), ("before", 4)):
        assert steps_of_only(tmp_path / place, device) == n, place
    for pid in (tmp_path / "slow.pids").read_text().split():
        assert not os.path.exists("/proc/%s/cmdline" % pid) or not open("/proc/%s/cmdline" % pid).read(), "it still runs"


# ---- ends ----

ENDS = {  # what the script does in its third step: the exit code
    "signal.raise_signal(signal.SIGTERM)": -signal.SIGTERM,
    "signal.raise_signal(signal.SIGKILL)": -signal.SIGKILL,
    "os.abort()": -signal.SIGABRT,
    "os._exit(5)": 5,
    "os.execv('/bin/true', ['true'])": 0,
    "sys.exit(6)": 6,
    "pass": 0,
    "del prof, begin; gc.collect(); assert not _core.recording()": 0,
    "raise KeyboardInterrupt": None,  # Python's own: the signal, or 1 in some releases
}


@pytest.mark.parametrize("end", ENDS)
def test_ends_without_stop(run, quick, tmp_path, device, end):
    code = ENDS[end] if ENDS[end] is not None else quick.run(end, tmp_path).code
    done = run("""
        def begin():
            prof = profile("x", analyse=True)
            prof.start()
            return prof
        prof = begin()
        training = Training()
        training.step(), training.step()
        %s
        training.step(), training.step()
        assert training.result() == plain[4]
    """ % end, code, says_nothing=end != "raise KeyboardInterrupt", ASCOPE_DEVICE=device)
    (collection,) = collections_in(tmp_path / "x")
    ends_well = ENDS[end] in (0, 6, None) and "exec" not in end
    assert os.path.exists(os.path.join(collection, "ASCEND_PROFILER_OUTPUT")) == ends_well, done.out
    assert steps_in(collection, device) == (4 if end == "pass" else 2)


def test_dropped_profilers_end_at_once(run, tmp_path):
    run("""
        gc.disable()
        def one(place):
            prof = profile(place, schedule=profiler.schedule(0, 8))
            prof.start()
            return train(prof)
        assert one("a") == one("b") == plain[4]
        assert not _core.recording()
    """)
    assert steps_of_only(tmp_path / "a") == steps_of_only(tmp_path / "b") == 4


# ---- other processes ----

def test_processes(run, tmp_path, device):
    run("""
        # workers of a DataLoader
        expected = train(num_workers=2)
        with profile("workers", analyse=True) as prof:
            assert train(prof, num_workers=2) == expected

        # a fork in the middle: both go on, and the child has a profiler of its own from the next step on
        with profile("parent", analyse=True) as prof:
            training = Training()
            training.step(), training.step()
            state = random.getstate()
            child = os.fork()
            if child == 0:
                random.setstate(state)  # Python gives children another one
                prof.step(), prof.step()  # the parent's: said once, and nothing happens
                training.step()
                with profile("child", analyse=True):
                    training.step()
                os._exit(training.result() != plain[4])
            training.step(), training.step()
            assert training.result() == plain[4]
            assert os.waitpid(child, 0)[1] == 0

        # a child that ends as programs do ends nothing of the parent's
        with profile("exits", analyse=True) as prof:
            child = os.fork()
            if child == 0:
                sys.exit(7)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            assert train(prof) == plain[4]

        # made before the fork, used behind it
        prof = profile("heir")
        child = os.fork()
        if child == 0:
            with prof:
                is_same = train(prof) == plain[4]
            os._exit(not is_same)
        assert os.waitpid(child, 0)[1] == 0

        # programs that are started are not recorded, and do not hold the recording open
        with profile("starter") as prof:
            started = subprocess.Popen(["sleep", "30"])
            assert subprocess.run([sys.executable, "-c", "print(5)"], stdout=subprocess.PIPE).stdout == b"5\\n"
            assert train(prof) == plain[4]
        profiler.analyse(os.path.join("starter", os.listdir("starter")[0]))
        started.kill()
    """, ASCOPE_DEVICE=device)
    assert (tmp_path / "out").read_text().count("runs in the parent process") == 1
    for place, n in (("workers", 4), ("parent", 4), ("child", 1), ("exits", 4), ("heir", 4), ("starter", 4)):
        assert steps_of_only(tmp_path / place, device) == n, place


def test_spawned_workers(run, tmp_path):
    run("""
        expected = train(num_workers=1, multiprocessing_context="spawn")
        with profile("x") as prof:
            assert train(prof, num_workers=1, multiprocessing_context="spawn") == expected
    """, PYTHONPATH=os.pathsep.join((os.environ["PYTHONPATH"], HERE)))
    assert steps_of_only(tmp_path / "x") == 4


# ---- disks ----

def test_full_disk(run, tmp_path, device):
    """A limit of files stands for the disk: everybody may set one."""
    done = run("""
        import glob, resource, time
        def limit(n):
            resource.setrlimit(resource.RLIMIT_FSIZE, (n, resource.RLIM_INFINITY))

        def n_written():
            return sum(open(file, "rb").read().count(b"aten::mse_loss") for file in glob.glob("late/*/FRAMEWORK/torch.op_range"))

        with profile("late") as prof:
            for number in range(40):
                assert train(prof, n=1) == plain[1]
                if number == 10:
                    until = time.monotonic() + 60
                    while n_written() < 5 and time.monotonic() < until:
                        time.sleep(0.01)  # the writer has the processor to itself
                    limit(20000)
        limit(resource.RLIM_INFINITY)

        limit(1000)
        with profile("early", analyse=True) as prof:
            assert train(prof) == plain[4]
        limit(resource.RLIM_INFINITY)

        with profile("again") as prof:
            assert train(prof) == plain[4]
    """, ASCOPE_DEVICE=device)
    assert "File too large" in done.out
    assert steps_of_only(tmp_path / "again", device) == 4
    assert steps_of_only(tmp_path / "late") > 4


def test_full_file_system(run, tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "ascope-test", str(place)], stderr=subprocess.DEVNULL).returncode:
        pytest.skip("only root may mount")
    try:
        done = run("""
            with profile("small", analyse=True) as prof:
                assert train(prof) == plain[4]
                with open("small/other", "wb", buffering=0) as file, contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(4096))
                for _ in range(200):
                    assert train(prof, n=1) == plain[1]
        """)
        assert "No space left" in done.out, done.out
        os.unlink(place / "other")
        assert steps_of_only(place) >= 4
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_few_files_and_little_memory(run, tmp_path):
    """A process that may open no more files, or have no more memory, than it has."""
    run("""
        import resource
        def attempt(name, limit, value):
            before = resource.getrlimit(limit)
            resource.setrlimit(limit, (value, before[1]))
            try:
                with profile(name) as prof:
                    assert train(prof) == plain[4]
            finally:
                resource.setrlimit(limit, before)

        with profile("all") as prof:
            assert train(prof) == plain[4]
        for more in (0, 1, 2, 4, 8, 100):
            attempt("files", resource.RLIMIT_NOFILE, len(os.listdir("/proc/self/fd")) + more)
        for mb in (1, 8, 1000):
            attempt("memory", resource.RLIMIT_AS, (mb << 20) + resource.getpagesize() * int(open("/proc/self/statm").read().split()[0]))
    """, ASCOPE_DEVICE="sim")
    for place in ("files", "memory"):
        assert steps_in(collections_in(tmp_path / place)[-1]) == 4, place  # where there is enough


def test_places(run, tmp_path, device):
    (tmp_path / "file").write_text("")
    names = ["with space", "n\u00e4m\u00e9 \u4e2d\u6587", "new\nline", "quo\"te'", "--option", "a" * 200, "x;rm -rf y"]
    done = run("""
        names = %r
        for place in names:
            with profile(place, analyse=True) as prof:
                assert train(prof) == plain[4]

        # nowhere to write
        for place in ("file", "/proc/nowhere/x", "b" * 300, "nul\\0byte", 5):
            with profile(place, analyse=True) as prof:
                assert train(prof) == plain[4]

        # deleted while it records
        import shutil
        with profile("deleted", analyse=True) as prof:
            train(prof, n=1)
            while os.path.exists("deleted"):  # files may still be made in it
                shutil.rmtree("deleted", ignore_errors=True)
            assert train(prof) == plain[4]
        os.mkdir("gone")
        here = os.getcwd()
        os.chdir("gone")
        os.rmdir(os.path.join(here, "gone"))
        with profile("x") as prof:
            assert train(prof) == plain[4]
        with profiler.profile() as prof:
            assert train(prof) == plain[4]
        os.chdir(here)

        # names
        for worker in ("w" * 225, "w" * 226, "\u4e2d" * 225, "a/b", "..", "new\\nline", ""):
            handler = profiler.tensorboard_trace_handler("workers", worker, analyse_flag=False)
            with profiler.profile(on_trace_ready=handler) as prof:
                assert train(prof) == plain[4]
    """ % names, ASCOPE_DEVICE=device)
    for name in names:
        assert steps_of_only(tmp_path / name, device) == 4, name
    reported = errors(done)
    for text in ("Not a directory", "/proc/nowhere", "File name too long", "null byte", "/deleted/", "profile.start: FileNotFound"):
        assert 1 <= sum(text in line for line in reported) <= 3, (text, reported)
    assert not any("profile.step" in line for line in reported)
    assert len(os.listdir(tmp_path / "workers")) == 7


# ---- wrong use ----

def test_wrong_use(run, tmp_path, device):
    done = run("""
        # two at once: the first one records, and the second one once it has ended
        with profile("outer") as outer:
            with profile("inner") as inner:
                assert train(inner) == plain[4]
            assert train(outer) == plain[4]
        with inner:
            assert train(inner, n=1) == plain[1]

        # start twice, stop twice, step without start, stop without start
        prof = profile("twice")
        prof.start(), prof.start()
        assert train(prof) == plain[4]
        prof.stop(), prof.stop(), prof.step(), prof.stop()
        prof = profile("stepped", schedule=profiler.schedule(1, 2, 1))
        assert train(prof) == plain[4]
        prof.stop()
        profile("never").stop()
        with contextlib.suppress(RuntimeError):
            profile("called", schedule=lambda step: prof.stop() or profiler.ProfilerAction.RECORD).step()
        holder = []
        holder.append(profiler.profile(on_trace_ready=lambda prof: (prof.step(), prof.stop(), prof.start())))
        with holder[0] as prof:
            assert train(prof) == plain[4]

        # stopped and dropped elsewhere than started
        prof = profile("thread")
        prof.start()
        assert train(prof) == plain[4]
        stopper = threading.Thread(target=prof.stop)
        stopper.start(), stopper.join()
        assert train(prof) == plain[4]
        with profile("thread_again") as prof:
            assert train(prof) == plain[4]
        prof = profile("started_elsewhere")
        starter = threading.Thread(target=prof.start)
        starter.start(), starter.join()
        assert train(prof) == plain[4]
        prof.stop()

        # threads that live longer than the profiler, and threads that begin and end in it
        go, results = threading.Event(), []
        def work(*unused):
            profiler.profile.enable_profiler_in_child_thread(with_stack=True, record_shapes=True, profile_memory=True)
            go.wait()
            x = torch.ones(5)
            for _ in range(200):
                x = x * 1.01
            results.append(x.sum().item().hex())
        with profile("threads") as prof:
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            assert train(prof) == plain[4]
        go.set()
        for thread in threads:
            thread.join()
        assert len(results) == 4 and len(set(results)) == 1
        profiler.profile.enable_profiler_in_child_thread()
        assert train() == plain[4]
        profiler.profile.disable_profiler_in_child_thread()
        profiler.profile.disable_profiler_in_child_thread()

        # exports of nothing, to nowhere
        prof = profiler.profile(**ALL)
        prof.export_chrome_trace("nothing.json")
        with prof:
            assert train() == plain[4]
            prof.export_chrome_trace("while.json")
        prof.export_chrome_trace("/proc/nowhere/x.json")
        prof.export_stacks(None)
        prof.export_stacks("made/on/the/way/stacks.txt")
        assert os.path.exists("made/on/the/way/stacks.txt")
        profiler.analyse(None), profiler.analyse("nowhere"), profiler.analyse(".", max_process_number=1)
    """, ASCOPE_DEVICE=device)
    for place, n in (("outer", 8), ("inner", 1), ("twice", 4), ("stepped", 2), ("thread", 4), ("thread_again", 4), ("threads", 4)):
        assert steps_of_only(tmp_path / place, device) == n, place
    assert not collections_in(tmp_path / "never")
    assert len(collections_in(tmp_path / "started_elsewhere")) == 1


def test_torch_has_a_profiler_of_its_own(run, tmp_path, device):
    """PyTorch reports memory to only one of them; both work, whichever was first."""
    done = run("""
        import warnings
        warnings.filterwarnings("ignore", "Warning: Profiler clears events")  # what PyTorch 2 says about its own
        for number, other in enumerate((torch.profiler.profile, torch.autograd.profiler.profile)):
            with profile("inside") as prof:
                with other(profile_memory=True) as its:
                    assert train() == plain[4]
                assert train() == plain[4]
            assert any(one.key == "aten::mse_loss" and one.count == 4 for one in its.key_averages())
            with other(profile_memory=True) as its:
                with profile("outside") as prof:
                    assert train() == plain[4]
                assert train() == plain[4]
            assert any(one.key == "aten::mse_loss" and one.count == 8 for one in its.key_averages())
            its = other()
            with profile("across"):
                its.__enter__()
                assert train() == plain[4]
            its.__exit__(None, None, None)
            assert train() == plain[4]
    """, ASCOPE_DEVICE=device)
    for place, n in (("inside", 8), ("outside", 4), ("across", 4)):
        assert [steps_in(path, device) for path in collections_in(tmp_path / place)] == [n, n], place
    assert done.out.count("memory is not recorded until") == 4 and done.out.count("; memory is not recorded\n") == 2


# ---- the program that analyses ----

@pytest.mark.parametrize("mode", ["waits", "async"])
def test_analysis_fails(run, tmp_path, mode):
    for name, code in (("crashes", "kill -SEGV $$"), ("killed", "kill -9 $$"), ("talks", "yes no | head -c 300000 >&2; exit 2")):
        (tmp_path / name).write_text("#!/bin/sh\n%s\n" % code)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "text").write_text("no program")
    done = run("""
        for name in ("crashes", "killed", "talks", "text", "nowhere"):
            os.environ["ASCOPE_PROGRAM"] = os.path.abspath(name)
            handler = profiler.tensorboard_trace_handler(name + ".d", async_mode=%r)
            with profiler.profile(on_trace_ready=handler) as prof:
                assert train(prof) == plain[4]
        _program.wait_for_all()
    """ % (mode == "async"))
    assert len(errors(done)) == 5, done.out
    for name in ("crashes", "killed", "talks", "text", "nowhere"):
        assert steps_of_only(tmp_path / (name + ".d")) == 4


def test_analysis_hangs(quick, tmp_path):
    """Nobody has to wait for it: async the training goes on, and Ctrl-C ends the wait at the interpreter's end, and the analysis."""
    (tmp_path / "hangs").write_text("#!/bin/sh\necho $$ >hangs.pid\nexec sleep 300\n")
    (tmp_path / "hangs").chmod(0o755)

    def interrupt(child):
        asleep = 0
        while asleep < 20:  # at the interpreter's end it does nothing but wait
            time.sleep(0.05)
            with open("/proc/%d/stat" % child) as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
            asleep = asleep + 1 if state == "S" and (tmp_path / "trained").exists() else 0
        os.kill(child, signal.SIGINT)

    done = quick.run("""
        handler = profiler.tensorboard_trace_handler("x", async_mode=True)
        with profiler.profile(on_trace_ready=handler) as prof:
            assert train(prof) == plain[4]
        assert train(prof) == plain[4]
        open("trained", "w").close()
    """, tmp_path, does=interrupt, ASCOPE_PROGRAM=str(tmp_path / "hangs"))
    assert done.code == 0, done
    pid = int((tmp_path / "hangs.pid").read_text())
    for _ in range(1200):
        if not os.path.exists("/proc/%d" % pid):
            break
        time.sleep(0.05)
    else:
        os.kill(pid, signal.SIGKILL)
        pytest.fail("the analysis still runs")
    assert steps_of_only(tmp_path / "x") == 4


# ---- what is missing ----

def plain_python(code, place, timeout=300, **env):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=timeout, env={**os.environ, "ASCOPE_DEVICE": "none", **env})
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout


@pytest.fixture
def no_torch(tmp_path, monkeypatch):
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden/torch.py").write_text("raise ImportError('there is no PyTorch here')\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path / "hidden"), os.environ["PYTHONPATH"])))


def run_script(text, place, *options):
    (place / "script.py").write_text(textwrap.dedent(text))
    return subprocess.run([sys.executable, *options, "script.py"], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=300)


@pytest.mark.parametrize("end", ["pass", "sys.exit(3)", "sys.exit('text')", "raise ValueError('mine')", "raise KeyboardInterrupt",
                                 "signal.raise_signal(15)", "os._exit(4)"])
def test_scripts_end_as_they_do(tmp_path, no_torch, end):
    script = """
        import os, signal, sys
        from ascope.torch import mstx
        mstx.mark("here")
        %s
    """ % end
    alone = run_script(script, tmp_path)
    from_outside = run_script(script, tmp_path, "-m", "ascope", "run", "--profile", "--mstx", "--device", "none")
    assert from_outside.returncode == alone.returncode
    said = [line for line in from_outside.stdout.splitlines() if " profiler.py: " not in line]
    if said and said[-1].startswith("  open result/"):  # the summary, behind what the script has said
        said = said[:said.index("")]
    assert alone.stdout.splitlines()[-1:] == said[-1:]
    (collection,) = collections_in(tmp_path / "result")
    subprocess.run([PROGRAM, "analyse", collection], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(collection, "ASCEND_PROFILER_OUTPUT/trace_view.json"), encoding="utf-8") as f:
        assert "here" in [event["name"] for event in json.load(f)]


def test_torch_npu_in_processes_that_a_script_starts(tmp_path, no_torch):
    done = run_script("""
        import multiprocessing, subprocess, sys, torch_npu

        def work():
            print(torch_npu.profiler.ProfilerLevel.Level1, flush=True)

        if __name__ == "__main__":
            child = multiprocessing.get_context("spawn").Process(target=work)
            child.start()
            child.join()
            code = "import torch_npu.profiler, torch_npu.npu.mstx; print(torch_npu.__version__)"
            sys.exit(child.exitcode or subprocess.call([sys.executable, "-c", code]))
    """, tmp_path, "-m", "ascope", "run")
    assert done.returncode == 0 and done.stdout.startswith("Level1\n0."), done.stdout


def test_without_torch(tmp_path, no_torch):
    code = """
        from ascope.torch import mstx, profiler
        with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("x"), with_stack=True,
                              experimental_config=profiler._ExperimentalConfig(mstx=True)):
            range_id = mstx.range_start("without PyTorch")
            mstx.range_end(range_id)
        profiler.profile.enable_profiler_in_child_thread()
        import ascope.torch_npu_compat, torch_npu
    """
    out = plain_python(code, tmp_path)
    assert "PyTorch has not been imported" in out and "[ERROR]" not in out
    (collection,) = collections_in(tmp_path / "x")
    with open(os.path.join(collection, "ASCEND_PROFILER_OUTPUT/trace_view.json"), encoding="utf-8") as f:
        assert "without PyTorch" in f.read()


def test_torch_after_ascope(tmp_path):
    plain_python("""
        from ascope.torch import profiler
        prof = profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("x", analyse_flag=False), with_stack=True)
        with prof:
            import torch
        with prof:
            torch.nn.functional.mse_loss(torch.ones(3), torch.zeros(3))
    """, tmp_path)
    assert [steps_in(path) for path in collections_in(tmp_path / "x")] == [0, 1]


def test_listener_cannot_be_made(run, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "broken").write_text("#!/bin/sh\necho 'error: no space' >&2\nexit 1\n")
    (tmp_path / "broken").chmod(0o755)
    for name, env in (("no_compiler", {"PATH": "/nowhere", "CXX": ""}), ("broken_compiler", {"CXX": str(tmp_path / "broken")})):
        done = run("""
            with profile("%s", analyse=True, schedule=profiler.schedule(2, 2)) as prof:
                assert train(prof) == plain[4]
        """ % name, ASCOPE_CACHE=str(tmp_path / "cache"), **env)
        (line,) = errors(done)  # once, and the compiler was not asked again
        assert "operators are not recorded" in line
        assert steps_of_only(tmp_path / name) == 0


def test_cache(run, tmp_path):
    """One that is damaged is made again; one that cannot be written is replaced by another place. The compiler here is quick."""
    (tmp_path / "quick").write_text("""#!/bin/sh
        while [ $# -gt 0 ]; do
            [ "$1" = -o ] && cp "$GOOD" "$2"
            shift
        done
    """)
    (tmp_path / "quick").chmod(0o755)
    from ascope.torch import _build
    good = str(_build.path())
    (tmp_path / "file").write_text("")
    for name, damage in (("empty", b""), ("cut", open(good, "rb").read()[:100000]), ("text", b"no library"), ("file", None)):
        cache = tmp_path / name
        if damage is not None:
            cache.mkdir(0o700)
            (cache / os.path.basename(good)).write_bytes(damage)
            (cache / os.path.basename(good)).chmod(0o700)
        done = run("""
            with profile("%s.d", analyse=True) as prof:
                assert train(prof) == plain[4]
        """ % name, CXX=str(tmp_path / "quick"), GOOD=good, ASCOPE_CACHE=str(cache), TMPDIR=str(tmp_path / "tmp"))
        assert not errors(done), done.out
        assert done.out.count("compiling the listener for PyTorch") == 1  # it is waited for
        assert steps_of_only(tmp_path / (name + ".d")) == 4


def test_planned(monkeypatch, tmp_path):
    """What `ascope doctor` asks: nothing is compiled or written."""
    from ascope.torch import _build
    good = _build.path()
    assert _build.planned() == {"is_built": True, "path": str(good), "compiler": ""}
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("ASCOPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CXX", "true")
    assert _build.planned() == {"is_built": False, "path": str(tmp_path / "cache" / good.name), "compiler": "true"}
    monkeypatch.setenv("CXX", "")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(_build.BuildError, match="no C.. compiler"):
        _build.planned()
    assert not list(tmp_path.iterdir())


# ---- nobody listens ----

@pytest.mark.parametrize("way", ["closed", "none", "full", "ascii", "odd", "silent"])
def test_stdout(run, tmp_path, way):
    begin = {"closed": "sys.stdout.close()", "none": "sys.stdout = None", "ascii": "sys.stdout.reconfigure(encoding='ascii')",
             "odd": "sys.stdout = type('Odd', (), {'flush': lambda: None})"}.get(way, "")
    done = run("""
        %s
        profiler.schedule(wait=-1, active="x")
        with profile("n\u00e4me", analyse=True) as prof:
            assert train(prof) == plain[4]
    """ % begin, out="/dev/full" if way == "full" else None, TORCH_NPU_WARNING_DISABLE=str(int(way == "silent")))
    assert steps_of_only(tmp_path / "n\u00e4me") == 4
    assert ("[WARNING]" in done.out) == (way == "ascii") and ("n\\xe4me" in done.out) == (way == "ascii")
    assert "[INFO]" in done.out or way != "silent"
