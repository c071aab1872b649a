# SPDX-License-Identifier: Apache-2.0
"""What a run costs, and tables of that: for the eye, and as Markdown."""
import os
import subprocess
import sys
import time

MB = 1e6
HEAD = ("", "wall s", "CPU s", "peak MB", "ratio", "budget", "of what")


class Cost:
    """Wall seconds, CPU seconds and peak memory: of each the least of several runs."""

    def __init__(self, repeat, run):
        runs = [run() for _ in range(repeat)]
        self.wall, self.cpu, self.peak = (min(r[i] for r in runs) for i in range(3))


def judged(ratio, budget):
    """The budget, and a word where the ratio misses it."""
    if not budget or ratio is None:
        return budget
    side, limit = budget.split()
    held = ratio <= float(limit) if side == "<=" else ratio >= float(limit)
    return budget if held else budget + " missed"


class Report:
    """Tables for the eye, and the same as Markdown for a file."""

    def __init__(self):
        self.page = []

    def chapter(self, text):
        print("\n\n" + text)
        self.page += ["", "## " + text]

    def heading(self, text):
        print("\n" + text)
        self.page += ["", "### " + text, ""]

    def say(self, text):
        print("  " + text)
        self.page += ["", text] if self.page[-1] else [text]

    def title(self, text, head=HEAD):
        self.heading(text)
        self.row(*head)
        self.page.append("|---|---:|---:|---:|---:|---|---|")

    def row(self, what, wall, cpu, peak, ratio, budget, against):
        print("  %-26s %8s %8s %8s %8s  %-15s %s" % (what, wall, cpu, peak, ratio, budget, against))
        self.page.append("| %s |" % " | ".join((what, wall, cpu, peak, ratio, budget, against)))

    def cost(self, what, cost, ratio=None, budget="", against=""):
        self.row(what, "%.2f" % cost.wall, "%.2f" % cost.cpu, "%.0f" % (cost.peak / MB) if cost.peak else "",
                 "" if ratio is None else "%.2f" % ratio, judged(ratio, budget), against)

    def ceiling(self, one, both):
        """What two threads could gain at most: memory and caches are shared, and clocks go down when both CPUs are busy."""
        self.ratio("what two CPUs can do here", 2 * one.wall / both.wall, "",
                   "twice the wall of one thread; two such runs at once, which share nothing")

    def ratio(self, what, ratio, budget, against):
        self.row(what, "", "", "", "%.2f" % ratio, judged(ratio, budget), against)


def command(*args, remove=lambda: ()):
    """A run of a command, measured; files of the run before are removed first."""
    def run():
        for path in remove():
            os.remove(path)
        begin = time.perf_counter()
        child = subprocess.Popen(args, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit("%s ended with %d" % (" ".join(args), child.returncode))
        return time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    return run


def together(*commands):
    """Runs of several commands at once; the wall time of all of them, and nothing else."""
    def run():
        begin = time.perf_counter()
        children = [subprocess.Popen(c, stdout=subprocess.DEVNULL) for c in commands]
        for child, words in zip(children, commands):
            if child.wait() != 0:
                sys.exit("%s ended with %d" % (" ".join(words), child.returncode))
        return time.perf_counter() - begin, 0, 0
    return run


def files(folder, ends=("",)):
    return sorted(os.path.join(b, n) for b, _, names in os.walk(folder) for n in names if n.endswith(tuple(ends)))


def size(paths):
    return sum(os.path.getsize(p) for p in paths)


def growth(report, what, sizes, found):
    """How costs grow from one size to the next."""
    for (a, x), (b, y) in zip(zip(sizes, found), list(zip(sizes, found))[1:]):
        report.title("From %s to %s %s, %.0f times as many" % (format(a, ","), format(b, ","), what, b / a))
        for key in x:
            budget = "<= %.0f" % (1.1 * b / a) if key == "CPU" else ""
            report.ratio(key, y[key] / x[key], budget, "all, one thread" if key in ("wall", "CPU", "peak") else "")
