# SPDX-License-Identifier: Apache-2.0
"""For tests: sessions through libascope itself, and what is in the files they leave, as Python objects."""

import collections
import contextlib
import ctypes
import importlib.util
import os
import pathlib
import struct
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("ASCOPE_PROGRAM") or ROOT / "build/ascope").parent
OPTIONS_BYTES = 4096  # the library knows fewer fields, and leaves the rest


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


library = ctypes.CDLL(str(BUILD / "libascope.so.0"), mode=ctypes.RTLD_GLOBAL)
library.ascope_session_new.restype = ctypes.c_void_p
library.ascope_session_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.ascope_session_path.restype = ctypes.c_char_p
library.ascope_session_path.argtypes = [ctypes.c_void_p]
for _name in ("start", "stop", "end"):
    _function = getattr(library, f"ascope_session_{_name}")
    _function.restype = ctypes.c_bool
    _function.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
library.ascope_options_set.restype = ctypes.c_bool
library.ascope_options_set.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]

build = _load("ascope_torch_build", ROOT / "python/ascope/torch/_build.py")
listener = build.load()


class Session:
    """One collection; its parts are read when they are asked for."""

    def __init__(self, parent=None, **options):
        options = {"activities": "CPU", "device": "none", **options}
        self.parent = pathlib.Path(parent or tempfile.mkdtemp(prefix="ascope-test-"))
        self._options = ctypes.create_string_buffer(OPTIONS_BYTES)
        self._error = ctypes.create_string_buffer(400)
        library.ascope_options_init_sized(self._options, OPTIONS_BYTES)
        for name, value in {"parent_dir": str(self.parent), **options}.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            assert library.ascope_options_set(self._options, name.encode(), text.encode()), name
        self._session = library.ascope_session_new(self._options, self._error)
        self._check(self._session)
        self.path = pathlib.Path(library.ascope_session_path(self._session).decode())

    def _check(self, done):
        assert done, self._error.value.decode()

    def start(self):
        self._check(library.ascope_session_start(self._session, self._error))

    def stop(self):
        self._check(library.ascope_session_stop(self._session, self._error))

    def end(self):
        self._check(library.ascope_session_end(self._session, self._error))

    def _records(self, name):
        path = self.path / "FRAMEWORK" / f"torch.{name}"
        data = path.read_bytes() if path.exists() else b""
        at = 0
        while at + 6 <= len(data):
            (length,) = struct.unpack_from("<I", data, at + 2)
            yield data[at + 6:at + 6 + length]
            at += 6 + length

    @staticmethod
    def _texts(record, at):
        texts = {}
        while at + 6 <= len(record):
            kind, length = struct.unpack_from("<HI", record, at)
            texts[kind] = record[at + 6:at + 6 + length].decode()
            at += 6 + length
        return texts

    Operator = collections.namedtuple(
        "Operator", "begin end sequence process thread end_thread forward_thread scope is_async name types shapes tensors "
                    "lists scalars stack modules")

    def operators(self):
        found = []
        for record in self._records("op_range"):
            texts = self._texts(record, 58)
            found.append(self.Operator(*struct.unpack_from("<qqqQQQQB?", record),
                                       *(texts.get(kind, "") for kind in range(2, 10))))
        return sorted(found, key=lambda op: (op.begin, -op.end))

    Block = collections.namedtuple(
        "Block", "pointer time size allocated reserved active stream device_type device component kind allocator")

    def memory(self):
        return sorted((self.Block(*struct.unpack_from("<qqqqqqqbbBBB", record)) for record in self._records("memory_usage")),
                      key=lambda block: block.time)

    Point = collections.namedtuple("Point", "time kind id thread process name")

    def queue(self):
        return sorted(self.Point(*struct.unpack_from("<qQQQQ", record), self._texts(record, 40).get(1, ""))
                      for record in self._records("op_mark"))


@contextlib.contextmanager
def session(**options):
    recorded = Session(**options)
    recorded.start()
    try:
        yield recorded
    finally:
        recorded.stop()
        recorded.end()
