#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged, unreadable and newer data: every loss is counted, placed, and changes the exit status.

usage: ../hostile/test_losses.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import unittest

from cli_case import ASCOPE, BROKEN, Case, cut


class Losses(Case):
    def test_losses_are_counted_placed_and_give_3(self):
        path = self.sample(broken=BROKEN)
        r = self.ascope("export", "all", "-dir", path, code=3)
        self.assertRegex(r.stdout, r"1 records? cut short, first: device_0/data/stars_soc\.data\.0\.slice_0:\d+")
        self.assertTrue(any("op_summary" in f for f in self.written(path)))
        self.assertEqual(r.stderr, "")

    def test_holes_of_files_are_skipped_and_counted(self):
        """A terabyte that was never written, in a file of records, of text, and in the middle of one."""
        path = self.sample()
        (text,) = glob.glob(os.path.join(glob.escape(path), "host/data/*hash_dic*slice_0"))
        for file, behind in ("device_0/data/hbm.data.0.slice_0", False), ("device_0/data/stars_soc.data.0.slice_0", True), (text, False):
            full = os.path.join(path, file)
            with open(full, "rb+") as f:
                data = f.read()
                f.truncate(1 << 40)
                if behind:  # again the same records, which begin there
                    f.seek(1 << 40)
                    f.write(data)
        r = json.loads(self.ascope("export", "all", path, "--json", code=3).stdout)
        losses = {x["reason"]: x for x in r["collections"][0]["losses"]}
        self.assertEqual(losses["holes"]["count"], 3)
        self.assertIn(": bytes ", losses["holes"]["file"])
        self.assertTrue(losses["holes"]["damage"])

    def test_a_damaged_end_does_not_fill_the_disk(self):
        """A collection of sampled cores that says it took a day: what is repeated every millisecond has an end."""
        path = os.path.join(self.dir, self.ascope("sim", "--sample-based", "--kernels", "5", code=0).stdout.strip())
        end = os.path.join(path, "device_0/end_info.0")
        with open(end) as f:
            info = json.load(f)
        info["collectionTimeEnd"] = str(int(info["collectionTimeEnd"]) + 86400 * 10**6)
        with open(end, "w") as f:
            json.dump(info, f)
        self.ascope("export", "timeline", "-dir", path, "--quiet")
        (timeline,) = glob.glob(os.path.join(glob.escape(path), "mindstudio_profiler_output/msprof_2*.json"))
        self.assertLess(os.path.getsize(timeline), 100 * 10**6)

    def test_a_record_of_a_kind_that_nobody_reads_is_counted(self):
        """Several readers share this file, and each passes over what is not its own."""
        track = "device_0/data/ts_track.data.0.slice_0"

        def others(path):
            r = json.loads(self.ascope("export", "db", path, "--json").stdout)
            return [(x["count"], x["file"]) for x in r["collections"][0]["losses"] if x["reason"] == "other_kind"]

        before = sum(n for n, _ in others(self.sample()))
        after = others(self.sample("PROF_2", broken=[(track, lambda data: data[:1] + b"\xee" + data[2:])]))
        self.assertEqual(sum(n for n, _ in after), before + 1)
        if before == 0:
            self.assertEqual([file for _, file in after], [track])

    def test_losses_for_machines(self):
        r = json.loads(self.ascope("export", "db", self.sample(broken=BROKEN), "--json", code=3).stdout)
        self.assertEqual(r["exit_code"], 3)
        loss = [x for x in r["collections"][0]["losses"] if x["damage"]]
        self.assertEqual([(x["reason"], x["count"]) for x in loss], [("cut_short", 1)])
        self.assertEqual(loss[0]["file"], "device_0/data/stars_soc.data.0.slice_0")

    def test_one_of_two_collections_is_broken(self):
        self.sample("PROF_1")
        self.sample("PROF_2", broken=[("host/info.json", lambda b: b"{"), ("device_0/info.json.0", lambda b: b"{")])
        r = self.ascope("export", "db", "-dir", ".", code=3)
        self.assert_one_line(r.stderr, "PROF_2", "info.json")
        self.assertEqual([bool(self.written(os.path.join(self.dir, p))) for p in ["PROF_1", "PROF_2"]], [True, False])
        r = json.loads(self.ascope("export", "db", "-dir", ".", "--json", code=3).stdout)
        self.assertIn("info.json", r["collections"][1]["error"])

    def test_a_folder_that_cannot_be_used_is_a_loss(self):
        path = self.sample(broken=[("host/start_info", lambda b: b"")])
        r = self.ascope("export", "db", "-dir", path, code=3)
        self.assertIn("host/start_info", r.stdout)

    def test_nothing_left_gives_1(self):
        path = self.sample(broken=[("host/start_info", lambda b: b""), ("device_0/start_info.0", lambda b: b"")])
        self.assert_one_line(self.ascope("export", "all", "-dir", path, code=1).stderr, "start_info")

    def as_nobody(self, *args):
        """Root may do everything; these tests need someone who may not."""
        someone = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        if someone and not shutil.which("setpriv"):
            self.skipTest("root, and no setpriv to become someone else")
        os.chmod(self.dir, 0o755)
        program = shutil.copy(ASCOPE, os.path.join(self.dir, "ascope"))
        return subprocess.run([*someone, program, *args], capture_output=True, text=True, cwd=self.dir)

    def test_a_file_that_may_not_be_read_is_a_loss(self):
        path, out = self.sample(), os.path.join(self.dir, "out")
        os.chmod(os.path.join(path, "device_0/data/hbm.data.0.slice_0"), 0)
        os.mkdir(out)
        os.chmod(out, 0o777)
        r = self.as_nobody("export", "db", "-dir", path, "--out", out)
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertIn("hbm.data.0.slice_0", r.stdout)

    def test_a_place_that_may_not_be_written_gives_1(self):
        path = self.sample()
        os.chmod(path, 0o555)
        r = self.as_nobody("export", "db", "-dir", path)
        os.chmod(path, 0o755)
        self.assertEqual(r.returncode, 1, r.stdout)
        self.assert_one_line(r.stderr, path, "ermission")

    def test_a_directory_that_may_not_be_read_gives_1(self):
        path = self.sample()
        os.chmod(path, 0)
        for command in ["export", "info", "why", "advise", "cluster", "view"]:
            r = self.as_nobody(command, path)
            self.assertEqual(r.returncode, 1, command + r.stdout)
            self.assert_one_line(r.stderr, path, "ermission")
        os.chmod(path, 0o755)

    def test_settings_that_may_not_be_read_are_not_called_missing(self):
        path = self.ascope("sim", "--framework", "pt", "--kernels", "0", "--operators", "50", code=0).stdout.strip()
        subprocess.run(["chmod", "-R", "a+rX", os.path.join(self.dir, path)], check=True)
        os.chmod(glob.glob(os.path.join(glob.escape(self.dir), path, "profiler_info*.json"))[0], 0)
        r = self.as_nobody("analyse", path)
        self.assertEqual(r.returncode, 1, r.stdout)
        self.assert_one_line(r.stderr, "profiler_info", "cannot be read: Permission denied; ask its owner")

    def test_a_rank_that_may_not_be_read_is_left_out(self):
        job = os.path.join(self.dir, "job")
        self.ascope("sim", "--out", job, "--framework", "pt", "--ranks", "3", "--steps", "4", "--kernels", "300", code=0)
        subprocess.run(["chmod", "-R", "a+rX", job], check=True)
        closed = os.path.join(job, sorted(os.listdir(job))[1])
        os.chmod(closed, 0)
        for words in ["why"], ["advise"], ["compare", job], ["cluster", "-m", "all", "-o", os.path.join(self.dir, "out")]:
            os.makedirs(os.path.join(self.dir, "out"), exist_ok=True)
            os.chmod(os.path.join(self.dir, "out"), 0o777)
            r = self.as_nobody(*words, job)
            self.assertEqual(r.returncode, 3, words[0] + r.stderr)
            self.assertIn("%s: cannot be read: Permission denied" % closed, r.stderr)
        os.chmod(closed, 0o755)


class Newer(Case):
    """What is newer than this version: a line says so, and what can be exported is."""
    def sim(self):
        return os.path.join(self.dir, self.ascope("sim", "--kernels", "9", "--steps", "1", code=0).stdout.strip())

    def sim_with(self, old, new):
        path = self.sim()
        for folder, name in (("host", "info.json"), ("device_0", "info.json.0")):
            with open(os.path.join(path, folder, name), "r+") as f:
                text = f.read().replace(old, new)
                f.seek(0)
                f.truncate()
                f.write(text)
        return path

    def test_a_chip_that_nobody_knows(self):
        path = self.sim_with('"platform_version":"5"', '"platform_version":"99"')
        r = self.ascope("export", "all", "-dir", path, code=3)
        self.assert_one_line(r.stderr, "platform 99", "device_0: ffts_profile.data, stars_soc.data;")
        for table in ("api_statistic", "hbm", "npu_mem", "step_trace"):
            self.assertIn(table, r.stdout + " ".join(os.listdir(os.path.join(path, "mindstudio_profiler_output"))))
        text = self.ascope("info", path, code=0).stdout
        self.assertIn("its tasks cannot be read by this version; 2 streams cannot be read", text)
        self.assertRegex(text, "stars_soc.data .*not read by this version")

    def test_a_version_that_nobody_knows(self):
        path = self.sim_with('"version":"1.0"', '"version":"3.7"')
        self.assert_one_line(self.ascope("export", "timeline", "-dir", path, code=3).stderr, "version 3.7", "1.0 and 2.0")

    def test_longer_records(self):
        path = self.sim()
        name = os.path.join(path, "device_0/data/stars_soc.data.0.slice_0")
        before = self.ascope("export", "db", "-dir", path, "--json", code=0).stdout
        with open(name, "rb") as f:
            data = f.read()
        with open(name, "wb") as f:
            f.write(b"".join(data[i:i + 64] + bytes(8) for i in range(0, len(data), 64)))
        r = json.loads(self.ascope("export", "db", "-dir", path, "--json", code=3).stdout)["collections"][0]
        self.assertEqual(r["counts"], json.loads(before)["collections"][0]["counts"])
        self.assertIn("newer", str(r["losses"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
