"""Where PyTorch is asked for an NPU that this machine does not have, it gets the CPU: devices, moves of tensors, groups of processes.

Only what scripts for NPUs write down: `torch.device("npu:0")`, `.to("npu")`, `.npu()`, `init_process_group("hccl")`. PyTorch's functions that make
tensors are left as they are; they take a `torch.device`, not the text "npu".
"""
import functools

_names = {"npu", "privateuseone"}


def _here(value):
    """The same, but for the name of a device that is not there."""
    return "cpu" if isinstance(value, str) and value.split(":")[0] in _names else value


def _asked_here(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*map(_here, args), **{name: _here(value) for name, value in kwargs.items()})

    return call


def _replaced_device(real):
    """In the place of the class torch.device, which cannot have children."""

    class DeviceType(type):
        def __call__(cls, *args, **kwargs):
            return _asked_here(real)(*args, **kwargs)

        def __instancecheck__(cls, value):
            return isinstance(value, real)

        def __subclasscheck__(cls, other):
            return issubclass(other, real)

        def __eq__(cls, other):  # annotations that were made before mean the same
            return other is real or other is cls

        __hash__ = type.__hash__

    return DeviceType("device", (), {"__module__": "torch", "__qualname__": "device", "__doc__": real.__doc__})


def _stay(self, *args, **kwargs):
    return self


def _backend_here(value):
    """PyTorch 2 has backends by device: "cpu:gloo,npu:hccl"."""
    is_hccl = isinstance(value, str) and any(part in ("hccl", "npu:hccl") for part in value.split(","))
    return "gloo" if is_hccl else value


def _with_gloo(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        if "backend" in kwargs:
            kwargs["backend"] = _backend_here(kwargs["backend"])
        return function(*map(_backend_here, args), **kwargs)

    return call


def install(torch):
    torch.device = _replaced_device(torch.device)
    for owner in (torch.Tensor, torch.nn.Module):
        owner.npu = _stay
        owner.to = _asked_here(owner.to)
    torch.serialization.register_package(0, lambda storage: None,
                                         lambda storage, location: storage if _here(location) != location else None)
    distributed = torch.distributed
    if distributed.is_available():
        for name in ("init_process_group", "new_group"):
            setattr(distributed, name, _with_gloo(getattr(distributed, name)))


def also_cuda(torch):
    """As torch_npu.contrib.transfer_to_npu: what is written for CUDA means the NPU, which is not there either."""
    _names.add("cuda")
    for owner in (torch.Tensor, torch.nn.Module):
        owner.cuda = _stay
    for name in ("set_device", "current_device", "synchronize", "current_stream", "default_stream", "is_available", "device_count",
                 "Stream", "Event", "manual_seed", "manual_seed_all", "empty_cache"):
        setattr(torch.cuda, name, getattr(torch.npu, name))
