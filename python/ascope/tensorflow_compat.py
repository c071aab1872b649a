# SPDX-License-Identifier: Apache-2.0
"""`import ascope.tensorflow_compat` provides the modules npu_bridge and npu_device where they are not installed, when they are imported,
and watches TensorFlow from its import on. Scripts for TensorFlow on Ascend NPUs run unchanged as far as profiling is concerned:
everything runs where TensorFlow puts it. If the vendor's modules are installed, they are used."""
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from typing import Any, Optional

# Modules that scripts import: {name: (the module of ascope with its contents, its names)}; None: a package without contents.
MODULES = {
    "npu_bridge": None,
    "npu_bridge.estimator": None,
    "npu_bridge.estimator.npu": None,
    "npu_bridge.estimator.npu.npu_config": ("ascope.tensorflow._config", ("NPURunConfig", "ProfilingConfig", "npu_resource_init")),
    "npu_bridge.estimator.npu.npu_estimator": ("ascope.tensorflow._estimator", ("NPUEstimator",)),
    "npu_bridge.profiler": None,
    "npu_bridge.profiler.profiler": ("ascope.tensorflow._profiler", ("Profiler",)),
    "npu_bridge.npu_init": ("ascope.tensorflow", ("NPURunConfig", "ProfilingConfig", "Profiler")),
    "npu_device": ("ascope.tensorflow._npu_device", ("global_options", "open", "NpuDevice")),
}


class _Provided(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder in sys.meta_path: installed modules have priority."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[importlib.machinery.ModuleSpec]:
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if name in MODULES else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Optional[types.ModuleType]:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        fill(module)


def fill(module: types.ModuleType) -> None:
    """Gives a module the contents that MODULES has for its name."""
    row = MODULES[module.__name__]
    module.__doc__ = "Provided by ascope; see ascope.tensorflow."
    module.__path__ = []
    if row:
        ours = importlib.import_module(row[0])
        for name in row[1]:
            setattr(module, name, getattr(ours, name))
        module.__all__ = list(row[1])  # type: ignore[attr-defined]


class _Watching(importlib.abc.MetaPathFinder):
    """An import hook that lets the other finders find TensorFlow, and watches it once it is imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Optional[importlib.machinery.ModuleSpec]:
        if name != "tensorflow":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec and spec.loader and hasattr(spec.loader, "exec_module"):
            execute = spec.loader.exec_module

            def executed(module: types.ModuleType) -> None:
                execute(module)
                watch(sys.modules[name])  # not `module`: the one in _started puts the real TensorFlow into sys.modules

            spec.loader.exec_module = executed  # type: ignore[assignment,method-assign]
        return spec


def watch(tensorflow: types.ModuleType) -> None:
    """Installs the hooks in the imported TensorFlow; a second call has no effect."""
    from ascope.tensorflow import _hooks
    _hooks.install(tensorflow)


def is_installed() -> bool:
    """Whether one of the vendor's modules is installed: then the vendor's engine records what sessions and the environment ask for."""
    started = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_started")
    for name in ("npu_bridge", "npu_device"):
        try:
            spec = sys.modules[name].__spec__ if name in sys.modules else importlib.util.find_spec(name)
        except Exception:  # a finder of somebody else
            continue
        if spec and not isinstance(spec.loader, _Provided) and not (spec.origin or "").startswith(started):
            return True
    return False


def install() -> None:
    """Installs both import hooks. Nothing is imported yet."""
    if any(isinstance(one, _Provided) for one in sys.meta_path):
        return
    sys.meta_path.append(_Provided())
    if "tensorflow" in sys.modules:
        watch(sys.modules["tensorflow"])
    else:
        sys.meta_path.insert(0, _Watching())


install()
