#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Invalid MindSpore collections: missing parts, impossible settings, records and pipeline files, of both generations.

usage: test_absurd_ms.py ASCOPE SOURCE_ROOT [PART] [--whole]

Each row of the tables below changes one thing in a simulated collection and says what must come of it. Whatever happens, the
analysis ends with 0, 1 or 3 within seconds, leaves nothing half-done, and writes JSON, CSV and databases that can be read.
"""
import glob
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

from test_absurd import Options, Run, both, edit, number, put, remove, run_checks
from test_absurd_collection import flat, in_place_of, judge_run, remove_tree, tlv

RANGES, RANGES_S = "FRAMEWORK/mindspore.op_range", "FRAMEWORK/op_range_0"
MEMORY, TOTALS, SHAPES = "FRAMEWORK/mindspore.memory_usage", "FRAMEWORK/cpu_ms_memory_record_0.txt", "FRAMEWORK/mindspore.record_shapes"
MEMORY_S, KERNELS = "FRAMEWORK/operator_memory_0.csv", "FRAMEWORK/cpu_op_execute_timestamp_0.txt"
PIPELINE, USAGE, BATCHES = "FRAMEWORK/pipeline_profiling_0.json", "FRAMEWORK/minddata_cpu_utilization_0.json", "FRAMEWORK/device_queue_profiling_0.txt"
INFO = "profiler_info_0.json"
RANGE, RANGE_S, BLOCK = "<5Qi3Hb3B", "<3q6QbB", "<i11QI4B"
NONE = (1 << 64) - 1
THREAD = 20480
HURRY = 13  # without --whole every so many of the combinations of settings,
SOME = 3    # and of the rows of the other tables


class Collection(Run):
    NAME, COMMAND = "node0_1_20240601080000000_ascend_ms", ("analyse", "--export-type", "text,db")

    def result(self, name):
        return any(os.path.basename(p) == name for p in self.outputs(name))


class Device(Collection):
    SAMPLE, SIM = "device", ("--kernels", "8", "--jit", "O0")


class Host(Collection):
    SAMPLE, SIM = "host", ("--kernels", "0", "--operators", "40")


class Old(Collection):
    SAMPLE, SIM = "generation S", ("--kernels", "8", "--generation", "S")




def range_n(begin, end, name=b"Add", full=b"Default/Add-op1", thread=THREAD, flow=NONE, module=2, event=4, stage=0, forms=(0, 0, 0), graph=(b"", b""), info=None):
    fixed = struct.pack(RANGE, thread, flow, 0, begin, end, 1, module, event, stage, -1, *forms)
    return tlv(0, fixed + tlv(13, name) + tlv(14, full) + (tlv(17, info) if info is not None else b"") + tlv(15, graph[0]) + tlv(16, graph[1]))


def range_s(begin, end, name=b"RuntimeFramework::KernelLaunch::Default/Add-op1", thread=THREAD, flow=NONE):
    return tlv(1, struct.pack(RANGE_S, begin, end, 0, 0, thread, thread, thread, flow, 0, -1, 0) + tlv(3, name))


def block(time, address, size, used=512, device=0, owner=b"Add"):
    return tlv(13, struct.pack(BLOCK, device, 1, 2, time, address, size, used, used, 1 << 26, 0, 0, 7, 2, 0, 0, 1, 2) + tlv(13, owner))


def begin_of(data):
    return struct.unpack_from("<Q", data, 6 + 24)[0]


def also(file, make):
    """More records behind those that are there; make(begin) gives them."""
    return lambda r: r.write(file, r.read(file) + make(begin_of(r.read(RANGES))))


def instead(file, make):
    return lambda r: r.write(file, make(begin_of(r.read(RANGES))))


def also_s(make):
    return lambda r: r.write(RANGES_S, r.read(RANGES_S) + make(struct.unpack_from("<q", r.read(RANGES_S), 6)[0]))


def also_memory(make):
    return lambda r: r.write(MEMORY, r.read(MEMORY) + make(struct.unpack_from("<Q", r.read(MEMORY), 6 + 20)[0]))


def node(i, key, value):
    def change(data):
        found = json.loads(data)
        if key in ("size", "length"):
            found["op_info"][i]["metrics"]["output_queue"][key] = value
        else:
            found["op_info"][i][key] = value
        return json.dumps(found).encode()
    return edit(PIPELINE, change)


def usage(i, key, value):
    def change(data):
        found = json.loads(data)
        found["op_info"][i]["metrics"][key] = value
        return json.dumps(found).encode()
    return edit(USAGE, change)


TEXTS = ["trace_view.json", "dataset.csv"]
FULL = TEXTS + ["kernel_details.csv", "step_trace_time.csv", "operator_memory.csv", "memory_record.csv", "operator_details.csv",
                "minddata_pipeline_raw_0.csv"]
# sample, what, change, codes, part of what is said, files that must be there
PARTS = [
    (Device, "nothing is wrong", lambda r: None, {0}, "", FULL),
    (Host, "nothing is wrong", lambda r: None, {0}, "", TEXTS),
    (Old, "nothing is wrong", lambda r: None, {0}, "", TEXTS + ["kernel_details.csv", "operator_memory.csv"]),
    (Device, "no FRAMEWORK", remove_tree("FRAMEWORK"), {0, 3}, "", ["trace_view.json", "kernel_details.csv"]),
    (Device, "no PROF", remove_tree("PROF_*"), {1, 3}, "PROF", []),
    (Device, "a PROF without anything", remove_tree("PROF_*/*"), {1, 3}, "PROF", []),
    (Host, "no FRAMEWORK and no PROF", remove_tree("FRAMEWORK"), {1}, "", []),
    (Host, "FRAMEWORK is a link out of the tree", both(remove_tree("FRAMEWORK"), lambda r: os.symlink("/etc", r.path("FRAMEWORK"))), {1, 3}, "", []),
    (Host, "all files of FRAMEWORK are empty", lambda r: [open(p, "wb").close() for p in glob.glob(r.prof + "/FRAMEWORK/*")], {1}, "nothing to write", []),
    (Device, "no ranges", remove(RANGES), {0, 3}, "", ["trace_view.json", "kernel_details.csv"]),
    (Old, "no ranges", remove(RANGES_S), {0, 3}, "", ["trace_view.json", "kernel_details.csv"]),
    (Device, "no memory", remove(MEMORY), {0, 3}, "", ["trace_view.json", "kernel_details.csv"]),
    (Device, "no shapes", remove(SHAPES), {0, 3}, "", ["trace_view.json", "kernel_details.csv"]),
    (Device, "a pipe in place of ranges", in_place_of(RANGES, os.mkfifo), {3}, RANGES, ["kernel_details.csv"]),
    (Device, "a link in place of memory", in_place_of(MEMORY, lambda p: os.symlink("/etc/passwd", p)), {3}, MEMORY, TEXTS),
    (Device, "a folder in place of shapes", in_place_of(SHAPES, os.mkdir), {3}, SHAPES, TEXTS),
    (Device, "a pipe in place of totals of memory", in_place_of(TOTALS, os.mkfifo), {3}, TOTALS, TEXTS),
    (Device, "a pipe in place of the pipeline", in_place_of(PIPELINE, os.mkfifo), {3}, PIPELINE, TEXTS),
    (Device, "a link in place of host kernels", in_place_of(KERNELS, lambda p: os.symlink("/etc/passwd", p)), {3}, KERNELS, TEXTS),
    (Old, "a link in place of a table of memory", in_place_of(MEMORY_S, lambda p: os.symlink("/etc/passwd", p)), {3}, MEMORY_S, TEXTS),
    (Host, "no profiler_info", remove("profiler_info*"), {0, 1, 3}, "", []),
    (Device, "no profiler_info", remove("profiler_info*"), {0, 1, 3}, "", []),
    (Device, "profiler_info of two ranks", lambda r: shutil.copy(r.path(INFO), r.path("profiler_info_7.json")), {0, 3}, "", TEXTS),
    (Device, "files of another rank too", lambda r: shutil.copy(r.path(PIPELINE), r.path("FRAMEWORK/pipeline_profiling_99999999999999999999.json")), {0, 3}, "", FULL),
    (Device, "a rank that is no number", lambda r: os.rename(r.path(INFO), r.path("profiler_info_x.json")), {0, 1, 3}, "", []),
    (Device, "both generations at once", lambda r: r.write(RANGES_S, range_s(1, 2)), {0, 3}, "", FULL),
]
PARTS += [(s, "profiler_info is %s" % what, put(INFO, data), {0, 1, 3}, "", []) for s in (Host, Device)
          for what, data in (("empty", b""), ("half", b'{"profiler_parameters": {'), ("a list", b"[]"), ("an empty object", b"{}"),
                             ("a hundred thousand deep", b"[" * 100000))]

RECORDS = [
    # what, change, codes, part of what is said
    ("a length of all ones", also(RANGES, lambda t: b"\0\0\xff\xff\xff\xff" + bytes(100)), {3}, RANGES),
    ("a record shorter than it may be", also(RANGES, lambda t: tlv(0, bytes(53))), {3}, RANGES),
    ("a text longer than its record", also(RANGES, lambda t: tlv(0, bytes(54) + b"\x0d\0\xff\0\0\0x")), {0, 3}, ""),
    ("half a head of a text", also(RANGES, lambda t: tlv(0, struct.pack(RANGE, 1, NONE, 0, t, t + 1, 1, 0, 0, 0, 0, 0, 0, 0) + b"\x0d\0\7")), {3}, RANGES),
    ("texts of kinds that nobody knows", also(RANGES, lambda t: range_n(t, t + 9)[:-12] + tlv(65535, b"x")), {0, 3}, ""),
    ("a range without texts", also(RANGES, lambda t: tlv(0, struct.pack(RANGE, 1, NONE, 0, t, t + 1, 1, 0, 0, 0, 0, 0, 0, 0))), {0, 3}, ""),
    ("indices beyond every table", also(RANGES, lambda t: range_n(t, t + 9, module=65535, event=65535, stage=65535) + range_n(t, t + 9, stage=65535, forms=(0, 1, 0))), {3}, RANGES),
    ("flags of all ones", also(RANGES, lambda t: range_n(t, t + 9, forms=(255, 255, 255))), {0}, ""),
    ("a range from the beginning to the end of time", also(RANGES, lambda t: range_n(1, NONE) + range_n(NONE, NONE - 1)), {0, 3}, ""),
    ("a range that ends before it begins", also(RANGES, lambda t: range_n(t + 9, t)), {0, 3}, ""),
    ("threads of 64 bits", also(RANGES, lambda t: range_n(t, t + 9, thread=NONE) + range_n(t, t + 9, thread=1 << 63)), {0, 3}, ""),
    ("flows that begin and end often", also(RANGES, lambda t: (range_n(t, t + 9, b"flow", b"flow", flow=7) + range_n(t, t + 9, flow=7)) * 50), {0}, ""),
    ("steps inside each other", also(RANGES, lambda t: b"".join(range_n(t - 9, t + 999999, b"ProfilerStep#%d" % i, b"ProfilerStep#%d" % i, module=5, event=53) for i in range(50))), {0, 3}, ""),
    ("steps without numbers", also(RANGES, lambda t: b"".join(range_n(t, t + 9, n, n, module=5, event=53) for n in (b"ProfilerStep#", b"ProfilerStep#x", b"ProfilerStep#" + b"9" * 40, b"ProfilerStep#-1", b'ProfilerStep#1,"'))), {0, 3}, ""),
    ("a step that ends before it begins", also(RANGES, lambda t: range_n(t + 9, t, b"ProfilerStep#7", b"ProfilerStep#7", module=5, event=53)), {0, 3}, ""),
    ("a scope of a mebibyte", also(RANGES, lambda t: range_n(t, t + 9, full=b"Default/" + b"x/" * (1 << 19))), {0, 3}, ""),
    ("information of a mebibyte", also(RANGES, lambda t: range_n(t, t + 9, b"G", b"", forms=(1, 0, 0), graph=(b"Dataset", b"Map(ID:1)"), info=b"a:b;" * (1 << 18))), {0, 3}, ""),
    ("invalid information", also(RANGES, lambda t: b"".join(range_n(t, t + 9, b"G", b"", forms=(1, 0, 0), graph=(b"Dataset", b"M"), info=x) for x in (b"", b";", b":", b":;:", b"a:b:c;d", b"\xff:\xfe;\0:\0"))), {0, 3}, ""),
    ("blocks that overflow", also_memory(lambda t: b"".join(block(t + i, i, NONE - 1, NONE) for i in range(9))), {0, 3}, ""),
    ("released twice, and before it was allocated", also_memory(lambda t: block(t, 9, NONE) * 3 + block(t + 1, 9, 5) + block(t + 2, 9, NONE) * 3 + block(t - 9, 9, 5)), {0, 3}, ""),
    ("devices that cannot be", also_memory(lambda t: block(t, 9, 5, device=-1) + block(t, 8, 5, device=(1 << 31) - 1)), {0, 3}, ""),
    ("times that cannot be", also_memory(lambda t: block(0, 9, 5) + block(NONE, 9, NONE) + block(NONE, 8, 1)), {0, 3}, ""),
    ("owners that need care", also_memory(lambda t: b"".join(block(t, 100 + i, 5, owner=n) for i, n in enumerate((b'a"b,c', b"\xff\xfe", b"a\0b", b"\r\n", b"")))), {0, 3}, ""),
    ("shapes that are no text", edit(SHAPES, lambda d: d + tlv(3, tlv(0, b"\xff") + tlv(1, b"\xff\xfe;,") + tlv(2, b"\0"))), {0, 3}, ""),
    ("shapes without texts", edit(SHAPES, lambda d: d + tlv(3, b"") * 9), {0, 3}, ""),
    ("half a text of shapes", edit(SHAPES, lambda d: d + tlv(3, b"\0\0\xff\xff\xff\xff")), {3}, SHAPES),
    ("invalid totals", edit(TOTALS, lambda d: d + b"x,y,z,w\n1,2\n,,,\n-1,-1,-1,-1\n99999999999999999999999,1,1,1\n1e9,nan,inf,0x7\n"), {3}, TOTALS),
    ("totals without a header", edit(TOTALS, lambda d: d.partition(b"\n")[2]), {0, 3}, ""),
    ("invalid host kernels", edit(KERNELS, lambda d: d + b";;;\nx\nx;y\nx;y;z\nx;y;1,2\nx;y;1,nan,3 -1,-1,-1 9999999999999999999999,1e308,1\n"), {3}, KERNELS),
    ("invalid batches", edit(BATCHES, lambda d: d + b"\n0\n0 0\n9 9 9 9 9\n0 0 5 -1 -1\n0 0 99999999999999999999 1 1\nx y z u v\n0 0 5 1 1 1\n"), {0, 3}, ""),
    ("a pipeline without a sampling interval", edit(PIPELINE, lambda d: d.replace(b"sampling_interval", b"x")), {0, 3}, ""),
    ("a pipeline without operators", put(PIPELINE, b'{"sampling_interval": 10, "op_info": []}'), {0, 3}, ""),
    ("a pipeline that is its own child", node(2, "children", [2]), {0, 3}, ""),
    ("a pipeline whose leaf has the root as child", node(5, "children", [0]), {3}, PIPELINE),
    ("nodes of a pipeline that are each other's children", both(node(3, "children", [4]), node(4, "children", [3]), node(2, "children", [])), {0, 3}, ""),
    ("children that are nobody's", node(3, "children", [99, -1, "4", None, 1e308]), {0, 3}, ""),
    ("children that are null", node(3, "children", None), {0, 3}, ""),
    ("one id for all", edit(PIPELINE, lambda d: json.dumps({**json.loads(d), "op_info": [dict(o, op_id=0) for o in json.loads(d)["op_info"]]}).encode()), {0, 3}, ""),
    ("an id of 64 bits", node(2, "op_id", (1 << 62)), {0, 3}, ""),
    ("a type of one letter", node(2, "op_type", "B"), {0, 3}, ""),
    ("no workers", node(2, "num_workers", 0), {0, 3}, ""),
    ("a queue without length", node(2, "length", 0), {0, 3}, ""),
    ("a queue without samples", node(2, "size", []), {0, 3}, ""),
    ("samples that are no numbers", node(2, "size", [None, "x", -1, 1e308, [], 1 << 62]), {0, 3}, ""),
    ("usage that is no number", usage(2, "user_utilization", [None, "x", -1, 1e308]), {0, 3}, ""),
    ("usage without samples", usage(2, "user_utilization", []), {0, 3}, ""),
    ("usage without operators", put(USAGE, b'{"op_info": []}'), {0, 3}, ""),
    ("usage that is no JSON", put(USAGE, b"{"), {3}, USAGE),
    ("a pipeline a hundred thousand deep", put(PIPELINE, b"[" * 100000), {3}, PIPELINE),
]
RECORDS_S = [
    ("a record shorter than it may be", also_s(lambda t: tlv(1, bytes(73))), {3}, RANGES_S),
    ("a range without a name", also_s(lambda t: range_s(t, t + 9)[:80]), {0, 3}, ""),
    ("names that are half a name", also_s(lambda t: b"".join(range_s(t, t + 9, n) for n in (b"", b"::", b"::::", b"a::", b"Dataset::", b"Dataset::x", b"flow", b"\xff::\xfe::\0"))), {0, 3}, ""),
    ("times before the clock began", also_s(lambda t: range_s(-1, -1) + range_s(-1 << 63, (1 << 63) - 1)), {0, 3}, ""),
    ("a table of memory without a header", edit(MEMORY_S, lambda d: d.partition(b"\n")[2]), {0, 3}, ""),
    ("an invalid table of memory", put(MEMORY_S, b"\xff\0\n\n,\n"), {0, 3}, ""),
]
NAMES = [
    ("quotes", b'a"b"', None), ("commas", b"a,b", None), ("a backslash at the end", b"a\\", None), ("tabs and bells", b"a\tb\x07\x1b[31m", None),
    ("line ends", b"a\r\nb\nc", None), ("markup", b"</script><b>", None), ("other languages", "äöü €🐎".encode(), None),
    ("bytes that are no text", b"a\xff\xfeb", "N/A"), ("half a letter", b"ab\xe2\x82", "N/A"),
]


def check_parts(o):
    for sample, what, change, codes, said, files in PARTS[::1 if o.whole else SOME]:
        yield from judge(o, sample, what, change, codes, said, files)


def check_records(o):
    for sample, table in ((Device, RECORDS), (Old, RECORDS_S)):
        for what, change, codes, said in table[::1 if o.whole else SOME]:
            yield from judge(o, sample, what, change, codes, said, ["trace_view.json"])


def check_names(o):
    for what, name, wanted in NAMES[::1 if o.whole else SOME]:
        o.sample = sample_of(o, Device)
        with Device(o, also(RANGES, lambda t, name=name: range_n(t + 1, t + 5, name, b"", forms=(0, 0, 1)))) as r:
            wrong = list(r.wrong)
            for path in r.outputs("trace_view.json"):
                with open(path, encoding="utf-8") as f:
                    names = {e.get("name") for e in json.load(f)}
                if (name.decode() if wanted is None else wanted) not in names:
                    wrong.append("trace_view.json does not have it")
            yield "a name with " + what, wrong


def check_settings(o):
    rows = []
    for key in ("activities", "profiler_level", "export_type", "is_set_schedule", "profile_memory", "data_process", "record_shapes",
                "data_simplification", "schedule", "rank_id", "ms_profiler_info", "profiler_parameters", "jit_level", "ms_version"):
        for value in (None, 0, -1, 1e308, "", "x", "18446744073709551616", True, [], {}, [[]], ["text", 7, None], ["CPU", "NPU", 3]):
            rows.append((key, value))
    for key, value in rows[::1 if o.whole else HURRY]:
        yield from judge(o, Device, "%s is %s" % (key, json.dumps(value)),
                         lambda r, key=key, value=value: number(INFO, key, value)(flat(r, INFO)), {0, 1, 3}, "", [])


def check_masses(o):
    n = o.many(30000)
    rows = [
        ("ranges that are all the same", instead(RANGES, lambda t: range_n(t, t + 9) * n)),
        ("ranges inside each other", instead(RANGES, lambda t: b"".join(range_n(t + i, t + 3 * n - i) for i in range(n)))),
        ("ranges each on a thread of its own", instead(RANGES, lambda t: b"".join(range_n(t + i, t + i + 1, thread=7 + i) for i in range(n)))),
        ("launches over all kernels", instead(RANGES, lambda t: b"".join(range_n(t + i, t + (1 << 40), thread=THREAD + 2) for i in range(n)))),
        ("flows of one id", instead(RANGES, lambda t: (range_n(t, t + 9, b"flow", b"flow", flow=7) + range_n(t, t + 9, flow=7)) * (n // 2))),
        ("steps", instead(RANGES, lambda t: b"".join(range_n(t + i, t + i + 1, b"ProfilerStep#%d" % i, b"ProfilerStep#%d" % i, module=5, event=53) for i in range(n)))),
        ("stages of the pipeline", instead(RANGES, lambda t: b"".join(range_n(t + i, t + i + 1, b"S%d" % i, b"", forms=(1, 0, 0), graph=(b"Dataset", b"N%d" % i)) for i in range(n)))),
        ("marks of the user", instead(RANGES, lambda t: b"".join(range_n(t + i, t + (1 << 40), b"Range", b"", forms=(1, 0, 0), graph=(b"Ascend", b"Mstx")) for i in range(n)))),
        ("records of nothing", instead(RANGES, lambda t: bytes(6) * n)),
        ("blocks at one place", instead(MEMORY, lambda t: b"".join(block(t + i, 1, 5) for i in range(n)))),
        ("blocks that nobody releases", instead(MEMORY, lambda t: b"".join(block(t + i, i, 5) for i in range(n)))),
        ("releases of what nobody allocated", instead(MEMORY, lambda t: b"".join(block(t + i, i, NONE) for i in range(n)))),
        ("host kernels with deep scopes", put(KERNELS, b"".join(b"Default/%s/a-op%d;HostCpuOps;17172110664335%07d,0.001,7 \n" % (b"x/" * 20, i, i) for i in range(n // 8)))),
        ("operators of the pipeline in a chain", put(PIPELINE, json.dumps({"sampling_interval": 1, "op_info": [
            {"op_id": i, "op_type": "MapOp", "num_workers": 1, "metrics": None, "children": [i + 1] if i + 1 < n // 8 else []} for i in range(n // 8)]}).encode())),
    ]
    for what, change in rows:
        o.sample = sample_of(o, Device)
        with Device(o, change) as r:
            if o.whole:
                print("    %5.1f s  %d %s" % (r.seconds, n, what), flush=True)
            wrong = list(r.wrong)
            if r.done and r.done.returncode not in (0, 3):
                wrong.append("ended with %d: %s" % (r.done.returncode, r.done.stderr[:300]))
            yield "%d %s" % (n, what), wrong


def sample_of(o, sample):
    folder = os.path.join(o.home, sample.SAMPLE.replace(" ", "-"))
    if not os.path.exists(folder):
        subprocess.run([o.ascope, "sim", "--framework", "ms", "--samplers=off", "--steps", "2", "--out", folder, *sample.SIM], check=True,
                       stdout=subprocess.DEVNULL)
    return glob.glob(folder + "/*_ascend_ms")[0]


def judge(o, sample, what, change, codes, said, files):
    o.sample = sample_of(o, sample)
    with sample(o, change) as r:
        yield "%s: %s" % (sample.SAMPLE, what), judge_run(r, codes, said, files)


def main():
    o = Options(sys.argv)
    with tempfile.TemporaryDirectory(prefix="ascope-absurd-ms-") as o.home:
        return run_checks(o, "collections", (check_parts, check_records, check_names, check_settings, check_masses))


if __name__ == "__main__":
    sys.exit(main())
