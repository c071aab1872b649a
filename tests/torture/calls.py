#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every call that can fail fails once: allocations, threads, each way to write and to read; and signals come in the middle.

usage: calls.py BUILD SOURCE [--quick] [--only KIND] [--jobs N]

A preloaded library (faults.c) counts the calls of an undisturbed run; then the command runs once for each of them, and that one
fails. After each run: a documented exit code, a line that says what is wrong, no temporary file, and every result either not
there or the same bytes as undisturbed.

What cannot be read of a session makes other results: without the device's part those are PyTorch's alone. They must be, byte for
byte, those of the same session in which what could not be read is missing, unreadable or empty, and a line must name it.
"""
import errno
import functools
import glob
import os
import re
import shutil
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Torture, after_any, after_nothing, differences, digest_of_content, tree  # noqa: E402

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
    ("communication", ["communication", "IN", "--out", "OUT", *ONE]),
    ("sim", ["sim", "--kernels", "30", "--steps", "1", "--out", "OUT"]),
    ("analyse", ["analyse", "SESSION", "--out", "OUT", "--export-type", "text,db", *ONE]),
    ("export-trace", ["export-trace", "SESSION", "OUT/trace.json.gz", *ONE]),
    ("export-stacks", ["export-stacks", "SESSION", "OUT/stacks.log", *ONE]),
    ("export-memory-timeline", ["export-memory-timeline", "SESSION", "OUT/memory.html", *ONE]),
    ("info of a session", ["info", "SESSION"]),
    ("why", ["why", "SESSION", *ONE]),
    ("advise", ["advise", "SESSION", *ONE]),  # its page has the path of the session, which is copied for some faults
    ("compare", ["compare", "SESSION", "SESSION", "--out", "OUT", *ONE]),
    ("cluster", ["cluster", "SESSION", "--out", "OUT", *ONE]),
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
# Calls that touch the input: what they cannot get is a loss, and the rest is exported.
INPUT = {"open", "stat", "opendir", "readdir", "map", "read"}
DIRECTORIES = {"opendir", "readdir"}  # which of their files were wanted, only the first of many complaints reports
HARMLESS = {errno.EINTR, "short"}  # to be done again, or to be continued
# In a hurry: two faults of each kind, of some commands; and only these go on and on.
HAS_PATHS = {"compare", "cluster"}  # their results have the path of the session: those of a copy are others
QUICK = 2
WITH_THREADS = ("alloc", "thread", "write")  # there the same call has other numbers each time
QUICK_COMMANDS = ("export with threads", "export", "info", "query", "communication", "sim", "analyse", "export-memory-timeline")
QUICK_ON = (errno.ENOMEM, errno.ENOSPC)


def remove(path):
    (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)


def forbid(path):
    """A link to itself: nobody can open it, root included."""
    remove(path)
    os.symlink(os.path.basename(path), path)


def empty(path):
    if os.path.isdir(path):
        shutil.rmtree(path)
        os.mkdir(path)
    else:
        os.truncate(path, 0)


STAND_INS = (remove, forbid, empty)


def reported_of(given, reported):
    """Files and directories of a session that lines name: as a whole path, or as a folder of the session or the device knows them."""
    names = [n.split(": ")[0] for n in re.findall(r"first: ([^\n,]+)", reported)] + re.findall(re.escape(given) + r"/([^:\n]+)", reported)
    found = set()
    for name in names:
        name = re.sub(r":\d+$", "", name.replace(given + "/", ""))
        for base in (given, *glob.glob(glob.escape(given) + "/PROF_*")):
            found.update(glob.glob(glob.escape(os.path.join(base, name)) + "*"))  # settings are reported without their number
    return frozenset(os.path.relpath(p, given) for p in found)


def name_of(how):
    return errno.errorcode.get(how, how) if isinstance(how, int) else how


class Calls(Torture):
    references = {}  # (command, what could not be read): results of the session without it

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

    def without(self, args, given, unread):
        """-> the results of the same session with stand-ins for what could not be read"""
        key = (tuple(args), unread)
        with self.lock:
            known = self.references.setdefault(key, {"lock": threading.Lock(), "trees": None})
        with known["lock"]:
            if known["trees"] is None:
                known["trees"] = [self.changed(args, given, unread, c) for c in (STAND_INS if unread else STAND_INS[:1])]
        return known["trees"]

    def changed(self, args, given, unread, change):
        source, out = os.path.join(self.new_dir("in"), os.path.basename(given)), self.new_dir("out")
        shutil.copytree(given, source)
        for path in sorted(unread):
            if os.path.lexists(os.path.join(source, path)):
                change(os.path.join(source, path))
        files = self.run(self.words(args, source, out), out, digest_of=digest_of_content).files
        shutil.rmtree(os.path.dirname(source))
        shutil.rmtree(out, ignore_errors=True)
        return files

    def after_unread(self, r, wanted, args, given, out, book):
        """What must hold when parts of a session could not be read. `book` has their paths; but some may have been read in another
        way (a file that cannot be mapped is copied), and of a directory only one file may have been wanted: which, is reported."""
        reported = "\n".join([r.err, *re.findall(r"damaged and skipped\n(.*?)\n\n", r.out + "\n\n", re.S),
                          *re.findall(r".*cannot be used.*\n.*", r.out)])
        hit = frozenset(os.path.relpath(p, given) for p in book if p.startswith(given + "/"))
        named, others = reported_of(given, reported), []
        if r.code != 0 and r.files:
            r = r._replace(files=tree(out, digest_of_content)[0])
            wanted = wanted._replace(files=self.without(args, given, frozenset())[0])
            for unread in (hit, named, hit | named):
                if unread and differences(r.files, wanted.files, others=others):
                    others += self.without(args, given, unread)
        yield from after_any(r, wanted, others=others)
        is_named = named or given in r.err or any(os.path.basename(p) in reported for p in hit)
        if r.code != 0 and len(hit) == len(book) and not is_named:
            yield "does not name %s: %s" % (sorted(hit)[:3], reported[-300:])

    def one(self, kind, args, given, wanted, call, n, how, and_on):
        out, book = self.new_dir("out"), self.new_dir("book")
        changes_input = how in ("shrink", "grow")
        source = given
        if changes_input:
            source = os.path.join(self.new_dir("in"), os.path.basename(given))
            shutil.copytree(given, source)
        r = self.run(self.words(args, source, out), out, program=self.program_of(call), call=call, at=n, how=how,
                     on=int(and_on), book=book)
        unread = set()
        if os.path.exists(book):
            with open(book) as f:
                unread = {line.rstrip("\n").replace(source, given) for line in f}
            os.unlink(book)
        if changes_input:
            r = r._replace(out=r.out.replace(source, given), err=r.err.replace(source, given))
            shutil.rmtree(os.path.dirname(source))
        what = "%s: FAULT_CALL=%s FAULT_AT=%d FAULT_HOW='%s' FAULT_ON=%d" % (" ".join(args), call, n, how, and_on)
        r = r._replace(out=r.out.replace(out, "OUT"), err=r.err.replace(out, "OUT"))
        if call == "unlink":  # what cannot be removed stays, until the next run sweeps it up
            r = r._replace(parts=[])
        if how in HARMLESS or how == "grow" or call == "thread":
            why = after_nothing(r, wanted)
        elif call in INPUT and args[0] in HAS_PATHS or call in DIRECTORIES and "SESSION" in args and and_on:
            why = after_any(r, wanted, may_lose=True, others=[r.files] if r.code else [])
        elif call in INPUT and "SESSION" in args:
            why = self.after_unread(r, wanted, args, given, out, unread)
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
                    for how in hows if name != "export with threads" or call in WITH_THREADS else ():
                        if args[0] in HAS_PATHS and how in ("shrink", "grow"):
                            continue
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
