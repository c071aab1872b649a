# SPDX-License-Identifier: Apache-2.0
"""Latencies of a model, with a wait for the device around each run."""
import time

import torch
import torch_npu  # noqa: F401

device = "npu:0" if torch.npu.is_available() else "cpu"
print(torch.npu.get_device_name(0), torch.npu.device_count(), torch_npu.__version__)
model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(10))
model = model.eval().to(device)
x = torch.ones(1, 3, 16, 16).to(device)
with torch.no_grad():
    for _ in range(2):
        model(x)
    torch.npu.synchronize()
    times = []
    for _ in range(5):
        start = time.perf_counter()
        out = model(x)
        torch.npu.synchronize(device)
        times.append(time.perf_counter() - start)
assert out.cpu().numpy().shape == (1, 10)
assert x.is_npu == torch.npu.is_available() and not torch.ones(1, device="meta").is_npu
print("mean %.3f ms" % (sum(times) / len(times) * 1e3))
