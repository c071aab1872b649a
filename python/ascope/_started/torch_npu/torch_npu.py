# SPDX-License-Identifier: Apache-2.0
"""torch_npu in processes started by a script: `python3 -m ascope run` adds this directory to their module path."""
from ascope import torch_npu_compat

torch_npu_compat.provide()
