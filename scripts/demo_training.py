#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small network learns on the CPU, and five of its steps are recorded: demo_training.py DIR

This is how a training run is recorded: it takes only the lines with `profiler`.
"""
import sys

import torch
from ascope.torch import profiler

ROWS, FEATURES, CLASSES, BATCH = 2048, 64, 10, 64


def data():
    x = torch.randn(ROWS, FEATURES)
    y = (x @ torch.randn(FEATURES, CLASSES)).argmax(1)
    return torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=BATCH)


def main(directory):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, 256), torch.nn.ReLU(), torch.nn.Linear(256, 256),
                                torch.nn.LayerNorm(256), torch.nn.GELU(), torch.nn.Linear(256, CLASSES))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_of = torch.nn.CrossEntropyLoss()
    settings = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1, mstx=True,
                                            aic_metrics=profiler.AiCMetrics.PipeUtilization)
    with profiler.profile(schedule=profiler.schedule(wait=1, warmup=1, active=5, repeat=1),
                          on_trace_ready=profiler.tensorboard_trace_handler(directory, analyse_flag=False),
                          record_shapes=True, profile_memory=True, with_stack=True, with_modules=True,
                          experimental_config=settings) as prof:
        for step, (x, y) in enumerate(data()):
            optimizer.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
            prof.step()
            if step == 8:
                break
    print("loss after %d steps: %.3f" % (step + 1, loss.item()))


if __name__ == "__main__":
    main(sys.argv[1])
