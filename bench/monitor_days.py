#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time to detect, and false alarms, of `ascope monitor` over simulated hours of a job with faults that begin and end.

usage: PYTHONPATH=tests/support bench/monitor_days.py build/ascope [HOURS [RANKS [SEED]]]

A step of a second. The level of the job wanders (standard deviation 1 %, autocorrelation 0.9), each rank's own time varies by 1 %,
and over a day the job becomes 0.5 % slower and faster again. Every hour there is one fault, for 15 minutes: a rank that needs more, or all
ranks. Simulated data.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

from monitor_files import Job

FAULTS = [("rank", 1.3), ("rank", 1.15), ("rank", 1.08), ("rank", 1.05), ("job", 1.3), ("job", 1.1), ("job", 1.05)]
BEGIN_S, LENGTH_S = 1800, 900


def main():
    ascope, hours, n_ranks, seed = os.path.abspath(sys.argv[1]), *(list(map(int, sys.argv[2:5])) + [24, 8, 1][len(sys.argv) - 2:])
    job, planted = Job(n_ranks, seed, common=0.01, rho=0.9), []
    start = job.now
    for hour in range(hours):
        kind, factor = FAULTS[hour % len(FAULTS)]
        rank = job.random.randrange(n_ranks)
        begin = None
        end = None
        while job.now < start + (hour + 1) * 3600 * 10**9:
            at = (job.now - start) / 1e9
            is_on = 0 <= at - hour * 3600 - BEGIN_S < LENGTH_S
            begin = job.now if is_on and begin is None else begin
            end = job.now if not is_on and begin is not None and end is None else end
            slow = 1 + 0.005 * math.sin(2 * math.pi * at / 86400)
            job.take(slow=[rank] if is_on and kind == "rank" else [], factor=factor, all_factor=slow * (factor if is_on and kind == "job" else 1))
        planted.append((kind, factor, rank if kind == "rank" else None, begin, end))
    with tempfile.TemporaryDirectory() as folder:
        job.write(folder)
        r = subprocess.run([ascope, "monitor", folder, "--replay", "--json"], stdout=subprocess.PIPE, check=True)
    alarms = json.loads(r.stdout)["alarms"]
    found = {}
    left = []
    for alarm in alarms:
        # An alarm belongs to a fault that it began in, or shortly after: the window still has it.
        hit = next((p for p in planted if p[3] <= alarm["began_unix_ns"] < p[4] + 600e9), None)
        if hit and (hit[2] is None or hit[2] == alarm["rank"]) and alarm["began_unix_ns"] < hit[4]:
            found.setdefault(hit[3], (hit, (alarm["began_unix_ns"] - hit[3]) / 1e9, (alarm["since_unix_ns"] - hit[3]) / 1e9))
        else:
            left.append((alarm, hit))
    for kind, factor in FAULTS:
        of = [p for p in planted if p[:2] == (kind, factor)]
        times = [found[p[3]][1] for p in of if p[3] in found]
        since = [abs(found[p[3]][2]) for p in of if p[3] in found]
        print("%-4s x %.2f: %d of %d found; median %s s, longest %s s; begin off by %s s at the median" % (
            kind, factor, len(times), len(of), *(("%.0f" % statistics.median(times), "%.0f" % max(times), "%.0f" % statistics.median(since)) if times else "---")))
    print("false alarms: %d in %d hours outside of faults; %d about something else during a fault or up to 600 s after it" % (
        sum(hit is None for _, hit in left), hours, sum(hit is not None for _, hit in left)))
    for alarm, hit in left[:20]:
        print("   ", (alarm["began_unix_ns"] - start) // 10**9, "rank", alarm["rank"], "in or after %s x %.2f" % hit[:2] if hit else "", alarm["text"][:150])


main()
