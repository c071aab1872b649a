# SPDX-License-Identifier: Apache-2.0
"""The scripts of the documents run as they are, and leave what the documents say."""
import csv
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("torch")
HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture
def run(quick, tmp_path):
    """run(sample): its script, with what it imports, under `python3 -m ascope run`."""

    def call(sample, **env):
        for name in {sample, "training.py", "training_" + sample}:
            if os.path.exists(os.path.join(HERE, "samples", name)):
                shutil.copy(os.path.join(HERE, "samples", name), tmp_path)
        done = quick.ascope(tmp_path, "run", "--device", "sim", sample, **env)
        assert done.code == 0 and "[ERROR]" not in done.out + done.err, done.out + done.err

    return call


def only(place):
    found = glob.glob(os.path.join(place, "*_ascend_pt"))
    assert len(found) == 1, os.listdir(place)
    return found[0]


def events(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def rows(path):
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def names(collection):
    return [e["name"] for e in events(os.path.join(collection, "ASCEND_PROFILER_OUTPUT/trace_view.json")) if e["ph"] == "X"]


@pytest.mark.parametrize("sample", ["with_statement.py", "start_and_stop.py"])
def test_one_active_step_is_recorded_and_analysed(run, tmp_path, sample):
    run(sample)
    collection = only(tmp_path / "result")
    out = os.path.join(collection, "ASCEND_PROFILER_OUTPUT")
    assert os.path.exists(os.path.join(out, "analyse.done"))
    steps = [name for name in names(collection) if name.startswith("ProfilerStep#")]
    assert steps == ["ProfilerStep#1"]  # skip_first=1, active=1
    operators = [row["Name"] for row in rows(os.path.join(out, "operator_details.csv"))]
    assert operators.count("aten::addmm") == 2  # two layers
    assert len(rows(os.path.join(out, "kernel_details.csv"))) >= 4  # two layers, forward and backward
    with open(os.path.join(collection, "ascope.json"), encoding="utf-8") as f:
        assert json.load(f)["simulated"] is True


def test_without_a_handler_a_trace_is_exported(run, tmp_path):
    run("export_only.py")
    found = [e["name"] for e in events(tmp_path / "chrome_trace_14.json") if e["ph"] == "X"]
    assert found.count("aten::mse_loss") == 5
    assert not any(name.startswith("ProfilerStep#") for name in found)  # there is no schedule
    assert not os.path.exists(tmp_path / "export_only_prof_dir")  # it was there to be exported from


def test_kineto_profile_records_from_start_to_stop(run, tmp_path):
    run("kineto_profile.py")
    found = [e["name"] for e in events(tmp_path / "result_dir/trace.json") if e["ph"] == "X"]
    assert found.count("aten::mse_loss") == 1


def test_marks_alone_are_in_the_database(run, tmp_path):
    run("marks_only.py")
    collection = only(tmp_path / "result")
    (db,) = glob.glob(os.path.join(collection, "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db"))
    with sqlite3.connect(db) as c:
        said = [row[0] for row in c.execute("select s.value from MSTX_EVENTS m join STRING_IDS s on m.message = s.id")]
    assert said.count("matmul") == 2 and said.count("dataloader") >= 2  # two active steps
    assert {name for name in said if name.startswith("ProfilerStep#")} == {"ProfilerStep#3", "ProfilerStep#4"}


def test_domains_are_chosen(run, tmp_path):
    run("mark_domains.py")
    said = names(only(tmp_path / "result"))
    assert said.count("range_with_default_domain") == 1 and said.count("range_with_domain1") == 1
    assert "range_with_domain2" not in said


def test_child_threads_are_recorded_when_they_ask(run, tmp_path):
    run("child_threads.py")
    collection = only(tmp_path / "result")
    found = [e for e in events(os.path.join(collection, "ASCEND_PROFILER_OUTPUT/trace_view.json"))
             if e["ph"] == "X" and e["name"] == "aten::addmm"]
    assert len({e["tid"] for e in found}) == 3
    assert len(found) == 3 * 5 * 2  # threads, runs, layers


def test_every_cycle_of_a_schedule_is_a_collection(run, tmp_path):
    run("schedule.py")
    found = sorted(glob.glob(str(tmp_path / "result/*_ascend_pt")))
    steps = [[name for name in names(one) if name.startswith("ProfilerStep#")] for one in found]
    assert steps == [["ProfilerStep#3", "ProfilerStep#4"], ["ProfilerStep#7", "ProfilerStep#8"]]


def test_memory_is_drawn(run, tmp_path):
    run("memory_timeline.py")
    page = (tmp_path / "memory_timeline.html").read_text()
    assert all(name in page for name in ("PARAMETER", "OPTIMIZER_STATE", "GRADIENT", "ACTIVATION"))
    assert os.path.isdir(only(tmp_path))  # in the working directory: nobody has said where


def test_marks_on_streams(run, tmp_path):
    run("streams.py")
    path = os.path.join(only(tmp_path / "result"), "ASCEND_PROFILER_OUTPUT/trace_view.json")
    marks = {name: [e for e in events(path) if e["name"] == name and e["ph"] == "X"] for name in ("allreduce", "send")}
    assert {name: len(found) for name, found in marks.items()} == {"allreduce": 2, "send": 2}  # the host's, and the device's
    assert len({e["tid"] for found in marks.values() for e in found}) == 3  # a thread, and two streams


def test_metadata_is_kept(run, tmp_path):
    run("metadata.py", HCCL_RDMA_TC="7")
    assert (tmp_path / "trace.json").exists()
    with open(os.path.join(only(tmp_path / "result"), "profiler_metadata.json"), encoding="utf-8") as f:
        said = json.load(f)
    assert said["model"] == "small" and said["batch"] == {"size": 16}
    assert said["ENV_VARIABLES"]["HCCL_RDMA_TC"] == "7" and said["ENV_VARIABLES"]["HCCL_RDMA_SL"] == ""


def record_plain(place, *options):
    """A training that knows of no profiler, four steps long; what it said."""
    (place / "plain.py").write_text("from training import *\nfor _ in range(4):\n    train_one_step()\n")
    shutil.copy(os.path.join(HERE, "samples/training.py"), place)
    done = subprocess.run([sys.executable, "-m", "ascope", "run", "--profile", "--device", "sim", "--out", "seen", *options],
                          cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    return done.stdout


def steps_of(collection):
    return [name for name in names(collection) if name.startswith("ProfilerStep#")]


def test_a_script_without_a_profiler_is_recorded_from_outside(tmp_path):
    record_plain(tmp_path, "--wait", "1", "--active", "2", "--record-shapes", "plain.py")
    assert steps_of(only(tmp_path / "seen")) == ["ProfilerStep#1", "ProfilerStep#2"]


def test_every_number_of_a_schedule_is_an_option(tmp_path):
    record_plain(tmp_path, "--skip-first", "1", "--skip-first-wait", "1", "--wait", "2", "--warmup", "1", "--active", "1", "plain.py")
    assert steps_of(only(tmp_path / "seen")) == ["ProfilerStep#2"]


def test_a_recording_from_outside_ends_with_its_summary(tmp_path):
    said = record_plain(tmp_path, "--active", "1", "--repeat", "2", "plain.py").splitlines()
    first, last = sorted(glob.glob(str(tmp_path / "seen/*_ascend_pt")))
    again = subprocess.run([os.environ.get("ASCOPE_PROGRAM") or "ascope", "analyse", last], stdout=subprocess.PIPE, text=True, check=True)

    def lasting(lines):
        return [line.rstrip() for line in lines if not line.endswith(" writing")]  # how long it took

    at, wanted = said.index(last), lasting(again.stdout.splitlines())
    assert "analysed: " + first in said[:at]
    assert lasting(said[at:])[:len(wanted)] == wanted and len(wanted) > 10
    assert said[-1].startswith("  open %s/ASCEND_PROFILER_OUTPUT/trace_view.json in https://" % os.path.relpath(last, tmp_path))


def test_paths_are_shown_as_short_as_they_can_be(tmp_path, monkeypatch):
    from ascope import _run
    (tmp_path / "a/b/c/d/e/f/g/h").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a")
    assert _run._shown(str(tmp_path / "a/b/c")) == "b/c"
    assert _run._shown(str(tmp_path / "other")) == "../other"
    monkeypatch.chdir(tmp_path / "a/b/c/d/e/f/g/h")
    assert _run._shown("/tmp") == "/tmp"


def test_options_of_a_recording_from_outside(tmp_path):
    """All steps of a module, with every option of profile; and nothing is warned of that is as it was asked for."""
    said = record_plain(
        tmp_path, "--worker-name", "tester", "--no-analyse", "--export-type", "text,db", "--activities", "CPU,NPU",
        "--record-shapes", "--profile-memory", "--with-stack", "--with-modules", "--with-flops", "--mstx", "--l2-cache", "--op-attr",
        "--sys-io", "--sys-interconnection", "--profiler-level", "Level2", "--aic-metrics", "Memory", "--gc-detect-threshold", "3",
        "--host-sys", "cpu,mem", "--mstx-domain-include", "a,b", "--no-data-simplification", "-m", "plain")
    assert "WARNING" not in said and "ERROR" not in said
    collection = only(tmp_path / "seen")
    assert os.path.basename(collection).startswith("tester_")
    assert not os.path.exists(os.path.join(collection, "ASCEND_PROFILER_OUTPUT"))
    with open(os.path.join(collection, "profiler_info.json"), encoding="utf-8") as f:
        config = json.load(f)["config"]
    common, experimental = config["common_config"], config["experimental_config"]
    assert all(common[name] for name in ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops"))
    wanted = {"_profiler_level": "Level2", "_aic_metrics": "ACL_AICORE_MEMORY_BANDWIDTH", "_mstx": True, "_l2_cache": True,
              "_op_attr": True, "_sys_io": True, "_sys_interconnection": True, "_gc_detect_threshold": 3, "_host_sys": ["cpu", "mem"],
              "_mstx_domain_include": ["a", "b"], "_data_simplification": False, "_export_type": ["text", "db"]}
    assert {name: experimental[name] for name in wanted} == wanted


def test_devices_that_are_not_there(tmp_path):
    """A script for NPUs says so in many places; the CPU stands in for all of them."""
    (tmp_path / "script.py").write_text(textwrap.dedent("""
        import os, pickle
        import torch, torch_npu
        import torch.distributed as distributed
        for device, number in (("npu:1", 1), (2, 2), ("npu", 0), (torch.device("npu:0"), 0)):
            torch.npu.set_device(device)
            assert torch.npu.current_device() == number
        assert torch.npu.is_available() and torch.npu.device_count() == 1
        device = torch.device("npu:0")
        assert isinstance(device, torch.device) and not isinstance("cpu", torch.device) and device.type == "cpu"
        assert pickle.loads(pickle.dumps(device)) == torch.device("npu") == torch.device("cpu")
        model = torch.nn.Linear(4, 4).npu().to(device).to("npu:0").to(device="npu")
        x = torch.ones(2, 4, device=device).to("npu", torch.float64).npu().to(torch.float32)
        assert model(x).device.type == "cpu"
        distributed.init_process_group("cpu:gloo,npu:hccl", init_method="file://" + os.path.abspath("store"), rank=0, world_size=1)
        assert distributed.get_backend() == distributed.get_backend(distributed.new_group([0], backend="hccl")) == "gloo"
        torch.save(model.state_dict(), "npu")
        assert len(torch.load("npu", map_location="npu:0")) == 2
        with torch.npu.stream(torch.npu.Stream()):
            torch.npu.synchronize()
        assert torch.npu.memory_allocated() == torch.npu.max_memory_reserved(0) == 0

        from torch_npu.contrib import transfer_to_npu
        assert model.cuda()(x.to("cuda:0")).device == torch.device("cuda") and torch.cuda.is_available()

        def fail():
            raise ValueError("as it would be shown by python3")
        fail()
        """))
    done = subprocess.run([sys.executable, "-m", "ascope", "run", "--device", "sim", "script.py"], cwd=tmp_path,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    assert done.returncode == 1 and done.stderr.strip().endswith("ValueError: as it would be shown by python3"), done.stderr
    assert done.stderr.count("File ") == 2
