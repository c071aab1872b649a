#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks and modes of `ascope cluster` that the reference's results do not cover: expected values are computed here, of what was put in.

usage: test_cluster_sources.py ASCOPE
"""
import glob
import json
import math
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

from cluster_results import check, failures, tables_of, unpack
from endless_db import make_endless

ASCOPE = sys.argv[1]


def run(*arguments, code=0):
    done = subprocess.run([ASCOPE, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    check(done.returncode == code, f"{arguments[:3]}: exit code {done.returncode}, expected {code} {done.stderr if done.returncode != code else ''}")
    return done


def rows(out, table):
    found = tables_of(pathlib.Path(out) / "cluster_analysis_output/cluster_analysis.db").get(table)
    return [dict(zip(found["columns"], row)) for row in found["rows"]] if found else []


def ranks_of(top, name, ranks):
    """A copy of some ranks of the job, as databases, open to be changed."""
    for rank in ranks:
        shutil.copytree(top / f"inputs/db/node0_{2000 + rank}_20240601030426{rank:03d}_ascend_pt", top / name / f"x_{rank}_ascend_pt")
    return {rank: sqlite3.connect(glob.glob(str(top / name / f"x_{rank}_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_{rank}.db"))[0])
            for rank in ranks}


def text_id(db, text):
    found = db.execute("SELECT id FROM STRING_IDS WHERE value = ?", (text,)).fetchone()
    if not found:
        found = (db.execute("SELECT max(id) + 1 FROM STRING_IDS").fetchone()[0],)
        db.execute("INSERT INTO STRING_IDS VALUES (?, ?)", (found[0], text))
    return found[0]


def group_number(text):
    """cluster.md 3: two running values of 32 bits."""
    a = b = 0
    for c in text:
        a, b = (a * 29 + ord(c)) % 2**32, (b * 131 + ord(c)) % 2**32
    return a * 2**32 + b


def marks_become_operators(top):
    databases = ranks_of(top, "marks", (0, 1))
    messages = ("comm:HcclAllReduce,group-a,fp16,1024", '{"streamId": "2", "count": "77", "dataType": "fp32", "groupName": "group-b", "opName": "hcom_send"}',
                "comm:HcclAllReduce,group-a,fp16,2048", "no communication")
    wanted = []
    for rank, db in databases.items():
        db.execute("DELETE FROM COMMUNICATION_OP")
        marks = db.execute("SELECT rowid, connectionId FROM MSTX_EVENTS WHERE eventType = 2 AND connectionId IN (SELECT connectionId FROM TASK) "
                           "ORDER BY startNs LIMIT ?", (len(messages),)).fetchall()
        check(len(marks) == len(messages), "there are marks with tasks")
        for (row, _), message in zip(marks, messages):
            db.execute("UPDATE MSTX_EVENTS SET message = ? WHERE rowid = ?", (text_id(db, message), row))
        times = [db.execute("SELECT startNs, endNs FROM TASK WHERE connectionId = ?", (connection,)).fetchone() for _, connection in marks]
        db.commit()
        db.close()
        of = lambda text: f"{group_number(text) % 1000:03d}"
        wanted += [(rank, f"hcom_AllReduce__{of('group-a')}_0_1", *times[0], "group-a", "fp16", 1024),
                   (rank, f"hcom_send__{of('group-b')}_0_1", *times[1], "group-b", "fp32", 77),
                   (rank, f"hcom_AllReduce__{of('group-a')}_1_1", *times[2], "group-a", "fp16", 2048)]
    run("cluster", top / "marks", "-m", "mstx2commop", "-o", top / "marks-out", "--export-type", "db", "--ranks", "0-1")
    found = [tuple(row[k] for k in ("rankId", "opName", "startNs", "endNs", "groupName", "dataType", "count")) for row in rows(top / "marks-out", "Mstx2CommOp")]
    check(found == wanted, f"mstx2commop: operators of marks: {found} {wanted}")


def tokens_of_experts(top):
    databases = ranks_of(top, "experts", (0, 1, 2))
    shapes = {0: ("64,512;128,512;8,512,1024;2", "10,4;7;7"), 1: ("100,512;8,512,1024;2",), 2: ("5,5;6,6;7",)}
    experts = {0: [0, 1], 1: [0, 1], 2: [2, 3]}
    wanted = {0: 64 + 128 + 10, 1: 100, 2: 5}
    for rank, db in databases.items():
        kernels = db.execute("SELECT rowid FROM COMPUTE_TASK_INFO ORDER BY rowid LIMIT ?", (len(shapes[rank]),)).fetchall()
        for (row,), shape in zip(kernels, shapes[rank]):
            db.execute("UPDATE COMPUTE_TASK_INFO SET opType = ?, inputShapes = ? WHERE rowid = ?", (text_id(db, "GroupedMatmul"), text_id(db, shape), row))
        info = {"some": {"group_name": "exp", "group_rank": 0, "global_ranks": experts[rank]}}
        db.execute("DELETE FROM META_DATA WHERE name = 'parallel_group_info'")
        db.execute("INSERT INTO META_DATA VALUES ('parallel_group_info', ?)", (json.dumps(info),))
        db.commit()
        db.close()
    run("cluster", top / "experts", "-m", "ep_load_balance", "-o", top / "experts-out", "--export-type", "db", "--ranks", "0-2")
    found = {row["rank"]: (row["epRanks"], row["inputShapesSummary"]) for row in rows(top / "experts-out", "EPTokensSummary")}
    check(found == {rank: (",".join(map(str, experts[rank])), tokens) for rank, tokens in wanted.items()}, f"ep_load_balance: tokens: {found}")
    groups = [tuple(row.values()) for row in rows(top / "experts-out", "TopEPTokensInfo")]
    check(groups == [("0,1", 102), ("2,3", 0)], f"ep_load_balance: differences: {groups}")


def outlying_transfers(top):
    """slow_link as cluster.md 6.4 has it, computed with plain Python from the databases."""
    databases = ranks_of(top, "links", tuple(range(8)))
    uses = []
    for rank, db in databases.items():
        types = dict(db.execute("SELECT id, name FROM ENUM_HCCL_DATA_TYPE"))
        begin = db.execute("SELECT min(startNs) FROM COMMUNICATION_OP").fetchone()[0]
        like = list(db.execute("SELECT * FROM COMMUNICATION_OP LIMIT 1").fetchone())
        like[4], like[8], like[10], like[11] = text_id(db, "one group"), next(k for k, v in types.items() if v == "FP16"), 4096, text_id(db, "hcom_allReduce_")
        db.execute("DELETE FROM COMMUNICATION_OP")
        for n in range(20):  # one of twenty takes a hundred times as long on all ranks
            like[0], like[5] = text_id(db, f"hcom_allReduce__111_{n}_1"), n
            like[1], like[2] = begin + n * 10**6, begin + n * 10**6 + (900000 if n == 7 else 9000) + 13 * n + rank
            db.execute(f"INSERT INTO COMMUNICATION_OP VALUES ({','.join('?' * len(like))})", like)
            uses.append((rank, f"hcom_allReduce__111_{n}_1", like[2] - like[1], 8192, "hcom_allReduce_"))
        db.commit()
        db.close()
    shortest = {}
    for _, op, ns, _, _ in uses:
        shortest[op] = min(shortest.get(op, ns), ns)
    transfers = [shortest[use[1]] for use in uses]
    mean, spread = statistics.fmean(transfers), statistics.pstdev(transfers)
    check(max(transfers) > mean + 3 * spread, "the test has an outlier")
    run("cluster", top / "links", "-m", "slow_link", "-o", top / "links-out", "--export-type", "db")
    found = sorted((row["rankId"], row["opName"], row["communicationTime"], row["dataSize"], row["opType"], row["transmitTime"], row["relatedRanks"])
                   for row in rows(top / "links-out", "SlowLinkOps"))
    check(found == sorted((*use, shortest[use[1]], 8) for use in uses), f"SlowLinkOps: {len(found)} rows, all uses of the kind")
    total = (rows(top / "links-out", "SlowLinkSum") or [{}])[0]
    wanted = {"Count": 160, "MeanNs": mean, "StdNs": statistics.stdev(transfers), "MinNs": min(transfers), "MaxNs": max(transfers), "SumNs": sum(transfers),
              "offsetRatio": max(max(transfers) - mean, mean - min(transfers)) / statistics.stdev(transfers)}
    check(all(math.isclose(total.get(key, 0), value, rel_tol=1e-12) for key, value in wanted.items()), f"SlowLinkSum: {total} {wanted}")
    check(total.get("opTypeRelatedRanksDataSize") == f"{uses[0][4]}8_{uses[0][3]}", "and its kind")


def union(spans):
    """Sorted and merged."""
    out = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def length(spans):
    return sum(end - begin for begin, end in union(spans))


def bare_directories_are_ranks(top):
    """PROF directories without a framework, raw and as databases; their steps are computed from tasks (cluster.md 5)."""
    job = top / "bare"
    run("sim", "--ranks", 2, "--tp", 2, "--kernels", 120, "--out", job)
    found = {}
    for source in "collection", "db":
        if source == "db":
            for prof in job.glob("PROF_*"):
                run("export", "db", "-dir", prof, "--quiet")
        out = top / f"bare-{source}"
        report = json.loads(run("cluster", job, "-m", "all,compute_op_sum,slow_rank", "-o", out, "--export-type", "db", "--json").stdout)
        check([(rank["rank"], rank["source"]) for rank in report["job_ranks"]] == [(0, source), (1, source)], f"PROF directories are ranks: {report['job_ranks']}")
        found[source] = rows(out, "ClusterStepTraceTime"), rows(out, "ComputeOpAllRankStats")
    check(found["collection"] == found["db"] and len(found["db"][1]) > 0, "the same of raw data and of databases")
    for rank, prof in enumerate(sorted(job.glob("PROF_*"), key=lambda p: [r["rank"] for r in report["job_ranks"] if r["path"].endswith(p.name)])):
        db = sqlite3.connect(glob.glob(str(prof / "msprof_*.db"))[0])
        kernels = db.execute("SELECT TASK.startNs, TASK.endNs FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)").fetchall()
        ops = db.execute("SELECT startNs, endNs FROM COMMUNICATION_OP").fetchall()
        both = union(kernels + ops)
        computing, communication = length(kernels), length(ops)
        wanted = {"computing": computing, "communication": communication, "communication_not_overlapped": length(both) - computing,
                  "overlapped": communication - length(both) + computing, "free": both[-1][1] - both[0][0] - length(both)}
        row = next((row for row in found["db"][0] if row["index"] == str(rank)), {})
        check(communication > 0 and all(math.isclose(row.get(key, -1), ns / 1000, abs_tol=1e-6) for key, ns in wanted.items()), f"steps from tasks: {row} {wanted}")


def modes_that_text_results_are_not_enough_for(top):
    """`ascope analyse` writes text results; the modes that need more read what these were made of, if it is still there."""
    run("sim", "--ranks", 2, "--framework", "pt", "--kernels", 200, "--steps", 2, "--out", top / "text")
    run("analyse", top / "text", "--export-type", "text", "-q")
    source = lambda *more, code=0: {r["source"] for r in json.loads(run("cluster", top / "text", "--json", "-o", top / "of_text", *more, code=code).stdout)["job_ranks"]}
    check(source() == {"text"}, "base modes read text results")
    check(source("-m", "compute_op_sum") == {"collection"} and rows(top / "of_text", "ComputeOpAllRankStats"), "others read the collection")
    done = run("cluster", top / "text", "--shard", "1/2", "-o", top / "of_text")
    check("1 rank, " in done.stdout, f"a shard: {done.stdout}")
    check(source() == {"text"} and source("-m", "hccl_sum") == {"collection"}, "a shard leaves nothing in the collections")
    for path in glob.glob(str(top / "text/*/PROF_*")):
        shutil.rmtree(path)
    check(source("-m", "compute_op_sum", "-o", top / "of_trace") == {"text"} and list((top / "of_trace").rglob("all_stats.csv")), "without it, the timeline")
    for path in glob.glob(str(top / "text/*/ASCEND_PROFILER_OUTPUT/trace_view.json")):
        os.remove(path)
    check(source("-m", "compute_op_sum", code=3) == {"text"}, "without both there is no result")


def a_step_that_is_cut_short_is_no_step(top):
    run("sim", "--ranks", 2, "--framework", "pt", "--kernels", 200, "--steps", 3, "--out", top / "cut")
    run("analyse", top / "cut", "--export-type", "text", "-q")
    for path in glob.glob(str(top / "cut/*/PROF_*")):
        shutil.rmtree(path)
    for path in glob.glob(str(top / "cut/*/ASCEND_PROFILER_OUTPUT/trace_view.json")):  # it has the steps, too
        os.remove(path)
    path = sorted(glob.glob(str(top / "cut/*/ASCEND_PROFILER_OUTPUT/step_trace_time.csv")))[0]
    text = pathlib.Path(path).read_text().rstrip().splitlines()
    text[-1] = ",".join(text[-1].split(",")[:3])
    pathlib.Path(path).write_text("\n".join(text))
    done = run("cluster", top / "cut", "-m", "all,verdicts", "--export-type", "db", "-o", top / "of_cut", code=3)
    check("1 values or records" in done.stderr and "rank 0 has 2 steps" in done.stdout, f"a line that is cut short: {done.stderr} {done.stdout}")
    check(sorted((row["index"], row["step"]) for row in rows(top / "of_cut", "ClusterStepTraceTime")) ==
          [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1"), ("1", "2")], "it is not a step without computing")


def ranks_that_are_there_twice(top):
    first = sorted((top / "cut").iterdir())[0]
    shutil.copytree(first, top / "cut/copy" / first.name)
    done = run("cluster", top / "cut", "-o", top / "of_cut", code=3)
    check("; the first is used" in done.stderr and "newer" not in done.stderr, f"copies of the same time: {done.stderr}")
    newer = first.name.replace("20240601", "20240602")
    (top / "cut/copy" / first.name).rename(top / "cut/copy" / newer)
    done = run("cluster", top / "cut", "-o", top / "of_cut", code=3)
    check(f"{newer} and in " in done.stderr and "; the first is newer and is used" in done.stderr, f"a newer one: {done.stderr}")
    run("cluster", top / "cut", "-o", top / "of_cut", "--ranks", "0-9223372036854775807", code=2)


def the_last_rank_is_read_again(top):
    """communication_bottleneck looks at single tasks of a slow rank, when all ranks were read."""
    run("sim", "--ranks", 2, "--tp", 2, "--framework", "pt", "--kernels", 4000, "--steps", 2, "--slow-rank", "1:1.5", "--out", top / "again")
    arguments = "cluster", top / "again", "--export-type", "db", "--threads", 1
    run(*arguments, "-m", "all-modes", "-o", top / "of_raw")
    run("analyse", top / "again", "--export-type", "db", "-q")
    for path in glob.glob(str(top / "again/*/PROF_*")):
        shutil.rmtree(path)
    run(*arguments, "-m", "communication_bottleneck", "-o", top / "of_databases")
    found = [rows(top / name, "CommunicationBottleneck") for name in ("of_raw", "of_databases")]
    check(found[0] and found[0][0]["slowRankId"] == 1 and found[0] == found[1], f"of raw data as of databases: {found}")


def more_shards_than_ranks(top):
    for part in range(1, 5):
        run("cluster", top / "text", "--shard", f"{part}/4", "-o", top / "shards")
    done = run("cluster", top / "shards", "-o", top / "of_shards")
    check("2 ranks, " in done.stdout and "summary" not in done.stderr, f"parts without a rank are nothing that is missing: {done.stderr}")


def many_sizes_of_packages(top):
    """Quadratic cost would take minutes; run() waits for two at most."""
    path = sorted(glob.glob(str(top / "text/*/ASCEND_PROFILER_OUTPUT/communication.json")))[0]
    found = json.loads(pathlib.Path(path).read_text())
    op = next(op for step in found.values() for name, op in step["collective"].items() if not name.startswith("Total"))
    bandwidth = next(iter(op["Communication Bandwidth Info"].values()))
    bandwidth["Size Distribution"] = {f"{i / 1000}": [1, 0.5] for i in range(1, 300000)}
    pathlib.Path(path).write_text(json.dumps(found))
    run("cluster", top / "text", "-m", "all", "--export-type", "text", "-o", top / "of_sizes")
    text = (top / "of_sizes/cluster_analysis_output/cluster_communication.json").read_text()
    check(text.count('"299.999": [1, 0.5]') == 2, "all sizes are in the operator and in the sum")


def collectives_without_a_call(top):
    """What has no connection is not connected to a call that has none either, so it is in no step."""
    for db in ranks_of(top, "unconnected", (0, 1)).values():
        db.execute("UPDATE COMMUNICATION_OP SET connectionId = 4294967295")
        db.execute("UPDATE CANN_API SET connectionId = 4294967295 WHERE rowid = (SELECT max(rowid) FROM CANN_API)")
        db.commit()
        db.close()
    run("cluster", top / "unconnected", "-m", "cluster_time_summary", "-o", top / "of_unconnected", "--export-type", "db", code=3)
    found = rows(top / "of_unconnected", "ClusterTimeSummary")
    check(found and all(row["communicationTransmitStageTime"] == 0 for row in found), f"no call, no step: {found}")


def one_rank_says_nothing_about_others(top):
    run("sim", "--ranks", 4, "--tp", 2, "--framework", "pt", "--kernels", 200, "--steps", 2, "--missing-rank", "1,2,3", "--out", top / "one")
    run("cluster", top / "one", "-m", "communication_bottleneck", "-o", top / "of_one", code=3)
    reasons = {row["reason"] for row in rows(top / "of_one", "CommunicationBottleneck")}
    check(reasons == {"[Failed] Insufficient data for analyzing slow NPU bottleneck"}, f"the other members are missing: {reasons}")


def what_was_not_recorded(top):
    """Databases of PROF directories have no steps without marks, text results no tasks: the reason is the one that holds."""
    run("sim", "--kernels", 120, "--marks=off", "--out", top / "unmarked")
    done = run("cluster", top / "unmarked", "-m", "computational_op_masking", "-o", top / "bare-masking", code=3)
    check("no rank has the required data; nothing is written (it was not recorded" in done.stderr, f"no steps: {done.stderr}")
    done = run("cluster", top / "inputs/text", "-m", "computational_op_masking", "-o", top / "text-masking", code=3)
    check("nothing is written (tables are not enough: it needs databases, summaries or trace_view.json)" in done.stderr, f"text: {done.stderr}")


def nothing_that_is_a_rank(top):
    (top / "none/x_1_20240101000000000_ascend_pt").mkdir(parents=True)
    (top / "none/half.summary").write_bytes(b"ascope")
    done = run("cluster", top / "none", "-o", top / "none-out", code=1)
    check("x_1_20240101000000000_ascend_pt: neither results nor raw data" in done.stderr and "half.summary: not a summary" in done.stderr
          and "no ranks found" in done.stderr, f"why there are no ranks: {done.stderr}")
    check(not (top / "none-out/cluster_analysis_output").exists(), "and nothing is written")


def databases_of_other_kinds(top):
    """Tables with rowids are read from the pages of the file, all others by SQLite: the results are the same."""
    changes = {
        "plain": (),
        "log": ("PRAGMA journal_mode = WAL",),
        # As MindStudio Insight leaves them: columns, tables and indexes of its own are in the log; the program was killed, or still runs.
        "viewed": ("PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE status_info (a, b)", "ALTER TABLE COMMUNICATION_OP ADD waitNs INTEGER",
                   "UPDATE COMMUNICATION_OP SET waitNs = 1", "CREATE INDEX CANN_API_TIME ON CANN_API (startNs)", "INSERT INTO status_info VALUES (1, 2)"),
        "late": ("CREATE TABLE T2 AS SELECT * FROM TASK", "DELETE FROM TASK", "PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0",
                 "INSERT INTO TASK SELECT * FROM T2", "DROP TABLE T2"),
        "pages": ("PRAGMA page_size = 1024", "VACUUM"),
        "keys": ("CREATE TABLE T2 (globalTid INTEGER, name INTEGER, type INTEGER, connectionId INTEGER PRIMARY KEY, startNs INTEGER, endNs INTEGER) WITHOUT ROWID",
                 "INSERT INTO T2 SELECT globalTid, name, type, connectionId, startNs, endNs FROM CANN_API", "DROP TABLE CANN_API", "ALTER TABLE T2 RENAME TO CANN_API"),
        "texts": ("CREATE TABLE T2 (startNs TEXT, endNs REAL, deviceId, connectionId TEXT, globalTaskId TEXT, taskType TEXT, streamId TEXT)",
                  "INSERT INTO T2 SELECT startNs || ' ns', endNs || '', deviceId, connectionId, globalTaskId, taskType, streamId FROM TASK",
                  "DROP TABLE TASK", "ALTER TABLE T2 RENAME TO TASK"),
        "added": ("CREATE TABLE T2 (id INTEGER, startNs INTEGER)", "INSERT INTO T2 SELECT id, startNs FROM STEP_TIME",
                  "ALTER TABLE T2 ADD endNs INTEGER DEFAULT 1717210000000000000", "DROP TABLE STEP_TIME", "ALTER TABLE T2 RENAME TO STEP_TIME"),
    }
    found, held = {}, []
    for name, sql in changes.items():
        for db in ranks_of(top, f"kinds-{name}", (0, 1)).values():
            db.isolation_level = None
            for statement in sql:
                db.execute(statement)
            if name in ("viewed", "late"):
                held.append(db)
            else:
                db.close()
        check(len(glob.glob(str(top / f"kinds-{name}/*/*/*-wal"))) == (2 if name in ("viewed", "late") else 0), f"{name}: logs")
        out = top / f"kinds-{name}-out"
        run("cluster", top / f"kinds-{name}", "-m", "all,cann_api_sum,free_analysis,compute_op_sum,cluster_time_summary", "-o", out, "--export-type", "db", code=3)
        found[name] = tables_of(out / "cluster_analysis_output/cluster_analysis.db")
        for table in ("RankDeviceMap",):
            found[name].pop(table, None)
    for name in "log", "viewed", "late", "pages", "keys":
        check(found[name] == found["plain"] and len(found["plain"]["CannApiSum"]["rows"]) > 1, f"the same results of databases with {name}")
    kernels = lambda name: {tuple(row[:2]): row[2] for row in found[name]["ComputeOpAllRankStats"]["rows"]}
    check(kernels("texts") == kernels("plain") and len(kernels("plain")) > 0, f"texts of numbers are numbers: {kernels('texts')} {kernels('plain')}")
    column = found["added"]["ClusterTimeSummary"]["columns"].index("stepTime")
    check([row[column] for row in found["added"]["ClusterTimeSummary"]["rows"]] != [row[column] for row in found["plain"]["ClusterTimeSummary"]["rows"]],
          "a column that was added later has its default")
    for db in held:
        db.close()


def logs_that_do_not_belong(top):
    """They are ignored, with a line; results that have one are replaced without leaving it beside the new ones."""
    modes = ("-m", "cann_api_sum")
    for db in ranks_of(top, "strange", (0,)).values():
        db.close()
    path = next((top / "strange").glob("*/*/ascend_pytorch_profiler_0.db"))
    run("cluster", top / "strange", *modes, "-o", top / "strange-plain", code=3)
    other = sqlite3.connect(top / "other.db")
    for sql in "PRAGMA journal_mode = WAL", "CREATE TABLE TASK (a)", "INSERT INTO TASK VALUES (1)":
        other.execute(sql)
    other.commit()
    shutil.copy(top / "other.db-wal", f"{path}-wal")
    other.close()
    done = run("cluster", top / "strange", *modes, "-o", top / "strange-out", code=3)
    check(done.stderr.count("-wal: ignored: the database was written without it") == 1, f"one line about it: {done.stderr}")
    plain, found = (tables_of(top / f"strange-{n}/cluster_analysis_output/cluster_analysis.db") for n in ("plain", "out"))
    check(plain == found and len(plain["CannApiSum"]["rows"]) > 1, "the results are those without it")
    results = top / "strange-out/cluster_analysis_output/cluster_analysis.db"
    viewed = sqlite3.connect(results)
    for sql in "PRAGMA journal_mode = WAL", "CREATE TABLE OF_A_VIEWER (a)", "INSERT INTO OF_A_VIEWER VALUES (7)":
        viewed.execute(sql)
    viewed.commit()
    run("cluster", top / "strange", *modes, "-o", top / "strange-out", code=3)
    viewed.close()
    check([p.name for p in results.parent.iterdir() if p.name.startswith(results.name)] == [results.name], "no log stays beside new results")
    found = tables_of(results)
    check(found.pop("OF_A_VIEWER")["rows"] == [[7]] and found == plain, "what was in the log is kept")


def hostile_databases(top):
    """Each is one rank that is left out, soon and with a line; and nothing is created beside it."""
    def journal_waits(db):
        os.mkfifo(str(db) + "-journal")

    def computed(db):
        with sqlite3.connect(db) as d:
            d.executescript("DROP TABLE STRING_IDS; CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value AS (id || id)); INSERT INTO STRING_IDS VALUES (1)")

    def has_wal(db):
        with sqlite3.connect(db) as d:
            d.execute("PRAGMA journal_mode = wal")

    wanted = {"table": (lambda db: make_endless(db, "STRING_IDS"), "pages refer to each other", 1), "schema": (make_endless, "pages refer to each other", 1),
              "computed": (computed, "a column is computed", 1), "journal": (journal_waits, "", 3), "wal": (has_wal, "", 3)}  # 3: other ranks of the job are missing
    for name, (change, message, code) in wanted.items():
        ranks_of(top, name, (0,))[0].close()
        path = next((top / name).glob("*/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db"))
        change(path)
        before = sorted(path.parent.iterdir())
        done = run("cluster", top / name, "-m", "cann_api_sum", "-o", top / f"{name}-out", code=code)
        check(message in done.stderr, f"{name}: {done.stderr}")
        check(sorted(path.parent.iterdir()) == before, f"{name}: nothing is created beside the database")
    results = top / "wal-out/cluster_analysis_output/cluster_analysis.db"
    for table in ("CannApiSum", None):
        kept = results.read_bytes()
        make_endless(results, table)
        endless = results.read_bytes()
        done = run("cluster", top / "wal", "-m", "cann_api_sum", "-o", top / "wal-out", code=1)
        check("not a database that SQLite can read" in done.stderr and results.read_bytes() == endless, f"results that never end: {done.stderr}")
        results.write_bytes(kept)


def hostile_logs(top):
    """What parts of a job leave beside their summaries may be anything, too."""
    job, shards = top / "wal", top / "shards"
    run("cluster", job, "--shard", "1/1", "--out", shards)
    os.mkfifo(shards / "part_1.log")
    (shards / "part_2.log").symlink_to("/dev/zero")
    (shards / "part_3.log").write_bytes(b"x" * 3000000)
    done = run("cluster", job, "--shards", shards, "-o", top / "shards-out", code=3)
    check("part_1.log: cannot be read" in done.stderr and "part_2.log: cannot be read" in done.stderr and len(done.stderr) < 3000, done.stderr[:3000])


def main():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        unpack(top)
        marks_become_operators(top)
        tokens_of_experts(top)
        outlying_transfers(top)
        databases_of_other_kinds(top)
        logs_that_do_not_belong(top)
        bare_directories_are_ranks(top)
        modes_that_text_results_are_not_enough_for(top)
        more_shards_than_ranks(top)
        the_last_rank_is_read_again(top)
        many_sizes_of_packages(top)
        a_step_that_is_cut_short_is_no_step(top)
        ranks_that_are_there_twice(top)
        collectives_without_a_call(top)
        one_rank_says_nothing_about_others(top)
        what_was_not_recorded(top)
        nothing_that_is_a_rank(top)
        hostile_databases(top)
        hostile_logs(top)
        done = run("help", "cluster")
        text = " ".join(done.stdout.split())
        missing = [mode for mode in ("computational_op_masking", "mstx2commop", "ep_load_balance", "communication_matrix_sum") if mode not in text]
        check(not missing, f"the help lists all modes: {missing}")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
