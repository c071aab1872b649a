#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope view of several ranks, and of two runs: one timeline on one clock, and the answers of cluster, advise and compare.

usage: test_view_ranks.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import re
import shutil
import signal
import sys
import time
import tarfile
import unittest

from cli_case import SOURCE, Case
from test_view import HOSTILE, Page, Viewer, event


class Ranks(Case):
    def view(self, *words):
        v = Viewer(self, *words)
        self.addCleanup(v.end_well, self)
        return v

    def until(self, v, number, state):
        for _ in range(6000):
            one = v.json("about")["inputs"][number]
            if one["state"] in (state, "failed"):
                self.assertEqual(one["state"], state, one)
                return one
            time.sleep(0.02)
        raise AssertionError(one)

    def sim(self, out, *more):
        self.ascope("sim", "--framework", "pt", "--steps", "4", "--out", out, *more, code=0)

    def job(self, *more):
        self.sim("job", "--tp", "2", "--dp", "2", "--kernels", "960", *more)
        return sorted(glob.glob(os.path.join(self.dir, "job", "*_ascend_pt")))

    def sql(self, v, q):
        return v.json("sql", input=0, q=q)["rows"]

    def collectives(self, v):
        """The drawn collectives by id: run, group, name, begin, end."""
        rows = self.sql(v, "SELECT id, run, thread, name, begin_ns, begin_ns + dur_ns FROM slices WHERE thread LIKE 'Group % Communication%' ORDER BY begin_ns")
        return {i: (run, thread.split()[1], name, begin, end) for i, run, thread, name, begin, end in rows}

    def ties(self, v):
        return self.sql(v, "SELECT from_id, to_id FROM flows JOIN slices a ON a.id = from_id JOIN slices b ON b.id = to_id WHERE a.run <> b.run")

    def ties_of_collectives(self, v):
        """They join exactly the members of each collective: from the one that begins last to each other."""
        seen, members, wanted = {}, {}, set()
        for i, (run, group, name, begin, end) in self.collectives(v).items():
            n = seen[run, group, name] = seen.get((run, group, name), 0) + 1
            members.setdefault((group, name, n), []).append((begin, i))
        for of_one in members.values():
            last = max(begin for begin, _ in of_one)
            source = min(i for begin, i in of_one if begin == last)
            wanted |= {(source, i) for _, i in of_one if i != source}
        ties = self.ties(v)
        self.assertEqual({tuple(t) for t in ties}, wanted)
        self.assertEqual(len(ties), len(wanted))
        self.assertGreater(len(wanted), 50)
        return len(wanted)

    def test_a_job_is_one_timeline_on_one_clock(self):
        self.job("--slow-rank", "3:1.5", "--clock-offset", "2:3ms")
        v = self.view("job")
        joint, *single = v.wait(5)
        self.assertEqual((joint["kind"], joint["state"], joint["is_simulated"]), ("job", "ready", True))
        self.assertEqual([one["state"] for one in single], ["new"] * 4)  # loaded when they are asked for
        rows = v.json("rows", input=0)
        ranks = ["Rank %d" % r for r in range(4)]
        seen = [p["rank"] for p in rows["processes"]]
        self.assertEqual(sorted(set(seen)), ranks)
        self.assertEqual(seen, sorted(seen))  # rows of a rank follow each other
        for p in rows["processes"]:
            self.assertTrue(p["name"].startswith(p["rank"] + ": "), p["name"])
        ends = {}
        for run, name, end in self.sql(v, "SELECT run, name, begin_ns + dur_ns FROM slices WHERE name LIKE 'hcom_allReduce%' AND thread LIKE 'Group%'"):
            ends.setdefault(name, {}).setdefault(run, []).append(end)
        n_pairs = 0
        for of_ranks in ends.values():
            if {"Rank 2", "Rank 3"} <= set(of_ranks):
                for x, y in zip(sorted(of_ranks["Rank 2"]), sorted(of_ranks["Rank 3"])):
                    self.assertLess(abs(x - y), 20000)  # 3 ms apart on their own clocks
                    n_pairs += 1
        self.assertGreater(n_pairs, 10)
        n_slices = n_flows = 0
        for i in range(1, 5):
            v.ask("reload", input=i)
            self.until(v, i, "ready")
            n_slices += v.json("rows", input=i)["n_slices"]
            n_flows += v.json("sql", input=i, q="SELECT count(*) FROM flows")["rows"][0][0]
        self.assertEqual(rows["n_slices"], n_slices)
        self.assertEqual(self.sql(v, "SELECT count(*) FROM flows")[0][0], n_flows + self.ties_of_collectives(v))  # none by equal numbers
        args = self.sql(v, "SELECT args FROM slices WHERE run = 'Rank 3' AND process = 'HCCL' AND name LIKE 'hcom_allReduce%' LIMIT 1")[0][0]
        self.assertIn("data_type", json.loads(args))  # read from the joint text
        for name in "operators", "kernels", "collectives", "marks":  # by their processes, which have the ranks before their names
            table = v.json("table", input=0, name=name)
            self.assertEqual({row[1].split(":")[0] for row in table["rows"]}, set(ranks), name)
        self.assertEqual([row for row in v.json("table", input=0, name="kernels")["rows"] if row[0].startswith("step ")], [])  # ranges on a stream
        totals = [row[3] for row in v.json("table", input=0, name="kernels")["rows"]]
        self.assertEqual(totals, sorted(totals, reverse=True))

    def test_collectives_are_tied_to_the_rank_that_comes_last(self):
        self.job("--slow-rank", "3:1.5", "--clock-offset", "2:3ms")
        v = self.view("job")
        v.wait(5)
        of, begins = self.collectives(v), {}
        for a, b in self.ties(v):
            (run, group, name, begin, end), (run_b, group_b, name_b, begin_b, end_b) = of[a], of[b]
            self.assertEqual((group, name), (group_b, name_b))
            self.assertNotEqual(run, run_b)
            self.assertGreaterEqual(begin, begin_b)
            self.assertLess(abs(end - end_b), 20000)
            begins.setdefault(run, set()).add(a)
        self.assertEqual(max(begins, key=lambda run: len(begins[run])), "Rank 3", begins)
        a, b = next(t for t in self.ties(v) if of[t[0]][0] == "Rank 3")
        self.assertIn((b, of[b][0], False), [(f["slice"], f.get("rank"), f["is_source"]) for f in v.json("slice", input=0, slice=a)["flows"]])
        flows = v.json("slice", input=0, slice=b)["flows"]
        self.assertEqual([f["slice"] for f in flows if f.get("rank") == "Rank 3" and f["is_source"]], [a])
        self.assertTrue([f for f in flows if "rank" not in f])  # who launched it, on its own rank

    def test_sends_are_tied_to_their_receives(self):
        self.sim("job", "--pp", "2", "--dp", "2", "--kernels", "200", "--clock-offset", "1:3ms")
        v = self.view("job")
        v.wait(5)
        of, pairs = self.collectives(v), {}
        is_p2p = lambda i: "send" in of[i][2] or "receive" in of[i][2]
        for a, b in self.ties(v):
            self.assertEqual(is_p2p(a), is_p2p(b))
            if is_p2p(a):
                self.assertIn("send", of[a][2])
                self.assertIn("receive", of[b][2])
                self.assertEqual(of[a][1], of[b][1])
                self.assertLess(of[a][3], of[b][4])  # begin of the send, end of the receive
                pairs.setdefault((of[a][0], of[b][0]), []).append((of[a][3], of[b][3], a, b))
        self.assertGreaterEqual(len(pairs), 2)
        joined = sorted(i for of_two in pairs.values() for pair in of_two for i in pair[2:])
        self.assertEqual(joined, sorted(filter(is_p2p, of)))  # each exactly once
        for of_two in pairs.values():
            self.assertEqual([p[1] for p in sorted(of_two)], sorted(p[1] for p in of_two))  # in their order

    def test_a_job_has_the_answers_of_cluster_and_advise(self):
        self.job("--slow-rank", "3:1.5", "--slow-link", "0-1:0.2")
        before = sorted(os.walk(os.path.join(self.dir, "job")))
        wanted = json.loads(self.ascope("cluster", "job", "-m", "verdicts", "-o", "out", "--json", code=0).stdout)
        advice = json.loads(self.ascope("advise", "job", "--json", code=0).stdout)["advice"]
        v = self.view("job")
        v.wait(5)
        overview = v.json("overview", input=0)
        job = overview["job"]
        self.assertEqual([(x["kind"], x["text"], x["rank"], x["other_rank"], x["step"]) for x in job["verdicts"]],
                         [(x["kind"], x["text"], x["rank"], x["other_rank"], x["step"]) for x in wanted["verdicts"]])
        self.assertEqual({x["kind"] for x in job["verdicts"]}, {"slow_rank", "slow_link"})
        self.assertEqual(job["critical_path"]["ns"], wanted["critical_path"]["ns"])
        computing = {(c[0], c[1]): c[2] for c in job["cells"]}
        self.assertEqual(sorted(computing), [(r, s) for r in range(4) for s in range(4)])
        for s in range(4):
            self.assertAlmostEqual(computing[3, s] / computing[1, s], 1.5, delta=0.2)
        self.assertEqual(sorted(g["ranks"] for g in job["groups"] if g["name"] == "tp"), [[0, 1], [2, 3]])
        bandwidth = {(x["src"], x["dst"]): x["mb"] / x["ms"] for x in job["links"]}
        self.assertLess(bandwidth[0, 1], 0.3 * bandwidth[2, 3])
        verdict, place = next((x, p) for x, p in zip(job["verdicts"], job["places"]) if x["kind"] == "slow_rank")
        shift = int(job["base_ns"]) - int(overview["base_ns"])
        spans = {run: (b, b + d) for run, b, d in self.sql(
            v, "SELECT run, begin_ns, dur_ns FROM slices WHERE name = '%s' AND begin_ns + dur_ns BETWEEN %d AND %d" %
            (place["collective"], shift + place["end"] - 20000, shift + place["end"] + 20000))}
        slow, waits = spans["Rank %d" % verdict["rank"]], spans["Rank %d" % place["waiting_rank"]]
        self.assertLess(waits[0], slow[0])  # it came first
        self.assertEqual(waits, (shift + place["begin"], shift + place["end"]))
        self.assertEqual([(a["check"], a["rank"], a["found"], a["change"]) for a in overview["advice"]["advice"]],
                         [(a["check"], a["rank"], a["found"], a["change"]) for a in advice])
        base = int(overview["advice"]["base_ns"])
        self.assertEqual([base + e["place"]["begin_ns"] for a in overview["advice"]["advice"] for e in a["evidence"] if e["place"]],
                         [e["place"]["begin_ns"] for a in advice for e in a["evidence"] if e["place"]])
        self.assertEqual(v.end(signal.SIGINT)[0], 0)
        self.assertEqual(sorted(os.walk(os.path.join(self.dir, "job"))), before)  # nothing is written

    def test_chosen_ranks_and_ranks_without_raw_data(self):
        paths = self.job()
        v = self.view("job", "--ranks", "1-2")
        v.wait(5)
        self.assertEqual({p["rank"] for p in v.json("rows", input=0)["processes"]}, {"Rank 1", "Rank 2"})
        self.assertEqual([r["is_drawn"] for r in v.json("overview", input=0)["job"]["job_ranks"]], [False, True, True, False])
        v.end()
        self.ascope("analyse", "--summary", "job", code=0)
        os.mkdir(os.path.join(self.dir, "moved"))
        for i, path in enumerate(paths):
            summary, = glob.glob(os.path.join(path, "*.summary"))
            os.rename(summary, os.path.join(self.dir, "moved", os.path.basename(summary)))
        v = self.view("moved")
        joint, = v.wait(1)
        self.assertEqual(joint["state"], "ready")
        self.assertEqual(len(v.json("overview", input=0)["job"]["cells"]), 16)
        self.assertEqual(v.json("rows", input=0)["processes"], [])
        v.end()
        shutil.rmtree(os.path.join(paths[1], glob.glob(paths[1] + "/PROF_*")[0]))
        os.mkdir(os.path.join(self.dir, "two"))
        for path in paths[:2]:
            os.rename(path, os.path.join(self.dir, "two", os.path.basename(path)))
        v = self.view("two")  # what cannot be read of a rank does not hide the others
        self.assertEqual(v.wait(3)[0]["state"], "ready")

    def test_ranks_with_nothing_but_results(self):
        with tarfile.open(os.path.join(SOURCE, "tests/data/cluster-a.tar.xz")) as t:
            t.extractall(self.dir, [m for m in t if "inputs/text/" in m.name])
        text, = glob.glob(os.path.join(self.dir, "**/inputs/text"), recursive=True)
        v = self.view(text)
        joint, *ranks = v.wait(9)
        self.assertEqual((joint["kind"], joint["state"], {r["kind"] for r in ranks}), ("job", "ready", {"tables"}))
        found = v.json("overview", input=0)
        self.assertEqual([r["is_drawn"] for r in found["job"]["job_ranks"]], [False] * 8)
        self.assertEqual((found["sentences"], found["job"]["verdicts"][0]["rank"]), ([], 2))
        v.ask("reload", input=1)  # one of them alone: its tables
        self.until(v, 1, "ready")
        self.assertTrue(v.json("table", input=1, name="step_trace_time")["rows"])

    def test_of_many_ranks_those_that_stand_out_are_drawn(self):
        self.sim("job", "--dp", "10", "--kernels", "600", "--slow-rank", "9:2")
        v = self.view("job")
        v.wait(11)
        job = v.json("overview", input=0)["job"]
        drawn = {r["rank"] for r in job["job_ranks"] if r["is_drawn"]}
        place = next(p for x, p in zip(job["verdicts"], job["places"]) if x["kind"] == "slow_rank" and x["rank"] == 9)
        self.assertEqual((len(drawn), len(job["job_ranks"])), (8, 10))
        self.assertLessEqual({9, place["waiting_rank"]}, drawn)
        self.assertEqual({p["rank"] for p in v.json("rows", input=0)["processes"]}, {"Rank %d" % r for r in drawn})

    def test_directories_are_ranks_of_a_job_or_two_runs(self):
        paths = self.job()
        for words, kinds in (((paths[0], paths[1]), ["job", "PyTorch", "PyTorch"]), ((paths[0], paths[0]), ["two runs", "PyTorch", "PyTorch"]),
                             ((paths[0],), ["PyTorch"]), ((paths[0], paths[1], paths[1]), ["PyTorch"] * 3)):
            v = self.view(*words)
            self.assertEqual([i["kind"] for i in v.json("about")["inputs"]], kinds)
            v.end(signal.SIGKILL)
        self.assertIn("--ranks", self.ascope("view", "--help", code=0).stdout)

    def test_two_runs_begin_a_step_together_and_are_compared(self):
        self.sim("a", "--ranks", "1", "--kernels", "400")
        self.sim("b", "--ranks", "1", "--kernels", "400", "--slow-operator", "MatMulV2:3", "--noise-seed", "7")
        wanted = json.loads(self.ascope("compare", "a", "b", "--json", code=0).stdout)["comparisons"][0]
        for step in (None, "2"):
            v = self.view("a", "b", *(["--step", step] if step else []))
            joint, *single = v.wait(3)
            self.assertEqual((joint["kind"], [one["state"] for one in single]), ("two runs", ["new", "new"]))
            found = v.json("overview", input=0)
            for part in ("step", "computing", "communication", "free"):
                self.assertEqual(found["comparison"]["overall"][part]["state"], wanted["overall"][part]["state"])
                self.assertAlmostEqual(found["comparison"]["overall"][part]["more_us"], wanted["overall"][part]["more_us"], places=2)
            self.assertEqual([r["name"] for r in found["comparison"]["changes"]], [r["name"] for r in wanted["changes"]])
            self.assertIn("begin step %s at the same moment" % (step or "0"), found["sentences"][0]["text"])
            begins = dict(self.sql(v, "SELECT substr(run, 1, 1), begin_ns FROM slices WHERE name = 'ProfilerStep#%s'" % (step or "0")))
            self.assertLess(abs(begins["A"] - begins["B"]), 1000)
            self.assertEqual({p["rank"] for p in v.json("rows", input=0)["processes"]}, {"A, rank 0", "B, rank 0"})
            self.assertEqual(found["aligned"], step or "0")
            n_loads = v.json("about")["inputs"][0]["n_loads"]
            v.ask("reload", input=0, step="3")  # another one, chosen on the page
            while v.json("about")["inputs"][0]["n_loads"] == n_loads:
                time.sleep(0.02)
            self.assertEqual(v.json("overview", input=0)["aligned"], "3")
            begins = dict(self.sql(v, "SELECT substr(run, 1, 1), begin_ns FROM slices WHERE name = 'ProfilerStep#3'"))
            self.assertLess(abs(begins["A"] - begins["B"]), 1000)
            v.end()
        one, other = (os.path.relpath(glob.glob(os.path.join(self.dir, run, "*_ascend_pt"))[0], self.dir) for run in "ab")
        self.assertEqual(os.path.basename(one), os.path.basename(other))  # only their folders differ
        v = self.view(one, other)
        v.wait(3)
        found = v.json("overview", input=0)["comparison"]
        self.assertEqual((v.json("about")["inputs"][0]["name"], found["a"], found["b"]), (one + " | " + other, one, other))
        v.end()

    def trace(self, name, at_us, step=True):
        events = [event(HOSTILE, at_us + 5, 3, args={"run": name, "n": 1}), {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": HOSTILE}},
                  {"ph": "s", "name": "f", "cat": "c", "id": 1, "pid": 1, "tid": 1, "ts": at_us + 6},
                  {"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": at_us + 7, "s": "t", "args": {"of": name}},
                  {"ph": "C", "name": "memory", "pid": 1, "ts": at_us, "args": {"MB": 3}}]
        if step:
            events.append(event("ProfilerStep#5", at_us + 2, 10))
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as f:
            json.dump({"traceEvents": events}, f)
        return name

    def test_two_traces_and_one_that_cannot_be_read(self):
        v = self.view(self.trace("a.json", 1000), self.trace("b.json", 777000))
        self.assertEqual(v.wait(3)[0]["kind"], "two runs")
        self.assertEqual(self.sql(v, "SELECT run || ': ' || process, begin_ns FROM slices WHERE name LIKE 'ProfilerStep%' ORDER BY run"),
                         [["A: " + HOSTILE, 0], ["B: " + HOSTILE, 0]])
        self.assertEqual(sorted(json.loads(a)["run"] for a, in self.sql(v, "SELECT args FROM slices WHERE args LIKE '%run%'")), ["a.json", "b.json"])
        n = v.json("rows", input=0)["n_slices"]
        marks = [v.json("slice", input=0, slice=i) for i in range(n, n + 2)]
        self.trace("b.json", 888000)
        for _ in range(6000):
            if v.json("about")["inputs"][0]["source"] == "changed":  # also the second one is looked at
                break
            time.sleep(0.02)
        self.assertEqual(v.json("about")["inputs"][0]["source"], "changed")
        self.assertEqual(sorted((m["name"], m["begin"], m["args"]["of"]) for m in marks), [("mark", 5000, "a.json"), ("mark", 5000, "b.json")])
        v.end()
        v = self.view(self.trace("a.json", 1000, False), self.trace("b.json", 777000, False))
        v.wait(3)
        self.assertEqual(self.sql(v, "SELECT begin_ns FROM slices WHERE name LIKE '<%'"), [[0], [0]])
        self.assertIn("no step in common", v.json("overview", input=0)["sentences"][0]["text"])
        v.end()
        v = self.view(self.trace("bad.json", 1000), "a.json")
        v.wait(3)
        with open(os.path.join(self.dir, "bad.json"), "w", encoding="utf-8") as f:
            f.write("no trace")
        v.ask("reload", input=0)
        for _ in range(6000):
            one = v.json("about")["inputs"][0]
            if one["state"] != "loading" and one["n_loads"] == 2:
                break
            time.sleep(0.02)
        self.assertEqual([i["state"] for i in v.wait(3)], ["ready", "new", "new"])
        self.assertIn("bad.json", v.json("overview", input=0)["sentences"][0]["text"])
        v.ask("reload", input=1)
        for _ in range(6000):
            one = v.json("about")["inputs"][1]
            if one["state"] not in ("new", "loading"):
                break
            time.sleep(0.02)
        self.assertEqual(one["state"], "failed")

    def test_advice_of_one_collection(self):
        self.sim("one", "--ranks", "1", "--kernels", "400", "--stall", "2:20ms")
        wanted = json.loads(self.ascope("advise", "one", "--json", code=0).stdout)["advice"]
        v = self.view("one")
        v.wait(1)
        found = v.json("overview", input=0)["advice"]
        self.assertGreater(len(wanted), 0)
        self.assertEqual([(a["check"], a["found"]) for a in found["advice"]], [(a["check"], a["found"]) for a in wanted])

    def report(self, *words, code=0):
        page = self.ascope("view", "--export", "-", *words, code=code).stdout
        self.assertEqual(self.ascope("view", "--export", "-", *words, code=code).stdout, page)  # the same bytes
        return page, Page(self, page)

    def test_the_report_of_a_job_has_its_answers(self):
        paths = self.job("--slow-rank", "3:1.5", "--slow-link", "0-1:0.2")
        for path in paths:
            name = os.path.join(path, "profiler_metadata.json")
            with open(name, encoding="utf-8") as f:
                about = json.load(f)
            for group in about["parallel_group_info"].values():
                group["group_name"] = group["group_name"].replace("tp", HOSTILE)
            with open(name, "w", encoding="utf-8") as f:
                json.dump(about, f)
        wanted = json.loads(self.ascope("cluster", "job", "-m", "verdicts", "-o", "out", "--json", code=0).stdout)
        advice = json.loads(self.ascope("advise", "job", "--json", code=0).stdout)["advice"]
        page, parsed = self.report("job")
        self.assertEqual({x["kind"] for x in wanted["verdicts"]}, {"slow_rank", "slow_link"})
        self.assertGreater(len(advice), 0)
        for text in ([x["text"] for x in wanted["verdicts"]] + [a["found"] for a in advice] + ["Change: " + a["change"] for a in advice] +
                     [e["text"] for a in advice for e in a["evidence"]]):
            self.assertIn(text, parsed.texts)
        cells = re.findall(r'fill="#(\w{6})"><title>Rank (\d), step (\d): ', page)
        self.assertEqual(sorted((r, s) for _, r, s in cells), [(r, s) for r in "0123" for s in "0123"])
        light = {(r, s): sum(bytes.fromhex(colour)) for colour, r, s in cells}
        for s in "0123":
            self.assertGreater(light["3", s], max(light[r, s] for r in "012") + 100)
        self.assertEqual([t for t in parsed.texts if re.match(r"Rank \d$", t)], ["Rank 0", "Rank 1", "Rank 2", "Rank 3"])  # as the groups of the first kind
        self.assertIn("Colours: computing; ranks of a group together: %s." % HOSTILE, parsed.texts)
        speed = {m[1]: float(m[2]) for m in (re.match(r"(\d → \d): ([\d.]+) GB/s, ", t) for t in parsed.texts) if m}
        self.assertEqual(len(speed), 12)
        self.assertLess(speed["0 → 1"], 0.3 * speed["2 → 3"])
        path = wanted["critical_path"]
        self.assertIn("Critical path of step %s: %.3f ms, %d segments on %d ranks" % (path["step"], path["ns"] / 1e6, path["segments"], path["ranks"]), parsed.texts)
        shutil.rmtree(paths[1])
        page, parsed = self.report("job", code=3)
        self.assertIn("1 of 4 ranks are missing: 1", parsed.texts)
        self.assertEqual(len(re.findall(r"<title>Rank \d, step", page)), 12)
        self.ascope("analyse", "--summary", "job", code=0)
        os.mkdir(os.path.join(self.dir, "moved"))
        for path in glob.glob(os.path.join(self.dir, "job", "*", "*.summary")):
            os.rename(path, os.path.join(self.dir, "moved", os.path.basename(path)))
        page, parsed = self.report("moved", code=3)  # without any timeline, and still without rank 1
        self.assertEqual(len(re.findall(r"<title>Rank \d, step", page)), 12)
        self.assertNotIn("of the timeline", page)

    def test_the_report_of_two_runs_and_of_one(self):
        for name, more in ("a<img src=x>&amp;", []), ("b", ["--slow-operator", "MatMulV2:3", "--stall", "2:20ms"]):
            self.ascope("sim", "--framework", "pt", "--steps", "8", "--ranks", "1", "--kernels", "100", "--out", name, *more, code=0)
        wanted = json.loads(self.ascope("compare", "a<img src=x>&amp;", "b", "--json", code=0).stdout)["comparisons"][0]
        _, parsed = self.report("a<img src=x>&amp;", "b")
        self.assertIn("A: a<img src=x>&amp;, B: b", parsed.texts)
        at = parsed.texts.index("Exposed communication")
        rest = [t for t in parsed.texts[at:] if t]
        row = rest[rest.index("MatMulV2"):][:5]
        change = next(r["step"] for r in wanted["changes"] if r["name"] == "MatMulV2")
        self.assertEqual((row[0], row[3], row[4]), ("MatMulV2", "+%.3f µs" % change["more_us"], "real"))
        advice = json.loads(self.ascope("advise", "b", "--json", code=0).stdout)["advice"]
        _, parsed = self.report("b")
        self.assertGreater(len(advice), 0)
        for a in advice:
            for text in [a["found"], "Change: " + a["change"]] + [e["text"] for e in a["evidence"]]:
                self.assertIn(text, parsed.texts)
            self.assertTrue([t for t in parsed.texts if t.startswith(a["title"] + ": ") and "a step" in t and "rank" not in t.split("a step")[1]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
