#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope advise: what was put into a simulated job is the first advice, healthy jobs get none, and the page is safe.

usage: test_advise_command.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import html.parser
import json
import os
import re
import unittest

from cli_case import SOURCE, Case
from depth import some


def keys_in(path, pattern):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return re.findall(pattern, f.read(), re.M)


TABLE = keys_in("src/answers/checks/advise_checks.h", r'^    (?:RANK|JOB)\((\w+), "')
OF_GPU = {"tensor_cores", "waves"}
CHECKS = set(TABLE) - OF_GPU
OF_ENGINES = {"scheduling", "post_processing", "between_iterations", "sampling", "long_prompt", "preemption", "decode_host"}  # on any host


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.links = set(), "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "onload")]

    def handle_data(self, data):
        self.text += data


class Advise(Case):
    def sim(self, *args, out="job"):
        path = os.path.join(self.dir, out)
        self.ascope("sim", "--framework", "pt", "--kernels", "2400", "--steps", "6", *args, "--out", path, code=0)
        return path

    def advise(self, *args, code=0):
        """-> findings, {check: state}"""
        report = json.loads(self.ascope("advise", *args, "--json", code=code).stdout)
        self.assertEqual((report["command"], report["exit_code"]), ("advise", code))
        states = {c["check"]: c["state"] for c in report["advise_checks"]}
        self.assertEqual(set(states), CHECKS)
        found = report["advice"]
        self.assertEqual({a["check"] for a in found}, {c for c, s in states.items() if s == "found"})
        gains = [a["gain_us"] for a in found]
        self.assertEqual(gains, sorted(gains, reverse=True))
        for a in found:  # no advice without a number
            self.assertGreaterEqual(a["share"], 0.03)
            self.assertRegex(a["found"], r"\d")
            self.assertTrue(a["change"] and a["title"] and (a["evidence"] or a["check"] == "slow_rank"))
        return found, states

    def test_without_a_device_its_checks_do_not_apply(self):
        """A recording on a machine that has none; a profiler that was not to record it could have."""
        of_host = {"slow_rank", "slow_host", "data_loader", "gc", "host_starved"} | OF_ENGINES
        _, states = self.advise(os.path.join(SOURCE, "tests/data/own-mindspore-host/raw"))
        self.assertEqual({check for check, state in states.items() if state == "not applicable"} | of_host, CHECKS)
        _, states = self.advise(self.sim("--kernels", "0", out="host"))
        self.assertEqual({check for check, state in states.items() if state == "not recorded"}, CHECKS - of_host | {"host_starved"})  # simulated steps have no thread

    def test_the_documentation_has_all_checks(self):
        self.assertEqual(keys_in("docs/answers.md", r"^\| `(\w+)` \| "), TABLE)

    def test_timelines_without_collectives_have_their_communication(self):
        job, timelines = self.sim("--ranks", "4", "--tp", "4", "--kernels", "6000", out="tp"), os.path.join(self.dir, "timelines")
        for i, rank in enumerate(sorted(os.listdir(job))):
            os.makedirs(os.path.join(timelines, str(i)))
            self.ascope("export-trace", os.path.join(job, rank), os.path.join(timelines, str(i)), "--no-sync", "--quiet", code=0)
        of_job, of_timelines = ({a["check"]: a["gain_us"] for a in json.loads(self.ascope("advise", path, "--json", code=0).stdout)["advice"]}
                                for path in (job, timelines))
        self.assertEqual(of_timelines.keys(), {"exposed_communication"})
        self.assertAlmostEqual(of_timelines["exposed_communication"], of_job["exposed_communication"], delta=100)

    def test_healthy_jobs_get_no_advice(self):
        for args in some(["--ranks", "4", "--tp", "2"], ["--framework", "ms", "--ranks", "2"], ["--framework", "none", "--ranks", "2"], ["--pp", "2"]):
            with self.subTest(args):
                path = self.sim("--kernels", "6000", *args, out="-".join(["h", *args]).replace("--", ""))
                is_tensor_parallel = "--tp" in args  # nothing overlaps the collectives of these layers
                self.assertEqual({a["check"] for a in self.advise(path)[0]}, {"exposed_communication"} if is_tensor_parallel else set())
                said = self.ascope("advise", path, code=0).stdout
                self.assertEqual("nothing found that would save 3 % of a step" in said, not is_tensor_parallel)

    def test_a_slow_start_is_no_advice(self):
        path = self.sim("--kernels", "6000", "--stall", "0:400ms", out="start")
        self.assertEqual(self.advise(path)[0], [])
        self.assertIn("start-up: step 0 at the begin of the recording takes ", self.ascope("advise", path, code=0).stdout)
        found, _ = self.advise(self.sim("--kernels", "6000", "--stall", "0:400ms,3:40ms", out="start-and-later"))
        self.assertEqual([(a["check"], a["startup_steps"]) for a in found], [("data_loader", 1)])
        self.assertLess(found[0]["gain_us"], 40e3 / 4)  # of five steps

    def test_what_was_planted_is_first(self):
        for check, rank, args in some(("data_loader", None, ["--ranks", "2", "--stall", "3:40ms"]), ("data_loader", 1, ["--ranks", "4", "--stall", "3:40ms:1"]),
                                  ("slow_rank", 3, ["--ranks", "4", "--tp", "2", "--slow-rank", "3:2"]),
                                  ("slow_link", 0, ["--ranks", "4", "--tp", "4", "--slow-link", "0-1:0.1"])):
            with self.subTest(check):
                first = self.advise(self.sim(*args, out=check + str(rank)))[0][0]
                self.assertEqual(first["check"], check)
                if rank is not None:
                    self.assertEqual(first["rank"], rank)
                if check == "data_loader":
                    self.assertTrue(40000 / 6 - 800 < first["gain_us"] < 40000 / 5 + 800, first["gain_us"])  # the first step may be start-up
                    self.assertEqual(first["evidence"][0]["place"]["process"], "Python")
                    self.assertEqual((first["where"], first["once"], first["more"]), ("once, in step 3", "3", None))
                    self.assertRegex(first["found"], r"^the device waits (3[7-9]|40)\.\d+ ms in step 3 for data$")  # not a mean over all steps
                if check == "slow_link":
                    self.assertRegex(first["found"], r"link (0 -> 1|1 -> 0) .* has 1\d % of the bandwidth")

    def test_clock_and_blocks_of_a_network_that_has_both(self):
        found, states = self.advise(self.sim())
        self.assertEqual({a["check"] for a in found}, {"block_dim", "frequency"})
        self.assertEqual(states["slow_rank"], "not applicable")
        clock, = [a for a in found if a["check"] == "frequency"]
        self.assertIn("the nominal clock is 1800 MHz", clock["found"])

    def test_what_was_not_recorded_is_listed_with_how_to_record_it(self):
        states = self.advise(self.sim("--kernels", "0"))[1]
        self.assertEqual({c for c, s in states.items() if s == "not recorded"},
                         CHECKS - {"slow_rank", "slow_host", "data_loader", "gc"} - OF_ENGINES)
        path = self.sim("--framework", "none", "--samplers=off", out="prof")
        states = self.advise(path)[1]
        self.assertEqual({c for c, s in states.items() if s == "not recorded"} & {"gc", "frequency"}, {"gc", "frequency"})
        text = self.ascope("advise", path, code=0).stdout
        self.assertIn("gc: needs garbage collections: gc_detect_threshold", text)

    def test_the_page_has_all_of_it_and_names_are_data(self):
        path = self.sim("--stall", "3:40ms")
        hostile = b"<script>&\"'\x1b\n</p>DataL"
        for file in glob.glob(glob.escape(path) + "/*/FRAMEWORK/torch.op_range"):
            with open(file, "rb") as f:
                data = f.read()
            with open(file, "wb") as f:
                f.write(data.replace(b"enumerate(DataLoader)#", hostile + b"\xff" * (22 - len(hostile))))
        os.rename(path, path + "<b>")
        r = self.ascope("advise", path + "<b>", "--html", "a.html", code=0)
        self.assertIsNone(re.search(r"[\x00-\x09\x0b-\x1f]", r.stdout))
        with open(os.path.join(self.dir, "a.html"), encoding="utf-8") as f:
            text = f.read()
        page = Page(text)
        self.assertEqual(page.tags & {"script", "b", "img", "link", "iframe"}, {"b"})  # our own "Change:"
        self.assertEqual(text.count("<b>"), text.count("<b>Change:</b>"))
        self.assertEqual(page.links, [])
        self.assertNotIn("http", text.replace("http-equiv", ""))
        self.assertIn("DataLoaderIter.__next__", page.text)
        for title in "waiting for data", "the cores run below their nominal clock", "retransmitted packets":
            self.assertIn(title, page.text)

    def test_one_run_is_no_several(self):
        """The number of runs has its own word, whatever the line before it had."""
        path = os.path.join(SOURCE, "tests/data/kineto/real-2.11-cuda-plain.json")
        report = json.loads(self.ascope("advise", path, "--json", code=0).stdout)
        times = [e["text"] for a in report["advice"] for e in a["evidence"] if re.search(r" times?$", e["text"])]
        self.assertGreater(len(times), 3)
        for text in times:
            self.assertRegex(text, r", (?:1 time|(?!1 )[\d.,]+ times)$")

    def test_a_page_that_cannot_be_written(self):
        path = self.sim()
        r = self.ascope("advise", path, "--html", "nowhere/a.html", code=3)
        self.assert_one_line(r.stderr, "nowhere/a.html")
        self.assertIn("by estimated gain", r.stdout)
        self.assertNotIn("written to", r.stdout)

    def test_a_page_on_standard_output(self):
        path = self.sim()
        r = self.ascope("advise", path, "--html", "-", code=0)
        self.assertTrue(r.stdout.startswith("<!DOCTYPE html>") and r.stdout.rstrip().endswith("</html>"), r.stdout[-200:])
        self.assertIn("by estimated gain", r.stderr)
        self.assert_one_line(self.ascope("advise", path, "--html", "-", "--json", code=2).stderr, "--html")

    def test_the_same_input_gives_the_same_bytes(self):
        path = self.sim("--ranks", "4", "--stall", "3:40ms:1")
        self.assertEqual(*(self.ascope("advise", path, "--threads", n, "--html", "-", "-q", code=0).stdout for n in ("1", "4")))


if __name__ == "__main__":
    unittest.main(argv=["test_advise_command.py"], verbosity=2)
