# SPDX-License-Identifier: Apache-2.0
"""npu_bridge.estimator.npu.npu_estimator: an Estimator whose training is recorded, if its configuration asks for that."""
import importlib
from typing import Any

from ascope.tensorflow import _recording


def NPUEstimator(model_fn: Any = None, model_dir: Any = None, config: Any = None, params: Any = None, **more: Any) -> Any:  # the vendor's name
    """tf.estimator.Estimator with TensorFlow's own configuration; what NPURunConfig asks for begins with its first run."""
    tensorflow = importlib.import_module("tensorflow")  # as the vendor's function does, because the script may not have imported it
    estimator = tensorflow.estimator.Estimator(model_fn=model_fn, model_dir=model_dir, params=params, **more)
    train = estimator.train

    def trained(*args: Any, **kwargs: Any) -> Any:
        _recording.begin(owner=estimator)
        try:
            return train(*args, **kwargs)
        finally:
            _recording.end(estimator)
            _recording.forget_request()

    estimator.train = trained
    return estimator
