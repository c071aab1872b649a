#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Power cuts: after each call of a program that writes, whatever the file system may have is looked at.

usage: power_cut.py BUILD SOURCE [--quick]
"""
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

import power_states

BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
ASCOPE, RECORDER, JOB, LIBRARY = (os.path.join(BUILD, p) for p in ("ascope", "tests/programs/record_and_die", "tests/programs/flight_job", "tests/torture/libpower_log.so"))
IS_QUICK = "--quick" in sys.argv
OPERATORS = 1000


def run(*args, code=0, **more):
    r = subprocess.run(args, capture_output=True, text=True, timeout=120, **more)
    assert r.returncode in (code if isinstance(code, tuple) else (code,)), (args, r.returncode, r.stdout + r.stderr)
    return r


def content_of(path):
    with open(path, "rb") as f:
        return f.read()


class PowerCut(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="ascope-power-cut-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.root = os.path.join(self.folder, "root")
        self.after = os.path.join(self.folder, "after")
        os.mkdir(self.root)

    def logged(self, *args, code=0):
        """Runs a program; a disk that has what was there before it, and its calls."""
        log = os.path.join(self.folder, "log")
        disk = power_states.Disk(self.root)
        r = run(*args, code=code, env={**os.environ, "LD_PRELOAD": LIBRARY, "POWER_CUT_LOG": log, "POWER_CUT_ROOT": self.root})
        return disk, list(power_states.calls(log)), r

    def each(self, disk, calls, check, n_random, most=None):
        """check({path: content}, is_over) for every state, once: before each call that makes something durable or changes names, and at the
        end. is_over: the program has reported success. most: so many of the calls, evenly spread, and the last
        ones."""
        places = [i for i, (what, *_) in enumerate(calls) if what in ("sync", "rename", "link", "unlink")] + [len(calls)]
        self.assertGreater(sum(what == "sync" for what, *_ in calls), 0)
        if most and len(places) > most:
            places = [places[i * (len(places) - 1) // (most - 1)] for i in range(most)] + places[-4:]  # at the end is what says that it is whole
        seen, n, done = set(), 0, 0
        for place in sorted(set(places)):
            for call in calls[done:place]:
                disk.do(*call)
            done = place
            is_over = place == len(calls)
            for what, state in disk.states(n_random, len(calls)):
                key = hash((is_over, frozenset(state.items())))
                if key in seen:
                    continue
                seen.add(key)
                n += 1
                with self.subTest(after_call=place, of=len(calls), next=str(calls[place][:2]) if not is_over else "end", state=what):
                    check(state, is_over)
        self.assertGreater(n, len(places) // 2)
        if "TORTURE_TALLY" in os.environ:
            with open(os.environ["TORTURE_TALLY"], "a") as f:
                f.write(f"{n} states after a power cut\n")

    def record(self, how):
        r = run(RECORDER, self.root, how, code=-signal.SIGKILL if how == "kill" else 0)
        return r.stdout.strip()

    def files(self):
        """{path: content} of what is there now."""
        found = {}
        for at, _, names in os.walk(self.root):
            found.update({os.path.relpath(os.path.join(at, name), self.root): content_of(os.path.join(at, name)) for name in names})
        return found

    def n_operators(self, session):
        path = session + "/ASCEND_PROFILER_OUTPUT/operator_details.csv"
        return content_of(path).count(b"\n") - 1 if os.path.exists(path) else 0

    def analysed(self, state, name):
        """Of a collection of the state: the exit status of an analysis, which recovers first, the number of operators, what it says."""
        shutil.rmtree(self.after, ignore_errors=True)
        os.mkdir(self.after)
        power_states.write(state, self.after)
        session = os.path.join(self.after, name)
        r = run(ASCOPE, "analyse", "-q", "--no-sync", session, code=(0, 1, 3))
        return r.returncode, self.n_operators(session), r.stderr

    # ---- recordings ----

    def test_recovery_loses_nothing_that_was_on_the_disk_before(self):
        name = os.path.basename(self.record("kill"))
        disk, calls, _ = self.logged(ASCOPE, "recover", self.root)

        def check(state, is_over):
            code, n, said = self.analysed(state, name)
            self.assertEqual((code, n), (0, OPERATORS), said)

        self.each(disk, calls, check, 1 if IS_QUICK else 8, 16 if IS_QUICK else None)

    def test_a_recording_that_says_that_it_ended_is_whole(self):
        disk, calls, r = self.logged(RECORDER, self.root, "stop")
        name = os.path.basename(r.stdout.strip())

        def check(state, is_over):
            facts = state.get(name + "/ascope.json") or b""
            if is_over:
                self.assertIn(b'"ended": "stop"', facts)
            if b'"ended": "stop"' in facts:
                code, n, said = self.analysed(state, name)
                self.assertEqual((code, n), (0, OPERATORS), said)

        self.each(disk, calls, check, 1 if IS_QUICK else 8, 24 if IS_QUICK else None)

    def test_a_save_of_a_flight_recorder_is_whole_or_not_there(self):
        disk, calls, r = self.logged(JOB, self.root, "windows")
        home, *saved = r.stdout.splitlines()
        names = {os.path.basename(p) for p in glob.glob(glob.escape(self.root) + "/*_ascend_pt")} - {os.path.basename(home)}
        self.assertTrue(names)
        whole = {path: content for path, content in self.files().items() if path.split("/")[0] in names}

        def check(state, is_over):
            for name in names:
                found = {path: content for path, content in state.items() if path.split("/")[0] == name and content is not None}
                if is_over or name in state:
                    self.assertEqual(found, {path: content for path, content in whole.items() if path.split("/")[0] == name})

        self.each(disk, calls, check, 4 if IS_QUICK else 16, 100 if IS_QUICK else None)

    # ---- results ----

    RESULTS = "ASCEND_PROFILER_OUTPUT/"

    def results_of(self, files, name):
        """What analyse.done says is there; None: it is not there."""
        done = files.get(name + "/" + self.RESULTS + "analyse.done")
        if done is None:
            return None
        return {f["name"]: files.get(name + "/" + self.RESULTS + f["name"]) for f in json.loads(done)["files"]}

    def test_results_are_whole_where_analyse_done_is(self):
        session = self.record("stop")
        name = os.path.basename(session)
        old = None
        for options in [["--export-type=text,db"], ["--export-type=text,db", "--dialect=current", "--pretty"], ["--export-type=text"]]:
            disk, calls, _ = self.logged(ASCOPE, "analyse", "-q", *options, session)
            new = self.results_of(self.files(), name)
            self.assertGreater(len(new), 1)

            def check(state, is_over, old=old, new=new):
                found = self.results_of(state, name)
                if is_over:
                    self.assertTrue(found == new, sorted(found))
                elif found is not None:
                    self.assertTrue(found in (old, new), sorted(found))

            self.each(disk, calls, check, 3 if IS_QUICK else 12, 60 if IS_QUICK else None)
            os.unlink(os.path.join(self.folder, "log"))
            old = new

    def whole_files(self, *args, at_end, pattern, code=0):
        """A command whose files stand for themselves: each is the old one, the new one or not there; at the end all are the new ones."""
        def chosen(files):
            return {path: content for path, content in files.items() if content is not None and ".part-" not in path and re.search(pattern, path)}

        old = chosen(self.files())
        disk, calls, _ = self.logged(*args, code=code)
        new = chosen(self.files())
        self.assertGreaterEqual(len(new), at_end)

        def check(state, is_over):
            found = chosen(state)
            if is_over:
                self.assertTrue(found == new, sorted(found))
            for path, content in found.items():
                self.assertTrue(content in (old.get(path), new.get(path)), path)

        self.each(disk, calls, check, 3 if IS_QUICK else 12, 30 if IS_QUICK else None)
        os.unlink(os.path.join(self.folder, "log"))

    def test_summaries_and_results_of_a_job(self):
        run(ASCOPE, "sim", "--framework=pt", "--processes=2", "--tp=2", "--steps=2", "--operators=20", "--out", self.root)
        self.whole_files(ASCOPE, "analyse", "-q", "--summary", self.root, at_end=2, pattern=r"/ascope_rank[^/]*\.summary$")
        run(ASCOPE, "analyse", "-q", self.root)
        self.whole_files(ASCOPE, "cluster", "-q", self.root, "--mode=all", at_end=1, pattern="^cluster_analysis_output/")
        self.whole_files(ASCOPE, "cluster", "-q", self.root, "--manifest=" + self.root + "/ranks", at_end=1, pattern="^ranks$")

    def test_copies_of_the_databases_of_a_job(self):
        job, to = os.path.join(self.root, "job"), os.path.join(self.root, "to")
        run(ASCOPE, "sim", "--framework=pt", "--processes=2", "--pp=2", "--steps=2", "--operators=20", "--out", job)
        run(ASCOPE, "analyse", "-q", "--export-type=db", job)
        self.whole_files(ASCOPE, "cluster", "-q", job, "-m", "pp_chart", "-o", to, "--rank-databases", at_end=3, pattern="^to/.*[.]db$")
        self.whole_files(ASCOPE, "gate", "-q", "--markdown", to + "/gate.md", job, "--", job, at_end=1, pattern="[.]md$", code=(0, 5))

    def test_export(self):
        run(ASCOPE, "sim", "--kernels=50", "--out", self.root)
        self.whole_files(ASCOPE, "export", "-dir", self.root, at_end=5, pattern="^PROF_.*/mindstudio_profiler_output/")

    def test_files_that_are_asked_for_by_name(self):
        raw, = glob.glob(glob.escape(SOURCE) + "/tests/data/own-pytorch/raw/*_ascend_pt")
        session, to = os.path.join(self.root, "session"), os.path.join(self.root, "to")
        shutil.copytree(raw, session, copy_function=shutil.copyfile)
        os.mkdir(to)
        for command, name in (("export-trace", "a.json"), ("export-trace", "a.pftrace"), ("export-stacks", "a.log"), ("export-memory-timeline", "a.html")):
            self.whole_files(ASCOPE, command, "-q", session, os.path.join(to, name), at_end=1, pattern="^to/" + name)
        for words in ["compare", "-q", session, session, "-o", to + "/compared"], ["advise", "-q", session, "--html", to + "/advice.html"], \
                ["view", "-q", session, "--export", to + "/page.html"], ["analyse", "-q", session, "--out", to + "/results"]:
            self.whole_files(ASCOPE, *words, at_end=1, pattern="^to/(?!a[.]|.*/logs/)")

    # ---- the test itself ----

    def test_without_syncs_it_would_notice(self):
        """The same calls without syncs: a state in which analyse.done lies must be among those that are looked at."""
        session = self.record("stop")
        name = os.path.basename(session)
        disk, calls, _ = self.logged(ASCOPE, "analyse", "-q", session)
        bad = 0
        for what, rest, data in calls:
            if what != "sync":
                disk.do(what, rest, data)
        for _, state in disk.states(0, 0):
            done = state.get(os.path.join(name, self.RESULTS, "analyse.done"))
            bad += done is not None and (not done.strip(b"\0") or any(
                len(state.get(os.path.join(name, self.RESULTS, f["name"])) or b"") != f["bytes"] for f in json.loads(done)["files"]))
        self.assertGreater(bad, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
