#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recording on Ascend NPUs, by libraries of ours in the place of the vendor's (tests/fakes/fake_ascend): no NPU is needed, and none was at hand.

usage: test_ascend.py ASCOPE RECORD_ASCEND FAKE_ASCEND
"""
import csv
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ASCOPE, RECORDER, FAKES = (os.path.abspath(p) for p in sys.argv[1:4])
ACLPROF = ["aclprofInit", "aclprofCreateConfig", "aclprofStart", "aclprofRegisterDeviceCallback", "aclrtSynchronizeDevice",
           "aclprofStop", "aclprofDestroyConfig", "aclprofFinalize"]
NO_CUDA = "cuda (no library of CUDA is loaded in this process)"


def read(path):
    with open(path) as f:
        return f.read()


class Run:
    def __init__(self, done, log):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.lines = log
        self.calls = [line.split()[0] for line in log]

    def said(self, kind):
        return re.findall(rf"^{kind}: (.*)$", self.out, re.M)

    def path(self):
        return self.said("path")[-1]

    def config(self):
        line = [line for line in self.lines if line.startswith("aclprofCreateConfig")][0]
        return dict(part.split("=") for part in line.split()[1:])


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="ascope-ascend-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def record(self, *words, fake="", home=FAKES, code=0, data=None, **env):
        log = os.path.join(self.folder, "log")
        if os.path.exists(log):
            os.remove(log)
        known = ("ASCEND_", "ASCOPE_", "FAKE_", "LOCAL_RANK", "RANK", "LD_LIBRARY_PATH")
        e = {k: v for k, v in os.environ.items() if not k.startswith(known)}
        e.update({"ASCEND_HOME_PATH": home, "FAKE_ASCEND": fake, "FAKE_ASCEND_LOG": log, **env})
        if data:
            e["FAKE_ASCEND_DATA"] = data
        r = subprocess.run([RECORDER, os.path.join(self.folder, "out"), *words], capture_output=True, text=True, env=e, timeout=120)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        return Run(r, read(log).splitlines() if os.path.exists(log) else [])

    def ascope(self, *args, code=0):
        r = subprocess.run([ASCOPE, *args], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        return r

    def simulated(self, *more):
        """A PROF directory that the engine copies."""
        self.ascope("sim", "--out", os.path.join(self.folder, "sim"), *more)
        return glob.glob(os.path.join(self.folder, "sim/PROF_*"))[0]

    def profs(self, where):
        return sorted(glob.glob(os.path.join(where, "PROF_*")))

    def facts(self, where):
        with open(os.path.join(where, "ascope.json")) as f:
            return json.load(f)


class Life(Case):
    def test_calls_in_order_with_the_program_s_device(self):
        r = self.record("acl", fake="devices=8", FAKE_ASCEND_CURRENT="3")
        self.assertEqual(r.calls, ["drvGetDevNum", *ACLPROF])
        self.assertEqual(r.config(), {"devices": "1", "first": "3", "metrics": "255", "mask": "0x801"})
        self.assertEqual(r.lines[1], "aclprofInit " + r.path())
        self.assertEqual((r.said("warning"), r.said("note")), ([], []))
        self.assertEqual(self.facts(r.path())["device"], "ascend")

    def test_two_sessions_of_a_process_look_once_and_begin_twice(self):
        r = self.record("acl", "twice")
        self.assertEqual(r.calls, ["drvGetDevNum", *ACLPROF, *ACLPROF])

    def test_warm_up(self):
        r = self.record("acl", "warmup", "mstx=on")
        calls = ["aclprofInit", "aclprofCreateConfig", "aclprofWarmup", "aclprofStart", "aclprofRegisterDeviceCallback"]
        self.assertEqual([c for c in r.calls if c in calls], calls)
        self.assertEqual(len(self.profs(r.path())), 1)

    def test_a_release_without_a_warm_up_starts_later(self):
        r = self.record("acl", "warmup", "mstx=on", home=FAKES + "/older")
        self.assertNotIn("aclprofWarmup", r.calls)
        self.assertEqual([c for c in r.calls if c.startswith("aclprof")],
                         [c for c in ACLPROF if c.startswith("aclprof") and "Register" not in c])
        self.assertEqual(len(self.profs(r.path())), 1)
        self.assertEqual(self.facts(r.path())["ended"], "stop")

    def test_a_warm_up_that_nothing_follows_is_finalized_and_removed(self):
        for home, calls in ((FAKES, ["aclprofInit", "aclprofCreateConfig", "aclprofWarmup", "aclprofFinalize", "aclprofDestroyConfig"]),
                            (FAKES + "/older", [])):
            for layout in ("pytorch", "prof"):
                r = self.record("acl", "warmup", "unstarted", "discard", "layout=" + layout, home=home)
                self.assertEqual([c for c in r.calls if c.startswith("aclprof")], calls)
                self.assertEqual(os.listdir(os.path.join(self.folder, "out")), [])

    def test_a_session_that_cannot_start_ends_the_engine(self):
        blocked = os.path.join(self.folder, "file")
        open(blocked, "w").close()
        r = self.record("acl", "ring_dir=" + blocked, code=1)
        self.assertEqual(r.calls[-3:], ["aclprofStop", "aclprofDestroyConfig", "aclprofFinalize"])
        self.assertRegex(r.out, "^failed: .*file")

    def test_exit_while_it_records_stops_the_engine(self):
        r = self.record("acl", "exit")
        self.assertEqual(r.calls[-3:], ["aclprofStop", "aclprofDestroyConfig", "aclprofFinalize"])
        self.assertEqual(self.facts(r.path())["ended"], "stop")


class Loading(Case):
    def test_no_library_no_device_file_nothing_is_loaded(self):
        if glob.glob("/dev/davinci*") or os.path.isdir("/usr/local/Ascend"):
            self.skipTest("this machine has Ascend software")
        r = self.record(home="", LD_DEBUG="libs,files")  # the loader says what it looks for
        self.assertEqual(r.said("note"), [f"no device; looked for ascend (no library, no /dev/davinci*), {NO_CUDA}; recording the host only"])
        self.assertNotRegex(r.err, "libmsprofiler|libascend")
        r = self.record("device=ascend", home="", LD_DEBUG="libs,files", code=1)
        self.assertEqual(r.out, "failed: device ascend: no library, no /dev/davinci*\n")
        self.assertNotRegex(r.err, "libmsprofiler|libascend")

    def test_auto_leaves_programs_alone_that_do_not_use_ACL(self):
        r = self.record(fake="crash=drvGetDevNum")
        self.assertEqual(r.calls, [])
        self.assertEqual(len(r.said("note")), 1)
        self.assertRegex(r.said("note")[0], r"^no device; looked for ascend \(.*libascendcl\.so.*\); recording the host only$")

    def test_asked_by_name_without_ACL_it_says_so(self):
        r = self.record("device=ascend", fake="devices=4", LOCAL_RANK="2")
        self.assertEqual(r.config()["first"], "2")
        self.assertEqual(len(r.said("warning")), 1)
        self.assertRegex(r.said("warning")[0], r"ACL is not initialised: .*; recording device 2\.")
        r = self.record("load", "device=ascend")
        self.assertRegex(r.said("warning")[0], r"ACL is not initialised, or no device is set on this thread; recording device 0\.")

    def test_where_libraries_are_found(self):
        """The environment's directory, the loader's path, and what the program has loaded, in the order that counts."""
        broken = os.path.join(self.folder, "broken/lib64")
        os.makedirs(broken)
        for name in os.listdir(FAKES + "/lib64"):
            if name.endswith(".so"):
                with open(os.path.join(broken, name), "w") as f:
                    f.write("not a library\n")
        rows = (
            ("ASCEND_HOME_PATH", dict(home=FAKES), True),
            ("ASCEND_TOOLKIT_HOME", dict(home="", ASCEND_TOOLKIT_HOME=FAKES), True),
            ("LD_LIBRARY_PATH", dict(home="", LD_LIBRARY_PATH=FAKES + "/lib64"), True),
            ("the loader comes before the environment", dict(home=broken[:-6], LD_LIBRARY_PATH=FAKES + "/lib64"), True),
            ("a file that is no library", dict(home=broken[:-6]), False),
        )
        for what, how, is_found in rows:
            with self.subTest(what):
                r = self.record("device=ascend", code=0 if is_found else 1, **how)
                self.assertEqual("aclprofStart" in r.calls, is_found, r.out)
                if not is_found:
                    self.assertRegex(r.out, r"^failed: device ascend: libascend_hal\.so not found$")

    def test_what_the_program_has_loaded_is_taken_first(self):
        for has_loaded in (True, False):
            r = self.record("acl", "sys_io=on", "msprofiler" if has_loaded else "acl", home=FAKES + "/older", LD_LIBRARY_PATH=FAKES + "/lib64")
            self.assertEqual("aclprofSetConfig" in r.calls, not has_loaded)

    def test_missing_functions_are_features_that_are_missing(self):
        r = self.record("acl", "sys_io=on", "profile_memory=on", home=FAKES + "/older")
        self.assertIn("aclprofStop", r.calls)
        self.assertEqual(len(r.said("warning")), 2)
        self.assertRegex(r.said("warning")[1], r"sys_io_sampling_freq=100 is not recorded: aclprofSetConfig: 200007, not supported")


class Options(Case):
    def test_options_as_masks_and_settings(self):
        rows = (
            ([], "255", "0x801", []),
            (["profiler_level=Level1"], "1", "0x27", []),
            (["profiler_level=Level2", "aic_metrics=MemoryUB"], "5", "0x12f", []),
            (["profiler_level=Level1", "aic_metrics=AiCoreNone"], "255", "0x23", []),
            (["profiler_level=Level_none"], "255", "0x80", []),
            (["mstx=on"], "255", "0x881", []),
            (["l2_cache=on"], "255", "0x811", []),
            (["record_shapes=on"], "255", "0x800000801", []),
            (["op_attr=on", "export_type=db"], "255", "0x4801", []),
            (["profile_memory=on"], "255", "0x1801", ["3 50"]),
            (["sys_io=on", "sys_interconnection=on"], "255", "0x801", ["5 100", "6 50"]),
            (["storage_limit=300MB"], "255", "0x801", ["1 300MB"]),
            (["sys_hardware_mem_freq=77", "llc_profiling=write"], "255", "0x801", ["3 77", "4 write"]),
            (["dvpp_freq=7", "sys_cpu_freq=9", "sys_lp_freq=11"], "255", "0x801", ["7 7", "11 11", "13 9"]),
            (["sys_mem_serviceflow=a,b", "optype=MatMul,Add"], "255", "0x801", ["12 a,b", "14 MatMul,Add"]),
            (["runtime_api=on", "aicpu=on"], "255", "0x909", []),
            (["ge_api=l1"], "255", "0x1000a01", []),
            # The recorder's own samplers: the engine is not asked for them.
            (["host_sys=cpu,mem"], "255", "0x801", []),
        )
        for words, metrics, mask, pairs in rows:
            with self.subTest(words):
                r = self.record("acl", *words)
                self.assertEqual((r.config()["metrics"], r.config()["mask"]), (metrics, mask))
                self.assertEqual([line.split(" ", 1)[1] for line in r.lines if line.startswith("aclprofSetConfig")], pairs)
                self.assertIn("aclprofStop mask=" + mask, r.lines)

    def test_what_aclprof_does_not_have_is_named(self):
        r = self.record("acl", "task_tsfw=on", "instr_profiling=on", "task_block=on", "sys_profiling=on", "npu_events=HA:0x1",
                        "fp_point=a")
        self.assertEqual(r.config()["mask"], "0x801")
        self.assertEqual(r.said("warning"), ["device ascend: not recorded, because aclprof does not support it: task_tsfw, instr_profiling, "
                                             "task_block, sys_profiling, npu_events, fp_point, bp_point"])

    def test_custom_events_are_no_group_of_counters(self):
        r = self.record("acl", "profiler_level=Level1", "aic_metrics=Custom:0x8,0xa")
        self.assertEqual((r.config()["metrics"], r.config()["mask"]), ("255", "0x23"))
        self.assertIn("custom events of aic_metrics", r.said("warning")[0])

    def test_a_release_that_does_not_know_a_switch_records_the_rest(self):
        r = self.record("acl", "record_shapes=on", fake="error=aclprofStart:200007:0x800000000")
        self.assertEqual([line for line in r.lines if line.startswith("aclprofStart")],
                         ["aclprofStart mask=0x800000801", "aclprofStart mask=0x801"])
        self.assertEqual(r.said("warning"), ["device ascend: this release does not record data 0x800000000 of the mask"])
        self.assertEqual(self.facts(r.path())["device"], "ascend")


class Trouble(Case):
    def host_alone(self, r, pattern):
        """One line says why, and the host is recorded."""
        self.assertEqual(len(r.said("warning")), 1, r.out)
        self.assertRegex(r.said("warning")[0], pattern)
        facts = self.facts(r.path())
        self.assertEqual((facts["device"], facts["ended"]), ("none", "stop"))
        prof, = self.profs(r.path())
        self.assertTrue(os.path.exists(prof + "/host/info.json"))

    def test_error_codes_have_meanings(self):
        rows = (
            ("aclprofInit", 100002, "already initialised by another profiler"),
            ("aclprofInit", 100003, "the result path is not accepted"),
            ("aclprofInit", 200006, "not supported: another way of profiling was chosen for this process"),
            ("aclprofStart", 100000, "invalid parameter"),
            ("aclprofStart", 100042, "already running"),
            ("aclprofStart", 148047, "another front end of the profiler is active"),
            ("aclprofStart", 500005, "the profiler failed; its log says why"),
            ("aclprofStart", 7, None),
        )
        for call, code, meaning in rows:
            with self.subTest(call=call, code=code):
                r = self.record("acl", fake=f"error={call}:{code}")
                text = f"{code}, {meaning}" if meaning else str(code)
                self.host_alone(r, f"^device ascend: {call}: {text}; recording the host only$")
                # What was begun is ended; what somebody else began is left alone.
                self.assertEqual("aclprofFinalize" in r.calls, call != "aclprofInit")

    def test_an_error_after_the_warm_up(self):
        r = self.record("acl", "warmup", "mstx=on", fake="error=aclprofStart:500005")
        self.host_alone(r, "^device ascend: aclprofStart: 500005, .*; recording the host only$")
        self.assertEqual(r.calls.count("aclprofFinalize"), 1)
        self.assertTrue(glob.glob(r.path() + "/PROF_*/host/data/aging.additional.msproftx.slice_1000000"))

    def test_a_refused_configuration(self):
        r = self.record("acl", fake="error=aclprofCreateConfig:1")
        self.host_alone(r, r"aclprofCreateConfig: device 0, metrics 255, mask 0x801 not accepted; recording the host only")

    def test_a_path_that_the_engine_refuses(self):
        out = os.path.join(self.folder, "a;b")
        r = self.record("acl", "parent_dir=" + out)
        self.host_alone(r, "aclprofInit: 100003, the result path is not accepted; recording the host only")

    def test_settings_that_are_refused_are_left_out(self):
        r = self.record("acl", "sys_io=on", "sys_interconnection=on", fake="error=aclprofSetConfig:100000:0x20")
        self.assertEqual(r.said("warning"), ["device ascend: sys_io_sampling_freq=100 is not recorded: aclprofSetConfig: 100000, invalid parameter"])
        self.assertIn("aclprofStop", r.calls)

    def test_errors_at_the_end_are_reported(self):
        r = self.record("acl", fake="error=aclprofStop:500005")
        self.assertEqual(r.said("stop"), ["device ascend: aclprofStop: 500005, the profiler failed; its log says why"])
        self.assertIn("aclprofFinalize", r.calls)
        r = self.record("acl", fake="error=aclprofStop:100043")
        self.assertEqual((r.said("stop"), r.said("warning")),
                         ([], ["device ascend: another profiler user stopped it before the recording ended"]))

    def test_a_crash_while_looking_is_survived(self):
        for call in ("drvGetDevNum", "halGetDeviceInfo"):
            r = self.record("acl", fake=f"crash={call}")
            self.assertEqual(r.said("note"), [f"no device; looked for ascend ({call} crashed (Segmentation fault) during the probe), "
                                              f"{NO_CUDA}; recording the host only"])
        r = self.record("device=ascend", fake="crash=drvGetDevNum", code=1)
        self.assertIn("failed: device ascend: drvGetDevNum crashed", r.out)

    def test_a_hang_while_looking_is_survived(self):
        r = self.record("acl", fake="hang=drvGetDevNum", ASCOPE_ASCEND_LIMIT_S="1")
        self.assertIn("looked for ascend (drvGetDevNum did not return during the probe)", r.said("note")[0])

    def test_a_hang_at_the_start_gives_the_device_up(self):
        for call in ("aclprofInit", "aclprofStart"):
            r = self.record("acl", "twice", fake=f"hang={call}", ASCOPE_ASCEND_LIMIT_S="1")
            self.assertEqual(r.said("warning"), [f"device ascend: {call} did not return within 1 s; recording the host only"])
            self.assertIn("earlier; not used again in this process", r.said("note")[0])
            self.assertEqual(r.calls.count(call), 1)
            self.assertEqual(self.facts(r.path())["ended"], "stop")

    def test_a_hang_at_the_end_ends_the_recording_all_the_same(self):
        r = self.record("acl", "mstx=on", fake="hang=aclprofStop", ASCOPE_ASCEND_LIMIT_S="1")
        self.assertEqual(r.said("stop"), ["device ascend: aclprofStop did not return within 1 s"])
        prof, = self.profs(r.path())
        self.assertTrue(glob.glob(prof + "/host/data/aging.additional.msproftx.slice_1000000"))
        self.assertFalse(os.path.exists(r.path() + "/ascope.rings"))

    def test_a_driver_that_answers_its_own_process_only(self):
        r = self.record("acl", fake="parent_only")
        self.assertEqual(r.calls, ["drvGetDevNum", "drvGetDevNum", *ACLPROF])

    def test_no_device_although_the_libraries_are_there(self):
        r = self.record("acl", fake="devices=0")
        self.assertIn("looked for ascend (the driver has no device)", r.said("note")[0])
        r = self.record("acl", fake="error=drvGetDevNum:87")
        self.assertIn("looked for ascend (drvGetDevNum: error 87)", r.said("note")[0])


class Doctor(Case):
    def checks(self, fake="", home=FAKES, **env):
        known = ("ASCEND_", "ASCOPE_", "FAKE_", "LD_LIBRARY_PATH")
        e = {k: v for k, v in os.environ.items() if not k.startswith(known)}
        r = subprocess.run([ASCOPE, "doctor", "--json"], capture_output=True, text=True, cwd=self.folder,
                           env={**e, "ASCEND_HOME_PATH": home, "FAKE_ASCEND": fake, **env})
        return {c["name"]: c for c in json.loads(r.stdout)["checks"] if c["area"] == "devices"}

    def test_what_was_found_with_versions(self):
        found = self.checks("devices=2 chip=1 ids=4")
        for name in ("libmsprofiler.so", "libascendcl.so", "libascend_hal.so", "libprofapi.so", "libruntime.so"):
            self.assertEqual(found[name]["state"], "ok", name)
            self.assertIn(FAKES + "/lib64/" + name, found[name]["fact"])
            self.assertIn(FAKES + "/lib64", found[name]["looked_at"])
        self.assertIn("version 1.14.3", found["libascendcl.so"]["fact"])
        self.assertIn("version 0x72318", found["libascend_hal.so"]["fact"])
        self.assertEqual(found["Ascend NPUs"]["fact"].count("Atlas training products (910), 24 AI cores"), 2)
        self.assertIn("device 5: ", found["Ascend NPUs"]["fact"])

    def test_what_is_missing(self):
        found = self.checks(home=FAKES + "/older")
        self.assertEqual((found["libmsprofiler.so"]["state"], found["libprofapi.so"]["state"]), ("limited", "missing"))
        self.assertIn("without aclprofSetConfig, aclprofWarmup", found["libmsprofiler.so"]["effect"])
        self.assertIn("CANN", found["libprofapi.so"]["advice"])

    def test_a_crash_and_a_hang_are_findings(self):
        for how, text in (("crash", "drvGetDevNum crashed"), ("hang", "drvGetDevNum did not return")):
            found = self.checks(how + "=drvGetDevNum", ASCOPE_ASCEND_LIMIT_S="1")
            self.assertEqual(found["Ascend NPUs"]["state"], "missing")
            self.assertIn(text, found["Ascend NPUs"]["fact"])
            self.assertEqual(found["libascend_hal.so"]["state"], "ok")

    def test_options_are_checked_for_the_chip_of_the_machine(self):
        text = '{"output":".","optype":"MatMul"}'
        for fake, more, code in (("chip=16", [], 0), ("chip=5", [], 1), ("chip=16", ["--chip", "5"], 1), ("chip=5", ["--chip", "16"], 0)):
            with self.subTest(fake=fake, more=more):
                e = dict(os.environ, ASCEND_HOME_PATH=FAKES, FAKE_ASCEND=fake)
                r = subprocess.run([ASCOPE, "options", "check", text, *more], capture_output=True, text=True, env=e, timeout=120)
                self.assertEqual(r.returncode, code, r.stdout + r.stderr)

    def test_a_machine_without_any(self):
        if glob.glob("/dev/davinci*") or os.path.isdir("/usr/local/Ascend"):
            self.skipTest("this machine has Ascend software")
        found = self.checks(home="")
        self.assertEqual({found[name]["state"] for name in ("libmsprofiler.so", "libascend_hal.so", "Ascend NPUs")}, {"not applicable"})


class Collections(Case):
    def files(self, where):
        found = {}
        for top, _, names in os.walk(where):
            for name in names:
                path = os.path.join(top, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, where)] = f.read()
        return found

    def vendor_is_untouched(self, prof, data):
        ours = self.files(prof)
        for name, content in self.files(data).items():
            self.assertEqual(ours.get(name), content, name)
        return {name for name in ours if name not in self.files(data)}

    def test_one_prof_directory_in_both_layouts(self):
        data = self.simulated("--devices", "2")
        for layout in ("pytorch", "prof"):
            with self.subTest(layout):
                shutil.rmtree(os.path.join(self.folder, "out"), ignore_errors=True)
                r = self.record("acl", "mstx=on", "host_sys=cpu", "layout=" + layout, fake="devices=2", data=data)
                self.assertEqual(r.said("warning"), [])
                prof, = self.profs(r.path() if layout == "pytorch" else os.path.join(self.folder, "out"))
                if layout == "prof":
                    self.assertEqual(prof, r.path())
                added = self.vendor_is_untouched(prof, data)
                added = {re.sub(r"slice_\d+", "slice", name) for name in added if not name.endswith(".done")}
                want = {"host/data/aging.additional.msproftx.slice", "host/data/unaging.additional.hash_dic.slice",
                        "host/data/host_cpu.data.slice"}
                self.assertLessEqual(added, want | {"ascope.json", "ascope.files"})
                self.assertIn("host/data/aging.additional.msproftx.slice", added)
                self.assertEqual([d["id"] for d in self.facts(r.path())["devices"]], [0, 1])

    def test_results_are_those_of_the_engine_and_our_marks(self):
        data = self.simulated("--kernels", "60")
        r = self.record("acl", "mstx=on", "layout=prof", data=data)
        outs = []
        for where in (r.path(), data):
            self.ascope("export", "summary", "-dir", where)
            outs.append(glob.glob(os.path.join(where, "mindstudio_profiler_output")) + glob.glob(os.path.join(where, "*/summary")))
        def rows(top, name):
            found = glob.glob(os.path.join(top, name))
            return list(csv.DictReader(read(found[0]).splitlines())) if found else []
        for name in ("op_summary_*.csv", "api_statistic_*.csv", "task_time_*.csv"):
            self.assertEqual(rows(outs[0][0], name), rows(outs[1][0], name), name)
            self.assertTrue(rows(outs[0][0], name), name)
        both, engine = (rows(o[0], "msprof_tx_*.csv") for o in outs)
        self.assertEqual(len(both), len(engine) + 3)
        self.assertEqual(sum("a mark of the program" in str(row) for row in both), 1)

    def test_marks_on_streams_are_launched_by_the_runtime_and_not_twice(self):
        r = self.record("acl", "mstx=on")
        launched = [line for line in r.lines if line.startswith("rtProfilerTraceEx")]
        self.assertEqual(len(launched), 1)
        self.assertRegex(launched[0], r"^rtProfilerTraceEx id=0x10000000[0-9a-f]{3} model=0xffffffff tag=11 stream=0x1234$")
        self.assertEqual([line for line in self.record("acl").lines if line.startswith("rtProfilerTraceEx")], [])

    def test_descriptions_that_the_engine_does_not_write_are_added(self):
        data = self.simulated()
        for chip in (5, 1, 15):
            with self.subTest(chip):
                shutil.rmtree(os.path.join(self.folder, "out"), ignore_errors=True)
                r = self.record("acl", "layout=prof", "profiler_level=Level1", fake=f"info=none chip={chip}", data=data)
                with open(r.path() + "/device_0/info.json.0") as f:
                    info = json.load(f)
                self.assertEqual(info["platform_version"], str(chip))
                device = info["DeviceInfo"][0]
                self.assertEqual((device["ai_core_num"], device["aiv_num"], device["ai_cpu_core_num"], device["aic_frequency"]), (24, 48, 6, "1850"))
                self.assertEqual(float(device["hwts_frequency"]), 50)
                with open(r.path() + "/device_0/dev_start.log.0") as f:
                    self.assertRegex(f.read(), r"^clock_monotonic_raw: \d+\ncntvct: \d+\n$")
                with open(r.path() + "/host/sample.json") as f:
                    self.assertEqual(json.load(f)["profSwitch"], "0x27")
                self.ascope("info", r.path())

    def test_a_directory_that_comes_late_is_found(self):
        data = self.simulated()
        for how in ("prof=late", "prof=old", "prof=old path=none", "path=none", "prof=late path=none"):
            with self.subTest(how):
                shutil.rmtree(os.path.join(self.folder, "out"), ignore_errors=True)
                r = self.record("acl", "mstx=on", "layout=prof", fake=how, data=data)
                self.assertEqual(self.profs(os.path.join(self.folder, "out")), [r.path()])
                self.assertEqual(r.said("warning"), [])

    def test_a_directory_that_is_not_found_stays_beside_ours(self):
        r = self.record("acl", "mstx=on", fake="prof=never path=none", data=self.simulated())
        self.assertEqual(len(r.said("warning")), 1)
        self.assertIn("in two PROF directories", r.said("warning")[0])
        self.assertEqual(len(self.profs(r.path())), 2)
        own, = (p for p in self.profs(r.path()) if not glob.glob(p + "/device_*"))
        self.assertTrue(glob.glob(own + "/host/data/aging.additional.msproftx.slice_0"))

    def test_other_processes_in_the_same_directory_are_not_taken_for_ours(self):
        os.makedirs(os.path.join(self.folder, "out/PROF_000001_20200101000000000_ABCDEFGH/host"))
        r = self.record("acl", "layout=prof", fake="path=none")
        self.assertNotIn("20200101", r.path())
        self.assertEqual(os.listdir(os.path.join(self.folder, "out/PROF_000001_20200101000000000_ABCDEFGH")), ["host"])

    def test_times_are_of_the_engine_s_clock(self):
        r = self.record("acl", "mstx=on", fake="host_khz=0")
        self.assertEqual(self.facts(r.path())["clock"]["kind"], "ns")
        prof, = self.profs(r.path())
        with open(prof + "/host/info.json") as f:
            self.assertEqual(json.load(f)["CPU"][0]["Frequency"], "")

    def test_after_a_kill_recovery_touches_our_files_only(self):
        data = self.simulated()
        for layout in ("pytorch", "prof"):
            with self.subTest(layout):
                shutil.rmtree(os.path.join(self.folder, "out"), ignore_errors=True)
                r = self.record("acl", "mstx=on", "layout=" + layout, "kill", code=-signal.SIGKILL, data=data)
                prof, = self.profs(r.path() if layout == "pytorch" else os.path.join(self.folder, "out"))
                # The engine has written some by then, also of streams that we write, and one with the number that we would begin with.
                for name in ("aging.additional.msproftx.slice_0", "unaging.additional.hash_dic.slice_0", "unaging.additional.hash_dic.slice_1"):
                    os.makedirs(prof + "/host/data", exist_ok=True)
                    with open(os.path.join(prof, "host/data", name), "wb") as f:
                        f.write(b"1:engine\n" if "dic" in name else b"\0" * 256)
                before = self.files(prof)
                self.ascope("recover", r.path())
                after = self.files(prof)
                for name, content in before.items():
                    if "slice_1000000" not in name and name not in ("ascope.json", "ascope.rings"):
                        self.assertEqual(after.get(name), content, name)
                marks = after["host/data/aging.additional.msproftx.slice_1000000"]
                self.assertEqual(len(marks), 3 * 256)
                self.assertEqual(self.facts(r.path())["ended"], "recovered")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
