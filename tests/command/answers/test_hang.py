#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope hang on dumps of the flight recorder whose verdict is known: made here, and the shared samples where they are.

    test_hang.py ASCOPE SOURCE
"""
import glob
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import time
import unittest


def ascope(*words):
    return subprocess.run([ASCOPE, "hang", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


class Job:
    """Ranks that call the same in each step: all_reduce in their tp group twice, reduce_scatter in dp, all_reduce of all."""
    def __init__(self, world=4, tp=2, steps=3):
        self.world = world
        groups = [("default_pg", list(range(world)))]
        groups += [("tp", list(range(i, i + tp))) for i in range(0, world, tp)]
        groups += [("dp", list(range(i, world, tp))) for i in range(tp)]
        self.groups = {str(i): g for i, g in enumerate(groups)}
        self.entries = {r: [] for r in range(world)}
        for _ in range(steps):
            for rank in range(world):
                for desc, kind, line in (("tp", "all_reduce", 10), ("tp", "all_reduce", 11), ("dp", "_reduce_scatter_base", 12), ("default_pg", "all_reduce", 13)):
                    self.call(rank, desc, kind, line, done=True)

    def group(self, rank, desc):
        return next(k for k, (d, ranks) in self.groups.items() if d == desc and rank in ranks)

    def call(self, rank, desc, kind, line, done=False, size=64, dtype="Float", number=None, p2p=False):
        group = self.group(rank, desc)
        if number is None:
            number = 1 + sum(e["process_group"][0] == group and e["is_p2p"] == p2p for e in self.entries[rank])
        self.entries[rank].append({
            "frames": [{"name": kind, "filename": "/v/site-packages/torch/distributed/distributed_c10d.py", "line": 3000},
                       {"name": "step", "filename": "/home/user/train.py", "line": line}],
            "record_id": len(self.entries[rank]), "pg_id": int(group), "process_group": (group, desc),
            "collective_seq_id": 0 if p2p else number, "p2p_seq_id": number if p2p else 0, "op_id": 1, "profiling_name": "hccl:" + kind,
            "input_sizes": [[size, 2]], "output_sizes": [[size, 2]], "input_dtypes": [dtype], "output_dtypes": [dtype],
            "state": "completed" if done else "started", "retired": done, "is_p2p": p2p, "timeout_ms": 600000,
            "time_created_ns": 1795009999005473665 + rank, "time_discovered_started_ns": None, "time_discovered_completed_ns": None})

    def write(self, folder, of=None, drop=0, as_json=False):
        for rank in range(self.world) if of is None else of:
            dump = {"version": "2.10", "comm_lib_version": "x", "pg_status": {},
                    "pg_config": {k: {"name": k, "desc": d, "ranks": str(r)} for k, (d, r) in self.groups.items() if rank in r},
                    "entries": self.entries[rank][drop * rank:]}
            with open(os.path.join(folder, "nccl_trace_rank_%d" % rank), "wb") as f:
                f.write(json.dumps(dump).encode() if as_json else pickle.dumps(dump, 2 + rank % 4))


STACKS = """
import faulthandler, sys, threading, time

class A:
    def wait(self):
        ready.wait()
        time.sleep(1e6)

def generator():
    def fünf():  # not of ASCII
        return [
            A()
            .wait()
        ]
    yield fünf()

ready = threading.Barrier(2)
threading.Thread(target=A().wait, daemon=True).start()
with open(sys.argv[1], "w") as file:
    faulthandler.dump_traceback_later(0.01, file=file, repeat=True)  # the last dump is of what lasts
    print(list(map(lambda x: next(generator()), [1])))
"""


def interpreters():
    """Of the versions that ascope knows: what runs this test, and those of pyenv."""
    found = [sys.executable, *glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))]
    return {v: p for p in found for v in [subprocess.check_output([p, "-c", "import sys; print(sys.version_info[:2])"], text=True).strip()]
            if v in ("(3, 11)", "(3, 12)", "(3, 13)")}


def dumped(path):
    """{number of frames: [(file, line, function)] of its threads} of the last whole dump of faulthandler."""
    with open(path, encoding="utf-8") as f:
        parts = f.read().split("Timeout")
    threads = []
    for line in parts[-2].splitlines() if len(parts) > 2 else ():
        if line.startswith("Thread"):
            threads.append([])
        elif match := re.match(r'  File "(.*)", line (\d+) in (.*)', line):
            threads[-1].append((match[1], int(match[2]), match[3]))
    return sorted(threads)


class Stacks(unittest.TestCase):
    def test_they_are_those_that_the_interpreter_dumps(self):
        known = interpreters()
        if not known:
            self.skipTest("no Python of a known version")
        for version, program in known.items():
            with self.subTest(version), tempfile.TemporaryDirectory() as folder:
                script, dump = os.path.join(folder, "stacks.py"), os.path.join(folder, "dump")
                with open(script, "w", encoding="utf-8") as f:
                    f.write(STACKS)
                with subprocess.Popen([program, script, dump], stdin=subprocess.DEVNULL) as process:
                    try:
                        self.compare(process, dump)
                    finally:
                        process.kill()

    def compare(self, process, dump):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            report = json.loads(ascope(str(process.pid), "--json").stdout or '{"hangs": []}')
            # the names of the dump are those of the code alone, with \\xfc for what is not ASCII
            seen = sorted([(f["file"], f["line"], f["function"].split(".")[-1].encode("ascii", "backslashreplace").decode()) for f in t["python"]]
                          for p in (report["hangs"] or [{"processes": []}])[0]["processes"] for t in p["threads"] if t["python"])
            said = dumped(dump) if os.path.exists(dump) else []
            if len(said) == 2 and seen == said:
                break
            time.sleep(0.1)
        self.assertEqual(seen, said)
        self.assertEqual(sum(("f\\xfcnf" in [f for _, _, f in t]) for t in seen), 1)


SPINS = """
import threading, time

def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass

def three():
    spin(0.03)

def one():
    spin(0.01)

threading.Thread(target=time.sleep, args=(1e6,), daemon=True, name="idle").start()
print("ready", flush=True)
while True:
    three()
    one()
"""


class Samples(unittest.TestCase):
    def setUp(self):
        known = interpreters()
        if not known:
            self.skipTest("no Python of a known version")
        self.program = max(known.items())[1]

    def sample(self, *words):
        return subprocess.run([ASCOPE, "sample", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def test_shares_are_those_of_processor_time(self):
        """Three parts of four are in three(), by the program's own clock of its thread; the other thread waits all the time."""
        counts, waits = {"three": 0, "one": 0}, [0, 0]
        with subprocess.Popen([self.program, "-c", SPINS], stdout=subprocess.PIPE, text=True) as job, tempfile.TemporaryDirectory() as folder:
            job.stdout.readline()
            path = os.path.join(folder, "stacks.txt")
            for _ in range(20):
                report = json.loads(self.sample(str(job.pid), path, "--seconds", "3", "--hz", "200", "--json").stdout)["samplings"][0]
                with open(path, encoding="utf-8") as f:
                    lines = [line.rsplit(" ", 1) for line in f]
                self.assertEqual(sum(int(n) for stack, n in lines if stack.startswith("on;")), report["on"])
                self.assertEqual(sum(int(n) for stack, n in lines if stack.startswith("off;")), report["off"])
                self.assertEqual(sum(f["samples"] for f in report["on_frames"]), report["on"])
                for stack, n in lines:
                    for name in counts:
                        if "main thread" in stack and ";%s (" % name in stack:
                            counts[name] += int(n)
                    if "main thread" not in stack:
                        waits[stack.startswith("off;")] += int(n)
                if sum(counts.values()) >= 800:
                    break
            job.kill()
        self.assertGreaterEqual(sum(counts.values()), 800)
        self.assertAlmostEqual(counts["three"] / sum(counts.values()), 0.75, delta=0.08)  # five times the error of 800 samples
        self.assertLess(waits[0], waits[1] / 10)

    def test_what_cannot_be_sampled(self):
        for words, code, said in ((("1x",), 2, "expected the id of a process"), ((), 2, "expected the id"), (("999999999",), 1, "it runs none")):
            done = self.sample(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (code, 1), done.stderr)
            self.assertIn(said, done.stderr)


class Hang(unittest.TestCase):
    def setUp(self):
        where = tempfile.TemporaryDirectory()
        self.addCleanup(where.cleanup)
        self.dir = where.name

    def judge(self, job, verdict, ranks, group=None, number=None, **how):
        job.write(self.dir, **how)
        done = ascope("--json", self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer = json.loads(done.stdout)["hangs"][0]
        self.assertEqual((answer["verdict"], answer["ranks"], answer["group"], answer["number"]), (verdict, ranks, group, number), answer["text"])
        self.assertEqual(ascope(self.dir).stdout.splitlines()[0], answer["text"])
        return answer

    def test_nothing_is_unfinished(self):
        for as_json in (False, True):
            self.judge(Job(), "none", [], as_json=as_json)

    def test_a_rank_did_not_come(self):
        for drop in (0, 2):  # rings that have lost the first entries, each rank another number
            job = Job()
            for rank in (0, 1, 3):
                job.call(rank, "default_pg", "all_reduce", 13)
            answer = self.judge(job, "missing", [2], "0", 4, drop=drop)
            self.assertIn("ranks 0, 1, 3 wait at /home/user/train.py:13 (step)", answer["text"])
            self.assertIn("rank 2 was last seen after all_reduce #3 of group 0", answer["text"])

    def test_a_chain_leads_to_its_end(self):
        """0 waits in dp for 2, 2 in tp for 3, 1 in dp for 3, and 3 waits nowhere."""
        job = Job()
        job.call(2, "tp", "all_reduce", 10)
        for rank in (0, 1):
            for line in (10, 11):
                job.call(rank, "tp", "all_reduce", line, done=True)
            job.call(rank, "dp", "_reduce_scatter_base", 12)
        answer = self.judge(job, "missing", [3], job.group(3, "tp"), 7)
        self.assertEqual(len(answer["waits"]), 3)

    def test_ranks_call_different_things(self):
        for odd in ({"size": 65}, {"dtype": "Half"}, {"kind": "broadcast"}):
            job = Job()
            for rank in range(4):
                job.call(rank, "default_pg", **{"kind": "all_reduce", "line": 13, **(odd if rank == 1 else {})})
            self.judge(job, "mismatch", [1], "0", 4)
        job = Job()
        job.call(2, "tp", "all_reduce", 10)
        job.call(3, "tp", "all_reduce", 10, size=32)  # of a pair both are named, first the one that never did this before
        self.judge(job, "mismatch", [3, 2], job.group(2, "tp"), 7)

    def test_sizes_that_may_differ(self):
        job = Job()
        for rank in range(4):
            job.call(rank, "default_pg", "all_to_all", 14, size=rank + 1)
        self.judge(job, "stuck", [], "0", 4)

    def test_all_have_come(self):
        job = Job()
        for rank in (1, 3):
            job.call(rank, "dp", "_reduce_scatter_base", 12)
        answer = self.judge(job, "stuck", [], job.group(1, "dp"), 4)
        self.assertIn("ranks 1, 3", answer["text"])

    def test_groups_wait_for_each_other(self):
        job = Job()
        job.call(0, "tp", "all_reduce", 10)
        job.call(1, "dp", "_reduce_scatter_base", 12)
        job.call(3, "tp", "all_reduce", 10)
        job.call(2, "dp", "_reduce_scatter_base", 12)
        answer = self.judge(job, "cycle", [1, 3, 2, 0], job.group(0, "tp"), 7)
        self.assertEqual(len(answer["cycle"]), 4)
        self.assertIn("groups wait for each other", answer["text"].lower())

    def test_a_rank_left_its_order(self):
        job = Job()
        job.call(0, "tp", "all_reduce", 10)
        job.call(1, "dp", "_reduce_scatter_base", 12)
        self.judge(job, "order", [1], job.group(0, "tp"), 7)

    def test_a_transfer_was_not_sent(self):
        job = Job()
        job.call(3, "dp", "recv 1<-0", 20, p2p=True)
        self.judge(job, "missing", [1], job.group(3, "dp"), 1)
        job.call(1, "dp", "send 0->1", 21, p2p=True, size=1)
        self.judge(job, "mismatch", [3, 1], job.group(3, "dp"), 1)  # both: nobody can tell who is right

    def test_a_rank_has_left_no_dump(self):
        job = Job()
        job.call(1, "dp", "_reduce_scatter_base", 12)
        answer = self.judge(job, "no_dump", [3], job.group(1, "dp"), 4, of=(0, 1, 2))
        self.assertEqual(answer["ranks_without_dump"], [3])
        self.assertIn("no dump of rank 3, of 4 in the job", ascope(self.dir).stdout)

    def test_files_that_are_no_dumps(self):
        job = Job()
        job.write(self.dir)
        bad = os.path.join(self.dir, "nccl_trace_rank_2")
        with open(bad, "rb") as f:
            whole = f.read()
        for content in (whole[:-7], b"", b"{}", b"\x80\x02cos\nsystem\n(S'x'\ntR.", b"[1]", pickle.dumps({"entries": 1}, 2)):
            with open(bad, "wb") as f:
                f.write(content)
            done = ascope(self.dir)
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (3, 1), done.stderr)
            self.assertIn("Rank 2 left no dump", done.stdout)
        self.assertEqual(ascope(bad).returncode, 1)
        self.assertEqual(ascope().returncode, 2)
        self.assertEqual(ascope(os.path.join(self.dir, "none")).returncode, 1)

    def test_shared_samples(self):
        folders = sorted(os.path.dirname(f) for f in glob.glob(os.path.join(SOURCE, "../shared/data/flight-dumps/*/*.json")))
        if not folders:
            self.skipTest("no ../shared/data/flight-dumps")
        wanted = {"absent": "no_dump", "dtype": "mismatch", "kind": "mismatch", "size": "mismatch", "healthy": "none", "stuck": "stuck", "swapped": "order"}
        for folder in folders:
            with self.subTest(os.path.basename(folder)):
                with open(glob.glob(os.path.join(folder, "*.json"))[0], encoding="utf-8") as f:
                    known = json.load(f)
                answer = json.loads(ascope("--json", folder).stdout)["hangs"][0]
                self.assertEqual((answer["verdict"], answer["group"]), (wanted.get(known["scenario"], "missing"), known["group"]))
                self.assertEqual(answer["ranks"][:1], [] if known["rank"] is None else [known["rank"]])
                self.assertEqual(answer["kind"], known["collective"])
        for real in ("real_world1.pickle", "real_world1.json"):
            answer = json.loads(ascope("--json", os.path.join(SOURCE, "../shared/data/flight-dumps", real)).stdout)["hangs"][0]
            self.assertEqual(answer["verdict"], "none")


if __name__ == "__main__":
    ASCOPE, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
