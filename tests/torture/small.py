#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts a collection down to a few records of every kind, so that every byte of it can be damaged within the hour.

usage: small.py DIR OUT_DIR [--records N] [--lines N]

Settings stay whole. Of records the first N of a file stay, and the first of each further kind (their first eight bytes: magic,
level and type, or the function type of a device record, with counters left out); of lines likewise, by their words. DIR may also
be the directory of a framework: its records are distinguished by their small numbers and by which texts they have.
"""
import argparse
import os
import re
import shutil
import struct

MOST_NAMES = 24  # of a dictionary
# Families with records of one length; (length, bytes that tell kinds apart). What is not here is lines of text.
RECORDS = (
    ("api_event.data", 40, range(0, 8)), ("compact.", 64, range(0, 8)),
    ("additional.hash_dic", 0, ()), ("additional.type_info_dic", 0, ()), ("additional.", 256, range(0, 8)),
    ("stars_soc.data", 64, range(0, 1)), ("stars_soc_profile.data", 64, range(0, 8)), ("hwts.data", 64, range(0, 1)),
    ("ffts_profile.data", 128, range(0, 1)), ("aicore.data", 128, range(0, 1)), ("ts_track.data", 40, range(0, 2)),
    ("aicpu.data", 256, range(0, 8)), ("l2_cache.data", 72, ()), ("socpmu.data", 80, ()), ("hbm.data", 24, range(16, 24)),
    ("ddr.data", 20, ()), ("llc.data", 24, range(16, 24)), ("qos.data", 64, ()), ("pcie.data", 96, ()),
    ("npu_mem.", 32, ()), ("npu_module_mem.data", 24, range(0, 4)), ("tscpu.data", 304, ()), ("lpm", 888, ()),
)


def picked(things, kind_of, n):
    seen, out = set(), []
    for i, thing in enumerate(things):
        kind = kind_of(thing)
        if i < n or kind not in seen:
            out.append(thing)
        seen.add(kind)
    return out


def shorter(name, data, o):
    family = re.sub(r"^(un)?aging\.", "", name)
    size, key = next(((s, k) for start, s, k in RECORDS if family.startswith(start)), (0, ()))
    if size:
        records = [data[i:i + size] for i in range(0, len(data), size)]
        return b"".join(picked(records, lambda r: bytes(r[i] for i in key if i < len(r)), o.records))
    lines = data.splitlines(keepends=True)
    if "_dic" in family:
        return b"".join(lines[:MOST_NAMES])
    return b"".join(picked(lines, lambda x: re.sub(rb"[0-9a-f.:]*[0-9]+[0-9a-f.:]*", b"0", x), o.lines))


def tlv(data, at=0):
    """(type, record with its head) of a file that is type, length, bytes over and over."""
    while at + 6 <= len(data):
        kind, size = struct.unpack_from("<HI", data, at)
        yield kind, data[at:at + 6 + size]
        at += 6 + size


# Files of frameworks: bytes of the fixed part (without its head), and those of them that tell kinds apart; the last two are arrays.
FRAMEWORK = {
    "torch.op_range": (58, (48, 56, 57)), "torch.op_mark": (40, (8,)), "torch.memory_usage": (77, (56, 58, 59)),
    "torch.python_tracer_hash": (8, ()), "torch.param_tensor_info": (8, ()),
    "torch.python_tracer_func": (33, (32,)), "torch.gc_record": (24, ()), "ascope.step_threads": (64, ()), "ascope.graph_nodes": (16, ()),
    "mindspore.op_range": (54, (44, 46, 48, 50, 51, 52, 53)), "op_range_0": (74, (72, 73)), "mindspore.memory_usage": (100, (43,)),
    "mindspore.record_shapes": (0, ()),
}
ARRAYS = ("torch.python_tracer_func", "torch.gc_record", "ascope.step_threads")


def shorter_records(name, data, o):
    size, key = FRAMEWORK[name]
    if name in ARRAYS:
        records = [data[i:i + size] for i in range(0, len(data), size)]
        return b"".join(picked(records, lambda r: bytes(r[i] for i in key if i < len(r)), o.records))

    def kind_of(record):
        texts = tuple(sorted(kind for kind, _ in tlv(record, 6 + size)))
        return bytes(record[6 + i] for i in key), texts, b"ProfilerStep#" in record, b"######" in record, b"flow" in record
    return b"".join(picked([r for _, r in tlv(data)], kind_of, o.records))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("dir")
    p.add_argument("out")
    p.add_argument("--records", type=int, default=3)
    p.add_argument("--lines", type=int, default=3)
    o = p.parse_args()
    shutil.rmtree(o.out, ignore_errors=True)
    for base, _, names in os.walk(o.dir):
        to = os.path.join(o.out, os.path.relpath(base, o.dir))
        os.makedirs(to)
        for name in names:
            with open(os.path.join(base, name), "rb") as f:
                data = f.read()
            if name in FRAMEWORK:
                data = shorter_records(name, data, o)
            if base.endswith("/data"):
                data = shorter(name, data, o)
            with open(os.path.join(to, name), "wb") as f:
                f.write(data)


if __name__ == "__main__":
    main()
