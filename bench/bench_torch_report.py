# SPDX-License-Identifier: Apache-2.0
"""What it costs a PyTorch program to be profiled: bench_torch.py's numbers as tables."""
import json
import os
import subprocess

from costs import judged

HEAD = ("", "empty", "torch.profiler", "ascope", "ratio", "budget", "of what")


def rows_of(report, found):
    """The same tables for a run that was kept as JSON."""
    report.title("Added ns per operator, in the program's thread (PyTorch %s, load before: %.1f)" % (found["torch"], found["load"]), HEAD)
    for mode, row in found["cost"].items():
        report.row(mode, *("%.0f" % row[who + "_ns"] for who in ("empty", "torch", "ascope")),
                   "-" if row["ratio"] is None else "%.2f" % row["ratio"], judged(row["ratio"], "<= %.2f" % row["budget"]),
                   "above the empty observer: ascope, torch.profiler")
    report.say("Operators that compute nothing, and (Python) a loop with small ones. The empty observer is what PyTorch itself takes to call one.")
    report.title("ns per operator, all threads, with stop()", HEAD)
    for mode, row in found["cost"].items():
        report.row(mode, "", *("%.0f" % row[who + "_all_ns"] for who in ("torch", "ascope")),
                   "-" if row["all_ratio"] is None else "%.2f" % row["all_ratio"], "", "CPU time of the process above the empty observer")
    report.title("From stop to a timeline, s", HEAD)
    for mode, row in found["ending"].items():
        report.row(mode, "", "%.2f" % row["torch_s"], "%.2f" % row["ascope_s"], "%.2f" % row["ratio"],
                   judged(row["ratio"], "<= %.2f" % row["budget"]), "wall time of %s operators" % format(2 * found["operators"], ","))


def measure(report, build, repeat):
    python = os.path.join(build, "python", "python3")
    if not os.path.exists(python) or subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        report.say("Left out: the package was not built, or its Python has no PyTorch.")
        return
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench_torch.py")
    done = subprocess.run([python, program, "--json", "--repeat", str(repeat)], stdout=subprocess.PIPE, text=True, check=False,
                          env=dict(os.environ, ASCOPE_PROGRAM=os.path.join(build, "ascope")))
    if done.returncode != 0:
        report.say("Left out: bench_torch.py ended with %d." % done.returncode)
        return
    rows_of(report, json.loads(done.stdout[done.stdout.index("{"):]))
