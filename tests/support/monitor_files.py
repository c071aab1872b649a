# SPDX-License-Identifier: Apache-2.0
"""Ring files of the monitor, read and written without any code of ascope; and a job of several ranks with planted faults.

docs/monitor.md has the format.
"""
import random
import struct

VALUES = ("computing", "communication", "wait", "transfer", "copy", "data", "gc", "cpu", "preempted", "tokens",
          "allocated", "reserved", "peak", "resident", "clock", "power")
UNKNOWN, STOPPED = -(1 << 63), 1
HEAD, RECORD = struct.Struct("<16sIIqq72s"), struct.Struct("<QqIiIIqqqq16q")
HEADER_BYTES, RECORD_BYTES = 4096, RECORD.size + 8
MASK, FACTOR = (1 << 64) - 1, 0x9E3779B97F4A7C15


def _next(lane, word):
    lane = (lane ^ word) * FACTOR & MASK
    return (lane << 29 | lane >> 35) & MASK


def checksum(data):
    lanes = [1, 2, 3, 4]
    padded = data + bytes(32 - len(data) % 32)
    for at in range(0, len(padded), 32):
        lanes = [_next(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", padded, at))]
    total = len(data)
    for lane in lanes:
        total = _next(total, lane)
    return total ^ total >> 32


def sealed(data):
    return data + struct.pack("<Q", checksum(data))


def header(capacity, pid=1, began=0, host="node"):
    return sealed(HEAD.pack(b"ascope-monitor 1", RECORD_BYTES, capacity, pid, began, host.encode()))


def record(number, step, n_steps, begin, time_ns, rank=-1, world=0, flags=0, longest=None, lost=0, **value):
    values = [value.get(name, UNKNOWN) for name in VALUES]
    return sealed(RECORD.pack(number, step, n_steps, rank, world, flags, begin, time_ns, time_ns if longest is None else longest, lost, *values))


def read(path):
    """The header as a dict, and the valid records in order, each a dict."""
    with open(path, "rb") as f:
        data = f.read()
    magic, size, capacity, pid, began, host = HEAD.unpack_from(data)
    assert magic == b"ascope-monitor 1" and size == RECORD_BYTES, (magic, size)
    assert struct.unpack_from("<Q", data, HEAD.size)[0] == checksum(data[:HEAD.size])
    head = {"capacity": capacity, "pid": pid, "began": began, "host": host.rstrip(b"\0").decode()}
    found = []
    for place, at in enumerate(range(HEADER_BYTES, len(data) - RECORD_BYTES + 1, RECORD_BYTES)):
        body = data[at:at + RECORD.size]
        if struct.unpack_from("<Q", data, at + RECORD.size)[0] != checksum(body):
            continue
        number, step, n_steps, rank, world, flags, begin, time_ns, longest, lost, *values = RECORD.unpack(body)
        assert number % capacity == place
        one = {"number": number, "step": step, "n_steps": n_steps, "rank": rank, "world": world, "flags": flags, "begin": begin,
               "time": time_ns, "longest": longest, "lost": lost}
        one.update((name, None if v == UNKNOWN else v) for name, v in zip(VALUES, values))
        found.append(one)
    return head, sorted(found, key=lambda one: one["number"])


class Job:
    """A synchronous job: in each step all ranks wait in communication for the slowest one.

    Noise: each rank's own time has a spread of `noise`; the job's level wanders with autocorrelation `rho`.
    """

    def __init__(self, n_ranks, seed, step_ns=1_000_000_000, noise=0.01, common=0.01, rho=0.8, communication=0.2):
        self.random, self.n_ranks, self.step_ns = random.Random(seed), n_ranks, step_ns
        self.noise, self.common, self.rho, self.communication = noise, common, rho, communication
        self.level, self.step, self.now = 0.0, 0, 1_800_000_000_000_000_000
        self.lines = [bytearray() for _ in range(n_ranks)]

    def take(self, slow=(), factor=1.0, all_factor=1.0):
        """One step. slow: ranks whose own time is longer by `factor`; all_factor: that of all."""
        self.level = self.rho * self.level + self.random.gauss(0, self.common * (1 - self.rho ** 2) ** 0.5)
        own = [self.step_ns * (1 - self.communication) * (1 + self.level + self.random.gauss(0, self.noise)) * all_factor *
               (factor if rank in slow else 1) for rank in range(self.n_ranks)]
        transfer = self.step_ns * self.communication * max(0.2, 1 + self.random.gauss(0, self.noise))
        whole = int(max(own) + transfer)
        for rank, one in enumerate(own):
            busy = int(one * 0.95)
            self.lines[rank] += record(self.step, self.step, 1, self.now, whole, rank=rank, world=self.n_ranks, computing=busy,
                                       communication=whole - int(one), cpu=int(one * 0.3), data=0, tokens=4096)
        self.step += 1
        self.now += whole

    def write(self, folder):
        for rank, lines in enumerate(self.lines):
            head = header(self.step + 1, pid=1000 + rank, began=rank)
            with open("%s/monitor_node_%d_%x.ring" % (folder, 1000 + rank, rank), "wb") as f:
                f.write(head + bytes(HEADER_BYTES - len(head)) + lines)
