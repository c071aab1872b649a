#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope why: what was put into a simulated job is named first, the parts add up, and healthy jobs get no verdict.

usage: test_why.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import re
import shutil
import unittest

from cli_case import Case
from depth import some


class Why(Case):
    def sim(self, *args, out="job"):
        path = os.path.join(self.dir, out)
        self.ascope("sim", "--kernels", "1200", "--steps", "10", *args, "--out", path, code=0)
        return path

    def why(self, *args, code=0):
        """-> the answer, whose parts add up"""
        report = json.loads(self.ascope("why", *args, "--json", code=code).stdout)
        self.assertEqual((report["command"], report["exit_code"]), ("why", code))
        answer, = report["answers"]
        d = answer["difference"]
        usual = answer["usual"]
        self.assertAlmostEqual(sum(p["time_us"] for p in usual["parts"]), usual["time_us"], delta=0.01)
        self.assertAlmostEqual(sum(p["share"] for p in usual["parts"]), 1, delta=1e-6)
        for p in usual["parts"]:
            self.assertLessEqual(sum(name["time_us"] for name in p["most"]), p["time_us"] + 0.01)
        if d:
            self.assertAlmostEqual(sum(d["causes"].values()) + d["rest_us"], d["more_us"], delta=0.01)
            self.assertAlmostEqual(sum(i["more_us"] for i in d["items"]) + d["others_us"], sum(d["causes"].values()), delta=0.01)
            self.assertAlmostEqual(d["time_us"] - d["usual_us"], d["more_us"], delta=0.01)
            self.assertAlmostEqual(sum(i["share"] for i in d["items"]), sum(i["more_us"] for i in d["items"]) / d["more_us"], delta=1e-6)
            more = [i["more_us"] for i in d["items"]]
            self.assertEqual(more, sorted(more, reverse=True))
        return answer

    def test_what_is_missing_has_a_line(self):
        """why, advise and compare: records that were lost, and recordings without a device."""
        path = self.sim("--framework", "pt")
        log, = glob.glob(path + "/*/FRAMEWORK/torch.op_range")
        os.truncate(log, os.path.getsize(log) - 3)
        prof = self.sim(out="host")
        device, = glob.glob(prof + "/PROF_*/device_0")
        shutil.rmtree(device)
        for command in ["why"], ["advise"], ["compare", path]:
            with self.subTest(command[0]):
                lines = self.ascope(*command, path, code=3).stderr.splitlines()
                self.assertEqual(len(lines), 1 + (command[0] == "compare"))
                self.assertIn("1 records could not be used, first: FRAMEWORK/torch.op_range", lines[0])
                lines = self.ascope(command[0], *[prof] * (1 + (command[0] == "compare")), code=1).stderr.splitlines()
                self.assertEqual(len(lines), 1)
                self.assertIn("no device was recorded", lines[0])

    def test_without_the_host_the_types_of_tasks_count(self):
        """A PROF directory whose folder of the host is lost: the device computes for as long as with it."""
        whole, lost = self.sample("PROF_1"), self.sample("PROF_2")
        shutil.rmtree(lost + "/host")
        both = [self.why(path)["usual"] for path in (whole, lost)]
        self.assertEqual([u["by_type"] for u in both], [False, True])
        computing = [next(p["time_us"] for p in u["parts"] if p["part"] == "computing") for u in both]
        self.assertAlmostEqual(computing[1] / computing[0], 1, delta=0.01)
        self.assertIn("by the types of its tasks: nothing was recorded of the host", self.ascope("why", lost, code=0).stdout)

    def test_a_rank_in_two_directories_counts_once(self):
        """why, advise and compare use the newest run of a rank, whatever the order, and report the other one."""
        new = self.sim("--framework", "pt", "--slow-step", "4:4", out="job/a")
        old = self.sim("--framework", "pt", "--slow-step", "7:4", out="job/b")
        path, = glob.glob(old + "/*_ascend_pt")
        older = re.sub(r"_\d{17}_", "_20200101000000000_", path)
        os.rename(path, older)
        newer, = glob.glob(new + "/*_ascend_pt")
        line = "ascope: rank 0: in %s and in %s; the first is newer and is used" % (newer, older)
        job = os.path.join(self.dir, "job")
        answer = self.why(job)
        self.assertEqual((answer["step"], [r["path"] for r in answer["ranks"]]), ("4", [newer]))
        for command in ["why", old, new], ["why", job], ["advise", job], ["compare", new, job]:
            with self.subTest(command):
                self.assertEqual(self.ascope(*command, code=0).stderr.splitlines(), [line])
        report = json.loads(self.ascope("compare", new, job, "--json", code=0).stdout)
        self.assertEqual(report["exit_code"], 0)
        for year in 2018, 2019:  # however many there are, there is one line
            shutil.copytree(older, re.sub(r"_\d{17}_", "_%d0101000000000_" % year, older))
            more = "directory" if year == 2018 else "directories"
            for command in ["why", job], ["cluster", job, "-o", os.path.join(self.dir, "out%d" % year)]:
                with self.subTest(command):
                    lines = [one for one in self.ascope(*command, code=0).stderr.splitlines() if "rank 0: in" in one]
                    self.assertEqual(len(lines), 1)
                    self.assertTrue(lines[0].endswith("; the first is newer and is used; likewise for %d more %s" % (year - 2017, more)), lines)

    def on(self, answer):
        return answer["ranks"][answer["on"]]["rank"]

    def largest(self, answer):
        causes = answer["difference"]["causes"]
        return max(causes, key=causes.get)

    def test_healthy_collections_get_no_verdict(self):
        for args in some(["--framework", "pt", "--ranks", "4", "--tp", "2"], [], ["--framework", "pt"], ["--framework", "ms"], ["--framework", "pt", "--kernels", "0"],
                     ["--framework", "pt", "--ranks", "2"], ["--framework", "pt", "--pp", "4"], ["--ranks", "4", "--tp", "2"],
                     ["--framework", "pt", "--ranks", "8", "--tp", "2", "--pp", "2"]):
            with self.subTest(args):
                path = self.sim("--kernels", "4000", *args, out="-".join(["h", *args]).replace("--", ""))
                answer = self.why(path)
                self.assertEqual((answer["explains"], answer["difference"], answer["slow"]), (None, None, 0))
                text = self.ascope("why", path, code=0).stdout
                self.assertIn("is slow", text)
                self.assertIn("\nwhere a usual step goes", text)  # there is an answer in any case
                self.assertRegex(text, "\n(what would save time in each step:|nothing was found that would save 3 % of a step)\n")

    def test_a_slow_step_ran_longer(self):
        for args, step in some((["--framework", "pt"], "4"), (["--framework", "ms"], "4"), (["--framework", "ms", "--jit", "O2"], "4"), ([], "5"),
                           (["--framework", "pt", "--ranks", "2"], "4")):
            with self.subTest(args):
                answer = self.why(self.sim(*args, "--slow-step", "4:4", "--samplers=off", out="-".join(["s", *args]).replace("--", "")))
                self.assertEqual((answer["explains"], answer["step"], self.largest(answer)), ("step", step, "longer"))
                self.assertFalse(answer["waited_for"])
                first = answer["difference"]["items"][0]
                self.assertEqual((first["cause"], first["named"], first["before_runs"]), ("longer", "operator", first["after_runs"]))
                self.assertAlmostEqual(first["after_us"] / first["before_us"], 4, delta=0.2)

    def test_a_stall_is_waiting_for_data_where_that_was_recorded(self):
        for args, cause, name in some((["--framework", "pt"], "data", "DataLoader"), (["--framework", "ms"], "data", "GetNextAsMap"),
                                  (["--framework", "pt", "--kernels", "0"], "data", "DataLoader"), ([], "host", "")):
            with self.subTest(args):
                answer = self.why(self.sim(*args, "--stall", "6:40ms", out="-".join(["d", *args]).replace("--", "")))
                self.assertEqual((answer["explains"], self.largest(answer)), ("step", cause))
                first = answer["difference"]["items"][0]
                self.assertEqual(first["cause"], cause)
                self.assertIn(name, first["name"] or "")
                self.assertAlmostEqual(first["more_us"], 40000, delta=2500)

    def test_garbage_collection(self):
        answer = self.why(self.sim("--framework", "pt", "--ranks", "2"), "--step", "0")  # it has one, and is short enough to suffer
        first = answer["difference"]["items"][0]
        self.assertEqual((answer["step"], self.largest(answer), first["cause"], first["name"], first["place"]["process"]),
                         ("0", "gc", "gc", None, "Python GC"))

    def test_the_place_is_in_the_timeline(self):
        path = self.sim("--framework", "pt", "--stall", "6:40ms")  # 1 us of it is the loader's own
        place = self.why(path)["difference"]["items"][0]["place"]
        self.ascope("export-trace", path + "/" + os.listdir(path)[0], "t.json", code=0)
        with open(os.path.join(self.dir, "t.json")) as f:
            events = json.load(f)
        names = {(e["name"], e["pid"], e["tid"] if e["name"] == "thread_name" else 0): e["args"]["name"]
                 for e in events if e["ph"] == "M" and e["name"] in ("process_name", "thread_name")}
        ts = "%d.%03d" % divmod(place["begin_ns"], 1000)
        found, = [e for e in events if e.get("ts") == ts and e["name"] == place["event"] and e["ph"] == "X"]
        self.assertEqual((names["process_name", found["pid"], 0], names["thread_name", found["pid"], found["tid"]]),
                         (place["process"], place["thread"]))
        text = self.ascope("why", path, code=0).stdout
        self.assertRegex(text, re.escape("at %s us (" % ts) + r"[\d.]+ [mu]s of step 6, [\d.]+ ms of the recording\), " +
                         re.escape("40.001 ms: %s, %s, %s\n" % (place["process"], place["thread"], place["event"])))
        self.assertIn("and append %s to its address\n" % place["view"], text)
        self.assertEqual((place["step"], place["view"]), ("6", "#page=timeline&moment=%d+%d" % (place["begin_ns"], place["dur_ns"])))
        self.ascope("export-trace", path + "/" + os.listdir(path)[0], "s.json", "--time-base", "start", code=0)
        with open(os.path.join(self.dir, "s.json")) as f:  # whose timeline begins with the recording
            found, = [e for e in json.load(f) if e["name"] == place["event"] and e["ph"] == "X" and float(e["dur"]) > 40000]
        self.assertAlmostEqual(float(found["ts"]), place["in_recording_ns"] / 1000, delta=0.002)

    def test_the_step_of_a_job_is_explained_on_the_rank_that_the_others_wait_for(self):
        for args in some(["--framework", "pt"], ["--framework", "ms", "--tp", "2"]):
            with self.subTest(args):
                path = self.sim(*args, "--ranks", "4", "--stall", "6:40ms:2", out="-".join(["j", *args]).replace("--", ""))
                answer = self.why(path)
                self.assertEqual((answer["step"], self.on(answer), answer["waited_for"], self.largest(answer)), ("6", 2, True, "data"))
                self.assertAlmostEqual(answer["waited_us"], 40000, delta=3000)
                other = self.why(path, "--rank", "0")
                self.assertEqual((other["step"], self.on(other), self.largest(other)), ("6", 0, "wait"))
                self.assertIn("step 6 on rank 2: ", self.ascope("why", path, code=0).stdout)

    def test_ranks_that_do_not_communicate_do_not_wait(self):
        path = self.sim("--framework", "pt", "--ranks", "4", "--comm=off", "--stall", "6:40ms:2", out="alone")
        answer = self.why(path)
        self.assertEqual((answer["step"], self.on(answer), answer["waited_for"], answer["waited_us"]), ("6", 2, False, None))
        self.assertNotIn("the others", self.ascope("why", path, code=0).stdout)

    def test_one_long_step_of_two_is_no_slow_rank(self):
        path = self.sim("--framework", "pt", "--ranks", "4", "--steps", "2", "--stall", "1:40ms:2", out="two")
        self.assertIsNone(self.why(path)["explains"])
        self.assertIn("of fewer than 3 steps none can be called slow", self.ascope("why", path, code=0).stdout)

    def test_several_ranks_are_waited_for(self):
        path = self.sim("--framework", "pt", "--ranks", "8", "--tp", "2", "--pp", "4", "--steps", "6", "--stall", "3:40ms", out="stage")
        self.assertIn("; the others wait for it and for 1 more\n", self.ascope("why", path, code=0).stdout)

    def test_a_usual_step_is_neither_slow_nor_waited_for(self):
        path = self.sim("--framework", "pt", "--ranks", "4", "--stall", "6:40ms:2", out="usual")
        self.assertFalse(self.why(path, "--step", "3")["waited_for"])
        self.assertNotIn("the others", self.ascope("why", path, "--step", "3", code=0).stdout)

    def test_a_slow_rank_is_compared_with_another_one(self):
        for ranks, more in some(("2", []), ("8", ["--tp", "2", "--pp", "2"])):
            with self.subTest(ranks):
                answer = self.why(self.sim("--framework", "pt", "--ranks", ranks, *more, "--kernels", "4000", "--slow-rank", "1:1.5", "--samplers=off",
                                           out="r" + ranks))
                self.assertEqual((answer["explains"], answer["step"], self.on(answer), answer["waited_for"]), ("rank", None, 1, True))
                self.assertEqual(self.largest(answer), "longer")
                self.assertNotEqual(answer["compared_with"], answer["on"])
                self.assertEqual(set(answer["difference"]["causes"]) & {"wait", "transfer"}, set())

    def test_a_step_that_was_asked_for(self):
        path = self.sim("--framework", "pt", "--stall", "6:40ms")
        self.assertEqual(self.why(path, "--step", "3")["step"], "3")
        few, all_of_it = (self.why(path, "--top", n)["difference"] for n in ("1", "1000"))
        self.assertEqual((len(few["items"]), all_of_it["others"], all_of_it["others_us"]), (1, 0, 0))
        self.assertEqual(few["causes"], all_of_it["causes"])
        self.assert_one_line(self.ascope("why", path, "--step", "99", code=2).stderr, "step 99: not among the 10 ", "0 to 9")
        self.assert_one_line(self.ascope("why", path, "--rank", "7", code=2).stderr, "rank 7: not among")

    def test_of_two_steps_the_other_one_is_usual_and_one_has_nothing_to_compare_with(self):
        two = self.why(self.sim("--framework", "pt", "--steps", "2", "--stall", "1:40ms", out="two"), "--step", "1")["difference"]
        self.assertEqual(two["compared"], 1)
        self.assertAlmostEqual(two["more_us"], 40000, delta=2500)
        self.assertAlmostEqual(two["rest_us"], 0, delta=0.01)
        one = self.sim("--framework", "pt", "--steps", "1", out="one")
        self.assertEqual(self.why(one, "--step", "0")["difference"]["compared"], 0)
        text = self.ascope("why", one, "--step", "0", code=0).stdout
        self.assertIn("1 step: there is no other step to compare it with", text)
        self.assertRegex(text, r"step 0: [\d.]+ ms\n")
        self.assertNotIn("->", text)
        self.assertEqual(text, self.ascope("why", one, code=0).stdout)  # of one step, it is the one

    def test_without_steps_the_whole_recording_counts_as_one(self):
        path = self.sim("--framework", "pt", "--marks=off")
        for file in glob.glob(glob.escape(path) + "/*/FRAMEWORK/torch.op_range"):
            with open(file, "rb") as f:
                data = f.read()
            with open(file, "wb") as f:
                for name in b"ProfilerStep#", b"enumerate(DataLoader)#", b"Optimizer.step#":  # nothing is left that repeats
                    data = data.replace(name, b"aten::".ljust(len(name), b"x"))
                f.write(data)
        text = self.ascope("why", path, code=0).stdout
        self.assertIn("no steps were recorded: the whole recording counts as one\n7 of 8 ranks were not read (1, 2, 3, 4, 5, 6, 7): ", text)
        self.assertIn("\nwhere the time goes:\n", text)
        answer = self.why(path)
        self.assertEqual((answer["steps"], answer["explains"], answer["usual"]["whole"]), ([], None, True))
        self.assert_one_line(self.ascope("why", path, "--step", "1", code=2).stderr, "no steps were recorded")
        self.assert_one_line(self.ascope("why", self.dir + "/nowhere", code=2).stderr, "nowhere")

    def test_a_name_is_data(self):
        path = self.sim("--framework", "pt", "--stall", "6:40ms")
        hostile = b"\x1b]0;<b>\n\r\"\\DataLoader\xff"
        for file in glob.glob(glob.escape(path) + "/*/FRAMEWORK/torch.op_range"):
            with open(file, "rb") as f:
                data = f.read()
            self.assertIn(b"enumerate(DataLoader)#", data)
            with open(file, "wb") as f:
                f.write(data.replace(b"enumerate(DataLoader)#", hostile))
        self.assertIn("DataLoader", self.why(path)["difference"]["items"][0]["name"])
        text = self.ascope("why", path, code=0).stdout
        self.assertIn("waiting for data", text)
        self.assertIsNone(re.search(r"[\x00-\x09\x0b-\x1f]", text))

    def test_a_rank_that_cannot_be_read_is_reported_and_left_out(self):
        path = self.sim("--framework", "pt", "--ranks", "4", "--stall", "6:40ms:2")
        first = sorted(os.listdir(path))[0]
        for file in glob.glob(glob.escape(os.path.join(path, first)) + "/FRAMEWORK/*"):
            os.remove(file)
        for prof in glob.glob(glob.escape(os.path.join(path, first)) + "/PROF_*"):
            shutil.rmtree(prof)
        r = self.ascope("why", path, "--json", code=3)
        self.assertEqual((self.on(json.loads(r.stdout)["answers"][0]), len(json.loads(r.stdout)["answers"][0]["ranks"])), (2, 3))
        self.assertIn(first, r.stderr)

    def test_the_same_input_gives_the_same_bytes(self):
        path = self.sim("--framework", "pt", "--ranks", "4", "--stall", "6:40ms:2")
        self.assertEqual(*(self.ascope("why", path, "--threads", n, code=0).stdout for n in ("1", "4")))


if __name__ == "__main__":
    unittest.main(argv=["test_why.py"], verbosity=2)
