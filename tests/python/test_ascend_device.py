# SPDX-License-Identifier: Apache-2.0
"""The PyTorch front end on Ascend NPUs, which are libraries of ours here (tests/fakes/fake_ascend)."""
import glob
import json
import os
import pathlib
import subprocess

import pytest

pytest.importorskip("torch")

BUILD = pathlib.Path(os.environ["ASCOPE_PROGRAM"]).parent
FAKES = BUILD / "tests/fakes/fake_ascend"
if not FAKES.is_dir():
    pytest.skip("built without Meson: there are no such libraries", allow_module_level=True)

TRAINING = """
    import ctypes, os, sys
    import torch
    from ascope.torch import profiler
    from ascope.torch.profiler import ProfilerActivity, _ExperimentalConfig, ProfilerLevel

    if "acl" in sys.argv: # what torch_npu does
        for name in ("ascendcl", "profapi", "runtime", "ascend_hal"):
            library = ctypes.CDLL(os.environ["ASCEND_HOME_PATH"] + "/lib64/lib%s.so" % name, mode=ctypes.RTLD_GLOBAL)
            if name == "ascendcl":
                assert library.aclInit(None) == 0 and library.aclrtSetDevice(1) == 0
    with profiler.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.NPU],
                          schedule=profiler.schedule(wait=0, warmup=1, active=1, repeat=2),
                          on_trace_ready=profiler.tensorboard_trace_handler("out", analyse_flag=False),
                          experimental_config=_ExperimentalConfig(profiler_level=ProfilerLevel.Level1, mstx=True)) as prof:
        for _ in range(4):
            torch.ones(3) + torch.ones(3)
            prof.step()
"""


def record(script, tmp_path, device, *words, fake="devices=2"):
    data = tmp_path / "sim"
    subprocess.run([os.environ["ASCOPE_PROGRAM"], "sim", "--out", data], check=True, stdout=subprocess.DEVNULL)
    done = script(TRAINING, *words, env={
        "ASCEND_HOME_PATH": str(FAKES), "LD_LIBRARY_PATH": "", "ASCOPE_DEVICE": device, "FAKE_ASCEND": fake, "FAKE_ASCEND_LOG": str(tmp_path / "log"),
        "FAKE_ASCEND_DATA": str(next(data.glob("PROF_*")))})
    log = (tmp_path / "log").read_text().splitlines() if (tmp_path / "log").exists() else []
    return done, log, sorted(glob.glob(str(tmp_path / "out/*_ascend_pt")))


@pytest.mark.parametrize("device", ["ascend", "auto"])
def test_a_schedule_drives_the_engine(script, tmp_path, device):
    _, log, sessions = record(script, tmp_path, device, "acl")
    calls = [line.split()[0] for line in log]
    once = ["aclprofInit", "aclprofCreateConfig", "aclprofWarmup", "aclprofStart", "aclprofStop", "aclprofDestroyConfig", "aclprofFinalize"]
    assert [call for call in calls if call in once] == once * 2
    assert "aclprofCreateConfig devices=1 first=1 metrics=1 mask=0xa7" in log
    assert len(sessions) == 2
    for session in sessions:
        profs = glob.glob(session + "/PROF_*")
        assert len(profs) == 1
        assert glob.glob(profs[0] + "/device_0/data/stars_soc.data.0.slice_0")
        assert json.loads(pathlib.Path(session, "ascope.json").read_text())["device"] == "ascend"
        subprocess.run([os.environ["ASCOPE_PROGRAM"], "analyse", session], check=True, stdout=subprocess.DEVNULL)
        assert pathlib.Path(session, "ASCEND_PROFILER_OUTPUT/kernel_details.csv").read_text().count("\n") > 10


def test_a_program_without_npus_is_left_alone(script, tmp_path):
    _, log, sessions = record(script, tmp_path, "auto", fake="crash=drvGetDevNum")
    assert not log
    assert [json.loads(pathlib.Path(session, "ascope.json").read_text())["device"] for session in sessions] == ["none", "none"]
