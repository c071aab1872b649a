#!/usr/bin/env python3
"""Cuts the sample collections into small inputs for the fuzz targets.

    seeds.py DATA OUT        writes OUT/{records,text,settings,collection}/*
"""
import os
import sys

CUT = b"\xf5\xc1\xcc\xa0"
MOST_BYTES = 2048               # of each file: enough for several records, small enough to be mutated well
SETTINGS = ("info.json", "sample.json", "start_info", "end_info", "host_start.log", "dev_start.log")
# Families that only mean something together.
TOGETHER = ("api_event", "task_track", "node_basic", "tensor_info", "hash_dic", "type_info_dic", "stars_soc",
            "ts_track", "ffts_profile", "hccl", "graph_id", "context_id")


def files_of(prof):
    for folder in ("host", "device_0"):
        for base, _, names in os.walk(os.path.join(prof, folder)):
            for n in sorted(names):
                path = os.path.join(base, n)
                if not n.endswith(".done") and os.path.getsize(path) > 0:
                    yield os.path.relpath(path, prof), open(path, "rb").read(MOST_BYTES)


def write(out, target, name, data):
    os.makedirs(os.path.join(out, target), exist_ok=True)
    with open(os.path.join(out, target, name.replace("/", "_")), "wb") as f:
        f.write(data)


def main():
    data, out = sys.argv[1:]
    for base, dirs, _ in sorted(os.walk(data)):
        for d in sorted(dirs):
            if not d.startswith("PROF_"):
                continue
            tag = os.path.relpath(base, data).replace("/", "_")
            together, settings = [], []
            for path, content in files_of(os.path.join(base, d)):
                piece, name = path.encode() + b"\n" + content, "%s_%s" % (tag, path)
                if os.path.basename(path).startswith(SETTINGS):
                    settings.append(piece)
                    write(out, "settings", name, piece)
                    continue
                write(out, "collection", name, b"\0" + piece)
                write(out, "text", name, content)
                write(out, "records", name, b"\0\0" + content)
                if any(t in path for t in TOGETHER):
                    together.append(piece)
            write(out, "settings", tag + "_all", CUT.join(settings))
            for flags in (0, 2 | 8, 2 | 4 | 8 | 16):
                write(out, "collection", "%s_all_%d" % (tag, flags), bytes([flags]) + CUT.join(settings + together))


if __name__ == "__main__":
    main()
