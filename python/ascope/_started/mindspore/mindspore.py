# SPDX-License-Identifier: Apache-2.0
"""MindSpore's profiler for a script and the processes that it starts: `python3 -m ascope run` adds this directory to their module path."""
from ascope import mindspore_compat

mindspore_compat.provide()
