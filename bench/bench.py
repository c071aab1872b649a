#!/usr/bin/env python3
"""How fast an export is, as ratios measured in one run on one machine.

    bench.py ASCOPE [--sizes 10000,100000,1000000] [--repeat N] [--dir DIR] [--write FILE]

For each size it simulates a collection (`ascope sim`) and exports it.  Seconds alone say more about the machine than
about the program, so each is set against the least that the same bytes cost here: reading the collection, writing the
results, letting SQLite insert the rows once more.  Of several repeats the least counts.  Files are in the page cache.
REFERENCE=COMMAND in the environment times another parser too: it is called with the PROF directory and one for results,
and only for collections of up to REFERENCE_MOST kernels if that is set.
Ratios of CPU time hardly change when other programs run; ratios of wall time need a machine that is idle.  With --write
the tables and the machine are kept as a page of Markdown.  --sizes 10000000 needs 60 GB and a quarter of an hour.
"""
import argparse
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
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

    def title(self, text):
        print("\n" + text)
        self.page += ["", "## " + text, ""]
        self.row(*HEAD)
        self.page.append("|---|---:|---:|---:|---:|---|---|")

    def row(self, what, wall, cpu, peak, ratio, budget, against):
        print("  %-26s %8s %8s %8s %8s  %-15s %s" % (what, wall, cpu, peak, ratio, budget, against))
        self.page.append("| %s |" % " | ".join((what, wall, cpu, peak, ratio, budget, against)))

    def cost(self, what, cost, ratio=None, budget="", against=""):
        self.row(what, "%.2f" % cost.wall, "%.2f" % cost.cpu, "%.0f" % (cost.peak / MB) if cost.peak else "",
                 "" if ratio is None else "%.2f" % ratio, judged(ratio, budget), against)

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


def files(folder, ends=("",)):
    return sorted(os.path.join(b, n) for b, _, names in os.walk(folder) for n in names if n.endswith(tuple(ends)))


def size(paths):
    return sum(os.path.getsize(p) for p in paths)


def insert_again(database, to):
    """SQLite copies all rows of a database into a new one, with the settings that an export uses."""
    def run():
        if os.path.exists(to):
            os.remove(to)
        begin, cpu = time.perf_counter(), time.process_time()
        db = sqlite3.connect(to, isolation_level=None)
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("ATTACH ? AS old", (database,))
        db.execute("BEGIN")
        for name, sql in db.execute("SELECT name, sql FROM old.sqlite_master WHERE type = 'table'").fetchall():
            db.execute(sql)
            # The condition keeps SQLite from copying whole pages, which no program that has rows in hand could do.
            db.execute('INSERT INTO main."%s" SELECT * FROM old."%s" WHERE rowid > -1' % (name, name))
        for sql, in db.execute("SELECT sql FROM old.sqlite_master WHERE type = 'index' AND sql NOT NULL").fetchall():
            db.execute(sql)
        db.execute("COMMIT")
        db.close()
        return time.perf_counter() - begin, time.process_time() - cpu, 0
    return run


def write_rows(program, database, home):
    """The rows of a database through our writer and through prepared inserts: CPU seconds of either."""
    words = subprocess.run([program, database, home], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return float(words[2]), float(words[7])


def measure(report, ascope, kernels, repeat, home):
    raw, out, copy = (os.path.join(home, n) for n in ("raw", "out", "copy"))
    os.makedirs(raw)
    steps = str(max(3, kernels // 5000))
    sim = Cost(1, command(ascope, "sim", "--out", raw, "--kernels", str(kernels), "--steps", steps))
    inputs = files(raw)
    report.title("%s kernels: %.0f MB in %d files" % (format(kernels, ","), size(inputs) / MB, len(inputs)))
    report.cost("simulate", sim)
    read = Cost(repeat, command("cat", *inputs))
    read.peak = 0  # of no interest
    report.cost("read the collection (cat)", read)

    def export(what, threads, ends=("",)):
        return Cost(repeat, command(ascope, "export", what, "-dir", raw, "--out", out, "--quiet", "--threads", threads,
                                    remove=lambda: files(out, ends)))

    db = export("db", "1")
    database = files(out, (".db",))[0]
    again = Cost(repeat, insert_again(shutil.copy(database, home), copy))
    report.cost("database", db, db.cpu / again.cpu, "<= 1.3",
                "CPU; SQLite inserting the same %.0f MB once more" % (size([database]) / MB))
    program = os.path.join(os.path.dirname(ascope), "bench", "bench_rows")
    if os.path.exists(program):
        ours, theirs = (min(s) for s in zip(*(write_rows(program, database, home) for _ in range(repeat))))
        report.ratio("rows alone, our writer", ours / theirs, "", "CPU; SQLite's prepared inserts of the same rows")
    for what, ends in (("timeline", (".json",)), ("summary", (".csv",))):
        report.cost(what, export(what, "1", ends))  # the database is there already, so this writes nothing else
    load = Cost(repeat, command(ascope, "query", "-dir", raw, "--threads", "1"))
    report.cost("read and analyse (query)", load)
    one, two = export("all", "1"), export("all", "2")
    text = files(out, (".json", ".csv"))
    write = Cost(repeat, command("sh", "-c", 'cat "$@" > "$0"', copy, *text))
    write.peak = 0
    report.cost("write the text (cat)", write, None, "", "%.0f MB of JSON and CSV" % (size(text) / MB))
    report.ratio("text without database", (one.cpu - db.cpu + load.cpu) / (read.cpu + write.cpu), "<= 3",
                 "CPU (all - database + query); reading the raw and writing the text bytes")
    report.ratio("", (one.wall - db.wall + load.wall) / (read.wall + write.wall), "<= 3", "the same in wall time")
    report.cost("all, one thread", one, one.peak / (size(inputs) + 100 * MB), "<= 1",
                "peak; the bytes of the collection and 100 MB")
    report.cost("all, two threads", two, one.wall / two.wall, ">= 1.7",
                "wall of one thread; two (%d CPUs here)" % os.cpu_count())
    if os.environ.get("REFERENCE") and kernels <= int(os.environ.get("REFERENCE_MOST", kernels)):
        prof = os.path.join(raw, os.listdir(raw)[0])
        theirs = Cost(1, command(*os.environ["REFERENCE"].split(), prof, out + "-reference"))
        report.cost("the other parser", theirs, theirs.cpu / one.cpu, ">= 20", "CPU; ours with one thread")
    return {"wall": one.wall, "CPU": one.cpu, "peak": one.peak, "bytes in": size(inputs), "bytes out": size(files(out))}


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


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ascope")
    p.add_argument("--sizes", default="10000,100000,1000000", help="kernels, with commas (10000,100000,1000000)")
    p.add_argument("--repeat", type=int, default=3, help="runs of which the least counts (3)")
    p.add_argument("--dir", help="where the collections and results go; a million kernels need 6 GB")
    p.add_argument("--write", metavar="FILE", help="keep the tables as a page of Markdown")
    o = p.parse_args()
    sizes, found, report, where = [int(s) for s in o.sizes.split(",")], [], Report(), machine(o.dir)
    print(where)
    for kernels in sizes:
        with tempfile.TemporaryDirectory(prefix="ascope-bench-", dir=o.dir) as home:
            found.append(measure(report, os.path.abspath(o.ascope), kernels, o.repeat, home))
    for (a, x), (b, y) in zip(zip(sizes, found), list(zip(sizes, found))[1:]):
        report.title("From %s to %s kernels, %.0f times as many" % (format(a, ","), format(b, ","), b / a))
        for key in x:
            budget = "<= %.0f" % (1.1 * b / a) if key == "CPU" else ""
            report.ratio(key, y[key] / x[key], budget, "all, one thread" if key in ("wall", "CPU", "peak") else "")
    if o.write:
        with open(o.write, "w", encoding="utf-8") as f:
            f.write("# Benchmarks\n\nThe last run of `make bench`, written by it (`BENCH=\"--write docs/benchmarks.md\"`): "
                    "simulated collections with\ncommunication, counters, tensors and samples. Ratios are of the first "
                    "thing that the last column names to the second;\nbudgets are what the project has promised "
                    "itself.\n\nThe machine: %s.\n%s\n" % (where, "\n".join(report.page)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
