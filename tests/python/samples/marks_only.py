# SPDX-License-Identifier: Apache-2.0
import torch
import torch_npu

from training import *

experimental_config = torch_npu.profiler._ExperimentalConfig(
    profiler_level=torch_npu.profiler.ProfilerLevel.Level_none,
    mstx=True,
    export_type=[
        torch_npu.profiler.ExportType.Db
    ])
with torch_npu.profiler.profile(
        schedule=torch_npu.profiler.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("./result"),
        experimental_config=experimental_config) as prof:
    for step in range(steps):
        id = torch_npu.npu.mstx.range_start("dataloader", None)
        train_one_step()
        torch_npu.npu.mstx.range_end(id)
        stream = torch_npu.npu.current_stream()
        id = torch_npu.npu.mstx.range_start("matmul", stream)
        torch.matmul(input_data, input_data.t())
        torch_npu.npu.mstx.range_end(id)
        prof.step()
