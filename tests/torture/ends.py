#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command is ended in the middle, at many moments: by the kill that nobody survives, and by signals that ask for it.

usage: ends.py BUILD SOURCE [--quick] [--only KIND] [--jobs N]

After SIGKILL: what stands under a final name is whole, and the next export removes the rest and writes the same bytes as ever.
After SIGINT, SIGTERM and SIGHUP: nothing half-written is left, and whoever waits sees by which signal the command ended.
"""
import functools
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Torture, after_nothing, differences  # noqa: E402

COMMANDS = {
    "export": ["export", "all", "-dir", "IN", "--out", "OUT", "--threads", "1"],
    "export with threads": ["export", "all", "-dir", "IN", "--out", "OUT", "--threads", "3"],
    "communication": ["communication", "IN", "--out", "OUT"],
    "sim": ["sim", "--kernels", "30", "--steps", "1", "--out", "OUT"],
}
MOMENTS = ("write", "create", "close", "rename", "open", "map")  # before each of these calls
ASKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
QUICK = 2


class Ends(Torture):
    def killed(self, kind, args, wanted, out, call, n):
        what = "%s: FAULT_CALL=%s FAULT_AT=%d" % (" ".join(args), call, n)
        why = []
        r = self.run(args, out, call=call, at=n, how="signal 9")
        if r.code != -signal.SIGKILL and r.code != 0:  # with threads the number may not be reached
            why.append("ended with %s, not by the signal" % r.code)
        why += differences(r.files, wanted.files)
        if args[0] != "sim" or not r.files:
            why += ["the next run " + w for w in after_nothing(self.run(args, out), wanted)]
        self.hold(kind, what, why)
        shutil.rmtree(out)

    def asked(self, kind, args, wanted, out, call, n, number):
        r = self.run(args, out, call=call, at=n, how="signal %d" % number)
        why = []
        if r.code not in (-number, 0):
            why.append("ended with %s, not by signal %d: %s" % (r.code, number, r.err))
        if r.code == 0:  # it was done before the signal was noticed
            why += after_nothing(r, wanted)
        if r.parts:
            why.append("left %s" % ", ".join(r.parts))
        why += differences(r.files, wanted.files)
        self.hold(kind, "%s: FAULT_CALL=%s FAULT_AT=%d FAULT_HOW='signal %d'" % (" ".join(args), call, n, number), why)
        shutil.rmtree(out, ignore_errors=True)

    def end_early(self):
        given = self.sample("prof-a")
        jobs = []
        for name, words in COMMANDS.items():
            def placed(out):
                return [given if w == "IN" else out if w == "OUT" else w for w in words]
            out, book = self.new_dir("out"), self.new_dir("count")
            wanted = self.undisturbed(placed(out), out)
            shutil.rmtree(out)
            self.run(placed(out), out, count=book)
            with open(book) as f:
                counts = {k: int(v) for k, v in (line.split() for line in f)}
            for call in MOMENTS:
                for n in self.pick(counts[call], QUICK):
                    for number in (signal.SIGKILL, *ASKED):
                        kind = number.name + " in the middle"
                        if not self.wants("%s: %s" % (name, kind)):
                            continue
                        here = self.new_dir("out")
                        same = wanted._replace(out=wanted.out.replace(out, here))
                        f = self.killed if number == signal.SIGKILL else functools.partial(self.asked, number=number)
                        jobs.append(functools.partial(f, kind, placed(here), same, here, call, n))
        self.each(jobs)


if __name__ == "__main__":
    t = Ends(__doc__)
    t.end_early()
    t.end()
