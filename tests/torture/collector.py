#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that record are killed at random moments, thousands of times, and every record has to be found again once; threads,
signals and sessions meet for as long, seen by ThreadSanitizer; full disks, forks and deleted directories come round again.

usage: collector.py BUILD SOURCE [--quick]
"""
import os
import subprocess
import sys

# Program, rounds, kills in each round, what is counted.
CAMPAIGNS = (
    ("test_recover", 5, 2000, "recording programs killed at a random moment"),
    ("test_collector_faults", 50, 0, "rounds of forks, signals, threads and full disks under a recording program"),
    ("test_threads", 50, 0, "rounds of threads and sessions seen by ThreadSanitizer"),
)


def main():
    build, quick = sys.argv[1], "--quick" in sys.argv
    failed = 0
    for program, rounds, kills, what in CAMPAIGNS:
        path = os.path.join(build, "tests/unit", program)
        if not os.path.exists(path):
            print("  %s is not built here: left out" % program)
            continue
        rounds, kills = (1, min(kills, 20)) if quick else (rounds, kills)
        held = 0
        for i in range(rounds):
            env = dict(os.environ, ASCOPE_KILLS=str(kills), ASCOPE_SEED=str(i + 1), TSAN_OPTIONS="halt_on_error=1")
            r = subprocess.run([path], env=env, capture_output=True, text=True, errors="replace")
            if r.returncode == 0:
                held += 1
            else:
                failed += 1
                print("  %s, round %d, ended with %d\n%s" % (program, i + 1, r.returncode, (r.stdout + r.stderr)[-2000:]))
        print("  %d of %d rounds of %s held" % (held, rounds, program))
        if "TORTURE_TALLY" in os.environ:
            with open(os.environ["TORTURE_TALLY"], "a") as f:
                f.write("%d %s\n" % (held * max(kills, 1), what))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
