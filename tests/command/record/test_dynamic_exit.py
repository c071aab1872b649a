#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a C job may end while a request of dynamic_profile is being recorded: by exit(), by a signal.

usage: test_dynamic_exit.py ASCOPE LISTENING_JOB
"""
import csv
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ASCOPE, JOB = (os.path.abspath(p) for p in sys.argv[1:3])
MANY = 1000000  # steps: the job ends before
STEPS = 5


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="ascope exit "))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.config = os.path.join(self.folder, "config")

    def job(self, **request):
        """One that records, in whose collection STEPS operators are complete."""
        env = dict(os.environ, ASCOPE_DYNAMIC_POLL_MS="5", PATH=os.path.dirname(ASCOPE) + os.pathsep + os.environ["PATH"])
        job = subprocess.Popen([JOB, self.config], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               cwd=self.folder, env=env)
        self.addCleanup(self.end, job)
        self.assertEqual(job.stdout.readline(), "idle\n")
        path = os.path.join(self.config, "profiler_config.json")
        with open(path + ".new", "w") as f:
            json.dump(dict({"start_step": -1, "active": MANY, "prof_dir": os.path.join(self.folder, "out")}, **request), f)
        os.rename(path + ".new", path)
        while self.step(job) != "runs\n":
            pass
        for _ in range(STEPS):
            self.assertEqual(self.step(job), "runs\n")
        return job

    @staticmethod
    def step(job):
        job.stdin.write("\n")
        job.stdin.flush()
        return job.stdout.readline()

    @staticmethod
    def end(job):
        job.kill()
        job.communicate()

    def take_over(self):
        """Removes the shared memory of killed jobs: one that listens to the same directory uses it, and removes it at its end."""
        shutil.rmtree(self.config, ignore_errors=True)
        subprocess.run([JOB, self.config], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)

    def collections(self):
        return glob.glob(glob.escape(self.folder) + "/out/*_ascend_pt")

    def log(self):
        path, = glob.glob(glob.escape(self.config) + "/log/dp_*.log")
        with open(path) as f:
            return f.read()

    def check(self, path, ended):
        with open(os.path.join(path, "ascope.json")) as f:
            self.assertEqual(json.load(f)["ended"], ended)
        with open(os.path.join(path, "ASCEND_PROFILER_OUTPUT", "operator_details.csv")) as f:
            self.assertEqual([row["Name"] for row in csv.DictReader(f)].count("train"), STEPS)


class Exit(Case):
    def test_exit_ends_the_collection_and_it_is_analysed(self):
        for async_mode in False, True:
            with self.subTest(async_mode=async_mode):
                job = self.job(analyse=True, async_mode=async_mode)
                said = job.communicate()[1]  # the end of stderr is that of the analysis, too
                self.assertEqual(job.returncode, 3, said)
                self.assertIn("the job ends while step ", said)
                path, = self.collections()
                self.check(path, "stop")
                self.assertIn("Stop Dynamic Profiler", self.log())
                shutil.rmtree(path)
                shutil.rmtree(self.config)

    def test_without_analyse_it_is_ended_and_can_be_analysed(self):
        job = self.job()
        job.communicate()
        self.assertEqual(job.returncode, 3)
        path, = self.collections()
        self.assertEqual(glob.glob(glob.escape(path) + "/ASC*") + glob.glob(glob.escape(path) + "/ascope.r*"), [])
        subprocess.run([ASCOPE, "analyse", "-q", path], check=True, timeout=120)
        self.check(path, "stop")

    def test_in_its_warm_up_it_is_removed(self):
        job = self.job(warmup=MANY, analyse=True)
        job.communicate()
        self.assertEqual((job.returncode, self.collections()), (3, []))


class Signal(Case):
    def test_a_signal_leaves_every_record_to_recover(self):
        self.addCleanup(self.take_over)
        for number in signal.SIGTERM, signal.SIGKILL:
            with self.subTest(number):
                job = self.job(analyse=True)
                job.send_signal(number)
                job.communicate()
                self.assertEqual(job.returncode, -number)
                path, = self.collections()
                self.assertFalse(os.path.exists(path + "/ASCEND_PROFILER_OUTPUT"))
                r = subprocess.run([ASCOPE, "analyse", path], capture_output=True, text=True, timeout=120)
                self.assertEqual(r.returncode, 0, r.stderr)
                self.check(path, "recovered")
                shutil.rmtree(path)
                shutil.rmtree(self.config)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
