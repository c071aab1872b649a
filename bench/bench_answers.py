#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU seconds of answers that write little, beside an older program.

    bench_answers.py ASCOPE [--before OLDER] [--kernels 1000000] [--ranks 8] [--summaries DIR] [--repeat 3] [--dir DIR]

Simulates a PROF directory and a job of raw ranks with 20,000 kernels each. The programs run in turns, with one thread,
and of several runs the least counts: what else the machine does disturbs both. --summaries: summaries of many ranks, as
bench_many_ranks makes them. Budgets are in proportion to those for a million kernels, 64 ranks and 10,000 summaries.
"""
import argparse
import os
import shutil
import tempfile

from costs import command, files, judged

HEAD = ("", "CPU s before", "CPU s", "peak MB", "budget")


def turns(programs, arguments, repeat, out):
    """-> (CPU seconds, peak in MB) of each program: the least of its runs."""
    runs = [[] for _ in programs]
    for _ in range(repeat):
        for found, program in zip(runs, programs):
            shutil.rmtree(out, ignore_errors=True)
            found.append(command(program, *arguments)())
    return [(min(r[1] for r in found), min(r[2] for r in found) / 1e6) for found in runs]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ascope")
    p.add_argument("--before", help="an older program to compare with")
    p.add_argument("--kernels", type=int, default=1000000, help="of the PROF directory (1000000)")
    p.add_argument("--ranks", type=int, default=8, help="of the job (8); each takes 130 MB")
    p.add_argument("--summaries", help="a directory with summaries of ranks")
    p.add_argument("--repeat", type=int, default=3, help="runs of each program (3)")
    p.add_argument("--dir", help="where collections and results go")
    o = p.parse_args()
    programs = [os.path.abspath(program) for program in (o.before, o.ascope) if program]
    print("| %s |\n|---|---:|---:|---:|---|" % " | ".join(HEAD))
    with tempfile.TemporaryDirectory(prefix="ascope-bench-", dir=o.dir) as home:
        prof, job, out = (os.path.join(home, name) for name in ("prof", "job", "out"))
        command(programs[-1], "sim", "--kernels", str(o.kernels), "--out", prof)()
        command(programs[-1], "sim", "--framework", "pt", "--ranks", str(o.ranks), "--tp", str(o.ranks),
                "--kernels", str(o.ranks * 20000), "--steps", "10", "--out", job)()
        one, modes = ("--threads", "1"), ("-m", "all-modes", "-o", out, "--quiet", "--threads", "1")
        work = [(name, (name, prof) + one, 1.5 * o.kernels / 1e6) for name in ("query", "why", "advise")]
        work.append(("info", ("info", prof), 1.5 * o.kernels / 1e6))
        work.append(("cluster, %d raw ranks" % o.ranks, ("cluster", job) + modes, 12 * o.ranks / 64))
        if o.summaries:
            n = len(files(o.summaries, (".summary",)))
            work.append(("cluster, %s summaries" % format(n, ","), ("cluster", o.summaries) + modes, 20 * n / 10000))
        for what, arguments, budget in work:
            found = turns(programs, arguments, o.repeat, out)
            (before, _), (now, peak) = found[0], found[-1]
            print("| %s | %s | %.2f | %.0f | %s |" % (what, "%.2f" % before if o.before else "", now, peak,
                                                      judged(now, "<= %.2f" % budget)))


if __name__ == "__main__":
    main()
