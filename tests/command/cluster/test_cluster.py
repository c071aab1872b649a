#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ascope cluster`: finding ranks, base modes against the results of msprof-analyze, errors.

Links between pipeline stages are in our matrix and not in that of the reference (docs/differences.md): the rest must be equal.
"""
import json
import os
import contextlib
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from cluster_results import check, compare, failures, results_of, tables_of, unpack

ASCOPE = sys.argv[1]


def run(*arguments, code=0):
    done = subprocess.run([ASCOPE, "cluster", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != code:
        failures.append(f"{arguments}: exit code {done.returncode}, expected {code}")
        print(done.stdout, done.stderr)
    return done


def is_p2p(names):
    return lambda row: row["group_name"] not in names


def without_p2p_links(names):
    """As the reference has it: no link of a pipeline, and no sums of them."""
    def change(tree):
        for steps in tree.values():
            for ops in steps.values():
                for op in [op for op in ops if op.split("@")[1] in names]:
                    ops[op] = {}
                    if op.startswith("Total"):
                        del ops[op]
        return tree
    return change


def against_the_reference(top, expected):
    groups = expected["text-all"]["communication_group.json"]["json"]["comm_group_parallel_info"]
    p2p = {group["group_name"] for group in groups if group["type"] == "p2p"}
    keeps = {name: is_p2p(p2p) for name in ("ClusterCommunicationMatrix", "cluster_communication_matrix.csv")}
    change = {"cluster_communication_matrix.json": without_p2p_links(p2p)}
    base = ("all", "communication_time", "communication_matrix")
    recipes = ("communication_group_map", "communication_time_sum", "communication_matrix_sum")
    runs = [(kind, mode, None) for kind in ("text", "db") for mode in base]
    runs += [("db", mode, None) for mode in recipes] + [("csv", mode, "text") for mode in recipes[1:]]
    for kind, mode, export in runs:
        out = top / f"{kind}-{mode}"
        source = top / "inputs" / ("text" if kind == "text" else "db")
        run(source, "-m", mode, "-o", out, *(["--export-type", export] if export else []))
        differences = compare(expected[f"{kind}-{mode}"], out, keeps, change)
        check(not differences, f"{kind}-{mode} as the reference {differences[:3]}")
    links = [row for row in tables_of(top / "db-all/cluster_analysis_output/cluster_analysis.db")["ClusterCommunicationMatrix"]["rows"]
             if row[2] in p2p and row[1] == "send-total"]
    check({(row[3], row[4]) for row in links} == {(a, a + 4) for a in range(4)} | {(a + 4, a) for a in range(4)},
          "links between pipeline stages are there")
    files = {file.name for file in (top / "text-all/cluster_analysis_output").iterdir()}
    check(files == set(expected["text-all"]), f"text has its files and no others {files}")


def ranks_of_any_kind(top):
    mixed = top / "mixed"
    mixed.mkdir()
    for folder in (top / "inputs/db").iterdir():
        rank = int(folder.name.split("_")[1]) - 2000
        source = folder if rank < 3 else top / "inputs/text" / folder.name
        if rank != 6:
            shutil.copytree(source, mixed / "host" / folder.name)
    older = mixed / "node0_1999_20240501030426000_ascend_pt"
    shutil.copytree(top / "inputs/text" / "node0_2003_20240601030426003_ascend_pt", older)
    done = run(mixed, "-m", "all", "--export-type", "db", "--json", code=3)
    report = json.loads(done.stdout)
    check([(rank["rank"], rank["source"]) for rank in report["job_ranks"]] ==
          [(0, "db"), (1, "db"), (2, "db"), (3, "text"), (4, "text"), (5, "text"), (7, "text")], "databases and text are mixed, in order")
    notes = " ".join(note["text"] for note in report["notes"])
    check("rank 3: in " in notes and "20240601030426003" in notes.split("and in")[0], "of two collections of a rank the newer one is used")
    check("6" in notes and "missing" in notes, f"a missing rank is reported: {notes}")
    tables = tables_of(mixed / "cluster_analysis_output/cluster_analysis.db")
    check({row[1] for row in tables["ClusterCommunicationTime"]["rows"]} == {0, 1, 2, 3, 4, 5, 7}, "all of them are in the table")
    some = run(mixed, "-m", "communication_group_map", "--ranks", "0-1,4", "-o", top / "some", "--json", "--export-type", "db")
    check([rank["rank"] for rank in json.loads(some.stdout)["job_ranks"]] == [0, 1, 4], "--ranks")
    run(mixed, "--ranks", "0,x", code=2)
    run(mixed, "-m", "nonsense", code=2)
    run(top / "expected", code=1)
    run(top / "nothing-there", code=2)


def other_tables_stay(top):
    out = top / "kept"
    out.mkdir()
    run(top / "inputs/db", "-m", "communication_group_map", "-o", out)
    database = out / "cluster_analysis_output/cluster_analysis.db"
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE Other (a INTEGER)")
    connection.execute("INSERT INTO Other VALUES (7)")
    connection.commit()
    connection.close()
    run(top / "inputs/db", "-m", "communication_time_sum", "-o", out)
    tables = tables_of(database)
    check(tables.get("Other", {}).get("rows") == [[7]] and "ClusterCommunicationTime" in tables, "recipes keep other tables")
    run(top / "inputs/db", "-m", "all", "-o", out)
    check("Other" not in tables_of(database), "base modes begin anew")
    database.write_bytes(b"no database at all, but long enough to be one" * 100)
    done = run(top / "inputs/db", "-m", "communication_group_map", "-o", out, code=1)
    check("not a database" in done.stderr and database.read_bytes().startswith(b"no database"), "another file of that name is left alone")


def databases_that_are_new_or_not(top):
    """A new one is written by us, one that is there by SQLite: values and their types are the same."""
    modes = ("cluster_time_summary,slow_rank,slow_link,free_analysis,compute_op_sum,hccl_sum,cann_api_sum,communication_group_map,"
             "communication_time_sum,communication_matrix_sum,verdicts,operator_mfu,export_summary")
    found = []
    for name in "new", "old":
        database = top / name / "cluster_analysis_output/cluster_analysis.db"
        if name == "old":
            database.parent.mkdir(parents=True)
            with contextlib.closing(sqlite3.connect(database)) as connection:
                connection.execute("CREATE TABLE Other (a INTEGER)")
        run(top / "inputs/db", "-m", modes, "--export-type", "db", "-o", top / name)
        found.append(tables_of(database))
    old = found[1].pop("Other", None)
    check(old is not None and len(found[0]) > 10 and repr(sorted(found[0].items())) == repr(sorted(found[1].items())),
          f"a new database as one that was there: {[sorted(tables) for tables in found]}")


def damaged_ranks(top):
    folder = top / "damaged"
    shutil.copytree(top / "inputs/db", folder)
    ranks = sorted(folder.iterdir())
    database = next((ranks[1] / "ASCEND_PROFILER_OUTPUT").glob("analysis.db"))
    database.write_bytes(database.read_bytes()[:5000])
    broken = ranks[2] / "ASCEND_PROFILER_OUTPUT/analysis.db"
    broken.write_bytes(b"x" * 9000)
    connection = sqlite3.connect(ranks[4] / "ASCEND_PROFILER_OUTPUT/analysis.db")
    connection.execute("DROP TABLE CommAnalyzerTime")
    connection.execute("CREATE VIEW CommAnalyzerTime AS WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT x AS step FROM a")
    connection.commit()
    connection.close()
    done = run(folder, "-m", "all", code=3)
    check(done.stderr.count("left out") == 2 and "rank 1:" in done.stderr and "rank 2:" in done.stderr, f"a line for each: {done.stderr}")
    text = top / "text-damaged"
    shutil.copytree(top / "inputs/text", text)
    (sorted(text.iterdir())[0] / "ASCEND_PROFILER_OUTPUT/communication.json").write_text('{"step0": [1, 2')
    (sorted(text.iterdir())[1] / "ASCEND_PROFILER_OUTPUT/communication.json").write_text('{"step0": 7, "step1": {"p2p": {"a@b": 3}}}')
    done = run(text, "-m", "all", code=3)
    check("not valid JSON" in done.stderr and "rank 1:" in done.stderr, f"damaged JSON: {done.stderr}")


def same_bytes_with_any_number_of_threads(top):
    found = []
    for threads in 1, 4:
        out = top / f"threads-{threads}"
        run(top / "inputs/db", "-m", "all", "--export-type", "text,db", "--threads", threads, "-o", out)
        found.append({str(f.relative_to(out)): f.read_bytes() for f in sorted(out.rglob("*")) if f.is_file()})
    check(found[0] == found[1] and len(found[0]) == 5, "same bytes")


def ascope(*arguments, code=0):
    done = subprocess.run([ASCOPE, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != code:
        failures.append(f"{arguments}: exit code {done.returncode}, expected {code}")
        print(done.stdout, done.stderr)
    return done


def results(folder):
    tables = tables_of(folder / "cluster_analysis_output/cluster_analysis.db")
    for row in tables["RankDeviceMap"]["rows"]:
        row[3] = pathlib.PurePath(row[3]).name
    return tables


def collections_results_and_summaries_agree(top):
    """Every mode: the same from raw collections, from our databases, and from summaries."""
    for framework in "pt", "ms":
        job, out = top / f"job-{framework}", top / f"of-{framework}"
        out.mkdir()
        ascope("sim", "--framework", framework, "--ranks", 4, "--tp", 2, "--pp", 2, "--kernels", 600, "--out", job)
        run(job, "-m", "all-modes", "-o", out / "raw")
        ascope("analyse", job, "--summary", "--out", out / "summaries")
        files = sorted((out / "summaries").glob("*/ascope_rank_*.summary"))
        check(len(files) == 4 and all(file.stat().st_size < 60000 for file in files), f"{framework}: a small summary for each rank")
        ascope("analyse", job, "--export-type", "db", "-q")
        run(job, "-m", "all-modes", "-o", out / "db")
        gathered = out / "gathered"
        gathered.mkdir()
        for file in files:
            shutil.copy(file, gathered)
        raw = results(out / "raw")
        check(len(raw) > 20 if framework == "pt" else len(raw) > 8, f"{framework}: {len(raw)} tables")
        found = results(out / "db")
        if framework == "ms":  # communication_analyzer.db knows no steps
            check(all(row[0] != "" for row in raw["ClusterStepTraceTime"]["rows"]) and len(raw["ClusterStepTraceTime"]["rows"]) == 12 + 6,
                  f"ms: steps of ranks and stages: {raw['ClusterStepTraceTime']['rows']}")
            found, raw_db = ({name: t for name, t in tables.items() if not name.startswith("ClusterComm")} for tables in (found, raw))
            check(found == raw_db and len(found) == 28, f"ms: databases as collections, but for steps of communication: {sorted(found)}")
            for rank in range(4):
                db = sqlite3.connect(next(job.glob(f"*/ASCEND_PROFILER_OUTPUT/ascend_mindspore_profiler_{rank}.db")))
                ranks, steps = (db.execute(f"SELECT * FROM {table}").fetchall() for table in ("RANK_DEVICE_MAP", "STEP_TIME"))
                check([r for r, _ in ranks] == [rank] and len(steps) == 3 and all(s[1] < s[2] for s in steps), f"ms: rank and steps: {ranks} {steps}")
                db.close()
        else:
            check(found == raw, f"{framework}: databases as collections")
        run(gathered, "-m", "all-modes", "-o", out / "sum")
        of_summaries = results(out / "sum")
        for table in of_summaries.keys() - {"CommunicationBottleneck"}:  # it looks at single tasks, and says that summaries have none
            check(of_summaries[table] == raw[table], f"{framework}: {table} of summaries as of collections")


def directories_of_devices_agree(top):
    """Every mode: the same from PROF directories as from their databases. What tasks are made of is in the tables, too."""
    job, out = top / "job-none", top / "of-none"
    out.mkdir()
    ascope("sim", "--ranks", 4, "--tp", 2, "--pp", 2, "--kernels", 600, "--out", job)
    run(job, "-m", "all-modes", "-o", out / "raw")
    left = [file.name for folder in job.iterdir() for file in folder.iterdir() if not (file.name == "host" or file.name.startswith("device_"))]
    check(left == [], f"nothing is written beside raw data: {left}")
    ascope("export", "db", "-dir", job, "-q")
    ascope("communication", job, "-q")
    done = run(job, "-m", "all-modes", "-o", out / "db", "--json")
    check({rank["source"] for rank in json.loads(done.stdout)["job_ranks"]} == {"db"}, "databases are read")
    raw = results(out / "raw")
    check(len(raw) > 20 and results(out / "db") == raw, f"PROF: {len(raw)} tables, from databases as from directories")
    ascope("analyse", job, "--summary", "--out", out / "summaries")
    run(out / "summaries", "-m", "communication_time", "-o", out / "sum")
    of_summaries = results(out / "sum")
    check(of_summaries["RankDeviceMap"] == raw["RankDeviceMap"] and len(raw["RankDeviceMap"]["rows"]) == 4, "summaries have the directories, too")
    blocks = [row[raw["KernelDetails"]["columns"].index("block_dim")] for row in raw["KernelDetails"]["rows"]]
    of_tasks = []
    for file in job.glob("*/msprof_*.db"):
        db = sqlite3.connect(file)
        of_tasks += [n for n, in db.execute("SELECT c.blockNum FROM TASK AS t JOIN COMPUTE_TASK_INFO AS c USING (globalTaskId)")]
        db.close()
    check(len(set(blocks)) > 1 and sorted(blocks) == sorted(of_tasks), f"blocks of kernels: {sorted(set(blocks))}, {sorted(set(of_tasks))}")


def summaries_are_made_once(top):
    job = top / "job-pt"
    ascope("analyse", job, "--summary")
    file = next(job.glob("*/ascope_rank_0.summary"))
    before = file.stat().st_mtime_ns, file.read_bytes()
    again = ascope("analyse", job, "--summary")
    check(again.stdout.count("up to date") == 4 and file.stat().st_mtime_ns == before[0], "skipped when up to date")
    raw = next(file.parent.glob("FRAMEWORK/torch.op_range"))
    os.utime(raw, ns=(1, 1))
    again = ascope("analyse", job, "--summary")
    check(again.stdout.count("up to date") == 3 and file.stat().st_mtime_ns != before[0] and file.read_bytes() != b"", "made again when data is newer")
    done = run(job, "-m", "all", "-o", top / "from-summaries", "--json")
    check({rank["source"] for rank in json.loads(done.stdout)["job_ranks"]} == {"summary"}, "summaries are preferred")
    file.write_bytes(before[1][:5000])
    other = next(job.glob("*/ascope_rank_1.summary"))
    other.write_bytes(other.read_bytes()[:8] + b"\x09" + other.read_bytes()[9:])
    done = run(job, "-m", "all", "-o", top / "from-summaries", "--json", code=3)
    report = json.loads(done.stdout)
    lines = [note["text"] for note in report["notes"] if note["is_loss"]]
    check(len(lines) == 2 and "cut short" in lines[0] and "version 9" in lines[1], f"a line for each that cannot be used: {lines}")
    check([rank["source"] for rank in report["job_ranks"]] == ["db", "db", "summary", "summary"], "what else there is of the rank is used")


def parts_are_joined_to_the_same_results(top):
    """Shards of raw collections, joined in two levels, and processes: as the job at once."""
    job, out = top / "job-pt", top / "parts"
    out.mkdir()
    for folder in job.iterdir():
        for file in folder.glob("*.summary"):
            file.unlink()
    for i in 1, 2, 3:
        run(job, "--shard", f"{i}/3", "-o", out / "shards")
    run(out / "shards/shard_1_of_3.summary", out / "shards/shard_2_of_3.summary", "--join", out / "two.summary")
    run(out / "two.summary", out / "shards", "-m", "all", "-o", out / "joined")
    whole = results(top / "of-pt/raw")
    joined = results(out / "joined")
    check(joined and all(joined[table] == whole[table] for table in joined), "shards of shards give the results of the job")
    run(job, "-m", "all", "--launcher", "local", "--processes", 3, "-o", out / "launched")
    check(results(out / "launched") == joined, "processes give them, too")
    check(sorted(file.name for file in (out / "launched").iterdir()) == ["cluster_analysis_output"], "and leave nothing else")
    done = run(out / "shards/shard_2_of_3.summary", "-m", "all", "-o", out / "some", code=3)
    check("missing: " in done.stderr, f"what is in no shard is missing: {done.stderr}")
    parts_from_a_list(job, out)
    run(job, "--shard", "4/3", code=2)
    run(job, "--shard", "0/3", code=2)
    ends = (out / "shards/shard_1_of_3.summary").read_bytes()
    (out / "cut.summary").write_bytes(ends[:-3])
    done = run(out / "cut.summary", "-m", "all", "-o", out / "some", code=3)
    check("not a summary" in done.stderr, f"an index that is cut off: {done.stderr}")


def parts_from_a_list(job, out):
    """The list of ranks is made once; then a task reads its own ranks and nothing else: the others may be gone."""
    listed, copy = out / "ranks.manifest", out / "copy"
    shutil.copytree(job, copy)
    done = run(copy, "--manifest", listed)
    check(done.stdout == f"{listed}  4 ranks\n" and not (copy / "cluster_analysis_output").exists(), f"a list, and no results: {done.stdout}")
    ranks = sorted(copy.glob("*/profiler_info_*.json"), key=lambda file: file.name)
    for i in 1, 2:
        run(copy, "--shard", f"{i}/2", "-o", out / "searched")
        run(copy, "--shard", f"{i}/2", "--manifest", listed, "-o", out / "listed")
        name = f"shard_{i}_of_2.summary"
        check((out / "searched" / name).read_bytes() == (out / "listed" / name).read_bytes(), "the same part as without a list")
    for file in ranks[2:]:
        shutil.rmtree(file.parent)
    run(copy, "--shard", "1/2", "--manifest", listed, "-o", out / "alone")
    check((out / "alone/shard_1_of_2.summary").read_bytes() == (out / "listed/shard_1_of_2.summary").read_bytes(), "without the others")
    done = run(copy, "--shard", "2/2", "--manifest", listed, "-o", out / "alone", code=3)
    check(done.stderr.count("it is left out") == 2, f"what is gone has a line each: {done.stderr}")
    done = run(copy, "--shard", "1/9", "--manifest", listed, "-o", out / "alone")
    check("  0 ranks" in done.stdout, f"a part without ranks: {done.stdout}")
    for arguments, words in (((job, "--shard", "1/2", "--manifest", listed), "is of other directories"),
                             ((copy, "--shard", "1/2", "--ranks", "0-1", "--manifest", listed), "or of another --ranks"),
                             ((copy, "--shard", "1/2", "--manifest", out / "none"), "No such file"),
                             ((copy, "--shard", "1/2", "--manifest", __file__), "not a list of ranks"),
                             ((copy, "--shard", "5/2", "--manifest", listed), "expected I/N"),
                             ((copy, "--launcher", "local", "--manifest", listed), "only with --shard")):
        done = run(*arguments, "-o", out / "refused", code=2)
        check(words in done.stderr and done.stderr.count("\n") == 1, f"{words}: {done.stderr}")


def as_msprof_analyze(top):
    link = top / "msprof-analyze"
    link.symlink_to(os.path.abspath(ASCOPE))
    for arguments in (["cluster", "-d", top / "inputs/db", "-m", "communication_matrix_sum", "-o", top / "named", "--export_type=db", "--rank_list", "all",
                       "--step_id", "-1", "--parallel_mode", "concurrent", "--force"],
                      ["-d", top / "inputs/text", "-o", top / "named"]):
        done = subprocess.run([link, *map(str, arguments)], capture_output=True, text=True)
        check(done.returncode == 0, f"{arguments[0]}: {done.stderr}")
    files = {file.name for file in (top / "named/cluster_analysis_output").iterdir()}
    check("cluster_communication.json" in files and "cluster_analysis.db" not in files, "base modes begin with a new folder")
    for arguments, code in (["--nonsense"], 2), (["-d"], 2), (["compare"], 2), (["-d", top / "nowhere"], 2):
        done = subprocess.run([link, *map(str, arguments)], capture_output=True, text=True)
        check(done.returncode == code and done.stderr.startswith("msprof-analyze: "), f"{arguments}: {done.returncode} {done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    top = pathlib.Path(folder)
    expected = unpack(top)
    for test in against_the_reference, other_tables_stay, databases_that_are_new_or_not:
        print(test.__name__)
        test(*((top, expected) if test is against_the_reference else (top,)))
    for test in (ranks_of_any_kind, damaged_ranks, same_bytes_with_any_number_of_threads, collections_results_and_summaries_agree,
                 directories_of_devices_agree, summaries_are_made_once, parts_are_joined_to_the_same_results, as_msprof_analyze):
        print(test.__name__)
        test(top)
sys.exit("\n".join(failures) or 0)
