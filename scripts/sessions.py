#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sessions of pages anew: below each line "$ COMMAND" of a block of code is what the command prints today.

usage: sessions.py ASCOPE PAGE...

Each block has an empty folder of its own. <!-- not run: why --> above a block: its output depends on more than the command.
"""
import os
import re
import subprocess
import sys
import tempfile

# A block that is indented by four, behind a blank line, or a fenced one; its first line is a command.
BLOCK = re.compile(r"(?<=\n)(?<!-->\n)(?:(?<=\n\n)    \$ .*\n(?:    .*\n|\n(?=\n*    ))*|```console\n\$ .*\n(?:(?!```).*\n)*)")


# What depends on the machine (how long it took) and on the version of SQLite (sizes of databases): the page keeps what it has.
VARIES = re.compile(r"^ *[\d.]+ s: .*$|(?<=rows  ) *[\d.]+ [KM]iB", re.M)


def output(command, home):
    r = subprocess.run(command, shell=True, cwd=home, capture_output=True, text=True, timeout=120,
                       env={**os.environ, "PATH": os.path.join(home, ".bin") + ":" + os.environ["PATH"]})
    if r.returncode != 0 or r.stderr:
        sys.exit(f"{command}: exit code {r.returncode}: {r.stderr}")
    return r.stdout


def anew(block, ascope):
    indent = "    " if block.startswith(" ") else ""
    with tempfile.TemporaryDirectory() as home:
        os.mkdir(os.path.join(home, ".bin"))
        os.symlink(ascope, os.path.join(home, ".bin/ascope"))
        lines = []
        for line in block.splitlines():
            if line.startswith("```console"):
                lines.append(line)
            elif line.startswith(indent + "$ "):
                lines += [line, *(indent + l if l else "" for l in output(line.split("$ ", 1)[1], home).splitlines())]
    made = "\n".join(lines).rstrip("\n") + "\n"
    return block if VARIES.sub("", made) == VARIES.sub("", block) else made


def main():
    ascope, *pages = sys.argv[1:]
    for page in pages:
        with open(page, encoding="utf-8") as f:
            text = f.read()
        text = BLOCK.sub(lambda block: anew(block[0], os.path.abspath(ascope)), text)
        with open(page, "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()
