#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A flight recorder from outside: its saves are collections, with every record of their window; also after a kill.

usage: test_flight.py ASCOPE FLIGHT_JOB
"""
import csv
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ASCOPE, JOB = (os.path.abspath(p) for p in sys.argv[1:3])
OF_STEP, SLOW_STEP = 10, 40


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ascope flight é ")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def job(self, how, *more, code=0):
        r = subprocess.run([JOB, self.folder, how, *more], capture_output=True, text=True, timeout=120)
        self.assertEqual(r.returncode, code, r.stderr)
        return r.stdout.splitlines()

    def waiting_job(self, *more):
        job = subprocess.Popen([JOB, self.folder, "wait", *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, job)
        return job, job.stdout.readline().strip()

    @staticmethod
    def end(job):
        job.kill()
        job.wait()
        job.stdin.close()
        job.stdout.close()

    def step(self, job, n=1):
        for _ in range(n):
            job.stdin.write("\n")
            job.stdin.flush()
            self.assertEqual(job.stdout.readline(), "\n")

    def ascope(self, *args, code=0):
        r = subprocess.run([ASCOPE, *args], capture_output=True, text=True, cwd=self.folder, timeout=120)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        self.assertNotIn("Sanitizer", r.stderr)
        return r

    def facts(self, path):
        with open(os.path.join(path, "ascope.json")) as f:
            return json.load(f)

    def rows(self, path, name):
        with open(os.path.join(path, "ASCEND_PROFILER_OUTPUT", name)) as f:
            return list(csv.DictReader(f))

    def check(self, path, first, end):
        """Every operator of the steps is there once, with its kernel; first None: from the one on with which the window begins."""
        self.ascope("analyse", "-q", path)
        seen = sorted(int(row["Name"][3:]) for row in self.rows(path, "operator_details.csv") if row["Name"].startswith("op "))
        begin = seen[0] if first is None else first * OF_STEP
        self.assertEqual(seen, list(range(begin, end * OF_STEP)))
        kernels = self.rows(path, "kernel_details.csv")
        if first is not None:  # else parsers leave out those that began before the window
            self.assertEqual(len(kernels), end * OF_STEP - begin)
        self.assertEqual({row["Type"] for row in kernels}, {"Add"})  # names outlive what is overwritten
        facts = self.facts(path)
        self.assertEqual((facts["damaged"], facts["dropped"]), (0, []))
        return facts

    def collections(self):
        return sorted(glob.glob(glob.escape(self.folder) + "/*_ascend_pt"))


class Flight(Case):
    def test_each_save_has_every_record_of_its_window(self):
        home, all_before, last, everything = self.job("windows")
        self.assertEqual(self.collections(), sorted([all_before, last, everything]))  # the home is gone
        self.assertFalse(os.path.exists(home))
        facts = self.check(all_before, 0, 20)
        self.assertEqual(facts["flight"]["trigger"], "test")
        self.assertRegex(self.ascope("info", all_before).stdout, r"saved by a flight recorder: test; the last [\d.]+ m?s, [\d,]+ records\n")
        self.assertNotIn("dropped_history", facts["flight"])
        self.check(last, None, 30)
        facts = self.check(everything, 0, 30)
        window = facts["flight"]["window"]
        self.assertGreater(window["end_unix_ns"], window["begin_unix_ns"])
        with open(os.path.join(everything, "profiler_metadata.json")) as f:
            self.assertEqual(json.load(f)["job"], {"a": 1})
        self.assertEqual(len({self.facts(path)["session"] for path in self.collections()}), 3)

    def test_a_slow_step_is_in_the_window_that_it_triggered(self):
        self.job("slow")
        triggers = {path: self.facts(path)["flight"]["trigger"] for path in self.collections()}
        found = [path for path, text in triggers.items() if re.match(r"slow step %d: [\d.]+ ms, median " % SLOW_STEP, text)]
        self.assertEqual(len(found), 1, triggers)
        self.check(found[0], 0, SLOW_STEP + 1)
        steps = {row["Step"]: row for row in self.rows(found[0], "step_trace_time.csv")}
        self.assertIn(str(SLOW_STEP), steps)

    def test_a_signal_saves(self):
        _, path = self.job("signal")
        self.assertEqual(self.facts(path)["flight"]["trigger"], "signal %d" % signal.SIGUSR2)
        self.check(path, 0, 20)

    def test_a_signal_during_stop_saves_once(self):
        self.job("late")
        path, = self.collections()
        self.assertEqual(self.facts(path)["flight"]["trigger"], "signal %d" % signal.SIGUSR2)
        self.check(path, 0, 20)

    def test_exit_removes_the_history(self):
        self.job("exit")
        self.assertEqual(os.listdir(self.folder), [])

    def test_killed_the_last_seconds_are_there(self):
        for how, number in ("kill", signal.SIGKILL), ("terminate", signal.SIGTERM):
            home, = self.job(how, code=-number)
            self.check_recovered(home)

    def check_recovered(self, home):
        r = self.ascope("recover", home)
        self.assertRegex(r.stdout, r"recovered the last \d+\.\d{3} s of the flight recorder: [\d,]+ records")
        facts = self.check(home, 0, 20)
        self.assertEqual((facts["ended"], facts["flight"]["trigger"]), ("recovered", "killed"))
        self.assertEqual(glob.glob(glob.escape(home) + "/ascope.[fr]*"), [home + "/ascope.files"])

    def test_killed_with_times_that_cannot_be(self):
        for key in "began_unix_ns", "began_raw_ns":
            for time_ns in -2 ** 63, 2 ** 63 - 1:
                with self.subTest(key=key, time_ns=time_ns):
                    path = self.job("kill", code=-signal.SIGKILL)[0]
                    facts = self.facts(path)
                    facts["flight"][key] = time_ns
                    with open(os.path.join(path, "ascope.json"), "w") as f:
                        json.dump(facts, f)
                    self.assertNotIn("runtime error", self.ascope("recover", path).stderr)
                    window = self.facts(path)["flight"]["window"]
                    if (key == "began_unix_ns") == (time_ns > 0):
                        self.assertEqual(window["end_unix_ns"], 2 ** 62 - 1)  # the most that is kept of any time

    def test_killed_while_it_saves(self):
        """Whichever file of the save was the last one: what it has written is removed, and the whole history is in the home."""
        n, n_written, is_cut = 1, [], True
        while is_cut:
            r = subprocess.run([JOB, self.folder, "cut", str(n)], capture_output=True, text=True, timeout=120)
            home, *saved = r.stdout.splitlines()
            is_cut = r.returncode != 0  # else the save has fewer files than that
            if is_cut:
                self.assertEqual((r.returncode, r.stderr), (-signal.SIGKILL, ""))
                n_written.append(sum(len(files) for _, _, files in os.walk(home + "/saving")))
                self.assertEqual(self.collections(), [home])
                self.check_recovered(home)
                self.assertNotIn("saving", os.listdir(home))
                shutil.rmtree(home)
            else:
                self.check(saved[0], 0, 20)
            n *= 2
        self.assertTrue(n_written == sorted(n_written) and n_written[0] < n_written[-1], n_written)

    def test_analyse_recovers_first(self):
        home, = self.job("kill", code=-signal.SIGKILL)
        r = self.ascope("analyse", home)
        self.assertRegex(r.stderr, r"note: .*: recovered the last \d+\.\d{3} s of the flight recorder")

    def test_a_damaged_leftover_is_one_line(self):
        home, = self.job("kill", code=-signal.SIGKILL)
        for path in glob.glob(glob.escape(home) + "/ascope.flight/history.*"):
            os.truncate(path, 10)
        r = self.ascope("recover", home, code=1)
        self.assertRegex(r.stderr, r"^ascope: .*ascope\.flight: no history that can be read; .*\n$")
        shutil.rmtree(home + "/ascope.flight")
        os.symlink("/", home + "/ascope.flight")
        r = self.ascope("recover", home, code=1)
        self.assertEqual(r.stderr.count("\n"), 1)
        self.assertTrue(os.path.exists(home + "/ascope.rings"))


class Dyn(Case):
    """`ascope dyn DIR save`."""

    def saved(self, *args, code=0):
        r = self.ascope("dyn", *args, code=code)
        self.assertEqual(r.stderr, "")
        return [line[len("saved: "):] for line in r.stdout.splitlines() if line.startswith("saved: ")]

    def test_a_request_saves_while_the_job_runs(self):
        job, home = self.waiting_job()
        self.step(job, 5)
        first, = self.saved(self.folder, "save")
        self.assertEqual(self.check(first, 0, 5)["flight"]["trigger"], "request")
        self.step(job, 2)
        second, = self.saved(home, "save", "--last", "1000s")
        self.check(second, 0, 7)
        report = json.loads(self.ascope("dyn", home, "save", "--last=500ms", "--json").stdout)["saved"]
        self.assertEqual([(one["recorder"], one["state"]) for one in report], [(home, "running")])
        self.assertTrue(os.path.isdir(report[0]["path"]))
        job.stdin.close()
        self.assertEqual(job.wait(60), 0)
        self.assertEqual(len(self.collections()), 3)

    def test_all_recorders_that_listen_to_a_directory_save(self):
        listen = os.path.join(self.folder, "listen")
        os.mkdir(listen)
        jobs = [self.waiting_job(listen) for _ in range(2)]
        for job, _ in jobs:
            self.step(job, 2)
        paths = self.saved(listen, "save")
        self.assertEqual(len(paths), 2)
        for path in paths:
            self.check(path, 0, 2)
        for job, _ in jobs:
            job.stdin.close()
            self.assertEqual(job.wait(60), 0)
        self.assertEqual(os.listdir(listen), [])

    def test_a_slow_step_saves_once_it_is_asked_for(self):
        job, home = self.waiting_job()
        self.step(job, 12)
        self.assertEqual(self.ascope("dyn", home, "save", "--when", "step>1.5x").stdout, "armed: %s\n" % home)
        found = []
        while not found:  # a step is longer than others, or the next one is
            time.sleep(0.4)
            self.step(job)
            time.sleep(0.4)
            found = [path for path in self.collections() if path != home]
        self.assertRegex(self.facts(found[0])["flight"]["trigger"], "^slow step ")
        self.ascope("dyn", home, "save", "--when=never")

    def test_of_a_killed_program_the_last_seconds_are_recovered(self):
        home, = self.job("kill", code=-signal.SIGKILL)
        self.assertEqual(self.saved(self.folder, "save", "--last", "2min"), [home])
        facts = self.check(home, 0, 20)
        self.assertEqual((facts["flight"]["trigger"], facts["flight"]["asked_ns"]), ("killed", 120 * 10 ** 9))
        r = self.ascope("dyn", self.folder, "save", code=1)  # it is done
        self.assertIn("no flight recorder runs here", r.stderr)

    def test_what_cannot_be_is_one_line(self):
        for args, code, text in [
                ((self.folder, "save"), 1, "no flight recorder runs here, and none was left by a program that was killed"),
                ((self.folder + "/none", "save"), 2, "no such directory"),
                ((self.folder, "save", "--last", "soon"), 2, "--last soon: accepted are durations such as 30s, 500ms and 2min"),
                ((self.folder, "save", "--last", "-1s"), 2, "--last -1s: accepted"),
                ((self.folder, "save", "--last", "nan"), 2, "--last nan: accepted"),
                ((self.folder, "save", "--when", "step>0.9x"), 2, "--when step>0.9x: accepted are step>1.5x"),
                ((self.folder, "save", "--when", "loss>2"), 2, "--when loss>2: accepted"),
                ((self.folder, "save", "--when", "never", "--last", "1s"), 2, "give only one of them")]:
            r = self.ascope("dyn", *args, code=code)
            self.assertEqual(r.stderr.count("\n"), 1, r.stderr)
            self.assertIn(text, r.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
