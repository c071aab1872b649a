#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places that are full, small, forbidden, shared, or not what they seem.

usage: places.py BUILD SOURCE [--quick] [--only KIND] [--jobs N]

A full disk at every stage, limits of the system, several exports at once, and anything but a plain file where a file should be.
"""
import functools
import os
import re
import shutil
import socket
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Torture, after_any, after_nothing, differences, make_removable, tree  # noqa: E402

SAMPLE = "prof-a"
ONE_FILE = "device_0/data/hbm.data.0.slice_0"
SETTINGS = "host/info.json"


class Places(Torture):
    def export(self, given, out, **more):
        r = self.run(["export", "all", "-dir", given, "--out", out, "--threads", str(more.pop("threads", 2))], out, **more)
        return r._replace(out=r.out.replace(out, "OUT"), err=r.err.replace(out, "OUT"))

    def prepare(self):
        self.given = self.sample(SAMPLE)
        self.wanted = self.export(self.given, self.new_dir("out"))
        if self.wanted.code != 0:
            sys.exit("undisturbed, the export ends with %s: %s" % (self.wanted.code, self.wanted.err))

    # ---- limits -----------------------------------------------------------------------------------------------------

    def limited(self, kind, option, value):
        out = self.new_dir("out")
        r = self.export(self.given, out, before=["prlimit", "--%s=%d" % (option, value)])
        self.hold(kind, "--%s=%d" % (option, value), after_any(r, self.wanted, may_lose=True))
        shutil.rmtree(out, ignore_errors=True)

    def loaded_mib(self):
        """With less the loader of the system ends the program before its first line."""
        return next(n for n in range(8, 64) if subprocess.run(["prlimit", "--as=%d" % (n << 20), self.ascope, "--version"],
                                                              capture_output=True).returncode == 0)

    def limits(self):
        """What the system allows grows from nothing to enough."""
        if not shutil.which("prlimit"):
            print("  no prlimit: limits are not tried")
            return
        rows = (
            ("fsize", [0, 1, 100] + [1 << n for n in range(9, 20)]),
            ("as", [n << 20 for n in range(self.loaded_mib(), 330, 40 if self.quick else 6)]),
            ("nofile", range(4, 24, 3 if self.quick else 1)),
            ("stack", [64 << 10, 256 << 10, 1 << 20]),
        )
        self.each(functools.partial(self.limited, "limit: " + option, option, value) for option, values in rows
                  for value in values if self.wants("limit: " + option))

    def full_disk(self):
        """A file system that holds ever more of the results."""
        kind = "full disk"
        if not self.wants(kind):
            return
        disk = self.new_dir("disk")
        os.mkdir(disk)
        for kib in range(16, 1500, 250 if self.quick else 24):
            done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dk" % kib, "tmpfs", disk], capture_output=True,
                                  text=True)
            if done.returncode != 0:
                print("  no right to mount: a real full disk is not tried (%s)" % done.stderr.strip())
                return
            try:
                r = self.export(self.given, os.path.join(disk, "out"))
                self.hold(kind, "%d KiB" % kib, after_any(r, self.wanted))
            finally:
                subprocess.run(["umount", disk], check=True)

    # ---- several at once --------------------------------------------------------------------------------------------

    def together(self):
        """Exports at the same time into the same directory, given or the collection's own."""
        for n in (2, 4):
            for inside in (False, True):
                kind = "%d exports at once%s" % (n, " inside the collection" if inside else "")
                for round in range(1 if self.quick else 6):
                    if not self.wants(kind):
                        continue
                    out = self.new_dir("out")
                    given = self.sample(SAMPLE, out) if inside else self.given
                    args = ["export", "all", "-dir", given, "--quiet"] + ([] if inside else ["--out", out])
                    # One second later results have other names, and must be the same all the same.
                    all = [subprocess.Popen([self.ascope, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                            env=dict(self.environment(), FAULT_TIME=str(1700000000 + i % 2)))
                           for i in range(n)]
                    said = [p.communicate(timeout=60)[0].decode() for p in all]
                    files, parts = tree(out)
                    results = {f: d for f, d in files.items() if "mindstudio" in f or f.endswith(".db")}
                    why = ["ended with %d: %s" % (p.returncode, s) for p, s in zip(all, said) if p.returncode or s]
                    why += ["left " + p for p in parts]
                    for wanted, d in self.wanted.files.items():
                        if wanted.endswith("README.txt"):
                            continue
                        for name in (wanted, wanted.replace("20231114221320", "20231114221321")):
                            if results.get(name) != d:
                                why.append("%s is %s" % (name, "different" if name in results else "missing"))
                    self.hold(kind, "round %d" % round, why)
                    shutil.rmtree(out)

    # ---- what stands where a file should be -------------------------------------------------------------------------

    def changed(self, what, change, code, *says, equal=False):
        """Exports a collection that `change` was done to. `says`: parts of what it must say then."""
        kind = "something else where a file should be"
        if not self.wants("%s: %s" % (kind, what)):
            return
        given, out = self.sample(SAMPLE), self.new_dir("out")
        change(given)
        r = self.run(["export", "all", "-dir", given, "--out", out], out)
        why = []
        if r.code != code:
            why.append("ended with %s, not %d: %s%s" % (r.code, code, r.err, r.out[-200:]))
        why += ["does not say %r: %s%s" % (s, r.err, r.out[-300:]) for s in says if s not in r.out + r.err]
        why += ["left " + p for p in r.parts]
        if equal:
            why += differences(r.files, self.wanted.files)
        self.hold(kind, what, why)
        make_removable(given)
        shutil.rmtree(os.path.dirname(given))
        shutil.rmtree(out, ignore_errors=True)

    def stand_ins(self):
        def instead(name, make):
            def change(given):
                path = os.path.join(given, name)
                if os.path.isdir(path):
                    shutil.move(path, os.path.join(os.path.dirname(given), "moved"))
                else:
                    os.unlink(path)
                make(path)
            return change

        def make_socket(path):
            here = os.getcwd()
            s = socket.socket(socket.AF_UNIX)
            os.chdir(os.path.dirname(path))  # such names are short
            s.bind(os.path.basename(path))
            os.chdir(here)

        def device(path):
            try:
                os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
            except PermissionError:
                os.symlink("/dev/zero", path)

        outside = os.path.join(self.given, ONE_FILE)
        makes = {
            "a FIFO": os.mkfifo,
            "a socket": make_socket,
            "a device": device,
            "a directory": os.mkdir,
            "a link out of the collection": lambda p: os.symlink(outside, p),
            "a link to itself": lambda p: os.symlink(os.path.basename(p), p),
            "a link to nothing": lambda p: os.symlink("nothing", p),
        }
        for what, make in makes.items():
            self.changed("%s instead of a data file" % what, instead(ONE_FILE, make), 3, ONE_FILE, "could not be read")
            self.changed("%s instead of settings" % what, instead(SETTINGS, make), 3, SETTINGS)
            self.changed("%s instead of optional settings" % what, instead("host/sample.json", make), 3, "host/sample.json")
            if what != "a directory":
                self.changed("%s instead of data/" % what, instead("device_0/data", make), 3, "device_0/data")
        self.changed("a folder that is a link", instead("device_0", lambda p: os.symlink("../moved", p)), 3,
                     "device_0")
        self.changed("a link back to the collection", lambda p: os.symlink("..", os.path.join(p, "host/data/loop")), 0,
                     equal=True)
        self.changed("a folder whose name is only alike", lambda p: os.mkdir(os.path.join(p, "device_zzz")), 0, equal=True)

        def nothing_left(given):
            for base, _, names in os.walk(given):
                for n in names:
                    os.truncate(os.path.join(base, n), 0)
        self.changed("everything has no length", nothing_left, 1, "info.json")

    # ---- rights -----------------------------------------------------------------------------------------------------

    def someone(self):
        """Root may do everything; these faults need someone who may not."""
        if os.geteuid() != 0:
            return []
        return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if shutil.which("setpriv") else None

    def rights(self):
        someone = self.someone()
        if someone is None:
            print("  root, and no setpriv to become someone else: rights are not tried")
            return
        free = self.new_dir("free")
        os.mkdir(free)
        os.chmod(free, 0o777)

        def forbid(name, mode=0):
            def change(given):
                os.chmod(os.path.dirname(given), 0o755)
                os.chmod(os.path.join(given, name), mode)
            return change

        def elsewhere(what, change, code, *says):
            if not self.wants("rights: " + what):
                return
            given, out = self.sample(SAMPLE), os.path.join(free, what.replace(" ", "_"))
            change(given)
            r = self.run(["export", "all", "-dir", given, "--out", out], out, before=someone)
            why = ["ended with %s, not %d: %s" % (r.code, code, r.err)] if r.code != code else []
            why += ["does not say %r: %s%s" % (s, r.err, r.out[-300:]) for s in says if s not in r.out + r.err]
            if code == 0:
                why += differences(r.files, self.wanted.files)
            self.hold("rights", what, why + ["left " + p for p in r.parts])
            make_removable(given)

        def read_only(given):
            for base, _, _ in os.walk(given):
                os.chmod(base, 0o555)

        elsewhere("a collection that may not be written", read_only, 0)
        elsewhere("a file that may not be read", forbid(ONE_FILE), 3, ONE_FILE)
        elsewhere("data that may not be read", forbid("device_0/data"), 3, "device_0/data")
        elsewhere("a folder that may not be read", forbid("device_0"), 3, "device_0", "ermission")
        elsewhere("settings that may not be read", forbid(SETTINGS), 3, SETTINGS)
        elsewhere("data without the right to enter", forbid("device_0/data", 0o444), 3, "device_0/data")
        elsewhere("a collection that may not be read", forbid("."), 1, "ermission", "ask its owner")
        if self.wants("rights: no right to write, and no --out"):
            given = self.sample(SAMPLE)
            read_only(given)
            r = self.run(["export", "all", "-dir", given], None, before=someone)
            why = [] if r.code == 1 and "--out" in r.err and r.err.count("\n") == 1 else ["ended with %s: %s" % (r.code, r.err)]
            self.hold("rights", "no right to write, and no --out", why)
            make_removable(given)

    # ---- paths ------------------------------------------------------------------------------------------------------

    def paths(self):
        name = os.path.basename(self.given)
        odd = {
            "spaces": "a b  c",
            "quotes": "it's \"quoted\" `so` $HOME;&|<>*?[]",
            "not ASCII": "프로필 été Ω",
            "no UTF-8": b"\xff\xfe".decode(errors="surrogateescape"),
            "a dash": "-dir",
            "a percent sign": "%s%n%d",
            "a backslash": "a\\nb\\",
        }
        for what, part in odd.items():
            kind = "odd paths"
            if not self.wants("%s: %s" % (kind, what)):
                continue
            top = os.path.join(self.new_dir("odd"), part)
            given, out = self.sample(SAMPLE, top), os.path.join(top, "out " + part)
            r = self.export(given, out)
            why = [] if r.code == 0 else ["ended with %s: %s" % (r.code, r.err)]
            self.hold(kind, what, why + differences(r.files, self.wanted.files))
        top = self.new_dir("long")
        for length in (1000, 3000, 3800, 3990, 4050, 4090, 4200, 9000):
            kind = "long paths"
            if not self.wants(kind):
                continue
            # Made from inside: no system call takes the whole of it.
            os.makedirs(top, exist_ok=True)
            rest = max(0, length - len(top) - len(name) - 2)
            parts = ["x" * 200] * (rest // 201) + ["y" * (rest % 201)] * (rest % 201 > 0)
            deep = "/".join([top] + parts)
            fd = os.open(top, os.O_RDONLY)
            for p in parts:
                try:
                    os.mkdir(p, dir_fd=fd)
                except FileExistsError:
                    pass
                next = os.open(p, os.O_RDONLY, dir_fd=fd)
                os.close(fd)
                fd = next
            r = subprocess.run([self.ascope, "export", "all", "-dir", self.given, "--out", deep], capture_output=True,
                               env=self.environment(), timeout=60)
            err = r.stderr.decode()
            os.close(fd)
            why = []
            if r.returncode not in (0, 1, 2, 3):
                why.append("ended with %d" % r.returncode)
            if r.returncode != 0 and (not 1 <= err.count("\n") <= 4 or not re.search("long|characters", err)):
                why.append("ended with %d: %s" % (r.returncode, err[-600:]))
            self.hold(kind, "%d characters" % length, why)
        subprocess.run(["rm", "-rf", top], check=True)

    def outs(self):
        def place(what, out, code, *says, prepare=lambda given: None):
            if not self.wants("odd places for results: " + what):
                return
            given = self.sample(SAMPLE)
            prepare(given)
            path = out(given)
            r = self.run(["export", "all", "-dir", given, "--out", path], path if os.path.isdir(path) else None)
            files, parts = tree(path) if os.path.isdir(path) else ({}, [])
            why = ["ended with %s, not %d: %s" % (r.code, code, r.err)] if r.code != code else []
            why += ["does not say %r: %s" % (s, r.err) for s in says if s not in r.err]
            if code == 0:
                why += ["%s is missing" % f for f in self.wanted.files if f not in files]
            elif r.err.count("\n") != 1:
                why.append("said: " + r.err)
            self.hold("odd places for results", what, why + ["left " + p for p in parts])

        def file_at(name):
            def prepare(given):
                with open(os.path.join(os.path.dirname(given), name), "w") as f:
                    f.write("mine")
            return prepare

        beside = lambda name: lambda given: os.path.join(os.path.dirname(given), name)  # noqa: E731
        place("--out is a file", beside("file"), 1, "--out", prepare=file_at("file"))
        place("--out below a file", beside("file/out"), 1, "--out", prepare=file_at("file"))
        place("--out whose parent is missing", beside("no/such/dir"), 1, "--out")
        place("--out is a link to nothing", beside("link"), 1, "link",
              prepare=lambda given: os.symlink("nothing", os.path.join(os.path.dirname(given), "link")))
        place("--out inside the collection", lambda given: os.path.join(given, "out"), 0)
        place("--out is the collection", lambda given: given, 0)
        place("--out among its data", lambda given: os.path.join(given, "host/data"), 0)
        place("--out holds a file of the collection's name", beside("out"), 1, "--out",
              prepare=lambda given: (os.mkdir(beside("out")(given)),
                                     open(os.path.join(beside("out")(given), os.path.basename(given)), "w").close()))


if __name__ == "__main__":
    t = Places(__doc__)
    t.prepare()
    t.limits()
    t.full_disk()
    t.together()
    t.stand_ins()
    t.rights()
    t.paths()
    t.outs()
    t.end()
