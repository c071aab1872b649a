# SPDX-License-Identifier: Apache-2.0
"""Recordings as data: the columns are those of SQL, are not copied, and end with what uses them; the answers are those of the commands."""
import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import threading

import pytest

import ascope
from ascope import _columns, _program, _runs, _types

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GPU = str(ROOT / "tests/data/kineto/real-2.11-cuda-plain.json")
OPENS = int(os.environ.get("ASCOPE_OPENS", "100"))


def program(*words):
    return subprocess.run([_program.find(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True).stdout


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("job") / "job")
    program("sim", "--quiet", "--framework", "pt", "--out", path, "--seed", "5", "--ranks", "2", "--steps", "4", "--kernels", "400")
    return path


@pytest.fixture(scope="module")
def run(job):
    return ascope.open(job)


def test_every_table_is_that_of_sql(run):
    for name in _runs._FIRST + _runs._LATER:
        table, wanted = getattr(run, name), run.sql("SELECT * FROM %s" % name, limit=0)
        assert table.columns == wanted.columns
        assert len(table) == len(wanted) > 0
        assert [tuple(row.values()) for row in table.rows()] == list(wanted), name


def test_types_are_made_from_the_schema_and_the_page():
    made = subprocess.run([sys.executable, str(ROOT / "scripts/data_types.py"), _program.find(), str(ROOT / "docs/json.md")], stdout=subprocess.PIPE, check=True).stdout
    assert made.decode() == (ROOT / "python/ascope/_types.py").read_text(encoding="utf-8"), "make docs"
    for table in json.loads(program("sql", "--json", ".schema"))["tables_of_sql"][:len(_runs._FIRST + _runs._LATER)]:
        of = getattr(_types, table["name"].capitalize() + "Table")
        assert list(of.__annotations__) == [c["name"] for c in table["columns"]]


def test_columns_are_not_copied(run):
    numpy = pytest.importorskip("numpy")
    column = run.kernels.dur_ns
    one, other = numpy.asarray(column), numpy.asarray(run.kernels["dur_ns"])
    assert numpy.shares_memory(one, other) and not one.flags.owndata and not one.flags.writeable
    assert one.sum() == run.sql("SELECT sum(dur_ns) FROM kernels")[0][0]
    assert numpy.asarray(run.kernels.operator.ids).itemsize == 4
    with pytest.raises(TypeError):
        column[0] = 1


def test_what_is_unknown():
    run = ascope.open(GPU)
    assert set(run.kernels.cores) == {None}
    assert set(run.kernels.rank) == {ascope.UNKNOWN}
    assert run.kernels[("blocks")][0] > 0
    assert next(run.kernels.rows())["rank"] is None
    assert len(run.steps) == 0 and list(run.steps.dur_ns) == []
    with pytest.raises(AttributeError):
        run.kernels.nothing
    with pytest.raises(AttributeError):
        run.nothing
    assert run.kernels.units["dur_ns"] == "ns"
    assert list(run.kernels.name[:2]) == [run.kernels.name[0], run.kernels.name[1]]


def test_answers_are_those_of_the_commands(run, job):
    assert run.why(step=2, top=3) == json.loads(program("why", "--json", "--step", "2", "--top", "3", job))["answers"][0]
    assert run.advise() == json.loads(program("advise", "--json", job))["advice"]
    assert ascope.compare(job, run)["a"] == job
    before = sorted(os.listdir(job))
    assert ascope.cluster(run)["ranks_read"] == 2
    assert sorted(os.listdir(job)) == before
    rows = run.sql("SELECT 1 AS a, NULL AS b UNION ALL SELECT 'x', 2.5;", limit=1)
    assert (list(rows), rows.columns, rows.is_cut) == ([(1, None)], ["a", "b"], True)


def test_failures_say_why(tmp_path, job):
    with pytest.raises(ascope.Error, match="No such file"):
        ascope.open(tmp_path / "nothing")
    with pytest.raises(ascope.Error, match="no such table"):
        ascope.open(GPU).sql("SELECT * FROM nowhere")
    with pytest.raises(ascope.Error):
        ascope.open(job).why(step="nothing")
    with pytest.raises(TypeError):
        ascope.open()
    cut = tmp_path / "cut.json"
    cut.write_bytes(pathlib.Path(GPU).read_bytes()[:-9000])
    assert "could not be used" in ascope.open(cut).problems[0]
    for damage in (b"", b"ascope columns 2" + bytes(100), b"ascope columns 1" + b"\xff" * 8 + bytes(100), b"ascope columns 1\x02" + bytes(7) + b"{}" + bytes(100)):
        (tmp_path / "columns").write_bytes(damage)
        with open(tmp_path / "columns", "rb") as f, pytest.raises((ValueError, KeyError, OverflowError)):
            _columns.read(f.fileno())


# ---- Arrow: a consumer of its own, as the specification has it ----

def taken(table):
    """{column: (values, null_count)} of a table's Arrow stream, whose structures are released in the end."""
    capsule = table.__arrow_c_stream__()
    stream = _columns._Stream.from_address(_columns._capsule_pointer(id(capsule), b"arrow_array_stream"))
    schema, array, after = _columns._Schema(), _columns._Array(), _columns._Array()
    assert stream.get_schema(ctypes.pointer(stream), ctypes.pointer(schema)) == 0
    assert stream.get_next(ctypes.pointer(stream), ctypes.pointer(array)) == 0
    assert stream.get_next(ctypes.pointer(stream), ctypes.pointer(after)) == 0 and not after.release
    stream.release(ctypes.pointer(stream))
    assert not stream.release
    assert schema.format == b"+s" and schema.n_children == array.n_children == len(table.columns)
    found = {}
    for i in range(schema.n_children):
        s, a = schema.children[i].contents, array.children[i].contents
        known = (ctypes.c_ubyte * (a.length // 8 + 1)).from_address(a.buffers[0]) if a.buffers[0] else None
        assert (known is None) == (a.null_count == 0) and a.length == len(table)
        kind = {b"l": ctypes.c_int64, b"I": ctypes.c_uint32}[s.format]
        cells = (kind * a.length).from_address(a.buffers[1])
        values = [cell if known is None or known[k // 8] >> k % 8 & 1 else None for k, cell in enumerate(cells)]
        if s.dictionary:
            assert s.dictionary.contents.format == b"U"
            d = a.dictionary.contents
            ends = (ctypes.c_int64 * (d.length + 1)).from_address(d.buffers[1])
            text = ctypes.string_at(d.buffers[2], ends[d.length])
            values = [None if v is None else text[ends[v]:ends[v + 1]].decode() for v in values]
        found[s.name.decode()] = values
    schema.release(ctypes.pointer(schema))
    array.release(ctypes.pointer(array))
    assert not schema.release and not array.release
    return found


def test_arrow_has_the_same_cells(run):
    for name in _runs._FIRST:
        table = getattr(run, name)
        columns = taken(table)
        assert [dict(zip(columns, cells)) for cells in zip(*columns.values())] == list(table.rows()), name
    taken(ascope.open(GPU).kernels)
    capsules = [run.kernels.__arrow_c_stream__() for _ in range(10)]  # and never taken
    del capsules
    gc.collect()
    assert not _columns._kept and not _columns._streams


def test_arrow_keeps_what_it_uses():
    numbers = ascope.open(GPU).kernels
    capsule = numbers.__arrow_c_stream__()
    stream = _columns._Stream.from_address(_columns._capsule_pointer(id(capsule), b"arrow_array_stream"))
    array = _columns._Array()
    stream.get_next(ctypes.pointer(stream), ctypes.pointer(array))
    wanted = list(numbers.dur_ns)
    del numbers, capsule
    gc.collect()
    dur = next(array.children[i].contents for i in range(array.n_children) if i == 5)
    assert list((ctypes.c_int64 * dur.length).from_address(dur.buffers[1])) == wanted
    array.release(ctypes.pointer(array))
    assert not _columns._kept


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_frames(run, package):
    pytest.importorskip(package)
    table = run.kernels
    made = {"pandas": table.to_pandas, "polars": table.to_polars, "pyarrow": table.to_arrow}[package]()
    rows = {"pandas": lambda: made.to_dict("records"), "polars": lambda: made.to_dicts(), "pyarrow": lambda: made.to_pylist()}[package]()
    missing = (lambda v: None if v != v or str(v) in ("<NA>", "nan") else v) if package == "pandas" else lambda v: v
    assert made.shape == (len(table), len(table.columns))
    assert [{k: missing(v) for k, v in row.items()} for row in rows] == list(table.rows())


def test_many_threads(run, job):
    fresh, found, wrong = ascope.open(job), [], []

    def use():
        try:
            found.append((len(fresh.calls), len(ascope.open(GPU).kernels), sum(run.kernels.dur_ns)))
        except Exception as e:  # noqa: BLE001: shown below
            wrong.append(e)
    threads = [threading.Thread(target=use) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and len(set(found)) == 1


def resident_kib():
    with open("/proc/self/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def test_nothing_is_left_of_many_opens():
    def some(n):
        for _ in range(n):
            taken(ascope.open(GPU).kernels)
        gc.collect()
        with open("/proc/self/maps", encoding="ascii") as f:
            return len(os.listdir("/proc/self/fd")), len(f.read().splitlines())
    before, kib = some(20), resident_kib()
    assert some(OPENS) == before
    assert resident_kib() - kib < 4096  # each has 30 KiB of columns


def test_the_notebook_runs(job, monkeypatch, capsys):
    monkeypatch.chdir(os.path.dirname(job))
    space = {}
    cells = json.loads((ROOT / "examples/analysis.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(c["source"]) for c in cells if c["cell_type"] == "code"]
    assert len(code) > 4
    for text in code:
        exec(compile(text, "analysis.ipynb", "exec"), space)
    assert "kernels, " in capsys.readouterr().out


def test_a_recorded_program_does_not_load_it(script):
    assert script("import ascope, sys; print([m for m in sys.modules if m in ('ascope._runs', 'ascope._columns', 'tempfile')])").stdout.strip() == "[]"
