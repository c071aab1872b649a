# SPDX-License-Identifier: Apache-2.0
"""One process of a job that torchrun starts."""
import os

import torch
import torch.distributed as dist
import torch_npu  # noqa: F401
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

for name, value in (("MASTER_ADDR", "127.0.0.1"), ("RANK", "0"), ("LOCAL_RANK", "0"), ("WORLD_SIZE", "1")):
    os.environ.setdefault(name, value)
local_rank = int(os.environ["LOCAL_RANK"])
torch.npu.set_device(local_rank)
assert dist.is_hccl_available()
dist.init_process_group(backend="hccl", init_method="file://" + os.path.abspath("store"), rank=0, world_size=1)
group = dist.new_group([0], backend="hccl")

model = DDP(torch.nn.Linear(4, 4).to(f"npu:{local_rank}"), device_ids=[local_rank], output_device=local_rank)
data = TensorDataset(torch.randn(16, 4))
sampler = DistributedSampler(data)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for (x,) in DataLoader(data, batch_size=4, sampler=sampler):
        loss = model(x.to(local_rank)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    total = torch.tensor([loss.item()], device=torch.npu.current_device())
    dist.all_reduce(total, op=dist.ReduceOp.SUM, group=group)
    dist.barrier(device_ids=[local_rank])
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "model.pt")
dist.destroy_process_group()
