# SPDX-License-Identifier: Apache-2.0
"""python3 -m ascope run, record and profile: which scripts the front end records, and what is left to the program `ascope`."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import warnings

import pytest

from ascope import _frameworks

PROGRAM = os.environ.get("ASCOPE_PROGRAM") or shutil.which("ascope")


def write(place, name, text):
    file = place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text))
    return str(file)


@pytest.fixture
def torch_installed(tmp_path, monkeypatch):
    """A torch and a tensorflow that are never imported, and packages of which some require it, in a directory like that of an interpreter."""
    site = tmp_path / "lib/site-packages"
    for name in "torch", "tensorflow":
        write(site, name + "/__init__.py", "raise ImportError('looked at, not imported')")
    for name, requires in ("trainer", "torch (>=1.8)"), ("maybe", "torch; extra == 'gpu'"), ("numbers_only", "torchless"), ("plain", ""), ("layers", "tensorflow>=2"):
        write(site, name + "/__init__.py", "")
        write(site, "%s-1.0.dist-info/METADATA" % name, "Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n%s" % (
            name, "Requires-Dist: %s\n" % requires if requires else ""))
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(tmp_path)


IMPORTS = {
    "nothing": ("print()", None),
    "the standard library": ("import json, sys, os.path\nfrom xml import dom", None),
    "torch": ("import torch", "torch"),
    "a part of it": ("from torch.nn import functional", "torch"),
    "under another name": ("import os, torch.nn as nn", "torch"),
    "in a function": ("def f():\n    import torch", "torch"),
    "by a call": ("import importlib\nimportlib.import_module('torch.nn')", "torch"),
    "for NPUs": ("import torch_npu", "torch"),
    "the front end": ("from ascope.torch import mstx", "torch"),
    "MindSpore": ("from mindspore import Profiler", "mindspore"),
    "a part of MindSpore": ("import mindspore.nn as nn", "mindspore"),
    "MindSpore's front end": ("from ascope import mindspore", "mindspore"),
    "TensorFlow": ("import tensorflow as tf", "tensorflow"),
    "TensorFlow 1 for NPUs": ("from npu_bridge.estimator.npu.npu_config import NPURunConfig", "tensorflow"),
    "TensorFlow 2 for NPUs": ("def f():\n    import npu_device", "tensorflow"),
    "TensorFlow's front end": ("from ascope.tensorflow import Profiler", "tensorflow"),
    "TensorFlow's modules": ("import ascope.tensorflow_compat", "tensorflow"),
    "TensorFlow in a module beside it": ("import graphs", "tensorflow"),
    "one that requires TensorFlow": ("import layers", "tensorflow"),
    "PyTorch last": ("import tensorflow, mindspore\nimport graphs, beside", "torch"),
    "ascope alone": ("import ascope", "torch"),
    "a name that only begins so": ("import torchless", None),
    "a comment": ("# import torch\nx = 'import torch'", None),
    "a module beside it": ("import beside", "torch"),
    "a module of a package beside it": ("from package import deep", "torch"),
    "a package beside it": ("import package", None),
    "one that requires torch": ("import trainer.core", "torch"),
    "one that may use torch": ("from maybe import x", "torch"),
    "one that does not": ("import plain, numbers_only", None),
    "what is missing": ("import nowhere.at.all", None),
    "a loop": ("import around", None),
    "no Python": ("import torch\nthis is no Python", None),
    "no text": ("\0\xff", None),
}


@pytest.mark.parametrize("what", IMPORTS)
def test_the_framework_of_a_script(tmp_path, torch_installed, what):
    text, framework = IMPORTS[what]
    write(tmp_path, "work/beside.py", "import plain\nimport indirect")
    write(tmp_path, "work/indirect.py", "from torch import nn")
    write(tmp_path, "work/graphs.py", "import npu_device")
    write(tmp_path, "work/package/__init__.py", "from . import shallow")
    write(tmp_path, "work/package/shallow.py", "import json")
    write(tmp_path, "work/package/deep.py", "from .inner.most import thing")
    write(tmp_path, "work/package/inner/__init__.py", "")
    write(tmp_path, "work/package/inner/most.py", "from ...package import shallow\nimport torch")
    write(tmp_path, "work/around.py", "import around_again")
    write(tmp_path, "work/around_again.py", "import around")
    script = write(tmp_path, "work/script.py", text)
    assert _frameworks.of_script(script) == framework
    os.chdir(tmp_path / "work")
    assert _frameworks.of_script("script", is_module=True) == framework
    assert "torch" not in sys.modules or not sys.modules["torch"].__file__.startswith(str(tmp_path))


def test_the_framework_of_packages_and_folders(tmp_path, torch_installed):
    write(tmp_path, "job/__init__.py", "")
    write(tmp_path, "job/__main__.py", "from . import step")
    write(tmp_path, "job/step.py", "import torch")
    assert _frameworks.of_script("job", is_module=True) == "torch"
    assert _frameworks.of_script("job") == "torch"
    assert _frameworks.of_script("job.step", is_module=True) == "torch"
    assert _frameworks.of_script("torch.distributed.run", is_module=True) == "torch"
    assert _frameworks.of_script("json.tool", is_module=True) is None
    assert _frameworks.of_script("nowhere", is_module=True) is None
    assert _frameworks.of_script("nowhere.py") is None


def test_warnings_about_a_script_are_left_to_the_interpreter(tmp_path, torch_installed):
    script = write(tmp_path, "script.py", r"""
        import torch
        digits = "\d"
        """)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert _frameworks.of_script(script) == "torch"
    assert not seen


# ---- what is left behind ----

@pytest.mark.parametrize("rank", ["0", "1"])
def test_no_rank_leaves_a_temporary_file(tmp_path, rank):
    script, place = write(tmp_path, "script.py", "print('done')"), tmp_path / "tmp"
    place.mkdir()
    done = subprocess.run([sys.executable, "-m", "ascope", "run", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120, cwd=tmp_path, env=dict(os.environ, RANK=rank, TMPDIR=str(place), ASCOPE_CACHE=str(tmp_path)))
    assert done.returncode == 0 and "done" in done.stdout, done.stdout
    assert not os.listdir(place)


# ---- what is left to the program ----

def started(place, *arguments, code=0):
    """The arguments that the program `ascope` was started with; None: it was not."""
    program = write(place, "program", """\
        #!%s
        import json, sys
        json.dump(sys.argv[1:], open("started.json", "w"))
        sys.exit(9)
        """ % sys.executable)
    os.chmod(program, 0o755)
    seen = place / "started.json"
    if seen.exists():
        seen.unlink()
    done = subprocess.run([sys.executable, "-m", "ascope", *arguments], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120, env=dict(os.environ, ASCOPE_PROGRAM=program))
    assert done.returncode == (9 if seen.exists() else code), done.stdout
    return json.loads(seen.read_text()) if seen.exists() else None


def test_programs_are_left_to_the_program(tmp_path):
    shell = write(tmp_path, "run.sh", "#!/bin/sh\nexit 3\n")
    for words in ["/bin/true", "--out", "mine"], ["true"], [shell, "a", "b"]:
        for command in "run", "record", "profile":
            assert started(tmp_path, command, "--out", "there", *words) == ["run", "--out", "there", "--", *words]
            assert started(tmp_path, command, "--duration", "3", "--l2=on", "--level", "1", "--", *words) == [
                "run", "--duration", "3", "--l2=on", "--level", "1", "--", *words]
    assert started(tmp_path, "run", "nowhere", code=1) is None


def test_options_that_programs_have_too(tmp_path):
    assert started(tmp_path, "record", "--no-analyse", "--host-sys", "cpu,mem", "--level", "Level2", "--device", "none", "--mstx", "--profile",
                   "--aic-metrics", "Memory", "--with-stack", "/bin/true") == [
        "run", "--device", "none", "--host-sys", "cpu,mem", "--level", "2", "--metrics", "Memory", "--no-export", "--", "/bin/true"]
    for given, passed in ("Level_none", "off"), ("Level0", None), ("Level1", "1"):
        assert started(tmp_path, "run", "--profiler-level", given, "true") == ["run", *(["--level", passed] if passed else []), "--", "true"]
    done = subprocess.run([sys.executable, "-m", "ascope", "run", "--with-stack", "--wait", "3", "/bin/true"], cwd=tmp_path, text=True,
                          stderr=subprocess.PIPE, env=dict(os.environ, ASCOPE_PROGRAM="/bin/true"), check=True)
    assert done.stderr.splitlines() == ["ascope: note: --wait has no effect on /bin/true", "ascope: note: --with-stack has no effect on /bin/true"]


def test_scripts_without_a_framework_are_left_to_the_program(tmp_path):
    """When they are to be recorded: `run` runs them, as before."""
    write(tmp_path, "plain.py", "import sys\nsys.exit(len(sys.argv))")
    for command in "record", "profile":
        assert started(tmp_path, command, "plain.py", "-x", "--", "y") == ["run", "--", sys.executable, "plain.py", "-x", "--", "y"]
        assert started(tmp_path, command, "--out", "o", "-m", "plain", "z") == ["run", "--out", "o", "--", sys.executable, "-m", "plain", "z"]
    assert started(tmp_path, "run", "plain.py", "x", code=2) is None
    assert started(tmp_path, "run", "--out", "o", "plain.py", "--", "true", code=3) is None  # of the script
    assert started(tmp_path, "run", "-m", "plain", "--", "true", code=3) is None
    assert started(tmp_path, "run", "-m", "plain", code=1) is None
    assert not (tmp_path / "result").exists()
    assert started(tmp_path, "record", "--profile", "--no-analyse", "--device", "none", "plain.py", code=1) is None
    assert len(list(tmp_path.glob("*_ascend_pt"))) == 1


def test_a_framework_that_is_missing(tmp_path):
    for name in "torch", "tensorflow":
        script = write(tmp_path, name + "_only.py", "try:\n    import %s\nexcept ImportError:\n    pass" % name)
        if not _frameworks.is_installed(name):
            assert _frameworks.of_script(script) is None
    for name, framework in ("mindspore", "mindspore"), ("npu_device", "tensorflow"), ("torch_npu", "torch"):  # which ascope provides
        assert _frameworks.of_script(write(tmp_path, name + "_only.py", "import " + name)) == framework


# ---- what the front end records ----

TRAIN = """
    import torch
    net = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    %s
    for _ in range(3):
        net(torch.ones(2, 4)).sum().backward()
        optimizer.step()
        %s
    raise SystemExit(5)
    """
OWN = ("from ascope.torch import profiler\n    prof = profiler.profile(schedule=profiler.schedule(wait=0, warmup=1, active=2, repeat=1), "
       "on_trace_ready=profiler.tensorboard_trace_handler('mine'))\n    prof.start()", "prof.step()")


def record(place, *command):
    done = subprocess.run(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
                          env=dict(os.environ, ASCOPE_PROGRAM=PROGRAM))
    assert done.returncode == 5, done.stdout
    return done.stdout


def steps(place):
    (file,) = place.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json")
    with open(file, encoding="utf-8") as f:
        return sorted(event["name"] for event in json.load(f) if event["name"].startswith("ProfilerStep#"))


def test_stacks_begin_with_the_script(tmp_path):
    """Also where `ascope run` has to bring the package along, for an interpreter that does not have it."""
    pytest.importorskip("torch")
    write(tmp_path, "train.py", TRAIN % ("", "pass"))
    without = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([PROGRAM, "run", "--device", "none", "--with-stack", "--out", "out", "--", sys.executable, "train.py"], cwd=tmp_path,
                          text=True, capture_output=True, env=without, timeout=300)
    assert done.returncode == 5, done.stderr
    assert "never ended" not in done.stdout  # nor the range of the step that the end of the script cuts off
    (path,) = (tmp_path / "out").glob("*_ascend_pt")
    subprocess.run([PROGRAM, "export-stacks", path, tmp_path / "stacks.log"], check=True, capture_output=True, timeout=300)
    outermost = {line.split("(")[0] for line in (tmp_path / "stacks.log").read_text().splitlines()}
    assert outermost <= {str(tmp_path / "train.py"), "aten"} and str(tmp_path / "train.py") in outermost, outermost


def test_a_script_runs_as_under_python(tmp_path):
    """Path and names of its module, sys.path, and what functions of atexit see of it."""
    pytest.importorskip("torch")
    write(tmp_path, "jobs/train.py", """\
        import atexit, os, sys
        if len(sys.argv) > 5:
            import torch
        print(__file__, sys.argv[0], sys.path[0], os.getcwd() in sys.path, __name__, __spec__, __package__, type(__builtins__), sorted(globals()))
        atexit.register(lambda: print(sys.modules["__main__"].x))
        x = 7
        raise SystemExit(5)
    """)
    plain, recorded = (record(tmp_path, *command, "jobs/train.py") for command in (
        [sys.executable], [sys.executable, "-m", "ascope", "record", "-q", "--device", "none"]))
    assert plain == recorded and "\n7\n" in plain


RANKS = """\
    import multiprocessing
    import sys
    import torch
    def train(steps):
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(steps):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    class Process(multiprocessing.get_context("%s").Process):
        def run(self):
            train(5)
    if __name__ == "__main__":
        processes = [multiprocessing.get_context("%s").Process(target=train, args=(3,)), Process()]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        with multiprocessing.get_context("%s").Pool(1) as pool:
            pool.map(abs, [1])
        print("the script's own output")
    """


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_train_are_recorded(tmp_path, method):
    """Each in its own directory; the process that only starts them, and helpers, leave none."""
    pytest.importorskip("torch")
    write(tmp_path, "train.py", RANKS % (method, method, method))
    done = subprocess.run([PROGRAM, "run", "--device", "none", "--", sys.executable, "train.py"], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout == "the script's own output\n", done.stdout + done.stderr
    counts = [re.search(r" (\d+) steps, ", subprocess.run([PROGRAM, "analyse", path], stdout=subprocess.PIPE, text=True, check=True).stdout)[1]
              for path in tmp_path.glob("*_ascend_pt")]
    assert sorted(counts) == ["3", "5"] and "parent process" not in done.stderr
    assert "2 ranks" in done.stderr, done.stderr  # what the answer of the job begins with


def test_a_script_without_work_is_reported(tmp_path):
    pytest.importorskip("torch")
    write(tmp_path, "train.py", """\
        import multiprocessing, torch
        process = multiprocessing.get_context("fork").Process(target=print)
        process.start()
        process.join()
        raise SystemExit(5)
    """)
    said = record(tmp_path, sys.executable, "-m", "ascope", "record", "--device", "none", "train.py")
    assert "nothing was recorded: neither the script nor a process that it started ran an operator" in said
    assert made_in(tmp_path) == []


@pytest.mark.parametrize("end, code, why", [
    ("os._exit(7)", 7, ""), ("os.kill(os.getpid(), signal.SIGTERM)", -15, "train.py was killed by signal 15 (SIGTERM)"),
    ("os.kill(os.getpid(), signal.SIGKILL)", -9, "train.py was killed by signal 9 (SIGKILL)")])
def test_what_an_ended_script_leaves_is_analysed(tmp_path, end, code, why):
    pytest.importorskip("torch")
    write(tmp_path, "train.py", "import os, signal, torch\ntorch.ones(2) + 1\nprint('its own output', flush=True)\n" + end)
    (tmp_path / "tmp").mkdir()
    done = subprocess.run([PROGRAM, "run", "--device", "none", "--", sys.executable, "train.py"], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=300, env=dict(os.environ, TMPDIR=str(tmp_path / "tmp")))
    assert (done.returncode, done.stdout) == (code, "its own output\n"), done.stdout + done.stderr
    (made,) = tmp_path.glob("*_ascend_pt")
    assert why in done.stderr and str(made) in done.stderr and (made / "ASCEND_PROFILER_OUTPUT/trace_view.json").exists()
    assert os.listdir(tmp_path / "tmp") == []


def test_signals_reach_the_script(tmp_path):
    """Those that schedulers send: the supervisor forwards them, and ends when the script does."""
    pytest.importorskip("torch")
    write(tmp_path, "train.py", """\
        import signal, sys, time, torch
        torch.ones(2) + 1
        caught = []
        def catch(number, frame):
            caught.append(number)
            print(len(caught), flush=True)
        for number in signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM:
            signal.signal(number, catch)
        print("ready", flush=True)
        while len(caught) < 3:
            time.sleep(0.01)
        sys.exit(9)
    """)
    with subprocess.Popen([PROGRAM, "run", "--device", "none", "--", sys.executable, "train.py"], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as done:
        for number in signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM:
            assert done.stdout.readline()
            done.send_signal(number)
        assert done.wait(timeout=300) == 9


def test_a_thread_that_trains_is_recorded(tmp_path):
    pytest.importorskip("torch")
    write(tmp_path, "train.py", """\
        import threading
        import torch
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        def train():
            for _ in range(4):
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
        thread = threading.Thread(target=train)
        thread.start()
        thread.join()
        raise SystemExit(5)
    """)
    said = record(tmp_path, sys.executable, "-m", "ascope", "record", "--device", "none", "train.py")
    assert "its operators are recorded from here on" in said and "4 steps" in said
    (file,) = tmp_path.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT/operator_details.csv")
    assert file.read_text().count("\naten::linear,") == 3  # the first step is not observed


def test_steps_of_torch_profiler_are_not_taken_for_ours(tmp_path):
    """Its ranges have the same name, and begin and end elsewhere: here in the middle of each of our steps."""
    pytest.importorskip("torch")
    write(tmp_path, "train.py", """\
        import torch
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        activities = [torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=activities, schedule=torch.profiler.schedule(wait=1, warmup=1, active=2)) as other:
            for _ in range(5):
                loss = model(torch.ones(1, 2)).sum()
                other.step()
                loss.backward()
                optimizer.step()
        raise SystemExit(5)
    """)
    said = record(tmp_path, sys.executable, "-m", "ascope", "record", "--device", "none", "train.py")
    assert steps(tmp_path) == ["ProfilerStep#%d" % i for i in range(5)] and "5 steps" in said


@pytest.mark.parametrize("command", ["record", "profile"])
def test_a_training_without_a_profiler_is_recorded(tmp_path, command):
    pytest.importorskip("torch")
    write(tmp_path, "train.py", TRAIN % ("", "pass"))
    said = record(tmp_path, sys.executable, "-m", "ascope", command, "--device", "none", "train.py")
    assert steps(tmp_path) == ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"]  # what is behind the last optimizer.step() is no step
    assert "3 steps" in said and "ascope view %s" % os.uname().nodename in said and "open %s" % os.uname().nodename in said and "WARNING" not in said


@pytest.mark.parametrize("command", [[PROGRAM, "run"], [sys.executable, "-m", "ascope", "record"]])
def test_calls_of_the_operating_system(tmp_path, command):
    """With libascope-run.so in front of the script's libc, which the script does not notice otherwise."""
    pytest.importorskip("torch")
    if not list(pathlib.Path(PROGRAM).parent.glob("libascope-run.so*")):
        pytest.skip("built without Meson: there is no such library")
    write(tmp_path, "train.py", TRAIN % ("import threading; t = threading.Thread(target=print); t.start(); t.join()", "pass"))
    script = [sys.executable, "train.py"] if command[0] == PROGRAM else ["train.py"]
    record(tmp_path, *command, "--device", "none", "--host-sys", "osrt", *script)
    (file,) = tmp_path.glob("*_ascend_pt/PROF_*/host/data/host_pthreadcall.data.slice_0")
    assert "->pthread_create(" in file.read_text()
    (file,) = tmp_path.glob("*_ascend_pt/PROF_*/host/data/host_syscall.data.slice_0")
    assert "clock_gettime" in file.read_text().splitlines()[0]


@pytest.mark.parametrize("command", ["run", "record"])
def test_a_profiler_of_the_script_takes_precedence(tmp_path, command):
    pytest.importorskip("torch")
    write(tmp_path, "train.py", TRAIN % OWN)
    said = record(tmp_path, sys.executable, "-m", "ascope", command, "--device", "none", "train.py")
    assert steps(tmp_path / "mine") == ["ProfilerStep#1", "ProfilerStep#2"]
    assert {path.name for path in tmp_path.iterdir()} == {"train.py", "mine"}
    assert "WARNING" not in said and "ERROR" not in said and "open mine/" in said


def test_a_profiler_of_torch_npu_takes_precedence(tmp_path):
    """That of an installed torch_npu, or of what looks like one."""
    pytest.importorskip("torch")
    write(tmp_path, "installed/torch_npu/__init__.py", "from . import profiler")
    write(tmp_path, "installed/torch_npu/_C.so", "")
    write(tmp_path, "installed/torch_npu/profiler/__init__.py", "from .profiler import profile")
    write(tmp_path, "installed/torch_npu/profiler/profiler.py", """
        import glob
        class _KinetoProfile:
            def start(self):
                print("before:", glob.glob("*_ascend_pt"))
        class profile(_KinetoProfile):
            pass
        """)
    write(tmp_path, "train.py", """
        import glob, sys
        sys.path.insert(0, "installed")
        import torch, torch_npu
        print("recorded:", len(glob.glob("*_ascend_pt")))
        torch_npu.profiler.profile().start()
        sys.exit(5)
        """)
    env = dict(os.environ, ASCOPE_PROGRAM=PROGRAM, PYTHONPATH=os.pathsep.join([str(tmp_path / "installed"), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run([sys.executable, "-m", "ascope", "record", "--device", "none", "train.py"], cwd=tmp_path, env=env, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    assert done.returncode == 5 and "recorded: 1\n" in done.stdout and "before: []\n" in done.stdout, done.stdout


# ---- scripts of MindSpore and of TensorFlow ----

STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tf_standin")
SESSIONS = """
    import sys
    import tensorflow as tf
    import npu_bridge.npu_init
    with tf.compat.v1.Session() as session:
        session.run(1)
        session.run(2)
    %s
    sys.exit(5)
    """
OWN_OF_TENSORFLOW = """
    from npu_bridge.profiler import profiler
    with profiler.Profiler(output_path="mine"):
        tf.compat.v1.Session().run(3)"""
CELLS = """
    import sys
    from mindspore.profiler import mstx
    mstx.mark("here")
    %s
    sys.exit(5)
    """
OWN_OF_MINDSPORE = """
    from mindspore import Profiler
    profiler = Profiler(output_path="mine")
    profiler.analyse()"""


@pytest.fixture
def record_as(tmp_path, monkeypatch):
    """record_as(text of a script, *command): the output; on a machine without PyTorch, which takes long to import."""
    write(tmp_path, "installed/torch.py", "raise ImportError('not here')")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "installed"), STANDIN, os.environ.get("PYTHONPATH", "")]))
    for name in "PROFILING_MODE", "ASCEND_WORK_PATH", "RANK_ID":
        monkeypatch.delenv(name, raising=False)

    def of(text, *command):
        write(tmp_path, "train.py", text)
        return record(tmp_path, *command)

    return of


def test_what_processes_of_a_script_and_its_end_record_is_shown(record_as, tmp_path):
    said = record_as("""
        import os, sys
        from ascope.torch import mstx, profiler

        def begin(where):
            prof = profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(where),
                                    experimental_config=profiler._ExperimentalConfig(mstx=True))
            prof.start()
            mstx.mark("here")
            return prof

        for _ in range(2):
            if os.fork() == 0:
                begin("ranks").stop()
                os._exit(0)
            os.wait()
        prof = begin("late")  # never stopped
        sys.exit(5)
        """, sys.executable, "-m", "ascope", "run", "--device", "none", "train.py")
    first, second = sorted(map(str, tmp_path.glob("ranks/*_ascend_pt")))
    (late,) = map(str, tmp_path.glob("late/*_ascend_pt"))
    assert said.count("\n  1 mark\n") == 2 and "analysed: %s\n\n%s\n" % (second, first) in said and "\n\n%s\n" % late in said
    assert "  ascope cluster ranks compares them\n" in said and said.count("  ascope view ") == 2


OF_PROGRAM = [PROGRAM, "run", "--out", "there", "--level", "1", "--metrics", "Memory", "--host-sys", "cpu"]
OF_PACKAGE = [sys.executable, "-m", "ascope", "record", "--out", "there", "--mstx", "--device", "none"]


def sample_of(prof):
    sample = json.loads((prof / "host/sample.json").read_text())
    return sample["aiv_metrics"], sample["host_cpu_profiling"]


def test_a_script_of_tensorflow_is_recorded(tmp_path, record_as):
    said = record_as(SESSIONS % "", *OF_PROGRAM, "--device", "sim", "--", sys.executable, "train.py")
    (prof,) = tmp_path.glob("there/PROF_*")
    assert sample_of(prof) == ("Memory", "on")
    (steps_csv,) = prof.glob("mindstudio_profiler_output/step_trace_*.csv")
    assert len(steps_csv.read_text().splitlines()) == 3  # two runs are two iterations
    (marks,) = prof.glob("mindstudio_profiler_output/msprof_tx_*.csv")
    assert "sess.run #1" in marks.read_text() and "sess.run #2" in marks.read_text()
    assert "2 iterations" in said and "open there/PROF_" in said


def test_a_script_of_mindspore_is_recorded(tmp_path, record_as):
    said = record_as(CELLS % "", *OF_PROGRAM, "--device", "none", "--", sys.executable, "train.py")
    (file,) = tmp_path.glob("there/*_ascend_ms/ASCEND_PROFILER_OUTPUT/trace_view.json")
    assert '"here"' in file.read_text() and "open there/" in said and "warmup" not in said
    (prof,) = tmp_path.glob("there/*_ascend_ms/PROF_*")
    assert sample_of(prof) == ("Memory", "on")


@pytest.mark.parametrize("text, made", [(SESSIONS % OWN_OF_TENSORFLOW, "PROF_*"), (CELLS % OWN_OF_MINDSPORE, "*_ascend_ms")],
                         ids=["tensorflow", "mindspore"])
def test_profilers_of_these_scripts_take_precedence(tmp_path, record_as, text, made):
    record_as(text, *OF_PACKAGE, "train.py")
    assert len(list(tmp_path.glob("mine/" + made))) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"train.py", "mine", "installed"}


def test_the_environment_of_tensorflow_takes_precedence(tmp_path, record_as, monkeypatch):
    monkeypatch.setenv("PROFILING_MODE", "true")
    monkeypatch.setenv("PROFILING_OPTIONS", '{"output":"mine","l2":"on"}')
    record_as(SESSIONS % "", *OF_PACKAGE, "train.py")
    assert len(list(tmp_path.glob("mine/PROF_*"))) == 1 and not (tmp_path / "there").exists()


def test_a_profiler_of_an_installed_mindspore_takes_precedence(tmp_path, record_as):
    """Of what looks like one."""
    write(tmp_path, "installed/mindspore/__init__.py", "from mindspore.profiler.profiler import Profiler")
    write(tmp_path, "installed/mindspore/profiler/__init__.py", "")
    write(tmp_path, "installed/mindspore/profiler/profiler.py", """
        import glob
        class Profiler:
            def start(self):
                print("before:", glob.glob("there/*"), flush=True)
        """)
    said = record_as("""
        import glob, sys, mindspore
        print("recorded:", len(glob.glob("there/*_ascend_ms")))
        mindspore.Profiler().start()
        sys.exit(5)
        """, *OF_PACKAGE, "train.py")
    assert "recorded: 1\n" in said and "before: []\n" in said, said


CONFIGURED = {
    "Estimator": ("npu_bridge.estimator.npu.npu_config import NPURunConfig, ProfilingConfig",
                  "NPURunConfig(profiling_config=ProfilingConfig(%s, '{}'))"),
    "resources": ("npu_bridge.estimator.npu.npu_plugin import npu_resource_init", "npu_resource_init(1, enable_profiling=%s)"),
    "TensorFlow 2": ("npu_device import open, global_options", "global_options().profiling_config.enable_profiling = %s; open()"),
    "session": ("npu_bridge.npu_init import switched", "tf.compat.v1.Session(config=switched(%s))"),
}
INSTALLED = {
    "npu_bridge/__init__.py": "", "npu_bridge/estimator/__init__.py": "", "npu_bridge/estimator/npu/__init__.py": "",
    "npu_bridge/npu_init.py": """
        import tensorflow as tf
        def switched(is_on):
            config = tf.ConfigProto()
            one = config.graph_options.rewrite_options.custom_optimizers.add()
            one.name, one.parameter_map["profiling_mode"].b = "NpuOptimizer", is_on
            return config
        """,
    "npu_bridge/estimator/npu/npu_config.py": """
        class ProfilingConfig:
            def __init__(self, enable_profiling=False, profiling_options=None):
                self._enable_profiling, self._profiling_options = enable_profiling, profiling_options
        class NPURunConfig:
            def __init__(self, iterations_per_loop=1, profiling_config=None):
                self._profiling_config = profiling_config
        """,
    "npu_bridge/estimator/npu/npu_plugin.py": "def npu_resource_init(graph_run_mode=1, op_debug_level=0, enable_profiling=False): pass",
    "npu_device.py": """
        import types
        _options = types.SimpleNamespace(profiling_config=types.SimpleNamespace(enable_profiling=False))
        def global_options():
            return _options
        def open(device_id=None):
            pass
        """,
}


@pytest.mark.parametrize("which", CONFIGURED)
def test_configurations_of_installed_modules_take_precedence(tmp_path, record_as, which):
    """Of what looks like them. What is not switched on changes nothing; what is leaves the recording to the vendor's engine."""
    for name, text in INSTALLED.items():
        write(tmp_path, "installed/" + name, text)
    module, call = CONFIGURED[which]
    said = record_as("""
        import glob, sys
        import tensorflow as tf
        from %s
        %s
        print("recorded:", len(glob.glob("there/PROF_*")))
        %s
        tf.compat.v1.Session().run(1)
        print("left:", len(glob.glob("**/PROF_*", recursive=True)))
        sys.exit(5)
        """ % (module, call % False, call % True), *OF_PACKAGE, "train.py")
    assert "recorded: 1\n" in said and "left: 0\n" in said, said


def test_every_framework_can_be_recorded_with_its_profiler(tmp_path, record_as):
    """--profile, with any command; steps of a schedule are PyTorch's."""
    said = record_as(CELLS % "", sys.executable, "-m", "ascope", "run", "--profile", "--no-analyse", "--device", "none", "--wait", "3", "train.py")
    assert len(list(tmp_path.glob("result/*_ascend_ms"))) == 1 and "recorded: result/" in said
    assert "ascope: note: --wait has no effect on train.py" in said
    record_as(SESSIONS % OWN_OF_TENSORFLOW, *OF_PACKAGE, "--profile", "--no-analyse", "train.py")
    assert len(list(tmp_path.glob("there/PROF_*"))) == 1 and not (tmp_path / "mine").exists()


IN_EACH_PROCESS = """
    import mindspore, npu_device, torch_npu
    from npu_bridge.estimator.npu.npu_config import NPURunConfig
    from npu_bridge.profiler import profiler
    from ascope import tensorflow

    assert profiler.Profiler is tensorflow.Profiler and NPURunConfig is tensorflow.NPURunConfig
    assert npu_device.open().name().endswith("NPU:0") and mindspore.Profiler and torch_npu.profiler.profile
    """
STARTING = """
    import multiprocessing, subprocess, sys

    def work():
        import each

    if __name__ == "__main__":
        import each
        subprocess.run([sys.executable, "each.py"], check=True)
        process = multiprocessing.get_context("spawn").Process(target=work)
        process.start()
        process.join()
        sys.exit(5 if process.exitcode == 0 else 1)
    """


def test_processes_that_a_script_starts_find_the_modules(tmp_path, record_as):
    write(tmp_path, "each.py", IN_EACH_PROCESS)
    record_as(STARTING, sys.executable, "-m", "ascope", "run", "train.py")


def test_started_processes_that_import_only_tensorflow_are_watched(tmp_path, record_as, monkeypatch):
    monkeypatch.setenv("PROFILING_MODE", "true")
    monkeypatch.setenv("PROFILING_OPTIONS", '{"output":"mine"}')
    write(tmp_path, "each.py", "import tensorflow as tf\nassert tf.estimator and tf.__spec__.name == 'tensorflow'\ntf.compat.v1.Session().run(1)")
    record_as(STARTING, sys.executable, "-m", "ascope", "run", "--device", "none", "train.py")
    assert len(list(tmp_path.glob("mine/PROF_*"))) == 3  # the script, a program, a spawned process


def test_started_interpreters_without_the_package_have_tensorflow(tmp_path, record_as):
    write(tmp_path, "each.py", "import sys\nsys.modules['ascope'] = None\nimport tensorflow as tf\nassert tf.estimator")
    write(tmp_path, "none.py", "import sys\nsys.path[:] = [p for p in sys.path if 'standin' not in p]\ntry:\n    import tensorflow\n"
          "except ModuleNotFoundError as e:\n    assert e.name == 'tensorflow'\nelse:\n    sys.exit(1)")
    record_as("import subprocess, sys\nfor name in ('each', 'none'):\n    subprocess.run([sys.executable, name + '.py'], check=True)\nsys.exit(5)",
              sys.executable, "-m", "ascope", "run", "train.py")


def test_processes_find_what_is_installed_first(tmp_path, record_as):
    write(tmp_path, "installed/npu_device.py", "is_its_own = True")
    write(tmp_path, "each.py", "import npu_device, npu_bridge\nassert npu_device.is_its_own and not npu_bridge.__path__")
    record_as(STARTING, sys.executable, "-m", "ascope", "run", "train.py")


def test_the_launcher_of_ranks_may_put_an_argument_first(tmp_path):
    write(tmp_path, "plain.py", "import sys\nsys.exit(sys.argv[1:] != ['--local-rank=1', 'x'])")
    for command in ["run"], ["record", "--profile", "--no-analyse", "--device", "none"]:
        assert started(tmp_path, "--local-rank=1", *command, "plain.py", "x") is None
    assert started(tmp_path, "--local-rank=1", "record", "plain.py", "x") == ["run", "--", sys.executable, "plain.py", "--local-rank=1", "x"]


# ---- the program, which becomes the front end ----

PLAIN = """
    import sys
    numbers = [i * i for i in range(2000000)]
    sys.exit(5)
    """


def made_in(place):
    return sorted("_".join(name.split("_")[-2:]) if name.endswith("_ascend_pt") else name.split("_")[0]
                  for name in os.listdir(place) if name.endswith("_ascend_pt") or name.startswith("PROF_"))


def lasting(said):
    """The headings and files of a summary: its numbers change from run to run."""
    words = ("PyTorch,", "step", "host", "written", "trace_view.json", "operator_details.csv", "the", "open")
    lines = [line.split() for line in said.splitlines() if line.startswith("  ") and not re.match(r" *step \d+ is slow", line)]
    return [line[0] for line in lines if line[0] in words]


@pytest.mark.parametrize("command", ["run", "record", "profile"])
def test_both_commands_are_the_same(tmp_path, command):
    pytest.importorskip("torch")
    write(tmp_path, "train.py", TRAIN % ("", "pass"))
    options = ["--device", "none", "--host-sys", "cpu,mem"]
    ours = record(tmp_path, PROGRAM, command, "--out", "ours", *options, "--", sys.executable, "train.py")
    pythons = record(tmp_path, sys.executable, "-m", "ascope", "record", "--mstx", "--out", "pythons", *options, "train.py")
    assert made_in(tmp_path / "ours") == made_in(tmp_path / "pythons") == ["ascend_pt"]
    assert steps(tmp_path / "ours") == steps(tmp_path / "pythons")
    assert len(lasting(ours)) >= 8 and lasting(ours) == lasting(pythons)


def test_the_program_passes_the_schedule_on(tmp_path):
    pytest.importorskip("torch")
    write(tmp_path, "train.py", TRAIN % ("", "pass"))
    said = record(tmp_path, PROGRAM, "run", "--device", "none", "--out", "ours", "--skip-first", "1", "--active=1", "--record-shapes", "--",
                  sys.executable, "train.py")
    pythons = record(tmp_path, sys.executable, "-m", "ascope", "record", "--mstx", "--device", "none", "--out", "pythons", "--skip-first", "1",
                     "--active", "1", "--record-shapes", "train.py")
    assert set(steps(tmp_path / "ours")) == set(steps(tmp_path / "pythons")) == {"ProfilerStep#1"}
    assert "has such options" not in said and lasting(said) == lasting(pythons)


@pytest.mark.parametrize("command", [["run"], ["record"], ["profile", "-q"]])
def test_a_script_without_a_framework_is_a_program(tmp_path, command):
    write(tmp_path, "plain.py", PLAIN)
    record(tmp_path, PROGRAM, *command, "--device", "none", "--out", "ours", "--", sys.executable, "plain.py")
    record(tmp_path, sys.executable, "-m", "ascope", "record", "--device", "none", "--out", "pythons", "plain.py")
    for place in "ours", "pythons":
        assert made_in(tmp_path / place) == ["PROF"]
        files = [path.name for path in (tmp_path / place).glob("PROF_*/mindstudio_profiler_output/*")]
        for wanted in "host_cpu_usage", "host_mem_usage":
            assert [name for name in files if name.startswith(wanted)], files


def test_options_of_the_collector_alone(tmp_path):
    pytest.importorskip("torch")
    write(tmp_path, "train.py", TRAIN % ("", "pass"))
    said = record(tmp_path, PROGRAM, "run", "--device", "none", "--storage-limit", "300M", "--", sys.executable, "train.py")
    assert "note: --storage-limit: train.py is recorded from outside" in said and made_in(tmp_path) == ["PROF"]


def test_the_package_beside_the_program(tmp_path):
    """An interpreter that does not have it, and one that cannot have it."""
    pytest.importorskip("torch")
    script = write(tmp_path, "train.py", "#!%s\n" % sys.executable + textwrap.dedent(TRAIN % ("", "pass")))
    os.chmod(script, 0o755)
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "ASCOPE_PROGRAM")}
    for how, made, wanted in (["./train.py"], "ascend_pt", ""), ([sys.executable, "-I", "train.py"], "PROF", "has no package ascope for its version"):
        out = tmp_path / made
        done = subprocess.run([PROGRAM, "run", "--device", "none", "--out", out, "--no-export", *how], cwd=tmp_path, env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if "-I" in how and not done.stderr.count(wanted):
            pytest.skip("the package is installed in this interpreter")
        assert done.returncode == 5 and wanted in done.stderr, done.stderr
        assert made_in(out) == [made]


def test_every_rank_is_recorded(tmp_path):
    """torchrun, or what has its name: it starts its arguments in each rank."""
    pytest.importorskip("torch")
    launcher = write(tmp_path, "torchrun", """\
        #!%s
        import os, subprocess, sys
        assert sys.argv[1:3] == ["--nproc_per_node", "2"]
        ranks = [subprocess.Popen([sys.executable, *sys.argv[3:]], env=dict(os.environ, RANK=str(rank))) for rank in range(2)]
        sys.exit(max(rank.wait() for rank in ranks))
        """ % sys.executable)
    os.chmod(launcher, 0o755)
    write(tmp_path, "train.py", TRAIN % ("", "pass"))
    said = record(tmp_path, PROGRAM, "run", "--device", "none", "--out", "ranks", "--", "./torchrun", "--nproc_per_node", "2", "train.py")
    assert made_in(tmp_path / "ranks") == ["ascend_pt", "ascend_pt"]
    assert said.count("  open ranks/") == 1


def test_signals_are_those_of_the_script(tmp_path):
    pytest.importorskip("torch")
    write(tmp_path, "train.py", "import torch, os, signal\ntorch.ones(2)\nos.kill(os.getpid(), signal.SIGTERM)")
    done = subprocess.run([PROGRAM, "run", "--device", "none", "--", sys.executable, "train.py"], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == -15 and made_in(tmp_path) == ["ascend_pt"], done.stdout
    subprocess.run([PROGRAM, "analyse", tmp_path], check=True, stdout=subprocess.DEVNULL)
