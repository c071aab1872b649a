#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user sees of a program that was killed while it recorded.

usage: test_recover_command.py ASCOPE RECORD_AND_DIE
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
                                   r"1 open range\n$")
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

    def test_what_is_lost_after_the_end_is_counted(self):
        def zeroed(path):
            with open(path, "r+b") as f:
                f.write(bytes(os.path.getsize(path)))

        def flipped(path):
            with open(path, "r+b") as f:
                byte = f.read(1)[0]
                f.seek(0)
                f.write(bytes([byte ^ 0x20]))

        marks = "PROF_*/host/data/aging.additional.msproftx.slice_0"
        rows = [(marks, zeroed, "file_changed"), (marks, lambda p: os.truncate(p, 0), "file_length"), (marks, os.unlink, "file_gone"),
                ("FRAMEWORK/torch.op_range", lambda p: os.truncate(p, os.path.getsize(p) // 2), "file_length"),
                ("FRAMEWORK/torch.op_range", os.unlink, "file_gone"), ("PROF_*/host/start_info", flipped, "file_changed"),
                ("ascope.files", os.unlink, "file_gone"), ("ascope.files", flipped, "file_changed"),
                ("ascope.files", lambda p: os.truncate(p, 0), "file_length")]
        for how in "stop", "kill":
            whole = self.record(how)
            self.ascope("analyse", whole, "--quiet")  # the first analysis of what was killed recovers it
            for pattern, change, reason in rows:
                with self.subTest(how=how, file=pattern, reason=reason):
                    session = os.path.join(self.folder, "changed", os.path.basename(whole))
                    shutil.rmtree(os.path.dirname(session), ignore_errors=True)
                    shutil.copytree(whole, session)
                    path, = glob.glob(session + "/" + pattern)
                    change(path)
                    self.ascope("analyse", session, "--quiet", code=3)
                    with open(session + "/ASCEND_PROFILER_OUTPUT/analyse.done") as f:
                        lost = {loss["reason"]: loss for loss in json.load(f)["losses"]}
                    self.assertEqual((lost[reason]["count"], lost[reason]["damage"]), (1, True))
                    self.assertEqual(lost[reason]["first"], os.path.relpath(path, session))
                    inner = glob.glob(session + "/PROF_*")[0]
                    if pattern.startswith("PROF_"):  # the inner directory alone, too
                        self.assertIn(reason, self.ascope("export", "-dir", inner, "--json", code=3).stdout)
                    for seen in (session, inner) if pattern.startswith("PROF_") else (session,):  # info compares lengths alone
                        found = {loss["reason"] for one in json.loads(self.ascope("info", seen, "--json", code=0 if change is zeroed else 3).stdout)["collections"]
                                 for loss in one["losses"]}
                        self.assertEqual(reason in found, change is not zeroed and "start_info" not in pattern, seen)

    def test_without_any_result_losses_are_reported_all_the_same(self):
        session = self.record("stop")
        for path in glob.glob(session + "/FRAMEWORK/torch.*") + glob.glob(session + "/PROF_*/host/data/*.slice_0"):
            os.unlink(path)
        self.assertRegex(self.ascope("analyse", session, "--steps", "7", code=1).stderr,
                         "has no steps.*; some records of the collection could not be used; see ascope info\n$")

    def test_a_collection_that_was_killed_has_no_list(self):
        session = self.record("kill")
        self.assertFalse(os.path.exists(session + "/ascope.files"))
        os.unlink(session + "/ascope.rings")
        self.ascope("analyse", session, "--quiet", code=3)
        with open(session + "/ASCEND_PROFILER_OUTPUT/analyse.done") as f:
            self.assertEqual({loss["reason"] for loss in json.load(f)["losses"] if loss["damage"]}, {"not_recovered"})

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
        for how in "wait", "copy", "close":  # copy, close: the program has closed descriptors of its rings
            with self.subTest(how):
                p = subprocess.Popen([RECORDER, self.folder, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                session = p.stdout.readline().strip()
                self.assertIn("still being recorded", self.ascope("recover", session, code=1).stderr)
                self.assertIn("still being recorded", self.ascope("analyse", session).stderr)
                shown = json.loads(self.ascope("info", "--json", session).stdout)
                self.assertIn('"is_running": true', json.dumps(shown))
                p.stdin.close()
                self.assertEqual(p.wait(), 0)
                p.stdout.close()
                self.assertIn("nothing to recover", self.ascope("recover", session).stdout)
                self.ascope("analyse", session, "--quiet")
                self.assertEqual(self.operators(session), OPERATORS)

    def test_a_damaged_beginning_costs_nothing(self):
        session = self.record()
        with open(session + "/ascope.rings", "r+b") as f:
            f.write(b"a letter")
        self.ascope("analyse", session)
        self.assertEqual(self.operators(session), OPERATORS)

    def unusable(self, session, text):
        """Every command says so in one line and ends with 3, now and later; the rest is read."""
        out = os.path.join(self.folder, "t.json")
        for args in ("recover", session), ("export-trace", session, out), ("analyse", session), ("analyse", session):
            r = self.ascope(*args, code=3)
            self.assertEqual(len(re.findall(r"^ascope: \S+ascope.rings: " + text, r.stderr, re.M)), 1, r.stderr)
        self.assertIn("recordings that never ended", r.stdout)
        self.assertEqual(json.loads(self.ascope("recover", session, "--json", code=3).stdout)["collections"][0]["ended"], "lost")

    def test_emptied_zeroed_or_missing_rings_are_a_loss(self):
        session = self.record()
        rings = session + "/ascope.rings"
        size = os.path.getsize(rings)
        os.truncate(rings, 0)
        self.unusable(session, "damaged")
        os.truncate(rings, size)
        self.unusable(session, "damaged")
        self.assertEqual(os.path.getsize(rings), size)
        os.remove(rings)
        self.unusable(session, "missing; ")

    def test_rings_that_are_cut_anywhere_are_a_loss(self):
        """Also where the first copy of everything is left, which says that all is well."""
        session = self.record()
        size = os.path.getsize(session + "/ascope.rings")
        for cut in 100000, 200000, 300000, size // 2, size - 4096:
            copy = os.path.join(self.folder, "copy_ascend_pt")
            shutil.copytree(session, copy)
            os.truncate(copy + "/ascope.rings", cut)
            self.ascope("recover", copy, code=3)
            shutil.rmtree(copy)

    def test_records_wait_for_the_directory_that_they_belong_to(self):
        session = self.record()
        prof, = glob.glob(session + "/PROF_*")
        aside = os.path.join(self.folder, "aside")
        for folder in (session + "/FRAMEWORK", prof):
            os.rename(folder, aside)
            for is_link in (False, True):
                if is_link:
                    os.symlink(aside, folder)
                self.assertIn(folder + ": not recovered", self.ascope("recover", session, code=1).stderr)
                self.assertTrue(os.path.exists(session + "/ascope.rings"))
            os.remove(folder)
            os.rename(aside, folder)
        self.ascope("analyse", session)
        self.assertEqual(self.operators(session), OPERATORS)

    def test_facts_that_are_damaged_cost_no_record(self):
        """Who cannot say whether it ended keeps the rings."""
        session = self.record()
        with open(session + "/ascope.json") as f:
            good = f.read()
        for old, new, text in (('"running"', '"runniog"', "whether the recording ended"), ('"ended"', '"endee"', "whether the recording ended"),
                               ('"session"', '"sessioo"', "a different recording"), ("{", "[", "missing or damaged")):
            self.assertIn(old, good)
            with open(session + "/ascope.json", "w") as f:
                f.write(good.replace(old, new, 1))
            self.assertIn(text, self.ascope("recover", session, code=1).stderr)
            self.assertIn(text, self.ascope("export-trace", session, os.path.join(self.folder, "t.json"), code=3).stderr)
            self.assertTrue(os.path.exists(session + "/ascope.rings"))
        with open(session + "/ascope.json", "w") as f:
            f.write(good)
        self.ascope("analyse", session)
        self.assertEqual(self.operators(session), OPERATORS)

    def test_a_damaged_record_is_a_loss_that_is_kept_in_mind(self):
        for attempt in range(10):
            session = self.record()
            with open(session + "/ascope.rings", "rb") as f:
                data = bytearray(f.read())
            at = data.rfind(b"aten::")  # in a record; it may be in a file already
            data[at] ^= 1
            with open(session + "/ascope.rings", "wb") as f:
                f.write(data)
            one, = json.loads(subprocess.run([ASCOPE, "recover", session, "--json"], capture_output=True).stdout)["collections"]
            if one["damaged"]:
                break
        else:
            self.skipTest("the writer was always faster")
        self.assertEqual(one["damaged"], 1)
        for _ in range(2):
            r = self.ascope("analyse", session, code=3)
            self.assertIn("1 damaged places in ascope.rings", r.stdout.replace("  ", " ").replace("  ", " "))
        self.assertEqual(self.facts(session)["damaged"], 1)
        self.assertEqual(self.operators(session), OPERATORS - 1)

    def test_a_link_is_left_alone_with_what_it_points_to(self):
        session = self.record()
        outside = os.path.join(self.folder, "precious")
        with open(outside, "w"):
            pass
        os.remove(session + "/ascope.rings")
        os.symlink(outside, session + "/ascope.rings")
        self.assertIn("it is a symbolic link", self.ascope("recover", session, code=1).stderr)
        self.assertIn("it is a symbolic link", self.ascope("analyse", session, code=3).stderr)
        self.assertTrue(os.path.exists(outside) and os.path.islink(session + "/ascope.rings"))

    def test_rings_in_the_folder_above_are_nobodys(self):
        session = self.record()
        prof, = glob.glob(session + "/PROF_*")
        shared = os.path.join(self.folder, "shared")
        os.mkdir(shared)
        shutil.move(prof, shared)
        os.rename(session + "/ascope.rings", shared + "/ascope.rings")
        os.rename(session + "/ascope.json", shared + "/ascope.json")
        moved = os.path.join(shared, os.path.basename(prof))
        r = self.ascope("export", "summary", "-dir", moved, "--out", os.path.join(self.folder, "out"))
        self.assertNotIn("recovered", r.stderr)
        self.assertTrue(os.path.exists(shared + "/ascope.rings"))

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
        self.assertIn("ascope.rings: not recovered: ", r.stderr)
        r = self.ascope("export-trace", session, os.path.join(self.folder, "t.json"), code=3)
        self.assertIn("the other files are read", r.stderr)

    def test_wrong_words(self):
        self.ascope("recover", code=2)
        self.assertIn("No such file", self.ascope("recover", "nowhere", code=1).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
