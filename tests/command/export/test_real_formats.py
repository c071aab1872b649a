#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether results in the documented dialect look as those of the real tool of that release: headers, numbers, quotes, line ends, events.

    ASCOPE_REAL=DIR test_real_formats.py ASCOPE SOURCE_ROOT

DIR holds *_ascend_pt directories with ASCEND_PROFILER_OUTPUT (of export type text).  They are not part of the project:
without ASCOPE_REAL nothing is tested, and that is reported.
"""
import collections
import csv
import glob
import io
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77  # what Meson takes for "not tested"
ASCOPE = SOURCE = None
REAL = os.environ.get("ASCOPE_REAL")
RESULTS = "ASCEND_PROFILER_OUTPUT"


def kind(cell):
    """How a cell is written."""
    if cell in ("", "N/A"):
        return cell
    tab = "\t" if cell.endswith("\t") else ""
    text = cell.rstrip("\t")
    if re.fullmatch(r"-?\d+", text):
        return "whole" + tab
    if re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", text):
        return ("thousandths" if tab and re.fullmatch(r".*\.\d{3}", text) else "real") + tab
    return "text" + tab


def table(path):
    """Header, and for each column the ways in which its cells are written."""
    with open(path, newline="", encoding="utf-8") as f:
        text = f.read()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    kinds = [{kind(r[i]) for r in rows[1:] if i < len(r)} for i in range(len(rows[0]))]
    return rows[0], dict(zip(rows[0], kinds)), text


def shape(members):
    return frozenset((k, type(v).__name__) for k, v in members.items() if k != "args")


class Events:
    """Which members and arguments events have: by category, or by the process that they are shown in."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.all = json.load(f)
        names = {e["pid"]: e["args"]["name"] for e in self.all if e["ph"] == "M" and e["name"] == "process_name"}
        self.members, self.args = collections.defaultdict(set), collections.defaultdict(set)
        for e in self.all:
            key = (e["ph"], e.get("cat") or names.get(e["pid"]))
            # A duration of exactly 0 is a whole number in some tools; which one is no matter.
            self.members[key].add(frozenset((k, "float" if k == "dur" else t) for k, t in shape(e)))
            self.args[key].add(tuple(e.get("args", ())))

    def parts(self):
        kinds = ["M" if e["ph"] == "M" else e["cat"] for e in self.all
                 if e["ph"] == "M" or e.get("cat") not in (None, "async_task_queue", "HostToDevice", "async_npu")]
        return [k for k, _ in itertools.groupby(kinds)]


class Formats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.real = sorted(glob.glob(os.path.join(REAL, "**", RESULTS, "trace_view.json"), recursive=True))
        if not cls.real:
            raise AssertionError("%s holds no %s with a trace_view.json" % (REAL, RESULTS))
        cls.real = os.path.dirname(cls.real[0])
        cls.dir = tempfile.TemporaryDirectory(prefix="ascope-real-")
        raw = glob.glob(os.path.join(SOURCE, "tests/data/pt-a-npu/raw/*_ascend_pt"))[0]
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")}
        subprocess.run([ASCOPE, "analyse", raw, "--export-type", "text", "--out", cls.dir.name, "-q"], check=True, env=env)
        cls.ours = glob.glob(os.path.join(cls.dir.name, "*_ascend_pt", RESULTS))[0]

    @classmethod
    def tearDownClass(cls):
        cls.dir.cleanup()

    def tables(self):
        for path in sorted(glob.glob(os.path.join(self.real, "*.csv"))):
            with self.subTest(os.path.basename(path)):
                yield os.path.basename(path), table(path), table(os.path.join(self.ours, os.path.basename(path)))

    def test_every_file_is_there(self):
        missing = set(os.listdir(self.real)) - set(os.listdir(self.ours))
        self.assertEqual(missing, set())

    def test_headers(self):
        for _, real, ours in self.tables():
            self.assertEqual(ours[0], real[0])

    def test_cells_are_written_as_there(self):
        for name, real, ours in self.tables():
            for column, kinds in ours[1].items():
                self.assertLessEqual(kinds - {"", "N/A"}, real[1][column], (name, column))

    def test_lines_and_quotes(self):
        for name, real, ours in self.tables():
            self.assertEqual(re.findall(r"(?<!\r)\n", ours[2]), [], name)
            self.assertTrue(ours[2].endswith("\r\n"), name)
            # Texts in three quotes (shapes), and cells of several lines, where the real tool has them.
            for sign in ('"""', ";\r\n" if "\r\n" in real[2] else ";\n"):
                self.assertEqual(sign in real[2], sign.replace("\n", "\r\n").replace("\r\r", "\r") in ours[2], (name, sign))

    def test_events_have_the_same_members(self):
        real, ours = (Events(os.path.join(d, "trace_view.json")) for d in (self.real, self.ours))
        for key in set(real.members) & set(ours.members):
            self.assertEqual(ours.members[key], real.members[key], key)

    def test_events_have_their_arguments(self):
        real, ours = (Events(os.path.join(d, "trace_view.json")) for d in (self.real, self.ours))
        of_framework = {"cpu_op", "enqueue", "dequeue", "python_function", "async_task_queue", "fwdbwd", "async_npu"}
        self.assertLessEqual(of_framework, {k[1] for k in ours.args})
        for key in set(real.args) & set(ours.args):
            if key[1] in of_framework:
                self.assertLessEqual(ours.args[key], real.args[key], key)
        for process in ("Ascend Hardware", "CANN", "HCCL", "Overlap Analysis"):  # newer ones may have more of them
            for args in ours.args["X", process]:
                self.assertTrue(any(set(a) <= set(args) for a in real.args["X", process]), (process, args))

    def test_collectives_and_counters_have_exactly_their_arguments(self):
        real, ours = (Events(os.path.join(d, "trace_view.json")) for d in (self.real, self.ours))
        self.assertEqual(ours.args["X", "HCCL"], real.args["X", "HCCL"])
        for key in set(real.args) & set(ours.args):
            if key[0] == "C":
                self.assertEqual(ours.args[key], real.args[key], key)

    def test_words_are_those_of_that_release(self):
        def words(events):
            names = {e["pid"]: e["args"]["name"] for e in events.all if e["name"] == "process_name"}
            found = collections.defaultdict(set)
            for e in events.all:
                process = names.get(e["pid"])
                if e["name"] == "process_labels":
                    found["label"].add(e["args"]["labels"])
                elif process == "Acc PMU" and e["ph"] == "C":
                    found["acc"].add(e["name"])
                elif process == "CANN" and e["ph"] == "X":
                    found["level"].add((e["name"].split("@")[0], e["args"]["level"]))
            return found

        def column(folder, file, name):
            with open(os.path.join(folder, file), newline="", encoding="utf-8") as f:
                return {r[name] for r in csv.DictReader(f)}
        real, ours = (words(Events(os.path.join(d, "trace_view.json"))) for d in (self.real, self.ours))
        self.assertEqual(ours["label"], real["label"])
        self.assertEqual(ours["acc"], real["acc"])
        self.assertLessEqual(real["level"], ours["level"])
        for file, name, others in (("api_statistic.csv", "Level", {"runtime", "model"}),
                                   ("kernel_details.csv", "Accelerator Core", {"AI_CPU", "MIX_AIC"})):
            self.assertLessEqual(column(self.ours, file, name) - others, column(self.real, file, name))
        for folder in self.real, self.ours:  # 65.67 and 0, never 65.670 or 0.000
            for cell in column(folder, "kernel_details.csv", "cube_utilization(%)") - {"N/A"}:
                self.assertRegex(cell, r"^(0|\d+\.\d|\d+\.\d*[1-9])$")

    def test_parts_of_the_timeline_follow_each_other_as_there(self):
        real, ours = (Events(os.path.join(d, "trace_view.json")).parts() for d in (self.real, self.ours))
        wanted = real[:real.index("python_function") + 1]
        self.assertEqual(ours[:len(wanted)], wanted)

    def test_json_files_have_the_same_members(self):
        def keys(value, path=()):
            if isinstance(value, dict):
                for k, v in value.items():
                    # Steps, operators, ranks and sizes are names of things, not of members.
                    k = re.sub(r"^step.*|.*@.*|^\d+-\d+$|^\d+(\.\d+)?$", "*", k)
                    yield from keys(v, path + (k,))
            else:
                yield path, type(value).__name__
        for name in ("communication.json", "communication_matrix.json"):
            with open(os.path.join(self.real, name)) as a, open(os.path.join(self.ours, name)) as b:
                real, ours = (set(keys(json.load(f))) for f in (a, b))
            used = {p[:-1] for p, _ in real}
            self.assertEqual({k for k in ours if k[0][:-1] in used} - {(p, t) for p, _ in real for t in ("int", "float", "str", "list")},
                             set(), name)


if __name__ == "__main__":
    if not REAL:
        print("not tested: ASCOPE_REAL names no directory with results of the real tool")
        sys.exit(SKIPPED)
    ASCOPE, SOURCE = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
