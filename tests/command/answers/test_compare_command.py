#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope compare and ascope gate on jobs whose differences are known, and on traces of torch.profiler.

    test_compare_command.py ASCOPE
"""
import csv
import gzip
import json
import os
import re
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
import xml.etree.ElementTree

ASCOPE = os.path.abspath(sys.argv[1])
KINETO = os.path.join(os.environ["ASCOPE_SAMPLE"], "kineto")


def ascope(*words):
    return subprocess.run([ASCOPE, *words], capture_output=True, text=True, check=False)


def trace(steps, kernels, rank=None, name="ProfilerStep#%d", begin=1000.0):
    """A trace of torch.profiler: of each step, each kernel a number of times. kernels: (name, operator, us(step), times)."""
    events, at, number = [], begin, 0
    for step in range(steps):
        first = at
        for kernel, operator, us, times in kernels:
            for _ in range(times):
                number += 1
                dur = us(step)
                common = {"ph": "X", "pid": 1, "tid": 1}
                events.append({**common, "cat": "cpu_op", "name": operator, "ts": at, "dur": 5, "args": {"External id": number}})
                events.append({**common, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 1, "dur": 2, "args": {"External id": number, "correlation": number}})
                events.append({**common, "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": at + 6, "dur": dur,
                               "args": {"External id": number, "correlation": number}})
                at += 10 + dur
        events.append({"ph": "X", "cat": "user_annotation", "name": name % step, "pid": 1, "tid": 1, "ts": first, "dur": at - first})
        at += 3
    out = {"traceEvents": events}
    if rank is not None:
        out["distributedInfo"] = {"rank": rank}
    return out


def wobble(mean, seed=0):
    """About a percent around a mean, the same for the same seed and step; neighbouring steps are not alike."""
    return lambda step: round(mean * (1 + ((step * 7925 + seed * 104729) % 21 - 10) / 1000), 3)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keep.cleanup)

    def path(self, name):
        return os.path.join(self.keep.name, name)

    def write(self, name, content):
        with open(self.path(name), "w", encoding="utf-8") as f:
            json.dump(content, f)
        return self.path(name)

    def compare(self, a, b, *options, code=0):
        done = ascope("compare", a, b, "--json", *options)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)["comparisons"][0]

    def changed(self, answer):
        return [(c["kind"], c["name"]) for c in answer["changes"]]


class Jobs(Case):
    def sim(self, name, *options):
        out = self.path(name)
        if not os.path.exists(out):
            done = ascope("sim", "--framework", "pt", "--kernels", "1200", "--steps", "9", "--ranks", "2", "--tp", "2", "--out", out, *options)
            self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def test_equal_runs_are_equal(self):
        answer = self.compare(self.sim("base"), self.sim("base"))
        self.assertEqual(answer["changes"], [])
        self.assertTrue(answer["noise_known"])
        for part in answer["overall"].values():
            self.assertEqual(part["more_us"], 0)
            self.assertEqual(part["state"], "noise")
        self.assertEqual([r["step"]["more_us"] for r in answer["rows"] if r["step"]["more_us"] != 0], [])

    def test_other_noise_is_no_difference(self):
        for seed in (1, 2, 3):
            answer = self.compare(self.sim("base"), self.sim("noise%d" % seed, "--noise-seed", str(seed)))
            self.assertNotEqual([r for r in answer["rows"] if r["kind"] == "kernel" and r["step"]["more_us"] != 0], [])  # it is another run
            self.assertEqual(self.changed(answer), [])
            self.assertEqual([k for k, p in answer["overall"].items() if p["state"] == "real"], [])

    def test_a_slower_operator_is_first(self):
        answer = self.compare(self.sim("base"), self.sim("operator", "--noise-seed", "5", "--slow-operator", "MatMulV2:1.5"))
        self.assertEqual(self.changed(answer)[0], ("kernel", "MatMulV2"))
        self.assertEqual({name for kind, name in self.changed(answer) if kind == "kernel"}, {"MatMulV2"})
        first = answer["changes"][0]
        self.assertEqual(first["step"]["state"], "real")
        self.assertAlmostEqual(first["step"]["b_us"] / first["step"]["a_us"], 1.5, delta=0.05)
        self.assertAlmostEqual(first["because_of_runs_us"], 0, delta=0.001)
        self.assertEqual(answer["overall"]["computing"]["state"], "real")
        faster = self.compare(self.sim("operator"), self.sim("base"))  # and the other way round
        self.assertEqual(self.changed(faster)[0], ("kernel", "MatMulV2"))
        self.assertLess(faster["changes"][0]["step"]["more_us"], 0)

    def test_several_runs(self):
        """Runs that differ as a whole are the noise of a side; its mean counts."""
        job = (("gemm_kernel", "aten::mm", 100), ("add_kernel", "aten::add", 20))
        def runs(name, factors, slow=1):
            return [self.write("%s%d.json" % (name, i), trace(12, [(k, op, wobble(us * f * (slow if us == 100 else 1), i), 2) for k, op, us in job])) for i, f in enumerate(factors)]
        base = runs("r", (1.0, 1.02, 0.98, 1.01, 0.99))
        for what, other, wanted in (("the same", runs("s", (1.01, 0.985, 1.0, 1.02, 0.99)), []), ("slower", runs("t", (1.0, 0.99, 1.01, 1.02, 0.98), 1.3), ["gemm_kernel"])):
            done = ascope("compare", *base, "--json", "--", *other)
            self.assertEqual(done.returncode, 0, done.stderr)
            answer = json.loads(done.stdout)["comparisons"][0]
            self.assertEqual([c["name"] for c in answer["changes"]], wanted, what)
            self.assertEqual((answer["runs_a"], answer["runs_b"]), (base, other))
        row = answer["changes"][0]
        self.assertAlmostEqual(row["step"]["b_us"] / row["step"]["a_us"], 1.3, delta=0.01)
        self.assertEqual((row["a"]["runs"], row["a"]["count"]), (2, 120))
        one = self.compare(base[1], base[2])  # one run of each: what differs between runs is taken for a difference
        self.assertNotEqual(one["changes"], [])
        text = ascope("compare", *base, "--", *other).stdout
        self.assertIn("A5  ", text)
        self.assertIn("B1  ", text)

    def test_command_lines(self):
        a = self.write("line.json", trace(3, Traces.base))
        for words, code in (((a, "--", a), 0), (("--", a, a), 2), ((a, a, "--"), 2), ((a, a, a), 2), ((a, "--", a, "--", a), 2), (("--json", a, "--", a, a), 0)):
            done = ascope("compare", *words)
            self.assertEqual(done.returncode, code, words)
            self.assertEqual(len(done.stderr.splitlines()), code // 2, done.stderr)

    def test_a_slower_step_is_listed(self):
        answer = self.compare(self.sim("base"), self.sim("step", "--noise-seed", "5", "--slow-step", "3:4"))
        slow = [s for s in answer["steps"] if s["b_slow"] and not s["a_slow"]]
        self.assertEqual([s["b"] for s in slow], ["3"])
        self.assertGreater(slow[0]["b_us"], 1.5 * slow[0]["a_us"])
        self.assertEqual([k for k in self.changed(answer) if k[0] == "kernel"], [])  # the usual steps are as before

    def test_a_slower_rank_is_named(self):
        answer = self.compare(self.sim("base"), self.sim("rank", "--noise-seed", "5", "--slow-rank", "1:1.5"))
        computing = [r["overall"]["computing"] for r in answer["ranks"]]
        self.assertEqual([c["state"] for c in computing], ["noise", "real"])
        self.assertAlmostEqual(computing[1]["b_us"] / computing[1]["a_us"], 1.5, delta=0.05)
        kernels = [c for c in answer["changes"] if c["kind"] == "kernel"]
        self.assertTrue(kernels)
        self.assertEqual({c["most_on"] for c in kernels}, {1})
        text = ascope("compare", self.sim("base"), self.sim("rank")).stdout
        ranks = text[text.index("Ranks"):].splitlines()
        self.assertIn("rank 1", ranks[1])

    def test_a_missing_rank(self):
        answer = self.compare(self.sim("base"), self.sim("missing", "--missing-rank", "1"), code=3)
        self.assertEqual((len(answer["ranks"]), answer["alone_a"], answer["alone_b"]), (1, 1, 0))

    def test_other_kinds_of_collections(self):
        for name, options in (("ms", ("--framework", "ms", "--kernels", "120", "--steps", "4")), ("prof", ("--kernels", "120", "--steps", "4")),
                              ("host", ("--framework", "pt", "--kernels", "0", "--operators", "300", "--steps", "4"))):
            out = self.path(name)
            self.assertEqual(ascope("sim", "--out", out, *options).returncode, 0)
            answer = self.compare(out, out)
            self.assertEqual(answer["changes"], [], name)
            self.assertTrue(answer["rows"], name)

    def test_files(self):
        out = self.path("results")
        answer = self.compare(self.sim("base"), self.sim("operator", "--noise-seed", "5", "--slow-operator", "MatMulV2:1.5"), "-o", out)
        with open(out + "/compare_kernels.csv", encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(rows[0]["Name"], "MatMulV2")
        self.assertEqual(rows[0]["State"], "real")
        self.assertEqual(float(rows[0]["Difference(us)"]), answer["changes"][0]["step"]["more_us"])
        with sqlite3.connect("file:%s/comparison.db?mode=ro" % out, uri=True) as db:
            for table, file in (("COMPARE_KERNELS", "compare_kernels"), ("COMPARE_OVERALL", "compare_overall"), ("COMPARE_STEPS", "compare_steps"),
                                ("COMPARE_HOST", "compare_host"), ("COMPARE_CALLS", "compare_calls"), ("COMPARE_MEMORY", "compare_memory")):
                with open("%s/%s.csv" % (out, file), encoding="utf-8", newline="") as f:
                    n = len(list(csv.reader(f))) - 1
                self.assertEqual(db.execute("SELECT COUNT(*) FROM " + table).fetchone()[0], n, table)
            self.assertEqual(db.execute("SELECT name FROM COMPARE_KERNELS WHERE state = 'real'").fetchone()[0], "MatMulV2")
        db.close()
        before = {f.name: f.read_bytes() for f in pathlib.Path(out).iterdir()}
        self.compare(self.sim("base"), self.sim("operator"), "-o", out, "--threads", "1")
        self.assertEqual({f.name: f.read_bytes() for f in pathlib.Path(out).iterdir()}, before)


class Traces(Case):
    base = (("gemm_kernel", "aten::mm", wobble(100), 3), ("add_kernel", "aten::add", wobble(20), 2))

    def test_what_changed(self):
        a = self.write("a.json", trace(8, self.base))
        more = (("gemm_kernel", "aten::mm", wobble(100, 1), 5), ("add_kernel", "aten::add", wobble(20, 1), 2), ("new_kernel", "aten::relu", wobble(7, 1), 1))
        answer = self.compare(a, self.write("b.json", trace(8, more, begin=5000.0)))
        self.assertEqual(self.changed(answer), [("kernel", "gemm_kernel"), ("kernel", "new_kernel")])
        first = answer["changes"][0]
        self.assertEqual((first["a"]["runs"], first["b"]["runs"]), (3, 5))
        self.assertAlmostEqual(first["because_of_runs_us"], 200, delta=2)
        self.assertEqual({(r["kind"], r["name"]) for r in answer["rows"] if r["kind"] in ("operator", "class")},
                         {("operator", "aten::mm"), ("operator", "aten::add"), ("operator", "aten::relu"), ("class", "matmul"), ("class", "vector")})
        self.assertEqual([r["a"]["kind"] for r in answer["ranks"]], ["gpu"])

    def test_operators_of_kernels_in_old_traces(self):
        old = trace(4, self.base)
        for event in old["traceEvents"]:
            if event["cat"] == "kernel":
                event["args"]["external id"] = event["args"].pop("External id")
        path = self.write("old.json", old)
        self.assertEqual({r["name"] for r in self.compare(path, path)["rows"] if r["kind"] == "operator"}, {"aten::mm", "aten::add"})

    def test_operators_that_overlap(self):
        """The first one counts until the second one begins; it does not contain it, and loses none of its time to the rest of that one."""
        ops = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": us} for name, at, us in (("first", 0, 40), ("second", 30, 60))]
        a = self.write("overlap.json", {"traceEvents": ops})
        self.assertEqual({r["name"]: r["a"]["total_us"] for r in self.compare(a, a)["rows"] if r["kind"] == "host"}, {"first": 30, "second": 60})

    def test_sums_are_exact(self):
        a = self.write("exact.json", trace(4, (("k", "aten::mm", lambda step: 10.001 + step, 2),)))
        row = [r for r in self.compare(a, a)["rows"] if r["kind"] == "kernel"][0]
        self.assertEqual((row["a"]["count"], row["a"]["total_us"], row["a"]["min_us"], row["a"]["max_us"]), (8, 92.008, 10.001, 13.001))
        self.assertEqual(row["step"]["a_us"], 23.002)

    def test_one_step_has_unknown_noise(self):
        a, b = self.write("one.json", trace(1, self.base)), self.write("two.json", trace(1, (("gemm_kernel", "aten::mm", wobble(300), 3),)))
        answer = self.compare(a, b)
        self.assertFalse(answer["noise_known"])
        self.assertEqual({c["step"]["state"] for c in answer["changes"]}, {"unknown"})
        self.assertEqual(self.changed(answer)[0], ("kernel", "gemm_kernel"))
        self.assertIn("noise is unknown", ascope("compare", a, b).stdout)

    def test_ranks_in_a_directory(self):
        for side, us in (("x", 100), ("y", 130)):
            os.makedirs(self.path(side), exist_ok=True)
            for rank in (0, 1):
                made = trace(6, (("k", "aten::mm", wobble(us if rank else 100, rank + us), 2),), rank=rank)
                with gzip.open("%s/worker%d.%d.pt.trace.json.gz" % (self.path(side), rank, rank), "wt") as f:
                    json.dump(made, f)
        answer = self.compare(self.path("x"), self.path("y"))
        self.assertEqual([r["b"]["rank"] for r in answer["ranks"]], [0, 1])
        self.assertEqual([r["overall"]["computing"]["state"] for r in answer["ranks"]], ["noise", "real"])
        self.assertEqual(answer["changes"][0]["most_on"], 1)

    def test_npu_against_gpu(self):
        npu = self.path("npu")
        self.assertEqual(ascope("sim", "--framework", "pt", "--kernels", "240", "--steps", "8", "--out", npu).returncode, 0)
        answer = self.compare(npu, self.write("gpu.json", trace(8, self.base)))
        self.assertTrue(answer["different_devices"])
        self.assertEqual({c["kind"] for c in answer["changes"]} - {"operator", "collective", "copy"}, set())
        self.assertIn("operator", {c["kind"] for c in answer["changes"]})

    def test_real_files(self):
        for name in ("real-2.11-cuda-plain.json", "real-1.13-nokineto-plain.json", "hand-2x.json"):
            path = os.path.join(KINETO, name)
            answer = self.compare(path, path)
            self.assertTrue(answer["rows"], name)
            self.assertEqual(answer["changes"], [], name)

    def test_hostile_names(self):
        evil = "<script>alert('x')</script>\"&\u202e\n" + "x" * 60000
        a, out = self.write("evil.json", trace(4, ((evil, evil, wobble(10), 1),))), self.path("evil")
        b = self.write("evil2.json", trace(4, ((evil, evil, wobble(20), 1),)))
        self.compare(a, b, "-o", out)
        with open(out + "/comparison.html", encoding="utf-8") as f:
            page = f.read()
        self.assertNotIn("<script", page)
        self.assertIn("&lt;script&gt;", page)
        self.assertIn("Content-Security-Policy", page)
        self.assertIsNone(re.search(r"""(src|href|action)\s*=|url\(|@import|https?://""", page.split("</style>")[0]))  # one page, complete
        self.assertIsNone(re.search(r"""<(link|img|iframe|object|embed|script)\b""", page))
        self.assertNotIn("\x1b", ascope("compare", a, b).stdout)

    def test_only_one_side_has_steps(self):
        whole = self.write("whole.json", trace(6, self.base))
        one = self.path("one.json")
        with open(one, "w", encoding="utf-8") as f:
            json.dump({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 7}]}, f)
        done = ascope("compare", one, whole)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("only B has steps: a step is compared with the whole of the other run", done.stdout)
        self.assertNotIn("has steps", ascope("compare", whole, whole).stdout)

    def test_damage(self):
        a = self.write("whole.json", trace(6, self.base))
        with open(a, encoding="utf-8") as f:
            text = f.read()
        cut = self.path("cut.json")
        with open(cut, "w", encoding="utf-8") as f:
            f.write(text[:len(text) // 2])
        done = ascope("compare", a, cut)
        self.assertEqual(done.returncode, 3)
        self.assertIn("cut.json", done.stderr)
        for content, word in (("{}", "no trace events"), ("[]", "nothing to compare")):
            other = self.path("other.json")
            with open(other, "w", encoding="utf-8") as f:
                f.write(content)
            done = ascope("compare", a, other)
            self.assertEqual(done.returncode, 1)
            self.assertIn(word, done.stderr)
        for words in ((), (a,), (a, a, a), (a, self.path("nothing")), (a, __file__)):
            done = ascope("compare", *words)
            self.assertEqual(done.returncode, 2, words)
            self.assertEqual(len(done.stderr.splitlines()), 1)


class Gate(Case):
    """The verdict is the first line and the exit code; --json and --markdown have the same one."""
    PASS, NOTHING, USAGE, REGRESSED, INCONCLUSIVE = 0, 1, 2, 4, 5

    def runs(self, name, factor=1.0, steps=20, **more):
        return self.write(name, trace(steps, (("gemm_kernel", "aten::mm", wobble(100 * factor, len(name)), 3), ("add_kernel", "aten::add", wobble(20, len(name)), 2)), **more))

    def gate(self, *words, code):
        done = ascope("gate", "--json", *words)
        self.assertEqual(done.returncode, code, (words, done.stdout[:300], done.stderr))
        return json.loads(done.stdout)["gates"][0]

    def test_verdicts(self):
        base, slower = self.runs("base.json"), self.runs("slower.json", 1.1)
        for words, code, verdict, text in (((base, self.runs("new.json")), self.PASS, "pass", "PASS: step: "),
                                           ((base, slower), self.REGRESSED, "regressed", "kernel gemm_kernel, +"),
                                           ((slower, base), self.PASS, "pass", "PASS: step: "),
                                           ((base, slower, "--allow", "12%"), self.PASS, "pass", "allowed 12 %"),
                                           ((base, slower, "--allow", "step=12,computing=5%"), self.REGRESSED, "regressed", "computing: "),
                                           ((base, slower, "--allow", "memory=5"), self.INCONCLUSIVE, "inconclusive", "memory: not recorded in all runs"),
                                           ((base, base, "--", self.runs("n1.json"), self.runs("n2.json")), self.PASS, "pass", "PASS: step: ")):
            answer = self.gate(*words, code=code)
            self.assertEqual(answer["verdict"], verdict)
            self.assertIn(text, answer["text"])
            done = ascope("gate", *words)
            self.assertEqual(done.returncode, code)
            self.assertEqual(done.stdout.splitlines()[0], answer["text"])
            self.assertEqual(ascope("gate", "--quiet", *words).stdout, "")
        judged = {m["measure"]: m["verdict"] for m in self.gate(base, slower, "--allow", "step=12,computing=5%", code=self.REGRESSED)["measures"]}
        self.assertEqual(judged, {"step": "pass", "computing": "regressed", "communication": None, "free": None, "slow": "pass", "memory": None})

    def test_inconclusive(self):
        base = self.runs("base.json")
        noisy = [self.write("noisy%d.json" % i, trace(12, (("k", "aten::mm", lambda step, i=i: 100 + (step * 7919 + i * 31) % 29, 3),))) for i in range(2)]
        answer = self.gate(*noisy, code=self.INCONCLUSIVE)
        self.assertGreater(answer["measures"][0]["steps_wanted"], 12)
        self.assertIn("about %d steps in each run would decide (now 12)" % answer["measures"][0]["steps_wanted"], answer["text"])
        self.assertEqual(answer["decided_by"], "step")
        whole = self.path("whole.json")
        with open(whole, "w", encoding="utf-8") as f:
            json.dump({"traceEvents": [e for e in trace(3, Traces.base)["traceEvents"] if e["cat"] != "user_annotation"]}, f)
        cut = self.path("cut.json")
        with open(base, encoding="utf-8") as f, open(cut, "w", encoding="utf-8") as to:
            to.write(f.read()[:-2000])
        empty = self.path("empty")
        os.makedirs(empty, exist_ok=True)
        for words, doubt, text in (((base, self.runs("two.json", steps=2)), None, "fewer than three usual steps"),
                                   ((base, whole), "steps", "some runs have steps, others do not"),
                                   ((base, cut), "losses", "could not be read"),
                                   ((base, empty), "nothing_read", "there is nothing to compare")):
            answer = self.gate(*words, code=self.INCONCLUSIVE)
            self.assertEqual((answer["verdict"], answer["doubt"]), ("inconclusive", doubt), words)
            self.assertIn(text, answer["text"])

    def test_ranks_and_devices(self):
        def job(name, ranks):
            os.makedirs(self.path(name), exist_ok=True)
            for rank in ranks:
                self.write("%s/worker%d.pt.trace.json" % (name, rank), trace(8, Traces.base, rank=rank))
            return self.path(name)
        both = job("both", (0, 1))
        self.gate(both, both, code=self.PASS)
        self.assertEqual(self.gate(both, job("first", (0, 2)), code=self.INCONCLUSIVE)["doubt"], "ranks")
        self.assertEqual(self.gate(both, job("others", (3, 4)), code=self.INCONCLUSIVE)["doubt"], "nothing_read")
        npu = self.path("npu")
        self.assertEqual(ascope("sim", "--framework", "pt", "--kernels", "240", "--steps", "8", "--out", npu).returncode, 0)
        self.assertEqual(self.gate(npu, self.runs("gpu.json"), code=self.INCONCLUSIVE)["doubt"], "devices")

    def test_slow_steps_are_not_hidden(self):
        """They are left out of a usual step, which is as before."""
        def sometimes(step):
            return 300 if step % 4 == 3 else wobble(100)(step)
        base = self.write("steady.json", trace(60, (("k", "aten::mm", wobble(100, 3), 3),)))
        answer = self.gate(base, self.write("sometimes.json", trace(60, (("k", "aten::mm", sometimes, 3),))), code=self.REGRESSED)
        self.assertEqual(answer["decided_by"], "slow")
        self.assertEqual(answer["measures"][0]["verdict"], "pass")

    def test_markdown(self):
        evil = "<b>|`x`*_[a](http://b)\u202e\n" + "y" * 1000
        a, b = (self.write("evil%d.json" % us, trace(12, ((evil, evil, wobble(us), 1),))) for us in (100, 150))
        path = self.path("report.md")
        done = ascope("gate", a, b, "--markdown", path)
        self.assertEqual(done.returncode, self.REGRESSED)
        self.assertTrue(done.stdout.startswith("REGRESSED: "))
        with open(path, encoding="utf-8") as f:
            text = f.read()
        lines = text.splitlines()
        self.assertEqual(lines[0], "## ascope gate: REGRESSED")
        self.assertTrue(lines[2].startswith("step: "))
        tables = [l for l in lines if l.startswith("|")]
        self.assertEqual({l.count("|") for l in tables[:7]}, {9})  # no name adds a column
        self.assertEqual({l.count("|") for l in tables[7:]}, {6})
        self.assertEqual(set(re.findall(r"</?[a-z]+", text)), {"<code", "</code"})
        for what in "\u202e", "`x`", "*_", "](":
            self.assertNotIn(what, text)
        self.assertIn("ascope why", text)
        done = ascope("gate", a, b, "--markdown", "-")  # as for a summary of a job: nothing else is in it
        self.assertEqual(done.stdout, text)
        self.assertTrue(done.stderr.startswith("REGRESSED: "))
        empty = self.path("nothing")
        os.makedirs(empty, exist_ok=True)
        done = ascope("gate", a, empty, "--markdown", "-")
        self.assertEqual((done.returncode, done.stdout.splitlines()[0]), (self.INCONCLUSIVE, "## ascope gate: INCONCLUSIVE"))
        self.assertEqual(ascope("gate", a, b, "--markdown", self.path("no/such/report.md")).returncode, self.NOTHING)

    def test_forms_for_continuous_integration(self):
        evil = "k%0A::error::\n::set-output name=x::<&\"]]>\u202e"
        a, b = (self.write("ci %d%%.json" % us, trace(12, ((evil, "aten::mm", wobble(us), 1),))) for us in (100, 150))
        junit, sarif = self.path("gate.xml"), self.path("gate.sarif")
        for words, code, cases in (((a, b, "--allow", "step=3%,memory=5%"), self.REGRESSED, {"step": "regressed", "slow": "pass", "memory": "inconclusive"}),
                                   ((b, a), self.PASS, {"step": "pass", "slow": "pass"}), ((a, self.runs("few.json", steps=2)), self.INCONCLUSIVE, {"step": "inconclusive", "slow": "pass"}),
                                   ((a, os.path.dirname(KINETO)), self.INCONCLUSIVE, {"runs": "inconclusive"})):
            done = ascope("gate", *words, "--github", "--junit", junit, "--sarif", sarif)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertRegex(done.stdout.splitlines()[0], "^[A-Z]+: ")
            bad = {k: v for k, v in cases.items() if v != "pass"}
            found = re.findall(r"^::(\w+) title=ascope gate, (\w+) (\w+)::(.+)$", done.stdout, re.M)
            self.assertEqual(len(found), sum(l.startswith("::") for l in done.stdout.splitlines()))  # no name is a command
            self.assertEqual([f[:3] for f in found], [({"regressed": "error", "inconclusive": "warning"}[v], k, v) for k, v in bad.items()] or [("notice", "step", "pass")])
            self.assertFalse(re.search("%(?!25)", "".join(f[3] for f in found)))
            suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
            self.assertEqual([int(suite.get(k)) for k in ("tests", "failures", "errors", "skipped")], [len(cases), list(cases.values()).count("regressed"), 0, list(cases.values()).count("inconclusive")])
            self.assertEqual({c.get("name"): {"failure": "regressed", "skipped": "inconclusive", "system-out": "pass"}[c[0].tag] for c in suite}, cases)
            self.assertEqual({c.get("name"): c[0].get("message") or "pass" for c in suite}, cases)
            text = [c[0].text for c in suite]
            run, = json.loads(pathlib.Path(sarif).read_text(encoding="utf-8"))["runs"]
            self.assertEqual({r["ruleId"]: r["level"] for r in run["results"]}, {"gate/" + k: {"regressed": "error", "inconclusive": "warning"}[v] for k, v in bad.items()})
            self.assertEqual({r["id"] for r in run["tool"]["driver"]["rules"]}, {"gate/" + k for k in cases})
            for r in run["results"]:
                self.assertIn(r["message"]["text"][:40], " ".join(text))
                self.assertEqual(urllib.parse.unquote(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]), "file://" + words[1])
            if code == self.REGRESSED:
                self.assertIn("<&\"]]>", text[0])
                self.assertIn("kernel k%250A::error::", found[0][3])
                self.assertEqual(re.findall(r"%\d\d", run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]), ["%20", "%25"])
        done = ascope("gate", a, b, "--json", "--github")
        self.assertEqual(json.loads(done.stdout)["gates"][0]["verdict"], "regressed")
        self.assertTrue(done.stderr.startswith("::error title="))

    def test_command_lines(self):
        a = self.runs("line.json")
        for words in (), (a,), (a, a, a), (a, "--", a, "--", a), (a, a, "--allow", ""), (a, a, "--allow", "x"), (a, a, "--allow", "0"), (a, a, "--allow", "nan"), \
                (a, a, "--allow", "1%,2%"), (a, a, "--allow", "other=1%"), (a, a, "--allow", "step=1%,"), (a, a, "--allow", "1%%"), (a, a, "--json", "--markdown", "-"), (a, self.path("missing")), (a, "--", a, "--json"):
            done = ascope("gate", *words)
            self.assertEqual(done.returncode, self.USAGE, words)
            self.assertEqual(len(done.stderr.splitlines()), 1, words)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
