# SPDX-License-Identifier: Apache-2.0
"""What all torture has in common: collections to work on, runs of the command, what must hold after any of them, a tally."""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading

STAMP_TIME = "1700000000"  # what time() answers: names of results can be compared
REPORTED = ("damaged and skipped", "cannot be used", '"damage": true', '"error": ')  # what was lost, in a report
MOST_SECONDS = 300
MOST_LINES = 5  # on stderr, however many files have the same trouble
TIMING = re.compile(r"^  \d+\.\d\d s: .*$|\"(read|analyse|write)\": [-+.e0-9]+", re.M)

Run = collections.namedtuple("Run", "code out err files parts")


class Torture:
    """One script: its options, its scratch directory, its tally and its complaints."""

    def __init__(self, doc):
        p = argparse.ArgumentParser(description=doc.splitlines()[0])
        p.add_argument("build", help="directory with ascope and tests/torture/libfaults.so")
        p.add_argument("source", help="root of the source")
        p.add_argument("--quick", action="store_true", help="a few of each kind only")
        p.add_argument("--share", type=int, default=1, metavar="N", help="one of N faults of each kind only")
        p.add_argument("--only", default="", help="only kinds that hold this text")
        p.add_argument("--jobs", type=int, default=os.cpu_count())
        p.add_argument("--most", type=int, default=20, help="complaints that are shown")
        a = p.parse_args()
        self.data = os.path.join(os.path.abspath(a.source), "tests/data")
        self.quick, self.share, self.only, self.jobs, self.most = a.quick, a.share, a.only, a.jobs, a.most
        self.tally, self.complaints = collections.Counter(), []
        self.lock = threading.Lock()
        self.dir = tempfile.mkdtemp(prefix="ascope-torture-", dir=fast_dir())
        os.chmod(self.dir, 0o755)  # some runs are those of another user
        self.n_dirs = 0
        # Copies: who builds meanwhile does not change what is tested.
        self.ascope = shutil.copy(os.path.join(a.build, "ascope"), self.dir)
        self.bare = shutil.copy(os.path.join(a.build, "tests/torture/ascope-bare"), self.dir)
        self.library = shutil.copy(os.path.join(a.build, "tests/torture/libfaults.so"), self.dir)

    def wants(self, kind):
        return self.only in kind

    def new_dir(self, name="t"):
        with self.lock:
            self.n_dirs += 1
            return os.path.join(self.dir, "%s%d" % (name, self.n_dirs))

    def sample(self, name, to=None):
        """-> a writable copy of a collection of tests/data; sim-* are made."""
        base = os.path.join(self.data, name)
        to = to or self.new_dir("in")
        os.makedirs(to, exist_ok=True)
        if os.path.exists(os.path.join(base, "command")):
            with open(os.path.join(base, "command")) as f:
                subprocess.run([self.ascope, "sim", "--out", to, *f.read().split()], check=True, stdout=subprocess.DEVNULL)
            return glob.glob(to + "/PROF_*")[0]
        given = (glob.glob(base + "/PROF_*") + glob.glob(base + "/raw/*_ascend_pt"))[0]
        path = os.path.join(to, os.path.basename(given))
        shutil.copytree(given, path, copy_function=shutil.copyfile)
        for base, _, files in os.walk(path):
            os.chmod(base, 0o755)
        return path

    def environment(self, **fault):
        e = {k: v for k, v in os.environ.items() if not k.startswith(("ASCOPE_", "FAULT_"))}
        # What is freed is overwritten: who still reads it, shows.
        e.update({"LC_ALL": "C.UTF-8", "LD_PRELOAD": self.library, "FAULT_TIME": STAMP_TIME, "MALLOC_PERTURB_": "165"})
        e.update({"FAULT_" + k.upper(): str(v) for k, v in fault.items()})
        return e

    def run(self, args, out=None, timeout=MOST_SECONDS, before=(), program=None, digest_of=None, **fault):
        """Runs the command; `out` is where its results will be, and `digest_of` how they are compared: byte for byte, unless reported."""
        if args[0] == "sim" and out:
            os.makedirs(out, exist_ok=True)
        try:
            r = subprocess.run([*before, program or self.ascope, *args], capture_output=True,
                               env=self.environment(**fault), timeout=timeout, stdin=subprocess.DEVNULL)
            code, said, err = r.returncode, r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            code, said, err = "hung for %d s" % timeout, "", ""
        files, parts = tree(out, digest_of or digest) if out else ({}, [])
        return Run(code, TIMING.sub("", said), err, files, parts)

    def undisturbed(self, args, out):
        """What the command does when nothing is wrong."""
        r = self.run(args, out)
        if r.code != 0:
            sys.exit("undisturbed, ascope %s ends with %s: %s" % (" ".join(args), r.code, r.err))
        return r

    def complain(self, what, why):
        with self.lock:
            self.complaints.append("%s: %s" % (what, why))
            if len(self.complaints) <= self.most:
                print("  %s: %s" % (what, why), flush=True)

    def count(self, kind, n=1):
        with self.lock:
            self.tally[kind] += n

    def hold(self, kind, what, why):
        """Counts a fault; `why` are complaints, none when everything holds."""
        self.count(kind)
        for w in why:
            self.complain("%s, %s" % (kind, what), w)

    def each(self, jobs):
        """Runs functions, some at a time."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for f in [pool.submit(j) for j in jobs]:
                f.result()

    def pick(self, n, most):
        """Of 1 … n all, or in a hurry `most` of them, spread evenly and with both ends."""
        if not self.quick or n <= most:
            return range(1 + n % self.share, n + 1, self.share) if n > most else range(1, n + 1)
        return sorted({1 + i * (n - 1) // (most - 1) for i in range(most)})

    def end(self):
        make_removable(self.dir)
        shutil.rmtree(self.dir, ignore_errors=True)
        tally = ["%d %s\n" % (n, kind) for kind, n in self.tally.items()]
        if "TORTURE_TALLY" in os.environ:
            with open(os.environ["TORTURE_TALLY"], "a") as f:
                f.writelines(tally)
        else:
            sys.stdout.writelines(tally)
        if self.complaints:
            print("%d complaints" % len(self.complaints))
        sys.exit(1 if self.complaints else 0)


def fast_dir():
    """Memory rather than a disk, unless it is reported otherwise: that is five times as fast."""
    memory = "/dev/shm"
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK) or os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return None
    return memory


def make_removable(top):
    os.chmod(top, 0o755)
    for base, dirs, _ in os.walk(top):
        for d in dirs:
            if not os.path.islink(os.path.join(base, d)):
                os.chmod(os.path.join(base, d), 0o755)


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def digest_of_content(path):
    """The same, but of databases without what they say of losses: the count depends on how much nobody could look at."""
    if not path.endswith(".db"):
        return digest(path)
    with sqlite3.connect("file:%s?mode=ro" % path, uri=True) as db:
        rows = [row for row in db.iterdump() if "'ASCOPE_LOST_" not in row]
    db.close()
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def tree(top, digest_of=digest):
    """-> {path of a result: digest}, [what was left half-done]"""
    files, parts = {}, []
    for base, dirs, names in os.walk(top):
        for n in names + dirs:
            path = os.path.join(base, n)
            if ".part-" in n or n.endswith("-journal") or n.endswith("-wal"):
                parts.append(os.path.relpath(path, top))
            elif n in names:
                files[os.path.relpath(path, top)] = digest_of(path)
        dirs[:] = [d for d in dirs if ".part-" not in d and d != "logs"]  # a log reports what this run did
    return files, parts


def differences(found, wanted, is_done=False, others=()):
    """Files that are not what an undisturbed run writes, nor what one of the `others` does. README.txt and analyse.done list
    what is known to be written, and was lost: something else, with trouble."""
    return ["%s differs from that of an undisturbed run" % f for f, d in found.items()
            if d not in {w.get(f) for w in (wanted, *others)} and (is_done or not f.endswith(("README.txt", "analyse.done")))]


def after_any(r, wanted, may_lose=False, others=()):
    """What must hold whatever happened. `may_lose`: parts of the input may have been unreadable. `others`: results that are as good
    as those of an undisturbed run."""
    if r.code not in (0, 1, 3):
        yield "ended with %s: %s" % (r.code, r.err.strip()[:300])
        return
    if r.parts:
        yield "left %s" % ", ".join(r.parts)
    lines = r.err.splitlines()
    if any(not line.startswith("ascope: ") for line in lines):
        yield "said something that is no line of ascope's: %s" % r.err
    if len(lines) > MOST_LINES:
        yield "said %d lines: %s" % (len(lines), r.err[:300])
    if r.err != wanted.err and lines and not any(";" in line for line in lines):
        yield "does not say what to do: %s" % r.err
    lost = any(t in r.out for t in REPORTED)
    if r.code == 0:
        if r.files.keys() != wanted.files.keys():
            yield "ended with 0, but without %s" % sorted(wanted.files.keys() ^ r.files.keys())
        if r.out != wanted.out or r.err != wanted.err:
            yield "ended with 0, but said something else: %s" % (r.err or first_difference(r.out, wanted.out))
    elif not lines and not lost:
        yield "ended with %d without a word" % r.code
    elif r.code == 1 and not lines:
        yield "ended with 1, and said only: %s" % r.out[-300:]
    if r.code == 1 and r.files and "a power cut may take" not in r.err:  # whole, but not synced
        yield "ended with 1 and left %s" % sorted(r.files)[:3]
    if not (may_lose and lost):
        yield from differences(r.files, wanted.files, is_done=r.code == 0, others=others)


def after_nothing(r, wanted):
    """What must hold when nothing was to be noticed at all."""
    if r.code != wanted.code:
        yield "ended with %s, not %d: %s" % (r.code, wanted.code, r.err[:300])
    if r.parts:
        yield "left %s" % ", ".join(r.parts)
    if r.files != wanted.files:
        yield "wrote something else: %s" % sorted(k for k in r.files.keys() | wanted.files.keys()
                                                  if r.files.get(k) != wanted.files.get(k))
    if r.out != wanted.out or r.err != wanted.err:
        yield "said something else: %s" % (r.err or first_difference(r.out, wanted.out))


def first_difference(a, b):
    for x, y in zip(a.splitlines(), b.splitlines()):
        if x != y:
            return "%r, not %r" % (x, y)
    return "%d bytes, not %d" % (len(a), len(b))
