#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope why and advise: each planted fault of fault_traces.py is named, with its place, cause and cost; jobs without faults are accused of nothing.

ASCOPE_FAULT_SEEDS=N (make faults) runs N seeds with a noise of 1, 3 and 10 %, and prints the tables of docs/answers.md; without it one seed runs.
What is named in a job that has another fault, or none, is false for the fault that it names.

usage: test_fault_traces.py ASCOPE SOURCE_ROOT [unittest options]
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
from cli_case import Case  # noqa: E402: reads the arguments
from fault_traces import FAULTS, JUDGED, TRAPS, UNEVEN, USUAL, write  # noqa: E402

SEEDS = int(os.environ.get("ASCOPE_FAULT_SEEDS", "0"))
NOISES = (0.01, 0.03, 0.1) if SEEDS else (0.03,)
FIRST = 3  # findings of the first screen
# Findings that are true of a fault beside the one that it is measured by.
ALSO = {
    "H04 a checkpoint every four steps": ["offload"],
    "H05 a slow host": ["slow_rank", "data_loader"],
    "H06 the GIL": ["synchronisation"],  # before each pause
    "no processor for the host": ["synchronisation"],
    "L01 launch bound": ["free_time", "data_loader"],
    "C05 SyncBatchNorm": ["small_collectives"],
}


def judged_label(finding):
    """What the judge says of where it is, and the largest of its causes."""
    first, last = finding["first"], finding["last"]
    place = {"once": f"once {first}", "steps": f"steps {first} {last}", "since": f"since {first}", "period": f"period {finding['period']}", "rank": ""}
    causes = finding.get("causes")
    return " ".join(filter(None, (place.get(finding["shape"], finding["shape"]), finding["rank"], max(causes, key=causes.get) if causes else None)))


# Known, and in the table: steps that are much like the one before may look like a drift.
JUDGED_SLOW = ("steps like the one before, four ranks",)


class Tally:
    """Of one fault."""
    def __init__(self):
        self.n = self.found = self.false = self.n_without = 0
        self.ratios = []

    def row(self, name, what):
        precision = self.found / (self.found + self.false) if self.found + self.false else 0
        gain = f"{min(self.ratios):.2f} to {max(self.ratios):.2f}" if self.ratios else ""
        return f"| {name} | {what} | {self.n} | {self.found / self.n:.2f} | {precision:.2f} | {gain} |"


class FaultTraces(Case):
    @classmethod
    def setUpClass(cls):
        cls.quiet = {}  # by job without fault, seed and noise: its findings

    def answers(self, job, seed, noise, name):
        """-> what is advised, what is judged, the duration of each step"""
        path, times = write(job, seed, noise, os.path.join(self.dir, name))
        advice = json.loads(self.ascope("advise", path, "--json", code=0).stdout)["advice"]
        why, = json.loads(self.ascope("why", path, "--json", "--top", "8", code=0).stdout)["answers"]
        return advice, [judged_label(f) for f in why["judged"] if f["shape"] != "start_up"], times

    def both(self, job, without, seed, noise):
        key = json.dumps(without, default=lambda f: f.__name__) + f"{seed} {noise}"
        if key not in self.quiet:
            self.quiet[key] = self.answers(without, seed, noise, "without")
        return self.answers(job, seed, noise, "with"), self.quiet[key]

    def runs(self):
        return [(seed, noise) for noise in NOISES for seed in range(SEEDS or 1)]

    def show(self, head, rows):
        if SEEDS:
            print(f"\n| {head} | named | jobs | recall | precision | gain |\n|---|---|---:|---:|---:|---|", *rows, sep="\n")

    def test_what_advise_checks_is_named_and_nothing_else_is(self):
        tallies, false = {}, []
        for fault, (check, job, without, _) in FAULTS.items():
            tally = tallies[fault] = Tally()
            for seed, noise in self.runs():
                (found, _, times), (quiet, _, usual) = self.both(job, without, seed, noise)
                names = [one["check"] for one in found]
                tally.n += 1
                tally.found += check in names[:FIRST]
                false += [one for one in names if one != check and one not in ALSO.get(fault, ())] + [one["check"] for one in quiet]
                with self.subTest(fault, seed=seed, noise=noise):
                    self.assertIn(check, names[:FIRST])
                    self.assertEqual([one for one in names if one != check and one not in ALSO.get(fault, ())], [])
                    self.assertEqual([one["check"] for one in quiet], [])
                    cost = (sum(times) - sum(usual)) / len(times)
                    tally.ratios.append(found[names.index(check)]["gain_us"] / cost)
                    self.assertTrue(0.5 <= tally.ratios[-1] <= 2, f"gain: {tally.ratios[-1]:.2f} of what it costs ({cost:.0f} us)")
        for fault, tally in tallies.items():
            tally.false = false.count(FAULTS[fault][0])
        self.show("planted", [tally.row(fault, f"`{FAULTS[fault][0]}`") for fault, tally in tallies.items()])

    def test_what_is_slow_is_judged_and_explained(self):
        rows = []
        for fault, (label, job, without) in JUDGED.items():
            tally = Tally()
            for seed, noise in self.runs():
                (_, found, _), (_, quiet, _) = self.both({**USUAL, **job}, {**USUAL, **without}, seed, noise)
                tally.n += 1
                tally.found += label in found
                tally.false += len(found) - (label in found) + len(quiet)
                with self.subTest(fault, seed=seed, noise=noise):
                    self.assertEqual((found, quiet), ([label], []))
            rows.append(tally.row(fault, label))
        self.show("planted", rows)

    def test_jobs_without_a_fault_are_accused_of_nothing(self):
        rows = []
        for name, job in {**TRAPS, **UNEVEN}.items():
            n = n_advised = n_judged = 0
            for seed, noise in self.runs():
                advice, judged, _ = self.answers(job, seed, noise, "job")
                n, n_advised, n_judged = n + 1, n_advised + bool(advice), n_judged + bool(judged)
                with self.subTest(name, seed=seed, noise=noise):
                    self.assertEqual(([one["check"] for one in advice], judged if name not in JUDGED_SLOW else []), ([], []))
            rows.append(f"| {name} | {n} | {n_judged} | {n_advised} |")
        if SEEDS:
            print("\n| no fault | jobs | judged slow | advised |\n|---|---:|---:|---:|", *rows, sep="\n")


if __name__ == "__main__":
    unittest.main(argv=["test_fault_traces.py", *sys.argv[3:]], verbosity=1)
