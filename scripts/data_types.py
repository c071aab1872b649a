#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""data_types.py ASCOPE JSON.md: the types of python/ascope/_types.py, on standard output: tables from `ascope sql .schema`, reports from docs/json.md."""
import json
import keyword
import re
import subprocess
import sys

SCALARS = {"text": "str", "boolean": "bool", "integer": "int", "number": "float", "null": "None", "list": "List[Any]", "object": "Dict[str, Any]"}


def name_of(words):
    """The name of a class: of "judged finding" JudgedFinding."""
    return "".join(w[0].upper() + w[1:] for w in re.split(r"[ -]", words))


def type_of(words, known):
    if words.startswith("list of "):
        return "List[%s]" % type_of(words[len("list of "):], known)
    if words.startswith("object of "):
        return "Dict[str, %s]" % type_of(words[len("object of "):], known)
    parts = [SCALARS.get(w) or (repr(name_of(w)) if w in known else "Any") for w in words.split(" or ")]
    return parts[0] if len(parts) == 1 else "Union[%s]" % ", ".join(parts)


def main():
    ascope, page = sys.argv[1:]
    print('# SPDX-License-Identifier: Apache-2.0\n"""The types of tables (docs/sql.md) and of reports (docs/json.md): scripts/data_types.py makes this file."""')
    print("from typing import Any, Dict, List, TypedDict, Union\n\nfrom ascope._columns import Table, Texts")
    schema = json.loads(subprocess.run([ascope, "sql", "--json", ".schema"], capture_output=True, check=True).stdout)["tables_of_sql"]
    for table in schema:
        if table["name"] == "slices":  # tables of the timeline are for SQL
            break
        print("\n\nclass %sTable(Table):\n    \"\"\"%s.\"\"\"" % (name_of(table["name"]), table["meaning"][0].upper() + table["meaning"][1:]))
        for c in table["columns"]:
            unit = " [%s]" % c["unit"] if c["unit"] else ""
            print("    %s: %s  # %s%s" % (c["name"], "Texts" if c["type"] == "TEXT" else "memoryview", c["meaning"], unit))
    objects, name = {}, None
    with open(page, encoding="utf-8") as f:
        for line in f:
            heading, row = re.match(r"## (.+)", line), re.match(r"\| `(\w+)` \| ([^|]+) \|", line)
            if heading:
                name = heading[1]
            elif row:
                words = row[2].strip()
                objects.setdefault(name, []).append((row[1], words[:-len(", optional")] if words.endswith(", optional") else words, words.endswith(", optional")))
    for name, members in objects.items():
        parts = [[m for m in members if not m[2]], [m for m in members if m[2]]]
        for part, bases, suffix in ((parts[0], "TypedDict", "Always" if parts[1] else ""), (parts[1], ("%sAlways" % name_of(name)) + ", total=False", "")):
            if any(keyword.iskeyword(member) for member, _, _ in part):
                print("\n\n%s%s = TypedDict(%r, {%s})" % (name_of(name), suffix, name_of(name) + suffix, ", ".join("%r: %s" % (member, type_of(words, objects)) for member, words, _ in part)))
            elif part or (suffix and parts[1]):
                print("\n\nclass %s%s(%s):" % (name_of(name), suffix, bases))
                print("\n".join("    %s: %s" % (member, type_of(words, objects)) for member, words, _ in part) or "    pass")


if __name__ == "__main__":
    main()
