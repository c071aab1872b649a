#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well ascope finds what is wrong with an inference engine: examples/engine.py with one planted fault at a time.

    engine_faults.py make DIR [--seeds N] [--jobs N]      records traces with torch.profiler: DIR/FAULT-SEED/rank_R.json.gz
    engine_faults.py judge DIR [--ascope PROGRAM]         asks `ascope why` about each, and prints precision and recall

The machine should be quiet: what other processes do to the engine is found, too, and counts as wrong here.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What has to be found: a check of advise, a cause of a slow decode ("slow: gc"), or a slow rank.
EXPECTED = {"none": None, "sampler": "sampling", "prompt": "long_prompt", "stall": "scheduling", "kv": "preemption", "rank": "slow rank", "gc": "slow: gc", "host": "decode_host"}
# Findings that say the same of the same time: no second mistake.
ALSO = {"sampler": {"slow: operators", "slow: runs"}, "stall": set(), "prompt": set(), "gc": {"gc"}, "rank": {"exposed_communication", "slow_rank", "decode_host"}}
OF_ENGINES = {"scheduling", "post_processing", "between_iterations", "sampling", "long_prompt", "preemption", "decode_host", "slow_rank", "gc", "slow_host", "exposed_communication"}


def make_one(out, fault, seed, port):
    os.makedirs(out, exist_ok=True)
    world = 2 if fault == "rank" else 1
    ranks = [subprocess.Popen([sys.executable, os.path.join(ROOT, "examples/engine.py"), "--fault", fault, "--seed", str(seed), "--profile", "torch", "--rank", str(r),
                               "--world", str(world), "--port", str(port)] + ["--stack"] * (fault == "gc") + [out], stderr=subprocess.PIPE, text=True) for r in range(world)]
    for p in ranks:
        error = p.communicate(timeout=300)[1]
        if p.returncode != 0:
            sys.exit("%s: %s" % (out, error[-2000:]))


def make(a):
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        jobs = [pool.submit(make_one, os.path.join(a.dir, "%s-%d" % (fault, seed)), fault, seed, 29600 + 10 * i + seed) for i, fault in enumerate(EXPECTED) for seed in range(a.seeds)]
        for j in jobs:
            j.result()


def found_in(ascope, path):
    """What ascope names as wrong, as keys of EXPECTED."""
    r = subprocess.run([ascope, "why", "--json", path], capture_output=True, text=True)
    if r.returncode not in (0, 3):
        sys.exit("%s: %s" % (path, r.stderr))
    a = json.loads(r.stdout)["answers"][0]
    found = {x["check"] for x in a["advice"]} & OF_ENGINES
    for f in a["judged"]:
        if f["shape"] in ("rank", "in_turns"):
            found.add("slow rank" if f["shape"] == "rank" else "uneven")
        elif f["shape"] != "start_up":
            causes = f["causes"]
            found.add("slow: %s" % (max(causes, key=causes.get) if causes else "unexplained"))
    return found


def judge(a):
    n = {"planted": 0, "found": 0, "named": 0, "right": 0}
    print("%-10s %6s %6s  %s" % ("fault", "found", "of", "also named"))
    for fault, wanted in EXPECTED.items():
        hits, others, runs = 0, {}, sorted(glob.glob(os.path.join(a.dir, fault + "-*")))
        for path in runs:
            found = found_in(a.ascope, path)
            hits += wanted in found
            wrong = found - {wanted} - ALSO.get(fault, set())
            n["named"] += len(found - ALSO.get(fault, set()))
            n["right"] += wanted in found
            for x in wrong:
                others[x] = others.get(x, 0) + 1
        n["planted"] += len(runs) * (wanted is not None)
        n["found"] += hits
        print("%-10s %6s %6d  %s" % (fault, hits if wanted else "-", len(runs), ", ".join("%s (%d)" % x for x in sorted(others.items()))))
    print("recall %.2f (%d of %d), precision %.2f (%d of %d findings)" % (n["found"] / n["planted"], n["found"], n["planted"], n["right"] / max(n["named"], 1), n["right"], n["named"]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["make", "judge"])
    p.add_argument("dir")
    p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--ascope", default=os.path.join(ROOT, "build/ascope"))
    a = p.parse_args()
    (make if a.what == "make" else judge)(a)


if __name__ == "__main__":
    main()
