# SPDX-License-Identifier: Apache-2.0
"""Traces of torch.profiler of an inference engine that annotates its iterations as vLLM does."""


def decode(batch):
    return "execute_context_0(0)_generation_%d(%d)" % (batch, batch)


def prefill(tokens, requests=1):
    return "execute_context_%d(%d)_generation_0(0)" % (requests, tokens)


class Trace:
    """Events of torch.profiler, in us."""

    def __init__(self):
        self.events, self.key = [], 0

    def slice(self, name, begin, end, cat, tid=1, **args):
        self.events.append({"ph": "X", "pid": 1, "tid": tid, "name": name, "cat": cat, "ts": begin, "dur": end - begin, "args": args})

    def point(self, name, at):
        self.events.append({"ph": "i", "s": "t", "pid": 1, "tid": 1, "name": name, "ts": at})

    def iteration(self, name, begin, end, computing=0.5):
        """The device computes for a part of it, from its middle on to its end."""
        self.key += 1
        self.slice(name, begin, end, "user_annotation")
        self.slice("aten::mm", begin, begin + 4, "cpu_op", **{"External id": self.key})
        self.slice("cudaLaunchKernel", begin + 1, begin + 3, "cuda_runtime", correlation=self.key)
        self.slice("sgemm", end - (end - begin) * computing, end, "kernel", tid=7, correlation=self.key, **{"External id": self.key, "stream": 7})
