# SPDX-License-Identifier: Apache-2.0
"""Python calls, modules and garbage: what a program is known to call is what is recorded of it, and nothing stays behind."""
import collections
import ctypes
import gc
import json
import os
import struct
import subprocess
import sys
import textwrap
import threading
import weakref

import pytest

from ascope import _core

EXIT = "__torch_npu_profiler_python_tracer_exit"
CATEGORIES = ("PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL", "UNKNOWN")
Call = collections.namedtuple("Call", "name depth begin end is_c thread")


@pytest.fixture(autouse=True)
def no_finalizers():
    """They would be called somewhere in between."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def records(path, name):
    file = os.path.join(path, "FRAMEWORK", "torch." + name)
    data = open(file, "rb").read() if os.path.exists(file) else b""
    at = 0
    while at + 6 <= len(data):
        (length,) = struct.unpack_from("<I", data, at + 2)
        yield data[at + 6:at + 6 + length]
        at += 6 + length


def events(path):
    """(time, thread, process, key, tag), in the order of each thread."""
    file = os.path.join(path, "FRAMEWORK", "torch.python_tracer_func")
    data = open(file, "rb").read() if os.path.exists(file) else b""
    assert len(data) % 33 == 0
    return sorted(struct.iter_unpack("<QQQQB", data), key=lambda event: (event[1], event[0]))


def names(path):
    found = {}
    for record in records(path, "python_tracer_hash"):
        (key,) = struct.unpack_from("<Q", record)
        assert key not in found
        found[key] = record[14:].decode()
    return found


def calls(path):
    """All calls, replayed thread by thread as a reader does; every return has its call."""
    name, found, stacks = names(path), [], collections.defaultdict(list)
    for time, thread, process, key, tag in events(path):
        stack = stacks[thread]
        if tag in (0, 2):
            stack.append(len(found))
            found.append(Call(name[key], len(stack) - 1, time, None, tag == 2, thread))
        else:
            assert name[key] == EXIT
            at = stack.pop()
            assert found[at].is_c == (tag == 3)
            found[at] = found[at]._replace(end=time)
    return found


def tree(path, under):
    """Names with their depths of what was called inside of the first call of that function."""
    found = calls(path)
    first = next(i for i, call in enumerate(found) if call.name.endswith(": " + under))
    inside = []
    for call in found[first + 1:]:
        if call.thread != found[first].thread or call.depth <= found[first].depth:
            break
        inside.append((call.depth - found[first].depth - 1, call.name.rpartition(": ")[2]))
    return inside


class Recorded:
    """with Recorded(tmp_path) as r: ...; r.path"""

    def __init__(self, parent, **options):
        self.session = _core.Session({"parent_dir": str(parent), "activities": "CPU", "device": "none", "with_stack": True,
                                      **options})
        self.path = self.session.path

    def __enter__(self):
        self.session.start()
        return self

    def __exit__(self, *unused):
        self.session.stop()
        self.session.end()


def leaf(x):
    return len(x)


def numbers():
    yield 1
    yield leaf("two")


def fails():
    leaf("before")
    raise ValueError("on purpose")


def everything():
    leaf("a")
    for _ in numbers():
        pass
    try:
        fails()
    except ValueError:
        pass
    try:
        int("no number")
    except ValueError:
        pass
    [].append(1)


LEAF = [(0, "leaf"), (1, "<built-in function len>")]
EVERYTHING = LEAF + [(0, "numbers"), (0, "numbers"), (1, "leaf"), (2, "<built-in function len>"), (0, "numbers"), (0, "fails"),
                     (1, "leaf"), (2, "<built-in function len>"), (0, "<built-in method append of list object>")]


def test_calls_nest_as_they_were_made(tmp_path):
    with Recorded(tmp_path) as r:
        everything()
    assert tree(r.path, "everything") == EVERYTHING
    found = calls(r.path)
    assert all(call.end is None or call.begin <= call.end for call in found)
    assert {call.thread for call in found} == {os.getpid()}
    line = everything.__code__.co_firstlineno
    assert any(call.name == "test_tracer.py(%d): everything" % line for call in found), "without the directory of modules"


class Stack(list):
    pass


def of_a_class_of_its_own_first():
    Stack().extend(())
    [].extend(())
    dict.fromkeys(())


def test_built_in_methods_have_the_name_of_the_type_that_defines_them(tmp_path):
    with Recorded(tmp_path) as r:
        of_a_class_of_its_own_first()
    assert [name for _, name in tree(r.path, "of_a_class_of_its_own_first")] == [
        "<built-in method extend of list object>"] * 2 + ["<built-in method fromkeys of type object>"]


def test_what_was_open_is_a_call_from_the_beginning(tmp_path):
    with Recorded(tmp_path) as r:
        leaf("a")
    found = calls(r.path)
    outer = [call for call in found if call.name.endswith(": test_what_was_open_is_a_call_from_the_beginning")]
    assert len(outer) == 1 and outer[0].depth > 0 and outer[0].begin == found[0].begin
    assert [call.depth for call in found if call.begin == outer[0].begin][:outer[0].depth + 1] == list(range(outer[0].depth + 1))


def test_analysis_reads_it(tmp_path):
    with Recorded(tmp_path, export_type="text") as r:
        everything()
    out = str(tmp_path / "trace.json")
    subprocess.run([os.environ["ASCOPE_PROGRAM"], "export-trace", r.path, out, "--quiet"], check=True)
    frames = [event for event in json.load(open(out)) if event.get("cat") == "python_function"]
    of = {event["args"]["Python id"]: event for event in frames}
    inner = sorted((event for event in frames if event["name"].endswith(": leaf")), key=lambda event: event["ts"])
    assert len(inner) == 3
    parents = [of[event["args"]["Python parent id"]]["name"].rpartition(": ")[2] for event in inner]
    assert parents == ["everything", "numbers", "fails"]


def test_threads_of_before_and_of_now(tmp_path):
    go, done = threading.Event(), threading.Event()

    def waits():
        go.wait()
        everything()
        done.set()
        go.clear()

    def runs():
        everything()

    before = threading.Thread(target=waits)
    before.start()
    with Recorded(tmp_path) as r:
        now = threading.Thread(target=runs)
        now.start()
        now.join()
        go.set()
        done.wait()
        before.join()
    assert tree(r.path, "runs")[1:] == [(depth + 1, name) for depth, name in EVERYTHING]
    rows = tree(r.path, "waits")
    at = rows.index((0, "everything"))
    assert rows[at + 1:at + 1 + len(EVERYTHING)] == [(depth + 1, name) for depth, name in EVERYTHING]
    assert len({call.thread for call in calls(r.path)}) == 3
    assert threading.getprofile() is None


def test_nothing_stays_behind(tmp_path):
    callbacks = list(gc.callbacks)
    for _ in range(3):
        with Recorded(tmp_path, gc_detect_threshold=0) as r:
            assert sys.getprofile() is not None and threading.getprofile() is not None
            assert len(gc.callbacks) == len(callbacks) + 1
            leaf("a")
        assert sys.getprofile() is None and threading.getprofile() is None and gc.callbacks == callbacks
        assert tree(r.path, "leaf") == [(0, "<built-in function len>")]


def test_without_stack_and_modules_nobody_traces(tmp_path):
    with Recorded(tmp_path, with_stack=False) as r:
        assert sys.getprofile() is None
        leaf("a")
    assert not events(r.path)


def test_another_profiler_is_left_alone(tmp_path):
    messages, seen = [], []
    _core.on_message(lambda severity, text: messages.append(text))
    other = lambda frame, event, arg: seen.append(event)
    sys.setprofile(other)
    try:
        with Recorded(tmp_path) as r:
            assert sys.getprofile() is other
            leaf("a")
        assert sys.getprofile() is other
    finally:
        sys.setprofile(None)
        _core.on_message(None)
    assert any("another profiler" in text for text in messages) and "call" in seen
    assert not any(call.name.endswith(": leaf") for call in calls(r.path))


def test_taken_away_and_put_back(tmp_path):
    def puts_back(was):
        sys.setprofile(was)
        leaf("b")

    def in_between():
        was = sys.getprofile()
        sys.setprofile(None)
        leaf("a")
        return was

    with Recorded(tmp_path) as r:
        puts_back(in_between())
        everything()
    assert tree(r.path, "everything") == EVERYTHING
    assert sum(call.name.endswith(": leaf") for call in calls(r.path)) == 1 + 3


def test_code_made_while_it_runs(tmp_path):
    with Recorded(tmp_path) as r:
        for i in range(300):
            scope = {}
            exec(compile("def made():\n    return %d\nmade()" % i, "made;%d.py" % i, "exec"), scope)
    found = [call.name for call in calls(r.path) if call.name.endswith(": made")]
    assert found == ["made?%d.py(1): made" % i for i in range(300)]


def test_deep_recursion(tmp_path):
    def deep(n):
        return deep(n - 1) if n else 0

    with Recorded(tmp_path) as r:
        deep(600)
    assert len(tree(r.path, "deep")) == 600


def test_objects_end_when_they_would(tmp_path):
    class Longer(list):
        def __call__(self):
            return len(self)

    with Recorded(tmp_path):
        one = Longer()
        one.append(1)
        one()
        gone = weakref.ref(one)
        del one
        is_gone = gone() is None
    assert is_gone


def frames():
    """Innermost first, read as an operator does: without the interpreter's lock."""
    read = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)(_core.stack_source()[0])
    room = ctypes.create_string_buffer(16384)
    n = read(room, 16384)
    return room.raw[:n].decode().split(";")


def test_stacks_for_operators(tmp_path):
    """The innermost frames are there however deep it is."""
    def deep(n):
        return deep(n - 1) if n else (frames(), frames())

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(8000)
    try:
        assert frames() == [""]
        with Recorded(tmp_path):
            shallow, here = frames(), sys._getframe().f_lineno
            for n in (5, 3000, 2, 3001, 1500):
                first, second = deep(n)
                assert first[0].endswith("): frames") and first[1].endswith("): deep") and first[1:] == second[1:]
                assert len(first) == n + 1 + len(shallow) if n < 10 else len(first) > 100
            after = frames()
        assert frames() == [""]
    finally:
        sys.setrecursionlimit(limit)
    assert shallow[1] == "%s(%d): test_stacks_for_operators" % (__file__, here)
    assert after[2:] == shallow[2:] and after[1] != shallow[1] and len(after) > 10


def test_a_thread_without_python_has_no_calls(tmp_path):
    """Not even if it has the number (pthread_t) of a Python thread that was traced and has ended."""
    library, go, number = ctypes.CDLL(None), threading.Event(), ctypes.c_ulong()
    ended = threading.Thread(target=go.wait)
    ended.start()
    with Recorded(tmp_path) as r:
        go.set()
        ended.join()
        stack_frame = ctypes.c_void_p(_core.stack_source()[2])
        assert library.pthread_create(ctypes.byref(number), None, stack_frame, None) == 0
        assert library.pthread_join(number, None) == 0
    if number.value != ended.ident:
        pytest.skip("this C library gives another number to the next thread")
    assert {thread for _, thread, _, _, _ in events(r.path)} == {threading.get_native_id(), ended.native_id}


def test_long_names_are_cut_between_characters(tmp_path):
    """A name longer than what is kept (2000 bytes) stays UTF-8."""
    scope, prefixes = {}, ("", "f", "ff")
    for prefix in prefixes:
        exec("def %s(): return frames()" % (prefix + "\u6f22" * 900), {"frames": frames}, scope)
    with Recorded(tmp_path) as r:
        found = [function() for function in scope.values()]  # frames() decodes: bytes that are no UTF-8 raise
    assert [stack[1].rpartition(": ")[2] for stack in found] == [
        prefix + "\u6f22" * ((1999 - len(prefix)) // 3) for prefix in prefixes]
    assert sum(name.count("\u6f22") > 600 for name in names(r.path).values()) == len(prefixes)


def test_stacks_of_threads_that_follow_each_other(tmp_path):
    """The memory of a thread that ended is given to the next one; the interpreter's state of it is somebody else's by then."""
    found, ready, go = [], threading.Event(), threading.Event()

    def asks():
        found.append(frames())

    def has_another_profiler():
        sys.setprofile(lambda *_: None)
        ready.set()
        go.wait()

    for _ in range(2):
        with Recorded(tmp_path):
            thread = threading.Thread(target=asks)
            thread.start()
            thread.join()
        if not ready.is_set():
            other = threading.Thread(target=has_another_profiler)
            other.start()
            ready.wait()
    go.set()
    other.join()
    assert [stack[1].rpartition(": ")[2] for stack in found] == ["asks", "asks"]


@pytest.mark.parametrize("threshold, is_kept", [(0, True), (100000, False)])
def test_garbage(tmp_path, threshold, is_kept):
    with Recorded(tmp_path, gc_detect_threshold=threshold, with_stack=False) as r:
        before = _core.now()
        gc.collect()
        after = _core.now()
    file = os.path.join(r.path, "FRAMEWORK", "torch.gc_record")
    data = open(file, "rb").read() if os.path.exists(file) else b""
    found = list(struct.iter_unpack("<QQQ", data))
    assert bool(found) == is_kept
    assert all(process == os.getpid() and begin < end for process, begin, end in found)
    assert any(before <= begin and end <= after for _, begin, end in found) == is_kept


def test_interpreter_ends_while_it_traces(script, tmp_path):
    done = script("""
        import threading, time
        from ascope import _core
        runs = threading.Semaphore(0)
        def spins():
            while True:
                len([time.sleep(0)])
                runs.release()
        s = _core.Session({"parent_dir": ".", "activities": "CPU", "device": "none", "with_stack": True, "gc_detect_threshold": 0})
        s.start()
        for _ in range(3):
            threading.Thread(target=spins, daemon=True).start()
        for _ in range(100):
            runs.acquire()
        print(s.path)
        """)
    assert done.stderr == ""
    assert any(call.name.endswith(": spins") for call in calls(done.stdout.strip()))


def test_fork(script):
    done = script("""
        import gc, os, sys, threading
        from ascope import _core
        def in_child():
            return len("child")
        options = {"parent_dir": ".", "activities": "CPU", "device": "none", "with_stack": True, "gc_detect_threshold": 0}
        n_callbacks = len(gc.callbacks)
        ready = threading.Event()
        threading.Thread(target=ready.wait, daemon=True).start()
        s = _core.Session(options)
        s.start()
        child = os.fork()
        if child == 0:
            in_child()
            assert sys.getprofile() is None and threading.getprofile() is None and len(gc.callbacks) == n_callbacks
            own = _core.Session(options)
            own.start()
            in_child()
            own.stop()
            own.end()
            print(own.path, flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert sys.getprofile() is not None
        s.stop()
        s.end()
        print(s.path)
        """)
    child, parent = done.stdout.split()
    assert sum(call.name.endswith(": in_child") for call in calls(child)) == 1
    assert not any(call.name.endswith(": in_child") for call in calls(parent))


# ---- with PyTorch ----

TRAINING = """
    import sys
    import threading
    import torch
    from ascope.torch import profiler

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(64, 64)
        def forward(self, x):
            return torch.relu(self.linear(x))

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Block(), Block()
        def forward(self, x):
            return self.second(self.first(x))

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss = net(x).sum()
        loss.backward()
        optimizer.step()

    torch.manual_seed(1)
    net, x = Net(), torch.randn(16, 64)
    optimizer = torch.optim.Adam(net.parameters())
    step()
    CPU, NPU = profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.NPU
    with profiler.profile(activities=[CPU, NPU] if "sim" in sys.argv else [CPU], record_shapes=True, profile_memory=True,
                          with_stack="stack" in sys.argv, with_modules="modules" in sys.argv,
                          on_trace_ready=profiler.tensorboard_trace_handler(".", analyse_flag=False)) as prof:
        for _ in range(2):
            step()
            prof.step()
    prof.export_stacks("stacks.log")
    prof.export_memory_timeline("memory.raw.json")
    print("\\n" + prof._path)
    """


@pytest.fixture
def trained(script):
    pytest.importorskip("torch")

    def run(*words, code=TRAINING):
        return script(code, *words, env={"ASCOPE_DEVICE": "sim"}).stdout.split("\n")[-2]

    return run


def operators(path):
    """(name, stack, modules)"""
    for record in records(path, "op_range"):
        texts, at = {}, 58
        while at + 6 <= len(record):
            kind, length = struct.unpack_from("<HI", record, at)
            texts[kind] = record[at + 6:at + 6 + length].decode()
            at += 6 + length
        yield texts.get(2), texts.get(8, ""), texts.get(9, "")


def test_modules_and_stacks(trained):
    path = trained("stack", "modules")
    modules = [call for call in calls(path) if "######" in call.name]
    short = [(call.depth, call.name.partition("######")[0]) for call in modules]
    top = short[0][0]
    assert [name for _, name in short] == ["Net", "Block", "Linear", "Block", "Linear"] * 2
    module = sys.modules["torch"].nn.Module
    between = 2 if module.__call__ is module._call_impl else 3  # PyTorch 2 has a function more before forward()
    assert [depth - top for depth, _ in short] == [0, between, 2 * between, between, 2 * between] * 2
    assert len({call.name for call in modules}) == 5
    found = list(operators(path))
    linear = [(stack.split(";"), names) for name, stack, names in found if name == "aten::linear"]
    assert [names for _, names in linear] == ["Linear_0;Block_0;Net_0", "Linear_1;Block_1;Net_0"] * 2
    for stack, _ in linear:
        functions = [frame.rpartition("): ")[2] for frame in stack]
        assert functions[0] == "forward" and functions[-2:] == ["step", "<module>"]
        assert functions.count("forward") == 3
    relu = {stack.split(";")[0] for name, stack, _ in found if name == "aten::relu"}
    zero = {stack.split(";")[-2] for name, stack, _ in found if name.startswith("Optimizer.zero_grad")}
    grown = {stack.split(";")[-2] for name, stack, _ in found if name.startswith("Optimizer.step")}
    assert len(relu) == 1 and len(zero) == 1 and len(grown) == 1 and zero != grown, "lines are those of the calls"


def test_stacks_are_those_that_python_has(trained):
    """Functions that C functions call, generators, and one line after another of the same function."""
    path = trained(code="""
        import json, os, torch, traceback
        from ascope.torch import profiler
        expected = []
        def note():
            stack = traceback.extract_stack()[:-1]
            expected.append(";".join("%s(%d): %s" % (f.filename, f.lineno, f.name) for f in reversed(stack)))
        def key(i):
            note(); torch.neg(x); note(); torch.neg(x)
            note(); torch.neg(x)
            return i
        def numbers():
            for i in range(2):
                note(); torch.neg(x)
                yield i
        def everything():
            list(map(key, [1, 2]))
            sorted([2, 1], key=key)
            for _ in numbers():
                note(); torch.neg(x)
            note(); torch.neg(x)
        x = torch.ones(2)
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], with_stack=True,
                              on_trace_ready=profiler.tensorboard_trace_handler(".", analyse_flag=False)) as prof:
            for _ in range(3):
                everything()
        with open(os.path.join(prof._path, "expected.json"), "w") as f:
            json.dump(expected, f)
        print("\\n" + prof._path)
        """)
    with open(os.path.join(path, "expected.json"), encoding="utf-8") as f:
        assert [stack for name, stack, _ in operators(path) if name == "aten::neg"] == json.load(f)


def test_stack_without_modules_and_the_other_way(trained):
    stacks = list(operators(trained("stack")))
    assert any(stack for _, stack, _ in stacks) and not any(modules for _, _, modules in stacks)
    modules = list(operators(trained("modules")))
    assert any(names for _, _, names in modules) and not any(stack for _, stack, _ in modules)


def test_parameters(trained):
    path = trained("stack")
    name = names(path)
    found = {}
    for record in records(path, "param_tensor_info"):
        key, kind, length = struct.unpack_from("<QHI", record)
        assert length == len(record) - 14
        found[name[key], kind] = record[14:].decode().split("}")
    modules = {who.partition("######")[0]: parts for (who, kind), parts in found.items() if kind == 1}
    assert set(modules) == {"Linear"}
    weight, bias = (part.split(")") for part in modules["Linear"])
    assert weight[0] == "weight" and weight[1].split(";")[2:] == ["float", "4", "64,64", "64,1", "0", "-1"]
    assert bias[0] == "bias" and bias[1].split(";")[4:6] == ["64", "1"]
    (optimizer,) = [parts for (_, kind), parts in found.items() if kind == 2]
    assert len(optimizer) == 4
    for part in optimizer:
        tensor, gradient, states = part.split(")")
        assert len(tensor.split(";")) == len(gradient.split(";")) == 8
        kept = [state.partition(">") for state in states.split("]")[:-1]]
        assert {"exp_avg", "exp_avg_sq"} <= {state[0] for state in kept}
        assert all(len(state[2].split(";")) == 8 for state in kept)


@pytest.mark.parametrize("device", ["cpu", "sim"])
def test_exports_of_a_training(trained, tmp_path, device):
    trained("stack", "modules", *(["sim"] if device == "sim" else []))
    stacks = (tmp_path / "stacks.log").read_text().splitlines()
    forward = [line for line in stacks if "): step;" in line and "torch/nn/modules/linear.py" in line]
    assert any(line.rpartition(" ")[0].endswith("): forward") for line in forward), "outermost first"
    assert all(line.rpartition(" ")[2].isdigit() for line in stacks)
    assert ("the device is simulated" in (tmp_path / "stacks.svg").read_text()) == (device == "sim")
    timeline = json.loads((tmp_path / "memory.raw.json").read_text())
    there = collections.Counter((CATEGORIES[category], size) for _, action, size, category in timeline if action == 0)
    weight = 64 * 64 * 4
    assert (there["PARAMETER", weight], there["GRADIENT", weight], there["OPTIMIZER_STATE", weight]) == (2, 2, 4)
    assert {"INPUT", "ACTIVATION", "AUTOGRAD_DETAIL"} <= {CATEGORIES[category] for _, _, _, category in timeline}


def test_many_parameters_are_all_recorded(trained):
    path = trained("stack", code="""
        import torch
        from ascope.torch import profiler
        parameters = [torch.nn.Parameter(torch.zeros(2, 3)) for _ in range(900)]
        optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
        for one in parameters:
            one.grad = torch.ones(2, 3)
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True,
                              on_trace_ready=profiler.tensorboard_trace_handler(".", analyse_flag=False)) as prof:
            optimizer.step()
        print(prof._path)
        """)
    texts = [(struct.unpack_from("<Q", record)[0], record[14:].decode()) for record in records(path, "param_tensor_info")]
    assert len(texts) > 1 and len({key for key, _ in texts}) == len(texts)
    assert sum(len(text.split("}")) for _, text in texts) == 900
    assert {key for key, _ in texts} <= {event[3] for event in events(path)}
    calls(path)


def test_a_thread_that_switches_itself_on(trained):
    path = trained(code=TRAINING.split("optimizer = ")[0] + """
    def other():
        profiler.profile.enable_profiler_in_child_thread(with_stack=True, with_modules=True)
        for _ in range(3):
            net(x)
        profiler.profile.disable_profiler_in_child_thread()

    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], with_stack=True, with_modules=True,
                          on_trace_ready=profiler.tensorboard_trace_handler(".", analyse_flag=False)) as prof:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    print("\\n" + prof._path)
    """)
    linear = [(stack, names) for name, stack, names in operators(path) if name == "aten::linear"]
    assert [names for _, names in linear] == ["Linear_0;Block_0;Net_0", "Linear_1;Block_1;Net_0"] * 3
    assert all(": other;" in stack and stack.endswith("): _bootstrap") for stack, _ in linear)


def test_what_tensors_raise_and_what_users_raise(trained):
    path = trained(code="""
    import torch
    from ascope.torch import profiler

    class Parameters(dict):
        def items(self):
            raise self.what

    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    def module(what):
        made = torch.nn.ReLU()
        made._parameters = Parameters(one=torch.zeros(1))
        made._parameters.what = what
        return made

    asked, seen = [], []
    mine = torch.nn.ReLU()
    mine._parameters["one"] = torch.zeros(3).as_subclass(Mine)
    odd = [module(ValueError("odd")), module(KeyboardInterrupt()), module(ValueError("odd"))]
    asked.clear()
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True,
                          on_trace_ready=profiler.tensorboard_trace_handler(".", analyse_flag=False)) as prof:
        odd[0](torch.zeros(1))
        mine(torch.zeros(1))
        try:
            odd[1](torch.zeros(1))
        except KeyboardInterrupt:
            seen.append("interrupted")
        odd[2](torch.zeros(1))
    assert seen == ["interrupted"] and not asked, (seen, asked)
    print("\\n" + prof._path)
    """)
    assert sum("ReLU######" in call.name for call in calls(path)) == 4
    assert sum(name == "aten::relu" for name, _, _ in operators(path)) == 3
    (record,) = records(path, "param_tensor_info")
    assert record[14:].decode().startswith("one)0x")


RUN_FROM_OUTSIDE = """
    import torch

    def step():
        optimizer.zero_grad()
        torch.nn.functional.relu(net(torch.ones(2, 4))).sum().backward()
        optimizer.step()

    net = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        step()
    """


@pytest.mark.parametrize("how", (["train.py"], ["-m", "train"]))
def test_stacks_of_a_script_that_is_run_begin_with_the_script(tmp_path, how):
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(textwrap.dedent(RUN_FROM_OUTSIDE))
    subprocess.run([sys.executable, "-m", "ascope", "run", "--profile", "--device", "none", "--with-stack", "--no-analyse", *how],
                   cwd=tmp_path, check=True, stdout=subprocess.DEVNULL, timeout=120)
    (path,) = (tmp_path / "result").iterdir()
    stacks = [stack.split(";") for _, stack, _ in operators(str(path)) if stack]
    assert {stack[-1].rpartition("/")[2].partition("(")[0] for stack in stacks} == {"train.py"}
    functions = [[frame.rpartition("): ")[2] for frame in stack] for stack in stacks]
    assert ["relu", "step", "<module>"] in functions
    found = calls(str(path))
    assert [call.depth for call in found if call.name.endswith(": <module>") and call.name.startswith("train.py")] == [0]
    assert not [call.name for call in found if "runpy" in call.name or "_run.py" in call.name or "ascope/torch/" in call.name]
