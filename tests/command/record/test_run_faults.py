#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that go their own ways under `ascope run`, and collectors that are in trouble: the program never notices, and what was
collected is there.

usage: test_run_faults.py ASCOPE SOURCE_ROOT RUN_PROGRAM [unittest options]
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(3))

from cli_case import ASCOPE, Case  # noqa: E402: reads the other arguments


class Faults(Case):
    def one(self, place="o"):
        names = [n for n in os.listdir(os.path.join(self.dir, place)) if n.startswith("PROF_")]
        self.assertEqual(len(names), 1, names)
        return os.path.join(self.dir, place, names[0])

    def start(self, *words, out="o", **more):
        """A collector whose program has marked, and waits for a line of input."""
        p = subprocess.Popen([ASCOPE, "run", "--out", out, "--no-export", *words, PROGRAM, "wait"], cwd=self.dir, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        for pipe in (p.stdin, p.stdout, p.stderr):
            self.addCleanup(pipe.close)
        self.addCleanup(p.wait)
        self.ready(p)
        return p

    def ready(self, p):
        self.assertEqual(p.stdout.readline(), "ready\n")

    def go_on(self, p):
        p.stdin.write("\n")
        p.stdin.flush()
        self.ready(p)

    def marks(self, code=0):
        r = json.loads(self.ascope("export", "all", self.one(), "--json", code=code).stdout)
        return r["collections"][0]["counts"]["marks"]

    def program_of(self, p):
        """The number of the program that a collector has started."""
        with open("/proc/%d/task/%d/children" % (p.pid, p.pid)) as f:
            return int(f.read().split()[0])

    def test_under_nohup_the_end_of_a_terminal_ends_nothing(self):
        """Not the recording either: what the program marks behind it is there."""
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it stays so in the processes
        try:
            p = self.start()
        finally:
            signal.signal(signal.SIGHUP, before)
        p.send_signal(signal.SIGHUP)
        with open("/proc/%d/status" % p.pid) as f:
            status = dict(line.split(":\t") for line in f)
        self.assertEqual((int(status["SigBlk"], 16) | int(status["ShdPnd"], 16)) & 1, 0)  # nobody waits for it
        self.go_on(p)
        p.communicate("\n", timeout=60)
        self.assertEqual(p.returncode, 0)

    def test_the_collector_is_killed(self):
        p = self.start()
        p.kill()
        p.wait()
        self.go_on(p)  # the program does not know
        p.stdin.close()
        self.assertEqual(p.stdout.read(), "")  # and came to its own end
        self.assertEqual(self.marks(), 4)

    def test_the_program_is_killed(self):
        p = self.start()
        os.kill(self.program_of(p), signal.SIGKILL)
        self.assertEqual(p.wait(), 128 + signal.SIGKILL)
        self.assertIn("killed by signal 9 (SIGKILL)", p.stderr.read())
        self.assertEqual(self.marks(), 2)

    def test_both_are_killed(self):
        p = self.start(start_new_session=True)
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        self.assertEqual(self.marks(), 2)

    def test_the_rings_are_cut(self):
        """The program goes on, with marks and with calls of the operating system, which are recorded by two libraries."""
        p = self.start()
        os.truncate(os.path.join(self.one(), "ascope.rings"), 0)
        for _ in range(3):
            self.go_on(p)
        p.stdin.close()
        self.assertEqual(p.wait(), 0)
        self.assertIn("ascope.rings: truncated or changed by another program", p.stderr.read())
        self.ascope("export", "all", self.one(), code=3)

    def test_a_page_that_can_be_cut_is_not_used(self):
        p = self.start()
        with open("/proc/%d/environ" % self.program_of(p)) as f:
            env = dict(one.split("=", 1) for one in f.read().split("\0") if "=" in one)
        page = os.path.join(self.dir, "page")
        shutil.copyfile(env["ASCOPE_RUN"], page)
        other = subprocess.Popen([PROGRAM, "wait"], env=dict(env, ASCOPE_RUN=page), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready(other)
        os.truncate(page, 0)
        self.assertEqual(other.communicate("\n", timeout=60)[0], "ready\n")
        self.assertEqual(other.returncode, 0)
        p.communicate("", timeout=60)
        self.assertEqual(self.marks(), 2)

    def test_the_disk_is_full(self):
        place = os.path.join(self.dir, "small")
        os.mkdir(place)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "ascope-test", place], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("only root may mount")
        try:
            p = self.start(out="small")
            with open(os.path.join(place, "other"), "wb", buffering=0) as f:
                try:
                    while f.write(bytes(4096)):
                        pass
                except OSError:
                    pass
            for _ in range(20000):  # more than is in memory already
                p.stdin.write("\n")
            p.stdin.flush()
            for _ in range(20000):
                self.ready(p)
            p.stdin.close()
            self.assertEqual(p.wait(), 0)  # the program's
            self.assertIn("No space left", p.stderr.read())
            os.unlink(os.path.join(place, "other"))
            r = json.loads(self.ascope("export", "all", self.one("small"), "--json", code=3).stdout)
            c = r["collections"][0]
            dropped = sum(x["count"] for x in c["recording"]["dropped"])
            self.assertGreaterEqual(c["counts"]["marks"], 2)
            self.assertGreater(dropped, 0)
        finally:
            subprocess.run(["umount", "-l", place])

    def test_a_program_that_gives_everything_away(self):
        self.ascope("run", "--out", "o", "--no-export", PROGRAM, "bare", code=0)
        self.assertEqual(self.marks(), 42)

    def test_a_program_of_another_user_is_sampled(self):
        """Its code cannot reach the session; everything else is recorded as ever."""
        if os.geteuid() != 0 or subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", "true"],
                                               stderr=subprocess.DEVNULL).returncode:
            self.skipTest("only root may become another user")
        r = self.ascope("run", "--out", "o", "--host-sys", "cpu,mem", "--no-export", "setpriv", "--reuid", "65534", "--clear-groups",
                        "sh", "-c", "sleep 0.1; exit 6", code=6)
        self.assertNotIn("error", r.stderr)
        report = json.loads(self.ascope("export", "all", self.one(), "--json", code=0).stdout)["collections"][0]
        self.assertGreater(report["host"]["memory"]["peak_bytes"], 0)

    def test_the_output_is_as_without_us(self):
        words = ["sh", "-c", "echo out; echo err >&2; env | grep -cE '^(LD_PRELOAD|ASCOPE_RUN)='; ls /proc/self/fd | wc -l; exit 4"]
        plain = subprocess.run(words, capture_output=True, text=True, cwd=self.dir)
        r = self.ascope("run", "-q", "--out", "o", "--no-export", *words, code=4)
        lines, expected = r.stdout.split("\n"), plain.stdout.split("\n")
        self.assertEqual((lines[0], lines[2]), (expected[0], expected[2]))  # between them: our two variables
        self.assertIn("err\n", r.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
