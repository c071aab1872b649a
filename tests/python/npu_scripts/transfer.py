# SPDX-License-Identifier: Apache-2.0
"""A script for CUDA."""
import os

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401
from torch.utils.data import DataLoader, TensorDataset
from torch_npu.contrib import transfer_to_npu  # noqa: F401

from torch.cuda.amp import GradScaler, autocast

dist.init_process_group("nccl", init_method="file://" + os.path.abspath("store"), rank=0, world_size=1)
torch.cuda.set_device(0)
torch.cuda.manual_seed_all(3)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2).cuda(), device_ids=[0])
optimizer, scaler = torch.optim.Adam(model.parameters()), GradScaler()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA],
                            schedule=torch.profiler.schedule(wait=0, warmup=1, active=1, repeat=1),
                            on_trace_ready=torch.profiler.tensorboard_trace_handler("./result")) as prof:
    for (x,) in DataLoader(TensorDataset(torch.randn(12, 4)), batch_size=4, pin_memory=True):
        with autocast(dtype=torch.float16):
            loss = model(x.cuda(non_blocking=True)).float().pow(2).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        prof.step()
y = torch.zeros(3, device="cuda:0") + torch.cuda.FloatTensor([1, 2, 3])
assert y.device == torch.device("cuda", 0) and y.is_cuda == torch.cuda.is_available()
assert torch.cuda.get_device_properties(0).total_memory > 0
print(torch.cuda.get_device_name(), torch.cuda.max_memory_allocated(), torch.cuda.memory_stats()["num_alloc_retries"])
with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream()):
    print(torch.randn(2, generator=torch.Generator(device="cuda").manual_seed(1), device="cuda"))
assert os.listdir("result")
dist.destroy_process_group()
