# SPDX-License-Identifier: Apache-2.0
"""npu_device: the options of TensorFlow 2, and open(), which reads them once."""
from typing import Any, Dict, List

from ascope.tensorflow import _recording

# The default text of the vendor's module has escaped slashes and two blanks after commas.
DEFAULT_OPTIONS = _recording.DEFAULT_OPTIONS.replace("/", "\\/").replace(",", ",  ")


class _Options:
    """Named values with a default and, for some, a list of what is allowed. Unknown names are refused."""

    def __init__(self, **options: Any):
        vars(self)["_allowed"] = {name: pair[1] for name, pair in options.items()}
        vars(self)["_value"] = {name: pair[0] for name, pair in options.items()}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in vars(self)["_value"]:
            raise ValueError("%s has no option %s, all options %s" % (type(self).__name__, name, list(vars(self)["_value"])))
        return vars(self)["_value"][name]

    def __setattr__(self, name: str, value: Any) -> None:
        before, allowed = getattr(self, name), vars(self)["_allowed"][name]
        if allowed is not None and value not in allowed:
            if type(value) is not type(before):
                raise TypeError("Expected %s, got %s" % (type(before).__name__, type(value).__name__))
            raise ValueError("'%s' not in optional list %s" % (value, allowed))
        vars(self)["_value"][name] = value


class ProfilingConfig(_Options):
    def __init__(self) -> None:
        super().__init__(enable_profiling=(False, [True, False]), profiling_options=(DEFAULT_OPTIONS, None))


class GlobalOptions:
    """The options: profiling_config, and any other that a program sets, which are kept and have no effect."""

    def __init__(self) -> None:
        self.profiling_config = ProfilingConfig()


_global = GlobalOptions()


def global_options() -> GlobalOptions:
    return _global


def _text(value: Any) -> str:
    text = "" if value is None else str(value)
    return {"True": "1", "False": "0"}.get(text, text)


class NpuDevice:
    """The result of open(). TensorFlow itself decides where everything runs."""

    def __init__(self, device: int, options: Dict[str, Any]):
        self.device_id, self.options = device, options

    def as_default(self) -> "NpuDevice":
        return self

    def name(self) -> str:
        return "/job:localhost/replica:0/task:0/device:NPU:%d" % self.device_id

    def __enter__(self) -> "NpuDevice":
        return self

    def __exit__(self, *unused: Any) -> None:
        pass


_opened: List[NpuDevice] = []


def open(device_id: int = 0, **unused: Any) -> NpuDevice:  # the vendor's name
    """Options are read once: profiling begins here, and ends with the process."""
    if not _opened:
        profiling = _global.profiling_config
        text = _text(profiling.profiling_options) if profiling.enable_profiling else ""
        _recording.begin(text or None)
        _opened.append(NpuDevice(device_id, {}))
    return _opened[0]
