#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an export writes: results that agree with each other, timelines that viewers show, the same bytes every time.

usage: test_export.py ASCOPE SOURCE_ROOT [unittest options]
"""
import collections
import csv
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from check_timeline import check_file
from results import CHECKS, Results, STAMP, cross_check

ASCOPE = DATA = None
# What is collected decides which checks apply: one that stops applying is a file that has disappeared.
NO_DEVICE = {"the_database_is_whole", "counters_have_the_same_times_in_timeline_and_database"}
EVERYTHING = {c.__name__ for c in CHECKS}
SAMPLES = {
    "prof-a": EVERYTHING,
    "collector-a/app-910b": EVERYTHING - {"communication_statistic_is_the_collectives_summed_up"},
    "collector-a/sys-910b": NO_DEVICE,
    "collector-a/host-910b": NO_DEVICE,
}
# What the reference does and we keep: flow events whose other end is missing or comes first (clocks that are a little
# apart, and windows), one start written for each run of a graph, and the load of cores as text.
ALLOWED = {"no-slice", "no-start", "no-end", "same-start", "counter"}


def collection(sample):
    return glob.glob(os.path.join(glob.escape(os.path.join(DATA, sample)), "PROF_*"))[0]


def run(*args, code=0):
    done = subprocess.run([ASCOPE, *args], capture_output=True, text=True, timeout=300)
    if code is not None and done.returncode != code:
        raise AssertionError("ascope %s ended with %d, not %d:\n%s%s"
                             % (" ".join(args), done.returncode, code, done.stdout, done.stderr))
    return done


def digests(folder):
    """-> {name without stamp: digest of the bytes} of all result files"""
    found = {}
    for base, _, names in os.walk(folder):
        for n in names:
            with open(os.path.join(base, n), "rb") as f:
                data = f.read()
            if n == "README.txt":  # it names the files beside it
                data = re.sub(rb"_\d{14}(?=\.)", b"", data)
            found[os.path.relpath(os.path.join(base, STAMP.sub("", n)), folder)] = hashlib.sha256(data).hexdigest()
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope-export-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.n_outs = 0

    def export(self, prof, *args, code=0):
        """-> the folder that holds the results"""
        self.n_outs += 1
        out = os.path.join(self.dir, "out%d" % self.n_outs)
        self.said = run("export", "all", "-dir", prof, "--out", out, *args, code=code)
        return out

    def copy(self, sample):
        prof = os.path.join(self.dir, os.path.basename(collection(sample)))
        shutil.copytree(collection(sample), prof)
        return prof


class Agreement(Case):
    def test_results_can_be_computed_from_each_other(self):
        for sample, checks in SAMPLES.items():
            with self.subTest(sample):
                complaints, applied = cross_check(Results(self.export(collection(sample), "--dialect", "current")))
                self.assertEqual(complaints, [])
                self.assertEqual(applied, checks)

    def test_slices_that_overlap_stay_on_their_track_if_asked_to(self):
        moved, kept = (Results(self.export(collection("collector-a/host-910b"), *more)).events for more in ((), ("--keep-overlaps",)))
        rows = [sum(e["name"] == "thread_name" and e["args"]["name"].endswith(" (2)") for e in found) for found in (moved, kept)]
        self.assertGreater(rows[0], 0)
        self.assertEqual(rows[1], 0)
        drawn = [sorted((e["ts"], e["name"], e["ph"]) for e in found if e["ph"] != "M") for found in (moved, kept)]
        self.assertEqual(drawn[0], drawn[1])

    def test_the_input_stays_as_it_was(self):
        prof = self.copy("prof-a")
        before = digests(prof)
        self.export(prof)
        self.assertEqual(digests(prof), before)


class Numbers(Case):
    def test_operator_memory_lasts_to_the_nearest_nanosecond(self):
        prof = self.copy("prof-a")
        ticks = [round(float(r["Duration(us)"]) * 100) for r in Results(self.export(prof)).table("operator_memory.csv")]
        for info in glob.glob(os.path.join(prof, "*", "info.json*")):
            if info.endswith(".done"):
                continue
            with open(info) as f:
                text = f.read()
            self.assertIn('"Frequency": "100.000000"', text)
            with open(info, "w") as f:
                f.write(text.replace('"Frequency": "100.000000"', '"Frequency": "48.000000"'))
        rows = Results(self.export(prof, code=None)).table("operator_memory.csv")
        self.assertEqual([r["Duration(us)"] for r in rows], [str(round(n / 48e6 * 1e6, 3)) for n in ticks])
        self.assertTrue(any(n % 48 * 125 % 6 > 3 for n in ticks), "no duration that rounds up")


    def test_aicpu_operators_are_named_without_counters_of_the_cores(self):
        prof = self.copy("prof-a")
        with_counters = [r["Node"] for r in Results(self.export(prof)).table("aicpu.csv")]
        for file in glob.glob(os.path.join(prof, "device_0", "data", "ffts_profile*")):
            os.remove(file)
        results = Results(self.export(prof))
        self.assertNotIn("aicore_time(us)", {c for c, v in results.table("op_summary.csv")[0].items() if v != "N/A"})
        self.assertEqual([r["Node"] for r in results.table("aicpu.csv")], with_counters)
        self.assertNotIn("N/A", with_counters)

    def test_aicpu_operators_are_named_where_the_group_of_counters_is_unknown(self):
        prof = self.copy("prof-a")
        with_group = [r["Node"] for r in Results(self.export(prof)).table("aicpu.csv")]
        for folder in ("host", "device_0"):
            path = os.path.join(prof, folder, "sample.json")
            with open(path) as f:
                settings = json.load(f)
            settings.update(ai_core_metrics="", aiv_metrics="")
            with open(path, "w") as f:
                json.dump(settings, f)
        self.assertEqual([r["Node"] for r in Results(self.export(prof)).table("aicpu.csv")], with_group)


class Timelines(Case):
    def check(self, sample, double, *args):
        r = Results(self.export(collection(sample), *args))
        for name, path in r.files.items():
            if name.endswith(".json"):
                t = check_file(path, double)
                self.assertEqual(t.problems(ALLOWED), {}, "%s of %s: %s" % (name, sample, dict(t.samples)))

    def test_viewers_can_show_them(self):
        for sample in SAMPLES:
            with self.subTest(sample):
                self.check(sample, False)

    def test_counted_from_the_start_they_survive_a_double(self):
        for sample in SAMPLES:
            with self.subTest(sample):
                self.check(sample, True, "--time-base", "start")

    def test_a_step_and_a_graph(self):
        for model, iteration in (("4294967295", "2"), ("1", "1")):
            with self.subTest(model):
                self.check("prof-a", True, "--model-id", model, "--iteration-id", iteration, "--time-base", "start")


class SameBytes(Case):
    def test_whatever_the_threads_and_the_time(self):
        for sample in SAMPLES:
            with self.subTest(sample):
                first = digests(self.export(collection(sample), "--threads", "1"))
                self.assertGreater(len(first), 3)
                for threads in ("1", "2", "8"):
                    self.assertEqual(digests(self.export(collection(sample), "--threads", threads)), first)

    def test_whatever_the_order_of_the_directory(self):
        first = digests(self.export(collection("prof-a")))
        prof = os.path.join(self.dir, os.path.basename(collection("prof-a")))
        paths = sorted((os.path.join(b, n) for b, _, names in os.walk(collection("prof-a")) for n in names),
                       key=lambda p: hashlib.md5(p.encode()).hexdigest())
        for p in paths:
            to = os.path.join(prof, os.path.relpath(p, collection("prof-a")))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copyfile(p, to)
        self.assertEqual(digests(self.export(prof)), first)


class Interrupted(Case):
    def test_without_an_end_everything_is_there(self):
        whole = digests(self.export(collection("collector-a/app-910b"), "--dialect", "current"))
        prof = self.copy("collector-a/app-910b")
        for p in glob.glob(prof + "/*/end_info*"):
            os.remove(p)
        out = self.export(prof, "--dialect", "current", code=None)
        self.assertIn(self.said.returncode, (0, 3))
        self.assertEqual({n for n, d in digests(out).items() if n.endswith(".csv") and d != whole.get(n)}, set())
        self.assertIn("interrupted", self.said.stdout)

    def test_cut_slices_lose_only_what_was_cut(self):
        prof = self.copy("collector-a/app-910b")
        whole = Results(self.export(prof, "--dialect", "current"))
        cut = glob.glob(prof + "/device_0/data/stars_soc.data.0.slice_0")[0]
        os.truncate(cut, os.path.getsize(cut) * 2 // 3 + 5)
        rest = Results(self.export(prof, "--dialect", "current", code=3), is_whole=False)
        n, m = len(whole.table("task_time.csv")), len(rest.table("task_time.csv"))
        self.assertTrue(n // 2 < m < n, "%d of %d tasks" % (m, n))
        self.assertEqual(rest.table("task_time.csv"), whole.table("task_time.csv")[:m])
        self.assertEqual(cross_check(rest)[0], [])
        self.assertIn("cut short", self.said.stdout + self.said.stderr)

    def test_no_device_no_host_no_settings(self):
        for what, lost in (("no device", "device_0"), ("no host", "host"),
                           ("no device settings", "device_0/info.json.0"), ("no host clock", "host/host_start.log")):
            with self.subTest(what):
                prof = self.copy("collector-a/app-910b")
                try:
                    path = os.path.join(prof, lost)
                    (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
                    out = self.export(prof, "--dialect", "current", code=None)
                    self.assertIn(self.said.returncode, (0, 3), self.said.stderr)
                    self.assertEqual(cross_check(Results(out, is_whole=False))[0], [])
                finally:
                    shutil.rmtree(prof)


class Simulated(Case):
    def sim(self, *args):
        self.n_outs += 1
        out = os.path.join(self.dir, "sim%d" % self.n_outs)
        os.mkdir(out)
        return run("sim", "--out", out, *args).stdout.strip().splitlines()[-1]

    def test_any_shape_of_job_gives_results_that_agree(self):
        for args in ((), ("--devices", "2"), ("--mhz", "48"), ("--level0",), ("--sample-based",), ("--steps", "1"),
                     ("--comm=off", "--graphs=off"), ("--slice-kib", "4"), ("--kernels", "0"), ("--tiling",),
                     ("--samplers=off", "--marks=off", "--copies=off")):
            with self.subTest(" ".join(args)):
                prof = self.sim("--kernels", "300", *args)
                wrong = cross_check(Results(self.export(prof, "--dialect", "current")))[0]
                self.assertEqual(wrong[:5], [])
                t = check_file(Results(self.export(prof, "--time-base", "start")).files["msprof.json"], double=True)
                self.assertEqual(t.problems(ALLOWED), {}, dict(t.samples))

    def test_counters_of_the_cache_have_the_names_of_their_tasks_when_ids_are_used_again(self):
        """The simulated device counts for every kernel of one kind of cores, in the order in which they run."""
        run("sim", "--out", self.dir, "--kernels", "72000", "--copies=off")
        run("export", "summary", "-dir", self.dir, "--out", os.path.join(self.dir, "out"), "--dialect", "current")
        tables = []
        for name in ("op_summary", "l2_cache"):
            path = glob.glob(os.path.join(self.dir, "out", "PROF_*", "mindstudio_profiler_output", name + "_2*.csv"))[0]
            with open(path, newline="") as f:
                tables.append(list(csv.DictReader(f)))
        ran, counted = collections.defaultdict(list), collections.defaultdict(list)
        for r in sorted(tables[0], key=lambda r: r["Task Start Time(us)"]):
            if r["Task Type"] in ("AI_CORE", "AI_VECTOR_CORE"):
                ran[r["Stream ID"]].append((r["Task ID"], r["Op Name"]))
        for r in tables[1]:
            counted[r["Stream Id"]].append((r["Task Id"], r["Op Name"]))
        self.assertGreater(len(tables[1]), len({(r["Stream Id"], r["Task Id"]) for r in tables[1]}) + 1000)
        self.assertEqual(counted.keys(), ran.keys())
        for stream in ran:
            self.assertTrue(counted[stream] == ran[stream], stream)

    def test_where_streams_are_cut_changes_nothing(self):
        whole, cut = (self.sim("--kernels", "500", "--slice-kib", kib) for kib in ("2048", "4"))
        self.assertEqual(sorted(digests(self.export(whole)).values()), sorted(digests(self.export(cut)).values()))


if __name__ == "__main__":
    ASCOPE, DATA = os.path.abspath(sys.argv[1]), os.path.join(os.path.abspath(sys.argv[2]), "tests/data")
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
