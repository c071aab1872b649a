"""torch_npu.contrib, as far as scripts import it for what it does to PyTorch."""
