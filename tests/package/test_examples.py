#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each program of examples/ is run, analysed, and found again in the results: what it did, as often as it did it.

    test_examples.py ASCOPE EXAMPLES [unittest options]

Times are those of a real run: what is checked are numbers and relations, never bytes.
"""
import collections
import csv
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
from decimal import Decimal

ASCOPE, EXAMPLES = (os.path.abspath(p) for p in sys.argv[1:3])


class Analysed:
    """ASCEND_PROFILER_OUTPUT of one collection."""

    def __init__(self, path):
        self.path, self.folder = path, os.path.join(path, "ASCEND_PROFILER_OUTPUT")
        self.db = sqlite3.connect(glob.glob(self.folder + "/ascend_pytorch_profiler*.db")[0])
        with open(self.folder + "/trace_view.json", encoding="utf-8") as f:
            self.trace = json.load(f, parse_float=Decimal)

    def table(self, name):
        with open(os.path.join(self.folder, name), newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def count(self, name, column):
        return collections.Counter(row[column] for row in self.table(name))

    def rows(self, sql):
        return self.db.execute(sql).fetchall()

    def operators(self):
        """How often each operator of the framework was recorded, without what the queue added."""
        return dict(self.rows("SELECT s.value, COUNT(*) FROM PYTORCH_API p JOIN STRING_IDS s ON s.id = p.name "
                              "JOIN ENUM_API_TYPE t ON t.id = p.type WHERE t.name = 'op' GROUP BY 1"))

    def marks(self):
        """(domain, message) -> how often, without those of steps."""
        return {(d, m): n for d, m, n in self.rows(
            "SELECT d.value, m.value, COUNT(*) FROM MSTX_EVENTS e JOIN STRING_IDS m ON m.id = e.message "
            "JOIN STRING_IDS d ON d.id = e.domainId GROUP BY 1, 2") if not m.startswith("ProfilerStep#")}

    def steps(self):
        return [int(s["Step"]) for s in self.table("step_trace_time.csv") if s["Step"]]


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope examples ")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def run_example(self, name, *args, ends=0, said="", **env):
        """The directories that it has left, in the order in which it said so."""
        env = dict({k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE")}, **env)
        p = subprocess.run([os.path.join(EXAMPLES, name), self.dir, *args], capture_output=True, text=True, env=env,
                           timeout=100)
        self.assertEqual(p.returncode, ends, p.stderr)
        self.assertRegex(p.stderr, r"\A%s\Z" % said)
        paths = p.stdout.split("\n")[:-1]
        for path in paths:
            self.assertTrue(os.path.isdir(path), path)
        return paths

    def ascope(self, *args, ends=0):
        p = subprocess.run([ASCOPE, *args], capture_output=True, text=True, timeout=100)
        self.assertEqual(p.returncode, ends, "%s: %s%s" % (args, p.stdout, p.stderr))
        return p.stdout

    def analyse(self, path, ends=0):
        self.said = self.ascope("analyse", path, "--export-type", "text,db", ends=ends)
        return Analysed(path)

    def nothing_is_left_over(self, path):
        """A collection that ended as it should holds nothing that belongs to a running one."""
        names = [n for _, _, files in os.walk(path) for n in files]
        self.assertEqual([n for n in names if n == "ascope.rings" or ".part-" in n], [])

    def facts(self, path):
        with open(os.path.join(path, "ascope.json")) as f:
            return json.load(f)


class Training(Case):
    STEPS, LAYERS = 3, 3

    def check(self, r):
        n, layers = self.STEPS, self.STEPS * self.LAYERS
        self.assertEqual(r.steps(), [2, 3, 4])
        found = r.operators()
        for name, times in (("layer", layers), ("aten::mm", layers), ("aten::relu", layers), ("MmBackward0", layers),
                            ("aten::_fused_adam_", n), ("ProfilerStep#2", 1), ("ProfilerStep#4", 1)):
            self.assertEqual(found.get(name), times, name)
        kernels = r.count("kernel_details.csv", "Type")
        self.assertEqual((kernels["MatMul"], kernels["Relu"], kernels["ApplyAdam"]), (2 * layers, layers, n), kernels)
        self.assertEqual(set(r.count("kernel_details.csv", "Step Id")), {"2", "3", "4"})
        return found

    def test_everything_that_it_did_is_found_again(self):
        path, = self.run_example("training")
        self.nothing_is_left_over(path)
        r = self.analyse(path)
        self.check(r)
        n, layers = self.STEPS, self.STEPS * self.LAYERS
        marks = collections.Counter()
        for (domain, message), times in r.marks().items():
            marks[domain, message.split(" after")[0]] += times
        self.assertEqual(marks, {("loading", "next batch"): n, ("model", "forward"): n, ("model", "loss"): n})

        # The device comes to a range with a stream, too, and to those of steps.
        self.assertEqual(r.rows("SELECT COUNT(*) FROM TASK t JOIN MSTX_EVENTS e ON e.connectionId = t.connectionId "
                                "WHERE e.connectionId <> 4294967295")[0][0], 2 * n)
        self.assertEqual(r.rows("SELECT COUNT(*) FROM COMMUNICATION_OP")[0][0], n)
        self.assertEqual(r.rows("SELECT COUNT(*) FROM TASK t JOIN STRING_IDS s ON s.id = t.taskType WHERE s.value = "
                                "'MEMCPY_ASYNC' AND t.globalTaskId NOT IN (SELECT globalTaskId FROM "
                                "COMMUNICATION_TASK_INFO)")[0][0], 2 * n)

        # Two streams of kernels and collectives; each kernel belongs to the operator that launched it.
        streams = r.count("kernel_details.csv", "Stream ID")
        self.assertGreaterEqual(len(streams), 2, streams)
        device = {o["Name"]: Decimal(o["Device Self Duration(us)"]) for o in r.table("operator_details.csv")}
        for name in "aten::mm", "aten::relu", "MmBackward0", "aten::_fused_adam_":
            self.assertGreater(device[name], 0, name)
        self.assertEqual(device["layer"], 0)
        shapes = {"".join(o["Input Shapes"].split()) for o in r.table("operator_details.csv") if o["Name"] == "aten::mm"}
        self.assertEqual(shapes, {"512,512;512,512"})

        # Memory: what was taken was given back, by the operators that took it.
        taken = [m for m in r.table("operator_memory.csv") if m["Device Type"] == "NPU:0"]
        self.assertEqual(len(taken), layers)
        self.assertTrue(all(m["Release Time(us)"] for m in taken))
        self.assertEqual({m["Size(KB)"] for m in taken}, {"1024.0"})
        self.assertEqual({m["Release Total Allocated(MB)"] for m in taken}, {"0.0", "1.0", "2.0"})

        # Forward and backward operators are tied by their sequence numbers.
        forward, backward = ([n for n, in r.rows(
            "SELECT p.sequenceNumber FROM PYTORCH_API p JOIN STRING_IDS s ON s.id = p.name WHERE s.value = '%s' ORDER BY 1"
            % name)] for name in ("aten::mm", "MmBackward0"))
        self.assertEqual((len(set(forward)), forward), (layers, backward))

    def test_it_says_that_it_is_simulated(self):
        path, = self.run_example("training")
        self.assertIn("simulated", self.ascope("info", path))
        r = self.analyse(path)
        self.assertIn("simulated", self.said)
        self.assertTrue(dict(r.rows("SELECT name, value FROM META_DATA")).get("ASCOPE_SIMULATED"))
        self.assertTrue(self.facts(path)["simulated"])

    def test_what_recording_cost_is_reported_by_step(self):
        path, = self.run_example("training")
        facts = self.facts(path)
        self.assertEqual(facts["ended"], "stop")
        self.assertEqual(facts["dropped"], [])
        self.assertEqual([s["step"] for s in facts["steps"]], [2, 3, 4])
        self.assertGreater(min(s["records"] for s in facts["steps"]), 20)
        self.assertEqual(facts["open_ranges"], 0)
        self.assertGreater(facts["written"]["bytes"], 0)

    def test_options_by_name(self):
        path, = self.run_example("training", "mstx_domain_exclude", "loading", "record_shapes", "false",
                                 "profile_memory", "false", "profiler_level", "Level0", "aic_metrics", "AiCoreNone")
        r = self.analyse(path)
        self.assertEqual({domain for domain, _ in r.marks()}, {"model"})
        self.assertEqual({o["Input Shapes"] for o in r.table("operator_details.csv")}, {""})
        self.assertFalse(os.path.exists(path + "/FRAMEWORK/torch.memory_usage"))
        self.assertEqual(r.steps(), [2, 3, 4])

    def test_copies_are_reported_with_the_calls_below_the_operators(self):
        path, = self.run_example("training", "profiler_level", "Level2", "aic_metrics", "MemoryUB")
        r = self.analyse(path)
        self.check(r)
        self.assertEqual(dict(r.rows("SELECT e.name, COUNT(*) FROM MEMCPY_INFO m JOIN ENUM_MEMCPY_OPERATION e "
                                     "ON e.id = m.memcpyOperation WHERE e.name LIKE '%host%' GROUP BY 1")),
                         {"host to device": 3, "device to host": 3})

    def test_two_ranks_wait_for_each_other(self):
        env = dict(os.environ, WORLD_SIZE="2", MASTER_PORT=str(20000 + os.getpid() % 20000))
        both = [subprocess.Popen([os.path.join(EXAMPLES, "training"), self.dir], stdout=subprocess.PIPE, text=True,
                                 env=dict(env, RANK=str(rank))) for rank in range(2)]
        paths = [p.communicate(timeout=100)[0].strip() for p in both]
        self.assertEqual([p.returncode for p in both], [0, 0])
        self.ascope("analyse", self.dir, "--export-type", "text,db")
        ends = []
        for rank, path in enumerate(paths):
            self.assertTrue(os.path.exists("%s/profiler_info_%d.json" % (path, rank)))
            r = Analysed(path)
            self.assertEqual(r.rows("SELECT rankId FROM RANK_DEVICE_MAP"), [(rank,)])
            ends.append([ns for ns, in r.rows("SELECT endNs FROM COMMUNICATION_OP ORDER BY startNs")])
        self.assertEqual([len(e) for e in ends], [3, 3])


class Others(Case):
    def test_a_recording_without_steps(self):
        path, = self.run_example("session")
        r = self.analyse(path)
        self.assertEqual(r.operators(), {"request": 3})
        self.assertEqual(len(r.table("kernel_details.csv")), 12)
        self.assertEqual(r.steps(), [])
        with open(path + "/profiler_metadata.json") as f:
            metadata = json.load(f)
        self.assertEqual(metadata["model"], "two layers of 1024")
        self.assertEqual(metadata["requests"]["tokens"], [16, 64, 256])
        self.assertTrue(os.path.basename(path).startswith("service_"))

    def test_many_threads(self):
        for n in 8, 64:
            path = self.run_example("threads", str(n))[0]
            r = self.analyse(path)
            found = r.operators()
            self.assertEqual((found["decode"], found["aten::add"]), (100 * n, 50))
            marks = r.marks()
            self.assertEqual(len(marks), 100 * n)
            self.assertEqual({d for d, _ in marks}, {"workers"})
            self.assertEqual(len(r.table("kernel_details.csv")), 50)
            # The queue ties operators to the kernels that another thread launched for them; not where an operator of a worker began
            # in between: the tree is one for all threads, as in the reference.
            own = [o for o in r.table("operator_details.csv") if o["Name"] == "aten::add"]
            self.assertGreater(sum(Decimal(o["Device Self Duration(us)"]) > 0 for o in own), 25)

    def test_operators_of_cpp(self):
        if not os.path.exists(os.path.join(EXAMPLES, "operators")):
            self.skipTest("no compiler for C++ when it was built")
        path, = self.run_example("operators")
        r = self.analyse(path)
        found = r.operators()
        self.assertEqual((found["aten::convolution"], found["aten::empty"]), (12, 4 * (1 + 1 + 4)))
        self.assertEqual(r.marks(), {("loader", "images"): 4})
        self.assertIn("1,3,128,128", "".join(o["Input Shapes"] for o in r.table("operator_details.csv")))

    def test_marks_through_mstx(self):
        path, = self.run_example("marks")
        marks = self.analyse(path).marks()
        self.assertEqual(marks, {("default", "epoch"): 2, ("default", "checkpoint"): 2, ("loader", "read"): 6})
        self.assertIn("\n  program marks, host only\n", self.said)
        self.assertNotIn("PyTorch", self.said)
        report = json.loads(self.ascope("analyse", path, "--json"))["directories"][0]
        self.assertEqual({(r["domain"], r["name"]): r["count"] for r in report["ranges"]}, {(None, "epoch"): 2, ("loader", "read"): 6})
        self.assertIsNone(json.loads(self.ascope("info", path, "--json"))["collections"][0]["framework"])

    def test_a_directory_of_collections_is_exported(self):
        paths = sorted(self.run_example("marks")[0] for _ in range(2))
        report = json.loads(self.ascope("export", self.dir, "--json"))
        self.assertEqual([os.path.dirname(c["path"]) for c in report["collections"]], paths)
        self.assertEqual([c["counts"]["marks"] for c in report["collections"]], [10, 10])
        for prof in report["collections"]:
            shutil.rmtree(prof["path"])
        p = subprocess.run([ASCOPE, "export", self.dir], capture_output=True, text=True, timeout=100)
        self.assertEqual(p.returncode, 1)
        self.assertRegex(p.stderr, "^ascope: .*: contains no PROF_XXX directory, .*; use ascope analyse\n$")

    def test_started_while_it_runs(self):
        config = os.path.join(self.dir, "config")
        file = os.path.join(config, "profiler_config.json")
        job = subprocess.Popen([os.path.join(EXAMPLES, "dynamic"), config, "100000", "10"], cwd=self.dir,
                               env=dict(os.environ, PATH=os.path.dirname(ASCOPE) + os.pathsep + os.environ["PATH"]))
        try:
            self.wait_for(job, lambda: self.step_of(config) > 0)  # what the file has before the first look is of another job
            with open(file, encoding="utf-8") as f:
                text = f.read().replace('"start_step": 0', '"start_step": -1').replace('"active": 1', '"active": 3')
            with open(file, "w", encoding="utf-8") as f:
                f.write(text.replace('"analyse": false', '"analyse": true').replace('"text"', '"text", "db"'))
            log = glob.glob(config + "/log/dp_*")[0]
            self.wait_for(job, lambda: "Stop Dynamic Profiler" in pathlib.Path(log).read_text("utf-8"))
        finally:
            job.kill()
            job.wait()
        with open(log, encoding="utf-8") as f:
            first = int(re.search(r"Start Dynamic Profiler at (\d+) step", f.read()).group(1))
        shutil.rmtree(config)  # a job that ends removes the shared memory of the killed one
        subprocess.run([os.path.join(EXAMPLES, "dynamic"), config, "1", "1"], cwd=self.dir, stdout=subprocess.DEVNULL, timeout=100, check=True)
        path, = glob.glob(self.dir + "/*_ascend_pt")
        r = Analysed(path)
        self.assertEqual(r.operators()["train"], 3)
        steps = sorted(e["name"] for e in r.trace if str(e.get("name")).startswith("ProfilerStep#"))
        self.assertEqual(steps, sorted("ProfilerStep#%d" % (first + i) for i in range(3)))

    def step_of(self, config):
        p = subprocess.run([ASCOPE, "dyn", config, "status", "--json"], capture_output=True, text=True, timeout=100)
        return max((one["step"] or 0 for one in json.loads(p.stdout)["listeners"]), default=0) if p.returncode == 0 else 0

    def wait_for(self, job, condition):
        until = time.monotonic() + 100
        while not condition():
            self.assertIsNone(job.poll(), "the job has ended")
            self.assertLess(time.monotonic(), until, "it does not happen")
            time.sleep(0.02)

    def test_flight_recorder(self):
        path = self.run_example("flight", "60", said=r"ascope: warning: flight recorder: slow step \d+: .* ms, median .* ms: saved to /.*_ascend_pt\n")[0]
        with open(os.path.join(path, "ascope.json")) as f:
            self.assertEqual(json.load(f)["flight"]["trigger"], "the end")
        saved = glob.glob(glob.escape(os.path.dirname(path)) + "/*_ascend_pt")
        self.assertGreaterEqual(len(saved), 2)  # and that of a slow step; the recorder's own directory is gone
        self.assertEqual([one for one in saved if os.path.exists(one + "/ascope.rings")], [])

    def test_killed_and_recovered(self):
        for n in 1, 1000, 5000:
            path = self.run_example("killed", str(n), ends=-signal.SIGKILL)[0]
            self.assertTrue(os.path.exists(path + "/ascope.rings"))
            r = self.analyse(path)
            self.assertEqual(r.operators(), {"aten::add": n})
            self.assertEqual(len(r.table("kernel_details.csv")), n)
            self.assertEqual(r.marks(), {("default", "the last thing that it did"): 1})
            facts = self.facts(path)
            self.assertEqual((facts["ended"], facts["open_ranges"]), ("recovered", 1))
            self.nothing_is_left_over(path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
