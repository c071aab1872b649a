#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The databases of *_ascend_pt directories: whole, the same every time, and in agreement with themselves and the timeline.

usage: test_pytorch_db.py ASCOPE SOURCE_ROOT [unittest options]

ASCOPE_REAL names a folder with results of real devices (db/*/ASCEND_PROFILER_OUTPUT), of an earlier release: current databases add columns.
"""
import csv
import glob
import hashlib
import itertools
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest

ASCOPE = SOURCE = None
NO_STRING = 4294967295
SAMPLES = "pt-a-npu", "pt-a-host", "own-pytorch", "own-threads", "own-training", "own-killed"
CLOCKS = 1, 1000, 20000
FIRST_OF_FRAMEWORK = 5 << 28
# Columns and tables that a viewer adds when it opens a database.
OF_A_VIEWER = {"depth", "waitNs"}
RENAMED = {"blockDim": "blockNum", "mixBlockDim": "mixBlockNum"}
TABLES_OF_A_VIEWER = {"sqlite_sequence", "status_info", "connectionCats", "OVERLAP_ANALYSIS"}


def coarse(raw, path, ticks):
    """A copy in which the clock of operators and queue ticks so rarely that many begin when others end."""
    shutil.copytree(raw, path, copy_function=shutil.copyfile)
    for name, clocks in ("torch.op_range", (0, 8)), ("torch.op_mark", (0,)):
        file = os.path.join(path, "FRAMEWORK", name)
        if not os.path.exists(file):
            continue
        with open(file, "rb") as f:
            data = bytearray(f.read())
        at = 0
        while at < len(data):  # kind, length, and the record with its fields
            for clock in clocks:
                value, = struct.unpack_from("<q", data, at + 6 + clock)
                struct.pack_into("<q", data, at + 6 + clock, value - value % ticks)
            at += 6 + struct.unpack_from("<I", data, at + 2)[0]
        with open(file, "wb") as f:
            f.write(data)
    return path


def analyse(which, out, *options, env=None, ticks=1):
    """-> folder of the results"""
    raw = glob.glob(os.path.join(SOURCE, "tests/data/%s/raw/*_ascend_pt" % (which if "-" in which else "pt-a-" + which)))[0]
    if ticks > 1:
        raw = coarse(raw, os.path.join(out + "-raw", os.path.basename(raw)), ticks)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ASCOPE_", "HCCL_"))} | (env or {})
    done = subprocess.run([ASCOPE, "analyse", raw, "--out", out, *options], capture_output=True, text=True, env=env, timeout=120)
    if done.returncode not in (0, 3):
        raise AssertionError("ascope analyse ended with %d: %s%s" % (done.returncode, done.stdout, done.stderr))
    return os.path.join(out, os.path.basename(raw), "ASCEND_PROFILER_OUTPUT")


def ns(us):
    return int(us.replace(".", ""))


def connect(path):
    return sqlite3.connect("file:%s?mode=ro" % path, uri=True)


def schema(db):
    return {t: [(r[1], r[2].upper(), bool(r[5])) for r in db.execute('PRAGMA table_info("%s")' % t)]
            for (t,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()

# A slice that would overlap another lies on a further row: the number of the thread is in the lower bits.
LANE = (1 << 24) - 1


class Databases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp()
        cls.results = {(which, dialect): analyse(which, os.path.join(cls.dir, which + dialect), "--export-type", "text,db",
                                                 "--dialect", dialect)
                       for which in ("npu", "host") for dialect in ("documented", "current")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir)

    def db(self, which, dialect="current", name="ascend_pytorch_profiler_*.db"):
        db = connect(glob.glob(os.path.join(self.results[which, dialect], name))[0])
        self.addCleanup(db.close)
        return db

    def rows(self, db, sql):
        return db.execute(sql).fetchall()

    def test_sqlite_finds_nothing_wrong(self):
        for key, folder in self.results.items():
            names = sorted(glob.glob(folder + "/*.db"))
            self.assertEqual(len(names), 2 if key[0] == "npu" else 1, names)
            for path in names:
                db = connect(path)
                self.assertEqual(self.rows(db, "PRAGMA integrity_check"), [("ok",)], path)
                db.close()

    def test_the_same_bytes_every_time(self):
        for which in "npu", "host":
            digests = set()
            for threads in "1", "2", "7":
                folder = analyse(which, os.path.join(self.dir, "again" + which + threads), "--export-type", "db", "--threads", threads)
                digests.add(tuple(map(digest, sorted(glob.glob(folder + "/*.db")))))
            self.assertEqual(len(digests), 1, which)

    def test_a_new_database_has_no_log_of_the_old_one(self):
        out = os.path.join(self.dir, "viewed")
        path = glob.glob(analyse("npu", out, "--export-type", "db") + "/ascend_pytorch_profiler_*.db")[0]
        wanted, viewer = digest(path), sqlite3.connect(path)
        self.addCleanup(viewer.close)
        for sql in "PRAGMA journal_mode=WAL", "UPDATE STRING_IDS SET value = ''":
            viewer.execute(sql)
        viewer.commit()
        self.assertTrue(os.path.exists(path + "-wal"))
        analyse("npu", out, "--export-type", "db")
        self.assertEqual((digest(path), glob.glob(path + "-*")), (wanted, []))

    def test_every_id_leads_somewhere(self):
        links = [("PYTORCH_API.name", "STRING_IDS.id"), ("PYTORCH_API.inputDtypes", "STRING_IDS.id"),
                 ("PYTORCH_API.inputShapes", "STRING_IDS.id"), ("PYTORCH_API.connectionId", "CONNECTION_IDS.id"),
                 ("PYTORCH_API.callchainId", "PYTORCH_CALLCHAINS.id"), ("PYTORCH_API.type", "ENUM_API_TYPE.id"),
                 ("PYTORCH_CALLCHAINS.stack", "STRING_IDS.id"), ("MEMORY_RECORD.component", "STRING_IDS.id"),
                 ("OP_MEMORY.name", "STRING_IDS.id"),
                 ("CONNECTION_IDS.id", "PYTORCH_API.connectionId"), ("PYTORCH_CALLCHAINS.id", "PYTORCH_API.callchainId")]
        for which in "npu", "host":
            db = self.db(which)
            for a, b in links:
                (ta, ca), (tb, cb) = a.split("."), b.split(".")
                lost = self.rows(db, f"SELECT DISTINCT {ca} FROM {ta} WHERE {ca} IS NOT NULL AND {ca}<>{NO_STRING} "
                                     f"AND {ca} NOT IN (SELECT {cb} FROM {tb} WHERE {cb} IS NOT NULL)")
                self.assertEqual(lost, [], "%s: %s without %s" % (which, a, b))

    def test_connections_have_two_ends(self):
        db = self.db("npu")
        calls = {c for (c,) in self.rows(db, "SELECT connectionId FROM CANN_API")}
        ends = {}
        for (c,) in self.rows(db, "SELECT connectionId FROM CONNECTION_IDS"):
            ends[c] = ends.get(c, 0) + 1
        for c, n in ends.items():
            if c >= FIRST_OF_FRAMEWORK:
                self.assertLessEqual(n, 2, c)
            else:
                self.assertIn(c, calls)
                self.assertEqual(n, 1, c)
        self.assertGreater(sum(c < FIRST_OF_FRAMEWORK for c in ends), 50)

    def test_operators_agree_with_the_timeline(self):
        for which in "npu", "host":
            db = self.db(which)
            text = dict(self.rows(db, "SELECT id, value FROM STRING_IDS"))
            frames = {}
            for chain, stack, depth in self.rows(db, "SELECT id, stack, stackDepth FROM PYTORCH_CALLCHAINS ORDER BY id, stackDepth"):
                self.assertEqual(len(frames.setdefault(chain, [])), depth)
                frames[chain].append(text.get(stack, ""))
            stored = sorted((int(a), int(b), t & 0xFFFFFFFF, text.get(n, ""), s, f, text.get(types), text.get(shapes),
                             ";\r\n".join(frames[chain]) if chain is not None else None)
                            for a, b, t, n, s, f, types, shapes, chain in self.rows(
                                db, "SELECT startNs, endNs, globalTid, name, sequenceNumber, fwdThreadId, inputDtypes, "
                                    "inputShapes, callchainId FROM PYTORCH_API WHERE type=50001"))
            shown = []
            with open(self.results[which, "current"] + "/trace_view.json", encoding="utf-8") as f:
                for e in json.load(f):
                    if e.get("cat") == "cpu_op":
                        begin = int(e["ts"].replace(".", ""))
                        a = e["args"]
                        shown.append((begin, begin + round(float(e["dur"]) * 1000), e["tid"] & LANE, e["name"], a["Sequence number"],
                                      a["Fwd thread id"], a.get("Input type") or None, a.get("Input Dims") or None,
                                      a.get("Call stack") or None))
            self.assertGreater(len(shown), 100)
            self.assertEqual(stored, sorted(shown, key=lambda r: [v if v is not None else "" for v in r]), which)

    def test_text_and_database_name_the_same_operator_for_a_kernel(self):
        for sample, ticks in itertools.product(SAMPLES, CLOCKS):
            folder = analyse(sample, os.path.join(self.dir, "owners%s%d" % (sample, ticks)), "--export-type", "text,db", ticks=ticks)
            db = connect(glob.glob(folder + "/ascend_pytorch_profiler*.db")[0])
            self.addCleanup(db.close)
            with open(folder + "/trace_view.json", encoding="utf-8") as f:
                flows = [e for e in json.load(f) if e.get("cat") in ("HostToDevice", "async_npu")]
            place = lambda e: (e["pid"], e["tid"], e["ts"])
            begin = {(e["cat"], e["id"]): e for e in flows if e["ph"] == "s"}
            launch = {place(e): ns(begin[e["cat"], e["id"]]["ts"]) for e in flows if e["ph"] == "f" and e["cat"] == "HostToDevice"}
            shown = {(launch[place(e)], ns(begin[e["cat"], e["id"]]["ts"]), begin[e["cat"], e["id"]]["tid"] & LANE)
                     for e in flows if e["ph"] == "f" and e["cat"] == "async_npu" and place(e) in launch}
            stored = set(self.rows(db, "SELECT a.startNs, CAST(p.startNs AS INTEGER), p.globalTid & %d FROM PYTORCH_API p "
                                       "JOIN CONNECTION_IDS c ON c.id=p.connectionId JOIN CANN_API a ON a.connectionId=c.connectionId "
                                       "WHERE p.type=50001 AND a.type=10000" % LANE)) if launch else set()
            launches = {at for at, _, _ in stored}
            self.assertEqual({x for x in shown if x[0] in launches}, {x for x in stored if x[0] in launch.values()}, (sample, ticks))
            if sample in ("pt-a-npu", "own-pytorch"):
                self.assertGreater(len(shown), 20)

    def test_own_times_add_up(self):
        for sample, ticks in itertools.product(SAMPLES, CLOCKS):
            folder = analyse(sample, os.path.join(self.dir, "times%s%d" % (sample, ticks)), "--export-type", "text", ticks=ticks)
            with open(folder + "/operator_details.csv", newline="", encoding="utf-8") as f:
                rows = list(csv.DictReader(f))
            self.assertGreater(len(rows), 30)
            for row in rows:
                own, total = (float(row["Host %s Duration(us)" % word]) for word in ("Self", "Total"))
                self.assertTrue(0 <= own <= total, (sample, ticks, row))
                self.assertLessEqual(float(row["Device Self Duration(us)"]), float(row["Device Total Duration(us)"]) + 1e-6, row)
            with open(folder + "/trace_view.json", encoding="utf-8") as f:
                spans = sorted((e["pid"], e["tid"], ns(e["ts"]), round(1000 * e["dur"])) for e in json.load(f) if e.get("cat") == "cpu_op" and "ProfilerStep#" not in e["name"])
            union, of, last = 0, None, 0
            for process, thread, begin, lasts in spans:
                last = last if of == (process, thread) else 0
                union, of, last = union + max(0, begin + lasts - max(begin, last)), (process, thread), max(last, begin + lasts)
            own_ns = sum(round(1000 * float(row["Host Self Duration(us)"])) for row in rows)
            self.assertLessEqual(own_ns, union, (sample, ticks))

    def test_steps_are_ranges_of_operators(self):
        for which in "npu", "host":
            db = self.db(which)
            steps = self.rows(db, "SELECT id, startNs, endNs FROM STEP_TIME")
            ops = self.rows(db, "SELECT CAST(substr(value, 14) AS INTEGER), CAST(startNs AS INTEGER), CAST(endNs AS INTEGER) FROM "
                                "PYTORCH_API JOIN STRING_IDS ON STRING_IDS.id=name WHERE value LIKE 'ProfilerStep#%' ORDER BY 2")
            self.assertEqual(steps, ops)
            self.assertEqual(len(steps), 2)

    def test_the_environment_and_what_the_job_noted(self):
        folder = analyse("host", os.path.join(self.dir, "environment"), "--export-type", "db", env={"HCCL_ALGO": 'a"é'})
        db = connect(glob.glob(folder + "/*.db")[0])
        self.addCleanup(db.close)
        noted = self.rows(db, "SELECT name, value FROM META_DATA")
        self.assertEqual(noted[0][0], "ENV_VARIABLES")
        self.assertEqual(json.loads(noted[0][1])["HCCL_ALGO"], 'a"é')
        self.assertIn('a\\"\\u00e9', noted[0][1])  # ASCII, as Python writes it
        self.assertTrue(noted[0][1].isascii())
        raw = glob.glob(os.path.join(SOURCE, "tests/data/pt-a-host/raw/*_ascend_pt/profiler_metadata.json"))[0]
        with open(raw, encoding="utf-8") as f:
            self.assertEqual({n: json.loads(v) for n, v in noted[1:] if not n.startswith("ASCOPE_")}, json.load(f))

    def test_both_dialects_have_the_same_databases(self):
        for which in "npu", "host":
            names = {d: sorted(map(os.path.basename, glob.glob(self.results[which, d] + "/*.db"))) for d in ("documented", "current")}
            self.assertEqual(names["documented"], names["current"])
            for name in names["current"]:
                documented, current = (self.db(which, d, name) for d in ("documented", "current"))
                self.assertEqual(list(documented.iterdump()), list(current.iterdump()), name)
        documented = self.db("npu", "documented")
        self.assertEqual(self.rows(documented, "SELECT value FROM META_DATA WHERE name='SCHEMA_VERSION'"), [("1.2.0",)])
        self.assertEqual(self.rows(documented, "SELECT name FROM ENUM_API_TYPE WHERE id=5500"), [("communication",)])
        steps = schema(self.db("npu", "documented", "analysis.db"))["StepTraceTime"]
        self.assertEqual(steps[0], ("deviceId", "INTEGER", False))

    def test_real_databases_have_columns_of_ours(self):
        real = os.environ.get("ASCOPE_REAL")
        if not real:
            self.skipTest("ASCOPE_REAL is not set")
        for name in "ascend_pytorch_profiler_*.db", "analysis.db":
            found = glob.glob(os.path.join(glob.escape(real), "db/*/ASCEND_PROFILER_OUTPUT", name))
            self.assertTrue(found)
            ours = schema(self.db("npu", "documented", name))
            for path in found:
                theirs = schema(connect(path))
                if "ENUM_API_TYPE" in theirs:
                    kinds = "SELECT id, CASE name WHEN 'hccl' THEN 'communication' ELSE name END FROM ENUM_API_TYPE ORDER BY id"
                    self.assertEqual(self.rows(self.db("npu", "documented", name), kinds), self.rows(connect(path), kinds))
                for table in set(theirs) - TABLES_OF_A_VIEWER:
                    before = [(RENAMED.get(c[0], c[0]), *c[1:]) for c in theirs[table] if c[0] not in OF_A_VIEWER]
                    self.assertEqual([c for c in ours.get(table, ()) if c in before], before, table)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    ASCOPE, SOURCE = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
