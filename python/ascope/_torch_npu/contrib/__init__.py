# SPDX-License-Identifier: Apache-2.0
"""torch_npu.contrib: the modules that scripts import for their effect on PyTorch."""
