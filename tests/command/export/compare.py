#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the exports of sample collections with the reference's, cell by cell, event by event, row by row.

    compare.py ASCOPE DIFFERENCES.md DATA... [--set NAME]... [--show N] [--report-only]

DATA, a folder or such a folder packed as DATA.tar.xz, holds a PROF_XXX directory, or a folder `raw` with a *_ascend_pt or *_ascend_ms directory, or a file `command` with the arguments of
`ascope sim` that make one, and expected/ with one folder for each of SETS.  Every difference must be announced in the table of DIFFERENCES.md whose columns are:
in, file, column, cells, why.  "in" is DATA's own name and the set: prof-a/all.  "cells" is how many cells (or events,
rows, files) differ; a difference that is not announced fails, and so does an announcement that is not true any more.

Ids that the reference numbers in the order in which its threads arrive are renamed first: flows by where they start,
connections by the call that owns them, strings by their text, tasks and collective operators by their place.
Some tables of the reference (ROUGH_CLOCK) hold times, or the offset between two clocks, in a double: they are up to
ROUGH_NS away from where they should be.  There our times are moved onto theirs before comparing.
"""
import argparse
import bisect
import collections
import csv
import fnmatch
import glob
import json
import os
import re
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

from results import STAMP, TEXT_COLUMNS

SETS = {
    "all": ["export", "all"],
    "step_2": ["export", "all", "--model-id", "4294967295", "--iteration-id", "2"],
    "model_1_iter_1": ["export", "all", "--model-id", "1", "--iteration-id", "1"],
    "json": ["export", "summary", "--format", "json"],
    "analyze": ["communication"],
    "summary": ["export", "summary"],
    "analyse": ["analyse", "--export-type", "text,db"],
}
ROUGH_NS = 512  # a time and an offset, both in doubles of nanoseconds since 1970, in steps of 256
# Where it does: set/file, column of a table, process of a timeline or table of a database.
ROUGH_CLOCK = [("app-910a/*", "*"), ("sim-910/*", "*"), ("sim-310?/*", "*"),
               ("prof-a/step_2/*", "*"), ("prof-a/model_1_iter_1/*", "*"), ("host-910b/*", "*"), ("sys-910b/*", "*"),
               ("*/all/*", "HBM"), ("*/all/*", "LLC"), ("*/all/*", "NPU?MEM"), ("*/all/npu_mem.csv", "timestamp(us)"),
               ("*/all/msprof_tx.csv", "*"), ("*/summary/msprof_tx.csv", "*"), ("*/all/memory_record.csv", "*"), ("*/all/operator_memory.csv", "*"),
               ("*/all/aicpu.csv", "*"), ("*/all/dp.csv", "*"),
               ("950-?/all/ccu_*.csv", "*"), ("950-?/all/ub.csv", "*"), ("950-c/all/msprof*.json", "*"),
               ("*/analyse/*", "HBM"), ("*/analyse/*", "LLC"), ("*/analyse/*", "NPU?MEM"),
               ("*/analyse/memory_record.csv", "*"), ("*/analyse/operator_memory.csv", "*"),
               ("*/analyse/data_preprocess.csv", "*")]
TIME = re.compile(r"(\d{16})(?:\.(\d+))?\t?")
ROUNDED_PROCESSES = {"Scope Layer"}  # whose durations the reference prints with as many digits as its arithmetic left
# The words of advice are free: what counts are the operators, percentages and parameters in it.
ADVICE_FILE, ADVICE = "minddata_pipeline_summary", ("cpu_analysis", "queue_analysis", "bottleneck")
ADVICE_FACT = re.compile(r"\w+\(id=\d+\)|\d+(?:\.\d+)?%|num_parallel_workers|prefetch_size")
NO_IDS = {-1, 4294967295, 18446744073709551615}
ROW_NUMBERS = {"OVERLAP_ANALYSIS.id"}
SKIPPED_TABLES = {"STRING_IDS", "HOST_INFO"}  # the latter is of the machine that analysed


class Differences:
    def __init__(self, show):
        self.show, self.cells, self.total = show, collections.Counter(), collections.Counter()
        self.samples = collections.defaultdict(list)

    def add(self, where, column, expected, actual, place=""):
        self.cells[where + (column,)] += 1
        if len(self.samples[where + (column,)]) < self.show:
            self.samples[where + (column,)].append("%s%.110r; expected %.110r" % (place, actual, expected))

    def rows(self, where, columns, expected, actual, label=lambda row, column: column, same=0):
        """Two multisets of tuples: equal rows are paired first, then those that share most cells and the first `same`."""
        self.total[where[0]] += sum(map(len, expected))
        left, right = (list((collections.Counter(a) - collections.Counter(b)).elements())
                       for a, b in ((expected, actual), (actual, expected)))
        index = collections.defaultdict(list)
        for j, row in enumerate(right):
            for cell in enumerate(row):
                index[cell].append(j)
        used = set()
        for row in sorted(left, key=repr):
            rare = [cell for cell in enumerate(row) if cell[1] is not None and len(index[cell]) < 500]
            near = {j for cell in rare for j in index[cell] if j not in used and right[j][:same] == row[:same]}
            alike = {j: sum(u == v for u, v in zip(row, right[j]) if u is not None) for j in near}
            best = max(alike, key=lambda j: (alike[j], -j), default=None)
            if best is None or alike[best] * 2 < sum(c is not None for c in row):
                self.add(where, label(row, "(missing row)"), shown(columns, row), None)
                continue
            used.add(best)
            for c, u, v in zip(columns, row, right[best]):
                if u != v:
                    self.add(where, label(row, c), u, v, "%.100s: " % shown(columns, row))
        for j, row in enumerate(right):
            if j not in used:
                self.add(where, label(row, "(extra row)"), None, shown(columns, row))


def shown(columns, row):
    return ", ".join("%s=%s" % cell for cell in zip(columns, row) if cell[1] not in (None, "N/A", ""))


def real(text):
    """The last digits of a double depend on the order of its additions: 13 are compared."""
    v = float(text)
    return v if 1e15 <= v < 1e16 else float("%.13g" % v)


def ns_of(v):
    """A point in time: text or a number of microseconds, or an integer of nanoseconds, since 1970."""
    m = TIME.fullmatch(v) if isinstance(v, str) else None
    if m:
        return int(m[1]) * 1000 + int((m[2] or "").ljust(3, "0")[:3])
    if isinstance(v, (int, float)) and not isinstance(v, bool):
        return v if isinstance(v, int) and 1e18 <= v < 1e19 else round(v * 1000) if 1e15 <= v < 1e16 else None
    return None


def snapper(expected, actual):
    """Moves times by the constant that brings most of them onto expected ones, the others as far as ROUGH_NS allows."""
    def tabbed(v):
        return isinstance(v, str) and v.endswith("\t")
    known = {(ns_of(v), tabbed(v)): v for v in expected if ns_of(v) is not None}
    want, found = sorted({t for t, _ in known}), collections.Counter()
    for t in {ns_of(v) for v in actual} - {None}:
        i = bisect.bisect_left(want, t - ROUGH_NS)
        found.update(w - t for w in want[i:i + 40] if w - t <= ROUGH_NS)
    by = max(found, key=lambda d: (found[d], -abs(d)), default=0)

    def snap(v):
        t = ns_of(v)
        if t is None or not want:
            return v
        i = bisect.bisect_left(want, t + by)
        near = min(want[max(i - 1, 0):i + 1], key=lambda w: abs(w - t - by))
        return known.get((near, tabbed(v)), v) if abs(near - t) <= ROUGH_NS else v
    return snap


def is_rough(where, what):
    return any(fnmatch.fnmatchcase("/".join(where), f) and fnmatch.fnmatchcase(what, w) for f, w in ROUGH_CLOCK)


def snapped(columns, expected, actual, rough):
    """The actual rows, with the times of rough columns moved onto the expected ones."""
    snaps = [snapper([r[i] for r in expected], [r[i] for r in actual]) if rough(c) else None
             for i, c in enumerate(columns)]
    return [tuple(s(v) if s else v for s, v in zip(snaps, r)) for r in actual] if any(snaps) else actual


# Tables

def read_csv(path):
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as f:
        return list(csv.reader(f))


def facts(where, key, texts):
    """The facts in texts of advice; other lists as they are."""
    if not where[1].startswith(ADVICE_FILE) or not key.startswith(ADVICE):
        return texts
    return ["; ".join(ADVICE_FACT.findall(t)) for t in texts]


def compare_csv(d, where, expected, actual):
    expected, actual = ([r[:1] + facts(where, r[0], r[1:]) for r in read_csv(p)] for p in (expected, actual))
    if expected[0] != actual[0]:
        d.add(where, "(header)", expected[0], actual[0])
    columns = [c for c in expected[0] if c in actual[0]] or expected[0]
    width = max(map(len, expected + actual))
    columns += ["(beyond %d)" % i for i in range(len(expected[0]), width)] if expected[0] == actual[0] else []

    def align(table):
        place = {c: i for i, c in reversed(list(enumerate(table[0])))}
        pick = range(len(columns)) if expected[0] == actual[0] else [place.get(c, width) for c in columns]
        return [tuple(r[i] if i < len(r) else None for i in pick) for r in table[1:]]

    e, a = align(expected), align(actual)
    a = snapped(columns, e, a, lambda c: is_rough(where, c))
    d.rows(where, columns, e, a)
    if sorted(e, key=repr) == sorted(a, key=repr) and e != a:
        d.add(where, "(row order)", "as expected", "another")


# Timelines and other JSON

def flat(value, path=""):
    if isinstance(value, dict) and value:
        for k, v in value.items():
            yield from flat(v, "%s.%s" % (path, k) if path else k)
    elif isinstance(value, list) and value:
        for i, v in enumerate(value):
            yield from flat(v, "%s[%d]" % (path, i))
    else:
        yield path, tuple(value) if isinstance(value, (dict, list)) else value


def flow_of(e):
    """Which flow an event belongs to: the device's export has the id in its name, and MindSpore's ids are stable."""
    return e["cat"], e["name"], e["id"] if e["name"].startswith("mindspore_") else None


class Events:
    def __init__(self, events):
        self.process, self.label = {}, {}
        for e in events:
            if e["ph"] == "M" and e["name"] in ("process_name", "process_labels"):
                (self.process if e["name"] == "process_name" else self.label)[e["pid"]] = str(*e["args"].values())
        for e in events:  # at Level0 the reference removes the name of the process from which they lead
            if e["ph"] == "s" and e.get("cat") == "HostToDevice":
                self.process.setdefault(e["pid"], "CANN")
        self.list = [dict(flat(e)) for e in events]
        for e in self.list:
            if e["ph"] == "X" and self.of(e) in ROUNDED_PROCESSES:
                e["dur"] = "%.3f" % float(e["dur"])

    def of(self, e):
        return self.process.get(e["pid"], str(e["pid"]))

    def key(self, e):
        return self.of(e), self.label.get(e["pid"])

    def snap(self, expected, where):
        fields = collections.defaultdict(lambda: ([], []))
        for side, events in enumerate((expected, self)):
            for e in events.list:
                for k, v in e.items():
                    if is_rough(where, events.of(e)):
                        fields[events.key(e), k][side].append(v)
        snaps = {k: snapper(a, b) for k, (a, b) in fields.items()}
        for e in self.list:
            for k in e:
                e[k] = snaps[self.key(e), k](e[k]) if (self.key(e), k) in snaps else e[k]

    def rename(self):
        """Processes by name and label (their numbers stay in the events that name them), flow ids by the places where
        the flow starts (or, without a start, ends), connection ids by their first call."""
        starts, ends, calls = collections.defaultdict(set), collections.defaultdict(set), {}
        for e in self.list:
            place = (self.of(e), str(e["tid"]), str(e.get("ts")))
            if e["ph"] in ("s", "t", "f"):
                (starts if e["ph"] == "s" else ends)[flow_of(e)].add(place)
            c = e.get("args.connection_id")
            if c is not None and c not in NO_IDS:
                calls[c] = min(calls.get(c, (2,)), (self.of(e) != "CANN",) + place + (e["name"],))
        for e in self.list:
            if e["ph"] in ("s", "t", "f"):
                e["id"] = tuple(sorted(starts.get(flow_of(e)) or ends[flow_of(e)]))
                e["name"] = e["cat"]
            c = e.get("args.connection_id")
            e["args.connection_id"] = calls.get(c, c)

    def rows(self, columns):
        return [(self.of(e),) + tuple(self.key(e) if c == "pid" and e["ph"] != "M" else e.get(c) for c in columns)
                for e in self.list]


def compare_events(d, where, expected, actual):
    e, a = Events(expected), Events(actual)
    a.snap(e, where)
    e.rename()
    a.rename()
    columns = ["ph"] + sorted({k for x in e.list + a.list for k in x} - {"ph"})
    d.rows(where, ["process"] + columns, e.rows(columns), a.rows(columns), same=2,
           label=lambda row, c: "%s: %s" % (row[0], c))


def compare_json(d, where, expected, actual):
    e, a = (json.load(open(p, encoding="utf-8"), parse_float=real) for p in (expected, actual))
    if isinstance(e, list) and e and isinstance(e[0], dict) and "ph" in e[0]:
        return compare_events(d, where, e, a)
    if where[1].startswith(ADVICE_FILE):
        e, a = ({k: facts(where, k, v) for k, v in x.items()} for x in (e, a))
    e, a = dict(flat(e)), dict(flat(a))
    for k in sorted(set(e) | set(a)):
        d.total[where[0]] += 1
        if e.get(k) != a.get(k):
            d.add(where, re.sub(r".*[.\]]", "", k) or k, e.get(k), a.get(k), k + ": ")
    return None


# Databases

class Db:
    def __init__(self, path):
        self.sql = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
        self.tables = {t: [c[1] for c in self.sql.execute('PRAGMA table_info("%s")' % t)]
                       for t, in self.sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.text = dict(self.get("STRING_IDS", "id, value"))
        self.calls, self.tasks, self.ops = {}, {}, {}
        for c, *place in self.get("TASK", "connectionId, deviceId, streamId, taskId, contextId, startNs"):
            self.calls[c] = min(self.calls.get(c, ("z",)), ("task", *place))
        for c, m, *place in self.get("MSTX_EVENTS", "connectionId, message, globalTid, startNs, endNs"):
            self.calls[c] = min(self.calls.get(c, ("z",)), ("mark", self.text.get(m), *place))
        for c, n, *place in self.get("CANN_API", "connectionId, name, globalTid, startNs, endNs, type"):
            self.calls[c] = ("call", self.text.get(n), *place)
        for g, *place in self.get("TASK", "globalTaskId, deviceId, streamId, taskId, contextId, startNs, endNs"):
            self.tasks[g] = min(self.tasks.get(g, tuple(place)), tuple(place))
        for o, n, *place in self.get("COMMUNICATION_OP", "opId, opName, deviceId, startNs, endNs"):
            self.ops[o] = (self.text.get(n), *place)

    def get(self, table, columns):
        return self.sql.execute("SELECT %s FROM %s" % (columns, table)).fetchall() if table in self.tables else []

    def schema(self):
        for t in self.tables:
            for _, name, kind, *_, key in self.sql.execute('PRAGMA table_info("%s")' % t):
                yield t, name, kind, key
        for name, table in self.sql.execute("SELECT name, tbl_name FROM sqlite_master "
                                            "WHERE type = 'index' AND sql NOT NULL"):
            yield table, name, "index", ",".join(c[2] for c in self.sql.execute('PRAGMA index_info("%s")' % name))

    def rows(self, table, columns):
        """The rows of a table; ids are replaced by what they stand for, row numbers by nothing."""
        def names_of(column):
            full = "%s.%s" % (table, column)
            if column in TEXT_COLUMNS or full in TEXT_COLUMNS:
                return self.text
            if full in ROW_NUMBERS:
                return {}
            if full == "PYTORCH_API.connectionId":  # an id of CONNECTION_IDS
                return None
            return {"connectionId": self.calls, "globalTaskId": self.tasks, "opId": self.ops}.get(column)

        def resolve(names, value):
            if isinstance(value, float):
                return real(value)
            if names is None or not isinstance(value, int) or value in NO_IDS:
                return value
            return names.get(value, ("no such id", value)) if names else "row"

        names = [names_of(c) for c in columns]
        found = self.get(table, ", ".join('"%s"' % c for c in columns))
        of_here = next((row for row in found if row[0] == "ENV_VARIABLES"), None) if table == "META_DATA" else None
        if of_here:  # the environment of the analysis; the one of the collection follows it
            found.remove(of_here)
        return [tuple(resolve(n, v) for n, v in zip(names, row)) for row in found]


def compare_db(d, where, expected, actual):
    e, a = Db(expected), Db(actual)
    d.rows(where, ["table", "column", "type", "key"], list(e.schema()), list(a.schema()),
           label=lambda row, c: "%s (schema)" % row[0])
    for t in sorted(set(e.tables) & set(a.tables) - SKIPPED_TABLES):
        columns = [c for c in e.tables[t] if c in a.tables[t]]
        want = e.rows(t, columns)
        have = snapped(columns, want, a.rows(t, columns), lambda c: is_rough(where, t))
        d.rows(where, columns, want, have, label=lambda row, c: "%s.%s" % (t, c))


# Folders and announcements

def plain_files(folder):
    """Result files by their names without time stamps; slices of one file must not be needed by so small a sample."""
    found = {}
    for base, _, files in os.walk(folder):
        for f in files:
            if f.endswith((".csv", ".json", ".db", ".txt")) and f != "README.txt":
                found[STAMP.sub("", f)] = os.path.join(base, f)
    return found


COMPARE = {".csv": compare_csv, ".json": compare_json, ".db": compare_db}


def compare_folder(d, name, expected, actual):
    want, have = plain_files(expected), plain_files(actual)
    for f in sorted(want):
        if f not in have:
            d.add((name, f), "(file)", "a file", None)
            continue
        try:
            COMPARE[os.path.splitext(f)[1]](d, (name, f), want[f], have[f])
        except (ValueError, KeyError, IndexError, TypeError, sqlite3.Error) as why:
            d.add((name, f), "(unreadable)", "", repr(why))
    for f in sorted(set(have) - set(want)):
        if not name.endswith(("/json", "/summary")):  # only those that follow the format switch, only tables
            d.add((name, f), "(file)", None, "a file")


def announced(path):
    """Rows of the table | in | file | column | cells | why | as {(in, file, column): cells}."""
    rows, reading = {}, False
    for line in open(path, encoding="utf-8"):
        cells = [c.strip().strip("`") for c in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if cells[:4] == ["in", "file", "column", "cells"]:
            reading = True
        elif not cells:
            reading = False
        elif reading and not set(cells[0]) <= set("-: "):
            rows[cells[0], cells[1], cells[2].replace("\\|", "|")] = int(cells[3])
    return rows


def verdict(d, promised, sets):
    """Lines about what differs without having been announced, and about what was announced and does not differ."""
    left = dict(d.cells)
    for (names, file, column), cells in promised.items():
        if not any(fnmatch.fnmatchcase(s, names) for s in sets):
            continue
        hits = [k for k in d.cells if fnmatch.fnmatchcase(k[0], names) and fnmatch.fnmatchcase(k[1], file)
                and fnmatch.fnmatchcase(k[2], column.replace("[", "[[]"))]
        n = sum(left.pop(k, 0) for k in hits)
        if n != cells:
            yield "%s %s %s: %d cells announced, %d differ" % (names, file, column, cells, n)
    for k, n in sorted(left.items()):
        yield "%s/%s %s: %d not announced" % (*k, n) + "".join("\n    " + s for s in d.samples[k])


def run(d, name, exe, prof, out):
    words = SETS[name.split("/")[1]]
    if words[0] != "analyse":  # of a collection, the part that the device's tool knows
        prof = next(iter(glob.glob(os.path.join(glob.escape(prof), "*_ascend_?[ts]", "PROF_*"))), prof)
    dialect = ["--dialect", "current"] if words[0] != "communication" else []
    command = [exe] + words + ["-dir", prof, "--out", out, "--quiet"] + dialect
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, TZ="UTC"))
    if done.returncode or done.stderr:
        d.add((name, "(export)"), "(exit %d)" % done.returncode, "", done.stderr)


def unpacked(data, scratch):
    """The folder itself, or the one that a packed folder contains."""
    if not data.endswith(".tar.xz"):
        return data
    with tarfile.open(data) as archive:
        archive.extractall(scratch)
    return os.path.join(scratch, os.path.basename(data)[:-len(".tar.xz")])


def collection(ascope, data, scratch):
    """The collection in data, or the one that its command makes."""
    if os.path.isdir(os.path.join(data, "raw")):
        return os.path.join(data, "raw")
    for f in sorted(os.listdir(data)):
        if f.startswith("PROF_"):
            return os.path.join(data, f)
    with open(os.path.join(data, "command")) as command:
        arguments = command.read().split()
    out = os.path.join(scratch, os.path.basename(data))
    os.mkdir(out)
    command = [ascope, "sim", "--out", out] + arguments
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def compare_query(d, name, exe, prof, expected):
    done = subprocess.run([exe, "query", prof], capture_output=True, text=True, env=dict(os.environ, TZ="UTC"))
    with open(expected, encoding="utf-8") as f:
        want = f.read().splitlines()
    d.rows((name, "query.txt"), ["line"], [(line,) for line in want], [(line,) for line in done.stdout.splitlines()])


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ascope")
    p.add_argument("differences")
    p.add_argument("data", nargs="+")
    p.add_argument("--set", action="append", choices=list(SETS), help="only this one (default: all that are expected)")
    p.add_argument("--show", type=int, default=3, help="examples to print for each column (3)")
    p.add_argument("--report-only", action="store_true", help="tell the differences, but do not fail")
    o = p.parse_args()
    d, names = Differences(o.show), []
    simulated = tempfile.TemporaryDirectory()
    for data in map(os.path.abspath, o.data):
        data = unpacked(data, simulated.name)
        prof = collection(o.ascope, data, simulated.name)
        for one in [s for s in o.set or SETS if os.path.isdir(os.path.join(data, "expected", s))]:
            names.append("%s/%s" % (os.path.basename(data), one))
            with tempfile.TemporaryDirectory() as out:
                run(d, names[-1], o.ascope, prof, out)
                compare_folder(d, names[-1], os.path.join(data, "expected", one), out)
        query = os.path.join(data, "expected/query.txt")
        if os.path.exists(query) and not o.set:
            compare_query(d, names[-1], o.ascope, prof, query)
    problems = list(verdict(d, announced(o.differences), names))
    print("\n".join(problems))
    print("%d cells compared in %s; %d differ, %d problems"
          % (sum(d.total.values()), ", ".join(names), sum(d.cells.values()), len(problems)))
    return int(bool(problems) and not o.report_only)


if __name__ == "__main__":
    sys.exit(main())
