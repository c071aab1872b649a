#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs a PyTorch program to be profiled: by an observer that does nothing, by torch.profiler, and by ascope.

Added CPU time of the program's thread per operator, in one run: operators that compute nothing, and a loop of Python with small ones, are
measured in short slices, round-robin, and the lower quartile counts, as other programs only ever make it longer. Ratios are of what
ascope takes to what torch.profiler takes, both above the observer that does nothing: that part is PyTorch's own.

That is what the loop feels, and not all: torch.profiler puts off much of its work until stop(), ascope has a thread that writes. So there is a
second ratio, of the CPU time of the whole process from the first operator to the end of stop(). Last, the time from the end of the
recording to a timeline that can be opened.

    bench_torch.py [--operators N] [--repeat N] [--json] [--only MODE OF]
"""

import argparse
import ctypes
import gc
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/python"))
import recorded  # noqa: E402  pylint: disable=wrong-import-position

try:  # the Python tracer, for call stacks
    sys.path.insert(0, str(recorded.BUILD / "python"))
    from ascope import _core
    recorded.listener.ascope_torch_stack_source(*_core.stack_source())
except ImportError:
    _core = None
observer = ctypes.CDLL(str(recorded.build.path(pathlib.Path(__file__).with_name("empty_observer.cpp"))))
observer.empty_operators.argtypes = [ctypes.c_uint64, ctypes.c_bool]
observer.empty_begin.argtypes = [ctypes.c_bool] * 2
OPERATORS_OF_A_TURN = 9  # of Body
TURNS_OF_A_SLICE = 100  # short enough to lie between two interruptions, mostly
WARM_TURNS = 20  # before each slice: other programs may have had the caches during the pause
WARM_SLICES = 20  # a ring of 1 MB has been written once: from then on its pages are there
RING_KB = 1024
PAUSE_S = 0.002  # between two slices: an operator every 100 ns is no training, and writers keep up
COST_BUDGET, END_BUDGET = 1 / 3, 1 / 5
MODES = {
    "plain": {},
    "shapes": {"record_shapes": True},
    "memory": {"profile_memory": True},
    "shapes, memory": {"record_shapes": True, "profile_memory": True},
    "stack": {"with_stack": True},
}


class Body:
    """Nine operators that hardly compute: some with many inputs, some nested, some that take memory."""

    def __init__(self):
        self.x, self.y, self.w = torch.ones(4, 4), torch.ones(4, 4), torch.ones(4)

    def turn(self):
        z = torch.add(self.x, self.y)
        z.mul_(self.y)
        z.t()
        torch.addcmul(self.x, self.y, z)
        torch.cat([self.x, z])
        torch.relu(z)

    def run(self, n):
        for _ in range(n):
            self.turn()


class Nothing:
    """As many operators that do nothing at all: only who observes them takes time."""

    def __init__(self, takes_memory):
        self.takes_memory = takes_memory

    def run(self, n):
        observer.empty_operators(n * OPERATORS_OF_A_TURN, self.takes_memory)


class Nobody:
    """The program as it is."""

    def __init__(self, _options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Empty(Nobody):
    """An observer that does nothing, with what PyTorch prepares for one that asks for the same."""

    def __init__(self, options):
        super().__init__(options)
        self.flags = bool(options.get("record_shapes")), bool(options.get("profile_memory"))

    def __enter__(self):
        observer.empty_begin(*self.flags)
        return self

    def __exit__(self, *_):
        observer.empty_end()


class Torch(Nobody):
    def __init__(self, options):
        super().__init__(options)
        self.profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **options)

    def __enter__(self):
        self.profile.start()
        return self

    def __exit__(self, *_):
        self.profile.stop()

    def export(self, path):
        self.profile.export_chrome_trace(path)


class Ours(Nobody):
    def __init__(self, options, ring_kb=RING_KB):
        super().__init__(options)
        self.home = tempfile.mkdtemp(prefix="ascope-bench-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.session = recorded.Session(parent=self.home, ring_kb=ring_kb, **options)

    def __enter__(self):
        self.session.start()
        return self

    def __exit__(self, *_):
        self.session.stop()
        self.session.end()

    def export(self, _path):
        subprocess.run([str(recorded.BUILD / "ascope"), "analyse", str(self.session.path)], check=True,
                       stdout=subprocess.DEVNULL)
        assert (self.session.path / "ASCEND_PROFILER_OUTPUT/trace_view.json").stat().st_size > 0

    def clean(self):
        shutil.rmtree(self.home, ignore_errors=True)


WHO = {"nobody": Nobody, "empty": Empty, "torch": Torch, "ascope": Ours}


def loop_ns(who, options, n_turns, is_python):
    """Per operator: of the thread that is profiled, for each slice; of the process, with the end of the recording."""
    body = Body() if is_python else Nothing(bool(options.get("profile_memory")))
    slices = []
    gc.collect()
    gc.disable()
    with WHO[who](options) as profiler:
        all_begin = time.process_time_ns()
        for _ in range(WARM_SLICES):
            body.run(TURNS_OF_A_SLICE)
            time.sleep(PAUSE_S)
        for _ in range(0, n_turns, TURNS_OF_A_SLICE):
            time.sleep(PAUSE_S)
            body.run(WARM_TURNS)
            begin = time.thread_time_ns()
            body.run(TURNS_OF_A_SLICE)
            slices.append((time.thread_time_ns() - begin) / (TURNS_OF_A_SLICE * OPERATORS_OF_A_TURN))
    wanted = ((WARM_SLICES + len(slices)) * TURNS_OF_A_SLICE + len(slices) * WARM_TURNS) * OPERATORS_OF_A_TURN
    all_ns = (time.process_time_ns() - all_begin) / wanted
    gc.enable()
    if isinstance(profiler, Ours):
        n = len(profiler.session.operators())
        if n < wanted:
            print("%d of %d operators were dropped: what follows is too low" % (wanted - n, wanted), file=sys.stderr)
        profiler.clean()
    return slices, all_ns


def quartile(slices):
    return sorted(slices)[len(slices) // 4]


def ending(who, options, n_turns):
    """Wall seconds and CPU seconds from the end of the recording to a timeline."""
    body = Body()
    profiler = Ours(options, 65536) if who == "ascope" else WHO[who](options)  # nothing is dropped, however busy the machine
    profiler.__enter__()
    body.run(n_turns)
    wall, cpu = time.monotonic(), os.times()
    profiler.__exit__()
    with tempfile.TemporaryDirectory(prefix="ascope-bench-") as home:
        profiler.export(os.path.join(home, "trace.json"))
    wall = time.monotonic() - wall
    cpu = sum(os.times()[:4]) - sum(cpu[:4])
    if isinstance(profiler, Ours):
        profiler.clean()
    return wall, cpu


def ratio_of(least):
    """None: it is the machine's noise."""
    ours, theirs = least["ascope"] - least["empty"], least["torch"] - least["empty"]
    return ours / theirs if ours > 0 and theirs > 0 and least["empty"] > least["nobody"] else None


def cost(mode, n_turns, repeat, is_python):
    found, whole = {who: [] for who in WHO}, {who: [] for who in WHO}
    for _ in range(repeat):
        for who in WHO:
            slices, all_ns = loop_ns(who, MODES[mode], n_turns, is_python)
            found[who].extend(slices)
            whole[who].append(all_ns)
    least, least_all = {who: quartile(found[who]) for who in WHO}, {who: min(whole[who]) for who in WHO}
    return {"operator_ns": least["nobody"], **{who + "_ns": least[who] - least["nobody"] for who in ("empty", "torch", "ascope")},
            **{who + "_own_ns": least[who] - least["empty"] for who in ("torch", "ascope")},
            **{who + "_all_ns": least_all[who] - least_all["empty"] for who in ("torch", "ascope")},
            "ratio": ratio_of(least), "all_ratio": ratio_of(least_all), "budget": COST_BUDGET}


def costs(n_turns, repeat):
    rows = {mode: cost(mode, n_turns, repeat, False) for mode in ("plain", "shapes", "memory")}
    rows.update({"Python, " + mode: cost(mode, n_turns, repeat, True) for mode in MODES if mode != "stack" or _core})
    return rows


def endings(n_turns, repeat):
    rows = {}
    for mode in ("plain", "shapes, memory"):
        found = {who: [ending(who, MODES[mode], n_turns) for _ in range(repeat)] for who in ("torch", "ascope")}
        least = {who: [min(times[i] for times in of_who) for i in (0, 1)] for who, of_who in found.items()}
        rows[mode] = {"torch_s": least["torch"][0], "ascope_s": least["ascope"][0], "torch_cpu_s": least["torch"][1],
                      "ascope_cpu_s": least["ascope"][1], "ratio": least["ascope"][0] / least["torch"][0],
                      "budget": END_BUDGET}
    return rows


def shown(ratio, budget=None):
    if ratio is None:
        return "       -  not measured: more noise than cost"
    return f"{ratio:8.3f}" + (f"  {'<=' if ratio <= budget else 'MISSES'} {budget:.2f}" if budget else "")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--operators", type=int, default=30000, help="in each turn (30000)")
    p.add_argument("--repeat", type=int, default=7, help="turns of everybody (7)")
    p.add_argument("--json", action="store_true")
    p.add_argument("--only", nargs=2, metavar=("MODE", "OF"), help="one loop for a profiler of programs: plain ascope")
    o = p.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-2:])  # threads that move between CPUs cost more than what is measured
    n_turns = max(1, o.operators // OPERATORS_OF_A_TURN)
    if o.only:
        print("%.1f ns an operator" % quartile(loop_ns(o.only[1], MODES[o.only[0]], n_turns, False)[0]))
        return 0
    result = {"torch": torch.__version__, "load": os.getloadavg()[0], "operators": n_turns * OPERATORS_OF_A_TURN,
              "cost": costs(n_turns, o.repeat), "ending": endings(n_turns * 2, max(1, o.repeat // 2))
              if (recorded.BUILD / "ascope").exists() else {}}
    if o.json:
        print(json.dumps(result, indent=2))
        return 0
    print("PyTorch %s, %d operators, load before %.1f\n" % (result["torch"], result["operators"], result["load"]))
    print("ns per operator        added: empty   torch  ascope | above empty: torch  ascope    ratio             | "
          "with stop: torch  ascope")
    for mode, row in result["cost"].items():
        print("  %-24s %8.0f %7.0f %7.0f | %18.0f %7.0f %s | %16.0f %7.0f %s" % (
            mode, row["empty_ns"], row["torch_ns"], row["ascope_ns"], row["torch_own_ns"], row["ascope_own_ns"],
            shown(row["ratio"], row["budget"]), row["torch_all_ns"], row["ascope_all_ns"], shown(row["all_ratio"])))
    print("\nfrom stop to a timeline         torch s  ascope s    ratio")
    for mode, row in result["ending"].items():
        print("  %-28s %8.2f %9.2f %s" % (mode, row["torch_s"], row["ascope_s"], shown(row["ratio"], row["budget"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
