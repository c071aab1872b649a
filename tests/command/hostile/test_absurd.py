#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collections that nobody would make on purpose: names, files, settings, clocks and numbers that cannot be.

usage: test_absurd.py ASCOPE SOURCE_ROOT [PART,...] [--whole]

Each row of the tables below changes one thing in a sample and says what must come of it. Whatever happens, the export ends with
0, 1 or 3 within seconds, says so in one line, leaves nothing half-done, and writes JSON, CSV and databases that can be read.
"""
import csv
import glob
import json
import os
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

from test_hostile import complaints

MOST_SECONDS = 120           # a machine may be busy; what takes so long never ends
MOST_BYTES = 3 << 30         # of memory, without sanitizers
HASH_DIC = "host/data/unaging.additional.hash_dic.slice_0"
API = "host/data/aging.api_event.data.slice_0"
HBM = "device_0/data/hbm.data.0.slice_0"
STARS = "device_0/data/stars_soc.data.0.slice_0"
TRACK = "host/data/aging.compact.task_track.slice_0"
CONTEXT = "host/data/aging.additional.context_id_info.slice_0"
TENSOR = "host/data/aging.additional.tensor_info.slice_0"
HURRY = 13                   # without --whole every so many of the combinations of settings
csv.field_size_limit(1 << 28)


class Run:
    """One export of one changed collection."""
    NAME, COMMAND = "PROF_1", ("export", "all")

    def __init__(self, o, change, args=()):
        self.home = tempfile.mkdtemp(prefix="ascope-absurd-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.prof, self.out = os.path.join(self.home, self.NAME), os.path.join(self.home, "out")
        shutil.copytree(o.sample, self.prof)
        change(self)
        start = time.monotonic()
        try:
            self.done = subprocess.run([o.ascope, *self.COMMAND, "-dir", self.prof, "--out", self.out, *args],
                                       capture_output=True, text=True, errors="replace", timeout=MOST_SECONDS,
                                       preexec_fn=o.limit)
            self.wrong = list(complaints(self.out, self.done))
        except subprocess.TimeoutExpired:
            self.done, self.wrong = None, ["still running after %d s" % MOST_SECONDS]
        self.seconds = time.monotonic() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home)

    def path(self, file):
        return os.path.join(self.prof, file)

    def read(self, file):
        with open(self.path(file), "rb") as f:
            return f.read()

    def write(self, file, data):
        with open(self.path(file), "wb") as f:
            f.write(data)

    def outputs(self, ending):
        return sorted(p for p in glob.glob(self.out + "/**/*" + ending, recursive=True))

    def table(self, name):
        path = [p for p in self.outputs(".csv") if os.path.basename(p).startswith(name + "_2")]
        if not path:
            return None
        with open(path[0], newline="", encoding="utf-8") as f:
            return list(csv.reader(f))


# -- names: what the dictionary calls the first operator, and what the reports must call it

NAMES = [
    ("quotes", b'a"b"', None), ("commas", b"a,b,,c", None), ("a colon", b"a:b:c", None), ("an apostrophe", b"Robert'); --", None),
    ("a backslash at the end", b"a\\", None), ("tabs and bells", b"a\tb\x07\x1b[31m", None), ("a carriage return", b"a\rb", None),
    ("a formula", b"=1+1", None), ("markup", b"</script><b>", None), ("letters of other languages", "äöü €🐎".encode(), None),
    ("bytes that are no text", b"a\xff\xfeb", "a\ufffd\ufffdb"), ("half a letter", b"ab\xe2\x82", "ab\ufffd\ufffd"),
    ("a longer form than need be", b"\xc0\xaf", "\ufffd\ufffd"), ("a NUL", b"a\0b", "a\ufffdb"), ("DEL and C1", b"a\x7f\xc2\x85b", None),
    ("a mebibyte", b"x" * (1 << 20), None), ("a mebibyte of quotes", b'"' * (1 << 20), None), ("blanks", b"  a  ", None),
]


def first_operator(o):
    """-> key and name of an operator that op_summary shows."""
    with open(os.path.join(o.sample, HASH_DIC), "rb") as f:
        names = dict(reversed(line.split(b":", 1)) for line in f.read().splitlines())
    with Run(o, lambda r: None) as r:
        rows = r.table("op_summary")
    column = rows[0].index("Op Name")
    name = next(row[column] for row in rows[1:] if row[column].encode() in names)
    return names[name.encode()], name


def check_names(o):
    key, name = first_operator(o)
    for what, new, wanted in NAMES:
        wanted = new.decode() if wanted is None else wanted

        def rename(r):
            r.write(HASH_DIC, r.read(HASH_DIC).replace(key + b":" + name.encode() + b"\n", key + b":" + new + b"\n"))
        with Run(o, rename) as r:
            wrong = list(r.wrong)
            rows = r.table("op_summary")
            column = rows[0].index("Op Name")
            if any(len(row) != len(rows[0]) for row in rows):
                wrong.append("op_summary has rows of another length")
            if wanted not in [row[column] for row in rows]:
                wrong.append("op_summary does not have it")
            for path in r.outputs(".json"):
                with open(path, encoding="utf-8") as f:
                    json.load(f)
            for path in r.outputs(".db"):
                db = sqlite3.connect(path)
                db.text_factory = bytes
                texts = [t.decode() for t, in db.execute("SELECT value FROM STRING_IDS")]
                db.close()
                if wanted.replace("\ufffd", "") not in [t.replace("\ufffd", "").replace("\0", "") for t in texts]:
                    wrong.append("the database does not have it")
            yield "a name with " + what, wrong


# -- files: code is what must come of it, and part of what is said

def put(file, data):
    return lambda r: r.write(file, data)


def edit(file, function):
    return lambda r: r.write(file, function(r.read(file)))


def remove(pattern):
    return lambda r: [os.remove(p) for p in glob.glob(os.path.join(r.prof, pattern))]


def cut_into(file, sizes):
    """Slices of these sizes; None leaves that number out."""
    def change(r):
        data, base = r.read(file), file[:file.rindex("_") + 1]
        os.remove(r.path(file))
        at = 0
        for i, size in enumerate(sizes):
            end = len(data) if size == "rest" else at + abs(size)
            if size == "rest" or size >= 0:
                r.write(base + str(i), data[at:end])
            at = end
    return change


def both(*changes):
    return lambda r: [c(r) for c in changes]


def zero_everything(r):
    for base, _, names in os.walk(r.prof):
        for n in names:
            open(os.path.join(base, n), "wb").close()


def rename_folder(old, new):
    return lambda r: os.rename(r.path(old), r.path(new))


def number(file, key, value):
    """Another value for a setting, wherever it is in the JSON."""
    def change(r):
        def visit(x):
            for k, v in (x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()):
                if k == key:
                    x[k] = value
                else:
                    visit(v)
        settings = json.loads(r.read(file).splitlines()[0])
        visit(settings)
        r.write(file, json.dumps(settings).encode())
    return change


def clock(file, **values):
    def change(r):
        lines = r.read(file).decode().splitlines()
        lines = ["%s: %s" % (k, values.get(k, v.strip())) for k, v in (x.split(":") for x in lines if ":" in x)
                 if values.get(k, v) is not None]
        r.write(file, "\n".join(lines).encode() + b"\n")
    return change


INFO, DEV_INFO = "host/info.json", "device_0/info.json.0"
COMBINATIONS = []
FILES = [
    # what, change, codes, what is said
    ("a slice cut in two is one stream", cut_into(STARS, [64 * 7 + 9, "rest"]), {0}, ""),
    ("a slice cut into many with empty ones between", cut_into(STARS, [0, 1, 0, 0, 63, 640, 0, "rest"]), {0}, ""),
    ("a slice in the middle is gone", cut_into(STARS, [640, -640, "rest"]), {3}, "slices missing inside a stream, first: device_0/data/stars_soc.data.0.slice_2:0"),
    ("the first slice is gone", cut_into(STARS, [-640, "rest"]), {0}, ""),
    ("the first slice is gone, and cut a record", cut_into(STARS, [-650, "rest"]), {3}, "1 records cut short, first: device_0/data/stars_soc.data.0.slice_1:0"),
    ("the same slice under two names", lambda r: shutil.copy(r.path(HBM), r.path(HBM[:-1] + "00")), {0}, ""),
    ("slice_4294967295", lambda r: os.rename(r.path(HBM), r.path(HBM[:-1] + "4294967295")), {0}, ""),
    ("slice_4294967296 is no slice", lambda r: os.rename(r.path(HBM), r.path(HBM[:-1] + "4294967296")), {0}, ""),
    ("a far number behind a near one", lambda r: shutil.copy(r.path(HBM), r.path(HBM[:-1] + "4294967295")), {3}, "4,294,967,294 slices missing"),
    (".done without data", both(remove(HBM), put(HBM + ".done", b"")), {0}, ""),
    ("data without .done", remove("*/data/*.done"), {0}, ""),
    ("a folder in place of a slice", both(remove(HBM), lambda r: os.mkdir(r.path(HBM))), {3}, "1 files that could not be read, first: " + HBM),
    ("a link in place of a slice", both(remove(HBM), lambda r: os.symlink("/etc/passwd", r.path(HBM))), {3}, HBM),
    ("a pipe in place of a slice", both(remove(HBM), lambda r: os.mkfifo(r.path(HBM))), {3}, HBM),
    ("a pipe in place of settings", both(remove(INFO), lambda r: os.mkfifo(r.path(INFO))), {3}, INFO),
    ("garbage among the slices", both(*(put("host/data/" + n, b"\xff" * 999) for n in ("x", ".slice_0", "slice_0", "a.slice_0.zip", "a.slice_1x", "\u20ac.slice_0", "a\nb.slice_0", "x" * 240 + ".slice_0"))), {3}, "not read by this version"),
    ("every file is empty", zero_everything, {1}, "info.json"),
    ("every record file is empty", lambda r: [open(p, "wb").close() for p in glob.glob(r.prof + "/*/data/*")], {0, 1}, ""),
    ("no data folder on the host", lambda r: shutil.rmtree(r.path("host/data")), {3}, "host/data"),
    ("no data folders at all", lambda r: [shutil.rmtree(p) for p in glob.glob(r.prof + "/*/data")], {1}, "data"),
    ("no host at all", lambda r: shutil.rmtree(r.path("host")), {0, 3}, ""),
    ("no device at all", lambda r: shutil.rmtree(r.path("device_0")), {0, 3}, ""),
    ("settings twice, the first counts", lambda r: shutil.copy(r.path(DEV_INFO), r.path("device_0/info.json.1")), {0}, ""),
    ("settings twice, the first is damaged", both(lambda r: shutil.copy(r.path(DEV_INFO), r.path("device_0/info.json.1")), put(DEV_INFO, b"{")), {3}, "info.json.0"),
    ("settings of 20 MB", edit(INFO, lambda d: b" " * (20 << 20) + d), {3}, "info.json"),
    ("settings a thousand deep", edit(INFO, lambda d: b'{"a":' * 1000 + b"1" + b"}" * 1000), {0, 3}, ""),
    ("settings a hundred thousand deep", edit(INFO, lambda d: b"[" * 100000), {3}, "info.json"),
    ("one device under two names", lambda r: shutil.copytree(r.path("device_0"), r.path("device_00")), {3}, "device_00"),
    ("a device with a large number", rename_folder("device_0", "device_9999"), {0, 3}, ""),
    ("a device with too large a number", lambda r: shutil.copytree(r.path("device_0"), r.path("device_4294967296")), {0}, ""),
    ("device_ without a number", lambda r: shutil.copytree(r.path("device_0"), r.path("device_")), {0}, ""),
    ("a file in place of a device", lambda r: (shutil.rmtree(r.path("device_0")), r.write("device_0", b"")), {0, 3}, ""),
    ("a call that began at no time", edit(API, lambda d: d[:16] + bytes(8) + d[24:]), {0}, "1 records from before the collection began, first: host/data/"),
    ("a dictionary without a last newline", edit(HASH_DIC, lambda d: d[:-1]), {0}, ""),
    ("a dictionary with every key twice", edit(HASH_DIC, lambda d: d + d), {0}, ""),
    ("a dictionary of colons", edit(HASH_DIC, lambda d: d + b"::::\n:\n1:\n:1\n"), {3}, "3 lines that could not be parsed, first: " + HASH_DIC),
    ("a dictionary of one endless line", edit(HASH_DIC, lambda d: d + b"7:" + b"x" * (8 << 20)), {0}, ""),
]
for name, file in (("host", INFO), ("device", DEV_INFO)):
    COMBINATIONS += [("%s: %s is %s" % (name, key, json.dumps(value)), number(file, key, value), {0, 1, 3}, "")
              for key in ("Frequency", "hwts_frequency", "aic_frequency", "aiv_frequency", "ai_core_num", "aiv_num", "pid",
                          "platform_version", "drvVersion", "rank_id", "hostUid", "cpuNums", "sysClockFreq", "memoryTotal", "devices")
              for value in ("", "0", "-1", "1e308", "NaN", "inf", "18446744073709551616", "0.0000001", -1, 1e308, 9223372036854775807, None, [], {}, [[]])]
for file in ("host/host_start.log", "device_0/host_start.log.0", "device_0/dev_start.log.0"):
    for key in ("clock_monotonic_raw", "cntvct", "cntvct_diff"):
        COMBINATIONS += [("%s: %s is %s" % (file, key, value), clock(file, **{key: value}), {0, 1, 3}, "")
                  for value in (0, 1, -1, 1 << 62, (1 << 63) - 1, 1 << 64, "x", "", None)]
for file in ("host/start_info", "device_0/start_info.0", "host/end_info", "device_0/end_info.0"):
    COMBINATIONS += [("%s: %s is %s" % (file, key, value), number(file, key, value), {0, 1, 3}, "")
              for key in ("collectionTimeBegin", "collectionTimeEnd", "clockMonotonicRaw")
              for value in ("0", "1", "-1", str(1 << 62), str((1 << 63) - 1), str(1 << 64), "x", "", 1.5, None)]


def check_files(o):
    for what, change, codes, said in FILES + COMBINATIONS[::1 if o.whole else HURRY]:
        with Run(o, change) as r:
            wrong = list(r.wrong)
            if r.done and r.done.returncode not in codes:
                wrong.append("ended with %d, not %s: %s" % (r.done.returncode, sorted(codes), r.done.stderr[:300]))
            elif r.done and said not in (r.done.stdout + r.done.stderr):
                wrong.append("does not say %r but %s" % (said, (r.done.stdout + r.done.stderr)[-900:]))
            elif r.done and r.done.returncode == 1 and len(r.done.stderr.splitlines()) != 1:
                wrong.append("says other than one line: %s" % r.done.stderr[:600])
            yield what, wrong


# -- masses: whatever the numbers in them are, time and memory grow with the bytes

def many(file, size, n, *columns):
    """n records, the first one repeated; columns: (offset, format, function of the row)."""
    def change(r):
        first = bytearray(r.read(file)[:size])
        out = bytearray(bytes(first) * n)
        for off, form, value in columns:
            for i in range(n):
                struct.pack_into(form, out, i * size + off, value(i))
        r.write(file, bytes(out))
    return change


M64 = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
INVERSE = pow(GOLDEN, -1, 1 << 64)


def nested(r, n):
    begin, = struct.unpack_from("<Q", r.read(API), 16)
    many(API, 40, n, (16, "<Q", lambda i: begin + i), (24, "<Q", lambda i: begin + 10 * n - i))(r)


def one_call(r, n):
    """The ninth launch of the sample is in the same call as its first contexts: many of both are a product of both."""
    tracks = r.read(TRACK)
    r.write(TRACK, tracks[8 * 64:9 * 64])
    many(TRACK, 64, n, (28, "<I", lambda i: i))(r)
    many(CONTEXT, 256, n, (24, "<Q", lambda i: i), (32, "<I", lambda i: 55))(r)


def masses(n):
    same_slot = lambda i: (i << 44) * INVERSE & M64
    return [
        ("calls that are all the same", many(API, 40, n)),
        ("calls inside each other", lambda r: nested(r, n)),
        ("calls each on a thread of its own", many(API, 40, n, (8, "<I", lambda i: i))),
        ("begins without ends", many(API, 40, n, (24, "<Q", lambda i: M64), (32, "<Q", same_slot))),
        ("tasks with one number", many(STARS, 64, n)),
        ("launches with one number", many(TRACK, 64, n)),
        ("launches and contexts of one call", lambda r: one_call(r, n)),
        ("tensors of one operator", many(TENSOR, 256, n)),
        ("hashes that share a slot", edit(HASH_DIC, lambda d: d + b"".join(b"%d:%d\n" % (same_slot(i), i) for i in range(n)))),
        ("one hash again and again", edit(HASH_DIC, lambda d: d + b"".join(b"7:%d\n" % i for i in range(n)))),
        ("allocations that share a slot", many("host/data/aging.additional.task_memory_info.slice_0", 256, n, (24, "<Q", same_slot))),
        ("counters that run backwards", many(HBM, 24, n, (0, "<Q", lambda i: (1 << 40) - i))),
        ("steps with one number", many("device_0/data/ts_track.data.0.slice_0", 40, n)),
        ("marks with one number", many("host/data/aging.additional.msproftx.slice_0", 256, n)),
        ("parts of one collective", many("host/data/aging.additional.hccl_info.slice_0", 256, n)),
        ("components without end", many("device_0/data/npu_module_mem.data.0.slice_0", 24, n, (0, "<I", lambda i: i))),
        ("lines without end", edit("host/data/host_syscall.data.slice_0", lambda d: d * (n // 8))),
        ("one line without end", edit("host/data/host_syscall.data.slice_0", lambda d: d + b"x " * n)),
        ("CPU lines without end", edit("host/data/host_cpu.data.slice_0", lambda d: d * (n // 20))),
    ]


def check_masses(o):
    n = o.many(20000)
    for what, change in masses(n):
        with Run(o, change) as r:
            if o.whole:
                print("    %5.1f s  %d %s" % (r.seconds, n, what), flush=True)
            yield "%d %s" % (n, what), r.wrong


class Options:
    def __init__(self, argv):
        self.whole = "--whole" in argv
        argv = [a for a in argv if a != "--whole"]
        self.ascope, self.source = os.path.abspath(argv[1]), argv[2]
        self.parts = argv[3].split(",") if len(argv) > 3 else None
        self.sample = glob.glob(os.path.join(self.source, "tests/data/prof-a/PROF_*"))[0]
        with open(self.ascope, "rb") as f:
            self.is_sanitized = b"__asan_init" in f.read()

    def many(self, usual):
        """How many records a mass is: sanitizers look at each of them, and take their time."""
        return 1000000 if self.whole else usual // 8 if self.is_sanitized else usual

    def limit(self):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if not self.is_sanitized: # which reserve terabytes
            resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


def run_checks(o, noun, checks):
    """Tells what each check complains of, and how many there were. -> the exit status"""
    n, failed = 0, 0
    for check in checks:
        if o.parts and check.__name__[len("check_"):] not in o.parts:
            continue
        for what, wrong in check(o):
            n, failed = n + 1, failed + bool(wrong)
            if wrong:
                print("%s:\n    %s" % (what, "\n    ".join(wrong)), flush=True)
    print("%d absurd %s, %d with trouble" % (n, noun, failed))
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(run_checks(Options(sys.argv), "collections", (check_names, check_files, check_masses)))
