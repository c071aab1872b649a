# SPDX-License-Identifier: Apache-2.0
"""A model that makes its tensors where it runs."""
import math

import torch
import torch.nn as nn
import torch_npu
from torch_npu.optim import NpuFusedAdamW

DEVICE = "npu:0"


class Model(nn.Module):
    def __init__(self, width=16, device=None, dtype=None):
        super().__init__()
        how = {"device": device, "dtype": dtype}
        self.embedding = nn.Embedding(32, width, **how)
        self.layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.0, batch_first=True, **how)
        self.norm, self.out = nn.LayerNorm(width, **how), nn.Linear(width, 32, bias=False, **how)
        position = torch.arange(64, device=device).unsqueeze(1)
        scale = torch.exp(torch.arange(0, width, 2, device=device) * (-math.log(10000.0) / width))
        table = torch.zeros(64, width, device=device)
        table[:, 0::2], table[:, 1::2] = torch.sin(position * scale), torch.cos(position * scale)
        self.register_buffer("table", table)

    def forward(self, tokens):
        n = tokens.size(1)
        mask = torch.full((n, n), float("-inf"), device=tokens.device).triu(1)
        x = self.embedding(tokens) + self.table[:n]
        return self.out(self.norm(self.layer(x, src_mask=mask)))


model = Model(device=DEVICE, dtype=torch.float32)
optimizer = NpuFusedAdamW(model.parameters(), lr=1e-3)
tokens = torch.randint(0, 32, (2, 8), device=DEVICE)
weights = tokens.new_ones(2, 8, dtype=torch.float32, device=DEVICE)
for _ in range(2):
    with torch.autocast("npu", dtype=torch.bfloat16):
        logits = model(tokens)
    loss = nn.functional.cross_entropy(logits.float().view(-1, 32), tokens.view(-1), reduction="none")
    loss = (loss * weights.view(-1)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
assert loss.isfinite() and torch.ones_like(loss, device="npu").device == loss.device
mask = torch.empty_like(tokens, device="npu", dtype=torch.bool).fill_(True)
assert torch.linspace(0, 1, 3, device="npu").tolist() == [0.0, 0.5, 1.0] and mask.all()
assert torch.as_tensor([1, 2], device="npu:0").new_tensor([3], device="npu").item() == 3
assert torch_npu.npu_format_cast(model.out.weight.data, 29).shape == (32, 16)
