#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The work of kernels in ascope view, recomputed from the tables that other commands write.

usage: test_view_roofline.py ASCOPE SOURCE_ROOT [unittest options]
"""
import csv
import glob
import gzip
import json
import math
import os
import re
import signal
import sys
import time
import unittest

from cli_case import Case
from test_view import Viewer


class Roofline(Case):
    def view(self, *words):
        v = Viewer(self, *words)
        self.addCleanup(v.end_well, self)
        return v

    def work_of(self, path):
        """{(type, shapes, types, formats): [count, time, operations, bytes]} of the products of a kernel_details, by their three dimensions."""
        found = {}
        with open(path, newline="", encoding="utf-8") as f:
            for k in csv.DictReader(f):
                if re.fullmatch("(Batch)?MatMulV[23]", k["Type"]):
                    shapes = k["Input Shapes"].strip('"')
                    (*batch, m, inner), (*_, n) = ([int(d) for d in shape.split(",")] for shape in shapes.split(";"))
                    b = math.prod(batch)
                    row = found.setdefault((k["Type"], shapes, k["Input Data Types"], k["Input Formats"]), [0, 0, 0, 0])
                    for i, more in enumerate((1, float(k["Duration(us)"]), 2 * b * m * inner * n, 2 * b * (m * inner + inner * n + m * n))):
                        row[i] += more
        self.assertGreater(len(found), 20)
        return found

    def assert_work(self, v, run, wanted):
        rows = v.json("sql", input=0, q="SELECT name, input_shapes, input_types, input_formats, count, total_us, operations, bytes, intensity, operations_per_s, "
                      "bytes_per_s, roof_share FROM kernel_work WHERE run = '%s' AND name LIKE '%%MatMul%%'" % run)["rows"]
        self.assertEqual(sorted(tuple(r[:4]) for r in rows), sorted(wanted))
        for *key, count, us, operations, size, intensity, operations_s, bytes_s, share in rows:
            is_count, is_us, is_operations, is_size = wanted[tuple(key)]
            self.assertEqual((count, operations, size), (is_count, is_operations, is_size), key)
            seconds = is_us / 1e6
            least = max(is_operations / (24 * 1.8e9 * 8192), is_size / 1.6e12)
            for found, expected in ((us, is_us), (intensity, is_operations / is_size), (operations_s, is_operations / seconds),
                                    (bytes_s, is_size / seconds), (share, least / seconds)):
                self.assertLessEqual(abs(found - expected), 1e-9 * expected, (key, found, expected))

    def assert_places(self, v, rows):
        """The longest runs are in the timeline, where the page goes to."""
        for row in rows[:20]:
            found = v.json("sql", input=0, q="SELECT count(*) FROM slices WHERE begin_ns = %d AND dur_ns = %d AND run = '%s'" % (
                row["begin"], row["end"] - row["begin"], row["run"]))["rows"]
            self.assertGreaterEqual(found[0][0], 1, row)

    def test_work_of_kernels(self):
        """By their shapes: each product as its dimensions say, of each rank, and below the roofs of its device."""
        self.ascope("sim", "--framework", "pt", "--dp", "2", "--kernels", "400", "--steps", "2", "--slow-rank", "1:1.5", "--out", "job", code=0)
        v = self.view("job")
        v.wait(3)
        self.ascope("analyse", "job", code=0)
        for rank, path in enumerate(sorted(glob.glob(os.path.join(glob.escape(self.dir), "job/*_ascend_pt")))):
            self.assert_work(v, "Rank %d" % rank, self.work_of(os.path.join(path, "ASCEND_PROFILER_OUTPUT/kernel_details.csv")))
        reply = v.json("roofline", input=0)
        self.assertEqual([(r["run"], r["what"], r["source"], r["per_s"]) for r in reply["roofs"]],
                         [(run, *roof) for run in ("Rank 0", "Rank 1") for roof in (("FP16, BF16", "device", 24 * 1.8e9 * 8192), ("memory", "published", 1.6e12))])
        self.assertEqual(reply["rows"], sorted(reply["rows"], key=lambda r: -r["ns"]))
        self.assertLess(reply["worked_ns"], reply["kernels_ns"])
        self.assertAlmostEqual(reply["worked_ns"], sum(r["ns"] for r in reply["rows"]), delta=1)
        shown = v.json("table", input=0, name="kernel work", filter="matmul")
        self.assertEqual(shown["n"], sum("matmul" in r["name"].lower() for r in reply["rows"]))
        self.assert_places(v, reply["rows"])

    def test_work_of_two_runs_is_where_their_timelines_are(self):
        for run, seed in ("a", "1"), ("b", "2"):
            self.ascope("sim", "--framework", "pt", "--kernels", "200", "--steps", "2", "--noise-seed", seed, "--out", run, code=0)
        v = self.view("a", "b")
        v.wait(3)
        rows = v.json("roofline", input=0)["rows"]
        self.assertEqual(sorted({r["run"][0] for r in rows}), ["A", "B"])
        self.assert_places(v, rows)

    def test_work_in_a_database(self):
        """That of the collection; only what the device can do is not in it."""
        self.ascope("sim", "--framework", "pt", "--kernels", "300", "--steps", "2", "--out", "sim", code=0)
        self.ascope("analyse", "sim", "--export-type", "db", "-q", code=0)
        path, = glob.glob(os.path.join(glob.escape(self.dir), "sim/*_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db"))
        question = "SELECT name, input_shapes, input_types, input_formats, count, round(total_us, 3), operations, bytes FROM kernel_work ORDER BY 1, 2, 3, 4, 6"
        rows = []
        for words in "sim", path:
            v = self.view(words)
            self.assertEqual([i["has_roofline"] for i in v.wait()], [True])
            rows.append(v.json("sql", input=0, q=question)["rows"])
            roofs = v.json("roofline", input=0)["roofs"]
            v.end()
        self.assertGreater(len(rows[0]), 50)
        self.assertEqual(*rows)
        self.assertEqual([(roof["what"], roof["source"]) for roof in roofs], [("memory", "observed")])

    def test_work_in_a_trace_of_pytorch(self):
        """Kernels have the work of the operator that launched them; what has no shapes, or a list of tensors, has none."""
        def event(category, name, begin, dur, **args):
            return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": category, "ts": begin, "dur": dur, "args": args}

        def operator(number, name, dims, types):
            return event("cpu_op", name, number, 1, **{"External id": number, "Input Dims": dims, "Input type": types})

        def kernel(number, begin, dur, name="gemm"):
            return event("kernel", name, begin, dur, **{"External id": number})

        half = ["c10::Half", "c10::Half"]
        events = [
            operator(1, "aten::linear", [[3, 5], [7, 5], []], half + ["Scalar"]),  # its kernels are those of the following
            operator(2, "aten::mm", [[3, 5], [5, 7]], half), kernel(2, 100, 4), kernel(2, 110, 2, "sum of parts"),
            operator(3, "aten::mm", [[3, 5], [5, 7]], half), kernel(3, 120, 1),
            operator(4, "aten::addmm", [[7], [3, 5], [5, 7], [], []], ["float"] * 3 + ["Scalar"] * 2), kernel(4, 130, 10),
            operator(5, "aten::mm", [[3, 5], [[5, 7], [5, 7]]], half), kernel(5, 150, 10),
            operator(6, "aten::mm", [[3, 5], [5, 8]], ["c10::\\Half"] * 2), kernel(6, 170, 10),
            operator(7, "aten::cat", [[3, 5]], half), kernel(7, 190, 10),
            event("cpu_op", "aten::mm", 8, 1, **{"External id": 8}), kernel(8, 210, 10),
            kernel(2, 230, 100, "ncclDevKernel_AllReduce"), event("kernel", "alone", 240, 13)]
        for name, of in ("shapes.json", events), ("none.json", events[-2:]):
            with open(os.path.join(self.dir, name), "w", encoding="utf-8") as f:
                json.dump({"traceEvents": of}, f)
        self.assertEqual([i["has_roofline"] for i in self.view("none.json").wait()], [False])
        v = self.view("shapes.json")
        self.assertEqual([i["has_roofline"] for i in v.wait()], [True])
        reply = v.json("roofline", input=0)
        rows = [(r["name"], r["shapes"], r["numbers"], r["count"], r["ns"], r["operations"], r["bytes"], r["begin"], r["end"]) for r in reply["rows"]]
        begin = min(e["ts"] for e in events)
        self.assertEqual(rows, [
            ("aten::addmm", "7;3,5;5,7;;", "FP32", 1, 10000, 210, 4 * 78, 1000 * (130 - begin), 1000 * (140 - begin)),
            ("aten::mm", "3,5;5,7", "FP16, BF16", 2, 7000, 420, 4 * 71, 1000 * (100 - begin), 1000 * (112 - begin))])
        self.assertEqual((reply["kernels_ns"], reply["worked_ns"]), (70000, 17000))
        self.assertEqual([(r["what"], r["source"]) for r in reply["roofs"]], [("memory", "observed")])
        v.end()
        self.assertEqual(self.work_of_a_large_trace(events), reply)
        two = self.view("none.json", "shapes.json")
        two.wait(3)
        self.assertEqual([(r["run"], r["name"], r["count"]) for r in two.json("roofline", input=0)["rows"]], [("B", "aten::addmm", 1), ("B", "aten::mm", 2)])

    def work_of_a_large_trace(self, events):
        """It is added when the timeline is already there."""
        with gzip.open(os.path.join(self.dir, "large.json.gz"), "wb", compresslevel=1) as f:
            f.write(b'{"traceEvents": ' + json.dumps(events).encode())
            for _ in range(257):
                f.write(b" " * (1 << 20))
            f.write(b"}")
        v = self.view("large.json.gz")
        v.wait()
        while not v.json("about")["inputs"][0]["has_roofline"]:
            time.sleep(0.02)
        reply = v.json("roofline", input=0)
        v.end()
        return reply

    def test_work_that_only_counters_know(self):
        self.ascope("sim", "--kernels", "300", "--steps", "2", "--metrics", "ArithmeticUtilization", "--out", "sim", code=0)
        self.ascope("sim", "--kernels", "50", "--level0", "--out", "without", code=0)
        v = self.view("sim")
        v.wait()
        path, = glob.glob(os.path.join(glob.escape(self.dir), "sim/PROF_*"))
        self.ascope("export", "summary", "-dir", path, code=0)
        file, = glob.glob(os.path.join(glob.escape(path), "mindstudio_profiler_output/op_summary_*.csv"))
        wanted = {}
        with open(file, newline="", encoding="utf-8") as f:
            for k in csv.DictReader(f):
                if k["aic_cube_fops"] != "N/A":
                    wanted[k["OP Type"]] = wanted.get(k["OP Type"], 0) + float(k["aic_cube_fops"]) + float(k["aiv_vector_fops"])
        rows = v.json("sql", input=0, q="SELECT name, sum(counted_operations), min(operations_by), max(operations_by) FROM kernel_work GROUP BY name")["rows"]
        found = {r[0]: r[1:] for r in rows}
        self.assertEqual(found["Transpose"][1:], ["counters", "counters"])
        self.assertEqual(found["MatMulV3"][1:], ["shapes", "shapes"])
        for name, total in wanted.items():
            if total > 0:
                self.assertLessEqual(abs(found[name][0] - total), 1e-9 * total, (name, found[name], total))
        other = self.view("without")
        self.assertEqual([i["has_roofline"] for i in other.wait()], [False])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
