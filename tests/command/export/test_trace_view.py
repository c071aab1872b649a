#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trace_view.json and the tables that a PyTorch collection takes over from the device's export.

usage: test_trace_view.py ASCOPE SOURCE_ROOT [unittest options]
"""
import collections
import csv
import glob
import gzip
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from check_timeline import check_file

ASCOPE = SOURCE = None
RESULTS = "ASCEND_PROFILER_OUTPUT"


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope-trace-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def run_ascope(self, *args, code=0):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")}
        r = subprocess.run([ASCOPE, *args], capture_output=True, text=True, env=env, cwd=self.dir, timeout=120)
        self.assertEqual(r.returncode, code, f"{args}: {r.stdout}{r.stderr}")
        return r

    def sample(self, which, **settings):
        """A writable copy of a sample, with other settings."""
        raw = glob.glob(os.path.join(SOURCE, "tests/data/pt-a-%s/raw/*_ascend_pt" % which))[0]
        path = os.path.join(tempfile.mkdtemp(dir=self.dir), os.path.basename(raw))
        shutil.copytree(raw, path, copy_function=shutil.copyfile)
        for top, _, _ in os.walk(path):
            os.chmod(top, 0o755)
        file = glob.glob(glob.escape(path) + "/profiler_info*.json")[0]
        with open(file) as f:
            info = json.load(f)
        info["config"]["experimental_config"].update(settings)
        with open(file, "w") as f:
            json.dump(info, f)
        return path

    def simulated(self, *options):
        into = tempfile.mkdtemp(dir=self.dir)
        r = self.run_ascope("sim", "--framework", "pt", "--out", into, *options)
        return r.stdout.split("\n")[-2] if r.stdout.endswith("\n") else r.stdout

    def analysed(self, path, *options):
        """The folder with the results."""
        self.run_ascope("analyse", path, "--export-type", "text", "-q", *options)
        return os.path.join(path, RESULTS)

    def events(self, path, *options):
        with open(os.path.join(self.analysed(path, *options), "trace_view.json"), encoding="utf-8") as f:
            return json.load(f)


class Trace(Case):
    def test_parts_are_in_the_order_of_the_dialect(self):
        words = {"documented": ["cpu_op", "enqueue", "dequeue", "M", "fwdbwd", "python_function", "GC", "M"],
                 "current": ["cpu_op", "dequeue", "enqueue", "M", "fwdbwd", "python_function", "GC", "M"]}
        for dialect, wanted in words.items():
            events = self.events(self.sample("host"), "--dialect", dialect)
            kinds = ["M" if e["ph"] == "M" else e["cat"] for e in events if e.get("cat") != "async_task_queue"]
            self.assertEqual([k for k, _ in itertools.groupby(kinds)], wanted)
            queue = {e["args"]["correlation_id"]: e["name"] for e in events if e.get("cat") == "dequeue"}
            for e in events:
                if e.get("cat") == "enqueue":
                    operator = queue[e["args"]["correlation_id"]].split("@")[1]
                    self.assertEqual(e["name"], "Enqueue@" + operator)

    def test_words_of_the_dialect(self):
        """Those of real files of the documented release, and those of today."""
        def words(path, dialect):
            events = self.events(path, "--dialect", dialect)
            process = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
            found = collections.defaultdict(set)
            for e in events:
                name = process.get(e["pid"])
                if e["name"] == "process_labels" and e["args"]["labels"] != "CPU":
                    found["label"].add(e["args"]["labels"])
                elif name == "Acc PMU" and e["ph"] == "C":
                    found["acc"].add((e["name"], *e["args"]))
                elif name == "CANN" and e["ph"] == "X":
                    found["level"].add((e["name"].split("@")[0], e["args"]["level"]))
                elif name in ("HCCL", "Communication") and e["ph"] == "X" and "alg_type" in e["args"]:
                    found["collective"].add(tuple(e["args"]))
            for file, column in (("api_statistic.csv", "Level"), ("kernel_details.csv", "Accelerator Core"),
                                 ("kernel_details.csv", "cube_utilization(%)")):
                with open(os.path.join(path, RESULTS, file), newline="", encoding="utf-8") as f:
                    found[column] = {r[column] for r in csv.DictReader(f)}
            return found
        path = self.sample("npu")
        documented, current = (words(path, d) for d in ("documented", "current"))
        self.assertEqual((documented["label"], current["label"]), ({"NPU"}, {"NPU 0"}))
        self.assertEqual(documented["acc"], {(n, "value", "acc_id") for n in ("read_bandwidth", "write_band_width", "read_ost", "write_ost")})
        self.assertEqual(current["acc"], {(n, "value") for n in ("read_bandwidth", "write_bandwidth", "read_ost", "write_ost")})
        self.assertEqual(documented["level"] - current["level"], {("Hccl", "hccl")})
        self.assertEqual(current["level"] - documented["level"], {("Communication", "communication")})
        args = ("connection_id", "model id", "data_type", "alg_type", "count")
        self.assertEqual((documented["collective"], current["collective"]), ({args}, {("rank_size", *args, "relay", "retry")}))
        self.assertEqual((documented["Level"] - current["Level"], current["Level"] - documented["Level"]), ({"hccl"}, {"communication"}))
        core = "Accelerator Core"
        self.assertEqual((documented[core] - current[core], current[core] - documented[core]), ({"HCCL"}, {"COMMUNICATION"}))
        cube = "cube_utilization(%)"
        self.assertIn("0", documented[cube])
        self.assertIn("0.000", current[cube])
        self.assertEqual(documented[cube], {c if c == "N/A" else "0" if float(c) == 0 else str(float(c)) for c in current[cube]})
        # test_scope.py has the labels of two devices, which are numbered.

    def test_members_are_of_the_kinds_that_real_files_have(self):
        kinds = collections.defaultdict(set)
        for e in self.events(self.sample("npu")):
            kinds[e.get("cat") or e["ph"]].add(tuple((k, type(v).__name__) for k, v in sorted(e.items()) if k != "args"))
        slice_ = (("cat", "str"), ("dur", "float"), ("name", "str"), ("ph", "str"), ("pid", "int"), ("tid", "int"), ("ts", "str"))
        flow = (("bp", "str"), ("cat", "str"), ("id", "int"), ("name", "str"), ("ph", "str"), ("pid", "int"), ("tid", "int"),
                 ("ts", "str"))
        for kind in ("cpu_op", "enqueue", "dequeue", "python_function", "GC"):
            self.assertEqual(kinds[kind], {slice_}, kind)
        for kind in ("async_task_queue", "fwdbwd", "async_npu"):
            self.assertEqual(kinds[kind], {flow}, kind)

    def test_viewers_can_show_them(self):
        # A flow may start at a task that was put into the queue and not taken out before the end.
        for path in (self.sample("host"), self.sample("npu"), self.simulated("--kernels", "400")):
            for base in ("epoch", "start"):
                t = check_file(os.path.join(self.analysed(path, "--time-base", base), "trace_view.json"), base == "start")
                self.assertEqual(set(t.broken) - {"no-end"}, set(), t.samples)
                self.assertLessEqual(t.broken["no-end"], 1)

    def test_callers_come_before_what_they_call(self):
        """Functions that were open all the time have equal times; viewers then draw the first one above."""
        raw, = glob.glob(os.path.join(SOURCE, "tests/data/own-pytorch/raw/*_ascend_pt"))
        self.run_ascope("analyse", raw, "--export-type", "text", "-q", "--out", self.dir)
        with open(os.path.join(self.dir, os.path.basename(raw), RESULTS, "trace_view.json"), encoding="utf-8") as f:
            calls = [e for e in json.load(f) if e.get("cat") == "python_function"]
        place = lambda e: (e["tid"], e["ts"], e["dur"])
        same = [[e["args"]["Python id"] for e in some] for _, some in itertools.groupby(sorted(calls, key=place), place)]
        self.assertGreater(len(same), 100)
        self.assertIn([0, 1], same)
        for ids in same:
            self.assertEqual(ids, sorted(ids))

    def test_slices_that_overlap_stay_on_their_track_if_asked_to(self):
        def tracks(events):
            return {e["args"]["name"] for e in events if e["name"] == "thread_name" and e["args"]["name"].endswith(" (2)")}

        def drawn(events):
            return collections.Counter((e["name"], e["ph"], e.get("ts")) for e in events if e["ph"] != "M")
        for which in "host", "npu":
            path = self.sample(which)
            moved, kept = self.events(path), self.events(path, "--keep-overlaps")
            self.assertTrue(tracks(moved), which)
            self.assertEqual((tracks(kept), drawn(kept)), (set(), drawn(moved)), which)
            file = os.path.join(self.dir, which + ".json")
            self.run_ascope("export-trace", path, file, "--keep-overlaps", "-q")
            with open(file, encoding="utf-8") as f:
                self.assertEqual(tracks(json.load(f)), set())
            at = {(e["pid"], e["tid"], e["ts"]) for e in kept if e["ph"] == "X"}
            self.assertEqual([e for e in kept if e["ph"] in "sf" and e.get("cat") != "HostToDevice" and (e["pid"], e["tid"], e["ts"]) not in at], [])

    def test_flow_events_lead_from_operators_to_what_they_started(self):
        for path in (self.sample("npu"), self.simulated("--kernels", "400")):
            events = self.events(path)
            slices = {(e["pid"], e["tid"], e["ts"]): e for e in events if e["ph"] == "X"}
            flows = [e for e in events if e.get("cat") == "async_npu"]
            self.assertGreater(len(flows), 100)
            for start, end in zip(flows[::2], flows[1::2]):
                self.assertEqual((start["ph"], end["ph"], start["id"]), ("s", "f", end["id"]))
                self.assertEqual(slices[start["pid"], start["tid"], start["ts"]]["cat"], "cpu_op")
                at = slices[end["pid"], end["tid"], end["ts"]]
                self.assertNotIn("cat", at)
                self.assertEqual(end["id"], int(end["ts"].replace(".", "")))

    def test_threads_and_lines_change_nothing(self):
        path = self.simulated("--kernels", "3000")
        file = os.path.join(path, RESULTS, "trace_view.json")
        texts = []
        for options in (["--threads", "1"], ["--threads", "2"], ["--threads", "7"], ["--pretty"]):
            self.analysed(path, *options)
            with open(file, "rb") as f:
                texts.append(f.read())
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(texts[0], texts[2])
        lines = texts[3].split(b"\n")
        self.assertEqual(lines[0] + lines[-2] + lines[-1], b"[]")
        self.assertEqual([json.loads(l.rstrip(b",")) for l in lines[1:-2]], json.loads(texts[0]))

    def test_level0_hides_the_calls_of_the_host_and_keeps_what_leads_from_them(self):
        full, level0 = self.events(self.sample("npu")), self.events(self.sample("npu", _profiler_level="Level0"))
        cann = {e["pid"] for e in full if e["ph"] == "M" and e["args"].get("name") == "CANN"}
        self.assertEqual(len(cann), 1)
        hidden = [e for e in full if e["pid"] in cann and e["ph"] == "X"]
        self.assertGreater(len(hidden), 100)
        flows = [e for e in level0 if e.get("cat") == "HostToDevice"]
        self.assertGreater(sum(e["ph"] == "f" for e in flows), 20)
        self.assertLessEqual({e["pid"] for e in flows if e["ph"] == "s"}, cann)
        count = lambda events: collections.Counter(json.dumps(e, sort_keys=True) for e in events)
        self.assertEqual(count(full) - count(hidden), count(level0))

    def test_times_from_the_start(self):
        for which in ("host", "npu"):
            events = self.events(self.sample(which), "--time-base", "start")
            begins = [e["ts"] for e in events if "ts" in e]
            self.assertTrue(all(isinstance(e["id"], str) for e in events if "id" in e))  # larger than a double can hold
            self.assertTrue(all(isinstance(t, (int, float)) for t in begins))
            self.assertGreaterEqual(min(begins), 0)

    def test_only_what_was_asked_for_of_pytorch_and_all_that_is_there_of_the_device(self):
        for activity, wanted, other in (("NPU", {"Ascend Hardware"}, "Python"), ("CPU", {"Python", "Ascend Hardware"}, None)):
            path = self.sample("npu")
            file = glob.glob(path + "/profiler_info*.json")[0]
            with open(file) as f:
                info = json.load(f)
            info["config"]["common_config"]["activities"] = ["ProfilerActivity." + activity]
            with open(file, "w") as f:
                json.dump(info, f)
            names = {e["args"].get("name") for e in self.events(path) if e["name"] == "process_name"}
            self.assertLessEqual(wanted, names)
            self.assertNotIn(other, names)


class ExportTrace(Case):
    def test_one_file_with_the_same_content(self):
        path = self.sample("npu")
        with open(os.path.join(self.analysed(path), "trace_view.json"), "rb") as f:
            wanted = f.read()
        out = os.path.join(self.dir, "out")
        os.mkdir(out)
        for name, file in (("a.json", "a.json"), ("b", "b"), ("c.json.gz", "c.json.gz"), ("out", "out/trace_view.json")):
            r = self.run_ascope("export-trace", path, name)
            self.assertIn(file, r.stdout)
            with (gzip.open if file.endswith(".gz") else open)(os.path.join(self.dir, file), "rb") as f:
                self.assertEqual(f.read(), wanted, name)
        sizes = [os.path.getsize(os.path.join(self.dir, f)) for f in ("c.json.gz", "a.json")]
        self.assertLess(sizes[0] * 5, sizes[1])

    def test_compressed_it_is_the_same_whatever_the_threads(self):
        path = self.simulated("--kernels", "3000")
        texts = set()
        for threads in ("1", "2", "5"):
            self.run_ascope("export-trace", path, "t.json.gz", "--threads", threads, "-q")
            with open(os.path.join(self.dir, "t.json.gz"), "rb") as f:
                texts.add(f.read())
        self.assertEqual(len(texts), 1)
        self.assertEqual(subprocess.run(["gzip", "-t", os.path.join(self.dir, "t.json.gz")]).returncode, 0)

    def test_options(self):
        path = self.sample("host")
        self.run_ascope("export-trace", path, "t.json", "--pretty", "--time-base", "start", "--dialect", "current")
        with open(os.path.join(self.dir, "t.json")) as f:
            text = f.read()
        self.assertEqual(text.count("\n"), len(json.loads(text)) + 2)
        self.assertIn("Enqueue@", text)
        r = json.loads(self.run_ascope("export-trace", path, "t.json", "--json").stdout)
        self.assertEqual(r["traces"][0]["events"], len(json.loads(text)))

    def test_what_cannot_be_is_reported_in_one_line(self):
        none = self.sample("npu", _profiler_level="Level_none")
        os.mkdir(os.path.join(self.dir, "empty"))
        for args, code, words in ((("export-trace", none, "t.json"), 1, "Level_none"),
                                  (("export-trace", none), 2, "two arguments"),
                                  (("export-trace", "missing", "t.json"), 2, "missing"),
                                  (("export-trace", "empty", "t.json"), 1, "neither"),
                                  (("export-trace", self.sample("host"), "no/such/t.json"), 1, "no/such/t.json")):
            r = self.run_ascope(*args, code=code)
            self.assertEqual((r.stdout, r.stderr.count("\n")), ("", 1), args)
            self.assertIn(words, r.stderr)
            self.assertFalse(os.path.exists(os.path.join(self.dir, "t.json")))


class Tables(Case):
    NEW = {"task_time.csv", "soc_pmu.csv"}
    ALL = {"op_statistic.csv", "api_statistic.csv", "data_preprocess.csv", "l2_cache.csv", "nic.csv", "roce.csv", "pcie.csv",
           "hccs.csv"} | NEW

    def found(self, path, *options):
        return set(os.listdir(self.analysed(path, *options))) & self.ALL

    def test_dialects(self):
        path = self.sample("npu")
        self.assertEqual(self.found(path, "--dialect", "current"), self.ALL)
        for file in self.ALL:
            with open(os.path.join(path, RESULTS, file), newline="") as f:
                self.assertEqual(f.readline().split(",")[0], "Device_id", file)
        self.assertEqual(self.found(path), self.ALL - self.NEW)
        for file in self.ALL - self.NEW:
            with open(os.path.join(path, RESULTS, file), newline="") as f:
                rows = list(csv.reader(f))
                self.assertNotIn("Device_id", rows[0], file)
                self.assertEqual({len(r) for r in rows}, {len(rows[0])}, file)

    def test_what_was_asked_for_decides(self):
        always, level1 = {"task_time.csv"}, {"op_statistic.csv", "api_statistic.csv"}
        off = {"_l2_cache": False, "_sys_io": False, "_sys_interconnection": False}
        for settings, wanted in (
                (dict(off, _profiler_level="Level_none"), set()),
                (dict(off, _profiler_level="Level0"), always),
                (dict(off, _profiler_level="Level1"), always | level1),
                (dict(off, _profiler_level="Level2"), always | level1 | {"data_preprocess.csv"}),
                (dict(off, _profiler_level="Level0", _l2_cache=True), always | {"l2_cache.csv", "soc_pmu.csv"}),
                (dict(off, _profiler_level="Level0", _sys_io=True), always | {"nic.csv", "roce.csv"}),
                (dict(off, _profiler_level="Level0", _sys_interconnection=True), always | {"pcie.csv", "hccs.csv"})):
            self.assertEqual(self.found(self.sample("npu", **settings), "--dialect", "current"), wanted, settings)


if __name__ == "__main__":
    ASCOPE, SOURCE = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
