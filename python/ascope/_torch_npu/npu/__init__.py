# SPDX-License-Identifier: Apache-2.0
"""torch_npu.npu, and torch.npu: calls of scripts for NPUs, on a machine without one.

What asks for something that only a device has (a graph of its kernels, a dump of its operators) is not here, and says so.
"""
import os
import threading
import types

import torch

from ascope import _core
from torch_npu.npu import amp, memory, random, streams
from torch_npu.npu.memory import *  # noqa: F403
from torch_npu.npu.random import *  # noqa: F403
from torch_npu.npu.streams import Event, ExternalEvent, ExternalStream, Stream, SyncLaunchStream

_now = threading.local()  # device and stream of each thread
_default_stream = Stream(stream_id=0)
default_generators = (torch.default_generator,)

for _kind in ("Bool", "Byte", "Char", "Double", "Float", "Half", "Int", "Long", "Short", "BFloat16"):
    for _what in ("Tensor", "Storage"):
        if hasattr(torch, _kind + _what):
            globals()[_kind + _what] = getattr(torch, _kind + _what)

OutOfMemoryError = getattr(torch, "OutOfMemoryError", None) or getattr(torch.cuda, "OutOfMemoryError", RuntimeError)

# ---- the device ----


def is_available():
    """True for the simulated device, if selected."""
    return os.environ.get("ASCOPE_DEVICE") == "sim"


def device_count():
    return int(is_available())


def is_initialized():
    return True


def init():
    pass


def _number(of):
    """Number of the device of "npu:1", 1, a device or a tensor; default: the current one."""
    text = str(getattr(of, "device", of)).rpartition(":")[2]
    return int(text) if text.isdigit() else None


def set_device(device):
    _now.device = _number(device) or 0


def current_device():
    return getattr(_now, "device", 0)


class device:
    """Sets the current device for a block."""

    def __init__(self, device):
        self.idx, self.prev_idx = _number(device), -1

    def __enter__(self):
        self.prev_idx = current_device()
        if self.idx is not None:
            set_device(self.idx)

    def __exit__(self, *unused):
        set_device(self.prev_idx)
        return False


device_of = device


def synchronize(device=None):
    _core.synchronize()


def get_device_name(device=None):
    return "the CPU, in the place of an NPU"


def get_device_properties(device=None):
    """Memory and CPUs of this machine; properties of NPUs are 0."""
    cores = os.cpu_count() or 1
    return types.SimpleNamespace(
        name=get_device_name(), total_memory=memory.mem_get_info()[1], multi_processor_count=cores, cube_core_num=0,
        vector_core_num=0, L2_cache_size=0, major=0, minor=0, is_multi_gpu_board=0, is_integrated=0,
        max_threads_per_multi_processor=0, warp_size=0, regs_per_multiprocessor=0, gcnArchName="", uuid="")


def get_device_capability(device=None):
    return None


def can_device_access_peer(device_id, peer_device_id):
    return False


def utilization(device=None):
    return 0


# ---- streams ----


def current_stream(device=None):
    return getattr(_now, "stream", _default_stream)


def default_stream(device=None):
    return _default_stream


def set_stream(stream):
    if stream is not None:
        _now.stream = stream


class StreamContext:
    """Sets the current stream for a block."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        self._before = current_stream()
        set_stream(self.stream)

    def __exit__(self, *unused):
        set_stream(self._before)


stream = StreamContext


def is_current_stream_capturing():
    return False


# ---- settings of the device: stored if they can be queried ----

_setting = {"mm_bmm_format_nd": True, "jit_compile": False, "sync_debug_mode": 0}


def set_compile_mode(jit_compile=False):
    _setting["jit_compile"] = bool(jit_compile)


def is_jit_compile_false():
    return not _setting["jit_compile"]


def set_mm_bmm_format_nd(is_nd=True):
    _setting["mm_bmm_format_nd"] = bool(is_nd)


def get_mm_bmm_format_nd():
    return _setting["mm_bmm_format_nd"]


def set_sync_debug_mode(debug_mode):
    named = {"default": 0, "warn": 1, "error": 2}
    _setting["sync_debug_mode"] = named[debug_mode] if isinstance(debug_mode, str) else debug_mode


def get_sync_debug_mode():
    return _setting["sync_debug_mode"]


def _nothing(*args, **kwargs):
    pass


set_option = set_aoe = init_dump = set_dump = finalize_dump = set_op_timeout_ms = set_deterministic_level = _nothing
enable_deterministic_with_backward = disable_deterministic_with_backward = set_device_limit = set_stream_limit = _nothing
reset_stream_limit = clear_npu_overflow_flag = current_blas_handle = use_compatible_impl = _nothing


def get_npu_overflow_flag():
    return False


def stress_detect(detect_type="aic"):
    return 0


config, matmul, conv = (types.SimpleNamespace(allow_internal_format=False), types.SimpleNamespace(allow_hf32=False),
                        types.SimpleNamespace(allow_hf32=True))

# ---- mixed precision ----


def is_bf16_supported(including_emulation=False):
    return True


def get_amp_supported_dtype():
    return [torch.float16, torch.bfloat16, torch.float32]


def is_autocast_enabled():
    return torch.is_autocast_cpu_enabled()


def set_autocast_enabled(enabled):
    torch.set_autocast_cpu_enabled(enabled)


def get_autocast_dtype():
    return torch.get_autocast_cpu_dtype()


def set_autocast_dtype(dtype):
    torch.set_autocast_cpu_dtype(torch.bfloat16 if dtype is torch.float16 else dtype)


def __getattr__(name):
    raise AttributeError("torch.npu.%s: not available without an NPU" % name)
