#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small network learns on the CPU, and 40 of its steps are recorded: demo_training.py DIR

This is how a training run is recorded: it takes only the lines with `profiler`. One batch is planted to be slow, so
that there is something to find: reading its rows takes 1 s longer, as from a disk that is busy.
"""
import sys
import time

import torch
from ascope.torch import profiler

ROWS, FEATURES, CLASSES, BATCH = 4096, 64, 10, 64
WAIT, WARMUP, STEPS = 1, 9, 40
SLOW_STEP, SLOW_SECONDS = 30, 1


class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.x = torch.randn(ROWS, FEATURES)
        self.y = (self.x @ torch.randn(FEATURES, CLASSES)).argmax(1)

    def __len__(self):
        return ROWS

    def __getitem__(self, row):
        if row == SLOW_STEP * BATCH:
            time.sleep(SLOW_SECONDS)
        return self.x[row], self.y[row]


def main(directory):
    torch.manual_seed(0)
    torch.set_num_threads(1)  # on a machine that does other work, threads that wait for each other make long steps of their own
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256),
                                torch.nn.LayerNorm(256), torch.nn.GELU(), torch.nn.Linear(256, CLASSES))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_of = torch.nn.CrossEntropyLoss()
    with profiler.profile(schedule=profiler.schedule(wait=WAIT, warmup=WARMUP, active=STEPS, repeat=1),
                          on_trace_ready=profiler.tensorboard_trace_handler(directory, analyse_flag=False),
                          record_shapes=True, profile_memory=True, with_stack=True, with_modules=True) as prof:
        for step, (x, y) in enumerate(torch.utils.data.DataLoader(Rows(), batch_size=BATCH)):
            optimizer.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
            prof.step()
            if step == WAIT + WARMUP + STEPS:
                break
    print("loss after %d steps: %.3f" % (step + 1, loss.item()))


if __name__ == "__main__":
    main(sys.argv[1])
