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


class Texts(unittest.TestCase):
    def test_every_text_that_a_page_asks_for_is_there_in_both_languages(self):
        table = text_of("src/view/pages/text.js").partition("const words = {")[2].partition("\n};")[0]
        entries = re.findall(r'^ {4}(\w+): (.*),$', table, re.M)
        self.assertGreater(len(entries), 200)
        for key, texts in entries:
            if texts != '["", ""]':
                self.assertRegex(texts, r'^\["(?:[^"\\]|\\.)+", "(?:[^"\\]|\\.)+"\]$', key)
        keys = {key for key, _ in entries}
        for path in glob.glob(os.path.join(SOURCE, "src/view/pages/*.js")):
            for key in re.findall(r'\bword\("(\w+)"', text_of(path)):
                if not key.endswith("_"):  # the begin of a name that is completed
                    self.assertIn(key, keys, path)

    def test_losses_of_records_have_chinese_texts(self):
        wanted = re.findall(r'\[LOSS_\w+\] = \{ "\w+", "([^"]+)",\s*true', text_of("src/base/error.c"))
        self.assertGreater(len(wanted), 8)
        translated = text_of("src/view/pages/sentences.js")
        self.assertEqual([text for text in wanted if '"%s": "' % text not in translated], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
