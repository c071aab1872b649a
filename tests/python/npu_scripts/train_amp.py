# SPDX-License-Identifier: Apache-2.0
"""Mixed precision, as the migration guides show it."""
import torch
import torch.nn as nn
import torch_npu
from torch.utils.data import DataLoader, TensorDataset
from torch_npu.npu import amp

torch_npu.npu.set_compile_mode(jit_compile=False)
torch.npu.config.allow_internal_format = False
device = torch.device("npu:0")
torch.npu.set_device(device)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).to(device)
criterion = nn.CrossEntropyLoss().npu()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = amp.GradScaler(init_scale=2.0**10, dynamic=True)
data = TensorDataset(torch.randn(32, 8), torch.randint(0, 4, (32,)))
losses = []
for epoch in range(2):
    for images, target in DataLoader(data, batch_size=8, shuffle=True, pin_memory=True, drop_last=True):
        images, target = images.npu(non_blocking=True), target.to("npu:0", non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with amp.autocast():
            loss = criterion(model(images), target)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
assert len(losses) == 8 and scaler.get_scale() > 0
with torch.no_grad(), torch.autocast(device_type="npu", dtype=torch.float16):
    assert model(torch.randn(2, 8, device="npu:0")).dtype in (torch.float16, torch.bfloat16)
with torch.npu.amp.autocast(enabled=False):
    assert model(torch.randn(2, 8, device="npu")).dtype == torch.float32
