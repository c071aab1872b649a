#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Captured CUDA graphs under ascope, on a machine with a GPU: operators of replayed kernels, and what watching captures costs.

    graph_replays.py tied OUT [--compile]    records replays of a transformer whose graph was captured before; the collection is in OUT
    graph_replays.py cost                    us of a replay: without ascope, with it imported (the capture was watched), after a recording
    graph_replays.py server PROFILER OUT     intervals between tokens before, while and after PROFILER (ascope or torch) starts, records, stops

Each mode is a process of its own, because profilers leave traces in a process.
"""
import argparse
import json
import os
import statistics
import sys
import time

import torch
from torch import nn

DEVICE = "cuda"


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, t, width))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, layers=8, width=1024, heads=16, words=32000):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.layers = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, words)

    def forward(self, tokens):
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(x[:, -1]).argmax(-1)


def captured(compiles=False):
    model = Model().to(DEVICE, torch.bfloat16).eval()
    tokens = torch.randint(0, 32000, (8, 128), device=DEVICE)
    run = torch.compile(model) if compiles else model
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            run(tokens)
            run(tokens)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = run(tokens)
    return graph, tokens, result


def ascope_profile(out=None, **more):
    from ascope.torch import profiler
    handler = profiler.tensorboard_trace_handler(out, async_mode=True) if out else None
    return profiler.profile(activities=[profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA], on_trace_ready=handler, **more)


def tied(out, compiles):
    import ascope.torch  # noqa: F401, pylint: disable=unused-import
    graph, *_ = captured(compiles)
    prof = ascope_profile(out, record_shapes=True)
    prof.start()
    for _ in range(20):
        with torch.autograd.profiler.record_function("execute_context_0(0)_generation_8(8)"):
            graph.replay()
            torch.cuda.synchronize()
    prof.stop()


def per_replay(graph, n=400):
    took = []
    for _ in range(9):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(n):
            graph.replay()
        torch.cuda.synchronize()
        took.append(1e6 * (time.perf_counter() - began) / n)
    return statistics.median(took)


def cost():
    graph, *_ = captured()
    print(json.dumps({"without": per_replay(graph)}))
    import ascope.torch  # noqa: F401, pylint: disable=unused-import
    began = time.perf_counter()
    watched, *_ = captured()
    took = time.perf_counter() - began
    both = [(per_replay(graph), per_replay(watched)) for _ in range(3)]
    print(json.dumps({"capture_s": took, "not watched": [b[0] for b in both], "watched": [b[1] for b in both]}))
    prof = ascope_profile()
    prof.start()
    during = per_replay(watched, 100)
    prof.stop()
    print(json.dumps({"recorded": during, "after": per_replay(watched)}))


def server(whose, out):
    graph, tokens, result = captured()
    intervals = []

    def decode(n):
        for _ in range(n):
            began = time.perf_counter()
            graph.replay()
            tokens[:, -1] = result
            result.tolist()
            intervals.append(1e3 * (time.perf_counter() - began))

    def shown(name):
        x = sorted(intervals)
        print("%-10s p50 %.3f ms, p99 %.3f, longest %.3f (%d)" % (name, x[len(x) // 2], x[int(len(x) * .99)], x[-1], len(x)), flush=True)
        intervals.clear()

    for turn in range(3):
        decode(1500)
        shown("usual")
        if whose == "ascope":
            prof = ascope_profile(out)
        else:
            from torch.profiler import ProfilerActivity, profile
            prof = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                           on_trace_ready=lambda p: p.export_chrome_trace(os.path.join(out, "torch.json")))
        began = time.perf_counter()
        prof.start()
        started = 1e3 * (time.perf_counter() - began)
        decode(1500)
        shown("recorded")
        began = time.perf_counter()
        prof.stop()
        print("%s, turn %d: start() %.1f ms, stop() %.1f ms" % (whose, turn, started, 1e3 * (time.perf_counter() - began)), flush=True)
        decode(1500)
        shown("after")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mode", choices=("tied", "cost", "server"))
    p.add_argument("words", nargs="*")
    p.add_argument("--compile", action="store_true")
    a = p.parse_args()
    if a.mode == "tied":
        tied(a.words[0], a.compile)
    elif a.mode == "cost":
        cost()
    else:
        server(*a.words)


if __name__ == "__main__":
    sys.exit(main())
