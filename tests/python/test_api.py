# SPDX-License-Identifier: Apache-2.0
"""What a user may pass, and what becomes of it: warnings and fallbacks, and never an exception."""
import csv
import glob
import inspect
import itertools
import json
import os
import pathlib
import types

import pytest

from ascope.torch import profiler
from ascope.torch.profiler import AiCMetrics, ProfilerAction, ProfilerActivity, ProfilerLevel, _ExperimentalConfig


@pytest.fixture
def warned(capsys):
    """Whether a warning with that word was printed since the last call."""

    def ask(word):
        out = capsys.readouterr().out
        return any("[WARNING]" in line and word in line for line in out.splitlines())

    return ask


def record(handler, **parameters):
    """One step, with nothing in it."""
    with profiler.profile(schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=1), on_trace_ready=handler, **parameters) as prof:
        prof.step()
        prof.step()
    return prof


def test_names_are_those_of_torch_npu():
    assert profiler.supported_activities() == {ProfilerActivity.CPU, ProfilerActivity.NPU}
    assert str(ProfilerActivity.NPU) == "ProfilerActivity.NPU"
    assert profiler.supported_profiler_level() == {"Level0", "Level1", "Level2", "Level_none"}
    assert len(profiler.supported_ai_core_metrics()) == 9
    assert profiler.supported_export_type() == {"text", "db"}
    assert [a.name for a in ProfilerAction] == ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]


SWITCHES = "record_shapes=False, profile_memory=False, with_stack=False, with_flops=False, with_modules=False"
SIGNATURES = {  # as the documents have them
    "_ExperimentalConfig": "profiler_level='Level0', aic_metrics=None, l2_cache=False, msprof_tx=False, mstx=False, "
                           "data_simplification=True, record_op_args=False, op_attr=False, gc_detect_threshold=None, "
                           "export_type='text', host_sys=None, mstx_domain_include=None, mstx_domain_exclude=None, "
                           "sys_io=False, sys_interconnection=False",
    "schedule": "wait, active, warmup=0, repeat=0, skip_first=0, skip_first_wait=0",
    "profile": "*, activities=None, schedule=None, on_trace_ready=None, " + SWITCHES + ", experimental_config=None, "
               "execution_trace_observer=None, custom_trace_id_callback=None, use_cuda=None",
    "_KinetoProfile": "*, activities=None, " + SWITCHES + ", experimental_config=None, custom_trace_id_callback=None",
    "tensorboard_trace_handler": "dir_name=None, worker_name=None, analyse_flag=True, async_mode=False",
    "analyse": "profiler_path, max_process_number=None, export_type=None",
    "supported_activities": "", "supported_profiler_level": "", "supported_ai_core_metrics": "", "supported_export_type": "",
    "profile.enable_profiler_in_child_thread": SWITCHES,
    "profile.disable_profiler_in_child_thread": "",
    "profile.start": "self", "profile.step": "self", "profile.stop": "self",
    "profile.export_chrome_trace": "self, output_path",
    "profile.export_stacks": "self, output_path, metric='self_cpu_time_total'",
    "profile.export_memory_timeline": "self, output_path, device=None",
    "profile.add_metadata": "self, key, value", "profile.add_metadata_json": "self, key, value",
    "profile.set_custom_trace_id_callback": "self, callback", "profile.get_trace_id": "self",
    "mstx.mark": "message, stream=None, domain='default'", "mstx.range_start": "message, stream=None, domain='default'",
    "mstx.range_end": "range_id, domain='default'", "mstx.range_push": "message, stream=None, domain='default'",
    "mstx.range_pop": "domain='default'", "mstx.mstx_range": "message, stream=None, domain='default'",
    "mstx.annotate": "message='', stream=None, domain='default'",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name):
    from ascope.torch import mstx
    found = mstx if name.startswith("mstx.") else profiler
    for part in name.replace("mstx.", "", 1).split("."):
        found = getattr(found, part)
    assert found.__doc__, name + " is not explained"
    signature = inspect.signature(found)
    bare = signature.replace(return_annotation=signature.empty,
                             parameters=[one.replace(annotation=one.empty) for one in signature.parameters.values()])
    assert str(bare) == "(%s)" % SIGNATURES[name]
    assert all(one.annotation is not one.empty for one in signature.parameters.values() if one.name != "self")


def test_values_are_those_of_torch_npu():
    assert [(one.name, one.value) for one in ProfilerActivity] == [("CPU", 1), ("NPU", 2)]
    assert [one.value for one in ProfilerAction] == [0, 1, 2, 3]
    named = {name: value for name, value in vars(AiCMetrics).items() if not name.startswith("_")}
    assert named == {
        "PipeUtilization": "ACL_AICORE_PIPE_UTILIZATION", "ArithmeticUtilization": "ACL_AICORE_ARITHMETIC_UTILIZATION",
        "Memory": "ACL_AICORE_MEMORY_BANDWIDTH", "MemoryL0": "ACL_AICORE_L0B_AND_WIDTH", "MemoryUB": "ACL_AICORE_MEMORY_UB",
        "ResourceConflictRatio": "ACL_AICORE_RESOURCE_CONFLICT_RATIO", "L2Cache": "ACL_AICORE_L2_CACHE",
        "MemoryAccess": "ACL_AICORE_MEMORY_ACCESS", "AiCoreNone": "ACL_AICORE_NONE"}
    assert {value for name, value in vars(profiler.HostSystem).items() if not name.startswith("_")} == {
        "cpu", "mem", "disk", "network", "osrt", "numa"}


def test_parameters_are_rows_of_the_recorders_table():
    from ascope import _core, _run
    rows = {row["name"]: row for row in _core.option_table()}
    given = {name: row for name, row in rows.items() if row["section"] == "experimental_config"}
    assert set(inspect.signature(_ExperimentalConfig).parameters) == set(given)
    for name, row in given.items():
        assert row["help"] in _ExperimentalConfig.__doc__ and hasattr(_ExperimentalConfig(), row["key"])
    common = {name for name, row in rows.items() if row["section"] == "common_config"}
    assert common <= set(inspect.signature(profiler.profile).parameters)
    offered = vars(_run._parser().parse_args(["script.py"]))
    assert {name for name in common | set(given) if not rows[name]["is_old"]} <= set(offered)
    for name in common | set(given):  # as the recorder has them, without an argument
        assert rows[name]["is_old"] or offered[name] == rows[name]["default"], name
    named = ((profiler.ProfilerLevel, "profiler_level"), (profiler.ExportType, "export_type"), (profiler.HostSystem, "host_sys"))
    for names, option in named:
        assert {value for name, value in vars(names).items() if not name.startswith("_")} == set(rows[option]["choices"])
    assert {name for name in vars(AiCMetrics) if not name.startswith("_")} <= set(rows["aic_metrics"]["choices"])


def test_torch_npu_has_the_names(script):
    script("""
        import ascope.torch_npu_compat, sys
        import torch_npu
        import torch_npu.profiler as front_end
        from torch_npu.profiler import *
        from torch_npu.profiler.profiler import analyse
        from torch_npu.profiler.scheduler import Schedule, ProfilerAction
        from torch_npu.profiler.experimental_config import _ExperimentalConfig, supported_profiler_level
        from torch_npu.npu.mstx import mstx, annotate
        assert schedule is Schedule and torch_npu.npu.mstx is mstx and mstx.annotate is annotate
        assert not hasattr(front_end, "analyse") and "_KinetoProfile" not in front_end.__all__ and front_end._KinetoProfile
        for name in front_end.__all__:
            assert globals()[name] is getattr(front_end, name)
    """)


BAD = [  # what is passed, the word in the warning, the attribute and what it becomes
    ({"profiler_level": "Level7"}, "profiler.py: profiler_level: invalid value 'Level7'; using Level0; expected ProfilerLevel.Level0, ",
     "_profiler_level", "Level0"),
    ({"profiler_level": ["Level1"]}, "profiler_level", "_profiler_level", "Level0"),
    ({"profiler_level": "Level1", "aic_metrics": {}}, "aic_metrics", "_aic_metrics", AiCMetrics.PipeUtilization),
    ({"profiler_level": "Level1", "aic_metrics": "speed"}, "aic_metrics: invalid value 'speed'; using PipeUtilization; expected ", "_aic_metrics", AiCMetrics.PipeUtilization),
    ({"profiler_level": "Level0", "aic_metrics": AiCMetrics.Memory}, "aic_metrics", "_aic_metrics", AiCMetrics.AiCoreNone),
    ({"l2_cache": 1}, "l2_cache", "_l2_cache", False),
    ({"mstx": "yes"}, "mstx", "_mstx", False),
    ({"data_simplification": "no"}, "data_simplification", "_data_simplification", True),
    ({"record_op_args": 1}, "record_op_args", "record_op_args", False),
    ({"op_attr": True}, "op_attr", "_op_attr", False),
    ({"gc_detect_threshold": -1}, "gc_detect_threshold", "_gc_detect_threshold", None),
    ({"gc_detect_threshold": "1"}, "gc_detect_threshold", "_gc_detect_threshold", None),
    ({"export_type": "csv"}, "export_type", "_export_type", ["text"]),
    ({"export_type": []}, "export_type", "_export_type", ["text"]),
    ({"export_type": [["text"]]}, "export_type", "_export_type", ["text"]),
    ({"host_sys": ["gpu"]}, "host_sys", "_host_sys", []),
    ({"host_sys": "cpu"}, "host_sys", "_host_sys", []),
    ({"mstx": True, "mstx_domain_include": "a"}, "mstx_domain_include", "_mstx_domain_include", []),
    ({"mstx_domain_exclude": ["a"]}, "mstx_domain", "_mstx_domain_exclude", []),
    ({"mstx": True, "mstx_domain_include": ["a"], "mstx_domain_exclude": ["b"]}, "mstx_domain", "_mstx_domain_exclude", []),
    ({"sys_io": None}, "sys_io", "_sys_io", False),
    ({"sys_interconnection": 0}, "sys_interconnection", "_sys_interconnection", False),
    ({"profiler_level": ProfilerLevel.Level_none}, "Level_none", "_mstx", True),
    ({"profiler_level": []}, "profiler_level", "_profiler_level", "Level0"),
    ({"profiler_level": None}, "profiler_level", "_profiler_level", "Level0"),
    ({"profiler_level": "Level7"}, "profiler_level", "_aic_metrics", AiCMetrics.AiCoreNone),
    ({"profiler_level": "Level7", "aic_metrics": AiCMetrics.Memory}, "profiler_level", "_aic_metrics", AiCMetrics.Memory),
    ({"profiler_level": "level1"}, "profiler_level", "_profiler_level", "Level0"),
    ({"profiler_level": "Level_none", "msprof_tx": True, "mstx_domain_include": ["a"], "mstx_domain_exclude": ["b"]}, "mstx_domain_exclude",
     "_mstx_domain_exclude", []),
    ({"profiler_level": "Level2", "aic_metrics": [1]}, "aic_metrics", "_aic_metrics", AiCMetrics.PipeUtilization),
    ({"aic_metrics": {}}, "aic_metrics", "_aic_metrics", AiCMetrics.AiCoreNone),
    ({"profiler_level": "Level_none", "mstx": True, "aic_metrics": AiCMetrics.Memory}, "aic_metrics", "_aic_metrics", AiCMetrics.AiCoreNone),
    ({"msprof_tx": 1}, "msprof_tx", "_msprof_tx", False),
    ({"op_attr": 1}, "op_attr", "_op_attr", False),
    ({"export_type": None}, "export_type", "_export_type", ["text"]),
    ({"export_type": 5}, "export_type", "_export_type", ["text"]),
    ({"export_type": ["db", "csv"]}, "export_type", "_export_type", ["text"]),
    ({"gc_detect_threshold": True}, "gc_detect_threshold", "_gc_detect_threshold", None),
    ({"gc_detect_threshold": float("nan")}, "gc_detect_threshold", "_gc_detect_threshold", None),
    ({"host_sys": [["cpu"]]}, "host_sys", "_host_sys", []),
    ({"mstx": True, "mstx_domain_include": [5]}, "mstx_domain_include", "_mstx_domain_include", []),
    ({"mstx": True, "mstx_domain_exclude": ("a",)}, "mstx_domain_exclude", "_mstx_domain_exclude", []),
]


@pytest.mark.parametrize("given, word, attribute, becomes", BAD)
def test_a_value_that_cannot_be_becomes_the_default(warned, given, word, attribute, becomes):
    config = _ExperimentalConfig(**given)
    assert getattr(config, attribute) == becomes
    assert warned(word)


@pytest.mark.parametrize("given, accepted", [({"profiler_level": "level1"}, "expected ProfilerLevel."),
                                             ({"profiler_level": "Level1", "aic_metrics": "PipeUtilization"}, "expected AiCMetrics.")])
def test_accepted_values_are_named_as_they_are_written(warned, given, accepted):
    """The name alone may be the value that was refused."""
    _ExperimentalConfig(**given)
    assert warned(accepted)


class Nasty:
    """Whatever one asks it, it raises."""

    def _raises(self, *unused, **named):
        raise RuntimeError("nasty")

    __bool__ = __eq__ = __ne__ = __hash__ = __repr__ = __str__ = __len__ = __iter__ = __call__ = __index__ = __fspath__ = _raises
    __getattr__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __getitem__ = _raises


def raises_nasty(*unused):
    class NastyError(Exception):
        __str__ = __repr__ = Nasty._raises

    raise NastyError


def test_exceptions_without_a_text_do_not_raise(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    monkeypatch.chdir(tmp_path)
    observer = types.SimpleNamespace(start=raises_nasty, stop=raises_nasty)
    with profiler.profile(on_trace_ready=raises_nasty, custom_trace_id_callback=raises_nasty, execution_trace_observer=observer):
        pass
    with profiler.profile(schedule=raises_nasty) as prof:
        prof.step()
    said = capsys.readouterr().out
    for what in ("on_trace_ready", "custom_trace_id_callback", "profile.start", "profile.stop", "schedule: step 0 is not recorded"):
        assert "%s: NastyError: (no text)" % what in said


@pytest.mark.parametrize("name", ["_ExperimentalConfig", "schedule", "profile", "_KinetoProfile", "tensorboard_trace_handler", "analyse",
                                  "mstx.mark", "mstx.range_start", "mstx.range_end", "mstx.range_push", "mstx.range_pop", "mstx.annotate",
                                  "mstx.mstx_range"])
def test_nothing_raises_whatever_is_passed(tmp_path, monkeypatch, capsys, name):
    from ascope.torch import mstx
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    monkeypatch.chdir(tmp_path)
    call = getattr(mstx, name[5:]) if name.startswith("mstx.") else getattr(profiler, name)
    values = (Nasty(), [Nasty()], lambda *unused: Nasty(), "\ud800", "a\0b", ["\ud800"], 10 ** 30, float("nan"), object, {},
              list(range(10 ** 5)))
    needed = {"schedule": {"wait": 1, "active": 1}, "analyse": {"profiler_path": "nowhere"}, "mstx.range_end": {"range_id": 5},
              "mstx.range_pop": {}}.get(name, {"message": "text"} if name.startswith("mstx.") else {})
    for parameter in inspect.signature(call).parameters:
        for value in values:
            made = call(**{**needed, parameter: value})
            if name in ("mstx.annotate", "mstx.mstx_range"):
                with made:
                    assert made(len)("four") == 4
            config = made if name == "_ExperimentalConfig" else None
            prof = made if name in ("profile", "_KinetoProfile") else profiler.profile(experimental_config=config)
            if config or prof is made:
                with prof:
                    prof.add_metadata(value, "text")
                    prof.add_metadata_json("key", value)
                prof.export_chrome_trace(value)
    profiler.tensorboard_trace_handler()  # the place is that of the whole process
    assert all(len(line) < 1000 for line in capsys.readouterr().out.splitlines())


GOOD = [
    {}, {"profiler_level": "Level2"}, {"profiler_level": "Level1", "aic_metrics": AiCMetrics.MemoryUB}, {"mstx": True},
    {"mstx": True, "mstx_domain_include": ["default", "a"]}, {"export_type": ["text", "db"], "op_attr": True},
    {"gc_detect_threshold": 1.5}, {"host_sys": ["cpu", "mem"]}, {"data_simplification": None},
]


def test_lists_have_each_name_once():
    config = _ExperimentalConfig(host_sys=["cpu", "mem", "cpu"], mstx=True, mstx_domain_include=["b", "a", "b"], export_type=["db", "db"])
    assert (config._host_sys, config._mstx_domain_include, config.export_type) == (["cpu", "mem"], ["b", "a"], ["db"])


@pytest.mark.parametrize("given", GOOD)
def test_a_good_value_is_kept_without_a_word(warned, given):
    config = _ExperimentalConfig(**given)
    for name, value in given.items():
        kept = getattr(config, name, getattr(config, "_" + name, None))
        assert kept == value
    assert not warned("")


def test_counters_follow_the_level():
    assert _ExperimentalConfig()._aic_metrics == AiCMetrics.AiCoreNone
    assert _ExperimentalConfig(profiler_level="Level1")._aic_metrics == AiCMetrics.PipeUtilization


def test_msprof_tx_is_the_old_name_of_mstx():
    with pytest.warns(DeprecationWarning):
        assert _ExperimentalConfig(msprof_tx=True).tx_enabled


def test_things_are_reported_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    monkeypatch.chdir(tmp_path)
    with profiler.profile(schedule=profiler.schedule(wait=1, active=1)) as prof:
        for _ in range(2):  # before the collection, and in it
            prof.add_metadata("key", "text")
            prof.add_metadata("key", "another")
            prof.step()
    said = capsys.readouterr().out
    assert said.count("start-up cost") == 1
    assert said.count("already") == 3  # the last one once more, as it was there before the collection


def test_the_schedule_says_what_the_collector_does():
    plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    letters = {ProfilerAction.NONE: ".", ProfilerAction.WARMUP: "w", ProfilerAction.RECORD: "r", ProfilerAction.RECORD_AND_SAVE: "S"}
    assert "".join(letters[plan(step)] for step in range(11)) == "..wrS.wrS.."
    assert "".join(letters[profiler.schedule(0, 1)(step)] for step in range(3)) == "SSS"
    with pytest.raises(ValueError):
        plan(-1)


@pytest.mark.parametrize("name, value, becomes", [("wait", -1, 0), ("active", 0, 1), ("warmup", "1", 0), ("repeat", 1.5, 0),
                                                  ("skip_first", True, 0), ("skip_first_wait", "x", 0), ("wait", None, 0)])
def test_bad_numbers_of_a_schedule(warned, name, value, becomes):
    plan = profiler.schedule(**{"wait": 1, "active": 1, name: value})
    assert getattr(plan, name) == becomes
    assert warned(name)


def test_a_schedule_may_be_longer_than_any_program(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    for plan in (dict(wait=10**30, active=1), dict(wait=0, active=10**30), dict(wait=0, active=1, repeat=10**30, skip_first=10**30)):
        with profiler.profile(schedule=profiler.schedule(warmup=1, **plan),
                              on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)) as prof:
            prof.step()
            prof.step()
    assert len(os.listdir(tmp_path)) == 1 and "[ERROR]" not in capsys.readouterr().out


BOTH = set(ProfilerActivity)


@pytest.mark.parametrize("name, value, becomes", [
    ("activities", ["GPU"], BOTH), ("activities", 5, BOTH), ("activities", [[]], BOTH), ("activities", ProfilerActivity.CPU, BOTH),
    ("schedule", 3, None), ("on_trace_ready", "x", None), ("record_shapes", 1, False), ("profile_memory", None, False),
    ("with_stack", "yes", False), ("with_flops", 0, False), ("with_modules", 2, False), ("experimental_config", {}, "Level0"),
    ("use_cuda", True, None)])
def test_bad_parameters_of_a_profile(warned, name, value, becomes):
    prof = profiler.profile(**{name: value})
    assert warned(name)
    kept = getattr(prof, name, None)
    assert (kept._profiler_level if name == "experimental_config" else kept) == becomes


def test_no_activities_are_both(warned):
    assert profiler.profile(activities=[]).activities == BOTH
    assert not warned("")


@pytest.mark.parametrize("activity, given, key, warning", [
    ("NPU", {"gc_detect_threshold": 1}, "_gc_detect_threshold", "gc_detect_threshold: requires the CPU"),
    ("CPU", {"mstx": True}, None, "activities has no NPU"),
    ("CPU", {"gc_detect_threshold": 1}, None, None)])
def test_what_needs_the_other_activity_is_left_out(warned, tmp_path, monkeypatch, activity, given, key, warning):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    record(profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False), activities=[ProfilerActivity[activity]],
           experimental_config=_ExperimentalConfig(**given))
    assert warned(warning or "") == (warning is not None)
    if key:
        with open(glob.glob(str(tmp_path / "*_ascend_pt/profiler_info*.json"))[0]) as f:
            assert json.load(f)["config"]["experimental_config"][key] is None


@pytest.mark.parametrize("name, value", [
    ("dir_name", 5), ("dir_name", ""), ("worker_name", 5), ("worker_name", ""), ("worker_name", "x" * 226),
    ("worker_name", "x" * 225), ("worker_name", "a/b"), ("analyse_flag", 0), ("async_mode", 1)])
def test_bad_parameters_of_a_handler(warned, tmp_path, monkeypatch, name, value):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    monkeypatch.delenv("ASCEND_WORK_PATH", raising=False)
    record(profiler.tensorboard_trace_handler(**{name: value}))
    assert warned(name)
    (made,) = os.listdir(tmp_path)
    assert made.startswith("%s_%d_" % (os.uname().nodename, os.getpid()))
    assert os.path.isdir(tmp_path / made / "ASCEND_PROFILER_OUTPUT")


@pytest.mark.parametrize("name, value", [("max_process_number", 0), ("max_process_number", "x"), ("max_process_number", True),
                                         ("max_process_number", 10**6), ("export_type", "csv"), ("export_type", ["text", []]),
                                         ("export_type", {})])
def test_bad_parameters_of_analyse(warned, tmp_path, monkeypatch, name, value):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    record(profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False))
    profiler.analyse(str(tmp_path), **{name: value})
    assert warned(name)
    (made,) = os.listdir(tmp_path)
    assert os.path.exists(tmp_path / made / "ASCEND_PROFILER_OUTPUT/analyse.done")


@pytest.mark.parametrize("path", ["/nowhere", 5, None])
def test_nothing_to_analyse(capsys, path):
    profiler.analyse(path)
    assert "[ERROR]" in capsys.readouterr().out


def test_exports_that_cannot_be(warned, tmp_path, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    monkeypatch.chdir(tmp_path)
    prof = profiler.profile()
    for call, word in ((prof.export_chrome_trace, "nothing has been recorded"), (prof.export_stacks, "with_stack"),
                       (prof.export_memory_timeline, "record_shapes")):
        call(str(tmp_path / "out.json"))
        assert warned(word)


@pytest.mark.parametrize("device", [0, 5, ["npu:0"]])
def test_a_device_of_another_type(warned, tmp_path, device):
    prof = profiler.profile(record_shapes=True, profile_memory=True, with_stack=True)
    prof.export_memory_timeline(str(tmp_path / "out.json"), device)
    assert warned('device: expected a string such as "npu:0"')


def test_paths_may_be_objects(tmp_path, monkeypatch, warned):
    """pathlib.Path, wherever a path is taken; and ~ in texts."""
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    torch = pytest.importorskip("torch")
    full = dict(record_shapes=True, profile_memory=True, with_stack=True)
    prof = profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(tmp_path / "result", analyse_flag=False), **full)
    prof.start()
    for _ in range(50):  # some take a microsecond
        torch.ones(3) + 1
    prof.stop()
    profiler.analyse(pathlib.Path("result"))
    assert glob.glob(str(tmp_path / "result/*/ASCEND_PROFILER_OUTPUT/trace_view.json"))
    prof.export_chrome_trace(tmp_path / "a" / "trace.json")
    prof.export_stacks(pathlib.Path("stacks.log"))
    prof.export_memory_timeline(pathlib.Path("memory.html"))
    prof.export_chrome_trace("~/trace.json")
    for made in ("a/trace.json", "stacks.log", "memory.html", "home/trace.json"):
        assert (tmp_path / made).stat().st_size > 0
    prof.export_chrome_trace(None)
    assert warned("output_path: expected a path, got None; nothing is exported")


def test_memory_of_the_cpu_where_no_npu_was_recorded(tmp_path, monkeypatch, capsys):
    """Both activities are the default; which memory there is depends on the machine."""
    torch = pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    for device, shown in (("none", "cpu"), ("sim", "npu:0")):
        monkeypatch.setenv("ASCOPE_DEVICE", device)
        with profiler.profile(record_shapes=True, profile_memory=True, with_modules=True) as prof:
            torch.ones(100) + 1
        prof.export_memory_timeline("%s.html" % device)
        page = (tmp_path / (device + ".html")).read_text()
        assert '"device": "%s"' % shown in page
        assert ('"isSimulated": true' in page) == (device == "sim")  # and says so
    capsys.readouterr()
    prof.export_memory_timeline("other.html", device="npu:7")
    said = capsys.readouterr().out
    assert "npu:7" in said and "device may be" in said and "--" not in said.partition("profiler.py")[2]
    assert " export_memory_timeline %s: the memory of npu:7 was not recorded" % prof._path in said and said.count(prof._path) == 1


def test_nothing_was_recorded_and_why(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")

    def said(n_steps, **plan):
        prof = profiler.profile(schedule=profiler.schedule(active=1, **plan),
                                on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False))
        with prof:
            for _ in range(n_steps):
                prof.step()
        return [line.partition("profiler.py: ")[2] for line in capsys.readouterr().out.splitlines() if "nothing was recorded:" in line]

    begins = "nothing was recorded: step() was never called, and the schedule begins with %s steps"
    assert said(0, wait=2, warmup=1) == [begins % "wait"]
    assert said(0, wait=0, warmup=1) == [begins % "warm-up"]
    ends = "nothing was recorded: stop() was called at step %d, a %s step before the schedule's first active one"
    assert said(1, wait=2, warmup=1) == [ends % (1, "wait")]
    assert said(3, wait=0, warmup=1, skip_first=9) == [ends % (3, "wait")]
    assert said(2, wait=2, warmup=1) == [ends % (2, "warm-up")]
    assert said(4, wait=1, warmup=1, repeat=1) == [] and len(os.listdir(tmp_path)) == 1


def test_a_second_stop_does_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    seen = []
    observer = types.SimpleNamespace(start=lambda: seen.append("start"), stop=lambda: seen.append("stop"))
    for kind, more in ((profiler.profile, dict(on_trace_ready=lambda prof: seen.append("ready"), execution_trace_observer=observer)),
                       (profiler._KinetoProfile, {})):
        monkeypatch.chdir(tmp_path)
        prof = kind(**more)
        prof.start()
        prof.stop()
        capsys.readouterr()
        prof.stop()
        assert capsys.readouterr().out == ""
    assert seen == ["start", "ready", "stop"]


CHILD = """
    import sys, threading, torch
    from ascope import _modules
    from ascope.torch import profiler

    real, together = _modules.watched, threading.Barrier(4)

    def watched():
        if threading.current_thread() is not threading.main_thread():
            together.wait()  # all of them ask before one of them is served
        return real()

    _modules.watched = watched

    def work():
        profiler.profile.enable_profiler_in_child_thread(record_shapes=True, with_stack=True, with_modules=True)
        torch.nn.Linear(4, 4)(torch.ones(2, 4))
        profiler.profile.disable_profiler_in_child_thread()

    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("result"),
                          schedule=profiler.schedule(wait=0, warmup=0, active=1, repeat=2)) as prof:
        for _ in range(2):
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            torch.nn.Linear(3, 3)(torch.ones(2, 3))
            prof.step()
    assert sys.getprofile() is None
    """


def test_child_threads_have_what_the_others_have_not(script, tmp_path):
    """In each collection: shapes, stacks and modules of its operators, and of no other."""
    pytest.importorskip("torch")
    script(CHILD, env={"ASCOPE_DEVICE": "none"})
    found = glob.glob(str(tmp_path / "result/*/ASCEND_PROFILER_OUTPUT"))
    assert len(found) == 2
    for out in found:
        with open(os.path.join(out, "operator_details.csv"), encoding="utf-8", newline="") as f:
            linear = [(row["Input Shapes"], row["Call Stack"]) for row in csv.DictReader(f) if row["Name"] == "aten::linear"]
        with open(os.path.join(out, "trace_view.json"), encoding="utf-8") as f:
            modules = [e["args"].get("Module Hierarchy") for e in json.load(f) if e["ph"] == "X" and e["name"] == "aten::linear"]
        children = [(shapes, stack) for shapes, stack in linear if shapes]
        assert len(children) == 4 and linear.count(("", "")) == 1
        assert all(shapes.split()[:2] == ["2,4;", "4,4;"] and ": work" in stack for shapes, stack in children)
        assert len(list(filter(None, modules))) == 4


def test_a_step_after_the_stop_does_nothing(warned, tmp_path, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    prof = record(profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False))
    warned("")
    prof.step()
    assert warned("stopped") and prof.step_num == 2


def test_what_the_options_are_is_written_down(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    monkeypatch.setenv("RANK", "0")
    made = []
    config = _ExperimentalConfig(profiler_level="Level1", aic_metrics=AiCMetrics.MemoryUB, mstx=True, l2_cache=True,
                                 mstx_domain_exclude=["x"], export_type=["db"], gc_detect_threshold=2, sys_io=True)
    profiler.tensorboard_trace_handler(str(tmp_path), "worker", analyse_flag=False)
    prof = profiler.profile(schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=1), record_shapes=True,
                            with_flops=True, experimental_config=config, on_trace_ready=lambda p: made.append(p._path))
    prof.start()
    prof.step()
    prof.step()
    prof.stop()
    (path,) = made
    assert os.path.basename(path).startswith("worker_%d_" % os.getpid())
    with open(os.path.join(path, "profiler_info_0.json"), encoding="utf-8") as f:
        info = json.load(f)
    common, experimental = info["config"]["common_config"], info["config"]["experimental_config"]
    assert common["schedule"]["active"] == 1 and common["record_shapes"] and common["with_flops"]
    assert experimental["_profiler_level"] == "Level1" and experimental["_aic_metrics"] == AiCMetrics.MemoryUB
    assert experimental["_l2_cache"] and experimental["_mstx"] and experimental["_sys_io"]
    assert experimental["_mstx_domain_exclude"] == ["x"] and experimental["_export_type"] == ["db"]
    assert experimental["_gc_detect_threshold"] == 2


def test_each_cycle_of_a_schedule_is_a_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    made = []
    profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)
    with profiler.profile(schedule=profiler.schedule(wait=1, warmup=1, active=1, repeat=2),
                          on_trace_ready=lambda p: made.append(p._path)) as prof:
        for _ in range(8):
            prof.step()
    assert len(set(made)) == 2 == len(os.listdir(tmp_path))


def test_metadata_has_limits(warned, tmp_path):
    prof = profiler.profile()
    prof.add_metadata("a", 1)
    assert warned("strings")
    prof.add_metadata("a", "x" * 5000)
    assert warned("4096")
    prof.add_metadata_json("a", "{")
    assert warned("JSON")
    prof.add_metadata("a", "b")
    assert not warned("")
    prof.add_metadata("a", "c")
    assert warned("already")
    prof.add_metadata("k" * 4097, "x")
    assert warned("4096")
    for n in range(2000):
        prof.add_metadata("key %d" % n, "x")
    assert warned("bytes in total") and len(prof.metadata) < 2000


def test_metadata_is_that_of_one_collection(tmp_path, monkeypatch, warned):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    made, long = [], "\u4e2d" * 4096
    profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)
    prof = profiler.profile(schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=2),
                            on_trace_ready=lambda p: made.append(p.prof_if.prof_path))
    prof.add_metadata("before", "start")
    prof.start()
    prof.add_metadata("in the warm-up", long)
    prof.step()
    prof.add_metadata_json("active", "[1]")
    prof.step()
    prof.add_metadata("second", "turn")
    prof.step()
    prof.step()
    prof.stop()
    first, second = (json.load(open(os.path.join(path, "profiler_metadata.json"), encoding="utf-8")) for path in made)
    fixed = {"ENV_VARIABLES", "trace_id"}
    assert set(first) == {"before", "in the warm-up", "active"} | fixed
    assert first["in the warm-up"] == long and first["active"] == [1]
    assert set(second) == {"second"} | fixed and second["trace_id"] != first["trace_id"] and len(second["trace_id"]) == 32
    assert list(first["ENV_VARIABLES"]) == ["ASCEND_GLOBAL_LOG_LEVEL", "HCCL_RDMA_TC", "HCCL_RDMA_SL", "ACLNN_CACHE_LIMIT"]
    assert not warned("metadata")


def test_problems_are_reported_and_do_not_stop_the_training(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    (tmp_path / "file").write_text("")

    def broken(prof):
        raise RuntimeError("the disk is blue")

    for ready, place in ((broken, tmp_path), (broken, tmp_path / "file")):
        profiler.tensorboard_trace_handler(str(place), analyse_flag=False)
        with profiler.profile(schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=1), on_trace_ready=ready) as prof:
            for _ in range(3):
                prof.step()
    out = capsys.readouterr().out
    assert "the disk is blue" in out and "[ERROR]" in out
    assert "file" in out


def test_an_exception_of_the_training_stays_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "none")
    made = []
    profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)
    with pytest.raises(ZeroDivisionError):
        with profiler.profile(on_trace_ready=lambda p: made.append(p._path)):
            1 / 0
    assert len(made) == 1


def test_a_forked_process_leaves_what_is_exported_from(script, tmp_path):
    done = script("""
        import multiprocessing, os
        from ascope.torch import profiler
        prof = profiler._KinetoProfile()
        prof.start()
        prof.stop()
        prof.export_chrome_trace("trace.json")
        child = multiprocessing.get_context("fork").Process(target=int)
        child.start()
        child.join()
        print(os.path.isdir(prof._path), child.exitcode)
    """, env={"ASCOPE_DEVICE": "sim"})
    assert done.stdout.endswith("True 0\n") and not os.path.exists(tmp_path / "export_only_prof_dir")


@pytest.mark.parametrize("name", ["PROFILING_MODE", "PROFILER_SAMPLECONFIG"])
def test_another_tool_keeps_us_out(script, tmp_path, name):
    done = script("""
        from ascope.torch import profiler
        with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler("x")) as prof:
            prof.step()
        """, env={name: "dynamic"})
    assert name in done.stdout and not (tmp_path / "x").exists()


def test_warnings_come_from_the_first_rank(script):
    code = "from ascope.torch import profiler\nprofiler.schedule(wait=-1, active=1)\n"
    assert "[WARNING]" in script(code, env={"RANK": "0"}).stdout
    assert script(code, env={"RANK": "1"}).stdout == ""
    for name in ("TORCH_NPU_WARNING_DISABLE", "TORCH_NPU_DISABLED_WARNING"):
        assert script(code, env={name: "1"}).stdout == ""


def test_marks(tmp_path, monkeypatch):
    """Ids, depths, and ranges around functions of all kinds, whatever becomes of them."""
    import asyncio
    from ascope.torch import mstx
    monkeypatch.setenv("ASCOPE_DEVICE", "none")

    @mstx.mstx_range("sync")
    def sync(value):
        return value

    @mstx.mstx_range("async", domain="d")
    async def later(value):
        await asyncio.sleep(0)
        mstx.mark("inside", domain="d")
        return value

    @mstx.annotate()
    def fails():
        raise KeyError("mine")

    assert sync(1) == 1 and asyncio.run(later(2)) == 2 and mstx.range_start("off") == 0
    handler = profiler.tensorboard_trace_handler(str(tmp_path))
    with profiler.profile(on_trace_ready=handler, experimental_config=_ExperimentalConfig(mstx=True)) as prof:
        ids = [mstx.range_start("range %d" % i, domain="d") for i in range(3)]
        assert len(set(ids)) == 3 and min(ids) >= 1
        for one in ids:
            assert mstx.range_end(one, "d") is None
        assert mstx.range_push("outer") == 0 and mstx.range_push("inner") == 1
        assert mstx.range_pop("elsewhere") == -1 and mstx.range_pop() == 1 and mstx.range_pop() == 0 and mstx.range_pop() == -1
        assert mstx.mark("point") is None
        assert sync(1) == 1 and asyncio.run(later(2)) == 2 and inspect.iscoroutinefunction(later)
        with pytest.raises(KeyError, match="mine"), mstx.annotate("block"):
            fails()
    with open(os.path.join(prof.prof_if.prof_path, "ASCEND_PROFILER_OUTPUT/trace_view.json"), encoding="utf-8") as f:
        found = {e["name"]: e for e in json.load(f) if e["ph"] == "X"}
    for name in ("range 0", "range 2", "outer", "inner", "point", "sync", "async", "inside", "block", "fails"):
        assert name in found, (name, sorted(found))
    begin, end = (float(found["async"]["ts"]) + dur for dur in (0, found["async"]["dur"]))
    assert begin <= float(found["inside"]["ts"]) <= end and found["async"]["args"]["domain"] == "d"


def test_marks_are_refused_with_a_word(warned):
    from ascope.torch import mstx
    for call, arguments in itertools.product((mstx.mark, mstx.range_start), ((5,), ("",), ("a", "no stream"), ("a", None, 7))):
        assert not call(*arguments)
        assert warned("mstx")
    assert mstx.range_start("nothing is recorded") == 0
    mstx.range_end("x")
    assert warned("range_id")
    assert mstx.range_pop() == -1
