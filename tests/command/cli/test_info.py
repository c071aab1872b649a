#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ascope info`: what a collection contains, without writing anything.

usage: test_info.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import re
import shutil
import sys
import unittest

from cli_case import Case, cut


class Info(Case):
    def test_says_what_is_there_and_writes_nothing(self):
        path = self.sample()
        before = sorted(os.listdir(path))
        text = self.ascope("info", path, code=0).stdout
        for part in ["Ascend910B", "node-11", "device counter 50 MHz", "host counter 100 MHz", "python3 (20480)"]:
            self.assertIn(part, text)
        self.assertRegex(text, r"api_event\.data +32 KiB +812 records")
        self.assertEqual(sorted(os.listdir(path)), before)

    def test_for_machines(self):
        r = json.loads(self.ascope("info", self.sample(), "--json", code=0).stdout)
        folders = {f["name"]: f for f in r["collections"][0]["folders"]}
        self.assertEqual(list(folders), ["host", "device_0"])
        self.assertEqual(folders["device_0"]["clock_shift_ns"], 20000)  # the sample's cntvct_diff
        self.assertEqual(folders["host"]["wall_drift_ns"], -975)  # its wall clock is read in microseconds
        streams = {s["family"]: s for s in folders["device_0"]["streams"]}
        self.assertEqual(streams["stars_soc.data"]["records"], 554)
        self.assertIsNone(streams["hccs.data"]["records"])

    def test_missing_and_deleted_slices(self):
        path = self.sample()
        data = os.path.join(path, "device_0/data")
        os.rename(f"{data}/hbm.data.0.slice_0", f"{data}/hbm.data.0.slice_3")
        shutil.copy(f"{data}/hbm.data.0.slice_3", f"{data}/hbm.data.0.slice_6")
        text = self.ascope("info", path, code=3).stdout
        self.assertIn("2 slices are missing", text)
        self.assertIn("3 older slices were deleted", text)

    def test_every_chip_by_name_and_what_can_be_read_of_it(self):
        for i, (chip, product) in enumerate([("A3", "A3 (910_93)"), ("910", "(910)"), ("310P", "(310P)"), ("310B", "(310B)"), ("310", "310"),
                                             ("950", "950"), ("MDC", "MDC"), ("MDC-mini", "MDC mini")]):
            path = self.ascope("sim", "--chip", chip, "--kernels", "3", "--seed", str(i), code=0).stdout.strip()
            text = self.ascope("info", path, code=0).stdout
            self.assertRegex(text, r"device_0: \w+, .*%s.*, platform \d+" % re.escape(product))
            self.assertIn("its tasks can be read; everything else that is known can be read", text)

    def test_half_of_it_broken(self):
        path = self.sample(broken=[("device_0/info.json.0", lambda b: b"{")])
        r = self.ascope("info", path, code=3)
        self.assertIn("device_0: cannot be used", r.stdout)
        self.assertIn("api_event.data", r.stdout)

    def test_all_of_it_broken(self):
        path = self.sample()
        os.remove(f"{path}/host/info.json")
        os.remove(f"{path}/device_0/info.json.0")
        r = self.ascope("info", path, code=3)
        self.assertEqual(r.stdout.count("cannot be used"), 2)

    def test_interrupted(self):
        path = self.sample()
        whole = json.loads(self.ascope("info", path, "--json", code=0).stdout)["collections"][0]["folders"]
        for f in glob.glob(glob.escape(path) + "/*/end_info*"):
            os.remove(f)
        cut = json.loads(self.ascope("info", path, "--json", code=0).stdout)["collections"][0]["folders"]
        for a, b in zip(whole, cut):
            self.assertTrue(a["has_end"] and not b["has_end"])
            self.assertTrue(b["begin_ns"] < b["end_ns"] <= a["end_ns"], (a["end_ns"], b["end_ns"]))
        text = self.ascope("info", path, code=0).stdout
        self.assertEqual(text.count("(interrupted: until the last record)"), len(cut))
        self.assertNotIn("30 min", text)
        for f in glob.glob(glob.escape(path) + "/host/data/*"):
            os.remove(f)
        self.assertIn("(interrupted: the end is unknown)", self.ascope("info", path, code=0).stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
