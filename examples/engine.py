#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""engine.py - a small inference engine with continuous batching: random weights, PyTorch on the CPU, annotated as vLLM does.

    engine.py [--fault NAME] [--seed N] [--requests N] [--rank R --world W --port P] [--profile ascope|torch|none] [--stack] OUT

Requests arrive at random, wait for a place in the batch and in the cache of keys and values, are prefilled, and decode one token in
each iteration. Iterations carry vLLM's annotations, requests are marked with ascope.request(). One fault may be planted:

    sampler   every 12th decode samples slowly           prompt  a long prompt in the middle of decodes
    stall     the scheduler stalls once                  kv      the cache is too small: a request is preempted, and computed again
    rank      one rank of several is slower              gc      a garbage collection with many objects, once
    host      the host does far more between operators   none
"""
import argparse
import contextlib
import gc
import os
import random
import time

import torch

try:
    from ascope import request as Mark
except ImportError:
    class Mark:
        """What ascope.request() does in a trace of torch.profiler, where the package is not installed."""

        def __init__(self, number):
            self.number = number

        def __getattr__(self, event):
            name = {"begin": "request_begin", "end": "request_end"}.get(event, event)

            def mark():
                with torch.profiler.record_function("%s %s" % (name, self.number)):
                    pass
            return mark

LAYERS, WIDTH, HEADS, WORDS = 2, 128, 4, 512
MOST_BATCH, BLOCK = 6, 16


class Request:
    def __init__(self, number, arrival, prompt, tokens):
        self.number, self.arrival, self.prompt, self.wanted = number, arrival, prompt, tokens
        self.tokens, self.cache, self.mark = [], None, Mark(number)

    def length(self):
        return len(self.prompt) + len(self.tokens)

    def blocks(self):
        return -(-(self.length() + 1) // BLOCK)


class Model(torch.nn.Module):
    """A decoder; a cache per request, so that attention of a batch is a loop over requests."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(WORDS, WIDTH)
        self.qkv = torch.nn.ModuleList(torch.nn.Linear(WIDTH, 3 * WIDTH) for _ in range(LAYERS))
        self.up = torch.nn.ModuleList(torch.nn.Linear(WIDTH, 4 * WIDTH) for _ in range(LAYERS))
        self.down = torch.nn.ModuleList(torch.nn.Linear(4 * WIDTH, WIDTH) for _ in range(LAYERS))
        self.head = torch.nn.Linear(WIDTH, WORDS)

    def attend(self, q, k, v, is_prompt):
        q, k, v = (x.view(len(x), HEADS, -1).transpose(0, 1) for x in (q, k, v))
        scores = q @ k.transpose(1, 2) / (WIDTH // HEADS) ** 0.5
        if is_prompt:
            scores = scores.masked_fill(torch.ones(scores.shape[1:], dtype=torch.bool).triu(1), -1e9)
        return (scores.softmax(-1) @ v).transpose(0, 1).reshape(-1, WIDTH)

    def forward(self, batch, is_prompt):
        ids = batch[0].prompt + batch[0].tokens if is_prompt else [r.tokens[-1] for r in batch]
        x = self.words(torch.tensor(ids))
        for layer in range(LAYERS):
            q, k, v = self.qkv[layer](x).chunk(3, -1)
            if is_prompt:
                batch[0].cache = batch[0].cache or []
                batch[0].cache.append((k, v))
                y = self.attend(q, k, v, True)
            else:
                y = []
                for i, r in enumerate(batch):
                    r.cache[layer] = tuple(torch.cat((old, new[i:i + 1])) for old, new in zip(r.cache[layer], (k, v)))
                    y.append(self.attend(q[i:i + 1], *r.cache[layer], False))
                y = torch.cat(y)
            x = x + y
            x = x + self.down[layer](torch.relu(self.up[layer](x)))
        return self.head(x[-1:] if is_prompt else x)


class Engine:
    def __init__(self, fault, seed, n_requests, rank=0, world=1):
        self.fault, self.random, self.rank, self.world = fault, random.Random(seed), rank, world
        torch.manual_seed(0)
        self.model, self.n_iterations, self.n_decodes = Model().eval(), 0, 0
        self.n_blocks = 20 if fault == "kv" else 400
        at, self.coming = 0, []
        for number in range(n_requests):
            at += self.random.choice((0, 0, 2, 5))
            self.coming.append(Request(number, at, [self.random.randrange(WORDS) for _ in range(self.random.randrange(24, 64))], self.random.randrange(30, 50)))
        if fault == "prompt":
            middle = self.coming[n_requests // 2]
            middle.prompt = [self.random.randrange(WORDS) for _ in range(1500)]
        self.waiting, self.running = [], []
        self.once = self.random.randrange(40, 70)  # the decode of what happens once
        self.garbage = [[i] for i in range(400000)] if fault == "gc" else None

    def schedule(self):
        """The batch of the next iteration: one prompt if there is a place, or all that decode."""
        with torch.profiler.record_function("schedule: allocate_slots"):
            while self.coming and self.coming[0].arrival <= self.n_iterations:
                r = self.coming.pop(0)
                r.mark.begin()
                self.waiting.append(r)
            if self.fault == "stall" and self.n_decodes == self.once:
                time.sleep(0.08)
                self.fault = "stalled"
            used = sum(r.blocks() for r in self.running)
            if self.waiting and len(self.running) < MOST_BATCH and used + self.waiting[0].blocks() <= self.n_blocks:
                r = self.waiting.pop(0)
                self.running.append(r)
                return [r], True
            while len(self.running) > 1 and used > self.n_blocks:
                with torch.profiler.record_function("schedule: preempt"):
                    r = self.running.pop()
                    r.cache = None
                    self.waiting.insert(0, r)
                used = sum(r.blocks() for r in self.running)
            return self.running, False

    def sample(self, logits, is_prompt):
        with torch.profiler.record_function("gpu_model_runner: sample"):
            if self.fault == "sampler" and not is_prompt and self.n_decodes % 12 == 7:
                for _ in range(20):
                    torch.sort(torch.randn(WORDS * 16))
            return logits.argmax(-1).tolist()

    def execute(self, batch, is_prompt):
        n = batch[0].length() if is_prompt else 0
        name = "execute_context_%d(%d)_generation_%d(%d)" % ((1, n, 0, 0) if is_prompt else (0, 0, len(batch), len(batch)))
        with torch.profiler.record_function(name):
            if self.fault == "host":
                sum(i * i for i in range(120000))
            logits = self.model(batch, is_prompt)
            if self.fault == "gc" and not is_prompt and self.n_decodes == self.once:
                gc.collect()
                self.fault = "collected"
            if self.fault == "rank" and self.rank == self.world - 1:
                time.sleep(0.004)
            if self.world > 1:
                torch.distributed.all_reduce(logits)
            return self.sample(logits, is_prompt)

    def iterate(self):
        batch, is_prompt = self.schedule()
        if batch:
            ids = self.execute(batch, is_prompt)
            with torch.profiler.record_function("llm_engine step: process_outputs"):
                for r, token in zip(batch, ids):
                    (r.mark.token if r.tokens else r.mark.first_token)()
                    r.tokens.append(token)
                for r in [r for r in batch if len(r.tokens) >= r.wanted]:
                    r.mark.end()
                    self.running.remove(r)
            self.n_decodes += not is_prompt
        self.n_iterations += 1

    def is_done(self):
        return not (self.coming or self.waiting or self.running)


def profiler(kind, out, rank, stack):
    if kind == "none":
        return contextlib.nullcontext()
    if kind == "torch":
        from torch.profiler import ProfilerActivity, profile
        return profile(activities=[ProfilerActivity.CPU], with_stack=stack,
                       on_trace_ready=lambda p: p.export_chrome_trace(os.path.join(out, "rank_%d.json.gz" % rank)))
    from ascope.torch import profiler as ours
    return ours.profile(activities=[ours.ProfilerActivity.CPU], on_trace_ready=ours.tensorboard_trace_handler(out, analyse_flag=False),
                        experimental_config=ours._ExperimentalConfig(mstx=True, gc_detect_threshold=0.0))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--fault", default="none", choices=["none", "sampler", "prompt", "stall", "kv", "rank", "gc", "host"])
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--requests", type=int, default=12)
    p.add_argument("--rank", type=int, default=0)
    p.add_argument("--world", type=int, default=1)
    p.add_argument("--port", type=int, default=29611)
    p.add_argument("--profile", default="ascope", choices=["ascope", "torch", "none"])
    p.add_argument("--stack", action="store_true", help="record Python functions, too: torch.profiler shows garbage collections only so")
    p.add_argument("out")
    a = p.parse_args()
    torch.set_num_threads(1)
    gc.disable()
    if a.world > 1:
        torch.distributed.init_process_group("gloo", init_method="tcp://127.0.0.1:%d" % a.port, rank=a.rank, world_size=a.world)
    engine = Engine(a.fault, a.seed, a.requests, a.rank, a.world)
    with torch.no_grad():
        while engine.n_iterations < 8:  # what the first operators load is not of the recording
            engine.iterate()
        with profiler(a.profile, a.out, a.rank, a.stack):
            while not engine.is_done():
                engine.iterate()


if __name__ == "__main__":
    main()
