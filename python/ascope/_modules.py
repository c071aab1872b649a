# SPDX-License-Identifier: Apache-2.0
"""Modules of the frameworks; parameters of PyTorch's modules and optimizers, as texts for records. Called by the tracer."""
import sys

TEXT_MOST = 60000  # bytes; a record has 64 KiB
ON_NPU = 20
DEVICE_TYPES = {"cpu": 0, "cuda": 1, "meta": 14, "npu": ON_NPU, "privateuseone": ON_NPU}
TYPES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int8": "signed char",
    "uint8": "unsigned char", "int16": "short int", "int32": "int", "int64": "long int", "bool": "bool",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>", "complex32": "c10::complex<c10::Half>",
}


def watched():
    """The code that runs for every call of a module, and the code that ends every step of an optimizer (or None)."""
    torch = sys.modules["torch"]
    step = getattr(torch.optim.Optimizer, "_optimizer_step_code", None)
    return torch.nn.Module.__call__.__code__, getattr(step, "__code__", None)


def watched_cells():
    """As watched(), for MindSpore, whose optimizers are Cells themselves."""
    return sys.modules["mindspore.nn"].Cell.__call__.__code__, None


def _tensor(tensor, is_sim):
    """The text of one tensor; "" if the value is no tensor, or has no strided memory."""
    torch = sys.modules["torch"]
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided or getattr(tensor, "is_nested", False):
        return ""
    try:
        offset = tensor.storage_offset() * tensor.element_size()
        storage = tensor.data_ptr() and hex(tensor.data_ptr() - offset)
        is_on_sim = is_sim and tensor.device.type == "cpu"
        index = -1 if tensor.device.index is None else tensor.device.index
        name = str(tensor.dtype).rpartition(".")[2]
        return ";".join((
            hex(tensor._cdata), storage or "", TYPES.get(name, name), str(tensor.element_size()),
            ",".join(map(str, tensor.shape)), ",".join(map(str, tensor.stride())),
            str(ON_NPU if is_on_sim else DEVICE_TYPES.get(tensor.device.type, 0)), str(0 if is_on_sim else index)))
    except (RuntimeError, NotImplementedError):  # kinds of tensors without memory
        return ""


def _name(name):
    return "".join("_" if c in ")}>];" else c for c in str(name))


def _texts(pieces):
    """Joins pieces to texts that fit into records. A piece that is longer than a record is left out."""
    texts, now, used = [], [], 0
    for piece in pieces:
        size = len(piece.encode("utf-8", "replace")) + 1
        if used + size > TEXT_MOST and now:
            texts.append("}".join(now))
            now, used = [], 0
        if size <= TEXT_MOST:
            now.append(piece)
            used += size
    if now:
        texts.append("}".join(now))
    return texts


def _plainly(function):
    """Decorator: treats tensor subclasses as plain tensors, so that no code of the program runs and no operator is called."""

    def call(*args):
        torch = sys.modules["torch"]
        plain = getattr(torch._C, "DisableTorchFunctionSubclass", None) or torch._C.DisableTorchFunction
        with plain():
            return function(*args)

    return call


def _gradient(parameter):
    return parameter.grad if parameter.is_leaf else None


@_plainly
def module_parameters(module, is_sim):
    """The parameters of the module itself; those of its submodules are recorded when these are called."""
    own = getattr(module, "_parameters", None) or {}
    return _texts("%s)%s)%s" % (_name(name), _tensor(one, is_sim), _tensor(_gradient(one), is_sim))
                  for name, one in own.items() if one is not None and _tensor(one, is_sim))


@_plainly
def optimizer_parameters(optimizer, is_sim):
    """The parameters of an optimizer, with their gradients and their state in it."""
    pieces = []
    for group in optimizer.param_groups:
        for one in group["params"]:
            state = optimizer.state.get(one) or {}
            kept = "".join("%s>%s]" % (_name(name), _tensor(value, is_sim))
                           for name, value in state.items() if _tensor(value, is_sim))
            if _tensor(one, is_sim):
                pieces.append("%s)%s)%s" % (_tensor(one, is_sim), _tensor(_gradient(one), is_sim), kept))
    return _texts(pieces)
