#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope view: its address, what it answers to pages, and requests that are no requests.

usage: test_view.py ASCOPE SOURCE_ROOT [unittest options]
"""
import contextlib
import csv
import glob
import gzip
import html.parser
import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time
import unittest
import urllib.parse

from cli_case import ASCOPE, SOURCE, Case

HOSTILE = '<script>alert(1)</script>"\'&\u202eabc'


def event(name, begin_us, dur_us, tid=1, **more):
    return {"ph": "X", "name": name, "ts": begin_us, "dur": dur_us, "pid": 1, "tid": tid, **more}


EVENTS = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "job"}},
    {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "main"}},
    event("outer", 100, 50, args={"shape": [1, 2], "text": "quoted \"x\"", "n": 7}),
    event("inner", 110, 10), event("inner", 125, 10), event(HOSTILE, 140, 5),
    event("kernel", 130, 40, tid=2, cat="gpu"),
    {"ph": "s", "name": "flow", "cat": "f", "id": 1, "pid": 1, "tid": 1, "ts": 112},
    {"ph": "f", "bp": "e", "name": "flow", "cat": "f", "id": 1, "pid": 1, "tid": 2, "ts": 130},
    {"ph": "C", "name": "memory", "pid": 1, "ts": 100, "args": {"MB": 3}},
    {"ph": "C", "name": "memory", "pid": 1, "ts": 120, "args": {"MB": 9}},
]



class Page(html.parser.HTMLParser):
    """A report: nothing in it is run or loaded."""

    def __init__(self, case, page):
        super().__init__()
        self.tags, self.texts, self.attributes = [], [], []
        self.feed(page)
        case.assertFalse({"script", "img", "link", "iframe", "object", "embed", "form", "a"} & set(self.tags))
        case.assertFalse({k for k, _ in self.attributes if k in ("src", "href", "style") or k.startswith("on")})
        case.assertIn(("content", "default-src 'none'; style-src 'unsafe-inline'"), self.attributes)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data.strip())


class Viewer:
    """A running server."""

    def __init__(self, case, *words):
        self.process = subprocess.Popen([ASCOPE, "view", *words, "--no-open"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, cwd=case.dir)
        self.url = urllib.parse.urlsplit(self.process.stdout.readline().strip())
        self.address = (self.url.hostname, self.url.port)

    def raw(self, path, headers=None, host=None):
        connection = http.client.HTTPConnection(*self.address, timeout=60)
        with contextlib.closing(connection):
            connection.putrequest("GET", path, skip_host=True)
            connection.putheader("Host", host or self.url.netloc)
            for key, value in (headers or {}).items():
                connection.putheader(key, value)
            connection.endheaders()
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read()

    def ask(self, what, **of):
        status, _, body = self.raw(self.url.path + "api/" + what + "?" + urllib.parse.urlencode(of))
        if status != 200:
            raise AssertionError((what, status, body))
        return body

    def json(self, what, **of):
        return json.loads(self.ask(what, **of))

    def wait(self, n=1):
        """Until the inputs are there, or have failed."""
        for _ in range(6000):
            inputs = self.json("about")["inputs"]
            if len(inputs) == n and all(i["state"] != "loading" for i in inputs):
                return inputs
            time.sleep(0.02)
        raise AssertionError(inputs)

    def blocks(self, levels, t0, t1, least=0):
        body = self.ask("slices", input=0, levels=",".join(map(str, levels)), t0=t0, t1=t1, least=least)
        n_levels = struct.unpack_from("<I", body, 4)[0]
        counts = [struct.unpack_from("<II", body, 8 + 8 * i) for i in range(n_levels)]
        n, at, columns = sum(c for _, c in counts), 8 + 8 * n_levels, []
        for kind, size in (("d", 8), ("d", 8), ("I", 4), ("I", 4), ("I", 4), ("f", 4)):
            columns.append(struct.unpack_from("<%d%s" % (n, kind), body, at))
            at += n * size
        assert at == len(body)
        return counts, list(zip(*columns))

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        out = self.process.communicate(timeout=120)
        return self.process.returncode, out

    def end_well(self, case):
        """If no test has ended it: with 0, which a sanitizer that has found something does not leave."""
        if not self.process.stdout.closed:
            code, (_, trouble) = self.end()
            case.assertEqual(code, 0, trouble)


class View(Case):
    def view(self, *words):
        v = Viewer(self, *words)
        self.addCleanup(v.end_well, self)
        return v

    def trace(self, events=None, name="trace.json"):
        with open(os.path.join(self.dir, name), "w", encoding="utf-8") as f:
            json.dump({"traceEvents": EVENTS if events is None else events}, f)
        return name

    def test_a_name_has_the_same_colour_in_a_report_as_on_the_page(self):
        """pages/colours.js: digits that do not follow a letter are not part of a name, nor are "_" and "#"; FNV-1a of its bytes."""
        names = {"MatMulV2": "matmulv2", "MatMulV23": "matmulv23", "hcom_allReduce__483_1_1": "hcomallreduce", "ProfilerStep#7": "profilerstep", "步骤 7": "步骤 "}
        path = self.trace([event(name, 1000 * i, 900, tid=i + 1) for i, name in enumerate(names)])
        page = self.ascope("view", path, "--export", "-", code=0).stdout
        for name, kind in names.items():
            h = 2166136261
            for byte in kind.encode():
                h = (h ^ byte) * 16777619 & 0xffffffff
            self.assertIn('<g><title>%s, 900.000 µs</title><rect class="c%d"' % (name, h % 12), page)

    def test_numbers_in_arguments_keep_all_of_their_digits(self):
        path = os.path.join(self.dir, "digits.json")
        with open(path, "w", encoding="utf-8") as f:
            f.write('[{"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1, "args": {"address": 18446744073709551615,'
                    ' "ns": 1700000000123456789, "small": 7, "real": 0.1234567890123456789}}]')
        v = self.view(path)
        v.wait()
        self.assertEqual(v.json("slice", input=0, slice=0)["args"],
                         {"address": "18446744073709551615", "ns": "1700000000123456789", "small": 7, "real": "0.1234567890123456789"})

    def test_timeline_of_a_trace(self):
        v = self.view(self.trace())
        self.assertEqual([i["state"] for i in v.wait()], ["ready"])
        rows = v.json("rows", input=0)
        self.assertEqual((rows["base_ns"], rows["end"], rows["n_slices"]), ("100000", 70000, 5))
        process, = rows["processes"]
        self.assertEqual([(t["name"], t["n"], len(t["levels"])) for t in process["tracks"]], [("main", 4, 2), ("2", 1, 1)])
        names = v.json("names", input=0, **{"from": 0})
        levels = [level for t in process["tracks"] for level in t["levels"]]
        counts, blocks = v.blocks(levels, 0, 70000)
        self.assertEqual([n for _, n in counts], [1, 3, 1])
        self.assertEqual([(names[b[4]], b[0], b[1]) for b in blocks],
                         [("outer", 0, 50000), ("inner", 10000, 10000), ("inner", 25000, 10000), (HOSTILE, 40000, 5000), ("kernel", 30000, 40000)])
        _, merged = v.blocks(process["tracks"][0]["levels"][1:], 0, 70000, least=20000)
        self.assertEqual([(b[0], b[1], b[3], b[5]) for b in merged], [(10000, 35000, 3, struct.unpack("f", struct.pack("f", 25 / 35))[0])])

    def test_details_flows_and_neighbours(self):
        v = self.view(self.trace())
        v.wait()
        slices = {(s["name"], s["begin"]): s for s in (v.json("slice", input=0, slice=i) | {"row": i} for i in range(5))}
        outer = slices["outer", 0]
        self.assertEqual(outer["args"], {"shape": "[1, 2]", "text": 'quoted "x"', "n": 7.0})
        kernel = slices["kernel", 30000]
        self.assertEqual((kernel["category"], kernel["process"], kernel["track"]), ("gpu", "job", "2"))
        self.assertEqual([(f["name"], f["begin"], f["is_source"]) for f in kernel["flows"]], [("inner", 10000, True)])
        self.assertEqual([f["slice"] for f in slices["inner", 10000]["flows"]], [kernel["row"]])
        first, second = slices["inner", 10000]["row"], slices["inner", 25000]["row"]
        self.assertEqual(v.json("neighbour", input=0, slice=first, by=1), {"slice": second})
        self.assertEqual(v.json("neighbour", input=0, slice=first, by=-1), {"slice": None})

    def test_search_area_and_counters(self):
        v = self.view(self.trace())
        v.wait()
        rows = v.json("rows", input=0)
        self.assertEqual(v.json("search", input=0, q="INNER")["n"], 2)
        self.assertEqual(v.json("search", input=0, q="quoted")["n"], 1)  # in arguments
        self.assertEqual(v.json("search", input=0, q="nowhere"), {"n": 0, "slices": []})
        area = v.json("area", input=0, levels=",".join(map(str, rows["processes"][0]["tracks"][0]["levels"])), t0=9000, t1=38000)
        self.assertEqual([(r["name"], r["count"], r["self"], r["sum"], r["longest"]) for r in area["rows"]],
                         [("inner", 2, 20000, 20000, 10000), ("outer", 1, 9000, 29000, 29000)])
        counter, = rows["processes"][0]["counters"]
        body = v.ask("counter", input=0, id=counter["id"], t0=0, t1=70000, least=0)
        self.assertEqual(struct.unpack("<6d", body[8:]), (0, 20000, 3, 9, 3, 9))

    def test_instants(self):
        mark = {"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": 120, "s": "g", "cat": "c", "args": {"key": "needle"}}
        events = EVENTS + [mark, {**mark, "ts": 122, "name": HOSTILE, "s": "p"}, {**mark, "ts": 90, "tid": 7, "name": "alone", "s": "t"}]
        v = self.view(self.trace(events))
        v.wait()
        rows = v.json("rows", input=0)
        self.assertEqual((rows["base_ns"], rows["end"], rows["shown_begin"], rows["shown_end"]), ("90000", 80000, 10000, 80000))
        tracks = {t["name"]: t for t in rows["processes"][0]["tracks"]}
        self.assertIsNone(tracks["2"]["instants"])
        self.assertEqual((tracks["7"]["levels"], tracks["7"]["n"]), ([], 0))
        names, row, alone = v.json("names", input=0, **{"from": 0}), tracks["main"]["instants"], tracks["7"]["instants"]
        _, blocks = v.blocks([row, alone], 0, 80000)
        self.assertEqual([(names[b[4]], b[0], b[1], b[3]) for b in blocks], [("mark", 30000, 0, 1), (HOSTILE, 32000, 0, 1), ("alone", 0, 0, 1)])
        self.assertEqual([(b[0], b[1], b[3]) for b in v.blocks([row], 0, 80000, least=4000)[1]], [(30000, 2000, 2)])
        self.assertEqual(v.blocks([row], 30001, 32000)[1], [])
        first, second, third = (b[2] for b in blocks)
        found = v.json("slice", input=0, slice=first)
        self.assertEqual((found["name"], found["begin"], found["dur"], found["is_instant"], found["scope"], found["args"], found["level"], found["track"]),
                         ("mark", 30000, 0, True, "all", {"key": "needle"}, row, "main"))
        self.assertFalse(v.json("slice", input=0, slice=0)["is_instant"])
        self.assertEqual(v.json("neighbour", input=0, slice=first, by=1), {"slice": second})
        self.assertEqual(v.json("neighbour", input=0, slice=second, by=1), {"slice": None})
        self.assertEqual(v.json("search", input=0, q="needle"), {"n": 3, "slices": [third, first, second]})
        area = v.json("area", input=0, levels="%d,%d" % (row, tracks["main"]["levels"][0]), t0=0, t1=31000)
        self.assertEqual([(r["name"], r["count"], r["sum"]) for r in area["rows"]], [("outer", 1, 21000), ("mark", 1, 0)])
        self.assertEqual(list(self.flame(v, t0=0, t1=80000, levels="%d,%d" % (row, tracks["main"]["levels"][0]))[1]), [("outer",)])
        self.assertEqual(v.raw(v.url.path + "api/slice?input=0&slice=8")[0], 400)

    def test_steps_of_torch_profiler(self):
        """Kernels belong to the step that launched them; a collective is exposed where nothing computes; a step lasts to its last kernel."""
        events = []
        for i in range(12):
            at, longer = 2000 * i, 800 * (i == 7)
            events += [event("ProfilerStep#%d" % i, at, 900, cat="user_annotation"),
                       event("cudaLaunchKernel", at + 10, 5, cat="cuda_runtime", args={"correlation": i}),
                       event("gemm", at + 100, 400 + longer, tid=7, cat="kernel", args={"correlation": i}),
                       event("ncclDevKernel_AllReduce", at + 400, 200 + longer, tid=8, cat="kernel")]
        v = self.view(self.trace(events))
        v.wait()
        overview = v.json("overview", input=0)
        series, = overview["series"]
        self.assertEqual((series["title"], series["median"], series["selected"]), ("12 steps, median 900 us", 900000, 7))
        self.assertEqual([s["name"] for s in series["steps"]], [str(i) for i in range(12)])
        self.assertEqual(series["steps"][3]["parts"], [300000, 100000, 100000, 400000])
        self.assertEqual(series["steps"][7]["parts"], [300000, 900000, 100000, 100000])
        self.assertEqual((series["steps"][3]["begin"], series["steps"][3]["end"]), (6000000, 6900000))
        self.assertEqual((series["steps"][7]["begin"], series["steps"][7]["end"]), (14000000, 15400000))
        self.assertEqual(overview["sentences"], [])
        self.assertEqual([w["text"].partition(":")[0] for w in series["steps"][7]["why"]],
                         ["Step 7 took 1.400 ms, the median step 900 us. It had more of", "+800 us longer runs"])
        self.assertIn("gemm (1.200 ms, usually 400 us)", series["steps"][7]["why"][1]["text"])
        v = self.view(self.trace([e for e in events if e["ts"] < 14000]))
        v.wait()
        none, = v.json("overview", input=0)["series"][0]["findings"]
        self.assertIn("no step is slow: what differs is within the noise", none["says"][0]["text"])
        self.assertLess(none["says"][0]["t1"], none["says"][0]["t0"])  # nothing to go to

    def test_the_overview_begins_with_what_why_finds(self):
        """The same sentences in the same order, each with the time of its steps and its causes; of collections, traces and databases. Traces and
        databases have the advice of `ascope advise`, too."""
        self.ascope("sim", "--framework", "pt", "--kernels", "600", "--steps", "24", "--stall", "14:40ms", "--slow-step", "3:4,4:4,5:4", "--out", "job", code=0)
        self.ascope("analyse", "job", "--export-type", "text,db", code=0)
        results, = glob.glob(os.path.join(self.dir, "job/*/ASCEND_PROFILER_OUTPUT"))
        database, = glob.glob(os.path.join(results, "ascend_pytorch*.db"))
        for path in ("job", os.path.join(results, "trace_view.json"), database):
            answer, = json.loads(self.ascope("why", path, "--json", code=0).stdout)["answers"]
            advice = json.loads(self.ascope("advise", path, "--json", code=0).stdout)
            v = self.view(path)
            v.wait()
            overview = v.json("overview", input=0)
            series, = overview["series"]
            base = int(v.json("rows", input=0)["base_ns"])
            self.assertGreater(len(answer["judged"]), 1, path)
            self.assertEqual([f["says"][0]["text"] for f in series["findings"]], [f["text"] for f in answer["judged"]], path)
            begins = {s["name"]: (s["begin"], s["end"]) for s in series["steps"]}
            for found, judged in zip(series["findings"], answer["judged"]):
                self.assertEqual((found["says"][0]["t0"], found["says"][0]["t1"]), (begins[judged["first"]][0], begins[judged["last"]][1]))
                self.assertEqual(found["is_start_up"], judged["shape"] == "start_up")
            first = answer["difference"]["items"][0]
            cause = series["findings"][0]["why"][0]
            self.assertEqual([[c["text"] for c in f["why"]] for f in series["findings"]], [[f["because"]] if f["because"] else [] for f in answer["judged"]], path)
            self.assertEqual((cause["event"], cause["t0"]), (first["place"]["event"], first["place"]["begin_ns"] - base), path)
            self.assertEqual([a["found"] for a in overview["advice"]["advice"]], [a["found"] for a in advice["advice"]], path)
            page = Page(self, self.ascope("view", path, "--export", "-", code=0).stdout)
            self.assertTrue(any(answer["judged"][0]["text"] in text for text in page.texts), path)

    def test_of_many_verdicts_the_largest_are_shown(self):
        spots, at, events = (7, 31, 50, 88, 101, 140, 177, 190, 222, 251, 260, 296), 0, []
        for i in range(300):
            dur = 900 + i % 5 + (400 + i if i in spots else 0)
            events += [event("ProfilerStep#%d" % i, at, dur, cat="user_annotation"), event("aten::mm", at + 10, dur - 50, cat="cpu_op")]
            at += dur + 10
        v = self.view(self.trace(events))
        v.wait()
        findings = v.json("overview", input=0)["series"][0]["findings"]
        self.assertEqual([f["says"][0]["text"].split(" is ")[0] for f in findings],
                         ["step %d" % i for i in sorted(spots, reverse=True)[:8]] + ["and 4 more; ascope why explains them"])

    def test_losses_are_on_the_overview(self):
        with open(os.path.join(self.dir, self.trace()), "r+", encoding="utf-8") as f:
            f.truncate(len(f.read()) * 2 // 3)
        v = self.view("trace.json")
        v.wait()
        self.assertEqual([(l["what"], l["n"], os.path.basename(l["file"])) for l in v.json("overview", input=0)["losses"]],
                         [("records cut short", 1, "trace.json")])
        page = Page(self, self.ascope("view", "trace.json", "--export", "-", code=3).stdout)
        self.assertTrue(any(text.startswith("1: records cut short; the first is in trace.json at byte ") for text in page.texts), page.texts)
        # An end without a begin is usual at the begin of a recording: it is counted, and not shown as damage.
        self.trace([event("x", 0, 1), {"ph": "e", "cat": "io", "name": "read", "id": 1, "ts": 5, "pid": 1, "tid": 1}])
        page = Page(self, self.ascope("view", "trace.json", "--export", "-", code=0).stdout)
        self.assertFalse(any("begin/end" in text or "could not be read" in text for text in page.texts), page.texts)

    def test_asynchronous_events(self):
        """They are on rows of their own, joined by id; marks among them are instants, and those without an end are counted."""
        def a(ph, ts, **more):
            return {"ph": ph, "ts": ts, "pid": 1, "tid": 1, "cat": "io", "name": "read", **more}
        v = self.view(self.trace([event("x", 0, 1), a("b", 10, id=1), a("b", 15, id="0x2", args={"k": 1}), a("n", 16, id=1, name="half"), a("e", 20, id=1),
                                  a("e", 40, id="0x2"), a("b", 50, id2={"local": "7"}), a("b", 51, id2={"local": "7"}, name="inner"), a("e", 52, id2={"local": "7"}),
                                  a("e", 53, id2={"local": "7"}), a("S", 60, id=4, cat="old"), a("F", 61, id=4, cat="old", name="other"), a("T", 62, id=4, cat="old"),
                                  a("F", 70, id=4, cat="old"), a("b", 80, id=9), a("b", 90)]))
        v.wait()
        sql = "SELECT name, thread, depth, begin_ns, dur_ns, args FROM slices WHERE thread LIKE 'async%' ORDER BY begin_ns"
        self.assertEqual(v.json("sql", input=0, q=sql)["rows"], [
            ["read", "async io", 0, 10000, 10000, None], ["read", "async io", 1, 15000, 25000, '{"k": 1}'], ["read", "async io", 0, 50000, 3000, None],
            ["inner", "async io", 1, 51000, 1000, None], ["read", "async old", 0, 60000, 10000, None]])
        self.assertEqual(v.json("sql", input=0, q="SELECT name, thread, at_ns, id FROM instants")["rows"], [["half", "async io", 16000, 6], ["read", "async old", 62000, 7]])
        self.assertEqual(v.json("slice", input=0, slice=6)["name"], "half")
        self.assertEqual(sorted((r[1], r[2]) for r in v.json("sql", input=0, q="SELECT * FROM losses")["rows"]), [(1, 1), (2, 0)])

    def test_tables_of_topics_have_histograms(self):
        ops = [event("op", 10 * i, (1, 1, 1.5, 6)[i % 4], cat="cpu_op") for i in range(8)]
        v = self.view(self.trace([*ops, event("mine", 0, 90, cat="user_annotation"), event("ncclAllReduce", 5, 3, cat="kernel"),
                                  {"ph": "i", "name": "here", "ts": 7, "pid": 1, "tid": 1, "s": "t"}]))
        v.wait()

        def table(name, *columns):
            found = v.json("table", input=0, name=name)
            at = [[c["name"] for c in found["columns"]].index(c) for c in columns]
            return [[row[i] for i in at] for row in found["rows"]]
        self.assertEqual(table("operators", "name", "count", "durations"), [["op", 8, "9:4 10:2 12:2"]])
        self.assertEqual(table("kernels", "name"), [["ncclAllReduce"]])
        self.assertEqual(table("collectives", "name", "dur_us"), [["ncclAllReduce", 3]])
        self.assertEqual(table("marks", "name", "dur_us"), [["mine", 90], ["here", None]])
        for name in v.json("tables", input=0)["tables"]:
            v.json("table", input=0, name=name)
        self.assertIn(b"9:4 10:2 12:2", v.ask("table", input=0, name="operators", csv=1))

    def test_tables_of_topics_of_a_gpu_that_was_recorded_here(self):
        names = [{"ph": "M", "name": kind + "_name", "pid": pid, "tid": tid, "args": {"name": name}} for pid, tid, process, thread in
                 ((1, 1, "CUDA", "Thread 1"), (2, 7, "GPU", "Stream 7"), (3, 1, "NCCL", "Group tp Communication"))
                 for kind, name in (("process", process), ("thread", thread))]
        v = self.view(self.trace([*names, event("Runtime@cudaLaunchKernel", 0, 5), {**event("mulKernel", 10, 5, tid=7), "pid": 2},
                                  {**event("ncclDevKernel_AllReduce", 20, 5), "pid": 3}]))
        v.wait()
        for name, row in (("API calls", "Runtime@cudaLaunchKernel"), ("kernels", "mulKernel"), ("collectives", "ncclDevKernel_AllReduce")):
            self.assertEqual([r[0] for r in v.json("table", input=0, name=name)["rows"]], [row], name)

    def test_a_trace_of_instants_alone(self):
        v = self.view(self.trace([{"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": ts} for ts in (5, 3, 9)]))
        v.wait()
        rows = v.json("rows", input=0)
        self.assertEqual((rows["base_ns"], rows["shown_begin"], rows["shown_end"]), ("3000", 0, 6000))
        self.assertEqual([b[0] for b in v.blocks([rows["processes"][0]["tracks"][0]["instants"]], 0, 7000)[1]], [0, 2000, 6000])

    def flame(self, v, **of):
        """Nodes by the names that lead to them: total, self, count."""
        found, paths, out = v.json("flame", input=0, **of), [], {}
        for node in found["nodes"]:
            paths.append((paths[node["parent"]] if node["parent"] is not None else ()) + (node["name"],))
            out[paths[-1]] = (node["total"], node["self"], node["count"])
        self.assertEqual(len(out), len(found["nodes"]))
        return found, out

    def test_flame_graph(self):
        v = self.view(self.trace(EVENTS + [event("outer", 200, 20), event("inner", 205, 5), event("leaf", 206, 1), event("inner", 230, 4)]))
        v.wait()
        found, nodes = self.flame(v, t0=0, t1=200000, all=1)
        self.assertEqual((found["n"], found["total"], found["left_out"]), (9, 114000, 0))
        self.assertEqual(nodes, {("outer",): (70000, 40000, 2), ("outer", "inner"): (25000, 24000, 3), ("outer", HOSTILE): (5000, 5000, 1),
                                 ("outer", "inner", "leaf"): (1000, 1000, 1), ("inner",): (4000, 4000, 1), ("kernel",): (40000, 40000, 1)})
        longest = {n["name"]: n["longest_slice"] for n in found["nodes"] if n["parent"] is None}
        self.assertEqual(v.json("slice", input=0, slice=longest["outer"])["dur"], 50000)
        levels = v.json("rows", input=0)["processes"][0]["tracks"][0]["levels"]
        # Only what lies in the range, and only the rows that were asked for, in any order; a level that is left out hides nothing below it.
        self.assertEqual(self.flame(v, t0=15000, t1=30000, levels="%d,%d" % (levels[1], levels[0]))[1],
                         {("outer",): (15000, 5000, 1), ("outer", "inner"): (10000, 10000, 2)})
        self.assertEqual(self.flame(v, t0=0, t1=120000, levels=levels[2])[1], {("leaf",): (1000, 1000, 1)})
        self.assertEqual(self.flame(v, t0=52000, t1=60000, levels=levels[0])[1], {})

    def test_a_large_flame_graph_is_bounded(self):
        events = [event("outer", 0, 100000)] + [event("op %d" % i, 10 * i, 1 + i % 7) for i in range(5000)]
        v = self.view(self.trace(events))
        v.wait()
        found, nodes = self.flame(v, t0=-2 ** 63, t1=2 ** 63 - 1, all=1)
        self.assertEqual((found["n"], len(nodes), found["left_out"]), (5001, 2000, 3001))
        self.assertEqual(nodes["outer",][0], 100000000)
        self.assertGreaterEqual(min(total for total, _, _ in nodes.values()), 5000)  # the largest ones

    def test_tables_and_sql(self):
        v = self.view(self.trace())
        v.wait()
        about = v.json("tables", input=0)
        self.assertIn("by name", about["tables"])
        table = v.json("table", input=0, name="by name", sort=3, down=1)
        self.assertEqual([c["name"] for c in table["columns"]][:4], ["name", "process", "count", "total_us"])
        self.assertEqual([c["is_number"] for c in table["columns"]][:4], [False, False, True, True])
        self.assertEqual([r[:4] for r in table["rows"]], [["outer", "job", 1, 50.0], ["kernel", "job", 1, 40.0], ["inner", "job", 2, 20.0], [HOSTILE, "job", 1, 5.0]])
        self.assertEqual(v.json("slice", input=0, slice=table["slices"][1])["name"], "kernel")
        self.assertEqual([r[0] for r in v.json("table", input=0, name="by name", filter="NNE")["rows"]], ["inner"])
        for text in ("_nner", "i%r", "\\", "%"):  # no wildcards
            self.assertEqual(v.json("table", input=0, name="by name", filter=text)["rows"], [], text)
        self.assertEqual(v.ask("table", input=0, name="by category", csv=1).decode().splitlines()[0].split(",")[:3], ["category", "process", "count"])
        with open(os.path.join(SOURCE, "src/view/pages/text.js"), encoding="utf-8") as f:
            texts = f.read()
        for name in about["tables"]:
            for column in v.json("table", input=0, name=name)["columns"]:
                self.assertIn("    column_%s: [" % column["name"], texts, name)
        for example in about["examples"]:
            v.json("sql", input=0, q=example)
        answer = v.json("sql", input=0, q="SELECT b.name, percentile(a.dur_ns, 50) FROM flows JOIN slices a ON a.id = from_id JOIN slices b ON b.id = to_id")
        self.assertEqual(answer["rows"], [["kernel", 10000.0]])
        self.assertEqual(v.json("sql", input=0, q="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")["n"], 10000)

    def test_a_table_for_a_spreadsheet_has_no_formulas(self):
        names = ["=1+1", "+a", "-b", "@c", "plain, with a comma", "-7"]
        v = self.view(self.trace([event(name, 100 + i, 1) for i, name in enumerate(names)]))
        v.wait()
        rows = list(csv.reader(v.ask("table", input=0, name="by name", csv=1).decode().splitlines()))[1:]
        self.assertEqual({row[0] for row in rows}, {"'=1+1", "'+a", "'-b", "'@c", "plain, with a comma", "-7"})

    def test_sql_can_only_read(self):
        v = self.view(self.trace())
        v.wait()
        for sql in ("ATTACH '/etc/passwd' AS x", "CREATE TABLE x(a)", "DELETE FROM slices", "PRAGMA table_list", "SELECT 1; SELECT 2", "", "SELEC",
                    "SELECT * FROM nothing", "SELECT load_extension('x')", "VACUUM INTO 'x.db'", "SELECT fts3_tokenizer('x', x'4141414141414141')"):
            status, _, body = v.raw(v.url.path + "api/sql?" + urllib.parse.urlencode({"input": 0, "q": sql}))
            self.assertEqual(status, 400, sql)
            self.assertTrue(body, sql)
        self.assertEqual(os.listdir(self.dir), ["trace.json"])

    def test_sql_is_bounded(self):
        """In what it answers, and in what it uses: nothing is written, not even to a temporary file."""
        v = self.view(self.trace())
        v.wait()
        many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) "
        for sql in (many + "SELECT hex(zeroblob(1000000)) FROM n", "SELECT hex(zeroblob(10000000))"):
            status, _, body = v.raw(v.url.path + "api/sql?" + urllib.parse.urlencode({"input": 0, "q": sql}))
            self.assertEqual(status, 400, sql)
            self.assertIn(b"too ", body)

        def written():
            with open("/proc/%d/io" % v.process.pid, encoding="ascii") as f:
                return int(dict(line.split(": ") for line in f)["wchar"])

        before = written()
        self.assertEqual(v.json("sql", input=0, q=many + "SELECT i FROM n ORDER BY randomblob(1000)")["n"], 10000)
        self.assertLess(written() - before, 1000000)

    def test_a_collection_has_steps_and_reasons(self):
        self.ascope("sim", "--framework", "pt", "--kernels", "600", "--steps", "6", "--slow-step", "3:4,5:2", "--out", "job", code=0)
        before = sorted(os.walk(os.path.join(self.dir, "job")))
        v = self.view("job")
        one, = v.wait()
        self.assertEqual((one["state"], one["is_simulated"], one["kind"]), ("ready", True, "PyTorch"))
        overview = v.json("overview", input=0)
        steps = overview["series"][0]["steps"]
        self.assertEqual([s["name"] for s in steps if s["is_slow"]], ["3", "5"])
        self.assertEqual(overview["series"][0]["selected"], 3)
        self.assertEqual(overview["losses"], [])  # calls that were open at the end are no damage
        for s in steps:
            self.assertEqual(sum(s["parts"]), s["time"])
            if not s["is_slow"]:
                self.assertEqual(s["why"], [])
                continue
            self.assertIn("Step %s took" % s["name"], s["why"][0]["text"])
            answer, = json.loads(self.ascope("why", "job", "--step", s["name"], "--json", code=0).stdout)["answers"]
            first = answer["difference"]["items"][0]
            self.assertIn(first["name"], s["why"][1]["text"])
            self.assertEqual(s["why"][1]["t0"], first["place"]["begin_ns"] - int(v.json("rows", input=0)["base_ns"]))
        page = Page(self, self.ascope("view", "job", "--export", "-", code=0).stdout)
        self.assertTrue(any("Step 3 took" in text for text in page.texts))
        self.assertGreater(v.json("rows", input=0)["n_slices"], 600)
        self.assertEqual(v.end(signal.SIGINT)[0], 0)
        self.assertEqual(sorted(os.walk(os.path.join(self.dir, "job"))), before)  # nothing is written

    def test_one_is_not_several(self):
        self.ascope("sim", "--framework", "pt", "--ranks", "2", "--dp", "2", "--kernels", "60", "--steps", "1", "--out", "job", code=0)
        page = Page(self, self.ascope("view", "job", "--export", "-", code=0).stdout)
        self.assertIn("2 ranks, 1 step", page.texts)
        self.ascope("analyse", "job", "--export-type", "db", code=0)
        databases = sorted(glob.glob(os.path.join(self.dir, "job/*/ASCEND_PROFILER_OUTPUT/*.db")))
        v = self.view(next(path for path in databases if "profiler" in os.path.basename(path)))
        v.wait()
        self.assertRegex(v.json("overview", input=0)["series"][0]["title"], r"\b1 step, median ")

    def test_memory_of_a_collection(self):
        self.ascope("sim", "--framework", "pt", "--kernels", "600", "--steps", "3", "--out", "job", code=0)
        v = self.view("job", self.trace())
        chrome, one = v.wait(2)
        self.assertEqual((chrome["has_memory"], one["has_memory"]), (False, True))
        for allocator, name in enumerate(("NPU 0", "NPU 0, workspaces")):
            held = v.json("memory", input=1, allocator=allocator)
            self.assertEqual(held["allocators"], ["NPU 0", "NPU 0, workspaces", "CPU"], name)
            t, allocated, _ = held["peak"]
            self.assertEqual(allocated, max(p[1] for p in held["points"]))
            alive = v.json("memory_at", input=1, allocator=allocator, at=t)
            self.assertEqual(alive["bytes"], allocated, name)  # nothing is from before the collection
            self.assertEqual(sum(o["bytes"] for o in alive["owners"]), allocated)
            self.assertEqual(sum(o["count"] for o in alive["owners"]), alive["n"])
            self.assertEqual(alive["owners"], sorted(alive["owners"], key=lambda o: (-o["bytes"], o["name"])))
            self.assertEqual(sum(b["bytes"] for b in alive["blocks"]), allocated)
            for b in alive["blocks"]:
                self.assertTrue(b["begin"] <= t and (b["end"] is None or b["end"] > t), b)
            self.assertEqual(v.json("memory_at", input=1, allocator=allocator, at=-1)["n"], 0)
        for what in ("memory?input=0&allocator=0", "memory?input=1&allocator=3", "memory_at?input=1&allocator=0", "memory?input=1"):
            self.assertEqual(v.raw(v.url.path + "api/" + what)[0], 400, what)

    def counters_of(self, pattern, name, task_type, duration):
        """{(kernel, type, metric): (count, mean, most, total_us)} of a table of kernels, whose last columns are the metrics."""
        file, = glob.glob(os.path.join(glob.escape(self.dir), pattern))
        with open(file, newline="", encoding="utf-8") as f:
            kernels = list(csv.DictReader(f))
        values = {}
        columns = list(kernels[0])
        for metric in columns[columns.index("aicore_time(us)"):]:
            for k in kernels:
                if k[metric] != "N/A":
                    values.setdefault((k[name], k[task_type], metric), []).append((float(k[metric]), float(k[duration])))
        self.assertGreater(len(values), 20, pattern)
        total = {key: sum(us for _, us in of) for key, of in values.items()}
        return {key: (len(of), sum(v * us for v, us in of) / total[key], max(v for v, _ in of), total[key]) for key, of in values.items()}

    def assert_counters(self, v, run, wanted):
        rows = v.json("sql", input=0, q="SELECT name, task_type, metric, count, mean, most, total_us FROM kernel_counters WHERE run = '%s'" % run)["rows"]
        self.assertEqual(sorted(tuple(r[:3]) for r in rows), sorted(wanted))
        for *key, count, mean, most, total_us in rows:
            is_count, is_mean, is_most, is_total = wanted[tuple(key)]
            self.assertEqual((count, most), (is_count, is_most), key)
            for found, expected in (mean, is_mean), (total_us, is_total):
                self.assertLessEqual(abs(found - expected), 1e-9 * abs(expected), (key, found, expected))

    def test_counters_of_kernels(self):
        """They are those of op_summary and kernel_details, by kernel; collectives and what ran on AI CPUs have none."""
        summary = ("mindstudio_profiler_output/op_summary_*.csv", "Op Name", "Task Type", "Task Duration(us)")
        details = ("ASCEND_PROFILER_OUTPUT/kernel_details.csv", "Name", "Accelerator Core", "Duration(us)")
        for options, table, prof in (
                (["--framework", "pt"], details, "*_ascend_pt/"),
                (["--framework", "ms", "--metrics", "Memory"], summary, "*_ascend_ms/PROF_*/"),
                (["--devices", "2", "--metrics", "ArithmeticUtilization"], summary, "PROF_*/"),
                (["--chip", "310P"], summary, "PROF_*/")):
            with self.subTest(options):
                out = "_".join(options).replace("-", "")
                self.ascope("sim", "--kernels", "200", "--steps", "2", "--out", out, *options, code=0)
                v = self.view(out)
                v.wait()
                path, = glob.glob(os.path.join(glob.escape(self.dir), out, prof))
                self.ascope(*(["analyse", path] if table is details else ["export", "summary", "-dir", path]), code=0)
                wanted = self.counters_of(os.path.join(out, prof, table[0]), *table[1:])
                self.assert_counters(v, "", wanted)
                shown = v.json("table", input=0, name="kernel counters", filter="matmul")
                self.assertEqual([c["name"] for c in shown["columns"]], ["name", "task_type", "run", "metric", "count", "total_us", "mean", "most"])
                self.assertEqual(shown["n"], sum("matmul" in (k[0] + k[2]).lower() for k in wanted))
                self.assertGreater(shown["n"], 0)
                self.assertEqual(shown["rows"], sorted(shown["rows"], key=lambda r: (-r[5], r[0], r[1], r[2], r[3])))
                v.end()

    def test_counters_of_kernels_of_each_rank(self):
        self.ascope("sim", "--framework", "pt", "--dp", "2", "--kernels", "200", "--steps", "2", "--slow-rank", "1:1.5", "--out", "job", code=0)
        self.ascope("sim", "--kernels", "50", "--level0", "--out", "without", code=0)
        v = self.view("job")
        v.wait(3)
        self.ascope("analyse", "job", code=0)
        paths = sorted(glob.glob(os.path.join(glob.escape(self.dir), "job/*_ascend_pt")))
        ranks = [self.counters_of(os.path.join("job", os.path.basename(p), "ASCEND_PROFILER_OUTPUT/kernel_details.csv"), "Name", "Accelerator Core",
                                  "Duration(us)") for p in paths]
        self.assertNotEqual(*ranks)
        for rank, wanted in enumerate(ranks):
            self.assert_counters(v, "Rank %d" % rank, wanted)
        other = self.view("without")
        other.wait()
        self.assertEqual(other.json("table", input=0, name="kernel counters")["n"], 0)

    def test_simulated_data_says_so(self):
        """Also that of a PROF directory, where no front end has noted it."""
        self.ascope("sim", "--kernels", "50", "--out", "sim", code=0)
        for path, is_simulated in ("sim", True), (os.path.join(os.environ["ASCOPE_SAMPLE"], "prof-a"), False):
            self.assertEqual([one["is_simulated"] for one in self.view(path).wait()], [is_simulated])

    def test_memory_has_one_chart_and_that_is_memory_record(self):
        """The allocators' own reports. The timeline by category counts storages, more of them than the allocators held: it is no chart here."""
        sample = os.path.join(os.environ["ASCOPE_SAMPLE"], "pt-a-npu")
        with open(os.path.join(sample, "expected/analyse/memory_record.csv"), encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        v = self.view(*glob.glob(os.path.join(sample, "raw/*_ascend_pt")))
        v.wait()
        base = int(v.json("rows", input=0)["base_ns"])
        for allocator, component in enumerate(("PTA", "WORKSPACE")):
            wanted = {(int(r["Timestamp(us)"].strip().replace(".", "")) - base, round(float(r["Total Allocated(MB)"]) * 2**20),
                       round(float(r["Total Reserved(MB)"]) * 2**20)) for r in rows if r["Component"] == component and r["Device Type"].startswith("NPU")}
            held = v.json("memory", input=0, allocator=allocator)
            self.assertEqual({tuple(p) for p in held["points"]}, wanted, component)
            self.assertEqual(held["peak"][1], max(p[1] for p in wanted))
        self.assertEqual(v.raw(v.url.path + "api/memory_categories?input=0")[0], 404)

    def test_files_that_can_no_longer_be_read_are_reported_and_the_others_shown(self):
        self.trace(name="other.json")
        v = self.view(self.trace(name="bad.json"), self.trace(), "other.json")
        v.wait(3)
        with open(os.path.join(self.dir, "bad.json"), "w", encoding="utf-8") as f:
            f.write("no trace")
        v.json("reload", input=0)
        bad, good, _ = v.wait(3)
        self.assertEqual((bad["state"], good["state"]), ("failed", "ready"))
        self.assertIn("bad.json", bad["message"])

    def wait_for(self, v, **wanted):
        for _ in range(6000):
            one, = v.json("about")["inputs"]
            if all(one[key] == value for key, value in wanted.items()):
                return one
            time.sleep(0.02)
        raise AssertionError((one, wanted))

    def test_a_file_that_changes_is_loaded_again_and_one_that_vanishes_stays(self):
        v = self.view(self.trace())
        self.wait_for(v, state="ready", source="as_loaded", n_loads=1)
        self.trace(EVENTS + [event("more", 300, 1)])
        self.wait_for(v, source="changed", state="ready")
        self.assertEqual(v.json("rows", input=0)["n_slices"], 5)
        v.json("reload", input=0)
        self.wait_for(v, state="ready", source="as_loaded", n_loads=2)
        self.assertEqual(v.json("rows", input=0)["n_slices"], 6)
        self.trace([], name="trace.json")
        with open(os.path.join(self.dir, "trace.json"), "w", encoding="utf-8") as f:
            f.write("no trace")
        v.json("reload", input=0)
        self.assertIn("trace.json", self.wait_for(v, state="failed", n_loads=3)["message"])
        self.assertEqual(v.raw(v.url.path + "api/rows?input=0")[0], 503)
        self.trace()
        v.json("reload", input=0)
        self.wait_for(v, state="ready", n_loads=4)
        os.unlink(os.path.join(self.dir, "trace.json"))
        self.wait_for(v, state="ready", source="gone")
        self.assertEqual(v.raw(v.url.path + "api/reload?input=0")[0], 409)
        self.assertEqual(v.json("slice", input=0, slice=0)["args"]["n"], 7)
        self.assertEqual(v.raw(v.url.path + "api/reload?input=1")[0], 400)
        self.assertEqual(v.end(signal.SIGTERM)[0], 0)

    def test_a_file_that_becomes_shorter(self):
        v = self.view(self.trace([event("op %d" % i, 10 * i, 5, args={"text": "x" * 100}) for i in range(2000)]))
        self.wait_for(v, state="ready")
        os.truncate(os.path.join(self.dir, "trace.json"), 0)
        self.assertEqual(v.json("search", input=0, q="needle")["n"], 0)
        self.assertEqual(v.json("slice", input=0, slice=1500)["args"], {})
        self.assertEqual(v.json("search", input=0, q="op 7")["n"], 111)  # names were read
        self.wait_for(v, state="ready", source="changed")

    def test_a_collection_that_grows(self):
        self.ascope("sim", "--framework", "pt", "--kernels", "50", "--steps", "2", "--out", "job", code=0)
        v = self.view("job")
        path = os.path.join(self.dir, self.wait_for(v, state="ready", source="as_loaded")["path"])
        os.mkdir(os.path.join(path, "ASCEND_PROFILER_OUTPUT"))  # results are no change
        with open(os.path.join(path, "ASCEND_PROFILER_OUTPUT", "x.csv"), "w", encoding="utf-8") as f:
            f.write("x")
        with open(os.path.join(path, "FRAMEWORK", "torch.op_range"), "ab") as f:
            f.write(b"x")
        self.wait_for(v, state="ready", source="changed")
        v.json("reload", input=0)
        self.wait_for(v, state="ready", source="as_loaded", n_loads=2)
        self.assertEqual(v.json("memory", input=0, allocator=0)["allocators"][0], "NPU 0")

    def test_questions_while_it_is_loaded_again(self):
        v = self.view(self.trace())
        self.wait_for(v, state="ready")
        for i in range(30):
            v.json("reload", input=0)
            for what in ("about", "rows?input=0", "slice?input=0&slice=0", "flame?input=0&all=1&t0=0&t1=99999", "sql?input=0&q=SELECT+name+FROM+slices"):
                self.assertIn(v.raw(v.url.path + "api/" + what)[0], (200, 503), what)
        self.wait_for(v, state="ready")

    def test_nothing_is_shown_without_the_address(self):
        v = self.view(self.trace())
        v.wait()
        page, guess = v.url.path, "/" + "0" * 32 + "/"
        for path in ("/", "/api/about", guess, guess + "api/about", page[:-1], "/../" + page):
            self.assertEqual(v.raw(path)[0], 403, path)
        for host in ("evil.example", "127.0.0.1.evil.example", "127.0.0.1:80.evil.example", "", "localhostx"):
            self.assertEqual(v.raw(page, host=host or " ")[0], 403, host)
        for host in ("127.0.0.1:1", "localhost:8000", "localhost"):  # the ends of tunnels
            self.assertEqual(v.raw(page, host=host)[0], 200, host)
        self.assertEqual(v.raw(page, {"Origin": "http://localhost:8000"}, host="localhost:8000")[0], 200)
        self.assertEqual(v.raw(page, {"Origin": "http://evil.example"})[0], 403)
        self.assertEqual(v.raw(page + "no.js")[0], 404)
        self.assertEqual(v.raw(page + "../../etc/passwd")[0], 404)
        status, headers, body = v.raw(page)
        self.assertEqual(status, 200)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertIn(b"main.js", body)

    def test_questions_that_are_wrong_get_a_line(self):
        v = self.view(self.trace())
        v.wait()
        wrong = ["nothing", "rows", "rows?input=1", "rows?input=-1", "rows?input=x", "slices?input=0", "slices?input=0&levels=9&t0=0&t1=1&least=0",
                 "slices?input=0&levels=0&t0=5&t1=1&least=0", "slices?input=0&levels=0,&t0=a&t1=1&least=0", "slice?input=0&slice=99",
                 "neighbour?input=0&slice=0&by=2", "search?input=0&q=", "counter?input=0&id=4&t0=0&t1=1&least=0", "names?input=0&from=-1", "flame?input=0&t0=0&t1=1", "flame?input=0&t0=1&t1=0&all=1", "flame?input=0&t0=0&t1=1&levels=99"]
        for what in wrong:
            status, _, body = v.raw(v.url.path + "api/" + what)
            self.assertIn(status, (400, 404), what)
            self.assertTrue(body and b"\n" not in body, what)
        self.assertEqual(len(v.blocks([0], -2 ** 63, 2 ** 63 - 1, 2 ** 63 - 1)[1]), 1)  # as far as numbers go

    def test_the_server_survives_its_clients(self):
        v = self.view(self.trace())
        v.wait()
        sockets = []
        for text in (b"", b"GET", b"\0" * 100, b"POST / HTTP/1.1\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"a" * 40000,
                     ("GET %sapi/names?input=0&from=0 HTTP/1.1\r\nHost: %s\r\n\r\n" % (v.url.path, v.url.netloc)).encode() * 50) * 20:
            s = socket.create_connection(v.address, timeout=60)
            with contextlib.suppress(OSError):
                s.sendall(text)
            sockets.append(s)  # nobody reads the answers
        self.assertEqual(v.json("about")["inputs"][0]["state"], "ready")
        for s in sockets:
            s.close()
        for _ in range(300):  # more than there are places for
            sockets.append(socket.create_connection(v.address, timeout=60))
        self.assertEqual(v.json("about")["inputs"][0]["state"], "ready")
        for s in sockets:
            s.close()
        self.assertEqual(v.end(signal.SIGTERM)[0], 0)

    def test_under_nohup_the_end_of_a_terminal_does_not_end_it(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it stays so in the process
        try:
            v = self.view(self.trace())
        finally:
            signal.signal(signal.SIGHUP, before)
        v.wait()
        v.process.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):  # it cannot have ended, however long that takes
            v.process.wait(0.3)
        self.assertEqual(v.end()[0], 0)

    def test_it_ends_while_it_loads(self):
        """However far it came: nothing of what it made for itself is left."""
        self.ascope("sim", "--framework", "pt", "--ranks", "4", "--dp", "4", "--kernels", "8000", "--out", "job", code=0)
        v = self.view("job")
        self.assertEqual(v.end(signal.SIGINT)[0], 0)
        self.assertFalse(glob.glob(glob.escape(self.dir) + "/**/*.part-*", recursive=True))

    def test_it_ends_while_a_statement_runs(self):
        """Even one that SQLite cannot stop: a single call of a function, which takes most of an hour."""
        v = self.view(self.trace())
        v.wait()
        sql = "SELECT instr(hex(zeroblob(8000000)), hex(zeroblob(4000000)) || '1')"
        with socket.create_connection(v.address, timeout=60) as s:
            s.sendall(("GET %sapi/sql?%s HTTP/1.1\r\nHost: %s\r\n\r\n" % (
                v.url.path, urllib.parse.urlencode({"input": 0, "q": sql}), v.url.netloc)).encode())
            with open("/proc/%d/stat" % v.process.pid, encoding="ascii") as f:
                before = int(f.read().split()[13])
            used = before
            while used < before + 50:  # hundredths of a second: it runs
                with open("/proc/%d/stat" % v.process.pid, encoding="ascii") as f:
                    used = int(f.read().split()[13])
                time.sleep(0.05)
            self.assertEqual(v.end(signal.SIGTERM)[0], 0)

    def opened(self, screen, use=lambda url: None):
        """The address, what xdg-open says (its argument, the signals that are blocked, its session), and the result of `use`."""
        said, folder = os.path.join(self.dir, screen), os.path.join(self.dir, "bin")
        os.makedirs(folder, exist_ok=True)
        os.mkfifo(said)
        with open(os.path.join(folder, "xdg-open"), "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho \"$1 $(grep SigBlk /proc/$$/status) $(cut -d' ' -f6 /proc/$$/stat)\" > '%s'\n" % said)
        os.chmod(f.name, 0o755)
        env = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")}
        env.update({screen: ":1", "PATH": folder + ":" + env["PATH"]})
        with subprocess.Popen([ASCOPE, "view", self.trace(), "--quiet"], stdout=subprocess.PIPE, text=True, cwd=self.dir, env=env) as p:
            url = p.stdout.readline().strip()
            try:
                with open(said, encoding="utf-8") as f:
                    words = f.read().split()
                used = use(url)
            finally:
                p.terminate()
            self.assertEqual(p.wait(60), 0)
        return url, words, used

    def test_the_browser_is_opened_where_there_is_a_screen(self):
        for screen in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            with self.subTest(screen):
                url, (asked, _, blocked, session), _ = self.opened(screen)
                self.assertEqual(asked, url)
                self.assertEqual(int(blocked, 16), 0)
                self.assertNotEqual(int(session), os.getsid(0))

    def test_arguments_of_the_browser_are_of_no_use_to_other_users(self):
        """They can read them in /proc: the token of the pages is not in them, and the way to it is open to one user only."""
        def answer(url, user=None):
            """The head and the text of an answer to a process of this or another user."""
            at, (read, write) = urllib.parse.urlsplit(url), os.pipe()
            child = os.fork()
            if child == 0:
                with contextlib.suppress(BaseException):
                    if user:
                        os.setgroups([])
                        os.setgid(user)
                        os.setuid(user)
                    with socket.socket() as s:
                        s.connect((at.hostname, at.port))
                        s.sendall(("GET %s HTTP/1.0\r\nHost: %s\r\n\r\n" % (at.path, at.netloc)).encode())
                        for some in iter(lambda: s.recv(4096), b""):
                            os.write(write, some)
                os._exit(0)
            os.close(write)
            with open(read, encoding="utf-8") as f:
                said = f.read()
            os.waitpid(child, 0)
            return said

        def answers(url):
            return [answer(url), answer(url), answer(url[:-1] + "xy")] + ([answer(url, 65534)] if os.getuid() == 0 else [])
        url, (asked, *_), answered = self.opened("DISPLAY", answers)
        mine, again, *others = answered
        self.assertEqual(mine, again)
        self.assertTrue(mine.startswith("HTTP/1.1 303 "), mine)
        token, = re.findall(r"^Location: /([0-9a-f]{32})/$", mine, re.M)
        self.assertNotIn(token, asked)
        for other in others:
            self.assertTrue(other.startswith("HTTP/1.1 403 "), other)
            self.assertNotIn(token, other)

    def test_two_headers_that_contradict_each_other_are_refused(self):
        v = self.view(self.trace())
        for more in ("Host: evil", "Host: %s" % v.url.netloc, "Origin: http://%s\r\nOrigin: http://evil" % v.url.netloc,
                     "Content-Length: 0\r\nContent-Length: 0", "Content-Length: 0\r\nContent-Length: 7", "no colon", " folded", "A: b\nHost: evil"):
            with self.subTest(more), socket.create_connection(v.address, timeout=60) as s:
                s.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n\r\n" % (v.url.path, v.url.netloc, more)).encode())
                with s.makefile("rb") as f:
                    self.assertEqual(f.readline(), b"HTTP/1.1 400 Bad Request\r\n")
                    self.assertIn(b"Connection: close\r\n", f.read())

    def test_other_addresses_are_refused_with_a_tunnel(self):
        r = self.ascope("view", self.trace(), "--host", "0.0.0.0", "--port", "7001", code=2)
        self.assert_one_line(r.stderr, "--host 0.0.0.0", "ssh -L 7001:127.0.0.1:7001 ")
        self.assertEqual(r.stdout, "")
        v = self.view(self.trace(), "--host", "127.0.0.1")
        self.assertEqual(len(v.wait()), 1)
        self.assertIn("ssh -L %d:127.0.0.1:%d HOST" % (v.url.port, v.url.port), v.process.stdout.readline())

    def test_files_that_are_no_input_are_refused_before_there_is_a_page(self):
        """One line for each, whether a browser or a file is to show it; what is good beside them is shown."""
        junk = {"x.json": b'{"a": 1}', "text.json": b"hello", "numbers.json": b"[1, 2, 3]", "empty.json": b"", "empty.db": b"", "x.db": b"no database",
                "x.json.gz": gzip.compress(b"hello"), "x.png": b"\x89PNG\r\n\x1a\n", "long.json": b"long " * 300000, "cut.db": b"SQLite format 3\0" + bytes(999)}
        for name, text in junk.items():
            with open(os.path.join(self.dir, name), "wb") as f:
                f.write(text)
        with contextlib.closing(sqlite3.connect(os.path.join(self.dir, "none.db"))) as db:
            db.executescript("CREATE TABLE t(a); DROP TABLE t")
        for folder in ("empty", "x_ascend_pt", "PROF_1/host"):
            os.makedirs(os.path.join(self.dir, folder))
        for name in [*junk, "none.db", "empty", "x_ascend_pt", "PROF_1"]:
            for to in ("--no-open",), ("--export", "page.html"):
                with self.subTest(name, to=to):
                    r = self.ascope("view", name, *to, code=1)
                    self.assertEqual(r.stdout, "")
                    self.assert_one_line(r.stderr, name + ": ")
        self.assertFalse(os.path.exists(os.path.join(self.dir, "page.html")))
        r = self.ascope("view", *junk, self.trace(), "--export", "page.html", code=3)
        self.assertEqual(r.stderr.count("\n"), len(junk), r.stderr)
        v = self.view("x.json", "trace.json")
        self.assertEqual([i["name"] for i in v.wait()], ["trace.json"])
        # A long object may have its events behind other members, and a trace without events is one.
        with open(os.path.join(self.dir, "late.json"), "w", encoding="utf-8") as f:
            json.dump({"other": ["x" * 100] * 20000, "traceEvents": EVENTS}, f)
        for name in "late.json", self.trace([], "none.json"):
            self.ascope("view", name, "--export", "page.html", code=0)

    def test_what_is_no_input(self):
        r = self.ascope("view", "absent", code=2)
        self.assert_one_line(r.stderr, "absent", "No such file")
        busy = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(busy.close)
        r = self.ascope("view", self.trace(), "--no-open", "--port", str(busy.getsockname()[1]), code=1)
        self.assert_one_line(r.stderr, "127.0.0.1", "in use")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
