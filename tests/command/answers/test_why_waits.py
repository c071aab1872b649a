#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ascope why knows of the other ranks of a job: who waits for whom, which do the same work, which were not read.

usage: test_why_waits.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import shutil
import sys
import unittest

sys.dont_write_bytecode = True
from cli_case import Case  # noqa: E402: reads the arguments
from fault_traces import at, idle, write  # noqa: E402

LATE_US, LATE_STEP = 15000, 8
FORMS = {"traces": False, "timelines": True, "databases": "database"}


def late(r, n, place):
    """Rank 1 begins a step later."""
    if place == "begin" and n == LATE_STEP and r.number == 1:
        r.t += LATE_US


def gloo(rank, late_us, n_steps=10):
    """A rank without a device. All ranks end an all_reduce together, 300 us after the last has come."""
    events, at = [], 0.0
    for n in range(n_steps):
        own = [1000 + 7 * ((n * 5 + r * 3) % 11) + (late_us if n == 6 and r == 1 else 0) for r in range(2)]
        end = at + max(own) + 300
        for cat, name, begin, until in (("user_annotation", f"ProfilerStep#{n}", at, end + 90), ("cpu_op", "aten::linear", at, at + own[rank]),
                                        ("cpu_op", "gloo:all_reduce", at + own[rank] + 1, end)):
            events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": begin, "dur": until - begin})
        at = end + 100
    return {"distributedInfo": {"rank": rank, "world_size": 2}, "traceEvents": events}


class WhyWaits(Case):
    def why(self, *args):
        answer, = json.loads(self.ascope("why", *args, "--json", code=0).stdout)["answers"]
        return answer

    def waits(self, path, step, rank, for_whom, us):
        """Of nearly all that the step took longer on a rank it waits for another one."""
        answer = self.why(path, "--rank", str(rank), "--step", str(step))
        d = answer["difference"]
        self.assertTrue(answer["usual"]["knows_waits"])
        self.assertAlmostEqual(d["causes"]["wait"], us, delta=0.1 * us)
        self.assertEqual([i["name"] for i in d["items"] if i["cause"] == "wait"][:1], [for_whom])
        self.assertLess(d["causes"].get("transfer", 0), 0.1 * us)
        text = self.ascope("why", path, "--rank", str(rank), "--step", str(step), code=0).stdout
        self.assertIn("causes: waits for %s +" % for_whom, text)
        return answer

    def job(self, form, ranks=2):
        return write({"ranks": ranks, "fault": late, "npu": FORMS[form]}, 1, 0.01, os.path.join(self.dir, form))[0]

    def test_in_every_form(self):
        for form in FORMS:
            for ranks in 2, 4:
                with self.subTest(form=form, ranks=ranks):
                    self.waits(self.job(form, ranks), LATE_STEP + 3, 0, "rank 1", LATE_US - 1000)

    def test_clocks_do_not_matter(self):
        path = self.job("traces")
        file = path + "/rank1.pt.trace.json"
        with open(file) as f:
            trace = json.load(f)
        for event in trace["traceEvents"]:
            if "ts" in event:
                event["ts"] += 123456
        with open(file, "w") as f:
            json.dump(trace, f)
        self.waits(path, LATE_STEP + 3, 0, "rank 1", LATE_US - 1000)

    def test_members_that_were_not_read(self):
        """It may be either, and the report says so."""
        path = self.job("traces", 4)
        for rank in 1, 3:
            os.remove(path + "/rank%d.pt.trace.json" % rank)
        answer = self.why(path, "--rank", "0", "--step", str(LATE_STEP + 3))
        self.assertFalse(answer["usual"]["knows_waits"])
        self.assertNotIn("wait", answer["difference"]["causes"])
        text = self.ascope("why", path, "--rank", "0", "--step", str(LATE_STEP + 3), code=0).stdout
        self.assertIn("waiting or transfer +", text)
        self.assertNotIn("slower transfer", text)

    def test_without_groups_nobody_is_named(self):
        """Four ranks whose collectives do not say of which group they are: they wait, but for whom is not known."""
        path = self.job("traces", 4)
        for file in glob.glob(glob.escape(path) + "/*.json"):
            with open(file) as f:
                trace = json.load(f)
            for event in trace["traceEvents"]:
                event.get("args", {}).pop("Group size", None)
            with open(file, "w") as f:
                json.dump(trace, f)
        answer = self.why(path, "--rank", "0", "--step", str(LATE_STEP + 3))
        self.assertEqual([i["name"] for i in answer["difference"]["items"] if i["cause"] == "wait"][:1], ["other ranks"])

    def simulated(self, *options):
        """A job as it is recorded; its results with databases; its results with timelines."""
        raw, results = os.path.join(self.dir, "raw"), os.path.join(self.dir, "results")
        self.ascope("sim", "--out", raw, "--framework", "pt", "--steps", "8", "--samplers=off", *options, code=0)
        yield raw
        shutil.copytree(raw, results)
        self.ascope("analyse", results, "--export-type", "text,db", "--no-sync", "-q", code=0)
        for folder in glob.glob(glob.escape(results) + "/*/PROF_*") + glob.glob(glob.escape(results) + "/*/FRAMEWORK"):
            shutil.rmtree(folder)
        yield results
        for database in glob.glob(glob.escape(results) + "/*/ASCEND_PROFILER_OUTPUT/*.db"):
            os.remove(database)
        yield results

    def test_recorded_data_and_results(self):
        for path in self.simulated("--ranks", "4", "--tp", "2", "--dp", "2", "--kernels", "1600", "--stall", "5:20ms:1", "--clock-offset", "1:3ms"):
            self.waits(path, 5, 0, "rank 1", 19700)

    def test_uneven_stages_have_no_slow_rank(self):
        """All ranks of the second stage take longer: why and advise accuse none of them, and say of the stage what cluster says."""
        sentence = None
        for path in self.simulated("--ranks", "8", "--pp", "2", "--dp", "2", "--tp", "2", "--kernels", "1600", "--slow-rank", "4:1.3,5:1.3,6:1.3,7:1.3"):
            if not sentence:
                verdicts = json.loads(self.ascope("cluster", path, "-m", "verdicts", "-o", self.dir, "--no-sync", "--json", code=0).stdout)["verdicts"]
                sentence, = (v["text"] for v in verdicts)
            answer = self.why(path)
            self.assertEqual([f["text"] for f in answer["judged"] if f["shape"] != "start_up"], [])
            self.assertEqual([f["text"].split(":")[0] for f in answer["stages"]], ["the stage of rank 4 is slow in each step"])
            for options in ((), ("--rank", "1")):  # a slow stage is so for each rank
                self.assertIn(". the stage of rank 4 is slow in each step: ", self.ascope("why", path, *options, code=0).stdout)
            advice = json.loads(self.ascope("advise", path, "--json", code=0).stdout)["advice"]
            self.assertNotIn("slow_rank", [a["check"] for a in advice])
            if path.endswith("raw"):
                self.assertEqual(answer["stages"][0]["text"], sentence)

    def test_a_slow_rank_is_compared_with_its_stage(self):
        for path in self.simulated("--ranks", "8", "--pp", "2", "--dp", "2", "--tp", "2", "--kernels", "1600", "--slow-rank", "5:1.3"):
            slow, = (f for f in self.why(path)["judged"] if f["shape"] == "rank")
            self.assertEqual(slow["rank"], "rank 5")
            self.assertIn(slow["compared_with"], ("rank 4", "rank 6", "rank 7"))

    def test_waiting_for_requests_is_no_fault(self):
        """A server that has nothing to do in every second step: no step is slow, and the device does not wait for a late host."""
        for form, npu in FORMS.items():
            with self.subTest(form=form):
                path = write({"fault": at("begin", idle, range(0, 12, 2)), "npu": npu}, 1, 0.01, os.path.join(self.dir, form))[0]
                answer = self.why(path)
                self.assertEqual([f["text"] for f in answer["judged"] if f["shape"] != "start_up"], [])
                parts = {p["part"]: p["time_us"] for p in answer["usual"]["parts"]}
                self.assertAlmostEqual(parts["requests"], 2500, delta=600)
                self.assertLess(parts.get("host", 0) + parts.get("nothing", 0) + parts.get("range", 0), 300)
                text = self.ascope("why", path, "--step", "5", code=0).stdout
                self.assertIn("waiting for requests", text)
                self.assertNotIn("host late +5", text)

    def test_a_slow_step_of_a_server_is_slow(self):
        """Beside waits for requests, what the host does itself still counts."""
        def fault(r, n, place):
            if place == "begin" and n % 2 == 0:
                idle(r)
            if place == "begin" and n == 7:
                r.t += LATE_US
        path = write({"fault": fault}, 1, 0.01, os.path.join(self.dir, "slow"))[0]
        self.assertEqual([(f["shape"], f["first"]) for f in self.why(path)["judged"] if f["shape"] != "start_up"], [("once", "10")])

    def test_which_ranks_were_not_read(self):
        for path in self.simulated("--ranks", "4", "--tp", "4", "--kernels", "800", "--missing-rank", "2"):
            self.assertEqual(self.why(path)["not_read"], 1)
            self.assertIn("1 of 4 ranks was not read (2): ", self.ascope("why", path, code=0).stdout)

    def test_gloo(self):
        path = os.path.join(self.dir, "gloo")
        os.mkdir(path)
        for rank in 0, 1:
            with open(path + "/rank%d.json" % rank, "w") as f:
                json.dump(gloo(rank, 9000), f)
        answer = self.waits(path, 6, 0, "rank 1", 9000)
        self.assertTrue(answer["usual"]["host"])
        transfer, = (p["time_us"] for p in answer["usual"]["parts"] if p["part"] == "transfer")
        self.assertAlmostEqual(transfer, 300, delta=10)
        self.assertEqual([(f["rank"], f["first"]) for f in self.why(path)["judged"]], [("rank 1", "6")])


if __name__ == "__main__":
    unittest.main(argv=["test_why_waits.py", *sys.argv[3:]], verbosity=1)
