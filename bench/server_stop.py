#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profile.start() and stop() cost a server: examples/engine.py decodes on, while ascope and torch.profiler record in turn.

    server_stop.py [--rounds N] [--iterations N]

For each profiler, as means of a call that the engine waits for: how long start() and stop() take, by the clock and in time of the
calling thread's processor; and the interval between decodes (its median, and in processor time its longest) while it records, as ratios
to the intervals without a profiler in the same round. Other processes on the machine disturb the clock, less the processor time.
"""
import argparse
import gc
import os
import statistics
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "examples"))
import torch  # noqa: E402
from engine import Engine  # noqa: E402


def profilers(out):
    from ascope.torch import profiler as ours
    from torch.profiler import ProfilerActivity, profile
    yield "ascope", lambda: ours.profile(activities=[ours.ProfilerActivity.CPU], on_trace_ready=ours.tensorboard_trace_handler(out, async_mode=True))
    yield "torch", lambda: profile(activities=[ProfilerActivity.CPU], on_trace_ready=lambda p: p.export_chrome_trace(os.path.join(out, "torch.json")))


def timed(what):
    clock, own = time.perf_counter(), time.thread_time()
    what()
    return 1e3 * (time.perf_counter() - clock), 1e3 * (time.thread_time() - own)


def decodes(engine, n):
    """Intervals in ms, by the clock and in processor time, of n decodes in a row."""
    return [timed(lambda: engine.execute(engine.running, False)) for _ in range(n)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--iterations", type=int, default=100)
    a = p.parse_args()
    torch.set_num_threads(1)
    gc.disable()
    with tempfile.TemporaryDirectory() as out, torch.no_grad():
        engine = Engine("none", 0, 12)
        while len(engine.running) < 6:
            engine.iterate()
        for r in engine.running:
            r.tokens = r.tokens or [0]
        caches = [list(r.cache) for r in engine.running]

        def again():
            for r, c in zip(engine.running, caches):
                r.cache = list(c)
        print("%-7s %22s %22s %28s" % ("", "start() ms (processor)", "stop() ms (processor)", "interval: median, longest (x)"))
        for name, make in profilers(out):
            start, stop, median, longest = [], [], [], []
            for _ in range(a.rounds + 1):  # the first round loads what both need
                again()
                usual = [own for _, own in decodes(engine, a.iterations)]
                prof = make()
                again()
                start.append(timed(prof.start))
                during = [own for _, own in decodes(engine, a.iterations)]
                stop.append(timed(prof.stop))
                again()
                median.append(statistics.median(during) / statistics.median(usual))
                longest.append(max(during) / max(usual))
            print("%-7s %12.1f (%7.1f) %13.1f (%7.1f) %14.2f %13.2f" % (name, *(statistics.median(x[k] for x in of[1:]) for of in (start, stop) for k in (0, 1)), statistics.median(median[1:]), statistics.median(longest[1:])))


if __name__ == "__main__":
    main()
