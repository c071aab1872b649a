# SPDX-License-Identifier: Apache-2.0
"""Replaces requests for an NPU by the CPU on machines without NPUs.

Functions of PyTorch that accept the name of a device are replaced by ones that accept NPUs (the tables below); so are those that would
reject requests of scripts for NPUs on a CPU: pinned memory, device_ids of DistributedDataParallel, the backend hccl.
"""
import functools
import types

_names = {"npu", "privateuseone"}
_backends = {"hccl"}

# Functions with a device: owner, functions, the position of the device among the arguments (None: it can only be given by name).
DEVICES = (
    ("", """arange as_tensor asarray bartlett_window blackman_window empty empty_like empty_permuted empty_quantized empty_strided eye
            from_file frombuffer full full_like hamming_window hann_window kaiser_window linspace logspace normal ones ones_like rand
            rand_like randint randint_like randn randn_like randperm range scalar_tensor sparse_bsc_tensor sparse_bsr_tensor
            sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor tensor tril_indices triu_indices zeros
            zeros_like""", None),
    ("", "set_default_device is_autocast_enabled set_autocast_enabled get_autocast_dtype set_autocast_dtype", 0),
    ("fft", "fftfreq rfftfreq", None),
    ("nested", "nested_tensor as_nested_tensor", None),
    ("random", "fork_rng", None),
    ("amp", "is_autocast_available custom_fwd custom_bwd", 0),
    ("amp.GradScaler", "__init__", 1),
    ("Tensor", "new_empty new_empty_strided new_full new_ones new_tensor new_zeros", None),
    ("Tensor", "to", 1),
    ("nn.Module", "to to_empty", 1),
    ("distributed", "init_device_mesh", 0),
    ("distributed.device_mesh", "init_device_mesh", 0),
    ("distributed.device_mesh.DeviceMesh", "__init__", 1),
)


def is_named(value):
    """Whether a value names a device that the CPU replaces. A plain number is the index of an NPU."""
    return type(value) is int or isinstance(value, str) and value.partition(":")[0] in _names


def _here(value):
    return "cpu" if is_named(value) else value


def _replace(owner, name, around, *how):
    """Replaces owner.name, if it exists, by around(it, *how), with its name and documentation."""
    function = getattr(owner, name, None) if owner else None
    if not function:
        return None
    call = functools.wraps(function)(around(function, *how))
    setattr(owner, name, call)
    return function, call


def _with_device(function, at, can_pin):
    def call(*args, **kwargs):
        if at is not None and len(args) > at:
            args = (*args[:at], _here(args[at]), *args[at + 1:])
        for name in kwargs:
            if name in ("device", "device_type"):
                kwargs[name] = _here(kwargs[name])
            elif name == "pin_memory" and kwargs[name] and not can_pin():
                kwargs[name] = False
        return function(*args, **kwargs)

    return call


# ---- classes that cannot be subclassed, or whose subclasses would not work ----

def _replaced_class(real, name, make):
    """Replaces a class of PyTorch: calls use `make`, everything else the real class."""

    class Replaced(type):
        def __call__(cls, *args, **kwargs):
            return make(*args, **kwargs)

        def __instancecheck__(cls, value):
            return isinstance(value, real)

        def __subclasscheck__(cls, other):
            return issubclass(other, real)

        def __eq__(cls, other):  # annotations made earlier hold the real class: both must compare equal
            return other is real or other is cls

        def __hash__(cls):
            return hash(real)

    return Replaced(name, (), {"__module__": "torch", "__qualname__": name, "__doc__": real.__doc__})


def _device_here(real):
    def make(*args, **kwargs):
        asked = args[0] if args else kwargs.get("type", kwargs.get("device"))
        return real("cpu") if is_named(asked) else real(*args, **kwargs)  # the index of the NPU is dropped: there is one CPU

    return make


def _generator_here(real):
    def make(*args, **kwargs):
        return real(*map(_here, args), **{name: _here(value) for name, value in kwargs.items()})

    return make


# ---- tensors ----

def _stay(self, *args, **kwargs):
    return self


def _pinned_here(function, can_pin):
    return lambda self, *args, **kwargs: function(self) if can_pin() else self


def _asked_without_device(function):
    return lambda self, *args, **kwargs: function(self)


def _recorded_on_stream(function):
    from torch_npu.npu import Stream

    def call(self, stream):
        if not isinstance(stream, Stream):  # memory of the CPU has no streams
            function(self, stream)

    return call


def _with_type(function):
    """The type of a tensor as a string, such as "torch.npu.FloatTensor"."""

    def here(value):
        parts = value.split(".") if isinstance(value, str) else ()
        return "torch." + parts[2] if len(parts) == 3 and parts[1] in _names else value

    def call(*args, **kwargs):
        return function(*map(here, args), **{name: here(value) for name, value in kwargs.items()})

    return call


def _autocast_here(init, torch):
    def call(self, device_type, dtype=None, *args, **kwargs):
        if is_named(device_type):
            device_type = "cpu"
            dtype = torch.bfloat16 if dtype in (None, torch.float16) else dtype  # the only type that autocast supports on the CPU in every PyTorch
        init(self, device_type, dtype, *args, **kwargs)

    return call


def _loaded_here(init):
    def call(*args, **kwargs):
        if is_named(kwargs.get("pin_memory_device")):
            kwargs["pin_memory_device"] = ""
        init(*args, **kwargs)

    return call


# ---- processes ----

def _backend_here(value):
    """PyTorch 2 has backends by device: "cpu:gloo,npu:hccl"."""
    is_absent = isinstance(value, str) and any(part.rpartition(":")[2] in _backends for part in value.split(","))
    return "gloo" if is_absent else value


def _with_gloo(function):
    def call(*args, **kwargs):
        found = _backend_here(kwargs.get("backend"))
        if found != kwargs.get("backend") or any(_backend_here(value) is not value for value in args):
            kwargs.pop("pg_options", None)  # options of the missing backend
        if "backend" in kwargs:
            kwargs["backend"] = found
        if getattr(kwargs.get("device_id"), "type", "cpu") == "cpu":
            kwargs.pop("device_id", None)  # PyTorch accepts only the id of an accelerator
        return function(*map(_backend_here, args), **kwargs)

    return call


def _barrier_here(function, distributed):
    def call(*args, **kwargs):
        if kwargs.get("device_ids") is not None and distributed.get_backend() == "gloo":
            del kwargs["device_ids"]
        return function(*args, **kwargs)

    return call


def _parallel_here(init):
    def call(self, module, device_ids=None, output_device=None, *args, **kwargs):
        if all(one.device.type == "cpu" for one in module.parameters()):
            device_ids = output_device = None
        init(self, module, device_ids, output_device, *args, **kwargs)

    return call


def _install_distributed(torch):
    distributed = torch.distributed
    if not distributed.is_available():
        return
    from torch_npu.distributed import is_hccl_available
    distributed.is_hccl_available = is_hccl_available
    for name in ("init_process_group", "new_group"):
        _replace(distributed, name, _with_gloo)
    _replace(distributed, "barrier", _barrier_here, distributed)
    _replace(torch.nn.parallel.DistributedDataParallel, "__init__", _parallel_here)


def _owner(torch, path):
    at = torch
    for name in filter(None, path.split(".")):
        at = getattr(at, name, None)
    return at


def install(torch):
    """Replaces the functions of PyTorch. Called once, before the script runs."""
    can_pin = torch.cuda.is_available
    constructors = getattr(getattr(torch.utils, "_device", None), "_device_constructors", None)
    if constructors:
        constructors()  # PyTorch caches the list: default devices need its own functions, not the replacements
    builtins = torch.jit._builtins
    for path, names, at in DEVICES:
        for name in names.split():
            replaced = _replace(_owner(torch, path), name, _with_device, at, can_pin)
            op = replaced and builtins._find_builtin(replaced[0])
            if op:
                builtins._register_builtin(replaced[1], op)
            if replaced and path == "Tensor":
                torch.nn.parameter.UninitializedTensorMixin._allowed_methods.append(replaced[1])
    torch.device = _replaced_class(torch.device, "device", _device_here(torch.device))
    torch.Generator = _replaced_class(torch.Generator, "Generator", _generator_here(torch.Generator))
    tensor = torch.Tensor
    for owner in (tensor, torch.nn.Module, torch.nn.utils.rnn.PackedSequence, getattr(torch, "UntypedStorage", None)):
        if owner:
            owner.npu = _stay
    tensor.is_npu = property(lambda self: torch.npu.is_available() and self.device.type == "cpu")
    _replace(tensor, "pin_memory", _pinned_here, can_pin)
    _replace(tensor, "is_pinned", _asked_without_device)
    _replace(tensor, "record_stream", _recorded_on_stream)
    _replace(tensor, "type", _with_type)
    _replace(torch, "set_default_tensor_type", _with_type)
    _replace(torch.autocast, "__init__", _autocast_here, torch)
    _replace(torch.utils.data.DataLoader, "__init__", _loaded_here)
    if hasattr(torch, "get_device_module"):
        _replace(torch, "get_device_module", lambda real: lambda device=None: torch.npu if is_named(device) else real(device))
    torch.serialization.register_package(0, lambda storage: None,
                                         lambda storage, location: storage if _here(location) != location else None)
    _install_distributed(torch)


def _merge(into, module):
    """Adds our functions to PyTorch's module under the same names."""
    for name, value in vars(module).items():
        if name.startswith("_") or not hasattr(into, name):
            continue
        if isinstance(value, types.ModuleType) and value.__name__.startswith("torch_npu."):
            _merge(getattr(into, name), value)  # other modules may have imported it
        else:
            setattr(into, name, value)


def also_cuda(torch):
    """As torch_npu.contrib.transfer_to_npu: CUDA means the NPU, which the CPU replaces."""
    import torch_npu
    _names.add("cuda")
    _backends.add("nccl")
    for owner in (torch.Tensor, torch.nn.Module):
        owner.cuda = _stay
    torch.Tensor.is_cuda = torch.Tensor.is_npu
    _merge(torch.cuda, torch.npu)
    for name, of in (("autocast_mode", "autocast custom_fwd custom_bwd"), ("grad_scaler", "GradScaler")):
        for one in of.split():
            setattr(getattr(torch.cuda.amp, name), one, getattr(torch.npu.amp, one))
    if torch.distributed.is_available():
        torch.distributed.is_nccl_available = torch.distributed.is_hccl_available
    ours = torch_npu.profiler
    for name in ("profile", "schedule", "tensorboard_trace_handler", "ProfilerAction"):
        setattr(torch.profiler, name, getattr(ours, name))
    torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA = ours.ProfilerActivity.CPU, ours.ProfilerActivity.NPU
