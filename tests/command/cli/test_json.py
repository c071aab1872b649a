#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/json.md against what the commands print with --json: each member is documented with its type, and each documented
member is printed by one of them.

usage: test_json.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from monitor_files import Job
from made_snapshot import Training, write

ASCOPE = SOURCE = None
SCALARS = {"text": lambda v: isinstance(v, str), "boolean": lambda v: isinstance(v, bool), "null": lambda v: v is None,
           "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
           "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)}
# Lists whose elements depend on the command.
BY_COMMAND = {("info", "collections"): ["PROF info", "PyTorch info", "trace info"], ("recover", "collections"): ["recovery"],
              ("sim", "directories"): ["made"]}


def tables():
    """{object: {member: (types, is_optional)}}; a type is a list of words, the last of which names it."""
    found, name = {}, None
    with open(os.path.join(SOURCE, "docs/json.md"), encoding="utf-8") as f:
        for line in f:
            heading, row = re.match(r"## (.+)", line), re.match(r"\| `(\w+)` \| ([^|]+) \|", line)
            if heading:
                name = heading.group(1)
            elif row:
                words = row.group(2).strip()
                optional = words.endswith(", optional")
                found.setdefault(name, {})[row.group(1)] = (words.removesuffix(", optional"), optional)
    return found


class Documented(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope json é ")
        self.addCleanup(shutil.rmtree, self.dir)
        self.tables = tables()
        self.seen, self.wrong = set(), []

    def run_json(self, *args):
        r = subprocess.run([ASCOPE, args[0], "--json", *args[1:]], capture_output=True, text=True, cwd=self.dir, timeout=120)
        report = json.loads(r.stdout)
        self.assertEqual(report["exit_code"], r.returncode, args)
        return report

    def copy(self, pattern, name):
        path = os.path.join(self.dir, name)
        shutil.copytree(glob.glob(os.path.join(SOURCE, "tests/data", pattern))[0], path, copy_function=shutil.copyfile)
        for top, _, _ in os.walk(path):
            os.chmod(top, 0o755)
        return path

    def fits(self, value, words):
        """Whether a value is of one of the types; what is inside of it is checked when it is an object or a list."""
        if words.startswith("list of "):
            return isinstance(value, list) and all(self.fits(v, words.removeprefix("list of ")) for v in value)
        if words.startswith("object of "):
            return isinstance(value, dict) and all(self.fits(v, words.removeprefix("object of ")) for v in value.values())
        kinds = words.split(" or ")
        if not isinstance(value, dict):
            return any(kind in SCALARS and SCALARS[kind](value) for kind in kinds)
        objects = [kind for kind in kinds if kind not in SCALARS]
        objects.sort(key=lambda kind: len(set(value) - set(self.tables[kind])))
        if objects:
            self.check(value, objects[0])  # the one that fits best: what it does not have is reported
        return bool(objects)

    def check(self, value, name, command=None):
        for member, inside in value.items():
            if member not in self.tables[name]:
                self.wrong.append("%s: %s is not documented" % (name, member))
                continue
            words, _ = self.tables[name][member]
            if (command, member) in BY_COMMAND:
                words = "list of " + " or ".join(BY_COMMAND[command, member])
            self.seen.add((name, member))
            if not self.fits(inside, words):
                self.wrong.append("%s: %s is no %s: %.300s" % (name, member, words, json.dumps(inside)))
        for member, (_, optional) in self.tables[name].items():
            if not optional and member not in value:
                self.wrong.append("%s: %s is missing" % (name, member))

    def check_hang(self):
        entry = {"process_group": ["0", "x"], "collective_seq_id": 1, "profiling_name": "nccl:all_reduce", "state": "started",
                 "frames": [{"filename": "a.py", "line": 3, "name": "f"}], "input_sizes": [[2]], "input_dtypes": ["Float"]}
        dump = os.path.join(self.dir, "dump_0")
        with open(dump, "w") as f:
            json.dump({"pg_config": {"0": {"name": "0", "desc": "x", "ranks": "[0, 1]"}}, "entries": [entry]}, f)
        self.check(self.run_json("hang", dump), "report", "hang")
        with subprocess.Popen([sys.executable, "-c", "print(flush=True); input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
            job.stdout.readline()
            report = self.run_json("hang", str(job.pid))
            self.check(self.run_json("sample", str(job.pid), "--seconds", "1"), "report", "sample")
            job.stdin.close()
        self.check(report, "report", "hang")

    def check_monitor(self):
        job = Job(2, seed=1)
        for step in range(200):
            job.take(all_factor=1.5 if step > 100 else 1)
        folder = os.path.join(self.dir, "monitor")
        os.mkdir(folder)
        job.write(folder)
        self.check(self.run_json("top", folder), "report", "top")
        self.check(self.run_json("monitor", folder, "--replay"), "report", "monitor")

    def check_memory(self):
        t = Training(limit=100 << 20)
        path = os.path.join(self.dir, "snapshot.pickle")
        write(path, t.run(20, lambda t, i: t.alloc(8 << 20, 16)).snapshot())
        self.check(self.run_json("memory", path), "report", "memory")
        ranks = [os.path.join(self.dir, "rank_%d.pickle" % i) for i in range(2)]
        for of_rank in ranks:
            shutil.copyfile(path, of_rank)
        self.check(self.run_json("memory", *ranks), "report", "memory of ranks")

    def check_dyn(self):
        """Of a job: the example for C."""
        config = os.path.join(self.dir, "config")
        os.mkdir(config)
        program, env = os.path.join(os.path.dirname(ASCOPE), "examples/dynamic"), dict(os.environ, ASCOPE_DYNAMIC_POLL_MS="5", RANK="0")
        job = subprocess.Popen([program, config, "1000000", "1"], cwd=self.dir, env=env)
        try:
            end = time.monotonic() + 100
            while not self.run_json("dyn", config)["listeners"] and time.monotonic() < end:
                pass
            for args in ["start", "--steps", "2"], ["wait", "--timeout", "100"], ["status"]:
                report = self.run_json("dyn", config, *args)
                self.assertEqual(report["exit_code"], 0, args)
                self.check(report, "report", "dyn")
        finally:
            job.kill()
            job.wait()
            shutil.rmtree(config)  # a job that ends removes the shared memory of the killed one
            subprocess.run([program, config, "1", "1"], cwd=self.dir, env=env, stdout=subprocess.DEVNULL, timeout=120, check=True)

    def check_flight(self):
        """Of a flight recorder whose program was killed, as if some of its history were overwritten."""
        folder = os.path.join(self.dir, "flight")
        os.mkdir(folder)
        subprocess.run([os.path.join(os.path.dirname(ASCOPE), "tests/programs/flight_job"), folder, "kill"], stdout=subprocess.DEVNULL, check=False)
        report = self.run_json("dyn", folder, "save")
        self.check(report, "report", "dyn")
        facts = os.path.join(report["saved"][0]["path"], "ascope.json")
        with open(facts) as f:
            whole = json.load(f)
        window = whole["flight"]["window"]
        whole["flight"]["dropped_history"] = {"begin_unix_ns": window["begin_unix_ns"] - 10 ** 9, "end_unix_ns": window["begin_unix_ns"]}
        with open(facts, "w") as f:
            json.dump(whole, f)
        self.check(self.run_json("info", folder), "report", "info")

    def test_a_report_of_every_failure(self):
        bad = os.path.join(self.dir, "PROF_bad")
        os.makedirs(bad)
        for args in (["why", "none"], ["why", bad], ["advise", "none"], ["advise", bad], ["compare", "none", bad], ["analyse", "none"], ["analyse", bad],
                     ["export-trace", "none", "a.json"], ["export-stacks", bad, "a.log"], ["export-memory-timeline", bad, "a.html"],
                     ["export-trace", bad, "-"], ["export", "none"], ["info", "none"], ["query", "none"], ["recover", "none"], ["cluster", "none"],
                     ["communication", bad], ["dyn", "none"], ["options", "check", "none"], ["sim", "--out", "/proc/none"],
                     ["run", "--no-export", "none/at/all"]):
            with self.subTest(args=args):
                report = self.run_json(*args)
                self.assertNotIn(report["exit_code"], (0, 3))
                self.check(report, "report", args[0])
        self.assertEqual(self.wrong, [])

    def test_every_member_of_every_report(self):
        def sim(*args):
            report = self.run_json("sim", *args)
            self.check(report, "report", "sim")
            return report["directories"][0]["path"]

        prof = sim("--kernels", "300", "--steps", "6")
        torch = sim("--framework", "pt", "--kernels", "300", "--steps", "6", "--stall", "4:20ms", "--seed", "2")
        sim("--framework", "pt", "--ranks", "2", "--kernels", "2000", "--slow-rank", "1:2", "--out", "job")
        job = os.path.join(self.dir, "job")
        own = self.copy("own-training/raw/*_ascend_pt", "own_ascend_pt")
        npu, host = self.copy("pt-a-npu/raw/*_ascend_pt", "npu_ascend_pt"), self.copy("pt-a-host/raw/*_ascend_pt", "host_ascend_pt")
        bad = os.path.join(self.dir, "PROF_bad")
        os.makedirs(os.path.join(bad, "host"))
        with open(os.path.join(bad, "host", "info.json"), "w") as f:
            f.write("{")
        broken = self.copy("pt-a-host/raw/*_ascend_pt", "broken_ascend_pt")
        for f in glob.glob(glob.escape(broken) + "/FRAMEWORK/*"):
            os.remove(f)
        for args in (["export", "-dir", prof], ["export", "summary", "-dir", bad], ["communication", prof], ["query", prof],
                     ["analyse", npu, host, own, torch, broken], ["analyse", prof], ["why", torch], ["why", job], ["cluster", job, "--ranks", "0-1,7"], ["analyse", "--summary", job], ["why", prof], ["advise", torch], ["advise", job], ["compare", torch, prof], ["compare", prof, os.path.join(SOURCE, "tests/data/kineto/hand-2x.json")], ["compare", torch, torch], ["compare", job, job], ["gate", job, job], ["gate", torch, job], ["gate", "--allow", "1%", torch, bad], ["sql", torch, "SELECT name, dur_ns, 1.5, step FROM kernels LIMIT 3"], ["sql", ".schema"], ["info", own, prof, bad, torch, os.path.join(SOURCE, "tests/data/kineto/hand-2x.json")], ["recover", own],
                     ["export-trace", torch, "t.json"], ["export-stacks", torch, "s.log"], ["export-stacks", torch, "s.svg"],
                     ["export-memory-timeline", torch, "m.html"], ["doctor", "--python", "/nowhere"],
                     ["run", "sleep", "0.1"], ["options", "check", '{"output":".","l2":"on","fp_point":"x"}'],
                     ["options", "check", '{"output":".","nonsense":1'], ["options", "check", '{"profiler":{"l2":1}}']):
            report = self.run_json(*args)
            self.assertEqual(report["command"], args[0])
            self.check(report, "report", args[0])
        self.check_dyn()
        self.check_flight()
        self.check_hang()
        self.check_memory()
        self.check_monitor()
        subprocess.run([os.path.join(os.path.dirname(ASCOPE), "examples/training")], cwd=bad, stdout=subprocess.DEVNULL, check=True)
        recorded, = glob.glob(glob.escape(bad) + "/*_ascend_pt")
        self.check(self.run_json("why", recorded, "--step", "3"), "report", "why")  # with the thread of its steps
        slow = os.path.join(self.dir, "slow")
        self.check(self.run_json("sim", "--steps", "8", "--kernels", "400", "--stall", "5:20ms", "--out", slow), "report", "sim")
        self.check(self.run_json("export", "db", "-dir", slow), "report", "export")
        self.check(self.run_json("why", os.path.join(SOURCE, "tests/data/kineto/hand-2x.json")), "report", "why")
        engine = os.path.join(self.dir, "engine.json")
        with open(engine, "w") as f:
            names = ["execute_%d_context_1(sq64sk64sqsq4096sqsk4096)_generation_0(sq0sk0sqsq0sqsk0)" % 64] + ["execute_1_context_0(sq0sk0sqsq0sqsk0)_generation_1(sq1sk65sqsq1sqsk65)"] * 4
            json.dump({"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "cat": cat, "name": name, "ts": 100 * i + 1, "dur": 80} for i, n in enumerate(names) for cat, name in (("user_annotation", n), ("cpu_op", "aten::mm"))]}, f)
        self.check(self.run_json("why", engine), "report", "why")
        with open(engine) as f:
            events = json.load(f)["traceEvents"]
        events += [{"ph": "X", "pid": 1, "tid": 2, "cat": "user_annotation", "name": name, "ts": at, "dur": 1} for name, at in (("request_begin 7", 1), ("first_token 7", 90), ("token 7", 180), ("request_end 7", 200))]
        with open(engine, "w") as f:
            json.dump({"traceEvents": events}, f)
        self.check(self.run_json("why", "--request", "7", engine), "report", "why")
        self.check(self.run_json("compare", engine, engine), "report", "compare")
        self.assertEqual(sorted(set(self.wrong)), [])
        # Records are dropped, and slices age, in no sample.
        never = {("dropped", m) for m in self.tables["dropped"]}
        self.assertEqual(sorted({(name, m) for name, table in self.tables.items() for m in table} - self.seen - never), [])


if __name__ == "__main__":
    ASCOPE, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
