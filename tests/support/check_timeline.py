#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds a timeline to the rules of the Trace Event format as its viewers apply them.

    check_timeline.py [--double] [--allow RULE]... [--show N] FILE...

Viewers sort events by time (of slices that begin together the longer first, everything else after them), keep a
stack of open slices for each track, and count time in whole nanoseconds.  A slice that begins inside another and ends
after it is dropped or moved elsewhere; a flow is tied to the slice on top of its track's stack; one whose end comes
before its start, or that meets no slice, is not drawn; ids of processes and threads have 32 bits.  RULES says what is
checked.

Times are taken from the text of the file, exactly.  With --double they pass through an IEEE double first, as they do in
a viewer: microseconds since 1970 keep only quarters of a microsecond there.
Exit status: 0 the file keeps the rules, 1 it does not, 2 it cannot be read.
"""
import argparse
import collections
import json
import math
import sys
from decimal import Decimal, InvalidOperation

RULES = {
    "json": "the file is JSON: an array of objects, or an object with traceEvents",
    "member": "an event has the members that its phase needs, each of the right kind",
    "phase": "the phase is one that viewers know",
    "number": "process and thread ids are whole numbers of 32 bits, times and durations are not negative",
    "nest": "slices of one track nest or are disjoint",
    "no-slice": "a flow's end lies on a slice of its track",
    "no-start": "a flow that ends has a start, and not later than its end",
    "no-end": "a flow that starts has an end",
    "same-start": "a flow (category, name, id) starts once",
    "process-name": "a process with events has one name",
    "thread-name": "where threads have names, each thread with slices has one",
    "counter": "a counter's values are finite numbers",
    "rounded": "with --double: a time is the same nanosecond after the conversion",
}
NEEDS = {
    "X": ("name", "pid", "tid", "ts", "dur"), "C": ("name", "pid", "ts", "args"), "M": ("name", "pid", "args"),
    "s": ("name", "pid", "tid", "ts", "cat", "id"), "t": ("name", "pid", "tid", "ts", "cat", "id"),
    "f": ("name", "pid", "tid", "ts", "cat", "id"), "i": ("name", "pid", "tid", "ts"),
    "I": ("name", "pid", "tid", "ts"),
}


class Number(str):
    """A JSON number with a point or an exponent, as it is written."""
    __slots__ = ()


def exact_ns(text):
    """Microseconds, as text, to the nearest whole nanosecond."""
    whole, point, decimals = text.partition(".")
    if len(decimals) <= 3 and whole.isdigit() and (decimals.isdigit() or not decimals):
        return int(whole) * 1000 + int(decimals.ljust(3, "0"))
    v = Decimal(text) * 1000
    return math.floor(abs(v) + Decimal("0.5")) * (1 if v >= 0 else -1)


def double_ns(text):
    v = float(text)
    return int(v) * 1000 if v == int(v) else math.floor(abs(v * 1000.0) + 0.5) * (1 if v >= 0 else -1)


class Timeline:
    """One file; after check(), `broken` counts the violations of each rule and `samples` reports the first ones."""

    def __init__(self, double=False, show=3):
        self.double, self.show = double, show
        self.broken, self.samples = collections.Counter(), collections.defaultdict(list)
        self.phases = collections.Counter()
        self.tracks = collections.defaultdict(list)     # (pid, tid) -> (ns, -duration, file order, phase, what)
        self.processes, self.threads, self.seen = {}, {}, set()
        self.count = 0

    def say(self, rule, text):
        self.broken[rule] += 1
        if len(self.samples[rule]) < self.show:
            self.samples[rule].append(text)

    def ns(self, value, where):
        if isinstance(value, int) and not isinstance(value, bool):
            return value * 1000
        if not isinstance(value, str):
            self.say("member", "%s: %r is no time" % (where, value))
            return None
        try:
            exact = exact_ns(value)
        except (InvalidOperation, ValueError, OverflowError):
            self.say("member", "%s: %r is no time" % (where, value))
            return None
        if not self.double:
            return exact
        rounded = double_ns(value)
        if rounded != exact:
            self.say("rounded", "%s: %s us becomes %d ns" % (where, value, rounded))
        return rounded

    def identity(self, value, where, what):
        if isinstance(value, bool) or not isinstance(value, int):
            self.say("member", "%s: %s %r is no whole number" % (where, what, value))
        elif not 0 <= value < 2 ** 32:
            self.say("number", "%s: %s %d does not fit into 32 bits" % (where, what, value))

    def take(self, e):
        """Called for each JSON object; what is no event is handed back as it is."""
        phase = e.get("ph")
        if phase is None or not ("pid" in e or "ts" in e):
            return e
        self.count += 1
        where = "event %d (%s %.60s)" % (self.count, phase, e.get("name"))
        self.phases[phase] += 1
        if phase not in NEEDS:
            self.say("phase", where)
            return None
        missing = [m for m in NEEDS[phase] if m not in e]
        if missing:
            self.say("member", "%s: no %s" % (where, ", ".join(missing)))
            return None
        name, pid, tid = e["name"], e["pid"], e.get("tid", 0)
        if type(name) is not str:
            self.say("member", "%s: the name is no text" % where)
        if (pid, tid) not in self.seen:
            self.identity(pid, where, "pid")
            self.identity(tid, where, "tid")
            self.seen.add((pid, tid))
        if phase == "M":
            self.metadata(name, pid, tid, e["args"], where)
            return None
        at = self.ns(e["ts"], where)
        if at is None:
            return None
        if at < 0:
            self.say("number", "%s: begins at %s" % (where, e["ts"]))
        if phase == "X":
            duration = self.ns(e["dur"], where)
            if duration is None:
                return None
            if duration < 0:
                self.say("number", "%s: lasts %s" % (where, e["dur"]))
            self.tracks[pid, tid].append((at, -duration, self.count, phase, name))
        elif phase in "stf":
            self.tracks[pid, tid].append((at, 0, self.count, phase, (e["cat"], name, e["id"], e.get("bp") == "e")))
        elif phase == "C":
            for key, value in e["args"].items() if isinstance(e["args"], dict) else [("args", None)]:
                if isinstance(value, bool) or not isinstance(value, (int, Number)):
                    self.say("counter", "%s: %s is %r" % (where, key, value))
        return None

    def metadata(self, name, pid, tid, args, where):
        if not isinstance(args, dict):
            self.say("member", "%s: the arguments are no object" % where)
        elif name == "process_name":
            if self.processes.setdefault(pid, args.get("name")) != args.get("name"):
                self.say("process-name", "%s: %r was %r before" % (where, args.get("name"), self.processes[pid]))
        elif name == "thread_name":
            if self.threads.setdefault((pid, tid), args.get("name")) != args.get("name"):
                self.say("thread-name", "%s: %r was %r before" % (where, args.get("name"), self.threads[pid, tid]))

    def constant(self, text):
        self.say("json", "%s is no JSON number" % text)
        return Number("0")

    def read(self, text):
        try:
            top = json.loads(text, parse_float=Number, parse_constant=self.constant, object_hook=self.take)
        except ValueError as why:
            self.say("json", str(why))
            return
        if isinstance(top, dict):
            top = top.get("traceEvents")
        if not isinstance(top, list) or any(e is not None for e in top):
            self.say("json", "the events are no array of objects")

    def walk(self):
        """Plays all events in the order of a viewer."""
        started, ended = {}, []
        for (pid, tid), events in self.tracks.items():
            events.sort(key=lambda e: e[:3])
            stack = []                                   # of (end, name)
            for at, minus, order, phase, what in events:
                place = "pid %s tid %s at %d.%03d us" % (pid, tid, at // 1000, at % 1000)
                while stack and (stack[-1][0] < at or stack[-1][0] == at and phase == "X" and minus):
                    stack.pop()
                if phase == "X":
                    if stack and at - minus > stack[-1][0]:
                        self.say("nest", "%s: %.60s ends %d ns after %.60s, in which it began"
                                 % (place, what, at - minus - stack[-1][0], stack[-1][1]))
                    else:
                        stack.append((at - minus, what))
                    continue
                if not stack:
                    self.say("no-slice", "%s: %s of %s" % (place, phase, what[1]))
                flow = what[:3]
                if phase == "s":
                    if flow in started:
                        self.say("same-start", "%s: %s" % (place, flow))
                    started[flow] = min(started.get(flow, (at, order)), (at, order))
                else:
                    ended.append((flow, (at, order), place))
        reached = set()
        for flow, when, place in ended:
            reached.add(flow)
            if flow not in started:
                self.say("no-start", "%s: %s never starts" % (place, flow))
            elif started[flow] > when:
                self.say("no-start", "%s: %s ends %d ns before it starts" % (place, flow, started[flow][0] - when[0]))
        for flow in started:
            if flow not in reached:
                self.say("no-end", "%s" % (flow,))

    def names(self):
        for pid in sorted({pid for pid, _ in self.seen} - set(self.processes), key=str):
            self.say("process-name", "pid %s has none" % pid)
        with_names = {pid for pid, _ in self.threads}
        for (pid, tid), events in self.tracks.items():
            if pid in with_names and (pid, tid) not in self.threads and any(e[3] == "X" for e in events):
                self.say("thread-name", "pid %s (%s) tid %s has none" % (pid, self.processes.get(pid), tid))

    def check(self, text):
        self.read(text)
        self.walk()
        self.names()
        return self

    def problems(self, allow=()):
        return {rule: n for rule, n in self.broken.items() if rule not in allow}


def check_file(path, double=False, show=3):
    with open(path, encoding="utf-8", errors="strict") as f:
        return Timeline(double, show).check(f.read())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                epilog="rules:\n" + "\n".join("  %-13s %s" % r for r in RULES.items()))
    p.add_argument("file", nargs="+")
    p.add_argument("--double", action="store_true", help="times pass through a double first")
    p.add_argument("--allow", action="append", default=[], choices=list(RULES), metavar="RULE",
                   help="tell, but do not fail")
    p.add_argument("--show", type=int, default=3, metavar="N", help="examples to print for each rule (3)")
    o = p.parse_args()
    status = 0
    for path in o.file:
        try:
            t = check_file(path, o.double, o.show)
        except (OSError, UnicodeDecodeError) as why:
            print("%s: %s" % (path, why), file=sys.stderr)
            return 2
        bad = t.problems(o.allow)
        status = status or bool(bad)
        print("%s: %d events (%s): %s" % (path, t.count, ", ".join("%s %d" % c for c in sorted(t.phases.items())),
                                          "broken rules" if bad else "keeps the rules"))
        for rule in RULES:
            if t.broken[rule]:
                allowed = " (allowed)" if rule in o.allow else ""
                print("  %-13s %6d  %s%s" % (rule, t.broken[rule], RULES[rule], allowed))
                for sample in t.samples[rule]:
                    print("      " + sample)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
