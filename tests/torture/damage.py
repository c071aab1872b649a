#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damage to every byte, absurd numbers in every field, masses of records, and collections that nobody would make on purpose.

usage: damage.py BUILD SOURCE [--quick] [--jobs N]

Made for a tree with sanitizers. Whole exports are of the samples cut down by small.py, each byte of which is damaged in five ways:
about two hours of one processor. The readers of records alone get every byte of the whole samples.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SAMPLES = ("prof-a", "collector-a/app-910a", "collector-a/app-910b", "collector-a/sys-910b", "collector-a/host-910b", "sim-310p")
SMALL = ("sim-ms", "sim-ms-s", "pt-a-host", "pt-a-npu", "prof-a", "collector-a/app-910a", "collector-a/sys-910b", "collector-a/host-910b", "sim-310p")
# what, options of the driver, cut down?, and of how many inputs one in a hurry
CAMPAIGNS = (
    ("damaged bytes and prefixes", [], True, 997),
    ("absurd numbers", ["--values"], True, 499),
    ("masses of records", ["--many", "50000", "--deep", "1000"], True, 0),
    ("records read from damaged files", ["--readers"], False, 4999),
)
SANITIZERS = {
    "ASAN_OPTIONS": "abort_on_error=1:allocator_may_return_null=1:detect_leaks=1:quarantine_size_mb=2:malloc_context_size=5",
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
}


def collection(o, home, name, is_small):
    base = os.path.join(o.source, "tests/data", name)
    whole, small = os.path.join(home, "whole", name), os.path.join(home, "small", name)
    command = os.path.join(base, "command")
    if os.path.exists(command) and not os.path.exists(whole):
        os.makedirs(whole)
        with open(command) as f:
            wanted = re.sub(r"--kernels \d+ --steps \d+", "--kernels 3 --steps 1", f.read())
        wanted = re.sub(r" --slice-kib \d+", "", wanted).split()  # a line over two slices would be cut by small.py
        subprocess.run([os.path.join(o.build, "ascope"), "sim", "--out", whole, *wanted], check=True, stdout=subprocess.DEVNULL)
    given = whole if os.path.exists(command) else base
    prof = (glob.glob(os.path.join(given, "PROF_*")) or glob.glob(os.path.join(given, "raw/*_ascend_*")) or glob.glob(os.path.join(given, "*_ascend_*")))[0]
    if is_small and not os.path.exists(small):
        records = "4" if os.path.exists(command) else "2"
        subprocess.run([sys.executable, os.path.join(o.source, "tests/torture/small.py"), prof, small, "--records", records,
                        "--lines", "2"], check=True)
        shutil.copy(os.path.join(o.source, "tests/data/ascope.json"), small)  # as if ascope had recorded it
    return small if is_small else prof


def note(o, n, kind):
    print("%8d  %s" % (n, kind), flush=True)
    book = os.environ.get("TORTURE_TALLY")
    if book:
        with open(book, "a") as f:
            f.write("%d %s\n" % (n, kind))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("build")
    p.add_argument("source")
    p.add_argument("--quick", action="store_true", help="a few of each kind only")
    p.add_argument("--jobs", default=str(os.cpu_count()))
    o = p.parse_args()
    home, failed = tempfile.mkdtemp(prefix="ascope-damage-"), False
    environment = {**SANITIZERS, **os.environ, "PYTHONPATH": os.path.join(o.source, "tests/support")}
    try:
        for what, options, is_small, hurry in CAMPAIGNS:
            if o.quick and hurry == 0:
                continue
            n = 0
            for name in SMALL if is_small else SAMPLES:
                every = ["--every", str(hurry)] if o.quick else []
                r = subprocess.run([os.path.join(o.build, "tests/torture/damage"), "--jobs", o.jobs, *options, *every,
                                    collection(o, home, name, is_small)], stdout=subprocess.PIPE, text=True, errors="replace",
                                   env=environment)
                counted = re.search(r": (\d+) inputs, .* (\d+) wrong$", r.stdout, re.M)
                n += int(counted.group(1)) if counted else 0
                if r.returncode != 0:
                    failed = True
                    print("%s, %s:\n%s" % (name, what, r.stdout), flush=True)
            note(o, n, what)
        if not o.quick:  # in a hurry each is a test of its own
            for what, options, kind in (("absurd", ["--whole"], "absurd collections"), ("absurd_collection", ["--whole"], "absurd collections"),
                                        ("absurd_ms", ["--whole"], "absurd collections"),
                                        ("hostile", ["--kinds", "13", "--jobs", o.jobs], "collections with one damaged file")):
                r = subprocess.run([sys.executable, os.path.join(o.source, "tests/command/hostile/test_%s.py" % what), os.path.join(o.build, "ascope"),
                                    o.source, *options], stdout=subprocess.PIPE, text=True, env=environment)
                counted = re.search(r"^(\d+) (absurd|damaged)", r.stdout, re.M)
                note(o, int(counted.group(1)) if counted else 0, kind)
                if r.returncode != 0:
                    failed = True
                    print(r.stdout)
    finally:
        shutil.rmtree(home)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
