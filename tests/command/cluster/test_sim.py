#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ascope sim`: simulated collections, and that whatever shows them says so.

usage: ../cluster/test_sim.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import sqlite3
import sys
import unittest

from cli_case import Case


class Sim(Case):
    def test_makes_a_collection_that_exports_and_says_that_it_is_simulated(self):
        path = self.ascope("sim", "--kernels", "60", "--steps", "2", "--marks=off", code=0).stdout.strip()
        r = json.loads(self.ascope("export", "all", "-dir", path, "--json", code=0).stdout)
        self.assertTrue(r["collections"][0]["simulated"])
        self.assertEqual(r["collections"][0]["counts"]["marks"], 0)
        self.assertIn("simulated Ascend910B", self.ascope("export", "db", "-dir", path, code=0).stdout)

    def test_whatever_shows_the_data_says_that_it_is_simulated(self):
        prof = self.ascope("sim", "--kernels", "9", code=0).stdout.strip()
        host = self.ascope("sim", "--framework", "pt", "--kernels", "0", "--operators", "50", code=0).stdout.strip()
        whole = self.ascope("sim", "--framework", "pt", "--kernels", "9", "--seed", "2", code=0).stdout.strip()
        self.assertIn("simulated Ascend910B", self.ascope("info", prof, code=0).stdout)
        self.ascope("export", "summary", "-dir", prof, code=0)
        with open(os.path.join(self.dir, prof, "mindstudio_profiler_output/README.txt")) as f:
            self.assertIn("simulated", f.readline())
        for path in host, whole:
            self.assertIn("PyTorch, simulated", self.ascope("info", path, code=0).stdout)
            self.assertIn("simulated", self.ascope("analyse", path, "--export-type", "db", code=0).stdout.splitlines()[1])
            db = sqlite3.connect(glob.glob(os.path.join(self.dir, path, "ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db"))[0])
            self.assertIn(("ASCOPE_SIMULATED", "1"), db.execute("SELECT name, value FROM META_DATA").fetchall())
            db.close()
        for path in prof, host, whole:
            for one in json.loads(self.ascope("info", path, "--json", code=0).stdout)["collections"]:
                self.assertTrue(one["simulated"])

    def test_every_group_of_counters_that_is_offered_exists(self):
        groups = self.ascope("sim", "--metrics", "?", code=2).stderr.split("accepted are ")[1].strip().split(", ")
        self.assertGreater(len(groups), 5)
        for g in groups:
            chip = "7" if g == "PipelineExecuteUtilization" else "5"
            self.ascope("sim", "--metrics", g, "--chip", chip, "--kernels", "1", "--seed", str(groups.index(g)), code=0)

    def test_what_it_refuses(self):
        self.assert_one_line(self.ascope("sim", "word", code=2).stderr, "word")
        self.assert_one_line(self.ascope("sim", "--chip", "99", code=2).stderr, "99")
        self.assert_one_line(self.ascope("sim", "--comm=maybe", code=2).stderr, "on, off")
        open(os.path.join(self.dir, "a file"), "w").close()
        for framework in "none", "pt":
            for out in "a file", "a file/below":
                r = self.ascope("sim", "--framework", framework, "--out", out, code=1)
                self.assert_one_line(r.stderr, "a file", "cannot be created")

    def test_out_is_created(self):
        for framework, out in ("none", "new"), ("pt", "new/er/still/"), ("none", "./new/er/"):
            path = self.ascope("sim", "--framework", framework, "--kernels", "3", "--out", out, code=0).stdout.strip()
            self.assertTrue(os.path.isdir(os.path.join(self.dir, path)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
