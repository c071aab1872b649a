#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recipes of `ascope cluster` against the results of msprof-analyze.

Where the reference is wrong its results are corrected here first, one function for each row of docs/differences.md.
"""
import copy
import csv
import hashlib
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from cluster_results import check, compare, failures, results_of, tables_of, unpack

ASCOPE = sys.argv[1]

RECIPES = ("cluster_time_summary", "slow_rank", "free_analysis", "communication_bottleneck", "compute_op_sum", "hccl_sum", "cann_api_sum",
           "mstx_sum", "freq_analysis", "computational_op_masking")


def run(*arguments, code=0):
    done = subprocess.run([ASCOPE, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != code:
        failures.append(f"{arguments}: exit code {done.returncode}, expected {code}")
        print(done.stdout, done.stderr)
    return done


def database_of(out):
    return tables_of(pathlib.Path(out) / "cluster_analysis_output/cluster_analysis.db")


def rows_of(table):
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def tables(expected):
    """Each table of expected results, by name, with plain column names."""
    for file, kinds in expected.items():
        for name, table in kinds.get("db", {file: kinds.get("csv")}).items():
            table["columns"] = [c[0] if isinstance(c, list) else c for c in table["columns"]]
            yield name, table


def in_ns(expected):
    """slow_rank: values in microseconds are called ns, and are divided once more in csv."""
    for name, table in tables(expected):
        if name in ("SlowOpStats", "slow_op_stats.csv"):
            for row in table["rows"]:
                row[5:] = [float(value) * 1000 for value in row[5:]]


def marks_on_the_device(expected):
    """mstx_sum: marks have no time on the device. In this data it is that of the runtime."""
    named = dict(tables(expected))
    for marks, device, cann in (("MSTXMarkStats", "MSTXAllDeviceStats", "MSTXAllCannStats"),
                                ("mark_stats.csv", "all_device_stats.csv", "all_cann_stats.csv")):
        if marks not in named:
            continue
        at = {column.split("Ns")[0].split("(Ms)")[0]: i for i, column in enumerate(named[marks]["columns"])}
        duration, share, own = at["DeviceDuration"], at["DeviceDurationRatio(%)"], at["CannDuration"]
        sums = {}
        for row in named[marks]["rows"]:
            if row[at["Name"]] == "optimizer":
                row[duration] = row[own]
            sums[row[at["Rank"]]] = sums.get(row[at["Rank"]], 0) + float(row[duration])
        for row in named[marks]["rows"]:
            row[share] = float(row[duration]) / sums[row[at["Rank"]]] * 100
        others = [row for row in named[device]["rows"] if row[0] != "optimizer"]
        named[device]["rows"] = others + [row for row in named[cann]["rows"] if row[0] == "optimizer"]


def is_like_the_reference(row):
    """communication_bottleneck: waits for a send, and what a device did before the operator, are ours alone."""
    op, reason = (row.get(a, row.get(b)) for a, b in (("communicationOp", "Communication Op"), ("reason", "Reason")))
    return "receive" not in op and not reason.startswith("[Device-bound]")


def only_collectives(expected):
    for name, table in tables(expected):
        if "ottleneck" in name:
            table["rows"] = [row for row in table["rows"] if is_like_the_reference(dict(zip(table["columns"], row)))]


CORRECTED = {"slow_rank": in_ns, "mstx_sum": marks_on_the_device, "communication_bottleneck": only_collectives}


def against_the_reference(top, expected):
    keeps = {name: is_like_the_reference for name in ("CommunicationBottleneck", "communication_bottleneck.csv")}
    together = top / "together"
    done = run("cluster", top / "inputs/db", "-m", ",".join(RECIPES), "-o", together)
    check("free time is below 0" in done.stderr, "free time below 0 is explained")
    for kind, mode in [("db", mode) for mode in RECIPES] + [("csv", mode) for mode in RECIPES]:
        if f"{kind}-{mode}" not in expected:
            continue
        wanted, out = copy.deepcopy(expected[f"{kind}-{mode}"]), together
        CORRECTED.get(mode, lambda _: None)(wanted)
        if kind == "csv":
            out = top / f"csv-{mode}"
            run("cluster", top / "inputs/db", "-m", mode, "-o", out, "--export-type", "text")
        differences = compare(wanted, out, keeps)
        check(not differences, f"{kind}-{mode} as the reference {differences[:3]}")


def bottlenecks_name_the_sender(top):
    rows = {row["communicationOp"]: row for row in rows_of(database_of(top / "together")["CommunicationBottleneck"])}
    receive = rows["hcom_receive__741_2_1"]
    check((receive["slowRankId"], receive["fastRankId"]) == (4, 0), "a receive waits for its send")
    device = rows["hcom_allReduce__026_6_1"]["reason"]
    check(device.startswith("[Device-bound]Device: ") and "MEMCPY" not in device, "tasks behind the operator are not compared")


def another_job(top, expected):
    out = top / "against"
    run("cluster", top / "inputs/db", "-m", "cluster_time_compare_summary", "--base", top / "inputs/base-db", "-o", out)
    differences = compare(expected["db-cluster_time_compare_summary"], out)
    check(not differences, f"against the ranks of another job {differences[:3]}")
    base = top / "base-results"
    run("cluster", top / "inputs/base-db", "-m", "cluster_time_summary", "-o", base)
    run("cluster", top / "inputs/db", "-m", "cluster_time_compare_summary", "--base", base, "-o", top / "against-results")
    check(database_of(top / "against-results") == database_of(out), "the same against its results")
    viewed = sqlite3.connect(base / "cluster_analysis_output/cluster_analysis.db")
    for sql in "PRAGMA journal_mode = WAL", "UPDATE ClusterTimeSummary SET stepTime = stepTime + 1000":
        viewed.execute(sql)
    viewed.commit()
    done = run("cluster", top / "inputs/db", "-m", "cluster_time_compare_summary", "--base", base, "-o", top / "against-viewed")
    first, then = (rows_of(database_of(top / name)["ClusterTimeCompareSummary"]) for name in ("against-results", "against-viewed"))
    check([row["stepTimeBase"] + 1000 for row in first] == [row["stepTimeBase"] for row in then] and "-wal" not in done.stderr,
          f"the same with what is in their log: {done.stderr}")
    viewed.close()
    (base / "cluster_analysis_output/cluster_analysis.db-wal").write_bytes(bytes(5000))
    done = run("cluster", top / "inputs/db", "-m", "cluster_time_compare_summary", "--base", base, "-o", top / "against-strange")
    check("cluster_analysis.db-wal: ignored: its header is damaged" in done.stderr, f"a log that is none: {done.stderr}")
    run("cluster", top / "inputs/db", "-m", "cluster_time_compare_summary", "-o", top / "none", code=1)


def pipelines(top, expected):
    before = {file: hashlib.sha256(file.read_bytes()).digest() for file in (top / "inputs/db").rglob("*.db")}
    out = top / "pipelines"
    run("cluster", top / "inputs/db", "-m", "pp_chart", "-o", out)
    check(before == {file: hashlib.sha256(file.read_bytes()).digest() for file in (top / "inputs/db").rglob("*.db")},
          "no input is modified")
    found = database_of(out)
    pairs, passes = {}, {}
    for row in rows_of(found["P2PPairing"]):
        pairs.setdefault(row["rankId"], []).append([row["opName"], row["opConnectionId"]])
    for row in found["StepTaskInfo"]["rows"]:
        passes.setdefault(row[0], []).append(row[1:])
    wanted = {rank: expected["db-pp_chart"][f"ascend_pytorch_profiler_{rank}.db"]["db"] for rank in range(8)}
    check(all(sorted(pairs[rank]) == sorted(wanted[rank]["COMMUNICATION_OP.opConnectionId"]["rows"]) for rank in range(8)),
          "sends and receives have the numbers of the reference")
    check(all(sorted(passes[rank]) == sorted(wanted[rank]["StepTaskInfo"]["rows"]) for rank in range(8)), "so have passes")
    run("cluster", top / "inputs/db", "-m", "p2p_pairing", "-o", top / "pairs")
    check(database_of(top / "pairs")["P2PPairing"] == found["P2PPairing"], "p2p_pairing has the same pairs")
    copies_for_viewers(top, wanted, before)


def copies_for_viewers(top, wanted, before):
    """What the reference writes into the databases of the ranks, in copies of them."""
    job, out = top / "inputs/db", top / "copies"
    done = run("cluster", job, "-m", "pp_chart", "-o", out, "--rank-databases")
    check(f"{out}  8 databases of ranks" in done.stdout, f"it says so: {done.stdout}")
    check(before == {file: hashlib.sha256(file.read_bytes()).digest() for file in job.rglob("*.db")}, "no input is modified")
    originals = sorted(job.rglob("ascend_pytorch_profiler_*.db"))
    copies = [out / file.relative_to(job) for file in originals]
    check(sorted(file for file in out.rglob("*.db") if file.name != "cluster_analysis.db") == sorted(copies), "each is where its original is")
    check(not [file for file in out.rglob("*") if ".part-" in file.name or file.name.endswith(("-wal", "-journal"))], "nothing is left")
    for file, original in zip(copies, originals):
        rank = int(file.stem.split("_")[-1])
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as db, sqlite3.connect(f"file:{original}?mode=ro&immutable=1", uri=True) as old:
            check(db.execute("PRAGMA integrity_check").fetchone() == ("ok",), f"rank {rank}: sound")
            passes = [list(row) for row in db.execute("SELECT name, startNs, endNs, type FROM StepTaskInfo")]
            pairs = [list(row) for row in db.execute("SELECT value, opConnectionId FROM COMMUNICATION_OP JOIN STRING_IDS ON STRING_IDS.id = opName "
                                                     "WHERE opConnectionId IS NOT NULL")]
            check(sorted(passes) == sorted(wanted[rank]["StepTaskInfo"]["rows"]), f"rank {rank}: passes as the reference has them")
            check(sorted(pairs) == sorted(wanted[rank]["COMMUNICATION_OP.opConnectionId"]["rows"]) and pairs, f"rank {rank}: pairs, too")
            columns = ", ".join(row[1] for row in old.execute("PRAGMA table_info(COMMUNICATION_OP)"))
            check(all(db.execute(f"SELECT {columns} FROM {table}").fetchall() == old.execute(f"SELECT {columns} FROM {table}").fetchall()
                      for table, columns in (("COMMUNICATION_OP", columns), ("STRING_IDS", "*"), ("CANN_API", "*"))), f"rank {rank}: the rest is as it was")
        db.close()
        old.close()
    bytes_of = {file: file.read_bytes() for file in copies}
    run("cluster", job, "-m", "p2p_pairing", "-o", top / "copies-of-pairs", "--rank-databases")
    with sqlite3.connect(top / "copies-of-pairs" / copies[0].relative_to(out)) as db:
        check(db.execute("SELECT COUNT(*) FROM sqlite_master WHERE name = 'StepTaskInfo'").fetchone() == (0,), "p2p_pairing has no passes")
    db.close()
    run("cluster", job, "-m", "pp_chart", "-o", out, "--rank-databases")
    check(bytes_of == {file: file.read_bytes() for file in copies}, "made again, they are the same")
    done = run("cluster", out, "-m", "pp_chart", "-o", top / "of-copies", "--rank-databases")
    again = {file.name: file.read_bytes() for file in (top / "of-copies").rglob("ascend_*.db")}
    check(len(again) == 8, "a copy can be copied")
    for words in (["-m", "pp_chart"], ["-m", "slow_rank", "-o", top / "none"], ["-m", "pp_chart", "-o", top / "none", "--export-type", "text"]):
        done = run("cluster", job, *words, "--rank-databases", code=2)
        check(done.stderr.count("\n") == 1 and "--rank-databases: needs" in done.stderr, done.stderr)
    done = run("cluster", out, "-m", "pp_chart", "-o", out, "--rank-databases", code=3)
    check("the recorded database would be replaced" in done.stderr, f"the input is no output: {done.stderr}")
    check(bytes_of == {file: file.read_bytes() for file in copies}, "and stays as it is")
    elsewhere, linked = top / "elsewhere", top / "linked"
    elsewhere.mkdir()
    linked.mkdir()
    (linked / copies[0].relative_to(out).parts[0]).symlink_to(elsewhere)
    done = run("cluster", job, "-m", "pp_chart", "-o", linked, "--rank-databases", code=3)
    check(done.stderr.count(": no copy: ") == 1, done.stderr)
    check(list(elsewhere.iterdir()) == [], "no link is followed")
    hostile_originals(top, job)


def hostile_originals(top, job):
    """A database with a trigger, one whose table is a view, and a damaged one: the first is copied without running it, the others have a line."""
    spoiled, out = top / "spoiled-copies", top / "of-spoiled-copies"
    shutil.copytree(job, spoiled)
    files = sorted(spoiled.rglob("ascend_pytorch_profiler_*.db"))
    with sqlite3.connect(files[0]) as db:
        db.execute("CREATE TRIGGER evil AFTER UPDATE ON COMMUNICATION_OP BEGIN DELETE FROM STRING_IDS; END")
        n_texts = db.execute("SELECT COUNT(*) FROM STRING_IDS").fetchone()
    db.close()
    with sqlite3.connect(files[1]) as db:
        db.execute("CREATE VIEW StepTaskInfo AS SELECT 1 AS name")
    db.close()
    done = run("cluster", spoiled, "-m", "pp_chart", "-o", out, "--rank-databases", code=3)
    with sqlite3.connect(out / files[0].relative_to(spoiled)) as db:
        check(db.execute("SELECT COUNT(*) FROM STRING_IDS").fetchone() == n_texts, "a trigger does not run")
    db.close()
    check(done.stderr.count("rank 1: no copy: ") == 1 and not list(out.rglob(files[1].name)), f"a view is not replaced: {done.stderr}")
    check(f"{out}  7 databases of ranks" in done.stdout, "the others are there")


def one_step(top):
    out = top / "step"
    run("cluster", top / "inputs/db", "-m", ",".join(RECIPES), "--step", 1, "-o", out)
    found, whole = database_of(out), database_of(top / "together")
    check({row["step"] for row in rows_of(found["ClusterTimeSummary"])} == {1}, "--step: times")
    wanted = [row for row in whole["ClusterTimeSummary"]["rows"] if row[1] == 1]
    check(found["ClusterTimeSummary"]["rows"] == wanted, "the numbers of a step are the same alone and among others")
    counts = [{row["OpType"]: row["Count"] for row in rows_of(tables["ComputeOpAllRankStats"])} for tables in (found, whole)]
    check(all(counts[0][name] * 2 == counts[1][name] for name in counts[1]), f"--step: operators {counts}")
    check({row["StepId"] for row in rows_of(found["MSTXMarkStats"])} == {1}, "--step: marks")
    done = run("cluster", top / "inputs/db", "-m", "hccl_sum", "--step", 77, "-o", top / "no-step", code=3)
    check("step 77: 8 of 8 ranks do not have it" in done.stderr, f"a step that no rank has is reported: {done.stderr}")
    check(not list((top / "no-step").rglob("*.db")), "nothing else is shown instead of it")


def incomplete_collectives(top):
    """The reference leaves out a whole group if one of its ranks lacks one operator."""
    folder = top / "incomplete"
    run("cluster", top / "inputs/db", "-m", "slow_rank", "-o", top / "complete")
    subprocess.run(["cp", "-r", top / "inputs/db", folder], check=True)
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    database = sqlite3.connect(next(folder.rglob("ascend_pytorch_profiler_1.db")))
    database.execute("DELETE FROM COMMUNICATION_OP WHERE opName = (SELECT id FROM STRING_IDS WHERE value = 'hcom_allReduce__026_4_1')")
    database.commit()
    database.close()
    done = run("cluster", folder, "-m", "slow_rank,cluster_time_summary", "-o", top / "incomplete-out")
    check("1 collectives are not recorded on every rank of their group" in done.stderr and "hcom_allReduce__026_4_1 (3 of 4)" in done.stderr,
          f"missing members are reported: {done.stderr}")
    votes = [{row["rankId"]: row["slowAffectCount"] for row in rows_of(database_of(top / name)["SlowRank"])}
             for name in ("complete", "incomplete-out")]
    check(votes == [{2: 14}, {2: 13}], f"the others are judged {votes}")


def incomplete_ranks(top):
    """A rank without one of its two databases: its steps are known, but not what they took."""
    folder, out = top / "half", top / "half-out"
    subprocess.run(["cp", "-r", top / "inputs/db", folder], check=True)
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    (next(folder.rglob("ascend_pytorch_profiler_1.db")).parent / "analysis.db").unlink()
    done = run("cluster", folder, "-m", "all", "-o", out, code=3)
    lines = [line for line in done.stderr.splitlines() if line.startswith("ascope: ranks 1 lack ")]
    check(len(lines) == 3 and "step_trace_time.csv" in lines[0] and "communication.json" in lines[1] and "communication_matrix.json" in lines[2],
          f"what a rank lacks is reported: {done.stderr}")
    steps = [row for row in rows_of(database_of(out)["ClusterStepTraceTime"]) if row["type"] == "rank"]
    check({row["index"] for row in steps} == set("0234567") and {row["step"] for row in steps} == {"0", "1"}, f"no row is made up: {steps}")


def same_bytes(top):
    found = []
    for threads in 1, 4:
        out = top / f"threads-{threads}"
        run("cluster", top / "inputs/db", "-m", "all-modes", "--export-type", "text,db", "--threads", threads, "-o", out)
        found.append({file.relative_to(out): file.read_bytes() for file in out.rglob("*") if file.is_file()})
    check(found[0] == found[1] and len(found[0]) > 20, f"same bytes with any number of threads: {len(found[0])} files")


def slow_links_have_names(top):
    job = top / "job"
    run("sim", "--framework", "pt", "--tp", 4, "--dp", 2, "--kernels", 800, "--steps", 2, "--slow-link", "1-3:0.2", "--out", job)
    done = run("cluster", job, "-m", "slow_link", "-o", top / "links", "--export-type", "db")
    links = rows_of(database_of(top / "links")["SlowLinks"])
    check({(row["srcRank"], row["dstRank"]) for row in links} == {(1, 3), (3, 1)}, f"a slow link is named: {links[:3]}")
    check(done.stdout.count("link 1-3 ") == 1 and done.stdout.count("link 3-1 ") == 1, f"and is on the first screen: {done.stdout}")


def from_any_source(top):
    """Summaries, databases and raw collections of the same ranks give the same tables."""
    job, found = top / "job", []
    for source in "collection", "summary", "db":
        if source == "summary":
            run("analyse", *sorted(job.iterdir()), "--export-type", "db", "--summary", "-q")
        if source == "db":
            for file in job.rglob("*.summary"):
                file.unlink()
        out = top / f"from-{source}"
        done = run("cluster", job, "-m", ",".join(RECIPES + ("pp_chart", "slow_link")), "-o", out, "--export-type", "text", "--json")
        check({rank["source"] for rank in json.loads(done.stdout)["job_ranks"]} == {source}, f"ranks are read from {source}")
        found.append({file.relative_to(out): file.read_bytes() for file in out.rglob("*.csv")})
    with open(top / "from-db/cluster_analysis_output/MstxSum/all_device_stats.csv", newline="") as lines:
        sums = {row["Sum(Ms)"] for row in csv.DictReader(lines) if float(row["Count"]) == 0}
    check({float(text) for text in sums} == {0}, f"the sum of no durations is 0: {sums}")
    check(found[0] == found[1] == found[2] and len(found[0]) > 15, f"{len(found[0])} files are the same from all of them")


def all_kernels(top):
    run("cluster", top / "inputs/db", "-m", "export_summary,module_statistic", "-o", top / "kernels")
    found = database_of(top / "kernels")
    check(len(found["KernelDetails"]["rows"]) == 528 and len(found["ApiStatistic"]["rows"]) == 16, "kernels and calls of all ranks")
    sums = {}
    for row in rows_of(found["KernelDetails"]):
        sums[row["op_type"]] = sums.get(row["op_type"], 0) + round(row["task_duration"] * 1000)
    wanted = {row["OpType"]: row["SumNs"] for row in rows_of(database_of(top / "together")["ComputeOpAllRankStats"])}
    check(sums == wanted, "their durations add up to those of compute_op_sum")
    check("ModuleStatistic" not in found, "without modules there is no table of them")


def kernels_of_graphs(top):
    """A graph's task has one id for all its runs."""
    job = top / "graphs"
    run("sim", "--framework", "pt", "--kernels", 100, "--samplers=off", "--out", job)
    run("analyse", *sorted(job.iterdir()), "--export-type", "db", "-q")
    database = sqlite3.connect(next(job.rglob("ascend_pytorch_profiler*.db")))
    wanted = database.execute("SELECT count(*), sum(endNs - startNs) FROM COMPUTE_TASK_INFO JOIN TASK USING (globalTaskId)").fetchone()
    once = database.execute("SELECT count(*) FROM COMPUTE_TASK_INFO").fetchone()
    database.close()
    run("cluster", job, "-m", "compute_op_sum,export_summary", "-o", top / "graphs-out")
    found = database_of(top / "graphs-out")
    sums = [sum(row[name] for row in rows_of(found["ComputeOpAllRankStats"])) for name in ("Count", "SumNs")]
    check(sums == list(wanted) and once[0] < wanted[0], f"each run of a graph's kernels counts: {sums}, {wanted}, {once}")
    check(len(found["KernelDetails"]["rows"]) == wanted[0], "and is in the list of kernels")


def many_fast_ranks(top):
    """More ranks are compared with the slow one than are kept in memory: it stays there."""
    job = top / "fast"
    run("sim", "--framework", "pt", "--dp", 8, "--kernels", 800, "--steps", 5, "--slow-rank", "1:1.5", "--seed", 26, "--samplers=off", "--out", job)
    run("cluster", job, "-m", "communication_bottleneck", "-o", top / "fast-out", "--export-type", "db")
    rows = [row for row in rows_of(database_of(top / "fast-out")["CommunicationBottleneck"]) if "reduceScatter" in row["communicationOp"]]
    check(len({row["fastRankId"] for row in rows}) > 4 and {row["slowRankId"] for row in rows} == {1}, f"several ranks wait for one: {rows}")
    check(all(row["reason"].startswith("[Device-bound]Device: max duration-diff op acl") for row in rows), f"each has a reason: {rows}")


def main():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        expected = unpack(top)
        against_the_reference(top, expected)
        bottlenecks_name_the_sender(top)
        another_job(top, expected)
        pipelines(top, expected)
        one_step(top)
        incomplete_collectives(top)
        incomplete_ranks(top)
        same_bytes(top)
        slow_links_have_names(top)
        from_any_source(top)
        all_kernels(top)
        kernels_of_graphs(top)
        many_fast_ranks(top)
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
