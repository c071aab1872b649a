#!/usr/bin/env python3
"""How fast an export is, as ratios measured in one run on one machine.

    bench.py ASCOPE [--sizes 100000,1000000] [--repeat N] [--dir DIR]

For each size it simulates a collection (`ascope sim`) and exports it.  Seconds alone say more about the machine than
about the program, so each is set against the least that the same bytes cost here: reading the collection, writing the
results, letting SQLite insert the rows once more.  Of several repeats the least counts.  Files are in the page cache.
REFERENCE=COMMAND in the environment times another parser too: it is called with the PROF directory and one for results.
Ratios of CPU time hardly change when other programs run; ratios of wall time need a machine that is idle.
"""
import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

MB = 1e6


class Cost:
    """Wall seconds, CPU seconds and peak memory: of each the least of several runs."""

    def __init__(self, repeat, run):
        runs = [run() for _ in range(repeat)]
        self.wall, self.cpu, self.peak = (min(r[i] for r in runs) for i in range(3))


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


def line(what, cost, ratio=None, against=""):
    peak = "%7.0f MB" % (cost.peak / MB) if cost.peak else ""
    ratio = "" if ratio is None else "%.2f" % ratio
    print("  %-28s %8.2f s %8.2f s %10s %8s  %s" % (what, cost.wall, cost.cpu, peak, ratio, against))


def measure(ascope, kernels, repeat, home):
    raw, out, copy = (os.path.join(home, n) for n in ("raw", "out", "copy"))
    os.makedirs(raw)
    steps = str(max(3, kernels // 5000))
    sim = Cost(1, command(ascope, "sim", "--out", raw, "--kernels", str(kernels), "--steps", steps))
    inputs = files(raw)
    print("\n%s kernels: %.0f MB in %d files" % (format(kernels, ","), size(inputs) / MB, len(inputs)))
    print("  %-28s %10s %10s %10s %8s" % ("", "wall", "CPU", "peak", "ratio"))
    line("simulate", sim)
    read = Cost(repeat, command("cat", *inputs))
    line("read the collection (cat)", read)

    def export(what, threads, ends=("",)):
        return Cost(repeat, command(ascope, "export", what, "-dir", raw, "--out", out, "--quiet", "--threads", threads,
                                    remove=lambda: files(out, ends)))

    db = export("db", "1")
    database = files(out, (".db",))[0]
    again = Cost(repeat, insert_again(shutil.copy(database, home), copy))
    line("database", db, db.cpu / again.cpu,
         "CPU against SQLite inserting the same %.0f MB once more" % (size([database]) / MB))
    program = os.path.join(os.path.dirname(ascope), "bench", "bench_rows")
    if os.path.exists(program):
        ours, theirs = (min(s) for s in zip(*(write_rows(program, database, home) for _ in range(repeat))))
        print("  %-28s %10s %8.2f s %10s %8.2f  CPU against SQLite's prepared inserts of the same rows"
              % ("rows alone, our writer", "", ours, "", ours / theirs))
    for what, ends in (("timeline", (".json",)), ("summary", (".csv",))):
        cost = export(what, "1", ends)  # the database is there already, so this writes nothing else
        text = files(out, ends)
        write = Cost(repeat, command("sh", "-c", 'cat "$@" > "$0"', copy, *text))
        line(what, cost, cost.cpu / (read.cpu + write.cpu),
             "CPU against reading %.0f MB and writing %.0f MB" % (size(inputs) / MB, size(text) / MB))
    one, two = export("all", "1"), export("all", "2")
    line("all, one thread", one, one.peak / size(inputs), "peak against the bytes of the collection")
    line("all, two threads", two, one.wall / two.wall, "wall of one thread against two (%d CPUs here)" % os.cpu_count())
    if os.environ.get("REFERENCE"):
        prof = os.path.join(raw, os.listdir(raw)[0])
        theirs = Cost(1, command(*os.environ["REFERENCE"].split(), prof, out + "-reference"))
        line("the other parser", theirs, theirs.cpu / one.cpu, "CPU against ours")
    return {"wall": one.wall, "CPU": one.cpu, "peak": one.peak, "bytes in": size(inputs), "bytes out": size(files(out))}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("ascope")
    p.add_argument("--sizes", default="100000,1000000", help="kernels, with commas (100000,1000000)")
    p.add_argument("--repeat", type=int, default=3, help="runs of which the least counts (3)")
    p.add_argument("--dir", help="where the collections and results go; a million kernels need 6 GB")
    o = p.parse_args()
    sizes, found = [int(s) for s in o.sizes.split(",")], []
    for kernels in sizes:
        with tempfile.TemporaryDirectory(prefix="ascope-bench-", dir=o.dir) as home:
            found.append(measure(os.path.abspath(o.ascope), kernels, o.repeat, home))
    for (a, x), (b, y) in zip(zip(sizes, found), list(zip(sizes, found))[1:]):
        print("\nfrom %s to %s kernels, %.1f times as many:" % (format(a, ","), format(b, ","), b / a))
        for key in x:
            print("  %-28s %8.1f times" % (key, y[key] / x[key]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
