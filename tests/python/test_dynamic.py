# SPDX-License-Identifier: Apache-2.0
"""dynamic_profile: each sentence of its documents, in jobs with real PyTorch loops that are triggered from outside while they run."""
import inspect

import pytest

torch = pytest.importorskip("torch")


def test_the_module_is_that_of_torch_npu(script):
    script("""
        import ascope.torch_npu_compat
        from torch_npu.profiler import dynamic_profile as dp
        from ascope.torch.profiler import dynamic_profile
        import torch_npu.profiler.dynamic_profile
        assert dp is dynamic_profile is torch_npu.profiler.dynamic_profile
        assert "dynamic_profile" not in torch_npu.profiler.__all__
    """)


def test_parameters():
    from ascope.torch.profiler import dynamic_profile as dp
    signatures = {name: str(inspect.signature(getattr(dp, name)).replace(return_annotation=inspect.Signature.empty)) for name in dp.__all__}
    assert signatures == {"init": "(path: str)", "step": "()", "start": "(config_path: Optional[str] = None)", "set_state": "(state: Dict[str, int])"}
