# SPDX-License-Identifier: Apache-2.0
"""Databases as `nsys export --type sqlite` writes them, simulated: by the published schema (docs.nvidia.com/nsight-systems, SQLite Export Schema
Reference), from the events of a trace of torch.profiler, so that both forms of a recording can be compared."""
import sqlite3

EPOCH = 1_699_999_999_000_000_000  # ns, when the session began
KINDS = {"HtoD": 1, "DtoH": 2, "DtoD": 8}
PLACES = {"Pageable": 0, "Pinned": 1, "Device": 2}
TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, uuid TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER,
    launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
    blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,
    localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER,
    sharedMemoryLimitConfig INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER,
    dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER,
    virtualAddress INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, greenContextId INTEGER,
    streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,
    nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT,
    globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER,
    int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);
"""


class Export:
    def __init__(self, path, version="3.17.2"):
        self.db, self.ids = sqlite3.connect(path), {}
        self.db.executescript(TABLES)
        self.db.execute("INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', ?)", (version,))
        self.db.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?, '', '')", (EPOCH,))

    def text(self, value):
        if value not in self.ids:
            self.ids[value] = len(self.ids) + 1
            self.db.execute("INSERT INTO StringIds VALUES (?, ?)", (self.ids[value], value))
        return self.ids[value]

    def row(self, table, **columns):
        self.db.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, ", ".join(columns), ", ".join("?" * len(columns))), tuple(columns.values()))

    def event(self, e):
        """One of torch.profiler. Operators are marked as emit_nvtx() does."""
        args, begin = e.get("args", {}), int(e["ts"]) * 1000 + round(e["ts"] % 1 * 1000) - EPOCH
        times = {"start": begin, "end": begin + round(e["dur"] * 1000)}
        host, correlation = 1 << 48 | e["pid"] << 24 | e["tid"], args.get("correlation")
        device = {"deviceId": args.get("device"), "contextId": 1, "streamId": args.get("stream"), "correlationId": correlation, "globalPid": 1 << 48 | args.get("process", 0) << 24}
        if e["cat"] == "kernel":
            name = self.text(e["name"])
            self.row("CUPTI_ACTIVITY_KIND_KERNEL", **times, **device, demangledName=name, shortName=name, registersPerThread=32, gridX=8, gridY=2, gridZ=1, blockX=128, blockY=1, blockZ=1,
                     staticSharedMemory=0, dynamicSharedMemory=0, localMemoryPerThread=0, localMemoryTotal=0, gridId=1)
        elif e["cat"] == "gpu_memcpy":
            kind, start, _, end = e["name"].replace("(", "").replace(")", "").split()[1:]
            self.row("CUPTI_ACTIVITY_KIND_MEMCPY", **times, **device, bytes=args["bytes"], copyKind=KINDS[kind], srcKind=PLACES[start], dstKind=PLACES[end])
        elif e["cat"] == "gpu_memset":
            self.row("CUPTI_ACTIVITY_KIND_MEMSET", **times, **device, bytes=args["bytes"], value=0)
        elif e["cat"] == "cuda_runtime":
            self.row("CUPTI_ACTIVITY_KIND_RUNTIME", **times, eventClass=0, globalTid=host, correlationId=correlation, nameId=self.text(e["name"] + "_v7000"), returnValue=0)
        elif e["cat"] == "cpu_op":
            self.row("NVTX_EVENTS", **times, eventType=59, globalTid=host, textId=self.text("%s, seq = %d, op_id = 1" % (e["name"], args.get("External id", 0))), domainId=0)
        elif e["cat"] == "user_annotation":
            self.row("NVTX_EVENTS", **times, eventType=59, globalTid=host, text=e["name"], domainId=0)

    def close(self):
        self.db.commit()
        self.db.close()


def write(path, trace, **more):
    """The events of a trace of one process, of which the device needs the number."""
    export = Export(path, **more)
    process = next(e["pid"] for e in trace["traceEvents"] if e.get("cat") == "cuda_runtime")
    for e in trace["traceEvents"]:
        if e["ph"] == "X":
            export.event({**e, "args": {**e.get("args", {}), "process": process}})
    export.close()
    return path
