#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces in Chrome's form: what ascope finds in a file is what Python's json finds in it, row by row and to the nanosecond.

    test_chrome_files.py DUMP_CHROME
"""
import decimal
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

DUMP = sys.argv.pop(1)
DATA = os.path.join(os.environ["ASCOPE_SAMPLE"], "kineto")
decimal.getcontext().prec = 60


def dump(path, *options):
    done = subprocess.run([DUMP, path, *options], capture_output=True, check=False)
    return done.returncode, [line.split("\t") for line in done.stdout.decode("utf-8").split("\n") if line], done.stderr.decode()


def shown(text):
    """As the program prints a text: invalid bytes are U+FFFD."""
    for c in "\\\t\n\r\0":
        text = text.replace(c, "\\x%02x" % ord(c))
    return text


def ns_of(value):
    if isinstance(value, str):
        value = decimal.Decimal(value)
    return int((decimal.Decimal(value) * 1000).quantize(0, decimal.ROUND_HALF_UP))


def as_text(value):
    return shown(value if isinstance(value, str) else str(value))


def wanted(text):
    """The rows of a valid file, by Python's reader."""
    file = json.loads(text, parse_float=decimal.Decimal, parse_constant=lambda name: name)
    events = file if isinstance(file, list) else file["traceEvents"]
    base = 0 if isinstance(file, list) else file.get("baseTimeNanoseconds", 0)
    slices, rows, order = [], [], {}
    for number, e in enumerate(events):
        place = [as_text(e.get("pid", "")), as_text(e.get("tid", ""))]
        named = [as_text(e.get("name", "")), as_text(e.get("cat", ""))]
        args = e.get("args") or None
        if e["ph"] == "M":
            if e["name"] in ("thread_name", "thread_sort_index"):
                order.setdefault(tuple(place), len(order))
            continue
        order.setdefault(tuple(place), len(order))
        begin = ns_of(e["ts"]) + base
        if e["ph"] == "X":
            dur = max(ns_of(e.get("dur", 0)), 0)
            slices.append(((order[tuple(place)], begin, -dur, number), ["slice", str(begin), str(dur), *named, *place, args]))
        elif e["ph"] == "i":
            rows.append(["instant", str(begin), e.get("s", "-"), *named, *place, args])
        elif e["ph"] in "stf":
            rows.append(["flow", str(begin), e["ph"] + ("e" if e.get("bp") == "e" else ""), *named, *place, as_text(e["id"])])
        elif e["ph"] == "C":
            rows += [["counter", str(begin), "%.17g" % float(v), named[0], as_text(k), *place] for k, v in args.items()]
    slices.sort(key=lambda s: s[0])
    return [s[1] for s in slices], rows


def found(lines):
    slices, rows = [], []
    for line in lines:
        if line[0] in ("slice", "instant"):
            args = json.loads(line[-1], parse_float=decimal.Decimal, parse_constant=lambda name: name) if line[-1] else None
            (slices if line[0] == "slice" else rows).append([*line[:-1], args or None])
        elif line[0] in ("flow", "counter"):
            rows.append(line)
    return slices, rows


def odd_events(seed, n):
    """Events with what real files have, and worse, as text."""
    rnd = random.Random(seed)
    names = ["aten::mm", "a \\\"quoted\\\" one", "back\\\\slash", "tab\\tnew\\nline", "\\u00e9\\ud83d\\ude00", "é", "", "x" * 3000, "]}{[", "ph"]
    values = ["1", "-5", "0.5", "1e3", "NaN", "Infinity", "-Infinity", "null", "true", "\"a\"", "[]", "[1, [2, {\"x\": []}]]", "{}", "18446744073709551615"]
    blank = ["", " ", "\n  ", "\t"]
    for i in range(n):
        ph = rnd.choice("XXXXXisftCM")
        parts = ['"ph"%s:%s"%s"' % (rnd.choice(blank), rnd.choice(blank), ph), '"ts": %s' % rnd.choice(
            ["%d" % rnd.randrange(10**6), "%d.%03d" % (rnd.randrange(10**13), rnd.randrange(1000)), "\"%d.5\"" % rnd.randrange(10**15), "1.0E2"])]
        parts.append('"name": "%s"' % (rnd.choice(["thread_name", "process_name", "other"]) if ph == "M" else rnd.choice(names)))
        if rnd.random() < .8:
            parts.append('"cat": "%s"' % rnd.choice(["cpu_op", "kernel", "ac2g"]))
        if rnd.random() < .9:
            parts.append('"pid": %s' % rnd.choice(["1", "\"1\"", "\"Spans\"", "0", "-1"]))
        parts.append('"tid": %s' % rnd.choice(["7", "\"7\"", "1073739456", "\"\""]))
        if rnd.random() < .7:
            parts.append('"dur": %s' % rnd.choice(["0", "1", "12.345", "-3", "99999.9996"]))
        if ph in "stf":
            parts += ['"id": %s' % rnd.choice(["5", "\"5\"", "\"0x1f\"", "18446744073709551615"]), '"bp": "e"']
        if ph == "M":
            parts.append('"args": {"name": "n%d"}' % i)
        elif ph == "C":
            parts.append('"args": {"a": %d, "": 0.25}' % i)
        elif rnd.random() < .8:
            parts.append('"args": {%s}' % ", ".join('"k%d": %s' % (k, rnd.choice(values)) for k in range(rnd.randrange(6))))
        if rnd.random() < .1:
            parts.append('"extra": {"ph": "Z", "deep": [[[[1]]]]}')
        rnd.shuffle(parts)
        yield "{%s%s%s}" % (rnd.choice(blank), ("," + rnd.choice(blank)).join(parts), rnd.choice(blank))


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, data):
        path = os.path.join(self.folder.name, name)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return path

    def lost(self, lines):
        return {line[1]: int(line[2]) for line in lines if line[0] == "lost"}

    def by_kind(self, rows):
        return [r for kind in ("instant", "flow", "counter") for r in rows if r[0] == kind]

    def check(self, path, text):
        code, lines, err = dump(path)
        self.assertEqual(code, 0, err)
        want, have = wanted(text), found(lines)
        self.assertEqual(have[0], want[0])
        self.assertEqual(have[1], self.by_kind(want[1]))
        self.assertEqual(self.lost(lines), {})
        return lines

    def test_files_of_pytorch(self):
        for name in ("hand-2x.json", "real-2.11-cuda-plain.json"):
            path = os.path.join(DATA, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            lines = self.check(path, text)
            packed = self.path(name + ".gz", gzip.compress(text.encode()))
            self.assertEqual(self.check(packed, text), lines)

    def test_made_up_events(self):
        for seed in range(20):
            text = ",\n".join(odd_events(seed, 200))
            text = "[%s]" % text if seed % 2 else '{"schemaVersion": 1, "traceEvents": [%s], "baseTimeNanoseconds": %d}' % (text, seed * 10**17)
            self.check(self.path("odd.json", text), text)

    def test_names_that_are_not_escaped(self):
        """PyTorch without Kineto writes names as they are; Python refuses such a file."""
        path = os.path.join(DATA, "real-1.13-nokineto-plain.json")
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.assertRaises(ValueError, json.loads, text)
        code, lines, _ = dump(path)
        self.assertEqual(code, 0)
        slices = found(lines)[0]
        self.assertEqual(len(slices), 250)
        self.assertEqual(self.lost(lines), {"repaired": 1})

    def test_unescaped_names_of_other_kinds(self):
        event = '{"ph": "X", "cat": "cpu_op", "name": "%s", "pid": 1, "tid": 2, "ts": 5.001, "dur": 2, "args": {"k": 1}}'
        names = ['a"b', '"', '""', 'C:\\dir\\', 'f("x")', 'tab\there', "{'a': \"b\"}", '<listcomp>"', 'lambda: ["a"]']
        text = "[%s]" % ", ".join(event % n for n in names)
        code, lines, _ = dump(self.path("bad.json", text))
        self.assertEqual(code, 0)
        self.assertEqual([s[3] for s in found(lines)[0]], [shown(n) for n in names])

    def test_bytes_that_are_no_text(self):
        data = b'[{"ph": "X", "name": "bad \xff utf8", "ts": 1, "pid": 1, "tid": 1}]'
        _, lines, _ = dump(self.path("bytes.json", data))
        self.assertEqual(found(lines)[0][0][3], "bad \ufffd utf8")

    def test_cut_gzip(self):
        with open(os.path.join(DATA, "hand-2x.json"), "rb") as f:
            packed = gzip.compress(f.read())
        for cut in (len(packed) // 2, len(packed) - 1):
            code, lines, err = dump(self.path("cut.json.gz", packed[:cut]))
            self.assertEqual(code, 0, err)
            self.assertIn("cut_short", self.lost(lines))
        two = gzip.compress(b'[{"ph": "X", "ts": 1},') + gzip.compress(b'{"ph": "X", "ts": 2}]')
        _, lines, _ = dump(self.path("two.json.gz", two))
        self.assertEqual(len(found(lines)[0]), 2)
        broken = bytearray(packed)
        broken[len(packed) // 2] ^= 0xFF
        code, lines, err = dump(self.path("broken.json.gz", bytes(broken)))
        self.assertTrue(code == 1 and "no trace events" in err or self.lost(lines), err)

    def test_what_is_no_trace(self):
        for name, data, text in (("empty.json", b"", "no trace events"), ("other.json", b'{"a": 1}', "no trace events"), ("x.json.gz", gzip.compress(b"5"), "no trace events")):
            code, _, err = dump(self.path(name, data))
            self.assertEqual(code, 1)
            self.assertIn(text, err)
        self.assertIn("No such file", dump(os.path.join(self.folder.name, "none.json"))[2])
        self.assertEqual(dump(self.folder.name)[0], 1)


if __name__ == "__main__":
    unittest.main()
