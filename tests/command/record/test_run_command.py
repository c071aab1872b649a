#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs under `ascope run` and `msprof`: what is recorded, exported, printed and returned.

usage: test_run_command.py ASCOPE SOURCE_ROOT [unittest options]
"""
import csv
import glob
import json
import os
import re
import signal
import struct
import subprocess
import sys
import unittest

from cli_case import ASCOPE, SOURCE, Case
from depth import sampled


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
        self.assertEqual(r.stdout, "out\n")  # the report goes to standard error
        self.assertIn("host only", r.stderr)
        before = r.stderr[:r.stderr.index("sh: ended well")].splitlines()
        self.assertEqual(sorted(line for line in before if not line.startswith("ascope: note: ")),
                         sorted([f"ascope: recording into {path}", "err"]))
        self.assertEqual(len([line for line in before if ": osrt: system calls through libc only" in line]), 1, before)
        self.assertTrue({"host_cpu.data", "host_mem.data", "host_disk.data", "host_network.data"} <= self.data_of(path))
        names = {re.sub(r"_\d+\.", ".", os.path.basename(f)) for f in self.written(path)}
        self.assertTrue({"host_cpu_usage.csv", "msprof.db"} <= names, names)
        self.assertEqual(self.sample_of(path)["app"], "sh")
        collection, = json.loads(self.ascope("export", "--json", "-dir", path, code=0).stdout)["collections"]
        self.assertEqual((collection["chip"], collection["devices"]), (None, []))
        info = self.ascope("info", path, code=0).stdout
        self.assertIn(", host only, process sh (", info)
        self.assertNotIn("Ascend", info)

    def test_options_of_python_front_ends(self):
        """A program has no steps: one line says so, and it is recorded."""
        ignored = "ascope: note: %s: only the front end of a Python framework has such options; ignored"
        rows = [
            (["--active", "2", "--wait=1"], "--wait, --active"),
            (["--skip-first-wait", "1", "--repeat", "0"], "--skip-first-wait, --repeat"),
            (["--gc-detect-threshold", "1"], "--gc-detect-threshold=1"),
            (["--with-stack", "--export-type=db", "--no-data-simplification"], "--with-stack, --export-type=db, --no-data-simplification"),
        ]
        for given, named in rows:
            with self.subTest(given):
                r = self.ascope("run", "--no-export", "--out", "o", *given, "--", "true", code=0)
                self.assertEqual([line for line in r.stderr.splitlines() if "front end" in line], [ignored % named])
        self.assertEqual(len(self.found("o")), len(rows))
        for given, part in (["--active", "many"], "--active many: accepted are integers"), (["--with-stack=on"], "unknown option"), \
                (["--export-type"], "--export-type: missing value; write --export-type=VALUE"), (["--skip-first-wait", "2"], "integers from 0 to 1"), \
                (["--duration", "5d"], "seconds from 1 to 4294967295, also as 90s"), (["--period", "721h"], "seconds from 1 to 2592000"):
            with self.subTest(given):
                self.assertIn(part, self.ascope("run", *given, "--", "true", code=2).stderr)

    def test_seconds_may_have_a_unit(self):
        for given, seconds in (("90s", "90"), ("5m", "300"), ("2h", "7200")):
            with self.subTest(given):
                self.ascope("run", "--no-export", "--out", given, "--host-sys", "none", "--duration", given, "--", "true", code=0)
                with open(os.path.join(self.one(given), "host/sample.json"), encoding="utf-8") as f:
                    self.assertEqual(json.load(f)["durationTime"], seconds)

    def test_a_program_gets_no_variables_of_the_python_front_end(self):
        r = self.ascope("run", "--no-export", "--out", "o", "--dialect", "current", "--", "env", code=0)
        names = {line.split("=")[0] for line in r.stdout.splitlines()}
        self.assertIn("ASCOPE_RUN", names)
        self.assertFalse(names & {"ASCOPE_DIALECT", "ASCOPE_OSRT", "ASCOPE_PROGRAM"} - set(os.environ), names)

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
            ("no such process", ["--pid", "999999999"], 2, "--pid=999999999: no such process"),
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
                    use = report["program"].pop("use")
                    self.assertEqual(report["program"], wanted)
                    self.assertGreater(use["peak_bytes"], 0)
                    self.assertGreater(use["wall_s"], 0)
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
        self.assertEqual(self.ascope("run", "--quiet", "--no-export", "--host-sys=cpu", *show, code=0).stdout, alone)
        # With its calls: handlers for SIGBUS and SIGSEGV. As long as the memory of the rings is there it is as if there were none.
        r = self.ascope("run", "--quiet", "--no-export", *show, code=0)
        faults = 1 << signal.SIGBUS - 1 | 1 << signal.SIGSEGV - 1
        with_calls, without = ([int(line.split()[1], 16) & ~faults for line in text.splitlines()] for text in (r.stdout, alone))
        self.assertEqual(with_calls, without)

    def test_calls_of_the_operating_system(self):
        calls = "import os, threading; [os.write(2, b'') for i in range(100)]; t = threading.Thread(target=print); t.start(); t.join()"
        rows = [([], "osrt: system calls through libc only"), (["--host-sys=osrt"], "osrt: ")]
        for options, note in rows:
            with self.subTest(options=options):
                r = self.ascope("run", "--out", "calls", *options, sys.executable, "-S", "-c", calls, code=0)
                self.assertIn(note, r.stderr)
                table, = glob.glob(glob.escape(self.found("calls")[-1]) + "/mindstudio_profiler_output/os_runtime_statistic*.csv")
                with open(table) as f:
                    rows_of = list(csv.DictReader(f))
                self.assertGreaterEqual(sum(int(row["Count"]) for row in rows_of if row["Name"] == "write"), 100)
                self.assertIn("pthread_create", {row["Name"] for row in rows_of})

    def test_one_note_where_the_library_is_not_loaded(self):
        """As with the static ascope, which has none beside it, and with programs that load none."""
        with open("/bin/sh", "rb") as f:
            shell = bytearray(f.read())
        n_parts, = struct.unpack_from("<H", shell, 56)
        at, = struct.unpack_from("<Q", shell, 32)
        for i in range(n_parts):
            if struct.unpack_from("<I", shell, at + 56 * i)[0] == 3:  # PT_INTERP
                struct.pack_into("<I", shell, at + 56 * i, 0)
        static = os.path.join(self.dir, "static")
        with open(static, "wb") as f:
            f.write(shell)
        os.chmod(static, 0o755)
        for program, env, reason, code in (("true", {"ASCOPE_RUN_LIBRARY": "/nowhere"}, "libascope-run.so is not installed with this ascope", 0),
                                           (static, {}, static + " is linked statically", None)):
            for options in [], ["--host-sys=osrt"]:
                with self.subTest(program=program, options=options):
                    r = self.ascope("run", "--no-export", *options, "--", program, env=env, code=code)
                    said = [line for line in r.stderr.splitlines() if "osrt" in line]
                    self.assertEqual(len(said), 1, r.stderr)
                    self.assertRegex(said[0], "^ascope: (note|warning): osrt: .*; calls of the thread library are not recorded: " + re.escape(reason))
                    self.assertTrue(self.found())

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

    def test_a_running_process_ends(self):
        other = subprocess.Popen(["sleep", "60"])
        p = subprocess.Popen([ASCOPE, "run", "--pid", str(other.pid), "--no-export"], cwd=self.dir, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        said = iter(p.stderr.readline, "")
        self.assertTrue(any("recording into" in line for line in said))
        other.kill()
        other.wait()
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0)
        self.assertIn("host_cpu.data", self.data_of(self.one()))

    def test_running_processes_on_demand(self):
        with subprocess.Popen(["sleep", "60"]) as other:
            try:
                self.ascope("run", "--interactive", "--pid", str(other.pid), "--no-export", "--out", "o", code=0, input="start\nstop\nquit\n")
                r = self.ascope("run", "--interactive", "--pid", str(other.pid), "--no-export", "--out", "j", "--json", code=0,
                                input="start\nstop\nquit\n")
                self.assertEqual([one["path"] for one in json.loads(r.stdout)["collections"]], self.found("j"))
            finally:
                other.kill()
        s = self.sample_of(self.one("o"))
        self.assertEqual((s["app"], s["host_sys_pid"], s["profMode"], s["prof_level"]), ("sleep", other.pid, "", "level1"))

    def test_files_that_appear(self):
        """Each part of the host has its own files, and none of the others'."""
        of_calls = {"host_syscall.data", "host_pthreadcall.data"}
        rows = [("none", set()), ("cpu", {"host_cpu.data"}), ("mem", {"host_mem.data"}), ("disk", {"host_disk.data"}),
                ("network", {"host_network.data"}), ("cpu,mem", {"host_cpu.data", "host_mem.data"}), ("osrt", of_calls)]
        every = {"host_cpu.data", "host_mem.data", "host_disk.data", "host_network.data"} | of_calls
        for parts, wanted in rows:
            with self.subTest(parts):
                place = parts.replace(",", "-")
                self.ascope("run", "--out", place, "--host-sys", parts, "--no-export", "sleep", "0.05", code=0)
                seen = self.data_of(self.one(place)) & every
                self.assertTrue(seen <= wanted and bool(seen) == bool(wanted), seen)

    def test_summary(self):
        r = self.ascope("run", "--out", "o", "sh", "-c", "sleep 0.2", code=0)
        self.assertIn("the program on this host", r.stderr)

    def test_on_demand(self):
        p = subprocess.Popen([ASCOPE, "run", "--interactive", "--no-export", "--out", "o", "sh", "-c", "until [ -e end ]; do sleep 0.05; done"],
                             cwd=self.dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        p.stdin.write("start\nstop\nstart\nstop\n")
        p.stdin.flush()
        n = 0
        while n < 2:
            n += "stopped" in p.stdout.readline()
        open(os.path.join(self.dir, "end"), "w").close()
        p.communicate("quit\n", timeout=60)
        self.assertEqual(p.returncode, 0)
        self.assertEqual(len(self.found("o")), 2)

    def test_ctrl_c_exports_what_there_is(self):
        p = subprocess.Popen([ASCOPE, "run", "--out", "o", "sh", "-c", "echo ready; exec sleep 60"], cwd=self.dir,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.assertEqual(p.stdout.readline(), "ready\n")
        os.killpg(p.pid, signal.SIGINT)
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 130, err)
        self.assertIn("killed by signal 2 (SIGINT)", err)
        self.assertIn("host_cpu_usage", err)
        self.assertNotIn("host_cpu_usage", out)
        self.assertTrue(self.written(self.one("o")))

    def test_a_signal_that_comes_with_the_end_of_the_program(self):
        """Whoever is first: it ends the recording, not the collector."""
        for i in range(10):
            r = self.ascope("run", "--out", f"o{i}", "--host-sys", "none", "sh", "-c", "kill -INT $PPID; exit 4")
            self.assertIn(r.returncode, (4, 130), r.stderr)
            self.assertIn(self.one(f"o{i}"), r.stderr.split("\n", 1)[1])

    def test_options_of_msprof_are_accepted_by_their_names(self):
        """Each of them gets as far as the check of its value; none is taken for the beginning of another name."""
        usage = self.msprof("--help", code=0).stdout
        names = re.findall(r"^  --([\w-]+)=", usage, re.M)
        self.assertGreater(len(names), 70)
        own = {"output", "host-sys", "delay", "duration", "storage-limit", "pid", "dialect"}
        for name in sampled(names, 6):
            if name in own | {"environment", "reports", "sys-mem-serviceflow", "mstx-domain-include", "mstx-domain-exclude", "optype"}:
                continue  # of its own, or any text is a value
            with self.subTest(name):
                r = self.ascope("run", f"--{name}=,", "true", code=2)
                self.assertIn(f"--{name}=,: ", r.stderr.replace(f"--{name}: ,: ", f"--{name}=,: "))


class Settings(Running):
    """sample.json, and PROFILER_SAMPLECONFIG, which the vendor's libraries in the program read."""

    # An option and its value: the members that it changes, or None where there is none. Those that msprof has by default
    # are in the sample data that test_as_the_reference_writes_them compares.
    EFFECTS = [
        ("output=o", {"result_dir": "/o$"}),
        ("environment=A=\"1\\", {"app_env": 'A="1\\\\$'}),
        ("storage-limit=300MB", {"storageLimit": "300MB"}),
        ("python-path=/bin/sh", None),
        ("type=db", None),
        ("reports=x", None),
        ("delay=1", {"delayTime": "1"}),
        ("duration=7", {"durationTime": "7"}),
        ("ascendcl=off", {"acl": "off"}),
        ("model-execution=on", None),
        ("runtime-api=on", {"runtimeApi": "on"}),
        ("ge-api=l0", {"geApi": "l0"}),
        ("ge-api=l1", {"geApi": "l1"}),
        ("task-time=off", {"taskTime": "off", "prof_level": "off", "ts_memcpy": "", "stars_acsq_task": ""}),
        ("task-time=l0", {"taskTime": "l0", "prof_level": "l0"}),
        ("task-time=l1", None),
        ("task-time=l2", {"taskTime": "l2", "prof_level": "l2"}),
        ("task-time=l3", {"taskTime": "l3", "prof_level": "l3"}),
        ("aicore-shape=on", {"aicoreShape": "on"}),
        ("task-memory=on", {"taskMemory": "on"}),
        ("task-tsfw=on", {"taskTsfw": "on"}),
        ("aicpu=on", {"aicpuTrace": "on"}),
        ("hccl=on", {"hcclTrace": "on"}),
        ("msproftx=on", {"msproftx": "on"}),
        ("mstx-domain-include=a,b", {"mstxDomainInclude": "a,b", "msproftx": "on"}),
        ("mstx-domain-exclude=a", {"mstxDomainExclude": "a", "msproftx": "on"}),
        ("optype=MatMul,Add", {"opType": "Add,MatMul"}),
        ("l2=on", {"l2CacheTaskProfiling": "on", "l2CacheTaskProfilingEvents": "0xf6,0xfb,0xfc,0x90,0x91,0x9c,0x9d,0x7d",
                   "npuEvents": "SMMU:0x8a,0x8c,0x8d,0x2,0x8b"}),
        ("npu-events=HA:0x1", {"npuEvents": "HA:0x1", "l2CacheTaskProfiling": "on", "l2CacheTaskProfilingEvents": "HA:0x1"}),
        ("task-block=all", {"taskBlock": "on"}),
        ("task-block=on", {"taskBlock": "on", "taskBlockShink": "on"}),
        ("instr-profiling=on", {"instrProfiling": "on"}),
        ("instr-profiling-freq=300", None),
        ("nts-metrics=Custom:1,0XF", {"ntsMetrics": "Custom:0x1,0xf", "ntsPmuEvents": "0x1,0xf"}),
        ("ai-core=off", {"ai_core_profiling": "", "aiv_profiling": "", "ai_core_lpm": "off"}),
        ("aic-mode=sample-based", {"ai_core_profiling_mode": "sample-based", "aiv_profiling_mode": "sample-based", "ai_core_lpm": "off"}),
        ("aic-freq=30", {"aicore_sampling_interval": 33, "aiv_sampling_interval": 33}),
        ("aic-metrics=MemoryL0", {"ai_core_metrics": "MemoryL0", "aiv_metrics": "MemoryL0",
                                  "ai_core_profiling_events": "0x1b,0x1c,0x21,0x22,0x27,0x28,0x29,0x2a",
                                  "aiv_profiling_events": "0x1b,0x1c,0x21,0x22,0x27,0x28,0x29,0x2a"}),
        ("aic-metrics=Custom:0x8,10", {"ai_core_metrics": "Custom:0x8,10", "aiv_metrics": "Custom:0x8,10",
                                       "ai_core_profiling_events": "0x8,10", "aiv_profiling_events": "0x8,10"}),
        ("ai-vector-core=off", None),
        ("aiv-mode=sample-based", None),
        ("aiv-freq=30", None),
        ("aiv-metrics=MemoryL0", None),
        ("sys-period=1", None),
        ("sys-devices=0", None),
        ("sys-hardware-mem=on", {"hardware_mem": "on", "msprof_llc_profiling": "on", "memProfiling": "on", "ddr_profiling": "on",
                                 "ddr_profiling_events": "read,write", "hbmProfiling": "on", "hbm_profiling_events": "read,write"}),
        ("sys-hardware-mem-freq=30", None),
        ("llc-profiling=write", {"llc_profiling": "write", "llc_profiling_events": "write"}),
        ("sys-mem-serviceflow=x", {"memServiceflow": "x"}),
        ("sys-cpu-profiling=on", {"cpu_profiling": "on", "aiCtrlCpuProfiling": "on", "tsCpuProfiling": "on",
                                  "ai_ctrl_cpu_profiling_events": "0x8,0x11", "ts_cpu_profiling_events": "0x8,0x11"}),
        ("sys-cpu-freq=3", None),
        ("sys-profiling=on", {"sys_profiling": "on"}),
        ("sys-sampling-freq=3", None),
        ("sys-pid-profiling=on", {"pid_profiling": "on"}),
        ("sys-pid-sampling-freq=3", None),
        ("sys-io-profiling=on", {"io_profiling": "on", "nicProfiling": "on", "roceProfiling": "on", "ubProfiling": "on", "ubInterval": 10}),
        ("sys-io-sampling-freq=3", None),
        ("sys-interconnection-profiling=on", {"interconnection_profiling": "on", "pcieProfiling": "on", "hccsProfiling": "on", "ubProfiling": "on"}),
        ("sys-interconnection-freq=3", None),
        ("dvpp-profiling=on", {"dvpp_profiling": "on"}),
        ("dvpp-freq=3", None),
        ("sys-lp=off", {"sysLp": "off"}),
        ("sys-lp-freq=3", {"sysLpFreq": 333333}),
        ("host-sys=cpu,numa", {"host_sys": "cpu,numa", "host_cpu_profiling": "on", "host_numa_profiling": "on"}),
        ("host-sys-pid=1", {"host_sys_pid": 1}),
        ("host-sys-usage=cpu", {"hostSysUsage": "cpu", "hostAllPidCpuProfiling": "on"}),
        ("host-sys-usage-freq=3", {"hostProfilingSamplingInterval": 333}),
        ("parse=off", None), ("query=off", None), ("export=off", None), ("analyze=off", None), ("rule=communication", None),
        ("clear=on", None), ("iteration-id=1", None), ("model-id=1", None), ("summary-format=json", None), ("dialect=current", None),
        # rates, with their switches
        ("instr-profiling=on instr-profiling-freq=300", {"instrProfiling": "on", "instrProfilingFreq": 300}),
        ("sys-hardware-mem=on sys-hardware-mem-freq=30", {"hardware_mem_sampling_interval": 33333, "hbmInterval": 33, "ddr_interval": 33,
                                                          "llc_interval": 33, "memInterval": 33}),
        ("sys-hardware-mem=on sys-hardware-mem-freq=10000", {"hardware_mem_sampling_interval": 100, "hbmInterval": 10}),
        ("sys-cpu-profiling=on sys-cpu-freq=3", {"cpu_sampling_interval": 333}),
        ("sys-profiling=on sys-sampling-freq=3", {"sys_sampling_interval": 333}),
        ("sys-pid-profiling=on sys-pid-sampling-freq=3", {"pid_sampling_interval": 333}),
        ("sys-io-profiling=on sys-io-sampling-freq=3", {"io_sampling_interval": 333, "nicInterval": 333, "roceInterval": 333, "ubInterval": 333}),
        ("sys-interconnection-profiling=on sys-interconnection-freq=3",
         {"interconnection_sampling_interval": 333, "pcieInterval": 333, "hccsInterval": 333, "ubInterval": 333}),
        ("sys-io-profiling=on sys-interconnection-profiling=on sys-interconnection-freq=3", {"nicInterval": 10, "ubInterval": 333}),
        ("dvpp-profiling=on dvpp-freq=3", {"dvpp_sampling_interval": 333}),
    ]

    def given(self, *options):
        """What a program gets."""
        more = ["--msproftx=on"] if any("mstx" in o for o in options) else ["--marks=off"]
        r = self.ascope("run", "--quiet", "--no-export", "--host-sys", "none", *more, *(f"--{o}" for o in options), "env", "-0")
        return json.loads(dict(v.split("=", 1) for v in r.stdout.split("\0") if v)["PROFILER_SAMPLECONFIG"])

    def test_each_option_has_a_row(self):
        names = set(re.findall(r"^  --([\w-]+)=", self.msprof("--help", code=0).stdout, re.M))
        tried = {o.split("=")[0] for row, _ in self.EFFECTS for o in row.split(" ")}
        elsewhere = {"application", "dynamic", "pid"}  # of the classes above and below
        self.assertEqual(names - tried, elsewhere)

    def test_each_option_changes_its_members_alone(self):
        usual = self.given()
        elsewhere = {"result_dir", "msprofBinPid", "ubInterval"}
        for row, wanted in sampled(self.EFFECTS, 6):
            with self.subTest(row):
                own = self.given(*row.split(" "))
                self.assertEqual(own.keys(), usual.keys())
                for key, value in (wanted or {}).items():
                    if isinstance(value, str) and value.endswith("$"):
                        self.assertRegex(own[key], value)
                    else:
                        self.assertEqual(own[key], value, key)
                if " " in row:
                    continue
                changed = {k for k in own if own[k] != usual[k]} - elsewhere
                self.assertEqual(changed, {k for k in wanted or {}} - elsewhere)

    def test_texts_are_escaped(self):
        r = self.ascope("run", "--quiet", "--no-export", "--host-sys", "none", "sh", "-c", 'printf %s "$PROFILER_SAMPLECONFIG" # "\\\n', code=0)
        self.assertEqual(json.loads(r.stdout)["app_parameters"], '-c printf %s "$PROFILER_SAMPLECONFIG" # "\\\n')

    def test_a_variable_of_the_caller_does_not_hide_ours(self):
        r = self.ascope("run", "--quiet", "--no-export", "--host-sys", "none", "sh", "-c", "echo $PROFILER_SAMPLECONFIG", code=0,
                        env={"PROFILER_SAMPLECONFIG": "{}"})
        self.assertIn("result_dir", json.loads(r.stdout))

    def test_as_the_reference_writes_them(self):
        """Every member of the collections that the reference's collector made with these options."""
        ours = {"dynamic", "profLevel", "profSwitch"}
        of_run = {"app_dir", "host_sys_pid", "msprofBinPid", "result_dir"}
        with subprocess.Popen(["sleep", "60"]) as other:
            rows = [
                ("app-910b", ["--msproftx=on", "--aicpu=on", "./simapp"], {"opType"}),
                ("sys-910b", ["--sys-devices=0,1", "--sys-period=3", "--host-sys=cpu,mem,network", f"--host-sys-pid={other.pid}",
                              "--host-sys-usage=cpu,mem", "--host-sys-usage-freq=10", "--sys-hardware-mem=on", "--sys-io-profiling=on",
                              "--sys-interconnection-profiling=on"], {"job_id"}),
                ("host-910b", ["--sys-period=4", "--host-sys=cpu,mem,network,disk,osrt", f"--host-sys-pid={other.pid}"], {"job_id", "host_sys"}),
            ]
            os.symlink("/bin/true", os.path.join(self.dir, "simapp"))
            for name, args, different in rows:
                with self.subTest(name):
                    with open(glob.glob(f"{SOURCE}/tests/data/collector-a/{name}/PROF_*/host/sample.json")[0]) as f:
                        wanted = json.load(f)
                    p = subprocess.Popen([self.named("msprof"), f"--output={name}", *args], cwd=self.dir, stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL)
                    if name != "app-910b":  # a period need not be waited for
                        self.assertIn(b"recording", p.stdout.readline())
                        p.send_signal(signal.SIGINT)
                    p.communicate(timeout=60)
                    own = self.sample_of(self.one(name))
                    self.assertEqual(own.keys() - wanted.keys() - different, ours)
                    self.assertEqual({k: v for k, v in own.items() if k in wanted and k not in of_run | different},
                                     {k: v for k, v in wanted.items() if k not in of_run | different})
            other.kill()


class Msprof(Running):
    def test_a_program(self):
        r = self.msprof("--output=o", "--host-sys=cpu,mem", "sh", "-c", "echo hello", code=0)
        path = self.one("o")
        lines = r.stdout.splitlines()
        self.assertIn(f"[INFO] recording into {path}", lines)
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
