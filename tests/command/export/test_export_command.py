#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ascope export`, `query` and the names of the reference write, and where.

usage: ../export/test_export_command.py ASCOPE SOURCE_ROOT [unittest options]
"""
import csv
import glob
import json
import os
import pathlib
import re
import shutil
import stat
import sys
import tempfile
import unittest

from cli_case import ASCOPE, BROKEN, RULES, SAMPLE, SOURCE, STEP, Case, cut


class Export(Case):
    def test_all_writes_timeline_tables_database_and_readme(self):
        path = self.sample()
        r = self.ascope("export", "all", "-dir", path, "-v", code=0)
        files = self.written(path)
        for pattern in [r"^msprof_\d{14}\.db$", r"/msprof_\d{14}\.json$", r"/op_summary_\d{14}\.csv$", r"/README\.txt$"]:
            self.assertTrue(any(re.search(pattern, f) for f in files), (pattern, files))
        self.assertEqual(r.stderr, "")
        for part in ["Ascend910B", "device 0", "host node-11", "14.124 ms", "822 host calls", "MatMulV2"]:
            self.assertIn(part, r.stdout)
        for f in files:
            if not f.endswith("README.txt"):
                self.assertIn(os.path.basename(f), r.stdout)

    def test_each_word_writes_its_part(self):
        rows = [
            ("timeline", {".json", ".db", ".txt"}),
            ("summary", {".csv", ".db", ".txt"}),
            ("db", {".db"}),
        ]
        for word, endings in rows:
            with self.subTest(word):
                path = self.sample("PROF_" + word)
                self.ascope("export", word, "-dir", path, code=0)
                self.assertEqual({os.path.splitext(f)[1] for f in self.written(path)}, endings)

    def test_what_may_be_left_out_and_a_directory_may_stand_alone(self):
        path = self.sample()
        self.ascope("export", path, code=0)
        self.assertTrue(any(f.endswith(".csv") for f in self.written(path)))

    def test_ways_to_name_the_directory(self):
        path = self.sample("PROF_1")
        rows = [
            ["-dir", path],
            ["-dir=" + path],
            ["-dir", "=" + path],
            ["--collection-dir", path],
            ["--collection-dir=" + path],
            ["--dir", path],
            ["-dir", path + "///"],
            ["-dir", "PROF_1"],
            ["-dir", "./PROF_1/."],
            ["-dir", "~/PROF_1"],
            [path],
        ]
        for args in rows:
            with self.subTest(args=args):
                out = tempfile.mkdtemp(dir=self.dir)
                self.ascope("export", "db", "--out", out, *args, code=0, env={"HOME": self.dir})
                self.assertEqual(len(glob.glob(glob.escape(out) + "/PROF_1/msprof_*.db")), 1)

    def test_a_directory_of_several_exports_each(self):
        for name in ["PROF_1", "PROF_2"]:
            self.sample(name)
        os.symlink("PROF_1", os.path.join(self.dir, "PROF_3"))
        r = json.loads(self.ascope("export", "db", "-dir", ".", "--json", code=0).stdout)
        self.assertEqual([os.path.basename(c["path"]) for c in r["collections"]], ["PROF_1", "PROF_2"])

    def test_results_elsewhere_leave_the_collection_alone(self):
        path = self.sample()
        before = sorted(os.listdir(path))
        self.ascope("export", "all", "-dir", path, "--out", "else where", code=0)
        self.assertEqual(sorted(os.listdir(path)), before)
        self.assertNotEqual(self.written(os.path.join(self.dir, "else where", "PROF_1")), [])
        self.assert_one_line(self.ascope("export", "-dir", path, "--out", "no/such/place", code=1).stderr, "no/such")

    def test_modes_of_what_is_written(self):
        path = self.sample()
        old = os.umask(0)
        try:
            self.ascope("export", path, code=0)
        finally:
            os.umask(old)
        out = os.path.join(path, "mindstudio_profiler_output")
        self.assertEqual(stat.S_IMODE(os.stat(out).st_mode), 0o750)
        for f in self.written(path):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(path, f)).st_mode), 0o640, f)

    def test_format_json(self):
        path = self.sample()
        self.ascope("export", "summary", "-dir", path, "--format", "json", code=0)
        tables = [f for f in self.written(path) if f.endswith(".json")]
        self.assertTrue(tables)
        times = set()
        for f in tables:
            with open(os.path.join(path, f)) as text:
                rows = json.load(text)
            self.assertIsInstance(rows[0], dict)
            for row in rows:
                self.assertIsInstance(row.get("Count", 0), int, f)
                self.assertNotIn('"', row.get("Input Shapes", ""), f)
                for column, value in row.items():  # a time since 1970 as a number would lose its last digits
                    self.assertFalse(isinstance(value, float) and value > 1e14, (f, column, value))
                    if isinstance(value, str) and re.fullmatch(r"\d{16}\.\d{3}", value):
                        times.add(f.split(os.sep)[-1].rsplit("_", 1)[0])
        self.assertLessEqual({"dp", "nic", "op_summary", "memory_record", "operator_memory"}, times)

    def test_the_order_in_which_events_were_written_does_not_matter(self):
        def statistic(path):
            self.ascope("export", "summary", "-dir", path, code=0)
            found, = [f for f in self.written(path) if "api_statistic" in f]
            with open(os.path.join(path, found)) as text:
                return text.read()
        def backwards(data, record=40):
            return b"".join(data[i:i + record] for i in range(len(data) - record, -1, -record))
        as_written = self.sample()
        reversed_ = self.sample("PROF_2", broken=[("host/data/%s.api_event.data.slice_0" % age, backwards) for age in ("aging", "unaging")])
        self.assertEqual(statistic(as_written), statistic(reversed_))

    def check_json_kinds(self, path):
        kinds = {}
        for f in self.written(path):
            if f.endswith(".json"):
                with open(os.path.join(path, f)) as text:
                    kinds[os.path.basename(f).rsplit("_", 1)[0]] = "ph" if "ph" in json.load(text)[0] else "table"
        self.assertEqual({name: kinds.get(name) for name in ("msprof_tx", "msprof_tx_summary", "step_trace", "step_trace_summary")},
                         {"msprof_tx": "ph", "msprof_tx_summary": "table", "step_trace": "ph", "step_trace_summary": "table"})

    def test_json_tables_do_not_replace_timelines(self):
        path = self.sample()
        self.ascope("export", "all", "-dir", path, "--format", "json", code=0)
        self.check_json_kinds(path)

    def test_json_tables_do_not_replace_timelines_of_another_command(self):
        path = self.sample()
        for arguments in (["timeline"], ["summary", "--format", "json"]):  # both may be of one second
            self.ascope("export", arguments[0], "-dir", path, *arguments[1:], code=0)
        self.check_json_kinds(path)

    def test_dialects_name_columns_and_files(self):
        for args, env, wanted in [([], {}, "Block Dim"), (["--dialect", "current"], {}, "Block Num"),
                                  ([], {"ASCOPE_DIALECT": "current"}, "Block Num"),
                                  (["--dialect", "documented"], {"ASCOPE_DIALECT": "current"}, "Block Dim"),
                                  (["--dialect", "seed"], {"ASCOPE_DIALECT": "current"}, "Block Dim")]:
            with self.subTest(args=args, env=env):
                path = self.sample(f"PROF_{len(os.listdir(self.dir))}")
                self.ascope("export", "summary", "-dir", path, *args, env=env, code=0)
                file = glob.glob(glob.escape(path) + "/*/op_summary_*.csv")[0]
                with open(file) as f:
                    self.assertIn(wanted, f.readline())
                hccl = glob.glob(glob.escape(path) + "/*/hccl_statistic_*.csv")
                self.assertEqual(len(hccl), wanted == "Block Dim")

    def processes(self, path):
        with open(glob.glob(glob.escape(path) + "/*/msprof_2*.json")[0]) as f:
            return {e["args"]["name"] for e in json.load(f) if e["name"] == "process_name"}

    def test_reports_choose_processes(self):
        file = os.path.join(self.dir, "reports.json")
        rows = [
            ("those that are on", '{"json_process": {"cann": true, "ascend": false}}', {"CANN"}, None),
            ("an earlier word", '{"json_process": {"hccl": true}}', {"HCCL"}, None),
            ("an unknown word shows all", '{"json_process": {"hbm": true, "zzz": true}}', None, "zzz"),
            ("a number shows all", '{"json_process": {"hbm": 1}}', None, "true or false"),
            ("nothing inside shows all", '{"json_process": {}}', None, "json_process"),
            ("no JSON shows all", "hbm", None, "JSON"),
        ]
        for i, (what, text, wanted, note) in enumerate(rows):
            with self.subTest(what):
                path = self.sample(f"PROF_{i}")
                with open(file, "w") as f:
                    f.write(text)
                r = self.ascope("export", "timeline", "-dir", path, "-reports", file, code=0)
                if wanted:
                    self.assertEqual(self.processes(path), wanted)
                    self.assertEqual(r.stderr, "")
                else:
                    self.assertGreater(self.processes(path), {"CANN", "Ascend Hardware"})
                    self.assert_one_line(r.stderr, "-reports", note, "every process is shown")
        self.assert_one_line(self.ascope("export", "-dir", path, "-reports", "missing.json", code=2).stderr,
                             "missing.json", "cannot be read")

    def test_a_count_without_an_iteration_is_only_noted(self):
        r = self.ascope("export", "summary", self.sample(), "--iteration-count", "2", code=0)
        self.assert_one_line(r.stderr, "note", "--iteration-count 2")

    def test_a_step_writes_its_part_and_no_database(self):
        path = self.sample()
        self.ascope("export", "all", "-dir", path, *STEP, code=0)
        files = self.written(path)
        self.assertFalse(any(f.endswith(".db") for f in files), files)
        self.assertTrue(any("op_summary" in f for f in files), files)

    def test_models_and_iterations_that_do_not_exist_are_named(self):
        path = self.sample()
        r = self.ascope("export", "all", "-dir", path, "--model-id", "77", "--iteration-id", "1", code=1)
        self.assert_one_line(r.stderr, "model 77", "its models are 1, 4294967295")
        r = self.ascope("export", "all", "-dir", path, "--model-id", "1", "--iteration-id", "900", code=1)
        self.assert_one_line(r.stderr, "900", "3")

    def test_time_base_start(self):
        path = self.sample()
        self.ascope("export", "timeline", "-dir", path, "--time-base", "start", code=0)
        with open(glob.glob(glob.escape(path) + "/*/msprof_2*.json")[0]) as f:
            times = [float(e["ts"]) for e in json.load(f) if "ts" in e]
        self.assertLess(max(times), 1e9)

    def test_clear_removes_what_other_tools_left(self):
        path = self.sample()
        for folder in ["host", "device_0"]:
            os.mkdir(f"{path}/{folder}/sqlite")
            open(f"{path}/{folder}/sqlite/a.db", "w").close()
        self.ascope("export", "db", "-dir", path, code=0)
        self.assertTrue(os.path.exists(f"{path}/host/sqlite/a.db"))
        self.ascope("export", "db", "-dir", path, "--clear", code=0)
        self.assertEqual([f for f in ["host", "device_0"] if os.path.exists(f"{path}/{f}/sqlite")], [])

    def test_threads_make_no_difference(self):
        kept = []
        for n in ["1", "4"]:
            path = self.sample("PROF_1")
            self.ascope("export", "summary", "-dir", path, "--threads", n, code=0)
            kept.append({re.sub(r"\d{14}", "", f): pathlib.Path(path, f).read_bytes()
                         for f in self.written(path) if f.endswith(".csv")})
            shutil.rmtree(path)
        self.assertEqual(kept[0], kept[1])


class Analyze(Case):
    FILES = ["communication.json", "communication_analyzer.db", "communication_matrix.json"]

    def found(self, path):
        folder = os.path.join(path, "analyze")
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def test_each_name_writes_the_same_beside_the_collection(self):
        wanted = {}
        for n, (program, args) in enumerate([(ASCOPE, ["communication", "PATH"]),
                                             (self.named("msprof.py"), ["analyze", "-dir", "PATH", "-r=" + RULES]),
                                             (self.named("msprof"), ["--analyze=on", "--output=PATH"])]):
            path = self.sample("PROF_%d" % n)
            r = self.run_as(program, *[a.replace("PATH", path) for a in args], code=0)
            self.assertEqual(r.stderr, "")
            self.assertIn("communication_matrix.json", r.stdout)
            self.assertEqual(self.found(path), self.FILES)
            self.assertEqual(self.written(path), [])
            for name in self.FILES[::2]:
                with open(os.path.join(path, "analyze", name)) as f:
                    text = f.read()
                self.assertEqual(text, wanted.setdefault(name, text))
                json.loads(text)

    def test_rules_and_types_choose_files(self):
        for args, wanted in [(["--rule", "communication"], self.FILES[:2]), (["-r", "communication_matrix"], self.FILES[1:]),
                             (["--rule", RULES, "--type", "db"], self.FILES[1:2])]:
            with self.subTest(args):
                out = os.path.join(self.dir, "out" + str(len(args)) + wanted[0])
                r = self.ascope("communication", self.sample_path(), "--out", out, "--json", *args, code=0)
                report = json.loads(r.stdout)["collections"][0]
                self.assertEqual(self.found(os.path.join(out, os.path.basename(SAMPLE))), wanted)
                self.assertEqual(sorted(os.path.basename(f["path"]) for f in report["files"]), wanted)

    def sample_path(self):
        return os.path.join(SOURCE, SAMPLE)

    def test_what_it_cannot_do(self):
        path = self.sample(broken=[("host/sample.json", lambda d: re.sub(rb'"(profLevel|prof_level)": *"[^"]*"', rb'"\1": "l0"', d)),
                                   ("device_0/sample.json",
                                    lambda d: re.sub(rb'"(profLevel|prof_level)": *"[^"]*"', rb'"\1": "l0"', d))])
        self.assert_one_line(self.ascope("communication", path, code=1).stderr, "level 0")
        r = self.run_as(self.named("msprof.py"), "analyze", "-dir", path, "--rule", "communication", code=0)
        self.assert_one_line(r.stderr, "note: ", "level 0")
        self.assertEqual(self.found(path), [])
        for rule in ["all", "", "communication,", "communication;communication_matrix"]:
            self.assert_one_line(self.ascope("communication", path, "--rule", rule, code=2).stderr, "--rule", "communication_matrix")
        self.assert_one_line(self.run_as(self.named("msprof.py"), "analyze", "-dir", path, code=2).stderr, "--rule")
        self.assert_one_line(self.ascope("communication", "nowhere", code=2).stderr, "nowhere")


class Query(Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(SOURCE, "tests/data/prof-a/expected/query.txt")) as f:
            self.wanted = f.read()

    def test_lists_models_and_iterations_as_the_reference_does(self):
        path = self.sample()
        for program, args in [(ASCOPE, ["query", path]), (self.named("msprof.py"), ["query", "-dir", path]),
                              (self.named("msprof"), ["--query=on", f"--output={path}"])]:
            r = self.run_as(program, *args, code=0)
            last = f"[INFO] Process profiling data complete. Data is saved in {path}\n" if "msprof" == os.path.basename(program) else ""
            self.assertEqual((r.stdout, r.stderr), (self.wanted + last, ""))
        self.assertEqual(self.written(path), [])

    def test_several_collections_are_one_table(self):
        self.sample("PROF_1")
        self.sample("PROF_2", broken=[("host/data/aging.api_event.data.slice_0", cut(10))])
        r = self.ascope("query", ".", code=3)
        self.assertEqual(r.stdout.count("Job Info"), 1)
        self.assertEqual(r.stdout.count("device_0"), 2 * self.wanted.count("device_0"))

    def test_files_that_it_does_not_need_are_not_read(self):
        tasks = self.sample("PROF_1", broken=BROKEN)
        counters = self.sample("PROF_2", broken=[("device_0/data/ffts_profile.data.0.slice_0", cut(10))])
        for path, why in ((tasks, 3), (counters, 0)):
            self.ascope("query", path, code=0)
            self.ascope("why", path, code=why)
            self.ascope("export", "db", path, code=3)

    def typed(self, path, number, *options, code=0):
        r = self.run_as(self.named("msprof.py"), "query", "-dir", path, "--data-type", str(number), *options, code=code)
        return json.loads(r.stdout) if r.stdout else r.stderr

    def test_steps_are_those_of_the_reference(self):
        path = self.sample("job/PROF_1")
        job = os.path.dirname(path)
        with open(os.path.join(SOURCE, "tests/data/prof-a/expected/all/step_trace.csv"), newline="") as f:
            rows = [{key: value.strip() for key, value in row.items() if key and value} for row in csv.DictReader(f)]
        for model, options, name in ((1, ["--id", "0"], "0_1_-1"), (4294967295, ["--id", "-1", "--iteration-id", "2"], "-1_4294967295_2")):
            wanted = [row for row in rows if int(row["Model ID"]) == model and (model == 1 or row["Iteration ID"] == "2")]
            answer = self.typed(job, 1, "--model-id", str(model), *options)
            self.assertEqual(answer, {"status": 0, "info": "", "data": os.path.realpath(job) + "/query/step_trace_%s.json" % name})
            with open(answer["data"]) as f:
                steps = json.load(f, parse_float=str)
            self.assertEqual([(s["ID"], s["Model ID"], s["Iteration ID"]) for s in steps], [(0, model, int(row["Iteration ID"])) for row in wanted])
            for step, row in zip(steps, wanted):
                for key, column in (("Iteration Time", "Iteration Time(us)"), ("FP to BP Time", "FP to BP Time(us)"),
                                    ("Iteration Interval", "Data Aug Bound(us)"), ("Iteration Refresh", "Iteration Refresh(us)")):
                    self.assertEqual(step[key], "%.2f" % float(row[column]) if float(row[column]) else "N/A", key)
                for key, column in (("FP Start", "FP Start(us)"), ("BP End", "BP End(us)"), ("Iteration End", "Iteration End(us)")):
                    self.assertEqual(step[key], row[column] if float(row[column]) else "N/A", key)
                self.assertAlmostEqual(float(step["Iteration Start"]), float(step["Iteration End"]) - float(step["Iteration Time"]), delta=0.6)

    def test_whether_collections_are_ranks_of_a_job(self):
        one = os.path.dirname(self.sample("job/PROF_1"))
        self.assertEqual(self.typed(one, 0), {"status": 0, "info": "", "data": "1"})
        self.assertEqual(self.typed(one + "/PROF_1", 0)["data"], "0")
        self.sample("job/PROF_2")  # the same rank again
        self.assertEqual(self.typed(one, 0)["data"], "0")

    def test_what_it_cannot_answer(self):
        self.assert_one_line(self.ascope("query", "nowhere", code=2).stderr, "nowhere")
        path = self.sample()
        for number in range(2, 11):
            self.assert_one_line(self.typed(path, number, code=1), "--data-type %d" % number, "ascope ")
        for options in ([], ["--id", "0"], ["--id", "x", "--model-id", "1"], ["--id", "-1", "--model-id", "1"],
                        ["--id", "0", "--model-id", "1", "--iteration-id", "1"]):
            self.assert_one_line(self.typed(path, 1, *options, code=1), "--data-type 1")
        self.assertEqual(self.typed(path, 1, "--id", "7", "--model-id", "1", code=1)["status"], 1)
        self.assertEqual(self.written(path), [])



if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
