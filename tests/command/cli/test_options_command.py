#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ascope options check`, and `ascope run --acl-json`.

usage: test_options_command.py ASCOPE
"""
import glob
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE = ""
SWITCHED_ON = {"switch": "on", "output": "results", "l2": "on", "host_sys": "cpu,mem"}


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ascope-options-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = {k: v for k, v in os.environ.items() if k != "ASCEND_WORK_PATH"}

    def ascope(self, *arguments):
        return subprocess.run([ASCOPE, *arguments], capture_output=True, text=True, cwd=self.folder, env=self.environment)

    def file(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def test_a_text_is_accepted_and_shown(self):
        done = self.ascope("options", "check", '{"output":".","task_trace":"l0","host_sys":"cpu"}')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("profiling is on, data mask 0x803", done.stdout)
        self.assertRegex(done.stdout, r"task_time +on +default\n")
        self.assertRegex(done.stdout, r"host_sys +cpu +given\n")
        self.assertRegex(done.stdout, r"host_sys +CPU Usage +host_cpu_usage_\*\.csv\n")
        self.assertIn("warning: options:1:28: task_trace: its value is ignored", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])  # nothing is made
        self.assertEqual(self.ascope("options", "check", '{"output":"."}', "--quiet").stdout, "")

    def test_a_text_is_refused_with_every_fault(self):
        done = self.ascope("options", "check", self.file("o.json", '{"output":".",\n "l2":"xx",\n "dvpp_freq":"5"}'))
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn('o.json:2:7: l2: invalid value "xx"; expected on, off, or an empty text [EK0001]', done.stderr)
        self.assertIn('o.json:3:14: dvpp_freq: invalid value "5" (not an integer)', done.stderr)

    def test_json_says_the_same(self):
        done = self.ascope("options", "check", "--json", '{"output":".","l2":"on","aicpu":"on"}')
        report = json.loads(done.stdout)
        self.assertEqual((report["accepted"], report["profiling"], report["data_mask"]), (True, True, "0x81b"))
        self.assertIn({"key": "l2", "value": "on", "given": True, "effective": True}, report["options"])
        self.assertIn({"option": "l2", "layers": [], "files": ["l2_cache_*.csv", "soc_pmu_*.csv (on some chips)"]}, report["results"])
        done = self.ascope("options", "check", "--json", '{"l2":1}')
        report = json.loads(done.stdout)
        self.assertEqual((done.returncode, report["accepted"], report["results"]), (1, False, []))
        self.assertEqual([(r["line"], r["column"], r["key"], r["code"]) for r in report["remarks"] if r["severity"] == "error"],
                         [(1, 7, "l2", "EK0001"), (0, 0, "output", "")])

    def test_what_is_refused_is_not_called_accepted(self):
        for text, chip, key in (('{"output":".","optype":""}', "5", "optype"), ('{"output":".","optype":"a"}', "5", "optype"),
                                ('{"output":".","host_sys":"numa,gpu"}', "5", "host_sys"), ('{"output":".","task_memory":"x"}', "5", "task_memory"),
                                ('{"output":".","instr_profiling":"on"}', "4", "instr_profiling")):
            with self.subTest(text=text):
                done = self.ascope("options", "check", text, "--chip", chip)
                self.assertEqual(done.returncode, 1)
                self.assertEqual([line for line in done.stderr.splitlines() if f"{key}: " in line and "warning" in line], [])
                self.assertIn(f" {key}: ", done.stderr)

    def test_lack_of_memory_is_reported(self):
        self.ascope("sim", "--out", "sim")
        prof, = glob.glob(self.folder + "/sim/PROF_*")
        for arguments in (["compare", prof, prof], ["run", "--no-export", "--", "true"], ["options", "check", '{"output":"."}']):
            for kib in range(7000, 16000, 200):
                limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (kib << 10, kib << 10))
                with self.subTest(arguments=arguments, kib=kib):
                    done = subprocess.run([ASCOPE, *arguments], capture_output=True, text=True, cwd=self.folder, env=self.environment,
                                          preexec_fn=limit)
                    if done.returncode > 0:  # below: the system could not start it
                        self.assertNotEqual(done.stderr, "")

    def test_chips_and_forms(self):
        for arguments, code in ((['{"output":".","sys_cpu_freq":5}'], 1), (['{"output":".","sys_cpu_freq":5}', "--chip", "16"], 0),
                                (['{"output":".","aic_metrics":"MemoryAccess"}', "--chip", "310P"], 1),
                                (['{"output":"."}', "--chip", "nonsense"], 2), (['{"output":"."}', "--as", "acl.json"], 0),
                                (["nowhere.json"], 2), ([], 2), (["{}", "{}"], 2), (["", "--as", "acl.json"], 0), ([""], 1)):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.ascope("options", "check", *arguments).returncode, code)
        self.assertEqual(self.ascope("options", "nonsense", "{}").returncode, 2)

    def test_run_records_what_the_file_asks_for(self):
        done = self.ascope("run", "--no-export", "--acl-json", self.file("acl.json", {"profiler": SWITCHED_ON}), "--", "sleep", "0.1")
        self.assertEqual(done.returncode, 0, done.stderr)
        sample, = glob.glob(self.folder + "/results/PROF_*/host/sample.json")
        with open(sample, encoding="utf-8") as f:
            got = json.load(f)
        self.assertEqual({k: got[k] for k in ("l2CacheTaskProfiling", "host_sys", "runtimeApi", "acl", "taskTime", "msproftx", "profSwitch")},
                         {"l2CacheTaskProfiling": "on", "host_sys": "cpu,mem", "runtimeApi": "on", "acl": "on", "taskTime": "on",
                          "msproftx": "off", "profSwitch": "0x177"})

    def test_run_without_profiling_just_runs(self):
        done = self.ascope("run", "--acl-json", self.file("acl.json", {"profiler": {"switch": "off"}}), "--", "sh", "-c", "echo it; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, "it\n"))
        self.assertIn("profiling is off", done.stderr)
        self.assertEqual(os.listdir(self.folder), ["acl.json"])

    def test_run_refuses_what_the_vendor_refuses(self):
        bad = self.file("acl.json", {"profiler": dict(SWITCHED_ON, storage_limit="10MB")})
        good = self.file("good.json", {"profiler": SWITCHED_ON})
        for arguments in (["--acl-json", bad], ["--acl-json", "nowhere"], ["--acl-json", good, "--level", "0"],
                          ["--acl-json", good, "--l2=on"]):
            with self.subTest(arguments=arguments):
                done = self.ascope("run", *arguments, "--", "echo", "it")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertEqual(self.ascope("run", "--acl-json", good).returncode, 2)

    def test_results_without_an_output_are_beside_the_program(self):
        program = os.path.join(self.folder, "bin", "app")
        os.mkdir(os.path.dirname(program))
        shutil.copy(shutil.which("true"), program)
        done = self.ascope("run", "--no-export", "--acl-json", self.file("acl.json", {"profiler": {"switch": "on"}}), "--", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(glob.glob(self.folder + "/bin/PROF_*")), 1)


if __name__ == "__main__":
    ASCOPE = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
