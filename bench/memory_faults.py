#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory snapshots of PyTorch on a GPU, with planted faults and without: what `ascope memory` finds of them.

    memory_faults.py record OUT [SEED...]   on a machine with PyTorch and a GPU: a snapshot for each program below, and faults.json
    memory_faults.py judge ASCOPE OUT       precision and recall by kind of fault, and every program that is judged wrong

A line that ends with a comment FAULT is the one that must be named.
"""
import json
import os
import subprocess
import sys

MIB = 1 << 20
SETUP = '''
import collections, random, sys, torch
random.seed({seed}); torch.manual_seed({seed})
torch.cuda.memory._record_memory_history(max_entries=200000, stacks="python")
width = {width}
net = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.Linear(width, width)).cuda()
opt = torch.optim.{optimizer}(net.parameters(), lr=1e-4)
kept, cache, queue = [], {{}}, collections.deque(maxlen=5)
def batch(n={batch}):
    return torch.randn(n, width, device="cuda")
def train(x):
    opt.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    opt.step()
    return loss
'''
# name: (finding or None, what is done in step `i` of `steps`, after the set-up)
PROGRAMS = {
    "plain": (None, "train(batch())"),
    "lengths": (None, "train(batch(random.randint(8, 128)))"),
    "accumulate": (None, "[net(batch()).square().mean().backward() for _ in range(3)]\nopt.step()\nopt.zero_grad()"),
    "queue": (None, "train(batch())\nqueue.append(batch(random.randint(8, 64)))"),
    "cache_fills": (None, "train(batch())\nn = 8 * random.randint(1, 6)\nif n not in cache:\n    cache[n] = batch(n)"),
    "evaluate": (None, "train(batch())\nif i % 8 == 7:\n    with torch.no_grad():\n        out = net(batch(256))\n        del out"),
    "metrics_reset": (None, "loss = train(batch())\nkept.append(loss.detach())\nif i % 6 == 5:\n    kept.clear()"),
    "replaced": (None, "train(batch())\nlast = batch(random.randint(8, 128))"),
    "inference": (None, "with torch.no_grad():\n    out = net(batch(random.randint(8, 64)))"),
    "curriculum": (None, "train(batch(8 + 4 * i))"),
    "average": (None, "train(batch())\nwith torch.no_grad():\n    mean = [p.clone() if i == 0 else 0.9 * m + 0.1 * p for m, p in zip(mean if i else net.parameters(), net.parameters())]"),
    "least_recent": (None, "train(batch())\ncache[i] = batch(random.randint(8, 64))\nif len(cache) > 8:\n    del cache[min(cache)]"),
    "list": ("leak", "train(batch())\nkept.append(batch())  # FAULT"),
    "graph": ("leak", "train(batch())\nkept.append(net(batch()).sum())  # FAULT"),
    "losses": ("leak", "opt.zero_grad()\nloss = net(batch()).square().mean()  # FAULT\nloss.backward()\nopt.step()\nkept.append(loss)"),
    "cache": ("leak", "train(batch())\ncache[i, random.random()] = batch(random.randint(8, 64))  # FAULT"),
    "every_third": ("leak", "train(batch())\nif i % 3 == 2:\n    kept.append(batch())  # FAULT"),
    "late": ("leak", "train(batch())\nif i >= steps // 2:\n    kept.append(batch())  # FAULT"),
    "two_paths": ("leak", "train(batch())\nmake = (lambda: batch(16)) if i % 2 else (lambda: batch(24))  # FAULT\nkept.append(make())"),
    "gradients": ("leak", "train(batch())\nkept.append([p.grad.clone() for p in net.parameters()])  # FAULT"),
    "helper": ("leak", "def remember(n):\n    kept.append(batch(n))  # FAULT\ntrain(batch())\nremember(random.randint(8, 64))"),
    "inference_list": ("leak", "with torch.no_grad():\n    kept.append(net(batch()))  # FAULT"),
    "fragments": ("fragmentation", "train(batch(random.randint(8, 128)))\nfor k in range(20):\n"
                  "    block = torch.empty(random.randint(100, 4000) * 1000, dtype=torch.uint8, device='cuda')  # FAULT\n"
                  "    if k % 5 == 0:\n        kept.append(block)"),
    "oom_leak": ("out_of_memory", "train(batch())\nkept.append(torch.empty(90000000, dtype=torch.uint8, device='cuda'))  # FAULT"),
    "oom_need": ("out_of_memory", "train(batch())\nif i == 5:\n    torch.empty(1 << 40, dtype=torch.uint8, device='cuda')  # FAULT"),
}
LIMIT = "torch.cuda.set_per_process_memory_fraction(0.01)\n"


def program(name, seed, out):
    code = PROGRAMS[name][1]
    text = SETUP.format(seed=seed, width=256 * (1 + seed % 3), batch=32 * (1 + seed % 2), optimizer=("AdamW", "SGD")[seed % 2])
    text += LIMIT if name == "oom_leak" else ""
    text += "steps = %d\n" % (24 + 8 * (seed % 3))
    text += "try:\n    for i in range(steps):\n" + "".join("        %s\n" % line for line in code.split("\n"))
    return text + "except torch.cuda.OutOfMemoryError:\n    pass\ntorch.cuda.memory._dump_snapshot(%r)\n" % out


def record(out, seeds):
    os.makedirs(out, exist_ok=True)
    faults, running = {}, []
    for seed in seeds:
        for name, (finding, _) in PROGRAMS.items():
            path = os.path.join(out, "%s_%d.py" % (name, seed))
            text = program(name, seed, "%s.pickle" % path[:-3])
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            lines = [n for n, line in enumerate(text.split("\n"), 1) if line.endswith("# FAULT")]
            faults["%s_%d" % (name, seed)] = {"finding": finding, "line": lines[0] if lines else None}
            running.append(subprocess.Popen([sys.executable, path], stderr=subprocess.PIPE, text=True))
            while len(running) >= 8:
                failed = running.pop(0).communicate()[1]
                if failed:
                    print(failed[-300:])
    for p in running:
        failed = p.communicate()[1]
        if failed:
            print(failed[-300:])
    with open(os.path.join(out, "faults.json"), "w", encoding="utf-8") as f:
        json.dump(faults, f, indent=1)


def named_line(judged, finding):
    """The line that the answer names for a finding."""
    place = None
    if finding == "leak" and judged["growth"]:
        place = judged["growth"][0]["place"]
    elif finding == "fragmentation" and judged["fragmentation"]["held_by"]:
        place = judged["fragmentation"]["held_by"][0]["place"]
    elif finding == "out_of_memory":
        place = judged["out_of_memory"]["place"]
    return place["line"] if place else None


def judge(ascope, out):
    with open(os.path.join(out, "faults.json"), encoding="utf-8") as f:
        faults = json.load(f)
    report = json.loads(subprocess.run([ascope, "memory", "--json", out], capture_output=True, text=True, check=False).stdout)
    right, missed, wrong = {}, {}, {}
    for judged in report["memories"]:
        name = os.path.basename(judged["path"]).removesuffix(".pickle")
        wanted, line = faults[name]["finding"], faults[name]["line"]
        found = named_line(judged, wanted) if wanted in judged["findings"] else None
        if wanted and found is not None and found == line:
            right[wanted] = right.get(wanted, 0) + 1
        elif wanted:
            missed[wanted] = missed.get(wanted, 0) + 1
            print("%s: wanted %s at line %s, found %s at %s: %s" % (name, wanted, line, judged["findings"], found, judged["text"]))
        if judged["verdict"] != "none" and wanted is None:
            wrong[judged["verdict"]] = wrong.get(judged["verdict"], 0) + 1
            print("%s: wanted nothing: %s" % (name, judged["text"]))
    healthy = sum(f["finding"] is None for f in faults.values())
    for kind in sorted(set(right) | set(missed) | set(wrong)):
        r, m, w = right.get(kind, 0), missed.get(kind, 0), wrong.get(kind, 0)
        print("%-15s recall %d of %d, wrong on %d of %d without a fault" % (kind, r, r + m, w, healthy))


if __name__ == "__main__":
    if sys.argv[1] == "record":
        record(sys.argv[2], [int(seed) for seed in sys.argv[3:]] or [0, 1])
    else:
        judge(sys.argv[2], sys.argv[3])
