# SPDX-License-Identifier: Apache-2.0
"""What own-mindspore and own-mindspore-host recorded: train.py DIRECTORY ACTIVITY..."""
import sys

from ascope import _core
from ascope.mindspore import Profiler, ProfilerActivity, mstx, schedule, tensorboard_trace_handler


class Linear:
    def __call__(self, rows):
        return sum(rows)


def train(n):
    with _core.Range("GetNextAsMap", "Dataset;IteratorConsumer", "TensorRowFlags:Data"):
        rows = list(range(n))
    return Linear()(rows)


with Profiler(with_stack=True, mstx=True, activities=[getattr(ProfilerActivity, name) for name in sys.argv[2:]],
              schedule=schedule(wait=0, warmup=1, active=2, repeat=1),
              on_trace_ready=tensorboard_trace_handler(sys.argv[1], "own", analyse_flag=False)) as profiler:
    for step in range(4):
        work = mstx.range_start("work", domain="train")
        train(5)
        mstx.mark("here")
        mstx.range_end(work, "train")
        profiler.step()
