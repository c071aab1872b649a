# SPDX-License-Identifier: Apache-2.0
"""torch_npu.optim: PyTorch's own optimizers replace the fused ones of the NPU."""
import torch

NpuFusedOptimizerBase = torch.optim.Optimizer
NpuFusedSGD, NpuFusedAdadelta = torch.optim.SGD, torch.optim.Adadelta
NpuFusedAdam, NpuFusedAdamW, NpuFusedRMSprop = torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop


def __getattr__(name):
    raise AttributeError("torch_npu.optim.%s: not available without an NPU" % name)
