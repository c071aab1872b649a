#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope install-msprof: the names that torch_npu and MindSpore look for, found and called as they do it.

usage: test_install_msprof.py ASCOPE SOURCE_ROOT [unittest options]
"""
import csv
import glob
import json
import os
import shutil
import stat
import subprocess
import sys
import unittest

from cli_case import ASCOPE, Case

MSPROF_PY = "tools/profiler/profiler_tool/analysis/msprof/msprof.py"
INFO_PY = "tools/profiler/profiler_tool/analysis/interface/get_msprof_info.py"
NAMES = ["bin/msprof", "tools/profiler/bin/msprof", INFO_PY, MSPROF_PY]


def text_of(*path):
    with open(os.path.join(*path)) as f:
        return f.read()


class Installed(Case):
    def setUp(self):
        super().setUp()
        self.place = os.path.join(self.dir, "a 'place'")
        self.said = self.ascope("install-msprof", self.place, code=0).stdout
        self.path = self.place + "/bin:" + os.environ["PATH"]

    def call(self, *command, code=0):
        """As both call it: no shell, the command's own name, output captured."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("ASCOPE_")}
        done = subprocess.run(command, capture_output=True, text=True, env=dict(env, PATH=self.path), timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def script(self, name):
        """The file beside the msprof of the PATH, as torch_npu and MindSpore find it."""
        found = os.path.realpath(shutil.which("msprof", path=self.path).strip())
        return os.path.join(found.split("tools")[0], name)

    def names(self):
        return sorted(os.path.relpath(os.path.join(top, file), self.place)
                      for top, _, files in os.walk(self.place) for file in files)


class AsTorchNpuCallsIt(Installed):
    def test_it_is_found(self):
        self.assertEqual(shutil.which("msprof", path=self.path), self.place + "/bin/msprof")
        self.assertEqual(self.script(MSPROF_PY), os.path.join(os.path.realpath(self.place), MSPROF_PY))
        for path in shutil.which("msprof", path=self.path), self.script(MSPROF_PY):
            self.assertIn(os.stat(path).st_uid, (0, os.getuid()))

    def test_help_says_what_is_supported(self):
        text = self.call(self.place + "/bin/msprof", "--help")
        for wanted in "--type", "text(which will also export the database)":
            self.assertIn(wanted, text)

    def test_export_and_analyze(self):
        path = self.sample()
        msprof = shutil.which("msprof", path=self.path)
        self.call(msprof, "--export=on", "--type=db", f"--output={path}")
        self.assertEqual({os.path.splitext(f)[1] for f in self.written(path)}, {".db"})
        self.call(msprof, "--export=on", f"--output={path}")
        self.assertEqual({os.path.splitext(f)[1] for f in self.written(path)}, {".db", ".json", ".csv", ".txt"})
        self.call(msprof, "--analyze=on", "--type=db", f"--output={path}")
        self.assertEqual(os.listdir(path + "/analyze"), ["communication_analyzer.db"])
        self.call(msprof, "--analyze=on", f"--output={path}")
        self.assertIn("communication.json", os.listdir(path + "/analyze"))

    def test_a_failure_has_a_code(self):
        self.call("msprof", "--export=on", f"--output={self.dir}/nowhere", code=255)

    def test_the_script_of_the_inductor(self):
        """It renames two columns of op_summary, and needs the names of current releases."""
        path = self.sample()
        self.call(sys.executable, os.path.join(self.place, MSPROF_PY), "export", "summary", "-dir", path)
        table, = glob.glob(glob.escape(path) + "/mindstudio_profiler_output/op_summary*.csv")
        with open(table) as f:
            header = f.readline()
        for wanted in ",Op Name,", ",Task Duration(us),", ",Block Num,":
            self.assertIn(wanted, header)


class AsMindSporeCallsIt(Installed):
    def test_it_is_found(self):
        found = self.call("which", "msprof").strip()
        self.assertEqual(found, self.place + "/bin/msprof")
        for path in found, self.script(MSPROF_PY):
            self.assertTrue(os.stat(path).st_mode & stat.S_IXUSR)
            self.assertTrue(os.access(path, os.X_OK))
            self.assertIn(os.stat(path).st_uid, (0, os.getuid()))

    def test_information_about_the_machine(self):
        path = self.sample()
        said = json.loads(self.call("python3", self.script(INFO_PY), "-dir", path + "/host"))
        self.assertEqual(said["status"], 0)
        data = said["data"]
        self.assertEqual(data["host_info"]["cpu_info"], [{"CPU ID": "CPU0", "Name": "HiSilicon", "Type": "Kunpeng-920",
                                                          "Frequency": "100.000000", "Logical_CPU_Count": "8"}])
        self.assertEqual(data["host_info"]["cpu_num"], 8)
        self.assertEqual(data["version_info"], {"analysis_version": "1.0", "collection_version": "1.0", "drv_version": 467732})
        self.assertEqual(data["device_info"], {})
        size = sum(os.path.getsize(os.path.join(top, f)) for top, _, files in os.walk(path + "/host") for f in files)
        self.assertEqual(data["collection_info"], {"Collection start time": "1719973045939512",
                                                   "Collection end time": "1719973045953636",
                                                   "Result Size": "%s MB" % round(size / (1 << 20), 6)})
        device = json.loads(self.call("python3", self.script(INFO_PY), "-dir", path + "/device_0"))["data"]
        self.assertEqual(device["device_info"], {"AI Core Number": 24, "AI CPU Number": 3, "Control CPU Number": 1,
                                                 "Control CPU Type": "TaishanV110", "Device Id": 0, "TS CPU Number": 1})
        self.assertEqual(device["model_info"]["iterations"], [{"Device Id": 0, "Iteration Number": "N/A", "Model Id": "N/A"}])

    def test_information_that_is_missing(self):
        path = self.sample()
        for what, change in ("empty", b""), ("no JSON", b"{"), ("a list", b"[1]"), ("odd", b'{"CPU": {"a": 1}, "devices": 7}'):
            with self.subTest(what), open(path + "/host/info.json", "wb") as f:
                f.write(change)
                f.flush()
                said = self.call("python3", self.script(INFO_PY), "-dir", path + "/host", code=0 if what == "odd" else 1)
                self.assertEqual(said and json.loads(said)["data"]["host_info"]["cpu_info"], [] if said else "")
        os.remove(path + "/host/info.json")
        os.mkfifo(path + "/host/info.json")  # nobody writes to it
        self.call("python3", self.script(INFO_PY), "-dir", path + "/host", code=1)
        self.call("python3", self.script(INFO_PY), "-dir", self.dir + "/nowhere", code=1)
        self.call("python3", self.script(INFO_PY), code=0)  # help
        self.call("python3", self.script(INFO_PY), "--what", code=2)

    def test_all_steps_at_once_and_one_by_one(self):
        path = self.sample()
        self.call("msprof", "--export=on", f"--output={path}")
        steps, = glob.glob(glob.escape(path) + "/mindstudio_profiler_output/step_trace_*.csv")
        with open(steps) as f:
            row = next(csv.DictReader(f))
        shutil.rmtree(path + "/mindstudio_profiler_output")
        for kind in "timeline", "summary":
            self.call("python3", self.script(MSPROF_PY), "export", kind, "-dir", path, "--model-id", row["Model ID"],
                      "--iteration-id", row["Iteration ID"], "--iteration-count", "1")
        self.call("python3", self.script(MSPROF_PY), "export", "db", "-dir", path)
        self.assertEqual({os.path.splitext(f)[1] for f in self.written(path)}, {".db", ".json", ".csv", ".txt"})
        for more in [], ["--type=db"]:
            self.call("msprof", "--analyze=on", "--rule=communication,communication_matrix", f"--output={path}", *more)


class Command(Installed):
    def test_the_line_for_the_environment(self):
        self.assertEqual(self.said.count("\n"), 1)
        said = subprocess.run(["sh", "-c", 'eval "$1"; command -v msprof', "sh", self.said], capture_output=True, text=True)
        self.assertEqual(said.stdout.strip(), self.place + "/bin/msprof")
        self.assertEqual(self.names(), sorted(NAMES))

    def test_again_and_elsewhere(self):
        before = {name: text_of(self.place, name) for name in NAMES}
        self.assertEqual(self.ascope("install-msprof", self.place, code=0).stdout, self.said)
        self.assertEqual({name: text_of(self.place, name) for name in NAMES}, before)
        os.rename(self.place, self.dir + "/moved")
        self.place, self.path = self.dir + "/moved", self.dir + "/moved/bin:" + os.environ["PATH"]
        self.assertIn("--export", self.call("msprof", "--help"))
        self.assertIn("export", self.call("python3", self.script(MSPROF_PY), "--help"))

    def test_when_the_program_is_gone_the_one_in_the_path_is_called(self):
        program = os.path.join(self.dir, 'we"ird\n\\\'program')
        shutil.copy(ASCOPE, program)
        self.run_as(program, "install-msprof", self.place, code=0)
        self.call("msprof", "--help")
        self.call(self.script(MSPROF_PY), "--help")
        os.remove(program)
        self.path = self.place + "/bin:/usr/bin:/bin"
        if not shutil.which("ascope", path=self.path):
            self.assertIn("ascope", subprocess.run([sys.executable, self.script(MSPROF_PY)], env={"PATH": self.path},
                                                   capture_output=True, text=True).stderr)
        self.named("ascope")
        self.path += ":" + self.dir
        self.call("msprof", "--help")
        self.call(self.script(MSPROF_PY), "--help")

    def test_the_dialect(self):
        for args, env, wanted in [([], {}, "Block Num"), (["--dialect", "documented"], {}, "Block Dim"),
                                  ([], {"ASCOPE_DIALECT": "documented"}, "Block Dim")]:
            with self.subTest(args=args, env=env):
                path = self.sample(f"PROF_{len(os.listdir(self.dir))}")
                self.ascope("install-msprof", self.place, *args, code=0)
                self.run_as(self.place + "/bin/msprof", "--export=on", f"--output={path}", env=env, code=0)
                with open(glob.glob(glob.escape(path) + "/*/op_summary_*.csv")[0]) as f:
                    self.assertIn(wanted, f.readline())

    def test_what_others_made_is_kept(self):
        for i, name in enumerate(NAMES):
            with self.subTest(name):
                place = os.path.join(self.dir, "cann-%d" % i)
                file = os.path.join(place, name)
                os.makedirs(os.path.dirname(file))
                with open(file, "w") as f:
                    f.write("vendor")
                os.chmod(file, 0o750)
                before = [(top, names) for top, _, names in os.walk(place)]
                self.assert_one_line(self.ascope("install-msprof", place, code=1).stderr, name, "--force")
                self.assertEqual([(top, names) for top, _, names in os.walk(place)], before)
                for _ in range(2):  # the second time there is nothing more to keep
                    self.ascope("install-msprof", place, "--force", code=0)
                    self.assertNotEqual(text_of(file), "vendor")
                self.ascope("install-msprof", place, "--remove", code=0)
                self.assertEqual(text_of(file), "vendor")
                self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o750)
                left = {os.path.relpath(os.path.join(top, n), place) for top, _, names in os.walk(place) for n in names}
                self.assertEqual(left - {"bin/msprof"}, {name} - {"bin/msprof"})

    def test_remove(self):
        self.ascope("install-msprof", "--remove", self.place, code=0)
        self.assertEqual(os.listdir(self.place), [])
        self.ascope("install-msprof", "--remove", self.place, code=0)
        with open(self.place + "/other", "w"):
            self.ascope("install-msprof", self.place, code=0)
        self.ascope("install-msprof", "--remove", self.place, code=0)
        self.assertEqual(os.listdir(self.place), ["other"])

    @unittest.skipUnless(os.getuid() == 0, "makes a link of another user")
    def test_a_link_of_another_user_is_not_followed(self):
        shared, elsewhere = (os.path.join(self.dir, name) for name in ("shared", "elsewhere"))
        os.mkdir(elsewhere)
        os.mkdir(shared)
        os.chmod(shared, 0o1777)
        os.symlink(elsewhere, shared + "/npu")
        os.chown(shared + "/npu", 65534, 65534, follow_symlinks=False)
        for more in ([], ["--force"], ["--remove"]):
            r = self.ascope("install-msprof", shared + "/npu", *more, code=1)
            self.assert_one_line(r.stderr, "shared/npu: cannot be used: Permission denied")
        self.assertEqual(os.listdir(elsewhere), [])

    def test_what_cannot_be(self):
        with open(self.dir + "/file", "w"):
            pass
        os.makedirs(self.dir + "/elsewhere/x")
        os.makedirs(self.dir + "/linked")
        os.symlink("../elsewhere/x", self.dir + "/linked/bin")  # a link from there does not lead to tools
        rows = [
            ("nothing", [], 2, "missing directory"),
            ("two", ["a", "b"], 2, "one directory"),
            ("a path that both would cut", ["my-tools/place"], 2, "tools"),
            ("a path that PATH cannot have", ["a:b"], 2, "PATH"),
            ("a file", ["file"], 1, "file"),
            ("below a file", ["file/below"], 1, "file"),
            ("removed from nowhere", ["--remove", "nowhere"], 1, "nowhere"),
            ("a folder that is a link", ["linked"], 1, "bin/msprof"),
        ]
        for what, args, code, wanted in rows:
            with self.subTest(what):
                self.assert_one_line(self.ascope("install-msprof", *args, code=code).stderr, wanted)
        self.assertEqual(sorted(os.listdir(self.dir)), sorted([os.path.basename(self.place), "elsewhere", "file", "linked"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
