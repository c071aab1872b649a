#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ascope cluster --launcher slurm` on a real Slurm of three nodes, all on this machine: test_slurm.py ASCOPE"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from launch_cases import Launching  # noqa: E402
from small_cluster import SmallCluster  # noqa: E402


def holding(l, cluster, name):
    """(ascope, environment): tasks on node n2 wait until the file `hold` is gone. The program is removed as soon as jobs are submitted, so
    that the nodes use the one in PATH."""
    folder = l.top / name
    folder.mkdir()
    copy = shutil.copy(l.ascope, folder / "copy")
    (folder / "hold").touch()
    for tool, text in (("sbatch", f'rm -f "{copy}"\nexec /usr/bin/sbatch "$@"\n'),
                       ("ascope", f'if test "$SLURMD_NODENAME" = n2 && test -n "$SLURM_ARRAY_TASK_ID" && test -e "{folder}/hold"; then\n'
                                  f'    echo "$SLURM_ARRAY_TASK_ID" >"{folder}/held"\n    while test -e "{folder}/hold"; do sleep 0.1; done\nfi\n'
                                  f'echo "$SLURM_ARRAY_TASK_ID" >>"{folder}/started"\nexec "{l.ascope}" "$@"\n')):
        (folder / tool).write_text("#!/bin/sh\n" + text)
        (folder / tool).chmod(0o755)
    return folder, str(copy), {**cluster.environment, "PATH": f"{folder}:{os.environ['PATH']}"}


def start(l, environment, ascope, *arguments):
    return subprocess.Popen([ascope, "cluster", *map(str, arguments), "--launcher", "slurm"], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def a_node_is_lost(l, cluster, job, name, *options):
    """In the middle of a task on it: (the process, the part that was held)."""
    folder, copy, environment = holding(l, cluster, name)
    process = start(l, environment, copy, job, "-o", folder / "out", "--json", *options)
    cluster.wait((folder / "held").exists, "a task on n2")
    part = int((folder / "held").read_text())
    cluster.lose_node("n2")
    (folder / "hold").unlink()
    out, messages = process.communicate(timeout=180)
    cluster.start_node("n2")
    cluster.wait(lambda: cluster.states().count("idle") == 3, "n2 is back", 120)
    return process.returncode, json.loads(out), messages, part, folder


def lost_and_queued_again(l, cluster, job):
    code, report, messages, part, folder = a_node_is_lost(l, cluster, job, "again")
    l.check(code == 0, f"exit code {code}: {messages}")
    l.check([rank["rank"] for rank in report["job_ranks"]] == list(range(6)), "all ranks are there, each once")
    l.check(l.results(folder / "out") == l.results(l.top / "at-once-slurm-base"), "the results are those of all ranks")


def lost_for_good(l, cluster, job):
    code, report, messages, part, _ = a_node_is_lost(l, cluster, job, "for-good", "--launcher-args", "--no-requeue")
    l.check(code == 3, f"exit code {code}: {messages}")
    l.check([rank["rank"] for rank in report["job_ranks"]] == [rank for rank in range(6) if rank != part - 1], "the others are there, each once")
    l.check(f"1 of 6 ranks are missing: {part - 1}\n" in messages, f"the missing rank is named: {messages}")
    l.check(f"_{part} (rank {part - 1}): NODE_FAIL on n2" in messages, "and why")


def interrupted(l, cluster, job):
    folder, copy, environment = holding(l, cluster, "interrupted")
    process = start(l, environment, copy, job, "-o", folder / "out")
    cluster.wait((folder / "held").exists, "a task on n2")
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=60)
    l.check(process.returncode == -signal.SIGINT and "are cancelled" in messages, f"{process.returncode}: {messages}")
    cluster.wait(lambda: not cluster.tool("squeue", "--noheader").stdout, "no job is left", 60)
    l.check(not list((folder / "out").iterdir()), "nothing is left")
    (folder / "hold").unlink()


def refused(l, job):
    done = l.run(job, "-o", l.top / "refused", "--launcher", "slurm", "--launcher-args", "--partition=nowhere", code=1)
    l.check(done.stderr.count("\n") == 1 and "Invalid partition name" in done.stderr, f"one line: {done.stderr}")


with tempfile.TemporaryDirectory() as folder, SmallCluster(pathlib.Path(folder) / "slurm") as cluster:
    l = Launching(sys.argv[1], folder, cluster.environment)
    print("six ranks on three nodes")
    job = l.same_as_at_once("slurm")
    l.run(job, "-o", l.top / "at-once-slurm-base")
    l.spoiled_ranks_have_a_line_each("slurm", "--processes", 4)
    refused(l, job)
    for test in interrupted, lost_and_queued_again, lost_for_good:
        print(test.__name__)
        test(l, cluster, job)
sys.exit(1 if l.failures else 0)
