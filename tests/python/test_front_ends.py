# SPDX-License-Identifier: Apache-2.0
"""One configuration, four front ends: PyTorch, MindSpore, TensorFlow and msprof lead to the same sample.json and the same data mask.

A row is a line of the matrix of switches: how each front end asks for it; None: it cannot. What describes the front end itself (who
was started, and how) is left out: see LEFT_OUT."""
import glob
import json
import os
import subprocess

import pytest

L1 = {"profiler_level": "Level1"}
F1 = {"task_time": "on", "hccl": "on", "aic_metrics": "PipeUtilization"}
C1 = ["--task-time=on", "--hccl=on"]
F0, C0 = {"task_time": "l0"}, ["--task-time=l0", "--ai-core=off"]

# what: parameters of PyTorch and MindSpore (the same words but where there are two), keys of profiling_options, options of msprof
ROWS = {
    "level 0": ({}, {}, F0, C0),
    "level 1": (L1, L1, F1, C1),
    "level 2": ({"profiler_level": "Level2"}, {"profiler_level": "Level2"}, {**F1, "aicpu": "on", "runtime_api": "on"},
                C1 + ["--aicpu=on", "--runtime-api=on"]),
    "counters": ({**L1, "aic_metrics": "MemoryUB"}, {**L1, "aic_metrics": "MemoryUB"}, {**F1, "aic_metrics": "MemoryUB"},
                 C1 + ["--aic-metrics=MemoryUB"]),
    "L2 cache": ({"l2_cache": True}, {"l2_cache": True}, {**F0, "l2": "on"}, C0 + ["--l2=on"]),
    "marks": ({"mstx": True}, {"mstx": True}, {**F0, "msproftx": "on"}, C0 + ["--msproftx=on"]),
    "ports": ({"sys_io": True}, {"sys_io": True}, {**F0, "sys_io_sampling_freq": 100}, C0 + ["--sys-io-profiling=on"]),
    "links": ({"sys_interconnection": True}, {"sys_interconnection": True}, {**F0, "sys_interconnection_freq": 50},
              C0 + ["--sys-interconnection-profiling=on"]),
    "memory at 50 Hz": ({"profile_memory": True}, None, {**F0, "task_memory": "on", "sys_hardware_mem_freq": 50},
                        C0 + ["--task-memory=on", "--sys-hardware-mem=on"]),
    "memory at 100 Hz": (None, {"profile_memory": True}, {**F0, "task_memory": "on", "sys_hardware_mem_freq": 100},
                         C0 + ["--task-memory=on", "--sys-hardware-mem=on", "--sys-hardware-mem-freq=100"]),
    "host": ({"host_sys": ["cpu", "mem"]}, {"host_sys": ["cpu", "mem"]}, {**F0, "host_sys": "cpu,mem"}, C0 + ["--host-sys=cpu,mem"]),
    "graph engine": (None, None, {**F0, "ge_api": "l1"}, C0 + ["--ge-api=l1"]),
    "scheduler": (None, None, {**F0, "task_tsfw": "on"}, C0 + ["--task-tsfw=on"]),
    "images": (None, None, {**F0, "dvpp_freq": 50}, C0 + ["--dvpp-profiling=on"]),
    "cache writes": (None, None, {**F0, "sys_hardware_mem_freq": 50, "llc_profiling": "write"},
                     C0 + ["--sys-hardware-mem=on", "--llc-profiling=write"]),
    "blocks": (None, None, {**F0, "task_block": "all"}, C0 + ["--task-block=all"]),
    "instructions": (None, None, {**F0, "instr_profiling": "on", "instr_profiling_freq": 400},
                     C0 + ["--instr-profiling=on", "--instr-profiling-freq=400"]),
    "events of one's own": (None, None, {**F1, "aic_metrics": "Custom:0x8,0xa"}, C1 + ["--aic-metrics=Custom:0x8,0xa"]),
    "a limit": (None, None, {**F0, "storage_limit": "300MB"}, C0 + ["--storage-limit=300MB"]),
}
# Who was recorded and by whom; two words that the collector of msprof writes in its own way (prof_level has the level); and names of
# counters, which msprof writes although it counts none.
LEFT_OUT = {"result_dir", "app", "app_dir", "app_parameters", "app_env", "job_id", "profiling_mode", "msprofBinPid", "host_sys_pid", "taskTime"}
OF_COUNTERS = {"ai_core_metrics", "ai_core_profiling_events", "aiv_metrics", "aiv_profiling_events"}


def normal(path):
    with open(path, encoding="utf-8") as f:
        sample = {k: v for k, v in json.load(f).items() if k not in LEFT_OUT}
    if sample["ai_core_profiling"] in ("", "off"):
        sample = {k: v for k, v in sample.items() if k not in OF_COUNTERS}
    # msprof leaves out what nobody asked for
    sample = {k: "off" if v == "" else v for k, v in sample.items()}
    sample["prof_level"] = sample["prof_level"].replace("level", "l")
    return sample


def samples_in(folder, names):
    found = {name: glob.glob("%s/%d/**/PROF_*/host/sample.json" % (folder, i), recursive=True) for i, name in enumerate(names)}
    assert [name for name, files in found.items() if len(files) != 1] == []
    return {name: normal(files[0]) for name, files in found.items()}


def asked(column):
    return {name: row[column] for name, row in ROWS.items() if row[column] is not None}


@pytest.fixture
def of_tensorflow(script, tmp_path):
    rows = asked(2)
    script("""
        import json, sys
        from ascope import tensorflow
        for i, options in enumerate(json.loads(sys.argv[1])):
            config = tensorflow.ProfilingConfig(True, json.dumps(dict(options, output="tf/%d" % i)))
            tensorflow.NPURunConfig(profiling_config=config)
            tensorflow.hooked(len)("run")
            tensorflow.end()
    """, json.dumps(list(rows.values())), env={"ASCOPE_DEVICE": "none"})
    return samples_in(tmp_path / "tf", rows)


def test_pytorch(script, tmp_path, of_tensorflow):
    rows = asked(0)
    script("""
        import json, sys
        from ascope.torch import profiler
        of_profile = {"profile_memory"}
        for i, options in enumerate(json.loads(sys.argv[1])):
            for name, kind in (("profiler_level", profiler.ProfilerLevel), ("aic_metrics", profiler.AiCMetrics)):
                if name in options:
                    options[name] = getattr(kind, options[name])
            config = profiler._ExperimentalConfig(**{k: v for k, v in options.items() if k not in of_profile})
            with profiler.profile(experimental_config=config, **{k: v for k, v in options.items() if k in of_profile},
                                  on_trace_ready=profiler.tensorboard_trace_handler("pt/%d" % i, analyse_flag=False)):
                pass
    """, json.dumps(list(rows.values())), env={"ASCOPE_DEVICE": "none"})
    got = samples_in(tmp_path / "pt", rows)
    assert got == {name: of_tensorflow[name] for name in rows}


def test_mindspore(script, tmp_path, of_tensorflow):
    pytest.importorskip("ascope.mindspore")
    rows = asked(1)
    script("""
        import json, sys
        from ascope import mindspore
        of_profiler = {"profile_memory"}
        for i, options in enumerate(json.loads(sys.argv[1])):
            for name, kind in (("profiler_level", mindspore.ProfilerLevel), ("aic_metrics", mindspore.AicoreMetrics)):
                if name in options:
                    options[name] = getattr(kind, options[name])
            if "host_sys" in options:
                options["host_sys"] = [getattr(mindspore.HostSystem, name.upper()) for name in options["host_sys"]]
            config = mindspore._ExperimentalConfig(**{k: v for k, v in options.items() if k not in of_profiler})
            prof = mindspore.profile(experimental_config=config, **{k: v for k, v in options.items() if k in of_profiler},
                                     on_trace_ready=mindspore.tensorboard_trace_handler("ms/%d" % i, analyse_flag=False))
            prof.start()
            prof.stop()
    """, json.dumps(list(rows.values())), env={"ASCOPE_DEVICE": "none"})
    got = samples_in(tmp_path / "ms", rows)
    assert got == {name: of_tensorflow[name] for name in rows}


def test_msprof(tmp_path, of_tensorflow):
    program, rows = os.environ.get("ASCOPE_PROGRAM", "ascope"), asked(3)
    (tmp_path / "msprof").symlink_to(program)
    for i, options in enumerate(rows.values()):
        done = subprocess.run([str(tmp_path / "msprof"), "--output=%s/c/%d" % (tmp_path, i), "--sys-lp=off", "--type=db", *options, "true"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    got = samples_in(tmp_path / "c", rows)
    for name in rows:
        assert got[name] == of_tensorflow[name], name
