#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chips whose cores count ten events (950): each record of a simulated collection is in the results, and damage does no harm.

usage: test_ten_counters.py ASCOPE [unittest options]
"""
import csv
import glob
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest

ASCOPE = None
FAMILIES = ["ffts_profile.data", "stars_soc_profile.data", "socpmu.data", "ub.data", "ccu0.instr", "ccu0.stat", "ccu1.stat",
            "instr.biu_perf_group0_aic", "instr.biu_perf_group0_aiv0"]
STAT_WORDS = [0] * 128  # the word at which each channel of ccu*.stat begins
for channel in range(120):
    STAT_WORDS[channel] = channel // 12 * 64 + channel % 12 * 5
for channel in range(120, 128):
    STAT_WORDS[channel] = 640 + (channel - 120) // 4 * 32 + 6 + channel % 4 * 5


def run(*args):
    return subprocess.run([ASCOPE, *args], capture_output=True, text=True, timeout=120)


class TenCounters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.mkdtemp(prefix="ascope-ten-")
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        r = run("sim", "--chip", "950", "--kernels", "60", "--steps", "2", "--seed", "5", "--out", cls.dir)
        assert r.returncode == 0, r.stderr
        cls.prof = glob.glob(os.path.join(cls.dir, "PROF_*"))[0]

    def raw(self, family):
        (path,) = glob.glob(os.path.join(self.prof, "device_0", "data", family + ".0.slice_0"))
        with open(path, "rb") as f:
            return path, f.read()

    def records(self, family, size):
        data = self.raw(family)[1]
        return [data[i:i + size] for i in range(0, len(data) - size + 1, size)]

    def export(self, *options):
        out = os.path.join(self.dir, "out")
        shutil.rmtree(out, ignore_errors=True)
        r = run("export", "all", "--dialect", "current", "-dir", self.prof, "--out", out, "--no-sync", *options)
        (prof,) = glob.glob(os.path.join(out, "PROF_*"))
        return r, prof

    def table(self, prof, name):
        found = glob.glob(os.path.join(prof, "mindstudio_profiler_output", name + "_*.csv"))
        if not found:
            return []
        with open(found[0], newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def test_every_record_is_in_the_results(self):
        r, prof = self.export()
        self.assertEqual(r.returncode, 0, r.stderr)
        counters = self.records("ffts_profile.data", 128)
        masters = [c for c in counters if c[0] & 63 == 42 and c[17] & 1]
        self.assertGreater(len(masters), 20)
        counted = [row for row in self.table(prof, "op_summary") if row["aicore_time(us)"] != "N/A"]
        self.assertEqual(len(counted), len(masters))
        self.assertEqual(sorted(int(row["Task ID"]) for row in counted),
                         sorted(struct.unpack_from("<I", c, 4)[0] for c in masters))
        total = sum(int(row["aic_total_cycles"]) + int(row["aiv_total_cycles"]) for row in counted)
        self.assertEqual(total, sum(struct.unpack_from("<Q", c, 8)[0] for c in counters if c[0] & 63 == 42))

        ports = self.records("ub.data", 128)
        self.assertEqual([(int(row["PortId"]), int(row["UBRxPortBandWidth(MB/s)"]), int(row["UBTxPortBandWidth(MB/s)"]))
                          for row in self.table(prof, "ub")],
                         [struct.unpack_from("<H", p, 4) + struct.unpack_from("<QQ", p, 16) for p in ports])
        kinds = [struct.unpack_from("<H", s, 6)[0] for s in self.records("socpmu.data", 80)]
        self.assertEqual(len(self.table(prof, "soc_pmu")), kinds.count(2))
        self.assertEqual(len(self.table(prof, "page_fault")), kinds.count(4))

        waits = [struct.unpack_from("<Q", c, 32)[0] != 0 for c in self.records("ccu0.instr", 64)]
        self.assertEqual(len(self.table(prof, "ccu_mission")), 16 * waits.count(True) + waits.count(False))
        stats = self.records("ccu0.stat", 2816) + self.records("ccu1.stat", 2816)
        used = [c for s in stats for c in range(128) if struct.unpack_from("<Q", s, 4 * STAT_WORDS[c])[0]]
        self.assertEqual([int(row["Channel Id"]) for row in self.table(prof, "ccu_channel")], used)

        soc = [(s[0] & 63, s[1] >> 2) for s in self.records("stars_soc_profile.data", 64)]
        (path,) = glob.glob(os.path.join(prof, "msprof_*.db"))
        with sqlite3.connect(path) as db:
            def rows(table):
                return db.execute("SELECT count(*) FROM " + table).fetchone()[0]
            self.assertEqual(rows("QOS"), 4 * sum(f == 24 for f, _ in soc))  # four events are named
            self.assertEqual(rows("SIO"), sum(f == 25 for f, _ in soc) - 3)  # the first of each die has no predecessor
            self.assertEqual(rows("AICORE_FREQ"), sum(f == 29 for f, _ in soc))
            self.assertEqual(rows("UB"), len(ports))
            self.assertEqual(rows("CCU"), len(waits))
        db.close()

    def test_timeline_has_blocks_and_units(self):
        _, prof = self.export()
        (path,) = glob.glob(os.path.join(prof, "mindstudio_profiler_output", "msprof_2*.json"))
        with open(path, encoding="utf-8") as f:
            events = json.load(f)
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        slices = {}
        for e in events:
            if e["ph"] == "X":
                slices.setdefault(names[e["pid"]], []).append(e)
        counters = self.records("ffts_profile.data", 128)
        blocks = [struct.unpack_from("<I", c, 4)[0] for c in counters if c[0] & 63 == 41]  # two of each kind of core
        self.assertEqual(sorted(e["args"]["Task Id"] for e in slices["Block Detail"]), sorted(blocks))
        self.assertTrue({e["args"]["Core Type"] for e in slices["Biu Perf"]} == {"aic", "aiv0"})
        self.assertEqual({e["name"] for e in slices["CCU"]}, {"LoopGroup", "Wait"})

    def test_damaged_records_do_no_harm(self):
        for family in FAMILIES:
            path, good = self.raw(family)
            cuts = sorted({len(good) * k // 12 + k % 3 for k in range(12)})
            flips = range(0, min(len(good), 4096), max(1, min(len(good), 4096) // 12))
            cases = [good[:n] for n in cuts] + [good[:i] + bytes([good[i] ^ 0xFF]) + good[i + 1:] for i in flips]
            try:
                for n, data in enumerate(cases):
                    with open(path, "wb") as f:
                        f.write(data)
                    r, _ = self.export()
                    with self.subTest(family=family, case=n):
                        self.assertIn(r.returncode, (0, 3), r.stderr)
            finally:
                with open(path, "wb") as f:
                    f.write(good)


if __name__ == "__main__":
    ASCOPE = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
