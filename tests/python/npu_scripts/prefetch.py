# SPDX-License-Identifier: Apache-2.0
"""Batches are loaded by workers, pinned, and copied ahead on a stream of their own."""
import torch
import torch_npu  # noqa: F401
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return {"x": torch.full((4,), float(i)), "y": i}


class Prefetcher:
    def __init__(self, loader):
        self.loader, self.stream = iter(loader), torch.npu.Stream()
        self.preload()

    def preload(self):
        self.batch = next(self.loader, None)
        if self.batch is not None:
            with torch.npu.stream(self.stream):
                self.batch = {name: value.npu(non_blocking=True) for name, value in self.batch.items()}

    def next(self):
        torch.npu.current_stream().wait_stream(self.stream)
        batch = self.batch
        for value in (batch or {}).values():
            value.record_stream(torch.npu.current_stream())
        self.preload()
        return batch


loader = DataLoader(Numbers(), batch_size=4, num_workers=2, pin_memory=True, pin_memory_device="npu", persistent_workers=True)
batches, fetched = Prefetcher(loader), []
while (batch := batches.next()) is not None:
    fetched += batch["y"].tolist()
assert fetched == list(range(12))
pinned = torch.empty(4, pin_memory=True)
assert torch.ones(2).pin_memory().to("npu").sum() == 2 and pinned.npu().shape == (4,)
