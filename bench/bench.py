#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast exports are, as ratios measured in one run on one machine.

    bench.py ASCOPE [--sizes 10000,100000,1000000] [--operators 10000,100000,1000000] [--mindspore 10000,100000]
             [--repeat N] [--record SECONDS] [--view KERNELS] [--dir DIR] [--write FILE]

For each size it simulates a collection (`ascope sim`) and exports it: PROF directories by their kernels, PyTorch collections by
their operators, these on the host alone and with a kernel for every fifth of them, and MindSpore collections by their kernels.  Seconds alone say more about the machine
than about the program, so each is set against the least that the same bytes cost here: reading the collection, writing the
results, letting SQLite insert the rows once more.  Of several repeats the least counts.  Files are in the page cache.
REFERENCE=COMMAND, REFERENCE_PT=COMMAND and REFERENCE_MS=COMMAND in the environment also time a reference parser: it is called with the directory and one
for results, has to write text and databases, and is called only for collections of up to REFERENCE_MOST kernels or operators if that is set.
Ratios of CPU time hardly change when other programs run; ratios of wall time need a machine that is idle.  With --write
the tables and the machine are kept as a page of Markdown.  --sizes 10000000 needs 60 GB and a quarter of an hour; an empty
list leaves that part out.  bench_record, beside the program, measures the cost of recording: in ns, in readings of the clock, and by a
million events a second for --record seconds; bench_samplers and bench_os_calls what samplers and the trace of system calls cost.
--record 0 leaves these out.  --view measures `ascope view`, beside speedscope where `make viewer` has installed it.
"""
import argparse
import os
import platform
import subprocess
import sys
import tempfile

import bench_frameworks
import bench_prof
import bench_recording
import bench_torch_report
import bench_view
from costs import Report, growth


def machine(home):
    """What it was measured on, without names."""
    def first(path, key):
        with open(path, encoding="utf-8") as f:
            return next((line.split(":", 1)[1].strip() for line in f if line.startswith(key)), "?")
    kind = subprocess.run(["stat", "-f", "-c", "%T", home or tempfile.gettempdir()], stdout=subprocess.PIPE, text=True,
                          check=False).stdout.strip()
    return "%d CPUs (%s), %.0f GB of memory, Linux %s, files on %s; load before the run %.1f" % (
        os.cpu_count(), first("/proc/cpuinfo", "model name"), int(first("/proc/meminfo", "MemTotal").split()[0]) / 1e6,
        platform.release().split("-")[0], kind, os.getloadavg()[0])


OTHERS = "## On other machines"


def kept(path):
    """What was measured elsewhere stays on the page."""
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            text = f.read()
    return ["", OTHERS + text.partition(OTHERS)[2].rstrip()] if OTHERS in text else []


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ascope")
    p.add_argument("--sizes", default="10000,100000,1000000", help="kernels, with commas (10000,100000,1000000)")
    p.add_argument("--operators", default="10000,100000,1000000", help="operators of PyTorch (10000,100000,1000000)")
    p.add_argument("--mindspore", default="10000,100000", help="kernels of MindSpore (10000,100000)")
    p.add_argument("--repeat", type=int, default=3, help="runs of which the least counts (3)")
    p.add_argument("--record", type=int, default=60, help="seconds of a million recorded events each (60)")
    p.add_argument("--view", type=int, default=1000000, help="kernels of what the viewer opens; 0 leaves it out (1000000)")
    p.add_argument("--torch", type=int, default=7, help="rounds of each profiler of PyTorch (7)")
    p.add_argument("--dir", help="where the collections and results go; a million kernels need 6 GB")
    p.add_argument("--write", metavar="FILE", help="keep the tables as a page of Markdown")
    o = p.parse_args()
    if o.dir:
        os.makedirs(o.dir, exist_ok=True)
    report, where = Report(), machine(o.dir)
    print(where)
    parts = (("PROF directories", "kernels", o.sizes, bench_prof.measure),
             ("PyTorch collections on the host alone", "operators", o.operators, bench_frameworks.measure_host),
             ("PyTorch collections with a device", "operators", o.operators, bench_frameworks.measure_device),
             ("MindSpore collections", "kernels", o.mindspore, bench_frameworks.measure_mindspore))
    for chapter, what, wanted, measure in parts:
        sizes, found = [int(s) for s in wanted.split(",") if s], []
        if sizes:
            report.chapter(chapter)
        for n in sizes:
            with tempfile.TemporaryDirectory(prefix="ascope-bench-", dir=o.dir) as home:
                found.append(measure(report, os.path.abspath(o.ascope), n, o.repeat, home))
        growth(report, what, sizes, found)
    if o.record > 0:
        report.chapter("Recording")
        program = os.path.join(os.path.dirname(os.path.abspath(o.ascope)), "bench", "bench_record")
        bench_recording.measure(report, program, o.record, o.dir)
        bench_recording.samplers(report, os.path.join(os.path.dirname(program), "bench_samplers"), o.dir)
        library = os.path.join(os.path.dirname(os.path.abspath(o.ascope)), "libascope-run.so")
        if os.path.exists(library):
            bench_recording.os_calls(report, os.path.join(os.path.dirname(program), "bench_os_calls"), library)
    if o.view > 0:
        report.chapter("The viewer")
        with tempfile.TemporaryDirectory(prefix="ascope-bench-", dir=o.dir) as home:
            bench_view.measure(report, os.path.abspath(o.ascope), o.view, o.repeat, home)
    if o.torch > 0:
        report.chapter("Recording PyTorch")
        bench_torch_report.measure(report, os.path.dirname(os.path.abspath(o.ascope)), o.torch)
    if o.write:
        report.page += kept(o.write)
        with open(o.write, "w", encoding="utf-8") as f:
            f.write("# Benchmarks\n\nThe last run of `make bench`, written by it (`BENCH=\"--write docs/benchmarks.md\"`): "
                    "simulated collections with\ncommunication, counters, tensors and samples. Ratios are of the first "
                    "item of the last column to the second;\nbudgets are the project's own "
                    "targets.\n\nThe machine: %s.\n%s\n" % (where, "\n".join(report.page)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
