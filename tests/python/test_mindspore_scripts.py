# SPDX-License-Identifier: Apache-2.0
"""Scripts of MindSpore from start to end: the examples of its documents, ends without stop(), collections that a file starts."""
import json
import os
import textwrap

import pytest

from mindspore_collections import collections, info_of, ranges_of

EXAMPLES = {
    "profiler = Profiler(...); train; profiler.analyse()": """
        import importlib.util
        import mindspore as ms
        assert importlib.util.find_spec("mindspore") and importlib.util.find_spec("mindspore.train")  # libraries ask in this way
        from mindspore import Profiler
        ms.set_context(mode=ms.GRAPH_MODE, device_target="Ascend")
        from mindspore.profiler import ProfilerLevel, ProfilerActivity, AicoreMetrics
        profiler = Profiler(profiler_level=ProfilerLevel.Level0, activities=[ProfilerActivity.CPU, ProfilerActivity.NPU],
                            aicore_metrics=AicoreMetrics.AiCoreNone)
        train(None)
        profiler.analyse()
        """,
    "StopAtStep": """
        from mindspore.train import Callback
        from mindspore import Profiler
        class StopAtStep(Callback):
            def __init__(self, start_step=1, stop_step=5):
                super(StopAtStep, self).__init__()
                self.start_step = start_step
                self.stop_step = stop_step
                self.profiler = Profiler(start_profile=False)
            def step_begin(self, run_context):
                cb_params = run_context.original_args()
                step_num = cb_params.cur_step_num
                if step_num == self.start_step:
                    self.profiler.start()
            def step_end(self, run_context):
                cb_params = run_context.original_args()
                step_num = cb_params.cur_step_num
                if step_num == self.stop_step:
                    self.profiler.stop()
            def end(self, run_context):
                self.profiler.analyse(step_list=[2,3,4], mode="sync")
        train(StopAtStep())
        """,
    "StopAtEpoch": """
        from mindspore.train import Callback
        from mindspore import Profiler
        class StopAtEpoch(Callback):
            def __init__(self, start_epoch, stop_epoch):
                super(StopAtEpoch, self).__init__()
                self.start_epoch = start_epoch
                self.stop_epoch = stop_epoch
                self.profiler = Profiler(start_profile=False)
            def epoch_begin(self, run_context):
                cb_params = run_context.original_args()
                epoch_num = cb_params.cur_epoch_num
                if epoch_num == self.start_epoch:
                    self.profiler.start()
            def epoch_end(self, run_context):
                cb_params = run_context.original_args()
                epoch_num = cb_params.cur_epoch_num
                if epoch_num == self.stop_epoch:
                    self.profiler.stop()
            def end(self, run_context):
                self.profiler.analyse()
        train(StopAtEpoch(1, 1))
        """,
    "offline_analyse": """
        from mindspore import Profiler
        with Profiler():
            train(None)
        Profiler.offline_analyse("./data")
        """,
    "a schedule and its handler": """
        from mindspore.profiler import Profiler, schedule, tensor_board_trace_handler
        with Profiler(schedule=schedule(wait=0, warm_up=0, active=1, repeat=1), on_trace_ready=tensor_board_trace_handler) as profiler:
            for step in range(2):
                train(None)
                profiler.step()
        """,
}
TRAINING = """
from ascope import _core

class Arguments:
    cur_step_num, cur_epoch_num = 0, 1

class Context:
    def original_args(self):
        return Arguments

def train(callback):
    if callback:
        callback.epoch_begin(Context())
    for Arguments.cur_step_num in range(1, 7):
        if callback:
            callback.step_begin(Context())
        with _core.Range("Dense"):  # in place of what MindSpore records by itself
            sum(range(1000))
        if callback:
            callback.step_end(Context())
    if callback:
        callback.epoch_end(Context())
        callback.end(Context())

"""


@pytest.mark.parametrize("what", EXAMPLES)
def test_the_examples_of_the_documents(tmp_path, script, what):
    """As a script of MindSpore's documentation is started: with `python3 -m ascope run`, or with one more import."""
    (tmp_path / "job.py").write_text(TRAINING + textwrap.dedent(EXAMPLES[what]))
    if what == "StopAtStep":
        done = script("import sys; from ascope.__main__ import main; sys.exit(main(['run', '--device', 'none', 'job.py']))")
    else:
        done = script("import runpy, ascope.mindspore_compat; runpy.run_path('job.py', run_name='__main__')", env={"ASCOPE_DEVICE": "none"})
    assert "Traceback" not in done.stderr
    path, = collections(tmp_path / "data")
    assert os.path.exists(os.path.join(path, "profiler_info_0.json")) and os.path.isdir(os.path.join(path, "FRAMEWORK"))
    assert os.path.exists(os.path.join(path, "ASCEND_PROFILER_OUTPUT/trace_view.json")), (done.stdout, done.stderr, os.listdir(path))


def test_stepping_aside_where_mindspore_is_installed(tmp_path, script):
    (tmp_path / "mindspore").mkdir()
    (tmp_path / "mindspore/__init__.py").write_text("Profiler = 'its own'\n")
    (tmp_path / "job.py").write_text("import mindspore\nprint(mindspore.Profiler)\n")
    done = script("import sys; sys.path.insert(0, ''); from ascope.__main__ import main; sys.exit(main(['run', 'job.py']))")
    assert done.stdout == "its own\n"


def test_a_program_that_ends_without_stop(tmp_path, script):
    done = script("""
        from ascope.mindspore import Profiler, schedule, tensorboard_trace_handler
        profiler = Profiler(schedule=schedule(wait=0, warmup=0, active=2), on_trace_ready=tensorboard_trace_handler(async_mode=True))
        profiler.step()
        """, env={"ASCOPE_DEVICE": "none"})
    path, = collections(tmp_path / "data")
    assert "Profiler is stopped at the end of the program." in done.stderr and os.path.exists(os.path.join(path, "profiler_info_0.json")), done.stderr


# ---- collections that a file starts ----

CONFIG = """
import json, os, sys, time
from ascope import _core
from ascope.mindspore import DynamicProfilerMonitor, mstx
os.environ["ASCOPE_DEVICE"] = "none"
STEPS = 12

def listen(**keys):
    os.mkdir("cfg")
    with open("cfg/profiler_config.json", "w") as file:
        json.dump(keys, file)
    return DynamicProfilerMonitor("cfg", "out", poll_interval=1)

def ready():
    limit = time.monotonic() + 60
    while _core.dynamic_state() != 2:  # the file was read
        assert time.monotonic() < limit
        time.sleep(0.01)

class Arguments:
    cur_step_num = 0

class Context:
    def original_args(self):
        return Arguments

"""
KEYS_OF_FILE = ["start_step", "stop_step", "aic_metrics", "profiler_level", "analyse_mode", "activities", "export_type", "profile_memory", "mstx",
                "parallel_strategy", "with_stack", "data_simplification", "l2_cache", "analyse", "record_shapes", "prof_path", "mstx_domain_include",
                "mstx_domain_exclude", "host_sys", "sys_io", "sys_interconnection"]


def test_a_file_starts_a_collection_by_steps(tmp_path, script):
    done = script(CONFIG + """
monitor = listen(start_step=3, stop_step=4, analyse=True, activities=["CPU"], profiler_level="Level0")
monitor.step()
ready()
for step in range(2, STEPS):
    monitor.step()
""")
    path, = collections(tmp_path / "out/rank0_start3_stop4")
    assert [row for row in ranges_of(path) if not row[1]] == [("ProfilerStep#1", False, 1), ("ProfilerStep#2", False, 2)]
    assert info_of(path)["profiler_parameters"]["activities"] == ["CPU"]
    assert "[Dynamic Profiler] start at step 3 will stop at step 4" in done.stdout and "[Dynamic Profiler] stop at step 4" in done.stdout
    assert os.path.exists(os.path.join(path, "ASCEND_PROFILER_OUTPUT")), done.stderr


def test_a_file_starts_a_collection_of_a_callback(tmp_path, script):
    done = script(CONFIG + """
monitor = listen(start_step=3, stop_step=4, with_stack=True, activities=1, aic_metrics="Everything", host_sys=["cpu", "x"], data_simplification="no")
def marked(step):
    pass
for Arguments.cur_step_num in range(1, STEPS):
    monitor.step_begin(Context())
    if Arguments.cur_step_num == 1:
        ready()
    marked(Arguments.cur_step_num)
    monitor.step_end(Context())
monitor.on_train_end(Context())
""")
    path, = collections(tmp_path / "out/rank0_start3_stop4")
    assert len([row for row in ranges_of(path) if row[1] and row[0].endswith(":marked")]) == 2
    for key in "activities", "aic_metrics", "host_sys", "data_simplification":
        assert any(line.startswith(key + ":") for line in done.stderr.splitlines()), done.stderr
    assert not os.path.exists(os.path.join(path, "ASCEND_PROFILER_OUTPUT"))  # analyse_mode is -1


def test_a_training_that_ends_while_a_collection_runs(tmp_path, script):
    done = script(CONFIG + """
monitor = listen(start_step=2, stop_step=100, analyse_mode=0)
Arguments.cur_step_num = 1
monitor.step_begin(Context())
ready()
Arguments.cur_step_num = 2
monitor.step_begin(Context())
""")
    path, = collections(tmp_path / "out/rank0_start2_stop100")
    assert "stop at end of training" in done.stdout and os.path.exists(os.path.join(path, "profiler_info_0.json"))


def test_the_file_of_the_monitor_is_created(tmp_path, script):
    done = script("from ascope.mindspore import DynamicProfilerMonitor; DynamicProfilerMonitor('cfg').step()")
    assert list(json.loads((tmp_path / "cfg/profiler_config.json").read_text())) == KEYS_OF_FILE and "Init config json file" in done.stdout
