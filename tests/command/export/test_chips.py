#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every family of files on every chip is read, or reported as a loss: nothing is passed over in silence.

usage: test_chips.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE = ROOT = None
PLATFORMS = ["0", "1", "2", "3", "4", "5", "7", "8", "9", "11", "15", "16", "99", "10000"]
A_MEMBER = {"compact.*": "compact.new_info", "additional.*": "additional.new_info", "*-CpuUsage.data": "7-CpuUsage.data",
            "*-Memory.data": "7-Memory.data", "DATA_PREPROCESS.*": "DATA_PREPROCESS.NEW", "dvpp.*": "dvpp.vdec",
            "instr.*": "instr.group_0_aic", "Framework.*": "Framework.task_desc_info", "AclModule.*": "AclModule.acl_op",
            "HCCL.hcom_*": "HCCL.hcom_send_1_1_1", "runtime.*": "runtime.api", "instr.biu_perf_group*": "instr.biu_perf_group0_aic"}
HOST = ("api_event.data", "compact.", "additional.", "variable.", "host_")
NO_REPORT = {"compact.memset_info", "compact.mem_mng_info", "compact.stream_sq_info", "additional.Multi_Thread",
             "additional.memory_application", "additional.diagnostic", "additional.ccu_task_info"}


def run(*args):
    return subprocess.run([ASCOPE, *args], capture_output=True, text=True, timeout=120)


def families():
    with open(os.path.join(ROOT, "src/raw/family.c")) as f:
        table = re.search(r"families\[\] = \{\n(.*?)\n\};", f.read(), re.S)[1]
    names = re.findall(r'^    \{ "([^"]+)"', table, re.M)
    return [A_MEMBER.get(n, n) for n in names] + ["nobody.data"]


class Chips(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope-chips-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.assertEqual(run("sim", "--out", self.dir, "--kernels", "40").returncode, 0)
        self.prof = glob.glob(os.path.join(self.dir, "PROF_*"))[0]

    def change(self, name, pattern, new):
        path = os.path.join(self.prof, name)
        with open(path) as f:
            text, n = re.subn(pattern, new, f.read())
        self.assertGreater(n, 0, name)
        with open(path, "w") as f:
            f.write(text)

    def be(self, platform):
        for name in ("host/info.json", "device_0/info.json.0"):
            self.change(name, r'"platform_version":"\d+"', '"platform_version":"%s"' % platform)

    def sample_cores(self, mode):
        for name in ("host/sample.json", "device_0/sample.json"):
            self.change(name, r'"ai_core_profiling_mode":"[^"]*"', '"ai_core_profiling_mode":"%s"' % mode)

    def add_all_families(self):
        n = 0
        os.remove(os.path.join(self.prof, "device_0/data/dvpp.data.0.slice_0"))  # it would be read instead of the newer ones
        for family in families():
            is_host = family.startswith(HOST)
            name = "%s/data/%s%s.slice_0" % ("host" if is_host else "device_0", family, "" if is_host else ".0")
            if is_host and not family.startswith("host_"):
                name = name.replace("data/", "data/unaging." if family.startswith("variable.") else "data/aging.", 1)
            path = os.path.join(self.prof, name)
            if not os.path.exists(path):
                with open(path, "wb") as f:
                    f.write(bytes(1024))
                n += 1
        self.assertGreater(n, 20)

    def streams(self):
        """-> {folder/family: is read}, as `info` foretells and as an export reports it"""
        reported = json.loads(run("info", "--json", self.prof).stdout)["collections"][0]
        foretold = {}
        for folder in reported["folders"]:
            for s in folder["streams"]:
                key = folder["name"] + "/" + s["family"]
                foretold[key] = foretold.get(key, True) and s["read"]
        shown = run("export", "timeline", "-v", "-dir", self.prof, "--out", os.path.join(self.dir, "out")).stdout
        found, folder = {}, None
        for line in shown.splitlines():
            m = re.match(r"  read from (\S+)$", line)
            folder = m[1] if m else folder if line.startswith("    ") else None
            if folder and not m:
                key = folder + "/" + re.sub(r"^unaging\.", "", line.split()[0])
                found[key] = found.get(key, True) and "not read by this version" not in line
        return foretold, found

    def test_every_family_on_every_chip_is_read_or_reported(self):
        self.add_all_families()
        never, read = set(), {}
        for mode in ("task-based", "sample-based"):
            self.sample_cores(mode)
            for platform in PLATFORMS:
                self.be(platform)
                with self.subTest(platform=platform, mode=mode):
                    foretold, found = self.streams()
                    self.assertGreater(len(found), len(families()))
                    self.assertEqual({k for k in found if found[k] != foretold.get(k)}, set())
                    self.assertEqual(foretold.keys(), found.keys())
                    unread = {k for k, is_read in found.items() if not is_read}
                    r = run("export", "timeline", "--json", "-dir", self.prof, "--out", os.path.join(self.dir, "out"))
                    losses = {l["reason"]: l for l in json.loads(r.stdout)["collections"][0]["losses"]}
                    self.assertEqual(losses["unread"]["count"], len(unread))
                    self.assertEqual(r.returncode, 3)
                    never = never & unread if never else unread
                    read[platform] = {k for k, is_read in found.items() if is_read}
        self.assertLessEqual(read["99"], read["9"])  # a chip that is known by name only fares no worse than an unknown one
        self.assertEqual({k.split("/")[1] for k in never},
                         {"nobody.data", "compact.new_info", "additional.new_info",
                          "nano_stars_profile.data", "instr.group_0_aic", "DATA_PREPROCESS.NEW", "Framework.task_desc_info",
                          "AclModule.acl_op", "HCCL.hcom_send_1_1_1", "runtime.api"})

    def test_a_chip_whose_tasks_are_not_read_keeps_everything_else(self):
        tables = {}
        for platform in ("5", "9", "99"):
            self.be(platform)
            out = os.path.join(self.dir, "out" + platform)
            r = run("export", "summary", "-dir", self.prof, "--out", out)
            self.assertEqual(r.returncode, 0 if platform == "5" else 3)
            if platform != "5":
                self.assertRegex(r.stderr, r"^ascope: .*platform %s .*stars_soc\.data.*exported\n$" % platform)
            files = glob.glob(os.path.join(out, "PROF_*", "mindstudio_profiler_output", "*.csv"))
            tables[platform] = {re.sub(r"_\d{14}.csv", "", os.path.basename(f)) for f in files}
        sampled = {"hbm", "llc_read_write", "pcie", "hccs", "nic", "roce", "npu_mem", "npu_module_mem"}
        for platform, found in tables.items():
            self.assertLessEqual(sampled, found, platform)
            self.assertEqual("task_time" in found, platform == "5")

    def test_everything_is_exported_on_every_chip(self):
        for chip in ("910", "310", "310P", "310B", "A2", "A3", "MDC", "Tiny", "MDC-mini", "950"):
            with self.subTest(chip=chip), tempfile.TemporaryDirectory(dir=self.dir) as job:
                prof = run("sim", "--chip", chip, "--kernels", "40", "--samplers=off", "--out", job).stdout.strip()
                self.assertEqual(run("export", "summary", "-dir", prof).returncode, 0)
                rows = {}
                for table in ("op_summary", "task_time"):
                    with open(glob.glob(prof + "/mindstudio_profiler_output/%s_*.csv" % table)[0]) as f:
                        rows[table] = len(f.readlines()) - 1
                self.assertGreaterEqual(rows["op_summary"], 40)  # and the operators of graphs and collectives
                self.assertGreaterEqual(rows["task_time"], rows["op_summary"])

    def test_what_no_report_shows_is_no_loss(self):
        for name in NO_REPORT:
            with open(os.path.join(self.prof, "host/data/aging.%s.slice_0" % name), "wb") as f:
                f.write(bytes(512))
        r = run("export", "timeline", "-v", "-dir", self.prof, "--out", os.path.join(self.dir, "out"))
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        self.assertNotIn("not read", r.stdout)
        self.assertEqual(r.stdout.count("no report shows it"), len(NO_REPORT))


if __name__ == "__main__":
    ASCOPE, ROOT = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
    unittest.main()
