#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope analyse: which directories it finds, what it leaves in them, and how it ends.

usage: test_analyse.py ASCOPE SOURCE_ROOT [unittest options]
"""
import collections
import csv
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE = SOURCE = None
RESULTS = "ASCEND_PROFILER_OUTPUT"


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope pt é ")  # a path with spaces and non-ASCII
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def sample(self, which="npu", name=None):
        """A writable copy of a sample."""
        raw = glob.glob(os.path.join(SOURCE, "tests/data/pt-a-%s/raw/*_ascend_pt" % which))[0]
        path = os.path.join(self.dir, name or os.path.basename(raw))
        shutil.copytree(raw, path, copy_function=shutil.copyfile)
        for top, _, _ in os.walk(path):
            os.chmod(top, 0o755)
        return path

    def settings(self, path, change):
        """Changes profiler_info*.json."""
        file = glob.glob(glob.escape(path) + "/profiler_info*.json")[0]
        with open(file) as f:
            info = json.load(f)
        change(info)
        with open(file, "w") as f:
            json.dump(info, f)

    def ascope(self, *args, code=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")}
        r = subprocess.run([ASCOPE, "analyse", *args], capture_output=True, text=True, env=env, cwd=self.dir, timeout=120)
        if code is not None:
            self.assertEqual(r.returncode, code, f"{args}: {r.stdout}{r.stderr}")
        return r

    def results(self, path):
        return set(os.listdir(os.path.join(path, RESULTS)))


class Options(Case):
    def test_every_option_holds_for_collections_and_for_prof_directories(self):
        prof = glob.glob(os.path.join(SOURCE, "tests/data/prof-a/PROF_*"))[0]
        for given, timeline in ((self.sample(), RESULTS + "/trace_view.json"), (prof, "mindstudio_profiler_output/msprof_2*.json")):
            with self.subTest(given=os.path.basename(given)):
                out = os.path.join(self.dir, "out")
                self.ascope("-q", "--pretty", "--time-base", "start", "--export-type", "text", "--out", out, given)
                path, = glob.glob(os.path.join(glob.escape(os.path.join(out, os.path.basename(given))), timeline))
                with open(path) as f:
                    text = f.read()
                events = json.loads(text)
                self.assertGreaterEqual(text.count("\n"), len(events) - 1)  # one event per line
                self.assertLess(max(float(e["ts"]) for e in events if "ts" in e), 1e12)  # since 1970 it is more


class Finding(Case):
    def test_a_collection_by_itself_by_its_parent_and_from_inside(self):
        path = self.sample()
        for words in ([path], [self.dir], ["."], ["-dir", path], [path + "/"]):
            shutil.rmtree(os.path.join(path, RESULTS), ignore_errors=True)
            self.ascope("-q", *words, code=0)
            self.assertIn("analyse.done", self.results(path), words)

    def test_all_ranks_of_a_job_in_one_table_whoever_ends_first(self):
        names = ["r%02d_ascend_pt" % i for i in range(12)]
        for i, n in enumerate(names):
            self.settings(self.sample("npu" if i % 3 == 0 else "host", n), lambda info, i=i: info.update(rank_id=i))
        tables = set()
        for threads in "1", "4":
            r = self.ascope(self.dir, "--threads", threads, "--max-process-number", "3", code=0)
            tables.add(r.stdout)
            self.assertEqual(sorted(line.split()[-1] for line in r.stdout.splitlines() if "_ascend_pt" in line), names)
            self.assertEqual(r.stderr, "")
            reported = self.ascope(self.dir, "--threads", threads, "-v", code=0).stdout.splitlines()
            self.assertEqual([line.rsplit("/", 1)[1] for line in reported if line.endswith("_ascend_pt") and "/" in line], names)
        self.assertEqual(len(tables), 1)

    def test_a_rank_that_is_there_twice_is_reported(self):
        for i, n in enumerate(("a", "b", "c", "d")):
            self.settings(self.sample("host", n + "_ascend_pt"), lambda info, i=i: info.update(rank_id=i % 3))
        r = self.ascope(self.dir, code=0)
        self.assertEqual(r.stderr, "ascope: rank 0: in 2 directories, a_ascend_pt and d_ascend_pt; they belong to different runs, "
                                   "or to processes without a rank of their own\n")
        self.assertEqual(r.stdout.count("\n0*  "), 2, r.stdout)
        report = json.loads(self.ascope(self.dir, "--json", code=0).stdout)
        self.assertEqual(sorted((row["rank"], row["duplicate"]) for row in report["ranks"]),
                         [(0, True), (0, True), (1, False), (2, False)])

    def test_ranks_without_a_directory_are_reported_in_one_line(self):
        paths = [self.sample("host", "r%d_ascend_pt" % i) for i in range(7)]
        what = ": no directory; the comparison of ranks is incomplete\n"
        for ranks, said in (((0, 1, 2, 3, 4, 5, 6), None), ((0, 1, 3, 4, 5, 6, 7), "rank 2"), ((9, 3, 0, 1, 4, 8, 5), "ranks 2, 6-7"),
                            ((6, 7, 8, 9, 10, 11, 12), "ranks 0-5"),
                            ((1, 3, 5, 7, 9, 11, 1 << 40), "ranks 0, 2, 4, 6, 8, ..."), ((0, 0, 1, 1, 2, 2, 4), "rank 3")):
            for path, rank in zip(paths, ranks):
                self.settings(path, lambda info, rank=rank: info.update(rank_id=rank))
            lines = [line for line in self.ascope(self.dir, code=0).stderr.splitlines(True) if " directories, " not in line]
            self.assertEqual(lines, ["ascope: " + said + what] if said else [], ranks)

    def test_one_that_fails_stops_no_other(self):
        bad, good = self.sample("npu", "a_ascend_pt"), self.sample("npu", "b_ascend_pt")
        for f in glob.glob(glob.escape(bad) + "/PROF_*"):
            shutil.rmtree(f)
        for f in glob.glob(glob.escape(bad) + "/FRAMEWORK/*"):
            os.remove(f)
        r = self.ascope(self.dir, "-q", code=3)
        self.assertIn("a_ascend_pt", r.stderr)
        self.assertIn("analyse.done", self.results(good))

    def test_a_prof_directory_without_a_framework_is_exported(self):
        prof = os.path.join(self.dir, "PROF_000001_20240601080000011_ABC")
        shutil.copytree(glob.glob(os.path.join(SOURCE, "tests/data/prof-a/PROF_*"))[0], prof,
                        copy_function=shutil.copyfile)
        for top, _, _ in os.walk(prof):
            os.chmod(top, 0o755)
        self.ascope(prof, "-q", code=0)
        self.assertTrue(glob.glob(glob.escape(prof) + "/mindstudio_profiler_output/msprof_*.json"))

    def test_collections_in_directories_below_are_found(self):
        def found(levels):
            made = [os.path.join(self.dir, "job", *levels, host) for host in ("node0", "node1")]
            for i, place in enumerate(made):
                subprocess.run([ASCOPE, "sim", "--framework", "pt", "--kernels", "5", "--seed", str(i), "--out", place], check=True, stdout=subprocess.DEVNULL)
            r = subprocess.run([ASCOPE, "info", "job", "--json"], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            shutil.rmtree(os.path.join(self.dir, "job"))
            return [os.path.dirname(one["path"]) for one in json.loads(r.stdout)["collections"] if one["path"].endswith("_ascend_pt")] if r.returncode == 0 else r.stderr
        self.assertEqual(found([]), ["job/node0", "job/node1"])
        self.assertEqual(found(["a", "b"]), ["job/a/b/node0", "job/a/b/node1"])
        self.assertIn("contains no collection", found(["a", "b", "c"]))

    def test_results_without_what_was_recorded(self):
        os.makedirs(os.path.join(self.dir, "x_ascend_pt/ASCEND_PROFILER_OUTPUT"))
        with open(os.path.join(self.dir, "x_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"), "w", encoding="utf-8") as f:
            f.write("[]")
        r = subprocess.run([ASCOPE, "analyse", "x_ascend_pt"], cwd=self.dir, stderr=subprocess.PIPE, text=True)
        self.assertEqual(r.returncode, 1)
        self.assertRegex(r.stderr, r"\A.*x_ascend_pt: has results, but no recorded data; ascope view, why, .* read that\n\Z")

    def test_wrong_words_are_answered_with_one_line(self):
        for words, code, part in (([], 2, "missing directory"), (["no such"], 5, "no such"),
                                  ([self.dir], 1, "contains no collection"),
                                  ([self.dir, "--export-type", "csv"], 4, "text, db")):
            r = self.ascope(*words, code=None)
            self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
            self.assertIn(part, r.stderr)
            self.assertNotEqual(r.returncode, 0)


class Results(Case):
    def test_what_is_there_afterwards_is_of_this_run(self):
        path = self.sample()
        stale = os.path.join(path, RESULTS, "op_statistic.csv")
        os.mkdir(os.path.dirname(stale))
        with open(stale, "w") as f:
            f.write("old\n")
        self.settings(path, lambda info: info["config"]["experimental_config"].update(_profiler_level="Level0"))
        self.ascope(path, "-q", code=0)
        self.assertFalse(os.path.exists(stale), "Level0 has no op_statistic")

    def test_files_of_the_other_export_type_stay(self):
        path = self.sample()
        self.ascope(path, "-q", "--export-type", "text", code=0)
        before = self.results(path)
        self.ascope(path, "-q", "--export-type", "db", code=0)
        self.assertGreater(self.results(path), before)
        self.assertTrue(any(f.endswith(".db") for f in self.results(path) - before))

    def test_the_export_type_is_the_recorded_one(self):
        for recorded, has_text, has_db in (("db", False, True), (["text"], True, False), (["text", "db"], True, True)):
            path = self.sample(name="x_ascend_pt")
            self.settings(path, lambda info: info["config"]["experimental_config"].update(_export_type=recorded))
            self.ascope(path, "-q", code=0)
            found = self.results(path)
            self.assertEqual(("trace_view.json" in found, "ascend_pytorch_profiler_0.db" in found), (has_text, has_db))
            shutil.rmtree(path)

    def test_same_bytes_whatever_the_number_of_threads(self):
        path = self.sample()
        made = []
        for threads in "1", "5":
            out = os.path.join(self.dir, "out" + threads)
            self.ascope(path, "-q", "--export-type", "text,db", "--threads", threads, "--out", out, code=0)
            folder = os.path.join(out, os.path.basename(path), RESULTS)
            made.append({f: open(os.path.join(folder, f), "rb").read() for f in os.listdir(folder)})
        self.assertEqual(made[0].keys(), made[1].keys())
        for f in made[0]:
            self.assertTrue(made[0][f] == made[1][f], f)

    def test_simplification_takes_exports_and_leaves_raw_data(self):
        for words, simplifies in ([], True), (["--simplify=off"], False):
            path = self.sample(name="y_ascend_pt")
            prof = glob.glob(glob.escape(path) + "/PROF_*")[0]
            raw = sorted(glob.glob(glob.escape(prof) + "/**/*", recursive=True))
            exported = [os.path.join(prof, d) for d in ("analyze", "mindstudio_profiler_output", "device_0/summary")]
            always = os.path.join(prof, "host/sqlite")
            for d in exported + [always]:
                os.mkdir(d)
                with open(os.path.join(d, "f"), "w") as f:
                    f.write("x")
            self.ascope(path, "-q", *words, code=0)
            self.assertFalse(os.path.exists(always))
            self.assertEqual([os.path.exists(d) for d in exported], [not simplifies] * 3)
            self.assertLessEqual(set(raw), set(glob.glob(glob.escape(prof) + "/**/*", recursive=True)))
            shutil.rmtree(path)

    def test_a_log_says_what_was_done(self):
        path = self.sample()
        self.ascope(path, "-q", code=0)
        logs = glob.glob(glob.escape(path) + "/logs/profiler_*_ascope.log")
        self.assertEqual(len(logs), 1)
        with open(logs[0]) as f:
            text = f.read()
        for part in "422 operators", "trace_view.json", "[INFO]":
            self.assertIn(part, text)

    def test_lines_of_tables_end_as_the_reference_ends_them(self):
        path = self.sample()
        self.ascope(path, "-q", code=0)
        for f in glob.glob(glob.escape(os.path.join(path, RESULTS)) + "/*.csv"):
            with open(f, newline="") as table:
                text = table.read()
            self.assertTrue(text.endswith("\r\n"), f)
            with open(f, newline="") as table:
                widths = {len(row) for row in csv.reader(table)}
            self.assertEqual(len(widths), 1, "%s: rows of %s cells" % (f, widths))

    def test_json_is_one_object(self):
        self.sample("npu", "a_ascend_pt")
        self.sample("host", "b_ascend_pt")
        report = json.loads(self.ascope(self.dir, "--json", code=0).stdout)
        self.assertEqual([os.path.basename(d["path"]) for d in report["directories"]], ["a_ascend_pt", "b_ascend_pt"])
        self.assertEqual(report["exit_code"], 0)
        self.assertTrue(all(d["files"] for d in report["directories"]))


    def test_the_steps_of_the_summary_are_those_of_the_table(self):
        path = self.sample()
        report = json.loads(self.ascope(path, "--json", "--top", "1000", code=0).stdout)["directories"][0]
        with open(os.path.join(path, RESULTS, "step_trace_time.csv"), newline="") as f:
            table = list(csv.DictReader(f))
        self.assertEqual([r["Step"] for r in table], [s["step"] for s in report["steps"]])
        for row, step in zip(table, report["steps"]):
            for column, keys in (("Computing", ("computing_us", "overlapped_us")), ("Overlapped", ("overlapped_us",)),
                                 ("Communication(Not Overlapped)", ("communication_us",))):
                self.assertAlmostEqual(float(row[column]), sum(step[k] for k in keys), 3, column)
            busy = step["computing_us"] + step["overlapped_us"] + step["communication_us"]
            self.assertAlmostEqual(step["free_us"], max(step["time_us"] - busy, 0), 3)  # what is left of the step
        self.assertEqual(report["top_on_device"][0]["name"], "aten::bmm")
        runs = {row["name"]: row["count"] for row in report["top_on_host"]}
        self.assertEqual([row for row in report["top_on_device"] if row["count"] > runs[row["name"]]], [])  # not tasks, of which a run may start several
        with open(os.path.join(path, RESULTS, "trace_view.json")) as f:
            calls = collections.Counter(e["name"] for e in json.load(f) if e.get("cat") == "python_function")
        self.assertEqual({row["name"]: row["count"] for row in report["top_in_python"]}, calls)
        text = self.ascope(path, code=0).stdout
        for part in "step  ", "aten::bmm", "self time of Python functions", "peak memory", "analysing":
            self.assertIn(part, text)
        self.assertRegex(self.ascope(path, "--steps", "0", "-v", code=0).stdout, r"step_trace_time\.csv +1 row +\d")


    def test_a_chosen_step_is_shown_against_all(self):
        path = self.sample()
        steps = json.loads(self.ascope(path, "--json", code=0).stdout)["directories"][0]["steps"]
        text = self.ascope(path, "--steps", steps[1]["step"], code=0).stdout
        self.assertIn("\n  %d steps, median " % len(steps), text)
        self.assertEqual([s["step"] for s in json.loads(self.ascope(path, "--steps", steps[1]["step"], "--json", code=0)
                                                        .stdout)["directories"][0]["steps"]], [steps[1]["step"]])

    def test_a_recording_of_the_host_alone_has_its_steps_too(self):
        report = json.loads(self.ascope(self.sample("host"), "--json", code=0).stdout)["directories"][0]
        self.assertTrue(report["steps"])
        for s in report["steps"]:
            self.assertIsNone(s["device"])
            self.assertAlmostEqual(s["time_us"], s["computing_us"] + s["free_us"], 3)


class Answers(Case):
    """What was put into a simulated job is what the report finds."""

    def job(self, *args):
        out = os.path.join(self.dir, "job")
        subprocess.run([ASCOPE, "sim", "--kernels", "4000", "--steps", "16", *args, "--out", out], check=True, stdout=subprocess.DEVNULL)
        command = "analyse" if "pt" in args else "export"
        r = subprocess.run([ASCOPE, command, out, "--json"], capture_output=True, text=True, timeout=120)
        self.assertEqual(r.returncode, 0, r.stderr)
        report = json.loads(r.stdout)
        text = subprocess.run([ASCOPE, command, out], capture_output=True, text=True, timeout=120,
                              env=dict(os.environ, LC_ALL="C")).stdout
        return report.get("directories") or report["collections"], report.get("ranks"), text

    def slow(self, collection):
        """The first step of each finding, with the largest cause and the line about it."""
        judged = [f for f in collection["step_medians"][0]["judged"] if f["shape"] != "start_up"]
        return {f["first"]: (max(f["causes"], key=f["causes"].get), f["because"]) for f in judged}

    def test_a_slow_step(self):
        (rank,), _, text = self.job("--framework", "pt", "--slow-step", "14:10")
        self.assertEqual([(first, cause) for first, (cause, _) in self.slow(rank).items()], [("14", "longer")])
        finding, = (f for f in rank["step_medians"][0]["judged"] if f["first"] == "14")
        self.assertGreater(finding["causes"]["longer"], 5 * rank["step_medians"][0]["time_us"])
        self.assertRegex(text[:text.index("device time of operators")], r"16 steps, median .*, slowest .*, 1 slow\n.*\n    14 .*(\n.*)+\n    step 14 is slow, once: .*\n      longer runs \+")
        bars = re.findall(r"^    \d+ +.* ([#+=.>]+)$", text[:text.index("device time of operators")], re.M)
        self.assertRegex(bars[0], r"^[#+=.]{23}>$")  # ten times the median: cut at four times
        self.assertTrue(all(5 <= len(bar) <= 7 and bar[-1] != ">" for bar in bars[1:]), bars)

    def test_a_stall_of_one_rank_makes_the_others_wait(self):
        """Beside each other there is one verdict; each by itself explains what it knows."""
        ranks, _, text = self.job("--framework", "pt", "--ranks", "2", "--stall", "14:220ms:1")
        self.assertEqual([self.slow(rank) for rank in ranks], [{}, {}])
        self.assertRegex(text, r"\nstep 14 is slow, once: .* because of rank 1, .*\n  waiting for data \+2[12]\d\.\d+ ms \(\d+ %\): enumerate\(DataLoader\)")
        alone = [self.slow(json.loads(self.ascope(rank["path"], "--json", code=0).stdout)["directories"][0]) for rank in ranks]
        self.assertEqual([of["14"][0] for of in alone], ["wait", "data"])

    def test_the_same_of_prof_directories(self):
        ranks, _, text = self.job("--ranks", "2", "--stall", "14:220ms:1")
        self.assertEqual([self.slow(r)["15"][0] for r in ranks], ["wait", "host"])  # counted from 1 there
        self.assertIn(" waiting for ranks +", text)

    def test_a_stall_without_a_device(self):
        (collection,), _, _ = self.job("--framework", "pt", "--kernels", "0", "--operators", "4000", "--stall", "14:220ms")
        cause, because = self.slow(collection)["14"]
        self.assertEqual(cause, "data")
        self.assertIn("DataLoader", because)
        self.assertIsNone(collection["steps"][0]["device"])

    def test_a_slow_rank_is_first_in_a_table_with_one_scale(self):
        _, ranks, text = self.job("--framework", "pt", "--ranks", "6", "--slow-rank", "3:1.5")
        self.assertEqual([(r["rank"], r["more_in"]) for r in ranks if r["slow"]], [(3, "computing")])
        self.assertEqual(ranks[0]["rank"], 3)
        self.assertAlmostEqual(ranks[0]["more_us"] / (ranks[0]["computing_us"] + ranks[0]["overlapped_us"]), 1 / 3, delta=0.01)
        table = text[text.index("rank "):].splitlines()
        self.assertRegex(table[1], "^3 ")
        self.assertRegex(text, r"\nrank 3 is slow in each step: .* without communication, rank \d .*; the others wait .* for it \(.* of the run\), most of it computing\n")
        work = {line.split()[0]: line.count("#") + line.count("+") for line in table[1:7]}
        self.assertTrue(all(work["3"] > 1.3 * n for rank, n in work.items() if rank != "3"), work)


class Tables(Case):
    """Which columns tables have, and when they are there."""

    SHAPES = [f"{way} {what}" for way in ("Input", "Output") for what in ("Shapes", "Data Types", "Formats")]

    def table(self, path, name, *args):
        self.ascope("-q", path, *args, code=0)
        with open(os.path.join(path, RESULTS, name), newline="") as f:
            return list(csv.reader(f))

    def level(self, path, level):
        self.settings(path, lambda info: info["config"]["experimental_config"].update(_profiler_level=level))

    def test_columns_of_kernel_details(self):
        few = ["Name", "Type", "Accelerator Core", "Start Time(us)", "Duration(us)", "Wait Time(us)"]
        path = self.sample()
        for level, dialect, first, last in [
            ("Level0", "documented", ["Step Id", *few, "Block Dim"], None),
            ("Level0", "current", ["Step Id", "Device_id", *few, "Block Num", *self.SHAPES], None),
            ("Level1", "documented", ["Step Id", "Model ID", "Task ID", "Stream ID", "Name", "Type", "OP State",
                                "Accelerator Core"], "cube_utilization(%)"),
            ("Level2", "current", ["Step Id", "Device_id", "Model ID"], "cube_utilization(%)"),
        ]:
            self.level(path, level)
            header = self.table(path, "kernel_details.csv", "--dialect", dialect)[0]
            self.assertEqual(header[:len(first)], first, (level, dialect))
            self.assertEqual(header[-1], last or first[-1], (level, dialect))

    def test_only_newer_tables_of_steps_name_the_device(self):
        path = self.sample()
        for dialect, first in ("documented", "Step"), ("current", "Device_id"):
            self.assertEqual(self.table(path, "step_trace_time.csv", "--dialect", dialect)[0][0], first)

    def test_what_a_level_does_not_know_is_not_there(self):
        path = self.sample()
        self.level(path, "Level_none")
        self.ascope("-q", path, code=0)
        self.assertFalse(self.results(path) & {"kernel_details.csv", "step_trace_time.csv"})
        self.assertIn("operator_details.csv", self.results(path))

    def test_without_the_device_operators_remain(self):
        path = self.sample("host")
        rows = self.table(path, "operator_details.csv")
        self.assertEqual({tuple(r[5:]) for r in rows[1:]}, {("0", "0", "0", "0")})
        self.assertFalse(self.results(path) & {"kernel_details.csv", "step_trace_time.csv"})

    def test_without_pytorch_there_are_no_steps(self):
        path = self.sample()
        shutil.rmtree(os.path.join(path, "FRAMEWORK"))
        self.settings(path, lambda info: info["config"]["common_config"].update(activities=["ProfilerActivity.NPU"]))
        self.assertEqual(self.table(path, "kernel_details.csv")[0][0], "Model ID")
        rows = self.table(path, "step_trace_time.csv")
        self.assertEqual([r[0] for r in rows], ["Step", ""])

    def test_without_a_queue_operators_start_what_their_own_thread_launches(self):
        path = self.sample()
        queued = self.table(path, "operator_details.csv")
        steps = self.table(path, "step_trace_time.csv")
        os.remove(os.path.join(path, "FRAMEWORK/torch.op_mark"))
        launched = self.table(path, "operator_details.csv")
        self.assertEqual([r[:5] for r in queued], [r[:5] for r in launched])
        self.assertGreater(sum(float(r[5]) for r in queued[1:]), 0)
        self.assertEqual(sum(float(r[5]) for r in launched[1:]), 0)  # all launches are the queue's thread's, which has no operators
        self.assertEqual([r[0] for r in steps], [r[0] for r in self.table(path, "step_trace_time.csv")])

    def test_device_time_is_that_of_the_operators_inside(self):
        rows = self.table(self.sample(), "operator_details.csv")[1:]
        for total, own in (6, 5), (8, 7):
            self.assertTrue(all(float(r[total]) >= float(r[own]) - 1e-6 for r in rows))
        self.assertTrue(all(float(r[5]) >= float(r[7]) for r in rows))


    def test_only_newer_tables_of_components_name_the_device_twice(self):
        path = self.sample()
        columns = ["Component", "Timestamp(us)", "Total Reserved(MB)", "Device"]
        for dialect, first in ("documented", []), ("current", ["Device_id"]):
            self.assertEqual(self.table(path, "npu_module_mem.csv", "--dialect", dialect)[0], first + columns)
        self.level(path, "Level_none")
        self.ascope("-q", path, code=0)
        self.assertNotIn("npu_module_mem.csv", self.results(path))

    def test_pytorch_reports_of_the_memory_of_devices_even_where_only_these_were_asked_for(self):
        path = self.sample()
        both, lives = self.table(path, "memory_record.csv"), self.table(path, "operator_memory.csv")
        self.settings(path, lambda info: info["config"]["common_config"].update(activities=["ProfilerActivity.NPU"]))
        self.assertEqual(self.table(path, "memory_record.csv"), both)
        nameless = self.table(path, "operator_memory.csv")
        self.assertEqual([r[1:] for r in nameless], [r[1:] for r in lives])
        self.assertEqual({r[0] for r in nameless[1:] if r[13]}, {""})
        self.assertNotIn("operator_details.csv", self.results(path))

    def communication(self, path, name):
        with open(os.path.join(path, RESULTS, name)) as f:
            return json.load(f)

    def test_without_steps_communication_is_in_one_that_has_no_number(self):
        path = self.sample()
        self.ascope("-q", path, code=0)
        of_steps = self.communication(path, "communication.json")
        os.remove(os.path.join(path, "FRAMEWORK/torch.op_range"))
        self.ascope("-q", path, code=0)
        for name in "communication.json", "communication_matrix.json":
            self.assertEqual(list(self.communication(path, name)), ["step"])
        whole = self.communication(path, "communication.json")["step"]["collective"]
        parts = {op for step in of_steps.values() for op in step["collective"]}
        self.assertEqual(set(whole), parts)
        elapsed = lambda kind: kind["Total Op Info"]["Communication Time Info"]["Elapse Time(ms)"]
        self.assertAlmostEqual(elapsed(whole), sum(elapsed(step["collective"]) for step in of_steps.values()))


class Damage(Case):
    def test_what_is_missing_is_reported_and_the_rest_is_written(self):
        def remove(pattern):
            return lambda path: [shutil.rmtree(f) if os.path.isdir(f) else os.remove(f)
                                 for f in glob.glob(glob.escape(path) + pattern)]

        for what, change, code, has in (
                ("no device", remove("/PROF_*"), 3, "operator_details.csv"),
                ("no framework", remove("/FRAMEWORK"), 3, "kernel_details.csv"),
                ("no settings", remove("/profiler_info*"), 3, "trace_view.json"),
                ("no metadata", remove("/profiler_metadata.json"), 0, "trace_view.json"),
                ("no operators", remove("/FRAMEWORK/torch.op_range"), 0, "trace_view.json"),
                ("no queue", remove("/FRAMEWORK/torch.op_mark"), 0, "operator_details.csv"),
                ("no device folder", remove("/PROF_*/device_0"), 0, "operator_details.csv")):
            path = self.sample(name="z_ascend_pt")
            change(path)
            with self.subTest(what):
                self.ascope(path, "-q", code=code)
                self.assertIn(has, self.results(path))
            shutil.rmtree(path)

    def operators(self, path):
        """-> how long each operator took, by name"""
        trace = os.path.join(path, "ASCEND_PROFILER_OUTPUT", "trace_view.json")
        with open(trace) as f:
            return sorted((e["name"], e["dur"]) for e in json.load(f) if e.get("cat") == "cpu_op")

    def test_ticks_stay_ticks_without_profiler_info(self):
        """What the frequency is found in instead: the PROF directory, or what ascope's recorder noted."""
        for what, which, gone in (("beside a PROF directory", "pt-a-npu", []), ("recorded by ascope", "own-training", ["/PROF_*"])):
            raw = glob.glob(os.path.join(SOURCE, "tests/data", which, "raw/*_ascend_pt"))[0]
            took = []
            for remove in ([], gone + ["/profiler_info*"]):
                path = os.path.join(self.dir, "t%d_ascend_pt" % len(took))
                shutil.copytree(raw, path, copy_function=shutil.copyfile)
                for top, _, _ in os.walk(path):
                    os.chmod(top, 0o755)
                for f in [f for pattern in remove for f in glob.glob(glob.escape(path) + pattern)]:
                    shutil.rmtree(f) if os.path.isdir(f) else os.remove(f)
                self.ascope(path, "-q", code=3 if remove else None)
                took.append(self.operators(path))
                shutil.rmtree(path)
            with self.subTest(what):
                self.assertGreater(len(took[0]), 20)
                self.assertEqual([n for n, _ in took[0]], [n for n, _ in took[1]])
                for (name, before), (_, after) in zip(*took):  # the recorder noted the frequency with fewer digits
                    self.assertAlmostEqual(before, after, delta=max(0.002, before / 1e6), msg=name)

    def test_times_that_nobody_can_read_are_refused(self):
        path = self.sample("host")
        os.remove(glob.glob(glob.escape(path) + "/profiler_info*.json")[0])
        r = self.ascope(path, code=1)
        self.assertEqual(len(r.stderr.splitlines()), 1)
        for word in ("profiler_info", "nanoseconds or counter ticks", "syscnt_enable"):
            self.assertIn(word, r.stderr)
        with open(os.path.join(path, "profiler_info_0.json"), "w") as f:
            f.write('{"start_info": {"syscnt_enable": false}}')
        self.ascope(path, "-q", code=0)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_directory_that_may_not_be_read(self):
        path = self.sample()
        os.chmod(path, 0)
        r = self.ascope(path, code=1)
        os.chmod(path, 0o755)
        self.assertIn("Permission denied", r.stderr)

    def test_a_file_where_the_results_should_go(self):
        path = self.sample()
        with open(os.path.join(path, RESULTS), "w"):
            pass
        r = self.ascope(path, "-q", code=1)
        self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
        self.assertIn(RESULTS, r.stderr)


if __name__ == "__main__":
    ASCOPE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
