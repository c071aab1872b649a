#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""README and docs/: what a page shows is what comes out today, and what it names exists.

usage: test_pages.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

from cli_case import ASCOPE, SOURCE, Case

PAGES = ["README.md", "README.zh-CN.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md",
         *sorted(os.path.relpath(f, SOURCE) for f in glob.glob(os.path.join(SOURCE, "docs/*.md")))]


def page(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as f:
        return f.read()


def blocks(text):
    """The code of a page: indented by four, behind a blank line, or between fences."""
    for block in re.findall(r"^```\w*\n((?:(?!```).*\n)*)```$|\n\n((?:    .*\n|\n(?=\n*    ))+)", text, re.M):
        yield re.sub(r"^    ", "", block[1], flags=re.M) or block[0]


def anchors(text):
    """As GitHub makes them of headings; those of blocks of code are left out."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", h).lower()).replace(" ", "-")
            for h in re.findall(r"^#+ (.*)$", text, re.M)}


class Pages(Case):
    def test_sessions_print_what_the_page_shows(self):
        with_sessions = [name for name in PAGES if re.search(r"^(    )?\$ ", page(name), re.M)]
        self.assertGreaterEqual(len(with_sessions), 6)
        copies = [os.path.join(self.dir, name.replace("/", "-")) for name in with_sessions]
        for name, copy in zip(with_sessions, copies):
            shutil.copyfile(os.path.join(SOURCE, name), copy)
        subprocess.run([sys.executable, os.path.join(SOURCE, "scripts/sessions.py"), ASCOPE, *copies], check=True)
        for name, copy in zip(with_sessions, copies):
            with open(copy, encoding="utf-8") as made:
                self.assertEqual(page(name), made.read(), name + " is out of date: make docs")

    def test_both_languages_show_the_same_code(self):
        def code(name):  # comments of C are translated
            return [re.sub(r"(?m)^  [\d.]+ s: .*$| */\*.*?\*/| *//.*| *#(?!include).*", "", b) for b in blocks(page(name))]
        def words(name):  # `...` in the text: commands, options, names of files
            return sorted(re.findall(r"`[^`\n]+`", page(name)))
        self.assertEqual(code("README.md"), code("README.zh-CN.md"))
        self.assertEqual(words("README.md"), words("README.zh-CN.md"))

    def test_links_lead_somewhere(self):
        for name in PAGES:
            for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", page(name)):
                path = os.path.normpath(os.path.join(os.path.dirname(name), target)) if target else name
                self.assertTrue(os.path.exists(os.path.join(SOURCE, path)), f"{name}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors(page(path)), f"{name}: {target}#{anchor}")

    def test_commands_and_their_options_exist(self):
        helps = {}
        for name in PAGES:
            for line in re.findall(r"`[^`\n]+`", page(name)) + [l for b in blocks(page(name)) for l in b.splitlines()]:
                for command, rest in re.findall(r"(?<!-m )(?<!-s )(?<![/\w-])ascope ([a-z][a-z-]*)\b([^`#|&;]*)", line):
                    if command not in helps:
                        r = self.ascope("help", command)
                        helps[command] = r.stdout if r.returncode == 0 else None
                    self.assertIsNotNone(helps[command], f"{name}: ascope {command}: {line}")
                    for option in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", re.sub(r"\"[^\"]*\"|(?:^| )-- .*", "", rest)):
                        self.assertRegex(helps[command], re.escape(option) + r"\b", f"{name}: {line}")


if __name__ == "__main__":
    unittest.main(argv=["test_pages.py"] + sys.argv[3:])
