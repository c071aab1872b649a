# SPDX-License-Identifier: Apache-2.0
import torch
import torch_npu

from training import *

with torch_npu.profiler.profile() as prof:
    for step in range(steps):
        train_one_step(step, steps, train_loader, model, optimizer, criterion)
prof.export_chrome_trace('./chrome_trace_14.json')
