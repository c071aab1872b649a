#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_modules.py ARCHITECTURE.md SRC OBJECTS: the sources keep to the table of modules that docs/architecture.md shows.

The table is the only list: a directory that it lacks, an #include or a symbol that it does not allow, and a cycle in it fail.
Also: no two files of the same name, and what a header declares is defined in the .c file of its name.
"""
import collections
import pathlib
import re
import subprocess
import sys


def table_of(page):
    """{directory: what it may use}, from the rows of the table of modules: | `src/raw` | content | base |"""
    rows = re.findall(r"^\| `src/([\w/]+)` \|[^|]*\| ([^|]*) \|$", page.read_text().split("\n## Registries")[0], re.M)
    return {name: [] if uses == "–" else [one.strip(" `") for one in uses.split(",")] for name, uses in rows}


def cycles(table):
    done, open_ = set(), []

    def walk(name):
        if name in open_:
            yield "a cycle of directories: " + " -> ".join([*open_[open_.index(name):], name])
        elif name not in done:
            open_.append(name)
            for other in table.get(name, []):
                if not other.endswith(".h"):  # an interface: it uses nothing of its directory
                    yield from walk(other)
            open_.pop()
            done.add(name)

    for name in table:
        yield from walk(name)


def is_allowed(table, user, used):
    """used: a header's path below src. A module's own files, a directory of the table, or one header of it."""
    place = str(pathlib.PurePath(used).parent)
    return place == user or place in table[user] or used in table[user]


def bad_includes(table, src):
    for file in sorted(src.rglob("*.[ch]")):
        user = str(file.parent.relative_to(src))
        if user not in table:
            yield f"{file}: its directory is not in the table"
            continue
        for used in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
            if not used.startswith("ascope/") and not is_allowed(table, user, used):
                yield f"{file}: #include \"{used}\": {user} may not use it"


def symbols(src, objects):
    """(defined {symbol: source}, used [(source, symbol)]) of the object files, which are named for their sources."""
    source_of = {str(file.relative_to(src)).replace("/", "_"): file.relative_to(src) for file in src.rglob("*.c")}
    defined, used = {}, []
    files = [file for place in objects for file in pathlib.Path(place).rglob("*.c.o")]
    text = subprocess.run(["nm", "-A", *files], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        file, kind, name = re.match(r"(.*?):[0-9a-f ]* (\w) (\S+)$", line).groups()
        source = source_of.get(re.sub(r"^src_", "", pathlib.PurePath(file).name.removesuffix(".o")))
        if source and kind in "TDRBGS":
            defined[name] = source
        elif source and kind == "U":
            used.append((source, name))
    if not defined:
        sys.exit(f"{objects}: no object files; build first")
    return defined, used


def bad_symbols(table, defined, used):
    for source, name in sorted(set(used)):
        where = defined.get(name)
        if where and not is_allowed(table, str(source.parent), str(where.with_suffix(".h"))):
            yield f"src/{source}: uses {name}() of src/{where}: {source.parent} may not use it"


def doubled_names(src):
    places = collections.defaultdict(list)
    for file in [*src.rglob("*.[ch]"), *(src.parent / "include").rglob("*.h")]:
        places[file.name].append(str(file))
    for files in places.values():
        if len(files) > 1:
            yield "files of the same name: " + ", ".join(sorted(files))


def declared(text):
    """Names of functions and variables that a header declares and does not define."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^#.*(?:\\\n.*)*", "", text, flags=re.M)
    while re.search(r"\{[^{}]*\}", text):
        text = re.sub(r"\{[^{}]*\}", " ", text)
    for statement in text.split(";"):
        statement = re.sub(r"__attribute__\s*\(\(.*?\)\)(?=\s*$|\s*\w)", "", statement, flags=re.S).strip()
        if re.match(r"(static|typedef)\b", statement):
            continue
        if statement.startswith("extern"):
            yield from (re.search(r"(\w+)\s*(?:\[.*\])?\s*$", part).group(1) for part in statement.split(","))
        elif function := re.search(r"\b(\w+)\s*\(", statement):
            yield function.group(1)


def misplaced(src, defined):
    for file in sorted(src.rglob("*.h")):
        for name in declared(file.read_text()):
            where = defined.get(name)
            if where and where.with_suffix(".h") != file.relative_to(src):
                yield f"{file}: declares {name}, which src/{where} defines"


def main():
    page, src = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    table = table_of(page)
    defined, used = symbols(src, sys.argv[3:])
    problems = [*(f"{page}: no directory src/{name}" for name in table if not (src / name).is_dir()), *cycles(table),
                *bad_includes(table, src), *bad_symbols(table, defined, used), *doubled_names(src), *misplaced(src, defined)]
    print("\n".join(problems) or f"{len(table)} directories keep to their table")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
