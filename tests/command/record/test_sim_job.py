#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program on the simulated NPU, recorded and analysed: what it launched is what the tables show.

usage: test_sim_job.py ASCOPE SIM_JOB
"""
import collections
import csv
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE, SIM_JOB = "", ""
TYPES = ["MatMulV2", "Add", "FlashAttentionScore", "SoftmaxV2", "MyOwn"]


class Job(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ascope-job-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, level, launches, sessions=1, **env):
        command = [SIM_JOB, self.folder, str(level), str(launches), str(sessions)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **env})

    def run_job(self, *args, **env):
        job = self.start(*args, **env)
        paths = job.communicate(timeout=300)[0].split()
        self.assertEqual(job.returncode, 0)
        return [self.analysed(path) for path in paths]

    def analysed(self, path):
        done = subprocess.run([ASCOPE, "analyse", path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return pathlib.Path(path)

    def table(self, path, name):
        file = path / "ASCEND_PROFILER_OUTPUT" / name
        with open(file, newline="", encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    def kernels(self, path):
        return [row for row in self.table(path, "kernel_details.csv") if "hcom" not in row["Name"]]

    def test_ranks_without_space_for_their_file_go_on_alone(self):
        small = 'mount -t tmpfs -o size=64k none /dev/shm || exit 77; exec "$@"'
        if not shutil.which("unshare") or \
                subprocess.run(["unshare", "-rm", "sh", "-c", small, "sh", "true"], capture_output=True).returncode != 0:
            self.skipTest("no namespace for a small /dev/shm")
        ranks = {"RANK": "40", "WORLD_SIZE": "64", "ASCOPE_SIM_TIMEOUT_MS": "200"}
        job = subprocess.run(["unshare", "-rm", "sh", "-c", small, "sh", SIM_JOB, self.folder, "1", "20"],
                             capture_output=True, text=True, env={**os.environ, **ranks}, timeout=300)
        self.assertEqual(job.returncode, 0, job.stderr)
        self.assertIn("rank 40 continues alone", job.stderr)
        self.assertIn("No space left on device", job.stderr)

    def test_every_launch_is_a_row_at_every_level(self):
        for level in range(3):
            with self.subTest(level=level):
                path, = self.run_job(level, 200)
                rows = self.kernels(path)
                self.assertEqual(len(rows), 200)
                self.assertTrue(all(float(row["Duration(us)"]) > 0 for row in rows))
                if level == 0: # has no statistics
                    continue
                calls = {row["API Name"]: int(row["Count"]) for row in self.table(path, "api_statistic.csv")}
                self.assertEqual(calls["launch"], 200)
                self.assertEqual(calls["aclnnAdd"], 40)
                self.assertEqual(calls["aclnnMyOwn"], 40)
                self.assertEqual("StreamSynchronize" in calls, level == 2)
                types = collections.Counter(row["Type"] for row in rows)
                self.assertEqual(types, {name: 40 for name in TYPES})
                self.assertEqual(sum(row["Name"].startswith("kernel ") for row in rows), 29)
                self.assertTrue(all(row["Input Shapes"].strip('"') == "64,64;64,64" for row in rows))
                collectives = [row for row in self.table(path, "kernel_details.csv") if "hcom" in row["Name"]]
                self.assertEqual(len(collectives), 20)

    def test_level_none_has_no_tasks(self):
        path, = self.run_job(3, 20)
        self.assertFalse((path / "ASCEND_PROFILER_OUTPUT/kernel_details.csv").exists())

    def test_counters_are_there_where_the_level_has_them(self):
        path, = self.run_job(1, 50)
        for row in self.kernels(path):
            on_cubes = row["Type"] in ("MatMulV2", "FlashAttentionScore")
            self.assertGreater(float(row["aicore_time(us)" if on_cubes else "aiv_time(us)"]), 0)
            self.assertLessEqual(float(row["aicore_time(us)"]), float(row["Duration(us)"]))

    def test_numbers_of_tasks_begin_again(self):
        path, = self.run_job(0, 90000)
        rows = self.kernels(path)
        self.assertEqual(len(rows), 90000)
        names = collections.Counter(row["Name"] for row in rows)
        for i in range(0, 90000, 7): # none was taken for another one of the same number
            self.assertEqual(names[f"kernel {i}"], 1)
        self.assertEqual(len(names), len(range(0, 90000, 7)) + len(TYPES))

    def test_one_session_after_the_other(self):
        paths = self.run_job(1, 30, 3)
        self.assertEqual(len(paths), 3)
        for path in paths:
            self.assertEqual(len(self.kernels(path)), 30)

    def test_memory_is_on_record(self):
        path, = self.run_job(0, 20)
        block, = self.table(path, "operator_memory.csv")
        self.assertEqual(float(block["Size(KB)"]), 1024)
        self.assertGreater(float(block["Duration(us)"]), 0)

    def test_it_says_that_it_is_simulated(self):
        path, = self.run_job(0, 5)
        self.assertTrue(json.loads((path / "ascope.json").read_text())["simulated"])
        reported = subprocess.run([ASCOPE, "info", path], capture_output=True, text=True).stdout
        self.assertIn("simulated device sim", reported)

    def test_the_clock_of_the_device_is_corrected(self):
        path, = self.run_job(1, 300, ASCOPE_SIM_DRIFT_PPM="400")
        device, = json.loads((path / "ascope.json").read_text())["devices"]
        info, = path.glob("PROF_*/device_0/info.json.0")
        mhz = float(json.loads(info.read_text())["DeviceInfo"][0]["hwts_frequency"])
        self.assertAlmostEqual(mhz, device["mhz"], places=6)
        stamps = [json.loads(next(path.glob(f"PROF_*/device_0/{which}_info.0")).read_text())["clockMonotonicRaw"]
                  for which in ("start", "end")]
        unsure_ns = device["start_uncertainty_ns"] + device["stop_uncertainty_ns"]
        if mhz != 50: # a collection that was too short to tell keeps the nominal frequency
            self.assertAlmostEqual(device["drift_ppm"], 400, delta=2 * unsure_ns * 1e6 / (int(stamps[1]) - int(stamps[0])))

    def ranks(self):
        jobs = [self.start(1, 100, RANK=str(i), LOCAL_RANK=str(i), WORLD_SIZE="2", ASCOPE_SIM_JOB=str(self.folder))
                for i in range(2)]
        paths = [job.communicate(timeout=300)[0].strip() for job in jobs]
        self.assertEqual([job.returncode for job in jobs], [0, 0])
        return [self.analysed(path) for path in paths]

    def test_ranks_have_devices_and_collectives_of_their_own(self):
        for rank, path in enumerate(self.ranks()):
            self.assertTrue(list(path.glob(f"PROF_*/device_{rank}")))
            rows = [row for row in self.table(path, "kernel_details.csv") if "hcom" in row["Name"]]
            self.assertEqual(len(rows), 10)
            communication = json.loads((path / "ASCEND_PROFILER_OUTPUT/communication.json").read_text())
            self.assertIn("AllReduce".lower(), str(communication).lower())

    def job_file(self, name):
        high = low = 0
        for byte in name.encode():
            high, low = (high * 29 + byte) % 2**32, (low * 131 + byte) % 2**32
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp"
        return f"{place}/ascope-sim-{os.geteuid()}-{high << 32 | low:016x}"

    def test_what_others_put_in_its_place_does_not_hold_up_a_job(self):
        path = self.job_file(str(self.folder))
        with open(path, "w") as file:
            self.addCleanup(os.unlink, path)
            fcntl.flock(file, fcntl.LOCK_EX) # for as long as the test runs
            for owner in [os.geteuid()] + ([12345] if os.geteuid() == 0 else []):
                os.chown(path, owner, -1)
                session, = self.run_job(1, 20, RANK="0", WORLD_SIZE="2", ASCOPE_SIM_JOB=str(self.folder))
                self.assertEqual(len(self.kernels(session)), 20)
        self.assertEqual(os.path.getsize(path), 0)

    def test_a_file_that_has_another_name_is_left_alone(self):
        path = self.job_file(str(self.folder))
        with open(path, "w") as file:
            self.addCleanup(os.unlink, path)
            file.write("precious")
        os.chmod(path, 0o600)
        os.link(path, path + ".own")
        self.addCleanup(os.unlink, path + ".own")
        self.run_job(1, 20, RANK="0", WORLD_SIZE="2", ASCOPE_SIM_JOB=str(self.folder))
        with open(path + ".own") as file:
            self.assertEqual(file.read(), "precious")


if __name__ == "__main__":
    ASCOPE, SIM_JOB = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1], verbosity=2)
