#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recording Ascend NPUs by MSPTI, with a library of ours in the place of the vendor's (tests/fakes/fake_ascend/fake_mspti.c): no NPU
is needed, and none was at hand.

usage: test_mspti.py ASCOPE RECORD_ASCEND FAKE_ASCEND FLIGHT_JOB
"""
import csv
import glob
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

from depth import IS_SAMPLE

ASCOPE, RECORDER, FAKES, FLIGHT = (os.path.abspath(p) for p in sys.argv[1:5])
EVERYTHING = "kernels=10 copies=3 sets=2 collectives=4 calls=10 marks=5"


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="ascope-mspti-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def record(self, *words, fake=EVERYTHING, library="lib64/libmspti.so", program=RECORDER, device="device=mspti", code=0, **env):
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("ASCEND_", "ASCOPE_", "FAKE_", "LOCAL_RANK", "RANK"))}
        e = {**keep, "ASCEND_HOME_PATH": FAKES, "FAKE_MSPTI": fake, "FAKE_ASCEND": "", **env}
        if library:
            e["LD_PRELOAD"] = os.path.join(FAKES, library)
        r = subprocess.run([program, self.dir + "/out", *words, *([device] if device else [])], capture_output=True,
                           text=True, env=e, timeout=120)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        return r.stdout

    def said(self, out, kind):
        return re.findall(rf"^{kind}: (.*)$", out, re.M)

    def export(self, out):
        path = self.said(out, "ended")[-1]
        prof = path if os.path.basename(path).startswith("PROF_") else glob.glob(path + "/PROF_*")[0]
        r = subprocess.run([ASCOPE, "export", "all", "-dir", prof, "--quiet", "--dialect", "current"], capture_output=True, text=True)
        self.assertIn(r.returncode, (0, 3), r.stdout + r.stderr)
        return prof, r

    def rows(self, prof, name):
        found = glob.glob("%s/mindstudio_profiler_output/%s_*.csv" % (prof, name))
        if not found:
            return []
        with open(found[0], newline="") as f:
            return list(csv.DictReader(f))


class Everything(Case):
    def test_what_was_reported_is_in_the_results(self):
        prof, done = self.export(self.record("layout=prof", "mstx=on"))
        self.assertEqual(done.returncode, 0, done.stderr)
        ops = self.rows(prof, "op_summary")
        kernels = [r for r in ops if not r["Op Name"].startswith("hcom_")]
        self.assertEqual(len(kernels), 10)
        self.assertEqual({r["OP Type"] for r in kernels}, {"Add", "MatMulV3"})
        self.assertEqual({r["Task Type"] for r in kernels}, {"KERNEL_AICORE"})
        self.assertEqual(sorted(round(1000 * float(r["Task Duration(us)"])) for r in kernels), list(range(1000, 1010)))
        totals = {r["OP Type"]: (int(float(r["Count"])), float(r["Total Time(us)"])) for r in self.rows(prof, "communication_statistic")}
        self.assertEqual(totals, {"hcom_allReduce_": (4, 2.8)})
        with sqlite3.connect(glob.glob(prof + "/msprof_*.db")[0]) as db:
            text = dict(db.execute("SELECT id, value FROM STRING_IDS"))
            self.assertEqual(db.execute("SELECT count(*) FROM TASK").fetchone(), (19,))
            groups = db.execute("SELECT groupName, dataType, count FROM COMMUNICATION_OP").fetchall()
            self.assertEqual({(text[g], t, n) for g, t, n in groups}, {("hccl_world_group", 4, 1024)})
            calls = {text[n] for n, in db.execute("SELECT DISTINCT name FROM CANN_API")}
            self.assertIn("aclrtLaunchKernel", calls)
        marks = [r for r in self.rows(prof, "msprof_tx") if r["message"] == "a range of the vendor"]
        self.assertEqual(len(marks), 5)
        with open(glob.glob(prof + "/mindstudio_profiler_output/msprof_[0-9]*.json")[0]) as f:
            events = json.load(f)
        names = [e["name"] for e in events if e["ph"] == "X"]
        self.assertEqual((names.count("Memcpy HtoD"), names.count("Memset")), (3, 2))
        processes = {e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertLessEqual({"Ascend Hardware", "Communication", "CANN"}, processes)
        flows = [e for e in events if e.get("cat") == "HostToDevice"]
        self.assertEqual(sum(e["ph"] == "f" for e in flows), 10)

    def test_the_report_says_what_it_is(self):
        prof, _ = self.export(self.record("layout=prof", "mstx=on"))
        out = subprocess.run([ASCOPE, "info", prof], capture_output=True, text=True).stdout
        self.assertIn("recorded by MSPTI", out)
        self.assertNotIn("GPU", out)

    def test_records_of_another_device(self):
        prof, _ = self.export(self.record("layout=prof", "mstx=on", fake=EVERYTHING + " device=5"))
        self.assertTrue(os.path.isdir(prof + "/device_5"))
        self.assertEqual(len([r for r in self.rows(prof, "op_summary") if r["Op Name"].startswith("aclnn")]), 10)

    def test_twice(self):
        out = self.record("layout=prof", "mstx=on", "twice")
        self.assertEqual(len(self.said(out, "ended")), 2)
        prof, _ = self.export(out)
        self.assertEqual(len(self.rows(prof, "op_summary")), 14)


class Trouble(Case):
    def test_one_line_each_and_the_host_is_recorded(self):
        for fake, library, line in (
                ("error=msptiSubscribe:2", "lib64/libmspti.so", "another tool (torch.profiler, msMonitor) uses MSPTI in this process"),
                ("error=msptiActivityEnable:6:2", "lib64/libmspti.so", "libmspti.so was not preloaded"),
                ("error=msptiActivityEnable:4:2", "lib64/libmspti.so", "the device is offline"),
                ("error=msptiActivityRegisterCallbacks:1", "lib64/libmspti.so", "invalid parameter"),
                ("hang=msptiSubscribe", "lib64/libmspti.so", "msptiSubscribe did not return within 1 s")):
            with self.subTest(fake=fake):
                out = self.record("layout=prof", "mstx=on", fake=EVERYTHING + " " + fake, library=library, ASCOPE_ASCEND_LIMIT_S="1")
                lines = self.said(out, "warning") + self.said(out, "error")
                self.assertEqual(len([l for l in lines if line in l]), 1, out)
                prof, _ = self.export(out)
                self.assertEqual(self.rows(prof, "op_summary"), [])
                self.assertEqual(len(self.rows(prof, "msprof_tx")), 3)

    def test_without_the_library_or_its_functions_it_cannot_be_named(self):
        for library, line in ((None, "libmspti.so is not loaded in this process; start the program with LD_PRELOAD=libmspti.so"),
                              ("broken/libmspti.so", "libmspti.so has no msptiActivityGetNextRecord")):
            with self.subTest(library=library):
                out = self.record("layout=prof", "mstx=on", library=library, code=1)
                self.assertIn(line, out)

    def test_an_older_release_reports_less(self):
        out = self.record("layout=prof", "mstx=on", fake=EVERYTHING + " error=msptiActivityEnable:1:9", library="older/lib64/libmspti.so")
        self.assertEqual(self.said(out, "warning"), [])
        prof, _ = self.export(out)
        self.assertEqual(sum(int(float(r["Count"])) for r in self.rows(prof, "communication_statistic")), 4)
        out = self.record("layout=prof", "mstx=on", fake=EVERYTHING + " error=msptiActivityEnable:1:1", library="older/lib64/libmspti.so")
        self.assertEqual(self.said(out, "warning"), ["device mspti: not recorded: marks (invalid parameter)"])

    def test_a_flush_that_hangs_keeps_the_host(self):
        out = self.record("layout=prof", "mstx=on", fake=EVERYTHING + " hang=msptiActivityFlushAll", ASCOPE_ASCEND_LIMIT_S="1")
        self.assertEqual(len([w for w in self.said(out, "warning") if "msptiActivityFlushAll did not return within 1 s" in w]), 1, out)
        prof, _ = self.export(out)
        self.assertEqual(len(self.rows(prof, "msprof_tx")), 3)

    def test_full_buffers_are_reported(self):
        out = self.record("layout=prof", "mstx=on", fake="kernels=700000 full")
        self.assertEqual(len([w for w in self.said(out, "warning") if "all buffers were full" in w]), 1, out)
        prof, done = self.export(out)
        self.assertEqual(done.returncode, 3)
        self.assertLess(len(self.rows(prof, "op_summary")), 700000)

    def test_many_records_are_kept(self):
        out = self.record("layout=prof", "mstx=on", fake="kernels=300000")
        prof, done = self.export(out)
        self.assertEqual((done.returncode, self.said(out, "warning")), (0, []))
        self.assertEqual(len(self.rows(prof, "op_summary")), 300000)

    def test_damaged_records_are_counted(self):
        out = self.record("layout=prof", "mstx=on", fake="kernels=10 damaged")
        self.assertEqual(len([w for w in self.said(out, "warning") if "2 records cannot be used" in w]), 1, out)
        prof, done = self.export(out)
        self.assertEqual(len(self.rows(prof, "op_summary")), 10)
        self.assertEqual(done.returncode, 3)

    def test_late_records_belong_to_no_session(self):
        prof, _ = self.export(self.record("layout=prof", "mstx=on", fake=EVERYTHING + " late"))
        self.assertEqual(len(self.rows(prof, "op_summary")), 14)


class Choice(Case):
    def test_aclprof_is_preferred_where_a_directory_is_written(self):
        out = self.record("acl", "layout=prof", "mstx=on", device="device=auto")
        with open(self.said(out, "path")[-1] + "/ascope.json") as f:
            self.assertEqual(json.load(f)["device"], "ascend")

    def test_a_flight_recorder_has_the_npu_by_mspti(self):
        out = self.record("flight", "acl", "mstx=on", device="device=auto", fake=EVERYTHING + " periodic")
        self.assertEqual(self.said(out, "warning"), [])
        prof, _ = self.export(out)
        self.assertEqual(len(self.rows(prof, "op_summary")), 14)

    def test_a_flight_recorder_without_it_says_why(self):
        out = self.record("flight", "acl", device="device=auto", library=None)
        warnings = self.said(out, "warning")
        self.assertEqual(len(warnings), 1)
        self.assertIn("flight recorder: device ascend writes its own files, and libmspti.so is not loaded", warnings[0])
        self.assertIn("recording the host only", warnings[0])


class Run(Case):
    @unittest.skipIf(IS_SAMPLE, "the library has the sanitizers of this tree, and sleep does not")
    def test_a_program_that_is_linked_with_acl(self):
        e = {**os.environ, "ASCEND_HOME_PATH": FAKES, "FAKE_MSPTI": EVERYTHING + " periodic",
             "LD_PRELOAD": FAKES + "/lib64/libascendcl.so"}
        r = subprocess.run([ASCOPE, "run", "--device", "mspti", "--out", self.dir, "--host-sys", "none", "sleep", "0.5"],
                           capture_output=True, text=True, env=e, timeout=120)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        with_npu = glob.glob(self.dir + "/PROF_*/device_0")
        self.assertEqual(len(with_npu), 1, r.stdout + r.stderr)
        prof = os.path.dirname(with_npu[0])
        subprocess.run([ASCOPE, "export", "all", "-dir", prof, "--quiet", "--dialect", "current"], check=True)
        self.assertEqual(len(self.rows(prof, "op_summary")), 14)

    def test_without_the_library_a_line_says_so(self):
        e = {**os.environ, "ASCEND_HOME_PATH": self.dir}
        r = subprocess.run([ASCOPE, "run", "--device", "mspti", "--out", self.dir, "--host-sys", "none", "true"],
                           capture_output=True, text=True, env=e, timeout=120)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        self.assertEqual(r.stderr.count("libmspti.so is not found"), 1, r.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
