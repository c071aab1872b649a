# SPDX-License-Identifier: Apache-2.0
"""The MindSpore front end in one process: every parameter, every message, the schedule, and what is in the collections."""
import itertools
import json
import logging
import os
import subprocess
import sys
import types
import warnings

import pytest

from ascope import _core, _program
from ascope import mindspore as ms
from ascope.mindspore import (AicoreMetrics, ExportType, HostSystem, Profiler, ProfilerActivity, ProfilerLevel, _ExperimentalConfig,
                              mstx, profile, schedule, tensor_board_trace_handler, tensorboard_trace_handler)
from ascope.mindspore import config
from ascope.mindspore import profiler_action_controller as controller
from ascope.mindspore._paths import ProfilerPathErrorException
from ascope.mindspore.profiler_interface import ProfilerInterface
from ascope.mindspore.schedule import ProfilerAction, Schedule
from mindspore_collections import collections, info_of, ranges_of

profiler_module = sys.modules["ascope.mindspore.profiler"]
NO_WARMUP = ("warning", "Profiler won't be using warmup, this can skew profiler results")


@pytest.fixture
def said(tmp_path, monkeypatch):
    """Messages as (level, text), through a mindspore.log that is there; the working directory is an empty one."""
    heard = []
    log = types.ModuleType("mindspore.log")
    for level in "debug", "info", "warning", "error":
        setattr(log, level, lambda *text, level=level: heard.append((level, *text)))
    monkeypatch.setitem(sys.modules, "mindspore.log", log)
    monkeypatch.chdir(tmp_path)
    for name, value in ("RANK_ID", None), ("DEVICE_ID", None), ("ASCOPE_DEVICE", "none"):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    yield heard
    for one in list(profiler_module._alive):
        one._has_started = False
    if ProfilerInterface._session is not None:
        ProfilerInterface._session.end()
    ProfilerInterface._forget()
    profiler_module._Last.place = config.Place()


def warnings_of(said):
    return [text for level, text in said if level == "warning"]


def errors_of(said):
    return [text for level, text in said if level == "error"]


# ---- parameters ----

BOOLEANS = {name: name not in ("start_profile", "data_simplification", "sync_enable") for name in (
    "start_profile", "profile_memory", "with_stack", "data_simplification", "l2_cache", "hbm_ddr", "pcie", "data_process", "parallel_strategy",
    "sync_enable", "mstx", "record_shapes", "sys_io", "sys_interconnection")}  # name: what is not the default
DEFAULTS = {
    "is_set_schedule": False, "output_path": "./data", "profiler_level": "Level0", "activities": ["NPU", "CPU"], "aic_metrics": "None",
    "with_stack": False, "profile_memory": False, "data_process": False, "parallel_strategy": False, "start_profile": True, "l2_cache": False,
    "hbm_ddr": False, "pcie": False, "sys_io": False, "sys_interconnection": False, "host_sys": [], "sync_enable": True,
    "data_simplification": True, "record_shapes": False, "export_type": ["text"], "mstx": False, "mstx_domain_include": [],
    "mstx_domain_exclude": [], "schedule": {"wait": 0, "active": 1, "warmup": 0, "repeat": 0, "skip_first": 0},
}
VALUES = [  # given, and what differs from the defaults
    *(({name: value}, {name: value}) for name, value in BOOLEANS.items() if name != "start_profile"),
    ({"profiler_level": ProfilerLevel.Level1}, {"profiler_level": "Level1", "aic_metrics": "PipeUtilization"}),
    ({"profiler_level": ProfilerLevel.Level2, "aicore_metrics": AicoreMetrics.L2Cache}, {"profiler_level": "Level2", "aic_metrics": "L2Cache"}),
    ({"profiler_level": ProfilerLevel.Level2, "aic_metrics": AicoreMetrics.MemoryAccess}, {"profiler_level": "Level2", "aic_metrics": "MemoryAccess"}),
    ({"profiler_level": ProfilerLevel.Level0, "aic_metrics": AicoreMetrics.Memory}, {}),
    ({"profiler_level": ProfilerLevel.LevelNone}, {}),
    ({"profiler_level": ProfilerLevel.LevelNone, "mstx": True}, {"profiler_level": "LevelNone", "mstx": True}),
    ({"profiler_level": ProfilerLevel.LevelNone, "mstx": True, "aic_metrics": AicoreMetrics.Memory}, {"profiler_level": "LevelNone", "mstx": True}),
    ({"activities": [ProfilerActivity.CPU]}, {"activities": ["CPU"]}),
    ({"activities": []}, {"activities": []}),
    ({"activities": [ProfilerActivity.GPU, ProfilerActivity.NPU, ProfilerActivity.NPU], "record_shapes": True}, {"activities": ["NPU", "GPU"]}),
    ({"export_type": "db"}, {"export_type": ["db"]}),
    ({"export_type": ExportType.Db}, {"export_type": ["db"]}),
    ({"export_type": [ExportType.Text, ExportType.Db, ExportType.Text]}, {"export_type": ["db", "text"]}),
    ({"export_type": []}, {}),
    ({"host_sys": [HostSystem.MEM, HostSystem.CPU]}, {"host_sys": ["cpu", "mem"]}),
    ({"mstx": True, "mstx_domain_include": ["a", "b", "a"], "mstx_domain_exclude": ["c"]}, {"mstx": True, "mstx_domain_include": ["a", "b"]}),
    ({"mstx": True, "mstx_domain_exclude": ["c"]}, {"mstx": True, "mstx_domain_exclude": ["c"]}),
    ({"mstx_domain_exclude": ["c"]}, {}),
    ({"output_path": "here/and there"}, {"output_path": "here/and there"}),
    ({"schedule": schedule(wait=1, active=2, warm_up=3, repeat=4, skip_first=5), "data_process": True},
     {"is_set_schedule": True, "schedule": {"wait": 1, "active": 2, "warmup": 3, "repeat": 4, "skip_first": 5}}),
    ({"anything": "else", "output_path": None, "with_stack": None, "schedule": None}, {}),
]
NOTED = ({"profiler_level": ProfilerLevel.Level1}, {"profiler_level": ProfilerLevel.LevelNone}, {"mstx_domain_exclude": ["c"]}, {"pcie": True}, {"hbm_ddr": True})


def test_a_gpu_is_the_device_of_programs_that_use_cuda(monkeypatch):
    def options(is_loaded, *activities, **more):
        monkeypatch.setattr(config, "uses_cuda", lambda: is_loaded)
        made = config.Parameters(dict(more, activities=list(activities))).options()
        return made["activities"], made["device"]
    monkeypatch.delenv("ASCOPE_DEVICE", raising=False)
    cpu, gpu, npu = ProfilerActivity.CPU, ProfilerActivity.GPU, ProfilerActivity.NPU
    assert options(True, cpu, gpu) == options(True, cpu, gpu, sync_enable=False) == (["CPU", "NPU"], "cuda")
    assert options(True, gpu) == (["NPU"], "cuda")
    assert options(False, cpu, gpu) == (["CPU"], None)
    assert options(True, npu, gpu) == (["NPU"], None)
    assert options(True, cpu) == (["CPU"], None)


@pytest.mark.parametrize("is_loaded", [True, False])
def test_a_gpu_that_is_not_there_is_missed(said, monkeypatch, is_loaded):
    monkeypatch.setattr(config, "uses_cuda", lambda: is_loaded)
    config.Parameters({"activities": [ProfilerActivity.GPU]}).options()
    assert any("no GPU is recorded" in text for text in warnings_of(said)) != is_loaded


@pytest.mark.parametrize("given, differs", VALUES, ids=lambda value: " ".join(value) if isinstance(value, dict) else "")
def test_each_value_is_in_profiler_info(said, given, differs):
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        profiler = Profiler(**given)
    if given in NOTED:
        assert len(noted) == 1
    if "schedule" in given and given["schedule"]:
        profiler.step()
        profiler.current_action = ProfilerAction.RECORD  # as if it had come so far
        ProfilerInterface.init()
        ProfilerInterface.start()
    profiler.stop()
    path = ProfilerInterface.path
    info = info_of(path)
    wanted = dict(DEFAULTS, **differs)
    for name in "activities", "export_type":  # whose order is nobody's
        assert sorted(info["profiler_parameters"].pop(name)) == sorted(wanted.pop(name))
    assert info["profiler_parameters"] == wanted
    assert list(info) == ["profiler_parameters", "ms_profiler_info", "cann_profiler_info", "analysis_cost_time", "ms_version", "cann_version", "jit_level"]
    assert os.path.dirname(path) == os.path.realpath(differs.get("output_path", "data"))
    assert os.path.isdir(os.path.join(path, "FRAMEWORK"))
    assert any(name.startswith("PROF_") for name in os.listdir(path)) == ("NPU" in differs.get("activities", ["NPU"]))


BAD = [
    *((name, value) for name in BOOLEANS for value in (1, 0, "true", [])),
    *(("profiler_level", value) for value in ("Level1", 1, AicoreMetrics.Memory)),
    *(("activities", value) for value in ((ProfilerActivity.CPU,), "CPU", ProfilerActivity.CPU, [ProfilerActivity.CPU, "NPU"])),
    *((name, value) for name in ("aic_metrics", "aicore_metrics") for value in ("Memory", 2)),
    *(("export_type", value) for value in ("Text", [ExportType.Db, "x"], 3)),
    *(("host_sys", value) for value in ("cpu", [HostSystem.CPU, "mem"], HostSystem.CPU)),
    *((name, value) for name in ("mstx_domain_include", "mstx_domain_exclude") for value in ("a", ["a", ""], [1])),
    ("output_path", 5), ("on_trace_ready", 7), ("schedule", lambda step: ProfilerAction.RECORD), ("schedule", "x"),
]


@pytest.mark.parametrize("name, value", BAD, ids=repr)
def test_each_bad_value_is_a_warning_and_the_default(said, name, value):
    more = {} if name == "start_profile" else {"start_profile": False}
    if name.startswith("mstx_"):
        more["mstx"] = True
    profiler = Profiler(**{name: value}, **more)
    key = {"aicore_metrics": "aic_metrics"}.get(name, name)
    named = [text for text in warnings_of(said) if "'%s'" % key in text]
    assert len(named) == 1, said
    filed = profiler._parameters.filed()
    if name == "on_trace_ready":
        assert profiler.action_controller.on_trace_ready is None
    elif name == "activities":
        assert sorted(filed[key]) == ["CPU", "NPU"]
    elif name == "schedule":
        assert profiler.schedule_arg is value and profiler.current_action is ProfilerAction.RECORD_AND_SAVE and not filed["is_set_schedule"]
    else:
        assert filed[key] == DEFAULTS[key]
    assert not errors_of(said)


@pytest.mark.parametrize("name", ["profile_communication", "op_time", "profile_framework", "host_stack", "timeline_limit"])
def test_deprecated_parameters_are_noted(said, name):
    for value in True, False, 5:
        with pytest.warns(UserWarning, match="'%s' is deprecated" % name):
            Profiler(start_profile=False, **{name: value})
    with pytest.raises(TypeError):
        Profiler(True)


def test_unknown_parameters_are_noted(said):
    """A name with a typing mistake would record something else than was asked for."""
    with pytest.warns(UserWarning, match="'profile_memroy' is unknown"):
        Profiler(start_profile=False, profile_memroy=True)


@pytest.mark.parametrize("activities", [["CPU"], ["NPU"], ["CPU", "NPU"]], ids="+".join)
def test_memory_needs_both_sides(said, activities):
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        Profiler(start_profile=False, profile_memory=True, activities=[ProfilerActivity[name] for name in activities])
    assert len([one for one in noted if "'profile_memory' needs" in str(one.message)]) == (len(activities) == 1)


def test_paths_that_break_the_rules_raise(said, tmp_path):
    os.symlink(tmp_path, "link")
    with open("file", "w"):
        pass
    for path in "link", "file", "a?b", "x" * 256, "/".join(["y" * 200] * 21), "file/inside":
        with pytest.raises(ProfilerPathErrorException, match="code: 50546081, msg: Path error. "):
            Profiler(output_path=path, start_profile=False)
        with pytest.raises(ProfilerPathErrorException):
            tensorboard_trace_handler(path)
        with pytest.raises((ProfilerPathErrorException, FileNotFoundError)):
            Profiler.offline_analyse(path)


def test_rank_and_device_of_the_environment(said, monkeypatch):
    for rank, device, wanted in ("3", "5", ("3", "5")), ("-1", "2", ("0", "2")), ("abc", "x", ("0", "0")), ("", "", ("0", "0")):
        monkeypatch.setenv("RANK_ID", rank)
        monkeypatch.setenv("DEVICE_ID", device)
        Profiler().stop()
        info = info_of(ProfilerInterface.path, int(wanted[0]))["ms_profiler_info"]
        assert (info["rank_id"], info["device_id"]) == wanted
    assert any("DEVICE_ID" in text for text in warnings_of(said))


# ---- the schedule ----

def test_a_schedule_is_a_function_of_steps(said):
    for wait, active, warmup, repeat, skip_first in itertools.product((0, 2), (1, 3), (0, 1), (0, 2), (0, 1)):
        plan = schedule(wait=wait, active=active, warmup=warmup, repeat=repeat, skip_first=skip_first)
        cycle = [ProfilerAction.NONE] * wait + [ProfilerAction.WARM_UP] * warmup + [ProfilerAction.RECORD] * (active - 1) + [ProfilerAction.RECORD_AND_SAVE]
        wanted = [ProfilerAction.NONE] * skip_first + cycle * (repeat or 9) + [ProfilerAction.NONE] * 9 * bool(repeat)
        assert [plan(step) for step in range(len(wanted))] == wanted
        assert plan.to_dict() == {"wait": wait, "active": active, "warmup": warmup, "repeat": repeat, "skip_first": skip_first}
        assert repr(plan) == "Schedule(wait=%d, active=%d, warmup=%d, repeat=%d, skip_first=%d)" % (wait, active, warmup, repeat, skip_first)
    with pytest.raises(ValueError, match="Invalid parameter step, which must be not less than 0."):
        plan(-1)
    for given in {}, {"wait": 1}, {"active": 1}:
        with pytest.raises(TypeError):
            schedule(**given)
    with pytest.raises(TypeError):
        schedule(1, 1)


@pytest.mark.parametrize("name, value", itertools.product(("wait", "active", "warmup", "warm_up", "repeat", "skip_first"), ("1", True, -1, 1.0, None)))
def test_invalid_numbers_of_a_schedule(said, name, value):
    least = int(name == "active")
    plan = schedule(**{**{"wait": 0, "active": 1, "warmup": int(name != "warmup")}, name: value})
    shown = {"warm_up": "warmup"}.get(name, name)
    assert warnings_of(said)[0] == "Parameter '%s' should be of type int, but got %s. reset to int %d." % (shown, type(value), least)
    assert getattr(plan, name) == least
    assert (NO_WARMUP in said) == (shown == "warmup")


def test_actions_by_value():
    assert [ProfilerAction.get_by_value(n) for n in range(5)] == [*ProfilerAction, None]
    from ascope.mindspore.schedule import Schedule as same
    assert same is schedule is Schedule and "ProfilerAction" not in ms.__all__


MOVES = {  # what the session is asked for; T: the callback
    "NONE NONE": "", "NONE WARM_UP": "init", "NONE RECORD": "init start", "NONE RECORD_AND_SAVE": "init start", "NONE None": "",
    "WARM_UP NONE": "start stop finalize clear", "WARM_UP WARM_UP": "", "WARM_UP RECORD": "start", "WARM_UP RECORD_AND_SAVE": "start",
    "WARM_UP None": "finalize clear",
    "RECORD NONE": "stop finalize clear", "RECORD WARM_UP": "stop finalize clear", "RECORD RECORD": "", "RECORD RECORD_AND_SAVE": "",
    "RECORD None": "stop finalize T clear",
    "RECORD_AND_SAVE NONE": "stop finalize T clear", "RECORD_AND_SAVE WARM_UP": "stop finalize T clear init",
    "RECORD_AND_SAVE RECORD": "stop finalize T clear init start", "RECORD_AND_SAVE RECORD_AND_SAVE": "stop finalize T clear init start",
    "RECORD_AND_SAVE None": "stop finalize T clear",
}
WARNED = {
    "WARM_UP NONE": "Incorrect schedule: WARMUP followed by NONE", "RECORD NONE": "Incorrect schedule: RECORD followed by NONE",
    "RECORD WARM_UP": "Incorrect schedule: RECORD followed by WARMUP",
    "WARM_UP None": "Incorrect schedule: Stop profiler while current state is WARMUP which will result in empty parsed data.",
    "RECORD None": "Incorrect schedule: Stop profiler while current state is RECORD which may result in incomplete parsed data.",
    "RECORD_AND_SAVE None": "Stop profiler while current state is RECORD_AND_SAVE, perhaps the scheduling cycle has not yet completed.",
}


def test_every_pair_of_actions(said, monkeypatch):
    assert len(MOVES) == 20
    for move, wanted in MOVES.items():
        done = []
        for name in "init", "start", "stop", "analyse", "finalize", "clear":
            monkeypatch.setattr(ProfilerInterface, name, lambda name=name: done.append(name))
        before, after = (getattr(ProfilerAction, word, None) for word in move.split())
        said.clear()
        controller.ProfilerActionController(ProfilerInterface, lambda: done.append("T")).transit_action(before, after)
        assert done == wanted.split(), move
        assert said == ([("warning", WARNED[move])] if move in WARNED else []), move
        controller.ProfilerActionController(ProfilerInterface, None).transit_action(before, after)


# ---- the life of a Profiler: the seed's messages, and nothing else ----

STARTED = ("warning", "The profiler has already started. Do not turn on again in the open state.")
NOT_STARTED = ("error", "The profiler has not started. Do not turn off again in the closed state.")
USE_STEP = ("warning", "The profiler has schedule. Please use step() to collect data.")
NO_SCHEDULE = ("error", "With no schedule in the Profiler, step takes no effect!")
STOPPED = ("error", "Profiler is stopped, step takes no effect!")
USE_HANDLER = ("warning", "The profiler has schedule. Please use 'on_trace_ready' to analyse data.")
AT_END = ("warning", "Profiler is stopped at the end of the program.")
LIVES = {  # what: (parameters, calls, messages, number of collections)
    "started by its creation": ({}, "stop", [], 1),
    "not started": ({"start_profile": False}, "", [], 0),
    "stop without start": ({"start_profile": False}, "stop", [NOT_STARTED], 0),
    "stop twice": ({}, "stop stop", [NOT_STARTED], 1),
    "start twice": ({}, "start stop", [STARTED], 1),
    "step without a schedule": ({}, "step stop", [NO_SCHEDULE], 1),
    "step without a schedule and start": ({"start_profile": False}, "step", [NO_SCHEDULE], 0),
    "a schedule without steps": ({"schedule": True}, "stop", [USE_STEP], 1),
    "a schedule without steps and start": ({"schedule": True, "start_profile": False}, "stop", [USE_STEP], 0),
    "step when it is stopped": ({"schedule": True, "start_profile": False}, "step", [STOPPED], 0),
    "step after stop": ({"schedule": True}, "step stop step", [("warning", WARNED["RECORD None"]), STOPPED], 1),
    "analyse with a schedule": ({"schedule": True}, "analyse", [USE_HANDLER], 1),
    "in a with statement": ({}, "__enter__ __exit__", [], 1),
    "in a with statement, not started": ({"start_profile": False}, "__enter__ __exit__", [], 1),
    "in a with statement, a schedule": ({"schedule": True}, "__enter__ __exit__", [USE_STEP], 1),
    "deleted": ({}, "__del__", [AT_END], 1),
    "deleted, a schedule": ({"schedule": True}, "__del__", [USE_STEP, AT_END], 1),
    "deleted when it is stopped": ({}, "stop __del__", [], 1),
    "each recording has a directory": ({}, "stop start stop", [], 2),
}


@pytest.mark.parametrize("what", LIVES)
def test_the_life_of_a_profiler(said, what):
    given, calls, messages, n = LIVES[what]
    given = dict(given, schedule=schedule(wait=0, warmup=1, active=3, skip_first=0)) if "schedule" in given else given
    if "schedule" in given:  # beyond the warm-up
        given["schedule"].warmup = 0
    said.clear()
    profiler = Profiler(**given)
    assert said == ([] if "schedule" in given else [NO_WARMUP])
    said.clear()
    for call in calls.split():
        getattr(profiler, call)(*[None] * 3 if call == "__exit__" else [])
    assert said == messages
    assert len(collections()) == n


def test_windows_of_a_schedule(said):
    done = []
    with Profiler(schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=lambda: done.append(ProfilerInterface.path)) as profiler:
        for step in range(9):
            assert profiler.step_num == step
            profiler.step()
    assert [os.path.relpath(path) for path in done] == collections() and len(done) == 2
    assert [[row for row in ranges_of(path) if not row[1]] for path in done] == [
        [("ProfilerStep#2", False, 2), ("ProfilerStep#3", False, 3)], [("ProfilerStep#6", False, 6), ("ProfilerStep#7", False, 7)]]
    assert said == []


def test_a_schedule_of_another_type(said):
    done = []
    profiler = Profiler(schedule=lambda step: ProfilerAction.NONE, on_trace_ready=lambda: done.append(1))
    profiler.step()
    profiler.step()
    assert len(done) == 2 and len(collections()) == 3
    said.clear()
    profiler.stop()
    assert said == [("warning", WARNED["RECORD_AND_SAVE None"])] and len(done) == 3


def test_a_callback_that_raises(said):
    def raises():
        raise KeyError("mine")

    profiler = Profiler(schedule=schedule(wait=0, active=1, warmup=0), on_trace_ready=raises)
    with pytest.raises(KeyError):
        profiler.step()
    assert profiler.step_num == 1


def test_a_profiler_that_is_dropped_stops(said):
    profiler = Profiler()
    said.clear()
    del profiler
    assert said == [AT_END] and not ProfilerInterface.is_recording() and info_of(collections()[0])


def test_another_profiler_while_one_records(said):
    first = Profiler()
    said.clear()
    second = Profiler(start_profile=False)
    second.start()
    assert not second._has_started and any("Another Profiler is recording" in text for text in warnings_of(said))
    first.stop()
    second.start()  # the stopped session is completed
    second.stop()
    assert len(collections()) == 2 and not errors_of(said)


def test_analyse_after_another_profiler_has_started(said, analysed):
    first, second = Profiler(), Profiler(start_profile=False)
    first.stop()
    second.start()
    said.clear()
    first.analyse(step_list=[1])
    assert [row[1:] for row in analysed] == [(True, ["--steps", "+1-1"])] and analysed[0][0] == os.path.basename(collections()[0])
    assert second._has_started and said == [("info", said[0][1])] and "analysed in" in said[0][1]
    first.analyse()  # a second time there is nothing left
    assert len(analysed) == 1 and any("Another Profiler is recording" in text for text in warnings_of(said))
    second.stop()
    second.analyse()
    assert len(analysed) == 2 and analysed[1][0] == os.path.basename(collections()[1])


# ---- steps of callbacks ----

class RunContext:
    def __init__(self, number):
        self.cur_step_num = number

    def original_args(self):
        return self


def train(callback, numbers, evaluates=False):
    """As Model.train() calls its callbacks."""
    for context in map(RunContext, numbers):
        callback.on_train_step_begin(context)
        with _core.Range("Dense"):
            pass
        if evaluates:
            callback.on_eval_step_begin(RunContext(1))
            callback.on_eval_step_end(RunContext(1))
        callback.on_train_step_end(context)


def callback_of(monkeypatch):
    from ascope.mindspore_compat import Callback
    module = types.ModuleType("mindspore.train")
    module.Callback = Callback
    monkeypatch.setitem(sys.modules, "mindspore.train", module)
    return Callback


def test_callbacks_count_steps(said, monkeypatch):
    class StopAtStep(callback_of(monkeypatch)):
        def __init__(self):
            self.profiler = Profiler(start_profile=False)

        def step_begin(self, run_context):
            if run_context.cur_step_num == 7:
                self.profiler.start()

        def step_end(self, run_context):
            if run_context.cur_step_num == 9:
                self.profiler.stop()

    callback = StopAtStep()
    train(callback, range(5, 12), evaluates=True)
    rows = ranges_of(ProfilerInterface.path)
    assert [row[0] for row in rows if row[0].startswith("Python::Callback")] == ["Python::Callback::Step %d" % n for n in (7, 8, 9)]
    program = os.environ.get("ASCOPE_PROGRAM", "ascope")
    done = subprocess.run([program, "analyse", ProfilerInterface.path, "--steps", "+2-3"], capture_output=True, text=True)
    assert done.returncode == 0 and "no steps were counted" not in done.stdout + done.stderr, done.stderr
    with open(ProfilerInterface.path + "/ASCEND_PROFILER_OUTPUT/trace_view.json", encoding="utf-8") as f:
        names = [event["name"] for event in json.load(f)]
    assert [sum(part in name for name in names) for part in ("Step 7", "Step 8", "Step 9", "Dense")] == [0, 1, 1, 2]


def test_a_counter_of_steps(said, monkeypatch):
    """A class of ours for a training without callbacks, with MindSpore's Callback and without."""
    for base in (object, callback_of(monkeypatch)):
        with monkeypatch.context() as patched:
            if base is object:
                patched.delitem(sys.modules, "mindspore.train", raising=False)
            counter = ms.callbacks.counter()()
            assert isinstance(counter, base)
            profiler = Profiler()
            for context in map(RunContext, (1, 2)):
                counter.step_begin(context)
                counter.step_end(context)
            counter.step_begin(None)  # no number: not counted
            profiler.stop()
            assert [row[0] for row in ranges_of(ProfilerInterface.path)] == ["Python::Callback::Step 1", "Python::Callback::Step 2"]


def test_steps_of_a_schedule_are_not_those_of_callbacks(said, monkeypatch):
    counter = ms.StepCounter()
    with Profiler(schedule=ms.schedule(wait=0, active=2)) as profiler:
        for context in map(RunContext, (1, 2)):
            counter.step_begin(context)
            counter.step_end(context)
            profiler.step()
    assert not [row for row in ranges_of(collections()[0]) if "Callback" in row[0]]


# ---- metadata ----

def test_metadata(said):
    profiler = Profiler()
    said.clear()
    profiler.add_metadata("a", "b")
    profiler.add_metadata_json("c", '{"d": [1, null]}')
    for key, value in ("a", 5), (5, "a"), (None, None):
        profiler.add_metadata(key, value)
        profiler.add_metadata_json(key, value)
    assert said == [("warning", "The key and value of metadata must be string. Skip this metadata.")] * 6
    said.clear()
    profiler.add_metadata_json("c", "{")
    assert said == [("warning", "c is already saved as metadata, override it."),
                    ("warning", "The metadata value must be json format string. Skip this metadata")]
    said.clear()
    profiler.MAX_META_SIZE = 100000
    profiler.add_metadata("large", "x" * 100000)
    assert said == [("warning", "Too many metadata added. Skip this metadata")]
    profiler.add_metadata("long", "y" * 60000)
    profiler.stop()
    with open(os.path.join(ProfilerInterface.path, "profiler_metadata.json")) as file:
        assert json.load(file) == {"a": "b", "c": {"d": [1, None]}, "long": "y" * 60000}
    profiler.start()
    profiler.stop()  # it was forgotten
    assert not os.path.exists(os.path.join(ProfilerInterface.path, "profiler_metadata.json"))
    assert Profiler.MAX_META_SIZE == 104857600


# ---- analyses ----

@pytest.fixture
def analysed(monkeypatch):
    """The analyses that the program `ascope` was asked for: its arguments, and whether the caller waits."""
    asked = []

    def analyse(path, export_type=None, max_process_number=None, waits=True, report=None, done=None, more=()):
        asked.append((os.path.basename(path), waits, [*more] + (["--max-process-number", max_process_number] if max_process_number else [])))
        result = types.SimpleNamespace(is_done=True, seconds=1)
        done(result)
        return result

    monkeypatch.setattr(_program, "analyse", analyse)
    return asked


ARGUMENTS = {  # of analyse(): what the program is asked for, and messages
    "none": ({}, (True, []), []),
    "pretty": ({"pretty": True}, (True, ["--pretty"]), []),
    "not a boolean": ({"pretty": 1}, (True, []), [("warning", "'pretty'")]),
    "steps": ({"step_list": [4, 2, 3]}, (True, ["--steps", "+2-4"]), []),
    "a step twice": ({"step_list": [1, 1]}, (True, []), [("error", "'step_list'")]),
    "a step twice, and one left out": ({"step_list": [1, 3, 3]}, (True, []), [("error", "'step_list'")]),
    "no steps": ({"step_list": []}, (True, []), []),
    "steps with a gap": ({"step_list": [1, 3]}, (True, []), [("error", "'step_list'")]),
    "no list": ({"step_list": (1, 2)}, (True, []), [("error", "'step_list'")]),
    "no numbers": ({"step_list": ["1"]}, (True, []), [("error", "'step_list'")]),
    "async": ({"mode": "async"}, (False, []), []),
    "another mode": ({"mode": "later"}, (True, []), [("warning", "'mode'")]),
    "no mode": ({"mode": None}, (True, []), [("warning", "'mode'")]),
    "steps from 0": ({"step_list": [0, 1]}, (True, []), [("error", "'step_list'")]),
}


@pytest.mark.parametrize("what", ARGUMENTS)
def test_arguments_of_analyse(said, analysed, what):
    given, (waits, more), messages = ARGUMENTS[what]
    profiler = Profiler()
    said.clear()
    profiler.analyse(**given)
    assert analysed == [(os.path.basename(collections()[0]), waits, more)]
    heard = [one for one in said if one[0] != "info"]
    assert len(heard) == len(messages) and all(level == wanted and part in text for (level, text), (wanted, part) in zip(heard, messages)), said
    assert "step_list" not in given or given["step_list"] == sorted(given["step_list"]) or messages
    profiler.analyse()
    assert len(analysed) == 1 and "has not been initialized" in said[-1][1]


def test_analyse_of_another_directory(said, analysed):
    Profiler(output_path="killed").stop()
    ProfilerInterface.finalize()
    ProfilerInterface.clear()
    said.clear()
    Profiler(start_profile=False).analyse(offline_path="killed", pretty=True, step_list=[1])
    assert analysed == [("killed", True, ["--pretty", "--steps", "+1-1", "--simplify=on"])]
    assert [text for text in warnings_of(said) if "warmup" not in text] == [
        "The parameter 'offline_path' for Profiler.analyse() is deprecated, please use Profiler.offline_analyse() instead."]


def test_arguments_of_one_analysis_are_not_those_of_the_next(said, analysed):
    Profiler().analyse(pretty=True, step_list=[2, 3])
    with Profiler(schedule=schedule(wait=0, warmup=1, active=1, repeat=1), on_trace_ready=tensorboard_trace_handler("there")) as profiler:
        profiler.step()
        profiler.step()
    assert [more for _, _, more in analysed] == [["--pretty", "--steps", "+2-3"], []]


def test_each_profiler_has_the_place_of_its_handler(said, analysed):
    first, last = tensorboard_trace_handler("first", "one"), tensorboard_trace_handler("last")
    for handler in first, last, lambda: last():
        with Profiler(schedule=schedule(wait=0, warmup=1, active=1, repeat=1), on_trace_ready=handler) as profiler:
            profiler.step()
            profiler.step()
    Profiler(output_path="own").stop()
    assert [len(collections(name)) for name in ("first", "last", "own")] == [1, 2, 1]
    assert os.path.basename(collections("first")[0]).startswith("one_") and not any("output_path" in text for text in warnings_of(said))


def test_analyse_after_two_recordings(said, analysed):
    profiler = Profiler()
    profiler.stop()
    profiler.start()
    profiler.analyse()
    assert [name for name, *_ in analysed] == [os.path.basename(path) for path in collections()] and len(analysed) == 2


def test_handlers(said, analysed):
    def record(**more):
        with Profiler(schedule=schedule(wait=0, warmup=1, active=1, repeat=1), **more) as profiler:
            profiler.step()
            profiler.step()

    record(on_trace_ready=tensor_board_trace_handler)
    assert analysed == [(os.path.basename(collections()[0]), True, [])]
    record(on_trace_ready=tensorboard_trace_handler("./there", "me"))
    assert os.path.basename(collections("there")[0]).startswith("me_%d_" % os.getpid()) and len(analysed) == 2
    record(on_trace_ready=tensorboard_trace_handler(analyse_flag=False), output_path="elsewhere")
    assert len(collections("elsewhere")) == 1 and len(analysed) == 2 and not any("output_path" in text for text in warnings_of(said))
    record(on_trace_ready=tensorboard_trace_handler("there", async_mode=True), output_path="nowhere")
    assert len(collections("there")) == 2 and any("output_path" in text for text in warnings_of(said)) and not os.path.exists("nowhere")
    assert analysed[2][1] is False
    assert info_of(collections("there")[0])["profiler_parameters"]["output_path"] == os.path.realpath("there")
    said.clear()
    tensor_board_trace_handler()
    assert said == [("error", "Call tensorboard_trace_handler failed. Exception: there is no finished recording")]


@pytest.mark.parametrize("name, values, text", [
    ("dir_name", ("", 5), "Invalid parameter dir_name, reset it to default."),
    ("worker_name", ("", 5, "x" * 226), "Invalid parameter worker_name, reset it to default."),
    ("analyse_flag", (1, None), "analyse_flag is not bool, set by default."),
    ("async_mode", (1, None), "async_mode is not bool, set by default."),
])
def test_bad_arguments_of_the_handler(said, name, values, text):
    for value in values:
        said.clear()
        assert callable(tensorboard_trace_handler(**{name: value}))
        assert said == [("warning", text)]
        assert profiler_module._Last.place == (None, None)


def test_offline_analyses(said, analysed):
    for _ in range(2):
        Profiler().stop()
    ProfilerInterface.finalize()
    Profiler.offline_analyse("data", pretty=True, step_list=[2, 1], data_simplification=False)
    profiler_module.analyse(collections()[0], max_process_number=3)
    said.clear()
    profiler_module.analyse("data", max_process_number=0)
    assert analysed[:2] == [("data", True, ["--pretty", "--steps", "+1-2", "--simplify=off"]),
                            (os.path.basename(collections()[0]), True, ["--simplify=on", "--max-process-number", 3])]
    assert "'max_process_number'" in warnings_of(said)[0]
    os.mkdir("empty")
    said.clear()
    Profiler.offline_analyse("empty")
    assert said == [("error", "Invalid path: %s. Expected a *_ascend_ms_* directory or a parent directory of multiple *_ascend_ms_*" % os.path.realpath("empty"))]
    with pytest.raises(FileNotFoundError):
        Profiler.offline_analyse("nowhere")
    with pytest.raises(RuntimeError), pytest.warns(UserWarning, match="deprecated"):
        Profiler.op_analyse("Add")


# ---- profile, marks, what is recorded ----

def test_profile_is_the_same(said):
    config = _ExperimentalConfig(profiler_level=ProfilerLevel.Level1, mstx=True, host_sys=[HostSystem.CPU])
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.NPU], with_stack=True, experimental_config=config) as prof:
        assert isinstance(prof, profile)
        prof.add_metadata("a", "b")
    made = info_of(collections()[0])["profiler_parameters"]
    assert (made["profiler_level"], made["mstx"], made["host_sys"], made["with_stack"], made["aic_metrics"]) == ("Level1", True, ["cpu"], True, "PipeUtilization")
    said.clear()
    profile(start_profile=False, experimental_config=5)
    assert "'experimental_config'" in warnings_of(said)[0]
    assert not hasattr(prof, "analyse")
    with pytest.raises(TypeError):
        profile(output_path="x")


class Stream:
    def device_stream(self):
        return 7


def test_marks(said, monkeypatch):
    runtime = types.ModuleType("mindspore.runtime")
    runtime.Stream = Stream
    monkeypatch.setitem(sys.modules, "mindspore.runtime", runtime)
    assert mstx.range_start("before") == 0 and not mstx.enable
    profiler = Profiler(mstx=True, mstx_domain_exclude=["quiet"])
    said.clear()
    first = mstx.range_start("a", None, "mine")
    mstx.mark("b", Stream())
    assert mstx.range_start("c", False, "quiet") == first + 1
    mstx.range_end(first, "mine")
    mstx.range_end(0)
    mstx.range_end(False)
    assert said == [("warning", "Disabled domain: quiet")]
    ended = "Invalid range_id for mstx.range_end func. Please input return value from mstx.range_start."
    for call, text in (
            (lambda: mstx.mark(""), "Invalid message for mstx.mark func. Please input valid message string."),
            (lambda: mstx.range_start(5), "Invalid message for mstx.range_start func. Please input valid message string."),
            (lambda: mstx.mark("m", None, ""), "Invalid domain name for mstx.mark func. Please input str and can not be empty."),
            (lambda: mstx.range_start("m", None, 5), "Invalid domain name for mstx.range_start func. Please input str and can not be empty."),
            (lambda: mstx.range_end(1, ""), "Invalid domain name for mstx.range_end func. Please input str and can not be empty."),
            (lambda: mstx.mark("m", 5), "Invalid stream for mstx.mark func. Expected mindspore.runtime.Stream but got <class 'int'>."),
            (lambda: mstx.range_end(-1), ended), (lambda: mstx.range_end("1"), ended), (lambda: mstx.range_end(first, "mine"), ended),
            (lambda: mstx.range_end(999999), ended)):
        said.clear()
        call()
        assert said == [("warning", text)]
    monkeypatch.setattr(mstx, "NPU_PROFILER", None)
    said.clear()
    mstx.mark("m")
    assert said == [("warning", "Invalid npu profiler for mstx, please check.")]
    monkeypatch.undo()
    profiler.stop()
    assert not mstx.enable
    assert [row[0] for row in ranges_of(ProfilerInterface.path)] == ["Ascend::Mstx::Range", "Ascend::Mstx::Mark"]


class Cell:
    def __call__(self, x):
        return self.construct(x)


class Net(Cell):
    def construct(self, x):
        return len(x)


class DictIterator:
    def _get_next(self):
        return {}


def test_python_calls_cells_and_datasets(said, monkeypatch):
    for name, kind in ("mindspore.nn", Cell), ("mindspore.dataset.engine.iterators", DictIterator):
        module = types.ModuleType(name)
        setattr(module, kind.__name__, kind)
        monkeypatch.setitem(sys.modules, name, module)
    before = DictIterator._get_next
    profiler = Profiler(with_stack=True, activities=[ProfilerActivity.CPU])
    Net()([1, 2])
    DictIterator()._get_next()
    profiler.stop()
    assert DictIterator._get_next is before
    rows = ranges_of(ProfilerInterface.path)
    stacks, line = [name for name, is_stack, _ in rows if is_stack], Cell.__call__.__code__.co_firstlineno
    assert ("Dataset::IteratorConsumer::GetNextAsMap", False, 0) in rows
    here = next(name for name in stacks if name.endswith(":nn.Cell.Net.__call__"))
    assert here.endswith("(%d):nn.Cell.Net.__call__" % line) and "test_mindspore.py" in here
    assert any(name.endswith("(%d):construct" % Net.construct.__code__.co_firstlineno) for name in stacks)
    assert "<built-in function len>" in stacks


# ---- messages, the environment ----

def test_messages_without_mindspore(said, monkeypatch, caplog):
    monkeypatch.delitem(sys.modules, "mindspore.log")
    with caplog.at_level(logging.INFO):
        Profiler(start_profile=False).stop()
    assert [(one.levelname, one.getMessage(), one.name) for one in caplog.records] == [
        ("WARNING", NO_WARMUP[1], "ascope.mindspore"), ("ERROR", NOT_STARTED[1], "ascope.mindspore")]


OPTIONS = {  # MS_PROFILER_OPTIONS: whether it starts, and messages
    "": (False, []),
    "{": (False, [("error", "Failed to load MS_PROFILER_OPTIONS, json decode error.")]),
    "{}": (False, [("error", "Failed to load MS_PROFILER_OPTIONS, json decode error.")]),
    "[1]": (False, [("error", "Failed to load MS_PROFILER_OPTIONS, json decode error.")]),
    '{"start": false}': (False, []),
    '{"start": true, "start_profile": false}': (False, []),
    '{"start": true, "profiler_level": "Level1", "aic_metrics": "None", "activities": ["CPU"]}': (True, [NO_WARMUP, ("warning", "activities has no NPU")]),
    '{"start": 1, "export_type": "db"}': (True, [("warning", "export_type"), NO_WARMUP]),
    '{"start_profile": true, "activities": ["CPU", "TPU"]}': (True, [("warning", "activities"), NO_WARMUP]),
}


@pytest.mark.parametrize("text", OPTIONS)
def test_a_profiler_of_the_environment(said, analysed, monkeypatch, text):
    starts, messages = OPTIONS[text]
    monkeypatch.setenv("MS_PROFILER_OPTIONS", text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ms.EnvProfiler.begin()
    assert len(said) == len(messages) and all(level == wanted and part in heard for (level, heard), (wanted, part) in zip(said, messages)), said
    assert (ms.EnvProfiler.profiler is not None) == starts
    ms.EnvProfiler.analyse()
    assert len(analysed) == starts and ms.EnvProfiler.profiler is None
    if "Level1" in text:
        made = info_of(collections()[0])["profiler_parameters"]
        assert made["profiler_level"] == "Level1" and made["activities"] == ["CPU"]


def test_bad_arguments_of_the_monitor(said, tmp_path, monkeypatch):
    from ascope import _core
    from ascope.mindspore import dynamic_profiler
    asked = []
    monkeypatch.setattr(dynamic_profiler._core, "dynamic_init", lambda path, **given: asked.append((path, given["poll_ms"])))
    with pytest.raises(TypeError):
        dynamic_profiler.DynamicProfilerMonitor()
    with pytest.raises(TypeError):
        dynamic_profiler.DynamicProfilerMonitor(5)
    monitor = dynamic_profiler.DynamicProfilerMonitor("cfg", 5, 0, other=1)
    assert [level for level, _ in said] == ["warning", "error"] and asked == [("cfg", 2000)] and monitor._output_path == "./dyn_profile_data"
    dynamic_profiler.DynamicProfilerMonitor("cfg", poll_interval=True)
    assert asked[-1] == ("cfg", 1000)
    monkeypatch.setenv("RANK_ID", "x")
    with pytest.raises(ValueError):
        dynamic_profiler.DynamicProfilerMonitor("cfg")
    assert _core.dynamic_state() == 0
