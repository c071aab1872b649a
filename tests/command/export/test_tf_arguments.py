#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every argument of profiling_options by itself, on the simulated NPU: switched on, the files and the layers of the timeline that the
reference's table (and `ascope options check`) names are there, and no others; off, they are absent.

usage: test_tf_arguments.py ASCOPE OPTIONS_JOB
"""
import csv
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal

from depth import sampled

ASCOPE, JOB = "", ""
OF_TASKS = {"op_summary", "op_statistic", "task_time", "api_statistic", "hccl_statistic", "fusion_op"}
LAYERS_OF_TASKS = {"CANN", "Ascend Hardware", "HCCL", "Overlap Analysis"}
ALWAYS, LAYERS_ALWAYS = {"api_statistic"}, {"AI Core Freq", "CANN"}  # ACL calls are always recorded

# argument: what it adds to a collection that has task_time=off and nothing else (files, layers)
ARGUMENTS = (
    ({"task_time": "l0"}, OF_TASKS - {"op_statistic", "hccl_statistic", "fusion_op"}, LAYERS_OF_TASKS),
    ({"task_time": "l1"}, OF_TASKS, LAYERS_OF_TASKS),
    ({"task_time": "l2"}, OF_TASKS, LAYERS_OF_TASKS),
    ({"training_trace": "on"}, {"step_trace", "step_trace.json"}, {"Ascend Hardware"}),
    ({"runtime_api": "on"}, set(), set()),  # more calls in what is there: see below
    ({"ge_api": "l0"}, set(), set()),
    ({"ge_api": "l1"}, set(), set()),
    ({"hccl": "on"}, set(), set()),
    ({"aicpu": "on"}, {"aicpu", "dp"}, set()),
    ({"msproftx": "on"}, {"msprof_tx", "msprof_tx.json"}, {"options_job"}),
    ({"task_memory": "on"}, {"memory_record", "operator_memory", "static_op_mem"}, set()),
    ({"sys_hardware_mem_freq": 50}, {"hbm", "llc_read_write", "npu_mem", "npu_module_mem"}, {"HBM", "LLC", "NPU MEM"}),
    ({"sys_hardware_mem_freq": 50, "llc_profiling": "write"}, {"hbm", "llc_read_write", "npu_mem", "npu_module_mem"},
     {"HBM", "LLC", "NPU MEM"}),
    ({"sys_io_sampling_freq": 50}, {"nic", "roce"}, {"NIC", "RoCE"}),
    ({"sys_interconnection_freq": 50}, {"pcie", "hccs"}, {"PCIe", "HCCS"}),
    ({"dvpp_freq": 50}, {"dvpp"}, set()),
    ({"host_sys": "cpu"}, {"host_cpu_usage"}, {"CPU Usage"}),
    ({"host_sys": "mem"}, {"host_mem_usage"}, {"Memory Usage"}),
    ({"host_sys_usage": "cpu"}, {"cpu_usage", "process_cpu_usage"}, set()),
    ({"host_sys_usage": "mem", "host_sys_usage_freq": 50}, {"sys_mem", "process_mem"}, set()),
)
# What nothing reads, and the simulated device does not record: docs/tensorflow.md says why.
WITHOUT_RESULTS = ({"task_tsfw": "on"}, {"task_block": "all"}, {"instr_profiling": "on"})
# The same for those that need tasks: beyond task_time=on.
WITH_TASKS = (
    ({"aic_metrics": "PipeUtilization"}, set()),
    ({"l2": "on"}, {"l2_cache", "soc_pmu"}),
)
DEFAULT = {"training_trace": "on", "task_time": "on", "hccl": "on", "aicpu": "on", "aic_metrics": "PipeUtilization", "msproftx": "off"}


class Result:
    """An exported collection: its tables (without time and suffix; timelines with theirs) and the layers of its timeline."""

    def __init__(self, path):
        self.folder = os.path.join(path, "mindstudio_profiler_output")
        names = [re.sub(r"_\d{14}", "", name) for name in os.listdir(self.folder)]
        self.files = {name[:-len(".csv")] if name.endswith(".csv") else name for name in names} - {"README.txt", "msprof.json"}
        timeline, = glob.glob(self.folder + "/msprof_2*.json")
        with open(timeline, encoding="utf-8") as f:
            self.events = json.load(f)
        self.layers = {e["args"]["name"] for e in self.events if e.get("name") == "process_name"}
        self.threads = {e["args"]["name"] for e in self.events if e.get("name") == "thread_name"}

    def rows(self, name):
        file, = glob.glob("%s/%s_2*.csv" % (self.folder, name))
        with open(file, newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))


class Arguments(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ascope-tf-")
        self.addCleanup(shutil.rmtree, self.folder)

    def recorded(self, options, warning=""):
        text = json.dumps({"output": self.folder, **options})
        lasts = ["200"] if "host_sys" in options else []  # /proc counts in 10 ms: two samples need time to differ
        job = subprocess.run([JOB, text, *lasts], capture_output=True, text=True)
        self.assertEqual(job.returncode, 0, job.stderr)
        self.assertIn(warning, job.stderr)
        self.assertEqual("simulated device" in job.stderr, bool(warning), job.stderr)
        path = job.stdout.strip()
        done = subprocess.run([ASCOPE, "export", "-dir", path, "--quiet"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Result(path)

    def announced(self, options):
        """Files that `options check` says: (certain ones, those with a condition)."""
        done = subprocess.run([ASCOPE, "options", "check", "--json", json.dumps({"output": self.folder, **options})],
                              capture_output=True, text=True)
        report, certain, possible = json.loads(done.stdout), set(), set()
        for one in report["results"]:
            for name in one["files"]:
                plain = name.split(" ")[0].replace("_*.csv", "").replace("_*.json", ".json")
                (possible if "(" in name and "columns" not in name else certain).add(plain)
        layers = {name.split(" (")[0] for one in report["results"] for name in one["layers"]}
        return certain - {"msprof.json"}, possible, {"options_job" if name == "the program's name" else name for name in layers}

    def check_announced(self, options, got):
        certain, possible, layers = self.announced(options)
        self.assertEqual(got.files - possible, certain - possible)
        self.assertEqual(got.layers, layers)

    def test_one_argument_alone(self):
        for argument, files, layers in sampled(ARGUMENTS, 3):
            with self.subTest(argument=argument):
                options = {"task_time": "off", **argument}
                got = self.recorded(options)
                self.assertEqual(got.files, ALWAYS | files)
                self.assertEqual(got.layers, LAYERS_ALWAYS | layers)
                self.check_announced(options, got)

    def test_arguments_without_results(self):
        for argument in WITHOUT_RESULTS:
            with self.subTest(argument=argument):
                options = {"task_time": "off", **argument}
                got = self.recorded(options, "simulated device: does not record %s; continuing without" % next(iter(argument)))
                self.assertEqual((got.files, got.layers), (ALWAYS, LAYERS_ALWAYS))
                self.check_announced(options, got)

    def test_off_means_absent(self):
        off = {"task_time": "off"}
        for argument, _, _ in ARGUMENTS:
            off.update({k: "off" for k, v in argument.items() if v in ("on", "l0", "l1") and k != "training_trace"})
        got = self.recorded(off)
        self.assertEqual((got.files, got.layers), (ALWAYS, LAYERS_ALWAYS))
        self.check_announced(off, got)

    def test_nothing_but_an_output(self):
        got = self.recorded({})
        self.assertEqual((got.files, got.layers), (OF_TASKS, LAYERS_ALWAYS | LAYERS_OF_TASKS))
        self.check_announced({}, got)
        self.assertFalse([name for name in got.rows("op_summary")[0] if "_ratio" in name])  # no counters
        self.assertNotIn("runtime", {row["Level"] for row in got.rows("api_statistic")})

    def test_arguments_that_need_tasks(self):
        for argument, files in WITH_TASKS:
            with self.subTest(argument=argument):
                got = self.recorded(argument)
                self.assertEqual(got.files, OF_TASKS | files)
                self.check_announced(argument, got)
                counted = [name for name in got.rows("op_summary")[0] if "_ratio" in name]
                self.assertEqual(bool(counted), "aic_metrics" in argument)

    def test_communication_needs_tasks(self):
        for level, files in (("l0", OF_TASKS - {"op_statistic", "hccl_statistic", "fusion_op"}), ("on", OF_TASKS)):
            with self.subTest(level=level):
                options = {"task_time": level, "hccl": "on"}
                got = self.recorded(options)
                self.assertEqual((got.files, got.layers), (files, LAYERS_ALWAYS | LAYERS_OF_TASKS))
                self.check_announced(options, got)

    def test_fused_operators(self):
        row, = self.recorded({}).rows("fusion_op")
        self.assertEqual((row["Model Name"], row["Model ID"], row["Fusion Op"]), ("training", "1", "forward"))
        self.assertEqual(row["Original Ops"], "forward/product;forward/bias;forward/relu")
        self.assertEqual([row["Memory %s(KB)" % one] for one in ("Input", "Output", "Weight", "Workspace", "Total")],
                         ["16.0", "8.0", "64.0", "0.5", "88.5"])

    def test_phases_of_the_graph_engine(self):
        main, others = {"InferShape", "Tiling"}, {"CalcTensorSizeFromShape", "AllocMemHbm", "FreeMemory"}
        for level, expected in (("l0", main), ("l1", main | others)):
            with self.subTest(level=level):
                got = self.recorded({"task_time": "off", "ge_api": level})
                of_nodes = [row for row in got.rows("api_statistic") if row["Level"] == "node"]
                self.assertEqual({row["API Name"] for row in of_nodes}, expected)
                self.assertEqual({row["Count"] for row in of_nodes}, {"21"})  # the operators of three iterations
                self.assertLessEqual({"Node@" + one for one in expected}, {e["name"] for e in got.events})

    def test_calls_of_the_runtime_and_of_communication(self):
        for argument, level in (({"runtime_api": "on"}, "runtime"), ({"hccl": "on"}, "node")):
            with self.subTest(argument=argument):
                got = self.recorded({"task_time": "off", **argument})
                self.assertIn(level, {row["Level"] for row in got.rows("api_statistic")})
        without = self.recorded({"task_time": "off"})
        self.assertEqual({row["Level"] for row in without.rows("api_statistic")}, {"acl"})

    def test_the_default_set(self):
        got = self.recorded(DEFAULT)
        self.assertEqual(got.files, OF_TASKS | {"step_trace", "step_trace.json", "aicpu", "dp"})
        self.check_announced(DEFAULT, got)
        self.assertTrue([name for name in got.rows("op_summary")[0] if "_ratio" in name])

    def test_the_step_trace(self):
        automatic_steps = self.recorded({"training_trace": "on"})
        automatic = automatic_steps.rows("step_trace")
        self.assertEqual(len(automatic), 3)
        for i, row in enumerate(automatic):
            begin, end = Decimal(row["FP Start(us)"]), Decimal(row["BP End(us)"])
            self.assertAlmostEqual(Decimal(row["FP to BP Time(us)"]), end - begin, delta=Decimal("0.002"))
            self.assertAlmostEqual(Decimal(row["Iteration Refresh(us)"]), Decimal(row["Iteration End(us)"]) - end, delta=Decimal("0.002"))
            self.assertGreater(Decimal(row["Iteration Time(us)"]), Decimal(row["FP to BP Time(us)"]))
            self.assertEqual(row["Data Aug Bound(us)"] == "N/A", i == 0)
            self.assertEqual(row["Model ID"], "1")
            reduce = Decimal(row["Reduce Start(us)"])
            self.assertGreater(reduce, end)
            self.assertLess(reduce + Decimal(row["Reduce Duration(us)"]), Decimal(row["Iteration End(us)"]))
        self.check_timeline_of_steps(automatic_steps)
        named = self.recorded({"training_trace": "on", "fp_point": "forward", "bp_point": "backward"})
        tasks = {}
        for row in named.rows("op_summary"):
            begin = Decimal(row["Task Start Time(us)"])
            tasks.setdefault(row["Op Name"], []).append((begin, begin + Decimal(row["Task Duration(us)"])))
        for i, row in enumerate(named.rows("step_trace")):
            expected = sorted(tasks["backward"])[i][1] - sorted(tasks["forward"])[i][0]
            self.assertAlmostEqual(Decimal(row["FP to BP Time(us)"]), expected, delta=Decimal("0.1"))
        self.assertTrue([name for name in named.threads if name.startswith("Step Trace")])

    def check_timeline_of_steps(self, got):
        """Each iteration with its parts; the next batch is there before the forward part begins."""
        file, = glob.glob(got.folder + "/step_trace_*.json")
        with open(file, encoding="utf-8") as f:
            events = [e for e in json.load(f) if e["ph"] == "X"]
        for i in range(1, 4):
            names = {"Iteration %d" % i, "FP_BP Time %d" % i, "Iteration Refresh %d" % i, "Reduce_%d_%d" % (i, i - 1)}
            self.assertLessEqual(names, {e["name"] for e in events})
        batches = sorted(Decimal(str(e["ts"])) + Decimal(str(e["dur"])) for e in events if e["name"] == "GetNext")
        forward = sorted(Decimal(str(e["ts"])) for e in events if e["name"].startswith("FP_BP"))
        self.assertEqual(len(batches), 3)
        for batch, begin in zip(batches, forward):
            self.assertLessEqual(batch, begin)

    def test_a_point_inside_of_a_fused_operator(self):
        direct = {"training_trace": "on", "fp_point": "forward", "bp_point": "backward"}
        for options in (direct, dict(direct, fp_point="forward/bias")):
            for row in self.recorded(options).rows("step_trace"):
                self.assertNotIn("N/A", (row["FP Start(us)"], row["FP to BP Time(us)"]))

    def test_points_that_are_not_found(self):
        without_fp = self.recorded({"training_trace": "on", "fp_point": "nowhere"}).rows("step_trace")
        self.assertEqual(len(without_fp), 3)
        for row in without_fp:
            self.assertEqual([row[name] for name in ("FP Start(us)", "FP to BP Time(us)", "Data Aug Bound(us)")], ["N/A"] * 3)
            self.assertNotEqual(row["Iteration Refresh(us)"], "N/A")
        self.assertNotIn("step_trace", self.recorded({"training_trace": "on", "bp_point": "nowhere"}).files)

    def test_acl_json(self):
        got = self.recorded_acl({"switch": "on", "output": self.folder})
        self.assertEqual(got.files, OF_TASKS | {"step_trace", "step_trace.json"})
        self.assertIn("runtime", {row["Level"] for row in got.rows("api_statistic")})
        self.assertTrue([name for name in got.rows("op_summary")[0] if "_ratio" in name])
        got = self.recorded_acl({"switch": "on", "output": self.folder, "task_time": "off", "ascendcl": "off", "runtime_api": "off"})
        self.assertEqual(got.files, {"step_trace", "step_trace.json"})

    def recorded_acl(self, section):
        job = subprocess.run([JOB, json.dumps({"profiler": section})], capture_output=True, text=True)
        self.assertEqual(job.returncode, 0, job.stderr)
        subprocess.run([ASCOPE, "export", "-dir", job.stdout.strip(), "--quiet"], check=True, capture_output=True)
        return Result(job.stdout.strip())


if __name__ == "__main__":
    ASCOPE, JOB = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
