#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results of the real tool on real NPUs, recomputed by our analysis from each other.

usage: test_real_operators.py FEED_SESSION [unittest options]

ASCOPE_REAL names a directory that holds *_ascend_pt directories with ASCEND_PROFILER_OUTPUT (of export type text). They
are not part of the project; without the variable nothing is tested, which is said. Operators, the queue, what ran on the
device and how it overlapped are read from trace_view.json and handed to the analysis (feed_session.c): what comes out of
it must be what the other files say.
"""
import csv
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

FEED = None
REAL = os.environ.get("ASCOPE_REAL")
WHY = "ASCOPE_REAL is not set: results of the real tool were not recomputed"
SKIPPED = 77
KINDS = {"Computing": "computing", "Communication": "communication", "Communication(Not Overlapped)": "exposed",
         "Free": "free"}


def ns(us):
    """Of "1736408883688177.930", which no double holds, or of 145.57."""
    whole, _, part = (us if isinstance(us, str) else "%.3f" % us).strip().partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def escaped(text):
    for c, word in ("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"):
        text = text.replace(c, word)
    return text


def host_lines(events):
    """Operators and the queue."""
    for e in events:
        if e.get("ph") != "X" or e.get("cat") not in ("cpu_op", "enqueue", "dequeue"):
            continue
        begin, args = ns(e["ts"]), e["args"]
        end = begin + ns(e["dur"])
        if e["cat"] == "cpu_op":
            texts = e["name"], args.get("Input Dims", ""), args.get("Call stack", "")
            yield ["op", begin, end, e["tid"], *map(escaped, texts)]
        else:
            yield ["in" if e["cat"] == "enqueue" else "out", begin, end, args["correlation_id"], e["tid"]]


def kernel_lines(events):
    """What flow events from the host end at: where several do, the collective or else the earliest."""
    slices = {(e["pid"], e["tid"], e["ts"]): e for e in events if e.get("ph") == "X" and "cat" not in e}
    calls = {}  # of those that begin together the longest: the call of CANN, not that of the runtime inside of it
    for e in slices.values():
        calls[e["tid"], e["ts"]] = max(calls.get((e["tid"], e["ts"]), 0), ns(e["dur"]))
    starts, ends = {}, {}
    for e in events:
        if e.get("cat") == "HostToDevice":
            if e["ph"] == "s":
                starts.setdefault(e["id"], e)
            else:
                ends.setdefault(e["id"], []).append(slices[e["pid"], e["tid"], e["ts"]])
    for flow, start in starts.items():
        k = min(ends.get(flow, []), key=lambda e: (not e["name"].startswith("hcom_"), ns(e["ts"])), default=None)
        if k:
            launch = ns(start["ts"])
            yield ["kernel", launch, launch + calls.get((start["tid"], start["ts"]), 0), start["tid"], ns(k["ts"]),
                   repr(k["dur"]), int(k["args"].get("Task Type") == "AI_CORE")]


def overlap_lines(events):
    for e in events:
        kind = KINDS.get(e["name"], "receive" if e["name"].startswith("hcom_receive") else None)
        if kind and e.get("ph") == "X" and "cat" not in e:
            yield [kind, ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])]


def sessions():
    return sorted(glob.glob(os.path.join(REAL or "", "**/ASCEND_PROFILER_OUTPUT/trace_view.json"), recursive=True))


class Real(unittest.TestCase):
    def table(self, name, lines):
        with tempfile.TemporaryDirectory() as out:
            path = os.path.join(out, "table.csv")
            text = "".join("\t".join(map(str, line)) + "\n" for line in lines)
            done = subprocess.run([FEED, name, path], input=text.encode(), capture_output=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(path, newline="", encoding="utf-8") as f:
                return list(csv.DictReader(f))

    def expected(self, trace, name):
        with open(os.path.join(os.path.dirname(trace), name), newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def each(self):
        found = sessions()
        self.assertTrue(found, f"{REAL} holds no ASCEND_PROFILER_OUTPUT with a trace_view.json")
        for trace in found:
            with open(trace, encoding="utf-8") as f:
                yield trace, json.load(f)

    def test_operator_details(self):
        for trace, events in self.each():
            ours = self.table("operator_details", [*host_lines(events), *kernel_lines(events)])
            theirs = self.expected(trace, "operator_details.csv")
            self.assertEqual(list(ours[0]), list(theirs[0]))
            self.assertEqual(*([{k: v.replace("\r\n", "\n") for k, v in row.items()} for row in rows]  # some lost their \r
                               for rows in (ours, theirs)))
            print(f"operator_details: {len(ours)} rows, {len(ours) * len(ours[0])} cells the same")

    def test_flow_events_from_operators_to_kernels(self):
        for trace, events in self.each():
            ours = {(int(r["operator"]), int(r["kernel"]))
                    for r in self.table("flows", [*host_lines(events), *kernel_lines(events)])}
            ends = {(e["ph"], e["id"]): ns(e["ts"]) for e in events if e.get("cat") == "async_npu"}
            theirs = {(ends["s", k], ends["f", k]) for p, k in ends if p == "s"}
            self.assertEqual(ours, theirs)
            print(f"torch_to_npu: {len(ours)} flow events the same")

    def test_step_trace_time(self):
        for trace, events in self.each():
            ours = self.table("step_trace_time", [*host_lines(events), *kernel_lines(events), *overlap_lines(events)])
            theirs = self.expected(trace, "step_trace_time.csv")
            self.assertEqual([list(r) for r in ours], [list(r) for r in theirs])
            for mine, other in zip(ours, theirs):
                self.assertEqual(mine["Step"], other["Step"])
                for column in list(mine)[1:]:
                    # since 1970 a double is exact to 0.25 us only
                    rough = 0.25 if column in ("Stage", "Preparing") else 1e-6
                    self.assertAlmostEqual(float(mine[column]), float(other[column]), delta=rough, msg=column)
            print(f"step_trace_time: {len(ours)} steps the same")

    def test_op_statistic(self):
        for trace, _ in self.each():
            kernels = [k for k in self.expected(trace, "kernel_details.csv")
                       if k["Accelerator Core"] not in ("HCCL", "COMMUNICATION")]  # collectives are no tasks here
            columns = "Duration(us)", "Type", "Accelerator Core"
            ours = self.table("op_statistic", [["task", ns(k["Start Time(us)"]), *map(k.get, columns)] for k in kernels])
            theirs = self.expected(trace, "op_statistic.csv")
            key = lambda r: (r["OP Type"], r["Core Type"])
            self.assertEqual(sorted(map(key, ours)), sorted(map(key, theirs)))
            mine = {key(r): r for r in ours}
            for row in theirs:
                self.assertEqual(mine[key(row)]["Count"], row["Count"])
                for column in (c for c in row if re.search("Time|Ratio", c)):
                    # kernel_details has its durations in whole ns, and they were added up before that
                    self.assertAlmostEqual(float(mine[key(row)][column]), float(row[column]), msg=(key(row), column),
                                           delta=0.0011 * int(row["Count"]) if column.startswith("Total") else 0.0021)
            print(f"op_statistic: {len(theirs)} types the same")


if __name__ == "__main__":
    FEED = os.path.abspath(sys.argv[1])
    if not REAL:
        print(WHY)
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
