# SPDX-License-Identifier: Apache-2.0
"""The directory of collections. A profiler uses that of its handler; if on_trace_ready is another function, which may call a handler, it uses
that of the handler created last in the process, as torch_npu does."""
import inspect
import os

from ascope.torch._messages import path_of, shown, warn

EXPORT_ONLY = "export_only_prof_dir"
WORKER_NAME_MOST = 225

_last = {"dir_name": None, "worker_name": None}


def choose(dir_name, worker_name):
    """Checks the arguments of a handler and returns its place, which is also the last one of the process."""
    global _last
    if dir_name is not None:
        dir_name = path_of("dir_name", dir_name, "using the default directory")
    if worker_name is not None and (not isinstance(worker_name, str) or not worker_name or
                                    len(worker_name) > WORKER_NAME_MOST):
        warn("worker_name: expected a string of 1 to %d characters, got %s; using the host name" % (WORKER_NAME_MOST, shown(worker_name)))
        worker_name = None
    _last = {"dir_name": os.path.realpath(dir_name) if dir_name else None, "worker_name": worker_name}
    return _last


def options(is_export_only, handler=None):
    """The options for the recorder. is_export_only: there is no handler, and the collection is only kept for the export functions."""
    asked = vars(handler).get("place", _last) if inspect.isfunction(handler) else _last
    parent, work = asked["dir_name"], os.environ.get("ASCEND_WORK_PATH")
    if is_export_only or not parent:
        parent = os.path.join(os.path.abspath(work), "profiling_data") if work else os.getcwd()
        if is_export_only and not work:
            parent = os.path.join(parent, EXPORT_ONLY)
    return {"parent_dir": parent, "worker_name": None if is_export_only else asked["worker_name"]}


def is_export_only(path):
    return os.path.basename(os.path.dirname(path)) == EXPORT_ONLY
