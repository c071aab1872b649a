# SPDX-License-Identifier: Apache-2.0
"""NVTX (torch.cuda.nvtx, NCCL, any library) loads the tool that its variable names at its first call: libascope.so, for marks."""
import os

VARIABLE = "NVTX_INJECTION64_PATH"


def provide() -> None:
    """Sets the variable, unless another tool is set. Libraries that called NVTX earlier are not recorded."""
    if os.environ.get(VARIABLE):
        return
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:  # names of files may be any bytes
            for line in maps:
                path = line.rstrip("\n").partition("/")[2]
                if os.path.basename(path).startswith("libascope.so"):
                    os.environ[VARIABLE] = "/" + path
                    return
    except OSError:  # no /proc: marks of NVTX are not recorded
        pass
