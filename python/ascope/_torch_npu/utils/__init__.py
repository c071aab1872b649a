# SPDX-License-Identifier: Apache-2.0
"""torch_npu.utils: the parts that make sense without an NPU."""


def set_thread_affinity(core_range=None):
    pass


def reset_thread_affinity():
    pass


def __getattr__(name):
    raise AttributeError("torch_npu.utils.%s: not available without an NPU" % name)
