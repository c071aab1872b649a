# SPDX-License-Identifier: Apache-2.0
"""A small stand-in for TensorFlow's documented Python API, for tests: TensorFlow itself is not needed, and nothing is computed.

Configuration messages, sessions of a fixed graph, functions, an Estimator whose training runs a session. Types are checked where
protobuf checks them."""
import types


class AttrValue:
    def __setattr__(self, name, value):
        kind = {"b": bool, "s": bytes, "i": int}[name]
        if type(value) is not kind:
            raise TypeError("%r has type %s, but expected one of: %s" % (value, type(value).__name__, kind.__name__))
        super().__setattr__(name, value)


class _Map(dict):
    def __missing__(self, key):
        self[key] = AttrValue()
        return self[key]


class _Optimizer:
    def __init__(self):
        self.name, self.parameter_map = "", _Map()


class _Repeated(list):
    def add(self):
        self.append(_Optimizer())
        return self[-1]


class ConfigProto:
    def __init__(self):
        rewrite = types.SimpleNamespace(custom_optimizers=_Repeated(), remapping=None)
        self.graph_options = types.SimpleNamespace(rewrite_options=rewrite)


class _Shape(list):
    @property
    def rank(self):
        return len(self)

    def as_list(self):
        return list(self)


class _Operation:
    def __init__(self, type_, name, *shapes):
        self.type, self.name, self.inputs = type_, name, [types.SimpleNamespace(shape=_Shape(one)) for one in shapes]


class Graph:
    def get_operations(self):
        return [_Operation("Placeholder", "x"), _Operation("MatMul", "dense/MatMul", [32, 64], [64, 10]),
                _Operation("SoftmaxV2", "loss", [32, 10]), _Operation("Mul", "gradients/Mul", [64, 10], [64, 10]),
                _Operation("ApplyMomentum", "train/update", [64, 10])]


class Session:
    def __init__(self, target="", graph=None, config=None):
        self.graph, self.config = graph or Graph(), config

    def run(self, fetches=None, feed_dict=None):
        return fetches

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()


class _Function:
    def __init__(self, function):
        self.__name__, self._function = function.__name__, function

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)


def function(of):
    return _Function(of)


class _Estimator:
    def __init__(self, model_fn=None, model_dir=None, params=None):
        self.model_fn = model_fn

    def train(self, input_fn=None, steps=2):
        with Session() as session:
            for _ in range(steps):
                session.run("train")
        return self


estimator = types.SimpleNamespace(Estimator=_Estimator)
compat = types.SimpleNamespace(as_bytes=lambda text: text if isinstance(text, bytes) else text.encode(),
                               v1=types.SimpleNamespace(Session=Session, ConfigProto=ConfigProto))
