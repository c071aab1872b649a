# SPDX-License-Identifier: Apache-2.0
"""What is watched of PyTorch's Python while a recording goes on, and is as it was before when it has ended."""
import glob
import json
import os
import types

import pytest

torch = pytest.importorskip("torch")

import ascope.torch_npu_compat  # noqa: F401  torch.npu, and its events
from ascope.torch import _graphs, profiler
from ascope.torch._hooks import EVENT_CALLS, Hooks


def trace(place):
    with open(glob.glob(os.path.join(place, "*_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"))[0], encoding="utf-8") as f:
        return json.load(f)


def test_calls_of_events_are_operators(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    monkeypatch.setattr(torch.cuda, "Event", torch.npu.Event)  # as transfer_to_npu makes it: each call is still one
    before = {name: vars(torch.npu.Event)[name] for name in EVENT_CALLS}
    begin, end = torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    begin.record()  # not recorded yet
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path))):
        begin.record()
        torch.ones(3) + 1
        end.record(torch.npu.current_stream())
        end.wait()
        end.synchronize()
        assert end.query() is True
        assert begin.elapsed_time(end) > 0 > end.elapsed_time(begin)
        with pytest.raises(RuntimeError, match="recorded first"):
            begin.elapsed_time(torch.npu.Event())
    assert {name: vars(torch.npu.Event)[name] for name in EVENT_CALLS} == before
    found = [e["name"] for e in trace(tmp_path) if e["ph"] == "X" and e["name"].startswith("Event::")]
    assert found == ["Event::" + name for name in
                     ("record", "record", "wait", "synchronize", "query", "elapsed_time", "elapsed_time", "elapsed_time")]


def test_what_was_there_is_there_again():
    class Base:
        def record(self):
            return 1

    class Derived(Base):
        def wait(self):
            return 2

    def other(self):
        return 3

    hooks, around = Hooks(), lambda function: lambda self: 10 * function(self)
    one = Derived()
    for name in ("record", "wait", "query"):
        hooks._replace(Derived, name, around)  # query is not there
    hooks._replace(None, "record", around)
    assert (one.record(), one.wait()) == (10, 20)
    hooks._replace(Base, "record", around)
    Base.record = other  # by somebody else, meanwhile
    hooks.off()
    assert "record" not in vars(Derived) and (one.record(), one.wait()) == (3, 2)
    hooks.off()


def test_groups_have_one_name_everywhere(monkeypatch):
    """As PyTorch 2 keeps them; test_distributed.py has those of the version that is installed."""
    from ascope.torch import _groups

    class Group:
        def __init__(self, text):
            self.group_desc = text

    whole, part, other, foreign = Group("default_pg"), Group("tp"), Group("undefined"), Group("dp")
    world = types.SimpleNamespace(pg_names={whole: "0", part: "1", other: "2", foreign: "3"},
                                  pg_group_ranks={whole: {0: 0, 1: 1, 2: 2}, part: {2: 0, 1: 1}, other: {1: 0}, foreign: {0: 0}})
    known = types.SimpleNamespace(_world=world, _get_default_group=lambda: whole, get_rank=lambda: 1)
    monkeypatch.setattr(_groups, "_in_use", lambda: known)
    assert [_groups.name_of(group) for group in (None, whole, part)] == ["default_group", "default_group", "group_name_1"]
    assert _groups.info() == {
        "default_group": {"group_name": "default_group", "group_rank": 1, "global_ranks": [0, 1, 2]},
        "group_name_1": {"group_name": "tp", "group_rank": 1, "global_ranks": [2, 1]},
        "group_name_2": {"group_name": "group_name_2", "group_rank": 0, "global_ranks": [1]},
    }
    both = _groups.info()
    _groups.end()
    del world.pg_group_ranks[part]
    assert _groups.info() == both
    _groups.begin()
    assert set(_groups.info()) == {"default_group", "group_name_2"}


def own_kb():
    with open("/proc/self/status", encoding="utf-8") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("RssAnon"))


def test_collectives_give_their_memory_back(tmp_path, monkeypatch):
    """They begin in one thread and end in another."""
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    x = torch.ones(4)
    torch.distributed.init_process_group("gloo", init_method="file://%s" % (tmp_path / "store"), rank=0, world_size=1)
    try:
        with profiler.profile(record_shapes=True, on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)):
            used = []
            for n in (500, 3000):
                for _ in range(n):
                    torch.distributed.all_reduce(x)
                used.append(own_kb())
    finally:
        torch.distributed.destroy_process_group()
    assert used[1] - used[0] < 3000  # one each: 5000


def calls():
    """Calls with the FLOPs that the mathematics says they take: 2 for each multiplication and addition of a product."""
    F, ones = torch.nn.functional, torch.ones
    yield "mm", 2 * 2 * 3 * 4, lambda: torch.mm(ones(2, 3), ones(3, 4))
    yield "bmm", 2 * 5 * 2 * 3 * 4, lambda: torch.bmm(ones(5, 2, 3), ones(5, 3, 4))
    yield "addmm", 2 * 2 * 3 * 4, lambda: torch.addmm(ones(4), ones(2, 3), ones(3, 4))
    yield "baddbmm", 2 * 5 * 2 * 3 * 4, lambda: torch.baddbmm(ones(1), ones(5, 2, 3), ones(5, 3, 4))
    yield "matmul", 2 * 6 * 7 * 2 * 3 * 4, lambda: ones(6, 1, 2, 3) @ ones(7, 3, 4)
    yield "matmul", 2 * 3, lambda: torch.matmul(ones(3), ones(3))
    yield "matmul", 2 * 2 * 3, lambda: ones(2, 3) @ ones(3)
    yield "linear", 2 * 5 * 6 * 3 * 4, lambda: F.linear(ones(5, 6, 3), ones(4, 3), ones(4))
    yield "mv", 2 * 2 * 3, lambda: torch.mv(ones(2, 3), ones(3))
    yield "conv1d", 2 * 2 * 8 * 6 * (4 * 3), lambda: F.conv1d(ones(2, 4, 8), ones(8, 4, 3))
    yield "conv2d", 2 * 2 * 8 * (4 * 5) * (2 * 3 * 3), lambda: F.conv2d(ones(2, 4, 8, 9), ones(8, 2, 3, 3), None, 2, 1, 1, 2)
    yield "conv2d", 2 * 8 * (4 * 5) * (4 * 9), lambda: F.conv2d(ones(4, 8, 9), ones(8, 4, 3, 3), None, 1, 0, 2)
    yield "conv2d", 2 * 1 * 8 * (8 * 9) * (4 * 9), lambda: F.conv2d(ones(1, 4, 8, 9), ones(8, 4, 3, 3), padding="same")
    yield "conv3d", 2 * 1 * 2 * 27 * (3 * 8), lambda: F.conv3d(ones(1, 3, 4, 4, 4), ones(2, 3, 2, 2, 2))
    yield "conv_transpose2d", 2 * 1 * 4 * 25 * (8 * 9), lambda: F.conv_transpose2d(ones(1, 4, 5, 5), ones(4, 8, 3, 3), None, 2)


def test_flops_are_what_the_mathematics_says(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    config = profiler._ExperimentalConfig(mstx=True)
    x, weight = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4, requires_grad=True)
    image, kernel = torch.ones(1, 2, 6, 6), torch.ones(3, 2, 3, 3, requires_grad=True)
    with profiler.profile(with_flops=True, on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path)),
                          experimental_config=config):
        for _, _, call in calls():
            call()
        torch.mm(x, weight).sum().backward()
        torch.nn.functional.conv2d(image, kernel).sum().backward()
        torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 4))  # one of its own that it calls
        with pytest.raises(RuntimeError):
            torch.mm(torch.ones(2, 3), torch.ones(5, 4))
        torch.ones(3) * 2 + 1  # not counted
    found = [e["name"] for e in trace(tmp_path) if e["ph"] == "X" and e.get("args", {}).get("domain") == "mfu_flops"]
    wanted = ["%d-%s" % (flops, name) for name, flops, _ in calls()]
    assert found[:len(wanted)] == wanted
    conv = 2 * 3 * 16 * (2 * 9)
    assert found[len(wanted):] == ["48-mm", "48-mm", "48-mm", "%d-conv2d" % conv, "%d-convolution_backward" % conv, "48-bmm", "48-mm"]


def test_flops_are_those_of_torch_profiler():
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_flops=True) as prof:
        for _, _, call in calls():
            call()
    ours = {(name, flops) for name, flops, _ in calls()}
    theirs = {(event.name.replace("aten::", ""), event.flops) for event in prof.events() if event.flops and event.cpu_parent is None}
    assert theirs <= ours  # it counts fewer functions, and not every call of them
    assert {name for name, _ in theirs} >= {"mm", "bmm", "addmm", "baddbmm", "conv2d"}


def test_flops_need_marks(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    with profiler.profile(with_flops=True, on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path))):
        torch.mm(torch.ones(2, 3), torch.ones(3, 4))
    assert not [e for e in trace(tmp_path) if e.get("args", {}).get("domain")]


# Captures of CUDA graphs, without a GPU: what the front end asks, replaces and puts back while one goes on.


class Graph:
    """In the place of torch.cuda.CUDAGraph."""

    is_refused = False

    def capture_begin(self):
        if self.is_refused:
            raise RuntimeError("no capture")

    def capture_end(self):
        pass


@pytest.fixture
def asked(monkeypatch):
    """What _where() was asked and has answered, and the calls that begin and end watching."""
    found = types.SimpleNamespace(places=[], watches=[], graph=type("Graph", (Graph,), {}))
    where = _graphs._where

    def noted(name):
        found.places.append(where(name).split(_graphs.SEPARATOR))
        return _graphs.SEPARATOR.join(found.places[-1])

    monkeypatch.setattr(_graphs, "_where", noted)
    monkeypatch.setattr(_graphs, "_core", types.SimpleNamespace(graph_watch=lambda on: found.watches.append(on) or True))
    _graphs.watch(types.SimpleNamespace(CUDAGraph=found.graph))
    return found


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4)])

    def forward(self, x):
        return self.layers[0](x) + 1


def test_operators_are_asked_for_their_place_in_a_capture_alone(asked):
    model, graph = Model(), asked.graph()
    model(torch.zeros(2, 4))
    assert asked.places == []
    graph.capture_begin()
    model(torch.zeros(2, 4))
    graph.capture_end()
    in_capture = list(asked.places)
    model(torch.zeros(2, 4))
    assert asked.places == in_capture and asked.watches == [True, False]
    place = {name: modules for name, modules, *_ in in_capture}
    assert (place["aten::addmm"], place["aten::add"], place["aten::zeros"]) == ("Model.layers.0", "Model", "")
    stack = next(row[2] for row in in_capture if row[0] == "aten::addmm")
    assert ": forward;" in stack and "ascope/torch" not in stack


def test_a_capture_that_does_not_begin_leaves_nothing(asked):
    graph = asked.graph()
    graph.is_refused = True
    with pytest.raises(RuntimeError):
        graph.capture_begin()
    torch.zeros(1)
    assert (asked.places, asked.watches, _graphs._open) == ([], [True, False], {})
    assert torch.autograd.profiler._is_profiler_enabled is False if hasattr(torch.autograd.profiler, "_is_profiler_enabled") else True


def test_launches_of_inductor_have_their_inputs_and_other_ranges_are_left_alone(asked):
    graph, passed = asked.graph(), []

    class Range:
        def __init__(self, *args, **kwargs):
            passed.append((args, kwargs))

        def __enter__(self):
            pass

        def __exit__(self, *raised):
            pass

    ranges = _graphs._launches(Range)
    graph.capture_begin()
    for launch in (ranges("triton_poi_a", (torch.zeros(2, 3), 7)), ranges("triton_poi_b", input_values=5), ranges("Call", keyword_values={})):
        with launch:
            pass
    graph.capture_end()
    assert passed == [(("Call",), {"keyword_values": {}})]
    rows = {row[0]: row[3:] for row in asked.places}
    assert (rows["triton_poi_a"], rows["triton_poi_b"]) == (["float", "2,3"], ["", ""])
