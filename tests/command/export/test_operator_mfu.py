#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope cluster -m operator_mfu, recomputed from the databases of the ranks.

usage: test_operator_mfu.py ASCOPE SOURCE_ROOT [unittest options]
"""
import contextlib
import csv
import glob
import os
import sqlite3
import sys
import unittest

from cli_case import Case

PEAK = 24 * 1.8e9 * 8192
NO_CONNECTION = 2**32 - 1
PRODUCTS = """SELECT CAST(o.startNs AS INTEGER), CAST(o.endNs AS INTEGER), o.globalTid, n.value, s.value, k.startNs, k.endNs, r.value
    FROM COMPUTE_TASK_INFO i JOIN TASK k USING (globalTaskId) JOIN CONNECTION_IDS c ON c.connectionId = k.connectionId
    JOIN PYTORCH_API o ON o.connectionId = c.id JOIN STRING_IDS n ON n.id = i.name JOIN STRING_IDS s ON s.id = i.inputShapes
    JOIN STRING_IDS t ON t.id = i.opType JOIN STRING_IDS r ON r.id = o.name WHERE t.value LIKE '%MatMul%' ORDER BY k.startNs"""


def operations_of(shapes):
    first, second = ([int(d) for d in shape.split(",")] for shape in shapes.strip('"').split(";")[:2])
    n = 2 * second[-1]
    for d in first:
        n *= d
    return n


class Mfu(Case):
    def job(self, *more):
        self.ascope("sim", "--framework", "pt", "--dp", "2", "--kernels", "200", "--steps", "2", "--out", "job", *more, code=0)
        self.ascope("analyse", "job", "--export-type", "db", "-q", code=0)
        return sorted(glob.glob(os.path.join(glob.escape(self.dir), "job/*/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_*.db")))

    def found(self, out, table):
        with contextlib.closing(sqlite3.connect(os.path.join(self.dir, out, "cluster_analysis_output/cluster_analysis.db"))) as db:
            db.row_factory = sqlite3.Row
            return [dict(row) for row in db.execute("SELECT * FROM " + table)]

    def add_ranges(self, db, ranges):
        """(begin, end, message, domain) become ranges of the program."""
        last = db.execute("SELECT max(id) FROM STRING_IDS").fetchone()[0]
        for begin, end, message, domain in ranges:
            for text in message, domain:
                last += 1
                db.execute("INSERT INTO STRING_IDS (id, value) VALUES (?, ?)", (last, text))
            db.execute("INSERT INTO MSTX_EVENTS (startNs, endNs, eventType, message, domainId, globalTid, connectionId) VALUES (?, ?, 2, ?, ?, 0, ?)",
                       (begin, end, last - 1, last, NO_CONNECTION))

    def test_share_of_the_peak_by_shapes(self):
        ranks = self.job()
        self.ascope("cluster", "job", "-m", "operator_mfu", "-o", "out", "--export-type", "text,db", code=0)
        found = self.found("out", "OperatorMFU")
        for rank, path in enumerate(ranks):
            with contextlib.closing(sqlite3.connect(path)) as db:
                wanted = db.execute(PRODUCTS).fetchall()
            self.assertGreater(len(wanted), 20)
            rows = [row for row in found if row["rank_id"] == rank and "MatMul" in row["kernel_name"]]
            self.assertEqual([(row["kernel_name"], row["kernel_start(ns)"], row["kernel_end(ns)"], row["op_name"]) for row in rows],
                             [(name, begin, end, op) for _, _, _, name, _, begin, end, op in wanted])
            for row, (_, _, _, _, shapes, begin, end, _) in zip(rows, wanted):
                per_s = operations_of(shapes) / ((end - begin) * 1e-9)
                self.assertEqual((row["flops"], row["input_shapes"], row["kernel_duration(ns)"]), (operations_of(shapes), shapes.strip('"'), end - begin))
                self.assertEqual((row["mfu"], row["actual_tflops"], row["chip_peak_tflops"]), (round(per_s / PEAK, 4), round(per_s / 1e12, 2), round(PEAK / 1e12, 2)))
        with open(os.path.join(self.dir, "out/cluster_analysis_output/OperatorMfu/operator_mfu_kernel.csv"), newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual([(row["Kernel Start(ns)"], row["MFU"]) for row in rows], [(str(row["kernel_start(ns)"]), repr(row["mfu"])) for row in found])

    def test_recorded_operations_and_modules(self):
        """What the program recorded counts more than shapes, and modules have the means of their kernels."""
        ranks = self.job()
        for path in ranks:
            with contextlib.closing(sqlite3.connect(path)) as db:
                rows = db.execute(PRODUCTS).fetchall()
                first, last = min(row[0] for row in rows), max(row[1] for row in rows)
                self.add_ranges(db, [(rows[0][0] - 1, rows[0][0] + 1, "123456789-mm", "mfu_flops"), (first - 1000, last + 1000, "Net", "Module")])
                db.commit()
        self.ascope("cluster", "job", "-m", "operator_mfu", "-o", "out", code=0)
        found = self.found("out", "OperatorMFU")
        recorded = [row for row in found if row["flops_op_name"] == "mm"]
        self.assertEqual([(row["rank_id"], row["flops"]) for row in recorded], [(0, 123456789), (1, 123456789)])
        for row in recorded:
            self.assertEqual(row["mfu"], round(123456789 / (row["kernel_duration(ns)"] * 1e-9) / PEAK, 4))
        modules = self.found("out", "ModuleMFU")
        self.assertEqual({row["rank_id"] for row in modules}, {0, 1})
        shown = [row for row in modules if row["avg_mfu"]]
        self.assertGreater(len(shown), 20)
        for row in shown:
            self.assertRegex(row["kernel_list"], "MatMul|Attention")
        single = {}
        for row in found:
            share = row["flops"] / (row["kernel_duration(ns)"] * 1e-9) / PEAK
            single.setdefault((row["rank_id"], row["kernel_name"], row["kernel_duration(ns)"]), set()).add("%r%%" % round(share * 100, 2))
        once = [row for row in shown if row["op_count"] == 1]
        self.assertGreater(len(once), 10)
        for row in once:
            self.assertIn(row["avg_mfu"], single[(row["rank_id"], row["kernel_list"], row["total_kernel_duration(ns)"])])

    def test_without_the_cores_there_is_no_share(self):
        self.job()
        for file in glob.glob(os.path.join(glob.escape(self.dir), "job/*/PROF_*/device_*/info.json*")):
            os.remove(file)
        done = self.ascope("cluster", "job", "-m", "operator_mfu", "-o", "out", code=0)
        self.assertIn("operator_mfu: cores and clock of 2 ranks are not known", done.stdout + done.stderr)
        for row in self.found("out", "OperatorMFU"):
            self.assertIsNone(row["mfu"])
            self.assertIsNone(row["chip_peak_tflops"])
            self.assertGreater(row["actual_tflops"], 0)

    def test_one_step(self):
        ranks = self.job()
        with contextlib.closing(sqlite3.connect(ranks[0])) as db:
            step, begin, end = db.execute("SELECT id, startNs, endNs FROM STEP_TIME ORDER BY startNs LIMIT 1").fetchone()
        self.ascope("cluster", "job", "-m", "operator_mfu", "--step", str(step), "-o", "out", code=0)
        rows = [row for row in self.found("out", "OperatorMFU") if row["rank_id"] == 0]
        self.assertGreater(len(rows), 5)
        for row in rows:
            self.assertTrue(int(begin) <= row["kernel_start(ns)"] <= int(end), row)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
