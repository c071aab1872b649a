#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ascope why of traces of torch.profiler: the numbers of its first screen are computed again, from the slices of the file alone.

Generated traces are always read, real ones where the data of the project lies beside the checkout (../shared/data).

usage: test_why_numbers.py ASCOPE SOURCE_ROOT [unittest options]
"""
import bisect
import glob
import gzip
import json
import os
import re
import statistics
import sys
import unittest

sys.dont_write_bytecode = True
import cli_case  # noqa: E402: reads the arguments
from cli_case import Case  # noqa: E402
from fault_traces import FAULTS, write  # noqa: E402

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset", "collective_comm"}
HOST = {"cuda_runtime", "cuda_driver", "cpu_op", "user_annotation", "python_function"}
ALLOCATING = ("cudaMalloc", "cudaFree")
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
GENERATED = ("D02 waiting for data", "L03 .item() in each layer", "L04 a launch call", "H04 a checkpoint every four steps", "D04 offload",
             "M02 allocating in each step")


def ns_of(us):
    return round(us * 1000)


def joined(spans):
    """Disjoint times, ascending."""
    out = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        elif end > begin:
            out.append([begin, end])
    return out


def without(spans, taken):
    """What is left of disjoint times without other disjoint times."""
    out, k = [], 0
    for begin, end in spans:
        while k > 0 and taken[k - 1][1] > begin:
            k -= 1
        while k < len(taken) and taken[k][0] < end:
            if taken[k][1] > begin:
                if taken[k][0] > begin:
                    out.append([begin, taken[k][0]])
                begin = max(begin, taken[k][1])
            k += 1
        if begin < end:
            out.append([begin, end])
    return out


class Within:
    """How much of an interval disjoint times cover."""
    def __init__(self, spans):
        self.spans, self.begins, self.before = spans, [s[0] for s in spans], [0]
        for begin, end in spans:
            self.before.append(self.before[-1] + end - begin)

    def until(self, ns):
        k = bisect.bisect_left(self.begins, ns)
        return self.before[k - 1] + min(self.spans[k - 1][1], ns) - self.spans[k - 1][0] if k else 0

    def of(self, begin, end):
        return self.until(end) - self.until(begin)


class File:
    """A trace, and its steps by the rules of docs/answers.md."""
    def __init__(self, path):
        with (gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")) as f:
            data = json.load(f)
        self.base = int(data.get("baseTimeNanoseconds", 0)) if isinstance(data, dict) else 0
        events = data["traceEvents"] if isinstance(data, dict) else data
        self.slices = [e for e in events if e.get("ph") == "X" and "ts" in e]
        for e in self.slices:
            e["begin"] = ns_of(e["ts"])
            e["end"] = e["begin"] + ns_of(e.get("dur", 0))
        self.work = [e for e in self.slices if e.get("cat") in DEVICE]
        self.steps = self.steps_of()

    def steps_of(self):
        marks = sorted((e["begin"], e["end"], e["name"].split("#")[1]) for e in self.slices
                       if e["name"].startswith("ProfilerStep#") and e.get("cat") == "user_annotation")
        calls = {e["args"]["correlation"]: e["begin"] for e in self.slices
                 if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
        begins = [m[0] for m in marks]
        own = [[] for _ in marks]
        for e in self.work:
            step = bisect.bisect_right(begins, calls.get(e.get("args", {}).get("correlation"), e["begin"])) - 1
            if step >= 0:
                own[step].append(e)
        steps, reach = [], 0
        for i, (begin, end, name) in enumerate(marks):
            first = min((e["begin"] for e in own[i]), default=None)
            at = max(begin, reach if first is None or first > reach else min(reach, first)) if reach > begin else begin
            reach = max([reach] + [e["end"] for e in own[i]])
            steps.append({"name": name, "begin": at, "end": max(end, reach), "lag": at - begin, "mark": begin})
        for before, after in zip(steps, steps[1:]):
            before["end"] = min(before["end"], after["begin"])
        return steps

    def parts(self):
        """Disjoint times by the kind that they count as, the first that applies."""
        def of(is_of):
            return joined([e["begin"], e["end"]] for e in self.slices if is_of(e))
        rules = [("computing", lambda e: e.get("cat") == "kernel"),
                 ("copy", lambda e: e.get("cat") in ("gpu_memcpy", "gpu_memset")),
                 ("gc", lambda e: e.get("cat") == "python_function" and e["name"] == "<built-in function collect>" or "Python GC" in e["name"]),
                 ("allocation", lambda e: e.get("cat") in ("cuda_runtime", "cuda_driver") and e["name"] in ALLOCATING),
                 ("data", lambda e: e.get("cat") == "user_annotation" and e["name"].startswith("enumerate(DataLoader)"))]
        taken, out = [], {}
        for name, is_of in rules:
            own = without(of(is_of), taken)
            taken = joined(taken + own)
            out[name] = Within(own)
        return out

    def catching_up(self):
        """Steps in which the device works off what was launched during a far longer one."""
        s, out = self.steps, set()
        usual = statistics.median([b["mark"] - a["mark"] for a, b in zip(s, s[1:])]) if len(s) > 1 else 0
        i = 0
        while i + 1 < len(s):
            if s[i + 1]["lag"] - s[i]["lag"] > 3 * usual:
                i += 1
                while i + 1 < len(s) and s[i + 1]["lag"] < s[i]["lag"]:
                    out.add(i)
                    i += 1
                if i + 1 == len(s) and i - 1 in out:
                    out.add(i)
            else:
                i += 1
        return out


class WhyNumbers(Case):
    def near(self, found, expected, what):
        self.assertAlmostEqual(found, expected, delta=max(0.002, 1e-6 * abs(expected)), msg=what)

    def duration(self, text, expected_ns, what):
        number, unit = re.fullmatch(r"([\d.,]+) (ns|us|ms|s)", text).groups()
        self.assertAlmostEqual(float(number.replace(",", "")) * UNITS[unit], expected_ns, delta=max(1, 2e-3 * abs(expected_ns)), msg=what)

    def file_is_right(self, path):
        """Computes the first screen of a file again. -> how many numbers were compared"""
        f, name = File(path), os.path.basename(path)
        answer, = json.loads(self.ascope("why", path, "--json", code=None).stdout)["answers"]
        text = self.ascope("why", path, code=None).stdout
        times, n = {s["name"]: s["end"] - s["begin"] for s in f.steps}, 0
        self.assertEqual([s["step"] for s in answer["steps"]], list(times), name)
        for s in answer["steps"]:
            self.near(s["time_us"], times[s["step"]] / 1000, f"{name}: step {s['step']}")
            n += 1
        if not times:
            return self.whole_is_right(f, text, name)
        if len(times) < 2:
            return n
        self.near(answer["median_us"], statistics.median(times.values()) / 1000, name)
        median, slowest = re.match(r"\d+ steps, median (.*), slowest (.*)\n", text).groups()
        self.duration(median, statistics.median(times.values()), name)
        self.duration(slowest, max(times.values()), name)
        n += 3 + self.use_is_right(f, answer, text, name)
        return n + self.verdicts_are_right(f, answer, times, name) + self.places_are_right(f, answer, name)

    def whole_is_right(self, f, text, name):
        """Without steps the whole recording counts as one."""
        computing, whole = re.search(r"the device computes for (.*) of (.*) \([\d.]+ %\)", text).groups()
        slices = f.work + [e for e in f.slices if e.get("cat") in HOST]
        begin, end = min(e["begin"] for e in slices), max(e["end"] for e in slices)
        self.duration(whole, end - begin, name)
        self.duration(computing, f.parts()["computing"].of(begin, end), name)
        return 2

    def use_is_right(self, f, answer, text, name):
        start = sum(j["steps"] for j in answer["judged"] if j["shape"] == "start_up")
        catching = f.catching_up()
        usual = [s for i, (s, given) in enumerate(zip(f.steps, answer["steps"])) if i >= start and not given["slow"] and i not in catching]
        time = statistics.mean(s["end"] - s["begin"] for s in usual)
        self.assertEqual(answer["usual"]["steps"], len(usual), name)
        self.near(answer["usual"]["time_us"], time / 1000, name)
        given, n = {p["part"]: p["time_us"] for p in answer["usual"]["parts"]}, 2
        self.near(sum(given.values()), time / 1000, f"{name}: the parts of a usual step")
        parts = f.parts()
        for part in parts:
            own = statistics.mean(parts[part].of(s["begin"], s["end"]) for s in usual)
            key = {"copy": "copies"}.get(part, part)
            if own > 0:
                self.assertIn(key, given, name)
            self.near(given.get(key, 0), own / 1000, f"{name}: {part}")
            n += 1
        computing, whole, percent = re.search(r"the device computes for (.*) of (.*) in a usual step \(([\d.]+) %\)", text).groups()
        own = statistics.mean(parts["computing"].of(s["begin"], s["end"]) for s in usual)
        self.duration(computing, own, name)
        self.duration(whole, time, name)
        self.assertAlmostEqual(float(percent), 100 * own / time, delta=0.051, msg=name)
        names = [s["name"] for s in f.steps]
        once = {name for j in answer["judged"] if j["shape"] in ("once", "steps") for name in names[names.index(j["first"]):names.index(j["last"]) + 1]}
        in_each = [s for i, s in enumerate(f.steps) if i >= start and s["name"] not in once and not (once and i in catching)]
        data = {s["name"]: parts["data"].of(s["begin"], s["end"]) / 1000 for s in f.steps}
        for one in answer["advice"]:
            if one["check"] == "data_loader" and not one["where"]:
                gain = statistics.mean(data[s["name"]] for s in in_each)
                more = sum(data[name] - gain for name in once if data[name] - gain >= time / 1e4)
                self.near(one["gain_us"], gain, f"{name}: advice")
                self.near(one["more_us"], more if one["more"] else 0, f"{name}: once")
                self.near(one["lost_us"], one["gain_us"] * len(in_each) + one["more_us"], f"{name}: in all")
                n += 3
        return n + 3

    def verdicts_are_right(self, f, answer, times, name):
        start, n = sum(j["steps"] for j in answer["judged"] if j["shape"] == "start_up"), 0
        catching = {f.steps[i]["name"] for i in f.catching_up()}
        usual = statistics.median(times[s["step"]] for s in answer["steps"][start:] if not s["slow"] and s["step"] not in catching)
        order = list(times)
        for j in answer["judged"]:
            if j["shape"] in ("start_up", "drift"):
                continue
            rows = order[order.index(j["first"]):order.index(j["last"]) + 1:j["period"] or 1]
            self.assertEqual(j["steps"], len(rows), name)
            self.near(j["lost_us"], j["more_us"] * j["steps"], name)
            self.assertAlmostEqual(j["share"], j["lost_us"] * 1000 / sum(times.values()), delta=1e-6, msg=name)
            own = (statistics.median(times[r] for r in rows) - usual) / 1000
            if own >= j["more_us"] / 2 and j["part"] is None or j["shape"] == "once":
                self.near(j["more_us"], own, f"{name}: {j['text']}")
            n += 4
        d = answer["difference"]
        if d:
            self.near(sum(d["causes"].values()) + d["rest_us"], d["more_us"], name)
            self.near(d["time_us"] - d["usual_us"], d["more_us"], name)
            n += 2
            if answer["judged"][0]["shape"] == "once":
                step = next(s for s in f.steps if s["name"] == answer["step"])
                self.near(d["time_us"], times[answer["step"]] / 1000, name)
                self.near(d["usual_us"], usual / 1000, name)
                for item in d["items"]:
                    if item["cause"] in ("runs", "longer"):
                        own = Within(joined([e["begin"], e["end"]] for e in f.work if e["name"] == item["name"]))
                        self.near(item["after_us"], own.of(step["begin"], step["end"]) / 1000, f"{name}: {item['name']}")
                        n += 1
        return n

    def places_are_right(self, f, answer, name):
        """Each place is a slice of the file, in the step that is named, and the fragment leads there."""
        slices = {(f.base + e["begin"], e["end"] - e["begin"], e["name"]) for e in f.slices}
        first = f.base + min(e["begin"] for e in f.slices)
        steps = {s["name"]: f.base + s["begin"] for s in f.steps}
        places = [i["place"] for i in (answer["difference"] or {"items": []})["items"]]
        places += [e["place"] for a in answer["advice"] for e in a["evidence"] if e["place"]]
        for p in places:
            if p["event"]:
                self.assertIn((p["begin_ns"], p["dur_ns"], p["event"]), slices, name)
            if p["step"] is not None:
                self.assertEqual(p["in_step_ns"], p["begin_ns"] - steps[p["step"]], name)
            self.assertEqual(p["in_recording_ns"], p["begin_ns"] - first, name)
            if p["view"]:
                self.assertEqual(p["view"], f"#page=timeline&moment={p['begin_ns']}+{p['dur_ns']}", name)
        return 3 * len(places)

    def test_of_generated_traces(self):
        n = 0
        for number, fault in enumerate(GENERATED):
            path, _ = write(FAULTS[fault][1], 1, 0.03, os.path.join(self.dir, f"job{number}"))
            files = [path] if os.path.isfile(path) else sorted(glob.glob(os.path.join(path, "*.json*")))
            for one in files:
                n += self.file_is_right(one)
        print(f"{n} numbers of generated traces", file=sys.stderr)
        self.assertGreater(n, 30 * len(GENERATED))

    def test_of_real_traces(self):
        data = os.path.join(cli_case.SOURCE, "..", "shared", "data")
        files = sorted(glob.glob(os.path.join(data, "gpu-faults", "*.json.gz"))) + sorted(glob.glob(os.path.join(data, "kineto", "*.json")))
        files = [path for path in files if not path.endswith("real-1.13-nokineto-plain.json")]  # it is no JSON: quotes are not escaped
        if not files:
            self.skipTest(f"no real traces: {data} does not exist")
        n = 0
        for path in files:
            with self.subTest(os.path.basename(path)):
                n += self.file_is_right(path)
        print(f"{n} numbers of {len(files)} real traces", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
