# SPDX-License-Identifier: Apache-2.0
"""torch_npu.distributed: gloo replaces HCCL."""
import torch


def is_hccl_available():
    return torch.distributed.is_available() and torch.distributed.is_gloo_available()
