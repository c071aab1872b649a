#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules about the sources that no compiler checks.

Every layout in src/raw is listed in src/raw/all.c, so that the tests and the fuzzers reach it.
Every environment variable of ascope that the sources read is in the man page, and the other way round.
Words that the field has better ones for do not return (AVOIDED).
Every source file says its licence in its first line, or in the second one behind "#!".
The changelogs know the version that meson.build says.
Notes to oneself (work to be done, tricks to be removed) belong in an issue, not in the source.
A test forks by tests/support/child.h, whose parent does not wait for ever. (run_program.c is no test: a test starts it, with an alarm.)
A column of a table is a row of name and getter: no function chooses among the cells of a row by the number of the column.
There is one message for memory that is used up: error_no_memory().
Prose in README and docs/ is wrapped at 120 columns, so that a diff shows what changed.
Suffixes of the directories of frameworks are rows of base/text/framework_names.c; help texts, where a "*" is in front, may have them.
Functions and files that documents name exist.
A tag (struct, enum, union) names one thing in the whole tree.
Lines of C (WRAPPED) have at most 120 columns; rows of tables, between "clang-format off" and "on", are as wide as they need to be.
There is one binary search: SEARCH_FIRST_NOT() of base/memory/sort.h, on which the functions there stand.
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


# Words that have a better one in this field (CONTRIBUTING.md, "Code style"): pattern, what to write instead, files that may have it.
AVOIDED = (
    (r"doors?", "front end", ()),
    (r"told", "reported, recorded, passed", ()),
    # Apache Arrow is a format of columns.
    (r"arrows?", "flow event", ("python/ascope/_columns.py", "tests/python/test_runs.py", "docs/python.md")),
    (r"strangers?", "unknown record, unknown chip", ()),
    (r"truths?", "boolean", ()),
    (r"outcomes?", "exit status, result", ()),
    (r"the other parser|original parsers?|the original's", "reference parser, msprof, torch_npu", ()),
    (r"rooms of the house|the rooms", "modules", ()),
    (r"how manieth", "sequence number, index", ()),
    (r"what is none", "invalid value", ()),
    (r"dialect seed|seed dialect", "documented dialect", ("README", "CHANGELOG.md", "tests/command/cli/test_cli.py")),
)
WORDED = ("src", "include", "python", "examples", "docs", "tests", "fuzz", "bench", "scripts", "README.md", "CONTRIBUTING.md", "SECURITY.md")
SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".py", ".pyi", ".md", ".1")


def words_to_avoid(root):
    """Also as parts of identifiers: is_told, trace_arrow."""
    rules = [(re.compile(r"(?<![A-Za-z])(?:%s)(?![a-z])" % words, re.I), instead, allowed) for words, instead, allowed in AVOIDED]
    files = [file for name in WORDED for file in ([root / name] if (root / name).is_file() else sorted((root / name).rglob("*")))]
    for file in files:
        place = file.relative_to(root).as_posix()
        if file.suffix not in SUFFIXES or place.startswith(("tests/data", "tests/viewer/node_modules")) or place == "tests/source/check_sources.py" or not file.is_file():
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            for pattern, instead, allowed in rules:
                found = pattern.search(line)
                if found and not place.startswith(allowed or ("-",)):
                    yield f"{place}:{number}: \"{found.group()}\": write {instead}"


def notes_to_oneself(src):
    for file in sorted(src.rglob("*.[ch]")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(r"\b(TODO|FIXME|HACK)\b", line):
                yield f"{file}:{number}: {line.strip()}"


NOT_VARIABLES = {"ASCOPE_SIMULATED", "ASCOPE_STEP_COST"}  # a row and a table of databases


def variables_without_manual(src):
    root = src.parent
    page = root / "docs/ascope.1"
    described = set(re.findall(r"^\.It Ev (ASCOPE_\w+)", page.read_text(), re.M))
    read = {}
    for file in sorted([*src.rglob("*.c"), *(root / "python").rglob("*.c"), *(root / "python").rglob("*.py")]):
        if file.name != "help.c":
            read.update((name, file) for name in re.findall(r"[\"'](ASCOPE_[A-Z0-9_]+)[\"']", file.read_text()))
    for name in sorted(set(read) - described - NOT_VARIABLES):
        yield f"{read[name]}: {name} is not in {page}: describe it in src/cli/options/help.c, then make docs"
    for name in sorted(described - set(read)):
        yield f"{page}: {name} is read nowhere"


def forks_without_an_alarm(tests):
    for file in sorted(f for folder in ("unit", "support", "programs") for f in (tests / folder).rglob("*.[ch]")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if file.name not in ("child.h", "os_calls_program.c", "plain_cuda.c", "run_program.c") and re.search(r"\b(fork\(\)|waitpid\()", line):
                yield f"{file}:{number}: {line.strip()}; wanted child_fork() and child_end() of child.h"


def cells_by_number(src):
    for file in sorted([*(src / "export").rglob("*.[ch]"), *(src / "pipeline").rglob("*.[ch]"), *(src / "cli").rglob("*.[ch]")]):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if re.search(r"\bcase \w+: return cell_|\bswitch \((\(enum \w+\))?column\)", line):
                yield f"{file}:{number}: {line.strip()}; wanted a getter in the column's row"


def json_behind_load(src):
    """Settings are decoded once, in load/. That no file is read behind it is a rule of the modules test."""
    for folder in ("profile", "analyse", "export"):
        for file in sorted((src / folder).rglob("*.[ch]")):
            for name in re.findall(r'^#include (["<](?:jansson|base/json_memory)\.h[">])', file.read_text(), re.M):
                yield f"{file}: includes {name}; wanted settings of profile/, filled in load/"


def texts_of_no_memory(src):
    allowed = {"base/text/error.c", "collect/write/writer.c"}  # the message itself; a warning that says what is lost
    for file in sorted(src.rglob("*.c")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if str(file.relative_to(src)) not in allowed and re.search(r'"[^"]*\b(no|out of) memory\b[^"]*"', line):
                yield f"{file}:{number}: {line.strip()}; wanted error_no_memory() or no_memory_text()"


def doubled_tags(src):
    places = {}
    for file in sorted(src.rglob("*.[ch]")):
        for tag in re.findall(r"\b(?:struct|enum|union) (\w+)\s*\{", re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.S)):
            if places.setdefault(tag, file) != file:
                yield f"{file}: {tag} is also in {places[tag]}; a tag names one thing"


def binary_searches(src):
    for file in sorted(src.rglob("*.[ch]")):
        if file.name != "sort.h" and re.search(r"while \(\w+ < \w+\).*\n.*\+ \(\w+ - \w+\) / 2;", file.read_text()):
            yield f"{file}: a binary search of its own; wanted SEARCH_FIRST_NOT() of base/memory/sort.h"


def suffixes_of_their_own(src):
    for file in sorted(src.rglob("*.[ch]")):
        for number, line in enumerate(re.sub(r"/\*.*?\*/", lambda c: "\n" * c.group().count("\n"), file.read_text(), flags=re.S).splitlines(), 1):
            if file.name != "framework_names.c" and re.search(r"(?<!\*)_ascend_(pt|ms)", line):
                yield f"{file}:{number}: {line.strip()}; wanted framework_names[] of base/text/framework_names.h"


def prose_that_is_not_wrapped(root):
    """Tables and code are as wide as they need to be; a link may stand out a little. The page of recording options is generated."""
    for file in [root / "README.md", root / "CONTRIBUTING.md", root / "SECURITY.md", *sorted((root / "docs").glob("*.md"))]:
        is_code = False
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            is_code ^= line.startswith("```")
            if len(line) > 130 and not is_code and not line.lstrip().startswith(("|", "![", "<")) and not line.startswith("    ") \
                    and file.name != "recorder-options.md":
                yield f"{file.relative_to(root)}:{number}: {len(line)} characters; wanted at most 120"


# Folders of src. view has pages and SQL in C, which break where these break.
WRAPPED = ("analyse", "base", "cluster", "collect", "device", "doctor", "dynamic", "export", "load", "pipeline", "preload", "profile", "prove",
           "raw", "run", "sim")


def wide_lines(src):
    for file in sorted(file for folder in WRAPPED for file in (src / folder).rglob("*.c")):
        is_table = False
        for number, line in enumerate(file.read_text().splitlines(), 1):
            is_table = is_table and "clang-format on" not in line or "clang-format off" in line
            if len(line) > 120 and not is_table:
                yield f"{file}:{number}: {len(line)} columns; wanted at most 120"


LICENCE = "SPDX-License-Identifier: Apache-2.0"
SOURCES = {".c", ".h", ".cpp", ".hpp", ".py", ".pyi", ".sh", ".js", ".html", ".css", ".yml", ".build", ".in"}
FOLDERS = [".ci", ".github", "bench", "cmake", "debian", "examples", "fuzz", "include", "python", "scripts", "src", "tests"]


def files_with_licence(root):
    """Sources by their suffix, and scripts by their "#!"; not test data, nor what npm has put there."""
    yield from (root / name for name in ["Makefile", "meson.build", "meson_options.txt", "pyproject.toml"])
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            parts = file.relative_to(root).parts
            if parts[:2] == ("tests", "data") or "node_modules" in parts or "__pycache__" in parts or not file.is_file():
                continue
            with open(file, "rb") as f:
                if file.suffix in SOURCES or f.read(2) == b"#!":
                    yield file


def without_licence(src):
    for file in files_with_licence(src.parent):
        lines = file.read_text().split("\n", 2)
        if LICENCE not in lines[lines[0].startswith("#!")]:
            yield f"{file}: wanted {LICENCE} in its first line"


def names_of_nothing(root):
    """A function in a document, `name()`, is a word of the sources, and a link to a file of the tree leads to one."""
    words = set()
    for top in "src", "include", "python":
        for file in (root / top).rglob("*"):
            if file.suffix in (".c", ".h", ".cpp", ".hpp", ".py", ".pyi", ".js"):
                words.update(re.findall(r"\w+", file.read_text(encoding="utf-8")))
    for file in [*sorted((root / "docs").glob("*.md")), *sorted(root.glob("*.md"))]:
        text = file.read_text(encoding="utf-8")
        for name in re.findall(r"`([a-z_]\w*)\(\)`", text):
            if name not in words:
                yield f"{file}: {name}(): there is no such function"
        for link in re.findall(r"\]\(([^)#:]+)[)#]", text):
            if not (file.parent / link).exists():
                yield f"{file}: {link}: there is no such file"


def versions_that_differ(src):
    root = src.parent
    version = re.search(r"version: '([^']+)'", (root / "meson.build").read_text())[1]
    for name, pattern in [("CHANGELOG.md", r"^## \[(\d[^]]*)\]"), ("debian/changelog", r"^ascope \(([^)]*)\)")]:
        newest = re.search(pattern, (root / name).read_text(), re.M)[1]
        if newest != version:
            yield f"{root / name}: its newest version is {newest}; meson.build says {version}"


def main():
    src = pathlib.Path(sys.argv[1])
    problems = [*unlisted_layouts(src), *notes_to_oneself(src), *words_to_avoid(src.parent), *variables_without_manual(src),
                *forks_without_an_alarm(src.parent / "tests"), *cells_by_number(src), *json_behind_load(src),
                *texts_of_no_memory(src), *binary_searches(src), *doubled_tags(src), *suffixes_of_their_own(src)]
    problems += [*without_licence(src), *versions_that_differ(src), *names_of_nothing(src.parent), *prose_that_is_not_wrapped(src.parent), *wide_lines(src)]
    print("\n".join(problems) or "the sources keep their rules")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
