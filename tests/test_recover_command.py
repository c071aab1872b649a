#!/usr/bin/env python3
"""What a user sees of a program that was killed while it recorded.

usage: test_recover_command.py ASCOPE RECORD_AND_DIE
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

ASCOPE, RECORDER = (os.path.abspath(p) for p in sys.argv[1:3])
OPERATORS, MARKS = 1000, 10


class Recover(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="ascope-recover-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def record(self, how="kill", *more):
        r = subprocess.run([RECORDER, self.folder, how, *more], capture_output=True, text=True)
        self.assertEqual(r.returncode, -signal.SIGKILL if how == "kill" else 0, r.stderr)
        return r.stdout.strip()

    def ascope(self, *args, code=0):
        r = subprocess.run([ASCOPE, *args], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        self.assertNotIn("Sanitizer", r.stderr)
        return r

    def operators(self, session):
        with open(os.path.join(session, "ASCEND_PROFILER_OUTPUT/operator_details.csv")) as f:
            return len(list(csv.DictReader(f)))

    def facts(self, session):
        with open(os.path.join(session, "ascope.json")) as f:
            return json.load(f)

    def test_analyse_recovers_first_and_says_so_once(self):
        session = self.record()
        self.assertTrue(os.path.exists(session + "/ascope.rings"))
        self.assertEqual(self.facts(session)["ended"], "running")
        r = self.ascope("analyse", session)
        self.assertRegex(r.stderr, r"^ascope: note: \S+_ascend_pt: recovered [\d,]+ records? that the program had no time to write; "
                                   r"1 range had begun and not ended\n$")
        self.assertEqual(self.operators(session), OPERATORS)
        self.assertFalse(os.path.exists(session + "/ascope.rings"))
        facts = self.facts(session)
        self.assertEqual((facts["ended"], facts["open_ranges"], facts["dropped"], facts["simulated"]), ("recovered", 1, [], True))
        self.assertGreaterEqual(facts["written"]["records"], OPERATORS + MARKS)
        self.assertEqual(self.ascope("analyse", session).stderr, "")

    def test_recovered_and_stopped_collections_have_the_same_results(self):
        results = []
        for how in ("kill", "stop"):
            session = self.record(how)
            self.ascope("analyse", session, "--quiet")
            marks = glob.glob(session + "/PROF_*/host/data/aging.additional.msproftx.slice_0")
            self.assertTrue(os.path.exists(marks[0] + ".done"))
            results.append((self.operators(session), os.path.getsize(marks[0])))
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0], (OPERATORS, MARKS * 256))

    def test_the_command_recovers_all_of_a_directory(self):
        sessions = sorted([self.record(), self.record("kill", os.path.join(self.folder, "rings"))])
        r = self.ascope("recover", self.folder)
        self.assertEqual([line.split(":")[0] for line in r.stdout.splitlines()], sessions)
        self.assertEqual(os.listdir(os.path.join(self.folder, "rings")), [])
        for s in sessions:
            self.assertFalse(os.path.lexists(s + "/ascope.rings"))
        self.assertIn("nothing to recover", self.ascope("recover", sessions[0]).stdout)
        self.assertEqual(self.ascope("recover", sessions[0], "--quiet").stdout, "")

    def test_as_json(self):
        session = self.record()
        one, = json.loads(self.ascope("recover", session, "--json").stdout)["collections"]
        self.assertEqual((one["path"], one["ended"], one["open_ranges"], one["damaged"]), (session, "recovered", 1, 0))
        one, = json.loads(self.ascope("recover", session, "--json").stdout)["collections"]
        self.assertEqual(one["ended"], "nothing")

    def test_exports_of_the_inner_directory_recover_too(self):
        session = self.record()
        prof, = glob.glob(session + "/PROF_*")
        r = self.ascope("export", "summary", "-dir", prof, "--out", os.path.join(self.folder, "out"))
        self.assertIn("recovered", r.stderr)
        self.assertFalse(os.path.exists(session + "/ascope.rings"))

    def test_exports_of_one_file_recover_too(self):
        session = self.record()
        r = self.ascope("export-trace", session, os.path.join(self.folder, "trace.json"))
        self.assertIn("recovered", r.stderr)

    def test_a_program_that_still_records_is_left_alone(self):
        p = subprocess.Popen([RECORDER, self.folder, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        session = p.stdout.readline().strip()
        self.assertIn("still being recorded", self.ascope("recover", session, code=1).stderr)
        self.assertIn("still being recorded", self.ascope("export-trace", session, os.path.join(self.folder, "t.json")).stderr)
        p.stdin.close()
        self.assertEqual(p.wait(), 0)
        p.stdout.close()
        self.assertIn("nothing to recover", self.ascope("recover", session).stdout)
        self.ascope("analyse", session, "--quiet")
        self.assertEqual(self.operators(session), OPERATORS)

    def test_damaged_rings_are_refused_in_one_line_and_the_rest_is_read(self):
        session = self.record()
        with open(session + "/ascope.rings", "r+b") as f:
            f.write(b"a letter")
        r = self.ascope("recover", session, code=1)
        self.assertRegex(r.stderr, r"^ascope: \S+ascope.rings: is damaged; wanted rings of ascope\n$")
        self.assertIn("is damaged", self.ascope("export-trace", session, os.path.join(self.folder, "t.json")).stderr)

    def test_where_nothing_may_be_written_the_rest_is_read(self):
        session = self.record()
        if os.geteuid() == 0:
            here = os.path.join(self.folder, "read-only")
            os.mkdir(here)
            if subprocess.run(["mount", "--bind", "-o", "ro", self.folder, here], capture_output=True).returncode != 0:
                self.skipTest("root may write everywhere")
            self.addCleanup(subprocess.run, ["umount", here], check=True)
            session = os.path.join(here, os.path.basename(session))
        else:
            for path in (session, session + "/ascope.rings"):
                os.chmod(path, 0o500)
        r = self.ascope("recover", session, code=1)
        self.assertEqual(len(r.stderr.splitlines()), 1)
        self.assertIn("ascope.rings: what the program had no time to write stays there: ", r.stderr)
        r = self.ascope("export-trace", session, os.path.join(self.folder, "t.json"))
        self.assertIn("what is in the other files is read", r.stderr)

    def test_wrong_words(self):
        self.ascope("recover", code=2)
        self.assertIn("No such file", self.ascope("recover", "nowhere", code=1).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
