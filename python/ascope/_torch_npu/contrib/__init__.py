"""torch_npu.contrib: the modules that scripts import for their effect on PyTorch."""
