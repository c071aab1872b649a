# SPDX-License-Identifier: Apache-2.0
import torch
import torch_npu
import time

experimental_config = torch_npu.profiler._ExperimentalConfig(
    data_simplification=False,
    # Enable mstx and configure mstx_domain_include or mstx_domain_exclude.
    mstx=True,
    mstx_domain_include=['default', 'domain1']
)
with torch_npu.profiler.profile(
        activities=[torch_npu.profiler.ProfilerActivity.CPU, torch_npu.profiler.ProfilerActivity.NPU],
        schedule=torch_npu.profiler.schedule(wait=1, warmup=0, active=1, repeat=1, skip_first=1),
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("./result"),
        experimental_config=experimental_config) as prof:
    for i in range(5):
        # Mark the default domain.
        torch_npu.npu.mstx.mark("mark_with_default_domain")
        range_id = torch_npu.npu.mstx.range_start("range_with_default_domain")
        time.sleep(0.01)
        torch_npu.npu.mstx.range_end(range_id)

        # Mark the custom domain1.
        torch_npu.npu.mstx.mark("mark_with_domain1", domain = "domain1")
        range_id1 = torch_npu.npu.mstx.range_start("range_with_domain1", domain="domain1")
        time.sleep(0.01)
        torch_npu.npu.mstx.range_end(range_id1, domain="domain1")

        # Mark the custom domain2.
        torch_npu.npu.mstx.mark("mark_with_domain2", domain = "domain2")
        range_id2 = torch_npu.npu.mstx.range_start("range_with_domain2", domain="domain2")
        time.sleep(0.01)
        torch_npu.npu.mstx.range_end(range_id2, domain="domain2")
        prof.step()
