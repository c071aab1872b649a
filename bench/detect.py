#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Detection of planted faults: what `ascope cluster -m verdicts` finds in simulated jobs with one planted fault, or with none.

    bench/detect.py build/ascope [--jobs 60] [--seed 1] [--jitter PERCENT] [--verbose]

Topology, place and size of the fault are random, but the same for the same seed. A planted fault counts as found only if the
verdict names it: the rank, the step, both ends of the link. Every verdict that does not is a false one, of its kind.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

KINDS = ("none", "slow_rank", "slow_link", "slow_step", "late_host", "clock_offset", "stage_imbalance")
SIZES = {  # factor of computing; part of the bandwidth; factor of computing; ms; ms; factor of computing
    "slow_rank": (1.1, 3), "slow_link": (0.05, 0.6), "slow_step": (1.25, 5), "late_host": (4, 60), "clock_offset": (0.05, 5),
    "stage_imbalance": (1.3, 3),
}
STEPS = 6


def size_of(kind, chance):
    low, high = SIZES[kind]
    return round(math.exp(chance.uniform(math.log(low), math.log(high))), 3)


def topology(chance, kind):
    while True:
        tp, pp, dp = (chance.choice((1, 2, 4)) for _ in range(3))
        if 4 <= tp * pp * dp <= 16 and (kind != "stage_imbalance" or (pp > 1 and tp * dp > 1)):
            return tp, pp, dp


def plan(number, seed, jitter=0):
    """A job: options of ascope sim, and what has to be found."""
    chance = random.Random(seed * 100003 + number)
    kind = KINDS[number % len(KINDS)]
    tp, pp, dp = topology(chance, kind)
    ranks = tp * pp * dp
    options = ["--framework", "pt", "--tp", tp, "--pp", pp, "--dp", dp, "--ranks-per-host", chance.choice((4, 8)), "--steps", STEPS,
               "--kernels", ranks * STEPS * chance.randint(40, 80), "--seed", number + 1, "--jitter", jitter, "--samplers=off"]
    rank, step = chance.randrange(ranks), chance.randrange(1, STEPS)
    size = size_of(kind, chance) if kind != "none" else 0
    planted = {"kind": kind, "size": size, "ranks": ranks, "topology": (tp, pp, dp)}
    if kind == "slow_rank":
        options += ["--slow-rank", f"{rank}:{size}"]
        planted["rank"] = rank
    elif kind == "slow_link":
        other = chance.choice([r for r in range(ranks) if r != rank])
        options += ["--slow-link", f"{rank}-{other}:{size}"]
        planted["link"] = {rank, other}
    elif kind == "slow_step":
        options += ["--slow-step", f"{step}:{size}"]
        planted["step"] = str(step)
    elif kind == "late_host":
        options += ["--stall", f"{step}:{round(size * 1000)}us:{rank}"]
        planted["rank"], planted["step"] = rank, str(step)
    elif kind == "clock_offset":
        sign = chance.choice((1, -1))
        options += ["--clock-offset", f"{rank}:{sign * round(size * 1000)}us"]
        planted["rank"], planted["ms"] = rank, sign * size
    elif kind == "stage_imbalance":
        first = rank // (tp * dp) * tp * dp
        planted["stage"] = range(first, first + tp * dp)
        options += ["--slow-rank", ",".join(f"{r}:{size}" for r in planted["stage"])]
    return list(map(str, options)), planted


def is_true(verdict, planted):
    if verdict["kind"] != planted["kind"]:
        return False
    if "link" in planted:
        return {verdict["rank"], verdict["other_rank"]} == planted["link"]
    if "stage" in planted:
        return verdict["rank"] in planted["stage"]
    if "ms" in planted and abs(verdict["ms"] - planted["ms"]) > 0.02:
        return False
    return all(verdict[key] == planted[key] for key in ("rank", "step") if key in planted)


def verdicts_of(ascope, options, folder):
    subprocess.run([ascope, "sim", *options, "--out", folder / "job"], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([ascope, "cluster", folder / "job", "-m", "verdicts", "-o", folder / "out", "--json"], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)["verdicts"]


def measure(ascope, jobs, seed=1, verbose=False, jitter=0):
    """By kind: planted, found, and false verdicts; healthy jobs that got one."""
    count = {kind: {"planted": 0, "found": 0, "false": 0, "missed": []} for kind in KINDS}
    for number in range(jobs):
        options, planted = plan(number, seed, jitter)
        with tempfile.TemporaryDirectory() as folder:
            verdicts = verdicts_of(ascope, options, pathlib.Path(folder))
        own = count[planted["kind"]]
        own["planted"] += 1
        found = any(is_true(v, planted) for v in verdicts)
        own["found"] += found or (planted["kind"] == "none" and not verdicts)
        if not found and planted["kind"] != "none":
            own["missed"].append((planted["topology"], planted["size"]))
        false = [v for v in verdicts if not is_true(v, planted)]
        for verdict in false:
            count.setdefault(verdict["kind"], {"planted": 0, "found": 0, "false": 0, "missed": []})["false"] += 1
        if verbose and (false or (not found and planted["kind"] != "none")):
            print(f"job {number}: {planted}\n   {' '.join(options)}")
            for verdict in verdicts:
                print(f"   {'true' if is_true(verdict, planted) else 'FALSE'}: {verdict['text']}")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ascope")
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jitter", type=int, default=0, help="percent by which kernels vary; 0: 1.5")
    parser.add_argument("--verbose", action="store_true")
    chosen = parser.parse_args()
    count = measure(chosen.ascope, chosen.jobs, chosen.seed, chosen.verbose, chosen.jitter)
    print(f"{chosen.jobs} jobs of 4 to 16 ranks, {STEPS} steps, seed {chosen.seed}, kernels vary by {chosen.jitter or 1.5} %")
    print(f"{'kind':<18}{'planted':>8}{'found':>7}{'false':>7}{'recall':>8}{'precision':>11}")
    for kind, n in count.items():
        if kind == "none":
            print(f"{'healthy':<18}{n['planted']:>8}{'':>7}{n['planted'] - n['found']:>7}")
            continue
        recall = f"{n['found'] / n['planted']:.2f}" if n["planted"] else "-"
        said = n["found"] + n["false"]
        precision = f"{n['found'] / said:.2f}" if said else "-"
        print(f"{kind:<18}{n['planted']:>8}{n['found']:>7}{n['false']:>7}{recall:>8}{precision:>11}")
        for missed in n["missed"]:
            print(f"    missed: tp, pp, dp = {missed[0]}, size {missed[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
