#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings in which the profiler marked no steps: annotations that repeat are the steps, in every form of the same run, in every command.

usage: test_steps_by.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import re
import shutil
import sys
import unittest

from cli_case import Case

OWN, NAME = b"ProfilerStep#", b"engine_loop_#"
SAYS = 'steps are those of the annotation "%s", not of the profiler'


def events_of(names, n_launches=4):
    """Ranges (name, begin, end in us) on one thread, each with kernels that it launches. -> events of a trace of torch.profiler"""
    events, key = [], 0
    for name, begin, end in names:
        events.append({"ph": "X", "pid": 1, "tid": 1, "name": name, "cat": "user_annotation", "ts": begin, "dur": end - begin})
        for _ in range(n_launches):
            key += 1
            at = begin + (end - begin) * ((key - 1) % n_launches) / n_launches
            for kind, event, pid, start, dur in (("cpu_op", "aten::mm", 1, at, 4), ("cuda_runtime", "cudaLaunchKernel", 1, at + 1, 2), ("kernel", "sgemm", 0, at + 5, 3)):
                events.append({"ph": "X", "pid": pid, "tid": 7 - 6 * pid, "name": event, "cat": kind, "ts": start, "dur": dur, "args": {"correlation": key, "External id": key, "stream": 7}})
    return events


class StepsBy(Case):
    def trace(self, names, name="own.pt.trace.json"):
        path = os.path.join(self.dir, name)
        with open(path, "w") as f:
            json.dump({"traceEvents": events_of(names)}, f)
        return path

    def why(self, *args, code=0):
        return json.loads(self.ascope("why", "--json", *args, code=code).stdout)["answers"][0]

    def job(self):
        """The same job, recorded without steps of the profiler: as it was recorded, and its results. -> {form: directory}"""
        raw = os.path.join(self.dir, "raw")
        self.ascope("sim", "--framework", "pt", "--ranks", "2", "--tp", "2", "--kernels", "2000", "--steps", "8", "--stall", "5:20ms:1", "--out", raw, code=0)
        for file in glob.glob(os.path.join(glob.escape(raw), "*/FRAMEWORK/torch.op_range")):
            with open(file, "rb") as f:
                data = f.read()
            self.assertEqual(data.count(OWN), 8)
            with open(file, "wb") as f:
                f.write(data.replace(OWN, NAME))
        forms = {"raw": raw}
        for form, kind in (("databases", "db"), ("timeline", "text")):
            forms[form] = os.path.join(self.dir, form)
            shutil.copytree(raw, forms[form])
            self.ascope("analyse", "--export-type", kind, forms[form], code=0)
            for path in glob.glob(os.path.join(glob.escape(forms[form]), "*/*")):
                if os.path.basename(path).startswith(("PROF", "FRAMEWORK")):
                    shutil.rmtree(path)
        return forms

    def test_every_form_of_a_job(self):
        forms, found = self.job(), {}
        for form, path in forms.items():
            a = self.why(path)
            found[form] = (a["steps_by"], [r["steps"] for r in a["ranks"]], a["median_us"], a["step"], a["on"], [f["text"] for f in a["judged"]])
            out = os.path.join(self.dir, "out " + form)
            r = self.ascope("cluster", "-m", "verdicts", path, "--out", out, code=0)
            self.assertIn(SAYS % "engine_loop_#*", r.stderr)
            found[form] += ([line for line in r.stdout.splitlines() if "cluster_analysis" not in line],)
            self.assertIn(SAYS % "engine_loop_#*", self.ascope("advise", path, code=0).stdout)
            self.assertEqual(json.loads(self.ascope("compare", "--json", path, path, code=0).stdout)["comparisons"][0]["ranks"][0]["a"]["steps_by"], "engine_loop_#*")
        self.assertEqual(found["raw"][:2] + found["raw"][3:5], ("engine_loop_#*", [8, 8], "5", 1))
        for form in forms:
            self.assertEqual(found[form], found["raw"], form)
        self.assertRegex("".join(found["raw"][-1]), "step 5 is slow, once.* because of rank 1,.* its host is late")
        self.assertIn("8 steps", self.ascope("analyse", forms["raw"], code=0).stdout)
        self.assertIn("8 steps of engine_loop_#*", self.page(forms["databases"] + "/" + sorted(os.listdir(forms["databases"]))[0]))

    def page(self, *args):
        out = os.path.join(self.dir, "page.html")
        self.ascope("view", *args, "--export", out, code=0)
        with open(out) as f:
            return re.findall(r"[0-9]+ steps? of [^<,]*", f.read())

    def test_a_server(self):
        """Iterations of vLLM; one of them is slow. What lies between them belongs to none."""
        names = [("execute_context_1(64)_generation_0(0)", 0, 400)]
        at = 400
        for i in range(30):
            at += 1000 if i % 10 == 9 else 20
            names.append(("execute_context_0(0)_generation_2(2)", at, at + (400 if i == 17 else 100)))
            at = names[-1][2]
        trace = self.trace(names)
        a = self.why(trace)
        self.assertEqual((a["steps_by"], len(a["steps"]), a["median_us"]), ("execute_*_generation_*", 31, 100))
        self.assertIn(SAYS % a["steps_by"], self.ascope("info", trace, code=0).stdout)
        self.assertEqual(json.loads(self.ascope("info", "--json", trace, code=0).stdout)["collections"][0]["steps"], 31)
        self.assertIn("31 steps of execute_*_generation_*", self.page(trace))

    def test_a_loop_without_step(self):
        """torch.profiler around a plain loop marks the loader and the optimizer by itself. A step is a turn of the loop."""
        names, at = [], 0
        for i in range(12):
            load = 900 if i == 8 else 20
            names += [("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, at + load), ("Optimizer.zero_grad#SGD.zero_grad", at + load + 10, at + load + 30), ("Optimizer.step#SGD.step", at + load + 300, at + load + 400)]
            at += load + 420
        a = self.why(self.trace(names))
        self.assertEqual((a["steps_by"].split("#")[0], len(a["steps"]), a["step"]), ("enumerate(DataLoader)", 12, "8"))
        self.assertIn("data", a["difference"]["causes"])

    def test_a_name_that_is_asked_for(self):
        trace = self.trace([("outer", i * 1000, i * 1000 + 900) for i in range(6)] + [("inner %d" % i, i * 500 + 10, i * 500 + 400) for i in range(12)])
        self.assertEqual(len(self.why(trace)["steps"]), 6)
        a = self.why("--steps-by", "inner", trace)
        self.assertEqual((a["steps_by"], len(a["steps"])), ("inner", 12))
        for command in (["why"], ["advise"], ["info"], ["compare", trace], ["gate", trace]):
            r = self.ascope(*command, "--steps-by", "inner", trace)
            self.assertIn(SAYS % "inner", r.stdout, command)
            r = self.ascope(*command, "--steps-by", "nobody", trace)
            self.assertNotEqual(r.returncode, 0, command)
            self.assertIn("--steps-by nobody: no range of the host has a name that begins so", r.stderr, command)
        self.assertIn("12 steps of inner", self.page("--steps-by", "inner", trace))
        r = self.ascope("cluster", "-m", "verdicts", "--steps-by", "inner", trace, "--out", os.path.join(self.dir, "out"), code=0)
        self.assertIn(SAYS % "inner", r.stderr)

    def test_steps_of_the_profiler_come_first(self):
        trace = self.trace([("ProfilerStep#%d" % i, i * 1000, i * 1000 + 999) for i in range(3, 9)] + [("inner", i * 500 + 10, i * 500 + 400) for i in range(6, 18)])
        a = self.why(trace)
        self.assertEqual((a["steps_by"], len(a["steps"]), a["steps"][0]["step"]), (None, 6, "3"))
        self.assertEqual(len(self.why("--steps-by", "inner", trace)["steps"]), 12)
        self.assertNotIn("not of the profiler", self.ascope("why", trace, code=0).stdout)

    def test_nothing_repeats(self):
        trace = self.trace([("all of it", 0, 5000)])
        a = self.why(trace)
        self.assertEqual((a["steps_by"], a["steps"]), (None, []))
        self.assertIn("the whole recording counts as one", self.ascope("why", trace, code=0).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
