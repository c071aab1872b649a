#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters of GPUs, several GPUs, and libraries that hang or crash, by stand-ins (tests/fakes/fake_cuda): no GPU is needed.

usage: test_cuda_counters.py ASCOPE RECORD_CUDA FAKE_CUDA
"""
import csv
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ASCOPE, RECORDER, FAKES = (os.path.abspath(p) for p in sys.argv[1:4])
SAMPLE_BYTES = 80
ENV = {k: v for k, v in os.environ.items()
       if not k.startswith(("ASCEND_", "ASCOPE_", "FAKE_", "CUDA_", "LOCAL_RANK", "RANK", "LD_LIBRARY_PATH"))}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="ascope-cuda-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def record(self, *words, fake="", code=0, nvml=True, **env):
        e = {**ENV, "CUDA_HOME": FAKES, "FAKE_CUDA": fake, **env}
        if nvml:
            e["LD_LIBRARY_PATH"] = os.path.join(FAKES, "lib64")
        done = subprocess.run([RECORDER, os.path.join(self.folder, "out"), *words], capture_output=True, text=True, env=e, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.said = lambda kind: re.findall(rf"^{kind}: (.*)$", done.stdout, re.M)
        self.path = self.said("path")[-1] if self.said("path") else None

    def analyse(self, *args, code=0):
        done = subprocess.run([ASCOPE, "analyse", "-q", *args, self.path], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.out = os.path.join(self.path, "ASCEND_PROFILER_OUTPUT")

    def rows(self, name):
        with open(os.path.join(self.out, name)) as f:
            return list(csv.DictReader(f))

    def events(self):
        with open(os.path.join(self.out, "trace_view.json")) as f:
            return json.load(f)


class Counters(Case):
    def test_table_and_timeline(self):
        self.record("kernels=2", "samples=3")
        self.analyse()
        rows = self.rows("gpu_counters.csv")
        self.assertGreaterEqual(len(rows), 3)
        want = {"SM Clock(MHz)": "1980", "Memory Clock(MHz)": "3201", "Power(W)": "350.5", "Temperature(C)": "40", "GPU Load(%)": "87",
                "Memory Load(%)": "35", "Memory Used(MB)": "1024.000", "Memory Total(MB)": "144384.000"}
        for row in rows:
            self.assertEqual({k: row[k] for k in want}, want)
        rates = ("PCIe Tx(MB/s)", "PCIe Rx(MB/s)", "NVLink Tx(MB/s)", "NVLink Rx(MB/s)")
        self.assertEqual([rows[0][k] for k in rates], ["N/A"] * 4)  # of nothing before
        for k in rates:
            self.assertGreater(float(rows[1][k]), 0)
        self.assertAlmostEqual(float(rows[1][rates[2]]) / float(rows[1][rates[0]]), 1024, delta=200)  # counted in KiB
        counters = {}
        for e in self.events():
            if e["ph"] == "C":
                counters.setdefault(e["name"], []).append(e["args"])
        self.assertEqual((counters["SM Clock"][0], counters["Power"][0], counters["Memory Used"][0]), ({"MHz": 1980}, {"W": 350.5}, {"MB": 1024}))
        self.assertEqual((len(counters["SM Clock"]), len(counters["PCIe"])), (len(rows), len(rows) - 1))
        self.assertEqual(set(counters["PCIe"][0]), {"Tx(MB/s)", "Rx(MB/s)"})

    def test_database(self):
        self.record("kernels=2", "samples=2", "export_type=db")
        self.analyse()
        with sqlite3.connect(glob.glob(self.out + "/ascend_pytorch*.db")[0]) as db:
            rows = db.execute("SELECT smClock, power, temperature, memoryUsed, memoryTotal FROM GPU_COUNTERS").fetchall()
        self.assertGreaterEqual(len(rows), 2)
        self.assertEqual(set(rows), {(1980, 350500, 40, 1 << 30, 141 << 30)})

    def test_an_older_driver(self):
        self.record("kernels=2", "samples=1", fake="old_nvml")
        self.analyse()
        row = self.rows("gpu_counters.csv")[0]
        self.assertEqual([row[k] for k in ("Power(W)", "PCIe Tx(MB/s)", "PCIe Rx(MB/s)", "NVLink Tx(MB/s)")], ["111.5", "0.977", "1.953", "N/A"])

    def test_what_the_gpu_does_not_report_is_missing_and_the_rest_is_there(self):
        self.record("kernels=2", "samples=1", fake="error=nvmlDeviceGetTemperature:3")
        self.analyse()
        row = self.rows("gpu_counters.csv")[0]
        self.assertEqual((row["Temperature(C)"], row["SM Clock(MHz)"]), ("N/A", "1980"))
        self.assertNotIn("Temperature", {e["name"] for e in self.events()})

    def test_without_nvml_there_are_none_and_no_message(self):
        for nvml, fake in ((False, ""), (True, "error=nvmlInit_v2:9")):
            with self.subTest(fake=fake):
                self.record("kernels=2", nvml=nvml, fake=fake)
                self.assertEqual(self.said("warning"), [])
                self.analyse()
                self.assertFalse(os.path.exists(self.out + "/gpu_counters.csv"))

    def test_damage_is_counted(self):
        self.record("kernels=2", "samples=2")
        path = glob.glob(self.path + "/PROF_*/device_0/data/ascope_gpu.data.*slice_0")[0]
        with open(path, "rb") as f:
            whole = f.read()
        n = len(whole) // SAMPLE_BYTES
        for what, data in (("cut short", whole[:-5]), ("magic", b"\0" + whole[1:])):
            with self.subTest(what=what):
                with open(path, "wb") as f:
                    f.write(data)
                shutil.rmtree(self.path + "/ASCEND_PROFILER_OUTPUT", ignore_errors=True)
                self.analyse(code=3)
                self.assertEqual(len(self.rows("gpu_counters.csv")), n - 1)


class Several(Case):
    def test_each_gpu_has_its_kernels_and_counters(self):
        self.record("kernels=3", "gpus=2", "samples=2", fake="devices=2")
        self.analyse()
        kernels = [(row["Device_id"], row["Name"].split("<")[0]) for row in self.rows("kernel_details.csv")]
        self.assertEqual(sorted(kernels), [("0", "void mulKernel")] * 3 + [("1", "add_kernel")] * 3)
        self.assertEqual({(row["Device_id"], row["Temperature(C)"]) for row in self.rows("gpu_counters.csv")}, {("0", "40"), ("1", "41")})
        labels = {e["args"]["labels"] for e in self.events() if e["name"] == "process_labels"}
        self.assertEqual(labels, {"CPU", "GPU 0", "GPU 1"})
        self.assertEqual({row["Name"]: row["Device Total Duration(us)"] for row in self.rows("operator_details.csv")},
                         {"aten::mul": "15.0", "aten::add": "15.0"})
        steps = self.rows("step_trace_time.csv")
        self.assertEqual({row["Device_id"] for row in steps}, {"0", "1"})


class Hanging(Case):
    """A limit of a second: what hangs is given up, what was recorded until then is there, and the program goes on."""

    def test_at_stop_what_was_recorded_is_there(self):
        for call in ("cuptiActivityFlushAll", "cuptiFinalize"):
            with self.subTest(call=call):
                self.record("kernels=5", "wait", fake=f"hang={call}", ASCOPE_CUDA_LIMIT_S="1")
                self.assertEqual(len(self.said("warning")), 1)
                self.assertRegex(self.said("warning")[0], rf"^device cuda: {call} did not return within 1 s; what CUPTI has not reported")
                self.analyse()
                self.assertEqual(len(self.rows("kernel_details.csv")), 5)

    def test_it_is_not_used_again(self):
        self.record("kernels=5", "twice", fake="hang=cuptiFinalize", ASCOPE_CUDA_LIMIT_S="1")
        self.assertEqual(len(self.said("path")), 2)
        self.assertIn("cuptiFinalize did not return within 1 s earlier; not used again in this process", " ".join(self.said("note") + self.said("warning")))
        self.analyse()
        self.assertFalse(os.path.exists(self.out + "/kernel_details.csv"))
        self.assertEqual([row["Name"] for row in self.rows("operator_details.csv")], ["aten::mul"])

    def test_at_start_the_host_is_recorded_alone(self):
        for call in ("cuptiSubscribe", "cuDeviceGetCount", "cuptiGetTimestamp"):
            with self.subTest(call=call):
                self.record("kernels=5", fake=f"hang={call}", ASCOPE_CUDA_LIMIT_S="1")
                self.assertIn(f"{call} did not return within 1 s", " ".join(self.said("warning") + self.said("note")))
                self.assertEqual(len(self.said("path")), 1)

    def test_nvml(self):
        for call in ("nvmlInit_v2", "nvmlDeviceGetFieldValues"):
            with self.subTest(call=call):
                self.record("kernels=5", "wait", "twice", fake=f"hang={call}", ASCOPE_CUDA_LIMIT_S="1")
                self.assertEqual(len(self.said("warning")), 1)
                self.assertRegex(self.said("warning")[0], rf"^device cuda: {call} did not return within 1 s; counters of the GPU are incomplete")
                self.analyse()
                self.assertEqual(len(self.rows("kernel_details.csv")), 5)

    def test_a_crash_leaves_what_was_recorded(self):
        self.record("kernels=5", "wait", fake="crash=cuptiActivityFlushAll", code=-signal.SIGSEGV)
        subprocess.run([ASCOPE, "recover", self.path], check=True, capture_output=True)
        self.analyse()
        self.assertEqual(len(self.rows("kernel_details.csv")), 5)


class Doctor(Case):
    def checks(self, fake, **env):
        e = {**ENV, "CUDA_HOME": FAKES, "FAKE_CUDA": fake, "LD_LIBRARY_PATH": os.path.join(FAKES, "lib64"), **env}
        done = subprocess.run([ASCOPE, "doctor", "--json"], capture_output=True, text=True, env=e, timeout=120)
        return {c["name"]: c for c in json.loads(done.stdout)["checks"] if c["area"] == "devices"}

    def test_the_libraries_are_found(self):
        found = self.checks("devices=2")
        self.assertEqual((found["NVIDIA GPUs"]["state"], found["NVIDIA GPUs"]["fact"]), ("ok", "2"))
        self.assertEqual(found["libnvidia-ml.so.1"]["state"], "ok")
        self.assertIn("GPUs: 2", found["libnvidia-ml.so.1"]["fact"])

    def test_nvml_that_does_not_answer(self):
        found = self.checks("error=nvmlInit_v2:9")
        self.assertEqual(found["libnvidia-ml.so.1"]["state"], "missing")
        self.assertIn("nvmlInit_v2: error 9", found["libnvidia-ml.so.1"]["fact"])
        self.assertEqual(found["NVIDIA GPUs"]["state"], "ok")

    def test_a_library_that_crashes_or_hangs_does_no_harm(self):
        for how, words in (("crash", "cuDeviceGetCount crashed (Segmentation fault)"), ("hang", "cuDeviceGetCount did not return")):
            with self.subTest(how=how):
                found = self.checks(f"{how}=cuDeviceGetCount", ASCOPE_CUDA_LIMIT_S="1")
                self.assertEqual(found["NVIDIA GPUs"]["state"], "missing")
                self.assertIn(words, found["NVIDIA GPUs"]["fact"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
