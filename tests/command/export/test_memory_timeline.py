#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_memory_timeline.py ASCOPE SOURCE: ascope export-memory-timeline, as those who call it see it."""
import collections
import gzip
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
DATA = SOURCE / "tests/data"
INCREMENT_VERSION = 2
CATEGORIES = ["PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL", "UNKNOWN"]


def collection(name):
    return next((DATA / name / "raw").glob("*_ascend_pt"))


class Timeline(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)

    def export(self, where, out, *options, code=0):
        done = subprocess.run([ASCOPE, "export-memory-timeline", str(where), str(self.dir / out), *options],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 0 if code == 0 else 1, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def copy(self, name):
        to = self.dir / collection(name).name
        shutil.copytree(collection(name), to)
        subprocess.run(["chmod", "-R", "u+w", str(to)], check=True)
        return to

    def change_settings(self, where, **settings):
        info = next(where.glob("profiler_info*.json"))
        content = json.loads(info.read_text())
        content["config"]["common_config"].update(settings)
        info.write_text(json.dumps(content))

    def copy_without_new_operators(self, name):
        """Those that PyTorch 1.13, with which the reference ran, does not have get names that no registry has."""
        where = self.copy(name)
        file = where / "FRAMEWORK/torch.op_range"
        file.write_bytes(re.sub(rb"(npu::npu_fusion_attentio|aten::_foreach_lerp)[n_]", rb"\1~", file.read_bytes()))
        return where

    def test_the_results_are_those_of_the_reference(self):
        for name in ("pt-a-host", "pt-a-npu", "own-pytorch"):
            wanted = DATA / name / "expected_exports"
            with self.subTest(name):
                where = self.copy_without_new_operators(name)
                self.export(where, "a.json", "--device", "npu:0")
                self.export(where, "a.json.gz", "--device", "npu:0")
                self.export(where, "a.raw.json.gz", "--device", "npu:0")
                self.export(where, "a.raw.json", "--device", "npu:0")
                points, changes = ((wanted / f"memory_timeline.{kind}").read_bytes() for kind in ("json", "raw.json"))
                self.assertEqual((self.dir / "a.json").read_bytes(), points)
                self.assertEqual(gzip.open(self.dir / "a.json.gz").read(), points)
                self.assertEqual(gzip.open(self.dir / "a.raw.json.gz").read(), changes)
                self.assertEqual((self.dir / "a.raw.json").read_bytes(), changes)

    def test_operators_newer_than_the_references_pytorch(self):
        """Each of the four calls of _foreach_lerp_ gives the storage of its running means a new version; nothing is lost."""
        before = collections.Counter(map(tuple, json.loads((DATA / "pt-a-npu/expected_exports/memory_timeline.raw.json").read_text())))
        self.export(collection("pt-a-npu"), "a.raw.json", "--device", "npu:0")
        now = collections.Counter(map(tuple, json.loads((self.dir / "a.raw.json").read_text())))
        self.assertEqual(before - now, collections.Counter())
        self.assertEqual(collections.Counter(sizes for time, action, sizes, _ in (now - before).elements() if action == INCREMENT_VERSION),
                         {size: 2 for size in (-12288, 12288, -131072, 131072)})

    def test_the_same_bytes_every_time(self):
        for out in ("a.json.gz", "a.raw.json.gz", "a.html"):
            self.export(collection("pt-a-npu"), out, "--threads", "1")
            first = (self.dir / out).read_bytes()
            self.export(collection("pt-a-npu"), out, "--threads", "4")
            self.assertEqual((self.dir / out).read_bytes(), first, out)

    def test_the_report_reports_the_peak(self):
        reported = json.loads(self.export(collection("pt-a-host"), "a.json", "--json"))["timelines"][0]
        times, sizes = json.loads((self.dir / "a.json").read_text())
        peak = max(range(len(sizes)), key=lambda i: sum(sizes[i]))
        self.assertEqual(reported["device"], "npu:0")
        self.assertEqual(reported["points"], len(times))
        self.assertEqual(reported["peak_bytes"], sum(sizes[peak]))
        self.assertEqual(reported["peak_us"], times[peak])
        self.assertEqual(reported["peak_by_category"], dict(zip(CATEGORIES, sizes[peak][1:])))
        self.assertEqual(reported["losses"], [])
        self.assertIn("peak: ", self.export(collection("pt-a-host"), "a.json"))
        self.assertEqual(self.export(collection("pt-a-host"), "a.json", "-q"), "")

    def test_summary_and_timeline_have_the_same_numbers(self):
        for name, partial in (("pt-a-host", False), ("pt-a-npu", False), ("own-pytorch", True)):
            with self.subTest(name):
                line = json.loads(self.export(collection(name), "a.json", "--json"))["timelines"][0]
                done = subprocess.run([ASCOPE, "analyse", str(collection(name)), "--out", self.dir / name, "--json"],
                                      capture_output=True, text=True, check=False)
                memory = json.loads(done.stdout)["directories"][0]["most_memory"]
                self.assertEqual((line["max_allocated_bytes"], line["max_reserved_bytes"], line["since_recording"]),
                                 (memory["allocated"]["bytes"], memory["reserved"]["bytes"], memory["since_recording"]))
                self.assertEqual(line["since_recording"], partial)
                for peak in memory["allocated"], memory["reserved"]:
                    self.assertEqual(sum(peak["by_allocator"].values()), peak["bytes"])
                times, sizes = json.loads((self.dir / "a.json").read_text())
                self.assertEqual(line["before_bytes"], sum(sizes[0]) if times[0] == times[1] else 0)
                page = self.export(collection(name), "a.html")
                self.assertEqual("included above" in page, line["before_bytes"] > 0)
                self.assertEqual("excluding memory allocated before" in page, partial)
                self.assertIn('"mostAllocated": %d,' % line["max_allocated_bytes"], (self.dir / "a.html").read_text())

    def test_what_cannot_be_done_is_one_line(self):
        rows = [
            ("no file to write", [collection("pt-a-host")], 2, "a *_ascend_pt directory and the file"),
            ("no such device", [collection("pt-a-host"), "a.json", "--device", "gpu:0"], 2, "accepted are cpu, npu:N and cuda:N"),
            ("no number of a device", [collection("pt-a-host"), "a.json", "--device", "npu:"], 2, "accepted are cpu, npu:N and cuda:N"),
            ("a number and more", [collection("pt-a-host"), "a.json", "--device", "npu:0x"], 2, "accepted are cpu, npu:N and cuda:N"),
            ("no such directory", ["nowhere", "a.json"], 2, "No such file"),
            ("a directory to write", [collection("pt-a-host"), "."], 2, "is a directory"),
            ("nowhere to write", [collection("pt-a-host"), "no/such/a.json"], 1, "cannot be created"),
            ("nothing of the kind", [".", "a.json"], 1, "contains neither"),
            ("a device without memory", [collection("pt-a-host"), "a.json", "--device", "npu:5"], 1, "--device may be cpu, npu:0"),
        ]
        for what, words, code, reported in rows:
            with self.subTest(what):
                done = subprocess.run([ASCOPE, "export-memory-timeline", *map(str, words)], capture_output=True, text=True,
                                      check=False, cwd=self.dir)
                self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (code, "", 1), done.stderr)
                self.assertIn(reported, done.stderr)
                self.assertEqual(os.listdir(self.dir), [])

    def test_it_needs_what_was_recorded(self):
        for setting in ("record_shapes", "profile_memory", "with_stack"):
            with self.subTest(setting):
                where = self.copy("pt-a-host")
                self.change_settings(where, **{setting: False})
                self.assertIn(f"without {setting}", self.export(where, "a.json", code=1))
                shutil.rmtree(where)
        where = self.copy("pt-a-host")
        self.change_settings(where, with_stack=False, with_modules=True)
        self.export(where, "a.json")

    def test_damaged_tensors_are_reported_and_the_rest_is_used(self):
        where = self.copy("pt-a-host")
        ops = where / "FRAMEWORK/torch.op_range"
        ops.write_bytes(ops.read_bytes().replace(b";float;4;128,1024;", b";float;4;128,-024;", 1))
        reported = json.loads(subprocess.run([ASCOPE, "export-memory-timeline", where, self.dir / "a.json", "--json"],
                                         capture_output=True, text=True, check=False).stdout)
        self.assertEqual(reported["exit_code"], 3)
        self.assertEqual([(loss["reason"], loss["count"]) for loss in reported["timelines"][0]["losses"]], [("bad_text", 1)])
        self.assertGreater(reported["timelines"][0]["points"], 100)

    def test_without_files_there_is_nothing(self):
        where = self.copy("pt-a-host")
        for file in (where / "FRAMEWORK").iterdir():
            file.unlink()
        self.assertIn("the memory of cpu was not recorded", self.export(where, "a.json", code=1))

    def test_any_bytes_are_survived(self):
        """Every file in turn: empty, cut, and with bytes changed all over it."""
        for file in sorted((collection("pt-a-host") / "FRAMEWORK").iterdir()):
            good = file.read_bytes()
            spoilt = bytearray(good)
            spoilt[3::97] = bytes(len(spoilt[3::97]))
            for what, content in (("empty", b""), ("cut", good[:len(good) // 2 + 1]), ("changed", bytes(spoilt))):
                with self.subTest(f"{file.name} {what}"):
                    where = self.copy("pt-a-host")
                    (where / "FRAMEWORK" / file.name).write_bytes(content)
                    done = subprocess.run([ASCOPE, "export-memory-timeline", where, self.dir / "a.html", "-q"],
                                          capture_output=True, text=True, check=False)
                    self.assertIn(done.returncode, (0, 1, 3), done.stderr)
                    shutil.rmtree(where)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
