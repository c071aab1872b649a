#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers of ascope view, recomputed from the files: own times of operators and the time of what they launched, kernels,
ranges, devices.

usage: test_view_numbers.py ASCOPE SOURCE_ROOT [unittest options]
"""
import collections
import csv
import decimal
import glob
import json
import os
import sys
import unittest

from cli_case import SOURCE, Case
from test_view import Viewer, event

KINETO = os.path.join(SOURCE, "tests/data/kineto/real-2.11-cuda-plain.json")
NPU, = glob.glob(os.path.join(SOURCE, "tests/data/pt-a-npu/raw/*_ascend_pt"))
NPU_RESULTS = os.path.join(SOURCE, "tests/data/pt-a-npu/expected/analyse")


def self_times(slices):
    """Own times of slices (begin, end) of one track: without the part in which one that began later runs."""
    order = sorted(range(len(slices)), key=lambda i: (slices[i][0], -slices[i][1], i))
    edges = sorted({t for s in slices for t in s})
    own, open_ones, at = [0.0] * len(slices), [], 0
    for low, high in zip(edges, edges[1:]):
        while at < len(order) and slices[order[at]][0] <= low:
            open_ones.append(order[at])
            at += 1
        open_ones = [i for i in open_ones if slices[i][1] > low]
        if open_ones:
            own[open_ones[-1]] += high - low
    return own


class Numbers(Case):
    def view(self, *words):
        v = Viewer(self, *words)
        self.addCleanup(v.end_well, self)
        v.wait()
        return v

    def trace(self, events, name="trace.json"):
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as f:
            json.dump({"traceEvents": events}, f)
        return name

    def table(self, v, name, *columns):
        found = v.json("table", input=0, name=name)
        at = [[c["name"] for c in found["columns"]].index(c) for c in columns]
        return {row[0]: [row[i] for i in at] for row in found["rows"]}

    def assert_close(self, found, wanted, what):
        for a, b in zip(found, wanted):
            self.assertAlmostEqual(a, b, delta=max(0.002, abs(b) * 1e-6), msg=what)

    def test_operators_of_torch_profiler(self):
        """By the external id, which an operator and its kernels share; the viewer goes by flow events."""
        with open(KINETO, encoding="utf-8") as f:
            events = [e for e in json.load(f)["traceEvents"] if e.get("ph") == "X"]
        ops = [e for e in events if e.get("cat") == "cpu_op"]
        of, launched = collections.defaultdict(lambda: [0, 0.0, 0.0, 0.0, 0.0]), collections.Counter()
        for k in events:
            if k.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                launched[k["args"]["External id"]] += k["dur"]
        self.assertGreater(len(launched), 5)
        for tid in {op["tid"] for op in ops}:
            mine = [op for op in ops if op["tid"] == tid]
            for op, own in zip(mine, self_times([(op["ts"], op["ts"] + op["dur"]) for op in mine])):
                inside = [o for o in mine if op["ts"] <= o["ts"] and o["ts"] + o["dur"] <= op["ts"] + op["dur"]]
                row = of[op["name"]]
                for i, value in enumerate((1, own, op["dur"], launched[op["args"]["External id"]], sum(launched[o["args"]["External id"]] for o in inside))):
                    row[i] += value
        found = self.table(self.view(KINETO), "operators", "count", "self_us", "total_us", "device_self_us", "device_us", "self_percent", "device_self_percent")
        self.assertEqual(set(found), set(of))
        all_self, all_device = sum(r[1] for r in of.values()), sum(r[3] for r in of.values())
        for name, row in of.items():
            self.assert_close(found[name][:5], row, name)
            self.assertAlmostEqual(found[name][5], 100 * row[1] / all_self, delta=0.0051)
            self.assertAlmostEqual(found[name][6], 100 * row[3] / all_device, delta=0.0051)

    def test_operators_of_a_collection_are_those_of_its_results(self):
        """operator_details.csv, which takes operators that begin or end in the same ns for others' children, and of a collective counts a task only."""
        with open(os.path.join(NPU_RESULTS, "trace_view.json"), encoding="utf-8") as f:
            ops = [e for e in json.load(f) if e.get("cat") == "cpu_op"]
        ops = [(e["name"], e["tid"], decimal.Decimal(e["ts"]), decimal.Decimal(e["ts"]) + decimal.Decimal(str(e["dur"]))) for e in ops]
        begins = collections.Counter((tid, begin) for _, tid, begin, _ in ops) + collections.Counter({(tid, end) for _, tid, _, end in ops})
        shared = [edge for edge, n in begins.items() if n > 1]
        touching = {name for name, tid, begin, end in ops if any(tid == other and begin <= at <= end for other, at in shared)}
        wanted = collections.defaultdict(lambda: [0, 0.0, 0.0, 0.0, 0.0])
        with open(os.path.join(NPU_RESULTS, "operator_details.csv"), encoding="utf-8", newline="") as f:
            for line in csv.DictReader(f):
                for i, value in enumerate([1] + [float(line[side + " Duration(us)"]) for side in ("Host Self", "Host Total", "Device Self", "Device Total")]):
                    wanted[line["Name"]][i] += value
        found = self.table(self.view(NPU), "operators", "count", "self_us", "total_us", "device_self_us", "device_us")
        self.assertEqual(set(found), set(wanted))  # steps are no operators
        self.assertGreater(len(set(wanted) - touching), 40)
        self.assertTrue(any(row[3] for row in wanted.values()))
        for name in set(wanted) - touching:
            n = 3 if "allreduce" in name.lower() else 5
            self.assert_close(found[name][:n], wanted[name][:n], name)

    def test_own_times_of_overlapping_operators_and_of_steps(self):
        """Each moment belongs to the operator that began last; ranges, calls and steps take no time from operators."""
        v = self.view(self.trace([event("ProfilerStep#1", 0, 100, cat="cpu_op"), event("a", 0, 40, cat="cpu_op"), event("b", 30, 30, cat="cpu_op"),
                                  event("call", 32, 5, cat="cuda_runtime"), event("c", 35, 10, cat="cpu_op"), event("range", 36, 8, cat="user_annotation"),
                                  event("b", 60, 5, cat="cpu_op"), event("EVENT_WAIT", 0, 90, tid=2, cat="kernel"), event("gemm", 0, 30, tid=2, cat="kernel")]))
        self.assertEqual(self.table(v, "operators", "count", "self_us", "total_us", "self_percent"),
                         {"a": [1, 30, 40, 46.15], "b": [2, 25, 35, 38.46], "c": [1, 10, 10, 15.38]})
        self.assertEqual(self.table(v, "kernels", "count", "total_us", "percent"), {"gemm": [1, 30, 100]})
        rows = v.json("sql", input=0, q="SELECT name, topic, self_ns FROM slices WHERE topic <> '' GROUP BY name")["rows"]
        self.assertEqual(rows, [["ProfilerStep#1", "step", None], ["a", "operator", 30000], ["b", "operator", 30000 - 10000], ["c", "operator", 10000], ["gemm", "kernel", None]])

    def test_a_range_counts_what_lies_in_it(self):
        """Of each slice only the part inside; steps and times of a device come last, without a share."""
        with open(KINETO, encoding="utf-8") as f:
            events = [e for e in json.load(f)["traceEvents"] if e.get("ph") == "X"]
        v = self.view(KINETO)
        rows = v.json("rows", input=0)
        thread, levels = max(((t["name"], t["levels"]) for p in rows["processes"] for t in p["tracks"] if t["name"].startswith("thread ")), key=lambda t: len(t[1]))
        tid = int(thread.split()[1])
        mine = [(e["name"], *[int(decimal.Decimal(str(t)) * 1000) for t in (e["ts"], decimal.Decimal(str(e["ts"])) + decimal.Decimal(str(e["dur"])))]) for e in events if e["tid"] == tid and e["cat"] != "python_function"]
        shift = min(begin for _, begin, _ in mine)
        first = v.json("sql", input=0, q="SELECT min(begin_ns) FROM slices WHERE thread = '%s'" % thread)["rows"][0][0]
        mine = [(name, begin - shift + first, end - shift + first) for name, begin, end in mine]
        begins = sorted(begin for _, begin, _ in mine)
        low, high = begins[len(begins) // 4] + 700, begins[3 * len(begins) // 4] + 300
        wanted = collections.defaultdict(lambda: [0, 0, 0, 0])
        cut = [(name, max(begin, low), min(end, high)) for name, begin, end in mine if begin < high and end > low]
        for (name, begin, end), own in zip(cut, self_times([(b, e) for _, b, e in cut])):
            row = wanted[name]
            wanted[name] = [row[0] + 1, row[1] + own, row[2] + end - begin, max(row[3], end - begin)]
        found = v.json("area", input=0, levels=",".join(map(str, levels)), t0=low, t1=high)["rows"]
        self.assertEqual({r["name"] for r in found}, set(wanted))
        self.assertTrue(any(end > high or begin < low for _, begin, end in mine if begin < high and end > low))
        for r in found:
            self.assertEqual([r["count"], r["self"], r["sum"], r["longest"]], wanted[r["name"]], r["name"])
        self.assertAlmostEqual(sum(r["share"] for r in found), 1)
        v = self.view(self.trace([{"ph": "M", "name": "process_name", "pid": 2, "args": {"name": "Overlap Analysis"}}, event("ProfilerStep#1", 0, 100, cat="user_annotation"),
                                  event("a", 90, 8, cat="cpu_op"), {**event("Free", 0, 90), "pid": 2}]))
        tracks = [t for p in v.json("rows", input=0)["processes"] for t in p["tracks"]]

        def area(*of):
            levels = ",".join(str(level) for t in of for level in t["levels"])
            return [(r["name"], r["self"], r["share"]) for r in v.json("area", input=0, levels=levels, t0=50000, t1=100000)["rows"]]
        self.assertEqual(area(*tracks), [("a", 8000, 1), ("ProfilerStep#1", 42000, None), ("Free", 40000, None)])
        self.assertEqual(area(*[t for t in tracks if t["n"] == 1]), [("Free", 40000, 1)])

    def test_devices_are_shown_first_and_counters_last(self):
        """Streams, collectives and what a device does, then the host, then processes that have only counters; each in the order of the file."""
        names = ["AI Core Freq", "Python", "CANN", "Ascend Hardware", "HCCL", "Overlap Analysis"]
        events = [{"ph": "M", "name": "process_name", "pid": i, "args": {"name": name}} for i, name in enumerate(names)]
        events += [{"ph": "M", "name": "process_sort_index", "pid": i, "args": {"sort_index": i}} for i in range(len(names))]
        events += [{"ph": "M", "name": "thread_name", "pid": i, "tid": tid, "args": {"name": name}} for i, tid, name in ((3, 1, "Stream 1"), (3, 2, "Stream 2"), (4, 1, "Group 0"), (4, 2, "Plane 0"))]
        events += [{**event("x", 10 * i, 5), "pid": i} for i in range(1, 6)] + [{**event("EVENT_WAIT", 0, 5, tid=2), "pid": 3}, {**event("x", 0, 5, tid=2), "pid": 4}]
        events += [{"ph": "C", "name": "MHz", "pid": pid, "ts": 1, "args": {"MHz": 3}} for pid in (0, 3)]
        path = self.trace(events)
        rows = self.view(path).json("rows", input=0)["processes"]
        self.assertEqual([p["name"] for p in rows], ["Ascend Hardware", "HCCL", "Overlap Analysis", "Python", "CANN", "AI Core Freq"])
        self.assertEqual([(t["name"], t["is_device"]) for p in rows[:2] for t in p["tracks"]], [("Stream 1", True), ("Stream 2", False), ("Group 0", True), ("Plane 0", False)])
        report = self.ascope("view", path, "--export", "-", code=0).stdout
        self.assertLess(report.index(">Ascend Hardware<"), report.index(">Stream 1<"))
        self.assertLess(report.index(">Stream 2<"), report.index(">MHz<"))
        self.assertLess(report.index(">CANN<"), report.index(">AI Core Freq<"))
        gpu = [[t["is_device"] for t in p["tracks"]] for p in self.view(KINETO).json("rows", input=0)["processes"]]
        self.assertEqual((gpu[0], set(sum(gpu[1:], []))), ([True], {False}))

    def test_where_a_cause_is(self):
        """The slice of the name that is the range, else the longest that begins in it; the device tracks that work meanwhile, the busiest first."""
        kernels = [event("k%d" % tid, 100 + 10 * tid, 5 * tid, tid=tid, cat="kernel") for tid in (2, 3, 4, 5)]
        v = self.view(self.trace([event("op", 100, 50, cat="cpu_op"), event("op", 110, 20, tid=9, cat="cpu_op"), event("op", 120, 90, tid=9, cat="cpu_op"), event("k6", 500, 5, tid=6, cat="kernel"), *kernels]))
        ids = dict((tuple(r[:2]), r[2]) for r in v.json("sql", input=0, q="SELECT name, begin_ns, id FROM slices")["rows"])
        tracks = {t["name"]: t["id"] for p in v.json("rows", input=0)["processes"] for t in p["tracks"]}
        for name, t0, t1, begin in (("op", 10000, 30000, 10000), ("op", 0, 50000, 0), ("op", 5000, 40000, 20000), ("op", 30000, 40000, None), ("", 0, 50000, None)):
            self.assertEqual(v.json("place", input=0, name=name, t0=t0, t1=t1)["slice"], None if begin is None else ids[name, begin], (name, t0, t1))
        self.assertEqual(v.json("place", input=0, name="op", t0=0, t1=200000)["devices"], [tracks[t] for t in "543"])
        self.assertEqual(v.json("place", input=0, name="op", t0=0, t1=31000)["devices"], [tracks["2"], tracks["3"]])

    def test_the_map_of_all(self):
        with open(KINETO, encoding="utf-8") as f:
            events = [e for e in json.load(f)["traceEvents"] if e.get("ph") == "X"]
        v, n = self.view(KINETO), 50
        rows = v.json("rows", input=0)
        found, each = v.json("minimap", input=0, n=n), rows["end"] / n
        shown = v.json("sql", input=0, q="SELECT begin_ns, dur_ns, topic, category FROM slices")["rows"]
        self.assertEqual(sum(r[2] == "kernel" for r in shown), sum(e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset") for e in events))
        busy, begun = [0.0] * n, [0] * n
        for begin, dur, topic, category in shown:
            if topic == "kernel":
                for i in range(n):
                    busy[i] += max(0, min(begin + dur, (i + 1) * each) - max(begin, i * each))
            elif category != "gpu_user_annotation":
                begun[min(n - 1, int(begin / each))] += 1
        self.assertEqual(found["begun"], begun)
        self.assertGreater(sum(found["busy"]), 0)
        for i in range(n):
            self.assertAlmostEqual(found["busy"][i], 1000 * busy[i] / each, delta=1)
        self.assertEqual(v.raw(v.url.path + "api/minimap?input=0&n=0")[0], 400)

    def test_parts_of_collectives_are_no_kernels(self):
        """A task of an NPU that has its type as its name moves data of a collective; a copy is work."""
        tasks = (("SDMA", "SDMA"), ("AI_CORE", "AI_CORE"), ("MEMCPY_ASYNC", "MEMCPY_ASYNC"), ("RELU", "KERNEL_AIVEC"), ("MatMulV2", "KERNEL_AICORE"))
        events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "Ascend Hardware"}},
                  {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "Stream 2"}}]
        events += [event(name, 100 * i, 50, tid=2, args={"Task Type": of}) for i, (name, of) in enumerate(tasks)]
        for e in events:
            e["pid"] = 1
            e.pop("cat", None)
        self.assertEqual(set(self.table(self.view(self.trace(events)), "kernels", "count")), {"MEMCPY_ASYNC", "RELU", "MatMulV2"})

    def test_the_card_of_a_device(self):
        """Its name, the duration of the recording, how its time was spent in the steps; without steps, how busy it was."""
        with open(KINETO, encoding="utf-8") as f:
            trace = json.load(f)
        work = [e for e in trace["traceEvents"] if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
        v = self.view(KINETO)
        o = v.json("overview", input=0)
        self.assertEqual((o["device"], o["has_device"], o["duration"]), (trace["deviceProperties"][0]["name"], True, v.json("rows", input=0)["end"]))
        self.assertEqual({e["tid"] for e in work}, {work[0]["tid"]})  # one stream
        self.assertAlmostEqual(o["busiest"], 1000 * sum(e["dur"] for e in work), delta=1)
        with open(os.path.join(NPU_RESULTS, "step_trace_time.csv"), encoding="utf-8", newline="") as f:
            steps = [{k: float(x) for k, x in line.items() if k in ("Computing", "Communication(Not Overlapped)", "Overlapped")} for line in csv.DictReader(f)]
        o = self.view(NPU).json("overview", input=0)
        series, = o["series"]
        self.assertIn(", " + o["device"] + ", process", self.ascope("info", NPU, code=0).stdout)
        total = {k: 1000 * sum(s[k] for s in steps) for k in steps[0]}
        wanted = [total["Computing"] - total["Overlapped"], total["Overlapped"], total["Communication(Not Overlapped)"]]
        self.assert_close(series["whole_parts"][:3], wanted, "parts")  # free is the rest of a step
        self.assertEqual(sum(series["whole_parts"]), series["whole"])
        self.assertEqual(series["whole_parts"], [sum(s["parts"][i] for s in series["steps"]) for i in range(4)])
        self.assertEqual(series["whole"], sum(s["time"] for s in series["steps"]))
        o = self.view(self.trace([event("op", 0, 5, cat="cpu_op")])).json("overview", input=0)
        self.assertEqual((o["device"], o["has_device"], o["busiest"]), ("", False, 0))

    def test_flame_graph_of_the_main_thread_over_all_steps(self):
        """The thread that has steps, else the one whose operators take longest; what has the same path in different steps is one node."""
        steps = [event("ProfilerStep#%d" % i, 100 * i, 90, cat="user_annotation") for i in (9, 10, 11)]
        ops = [event(name, 100 * i + at, dur, cat="cpu_op") for i in (9, 10, 11) for name, at, dur in (("a", 1, 40 + i), ("b", 2, 10), ("a", 70, 5))]
        more = [event("long", 900, 400, tid=3), event("kernel", 900, 350, tid=2, cat="kernel"), event("backward", 900, 500, tid=4, cat="cpu_op")]
        more += [event("ProfilerStep#12", 1500, 90, tid=5, cat="user_annotation"), event("loader", 1500, 300, tid=5, cat="cpu_op")]  # of a thread: what overlaps
        v = self.view(self.trace(steps + ops + more))
        found = v.json("flame", input=0, t0=0, t1=10 ** 9, main=1)
        paths, nodes = [], {}
        for node in found["nodes"]:
            paths.append((*(paths[node["parent"]] if node["parent"] is not None else ()), node["name"]))
            nodes[paths[-1]] = (node["count"], node["total"], node["self"])
        a = sum(40 + i + 5 for i in (9, 10, 11))
        self.assertEqual({path: tuple(ns if i == 0 else ns // 1000 for i, ns in enumerate(row)) for path, row in nodes.items()},
                         {("ProfilerStep",): (3, 270, 270 - a), ("ProfilerStep", "a"): (6, a, a - 30), ("ProfilerStep", "a", "b"): (3, 30, 30)})
        tracks = {t["name"]: t["levels"] for p in v.json("rows", input=0)["processes"] for t in p["tracks"]}
        self.assertEqual(found["levels"], tracks["1"])
        loss = self.view(self.trace([e for e in steps + ops + more if "Step" not in e["name"]], "loss.json"))
        self.assertEqual([n["name"] for n in loss.json("flame", input=0, t0=0, t1=10 ** 9, main=1)["nodes"]], ["backward"])
        plain = self.view(self.trace(more[:2], "plain.json"))  # no operators: of the host
        self.assertEqual([n["name"] for n in plain.json("flame", input=0, t0=0, t1=10 ** 9, main=1)["nodes"]], ["long"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
