# SPDX-License-Identifier: Apache-2.0
"""The same random numbers twice."""
import random

import torch
import torch_npu  # noqa: F401


def seed_all(seed):
    random.seed(seed)
    torch.manual_seed(seed)
    torch.npu.manual_seed(seed)
    torch.npu.manual_seed_all(seed)
    torch.use_deterministic_algorithms(True)


seed_all(7)
a = torch.rand(3, device="npu")
seed_all(7)
assert torch.equal(a, torch.rand(3, device="npu"))
state = torch.npu.get_rng_state()
b = torch.nn.functional.dropout(torch.ones(8, device="npu:0"))
torch.npu.set_rng_state(state)
assert torch.equal(b, torch.nn.functional.dropout(torch.ones(8, device="npu:0")))
generator = torch.Generator(device="npu:0")
generator.manual_seed(1)
c = torch.randn(4, generator=generator, device="npu:0")
assert torch.equal(c, torch.randn(4, generator=torch.Generator("npu").manual_seed(1), device="npu"))
assert isinstance(generator, torch.Generator) and torch.npu.initial_seed() == 7
torch.npu.set_rng_state_all(torch.npu.get_rng_state_all())
order = torch.randperm(5, generator=torch.Generator(device="npu").manual_seed(2), device="npu")
noise = torch.empty(4, device="npu").normal_(generator=generator)
assert sorted(order.tolist()) == list(range(5)) and noise.shape == (4,)
