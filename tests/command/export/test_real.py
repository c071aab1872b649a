#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables that the real tool has made on real devices, made again by our code from what they say themselves.

    ASCOPE_REAL=DIR test_real.py REPLAY_SESSION

DIR holds text/ and db/ with *_ascend_pt directories and their results.  They are not part of the project: without
ASCOPE_REAL nothing is tested, and that is reported.
"""
import csv
import glob
import json
import os
import sqlite3
import subprocess
import sys
import unittest
from decimal import Decimal

SKIPPED = 77  # what Meson takes for "not tested"
RESULTS = "*_ascend_pt/ASCEND_PROFILER_OUTPUT"
REPLAY, REAL = None, os.environ.get("ASCOPE_REAL")


def replay(what, text):
    done = subprocess.run([REPLAY, what], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def rows(text):
    return list(csv.reader(text.splitlines()))


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return rows(f.read())


def files(kind, name):
    found = sorted(glob.glob(os.path.join(REAL, kind, RESULTS, name)))
    if not found:
        raise unittest.SkipTest("no %s/%s/%s in %s" % (kind, RESULTS, name, REAL))
    return found


def ns(us):
    return int(Decimal(us.strip()) * 1000)


def of_unit(cell, unit):
    size = Decimal(cell) * unit
    assert size == int(size), "%s of %d bytes is no number of bytes" % (cell, unit)
    return int(size)


def megabytes(cell):
    return of_unit(cell, 1 << 20)


def kilobytes(cell):
    return of_unit(cell, 1 << 10)


def device(cell):
    return cell.split(":")[1]


class Memory(unittest.TestCase):
    def test_sums_of_pytorch_and_graphs(self):
        for path in files("text", "memory_record.csv"):
            wanted = [r for r in read(path) if r[0] != "APP"]
            lines = []
            for what, time, *sizes, stream, where in wanted[1:]:
                if what == "GE":
                    lines.append("GE %d %d %d %s" % (ns(time), megabytes(sizes[0]), megabytes(sizes[1]), device(where)))
                elif what != "PTA+GE":
                    lines.append("%s %d %d %d %d %s %s" % (what, ns(time), *map(megabytes, sizes), stream, device(where)))
            found = rows(replay("memory", "\n".join(lines) + "\n"))
            self.assertGreater(len(wanted), len(lines))
            self.assertEqual(found, wanted, path)

    def test_sums_in_the_database(self):
        for path in files("db", "ascend_pytorch_profiler*.db"):
            db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
            wanted = db.execute("select value, timestamp, totalAllocated, totalReserved, totalActive, streamPtr, deviceId "
                                "from MEMORY_RECORD, STRING_IDS on component = id order by MEMORY_RECORD.rowid").fetchall()
            db.close()
            lines = ["GE %d %d %d %d" % (r[1], r[2], r[3], r[6]) if r[0] == "GE" else "%s %d %d %d %d %d %d" % r
                     for r in wanted if r[0] != "PTA+GE"]
            found = [(r[0], ns(r[1]), megabytes(r[2]), megabytes(r[3]), megabytes(r[4] or "0"),
                      int(r[5]) if r[5] else None, int(device(r[6])))
                     for r in rows(replay("memory", "\n".join(lines) + "\n"))[1:]]
            self.assertGreater(len(wanted), len(lines))
            self.assertEqual(found, wanted, path)

    def test_what_operators_allocated(self):
        for path in files("text", "operator_memory.csv"):
            wanted = read(path)
            lines = []
            for (name, size, taken, freed, returned, duration, _, *totals, stream, where) in wanted[1:]:
                begin, end = totals[:3], totals[3:]
                if name.startswith("cann::"):
                    lines.append("graph %s %d %s" % (device(where), kilobytes(size), name[len("cann::"):]))
                    lines.append("m %d %d %d" % (ns(taken), *map(megabytes, begin[:2])))
                    if duration != "0.0":
                        lines.append("f %d %d %d" % (ns(freed), *map(megabytes, end[:2])))
                    continue
                lines.append("torch %s %s %d %d %s" % (device(where), stream, kilobytes(size), ns(taken), name or "?"))
                lines.append("m %d %d %d %d" % (ns(taken), *map(megabytes, begin)))
                for kind, time in (("f", freed), ("b", returned)):
                    if time:
                        counts = kind == "f" or not freed
                        lines.append("%s %d %d %d %d" % (kind, ns(time), *(map(megabytes, end) if counts else (0, 0, 0))))
            found = rows(replay("lives", "\n".join(lines) + "\n"))
            self.assertEqual(found[0], wanted[0])
            self.assertEqual(sorted(found), sorted(wanted), path)
            ours, theirs = ([r for r in table if not r[0].startswith("cann::")] for table in (found, wanted))
            self.assertEqual(ours, theirs, path)


def steps(name):
    for path in files("text", name):
        with open(path, encoding="utf-8") as f:
            for step, kinds in json.load(f).items():
                for kind, value in kinds.items():
                    if value:
                        yield "%s %s %s" % (path, step, kind), value


class Communication(unittest.TestCase):
    def test_totals_of_steps(self):
        for where, ops in steps("communication.json"):
            self.assertEqual(replay("total", json.dumps(ops)), json.dumps(ops["Total Op Info"]), where)

    def test_which_transfers_are_reported(self):
        """Where there are no more than four, all of them are reported, and everything can be made again."""
        for where, reported in steps("communication_matrix.json"):
            seen, lines = set(), []
            for key, links in reported.items():
                group = key.split("@")[1]
                for pair, link in links.items():
                    if "Op Name" in link and (link["Op Name"], group, pair) not in seen:
                        seen.add((link["Op Name"], group, pair))
                        lines.append("%s %s %s %s %s %r %r" % (link["Op Name"], group, *pair.split("-"),
                                     link["Transport Type"], link["Transit Size(MB)"], link["Transit Time(ms)"]))
            lines.sort(key=lambda line: line.split()[0])  # as they ran: their names are numbered
            found = json.loads(replay("matrix", "\n".join(lines) + "\n"))
            self.assertEqual(set(found), set(reported), where)
            for key, links in reported.items():
                self.assertEqual(set(found[key]), set(links), "%s %s" % (where, key))
                for pair, link in links.items():
                    for field, value in link.items():
                        if "-total@" in key and isinstance(value, float):  # added in another order
                            self.assertAlmostEqual(found[key][pair][field], value, 9, "%s %s %s" % (where, key, pair))
                        else:
                            self.assertEqual(found[key][pair][field], value, "%s %s %s" % (where, key, pair))


if __name__ == "__main__":
    REPLAY = sys.argv.pop(1)
    if not REAL:
        print("not tested: ASCOPE_REAL names no directory with results of the real tool")
        sys.exit(SKIPPED)
    unittest.main()
