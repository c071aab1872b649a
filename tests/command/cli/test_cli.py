#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line: what it takes, what it prints where, and how it ends.

usage: test_cli.py ASCOPE SOURCE_ROOT [unittest options]
"""
import csv
import fcntl
import glob
import json
import os
import pathlib
import pty
import re
import shutil
import sqlite3
import stat
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

from cli_case import ASCOPE, BROKEN, RULES, SAMPLE, SOURCE, STEP, Case, cut


class Help(Case):
    def test_words_of_other_tools_lead_to_the_right_command(self):
        for word, part in (("collect", "ascope run PROGRAM"), ("stats", "ascope analyse DIR"),
                           ("open", "ascope view DIR"), ("report", "ascope analyse DIR"), ("summary", "ascope export summary"),
                           ("memory", "export-memory-timeline"), ("comm", "ascope communication")):
            self.assert_one_line(self.ascope(word, code=2).stderr, word, part)
            self.assert_one_line(self.ascope("help", word, code=2).stderr, word, part)
        for word in "version", "-V", "--version":
            self.assertRegex(self.ascope(word, code=0).stdout, r"^ascope [0-9.]+\n$")

    def test_every_hint_names_commands_that_exist(self):
        with open(os.path.join(SOURCE, "src/cli/commands.c")) as f:
            hints = re.findall(r'^ *(?:#define \w+ +|\{ "\w+", )"(.*)"', f.read(), re.M)
        self.assertGreater(len(hints), 15)
        for hint in hints:
            for command in re.findall(r"(?<!-m )\bascope ([a-z-]+)", hint):
                self.ascope("help", command, code=0)

    def test_analyze_is_analyse(self):
        path = self.sample()
        r = json.loads(self.ascope("analyze", path, "--json", code=0).stdout)
        self.assertEqual(r["command"], "analyse")
        self.assertEqual(self.ascope("help", "analyze", code=0).stdout, self.ascope("help", "analyse", code=0).stdout)
        self.assert_one_line(self.ascope("analyze", path, "--rule", "communication", code=2).stderr, "ascope communication")

    def test_version(self):
        self.assertRegex(self.ascope("--version", code=0).stdout, r"^ascope \d+\.\d+\.\d+\n$")

    def test_every_command_explains_itself_in_two_ways(self):
        overview = self.ascope("--help", code=0).stdout
        self.assertEqual(overview, self.ascope("help", code=0).stdout)
        self.assertEqual(overview, self.ascope(code=2).stdout)
        commands = re.findall(r"^  ([a-z-]+) +\w", overview[:overview.index("--version")], re.M)
        self.assertGreaterEqual(set(commands), {"export", "info", "query", "communication", "sim", "help", "completion"})
        for c in commands:
            text = self.ascope("help", c, code=0).stdout
            self.assertTrue(text.startswith(f"usage: ascope {c} "), text)
            self.assertEqual(text, self.ascope(c, "--help", code=0).stdout)
            self.assertEqual(text, self.ascope(c, "-h", code=0).stdout)
            self.assertLess(max(map(len, text.splitlines())), 121)

    def test_unknown_words_are_answered_with_the_nearest_one(self):
        self.assert_one_line(self.ascope("exprot", code=2).stderr, "exprot", "did you mean export?")
        self.assert_one_line(self.ascope("zzzzzz", code=2).stderr, "zzzzzz", "ascope help")
        self.assert_one_line(self.ascope("--top", "3", "analyse", code=2).stderr, "--top", "ascope COMMAND [OPTION...]")
        overview = self.ascope("help", code=0).stdout
        for command in re.findall(r"^  ([a-z-]+) +\w", overview[:overview.index("--version")], re.M):
            for words in [command + "x"], ["help", command[:-1] + "~"]:
                self.assert_one_line(self.ascope(*words, code=2).stderr, "did you mean " + command + "?")
        self.assert_one_line(self.ascope("help", "zzz", code=2).stderr, "zzz")
        self.assert_one_line(self.ascope("export", "--fromat", "csv", code=2).stderr, "did you mean --format?")
        self.assert_one_line(self.ascope("export", "--zzzzzz", code=2).stderr, "--zzzzzz")

    def test_words_in_the_wrong_place(self):
        os.mkdir(os.path.join(self.dir, "there"))
        path = self.sample()
        rows = [
            ("no such directory", ["export", "nowhere"], ["nowhere", "no such directory", "timeline"]),
            ("what to write behind the directory", ["export", path, "timeline"], ["timeline", "first word"]),
            ("two of them", ["export", "timeline", "db", path], ["db", "first word"]),
            ("two directories with -dir", ["export", "-dir", path, "-dir", "there"], ["-dir", "given twice"]),
            ("an action before the directory", ["dyn", "start", "there"], ["ascope dyn there start"]),
            ("a file for the directory of a job", ["dyn", ASCOPE], ["not a directory"]),
            ("two commands to describe", ["help", "info", "query"], ["query", "unexpected"]),
            ("two shells", ["completion", "bash", "zsh"], ["zsh", "unexpected"]),
            ("no shell", ["completion"], ["missing shell"]),
            ("an empty mode", ["cluster", "there", "--mode", ""], ['--mode ""', "unknown mode"]),
            ("empty types", ["cluster", path, "--export-type", ""], ['--export-type ""', "text, db"]),
            ("empty types of an analysis", ["analyse", path, "--export-type", ""], ['--export-type ""', "text, db"]),
            ("an empty chip", ["options", "check", "{}", "--chip", ""], ['--chip ""', "unknown chip"]),
            ("a chip beyond all numbers", ["options", "check", "{}", "--chip", "9" * 20], ["unknown chip"]),
            ("a size of a file that is not split", ["export-trace", path, "x.pftrace", "--max-size", "2M"], ["--max-size", ".pftrace"]),
        ]
        for what, words, parts in rows:
            with self.subTest(what):
                self.assert_one_line(self.ascope(*words, code=2).stderr, *parts)

    def test_a_long_path_does_not_hide_the_problem(self):
        self.assertIn("No such file or directory", self.ascope("info", "/".join(["x" * 200] * 10), code=2).stderr)

    def test_one_of_several_collections_is_asked_for(self):
        self.ascope("sim", "--out", "job", "--framework", "pt", "--ranks", "2", "--kernels", "20", code=0)
        r = self.ascope("export-stacks", "job", "x.log", code=2)
        self.assertTrue(r.stderr.startswith(f"ascope: {self.dir}/job: contains 2 collections"), r.stderr)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs another user")
    def test_recover_reports_what_it_may_not_read(self):
        os.chmod(self.dir, 0o755)
        os.makedirs(os.path.join(self.dir, "job/PROF_1"), 0o755)
        os.chmod(os.path.join(self.dir, "job/PROF_1"), 0o700)
        for word in "job", "job/PROF_1":
            r = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", ASCOPE, "recover", word], cwd=self.dir,
                               capture_output=True, text=True)
            self.assertEqual((r.returncode, r.stdout), (1, ""), r.stderr)
            self.assert_one_line(r.stderr, "PROF_1", "Permission denied")

    def test_manual_and_completions_are_those_of_the_option_tables(self):
        subprocess.run([os.path.join(SOURCE, "scripts/docs"), ASCOPE, self.dir], check=True)
        for f in ["docs/ascope.1", "docs/recorder-options.md", "completions/ascope.bash", "completions/_ascope", "completions/ascope.fish"]:
            with open(os.path.join(SOURCE, f)) as kept, open(os.path.join(self.dir, f)) as made:
                self.assertEqual(kept.read(), made.read(), f + " is out of date: make docs")

    @unittest.skipUnless(shutil.which("mandoc"), "needs mandoc")
    def test_manual_is_clean(self):
        r = subprocess.run(["mandoc", "-T", "lint", "-W", "style", os.path.join(SOURCE, "docs/ascope.1")],
                           capture_output=True, text=True)
        self.assertEqual((r.returncode, r.stdout), (0, ""))

    def complete(self, *words):
        script = f". {SOURCE}/completions/ascope.bash; compopt() {{ :; }}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1))" \
                 "; _ascope; printf '%s\\n' \"${COMPREPLY[@]}\""
        return subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True,
                              cwd=self.dir).stdout.split("\n")[:-1]

    def test_bash_completes_commands_options_values_and_paths(self):
        os.mkdir(os.path.join(self.dir, "PROF 1"))
        rows = [
            ("a command", ["ascope", "que"], ["query"]),
            ("a word", ["ascope", "export", "ti"], ["timeline"]),
            ("an option", ["ascope", "export", "all", "--it"], ["--iteration-id", "--iteration-count"]),
            ("an option with one dash", ["ascope", "export", "-di"], ["-dir"]),
            ("a value", ["ascope", "export", "--format", ""], ["csv", "json"]),
            ("a value of the same option elsewhere", ["ascope", "run", "--level", ""], ["off", "0", "1", "2", "3"]),
            ("and here", ["ascope", "dyn", "x", "start", "--level", ""], ["Level0", "Level1", "Level2", "Level_none"]),
            ("a word behind a directory", ["ascope", "dyn", "x", "sta"], ["status", "start"]),
            ("the directory before it", ["ascope", "dyn", "PR"], ["PROF 1"]),
            ("an option of a command by another name", ["ascope", "record", "--lev"], ["--level"]),
            ("its value", ["ascope", "profile", "--level", ""], ["off", "0", "1", "2", "3"]),
            ("a path behind it", ["ascope", "analyze", "PR"], ["PROF 1"]),
            ("and an option", ["ascope", "analyze", "--dia"], ["--dialect"]),
            ("a path with a blank", ["ascope", "export", "-dir", "PR"], ["PROF 1"]),
            ("a path", ["ascope", "info", "PR"], ["PROF 1"]),
            ("a file", ["ascope", "view", "tra"], ["trace.json"]),
            ("a directory where a file may be", ["ascope", "compare", "PR"], ["PROF 1"]),
            ("no file where only directories can be", ["ascope", "info", "tra"], []),
            ("a command to be described", ["ascope", "help", "vi"], ["view"]),
        ]
        with open(os.path.join(self.dir, "trace.json"), "w"):
            pass
        for what, words, wanted in rows:
            with self.subTest(what):
                self.assertEqual([one for one in self.complete(*words) if one], wanted)

    @unittest.skipUnless(shutil.which("fish"), "needs fish")
    def test_fish_completes_the_same(self):
        os.mkdir(os.path.join(self.dir, "PROF 1"))
        with open(os.path.join(self.dir, "trace.json"), "w"):
            pass
        for line, wanted in (("ascope que", {"query"}), ("ascope export --it", {"--iteration-id", "--iteration-count"}),
                             ("ascope record --lev", {"--level"}), ("ascope run --level ", {"off", "0", "1", "2", "3"}),
                             ("ascope view tra", {"trace.json"}), ("ascope info PR", {"PROF 1/"}), ("ascope info tra", set()),
                             ("ascope help vi", {"view"})):
            r = subprocess.run(["fish", "--no-config", "-c", "source %s/completions/ascope.fish; complete -C %s" % (SOURCE, repr(line))],
                               capture_output=True, text=True, cwd=self.dir, env={**os.environ, "HOME": self.dir})
            self.assertEqual(({one.split("\t")[0] for one in r.stdout.splitlines()}, r.stderr), (wanted, ""), line)


class Wrong(Case):
    def test_values_are_refused_with_what_is_accepted(self):
        rows = [
            ("--format", "xml", ["xml", "csv, json"]),
            ("--format", "", ["csv, json"]),
            ("--dialect", "klingon", ["klingon", "documented, current"]),
            ("--time-base", "noon", ["noon", "epoch, start"]),
            ("--iteration-count", "0", ["0", "1 to 5"]),
            ("--iteration-count", "6", ["6", "1 to 5"]),
            ("--iteration-id", "0", ["0", "1 to"]),
            ("--iteration-id", "two", ["two", "integers"]),
            ("--iteration-id", "-1", ["-1", "integers"]),
            ("--model-id", "4294967296", ["4294967296", "4294967295"]),
            ("--model-id", "99999999999999999999999", ["99999999999999999999999"]),
            ("--threads", "0", ["0", "1 to 64"]),
            ("-dir", "", ["-dir", "empty"]),
            ("-dir", "a\nb", ["a?b", "0x0a"]),
            ("-dir", "x" * 5000, ["5000", "4096"]),
        ]
        for option, value, parts in rows:
            with self.subTest(option=option, value=value[:30]):
                r = self.ascope("export", "all", option, value, code=2)
                self.assert_one_line(r.stderr, option, *parts)
                self.assertEqual(r.stdout, "")

    def test_options_that_do_not_fit(self):
        rows = [
            (["all", "--format"], ["--format", "missing value: csv, json"]),
            (["all", "--out"], ["--out", "missing value: DIR"]),
            (["all", "--clear=yes"], ["--clear", "no value"]),
            (["all", "--model-id", "1"], ["--model-id 1", "--iteration-id"]),
            (["all", "--iteration-id", "1"], ["--iteration-id 1", "--model-id"]),
            (["timeline", "--format", "json"], ["--format", "summary"]),
            (["summary", "-reports", "x"], ["-reports", "timeline"]),
            (["db", *STEP], ["--model-id", "timeline"]),
            (["everything"], ["everything", "timeline, summary, db and all"]),
            ([], ["missing collection"]),
            (["all"], ["missing collection"]),
        ]
        path = self.sample()
        for args, parts in rows:
            with self.subTest(args=args):
                more = [] if "missing collection" in parts[0] else ["-dir", path]
                self.assert_one_line(self.ascope("export", *more, *args, code=2).stderr, *parts)
        self.assertEqual(self.written(path), [])

    def test_paths_that_are_none(self):
        file = os.path.join(self.dir, "file")
        open(file, "w").close()
        os.mkdir(os.path.join(self.dir, "nothing in it"))
        for command in (["export", "all"], ["info"]):
            r = self.ascope(*command, "no such thing", code=2)
            self.assert_one_line(r.stderr, "no such thing", "PROF_XXX")
            self.assert_one_line(self.ascope(*command, file, code=2).stderr, file, "not a directory")
            self.assert_one_line(self.ascope(*command, "nothing in it", code=1).stderr, "nothing in it",
                                 "contains no collection")

    def test_environment_is_held_to_the_same_values(self):
        r = self.ascope("export", self.sample(), env={"ASCOPE_DIALECT": "klingon"}, code=2)
        self.assert_one_line(r.stderr, "ASCOPE_DIALECT", "documented, current")


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


class Losses(Case):
    def test_losses_are_counted_placed_and_give_3(self):
        path = self.sample(broken=BROKEN)
        r = self.ascope("export", "all", "-dir", path, code=3)
        self.assertRegex(r.stdout, r"1 records? cut short, first: device_0/data/stars_soc\.data\.0\.slice_0:\d+")
        self.assertTrue(any("op_summary" in f for f in self.written(path)))
        self.assertEqual(r.stderr, "")

    def test_holes_of_files_are_skipped_and_counted(self):
        """A terabyte that was never written, in a file of records, of text, and in the middle of one."""
        path = self.sample()
        (text,) = glob.glob(os.path.join(glob.escape(path), "host/data/*hash_dic*slice_0"))
        for file, behind in ("device_0/data/hbm.data.0.slice_0", False), ("device_0/data/stars_soc.data.0.slice_0", True), (text, False):
            full = os.path.join(path, file)
            with open(full, "rb+") as f:
                data = f.read()
                f.truncate(1 << 40)
                if behind:  # again the same records, which begin there
                    f.seek(1 << 40)
                    f.write(data)
        r = json.loads(self.ascope("export", "all", path, "--json", code=3).stdout)
        losses = {x["reason"]: x for x in r["collections"][0]["losses"]}
        self.assertEqual(losses["holes"]["count"], 3)
        self.assertIn(": bytes ", losses["holes"]["file"])
        self.assertTrue(losses["holes"]["damage"])

    def test_a_damaged_end_does_not_fill_the_disk(self):
        """A collection of sampled cores that says it took a day: what is repeated every millisecond has an end."""
        path = os.path.join(self.dir, self.ascope("sim", "--sample-based", "--kernels", "5", code=0).stdout.strip())
        end = os.path.join(path, "device_0/end_info.0")
        with open(end) as f:
            info = json.load(f)
        info["collectionTimeEnd"] = str(int(info["collectionTimeEnd"]) + 86400 * 10**6)
        with open(end, "w") as f:
            json.dump(info, f)
        self.ascope("export", "timeline", "-dir", path, "--quiet")
        (timeline,) = glob.glob(os.path.join(glob.escape(path), "mindstudio_profiler_output/msprof_2*.json"))
        self.assertLess(os.path.getsize(timeline), 100 * 10**6)

    def test_a_record_of_a_kind_that_nobody_reads_is_counted(self):
        """Several readers share this file, and each passes over what is not its own."""
        track = "device_0/data/ts_track.data.0.slice_0"

        def others(path):
            r = json.loads(self.ascope("export", "db", path, "--json").stdout)
            return [(x["count"], x["file"]) for x in r["collections"][0]["losses"] if x["reason"] == "other_kind"]

        before = sum(n for n, _ in others(self.sample()))
        after = others(self.sample("PROF_2", broken=[(track, lambda data: data[:1] + b"\xee" + data[2:])]))
        self.assertEqual(sum(n for n, _ in after), before + 1)
        if before == 0:
            self.assertEqual([file for _, file in after], [track])

    def test_losses_for_machines(self):
        r = json.loads(self.ascope("export", "db", self.sample(broken=BROKEN), "--json", code=3).stdout)
        self.assertEqual(r["exit_code"], 3)
        loss = [x for x in r["collections"][0]["losses"] if x["damage"]]
        self.assertEqual([(x["reason"], x["count"]) for x in loss], [("cut_short", 1)])
        self.assertEqual(loss[0]["file"], "device_0/data/stars_soc.data.0.slice_0")

    def test_one_of_two_collections_is_broken(self):
        self.sample("PROF_1")
        self.sample("PROF_2", broken=[("host/info.json", lambda b: b"{"), ("device_0/info.json.0", lambda b: b"{")])
        r = self.ascope("export", "db", "-dir", ".", code=3)
        self.assert_one_line(r.stderr, "PROF_2", "info.json")
        self.assertEqual([bool(self.written(os.path.join(self.dir, p))) for p in ["PROF_1", "PROF_2"]], [True, False])
        r = json.loads(self.ascope("export", "db", "-dir", ".", "--json", code=3).stdout)
        self.assertIn("info.json", r["collections"][1]["error"])

    def test_a_folder_that_cannot_be_used_is_a_loss(self):
        path = self.sample(broken=[("host/start_info", lambda b: b"")])
        r = self.ascope("export", "db", "-dir", path, code=3)
        self.assertIn("host/start_info", r.stdout)

    def test_nothing_left_gives_1(self):
        path = self.sample(broken=[("host/start_info", lambda b: b""), ("device_0/start_info.0", lambda b: b"")])
        self.assert_one_line(self.ascope("export", "all", "-dir", path, code=1).stderr, "start_info")

    def as_nobody(self, *args):
        """Root may do everything; these tests need someone who may not."""
        someone = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        if someone and not shutil.which("setpriv"):
            self.skipTest("root, and no setpriv to become someone else")
        os.chmod(self.dir, 0o755)
        program = shutil.copy(ASCOPE, os.path.join(self.dir, "ascope"))
        return subprocess.run([*someone, program, *args], capture_output=True, text=True, cwd=self.dir)

    def test_a_file_that_may_not_be_read_is_a_loss(self):
        path, out = self.sample(), os.path.join(self.dir, "out")
        os.chmod(os.path.join(path, "device_0/data/hbm.data.0.slice_0"), 0)
        os.mkdir(out)
        os.chmod(out, 0o777)
        r = self.as_nobody("export", "db", "-dir", path, "--out", out)
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn("hbm.data.0.slice_0", r.stdout)

    def test_a_place_that_may_not_be_written_gives_1(self):
        path = self.sample()
        os.chmod(path, 0o555)
        r = self.as_nobody("export", "db", "-dir", path)
        os.chmod(path, 0o755)
        self.assertEqual(r.returncode, 1, r.stdout)
        self.assert_one_line(r.stderr, path, "ermission")

    def test_a_directory_that_may_not_be_read_gives_1(self):
        path = self.sample()
        os.chmod(path, 0)
        for command in ["export", "info", "why", "advise", "cluster", "view"]:
            r = self.as_nobody(command, path)
            self.assertEqual(r.returncode, 1, command + r.stdout)
            self.assert_one_line(r.stderr, path, "ermission")
        os.chmod(path, 0o755)

    def test_settings_that_may_not_be_read_are_not_called_missing(self):
        path = self.ascope("sim", "--framework", "pt", "--kernels", "0", "--operators", "50", code=0).stdout.strip()
        subprocess.run(["chmod", "-R", "a+rX", os.path.join(self.dir, path)], check=True)
        os.chmod(glob.glob(os.path.join(glob.escape(self.dir), path, "profiler_info*.json"))[0], 0)
        r = self.as_nobody("analyse", path)
        self.assertEqual(r.returncode, 1, r.stdout)
        self.assert_one_line(r.stderr, "profiler_info", "cannot be read: Permission denied; ask its owner")

    def test_a_rank_that_may_not_be_read_is_left_out(self):
        job = os.path.join(self.dir, "job")
        self.ascope("sim", "--out", job, "--framework", "pt", "--ranks", "3", "--steps", "4", "--kernels", "300", code=0)
        subprocess.run(["chmod", "-R", "a+rX", job], check=True)
        closed = os.path.join(job, sorted(os.listdir(job))[1])
        os.chmod(closed, 0)
        for words in ["why"], ["advise"], ["compare", job], ["cluster", "-m", "all", "-o", os.path.join(self.dir, "out")]:
            os.makedirs(os.path.join(self.dir, "out"), exist_ok=True)
            os.chmod(os.path.join(self.dir, "out"), 0o777)
            r = self.as_nobody(*words, job)
            self.assertEqual(r.returncode, 3, words[0] + r.stderr)
            self.assertIn("%s: cannot be read: Permission denied" % closed, r.stderr)
        os.chmod(closed, 0o755)


class Talk(Case):
    def own_pytorch(self, name):
        path = os.path.join(self.dir, name)
        shutil.copytree(glob.glob(os.path.join(SOURCE, "tests/data/own-pytorch/raw/*_ascend_pt"))[0], path, copy_function=shutil.copyfile)
        for top, _, _ in os.walk(path):
            os.chmod(top, 0o755)
        return path

    def test_quiet_says_nothing_but_errors(self):
        path = self.sample()
        r = self.ascope("export", "all", "-dir", path, "--quiet", "--iteration-count", "2", code=0)
        self.assertEqual((r.stdout, r.stderr), ("", ""))
        self.assertNotEqual(self.written(path), [])
        r = self.ascope("export", "-q", "-dir", "nowhere", code=2)
        self.assert_one_line(r.stderr, "nowhere")

    def test_verbose_lists_what_was_read(self):
        path = self.sample()
        plain = self.ascope("export", "db", "-dir", path).stdout
        for flag in ["-v", "--verbose"]:
            text = self.ascope("export", "db", "-dir", path, flag, code=0).stdout
            self.assertRegex(text, r"stars_soc\.data +35 KiB +554 records")
            self.assertGreater(len(text), len(plain))

    def test_the_steps_of_a_collection_are_in_its_report(self):
        path = self.ascope("sim", "--kernels", "400", "--steps", "8", code=0).stdout.strip()
        c = json.loads(self.ascope("export", "summary", "-dir", path, "--json", code=0).stdout)["collections"][0]
        table = glob.glob(glob.escape(os.path.join(self.dir, path)) + "/mindstudio_profiler_output/step_trace_*.csv")[0]
        with open(table, newline="") as f:
            times = {r["Iteration ID"]: float(r["Iteration Time(us)"]) for r in csv.DictReader(f)
                     if r["Model ID"].strip() == "4294967295"}
        self.assertEqual({s["step"]: s["time_us"] for s in c["steps"]}, times)
        for s in c["steps"]:
            self.assertAlmostEqual(s["time_us"], sum(s[k + "_us"] for k in ("computing", "overlapped", "communication", "free")), 3)
        self.assertEqual(c["step_medians"][0]["steps"], 8)
        self.assertAlmostEqual(c["step_medians"][0]["time_us"], statistics.median(times.values()), 2)
        slowest = sorted(times, key=times.get, reverse=True)
        for most in 2, 3:
            text = self.ascope("export", "db", "-dir", path, "--top", str(most), code=0).stdout
            self.assertIn("\n  8 steps, median ", text)
            self.assertEqual(re.findall(r"^    (\d+)  +[\d.]+ .s", text, re.M), slowest[:most])
            self.assertIn("    and %d more from " % (8 - most), text)
        text = self.ascope("export", "summary", "-dir", path, *STEP, code=0).stdout
        self.assertIn("\n  8 steps, median ", text)  # the chosen one against all
        self.assertEqual(re.findall(r"^    (\d+)  +[\d.]+ .s", text, re.M), ["2"])
        text = self.ascope("export", "summary", "-dir", path, "--model-id", "1", "--iteration-id", "3", code=0).stdout
        self.assertIn("\n  8 iterations of model 1, median ", text)
        self.assertEqual(re.findall(r"^    (\d+)  +[\d.]+ .s", text, re.M), ["3"])

    def test_json_is_one_object_with_stable_members(self):
        path = self.sample()
        r = json.loads(self.ascope("export", "all", "-dir", path, "--json", code=0).stdout)
        self.assertEqual(list(r), ["ascope", "schema", "command", "collections", "exit_code"])
        self.assertEqual((r["schema"], r["command"], r["exit_code"]), (1, "export", 0))
        c = r["collections"][0]
        self.assertEqual(list(c), ["path", "chip", "platform", "hostname", "simulated", "devices", "begin_ns", "end_ns",
                                   "has_end", "counts", "files", "top_operators", "losses", "recording", "problems", "seconds",
                                   "ranges", "host", "steps", "step_medians"])
        self.assertEqual((c["chip"], c["platform"], c["devices"], c["simulated"]), ("Ascend910B", 5, [0], False))
        self.assertEqual(c["end_ns"] - c["begin_ns"], 14124000)
        for f in c["files"]:
            self.assertEqual(f["bytes"], os.path.getsize(f["path"]), f)
        rows = {re.sub(r"_\d{14}.*", "", os.path.basename(f["path"])): f["rows"] for f in c["files"] if ".csv" in f["path"]}
        for f in c["files"]:
            if f["path"].endswith(".csv"):
                with open(f["path"], newline="") as text:
                    self.assertEqual(sum(1 for _ in text) - 1, f["rows"], f["path"])
        self.assertGreater(rows["op_summary"], 100)
        self.assertGreater(c["top_operators"][0]["total_us"], c["top_operators"][1]["total_us"])

    def test_errors_and_json_do_not_mix(self):
        r = self.ascope("export", "-dir", "nowhere", "--json", code=2)
        self.assertEqual(json.loads(r.stdout)["exit_code"], 2)
        self.assert_one_line(r.stderr, "nowhere")

    def in_terminal(self, *args, env=None, columns=0):
        """What the command prints when its output is a terminal; columns=0: one that does not know its width."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        e = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | (env or {})
        p = subprocess.Popen([ASCOPE, *args], stdout=theirs, stderr=theirs, stdin=theirs, env=e, cwd=self.dir)
        os.close(theirs)
        data = b""
        try:
            while part := os.read(ours, 65536):
                data += part
        except OSError:
            pass
        os.close(ours)
        p.wait()
        return data.decode()

    def test_colour_only_on_a_terminal_that_wants_it(self):
        path = self.sample()
        self.assertIn("\033[1m", self.in_terminal("info", path))
        self.assertNotIn("\033", self.in_terminal("info", path, env={"NO_COLOR": "1"}))
        self.assertNotIn("\033", self.in_terminal("info", path, env={"TERM": "dumb"}))
        self.assertNotIn("\033", self.ascope("info", path, code=0).stdout)

    def test_help_is_as_wide_as_the_terminal(self):
        commands = [[c] for c in ("analyse", "cluster", "export-memory-timeline", "run", "sim")]
        for words in [[], *commands]:
            lines = self.in_terminal("help", *words, columns=80).splitlines()
            self.assertGreater(len(lines), 10)
            self.assertLessEqual(max(map(len, lines)), 80, words)

    def test_names_from_files_cannot_drive_the_terminal(self):
        path = self.sample(broken=[("host/info.json", lambda b: b.replace(b"node-11", b"\\u001b[31mred"))])
        text = self.ascope("export", "db", "-dir", path).stdout
        self.assertNotIn("\033", text)
        self.assertIn("?[31mred", text)

    def test_names_of_directories_cannot_drive_the_terminal(self):
        """Nor forge a line. U+009B is ESC [ in one character; U+202E reverses what follows."""
        name = "PROF_1\033[31m\u009b31m\u202e\nascope: forged"
        path = self.sample(name, broken=[("host/info.json", lambda b: b.replace(b'"jobInfo": "', b'"jobInfo": "\\u001b[31m\\u009b31m'))])
        collection = self.own_pytorch(name + "_ascend_pt")
        os.symlink("nowhere", os.path.join(path, "mindstudio_profiler_output"))
        os.symlink("nowhere", os.path.join(collection, "ASCEND_PROFILER_OUTPUT"))
        for args in (["info", path], ["query", path], ["recover", path], ["export", path], ["analyse", path], ["analyse", collection],
                     ["analyse", "--summary", collection], ["cluster", "--shard", "1/1", "-o", path, collection], ["analyse", os.path.join(path, "none")]):
            with self.subTest(args=args[0]):
                r = self.ascope(*args)
                text = r.stdout + r.stderr
                self.assertIn("PROF_1?[31m?31m??ascope: forged" if args[0] != "query" else "?[31m?31m", text)
                self.assertEqual(set(text) & set("\033\u009b\u202e"), set())
                self.assertNotRegex(text, "(?m)^ascope: forged")
        os.remove(os.path.join(collection, "ASCEND_PROFILER_OUTPUT"))
        self.ascope("analyse", "-q", collection, code=0)
        log, = glob.glob(glob.escape(collection) + "/logs/*")
        with open(log) as f:
            self.assertIn("PROF_1?[31m?31m??ascope: forged", f.read())

    def test_a_directory_may_look_like_a_pattern(self):
        other = self.own_pytorch("a_ascend_pt")
        path = self.own_pytorch("[" + "a" * 90 + "]_ascend_pt")
        for rank, each in ((3, other), (5, path)):
            os.rename(each + "/profiler_info.json", each + "/profiler_info_%d.json" % rank)
        self.ascope("analyse", "--summary", path, code=0)
        self.assertEqual(glob.glob(glob.escape(path) + "/*.summary"), [path + "/ascope_rank_5.summary"])
        self.assertEqual(glob.glob(glob.escape(other) + "/*.summary"), [])

    def test_a_closed_pipe_is_no_crash(self):
        p = subprocess.run(["bash", "-c", '"$0" info "$1" | head -1; exit ${PIPESTATUS[0]}', ASCOPE, self.sample()],
                           capture_output=True, text=True)
        self.assertIn(p.returncode, (0, 141))
        self.assertEqual(p.stderr, "")

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_a_full_disk_under_the_report_is_reported(self):
        with open("/dev/full", "w") as full:
            r = subprocess.run([ASCOPE, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(r.returncode, 1)
        self.assert_one_line(r.stderr, "standard output")


class Info(Case):
    def test_says_what_is_there_and_writes_nothing(self):
        path = self.sample()
        before = sorted(os.listdir(path))
        text = self.ascope("info", path, code=0).stdout
        for part in ["Ascend910B", "node-11", "device counter 50 MHz", "host counter 100 MHz", "python3 (20480)"]:
            self.assertIn(part, text)
        self.assertRegex(text, r"api_event\.data +32 KiB +812 records")
        self.assertEqual(sorted(os.listdir(path)), before)

    def test_for_machines(self):
        r = json.loads(self.ascope("info", self.sample(), "--json", code=0).stdout)
        folders = {f["name"]: f for f in r["collections"][0]["folders"]}
        self.assertEqual(list(folders), ["host", "device_0"])
        self.assertEqual(folders["device_0"]["clock_shift_ns"], 20000)  # the sample's cntvct_diff
        self.assertEqual(folders["host"]["wall_drift_ns"], -975)  # its wall clock is read in microseconds
        streams = {s["family"]: s for s in folders["device_0"]["streams"]}
        self.assertEqual(streams["stars_soc.data"]["records"], 554)
        self.assertIsNone(streams["hccs.data"]["records"])

    def test_missing_and_deleted_slices(self):
        path = self.sample()
        data = os.path.join(path, "device_0/data")
        os.rename(f"{data}/hbm.data.0.slice_0", f"{data}/hbm.data.0.slice_3")
        shutil.copy(f"{data}/hbm.data.0.slice_3", f"{data}/hbm.data.0.slice_6")
        text = self.ascope("info", path, code=3).stdout
        self.assertIn("2 slices are missing", text)
        self.assertIn("3 older slices were deleted", text)

    def test_every_chip_by_name_and_what_can_be_read_of_it(self):
        for i, (chip, product) in enumerate([("A3", "A3 (910_93)"), ("910", "(910)"), ("310P", "(310P)"), ("310B", "(310B)"), ("310", "310"),
                                             ("950", "950"), ("MDC", "MDC"), ("MDC-mini", "MDC mini")]):
            path = self.ascope("sim", "--chip", chip, "--kernels", "3", "--seed", str(i), code=0).stdout.strip()
            text = self.ascope("info", path, code=0).stdout
            self.assertRegex(text, r"device_0: \w+, .*%s.*, platform \d+" % re.escape(product))
            self.assertIn("its tasks can be read; everything else that is known can be read", text)

    def test_half_of_it_broken(self):
        path = self.sample(broken=[("device_0/info.json.0", lambda b: b"{")])
        r = self.ascope("info", path, code=3)
        self.assertIn("device_0: cannot be used", r.stdout)
        self.assertIn("api_event.data", r.stdout)

    def test_all_of_it_broken(self):
        path = self.sample()
        os.remove(f"{path}/host/info.json")
        os.remove(f"{path}/device_0/info.json.0")
        r = self.ascope("info", path, code=3)
        self.assertEqual(r.stdout.count("cannot be used"), 2)

    def test_interrupted(self):
        path = self.sample()
        whole = json.loads(self.ascope("info", path, "--json", code=0).stdout)["collections"][0]["folders"]
        for f in glob.glob(glob.escape(path) + "/*/end_info*"):
            os.remove(f)
        cut = json.loads(self.ascope("info", path, "--json", code=0).stdout)["collections"][0]["folders"]
        for a, b in zip(whole, cut):
            self.assertTrue(a["has_end"] and not b["has_end"])
            self.assertTrue(b["begin_ns"] < b["end_ns"] <= a["end_ns"], (a["end_ns"], b["end_ns"]))
        text = self.ascope("info", path, code=0).stdout
        self.assertEqual(text.count("(interrupted: until the last record)"), len(cut))
        self.assertNotIn("30 min", text)
        for f in glob.glob(glob.escape(path) + "/host/data/*"):
            os.remove(f)
        self.assertIn("(interrupted: the end is unknown)", self.ascope("info", path, code=0).stdout)


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
        self.sample("PROF_2", broken=BROKEN)
        r = self.ascope("query", ".", code=3)
        self.assertEqual(r.stdout.count("Job Info"), 1)
        self.assertEqual(r.stdout.count("device_0"), 2 * self.wanted.count("device_0"))

    def test_what_it_cannot_answer(self):
        self.assert_one_line(self.ascope("query", "nowhere", code=2).stderr, "nowhere")
        r = self.run_as(self.named("msprof.py"), "query", "-dir", self.sample(), "--data-type", "3", "--id", "0", code=1)
        self.assert_one_line(r.stderr, "--data-type 3", "cluster")


class Newer(Case):
    """What is newer than this version: a line says so, and what can be exported is."""
    def sim(self):
        return os.path.join(self.dir, self.ascope("sim", "--kernels", "9", "--steps", "1", code=0).stdout.strip())

    def sim_with(self, old, new):
        path = self.sim()
        for folder, name in (("host", "info.json"), ("device_0", "info.json.0")):
            with open(os.path.join(path, folder, name), "r+") as f:
                text = f.read().replace(old, new)
                f.seek(0)
                f.truncate()
                f.write(text)
        return path

    def test_a_chip_that_nobody_knows(self):
        path = self.sim_with('"platform_version":"5"', '"platform_version":"99"')
        r = self.ascope("export", "all", "-dir", path, code=3)
        self.assert_one_line(r.stderr, "platform 99", "device_0: ffts_profile.data, stars_soc.data;")
        for table in ("api_statistic", "hbm", "npu_mem", "step_trace"):
            self.assertIn(table, r.stdout + " ".join(os.listdir(os.path.join(path, "mindstudio_profiler_output"))))
        text = self.ascope("info", path, code=0).stdout
        self.assertIn("its tasks cannot be read by this version; 2 streams cannot be read", text)
        self.assertRegex(text, "stars_soc.data .*not read by this version")

    def test_a_version_that_nobody_knows(self):
        path = self.sim_with('"version":"1.0"', '"version":"3.7"')
        self.assert_one_line(self.ascope("export", "timeline", "-dir", path, code=3).stderr, "version 3.7", "1.0 and 2.0")

    def test_longer_records(self):
        path = self.sim()
        name = os.path.join(path, "device_0/data/stars_soc.data.0.slice_0")
        before = self.ascope("export", "db", "-dir", path, "--json", code=0).stdout
        with open(name, "rb") as f:
            data = f.read()
        with open(name, "wb") as f:
            f.write(b"".join(data[i:i + 64] + bytes(8) for i in range(0, len(data), 64)))
        r = json.loads(self.ascope("export", "db", "-dir", path, "--json", code=3).stdout)["collections"][0]
        self.assertEqual(r["counts"], json.loads(before)["collections"][0]["counts"])
        self.assertIn("newer", str(r["losses"]))


class Sim(Case):
    def test_makes_a_collection_that_exports_and_says_that_it_is_simulated(self):
        path = self.ascope("sim", "--kernels", "60", "--steps", "2", "--marks=off", code=0).stdout.strip()
        r = json.loads(self.ascope("export", "all", "-dir", path, "--json", code=0).stdout)
        self.assertTrue(r["collections"][0]["simulated"])
        self.assertEqual(r["collections"][0]["counts"]["marks"], 0)
        self.assertIn("simulated Ascend910B", self.ascope("export", "db", "-dir", path, code=0).stdout)

    def test_whatever_shows_the_data_says_that_it_is_simulated(self):
        prof = self.ascope("sim", "--kernels", "9", code=0).stdout.strip()
        host = self.ascope("sim", "--framework", "pt", "--kernels", "0", "--operators", "50", code=0).stdout.strip()
        whole = self.ascope("sim", "--framework", "pt", "--kernels", "9", "--seed", "2", code=0).stdout.strip()
        self.assertIn("simulated Ascend910B", self.ascope("info", prof, code=0).stdout)
        self.ascope("export", "summary", "-dir", prof, code=0)
        with open(os.path.join(self.dir, prof, "mindstudio_profiler_output/README.txt")) as f:
            self.assertIn("simulated", f.readline())
        for path in host, whole:
            self.assertIn("PyTorch, simulated", self.ascope("info", path, code=0).stdout)
            self.assertIn("simulated", self.ascope("analyse", path, "--export-type", "db", code=0).stdout.splitlines()[1])
            db = sqlite3.connect(glob.glob(os.path.join(self.dir, path, "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db"))[0])
            self.assertIn(("ASCOPE_SIMULATED", "1"), db.execute("SELECT name, value FROM META_DATA").fetchall())
            db.close()
        for path in prof, host, whole:
            for one in json.loads(self.ascope("info", path, "--json", code=0).stdout)["collections"]:
                self.assertTrue(one["simulated"])

    def test_every_group_of_counters_that_is_offered_exists(self):
        groups = self.ascope("sim", "--metrics", "?", code=2).stderr.split("accepted are ")[1].strip().split(", ")
        self.assertGreater(len(groups), 5)
        for g in groups:
            chip = "7" if g == "PipelineExecuteUtilization" else "5"
            self.ascope("sim", "--metrics", g, "--chip", chip, "--kernels", "1", "--seed", str(groups.index(g)), code=0)

    def test_what_it_refuses(self):
        self.assert_one_line(self.ascope("sim", "word", code=2).stderr, "word")
        self.assert_one_line(self.ascope("sim", "--chip", "99", code=2).stderr, "99")
        self.assert_one_line(self.ascope("sim", "--comm=maybe", code=2).stderr, "on, off")
        open(os.path.join(self.dir, "a file"), "w").close()
        for framework in "none", "pt":
            for out in "a file", "a file/below":
                r = self.ascope("sim", "--framework", framework, "--out", out, code=1)
                self.assert_one_line(r.stderr, "a file", "cannot be created")

    def test_out_is_created(self):
        for framework, out in ("none", "new"), ("pt", "new/er/still/"), ("none", "./new/er/"):
            path = self.ascope("sim", "--framework", framework, "--kernels", "3", "--out", out, code=0).stdout.strip()
            self.assertTrue(os.path.isdir(os.path.join(self.dir, path)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
