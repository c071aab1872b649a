# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's documented Python interface, made to begin a recording and to mark runs: sessions (tf.Session, tf.compat.v1.Session) and
functions (what tf.function returns). Nothing of TensorFlow's inside is used."""
import functools
from typing import Any, Optional

from ascope.tensorflow import _recording

OPTIMIZER = "NpuOptimizer"


def _options_of(config: Any) -> Optional[str]:
    """profiling_options of the custom optimizer of a session's configuration; None: profiling is not switched on there."""
    try:
        optimizers = config.graph_options.rewrite_options.custom_optimizers
    except AttributeError:
        return None
    for one in optimizers:
        if one.name == OPTIMIZER and "profiling_mode" in one.parameter_map and one.parameter_map["profiling_mode"].b:
            text = one.parameter_map["profiling_options"].s if "profiling_options" in one.parameter_map else b""
            return bytes(text).decode("utf-8", "replace") or _recording.DEFAULT_OPTIONS
    return None


def _watch_sessions(cls: Any) -> None:
    init, run, close = cls.__init__, cls.run, cls.close

    @functools.wraps(init)
    def initialised(self: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
        init(self, target, graph, config)
        asked = _options_of(config)
        if asked:
            _recording.begin(asked, owner=self)

    @functools.wraps(run)
    def ran(self: Any, *args: Any, **kwargs: Any) -> Any:
        _recording.begin()
        with _recording.Run("sess.run", getattr(self, "graph", None)):
            return run(self, *args, **kwargs)

    @functools.wraps(close)
    def closed(self: Any) -> None:
        close(self)
        _recording.end(self)

    cls.__init__, cls.run, cls.close = initialised, ran, closed
    if "__exit__" in vars(cls):
        leave = cls.__exit__

        @functools.wraps(leave)
        def left(self: Any, *args: Any) -> Any:
            result = leave(self, *args)
            _recording.end(self)
            return result

        cls.__exit__ = left
    cls._ascope_watches = True


def _watch_functions(tensorflow: Any) -> None:
    cls = type(tensorflow.function(lambda: None))
    call = cls.__call__
    if call is type(lambda: None).__call__ or getattr(cls, "_ascope_watches", False):
        return

    @functools.wraps(call)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        _recording.begin()
        with _recording.Run(getattr(self, "__name__", "function")):
            return call(self, *args, **kwargs)

    cls.__call__, cls._ascope_watches = called, True


def install(tensorflow: Any) -> None:
    """Installs the hooks. Called once TensorFlow is imported."""
    v1 = getattr(getattr(tensorflow, "compat", None), "v1", None)
    for place in (tensorflow, v1):
        session = getattr(place, "Session", None)
        if session is not None and not getattr(session, "_ascope_watches", False):
            _watch_sessions(session)
    if hasattr(tensorflow, "function"):
        _watch_functions(tensorflow)
