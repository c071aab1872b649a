#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damage to every file of a collection, one at a time: the export never crashes and never writes half a result.

usage: test_hostile.py ASCOPE SOURCE_ROOT [--sample NAME]... [--chip NAME]... [--kinds N] [--rounds N] [--seed N]
                       [--jobs N]

Made for a build with sanitizers.  Each damaged collection must export with status 0, 1 or 3, say nothing of a
sanitizer, leave no temporary file, and write JSON that parses, databases that are sound and tables that can be read.
Each file suffers --kinds of the kinds of damage (3), drawn by --seed (1); make torture has all 13 of them, and --rounds 5 is a
hunt for a free evening.
"""
import argparse
import concurrent.futures
import csv
import glob
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from check_timeline import check_file

MOST_SECONDS = 120
FATAL_RULES = {"json", "member", "phase"}


def flips(rng, data, n):
    out = bytearray(data)
    for _ in range(n):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


EXTREMES = (b"\xff" * 8, b"\0" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 7 + b"\x80", b"\xff\xff\xff\x7f\0\0\0\0")


def words(rng, data, n):
    """Extreme values where numbers may be."""
    out = bytearray(data)
    for _ in range(n):
        at = rng.randrange(max(1, len(out) - 8)) & ~1
        out[at:at + 8] = rng.choice(EXTREMES)
    return bytes(out)


DAMAGE = {
    "emptied": lambda r, d: b"",
    "one byte": lambda r, d: d[:1],
    "cut in the middle": lambda r, d: d[:len(d) // 2 + 3],
    "last byte gone": lambda r, d: d[:-1],
    "first byte gone": lambda r, d: d[1:],
    "all zeros": lambda r, d: bytes(len(d)),
    "all ones": lambda r, d: b"\xff" * len(d),
    "garbage behind": lambda r, d: d + r.randbytes(70000),
    "a bit flipped": lambda r, d: flips(r, d, 1),
    "many bits flipped": lambda r, d: flips(r, d, 1 + len(d) // 50),
    "extreme numbers": lambda r, d: words(r, d, 1 + len(d) // 200),
    "cut anywhere": lambda r, d: d[:r.randrange(len(d))],
    "pieces shuffled": lambda r, d: b"".join(r.sample([d[i:i + 8] for i in range(0, len(d), 8)], (len(d) + 7) // 8)),
}
SAMPLES = ("prof-a", "collector-a/app-910a", "collector-a/app-910b", "collector-a/sys-910b", "collector-a/host-910b",
           "pt-a-host", "pt-a-npu")
SESSION = "_ascend_pt"
CHIPS = ("950", "310")  # that write task logs as no sample has them


def complaints(out, done):
    """What is wrong with a run and what it left behind."""
    if done.returncode not in (0, 1, 3):
        yield "status %d" % done.returncode
    if "Sanitizer" in done.stderr or "runtime error" in done.stderr:
        yield "\n".join(done.stderr.splitlines()[:12])
    for base, _, names in os.walk(out):
        for path in (os.path.join(base, n) for n in names):
            try:
                if ".part-" in path:
                    yield "%s was left behind" % path
                elif os.path.basename(path).startswith(("communication", "minddata")) and path.endswith(".json"):
                    with open(path, encoding="utf-8") as f:
                        json.load(f)
                elif path.endswith(".json"):
                    broken = check_file(path).problems()
                    yield from ("%s: %s %s" % (path, r, n) for r, n in broken.items() if r in FATAL_RULES)
                elif path.endswith(".db"):
                    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
                    answer = db.execute("PRAGMA integrity_check").fetchall()
                    db.close()
                    if answer != [("ok",)]:
                        yield "%s: %s" % (path, answer[:3])
                elif path.endswith(".csv"):
                    with open(path, newline="", encoding="utf-8", errors="replace") as f:
                        header = next(csv.reader(f), [])
                    if not header or "" in header[:-1]:  # a copied operator_memory.csv ends with a comma
                        yield "%s: has no header" % path
            except (OSError, ValueError, sqlite3.Error, csv.Error) as why:
                yield "%s: cannot be read: %r" % (path, why)


class Worker:
    """One copy of the sample, damaged and mended again and again."""

    def __init__(self, ascope, sample, home):
        self.ascope, self.home = ascope, home
        self.prof = os.path.join(home, os.path.basename(sample))
        shutil.copytree(sample, self.prof)

    def run(self, file, data):
        path, out = os.path.join(self.prof, file), os.path.join(self.home, "out")
        with open(path, "rb") as f:
            good = f.read()
        with open(path, "wb") as f:
            f.write(data)
        try:
            what = ["analyse", "--export-type", "text,db"] if self.prof.endswith(SESSION) else ["export", "all"]
            command = [self.ascope, *what, "-dir", self.prof, "--out", out, "--time-base", "start"]
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=MOST_SECONDS)
            return list(complaints(out, done))
        except subprocess.TimeoutExpired:
            return ["still running after %d s" % MOST_SECONDS]
        finally:
            with open(path, "wb") as f:
                f.write(good)
            shutil.rmtree(out, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ascope")
    p.add_argument("source")
    p.add_argument("--sample", action="append", choices=SAMPLES)
    p.add_argument("--chip", action="append", help="a simulated collection of this chip (%s)" % ", ".join(CHIPS))
    p.add_argument("--kinds", type=int, default=3)
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    o = p.parse_args()
    failed = done = 0
    with tempfile.TemporaryDirectory() as simulated:
        wanted = [next(p for where in ("PROF_*", "raw/*" + SESSION) for p in glob.glob(os.path.join(o.source, "tests/data", s, where)))
                  for s in o.sample or (() if o.chip else SAMPLES)]
        wanted += [simulate(o.ascope, chip, simulated) for chip in o.chip or (() if o.sample else CHIPS)]
        for prof in wanted:
            n, trouble = damage_all(o, prof)
            failed, done = failed + trouble, done + n
    print("%d damaged collections, %d with trouble" % (done, failed))
    return int(failed > 0)


def simulate(ascope, chip, folder):
    folder = os.path.join(folder, chip)
    os.mkdir(folder)
    command = [ascope, "sim", "--out", folder, "--chip", chip, "--kernels", "20", "--steps", "1"]
    command += [] if chip == "950" else ["--samplers=off"]  # those of the 950 are in no sample
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def damage_all(o, sample):
    """-> how many damaged collections were exported, and with how many of them there was trouble"""
    files = sorted(os.path.relpath(os.path.join(b, n), sample) for b, _, names in os.walk(sample) for n in names
                   if not n.endswith(".done"))
    if sample.endswith(SESSION):  # what the device wrote is damaged elsewhere
        files = [f for f in files if not f.startswith("PROF_")]
    jobs = []
    for n in range(o.rounds):
        for file in files:
            kinds = random.Random("%d %d %s" % (o.seed, n, file)).sample(sorted(DAMAGE), min(o.kinds, len(DAMAGE)))
            jobs += [(file, what, n) for what in kinds]
    home, failed = tempfile.mkdtemp(prefix="ascope-hostile-"), 0
    try:
        free = [Worker(os.path.abspath(o.ascope), sample, os.path.join(home, str(i))) for i in range(o.jobs)]

        def one(job):
            file, what, n = job
            with open(os.path.join(sample, file), "rb") as f:
                data = f.read()
            worker = free.pop()
            try:
                dice = random.Random("%d %d %s %s" % (o.seed, n, file, what))
                return worker.run(file, DAMAGE[what](dice, data)) if data else []
            finally:
                free.append(worker)

        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for (file, what, n), wrong in zip(jobs, pool.map(one, jobs)):
                failed += bool(wrong)
                if wrong:
                    print("%s: %s, %s (seed %d, round %d):\n    %s"
                          % (os.path.basename(sample), file, what, o.seed, n, "\n    ".join(wrong)))
    finally:
        shutil.rmtree(home)
    return len(jobs), failed


if __name__ == "__main__":
    sys.exit(main())
