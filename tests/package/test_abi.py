#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The binary interface of libascope is the one of tests/package/abi/libascope.abi: exported symbols with their versions and declarations, layouts
of the public structures, values of enumerations. docs/abi.md has the rules.

    test_abi.py LIBRARY SOURCE BUILD [--write]      --write: the list anew (make abi)
"""
import difflib
import os
import re
import shutil
import subprocess
import sys

LIBRARY, SOURCE, BUILD = (os.path.abspath(p) for p in sys.argv[1:4])
LIST = os.path.join(SOURCE, "tests/package/abi/libascope.abi")
FOLDER = os.path.join(SOURCE, "include/ascope")
NOT_LINKED = {"live.h"}  # memory of the Python package, which the command reads by its version
HEADERS = sorted(h for h in os.listdir(FOLDER) if h.endswith(".h") and h not in NOT_LINKED)
UNSTABLE, VENDOR = {"sim.h"}, {"injection.h", "mstx.h", "nvtx.h"}
# Structures that have no size because they never change: docs/abi.md.
NEVER_CHANGE = {"ascope_error", "ascope_text", "ascope_option_name", "ascope_choice", "ascope_dynamic_metadata",
                "ascope_label", "ascope_memory_kind"}
SIZE_LEAST, SIZE_MOST, SIZE_UNIT = 16, 4096, 8


def text_of(header):
    with open(os.path.join(FOLDER, header), encoding="utf-8") as f:
        return f.read()


def plain(text):
    """Without comments and the preprocessor's lines."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)


def words(text):
    return " ".join(text.split())


def fields_of(body):
    """[(name, type)] of a structure, in order."""
    fields = []
    for statement in re.sub(r"__extension__ union \{|\}", "", body).split(";"):
        statement = words(statement)
        function = re.match(r".*\(\*(\w+)\)\(.*\)$", statement)
        if function:
            fields.append((function.group(1), statement))
        elif statement:
            first, *others = statement.split(",")
            kind = re.match(r"(.*?)[\s*]*\w+\s*(\[\w+\])?$", first.strip()).group(1)
            for declarator in (first[len(kind):], *others):
                stars, name, array = re.match(r"\s*([\s*]*)(\w+)\s*((?:\[\w+\])*)$", declarator).groups()
                fields.append((name, kind + stars.replace(" ", "") + array))
    return fields


def public():
    """What the headers declare: {name: (header, fields)}, {enum: [names]}, {symbol: declaration}."""
    structures, enums, symbols = {}, {}, {}
    for header in HEADERS:
        text = plain(text_of(header))
        for name, body in re.findall(r"\bstruct (\w+) \{(.*?)\n\}", text, re.S):
            structures[name] = (header, fields_of(body))
        for name, body in re.findall(r"\benum\s*(\w*)\s*\{(.*?)\}", text, re.S):
            names = [re.match(r"\w+", value.strip()).group() for value in body.split(",") if value.strip()]
            enums[name or names[0]] = names
        for declaration in re.findall(r"^ASCOPE_API\b([^;]*);", text, re.M):
            symbols[re.search(r"(\w+)\s*(\(|$)", words(declaration)).group(1)] = words(declaration)
    return structures, enums, symbols


def numbers(compiler, structures, enums):
    """{expression: value} as the compiler sees it. It only makes assembly text, so that one for another machine will do."""
    wanted = ["sizeof(struct %s)" % s for s in structures] + [n for names in enums.values() for n in names]
    for s, (_, fields) in structures.items():
        for name, _ in fields:
            wanted += ["offsetof(struct %s, %s)" % (s, name), "sizeof(((struct %s *)0)->%s)" % (s, name)]
    program = "".join("#include <ascope/%s>\n" % h for h in HEADERS) + "void show(void);\nvoid show(void)\n{\n"
    for i, expression in enumerate(wanted):
        program += '__asm__ volatile("\\n.ascii \\"->%d %%c0\\"" : : "i"((long)(%s)));\n' % (i, expression)
    done = subprocess.run([*compiler, "-S", "-ffreestanding", "-x", "c", "-I" + SOURCE + "/include", "-I" + BUILD + "/include",
                           "-o", "-", "-"], input=program + "}\n", text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise SystemExit("%s: %s" % (" ".join(compiler), done.stderr))
    found = {wanted[int(i)]: int(n) for i, n in re.findall(r'"->(\d+) (-?\d+)', done.stdout)}
    assert len(found) == len(set(wanted)), "the compiler left out some"
    return found


def exported():
    """{symbol: version}"""
    done = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", LIBRARY], text=True, stdout=subprocess.PIPE, check=True)
    rows = [line.split()[1:] for line in done.stdout.splitlines()]
    return {name.split("@@")[0]: name.split("@@")[-1] for kind, name in rows if kind != "A"}


def describe(compiler, structures, enums, symbols, versions):
    value = numbers(compiler, structures, enums)
    lines = ["# Written by `make abi`; docs/abi.md says what may change.", "", "# version symbol: declaration"]
    for symbol in sorted(set(symbols) | set(versions), key=lambda s: (versions.get(s, ""), s)):
        version = re.sub(r"_\d+\.\d+_UNSTABLE", "_UNSTABLE", versions.get(symbol, "(not exported)"))
        lines.append("%s %s: %s" % (version, symbol, symbols.get(symbol, "(in no header)")))
    lines += ["", "# structure and its size: fields by offset and size"]
    for s, (header, fields) in sorted(structures.items(), key=lambda item: (item[1][0], item[0])):
        lines.append("%s: struct %s %d" % (header, s, value["sizeof(struct %s)" % s]))
        for name, kind in fields:
            at, size = value["offsetof(struct %s, %s)" % (s, name)], value["sizeof(((struct %s *)0)->%s)" % (s, name)]
            lines.append("    %4d %4d %s: %s" % (at, size, name, kind))
    lines += ["", "# types of functions and handles"]
    lines += sorted(words(t) for h in HEADERS for t in re.findall(r"^typedef ([^;{]*);", plain(text_of(h)), re.M))
    lines += ["", "# enumerations"]
    for name in sorted(enums):
        lines.append("enum %s: %s" % (name, ", ".join("%s = %d" % (n, value[n]) for n in enums[name])))
    return lines


def rules_of_structures(structures, value):
    for s, (header, fields) in structures.items():
        size = value["sizeof(struct %s)" % s]
        last = "struct %s, %s" % (s, fields[-1][0])
        end = value["offsetof(%s)" % last] + value["sizeof(((%s)" % last.replace(", ", " *)0)->")]
        if header in UNSTABLE | VENDOR or s in NEVER_CHANGE:
            continue
        if fields[0] != ("size", "uint32_t"):
            yield "%s: struct %s does not begin with `uint32_t size`" % (header, s)
        if end != size:
            yield "%s: struct %s has %d bytes of padding at its end, where a new field would not change its size" % (header, s, size - end)
        if size % SIZE_UNIT or not SIZE_LEAST <= size <= SIZE_MOST:
            yield "%s: struct %s has %d bytes; src/collect/options/sized.c would take that for a size that is not set" % (header, s, size)


def rules_of_comments():
    """A comment and the functions under it, without a blank line between: it names their errors and their threads."""
    for header in HEADERS:
        for part in re.split(r"\n\s*\n", text_of(header)):
            function = re.search(r"^(?:ASCOPE_API|static inline) [^;{=]*?(\w+)\(", part, re.M)
            if function and not ("Errors" in part and "Threads:" in part):
                yield "%s: the comment of %s() does not name its errors and threads" % (header, function.group(1))


def rules_of_versions(versions, symbols):
    with open(BUILD + "/include/ascope/version.h", encoding="utf-8") as f:
        now = ".".join(re.findall(r"define ASCOPE_VERSION_(?:MAJOR|MINOR) (\d+)", f.read()))
    unstable = {s for header in UNSTABLE for s in re.findall(r"\b(\w+)\(", plain(text_of(header)))}
    for symbol, version in versions.items():
        if (version == "LIBASCOPE_%s_UNSTABLE" % now) != (symbol in unstable):
            yield "%s@%s: symbols of %s, and no others, are of LIBASCOPE_%s_UNSTABLE" % (symbol, version, ", ".join(UNSTABLE), now)
    for symbol in sorted(set(versions) ^ set(symbols)):
        yield "%s: %s" % (symbol, "in no header" if symbol in versions else "not exported; add it to src/collect/libascope.map.in")


def main():
    structures, enums, symbols = public()
    versions = exported()
    own = [os.environ.get("CC", "cc").split()[-1]]
    now = describe(own, structures, enums, symbols, versions)
    if "--write" in sys.argv:
        with open(LIST, "w", encoding="utf-8") as f:
            f.write("\n".join(now) + "\n")
        print("written: " + os.path.relpath(LIST))
        return 0
    trouble = [*rules_of_structures(structures, numbers(own, structures, enums)), *rules_of_comments(),
               *rules_of_versions(versions, symbols)]
    with open(LIST, encoding="utf-8") as f:
        then = f.read().splitlines()
    others = [["clang", "--target=" + t] for t in ("x86_64-linux-gnu", "aarch64-linux-gnu") if shutil.which("clang")]
    for compiler in [own, *others]:
        difference = list(difflib.unified_diff(then, describe(compiler, structures, enums, symbols, versions), "tests/package/abi/libascope.abi",
                                               " ".join(compiler), lineterm="", n=1))
        if difference:
            trouble += [*difference, "the binary interface has changed. On purpose: run `make abi`, and commit the list with the change; "
                        "docs/abi.md says what breaks programs"]
            break
    print("\n".join(trouble) or "%d symbols, %d structures and %d enumerations are as listed; compilers: %s" %
          (len(versions), len(structures), len(enums), ", ".join(" ".join(c) for c in [own, *others])))
    return bool(trouble)


if __name__ == "__main__":
    sys.exit(main())
