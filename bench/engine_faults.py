#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well ascope finds what is wrong with an inference engine: examples/engine.py with one planted fault at a time.

    engine_faults.py make DIR [--seeds N] [--jobs N]      records each with torch.profiler, but gc with ascope: into DIR/FAULT-SEED
    engine_faults.py judge DIR [--ascope PROGRAM]         asks `ascope why` about each, and prints precision and recall

The machine should be quiet: what other processes do to the engine is found, too, and counts as wrong here.
"""
import argparse
import concurrent.futures
import glob
import gzip
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What has to be found: a check of advise, or a slow rank. Others are causes of slow iterations ("slow: longer").
EXPECTED = {"none": None, "sampler": "sampling", "prompt": "long_prompt", "stall": "scheduling", "kv": "preemption", "rank": "slow rank", "gc": "gc", "host": "decode_host"}
# Findings that say the same of the same time: no second mistake.
ALSO = {"sampler": {"slow: operators", "slow: runs"}, "prompt": {"slow: longer", "slow: operators"}, "gc": {"slow: gc"}, "rank": {"exposed_communication", "slow_rank"}}
OF_ENGINES = {"scheduling", "post_processing", "between_iterations", "sampling", "long_prompt", "preemption", "decode_host", "slow_rank", "gc", "slow_host", "exposed_communication"}


def make_one(out, fault, seed, port):
    os.makedirs(out, exist_ok=True)
    world = 2 if fault == "rank" else 1
    ranks = [subprocess.Popen([sys.executable, os.path.join(ROOT, "examples/engine.py"), "--fault", fault, "--seed", str(seed), "--profile", "ascope" if fault == "gc" else "torch", "--rank", str(r),
                               "--world", str(world), "--port", str(port), out], stderr=subprocess.PIPE, text=True) for r in range(world)]
    for p in ranks:
        error = p.communicate(timeout=300)[1]
        if p.returncode != 0:
            sys.exit("%s: %s" % (out, error[-2000:]))


def make(a):
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        jobs = [pool.submit(make_one, os.path.join(a.dir, "%s-%d" % (fault, seed)), fault, seed, 29600 + 10 * i + seed) for i, fault in enumerate(a.faults.split(",")) for seed in range(a.seeds)]
        for j in jobs:
            j.result()


def found_in(ascope, path):
    """What ascope names as wrong, as keys of EXPECTED."""
    r = subprocess.run([ascope, "why", "--json", "--top", "50", path], capture_output=True, text=True)
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


def was_planted(fault, path):
    """What depends on what the engine came to do: a cache that was full, a moment that was reached."""
    if fault not in ("kv", "stall"):
        return True
    with gzip.open(os.path.join(path, "rank_0.json.gz"), "rt") as f:
        events = json.load(f)["traceEvents"]
    return any(e.get("name") == "schedule: preempt" if fault == "kv" else e.get("name") == "schedule: allocate_slots" and e.get("dur", 0) > 50e3 for e in events)


def judge(a):
    n = {"planted": 0, "found": 0, "named": 0, "right": 0}
    print("%-10s %6s %6s  %s" % ("fault", "found", "of", "also named"))
    for fault, wanted in EXPECTED.items():
        hits, others, runs = 0, {}, sorted(glob.glob(os.path.join(a.dir, fault + "-*")))
        runs = [path for path in runs if was_planted(fault, path)]
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
    p.add_argument("--faults", default=",".join(EXPECTED), help="which are made")
    p.add_argument("--seeds", type=int, default=5)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--ascope", default=os.path.join(ROOT, "build/ascope"))
    a = p.parse_args()
    (make if a.what == "make" else judge)(a)


if __name__ == "__main__":
    main()
