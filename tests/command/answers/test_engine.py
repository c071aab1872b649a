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


def decode(batch):
    return "execute_context_0(0)_generation_%d(%d)" % (batch, batch)


def prefill(tokens, requests=1):
    return "execute_context_%d(%d)_generation_0(0)" % (requests, tokens)


class Trace:
    """Events of torch.profiler, in us."""

    def __init__(self):
        self.events, self.key = [], 0

    def slice(self, name, begin, end, cat, tid=1, **args):
        self.events.append({"ph": "X", "pid": 1, "tid": tid, "name": name, "cat": cat, "ts": begin, "dur": end - begin, "args": args})

    def iteration(self, name, begin, end, computing=0.5):
        """The device computes for a part of it, from its middle on to its end."""
        self.key += 1
        self.slice(name, begin, end, "user_annotation")
        self.slice("aten::mm", begin, begin + 4, "cpu_op", **{"External id": self.key})
        self.slice("cudaLaunchKernel", begin + 1, begin + 3, "cuda_runtime", correlation=self.key)
        self.slice("sgemm", end - (end - begin) * computing, end, "kernel", tid=7, correlation=self.key, **{"External id": self.key, "stream": 7})


class Engine(Case):
    def iterations(self, trace):
        self.path = os.path.join(self.dir, "engine.pt.trace.json")
        with open(self.path, "w") as f:
            json.dump({"traceEvents": trace.events}, f)
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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
