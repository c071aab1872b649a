#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `ascope why` says of the iterations of an inference engine: intervals between decodes, prompts among them, what fills the time between.

usage: test_engine.py ASCOPE SOURCE_ROOT [unittest options]
"""
import json
import os
import sys
import unittest

from cli_case import Case
from engine_trace import Trace, decode, prefill


class Engine(Case):
    def write(self, trace, name="engine.pt.trace.json"):
        self.path = os.path.join(self.dir, name)
        with open(self.path, "w") as f:
            json.dump({"traceEvents": trace.events}, f)
        return self.path

    def iterations(self, trace):
        self.write(trace)
        return json.loads(self.ascope("why", "--json", self.path, code=0).stdout)["answers"][0]["iterations"]

    def test_what_fills_the_time_between(self):
        """Of 100 us between: 40 schedule, of which 10 collect garbage, 30 sample, 20 in Python, 10 unrecorded."""
        t = Trace()
        for i in range(20):
            at = i * 300
            t.iteration(decode(4), at, at + 200)
            t.slice("schedule: allocate_slots", at + 200, at + 240, "user_annotation")
            t.slice("GC", at + 210, at + 220, "GC")
            t.slice("gpu_model_runner: sample", at + 240, at + 270, "user_annotation")
            t.slice("aten::sort", at + 245, at + 260, "cpu_op")
            t.slice("engine.py(7): log", at + 270, at + 290, "python_function")
        a = self.iterations(t)
        self.assertEqual((a["between_us"], a["interval"]["n"], a["interval"]["p50_us"], a["interval"]["most_us"], a["behind_prompts"]), (1900, 19, 300, 300, 0))
        between = {p["name"]: p["time_us"] / 19 for p in a["between"]}
        for name, us in (("scheduling", 30), ("sampling", 30), ("Python: engine.py(7): log", 20), ("garbage collection", 10), ("nothing recorded of the host", 10)):
            self.assertAlmostEqual(between[name], us, 3, name)
        self.assertEqual(a["classes"][0]["computing_share"], 0.5)
        self.assertAlmostEqual(sum(p["time_us"] for p in a["idle_in_decodes"]), 20 * 100, 3)
        self.assertRegex(self.ascope("why", self.path, code=0).stdout, "of that: sampling 30 %, scheduling 30 %, Python")

    def test_decodes_wait_behind_prompts(self):
        t, at = Trace(), 0
        for i in range(40):
            if i % 10 == 9:
                t.iteration(prefill(4096), at, at + 1000)
                at += 1000
            t.iteration(decode(4), at, at + 100)
            at += 100
        a = self.iterations(t)
        self.assertEqual((a["interval"]["n"], a["interval"]["p50_us"], a["interval"]["p90_us"], a["interval"]["p99_us"]), (39, 100, 1100, 1100))
        self.assertEqual((a["behind_prompts"], a["behind_prompts_us"], a["longest_behind_us"]), (4, 4000, 1100))
        self.assertIn("4 of 39 intervals have a prompt in them: 4.000 ms longer in all, the longest one is 1.100 ms", self.ascope("why", self.path, code=0).stdout)

    def test_mixed_iterations_have_a_prompt(self):
        t = Trace()
        for i in range(20):
            t.iteration("execute_context_1(512)_generation_3(3)" if i == 10 else decode(4), i * 1000, i * 1000 + (900 if i == 10 else 100))
        a = self.iterations(t)
        self.assertEqual((a["interval"]["n"], a["behind_prompts"], a["behind_prompts_us"]), (19, 1, 800))

    def test_requests_that_end_have_no_interval(self):
        """All requests end, and after a pause a prompt begins: nobody waited for a token."""
        t, at = Trace(), 0
        for run in range(3):
            t.iteration(prefill(512, 2), at, at + 400)
            at += 400
            for _ in range(10):
                t.iteration(decode(2), at, at + 100)
                at += 100
            at += 50000
        a = self.iterations(t)
        self.assertEqual((a["interval"]["n"], a["interval"]["most_us"], a["behind_prompts"]), (27, 100, 0))

    def test_names_without_requests_and_waiting(self):
        """The engine waits for requests between decodes whose names do not tell how many there are."""
        t = Trace()
        for i in range(20):
            t.iteration("decode step", i * 1000, i * 1000 + 900)
            if i % 5 == 4:
                t.iteration("prefill", i * 1000 + 920, i * 1000 + 940)
                t.slice("scheduler.py(3): recv_requests", i * 1000 + 940, i * 1000 + 1000, "python_function")
        a = self.iterations(t)
        self.assertEqual([c["class"] for c in a["classes"]], ["prefill", "decode"])
        self.assertAlmostEqual({p["name"]: p["time_us"] for p in a["between"]}["waiting for requests"], 3 * 60, 3)
        self.assertEqual((a["interval"]["n"], a["behind_prompts"]), (16, 0))

    def test_findings_name_the_class(self):
        t, at = Trace(), 0
        for i in range(60):
            time = 400 if i % 10 == 0 else 100 + i * 7 % 3
            t.iteration(prefill(512) if i % 10 == 0 else decode(4), at, at + time + (500 if i == 37 else 0))
            at += time + (520 if i == 37 else 20)
        self.iterations(t)
        judged = json.loads(self.ascope("why", "--json", self.path, code=0).stdout)["answers"][0]["judged"]
        self.assertEqual([(f["class"], f["first"]) for f in judged], [("decode", "37")])

    def load(self, name, prompts, decode_us, batch=4, slow=()):
        """Decodes of decode_us, more with more requests, and prompts of 4 ms at some places."""
        t, at = Trace(), 0
        for i in range(80):
            if i in prompts:
                t.iteration(prefill(4096), at, at + 4000)
                at += 4000
            size = batch + i % 2
            time = decode_us + 40 * size + i * 7 % 5
            t.iteration(decode(size), at, at + time + (500 if i in slow else 0))
            at += time + 10 + (500 if i in slow else 0)
        return self.write(t, name + ".pt.trace.json")

    def comparison(self, a, b):
        return json.loads(self.ascope("compare", "--json", a, b, code=0).stdout)["comparisons"][0]

    def test_cluster_knows_classes(self):
        """Two ranks with prompts at irregular distances; a decode of one of them is slow."""
        prompts = (3, 7, 18, 31, 33, 50, 64)
        self.load("rank_0", prompts, 1000)
        job = os.path.join(self.dir, "job")
        os.mkdir(job)
        for rank in range(2):
            os.rename(self.load("rank_%d" % rank, prompts, 1000, slow=(40,) if rank else ()), os.path.join(job, "rank_%d.json" % rank))
        for pass_number in range(2):  # from the traces, then from the summaries
            r = self.ascope("cluster", "-m", "verdicts", job, "--out", os.path.join(self.dir, "out %d" % pass_number), code=0)
            self.assertRegex(r.stdout, r"\(decode, 4 requests\) is slow, once: (49|50).* us longer than the usual .*because of rank 1")
            self.assertEqual(r.stdout.count("is slow"), 1, r.stdout)

    def test_compare_knows_classes(self):
        """More prompts make no decode slower; a decode that is slower by a tenth is, whatever the prompts."""
        a, more = self.load("a", (10,), 1000), self.load("more", range(0, 80, 4), 1000)
        slower, fewer = self.load("slower", (5, 30), 1150), self.load("fewer", (10,), 1000, batch=3)
        c = self.comparison(a, more)
        self.assertEqual((c["class"], c["overall"]["step"]["state"]), ("decode", "noise"))
        self.assertEqual([(k["class"], k["a_iterations"], k["b_iterations"]) for k in c["classes"]], [("prefill", 1, 20), ("decode", 80, 80)])
        c = self.comparison(more, slower)
        self.assertEqual(c["overall"]["step"]["state"], "real")
        self.assertTrue(149 < c["overall"]["step"]["more_us"] < 151, c["overall"]["step"])
        c = self.comparison(a, fewer)  # of batches of 4 and 5, and of 3 and 4
        self.assertEqual((c["size"], c["overall"]["step"]["state"]), (4, "noise"))
        self.assertIn("what follows compares decode iterations of size 4 (tokens, or requests), of which each run has 40 at least", self.ascope("compare", a, fewer, code=0).stdout)

    def test_gate_knows_classes(self):
        a, more = self.load("a", (10,), 1000), self.load("more", range(0, 80, 4), 1000)
        slow = self.load("slow", (10,), 1000, slow=range(2, 80, 6))
        g = json.loads(self.ascope("gate", "--json", a, more).stdout)["gates"][0]
        rows = {m["measure"]: m for m in g["measures"]}
        self.assertEqual((rows["step"]["verdict"], rows["slow"]["verdict"]), ("pass", "pass"), g)
        rows = {m["measure"]: m for m in json.loads(self.ascope("gate", "--json", a, slow).stdout)["gates"][0]["measures"]}
        self.assertEqual(rows["slow"]["verdict"], "regressed", rows["slow"])
        self.assertTrue(50 < rows["slow"]["b"] < 100, rows["slow"])

    def advice(self, trace):
        """{check: finding} of what was found, and the state of the others."""
        self.write(trace)
        report = json.loads(self.ascope("advise", "--json", self.path, code=0).stdout)
        return {**{c["check"]: c for c in report["advise_checks"]}, **{c["check"]: {**c, "state": "found"} for c in report["advice"]}}

    def test_checks_of_healthy_engines_find_nothing(self):
        t, at = Trace(), 0
        for i in range(60):
            name, time = (prefill(256 + i), 160) if i % 10 == 9 else (decode(4), 100)
            t.slice("schedule: allocate_slots", at, at + 1, "user_annotation")
            t.iteration(name, at + 1, at + 1 + time, computing=0.98)
            t.slice("llm_engine step: process_outputs", at + 1 + time, at + 2 + time, "user_annotation")
            if i % 20 == 19:  # nothing to do for a while
                t.slice("recv_requests", at + 2 + time, at + 5000, "python_function")
            at += 5000 if i % 20 == 19 else 2 + time
        advice = self.advice(t)
        for check in ("scheduling", "post_processing", "between_iterations", "sampling", "long_prompt", "decode_launches", "graph_fallback"):
            self.assertEqual(advice[check]["state"], "fine", advice[check])
        self.assertEqual(advice["preemption"]["state"], "not recorded")

    def test_checks_find_what_was_planted(self):
        """Each fault by itself, and no other check of engines finds anything."""
        faults = {"scheduling": "schedule: allocate_slots", "post_processing": "detokenize", "between_iterations": "engine.py(3): log", "sampling": "sample", "long_prompt": None}
        for fault, name in faults.items():
            t, at = Trace(), 0
            for i in range(60):
                tokens = 9000 if fault == "long_prompt" and i == 39 else 256
                time = tokens * 160 // 256 if i % 10 == 9 else 100
                t.iteration(prefill(tokens) if i % 10 == 9 else decode(4), at, at + time, computing=0.98)
                if name and fault == "sampling":
                    t.slice(name, at + 60, at + 100, "user_annotation")
                elif name:
                    t.slice(name, at + time, at + time + 12, "user_annotation" if fault != "between_iterations" else "python_function")
                    at += 12
                at += time + 1
            advice = self.advice(t)
            self.assertEqual([c for c in ("scheduling", "post_processing", "between_iterations", "sampling", "long_prompt") if advice[c]["state"] == "found"], [fault])
        self.assertIn("1 decode waits behind a prompt of up to 9000 tokens: 5.7", advice["long_prompt"]["found"])

    def test_what_happens_once_is_named(self):
        t, at = Trace(), 0
        for i in range(40):
            t.iteration(decode(4), at, at + 100, computing=0.98)
            if i == 20:
                t.slice("schedule: allocate_slots", at + 100, at + 900, "user_annotation")
                at += 800
            at += 101
        found = self.advice(t)["scheduling"]
        self.assertEqual((found["state"], found["where"]), ("found", "once, in step 21"))
        self.assertEqual(found["found"], "between two iterations up to 800 us go to scheduling")

    def test_preempted_requests(self):
        t, at = Trace(), 0
        t.point("request_begin 1", 0)
        for i in range(30):
            is_prompt = i in (0, 20)
            t.iteration(prefill(64) if is_prompt else decode(1), at, at + (400 if is_prompt else 100), computing=0.98)
            at += 400 if is_prompt else 100
            t.point("first_token 1" if i == 0 else "token 1", at)
        found = self.advice(t)["preemption"]
        self.assertEqual((found["state"], found["found"]), ("found", "1 prompt is computed again for requests that had tokens already: they were preempted"))

    def test_a_host_alone_that_works_outside_of_operators(self):
        for share, state in ((0.1, "fine"), (0.6, "found")):
            t = Trace()
            for i in range(30):
                t.slice(decode(2), 200 * i, 200 * i + 100, "user_annotation")
                t.slice("aten::mm", 200 * i, 200 * i + 100 * (1 - share), "cpu_op")
            self.assertEqual(self.advice(t)["decode_host"]["state"], state, share)

    def test_graphs_of_small_decodes_only(self):
        t, at = Trace(), 0
        for i in range(40):
            batch = 4 if i % 4 else 9
            time = 100 if batch == 4 else 300
            t.iteration(decode(batch), at, at + time, computing=0.3)
            if batch == 4:
                t.events[-2]["name"] = "cudaGraphLaunch"
            else:
                for k in range(10):
                    t.slice("cudaLaunchKernel", at + 10 + 10 * k, at + 19 + 10 * k, "cuda_runtime", correlation=1000 + 100 * i + k)
            at += time + 1
        found = self.advice(t)["graph_fallback"]
        self.assertEqual((found["state"], found["found"]), ("found", "10 decodes of more than 4 requests launch kernels one by one; up to that size a graph is launched"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
