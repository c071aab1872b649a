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

    def job(self, name=lambda number: NAME):
        """The same job, recorded without steps of the profiler: as it was recorded, and its results. -> {form: directory}"""
        raw = os.path.join(self.dir, "raw")
        self.ascope("sim", "--framework", "pt", "--ranks", "2", "--tp", "2", "--kernels", "2000", "--steps", "8", "--stall", "5:20ms:1", "--out", raw, code=0)
        for file in glob.glob(os.path.join(glob.escape(raw), "*/FRAMEWORK/torch.op_range")):
            with open(file, "rb") as f:
                data = f.read()
            self.assertEqual(data.count(OWN), 8)
            with open(file, "wb") as f:
                f.write(re.sub(OWN + b"([0-9])", lambda m: name(int(m[1])) + m[1], data))
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

    def test_every_form_knows_the_class(self):
        prompts = (2, 3, 6)
        forms = self.job(lambda number: b"extend bs=3 #" if number in prompts else b"decode bs=2 #")
        for form, path in forms.items():
            a = self.why(path)
            self.assertEqual([(s["class"], s["requests"]) for s in a["steps"]], [("prefill", 3) if i in prompts else ("decode", 2) for i in range(8)], form)
            self.assertEqual([c["class"] for c in a["iterations"]["classes"]], ["prefill", "decode"], form)
            r = self.ascope("cluster", "-m", "verdicts", path, "--out", os.path.join(self.dir, "out " + form), code=0)
            self.assertRegex(r.stdout, r"step 5 \(decode, 2 requests\) is slow, once: (19|20)[0-9.]* ms longer than the usual", form)

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

    def engine(self, slow=(), stall=0, prompt=400, server="vllm"):
        """An engine with a prompt now and then; a decode takes longer with more requests. `slow`: rows in which the host does nothing for
        `stall` us more; the prompt of row 20 has `prompt` us. -> path of its trace, class by row"""
        names, kinds, at = [], [], 0
        for i in range(60):
            is_prefill, batch = i % 10 == 0, 2 + (i // 10) % 3
            time = (prompt if i == 20 else 400) if is_prefill else 100 + 10 * batch + i * 7 % 3
            tokens = 16 * time if is_prefill else batch
            counts = (1, tokens, 0, 0) if is_prefill else (0, 0, batch, batch)
            name = "execute_context_%d(%d)_generation_%d(%d)" % counts if server == "vllm" else "step[EXTEND bs=1 toks=%d]" % tokens if is_prefill else "step[DECODE bs=%d]" % batch
            names.append((name, at, at + time + (stall if i in slow else 0)))
            kinds.append("prefill" if is_prefill else "decode")
            at = names[-1][2] + 20
        return self.trace(names), kinds

    def test_prefills_among_decodes_are_not_slow(self):
        for server in ("vllm", "sglang"):
            trace, kinds = self.engine(server=server)
            a = self.why(trace)
            self.assertEqual([s["class"] for s in a["steps"]], kinds, server)
            self.assertEqual([f["text"] for f in a["judged"]], [], server)
            self.assertEqual((a["steps"][0]["requests"], a["steps"][0]["tokens"], a["steps"][1]["requests"], a["steps"][0]["kv"]), (1, 6400, 2, None), server)
            use = {c["class"]: c for c in a["iterations"]["classes"]}
            self.assertEqual([(use[k]["iterations"], use[k]["median_us"], use[k]["requests"]) for k in ("prefill", "decode")], [(6, 400, 1), (54, 131, 3)], server)
            self.assertAlmostEqual(use["prefill"]["tokens_per_s"], 16e6, 3)
            self.assertEqual((a["iterations"]["between_us"], a["iterations"]["median_between_us"]), (59 * 20, 20), server)
            self.assertEqual(a["usual"]["steps"], 54)
            self.assertRegex(self.ascope("why", trace, code=0).stdout, "\\n  decode +54, .*median 131 us, 3 requests")

    def test_a_decode_that_the_host_makes_slow(self):
        """As long as a prefill: slow for a decode."""
        trace, _ = self.engine(slow=(37,), stall=300)
        a = self.why(trace)
        self.assertEqual((len(a["judged"]), a["step"], a["slow"]), (1, "37", 1))
        self.assertRegex(a["judged"][0]["text"], r"^step 37 \(decode, 2 requests\) is slow, once: 30[0-9.]+ us longer than the usual 12[0-9.]+ us")
        self.assertEqual(max(a["difference"]["causes"], key=a["difference"]["causes"].get), "host")
        self.assertTrue(120 < a["difference"]["usual_us"] < 123, a["difference"]["usual_us"])

    def test_a_long_prompt_takes_long(self):
        """Three times the tokens in three times the time; the same time for the usual tokens is slow."""
        trace, _ = self.engine(prompt=1200)
        self.assertEqual([f["text"] for f in self.why(trace)["judged"]], [])
        trace, _ = self.engine(slow=(20,), stall=800)
        self.assertRegex([f["text"] for f in self.why(trace)["judged"]][0], r"^step 20 \(prefill, 1 request, 6400 tokens\) is slow, once: 800[0-9.]* us longer than the usual 400")

    def test_a_recorded_engine(self):
        """A recording of a GPU: a prefill and eleven decodes, three times. In one decode the host sleeps 30 ms."""
        trace = os.path.join(sys.argv[2], "../shared/data/inference/generate_0.json.gz")
        if not os.path.exists(trace):
            self.skipTest("%s is not there" % trace)
        a = self.why("--step", "19", trace)
        self.assertEqual([s["class"] for s in a["steps"]], (["prefill"] + ["decode"] * 11) * 3)
        self.assertEqual([s["requests"] for s in a["steps"]], [2] * 12 + [3] * 12 + [4] * 12)
        self.assertEqual(max(a["steps"], key=lambda s: s["time_us"])["step"], "19")
        largest = a["difference"]["items"][0]
        self.assertEqual((largest["cause"], largest["named"]), ("host", "outside"))
        self.assertTrue(29e3 < largest["more_us"] < 32e3, largest)

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
