"""What is watched of PyTorch's Python while a recording goes on, and is as it was before when it has ended."""
import glob
import json
import os
import types

import pytest

torch = pytest.importorskip("torch")

import ascope.torch_npu_compat  # noqa: F401  torch.npu, and its events
from ascope.torch import profiler
from ascope.torch._hooks import EVENT_CALLS, Hooks


def trace(place):
    with open(glob.glob(os.path.join(place, "*_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"))[0], encoding="utf-8") as f:
        return json.load(f)


def test_calls_of_events_are_operators(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
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

    whole, part, other = Group("default_pg"), Group("tp"), Group("undefined")
    world = types.SimpleNamespace(pg_map={whole: None, part: None, other: None}, pg_names={whole: "0", part: "1", other: "2"},
                                  pg_group_ranks={whole: {0: 0, 1: 1, 2: 2}, part: {2: 0, 1: 1}, other: {1: 0}})
    known = types.SimpleNamespace(_world=world, _get_default_group=lambda: whole, get_rank=lambda: 1)
    monkeypatch.setattr(_groups, "_in_use", lambda: known)
    assert [_groups.name_of(group) for group in (None, whole, part)] == ["default_group", "default_group", "group_name_1"]
    assert _groups.info() == {
        "default_group": {"group_name": "default_group", "group_rank": 1, "global_ranks": [0, 1, 2]},
        "group_name_1": {"group_name": "tp", "group_rank": 1, "global_ranks": [2, 1]},
        "group_name_2": {"group_name": "group_name_2", "group_rank": 0, "global_ranks": [1]},
    }
