#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ascope's collector says about a recording (ascope.json) reaches the user: info, summaries, JSON, database, timeline, log,
README, exit code.

usage: test_recording.py ASCOPE SOURCE_ROOT [unittest options]
"""
import copy
import fcntl
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ASCOPE = SOURCE = None
REPORTED = {
    "ascope": "0.1.0", "abi": 0, "simulated": True, "device": "sim", "ended": "stop",
    "clock": {"kind": "counter", "mhz": 2400.5, "first_mhz": 2400, "start_uncertainty_ns": 35, "stop_uncertainty_ns": 41},
    "devices": [{"id": 0, "start_uncertainty_ns": 120, "stop_uncertainty_ns": 130, "nominal_mhz": 50, "mhz": 49.5, "drift_ppm": -18.25}],
    "written": {"records": 1234567, "bytes": 210000000}, "dropped": [], "aged": {"slices": 0, "bytes": 0},
    "open_ranges": 0, "hook_ns": 12300000, "lag_most_ns": 2100000, "fill_most_percent": 12, "threads": 8,
    "steps": [{"step": n, "records": 100 * n, "bytes": 1000 * n, "dropped": 0, "hook_ns": 10000 * n, "lag_most_ns": 500000}
              for n in range(1, 6)],
}
DROPPED = {"dropped": [{"what": "operators", "count": 12}, {"what": "memory", "count": 3, "reason": "ring_full"}]}


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope rec é ")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def sample(self, which, **changes):
        """A writable copy of a sample with ascope.json in it; a value of None leaves the key out."""
        base = os.path.join(SOURCE, "tests/data", which)
        raw = (glob.glob(base + "/PROF_*") + glob.glob(base + "/raw/*_ascend_pt"))[0]
        path = os.path.join(self.dir, os.path.basename(raw))
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(raw, path, copy_function=shutil.copyfile)
        for top, _, _ in os.walk(path):
            os.chmod(top, 0o755)
        reported = {**copy.deepcopy(REPORTED), **changes}
        with open(os.path.join(path, "ascope.json"), "w") as f:
            json.dump({k: v for k, v in reported.items() if v is not None}, f)
        return path

    def ascope(self, *args, code=0):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")}
        r = subprocess.run([ASCOPE, *args], capture_output=True, text=True, env=env, cwd=self.dir, timeout=120)
        self.assertEqual(r.returncode, code, "%s: %s%s" % (args, r.stdout, r.stderr))
        return r.stdout

    def hears(self, text, *parts):
        for p in parts:
            self.assertIn(p, text)


class Info(Case):
    def test_who_recorded_it_how_exactly_and_how_it_ended(self):
        for which in "pt-a-host", "prof-a":
            text = self.ascope("info", self.sample(which))
            self.hears(text, "recorded by ascope 0.1.0, simulated device sim; stopped normally",
                       "the CPU's counter, 2400.5 MHz (+208.333 ppm", "accurate to 35 ns at the start and 41 ns at the stop",
                       "clock of device 0, 49.5 MHz (nominally 50), drift -18.250 ppm, accurate to 120 ns at the start and 130 ns",
                       "1,234,567 records, 200 MiB, from 8 threads", "rings at most 12 % full, writer at most 2.100 ms late",
                       "nothing was dropped")
            for word in "lost", "deleted", "never ended", "ascope.rings":
                self.assertNotIn(word, text.split("\n\n")[0])

    def test_another_collector_is_not_spoken_of(self):
        for which in "pt-a-host", "prof-a":
            path = self.sample(which)
            os.unlink(os.path.join(path, "ascope.json"))
            self.assertNotIn("recorded by", self.ascope("info", path))
            self.assertIsNone(json.loads(self.ascope("info", "--json", path))["collections"][0]["recording"])

    def test_machines_get_all_of_it(self):
        for which in "pt-a-host", "prof-a":
            found = json.loads(self.ascope("info", "--json", self.sample(which, **DROPPED), code=3))["collections"][0]
            dropped = [{"reason": "ring_full", **d} for d in DROPPED["dropped"]]
            reported = {**REPORTED, "dropped": dropped, "has_rings": False, "is_running": False, "flight": None}
            self.assertEqual(found["recording"], reported)
            self.assertEqual([(x["reason"], x["count"], x["damage"]) for x in found["losses"]], [("ring_full", 15, True)])

    def test_it_is_reported_once_of_a_collection_and_its_device(self):
        text = self.ascope("info", self.sample("pt-a-npu", **DROPPED), code=3)
        self.assertEqual(text.count("recorded by"), 1)
        self.assertEqual(text.count("ring full"), 1)

    def test_a_recording_that_was_not_stopped(self):
        less = {k: None for k in ("written", "dropped", "aged", "open_ranges", "hook_ns", "lag_most_ns", "fill_most_percent",
                                  "threads", "steps", "devices")}
        path = self.sample("pt-a-host", ended="running", **less)
        with open(os.path.join(path, "ascope.rings"), "w") as rings:
            fcntl.lockf(rings, fcntl.LOCK_EX)  # as whoever records does
            self.hears(self.ascope("info", path), "recorded by ascope 0.1.0, simulated device sim; still being recorded")
            self.assertTrue(json.loads(self.ascope("info", "--json", path))["collections"][0]["recording"]["is_running"])
        text = self.ascope("info", path, code=3)
        self.hears(text, "never stopped: the program was killed", "ascope.rings")
        self.assertNotIn("records, ", text.split("\n\n")[0])
        text = self.ascope("info", self.sample("pt-a-host", ended="recovered"))
        self.hears(text, "killed, and recovered", "accurate to 35 ns at the start\n")
        self.assertNotIn("at the stop", text)
        self.assertNotIn("drift", text)


class Losses(Case):
    def test_drops_are_reported_and_end_with_3(self):
        for which, command in ("pt-a-host", "analyse"), ("prof-a", "export"):
            path = self.sample(which, **DROPPED)
            text = self.ascope(command, *(["all"] if command == "export" else []), path, "--out", "o", code=3)
            self.hears(text, "lost while recording",
                       "15 records dropped while recording: ring full, according to ascope.json: operators 12, memory 3")

    def test_each_reason_is_reported_by_itself(self):
        reasons = {"ring_full": "ring full", "too_many_threads": "too many threads", "no_descriptor": "no free descriptor",
                   "no_permission": "no permission", "no_space": "no space on the disk", "name_too_long": "name too long",
                   "not_written": "a file could not be written"}
        counts = {reason: i + 1 for i, reason in enumerate(reasons)}
        path = self.sample("pt-a-host", dropped=[{"what": "operators", "count": n, "reason": r} for r, n in counts.items()] +
                           [{"what": "memory", "count": 100, "reason": "of a later version"}])
        text = self.ascope("analyse", path, "--out", "o", code=3)
        for reason, n in counts.items():
            more, kinds = (100, "operators %d, memory 100" % n) if reason == "not_written" else (0, "operators %d" % n)
            self.hears(text, "%d records dropped while recording: %s, according to ascope.json: %s" % (n + more, reasons[reason], kinds))
        text = self.ascope("info", path, code=3)
        self.hears(text, "dropped: " + ", ".join("operators %d (%s)" % (n, r) for r, n in counts.items()))
        losses = json.loads(self.ascope("info", "--json", path, code=3))["collections"][0]["losses"]
        self.assertEqual({x["reason"]: x["count"] for x in losses}, {**counts, "not_written": 107})

    def test_ageing_and_open_ranges_are_no_damage(self):
        for which, command in ("pt-a-host", "analyse"), ("prof-a", "export"):
            path = self.sample(which, aged={"slices": 4, "bytes": 400}, open_ranges=2)
            text = self.ascope(command, *(["all"] if command == "export" else []), path, "--out", "o")
            self.hears(text, "4 slices deleted to stay within the storage limit", "2 ranges of marks that never ended")
            self.assertNotIn("lost while recording", text)

    def test_a_prof_directory_in_a_collection_has_the_drops_of_the_collection(self):
        path = self.sample("pt-a-npu", **DROPPED)
        prof = glob.glob(glob.escape(path) + "/PROF_*")[0]
        self.hears(self.ascope("export", "all", prof, "--out", "o", code=3), "dropped while recording: ring full")
        self.hears(self.ascope("info", prof, code=3), "recorded by ascope")

    def test_a_damaged_file_changes_no_result(self):
        path = self.sample("pt-a-host")
        os.unlink(os.path.join(path, "ascope.json"))
        self.ascope("analyse", path, "--out", "without", "-q")
        for damage in "", "{", "[]", '{"abi": 1e999}', "\0" * 100, '{"ascope": {}}':
            with open(os.path.join(path, "ascope.json"), "w") as f:
                f.write(damage)
            self.hears(self.ascope("analyse", path, "--out", "with", code=3), "ascope.json")
            for name in "operator_details.csv", "memory_record.csv":
                a, b = (glob.glob(os.path.join(glob.escape(self.dir), d, "*", "*", name)) for d in ("with", "without"))
                if b:
                    with open(a[0]) as x, open(b[0]) as y:
                        self.assertEqual(x.read(), y.read())


class Results(Case):
    def test_the_cost_of_the_profiler_is_a_small_table(self):
        path = self.sample("pt-a-host")
        lines = self.ascope("analyse", path, "--out", "o").splitlines()
        at = next(i for i, line in enumerate(lines) if "the profiler's own cost" in line)
        self.assertEqual([line.split("  ")[2] for line in lines[at + 1:at + 4]],
                         ["a step, on average", "step 5, the most", "the whole recording"])
        self.hears(lines[at + 1], "300", "2.9 KiB", "30 us")
        self.hears("\n".join(self.ascope("analyse", path, "--out", "o", "-v").splitlines()), "    step 1 ", "    step 4 ")
        path = self.sample("prof-a", steps=[])
        self.hears(self.ascope("export", "all", path, "--out", "o"), "the whole recording        1,234,567")

    def test_the_summary_for_machines(self):
        for which, command in ("pt-a-host", ["analyse"]), ("prof-a", ["export", "all"]):
            report = json.loads(self.ascope(*command, self.sample(which), "--out", "o", "--json"))
            one = next(v for v in report.values() if isinstance(v, list))[0]
            self.assertEqual(one["recording"]["steps"], REPORTED["steps"])
            self.assertTrue(one["simulated"])

    def database(self, pattern):
        return sqlite3.connect("file:%s?mode=ro" % glob.glob(os.path.join(glob.escape(self.dir), "o", pattern))[0], uri=True)

    def test_the_database_has_it_under_names_of_ours(self):
        for which, command, pattern in (("pt-a-npu", ["analyse", "--export-type", "db"], "*/*/ascend_pytorch_profiler_0.db"),
                                        ("prof-a", ["export", "all"], "*/msprof_*.db")):
            self.ascope(*command, self.sample(which, **DROPPED), "--out", "o", code=3)
            db = self.database(pattern)
            rows = db.execute("SELECT name, value FROM META_DATA WHERE name LIKE 'ASCOPE%'").fetchall()
            self.assertEqual(len(rows), len(dict(rows)))
            found = dict(rows)
            for name, value in (("COLLECTOR", "0.1.0"), ("SIMULATED", "1"), ("ENDED", "stop"), ("CLOCK_MHZ", "2400.5"),
                                ("CLOCK_START_UNCERTAINTY_NS", "35"), ("DEVICE_0_STOP_UNCERTAINTY_NS", "130"),
                                ("DEVICE_0_DRIFT_PPM", "-18.25"), ("DROPPED_OPERATORS", "12"), ("LOST_RING_FULL", "15"),
                                ("HOOK_NS", "12300000")):
                self.assertEqual(found.get("ASCOPE_" + name), value, name)
            self.assertEqual(db.execute("SELECT * FROM ASCOPE_STEP_COST").fetchall(),
                             [tuple(s.values()) for s in REPORTED["steps"]])

    def test_the_timeline_has_it_as_metadata_that_viewers_pass_over(self):
        for which, command, pattern in (("pt-a-npu", ["analyse"], "*/*/trace_view.json"),
                                        ("pt-a-host", ["analyse"], "*/*/trace_view.json"),
                                        ("prof-a", ["export", "timeline"], "*/*/msprof_2*.json")):
            shutil.rmtree(os.path.join(self.dir, "o"), ignore_errors=True)
            self.ascope(*command, self.sample(which), "--out", "o")
            with open(glob.glob(os.path.join(glob.escape(self.dir), "o", pattern))[0]) as f:
                events = json.load(f)
            mine = [e for e in events if e["name"] == "ascope_recording"]
            self.assertEqual(len(mine), 1)
            self.assertEqual((mine[0]["ph"], mine[0]["args"]["clock_start_uncertainty_ns"]), ("M", 35))
            self.assertEqual(mine[0]["args"]["device_0_stop_uncertainty_ns"], 130)
            self.assertIn(mine[0]["pid"], {e["pid"] for e in events if e["name"] != "ascope_recording"})

    def test_log_and_readme(self):
        self.ascope("analyse", self.sample("pt-a-host", **DROPPED), "--out", "o", "-q", code=3)
        with open(glob.glob(os.path.join(glob.escape(self.dir), "o/*/logs/*.log"))[0]) as f:
            self.hears(f.read(), "clock_start_uncertainty_ns 35", "step 5: records 500", "according to ascope.json: operators 12")
        self.ascope("export", "all", self.sample("prof-a"), "--out", "p", "-q")
        with open(glob.glob(os.path.join(glob.escape(self.dir), "p/*/*/README.txt"))[0]) as f:
            self.hears(f.read(), "The recording, as recorded by ascope", "device_0_drift_ppm: -18.25")

    def test_names_of_a_hostile_file_stay_inside_their_places(self):
        evil = {"dropped": [{"what": "a\u001b[31m\"', x\n", "count": 1}], "device": "\u001b]0;x\u0007", "ascope": "<script>"}
        path = self.sample("pt-a-host", **evil)
        self.assertNotIn("\u001b", self.ascope("analyse", path, "--out", "o", "--export-type", "text,db", code=3))
        self.assertNotIn("\u001b", self.ascope("info", path, code=3))
        names = [n for (n,) in self.database("*/*/ascend_pytorch_profiler*.db").execute("SELECT name FROM META_DATA")]
        self.assertTrue(any(n.startswith("ASCOPE_DROPPED_A__31M") for n in names), names)
        with open(glob.glob(os.path.join(glob.escape(self.dir), "o/*/*/trace_view.json"))[0]) as f:
            json.load(f)


if __name__ == "__main__":
    ASCOPE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
