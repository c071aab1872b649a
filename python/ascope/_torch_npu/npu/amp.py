# SPDX-License-Identifier: Apache-2.0
"""Mixed precision. The CPU computes in bfloat16 instead of float16; its range needs no loss scaling."""
from typing import Any

import torch


class autocast(torch.autocast):
    def __init__(self, enabled=True, dtype=torch.float16, cache_enabled=True):
        super().__init__("npu", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)


_Scaler: Any = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler


class GradScaler(_Scaler):
    """A disabled scaler: returns its argument."""

    def __init__(self, *args, **kwargs):
        super().__init__(enabled=False)


def custom_fwd(fwd=None, *, cast_inputs=None, **unused):
    """Decorator of a torch.autograd.Function, without effect."""
    return fwd if fwd is not None else (lambda function: function)


def custom_bwd(bwd=None, **unused):
    return bwd if bwd is not None else (lambda function: function)
