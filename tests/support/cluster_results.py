# SPDX-License-Identifier: Apache-2.0
"""Results over many ranks, compared with those that msprof-analyze wrote for the same data (tests/data/cluster-a.tar.xz).

Order of rows, keys and lists of ranks is free; numbers agree to 1e-6 of their size; the last component of paths counts.
"""
import csv
import json
import math
import pathlib
import re
import sqlite3
import tarfile

LISTS = {"minRank", "maxRank", "Ranks", "SlowRank", "Index", "index", "rank_set"}
# Host times of the reference pass through float64: off by up to 0.256 us each.
LOOSE = {"pytorchIdleTime(us)": 0.6, "cannIdleTime(us)": 0.6, "Pytorch Idle Time(us)": 0.6, "Cann Idle Time(us)": 0.6}

failures = []


def check(condition, what):
    print(f"  {'ok' if condition else 'FAILED'}: {what}")
    if not condition:
        failures.append(what)


def unpack(to):
    """The job of eight ranks below `to`: inputs/text, inputs/db, inputs/base-db; its expected results by name."""
    with tarfile.open(pathlib.Path(__file__).resolve().parent.parent / "data/cluster-a.tar.xz") as archive:
        archive.extractall(to, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(to)
    return {file.stem: json.loads(file.read_text()) for file in (pathlib.Path(to) / "expected").glob("*.json")}


def tables_of(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    out = {}
    for name in names:
        columns = [row[1] for row in database.execute(f'PRAGMA table_info("{name}")')]
        out[name] = {"columns": columns, "rows": [list(row) for row in database.execute(f'SELECT * FROM "{name}"')]}
    database.close()
    return out


def results_of(folder):
    out = {}
    for file in sorted(pathlib.Path(folder).rglob("*")):
        name = re.sub(r"_\d{14}(?=\.csv$)", "", file.name)
        if file.suffix == ".db":
            out[name] = {"db": tables_of(file)}
        elif file.suffix == ".csv":
            with open(file, newline="") as lines:
                rows = list(csv.reader(lines))
            out[name] = {"csv": {"columns": rows[0], "rows": rows[1:]}}
        elif file.suffix == ".json":
            out[name] = {"json": json.loads(file.read_text())}
    return out


def number(value):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and re.fullmatch(r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+)", value):
        return float(value)
    return None


def normal(column, value):
    if value in ("", None):
        return None
    if isinstance(value, str):
        if column in LISTS:
            return ",".join(sorted(re.findall(r"\d+", value), key=int)) or value
        if "_ascend_pt" in value and "/" in value:
            return pathlib.PurePath(value).name
        if column in ("reason", "Reason"):
            return re.sub(r"-?\d+(\.\d+)?", "#", value)
        if len(value) >= 16:
            return number(value) if "." in value and number(value) is not None else value
    found = number(value)
    return value if found is None else found


def same(a, b, tolerance=0.0):
    x, y = number(a), number(b)
    if x is not None and y is not None:
        return math.isclose(x, y, rel_tol=1e-6, abs_tol=max(tolerance, 1e-9))
    return a == b


def key(row, columns):
    exact = [v for c, v in zip(columns, row) if c not in LOOSE]
    texts = [v for v in exact if isinstance(v, str) or v is None]
    order = lambda values: tuple((0, "") if v is None else (1, f"{v:.5g}") if isinstance(v, float) else (2, v) for v in values)
    return order(texts), order(exact)


def compare_tables(name, expected, found, differences, keeps=None):
    """keeps: which of our rows the reference has, too."""
    columns = [c[0] if isinstance(c, list) else c for c in expected["columns"]]
    if columns != found["columns"]:
        differences.append(f"{name}: columns {found['columns']}, expected {columns}")
        return
    normalised = []
    for rows in expected["rows"], [row for row in found["rows"] if not keeps or keeps(dict(zip(columns, row)))]:
        rows = [[normal(c, v) for c, v in zip(columns, row)] for row in rows]
        normalised.append(sorted(rows, key=lambda row: key(row, columns)))
    if len(normalised[0]) != len(normalised[1]):
        differences.append(f"{name}: {len(normalised[1])} rows, expected {len(normalised[0])}")
    for wanted, row in zip(*normalised):
        for c, x, y in zip(columns, wanted, row):
            if not same(x, y, LOOSE.get(c, 0)):
                differences.append(f"{name}: {c} is {y!r}, expected {x!r}, in {row[:6]}")
                break


def compare_json(name, expected, found, differences):
    if isinstance(expected, dict) and isinstance(found, dict):
        for member in sorted(expected.keys() | found.keys()):
            if member not in found or member not in expected:
                differences.append(f"{name}: {'missing' if member not in found else 'not expected'}: {member}")
            else:
                compare_json(f"{name}/{member}", expected[member], found[member], differences)
    elif isinstance(expected, list) and isinstance(found, list):
        sort = lambda v: sorted(v, key=lambda x: json.dumps(x, sort_keys=True)) if v and isinstance(v[0], (list, dict)) else v
        if len(expected) != len(found):
            differences.append(f"{name}: {len(found)} items, expected {len(expected)}")
        for i, (x, y) in enumerate(zip(sort(expected), sort(found))):
            compare_json(f"{name}[{i}]", x, y, differences)
    elif not same(expected, found):
        differences.append(f"{name}: {found!r}, expected {expected!r}")


def compare(expected, folder, keeps={}, change=None):
    """Differences as lines. keeps: by table, which of our rows the reference has; change: of our JSON, by file, before it is compared."""
    differences, found = [], results_of(folder)
    for name in expected:
        for kind, wanted in expected[name].items():
            if name not in found or kind not in found[name]:
                differences.append(f"{name}: missing")
            elif kind == "db":
                for table in wanted:
                    if table not in found[name]["db"]:
                        differences.append(f"{name}: no table {table}")
                    else:
                        compare_tables(f"{name}:{table}", wanted[table], found[name]["db"][table], differences, keeps.get(table))
            elif kind == "csv":
                compare_tables(name, wanted, found[name]["csv"], differences, keeps.get(name))
            else:
                ours = change[name](found[name]["json"]) if change and name in change else found[name]["json"]
                compare_json(name, wanted, ours, differences)
    return differences
