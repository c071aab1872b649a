# SPDX-License-Identifier: Apache-2.0
"""`import ascope.torch_npu_compat` provides the module `torch_npu` if it is not installed.

Scripts for Ascend NPUs run unchanged: `torch_npu.profiler` is `ascope.torch.profiler`, `torch_npu.npu.mstx` is `ascope.torch.mstx`,
and `torch.npu` has the calls that such scripts make around their training. Tensors stay on the CPU, whatever device they are moved
to (_npu_devices.py). If torch_npu is installed, this does nothing.
"""
import glob
import importlib.util
import os
import sys

from ascope import _core, _npu_devices
from ascope._front_ends import provided_module


def _absent(name):
    raise AttributeError("torch_npu.%s: not available without an NPU" % name)


# The memory format of a tensor has no meaning here.
FORMATS = {
    "npu_format_cast": lambda tensor, acl_format, **unused: tensor,
    "npu_format_cast_": lambda tensor, acl_format, **unused: tensor,
    "get_npu_format": lambda tensor: 2,  # ND
}


def provide():
    """Creates the missing module."""
    from ascope.torch import config, dynamic_profile, mstx, profiler, schedule
    marks = sys.modules[mstx.__module__]  # the module: the package exports the class under this name
    package = provided_module("torch_npu", __doc__, [os.path.join(os.path.dirname(__file__), "_torch_npu")])
    sys.modules["torch_npu"] = package
    front = provided_module("torch_npu.profiler", profiler.__doc__, [])
    for name in [*profiler.__all__, "_KinetoProfile"]:
        setattr(front, name, getattr(profiler, name))
    del front.analyse  # users import it from torch_npu.profiler.profiler
    front.__all__ = [name for name in profiler.__all__ if name != "analyse"]
    front.profiler, front.experimental_config, front.scheduler, front.dynamic_profile = profiler, config, schedule, dynamic_profile
    package.profiler, package.__version__ = front, _core.version()
    vars(package).update(FORMATS)
    try:
        import torch
        from torch_npu import npu
    except ImportError:
        torch, npu = None, provided_module("torch_npu.npu", "Without PyTorch: marks.")
    npu.mstx = mstx
    package.npu = npu
    sys.modules.update({
        "torch_npu.npu": npu, "torch_npu.npu.mstx": marks, "torch_npu.profiler": front,
        "torch_npu.profiler.profiler": profiler, "torch_npu.profiler.experimental_config": config,
        "torch_npu.profiler.scheduler": schedule, "torch_npu.profiler.dynamic_profile": dynamic_profile,
    })
    if torch and not hasattr(torch, "npu"):
        torch.npu = npu
        for name in [name for name in sys.modules if name.startswith("torch_npu.npu")]:  # so that `import torch.npu.amp` works
            sys.modules[name.replace("torch_npu", "torch", 1)] = sys.modules[name]
        for module in ("torch_npu.npu.amp", "torch.npu.amp"):
            sys.modules[module + ".autocast_mode"] = sys.modules[module + ".grad_scaler"] = npu.amp
        _npu_devices.install(torch)
        for name in ("contrib", "distributed", "optim", "utils"):
            importlib.import_module("torch_npu." + name)
        package.__getattr__ = _absent
    dynamic_profile.from_environment()


def _is_installed():
    """Whether torch_npu is installed. A mere directory with that name does not count: the real package has a part in C++."""
    if "torch_npu" in sys.modules:
        return True
    spec = importlib.util.find_spec("torch_npu")
    if not spec or spec.submodule_search_locations is None:
        return spec is not None
    return any(glob.glob(os.path.join(glob.escape(folder), "_C*.so")) for folder in spec.submodule_search_locations)


is_needed = not _is_installed()
if is_needed:
    provide()
