# SPDX-License-Identifier: Apache-2.0
import threading
import torch
import torch_npu

# Define the inference model.
from training import *


def infer(device, child_thread):
    torch.npu.set_device(device)

    if child_thread:
        # Start to profile framework data such as the torch operators of child threads.
        torch_npu.profiler.profile.enable_profiler_in_child_thread(with_modules=True)

    for _ in range(5):
        outputs = model(input_data)

    if child_thread:
        # Stop to profile framework data such as the torch operators of child threads.
        torch_npu.profiler.profile.disable_profiler_in_child_thread()


if __name__ == "__main__":
    experimental_config = torch_npu.profiler._ExperimentalConfig(
        aic_metrics=torch_npu.profiler.AiCMetrics.PipeUtilization,
        profiler_level=torch_npu.profiler.ProfilerLevel.Level1
    )
    prof = torch_npu.profiler.profile(
        activities=[torch_npu.profiler.ProfilerActivity.CPU, torch_npu.profiler.ProfilerActivity.NPU],
        on_trace_ready=torch_npu.profiler.tensorboard_trace_handler("./result"),
        record_shapes=True,
        profile_memory=True,
        with_stack=False,
        with_flops=False,
        with_modules=True,
        experimental_config=experimental_config)
    prof.start()

    threads = []
    for i in range(1, 3):
        # Create two child threads and run an inference job on devices 1 and 2 respectively.
        t = threading.Thread(target=infer, args=(i, True))
        t.start()
        threads.append(t)

    # Run an inference job on device 0 in the main thread.
    infer(0, False)

    for t in threads:
        t.join()

    prof.stop()
