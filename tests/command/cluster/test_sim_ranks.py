#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope sim --ranks: the ranks are one job, and what is put into it is found in what analyse makes of it.

usage: test_sim_ranks.py ASCOPE [unittest options]
"""
import collections
import csv
import glob
import hashlib
import json
import math
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ASCOPE = None
SHAPE = ["--ranks", "8", "--tp", "2", "--pp", "2", "--ranks-per-host", "4"]  # and dp 2; stages on hosts of their own
Op = collections.namedtuple("Op", "step kind begin end wait transit")


def run(*args, code=0):
    done = subprocess.run([ASCOPE, *args], capture_output=True, text=True, timeout=120,
                          env={k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")})
    if done.returncode != code:
        raise AssertionError("ascope %s ended with %d:\n%s%s" % (" ".join(args), done.returncode, done.stdout, done.stderr))
    return done


def group_number(name):
    """The number by which the results call a group."""
    a = b = 0
    for c in name:
        a, b = (a * 29 + ord(c)) % 2 ** 32, (b * 131 + ord(c)) % 2 ** 32
    return str(a << 32 | b)


class Rank:
    def __init__(self, folder):
        self.folder = folder
        self.number = int(re.search(r"profiler_info_(\d+)", " ".join(os.listdir(folder))).group(1))
        self.metadata = self.json("profiler_metadata.json")
        self.steps = []
        with open(os.path.join(folder, "ASCEND_PROFILER_OUTPUT/step_trace_time.csv"), newline="") as f:
            for row in csv.DictReader(f):
                self.steps.append({k: float(v) for k, v in row.items() if v and k != "Device_id"})
        self.matrix = self.json("ASCEND_PROFILER_OUTPUT/communication_matrix.json")
        self.groups = collections.defaultdict(dict)  # operators by group and name
        for step, kinds in self.json("ASCEND_PROFILER_OUTPUT/communication.json").items():
            for kind, ops in kinds.items():
                for key, op in ops.items():
                    name, _, group = key.partition("@")
                    t = op["Communication Time Info"]
                    if not name.startswith("Total"):
                        begin = t["Start Timestamp(us)"]
                        self.groups[group][name] = Op(int(step[4:]), kind, begin, begin + 1000 * t["Elapse Time(ms)"],
                                                      1000 * t["Wait Time(ms)"], 1000 * t["Transit Time(ms)"])

    def json(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as f:
            return json.load(f)

    def group(self, name):
        """Members and operators of the group that PyTorch knows by this name."""
        for number, g in self.metadata["parallel_group_info"].items():
            if g["group_name"] == name:
                return g["global_ranks"], self.groups.get(group_number(number), {})
        return None, {}

    def span(self, step):
        return self.steps[step]["Computing"] + self.steps[step]["Communication(Not Overlapped)"] + self.steps[step]["Free"]

    def wait(self, step):
        return sum(op.wait for ops in self.groups.values() for op in ops.values() if op.step == step)

    def bandwidth(self, to):
        """GB/s and transports of what this rank sends to another, over all collectives."""
        sizes, times, transports = 0, 0, set()
        for g in self.metadata["parallel_group_info"]:
            ranks = self.metadata["parallel_group_info"][g]["global_ranks"]
            if to not in ranks:
                continue
            pair = "%d-%d" % (ranks.index(self.number), ranks.index(to))
            for step in self.matrix.values():
                for kind in step.values():
                    for key, links in kind.items():
                        if key.endswith("-total@" + group_number(g)) and pair in links:
                            sizes += links[pair]["Transit Size(MB)"]
                            times += links[pair]["Transit Time(ms)"]
                            transports.add(links[pair]["Transport Type"])
        return sizes / times if times else None, transports



class Kernels(unittest.TestCase):
    """What kernels compute and move fits into their time on an Atlas A2: 24 cubes of 8192 operations a cycle at 1.8
    GHz, and 1600 GB/s."""
    PEAK_OPERATIONS, PEAK_BYTES = 24 * 8192 * 1.8e9, 1600e9

    @staticmethod
    def tensors(row, side):
        shapes = [s for s in row[side + " Shapes"].strip('"').split(";") if s]
        return list(zip([[int(n) for n in s.split(",")] for s in shapes], row[side + " Data Types"].strip('"').split(";")))

    def test_none_is_faster_than_the_chip(self):
        with tempfile.TemporaryDirectory(prefix="ascope-sim-roof-") as d:
            run("sim", "--framework", "pt", "--kernels", "3000", "--out", d)
            run("analyse", d, "-q")
            with open(glob.glob(d + "/*/ASCEND_PROFILER_OUTPUT/kernel_details.csv")[0], newline="") as f:
                rows = [r for r in csv.DictReader(f) if r["Input Shapes"] not in ("", "N/A")]
        types = collections.Counter(r["Type"] for r in rows)
        for wanted in ("MatMulV3", "BatchMatMulV2", "Conv2D", "FlashAttentionScoreGrad", "Add", "ZerosLike"):
            self.assertIn(wanted, types)
        for row in rows:
            inputs, outputs = self.tensors(row, "Input"), self.tensors(row, "Output")
            moved = sum(math.prod(s) * (4 if t == "FLOAT" else 2) for s, t in inputs + outputs)
            operations = 0
            if "MatMul" in row["Type"] or row["Type"] == "GroupedMatmul":
                operations = 2 * math.prod(outputs[0][0]) * inputs[0][0][-1]
            elif row["Type"] == "Conv2D":  # 1x1: 16 channels a block
                operations = 2 * math.prod(outputs[0][0]) * inputs[0][0][1] * 16
            elif row["Type"].startswith("FlashAttention"):  # each query with each key, and with each value
                operations = 4 * math.prod(inputs[0][0]) * inputs[1][0][-2]
            seconds = float(row["Duration(us)"]) * 1e-6
            self.assertLess(operations / self.PEAK_OPERATIONS, seconds, row)
            self.assertLess(moved / self.PEAK_BYTES, seconds, row)


class Job(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        cls.usual = cls.job("usual")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    @classmethod
    def job(cls, name, *options, shape=SHAPE, kernels=2400):
        """Ranks by their numbers."""
        out = os.path.join(cls.dir, name)
        run("sim", "--framework", "pt", "--samplers=off", "--kernels", str(kernels), "--out", out, *shape, *options)
        run("analyse", out, "--export-type", "text", "--quiet")
        ranks = [Rank(f) for f in glob.glob(glob.escape(out) + "/*_ascend_pt")]
        return {r.number: r for r in sorted(ranks, key=lambda r: r.number)}

    def test_groups_are_those_of_the_sizes(self):
        wanted = {"default_group": [list(range(8))] * 8, "tp": [[0, 1], [0, 1], [2, 3], [2, 3], [4, 5], [4, 5], [6, 7], [6, 7]],
                  "dp": [[0, 2], [1, 3]] * 2 + [[4, 6], [5, 7]] * 2, "pp": [[0, 4], [1, 5], [2, 6], [3, 7]] * 2}
        self.assertEqual(list(self.usual), list(range(8)))
        names = {}
        for number, r in self.usual.items():
            args = r.metadata["distributed_args"]
            self.assertEqual([args[k] for k in ("tensor_model_parallel_size", "pipeline_model_parallel_size", "data_parallel_size",
                                                "rank", "world_size")], [2, 2, 2, number, 8])
            self.assertEqual(len(r.metadata["parallel_group_info"]), 4)
            for name, g in r.metadata["parallel_group_info"].items():
                self.assertEqual(g["global_ranks"], wanted[g["group_name"]][number])
                self.assertEqual(g["global_ranks"][g["group_rank"]], number)
                self.assertEqual(names.setdefault(name, g["global_ranks"]), g["global_ranks"])  # one name, one group
            self.assertEqual(set(r.groups), {group_number(n) for n in r.metadata["parallel_group_info"]})
        self.assertEqual(len(names), 1 + 4 + 4 + 4)

    def test_members_run_the_same_collectives_in_the_same_order(self):
        for r in self.usual.values():
            for kind, least in ("default_group", 3), ("tp", 30), ("dp", 6):
                members, ops = r.group(kind)
                mine = sorted(ops, key=lambda n: ops[n].begin)
                self.assertGreaterEqual(len(mine), least)
                numbers = [re.fullmatch(r"hcom_[a-zA-Z]+__%s_(\d+)_1" % group_number(
                    next(n for n, g in r.metadata["parallel_group_info"].items() if g["group_name"] == kind))[-3:], n) for n in mine]
                self.assertEqual([int(m.group(1)) for m in numbers], list(range(len(mine))))  # one suffix, counted by the group
                for other in members:
                    theirs = self.usual[other].group(kind)[1]
                    self.assertEqual(sorted(theirs, key=lambda n: theirs[n].begin), mine)
                    self.assertEqual([theirs[n].step for n in mine], [ops[n].step for n in mine])

    def test_collectives_end_together_and_the_last_one_waits_least(self):
        for r in self.usual.values():
            for kind in "default_group", "tp", "dp":
                members, ops = r.group(kind)
                for name in ops:
                    all_of = [self.usual[m].group(kind)[1][name] for m in members]
                    self.assertLess(max(o.end for o in all_of) - min(o.end for o in all_of), 1)
                    last = max(all_of, key=lambda o: o.begin)
                    self.assertLess(last.wait, 20)
                    for o in all_of:  # who is early waits for so much longer
                        self.assertAlmostEqual(o.wait - last.wait, last.begin - o.begin, delta=30)
                        if kind != "default_group":  # whose members have other links each
                            self.assertAlmostEqual(o.transit, last.transit, delta=0.05 * last.transit)

    def test_stages_send_what_the_others_receive(self):
        for number in range(4):
            first, second = self.usual[number].group("pp")[1], self.usual[number + 4].group("pp")[1]
            self.assertTrue(all(op.kind == "p2p" for op in [*first.values(), *second.values()]))
            for here, there in (first, second), (second, first):
                sent = sorted(op.end for n, op in here.items() if n.startswith("hcom_send_"))
                received = sorted(op.end for n, op in there.items() if n.startswith("hcom_receive_"))
                self.assertEqual(len(sent), 3 * 4)  # steps, micro-batches
                self.assertEqual(len(received), len(sent))
                for a, b in zip(sent, received):
                    self.assertAlmostEqual(a, b, delta=6)
        for r in self.usual.values():
            self.assertTrue(all(s["Bubble"] > 0 for s in r.steps))

    def test_links_are_local_on_a_host_and_remote_between_hosts(self):
        for a in range(8):
            for b in {0, 1, 2, 3, 4, 5, 6, 7} - {a}:
                gbs, transports = self.usual[a].bandwidth(b)
                self.assertEqual(transports, {"HCCS" if a // 4 == b // 4 else "RDMA"}, (a, b))
                self.assertTrue(15 < gbs < 21 if a // 4 == b // 4 else 8 < gbs < 13, (a, b, gbs))
        hosts = set()
        for r in self.usual.values():
            local = r.number % 4
            with open(glob.glob(r.folder + "/PROF_*/device_%d/info.json.%d" % (local, local))[0]) as f:
                info = json.load(f)
            self.assertEqual(info["rank_id"], r.number)
            hosts.add((info["hostUid"], info["hostname"], r.number // 4))
        self.assertEqual(len(hosts), 2)

    def test_without_trouble_no_rank_and_no_step_stands_out(self):
        for r in self.usual.values():
            for step, s in enumerate(r.steps):
                self.assertAlmostEqual(s["Computing"] / self.usual[0].steps[0]["Computing"], 1, delta=0.03)
                self.assertAlmostEqual(r.span(step) / self.usual[0].span(step), 1, delta=0.05)

    def test_jitter_makes_steps_and_hosts_differ(self):
        def spread(ranks):
            computing = [s["Computing"] / sum(t["Computing"] for t in r.steps) * len(r.steps) for r in ranks for s in r.steps]
            return max(computing) - min(computing)
        varied = spread(self.job("jitter", "--jitter", "20").values())
        self.assertLess(spread(self.usual.values()), 0.02)
        self.assertGreater(varied, 0.03)  # a fifth of 20 %, up and down
        self.assertLess(varied, 0.15)

    def test_a_slow_rank_computes_longer_and_its_group_waits(self):
        job = self.job("slow-rank", "--slow-rank", "3:1.5")
        for number, r in job.items():
            for step in range(3):
                self.assertAlmostEqual(r.steps[step]["Computing"] / self.usual[number].steps[step]["Computing"],
                                       1.5 if number == 3 else 1, delta=0.02)
                self.assertGreater(r.span(step), 1.1 * self.usual[number].span(step))  # all are held up
        tp = [sum(op.wait for op in job[n].group("tp")[1].values()) for n in (2, 3)]
        self.assertGreater(tp[0], 10 * tp[1])

    def test_a_slow_step_is_slow_in_all_ranks(self):
        job = self.job("slow-step", "--slow-step", "1:4")
        for number, r in job.items():
            for step, factor in (0, 1), (1, 4), (2, 1):
                self.assertAlmostEqual(r.steps[step]["Computing"] / self.usual[number].steps[step]["Computing"], factor, delta=0.1)

    def test_a_slow_link_has_less_bandwidth_in_both_directions_and_holds_up_its_group(self):
        job = self.job("slow-link", "--slow-link", "0-1:0.1,2-6:0.2")
        for a in range(8):
            for b in set(range(8)) - {a}:
                factor = {(0, 1): 0.1, (2, 6): 0.2}.get((min(a, b), max(a, b)), 1)
                self.assertAlmostEqual(job[a].bandwidth(b)[0] / self.usual[a].bandwidth(b)[0] / factor, 1, delta=0.1)
        for name, op in job[0].group("tp")[1].items():
            self.assertGreater(op.end - op.begin, 5 * self.usual[0].group("tp")[1][name].transit)
        for name, op in job[7].group("tp")[1].items():
            self.assertAlmostEqual(op.transit, self.usual[7].group("tp")[1][name].transit, delta=2)

    def test_a_stall_is_free_time_there_and_waiting_elsewhere(self):
        job = self.job("stall", "--stall", "1:20ms:5,2:10ms")
        for number, r in job.items():
            free = [r.steps[s]["Free"] - self.usual[number].steps[s]["Free"] for s in range(3)]
            wait = [r.wait(s) - self.usual[number].wait(s) for s in range(3)]
            span = [r.span(s) - self.usual[number].span(s) for s in range(3)]
            self.assertAlmostEqual(span[0], 0, delta=100)
            self.assertAlmostEqual(span[1], 20000, delta=2000)
            self.assertAlmostEqual(span[2], 10000, delta=2000)
            self.assertAlmostEqual(free[1], 20000 if number == 5 else 0, delta=2000)
            self.assertEqual(wait[1] > 15000, number != 5, wait)
            self.assertEqual(free[2] > 8000, number < 4, free)  # the second stage stops while it waits for the first

    def test_a_missing_rank_is_waited_for_and_not_there(self):
        job = self.job("missing", "--missing-rank", "5")
        self.assertEqual(sorted(job), [0, 1, 2, 3, 4, 6, 7])
        self.assertEqual(job[4].group("tp")[0], [4, 5])
        for number, r in job.items():  # all that is there is as it was
            self.assertEqual(r.groups, self.usual[number].groups)
            self.assertEqual(r.steps, self.usual[number].steps)

    def test_memory_is_of_the_device_that_the_rank_has_on_its_host(self):
        with tempfile.TemporaryDirectory() as out:
            run("sim", "--framework", "pt", "--ranks", "6", "--ranks-per-host", "4", "--kernels", "300", "--steps", "1", "--out", out)
            for folder in glob.glob(os.path.join(out, "*_ascend_pt")):
                rank = int(re.search(r"profiler_info_(\d+)", " ".join(os.listdir(folder))).group(1))
                self.assertTrue(glob.glob(os.path.join(folder, "PROF_*", "device_%d" % (rank % 4))))
                said = run("export-memory-timeline", folder, os.path.join(out, "memory.json")).stdout
                self.assertIn("memory of npu:%d," % (rank % 4), said)

    def test_clocks_differ_by_what_was_asked_for(self):
        job = self.job("clocks", "--clock-offset", "2:350us,6:-3ms")
        for number, r in job.items():
            offset = {2: 350, 6: -3000}.get(number, 0)
            for group, ops in r.groups.items():
                for name, op in ops.items():
                    self.assertAlmostEqual(op.begin - self.usual[number].groups[group][name].begin, offset, delta=1)
            self.assertEqual(r.steps, self.usual[number].steps)

    def tree(self, folder):
        sums = {}
        for at, _, files in os.walk(folder):
            for name in files:
                with open(os.path.join(at, name), "rb") as f:
                    sums[os.path.relpath(os.path.join(at, name), folder)] = hashlib.sha256(f.read()).hexdigest()
        return sums

    def test_same_options_same_bytes_by_any_number_of_threads(self):
        trees = []
        for i, (threads, seed) in enumerate(((1, 7), (3, 7), (1, 8))):
            out = os.path.join(self.dir, "same-%d" % i)
            run("sim", "--framework", "pt", *SHAPE, "--slow-rank", "1:2", "--threads", str(threads), "--seed", str(seed), "--out", out)
            trees.append(self.tree(out))
        self.assertGreater(len(trees[0]), 100)
        self.assertEqual(trees[0], trees[1])
        self.assertNotEqual(trees[0], trees[2])

    def test_what_is_wrong_with_the_options_is_said(self):
        shape = ["--ranks", "8", "--tp", "2"]
        for options, words in (
                (["--ranks", "6", "--tp", "4"], ["--ranks 6", "--tp 4", "multiple"]),
                (["--ranks", "8", "--tp", "2", "--dp", "2"], ["--ranks 8", "--dp 2", "4 ranks"]),
                (["--tp", "4096", "--pp", "2"], ["8192", "4096"]),
                (["--ranks", "4", "--devices", "2"], ["--devices 2", "--ranks"]),
                ([*shape, "--slow-rank", "8:2"], ["--slow-rank 8:2", "0 to 7"]),
                ([*shape, "--slow-rank", "3"], ["--slow-rank 3", "RANK:FACTOR", "3:1.5"]),
                ([*shape, "--slow-rank", "3:0"], ["--slow-rank 3:0", "0.001 to 1000"]),
                ([*shape, "--slow-rank", "1:2,,"], ["--slow-rank", "RANK:FACTOR"]),
                ([*shape, "--slow-step", "3:2"], ["--slow-step 3:2", "0 to 2"]),
                ([*shape, "--slow-link", "1-1:0.5"], ["--slow-link 1-1:0.5", "both ends"]),
                ([*shape, "--slow-link", "0-9:0.5"], ["--slow-link 0-9:0.5", "0 to 7"]),
                (["--ranks", "64", "--tp", "2", "--slow-link", "0-37:0.5"], ["--slow-link 0-37", "nothing is sent"]),
                ([*shape, "--stall", "1:220"], ["--stall 1:220", "us, ms and s"]),
                ([*shape, "--stall", "1:2h"], ["--stall 1:2h", "us, ms and s"]),
                ([*shape, "--stall", "1:5ms:8"], ["--stall 1:5ms:8", "0 to 7"]),
                ([*shape, "--stall", "1:-5ms"], ["--stall 1:-5ms", "STEP:TIME"]),
                ([*shape, "--missing-rank", "x"], ["--missing-rank x", "RANK"]),
                (["--ranks", "2", "--missing-rank", "0,1"], ["--missing-rank", "no rank"]),
                ([*shape, "--clock-offset", "1:2"], ["--clock-offset 1:2", "us, ms and s"]),
                ([*shape, "--kernels", "0", "--framework", "pt", "--slow-rank", "1:2"], ["--kernels 0", "--slow-rank"]),
                ([*shape, "--graphs"], ["--graphs", "job"]),
                ([*shape, "--kfc=on"], ["--kfc", "job"])):
            with self.subTest(" ".join(options)):
                done = run("sim", *options, "--out", os.path.join(self.dir, "refused"), code=2)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertFalse(os.path.exists(os.path.join(self.dir, "refused")))

    def test_sizes_make_the_number_of_ranks(self):
        for options, n in (["--tp", "3"], 3), (["--pp", "2", "--dp", "2"], 4), (["--stall", "0:1ms"], 1), (["--ranks", "5"], 5):
            out = os.path.join(self.dir, "sizes-%d" % n)
            made = json.loads(run("sim", *options, "--kernels", "20", "--samplers=off", "--out", out, "--json").stdout)
            self.assertEqual(sorted(os.listdir(out)), [os.path.basename(m["path"]) for m in made["directories"]])
            self.assertEqual(len(made["directories"]), n)

    def test_collections_without_a_framework_are_a_job_as_well(self):
        out = os.path.join(self.dir, "prof")
        run("sim", *SHAPE, "--kernels", "800", "--samplers=off", "--slow-rank", "3:2", "--out", out)
        ends, computing = collections.defaultdict(list), {}
        for prof in glob.glob(glob.escape(out) + "/PROF_*"):
            run("export", "db", "-dir", prof, "--quiet")
            db = sqlite3.connect(glob.glob(glob.escape(prof) + "/msprof_*.db")[0])
            with open(glob.glob(glob.escape(prof) + "/device_*/info.json.?")[0]) as f:
                rank = json.load(f)["rank_id"]
            computing[rank] = db.execute("SELECT sum(endNs - startNs) FROM TASK JOIN COMPUTE_TASK_INFO USING (globalTaskId)").fetchone()[0]
            for name, group, end in db.execute("SELECT n.value, g.value, endNs FROM COMMUNICATION_OP JOIN STRING_IDS n ON n.id = opName "
                                               "JOIN STRING_IDS g ON g.id = groupName"):
                if not re.match("hcom_(send|receive)_", name):
                    ends[group, name].append(end)
            db.close()
        self.assertEqual(sorted(computing), list(range(8)))
        for rank, ns in computing.items():
            self.assertAlmostEqual(ns / computing[0], 2 if rank == 3 else 1, delta=0.05)
        self.assertEqual({len(e) for e in ends.values()}, {2, 8})
        for e in ends.values():
            self.assertLess(max(e) - min(e), 1000)

    def test_a_host_without_a_device_stalls_as_well(self):
        job = os.path.join(self.dir, "host")
        run("sim", "--framework", "pt", "--kernels", "0", "--ranks", "2", "--stall", "1:30ms:1", "--out", job)
        run("analyse", job, "--export-type", "text", "--quiet")
        for folder in glob.glob(glob.escape(job) + "/*_ascend_pt"):
            is_slow = os.path.exists(os.path.join(folder, "profiler_info_1.json"))
            with open(os.path.join(folder, "ASCEND_PROFILER_OUTPUT/trace_view.json")) as f:
                steps = {e["name"]: float(e["dur"]) for e in json.load(f) if e.get("name", "").startswith("ProfilerStep#") and "dur" in e}
            self.assertEqual([name for name in sorted(steps) if steps[name] > 30000], ["ProfilerStep#1"] if is_slow else [])

    def test_other_shapes_are_coherent_as_well(self):
        for name, shape, kernels in (("tp", ["--tp", "4", "--chip", "A3"], 400), ("pp", ["--pp", "3", "--mhz", "48"], 300),
                                     ("dp", ["--dp", "20", "--ranks-per-host", "8"], 800), ("few", ["--tp", "2", "--pp", "2"], 4)):
            with self.subTest(name):
                job = self.job("shape-" + name, shape=shape, kernels=kernels)
                for r in job.values():
                    for kind in "default_group", "tp", "dp":
                        members, ops = r.group(kind)
                        for op in ops:
                            ends = [job[m].group(kind)[1][op].end for m in members]
                            self.assertLess(max(ends) - min(ends), 1)


if __name__ == "__main__":
    ASCOPE = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
