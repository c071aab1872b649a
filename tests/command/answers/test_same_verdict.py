#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The verdict on a run is the same from every command and in every form of input: faults x commands x forms.

A verdict here is what is slow: a rank in each step, a step, or a rank in a step. Two worlds: simulated collections and their results, and
traces and databases of a simulation of events (fault_traces.py).

usage: test_same_verdict.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
from cli_case import Case  # noqa: E402: reads the arguments
from depth import sampled
from fault_traces import JOB, logs, in_step, longer_kernel, slow_device, slow_once, write  # noqa: E402

STEPS = 10
SIMULATED = {  # options, and the verdict: (rank or None, step or None)
    "healthy": ((), set()),
    "a slow rank": (("--slow-rank", "2:1.3"), {(2, None)}),
    "a rank that is slow by little": (("--slow-rank", "1:1.04"), {(1, None)}),
    "a late host": (("--late-host", "3:1ms"), {(3, None)}),
    "a step in which a rank waits for data": (("--stall", "5:20ms:1"), {(1, "5")}),
    "a slow step": (("--slow-step", "4:3"), {(None, "4")}),
    "a slow rank and a slow step": (("--slow-rank", "2:1.3", "--stall", "5:20ms:1"), {(2, None), (1, "5")}),
}
KEPT = {"databases": (".db",), "text": (".json", ".csv"), "timeline": ("trace_view.json",)}
TRACED = {
    "healthy": ({}, set()),
    "a slow rank": ({"fault": slow_device}, {(2, None)}),
    "a rank with more work of the host": ({"fault": in_step(logs, 0, "end", None)}, {(0, None)}),
    "a rank that is slow in a step": ({"fault": slow_once}, {(2, "12")}),
    "a step that is slow on all ranks": ({"fault": in_step(longer_kernel)}, {(None, "12")}),
}
TRACE_FORMS = {"traces": False, "timelines": True, "databases": "database"}


class SameVerdict(Case):
    def judged(self, findings):
        """Those of why and analyse."""
        return {(int(f["rank"].split()[1]) if f["rank"] else None, None if f["shape"] == "rank" else f["first"]) for f in findings if f["shape"] != "start_up"}

    def why(self, path):
        answer, = json.loads(self.ascope("why", path, "--json", code=0).stdout)["answers"]
        return self.judged(answer["judged"])

    def lines(self, findings):
        """What is said of each finding and of its causes, word by word."""
        return [(f["text"], f["because"]) for f in findings]

    def analysed(self, path):
        """Its results go elsewhere, so that the next command reads the same data."""
        out = tempfile.mkdtemp(dir=self.dir)
        return json.loads(self.ascope("analyse", path, "--export-type", "db", "--no-sync", "--out", out, "--json", code=0).stdout)["judged"]

    def cluster(self, path):
        out = tempfile.mkdtemp(dir=self.dir)
        found = json.loads(self.ascope("cluster", path, "-m", "verdicts", "-o", out, "--no-sync", "--json", code=0).stdout)["verdicts"]
        self.assertLessEqual({v["kind"] for v in found}, {"slow_rank", "late_host", "slow_step"})
        self.clustered = [v["text"] for v in found]
        return {(v["rank"], v["step"]) for v in found}

    def advise(self, path):
        """It names ranks that are slow in each step; steps are those of why."""
        found = json.loads(self.ascope("advise", path, "--json", code=0).stdout)["advice"]
        return {(one["rank"], None) for one in found if one["check"] == "slow_rank"}

    def check(self, path, wanted, **where):
        for command, of_command in (("why", wanted), ("cluster", wanted), ("advise", {v for v in wanted if v[1] is None})):
            with self.subTest(command=command, **where):
                self.assertEqual(getattr(self, command)(path), of_command)
        with self.subTest(what="the same words", **where):
            why, = json.loads(self.ascope("why", path, "--json", code=0).stdout)["answers"]
            said = self.lines(why["judged"])
            self.assertTrue(all(because for f, (_, because) in zip(why["judged"], said) if f["shape"] != "start_up"), said)
            if where["form"] in ("raw", "traces"):  # tables of results have times in microseconds, and no host
                self.assertEqual(self.clustered, [text for f, (text, _) in zip(why["judged"], said) if f["shape"] != "start_up"])
            self.assertEqual(self.lines(json.loads(self.ascope("advise", path, "--json", code=0).stdout)["judged"]), said)
            if where["form"] == "raw":
                self.assertEqual(self.lines(self.analysed(path)), said)

    def forms(self, options):
        """A simulated job as it is recorded, and its results without that."""
        raw, results = os.path.join(self.dir, "raw"), os.path.join(self.dir, "results")
        self.ascope("sim", "--out", raw, "--framework", "pt", "--ranks", "4", "--tp", "2", "--dp", "2", "--kernels", "1600", "--steps", str(STEPS), "--samplers=off",
                    *options, code=0)
        shutil.copytree(raw, results)
        self.ascope("analyse", results, "--export-type", "text,db", "--no-sync", "-q", code=0)
        yield "raw", raw
        for form, ends in KEPT.items():
            for rank in os.listdir(results):
                output = os.path.join(results, rank, "ASCEND_PROFILER_OUTPUT")
                to = os.path.join(self.dir, form, rank, "ASCEND_PROFILER_OUTPUT")
                os.makedirs(to)
                for name in os.listdir(output):
                    if name.endswith(ends):
                        shutil.copy(os.path.join(output, name), to)
                for info in glob.glob(glob.escape(os.path.join(results, rank)) + "/profiler_*.json"):
                    shutil.copy(info, os.path.dirname(to))
            yield form, os.path.join(self.dir, form)

    def test_simulated_jobs(self):
        for fault, (options, wanted) in sampled(list(SIMULATED.items())[::-1], 7):
            for form, path in self.forms(options):
                self.check(path, wanted, fault=fault, form=form)
            for name in os.listdir(self.dir):
                shutil.rmtree(os.path.join(self.dir, name))

    def test_traced_jobs(self):
        for fault, (job, wanted) in sampled(list(TRACED.items())[::-1], 5):
            for form, npu in TRACE_FORMS.items():
                path, _ = write({**JOB, **job, "npu": npu}, 1, 0.02, os.path.join(self.dir, "job"))
                self.check(path, wanted, fault=fault, form=form)

    def test_gate_agrees(self):
        """Equal runs pass, and one with a slow rank does not."""
        paths = [write({**JOB, **job}, seed, 0.02, os.path.join(self.dir, name))[0]
                 for name, seed, job in (("base", 1, {}), ("again", 2, {}), ("slow", 3, {"fault": slow_device}))]
        self.ascope("gate", paths[0], "--", paths[1], code=0)
        self.assertIn("REGRESSED", self.ascope("gate", paths[0], "--", paths[2], code=4).stdout)


if __name__ == "__main__":
    unittest.main(argv=["test_same_verdict.py", *sys.argv[3:]], verbosity=1)
