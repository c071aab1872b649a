# SPDX-License-Identifier: Apache-2.0
"""The installed TensorFlow, watched, in processes that a script starts: `python3 -m ascope run` puts this directory in front of their
module path. An interpreter that does not have ascope gets TensorFlow all the same."""
import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.machinery.PathFinder.find_spec(__name__, [one for one in sys.path if os.path.abspath(one or os.curdir) != _here])
if _spec is None or _spec.loader is None:
    raise ModuleNotFoundError("No module named %r" % __name__, name=__name__)
_module = importlib.util.module_from_spec(_spec)
sys.modules[__name__] = _module
_spec.loader.exec_module(_module)
try:
    from ascope import tensorflow_compat
except ImportError:
    pass
else:
    tensorflow_compat.watch(_module)
