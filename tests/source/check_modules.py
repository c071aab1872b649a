#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_modules.py ARCHITECTURE.md SRC OBJECTS: the sources keep to the table of modules that docs/architecture.md shows.

The table is the only list. A folder without a row belongs to the one above it. An #include or a symbol that it does not allow, a
permission that nothing uses, and a cycle fail. Also: no two files of the same name, and what a header declares is defined in the .c
file of its name; a registry (its comment says so: "modes.h - registry: …") declares what several files define. No folder of src holds
more than 40 files.
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


def module_of(table, file):
    """The row that a file below src belongs to: that of its folder, or of the nearest one above."""
    return next((str(place) for place in pathlib.PurePath(file).parents if str(place) in table), None)


def permission(table, user, header):
    """What allows the module `user` to use a header; "" for its own, None: nothing."""
    place = module_of(table, header)
    return "" if place == user else header if header in table[user] else place if place in table[user] else None


def needs(table, src, defined, used, declared_by):
    """(who and what, its module, header) of each #include and symbol of ours."""
    for file in sorted(src.rglob("*.[ch]")):
        for header in re.findall(r'^#include "([^"]+)"', file.read_text(), re.M):
            if not header.startswith("ascope/"):
                yield f'{file}: #include "{header}"', module_of(table, file.relative_to(src)), header
    for source, name in sorted(set(used)):
        if where := defined.get(name):
            yield f"src/{source}: {name}() of src/{where}", module_of(table, source), declared_by.get(name) or str(where.with_suffix(".h"))


def bad_uses(table, all_needs):
    needed = collections.defaultdict(set)
    for what, user, header in all_needs:
        why = user and permission(table, user, header)
        needed[user].add(why)
        if why is None:
            yield f"{what}: {user} may not use it" if user else f"{what}: the folder is not in the table"
    for user, uses in table.items():
        for used in uses:
            if used not in needed[user]:
                yield f"src/{user} may use {used}, which nothing there does: remove it from the table"


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


def is_registry(file):
    return re.search(r"^/\* \S+ - registry: ", file.read_text(), re.M)


def registries(src):
    """{name: header} of what registries declare."""
    return {name: str(file.relative_to(src)) for file in src.rglob("*.h") if is_registry(file) for name in declared(file.read_text())}


def crowded(src):
    for folder in [src, *(place for root in (src, src.parent / "tests") for place in root.rglob("*") if place.is_dir())]:
        n = 0 if "node_modules" in folder.parts else sum(1 for file in folder.iterdir() if file.suffix in (".c", ".h", ".py", ".sh", ".js"))
        if n > 40:
            yield f"{folder}: {n} files; wanted at most 40"


def misplaced(src, defined):
    for file in sorted(src.rglob("*.h")):
        for name in () if is_registry(file) else declared(file.read_text()):
            where = defined.get(name)
            if where and where.with_suffix(".h") != file.relative_to(src):
                yield f"{file}: declares {name}, which src/{where} defines"


def main():
    page, src = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    table = table_of(page)
    defined, used = symbols(src, sys.argv[3:])
    problems = [*(f"{page}: no directory src/{name}" for name in table if not (src / name).is_dir()), *cycles(table),
                *bad_uses(table, needs(table, src, defined, used, registries(src))), *doubled_names(src), *misplaced(src, defined), *crowded(src)]
    print("\n".join(problems) or f"{len(table)} modules keep to their table")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
