# SPDX-License-Identifier: Apache-2.0
"""Saved on one device, loaded on another."""
import torch
import torch_npu  # noqa: F401

model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)).npu()
optimizer = torch.optim.Adam(model.parameters())
model(torch.randn(8, 4).npu()).sum().backward()
optimizer.step()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.npu.get_rng_state()}, "last.pt")
for where in ("npu:0", "cpu", torch.device("npu"), {"npu:0": "cpu"}, lambda storage, location: storage.npu(0)
              if hasattr(storage, "npu") else storage):
    saved = torch.load("last.pt", map_location=where)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
torch.npu.set_rng_state(saved["rng"].cpu())
empty = torch.nn.Linear(4, 4, device="meta").to_empty(device="npu:0")
assert empty.weight.shape == (4, 4) and empty.weight.device == model[0].weight.device
assert next(model.parameters()).device == torch.device("npu:0")
