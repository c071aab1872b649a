#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope view on results: databases of the vendor's schema, folders of results, and databases that are damaged.

usage: test_view_results.py ASCOPE SOURCE_ROOT [unittest options]
"""
import glob
import json
import os
import pathlib
import random
import re
import resource
import socket
import sqlite3
import sys
import time
import unittest

import test_view
from cli_case import Case
from endless_db import make_endless

T = 1_700_000_000_000_000_000  # ns
TID = 77 << 32 | 5


def database(path, drop=(), more=()):
    """A small database of the vendor's schema: two steps, an operator, its call, a kernel and a collective in each."""
    if os.path.exists(path):
        os.unlink(path)
    db = sqlite3.connect(path)
    texts = ["aten::mm", "launch", "MatMulV2", "AI_CORE", "hcom_allReduce_", "world", "KERNEL_AICORE", "PTA", "train.py(3): f",
             "main.py(1): <module>", test_view.HOSTILE, "mark", "read"]
    of = {text: i for i, text in enumerate(texts)}
    db.executescript("""
        CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE STEP_TIME(id INTEGER, startNs INTEGER, endNs INTEGER);
        CREATE TABLE PYTORCH_API(startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, callchainId INTEGER, type INTEGER);
        CREATE TABLE CONNECTION_IDS(id INTEGER, connectionId INTEGER);
        CREATE TABLE PYTORCH_CALLCHAINS(id INTEGER, stack INTEGER, stackDepth INTEGER);
        CREATE TABLE CANN_API(startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER PRIMARY KEY, name INTEGER);
        CREATE TABLE TASK(startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, taskType INTEGER, streamId INTEGER);
        CREATE TABLE COMPUTE_TASK_INFO(name INTEGER, globalTaskId INTEGER PRIMARY KEY, opType INTEGER, blockDim INTEGER, taskType INTEGER);
        CREATE TABLE COMMUNICATION_OP(opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, opId INTEGER PRIMARY KEY);
        CREATE TABLE MSTX_EVENTS(startNs INTEGER, endNs INTEGER, eventType INTEGER, message INTEGER, globalTid INTEGER, domainId INTEGER);
        CREATE TABLE HBM(deviceId INTEGER, timestampNs INTEGER, bandwidth NUMERIC, hbmId INTEGER, type INTEGER);
        CREATE TABLE MEMORY_RECORD(component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, deviceId INTEGER);
        CREATE TABLE OP_MEMORY(name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, deviceId INTEGER);
    """)
    db.executemany("INSERT INTO STRING_IDS VALUES(?, ?)", enumerate(texts))
    db.executemany("INSERT INTO ENUM_API_TYPE VALUES(?, ?)", [(50001, "op"), (10000, "node")])
    for step in range(2):
        t = T + step * 1_000_000
        db.execute("INSERT INTO STEP_TIME VALUES(?, ?, ?)", (step + 7, t, t + 900_000))
        db.execute("INSERT INTO PYTORCH_API VALUES(?, ?, ?, ?, ?, ?, ?)", (str(t + 1000), str(t + 90_000), TID, step, of["aten::mm"], 3, 50001))
        db.execute("INSERT INTO CONNECTION_IDS VALUES(?, ?)", (step, 100 + step))
        db.execute("INSERT INTO CANN_API VALUES(?, ?, ?, ?, ?, ?)", (t + 5000, t + 9000, 10000, TID, 100 + step, of["launch"]))
        db.execute("INSERT INTO TASK VALUES(?, ?, 0, ?, ?, ?, 2)", (t + 20_000, t + 320_000, 100 + step, step, of["KERNEL_AICORE"]))
        db.execute("INSERT INTO COMPUTE_TASK_INFO VALUES(?, ?, ?, 24, ?)", (of["MatMulV2"], step, of["AI_CORE"], of["KERNEL_AICORE"]))
        db.execute("INSERT INTO COMMUNICATION_OP VALUES(?, ?, ?, ?, ?, ?)", (of["hcom_allReduce_"], t + 300_000, t + 400_000, 900 + step, of["world"], step))
        db.execute("INSERT INTO HBM VALUES(0, ?, ?, 1, ?)", (t, 10.5 + step, of["read"]))
        db.execute("INSERT INTO MEMORY_RECORD VALUES(?, ?, ?, 4096, 0)", (of["PTA"], t + 1500, 512 * (step + 1)))
    db.executemany("INSERT INTO PYTORCH_CALLCHAINS VALUES(3, ?, ?)", [(of["train.py(3): f"], 0), (of["main.py(1): <module>"], 1)])
    db.executemany("INSERT INTO MSTX_EVENTS VALUES(?, ?, ?, ?, ?, 65535)",
                   [(T + 50, T + 50, 0, of["mark"], TID), (T + 60, T + 70, 1, of[test_view.HOSTILE], TID)])
    db.executemany("INSERT INTO OP_MEMORY VALUES(?, ?, ?, ?, 0)",
                   [(of["aten::mm"], 512, T + 1400, None), (of["launch"], 256, T + 1450, T + 2000)])
    for table in drop:
        db.execute("DROP TABLE " + table)
    for sql in more:
        db.execute(sql)
    db.commit()
    db.close()
    return path


class Results(Case):
    def view(self, *words):
        v = test_view.Viewer(self, *words)
        self.addCleanup(v.end_well, self)
        return v

    def rows(self, v, sql, number=0):
        return v.json("sql", input=number, q=sql)["rows"]

    def test_a_database_is_a_timeline(self):
        database(os.path.join(self.dir, "ascend_pytorch_profiler_0.db"))
        v = self.view("ascend_pytorch_profiler_0.db")
        about, = v.wait()
        self.assertEqual((about["state"], about["kind"], about["has_memory"]), ("ready", "database", True))
        self.assertEqual(self.rows(v, "SELECT process, thread, name, category, begin_ns, dur_ns FROM slices WHERE begin_ns < 900000 ORDER BY begin_ns, dur_ns DESC"), [
            ["Steps", "Step", "Step 7", "STEP_TIME", 0, 900000],
            ["Marks, process 77", "Domain ", test_view.HOSTILE, "MSTX_EVENTS", 60, 10],
            ["Python, process 77", "Thread 5", "aten::mm", "op", 1000, 89000],
            ["CANN, process 77", "Thread 5", "launch", "node", 5000, 4000],
            ["NPU 0", "Stream 2", "MatMulV2", "TASK", 20000, 300000],
            ["Communication, NPU 0", "Group world", "hcom_allReduce_", "COMMUNICATION_OP", 300000, 100000]])
        self.assertEqual(self.rows(v, "SELECT a.name, b.name FROM flows JOIN slices a ON a.id = from_id JOIN slices b ON b.id = to_id ORDER BY 1, 2"),
                         [["aten::mm", "launch"]] * 2 + [["launch", "MatMulV2"]] * 2)
        self.assertEqual(self.rows(v, "SELECT name, series, value FROM counters WHERE name LIKE 'HBM%'"),
                         [["HBM 1 read", "bandwidth", 10.5], ["HBM 1 read", "bandwidth", 11.5]])
        args, = self.rows(v, "SELECT args ->> 'opType', args ->> 'blockDim' FROM slices WHERE name = 'MatMulV2' LIMIT 1")
        self.assertEqual([str(a) for a in args], ["AI_CORE", "24"])
        self.assertEqual(self.rows(v, "SELECT args ->> 'Call stack' FROM slices WHERE name = 'aten::mm' LIMIT 1"), [["train.py(3): f;\nmain.py(1): <module>"]])
        series, = v.json("overview", input=0)["series"]
        self.assertEqual([(s["name"], s["time"], s["parts"]) for s in series["steps"]],
                         [("7", 900000, [280000, 20000, 80000, 520000]), ("8", 900000, [280000, 20000, 80000, 520000])])
        memory = v.json("memory", input=0, allocator=0)
        self.assertEqual((memory["allocators"], memory["peak"]), (["NPU 0, PTA"], [1001500, 1024, 4096]))
        self.assertEqual(v.json("memory_at", input=0, allocator=0, at=1500)["bytes"], 768)
        self.assertEqual(v.json("memory_at", input=0, allocator=0, at=500000)["bytes"], 512)

    def test_a_database_of_a_gpu_has_its_words_and_counters(self):
        database(os.path.join(self.dir, "a.db"), more=[
            "CREATE TABLE NPU_INFO(id INTEGER, name TEXT)", "INSERT INTO NPU_INFO VALUES(0, 'CUDA')",
            "CREATE TABLE GPU_COUNTERS(deviceId INTEGER, timestampNs INTEGER, smClock INTEGER, power INTEGER, temperature INTEGER)",
            f"INSERT INTO GPU_COUNTERS VALUES(0, {T + 10}, 1980, 350500, NULL)"])
        v = self.view("a.db")
        v.wait()
        self.assertEqual({row[0] for row in self.rows(v, "SELECT DISTINCT process FROM slices")},
                         {"Steps", "Marks, process 77", "Python, process 77", "CUDA, process 77", "GPU 0", "Communication, GPU 0"})
        self.assertEqual(self.rows(v, "SELECT name, series, value FROM counters WHERE name LIKE 'GPU%' ORDER BY 1"),
                         [["GPU power", "power", 350500], ["GPU smClock", "smClock", 1980]])
        self.assertEqual(v.json("memory", input=0, allocator=0)["allocators"], ["GPU 0, PTA"])
        for name, rows in (("kernels", ["MatMulV2"]), ("API calls", ["launch"]), ("collectives", ["hcom_allReduce_"] * 2)):
            self.assertEqual([row[0] for row in v.json("table", input=0, name=name)["rows"]], rows, name)

    def test_its_tables_can_be_read_and_only_read(self):
        path = database(os.path.join(self.dir, "a b?c#d%.db"))
        before = pathlib.Path(path).read_bytes()
        v = self.view(path)
        v.wait()
        self.assertIn("COMPUTE_TASK_INFO", v.json("tables", input=0)["tables"])
        table = v.json("table", input=0, name="STEP_TIME", sort=0, down=1)
        self.assertEqual([r[0] for r in table["rows"]], [8, 7])
        self.assertEqual(v.json("table", input=0, name="STRING_IDS", filter="aten")["rows"], [[0, "aten::mm"]])
        self.assertEqual(self.rows(v, "SELECT count(*) FROM db.TASK JOIN slices ON startNs - %d = begin_ns" % T), [[2]])
        # A time in ns has more digits than a number of JavaScript keeps: it is a text, in a column of numbers.
        times = v.json("table", input=0, name="STEP_TIME", sort=0)
        self.assertEqual([(row[1], column["is_number"]) for row, column in zip(times["rows"], [times["columns"][1]] * 2)],
                         [(str(T), True), (str(T + 1_000_000), True)])
        self.assertEqual(self.rows(v, "SELECT 9007199254740992, -9007199254740993, 5"), [[9007199254740992, "-9007199254740993", 5]])
        for sql in ("DELETE FROM db.TASK", "CREATE TABLE db.x(a)", "PRAGMA db.journal_mode = wal", "ATTACH 'x.db' AS y", "VACUUM db"):
            status, _, _ = v.raw(v.url.path + "api/sql?input=0&q=" + test_view.urllib.parse.quote(sql))
            self.assertEqual(status, 400, sql)
        self.assertEqual(pathlib.Path(path).read_bytes(), before)
        self.assertEqual(os.listdir(self.dir), [os.path.basename(path)])

    def test_folders_of_results(self):
        for name in ("job/ASCEND_PROFILER_OUTPUT", "text/ASCEND_PROFILER_OUTPUT", "cluster_analysis_output", "x_ascend_pt/ASCEND_PROFILER_OUTPUT"):
            os.makedirs(os.path.join(self.dir, name))
        database(os.path.join(self.dir, "job/ASCEND_PROFILER_OUTPUT/ascend_mindspore_profiler_3.db"))
        with open(os.path.join(self.dir, "text/ASCEND_PROFILER_OUTPUT/trace_view.json"), "w", encoding="utf-8") as f:
            f.write('[{"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]')
        db = sqlite3.connect(os.path.join(self.dir, "cluster_analysis_output/cluster_analysis.db"))
        db.executescript("CREATE TABLE ClusterTimeSummary(rank, step, computation); INSERT INTO ClusterTimeSummary VALUES(0, 1, 2.5)")
        db.close()
        with open(os.path.join(self.dir, "x_ascend_pt/ASCEND_PROFILER_OUTPUT/step_trace_time.csv"), "w", encoding="utf-8") as f:
            f.write("Step,Computing\n3,1.5\n")  # no timeline, no database: its tables
        v = self.view("job", "text/ASCEND_PROFILER_OUTPUT", "cluster_analysis_output", "x_ascend_pt")
        self.assertEqual([(i["name"], i["state"]) for i in v.wait(4)],
                         [("ascend_mindspore_profiler_3.db", "ready"), ("trace_view.json", "ready"), ("cluster_analysis.db", "ready"),
                          ("ASCEND_PROFILER_OUTPUT", "ready")])
        self.assertEqual(v.json("table", input=3, name="step_trace_time")["rows"], [[3, 1.5]])
        self.assertEqual(v.json("table", input=2, name="ClusterTimeSummary")["rows"], [[0, 1, 2.5]])
        self.assertIn(["tables", "1"], v.json("overview", input=2)["facts"])

    def test_steps_of_an_npus_timeline_are_those_of_its_overlap_row(self):
        """trace_view.json has no category "kernel": what the device did is in the row "Overlap Analysis"."""
        events = [{"ph": "M", "name": "process_name", "pid": 9, "args": {"name": "Overlap Analysis"}}]
        for step, device_us in enumerate((100, 100, 400, 100, 100)):
            at = 1000 * step
            events.append({"ph": "X", "name": "ProfilerStep#%d" % step, "cat": "cpu_op", "ts": str(at), "dur": device_us + 80, "pid": 1, "tid": 1})
            events.append({"ph": "X", "name": "aten::mm", "cat": "cpu_op", "ts": str(at + 1), "dur": 5, "pid": 1, "tid": 1})
            for name, begin, us in (("Computing", 10, device_us), ("Communication", device_us, 40), ("Communication(Not Overlapped)", device_us + 10, 30),
                                    ("Free", device_us + 40, 20)):
                events.append({"ph": "X", "name": name, "ts": str(at + begin), "dur": us, "pid": 9, "tid": 1})
        with open(os.path.join(self.dir, "trace_view.json"), "w", encoding="utf-8") as f:
            json.dump(events, f)
        v = self.view("trace_view.json")
        v.wait()
        series, = v.json("overview", input=0)["series"]
        self.assertNotIn("on the host", series["title"])
        self.assertEqual([s["parts"] for s in series["steps"]],
                         [[(us - 10) * 1000, 10_000, 30_000, 50_000] for us in (100, 100, 400, 100, 100)])
        self.assertEqual(series["selected"], 2)

    def test_cells_of_text_keep_all_of_their_digits(self):
        folder = os.path.join(self.dir, "ASCEND_PROFILER_OUTPUT")
        os.makedirs(folder)
        row = ["1700000000123456.789\t", "12345678901234567890", "1700000000123456789", "-42", "0.125", "007", "1e400", "12:30", "-", "5 "]
        with open(os.path.join(folder, "kernel_details.csv"), "w", encoding="utf-8", newline="") as f:
            f.write("Start Time(us),Group,ns,a,A,b,,d,e," + "é" * 40 + "\n" + ",".join(row) + "\n")
        v = self.view("ASCEND_PROFILER_OUTPUT")
        v.wait()
        table = v.json("table", input=0, name="kernel_details")
        self.assertEqual([c["name"] for c in table["columns"]], ["Start Time(us)", "Group", "ns", "a", "A, column 5", "b", "column 7", "d", "e", "é" * 32])
        self.assertEqual(table["rows"], [["1700000000123456.789", "12345678901234567890", "1700000000123456789", -42, 0.125, "007", "1e400", "12:30", "-", 5]])

    def test_files_that_are_not_shown_are_counted(self):
        folder = os.path.join(self.dir, "cluster_analysis_output")
        os.makedirs(folder)
        for name in ["%03d.csv" % i for i in range(203)] + ["x" * 70 + ".csv"]:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write("a\n1\n")
        with open(os.path.join(folder, "000.csv"), "wb") as f:
            f.truncate((256 << 20) + 1)
        v = self.view("cluster_analysis_output")
        v.wait()
        facts = dict(v.json("overview", input=0)["facts"])
        self.assertEqual((facts["tables"], facts["000"], facts["files beyond the first 200 or with long names, left out"]),
                         ("199", "not read: larger than 256 MiB", "4"))
        self.assertEqual(v.json("tables", input=0)["tables"][-1], "199")

    def test_tables_of_a_cluster_as_text(self):
        folder = os.path.join(self.dir, "cluster_analysis_output")
        os.makedirs(folder)
        files = {
            "cluster_step_trace_time.csv": '\ufeffStep,Type,"Index ""x""",Computing\r\n0,rank,"(0, 1)",12.50\r\n1,rank,%s,3,4,5\r\n,,' % test_view.HOSTILE.replace('"', ""),
            "cluster_communication.json": '{"p2p": {"step0": [1, 2.5, "x"]}, "empty": {}}', "bad.json": "{", "empty.csv": "", "note.txt": "x",
        }
        for name, text in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as f:
                f.write(text)
        v = self.view("cluster_analysis_output/")
        about, = v.wait()
        self.assertEqual((about["state"], about["kind"]), ("ready", "tables"), about)
        table = v.json("table", input=0, name="cluster_step_trace_time")
        self.assertEqual([c["name"] for c in table["columns"]], ["Step", "Type", 'Index "x"', "Computing"])
        self.assertEqual(table["rows"], [[0, "rank", "(0, 1)", 12.5], [1, "rank", test_view.HOSTILE.replace('"', ""), 3], [None, None, None, None]])
        self.assertEqual(self.rows(v, "SELECT path, value FROM db.cluster_communication"), [["$.p2p.step0[0]", 1], ["$.p2p.step0[1]", 2.5], ["$.p2p.step0[2]", "x"]])
        facts = dict(v.json("overview", input=0)["facts"])
        self.assertEqual((facts["tables"], facts["rows"], facts["cells beyond the columns, left out"], facts["bad"]), ("2", "6", "2", "cannot be read as a table"))
        v.json("rows", input=0)
        self.assertEqual(v.raw(v.url.path + "api/sql?input=0&q=DELETE+FROM+db.cluster_communication")[0], 400)

    def test_databases_that_are_not_as_they_should_be(self):
        """Each is shown as far as it goes, or refused with one line; nobody is harmed."""
        rng = random.Random(3)
        whole = pathlib.Path(database(os.path.join(self.dir, "whole.db"))).read_bytes()
        cases = {
            "empty.db": b"", "header.db": whole[:16], "page.db": whole[:4096], "half.db": whole[:len(whole) // 2],
            "noise.db": whole[:100] + rng.randbytes(20000),
        }
        for i in range(20):
            flipped = bytearray(whole)
            for _ in range(30):
                flipped[rng.randrange(100, len(flipped))] = rng.randrange(256)
            cases["flipped%d.db" % i] = bytes(flipped)
        for name, data in cases.items():
            with open(os.path.join(self.dir, name), "wb") as f:
                f.write(data)
        made = {
            "no_strings.db": dict(drop=["STRING_IDS"]), "no_tasks.db": dict(drop=["TASK", "STEP_TIME", "MEMORY_RECORD"]),
            "types.db": dict(more=["UPDATE TASK SET startNs = 'soon', endNs = x'00ff', streamId = 1e300", "UPDATE STEP_TIME SET endNs = 'x'",
                                   "INSERT INTO TASK VALUES(9223372036854775807, -9223372036854775808, -1, -1, -1, -1, -1)",
                                   "INSERT INTO HBM VALUES(NULL, 1e400, 1e400, 'a', x'01')"]),
            "view.db": dict(drop=["TASK"], more=["CREATE VIEW TASK AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT x AS startNs FROM c"]),
            "computed.db": dict(drop=["HBM"], more=["CREATE TABLE HBM(timestampNs, bandwidth AS (length(zeroblob(1000000000))))", "INSERT INTO HBM VALUES(5)"]),
            "columns.db": dict(drop=["CANN_API"], more=["CREATE TABLE CANN_API(startNs)", "INSERT INTO CANN_API VALUES(%d)" % (T + 3)]),
        }
        for name, how in made.items():
            database(os.path.join(self.dir, name), **how)
        names = [*cases, *made, "whole.db"]
        v = self.view(*names)
        names = [i["name"] for i in v.json("about")["inputs"]]  # without those that were refused
        self.assertFalse({"empty.db", "header.db"} & set(names))
        inputs = {i["name"]: i for i in v.wait(len(names))}
        for name, one in inputs.items():
            with self.subTest(name):
                if one["state"] == "failed":
                    self.assertRegex(one["message"], "^[^\n]+$")
                else:
                    number = names.index(name)
                    v.json("rows", input=number)
                    v.json("overview", input=number)
                    v.json("tables", input=number)
        self.assertEqual({name: inputs[name]["state"] for name in [*made, "whole.db"]}, dict.fromkeys([*made, "whole.db"], "ready"))
        self.assertEqual(self.rows(v, "SELECT count(*) FROM slices WHERE process LIKE 'NPU%'", names.index("view.db")), [[0]])
        self.assertEqual(self.rows(v, "SELECT name, dur_ns FROM slices WHERE process = 'CANN, process 0'", names.index("columns.db")), [["call", 0]])
        facts = dict(v.json("overview", input=names.index("types.db"))["facts"])
        self.assertEqual(facts["rows without a time, left out"], "2")
        self.assertIn("damaged, shown in part", dict(v.json("overview", input=names.index("computed.db"))["facts"]))
        self.assertEqual(v.end()[0], 0)

    def test_databases_that_never_end(self):
        make_endless(database(os.path.join(self.dir, "schema.db")))
        self.assertIn("pages refer to each other", self.ascope("view", "schema.db", "--export", "r.html", code=1).stderr)
        make_endless(database(os.path.join(self.dir, "task.db")), "TASK")
        self.ascope("view", "task.db", "--export", "r.html", code=3)
        v = self.view("task.db")
        v.wait()
        with socket.create_connection(v.address, timeout=60) as s:
            s.sendall(("GET %sapi/sql?input=0&q=SELECT+count(*)+FROM+db.TASK HTTP/1.1\r\nHost: %s\r\n\r\n" % (v.url.path, v.url.netloc)).encode())
            time.sleep(0.3)
            began = time.monotonic()
            self.assertEqual(v.end()[0], 0)
            self.assertLess(time.monotonic() - began, 15)

    def test_a_report_is_one_page_without_requests_and_scripts(self):
        database(os.path.join(self.dir, "a.db"))
        self.assertEqual(self.ascope("view", "a.db", "--export", "report.html", "--range", "0,500us").stdout, "written to report.html\n")
        with open(os.path.join(self.dir, "report.html"), encoding="utf-8") as f:
            page = f.read()
        parsed = test_view.Page(self, page)
        titles = [t for t in parsed.texts if "," in t]
        self.assertIn("MatMulV2, 300.000 µs", titles)
        self.assertIn("hcom_allReduce_, 100.000 µs", titles)
        self.assertIn(test_view.HOSTILE + ", 10 ns", titles)
        self.assertIn("mark, 0 ns", titles)
        self.assertIn("2 steps, median 900 us", parsed.texts)
        self.assertNotIn("Step 8, 900.000 µs", titles)  # of the strip only: it is outside the range
        self.assertIn("Timeline from 0 ns to 500.000 µs", "".join(parsed.texts))
        self.assertEqual(sorted(os.listdir(self.dir)), ["a.db", "report.html"])
        again = self.ascope("view", "a.db", "--export", "-", "--range", "0,500us").stdout
        self.assertEqual(again, page)

    def test_a_stall_does_not_flatten_the_other_steps(self):
        self.ascope("sim", "--framework", "pt", "--kernels", "400", "--steps", "4", "--stall", "2:50ms", "--out", "job", code=0)
        page = self.ascope("view", "job", "--export", "-", "--range", "0,1us", code=0).stdout
        steps = re.findall("<g><title>Step.*", page)
        bars = [sum(float(h) for h in re.findall(r'<rect class="p\d"[^>]* height="([0-9.]+)"/>', step)) for step in steps]
        self.assertEqual(['class="cut"' in step for step in steps], [False, False, True, False])
        self.assertIn("cut off at 4 medians", page)
        self.assertGreater(min(bars), 0.15 * max(bars))  # without the cut: a hundredth

    def test_reports_that_cannot_be_written(self):
        database(os.path.join(self.dir, "a.db"))
        r = self.ascope("view", "a.db", "--export", "absent/report.html", code=1)
        self.assert_one_line(r.stderr, "absent/report.html", "No such file")
        for words in (("--range", "5"), ("--range", "5,x"), ("--range", "9ms,1ms"), ("--range", "-1,5"), ("--range", "nan,5")):
            r = self.ascope("view", "a.db", "--export", "r.html", *words, code=2)
            self.assert_one_line(r.stderr, "--range", "expected FROM,TO")
        r = self.ascope("view", "a.db", "--range", "1,5", code=2)
        self.assert_one_line(r.stderr, "--range", "--export")
        with open(os.path.join(self.dir, "bad.json"), "w", encoding="utf-8") as f:
            f.write("5")
        r = self.ascope("view", "bad.json", "--export", "r.html", code=1)
        self.assert_one_line(r.stderr, "bad.json")
        self.assertFalse(os.path.exists(os.path.join(self.dir, "r.html")))
        r = self.ascope("view", "a.db", "bad.json", "--export", "r.html", code=3)
        self.assert_one_line(r.stderr, "bad.json")
        self.assertTrue(os.path.exists(os.path.join(self.dir, "r.html")))

    def test_a_report_of_damaged_input_says_so(self):
        """A trace, a collection, the ranks of a job, two runs, a database: the page is without something, and the exit code is 3."""
        self.ascope("sim", "--framework", "pt", "--ranks", "2", "--dp", "2", "--kernels", "24", "--out", "job", code=0)
        first, second = sorted(glob.glob(os.path.join(self.dir, "job", "*")))
        with open(os.path.join(self.dir, "good.json"), "w", encoding="utf-8") as f:
            json.dump({"traceEvents": test_view.EVENTS}, f)
        with open(os.path.join(self.dir, "bad.json"), "w", encoding="utf-8") as f:
            f.write(json.dumps({"traceEvents": test_view.EVENTS})[:-20])
        db = sqlite3.connect(database(os.path.join(self.dir, "bad.db")))
        page, = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'TASK'").fetchone()
        db.close()
        with open(os.path.join(self.dir, "bad.db"), "r+b") as f:
            f.seek((page - 1) * 4096)
            f.write(bytes(4096))
        self.ascope("view", "job", "--export", "r.html", code=0)
        os.truncate(os.path.join(first, "FRAMEWORK/torch.op_range"), os.path.getsize(os.path.join(first, "FRAMEWORK/torch.op_range")) - 5)
        for words, code in (((second,), 0), ((first,), 3), (("job",), 3), (("bad.json",), 3), (("good.json", "bad.json"), 3), (("bad.db",), 3)):
            with self.subTest(words=words):
                r = self.ascope("view", *words, "--export", "r.html", code=code)
                self.assertEqual(r.stderr.count("\n"), code // 3, r.stderr)
                self.assertEqual(r.stderr.count("the page"), code // 3, r.stderr)

    def test_many_processes_cost_as_much_as_as_many_threads(self):
        with open(os.path.join(self.dir, "a.json"), "w", encoding="utf-8") as f:
            json.dump([test_view.event("a", i, 5, pid=i) for i in range(120000)], f)
        limit = (20, 20)  # seconds of a CPU; it takes half of one, and a square of them takes a minute
        self.ascope("view", "a.json", "--export", "r.html", code=0, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, limit))

    def test_what_is_in_a_wal_is_shown(self):
        path = database(os.path.join(self.dir, "x.db"))
        db = sqlite3.connect(path)
        self.addCleanup(db.close)
        db.execute("PRAGMA journal_mode = wal")
        db.execute("UPDATE STEP_TIME SET id = id + 900")
        db.commit()
        before = {name: pathlib.Path(os.path.join(self.dir, name)).read_bytes() for name in os.listdir(self.dir)}
        v = self.view(path)
        v.wait()
        self.assertEqual(self.rows(v, "SELECT name FROM slices WHERE process = 'Steps'"), [["Step 907"], ["Step 908"]])
        self.assertEqual(self.rows(v, "SELECT id FROM db.STEP_TIME"), [[907], [908]])
        self.assertNotIn("-wal file", dict(v.json("overview", input=0)["facts"]))
        self.assertEqual({name: pathlib.Path(os.path.join(self.dir, name)).read_bytes() for name in os.listdir(self.dir)}, before)

    def test_a_wal_of_another_database_is_ignored(self):
        path = database(os.path.join(self.dir, "x.db"))
        with open(path + "-wal", "wb") as f:
            f.write(bytes(5000))
        v = self.view(path)
        v.wait()
        self.assertEqual(self.rows(v, "SELECT id FROM db.STEP_TIME"), [[7], [8]])
        self.assertEqual(dict(v.json("overview", input=0)["facts"])["-wal file"], "ignored: its header is damaged")
        self.assertIn("x.db", self.ascope("view", path, "--export", "r.html", code=3).stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
