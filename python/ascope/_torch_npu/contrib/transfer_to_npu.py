# SPDX-License-Identifier: Apache-2.0
"""Importing it redirects CUDA to NPUs, and so to the CPU of this machine."""
import torch

from ascope import _npu_devices

_npu_devices.also_cuda(torch)
