# SPDX-License-Identifier: Apache-2.0
"""npu_bridge for a script and the processes that it starts: `python3 -m ascope run` adds this directory to their module path."""
import sys

from ascope import tensorflow_compat

tensorflow_compat.fill(sys.modules[__name__])
