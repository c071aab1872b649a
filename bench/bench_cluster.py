#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All modes over the ranks of a job, beside the reference.

    bench_cluster.py ASCOPE [--ranks 64] [--kernels 20000] [--job DIR] [--dir DIR]

Simulates a job, analyses each rank into databases and a summary, and computes all modes from the databases and from the summaries.
REFERENCE_CLUSTER=COMMAND in the environment is called as `COMMAND cluster -d JOB -m MODE -o OUT --export_type db` for each of its modes: CPU
times are added up. --job takes a job that is analysed already; the reference adds tables to its databases.
"""
import argparse
import os
import shutil
import sys
import tempfile

from costs import MB, Cost, Report, command, files, size

MODES = ("all", "cluster_time_summary", "slow_rank", "slow_link", "free_analysis", "communication_bottleneck", "compute_op_sum", "hccl_sum",
         "cann_api_sum", "mstx_sum", "freq_analysis", "communication_group_map", "communication_time_sum", "communication_matrix_sum",
         "p2p_pairing", "pp_chart")  # the last two change the databases
STEPS, BUDGET = 10, "<= 0.05"


def make_job(report, ascope, job, ranks, kernels):
    """tp and pp of at most 4."""
    sizes = [4 if ranks % 16 == 0 else 1] * 2
    report.cost("simulate", Cost(1, command(ascope, "sim", "--framework", "pt", "--out", job, "--kernels", str(ranks * kernels), "--steps", str(STEPS),
                                            "--ranks", str(ranks), "--tp", str(sizes[0]), "--pp", str(sizes[1]), "--samplers=off")))
    report.cost("databases and summaries", Cost(1, command(ascope, "analyse", job, "--export-type", "db", "--summary", "--quiet", "--threads", "1")))


def links(job, folder, ends):
    """The same job with these files alone."""
    for path in files(job, ends):
        to = os.path.join(folder, os.path.relpath(path, job))
        os.makedirs(os.path.dirname(to), exist_ok=True)
        os.link(path, to) if os.stat(path).st_dev == os.stat(folder).st_dev else shutil.copy(path, to)
    return folder


def measure(report, ascope, ranks, kernels, home, job=None):
    report.title("%d ranks of %s kernels" % (ranks, format(kernels, ",")))
    if not job:
        job = os.path.join(home, "job")
        make_job(report, ascope, job, ranks, kernels)
    summaries, databases = (os.path.join(home, n) for n in ("summaries", "databases"))
    os.mkdir(summaries), os.mkdir(databases)
    links(job, summaries, (".summary",))
    links(job, databases, (".db", ".json"))

    def ours(folder, mode):
        return Cost(1, command(ascope, "cluster", folder, "-m", mode, "-o", os.path.join(home, "out"), "--quiet"))

    report.cost("all modes, of summaries", ours(summaries, "all-modes"), None, "", "%.0f kB a rank" % (size(files(summaries)) / 1e3 / ranks))
    whole = ours(databases, "all-modes")
    report.cost("all modes, of databases", whole, None, "", "%.1f MB a rank" % (size(files(databases, (".db",))) / MB / ranks))
    same = ours(databases, ",".join(MODES))
    report.cost("the modes below, of databases", same)
    reference = os.environ.get("REFERENCE_CLUSTER")
    if reference:
        theirs = []
        for mode in MODES:
            theirs.append(Cost(1, command(*reference.split(), "cluster", "-d", databases, "-m", mode, "-o", os.path.join(home, "theirs"), "--export_type", "db")))
            report.cost("the reference: " + mode, theirs[-1])
        cpu = sum(t.cpu for t in theirs)
        report.row("the reference, all of these", "%.1f" % sum(t.wall for t in theirs), "%.1f" % cpu, "%.0f" % (max(t.peak for t in theirs) / MB), "", "", "")
        report.ratio("", same.cpu / cpu, BUDGET, "CPU of ours, of databases; the reference")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ascope")
    p.add_argument("--ranks", type=int, default=64)
    p.add_argument("--kernels", type=int, default=20000, help="of each rank (20000)")
    p.add_argument("--job", help="a job that is analysed already")
    p.add_argument("--dir", help="where the job and results go; 64 ranks need 20 GB")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="ascope-bench-", dir=o.dir) as home:
        measure(Report(), os.path.abspath(o.ascope), o.ranks, o.kernels, home, o.job)
    return 0


if __name__ == "__main__":
    sys.exit(main())
