#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A made memory snapshot of any size, with a leak, as PyTorch's pickler would write it; and what it costs to judge it.

    large_snapshot.py OUT MB             writes it
    large_snapshot.py judge ASCOPE FILE  CPU seconds and most memory of `ascope memory FILE`, beside the limits of docs/memory.md
"""
import json
import os
import pickle
import resource
import struct
import subprocess
import sys

DEPTH, LINES, BLOCKS, KEPT = 24, 60, 1000, 4096   # frames of a stack, stacks, blocks of a step, bytes that each step keeps
BASE, TIME = 1 << 46, 1795009955000000


def long1(v):
    return b"\x8a\x08" + struct.pack("<q", v)


def get(i):
    return b"h" + bytes([i]) if i < 256 else b"j" + struct.pack("<I", i)


def text(s):
    return b"\x8c" + bytes([len(s)]) + s.encode() + b"\x94"


class Writer:
    def __init__(self, f):
        self.f, self.memo = f, {}

    def put(self, code, *names):
        """Writes code that keeps so many values in the memo, under these names."""
        self.f.write(code)
        for name in names:
            self.memo[name] = len(self.memo)

    def key(self, name):
        if name in self.memo:
            self.f.write(get(self.memo[name]))
        else:
            self.put(text(name), name)


def write(path, size):
    with open(path, "wb") as f:
        w = Writer(f)
        w.put(b"\x80\x04")
        w.put(b"}\x94(", "root")
        w.key("allocator_settings")
        w.put(b"}\x94", "settings")
        # what all events refer to: names, frames
        w.key("names")
        w.put(b"]\x94(", "list")
        for name in ("action", "alloc", "free_requested", "free_completed", "addr", "size", "stream", "time_us", "compile_context", "N/A",
                     "user_metadata", "", "frames", "name", "filename", "line"):
            w.key(name)
        for i in range(LINES + DEPTH):
            w.put(b"}\x94(", "frame%d" % i)
            w.key("name")
            w.key("f%d" % i)
            w.key("filename")
            w.key("/home/user/train.py" if i >= DEPTH else "/venv/site-packages/torch/nn/m%d.py" % i)
            w.f.write(get(w.memo["line"]) + b"K" + bytes([i]) + b"u")
        w.f.write(b"e")
        k = {name: get(i) for name, i in w.memo.items()}

        def event(action, address, n, stack, extra=b""):
            return (b"}\x94(" + k["action"] + k[action] + k["addr"] + long1(address) + k["size"] + b"J" + struct.pack("<i", n) + k["stream"] + b"K\0" +
                    k["time_us"] + long1(TIME) + k["compile_context"] + text("N/A") + k["user_metadata"] + k[""] + k["frames"] + stack + b"u" + extra)

        def stack(i):
            return b"]\x94(" + b"".join(k["frame%d" % d] for d in range(DEPTH)) + k["frame%d" % (DEPTH + i % LINES)] + b"e"
        step = [event("alloc", BASE + i * 65536, 512 + i, stack(i)) for i in range(BLOCKS)]
        for i in range(BLOCKS):
            step.append(event("free_requested", BASE + i * 65536, 512 + i, b"]\x94"))
            step.append(event("free_completed", BASE + i * 65536, 512 + i, b"]\x94"))
        step.append(event("alloc", BASE - (1 << 40), KEPT, stack(7)))
        for i in range(999, len(step), 1000):  # a pickler appends a thousand items at once
            step[i] += b"e("
        times, at = [], 0
        for e in step:
            times.append(at + e.index(k["time_us"] + b"\x8a\x08") + len(k["time_us"]) + 2)
            at += len(e)
        code = bytearray(b"".join(step))
        kept_at = at - len(step[-1]) + step[-1].index(k["addr"] + b"\x8a\x08") + len(k["addr"]) + 2
        w.key("device_traces")
        w.f.write(b"]\x94(]\x94(")
        n_steps = max(8, size // len(code))
        for s in range(n_steps):
            for i, offset in enumerate(times):
                struct.pack_into("<q", code, offset, TIME + s * 10000 + i)
            struct.pack_into("<q", code, kept_at, BASE - (1 << 40) + s * KEPT)
            w.f.write(code)
        w.f.write(b"ee")
        rest = {"external_annotations": [{"stage": "END", "name": "Optimizer.step#AdamW.step", "device": 0, "time_us": TIME + s * 10000 + 9999}
                                         for s in range(n_steps)],
                "segments": [{"device": 0, "address": BASE - (1 << 40), "total_size": n_steps * KEPT, "stream": 0, "segment_type": "small",
                              "blocks": [{"address": BASE - (1 << 40) + s * KEPT, "size": KEPT, "requested_size": KEPT, "state": "active_allocated",
                                          "frames": []} for s in range(n_steps)]}]}
        for name, value in rest.items():
            pickler = pickle.dumps(value, 4)
            w.f.write(text(name) + unmemoized(pickler))
        w.f.write(b"u.")
    return n_steps


def unmemoized(code):
    """The opcodes of a pickle that refers to nothing by number, without protocol, frames and end: they can stand anywhere."""
    import pickletools
    out, values = bytearray(), {}
    ops = list(pickletools.genops(code)) + [(None, None, len(code))]
    memo = []
    for (op, arg, at), (_, _, end) in zip(ops, ops[1:]):
        if op.name in ("PROTO", "FRAME", "STOP"):
            continue
        if op.name == "MEMOIZE":
            memo.append(values["last"])
            continue
        values["last"] = code[at:end]
        out += memo[arg] if op.name in ("BINGET", "LONG_BINGET") else code[at:end]
        if op.name in ("BINGET", "LONG_BINGET"):
            values["last"] = memo[arg]
    return bytes(out)


def judge(ascope, path):
    done = subprocess.run([ascope, "memory", "--json", path], capture_output=True, text=True, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(done.stdout)["memories"][0]
    print("%s: %.2f GB, %d steps: %.1f CPU s, %.0f MiB" % (answer["verdict"], os.path.getsize(path) / 1e9, answer["steps"],
                                                        used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
    return answer["growth_bytes_a_step"] == KEPT


if __name__ == "__main__":
    if sys.argv[1] == "judge":
        sys.exit(not judge(*sys.argv[2:4]))
    print("%d steps" % write(sys.argv[1], int(float(sys.argv[2]) * 1e6)))
