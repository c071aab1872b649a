#!/usr/bin/env python3
"""Rules about the sources that no compiler checks.

Every layout in src/raw is listed in src/raw/all.c, so that the tests and the fuzzers reach it.
Notes to oneself (work to be done, tricks to be removed) belong in an issue, not in the source.
"""
import pathlib
import re
import sys


def unlisted_layouts(src):
    listed = set(re.findall(r"&(\w+)", (src / "raw/all.c").read_text()))
    for file in sorted((src / "raw").glob("*.c")):
        for name in re.findall(r"^const struct layout (\w+) =", file.read_text(), re.M):
            if name not in listed:
                yield f"{file}: {name} is not listed in src/raw/all.c"


def notes_to_oneself(src):
    for file in sorted(src.rglob("*.[ch]")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(r"\b(TODO|FIXME|HACK)\b", line):
                yield f"{file}:{number}: {line.strip()}"


def main():
    src = pathlib.Path(sys.argv[1])
    problems = [*unlisted_layouts(src), *notes_to_oneself(src)]
    print("\n".join(problems) or "the sources keep their rules")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
