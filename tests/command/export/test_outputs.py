#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where results go: what is no plain file is written through and stays what it is, links inside a collection are refused,
several writers do not meet, and each run says how it ended.

usage: test_outputs.py ASCOPE SOURCE_ROOT [unittest options]
"""
import collections
import csv
import fcntl
import glob
import gzip
import json
import os
import re
import resource
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

ASCOPE = SOURCE = None


def sample(name):
    found = glob.glob(os.path.join(SOURCE, "tests/data", name, "raw/*_ascend_pt"))
    return (found or glob.glob(os.path.join(SOURCE, "tests/data", name, "PROF_*")))[0]


def run(*args, **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_")}
    return subprocess.run([ASCOPE, *args], capture_output=True, env=env, timeout=120, **more)


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope outputs é ")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def copy(self, name, change=None):
        given = sample(name)
        path = self.path(os.path.basename(given))
        shutil.copytree(given, path, copy_function=shutil.copyfile)
        for top, _, _ in os.walk(path):
            os.chmod(top, 0o755)
        if change:
            file = glob.glob(glob.escape(path) + "/profiler_info*.json")[0]
            with open(file) as f:
                info = json.load(f)
            change(info)
            with open(file, "w") as f:
                json.dump(info, f)
        return path

    def ascope(self, *args, code=0, **more):
        r = run(*args, cwd=self.dir, **more)
        self.assertEqual(r.returncode, code, f"{args}: {r.stdout[-500:]}{r.stderr}")
        return r


EXPORTS = (("export-trace", "own-pytorch", "a.json"), ("export-trace", "own-pytorch", "a.json.gz"),
           ("export-stacks", "own-pytorch", "a.log"), ("export-stacks", "own-pytorch", "a.svg"),
           ("export-memory-timeline", "own-pytorch", "a.json"), ("export-memory-timeline", "own-pytorch", "a.raw.json.gz"),
           ("export-memory-timeline", "own-pytorch", "a.html"))


class Named(Case):
    """Outputs whose name the user gives."""

    def each(self):
        for number, (command, name, out) in enumerate(EXPORTS):
            folder = "%d" % number
            os.mkdir(self.path(folder))
            self.ascope(command, sample(name), self.path(folder, out))
            with open(self.path(folder, out), "rb") as f:
                yield command, sample(name), folder, out, f.read()

    def test_fifo(self):
        for command, given, folder, out, text in self.each():
            with self.subTest(command=command, out=out):
                fifo, got = self.path(folder, "fifo." + out), []
                os.mkfifo(fifo)

                def read():
                    with open(fifo, "rb") as f:
                        got.append(f.read())

                reader = threading.Thread(target=read)
                reader.start()
                self.ascope(command, given, fifo)
                reader.join()
                self.assertEqual(got, [text])
                self.assertTrue(stat.S_ISFIFO(os.lstat(fifo).st_mode))
                self.assertFalse([n for n in os.listdir(self.path(folder)) if ".part-" in n])

    def test_link(self):
        for command, given, folder, out, text in self.each():
            with self.subTest(command=command, out=out):
                os.mkdir(self.path(folder, "below"))
                os.symlink("below/" + out, self.path(folder, "link." + out))
                self.ascope(command, given, self.path(folder, "link." + out))
                self.assertTrue(os.path.islink(self.path(folder, "link." + out)))
                with open(self.path(folder, "below", out), "rb") as f:
                    self.assertEqual(f.read(), text)

    def test_device(self):
        for command, given, folder, out, _ in self.each():
            with self.subTest(command=command, out=out):
                device = self.path(folder, "null." + out)
                try:
                    os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
                    with open(device, "wb"):
                        pass
                except OSError:
                    self.skipTest("no right to make a device")
                before = set(os.listdir(self.path(folder)))
                self.ascope(command, given, device)
                self.assertTrue(stat.S_ISCHR(os.lstat(device).st_mode))
                self.assertEqual(set(os.listdir(self.path(folder))), before)

    def test_stacks_to_a_name_without_ending(self):
        """Of what is no file there is no second name beside it."""
        os.mkfifo(self.path("fifo"))
        got = []

        def read():
            with open(self.path("fifo"), "rb") as f:
                got.append(f.read())

        reader = threading.Thread(target=read)
        reader.start()
        self.ascope("export-stacks", sample("own-pytorch"), self.path("fifo"))
        reader.join()
        self.assertTrue(got[0])
        self.assertEqual(os.listdir(self.dir), ["fifo"])

    def test_standard_output(self):
        for command, given, _, out, text in self.each():
            if out in ("a.json", "a.log"):
                with self.subTest(command=command, out=out):
                    r = self.ascope(command, given, "-")
                    self.assertEqual(r.stdout, text)
                    self.assertIn(b"-: ", r.stderr)
                    self.assertEqual(self.ascope(command, given, "-", "-q").stderr, b"")
                    with open(self.path("redirected"), "wb") as f:
                        f.write(b"before ")
                        f.flush()
                        subprocess.run([ASCOPE, command, given, "/dev/stdout", "-q"], stdout=f, check=True)
                    with open(self.path("redirected"), "rb") as f:
                        self.assertEqual(f.read(), b"before " + text)
                    self.assertEqual(json.loads(self.ascope(command, given, "-", "--json", code=2).stdout)["exit_code"], 2)

    def test_exit_code_is_the_one_that_json_says(self):
        path = self.copy("own-pytorch")
        prof = glob.glob(glob.escape(path) + "/PROF_*")[0]
        for file in glob.glob(glob.escape(prof) + "/*/info.json*"):
            os.remove(file)
        for command, out in (("export-trace", "t.json"), ("export-stacks", "s.log"), ("export-memory-timeline", "m.json")):
            with self.subTest(command=command):
                r = run(command, path, self.path(out), "--json", *(["--device", "cpu"] if out == "m.json" else []))
                self.assertEqual(r.returncode, 3, r.stderr)
                self.assertEqual(json.loads(r.stdout)["exit_code"], 3)


class Ends(Case):
    """What an analysis says about itself in analyse.done."""

    def done(self, path):
        with open(os.path.join(path, "ASCEND_PROFILER_OUTPUT/analyse.done")) as f:
            return json.load(f)

    def test_done(self):
        path = self.copy("own-pytorch")
        r = self.ascope("analyse", path, "--json")
        done = self.done(path)
        self.assertEqual(done["exit_code"], 0)
        self.assertEqual(done["problems"], [])
        self.assertFalse([loss for loss in done["losses"] if loss["damage"]])
        reported = json.loads(r.stdout)["directories"][0]
        self.assertEqual([(f["name"], f["rows"], f["bytes"]) for f in done["files"]],
                         [(os.path.basename(f["path"]), f["rows"], f["bytes"]) for f in reported["files"]])
        for f in done["files"]:
            self.assertEqual(os.path.getsize(os.path.join(path, "ASCEND_PROFILER_OUTPUT", f["name"])), f["bytes"])

    def test_done_with_losses(self):
        path = self.copy("own-pytorch")
        file = os.path.join(path, "FRAMEWORK/torch.op_range")
        os.truncate(file, os.path.getsize(file) - 7)
        prof = glob.glob(glob.escape(path) + "/PROF_*")[0]
        for file in glob.glob(glob.escape(prof) + "/*/info.json*"):
            os.remove(file)
        r = self.ascope("analyse", path, "--json", code=3)
        done, reported = self.done(path), json.loads(r.stdout)
        self.assertEqual(done["exit_code"], 3)
        self.assertEqual(reported["exit_code"], 3)
        self.assertTrue(done["problems"])
        self.assertEqual(done["problems"], reported["directories"][0]["problems"])
        self.assertEqual([(loss["reason"], loss["count"], loss["damage"]) for loss in done["losses"]],
                         [(loss["reason"], loss["count"], loss["damage"]) for loss in reported["directories"][0]["losses"]])
        self.assertTrue([loss for loss in done["losses"] if loss["damage"]])

    def test_all_is_lost(self):
        """What there is says so; and where nothing can be written, that of an earlier run does not stay."""
        path = self.copy("own-pytorch")
        self.ascope("analyse", path)
        for file in glob.glob(glob.escape(path) + "/FRAMEWORK/*"):
            with open(file, "wb") as f:
                f.write(b"\xff" * 3000)
        for prof in glob.glob(glob.escape(path) + "/PROF_*"):
            shutil.rmtree(prof)
        self.ascope("analyse", path, "--export-type", "db", code=3)
        done = self.done(path)
        self.assertEqual(done["exit_code"], 3)
        self.assertGreater(sum(loss["count"] for loss in done["losses"] if loss["damage"]), 5)
        self.ascope("analyse", path, "--export-type", "text", code=1)
        self.assertFalse(os.path.exists(os.path.join(path, "ASCEND_PROFILER_OUTPUT/analyse.done")))

    def test_safe_csv(self):
        path = self.copy("own-pytorch")
        file = os.path.join(path, "FRAMEWORK/torch.op_range")
        with open(file, "rb") as f:
            data = f.read()
        with open(file, "wb") as f:
            f.write(data.replace(b"aten::", b"=ten::"))

        def names(*options):
            self.ascope("analyse", path, *options)
            with open(os.path.join(path, "ASCEND_PROFILER_OUTPUT/operator_details.csv"), newline="") as f:
                return [row["Name"] for row in csv.DictReader(f)]

        plain, safe = names(), names("--csv-safe")
        self.assertTrue([n for n in plain if n.startswith("=ten::")])  # as the reference writes them
        self.assertEqual(safe, ["'" + n if n[0] in "=+-@" else n for n in plain])


class Pieces(Case):
    """A timeline in files that viewers open: cut by time, compressed."""

    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="ascope pieces ")
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        for more in (["--kernels", "1300"], ["--kernels", "600", "--framework", "pt"]):
            subprocess.run([ASCOPE, "sim", "--out", cls.home, *more], check=True, stdout=subprocess.DEVNULL)
        cls.prof, cls.collection = (glob.glob(os.path.join(cls.home, n))[0] for n in ("PROF_*", "*_ascend_pt"))

    def load(self, path):
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
            text = f.read()
        return len(text), json.loads(text, parse_float=str)

    def check(self, whole, pieces):
        def meta(events):
            return [e for e in events if e["ph"] == "M"]

        def rest(events):
            return collections.Counter(json.dumps(e, sort_keys=True) for e in events if e["ph"] != "M")

        _, whole = self.load(whole)
        found, last = collections.Counter(), -1
        self.assertGreater(len(pieces), 2)
        for path in pieces:
            size, events = self.load(path)
            self.assertLessEqual(size, 1 << 20)
            self.assertTrue(meta(events) == meta(whole))  # a difference of thousands of events is slow to show
            times = [int(e["ts"].replace(".", "")) for e in events if e["ph"] != "M"]  # ns; a double is too short
            self.assertGreater(min(times), last)
            last = max(times)
            found += rest(events)
        self.assertTrue(found == rest(whole))

    def test_export_trace(self):
        for given in (self.prof, self.collection):
            for ending, *more in ((".json",), (".json", "--pretty"), (".json.gz", "--time-base", "start")):
                with self.subTest(given=os.path.basename(given), more=more, ending=ending):
                    self.ascope("export-trace", given, "whole" + ending, *more)
                    r = self.ascope("export-trace", given, "cut" + ending, "--max-size", "1M", "--json", *more)
                    traces = json.loads(r.stdout)["traces"]
                    pieces = [self.path("cut_slice_%d%s" % (i, ending)) for i in range(len(traces))]
                    self.assertEqual([t["file"] for t in traces], [os.path.basename(p) for p in pieces])
                    self.check(self.path("whole" + ending), pieces)
                    self.assertFalse(os.path.exists(self.path("cut" + ending)))
                    self.assertFalse(glob.glob(glob.escape(self.dir) + "/*.part-*"))

    def test_what_an_earlier_export_left_is_removed(self):
        for given in (self.prof, self.collection):
            for ending in (".json", ".json.gz"):
                with self.subTest(given=os.path.basename(given), ending=ending):
                    def files():
                        return sorted(os.path.basename(p) for p in glob.glob(glob.escape(self.path("again")) + "*"))

                    def pieces(*size):
                        r = self.ascope("export-trace", given, "again" + ending, "--json", *size)
                        return sorted(t["file"] for t in json.loads(r.stdout)["traces"])

                    others = ["again_slice_0_notes" + ending, "again_slice_900" + ending]
                    for name in others:
                        open(self.path(name), "w").close()
                    many = pieces("--max-size", "1M")
                    self.assertEqual(files(), sorted(many + others))
                    few = pieces("--max-size", "2M")
                    self.assertLess(len(few), len(many))
                    self.assertEqual(files(), sorted(few + others))
                    self.assertEqual(pieces(), ["again" + ending])
                    self.assertEqual(files(), sorted(["again" + ending] + others))
                    few = pieces("--max-size", "2M")
                    self.assertEqual(files(), sorted(few + others))
                    for path in glob.glob(glob.escape(self.path("again")) + "*"):
                        os.remove(path)
                    os.mkdir(self.path("again_slice_0" + ending))  # no regular file: nobody's piece
                    pieces()
                    self.assertEqual(files(), ["again" + ending, "again_slice_0" + ending])
                    os.rmdir(self.path("again_slice_0" + ending))
                    os.remove(self.path("again" + ending))

    def test_export_of_a_prof_directory(self):
        self.ascope("export", "timeline", self.prof, "--out", self.path("plain"))
        self.ascope("export", "timeline", self.prof, "--out", self.path("packed"), "--gzip")
        self.ascope("export", "timeline", self.prof, "--out", self.path("cut"), "--gzip", "--max-size", "1M")

        def files(name):
            return sorted(glob.glob(glob.escape(self.path(name)) + "/*/mindstudio_profiler_output/msprof_[s0-9]*.json*"),
                          key=lambda p: [int(n) for n in re.findall(r"_slice_([0-9]+)_", p)])

        plain, packed, cut = files("plain"), files("packed"), files("cut")
        self.assertEqual((len(plain), len(packed)), (1, 1))
        self.assertTrue(self.load(plain[0]) == self.load(packed[0]))
        self.check(plain[0], cut)
        self.assertTrue(all(re.search(r"/msprof_slice_[0-9]+_[0-9]{14}\.json\.gz$", p) for p in cut), cut)
        with open(os.path.join(os.path.dirname(cut[0]), "README.txt")) as f:
            self.assertIn(os.path.basename(cut[0]), f.read())
        for name, viewer in ((plain[0], "MindStudio Insight"), (packed[0], "ascope view")):  # Insight finds no compressed ones
            with open(os.path.join(os.path.dirname(name), "README.txt")) as f:
                self.assertIn("%s: the whole timeline, for Perfetto, Chrome or %s\n" % (os.path.basename(name), viewer), f.read())
        self.ascope("export-trace", self.prof, self.path("same.json"))
        self.assertTrue(self.load(self.path("same.json")) == self.load(plain[0]))

    def test_prof_directory_in_another(self):
        os.mkdir(self.path("two"))
        for name in ("PROF_000001_20240101000000000_A", "PROF_000002_20240101000000000_B"):
            shutil.copytree(self.prof, self.path("two", name))
        r = self.ascope("export-trace", self.path("two"), self.path("a.json"), code=2)
        self.assertIn(b"contains 2 collections", r.stderr)
        shutil.rmtree(self.path("two", "PROF_000002_20240101000000000_B"))
        self.ascope("export-trace", self.path("two"), self.path("a.json"))

    def test_collection_in_another(self):
        """As everywhere, DIR may contain the collection; of several one must be named."""
        os.mkdir(self.path("two"))
        for name in ("a_ascend_pt", "b_ascend_pt"):
            shutil.copytree(self.collection, self.path("two", name))
        for command, out in (("export-trace", "a.json"), ("export-stacks", "a.log"), ("export-memory-timeline", "a.html")):
            r = self.ascope(command, self.path("two"), self.path(out), code=2)
            self.assertEqual(r.stderr.decode().count("\n"), 1, r.stderr)
            self.assertIn(b"contains 2 collections; give one of them", r.stderr)
        shutil.rmtree(self.path("two", "b_ascend_pt"))
        for command, out in (("export-trace", "a.json"), ("export-stacks", "a.log"), ("export-memory-timeline", "a.html")):
            self.ascope(command, self.path("two"), self.path(out))
            self.ascope(command, self.path("two", "a_ascend_pt"), self.path("direct." + out))
            with open(self.path(out), "rb") as f, open(self.path("direct." + out), "rb") as direct:
                self.assertEqual(f.read(), direct.read())

    def test_what_is_no_file_has_no_pieces(self):
        for out in ("-", "/dev/stdout"):
            r = self.ascope("export-trace", self.prof, out, "--max-size", "1M", code=2)
            self.assertIn(b"--max-size", r.stderr)
            self.assertEqual(r.stdout, b"")
        plain = self.ascope("export-trace", self.prof, "-").stdout
        self.ascope("export-trace", self.prof, self.path("a.json"))
        with open(self.path("a.json"), "rb") as f:
            self.assertEqual(f.read(), plain)


class Folders(Case):
    """Results in the folders of a collection."""

    def test_links_inside_a_collection_are_refused(self):
        rows = (("own-pytorch", ["analyse"], "ASCEND_PROFILER_OUTPUT"), ("own-pytorch", ["analyse"], "logs"),
                ("prof-a", ["export"], "mindstudio_profiler_output"))
        for name, command, folder in rows:
            with self.subTest(folder=folder):
                path = self.copy(name)
                shutil.rmtree(os.path.join(path, folder), ignore_errors=True)
                os.mkdir(self.path("elsewhere"))
                os.symlink(self.path("elsewhere"), os.path.join(path, folder))
                r = self.ascope(*command, path, code=1)
                self.assertEqual(r.stderr.decode().count("\n"), 1)
                self.assertIn("is a symbolic link", r.stderr.decode())
                self.assertEqual(os.listdir(self.path("elsewhere")), [])
                os.mkdir(self.path("own"))
                os.symlink("own", self.path("out"))  # the user's own
                self.ascope(*command, path, "--out", self.path("out"))
                self.assertTrue(os.listdir(self.path("own")))
                for each in (path, self.path("elsewhere"), self.path("own")):
                    shutil.rmtree(each)
                os.remove(self.path("out"))

    def test_a_result_that_is_a_link_is_refused(self):
        path = self.copy("own-pytorch")
        os.makedirs(os.path.join(path, "ASCEND_PROFILER_OUTPUT"), exist_ok=True)
        with open(self.path("theirs"), "w") as f:
            f.write("theirs")
        trace = os.path.join(path, "ASCEND_PROFILER_OUTPUT", "trace_view.json")
        os.symlink(self.path("theirs"), trace)
        fifo = os.path.join(path, "ASCEND_PROFILER_OUTPUT", "kernel_details.csv")
        os.mkfifo(fifo)  # must not be waited for
        r = self.ascope("analyse", path, code=3)
        self.assertIn("trace_view.json: is a link", r.stderr.decode())
        self.assertIn("kernel_details.csv: is a FIFO", r.stderr.decode())
        with open(self.path("theirs")) as f:
            self.assertEqual(f.read(), "theirs")
        self.assertTrue(os.path.islink(trace) and stat.S_ISFIFO(os.lstat(fifo).st_mode))

    def test_a_database_is_a_plain_file(self):
        path = self.copy("own-pytorch")
        os.makedirs(os.path.join(path, "ASCEND_PROFILER_OUTPUT"), exist_ok=True)
        self.ascope("analyse", path, "--export-type", "db")
        made = glob.glob(glob.escape(path) + "/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler*.db")[0]
        os.remove(made)
        os.mkfifo(made)
        self.assertIn("is a FIFO", run("analyse", path, "--export-type", "db").stderr.decode())

    def test_clear_does_not_follow_links(self):
        path = self.copy("prof-a")
        os.mkdir(self.path("theirs"))
        with open(self.path("theirs", "file"), "w"):
            pass
        host = os.path.join(path, "host", "sqlite")
        shutil.rmtree(host, ignore_errors=True)
        os.symlink(self.path("theirs"), host)
        self.assertIn(b"sqlite: not removed", self.ascope("export", "summary", path, "--clear", code=3).stderr)
        self.assertEqual(os.listdir(self.path("theirs")), ["file"])

    def test_two_writers(self):
        """Each waits for the other; every file is whole, and no part is left."""
        path = self.copy("own-pytorch")
        both = [subprocess.Popen([ASCOPE, "analyse", path, "--threads", "1"], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT) for _ in range(4)]
        for one in both:
            said = one.communicate(timeout=120)[0]
            self.assertEqual(one.returncode, 0, said)
        with open(os.path.join(path, "ASCEND_PROFILER_OUTPUT/trace_view.json")) as f:
            json.load(f)
        self.assertFalse(glob.glob(glob.escape(path) + "/**/*.part-*", recursive=True))

    def test_a_writer_waits_for_another(self):
        path = self.copy("own-pytorch")
        folder = os.path.join(path, "ASCEND_PROFILER_OUTPUT")
        os.makedirs(folder, exist_ok=True)
        held = os.open(folder, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        one = subprocess.Popen([ASCOPE, "analyse", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with self.assertRaises(subprocess.TimeoutExpired):  # it cannot have ended, however long that takes
            one.wait(0.5)
        self.assertFalse(os.path.exists(os.path.join(folder, "analyse.done")))
        os.close(held)
        said = one.communicate(timeout=120)[0]
        self.assertEqual(one.returncode, 0, said)

    def test_parts_of_dead_runs_are_removed_and_those_of_others_are_not(self):
        path = self.copy("own-pytorch")
        folder = os.path.join(path, "ASCEND_PROFILER_OUTPUT")
        os.makedirs(folder, exist_ok=True)
        dead, alive = (os.path.join(folder, "trace_view.json.part-%016x" % n) for n in (1, 2))
        with open(dead, "w"), open(alive, "w") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            self.ascope("analyse", path)
            self.assertTrue(os.path.exists(alive))
        self.assertFalse(os.path.exists(dead))


class Jobs(Case):
    """Results about several collections: ascope cluster, ascope compare."""

    def setUp(self):
        super().setUp()
        self.ascope("sim", "--framework", "pt", "--ranks", "2", "--dp", "2", "--kernels", "40", "--out", "job")
        os.makedirs(self.path("job/cluster_analysis_output"))
        os.mkdir(self.path("theirs"))

    def cluster(self, *words, **more):
        return self.ascope("cluster", "job", "--quiet", *words, **more)

    def result(self, *names):
        return self.path("job/cluster_analysis_output", *names)

    def write(self, path, text="theirs"):
        with open(path, "w") as f:
            f.write(text)

    def test_a_run_that_fails_leaves_nothing(self):
        """Neither tables, nor a temporary database or its journal. (Of `compare` the tables before stay, and the exit code says so.)"""
        path = self.copy("own-pytorch")
        self.ascope("analyse", path, "--summary")

        def no_large_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        r = self.ascope("cluster", path, "-o", self.path("out"), code=1, preexec_fn=no_large_files)
        self.assertIn(b"cluster_analysis.db: cannot be written", r.stderr)
        self.assertEqual([n for _, _, names in os.walk(self.path("out")) for n in names], [])
        r = self.ascope("compare", path, path, "-o", self.path("both"), code=3, preexec_fn=no_large_files)
        self.assertIn(b"comparison.db: cannot be written", r.stderr)
        self.assertIn("compare_kernels.csv", os.listdir(self.path("both")))
        self.assertIn(b"step", r.stdout)

    def test_old_tables_are_removed_and_those_behind_links_are_not(self):
        os.mkdir(self.result("SlowLink"))
        for path in (self.path("theirs/a.csv"), self.result("SlowLink/a.csv"), self.result("cluster_step_trace_time.csv")):
            self.write(path)
        os.symlink(self.path("theirs"), self.result("HcclSum"))
        self.cluster("--export-type", "db")
        self.assertEqual(os.listdir(self.path("theirs")), ["a.csv"])
        self.assertEqual(os.listdir(self.result("SlowLink")), [])
        self.assertEqual(sorted(os.listdir(self.result())), ["HcclSum", "SlowLink", "cluster_analysis.db"])
        self.assertIn(b"is a symbolic link", self.cluster("-m", "hccl_sum", "--export-type", "text", code=1).stderr)

    def test_a_database_is_a_plain_file(self):
        path = self.result("cluster_analysis.db")
        for mode in ("all", "hccl_sum"):
            os.mkfifo(path)
            self.assertIn(b"is a FIFO", self.cluster("-m", mode, "--export-type", "db", code=1).stderr)
            self.assertTrue(stat.S_ISFIFO(os.lstat(path).st_mode))
            os.remove(path)

    def test_names_of_the_user(self):
        self.cluster("--join", "a.summary")
        with open(self.path("a.summary"), "rb") as f:
            whole = f.read()
        os.symlink(self.path("theirs/b"), self.path("link"))
        self.cluster("--join", "link")
        with open(self.path("theirs/b"), "rb") as f:
            self.assertEqual(f.read(), whole)
        said = self.ascope("cluster", "job", "--join", "-")
        self.assertEqual(said.stdout, whole)
        self.assertIn(b"2 ranks", said.stderr)
        self.assertIn(b"--json", self.ascope("cluster", "job", "--join", "-", "--json", code=2).stderr)
        os.symlink("theirs", self.path("out"))
        self.write(self.path("theirs/comparison.html.part-0123456789abcdef"))
        self.ascope("compare", "job", "job", "--out", "out")
        self.assertTrue({"comparison.html", "comparison.db"} < set(os.listdir(self.path("theirs"))))
        self.assertFalse(glob.glob(self.path("theirs/*.part-*")))

    def test_parts_of_dead_runs_are_removed(self):
        collection = min(glob.glob(glob.escape(self.path("job")) + "/*_ascend_pt"))  # rank 0
        dead = [self.path("job/.ascope_shards.part-0123456789abcdef"),
                os.path.join(collection, "ascope_rank_0.summary.part-0123456789abcdef")]
        for path in dead:
            os.mkdir(path)
            self.write(os.path.join(path, "shard_1_of_2.summary"))
        self.cluster("--launcher", "local", "--processes", "2")
        self.ascope("analyse", "--quiet", "--summary", collection)
        self.assertEqual([path for path in dead if os.path.exists(path)], [])

    def test_a_directory_whose_name_is_an_option(self):
        """Processes of --launcher local read it as their caller did."""
        os.rename(self.path("job"), self.path("--join=theirs"))
        self.ascope("cluster", "--quiet", "--launcher", "local", "--processes", "2", "--out", "out", "--", "--join=theirs")
        self.assertTrue(os.path.exists(self.path("out/cluster_analysis_output/cluster_analysis.db")))

    def test_safe_csv(self):
        self.ascope("analyse", "--quiet", "--export-type", "db", "job")
        for path in glob.glob(glob.escape(self.path("job")) + "/*/*/ascend_pytorch_profiler_*.db"):
            db = sqlite3.connect(path)
            db.execute("UPDATE STRING_IDS SET value = '=' || value")
            db.commit()
            db.close()

        def names(*options):
            self.cluster("-m", "compute_op_sum", "--export-type", "text", *options)
            with open(self.result("ComputeOpSum/all_stats.csv"), newline="") as f:
                return [row["OpType"] for row in csv.DictReader(f)]

        plain, safe = names(), names("--csv-safe")
        self.assertTrue(plain and all(n.startswith("=") for n in plain))
        self.assertEqual(safe, ["'" + n for n in plain])


def main():
    global ASCOPE, SOURCE
    ASCOPE, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=1)


if __name__ == "__main__":
    main()
