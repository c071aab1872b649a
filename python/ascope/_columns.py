# SPDX-License-Identifier: Apache-2.0
"""Tables whose columns are mapped from a file of `ascope sql --columns`, and handed out without a copy.

A column of numbers is a read-only memoryview (buffer protocol): numpy.asarray(kernels.dur_ns) copies nothing. A column of texts has numbers of
names, and looks like a sequence of str. What was not recorded is UNKNOWN, or None. Nothing here needs another package until it is called.
"""
import ctypes
import json
import mmap
import threading
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union, overload

UNKNOWN = -1 << 63  # a number that was not recorded
_MAGIC = b"ascope columns 1"
_ALIGNED = 64


class Names(Sequence[str]):
    """The texts of all tables of a run, by number."""
    def __init__(self, ends: memoryview, text: memoryview) -> None:
        self.ends, self.text = ends, text

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> List[str]: ...

    def __getitem__(self, i: Union[int, slice]) -> Union[str, List[str]]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not 0 <= i < len(self):
            raise IndexError(i)
        return bytes(self.text[self.ends[i]:self.ends[i + 1]]).decode("utf-8", "replace")


class Texts(Sequence[Optional[str]]):
    """A column of texts. ids: their numbers in names, of 4 bytes; 0: unknown."""
    def __init__(self, ids: memoryview, names: Names) -> None:
        self.ids, self.names = ids, names

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, i: int) -> Optional[str]: ...
    @overload
    def __getitem__(self, i: slice) -> "Texts": ...

    def __getitem__(self, i: Union[int, slice]) -> "Union[Optional[str], Texts]":
        if isinstance(i, slice):
            return Texts(self.ids[i], self.names)
        number = self.ids[i]
        return self.names[number] if number else None

    def __iter__(self) -> Iterator[Optional[str]]:
        known: Dict[int, Optional[str]] = {0: None}
        for number in self.ids:
            if number not in known:
                known[number] = self.names[number]
            yield known[number]


class Column(NamedTuple):
    name: str
    type: str  # "TEXT" or "INTEGER"
    unit: str
    cells: memoryview
    known: Optional[memoryview]  # a bit for each row; None: all are known
    n_unknown: int


class Table:
    """A table. Its columns are attributes and items: kernels.dur_ns, kernels["dur_ns"]."""
    def __init__(self, name: str, n: int, columns: List[Column], names: Names) -> None:
        self._name, self._n, self._of, self._names = name, n, {c.name: c for c in columns}, names

    def __len__(self) -> int:
        return self._n

    def __repr__(self) -> str:
        return "<ascope table %s: %d rows of %s>" % (self._name, self._n, ", ".join(self._of))

    @property
    def columns(self) -> List[str]:
        return list(self._of)

    @property
    def units(self) -> Dict[str, str]:
        """Of the columns that have one: {"dur_ns": "ns"}."""
        return {c.name: c.unit for c in self._of.values() if c.unit}

    def __getitem__(self, name: str) -> Any:
        of = self._of[name]
        return Texts(of.cells, self._names) if of.type == "TEXT" else of.cells

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._of:
            raise AttributeError("%s has no column %s" % (type(self).__name__, name))
        return self[name]

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._of]

    def rows(self) -> Iterator[Dict[str, Any]]:
        """Row by row, for people and small tables."""
        for cells in zip(*(self[name] for name in self._of)):
            yield {name: None if cell == UNKNOWN else cell for name, cell in zip(self._of, cells)}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Texts become categories; numbers with unknown cells become Int64. Numbers are not copied unless some are unknown."""
        import numpy
        import pandas
        made = {}
        for of in self._of.values():
            cells = numpy.asarray(of.cells)
            if of.type == "TEXT":
                used, codes = numpy.unique(cells, return_inverse=True)
                has_none = int(len(used) > 0 and used[0] == 0)
                made[of.name] = pandas.Categorical.from_codes(codes - has_none, [self._names[int(i)] for i in used[has_none:]])
            elif of.n_unknown:
                made[of.name] = pandas.arrays.IntegerArray(cells.copy(), cells == UNKNOWN)
            else:
                made[of.name] = cells
        return pandas.DataFrame(made, copy=False)

    def to_arrow(self) -> Any:
        """A pyarrow.Table, which uses the same memory."""
        import pyarrow
        return pyarrow.table(self)

    def to_polars(self) -> Any:
        """A polars.DataFrame, through the Arrow C stream interface."""
        import polars
        return polars.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow PyCapsule interface, which pyarrow, polars, DuckDB and others call."""
        return _stream_capsule(self)


def read(file: int) -> Dict[str, Table]:
    """The tables of an open file of `ascope sql --columns`. They keep the mapping; the file may be closed."""
    space = mmap.mmap(file, 0, access=mmap.ACCESS_COPY)
    whole = memoryview(space).toreadonly()
    if bytes(whole[:16]) != _MAGIC:
        raise ValueError("no columns of ascope")
    size = int.from_bytes(whole[16:24], "little")
    header = json.loads(bytes(whole[24:24 + size]))
    data = whole[(24 + size + _ALIGNED - 1) // _ALIGNED * _ALIGNED:]

    def array(at: int, n: int, code: str) -> memoryview:
        return data[at:at + n * (4 if code == "I" else 8 if code == "q" else 1)].cast(code)  # type: ignore[call-overload]

    of = header["names"]
    names = Names(array(of["ends_at"], of["n"] + 1, "q"), data[of["text_at"]:of["text_at"] + of["bytes"]])
    tables = {}
    for name, table in header["tables"].items():
        n = table["n"]
        tables[name] = Table(name, n, [Column(c["name"], c["type"], c["unit"], array(c["at"], n, "I" if c["type"] == "TEXT" else "q"),
                                              None if c["known_at"] is None else array(c["known_at"], n // 8 + 1, "B"), c["n_unknown"]) for c in table["columns"]], names)
    return tables


# ---- the Arrow C data interface ---------------------------------------------------------------------------------------------------------------
# https://arrow.apache.org/docs/format/CDataInterface.html; structures are released by whoever has them last, on any thread.

class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_OF_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_OF_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
                    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(_Schema))), ("dictionary", ctypes.POINTER(_Schema)),
                    ("release", _OF_SCHEMA), ("private_data", ctypes.c_void_p)]
_Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
                   ("dictionary", ctypes.POINTER(_Array)), ("release", _OF_ARRAY), ("private_data", ctypes.c_void_p)]
_GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Stream))
_OF_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_Stream._fields_ = [("get_schema", _GET_SCHEMA), ("get_next", _GET_NEXT), ("get_last_error", _GET_ERROR), ("release", _OF_STREAM), ("private_data", ctypes.c_void_p)]

_NULLABLE = 2
_lock = threading.Lock()
_kept: Dict[int, Any] = {}  # by private_data: what the memory of a structure belongs to
_last = 0


def _keep(what: Any) -> int:
    global _last
    with _lock:
        _last += 1
        _kept[_last] = what
        return _last


def _drop(number: Optional[int]) -> None:
    with _lock:
        _kept.pop(number or 0, None)


def _release(of: Any) -> None:
    """As the specification has it: the children that are still there, then itself."""
    s = of.contents
    for child in [s.children[i] for i in range(s.n_children)] + ([s.dictionary] if s.dictionary else []):
        if child.contents.release:
            child.contents.release(child)
    _drop(s.private_data)
    ctypes.memset(ctypes.addressof(s) + type(s).release.offset, 0, ctypes.sizeof(ctypes.c_void_p))


_release_schema, _release_array = _OF_SCHEMA(_release), _OF_ARRAY(_release)


def _fill_schema(to: _Schema, form: bytes, name: bytes, children: Sequence[_Schema] = (), dictionary: Optional[_Schema] = None) -> None:
    pointers = (ctypes.POINTER(_Schema) * max(len(children), 1))(*map(ctypes.pointer, children))
    to.format, to.name, to.metadata, to.flags, to.n_children = form, name, None, _NULLABLE, len(children)
    to.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Schema)))
    if dictionary is not None:
        to.dictionary = ctypes.pointer(dictionary)
    to.release = _release_schema
    to.private_data = _keep((form, name, pointers, children, dictionary))


def _fill_array(to: _Array, n: int, n_null: int, buffers: Sequence[Optional[memoryview]], children: Sequence[_Array] = (), dictionary: Optional[_Array] = None) -> None:
    addresses = (ctypes.c_void_p * len(buffers))(*(None if b is None else _address(b) for b in buffers))
    pointers = (ctypes.POINTER(_Array) * max(len(children), 1))(*map(ctypes.pointer, children))
    to.length, to.null_count, to.offset, to.n_buffers, to.n_children = n, n_null, 0, len(buffers), len(children)
    to.buffers = ctypes.cast(addresses, ctypes.POINTER(ctypes.c_void_p))
    to.children = ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Array)))
    if dictionary is not None:
        to.dictionary = ctypes.pointer(dictionary)
    to.release = _release_array
    to.private_data = _keep((addresses, pointers, children, dictionary, buffers))


def _address(of: memoryview) -> int:
    """Of memory that is only read, which ctypes has no function for."""
    class Buffer(ctypes.Structure):  # Py_buffer
        _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("more", ctypes.c_byte * 128)]
    b = Buffer()
    if ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(of), ctypes.byref(b), 0) != 0:
        raise BufferError("no memory of a column")
    address = b.buf or 0
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(b))
    return address


def _schema_of(table: Table, to: _Schema) -> None:
    children = []
    for of in table._of.values():
        child = _Schema()
        if of.type == "TEXT":
            texts = _Schema()
            _fill_schema(texts, b"U", b"")
            _fill_schema(child, b"I", of.name.encode(), dictionary=texts)
        else:
            _fill_schema(child, b"l", of.name.encode())
        children.append(child)
    _fill_schema(to, b"+s", b"", children)


def _array_of(table: Table, to: _Array) -> None:
    children = []
    for of in table._of.values():
        child, texts = _Array(), None
        if of.type == "TEXT":
            texts = _Array()
            _fill_array(texts, len(table._names), 0, (None, table._names.ends, table._names.text))
        _fill_array(child, len(table), of.n_unknown, (of.known, of.cells), dictionary=texts)
        children.append(child)
    _fill_array(to, len(table), 0, (None,), children)


def _get_schema(stream: Any, to: Any) -> int:
    _schema_of(_kept[stream.contents.private_data][0], to.contents)
    return 0


def _get_next(stream: Any, to: Any) -> int:
    state = _kept[stream.contents.private_data]
    if state[1]:  # the only batch was taken
        ctypes.memset(to, 0, ctypes.sizeof(_Array))
    else:
        state[1] = True
        _array_of(state[0], to.contents)
    return 0


def _release_the_stream(stream: Any) -> None:
    _drop(stream.contents.private_data)
    ctypes.memset(ctypes.addressof(stream.contents) + _Stream.release.offset, 0, ctypes.sizeof(ctypes.c_void_p))


_callbacks = (_GET_SCHEMA(_get_schema), _GET_NEXT(_get_next), _GET_ERROR(lambda stream: None), _OF_STREAM(_release_the_stream))
_STREAM = b"arrow_array_stream"
_api = ctypes.pythonapi
_CAPSULE_END = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", _api))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))


def _capsule_end(capsule: int) -> None:
    address = _capsule_pointer(capsule, _STREAM)
    stream = _Stream.from_address(address)
    if stream.release:  # nobody has taken it
        stream.release(ctypes.pointer(stream))
    _drop(_streams.pop(address))


_capsule_end_c = _CAPSULE_END(_capsule_end)
_streams: Dict[int, int] = {}  # by address: the number under which its memory is kept


def _stream_capsule(table: Table) -> object:
    stream = _Stream(*_callbacks, _keep([table, False]))
    address = ctypes.addressof(stream)
    _streams[address] = _keep(stream)
    return _capsule_new(address, _STREAM, ctypes.cast(_capsule_end_c, ctypes.c_void_p))
