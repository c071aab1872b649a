# SPDX-License-Identifier: Apache-2.0
"""The TensorFlow front end: the reference's code samples, the configuration classes, the Profiler, the environment. TensorFlow is not
installed where tests run: tf_standin/ has a small stand-in for the documented API."""
import csv
import glob
import json
import os
import subprocess
import sys

import pytest

STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tf_standin")

# The three samples, as they are in the reference's guide but for the directory; two of them use names that they do not define.
ESTIMATOR = """
from npu_bridge.estimator.npu.npu_config import NPURunConfig
from npu_bridge.estimator.npu.npu_config import ProfilingConfig
profiling_options = '{"output":"OUTPUT","training_trace":"on","task_trace":"on","fp_point":"","bp_point":"","aic_metrics":"PipeUtilization"}'
profiling_config = ProfilingConfig(enable_profiling=True, profiling_options = profiling_options)
session_config=tf.ConfigProto()
config = NPURunConfig(profiling_config=profiling_config, session_config=session_config)
"""
SESSION = """
custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
custom_op.name = "NpuOptimizer"
custom_op.parameter_map["use_off_line"].b = True
custom_op.parameter_map["profiling_mode"].b = True
custom_op.parameter_map["profiling_options"].s = tf.compat.as_bytes('{"output":"OUTPUT","training_trace":"on","task_trace":"on","fp_point":"","bp_point":"","aic_metrics":"PipeUtilization"}') 
config.graph_options.rewrite_options.remapping = RewriterConfig.OFF  # Disable remapping.
with tf.Session(config=config) as sess:
	sess.run()
"""
TF2 = """
import npu_device
...
# profiling
npu_device.global_options().profiling_config.enable_profiling = True
profiling_options = '{"output":"OUTPUT", \\
			"training_trace":"on", \\
			"task_trace":"on", \\
			"fp_point":"", \\
			"bp_point":""}'
npu_device.global_options().profiling_config.profiling_options = profiling_options
...
npu_device.open().as_default()
"""
DEFINED = "import tensorflow as tf\nimport types\nconfig = tf.ConfigProto()\nRewriterConfig = types.SimpleNamespace(OFF=2)\n"
TRAINING = "from npu_bridge.estimator.npu.npu_estimator import NPUEstimator\nNPUEstimator(model_fn=len, config=config).train(steps=2)\n"
FUNCTION = "import tensorflow as tf\n@tf.function\ndef step():\n    return 1\nstep()\nstep()\n"


@pytest.fixture
def run(tmp_path):
    """Runs a script with the simulated device: run(text) -> (process, PROF directories). Through `python3 -m ascope run`, or, which is
    faster since it does not look for PyTorch, with what that provides."""

    def of(text, check=True, env=None, unchanged=False):
        out = tmp_path / "out"
        command = ["-m", "ascope", "run", "--device", "sim"] if unchanged else []
        (tmp_path / "train.py").write_text(("" if unchanged else "import ascope.tensorflow_compat\n") + text.replace("OUTPUT", str(out)))
        path = os.pathsep.join([STANDIN, os.environ.get("PYTHONPATH", "")])
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("PROFILING_", "ASCEND_"))}
        done = subprocess.run([sys.executable, *command, "train.py"], cwd=tmp_path,
                              env=dict(environment, PYTHONPATH=path, ASCOPE_DEVICE="sim", **(env or {})), capture_output=True, text=True, timeout=300)
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done, sorted(glob.glob(str(tmp_path / "**" / "PROF_*"), recursive=True))

    return of


def exported(prof, name):
    program = os.environ.get("ASCOPE_PROGRAM", "ascope")
    if not os.path.exists(prof + "/mindstudio_profiler_output"):  # each export has files of its own, by the second
        subprocess.run([program, "export", "summary", "-dir", prof, "--quiet"], check=True, capture_output=True)
    file, = glob.glob("%s/mindstudio_profiler_output/%s_2*.csv" % (prof, name))
    with open(file, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def sample_of(prof):
    with open(glob.glob(prof + "/host/sample.json")[0], encoding="utf-8") as f:
        return json.load(f)


def test_the_sample_with_an_estimator(run):
    _, profs = run(DEFINED + ESTIMATOR + TRAINING, unchanged=True)
    assert len(profs) == 1 and len(exported(profs[0], "step_trace")) == 2
    names = [row["Op Name"] for row in exported(profs[0], "op_summary")]
    assert sorted(set(names)) == ["dense/MatMul", "gradients/Mul", "loss", "train/update"] and len(names) == 8


def test_the_sample_with_a_session(run):
    _, profs = run(DEFINED + SESSION, unchanged=True)
    assert len(profs) == 1 and len(exported(profs[0], "step_trace")) == 1
    assert sample_of(profs[0])["ai_core_metrics"] == "PipeUtilizationExct"


def test_the_sample_of_tensorflow_2(run):
    _, profs = run(TF2 + FUNCTION, unchanged=True)
    assert len(profs) == 1
    calls = {row["API Name"]: int(row["Count"]) for row in exported(profs[0], "api_statistic")}
    assert calls.get("ModelExecute") == 2
    assert sample_of(profs[0])["ai_core_profiling"] == "off"  # as the parser does, not as the option reference says


def test_without_options_the_default_set_is_recorded_in_the_working_directory(run, tmp_path):
    for text in (DEFINED + SESSION.replace('custom_op.parameter_map["profiling_options"]', "#"),
                 "import npu_device\nnpu_device.global_options().profiling_config.enable_profiling = True\nnpu_device.open()\n"):
        _, profs = run(text)
        assert [os.path.dirname(prof) for prof in profs] == [str(tmp_path)]
        got = sample_of(profs[0])
        assert got["profSwitch"] == "0x6f" and got["hcclTrace"] == got["aicpuTrace"] == "on"
        subprocess.run(["rm", "-r", profs[0]], check=True)


def test_the_environment_asks_for_it(run):
    text = "import tensorflow as tf\nwith tf.compat.v1.Session() as s:\n    s.run(1)\n"
    assert run(text)[1] == []
    assert run(text, env={"PROFILING_MODE": "dynamic"})[1] == []
    _, profs = run(text, env={"PROFILING_MODE": "true", "PROFILING_OPTIONS": '{"output":"env","l2":"on"}'})
    assert len(profs) == 1 and sample_of(profs[0])["l2CacheTaskProfiling"] == "on"
    # a pair of options beats the environment
    _, profs = run(DEFINED + SESSION, env={"PROFILING_MODE": "true", "PROFILING_OPTIONS": '{"output":"env2"}'})
    assert not [prof for prof in profs if "/env2/" in prof]


def test_an_empty_text_of_tensorflow_2_falls_back_to_the_environment(run):
    text = "import npu_device\nc = npu_device.global_options().profiling_config\nc.enable_profiling = True\n" \
           "c.profiling_options = ''\nnpu_device.open()\n"
    assert run(text)[1] == []
    assert len(run(text, env={"PROFILING_MODE": "true", "PROFILING_OPTIONS": '{"output":"env"}'})[1]) == 1


def test_refused_options_end_the_session(run):
    done, profs = run(DEFINED + SESSION.replace('"training_trace":"on"', '"training_trace":"off"'), check=False)
    assert done.returncode != 0 and profs == []
    assert "ValueError" in done.stderr and "training_trace" in done.stderr and "E10001" in done.stderr


CONFIGURED = """
from npu_bridge.estimator.npu.npu_config import NPURunConfig, ProfilingConfig
config = NPURunConfig(profiling_config=ProfilingConfig(enable_profiling=True, profiling_options=%s))
""" + TRAINING


def test_options_that_are_no_text_are_refused_with_a_word(run):
    done, profs = run(CONFIGURED % '{"output": "there"}', check=False)
    assert done.returncode != 0 and profs == []
    assert "ValueError" in done.stderr and "profiling_options is invalid: expected a JSON text, not dict" in done.stderr


def test_options_may_be_bytes(run):
    """Which is what the sample of a session makes of them."""
    _, profs = run(CONFIGURED % """b'{"output": "OUTPUT", "task_time": "on"}'""")
    assert len(profs) == 1


def test_the_profiler_records_scopes(run):
    _, profs = run("""
import tensorflow as tf
from npu_bridge.profiler import profiler
s = tf.compat.v1.Session()
s.run(1)                                  # before any scope
with profiler.Profiler(level="L1", aic_metrics="MemoryUB", output_path="OUTPUT"):
    s.run(1)
    s.run(2)
p = profiler.Profiler(output_path="OUTPUT")
p.start()
p.stop()                                  # nothing ran: no directory
with profiler.Profiler(level="L2", output_path="OUTPUT"):
    s.run(3)
s.close()
""")
    assert [sample_of(prof)["profSwitch"] for prof in profs] == ["0x27", "0x12f"]
    assert sample_of(profs[0])["aiv_metrics"] == "MemoryUB"
    calls = {row["API Name"]: int(row["Count"]) for row in exported(profs[0], "api_statistic")}
    assert calls["ModelExecute"] == 2


def test_the_profiler_checks(script):
    script("""
        from ascope.tensorflow import Profiler, hooked
        import os
        for name in ("level", "aic_metrics", "output_path"):
            try:
                Profiler(**{name: 1})
                raise SystemExit(name)
            except ValueError as e:
                assert str(e) == "Option %s should be str, but get type: <class 'int'>" % name, e
        for options, text in (
                (dict(level="L4"), "Profiler options: level cannot set to: L4, should set level to [L0, L1, L2]."),
                (dict(aic_metrics="PipeUtilization"), "Please use L1 or L2 if you want to collect aic metrics!"),
                (dict(level="L1", aic_metrics="PipeUtiliza"), "Profiler options: aic_metrics cannot set to: PipeUtiliza, should set "
                 "aic_metrics to [ArithmeticUtilization, L2Cache, Memory, MemoryL0, MemoryUB, PipeUtilization, ResourceConflictRatio].")):
            try:
                Profiler(**options).start()
                raise SystemExit(text)
            except RuntimeError as e:
                assert str(e) == text, e
        Profiler().stop()                 # without start
        with Profiler(level="L1"):
            try:
                Profiler().start()
                raise SystemExit("nested")
            except RuntimeError as e:
                assert str(e) == "Not support nested call 'profiler.Profiler'."
            os.environ["PROFILING_MODE"] = "true"
            try:
                hooked(len)("x")
                raise SystemExit("both")
            except ValueError as e:
                assert str(e).startswith("The option 'profiling_mode' or env variables 'PROFILING_MODE' cannot be set"), e
            del os.environ["PROFILING_MODE"]
        try:
            Profiler("L1")
            raise SystemExit("positional")
        except TypeError:
            pass
    """)


def test_options_of_tensorflow_2_check_themselves(script):
    script("""
        from ascope import tensorflow_compat
        import npu_device
        c = npu_device.global_options().profiling_config
        c.enable_profiling = 1
        for name, value, kind, text in (
                ("nonsense", 1, ValueError, "ProfilingConfig has no option nonsense, all options ['enable_profiling', 'profiling_options']"),
                ("enable_profiling", "on", TypeError, "Expected int, got str")):
            try:
                setattr(c, name, value)
                raise SystemExit(name)
            except kind as e:
                assert str(e) == text, e
        assert "\\\\/" in c.profiling_options
        c.profiling_options = {"a": 1}    # any value is taken
    """)


def test_any_function_can_be_a_run(script, tmp_path):
    done = script("""
        from ascope import tensorflow
        c = tensorflow.ProfilingConfig(enable_profiling=True, profiling_options='{"output":"x","msproftx":"on"}')
        tensorflow.NPURunConfig(profiling_config=c)
        step = tensorflow.hooked(lambda a: a + 1, "step")
        assert [step(1), step(2)] == [2, 3]
        print(tensorflow.end())
        assert step(3) == 4               # the configuration still asks for it: a new collection
        try:
            tensorflow.npu_resource_init(enable_profiling=True)
            raise SystemExit("no options")
        except ValueError as e:
            assert str(e) == "profiling_options must be set when use profiling"
    """, env={"ASCOPE_DEVICE": "sim"})
    ranges = [row["message"] for row in exported(done.stdout.strip(), "msprof_tx")]
    assert ranges == ["step #1", "step #2"]


def test_installed_modules_come_first(run, tmp_path):
    (tmp_path / "npu_device.py").write_text("ours = True\n")
    run("import npu_device\nassert npu_device.ours\n")
