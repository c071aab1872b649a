# SPDX-License-Identifier: Apache-2.0
"""The profiler, with what its documents show."""
import os

import torch
import torch_npu

experimental_config = torch_npu.profiler._ExperimentalConfig(
    export_type=[torch_npu.profiler.ExportType.Text, torch_npu.profiler.ExportType.Db],
    profiler_level=torch_npu.profiler.ProfilerLevel.Level1, aic_metrics=torch_npu.profiler.AiCMetrics.PipeUtilization, mstx=True)
model = torch.nn.Linear(4, 4, device="npu:0")
with torch_npu.profiler.profile(
        activities=[torch_npu.profiler.ProfilerActivity.CPU, torch_npu.profiler.ProfilerActivity.NPU],
        schedule=torch_npu.profiler.schedule(wait=0, warmup=1, active=2, repeat=1, skip_first=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("./result"), record_shapes=True, profile_memory=True,
        with_stack=True, with_modules=False, with_flops=False, experimental_config=experimental_config) as prof:
    for step in range(5):
        torch_npu.npu.mstx.mark("begin", torch.npu.current_stream())
        with torch_npu.npu.mstx.annotate("forward", domain="train"):
            loss = model(torch.randn(2, 4, device="npu:0")).sum()
        loss.backward()
        prof.step()
(collection,) = os.listdir("result")
assert "trace_view.json" in os.listdir(os.path.join("result", collection, "ASCEND_PROFILER_OUTPUT"))
