#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program of another architecture writes the same bytes: what it simulates, exports and analyses is compared with ours.

    cross.py ASCOPE SAMPLES OTHER...

OTHER is the command that runs the other program: qemu-aarch64-static -L SYSROOT ascope.  SAMPLES is tests/data.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from results import STAMP

# The rounding of times, of ratios and of counters, in every way that a chip has of its own.
SIMULATED = ["--seed 3 --kernels 400 --mhz 48 --devices 2", "--seed 4 --chip 910 --mhz 19 --metrics Memory",
             "--seed 5 --chip A3 --kernels 300 --metrics ArithmeticUtilization --sample-based", "--seed 6 --chip 310P --metrics ResourceConflictRatio",
             "--seed 7 --framework pt --ranks 2 --kernels 300"]
OF_PROF = [["export", "all", "--out", "all"], ["export", "summary", "--format", "json", "--out", "json"],
           ["export", "timeline", "--dialect", "current", "--time-base", "start", "--out", "current"], ["analyze"]]
OF_COLLECTION = [["analyse", "--export-type", "text,db"]]


def collections(samples):
    """Collections, and the arguments of `ascope sim` that make some."""
    for path in sorted(glob.glob(samples + "/**/*_ascend_pt", recursive=True)):
        yield path, OF_COLLECTION
    for path in sorted(glob.glob(samples + "/**/PROF_*", recursive=True)):
        if not os.path.dirname(path).endswith("_ascend_pt") and "expected" not in path:
            yield path, OF_PROF


def simulations(samples):
    for path in sorted(glob.glob(samples + "/*/command")):
        with open(path) as f:
            yield ["sim", *f.read().split()]
    yield from (["sim", *text.split()] for text in SIMULATED)


def files(folder):
    """-> {name without the time of the export: path}"""
    return {STAMP.sub("", os.path.relpath(os.path.join(base, n), folder)): os.path.join(base, n)
            for base, _, names in os.walk(folder) for n in names if not n.endswith(".log")}


def content(path):
    with open(path, "rb") as f:
        data = f.read()
    return re.sub(rb"_\d{14}(?=\.)", b"", data) if path.endswith("README.txt") else data  # it lists the names


def difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return "byte %d: %r and %r" % (at, a[max(at - 60, 0):at + 20], b[max(at - 60, 0):at + 20])


class Both:
    """Every command is run twice, in two folders that look the same."""

    def __init__(self, ours, other):
        self.programs, self.problems, self.n_files = ([os.path.abspath(ours)], other), 0, 0

    def complain(self, *words):
        self.problems += 1
        print(*words)

    def run(self, folders, command):
        ended = [subprocess.run([*program, *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                for program, folder in zip(self.programs, folders)]
        if ended[0].returncode != ended[1].returncode:
            self.complain(shlex.join(command), *("ends with %d: %s" % (t.returncode, t.stdout.decode()) for t in ended))

    def compare(self, what, folders):
        ours, other = map(files, folders)
        for name in sorted(ours.keys() ^ other.keys()):
            self.complain("%s: %s is written by one of them only" % (what, name))
        for name in sorted(ours.keys() & other.keys()):
            self.n_files += 1
            a, b = content(ours[name]), content(other[name])
            if a != b:
                self.complain("%s: %s: %s" % (what, name, difference(a, b)))

    def work(self, what, make, commands):
        with tempfile.TemporaryDirectory(prefix="ascope-cross-") as home:
            folders = [os.path.join(home, name) for name in ("ours", "other")]
            for i, folder in enumerate(folders):
                os.mkdir(folder)
                make(i, folder)
            self.compare(what, folders)
            for name in sorted(os.listdir(folders[0])):
                for command in commands or (OF_COLLECTION if name.endswith("_ascend_pt") else OF_PROF):
                    self.run(folders, [*command, *(["-dir"] if command[0] in ("export", "analyze") else []), name])
            self.compare(what, folders)


def main():
    ours, samples = sys.argv[1:3]
    other = [os.path.abspath(word) if os.path.exists(word) else word for word in sys.argv[3:]]  # each runs in a folder of its own
    both = Both(ours, other)
    for path, commands in collections(samples):
        both.work(os.path.relpath(path, samples),
                  lambda i, folder: shutil.copytree(path, os.path.join(folder, os.path.basename(path))), commands)
    for arguments in simulations(samples):
        both.work(shlex.join(arguments),
                  lambda i, folder: subprocess.run([*both.programs[i], *arguments, "--out", folder], check=True,
                                                   stdout=subprocess.DEVNULL), None)
    print("%d files, %d differences" % (both.n_files, both.problems))
    return both.problems > 0 or both.n_files == 0


if __name__ == "__main__":
    sys.exit(main())
