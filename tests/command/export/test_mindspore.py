#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collections of MindSpore: what is read of each file, and which results the settings give.

    test_mindspore.py ASCOPE SOURCE_ROOT

Collections with a device are those of tests/data/ms-a-*, which `compare` holds to the reference; here their settings are changed.
"""
import csv
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

ASCOPE = DATA = None
NO_FLOW = 2 ** 64 - 1
# Test vectors of the format's description.
RANGE = bytes.fromhex(
    "0000600000000800000000000000050000000000000001000000000000009c18000000000000f41a00000000000008000000030020000000ff0000000d000300"
    "00004164640e000f00000044656661756c742f4164642d6f70310f0000000000100000000000")
MEMORY = bytes.fromhex(
    "0d006d0000000000000001000000000000000200000000000000e80300000000000010000000000000000008000000000000000800000000000009000000"
    "000000000000a0000000000000000000000000000000000000000000bc0a00000000000003000000000000000d0003000000416464")
SHAPES = bytes.fromhex("030023000000000003000000416464010005000000322c333b34020009000000466c6f61743b496e74")


def tlv(kind, value):
    return struct.pack("<HI", kind, len(value)) + value


def new_range(name, begin, end, thread=7, flow=NO_FLOW, module=0, event=0, stage=0, full=None, graph=None, is_stage=False,
              is_stack=False, info=None):
    module_graph, event_graph = graph or ("", "")
    fixed = struct.pack("<5Qi3Hb3?", thread, flow, 0, begin, end, 7, module, event, stage, -1, graph is not None, is_stage, is_stack)
    texts = [(13, name), (14, name if full is None else full)] + ([(17, info)] if info else []) + [(15, module_graph), (16, event_graph)]
    return tlv(0, fixed + b"".join(tlv(k, t if isinstance(t, bytes) else t.encode()) for k, t in texts))


def old_range(name, begin, end, thread=7, flow=NO_FLOW, **texts):
    fixed = struct.pack("<3q6Qb?", begin, end, 0, 0, thread, thread, thread, flow, 0, -1, False)
    return tlv(1, fixed + tlv(3, name.encode()) + b"".join(tlv(int(k[1:]), t.encode()) for k, t in texts.items()))


def block(address, time_ns, size=None, used=0, owner=""):
    size = NO_FLOW if size is None else size
    fixed = struct.pack("<i11QI4B", 0, 1, 2, time_ns, address, size, used, 0, 10 << 20, 0, 0, 0xabc, 3, 0, 0, 0, 0)
    return tlv(13, fixed + tlv(13, owner.encode()))


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope-ms-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.n = 0

    def collection(self, files, name="node_1_20240601000000000_ascend_ms", info=None, rank=0):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.join(path, "FRAMEWORK"))
        for f, content in files.items():
            with open(os.path.join(path, "FRAMEWORK", f), "wb") as to:
                to.write(content if isinstance(content, bytes) else content.encode())
        settings = {"profiler_parameters": {"profiler_level": "Level1", "activities": ["CPU"], "export_type": ["text"]},
                    "ms_profiler_info": {"rank_id": str(rank)}, "jit_level": "O0"}
        if info is not False:
            with open(os.path.join(path, "profiler_info_%d.json" % rank), "w") as to:
                json.dump(info or settings, to)
        return path

    def analyse(self, path, *options, code=0):
        self.n += 1
        out = os.path.join(self.dir, "out%d" % self.n)
        done = subprocess.run([ASCOPE, "analyse", path, "--out", out, "--dialect", "current", "--json"] + list(options),
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.report = json.loads(done.stdout) if done.stdout else None
        self.stderr = done.stderr
        return os.path.join(out, os.path.basename(path), "ASCEND_PROFILER_OUTPUT")

    def table(self, out, name):
        with open(os.path.join(out, name), newline="", encoding="utf-8") as f:
            return list(csv.reader(f))

    def trace(self, out):
        with open(os.path.join(out, "trace_view.json"), encoding="utf-8") as f:
            return json.load(f)

    def slices(self, out):
        return [(e["name"], e["tid"], e["ts"], e["dur"]) for e in self.trace(out) if e["ph"] == "X" and e["pid"] == 1]

    def losses(self):
        found = {}
        for d in self.report["directories"]:
            for k in d["losses"]:
                found[k["reason"]] = k["count"]
        return found


class Records(Case):
    def test_the_vectors_of_the_format(self):
        out = self.analyse(self.collection({"mindspore.op_range": RANGE, "mindspore.memory_usage": MEMORY + block(0x10, 5000),
                                            "mindspore.record_shapes": SHAPES}))
        self.assertEqual(self.slices(out), [("PynativeFramework::PyNativeLaunchTask::Default/Add-op1", 8, "63.000", "6.000")])
        self.assertEqual(self.table(out, "operator_details.csv"), [["Name", "Input Shapes"], ["Add", "2,3;4"]])
        self.assertEqual(self.table(out, "operator_memory.csv")[1],
                         "Add,2.0,1.0,5.0,N/A,4.0,N/A,0.001953125,10.0,0.001953125,0.0,10.0,0.0,2748,NPU:0".split(","))

    def test_names(self):
        row = [  # what, the record, what is shown
            ("an operator", new_range("ReLU", 100, 200, module=2, event=4, full="Default/ReLU-op1"), "RuntimeFramework::KernelLaunch::Default/ReLU-op1"),
            ("of a graph", new_range("Mark", 100, 200, graph=("Ascend", "Mstx")), "Ascend::Mstx::Mark"),
            ("a stage", new_range("x", 100, 200, is_stage=True, stage=9), "SyncStream"),
            ("a Python call", new_range("a.py(1):f", 100, 200, is_stack=True, is_stage=True), "a.py(1):f"),
            ("the last event", new_range("x", 100, 200, module=7, event=68), "Other::NativeFunc::x"),
            ("the spelling of MindSpore", new_range("x", 100, 200, module=1, event=5), "GraphExecutorPy::KernelLaunckCallback::x"),
            ("marked as flow, named otherwise", new_range("flow", 100, 200, full="Default/x"), "Default/x"),
            ("texts that are not there are empty", tlv(0, struct.pack("<5Qi3Hb3?", 7, NO_FLOW, 0, 100, 200, 7, 0, 0, 0, -1, False, False, False)),
             "Default::Default::"),
        ]
        for what, record, shown in row:
            with self.subTest(what):
                out = self.analyse(self.collection({"mindspore.op_range": record}, name="a%d_ascend_ms" % self.n))
                self.assertEqual([s[0] for s in self.slices(out)], [shown])

    def test_damage_is_counted_and_costs_one_record(self):
        good = new_range("x", 100, 200, is_stage=True, stage=1)
        row = [  # what, bytes before and behind a good record, reason, names
            ("a number beyond its table", new_range("x", 100, 200, event=69, module=99, full="y"), b"", "bad_value", ["Default::Default::y", "Python"]),
            ("an invalid text", new_range("x", 100, 200, full=b"\xff"), b"", "bad_value", ["Default::Default::N/A", "Python"]),
            ("a thread of 64 bits", new_range("x", 100, 200, thread=2 ** 40), b"", "bad_value", ["Python"]),
            ("shorter than its fixed part", tlv(0, b"x" * 53), b"", "cut_short", ["Python"]),
            ("cut", b"", good[:-1], "cut_short", ["Python"]),
            ("a head that is cut", b"", b"\0\0\1", "cut_short", ["Python"]),
            ("a text that is longer than its record", tlv(0, good[6:60] + struct.pack("<HI", 13, 9)), b"", "cut_short", ["Python", "Python"]),
        ]
        for what, before, behind, reason, names in row:
            with self.subTest(what):
                out = self.analyse(self.collection({"mindspore.op_range": before + good + behind}, name="a%d_ascend_ms" % self.n), code=3)
                self.assertEqual([s[0] for s in self.slices(out)], names)
                self.assertEqual(self.losses(), {reason: 1})

    def test_what_is_no_range(self):
        ranges = [new_range("x", 0, 100, is_stage=True), new_range("at", 300, 300, full="at"), new_range("flow", 400, 450, flow=5),
                  new_range("to", 500, 600, flow=5, thread=8), new_range("flow", 400, 450, flow=6), new_range("flow", 400, 450, flow=6),
                  new_range("twice", 500, 600, flow=6), new_range("none", 700, 800, flow=9)]
        out = self.analyse(self.collection({"mindspore.op_range": b"".join(ranges)}))
        self.assertEqual([s[0].split("::")[-1] for s in self.slices(out)], ["to", "twice", "none"])
        events = self.trace(out)
        self.assertEqual([(e["name"], e["ts"]) for e in events if e["ph"] == "i"], [("Default::Default::at", "3.000")])
        flows = sorted((e["ph"], e["name"], e["cat"], e["id"], e["ts"], e["tid"]) for e in events if e["ph"] in "sf")
        self.assertEqual(flows, [("f", "mindspore_to_self", "async_mindspore", "5", "5.000", 8),
                                 ("s", "mindspore_to_self", "async_mindspore", "5", "4.000", 7)])
        self.assertEqual(self.losses(), {"unpaired": 1})

    def test_both_generations_give_the_same(self):
        new = [new_range("Add", 100, 200, module=3, event=32, full="Default/Add-op1", flow=5), new_range("flow", 50, 60, flow=5),
               new_range("WorkerGet", 300, 350, graph=("Dataset", "Map(ID:3)"), info="A:1;B:2"), new_range("x", 400, 500, is_stage=True, stage=3)]
        old = [old_range("PynativeFramework::PyNativeLaunchTask::Default/Add-op1", 100, 200, flow=5), old_range("flow", 50, 60, flow=5),
               old_range("Dataset::Map(ID:3)::WorkerGet", 300, 350, _9="A:1;B:2"), old_range("RunGraph", 400, 500)]
        a = self.analyse(self.collection({"mindspore.op_range": b"".join(new)}, name="n_ascend_ms"))
        b = self.analyse(self.collection({"op_range_3": b"".join(old)}, name="s_ascend_ms", rank=3))
        for name in ("trace_view.json", "dataset.csv"):
            with open(os.path.join(a, name)) as x, open(os.path.join(b, name)) as y:
                self.assertEqual(x.read(), y.read())

    def test_what_only_older_ranges_have(self):
        out = self.analyse(self.collection({"op_range_0": old_range("a", 100, 200, _4="F;I", _5="2,3;4", _6="f|g", _7="m", _8="9")}))
        args = [e["args"] for e in self.trace(out) if e["ph"] == "X"]
        self.assertEqual(args, [{"Input type": "F;I", "Input Dims": "2,3;4", "Call stack": "f\r\ng", "Module Hierarchy": "m", "flops": "9"}])

    def test_names_of_older_ranges_may_be_anything(self):
        names = ["a::::", "", "::", "Dataset::", "Dataset::x::", "-op1"]
        out = self.analyse(self.collection({"op_range_0": b"".join(old_range(n, 100 + i, 200 + i, thread=i) for i, n in enumerate(names))}))
        self.assertEqual([s[0] for s in self.slices(out)], names)

    def test_overlapping_ranges_have_tracks_of_their_own(self):
        out = self.analyse(self.collection({"mindspore.op_range": new_range("a", 100, 300) + new_range("b", 200, 400)}))
        self.assertEqual([s[1] == 7 for s in self.slices(out)], [True, False])


class Memory(Case):
    def lives(self, records):
        out = self.analyse(self.collection({"mindspore.memory_usage": b"".join(records)}, name="a%d_ascend_ms" % self.n))
        return [(r[0], r[2], r[3], r[5]) for r in self.table(out, "operator_memory.csv")[1:]]

    def test_pairs(self):
        row = [  # what, records, (name, allocation, release, duration)
            ("taken and given back", [block(1, 1000, 8, owner="a"), block(1, 3000)], [("a", "1.0", "3.0", "2.0")]),
            ("never given back", [block(1, 1000, 8, owner="a")], [("a", "1.0", "N/A", "N/A")]),
            ("given back, but never taken", [block(1, 500), block(1, 600), block(1, 1000, 8, owner="a"), block(1, 3000)], [("a", "1.0", "3.0", "2.0")]),
            ("and so between two", [block(1, 1000, 8, owner="a"), block(1, 2000), block(1, 2500), block(1, 3000, 8, owner="b"), block(1, 4000)],
             [("a", "1.0", "2.0", "1.0"), ("b", "3.0", "4.0", "1.0")]),
            ("taken twice: the second counts", [block(1, 1000, 8, owner="a"), block(1, 2000, 8, owner="b"), block(1, 3000)], [("b", "2.0", "3.0", "1.0")]),
            ("in another order in the file", [block(1, 3000), block(2, 1500, 8, owner="b"), block(1, 1000, 8, owner="a")],
             [("a", "1.0", "3.0", "2.0"), ("b", "1.5", "N/A", "N/A")]),
        ]
        for what, records, lives in row:
            with self.subTest(what):
                self.assertEqual(self.lives(records), lives)

    def test_the_table_of_older_releases_is_copied(self):
        text = b"Name,Size(KB),Allocation Time(us),Duration(us),\nDefault/a,28,1721804661000136,,\n"
        out = self.analyse(self.collection({"op_range_0": old_range("a", 100, 200), "operator_memory_0.csv": text}))
        with open(os.path.join(out, "operator_memory.csv"), "rb") as f:
            self.assertEqual(f.read(), text)
        odd = text.replace(b"Default/a", b"\xe4 \xc3\xa4 \xff\xfe")
        out = self.analyse(self.collection({"op_range_0": old_range("a", 100, 200), "operator_memory_0.csv": odd}, name="odd_ascend_ms"))
        with open(os.path.join(out, "operator_memory.csv"), encoding="utf-8") as f:
            self.assertEqual(f.read().split("\n")[1].split(",")[0], "\ufffd \u00e4 \ufffd\ufffd")

    def test_most_memory(self):
        lines = "Timestamp(ns),Total Allocated(Byte),Total Reserved(Byte),Total Active(Byte)\n1000,10,100,10\n2000,30,100,30\n3000,20,200,20\n"
        blocks = {"mindspore.memory_usage": block(1, 1500, 8, used=7, owner="a")}
        rows = [("only totals, as older releases record", {}, (30, 2000, ""), (200, 3000, "")),
                ("blocks are more exact", blocks, (7, 1500, "a"), (10 << 20, 1500, "a"))]
        for what, more, allocated, reserved in rows:
            with self.subTest(what):
                files = dict({"op_range_0": old_range("a", 100, 200), "cpu_ms_memory_record_0.txt": lines}, **more)
                self.analyse(self.collection(files, name="a%d_ascend_ms" % self.n))
                most = self.report["directories"][0]["most_memory"]
                found = [(most[k]["bytes"], most[k]["time_ns"], most[k]["operator"]) for k in ("allocated", "reserved")]
                self.assertEqual(found, [allocated, reserved])

    def test_host_operators(self):
        lines = ("Default/net/A-op1;HostCpuOps;1718999356241496923,0.087186,9 1718999356241596923,0.0000005,9 \n"
                 "Default/net/B;c-op2;HostCpuOps;1718999356241696923,1.5e-05,10 \nno line\nD;T;1,x,3 \n")
        out = self.analyse(self.collection({"cpu_op_execute_timestamp_0.txt": lines}), code=3)
        ops = [(e["name"], e["tid"], e["ts"], e["dur"], e["args"]["type"]) for e in self.trace(out) if e["ph"] == "X" and e["pid"] == 2]
        self.assertEqual(ops, [("Default/net/A-op1", 9, "1718999356241496.923", "87.186", "HostCpuOps"),
                               ("Default/net/A-op1", 9, "1718999356241596.923", "0.000", "HostCpuOps"),  # half a nanosecond, to the even one
                               ("Default/net/B;c-op2", 10, "1718999356241696.923", "0.015", "HostCpuOps")])
        self.assertEqual(self.losses(), {"bad_text": 2})
        layers = [(e["name"], e["tid"], e["ts"], e["dur"]) for e in self.trace(out) if e["ph"] == "X" and e["pid"] == 3]
        self.assertEqual(sorted(layers), [("Default", 0, "1718999356241496.923", "200.015"), ("net", 1, "1718999356241496.923", "200.015")])


class Datasets(Case):
    def test_stages(self):
        def stage(begin, end, info, node="Map(ID:3)"):
            return new_range("WorkerGet", begin, end, graph=("Dataset", node), info=info)
        ranges = [stage(100, 200, "A:1;B:2;C:3"), stage(300, 601, "A:1;B:2;C:3"), stage(700, 800, "A:1"), stage(700, 800, None), stage(900, 900, None),
                  stage(900, 1000, "A:it's;B:say \"it's\""), stage(900, 1000, "no pair;B:x:y;D:", node="Zip(ID:1)"),
                  new_range("Get::Row", 100, 200, graph=("Dataset", "a::b"), info="A:::;B:2"), new_range("x", 100, 200, graph=("Dataset2", "c"))]
        out = self.analyse(self.collection({"mindspore.op_range": b"".join(ranges)}))
        self.assertEqual(self.table(out, "dataset.csv"), [
            ["Operation", "Stage", "Occurrences", "Avg. time (us)", "Custom Info"],
            ["Map(ID:3)", "WorkerGet", "2", "2.0", "{'A': '1', 'B': '2'}"],  # 2.005 is a little less in binary
            ["Map(ID:3)", "WorkerGet", "1", "1.0", "{}"],
            ["Map(ID:3)", "WorkerGet", "1", "1.0", ""],
            ["Map(ID:3)", "WorkerGet", "1", "1.0", "{'A': \"it's\", 'B': 'say \"it\\'s\"'}"],
            ["Zip(ID:1)", "WorkerGet", "1", "1.0", "{'B': 'x:y', 'D': ''}"],
            ["a::b", "Get::Row", "1", "1.0", "{'A': '::', 'B': '2'}"]])
        old = old_range("Dataset::a::Get::Row", 100, 200) + old_range("Dataset::a", 100, 200)
        out = self.analyse(self.collection({"op_range_0": old}, name="b_ascend_ms"))
        self.assertEqual(self.table(out, "dataset.csv")[1:], [["a", "Get::Row", "1", "1.0", ""]])

    def pipeline(self, nodes, cpu=None, batches="0 0 1 9 5\n1 8 1 3 5\n0 0 2 4 9\n", code=0, files=("queue",), options=()):
        tree = {"sampling_interval": 10, "op_info": nodes}
        content = {"pipeline_profiling_0.json": json.dumps(tree) if isinstance(nodes, list) else nodes}
        if cpu is not None:
            content["minddata_cpu_utilization_0.json"] = json.dumps(
                {"op_info": [{"op_id": -1, "metrics": {"user_utilization": [99], "sys_utilization": [0]}}] +
                 [{"op_id": i, "metrics": {"user_utilization": [c, c], "sys_utilization": [0, 0]}} for i, c in enumerate(cpu)]})
        if batches is not None:
            content["device_queue_profiling_0.txt" if "queue" in files else "dataset_iterator_profiling_0.txt"] = batches
        content["mindspore.op_range"] = new_range("x", 100, 200, is_stage=True)
        return self.analyse(self.collection(content, name="a%d_ascend_ms" % self.n), *options, code=code)

    @staticmethod
    def node(i, name, workers=4, sizes=None, length=10, children=None):
        n = {"op_id": i, "op_type": name + "Op", "num_workers": workers,
             "metrics": None if sizes is None else {"output_queue": {"length": length, "size": sizes}}}
        return n if children is None else dict(n, children=children)

    def test_raw(self):
        node = self.node
        nodes = [node(0, "EpochCtrl", 1, children=[1]), node(1, "Zip", 1, children=[2, 3]), node(2, "Map", sizes=[1, 2], children=[4]),
                 node(3, "Repeat", 1, children=[5]), node(4, "Generator", sizes=[0, 0]), node(5, "TFReader", sizes=[3, 4])]
        out = self.pipeline(nodes)
        self.assertEqual([r[:1] + r[4:] for r in self.table(out, "minddata_pipeline_raw_0.csv")[1:]], [
            ["0", "", "", "", "10", "", "[2, 5]"], ["2", "1.5", "10", "0.15", "10", "0", "[4]"],
            ["5", "3.5", "10", "0.35", "10", "0", ""], ["4", "0.0", "10", "0.0", "10", "2", ""]])
        self.assertFalse(os.path.exists(os.path.join(out, "minddata_pipeline_summary_0.json")))  # not without CPU use
        out = self.pipeline(nodes, [0] * 6, batches="")
        self.assertFalse(os.path.exists(os.path.join(out, "minddata_pipeline_summary_0.json")))  # nor without batches
        nodes = [node(0, "Zip", 1, children=[1, 3]), node(1, "Repeat", 1, children=[2]), node(2, "Map", sizes=[]), node(3, "Map", sizes=[1])]
        nodes[1]["metrics"] = {"output_queue": {}}
        out = self.pipeline(nodes)
        self.assertEqual([r[:1] + r[3:7] + r[8:] for r in self.table(out, "minddata_pipeline_raw_0.csv")[1:]], [
            ["0", "", "", "", "", "", "[3, 2]"],  # level by level
            ["3", "[1]", "1.0", "10", "0.1", "0", ""], ["2", "[]", "", "10", "", "0", ""]])

    def test_names_have_the_rank_or_without_the_device_its_number(self):
        tree = json.dumps({"sampling_interval": 10, "op_info": [self.node(0, "Map", sizes=[1, 2])]})
        for activities, device, number in ((["CPU"], "2", 2), (["CPU", "NPU"], "2", 5), (["CPU"], None, 5), (None, "2", 5)):
            parameters = {"profiler_level": "Level1", "export_type": ["text"]} | ({"activities": activities} if activities else {})
            ids = {"rank_id": "5"} | ({"device_id": device} if device else {})
            path = self.collection({"mindspore.op_range": new_range("x", 100, 200), "pipeline_profiling_5.json": tree},
                                   name="names%d_ascend_ms" % self.n, rank=5,
                                   info={"profiler_parameters": parameters, "ms_profiler_info": ids})
            out = self.analyse(path, code=3 if activities and "NPU" in activities else 0)  # there is no PROF directory
            self.assertEqual([f for f in os.listdir(out) if f.startswith("minddata")], ["minddata_pipeline_raw_%d.csv" % number])

    def test_what_a_summary_does_not_know(self):
        node = self.node
        nodes = [node(0, "Map", 2, sizes=[6], children=[1]), node(1, "Map", 0, sizes=[0, 3], length=0, children=[2]), node(2, "TFReader", sizes=[])]
        out = self.pipeline(nodes, [40, 50, 60], code=3)
        self.assertEqual(self.losses(), {"bad_value": 1})
        with open(os.path.join(out, "minddata_pipeline_summary_0.json")) as f:
            summary = json.load(f)
        self.assertEqual([summary[k] for k in ("queue_average_size", "queue_utilization_pct", "queue_empty_freq_pct", "avg_cpu_pct_per_worker")],
                         [[6.0, 1.5, -1], [60.0, -1, -1], [0.0, 50.0, -1], [20.0, -1, 15.0]])
        self.assertEqual([t.split()[0] for t in summary["cpu_analysis_details"]], ["TFReader(id=2)"])
        self.assertNotIn("queue_analysis_details", summary)

    def test_advice(self):
        node = self.node
        cases = [  # what, nodes, CPU use of all workers, what is said
            ("a busy node", [node(0, "Map", 2, sizes=[6], children=[1]), node(1, "TFReader", 4, sizes=[9])], [160, 200],
             {"cpu_analysis_details": ["Map(id=0) uses 80.0%"], "bottleneck_warning": ["Map(id=0)"]}),
            ("idle workers, and a queue that is hardly filled", [node(0, "Map", 2, sizes=[9], children=[1]), node(1, "TFReader", 2, sizes=[0, 1])], [10, 80],
             {"cpu_analysis_details": ["Map(id=0) uses 5.0%"], "queue_analysis_details": ["TFReader(id=1)"], "bottleneck_warning": ["Map(id=0)"]}),
            ("a node that takes less than it gets", [node(0, "Map", 2, sizes=[1], children=[1]), node(1, "TFReader", 2, sizes=[9])], [80, 80],
             {"queue_analysis_details": ["Map(id=0): the input queue is filled to 90.0%"]}),
            ("nodes without workers of their own are not judged", [node(0, "Shuffle", 1, sizes=[1], children=[1]), node(1, "TFReader", 2, sizes=[9])], [99, 80], {}),
            ("the input is behind a node without a queue", [node(0, "Map", 2, sizes=[9], children=[1]), node(1, "Zip", 1, children=[2]),
                                                            node(2, "TFReader", 2, sizes=[0])], [80, 0, 80], {"queue_analysis_details": ["TFReader(id=2)"]}),
        ]
        for what, nodes, cpu, said in cases:
            with self.subTest(what):
                out = self.pipeline(nodes, cpu)
                with open(os.path.join(out, "minddata_pipeline_summary_0.json")) as f:
                    summary = json.load(f)
                found = {k: [t[:len(s)] for t, s in zip(v, said.get(k, []))] for k, v in summary.items() if "analysis" in k or k == "bottleneck_warning"}
                self.assertEqual(found, said)
                lines = {r[0]: r[1:] for r in self.table(out, "minddata_pipeline_summary_0.csv")}
                self.assertEqual(list(lines), list(summary))

    def test_safe_csv(self):
        nodes = [self.node(0, "=Map", 2, sizes=[6], children=[1]), self.node(1, "TFReader", 4, sizes=[9])]
        for options, wanted in (((), "=Map"), (("--csv-safe",), "'=Map")):
            out = self.pipeline(nodes, [160, 200], options=options)
            lines = {r[0]: r[1:] for r in self.table(out, "minddata_pipeline_summary_0.csv")}
            self.assertEqual(lines["op_names"], [wanted, "TFReader"])
            self.assertEqual(self.table(out, "minddata_pipeline_raw_0.csv")[1][1], wanted + "Op")

    def test_batches(self):
        lines = "0 1 1 1 5\n1 8 1 3 95\n0 2 1 1 105\n0 0 2 4 9\n0 1 2 6 9\n0 2 2 11 9\n1 8 2 3 112\n0 0 3 5 9\n1 8 3 3 118\n"
        for files, times in (("queue", [[4.5], [6.0], [11.0]]), ("iterator", [[4.5], [6.0], [8.0]])):
            out = self.pipeline([self.node(0, "Map", sizes=[1])], [1], lines, files=(files,))
            with open(os.path.join(out, "minddata_pipeline_summary_0.json")) as f:
                summary = json.load(f)
            self.assertEqual([summary[k] for k in ("per_pipeline_time", "per_push_queue_time", "per_batch_time")], times)

    def test_damaged_files(self):
        node = self.node
        rows = [  # what, nodes, exit code, whether there is a table of them
            ("a number twice", [node(0, "Map", sizes=[1]), node(0, "Map", sizes=[1])], 3, False),
            ("no list", "{\"sampling_interval\": 10}", 3, False),
            ("no JSON", "{", 3, False),
            ("a queue of length 0", [node(0, "Map", sizes=[1], length=0)], 3, False),
            ("a queue that was not sampled", [dict(node(0, "Map"), metrics={"output_queue": {"length": 10}})], 3, False),
            ("a queue without samples", [node(0, "Map", sizes=[])], 0, True),
            ("a child that is not there", [node(0, "Map", sizes=[1], children=[7])], 3, True),
            ("a circle", [node(0, "Map", sizes=[1], children=[1]), node(1, "Zip", children=[0])], 3, True),
            ("a circle that nothing leads to", [node(0, "Map", sizes=[1]), node(1, "Zip", children=[2]), node(2, "Zip", children=[1])], 0, True),
            ("children that are null", [dict(node(0, "Map", sizes=[1]), children=None)], 0, True),
        ]
        for what, nodes, code, is_there in rows:
            with self.subTest(what):
                out = self.pipeline(nodes, [1], code=code)
                self.assertEqual(os.path.exists(os.path.join(out, "minddata_pipeline_raw_0.csv")), is_there)


class Settings(Case):
    def changed(self, sample="graph", **parameters):
        """A sample with other settings."""
        path = os.path.join(self.dir, "s%d_ascend_ms" % self.n)
        shutil.copytree(glob.glob(os.path.join(DATA, "ms-a-" + sample, "raw", "*_ascend_ms"))[0], path)
        file = glob.glob(os.path.join(path, "profiler_info_*.json"))[0]
        with open(file) as f:
            info = json.load(f)
        info["jit_level"] = parameters.pop("jit_level", info["jit_level"])
        info["profiler_parameters"].update(parameters)
        os.unlink(file)
        with open(file, "w") as f:
            json.dump(info, f)
        return path

    def files(self, out):
        return set(os.listdir(out)) - {"analyse.done"}

    def test_what_runs_when(self):
        whole = self.files(self.analyse(self.changed(), code=3))
        framework = {"dataset.csv", "operator_details.csv", "operator_memory.csv"}
        self.assertLessEqual(framework | {"trace_view.json", "kernel_details.csv", "l2_cache.csv", "hbm.csv"}, whole)
        rows = [
            ("only the device", {"activities": ["NPU"]}, whole - framework),
            ("only a database", {"export_type": ["db"]}, {"ascend_mindspore_profiler_0.db", "communication_analyzer.db"}),
            ("both", {"export_type": ["text", "db"]}, whole | {"ascend_mindspore_profiler_0.db", "communication_analyzer.db"}),
            ("no level", {"profiler_level": "LevelNone"}, whole - {"kernel_details.csv", "step_trace_time.csv"}),
        ]
        for what, parameters, files in rows:
            with self.subTest(what):
                code = 0 if parameters.get("activities") == ["NPU"] else 3
                self.assertEqual(self.files(self.analyse(self.changed(**parameters), code=code)), files)

    def test_memory_of_the_framework_needs_its_data(self):
        out = self.analyse(self.changed(activities=["NPU"]))
        components = {r[0] for r in self.table(out, "memory_record.csv")[1:]}
        self.assertEqual(components, {"GE", "MindSpore+GE", "APP"})
        names = [r[self.table(out, "kernel_details.csv")[0].index("Name")] for r in self.table(out, "kernel_details.csv")[1:]]
        self.assertFalse([n for n in names if "::" in n])
        self.assertFalse([e for e in self.trace(out) if e["pid"] in (1, 2)])

    def test_columns(self):
        whole = self.table(self.analyse(self.changed(), code=3), "kernel_details.csv")[0]
        self.assertEqual(whole[0], "Step ID")
        self.assertNotIn("Device_id", whole)
        left = {"HF32 Eligible", "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types", "Output Formats", "Context ID"}
        self.assertLessEqual(left, set(whole))
        rows = [("Level0", {"profiler_level": "Level0"}, [c for c in whole if c not in left]),
                ("no schedule", {"is_set_schedule": False}, whole[1:]),
                ("whole graphs", {"jit_level": "O2"}, whole[1:])]
        for what, parameters, header in rows:
            with self.subTest(what):
                out = self.analyse(self.changed(**parameters), code=3)
                self.assertEqual(self.table(out, "kernel_details.csv")[0], header)
                with open(os.path.join(out, "communication.json")) as f:
                    steps = list(json.load(f))
                self.assertEqual(steps, ["step0", "step1"] if what == "Level0" else ["step0"])

    def test_steps(self):
        path = self.changed()
        out = self.analyse(path, "--steps", "1", code=3)
        self.assertEqual([r[0] for r in self.table(out, "step_trace_time.csv")], ["Step", "1"])
        self.assertEqual({r[0] for r in self.table(out, "kernel_details.csv")[1:]}, {"1"})
        with open(os.path.join(out, "communication.json")) as f:
            self.assertEqual(list(json.load(f)), ["step1"])
        whole = self.analyse(path, code=3)
        for name in ("dataset.csv", "memory_record.csv", "operator_memory.csv"):
            self.assertLess(len(self.table(out, name)), len(self.table(whole, name)))
        self.assertLess(len(self.trace(out)), len(self.trace(whole)))
        step = [e for e in self.trace(out) if e["ph"] == "X" and e["name"].endswith("ProfilerStep#1")][0]
        begins = [float(e["ts"]) for e in self.trace(out) if e["ph"] in "Xis" and e["pid"] in (1, 2)]
        self.assertLessEqual(float(step["ts"]), min(begins))
        self.analyse(path, "--steps", "7", code=1)
        self.assertIn("has steps 0 to 1, not 7", self.stderr)
        for asked, number in ("+1", "0"), ("+2-3", "1"):  # as step_list counts
            out = self.analyse(path, "--steps", asked, code=3)
            self.assertEqual([r[0] for r in self.table(out, "step_trace_time.csv")[1:]], [number])
            self.assertEqual([s["step"] for s in self.report["directories"][0]["steps"]], [number])
        self.analyse(path, "--steps", "+7", code=1)
        self.assertIn("has steps +1 to +2, not +7", self.stderr)
        self.analyse(path, "--steps", "+0", code=2)

    def test_steps_of_the_executor(self):
        path = self.changed("eager")
        whole = self.table(self.analyse(path, code=3), "kernel_details.csv")[1:]
        parts = [self.analyse(path, "--steps", step, code=3) for step in ("1", "2")]
        rows = [self.table(out, "kernel_details.csv")[1:] for out in parts]
        self.assertTrue(all(rows))
        at = self.table(parts[0], "kernel_details.csv")[0].index("Start Time(us)")
        self.assertEqual([r[at] for r in rows[0] + rows[1]], [r[at] for r in whole])
        sums = [[float(v) for v in self.table(out, "step_trace_time.csv")[1]] for out in parts + [self.analyse(path, code=3)]]
        self.assertAlmostEqual(sums[0][1] + sums[1][1], sums[2][1], 3)  # computing
        counted = self.analyse(path, "--steps", "+2", code=3)
        self.assertEqual(self.table(counted, "kernel_details.csv")[1:], rows[1])

    def test_where_nothing_counted_steps(self):
        path = self.collection({"mindspore.op_range": new_range("x", 100, 200) + new_range("y", 300, 400)})
        out = self.analyse(path, "--steps", "+2-4", code=3)
        self.assertIn("no steps were counted; everything is analysed", self.stderr)
        self.assertEqual(len(self.slices(out)), 2)
        self.analyse(path, "--steps", "1", code=1)
        self.assertIn("has no steps", self.stderr)

    def test_the_same_bytes_each_time(self):
        path = self.changed(export_type=["text", "db"])
        first, second = self.analyse(path, "--threads", "1", code=3), self.analyse(path, "--threads", "4", code=3)
        for name in self.files(first):
            with open(os.path.join(first, name), "rb") as a, open(os.path.join(second, name), "rb") as b:
                self.assertTrue(a.read() == b.read(), name)

    def test_without_settings(self):
        path = self.changed("s")
        os.unlink(glob.glob(os.path.join(path, "profiler_info_*.json"))[0])
        out = self.analyse(path, code=3)
        self.assertEqual(self.table(out, "kernel_details.csv")[0][0], "Step ID")


class Directories(Case):
    def test_parents_of_several_frameworks(self):
        self.collection({"mindspore.op_range": new_range("x", 100, 200)}, name="a_ascend_ms")
        self.collection({"op_range_1": old_range("x", 100, 200)}, name="b_ascend_ms", rank=1)
        shutil.copytree(glob.glob(os.path.join(DATA, "pt-a-host", "raw", "*_ascend_pt"))[0], os.path.join(self.dir, "c_ascend_pt"))
        done = subprocess.run([ASCOPE, "analyse", self.dir, "--json"], capture_output=True, text=True, timeout=60)
        report = json.loads(done.stdout)
        self.assertEqual([os.path.basename(d["path"]) for d in report["directories"]], ["a_ascend_ms", "b_ascend_ms", "c_ascend_pt"])
        for d in report["directories"]:
            self.assertTrue(os.path.exists(os.path.join(d["path"], "ASCEND_PROFILER_OUTPUT", "trace_view.json")))

    def test_info(self):
        path = self.collection({"mindspore.op_range": new_range("x", 100, 200), "pipeline_profiling_0.json": "{}"}, rank=4)
        done = subprocess.run([ASCOPE, "info", path, "--json"], capture_output=True, text=True, check=True)
        info = json.loads(done.stdout)["collections"][0]
        self.assertEqual((info["framework"], info["rank"], info["level"]), ("MindSpore", 4, "Level1"))
        self.assertEqual(sorted(info["bytes"]), ["FRAMEWORK/mindspore.op_range", "FRAMEWORK/pipeline_profiling_0.json"])

    def test_what_needs_tensors_is_refused(self):
        path = self.collection({"mindspore.op_range": new_range("x", 100, 200)})
        done = subprocess.run([ASCOPE, "export-memory-timeline", path, os.path.join(self.dir, "x.html")], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a collection of MindSpore", done.stderr)


if __name__ == "__main__":
    ASCOPE, DATA = sys.argv[1], os.path.join(sys.argv[2], "tests/data")
    unittest.main(argv=sys.argv[:1])
