#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope memory on snapshots whose faults are known: made here, and the shared samples where they are.

    test_memory_snapshots.py ASCOPE SOURCE
"""
import collections
import json
import os
import pickle
import subprocess
import sys
import tempfile
import unittest

from made_snapshot import FORWARD, MIB, Allocator, Training, write

STEPS = 24


def ascope(*words):
    return subprocess.run([ASCOPE, "memory", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def keep(t, i):
    t.kept.append(t.alloc(700 << 10, 16))


class Memory(unittest.TestCase):
    def setUp(self):
        where = tempfile.TemporaryDirectory()
        self.addCleanup(where.cleanup)
        self.file = os.path.join(where.name, "snapshot.pickle")

    def judge(self, snapshot, *findings, protocol=4):
        write(self.file, snapshot, protocol)
        done = ascope("--json", self.file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer = json.loads(done.stdout)["memories"][0]
        self.assertEqual(answer["findings"], list(findings), answer["text"])
        self.assertEqual(answer["verdict"], findings[0] if findings else "none")
        self.assertEqual(ascope(self.file).stdout.splitlines()[0], answer["text"])
        return answer

    def healthy(self, fault=None, **how):
        return self.judge(Training(**how).run(STEPS, fault).snapshot())

    def leak(self, fault, bytes_a_step, since, line=16, **how):
        answer = self.judge(Training(**how).run(STEPS, fault).snapshot(), "leak")
        grown = answer["growth"][0]
        self.assertEqual((grown["place"]["line"], grown["since_step"]), (line, since), answer["text"])
        self.assertAlmostEqual(answer["growth_bytes_a_step"], bytes_a_step, delta=bytes_a_step / 100)
        return answer

    def test_nothing_grows(self):
        answer = self.healthy()
        self.assertEqual((answer["steps"], answer["steps_by"]), (STEPS, "optimizer"))
        self.healthy(has_marks=False)
        for seed in range(4):
            self.healthy(seed=seed, lengths=(8, 200))

    def test_what_is_allocated_once_or_replaced_is_no_leak(self):
        queue = collections.deque()

        def queued(t, i):
            queue.append(t.alloc((100 + 37 * i % 50) << 10, 16))
            if len(queue) > 4:
                t.a.free(queue.popleft(), ("<module>", "/home/user/train.py", 16))

        def cached(t, i):
            if i in (0, 1, 2, 5, 9):  # sizes that were not met before
                t.alloc(900 << 10, 16)

        def emptied(t, i):
            keep(t, i)
            if i % 6 == 5:
                while t.kept:
                    t.a.free(t.kept.pop())
        self.healthy(queued)
        self.healthy(cached)
        self.healthy(emptied)

    def test_leaks(self):
        self.leak(keep, 700 << 10, 1)
        self.leak(keep, 700 << 10, 1, has_marks=False)
        self.leak(lambda t, i: keep(t, i) if i >= 11 else None, 700 << 10, 12)
        self.leak(lambda t, i: keep(t, i) if i % 3 == 0 else None, (700 << 10) * 8 / 23, 1)
        self.leak(lambda t, i: t.alloc((1 + i * 7 % 5) * 10 << 10, 16), 30 << 10, 1)
        small = self.leak(lambda t, i: t.alloc(512, 16), 512, 1)
        self.assertIn("512 B a step", small["text"])

    def test_a_kept_graph_is_one_line(self):
        """Blocks of several layers, all of one call in the program."""
        def graph(t, i):
            for k in range(3):
                t.alloc(64 << 10, 16, *FORWARD[k % 2:])
        self.assertEqual(len(self.leak(graph, 3 * 64 << 10, 1)["growth"]), 1)

    def test_the_line_that_keeps_and_not_what_it_calls(self):
        def called(t, i):
            batch = ("batch", "/home/user/train.py", 9)
            t.alloc(64 << 10, 16, batch)
            t.a.free(t.alloc(64 << 10, 14, batch))
        self.leak(called, 64 << 10, 1)

        def helper(t, i):
            t.alloc(64 << 10, 20, ("remember", "/home/user/train.py", 16))
        self.leak(helper, 64 << 10, 1)

    def test_bytes_that_are_blocks(self):
        self.assertIn("4 B (512 B in blocks) a step", self.leak(lambda t, i: t.alloc(4, 16), 4, 1)["text"])

    def test_one_line_with_another_stack_each_time(self):
        self.leak(lambda t, i: t.alloc(256 << 10, 16, ("f%d" % i, "/venv/site-packages/x.py", 3)), 256 << 10, 1)

    def test_too_few_steps(self):
        answer = self.judge(Training().run(4, keep).snapshot())
        self.assertIn("growth cannot be judged", answer["text"])

    def test_the_peak_by_purpose(self):
        t = Training(layers=4, lengths=(32, 32))
        answer = self.judge(t.run(STEPS).snapshot())
        of = {c["purpose"]: c["bytes"] for c in answer["peak"]["purposes"]}
        weights = sum(t.sizes)
        self.assertEqual((of["parameter"], of["optimizer_state"]), (weights, 2 * weights))
        self.assertEqual(sum(of.values()), answer["peak_bytes"])
        self.assertLessEqual(of.get("gradient", 0), weights)

    def test_a_ring_that_has_lost_the_beginning(self):
        a = Training().run(STEPS, keep)
        whole, cut = self.judge(a.snapshot(), "leak"), self.judge(a.snapshot(ring=len(a.trace) // 2), "leak")
        self.assertEqual(whole["growth_bytes_a_step"], cut["growth_bytes_a_step"])
        self.assertEqual(whole["peak_bytes"], cut["peak_bytes"])
        self.assertLess(cut["steps"], whole["steps"])

    def test_fragments(self):
        def fragment(t, i):
            blocks = [t.alloc(t.random.randint(100, 4000) * 1000, 18) for _ in range(20)]
            for k, block in enumerate(blocks):
                if k % 5:
                    t.a.free(block)
        answer = self.judge(Training().run(STEPS, fragment).snapshot(), "fragmentation", "leak")
        self.assertEqual(answer["fragmentation"]["held_by"][0]["place"]["line"], 18)
        holes = answer["fragmentation"]
        self.assertEqual(holes["reserved_bytes"], holes["allocated_bytes"] + holes["hole_bytes"] + holes["free_segment_bytes"])

    def test_out_of_memory(self):
        def grow(t, i):
            t.alloc(9 * MIB, 20)
        answer = self.judge(Training(limit=100 * MIB).run(STEPS, grow).snapshot(), "out_of_memory", "leak")
        oom = answer["out_of_memory"]
        self.assertEqual((oom["cause"], oom["asked_bytes"], oom["place"]["line"], oom["is_limit"]), ("leak", 9 * MIB, 20, False))

        def need(t, i):
            if i == 8:
                t.alloc(1 << 40, 21)
        answer = self.judge(Training(limit=100 * MIB).run(STEPS, need).snapshot(), "out_of_memory")
        self.assertEqual((answer["out_of_memory"]["cause"], answer["out_of_memory"]["place"]["line"]), ("need", 21))

    def test_what_would_have_left_room(self):
        """The smaller batch that is advised is tried: it fits, and a larger one does not."""
        class Large(Training):
            def backward(self, size):
                if self.step_number == 8 and size == self.sizes[-1]:
                    self.alloc(120 * MIB, 21)  # beside the activations, whatever the batch is
                return super().backward(size)

        def run(length, limit):
            return Large(lengths=(length, length), limit=limit, layers=8).run(STEPS).snapshot()
        whole, limit = 4096, 400 * MIB
        answer = self.judge(run(whole, limit), "out_of_memory")
        oom = answer["out_of_memory"]
        held = {p["purpose"]: p["bytes"] for p in oom["use"]["purposes"]}
        self.assertEqual((oom["cause"], oom["place"]["line"]), ("need", 21))
        self.assertEqual(oom["missing_bytes"], oom["asked_bytes"] - oom["device_free_bytes"])
        self.assertAlmostEqual(oom["smaller_batch_percent"], 100 * oom["missing_bytes"] / held["activation"], places=4)
        self.assertIn("a batch smaller by", answer["text"])
        part = oom["smaller_batch_percent"] / 100
        self.assertEqual(self.judge(run(int(whole * (1 - 1.1 * part)), limit))["out_of_memory"], None)
        self.assertIsNotNone(self.judge(run(int(whole * (1 - 0.3 * part)), limit), "out_of_memory")["out_of_memory"])

    def test_out_of_memory_with_room_in_pieces(self):
        a = Allocator(limit=60 * MIB)
        held = [a.alloc(5 * MIB, ("<module>", "/home/user/train.py", 7)) for _ in range(12)]
        for address in held[::2]:
            a.free(address)
        try:
            a.alloc(9 * MIB, ("<module>", "/home/user/train.py", 9))
        except Exception:  # noqa: BLE001: the made allocator's own
            pass
        answer = self.judge(a.snapshot(), "out_of_memory")
        self.assertEqual(answer["out_of_memory"]["cause"], "fragmentation")
        self.assertEqual(answer["out_of_memory"]["reserved_free_bytes"], 30 * MIB)

    def test_all_protocols_and_old_forms(self):
        snapshot = Training().run(STEPS, keep).snapshot()
        wanted = self.judge(snapshot, "leak")
        for protocol in (2, 3, 5):
            self.assertEqual(self.judge(snapshot, "leak", protocol=protocol), wanted)
        del snapshot["allocator_settings"], snapshot["external_annotations"]
        self.assertEqual(self.judge(snapshot, "leak")["steps_by"], "repetition")
        self.assertEqual(self.judge(snapshot["segments"])["steps"], 0)

    def test_several_devices(self):
        first, second = Training(), Training(seed=1)
        second.a.device = 1
        one, two = first.run(STEPS, keep).snapshot(), second.run(STEPS).snapshot()
        both = {"segments": one["segments"] + two["segments"], "device_traces": one["device_traces"] + two["device_traces"][1:],
                "allocator_settings": {}, "external_annotations": one["external_annotations"] + two["external_annotations"]}
        write(self.file, both)
        done = ascope("--json", self.file)
        self.assertEqual([(m["device"], m["verdict"]) for m in json.loads(done.stdout)["memories"]], [(0, "leak"), (1, "none")], done.stderr)

    def refused(self, content, why):
        with open(self.file, "wb") as f:
            f.write(content)
        done = ascope(self.file)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        self.assertIn(why, done.stderr)

    def test_hostile_files(self):
        class Runs:
            def __reduce__(self):
                return os.system, ("touch %s.ran" % path,)
        path = self.file
        self.refused(pickle.dumps({"segments": [Runs()]}, 4), "STACK_GLOBAL, which may run code")
        self.refused(pickle.dumps({"segments": [Runs()]}, 2), "GLOBAL, which may run code")
        self.assertFalse(os.path.exists(path + ".ran"))
        self.refused(b"", "wanted a pickle")
        self.refused(b"\x80\x04" + b"]" * (2 << 20), "deeper than those of a snapshot")
        self.refused(b"\x80\x04" + b"](" * (1 << 20), "deeper than those of a snapshot")
        self.refused(b"\x80\x04]\x94" + b"h\x00" * 5 + b"r\xff\xff\xff\x7f.", "not the next one")
        self.refused(b"\x80\x02e.", "the stack has too few values")  # nothing was put on it
        self.refused(b"\x80\x04}.", "not a memory snapshot")
        self.refused(pickle.dumps([1, 2], 4), "not a memory snapshot")
        self.refused(pickle.dumps({"segments": []}, 4), "nothing was allocated")
        whole = pickle.dumps(Training().run(2).snapshot(), 4)
        for n in range(2, len(whole), 997):
            self.refused(whole[:n], "cut off")
        event = {"action": "alloc", "addr": 1, "size": 1, "time_us": 1}
        self.refused(pickle.dumps({"segments": [{"total_size": 1}] * 2, "device_traces": [[event]]}, 4), "in two lists")

    def test_bad_and_good_files(self):
        folder = os.path.dirname(self.file)
        write(self.file, Training().run(STEPS).snapshot())
        with open(os.path.join(folder, "z.pickle"), "wb") as f:
            f.write(b"\x80\x04cos\nsystem\n.")
        done = ascope("--json", folder)
        self.assertEqual((done.returncode, len(json.loads(done.stdout)["memories"])), (3, 1))

    def together(self, *snapshots, names="s%d.pickle"):
        folder = os.path.dirname(self.file)
        for i, snapshot in enumerate(snapshots):
            write(os.path.join(folder, names % i), snapshot)
        report = json.loads(ascope("--json", folder).stdout)
        self.assertEqual(len(report["memories"]), len(snapshots))
        if "memory_series" in report:
            self.assertIn(report["memory_series"]["text"], ascope(folder).stdout.splitlines())
        return report.get("memory_series")

    def test_folded_stacks(self):
        """All that is in use at the peak, once: by purpose as the report has it, and by line."""
        answer = self.judge(Training(layers=3).run(STEPS, keep).snapshot(), "leak")
        folded = ascope(self.file, "--folded", "-")
        rows = [line.rsplit(" ", 1) for line in folded.stdout.splitlines()]
        self.assertEqual(folded.stderr.splitlines()[0], answer["text"])
        of = collections.Counter()
        for stack, n in rows:
            of[stack.split(";")[0]] += int(n)
        key = {"parameters": "parameter", "optimizer state": "optimizer_state", "gradients": "gradient", "activations": "activation", "temporary": "temporary", "other": "other", "kept beyond the step": "kept"}
        self.assertEqual({key[k]: n for k, n in of.items()}, {p["purpose"]: p["bytes"] for p in answer["peak"]["purposes"] if p["bytes"]})
        self.assertEqual(len({stack for stack, _ in rows}), len(rows))
        kept, = [int(n) for stack, n in rows if stack == "other;<module> (train.py:16)"]
        line, = [p["bytes"] for p in answer["peak"]["places"] if p["place"] and p["place"]["line"] == 16]
        self.assertEqual(kept, line)
        self.assertIn("parameters;build (model.py:5);_apply (module.py:965)", [stack for stack, _ in rows])

    def test_uneven_ranks(self):
        of = [Training(layers=8, lengths=(n, n)).run(8).snapshot() for n in (900, 1000, 3000, 1000)]
        found = self.together(*of, names="rank_%d.pickle")
        self.assertEqual((found["kind"], [s["rank"] for s in found["snapshots"]]), ("uneven", [0, 1, 2, 3]))
        self.assertIn("rank 2 has at most", found["text"])
        self.assertIn("most of the difference is activations", found["text"])
        self.assertEqual(max(found["snapshots"], key=lambda s: s["peak_bytes"])["rank"], 2)

    def test_ranks_that_are_alike(self):
        found = self.together(*[Training(layers=8, lengths=(n, n)).run(8).snapshot() for n in (1000, 1010, 990)], names="rank_%d.pickle")
        self.assertEqual(found["kind"], "even")

    def test_growth_from_snapshot_to_snapshot(self):
        """Rings that are too short to show it by themselves."""
        def dump(grows, names):
            training, snapshots = Training(lengths=(64, 64)), []
            for _ in range(4):
                training.run(10, (lambda t, i: t.alloc(1 << 20, 16)) if grows else None)
                snapshots.append(training.a.snapshot(ring=60))
            return self.together(*reversed(snapshots), names=names)  # names are in another order than times
        found = dump(True, "s%d.pickle")
        ends = [s["end_bytes"] for s in found["snapshots"]]
        self.assertEqual((found["kind"], ends), ("grows", sorted(ends)))
        self.assertEqual([b - a for a, b in zip(ends, ends[1:])], [10 << 20] * 3)
        self.assertIn("30 MiB, is allocated at /home/user/train.py:16", found["text"])
        self.assertEqual(dump(False, "s%d.pickle")["kind"], "steady")

    def test_snapshots_that_do_not_belong_together(self):
        other = Training()
        other.a.device = 1
        self.assertIsNone(self.together(Training().run(8).snapshot(), Training().run(8).snapshot()))  # the same moment
        self.assertIsNone(self.together(Training().run(8).snapshot(), other.run(9).snapshot()))
        elsewhere = Training()
        elsewhere.a.base += 1 << 20
        elsewhere.a.segments.clear()
        self.assertIsNone(self.together(Training().run(8).snapshot(), elsewhere.run(9).snapshot()))

    def of_collection(self, path):
        done = ascope("--json", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)["memories"][0]

    def test_collections(self):
        """Of the sample, workspaces and blocks of the framework; the graphs' memory has no allocations of its own."""
        answer = self.of_collection(os.path.join(SOURCE, "tests/data/pt-a-npu"))
        self.assertEqual((answer["steps"], answer["steps_by"], answer["fragmentation"]), (2, "profiler", None))
        self.assertEqual(sum(p["bytes"] for p in answer["peak"]["purposes"]), answer["peak_bytes"])
        self.assertLessEqual(answer["peak_bytes"], answer["peak_reserved_bytes"])
        self.assertEqual(answer["peak"]["places"][0]["place"], {"file": "/opt/train/model.py", "line": 42, "function": "forward"})
        self.assertIn("growth cannot be judged", answer["text"].lower())

    def test_a_simulated_collection_does_not_grow(self):
        folder = os.path.join(os.path.dirname(self.file), "made")
        subprocess.run([ASCOPE, "sim", "--framework", "pt", "--steps", "8", "--out", folder], check=True, stdout=subprocess.DEVNULL)
        answer = self.of_collection(folder)
        self.assertEqual((answer["verdict"], answer["steps"], answer["growth_bytes_a_step"]), ("none", 8, 0))

    def test_a_collection_without_memory(self):
        done = ascope(os.path.join(SOURCE, "tests/data/own-killed"))
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1))
        self.assertIn("record with profile_memory", done.stderr)

    def test_shared_samples(self):
        folder = os.path.join(SOURCE, "../shared/data/memory-snapshots")
        if not os.path.isdir(folder):
            self.skipTest("no ../shared/data/memory-snapshots")
        wanted = {"healthy_0": [], "leak_0": ["leak"], "fragment_0": ["fragmentation", "leak"], "oom_0": ["out_of_memory", "leak"]}
        report = json.loads(ascope("--json", folder).stdout)
        found = {os.path.basename(m["path"]).removesuffix(".pickle"): m for m in report["memories"]}
        self.assertEqual({name: found[name]["findings"] for name in wanted}, wanted)
        self.assertEqual((found["leak_0"]["growth_bytes_a_step"], found["leak_0"]["growth"][0]["place"]["line"]), (589824, 16))
        self.assertEqual((found["oom_0"]["growth_bytes_a_step"], found["oom_0"]["out_of_memory"]["is_limit"]), (90000000, True))
        self.assertNotIn("memory_series", report)


if __name__ == "__main__":
    ASCOPE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
