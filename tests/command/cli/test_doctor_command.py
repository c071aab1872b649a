#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope doctor: text, JSON, exit codes, and interpreters that do not behave.

usage: test_doctor_command.py ASCOPE SOURCE_ROOT [unittest options]
"""
import json
import os
import pty
import resource
import subprocess
import sys
import unittest

from cli_case import ASCOPE, Case

AREAS = ["devices", "host", "place", "frameworks", "tools"]
STATES = ["missing", "limited", "ok", "not applicable"]  # in the order of the report


class Doctor(Case):
    def setUp(self):
        super().setUp()
        self.quick = self.program("python", "exit 0")  # the frameworks of this machine are no part of these tests

    def program(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n%s\n" % text)
        os.chmod(path, 0o755)
        return path

    def report(self, *args, code=0, **more):
        r = self.ascope("doctor", "--json", *(() if "--python" in args else ("--python", self.quick)), *args, code=code, **more)
        self.assertEqual(r.stderr, "")
        report = json.loads(r.stdout)
        self.assertEqual((report["command"], report["exit_code"]), ("doctor", code))
        return report, {(c["area"], c["name"]): c for c in report["checks"]}

    def test_text(self):
        r = self.ascope("doctor", "--python", self.quick, code=0)
        lines = r.stdout.splitlines()
        self.assertRegex(lines[0], r"^This machine: the host can be recorded.*; no .*\.$")
        self.assertEqual([line for line in lines if line in AREAS], AREAS)
        self.assertIn("device=auto", r.stdout)
        self.assertIn("simulated NPU", r.stdout)
        self.assertNotIn("\033", r.stdout)
        self.assertEqual(r.stderr, "")
        self.assertEqual(self.ascope("doctor", "--python", self.quick, "-q", code=0).stdout, "")

    def test_colours_on_a_terminal_only(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        p = subprocess.Popen([ASCOPE, "doctor", "--python", self.quick], stdout=theirs, cwd=self.dir,
                             env={**os.environ, "TERM": "xterm", "NO_COLOR": ""})
        os.close(theirs)
        text = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            text += more
        self.assertEqual(p.wait(60), 0)
        self.assertIn(b"\033[32mok", text)

    def test_problems_come_first(self):
        report, checks = self.report()
        order = [(AREAS.index(c["area"]), STATES.index(c["state"])) for c in report["checks"]]
        self.assertEqual(order, sorted(order))
        self.assertTrue(report["records_host"])
        for c in report["checks"]:
            self.assertTrue(c["name"] and c["fact"], c)
            if c["state"] in ("missing", "limited"):
                self.assertTrue(c["effect"], c)
        self.assertEqual({name for (_, name), c in checks.items() if c["needed"]}, {"/proc", "output directory", "rings"})

    def test_nothing_is_left_behind(self):
        before = sorted(os.listdir(self.dir))
        self.report("--out", self.dir)
        self.report("--out", os.path.join(self.dir, "a", "b"))
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_default_directory(self):
        _, checks = self.report()
        self.assertIn("writable", checks["place", "output directory"]["fact"])
        _, checks = self.report(env={"ASCEND_WORK_PATH": os.path.join(self.dir, "work")})
        self.assertIn("work/profiling_data: will be created", checks["place", "output directory"]["fact"])

    def test_a_host_that_cannot_be_recorded(self):
        for out, said in ((os.path.join(self.quick, "x"), "a file is where a directory should be"), ("/proc/nothing/x", "not writable"),
                          ("/" + "x" * 300, "too long")):
            report, checks = self.report("--out", out, code=1)
            self.assertFalse(report["records_host"])
            self.assertIn("the host cannot be recorded: output directory", report["verdict"])
            place = checks["place", "output directory"]
            self.assertEqual(place["state"], "missing")
            self.assertIn(said, place["fact"])
            self.assertIn("--out", place["advice"])
        r = self.ascope("doctor", "--python", self.quick, "--out", self.quick, code=1)
        self.assertIn("cannot be recorded", r.stdout.splitlines()[0])

    def test_no_room_for_rings(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

        _, checks = self.report(code=1, preexec_fn=limit)
        self.assertEqual(checks["place", "rings"]["state"], "missing")
        self.assertEqual(checks["host", "file size"]["state"], "limited")

    @unittest.skipUnless(os.getuid() == 0, "changes the user")
    def test_without_rights(self):
        os.chmod(self.dir, 0o755)
        if self.run_as(ASCOPE, "--version", user=65534).returncode != 0:
            self.skipTest("the command is not readable by others")
        _, checks = self.report(code=1, user=65534)
        self.assertIn("not writable: Permission denied", checks["place", "output directory"]["fact"])
        _, checks = self.report("--out", "/dev/shm", user=65534)
        self.assertIn("this user's", checks["host", "process I/O"]["fact"])

    def test_hostile_pythons(self):
        for what, text, said in (("ends", "exit 3", "exit code 3: it printed nothing"), ("complains", "echo 'bad\033[31m thing' >&2; exit 1", "bad\033[31m thing"),
                                 ("garbage", "head -c 1000000 /dev/urandom", "printed more than 64 KiB"),
                                 ("killed", "kill -11 $$", "killed by a signal"),
                                 ("no mark", "echo '{\"version\": \"3\"}'", "exit code 0")):
            with self.subTest(what):
                _, checks = self.report("--python", self.program("hostile", text))
                python = checks["frameworks", "Python"]
                self.assertEqual(python["state"], "missing")
                self.assertIn(said, python["fact"])
                self.assertEqual(checks["frameworks", "PyTorch"]["state"], "not applicable")
        text = self.ascope("doctor", "--python", self.program("hostile", "echo 'bad\033[31m' >&2; exit 1"), code=0).stdout
        self.assertNotIn("\033", text)
        _, checks = self.report("--python", "/nowhere/python3")
        self.assertIn("No such file", checks["frameworks", "Python"]["fact"])
        _, checks = self.report("--python", self.dir)
        self.assertIn("cannot be started", checks["frameworks", "Python"]["fact"])

    def test_hostile_path(self):
        self.program("python3", "echo called; touch %s/called" % self.dir.replace(" ", "\\ "))
        for path in ("", ".:", "/nowhere:/dev/null", ":" * 10000, "/" + "x" * 100000):
            r = self.run_as(ASCOPE, "doctor", "--json", env={"PATH": path}, code=0)  # not one of the working directory
            checks = {c["name"]: c for c in json.loads(r.stdout)["checks"]}
            self.assertIn("not found in the PATH", checks["Python"]["fact"])
            self.assertEqual(checks["msprof"]["state"], "not applicable")
        self.assertFalse(os.path.exists(os.path.join(self.dir, "called")))

    def test_a_real_python(self):
        env = {"PYTHONPATH": self.dir}
        for name, text in (("mindspore", ""), ("torch", "__version__ = '9.8.7'"), ("ascope", "raise OSError('broken')"),
                           ("tensorflow", "raise SystemExit('never imported')")):
            with open(os.path.join(self.dir, name + ".py"), "w", encoding="utf-8") as f:
                f.write(text)
        report, checks = self.report("--python", sys.executable, env=env)
        self.assertEqual(checks["frameworks", "Python"]["state"], "ok")
        self.assertIn("%d.%d.%d" % sys.version_info[:3], checks["frameworks", "Python"]["fact"])
        self.assertIn("9.8.7", checks["frameworks", "PyTorch"]["fact"])
        self.assertIn("OSError: broken", checks["frameworks", "package ascope"]["fact"])
        self.assertEqual(checks["frameworks", "PyTorch listener"]["state"], "missing")
        self.assertEqual(checks["frameworks", "MindSpore"]["state"], "limited")
        self.assertEqual(checks["frameworks", "TensorFlow"]["state"], "limited")
        self.assertIn("PyTorch 9.8.7 without listener", report["verdict"])
        os.remove(os.path.join(self.dir, "ascope.py"))
        with open(os.path.join(self.dir, "torch.py"), "w", encoding="utf-8") as f:
            f.write("print('hello', end='')\nimport os\nos.abort()")
        _, checks = self.report("--python", sys.executable, env=env)
        self.assertEqual(checks["frameworks", "Python"]["state"], "limited")
        self.assertEqual(checks["frameworks", "PyTorch"]["state"], "missing")
        self.assertIn("killed by a signal", checks["frameworks", "PyTorch"]["fact"])

    def test_modules_of_the_working_directory_are_not_imported(self):
        with open(os.path.join(self.dir, "json.py"), "w", encoding="utf-8") as f:
            f.write("raise SystemExit(7)")
        _, checks = self.report("--python", sys.executable)
        self.assertEqual(checks["frameworks", "Python"]["state"], "ok")

    def test_which_msprof(self):
        os.mkdir(os.path.join(self.dir, "bin"))
        os.symlink(ASCOPE, os.path.join(self.dir, "bin", "msprof"))
        _, checks = self.report(env={"PATH": os.path.join(self.dir, "bin")})
        self.assertIn("this ascope", checks["tools", "msprof"]["fact"])
        os.remove(os.path.join(self.dir, "bin", "msprof"))
        self.program("bin/msprof", "exit 1")
        _, checks = self.report(env={"PATH": os.path.join(self.dir, "bin")})
        self.assertIn("another program", checks["tools", "msprof"]["fact"])

    def test_usage(self):
        self.assert_one_line(self.ascope("doctor", "x", code=2).stderr, "x: unexpected argument")
        self.assert_one_line(self.ascope("diagnose", code=2).stderr, "ascope doctor checks")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
