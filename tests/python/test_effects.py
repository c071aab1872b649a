# SPDX-License-Identifier: Apache-2.0
"""What each parameter does to the results: a small training is recorded with it and without, and everything that differs is named.

A recording is known by its features: files, filled columns of tables, filled tables of the database, what is in the timeline, raw
files. A row of EFFECTS says which of them come and which go; all others have to stay.
"""
import csv
import fnmatch
import functools
import gc
import glob
import inspect
import json
import os
import re
import shlex
import sqlite3
import subprocess
import time

import pytest

torch = pytest.importorskip("torch")

from ascope.torch import mstx, profiler  # pylint: disable=wrong-import-position
from ascope.torch.profiler import AiCMetrics, ProfilerActivity, _ExperimentalConfig  # pylint: disable=wrong-import-position

OF_CONFIG = set(inspect.signature(_ExperimentalConfig.__init__).parameters)
EMPTY = ("", "N/A", "NULL", None)


# ---- a training, and how it is recorded ----

class Training:
    """Forward, backward, optimizer, a copy to the host, an operator of the AI CPU, marks in two domains, garbage."""

    def __init__(self):
        torch.manual_seed(1)
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1, momentum=0.9)
        self.x, self.y = torch.randn(4, 8), torch.tensor([0, 1, 1, 0])

    def step(self):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.net(self.x), self.y)
        loss.backward()
        self.optimizer.step()
        mstx.mark("plain")
        mstx.mark("read", domain="io")
        torch.unique(self.y)
        gc.collect(0)
        return loss.item()


@functools.lru_cache(None)
def training():
    one = Training()
    one.step()
    return one


@pytest.fixture(autouse=True)
def simulated(monkeypatch):
    monkeypatch.setenv("ASCOPE_DEVICE", "sim")
    monkeypatch.delenv("RANK", raising=False)


def profiled(given, plan, steps, handler, pause=0):
    """The profiler of a run of some steps; parameters are those of `profile` and of `_ExperimentalConfig`."""
    config = _ExperimentalConfig(**{name: value for name, value in given.items() if name in OF_CONFIG})
    prof = profiler.profile(schedule=profiler.schedule(**plan), on_trace_ready=handler, experimental_config=config,
                            **{name: value for name, value in given.items() if name not in OF_CONFIG})
    with prof:
        for _ in range(steps):
            training().step()
            time.sleep(pause)
            prof.step()
    return prof


def collections_in(place):
    return sorted(glob.glob(os.path.join(str(place), "*_ascend_pt")))


_seen = {}  # features by parameters: most rows have the same "without"


def recorded_features(tmp_path, given):
    key = repr(sorted(given.items(), key=str))
    if key not in _seen:
        place = tmp_path / str(len(_seen))
        pause = 0.06 if "host_sys" in given else 0  # samplers look 50 times a second, and at the start and the stop
        profiled(given, {"wait": 0, "warmup": 1, "active": 1, "repeat": 1}, 2,
                 profiler.tensorboard_trace_handler(str(place)), pause)
        collection, = collections_in(place)
        _seen[key] = features(collection)
    return _seen[key]


# ---- what is in a recording ----

def table_features(path):
    name = os.path.basename(path)
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    yield name
    for column in rows[0] if rows else ():
        if any(row[column] not in EMPTY for row in rows):
            yield "%s: %s" % (name, column)


def timeline_features(path):
    with open(path, encoding="utf-8") as f:
        events = json.load(f)
    names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    yield "timeline"
    for e in events:
        if e["ph"] == "M":
            continue
        process = names.get(e["pid"], "without a name")
        if "event_type" in e.get("args", {}):
            yield "marks of domain %s" % e["args"]["domain"]
            continue
        yield "timeline: " + process
        if e["ph"] in "sf":
            yield "timeline: flow events %s" % e["cat"]
        elif process == "Python":
            yield "timeline: Python %s" % e.get("cat")
        for key in e.get("args", {}) if process != "AI Core Freq" else ():
            yield "timeline: %s {%s}" % (process, key)


def database_features(path):
    with sqlite3.connect(path) as connection:
        tables = [name for name, in connection.execute("select name from sqlite_master where type = 'table'")]
        strings = dict(connection.execute("select id, value from STRING_IDS")) if "STRING_IDS" in tables else {}
        for name in tables:
            if not name.startswith("ENUM_") and connection.execute("select 1 from %s limit 1" % name).fetchone():
                yield "%s: %s" % (os.path.basename(path), name)
        if "COMPUTE_TASK_INFO" in tables:
            cursor = connection.execute("select * from COMPUTE_TASK_INFO")
            for column, values in zip([d[0] for d in cursor.description], zip(*cursor.fetchall())):
                if any(strings.get(value, value) not in EMPTY for value in values):
                    yield "%s: COMPUTE_TASK_INFO.%s" % (os.path.basename(path), column)


def raw_features(directory):
    for place, _, names in os.walk(directory):
        part = os.path.relpath(place, directory).split(os.sep)[0]
        for name in names:
            if (part == "FRAMEWORK" or place.endswith("/data")) and not name.endswith(".done"):
                yield "raw: " + re.sub(r"(\.\d)?\.slice_\d+$", "", name)


def features(directory):
    found = set(raw_features(directory))
    found.update("op_args: " + os.path.basename(path).split("_")[0] for path in glob.glob(directory + "_op_args/*/*.json"))
    for path in glob.glob(os.path.join(directory, "ASCEND_PROFILER_OUTPUT", "*")):
        kind = os.path.splitext(path)[1]
        if kind == ".csv":
            found.update(table_features(path))
        elif path.endswith("trace_view.json"):
            found.update(timeline_features(path))
        elif kind == ".db":
            found.update(database_features(path))
        else:
            found.add(os.path.basename(path))
    return found


# ---- what comes and goes with a parameter ----

TASKS = ["kernel_details.csv*", "step_trace_time.csv*", "timeline: Ascend Hardware*", "timeline: Overlap Analysis",
         "timeline: CANN", "timeline: flow events *", "timeline: Python {correlation_id}", "timeline: Python ??queue",
         "raw: torch.op_mark", "raw: aging.api_event.data", "raw: aging.compact.task_track", "raw: lpmFreqConv.data",
         "raw: stars_soc.data", "raw: unaging.additional.type_info_dic"]
PYTHON_CALLS = ["raw: torch.python_tracer_*", "timeline: Python python_function", "timeline: Python {Python *id}"]
ON_DEVICE = ["raw: ts_track.data", "timeline: flow events MsTx", "timeline: python3"]  # marks of steps are
MARKS = ["raw: aging.additional.msproftx", "marks of domain default", "marks of domain io"] + ON_DEVICE
QUEUE = ["timeline: Python {correlation_id}", "timeline: Python ??queue", "raw: torch.op_mark"]  # marks on streams pass it, too
LEVEL1 = ["api_statistic.csv*", "op_statistic.csv*", "timeline: CANN*", "raw: aging.additional.tensor_info",
          "raw: aging.compact.node_basic_info", "kernel_details.csv: Type", "kernel_details.csv: Accelerator Core",
          "kernel_details.csv: Input *", "kernel_details.csv: Output *", "kernel_details.csv: * ID", "kernel_details.csv: OP State",
          "kernel_details.csv: HF32 Eligible", "kernel_details.csv: Mix Block Dim"]
LEVEL2 = ["data_preprocess.csv*", "raw: aicpu.data", "raw: aging.compact.memcpy_info", "timeline: Ascend Hardware {bandwidth(GB/s)}",
          "timeline: Ascend Hardware {operation}", "timeline: Ascend Hardware {size(B)}"]
TEXT = ["*.csv*", "timeline*"]
DATABASE = ["analysis.db: StepTraceTime", "ascend_pytorch_profiler.db: *"]


def counters(*columns):
    return ["raw: ffts_profile.data", "*: ai*_time(us)", "*: ai?_total_cycles"] + ["kernel_details.csv: " + c for c in columns]


PIPES = counters("aic_mac_*", "aic_mte[12]_*", "aic_fixpipe_*", "ai?_scalar_*", "ai?_icache_miss_rate", "aiv_vec_*", "aiv_mte[23]_*",
                 "cube_utilization(%)")
METRICS = {
    "PipeUtilization": PIPES,
    "ArithmeticUtilization": counters("aic_mac_fp16_ratio", "aic_mac_int8_ratio", "aic_cube_fops", "aiv_vec_*_ratio", "aiv_vector_fops"),
    "Memory": counters("aic_l1_*_bw(GB/s)", "ai?_l2_*_bw(GB/s)", "ai?_main_mem_*_bw(GB/s)", "aiv_ub_*_bw(GB/s)"),
    "MemoryL0": counters("aic_l0[abc]_*", "aiv_l0c_*"),
    "MemoryUB": counters("ai?_ub_*_bw_scalar(GB/s)", "aiv_ub_*_bw_vector(GB/s)"),
    "ResourceConflictRatio": counters("aiv_vec_*_cflt_ratio"),
    "L2Cache": counters("ai?_*_cache_*"),
    "MemoryAccess": counters("ai?_*_datas(KB)"),
    "AiCoreNone": [],
}


def has_network_card():
    """Whether one reports its speed: its traffic is recorded as a fraction of it."""
    for path in glob.glob("/sys/class/net/*/speed"):
        try:
            with open(path, encoding="ascii") as f:
                if int(f.read()) > 0:
                    return True
        except (OSError, ValueError):
            pass
    return False


L1, DB = {"profiler_level": "Level1"}, {"export_type": "db"}
EFFECTS = [  # without, with, what comes, what goes
    ({}, {}, [], []),
    ({}, {"activities": [ProfilerActivity.CPU, ProfilerActivity.NPU]}, [], []),
    ({}, {"activities": [ProfilerActivity.CPU]}, [], TASKS + ["raw: unaging.additional.hash_dic", "timeline: AI Core Freq"]),
    ({}, {"activities": [ProfilerActivity.NPU]}, [],
     ["operator_details.csv*", "raw: torch.op_*", "raw: ascope.step_threads", "timeline: Python*", "timeline: flow events async_*", "*: Step Id", "*: Step"]),
    ({}, {"record_shapes": True}, ["operator_details.csv: Input Shapes", "timeline: Python {Input *}", "raw: aging.additional.tensor_info"], []),
    (L1, {"record_shapes": True}, ["operator_details.csv: Input Shapes", "timeline: Python {Input *}"], []),
    ({}, {"profile_memory": True},
     ["memory_record.csv*", "operator_memory.csv*", "npu_module_mem.csv*", "timeline: HBM*", "timeline: LLC*", "raw: llc.data", "timeline: NPU MEM*",
      "raw: npu_m*em.data", "raw: hbm.data", "raw: torch.memory_usage"], []),
    ({}, {"with_stack": True}, PYTHON_CALLS + ["operator_details.csv: Call Stack", "timeline: Python {Call stack}"], []),
    ({}, {"with_modules": True}, PYTHON_CALLS + ["timeline: Python {Module Hierarchy}"], []),
    ({"record_shapes": True, "profile_memory": True}, {"with_modules": True},
     PYTHON_CALLS + ["timeline: Python {Module Hierarchy}", "raw: torch.param_tensor_info"], []),
    ({}, {"profiler_level": "Level0"}, [], []),
    ({}, {"profiler_level": "Level1"}, LEVEL1 + PIPES, []),
    (L1, {"profiler_level": "Level2"}, LEVEL2, []),
    ({"mstx": True}, {"profiler_level": "Level_none"}, [], [name for name in TASKS if name not in QUEUE]),
    ({}, {"l2_cache": True}, ["l2_cache.csv*", "raw: l2_cache.data", "raw: socpmu.data"], []),
    ({}, {"mstx": True}, MARKS, []),
    ({}, {"msprof_tx": True}, MARKS, []),
    ({}, {"with_flops": True}, [], []),
    ({"mstx": True}, {"with_flops": True}, ["marks of domain mfu_flops"], []),
    ({"mstx": True}, {"mstx_domain_include": ["io"]}, [], ["marks of domain default"] + ON_DEVICE),
    ({"mstx": True}, {"mstx_domain_exclude": ["io"]}, [], ["marks of domain io"]),
    (dict(DB, **L1), {"op_attr": True}, ["raw: aging.compact.node_attr_info", "*: COMPUTE_TASK_INFO.attrInfo"], []),
    ({}, {"gc_detect_threshold": 0}, ["raw: torch.gc_record", "timeline: Python GC"], []),
    ({}, {"gc_detect_threshold": 1e6}, [], []),
    ({}, {"export_type": "db"}, DATABASE, TEXT),
    ({}, {"export_type": ["text", "db"]}, DATABASE, []),
    ({}, {"host_sys": ["cpu"]}, ["raw: host_cpu.data", "timeline: CPU Usage*"], []),
    ({}, {"host_sys": ["mem"]}, ["raw: host_mem.data", "timeline: Memory Usage*"], []),
    ({}, {"host_sys": ["network"]}, ["raw: host_network.data"] + has_network_card() * ["timeline: Network Usage*"], []),
    ({}, {"host_sys": ["disk"]}, ["raw: host_disk.data", "timeline: Disk Usage*"], []),
    ({}, {"record_op_args": True}, ["op_args: *"], []),
    ({}, {"sys_io": True}, ["nic.csv*", "roce.csv*", "timeline: NIC*", "timeline: RoCE*", "raw: nic.data", "raw: roce.data"], []),
    ({}, {"sys_interconnection": True},
     ["pcie.csv*", "hccs.csv*", "timeline: PCIe*", "timeline: HCCS*", "raw: pcie.data", "raw: hccs.data"], []),
] + [(dict(L1, aic_metrics=AiCMetrics.AiCoreNone), {"aic_metrics": getattr(AiCMetrics, name)}, comes, [])
     for name, comes in METRICS.items()]


def named(row):
    return ",".join("%s=%s" % pair for part in row[:2] for pair in part.items()) or "nothing"


def check(found, patterns):
    """Everything that is found is announced, and the other way round."""
    matches = {pattern: set(fnmatch.filter(found, pattern.replace("[", "[[]") if "{" in pattern else pattern)) for pattern in patterns}
    assert found - set().union(*matches.values()) == set()
    assert [pattern for pattern, matching in matches.items() if not matching] == []


@pytest.mark.filterwarnings("ignore:msprof_tx")
@pytest.mark.parametrize("without, change, comes, goes", EFFECTS, ids=map(named, EFFECTS))
def test_effect(tmp_path, without, change, comes, goes):
    before, after = (recorded_features(tmp_path, given) for given in (without, dict(without, **change)))
    check(after - before, comes)
    check(before - after, goes)


def test_samples_of_a_device_are_of_what_it_did(tmp_path):
    """From the start to the stop, in the order of their time; a copy to the device is on the way between host and device."""
    config = _ExperimentalConfig(sys_interconnection=True, sys_io=True, export_type="db")
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path)), experimental_config=config):
        torch.tensor([1.0] * 1000000)
    collection, = collections_in(tmp_path)
    for name, columns in (("hccs", 3), ("nic", 15), ("roce", 15)):
        path, = glob.glob(os.path.join(collection, "PROF_*/device_0/data/%s.data.0.slice_0" % name))
        with open(path, encoding="ascii") as f:
            lines = [line.split() for line in f.read().splitlines()]
        if name == "hccs":
            assert lines.pop(0) == ["timestamp:", "txAmount", "rxAmount"]
        times = [int(line[0].rstrip(":")) for line in lines]
        assert len(times) >= 2 and times == sorted(times) and {len(line) for line in lines} == {columns}
    database, = glob.glob(os.path.join(collection, "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db"))
    with sqlite3.connect(database) as connection:
        moved, back = connection.execute("select max(rxCplAvg), max(txPostAvg) from PCIE").fetchone()
    assert moved > 0 and back == 0


# ---- which steps ----

PLANS = [  # the schedule, and of 9 steps those that are in each collection
    (dict(wait=0, active=1, repeat=1), [[0]]),
    (dict(wait=2, active=1, repeat=1), [[2]]),
    (dict(wait=0, warmup=2, active=1, repeat=1), [[2]]),
    (dict(wait=0, warmup=1, active=3, repeat=1), [[1, 2, 3]]),
    (dict(wait=1, warmup=1, active=2, repeat=2), [[2, 3], [6, 7]]),
    (dict(wait=1, warmup=1, active=1, repeat=0), [[2], [5], [8]]),
    (dict(wait=1, warmup=1, active=1, repeat=1, skip_first=4), [[6]]),
    (dict(wait=3, warmup=1, active=1, repeat=1, skip_first=2), [[6]]),
    (dict(wait=3, warmup=1, active=1, repeat=1, skip_first=2, skip_first_wait=1), [[3]]),
]


def steps_of(collection):
    with open(os.path.join(collection, "ASCEND_PROFILER_OUTPUT", "trace_view.json"), encoding="utf-8") as f:
        names = [e["name"] for e in json.load(f) if e.get("cat") == "cpu_op"]
    steps = [int(name.split("#")[1]) for name in names if name.startswith("ProfilerStep#")]
    assert names.count("AddmmBackward0") == 2 * max(len(steps), 1)  # what lies in them is all that is there
    return steps


@pytest.mark.parametrize("plan, steps", PLANS, ids=lambda p: str(p).replace(" ", "") if isinstance(p, dict) else "")
def test_schedule(tmp_path, plan, steps):
    handler = profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)
    profiled({"activities": [ProfilerActivity.CPU]}, plan, 9, handler)
    profiler.analyse(str(tmp_path))
    assert [steps_of(collection) for collection in collections_in(tmp_path)] == steps


def test_without_a_schedule_everything_is_one_collection_without_steps(tmp_path, capfd):
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path))) as prof:
        training().step()
        prof.step()
    collection, = collections_in(tmp_path)
    assert steps_of(collection) == []
    assert capfd.readouterr().out.count("step() without a schedule") == 1


# ---- where it goes, and what becomes of it ----

ONE = {"wait": 0, "warmup": 1, "active": 1, "repeat": 1}


def test_dir_name_and_worker_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    profiled({}, ONE, 2, profiler.tensorboard_trace_handler("there", "worker 7", analyse_flag=False))
    collection, = collections_in("there")
    assert os.path.basename(collection).startswith("worker 7_%d_" % os.getpid())
    monkeypatch.setenv("ASCEND_WORK_PATH", str(tmp_path / "work"))
    profiled({}, ONE, 2, profiler.tensorboard_trace_handler(analyse_flag=False))
    collection, = collections_in(tmp_path / "work/profiling_data")
    assert os.path.basename(collection).startswith("%s_%d_" % (os.uname().nodename, os.getpid()))


def test_each_profiler_has_the_place_of_its_handler(tmp_path):
    handlers = [profiler.tensorboard_trace_handler(str(tmp_path / name), name, analyse_flag=False) for name in ("train", "eval")]
    for handler in handlers:
        profiled({}, ONE, 2, handler)
    for name in ("train", "eval"):
        collection, = collections_in(tmp_path / name)
        assert os.path.basename(collection).startswith(name + "_")


def test_a_function_that_calls_a_handler_has_the_last_place(tmp_path):
    handler = profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)
    profiled({}, ONE, 2, lambda prof: handler(prof))
    assert len(collections_in(tmp_path)) == 1


def test_analyse_flag(tmp_path):
    for name, flag in (("with", True), ("without", False)):
        profiled({}, ONE, 2, profiler.tensorboard_trace_handler(str(tmp_path / name), analyse_flag=flag))
        collection, = collections_in(tmp_path / name)
        assert os.path.isdir(os.path.join(collection, "ASCEND_PROFILER_OUTPUT")) == flag


@pytest.mark.parametrize("by", ["argument", "environment"])
def test_async_mode(tmp_path, monkeypatch, by):
    """A program that analyses only on request: waiting for it never ends."""
    if by == "environment":
        monkeypatch.setenv("ASCOPE_ASYNC_ANALYSIS", "1")
    slow, go = tmp_path / "slow", tmp_path / "go"
    slow.write_text("#!/bin/sh\nwhile [ ! -e %s ]; do sleep 0.02; done\nexec %s \"$@\"\n" %
                    (shlex.quote(str(go)), shlex.quote(os.environ["ASCOPE_PROGRAM"])))
    slow.chmod(0o755)
    monkeypatch.setenv("ASCOPE_PROGRAM", str(slow))
    profiled({}, ONE, 2, profiler.tensorboard_trace_handler(str(tmp_path / "late"), async_mode=by == "argument"))
    collection, = collections_in(tmp_path / "late")
    done = os.path.join(collection, "ASCEND_PROFILER_OUTPUT", "analyse.done")
    assert not os.path.exists(done)
    go.write_text("")
    until = time.monotonic() + 60
    while not os.path.exists(done):
        assert time.monotonic() < until
        time.sleep(0.02)
    monkeypatch.delenv("ASCOPE_ASYNC_ANALYSIS", raising=False)
    profiled({}, ONE, 2, profiler.tensorboard_trace_handler(str(tmp_path / "early"), async_mode=False))
    collection, = collections_in(tmp_path / "early")
    assert os.path.exists(os.path.join(collection, "ASCEND_PROFILER_OUTPUT", "analyse.done"))


@pytest.mark.parametrize("simplifies", [True, False, None])
def test_data_simplification(tmp_path, simplifies):
    """What an export of the device's directory has left goes with the analysis, or stays. The recorded files stay."""
    profiled({"data_simplification": simplifies}, ONE, 2, profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False))
    collection, = collections_in(tmp_path)
    recorded = set(raw_features(collection))
    device, = glob.glob(os.path.join(collection, "PROF_*"))
    subprocess.run([os.environ["ASCOPE_PROGRAM"], "export", "summary", device, "--quiet"], check=True)
    assert os.path.isdir(os.path.join(device, "mindstudio_profiler_output"))
    profiler.analyse(collection)
    assert os.path.isdir(os.path.join(device, "mindstudio_profiler_output")) == (not simplifies)
    assert set(raw_features(collection)) == recorded
    assert os.path.exists(os.path.join(collection, "ASCEND_PROFILER_OUTPUT", "analyse.done"))


# ---- what the user adds ----

def metadata_of(collection):
    with open(os.path.join(collection, "profiler_metadata.json"), encoding="utf-8") as f:
        return json.load(f)


def test_metadata_is_of_the_first_collection(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HCCL_RDMA_TC", "132")
    ids = iter(["first", "second"])
    handler = profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)
    config = _ExperimentalConfig(export_type="text")
    with profiler.profile(schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=2), on_trace_ready=handler,
                          experimental_config=config, custom_trace_id_callback=lambda: next(ids)) as prof:
        prof.add_metadata("who", "Grüße")
        prof.add_metadata_json("how", '{"depth": [1, 2.5, null]}')
        prof.step()
        prof.add_metadata("while", "it records")
        for _ in range(3):
            prof.step()
    assert "[WARNING]" not in capsys.readouterr().out
    first, second = map(metadata_of, collections_in(tmp_path))
    assert (first["who"], first["how"]) == ("Grüße", {"depth": [1, 2.5, None]})
    assert (first["trace_id"], second["trace_id"]) == ("first", "second")
    assert first["while"] == "it records" and not {"who", "how", "while"} & set(second)
    assert first["ENV_VARIABLES"]["HCCL_RDMA_TC"] == second["ENV_VARIABLES"]["HCCL_RDMA_TC"] == "132"


@pytest.mark.parametrize("callback", [None, lambda: 5, lambda: "x" * 1025, lambda: 1 / 0, "not a function"])
def test_a_trace_id_is_made_where_none_is_given(tmp_path, callback, capsys):
    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False),
                          custom_trace_id_callback=callback) as prof:
        pass
    assert re.fullmatch("[0-9A-F]{32}", metadata_of(*collections_in(tmp_path))["trace_id"])
    assert prof.get_trace_id() == metadata_of(*collections_in(tmp_path))["trace_id"]
    assert ("custom_trace_id_callback" in capsys.readouterr().out) == (callback is not None)


def test_environment_is_in_text_exports_only(tmp_path):
    for kind in ("text", "db"):
        profiled({"export_type": kind}, ONE, 2, profiler.tensorboard_trace_handler(str(tmp_path / kind), analyse_flag=False))
        assert ("ENV_VARIABLES" in metadata_of(*collections_in(tmp_path / kind))) == (kind == "text")


def test_a_database_has_the_environment_of_the_job(tmp_path, monkeypatch):
    """Not that of an analysis elsewhere."""
    monkeypatch.setenv("HCCL_RDMA_TC", "132")
    profiled({"export_type": "db"}, ONE, 2, profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False))
    monkeypatch.setenv("HCCL_RDMA_TC", "7")
    profiler.analyse(str(tmp_path))
    database, = glob.glob(str(tmp_path / "*_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db"))
    with sqlite3.connect(database) as c:
        noted = c.execute("SELECT value FROM META_DATA WHERE name = 'ENV_VARIABLES'").fetchall()
    assert [json.loads(value)["HCCL_RDMA_TC"] for value, in noted] == ["132"]


def test_an_observer_lives_as_long_as_the_profiler(tmp_path):
    calls = []

    class Observer:
        def start(self):
            calls.append("start")

        def stop(self):
            calls.append("stop")

    with profiler.profile(on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path), analyse_flag=False),
                          execution_trace_observer=Observer()):
        calls.append("training")
    assert calls == ["start", "training", "stop"]


# ---- exports ----

@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A profiler whose collection can be exported from."""
    place = tmp_path_factory.mktemp("exported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASCOPE_DEVICE", "sim")
        yield profiled({"with_stack": True, "record_shapes": True, "profile_memory": True}, ONE, 2,
                       profiler.tensorboard_trace_handler(str(place), analyse_flag=False))


def test_export_stacks(exported, tmp_path, capsys):
    def lines(metric, name="out.log"):
        exported.export_stacks(str(tmp_path / name), metric)
        return (tmp_path / name).read_text().splitlines()

    host, device = lines("self_cpu_time_total"), lines("self_npu_time_total")
    assert not capsys.readouterr().out
    assert any("cross_entropy" in line and int(line.rsplit(" ", 1)[1]) > 0 for line in host)
    assert len(device) < len(host)
    (tmp_path / "out.log").unlink()
    assert lines("self_cpu_time_total", "profiler.stacks") == host  # the name that was asked for
    assert not capsys.readouterr().out and not (tmp_path / "profiler.log").exists()
    assert lines("fastest") == host
    said = capsys.readouterr().out
    assert "[WARNING]" in said and "metric" in said


def test_export_chrome_trace(exported, tmp_path):
    exported.export_chrome_trace(str(tmp_path / "out.json"))
    exported.export_chrome_trace(str(tmp_path))
    assert set(timeline_features(tmp_path / "out.json")) == set(timeline_features(tmp_path / "trace_view.json")) >= \
        {"timeline: Ascend Hardware", "timeline: Python cpu_op"}


def test_export_memory_timeline(exported, tmp_path):
    exported.export_memory_timeline(str(tmp_path / "npu.json"))
    exported.export_memory_timeline(str(tmp_path / "cpu.json"), device="cpu")
    exported.export_memory_timeline(str(tmp_path / "page.html"))
    for name in ("npu.json", "cpu.json"):
        times, sizes = json.loads((tmp_path / name).read_text())
        assert len(times) == len(sizes) > 20 and times == sorted(times)
    assert "<svg" in (tmp_path / "page.html").read_text() or "<canvas" in (tmp_path / "page.html").read_text()


def test_every_parameter_has_a_test():
    """Those of `profile` and `_ExperimentalConfig` that are not in the table have a test of their own, named here."""
    by_name = {"schedule", "on_trace_ready", "custom_trace_id_callback", "execution_trace_observer", "experimental_config",
               "data_simplification", "use_cuda"}
    known = by_name.union(*(set(row[0]) | set(row[1]) for row in EFFECTS))
    everything = OF_CONFIG | set(inspect.signature(profiler.profile.__init__).parameters)
    assert everything - known == {"self"}
    assert {name for plan, _ in PLANS for name in plan} == set(inspect.signature(profiler.schedule.__init__).parameters) - {"self"}
    assert {h for row in EFFECTS for h in row[1].get("host_sys", ())} == {"cpu", "mem", "network", "disk"}  # others only give a warning
    assert set(METRICS) == {name for name in vars(AiCMetrics) if not name.startswith("_")}
