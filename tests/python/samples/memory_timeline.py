# SPDX-License-Identifier: Apache-2.0
import torch
import torch_npu

from training import *


def trace_handler(prof: torch_npu.profiler.profile):
    prof.export_memory_timeline(output_path="./memory_timeline.html", device="npu:0")


with torch_npu.profiler.profile(
    activities=[
        torch_npu.profiler.ProfilerActivity.CPU,
        torch_npu.profiler.ProfilerActivity.NPU
    ],
    schedule=torch_npu.profiler.schedule(wait=0, warmup=0, active=4, repeat=1, skip_first=0),
    on_trace_ready=trace_handler,
    record_shapes=True,      # Set it to True.
    profile_memory=True,     # Set it to True.
    with_stack=True,         # Set either with_stack or with_modules to True.
    with_modules=True
) as prof:
    for _ in range(steps):
        train_one_step()
        prof.step()
