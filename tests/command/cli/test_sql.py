#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ascope sql`: the same tables for every input, read-only, within limits.

usage: test_sql.py ASCOPE SOURCE_ROOT [unittest options]
"""
import csv
import io
import json
import os
import re
import sqlite3
import sys
import unittest

from cli_case import SOURCE, Case

KINETO = os.path.join(SOURCE, "tests/data/kineto")
GPU = os.path.join(KINETO, "real-2.11-cuda-plain.json")
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
HOSTILE = '=1+1","\x1b[31m\u202e'


class Sql(Case):
    def rows(self, *words, code=0):
        return json.loads(self.ascope("sql", "--json", *words, code=code).stdout)["queries"][0]["rows"]

    def job(self, *more):
        path = os.path.join(self.dir, "job")
        self.ascope("sim", "--quiet", "--framework", "pt", "--out", path, "--seed", "3", "--ranks", "2", "--steps", "3", "--kernels", "300", *more, code=0)
        return path

    def trace(self, name, events, **facts):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"traceEvents": events, **facts}, f)
        return path

    def small(self, name="small.json", rank=5, kernel="mul"):
        def x(name, category, ts, dur, tid, **args):
            return {"ph": "X", "name": name, "cat": category, "pid": 1 if tid == 1 else 0, "tid": tid, "ts": ts, "dur": dur, "args": args}
        return self.trace(name, [
            x("ProfilerStep#4", "user_annotation", 1000, 100, 1), x("ProfilerStep#5", "user_annotation", 1100, 100, 1),
            x("aten::mul", "cpu_op", 1010, 20, 1, **{"External id": 7}), x("cudaLaunchKernel", "cuda_runtime", 1012, 5, 1, correlation=3, **{"External id": 7}),
            x(kernel, "kernel", 1050, 40, 7, correlation=3, device=0, stream=7, grid=[4, 2, 1], **{"External id": 7}),
            x("cudaMemcpyAsync", "cuda_runtime", 1112, 5, 1, correlation=4),
            x("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy", 1150, 10, 7, correlation=4, bytes=4096, device=0, stream=7),
            x("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", 1165, 30, 8, device=0, stream=8,
              **{"Collective name": "allreduce", "In msg nelems": 1000, "Out msg nelems": 1000, "Group size": 8, "dtype": "Float", "Process Group Name": "dp"}),
        ], distributedInfo={"rank": rank, "world_size": 8})

    def test_every_table_has_the_columns_of_the_schema(self):
        tables = json.loads(self.ascope("sql", "--json", ".schema", code=0).stdout)["tables_of_sql"]
        self.assertGreater(len(tables), 15)
        text = self.ascope("sql", ".schema", code=0).stdout
        with open(os.path.join(SOURCE, "docs/sql.md"), encoding="utf-8") as f:
            page = f.read()
        statements = "".join("SELECT * FROM %s LIMIT 0;\n" % t["name"] for t in tables)
        answers = json.loads(self.ascope("sql", "--json", GPU, input=statements, code=0).stdout)["queries"]
        for table, answer in zip(tables, answers, strict=True):
            self.assertEqual(answer["columns"], [c["name"] for c in table["columns"]])
            for c in table["columns"]:
                row = re.search(r"(?m)^%s: .*\n(?:  .*\n)*?  %s +%s +%s *%s$" % tuple(map(re.escape, (table["name"], c["name"], c["type"], c["unit"], c["meaning"]))), text)
                self.assertTrue(row, (table["name"], c))
                self.assertIn("\n    " + row[0].splitlines()[-1].rstrip() + "\n", page)
                self.assertEqual(c["unit"] == "ns", c["name"].endswith("_ns"), c)
                self.assertTrue(c["meaning"])

    def test_a_trace_of_torch_profiler(self):
        trace = self.small()
        self.assertEqual(self.rows(trace, "SELECT run, rank, kind, n_steps, n_kernels, is_simulated FROM ranks"), [["small.json", 5, "gpu", 2, 1, 0]])
        self.assertEqual(self.rows(trace, "SELECT run, rank, name, begin_ns, dur_ns, stream, step, operator, type, cores, blocks, launch_ns FROM kernels"),
                         [["small.json", 5, "mul", 1050000, 40000, 7, "4", "aten::mul", "mul", None, 8, 1012000]])
        self.assertEqual(self.rows(trace, "SELECT name, stream, step, operator, bytes, direction, launch_ns FROM copies"),
                         [["Memcpy HtoD (Pinned -> Device)", 7, "5", None, 4096, "to device", 1112000]])
        self.assertEqual(self.rows(trace, "SELECT dur_ns, process_group, kind, elements, bytes, n_ranks FROM collectives"), [[30000, "dp", "allreduce", 1000, 4000, 8]])
        self.assertEqual(self.rows(trace, "SELECT name, thread, step FROM operators"), [["aten::mul", "1", "4"]])
        self.assertEqual(self.rows(trace, "SELECT name, step FROM calls ORDER BY begin_ns"), [["cudaLaunchKernel", "4"], ["cudaMemcpyAsync", "5"]])
        self.assertEqual(self.rows(trace, "SELECT count(*) FROM memory"), [[0]])

    def test_parts_of_steps_add_up(self):
        for path in (self.job(), GPU, self.small()):
            self.assertEqual(self.rows(path, "SELECT count(*) FROM steps WHERE dur_ns <> computing_ns + overlapped_ns + communication_ns + free_ns"), [[0]])
        self.assertEqual(self.rows("job", "SELECT rank, count(*) FROM steps GROUP BY 1"), [[0, 3], [1, 3]])

    def test_the_timeline_has_the_same_kernels(self):
        job = self.job()
        both = "FROM kernels k JOIN slices s ON s.begin_ns = k.begin_ns AND s.rank = k.rank AND s.dur_ns = k.dur_ns WHERE s.thread = 'Stream ' || k.stream"
        n = self.rows(job, "SELECT count(*) FROM kernels")[0][0]
        self.assertGreater(n, 200)
        self.assertEqual(self.rows(job, "SELECT count(*), count(DISTINCT k.rank) " + both), [[n, 2]])
        self.assertEqual(self.rows(job, "SELECT count(*) FROM flows JOIN slices a ON a.id = from_id JOIN slices b ON b.id = to_id WHERE a.rank <> b.rank"), [[0]])
        self.assertEqual(self.rows(job, "SELECT rank, count(*) FROM (SELECT DISTINCT rank, id FROM instants UNION SELECT rank, id FROM slices) GROUP BY 1"),
                         self.rows(job, "SELECT rank, sum(n) FROM (SELECT rank, count(*) AS n FROM slices GROUP BY 1 UNION ALL SELECT rank, count(*) FROM instants GROUP BY 1) GROUP BY 1"))

    def test_results_and_timelines_give_the_same_rows_as_recorded_data(self):
        """One schema: of the same recording as raw data, as its database and as its timeline."""
        job = self.job("--ranks", "1")
        raw, = (os.path.join(job, d) for d in os.listdir(job))
        self.ascope("analyse", "--quiet", "--export-type", "text,db", raw, code=0)
        out = os.path.join(raw, "ASCEND_PROFILER_OUTPUT")
        asked = {"kernels": "SELECT begin_ns, dur_ns, iif(name LIKE 'graph%', 0, stream) FROM kernels ORDER BY 1, 2, 3",  # kernels of graphs are on stream 0 in timelines "steps": "SELECT name, begin_ns, dur_ns, free_ns FROM steps ORDER BY 2",
                 "operators": "SELECT name, begin_ns, dur_ns FROM operators WHERE name LIKE 'aten::%' ORDER BY 2, 3 DESC", "collectives": "SELECT begin_ns, dur_ns FROM collectives ORDER BY 1"}
        for table, sql in asked.items():
            wanted = self.rows(raw, sql)
            self.assertTrue(wanted, table)
            for other in ("ascend_pytorch_profiler_0.db", "trace_view.json"):
                self.assertEqual(self.rows(os.path.join(out, other), sql), wanted, (table, other))

    def test_several_runs(self):
        self.small("a.json", rank=0)
        self.small("b.json", rank=0, kernel="add")
        self.assertEqual(self.rows("a.json", "b.json", "SELECT run, rank, name FROM kernels"), [["a.json", 0, "mul"], ["b.json", 0, "add"]])
        self.assertEqual(self.rows("a.json", "b.json", "SELECT run, rank, name FROM slices WHERE topic = 'kernel' AND dur_ns = 40000"), [["a.json", 0, "mul"], ["b.json", 0, "add"]])
        self.assertEqual(self.rows(self.job(), "b.json", "SELECT DISTINCT run, rank FROM ranks ORDER BY 1, 2"), [["b.json", 0], ["job", 0], ["job", 1]])

    def test_databases_and_folders_of_tables(self):
        with sqlite3.connect(os.path.join(self.dir, "x.db")) as db:
            db.execute("CREATE TABLE THING(a, b)")
            db.execute("INSERT INTO THING VALUES (1, 'x')")
        self.assertEqual(self.rows("x.db", "SELECT * FROM db.THING"), [[1, "x"]])
        os.mkdir(os.path.join(self.dir, "cluster_analysis_output"))
        with open(os.path.join(self.dir, "cluster_analysis_output/cluster_step_trace_time.csv"), "w", encoding="utf-8") as f:
            f.write("Step,Computing\n1,2.5\n")
        self.assertEqual(self.rows("cluster_analysis_output", 'SELECT "Computing" FROM db.cluster_step_trace_time')[0], [2.5])

    def test_forms(self):
        trace = self.small(kernel=HOSTILE)
        sql = "SELECT name, dur_ns, cores FROM kernels"
        self.assertEqual(list(csv.reader(io.StringIO(self.ascope("sql", "--csv", trace, sql, code=0).stdout))), [["name", "dur_ns", "cores"], [HOSTILE, "40000", ""]])
        self.assertEqual(next(csv.reader(io.StringIO(self.ascope("sql", "--csv", "--csv-safe", trace, sql, code=0).stdout.split("\n", 1)[1])))[0], "'" + HOSTILE)
        table = self.ascope("sql", trace, sql, code=0).stdout
        self.assertEqual(table.splitlines()[0].split(), ["name", "dur_ns", "cores"])
        self.assertNotIn("\x1b", table)
        self.assertNotIn("\u202e", table)
        self.ascope("sql", "--csv", "--json", trace, sql, code=2)

    def test_only_reading(self):
        trace, before = self.small(), sorted(os.listdir(self.dir))
        for sql in ("DELETE FROM kernels", "CREATE TABLE x(a)", "ATTACH '/etc/passwd' AS x", "PRAGMA table_list", "SELECT 1; SELECT 2", "SELECT load_extension('x')",
                    "SELECT * FROM nothing", "SELECT readfile('/etc/passwd')", "INSERT INTO kernels DEFAULT VALUES", "UPDATE kernels SET name = 1"):
            self.assert_one_line(self.ascope("sql", trace, sql, code=1).stderr, "ascope: ")
        self.assertEqual(sorted(os.listdir(self.dir)), before)

    def test_limits(self):
        trace = self.small()
        r = self.ascope("sql", "--csv", trace, ENDLESS + "SELECT i FROM n", code=0)
        self.assertEqual(r.stdout.count("\n"), 10001)
        self.assert_one_line(r.stderr, "more than 10000 rows; --limit 0")
        self.assertEqual(self.ascope("sql", "--csv", "--limit", "2", trace, ENDLESS + "SELECT i FROM n", code=0).stdout, "i\n1\n2\n")
        self.assertEqual(self.ascope("sql", "--csv", "--limit", "0", trace, ENDLESS + "SELECT i FROM n LIMIT 20000", code=0).stdout.count("\n"), 20001)
        self.assert_one_line(self.ascope("sql", "--json", trace, ENDLESS + "SELECT hex(zeroblob(1000000)) FROM n", code=1).stderr, "too large")
        self.assertTrue(json.loads(self.ascope("sql", "--json", "--limit", "1", trace, "SELECT name FROM calls", code=0).stdout)["queries"][0]["is_cut"])
        self.assertFalse(json.loads(self.ascope("sql", "--json", "--limit", "2", trace, "SELECT name FROM calls", code=0).stdout)["queries"][0]["is_cut"])

    def test_statements_of_standard_input(self):
        trace = self.small()
        r = self.ascope("sql", "--csv", trace, input=".tables\n.schema roofs\n.help\nSELECT 1 AS a;\n\nSELECT\n 'x;y'\n AS b;\nSELECT count(*) AS n FROM kernels;\nSELECT 2 AS c", code=0)
        self.assertIn("kernels ", r.stdout)
        self.assertIn("roofs: peak", r.stdout)
        self.assertTrue(r.stdout.endswith("a\n1\nb\nx;y\nn\n1\nc\n2\n"), r.stdout)
        r = self.ascope("sql", "--csv", trace, input="SELEC;\n.nothing\n.schema nothing\nSELECT 3 AS d;\n.quit\nSELECT 4;\n", code=1)
        self.assertEqual(r.stdout, "d\n3\n")
        self.assertEqual(r.stderr.count("\n"), 3)

    def test_examples_of_help_run(self):
        lines = self.ascope("sql", GPU, input=".help\n", code=0).stdout.splitlines()
        examples = [line for line in lines if line.lstrip().startswith("SELECT")]
        self.assertGreater(len(examples), 4)
        self.ascope("sql", self.job(), input="\n".join(examples), code=0)

    def test_examples_of_the_page_run(self):
        with open(os.path.join(SOURCE, "docs/sql.md"), encoding="utf-8") as f:
            statements = re.search(r"```sql\n(.*?)```", f.read(), re.S)[1]
        self.assertGreater(statements.count(";\n"), 5)
        self.ascope("sql", self.job(), input=statements, code=0)

    def test_columns(self):
        """Their cells are compared by tests/python/test_runs.py."""
        trace, path = self.small(), os.path.join(self.dir, "columns")
        self.ascope("sql", trace, "--columns", path, "--tables", "kernels,steps", code=0)
        with open(path, "rb") as f:
            data = f.read()
        n = int.from_bytes(data[16:24], "little")
        header = json.loads(data[24:24 + n])
        self.assertEqual((data[:16], len(data) % 64, list(header["tables"])), (b"ascope columns 1", 0, ["steps", "kernels"]))
        self.assertEqual({c["name"]: c["n_unknown"] for c in header["tables"]["kernels"]["columns"]}["cores"], 1)
        for words in (["--tables", "slices"], ["--tables", "kernels,nothing"], ["--csv"], ["SELECT 1"]):
            self.assert_one_line(self.ascope("sql", trace, "--columns", path, *words, code=2).stderr, "ascope: ")
        os.mkdir(os.path.join(self.dir, "cluster_analysis_output"))
        with open(os.path.join(self.dir, "cluster_analysis_output/x.csv"), "w", encoding="utf-8") as f:
            f.write("a\n1\n")
        self.ascope("sql", "cluster_analysis_output", "--columns", path, code=1)

    def test_what_cannot_be_used(self):
        self.ascope("sql", code=2)
        self.assert_one_line(self.ascope("sql", "nothing_here", "SELECT 1", code=2).stderr, "No such file")
        with open(os.path.join(self.dir, "text.txt"), "w", encoding="utf-8") as f:
            f.write("nothing")
        self.ascope("sql", "text.txt", "SELECT 1", code=2)
        trace = self.small()
        r = self.ascope("sql", "--csv", trace, "text.txt", "SELECT count(*) AS n FROM kernels", code=3)
        self.assertEqual(r.stdout, "n\n1\n")
        with open(trace, "rb") as f:
            data = f.read()
        with open(trace, "wb") as f:
            f.write(data[:-200])
        r = self.ascope("sql", "--csv", trace, "SELECT count(*) AS n FROM kernels", code=3)
        self.assertEqual(r.stdout, "n\n1\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
