#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collections of GPUs as the ranks of a job: what compares them, in the words of GPUs (tests/fakes/fake_cuda: no GPU is needed).

usage: test_cuda_ranks.py ASCOPE RECORD_CUDA FAKE_CUDA
"""
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ASCOPE, RECORDER, FAKES = (os.path.abspath(p) for p in sys.argv[1:4])
RANKS, STEPS, SLOW = 3, 4, 1
KNOWN = ("ASCEND_", "ASCOPE_", "FAKE_", "CUDA_", "LOCAL_RANK", "RANK", "LD_LIBRARY_PATH")
ENV = {k: v for k, v in os.environ.items() if not k.startswith(KNOWN)}
OF_NPUS = re.compile(r"\bNPU|CANN|AI.?Core|Ascend ", re.I)
# Tables and files have documented names; what is in them has not.
DOCUMENTED = re.compile(r"ASCEND_PROFILER_OUTPUT|CANN_API|NPU_INFO|CannApiSum|MSTXAllCannStats|cann_api_sum|all_cann_stats")


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="ascope-cuda-ranks-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.paths = []
        for rank in range(RANKS):
            done = subprocess.run([RECORDER, cls.folder + "/job", f"steps={STEPS}", f"ns={3000000 if rank == SLOW else 1000000}", "export_type=text,db"],
                                  capture_output=True, text=True, timeout=120, check=True,
                                  env={**ENV, "CUDA_HOME": FAKES, "RANK": str(rank), "WORLD_SIZE": str(RANKS)})
            cls.paths.append(re.search(r"^path: (.*)$", done.stdout, re.M)[1])
        subprocess.run([ASCOPE, "analyse", "-q", *cls.paths], check=True, timeout=120)

    def ascope(self, *args, code=0):
        done = subprocess.run([ASCOPE, *args], capture_output=True, text=True, cwd=self.folder, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.words(done.stdout + done.stderr)
        return done.stdout

    def words(self, text):
        self.assertIsNone(OF_NPUS.search(DOCUMENTED.sub("", text)), text)

    def test_why_names_the_kernels_of_a_slow_step(self):
        text = self.ascope("why", "--rank", str(SLOW), "--step", str(STEPS - 1), "job")
        self.assertRegex(text, r"step_kernel.*\n(.*\n)*.*GPU, Stream 7")

    def test_results_without_recorded_data(self):
        def times(job):
            why, = json.loads(self.ascope("why", job, "--json"))["answers"]
            usual = {part["part"]: part["time_us"] for part in why["usual"]["parts"]}
            return ([(s["step"], s["longest"], s["time_us"]) for s in why["steps"]], [(r["rank"], r["own_us"], r["communication_us"]) for r in why["ranks"]],
                    usual)
        for form, pattern in ("databases", "*.db"), ("timelines", "trace_view.json"):
            for path in self.paths:
                to = os.path.join(self.folder, form, os.path.basename(path), "ASCEND_PROFILER_OUTPUT")
                os.makedirs(to)
                for file in glob.glob(os.path.join(glob.escape(path), "ASCEND_PROFILER_OUTPUT", pattern)):
                    shutil.copy(file, to)
                for file in glob.glob(os.path.join(glob.escape(path), "profiler_*.json")):
                    shutil.copy(file, os.path.dirname(to))
            self.assertEqual(times(form), times("job"), form)

    def test_advise_has_checks_of_gpus_only(self):
        self.ascope("advise", "job", "--html", "page.html")
        with open(self.folder + "/page.html", encoding="utf-8") as f:
            self.words(f.read())
        checks = {c["check"] for c in json.loads(self.ascope("advise", "--json", "job"))["advise_checks"]}
        self.assertIn("slow_rank", checks)
        self.assertEqual(checks & {"ai_cpu", "block_dim", "frequency", "retransmission"}, set())

    def test_compare(self):
        self.assertIn("(GPU, ", self.ascope("compare", self.paths[0], self.paths[SLOW]))

    def test_info(self):
        self.assertIn("activities CPU CUDA", self.ascope("info", self.paths[0]))

    def test_cluster_matches_collectives_of_all_ranks(self):
        self.ascope("cluster", "job", "-m", "all", "--export-type", "text", "--out", "text")
        with open(self.folder + "/text/cluster_analysis_output/cluster_communication.json", encoding="utf-8") as f:
            steps = json.load(f)["(0, 1, 2)"]
        everybody = {str(rank) for rank in range(RANKS)}
        self.assertEqual(len(steps), STEPS)
        for of in steps.values():
            names = {name.split("__")[0] for name in of if not name.startswith("Total")}
            self.assertEqual(names, {"AllGather", "Broadcast", "send"})
            self.assertEqual({frozenset(ranks) for ranks in of.values()}, {frozenset(everybody)})

    def test_all_modes(self):
        self.ascope("cluster", "job", "-m", "all-modes", "--export-type", "db", "--out", "db")
        with sqlite3.connect(self.folder + "/db/cluster_analysis_output/cluster_analysis.db") as db:
            tables = {name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for name in tables - {"RankDeviceMap"}:
                for row in db.execute(f'SELECT * FROM "{name}"'):
                    self.words(" ".join(map(str, row)))
            (column,) = [c for c in ("memory", "memoryNotOverlap", "memory_us") if c in
                         [r[1] for r in db.execute("PRAGMA table_info(ClusterTimeSummary)")]][:1]
            copies = [v for v, in db.execute(f"SELECT {column} FROM ClusterTimeSummary")]
        self.assertEqual(len(copies), RANKS * STEPS)
        for us in copies:  # half a millisecond in each step
            self.assertAlmostEqual(us, 500, delta=1)


class Crossing(unittest.TestCase):
    """All-reduces for which nothing waits last longer than their steps: the time between two ends of them is a step."""
    NS, CROSSING = 1000000, 9000000  # a step computes for four times NS, the last one for three times as much

    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp(prefix="ascope-cuda-crossing-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for rank in range(2):
            subprocess.run([RECORDER, cls.folder + "/job", f"steps={STEPS + 2}", f"ns={cls.NS}", f"crossing={cls.CROSSING}", "export_type=text,db"],
                           capture_output=True, text=True, timeout=120, check=True, env={**ENV, "CUDA_HOME": FAKES, "RANK": str(rank), "WORLD_SIZE": "2"})

    def ascope(self, *args):
        done = subprocess.run([ASCOPE, *args, "--json", "job"], capture_output=True, text=True, cwd=self.folder, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_no_step_is_lost_and_each_has_its_own_work(self):
        for rank in self.ascope("analyse")["directories"]:
            steps = {s["step"]: s for s in rank["steps"]}
            self.assertEqual(sorted(steps), [str(i) for i in range(STEPS + 2)])
            for i, (_, s) in enumerate(sorted(steps.items())):
                self.assertEqual(s["computing_us"] + s["overlapped_us"], 4 * self.NS / 1000 * (3 if i == STEPS + 1 else 1))
                self.assertAlmostEqual(s["computing_us"] + s["overlapped_us"] + s["communication_us"] + s["free_us"], s["time_us"], delta=0.01)
                self.assertGreater(s["overlapped_us"], 0)
                self.assertGreaterEqual(s["device_end_us"], self.CROSSING / 1000)
            median, = rank["step_medians"]
            self.assertGreater(median["step_trace_time_differs"] + median["step_trace_time_lacks"], 0)
        answer, = self.ascope("why")["answers"]
        self.assertEqual([(s["step"], s["ranks"]) for s in answer["steps"]], [(str(i), 2) for i in range(STEPS + 2)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
