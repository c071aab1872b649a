# SPDX-License-Identifier: Apache-2.0
"""Functions that checkpoints saved on an NPU call while they are loaded."""
import torch


def _rebuild_npu_tensor(storage, storage_offset, size, stride, requires_grad, backward_hooks, npu_storage_info):
    return torch._utils._rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks)
