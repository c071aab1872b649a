#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording on a GPU costs, beside torch.profiler in the same process: 100 steps of 20 linear layers, which are bound by launches.

usage: bench_cuda.py, with the package in PYTHONPATH; docs/cuda.md has results
"""
import shutil
import statistics
import time

import ascope.torch.profiler as ascope
import torch
from torch.profiler import ProfilerActivity, profile

RESULT = "./bench_cuda_result"
OURS = ascope.ProfilerActivity

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
    """Seconds of the loop, in stop, until the files are there, and of the loop afterwards."""
    profiler.start()
    took = loop()
    began = time.perf_counter()
    profiler.stop()
    stopped = time.perf_counter()
    finish(profiler)
    return took, stopped - began, time.perf_counter() - began, loop()


def ours(activities, writes=False):
    shutil.rmtree(RESULT, ignore_errors=True)
    return recorded(ascope.profile(activities=activities, on_trace_ready=ascope.tensorboard_trace_handler(RESULT) if writes else None))


def theirs(writes=False):
    p = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    return recorded(p, lambda q: q.export_chrome_trace(RESULT + ".json")) if writes else recorded(p)


def report(name, run, rounds):
    without, rows = [], []
    for _ in range(rounds):
        without.append(loop())
        rows.append(run())
    base = statistics.median(without)
    took, stop, files, after = (statistics.median(column) for column in zip(*rows))
    print(f"{name:26s} without {base:.3f} s, recorded {took:.3f} (+{100 * (took / base - 1):.0f} %), in stop {stop:.3f}, "
          f"until the end {files:.3f}, after {after:.3f}", flush=True)


loop()
loop()
report("ascope", lambda: ours([OURS.CPU, OURS.CUDA]), 8)
report("ascope, files", lambda: ours([OURS.CPU, OURS.CUDA], True), 5)
report("ascope, host alone", lambda: ours([OURS.CPU]), 5)
report("ascope, GPU alone", lambda: ours([OURS.CUDA]), 5)
report("torch.profiler", theirs, 5)
report("torch.profiler, files", lambda: theirs(True), 3)
