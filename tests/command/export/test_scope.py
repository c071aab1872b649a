#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports of a part of a collection, by step and by graph: each device has a window of its own.

usage: test_scope.py ASCOPE [unittest options]
"""
import collections
import csv
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE = None
STEPS = "4294967295"


def run(*args):
    done = subprocess.run([ASCOPE, *args], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError("ascope %s ended with %d:\n%s%s" % (" ".join(args), done.returncode, done.stdout, done.stderr))


def ns(us):
    """Microseconds with three decimals, as text -> nanoseconds."""
    whole, _, fraction = str(us).strip().partition(".")
    return int(whole) * 1000 + int(fraction.ljust(3, "0")[:3] or 0)


class Export:
    def __init__(self, prof, out, *args):
        run("export", "all", "-dir", prof, "--out", out, "--dialect", "current", *args)
        self.dir = glob.glob(os.path.join(glob.escape(out), "PROF_*", "mindstudio_profiler_output"))[0]
        with open(self.path("msprof_2*.json")) as f:
            self.events = json.load(f)
        reported = {(e["name"], e["pid"]): e["args"] for e in self.events if e["ph"] == "M" and e["name"].startswith("process_")}
        self.process = {pid: (args["name"], reported["process_labels", pid]["labels"])
                        for (name, pid), args in reported.items() if name == "process_name"}

    def path(self, name):
        return glob.glob(os.path.join(glob.escape(self.dir), name))[0]

    def rows(self, name):
        with open(self.path(name + "_2*.csv"), newline="") as f:
            return list(csv.DictReader(f))

    def of(self, process, label, ph):
        return [e for e in self.events if e["ph"] == ph and self.process.get(e["pid"]) == (process, label)]

    def times(self, process, label, ph="C"):
        return {ns(e["ts"]) for e in self.of(process, label, ph)}

    def calls(self):
        """-> {connection: (begin, end)}"""
        return {e["args"]["connection_id"]: (ns(e["ts"]), ns(e["ts"]) + round(e["dur"] * 1000))
                for e in self.of("CANN", "CPU", "X")}

    def iterations(self, device, model):
        """-> [(begin, end)] of a device, by number from 1 on"""
        rows = [r for r in self.rows("step_trace") if (r["Device_id"], r["Model ID"]) == (device, model)]
        return [(ns(r["Iteration End(us)"]) - ns(r["Iteration Time(us)"]), ns(r["Iteration End(us)"])) for r in rows]


class Devices(unittest.TestCase):
    """Two devices whose steps lie hundreds of microseconds apart."""

    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="ascope-scope-")
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        run("sim", "--out", cls.dir, "--devices", "2", "--steps", "4", "--kernels", "400")
        cls.prof = glob.glob(os.path.join(cls.dir, "PROF_*"))[0]
        cls.all = Export(cls.prof, os.path.join(cls.dir, "all"))
        cls.step = Export(cls.prof, os.path.join(cls.dir, "step"), "--model-id", STEPS, "--iteration-id", "3")
        cls.window = {d: cls.all.iterations(d, STEPS)[2] for d in "01"}
        cls.lead = {d: cls.all.iterations(d, STEPS)[1][1] for d in "01"}

    def touches(self, device, call):
        return call[0] <= self.window[device][1] and call[1] >= self.lead[device]

    def test_the_windows_differ(self):
        self.assertGreater(abs(self.window["0"][1] - self.window["1"][1]), 100_000)

    def test_counters_of_each_device_lie_in_its_own_window(self):
        counted = 0
        for process, label in self.step.process.values():
            if not label.startswith("NPU"):
                continue
            begin, end = self.window[label[-1]]
            shown = self.step.times(process, label)
            self.assertTrue(all(begin <= t < end for t in shown), (process, label))
            if process not in ("AI Core Freq", "Voltage Info"):  # which the two presentations draw differently
                self.assertEqual(shown, {t for t in self.all.times(process, label) if begin <= t < end}, (process, label))
            counted += len(shown)
        self.assertGreater(counted, 20)

    def test_tasks_of_each_device_begin_in_its_own_window(self):
        for d in "01":
            begin, end = self.window[d]
            tasks = [ns(e["ts"]) for e in self.step.of("Ascend Hardware", "NPU " + d, "X") if "Task Id" in e["args"]]
            self.assertGreater(len(tasks), 50)
            self.assertTrue(all(begin <= t <= end for t in tasks))

    def test_tasks_that_end_after_the_step_are_there_with_their_whole_time(self):
        def tasks(export, device):
            return {(ns(r["task_start(us)"]), r["stream_id"], r["task_id"], ns(r["task_stop(us)"]))
                    for r in export.rows("task_time") if r["Device_id"] == device}
        late = 0
        for d in "01":
            begin, end = self.window[d]
            shown = tasks(self.step, d)
            self.assertEqual(shown, {t for t in tasks(self.all, d) if begin <= t[0] <= end})
            late += sum(t[3] > end for t in shown)
        self.assertGreater(late, 0)

    def test_calls_are_those_that_serve_a_step_of_any_device(self):
        every = self.all.calls()
        expected = {c for c, t in every.items() if self.touches("0", t) or self.touches("1", t)}
        first = {c for c, t in every.items() if self.touches("0", t)}
        self.assertEqual(set(self.step.calls()), expected)
        self.assertLess(len(first), len(expected))
        self.assertLess(len(expected), len(every))

    def test_api_statistic_counts_for_each_device_the_calls_of_its_step(self):
        counted = collections.Counter()
        for r in self.step.rows("api_statistic"):
            counted[r["Device_id"]] += int(r["Count"])
        calls = self.all.calls().values()
        self.assertEqual(counted, {d: sum(self.touches(d, c) for c in calls) for d in "01"})
        self.assertNotEqual(counted["0"], counted["1"])

    def test_what_the_host_samples_lies_in_the_window_of_any_device(self):
        shown = self.step.times("CPU Usage", "CPU")
        every = self.all.times("CPU Usage", "CPU")
        self.assertEqual(shown, {t for t in every if any(b <= t < e for b, e in self.window.values())})
        self.assertLess(len(shown), len(every))

    def test_a_graph_belongs_to_the_device_that_ran_it(self):
        graph = Export(self.prof, os.path.join(self.dir, "graph"), "--model-id", "2", "--iteration-id", "2")
        begin, end = self.all.iterations("1", "2")[1]
        for name in ("api_statistic", "fusion_op", "task_time", "op_summary"):
            self.assertEqual({r["Device_id"] for r in graph.rows(name)}, {"1"}, name)
        for process, label in graph.process.values():
            times = graph.times(process, label)
            if label == "NPU 0":
                self.assertEqual(times, set(), process)
            elif label == "NPU 1":
                self.assertTrue(all(begin <= t < end for t in times), process)


class Flows(unittest.TestCase):
    def test_operators_beside_a_graph_keep_their_flow_events(self):
        with tempfile.TemporaryDirectory(prefix="ascope-scope-") as folder:
            run("sim", "--out", folder, "--steps", "4", "--kernels", "200")
            prof = glob.glob(os.path.join(folder, "PROF_*"))[0]
            every = Export(prof, os.path.join(folder, "all"))
            part = Export(prof, os.path.join(folder, "part"), "--model-id", "1", "--iteration-id", "2",
                          "--iteration-count", "2")
            begin, end = every.iterations("0", "1")[1][0], every.iterations("0", "1")[2][1]
            called = part.calls()
            owner = {}
            for e in every.of("Ascend Hardware", "NPU 0", "X"):
                owner[ns(e["ts"])] = e["args"].get("connection_id")
            ends = {ns(e["ts"]) for e in every.of("Ascend Hardware", "NPU 0", "f")}
            copies = {ns(e["ts"]) for e in every.of("Ascend Hardware", "NPU 0", "X") if e["name"] == "MEMCPY_ASYNC"}
            events = {ns(e["ts"]) for e in every.of("Ascend Hardware", "NPU 0", "X") if e["name"].startswith("EVENT")}
            expected = {t for t in ends - copies - events if begin <= t <= end and owner[t] in called}
            found = [e for e in part.events if e.get("cat") == "HostToDevice"]
            self.assertEqual({ns(e["ts"]) for e in found if e["ph"] == "f"} & ends, expected)
            self.assertGreater(len(expected), 20)
            starts = {e["id"] for e in found if e["ph"] == "s"}
            self.assertEqual(starts, {e["id"] for e in found if e["ph"] == "f"})


if __name__ == "__main__":
    ASCOPE = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
