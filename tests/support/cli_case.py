# SPDX-License-Identifier: Apache-2.0
"""What tests of the command line share: a folder of its own, runs of the command, samples to damage. Loaded by test_*.py ASCOPE SOURCE_ROOT."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ASCOPE, SOURCE = map(os.path.abspath, sys.argv[1:3])
SAMPLE = "tests/data/prof-a/PROF_000011_20240601080000011_OROOQGFQPFDOJECRB"
RULES = "communication,communication_matrix"
STEP = ["--model-id", "4294967295", "--iteration-id", "2"]


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope cli é ")  # every test runs in a path with spaces and non-ASCII
        self.addCleanup(shutil.rmtree, self.dir)

    def sample(self, name="PROF_1", broken=()):
        """A writable copy of the sample. Each of `broken` is a file and what is to become of its bytes."""
        path = os.path.join(self.dir, name)
        shutil.copytree(os.path.join(SOURCE, SAMPLE), path, copy_function=shutil.copyfile)
        for top, dirs, _ in os.walk(path):
            os.chmod(top, 0o755)
        for file, change in broken:
            full = os.path.join(path, file)
            with open(full, "rb") as f:
                data = f.read()
            with open(full, "wb") as f:
                f.write(change(data))
        return path

    def run_as(self, program, *args, code=None, env=None, **more):
        e = {k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")}
        e.update(env or {})
        r = subprocess.run([program, *args], capture_output=True, text=True, env=e, cwd=self.dir, timeout=120, **more)
        if code is not None:
            self.assertEqual(r.returncode, code, f"{args}: {r.stdout}{r.stderr}")
        return r

    def ascope(self, *args, **more):
        return self.run_as(ASCOPE, *args, **more)

    def named(self, name):
        """The command under another name."""
        link = os.path.join(self.dir, name)
        if not os.path.lexists(link):
            os.symlink(ASCOPE, link)
        return link

    def assert_one_line(self, text, *parts):
        self.assertEqual(text.count("\n"), 1, text)
        for p in parts:
            self.assertIn(p, text)

    def written(self, path):
        return sorted(os.path.relpath(f, path) for f in glob.glob(glob.escape(path) + "/**/*", recursive=True)
                      if re.search(r"(msprof_\d+\.db|mindstudio_profiler_output/.*)$", f))


def cut(n):
    return lambda data: data[:-n]


BROKEN = [("device_0/data/stars_soc.data.0.slice_0", cut(10))]  # a record is cut short
