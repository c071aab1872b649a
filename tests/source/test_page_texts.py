#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages of the viewer speak two languages: every text that they ask for is there, in both.

usage: test_page_texts.py SOURCE_ROOT [unittest options]
"""
import glob
import itertools
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
CHECKS = found(r'^    (?:RANK|JOB)\((\w+), "', "src/answers/checks/advise_checks.h")
FACTS = found(r'\b(?:add_fact|add_count|fact_add)\((?:f->)?in, "([^"]+)"', "src/view/**/*.c", "src/**/view_*.c")

# Of these verdicts the pages translate the sentence itself.
JUDGED_KINDS = set(re.findall(r'"(\w+)"', re.search(r"^const JUDGED = \[(.*?)\]", text_of("src/view/pages/job.js"), re.M).group(1)))

# Keys that are completed at run time, by their begin: what completes them.
COMPLETED = {
    "check_": CHECKS, "change_": CHECKS, "fact_": FACTS, "verdict_": found(r'\[VERDICT_\w+\] = "(\w+)"', "src/cluster/verdicts/verdicts.c") - JUDGED_KINDS,
    "table_": found(r'^    \{ "([\w ]+)", "', "src/view/server/view_sql.c"), "difference_": set(re.findall(r'"(\w+)"', text_of("src/report/compare_report.c").partition("difference_key[")[2].partition(";")[0])),
    "shows_": set(re.findall(r'"(\w+)"', text_of("src/view/answers/view_api.c").partition("*shown_of(")[2].partition("\n}")[0])),
    "roof_": found(r'"(device|published|observed)"', "src/view/inputs/view_roofline.c"),
    "scope_": found(r"scope == '\w' \? \"(\w+)\"", "src/view/answers/answer_slices.c"), "minimap_": {"device", "host"},
    "path_": found(r'\[PATH_\w+\] = "(\w+)"', "src/cluster/verdicts/verdicts.c"),
    "host_": set(re.findall(r'"(\w+)"', re.search(r"^export const PARTS = \[(.*?)\]", text_of("src/view/pages/strip.js"), re.M).group(1))),
    "column_": None,  # test_view.py asks for the columns of every table
}


# Sentences of the judge: forms of run_judge.c, as they are printed.
JUDGED = [
    "step 14 is slow, once: 219.072 ms longer than the usual 7.616 ms (64.1 % of the run), most of it time in which the device has nothing to do",
    "step 17 (decode, 8 requests) is slow, once: 2.000 ms longer than the usual 7.616 ms (5.0 % of the run)",
    "since step 6 (decode) each step takes 2.000 ms longer than the usual 7.616 ms, 8.000 ms in all (5.0 % of the run)",
    "every 6th step from 3 (prefill) on takes 2.000 ms longer than the usual 7.616 ms, 8.000 ms in all (5.0 % of the run)",
    "each step takes a little longer than the one before, from 0 to 39 (decode): 2.000 ms more in the mean, 8.000 ms in all (5.0 % of the run)",
    "steps 3 to 6 are slow: each step 2.000 ms longer than the usual 7.616 ms, 8.000 ms in all (5.0 % of the run), most of it computing",
    "since step 6 each step takes 2.000 ms longer than the usual 7.616 ms, 8.000 ms in all (5.0 % of the run)",
    "every 6th step from 3 on takes 2.000 ms longer than the usual 7.616 ms, 8.000 ms in all (5.0 % of the run), most of it outside operators",
    "each step takes a little longer than the one before, from 0 to 39: 2.000 ms more in the mean, 8.000 ms in all (5.0 % of the run)",
    "start-up: step 0 at the begin of the recording takes 263 us longer in all; left out",
    "start-up: steps 0 to 2 at the begin of the recording take 263 us longer in all; left out",
    "rank 3 is slow in each step: 4.339 ms without communication, rank 7 3.370 ms; the others wait 970 us a step for it (19.0 % of the run), most of it computing",
    "uneven work: in each step another rank takes longest, 1.000 ms longer than the mean of the ranks, for which the others wait (3.0 % of the run)",
    "no step is slow: what differs is within the noise of the run (1.0 % of a step)",
    "no step is slow, and no rank: what differs is within the noise of the run (1.0 % of a step; one that takes 2.000 ms longer would be slow)",
    "step 14 is slow, once: 219.072 ms longer than the usual 7.616 ms (64.1 % of the run), because of rank 3, most of it computing",
    "the stage of rank 4 is slow in each step: 4.339 ms without communication, the stage of rank 0 3.370 ms; the others wait 970 us a step for it (19.0 % of the run)",
    "of fewer than 3 steps none can be called slow",
    "and 3 more; ascope why explains them",
]

# Lines below them: causes_text().
CAUSES = [
    "waiting for data +18.897 ms (100 %): enumerate(DataLoader)#_SingleProcessD..., longer runs +1.000 ms (20 %): MatMul",
    "waits for rank 1 +13.973 ms (98 %), host late +3.000 ms (21 %): nothing was recorded of the host; its thread waits for a processor for 40 % of it",
    "its thread waits for a processor for 40 % of it",
]


def forms():
    """The English forms that have a Chinese text, as patterns of Python."""
    text = text_of("src/view/pages/sentences.js")
    parts = re.findall(r'^const (PER|WIDE|N|T|MOST) = |, (WIDE|N|T) = ', text, re.M)
    assert len(parts) == 5, parts
    words = {name: re.search(r'\b%s = ["`](.*?)["`][,;]' % name, text).group(1).replace("\\\\", "\\") for name in ("PER", "WIDE", "N", "T", "MOST")}
    for name in ("CAUSES", "PARTS", "COPIES"):
        keys = re.findall(r'(?:^|[{,]) *(?:"([^"]+)"|(\w+)): "', re.search(r"^const %s = \{(.*?)\};" % name, text, re.M | re.S).group(1), re.M)
        words['Object.keys(%s).join("|")' % name] = "|".join(quoted or plain for quoted, plain in keys)
    for _, form in re.findall(r'^ {4}\[(["`])(.*?)\1, \(', text, re.M):
        for _ in range(2):
            form = re.sub(r"\$\{(.*?)\}", lambda m: words[m.group(1)], form)
        yield form.replace("\\\\", "\\")


def templates(path, call):
    """The format strings of a call in C."""
    for text in re.findall(r'\b%s((?:\s*"(?:[^"\\]|\\.)*")+)' % call, text_of(path)):
        yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text))


def sentences_of(template):
    """What a format string may print: every text that stands for %s in some check."""
    choices = []
    for part in re.split(r"(%%|%(?:\.\d+)?(?:s|u|zu|llu|f))", template):
        if part == "%s":
            after_word = choices and choices[-1][0][-1:].isalpha()
            choices.append(["s", "", "s take", "s are", ", every 3 steps"] if after_word else ["1.5 ms", "3", "a step", "are", "have", "their", "device", "copies to the host", "name"])
        else:
            choices.append(["%" if part == "%%" else "name" if re.fullmatch(r"%\.\d+s", part) else "3" if part.startswith("%") else part])
    return ("".join(choice) for choice in itertools.product(*choices))


class Texts(unittest.TestCase):
    def test_findings_of_advice_have_chinese_texts(self):
        all_forms = list(forms())
        # A form that begins with a name matches many sentences: only evidence, which does.
        patterns = {call: re.compile("|".join("(?:%s)" % form for form in all_forms if call == "finding_add" or not form.startswith("(.+"))) for call in ("finding_say", "finding_add")}
        unknown, n = [], 0
        for path in sorted(glob.glob(os.path.join(SOURCE, "src/answers/**/*_checks.c"), recursive=True)):
            for name, call in (("finding_say", r"finding_say\(\s*s, out,"), ("finding_add", r'finding_add\(\s*s, out,[^"]*'), ("finding_add", r"snprintf\(\s*text, sizeof text,")):
                for template in templates(path, call):
                    n += 1
                    if not any(patterns[name].fullmatch(sentence) for sentence in sentences_of(template)):
                        unknown.append(template)
        self.assertGreater(n, 50)
        self.assertEqual(unknown, [])

    def test_verdicts_have_chinese_texts(self):
        pattern, of_judge = re.compile("|".join("(?:%s)" % form for form in forms() if not form.startswith("(.+"))), [*templates("src/answers/judge/run_judge.c", r"mem,"), *templates("src/view/inputs/view_steps.c", r"mem,")]
        self.assertGreater(len(of_judge), 10)
        for sentence in CAUSES:
            self.assertTrue(pattern.fullmatch(sentence), sentence)
        for sentence in JUDGED:
            self.assertTrue(pattern.fullmatch(sentence), sentence)
            self.assertTrue(any(re.fullmatch(re.sub(r"%(?:\\\.)?[\w\\.]*?(?:s|u|f|d)|%%", ".*", re.escape(t).replace("\\%", "%")), sentence) for t in of_judge if len(t) > 30), sentence)

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
        advise, translated = text_of("src/answers/checks/advise_checks.h"), text_of("src/view/pages/sentences.js")
        macros = dict(re.findall(r'^#define (\w+)[ \\\n]+"([^"]+)"', advise, re.M))
        needs = set()
        rows = re.sub(r'\s*\\\n\s+', " ", re.sub(r'"\s*\\\n\s+"', "", advise))
        for of, gpu in re.findall(r'(?:RANK|JOB)\(\w+, "[^"]+", [\w| ]+, \w+\(("[^"]+"|\w+)(?:, ("[^"]+"|\w+))?\)', rows):
            needs |= {macros.get(one, one.strip('"')) for one in (of, gpu) if one}
        self.assertGreater(len(needs), 8)
        said = found(r'\badd_fact\((?:f->)?in, [^"]*"[^"]+", "([^"]+)"', "src/view/**/*.c", "src/**/view_*.c") | found(r'\badd_fact\((?:f->)?in, table, "([^"]+)"', "src/view/**/*.c") | \
            found(r'is_lossy \? "([^"]+)" : "', "src/view/inputs/view_collection.c") | found(r'is_lossy \? "[^"]+" : "([^"]+)"', "src/view/inputs/view_collection.c")
        self.assertEqual(len(said), 4)
        self.assertEqual([text for text in sorted(needs | said) if '"%s": "' % text not in translated and '%s: "' % text not in translated], [])

    def test_losses_of_records_have_chinese_texts(self):
        wanted = re.findall(r'\[LOSS_\w+\] = \{ "\w+", "([^"]+)",\s*true', text_of("src/base/text/error.c"))
        self.assertGreater(len(wanted), 8)
        translated = text_of("src/view/pages/sentences.js")
        self.assertEqual([text for text in wanted if '"%s": "' % text not in translated], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
