#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Invalid PyTorch collections: missing parts, impossible settings and records, many ranks.

usage: test_absurd_collection.py ASCOPE SOURCE_ROOT [PART] [--whole]

Each row of the tables below changes one thing in a sample and says what must come of it. Whatever happens, the analysis ends with
0, 1 or 3 within seconds, leaves nothing half-done, and writes JSON, CSV and databases that can be read.
"""
import glob
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

from test_absurd import MOST_SECONDS, Options, Run, both, edit, number, put, remove, run_checks
from test_hostile import complaints

OPS, MARKS, MEMORY = "FRAMEWORK/torch.op_range", "FRAMEWORK/torch.op_mark", "FRAMEWORK/torch.memory_usage"
CALLS, KEYS, GC = "FRAMEWORK/torch.python_tracer_func", "FRAMEWORK/torch.python_tracer_hash", "FRAMEWORK/torch.gc_record"
PARAMS, METADATA = "FRAMEWORK/torch.param_tensor_info", "profiler_metadata.json"
HURRY = 17  # without --whole every so many of the combinations of settings
OP = "<qqqQQQQBB"
NAME, SHAPES, TENSORS, LISTS, STACK = 2, 4, 5, 6, 8


class Collection(Run):
    NAME, COMMAND = "node0_1_20240601080000000_ascend_pt", ("analyse", "--export-type", "text,db")

    def result(self, name):
        return any(os.path.basename(p) == name for p in self.outputs(name))


class Host(Collection):
    SAMPLE, INFO = "pt-a-host", "profiler_info_1.json"


class Device(Collection):
    SAMPLE, INFO = "pt-a-npu", "profiler_info_0.json"


def tlv(kind, data):
    return struct.pack("<HI", kind, len(data)) + data


def records(data):
    at = 0
    while at < len(data):
        size = 6 + struct.unpack_from("<I", data, at + 2)[0]
        yield data[at:at + size]
        at += size


def op(begin, end, name=b"aten::add", thread=27919, sequence=-1, forward=0, scope=0, *fields):
    fixed = struct.pack(OP, begin, end, sequence, 27919, thread, thread, forward, scope, 0)
    return tlv(1, fixed + tlv(NAME, name) + b"".join(fields))


def mark(time, kind, number, name=b"aclnnAdd", thread=27919):
    return tlv(2, struct.pack("<qQQQQ", time, kind, number, thread, 27919) + tlv(1, name))


def memory(time, pointer, size, kind=0, component=0, device_type=20, total=0):
    return tlv(3, struct.pack("<qqqqqqqbbBBBQQ", pointer, time, size, total, total, total, 2, device_type, 0, component, kind, 0,
                              27919, 27919))


def call(time, key, tag, thread=27919):
    return struct.pack("<QQQQB", time, thread, 27919, key, tag)


def clock_of(data):
    """-> when the first operator began"""
    return struct.unpack_from("<q", data, 6)[0]


def also(file, make):
    """More records behind those that are there; make(begin) gives them."""
    return lambda r: r.write(file, r.read(file) + make(clock_of(r.read(OPS))))


def instead(file, make):
    return lambda r: r.write(file, make(clock_of(r.read(OPS))))


def without_steps(data):
    return b"".join(x for x in records(data) if b"ProfilerStep#" not in x)


def renamed_step(name):
    def change(data):
        out = []
        for x in records(data):
            if b"ProfilerStep#0" in x:
                begin, end, *_ = struct.unpack_from(OP, x, 6)
                x = op(begin, end, name, scope=7)
            out.append(x)
        return b"".join(out)
    return edit(OPS, change)


def remove_tree(pattern):
    return lambda r: [shutil.rmtree(p) for p in glob.glob(os.path.join(r.prof, pattern))]


def in_place_of(file, make):
    return both(remove(file), lambda r: make(r.path(file)))


TEXTS = ["trace_view.json", "operator_details.csv", "memory_record.csv", "operator_memory.csv"]
DEVICE = TEXTS + ["kernel_details.csv", "step_trace_time.csv", "communication.json", "op_statistic.csv"]
# sample, what, change, codes, part of what is said, files that must be there
PARTS = [
    (Host, "nothing is wrong", lambda r: None, {0}, "", TEXTS),
    (Device, "nothing is wrong", lambda r: None, {0}, "", DEVICE),
    (Device, "no FRAMEWORK", remove_tree("FRAMEWORK"), {0, 3}, "", ["trace_view.json", "kernel_details.csv", "communication.json"]),
    (Device, "no PROF", remove_tree("PROF_*"), {3}, "PROF", TEXTS),
    (Device, "a PROF without anything", both(remove_tree("PROF_*/*")), {3}, "PROF", TEXTS),
    (Device, "a PROF whose files are all empty", lambda r: [open(p, "wb").close() for p in glob.glob(r.prof + "/PROF_*/**", recursive=True) if os.path.isfile(p)], {3}, "", TEXTS),
    (Device, "a PROF without its host", remove_tree("PROF_*/host"), {0, 3}, "", TEXTS),
    (Device, "a PROF without its device", remove_tree("PROF_*/device_0"), {0, 3}, "", TEXTS),
    (Device, "two PROF directories, the first counts", lambda r: shutil.copytree(glob.glob(r.prof + "/PROF_*")[0], r.path("PROF_000009_20240601080000002_ZZ")), {0}, "", DEVICE),
    (Device, "a file called PROF", lambda r: r.write("PROF_000000_0_A", b"x"), {0}, "", DEVICE),
    (Host, "no FRAMEWORK and no PROF", remove_tree("FRAMEWORK"), {1}, "", []),
    (Host, "FRAMEWORK is a file", both(remove_tree("FRAMEWORK"), put("FRAMEWORK", b"x")), {1}, "", []),
    (Host, "FRAMEWORK is a link out of the tree", both(remove_tree("FRAMEWORK"), lambda r: os.symlink("/etc", r.path("FRAMEWORK"))), {1, 3}, "", []),
    (Host, "FRAMEWORK is empty", lambda r: [os.remove(p) for p in glob.glob(r.prof + "/FRAMEWORK/*")], {0, 3}, "", []),
    (Host, "all files of FRAMEWORK are empty", lambda r: [open(p, "wb").close() for p in glob.glob(r.prof + "/FRAMEWORK/*")], {0, 3}, "", []),
    (Host, "no operators", remove(OPS), {0, 3}, "", ["memory_record.csv"]),
    (Host, "no queue", remove(MARKS), {0}, "", TEXTS),
    (Device, "no queue", remove(MARKS), {0}, "", DEVICE),
    (Host, "no memory", remove(MEMORY), {0}, "", ["trace_view.json", "operator_details.csv"]),
    (Host, "no names of Python's calls", remove(KEYS), {0, 3}, "", TEXTS),
    (Host, "no calls of Python", remove(CALLS), {0}, "", TEXTS),
    (Host, "a pipe in place of operators", in_place_of(OPS, os.mkfifo), {3}, OPS, ["memory_record.csv"]),
    (Host, "a folder in place of marks", in_place_of(MARKS, os.mkdir), {3}, MARKS, TEXTS),
    (Host, "a link in place of memory", in_place_of(MEMORY, lambda p: os.symlink("/etc/passwd", p)), {3}, MEMORY, ["operator_details.csv"]),
    (Host, "no profiler_info: nobody knows what times are counted in", remove("profiler_info*"), {1}, "profiler_info", []),
    (Device, "no profiler_info, which means level 0", remove("profiler_info*"), {0, 3}, "", TEXTS + ["kernel_details.csv", "step_trace_time.csv"]),
    (Host, "no metadata", remove(METADATA), {0}, "", TEXTS),
    (Host, "a pipe in place of profiler_info", in_place_of(Host.INFO, os.mkfifo), {1}, "profiler_info", []),
    (Device, "a pipe in place of profiler_info", in_place_of(Device.INFO, os.mkfifo), {3}, Device.INFO, TEXTS),
    (Host, "metadata that is no JSON", put(METADATA, b"{"), {3}, METADATA, TEXTS),
    (Host, "metadata that is a list", put(METADATA, b"[1, 2]"), {0, 3}, "", TEXTS),
    (Host, "metadata a hundred thousand deep", put(METADATA, b"[" * 100000), {3}, METADATA, TEXTS),
    (Host, "metadata of 20 MB", put(METADATA, b'{"a": "' + b"x" * (20 << 20) + b'"}'), {3}, METADATA, TEXTS),
    (Host, "metadata with all that needs care", put(METADATA, '{"a\\"b": "</script>\\u0000\\ud83d\\udc0e", "\u20ac": [1, {"x": null}]}'.encode()), {0, 3}, "", TEXTS),
]
PARTS += [(s, "profiler_info is %s" % what, lambda r, data=data: r.write(r.INFO, data),
           {1} if s is Host and data != b"{}" else {0, 3}, "", [] if s is Host and data != b"{}" else TEXTS)
          for s in (Host, Device)
          for what, data in (("empty", b""), ("half", b'{"config": {'), ("a list", b"[]"), ("a number", b"7"), ("no UTF-8", b'{"a": "\xff"}'),
                             ("an empty object", b"{}"), ("a hundred thousand deep", b"[" * 100000), ("20 MB", b" " * (20 << 20) + b"{}"))]

RECORDS = [
    # what, change, codes, part of what is said
    ("no steps", edit(OPS, without_steps), {0}, ""),
    ("a step without a number", renamed_step(b"ProfilerStep#"), {0}, ""),
    ("a step with a large number", renamed_step(b"ProfilerStep#99999999999999999999999"), {0}, ""),
    ("a step with a name that needs care", renamed_step(b'ProfilerStep#1,"\n\'); --'), {0}, ""),
    ("a step that ends before it begins", also(OPS, lambda t: op(t + 100, t, b"ProfilerStep#7", scope=7)), {0, 3}, ""),
    ("steps inside each other", also(OPS, lambda t: b"".join(op(t - 9, t + 999999, b"ProfilerStep#%d" % i, scope=7) for i in range(50))), {0}, ""),
    ("a length of all ones", also(OPS, lambda t: b"\1\0\xff\xff\xff\xff" + bytes(100)), {3}, OPS),
    ("a length of nothing", also(OPS, lambda t: b"\1\0\0\0\0\0"), {3}, OPS),
    ("a record shorter than it may be", also(OPS, lambda t: tlv(1, bytes(57))), {3}, OPS),
    ("a text longer than its record", also(OPS, lambda t: tlv(1, bytes(58) + b"\2\0\xff\0\0\0x")), {3}, OPS),
    ("a text without end", also(OPS, lambda t: tlv(1, bytes(58) + b"\2\0\xff\xff\xff\xffx")), {3}, OPS),
    ("half a head of a text", also(OPS, lambda t: tlv(1, bytes(58) + b"\2\0\7")), {3}, OPS),
    ("texts of kinds that nobody knows", also(OPS, lambda t: op(t, t + 9, b"a", 27919, -1, 0, 0, tlv(0, b"x"), tlv(77, b"y"), tlv(65535, b"z"))), {0}, ""),
    ("a name twice", also(OPS, lambda t: op(t, t + 9, b"first", 27919, -1, 0, 0, tlv(NAME, b"second"))), {0}, ""),
    ("no name", also(OPS, lambda t: tlv(1, struct.pack(OP, t, t + 9, -1, 27919, 27919, 27919, 0, 0, 0))), {0, 3}, ""),
    ("a name of a mebibyte", also(OPS, lambda t: op(t, t + 9, b"x" * (1 << 20))), {0}, ""),
    ("a stack of a mebibyte of semicolons", also(OPS, lambda t: op(t, t + 9, b"a", 27919, -1, 0, 0, tlv(STACK, b";" * (1 << 20)))), {0}, ""),
    ("shapes that are no text", also(OPS, lambda t: op(t, t + 9, b"a", 27919, -1, 0, 0, tlv(SHAPES, b"\xff\xfe;1"))), {0, 3}, ""),
    ("an operator that ends before it begins", also(OPS, lambda t: op(t + 100, t)), {0, 3}, ""),
    ("an operator from the beginning to the end of time", also(OPS, lambda t: op(-1 << 63, (1 << 63) - 1)), {0, 3}, ""),
    ("an operator at no time", also(OPS, lambda t: op(0, 0)), {0, 3}, ""),
    ("ids of 64 bits", also(OPS, lambda t: op(t, t + 9, b"a", (1 << 64) - 1)), {3}, OPS),
    ("a sequence number that is the smallest", also(OPS, lambda t: op(t, t + 9, b"a", 27919, -1 << 63) + op(t, t + 9, b"a", 27919, -1 << 63, 1, 1)), {0}, ""),
    ("a mark of no kind", also(MARKS, lambda t: mark(t, 1 << 63, 1)), {0, 3}, ""),
    ("ends without begins", also(MARKS, lambda t: mark(t, 1, 1, b"x") + mark(t, 3, 1, b"x")), {0, 3}, ""),
    ("an end before its begin", also(MARKS, lambda t: mark(t + 9, 0, 0, b"x") + mark(t, 1, 1 << 63, b"x")), {0, 3}, ""),
    ("marks of one number", also(MARKS, lambda t: b"".join(mark(t + i, i % 4, 7, b"x") for i in range(400))), {0, 3}, ""),
    ("sizes that overflow", also(MEMORY, lambda t: b"".join(memory(t + i, 1, (1 << 63) - 1, total=(1 << 63) - 1) for i in range(9))), {0, 3}, ""),
    ("the smallest size", also(MEMORY, lambda t: memory(t, 1, -1 << 63) + memory(t, 1, -1 << 63, 1) + memory(t, 1, -1 << 63, 2)), {0, 3}, ""),
    ("freed twice", also(MEMORY, lambda t: memory(t, 9, 5) + memory(t + 1, 9, -5, 1) + memory(t + 2, 9, -5, 1)), {0, 3}, ""),
    ("freed before it was allocated", also(MEMORY, lambda t: memory(t + 9, 9, 5) + memory(t, 9, -5, 1)), {0, 3}, ""),
    ("components and devices that nobody knows", also(MEMORY, lambda t: b"".join(memory(t, 9, 5, i, i, i % 128) for i in range(256))), {0, 3}, ""),
    ("returns without calls", also(CALLS, lambda t: call(t, 1, 1) * 100), {0, 3}, ""),
    ("calls without returns", also(CALLS, lambda t: b"".join(call(t + i, 1, 0) for i in range(1000))), {0, 3}, ""),
    ("calls of no kind", also(CALLS, lambda t: call(t, 1, 200)), {0, 3}, ""),
    ("half a call", also(CALLS, lambda t: call(t, 1, 0)[:32]), {3}, CALLS),
    ("keys without a text", also(KEYS, lambda t: tlv(4, bytes(8)) * 9), {0, 3}, ""),
    ("a module without a name", also(KEYS, lambda t: tlv(4, bytes(8) + tlv(1, b"######"))), {0}, ""),
    ("garbage that ends before it began", also(GC, lambda t: struct.pack("<QQQ", 27919, t + 9, t)), {0, 3}, ""),
    ("parameters that are no grammar", also(PARAMS, lambda t: tlv(5, bytes(8) + tlv(1, b")}{>]];;" * 99) + tlv(2, b">)]}" * 99))), {0, 3}, ""),
]

TENSOR = b"0x7f3a00000140;0x12c0401dc000;float;4;1024,1024;1024,1;20;0"
# Texts of tensors that cannot be: only the memory timeline reads them.
TENSOR_TEXTS = [
    b";;;;;;;", b"0x;0x;;;;;;", b"-1;-1;float;-4;-1;-1;-1;-1", TENSOR.replace(b"0x12c0401dc000", b"0x" + b"f" * 40),
    TENSOR.replace(b"1024,1024", b"9223372036854775807,9223372036854775807"), TENSOR.replace(b";4;", b";18446744073709551616;"),
    TENSOR.replace(b"1024,1024", b"," * 9999), TENSOR.replace(b"float", b"\xff\xfe"), TENSOR[:-1], TENSOR + b";9;9",
    b")" * (1 << 18), b"}" * (1 << 18), (TENSOR + b")") * 2000, (TENSOR + b")}") * 2000, b";" * (1 << 18), b"\0" * 100,
]

NAMES = [
    ("quotes", b'a"b"', None), ("commas", b"a,b", None), ("a backslash at the end", b"a\\", None), ("tabs and bells", b"a\tb\x07\x1b[31m", None),
    ("line ends", b"a\r\nb\nc", None), ("a formula", b"=1+1", None), ("markup", b"</script><b>", None), ("other languages", "äöü €🐎".encode(), None),
    ("bytes that are no text", b"a\xff\xfeb", "a\ufffd\ufffdb"), ("half a letter", b"ab\xe2\x82", "ab\ufffd\ufffd"), ("a NUL", b"a\0b", None),
    ("nothing", b"", None),
]


def check_parts(o):
    for sample, what, change, codes, said, files in PARTS:
        yield from judge(o, sample, what, change, codes, said, files)


def check_records(o):
    for what, change, codes, said in RECORDS:
        for sample in (Host, Device):
            yield from judge(o, sample, what, change, codes, said, ["trace_view.json", "operator_details.csv"])


def check_exports(o):
    """The other exports of collections that analyse can read, or cannot."""
    changes = [(what, change) for what, change, _, _ in RECORDS]
    changes += [("tensors %d" % i, also(OPS, lambda t, x=x: op(t, t + 9, b"aten::mm", 27919, 7, 0, 0, tlv(TENSORS, x), tlv(LISTS, x))))
                for i, x in enumerate(TENSOR_TEXTS)]
    changes += [("parameters %d" % i, also(PARAMS, lambda t, x=x: tlv(5, bytes(8) + tlv(1, b"weight)" + x + b")" + x + b"}") + tlv(2, x + b"))exp_avg>" + x + b"]"))))
                for i, x in enumerate(TENSOR_TEXTS)]
    o.sample = sample_of(o, Host)
    for what, change in changes[::1 if o.whole else 3]:
        with Host(o, change) as r:
            wrong = []
            for args in (("export-memory-timeline", "m.html"), ("export-memory-timeline", "m.raw.json.gz"), ("export-stacks", "s.log")):
                done = subprocess.run([o.ascope, args[0], r.prof, os.path.join(r.out, args[1])], capture_output=True, text=True,
                                      errors="replace", timeout=MOST_SECONDS, preexec_fn=o.limit)
                wrong += list(complaints(r.out, done))
                if done.returncode == 1 and len(done.stderr.splitlines()) != 1:
                    wrong.append("%s says other than one line: %s" % (args[0], done.stderr[:600]))
            yield "other exports, " + what, wrong


def check_names(o):
    for what, name, wanted in NAMES:
        o.sample = sample_of(o, Host)
        with Host(o, also(OPS, lambda t, name=name: op(t + 1, t + 5, name))) as r:
            wrong = list(r.wrong)
            if r.done and r.done.returncode not in (0, 3):
                wrong.append("ended with %d: %s" % (r.done.returncode, r.done.stderr[:300]))
            for path in r.outputs("trace_view.json"):
                with open(path, encoding="utf-8") as f:
                    events = json.load(f)
                names = {e.get("name") for e in events}
                if wanted is None and name.decode() not in names and name.replace(b"\0", "\ufffd".encode()).decode() not in names:
                    wrong.append("trace_view.json does not have it")
            yield "a name with " + what, wrong


def check_settings(o):
    rows = []
    for key in ("freq", "start_cnt", "start_monotonic", "collectionTimeEnd", "MonotonicTimeEnd", "syscnt_enable", "rank_id", "activities",
                "_profiler_level", "_export_type", "_aic_metrics", "record_shapes", "schedule", "_data_simplification", "start_info", "config"):
        for value in (None, 0, -1, 1 << 62, (1 << 63) - 1, 1e308, 0.1, "", "x", "7", "1e999", True, [], {}, [[]], ["text", 7, None]):
            rows.append((key, value))
    edges = [("MonotonicTimeEnd", -1 << 63), ("freq", 1e-320)]  # a difference that overflows, a tick that is not finite
    for key, value in rows[::1 if o.whole else HURRY] + edges:
        for sample in (Host, Device):
            yield from judge(o, sample, "%s is %s" % (key, json.dumps(value)),
                             lambda r, key=key, value=value: number(r.INFO, key, value)(flat(r, r.INFO)), {0, 1, 3}, "", [])


def flat(r, file):
    """Its settings on one line, as number() wants them."""
    r.write(file, json.dumps(json.loads(r.read(file))).encode())
    return r


def check_masses(o):
    n = o.many(30000)
    rows = [
        ("operators that are all the same", instead(OPS, lambda t: op(t, t + 9) * n)),
        ("operators inside each other", instead(OPS, lambda t: b"".join(op(t + i, t + 3 * n - i) for i in range(n)))),
        ("operators one behind the other, each on a thread of its own", instead(OPS, lambda t: b"".join(op(t + i, t + i + 1, b"a", 7 + i) for i in range(n)))),
        ("operators backwards in time", instead(OPS, lambda t: b"".join(op(t + n - i, t + n - i + 5) for i in range(n)))),
        ("operators each with a name of its own", instead(OPS, lambda t: b"".join(op(t + i, t + i + 1, b"op%d" % i) for i in range(n)))),
        ("backwards of one forward", instead(OPS, lambda t: op(t, t + 1, b"f", 5, 7) + b"".join(op(t + i, t + i + 1, b"b", 9, 7, 1, 1) for i in range(n)))),
        ("forwards of one backward", instead(OPS, lambda t: b"".join(op(t + i, t + i + 1, b"f", 5, 7) for i in range(n)) + op(t + n, t + n + 1, b"b", 9, 7, 1, 1))),
        ("steps", instead(OPS, lambda t: b"".join(op(t + i, t + i + 1, b"ProfilerStep#%d" % i, scope=7) for i in range(n)))),
        ("records of nothing", instead(OPS, lambda t: bytes(6) * n)),
        ("texts of nothing", instead(OPS, lambda t: tlv(1, bytes(58) + b"\7\0\0\0\0\0" * n))),
        ("marks with one name", instead(MARKS, lambda t: b"".join(mark(t + i, i % 2, i) for i in range(n)))),
        ("begins only", instead(MARKS, lambda t: b"".join(mark(t + i, 2, i, b"x%d" % i) for i in range(n)))),
        ("tasks that are out of the queue all at once", instead(MARKS, lambda t: b"".join(mark(t, 2, 0, b"%d" % i) + mark(t + 9 * n, 3, i, b"%d" % i) for i in range(n // 2)))),
        ("allocations at one place", instead(MEMORY, lambda t: b"".join(memory(t + i, 1, 5) for i in range(n)))),
        ("allocations that nobody frees", instead(MEMORY, lambda t: b"".join(memory(t + i, i, 5) for i in range(n)))),
        ("frees of what nobody allocated", instead(MEMORY, lambda t: b"".join(memory(t + i, i, -5, 1) for i in range(n)))),
        ("calls inside each other", instead(CALLS, lambda t: b"".join(call(t + i, 1, 0) for i in range(n)))),
        ("threads of Python", instead(CALLS, lambda t: b"".join(call(t + i, 1, 0, i) for i in range(n)))),
        ("modules of one class", both(instead(KEYS, lambda t: b"".join(tlv(4, struct.pack("<Q", i) + tlv(1, b"M######%d" % i)) for i in range(n))),
                                      instead(CALLS, lambda t: b"".join(call(t + i, i, i % 2) for i in range(n))))),
        ("garbage collected again and again", instead(GC, lambda t: b"".join(struct.pack("<QQQ", 27919, t + i, t + i + 9) for i in range(n)))),
    ]
    for what, change in rows:
        for sample in (Host, Device):
            o.sample = sample_of(o, sample)
            with sample(o, change) as r:
                if o.whole:
                    print("    %5.1f s  %d %s" % (r.seconds, n, what), flush=True)
                wrong = list(r.wrong)
                if r.done and r.done.returncode not in (0, 3):
                    wrong.append("ended with %d: %s" % (r.done.returncode, r.done.stderr[:300]))
                yield "%s: %d %s" % (sample.SAMPLE, n, what), wrong


def check_ranks(o):
    """All ranks of a large job in one directory: every one is analysed, what is wrong with one is reported, and nothing runs out."""
    n = 1000
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as home:
        ranks, out, wrong = os.path.join(home, "ranks"), os.path.join(home, "out"), []
        os.mkdir(ranks)
        subprocess.run([o.ascope, "sim", "--framework", "pt", "--kernels", "0", "--operators", str(8 * n), "--steps", "1", "--ranks", str(n),
                        "--out", ranks], check=True, stdout=subprocess.DEVNULL)
        names = sorted(os.listdir(ranks))
        shutil.rmtree(os.path.join(ranks, names[5], "FRAMEWORK"))
        open(os.path.join(ranks, names[7], "FRAMEWORK/torch.op_range"), "ab").write(b"\1\0\xff\xff\xff\xff")
        open(os.path.join(ranks, "a file"), "w").close()
        os.mkdir(os.path.join(ranks, "a folder"))

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
        start = time.monotonic()
        done = subprocess.run([o.ascope, "analyse", ranks, "--out", out, "--export-type", "text"], capture_output=True, text=True,
                              timeout=5 * MOST_SECONDS, preexec_fn=limit)
        if o.whole:
            print("    %5.1f s  %d ranks" % (time.monotonic() - start, n), flush=True)
        wrong += complaints(out, done)
        if done.returncode != 3:
            wrong.append("ended with %d: %s" % (done.returncode, done.stderr[:300]))
        finished = glob.glob(out + "/*/ASCEND_PROFILER_OUTPUT/analyse.done")
        if len(finished) not in (n - 1, n):
            wrong.append("%d of %d are done" % (len(finished), n))
        if names[7] not in done.stdout + done.stderr:
            wrong.append("nothing is said of the damaged one")
        if len(done.stderr.splitlines()) > 20:
            wrong.append("%d lines of complaints" % len(done.stderr.splitlines()))
        yield "%d ranks" % n, wrong


def sample_of(o, sample):
    return glob.glob(os.path.join(o.source, "tests/data", sample.SAMPLE, "raw/*_ascend_pt"))[0]


def judge(o, sample, what, change, codes, said, files):
    o.sample = sample_of(o, sample)
    with sample(o, change) as r:
        yield "%s: %s" % (sample.SAMPLE, what), judge_run(r, codes, said, files)


def judge_run(r, codes, said, files):
    wrong = list(r.wrong)
    if r.done and r.done.returncode not in codes:
        wrong.append("ended with %d, not %s: %s" % (r.done.returncode, sorted(codes), (r.done.stderr + r.done.stdout)[-600:]))
    elif r.done and said not in r.done.stdout + r.done.stderr:
        wrong.append("does not say %r but %s" % (said, (r.done.stdout + r.done.stderr)[-900:]))
    return wrong + ["%s is not there" % f for f in files if r.done and not r.result(f)]


if __name__ == "__main__":
    sys.exit(run_checks(Options(sys.argv), "collections", (check_parts, check_records, check_exports, check_names, check_settings,
                                                        check_masses, check_ranks)))
