"""Importing it makes a script for CUDA one for NPUs, and so for the CPU of this machine."""
import torch

from ascope import _npu_devices

_npu_devices.also_cuda(torch)
