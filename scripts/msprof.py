#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""msprof.py: for command lines that say `python3 msprof.py export ...`.

Hands everything over to ascope, which knows the words of msprof.py by that name: the ascope beside this file, the one of a
build in this tree, or the one on the PATH.
"""
import os
import shutil
import sys

here = os.path.dirname(os.path.abspath(__file__))
places = [os.path.join(here, "ascope"), os.path.join(here, "..", "build", "ascope")]
program = next((p for p in places if os.access(p, os.X_OK)), None) or shutil.which("ascope")
if program is None:
    sys.exit("msprof.py: ascope is neither beside this file nor on the PATH")
os.execv(program, ["msprof.py"] + sys.argv[1:])
