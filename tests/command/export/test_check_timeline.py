#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checker of timelines, checked: each row is one behaviour and the rules that it breaks."""
import json
import sys
import unittest

from check_timeline import Timeline, double_ns, exact_ns

NAMES = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "p"}}]


def X(ts, dur, tid=1, **more):
    return {"ph": "X", "name": "x", "pid": 1, "tid": tid, "ts": ts, "dur": dur, **more}


def flow(ph, ts, tid=1, id="7", **more):
    return {"ph": ph, "name": "a7", "cat": "a", "id": id, "pid": 1, "tid": tid, "ts": ts, **more}


def counter(value):
    return {"ph": "C", "name": "c", "pid": 1, "ts": 0, "args": {"v": value}}


def thread(tid, name="t"):
    return {"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": name}}


ROWS = [
    ("nothing but names", [], {}),
    ("slices side by side", [X(0, 1), X(1, 1)], {}),
    ("a slice in a slice", [X(0, 10), X(2, 3)], {}),
    ("both begin together, in any order", [X(0, 1), X(0, 10)], {}),
    ("both end together", [X(0, 10), X(5, 5)], {}),
    ("twins", [X(0, 10), X(0, 10)], {}),
    ("a slice of no length at another's end", [X(0, 10), X(10, 0)], {}),
    ("out of order in the file", [X(5, 1), X(0, 2)], {}),
    ("one ends after the other", [X(0, 10), X(5, 6)], {"nest": 1}),
    ("by one nanosecond", [X("0.000", 10), X("5.000", 5.001)], {"nest": 1}),
    ("on two tracks it may", [X(0, 10, 1), X(5, 6, 2)], {}),
    ("the third is measured by what is left", [X(0, 10), X(5, 6), X(6, 2)], {"nest": 1}),
    ("a negative duration", [X(0, -1)], {"number": 1}),
    ("before time began", [X(-1, 1)], {"number": 1}),
    ("no duration", [{"ph": "X", "name": "x", "pid": 1, "tid": 1, "ts": 0}], {"member": 1}),
    ("a time that is not a number", [X("soon", 1)], {"member": 1}),
    ("a thread of 33 bits", [X(0, 1, 2 ** 32)], {"number": 1}),
    ("a thread that is a word", [X(0, 1, "t")], {"member": 1}),
    ("an unknown phase", [{"ph": "Q", "name": "x", "pid": 1, "ts": 0}], {"phase": 1}),
    ("a flow", [X(0, 1), X(5, 1, 2), flow("s", 0), flow("f", 5, 2, bp="e")], {}),
    ("one flow, two ends", [X(0, 1), X(5, 1, 2), flow("s", 0), flow("f", 5, 2), flow("f", 5.5, 2)], {}),
    ("a flow from nowhere", [X(5, 1, 2), flow("s", 0), flow("f", 5, 2)], {"no-slice": 1}),
    ("a flow from a slice that is over", [X(0, 1), X(5, 1, 2), flow("s", 2), flow("f", 5, 2)], {"no-slice": 1}),
    ("a flow without a start", [X(5, 1), flow("f", 5)], {"no-start": 1}),
    ("a flow without an end", [X(0, 1), flow("s", 0)], {"no-end": 1}),
    ("a flow back in time", [X(0, 9), X(5, 1, 2), flow("s", 6), flow("f", 5, 2)], {"no-start": 1}),
    ("a flow that starts twice", [X(0, 9), flow("s", 1), flow("s", 2), flow("f", 5)], {"same-start": 1}),
    ("a counter", [counter(1), counter(1.5)], {}),
    ("a counter of words", [counter("N/A"), counter(None), counter(True)], {"counter": 3}),
    ("a process without a name", [{"ph": "C", "name": "c", "pid": 2, "ts": 0, "args": {}}], {"process-name": 1}),
    ("a process with two names", [dict(NAMES[0], args={"name": "q"})], {"process-name": 1}),
    ("a thread without a name beside one with", [thread(1), X(0, 1, 1), X(0, 1, 2)], {"thread-name": 1}),
    ("a counter's thread needs none", [thread(1), X(0, 1, 1), dict(counter(1), tid=9)], {}),
]


class Rules(unittest.TestCase):
    def test_each_rule(self):
        for what, events, broken in ROWS:
            with self.subTest(what):
                self.assertEqual(dict(Timeline().check(json.dumps(NAMES + events)).broken), broken)

    def test_what_is_no_timeline(self):
        for what, text in [("nothing", ""), ("cut short", '[{"ph":"X"'), ("a number", "3"),
                           ("an array of numbers", "[1]"), ("an object without events", "{}"),
                           ("not a number", '[{"a":NaN}]')]:
            with self.subTest(what):
                self.assertIn("json", Timeline().check(text).broken)
        self.assertEqual(dict(Timeline().check(json.dumps({"traceEvents": NAMES})).broken), {})

    def test_times_are_exact_unless_a_double_is_asked_for(self):
        for text, exact, double in [("0.001", 1, 1), ("12", 12000, 12000), ("1.5", 1500, 1500), ("1e-3", 1, 1),
                                    ("0.0005", 1, 1), ("0.0004", 0, 0), ("-0.001", -1, -1),
                                    ("1719973045941395.320", 1719973045941395320, 1719973045941395200),
                                    ("86400000000.001", 86400000000001, 86400000000001)]:
            with self.subTest(text):
                self.assertEqual((exact_ns(text), double_ns(text)), (exact, double))

    def test_a_double_breaks_what_was_whole(self):
        side_by_side = json.dumps(NAMES + [X("1719973045941395.420", 0.3), X("1719973045941395.720", 0.3)])
        self.assertEqual(dict(Timeline().check(side_by_side).broken), {})
        self.assertEqual(dict(Timeline(double=True).check(side_by_side).broken), {"rounded": 2, "nest": 1})


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=1))
