#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The two dialects differ in names only: for each sample, the same events at the same places, rows of tables and databases.

usage: test_dialects.py ASCOPE DATA...    (DATA as for compare.py)
"""
import collections
import csv
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

from compare import collection
from results import STAMP

# What the documented dialect names differently, and which tables only the current one has.
RENAMED = {"hccl_statistic.csv": "communication_statistic.csv", "HCCL": "Communication"}
ONLY_CURRENT = {"task_time.csv", "soc_pmu.csv"}
OPTIONS = {"analyse": ["--export-type", "text,db"], "export": ["all"]}


def events(path):
    """Process, thread, phase, time, duration and category of each event."""
    with open(path, encoding="utf-8") as f:
        all_events = json.load(f)
    process = {e["pid"]: RENAMED.get(e["args"]["name"], e["args"]["name"]) for e in all_events if e["name"] == "process_name"}
    return collections.Counter((process.get(e["pid"]), *map(e.get, ("tid", "ph", "ts", "dur", "cat"))) for e in all_events)


def operators(path):
    """How many events a search for each operator of the framework finds."""
    with open(path, encoding="utf-8") as f:
        names = [e["name"] for e in json.load(f)]
    wanted = {n.split("@")[1] for n in names if n.startswith("Dequeue@")}
    return {w: sum(w in n for n in names) for w in wanted}


def rows(path):
    with open(path, encoding="utf-8", newline="") as f:
        return len(list(csv.reader(f)))


def dump(path):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    lines = list(db.iterdump())
    db.close()
    return lines


def is_framework(path):
    return any("_ascend_" in n for n in (os.path.basename(path), *os.listdir(path)))


def results(ascope, path, dialect, out):
    command = "analyse" if is_framework(path) else "export"
    done = subprocess.run([ascope, command, *OPTIONS[command], "-dir", path, "--out", out, "-q", "--dialect", dialect], capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    return {STAMP.sub("", n): os.path.join(top, n) for top, _, names in os.walk(out) for n in names if not n.endswith(".log")}


def differences(ascope, path, scratch):
    documented, current = (results(ascope, path, d, os.path.join(scratch, d)) for d in ("documented", "current"))
    documented = {RENAMED.get(n, n): p for n, p in documented.items()}
    only_one = (set(current) ^ set(documented)) - (ONLY_CURRENT & set(current))
    if only_one:
        yield "files: %s" % only_one
    for name, a in documented.items():
        b = current.get(name, a)
        if name.endswith(".csv") and rows(a) != rows(b):
            yield "%s: %d rows documented, %d current" % (name, rows(a), rows(b))
        if name.endswith(".db") and dump(a) != dump(b):
            yield "%s: %s" % (name, sorted(set(dump(a)) ^ set(dump(b)))[:2])
        if name in ("trace_view.json", "msprof.json", "msprof_tx.json", "step_trace.json"):
            x, y = events(a), events(b)
            if x != y:
                yield "%s: %s only documented, %s only current" % (name, list(x - y)[:2], list(y - x)[:2])
        if name == "trace_view.json" and operators(a) != operators(b):
            yield "%s: operators found %s documented, %s current" % (name, operators(a), operators(b))


def main():
    ascope, *samples = map(os.path.abspath, sys.argv[1:])
    n_wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for data in samples:
            path = collection(ascope, data, scratch)
            with tempfile.TemporaryDirectory(dir=scratch) as out:
                for line in differences(ascope, path, out):
                    print("%s: %s" % (os.path.basename(data), line))
                    n_wrong += 1
    print("%d samples, %d differences" % (len(samples), n_wrong))
    return n_wrong > 0 or not samples


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main())
