#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line under the names of the reference: msprof and msprof.py.

usage: test_msprof.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import unittest

from cli_case import ASCOPE, BROKEN, SOURCE, Case, cut


class MsprofPy(Case):
    def script(self, *args, **more):
        return self.run_as(self.named("msprof.py"), *args, **more)

    def test_export_as_the_script_takes_it(self):
        path = self.sample()
        self.script("export", "timeline", "-dir", path, code=0)
        self.script("export", "summary", f"-dir={path}", "--format", "csv", "--clear", code=0)
        self.script("export", "db", "--collection-dir", path, code=0)
        endings = {os.path.splitext(f)[1] for f in self.written(path)}
        self.assertEqual(endings, {".json", ".csv", ".txt", ".db"})

    def test_exit_codes_are_those_of_the_script(self):
        path = self.sample()
        rows = [
            ("nothing to do: help", [], 1),
            ("export of nothing: help", ["export"], 1),
            ("help", ["--help"], 0),
            ("help of a command", ["export", "summary", "-h"], 0),
            ("no such command", ["exprot", "-dir", path], 2),
            ("no such thing to export", ["export", "all", "-dir", path], 2),
            ("no directory given", ["export", "timeline"], 2),
            ("unknown option", ["export", "timeline", "-dir", path, "--json"], 2),
            ("an option of another command", ["export", "timeline", "-dir", path, "--format", "csv"], 2),
            ("a stray word", ["export", "timeline", "-dir", path, "word"], 2),
            ("a bad number", ["export", "timeline", "-dir", path, "--model-id", "x", "--iteration-id", "1"], 2),
            ("half an iteration", ["export", "timeline", "-dir", path, "--model-id", "1"], 1),
            ("a missing path", ["export", "timeline", "-dir", "nowhere"], 2),
            ("reports that cannot be read", ["export", "timeline", "-dir", path, "-reports", "nowhere"], 2),
            ("an empty path", ["export", "timeline", "-dir", ""], 2),
        ]
        for what, args, code in rows:
            with self.subTest(what):
                r = self.script(*args, code=code)
                if code and args not in ([], ["export"]):
                    self.assertTrue(r.stderr.startswith("msprof.py: "), r.stderr)
        self.assertEqual(self.written(path), [])

    def test_python_runs_it(self):
        script = os.path.join(SOURCE, "scripts", "msprof.py")
        path = self.sample()
        place = os.path.join(self.dir, "tools")
        os.mkdir(place)
        shutil.copy(script, place)
        os.symlink(os.path.abspath(ASCOPE), os.path.join(place, "ascope"))
        run = subprocess.run([sys.executable, os.path.join(place, "msprof.py"), "export", "db", "-dir", path],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual({os.path.splitext(f)[1] for f in self.written(path)}, {".db"})

    def test_losses_are_reported_and_give_0(self):
        """torch_npu discards everything of a device when the code is another one."""
        for args in ["import"], ["export", "db"], ["export", "summary"], ["analyze", "--rule", "communication"]:
            with self.subTest(args=args):
                r = self.script(*args, "-dir", self.sample(f"PROF_{args[-1]}", broken=BROKEN), code=0)
                self.assert_one_line(r.stderr, f"PROF_{args[-1]}", "1 records cut short", "stars_soc.data.0.slice_0:")
        broken = [("host/data/aging.api_event.data.slice_0", cut(10))]  # which query reads
        self.assert_one_line(self.script("query", "-dir", self.sample("PROF_q", broken=broken), code=0).stderr,
                             "some records could not be used")

    def test_one_of_two_collections_is_broken(self):
        os.mkdir(os.path.join(self.dir, "two"))
        self.sample("two/PROF_1")
        self.sample("two/PROF_2", broken=[("host/info.json", lambda b: b"{"), ("device_0/info.json.0", lambda b: b"{")])
        self.assert_one_line(self.script("export", "db", "-dir", "two", code=0).stderr, "PROF_2", "info.json")

    def test_dialects(self):
        for args, env, wanted in [([], {}, "Block Dim"), (["--dialect", "current"], {}, "Block Num"),
                                  ([], {"ASCOPE_DIALECT": "current"}, "Block Num"),
                                  (["--dialect=documented"], {"ASCOPE_DIALECT": "current"}, "Block Dim"),
                                  (["--dialect=seed"], {"ASCOPE_DIALECT": "current"}, "Block Dim")]:
            with self.subTest(args=args, env=env):
                path = self.sample(f"PROF_{len(os.listdir(self.dir))}")
                self.script("export", "summary", "-dir", path, *args, env=env, code=0)
                with open(glob.glob(glob.escape(path) + "/*/op_summary_*.csv")[0]) as f:
                    self.assertIn(wanted, f.readline())

    def test_import_reads_everything_and_writes_nothing(self):
        path = self.sample()
        before = sorted(os.listdir(path))
        r = self.script("import", "-dir", path, code=0)
        self.assertIn("822 host calls", r.stdout)
        self.assertEqual(sorted(os.listdir(path)), before)
        self.assert_one_line(self.script("import", "-dir", path, "--cluster", code=0).stderr, "--cluster", "checked separately")


class Msprof(Case):
    def launcher(self, *args, **more):
        return self.run_as(self.named("msprof"), *args, **more)

    def test_export(self):
        path = self.sample()
        self.launcher("--export=on", f"--output={path}", "--summary-format=csv", "--python-path=/usr/bin/python3", code=0)
        self.assertEqual({os.path.splitext(f)[1] for f in self.written(path)}, {".json", ".csv", ".txt", ".db"})

    def test_export_of_the_database_alone(self):
        path = self.sample()
        self.launcher("--type=db", "--export=on", f"--output={path}", code=0)
        self.assertEqual({os.path.splitext(f)[1] for f in self.written(path)}, {".db"})

    def test_losses_are_reported_and_give_0(self):
        for mode in "--export=on", "--parse=on":
            with self.subTest(mode):
                r = self.launcher(mode, f"--output={self.sample('PROF' + mode, broken=BROKEN)}", code=0)
                self.assertRegex(r.stderr, r"^msprof: .*1 records cut short, first: .*slice_0:\d+")
                self.assertIn("Top Time" if mode == "--parse=on" else "op_summary", r.stdout)

    def test_dialects(self):
        for args, env, wanted in [([], {}, "Block Dim"), (["--dialect=current"], {}, "Block Num"),
                                  ([], {"ASCOPE_DIALECT": "current"}, "Block Num")]:
            with self.subTest(args=args, env=env):
                path = self.sample(f"PROF_{len(os.listdir(self.dir))}")
                self.launcher("--export=on", f"--output={path}", *args, env=env, code=0)
                with open(glob.glob(glob.escape(path) + "/*/op_summary_*.csv")[0]) as f:
                    self.assertIn(wanted, f.readline())

    def test_parse(self):
        path = self.sample()
        text = self.launcher("--parse=on", f"--output={path}", code=0).stdout
        self.assertIn("822 host calls", text)
        self.assertIn("Top Time Iteration", text)
        self.assertEqual(self.written(path), [])

    def test_every_failure_is_255_and_says_why(self):
        path = self.sample()
        out = f"--output={path}"
        rows = [
            (["--application=./app a"], "--application: ./app: no such file"),
            (["--sys-devices=all", "--sys-period=1", out], "nothing to record"),
            (["--dynamic=on", "--pid=1", "./app"], "--pid: not together with a program"),
            ([out], "--export=on"),
            (["--analyze=on", "--rule=all", out], "communication_matrix"),
            (["--analyze=on", "--export=on", out], "--analyze"),
            (["--export=on"], "--output=DIR"),
            (["--export=maybe", out], "on, off"),
            (["--export", "on", out], "--name=value"),
            (["--export=on", "--parse=on", out], "not allowed with --parse=on"),
            (["--export=on", "--rule=communication", out], "--rule"),
            (["--export=on", "--type=db", "--clear=on", out], "--clear"),
            (["--export=on", "--type=xml", out], "text, db"),
            (["--export=on", "--model-id=1", out], "--iteration-id"),
            (["--export=on", "--output=nowhere"], "nowhere"),
            (["--exprot=on", out], "--exprot: unknown option"),
        ]
        for args, part in rows:
            with self.subTest(args=args):
                r = self.launcher(*args, code=255)
                self.assertIn(part, r.stdout + r.stderr)
                self.assertRegex(r.stderr or r.stdout, r"^(msprof: |\[(ERROR|WARNING)\] )")
        self.assertIn("usage: msprof", self.launcher(code=255).stdout)
        self.assertEqual(self.written(path), [])

    def test_options_of_collecting_have_no_effect_on_parsing(self):
        r = self.launcher("--parse=on", "--ascendcl=on", f"--output={self.sample()}", code=0)
        self.assertTrue(r.stdout.startswith("[WARNING] no effect here: --ascendcl\n"), r.stdout)

    def test_help(self):
        self.assertIn("--export=on|off", self.launcher("--help", code=0).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
