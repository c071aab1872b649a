#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs under `ascope run` and `msprof`: what is recorded, exported, printed and returned.

usage: test_run_command.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import unittest

from cli_case import ASCOPE, Case


class Running(Case):
    def found(self, place="."):
        return sorted(glob.glob(glob.escape(os.path.normpath(os.path.join(self.dir, place))) + "/PROF_*"))

    def one(self, place="."):
        paths = self.found(place)
        self.assertEqual(len(paths), 1, paths)
        return paths[0]

    def sample_of(self, path, folder="host"):
        with open(os.path.join(path, folder, "sample.json")) as f:
            return json.load(f)

    def data_of(self, path):
        """Names of the data files of the host, without slices."""
        return {f.split(".slice")[0] for f in os.listdir(os.path.join(path, "host/data")) if not f.endswith(".done")}

    def msprof(self, *args, **more):
        return self.run_as(self.named("msprof"), *args, **more)


class Run(Running):
    def test_a_program_is_recorded_and_exported(self):
        r = self.ascope("run", "--out", "o", "--", "sh", "-c", "echo out; echo err >&2; sleep 0.1", code=0)
        path = self.one("o")
        self.assertTrue(r.stdout.startswith("out\n"), r.stdout)
        self.assertIn("host only", r.stdout)
        self.assertEqual(sorted(r.stderr.splitlines()), sorted([f"ascope: recording into {path}", "err"]))
        self.assertTrue({"host_cpu.data", "host_mem.data", "host_disk.data", "host_network.data"} <= self.data_of(path))
        names = {re.sub(r"_\d+\.", ".", os.path.basename(f)) for f in self.written(path)}
        self.assertTrue({"host_cpu_usage.csv", "host_mem_usage.csv", "msprof.db"} <= names, names)
        self.assertEqual(self.sample_of(path)["app"], "sh")

    def test_exit_codes(self):
        rows = [
            ("its own", ["sh", "-c", "exit 7"], 7, ""),
            ("a signal", ["sh", "-c", "kill -KILL $$"], 137, "ascope: sh was killed by signal 9 (SIGKILL)"),
            ("another signal", ["sh", "-c", "kill -SEGV $$"], 139, "ascope: sh was killed by signal 11 (SIGSEGV)"),
            ("no such program", ["./nowhere"], 127, "./nowhere"),
            ("no program", [], 2, "nothing to run"),
            ("an unknown option", ["--nonsense", "true"], 2, "--nonsense: unknown option"),
            ("a bad value", ["--level", "9", "true"], 2, "--level 9: accepted are"),
            ("a bad value of msprof", ["--aicpu=maybe", "true"], 2, "--aicpu=maybe: invalid value"),
            ("an option of msprof without its value", ["--aicpu", "true"], 2, "--aicpu: missing value"),
            ("a bad list", ["--host-sys", "cpu,gpu", "true"], 2, "--host-sys=cpu,gpu: invalid value"),
            ("no such process", ["--pid", "999999999"], 2, "no such process"),
            ("a program and a process", ["--interactive", "--pid", "1", "true"], 2, "not together with a program"),
            ("a small limit", ["--storage-limit", "1M", "true"], 2, "sizes of 200M and more"),
        ]
        for what, args, code, part in rows:
            with self.subTest(what):
                r = self.ascope("run", "--no-export", "--quiet", "--out", "o", *args, code=code)
                self.assertIn(part, r.stderr)
                self.assertEqual(r.stdout, "")
                if not part:
                    self.assertEqual(r.stderr, "")

    def test_words_of_the_program_are_its_own(self):
        rows = [
            (["printf", "[%s]", "--out", "-x", "", "a b"], "[--out][-x][][a b]"),
            (["--", "printf", "[%s]", "--", "--json"], "[--][--json]"),
            (["--level", "0", "--l2=on", "printf", "[%s]", "--l2=off"], "[--l2=off]"),
            (["--output=p", "printf", "%s", "x"], "x"),
        ]
        for args, wanted in rows:
            with self.subTest(args=args):
                r = self.ascope("run", "--quiet", "--no-export", *args, code=0)
                self.assertEqual(r.stdout, wanted)

    def test_aliases(self):
        for name in "record", "profile":
            self.assertEqual(self.ascope(name, "--quiet", "--no-export", "echo", "x", code=0).stdout, "x\n")

    def test_without_export(self):
        r = self.ascope("run", "--no-export", "true", code=0)
        path = self.one()
        self.assertEqual(r.stdout, path + "\n")
        self.assertEqual(self.written(path), [])

    def test_json(self):
        rows = [("true", [], {"name": "true", "exit_status": 0, "signal": None}, 0),
                ("sh", ["-c", "exit 3"], {"name": "sh", "exit_status": 3, "signal": None}, 3),
                ("sh", ["-c", "kill -TERM $$"], {"name": "sh", "exit_status": None, "signal": 15}, 143)]
        for program, args, wanted, code in rows:
            for more in [], ["--no-export"]:
                with self.subTest(args=args, more=more):
                    r = self.ascope("run", "--json", *more, "--out", "o", program, *args, code=code)
                    report = json.loads(r.stdout)
                    self.assertEqual(report["program"], wanted)
                    self.assertEqual(report["exit_code"], code)
                    self.assertEqual(report["command"], "run")
                    self.assertEqual(len(report["collections"]), 1)
                    self.assertTrue(report["collections"][0]["path"].startswith(os.path.realpath(self.dir) + "/o/PROF_"))

    def test_variables(self):
        r = self.ascope("run", "--quiet", "--no-export", "--env", "A=1;B=2", "sh", "-c", "echo $A$B", code=0)
        self.assertEqual(r.stdout, "12\n")

    def test_signals_of_the_program_are_as_the_caller_has_them(self):
        show = ["grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"]
        alone = subprocess.run(show, capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.ascope("run", "--quiet", "--no-export", *show, code=0).stdout, alone)

    def test_the_machine(self):
        r = self.ascope("run", "--period", "1", "--json", code=0)
        self.assertEqual(json.loads(r.stdout)["program"], None)
        self.assertEqual(self.sample_of(self.one())["hostSysUsage"], "cpu,mem")

    def test_a_running_process(self):
        with subprocess.Popen(["sleep", "60"]) as other:
            try:
                self.ascope("run", "--pid", str(other.pid), "--duration", "1", "--no-export", code=0)
            finally:
                other.kill()
        self.assertEqual(self.sample_of(self.one())["host_sys_pid"], other.pid)
        self.assertIn("host_cpu.data", self.data_of(self.one()))

    def test_on_demand(self):
        r = self.ascope("run", "--interactive", "--no-export", "--out", "o", "sleep", "0.2", code=0,
                        input="start\nstop\nstart\nstop\nquit\n")
        self.assertEqual(len(self.found("o")), 2, r.stdout)

    def test_ctrl_c_exports_what_there_is(self):
        p = subprocess.Popen([ASCOPE, "run", "--out", "o", "sh", "-c", "echo ready; exec sleep 60"], cwd=self.dir,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.assertEqual(p.stdout.readline(), "ready\n")
        os.killpg(p.pid, signal.SIGINT)
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130, err)
        self.assertIn("killed by signal 2 (SIGINT)", err)
        self.assertIn("host_cpu_usage", out)
        self.assertTrue(self.written(self.one("o")))

    def test_options_of_msprof_are_accepted_by_their_names(self):
        """Each of them gets as far as the check of its value; none is taken for the beginning of another name."""
        usage = self.msprof("--help", code=0).stdout
        names = re.findall(r"^  --([\w-]+)=", usage, re.M)
        self.assertGreater(len(names), 70)
        own = {"output", "host-sys", "delay", "duration", "storage-limit", "pid", "dialect"}
        for name in names:
            if name in own | {"environment", "reports", "sys-mem-serviceflow", "mstx-domain-include", "mstx-domain-exclude", "optype"}:
                continue  # of its own, or any text is a value
            with self.subTest(name):
                r = self.ascope("run", f"--{name}=,", "true", code=2)
                self.assertIn(f"--{name}=,: ", r.stderr.replace(f"--{name}: ,: ", f"--{name}=,: "))


class Msprof(Running):
    def test_a_program(self):
        r = self.msprof("--output=o", "--host-sys=cpu,mem", "sh", "-c", "echo hello", code=0)
        path = self.one("o")
        lines = r.stdout.splitlines()
        self.assertEqual(lines[0], f"[INFO] recording into {path}")
        self.assertIn("hello", lines)
        self.assertIn("[INFO] Profiling finished.", lines)
        self.assertEqual(lines[-1], f"[INFO] Process profiling data complete. Data is saved in {path}")
        self.assertTrue({".csv", ".txt", ".db"} <= {os.path.splitext(f)[1] for f in self.written(path)})

    def test_how_it_ends(self):
        rows = [
            ("a failing program is a warning", ["sh", "-c", "exit 3"], 0, "[WARNING] sh ended with exit status 3"),
            ("so is a killed one", ["sh", "-c", "kill -9 $$"], 0, "[WARNING] sh was killed by signal 9 (SIGKILL)"),
            ("one that is not there", ["./nowhere"], 255, "[ERROR] ./nowhere"),
            ("one that ends before the delay", ["--delay=60", "true"], 0, ""),
            ("the machine without a device", ["--sys-devices=0", "--sys-period=1", "--ai-core=on"], 255, "not online"),
        ]
        for what, args, code, part in rows:
            with self.subTest(what):
                self.assertIn(part, self.msprof("--output=o", *args, code=code).stdout)

    def test_the_old_form(self):
        self.msprof("--application=/bin/sh -c exit", "--output=o", code=0)
        self.assertEqual(self.sample_of(self.one("o"))["app"], "sh")

    def test_the_machine(self):
        self.msprof("--output=o", "--host-sys-usage=cpu,mem", "--sys-period=1", "--host-sys-usage-freq=10", code=0)
        s = self.sample_of(self.one("o"))
        self.assertEqual((s["hostSysUsage"], s["hostProfilingSamplingInterval"]), ("cpu,mem", 100))

    def test_results_as_asked(self):
        rows = [(["--type=db"], {".db"}), (["--summary-format=json"], {".json", ".txt", ".db"})]
        for args, endings in rows:
            with self.subTest(args=args):
                place = f"o{len(args[0])}"
                self.msprof(f"--output={place}", "--host-sys=cpu", *args, "true", code=0)
                self.assertEqual({os.path.splitext(f)[1] for f in self.written(self.one(place))}, endings)

    def test_operators_are_another_tools(self):
        tool = os.path.join(self.dir, "tools/msopprof/bin/msopprof")
        os.makedirs(os.path.dirname(tool))
        with open(tool, "w") as f:
            f.write("#!/bin/sh\necho \"$@\"; exit 5\n")
        os.chmod(tool, 0o755)
        r = self.msprof("op", "--x", "y", env={"ASCEND_TOOLKIT_HOME": self.dir}, code=5)
        self.assertEqual(r.stdout, "--x y\n")
        self.assertIn("[ERROR]", self.msprof("opera", env={"ASCEND_TOOLKIT_HOME": "/nowhere"}, code=0).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
