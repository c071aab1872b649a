#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope advise: each planted fault of fault_traces.py is named, with what it costs; jobs without faults are accused of nothing.

ASCOPE_FAULT_SEEDS=N runs N seeds with a noise of 1, 3 and 10 %, and prints the table of docs/answers.md; without it one seed runs.

usage: test_fault_traces.py ASCOPE SOURCE_ROOT [unittest options]
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
from cli_case import Case  # noqa: E402: reads the arguments
from fault_traces import FAULTS, TRAPS, write  # noqa: E402

SEEDS = int(os.environ.get("ASCOPE_FAULT_SEEDS", "0"))
NOISES = (0.01, 0.03, 0.1) if SEEDS else (0.03,)
FIRST = 3  # findings of the first screen


class FaultTraces(Case):
    def advise(self, job, seed, noise, name):
        path, times = write(job, seed, noise, os.path.join(self.dir, name))
        return json.loads(self.ascope("advise", path, "--json", code=0).stdout)["advice"], times

    def test_planted_faults_are_named_and_nothing_else_is(self):
        quiet = {}  # by job without fault, seed and noise: its findings
        rows = []
        for fault, (check, job, without, has_gain) in FAULTS.items():
            hits = first = n = false = 0
            ratios = []
            for noise in NOISES:
                for seed in range(SEEDS or 1):
                    key = json.dumps(without, default=str) + f"{seed} {noise}"
                    if key not in quiet:
                        quiet[key] = self.advise(without, seed, noise, f"without{len(quiet)}")
                    found, times = self.advise(job, seed, noise, "with")
                    names = [one["check"] for one in found]
                    n += 1
                    hits += check in names[:FIRST]
                    first += check in names[:1]
                    is_false = check in [one["check"] for one in quiet[key][0]]
                    false += is_false
                    with self.subTest(fault, seed=seed, noise=noise):
                        self.assertIn(check, names[:FIRST])
                        self.assertFalse(is_false)
                        cost = (sum(times) - sum(quiet[key][1])) / len(times)
                        ratios.append(found[names.index(check)]["gain_us"] / cost)
                        self.assertTrue(0.5 <= ratios[-1] <= 2, f"gain: {ratios[-1]:.2f} of what it costs ({cost:.0f} us)")
            rows.append((fault, check, n, hits, first, false, ratios))
        if SEEDS:
            for fault, check, n, hits, first, false, ratios in rows:
                gain = f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "-"
                print(f"| {fault} | `{check}` | {hits} of {n} | {first} of {n} | {false} of {n} | {gain} |")

    def test_jobs_without_a_fault_are_accused_of_nothing(self):
        accused = {}
        for name, job in TRAPS.items():
            for noise in NOISES:
                for seed in range(SEEDS or 1):
                    with self.subTest(name, seed=seed, noise=noise):
                        found = [one["check"] for one in self.advise(job, seed, noise, "job")[0]]
                        accused[name] = accused.get(name, 0) + bool(found)
                        self.assertEqual(found, [])
        if SEEDS:
            for name, n in accused.items():
                print(f"| {name} | {n} of {SEEDS * len(NOISES)} |")


if __name__ == "__main__":
    unittest.main(argv=["test_fault_traces.py", *sys.argv[3:]], verbosity=1)
