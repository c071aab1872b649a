#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope export-trace OUT.pftrace: every slice, counter value and flow of the JSON is in Perfetto's own format, once, with its arguments.

usage: test_pftrace.py ASCOPE SOURCE_ROOT [unittest options]
"""
import collections
import glob
import json
import os
import struct
import sys
import unittest
import zlib
from decimal import Decimal

from cli_case import SOURCE, Case

# Numbers of fields, as Perfetto's schema has them.
PACKET, COMPRESSED, TIMESTAMP, SEQUENCE, EVENT, INTERNED, FLAGS, TRACK = 1, 50, 8, 10, 11, 12, 13, 60


def fields(data):
    """(number, value) of a message: varints and 64-bit values as integers, the rest as bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, varint()
        elif kind == 1:
            yield tag >> 3, struct.unpack_from("<Q", data, at)[0]
            at += 8
        else:
            assert kind == 2, kind
            n = varint()
            assert at + n <= len(data)
            yield tag >> 3, data[at:at + n]
            at += n


def signed(v):
    return v - 2 ** 64 if v >= 2 ** 63 else v


def packets(data):
    for number, packet in fields(data):
        assert number == PACKET
        inner = list(fields(packet))
        if inner and inner[0][0] == COMPRESSED:
            yield from packets(zlib.decompress(inner[0][1]))
        else:
            yield inner


class Decoded:
    """What a reader of the file sees: tracks, slices (process, thread, begin, end, name, category, args), counters, flows."""

    def __init__(self, data):
        self.interned = collections.defaultdict(dict)
        self.tracks, self.slices, self.counters, self.ends = {}, [], [], collections.defaultdict(list)
        events = []
        for packet in packets(data):
            values = dict(packet)
            for number, text in fields(values.get(INTERNED, b"")):
                entry = dict(fields(text))
                assert entry[1] not in self.interned[number], "a number twice"
                self.interned[number][entry[1]] = entry.get(2, b"").decode()
            if TRACK in values:
                track = dict(fields(values[TRACK]))
                self.tracks[track[1]] = track
            if EVENT in values:
                assert values[SEQUENCE] and values[FLAGS] == 2
                events.append((values[TIMESTAMP], len(events), self.event(values[EVENT])))
        open_ = collections.defaultdict(list)
        for ns, _, event in sorted(events, key=lambda e: e[:2]):
            if event["type"] == 1:
                open_[event["track"]].append((ns, event))
            elif event["type"] == 2:
                begin, event = open_[event["track"]].pop()
                self.slices.append((*self.place(event["track"]), begin, ns, event["name"], event["category"], event["args"]))
                for flow in event["flows"]:
                    self.ends[flow].append(self.slices[-1][2:5])
            elif event["type"] == 4:
                self.counters.append((self.place(event["track"])[1], ns, event["value"]))
        assert not any(open_.values()), "slices that never end"

    def event(self, message):
        event = {"args": {}, "flows": [], "category": ""}
        for number, value in fields(message):
            if number == 9:
                event["type"] = value
            elif number == 11:
                event["track"] = value
            elif number == 10:
                event["name"] = self.interned[2][value]
            elif number == 3:
                event["category"] = self.interned[1][value]
            elif number == 4:
                name, v = self.arg(value)
                event["args"][name] = v
            elif number in (47, 48):
                event["flows"].append(value)
            elif number == 44:
                event["value"] = struct.unpack("<d", struct.pack("<Q", value))[0]
        return event

    def arg(self, message):
        name, value, members, elements = None, "", [], []
        for number, v in fields(message):
            if number == 1:
                name = self.interned[3][v]
            elif number == 11:
                members.append(self.arg(v))
            elif number == 12:
                elements.append(self.arg(v)[1])
            else:
                value = {2: bool, 3: int, 4: signed, 5: lambda x: struct.unpack("<d", struct.pack("<Q", x))[0], 6: bytes.decode,
                         17: self.interned[29].get}[number](v)
        return name, dict(members) if members else elements if elements else value

    def place(self, track):
        t = self.tracks[track]
        if 4 in t:
            thread = dict(fields(t[4]))
            process = next(dict(fields(p[3])) for p in self.tracks.values() if 3 in p and dict(fields(p[3]))[1] == thread[1])
            return process[6].decode(), thread[5].decode()
        if 5 in t and 8 not in t:
            return self.place(t[5])
        return "", t[2].decode()


def plain(v):
    """As both formats can say it: numbers by their value, empty containers and null as their text."""
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()} if v else "{}"
    if isinstance(v, list):
        return [plain(x) for x in v] if v else "[]"
    if v is None:
        return "null"
    return v if isinstance(v, (bool, str)) else float(v)


class Pftrace(Case):
    def both(self, folder):
        self.ascope("export-trace", folder, "a.json", "--quiet", code=0)
        self.ascope("export-trace", folder, "a.pftrace", "--quiet", code=0)
        with open(os.path.join(self.dir, "a.json"), encoding="utf-8") as f:
            events = json.load(f, parse_float=Decimal)
        with open(os.path.join(self.dir, "a.pftrace"), "rb") as f:
            data = f.read()
        return events if isinstance(events, list) else events["traceEvents"], data

    def compare(self, folder):
        events, data = self.both(folder)
        decoded = Decoded(data)
        names = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
        threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}

        def ns(us):
            return int(Decimal(us) * 1000)

        wanted = sorted((names[e["pid"]], threads.get((e["pid"], e["tid"]), str(e["tid"])), ns(e["ts"]), ns(e["ts"]) + round(Decimal(e["dur"]) * 1000),
                         e["name"], e.get("cat", ""), json.dumps(plain(e.get("args", {})) if e.get("args") else {}, sort_keys=True))
                        for e in events if e["ph"] == "X")
        self.assertGreater(len(wanted), 100)
        found = sorted((*s[:6], json.dumps({k: plain(v) for k, v in s[6].items()}, sort_keys=True)) for s in decoded.slices)
        self.assertEqual(len(found), len(wanted))
        for a, b in zip(found, wanted):
            self.assertEqual(a, b)
        values = sum(len(e["args"]) for e in events if e["ph"] == "C")
        self.assertEqual(len(decoded.counters), values)
        self.assertTrue(all(len(ends) == 2 for ends in decoded.ends.values()))
        self.assertEqual(len(decoded.ends), sum(e["ph"] in "tf" for e in events))
        return len(data)

    def test_a_collection(self):
        self.ascope("sim", "--framework", "pt", "--kernels", "200", "--steps", "2", "--out", "job", code=0)
        folder, = glob.glob(os.path.join(self.dir, "job", "*"))
        self.compare(folder)
        self.assertLess(os.path.getsize(os.path.join(self.dir, "a.pftrace")) * 8, os.path.getsize(os.path.join(self.dir, "a.json")))

    def test_a_prof_directory(self):
        self.compare(self.sample())

    def info(self, name, code=0):
        return json.loads(self.ascope("info", name, "--json", code=code).stdout)["collections"][0]

    def test_what_was_written_is_read(self):
        self.ascope("sim", "--framework", "pt", "--kernels", "200", "--steps", "2", "--out", "job", code=0)
        folder, = glob.glob(os.path.join(self.dir, "job", "*"))
        for path in folder, self.sample():
            self.both(path)
            first, second = self.info("a.json"), self.info("a.pftrace")
            for member in "begin_ns", "end_ns", "steps", "slices", "counters", "instants", "device", "losses":
                self.assertEqual(first[member], second[member], member)
            self.assertGreater(second["flows"], 0)

    def test_damage(self):
        _, data = self.both(self.sample())
        step = len(data) // 40
        cuts = [data[:n] for n in [*range(0, 40), *range(40, len(data), step)]]
        flips = [data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1:] for at in [*range(0, 60), *range(60, len(data), step)]]
        for broken in cuts + flips:
            with open(os.path.join(self.dir, "b.pftrace"), "wb") as f:
                f.write(broken)
            r = self.ascope("info", "b.pftrace")
            self.assertIn(r.returncode, (0, 1, 3), r.stderr)
            if r.returncode == 1:
                self.assert_one_line(r.stderr, "b.pftrace")

    def test_files_of_others(self):
        def message(*of):
            return b"".join(field(*one) for one in of)

        def varint(n):
            return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)

        def field(number, value):
            return varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value

        def event(ns, *of, sequence=7, **more):
            return message((8, ns), (10, sequence), *more.get("packet", ()), (11, message(*of)))

        process, thread = message((60, message((1, 1), (3, message((1, 5), (6, b"app")))))), message((60, message((1, 2), (4, message((1, 5), (2, 9), (5, b"main"))))))
        begin, end = event(1000, (9, 1), (11, 2), (23, b"work"), (4, message((10, b"n"), (4, 3)))), event(3000, (9, 2), (11, 2))
        relative = event(5, (9, 3), (11, 2), (23, b"now"), packet=[(58, 64)])
        other = event(4000, (9, 3), (11, 2), (23, b"now"), sequence=8)
        nested = message((10, b"n"), (4, 1))
        for _ in range(40):
            nested = message((10, b"n"), (11, nested))
        for what, packets_, code, text in (
                ("texts that are not interned", [process, thread, begin, end], 0, "1 other slices"), ("an end without a begin", [process, thread, begin, end, end], 0, "1 other slices"),
                ("events before their track", [begin, end, process, thread], 0, "1 other slices"), ("nothing", [], 1, "no events"), ("no events", [process, thread], 1, "no events"),
                ("a clock of its own", [process, thread, begin, end, relative], 1, "times relative"), ("two writers", [process, thread, begin, end, other], 1, "several sequences"),
                ("deep arguments", [process, thread, event(1, (9, 1), (11, 2), (23, b"deep"), (4, nested)), event(2, (9, 2), (11, 2))], 3, "1 other slices")):
            with self.subTest(what):
                with open(os.path.join(self.dir, "o.pftrace"), "wb") as f:
                    f.write(b"".join(field(1, p) for p in packets_))
                r = self.ascope("info", "o.pftrace", code=code)
                self.assertIn(text, (r.stdout if code != 1 else r.stderr).replace("  ", ""))

    def test_the_same_bytes_each_time(self):
        _, first = self.both(self.sample())
        _, second = self.both(os.path.join(self.dir, "PROF_1"))
        self.assertEqual(first, second)

    def test_it_cannot_be_written(self):
        r = self.ascope("export-trace", self.sample(), os.path.join("absent", "a.pftrace"), code=1)
        self.assert_one_line(r.stderr, "absent")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
