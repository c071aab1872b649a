# SPDX-License-Identifier: Apache-2.0
"""Analyses of the collections of frameworks: *_ascend_pt and *_ascend_ms directories."""
import os
import shutil

from costs import MB, Cost, command, files, size, together

OPERATORS_OF_KERNEL = 5
STEP_OPERATORS = 25000


def measure_host(report, ascope, operators, repeat, home):
    return measure(report, ascope, "pt", operators, 0, repeat, home)


def measure_device(report, ascope, operators, repeat, home):
    return measure(report, ascope, "pt", operators, operators // OPERATORS_OF_KERNEL, repeat, home)


def measure_mindspore(report, ascope, kernels, repeat, home):
    return measure(report, ascope, "ms", kernels * OPERATORS_OF_KERNEL, kernels, repeat, home)


def measure(report, ascope, framework, operators, kernels, repeat, home):
    raw, out, copy = (os.path.join(home, n) for n in ("raw", "out", "copy"))
    os.makedirs(raw)
    steps = str(max(3, operators // STEP_OPERATORS))
    sim = Cost(1, command(ascope, "sim", "--framework", framework, "--out", raw, "--kernels", str(kernels), "--operators", str(operators),
                          "--steps", steps))
    inputs = files(raw)
    counts = [(operators, "operators")] * (framework == "pt") + [(kernels, "kernels")] * (kernels > 0)
    report.title("%s: %.0f MB in %d files" % (", ".join("%s %s" % (format(n, ","), what) for n, what in counts), size(inputs) / MB, len(inputs)))
    report.cost("simulate", sim)
    read = Cost(repeat, command("cat", *inputs))
    read.peak = 0  # of no interest
    report.cost("read the collection (cat)", read)

    def analyse(what, threads):
        return Cost(repeat, command(ascope, "analyse", raw, "--out", out, "--quiet", "--export-type", what, "--threads", threads,
                                    remove=lambda: files(out)))

    db = analyse("db", "1")
    report.cost("databases", db, None, "", "%.0f MB" % (size(files(out, (".db",))) / MB))
    text = analyse("text", "1")
    texts = files(out, (".json", ".csv"))
    write = Cost(repeat, command("sh", "-c", 'cat "$@" > "$0"', copy, *texts))
    write.peak = 0
    report.cost("write the text (cat)", write, None, "", "%.0f MB of JSON and CSV" % (size(texts) / MB))
    report.cost("text, one thread", text, text.cpu / (read.cpu + write.cpu), "",
                "CPU; reading the raw and writing the text bytes")
    report.ratio("", text.wall / (read.wall + write.wall), "", "the same in wall time")
    one, two = analyse("text,db", "1"), analyse("text,db", "2")
    report.cost("all, one thread", one, one.peak / (size(inputs) + 100 * MB), "<= 1", "peak; the bytes of the collection and 100 MB")
    report.cost("all, two threads", two, one.wall / two.wall, ">= 1.7",
                "wall of one thread; two (%d CPUs here)" % os.cpu_count())
    alone = [[ascope, "analyse", raw, "--out", os.path.join(home, n), "--quiet", "--export-type", "text,db", "--threads", "1"]
             for n in ("left", "right")]
    report.ceiling(one, Cost(repeat, together(*alone)))
    for n in ("left", "right"):
        shutil.rmtree(os.path.join(home, n))
    report.ratio("peak of two threads", two.peak / (size(inputs) + 100 * MB), "<= 1", "the bytes of the collection and 100 MB")
    reference = os.environ.get("REFERENCE_" + framework.upper())
    if reference and operators <= int(os.environ.get("REFERENCE_MOST", operators)):
        session = os.path.join(raw, os.listdir(raw)[0])
        theirs = Cost(1, command(*reference.split(), session, out + "-reference"))
        report.cost("the reference parser", theirs, theirs.cpu / one.cpu, ">= 30", "CPU; ours, all with one thread")
    return {"wall": one.wall, "CPU": one.cpu, "peak": one.peak, "bytes in": size(inputs), "bytes out": size(files(out))}
