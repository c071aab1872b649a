#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The monitor: what a program leaves in its ring file, and what `ascope top` makes of such files. The files are read and
written here by other code than ascope's.

usage: test_monitor.py ASCOPE MONITOR_JOB
"""
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import monitor_files
from monitor_files import HEADER_BYTES, RECORD_BYTES, STOPPED, VALUES, Job

ASCOPE, JOB = (os.path.abspath(p) for p in sys.argv[1:3])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="ascope monitor é ")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def job(self, every=1, size=0, where=None, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASCOPE_") and k not in ("RANK", "WORLD_SIZE")}
        env.update(more.pop("env", {}))
        job = subprocess.Popen([JOB, where or self.dir, str(every), str(size)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=env, **more)
        self.addCleanup(self.end, job)
        return job

    @staticmethod
    def end(job):
        job.kill()
        job.wait()
        for stream in (job.stdin, job.stdout, job.stderr):
            stream.close()

    def tell(self, job, *lines):
        for line in lines:
            job.stdin.write(line + "\n")
            job.stdin.flush()
            answer = job.stdout.readline().strip()
        return answer

    def ascope(self, *args, code=0):
        r = subprocess.run([ASCOPE, *args], capture_output=True, text=True, timeout=300)
        self.assertEqual(r.returncode, code, r.stdout + r.stderr)
        self.assertNotIn("Sanitizer", r.stderr)
        return r

    def top(self, *args, where=None):
        report = json.loads(self.ascope("top", where or self.dir, "--json", *args).stdout)
        self.assertEqual(len(report["monitors"]), 1)
        return report["monitors"][0]

    def records(self):
        files = glob.glob(glob.escape(self.dir) + "/*.ring")
        self.assertEqual(len(files), 1)
        return monitor_files.read(files[0])

    def assert_whole(self, records, n_steps, first=0):
        """Each step once, each record within one block of a power of two that begins at a multiple of it."""
        at = first
        for one in records:
            self.assertEqual(one["step"], at, records)
            at += one["n_steps"]
        self.assertEqual(at, n_steps)


class TestFile(Case):
    def test_each_step_is_in_one_record(self):
        job = self.job()
        self.tell(job, "rank 3 8", "steps 5 3", "add 5 100", "set 10 7000", "steps 4000 0", "stop")
        head, records = self.records()
        self.assertEqual((head["pid"], records[-1]["flags"]), (job.pid, STOPPED))
        self.assert_whole(records, 4004)  # the first call only begins
        self.assertEqual({(one["rank"], one["world"]) for one in records}, {(3, 8)})
        for one in records:
            self.assertLessEqual(one["longest"], one["time"])
            self.assertIsNone(one["computing"])  # nobody has passed it: not recorded, and not 0
            self.assertIsNone(one["communication"])
        self.assertIsNone(records[0]["data"])
        self.assertEqual(sum(one["data"] or 0 for one in records), 100)
        self.assertEqual(records[-1]["allocated"], 7000)
        self.assertIsNotNone(records[1]["cpu"])
        self.assertGreater(records[-1]["resident"], 0)

    def test_the_ring_is_bounded_and_keeps_the_newest(self):
        job = self.job(size=HEADER_BYTES + 70 * RECORD_BYTES + 10)
        path = self.tell(job, "steps 201 3")
        head, records = self.records()
        self.assertEqual(head["capacity"], 70)
        self.assertLessEqual(os.path.getsize(path), HEADER_BYTES + 70 * RECORD_BYTES)
        numbers = [one["number"] for one in records]
        self.assertEqual(numbers, list(range(numbers[-1] - 69, numbers[-1] + 1)))
        self.assert_whole(records, records[-1]["step"] + records[-1]["n_steps"], records[0]["step"])
        self.assertEqual(self.top()["ranks"][0]["step"], records[-1]["step"] + records[-1]["n_steps"])

    def test_a_killed_program_leaves_what_it_wrote(self):
        job = self.job()
        self.tell(job, "steps 31 3")
        alive = self.top()
        self.assertTrue(alive["ranks"][0]["is_alive"])
        job.kill()
        job.wait()
        _, records = self.records()
        self.assertGreaterEqual(records[-1]["step"] + records[-1]["n_steps"], 1)
        self.assert_whole(records, records[-1]["step"] + records[-1]["n_steps"])
        killed = self.top()["ranks"][0]
        self.assertEqual((killed["is_alive"], killed["has_ended"]), (False, False))

    def test_which_steps_count(self):
        job = self.job(every=1)
        self.tell(job, "iterations 100", "dynamic 5", "iterations 100", "steps 6 3", "dynamic 50", "stop")
        _, records = self.records()
        last = records[-1]
        self.assertEqual(last["step"] + last["n_steps"], 5 + 5)  # of "steps" the first of the six only begins

    def test_by_the_environment(self):
        job = self.job(where="-", env={"ASCOPE_MONITOR": self.dir, "RANK": "2", "WORLD_SIZE": "4"})
        self.assertNotEqual(self.tell(job, "dynamic 3"), "off")
        self.tell(job, "stop")
        _, records = self.records()
        self.assertEqual((sum(one["n_steps"] for one in records), records[0]["rank"], records[0]["world"]), (2, 2, 4))
        other = self.job(where="-")
        self.assertEqual(self.tell(other, "dynamic 3", "steps 3 0"), "off")

    def test_a_file_that_was_moved_away_is_still_written(self):
        job = self.job()
        path = self.tell(job, "steps 3 3")
        n = len(self.records()[1])
        os.rename(path, path + ".kept")
        self.tell(job, "steps 3 3", "stop")
        self.assertGreater(len(monitor_files.read(path + ".kept")[1]), n)

    def test_a_place_that_is_no_directory(self):
        refused = self.job(where="/dev/full/monitor")
        refused.wait()
        self.assertEqual(refused.returncode, 1)
        self.assertEqual(refused.stderr.read().count("\n"), 1)

    def test_a_full_disk_loses_records_and_nothing_else(self):
        """They are counted in the records that are written when there is room again."""
        place = os.path.join(self.dir, "small")
        os.mkdir(place)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "ascope-test", place], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("only root may mount")
        self.addCleanup(subprocess.run, ["umount", "-l", place], check=True)
        job = self.job(where=place)
        path = self.tell(job, "steps 3 3")
        other = os.path.join(place, "other")
        with open(other, "wb", buffering=0) as f:
            try:
                while f.write(bytes(4096)):
                    pass
            except OSError:
                pass
        self.tell(job, "steps 100 2")  # more than fit into what the file has of its last page
        self.assertEqual(job.poll(), None)
        os.unlink(other)
        self.tell(job, "steps 5 3", "stop")
        _, records = monitor_files.read(path)
        self.assertEqual([one["number"] for one in records], list(range(len(records))))
        self.assertGreater(records[-1]["lost"], 0)
        self.assertEqual(self.top(where=place)["ranks"][0]["step"], records[-1]["step"] + records[-1]["n_steps"])
        job.stdin.close()
        job.wait()
        self.assertEqual(job.stderr.read().count("No space left"), 1)

    def test_a_limit_of_file_size_bounds_the_ring(self):
        import resource
        limit = HEADER_BYTES + 100 * RECORD_BYTES
        job = self.job(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.tell(job, "steps 150 2", "stop")
        self.assertEqual(job.poll(), None)  # SIGXFSZ would have ended it
        self.assertEqual(self.records()[0]["capacity"], 100)

    def test_old_files_of_this_host_are_removed(self):
        job = self.job()
        path = self.tell(job, "steps 3 3")
        self.end(job)
        old = os.path.getmtime(path) - 2 * 24 * 3600
        os.utime(path, (old, old))
        running = self.job()
        kept = self.tell(running, "steps 3 3")
        os.utime(kept, (old, old))  # old, but its process lives
        self.tell(self.job(), "steps 3 3")
        self.assertFalse(os.path.exists(path))
        self.assertTrue(os.path.exists(kept))


class TestTop(Case):
    def test_numbers_are_those_of_the_records(self):
        job = Job(4, seed=5)
        for _ in range(100):
            job.take()
        job.write(self.dir)
        shown = self.top()
        self.assertEqual([one["rank"] for one in shown["ranks"]], [0, 1, 2, 3])
        for one in shown["ranks"]:
            _, records = monitor_files.read(one["file"])
            for name in ("computing", "communication", "cpu", "data"):
                mean = statistics.mean(r[name] for r in records) / 1000
                self.assertAlmostEqual(one["values"][name], mean, delta=mean * 1e-9 + 1e-9)
            step = statistics.mean(r["time"] for r in records) / 1000
            self.assertAlmostEqual(one["step_us"], step, delta=step * 1e-9)
            self.assertAlmostEqual(one["steps_per_s"], 1e6 / step, delta=1e-6)
            self.assertAlmostEqual(one["computing_us"] + one["communication_us"] + one["free_us"], step, delta=1)
            self.assertIsNone(one["values"]["gc"])
            self.assertEqual(one["values"]["tokens"], 4096)
        self.assertEqual(shown["findings"], [])
        text = self.ascope("top", self.dir, "--once").stdout
        self.assertIn("4 ranks, 0 alive", text)
        self.assertIn("no step is slow, and no rank", text)

    def test_a_slow_rank_is_found(self):
        job = Job(8, seed=6)
        for _ in range(200):
            job.take(slow=[5], factor=1.08)
        job.write(self.dir)
        findings = self.top()["findings"]
        self.assertEqual([(f["shape"], f["rank"]) for f in findings], [("rank", "rank 5")])
        self.assertIn("rank 5 is slow in each step", self.ascope("top", self.dir).stdout)

    def test_a_change_of_all_ranks_is_found_with_its_time(self):
        job, begins = Job(4, seed=7), []
        for step in range(300):
            begins.append(job.now)
            job.take(all_factor=1.2 if step >= 200 else 1)
        job.write(self.dir)
        findings = [f for f in self.top()["findings"] if f["shape"] == "since"]
        self.assertEqual(len(findings), 1)
        self.assertIsNone(findings[0]["rank"])
        self.assertLess(abs(int(findings[0]["first"]) - 200), 5)
        self.assertEqual(findings[0]["first_unix_ns"], begins[int(findings[0]["first"])])

    def test_ranks_with_records_of_different_sizes_are_joined(self):
        for rank, size in enumerate((1, 8, 4)):
            head = monitor_files.header(2000, pid=rank, began=rank)
            with open(os.path.join(self.dir, "monitor_a_%d_%x.ring" % (rank, rank)), "wb") as f:
                f.write(head + bytes(HEADER_BYTES - len(head)))
                for number in range(800 // size):
                    own = size * (1_000_000 if rank != 1 else 1_100_000)
                    f.write(monitor_files.record(number, number * size, size, 10**18 + number * size * 1_300_000, size * 1_300_000,
                                                 rank=rank, computing=own, communication=size * 1_300_000 - own))
        shown = self.top()
        self.assertEqual(shown["block"], 8)
        self.assertEqual([(f["shape"], f["rank"]) for f in shown["findings"]], [("rank", "rank 1")])

    def test_a_process_alone_waits_for_nobody(self):
        """A record of four steps costs four times what its mean step does, and blocked time without other ranks is not communication."""
        head = monitor_files.header(2000)
        with open(os.path.join(self.dir, "monitor_node_1_1.ring"), "wb") as f:
            f.write(head + bytes(HEADER_BYTES - len(head)))
            begin = 10**18
            for number in range(60):
                ns = 4 * (20_000_000 if 30 <= number < 40 else 10_000_000) + number % 3 * 4000
                f.write(monitor_files.record(number, number * 4, 4, begin, ns, cpu=ns // 10, preempted=0, resident=10**6))
                begin += ns
        shown = self.top()
        self.assertFalse(shown["is_waiting_guessed"])
        finding, = shown["findings"]
        self.assertEqual((finding["shape"], finding["first"], finding["last"]), ("steps", "120", "156"))
        self.assertAlmostEqual(finding["lost_us"], 40 * 10_000, delta=100)
        self.assertNotIn("communication", self.ascope("top", self.dir, "--once").stdout)

    def test_damaged_files_and_records_are_left_out(self):
        job = Job(2, seed=8)
        for _ in range(50):
            job.take()
        job.write(self.dir)
        path = sorted(glob.glob(glob.escape(self.dir) + "/*.ring"))[1]
        with open(path, "r+b") as f:
            f.seek(HEADER_BYTES + 20 * RECORD_BYTES + 30)
            f.write(b"?")
        for name, data in (("monitor_x_1_1.ring", b""), ("monitor_x_2_1.ring", b"ascope-monitor 1" + bytes(9000)), ("monitor_x_3_1.ring", b"\xff" * 5000)):
            with open(os.path.join(self.dir, name), "wb") as f:
                f.write(data)
        os.mkfifo(os.path.join(self.dir, "monitor_x_4_1.ring"))
        shown = self.top()
        self.assertEqual(len(shown["ranks"]), 2)
        _, records = monitor_files.read(path)
        self.assertEqual(len(records), 49)
        last = records[-1]
        self.assertEqual(shown["ranks"][1]["step"], last["step"] + 1)
        for n in range(0, 8000, 131):  # every so often a file that is cut short
            with open(path, "rb") as f:
                data = f.read(n)
            with open(os.path.join(self.dir, "monitor_x_5_1.ring"), "wb") as f:
                f.write(data)
            self.top()

    def test_a_restarted_rank_is_shown_once(self):
        for began in (1, 2):
            head = monitor_files.header(100, pid=began, began=began)
            with open(os.path.join(self.dir, "monitor_a_%d_%x.ring" % (began, began)), "wb") as f:
                f.write(head + bytes(HEADER_BYTES - len(head)))
                for number in range(20):
                    f.write(monitor_files.record(number, number, 1, 10**18 + (began * 20 + number) * 10**9, 10**9, rank=0))
        self.assertEqual([one["pid"] for one in self.top()["ranks"]], [2])

    def test_nothing_to_show(self):
        self.assertIn("no records", self.ascope("top", self.dir, code=1).stderr)
        self.assertIn("No such file", self.ascope("top", self.dir + "/none", code=1).stderr)
        self.ascope("top", code=2)


class TestWatch(Case):
    WINDOW = "200"

    def replay(self, *more):
        return json.loads(self.ascope("monitor", self.dir, "--replay", "--json", "--window", self.WINDOW, *more).stdout)["alarms"]

    def test_an_alarm_begins_and_ends_with_the_fault(self):
        job = Job(3, seed=9)
        for step in range(650):
            if step == 300:
                begin = job.now
            job.take(slow=[1] if 300 <= step < 400 else [], factor=1.3)
        job.write(self.dir)
        noted = os.path.join(self.dir, "noted")
        alarm, = self.replay("--hook", 'echo "$1 $2 $3" >> "%s"' % noted)
        self.assertEqual(alarm["rank"], 1)
        self.assertLess(abs(alarm["since_unix_ns"] - begin), 5e9)
        self.assertGreater(alarm["began_unix_ns"], alarm["since_unix_ns"])
        self.assertGreater(alarm["ended_unix_ns"], begin + 100e9)
        end = time.monotonic() + 100
        lines = []
        while time.monotonic() < end and len(lines) < 2:
            time.sleep(0.1)
            if os.path.exists(noted):
                with open(noted) as f:
                    lines = sorted(f.read().splitlines())
        self.assertEqual(lines, ["%s 1 %d" % (what, alarm["since_unix_ns"] // 10**9) for what in ("begins", "ends")])

    def test_a_healthy_job_has_no_alarm(self):
        job = Job(3, seed=10)
        for _ in range(400):
            job.take()
        job.write(self.dir)
        self.assertEqual(self.replay(), [])

    def served(self, *more):
        """The address at which the metrics of the directory are served."""
        watch = subprocess.Popen([ASCOPE, "monitor", self.dir, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
        self.addCleanup(self.end, watch)
        line = watch.stdout.readline()
        self.assertRegex(line, r"^metrics: http://127\.0\.0\.1:\d+/metrics$")
        return line.split()[1]

    def get(self, address, token=None):
        """The body, once the first look has made one."""
        request = urllib.request.Request(address, headers={"Authorization": "Bearer " + token} if token else {})
        for _ in range(300):
            with urllib.request.urlopen(request, timeout=60) as reply:
                text = reply.read().decode()
            if text:
                return text
            time.sleep(0.1)
        self.fail("no metrics")

    def test_metrics_are_the_sums_of_the_records(self):
        job = Job(3, seed=11)
        for _ in range(50):
            job.take()
        job.write(self.dir)
        address = self.served("--listen", "0")
        text = self.get(address)
        samples = dict(re.findall(r"^([a-z_]+(?:\{[^}]*\})?) (\S+)$", text, re.M))
        for path in glob.glob(glob.escape(self.dir) + "/*.ring"):
            _, records = monitor_files.read(path)
            rank = records[0]["rank"]
            for name, value in (('ascope_steps_total{rank="%d"}', 50), ('ascope_step_seconds_total{rank="%d"}', sum(r["time"] for r in records) / 1e9),
                                ('ascope_step_part_seconds_total{rank="%d",part="computing"}', sum(r["computing"] for r in records) / 1e9),
                                ('ascope_tokens_total{rank="%d"}', 50 * 4096), ('ascope_up{rank="%d"}', 0)):
                self.assertAlmostEqual(float(samples[name % rank]), value, delta=abs(value) * 1e-9)
        self.assertNotIn('part="gc"', text)  # not recorded: no sample, and not 0
        self.assertEqual(text.count("# TYPE ascope_step_part_seconds_total counter"), 1)
        for line in text.splitlines():
            self.assertRegex(line, r"^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+=\"[^\"]*\"(,[a-z]+=\"[^\"]*\")*\})? [0-9.e+-]+)$")
        newer = self.get(address.replace("/metrics", "/openmetrics"))
        self.assertTrue(newer.endswith("# EOF\n"))
        self.assertIn("# TYPE ascope_steps counter\n", newer)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.get(address.replace("/metrics", "/other"))
        refused.exception.close()
        if shutil.which("promtool"):  # Debian's package prometheus
            checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
            self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))
            rules = os.path.join(SOURCE, "examples/monitor/alerts.yml")
            checked = subprocess.run(["promtool", "check", "rules", rules], capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_token(self):
        token = os.path.join(self.dir, "token")
        with open(token, "w") as f:
            f.write("some thing\n")
        Job(1, seed=12).write(self.dir)
        address = self.served("--listen", "127.0.0.1:0", "--token-file", token)
        self.assertIn("ascope_alarms_total 0", self.get(address, "some thing"))
        for wrong in (None, "some", "some thing more", "some thinG"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.get(address, wrong)
            self.assertEqual(refused.exception.code, 401)
            refused.exception.close()

    def test_what_is_refused(self):
        for words, text in ((["--listen", "0.0.0.0:0"], "--token-file"), (["--listen", "x"], "expected a port"),
                            (["--listen", "0", "--token-file", self.dir + "/none"], "No such file")):
            self.assertIn(text, self.ascope("monitor", self.dir, *words, code=2).stderr)
        self.ascope("monitor", self.dir, "--json", code=2)
        self.ascope("monitor", self.dir, "--replay", code=1)


class TestRun(Case):
    def test_a_program_and_its_exit_code(self):
        job = subprocess.run([ASCOPE, "run", "--monitor", self.dir, "--", JOB, "-", "1", "0"], input="iterations 3\nstop\n",
                             capture_output=True, text=True, timeout=120)
        self.assertEqual((job.returncode, job.stderr), (0, ""))
        self.assertEqual(sum(one["n_steps"] for one in self.records()[1]), 2)
        self.assertEqual(self.ascope("run", "--monitor", self.dir, "--", "sh", "-c", "exit 7", code=7).stdout, "")
        self.assertIn("needs a program", self.ascope("run", "--monitor", self.dir, code=2).stderr)


assert len(VALUES) == 16
if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
