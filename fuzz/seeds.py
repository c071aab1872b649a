#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts the sample collections, and a small simulated one of each chip, into inputs for the fuzz targets.

    seeds.py ASCOPE DATA OUT        writes OUT/{records,text,settings,collection,framework,session,memory_timeline,rings,flight,options,dynamic,http,chrome,pftrace,summary,manifest,rank,view_db,tables,pickle,snapshot,hang,mcp}/*
"""
import glob
import gzip
import json
import os
import pickle
import re
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/support"))
from made_snapshot import Training  # noqa: E402

CUT = b"\xf5\xc1\xcc\xa0"
MOST_BYTES = 2048               # of each file: enough for several records, small enough to be mutated well
SETTINGS = ("info.json", "sample.json", "start_info", "end_info", "host_start.log", "dev_start.log")
# Families that only mean something together.
TOGETHER = ("api_event", "task_track", "node_basic", "tensor_info", "hash_dic", "type_info_dic", "stars_soc",
            "ts_track", "ffts_profile", "hccl", "graph_id", "context_id", "hwts", "aicore", "aiVector", "aicpu", "ascope_cuda", "ascope_gpu")
CHIPS = (("A2",), ("A2", "--late", "--tiling"), ("A3",), ("910",), ("310P",), ("310B",), ("MDC",), ("MDC-mini",), ("950",),
         ("310",), ("A2", "--sample-based"), ("310P", "--sample-based"), ("A2", "--level0"))
OPTIONS = (b'{"output":"./","training_trace":"on","task_time":"on","hccl":"on","aicpu":"on","aic_metrics":"PipeUtilization"}',
           b'{"output":".\\/","task_trace":"l0","fp_point":"a","bp_point":"","storage_limit":"200MB","host_sys":"cpu,mem,osrt"}',
           b'{"output":"p","aic_metrics":"Custom:0x500,12","instr_profiling":"on","instr_profiling_freq":300,"l2":"on","l2":""}',
           b'{"output":"p","sys_hardware_mem_freq":50,"llc_profiling":"write","dvpp_freq":1,"host_sys_usage":"cpu"}',
           b'{"dump":{},"profiler":{"switch":"on","output":"p","ascendcl":"off","optype":"b,a","sys_lp_freq":5}}')
DYNAMIC = (b'\0{"activities": ["CPU", "NPU"], "prof_dir": "./", "analyse": true, "active": 2, "warmup": 1, "start_step": -1, "is_rank": true,'
           b' "rank_list": [0, 8], "metadata": {"lr": 0.5}, "experimental_config": {"profiler_level": "Level1", "aic_metrics": "Memory",'
           b' "gc_detect_threshold": 1.5, "export_type": ["text", "db"], "mstx": true, "mstx_domain_include": ["a"], "host_sys": ["cpu"]}}',
           b'\1{"start_step": 3, "stop_step": 5, "analyse": true}', b'\2\x40\0\0\1\2\3\4\5\6\7\0' + CUT + b'\0\x10\0\2\0\0\0\0\0\0\0\xff\xff')
REPORTS = (b'{"json_process":{"ascend":true,"cann":false,"hccl":true}}', b'{"json_process":{"nonsense":true}}', b'[]')


def files_of(prof):
    for folder in ("host", "device_0"):
        for base, _, names in os.walk(os.path.join(prof, folder)):
            for n in sorted(names):
                path = os.path.join(base, n)
                if not n.endswith(".done") and os.path.getsize(path) > 0:
                    with open(path, "rb") as f:
                        yield os.path.relpath(path, prof), f.read(MOST_BYTES)


def write(out, target, name, data):
    os.makedirs(os.path.join(out, target), exist_ok=True)
    with open(os.path.join(out, target, name.replace("/", "_")), "wb") as f:
        f.write(data)


def cut(prof, tag, out):
    together, settings, alone = [], [], []
    for path, content in files_of(prof):
        piece, name = path.encode() + b"\n" + content, "%s_%s" % (tag, path)
        if os.path.basename(path).startswith(SETTINGS):
            settings.append(piece)
            write(out, "settings", name, piece)
            continue
        alone.append((name, piece))
        write(out, "text", name, content)
        write(out, "records", name, bytes([len(alone) % 256, 0]) + content)
        if any(t in path for t in TOGETHER):
            together.append(piece)
    # What a stream means depends on the chip: each comes with the settings of its device.
    chip = [s for s in settings if s.startswith((b"device_0/info.json", b"device_0/sample.json"))]
    for name, piece in alone:
        write(out, "collection", name, b"\0" + CUT.join(chip + [piece]))
    write(out, "settings", tag + "_all", CUT.join(settings))
    for ask in (0, 2 | 8, 2 | 4 | 8 | 16, 128):
        write(out, "collection", "%s_all_%d" % (tag, ask), bytes([ask]) + CUT.join(settings + together))


def make_gpu(prof):
    """The same host with a GPU as its device: src/raw/cuda_records.c has the layouts."""
    for path in glob.glob(os.path.join(prof, "*/info.json*")):
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            f.write(re.sub(r'("platform_version": *)"[^"]*"', r'\1"10000"', text))
    data = os.path.join(prof, "device_0/data")
    for name in os.listdir(data):
        os.remove(os.path.join(data, name))
    with open(os.path.join(prof, "device_0/dev_start.log.0")) as f:
        start = int(re.search(r"cntvct: *(\d+)", f.read()).group(1))
    task, memory = struct.Struct("<HBBIQQQQQIIIHBB10I8x"), struct.Struct("<HBBIQQQIIQQQQ8x")
    with open(os.path.join(data, "ascope_cuda.data.0.slice_0"), "wb") as f:
        for i in range(8):
            kind = i % 4 + 1
            f.write(task.pack(0x4755, kind, kind == 2, i + 1, start + 9000 * (i + 1), start + 9000 * (i + 1) + 5000, 77 if kind == 1 else 0, 4096, 100 + i, i // 6, 7 + i % 2, 1,
                              40, 2, 3, 16, 2, 1, 128, 1, 1, 1024, 2048, 0, 1))
    with open(os.path.join(data, "ascope_cuda_memory.data.0.slice_0"), "wb") as f:
        for i in range(6):
            f.write(memory.pack(0x474D, i % 5 + 1, 3, i + 1, start + 9000 * (i + 1), 0x7000 + i // 2, 1 << 20, 7, 1, 0x5000, 1 << 25, 1 << 23, 0))
    sample = struct.Struct("<HHIQIIIHHQQQQQQ")
    with open(os.path.join(data, "ascope_gpu.data.0.slice_0"), "wb") as f:
        for i in range(3):
            f.write(sample.pack(0x4753, 0xFFF, 1980, 9000 * (i + 1), 3201, 350500, 40, 87, 35, 1 << 30, 141 << 30, 1 << 20, 1 << 21, 1 << 22, 1 << 23))


def tlv_records(content):
    """Whole records of a file that is (type, length, bytes) one behind the other."""
    at = 0
    while at + 6 <= len(content):
        size = 6 + struct.unpack_from("<I", content, at + 2)[0]
        yield content[at:at + size]
        at += size


def some_records(name, content):
    """Some of the beginning, the middle and the end of a file, whole records only."""
    sizes = {"torch.python_tracer_func": 33, "torch.gc_record": 24, "ascope.step_threads": 64}
    if name in sizes:
        records = [content[i:i + sizes[name]] for i in range(0, len(content), sizes[name])]
    else:
        records = list(tlv_records(content))
    for first in (0, len(records) // 2, max(0, len(records) - 12)):
        yield b"".join(records[first:first + 12])


TEXTS = (".json", ".txt", ".csv")  # what MindSpore writes beside its records


def cut_session(session, tag, out):
    settings, parts = [], [[], [], []]
    of_records, of_all = (8, 128) if session.endswith("_ascend_ms") else (0, 0)  # bits of the targets: it is MindSpore's
    for path in sorted(glob.glob(session + "/profiler_*.json")):
        with open(path, "rb") as f:
            settings.append(os.path.basename(path).replace("_1.", "_0.").encode() + b"\n" + f.read())
    for name in sorted(os.listdir(session + "/FRAMEWORK")):
        with open(os.path.join(session, "FRAMEWORK", name), "rb") as f:
            content = f.read()
            for i, some in enumerate([content[:MOST_BYTES]] * 3 if name.endswith(TEXTS) else some_records(name, content)):
                parts[i].append(b"FRAMEWORK/" + name.encode() + b"\n" + some)
                write(out, "framework", "%s_%s_%d" % (tag, name, i), bytes([3 | of_records]) + parts[i][-1])
    device = []
    for prof in glob.glob(session + "/PROF_*"):
        device = [path.encode() + b"\n" + content for path, content in files_of(prof)
                  if os.path.basename(path).startswith(SETTINGS) or any(t in path for t in TOGETHER)]
    for i, part in enumerate(parts):
        write(out, "framework", "%s_all_%d" % (tag, i), bytes([1 | of_records]) + CUT.join(part))
        if of_all == 0:
            write(out, "memory_timeline", "%s_%d" % (tag, i), bytes([i]) + CUT.join(settings + part))
        for ask in (0, 1 | 2, 2 | 4 | 8, 16, 32 | 2, 64, 64 | 2) if of_all == 0 else (0, 1 | 2, 2 | 4 | 8, 16):
            write(out, "session", "%s_%d_%d" % (tag, i, ask), bytes([ask | of_all]) + CUT.join(settings + part + device))


def flight_records(stream):
    """Two of 24 bytes; fuzz_flight makes their checks fit."""
    return (struct.pack("<IHBB", 0, 23, stream, 0) + b"r" * 24) * 2


def flight_batch(until_ns, ring):
    records = flight_records(0)
    run = struct.pack("<QIIQQ", 0, ring, 0, 0, len(records)) + records
    return struct.pack("<4Q", 0, until_ns - 1, until_ns, len(run)) + run


def logged_database():
    """A database and its log."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.db")
        db = sqlite3.connect(path)
        for sql in ("PRAGMA page_size = 512", "CREATE TABLE STEP_TIME (id INTEGER, startNs INTEGER, endNs INTEGER)", "PRAGMA journal_mode = WAL",
                    "INSERT INTO STEP_TIME VALUES (1, 2, 3)"):
            db.execute(sql)
        db.commit()
        with open(path, "rb") as f, open(path + "-wal", "rb") as log:
            pieces = f.read(), log.read()
        db.close()
        return CUT.join(pieces)


def cut_ranks(ascope, data, out):
    """The payload of a small summary; the databases and texts of one rank."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([ascope, "sim", "--out", folder, "--framework", "pt", "--kernels", "6", "--steps", "2"], check=True, capture_output=True)
        subprocess.run([ascope, "analyse", "--summary", folder], check=True, capture_output=True)
        for file in glob.glob(folder + "/*/*.summary"):
            with open(file, "rb") as f:
                write(out, "summary", "sim", zlib.decompress(f.read()[64:]))
        subprocess.run([ascope, "cluster", folder, "--manifest", folder + "/list"], check=True, capture_output=True)
        with open(folder + "/list", "rb") as f:
            listed = f.read()
        write(out, "manifest", "list", listed)
        write(out, "manifest", "entry", listed[int.from_bytes(listed[24:32], "little") + 16:])  # behind the header and two places
    with tarfile.open(os.path.join(data, "cluster-a.tar.xz")) as archive:
        for member in archive.getmembers():
            kind = [i for i, name in enumerate(("profiler_0.db", "analysis.db", "communication.json", "communication_matrix.json",
                                                "step_trace_time.csv")) if member.name.endswith(name)]
            if kind and "_2000_" in member.name and "base-db" not in member.name:
                write(out, "rank", "file_%d" % kind[0], bytes(kind) + archive.extractfile(member).read())
                if kind[0] < 2:
                    write(out, "view_db", "file_%d" % kind[0], archive.extractfile(member).read())
    write(out, "view_db", "log", logged_database())


def cut_hangs(out):
    """Four ranks in a group of all and two of pairs; each job hangs in another way."""
    groups = {"0": [0, 1, 2, 3], "1": [0, 1], "2": [2, 3]}

    def entry(group, number, done, kind="all_reduce", p2p=False, size=8):
        return {"frames": [{"name": "step", "filename": "train.py", "line": number}], "process_group": [group, "tp"], "is_p2p": p2p,
                "collective_seq_id": 0 if p2p else number, "p2p_seq_id": number if p2p else 0, "profiling_name": "nccl:" + kind,
                "input_sizes": [[size]], "output_sizes": [[size, 2]], "input_dtypes": ["Float"], "output_dtypes": ["Float"],
                "state": "completed" if done else "started", "retired": done}
    jobs = {
        "missing": [[entry("0", 1, True)] + [entry("0", 2, False)] * (r != 2) for r in range(4)],
        "mismatch": [[entry("0", 1, False, size=8 + (r == 1))] for r in range(4)],
        "order": [[entry("0", 1, False, "broadcast" if r == 3 else "all_reduce")] for r in range(4)],
        "cycle": [[entry("1" if r < 2 else "2", 1, False)] * (r % 3 > 0) + [entry("0", 1, False)] for r in range(4)],
        "transfer": [[entry("1", 1, False, "recv 0<-1" if r == 0 else "send 1->0", True)] for r in range(2)],
    }
    for name, ranks in jobs.items():
        dumps = [{"version": "2.10", "pg_status": {"0": {"last_enqueued_collective": 2, "last_completed_collective": 1}},
                  "pg_config": {k: {"name": k, "desc": "tp", "ranks": str(v)} for k, v in groups.items() if r in v}, "entries": e}
                 for r, e in enumerate(ranks)]
        write(out, "hang", name, CUT.join(json.dumps(d).encode() for d in dumps))
        write(out, "hang", name + "_pickle", CUT.join(pickle.dumps(d) for d in dumps))


def main():
    ascope, data, out = sys.argv[1:]
    for base, dirs, _ in sorted(os.walk(data)):
        for d in sorted(dirs):
            if d.startswith("PROF_"):
                cut(os.path.join(base, d), os.path.relpath(base, data).replace("/", "_"), out)
            if d.endswith(("_ascend_pt", "_ascend_ms")):
                cut_session(os.path.join(base, d), os.path.relpath(base, data).replace("/", "_"), out)
    with tempfile.TemporaryDirectory() as folder:
        command = [ascope, "sim", "--out", folder, "--framework", "pt", "--kernels", "12", "--steps", "2", "--operators", "40"]
        cut_session(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip(), "sim", out)
        for i, options in enumerate((("--jit", "O0"), ("--jit", "off"), ("--generation", "S"))):
            command = [ascope, "sim", "--out", "%s/ms%d" % (folder, i), "--framework", "ms", "--kernels", "6", "--steps", "2", *options]
            cut_session(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip(), "sim_ms%d" % i, out)
    for i, options in enumerate(CHIPS):
        with tempfile.TemporaryDirectory() as folder:
            command = [ascope, "sim", "--out", folder, "--kernels", "6", "--steps", "2", "--chip", *options]
            prof = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            cut(prof, "sim%d" % i, out)
            if i == 0:
                make_gpu(prof)
                cut(prof, "gpu", out)
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(os.path.join(out, "rings"), exist_ok=True)
        subprocess.run([os.path.join(os.path.dirname(ascope), "fuzz/rings_seed"), folder, os.path.join(out, "rings/left")],
                       check=True)
    write(out, "flight", "history", b"\0\1" + CUT.join([flight_records(4), flight_batch(1, 0), flight_batch(2, 4096)]))
    with open(os.path.join(data, "ascope.json"), "rb") as f:
        recording = b"ascope.json\n" + f.read()
    for target, head in (("settings", b""), ("collection", b"\0"), ("session", b"\2")):
        write(out, target, "ascope", head + recording)
        write(out, target, "ascope_running", head + recording.replace(b'"stop"', b'"running"'))
    for i, text in enumerate(REPORTS):
        write(out, "settings", "reports_%d" % i, b"host/reports.json\n" + text)
    for i, text in enumerate(DYNAMIC):
        write(out, "dynamic", "text_%d" % i, text)
    write(out, "http", "two_requests", b"GET /t/api?q=a%20b&t0=-1 HTTP/1.1\r\nHost: x\r\n\r\nHEAD /%41 HTTP/1.0\r\nConnection: close\r\n\r\n")
    for path in sorted(glob.glob(os.path.join(data, "kineto/*.json"))):
        with open(path, "rb") as f:
            text = f.read()
        for i in range(4):  # some of the beginning, the middle and the end
            at = text.find(b"{", (len(text) - MOST_BYTES) * i // 3)
            write(out, "chrome", "%s_%d" % (os.path.basename(path), i), (b"[" if i else b"") + text[at:at + MOST_BYTES])
    prof, = glob.glob(os.path.join(data, "prof-a/PROF_*"))
    whole = os.path.join(out, "pftrace", "whole.pftrace")
    os.makedirs(os.path.dirname(whole), exist_ok=True)
    subprocess.run([ascope, "export-trace", prof, whole, "-q"], check=True, stdout=subprocess.DEVNULL)
    with open(whole, "rb") as f:
        packets = f.read()
    os.unlink(whole)
    write(out, "pftrace", "cut", packets[:MOST_BYTES])
    write(out, "pftrace", "plain", zlib.decompressobj().decompress(packets[packets.find(b"\x78\x9c"):])[:MOST_BYTES])  # the first packets
    trace = b'{"traceEvents": [{"ph": "X", "name": "a", "ts": 1.5, "dur": 2, "pid": 1, "tid": 1, "args": {"x": [1, "\\u0041"]}}]}'
    for i, text in enumerate((b'Name,Time(us)\n"a ""b"", c",1.5\nd\n,,\n', b'{"a": {"b": [1, -2.5e3, "c", null, true]}, "d": ""}', gzip.compress(trace, mtime=0))):
        write(out, "tables", "file_%d" % i, bytes([i]) + text)
    for protocol in range(2, 6):
        write(out, "pickle", "protocol_%d" % protocol, pickle.dumps({"entries": [{"a": (1, -1, 300, 1 << 40, 1.5)}, [None, True, "é" * 300]] * 2}, protocol))
    for protocol in 2, 4:
        training = Training(layers=1, limit=8 << 20)
        write(out, "snapshot", "protocol_%d" % protocol, pickle.dumps(training.run(8, lambda t, i: t.alloc(1 << 20, 16)).snapshot(), protocol))
    with open(os.path.join(data, "mcp/conversation.jsonl"), "rb") as f:
        for i, line in enumerate(f):
            if line.startswith(b'{"client": '):
                write(out, "mcp", "message_%d" % i, line[len(b'{"client": '):-2])
    write(out, "pickle", "json", b'{"entries": [{"a": [1, -1, 1.5, null, true, "\\u0041"]}]}')
    cut_hangs(out)
    cut_ranks(ascope, data, out)
    for i, text in enumerate(OPTIONS):
        write(out, "options", "text_%d" % i, bytes([i % 3, 6]) + text)


if __name__ == "__main__":
    main()
