#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope doctor --prove: programs with known content are recorded, exported and checked, and a check fails when a record was
dropped, written twice or moved.

usage: test_prove.py ASCOPE SOURCE_ROOT [unittest options]
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE = None


class Prove(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="ascope-prove-"))
        self.addCleanup(shutil.rmtree, self.dir)

    def prove(self, damage=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")}
        if damage:
            env["ASCOPE_PROVE_DAMAGE"] = damage
        out = os.path.join(self.dir, damage or "well")
        r = subprocess.run([ASCOPE, "doctor", "--prove", out, "--json"], capture_output=True, text=True, env=env, timeout=200)
        report = json.loads(r.stdout)
        with open(os.path.join(out, "ascope-prove.json"), encoding="utf-8") as f:
            self.assertEqual(json.load(f)["runs"], report["runs"])
        return r, report, {run["device"]: run for run in report["runs"]}

    @staticmethod
    def failed(run):
        return {c["name"] for c in run["checks"] if c["state"] != "ok"}

    def test_every_check_passes(self):
        r, report, runs = self.prove()
        self.assertEqual((r.returncode, report["failed"]), (0, 0), r.stdout)
        self.assertGreaterEqual(len(runs["host"]["checks"]), 9)
        self.assertGreaterEqual(len(runs["sim"]["checks"]), 20)
        self.assertTrue(runs["sim"]["simulated"])
        for name in (self.dir, os.uname().nodename, os.environ.get("USER", "no such user")):
            self.assertNotIn('"%s' % name, r.stdout)
            self.assertNotIn(self.dir, r.stdout)

    def test_damage_is_found(self):
        for damage, of_host, of_sim in (
                ("drop", {"losses", "marks", "marks that are there once"}, {"losses", "marks", "kernels", "streams"}),
                ("double", {"losses", "marks", "marks that are there once"}, {"losses", "marks"}),
                ("shift", {"losses", "when marks were"}, {"losses", "when marks were", "when kernels were"})):
            with self.subTest(damage=damage):
                r, report, runs = self.prove(damage)
                self.assertEqual(r.returncode, 1)
                self.assertLessEqual(of_host, self.failed(runs["host"]))
                self.assertLessEqual(of_sim, self.failed(runs["sim"]))


if __name__ == "__main__":
    ASCOPE = os.path.abspath(sys.argv.pop(1))
    sys.argv.pop(1)
    unittest.main()
