# SPDX-License-Identifier: Apache-2.0
"""Exports of PROF directories."""
import os
import shutil
import sqlite3
import subprocess
import time

from costs import MB, Cost, command, files, size, together


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
    # The database is there already, so that these write nothing else.
    parts = [export(what, "1", ends) for what, ends in (("timeline", (".json",)), ("summary", (".csv",)))]
    report.cost("timeline", parts[0])
    report.cost("summary", parts[1])
    for answer in ("why", "query"):
        report.cost(answer, Cost(repeat, command(ascope, answer, raw, "--threads", "1")))
    one, two = export("all", "1"), export("all", "2")
    text = files(out, (".json", ".csv"))
    write = Cost(repeat, command("sh", "-c", 'cat "$@" > "$0"', copy, *text))
    write.peak = 0
    report.cost("write the text (cat)", write, None, "", "%.0f MB of JSON and CSV" % (size(text) / MB))
    # Each part reads and analyses the collection, and so does all of it: this sum has that twice, as it has the text.
    cpu, wall = ((getattr(one, c) - getattr(db, c) + sum(getattr(p, c) for p in parts)) / 2 for c in ("cpu", "wall"))
    report.ratio("text without database", cpu / (read.cpu + write.cpu), "<= 3",
                 "CPU (all - database + timeline + summary) / 2; reading the raw and writing the text bytes")
    report.ratio("", wall / (read.wall + write.wall), "<= 3", "the same in wall time")
    report.cost("all, one thread", one, one.peak / (size(inputs) + 100 * MB), "<= 1",
                "peak; the bytes of the collection and 100 MB")
    report.cost("all, two threads", two, one.wall / two.wall, ">= 1.7",
                "wall of one thread; two (%d CPUs here)" % os.cpu_count())
    alone = [[ascope, "export", "all", "-dir", raw, "--out", os.path.join(home, n), "--quiet", "--threads", "1"]
             for n in ("left", "right")]
    report.ceiling(one, Cost(repeat, together(*alone)))
    for n in ("left", "right"):
        shutil.rmtree(os.path.join(home, n))
    if os.environ.get("REFERENCE") and kernels <= int(os.environ.get("REFERENCE_MOST", kernels)):
        prof = os.path.join(raw, os.listdir(raw)[0])
        theirs = Cost(1, command(*os.environ["REFERENCE"].split(), prof, out + "-reference"))
        report.cost("the reference parser", theirs, theirs.cpu / one.cpu, ">= 20", "CPU; ours with one thread")
    return {"wall": one.wall, "CPU": one.cpu, "peak": one.peak, "bytes in": size(inputs), "bytes out": size(files(out))}
