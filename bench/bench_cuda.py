#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording on a GPU costs, beside torch.profiler: 100 steps of 20 linear layers, which are bound by launches.

usage: bench_cuda.py [PROCESSES [ROUNDS]], with the package in PYTHONPATH; docs/cuda.md has results

Speed changes by a fifth from second to second on virtual machines. So each recorded loop is compared with the one right before it, and
ascope and torch.profiler, which keeps CUPTI to itself until its process ends, alternate in processes of their own.
"""
import json
import shutil
import statistics
import subprocess
import sys
import time

RESULT = "./bench_cuda_result"
WHOSE = {"ascope": ("ascope", "ascope, files"), "torch": ("torch.profiler", "torch.profiler, files"),
         "parts": ("ascope, host alone", "ascope, GPU alone")}


def measure(whose, rounds):
    """Prints rows of seconds: without, recorded, in stop, until the files are there, the loop afterwards."""
    import torch
    if whose == "torch":
        from torch.profiler import ProfilerActivity, profile
        both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    else:
        import ascope.torch.profiler as ascope
        both = [ascope.ProfilerActivity.CPU, ascope.ProfilerActivity.CUDA]

    layers = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(20)]).to("cuda")
    optimizer = torch.optim.SGD(layers.parameters(), lr=1e-3)
    batch = torch.randn(64, 256, device="cuda")

    def loop():
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(100):
            optimizer.zero_grad()
            layers(batch).sum().backward()
            optimizer.step()
        torch.cuda.synchronize()
        return time.perf_counter() - began

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
    else:
        main(*map(int, sys.argv[1:]))
