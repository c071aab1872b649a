#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The flame graph of ascope view against one that is computed here, slice by slice: of a small trace, and of those of real tools.

usage: test_view_flame.py ASCOPE SOURCE_ROOT [unittest options]

ASCOPE_REAL=DIR names a folder with results of real devices; traces of torch.profiler are in kineto/ beside it.  They are not part
of the project: without ASCOPE_REAL only the small trace is tested.
"""
import collections
import glob
import os
import re
import sys
import unittest

import test_view  # as a module: its own tests are not run again
from cli_case import Case
from test_view import event

REAL = os.environ.get("ASCOPE_REAL")
EVER = {"t0": -2 ** 63, "t1": 2 ** 63 - 1}


def union(slices):
    """The time in which any slice is open."""
    total, until = 0, float("-inf")
    for begin, end, _ in sorted(slices):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def rounded(slices):
    """Where all durations are whole microseconds, what ends one later than what it began in does not outlive it."""
    if any((end - begin) % 1000 for begin, end, _ in slices):
        return slices
    out = []
    for begin, end, name in slices:
        out.append((begin, min([end] + [e for b, e, _ in out if b <= begin < e < end <= e + 1000]), name))
    return out


def expected(slices):
    """(total, self, count) by the names that lead to a node, of slices in the order of their begins, longer ones first."""
    until = [min([end] + [b for b, e, _ in slices if begin < b < end < e]) for begin, end, _ in slices]
    total, count, inner = collections.Counter(), collections.Counter(), collections.Counter()
    for i, (begin, _, name) in enumerate(slices):
        path = tuple(slices[k][2] for k in range(i) if until[k] > begin) + (name,)
        total[path] += until[i] - begin
        inner[path[:-1]] += until[i] - begin
        count[path] += 1
    return {path: (total[path], total[path] - inner[path], n) for path, n in count.items()}


class Flame(Case):
    view, trace, flame = test_view.View.view, test_view.View.trace, test_view.View.flame

    def slices(self, v, names, levels):
        _, blocks = v.blocks(levels, -2 ** 62, 2 ** 62)
        return [(int(begin), int(begin + dur), re.sub(r"^ProfilerStep#\d+$", "ProfilerStep", names[name])) for begin, dur, _, _, name, _ in sorted(blocks, key=lambda b: b[2])]

    def check(self, path):
        """Whether the tree of each track is the one that is computed here. Returns how many tracks have slices."""
        v = self.view(path)
        self.assertEqual(v.wait()[0]["state"], "ready")
        names, n, whole = v.json("names", input=0, **{"from": 0}), 0, 0
        for track in (t for p in v.json("rows", input=0)["processes"] for t in p["tracks"] if t["levels"]):
            with self.subTest(os.path.basename(path), track=track["name"]):
                slices = rounded(self.slices(v, names, track["levels"]))
                found, nodes = self.flame(v, levels=",".join(map(str, track["levels"])), **EVER)
                self.assertEqual((len(slices), found["n"], found["left_out"]), (track["n"], track["n"], 0))
                self.assertEqual(found["total"], union(slices))
                self.assertGreaterEqual(min(self_ns for _, self_ns, _ in nodes.values()), 0)
                self.assertEqual(nodes, expected(slices))
                n, whole = n + 1, whole + found["total"]
        self.assertEqual(self.flame(v, all=1, **EVER)[0]["total"], whole)
        return n

    def test_a_slice_is_inside_what_contains_it(self):
        """An annotation that a function opens and another one closes, as a debugger shows it: main calls enter, the annotation begins."""
        small = [event("main", 0, 1000), event("enter", 10, 20), event("call", 12, 17), event("step", 15, 900), event("work", 50, 700),
                 event("op", 100, 50), event("exit", 910, 20), event("call", 912, 10), event("enter", 960, 5)]
        chain = [event("task %d" % (i % 2), 10 * i, 15, tid=2) for i in range(9)]
        edges = [event("outer", 0, 10, tid=3), event("same", 0, 10, tid=3), event("none", 0, 0, tid=3), event("end", 6, 4, tid=3),
                 event("none", 10, 0, tid=3), event("next", 10, 5, tid=3), event("over", 10, 7, tid=3)]
        called = [event("outer", 0, 10), event("inner", 5, 6), event("leaf", 6, 5)]
        coarse, fine = [{**e, "tid": 4} for e in called], [{**e, "tid": 5, "dur": e["dur"] + 0.5} for e in called]
        path = os.path.join(self.dir, self.trace(small + chain + edges + coarse + fine))
        self.assertEqual(self.check(path), 5)
        v = self.view(path)
        v.wait()
        tracks = [t["levels"] for t in v.json("rows", input=0)["processes"][0]["tracks"]]
        _, nodes = self.flame(v, levels=",".join(map(str, tracks[0])), **EVER)
        self.assertEqual(nodes, {("main",): (1000000, 75000, 1), ("main", "enter"): (10000, 7000, 2), ("main", "enter", "call"): (3000, 3000, 1),
                                 ("main", "step"): (895000, 195000, 1), ("main", "step", "work"): (700000, 650000, 1),
                                 ("main", "step", "work", "op"): (50000, 50000, 1), ("main", "exit"): (20000, 10000, 1),
                                 ("main", "exit", "call"): (10000, 10000, 1)})
        # Of a range that begins after the one that overlaps: only what is in it.
        _, nodes = self.flame(v, levels=",".join(map(str, tracks[0])), t0=20000, t1=60000)
        self.assertEqual(nodes, {("main",): (40000, 0, 1), ("main", "enter"): (0, 0, 1), ("main", "enter", "call"): (0, 0, 1),
                                 ("main", "step"): (40000, 30000, 1), ("main", "step", "work"): (10000, 10000, 1)})

        self.assertEqual(self.flame(v, levels=",".join(map(str, tracks[3])), **EVER)[1],
                         {("outer",): (10000, 5000, 1), ("outer", "inner"): (5000, 1000, 1), ("outer", "inner", "leaf"): (4000, 4000, 1)})
        self.assertEqual(self.flame(v, levels=",".join(map(str, tracks[4])), **EVER)[1],
                         {("outer",): (5000, 5000, 1), ("inner",): (6500, 1000, 1), ("inner", "leaf"): (5500, 5500, 1)})

    def test_more_levels_than_are_shown(self):
        v = self.view(self.trace([event("op", i, 2000 - 2 * i) for i in range(700)]))
        v.wait()
        found, nodes = self.flame(v, all=1, **EVER)
        self.assertEqual((found["n"], found["total"], sum(self_ns for _, self_ns, _ in nodes.values())), (700, 2000000, 2000000))
        self.assertGreaterEqual(min(self_ns for _, self_ns, _ in nodes.values()), 0)

    @unittest.skipUnless(REAL, "ASCOPE_REAL is not set: it names a folder with results of real devices")
    def test_real_traces(self):
        found = sorted(glob.glob(os.path.join(REAL, "**", "trace_view.json"), recursive=True) +
                       glob.glob(os.path.join(REAL, "..", "kineto", "*.json")))
        self.assertTrue(found)
        for path in found:
            self.assertGreater(self.check(path), 0, path)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
