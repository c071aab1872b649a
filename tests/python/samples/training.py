# SPDX-License-Identifier: Apache-2.0
"""What the samples leave out: a small training, under the names that they use."""
import torch

steps, epochs, child_threads = 5, 3, 2
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
criterion = torch.nn.MSELoss()
train_loader = torch.utils.data.DataLoader([(torch.randn(64), torch.randn(8)) for _ in range(80)], batch_size=16)
input_data = torch.randn(4, 64)
_batches = None


def train_one_step(*unused):
    global _batches
    if _batches is None:
        _batches = iter(train_loader)
    batch = next(_batches, None)
    if batch is None:
        _batches = iter(train_loader)
        batch = next(_batches)
    optimizer.zero_grad()
    criterion(model(batch[0]), batch[1]).backward()
    optimizer.step()


train_model_step = train_one_step
