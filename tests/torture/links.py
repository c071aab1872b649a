#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Directories of a collection that are exchanged for links to another one, at every moment of a run.

usage: links.py BUILD SOURCE [--quick] [--only KIND] [--jobs N]

The other collection has names of its own. Whatever happens, none of them is in a result, and nothing is written there.
"""
import ctypes
import functools
import glob
import os
import shutil
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Torture  # noqa: E402

OUTPUT, TABLES, GATHERED = "ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output", "cluster_analysis_output"
RECORDED = ("", "/FRAMEWORK", "/PROF_*", "/PROF_*/host", "/PROF_*/device_0", "/PROF_*/host/data", "/PROF_*/device_0/data")
READ = ("", "/FRAMEWORK", "/PROF_*/host/data", "/PROF_*/device_0/data")
NAMES = ((b"aten::", b"evil::"), (b"aclnn", b"Evil_"), (b"MatMul", b"EvilMl"), (b"Conv2D", b"EvilCv"), (b"python", b"evilpy"))
COMMANDS = (  # kind, words ({job}: a job that stays as it is), job, what is exchanged
    ("analyse", ("analyse",), "job", RECORDED + ("/" + OUTPUT, "/logs")),
    ("export", ("export", "all", "-dir"), "job", RECORDED + ("/PROF_*/" + TABLES,)),
    ("why", ("why",), "job", RECORDED),
    ("info", ("info",), "job", RECORDED),
    ("cluster", ("cluster",), "job", RECORDED + ("/" + OUTPUT, "../" + GATHERED)),
    ("advise", ("advise",), "job", READ),
    ("compare", ("compare", "{job}"), "job", READ),
    ("view", ("view", "--export=page.html"), "job", READ),
    ("summary", ("analyse", "--summary"), "job", READ),
    ("gate", ("gate", "--markdown=gate.md", "{job}", "--"), "job", READ),
    ("export-trace", ("export-trace", "{rank}", "trace.json"), "job", READ[1:]),  # the rank itself is named: it may be a link
    ("export-stacks", ("export-stacks", "{rank}", "stacks.log"), "job", READ[1:]),
    ("why of results", ("why",), "results", ("", "/" + OUTPUT)),
    ("cluster of results", ("cluster",), "results", ("", "/" + OUTPUT, "../" + GATHERED)),
    ("compare of results", ("compare", "{results}"), "results", ("", "/" + OUTPUT)),
    ("view of results", ("view", "--export=page.html"), "results", ("", "/" + OUTPUT)),
    ("recover", ("recover",), "killed", RECORDED),
    ("analyse what was killed", ("analyse",), "killed", RECORDED + ("/" + OUTPUT,)),
)


def marked(path):
    """All names in the files of a collection become others of the same length."""
    for base, _, files in os.walk(path):
        for file in files:
            full = os.path.join(base, file)
            with open(full, "rb") as f:
                data = f.read()
            for was, now in NAMES:
                data = data.replace(was, now)
            with open(full, "wb") as f:
                f.write(data)


def listing(path):
    found = {}
    for base, dirs, files in os.walk(path):
        for name in dirs + files:
            st = os.lstat(os.path.join(base, name))
            found[os.path.join(base, name)] = (st.st_size if name in files else 0, st.st_mtime_ns)
    return found


def exchange_until(done, a, b):
    """RENAME_EXCHANGE, again and again."""
    libc = ctypes.CDLL(None)
    while not done.is_set():
        libc.renameat2(-100, a.encode(), -100, b.encode(), 2)


class Links(Torture):
    def prepare(self, build):
        self.exchange = shutil.copy(os.path.join(build, "tests/torture/libexchange.so"), self.dir)
        self.jobs_of, self.others = {}, {}
        job = self.jobs_of["job"] = os.path.join(self.dir, "job")
        subprocess.run([self.ascope, "sim", "--framework", "pt", "--kernels", "20", "--steps", "2", "--ranks", "2", "--out", job],
                       check=True, capture_output=True)
        self.jobs_of["killed"] = os.path.join(self.dir, "killed")
        self.sample("own-killed", self.jobs_of["killed"])
        for kind, path in self.jobs_of.items():
            other = self.others[kind] = os.path.join(self.dir, "foreign-" + kind)
            shutil.copytree(path, other)
            for command in ("analyse", "cluster"):  # results are there, too, to be overwritten
                subprocess.run([self.ascope, command, other], check=kind == "job", capture_output=True)
            for base in (path, other) if kind == "job" else (other,):
                subprocess.run([self.ascope, "export", "all", "-dir", base], capture_output=True)
            marked(other)
        for command in ("analyse", "cluster"):
            subprocess.run([self.ascope, command, job], check=True, capture_output=True)
        for at in self.jobs_of, self.others:
            at["results"] = shutil.copytree(at["job"], at["job"] + "-results", ignore=shutil.ignore_patterns("FRAMEWORK", "PROF_*"))
        self.before = {kind: listing(path) for kind, path in self.others.items()}

    def one(self, kind, words, job, victim, what, at=0, looped=False, **how):
        """A run on a copy of the job, of which one directory is exchanged. -> the number of calls that could have been chosen"""
        top = self.new_dir("run")
        path, link, count = (os.path.join(top, name) for name in ("job", "link", "count"))
        shutil.copytree(self.jobs_of[job], path, symlinks=True)
        rank = sorted(glob.glob(path + "/*_ascend_pt"))[-1]
        found = glob.glob(path + victim[2:] if victim.startswith("../") else rank + victim)
        if not found:
            shutil.rmtree(top)
            return 0
        os.symlink(found[0].replace(path, self.others[job]), link)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("ASCOPE_", "EXCHANGE_"))}
        env.update({"LC_ALL": "C.UTF-8", "EXCHANGE_DIR": found[0], "EXCHANGE_LINK": link, "EXCHANGE_AT": str(at),
                    "EXCHANGE_COUNT": count})
        env.update({"EXCHANGE_" + k.upper(): "1" for k, wanted in how.items() if wanted})
        if not looped:
            env["LD_PRELOAD"] = self.exchange
        done = threading.Event()
        loop = threading.Thread(target=exchange_until, args=(done, found[0], link))
        if looped:
            loop.start()
        given = [w.format(rank=rank, **self.jobs_of) for w in words]
        r = subprocess.run([self.ascope, *given, *([] if rank in given else [path])], env=env, capture_output=True, timeout=120, cwd=top)
        if looped:
            done.set()
            loop.join()
        self.check(kind, "%s %s" % (victim or "the collection", what), job, top, r)
        n = 0
        if not looped:
            with open(count) as f:
                n = int(f.read())
        shutil.rmtree(top)
        return n

    def check(self, kind, what, job, top, r):
        why = ["ended with %d: %s" % (r.returncode, r.stderr[-300:])] if r.returncode not in (0, 1, 2, 3, *((4, 5) if kind.startswith("gate") else ())) else []
        said = r.stdout + r.stderr
        if b"evil" in said.lower() or b"foreign-" in said:
            why.append("names from elsewhere are printed: %s" % said[:300])
        for base, _, files in os.walk(top):
            for file in files:
                with open(os.path.join(base, file), "rb") as f:
                    if b"evil" in f.read().lower():
                        why.append("names from elsewhere are in %s" % os.path.relpath(os.path.join(base, file), top))
        now = listing(self.others[job])
        changed = [os.path.relpath(p, self.others[job]) for p in sorted(now.keys() | self.before[job].keys())
                   if now.get(p) != self.before[job].get(p)]
        if changed:
            why.append("written elsewhere: %s" % ", ".join(changed[:5]))
            self.before[job] = now
        self.hold("exchanged: " + kind, what, why[:3])

    def moments(self):
        for kind, words, job, victims in COMMANDS:
            for victim in victims if self.wants(kind) else ():
                row = (kind, words, job, victim)
                n = self.one(*row, "never")
                self.each(functools.partial(self.one, *row, "at %d%s" % (at, ", and back" if back else ""), at=at, back=back,
                                            plain=at % 2)
                          for back in (True, False) for at in self.pick(n + n // 2, 4))

    def loops(self):
        most = 2 if self.quick else 50
        for kind, words, job, victims in COMMANDS:
            for victim in victims if self.wants(kind) else ():
                self.each(functools.partial(self.one, kind + ", in a loop", words, job, victim, "run %d" % i, looped=True)
                          for i in range(most))


def main():
    t = Links(__doc__)
    t.prepare(os.path.abspath(sys.argv[1]))
    t.moments()
    t.loops()
    return t.end()


if __name__ == "__main__":
    sys.exit(main())
