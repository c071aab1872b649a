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
import pty
import re
import shutil
import statistics
import struct
import subprocess
import sys
import termios
import unittest

from cli_case import ASCOPE, SOURCE, STEP, Case


class Help(Case):
    def test_words_of_other_tools_lead_to_the_right_command(self):
        for word, part in (("collect", "ascope run PROGRAM"), ("stats", "ascope analyse DIR"),
                           ("open", "ascope view DIR"), ("report", "ascope analyse DIR"), ("summary", "ascope export summary"),
                           ("comm", "ascope communication")):
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
