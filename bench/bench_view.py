# SPDX-License-Identifier: Apache-2.0
"""ascope view: how soon something is shown, how long a view takes, what a trace in JSON costs against Python's json and speedscope.

Seconds until an input is shown are of the wall clock, from the start of the command; on a machine with other work CPU seconds say more.
"""
import contextlib
import http.client
import json
import os
import random
import subprocess
import sys
import time
import urllib.parse

from costs import Cost, command

PIXELS, ROWS, VIEWS = 1600, 100, 1000
SPEEDSCOPE_SLICES = 200000  # it reads a text of at most 512 MB, and takes a minute for half of that


class Viewer:
    """A server, and a client that keeps its connection."""

    def __init__(self, ascope, path):
        self.begin = time.perf_counter()
        self.process = subprocess.Popen([ascope, "view", path, "--no-open", "--quiet"], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        address = urllib.parse.urlsplit(self.url)
        self.path, self.client = address.path, http.client.HTTPConnection(address.hostname, address.port)

    def ask(self, what):
        self.client.request("GET", self.path + "api/" + what)
        reply = self.client.getresponse()
        body = reply.read()
        if reply.status != 200:
            sys.exit("%s: %d %s" % (what, reply.status, body[:200]))
        return body

    def shows(self, *wanted):
        """Wall and CPU seconds and peak bytes until one of these is shown."""
        while True:
            one, = json.loads(self.ask("about"))["inputs"]
            if one["shows"] in wanted:
                break
            if one["state"] == "failed":
                sys.exit(one["message"])
            time.sleep(0.01)
        wall = time.perf_counter() - self.begin
        with open("/proc/%d/stat" % self.process.pid, encoding="utf-8") as f:
            ticks = sum(map(int, f.read().rsplit(")", 1)[1].split()[11:13]))
        with open("/proc/%d/status" % self.process.pid, encoding="utf-8") as f:
            peak = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
        return wall, ticks / os.sysconf("SC_CLK_TCK"), peak * 1024

    def close(self):
        self.process.terminate()
        self.process.wait()


def run(ascope, path, *wanted):
    """A run of the viewer until something is shown, for Cost."""
    def once():
        with contextlib.closing(Viewer(ascope, path)) as v:
            return v.shows(*wanted)
    return once


LOAD = "import json, sys, gzip; p = sys.argv[1]; json.load((gzip.open if p.endswith('.gz') else open)(p, 'rt', encoding='utf-8'))"
OPERATORS = ["aten::" + o for o in ("linear", "addmm", "t", "transpose", "as_strided", "empty", "copy_", "mul", "add_", "relu", "bmm")]
KERNELS = ["void gemm_kernel<float, 128, %d, 2, 4>(Params<float const>, float*)" % i for i in range(24)]
SLICE = '{\n    "ph": "X", "cat": "%s", "name": "%s", "pid": %d, "tid": %d,\n    "ts": %.3f, "dur": %.3f%s\n  }'
ARGS = ',\n    "args": {\n      %s\n    }'
OPERATOR_ARGS = ('"External id": %d,"Record function id": 0, "Concrete Inputs": ["", "[%d, 4]", "False"], "Input type": ["float", "ScalarList", "Scalar"], '
                 '"Input Strides": [[4, 1], [], []], "Input Dims": [[%d, 4], [], []], "Ev Idx": %d')
KERNEL_ARGS = ('"External id": %d, "device": 0, "context": 1, "stream": %d, "correlation": %d, "registers per thread": 32, "shared memory": 0, '
               '"blocks per SM": 0.242424, "warps per SM": 0.969697, "grid": [%d, 2, 1], "block": [128, 1, 1]')
FLOW = '{"ph": "%s", "id": %d, "pid": %d, "tid": %d, "ts": %.3f, "cat": "ac2g", "name": "ac2g"%s}'


def trace(path, n_slices, has_args):
    """As torch.profiler writes it: operators inside operators on threads, kernels on streams; with arguments also flow events."""
    source, thread_us, stream_us = random.Random(1), [0.0] * 8, [0.0] * 24
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "traceEvents": [')
        for i in range(n_slices // 4):
            thread, stream, us, long_us = i % 8, source.randrange(24), source.randrange(8000, 60000) / 1000, source.randrange(900, 90000) / 1000
            begin = thread_us[thread]
            start = max(stream_us[stream], begin + 6)
            thread_us[thread], stream_us[stream] = begin + us + 0.7, start + long_us
            args = [ARGS % a if has_args else "" for a in (
                OPERATOR_ARGS % (i, i % 64, i % 64, i), '"External id": %d, "Sequence number": %d, "Ev Idx": %d' % (i, i, i),
                '"External id": %d, "cbid": 211, "correlation": %d' % (i, i), KERNEL_ARGS % (i, stream, i, i % 99))]
            written = [SLICE % ("cpu_op", OPERATORS[i % 11], 1000, thread, begin, us, args[0]),
                       SLICE % ("cpu_op", OPERATORS[i // 3 % 11], 1000, thread, begin + 1, us - 3, args[1]),
                       SLICE % ("cuda_runtime", "cudaLaunchKernel", 1000, thread, begin + 2, 3, args[2]),
                       SLICE % ("kernel", KERNELS[i % 24], 0, stream, start, long_us, args[3])]
            if has_args:
                written += [FLOW % ("s", i, 1000, thread, begin + 2, ""), FLOW % ("f", i, 0, stream, start, ', "bp": "e"')]
            f.write((",\n  " if i else "\n  ") + ",\n  ".join(written))
        f.write("\n]}\n")


def views(v):
    """Milliseconds of requests as a page sends them: three windows wide, at a resolution that is a power of two, anywhere, from all to a millionth."""
    rows = json.loads(v.ask("rows?input=0"))
    levels = [level for p in rows["processes"] for t in p["tracks"] for level in t["levels"]]
    source, found = random.Random(1), []
    for _ in range(VIEWS):
        window = rows["end"] * 10 ** -source.uniform(0, 6)
        begin, least = source.uniform(0, rows["end"] - window), max(1, int(2 * window / PIXELS))
        some = source.sample(levels, min(ROWS, len(levels)))
        question = "slices?input=0&levels=%s&t0=%d&t1=%d&least=%d" % (",".join(map(str, some)), begin - window, begin + 2 * window, 1 << least.bit_length() - 1)
        before = time.perf_counter()
        v.ask(question)
        found.append(1e3 * (time.perf_counter() - before))
    return rows["n_slices"], len(levels), sorted(found)


def node(script, *words):
    """What a script of tests/viewer prints, as JSON; None: there is no browser, or npm has not installed what it needs."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "viewer")
    try:
        done = subprocess.run(["node", os.path.join(folder, script), *words], stdout=subprocess.PIPE, text=True, check=False)
    except FileNotFoundError:
        return None
    return json.loads(done.stdout) if done.returncode == 0 else None


def measure_collection(report, ascope, kernels, repeat, home):
    raw = os.path.join(home, "raw")
    subprocess.run([ascope, "sim", "--out", raw, "--kernels", str(kernels), "--steps", str(max(3, kernels // 5000))], stdout=subprocess.DEVNULL, check=True)
    report.title("A collection of %s kernels" % format(kernels, ","))
    overview = Cost(repeat, run(ascope, raw, "overview", "all"))
    report.cost("overview", overview, overview.wall / 6, "<= 1.0", "wall; 6 s for a million kernels")
    report.cost("timeline", Cost(repeat, run(ascope, raw, "all")))


def measure_json(report, ascope, slices, repeat, home):
    path = os.path.join(home, "trace.json")
    trace(path, slices, True)
    report.title("A trace of torch.profiler's form: %.2f GB, %s slices" % (os.path.getsize(path) / 1e9, format(slices, ",")))
    theirs = Cost(1, command(sys.executable, "-c", LOAD, path))
    report.cost("json.load of Python", theirs)
    first = Cost(repeat, run(ascope, path, "first", "all"))
    report.cost("first events", first, first.wall / theirs.wall, "", "wall; json.load")
    ours = Cost(repeat, run(ascope, path, "all"))
    report.cost("all of it", ours, ours.cpu / theirs.cpu, "<= 0.1", "CPU; json.load")
    subprocess.run(["gzip", "-1", path], check=True)
    packed = Cost(1, command(sys.executable, "-c", LOAD, path + ".gz"))
    report.cost("json.load of .json.gz", packed)
    ours = Cost(repeat, run(ascope, path + ".gz", "all"))
    report.cost("all of .json.gz", ours, ours.cpu / packed.cpu, "", "CPU; json.load and gzip of Python")
    os.remove(path + ".gz")


def measure_views(report, ascope, slices, repeat, home):
    path = os.path.join(home, "wide.json")
    trace(path, slices, False)
    with contextlib.closing(Viewer(ascope, path)) as v:
        v.shows("all")
        n, levels, ms = min((views(v) for _ in range(repeat)), key=lambda found: found[2][VIEWS * 99 // 100])
        report.title("Views of %s slices on %d levels" % (format(n, ","), levels))
        report.ratio("median, ms", ms[len(ms) // 2], "", "%d requests of %d levels each, as a client sees them" % (VIEWS, min(ROWS, levels)))
        report.ratio("99th percentile, ms", ms[len(ms) * 99 // 100], "<= 20", "the same")
        frames = [f for f in (node("frames.js", v.url) for _ in range(repeat)) if f]
        if frames:
            frames = min(frames, key=lambda f: f["work_p99_ms"])
            report.ratio("work of a frame, median, ms", frames["work_median_ms"], "", "CPU; %d frames of Chromium while keys move and zoom" % frames["n"])
            report.ratio("work of a frame, p99, ms", frames["work_p99_ms"], "<= 16", "the same")
            report.ratio("between frames, median, ms", frames["between_median_ms"], "", "the same; 16.7 is every frame of the screen")
    os.remove(path)


def measure_speedscope(report, ascope, repeat, home):
    """Until either page shows the timeline, in the same browser."""
    path = os.path.join(home, "small.json")
    trace(path, SPEEDSCOPE_SLICES, True)
    theirs = node("opens.js", "speedscope", path)
    if not theirs:
        report.say("speedscope: not measured; `make viewer` installs it and says what a browser needs.")
        return
    report.title("Beside speedscope: %.0f MB, %s slices" % (os.path.getsize(path) / 1e6, format(SPEEDSCOPE_SLICES, ",")))
    least = min([theirs["s"]] + [node("opens.js", "speedscope", path)["s"] for _ in range(repeat - 1)])
    ours = []
    for _ in range(repeat):
        begin = time.perf_counter()
        with contextlib.closing(Viewer(ascope, path)) as v:
            started = time.perf_counter() - begin
            ours.append(started + node("opens.js", "ascope", v.url)["s"])
    report.row("speedscope", "%.2f" % least, "", "", "", "", "the file is chosen; a row is shown")
    report.row("ascope view", "%.2f" % min(ours), "", "", "%.2f" % (min(ours) / least), "", "the command; all of the timeline is shown")


def measure(report, ascope, kernels, repeat, home):
    """A collection of so many kernels; traces of three times and of ten times as many slices."""
    measure_collection(report, ascope, kernels, repeat, home)
    measure_json(report, ascope, 3 * kernels, repeat, home)
    measure_views(report, ascope, 10 * kernels, repeat, home)
    measure_speedscope(report, ascope, repeat, home)
