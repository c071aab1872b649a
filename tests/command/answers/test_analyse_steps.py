#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope analyse --steps: rows and events of some steps are those that the whole has of them, and nothing of others.

usage: test_analyse_steps.py ASCOPE SOURCE_ROOT [unittest options]
"""
import collections
import csv
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ASCOPE = SOURCE = None
WHOLE = {"op_statistic.csv", "api_statistic.csv"}  # sums of what is in the part
UNCUT = {"pcie.csv", "hccs.csv", "nic.csv", "roce.csv", "l2_cache.csv", "soc_pmu.csv"}
OVERLAP = {"Free", "Computing", "Communication", "Communication(Not Overlapped)"}  # of what is in the part
FIRST, LAST = 2, 3


def run(*args, code=0):
    done = subprocess.run([ASCOPE, *args], capture_output=True, text=True, timeout=120,
                          env={k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")})
    if done.returncode not in (code if isinstance(code, tuple) else (code,)):
        raise AssertionError("ascope %s ended with %d:\n%s%s" % (" ".join(args), done.returncode, done.stdout, done.stderr))
    return done


class Steps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.raw = run("sim", "--framework", "pt", "--kernels", "300", "--steps", "6", "--out", cls.dir).stdout.strip()
        cls.all, cls.part = cls.analyse("all"), cls.analyse("part", "--steps", "%d-%d" % (FIRST, LAST))

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    @classmethod
    def analyse(cls, name, *options):
        out = os.path.join(cls.dir, name)
        run("analyse", cls.raw, "--export-type", "text,db", "--dialect", "current", "--out", out, *options, code=(0, 3))
        return os.path.join(out, os.path.basename(cls.raw), "ASCEND_PROFILER_OUTPUT")

    def table(self, folder, name):
        with open(os.path.join(folder, name), newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def trace(self, folder):
        with open(os.path.join(folder, "trace_view.json"), encoding="utf-8") as f:
            return json.load(f)

    def db(self, folder, name="ascend_pytorch_profiler_*.db"):
        db = sqlite3.connect("file:%s?mode=ro" % glob.glob(os.path.join(folder, name))[0], uri=True)
        self.addCleanup(db.close)
        return db

    def steps(self):
        """-> [(number, begin, end)] on the host, of all"""
        return self.db(self.all).execute("SELECT id, startNs, endNs FROM STEP_TIME ORDER BY startNs").fetchall()

    def host_range(self):
        mine = [s for s in self.steps() if FIRST <= s[0] <= LAST]
        return min(s[1] for s in mine), max(s[2] for s in mine)

    def test_rows_of_tables_are_some_of_all(self):
        for name in sorted(f for f in os.listdir(self.all) if f.endswith(".csv")):
            every, some = self.table(self.all, name), self.table(self.part, name)
            if name in UNCUT:
                self.assertEqual(every, some, name)
                continue
            self.assertLess(0, len(some), name)
            if name in WHOLE:
                continue
            self.assertLess(len(some), len(every), name)
            for r in every + some:
                r.pop("Wait Time(us)", None)  # the first row of a table waited for nothing
            left = collections.Counter(tuple(r.items()) for r in some) - collections.Counter(tuple(r.items()) for r in every)
            self.assertEqual(left, {}, name)

    def test_kernels_are_those_of_the_steps(self):
        wanted = [r["Name"] for r in self.table(self.all, "kernel_details.csv") if r["Step Id"] in ("2", "3")]
        self.assertEqual([r["Name"] for r in self.table(self.part, "kernel_details.csv")], wanted)
        self.assertEqual([r["Step"] for r in self.table(self.part, "step_trace_time.csv")], ["2", "3"])

    def test_statistics_count_what_is_there(self):
        ran = sum(int(r["Count"]) for r in self.table(self.part, "op_statistic.csv"))
        cores = {r["Core Type"] for r in self.table(self.part, "op_statistic.csv")}
        rows = [r for r in self.table(self.part, "kernel_details.csv") if r["Accelerator Core"] in cores]
        self.assertEqual(ran, len(rows))

    def test_communication_by_step(self):
        for name in "communication.json", "communication_matrix.json":
            with open(os.path.join(self.all, name)) as f, open(os.path.join(self.part, name)) as g:
                every, some = json.load(f), json.load(g)
            self.assertEqual(some, {k: v for k, v in every.items() if k in ("step2", "step3")}, name)

    def test_events_of_operators(self):
        begin, end = self.host_range()
        ns = lambda e: int(e["ts"].replace(".", ""))
        key = lambda e: json.dumps(e, sort_keys=True)
        for cat in "cpu_op", "enqueue", "python_function", "GC":
            wanted = sorted(key(e) for e in self.trace(self.all) if e.get("cat") == cat and e["ph"] == "X" and begin <= ns(e) <= end)
            self.assertEqual(sorted(key(e) for e in self.trace(self.part) if e.get("cat") == cat and e["ph"] == "X"), wanted, cat)
        ids = lambda cat: {e["args"]["correlation_id"] for e in self.trace(self.part) if e.get("cat") == cat and e["ph"] == "X"}
        self.assertEqual(ids("enqueue"), ids("dequeue"))
        self.assertGreater(len(ids("enqueue")), 10)

    def test_flow_events_have_both_ends(self):
        ends = collections.defaultdict(set)
        for e in self.trace(self.part):
            if e["ph"] in "sf":
                ends[e["cat"], e["id"]].add(e["ph"])
        self.assertGreater(len(ends), 100)
        self.assertEqual({k: v for k, v in ends.items() if len(v) < 2}, {})

    def test_events_are_some_of_all(self):
        place = lambda e: (e["ph"], e["name"], e["pid"], e["tid"], e.get("ts"), e.get("dur"))
        drawn = {place(e) for e in self.trace(self.all)}
        for e in self.trace(self.part):
            if e["ph"] == "X" and e["name"] not in OVERLAP:
                self.assertIn(place(e), drawn)

    def test_databases(self):
        for name in "ascend_pytorch_profiler_*.db", "analysis.db":
            every, some = self.db(self.all, name), self.db(self.part, name)
            self.assertEqual(some.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            tables = [t for (t,) in some.execute("SELECT name FROM sqlite_master WHERE type='table'")]
            for t in tables:
                n = [db.execute('SELECT count(*) FROM "%s"' % t).fetchone()[0] for db in (every, some)]
                self.assertLessEqual(n[1], n[0], t)
        some, (begin, end) = self.db(self.part), self.host_range()
        self.assertEqual([r for r in self.steps() if FIRST <= r[0] <= LAST],
                         some.execute("SELECT id, startNs, endNs FROM STEP_TIME ORDER BY startNs").fetchall())
        outside = some.execute("SELECT count(*) FROM PYTORCH_API WHERE type<>50002 AND (CAST(startNs AS INTEGER)<? OR "
                               "CAST(startNs AS INTEGER)>?)", (begin, end)).fetchone()
        self.assertEqual(outside, (0,))
        for table in "COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "TASK_PMU_INFO", "MEMCPY_INFO":
            self.assertEqual(some.execute("SELECT count(*) FROM %s WHERE globalTaskId NOT IN (SELECT globalTaskId FROM TASK)"
                                          % table).fetchone(), (0,), table)
        lost = some.execute("SELECT count(*) FROM CONNECTION_IDS WHERE id NOT IN (SELECT connectionId FROM PYTORCH_API WHERE "
                            "connectionId IS NOT NULL)").fetchone()
        self.assertEqual(lost, (0,))
        self.assertEqual(self.db(self.part, "analysis.db").execute("SELECT step FROM StepTraceTime").fetchall(), [("2",), ("3",)])
        self.assertEqual(self.db(self.part, "analysis.db").execute("SELECT * FROM StepTraceTime").fetchall(),
                         self.db(self.all, "analysis.db").execute("SELECT * FROM StepTraceTime WHERE step IN ('2', '3')").fetchall())

    def test_every_step_is_in_one_part(self):
        operators = []
        for step in range(6):
            folder = self.analyse("one%d" % step, "--steps", str(step))
            operators += self.table(folder, "operator_details.csv")
            self.assertEqual({r["Step Id"] for r in self.table(folder, "kernel_details.csv")}, {str(step)})
        self.assertEqual(len(operators), len(self.table(self.all, "operator_details.csv")))

    def test_without_a_device(self):
        raw = glob.glob(os.path.join(SOURCE, "tests/data/pt-a-host/raw/*_ascend_pt"))[0]
        out = os.path.join(self.dir, "host")
        run("analyse", raw, "--out", out, "--steps", "1", "--export-type", "text,db", code=(0, 3))
        folder = os.path.join(out, os.path.basename(raw), "ASCEND_PROFILER_OUTPUT")
        self.assertEqual(self.db(folder).execute("SELECT id FROM STEP_TIME").fetchall(), [(1,)])
        self.assertTrue(self.trace(folder))

    def test_what_is_not_there_is_reported(self):
        for words, code, text in [("9", 1, "has steps 0 to 5, not 9"), ("7-9", 1, "has steps 0 to 5, not 7 to 9"),
                                  ("x", 2, "--steps x"), ("4-2", 2, "--steps 4-2"), ("", 2, "--steps"), ("1-", 2, "--steps 1-"),
                                  ("99999999999999999999", 2, "--steps 9999")]:
            done = run("analyse", self.raw, "--out", os.path.join(self.dir, "none"), "--steps", words, code=code)
            self.assertIn(text, done.stderr, words)
        self.assertEqual(glob.glob(os.path.join(self.dir, "none", "*", "*")), [])
        prof = glob.glob(os.path.join(self.raw, "PROF_*"))[0]
        self.assertIn("--model-id", run("analyse", prof, "--out", self.dir, "--steps", "1", code=1).stderr)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    ASCOPE, SOURCE = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
