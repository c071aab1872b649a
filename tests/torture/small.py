#!/usr/bin/env python3
"""Cuts a collection down to a few records of every kind, so that every byte of it can be damaged within the hour.

usage: small.py PROF_DIR OUT_DIR [--records N] [--lines N]

Settings stay whole. Of records the first N of a file stay, and the first of each further kind (their first eight bytes: magic,
level and type, or the function type of a device record, with counters left out); of lines likewise, by their words.
"""
import argparse
import os
import re
import shutil

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


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("prof")
    p.add_argument("out")
    p.add_argument("--records", type=int, default=3)
    p.add_argument("--lines", type=int, default=3)
    o = p.parse_args()
    shutil.rmtree(o.out, ignore_errors=True)
    for base, _, names in os.walk(o.prof):
        to = os.path.join(o.out, os.path.relpath(base, o.prof))
        os.makedirs(to)
        for name in names:
            with open(os.path.join(base, name), "rb") as f:
                data = f.read()
            if base.endswith("/data"):
                data = shorter(name, data, o)
            with open(os.path.join(to, name), "wb") as f:
                f.write(data)


if __name__ == "__main__":
    main()
