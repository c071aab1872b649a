#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests of an inference server in traces: how long they took, and where the time of one of them went.

usage: test_requests.py ASCOPE SOURCE_ROOT [unittest options]
"""
import json
import os
import sys
import unittest

from cli_case import Case
from engine_trace import Trace, decode, prefill


class Requests(Case):
    def why(self, trace, *args, code=0):
        self.path = os.path.join(self.dir, "engine.pt.trace.json")
        with open(self.path, "w") as f:
            json.dump({"traceEvents": trace.events}, f)
        r = self.ascope("why", "--json", *args, self.path, code=code)
        return json.loads(r.stdout)["answers"][0] if code == 0 else r

    def parts(self, request):
        """{(stage, what): us}; they add up."""
        out = {}
        for stage in request["stages"]:
            self.assertAlmostEqual(sum(p["time_us"] for p in stage["parts"]), stage["time_us"], 3)
            out.update({(stage["stage"], p["what"]): p["time_us"] for p in stage["parts"]})
        self.assertAlmostEqual(sum(s["time_us"] for s in request["stages"]), request["time_us"], 3)
        return out

    def engine(self, stall=(), prompt_at=None, token="token %s"):
        """Request a decodes from 1000 us on; b arrives at 3000, waits for an iteration, and is prefilled at 3320. -> trace"""
        t, at = Trace(), 0
        t.slice("request a", 0, 40000, "user_annotation", tid=2)
        first = {"a": True, "b": True}

        def tokens(*ids):
            for i in ids:
                t.point(("first_token %s" if first[i] else token) % i, at)
                first[i] = False

        t.iteration(prefill(512), at, at + 1000)
        at += 1000
        tokens("a")
        active = ["a"]
        for i in range(60):
            if i == 21:
                t.slice("schedule: allocate_slots", at, at + 15, "user_annotation")
                t.iteration(prefill(256), at + 20, at + 520)
                at += 520
                tokens("b")
                active.append("b")
            if i == prompt_at:
                t.iteration(prefill(4096), at, at + 4000)
                at += 4000
            time = 100 + (2000 if i in stall else 0)
            t.iteration(decode(len(active)), at, at + time)
            if i in stall:
                t.slice("gpu_model_runner: sample", at + 10, at + 10 + time - 100, "user_annotation")
            at += time
            tokens(*active)
        end = at
        t.slice("request b", 3000, end, "user_annotation", tid=3)
        return t, end

    def test_times(self):
        t, end = self.engine()
        a = self.why(t)["requests"]
        by = {r["id"]: r for r in a["requests"]}
        self.assertEqual((by["a"]["tokens"], by["a"]["ttft_us"], by["b"]["tokens"], by["b"]["ttft_us"]), (61, 1000, 40, 620))
        self.assertAlmostEqual(by["a"]["tpot_us"], (end - 1000) / 60, 2)
        self.assertAlmostEqual(by["b"]["tpot_us"], 100, 3)
        self.assertEqual((a["itl"]["n"], a["itl"]["p50_us"], a["itl"]["most_us"], a["ttft"]["n"], a["ttft"]["most_us"]), (99, 100, 620, 2, 1000))
        self.assertRegex(self.ascope("why", self.path, code=0).stdout, r"2 requests, 101 tokens of them\n  to first token \(TTFT\) +p50 620 us, p90 1.000 ms")

    def test_the_queue(self):
        t, end = self.engine()
        b = self.why(t, "--request", "b")["request"]
        parts = self.parts(b)
        self.assertEqual((b["ttft_us"], b["time_us"], b["complete"]), (620, end - 3000, True))
        self.assertAlmostEqual(parts["queue", "tokens of other requests"], 100, 3)
        self.assertAlmostEqual(parts["queue", "scheduling"], 15, 3)
        self.assertAlmostEqual(parts["prompt", "computing the prompt"], 500, 3)
        self.assertAlmostEqual(parts["tokens", "computing its tokens"], 3900, 3)
        self.assertNotIn(("tokens", "prompts of other requests"), parts)
        text = self.ascope("why", "--request", "b", self.path, code=0).stdout
        self.assertRegex(text, r"request b: .* 40 tokens, TTFT 620 us \(median 620 us\)")
        self.assertRegex(text, r"100.0 % +4.520 ms  in all")

    def test_a_prompt_of_another_request_and_a_slow_sampler(self):
        t, _ = self.engine(stall=(40,), prompt_at=50)
        parts = self.parts(self.why(t, "--request", "b")["request"])
        self.assertAlmostEqual(parts["tokens", "prompts of other requests"], 4000, 3)
        slow = {what: us for (stage, what), us in parts.items() if what.startswith("longer than usual")}
        self.assertAlmostEqual(sum(slow.values()), 2000, 3)
        self.assertEqual(max(slow, key=slow.get), "longer than usual: sampling")
        self.assertGreater(max(slow.values()), 900)  # the device computes for half of the iteration
        where = [p for s in self.why(t, "--request", "b")["request"]["stages"] for p in s["parts"] if p["what"] == "longer than usual: sampling"]
        self.assertEqual(where[0]["step"], "42")

    def test_a_request_that_is_left_out(self):
        """Preempted: others get tokens, it does not."""
        t, at = Trace(), 0
        t.slice("request_id=7", 0, 3000, "user_annotation", tid=2)
        t.iteration(prefill(64), 0, 500)
        at = 500
        t.point("first_token 7", at)
        for i in range(25):
            t.iteration(decode(2), at, at + 100)
            at += 100
            if not 5 <= i < 15:
                t.point("token 7", at)
        r = self.why(t, "--request", "7")["request"]
        parts = self.parts(r)
        self.assertAlmostEqual(parts["tokens", "tokens of other requests"], 1000, 3)
        self.assertEqual(r["longest_interval_us"], 1100)

    def test_the_slowest(self):
        t, at = Trace(), 0
        for i in range(8):
            prompt = 2000 if i == 5 else 200
            t.slice("request %d" % i, at, at + prompt + 1000, "user_annotation", tid=2)
            t.iteration(prefill(prompt), at, at + prompt)
            at += prompt
            t.slice("first_token %d" % i, at - 1, at, "user_annotation", tid=2)  # a range: its end counts
            for _ in range(10):
                t.iteration(decode(1), at, at + 100)
                at += 100
                t.point("token %d" % i, at)
        a = self.why(t, "--request", "slowest")
        self.assertEqual((a["request"]["id"], a["requests"]["slowest"], a["request"]["ttft_us"]), ("5", "5", 2000))

    def test_without_tokens(self):
        t = Trace()
        t.slice("request x", 0, 2000, "user_annotation", tid=2)
        for i in range(15):
            t.iteration(decode(1), i * 100, i * 100 + 90)
        parts = self.parts(self.why(t, "--request", "x")["request"])
        self.assertEqual({k: round(v) for k, v in parts.items()}, {("open", "tokens"): 1350, ("open", "nothing recorded of the host"): 650})
        self.assertIn("their tokens were not marked", self.ascope("why", self.path, code=0).stdout)

    def test_a_request_that_began_before(self):
        t = Trace()
        t.point("first_token 3", 500)
        for i in range(5):
            t.point("token 3", 600 + 100 * i)
            t.iteration(decode(1), 500 + 100 * i, 600 + 100 * i)
        t.point("request_end 3", 1100)
        t.point("token of nobody", 700)
        a = self.why(t, "--request", "3")
        self.assertEqual((a["request"]["ttft_us"], a["request"]["complete"], a["request"]["time_us"], len(a["requests"]["requests"])), (None, False, 600, 1))

    def test_an_id_twice(self):
        t = Trace()
        for k in range(2):
            t.slice("request 1", 1000 * k, 1000 * k + 600, "user_annotation", tid=2)
            t.point("first_token 1", 1000 * k + 100 + 100 * k)
            for i in range(5):
                t.iteration(decode(1), 1000 * k + 100 * i, 1000 * k + 100 * i + 90)
        self.assertEqual([r["ttft_us"] for r in self.why(t)["requests"]["requests"]], [100, 200])

    def test_no_such_request(self):
        t, _ = self.engine()
        r = self.why(t, "--request", "c", code=2)
        self.assertIn("--request c: not among the 2 requests of", r.stderr)

    def test_requests_are_steps_only_if_nothing_else_is(self):
        t = Trace()
        for i in range(12):
            t.iteration("request %d" % i, i * 500, i * 500 + 400)
        a = self.why(t)
        self.assertEqual((a["steps_by"], len(a["steps"])), ("request *", 12))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
