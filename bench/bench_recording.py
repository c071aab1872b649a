# SPDX-License-Identifier: Apache-2.0
"""What recording costs the threads of a program: bench_record's numbers as tables."""
import json
import os
import subprocess
import sys

from costs import judged

OS_CALLS = 200000
HEAD = ("", "", "threads", "ns", "clocks", "counters", "budget")


def measured(program, *args):
    """Ends with 2 when something was dropped, and says so."""
    done = subprocess.run([program, "--json", *args], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 2):
        sys.exit("%s ended with %d" % (program, done.returncode))
    return json.loads(done.stdout)


def samplers(report, program, home):
    """What looking at the host costs the process that records, beside a session that only waits."""
    done = subprocess.run([program, "5", *([home] if home else [])], stdout=subprocess.PIPE, text=True, check=True)
    report.title("Samplers of the host (cpu, mem, disk, network; every 20 ms): share of one CPU, in %",
                 ("program", "sampler", "writer", "MB/s", "ratio", "budget", "of what"))
    for row in json.loads(done.stdout)["rows"]:
        ratio, budget = row["sampler"], "<= %g" % row["budget"] if row["budget"] else ""
        report.row(row["what"], "%.2f" % (100 * ratio), "%.2f" % (100 * (row["process"] - ratio)), "%.2f" % row["mb_per_s"],
                   "%.4f" % ratio, judged(ratio, budget), "sampler's thread, one CPU")


def os_calls(report, program, library):
    """What recording a call of the operating system costs, beside the tools that trace them, in one run. The program prints the table."""
    load = os.getloadavg()[0]
    done = subprocess.run([program, library, str(OS_CALLS)], stdout=subprocess.PIPE, text=True, check=True)
    table, _, dropped = done.stdout.partition("\n\n")
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    report.title("Calls of the operating system: %s writes of a byte, locks that are free (load before: %.1f)" % (format(OS_CALLS, ","), load), head)
    for row in rows:
        if row[2]:
            report.row(*row)
    missing = ", ".join(row[0] for row in rows if not row[2])
    report.say("Medians of five turns, ratios to the plain program; %s.%s" %
               (dropped.strip(), " Not installed, or not permitted: %s." % missing if missing else ""))


def measure(report, program, rate_seconds, home):
    """Costs in ns and in readings of the clock, in the same run; then a million events a second for a while."""
    where = ["--dir", home] if home else []
    costs = measured(program, *where)
    report.title("What a thread pays, in CPU time (load before: %.1f)" % costs["load"], HEAD)
    for row in costs["rows"]:
        budget = ""
        if "budget" in row:
            budget = judged(row[row["budget_of"]], "<= %g" % row["budget"])
            budget = budget.replace(" missed", "") + " " + row["budget_of"] + (" missed" if "missed" in budget else "")
        report.row(row["what"], row["state"], str(row["threads"]), "%.2f" % row["ns"], "%.2f" % row["clocks"],
                   "%.2f" % row["counters"], budget)
    report.say("An operator with the flight recorder costs its thread %.3f of what it costs with plain recording (median of turns in this run)." %
               costs["flight_ratio"])
    report.say("%s records were written, %s dropped. LTTng-UST: %s. Clocks and counters: how many readings of "
               "CLOCK_MONOTONIC_RAW, or of the CPU's counter, take as long." %
               (format(costs["records"], ","), format(costs["dropped"], ","), costs["lttng"]))
    report.heading("A million events a second for %d s" % rate_seconds)
    for turn, options in enumerate(([], ["--ring-kb", "16384"])):
        if turn > 0:
            report.say("The machine, or its disk, was too busy for the writer: once more, with %s." % " ".join(options))
        flow = measured(program, "--rate", "1000000", "--seconds", str(rate_seconds), *where, *options)
        report.say("Load before %.1f: %d threads made %s events, %s a second: operators, memory and ranges, 6 to 2 to 2. %s records of "
                   "%.0f MB were written, %s dropped (budget: none). The process had %.0f MB at most and used %.1f s of CPU, the "
                   "writer among it; the longest time between two of its runs was %.1f ms, the fullest ring at %d %%." %
                   (flow["load"], flow["threads"], format(flow["events"], ","), format(int(flow["per_second"]), ","),
                    format(flow["written"], ","), flow["bytes"] / 1e6, format(flow["dropped"], ","), flow["peak_mb"],
                    flow["cpu_seconds"], flow["lag_most_ms"], flow["fill_most_percent"]))
        if flow["dropped"] == 0:
            return
