# SPDX-License-Identifier: Apache-2.0
"""The results of one export, and what must hold between them: one file is computed again from another.

A check is a generator of complaints.  CHECKS lists the files that each needs; where they are missing it does not apply.
"""
import collections
import csv
import json
import os
import re
import sqlite3
from decimal import Decimal

STAMP = re.compile(r"(_\d{14,17})?(_slice_\d+)?(_\d{14,17})?(?=\.\w+$)")
NONE = {-1, 4294967295, 18446744073709551615, None}
# Columns of the database that hold ids of STRING_IDS.
TEXT_COLUMNS = set("""name opName groupName algType opType taskType inputFormats inputDataTypes inputShapes
    outputFormats outputDataTypes outputShapes attrInfo opState hf32Eligible gridDim blockDim message domainId
    operatorName component inputDtypes stack mode eventName coreType metric NPU_OP_MEM.type NPU_MEM.type HBM.type DDR.type
    CCU.args DPU_TASK.args""".split())
# Where an id must be found. What the host knows of an operator (the first one) is reported even when the task was lost.
RELATIONS = (("COMPUTE_TASK_INFO", "globalTaskId", "TASK"), ("COMMUNICATION_TASK_INFO", "globalTaskId", "TASK"),
             ("TASK_PMU_INFO", "globalTaskId", "TASK"), ("MEMCPY_INFO", "globalTaskId", "TASK"),
             ("COMMUNICATION_TASK_INFO", "opId", "COMMUNICATION_OP"))
# The process of the timeline that shows the samples of a table.
COUNTERS = {
    "HBM": "HBM", "LLC": "LLC", "HCCS": "HCCS", "PCIE": "PCIe", "NIC": "NIC", "ROCE": "RoCE",
    "ACC_PMU": "Acc PMU", "QOS": "QoS", "SIO": "SIO", "SOC_BANDWIDTH_LEVEL": "Stars Soc Info", "NPU_MEM": "NPU MEM",
    "CPU_USAGE": "CPU Usage", "HOST_MEM_USAGE": "Memory Usage", "HOST_NETWORK_USAGE": "Network Usage",
    "HOST_DISK_USAGE": "Disk Usage",
}


def ns(value):
    return int(Decimal(str(value).strip()) * 1000)


def near(a, b, by="0.0011"):
    """Equal but for the rounding to three decimals."""
    return abs(Decimal(a) - Decimal(b)) <= Decimal(by)


class Results:
    def __init__(self, folder, is_whole=True):
        self.files, self.is_whole = {}, is_whole
        for base, _, names in os.walk(folder):
            for n in names:
                self.files[STAMP.sub("", n)] = os.path.join(base, n)
        self.events = []
        if "msprof.json" in self.files:
            with open(self.files["msprof.json"], encoding="utf-8") as f:
                self.events = json.load(f, parse_float=Decimal)
        self.process = {e["pid"]: e["args"]["name"] for e in self.events if e["name"] == "process_name"}
        self.sql = None
        if "msprof.db" in self.files:
            self.sql = sqlite3.connect("file:%s?mode=ro" % self.files["msprof.db"], uri=True)

    def has(self, *names):
        return all(n in self.files for n in names)

    def table(self, name):
        with open(self.files[name], newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def of(self, process, phase):
        return [e for e in self.events if e["ph"] == phase and self.process.get(e["pid"]) == process]

    def rows(self, sql):
        return self.sql.execute(sql).fetchall()

    def columns(self):
        """-> {table: its columns}"""
        return {t: [c[1] for c in self.rows('PRAGMA table_info("%s")' % t)]
                for t, in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}


def same(what, a, b):
    """Two multisets are one."""
    a, b = collections.Counter(list(a)), collections.Counter(list(b))
    for side, rest in (("first", a - b), ("second", b - a)):
        for key, n in list(rest.items())[:3]:
            yield "%s: only in the %s (%d times): %s" % (what, side, n, key)


def statistics(what, rows, groups, columns):
    """Rows of a statistic: each names its group of values; count, total, least, mean and most follow from them."""
    for key, row in rows.items():
        v = groups.get(key)
        if not v:
            yield "%s: nothing is called %s" % (what, key)
            continue
        rounding = Decimal("0.0011") + len(v) * Decimal("0.0005")  # of each value in a sum
        for column, value in zip(columns, (len(v), sum(v), min(v), sum(v) / len(v), max(v))):
            if not near(row[column], value, rounding):
                yield "%s: %s of %s is %s, should be %.4f" % (what, column, key, row[column], value)


def op_statistic_is_op_summary_summed_up(r):
    groups = collections.defaultdict(list)
    for o in r.table("op_summary.csv"):
        if o["Task Type"] != "COMMUNICATION":
            groups[o["Device_id"], o["OP Type"], o["Task Type"]].append(Decimal(o["Task Duration(us)"]))
    rows = {(s["Device_id"], s["OP Type"], s["Core Type"]): s for s in r.table("op_statistic.csv")}
    yield from same("operator types", rows, groups)
    yield from statistics("op_statistic", rows, groups,
                          ("Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)"))
    for device in {k[0] for k in rows}:
        total = sum(sum(v) for k, v in groups.items() if k[0] == device)
        for k, s in rows.items():
            if k[0] == device and not near(s["Ratio(%)"], 100 * sum(groups[k]) / total):
                yield "op_statistic: Ratio(%%) of %s is %s" % (k, s["Ratio(%)"])


def api_statistic_is_the_calls_summed_up(r):
    groups = collections.defaultdict(list)
    for e in r.of("CANN", "X"):
        groups[e["args"]["level"], e["name"].partition("@")[2]].append(Decimal(e["dur"]))
    rows = {(a["Level"], a["API Name"]): a for a in r.table("api_statistic.csv")}
    yield from same("calls", rows, groups)
    yield from statistics("api_statistic", rows, groups, ("Count", "Time(us)", "Min(us)", "Avg(us)", "Max(us)"))


def tasks_are_the_same_in_all_files(r):
    # Collective operators are more than one task; step and mark rows are no task.
    table = [((t["stream_id"], t["task_id"], ns(t["task_start(us)"])), ns(t["task_time(us)"]))
             for t in r.table("task_time.csv")]
    timeline = [((str(e["args"]["Physic Stream Id"]), str(e["args"]["Task Id"]), ns(e["ts"])), ns(e["dur"]))
                for e in r.of("Ascend Hardware", "X") if "Model Id" in e["args"] and "Task Id" in e["args"]]
    database = [((str(s), str(t), b), e - b)
                for s, t, b, e in r.rows("SELECT streamId, taskId, startNs, endNs FROM TASK")]
    for what, rows in (("timeline", timeline), ("TASK", database)):
        found = collections.defaultdict(list)
        for key, duration in rows:
            found[key].append(duration)
        for key, duration in table:
            if not any(abs(d - duration) <= 1 for d in found[key]):  # fractions of a nanosecond end here or there
                yield "%s: has no task %s of %d ns as task_time.csv" % (what, key, duration)
    # The times of operators may be those of their cores, which are not the scheduler's.
    operators = collections.Counter((o["Stream ID"], o["Task ID"]) for o in r.table("op_summary.csv")
                                    if o["Task Type"] != "COMMUNICATION")
    for key in operators - collections.Counter(key[:2] for key, _ in table):
        yield "task_time.csv: has no task %s of op_summary.csv" % (key,)


def calls_are_the_same_in_timeline_and_database(r):
    timeline = [(ns(e["ts"]), ns(e["dur"]), e["args"]["connection_id"]) for e in r.of("CANN", "X")]
    yield from same("CANN_API", timeline, r.rows("SELECT startNs, endNs - startNs, connectionId FROM CANN_API"))


def counters_have_the_same_times_in_timeline_and_database(r):
    for table in set(r.columns()) & set(COUNTERS):
        shown = {ns(e["ts"]) for e in r.of(COUNTERS[table], "C")}
        yield from same(table, shown, {t for t, in r.rows("SELECT timestampNs FROM %s" % table)})


def communication_statistic_is_the_collectives_summed_up(r):
    groups = collections.defaultdict(list)
    for device, kind, begin, end in r.rows("SELECT deviceId, value, startNs, endNs FROM COMMUNICATION_OP "
                                           "JOIN STRING_IDS ON STRING_IDS.id = opType"):
        groups[str(device), kind].append(Decimal(end - begin) / 1000)
    rows = {(s["Device_id"], s["OP Type"]): s for s in r.table("communication_statistic.csv")}
    yield from same("collectives", rows, groups)
    yield from statistics("communication_statistic", rows, groups,
                          ("Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)"))


def steps_last_from_begin_to_end(r):
    for s in r.table("step_trace.csv"):
        fp, bp, end = (None if s[c].strip() in ("N/A", "0.000") else ns(s[c])
                       for c in ("FP Start(us)", "BP End(us)", "Iteration End(us)"))
        for column, a, b in (("FP to BP Time(us)", fp, bp), ("Iteration Refresh(us)", bp, end)):
            if a and b and abs(ns(s[column]) - (b - a)) > 1:
                yield "step_trace: %s of iteration %s is %s" % (column, s["Iteration ID"], s[column])
    ends = {ns(s["Iteration End(us)"]) for s in r.table("step_trace.csv") if s["Iteration End(us)"].strip() != "N/A"}
    shown = {ns(e["ts"]) + ns(e["dur"]) for e in r.events if e["ph"] == "X" and e.get("cat") == "Iteration Time"}
    yield from same("iterations", ends & shown, shown)


def the_database_is_whole(r):
    answer = r.rows("PRAGMA integrity_check")
    if answer != [("ok",)]:
        yield "integrity_check: %s" % answer
    ids = {i for i, in r.rows("SELECT id FROM STRING_IDS")}
    columns = r.columns()
    for table, names in columns.items():
        for c in names:
            is_text = c in TEXT_COLUMNS or "%s.%s" % (table, c) in TEXT_COLUMNS
            if is_text and not table.startswith(("ENUM_", "META", "NPU_INFO", "STRING_IDS")):
                lost = {v for v, in r.rows('SELECT DISTINCT "%s" FROM %s' % (c, table))} - ids - NONE
                if lost:
                    yield "%s.%s: %s are not in STRING_IDS" % (table, c, sorted(lost, key=str)[:3])
    for table, column, target in RELATIONS if r.is_whole else RELATIONS[1:]:
        if table in columns:
            known = " WHERE %s NOT IN (SELECT %s FROM %s)" % (column, column, target) if target in columns else ""
            lost = r.rows("SELECT %s FROM %s%s" % (column, table, known))
            if lost:
                yield "%s.%s: %d rows have no %s, such as %s" % (table, column, len(lost), target, lost[0])
    for table in set(columns) & {"TASK", "CANN_API", "COMMUNICATION_OP", "OSRT_API", "MSTX_EVENTS", "OVERLAP_ANALYSIS"}:
        n = r.rows("SELECT count(*) FROM %s WHERE endNs < startNs" % table)[0][0]
        if n:
            yield "%s: %d rows end before they begin" % (table, n)
    for column, table in (("connectionId", "CANN_API"), ("opId", "COMMUNICATION_OP"),
                          ("globalTaskId", "COMPUTE_TASK_INFO")):
        if table in columns and r.rows("SELECT count(*) - count(DISTINCT %s) FROM %s" % (column, table)) != [(0,)]:
            yield "%s.%s: is not unique" % (table, column)


def overlap_rows_cover_the_device_without_overlapping(r):
    by_kind = collections.defaultdict(list)
    for device, begin, end, kind in r.rows("SELECT deviceId, startNs, endNs, name FROM OVERLAP_ANALYSIS "
                                           "JOIN ENUM_OVERLAP_ANALYSIS_TYPE AS e ON e.id = type ORDER BY 1, 2, 3"):
        by_kind[device, kind].append((begin, end))
    for (device, kind), spans in by_kind.items():
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            if begin < end:
                yield "OVERLAP_ANALYSIS: two rows %s of device %s overlap at %d" % (kind, device, begin)
                break
    shown = [(ns(e["ts"]), ns(e["dur"])) for e in r.of("Overlap Analysis", "X")]
    yield from same("Overlap Analysis", shown, [(b, e - b) for spans in by_kind.values() for b, e in spans])


CHECKS = {
    op_statistic_is_op_summary_summed_up: ("op_summary.csv", "op_statistic.csv"),
    api_statistic_is_the_calls_summed_up: ("api_statistic.csv", "msprof.json"),
    tasks_are_the_same_in_all_files: ("task_time.csv", "op_summary.csv", "msprof.json", "msprof.db"),
    calls_are_the_same_in_timeline_and_database: ("api_statistic.csv", "msprof.json", "msprof.db"),
    counters_have_the_same_times_in_timeline_and_database: ("msprof.json", "msprof.db"),
    communication_statistic_is_the_collectives_summed_up: ("communication_statistic.csv", "msprof.db"),
    steps_last_from_begin_to_end: ("step_trace.csv", "msprof.json"),
    the_database_is_whole: ("msprof.db",),
    overlap_rows_cover_the_device_without_overlapping: ("task_time.csv", "msprof.json", "msprof.db"),
}


def cross_check(results):
    """-> complaints, and the names of the checks that applied"""
    complaints, applied = [], set()
    for check, needs in CHECKS.items():
        if results.has(*needs):
            applied.add(check.__name__)
            complaints += check(results)
    return complaints, applied
