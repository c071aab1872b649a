#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recording on NVIDIA GPUs, by libraries of ours in the place of CUPTI and the driver (tests/fakes/fake_cuda): no GPU is needed.

usage: test_cuda.py ASCOPE RECORD_CUDA FAKE_CUDA
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

from unsealed import unseal

ASCOPE, RECORDER, FAKES = (os.path.abspath(p) for p in sys.argv[1:4])
RECORD_BYTES = 112
MUL = "void mulKernel<float>(float*, int)"


class Run:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def said(self, kind):
        return re.findall(rf"^{kind}: (.*)$", self.out, re.M)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="ascope-cuda-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def record(self, *words, fake="", code=0, **env):
        known = ("ASCEND_", "ASCOPE_", "FAKE_", "CUDA_", "LOCAL_RANK", "RANK", "LD_LIBRARY_PATH")
        e = {k: v for k, v in os.environ.items() if not k.startswith(known)}
        e.update({"CUDA_HOME": FAKES, "FAKE_CUDA": fake, **env})
        done = subprocess.run([RECORDER, os.path.join(self.folder, "out"), *words], capture_output=True, text=True, env=e, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return Run(done)

    def ascope(self, *args, code=0):
        done = subprocess.run([ASCOPE, *args], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def analysed(self, run, *args, code=0):
        path = run.said("path")[-1]
        self.ascope("analyse", "-q", *args, path, code=code)
        return os.path.join(path, "ASCEND_PROFILER_OUTPUT")

    def rows(self, out, name):
        with open(os.path.join(out, name)) as f:
            return list(csv.DictReader(f))

    def events(self, out):
        with open(os.path.join(out, "trace_view.json")) as f:
            return json.load(f)

    def facts(self, run):
        with open(os.path.join(run.said("path")[-1], "ascope.json")) as f:
            return json.load(f)

    def raw(self, run):
        return glob.glob(run.said("path")[-1] + "/PROF_*/device_0/data/ascope_cuda.data.*slice_0")[0]


class Tables(Case):
    def test_kernels_of_a_replay_have_the_operator_of_the_capture(self):
        for words, known in ((("captures", "graph=3"), True), (("captures-late", "graph=3"), True), (("graph=3",), False)):
            with self.subTest(words=words):
                r = self.record("kernels=1", "mstx=1", *words)
                self.assertEqual((r.said("warning"), r.said("watched")), ([], ["1"] if known else []))
                out = self.analysed(r)
                rows = [row for row in self.rows(out, "kernel_details.csv") if row["Name"] == "graph_kernel"]
                shown = [[row.get("Captured " + c) for c in ("Operator", "Module", "Input Shapes")] for row in rows]
                self.assertEqual(shown, [["aten::addmm", "Model.layers.0", "8;\n8,4"] if known else [None] * 3] * 3)
                args = [e["args"] for e in self.events(out) if e.get("name") == "graph_kernel"]
                self.assertEqual([(a.get("operator"), a.get("module")) for a in args],
                                 [("aten::addmm", "Model.layers.0") if known else (None, None)] * 3)
                ops = {row["Name"]: row for row in self.rows(out, "operator_details.csv")}
                self.assertEqual("aten::addmm" in ops, known)
                unknown = "of 3 kernels of replayed graphs 3 (100.0 % of their time) have no operator"
                self.assertEqual(unknown in self.ascope("why", r.said("path")[-1]).stdout, not known)
                if known:
                    op = ops["aten::addmm"]
                    self.assertEqual((float(op["Host Total Duration(us)"]), float(op["Device Self Duration(us)"])), (0, 3))
                    self.assertIn("model.py(7): forward;\nserve.py(3): main", op["Call Stack"])
                    self.assertNotIn("aten::linear", ops)  # what encloses it launches nothing itself

    def test_captures_are_not_watched_beside_another_profiler(self):
        r = self.record("captures", "graph=1", fake="error=cuptiSubscribe:39", code=0)
        self.assertEqual(r.said("watched"), ["0"])
        self.assertIn("captured graphs: cuptiSubscribe: error 39", r.said("warning")[0])

    def test_kernels_have_their_names_times_and_sizes(self):
        r = self.record("kernels=5")
        self.assertEqual((r.said("warning"), r.said("note"), self.facts(r)["device"]), ([], [], "cuda"))
        rows = self.rows(self.analysed(r), "kernel_details.csv")
        self.assertEqual([row["Name"] for row in rows], [MUL] * 5)
        wanted = {"Type": "mulKernel", "Accelerator Core": "GPU", "Duration(us)": "5.000", "Stream ID": "7", "Model ID": "N/A",
                  "Grid": "16,2,1", "Block": "128,1,1", "Registers Per Thread": "40", "Static Shared Memory(B)": "1024",
                  "Dynamic Shared Memory(B)": "2048", "Theoretical Occupancy(%)": "75.00", "Input Shapes": "N/A", "Graph ID": "0"}
        self.assertEqual({name: rows[0][name] for name in wanted}, wanted)
        self.assertEqual(len({row["Correlation ID"] for row in rows}), 5)

    def test_statistics_of_kernels_and_of_the_calls_that_matter(self):
        out = self.analysed(self.record("kernels=5", "copies=2", "driver"))
        self.assertEqual([(row["OP Type"], row["Count"], row["Total Time(us)"]) for row in self.rows(out, "op_statistic.csv")],
                         [("mulKernel", "5", "25.0"), ("graph_kernel", "1", "1.0")])
        # not the questions (cudaGetDevice), and not the driver's part of a call of the runtime
        self.assertEqual({row["API Name"]: row["Count"] for row in self.rows(out, "api_statistic.csv")},
                         {"cudaLaunchKernel": "5", "cudaMemcpyAsync": "2", "cudaMemsetAsync": "2", "cuLaunchKernel": "1",
                          "cudaStreamSynchronize": "1"})

    def test_operators_have_the_time_of_what_their_thread_launched(self):
        rows = {row["Name"]: row["Device Total Duration(us)"]
                for row in self.rows(self.analysed(self.record("kernels=5", "threads")), "operator_details.csv")}
        self.assertEqual(rows, {"aten::mul": "25.0", "aten::first": "3.0", "aten::second": "3.0"})

    def test_copies_and_sets(self):
        rows = self.rows(self.analysed(self.record("kernels=1", "copies=2")), "gpu_copies.csv")
        wanted = [("HtoD", "Pinned", "1048576", "20.000", "52.429"), ("Set", "N/A", "1048576", "20.000", "52.429")] * 2
        self.assertEqual([(row["Kind"], row["From"], row["Size(B)"], row["Duration(us)"], row["Bandwidth(GB/s)"]) for row in rows], wanted)
        self.assertEqual({(row["To"], row["To Device"], row["Stream ID"]) for row in rows}, {("Device", "N/A", "7")})
        self.assertEqual(len({row["Correlation ID"] for row in rows}), 4)
        begins = [float(row["Start Time(us)"].strip()) for row in rows]
        self.assertEqual(begins, sorted(begins))
        self.assertNotIn("gpu_copies.csv", os.listdir(self.analysed(self.record("kernels=1"))))

    def test_copies_to_another_gpu(self):
        (row,) = self.rows(self.analysed(self.record("kernels=1", "peers=1")), "gpu_copies.csv")
        self.assertEqual((row["Kind"], row["From"], row["To"], row["To Device"], row["Graph ID"]), ("PtoP", "Device", "Device", "1", "0"))

    def test_a_launch_as_compilers_write_it_is_one_call(self):
        out = self.analysed(self.record("kernels=2", "compiled"))
        self.assertEqual({row["API Name"]: row["Count"] for row in self.rows(out, "api_statistic.csv")},
                         {"cudaLaunchKernel": "3", "cudaStreamSynchronize": "1"})

    def test_streams_have_numbers_of_32_bits(self):
        """Streams whose low 16 bits are equal are two."""
        for stream in (65536 + 7, 4294967295):
            with self.subTest(stream=stream):
                out = self.analysed(self.record("kernels=2", "copies=1", f"stream={stream}", "export_type=text,db"))
                self.assertEqual({row["Stream ID"] for row in self.rows(out, "kernel_details.csv")}, {str(stream)})
                self.assertEqual({row["Stream ID"] for row in self.rows(out, "gpu_copies.csv")}, {"7"})
                events = self.events(out)
                tasks = {(e["pid"], e["tid"]): e["args"]["stream"] for e in events if e["ph"] == "X" and "correlation" in e["args"]}
                names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name" and (e["pid"], e["tid"]) in tasks}
                # what overlaps is on a second track of the stream: its kernels run while the next ones are launched
                self.assertEqual({at: name.removesuffix(" (2)") for at, name in names.items()}, {at: f"Stream {n}" for at, n in tasks.items()})
                self.assertLessEqual({7, stream}, {tid for _, tid in names})
                for cat in ("HostToDevice", "async_gpu"):
                    self.assertLessEqual({(e["pid"], e["tid"]) for e in events if e["ph"] == "f" and e.get("cat") == cat}, set(tasks))
                with sqlite3.connect(glob.glob(out + "/ascend*.db")[0]) as db:
                    self.assertEqual(db.execute("SELECT streamId, count(*) FROM TASK GROUP BY 1 ORDER BY 1").fetchall(), [(7, 2), (stream, 2)])

    def test_a_gpu_that_waits_for_its_host_is_found_without_steps(self):
        path = self.record("kernels=5", "threads").said("path")[-1]
        advice = {one["check"]: one for one in json.loads(self.ascope("advise", "--json", path).stdout)["advice"]}
        # One long pause of a slow host is named by itself; the rest of what the device waits for is free time.
        self.assertTrue({"free_time", "unrecorded"} & set(advice), advice)
        if "free_time" in advice:
            self.assertRegex(advice["free_time"]["found"], r"nothing to do for [\d.]+ (us|ms|s) in all")
            self.assertIn("CUDA graphs", advice["free_time"]["change"])
        self.assertRegex(self.ascope("view", path, "--export", "-").stdout, r"No steps were recorded: of \S+ \S+ computing \S+ us, communication 0 ns, free \S+ \S")

    def test_reports_have_the_name_of_the_gpu(self):
        r = self.record("kernels=1")
        path = r.said("path")[-1]
        self.assertIn("CUDA device 0 (Fake GPU 0)\n", self.ascope("analyse", path).stdout)
        self.assertIn("device_0: CUDA, Fake GPU 0, platform", self.ascope("info", path).stdout)
        unseal(path)
        info = glob.glob(path + "/PROF_*/device_0/info.json.0")[0]
        with open(info) as f:
            text = f.read()
        with open(info, "w") as f:
            f.write(text.replace("Fake GPU 0", r"\u001b[2JGPU"))
        for command in "analyse", "info":
            self.assertIn("?[2JGPU", self.ascope(command, path).stdout)
        json.loads(self.ascope("info", "--json", path).stdout)

    def test_words_are_those_of_gpus(self):
        out = self.analysed(self.record("kernels=2", "copies=1"))
        names = {e["args"]["name"] for e in self.events(out) if e["name"] == "process_name"}
        labels = {e["args"]["labels"] for e in self.events(out) if e["name"] == "process_labels"}
        self.assertEqual((names, labels), ({"Python", "CUDA", "GPU", "Overlap Analysis"}, {"CPU", "GPU"}))
        for name in os.listdir(out):
            with open(os.path.join(out, name)) as f:
                self.assertIsNone(re.search(r"\bNPU|\bCANN|AI_?Core|Ascend ", f.read()), name)

    def test_databases(self):
        out = self.analysed(self.record("kernels=3", "export_type=db"))
        with sqlite3.connect(glob.glob(out + "/*.db")[0]) as db:
            kernels = db.execute("SELECT s.value, count(*) FROM COMPUTE_TASK_INFO c JOIN STRING_IDS s ON s.id = c.name GROUP BY 1").fetchall()
            calls = db.execute("SELECT count(*) FROM TASK t JOIN CANN_API a ON a.connectionId = t.connectionId").fetchall()
        self.assertEqual((kernels, calls), ([(MUL, 3)], [(3,)]))

    def test_operators_of_the_database_are_connected_with_what_they_launched(self):
        out = self.analysed(self.record("kernels=5", "copies=2", "threads", "export_type=db"))
        with sqlite3.connect(glob.glob(out + "/ascend*.db")[0]) as db:
            links = db.execute("""SELECT o.value, k.value, count(*) FROM PYTORCH_API p JOIN CONNECTION_IDS c ON c.id = p.connectionId
                                  JOIN TASK t ON t.connectionId = c.connectionId JOIN COMPUTE_TASK_INFO i ON i.globalTaskId = t.globalTaskId
                                  JOIN STRING_IDS o ON o.id = p.name JOIN STRING_IDS k ON k.id = i.name GROUP BY 1, 2 ORDER BY 1""").fetchall()
        self.assertEqual(links, [("aten::first", "first_kernel", 1), ("aten::mul", MUL, 5), ("aten::second", "second_kernel", 1)])


class Memory(Case):
    """Blocks of PyTorch's allocator on a GPU: its events have the device type of CUDA."""

    def recorded(self, *words):
        return self.record("kernels=1", "blocks=3", "profile_memory=true", *words)

    def test_tables(self):
        out = self.analysed(self.recorded())
        rows = self.rows(out, "memory_record.csv")
        self.assertEqual([(row["Component"], row["Total Allocated(MB)"], row["Total Reserved(MB)"], row["Device Type"]) for row in rows],
                         [("PyTorch", mb, "64.0", "GPU:0") for mb in ("1.0", "2.0", "3.0", "2.0", "1.0")])
        self.assertEqual({(row["Total Active(MB)"], row["Stream Ptr"]) for row in rows}, {("N/A", "N/A")})
        rows = self.rows(out, "operator_memory.csv")
        self.assertEqual([(row["Name"], row["Size(KB)"], row["Allocation Total Allocated(MB)"], row["Release Total Allocated(MB)"],
                           row["Release Total Active(MB)"], bool(row["Release Time(us)"]), row["Device Type"]) for row in rows],
                         [("aten::empty", "1024.0", "1.0", "2.0", "N/A", True, "GPU:0"), ("aten::empty", "1024.0", "2.0", "1.0", "N/A", True, "GPU:0"),
                          ("aten::empty", "1024.0", "3.0", "", "N/A", False, "GPU:0")])
        for name in os.listdir(out):
            with open(os.path.join(out, name)) as f:
                self.assertIsNone(re.search(r"\bNPU|\bCANN|\bPTA|\bGE\b", f.read()), name)

    def test_databases(self):
        out = self.analysed(self.recorded("export_type=db"))
        with sqlite3.connect(glob.glob(out + "/*.db")[0]) as db:
            records = db.execute("SELECT s.value, totalAllocated, totalReserved, totalActive, streamPtr, deviceId FROM MEMORY_RECORD m "
                                 "JOIN STRING_IDS s ON s.id = m.component ORDER BY timestamp").fetchall()
            lives = db.execute("SELECT s.value, size, releaseTime IS NULL, releaseTotalActive, streamPtr FROM OP_MEMORY m "
                               "JOIN STRING_IDS s ON s.id = m.name ORDER BY allocationTime").fetchall()
        self.assertEqual(records, [("PyTorch", n << 20, 64 << 20, None, None, 0) for n in (1, 2, 3, 2, 1)])
        self.assertEqual(lives, [("aten::empty", 1 << 20, is_open, None, None) for is_open in (0, 0, 1)])

    def test_peaks_in_the_summary(self):
        r = self.recorded()
        most = json.loads(self.ascope("analyse", "--json", r.said("path")[0]).stdout)
        text = json.dumps(most)
        self.assertIn('"bytes": %d' % (3 << 20), text)
        self.assertIn('"operator": "aten::empty"', text)

    def test_timeline_by_category(self):
        r = self.recorded("record_shapes=true", "with_modules=true")
        self.ascope("export-memory-timeline", r.said("path")[0], os.path.join(self.folder, "a.json"))
        self.ascope("export-memory-timeline", "--device", "cuda:0", r.said("path")[0], os.path.join(self.folder, "b.json"))
        done = self.ascope("export-memory-timeline", "--device", "cuda:1", r.said("path")[0], os.path.join(self.folder, "c.json"), code=1)
        with open(self.folder + "/a.json") as a, open(self.folder + "/b.json") as b:
            times, sizes = json.load(a)
            self.assertEqual([times, sizes], json.load(b))
        self.assertEqual(sum(sizes[-1]), 1 << 20)  # of what happens in one microsecond the end is shown
        self.assertIn("cuda:0", done.stderr)


class Collectives(Case):
    """Kernels of NCCL are communication."""
    SUM = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    GENERIC = "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)"

    def recorded(self, *words):
        return self.record("kernels=2", "nccl", "msprof_tx=true", *words)

    def shares(self, out):
        """What is computed, and what is communicated while nothing is computed, by ns of kernel_details: kernels may overlap."""
        computed, communicated = set(), set()
        for row in self.rows(out, "kernel_details.csv"):
            begin = int(row["Start Time(us)"].strip().replace(".", ""))
            into = communicated if row["Name"].startswith("nccl") else computed
            into.update(range(begin, begin + int(row["Duration(us)"].replace(".", ""))))
        return len(computed) / 1000, len(communicated - computed) / 1000

    def test_they_are_no_computing(self):
        out = self.analysed(self.recorded())
        times = self.rows(out, "step_trace_time.csv")[0]
        self.assertEqual((float(times["Computing"]), float(times["Communication(Not Overlapped)"])), self.shares(out))
        self.assertEqual([(row["Name"], row["Accelerator Core"], row["Duration(us)"]) for row in self.rows(out, "kernel_details.csv")][2:],
                         [(self.SUM, "GPU", "50.000"), (self.GENERIC, "GPU", "50.000")])
        self.assertEqual([(row["OP Type"], row["Count"], row["Total Time(us)"]) for row in self.rows(out, "communication_statistic.csv")],
                         [("AllReduce", "1", "50.0"), ("c10d::gather", "1", "50.0")])
        self.assertNotIn("communication_matrix.json", os.listdir(out))
        self.assertEqual(self.costs(out), {"p2p": {}, "collective": {"AllReduce__0@N/A": (0.05, 0, 0), "c10d::gather__0@tp": (0.05, 0.008192, 0.1638)}})

    def costs(self, out):
        """Of the one step: time, MB and GB/s of each collective, by kind."""
        with open(os.path.join(out, "communication.json")) as f:
            (step,) = json.load(f).values()
        return {kind: {name: (c["Communication Time Info"]["Elapse Time(ms)"], *(c["Communication Bandwidth Info"]["SDMA"][k] for k in
                              ("Transit Size(MB)", "Bandwidth(GB/s)"))) for name, c in of.items() if name != "Total Op Info"} for kind, of in step.items()}

    def test_what_a_backend_says_of_them(self):
        """No marks are needed. A kernel that cannot be of what was said keeps what its name says."""
        r = self.record("kernels=1", "announced", "export_type=text,db")
        out = self.analysed(r)
        self.assertEqual(self.costs(out), {"p2p": {"send__0@group_name_7": (0.05, 1.0, 20.0)},
                                 "collective": {"AllGather__0@group_name_7": (0.05, 0.002, 0.04), "AllGather__1@group_name_7": (0.05, 1.0, 20.0),
                                                "Broadcast__0@N/A": (0.05, 0, 0)}})
        self.assertEqual(self.ascope("info", r.said("path")[0]).stdout.count("lost"), 0)
        with sqlite3.connect(os.path.join(out, "analysis.db")) as db:
            rows = db.execute("SELECT hccl_op_name, group_name, transit_size FROM CommAnalyzerBandwidth WHERE transit_size > 0").fetchall()
        self.assertEqual(sorted(rows), [("AllGather__0", "group_name_7", 0.002), ("AllGather__1", "group_name_7", 1.0), ("send__0", "group_name_7", 1.0)])

    def test_timeline(self):
        events = self.events(self.analysed(self.recorded()))
        self.assertIn("NCCL", {e["args"]["name"] for e in events if e["name"] == "process_name"})
        drawn = {e["name"]: e["args"] for e in events if e["ph"] == "X" and "alg_type" in e["args"]}
        self.assertEqual({name: (a["data_type"], a["alg_type"], a["count"]) for name, a in drawn.items()},
                         {"ncclDevKernel_AllReduce_Sum_f32_RING_LL": ("FP32", "RING-LL", 4294967295),
                          "ncclDevKernel_Generic_4": ("FP16", "N/A", 4096)})
        tracks = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
        self.assertLessEqual({"Communication", "Group tp Communication"}, tracks)

    def test_operators_have_their_time_once(self):
        rows = self.rows(self.analysed(self.recorded()), "operator_details.csv")
        self.assertEqual([(row["Name"], row["Device Total Duration(us)"]) for row in rows], [("aten::mul", "10.0")])

    def test_database(self):
        out = self.analysed(self.recorded("export_type=text,db"))
        with sqlite3.connect(glob.glob(out + "/ascend*.db")[0]) as db:
            rows = db.execute("SELECT n.value, t.value, g.value, endNs - startNs FROM COMMUNICATION_OP o JOIN STRING_IDS n ON n.id = o.opName "
                              "JOIN STRING_IDS t ON t.id = o.opType JOIN STRING_IDS g ON g.id = o.groupName ORDER BY startNs").fetchall()
        self.assertEqual(rows, [("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "AllReduce", "N/A", 50000),
                                ("ncclDevKernel_Generic_4", "c10d::gather", "tp", 50000)])
        with sqlite3.connect(out + "/analysis.db") as db:
            times = db.execute("SELECT computing, communication_not_overlapped FROM StepTraceTime").fetchall()
        self.assertEqual([(round(c, 3), round(n, 3)) for c, n in times], [self.shares(out)])


class Nvtx(Case):
    """Ranges and marks of NVTX are marks."""

    def test_ranges_and_marks_with_their_domains(self):
        r = self.record("kernels=1", "nvtx", "msprof_tx=true")
        self.assertEqual(r.said("nvtx"), ["0 1 1 0 -1"])
        path = r.said("path")[0]
        printed = json.loads(self.ascope("analyse", "--json", path).stdout)
        marks = {e["name"]: e for e in self.events(path + "/ASCEND_PROFILER_OUTPUT") if e.get("args", {}).get("domain") or e["name"] in ("outer", "load")}
        self.assertLessEqual({"outer", "'@inner", "load", "gr\u00fc\u00df"}, set(marks), printed)
        self.assertEqual({name: marks[name]["args"]["domain"] for name in ("outer", "load")}, {"outer": "default", "load": "io"})
        begin = {name: float(marks[name]["ts"][6:]) for name in marks}
        end = {name: begin[name] + float(marks[name].get("dur", 0)) for name in marks}
        self.assertTrue(begin["outer"] <= begin["'@inner"] and end["'@inner"] <= end["outer"], (begin, end))

    def test_a_domain_that_is_excluded(self):
        r = self.record("kernels=1", "nvtx", "msprof_tx=true", "mstx_domain_exclude=io")
        names = {e["name"] for e in self.events(self.analysed(r))}
        self.assertIn("outer", names)
        self.assertNotIn("load", names)

    def test_nothing_is_recorded_without_marks(self):
        self.assertNotIn("outer", {e["name"] for e in self.events(self.analysed(self.record("kernels=1", "nvtx")))})


class MemoryOfCuda(Case):
    """What the program asked CUDA for, and its pools: only with profile_memory."""

    def recorded(self, *words, **options):
        return self.record("kernels=1", "mallocs=2", "profile_memory=true", *words, **options)

    def test_table(self):
        for version, used in ((15, "0.0"), (16, "0.0"), (17, "8192.0"), (24, "8192.0"), (130001, "8192.0")):
            with self.subTest(version=version):
                rows = self.rows(self.analysed(self.recorded(fake=f"version={version}")), "gpu_memory.csv")
                self.assertEqual([(row["Operation"], row["Memory Kind"], row["Size(KB)"], row["Held(KB)"], row["Stream ID"]) for row in rows],
                                 [("Release", "Device", "1024.0", "0.0", "N/A"), ("Allocation", "Device", "1024.0", "1024.0", "N/A"),
                                  ("Allocation", "Device", "1024.0", "2048.0", "N/A"), ("Release", "Device", "1024.0", "1024.0", "N/A"),
                                  ("Allocation", "Device", "1024.0", "2048.0", "7"), ("Pool Trimmed", "N/A", "N/A", "N/A", "N/A")])
                self.assertEqual([(row["Pool"], row["Pool Size(KB)"], row["Pool Used(KB)"]) for row in rows[3:]],
                                 [("N/A", "N/A", "N/A"), ("0x5000", "32768.0", used), ("0x5000", "16384.0", used)])
                self.assertEqual((rows[1]["Address"], rows[1]["Address"] == rows[3]["Address"]), ("0x7000000000", True))

    def test_versions_without_such_records(self):
        for version in (12, 14):
            r = self.recorded(fake=f"version={version}")
            self.assertEqual(r.said("warning"), [])
            self.assertNotIn("gpu_memory.csv", os.listdir(self.analysed(r)))

    def test_not_recorded_without_profile_memory(self):
        r = self.record("kernels=1", "mallocs=2")
        self.assertEqual(glob.glob(r.said("path")[0] + "/PROF_*/device_0/data/ascope_cuda_memory*slice_0"), [])

    def test_counters_of_the_timeline(self):
        events = [e for e in self.events(self.analysed(self.recorded())) if e["ph"] == "C"]
        self.assertEqual([e["args"]["KB"] for e in events if e["name"] == "Device"], [0, 1024, 2048, 1024, 2048])
        self.assertEqual([(e["args"]["Used(KB)"], e["args"]["Size(KB)"]) for e in events if e["name"] == "Pool 0x5000"],
                         [(8192, 32768), (8192, 16384)])

    def test_database(self):
        out = self.analysed(self.recorded("export_type=db"))
        with sqlite3.connect(glob.glob(out + "/*.db")[0]) as db:
            rows = db.execute("SELECT s.value, size, held, poolSize, streamId FROM GPU_MEMORY m JOIN STRING_IDS s ON s.id = m.operation "
                              "ORDER BY timestampNs").fetchall()
        self.assertEqual(rows[1:2] + rows[4:], [("Allocation", 1 << 20, 1 << 20, None, None), ("Allocation", 1 << 20, 2 << 20, 32 << 20, 7),
                                                ("Pool Trimmed", None, None, 16 << 20, None)])

    def test_damage_is_counted_and_the_rest_is_read(self):
        r = self.recorded()
        unseal(r.said("path")[0])
        path = glob.glob(r.said("path")[0] + "/PROF_*/device_0/data/ascope_cuda_memory.data.*slice_0")[0]
        with open(path, "rb") as f:
            whole = f.read()
        for what, at, value, n, code in (("magic", 0, 0xFF, 5, 3), ("operation of a newer version", 2, 77, 5, 0), ("kind", 3, 200, 6, 0)):
            with self.subTest(what=what):
                changed = bytearray(whole)
                changed[80 + at] = value
                with open(path, "wb") as f:
                    f.write(changed)
                shutil.rmtree(r.said("path")[0] + "/ASCEND_PROFILER_OUTPUT", ignore_errors=True)
                self.assertEqual(len(self.rows(self.analysed(r, code=code), "gpu_memory.csv")), n)
                printed = self.ascope("analyse", "--json", r.said("path")[0], code=code).stdout
                self.assertEqual("other_kind" in printed, what.startswith("operation"), printed)


class Timeline(Case):
    def test_flow_events_lead_from_each_call_to_what_it_launched(self):
        events = self.events(self.analysed(self.record("kernels=2", "copies=1", "graph=3")))
        begins = {e["id"]: (e["tid"], e["ts"]) for e in events if e.get("cat") == "HostToDevice" and e["ph"] == "s"}
        ends = {e["id"]: e["ts"] for e in events if e.get("cat") == "HostToDevice" and e["ph"] == "f"}
        calls = {(e["tid"], e["ts"]): e["name"] for e in events if e["ph"] == "X" and e["name"].startswith("Runtime@")}
        tasks = {e["ts"]: e["name"] for e in events if e["ph"] == "X" and "correlation" in e["args"]}
        self.assertEqual(sorted((calls[begins[i]], tasks[ts]) for i, ts in ends.items()),
                         sorted([("Runtime@cudaLaunchKernel", MUL)] * 2 + [("Runtime@cudaGraphLaunch", "graph_kernel")] * 3 +
                                [("Runtime@cudaMemcpyAsync", "Memcpy HtoD (Pinned -> Device)"),
                                 ("Runtime@cudaMemsetAsync", "Memset (Device)")]))

    def test_arguments_of_tasks(self):
        tasks = {e["name"]: e["args"] for e in self.events(self.analysed(self.record("kernels=1", "copies=1", "graph=1")))
                 if e["ph"] == "X" and "correlation" in e["args"]}
        self.assertEqual([(tasks[MUL][k]) for k in ("stream", "registers per thread", "shared memory", "grid", "block",
                                                    "theoretical occupancy %")], [7, 40, 3072, "16,2,1", "128,1,1", 75])
        copy = tasks["Memcpy HtoD (Pinned -> Device)"]
        self.assertEqual((copy["bytes"], round(copy["memory bandwidth (GB/s)"], 3)), (1 << 20, 52.429))
        self.assertEqual((tasks["graph_kernel"]["graph id"], tasks["graph_kernel"]["graph node id"]), (7, 701))

    def test_kernels_begin_inside_their_calls_clock(self):
        """The stand-in's clock is five seconds ahead of the host's, and kernels begin while they are launched."""
        events = self.events(self.analysed(self.record("kernels=20")))
        at = {}
        for e in events:
            if e.get("cat") == "HostToDevice":
                at.setdefault(e["id"], {})[e["ph"]] = float(e["ts"][6:])
        self.assertEqual(len(at), 20)
        for ends in at.values():
            self.assertLess(abs(ends["f"] - ends["s"]), 10000)


class Life(Case):
    def test_without_cuda_in_the_program_the_host_is_recorded(self):
        r = self.record("none")
        self.assertIn("cuda (no library of CUDA is loaded in this process)", r.said("note")[0])

    def test_asked_for_by_name_it_is_an_error_without_a_driver(self):
        r = self.record("none", "device=cuda", CUDA_HOME="/nonexistent", code=1)
        self.assertRegex(r.said("failed")[0], r"device cuda: lib(cupti.so|cuda.so.1) not found")

    def test_a_library_that_is_damaged_is_not_one_that_is_missing(self):
        home = os.path.join(self.folder, "damaged")
        os.makedirs(home + "/lib64")
        shutil.copy(FAKES + "/lib64/libcuda.so.1", home + "/lib64")
        for version in ("", ".13", ".12", ".11.8"):  # under all names, so that one of this machine is not found instead
            with open(f"{home}/lib64/libcupti.so{version}", "w") as f:
                f.write("no library")
        r = self.record("none", "device=cuda", CUDA_HOME=home, LD_LIBRARY_PATH=home + "/lib64", code=1)
        self.assertRegex(r.said("failed")[0], r"device cuda: libcupti.so cannot be loaded: .*damaged/lib64/libcupti.so.*: file too short")

    def test_warm_up_is_not_recorded(self):
        r = self.record("warmup", "kernels=4")
        out = self.analysed(r)
        self.assertEqual([row["Name"] for row in self.rows(out, "kernel_details.csv")], [MUL] * 4)
        self.assertEqual({row["API Name"]: row["Count"] for row in self.rows(out, "api_statistic.csv")}["cudaLaunchKernel"], "4")

    def test_two_sessions_each_have_their_kernels_and_names(self):
        r = self.record("twice", "kernels=3")
        for path in r.said("path"):
            self.ascope("analyse", "-q", path)
            rows = self.rows(path + "/ASCEND_PROFILER_OUTPUT", "kernel_details.csv")
            self.assertEqual([row["Name"] for row in rows], [MUL] * 3)

    def test_many_kernels_in_buffers_that_go_round(self):
        """A hundred thousand records of 216 bytes are more than a buffer holds. How many calls of the host are dropped depends on when
        their writer gets a processor."""
        r = self.record("kernels=100000", "slice_kb=1024")
        self.assertLessEqual({d["what"] for d in self.facts(r)["dropped"]}, {"calls", "operators"})
        out = self.analysed(r)
        with open(out + "/kernel_details.csv") as f:
            self.assertEqual(sum(1 for _ in f) - 1, 100000)

    def test_killed_it_leaves_what_was_recorded(self):
        r = self.record("kernels=50", "kill", code=-signal.SIGKILL)
        path = r.said("path")[0]
        self.ascope("recover", path)
        self.assertEqual(len(self.rows(self.analysed(r), "kernel_details.csv")), 50)

    def test_a_program_that_exits_while_it_records(self):
        self.assertEqual(len(self.rows(self.analysed(self.record("kernels=5", "exit")), "kernel_details.csv")), 5)

    def test_facts_of_the_device(self):
        r = self.record("kernels=1", fake="devices=2")
        with open(glob.glob(r.said("path")[0] + "/PROF_*/device_0/info.json.0")[0]) as f:
            info = json.load(f)
        facts = info["DeviceInfo"][0]
        self.assertEqual((info["platform_version"], facts["gpu_name"], facts["sm_num"], facts["sm_frequency"]), ("10000", "Fake GPU 0", 132, 1980))


class Versions(Case):
    def test_records_of_each_version(self):
        """Behind the end of a shorter record the stand-in has all bits set. Fields and sizes of each are in test_cupti_records.c."""
        for version, node in ((12, 0), (13, 0), (14, 701), (15, 701), (17, 701), (18, 701), (22, 701), (26, 701), (130001, 701)):
            with self.subTest(version=version):
                r = self.record("kernels=2", "copies=1", "graph=2", fake=f"version={version}")
                rows = self.rows(self.analysed(r), "kernel_details.csv")
                self.assertEqual([row["Name"] for row in rows], [MUL] * 2 + ["graph_kernel"] * 2)
                self.assertEqual([row["Duration(us)"] for row in rows], ["5.000"] * 2 + ["1.000"] * 2)
                if node:
                    self.assertEqual((rows[2]["Graph ID"], rows[2]["Graph Node ID"]), ("7", str(node)))
                else:
                    self.assertEqual(rows[2]["Graph ID"], "0")

    def test_too_old(self):
        r = self.record("kernels=2", "device=cuda", fake="version=9", code=1)
        self.assertIn("version 9 is too old", r.said("failed")[0])


class Trouble(Case):
    def test_another_profiler_uses_cupti(self):
        r = self.record("kernels=5", fake="error=cuptiSubscribe:39")
        self.assertIn("another profiler uses CUPTI", r.said("warning")[0])
        self.assertIn("recording the host only", r.said("warning")[0])
        self.assertEqual([row["Name"] for row in self.rows(self.analysed(r), "operator_details.csv")], ["aten::mul"])

    def test_errors_of_cupti(self):
        for call in ("cuptiActivityEnable", "cuptiEnableCallback"):
            with self.subTest(call=call):
                r = self.record("kernels=5", "twice", fake=f"error={call}:999")
                self.assertEqual(len(r.said("warning")), 2)
                self.assertIn("error 999, CUPTI_ERROR_UNKNOWN; recording the host only", r.said("warning")[0])

    def test_errors_of_each_call(self):
        """The program goes on, its host is recorded, and so is what the failing call is not needed for."""
        with_gpu = {"cuptiGetCallbackName", "cuptiUnsubscribe", "cuptiActivityDisable", "cuptiActivityFlushAll", "cuptiFinalize",
                    "cuptiActivityGetNumDroppedRecords", "cuptiGetResultString", "cuDeviceGetName", "cuDeviceGetAttribute",
                    "cuDevicePrimaryCtxGetState", "cuDeviceGetPCIBusId"}
        without_gpu = {"cuptiGetVersion", "cuptiGetTimestamp", "cuptiSubscribe", "cuptiEnableCallback", "cuptiActivityRegisterCallbacks",
                       "cuptiActivityEnable", "cuDeviceGetCount"}
        for call in sorted(with_gpu | without_gpu):
            with self.subTest(call=call):
                r = self.record("kernels=5", "twice", fake=f"error={call}:999")
                self.assertEqual(len(r.said("path")), 2)
                out = self.analysed(r)
                self.assertEqual([row["Name"] for row in self.rows(out, "operator_details.csv")], ["aten::mul"])
                has_kernels = os.path.exists(out + "/kernel_details.csv")
                self.assertEqual(has_kernels, call in with_gpu)
                if has_kernels:
                    self.assertEqual(len(self.rows(out, "kernel_details.csv")), 5)

    def test_functions_that_are_missing(self):
        """A library without one of them: the name in its table of symbols is another."""
        home = os.path.join(self.folder, "cuda")
        os.makedirs(home + "/lib64")
        whole = {}
        for name in ("libcupti.so", "libcuda.so.1"):
            with open(f"{FAKES}/lib64/{name}", "rb") as f:
                whole[name] = f.read()
        for library, call, is_needed in (("libcupti.so", "cuptiActivityGetNextRecord", True), ("libcupti.so", "cuptiFinalize", False),
                                         ("libcupti.so", "cuptiGetResultString", False), ("libcuda.so.1", "cuDeviceGetCount", True),
                                         ("libcuda.so.1", "cuDeviceGetAttribute", False), ("libcuda.so.1", "cuDevicePrimaryCtxGetState", False)):
            with self.subTest(call=call):
                for name, data in whole.items():
                    with open(f"{home}/lib64/{name}", "wb") as f:
                        f.write(data.replace(b"\0" + call.encode() + b"\0", b"\0X" + call.encode()[1:] + b"\0") if name == library else data)
                r = self.record("kernels=5", CUDA_HOME=home)
                said = " ".join(r.said("warning") + r.said("note"))
                self.assertEqual(f"has no {call}" in said, is_needed, said)
                self.assertEqual(os.path.exists(self.analysed(r) + "/kernel_details.csv"), not is_needed)

    def test_records_that_cannot_be_used_are_counted_and_the_rest_is_there(self):
        for fake, n in (("untimed=2", 2), ("cut", 1), ("strange", 0), ("error=cuptiActivityGetNextRecord:21", None)):
            with self.subTest(fake=fake):
                r = self.record("kernels=5", fake=fake)
                said = re.findall(r"device cuda: (\d+) records of CUPTI cannot be used", " ".join(r.said("warning")))
                self.assertEqual(len(said), n != 0, r.out)
                dropped = sum(d["count"] for d in self.facts(r)["dropped"])
                self.assertEqual(dropped, sum(map(int, said)))
                if n is not None:
                    self.assertEqual((dropped, len(self.rows(self.analysed(r, code=3 if n else 0), "kernel_details.csv"))), (n, 5 - n))

    def test_kernels_that_end_before_they_begin_are_counted(self):
        r = self.record("kernels=5", "graph=1", fake="backwards")
        out = self.analysed(r, code=3)
        self.assertFalse(os.path.exists(out + "/kernel_details.csv"))
        self.assertIn("6 records with impossible values", self.ascope("analyse", r.said("path")[0], code=3).stdout)

    def test_dropped_records_are_counted(self):
        r = self.record("kernels=5", fake="dropped=123")
        self.assertIn("CUPTI dropped 123 records", r.said("warning")[0])
        self.assertEqual(self.facts(r)["dropped"], [{"what": "tasks of GPUs", "count": 123, "reason": "ring_full"}])

    def test_without_empty_buffers_cupti_drops_and_the_sum_is_right(self):
        r = self.record("kernels=3000", fake="starved")
        dropped = sum(d["count"] for d in self.facts(r)["dropped"])
        self.assertEqual(os.path.getsize(self.raw(r)) // RECORD_BYTES + dropped, 3000)


class Damage(Case):
    def test_every_kind_of_damage_is_counted_and_the_rest_is_read(self):
        r = self.record("kernels=8")
        path = self.raw(r)
        with open(path, "rb") as f:
            whole = f.read()
        bad_end = bytearray(whole)
        bad_end[16:24] = bytes(8)  # it ends before it begins
        bad_kind = bytearray(whole)
        bad_kind[2] = 99
        bad_magic = bytearray(whole)
        bad_magic[0] ^= 0xFF
        for what, data, n in (("cut short", whole[:-5], 7), ("end", bad_end, 7), ("kind", bad_kind, 7), ("magic", bad_magic, 7)):
            with self.subTest(what=what):
                with open(path, "wb") as f:
                    f.write(data)
                shutil.rmtree(r.said("path")[0] + "/ASCEND_PROFILER_OUTPUT", ignore_errors=True)
                self.assertEqual(len(self.rows(self.analysed(r, code=3), "kernel_details.csv")), n)

    def test_every_byte_of_a_record_once(self):
        """And every length of a file: of its last record so many bytes are there."""
        r = self.record("kernels=2", "copies=1", "mallocs=2", "samples=1", "profile_memory=true", LD_LIBRARY_PATH=FAKES + "/lib64")
        for family, size in (("ascope_cuda", RECORD_BYTES), ("ascope_cuda_memory", 80), ("ascope_gpu", 80)):
            (path,) = glob.glob(f"{r.said('path')[0]}/PROF_*/device_0/data/{family}.data.*slice_0")
            with open(path, "rb") as f:
                whole = f.read()
            many = bytearray()
            for i in range(size):  # a file of records, each with one byte changed
                record = bytearray(whole[:size] if i % 2 else whole[-size:])
                record[i] ^= 0xFF
                many += record
            for data in (many, whole[:1], whole[:size - 1], whole + whole[:size // 2], whole[3:], bytes(size), b"\xff" * size):
                with self.subTest(family=family, size=len(data)):
                    with open(path, "wb") as f:
                        f.write(data)
                    done = subprocess.run([ASCOPE, "analyse", "-q", r.said("path")[0]], capture_output=True, text=True)
                    self.assertIn(done.returncode, (0, 3), done.stderr)
            with open(path, "wb") as f:
                f.write(whole)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
