#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that use CUDA, recorded by `ascope run` without a change, with stand-ins for CUDA (tests/fakes/fake_cuda).

usage: test_cuda_run.py ASCOPE PLAIN_CUDA FAKE_CUDA LIBASCOPE
"""
import csv
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE, PROGRAM, FAKES, LIBRARY = (os.path.abspath(p) for p in sys.argv[1:5])
KNOWN = ("ASCEND_", "ASCOPE_", "FAKE_", "CUDA_", "NVTX_", "LOCAL_RANK", "RANK", "LD_LIBRARY_PATH")


class Run(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="ascope-cuda-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def run_it(self, *words, options=("--device", "cuda"), fake="", code=0, **env):
        e = {k: v for k, v in os.environ.items() if not k.startswith(KNOWN)}
        e.update({"CUDA_HOME": FAKES, "FAKE_CUDA": fake, "ASCOPE_CUDA_LIBRARY": LIBRARY, **env})
        done = subprocess.run([ASCOPE, "run", "--host-sys", "none", "--out", self.folder, *options, "--", PROGRAM, *words],
                              capture_output=True, text=True, env=e, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def kernels(self):
        """Names of kernels and how many there are, by collection with a GPU."""
        out = []
        for path in sorted(glob.glob(self.folder + "/PROF_*/device_?")):
            table = glob.glob(os.path.dirname(path) + "/mindstudio_profiler_output/op_summary_*.csv")
            with open(table[0]) as f:
                names = [row["Op Name"] for row in csv.DictReader(f)]
            out.append((set(names), len(names)))
        return sorted(out, key=str)

    def test_kernels_and_calls_of_an_unchanged_program(self):
        done = self.run_it("kernels=5")
        self.assertNotIn("warning", done.stderr)
        self.assertEqual(self.kernels(), [({"plain_kernel"}, 5)])
        statistic = glob.glob(self.folder + "/PROF_*/mindstudio_profiler_output/api_statistic_*.csv")
        with open(statistic[0]) as f:
            self.assertEqual({row["API Name"]: row["Count"] for row in csv.DictReader(f)}, {"cudaLaunchKernel": "5"})
        with open(glob.glob(self.folder + "/PROF_*/device_0/info.json.0")[0]) as f:
            self.assertIn("Fake GPU 0", f.read())  # known when it ends
        self.assertEqual(glob.glob(self.folder + "/*_record"), [])

    def test_its_exit_status_is_its_own(self):
        self.run_it("kernels=2", "status=7", code=7)
        self.assertEqual(self.kernels(), [({"plain_kernel"}, 2)])

    def test_a_program_whose_first_gpu_is_not_the_first(self):
        self.run_it("kernels=5", "device=1", fake="devices=2 active=1")
        self.assertEqual([os.path.basename(p) for p in glob.glob(self.folder + "/PROF_*/device_?")], ["device_1"])
        self.assertEqual(self.kernels(), [({"plain_kernel"}, 5)])

    def test_one_that_is_used_stays_though_nothing_ran_on_it(self):
        self.run_it("kernels=5", "device=1", fake="devices=2 active=0")
        self.assertEqual({os.path.basename(p) for p in glob.glob(self.folder + "/PROF_*/device_?")}, {"device_0", "device_1"})

    def ranges(self):
        out = []
        for path in glob.glob(self.folder + "/PROF_*/mindstudio_profiler_output/msprof_tx_*.csv"):
            with open(path) as f:
                out += [row["message"] for row in csv.DictReader(f)]
        return out

    def test_ranges_of_nvtx(self):
        self.run_it("kernels=2", "nvtx")
        self.assertEqual(self.ranges(), ["all kernels"])

    def test_another_tool_of_nvtx_is_left_alone(self):
        for how in ("environment", "option"):
            with self.subTest(how=how):
                variable = "NVTX_INJECTION64_PATH=/nowhere/other.so"
                if how == "option":
                    self.run_it("kernels=2", "nvtx", options=("--device", "cuda", "--env", variable))
                else:
                    self.run_it("kernels=2", "nvtx", NVTX_INJECTION64_PATH="/nowhere/other.so")
                self.assertEqual(self.ranges(), [])

    def test_each_process_has_a_collection(self):
        self.run_it("kernels=5", "children=2", "fork", "worker")
        self.assertEqual(self.kernels(), [({"forked_kernel"}, 5), ({"plain_kernel"}, 1), ({"plain_kernel"}, 2), ({"plain_kernel"}, 5)])

    def test_killed_it_leaves_what_was_recorded(self):
        self.run_it("kernels=5", "kill", code=128 + 9)
        self.assertEqual(self.kernels(), [({"plain_kernel"}, 5)])

    def test_a_program_that_uses_cupti_itself(self):
        done = self.run_it("kernels=5", "cupti")
        self.assertEqual(len(re.findall("another profiler uses CUPTI in this process", done.stderr)), 1, done.stderr)
        self.assertEqual(self.kernels(), [])

    def test_another_injection_is_left_alone(self):
        for how in ("environment", "option"):
            with self.subTest(how=how):
                if how == "option":
                    done = self.run_it("kernels=5", options=("--device", "cuda", "--env", "CUDA_INJECTION64_PATH=/nowhere/other.so"))
                else:
                    done = self.run_it("kernels=5", CUDA_INJECTION64_PATH="/nowhere/other.so")
                self.assertIn("CUDA_INJECTION64_PATH=/nowhere/other.so is set already; GPUs are not recorded", done.stderr)
                self.assertEqual(self.kernels(), [])

    def test_ranks_with_gpus_are_a_job(self):
        for rank in range(2):
            self.run_it(f"kernels={4 + rank}", RANK=str(rank), WORLD_SIZE="2")
        done = subprocess.run([ASCOPE, "cluster", self.folder, "-m", "all,verdicts,compute_op_sum", "--export-type", "text", "--json"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        ranks = json.loads(done.stdout)["job_ranks"]
        self.assertEqual([(r["rank"], r["source"]) for r in ranks], [(0, "db"), (1, "db")])  # directories of the host alone are no ranks
        with open(glob.glob(self.folder + "/cluster_analysis_output/ComputeOpSum/rank_stats_by_optype.csv")[0]) as f:
            self.assertEqual({(row["Rank"], row["Count"]) for row in csv.DictReader(f)}, {("0", "4"), ("1", "5")})
        with open(self.folder + "/cluster_analysis_output/cluster_step_trace_time.csv") as f:
            self.assertEqual([row["Index"] for row in csv.DictReader(f)], ["0", "1"])

    def test_other_devices_and_no_library(self):
        done = self.run_it("kernels=5", options=("--device", "none"))
        self.assertNotIn("GPUs", done.stderr)
        done = self.run_it("kernels=5", ASCOPE_CUDA_LIBRARY="/nowhere/libascope.so")
        self.assertIn("libascope.so is not installed with this ascope", done.stderr)
        done = self.run_it("kernels=5", options=("--device", "cuda", "--duration", "5"))
        self.assertIn("GPUs are not recorded with a delay, a duration or interactively", done.stderr)
        self.assertEqual(self.kernels(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
