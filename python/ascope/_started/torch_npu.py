"""torch_npu in processes that a script has started: `python3 -m ascope run` puts this directory where they look for modules."""
from ascope import torch_npu_compat

torch_npu_compat.provide()
