#!/usr/bin/env python3
"""Every call that can fail fails once: allocations, threads, each way to write and to read; and signals come in the middle.

usage: calls.py BUILD SOURCE [--quick] [--only KIND] [--jobs N]

A preloaded library (faults.c) counts the calls of an undisturbed run; then the command runs once for each of them, and that one
fails. After each run: a documented exit code, a line that says what is wrong, no temporary file, and every result either not
there or the same bytes as undisturbed.
"""
import errno
import functools
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Torture, after_any, after_nothing  # noqa: E402

ONE = ["--threads", "1"]  # the same call has the same number every time
COLLECTIONS = ("prof-a", "collector-a/app-910a", "sim-310p")
SESSION = "pt-a-npu"
# (name, words of the command; IN is a collection or SESSION, OUT where results go)
COMMANDS = (
    ("export", ["export", "all", "-dir", "IN", "--out", "OUT", *ONE]),
    ("export --json", ["export", "all", "-dir", "IN", "--out", "OUT", "--json", *ONE]),
    ("export summary", ["export", "summary", "--format", "json", "-dir", "IN", "--out", "OUT", *ONE]),
    ("export with threads", ["export", "all", "-dir", "IN", "--out", "OUT", "--threads", "4"]),
    ("info", ["info", "IN"]),
    ("info --json", ["info", "IN", "--json"]),
    ("query", ["query", "IN", *ONE]),
    ("analyze", ["analyze", "IN", "--out", "OUT", *ONE]),
    ("sim", ["sim", "--kernels", "30", "--steps", "1", "--out", "OUT"]),
    ("analyse", ["analyse", "SESSION", "--out", "OUT", "--export-type", "text,db", *ONE]),
    ("export-trace", ["export-trace", "SESSION", "OUT/trace.json.gz", *ONE]),
    ("export-stacks", ["export-stacks", "SESSION", "OUT/stacks.log", *ONE]),
    ("export-memory-timeline", ["export-memory-timeline", "SESSION", "OUT/memory.html", *ONE]),
)
HOWS = {  # group of calls: (errno or kind of trouble, ...)
    "alloc": (errno.ENOMEM,),
    "thread": (errno.EAGAIN,),
    "write": (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EINTR, "short"),
    "create": (errno.ENOSPC, errno.EACCES, errno.EMFILE, errno.EINTR),
    "close": (errno.EIO, errno.ENOSPC, errno.EINTR),
    "rename": (errno.ENOSPC, errno.EIO, errno.EACCES),
    "mkdir": (errno.ENOSPC, errno.EACCES, errno.EIO),
    "truncate": (errno.EIO,),
    "sync": (errno.EIO,),
    "unlink": (errno.EIO,),
    "open": (errno.EACCES, errno.EMFILE, errno.EIO, errno.EINTR),
    "stat": (errno.EIO, errno.EACCES),
    "opendir": (errno.EACCES, errno.EMFILE, errno.EIO),
    "readdir": (errno.EIO,),
    "map": (errno.ENOMEM, errno.ENODEV, "shrink", "grow"),
    "read": (errno.EIO, errno.EINTR, "short", "end"),
}
# Calls that touch the input: what they cannot get is a loss, and the rest is exported. Not of sessions: without the device's
# part their results are others, which a comparison of bytes cannot judge.
INPUT = {"open", "stat", "opendir", "readdir", "map", "read"}
HARMLESS = {errno.EINTR, "short"}  # to be done again, or to be continued
# In a hurry: two faults of each kind, of some commands; and only these go on and on.
QUICK = 2
WITH_THREADS = ("alloc", "thread", "write")  # there the same call has other numbers each time
QUICK_COMMANDS = ("export with threads", "export", "info", "query", "analyze", "sim", "analyse", "export-memory-timeline")
QUICK_ON = (errno.ENOMEM, errno.ENOSPC)


def name_of(how):
    return errno.errorcode.get(how, how) if isinstance(how, int) else how


class Calls(Torture):
    def words(self, command, given, out):
        if any(w.startswith("OUT/") for w in command):
            os.makedirs(out, exist_ok=True)
        return [given if w in ("IN", "SESSION") else w.replace("OUT", out, 1) if w.startswith("OUT") else w for w in command]

    def program_of(self, call):
        return self.bare if call == "alloc" else self.ascope

    def counted(self, args, given):
        """-> an undisturbed run, and how many calls of each group it made"""
        out, book = self.new_dir("out"), self.new_dir("count")
        r = self.run(self.words(args, given, out), out, count=book)
        shutil.rmtree(out, ignore_errors=True)
        bare = self.run(self.words(args, given, out), out, program=self.bare, count=book + "bare")
        shutil.rmtree(out, ignore_errors=True)
        with open(book) as f, open(book + "bare") as g:
            counts, bare_counts = ({k: int(v) for k, v in (line.split() for line in b)} for b in (f, g))
        if (r.code, r.out) != (bare.code, bare.out):
            sys.exit("%s: ascope and ascope-bare do not do the same" % " ".join(args))
        return r._replace(out=r.out.replace(out, "OUT")), {**counts, "alloc": bare_counts["alloc"]}

    def one(self, kind, args, given, wanted, call, n, how, and_on):
        out = self.new_dir("out")
        changes_input = how in ("shrink", "grow")
        source = given
        if changes_input:
            source = os.path.join(self.new_dir("in"), os.path.basename(given))
            shutil.copytree(given, source)
        r = self.run(self.words(args, source, out), out, program=self.program_of(call), call=call, at=n, how=how,
                     on=int(and_on))
        if changes_input:
            r = r._replace(out=r.out.replace(source, given), err=r.err.replace(source, given))
            shutil.rmtree(os.path.dirname(source))
        what = "%s: FAULT_CALL=%s FAULT_AT=%d FAULT_HOW='%s' FAULT_ON=%d" % (" ".join(args), call, n, how, and_on)
        r = r._replace(out=r.out.replace(out, "OUT"), err=r.err.replace(out, "OUT"))
        if call == "unlink":  # what cannot be removed stays, until the next run sweeps it up
            r = r._replace(parts=[])
        if how in HARMLESS or how == "grow" or call == "thread":
            why = after_nothing(r, wanted)
        else:
            why = after_any(r, wanted, may_lose=call in INPUT)
        self.hold(kind, what, why)
        shutil.rmtree(out, ignore_errors=True)

    def goes_on(self, how):
        return how in QUICK_ON if self.quick else isinstance(how, int) and how not in HARMLESS

    def fail_calls(self):
        given = {c: self.sample(c) for c in (COLLECTIONS[:1] if self.quick else COLLECTIONS)}
        session = self.sample(SESSION)
        jobs = []
        for name, args in COMMANDS:
            if self.quick and name not in QUICK_COMMANDS:
                continue
            of_session = "SESSION" in args
            for sample, path in {SESSION: session}.items() if of_session else given.items():
                if "IN" not in args and not of_session and sample != COLLECTIONS[0]:
                    continue
                wanted, counts = self.counted(args, path)
                for call, hows in HOWS.items():
                    if of_session and call in INPUT:
                        continue
                    for how in hows if name != "export with threads" or call in WITH_THREADS else ():
                        for and_on in (False, True):
                            kind = "%s %s%s" % (call, name_of(how), ", and all after it" if and_on else "")
                            if not self.wants("%s: %s" % (name, kind)) or (and_on and not self.goes_on(how)):
                                continue
                            for n in self.pick(counts[call], QUICK):
                                jobs.append(functools.partial(self.one, kind, args, path, wanted, call, n, how, and_on))
        self.each(jobs)


if __name__ == "__main__":
    t = Calls(__doc__)
    t.fail_calls()
    t.end()
