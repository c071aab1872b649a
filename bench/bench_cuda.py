#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording on a GPU costs, beside torch.profiler: 100 steps of 20 linear layers, which are bound by launches.

usage: bench_cuda.py [PROCESSES [ROUNDS]], with the package in PYTHONPATH; docs/cuda.md has results
       bench_cuda.py million: one session of a million kernels, its memory and losses, and the time of its analysis

Speed changes by a fifth from second to second on virtual machines. So each recorded loop is compared with the one right before it, and
ascope and torch.profiler, which keeps CUPTI to itself until its process ends, alternate in processes of their own.
"""
import glob
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

RESULT = "./bench_cuda_result"
WHOSE = {"ascope": ("ascope", "ascope, files"), "torch": ("torch.profiler", "torch.profiler, files"),
         "parts": ("ascope, host alone", "ascope, GPU alone")}


def training():
    """A loop of so many steps; it takes and returns seconds."""
    import torch
    layers = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(20)]).to("cuda")
    optimizer = torch.optim.SGD(layers.parameters(), lr=1e-3)
    batch = torch.randn(64, 256, device="cuda")

    def loop(steps=100):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(steps):
            optimizer.zero_grad()
            layers(batch).sum().backward()
            optimizer.step()
        torch.cuda.synchronize()
        return time.perf_counter() - began

    return loop


def measure(whose, rounds):
    """Prints rows of seconds: without, recorded, in stop, until the files are there, the loop afterwards."""
    if whose == "torch":
        from torch.profiler import ProfilerActivity, profile
        both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    else:
        import ascope.torch.profiler as ascope
        both = [ascope.ProfilerActivity.CPU, ascope.ProfilerActivity.CUDA]

    loop = training()

    def recorded(profiler, finish=lambda p: None):
        without = loop()
        profiler.start()
        took = loop()
        began = time.perf_counter()
        profiler.stop()
        stopped = time.perf_counter()
        finish(profiler)
        return without, took, stopped - began, time.perf_counter() - began, loop()

    def ours(activities, writes):
        shutil.rmtree(RESULT, ignore_errors=True)
        return recorded(ascope.profile(activities=activities, on_trace_ready=ascope.tensorboard_trace_handler(RESULT) if writes else None))

    def theirs(writes):
        return recorded(profile(activities=both), (lambda p: p.export_chrome_trace(RESULT + ".json")) if writes else lambda p: None)

    run = {"ascope": lambda: ours(both, False), "ascope, files": lambda: ours(both, True), "ascope, host alone": lambda: ours(both[:1], False),
           "ascope, GPU alone": lambda: ours(both[1:], False), "torch.profiler": lambda: theirs(False), "torch.profiler, files": lambda: theirs(True)}
    loop()
    loop()
    for _ in range(rounds):
        for name in WHOSE[whose]:
            print("row", json.dumps([name, *run[name]()]), flush=True)


def million(steps=8200):
    """122 kernels a step."""
    import ascope.torch.profiler as ascope
    loop = training()
    loop()
    without = loop(steps)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    shutil.rmtree(RESULT, ignore_errors=True)
    profiler = ascope.profile(activities=[ascope.ProfilerActivity.CPU, ascope.ProfilerActivity.CUDA],
                              on_trace_ready=ascope.tensorboard_trace_handler(RESULT, analyse_flag=False))
    profiler.start()
    took = loop(steps)
    began = time.perf_counter()
    profiler.stop()
    stopped = time.perf_counter()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    collection = glob.glob(RESULT + "/*_ascend_pt")[0]
    analysed = subprocess.run([os.environ.get("ASCOPE_PROGRAM", "ascope"), "analyse", "--json", collection], stdout=subprocess.PIPE, check=True)
    print(f"million: without {without:.2f} s, recorded {took:.2f}, in stop {stopped - began:.3f}, {grown / 1024:.0f} MiB more memory at most, "
          f"analysis {time.perf_counter() - stopped:.2f}")
    with open(collection + "/ascope.json", encoding="utf-8") as f:
        print("its recorder:", json.dumps(json.load(f)))
    print("its counts:", json.dumps({k: v for k, v in json.loads(analysed.stdout).items() if not isinstance(v, (list, dict))}))
    with open(glob.glob(collection + "/ASCEND_PROFILER_OUTPUT/kernel_details.csv")[0], encoding="utf-8") as f:
        print("its kernels:", sum(1 for _ in f) - 1)


def report(rows):
    for name, of in rows.items():
        without, took, stop, files, after = (statistics.median(column) for column in zip(*of))
        added = statistics.median(row[1] / row[0] for row in of) - 1
        print(f"{name:22s} {len(of):3d} rounds: without {without:.3f} s, recorded {took:.3f} (+{100 * added:.0f} %), in stop {stop:.3f}, "
              f"until the end {files:.3f}, after {after:.3f} ({100 * (statistics.median(row[4] / row[0] for row in of) - 1):+.0f} %)")

    clean = statistics.median(row[0] for name, of in rows.items() if name.startswith("ascope") for row in of)
    added = {whose: statistics.median(row[1] for name in WHOSE[whose] for row in rows[name]) - clean for whose in ("ascope", "torch")}
    print(f"against a program without a profiler, {clean:.3f} s: ascope +{100 * added['ascope'] / clean:.0f} %, "
          f"torch.profiler +{100 * added['torch'] / clean:.0f} %, ratio {added['ascope'] / added['torch']:.2f}")


def main(processes=4, rounds=6):
    rows = {}
    for i in range(processes):
        for whose in WHOSE if i == 0 else list(WHOSE)[:2]:
            done = subprocess.run([sys.executable, __file__, "measure", whose, str(rounds)], stdout=subprocess.PIPE, text=True, check=True)
            for line in done.stdout.splitlines():
                if line.startswith("row "):
                    name, *row = json.loads(line[4:])
                    rows.setdefault(name, []).append(row)
    report(rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:] == ["million"]:
        million()
    else:
        main(*map(int, sys.argv[1:]))
