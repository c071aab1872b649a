# SPDX-License-Identifier: Apache-2.0
"""dynamic_profile, sentence by sentence as its documents have them: the three ways, the file, its keys, steps, start(), the logs."""
import inspect
import json
import os
import re
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")

from dynamic_job import (FAR, IDLE, POLL, READY, RUNNING, Job, arrive, collections, configure, info_of, log_of, step_until, steps,  # noqa: E402
                         steps_of, template, until, work, write)

from ascope import _core  # noqa: E402
from ascope.torch import dynamic_profile as dp  # noqa: E402


@pytest.fixture
def job(tmp_path):
    """job(function, **env): runs it in a process of its own in tmp_path and returns what it printed."""

    def run(function, **env):
        one = Job(function, str(tmp_path), dict(POLL, **env), "job")
        try:
            return one.end()
        finally:
            one.kill()

    return run


@pytest.fixture
def config(tmp_path):
    """The directory that jobs listen to; collections are in tmp_path, the working directory."""
    return str(tmp_path / "config")


# ---- the module ----

SCRIPT = """
import glob, json, os, time
import torch, torch_npu
import torch_npu.profiler.dynamic_profile
from torch_npu.profiler import dynamic_profile as dp
from ascope.torch.profiler import dynamic_profile
assert dp is dynamic_profile is torch_npu.profiler.dynamic_profile
assert "dynamic_profile" not in torch_npu.profiler.__all__
by_environment = os.environ.get("PROF_CONFIG_PATH")
if not by_environment:
    dp.init("config")
with open("config/profiler_config.json") as f:
    config = json.load(f)
with open("config/new", "w") as f:
    json.dump(dict(config, start_step=-1, active=2, prof_dir="out"), f)
os.rename("config/new", "config/profiler_config.json")
weight = torch.nn.Parameter(torch.ones(4))
optimizer = torch.optim.SGD([weight], lr=0.1)
end = time.monotonic() + 100
while not any("Stop Dynamic" in open(log).read() for log in glob.glob("config/log/dp_*.log")) and time.monotonic() < end:
    weight.sum().backward()
    optimizer.step()
    if not by_environment:
        dp.step()
"""


@pytest.mark.parametrize("command, env", [
    ([sys.executable, "-m", "ascope", "run"], {"PROF_CONFIG_PATH": "config"}),
    ([os.environ.get("ASCOPE_PROGRAM") or "ascope", "run", "--", sys.executable], {"PROF_CONFIG_PATH": "config"}),
    ([os.environ.get("ASCOPE_PROGRAM") or "ascope", "run", "--", sys.executable], {}),
], ids=["by the environment", "ascope run, by the environment", "ascope run, by init"])
def test_scripts_for_npus_as_they_are(tmp_path, command, env):
    """Nothing else is recorded: what `ascope run` would record by itself gives way to the file."""
    (tmp_path / "train.py").write_text(SCRIPT)
    done = subprocess.run([*command, "train.py"], cwd=tmp_path, env=dict(os.environ, **POLL, **env), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=250)
    assert done.returncode == 0, done.stdout
    path, = collections(tmp_path / "out")
    assert len(steps_of(path)) == 2, done.stdout
    assert collections(tmp_path) == [] and not (tmp_path / "result").exists()


def test_parameters():
    signatures = {name: str(inspect.signature(getattr(dp, name)).replace(return_annotation=inspect.Signature.empty)) for name in dp.__all__}
    assert signatures == {"init": "(path: str)", "step": "()", "start": "(config_path: Optional[str] = None)", "set_state": "(state: Dict[str, int])"}


# ---- init ----

def test_init_writes_the_template_with_the_documented_defaults(job, config, tmp_path):
    job(lambda: dp.init(config + "/a/b"))
    with open(config + "/a/b/profiler_config.json") as f:
        text = f.read()
    assert json.loads(text) == {
        "activities": ["CPU", "NPU"], "prof_dir": "./", "analyse": False, "record_shapes": False, "profile_memory": False, "with_stack": False,
        "with_flops": False, "with_modules": False, "active": 1, "warmup": 0, "start_step": 0, "is_rank": False, "rank_list": [],
        "experimental_config": {
            "profiler_level": "Level0", "aic_metrics": "AiCoreNone", "l2_cache": False, "op_attr": False, "gc_detect_threshold": None,
            "data_simplification": True, "record_op_args": False, "export_type": ["text"], "mstx": False, "mstx_domain_include": [],
            "mstx_domain_exclude": [], "host_sys": [], "sys_io": False, "sys_interconnection": False}}
    assert text.startswith('{\n    "activities": ["CPU", "NPU"],\n') and not text.endswith("\n")
    assert sorted(os.listdir(config + "/a/b")) == ["log", "profiler_config.json"]
    assert os.stat(config + "/a/b/log").st_mode & 0o777 == 0o750 & ~current_umask()
    assert collections(tmp_path) == []


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_init_leaves_a_file_that_is_there_and_it_starts_nothing_until_it_changes(job, config, tmp_path):
    def run():
        os.makedirs(config)
        write(config + "/profiler_config.json", '{"start_step": -1}')
        dp.init(config)
        steps(100)
        assert _core.dynamic_state() == IDLE
        configure(config, active=1)
        step_until(RUNNING)
        steps(1)

    job(run)
    with open(config + "/profiler_config.json") as f:
        assert json.load(f) == {"start_step": -1, "active": 1}
    assert len(collections(tmp_path)) == 1


@pytest.mark.parametrize("path, part", [(7, "7"), (None, "None"), ("", "''"), (b"x", "b'x'")])
def test_init_takes_a_path(job, path, part):
    text = job(lambda: dp.init(path) or dp.step())
    assert "dynamic_profile: init: expected a path, got %s; dynamic profiling is disabled" % part in text


def test_init_refuses_a_file(job, config):
    write(config, "")
    text = job(lambda: dp.init(config) or steps(2))
    assert len([line for line in text.splitlines() if "[ERROR]" in line]) == 3  # init, and each step: it is disabled
    assert config in text.splitlines()[0]


def test_a_second_init_warns_and_changes_nothing(job, config, tmp_path):
    def run():
        dp.init(config)
        dp.init(config + "2")
        dp.init(config)
        configure(config, start_step=-1)
        step_until(RUNNING)
        steps(1)

    text = job(run)
    assert len([line for line in text.splitlines() if "[WARNING]" in line and "init" in line]) == 2
    assert not os.path.exists(config + "2")
    assert len(log_of(config, part="Start Dynamic Profiler")) == 1  # each line once


def test_a_path_with_other_characters_or_a_link_is_accepted_with_a_warning(job, tmp_path):
    real, link = tmp_path / "a path, with more", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)

    def run(path):
        dp.init(str(path))
        configure(str(path), start_step=-1)
        step_until(RUNNING)
        steps(1)

    for path in real, link:
        assert len(re.findall(r"\[WARNING\].*%s" % re.escape(str(path)), job(lambda: run(path)))) >= 1
    assert len(collections(tmp_path)) == 2


def test_step_without_init_is_an_error_each_time_and_counts(job):
    def run():
        steps(3)
        print("step", _core.dynamic_current_step())

    text = job(run)
    assert text.count("[ERROR]") == 3 and "step 3" in text


# ---- start_step ----

@pytest.mark.parametrize("before", [1, 5])
def test_a_collection_begins_in_the_call_of_its_start_step(job, config, tmp_path, before):
    """With 20 calls done, 21 works; the n-th call begins it, and the work until the (n+active)-th is recorded."""

    def run():
        dp.init(config)
        configure(config, start_step=FAR, active=2, prof_dir="out")
        arrive(before)
        for _ in range(before - 1):
            steps(1)
            assert _core.dynamic_state() == READY
        steps(1)
        assert _core.dynamic_state() == RUNNING and _core.dynamic_current_step() == FAR
        steps(1)
        assert _core.dynamic_state() == RUNNING
        steps(1)
        assert _core.dynamic_state() == IDLE

    job(run)
    path, = collections(tmp_path / "out")
    assert steps_of(path) == [FAR, FAR + 1]
    assert info_of(path)["config"]["common_config"]["schedule"] == dict(wait=0, active=2, warmup=0, repeat=1, skip_first=0, skip_first_wait=0)
    assert log_of(config, part="Start Dynamic Profiler at %d step" % FAR) and log_of(config, part="Stop Dynamic Profiler at %d step" % (FAR + 2))


def test_a_start_step_that_has_passed_is_dropped_with_both_numbers(job, config, tmp_path):
    def run():
        dp.init(config)
        dp.set_state({"cur_step": 20})
        configure(config, start_step=20)
        until(lambda: log_of(config, "monitor_dp", "load json success"))
        end = time.monotonic() + 60
        while not lines_of("job.out", "20") and time.monotonic() < end:
            dp.step()

    text = job(run)
    line, = [line for line in text.splitlines() if "[WARNING]" in line and "start_step" in line]
    assert re.search(r"\b20\b", line) and re.search(r"\b2[1-9]\b|\b[3-9]\d\b|\b\d{3,}\b", line)
    assert collections(tmp_path) == []


def lines_of(path, part):
    with open(path) as f:
        return [line for line in f.read().splitlines() if part in line]


def test_minus_1_begins_in_the_next_step_and_0_cancels_what_waits(job, config, tmp_path):
    def run():
        dp.init(config)
        configure(config, start_step=FAR)
        step_until(READY)
        configure(config, start_step=0)
        step_until(IDLE)
        configure(config, start_step=-1, prof_dir="next")
        at = step_until(RUNNING)
        steps(1)
        print("began", at)
        dp.set_state({"cur_step": FAR - 2})
        steps(5)  # past the step of the request that was cancelled

    text = job(run)
    path, = collections(tmp_path / "next")
    assert steps_of(path) == [int(re.search(r"began (\d+)", text).group(1))]
    assert collections(tmp_path) == []


def test_warmup_steps_are_counted_and_not_recorded(job, config, tmp_path):
    def run():
        dp.init(config)
        configure(config, start_step=FAR, warmup=2, active=2)
        arrive(1)
        steps(4)
        assert _core.dynamic_state() == RUNNING
        steps(1)
        assert _core.dynamic_state() == IDLE

    job(run)
    path, = collections(tmp_path)
    assert steps_of(path) == [FAR + 2, FAR + 3]


def test_a_change_during_a_collection_starts_the_next_one_after_it(job, config, tmp_path):
    def run():
        dp.init(config)
        configure(config, start_step=-1, prof_dir="a", active=50)
        at = step_until(RUNNING)
        configure(config, prof_dir="b", active=1)
        until(lambda: len(log_of(config, "monitor_dp", "load json success")) == 2)
        configure(config, prof_dir="c", active=2)  # of several changes the last one counts
        until(lambda: len(log_of(config, "monitor_dp", "load json success")) == 3)
        steps(49)
        assert _core.dynamic_state() == RUNNING
        steps(1)
        assert _core.dynamic_current_step() == at + 50
        step_until(RUNNING)
        steps(2)
        assert _core.dynamic_state() == IDLE

    job(run)
    (first,), (third,) = collections(tmp_path / "a"), collections(tmp_path / "c")
    assert not (tmp_path / "b").exists()
    last = steps_of(first)[-1]
    assert len(steps_of(first)) == 50 and len(steps_of(third)) == 2 and steps_of(third)[0] >= last + 2  # one iteration between them is not collected


def test_a_touched_file_counts_as_a_change_and_so_does_one_with_an_older_time_or_the_same_one(job, config, tmp_path):
    """By its status: time, size, inode, content. File systems with coarse times, and clocks that are behind, hide nothing."""
    file = config + "/profiler_config.json"

    def once(change):
        change()
        step_until(RUNNING)
        steps(1)
        assert _core.dynamic_state() == IDLE

    def run():
        dp.init(config)
        once(lambda: configure(config, start_step=-1))
        once(lambda: os.utime(file))
        once(lambda: os.utime(file, (1000, 1000)))
        once(lambda: os.utime(file, (4000000000, 4000000000)))

    job(run)
    assert len(collections(tmp_path)) == 4


# ---- polling ----

def test_the_interval_becomes_the_length_of_a_step_and_at_least_a_second(job, config):
    def run():
        os.environ.pop("ASCOPE_DYNAMIC_POLL_MS")
        dp.init(config)
        steps(12)

    job(run)
    lines = log_of(config, part="is looked at every")
    assert len(lines) == 1 and re.search(r"\b1\b", lines[0]), log_of(config)


# ---- the keys of the file ----

KEYS = {
    "activities": (["cpu"], ("common_config", "activities"), ["ProfilerActivity.CPU"]),
    "record_shapes": (True, ("common_config", "record_shapes"), True),
    "profile_memory": (True, ("common_config", "profile_memory"), True),
    "with_stack": (True, ("common_config", "with_stack"), True),
    "with_flops": (True, ("common_config", "with_flops"), True),
    "with_modules": (True, ("common_config", "with_modules"), True),
}
EXPERIMENTAL = {
    "profiler_level": ("Level2", "_profiler_level", "Level2"),
    "aic_metrics": ("MemoryUB", "_aic_metrics", "ACL_AICORE_MEMORY_UB"),
    "l2_cache": (True, "_l2_cache", True),
    "op_attr": (True, "_op_attr", True),
    "gc_detect_threshold": (1.5, "_gc_detect_threshold", 1.5),
    "data_simplification": (False, "_data_simplification", False),
    "record_op_args": (True, "record_op_args", True),
    "export_type": (["text", "db"], "_export_type", ["text", "db"]),
    "mstx": (True, "_mstx", True),
    "mstx_domain_include": (["mine"], "_mstx_domain_include", ["mine"]),
    "host_sys": (["cpu", "mem"], "_host_sys", ["cpu", "mem"]),
    "sys_io": (True, "_sys_io", True),
    "sys_interconnection": (True, "_sys_interconnection", True),
}


def test_every_key_reaches_the_collection(job, config, tmp_path):
    def run():
        dp.init(config)
        configure(config, start_step=-1, prof_dir="here", metadata={"layers": 24, "name": "gpt", "nested": {"a": [1, None]}},
                  **{key: row[0] for key, row in KEYS.items()}, experimental_config={key: row[0] for key, row in EXPERIMENTAL.items()})
        step_until(RUNNING)
        steps(1)

    job(run, ASCOPE_DEVICE="sim")
    path, = collections(tmp_path / "here")
    found = info_of(path)["config"]
    assert {key: found[row[1][0]][row[1][1]] for key, row in KEYS.items()} == {key: row[2] for key, row in KEYS.items()}
    kept = found["experimental_config"]
    assert {key: kept[row[1]] for key, row in EXPERIMENTAL.items()} == {key: row[2] for key, row in EXPERIMENTAL.items()}
    with open(path + "/profiler_metadata.json") as f:
        metadata = json.load(f)
    assert {key: metadata[key] for key in ("layers", "name", "nested")} == {"layers": 24, "name": "gpt", "nested": {"a": [1, None]}}


def test_only_start_step_is_required(job, config, tmp_path):
    def run():
        dp.init(config)
        write(config + "/profiler_config.json", '{"start_step": -1, "of_somebody_else": {"x": []}}')
        step_until(RUNNING)
        steps(1)
        assert _core.dynamic_state() == IDLE

    job(run)
    path, = collections(tmp_path)
    assert not os.path.exists(path + "/ASCEND_PROFILER_OUTPUT")
    kept = info_of(path)["config"]
    assert kept["common_config"]["activities"] == ["ProfilerActivity.CPU", "ProfilerActivity.NPU"]
    assert kept["experimental_config"]["_profiler_level"] == "Level0" and kept["experimental_config"]["_aic_metrics"] == "ACL_AICORE_NONE"


@pytest.mark.parametrize("level, metrics", [("Level0", "ACL_AICORE_NONE"), ("Level1", "ACL_AICORE_PIPE_UTILIZATION")])
def test_the_default_of_aic_metrics_depends_on_the_level(job, config, tmp_path, level, metrics):
    def run():
        dp.init(config)
        write(config + "/profiler_config.json", json.dumps({"start_step": -1, "experimental_config": {"profiler_level": level}}))
        step_until(RUNNING)
        steps(1)

    job(run)
    assert info_of(collections(tmp_path)[0])["config"]["experimental_config"]["_aic_metrics"] == metrics


# Values that cannot be used: the default counts, the log names line, key, value and what is accepted, and the job goes on.
BAD = {
    "active": [0, -1, "2", 1.5, None], "warmup": [-1, "x", []], "is_rank": ["yes", 3], "activities": ["CPU", ["GPU"], [3], []],
    "analyse": ["true", 1], "async_mode": [None], "record_shapes": ["on", 0], "metadata": [[], "x"], "experimental_config": [[], 3],
    "prof_dir": [7, []],
}
BAD_INNER = {
    "profiler_level": ["Level9", 1], "aic_metrics": ["Nothing", 5], "l2_cache": ["on"], "export_type": ["pdf", ["text", "pdf"], 7],
    "gc_detect_threshold": [-1, "1"], "host_sys": ["gpu", ["cpu", "gpu"]], "mstx_domain_include": [3, [3]], "sys_io": [1],
}


def test_values_that_cannot_be_used_become_defaults_with_a_line_in_the_log(job, config, tmp_path):
    rows = [(key, value, {key: value}) for key, values in BAD.items() for value in values]
    rows += [(key, value, {"experimental_config": {key: value}}) for key, values in BAD_INNER.items() for value in values]

    def run():
        dp.init(config)
        for i, (key, value, change) in enumerate(rows):
            text = json.dumps(dict({"start_step": -1, "prof_dir": "out"}, **change))
            write(config + "/profiler_config.json", text)
            step_until(RUNNING)
            steps(1)
            assert _core.dynamic_state() == IDLE, (key, value)

    text = job(run)
    assert "Traceback" not in text
    log = log_of(config) + text.splitlines()
    unnamed = [(key, value) for key, value, _ in rows
               if value is not None and not any(key in line and json.dumps(value).strip('"[]') in line for line in log)]
    assert unnamed == []


# ---- files that cannot be used ----

def break_file(file, how):
    if os.path.islink(file) or os.path.exists(file):
        os.remove(file)
    how(file)


BROKEN = {
    "broken JSON": lambda file: write(file, '{"start_step": -1,'),
    "half of a file": lambda file: write(file, '{\n    "start_step": -1,\n    "active'),
    "a list": lambda file: write(file, "[1, 2]"),
    "a text": lambda file: write(file, '"start"'),
    "null": lambda file: write(file, "null"),
    "no text at all": lambda file: open(file, "wb").write(b"\xff\xfe\x00{"),
    "too large": lambda file: write(file, '{"start_step": -1, "metadata": {"x": "%s"}}' % ("x" * (1 << 20))),
    "missing": lambda file: None,
    "a directory": lambda file: os.mkdir(file),
    "a FIFO": lambda file: os.mkfifo(file),
    "a link to nowhere": lambda file: os.symlink("/nowhere/at/all", file),
    "deep": lambda file: write(file, "[" * 100000),
}


def test_a_file_that_cannot_be_used_is_one_line_and_the_next_good_one_works(job, config, tmp_path):
    file = config + "/profiler_config.json"

    def run():
        dp.init(config)
        for number, (what, how) in enumerate(BROKEN.items()):
            before = len(log_of(config, "monitor_dp"))
            break_file(file, how)
            until(lambda: len(log_of(config, "monitor_dp")) > before, what)
            steps(3)
            step_until(IDLE)
            if os.path.isdir(file):
                os.rmdir(file)
            elif os.path.lexists(file):
                os.remove(file)
            write(file, json.dumps({"start_step": -1, "prof_dir": "good", "active": 1 + number}))
            step_until(RUNNING)
            steps(1 + number)
            assert _core.dynamic_state() == IDLE, what

    job(run)
    assert [len(steps_of(path)) for path in collections(tmp_path / "good")] == [1 + number for number in range(len(BROKEN))]


def test_a_config_that_waits_survives_a_broken_file(job, config, tmp_path):
    def run():
        dp.init(config)
        configure(config, start_step=FAR)
        step_until(READY)
        write(config + "/profiler_config.json", "{")
        until(lambda: log_of(config, "monitor_dp", "load json failed"))
        arrive(1)
        steps(1)
        assert _core.dynamic_state() == RUNNING
        steps(1)

    job(run)
    assert len(collections(tmp_path)) == 1


def test_prof_dir_that_cannot_be_written_is_an_error_and_the_job_goes_on(job, config, tmp_path):
    write(tmp_path / "file", "")

    def run():
        dp.init(config)
        configure(config, start_step=-1, prof_dir="file/below")
        end = time.monotonic() + 60
        while not lines_of("job.out", "[ERROR]") and time.monotonic() < end:
            dp.step()
        assert _core.dynamic_state() == IDLE
        configure(config, prof_dir="good")
        step_until(RUNNING)
        steps(1)

    text = job(run)
    assert str(tmp_path / "file") + ": cannot be created" in text and "stopped while" not in text
    assert len(collections(tmp_path / "good")) == 1


# ---- analysis ----

@pytest.mark.parametrize("keys, is_analysed", [
    (dict(analyse=True), True), (dict(analyse=True, async_mode=True), True), (dict(async_mode=True), False),
    (dict(analyse=True, is_rank=True, rank_list=[0]), False), (dict(analyse=True, async_mode=True, is_rank=True, rank_list=[0]), True)])
def test_analysis(job, config, tmp_path, keys, is_analysed):
    """After is_rank automatic analysis does not take effect, unless it is asynchronous."""

    def run():
        dp.init(config)
        configure(config, start_step=-1, **keys)
        step_until(RUNNING)
        steps(1)

    job(run, RANK="0")
    path, = collections(tmp_path)
    assert os.path.exists(path + "/ASCEND_PROFILER_OUTPUT/trace_view.json") == is_analysed


# ---- start() ----

def test_start_begins_at_once_by_the_file_that_it_is_given(job, config, tmp_path):
    """The code between start() and step() is recorded: iteration 0, too. start_step and ranks of that file do not count, nor do its changes."""
    mine = str(tmp_path / "mine.json")
    write(mine, json.dumps({"active": 2, "prof_dir": "a", "start_step": 77, "is_rank": True, "rank_list": []}))

    def run():
        dp.init(config)
        dp.start(mine)
        assert _core.dynamic_state() == RUNNING
        write(mine, json.dumps({"active": 5, "prof_dir": "b", "start_step": -1}))
        steps(2)
        assert _core.dynamic_state() == IDLE
        steps(50)
        assert _core.dynamic_state() == IDLE

    text = job(run)
    assert re.search(r"\[INFO\].*" + re.escape(mine), text)
    path, = collections(tmp_path / "a")
    assert steps_of(path) == [0, 1]
    assert not (tmp_path / "b").exists()


UNUSABLE = {"none given": None, "an empty text": "", "missing": "missing.json", "a directory": ".", "broken": "broken.json", "empty": "empty.json",
            "an empty object": "object.json", "a list": "list.json"}


@pytest.mark.parametrize("what", UNUSABLE)
def test_start_falls_back_to_the_file_of_init(job, config, tmp_path, what):
    """Without a file, or with one that does not take effect due to an error."""
    for name, text in ("broken", "{"), ("empty", ""), ("object", "{}"), ("list", "[]"):
        write(tmp_path / (name + ".json"), text)

    def run():
        dp.init(config)
        configure(config, prof_dir="of_init")
        dp.start(UNUSABLE[what]) if UNUSABLE[what] is not None else dp.start()
        assert _core.dynamic_state() == RUNNING
        steps(1)

    text = job(run)
    assert len(collections(tmp_path / "of_init")) == 1
    assert ("[ERROR]" in text) == (what not in ("none given", "an empty text"))
    assert ("expected a file such as profiler_config.json" in text) == (what == "a directory")


def test_start_does_not_take_effect_during_a_collection_and_works_after_it(job, config, tmp_path):
    def run():
        dp.init(config)
        write("second.json", '{"prof_dir": "second"}')
        configure(config, start_step=-1, prof_dir="first", active=2)
        step_until(RUNNING)
        dp.start("second.json")
        steps(1)
        dp.start("second.json")
        steps(1)
        assert _core.dynamic_state() == IDLE
        dp.start("second.json")
        assert _core.dynamic_state() == RUNNING
        dp.start("second.json")
        steps(1)
        assert _core.dynamic_state() == IDLE

    text = job(run)
    assert text.count("[ERROR]") == 3
    assert len(collections(tmp_path / "first")) == len(collections(tmp_path / "second")) == 1


def test_a_change_of_the_file_of_init_during_start_begins_after_it(job, config, tmp_path):
    def run():
        dp.init(config)
        write("mine.json", '{"prof_dir": "of_start", "active": 3}')
        dp.start("mine.json")
        configure(config, start_step=-1, prof_dir="of_init")
        until(lambda: log_of(config, "monitor_dp", "load json success"))
        steps(3)
        step_until(RUNNING)
        steps(1)

    job(run)
    assert len(collections(tmp_path / "of_start")) == len(collections(tmp_path / "of_init")) == 1


def test_start_drops_a_request_that_waits(job, config, tmp_path):
    def run():
        dp.init(config)
        configure(config, start_step=FAR, prof_dir="waits")
        step_until(READY)
        dp.step()
        write("mine.json", '{"prof_dir": "mine"}')
        dp.start("mine.json")
        steps(1)
        dp.set_state({"cur_step": FAR - 1})
        steps(2)
        assert _core.dynamic_state() == IDLE

    job(run)
    assert len(collections(tmp_path / "mine")) == 1 and not (tmp_path / "waits").exists()


def test_start_without_init_is_refused(job, tmp_path):
    write(tmp_path / "mine.json", "{}")
    text = job(lambda: dp.start("mine.json") or dp.start(3) or dp.start())
    assert text.count("[ERROR]") >= 3 and collections(tmp_path) == []


# ---- set_state ----

def test_set_state(job):
    def run():
        dp.set_state({"cur_step": 41})
        steps(1)
        print("step", _core.dynamic_current_step())
        dp.set_state({})
        print("step", _core.dynamic_current_step())
        for bad in (3, {"cur_step": -1}, {"cur_step": "3"}, None, {"cur_step": 1 << 70}):
            dp.set_state(bad)
        print("step", _core.dynamic_current_step())

    text = job(run)
    assert re.findall(r"^step (\d+)", text, re.M) == ["42", "0", "0"]
    assert text.count("set_state") == 5


# ---- the end of a job ----

@pytest.mark.parametrize("how", ["returns", "raises", "interrupted"])
def test_a_collection_that_the_end_of_the_job_cuts_is_analysed(tmp_path, config, how):
    def run():
        dp.init(config)
        configure(config, start_step=-1, active=100, analyse=True)
        step_until(RUNNING)
        steps(2)
        if how == "raises":
            raise ValueError("the training failed")
        if how == "interrupted":
            os.kill(os.getpid(), 2)
            time.sleep(60)

    one = Job(run, str(tmp_path), POLL, "job")
    text = one.end(code=0 if how == "returns" else 1)
    assert re.search(r"\[WARNING\].*active", text)
    path, = collections(tmp_path)
    assert os.path.exists(path + "/ASCEND_PROFILER_OUTPUT/trace_view.json") and len(steps_of(path)) == 3


def test_one_that_is_cut_in_its_warm_up_is_removed(job, config, tmp_path):
    def run():
        dp.init(config)
        configure(config, start_step=-1, warmup=5)
        step_until(RUNNING)

    job(run)
    assert collections(tmp_path) == []


# ---- messages and logs ----

def test_warnings_of_other_ranks_are_in_the_log_alone(job, config):
    def run():
        dp.init(config)
        dp.init(config)

    assert "[WARNING]" in job(run, RANK="0")
    assert "[WARNING]" not in job(run, RANK="1")


def test_logs_have_the_documented_names_and_lines(job, config):
    def run():
        dp.init(config)
        configure(config, start_step=-1)
        step_until(RUNNING)
        steps(1)
        print("pid", os.getpid())

    pid = re.search(r"pid (\d+)", job(run, RANK="3")).group(1)
    host = os.uname().nodename
    assert "dp_%s_%s_rank_3.log" % (host, pid) in os.listdir(config + "/log")
    monitor, = [name for name in os.listdir(config + "/log") if name.startswith("monitor_dp_")]
    assert re.fullmatch(r"monitor_dp_%s_\d+_rank_3\.log" % re.escape(host), monitor)
    line = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} \[(INFO|WARNING|ERROR)\] \[\d+\] \S+\.py: \S.*"
    assert all(re.fullmatch(line, one) for one in log_of(config) + log_of(config, "monitor_dp"))
    assert log_of(config, "monitor_dp", "Dynamic profiler process load json success")
    assert log_of(config, "monitor_dp")[-1].endswith("Dynamic profiler process done")


def test_logs_of_200_kb_become_log_1(job, config):
    """The oldest lines are in .log.1, and older ones are deleted."""

    def run():
        dp.init(config)
        for _ in range(5000):
            dp.init("again")  # a line each time

    job(run)
    log, = [config + "/log/" + name for name in os.listdir(config + "/log") if re.fullmatch(r"dp_.*\.log", name)]
    lines = [open(path).read().splitlines() for path in (log + ".1", log)]
    assert sum(map(len, lines)) < 5000 and all("init" in line for part in lines for line in part)
    sizes = [os.path.getsize(log + ".1"), os.path.getsize(log)]
    assert 200000 < sizes[0] <= 204800 and sizes[1] <= 204800 and lines[0][-1] <= lines[1][0]
    assert sorted(os.listdir(config + "/log"))[0] == os.path.basename(log)


# ---- PROF_CONFIG_PATH ----

def loop(n, made=lambda parameters: torch.optim.SGD(parameters, lr=0.1), each=lambda optimizer: optimizer.step()):
    """A training: an optimizer, and n iterations."""
    weight = torch.nn.Parameter(torch.ones(4))
    optimizer = made([weight])
    for _ in range(n):
        optimizer.zero_grad()
        weight.sum().backward()
        each(optimizer)
    return optimizer


class Calls(torch.optim.SGD):
    """A subclass whose step() is that of its base class, with something before it."""

    def step(self, closure=None):
        return super().step(closure)


class Own:
    """An optimizer that is not derived from PyTorch's."""

    def __init__(self, parameters):
        self.parameters = parameters

    def zero_grad(self):
        pass

    def step(self):
        pass


def older(optimizer):
    keep.append(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1))
    optimizer.step()


def accumulates(optimizer):
    for _ in range(3):
        torch.nn.functional.relu(optimizer.param_groups[0]["params"][0]).sum().backward()
    optimizer.step()


def calls_step_too(optimizer):
    optimizer.step()
    dp.step()


keep = []
COUNTED = {
    "one optimizer": (lambda: loop(7), 7),
    "Adam": (lambda: loop(7, lambda p: torch.optim.Adam(p)), 7),
    "a subclass that calls step() of its base": (lambda: [loop(3), loop(7, lambda p: Calls(p, lr=0.1))], 10),
    "the one constructed last": (lambda: loop(7, each=older), 0),
    "gradients of several passes": (lambda: loop(7, each=accumulates), 7),
    "a script that also calls step()": (lambda: loop(7, each=calls_step_too), 7),
    "not PyTorch's": (lambda: loop(7, Own), 0),
    "with a closure": (lambda: loop(7, each=lambda o: o.step(lambda: torch.zeros(()))), 7),
}


@pytest.mark.parametrize("what", COUNTED)
def test_a_step_is_one_of_the_optimizer_that_was_constructed_last(job, config, what):
    train, n = COUNTED[what]

    def run():
        dp.from_environment()
        train()
        print("step", _core.dynamic_current_step())

    text = job(run, PROF_CONFIG_PATH=config)
    assert re.findall(r"^step (\d+)", text, re.M) == [str(n)]
    assert os.path.exists(config + "/profiler_config.json")


def test_the_first_iteration_cannot_be_recorded_by_the_environment(job, config, tmp_path):
    """start_step 1 is the first one that can be asked for, and it begins when the first iteration has ended."""

    def run():
        dp.from_environment()
        configure(config, start_step=1, active=1)
        until(lambda: log_of(config, "monitor_dp", "load json success"))
        loop(3)

    job(run, PROF_CONFIG_PATH=config)
    assert all(0 not in steps_of(path) for path in collections(tmp_path))


@pytest.mark.parametrize("argv, env, listens", [
    ("train.py", {}, True), ("/usr/bin/torchrun", {}, False), ("/x/site-packages/torch/distributed/run.py", {}, False),
    ("torch.distributed.run", {}, False), ("/usr/bin/vllm", {}, False), ("/usr/bin/torchrun", {"RANK": "0"}, True),
    ("my_torchrun.py", {}, True), ("vllm/train.py", {}, True), ("/x/vllm/entrypoints/openai/api_server.py", {}, False)])
def test_who_listens(job, config, argv, env, listens):
    """Ranks, and not the programs that start them."""

    def run():
        import sys
        sys.argv = [argv, "torchrun"]
        dp.from_environment()
        print("state", _core.dynamic_state())

    assert ("state 1" in job(run, PROF_CONFIG_PATH=config, **env)) == listens


def test_a_path_of_the_environment_that_is_a_file_disables_it(job, config):
    write(config, "")
    text = job(lambda: dp.from_environment() or loop(1), PROF_CONFIG_PATH=config)
    assert "[ERROR]" in text and config in text


def test_pytorch_2_wraps_the_step_of_each_class_at_another_place(job, config, monkeypatch):
    """torch.optim.Optimizer of 2.x, as far as it matters: _patch_step_function, a static profile_hook_step, hooks."""
    import functools

    class Optimizer:
        def __init__(self, params, defaults):
            self.param_groups = [{"params": list(params)}]
            self._patch_step_function()

        @staticmethod
        def profile_hook_step(func):
            @functools.wraps(func)
            def wrapper(*args, **kwargs):
                return func(*args, **kwargs)

            return wrapper

        def _patch_step_function(self):
            hooked = getattr(self.__class__.step, "hooked", None)
            if not hooked:
                self.__class__.step = self.profile_hook_step(self.__class__.step)
                self.__class__.step.hooked = True

        def step(self, closure=None):
            raise NotImplementedError

    class Plain(Optimizer):
        def step(self, closure=None):
            return 5

    class Derived(Plain):
        def step(self, closure=None):
            return super().step(closure) + 1

    def run():
        torch.optim.Optimizer = Optimizer
        dp.from_environment()
        for cls, result in (Plain, 5), (Derived, 6), (Plain, 5):
            optimizer = cls([], {})
            assert [optimizer.step() for _ in range(2)] == [result] * 2
        print("step", _core.dynamic_current_step())

    assert "step 6" in job(run, PROF_CONFIG_PATH=config)
