#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of the viewer speak two languages: every text that they ask for is there, in both.

usage: test_page_texts.py SOURCE_ROOT [unittest options]
"""
import glob
import os
import re
import sys
import unittest

SOURCE = sys.argv[1]


def text_of(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as f:
        return f.read()


def found(pattern, *paths):
    """What stands in files of a pattern, as in a shell."""
    return {what for pattern_of_path in paths for path in glob.glob(os.path.join(SOURCE, pattern_of_path), recursive=True) for what in re.findall(pattern, text_of(path), re.M)}


TABLE = text_of("src/view/pages/text.js").partition("const words = {")[2].partition("\n};")[0]
CHECKS = found(r'^    \{ "(\w+)", "', "src/answers/advise.c")
FACTS = found(r'\b(?:add_fact|add_count|fact_add)\((?:f->)?in, "([^"]+)"', "src/view/**/*.c", "src/**/view_*.c")

# Keys that are completed at run time, by their begin: what completes them.
COMPLETED = {
    "check_": CHECKS, "change_": CHECKS, "fact_": FACTS, "verdict_": found(r'\[VERDICT_\w+\] = "(\w+)"', "src/cluster/verdicts.c"),
    "table_": found(r'^    \{ "([\w ]+)", "', "src/view/view_sql.c"), "difference_": set(re.findall(r'"(\w+)"', text_of("src/cli/compare_report.c").partition("difference_key[")[2].partition(";")[0])),
    "shows_": set(re.findall(r'"(\w+)"', text_of("src/view/view_api.c").partition("*shown_of(")[2].partition("\n}")[0])),
    "roof_": found(r'"(device|published|observed)"', "src/cli/view_roofline.c"),
    "scope_": found(r"scope == '\w' \? \"(\w+)\"", "src/view/answer_slices.c"), "minimap_": {"device", "host"},
    "path_": found(r'\[PATH_\w+\] = "(\w+)"', "src/cluster/verdicts.c"),
    "column_": None,  # test_view.py asks for the columns of every table
}


class Texts(unittest.TestCase):
    def test_every_text_that_a_page_asks_for_is_there_in_both_languages(self):
        entries = re.findall(r'^ {4}"?([^":]+)"?: (.*),$', TABLE, re.M)
        self.assertGreater(len(entries), 200)
        for key, texts in entries:
            if texts != '["", ""]':
                self.assertRegex(texts, r'^\["(?:[^"\\]|\\.)+", "(?:[^"\\]|\\.)+"\]$', key)
        keys = {key for key, _ in entries}
        for path in glob.glob(os.path.join(SOURCE, "src/view/pages/*.js")):
            text = text_of(path)
            asked = set(re.findall(r'\bword\("(\w+)"[,)]', text)) | {k for choice in re.findall(r'\bword\([^"?()]+\?([^?()]+?)[,)]', text) for k in re.findall(r'"(\w+)"', choice)}
            for names in re.findall(r'^const (?:PARTS|MEASURES|PAGES) = \[(.*?)\]', text, re.M):
                asked |= set(re.findall(r'"(\w+)"', names))
            self.assertLessEqual(asked, keys, path)
            begins = set(re.findall(r'\bword\("(\w+_)" \+', text))
            self.assertLessEqual(begins, set(COMPLETED), path)
        used = "".join(map(text_of, glob.glob(os.path.join(SOURCE, "src/view/pages/*.js")) + [os.path.join(SOURCE, "src/view/pages/index.html")])).replace(TABLE, "")
        unused = [key for key in keys if not re.search(r'["\'-]%s["\']|\b%s: ' % (key, key), used) and not key.startswith(tuple(COMPLETED))]
        self.assertEqual(unused, [])

    def test_keys_that_are_completed_have_texts_for_all_that_completes_them(self):
        keys = set(re.findall(r'^ {4}"?([^":]+)"?: \[', TABLE, re.M))
        for begin, names in COMPLETED.items():
            if names is not None:
                self.assertGreater(len(names), 1, begin)
                self.assertEqual({name for name in names if begin + name not in keys}, set(), begin)

    def test_numbers_have_a_word_for_one(self):
        """{n:row:rows}, not "{n} rows": there may be only one."""
        several = re.findall(r'\["[^"]*\{\w+\} (?:\w+ )?(?:slices|rows|steps|ranks|blocks|instants|nodes|segments|events|kernels|operators|runs)\b[^"]*"', TABLE)
        self.assertEqual(several, [])

    def test_what_checks_need_and_facts_say_has_chinese_texts(self):
        advise, translated = text_of("src/answers/advise.c"), text_of("src/view/pages/sentences.js")
        macros = dict(re.findall(r'^#define (\w+) +"([^"]+)"', advise, re.M))
        needs = set()
        for of, gpu in re.findall(r'^    \{ "\w+", "[^"]+", ("[^"]+"|\w+), ("[^"]+"|\w+),', advise, re.M):
            needs |= {macros.get(one, one.strip('"')) for one in (of, gpu) if one != "NULL"}
        self.assertGreater(len(needs), 8)
        said = found(r'\badd_fact\((?:f->)?in, [^"]*"[^"]+", "([^"]+)"', "src/view/**/*.c", "src/**/view_*.c") | found(r'\badd_fact\((?:f->)?in, table, "([^"]+)"', "src/view/**/*.c") | \
            found(r'is_lossy \? "([^"]+)" : "', "src/cli/view_collection.c") | found(r'is_lossy \? "[^"]+" : "([^"]+)"', "src/cli/view_collection.c")
        self.assertEqual(len(said), 4)
        self.assertEqual([text for text in sorted(needs | said) if '"%s": "' % text not in translated and '%s: "' % text not in translated], [])

    def test_losses_of_records_have_chinese_texts(self):
        wanted = re.findall(r'\[LOSS_\w+\] = \{ "\w+", "([^"]+)",\s*true', text_of("src/base/error.c"))
        self.assertGreater(len(wanted), 8)
        translated = text_of("src/view/pages/sentences.js")
        self.assertEqual([text for text in wanted if '"%s": "' % text not in translated], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
