# SPDX-License-Identifier: Apache-2.0
"""The package, for interpreters that do not have it: `ascope run` adds the directory above to PYTHONPATH.

The directory of the package itself would not do: other packages lie beside it, perhaps of another interpreter.
"""
import os

__path__ = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
__file__ = os.path.join(__path__[0], "__init__.py")  # also where the tracer finds out which frames are ours
with open(__file__, encoding="utf-8") as file:
    exec(compile(file.read(), file.name, "exec"))
del file
